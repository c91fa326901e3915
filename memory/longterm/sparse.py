"""Weighted terms: what makes a record findable by its words, in either engine.

A record's weights are the half of BM25 that can be worked out when it is written: how often it holds a term, with diminishing returns, and
less in a long text than in a short one. The other half, how rare a term is, is the engine's: it multiplies by the inverse document
frequency when it searches. "Long" is measured against a typical memory rather than the collection's average, so that a weight never has to
be worked out again. A term's number is its hash of 32 bits, the same in every process and version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from memory.terms import hashed, terms

K1: Final = 1.2
B: Final = 0.75
"""The usual two of BM25: how soon repetition stops to count, and how much length does."""
TYPICAL: Final = 20.0
"""Weighted terms of a typical memory."""
MOST: Final = 400
"""Different terms kept of one record."""


def record_words(parts: Iterable[tuple[str, float]], marks: Iterable[str] = ()) -> dict[int, float]:
    """Weight by term number of a record made of several texts, each with what one of its words counts.

    `marks`: terms as they are, which count once and make nothing longer (a date, a key).
    """
    counts: Counter[int] = Counter()
    for text, weight in parts:
        for term in terms(text):
            counts[hashed(term)] += weight  # type: ignore[assignment] # a Counter of fractions
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / TYPICAL)
    kept = counts.most_common(MOST)
    found = {key: count * (K1 + 1) / (count + norm) for key, count in kept}
    return found | {hashed(mark): 1.0 for mark in marks}


def query_words(parts: Iterable[tuple[str, float]], marks: Iterable[tuple[str, float]] = ()) -> dict[int, float]:
    """Weight by term number of what is looked for: of each term the sum of the weights of the texts that hold it."""
    found: dict[int, float] = {}
    for text, weight in parts:
        for term in set(terms(text)):
            found[hashed(term)] = found.get(hashed(term), 0.0) + weight
    return found | {hashed(mark): weight for mark, weight in marks}
