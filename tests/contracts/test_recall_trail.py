"""Which answers used which memories: kept by person, the newest first, by ids alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memory.connect import connect
from memory.keys import Actor, Keys, Thread
from memory.longterm.access import person, room
from memory.mailbox import MailboxDown
from memory.recall_trail import MOST, RecallTrail, Used
from tests.fakes.valkey import Valkey

ANA, BEN = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


def used(run: str, *ids: str) -> Used:
    return Used(run_id=run, thread=THREAD, at=1.0, ids=ids)


@pytest.fixture
async def trail(valkey: Valkey) -> AsyncIterator[RecallTrail]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield RecallTrail(client, space="T1", lifetime=1_000.0)
    await client.aclose()


async def test_answers_are_kept_newest_first_and_apart_by_person(trail: RecallTrail) -> None:
    await trail.note(ANA, used("r1", "a"))
    await trail.note(ANA, used("r2", "b", "c"))
    await trail.note(BEN, used("r3", "d"))
    assert await trail.of(ANA) == [used("r2", "b", "c"), used("r1", "a")]
    assert await trail.of(ANA, 1) == [used("r2", "b", "c")]
    assert await trail.of(BEN) == [used("r3", "d")]


async def test_the_same_answer_noted_again_takes_its_own_place(trail: RecallTrail) -> None:
    await trail.note(ANA, used("r1", "a"))
    await trail.note(ANA, used("r1", "a", "b"))
    assert await trail.of(ANA) == [used("r1", "a", "b")]


async def test_the_list_is_bounded_and_ends_by_itself(trail: RecallTrail, valkey: Valkey) -> None:
    key = "steward:T1:{memory:T1:U1}:recalled"
    valkey.command("LPUSH", key, *[used(f"r{n}").model_dump_json() for n in range(MOST)])
    await trail.note(ANA, used("newest"))
    assert valkey.command("LLEN", key) == MOST
    assert (await trail.of(ANA))[0].run_id == "newest"
    assert 0 < int(str(valkey.command("TTL", key))) <= 1_000


async def test_an_entry_of_a_later_version_is_passed_over(trail: RecallTrail, valkey: Valkey) -> None:
    valkey.command("LPUSH", "steward:T1:{memory:T1:U1}:recalled", '{"later": 1}')
    await trail.note(ANA, used("r1", "a"))
    assert await trail.of(ANA) == [used("r1", "a")]


async def test_forgetting_a_person_leaves_the_others(trail: RecallTrail) -> None:
    await trail.note(ANA, used("r1", "a"))
    await trail.note(BEN, used("r2", "b"))
    await trail.forget(ANA)
    assert await trail.of(ANA) == []
    assert await trail.of(BEN) == [used("r2", "b")]


async def test_that_something_was_forgotten_is_looked_at_or_taken_once(trail: RecallTrail) -> None:
    assert not await trail.forgotten(take=False)
    await trail.note_forgotten()
    assert await trail.forgotten(take=False)
    assert await trail.forgotten(take=True)
    assert not await trail.forgotten(take=True)


async def test_which_answers_used_what_a_channel_agreed_is_known_by_agreement_and_by_channel(trail: RecallTrail) -> None:
    other = Thread(team_id="T1", channel_id="C1", thread_ts="2.000001")
    elsewhere = Thread(team_id="T1", channel_id="C2", thread_ts="1.000001")
    await trail.note_agreed(used("r1", "a", "b"))
    await trail.note_agreed(used("r1", "a", "b"))
    await trail.note_agreed(Used(run_id="r2", thread=other, at=2.0, ids=("b",)))
    await trail.note_agreed(Used(run_id="r3", thread=elsewhere, at=3.0, ids=("a",)))
    assert await trail.agreed(THREAD, ["a"]) == [(THREAD, "r1")]
    assert await trail.agreed(other, ["a", "b"]) == [(THREAD, "r1"), (other, "r2")]
    assert await trail.agreed(elsewhere, ["b"]) == []
    assert sorted(await trail.times(room(THREAD))) == [("a", 1.0), ("b", 1.0), ("b", 2.0)]


async def test_uses_of_agreements_end_with_the_threads_they_speak_of(trail: RecallTrail, valkey: Valkey) -> None:
    await trail.note_agreed(used("r1", "a"))
    await trail.note_agreed(Used(run_id="r2", thread=THREAD, at=1_002.0, ids=("a",)))
    assert await trail.agreed(THREAD, ["a"]) == [(THREAD, "r2")]
    assert 0 < int(str(valkey.command("TTL", "steward:T1:{memory:T1:#C1}:agreed"))) <= 1_000


async def test_when_a_persons_memories_were_at_hand_is_told_by_memory(trail: RecallTrail) -> None:
    await trail.note(ANA, used("r1", "a", "b"))
    await trail.note(ANA, Used(run_id="r2", thread=THREAD, at=5.0, ids=("a",)))
    assert sorted(await trail.times(person(ANA))) == [("a", 1.0), ("a", 5.0), ("b", 1.0)]
    assert await trail.times(person(BEN)) == []


async def test_what_a_request_is_about_to_have_forgotten_is_known_to_its_next_try_alone(trail: RecallTrail) -> None:
    assert await trail.begun(ANA, "run-1") == []
    await trail.begin(ANA, "run-1", ["a", "b"])
    assert await trail.begun(ANA, "run-1") == ["a", "b"]
    assert await trail.begun(ANA, "run-2") == []
    assert [(each.actor, each.mark, each.ids, each.thread) for each in await trail.unfinished()] == [(ANA, "run-1", ("a", "b"), None)]
    await trail.begin(BEN, "run-1", ["c"], THREAD)
    await trail.done(ANA, "run-1")
    assert [(each.actor, each.thread) for each in await trail.unfinished()] == [(BEN, THREAD)]
    assert await trail.begun(ANA, "run-1") == ["a", "b"]
    assert await trail.begun(BEN, "run-1") == ["c"]


async def test_a_store_that_is_away_is_said_to_be() -> None:
    client = connect("redis://127.0.0.1:1", timeout=0.1)
    trail = RecallTrail(client, space="T1")
    calls = (trail.note(ANA, used("r1")), trail.of(ANA), trail.note_forgotten(), trail.forgotten(take=True), trail.forget(ANA))
    more = (trail.note_agreed(used("r1", "a")), trail.agreed(THREAD, ["a"]), trail.times(room(THREAD)), trail.begin(ANA, "r1", ["a"]), trail.begun(ANA, "r1"))
    for call in (*calls, *more, trail.done(ANA, "r1"), trail.unfinished()):
        with pytest.raises(MailboxDown):
            await call
    await client.aclose()


async def test_what_a_later_version_began_to_forget_is_left_to_it_and_keeps_nothing_else_waiting(trail: RecallTrail, valkey: Valkey) -> None:
    await trail.begin(ANA, "r1", ["a"])
    valkey.command("HSET", Keys("T1").unfinished, "U9 r9", '{"v": 9, "whose": "U9"}')
    assert [(each.actor, each.mark, each.ids) for each in await trail.unfinished()] == [(ANA, "r1", ("a",))]
