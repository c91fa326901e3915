r"""Text as a careless reader or a lenient parser would take it: invisible characters gone, look-alike forms folded, escapes undone.

`＠channel`, `&commat;channel`, `\@channel` and an `@channel` with a zero-width space in it all read `@channel`. A rule that looks for a name
looks at the flat form, and finds with its help the place in the text as it was written.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memory.names import invisible

__all__ = ["Flat", "flatten", "invisible"]

_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});?")
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CURIOUS: Final = re.compile(
    "[^\n -%'-\\[\\]-~\u00c0-\u012f\u0391-\u03c9\u0410-\u044f\u2014\u2018-\u201d\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3"
    "，：；！？（）\ufdd0\ufdd1]"
)
"""Characters that may fold; everything else stands for itself, which is nearly all of an ordinary text."""
_KEPT: Final = frozenset("\ufdd0\ufdd1！，：；？（）［］｛｝～＂＇｜…")
"""Not folded: marks for text put away, and full-width punctuation, which ends an address where its plain form would not."""


@dataclass(frozen=True, slots=True)
class Flat:
    """The flat form, and for each of its characters where it begins and ends in the written text."""

    text: str
    begins: list[int] | None
    ends: list[int] | None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the written text that the flat stretch `start` to `end` came from."""
        if self.begins is None or self.ends is None:
            return start, end
        return self.begins[start], self.ends[end - 1]


def flatten(text: str) -> Flat:
    """The flat form of `text`."""
    if _CURIOUS.search(text) is None:
        return Flat(text, None, None)
    out: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        match = _CURIOUS.search(text, at)
        upto = match.start() if match else len(text)
        out.append(text[at:upto])
        begins.extend(range(at, upto))
        ends.extend(range(at + 1, upto + 1))
        if match is None:
            break
        piece, end = _read(text, upto)
        out.append(piece)
        begins.extend([upto] * len(piece))
        ends.extend([end] * len(piece))
        at = end
    return Flat("".join(out), begins, ends)


def _read(text: str, at: int) -> tuple[str, int]:
    """What stands at `at`, folded, and where it ends."""
    char = text[at]
    if char == "&" and (entity := _ENTITY.match(text, at)):
        decoded = html.unescape(entity[0])
        if decoded != entity[0]:
            return "".join(map(_fold, decoded)), entity.end()
    if char == "\\" and text[at + 1 : at + 2] in _PUNCTUATION:
        return text[at + 1], at + 2
    return _fold(char), at + 1


@lru_cache(maxsize=4096)
def _fold(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if invisible(char):
        return ""
    return char if char in _KEPT else unicodedata.normalize("NFKC", char)
