"""Long Markdown in pieces, each whole in itself: the place to cut is a block's end, else a line's, else a sentence's.

A fence that must be cut is closed and opened again with its language and indentation; a table that must be cut repeats its
head; a cut never falls into a character made of several code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from bot.markdown import Fence, blocks, fences, size, spans

_CUTS: Final = (
    re.compile(r"(?:[。！？；…]+[”’」』）】]*|[.!?]+[\"')\]]*(?=\s))\s*"),
    re.compile(r"[，、：]|[,;:](?=\s)\s*|\s+"),
)
_LINK: Final = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)|(?P<mark>\*\*|~~)(?=\S)[^\n]{1,400}?(?P=mark)|https?://[^\s<>]+")
_QUOTE: Final = re.compile(r"^(?:\s{0,3}>\s?)+")
_LEAST: Final = 3
"""A cut is good enough when it leaves at least 1/_LEAST of the room used."""


def split(text: str, limit: int) -> list[str]:
    """`text` as pieces of at most `limit` UTF-16 units, in order. `text` is tidy and its fences are closed."""
    if size(text) <= limit:
        return [text]
    lines = text.split("\n")
    tokens, _ = blocks(text)
    found = fences(lines, tokens)
    tops = [token for token in tokens if token.level == 0 and token.map is not None and token.nesting >= 0]
    starts = sorted({0, *(token.map[0] for token in tops if token.map)})
    tables = {token.map[0]: token.map[1] for token in tops if token.type == "table_open" and token.map}
    parts: list[str] = []
    current = ""
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        whole = "\n".join(lines[start:end])
        joined = f"{current}\n{whole}" if current else whole
        if size(joined.rstrip()) <= limit:
            current = joined
            continue
        room = limit - size(current) - 1 if current else limit
        if size(whole.rstrip()) <= limit or room < limit // _LEAST:
            _add(parts, current)
            current, room = "", limit
        if size(whole.rstrip()) <= limit:
            current = whole
            continue
        pieces = list(_table(lines[start:end], room, limit) if start in tables else _lines(lines, range(start, end), found, room, limit))
        first = f"{current}\n{pieces[0]}" if current else pieces[0]
        for piece in (first, *pieces[1:-1]) if len(pieces) > 1 else ():
            _add(parts, piece)
        current = pieces[-1] if len(pieces) > 1 else first
    _add(parts, current)
    return parts


def _add(parts: list[str], piece: str) -> None:
    if piece.strip():
        parts.append(piece.strip("\n").rstrip())


def _table(rows: list[str], room: int, limit: int) -> Iterator[str]:
    head = rows[:2]
    taken: list[str] = []
    shown = False
    for row in rows[2:]:
        if taken and size("\n".join((*head, *taken, row))) > room:
            yield "\n".join((*head, *taken))
            taken, room, shown = [], limit, True
        if not taken and size("\n".join((*head, row))) > limit:
            yield from cut("\n".join(head), room, limit) if not shown else ()
            yield from cut(row, limit, limit)  # no table can hold it
            room, shown = limit, True
        elif row.strip():
            taken.append(row)
    if taken:
        yield "\n".join((*head, *taken))


def _lines(lines: list[str], span: range, found: list[Fence], room: int, limit: int) -> Iterator[str]:
    """The lines of `span`: one block too long for one piece."""
    inside = {number: fence for fence in found for number in range(fence.start + 1, fence.end - 1)}
    taken: list[str] = []
    used = -1  # units of `taken` when joined
    shift = 0
    for number in span:
        fence = inside.get(number)
        closing = size(_dedented(fence.closer, shift)) + 1 if fence else 0
        line = _dedented(lines[number], shift)
        if used + 1 + size(line) + closing <= room:
            taken.append(line)
            used += 1 + size(line)
            continue
        reopened = fence is not None and number - 1 > fence.start
        if fence is not None and not reopened and taken:
            taken.pop()  # the fence's first line goes with its content
        if taken:
            yield "\n".join((*taken, _dedented(fence.closer, shift)) if fence is not None and reopened else taken)
            room = limit
        shift = _indent(fence.opener if fence else lines[number])
        taken = [_dedented(fence.opener, shift)] if fence else []
        after = [_dedented(fence.closer, shift)] if fence else []
        around = size("\n".join((*taken, *after))) + len(taken) + len(after) - 1 if fence else 0
        pieces = list(cut(_dedented(lines[number], shift), room - around, limit - around, code=fence is not None))
        for piece in pieces[:-1]:
            yield "\n".join((*taken, piece, *after))
            room = limit
        taken.append(pieces[-1] if pieces else "")
        used = size("\n".join(taken))
    yield "\n".join(taken)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _dedented(line: str, shift: int) -> str:
    """A piece that began in the depth of a list moves left, or its indentation would make code of it."""
    return line[min(shift, _indent(line)) :]


def cut(line: str, first: int, limit: int, *, code: bool = False) -> Iterator[str]:
    """One line in pieces: `first` units for the first, `limit` for the others."""
    quote = "" if code else (match[0] if (match := _QUOTE.match(line)) else "")
    room = max(first, 1)
    while len(line) > room or size(line) > room:
        at = _place(line, room, code=code)
        piece, line = line[:at], line[at:]
        yield piece if code else piece.rstrip()
        line = line if code else quote + line.lstrip(" ")
        room = limit
    if line or code:
        yield line


def _place(line: str, room: int, *, code: bool) -> int:
    """The best index at or below `room` UTF-16 units at which to cut."""
    end = min(len(line), room)
    line = line[: end + 400]  # what is far behind the cut does not matter
    while size(line[:end]) > room:
        end -= max((size(line[:end]) - room) // 2, 1)
    if not code:
        taken = [*spans(line), *(match.span() for match in _LINK.finditer(line))]
        for pattern in _CUTS:
            places = (match.end() for match in pattern.finditer(line, end // _LEAST, min(len(line), end + 1)))
            good = [at for at in places if at <= end and not any(begin < at < stop for begin, stop in taken)]
            if good:
                return good[-1]
        for begin, stop in taken:
            if begin < end < stop and begin > end // _LEAST:
                end = begin
    return _between_characters(line, end)


def _between_characters(text: str, at: int) -> int:
    """`at`, or the nearest earlier index that does not part what a reader sees as one character."""
    back = at
    while back > max(at - 64, 1) and _joined(text, back):
        back -= 1
    return back if back > max(at - 64, 1) or not _joined(text, back) else at


def _joined(text: str, at: int) -> bool:
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if "\u200d" in before + after or unicodedata.category(after)[0] == "M":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":  # skin tones; the letters of regional flags
        return True
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        flags = 0
        while flags < at and "\U0001f1e6" <= text[at - 1 - flags] <= "\U0001f1ff":
            flags += 1
        return flags % 2 == 1
    return "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff"
