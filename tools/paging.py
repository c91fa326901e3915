"""A large result in pages: the first goes to the model at once, the others when it asks for them; nothing is run again.

A list is split between its items, a text between its lines, and whatever surrounds them stays on the first page. What has no
such part, or one item larger than a page, is split as the JSON text it is. The pages hold everything; the first view of a
text also shows the text's end, because the end is often what matters (a log's last line, a total).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from memory.tokens import count, count_json, fits
from tools.shrink import DOTS, measure

PAGE_TOKENS: Final = 4_000
"""Tokens of JSON one page may have."""
LEAST_TOKENS: Final = 200
"""The smallest budget a page can be cut to."""
WHOLE: Final = 400_000
"""Characters of JSON that are kept of one result at most."""
MAX_PAGES: Final = 1_000
_AROUND_PAGE = 40
"""Tokens left free on each page for what `read_more` says about it."""
_NOTE = 24
"""Tokens left free in the view for the number left out."""

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
_CHARACTERS = 3
"""Characters a token has, as a first guess."""


@dataclass(frozen=True, slots=True)
class Paged:
    """A result cut for the model. `pages` holds the whole, the first page included; it is empty when everything fits."""

    view: Any
    pages: tuple[Any, ...]


def reduced(data: Any, fields: tuple[str, ...]) -> Any:
    """`data` with the objects of its lists reduced to `fields`, in that order; an object without any of them stays as it is."""
    if not fields:
        return data

    def entry(item: Any) -> Any:
        kept = {name: item[name] for name in fields if name in item} if isinstance(item, dict) else {}
        return kept or item

    if isinstance(data, list):
        return [entry(item) for item in data]
    if isinstance(data, dict):
        return {key: [entry(item) for item in value] if isinstance(value, list) else value for key, value in data.items()}
    return data


def fits_surely(data: Any, budget: int) -> bool:
    """Whether `data` has at most `budget` tokens, as far as its bytes alone can tell: quick, and no vocabulary is needed."""
    text = _ENCODE(data)
    return len(text) <= budget and len(text.encode("utf-8", "replace")) <= budget  # no token is shorter than a byte


def paged(data: Any, budget: int = PAGE_TOKENS) -> Paged:
    """`data` as the model may see it within `budget` tokens (at least `LEAST_TOKENS`), and the pages of the whole when it does not fit."""
    budget = max(budget, LEAST_TOKENS)
    text = json.dumps(data, ensure_ascii=False)
    if fits(text, budget):
        return Paged(data, ())
    room = budget - _AROUND_PAGE
    name, part = _long_part(data)
    frame = {**data, name: type(part)()} if name is not None and part is not None else type(part)()
    around = count_json(frame)
    if part is not None and around <= room // 2:
        shown: Any = None
        parts: list[Any] = []
        if isinstance(part, list):
            if parts := _items(part, room - around - _NOTE, room - around):
                shown = _list_view(part, parts[0])
        else:
            parts = _text(part, room * 7 // 10 - around, room - around)
            shown = _text_view(part, parts[0], budget - around)
        if parts and name is None:
            return Paged(shown, tuple(parts))
        if parts:
            return Paged({**data, name: shown}, ({**data, name: parts[0]}, *({name: each} for each in parts[1:])))
    frame_tokens = count_json({"json_text": ""})
    chunks = _text(text, room * 7 // 10 - frame_tokens, room - frame_tokens)
    return Paged({"json_text": _text_view(text, chunks[0], budget - frame_tokens)}, tuple({"json_text": chunk} for chunk in chunks))


def _long_part(data: Any) -> tuple[str | None, Any]:
    """The list or text that makes `data` large: `data` itself (None), or the field that holds most of it."""
    if isinstance(data, (list, str)):
        return None, data
    if isinstance(data, dict):
        candidates = [(measure(value), key) for key, value in data.items() if isinstance(value, (list, str))]
        size, name = max(candidates, default=(0, ""))
        if size * 2 > measure(data):
            return name, data[name]
    return None, None


def _items(items: list[Any], first: int, room: int) -> list[list[Any]]:
    """`items` in pages of at most `room` tokens, the first of `first`; none when one of them is larger than a page."""
    pages: list[list[Any]] = []
    start, guess = 0, max(first * _CHARACTERS * len(items) // measure(items), 1)
    while start < len(items):
        limit = room if pages else first
        length, used = _as_much(items, start, guess, limit)
        if used > limit:
            return []
        pages.append(items[start : start + length])
        start += length
        if len(pages) == MAX_PAGES and start < len(items):
            pages[-1].append(f"{DOTS} {len(items) - start:,} more items are not kept")
            break
        guess = _next_guess(length, used, room)
    return pages


def _text(text: str, first: int, room: int) -> list[str]:
    """`text` in pieces that have, as JSON, at most `room` tokens, the first of `first`."""
    pages: list[str] = []
    start, guess = 0, max(first * _CHARACTERS, 16)
    while start < len(text):
        limit = room if pages else first
        length, used = _as_much(text, start, guess, limit)
        stop = start + length
        if stop < len(text):
            near = text.rfind("\n", start + length * 3 // 4, stop)
            near = near if near > start else text.rfind(" ", start + length * 9 // 10, stop)
            stop = near + 1 if near > start else stop
        if len(pages) == MAX_PAGES - 1 and stop < len(text):
            return [*pages, f"{text[start:stop]}{DOTS} [{len(text) - stop:,} characters are not kept]"]
        pages.append(text[start:stop])
        guess = max(_next_guess(length, used, room), 16)
        start = stop
    return pages


def _as_much(whole: str | list[Any], start: int, guess: int, limit: int) -> tuple[int, int]:
    """How many characters or items from `start`, at most `guess`, have at most `limit` tokens (one is always taken), and how many tokens they have."""
    size = guess
    while True:
        part = whole[start : start + size]
        used = count_json(part)
        if used <= limit or len(part) == 1:
            return len(part), used
        size = max(int(len(part) * limit / used * 0.95), 1)


def _next_guess(length: int, used: int, room: int) -> int:
    """How much the next page may hold if it is like the last one; most of the time it is, so that little is counted twice."""
    return max(min(int(length * room / max(used, 1) * 0.97), length * 4), 1)


def _list_view(items: list[Any], shown: list[Any]) -> list[Any]:
    left = len(items) - len(shown)
    return [*shown, f"{DOTS} {left:,} more items left out"] if left else shown


def _text_view(text: str, head: str, budget: int) -> str:
    """The beginning of a text and as much of its end as fits into `budget` tokens, with the number left out between them."""
    length = min(len(head) // 3, len(text) - len(head))
    while True:
        left = len(text) - len(head) - length
        tail = text[len(text) - length :] if length else ""
        view = f"{head}{DOTS} [{left:,} characters left out] {DOTS}{tail}" if left else text
        if length == 0 or count(json.dumps(view, ensure_ascii=False)) <= budget:
            return view
        length = length * 3 // 4
