"""The Slack app's manifest: what Steward asks a workspace for, each with the reason.

This is the one place it is written down; `manifest.yml` is `steward manifest`'s output, and a test holds both equal to
the events the edge listens to and the Web API methods the bot calls. Asking for less is a change here and in the code.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import yaml

EVENTS: Final = {
    "app_mention": "someone mentions the bot in a channel",
    "message.channels": "follow-ups in a public channel's thread, without a new mention",
    "message.groups": "the same in private channels",
    "message.im": "direct messages",
    "message.mpim": "group direct messages",
    "app_home_opened": "the Home tab is drawn when it is opened",
    "agent_session_stopped": "Slack's own stop button",
    "app_uninstalled": "what is remembered of the workspace is deleted",
}

SCOPES: Final = {
    "app_mentions:read": "receive mentions",
    "assistant:write": "show “is thinking…”, and hear the stop button",
    "channels:history": "read the thread it is asked in; search channels that it and the asking person are both in",
    "channels:read": "find and list channels, and check that the person is in them",
    "chat:write": "answer, and keep its own messages up to date",
    "commands": "/steward and /memory",
    "files:read": "see which files came with a message",
    "files:write": "send a person the export of their memories",
    "groups:history": "read the thread, in private channels it was invited to",
    "groups:read": "check membership, in private channels it was invited to",
    "im:history": "read direct messages to it",
    "im:read": "tell a direct message from a channel",
    "im:write": "send a person the export of their memories in their direct messages",
    "mpim:history": "read group direct messages it is in",
    "mpim:read": "check membership of group direct messages",
    "usergroups:read": "approvals reserved for a user group",
    "users:read": "names, timezones and languages; who is a guest",
}

COMMAND: Final = "/steward"
MEMORY_COMMAND: Final = "/memory"
SHORTCUT: Final = {
    "name": "What Steward holds",
    "type": "message",
    "callback_id": "steward_context",
    "description": "What Steward remembers of this message's thread",
}
"""In the menu of every message: what is held about its thread."""


class ManifestError(Exception):
    """The address given for HTTP mode cannot be used."""


def build(public_url: str | None = None) -> dict[str, Any]:
    """The manifest as Slack's schema (v2) has it: for Socket Mode, or for HTTP under `public_url` (`https://host[/path]`).

    Raises `ManifestError` when `public_url` is not an https address; Slack takes no other.
    """
    command: dict[str, Any] = {
        "command": COMMAND,
        "description": "Help, what I remember of a thread, and what you allowed",
        "usage_hint": "help | status | context | reset | grants | revoke | memory stats",
        "should_escape": True,
    }
    memory: dict[str, Any] = {
        "command": MEMORY_COMMAND,
        "description": "What I remember about you: see, change, forget",
        "usage_hint": "search | add | forget | why | history | export | pause | help",
        "should_escape": True,
    }
    events: dict[str, Any] = {"bot_events": sorted(EVENTS)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if public_url is not None:
        endpoint = _endpoint(public_url)
        command["url"] = memory["url"] = endpoint
        events["request_url"] = endpoint
        interactivity["request_url"] = endpoint
    return {
        "display_information": {
            "name": "Steward",
            "description": "Answers in the thread, uses tools, and asks before it changes anything",
            "background_color": "#1f2937",
        },
        "features": {
            "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
            "bot_user": {"display_name": "Steward", "always_online": True},
            "agent_view": {
                "agent_description": "Mention me in a thread or write to me here. I look things up with tools, and ask with a button before I change anything.",
                "suggested_prompts": [
                    {"title": "What can you do?", "message": "What can you do?"},
                    {"title": "你能做什么？", "message": "你能做什么？"},
                ],
            },
            "slash_commands": [command, memory],
            "shortcuts": [dict(SHORTCUT)],
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": public_url is None,
            "token_rotation_enabled": False,
        },
    }


def render(public_url: str | None = None) -> str:
    """The manifest as YAML, ready to paste into “Create an app → From a manifest”. Raises `ManifestError`."""
    body: str = yaml.safe_dump(build(public_url), sort_keys=False, allow_unicode=True, width=160)
    return "# Written by `steward manifest`; change bot/manifest.py instead.\n" + body


def _endpoint(public_url: str) -> str:
    parts = urlsplit(public_url)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise ManifestError(f"{public_url} cannot be used: Slack needs an address such as https://steward.example.com.")
    base = public_url.rstrip("/")
    return base if base.endswith("/slack/events") else f"{base}/slack/events"
