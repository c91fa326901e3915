"""What the two engines of the store share: the form in which records are kept, how it is configured, and what is noted about a collection.

A collection remembers the version of its form and the embedding model its vectors were made with. Opening it with another model would
compare vectors that mean nothing to each other, so that is refused with the remedy; so is a form that only a newer version knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from memory.longterm.access import Owner
from memory.longterm.packed import Narrow, Packed, Scored, floats_bytes, floats_text, from_text
from memory.longterm.store import WORDS_ONLY, Floats, Record, StoreError, Where
from memory.transcript import storable

FORM: Final = 1
"""Version of the form in which records are kept."""
NAME: Final = "steward_memory"
"""What the collection is called on a server, and the folder in the data folder."""

Quantization = Literal["none", "int8", "binary"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a store is laid out. What concerns vectors takes effect where the store is rewritten or made."""

    shards: int = 8
    """Into how many parts the embedded store is divided when it is made."""
    quantization: Quantization = "none"
    """Smaller copies of the vectors to search first; the originals decide the order."""
    on_disk: bool = True
    """Vectors stay in files that the system caches; False: they are read into memory at the start."""
    m: int = 0
    """Edges of a search graph; 0: none, because one owner's few thousand records are searched faster one by one."""

    @property
    def engine(self) -> dict[str, Any]:
        """What the embedded engine's process is told."""
        return {"quantization": self.quantization, "on_disk": self.on_disk, "m": self.m}


@dataclass(frozen=True, slots=True)
class Meta:
    """What is noted about a collection."""

    model: str
    size: int
    form: int = FORM

    @classmethod
    def read(cls, noted: Mapping[str, Any]) -> Meta:
        """From what was noted. Raises `StoreError` when it is not what we note."""
        try:
            return cls(model=str(noted["model"]), size=int(noted["size"]), form=int(noted["form"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError("the memory store's description cannot be read; restore it from a backup, or move the store away to begin anew") from error

    def noted(self) -> dict[str, Any]:
        """What to note."""
        return {"form": self.form, "model": self.model, "size": self.size}

    def check(self, model: str, size: int) -> None:
        """Raises `StoreError` unless a program with this model can use the collection."""
        if self.form > FORM:
            raise StoreError(f"the memory store has form {self.form} and this version knows {FORM}; use the newer version that wrote it")
        if (self.model, self.size) != (model, size):
            mine = f"{model} ({size})" if model != WORDS_ONLY else "words alone"
            theirs = f"{self.model} ({self.size})" if self.model != WORDS_ONLY else "words alone"
            raise StoreError(f"memories are kept with {theirs}, but {mine} is configured; run `steward memory reembed` to change them over")


def checked(record: Record, size: int) -> Record:
    """The record, if its vector has the collection's size. Raises `ValueError`: that is a mistake in the program."""
    if record.dense is not None and record.dense.shape != (size,):
        raise ValueError(f"a vector of {record.dense.shape} in a store of {size}")
    return record


def pack(record: Record) -> Packed:
    """A record as it is kept."""
    words = sorted(record.words.items())
    return Packed(
        id=record.id,
        owner=record.owner.tag,
        team=record.owner.team_id,
        what=record.what,
        audience=storable(record.audience),
        kind=storable(record.kind),
        key=storable(record.key),
        live=record.live,
        at=record.at,
        data=_json(record.payload),
        dense="" if record.dense is None else vector_text(record.dense),
        terms=tuple(term for term, _ in words),
        weights=tuple(float(weight) for _, weight in words),
    )


def unpack(packed: Packed) -> Record:
    """The record that was kept."""
    return Record(
        id=packed.id,
        owner=_owner(packed.owner),
        what=packed.what,  # type: ignore[arg-type] # only ours are written
        payload=_payload(packed.data),
        audience=packed.audience,
        kind=packed.kind,
        key=packed.key,
        live=packed.live,
        at=packed.at,
        dense=floats(packed.dense) if packed.dense else None,
        words=dict(zip(packed.terms, packed.weights, strict=True)),
    )


def _payload(text: str) -> dict[str, Any]:
    """What `_json` made; its usual reader is twice as fast as Python's, but knows no halves of surrogate pairs."""
    try:
        payload: dict[str, Any] = from_text(text)
    except ValueError:
        payload = json.loads(text)
    return payload


@lru_cache(4_096)
def _owner(tag: str) -> Owner:
    return Owner.parse(tag)


def vector_text(vector: Floats) -> str:
    """A vector as it travels."""
    return floats_text(np.asarray(vector, "<f4").tobytes())


def floats(text: str) -> Floats:
    """A vector that travelled."""
    return np.frombuffer(floats_bytes(text), "<f4").astype(np.float32)


def _json(payload: Mapping[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    if text.isascii() or _encodes(text):
        return text
    return json.dumps(payload, separators=(",", ":"))  # halves of surrogate pairs are kept as escapes


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def narrowed(where: Where) -> list[Narrow]:
    """One filter for each owner; none when nothing can fit."""
    if where.audiences is not None and not where.audiences:
        return []
    audiences = None if where.audiences is None else _texts(sorted(where.audiences))
    rest = (where.what, audiences, _texts(where.kinds), _texts(where.keys), where.live, where.since, where.until)
    return [Narrow(owner.tag, *rest) for owner in dict.fromkeys(where.owners)]


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(storable(value) for value in values)


def by_owner(records: Sequence[Record], size: int) -> dict[Owner, list[Packed]]:
    """What is written at once for each owner; of records with the same id the last."""
    found: dict[Owner, dict[str, Packed]] = {}
    for record in records:
        found.setdefault(record.owner, {})[record.id] = pack(checked(record, size))
    return {owner: list(packed.values()) for owner, packed in found.items()}


def newest(records: Iterable[Packed]) -> list[Packed]:
    """The newest first."""
    return sorted(records, key=lambda record: (record.at, record.id), reverse=True)


def best(found: Sequence[Scored], limit: int) -> list[Scored]:
    """Of several owners' best the best `limit` of each leg."""
    dense = sorted((each for each in found if each.dense is not None), key=lambda each: -(each.dense or 0.0))[:limit]
    words = sorted((each for each in found if each.words is not None), key=lambda each: -(each.words or 0.0))[:limit]
    by_meaning, by_words = ({(each.record.owner, each.record.id) for each in leg} for leg in (dense, words))
    kept: list[Scored] = []
    for each in found:
        place = (each.record.owner, each.record.id)
        if place in by_meaning or place in by_words:
            kept.append(Scored(each.record, each.dense if place in by_meaning else None, each.words if place in by_words else None))
    return kept
