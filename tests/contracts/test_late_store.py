"""A store that may come later: away at first, tried again from time to time, and never spoiled by somebody who would not wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from memory.longterm.late import LateStore
from memory.longterm.store import StoreDown, StoreError
from tests.fakes.memories import in_memory
from tests.fakes.stores import person, record, texts


class Far:
    """A real store whose start fails as often as told, or takes as long as told."""

    def __init__(self, *failures: Exception) -> None:
        self._store: Any = in_memory()
        self.failures = list(failures)
        self.starts = 0
        self.gate = asyncio.Event()
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def start(self) -> None:
        self.starts += 1
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        await self._store.start()


def late(far: Far, pause: float = 0.0) -> LateStore:
    store: Any = far
    return LateStore(store, pause=pause)


async def test_what_answers_at_once_is_there_at_once() -> None:
    far = Far()
    store = late(far)
    await store.start()
    await store.put([record("one", words={1: 1.0})])
    assert texts(await store.get(person(), [record("one").id])) == ["one"]
    assert [owner async for owner in store.owners()] == [person()]
    assert far.starts == 1
    await store.close()


async def test_what_is_away_at_the_start_is_there_when_it_came() -> None:
    far = Far(StoreDown("away"), StoreDown("still away"))
    store = late(far)
    with capture_logs() as logs:
        await store.start()
    assert [each["event"] for each in logs] == ["memory_store_away"]
    with pytest.raises(StoreDown):
        await store.put([record("one")])
    await store.put([record("one")])
    assert far.starts == 3
    await store.close()


async def test_between_two_tries_there_is_a_pause() -> None:
    far = Far(*[StoreDown("away")] * 3)
    store = late(far, pause=3_600.0)
    await store.start()
    for _ in range(5):
        with pytest.raises(StoreDown):
            await store.stats()
    assert far.starts == 2
    await store.close()


async def test_what_cannot_be_used_is_an_error_at_the_start_and_away_later() -> None:
    with pytest.raises(StoreError):
        await late(Far(StoreError("another model's"))).start()
    store = late(Far(StoreDown("away"), StoreError("another model's")))
    await store.start()
    with capture_logs() as logs, pytest.raises(StoreDown, match="unusable"):
        await store.stats()
    assert [each["event"] for each in logs] == ["memory_store_unusable"]


async def test_many_callers_reach_it_once() -> None:
    far = Far(StoreDown("away"))
    store = late(far)
    await store.start()
    await asyncio.gather(*(store.put([record(f"r{n}")]) for n in range(8)))
    assert far.starts == 2
    assert len(await store.get(person(), [record(f"r{n}").id for n in range(8)])) == 8
    await store.close()


async def test_who_does_not_wait_does_not_keep_it_from_being_reached() -> None:
    far = Far(StoreDown("away"))
    store = late(far, pause=3_600.0)
    await store.start()
    far.gate.clear()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.0):
                await store.stats()
    waiting = asyncio.create_task(store.put([record("one")]))
    await asyncio.sleep(0)
    far.gate.set()
    await waiting
    assert far.starts <= 2
    await store.close()


async def test_it_can_be_closed_while_it_is_being_reached() -> None:
    far = Far(StoreDown("away"))
    store = late(far)
    await store.start()
    far.gate.clear()
    waiting = asyncio.create_task(store.stats())
    while far.starts < 2:
        await asyncio.sleep(0)
    await store.close()
    await asyncio.wait([waiting])
    assert waiting.cancelled() or isinstance(waiting.exception(), StoreDown)
