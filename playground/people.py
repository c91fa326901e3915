"""The nouns of the workspace: teams, users, channels, installations, and how each looks in Slack's JSON.

Messages are plain dictionaries in Slack's own shape. They are never changed in place: a new version replaces the old one in
`Channel.messages`, so whoever holds a message (an event being sent, a log) holds it as it was.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

Json = dict[str, Any]

COLORS = ("4bbe2e", "3c989f", "9f69e7", "e7392d", "e96699", "674b1b", "2b6836", "db3150")


@functools.lru_cache(maxsize=64)
def _offset(tz: str) -> int:
    """Seconds east of UTC, as of now."""
    delta = datetime.now(ZoneInfo(tz)).utcoffset()
    return int(delta.total_seconds()) if delta else 0


@dataclass(slots=True)
class Team:
    """One workspace."""

    id: str
    name: str
    domain: str


@dataclass(slots=True)
class User:
    """A person or an app's user."""

    id: str
    team_id: str
    name: str
    real_name: str
    tz: str = "Etc/UTC"
    locale: str = "en-US"
    is_bot: bool = False
    bot_id: str = ""
    app_id: str = ""
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_admin: bool = False
    title: str = ""
    deleted: bool = False
    updated: int = 1_760_000_000

    @property
    def is_guest(self) -> bool:
        """Whether the person is a single- or multi-channel guest."""
        return self.is_restricted or self.is_ultra_restricted

    @property
    def email(self) -> str:
        """An address that can never be delivered to."""
        return f"{self.name}@{self.team_id.lower()}.example"

    @property
    def color(self) -> str:
        """A stable colour for the page."""
        return COLORS[sum(map(ord, self.id)) % len(COLORS)]

    def profile(self, *, email: bool) -> Json:
        """Slack's profile object; `email` only with the scope for it."""
        profile: Json = {
            "title": self.title,
            "phone": "",
            "skype": "",
            "real_name": self.real_name,
            "real_name_normalized": self.real_name,
            "display_name": self.name,
            "display_name_normalized": self.name,
            "status_text": "",
            "status_emoji": "",
            "status_expiration": 0,
            "avatar_hash": "",
            "first_name": self.real_name.split(" ")[0],
            "last_name": self.real_name.partition(" ")[2],
            "team": self.team_id,
        }
        if self.is_bot:
            profile |= {"api_app_id": self.app_id, "bot_id": self.bot_id, "always_active": True}
        elif email:
            profile["email"] = self.email
        return profile

    def shape(self, *, email: bool, locale: bool, viewer_team: str) -> Json:
        """Slack's user object as seen from `viewer_team`."""
        shape: Json = {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "deleted": self.deleted,
            "color": self.color,
            "real_name": self.real_name,
            "tz": self.tz,
            "tz_label": self.tz.replace("_", " "),
            "tz_offset": _offset(self.tz),
            "profile": self.profile(email=email),
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": self.updated,
            "is_email_confirmed": not self.is_bot,
            "who_can_share_contact_card": "EVERYONE",
        }
        if locale:
            shape["locale"] = self.locale
        if self.team_id != viewer_team:
            shape["is_stranger"] = False
        return shape


@dataclass(slots=True)
class Channel:
    """A conversation of any kind: `channel` (public), `group` (private), `im`, `mpim`."""

    id: str
    team_id: str
    name: str
    kind: str
    members: dict[str, None] = field(default_factory=dict)
    topic: str = ""
    purpose: str = ""
    creator: str = ""
    created: int = 1_760_000_000
    is_archived: bool = False
    is_general: bool = False
    shared_with: tuple[str, ...] = ()
    messages: dict[str, Json] = field(default_factory=dict)
    replies: dict[str, list[str]] = field(default_factory=dict)
    ephemerals: list[Json] = field(default_factory=list)
    pins: list[str] = field(default_factory=list)

    @property
    def is_ext_shared(self) -> bool:
        """Whether another company's people are in it (Slack Connect)."""
        return bool(self.shared_with)

    def shape(self, viewer: str, *, num_members: bool = False, locale: str | None = None) -> Json:
        """Slack's conversation object as `viewer` sees it."""
        shape: Json = {
            "id": self.id,
            "created": self.created,
            "is_archived": self.is_archived,
            "is_im": self.kind == "im",
            "is_org_shared": False,
            "context_team_id": self.team_id,
            "updated": self.created * 1000,
        }
        if self.kind == "im":
            shape |= {"user": next((m for m in self.members if m != viewer), viewer), "is_user_deleted": False, "priority": 0}
        else:
            shape |= {
                "name": self.name,
                "name_normalized": self.name,
                "is_channel": self.kind == "channel",
                "is_group": self.kind == "group",
                "is_mpim": self.kind == "mpim",
                "is_private": self.kind != "channel",
                "is_general": self.is_general,
                "unlinked": 0,
                "is_shared": self.is_ext_shared,
                "is_ext_shared": self.is_ext_shared,
                "is_pending_ext_shared": False,
                "pending_shared": [],
                "creator": self.creator,
                "is_member": viewer in self.members,
                "parent_conversation": None,
                "previous_names": [],
                "shared_team_ids": [self.team_id, *self.shared_with],
                "pending_connected_team_ids": [],
                "topic": {"value": self.topic, "creator": "", "last_set": 0},
                "purpose": {"value": self.purpose, "creator": "", "last_set": 0},
            }
        if num_members:
            shape["num_members"] = len(self.members)
        if locale:
            shape["locale"] = locale
        return shape


@dataclass(slots=True)
class Install:
    """The app in one team: its bot user and its token there."""

    team_id: str
    bot_user_id: str
    bot_id: str
    app_id: str
    token: str


@dataclass(slots=True)
class Token:
    """What a token may do: `kind` is `bot` (xoxb), `user` (xoxp) or `app` (xapp)."""

    value: str
    kind: str
    team_id: str
    user_id: str
    bot_id: str
    scopes: frozenset[str]
    revoked: bool = False

    @property
    def scope_header(self) -> str:
        """The value of `x-oauth-scopes`."""
        return ",".join(sorted(self.scopes))
