"""Emphasis that comes out as meant: bold beside Chinese text and punctuation, and products that are not italics.

CommonMark decides by the neighbours of `**` whether it opens or closes: it fails when punctuation stands just inside and
a letter just outside, which in Chinese is the ordinary case (`这是**“重要”**的`) and in English happens too
(`**Note:**text`). The remedy is to move quotes, brackets and sentence punctuation out of the bold, and where that is
not possible (`**`code`**的`) to put a thin space outside, only where the rule would fail.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from bot.markdown import depth, full, spans

THIN_SPACE: Final = "\u2009"
_PAIR: Final = re.compile(r"(?<![*\\~])(?P<mark>\*{1,3}|~~)(?P<inner>(?=[^\s*~])(?:(?!(?P=mark)).)*?[^\s*~\\])(?P=mark)(?![*~])")
_UNDERLINED: Final = re.compile(
    r"(?<![\w\\])__(?P<before>(?=[^\s_])[^_\n]*?[^\s_\\])__(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])__(?P<after>(?=[^\s_])[^_\n]*?[^\s_\\])__(?![A-Za-z0-9_])"
)
_PRODUCT: Final = re.compile(r"(?<=[0-9A-Za-z)])\*(?=[0-9A-Za-z(])")
_LITERAL: Final = re.compile(r"\*|~~|__")
_LONGEST_LINE: Final = 6_000
_MOST_MARKS: Final = 300
_DEEPEST: Final = 8
"""A line with more characters, marks or nested brackets than this is not prose, and is left as it is."""
_FAR: Final = 64
"""Characters on each side of an asterisk that are looked at to tell whether it multiplies."""
_BRACKETS: Final = dict(zip("“‘\"'（(「『《〈【[［{〔", "”’\"'）)」』》〉】]］}〕", strict=True))
_CLOSING: Final = {closer: opener for opener, closer in _BRACKETS.items()}
_STOPS: Final = "：:，,。.！!？?；;、…"


def marked(text: str) -> bool:
    """Whether there is any emphasis mark in `text`."""
    return "*" in text or "~~" in text or "__" in text


def mend(text: str, lines: list[bool]) -> str:
    """`text` with its emphasis mended; `lines[i]` says whether line i may be touched (it is not in a fence)."""
    if not marked(text):
        return text
    return "\n".join(_line(line) if free else line for line, free in zip(text.split("\n"), lines, strict=True))


def _line(line: str) -> str:
    if not _LITERAL.search(line) or len(line) > _LONGEST_LINE or len(_LITERAL.findall(line)) > _MOST_MARKS or depth(line) > _DEEPEST:
        return line
    code = list(spans(line))
    held = [line[start:end] for start, end in code]
    free: list[str] = []
    at = 0
    for number, (start, end) in enumerate(code):
        free += (line[at:start], chr(0xFDD0) + chr(0xF0000 + number) + chr(0xFDD1))
        at = end
    masked = "".join((*free, line[at:]))
    mended = _PRODUCT.sub(lambda m: "\\*" if _is_product(masked, m.start()) else "*", masked)
    before = _marks_left(mended, held)
    if before:
        candidate = _PAIR.sub(lambda m: _mended(m, mended), _UNDERLINED.sub(lambda m: f"**{m['before'] or m['after']}**", mended))
        if candidate != mended and _marks_left(candidate, held) < before:
            mended = candidate
    return _restore(mended, held)


def _restore(masked: str, held: list[str]) -> str:
    return re.sub("\ufdd0(.)\ufdd1", lambda m: held[ord(m[1]) - 0xF0000], masked)


def _marks_left(masked: str, held: list[str]) -> int:
    """How many emphasis marks a reader would see as characters."""
    return sum(len(_LITERAL.findall(token.content)) for block in full(_restore(masked, held)) for token in block.children or [] if token.type == "text")


def _is_product(line: str, at: int) -> bool:
    """Whether the asterisk at `at` multiplies: numbers or one-word names on both sides, as in `2*3*4`, and not one half of a bold mark."""
    left = re.search(r"[0-9A-Za-z_.)]*\Z", line[max(at - _FAR, 0) : at])
    right = re.match(r"[0-9A-Za-z_.(]*", line[at + 1 : at + 1 + _FAR])
    both = (left[0] if left else "", right[0] if right else "")
    return any(re.fullmatch(r"[0-9.()]+", side) for side in both) or all(len(side) == 1 for side in both)


def _mended(match: re.Match[str], line: str) -> str:
    mark, inner = match["mark"], match["inner"]
    before, after = line[: match.start()][-1:], line[match.end() :][:1]
    if inner[-1] in "（(「『《〈【[［{〔" or inner[0] in "）)」』》〉】］}〕" + _STOPS:
        return match[0]  # two marks that do not belong together
    start, end = "", ""
    while len(inner) > 1 and (_fails(inner[0], before) or _fails(inner[-1], after)):
        first, last = inner[0], inner[-1]
        if _BRACKETS.get(first) == last and len(inner) > 2 and last not in inner[1:-1]:  # a pair moves out as one
            start, inner, end = start + first, inner[1:-1], last + end
        elif _fails(last, after) and (last in _STOPS or (last in _CLOSING and _CLOSING[last] not in inner[:-1])):
            inner, end = inner[:-1], last + end
        elif _fails(first, before) and first in _BRACKETS and _BRACKETS[first] not in inner[1:]:
            start, inner = start + first, inner[1:]
        else:
            break
        before, after = start[-1:] or before, end[:1] or after
    if not inner.strip() or inner[0].isspace() or inner[-1].isspace():
        return match[0]
    left = THIN_SPACE if _fails(inner[0], before) else ""
    right = THIN_SPACE if _fails(inner[-1], after) else ""
    return f"{start}{left}{mark}{inner}{mark}{right}{end}"


def _fails(inside: str, outside: str) -> bool:
    """CommonMark's flanking rule, for one side: punctuation inside needs a space, punctuation or nothing outside."""
    return _punctuation(inside) and bool(outside) and not outside.isspace() and not _punctuation(outside)


def _punctuation(char: str) -> bool:
    # A code span was put away under U+FDD0…U+FDD1: at its edges there is a backtick.
    return char in "\ufdd0\ufdd1" or unicodedata.category(char)[0] in "PS"
