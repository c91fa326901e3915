"""The few fields of a stored memory that decide its rank, read without looking at the rest: a search brings two hundred, of which a dozen are told.

Checking the whole form of each would take longer than ranking them all. Whatever is told is read properly first, by `memory_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory.longterm.memory import Kind
from memory.longterm.records import TOPICS
from memory.longterm.store import Record


@dataclass(frozen=True, slots=True)
class Sketch:
    """What ranking reads of one memory. Times in seconds since the epoch."""

    id: str
    kind: Kind
    key: str
    created: float
    at: float
    """When it was so: `valid_from`, else `created`."""
    said_by: str
    """A user id."""
    place: tuple[str, str]
    """The thread it was said in: its time and its channel."""
    said_at: float
    """The message's time; 0 when it came from none."""
    topics: frozenset[str]
    """See `topics_about`."""


def sketch_of(record: Record, now: float) -> Sketch | None:
    """What ranking reads of a record; None for one that does not hold now, or has not the form of a memory."""
    payload = record.payload
    try:
        if payload.get("superseded_by") or payload.get("disputed_with"):
            return None
        if any(end is not None and end <= now for end in (payload.get("valid_until"), payload.get("expires"))):
            return None
        source: Mapping[str, Any] = payload["source"]
        thread = source["thread"]
        created, since = float(payload["created"]), payload.get("valid_from")
        return Sketch(
            id=record.id,
            kind=Kind(payload["kind"]),
            key=str(payload.get("key", "")),
            created=created,
            at=created if since is None else float(since),
            said_by=source["said_by"]["user_id"],
            place=(thread.get("thread_ts", ""), thread["channel_id"]),
            said_at=_seconds(source.get("ts", "")),
            topics=frozenset(payload.get(TOPICS, ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError):  # a newer version's, or damaged: it is left as it is
        return None


def _seconds(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:  # it came from no message
        return 0.0
