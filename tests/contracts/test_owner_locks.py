"""One writer at a time for each owner of memories, in one process and over several replicas."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from memory.connect import connect
from memory.longterm.access import Owner
from memory.longterm.locks import LocalLocks, Locks
from memory.longterm.store import StoreDown
from memory.owner_locks import OwnerLocks
from tests.fakes.valkey import Valkey

ANA, BEN = Owner(team_id="T1", kind="person", id="U1"), Owner(team_id="T1", kind="person", id="U2")
KEY = "steward:T1:{memory:T1:person:U1}:lock"


@pytest.fixture
async def replicas(valkey: Valkey) -> AsyncIterator[tuple[OwnerLocks, OwnerLocks]]:
    valkey.command("FLUSHALL")
    clients = [connect(valkey.url, timeout=2.0) for _ in range(2)]
    first, second = (OwnerLocks(client, space="T1", patience=5.0) for client in clients)
    yield first, second
    for client in clients:
        await client.aclose()


async def count_up(pot: list[int], locks: Locks) -> None:
    for _ in range(5):
        async with locks.held(ANA):
            seen = pot[0]
            await asyncio.sleep(0)
            pot[0] = seen + 1


async def test_what_is_read_and_written_under_the_lock_is_not_changed_between_by_another_replica(replicas: tuple[OwnerLocks, OwnerLocks]) -> None:
    pot = [0]
    await asyncio.gather(*(count_up(pot, locks) for locks in (*replicas, *replicas)))
    assert pot == [20]


async def test_within_one_process_the_same_holds_and_other_owners_do_not_wait() -> None:
    pot, locks = [0], LocalLocks()
    await asyncio.gather(*(count_up(pot, locks) for _ in range(4)))
    assert pot == [20]
    async with locks.held(ANA), locks.held(BEN):
        pass


async def test_another_owner_does_not_wait(replicas: tuple[OwnerLocks, OwnerLocks]) -> None:
    async with replicas[0].held(ANA), asyncio.timeout(4.0), replicas[1].held(BEN):
        pass


async def test_who_cannot_have_it_in_time_is_told_so_and_takes_nothing_away(replicas: tuple[OwnerLocks, OwnerLocks], valkey: Valkey) -> None:
    impatient = OwnerLocks(replicas[1]._client, space="T1", patience=0.0)
    async with replicas[0].held(ANA):
        with pytest.raises(StoreDown, match="busy"):
            async with impatient.held(ANA):
                raise AssertionError("two holders")
        assert valkey.command("EXISTS", KEY) == 1
    assert valkey.command("EXISTS", KEY) == 0


async def test_an_error_or_the_end_of_the_task_gives_it_back(replicas: tuple[OwnerLocks, OwnerLocks], valkey: Valkey) -> None:
    with pytest.raises(RuntimeError):
        async with replicas[0].held(ANA):
            raise RuntimeError
    assert valkey.command("EXISTS", KEY) == 0
    held = asyncio.Event()

    async def hold() -> None:
        async with replicas[0].held(ANA):
            held.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await held.wait()
    task.cancel()
    await asyncio.wait([task])
    assert valkey.command("EXISTS", KEY) == 0


async def test_a_holder_that_came_too_late_does_not_free_the_next_ones_lock(replicas: tuple[OwnerLocks, OwnerLocks], valkey: Valkey) -> None:
    async with replicas[0].held(ANA):
        assert 0 < int(str(valkey.command("PTTL", KEY))) <= 30_000, "a dead holder's lock ends by itself"
        valkey.command("SET", KEY, "somebody else")
    assert valkey.command("GET", KEY) in {b"somebody else", "somebody else"}


async def test_without_the_store_there_is_no_lock() -> None:
    client = connect("redis://127.0.0.1:1", timeout=0.1)
    with pytest.raises(StoreDown):
        async with OwnerLocks(client, space="T1").held(ANA):
            raise AssertionError("no lock")
    await client.aclose()
