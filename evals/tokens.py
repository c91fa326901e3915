"""How far the token estimator is off, by kind of text, against real vocabularies.

    python -m evals.tokens

For each kind of text and each vocabulary: the mean error with its sign (above 0: the estimate is more than the truth), the error that 95 of a
hundred texts stay below whatever its sign, the one that 95 stay above, and the worst under-count. The texts are those of evals/token_texts.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from evals.token_texts import KINDS, samples
from memory.tokens import estimate, load

ENCODINGS: Final = ("o200k_base", "cl100k_base")


@dataclass(frozen=True, slots=True)
class Errors:
    """What was measured on some texts; each figure is a part of the true count (0.05 is five percent)."""

    texts: int
    mean: float
    p95: float
    p5: float
    """The error, with its sign, that 95 of a hundred texts stay above."""
    worst_under: float
    """The lowest error, at most 0."""


def errors(texts: Sequence[str], estimated: Callable[[str], int], true: Callable[[str], int]) -> Errors:
    """Compare two counters on `texts`, none of them empty."""
    found = sorted((estimated(text) - exact) / exact for text in texts for exact in (true(text),))
    sizes = sorted(map(abs, found))
    return Errors(len(found), sum(found) / len(found), sizes[math.ceil(0.95 * len(sizes)) - 1], found[len(found) // 20], min(0.0, found[0]))


def main() -> None:
    """Print the table."""
    print(f"{'kind':16} {'vocabulary':12} {'texts':>5} {'mean':>8} {'p95':>7} {'p5':>7} {'worst under':>12}")
    for kind in KINDS:
        texts = samples(kind)
        for encoding in ENCODINGS:
            found = errors(texts, estimate, load(encoding).count)
            print(f"{kind:16} {encoding:12} {found.texts:5} {found.mean:+8.1%} {found.p95:7.1%} {found.p5:+7.1%} {found.worst_under:+12.1%}")


if __name__ == "__main__":
    main()
