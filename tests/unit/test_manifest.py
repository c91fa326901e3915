"""The manifest asks for exactly what the code uses, no scope more, and is legal for Slack."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import edge
from bot.manifest import COMMAND, EVENTS, MEMORY_COMMAND, SCOPES, ManifestError, build, render
from bot.slack_methods import METHODS_USED

ROOMS = ("channels", "groups", "im", "mpim")

SCOPE_OF_EVENT: Mapping[str, set[str]] = {
    "app_mention": {"app_mentions:read"},
    "message.channels": {"channels:history"},
    "message.groups": {"groups:history"},
    "message.im": {"im:history"},
    "message.mpim": {"mpim:history"},
    "app_home_opened": set(),
    "agent_session_stopped": {"assistant:write"},
    "app_uninstalled": set(),
}
"""From Slack's documentation: what must be granted for an event to arrive."""

BESIDE = {
    "commands": "the slash commands",
    "files:read": "without it Slack leaves the files out of message events",
}
"""Scopes that no method call and no event alone explains."""


def listened_to() -> set[str]:
    """The edge's events under the manifest's names: `message` arrives from four kinds of rooms, each asked for by itself."""
    used = set(edge.EVENTS_USED)
    return used - {"message"} | {f"message.{room}" for room in ROOMS if "message" in used}


def scopes_of(scope: str) -> set[str]:
    """The scopes behind a method's: history and membership are granted for each kind of room by itself."""
    kind, _, right = scope.partition(":")
    if kind == "channels" and right in {"history", "read"}:
        return {f"{room}:{right}" for room in ROOMS}
    return {scope} if scope else set()


def test_the_file_is_what_the_command_prints() -> None:
    assert (Path(__file__).parents[2] / "manifest.yml").read_text(encoding="utf-8") == render()


def test_the_events_asked_for_are_the_events_listened_to() -> None:
    assert set(EVENTS) == listened_to()


def test_the_scopes_asked_for_are_the_scopes_used() -> None:
    for_events = set().union(*(SCOPE_OF_EVENT[event] for event in listened_to()))
    for_methods = set().union(*(scopes_of(scopes) for scopes in METHODS_USED.values()))
    assert set(SCOPES) == for_events | for_methods | set(BESIDE)


def test_every_scope_and_event_has_its_reason() -> None:
    assert all(reason for reason in [*SCOPES.values(), *EVENTS.values()])


def test_socket_mode_needs_no_address_and_http_mode_has_it_everywhere() -> None:
    socket, http = build(), build("https://steward.example.com/")
    assert socket["settings"]["socket_mode_enabled"] is True
    assert "://" not in render()
    endpoint = "https://steward.example.com/slack/events"
    assert http["settings"]["socket_mode_enabled"] is False
    assert http["settings"]["event_subscriptions"]["request_url"] == endpoint
    assert http["settings"]["interactivity"]["request_url"] == endpoint
    assert [command["url"] for command in http["features"]["slash_commands"]] == [endpoint, endpoint]


def test_the_full_address_may_be_given_too() -> None:
    assert build("https://h.example/slack/events") == build("https://h.example")


@pytest.mark.parametrize("address", ["http://h.example", "h.example", "", "https://", "https://h.example/?x=1"])
def test_an_address_slack_would_refuse_is_refused_here(address: str) -> None:
    with pytest.raises(ManifestError, match="https"):
        build(address)


def test_it_stays_within_slacks_limits() -> None:
    manifest: dict[str, Any] = yaml.safe_load(render("https://steward.example.com"))
    about, features = manifest["display_information"], manifest["features"]
    assert set(manifest) == {"display_information", "features", "oauth_config", "settings"}
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert len(features["bot_user"]["display_name"]) <= 80
    assert len(features["agent_view"]["agent_description"]) <= 300
    assert len(features["agent_view"]["suggested_prompts"]) <= 4
    assert "assistant_view" not in features
    assert [command["command"] for command in features["slash_commands"]] == [COMMAND, MEMORY_COMMAND]
    for command in features["slash_commands"]:
        assert command["command"].startswith("/")
        assert len(command["command"]) <= 32
        assert len(command["description"]) <= 2_000
        assert len(command["usage_hint"]) <= 1_000
