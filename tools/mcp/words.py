"""Text written by a server, before anybody reads it: without characters that hide or reorder others, and bounded in length.

Descriptions and errors of a foreign server go into the model's prompt and before people's eyes. Cleaning does not make them true;
it makes sure that what an operator confirms is what the model reads.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from tools.shrink import clip

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing."""
_LINES: Final = re.compile(r"[ \t]*(?:\r\n?|[\u0085\u2028\u2029\v\f])[ \t]*")
_GAPS: Final = re.compile(r"[^\S\n]{2,}")
_EMPTY: Final = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")


@lru_cache(maxsize=4096)
def hidden(char: str) -> bool:
    """Whether a character leaves no trace, or moves what stands around it. Line breaks and tabs do not count."""
    if char in "\n\t":
        return False
    code = ord(char)
    return char in _FILLERS or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or unicodedata.category(char) in _HIDDEN


def spoken(text: str, limit: int) -> str:
    """`text` for reading: what hides is gone, runs of blanks are one, at most one empty line in a row, at most `limit` characters."""
    plain = _LINES.sub("\n", text[: limit * 8])
    if not (plain.isascii() and plain.isprintable()):
        plain = "".join(char for char in plain if not hidden(char))
    plain = _EMPTY.sub("\n\n", _GAPS.sub(" ", plain)).strip()
    return clip(plain, limit)


def one_line(text: str, limit: int) -> str:
    """`text` for a log or a list: cleaned, on one line, at most `limit` characters."""
    return clip(" ".join(spoken(text, limit * 2).split()), limit)
