"""Changing the embedding model of a store: every record is written into a new generation with the new model's vectors, which then takes over.

It can be stopped at any moment and run again: what the new generation already holds as it is in the old one is not made anew, what was
deleted meanwhile is not brought over, and until the one step in which the new one takes over the old one is untouched. No bot may use the
store meanwhile: the embedded one's lock sees to that, with a server it is for whoever runs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol, Self

from memory.embedder import Embedder
from memory.longterm.access import Owner
from memory.longterm.store import WORDS_ONLY, Record, Store, What, Where

BATCH: Final = 32
"""Records whose vectors are made and written at once: what is lost when it is stopped."""
WHATS: Final[tuple[What, ...]] = ("memory", "change", "settings")


class Successive(Store, Protocol):
    """A store that can have a successor: both engines."""

    async def start(self, *, whatever_model: bool = False) -> None:
        """See `Store`."""
        ...

    async def successor(self, model: str, size: int) -> Self:
        """The generation to come, made or, if it was begun with this model, as far as it came; started."""
        ...

    async def adopt(self, successor: Self) -> None:
        """Let it take over, in one step, and drop what it follows. This store and the successor are closed then."""
        ...


async def reembed(
    store: Successive, embedder: Embedder | None, text_of: Callable[[Record], str | None], progress: Callable[[int, int], None] = lambda _done, _total: None
) -> int:
    """Change a store, not started yet, over to another model (None: words alone); how many records it has now, 0 when nothing had to be done.

    `text_of` gives the text a record is found by, None: it has no vector. `progress` is called with how many records are done, and of how many.
    The store is closed at the end. Raises `StoreError`, `StoreDown`, `NoVectorsError`.
    """
    model, size = (embedder.name, embedder.size) if embedder is not None else (WORDS_ONLY, 0)
    await store.start(whatever_model=True)
    try:
        if (store.model, store.size) == (model, size):
            return 0
        fresh = await store.successor(model, size)
        try:
            done, total = 0, await _total(store)
            progress(done, total)
            async for batch in _batches(store):
                await _bring(batch, fresh, embedder, text_of)
                done += len(batch)
                progress(min(done, total), total)
            await _drop_gone(store, fresh)
            await store.adopt(fresh)
        finally:
            await fresh.close()
        return done
    finally:
        await store.close()


async def _total(store: Store) -> int:
    stats = await store.stats()
    return int(sum(stats[what] for what in WHATS))


async def _batches(store: Store, *, vectors: bool = True) -> AsyncIterator[list[Record]]:
    """All records, each batch of one owner."""
    owners = [owner async for owner in store.owners()]
    for owner in owners:
        for what in WHATS:
            before: tuple[float, str] | None = None
            while page := await store.list(Where((owner,), what=what), limit=BATCH, before=before, vectors=vectors):
                yield page
                before = (page[-1].at, page[-1].id)


async def _bring(batch: Sequence[Record], fresh: Store, embedder: Embedder | None, text_of: Callable[[Record], str | None]) -> None:
    owner = batch[0].owner
    there = {record.id: record for record in await fresh.get(owner, [record.id for record in batch])}
    missing = [record for record in batch if record.id not in there or _plain(there[record.id]) != _plain(record)]
    made = {record.id: replace(record, dense=None) for record in missing}
    if embedder is not None:
        texts = {record.id: text for record in missing if (text := text_of(record))}
        if texts:
            made |= {one: replace(made[one], dense=vector) for one, vector in zip(texts, await embedder.passages(list(texts.values())), strict=True)}
    if made:
        await fresh.put(list(made.values()))


async def _drop_gone(store: Store, fresh: Store) -> None:
    """What an earlier, interrupted run brought over and is no longer there."""
    gone: dict[Owner, list[str]] = {}
    async for batch in _batches(fresh, vectors=False):
        owner = batch[0].owner
        there = {record.id for record in await store.get(owner, [record.id for record in batch])}
        gone.setdefault(owner, []).extend(record.id for record in batch if record.id not in there)
    for owner, ids in gone.items():
        if ids:
            await fresh.delete(owner, ids)


def _plain(record: Record) -> tuple[object, ...]:
    """All of a record but its vector."""
    return (record.what, record.payload, record.audience, record.kind, record.key, record.live, record.at, dict(record.words))
