"""The state of the workspace and the few operations that change it.

Everything that happens to messages goes through `World`: posting, editing, deleting, reacting. Each operation keeps Slack's bookkeeping
(reply counts, tombstones) and announces a `Change` to its listeners: the events sent to the app and the feed shown on pages.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from playground.appconfig import AppConfig
from playground.clock import Clock, Ids
from playground.people import Channel, Install, Json, Team, Token, User

_CLICKABLE = frozenset({"actions", "context_actions", "input"})
_KEPT_BY_TOMBSTONES = frozenset({"type", "ts", "thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply"})
EPHEMERALS_KEPT = 500
SLACKBOT = "USLACKBOT"
TOMBSTONE = "This message was deleted."


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened: `kind` is posted, changed, deleted, ephemeral, reaction_added, reaction_removed, joined."""

    kind: str
    channel: Channel
    message: Json
    previous: Json | None = None
    actor: str = ""
    detail: str = ""
    quiet: bool = False


class World:
    """Teams, people, conversations, messages and tokens."""

    def __init__(self, app: AppConfig, clock: Clock, ids: Ids) -> None:
        self.app = app
        self.clock = clock
        self.ids = ids
        self.teams: dict[str, Team] = {}
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.installs: dict[str, Install] = {}
        self.tokens: dict[str, Token] = {}
        self.usergroups: dict[str, Json] = {}
        self.listeners: list[Callable[[Change], None]] = []
        self.past_blocks: dict[tuple[str, str], list[list[Json]]] = {}
        self._ims: dict[frozenset[str], str] = {}

    # -- people and rooms -------------------------------------------------------------------------------------------------------------

    def add_channel(self, channel: Channel) -> Channel:
        """Add a conversation, or replace one of the same id."""
        self.channels[channel.id] = channel
        if channel.kind in ("im", "mpim"):
            self._ims[frozenset(channel.members)] = channel.id
        return channel

    def install(self, team_id: str, bot_user_id: str, bot_id: str, token: str | None = None) -> Install:
        """Install the app in a team and make its bot token."""
        value = token or f"xoxb-{secrets.token_hex(12)}"
        install = Install(team_id, bot_user_id, bot_id, self.app.app_id, value)
        self.installs[team_id] = install
        self.tokens[value] = Token(value, "bot", team_id, bot_user_id, bot_id, frozenset(self.app.scopes))
        return install

    def issue_token(self, kind: str, team_id: str, user_id: str, scopes: Iterable[str]) -> Token:
        """A new `user` (xoxp) or `app` (xapp) token."""
        prefix = {"user": "xoxp-", "app": "xapp-1-"}[kind]
        token = Token(prefix + secrets.token_hex(16), kind, team_id, user_id, "", frozenset(scopes))
        self.tokens[token.value] = token
        return token

    def find_user(self, ref: str, team_id: str | None = None) -> User | None:
        """A user by id or by name (with or without @)."""
        if ref in self.users:
            return self.users[ref]
        name = ref.removeprefix("@").lower()
        found = [u for u in self.users.values() if name in (u.name.lower(), u.real_name.lower(), u.real_name.split(" ")[0].lower())]
        found.sort(key=lambda u: (u.team_id != team_id, u.name.lower() != name))
        return found[0] if found else None

    def find_channel(self, ref: str) -> Channel | None:
        """A channel by id or by name (with or without #)."""
        if ref in self.channels:
            return self.channels[ref]
        name = ref.removeprefix("#")
        return next((c for c in self.channels.values() if name and c.name == name), None)

    def conversation(self, users: Iterable[str], team_id: str) -> tuple[Channel, bool]:
        """The im or mpim of exactly these users, and whether it was there already."""
        members = sorted(set(users))
        known = self._ims.get(frozenset(members))
        if known:
            return self.channels[known], True
        if len(members) <= 2:
            channel = Channel(self.ids.make("D0"), team_id, "", "im", dict.fromkeys(members), created=int(self.clock.now()))
        else:
            name = "mpdm-" + "--".join(self.users[m].name for m in members) + "-1"
            channel = Channel(self.ids.make("C0"), team_id, name, "mpim", dict.fromkeys(members), created=int(self.clock.now()))
        return self.add_channel(channel), False

    def join(self, channel: Channel, user_id: str, inviter: str = "") -> None:
        """Add a member and announce it."""
        if user_id not in channel.members:
            channel.members[user_id] = None
            self._announce(Change("joined", channel, {}, actor=user_id, detail=inviter))

    def install_of(self, channel: Channel) -> Install | None:
        """The app's installation that sees a channel."""
        return self.installs.get(channel.team_id)

    # -- messages ---------------------------------------------------------------------------------------------------------------------

    def post(self, channel: Channel, message: Json, *, quiet: bool = False) -> Json:
        """Store a new message. `ts` is set here; a `thread_ts` naming a reply is moved to its root, one naming nothing is dropped."""
        ts = message.get("ts") or self.clock.stamp()
        message = {"type": "message", **message, "ts": ts}
        root_ts: str | None = message.get("thread_ts")
        if root_ts and root_ts != ts:
            root: Json | None = channel.messages.get(root_ts)
            if root is None:
                message.pop("thread_ts")
            else:
                root_ts = str(root.get("thread_ts", root_ts))
                root = channel.messages.get(root_ts, root)
                message["thread_ts"] = root_ts
                message["parent_user_id"] = root.get("user", root.get("bot_id", ""))
                self._count_reply(channel, root_ts, message)
        channel.messages[ts] = message
        self._announce(Change("posted", channel, message, actor=message.get("user", ""), quiet=quiet))
        return message

    def _count_reply(self, channel: Channel, root_ts: str, reply: Json) -> None:
        """Keep the root's reply figures."""
        replies = channel.replies.setdefault(root_ts, [])
        replies.append(reply["ts"])
        root = channel.messages[root_ts]
        author = reply.get("user") or reply.get("bot_id", "")
        users = root.get("reply_users", [])
        if author not in users:
            users = [*users, author]
        channel.messages[root_ts] = {
            **root,
            "thread_ts": root_ts,
            "reply_count": len(replies),
            "reply_users_count": len(users),
            "latest_reply": reply["ts"],
            "reply_users": users,
            "is_locked": False,
            "subscribed": False,
        }

    def change(self, channel: Channel, ts: str, fields: Json, *, actor: str, quiet: bool = False, drop: tuple[str, ...] = ()) -> Json:
        """Replace fields of a message; the old version is kept by whoever holds it. `quiet` tells pages only."""
        previous = channel.messages[ts]
        message = {**previous, **fields}
        for key in drop:
            message.pop(key, None)
        channel.messages[ts] = message
        old = previous.get("blocks")
        if old and old is not message.get("blocks") and any(b["type"] in _CLICKABLE or "accessory" in b for b in old):
            self.past_blocks.setdefault((channel.id, ts), []).append(old)
        self._announce(Change("changed", channel, message, previous, actor, quiet=quiet))
        return message

    def delete(self, channel: Channel, ts: str, *, actor: str) -> None:
        """Delete a message. A root with replies stays as a tombstone; the last reply takes a tombstone with it."""
        previous = channel.messages[ts]
        if channel.replies.get(ts):
            kept: Json = {k: v for k, v in previous.items() if k in _KEPT_BY_TOMBSTONES}
            message = {
                **kept,
                "subtype": "tombstone",
                "text": TOMBSTONE,
                "user": SLACKBOT,
                "parent_user_id": SLACKBOT,
                "hidden": True,
                "is_locked": False,
                "subscribed": False,
            }
            channel.messages[ts] = message
            self._announce(Change("changed", channel, message, previous, actor))
            return
        del channel.messages[ts]
        root_ts = previous.get("thread_ts")
        if root_ts and root_ts != ts and root_ts in channel.messages:
            self._uncount_reply(channel, root_ts, ts)
        self._announce(Change("deleted", channel, previous, previous, actor))

    def _uncount_reply(self, channel: Channel, root_ts: str, ts: str) -> None:
        """Keep the root's reply figures after a reply is gone."""
        replies = channel.replies[root_ts]
        replies.remove(ts)
        root = dict(channel.messages[root_ts])
        if replies:
            users = list(dict.fromkeys(m.get("user") or m.get("bot_id", "") for m in (channel.messages[r] for r in replies)))
            root |= {"reply_count": len(replies), "reply_users": users, "reply_users_count": len(users), "latest_reply": replies[-1]}
        elif root.get("subtype") == "tombstone":
            del channel.messages[root_ts], channel.replies[root_ts]
            return
        else:
            del channel.replies[root_ts]
            for key in ("thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply", "is_locked", "subscribed"):
                root.pop(key, None)
        channel.messages[root_ts] = root

    def ephemeral(self, channel: Channel, message: Json, user_id: str) -> Json:
        """Show a message to one person only; it is not part of the channel's history."""
        message = {"type": "message", **message, "ts": self.clock.stamp(), "is_ephemeral": True, "ephemeral_to": user_id}
        channel.ephemerals.append(message)
        del channel.ephemerals[:-EPHEMERALS_KEPT]
        self._announce(Change("ephemeral", channel, message, actor=user_id))
        return message

    def change_ephemeral(self, channel: Channel, ts: str, fields: Json | None) -> bool:
        """Replace (or with None remove) an ephemeral message; False when there is none."""
        for at, message in enumerate(channel.ephemerals):
            if message["ts"] == ts:
                if fields is None:
                    del channel.ephemerals[at]
                    self._announce(Change("ephemeral_deleted", channel, message, actor=message["ephemeral_to"]))
                else:
                    channel.ephemerals[at] = {**message, **fields}
                    self._announce(Change("ephemeral_changed", channel, channel.ephemerals[at], actor=message["ephemeral_to"]))
                return True
        return False

    def react(self, channel: Channel, ts: str, name: str, user_id: str, *, remove: bool = False) -> bool:
        """Add or take back a reaction; False when there was nothing to do."""
        message = channel.messages[ts]
        reactions: list[dict[str, Any]] = [dict(r) for r in message.get("reactions", [])]
        entry = next((r for r in reactions if r["name"] == name), None)
        if (entry is not None and user_id in entry["users"]) is not remove:
            return False
        if entry is None:
            reactions.append({"name": name, "users": [user_id], "count": 1})
        else:
            users = [u for u in entry["users"] if u != user_id] if remove else [*entry["users"], user_id]
            entry.update(users=users, count=len(users))
            reactions = [r for r in reactions if r["count"]]
        changed = {**message, "reactions": reactions}
        if not reactions:
            changed.pop("reactions")
        channel.messages[ts] = changed
        self._announce(Change("reaction_removed" if remove else "reaction_added", channel, changed, message, user_id, name))
        return True

    def thread(self, channel: Channel, root_ts: str) -> list[Json]:
        """A thread's root and replies, oldest first."""
        root = channel.messages.get(root_ts)
        return ([root] if root else []) + [channel.messages[ts] for ts in channel.replies.get(root_ts, ())]

    def announce(self, change: Change) -> None:
        """Tell the listeners about something that happened outside these operations."""
        self._announce(change)

    def _announce(self, change: Change) -> None:
        for listener in self.listeners:
            listener(change)


def is_root(message: Json) -> bool:
    """Whether a message shows in the channel itself rather than only in a thread."""
    return message.get("thread_ts", message["ts"]) == message["ts"] or message.get("subtype") == "thread_broadcast"
