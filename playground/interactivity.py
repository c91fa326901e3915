"""What a person does with the app's buttons, menus, modals, shortcuts and commands: payloads, triggers and response URLs.

A `trigger_id` opens one modal within three seconds. A `response_url` takes five messages within thirty minutes. Payloads are sent through
`Delivery.request`, which waits for the app's acknowledgement.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from playground.clock import Clock, Ids
from playground.delivery import Answer, Delivery, Parcel
from playground.people import Channel, Install, Json, User
from playground.text import encode, escape
from playground.views import ViewError
from playground.world import World

TRIGGER_SECONDS, HOOK_SECONDS, HOOK_USES = 3.0, 1800.0, 5


@dataclass(slots=True)
class Trigger:
    """One permission to open a modal."""

    user_id: str
    expires: float
    used: bool = False


@dataclass(slots=True)
class Hook:
    """One response URL: where its answers go and how often it may still be used."""

    kind: str
    channel_id: str
    user_id: str
    message_ts: str
    thread_ts: str
    is_ephemeral: bool
    expires: float
    uses: int = 0


class Interactivity:
    """Builds payloads, keeps triggers and response URLs."""

    def __init__(self, world: World, delivery: Delivery, clock: Clock, ids: Ids, verification_token: str) -> None:
        self._world = world
        self._delivery = delivery
        self._clock = clock
        self._ids = ids
        self._token = verification_token
        self._triggers: dict[str, Trigger] = {}
        self.hooks: dict[str, Hook] = {}
        self.base_url = ""

    def trigger(self, user_id: str) -> str:
        """A fresh trigger id for what this person just did."""
        now = self._clock.now()
        if len(self._triggers) > 10_000:
            self._triggers = {k: t for k, t in self._triggers.items() if t.expires > now - 60}
        trigger_id = f"{int(now * 1000)}.{secrets.randbelow(10**10)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = Trigger(user_id, now + TRIGGER_SECONDS)
        return trigger_id

    def spend(self, trigger_id: str) -> str:
        """Use a trigger; the person it belongs to. Raises `ViewError` with the reason it cannot be used."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise ViewError("invalid_trigger_id")
        if trigger.used:
            raise ViewError("exchanged_trigger_id")
        if self._clock.now() > trigger.expires:
            raise ViewError("expired_trigger_id")
        trigger.used = True
        return trigger.user_id

    def hook(self, kind: str, channel: Channel, user_id: str, message: Json | None = None) -> str:
        """A new response URL."""
        hook_id = f"{channel.team_id}-{secrets.token_urlsafe(18)}"
        message = message or {}
        thread_ts = message.get("thread_ts", "") if message.get("thread_ts") != message.get("ts") else ""
        self.hooks[hook_id] = Hook(
            kind, channel.id, user_id, message.get("ts", ""), thread_ts, bool(message.get("is_ephemeral")), self._clock.now() + HOOK_SECONDS
        )
        if len(self.hooks) > 20_000:
            now = self._clock.now()
            self.hooks = {k: h for k, h in self.hooks.items() if h.expires > now}
        return f"{self.base_url}/hooks/{kind}/{hook_id}"

    # -- payloads ---------------------------------------------------------------------------------------------------------------------

    def _base(self, kind: str, user: User, install: Install) -> Json:
        team = self._world.teams[install.team_id]
        return {
            "type": kind,
            "team": {"id": team.id, "domain": team.domain},
            "enterprise": None,
            "is_enterprise_install": False,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
            "api_app_id": install.app_id,
            "token": self._token,
            "trigger_id": self.trigger(user.id),
        }

    @staticmethod
    def _channel(channel: Channel) -> Json:
        names = {"im": "directmessage", "group": "privategroup", "mpim": channel.name}
        return {"id": channel.id, "name": names.get(channel.kind, channel.name)}

    def message_action(self, user: User, install: Install, channel: Channel, message: Json, *, action: Json, state: Json) -> Json:
        """The `block_actions` payload for an element of a message."""
        ephemeral = bool(message.get("is_ephemeral"))
        container: Json = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": ephemeral}
        if message.get("thread_ts"):
            container["thread_ts"] = message["thread_ts"]
        payload = self._base("block_actions", user, install) | {
            "container": container,
            "channel": self._channel(channel),
            "state": state,
            "response_url": self.hook("actions", channel, user.id, message),
            "actions": [{**action, "action_ts": self._clock.stamp()}],
        }
        if not ephemeral:
            payload["message"] = message
        return payload

    def view_action(self, user: User, install: Install, view: Json, action: Json, state: Json) -> Json:
        """The `block_actions` payload for an element of a modal or App Home."""
        return self._base("block_actions", user, install) | {
            "container": {"type": "view", "view_id": view["id"]},
            "view": {**view, "state": state},
            "actions": [{**action, "action_ts": self._clock.stamp()}],
        }

    def view_event(self, kind: str, user: User, install: Install, view: Json, state: Json, *, is_cleared: bool = False) -> Json:
        """A `view_submission` or `view_closed` payload."""
        payload = self._base(kind, user, install) | {"view": {**view, "state": state}}
        if kind == "view_submission":
            payload["response_urls"] = []
        else:
            payload["is_cleared"] = is_cleared
            payload.pop("trigger_id")
        return payload

    def suggestion(self, user: User, install: Install, where: Json, *, block_id: str, action_id: str, value: str) -> Json:
        """A `block_suggestion` payload; `where` holds `view`, or `channel`, `message` and `container`."""
        payload = self._base("block_suggestion", user, install) | {"block_id": block_id, "action_id": action_id, "value": value, **where}
        payload.pop("trigger_id")
        return payload

    def shortcut(self, user: User, install: Install, callback_id: str, channel: Channel | None, message: Json | None) -> Json:
        """A global `shortcut`, or a `message_action` on a message."""
        payload = self._base("message_action" if message else "shortcut", user, install) | {"callback_id": callback_id, "action_ts": self._clock.stamp()}
        if message and channel:
            payload |= {
                "channel": self._channel(channel),
                "message": message,
                "message_ts": message["ts"],
                "response_url": self.hook("app", channel, user.id, {**message, "is_ephemeral": False}),
            }
        return payload

    def command(self, user: User, install: Install, channel: Channel, command: str, text: str, *, should_escape: bool) -> Json:
        """A slash command's fields."""
        team = self._world.teams[install.team_id]
        if should_escape:
            text = encode(text, self._named_user, self._named_channel)
        return {
            "token": self._token,
            "team_id": team.id,
            "team_domain": team.domain,
            "channel_id": channel.id,
            "channel_name": self._channel(channel)["name"],
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": install.app_id,
            "is_enterprise_install": "false",
            "response_url": self.hook("commands", channel, user.id),
            "trigger_id": self.trigger(user.id),
        }

    def _named_user(self, name: str) -> str | None:
        user = self._world.find_user(name)
        return f"{user.id}|{escape(user.name)}" if user else None

    def _named_channel(self, name: str) -> str | None:
        channel = self._world.find_channel(name)
        return channel.id if channel else None

    async def send(self, kind: str, payload: Json) -> Answer:
        """Send a payload of `kind` interactive or slash_commands and wait for its acknowledgement."""
        text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
        what = payload.get("type") or payload.get("command", "")
        return await self._delivery.request(Parcel(kind, self._ids.make("I0"), str(what), payload, text))


def find_element(blocks: list[Json], action_id: str, value: Any = None, block_id: str | None = None) -> tuple[Json, Json] | None:
    """The (block, element) with this action_id; `value` chooses among several."""
    found: tuple[Json, Json] | None = None
    for block in blocks:
        if block_id is not None and block.get("block_id") != block_id:
            continue
        candidates = list(block["elements"]) if block["type"] in ("actions", "context_actions") else []
        if block["type"] == "section" and "accessory" in block:
            candidates.append(block["accessory"])
        if block["type"] == "input":
            candidates.append(block["element"])
        for element in candidates:
            if element.get("action_id") == action_id:
                if value is None or element.get("value") == value:
                    return block, element
                found = found or (block, element)
    return found


def action_of(block: Json, element: Json, given: Json) -> Json:
    """The action object for an element: what the element says, and what the person chose (`given`)."""
    action: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"]}
    for name in ("text", "value", "style", "initial_option", "placeholder"):
        if name in element:
            action[name] = element[name]
    if element["type"] == "feedback_buttons":
        chosen = element["negative_button"] if given.get("value") == element["negative_button"]["value"] else element["positive_button"]
        action |= {"text": chosen["text"], "value": chosen["value"]}
    for name in (
        "value",
        "selected_option",
        "selected_options",
        "selected_user",
        "selected_users",
        "selected_conversation",
        "selected_conversations",
        "selected_channel",
        "selected_channels",
        "selected_date",
        "selected_time",
        "selected_date_time",
        "rich_text_value",
    ):
        if given.get(name) is not None:
            action[name] = given[name]
    return action
