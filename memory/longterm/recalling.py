"""What memory brings to an answer: asked once for a request, within a time limit, and never a reason for the request to fail.

Two things come: what always applies to the person ("short replies", allergies), without a query, and what fits the question, found by words
and by meaning among what the reader may reach here. When no vector can be made in time, words alone decide; when the store does not answer,
the answer goes out without memory and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import structlog

from memory.embedder import Embedder, NoVectorsError
from memory.longterm.access import Owner, person
from memory.longterm.asking import Asked, understood
from memory.longterm.memory import Kind, Memory, Settings
from memory.longterm.question import Found, Question, Recalled
from memory.longterm.ranking import chosen, ranked
from memory.longterm.records import ALWAYS, memory_of, settings_id, settings_of
from memory.longterm.store import Floats, Hit, Store, StoreDown, Where

log = structlog.get_logger(__name__)

PER_LEG = 100
"""Records each leg of a search brings at most."""
MOST = 8
"""Memories that fit the question."""
MOST_ALWAYS = 12
"""Memories that always apply."""
EMBEDDING_PART = 0.6
"""Part of the time limit that making the question's vector may take."""

Count = Callable[[str], int]


class Recaller:
    """Answers questions from one store."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self._embedder = embedder

    async def recall(self, question: Question, *, tokens: int, count: Count, limit: float) -> Recalled:
        """What fits, in at most `tokens`, within `limit` seconds. Never raises for a store or an embedder that is away."""
        began = perf_counter()
        if not question.reader.owners:
            return Recalled()
        try:
            async with asyncio.timeout(limit):
                recalled = await self._recall(question, tokens, count, limit)
        except (StoreDown, TimeoutError) as error:
            log.warning("memory_not_recalled", reason=str(error) or "too slow")
            recalled = Recalled(missing=True)
        return replace(recalled, took=perf_counter() - began)

    async def _recall(self, question: Question, tokens: int, count: Count, limit: float) -> Recalled:
        reader = question.reader
        owner = person(reader.actor)
        settings, always = await asyncio.gather(self.settings(owner), self.always(owner, reader.audiences))
        if not settings.learning:
            return Recalled(paused=True)
        standing = chosen([Found(memory, 1.0, "always") for memory in standing_of(always, question.now)], k=MOST_ALWAYS, tokens=tokens, count=count)
        known = {found.memory.id for found in standing}
        used = sum(count(found.memory.text) for found in standing)
        asked = understood(question)
        hits = await self.hits(asked, reader.owners, reader.audiences, limit * EMBEDDING_PART)
        fitting = [found for found in await self._ranked(asked, hits, question.now) if found.memory.id not in known]
        return Recalled(found=(*standing, *chosen(fitting, k=MOST, tokens=max(tokens - used, 0), count=count)))

    async def _ranked(self, asked: Asked, hits: Sequence[Hit], now: float) -> list[Found]:
        if len(hits) < PER_LEG:
            return ranked(asked, hits, now=now)
        return await asyncio.to_thread(ranked, asked, hits, now=now)

    async def hits(self, asked: Asked, owners: tuple[Owner, ...], audiences: frozenset[str] | None, patience: float) -> list[Hit]:
        """What both legs of a search bring. Raises `StoreDown`."""
        where = Where(owners, audiences=audiences, live=True, since=asked.since, until=asked.until)
        vectors = await self._vectors(asked.queries, patience)
        found: dict[str, Hit] = {}
        legs: list[Floats | None] = [*vectors] or [None]
        for dense in legs:
            for hit in await self._store.search(where, dense=dense, words=asked.words, limit=PER_LEG):
                known = found.get(hit.record.id)
                found[hit.record.id] = hit if known is None else Hit(hit.record, _better(known.dense, hit.dense), _better(known.words, hit.words))
        if asked.habit or asked.keys:
            await self._by_key(where, asked.habit, asked.keys, found)
        return list(found.values())

    async def _by_key(self, where: Where, habit: bool, keys: tuple[str, ...], found: dict[str, Hit]) -> None:  # noqa: FBT001
        """What is asked for by what it is about ("as usual") is found whatever its words."""
        wanted = [replace(where, since=None, until=None, keys=keys)] if keys else []
        if habit:
            wanted.append(replace(where, since=None, until=None, kinds=kinds_stored(Kind.HABIT, Kind.PREFERENCE)))
        for each in wanted:
            for record in await self._store.list(each, limit=MOST * 2):
                found.setdefault(record.id, Hit(record, None, None))

    async def _vectors(self, queries: Sequence[str], patience: float) -> list[Floats]:
        if self._embedder is None:
            return []
        try:
            async with asyncio.timeout(patience):
                return [await self._embedder.query(query) for query in queries]
        except (NoVectorsError, TimeoutError) as error:
            log.warning("question_without_vector", reason=str(error) or "too slow")
            return []

    async def always(self, owner: Owner, audiences: frozenset[str] | None) -> list[Memory]:
        """What always applies to a person, where it may be recalled. Raises `StoreDown`."""
        where = Where((owner,), audiences=audiences, live=True, kinds=tuple(f"{kind.value}{ALWAYS}" for kind in Kind))
        return [memory for record in await self._store.list(where, limit=4 * MOST_ALWAYS) if (memory := memory_of(record)) is not None]

    async def settings(self, owner: Owner) -> Settings:
        """A person's settings. Raises `StoreDown`."""
        found = await self._store.get(owner, [settings_id(owner)])
        return settings_of(found[0]) if found else Settings()


def standing_of(memories: Sequence[Memory], now: float) -> list[Memory]:
    """Those that hold now, the most important and then the newest first."""
    holding = [memory for memory in memories if holds(memory, now)]
    return sorted(holding, key=lambda memory: (-memory.importance, -memory.created, memory.id))


def holds(memory: Memory, now: float) -> bool:
    """Whether a memory may be recalled as what is so now."""
    ended = (memory.valid_until, memory.expires)
    return memory.live and not any(end is not None and end <= now for end in ended)


def kinds_stored(*kinds: Kind) -> tuple[str, ...]:
    """The values under which memories of these kinds are filed, those that always apply included."""
    return tuple(f"{kind.value}{mark}" for kind in kinds for mark in ("", ALWAYS))


def _better(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)
