"""What a memory is: a sentence somebody may own, with where it came from and how long it holds. Values only."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

from memory.keys import Actor, Thread
from memory.longterm.access import Audience, Owner

FORM: Final = 1
"""Version of the stored form of the types here."""
LONGEST: Final = 500
"""Characters of a memory's text."""
_SPACE: Final = UUID("6f1f3c4e-52d6-4d0c-9a57-5b8e3f2f7a10")


class Kind(StrEnum):
    """What sort of thing is remembered. The first three and `habit` belong to a person, `agreement` to a room."""

    PREFERENCE = "preference"
    """How the person wants things: "short replies", "when I check orders skip payment"."""
    FACT = "fact"
    """What is so: a name, an allergy, a birthday, a favourite."""
    PLAN = "plan"
    """What is to come and then is over: "I fly to Guangzhou on Friday"."""
    HABIT = "habit"
    """What was seen again and again in episodes."""
    AGREEMENT = "agreement"
    """What a room decided: "we deploy on Tuesdays"."""
    ENTITY = "entity"
    """A thing of business and its state, from a tool: an order, a project."""
    EPISODE = "episode"
    """What was done once, and how it ended."""


class Source(BaseModel):
    """Where a memory came from."""

    model_config = ConfigDict(frozen=True)

    thread: Thread
    ts: str = ""
    """The message; empty when it was none (a form, a job)."""
    said_by: Actor
    permalink: str = ""
    via: Literal["message", "command", "tool", "run", "job"] = "message"
    """`message`: the person's own words; `command`: typed in a form; `tool`: a tool's structured result; `run`: what was done; `job`: consolidation."""


class Memory(BaseModel):
    """One memory. Times in seconds since the epoch; 0 or None: none."""

    model_config = ConfigDict(frozen=True)

    v: int = FORM
    id: str
    """A UUID."""
    owner: Owner
    kind: Kind
    key: str
    """What it is about, lower case, as in "allergy:peanut", "name", "reply_language", "favourite:colour", "order": the same subject and attribute
    have the same key, whatever the language."""
    text: str = Field(max_length=LONGEST)
    """In the person's own language and words, in the first person as they said it ("I am allergic to peanuts")."""
    value: str = ""
    """The attribute's value in normal form ("peanut", "zh", "blue"), when there is one."""
    negated: bool = False
    """It says that something is not so."""
    condition: str = ""
    """When it applies ("when I check orders"); empty: always."""
    single: bool = False
    """Its key has one value at a time: a new one supersedes it."""
    always: bool = False
    """It goes with every request without being asked for."""
    sensitive: bool = False
    """Health, religion, politics…: kept because the person asked for it."""
    explicit: bool = False
    """The person asked for it to be remembered."""
    audience: Audience
    source: Source
    context: str = ""
    """What was said just before (the message it answered): for search only, never shown."""
    created: float
    updated: float = 0.0
    valid_from: float | None = None
    valid_until: float | None = None
    """When it stopped, or will stop, being so."""
    superseded_by: str = ""
    """Id of the memory that took its place."""
    disputed_with: str = ""
    """Id of a memory it contradicts, until its owner says which is right; not recalled meanwhile."""
    importance: float = 0.5
    """0 to 1."""
    last_recalled: float = 0.0
    times_recalled: int = 0
    times_said: int = 1
    language: str = "en"
    expires: float | None = None
    """When it is dropped by itself."""

    @property
    def source_time(self) -> float:
        """When it was said last, in seconds since the epoch."""
        return self.updated or self.created

    @property
    def live(self) -> bool:
        """Whether it may be recalled as what is so (its expiry and its owner's pause apart)."""
        return not self.superseded_by and not self.disputed_with


class Settings(BaseModel):
    """What a person chose about their memory and their messages."""

    model_config = ConfigDict(frozen=True)

    v: int = FORM
    learning: bool = True
    """False: nothing is learned and nothing recalled."""
    left_at: float = 0.0
    """When their account was first seen deactivated, in seconds since the epoch; 0: it is in use."""
    language: Literal["", "en", "zh"] = ""
    """Of what we show them; empty: by their words and Slack's setting."""


Done = Literal["added", "reinforced", "updated", "superseded", "disputed", "settled", "merged", "widened", "lowered", "expired", "undone", "cleared"]


class Change(BaseModel):
    """One entry of an owner's history: enough to undo it. Forgetting leaves none."""

    model_config = ConfigDict(frozen=True)

    v: int = FORM
    id: str
    owner: Owner
    at: float
    done: Done
    by: str
    """`person`, `message`, `tool`, `run`, or a job's name."""
    memory_id: str
    before: Memory | None = None
    after: Memory | None = None
    undoes: str = ""
    """Id of the change that this one took back."""


def memory_id(owner: Owner, *parts: str) -> str:
    """The id of what comes from one place: the same parts, however often they are read, give the same id, so that a repeat overwrites itself."""
    return str(uuid5(_SPACE, "\x1f".join((owner.tag, *parts))))
