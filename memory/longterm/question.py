"""What a request asks of long-term memory, and what it gets back. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.longterm.access import Reader
from memory.longterm.memory import Memory


@dataclass(frozen=True, slots=True)
class Question:
    """What is being talked about."""

    reader: Reader
    text: str
    """The person's current message, in their own words."""
    recent: tuple[str, ...] = ()
    """Their own messages just before in this conversation, oldest first."""
    now: float = 0.0
    """Seconds since the epoch."""
    timezone: str = "UTC"
    language: str = "en"
    names: tuple[str, ...] = ()
    """The names of the person who asks."""
    people: Mapping[str, str] = field(default_factory=dict)
    """Others whose words may be among the memories: the id of each by name."""


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that fits, and how well."""

    memory: Memory
    score: float
    why: str = ""
    """`always`, `key`, `date`, `meaning`, `words`: for the trace and for `/memory why`."""
    fits: bool = True
    """False: it is only the nearest there is, and has too little to do with the request to be told."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What memory brings to one answer."""

    found: tuple[Found, ...] = ()
    """Those that always apply first, then the best."""
    missing: bool = False
    """Memory did not answer, or not in time: the answer has to say that it lacks it."""
    paused: bool = False
    took: float = 0.0
    """Seconds."""
