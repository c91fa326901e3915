"""Long Markdown in pieces, each whole in itself: the place to cut is a block's end, else a line's, else a sentence's.

A fence that must be cut is closed and opened again with its language and indentation, and so is a code span; a table that
must be cut repeats its head; a cut never falls into a character made of several code points. What would take many more
pieces than its length asks for (a quote or a fence thousands of levels deep) is shown as plain code: the number of pieces is
bounded for every text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from markdown_it.token import Token

from bot.markdown import Fence, blocks, fences, fitting, size, spans

_CUTS: Final = (
    re.compile(r"(?:[。！？；…]+[”’」』）】]*|[.!?]+[\"')\]]*(?=\s))\s*"),
    re.compile(r"[，、：]|[,;:](?=\s)\s*|\s+"),
)
_LINK: Final = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)|(?P<mark>\*\*|~~)(?=\S)[^\n]{1,400}?(?P=mark)|https?://[^\s<>]+")
_QUOTE: Final = re.compile(r"^(?:\s{0,3}>\s?)+")
_ESCAPABLE: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_LEAST: Final = 3
"""A cut is good enough when it leaves at least 1/_LEAST of the room used."""
_REPEATED: Final = 4
"""What is repeated in each piece (a quote's signs, a table's head, a fence's marks) takes at most 1/_REPEATED of its room."""
_AHEAD: Final = 400
"""Characters behind the room that are looked at for a link that a cut would part."""


_GONE: Final = "\ufdd0"
"""A line that has become part of the one before it; tidy texts do not hold this character."""


class _TangledError(ValueError):
    """The text cannot be cut so that every piece is whole in itself."""


def split(text: str, limit: int) -> list[str]:
    """`text` as pieces of at most `limit` UTF-16 units, in order. `text` is tidy and its fences are closed.

    There are never more than `2 * size(text) / limit + 3` pieces.
    """
    if size(text) <= limit:
        return [text]
    try:
        parts = _split(text, limit)
    except _TangledError:
        return _as_code(text, limit)
    return parts if len(parts) <= 2 * size(text) / limit + 3 else _as_code(text, limit)


def _as_code(text: str, limit: int) -> list[str]:
    """The last resort: all of it in fences, as many as its length asks for."""
    text = re.sub("(`{16})(?=`)", "\\1\u2060", text)  # so that no line of it can end a fence
    mark = "`" * 17
    room = limit - 2 * len(mark) - 2
    return [f"{mark}\n{piece}\n{mark}" for piece in cut(text, room, room, code=True) if piece.strip()]


def _split(text: str, limit: int) -> list[str]:
    tokens, _ = blocks(text)
    lines = text.split("\n")
    if _unwrap(lines, tokens):
        text = "\n".join(lines)
        lines = text.split("\n")
        tokens, _ = blocks(text)
    found = fences(lines, tokens)
    if any(size(fence.opener) + size(fence.closer) > limit // _REPEATED for fence in found):
        raise _TangledError
    tops = [token for token in tokens if token.level == 0 and token.map is not None and token.nesting >= 0]
    starts = sorted({0, *(token.map[0] for token in tops if token.map)})
    tables = {token.map[0]: token.map[1] for token in tops if token.type == "table_open" and token.map}
    parts: list[str] = []
    current = ""
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        whole = "\n".join(lines[start:end])
        if size(current) + 1 + size(whole.rstrip()) <= limit:
            current = f"{current}\n{whole}" if current else whole
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


def _unwrap(lines: list[str], tokens: list[Token]) -> bool:
    """Put every code span on one line (a line end in it is a space anyway), so that no cut between lines parts it."""
    changed = False
    for token in tokens:
        if token.type != "inline" or token.map is None or "\n" not in token.content or "`" not in token.content:
            continue
        content = token.content.split("\n")
        across = [(start, end) for start, end in spans(token.content) if "\n" in token.content[start:end]]
        inside = [line for start, end in across for line in range(token.content.count("\n", 0, start), token.content.count("\n", 0, end))]
        for line in reversed(inside):  # `line` and the next belong together
            content[line] += " " + content[line + 1].strip()
            lines[token.map[0] + line] += " " + content.pop(line + 1).strip()
            lines[token.map[0] + line + 1] = _GONE
            changed = True
    if changed:
        lines[:] = [line for line in lines if line is not _GONE]
    return changed


def _table(rows: list[str], room: int, limit: int) -> Iterator[str]:
    head = rows[:2]
    around = size("\n".join(head))
    if around > limit // _REPEATED:
        yield from _lines(rows, range(len(rows)), [], room, limit)
        return
    taken: list[str] = []
    used = around
    shown = False
    for row in rows[2:]:
        more = size(row) + 1
        if taken and used + more > room:
            yield "\n".join((*head, *taken))
            taken, used, room, shown = [], around, limit, True
        if not taken and around + more > limit:
            yield from cut("\n".join(head), room, limit) if not shown else ()
            yield from cut(row, limit, limit)  # no table can hold it
            room, shown = limit, True
        elif row.strip():
            taken.append(row)
            used += more
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
    """One line in pieces: `first` units for the first, `limit` for the others.

    Every piece of a quoted line is quoted, unless the signs for it would take too much of the room: then one sign is all
    that is left of them. A code span that is cut is closed and opened again.
    """
    quote = "" if code else (match[0] if (match := _QUOTE.match(line)) else "")
    if size(quote) > limit // _REPEATED:
        quote, line = "> ", "> " + line[len(quote) :]
    held = [] if code else list(spans(line))
    at, lead, room = 0, "", first
    while len(line) - at > room - size(lead) or size(line[at:]) > room - size(lead):
        end, mark = _place(line, at, max(room - size(lead), 1), held, code=code)
        if mark:
            yield lead + line[at:end] + mark.rjust(len(mark) + (line[end - 1] == "`"))
        elif piece := line[at:end] if code else line[at:end].rstrip():
            yield lead + piece
        at = end
        if not code and not mark:
            at += len(line) - at - len(line[at:].lstrip(" "))
        lead, room = quote + mark + " " * (bool(mark) and line[at : at + 1] == "`"), limit
    if at < len(line) or code:
        yield lead + line[at:]


def _place(line: str, at: int, room: int, held: list[tuple[int, int]], *, code: bool) -> tuple[int, str]:
    """The best index at which to end the piece that begins at `at` and may take `room` UTF-16 units; and, if that is in a code span, its mark.

    `held` are the code spans of the whole line.
    """
    end = at + fitting(line[at : at + room], room)
    if code:
        return max(at + _between_characters(line[at : end + 2], end - at), at + 1), ""
    near = [(begin, stop) for begin, stop in held[max(bisect_left(held, (at, 0)) - 1, 0) : bisect_left(held, (end + 1, 0))] if stop > at]
    window = line[at : end + _AHEAD]  # what is far behind the cut does not matter
    taken = near + [(at + match.start(), at + match.end()) for match in _LINK.finditer(window)]
    taken_at = _closed(taken)
    least = at + (end - at) // _LEAST
    for pattern in _CUTS:
        places = [at + match.end() for match in pattern.finditer(window, least - at, min(len(window), end - at + 1))]
        for place in reversed(places):
            if place <= end and not _within(place, taken_at):
                return place, ""
    for begin, stop in taken:
        if begin < end < stop and begin > least:
            end = begin
    end = max(at + _between_characters(line[at : end + 2], end - at), at + 1)
    span = next(((begin, stop) for begin, stop in near if begin < end < stop), None)
    return (end, "") if span is None else _in_code(line, at, end, span)


def _in_code(line: str, at: int, end: int, span: tuple[int, int]) -> tuple[int, str]:
    """A cut in the code span `span`: room is made for its closing mark, and no run of backticks in it is parted."""
    content = line[span[0] : span[1]]
    mark = "`" * (len(content) - len(content.lstrip("`")))
    last = max(end - len(mark) - 2, at)
    while last > at and (line[last] == "`" and line[last - 1] == "`"):
        last -= 1
    if last <= max(at + (end - at) // _LEAST, span[0] + len(mark)) or last >= span[1] - len(mark):
        raise _TangledError
    return last, mark


def _closed(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that overlap made one."""
    out: list[tuple[int, int]] = []
    for begin, stop in sorted(stretches):
        if out and begin < out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        else:
            out.append((begin, stop))
    return out


def _within(place: int, stretches: list[tuple[int, int]]) -> bool:
    """Whether `place` is strictly inside one of the ordered, separate `stretches`."""
    number = bisect_left(stretches, (place, 0)) - 1
    return number >= 0 and place < stretches[number][1]


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
    if before == "\\" and after in _ESCAPABLE:
        return (at - len(text[:at].rstrip("\\"))) % 2 == 1  # an escape and what it escapes
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
