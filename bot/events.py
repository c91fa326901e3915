"""What can happen to a session: the closed union of events the edge produces and `fold` consumes.

Every event names the thread it belongs to and carries a `key`, its identity for de-duplication. For messages the
identity is (channel, ts), because Slack delivers one mention twice, as `app_mention` and as `message`, under
different event ids.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memory.keys import Actor, Thread


class RoomKind(StrEnum):
    """Slack's `channel_type` values."""

    CHANNEL = "channel"
    GROUP = "group"
    IM = "im"
    MPIM = "mpim"


class Person(BaseModel):
    """What Slack says about an actor, as far as decisions need it. Filled in by the worker, never by the sender."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    timezone: str = "UTC"
    locale: str = "en"
    is_bot: bool = False
    is_guest: bool = False
    is_admin: bool = False
    is_deleted: bool = False
    """The account is deactivated."""
    """An admin or owner of the workspace."""
    is_foreign: bool = False
    """Belongs to another company than the workspace of the thread (Slack Connect)."""
    groups: tuple[str, ...] = ()
    """Slack user group ids the person is in, limited to those a policy names."""


class FileRef(BaseModel):
    """A file that came with a message."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str = ""
    mimetype: str = ""
    size: int = 0


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    thread: Thread
    key: str
    """Identity for de-duplication, unique within a channel."""
    person: Person | None = None
    """Facts about `actor`, attached by the worker before folding."""

    @property
    def correlation(self) -> str:
        """A short id that the log lines about this event carry, in every process: where it came in and where it was worked on."""
        return hashlib.sha256(f"{self.thread.id} {self.key}".encode()).hexdigest()[:12]


class _MessageEvent(_Event):
    actor: Actor
    ts: str
    text: str
    """Plain text as the person meant it: entities unescaped, our own mention removed."""
    room: RoomKind
    files: tuple[FileRef, ...] = ()
    quoted: str = ""
    """What the message carries besides its own words (see `bot.quoted`): data, not the author's words."""
    root: bool = True
    """Whether nothing earlier can stand in this conversation: the message is the root of its thread, or a top-level direct message."""
    speaker: str = ""
    """Display name when Slack gave one with the message (bots)."""
    from_bot: bool = False
    """Written by another bot."""
    enough: bool = False
    """From a bot that has mentioned us too often in this channel: it is told once that we stop."""


class Mention(_MessageEvent):
    """Someone mentioned us in a channel, private channel or group DM."""

    kind: Literal["mention"] = "mention"


class DirectMessage(_MessageEvent):
    """Someone wrote to us in a one-to-one conversation."""

    kind: Literal["direct_message"] = "direct_message"


class ThreadReply(_MessageEvent):
    """A message without a mention in a thread we take part in: answered, or kept as context when it is meant for someone else."""

    kind: Literal["thread_reply"] = "thread_reply"
    to_others: bool = False
    """Addressed to another person: it mentions somebody and not us."""


class Edited(_Event):
    """Someone edited a message of theirs; `text` is the new text."""

    kind: Literal["edited"] = "edited"
    actor: Actor
    ts: str
    text: str


class Deleted(_Event):
    """Someone deleted a message."""

    kind: Literal["deleted"] = "deleted"
    ts: str


class Always(BaseModel):
    """What a person allows from now on, beside the one call in front of them: the same tool, from them, in this channel."""

    model_config = ConfigDict(frozen=True)

    pattern: dict[str, Any]
    """Arguments that must be exactly these; those not named may be anything."""
    expires_after: float
    """Seconds from the click."""


class Decision(_Event):
    """Someone pressed a button of an approval card or a question, or submitted a form that belongs to one."""

    kind: Literal["decision"] = "decision"
    actor: Actor
    approval_id: str
    message_ts: str
    """`ts` of the card that was clicked; empty when the decision came from a modal."""
    verdict: Literal["approve", "deny", "edit", "answer"]
    reason: str = ""
    answer: str = ""
    """What a question was answered with, for `answer`."""
    choice: int | None = None
    """Which of a question's choices was clicked; the words are looked up in the call, never taken from the button."""
    always: Always | None = None
    """With `approve`: also allow calls like this one for some time."""
    arguments: dict[str, Any] | None = None
    """The edited arguments, already validated against the tool's schema, for `edit`."""
    digest: str = ""
    """Digest of the edited call, computed by the worker from its own registry."""
    at: float = 0.0
    """When it was received, in seconds since the epoch."""


class Stop(_Event):
    """Someone asked to stop what is running here: the exact word, or Slack's own stop button."""

    kind: Literal["stop"] = "stop"
    actor: Actor
    ts: str = ""
    quiet: bool = False
    """Not said to us in words (Slack's own stop button, or the bare word in a thread): no answer when nothing runs."""


class Reset(_Event):
    """Someone had this thread's memory cleared: a click on a button, behind a question whether they mean it."""

    kind: Literal["reset"] = "reset"
    actor: Actor
    locale: str = ""
    """The language they were asked in; empty: that of their Slack."""


class Forgotten(_Event):
    """Somebody had a memory deleted that came from this thread or was used in it: it is taken out of what is kept here too. Made by us only."""

    kind: Literal["forgotten"] = "forgotten"
    actor: Actor
    ts: tuple[str, ...] = ()
    """The messages it was said in."""
    phrases: tuple[str, ...] = ()
    """The words it was remembered by."""
    runs: tuple[str, ...] = ()
    """The requests in this thread for whose answers it was at hand."""


class Due(_Event):
    """A reminder's time has come. Made by the scheduler, never by anything that came in from outside."""

    kind: Literal["due"] = "due"
    actor: Actor
    """Whom to remind."""
    text: str
    locale: str = "en"
    at: float = 0.0
    """When it was to be given, in seconds since the epoch."""


Event = Annotated[
    Mention | DirectMessage | ThreadReply | Edited | Deleted | Decision | Stop | Reset | Forgotten | Due,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Parses and prints any event as JSON."""
