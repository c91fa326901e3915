"""From what happened to what the app hears: events, their envelopes, and who is subscribed.

A mention in a channel becomes two events, `app_mention` and `message`, with different ids and the same `ts`, in an order Slack does not
promise. A direct message becomes one. Edits, deletions and the app's own messages are sent too; telling them apart is the app's work.
"""

from __future__ import annotations

import json

from playground.delivery import Delivery, Parcel
from playground.people import Channel, Install, Json
from playground.world import Change, World

SUBSCRIPTION = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}
HISTORY_SCOPE = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
_NOT_IN_EVENTS = ("reply_count", "reply_users", "reply_users_count", "latest_reply", "is_locked", "subscribed", "reactions")


class AppEvents:
    """Listens to the world and sends the app its events."""

    def __init__(self, world: World, delivery: Delivery, verification_token: str) -> None:
        self._world = world
        self._delivery = delivery
        self._token = verification_token
        self._subscribed = frozenset(world.app.events)
        self._scopes = frozenset(world.app.scopes)

    def subscribed(self, event: str) -> bool:
        """Whether the app asked for this event type."""
        return event in self._subscribed

    def hears(self, channel: Channel, install: Install) -> bool:
        """Whether the app gets `message` events of a channel."""
        kind = channel.kind
        return install.bot_user_id in channel.members and SUBSCRIPTION[kind] in self._subscribed and HISTORY_SCOPE[kind] in self._scopes

    def on_change(self, change: Change) -> None:
        """The world's listener."""
        if change.quiet or change.kind.startswith("ephemeral"):
            return
        install = self._world.install_of(change.channel)
        if install is None or install.bot_user_id not in change.channel.members:
            return
        if change.kind == "posted":
            self._posted(change, install)
        elif change.kind == "changed":
            self._changed(change, install)
        elif change.kind == "deleted":
            self._deleted(change, install)
        elif change.kind in ("reaction_added", "reaction_removed"):
            self._reaction(change, install)
        elif change.kind == "joined":
            self._joined(change, install)

    # -- one method per kind of change ------------------------------------------------------------------------------------------------

    def _posted(self, change: Change, install: Install) -> None:
        channel, message = change.channel, change.message
        parcels = []
        if self._is_mention(message, channel, install):
            parcels.append(self.parcel(install, self._mention(message, channel), channel))
        if self.hears(channel, install):
            event = {**message, "channel": channel.id, "channel_type": channel.kind, "event_ts": message["ts"]}
            parcels.append(self.parcel(install, event, channel))
        if parcels:
            self._delivery.events(parcels)

    def _is_mention(self, message: Json, channel: Channel, install: Install) -> bool:
        """Whether a message mentions the app, as Slack counts it: never in direct messages, never its own."""
        if channel.kind in ("im", "mpim") or message.get("user") == install.bot_user_id or "app_mention" not in self._subscribed:
            return False
        text = message.get("text", "")
        return f"<@{install.bot_user_id}>" in text or f"<@{install.bot_user_id}|" in text

    @staticmethod
    def _mention(message: Json, channel: Channel) -> Json:
        return {**message, "type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}

    def _changed(self, change: Change, install: Install) -> None:
        channel, message, previous = change.channel, change.message, change.previous or {}
        parcels = []
        if "edited" in message and self._is_mention(message, channel, install) and not self._is_mention(previous, channel, install):
            parcels.append(self.parcel(install, self._mention(message, channel), channel))
        if self.hears(channel, install):
            ts = self._world.clock.stamp()
            event = {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": channel.id,
                "channel_type": channel.kind,
                "ts": ts,
                "event_ts": ts,
                "message": message,
                "previous_message": previous,
            }
            parcels.append(self.parcel(install, event, channel))
        if parcels:
            self._delivery.events(parcels)

    def _deleted(self, change: Change, install: Install) -> None:
        if self.hears(change.channel, install):
            ts = self._world.clock.stamp()
            self.send(
                install,
                {
                    "type": "message",
                    "subtype": "message_deleted",
                    "hidden": True,
                    "channel": change.channel.id,
                    "channel_type": change.channel.kind,
                    "ts": ts,
                    "event_ts": ts,
                    "deleted_ts": change.message["ts"],
                    "previous_message": change.previous,
                },
                change.channel,
            )

    def _reaction(self, change: Change, install: Install) -> None:
        if change.kind in self._subscribed and "reactions:read" in self._scopes:
            message = change.message
            self.send(
                install,
                {
                    "type": change.kind,
                    "user": change.actor,
                    "reaction": change.detail,
                    "item": {"type": "message", "channel": change.channel.id, "ts": message["ts"]},
                    "item_user": message.get("user", ""),
                    "event_ts": self._world.clock.stamp(),
                },
                change.channel,
            )

    def _joined(self, change: Change, install: Install) -> None:
        if "member_joined_channel" in self._subscribed and change.channel.kind in ("channel", "group"):
            event = {
                "type": "member_joined_channel",
                "user": change.actor,
                "channel": change.channel.id,
                "channel_type": change.channel.id[:1],
                "team": change.channel.team_id,
                "event_ts": self._world.clock.stamp(),
            }
            if change.detail:
                event["inviter"] = change.detail
            self.send(install, event, change.channel)

    # -- envelopes --------------------------------------------------------------------------------------------------------------------

    def parcel(self, install: Install, event: Json, channel: Channel | None = None) -> Parcel:
        """Wrap an inner event in Slack's envelope, ready to send. The text is made now, so later changes do not show in it."""
        for key in _NOT_IN_EVENTS:
            if key in event:
                event.pop(key)
        event_id = self._world.ids.make("Ev0")
        payload: Json = {
            "token": self._token,
            "team_id": install.team_id,
            "enterprise_id": None,
            "context_team_id": install.team_id,
            "context_enterprise_id": None,
            "api_app_id": install.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(self._world.clock.now()),
            "authorizations": [
                {"enterprise_id": None, "team_id": install.team_id, "user_id": install.bot_user_id, "is_bot": True, "is_enterprise_install": False}
            ],
            "is_ext_shared_channel": channel is not None and channel.is_ext_shared,
            "event_context": f"4-{event_id}",
        }
        kind = event["type"] + (f".{event['subtype']}" if "subtype" in event else "")
        return Parcel("events_api", event_id, kind, payload, json.dumps(payload, separators=(",", ":"), ensure_ascii=False))

    def send(self, install: Install, event: Json, channel: Channel | None = None) -> str:
        """Send one event; returns its id."""
        parcel = self.parcel(install, event, channel)
        self._delivery.events([parcel])
        return parcel.id

    def send_envelope(self, envelope: Json) -> str:
        """Send a whole envelope as it is."""
        event_id = str(envelope.get("event_id", ""))
        event = envelope.get("event")
        kind = str(event.get("type", "")) if isinstance(event, dict) else str(envelope.get("type", ""))
        self._delivery.events([Parcel("events_api", event_id, kind, envelope, json.dumps(envelope))])
        return event_id
