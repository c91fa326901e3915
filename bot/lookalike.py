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

_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});?")
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0")
_KEPT: Final = frozenset("\ufdd0\ufdd1！，：；？（）［］｛｝～＂＇｜…")
"""Not folded: marks for text put away, and full-width punctuation, which ends an address where its plain form would not."""


@lru_cache(maxsize=4096)
def invisible(char: str) -> bool:
    """Whether a character leaves no trace on the screen, or reorders what is around it: format and control characters, selectors, fillers."""
    code = ord(char)
    return char in _BLANKS or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or (unicodedata.category(char) in {"Cf", "Cc"} and char not in "\n\t")


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
    if text.isascii() and "&" not in text and "\\" not in text and text.isprintable():
        return Flat(text, None, None)
    out: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        char = text[at]
        piece, end = char, at + 1
        if char == "&" and (entity := _ENTITY.match(text, at)):
            decoded = html.unescape(entity[0])
            if decoded != entity[0]:
                piece, end = decoded, entity.end()
        elif char == "\\" and text[at + 1 : at + 2] in _PUNCTUATION:
            piece, end = text[at + 1], at + 2
        for seen in piece:
            for folded in _fold(seen):
                out.append(folded)
                begins.append(at)
                ends.append(end)
        at = end
    return Flat("".join(out), begins, ends)


@lru_cache(maxsize=4096)
def _fold(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if invisible(char):
        return ""
    return char if char in _KEPT else unicodedata.normalize("NFKC", char)
