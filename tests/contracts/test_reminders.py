"""Reminders against a real Valkey: once only, one's own, bounded, and given by whoever comes first, wherever it is killed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bot.events import EVENT, Due
from bot.jobs import BATCH, FULL_PAUSE, Jobs
from memory.connect import connect
from memory.keys import Actor, Thread
from memory.mailbox import MAIL_BATCH, MAIL_LIMIT, Delivery, Mailbox, MailboxDown
from memory.reminders import MAX_OPEN, UNREADABLE_PAUSE, Reminder, Reminders, RemindersDown, TooManyReminders, reminder_id
from tests.fakes.valkey import Valkey

ANA, BO = Actor(team_id="T1", user_id="U1"), Actor(team_id="T2", user_id="U1")
THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[Any]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield client
    await client.aclose()


@pytest.fixture
def store(client: Any) -> Reminders:
    return Reminders(client, space="T1")


@pytest.fixture
def mailbox(client: Any) -> Mailbox:
    return Mailbox(client, space="T1")


def made(key: str = "run:call", *, actor: Actor = ANA, due: int = 1_000, text: str = "call 妈妈 ☎️") -> Reminder:
    return Reminder(
        id=reminder_id(actor, key), actor=actor, thread=THREAD, text=text, due=due, timezone="Asia/Tokyo", local="2026-12-01T09:00:00+09:00", created=1
    )


async def delivered(mailbox: Mailbox) -> list[Due]:
    """The reminders in the thread's mailbox, taken out of it."""
    claim = await mailbox.claim(THREAD.shard)
    if claim is None:
        return []
    events = [EVENT.validate_json(raw) for raw in claim.mail]
    claim.taken = len(claim.mail)
    await mailbox.commit(claim, b"{}", release=True)
    return [event for event in events if isinstance(event, Due)]


async def test_a_reminder_is_kept_as_it_was_asked_for_the_next_one_first(store: Reminders) -> None:
    later, sooner = made("a", due=2_000), made("b", due=1_000)

    assert [await store.add(later), await store.add(sooner)] == [True, True]

    assert await store.of(ANA) == [sooner, later]
    assert await store.get(ANA, later.id) == later


async def test_the_same_call_asks_once_however_often_it_is_repeated(store: Reminders) -> None:
    answers = await asyncio.gather(*(store.add(made()) for _ in range(20)))

    assert sorted(answers) == [False] * 19 + [True]
    assert len(await store.of(ANA)) == 1


@pytest.mark.parametrize("ending", ["given", "called off"])
async def test_a_repetition_after_the_end_does_not_bring_it_back(store: Reminders, ending: str) -> None:
    await store.add(made())
    if ending == "given":
        await store.done(made())
    else:
        assert await store.cancel(ANA, made().id) == made()

    assert await store.add(made()) is False
    assert await store.known(made().id)
    assert await store.of(ANA) == []
    assert await store.due(9_999) == []


async def test_only_ones_own_reminders_are_seen_and_called_off(store: Reminders) -> None:
    """The same user id in another workspace is another person."""
    await store.add(made())

    assert await store.of(BO) == []
    assert await store.cancel(BO, made().id) is None
    assert await store.of(ANA) == [made()]


async def test_installations_that_share_a_redis_do_not_meet(client: Any, store: Reminders) -> None:
    await store.add(made())

    assert await Reminders(client, space="T9").due(9_999) == []


async def test_one_person_may_have_a_hundred_open(store: Reminders) -> None:
    for i in range(MAX_OPEN):
        await store.add(made(f"k{i}", due=1_000 + i))

    with pytest.raises(TooManyReminders):
        await store.add(made("one more"))
    assert await store.add(made("k5")) is False  # a repetition is no new one
    assert await store.add(made("theirs", actor=BO))
    await store.cancel(ANA, made("k5").id)
    assert await store.add(made("one more"))


async def test_due_are_those_whose_time_has_come_the_oldest_first(store: Reminders) -> None:
    for due in (3_000, 1_000, 2_000):
        await store.add(made(str(due), due=due))

    assert await store.due(999) == []
    assert [each.due for each in await store.due(2_000)] == [1_000, 2_000]
    assert [each.due for each in await store.due(9_000, limit=1)] == [1_000]


async def test_what_a_newer_program_wrote_stands_in_nobodys_way(store: Reminders, valkey: Valkey) -> None:
    await store.add(made("strange"))
    await store.add(made("fine", due=2_000))
    valkey.command("SET", f"steward:T1:{{reminders}}:doc:{made('strange').id}", '{"v":9}')

    assert await store.due(5_000, limit=1) == []
    assert [each.id for each in await store.due(5_000, limit=1)] == [made("fine").id]
    assert await store.of(ANA) == [made("fine", due=2_000)]
    assert valkey.command("ZSCORE", "steward:T1:{reminders}:by_time", made("strange").id) == 5_000 + UNREADABLE_PAUSE


async def test_everything_lies_in_one_slot_of_a_cluster(store: Reminders, valkey: Valkey) -> None:
    await store.add(made())
    await store.add(made("b"))
    await store.done(made("b"))

    keys = valkey.command("KEYS", "*")
    assert isinstance(keys, list)
    assert len(keys) == 4
    assert {valkey.command("CLUSTER", "KEYSLOT", key.decode()) for key in keys} == {valkey.command("CLUSTER", "KEYSLOT", "{reminders}")}


# --- giving them ------------------------------------------------------------------------------------------------------


async def test_a_due_reminder_reaches_its_thread_once_though_many_replicas_look(store: Reminders, mailbox: Mailbox) -> None:
    await store.add(made())
    await store.add(made("later", due=9_000))

    await asyncio.gather(*(Jobs(mailbox, store, clock=lambda: 1_500).tick() for _ in range(10)))

    given = await delivered(mailbox)
    assert [(due.key, due.actor, due.text, due.at, due.locale) for due in given] == [(f"reminder:{made().id}", ANA, made().text, 1_000.0, "zh")]
    assert [each.id for each in await store.of(ANA)] == [made("later").id]


class Dies(BaseException):
    """The process ends here."""


class Dying(Reminders):
    """A store whose user is killed before or after a step."""

    def __init__(self, client: Any, step: str) -> None:
        super().__init__(client, space="T1")
        self._step = step

    async def begin(self, reminder: Reminder) -> bool:
        if self._step == "before begin":
            raise Dies
        begun = await super().begin(reminder)
        if self._step == "after begin":
            raise Dies
        return begun

    async def done(self, reminder: Reminder) -> None:
        if self._step == "before done":
            raise Dies
        await super().done(reminder)
        if self._step == "after done":
            raise Dies


@pytest.mark.parametrize("step", ["before begin", "after begin", "before done", "after done"])
async def test_killed_at_any_point_it_is_given_exactly_once(client: Any, store: Reminders, mailbox: Mailbox, step: str) -> None:
    await store.add(made())
    with pytest.raises(Dies):
        await Jobs(mailbox, Dying(client, step), clock=lambda: 1_500).tick()

    await Jobs(mailbox, store, clock=lambda: 1_501).tick()
    await Jobs(mailbox, store, clock=lambda: 1_502).tick()

    assert len(await delivered(mailbox)) == 1
    assert await store.due(9_999) == []


async def test_what_is_being_given_can_no_longer_be_called_off_and_what_was_called_off_is_not_given(store: Reminders, mailbox: Mailbox) -> None:
    await store.add(made("a"))
    await store.add(made("b"))
    read_before = await store.due(1_500)

    assert await store.begin(made("a"))
    assert await store.cancel(ANA, made("a").id) is None
    assert await store.cancel(ANA, made("b").id) == made("b")
    assert len(read_before) == 2
    assert await store.begin(made("b")) is False

    await Jobs(mailbox, store, clock=lambda: 1_500).tick()
    assert [due.key for due in await delivered(mailbox)] == [f"reminder:{made('a').id}"]


async def test_a_flooded_thread_gets_its_reminder_when_there_is_room(store: Reminders, mailbox: Mailbox, valkey: Valkey) -> None:
    await store.add(made())
    box = f"steward:T1:{{s{THREAD.shard}}}:mail:{THREAD.id}"
    valkey.command("RPUSH", box, *["x"] * MAIL_LIMIT)
    await Jobs(mailbox, store, clock=lambda: 1_500).tick()
    assert [each.id for each in await store.due(9_999)] == [made().id]

    valkey.command("DEL", box)
    await Jobs(mailbox, store, clock=lambda: 1_500 + FULL_PAUSE).tick()

    assert [due.at for due in await delivered(mailbox)] == [1_000.0]


async def test_after_a_long_outage_everything_is_given_at_one_look(store: Reminders, mailbox: Mailbox) -> None:
    people = [Actor(team_id="T1", user_id=f"U{i}") for i in range(3)]
    for i in range(2 * BATCH + 5):
        await store.add(made(f"k{i}", actor=people[i % 3], due=1_000 + i))

    await Jobs(mailbox, store, clock=lambda: 5_000).tick()

    assert await store.due(5_000) == []
    claim = await mailbox.claim(THREAD.shard)
    assert claim is not None
    given = list(claim.mail)
    while len(claim.mail) == MAIL_BATCH:
        claim.taken = len(claim.mail)
        await mailbox.commit(claim, b"{}")
        given += claim.mail
    assert len(set(given)) == len(given) == 2 * BATCH + 5


async def test_without_redis_a_look_fails_quietly_and_the_next_one_gives_it(client: Any, store: Reminders, mailbox: Mailbox) -> None:
    await store.add(made())
    away = connect("redis://127.0.0.1:1", timeout=0.2)

    await Jobs(Mailbox(away, space="T1"), Reminders(away, space="T1"), clock=lambda: 1_500).tick()
    await Jobs(Mailbox(away, space="T1"), store, clock=lambda: 1_500).tick()  # read, begun, and then the mailbox is away
    await away.aclose()
    await Jobs(mailbox, store, clock=lambda: 1_501).tick()

    assert len(await delivered(mailbox)) == 1


async def test_a_store_that_is_away_says_so() -> None:
    away = connect("redis://127.0.0.1:1", timeout=0.2)
    store = Reminders(away)

    for asked in (store.add(made()), store.of(ANA), store.cancel(ANA, "x"), store.due(1.0), store.begin(made()), store.done(made()), store.known("x")):
        with pytest.raises(RemindersDown):
            await asked
    await away.aclose()


async def test_a_fault_that_nobody_foresaw_does_not_stop_the_scheduler(store: Reminders, mailbox: Mailbox) -> None:
    await store.add(made())
    looks: list[str] = []

    class Odd(Mailbox):
        async def deliver(self, *_: Any, **__: Any) -> Any:
            looks.append("odd")
            raise ZeroDivisionError if len(looks) == 1 else MailboxDown("away")

    odd = Odd(connect("redis://127.0.0.1:1", timeout=0.2))
    clock = itertools.count(1_500, 10)  # time goes on with every look at it
    jobs = Jobs(odd, store, every=0.02, clock=lambda: next(clock))
    jobs.start()
    async with asyncio.timeout(10):
        while len(looks) < 3:
            await asyncio.sleep(0.01)
    await jobs.stop()
    seen = len(looks)

    await jobs.tick()  # stopped is stopped, even for a look that was just about to begin

    assert len(looks) == seen


async def test_one_reminder_that_cannot_be_given_does_not_hold_up_the_others(store: Reminders, mailbox: Mailbox) -> None:
    bad, *good = [made(f"run:{number}", due=1_000 + number) for number in range(3)]
    for each in (bad, *good):
        await store.add(each)
    given: list[str] = []

    class Odd(Mailbox):
        async def deliver(self, thread: Thread, key: str, *_: Any, **__: Any) -> Any:
            if key == f"reminder:{bad.id}":
                raise MailboxDown("this shard is away")
            given.append(key)
            return Delivery.STORED

    jobs = Jobs(Odd(connect("redis://127.0.0.1:1", timeout=0.2)), store, clock=lambda: 1_500)
    await jobs.tick()
    await jobs.tick()

    assert given == [f"reminder:{each.id}" for each in good]
    assert [each.id for each in await store.due(1_500, 10)] == []  # it steps back for a while after a second try
    assert [each.id for each in await store.due(1_600, 10)] == [bad.id]
