"""Sums over the messages of one thread that search ranks by: likeness of meaning, neighbours, and whether anything stands out at all.

Every function takes arrays with one number a message, in the order of the messages, and gives such arrays back; what is not known is NaN.
The figures behind the numbers here are printed by `python -m evals.locomo`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

ROWS_AT_ONCE: Final = 256
SMOOTHING: Final = 0.5
"""How much of a neighbour's likeness counts. Without: 88 % among the first 80; with: 91 %; 0.25 to 1 are alike."""
WORDS_SMOOTHING: Final = 0.3
"""How much of a neighbour's words counts: 88.8 % without, 90.1 % with, 89.9 % at half of it."""
ENOUGH_WORDS: Final = 0.2
"""Without vectors: the part of a question's words, by rarity, the best message must hold. 99 % of the questions with an answer here pass, 49 % of those
about another conversation, 39 % of requests for something else."""
NEAREST: Final = 5
COVERED_WEIGHT: Final = 0.01
ONE_IN: Final = 60
FEW: Final = 20
"""With vectors: the nearest messages, one in 60 and at most five, are compared with all, once there are more than a few."""


def products(matrix: npt.NDArray[np.int8], vector: Floats) -> Floats:
    """`matrix @ vector`, some rows at a time: they fit the processor's cache, so it is faster than floats of four times the size would be."""
    out = np.empty(len(matrix), np.float32)
    part = np.empty((ROWS_AT_ONCE, matrix.shape[1]), np.float32)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        rows = matrix[start : start + ROWS_AT_ONCE]
        np.copyto(part[: len(rows)], rows)
        np.dot(part[: len(rows)], vector, out=out[start : start + len(rows)])
    return out


def relevant(coverage: Floats, alike: Floats | None, stands_out: float) -> bool:
    """Whether anything here has to do with the question: the closest messages stand out from the rest, or hold enough of its words.

    `coverage`: by message the part of the question's words it holds. `stands_out`: by how much the closest must be closer than all; 0: not known.
    """
    covered = float(coverage.max(initial=0.0))
    if alike is None:
        return covered >= ENOUGH_WORDS
    known = alike[~np.isnan(alike)]
    if len(known) < FEW or stands_out <= 0:
        return True  # too few to tell what is usual here, or a make whose scale nobody measured
    count = min(max(len(known) // ONE_IN, 1), NEAREST)
    nearest = np.partition(known, -count)[-count:]
    return float(nearest.mean() - known.mean()) + COVERED_WEIGHT * covered >= stands_out


def with_neighbours(words: Floats) -> Floats:
    """What stands beside a good match is worth a look: the answer to a question, the reason for a decision."""
    total = words.copy()
    total[1:] += WORDS_SMOOTHING * words[:-1]
    total[:-1] += WORDS_SMOOTHING * words[1:]
    return total


def smoothed(alike: Floats) -> Floats:
    """Each message's likeness with its neighbours' in part: that of a sum of vectors is the sum of the likenesses, so no second pass is needed."""
    known = ~np.isnan(alike)
    raw = np.where(known, alike, np.float32(0))
    total, share = raw.copy(), known.astype(np.float32)
    total[1:] += SMOOTHING * raw[:-1]
    total[:-1] += SMOOTHING * raw[1:]
    share[1:] += SMOOTHING * known[:-1]
    share[:-1] += SMOOTHING * known[1:]
    result: Floats = np.where(known, total / np.maximum(share, np.float32(1e-6)), np.float32(np.nan))
    return result


def top(scores: Floats, count: int, *, above: float) -> npt.NDArray[np.int64]:
    """Rows of the `count` largest scores that are above `above`; NaN is none of them."""
    plain = np.where(np.isnan(scores), np.float32(-np.inf), scores)
    rows = np.argpartition(-plain, count)[:count] if len(plain) > count else np.arange(len(plain))
    return rows[plain[rows] > above]


def spread(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Scores from 0 for the least to 1 for the best; all the same: 1 where they are above nothing."""
    least, most = float(scores.min()), float(scores.max())
    return (scores - least) / (most - least) if most > least else (scores > 0).astype(np.float32)
