"""Whatever a tool returned, as data that JSON can carry and a model can read: done once, bounded in depth, size and time.

Nothing a tool returns may crash the turn: bytes become a description, NaN a word, broken Unicode a replacement
character, cycles end at a depth limit, and megabytes are cut with the number left out.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from tools.shrink import DOTS, LeftOut, LongText, clip, measure, shrink

MAX_DEPTH: Final = 24
"""Levels of nesting that are kept."""
_BUDGET_FACTOR = 5
_NODE = 8
"""Characters a value is counted as besides its text: visiting it costs time too."""
_MAX_KEY = 200
_LARGEST_INTEGER_BITS = 4096
_BULK = 2_000
"""Values from which a result is read beside the event loop."""
_LEAST_ENCODED = 256
"""Characters from which a text without any space may be an encoded file."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_EMBEDDED = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,60})?((?:;[\w=.-]{1,60}){0,4});base64,([A-Za-z0-9+/_-]{60,}={0,2})")
"""A file inside a text, as pages and mails hold them."""
_HEX = re.compile(r"[0-9a-fA-F]+")


class UnreadableResult(Exception):  # noqa: N818 - names what it is about
    """A tool returned something that is not data. The message says what, for the tool's author."""


def normalise(value: Any, limit: int) -> tuple[Any, bool]:
    """`value` as JSON-compatible data of at most `limit` characters of compact JSON, and whether anything was left out.

    `limit` must be at least 3. Raises `UnreadableResult` for objects that are not data (an open file, a function, a generator).
    """
    walk = _Walk(limit)
    try:
        data = walk.visit(value, 0)
    except UnreadableResult:
        raise
    except Exception as error:  # properties, mappings and serialisers of the tool's own classes run here
        raise UnreadableResult(f"reading the result raised {type(error).__name__}") from error
    short = shrink(data, limit)
    return short, walk.cut or short is not data


def bulky(value: Any) -> bool:
    """Whether reading `value` may take so long that it belongs in a thread; a guess from its first two levels."""
    inner = value.values() if isinstance(value, dict) and len(value) < _BULK else value if isinstance(value, list | tuple) and len(value) < _BULK else ()
    return _length(value) > _BULK or sum(map(_length, inner)) > _BULK


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value) // 100  # long texts are cut, not walked
    return len(value) if isinstance(value, dict | list | tuple | set | frozenset | deque) else 1


def clean(text: str) -> str:
    """`text` with NUL and lone surrogates, which neither UTF-8 nor most stores can carry, replaced by U+FFFD."""
    if text.isascii() and "\x00" not in text:
        return str(text)
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Walk:
    """One pass over a value. Keeps count, so that a result of any size costs a bounded amount of work."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit * _BUDGET_FACTOR
        self.cut = False

    def visit(self, value: Any, depth: int) -> Any:
        self.left -= _NODE
        scalar = self._scalar(value)
        if scalar is not _NOT_SCALAR:
            return scalar
        if depth >= MAX_DEPTH or self.left <= 0:
            self.cut = True
            return "<nested too deeply>" if self.left > 0 else "<left out>"
        if isinstance(value, BaseModel):
            return self.visit(value.model_dump(mode="python", warnings=False), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._mapping({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, depth)
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self._mapping(value._asdict(), depth)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, AbstractSet):
            return self._items(value, len(value), depth, unordered=True)
        if isinstance(value, (Sequence, deque, ValuesView)):
            return self._items(value, len(value), depth)
        if isinstance(value, (Iterator, AsyncIterator)):  # may never end, and runs the tool's code in the wrong place
            raise UnreadableResult(f"a {type(value).__name__} is not data; return a list")
        return self.visit(_by_pydantic(value), depth + 1)

    def _scalar(self, value: Any) -> Any:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, Enum):
            return self.visit(value.value, MAX_DEPTH - 1)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return _integer(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, PurePath):
            return self._text(str(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return f"<binary, {_size(memoryview(value).nbytes)}>"
        return _NOT_SCALAR

    def _text(self, text: str) -> str:
        if len(text) >= _LEAST_ENCODED:
            if encoded := _encoded(text):
                self.left -= 40
                return encoded
            if ";base64," in text:
                text = _EMBEDDED.sub(_described, text)
        if len(text) > self.limit:
            self.cut = True
            self.left -= self.limit // 10  # it is cut in any case
            return LongText.of(clean(text[: self.limit]), clean(text[-self.limit :]), len(text))
        self.left -= len(text)
        return clean(text)

    def _items(self, values: Iterable[Any], count: int, depth: int, *, unordered: bool = False) -> list[Any]:
        out: list[Any] = []
        for value in islice(values, max(self.limit // 2, 1)):  # an entry takes two characters at least, so no more can fit
            if self.left <= 0:
                break
            out.append(self.visit(value, depth + 1))
        if unordered:
            out.sort(key=_order)  # the same set reads the same every time
        if len(out) < count:
            self.cut = True
            out.append(LeftOut.of(count - len(out), "items"))
        return out

    def _mapping(self, entries: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in islice(entries.items(), max(self.limit // 4, 1)):
            name = self._key(key)
            number = 2
            while name in out:  # 1 and "1" are two keys here and one in JSON
                name, number = f"{self._key(key)} ({number})", number + 1
            self.left -= len(name)
            out[name] = self.visit(value, depth + 1)
        if len(out) < len(entries):
            self.cut = True
            out[DOTS] = LeftOut.of(len(entries) - len(out), "fields")
        return out

    def _key(self, key: Any) -> str:
        plain = self._scalar(key)
        words = {None: "null", True: "true", False: "false"}
        text = words[plain] if plain is None or isinstance(plain, bool) else plain if isinstance(plain, str) else str(key if plain is _NOT_SCALAR else plain)
        if len(text) > _MAX_KEY:
            self.cut = True
        return clip(clean(text), _MAX_KEY)


_NOT_SCALAR: Final = object()


def _integer(value: int) -> int | str:
    if value.bit_length() <= 63:
        return int(value)
    # Many readers of JSON round larger numbers silently; as text every digit arrives.
    return str(int(value)) if value.bit_length() <= _LARGEST_INTEGER_BITS else f"<integer of {value.bit_length():,} bits>"


def _by_pydantic(value: Any) -> Any:
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError as error:
        remedy = "return text, numbers, lists, dicts, dataclasses or pydantic models"
        raise UnreadableResult(f"a {type(value).__name__} is not data JSON can carry; {remedy}") from error


def _order(item: Any) -> tuple[int, float, str]:
    if isinstance(item, (int, float)):
        return (0, item, "")
    return (1, 0, item) if isinstance(item, str) else (2, measure(item), str(item))


def _encoded(text: str) -> str:
    """What to say in place of base64 or a data URI, which no model can read; empty for real text."""
    head, comma, body = text.partition(",") if text.startswith("data:") else ("", "", text)
    if comma and head.endswith(";base64"):
        return f"<{head[5:-7] or 'data'}, base64, {_size(len(body) * 3 // 4)}>"
    first = text[:4096].split(None, 1)[0] if text else ""
    if len(first) < 60 or not _BASE64.fullmatch(first) or _HEX.fullmatch(first) or not _mixed(text[:4096]):
        return ""
    lines = text.split()
    even = all(len(line) == len(lines[0]) for line in lines[:-1]) and len(lines[-1]) <= len(lines[0])  # as encoders break their lines
    return f"<base64, {_size(sum(map(len, lines)) * 3 // 4)}>" if even and all(_BASE64.fullmatch(line) for line in lines) else ""


def _described(found: re.Match[str]) -> str:
    return f"<{found[1] or 'data'}, base64, {_size(len(found[3]) * 3 // 4)}>"


def _mixed(text: str) -> bool:
    """Whether small and capital letters and digits all occur, as in anything encoded; names joined by hyphens seldom have them."""
    return any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"
