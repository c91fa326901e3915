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
from memory.longterm.memory import Memory

Numbers = npt.NDArray[np.float64]

UNRELATED_COUNT: Final = 5
"""Unrelated memories that are added in thought to what was found, so that one or two alone can be told from them too."""
NEAR: Final = 1.2
NEAR_ALONE: Final = 1.2
CROWD: Final = -1.0
COVERED: Final = 6.0
PERSONAL: Final = 3.8
ENOUGH: Final = 7.0
"""What counts, and how much of it is enough: how near a memory is to the talk and to the request alone, in spreads of what is usual (see `usual`); how near
all that was found are on average; the part of the request's words it holds, by what each tells; that the request speaks of the person."""
ASKED_TERMS: Final = 8
"""A request of more words than that is about several things, and a memory fits that holds as much as one of them."""
ENOUGH_WORDS: Final = 0.2
"""Without vectors: that part alone."""


def fitting(asked: Asked, best: Sequence[Memory], near: Numbers, alone: Numbers, rows: Sequence[int]) -> list[bool]:
    """Of each of the best, whether it has to do with the request.

    `near` and `alone` are those of all that was found, shape (found,), NaN where unknown; `rows` says where in them each of the best is.
    """
    covered = _covered(asked, best)
    known = alone[~np.isnan(alone)]
    if not len(known) or not len(rows):
        return [part >= ENOUGH_WORDS for part in covered]
    crowd = CROWD * float(known.sum()) / (len(known) + UNRELATED_COUNT)
    talk, itself = (np.where(np.isnan(each), np.nanmin(each), each)[list(rows)] for each in (near, alone))
    total = NEAR * talk + NEAR_ALONE * itself + COVERED * np.array(covered) + PERSONAL * asked.personal + crowd
    return [bool(enough) for enough in total >= ENOUGH]


def _covered(asked: Asked, best: Sequence[Memory]) -> list[float]:
    """The part of the request's words that each holds, by what each word tells: more, the fewer of these memories hold it."""
    held = [said_words(memory) for memory in best]
    among = len(held)
    rarity = {term: float(np.log(1 + (among + 10.5 - (holding := sum(term in each for each in held))) / (holding + 0.5))) for term in asked.telling}
    weights = {term: weight * rarity[term] for term, weight in asked.telling.items()}
    whole = sum(sorted(weights.values(), reverse=True)[:ASKED_TERMS]) or 1.0
    return [sum(weight for term, weight in weights.items() if term in each) / whole for each in held]
