"""The ways to search memories that are compared, on the same memories and questions: words, meaning, both by reciprocal rank, and the product's own.

The product's code runs as it does in the bot, from `understood` to `ranked`; only the store is one in this process that looks at every memory
and gives for each leg exactly what an engine would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evals.longterm_data import Asking, Case
from memory.embedder import Embedder, Floats
from memory.longterm.asking import understood
from memory.longterm.indexed import embed_text, words_of
from memory.longterm.question import Found
from memory.longterm.ranking import Match, ranked
from memory.longterm.recalling import PER_LEG
from memory.longterm.records import of_memory
from memory.longterm.sparse import query_words, record_words
from memory.longterm.store import Record
from memory.longterm.usual import Bearing, Usual, usual_of

RRF: Final = 60


class Shelf:
    """One owner's records, searched exactly."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._dense = np.stack([record.dense for record in records]) if records and records[0].dense is not None else None  # type: ignore[misc]
        holding: dict[int, list[tuple[int, float]]] = {}
        for row, record in enumerate(records):
            for term, weight in record.words.items():
                holding.setdefault(term, []).append((row, weight))
        self._holding = {term: (np.array([row for row, _ in held]), np.array([weight for _, weight in held])) for term, held in holding.items()}

    def words(self, wanted: Mapping[int, float]) -> Floats:
        """Of each record: the sum over shared terms of both weights and the term's rarity among these records."""
        total = np.zeros(len(self._records))
        for term, weight in wanted.items():
            if term in self._holding:
                rows, weights = self._holding[term]
                total[rows] += weight * weights * math.log(1 + (len(self._records) - len(rows) + 0.5) / (len(rows) + 0.5))
        return total.astype(np.float32)

    def meaning(self, vector: Floats) -> Floats:
        """Of each record: its cosine."""
        if self._dense is None:
            raise ValueError("records without vectors")
        likeness: Floats = self._dense @ vector
        return likeness

    def search(self, bearings: Sequence[Bearing], wanted: Mapping[int, float], limit: int) -> list[Match]:
        """As `Recaller.matches` gives it: `bearings` of the talk and, last, of the request alone."""
        words = self.words(wanted)
        by_words = {row for row in best(words)[:limit] if words[row] > 0}
        near = [self.meaning(look.direction) * look.reach for look in bearings]
        among = [set(best(each)[:limit]) for each in near]
        rows = by_words.union(*among)
        return [
            Match(
                self._records[row],
                float(near[0][row]) if near and row in among[0] else None,
                float(near[-1][row]) if near and row in among[-1] else None,
                float(words[row]) if row in by_words else None,
            )
            for row in sorted(rows)
        ]


def best(scores: Floats) -> list[int]:
    """Rows, the best first."""
    return [int(row) for row in np.argsort(-scores, kind="stable")]


class Plain:
    """What is known of search without us: BM25, e5 alone, and both by reciprocal rank."""

    def __init__(self, case: Case, vectors: Floats | None) -> None:
        self._ids = [memory.id for memory in case.memories]
        records = [
            of_memory(memory, dense=None if vectors is None else vectors[row], words=record_words([(text, 1.0)]))
            for row, (memory, text) in enumerate(zip(case.memories, case.plain, strict=True))
        ]
        self._shelf = Shelf(records)

    def by_words(self, text: str) -> list[str]:
        """BM25 with stems and stop words."""
        return [self._ids[row] for row in best(self._shelf.words(query_words([(text, 1.0)])))]

    def by_meaning(self, vector: Floats) -> list[str]:
        """Cosine."""
        return [self._ids[row] for row in best(self._shelf.meaning(vector))]

    def by_both(self, text: str, vector: Floats) -> list[str]:
        """Reciprocal ranks added up."""
        total: dict[str, float] = {}
        for order in (self.by_words(text), self.by_meaning(vector)):
            for rank, one in enumerate(order):
                total[one] = total.get(one, 0.0) + 1 / (RRF + rank + 1)
        return sorted(total, key=lambda one: -total[one])


class Ours:
    """The product's own recall of one owner's memories."""

    def __init__(self, case: Case, vectors: Floats | None, usual: Usual | None = None) -> None:
        self._usual = usual
        records = [of_memory(memory, dense=None if vectors is None else vectors[row], words=words_of(memory)) for row, memory in enumerate(case.memories)]
        self._shelf = Shelf(records)

    @classmethod
    async def of(cls, case: Case, embedder: Embedder | None) -> Ours:
        """Index a case."""
        if embedder is None:
            return cls(case, None)
        return cls(case, await embedder.passages([embed_text(memory) for memory in case.memories]), await usual_of(embedder))

    async def found(self, asking: Asking, embedder: Embedder | None) -> list[Found]:
        """What is found for a question, the best first."""
        asked = understood(asking.question)
        looks: list[Bearing] = []
        if embedder is not None and self._usual is not None:
            vectors = await embedder.queries(asked.queries)
            looks = [self._usual.bearing(vector, query) for vector, query in zip(vectors, asked.queries, strict=True)]
        return ranked(asked, self._shelf.search(looks, asked.words, PER_LEG), now=asking.question.now)


def spoken(asking: Asking) -> str:
    """The question as one text."""
    return " ".join([*asking.question.recent, asking.question.text])
