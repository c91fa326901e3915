"""What memory brings to an answer: asked once for a request, within a time limit, and never a reason for the request to fail.

Two things come: what always applies to the person ("short replies", allergies), without a query, and what fits the question, found by words
and by meaning among what the reader may reach here. When no vector can be made in time, words alone decide; when the store does not answer,
the answer goes out without memory and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import structlog

from memory.embedder import Embedder, NoVectorsError
from memory.longterm.access import Owner, person
from memory.longterm.asking import Asked, understood
from memory.longterm.memory import Kind, Memory, Settings
from memory.longterm.question import Found, Question, Recalled
from memory.longterm.ranking import Match, chosen, ranked
from memory.longterm.records import ALWAYS, memory_of, settings_id, settings_of
from memory.longterm.sparse import query_words
from memory.longterm.store import Hit, Store, StoreDown, Where
from memory.longterm.usual import Bearing, Usual, usual_of

log = structlog.get_logger(__name__)

PER_LEG = 50
"""Records each leg of a search brings at most; twice as many find no more on the public sets."""
MOST = 8
"""Memories that fit the question."""
READ = 32
"""Of what was found so many are read whole, the best first."""
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
        self._usual: asyncio.Task[Usual] | None = None

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
        matches = await self.matches(asked, reader.owners, reader.audiences, limit * EMBEDDING_PART)
        found = ranked(asked, matches, now=question.now, most=READ)
        asked_for = {each.memory.id: each.why for each in found if each.fits}
        standing = tuple(replace(each, why=asked_for.get(each.memory.id, each.why)) for each in standing)
        fitting = [each for each in found if each.memory.id not in known]
        return Recalled(found=(*standing, *chosen(fitting, k=MOST, tokens=max(tokens - used, 0), count=count)))

    async def matches(self, asked: Asked, owners: tuple[Owner, ...], audiences: frozenset[str] | None, patience: float) -> list[Match]:
        """What both legs of a search bring. Without vectors within `patience` seconds words alone bring it. Raises `StoreDown`."""
        where = Where(owners, audiences=audiences, live=True, since=asked.since, until=asked.until)
        looks = await self._bearings(asked.queries, patience)
        talk, alone = (looks[0], looks[-1]) if looks else (None, None)
        found = {hit.record.id: _match(hit, talk) for hit in await self._search(where, talk, asked.words)}
        if talk is not alone:
            for hit in await self._search(where, alone, {}):
                known = found.get(hit.record.id) or Match(hit.record, None, None, None)
                found[hit.record.id] = replace(known, alone=_spreads(hit, alone))
        else:
            found = {one: replace(match, alone=match.near) for one, match in found.items()}
        if asked.habit or asked.exact:
            await self._by_key(where, asked.habit, asked.exact, found)
        return list(found.values())

    async def hits(self, text: str, owners: tuple[Owner, ...], patience: float) -> list[Hit]:
        """What is like a text by its words and by plain cosine, whoever may read it: what a new memory is compared with. Raises `StoreDown`."""
        vector = None
        if self._embedder is not None:
            try:
                async with asyncio.timeout(patience):
                    vector = await self._embedder.query(text)
            except (NoVectorsError, TimeoutError) as error:
                log.warning("text_without_vector", reason=str(error) or "too slow")
        return await self._store.search(Where(owners, live=True), dense=vector, words=query_words([(text, 1.0)]), limit=PER_LEG)

    async def _search(self, where: Where, look: Bearing | None, words: Mapping[int, float]) -> list[Hit]:
        return await self._store.search(where, dense=look.direction if look is not None else None, words=words, limit=PER_LEG)

    async def _by_key(self, where: Where, habit: bool, keys: tuple[str, ...], found: dict[str, Match]) -> None:  # noqa: FBT001
        """What is asked for by what it is about ("as usual") is found whatever its words."""
        wanted = [replace(where, since=None, until=None, keys=keys)] if keys else []
        if habit:
            wanted.append(replace(where, since=None, until=None, kinds=kinds_stored(Kind.HABIT, Kind.PREFERENCE)))
        for each in wanted:
            for record in await self._store.list(each, limit=MOST * 2):
                found.setdefault(record.id, Match(record, None, None, None))

    async def _bearings(self, queries: Sequence[str], patience: float) -> list[Bearing]:
        """Where to look from each of the queries; nowhere when there is no embedder, or none in time."""
        if self._embedder is None:
            return []
        try:
            async with asyncio.timeout(patience):
                usual = await asyncio.shield(self._usual_for(self._embedder))
                return [usual.bearing(vector, query) for vector, query in zip(await self._embedder.queries(queries), queries, strict=True)]
        except (NoVectorsError, TimeoutError) as error:
            log.warning("question_without_vector", reason=str(error) or "too slow")
            return []

    def prepare(self) -> None:
        """Begin with what takes a while and is the same for every question; the first one waits for it no longer than for anything else."""
        if self._embedder is not None:
            _ = self._usual_for(self._embedder)  # kept there

    def _usual_for(self, embedder: Embedder) -> asyncio.Task[Usual]:
        """What is usual for the embedder, worked out once; a failure is tried again by the next who asks."""
        task = self._usual
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._usual = asyncio.create_task(usual_of(embedder), name="what is usual")
        return task

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


def _match(hit: Hit, look: Bearing | None) -> Match:
    return Match(hit.record, _spreads(hit, look), None, hit.words)


def _spreads(hit: Hit, look: Bearing | None) -> float | None:
    """How near it is, in spreads of what is usual."""
    return None if hit.dense is None or look is None else hit.dense * look.reach
