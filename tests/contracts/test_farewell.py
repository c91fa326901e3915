"""What becomes of a thread nobody writes in any more: handed over once before it expires, and let go by the store after that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bot.farewell import Farewell
from bot.scheduled import JobContext, Outcome, Scheduled
from memory.connect import connect
from memory.handover import ALL_SHARDS, HandedOver, Handovers
from memory.mailbox import Mailbox
from memory.slots import Slots
from memory.transcript import AssistantMessage, Item, UserMessage
from tests.fakes.long_thread import ANA, LongThread
from tests.fakes.valkey import Valkey

LIFETIME = 30 * 86_400.0


class House:
    """A mailbox, the queue and the one who fills it, at a moment of the test's choosing."""

    def __init__(self, mailbox: Mailbox, handovers: Handovers) -> None:
        self.mailbox = mailbox
        self.handovers = handovers
        self.now = 0.0
        self.farewell = Farewell(mailbox, handovers, lifetime=LIFETIME, clock=lambda: self.now)

    async def kept(self) -> list[HandedOver]:
        return [each for shard in ALL_SHARDS for each in await self.handovers.waiting(shard)]

    async def idle(self) -> float:
        """When the only session was last active."""
        [(_, at)] = [each for shard in ALL_SHARDS for each in await self.handovers.idle(shard, 4e9)]
        return at


@pytest.fixture
async def house(valkey: Valkey) -> AsyncIterator[House]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield House(Mailbox(client, idle_lifetime=LIFETIME), Handovers(client))
    await client.aclose()


def talk(number: int, text: str) -> list[Item]:
    return [
        UserMessage(actor=ANA, name="Ana", ts=f"{1_700_000_000 + number}.000100", text=text),
        AssistantMessage(run_id=f"r{number}", text="Noted."),
    ]


@pytest.mark.parametrize("text", ["the deadline is Friday, order ABC-20240520-001", "截止日期是周五，订单 ABC-20240520-001"], ids=["en", "zh"])
async def test_a_thread_is_handed_over_once_shortly_before_it_expires(house: House, text: str) -> None:
    thread = LongThread(house.mailbox)
    await thread.add(*talk(0, text))
    last = await house.idle()

    house.now = last + LIFETIME * 0.85
    await house.farewell.tick()
    assert await house.kept() == []

    house.now = last + LIFETIME * 0.95
    await house.farewell.tick()
    await house.farewell.tick()
    [kept] = await house.kept()
    assert kept.thread == thread.thread
    assert kept.people == (ANA,)
    assert {fact.key for fact in kept.facts} >= {"deadline", "order"}
    assert "ABC-20240520-001" in kept.model_dump_json()
    assert abs(kept.last_active - last) < 0.01


async def test_the_job_hands_over_what_a_dry_run_counts_and_goes_on_where_its_time_ended(house: House, valkey: Valkey) -> None:
    threads = [LongThread(house.mailbox, name=f"{number}.000001") for number in range(6)]
    for number, thread in enumerate(threads):
        await thread.add(*talk(number, "the deadline is Friday"))
    client = connect(valkey.url, timeout=2.0)
    scheduled = Scheduled([house.farewell.job()], Slots(client))
    house.now = 4e9

    assert await scheduled.run_now("idle-sessions", dry=True) == Outcome({"handed_over": 6, "left": 0})
    assert await house.kept() == []

    async def short(context: JobContext) -> Mapping[str, int]:
        context.left = lambda: 2.0 - len(told)  # type: ignore[method-assign]
        return await house.farewell.run(context)

    with capture_logs() as told:  # a line for each that was handed over
        assert await Scheduled([replace(house.farewell.job(), run=short)], Slots(client)).run_now("idle-sessions") == Outcome({"handed_over": 2, "left": 0})
    assert (await Slots(client).seen("idle-sessions")).unfinished
    assert await scheduled.run_now("idle-sessions") == Outcome({"handed_over": 4, "left": 0})
    assert await scheduled.run_now("idle-sessions") == Outcome({"handed_over": 0, "left": 0})
    assert len(await house.kept()) == 6
    await client.aclose()


async def test_what_was_compacted_long_ago_is_handed_over_too(house: House) -> None:
    thread = LongThread(house.mailbox)
    for start in range(0, 60, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in talk(n, f"parcel P-{n:04d} " + "and other words nobody needs " * 20)))
    assert (await thread.memory()).covered > 0
    house.now = await house.idle() + LIFETIME
    await house.farewell.tick()

    [kept] = await house.kept()
    assert [n for n in range(60) if f"P-{n:04d}" not in kept.model_dump_json()] == []


async def test_a_thread_in_which_somebody_writes_again_is_handed_over_again_later(house: House) -> None:
    thread = LongThread(house.mailbox)
    await thread.add(*talk(0, "the deadline is Friday"))
    house.now = await house.idle() + LIFETIME
    await house.farewell.tick()
    await thread.add(*talk(1, "no, the deadline is Thursday"))
    house.now = await house.idle() + LIFETIME
    await house.farewell.tick()

    [kept] = await house.kept()
    assert [fact.value for fact in kept.facts if fact.key == "deadline"] == ["Thursday"]


async def test_a_session_of_a_newer_program_is_left_to_it_and_does_not_hold_up_the_others(house: House, valkey: Valkey) -> None:
    bad, good = LongThread(house.mailbox, name="1.000001"), LongThread(house.mailbox, name="2.000001")
    await bad.add(*talk(0, "the deadline is Friday"))
    await good.add(*talk(0, "the budget is 5,000"))
    valkey.command("SET", f"steward:{{s{bad.thread.shard}}}:doc:{bad.thread.id}", '{"v":99}')
    house.now = 4e9
    await house.farewell.tick()

    assert [kept.thread for kept in await house.kept()] == [good.thread]
    assert [thread for thread, _ in await house.handovers.idle(bad.thread.shard, 4e9)] == [bad.thread]
    valkey.command("DEL", f"steward:{{s{bad.thread.shard}}}:doc:{bad.thread.id}")  # its time is over
    await house.farewell.tick()
    assert await house.handovers.idle(bad.thread.shard, 4e9) == []


async def test_an_empty_thread_leaves_nothing(house: House) -> None:
    thread = LongThread(house.mailbox)
    await thread.add()
    house.now = await house.idle() + LIFETIME
    await house.farewell.tick()

    assert await house.kept() == []
