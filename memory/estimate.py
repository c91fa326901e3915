"""An estimate of a text's tokens for models whose vocabulary we do not have.

The text is cut into the pieces that byte-pair encoders cut it into first (words, runs of digits, marks and space), and each kind of piece has
its measured price. The prices are those of the dearer vocabularies in use: a text taken for longer than it is costs some room, one taken for
shorter may overflow the model's window. `python -m evals.tokens` measures the error against real vocabularies.
"""

from __future__ import annotations

import math
import re
from typing import Final

CHINESE: Final = 1.16
"""Tokens for a Chinese character, where a model's vocabulary was not made with Chinese in mind."""
CHINESE_AT_HOME: Final = 0.72
"""The same, for vocabularies that were."""

_PIECES: Final = re.compile(
    r"(?P<run>[A-Za-z0-9+/]{120,})|(?P<plain> ?[a-z]{1,6}(?![A-Za-z]))|(?P<word> ?[A-Za-z]+)"
    r"|(?P<space>[ \t]+)|(?P<marks>[!-/:-@\[-`{-~]+)|(?P<digits>[0-9]+)|(?P<line>\s+)"
    r"|(?P<chinese>[\u3400-\u9fff\uf900-\ufaff]+)|(?P<wide>[\u2010-\u206f\u3000-\u303f\uff00-\uffef]+)|(?P<near>[\u0080-\u036f\u0400-\u052f\u1e00-\u1eff]+)"
    r"|(?P<far>[\u0370-\u03ff\u0530-\u33ff\ua000-\ud7ff]+)|(?P<rare>[^\x00-\uffff]+)|(?P<odd>.)",
    re.DOTALL,
)
_HUMPS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_PER_CHARACTER: Final = {"run": 0.9, "digits": 1.16, "wide": 1.3, "near": 0.75, "far": 1.2, "rare": 3.0, "odd": 3.0}


def estimate(text: str, *, chinese: float = CHINESE) -> int:
    """Tokens of `text`, about: on the dear side, at least 1 for any text and never more than its bytes in UTF-8."""
    if not text:
        return 0
    total = 0.0
    for piece in _PIECES.finditer(text):
        kind, length = piece.lastgroup or "odd", piece.end() - piece.start()
        match kind:
            case "plain":
                total += 1.01
            case "word":
                total += _word(piece[0])
            case "space":
                total += 0.26 + length / 80 if length > 1 else 0.2
            case "marks":
                total += 0.72 + 0.45 * (length - 1)
            case "line":
                total += 1.29 + length / 40
            case "chinese":
                total += chinese * length
            case _:
                total += _PER_CHARACTER[kind] * length
    return max(1, min(math.ceil(total), len(text.encode("utf-8", "replace"))))


def _word(letters: str) -> float:
    """A run of letters: common words are one token, each hump of aCamelCase its own, and capitals and long words are cut up."""
    total = 0.0
    for hump in _HUMPS.findall(letters):
        length = len(hump)
        if length > 1 and hump[1].isupper():
            total += max(1.0, 0.27 * length)
        else:
            total += 1.01 + 0.1 * max(0, length - 6) + 0.4 * max(0, length - 16)
    return total
