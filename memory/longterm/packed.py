"""A record and a filter as they travel between the bot and the process that holds the embedded store: plain values that both can read.

The two speak JSON. The store's process loads neither numpy nor the types of the rest of the program, so that it is small and there at once. This module is what
both sides share: the two forms, and the id under which a record is filed, made from its owner and its own id, so that two owners' records
never meet even if their ids are equal.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from typing import Any, NamedTuple
from uuid import UUID

from pydantic_core import from_json, to_json


class Packed(NamedTuple):
    """A record. The fields mean what they mean in `Record`."""

    id: str
    owner: str
    """`Owner.tag`."""
    team: str
    what: str
    audience: str
    kind: str
    key: str
    live: bool
    at: float
    data: str
    """The payload as JSON."""
    dense: str = ""
    """float32, little endian, in base 64; empty: none, or not asked for."""
    terms: Sequence[int] = ()
    weights: Sequence[float] = ()


class Narrow(NamedTuple):
    """Which records of one owner. The fields mean what they mean in `Where`."""

    owner: str
    what: str
    audiences: Sequence[str] | None = None
    kinds: Sequence[str] = ()
    keys: Sequence[str] = ()
    live: bool | None = None
    since: float | None = None
    until: float | None = None

    def texts(self) -> list[tuple[str, Sequence[str]]]:
        """Fields of which one of several values is wanted."""
        wanted = (("audience", self.audiences), ("kind", self.kinds or None), ("key", self.keys or None))
        return [(name, values) for name, values in wanted if values is not None]


class Scored(NamedTuple):
    """A record with the scores of the two legs."""

    record: Packed
    dense: float | None
    words: float | None


class Raw(bytes):
    """JSON already, to be put into an answer as it is."""


FIELDS = ("id", "owner", "team", "what", "audience", "kind", "key", "live", "at", "data")
"""What is kept of a record beside its vectors."""
KEYWORDS = ("team", "what", "audience", "kind", "key")
"""Fields filtered by, beside `owner`, `live` and `at`."""


def point_id(owner: str, record_id: str) -> str:
    """Where one owner's record is filed: a UUID."""
    return str(UUID(bytes=blake2b(f"{owner}\x1f{record_id}".encode("utf-8", "surrogatepass"), digest_size=16).digest()))


def fields(record: Packed) -> dict[str, Any]:
    """What is kept of a record beside its vectors. `live` is 1 or 0, because the engines' filters do not all tell a truth value from a number."""
    return {name: getattr(record, name) for name in FIELDS} | {"live": int(record.live)}


def unpointed(payload: Mapping[str, Any], dense: Sequence[float] | None, words: Any) -> Packed:
    """The record of a point: what `fields` made, and its vectors."""
    return Packed(
        **{name: payload[name] for name in FIELDS} | {"live": bool(payload["live"])},
        dense=floats_text(array("f", dense).tobytes()) if dense else "",
        terms=list(words.indices) if words else (),
        weights=list(words.values) if words else (),
    )


def packed(row: Sequence[Any]) -> Packed:
    """A record from a JSON array."""
    return Packed(*row)


def scored(row: Sequence[Any]) -> Scored:
    """A found record from a JSON array."""
    return Scored(Packed(*row[0]), row[1], row[2])


def row_text(payload: Mapping[str, Any]) -> bytes:
    """The record of a point without its vectors: what `fields` made, as a JSON array that `packed` reads."""
    return to_text([bool(payload[name]) if name == "live" else payload[name] for name in FIELDS])


def scored_text(rows: Sequence[tuple[bytes, float | None, float | None]]) -> Raw:
    """Found records, each made by `row_text`, with the scores of the two legs, as `scored` reads them."""
    return Raw(b"[" + b",".join([b"[%b,%b,%b]" % (row, _number(dense), _number(words)) for row, dense, words in rows]) + b"]")


def _number(value: float | None) -> bytes:
    return b"null" if value is None else repr(value).encode() if isfinite(value) else to_text(value)


def floats_text(raw: bytes) -> str:
    """The bytes of a vector as text."""
    return b64encode(raw).decode()


def floats_bytes(text: str) -> bytes:
    """The bytes of a vector from its text."""
    return b64decode(text)


def vector_floats(text: str) -> list[float]:
    """The numbers of a vector from its text."""
    values = array("f")
    values.frombytes(floats_bytes(text))
    return values.tolist()


def to_text(value: Any) -> bytes:
    """Anything made of plain values as JSON."""
    return to_json(value, inf_nan_mode="constants")


def from_text(text: bytes | str) -> Any:
    """What was made JSON; every tuple is a list now."""
    return from_json(text, cache_strings="keys")
