"""Which of the memories that were found fit a request, and which of those go with it. Values in, values out.

Both legs of the search bring candidates, neither shuts out what the other found. Their scores are brought to one scale and added; what was
said just before and after in the same thread lends a part of its own, and what matches besides (who said it, its key, its day) adds to it.
How old a memory is decides only between equals. The figures behind the numbers here are printed by `python -m evals.longterm`.

Three ways lead to a memory's being told. A wish, a plan or an agreement fits a request about its topic. What is asked for by its key ("what is my
name") fits. Everything else has to be near (`relevance`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.longterm.asking import Asked
from memory.longterm.memory import Kind
from memory.longterm.question import Found
from memory.longterm.records import memory_of
from memory.longterm.relevance import fitting
from memory.longterm.sketch import Sketch, sketch_of
from memory.longterm.store import Record
from memory.terms import terms

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

WORDS_PART: Final = 0.4
"""Words against meaning; 0.4 to 0.6 are alike for turns of long talks, less is better for diaries."""
NEIGHBOUR_MEANING: Final = 0.4
NEIGHBOUR_WORDS: Final = 0.3
"""How much of the score of what was said just before and after counts."""
NEIGHBOUR_GAP: Final = 300.0
"""Seconds in which one message follows another."""
SPEAKER_BONUS: Final = 0.3
DATE_BONUS: Final = 0.3
KEY_BONUS: Final = 0.3
HABIT_BONUS: Final = 0.6
TOPIC_BONUS: Final = 0.3
"""For what somebody named in the request said, what is of a day it names, what is about what it is about, what is usual when that is wanted, and wishes
that matter to it."""

_USUAL: Final = frozenset({Kind.HABIT, Kind.PREFERENCE})
LOOKED_AT: Final = 16
"""The best so many are looked at closely; what is below them is not told anyway."""

SAME: Final = 0.85
"""Of the terms of two memories so many are shared that one says nothing the other does not."""
LINE_COST: Final = 12
"""Tokens of what stands around a memory in the note."""


@dataclass(frozen=True, slots=True)
class Match:
    """A record that a search found, with how well; None where it is not among the nearest, or where there are no vectors."""

    record: Record
    near: float | None
    """How near it is to the talk, in spreads of what is usual."""
    alone: float | None
    """How near it is to the request alone."""
    words: float | None
    """What it holds of its words."""


def ranked(asked: Asked, matches: Sequence[Match], *, now: float, most: int | None = None) -> list[Found]:
    """The best `most` of what was found, None: all of it; `now` in seconds since the epoch. What does not hold now is left out."""
    held = _newest_states([(sketch, match) for match in matches if (sketch := sketch_of(match.record, now)) is not None])
    if not held:
        return []
    sketches = [sketch for sketch, _ in held]
    near, alone, words = (
        np.array([np.nan if value is None else value for value in of]) for of in zip(*((m.near, m.alone, m.words) for _, m in held), strict=True)
    )
    words = np.nan_to_num(words)
    topical = np.array([not each.topics.isdisjoint(asked.wanted) for each in sketches]) if asked.wanted else np.zeros(len(held), bool)
    score, dated, keyed = _scores(asked, sketches, near, words)
    score += TOPIC_BONUS * topical
    order = np.lexsort((np.array([-each.created for each in sketches]), -score.round(4)))
    read = [(row, memory) for row in order.tolist()[:most] if (memory := memory_of(held[row][1].record)) is not None]
    rows = [row for row, _ in read]
    fits = fitting(asked, [memory for _, memory in read[:LOOKED_AT]], near, alone, rows[:LOOKED_AT])
    found = []
    for place, (row, memory) in enumerate(read):
        why = "key" if keyed[row] or topical[row] else "date" if dated[row] else "words" if words[row] > 0 else "meaning"
        found.append(Found(memory, float(score[row]), why, bool(keyed[row] or topical[row]) or (place < len(fits) and fits[place])))
    return found


def chosen(found: Sequence[Found], *, k: int, tokens: int, count: Callable[[str], int]) -> tuple[Found, ...]:
    """The best `k` at most that fit into `tokens`, none twice, none that has nothing to do with the request. `count`: tokens of a text."""
    taken: list[Found] = []
    known: list[set[str]] = []
    left = tokens
    for each in found:
        if len(taken) >= k:
            break
        if not each.fits or not each.memory.live:
            continue
        cost = count(each.memory.text) + LINE_COST
        if cost > left:
            continue
        own = set(terms(each.memory.text))
        if any(_alike(own, other) for other in known):
            continue
        taken.append(each)
        known.append(own)
        left -= cost
    return tuple(taken)


def _scores(asked: Asked, sketches: Sequence[Sketch], near: Numbers, words: Numbers) -> tuple[Numbers, Flags, Flags]:
    """Of each memory: its score, whether it is of a day that is named, whether it is about what is asked for."""
    dated, itself, keyed, usual, spoke = (np.zeros(len(sketches), bool) for _ in range(5))
    for row, each in enumerate(sketches):
        dated[row] = any(start <= each.at < end for start, end in asked.spans)
        itself[row] = any(each.key == key or each.key.startswith(f"{key}:") for key in asked.exact)
        keyed[row] = itself[row] or any(each.key == key or each.key.startswith(f"{key}:") for key in asked.keys)
        usual[row] = asked.habit and (keyed[row] and each.kind in _USUAL if asked.keys else each.kind is Kind.HABIT)
        spoke[row] = each.said_by in asked.speakers
    pairs, weight = _neighbours(sketches)
    score = _spread(_with_neighbours(words, pairs, NEIGHBOUR_WORDS * weight))
    known = ~np.isnan(near)
    if known.any():
        whole = np.where(known, near, near[known].min())
        share = _with_neighbours(np.ones(len(whole)), pairs, NEIGHBOUR_MEANING * weight)
        likeness = _spread(_with_neighbours(whole, pairs, NEIGHBOUR_MEANING * weight) / share)
        score = WORDS_PART * score + (1 - WORDS_PART) * likeness
    total = score + SPEAKER_BONUS * spoke + DATE_BONUS * dated + KEY_BONUS * keyed + HABIT_BONUS * usual
    return total, dated, itself | usual


def _neighbours(sketches: Sequence[Sketch]) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Pairs of memories said one after the other in one thread, shape (pairs, 2), and how close each pair is, 0 to 1."""
    placed = sorted((each.place, each.said_at, row) for row, each in enumerate(sketches))
    pairs = []
    for (place, before, row), (other_place, after, other) in itertools.pairwise(placed):
        gap = after - before
        if place == other_place and before > 0 and gap < NEIGHBOUR_GAP:
            pairs.append((row, other, 1 - gap / NEIGHBOUR_GAP))
    if not pairs:
        return np.empty((0, 2), np.int64), np.empty(0)
    return np.array([pair[:2] for pair in pairs], np.int64), np.array([pair[2] for pair in pairs])


def _with_neighbours(scores: Numbers, pairs: npt.NDArray[np.int64], weight: Numbers) -> Numbers:
    total = scores.copy()
    np.add.at(total, pairs[:, 1], weight * scores[pairs[:, 0]])
    np.add.at(total, pairs[:, 0], weight * scores[pairs[:, 1]])
    return total


def _newest_states(held: Sequence[tuple[Sketch, Match]]) -> list[tuple[Sketch, Match]]:
    """Of what is known about one thing of business only the newest state."""
    newest: dict[tuple[str, str], tuple[float, str]] = {}
    for sketch, match in held:
        if sketch.kind is Kind.ENTITY:
            place = (match.record.owner.tag, sketch.key)
            newest[place] = max(newest.get(place, (float("-inf"), "")), (sketch.created, sketch.id))
    return [(s, m) for s, m in held if s.kind is not Kind.ENTITY or s.id == newest[m.record.owner.tag, s.key][1]]


def _spread(scores: Numbers) -> Numbers:
    least, most = float(scores.min()), float(scores.max())
    return (scores - least) / (most - least) if most > least else (scores > 0).astype(np.float64)


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= SAME * max(len(one | other), 1)
