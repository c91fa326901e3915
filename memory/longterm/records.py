"""From memories, changes and settings to the records the store keeps, and back."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from memory.longterm.access import Owner
from memory.longterm.memory import Change, Memory, Settings, memory_id
from memory.longterm.store import Floats, Record, What
from memory.longterm.topics import topics_about

SETTINGS_PART = "settings"
ALWAYS = "!"
"""Behind the kind under which a memory that always applies is filed, so that those can be asked for."""


TOPICS = "topics"
"""In the payload beside the memory's own fields: what it is about, worked out when it is written, because each search brings hundreds."""


_UNWRITTEN = {"context"}
"""Somebody else's words, or the bot's: they are in the terms a memory is found by, and never kept as text."""


def of_memory(memory: Memory, *, dense: Floats | None, words: dict[int, float]) -> Record:
    """A memory with what it is found by."""
    topics = sorted(topics_about(memory.kind, memory.key, memory.text, memory.condition))
    return Record(
        id=memory.id,
        owner=memory.owner,
        what="memory",
        payload=memory.model_dump(mode="json", exclude_defaults=True, exclude=_UNWRITTEN) | ({TOPICS: topics} if topics else {}),
        audience=memory.audience.tag,
        kind=memory.kind.value + (ALWAYS if memory.always else ""),
        key=memory.key,
        live=memory.live,
        at=memory.valid_from if memory.valid_from is not None else memory.created,
        dense=dense,
        words=words,
    )


def memory_of(record: Record) -> Memory | None:
    """The memory of a record; None when it has not the form of one (a newer version's, damaged): it is left as it is."""
    try:
        return Memory.model_validate(record.payload)
    except ValidationError:
        return None


def of_change(change: Change) -> Record:
    """One entry of a history."""
    return Record(
        id=change.id,
        owner=change.owner,
        what="change",
        payload=change.model_dump(mode="json", exclude_defaults=True, exclude={"before": _UNWRITTEN, "after": _UNWRITTEN}),
        key=change.memory_id,
        at=change.at,
    )


def change_of(record: Record) -> Change | None:
    """The entry of a record; None when it has not the form of one."""
    try:
        return Change.model_validate(record.payload)
    except ValidationError:
        return None


def whole(record: Record) -> dict[str, Any]:
    """What a record holds, with the fields that are as they usually are: what is stored leaves those out. As stored, if it has not our form."""
    read: Memory | Change | None = memory_of(record) if record.what == "memory" else change_of(record) if record.what == "change" else None
    return read.model_dump(mode="json") if read is not None else dict(record.payload)


def settings_id(owner: Owner) -> str:
    """Where a person's settings are: one record each."""
    return memory_id(owner, SETTINGS_PART)


def of_settings(owner: Owner, settings: Settings, at: float) -> Record:
    """A person's settings."""
    return Record(id=settings_id(owner), owner=owner, what="settings", payload=settings.model_dump(mode="json"), at=at)


def settings_of(record: Record) -> Settings:
    """The settings of a record. Those that cannot be read stop learning: a pause must not end because of a fault."""
    try:
        return Settings.model_validate(record.payload)
    except ValidationError:
        return Settings(learning=False)


EVERYTHING: tuple[What, ...] = ("memory", "change", "settings")
