"""What the clock does for long-term memory, against a real Valkey: looks before it changes, goes on where it stopped, and brings nothing back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from bot.erasing import Erasing
from bot.long_term import LongTerm
from bot.memory_jobs import MemoryJobs
from bot.places import Places
from bot.scheduled import JobContext, Outcome, Scheduled
from bot.slack import SlackDown, SlackRefused
from memory.connect import connect
from memory.decision_log import DecisionLog
from memory.handover import HandedOver, Handovers
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, person
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Memory, memory_id
from memory.longterm.writing import Step
from memory.mailbox import Mailbox
from memory.owner_locks import OwnerLocks
from memory.recall_trail import RecallTrail, Used
from memory.session_memory import Fact, Summary
from memory.slots import Slots
from tests.fakes.memories import in_memory, keep, memory
from tests.fakes.valkey import Valkey

ANA, BEN = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
NOW = 1_790_000_000.0
DAY = 86_400.0


@dataclass
class Directory:
    """Slack, as far as these jobs ask it: who is still there, and what a channel is."""

    gone: set[str] = field(default_factory=set)
    error: Exception | None = None
    me: Any = field(default_factory=lambda: SimpleNamespace(team_id="T1", url="https://t1.slack.com/"))

    async def person(self, actor: Actor) -> Any:
        if self.error is not None:
            raise self.error
        return SimpleNamespace(is_deleted=actor.user_id in self.gone)

    async def channel(self, name: str) -> dict[str, Any]:
        return {"id": name, "is_private": False}


@dataclass
class House:
    """The jobs, and what they work on."""

    memories: Memories
    long_term: LongTerm
    handovers: Handovers
    slack: Directory
    slots: Slots
    made: MemoryJobs
    rewritten: list[str]
    now: float = NOW

    async def run(self, name: str, *, dry: bool = False, each: Callable[[JobContext], None] | None = None) -> dict[str, int]:
        """One slot of a job; `each` is given its context first."""
        job = next(job for job in self.made.jobs() if job.name == name)
        if each is not None:
            work, prepare = job.run, each

            async def prepared(context: JobContext) -> Any:
                prepare(context)
                return await work(context)

            job = replace(job, run=prepared)
        done = await Scheduled([job], self.slots, now=lambda: self.now).run_now(name, dry=dry)
        assert isinstance(done, Outcome)
        assert not done.failed, done
        return {word: count for word, count in done.counts.items() if count}

    async def texts(self, actor: Actor = ANA) -> list[str]:
        return sorted(each.text for each in (await self.memories.listed(actor, limit=1_000)).memories)


@pytest.fixture
async def house(valkey: Valkey) -> AsyncIterator[House]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    store: Any = in_memory()
    await store.start()
    slack: Any = Directory()
    memories = Memories(store, None, locks=OwnerLocks(client, space="T1"), now=lambda: NOW)
    trail, handovers = RecallTrail(client, space="T1"), Handovers(client, space="T1")

    async def nothing() -> int:
        return 0

    erasing = Erasing(memories, Mailbox(client, space="T1"), trail, handovers, drop_answers=nothing, erase_space=nothing)
    long_term = LongTerm(memories, trail, erasing, Places(slack), DecisionLog(client, space="T1"))
    rewritten: list[str] = []

    async def rewrite() -> None:
        rewritten.append("log")

    made = MemoryJobs(long_term, handovers, slack, left_ttl=30 * DAY, rewrite_log=rewrite)
    yield House(memories, long_term, handovers, slack, Slots(client, space="T1"), made, rewritten)
    await store.close()
    await client.aclose()


def over(number: int, actor: Actor = ANA) -> Memory:
    return memory(f"thing {number} of old", actor, audience=PRIVATE, expires=NOW - 1.0)


async def test_putting_in_order_looks_first_then_does_it_and_finds_nothing_more(house: House) -> None:
    await keep(house.memories, over(1), memory("I like tea", ANA, created=NOW))
    before = await house.memories.export(ANA)
    assert await house.run("memory-order", dry=True) == {"owners": 1, "expired": 1}
    assert await house.memories.export(ANA) == before
    assert await house.run("memory-order") == {"owners": 1, "expired": 1}
    assert await house.texts() == ["I like tea"]
    after = await house.memories.export(ANA)
    assert await house.run("memory-order") == {"owners": 1}
    assert await house.memories.export(ANA) == after


async def test_that_a_memory_was_at_hand_for_answers_is_counted_once_by_the_clock(house: House) -> None:
    tea, agreed = memory("I like tea", ANA, created=NOW), memory("we deploy on Tuesdays", ANA, kind=Kind.AGREEMENT, created=NOW)
    await keep(house.memories, tea, agreed)
    thread = Thread(team_id=ANA.team_id, channel_id="C01ORDERS0", thread_ts="1.000001")
    for number, ids in enumerate([(tea.id,), (tea.id, agreed.id)]):
        used = Used(run_id=f"r{number}", thread=thread, at=NOW + number, ids=ids)
        await house.long_term.trail.note(ANA, used)
        if agreed.id in ids:
            await house.long_term.trail.note_agreed(used.model_copy(update={"ids": (agreed.id,)}))
    assert (await house.run("memory-order", dry=True))["recalled"] == 2
    assert (await house.run("memory-order"))["recalled"] == 2
    assert "recalled" not in await house.run("memory-order")
    (after,) = (await house.memories.listed(ANA)).memories
    (there,) = (await house.memories.room_listed(thread)).memories
    assert [(m.times_recalled, m.last_recalled) for m in (after, there)] == [(2, NOW + 1), (1, NOW + 1)]
    assert len(await house.memories.history(ANA)) == 1  # that it was looked at is no change


async def test_what_a_slot_had_no_time_for_the_next_one_does(house: House) -> None:
    actors = [Actor(team_id="T1", user_id=f"U{n}") for n in range(3)]
    await keep(house.memories, *(over(1, actor) for actor in actors))

    def briefly(context: JobContext) -> None:
        looks = iter([1.0])
        context.left = lambda: next(looks, 0.0)  # type: ignore[method-assign]

    assert [await house.run("memory-order", each=briefly) for _ in range(3)] == [{"owners": 1, "expired": 1}] * 3
    assert [await house.texts(actor) for actor in actors] == [[]] * 3


async def test_another_workspaces_people_on_the_same_server_are_not_ours_to_order(house: House) -> None:
    stranger = Actor(team_id="T2", user_id="U1")
    await keep(house.memories, over(1, stranger))
    assert await house.run("memory-order") == {}
    house.slack.error = SlackRefused("users.info", "user_not_found")
    house.now = NOW + 400 * DAY
    assert await house.run("left-people") == {}
    assert await house.texts(stranger) == ["thing 1 of old"]


async def test_a_memory_forgotten_while_the_job_thinks_does_not_come_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = memory("I like tea", ANA, created=NOW - 400 * DAY)
    await keep(house.memories, kept)
    seen = await house.memories.get(ANA, kept.id)
    assert seen is not None
    assert [each.id for each in await house.memories.forget(ANA, [kept.id])] == [kept.id]
    await house.memories.writer.write([Step("lowered", seen, seen.model_copy(update={"importance": 0.1}))], "lowered")
    assert await house.texts() == []
    assert await house.run("memory-check") in ({}, {"owners": 1})


async def test_the_check_frees_what_waits_for_nobody_and_drops_what_nothing_took_the_place_of(house: House) -> None:
    nobody = memory_id(person(ANA), "nobody")
    successor = memory("I live in Porto", ANA, created=NOW)
    await keep(house.memories, successor, memory("I like tea", ANA, disputed_with=nobody, created=NOW))
    await keep(house.memories, memory("I live in Rome", ANA, superseded_by=nobody), memory("I live in Lisbon", ANA, superseded_by=successor.id))
    before = await house.memories.export(ANA)
    assert await house.run("memory-check", dry=True) == {"owners": 1, "freed": 1, "orphans": 1}
    assert await house.memories.export(ANA) == before
    assert await house.run("memory-check") == {"owners": 1, "freed": 1, "orphans": 1}
    assert await house.texts() == ["I like tea", "I live in Porto"]
    assert len((await house.memories.listed(ANA, live=False)).memories) == 3
    assert await house.run("memory-check") == {"owners": 1}


async def test_old_history_is_dropped(house: House) -> None:
    await keep(house.memories, memory("I like tea", ANA, created=NOW))
    house.now = NOW + 181 * DAY
    assert await house.run("memory-check", dry=True) == {"owners": 1, "history_dropped": 1}
    assert len(await house.memories.history(ANA)) == 1
    assert await house.run("memory-check") == {"owners": 1, "history_dropped": 1}
    assert await house.memories.history(ANA) == []
    assert await house.texts() == ["I like tea"]


async def test_files_are_rewritten_once_after_something_was_forgotten_and_again_when_that_failed(house: House) -> None:
    assert await house.run("memory-scrub") == {}
    await house.long_term.trail.note_forgotten()
    assert await house.run("memory-scrub", dry=True) == {"rewritten": 1}
    assert house.rewritten == []
    assert await house.run("memory-scrub") == {"rewritten": 1}
    assert house.rewritten == ["log"]
    assert await house.run("memory-scrub") == {}

    async def failing() -> None:
        raise OSError("disk full")

    await house.long_term.trail.note_forgotten()
    house.made._rewrite_log = failing
    job = next(job for job in house.made.jobs() if job.name == "memory-scrub")
    done = await Scheduled([job], house.slots).run_now("memory-scrub")
    assert isinstance(done, Outcome)
    assert done.failed
    assert await house.long_term.trail.forgotten(take=False)


async def handed(house: House, channel: str = "D1") -> Thread:
    thread = Thread(team_id="T1", channel_id=channel, thread_ts="1.000001")
    facts = (
        Fact(key="deadline", value="Friday", ts="1.000001", actor=ANA),
        Fact(key="wifi password", value="hunter2-Xk9!", ts="1.000002", actor=ANA),
        Fact(key="截止日期", value="周五", ts="1.000003", actor=BEN),
    )
    kept = HandedOver(thread=thread, summary=Summary(), facts=facts, people=(ANA, BEN), last_active=NOW)
    base = house.handovers._keys
    await house.handovers._client.hset(base.handovers(thread.shard), thread.id, kept.model_dump_json())
    await house.handovers._client.zadd(base.handover_times(thread.shard), {thread.id: 4e12})
    return thread


async def test_a_thread_that_ended_becomes_one_episode_for_each_of_its_people(house: House) -> None:
    await handed(house)
    assert await house.run("memory-handover", dry=True) == {"threads": 1, "kept": 2}
    assert await house.texts() == []
    assert await house.run("memory-handover") == {"threads": 1, "kept": 2}
    [episode] = (await house.memories.listed(ANA)).memories
    assert (episode.kind, episode.text, episode.audience) == (Kind.EPISODE, "deadline: Friday", PRIVATE)
    assert await house.texts(BEN) == ["截止日期: 周五"]
    assert await house.run("memory-handover") == {}
    await handed(house)  # as after a crash before it was noted as taken
    await house.run("memory-handover")
    assert await house.texts() == ["deadline: Friday"]


async def test_who_paused_learning_gets_no_episodes_and_the_queue_is_emptied_all_the_same(house: House) -> None:
    await house.memories.choose(ANA, learning=False)
    await handed(house)
    await house.run("memory-handover")
    assert await house.texts() == []
    assert await house.run("memory-handover") == {}


async def test_what_was_said_before_everything_was_forgotten_is_not_taken_in_from_a_thread_that_ended_later(house: House) -> None:
    await house.memories.forget_all(ANA)
    await handed(house)
    assert await house.run("memory-handover", dry=True) == {"threads": 1, "kept": 1}
    await house.run("memory-handover")
    assert (await house.texts(), await house.texts(BEN)) == ([], ["截止日期: 周五"])


class Counting:
    """A store that notes how many records were asked for, and handed to it, in one call."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.asked: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def list(self, where: Any, **more: Any) -> Any:
        self.asked.append(more["limit"])
        return await self._store.list(where, **more)

    async def delete(self, owner: Any, ids: Any) -> int:
        self.asked.append(len(ids))
        return int(await self._store.delete(owner, ids))


@pytest.mark.parametrize("name", ["memory-check", "memory-order"])
async def test_a_job_asks_for_so_much_at_once_that_others_do_not_wait_and_still_sees_all_of_it(house: House, name: str) -> None:
    memories = [memory(f"thing {n}", ANA, created=NOW - n, expires=NOW - 1.0 if n >= 1_200 else None) for n in range(1_203)]
    await house.memories.writer.write([Step("added", None, each) for each in memories], "message")
    counting: Any = Counting(house.memories.store)
    house.memories.store = counting
    assert await house.run(name) == {"owners": 1} | ({"history_dropped": 703} if name == "memory-check" else {"expired": 3})
    assert counting.asked
    assert max(counting.asked) <= 500


async def test_who_left_is_noted_first_and_forgotten_in_time_unless_they_come_back(house: House) -> None:
    await keep(house.memories, memory("I like tea", ANA, created=NOW), memory("I like coffee", BEN, created=NOW))
    house.slack.gone = {"U1"}
    assert await house.run("left-people", dry=True) == {"people": 2, "away": 1}
    assert (await house.memories.settings(ANA)).left_at == 0.0
    await house.run("left-people")
    assert (await house.memories.settings(ANA)).left_at == NOW
    house.now = NOW + 29 * DAY
    assert await house.run("left-people") == {"people": 2, "away": 1}
    house.slack.gone = set()
    await house.run("left-people")
    assert (await house.memories.settings(ANA)).left_at == 0.0, "back again"
    house.slack.gone = {"U1"}
    house.now = NOW + 40 * DAY
    assert await house.run("left-people") == {"people": 2, "away": 1}
    house.now = NOW + 70 * DAY
    assert await house.run("left-people", dry=True) == {"people": 2, "away": 1, "forgotten": 1}
    assert await house.texts() == ["I like tea"]
    assert await house.run("left-people") == {"people": 2, "away": 1, "forgotten": 1}
    assert (await house.texts(), await house.texts(BEN)) == ([], ["I like coffee"])
    assert [owner async for owner in house.memories.store.owners("T1")] == [person(BEN)]


@pytest.mark.parametrize("error", [SlackDown("away"), SlackRefused("users.info", "missing_scope"), SlackRefused("users.info", "invalid_auth")], ids=str)
async def test_that_slack_does_not_say_is_no_reason_to_think_somebody_left(house: House, error: Exception) -> None:
    await keep(house.memories, memory("I like tea", ANA, created=NOW))
    house.slack.error = error
    await house.run("left-people")
    house.now = NOW + 90 * DAY
    assert await house.run("left-people") == {"people": 1}
    assert await house.texts() == ["I like tea"]


async def test_whom_slack_does_not_know_any_more_has_left(house: House) -> None:
    await keep(house.memories, memory("I like tea", ANA, created=NOW))
    house.slack.error = SlackRefused("users.info", "user_not_found")
    await house.run("left-people")
    house.now = NOW + 31 * DAY
    assert await house.run("left-people") == {"people": 1, "away": 1, "forgotten": 1}
