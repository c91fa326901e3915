"""Claims of jobs against a real Valkey: one holder at a time, each slot completed once, and what a dead holder leaves can be gone on with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memory.connect import connect
from memory.slots import AHEAD, LIFETIME, MAX_CURSOR, Refused, Slot, Slots, SlotsDown
from tests.fakes.valkey import Valkey

LONG = 600.0


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[Any]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield client
    await client.aclose()


@pytest.fixture
def slots(client: Any) -> Slots:
    return Slots(client, space="T1")


async def claimed(slots: Slots, at: int | None, owner: str = "a", *, lease: float = LONG) -> Slot:
    slot = await slots.claim("tidy", at, owner, lease=lease)
    assert isinstance(slot, Slot)
    return slot


async def refused(slots: Slots, at: int | None, owner: str = "b") -> float:
    answer = await slots.claim("tidy", at, owner, lease=LONG)
    assert isinstance(answer, Refused)
    return answer.wait


def lapse(valkey: Valkey, job: str = "tidy", space: str = "T1") -> None:
    """The lease of whoever holds it is over, as when nothing was heard of them."""
    valkey.command("HSET", f"steward:{space}:{{jobs}}:{job}", "until", 1)


async def test_of_many_that_ask_at_once_one_gets_the_slot(slots: Slots) -> None:
    answers = await asyncio.gather(*(slots.claim("tidy", 1_000, str(number), lease=LONG) for number in range(30)))
    assert sum(isinstance(answer, Slot) for answer in answers) == 1
    assert all(0 < answer.wait <= LONG for answer in answers if isinstance(answer, Refused))


async def test_a_slot_that_is_done_is_never_given_again_nor_is_one_before_it(slots: Slots) -> None:
    slot = await claimed(slots, 2_000)
    assert await slots.done(slot, {"merged": 3})
    assert [await refused(slots, at) for at in (1_000, 2_000)] == [0, 0]
    assert (await claimed(slots, 3_000)).at == 3_000


async def test_jobs_and_workspaces_do_not_meet(slots: Slots, client: Any) -> None:
    await claimed(slots, 1_000)
    assert isinstance(await slots.claim("other", 1_000, "b"), Slot)
    assert isinstance(await Slots(client, space="T2").claim("tidy", 1_000, "b"), Slot)


async def test_who_lost_the_lease_can_write_nothing_more(slots: Slots, valkey: Valkey) -> None:
    dead = await claimed(slots, 1_000)
    lapse(valkey)
    heir = await claimed(slots, 1_000, "b")
    assert int(heir.epoch) > int(dead.epoch)
    assert not await slots.hold(dead)
    assert not await slots.save(dead, "x")
    assert not await slots.give_back(dead)
    assert not await slots.done(dead, {})
    assert await slots.done(heir, {"merged": 1})
    assert not await slots.done(dead, {"merged": 9})
    assert (await slots.seen("tidy")).counts == {"merged": 1}


async def test_the_heir_goes_on_where_the_dead_one_was(slots: Slots, valkey: Valkey) -> None:
    dead = await claimed(slots, 1_000)
    assert dead.cursor == ""
    assert await slots.save(dead, "人 17")
    lapse(valkey)
    heir = await claimed(slots, 2_000, "b")
    assert heir.cursor == "人 17"
    assert await slots.save(heir, "")
    assert await slots.done(heir, {})
    assert (await claimed(slots, 3_000)).cursor == ""


async def test_who_lapsed_and_was_not_missed_may_go_on(slots: Slots, valkey: Valkey) -> None:
    slow = await claimed(slots, 1_000)
    lapse(valkey)
    assert await slots.hold(slow)
    assert await refused(slots, 1_000) > 0
    assert await slots.done(slow, {})


async def test_what_is_given_back_is_there_at_once_with_its_cursor(slots: Slots) -> None:
    slot = await claimed(slots, 1_000)
    await slots.save(slot, "5")
    assert await slots.give_back(slot)
    assert not await slots.hold(slot)
    assert (await claimed(slots, 1_000, "b")).cursor == "5"


async def test_ending_may_be_repeated_when_the_answer_was_lost(slots: Slots) -> None:
    slot = await claimed(slots, 1_000)
    assert [await slots.done(slot, {"merged": 1}), await slots.done(slot, {"merged": 1})] == [True, True]
    assert not await slots.hold(slot)


async def test_a_slot_that_is_still_to_come_is_not_given_to_whose_clock_is_fast(slots: Slots) -> None:
    later = round((time.time() + 3_600) * 1_000)
    assert 3_500 < await refused(slots, later) <= 3_600
    assert isinstance(await slots.claim("tidy", round((time.time() + AHEAD / 2) * 1_000), "b"), Slot)


async def test_a_run_outside_the_schedule_has_a_slot_of_its_own(slots: Slots) -> None:
    first = await claimed(slots, None)
    assert await refused(slots, None) > 0
    await slots.done(first, {})
    second = await claimed(slots, None)
    assert second.at > first.at


async def test_what_is_known_of_a_job_can_be_seen(slots: Slots) -> None:
    assert (await slots.seen("tidy")).ended == 0
    slot = await claimed(slots, 5_000)
    await slots.save(slot, "3")
    during = await slots.seen("tidy")
    assert (during.owner, during.unfinished, during.done) == ("a", True, 0)
    assert during.held > time.time() + LONG / 2
    await slots.done(slot, {"merged": 2})
    after = await slots.seen("tidy")
    assert (after.owner, after.done, after.counts, after.held) == ("", 5.0, {"merged": 2}, 0)
    assert after.ended == pytest.approx(time.time(), abs=60)


async def test_every_key_expires_and_all_share_one_part_of_a_cluster(slots: Slots, valkey: Valkey) -> None:
    slot = await claimed(slots, 1_000)
    await slots.save(slot, "x")
    await slots.done(slot, {})
    keys = valkey.command("KEYS", "*")
    assert keys == [b"steward:T1:{jobs}:tidy"]
    left = valkey.command("TTL", "steward:T1:{jobs}:tidy")
    assert isinstance(left, int)
    assert 0 < left <= LIFETIME


async def test_epochs_rise_even_after_the_record_was_lost(slots: Slots, valkey: Valkey) -> None:
    before = await claimed(slots, 1_000)
    valkey.command("FLUSHALL")
    after = await claimed(slots, 1_000)
    assert int(after.epoch) >= int(before.epoch)


async def test_a_cursor_is_bounded(slots: Slots) -> None:
    slot = await claimed(slots, 1_000)
    with pytest.raises(ValueError, match="cursor"):
        await slots.save(slot, "x" * (MAX_CURSOR + 1))


async def test_a_store_that_is_away_is_said_in_one_way() -> None:
    client = connect("redis://127.0.0.1:1", timeout=0.2)
    slots = Slots(client)
    slot = Slot("tidy", 1, "1")
    for ask in (slots.claim("tidy", 1, "a"), slots.hold(slot), slots.save(slot, ""), slots.done(slot, {}), slots.give_back(slot), slots.seen("tidy")):
        with pytest.raises(SlotsDown):
            await ask
    await client.aclose()
