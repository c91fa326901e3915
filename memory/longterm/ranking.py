"""Which of the memories that were found fit a request, and which of those go with it. Values in, values out.

Both legs of the search bring candidates, neither shuts out what the other found. Their scores are brought to one scale and added; what was
said just before and after in the same thread lends a part of its own, and what matches besides (who said it, its key, its day) adds to it.
How old a memory is decides only between equals. Apart from the order, `fits` says whether a memory has to do with the request at all: by how
much of its telling words it holds, and by how far it is nearer in meaning than what is near it by accident. The figures behind the numbers
here are printed by `python -m evals.longterm`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.longterm.asking import Asked
from memory.longterm.indexed import said_words
from memory.longterm.memory import Kind, Memory
from memory.longterm.question import Found
from memory.longterm.records import memory_of
from memory.longterm.store import Hit
from memory.terms import terms

Numbers = npt.NDArray[np.float64]

WORDS_PART: Final = 0.4
"""Words against meaning; 0.4 to 0.6 are alike for turns of long talks, less is better for diaries."""
NEIGHBOUR_MEANING: Final = 0.5
NEIGHBOUR_WORDS: Final = 0.3
"""How much of the score of what was said just before and after counts."""
NEIGHBOUR_GAP: Final = 300.0
"""Seconds in which one message follows another."""
SPEAKER_BONUS: Final = 0.3
DATE_BONUS: Final = 0.3
KEY_BONUS: Final = 0.3
HABIT_BONUS: Final = 0.6
"""For what somebody named in the request said, what is of a day it names, what is about what it is about, and what is usual when that is wanted."""

LOOKED_AT: Final = 16
"""The best so many are looked at closely; what is below them is not told anyway."""
UNRELATED: Final = ((0.6, 0.78), (-1.0, 0.2))
"""How alike unrelated texts are, by the least cosine met: e5's live between 0.7 and 0.9, those of other makes spread wider."""
UNRELATED_COUNT: Final = 5
"""It counts like so many memories, so that one or two alone can be told from unrelated ones too."""
NEARER: Final = 12.0
NEAREST: Final = 1.0
COVERED: Final = 6.5
ENOUGH: Final = 2.8
"""How far a memory is nearer than what is usual here, how far the nearest is, and the part of the request's words it holds, by what each tells."""
ASKED_TERMS: Final = 8
"""A request of more words than that is about several things, and a memory fits that holds as much as one of them."""
ENOUGH_WORDS: Final = 0.2
"""Without vectors: that part alone."""

SAME: Final = 0.85
"""Of the terms of two memories so many are shared that one says nothing the other does not."""
LINE_COST: Final = 12
"""Tokens of what stands around a memory in the note."""


def ranked(asked: Asked, hits: Sequence[Hit], *, now: float) -> list[Found]:
    """All that may be told of what was found, the best first; `now` in seconds since the epoch."""
    held = _newest_states([(memory, hit) for hit in hits if (memory := memory_of(hit.record)) is not None and _holds(memory, now)])
    if not held:
        return []
    memories = [memory for memory, _ in held]
    dense = np.array([np.nan if hit.dense is None else hit.dense for _, hit in held])
    words = np.array([0.0 if hit.words is None else hit.words for _, hit in held])
    score, dated, keyed = _scores(asked, memories, dense, words)
    created = np.array([memory.created for memory in memories])
    order = np.lexsort((-created, -score.round(4)))
    fits = _fitting(asked, [memories[row] for row in order[:LOOKED_AT]], dense[order], dense)
    found = []
    for place, row in enumerate(order.tolist()):
        why = "key" if keyed[row] else "date" if dated[row] else "words" if words[row] > 0 else "meaning"
        found.append(Found(memories[row], float(score[row]), why, bool(keyed[row]) or (place < len(fits) and fits[place])))
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


def _scores(asked: Asked, memories: Sequence[Memory], dense: Numbers, words: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each memory: its score, whether it is of a day that is named, whether it is about what is asked for."""
    dated, keyed, usual, spoke = (np.zeros(len(memories), bool) for _ in range(4))
    for row, memory in enumerate(memories):
        at = memory.created if memory.valid_from is None else memory.valid_from
        dated[row] = any(start <= at < end for start, end in asked.spans)
        keyed[row] = any(memory.key == key or memory.key.startswith(f"{key}:") for key in asked.keys)
        usual[row] = asked.habit and memory.kind in {Kind.HABIT, Kind.PREFERENCE} and (keyed[row] or memory.kind is Kind.HABIT)
        spoke[row] = memory.source.said_by.user_id in asked.speakers
    before, weight = _neighbours(memories)
    score = _spread(_with_neighbours(words, before, NEIGHBOUR_WORDS * weight))
    known = ~np.isnan(dense)
    if known.any():
        whole = np.where(known, dense, dense[known].min())
        share = _with_neighbours(np.ones(len(whole)), before, NEIGHBOUR_MEANING * weight)
        likeness = _spread(_with_neighbours(whole, before, NEIGHBOUR_MEANING * weight) / share)
        score = WORDS_PART * score + (1 - WORDS_PART) * likeness
    total = score + SPEAKER_BONUS * spoke + DATE_BONUS * dated + KEY_BONUS * keyed + HABIT_BONUS * usual
    return total, dated, keyed & (asked.habit or not asked.topical) | usual


def _neighbours(memories: Sequence[Memory]) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Pairs of memories said one after the other in one thread, shape (pairs, 2), and how close each pair is, 0 to 1."""
    placed = sorted((memory.source.thread.thread_ts, memory.source.thread.channel_id, _seconds(memory.source.ts), row) for row, memory in enumerate(memories))
    pairs = []
    for one, other in itertools.pairwise(placed):
        gap = other[2] - one[2]
        if one[:2] == other[:2] and one[2] > 0 and gap < NEIGHBOUR_GAP:
            pairs.append((one[3], other[3], 1 - gap / NEIGHBOUR_GAP))
    if not pairs:
        return np.empty((0, 2), np.int64), np.empty(0)
    return np.array([pair[:2] for pair in pairs], np.int64), np.array([pair[2] for pair in pairs])


def _with_neighbours(scores: Numbers, pairs: npt.NDArray[np.int64], weight: Numbers) -> Numbers:
    total = scores.copy()
    np.add.at(total, pairs[:, 1], weight * scores[pairs[:, 0]])
    np.add.at(total, pairs[:, 0], weight * scores[pairs[:, 1]])
    return total


def _fitting(asked: Asked, best: Sequence[Memory], dense: Numbers, everything: Numbers) -> list[bool]:
    """Whether each of the best has to do with the request. `dense`: their likeness, in their order; `everything`: that of all that was found."""
    held = [said_words(memory) for memory in best]
    among = len(held)
    rarity = {term: float(np.log(1 + (among + 10.5 - (holding := sum(term in each for each in held))) / (holding + 0.5))) for term in asked.telling}
    whole = sum(sorted((weight * rarity[term] for term, weight in asked.telling.items()), reverse=True)[:ASKED_TERMS]) or 1.0
    covered = [sum(weight * rarity[term] for term, weight in asked.telling.items() if term in each) / whole for each in held]
    known = everything[~np.isnan(everything)]
    if not len(known):
        return [part >= ENOUGH_WORDS for part in covered]
    prior = next(usual for least, usual in UNRELATED if known.min() >= least)
    usual = (known.sum() + prior * UNRELATED_COUNT) / (len(known) + UNRELATED_COUNT)
    reach = max(1 - usual, 0.05)
    nearest = float(known.max() - usual) / reach
    nearer = [float(known.min() if np.isnan(like) else like) - usual for like in dense[:among]]
    return [NEARER * near / reach + NEAREST * nearest + COVERED * part >= ENOUGH for near, part in zip(nearer, covered, strict=True)]


def _holds(memory: Memory, now: float) -> bool:
    return memory.live and not any(end is not None and end <= now for end in (memory.valid_until, memory.expires))


def _newest_states(held: Sequence[tuple[Memory, Hit]]) -> list[tuple[Memory, Hit]]:
    """Of what is known about one thing of business only the newest state."""
    newest: dict[tuple[str, str], tuple[float, str]] = {}
    for memory, _ in held:
        if memory.kind is Kind.ENTITY:
            place = (memory.owner.tag, memory.key)
            newest[place] = max(newest.get(place, (float("-inf"), "")), (memory.created, memory.id))
    return [each for each in held if each[0].kind is not Kind.ENTITY or each[0].id == newest[each[0].owner.tag, each[0].key][1]]


def _spread(scores: Numbers) -> Numbers:
    least, most = float(scores.min()), float(scores.max())
    return (scores - least) / (most - least) if most > least else (scores > 0).astype(np.float64)


def _seconds(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:  # it came from no message
        return 0.0


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= SAME * max(len(one | other), 1)
