"""Whether a memory has to do with a request at all, so that "nothing relevant" recalls nothing. Values in, values out.

The best of what was found are looked at: how near each is to the talk and to the request alone, counted in spreads of what is usual between
requests (`usual`); what part of the request's telling words it holds; and whether the request speaks of the person at all, as a sum or a translation
does not. The numbers are those of a logistic regression over a working day's requests and three public sets, rounded; `python -m evals.longterm` prints
what they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.longterm.asking import Asked
from memory.longterm.indexed import said_words
from memory.longterm.memory import Kind, Memory
from memory.terms import hashed, is_pair, telling, terms

Numbers = npt.NDArray[np.float64]

UNRELATED_COUNT: Final = 5
"""Unrelated memories that are added in thought to what was found, so that one or two alone can be told from them too."""
NEAR: Final = 1.2
NEAR_ALONE: Final = 1.2
CROWD: Final = -1.0
COVERED: Final = 6.0
PERSONAL: Final = 3.8
MENTIONED: Final = 2.2
USUAL: Final = -2.0
DONE: Final = -4.0
DATED: Final = 3.0
ENOUGH: Final = 7.0
"""What counts, and how much of it is enough: how near a memory is to the talk and to the request alone, in spreads of what is usual (see `usual`); how near
all that was found are on average; the part of the request's words it holds, by what each tells; that the request asks about the person, or only mentions
them ("I need the log of job 51"); and for what is usual, that it does not: who has one order looked up does not ask for how they go about it; and of what was
done before, that it is not spoken of; and of a time that is named, that it is of that time."""
ASKED_TERMS: Final = 8
"""A request of more words than that is about several things, and a memory fits that holds as much as one of them."""
CASE: Final = 0.5
"""The part of the telling words of a condition that has to stand in a request for it to be such a case."""
ENOUGH_WORDS: Final = 0.2
"""Without vectors: that part alone."""


def fitting(asked: Asked, best: Sequence[Memory], near: Numbers, alone: Numbers, rows: Sequence[int]) -> list[bool]:
    """Of each of the best, whether it has to do with the request.

    `near` and `alone` are those of all that was found, shape (found,), NaN where unknown; `rows` says where in them each of the best is.
    """
    if not asked.asks:
        return [False] * len(best)
    covered, meant = _covered(asked, best), np.array([_case_is_met(asked, memory) for memory in best], bool)
    known = alone[~np.isnan(alone)]
    if not len(known) or not len(rows):
        return [bool(met) or part >= ENOUGH_WORDS for met, part in zip(meant, covered, strict=True)]
    crowd = CROWD * float(known.sum()) / (len(known) + UNRELATED_COUNT)
    talk, itself = (np.where(np.isnan(each), np.nanmin(each), each)[list(rows)] for each in (near, alone))
    total = NEAR * talk + NEAR_ALONE * itself + COVERED * np.array(covered) + (PERSONAL if asked.personal else MENTIONED if asked.mentions else 0.0) + crowd
    if asked.spans and (asked.personal or asked.mentions or asked.past):
        total = total + DATED * np.array([_is_of(asked, memory) for memory in best])
    if not (asked.past or asked.habit or asked.spans):
        total = total + DONE * np.array([memory.kind is Kind.EPISODE for memory in best])
    if not (asked.personal or asked.habit):
        total = total + USUAL * np.array([memory.kind is Kind.HABIT for memory in best])
    return [bool(enough) for enough in meant | (total >= ENOUGH)]


def _is_of(asked: Asked, memory: Memory) -> bool:
    at = memory.created if memory.valid_from is None else memory.valid_from
    return any(start <= at < end for start, end in asked.spans)


def _case_is_met(asked: Asked, memory: Memory) -> bool:
    """Whether a wish is meant for such a request: most of what its condition tells stands in the request."""
    if not memory.condition or memory.kind is not Kind.PREFERENCE:
        return False
    told = {hashed(term) for term in terms(memory.condition) if telling(term) and (is_pair(term) or term.isascii())}
    return bool(told) and len(told & asked.telling.keys()) >= CASE * len(told)


def _covered(asked: Asked, best: Sequence[Memory]) -> list[float]:
    """The part of the request's words that each holds, by what each word tells: more, the fewer of these memories hold it."""
    held = [said_words(memory) for memory in best]
    among = len(held)
    rarity = {term: float(np.log(1 + (among + 10.5 - (holding := sum(term in each for each in held))) / (holding + 0.5))) for term in asked.telling}
    weights = {term: weight * rarity[term] for term, weight in asked.telling.items()}
    whole = sum(sorted(weights.values(), reverse=True)[:ASKED_TERMS]) or 1.0
    return [sum(weight for term, weight in weights.items() if term in each) / whole for each in held]
