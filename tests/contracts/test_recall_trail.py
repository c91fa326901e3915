"""Which answers used which memories: kept by person, the newest first, by ids alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memory.connect import connect
from memory.keys import Actor, Thread
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


async def test_a_store_that_is_away_is_said_to_be() -> None:
    client = connect("redis://127.0.0.1:1", timeout=0.1)
    trail = RecallTrail(client, space="T1")
    for call in (trail.note(ANA, used("r1")), trail.of(ANA), trail.note_forgotten(), trail.forgotten(take=True), trail.forget(ANA)):
        with pytest.raises(MailboxDown):
            await call
    await client.aclose()
