"""Things of business and their state, from a tool's structured result: order SO-1 is shipped, project Apollo is late. Pure.

Only a tool that declares which fields of its result are a thing's id and state makes such memories, and code writes their text from those
fields alone: short scalar values on one line, no sentences. Free text, lists, pages of the web and texts of other people never get in, so a
tool's answer cannot put words into anybody's memory. One thing has one memory; news of it take its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.longterm.access import Audience, Owner
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.reading_checks import holds_secret

LONGEST: Final = 60
"""Characters of one value; longer ones are text and no state."""
MOST_WORDS: Final = 6
"""Words of one value."""
MOST_THINGS: Final = 20
"""Things taken from one result."""
MOST_FIELDS: Final = 8
DAYS: Final = 30

_NAME: Final = re.compile(r"[a-z][a-z0-9_ -]{0,31}")
_ID: Final = re.compile(r"[\w#./+:-]{1,60}")
_ODD: Final = re.compile(r"https?:|www\.|[`<>{}\[\]|\\\"]|[!！?？。]")


@dataclass(frozen=True, slots=True)
class Thing:
    """A tool's declaration of the things its result is about. Paths name fields through mappings, with dots: "order.status"."""

    kind: str
    """What it is, one English word: "order"."""
    id: str
    """Path of the field that names one thing for good."""
    states: tuple[str, ...]
    """Paths of the fields that say how it stands."""
    each: str = ""
    """Path of the list of things; empty: the result is one thing, or itself the list."""


def entities(
    result: Any,
    thing: Thing,
    *,
    owner: Owner,
    audience: Audience,
    source: Source,
    tool: str,
    at: float,
    language: str = "en",
    foreign: bool = False,
) -> list[Memory]:
    """One memory for each thing in a tool's structured `result` (JSON values), the last state of each; nothing where nothing fits the declaration.

    `source.via` has to be "tool", and `foreign` (the result repeats what strangers wrote) gives nothing. `at`: when the tool answered, in
    seconds since the epoch. The id follows from owner, kind and the thing's id, so news replace what was known.
    Raises `ValueError` for a declaration whose kind is no plain word.
    """
    if not _NAME.fullmatch(thing.kind):
        raise ValueError("a kind of thing is a plain English word in small letters")
    if foreign or source.via != "tool":
        return []
    made: dict[str, Memory] = {}
    for one in _things(result, thing):
        named = _scalar(_at(one, thing.id))
        if named is None or not _ID.fullmatch(named):
            continue
        states = [f"{_label(path)} {value}" for path in thing.states[:MOST_FIELDS] if (value := _scalar(_at(one, path))) is not None]
        text = f"{thing.kind} {named}: {', '.join(states)} ({tool})"
        if not states or holds_secret(text):
            continue
        key = f"{thing.kind}:{named}".casefold()
        made[key] = Memory(
            id=memory_id(owner, "entity", key),
            owner=owner,
            kind=Kind.ENTITY,
            key=key,
            text=text[:500],
            value=named.casefold(),
            single=True,
            audience=audience,
            source=source,
            created=at,
            valid_from=at,
            importance=0.3,
            language=language,
            expires=at + DAYS * 86_400,
        )
    return list(made.values())[:MOST_THINGS]


def _things(result: Any, thing: Thing) -> Iterator[Mapping[str, Any]]:
    found = _at(result, thing.each) if thing.each else result
    several: Sequence[Any] = found if isinstance(found, list) else [found]
    yield from (one for one in several[: 10 * MOST_THINGS] if isinstance(one, Mapping))


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _label(path: str) -> str:
    return path.rpartition(".")[2].replace("_", " ")


def _scalar(value: Any) -> str | None:
    """A value as it may stand in a memory; None for what is no short plain value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not text or len(text) > LONGEST or len(text.split()) > MOST_WORDS or _ODD.search(text):
        return None
    return text if all(unicodedata.category(each)[0] not in "CZ" or each == " " for each in text) else None
