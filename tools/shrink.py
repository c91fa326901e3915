"""Cutting JSON-compatible data to a number of characters so that it stays valid JSON and says what is missing.

Long text keeps its head and its tail; a long list or object keeps its beginning; what is small stays whole while large
neighbours share the room that is left.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any, Final, NamedTuple

ROOM: Final = 160
"""Characters a list entry or field must be able to get before entries are left out instead of being cut small."""

DOTS: Final = "…"


class LongText(str):
    """The head and the tail of a text too long to carry about; `length` is that of the whole. Always cut before it is shown."""

    __slots__ = ("length",)
    length: int

    @classmethod
    def of(cls, head: str, tail: str, length: int) -> LongText:
        """`head` and `tail` of a text of `length` characters."""
        text = cls(head + tail)
        text.length = length
        return text


class LeftOut(str):
    """The note at the end of a list or object that was cut: it knows its number, so that cutting again keeps count."""

    __slots__ = ("missing",)
    missing: int

    @classmethod
    def of(cls, count: int, noun: str) -> LeftOut:
        """The note that `count` more items or fields are missing."""
        note = cls(f"{DOTS} {count:,} more {noun} left out")
        note.missing = count
        return note


def measure(value: Any) -> int:
    """Characters of `value` as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def shrink(value: Any, budget: int) -> Any:
    """`value` cut so that `measure` of it is at most `budget` characters (never less than the 3 of `"…"`); itself when it fits."""
    if measure(value) <= budget:
        return value
    if isinstance(value, str):
        return _text(value, budget)
    if isinstance(value, list):
        return _list(value, budget)
    if isinstance(value, dict):
        return _dict(value, budget)
    return DOTS


def clip(text: str, limit: int) -> str:
    """`text` cut to at most `limit` characters, head first, ending in an ellipsis when something is missing."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + DOTS


def _text(text: str, budget: int) -> str:
    length = text.length if isinstance(text, LongText) else len(text)
    keep = budget - 2
    while keep > 0:
        head = keep * 2 // 3
        tail = keep - head
        cut = f"{text[:head]}{DOTS} [{length - keep:,} characters left out] {DOTS}{text[len(text) - tail :]}"
        size = measure(cut)
        if size <= budget:
            return cut
        # Quotes and line breaks take two characters in JSON, so the first guess may be too long by any factor.
        keep = min(keep - (size - budget), keep * budget // size) if keep > 64 else keep - 8
    return DOTS


def _list(items: list[Any], budget: int) -> list[Any] | str:
    missing = items[-1].missing if items and isinstance(items[-1], LeftOut) else 0
    present = items[:-1] if missing else items
    plan = _plan([measure(item) for item in present], budget - 2, "items", [1] * len(present), missing)
    if not plan.kept:
        return plan.note if plan.note and measure(plan.note) <= budget else DOTS
    cut = [shrink(item, plan.level) for item in present[: plan.kept]]
    return [*cut, plan.note] if plan.note else cut


def _dict(entries: dict[str, Any], budget: int) -> dict[str, Any] | str:
    note = entries.get(DOTS)
    missing = note.missing if isinstance(note, LeftOut) else 0
    keys = [key for key in entries if not (missing and key == DOTS)]
    overhead = [measure(key) + 2 for key in keys]  # the key, its colon and the comma
    plan = _plan([measure(entries[key]) for key in keys], budget - 2 - measure(DOTS) - 1, "fields", overhead, missing)
    if not plan.kept:
        return plan.note if plan.note and measure(plan.note) <= budget else DOTS
    cut = {key: shrink(entries[key], plan.level) for key in keys[: plan.kept]}
    return {**cut, DOTS: plan.note} if plan.note else cut


class _Plan(NamedTuple):
    kept: int
    """Entries to keep, from the start."""
    level: int
    """The most characters each of them may have."""
    note: LeftOut | None


def _plan(sizes: list[int], room: int, noun: str, overhead: list[int], missing: int) -> _Plan:
    """How to fit entries of `sizes` (each with its `overhead`) into `room` when `missing` more were left out before."""
    everything = room - sum(overhead)
    if not missing and everything >= ROOM * len(sizes):
        return _Plan(len(sizes), _level(sizes, everything), None)
    inner = room - measure(LeftOut.of(len(sizes) + missing, noun)) - 1
    whole = _fitting([size + extra for size, extra in zip(sizes, overhead, strict=True)], inner)
    some = _fitting([ROOM + extra for extra in overhead], inner)
    kept = max(whole, some)
    left = len(sizes) - kept + missing
    level = max(sizes[:kept], default=0) if whole >= some else _level(sizes[:kept], inner - sum(overhead[:kept]))
    return _Plan(kept, level, LeftOut.of(left, noun) if left else None)


def _fitting(sizes: list[int], room: int) -> int:
    """How many of `sizes`, from the start, fit into `room` together."""
    return sum(1 for total in accumulate(sizes) if total <= room)


def _level(sizes: list[int], room: int) -> int:
    """The water level: the largest size such that entries cut to it fit into `room` together."""
    left = room
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)
