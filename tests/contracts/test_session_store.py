"""A thread's transcript, memory and search index against a real Valkey: written in one step, read in part, let go as asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import pytest

from memory.connect import connect
from memory.handover import LIFETIME, HandedOver, Handovers
from memory.keys import Thread
from memory.mailbox import Claim, Fenced, Mailbox
from memory.session_memory import Summary
from tests.fakes.valkey import Valkey

THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


@pytest.fixture
async def handovers(valkey: Valkey) -> AsyncIterator[Handovers]:
    client = connect(valkey.url, timeout=2.0)
    yield Handovers(client)
    await client.aclose()


async def claimed(mailbox: Mailbox, thread: Thread = THREAD) -> Claim:
    await mailbox.deliver(thread, f"k{await mailbox.count(thread, 'n', 60)}", b"mail")
    claim = await mailbox.claim(thread.shard)
    assert claim is not None
    claim.taken = len(claim.mail)
    return claim


def items(*numbers: int) -> list[bytes]:
    return [b"item %d" % number for number in numbers]


async def test_parts_of_a_transcript_are_read_by_position_in_one_go(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(10)))

    assert await mailbox.read_log(THREAD, (2, 3), (7, 20)) == [(2, b"item 2"), (7, b"item 7"), (8, b"item 8"), (9, b"item 9")]
    assert await mailbox.read_log(THREAD, (4, 4)) == []


async def test_positions_stay_what_they_were_when_the_oldest_items_are_let_go(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(10)))
    await mailbox.commit(claim, b"{}", log_base=10, items=items(10), log_start=6)

    assert [position for position, _ in await mailbox.read_log(THREAD, (0, 99))] == [6, 7, 8, 9, 10]
    await mailbox.commit(claim, b"{}", log_base=11, items=items(11), log_start=6)
    assert await mailbox.read_log(THREAD, (10, 12)) == [(10, b"item 10"), (11, b"item 11")]


@pytest.mark.parametrize("start", [0, 3, 5])
async def test_a_commit_that_is_repeated_appends_and_lets_go_once(mailbox: Mailbox, start: int) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(5)))
    for _ in range(3):  # as after an answer that was lost
        await mailbox.commit(claim, b"{}", log_base=5, items=items(5, 6), log_start=start)

    assert await mailbox.read_log(THREAD, (0, 99)) == [(n, b"item %d" % n) for n in range(start, 7)]


async def test_everything_but_what_follows_can_be_let_go_and_that_too_only_once(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(5)), memory=b"remembered", index={0: b"found"})
    for _ in range(2):
        await mailbox.commit(claim, b"{}", log_base=5, items=items(5), log_start=5, erase=True)

    assert await mailbox.read_log(THREAD, (0, 99)) == [(5, b"item 5")]
    assert await mailbox.read_memory(THREAD) == b""
    assert await mailbox.read_index(THREAD, [0]) == {}


async def test_a_transcript_the_store_has_lost_does_not_shift_what_is_written_after_it(mailbox: Mailbox, valkey: Valkey) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(5)))
    valkey.command("DEL", f"steward:{{s{THREAD.shard}}}:log:{THREAD.id}")
    await mailbox.commit(claim, b"{}", log_base=5, items=items(5))

    assert await mailbox.read_log(THREAD, (0, 99)) == [(5, b"item 5")]


async def test_memory_and_index_change_with_the_state_and_stay_otherwise(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", memory=b"first", index={0: b"a", 3: b"b"})
    await mailbox.commit(claim, b"{}")
    assert await mailbox.read_memory(THREAD) == b"first"
    assert await mailbox.read_index(THREAD, [0, 1, 3]) == {0: b"a", 3: b"b"}

    await mailbox.commit(claim, b"{}", memory=b"second", index={0: b"", 3: b"\x00\xff"})
    assert await mailbox.read_memory(THREAD) == b"second"
    assert await mailbox.read_index(THREAD, [0, 1, 3]) == {3: b"\x00\xff"}


async def test_an_old_holder_changes_neither_memory_nor_transcript(mailbox: Mailbox, valkey: Valkey) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", memory=b"mine", items=items(0))
    valkey.command("HSET", f"steward:{{s{THREAD.shard}}}:meta:{THREAD.id}", "epoch", "99999999999999")

    with pytest.raises(Fenced):
        await mailbox.commit(claim, b"{}", memory=b"stolen", index={0: b"x"}, log_base=1, items=items(1), log_start=1, erase=True)

    assert await mailbox.read_memory(THREAD) == b"mine"
    assert await mailbox.read_log(THREAD, (0, 9)) == [(0, b"item 0")]


async def test_the_threads_of_a_channel_are_listed_by_when_they_were_last_active(mailbox: Mailbox) -> None:
    threads = [Thread(team_id="T1", channel_id="C1", thread_ts=f"{n}.000001") for n in range(4)]
    other = Thread(team_id="T1", channel_id="C2", thread_ts="1.000001")
    for thread in (*threads, other, threads[1]):
        await mailbox.commit(await claimed(mailbox, thread), b"{}", release=True)

    found = [thread for thread, _ in await mailbox.recent(other)], [thread.thread_ts[0] for thread, _ in await mailbox.recent(THREAD, 3)]
    assert found[0] == [other]
    assert sorted(found[1][1:], reverse=True) == found[1][1:]
    assert found[1][0] in {"1", "3"}  # two commits within one millisecond are of the same time


async def test_every_key_of_a_released_session_expires(mailbox: Mailbox, valkey: Valkey) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", memory=b"m", index={0: b"x"}, items=items(0), release=True)

    keys = cast("list[bytes]", valkey.command("KEYS", "*"))
    lasting = [key.decode() for key in keys if ":".join(key.decode().split(":")[2:3]) in {"doc", "log", "memory", "index", "meta", "recent"}]
    assert len(lasting) == 6
    assert all(int(cast("int", valkey.command("TTL", key))) > 0 for key in lasting)


async def test_an_idle_session_is_handed_over_once(mailbox: Mailbox, handovers: Handovers) -> None:
    await mailbox.commit(await claimed(mailbox), b"{}", release=True)
    [(thread, at)] = await handovers.idle(THREAD.shard, before=4e9)
    kept = HandedOver(thread=thread, summary=Summary(goals=("Ana: 订单 ABC-1",)), last_active=at)

    assert thread == THREAD
    assert await handovers.hand_over(thread, at, kept)
    assert not await handovers.hand_over(thread, at, kept)
    assert await handovers.waiting(THREAD.shard) == [kept]
    assert await handovers.idle(THREAD.shard, before=4e9) == []
    await handovers.taken(THREAD)
    assert await handovers.waiting(THREAD.shard) == []


async def test_a_session_that_came_to_life_again_is_not_handed_over(mailbox: Mailbox, handovers: Handovers, valkey: Valkey) -> None:
    await mailbox.commit(await claimed(mailbox), b"{}", release=True)
    [(thread, at)] = await handovers.idle(THREAD.shard, before=4e9)
    valkey.command("ZADD", f"steward:{{s{THREAD.shard}}}:idle", str(round(at * 1000) + 5), thread.id)

    assert not await handovers.hand_over(thread, at, None)
    assert len(await handovers.idle(THREAD.shard, before=4e9)) == 1


async def test_what_was_handed_over_of_a_thread_goes_when_its_memory_is_erased(mailbox: Mailbox, handovers: Handovers) -> None:
    other = Thread(team_id="T1", channel_id="C1", thread_ts="2.000001")
    for thread in (THREAD, other):
        await mailbox.commit(await claimed(mailbox, thread), b"{}", release=True)
        [(_, at)] = await handovers.idle(thread.shard, before=4e9)
        await handovers.hand_over(thread, at, HandedOver(thread=thread, summary=Summary(goals=("g",)), last_active=at))
    await mailbox.commit(await claimed(mailbox), b"{}", erase=True)

    assert [kept.thread for kept in await handovers.waiting(THREAD.shard)] == [other]


@pytest.mark.parametrize("at_once", [False, True], ids=["erased", "erased and released"])
async def test_a_thread_that_is_forgotten_while_it_is_read_for_the_last_time_is_not_handed_over(mailbox: Mailbox, handovers: Handovers, at_once: bool) -> None:
    await mailbox.commit(await claimed(mailbox), b"{}", release=True)
    [(thread, at)] = await handovers.idle(THREAD.shard, before=4e9)
    kept = HandedOver(thread=thread, summary=Summary(goals=("read before it was forgotten",)), last_active=at)
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", erase=True, release=at_once)

    assert not await handovers.hand_over(thread, at, kept)
    assert await handovers.waiting(THREAD.shard) == []
    if not at_once:
        await mailbox.commit(claim, b"{}", release=True)
    [(_, later)] = await handovers.idle(THREAD.shard, before=4e9)
    assert await handovers.hand_over(thread, later, None), "the thread goes on, and ends like any other"


@pytest.mark.parametrize("how", ["read", "another thread", "time"])
async def test_what_was_handed_over_waits_no_longer_because_others_follow(mailbox: Mailbox, handovers: Handovers, valkey: Valkey, how: str) -> None:
    other = Thread(team_id="T1", channel_id="C1", thread_ts="2.000001")
    base = f"steward:{{s{THREAD.shard}}}:"

    async def ended(thread: Thread) -> None:
        await mailbox.commit(await claimed(mailbox, thread), b"{}", release=True)
        [(_, at)] = await handovers.idle(thread.shard, before=4e9)
        await handovers.hand_over(thread, at, HandedOver(thread=thread, summary=Summary(goals=("g",)), last_active=at))

    await ended(THREAD)
    since = cast("bytes", valkey.command("ZSCORE", f"{base}handover_times", THREAD.id))
    valkey.command("ZADD", f"{base}handover_times", str(float(since) - (LIFETIME - 3_600) * 1000), THREAD.id)
    await ended(other)
    assert [kept.thread for kept in await handovers.waiting(THREAD.shard)] == [THREAD, other]

    valkey.command("ZADD", f"{base}handover_times", str(float(since) - (LIFETIME + 1) * 1000), THREAD.id)
    match how:
        case "read":
            assert await handovers.of(THREAD) is None
        case "another thread":
            await ended(other)
        case _:
            await handovers.expire(THREAD.shard)
    assert valkey.command("HKEYS", f"{base}handovers") == [other.id.encode()]
    assert [kept.thread for kept in await handovers.waiting(THREAD.shard)] == [other]


async def test_what_was_handed_over_of_one_thread_can_be_looked_at_and_forgotten(mailbox: Mailbox, handovers: Handovers) -> None:
    assert await handovers.of(THREAD) is None
    await mailbox.commit(await claimed(mailbox), b"{}", release=True)
    [(thread, at)] = await handovers.idle(THREAD.shard, before=4e9)
    kept = HandedOver(thread=thread, summary=Summary(goals=("g",)), last_active=at)
    await handovers.hand_over(thread, at, kept)

    assert await handovers.of(THREAD) == kept
    assert await handovers.forget(THREAD)
    assert not await handovers.forget(THREAD)
    assert await handovers.of(THREAD) is None


async def test_a_thread_that_is_handed_over_twice_waits_once_with_what_is_newest(mailbox: Mailbox, handovers: Handovers) -> None:
    for word in ("old", "new"):
        await mailbox.commit(await claimed(mailbox), b"{}", release=True)
        [(_, at)] = await handovers.idle(THREAD.shard, before=4e9)
        await handovers.hand_over(THREAD, at, HandedOver(thread=THREAD, summary=Summary(goals=(word,)), last_active=at))

    assert [kept.summary.goals for kept in await handovers.waiting(THREAD.shard)] == [("new",)]


async def test_a_thread_is_listed_while_its_first_answer_is_still_being_written(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", items=items(0))

    assert [thread for thread, _ in await mailbox.recent(THREAD)] == [THREAD]
