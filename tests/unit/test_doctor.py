"""`steward doctor` against real servers on loopback, sound and broken."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from redis.asyncio import Redis

from bot.doctor import examine, main
from bot.manifest import SCOPES
from bot.settings import Settings, load_settings
from memory.embedded import open_embedded
from memory.health import explain_store, inspect_store
from memory.longterm.collection import NAME
from memory.longterm.opening import open_store
from memory.longterm.store import WORDS_ONLY

OK = {"ok": True, "user": "steward", "team": "Acme", "url": "wss://127.0.0.1/"}


@contextlib.asynccontextmanager
async def answering(replies: dict[str, web.Response]) -> AsyncIterator[str]:
    """A server that gives these replies by path, for a right token only; yields its address."""

    async def reply(request: web.Request) -> web.Response:
        assert request.headers["Authorization"].startswith("Bearer ")
        return replies[request.path]

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", reply)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def json(body: Any, *, scopes: set[str] | None = None, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, headers={"x-oauth-scopes": ",".join(scopes)} if scopes is not None else None)


def settings(address: str, home: Path, **more: str) -> Settings:
    slack = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": f"{address}/api"}
    model = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "small"}
    return load_settings({"STEWARD_HOME": str(home)} | slack | model | more)


async def findings(chosen: Settings) -> dict[str, tuple[bool, str]]:
    return {finding.what: (finding.ok, finding.text) async for finding in examine(chosen)}


async def test_when_all_is_well_every_line_says_so(tmp_path: Path) -> None:
    replies = {
        "/api/auth.test": json(OK, scopes=set(SCOPES)),
        "/api/apps.connections.open": json(OK),
        "/v1/models": json({"data": [{"id": "small"}, {"id": "second"}]}),
    }
    async with answering(replies) as address:
        found = await findings(settings(address, tmp_path, STEWARD_MODEL_FALLBACKS="second"))
    assert set(found) == {"settings", "data folder", "store", "memory", "tools", "Slack", "Socket Mode", "model"}
    assert all(ok for ok, _ in found.values()), found


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('[tools]\ndeny = ["cancel_ordr"]', "cancel_ordr"),
        ('[mcp.desk]\ncommand = ["desk"]\nenv = { KEY = "$NO_SUCH_NAME" }', "NO_SUCH_NAME"),
        ('[[arguments]]\ntool = "*"\ncheck = "no_such_module:rule"', "no_such_module"),
    ],
)
async def test_what_the_configuration_says_of_tools_is_looked_at(tmp_path: Path, config: str, said: str) -> None:
    (tmp_path / "steward.toml").write_text(config, encoding="utf-8")
    async with answering({}) as address:
        found = await findings(settings(address, tmp_path, STEWARD_CONFIG=str(tmp_path / "steward.toml")))
    ok, text = found["tools"]
    assert not ok
    assert said in text


async def test_what_is_broken_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    replies = {
        "/api/auth.test": json(OK, scopes=set(SCOPES) - {"users:read"}),
        "/api/apps.connections.open": json({"ok": False, "error": "not_allowed_token_type"}),
        "/v1/models": json({"data": [{"id": "large"}]}),
    }
    async with answering(replies) as address:
        found = await findings(settings(address, tmp_path / "file", REDIS_URL="redis://127.0.0.1:1/0"))
    assert [what for what, (ok, _) in found.items() if not ok] == ["data folder", "store", "Slack", "Socket Mode", "model"]
    assert "STEWARD_HOME" in found["data folder"][1]
    assert "REDIS_URL" in found["store"][1]
    assert "users:read" in found["Slack"][1]
    assert "connections:write" in found["Socket Mode"][1]
    assert "OPENAI_MODEL" in found["model"][1]


async def test_a_refused_token_and_a_refused_key_are_told_apart_from_silence(tmp_path: Path) -> None:
    replies = {
        "/api/auth.test": json({"ok": False, "error": "invalid_auth"}),
        "/api/apps.connections.open": web.Response(text="<html>a proxy's page</html>"),
        "/v1/models": json({}, status=401),
    }
    async with answering(replies) as address:
        found = await findings(settings(address, tmp_path))
        assert "invalid_auth" in found["Slack"][1]
        assert "no answer" in found["Socket Mode"][1]
        assert "OPENAI_API_KEY" in found["model"][1]
    found = await findings(settings(address, tmp_path))  # nothing listens there any more
    assert "does not answer" in found["Slack"][1]
    assert "does not answer" in found["model"][1]


async def test_a_server_that_lists_no_models_is_no_failure(tmp_path: Path) -> None:
    async with answering({"/v1/models": json({"object": "list"})}) as address:
        chosen = load_settings({"STEWARD_HOME": str(tmp_path), "OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "small"})
        assert (await findings(chosen))["model"][0]


async def test_a_store_that_evicts_or_forgets_is_a_failure(tmp_path: Path) -> None:
    store = await open_embedded(tmp_path / "store")
    try:
        health = await inspect_store(store.url)
        assert (health.product, health.eviction, health.appendonly) == ("Valkey", "noeviction", True)
        assert health.complaints() == []
        async with Redis.from_url(store.url) as client:
            await client.config_set("maxmemory-policy", "allkeys-lru")
            await client.config_set("appendonly", "no")
        found = await findings(load_settings({"STEWARD_HOME": str(tmp_path), "REDIS_URL": store.url}))
    finally:
        await store.close()
    assert not found["store"][0]
    assert "allkeys-lru" in found["store"][1]
    assert "appendonly yes" in found["store"][1]
    health_after, reason = await explain_store(store.url)
    assert health_after is None
    assert reason


def test_the_exit_code_and_the_last_line_tell_the_whole(tmp_path: Path) -> None:
    lines: list[str] = []
    assert main(load_settings({"STEWARD_HOME": str(tmp_path)}), write=lines.append) == 0
    assert lines[-1] == "All is well."
    assert main(load_settings({"STEWARD_HOME": str(tmp_path), "REDIS_URL": "redis://127.0.0.1:1/0"}), write=lines.append) == 1
    assert lines[-1] == "1 to mend."


async def test_looking_at_the_memories_makes_none_and_reads_those_there_are(tmp_path: Path) -> None:
    chosen = load_settings({"STEWARD_HOME": str(tmp_path), "STEWARD_EMBEDDER": "none"})
    assert "first start" in (await findings(chosen))["memory"][1]
    assert not (tmp_path / NAME).exists()
    store = open_store(tmp_path, None, model=WORDS_ONLY, size=0)
    await store.start()
    assert "in use by a bot" in (await findings(chosen))["memory"][1]
    await store.close()
    assert "0 memories" in (await findings(chosen))["memory"][1]
    (tmp_path / NAME / "store.json").write_text("{", encoding="utf-8")
    assert not (await findings(chosen))["memory"][0]
