"""Who owns a memory, where it may be recalled, and what a given reader may reach: the only code that decides it.

Every call to the store takes a `Where` made from owners named here, so that a forgotten filter is a type error and not a leak. A memory has
one `Owner` (a person, or a room) and one `Audience`. A fact learned in a direct conversation is recalled only there, one from a private
channel there and in its owner's direct conversation, one from a public channel anywhere in the workspace, for its owner.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from memory.keys import Actor, Thread

RoomType = Literal["im", "mpim", "group", "channel"]
"""Slack's `channel_type`: direct, group direct, private channel, public channel."""


class Owner(BaseModel):
    """Whose a memory is: a person, or a room (a channel whose agreements it holds)."""

    model_config = ConfigDict(frozen=True)

    team_id: str
    kind: Literal["person", "room"]
    id: str
    """The user's id, or the channel's."""

    @property
    def tag(self) -> str:
        """The tenant value it is filed under: unique across workspaces and kinds."""
        return f"{self.team_id}:{self.kind}:{self.id}"

    @classmethod
    def parse(cls, tag: str) -> Owner:
        """Read `tag` back. Raises `ValueError`."""
        team_id, kind, one = tag.split(":")
        return cls.model_validate({"team_id": team_id, "kind": kind, "id": one})


def person(actor: Actor) -> Owner:
    """The owner of what one person's memories are."""
    return Owner(team_id=actor.team_id, kind="person", id=actor.user_id)


def room(thread: Thread) -> Owner:
    """The owner of a channel's agreements."""
    return Owner(team_id=thread.team_id, kind="room", id=thread.channel_id)


class Audience(BaseModel):
    """Where a memory may be recalled for its owner: in direct conversations only, in one channel too, or anywhere in the workspace."""

    model_config = ConfigDict(frozen=True)

    scope: Literal["private", "channel", "workspace"]
    channel_id: str = ""
    """For `channel`."""

    @property
    def tag(self) -> str:
        """The value it is filtered by."""
        return f"channel:{self.channel_id}" if self.scope == "channel" else self.scope

    @classmethod
    def parse(cls, tag: str) -> Audience:
        """Read `tag` back. Raises `ValueError`."""
        scope, _, channel = tag.partition(":")
        return cls.model_validate({"scope": scope, "channel_id": channel})


PRIVATE: Final = Audience(scope="private")
WORKSPACE: Final = Audience(scope="workspace")


def narrower(one: Audience, other: Audience) -> Audience:
    """The one that reaches fewer; of two channels neither does, so then only direct conversations are left."""
    if one.scope == other.scope:
        return one if one == other else PRIVATE
    return min(one, other, key=lambda audience: ("private", "channel", "workspace").index(audience.scope))


def learned_in(thread: Thread, room_type: RoomType, *, shared: bool = False) -> Audience:
    """The audience of a fact said there. `shared`: other companies' people read there too, so what is said there stays there."""
    if room_type == "im":
        return PRIVATE
    if room_type == "channel" and not shared:
        return WORKSPACE
    return Audience(scope="channel", channel_id=thread.channel_id)


class Reader(BaseModel):
    """For whom and where something is recalled."""

    model_config = ConfigDict(frozen=True)

    actor: Actor
    thread: Thread
    room_type: RoomType
    shared: bool = False
    """The channel is shared with another company."""
    outsider: bool = False
    """The person belongs to another company: they have no memories here, and reach none."""

    @property
    def owners(self) -> tuple[Owner, ...]:
        """Whose memories may be looked at: the person's own and, outside direct conversations, the room's."""
        if self.outsider:
            return ()
        return (person(self.actor),) if self.room_type == "im" else (person(self.actor), room(self.thread))

    @property
    def audiences(self) -> frozenset[str] | None:
        """The audiences recalled here; None: every one (a direct conversation with the owner)."""
        if self.room_type == "im":
            return None
        here = f"channel:{self.thread.channel_id}"
        return frozenset({here}) if self.shared else frozenset({here, WORKSPACE.tag})
