"""Keeping the workspace across restarts, a second workspace, installation by OAuth, waiting without polling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from playground import seed
from playground.appconfig import AppConfig
from tests.contracts.playground_kit import client_of, connected, error_of, opened, section

Json = dict[str, Any]


async def test_a_restart_keeps_messages_people_files_homes_and_secrets(tmp_path: Path) -> None:
    path = tmp_path / "state" / "workspace.json"
    async with opened(state_path=path) as pg:
        root = await pg.say("alice", "#general", "root")
        await pg.say("mei", "#general", "回复", thread_ts=root)
        await client_of(pg).chat_startStream(
            channel=seed.GENERAL, thread_ts=root, markdown_text="half", recipient_team_id=pg.team_id, recipient_user_id=seed.ALICE
        )
        await client_of(pg).views_publish(user_id=seed.ALICE, view={"type": "home", "blocks": [section("Home")]})
        file_id = await pg.upload("alice", "a.txt", b"\x00\xff")
        secrets = (pg.bot_token, pg.app_token, pg.signing_secret)
        group = await pg.open_dm("alice", "mei", "bruno")
    assert path.stat().st_mode & 0o077 == 0

    async with opened(state_path=path) as pg:
        assert (pg.bot_token, pg.app_token, pg.signing_secret) == secrets
        texts = [(m["text"], m.get("streaming_state")) for m in pg.messages("#general", root)]
        assert texts == [("root", None), ("回复", None), ("half", "errored")]
        home = pg.home("alice")
        assert home is not None
        assert home["blocks"][0]["text"]["text"] == "Home"
        assert pg.core.files.files[file_id].content == b"\x00\xff"
        assert await pg.open_dm("alice", "mei", "bruno") == group
        assert await pg.say("alice", "#general", "later") > root
        assert (await client_of(pg).auth_test())["ok"]


async def test_changes_are_written_soon_without_a_stop(tmp_path: Path) -> None:
    path = tmp_path / "workspace.json"
    async with opened(state_path=path) as pg:
        await pg.say("alice", "#general", "kept")
        snapshot = pg._snapshot
        assert snapshot is not None
        assert snapshot._timer is not None
        snapshot.write()
        kept = json.loads(path.read_text())
    general = next(c for c in kept["channels"] if c["id"] == seed.GENERAL)
    assert [m["text"] for m in general["messages"].values()] == ["kept"]


async def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "workspace.json"
    path.write_text('{"version": 99}')
    with pytest.raises(ValueError, match="not a playground state"):
        async with opened(state_path=path):
            """Never reached."""


async def test_a_second_workspace_has_its_own_people_bot_and_token() -> None:
    bodies: list[Json] = []

    def register(app: AsyncApp) -> None:
        @app.event("app_mention")
        async def mention(body: Json) -> None:
            bodies.append(body)

    async with connected("socket", register) as pg:
        token = pg.add(
            teams=[{"id": "T09SECOND", "name": "Second"}],
            users=[{"id": "U09OLGA", "team_id": "T09SECOND", "name": "olga", "real_name": "Olga Ruiz"}],
        )["T09SECOND"]
        install = pg.core.world.installs["T09SECOND"]
        pg.add(channels=[{"id": "C09ROOM", "team_id": "T09SECOND", "name": "room", "members": ["U09OLGA", install.bot_user_id]}])
        second = client_of(pg, token)
        assert (await second.auth_test())["team_id"] == "T09SECOND"
        assert (await error_of(second.chat_postMessage(channel=seed.GENERAL, text="x")))["error"] == "channel_not_found"
        assert (await error_of(client_of(pg).conversations_info(channel="C09ROOM")))["error"] == "channel_not_found"
        await pg.say("olga", "#room", f"<@{install.bot_user_id}> hi")
        await pg.wait_for(lambda: bool(bodies))

    assert (bodies[0]["team_id"], bodies[0]["authorizations"][0]["user_id"]) == ("T09SECOND", install.bot_user_id)


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # the SDK uses it
async def test_installation_by_oauth_gives_the_bot_token_once() -> None:
    async with opened() as pg, aiohttp.ClientSession() as session:
        app = pg.app_config
        params = {"client_id": app.client_id, "state": "s1", "redirect_uri": "http://127.0.0.1:1/slack/oauth_redirect"}
        async with session.get(f"{pg.url}/oauth/v2/authorize", params=params, allow_redirects=False) as response:
            target = urlsplit(response.headers["Location"])
        answer = parse_qs(target.query)
        assert answer["state"] == ["s1"]
        client = client_of(pg, "")
        wrong = client.oauth_v2_access(client_id=app.client_id, client_secret="wrong", code=answer["code"][0])
        assert (await error_of(wrong))["error"] == "bad_client_secret"
        granted = await client.oauth_v2_access(client_id=app.client_id, client_secret=app.client_secret, code=answer["code"][0])
        assert (granted["access_token"], granted["bot_user_id"]) == (pg.bot_token, pg.bot_user_id)
        again = client.oauth_v2_access(client_id=app.client_id, client_secret=app.client_secret, code=answer["code"][0])
        assert (await error_of(again))["error"] == "invalid_code"


async def test_waiting_ends_with_a_timeout_error() -> None:
    async with opened() as pg:
        with pytest.raises(TimeoutError):
            await pg.wait_for(lambda: False, 0.01)


def test_an_app_is_described_by_its_manifest() -> None:
    config = AppConfig.from_manifest(
        {
            "display_information": {"name": "Helper"},
            "features": {"bot_user": {"display_name": "Help Bot"}, "slash_commands": [{"command": "/help", "should_escape": True}], "agent_view": {}},
            "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            "settings": {"event_subscriptions": {"bot_events": ["app_mention"]}},
        }
    )

    assert (config.name, config.bot_name, config.scopes, config.events, config.agent) == ("Helper", "help-bot", ("chat:write",), ("app_mention",), True)
    assert config.commands[0].should_escape
