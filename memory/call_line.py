"""One line for an older tool call: `tool(key arguments) → key result`.

When a call is too old to be carried whole, the model still needs to know that it was made, for what, and what came of it: the ids, the state, the
amounts, the dates. The line names those first. Nothing in it is cut in the middle of an identifier: a number that lost its last digit
is worse than none, so what has no room is left out whole and counted (`+3 more`). The line is made of the values themselves, in whatever
language they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.transcript import Request, ToolMessage

_TEXT: Final = 80
"""Characters to which a value of several words is shortened."""
_ROOM_TO_COUNT: Final = len(", +9999 more")
_FIRST_OF_LIST: Final = 3
_DEPTH: Final = 3

_ATOM: Final = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af][^\s,;()\u2e80-\u9fff\u3000-\u303f\uff00-\uffef\uac00-\ud7af]*|\s+|.", re.DOTALL)
"""What is never cut: a word, number, date, address or id with all its joints; of Chinese, one character."""
_IDENTIFIER: Final = re.compile(r"(?=.*\d)\S{3,}")
_SOUP: Final = re.compile(r"[\s{}\[\]\"\\]+")

_RANKS: Final = (
    re.compile(r"(?:^|_|\.)(?:id|ids|key|ref|reference|uuid|code|sku|ts|url|permalink)$|(?:Id|ID|_no|_number|number)$|编号|单号|号码|账号"),
    re.compile(r"stat(?:us|e)$|outcome|result$|phase|状态|结果", re.IGNORECASE),
    re.compile(r"amount|total|price|cost|balance|quantity|currency|(?:^|_|\.)(?:sum|fee|count)$|金额|总|价|费|数量", re.IGNORECASE),
    re.compile(r"date|time(?!zone)|(?:_at|_on)$|(?:^|_|\.)(?:due|eta)|deadline|until|expir|日期|时间|截止", re.IGNORECASE),
    re.compile(r"name|_by$|title|subject|label|user|customer|owner|assignee|city|place|address|email|名|标题|客户|人|地址|城市", re.IGNORECASE),
)
"""Whose value matters first, by its name: ids, state, amounts, dates, names; all others after them."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece of the line, and how early it may claim its room."""

    text: str
    rank: int
    place: int


def one_line(request: Request, result: ToolMessage | None, *, limit: int = 240) -> str:
    """The line for `request` and what came of it, at most `limit` characters (not below the tool's name and some 40 more). Same input, same line."""
    room = max(24, (limit - len(request.name) - 6) // 2)
    arguments = _fill(_argument_parts(request.arguments), room, by_rank=False)
    head = f"{request.name}({arguments}) → "
    return head + (_outcome(result.content, max(16, limit - len(head))) if result is not None else "…")


def _parsed(text: str) -> Any:
    """The JSON value in `text`; the text itself when there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _argument_parts(arguments: str) -> list[_Part]:
    value = _parsed(arguments)
    if isinstance(value, dict):
        return _parts(value)
    plain = _plain(value)
    return [_Part(plain, 0, 0)] if plain else []


def _outcome(content: str, room: int) -> str:
    envelope = _parsed(content)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("success"), bool):
        return _data(envelope, room)
    if not envelope["success"]:
        code, message = _plain(envelope.get("error_code")) or "failed", _plain(envelope.get("error_message"))
        return _fill([_Part(f"{code}: {message}" if message else code, 0, 0), _Part(code, 1, 1)][: 2 if message else 1], room, first_only=True)
    mark = "(stale) " if envelope.get("stale") else ""
    data = envelope.get("data")
    if data is None:
        data = {key: envelope[key] for key in ("note", "result_id") if envelope.get(key)}
    return mark + _data(data, room - len(mark))


def _data(data: Any, room: int) -> str:
    while isinstance(data, dict) and len(data) == 1 and isinstance(inner := next(iter(data.values())), dict) and inner:
        data = inner
    if isinstance(data, dict):
        return _fill(_parts(data), room) or "ok"
    if isinstance(data, list):
        return _fill([_Part(_listed("", data), 0, 0), _Part(str(len(data)), 1, 1)], room, first_only=True)
    plain = _plain(data)
    return _fill([_Part(plain, 0, 0)], room) if plain else "ok"


def _parts(value: dict[str, Any]) -> list[_Part]:
    found = [(path, inner) for path, inner in _leaves(value, "", 0) if inner is not None and inner not in ("", [], {})]
    return [
        _Part(_listed(path, inner) if isinstance(inner, list) else f"{_plain(path)}={_plain(inner)}", _rank(path, inner), place)
        for place, (path, inner) in enumerate(found)
    ]


def _leaves(value: dict[str, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        path = f"{before}{key}"
        if isinstance(inner, dict):
            if depth < _DEPTH:
                yield from _leaves(inner, path + ".", depth + 1)
        else:
            yield path, inner


def _rank(path: str, value: Any) -> int:
    depth = path.count(".")
    for rank, pattern in enumerate(_RANKS):
        if pattern.search(path):
            return rank * 4 + min(depth, 3)
    identifying = isinstance(value, str) and " " not in value and _IDENTIFIER.fullmatch(value) is not None
    return (1 if identifying else len(_RANKS)) * 4 + min(depth, 3)


def _listed(path: str, values: Sequence[Any]) -> str:
    """A list as its length and its first members, each by what tells it best."""
    first = [told for told in map(_told, values[:_FIRST_OF_LIST]) if told]
    name = f"{_plain(path)}: " if path else ""
    return f"{name}{len(values)} ({', '.join(first)})" if first else f"{name}{len(values)}"


def _told(member: Any) -> str:
    if isinstance(member, dict):
        found = sorted(
            ((_rank(path, inner), path, inner) for path, inner in _leaves(member, "", 0) if isinstance(inner, str | int | float)), key=lambda each: each[0]
        )
        member = found[0][2] if found else None
    told = "" if isinstance(member, list) else _plain(member)
    return told if len(told) <= 40 else ""


def _plain(value: Any) -> str:
    """A scalar as text on one line without JSON's marks; several words shortened in the middle."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    text = _SOUP.sub(" ", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).strip()
    return text if len(text) <= _TEXT else _shortened(text)


def _shortened(text: str) -> str:
    """The beginning and the end of a text, never parting what belongs together; identifiers in between are counted."""
    atoms = _ATOM.findall(text[:20_000])
    if len(atoms) == 1:
        return text  # one long address or id: whole, or not at all
    start, end, room = 0, len(atoms), _TEXT - 10
    used = 0
    while start < end and used + len(atoms[start]) <= room * 2 // 3:
        used += len(atoms[start])
        start += 1
    while end > start and used + len(atoms[end - 1]) <= room:
        used += len(atoms[end - 1])
        end -= 1
    lost = sum(_IDENTIFIER.fullmatch(atom) is not None for atom in atoms[start:end])
    middle = f" … +{lost} more … " if lost else "…"
    return ("".join(atoms[:start]).rstrip() + middle + "".join(atoms[end:]).lstrip()).strip()


def _fill(parts: Sequence[_Part], room: int, *, by_rank: bool = True, first_only: bool = False) -> str:
    """As many whole parts as `room` characters hold, the important ones first; those left out are counted. With `first_only`, the first that fits."""
    if first_only:
        fitting = next((part.text for part in parts if len(part.text) <= room), "")
        return fitting or f"+{len(parts)} more"
    ranked = sorted(parts, key=lambda part: (part.rank, part.place))
    taken: list[_Part] = []
    used = 0
    for number, part in enumerate(ranked):
        last = number == len(ranked) - 1 and len(taken) == number
        if used + len(part.text) + 2 * bool(taken) <= room - (0 if last else _ROOM_TO_COUNT):
            taken.append(part)
            used += len(part.text) + 2 * (len(taken) > 1)
    shown = [part.text for part in (taken if by_rank else sorted(taken, key=lambda part: part.place))]
    left = len(parts) - len(taken)
    return ", ".join([*shown, f"+{left} more"] if left else shown)
