"""What a thread is remembered by beside its newest messages: the structured summary of what came before, and its key facts.

The transcript itself is never rewritten. This small document says up to which item the summary speaks for it (`covered`), and which older
items must still be carried whole (`pins`). It is written only when a compaction changed it, together with the session's state and under the same lease.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer, ValidationError

from memory.keys import Actor
from memory.transcript import Text, storable

MEMORY_VERSION: Final = 1
"""A document of a later version is left alone: the thread then goes on with what can be read from the transcript."""

BLOCK: Final = 128
"""Items whose entries in the search index are stored together: the block of position p is p // BLOCK."""


Words = Annotated[Text, PlainSerializer(storable, return_type=str)]
"""Text that can be stored whatever it was made of, also when a copy was made with other words: the model's JSON may hold half a surrogate pair."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


FactKind = Literal["entity", "deadline", "choice", "setting", "amount", "preference", "other"]


class Said(_Frozen):
    """One statement of a fact: what was said, by whom (as the model sees the speaker) and in which message."""

    value: Words
    name: Words = ""
    actor: Actor | None = None
    ts: Words = ""


class Fact(_Frozen):
    """One thing that was said to be so. Facts are kept by `key` (and, for a preference, by the person whose it is)."""

    key: Words
    """What it is about, as it would be asked for: "deadline", "environment", "order", "预算"."""
    value: Words
    kind: FactKind = "other"
    name: Words = ""
    """Who said it, as the model sees the speaker."""
    actor: Actor | None = None
    ts: Words = ""
    """The message it was said in."""
    before: Words = ""
    """The value this one corrected, if any."""
    history: tuple[Said, ...] = ()
    """Older statements of the same thing, newest first, those among them that said the same value: what holds when the newest is deleted."""


class Summary(_Frozen):
    """What was said and done in the part of the thread that is no longer sent word by word. Lines are in the thread's language."""

    language: Literal["en", "zh"] = "en"
    goals: tuple[Words, ...] = ()
    constraints: tuple[Words, ...] = ()
    decisions: tuple[Words, ...] = ()
    actions: tuple[Words, ...] = ()
    """Done, with their results: one line a tool call or other deed."""
    state: tuple[Words, ...] = ()
    """How things stand now."""
    questions: tuple[Words, ...] = ()
    """What is still open."""
    entities: tuple[Words, ...] = ()
    """Who and what it is about, with ids."""
    said: tuple[Words, ...] = ()
    """Who said what, where it matters: "Ana: the budget is fixed"."""
    identifiers: tuple[Words, ...] = ()
    """What the identifier guard put back, exactly as it was written."""
    more: int = 0
    """Identifiers that had no room here any more; search in the thread finds their messages."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return not any(getattr(self, name) for name in SECTIONS) and not self.identifiers


SECTIONS: Final = ("goals", "constraints", "decisions", "actions", "state", "questions", "entities", "said")
"""The parts of a summary that hold sentences, in the order they are shown in."""


class Change(_Frozen):
    """One successful write before `covered`, by what tells the thing it changed from others."""

    at: int
    """Position of its result."""
    tool: Words
    arguments: tuple[tuple[Words, Words], ...] = ()
    ids: tuple[Words, ...] = ()


class SessionMemory(_Frozen):
    """The document. Positions are absolute item numbers of the transcript."""

    v: int = MEMORY_VERSION
    covered: int = 0
    """Items before this one are spoken for by `summary` and `facts`."""
    pins: tuple[int, ...] = ()
    """Older items that are carried whole all the same: the latest tool calls, and those that were open, with their results."""
    summary: Summary = Summary()
    facts: tuple[Fact, ...] = ()
    """Facts said before `covered`, oldest first; later ones are read from the messages themselves."""
    corrected: dict[str, int | None] = {}
    """Messages (`ts`) whose correction stands before `covered` too: the position of the latest one, None where the message was deleted."""
    changes: tuple[Change, ...] = ()
    """What was changed before `covered`, oldest first: what was read about it earlier no longer holds when search brings it back."""
    links: tuple[Words, ...] = ()
    """Addresses in the summarised part that a person wrote or a tool found, newest last: an answer may repeat them."""
    own_links: tuple[Words, ...] = ()
    """Addresses there that the model wrote before anybody else: a tool that gives one back does not vouch for it."""
    compacted_at: float = 0.0
    """Seconds since the epoch; 0: never."""
    compactions: int = 0
    by: Literal["", "model", "extract"] = ""
    """Who wrote the summary: the model, or code that picked sentences."""
    tokens_before: int = 0
    tokens_after: int = 0
    """Of the last compaction: what it took in, and what became of it."""


def dump(memory: SessionMemory) -> bytes:
    """The stored form."""
    return json.dumps({"v": memory.v} | memory.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False).encode()


def load(data: bytes) -> SessionMemory | None:
    """Read a stored document; None for one of a later version, or one that is damaged."""
    try:
        raw = json.loads(data)
        if not isinstance(raw, dict) or not isinstance(raw.get("v"), int) or not 1 <= raw["v"] <= MEMORY_VERSION:
            return None
        return SessionMemory.model_validate(raw)
    except (ValueError, ValidationError, RecursionError):
        return None
