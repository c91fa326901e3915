"""What a memory is: a sentence somebody may own, with where it came from and how long it holds. Values only."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import blake2b
from typing import Final, Literal
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

from memory.keys import Actor, Thread
from memory.longterm.access import Audience, Owner, narrower

FORM: Final = 1
"""Version of the stored form of the types here."""
LONGEST: Final = 500
"""Characters of a memory's text."""
MOST_MARKED: Final = 500
"""Messages noted in a person's settings for each reason; the oldest make room."""
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

    @property
    def at(self) -> float:
        """When the message was sent, in seconds since the epoch; 0 when there was none."""
        try:
            return float(self.ts or 0.0)
        except ValueError:
            return 0.0


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
    also_said: tuple[Source, ...] = ()
    """The latest other messages in which the person said the same: what is forgotten is taken out of those threads too."""
    context: str = ""
    """What was said just before (the message it answered): for its terms in the index only, neither kept nor shown."""
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
    forgotten_at: float = 0.0
    """When they last had everything forgotten, in seconds since the epoch; 0: never. What was said or done before is not learned any more."""
    unheard: tuple[str, ...] = ()
    """Messages (`message_mark`) of which something was forgotten, the latest forgotten last: however late they are read, nothing is learned from them."""
    narrowed: tuple[tuple[str, Audience], ...] = ()
    """Messages (`message_mark`), and the audience their owner chose for what was learned from them: read again it is no wider."""

    def hears(self, source: Source, at: float) -> bool:
        """Whether what was said or done `at` (seconds since the epoch) may be learned: it is not older than what they had forgotten."""
        return not (0.0 < at <= self.forgotten_at) and message_mark(source) not in self.unheard

    def audience(self, source: Source, usual: Audience) -> Audience:
        """Where what is learned from a message may be recalled: as usual at its place, or less far if its owner has chosen so."""
        chosen = dict(self.narrowed).get(message_mark(source))
        return usual if chosen is None else narrower(usual, chosen)

    def without(self, sources: Iterable[Source]) -> Settings:
        """These with nothing to be learned from some messages any more."""
        marks = sorted({(source.ts, message_mark(source)) for source in sources if source.ts})
        return self.model_copy(update={"unheard": tuple(dict.fromkeys((*self.unheard, *(mark for _, mark in marks))))[-MOST_MARKED:]})

    def addressed(self, source: Source, audience: Audience) -> Settings:
        """These with an owner's choice for what one message told."""
        if not source.ts:
            return self
        mark = message_mark(source)
        return self.model_copy(update={"narrowed": (*(each for each in self.narrowed if each[0] != mark), (mark, audience))[-MOST_MARKED:]})


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
    """`person`, `operator`, `message`, `tool`, `run`, or a job's name."""
    memory_id: str
    before: Memory | None = None
    after: Memory | None = None
    undoes: str = ""
    """Id of the change that this one took back."""


def memory_id(owner: Owner, *parts: str) -> str:
    """The id of what comes from one place: the same parts, however often they are read, give the same id, so that a repeat overwrites itself."""
    return str(uuid5(_SPACE, "\x1f".join((owner.tag, *parts))))


def message_mark(source: Source) -> str:
    """By what a message is known again without its words, its place or its time being kept; empty for what was no message."""
    return blake2b(f"{source.thread.id}\x1f{source.ts}".encode(), digest_size=8).hexdigest() if source.ts else ""
