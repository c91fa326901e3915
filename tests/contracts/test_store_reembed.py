"""Another embedding model: refused until the store is changed over, which can be stopped at any moment and loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from memory.embedder import NoVectorsError
from memory.longterm.collection import FORM
from memory.longterm.edge import EdgeStore
from memory.longterm.opening import open_store
from memory.longterm.reembed import reembed
from memory.longterm.store import WORDS_ONLY, Floats, Record, StoreDown, StoreError, Where
from tests.fakes.stores import Engine, edge, in_memory, one_id, person, record, texts, vector

Reopen = Callable[..., Engine]


@pytest.fixture(params=["edge", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    """Opens the same store again, as another start of the program would."""
    client = AsyncQdrantClient(":memory:")

    def again(**model: object) -> Engine:
        return edge(tmp_path / "store", shards=1, **model) if request.param == "edge" else in_memory(client, **model)  # type: ignore[arg-type]

    return again


class Lengths:
    """Vectors of eight numbers, from the text; fails after `fails_after` batches."""

    name, size = "other/8", 8

    def __init__(self, fails_after: int | None = None) -> None:
        self.left = fails_after
        self.texts: list[str] = []

    async def passages(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        if self.left is not None:
            if self.left == 0:
                raise NoVectorsError("stopped")
            self.left -= 1
        self.texts += texts
        return np.stack([await self.query(text) for text in texts])

    async def query(self, text: str) -> Floats:
        """See `Embedder`."""
        return vector(*(float(text.count(letter)) + 0.1 for letter in "abcdefgh"))

    async def queries(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return np.stack([await self.query(text) for text in texts])


def text_of(each: Record) -> str | None:
    return str(each.payload["text"]) if each.what == "memory" else None


async def filled(store: Engine) -> list[Record]:
    put = [record(f"abc {'d' * (n % 5)} {n}", person(f"U{n % 3}"), dense=vector(1, n, 0, 0), words={n: 1.0}, at=float(n), key=f"k{n}") for n in range(120)]
    put += [record("history", what="change"), record("set", what="settings")]
    await store.start()
    await store.put(put)
    await store.close()
    return put


async def test_another_model_is_refused_with_the_remedy(reopen: Reopen) -> None:
    await filled(reopen())
    for other in ({"model": "another"}, {"size": 5}, {"model": WORDS_ONLY, "size": 0}):
        with pytest.raises(StoreError, match="steward memory reembed") as refused:
            await reopen(**other).start()
        assert "\n" not in str(refused.value)
    store = reopen()
    await store.start()
    await store.close()


async def test_a_newer_form_is_refused(reopen: Reopen, tmp_path: Path) -> None:
    store = reopen()
    await filled(store)
    if isinstance(store, EdgeStore):
        path = tmp_path / "store" / "store.json"
        path.write_text(path.read_text().replace(f'"form": {FORM}', f'"form": {FORM + 1}'))
    else:
        await store.client.update_collection(store.name, metadata={"form": FORM + 1})
    with pytest.raises(StoreError, match="newer version"):
        await reopen().start()


async def test_every_record_is_there_afterwards_with_the_new_vectors(reopen: Reopen) -> None:
    put, seen = await filled(reopen()), []
    assert await reembed(reopen(), Lengths(), text_of, lambda done, total: seen.append((done, total))) == 122
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == ((0, 122), (122, 122))
    store = reopen(model="other/8", size=8)
    await store.start()
    for each in put:
        (got,) = await store.get(each.owner, [each.id])
        assert (got.payload, got.words, got.at, got.key, got.what) == (each.payload, each.words, each.at, each.key, each.what)
        assert (got.dense is None) == (each.what != "memory")
    hits = await store.search(Where((person("U1"),)), dense=await Lengths().query("abc dddd 4"), words={}, limit=1)
    assert hits[0].dense == pytest.approx(1.0, abs=1e-4)
    await store.close()
    with pytest.raises(StoreError):
        await reopen().start()
    assert await reembed(reopen(model="other/8", size=8), again := Lengths(), text_of) == 0  # nothing is done with the model it has
    assert again.texts == []


@pytest.mark.parametrize("batches", [0, 3])
async def test_an_interrupted_change_leaves_the_old_whole_and_goes_on_where_it_was(reopen: Reopen, batches: int) -> None:
    put = await filled(reopen())
    with pytest.raises(NoVectorsError):
        await reembed(reopen(), stopped := Lengths(batches), text_of)
    store = reopen()
    await store.start()  # the old one works as before, and goes on living
    assert (await store.stats())["memory"] == 120
    await store.delete(put[0].owner, [put[0].id])
    await store.put([record("abc d 1", person("U1"), text="changed", at=1.0)])
    await store.close()
    again = Lengths()
    assert await reembed(reopen(), again, text_of) == 121 + (one_id("abc d 1") not in {each.id for each in put})
    assert len(again.texts) < 122 - len(stopped.texts) + 3
    store = reopen(model="other/8", size=8)
    await store.start()
    assert await store.get(put[0].owner, [put[0].id]) == []
    assert texts(await store.get(person("U1"), [one_id("abc d 1")])) == ["changed"]
    assert (await store.stats())["memory"] == len({each.id for each in put if each.what == "memory"} - {put[0].id} | {one_id("abc d 1")})
    await store.close()


async def test_without_a_model_words_remain(reopen: Reopen) -> None:
    await filled(reopen())
    assert await reembed(reopen(), None, text_of) == 122
    store = reopen(model=WORDS_ONLY, size=0)
    await store.start()
    hits = await store.search(Where((person("U1"),)), dense=vector(1, 0, 0, 0), words={4: 1.0}, limit=5)
    assert texts([hit.record for hit in hits]) == ["abc dddd 4"]
    await store.close()


async def test_a_server_that_is_not_there_is_down() -> None:
    store = open_store(None, "http://127.0.0.1:9", model="m", size=4)
    with pytest.raises(StoreDown, match="does not answer"):
        await store.start()
    with pytest.raises(StoreError, match="QDRANT_URL"):
        open_store(None, None, model="m", size=4)
