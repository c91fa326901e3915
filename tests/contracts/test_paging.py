"""Reading all of somebody's records page by page: nothing is left out or read twice, and whoever asks meanwhile does not wait for all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from memory.longterm.edge import EdgeStore
from memory.longterm.paging import AT_ONCE, pages, read_all
from memory.longterm.store import Record, Store, Where
from tests.fakes.stores import edge, person, record, vector

ANN, BEN = person("U1"), person("U2")
COUNT = 2 * AT_ONCE + 7


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    it = edge(tmp_path / "store", shards=1)
    await it.start()
    await it.put([record(f"n{n}", ANN, text=f"n{n}", at=float(n // 3), dense=vector(1, n, 0, 0), words={7: 1.0}) for n in range(COUNT)])
    await it.put([record("tea", BEN, text="tea", dense=vector(1, 0, 0, 0), words={7: 1.0})])
    yield it
    await it.close()


async def test_every_record_comes_once_newest_first_also_where_many_are_of_one_moment(store: EdgeStore) -> None:
    found = await read_all(store, Where((ANN,)))
    assert sorted(str(each.payload["text"]) for each in found) == sorted(f"n{n}" for n in range(COUNT))
    assert [each.at for each in found] == sorted((each.at for each in found), reverse=True)
    assert [len(page) async for page in pages(store, Where((ANN,)), vectors=True)] == [AT_ONCE, AT_ONCE, 7]
    assert [len(page) async for page in pages(store, Where((ANN,)), most=AT_ONCE + 3)] == [AT_ONCE, 3]
    assert await read_all(store, Where((person("nobody"),))) == []


class Asked:
    """A store that counts the pages it was asked for."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self.pages = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def list(self, *args: Any, **more: Any) -> list[Record]:
        self.pages += 1
        return await self._store.list(*args, **more)


async def test_another_persons_search_is_answered_between_two_pages(store: EdgeStore) -> None:
    asked = Asked(store)
    reading = asyncio.create_task(read_all(cast("Store", asked), Where((ANN,))))
    await asyncio.sleep(0)  # it has asked for its first page
    hits = await store.search(Where((BEN,)), dense=vector(1, 0, 0, 0), words={7: 1.0}, limit=5)
    assert [hit.record.payload["text"] for hit in hits] == ["tea"]
    meanwhile = asked.pages
    assert len(await reading) == COUNT
    assert 1 <= meanwhile < asked.pages, "there were more to come when the search was answered"
