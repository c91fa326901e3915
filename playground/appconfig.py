"""What the one app of the workspace is: its name, scopes, subscriptions, slash commands and shortcuts.

The same facts a Slack app manifest holds. `AppConfig.from_manifest` reads a manifest as Slack would, so a bot's own manifest
file can be tried here before it is pasted into Slack: a scope or subscription missing there is missing here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DEFAULT_SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "commands",
    "emoji:read",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "pins:read",
    "reactions:read",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users.profile:read",
    "users:read",
    "users:read.email",
)
DEFAULT_EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: `command` starts with a slash; `should_escape` turns mentions in its text into `<@U1|name>`."""

    command: str
    description: str = ""
    usage_hint: str = ""
    should_escape: bool = False


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut of the app: `kind` is `global` or `message`."""

    name: str
    callback_id: str
    kind: str = "global"
    description: str = ""


@dataclass(frozen=True, slots=True)
class AppConfig:
    """The app installed in the workspace. With no `commands` listed, every slash command is passed on to the app."""

    app_id: str = "A01STEWARD"
    name: str = "Steward"
    bot_name: str = "steward"
    bot_user_id: str = "U01STEWARD"
    bot_id: str = "B01STEWARD"
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    events: tuple[str, ...] = DEFAULT_EVENTS
    commands: tuple[Command, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    agent: bool = True
    home_tab: bool = True
    messages_tab: bool = True
    client_id: str = "1000000001.1000000001"
    client_secret: str = ""  # made up at start when empty

    @classmethod
    def from_manifest(cls, manifest: dict[str, Any]) -> AppConfig:
        """Read a decoded app manifest (version 2). Raises `KeyError` when it has no `display_information.name`."""
        features = manifest.get("features", {})
        name = manifest["display_information"]["name"]
        home = features.get("app_home", {})
        kinds = {"message": "message", "global": "global"}
        return cls(
            name=name,
            bot_name=features.get("bot_user", {}).get("display_name", name).lower().replace(" ", "-"),
            scopes=tuple(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ())),
            events=tuple(manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", ())),
            commands=tuple(
                Command(c["command"], c.get("description", ""), c.get("usage_hint", ""), bool(c.get("should_escape", False)))
                for c in features.get("slash_commands", ())
            ),
            shortcuts=tuple(Shortcut(s["name"], s["callback_id"], kinds[s["type"]], s.get("description", "")) for s in features.get("shortcuts", ())),
            agent="agent_view" in features or "assistant_view" in features,
            home_tab=bool(home.get("home_tab_enabled", False)),
            messages_tab=bool(home.get("messages_tab_enabled", True)),
        )
