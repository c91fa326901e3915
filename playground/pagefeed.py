"""From what happened to what pages show: the world's listener behind the feed."""

from __future__ import annotations

from playground.feed import Feed
from playground.people import Json
from playground.world import Change, World

_ROOT_FIELDS = frozenset({"posted", "deleted"})


class PageFeed:
    """Pushes each change to the pages of those who may see it."""

    def __init__(self, world: World, feed: Feed) -> None:
        self._world = world
        self._feed = feed

    def on_change(self, change: Change) -> None:
        """The world's listener."""
        self._feed.changed()
        if not self._feed.watched:
            return
        channel, message = change.channel, change.message
        kind = change.kind
        if kind == "joined":
            self._feed.push("channel", {"channel": channel.id}, [*channel.members])
        elif kind.startswith("ephemeral"):
            self._ephemeral(change)
        elif kind == "deleted":
            body: Json = {"channel": channel.id, "ts": message["ts"]}
            if message.get("thread_ts"):
                body["thread_ts"] = message["thread_ts"]
            self._feed.push("message_deleted", body, channel.members)
        else:
            name = "message" if kind == "posted" else "message_changed"
            self._feed.push(name, {"channel": channel.id, "message": {**message, "channel": channel.id}}, channel.members)
        if kind in _ROOT_FIELDS:
            self._root(change)

    def _root(self, change: Change) -> None:
        """A reply came or went: the root's figures changed."""
        root_ts = change.message.get("thread_ts")
        if root_ts and root_ts != change.message["ts"]:
            root = change.channel.messages.get(root_ts)
            if root is None:
                self._feed.push("message_deleted", {"channel": change.channel.id, "ts": root_ts}, change.channel.members)
            else:
                self._feed.push("message_changed", {"channel": change.channel.id, "message": {**root, "channel": change.channel.id}}, change.channel.members)

    def _ephemeral(self, change: Change) -> None:
        message = change.message
        body: Json = {"channel": change.channel.id, "message": {**message, "channel": change.channel.id}}
        name = {"ephemeral": "message", "ephemeral_changed": "message_changed"}.get(change.kind)
        if name is None:
            name, body = "message_deleted", {"channel": change.channel.id, "ts": message["ts"]}
        self._feed.push(name, body, [change.actor])
