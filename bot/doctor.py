"""`steward doctor`: whether everything Steward needs is there, and as it should be.

Each check is one line, `ok` or `FAIL` with what to do about it, and none of them changes anything: the data folder is
probed with a temporary file, Slack is asked who we are, the model's server for its list of models.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import aiohttp

from bot.guardrails import Guardrails
from bot.manifest import SCOPES
from bot.mcp_config import McpConfigError, servers_from
from bot.memory_store import MEMORY_TOOLS
from bot.settings import Settings, SettingsError
from memory.health import explain_store
from tools.registry import Registry
from tools.tool import ToolLoadError

PATIENCE = aiohttp.ClientTimeout(total=10)
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `text` holds the remedy when it failed."""

    what: str
    ok: bool
    text: str

    def __str__(self) -> str:
        """The line a person sees."""
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.what}: {self.text}"


def main(settings: Settings, *, write: Callable[[str], object] | None = None) -> int:
    """Run all checks and print their lines. 0 when all are ok, else 1."""
    say = write if write is not None else print
    return asyncio.run(_examine(settings, say))


async def _examine(settings: Settings, say: Callable[[str], object]) -> int:
    failed = 0
    async for finding in examine(settings):
        say(str(finding))
        failed += not finding.ok
    say("All is well." if not failed else f"{failed} to mend.")
    return 1 if failed else 0


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Every check in turn."""
    modes = {"playground": "the playground (no Slack settings)", "socket": "Slack over Socket Mode", "http": f"Slack over HTTP on port {settings.port}"}
    yield Finding("settings", ok=True, text=modes[settings.mode])
    yield check_home(settings)
    yield await check_store(settings)
    yield check_tools(settings)
    yield await check_memory(settings)
    async with aiohttp.ClientSession(timeout=PATIENCE, trust_env=True) as http:
        if settings.mode != "playground":
            yield await check_slack(settings, http)
        if settings.mode == "socket":
            yield await check_socket_mode(settings, http)
        yield await check_model(settings, http)


def check_home(settings: Settings) -> Finding:
    """The data folder can be made and written."""
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.home):
            pass
    except OSError as error:
        return Finding("data folder", ok=False, text=f"{settings.home} cannot be written ({error.strerror}): mend its rights, or set STEWARD_HOME.")
    return Finding("data folder", ok=True, text=f"{settings.home} is writable")


def check_tools(settings: Settings) -> Finding:
    """Every tool can be loaded, and what `STEWARD_CONFIG` says about tools and MCP servers means something."""
    try:
        registry = Registry.load(("tools.builtin", *((MEMORY_TOOLS,) if settings.memory == "on" else ()), *settings.tools))
        rules = Guardrails.load(settings.policies)
        servers = servers_from(settings.policies.mcp, os.environ)
    except ToolLoadError as error:
        return Finding("tools", ok=False, text=str(error))
    except McpConfigError as error:
        return Finding("tools", ok=False, text=f"STEWARD_CONFIG: {error}")
    wrong = rules.mistakes(registry)
    if wrong:
        return Finding("tools", ok=False, text=f"STEWARD_CONFIG: {wrong[0]}: check the spelling.")
    beside = f", and {len(servers)} MCP servers (`steward mcp list` looks at them)" if servers else ""
    return Finding("tools", ok=True, text=f"{len(registry)} can be used{beside}")


async def check_store(settings: Settings) -> Finding:
    """The store answers, is recent enough and drops nothing. The embedded one is made right at every start."""
    if settings.redis_url is None:
        return Finding("store", ok=True, text="embedded, started with the bot (REDIS_URL is not set)")
    health, reason = await explain_store(settings.redis_url.get_secret_value())
    if health is None:
        return Finding("store", ok=False, text=f"no answer ({reason}): start it, or mend REDIS_URL.")
    complaints = health.complaints()
    if complaints:
        return Finding("store", ok=False, text=" ".join(complaints))
    return Finding("store", ok=True, text=f"{health.product} {health.version}, {health.eviction or 'eviction not told'}")


async def check_memory(settings: Settings) -> Finding:
    """The store of memories opens with the model that is set, or is in use by a bot that runs here."""
    if settings.memory == "off":
        return Finding("memory", ok=True, text="off: nothing is kept of anybody beyond a thread (STEWARD_MEMORY)")
    from bot.embedder_choice import Chosen  # noqa: PLC0415 - loads numpy
    from bot.memory_store import memory_store  # noqa: PLC0415
    from memory.embedder_cache import NoVectorsError  # noqa: PLC0415
    from memory.longterm.collection import NAME  # noqa: PLC0415
    from memory.longterm.store import StoreDown, StoreInUse  # noqa: PLC0415
    from memory.longterm.store import StoreError as MemoryStoreError  # noqa: PLC0415

    try:
        embedder = Chosen(settings)
        try:
            store = await memory_store(settings, embedder)
            if not settings.qdrant_url and not (settings.home / NAME / "store.json").exists():
                return Finding("memory", ok=True, text=f"embedded, made at the first start, found by {store.model}")
            await store.start()
            try:
                count = (await store.stats())["memory"]
            finally:
                await store.close()
        finally:
            await embedder.close()
    except StoreInUse:
        return Finding("memory", ok=True, text="embedded, in use by a bot that runs on this data folder")
    except (MemoryStoreError, SettingsError, NoVectorsError) as error:
        return Finding("memory", ok=False, text=f"{error}")
    except OSError as error:
        return Finding("memory", ok=False, text=f"{error.filename or settings.home} cannot be read ({error.strerror or error}): mend its rights.")
    except StoreDown as error:
        return Finding("memory", ok=False, text=f"no answer ({error}): start the server, or mend QDRANT_URL. The bot runs without it, and says so.")
    where = "a Qdrant server" if settings.qdrant_url else "embedded"
    return Finding("memory", ok=True, text=f"{where}, {count:,.0f} memories, found by {store.model}")


async def check_slack(settings: Settings, http: aiohttp.ClientSession) -> Finding:
    """Slack knows the bot token, and it carries every scope of the manifest."""
    assert settings.slack_bot_token is not None  # noqa: S101 - a mode other than the playground has one
    try:
        answer, scopes = await _ask_slack(http, settings.slack_api_url, "auth.test", settings.slack_bot_token.get_secret_value())
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return Finding(
            "Slack", ok=False, text=f"{settings.slack_api_url} does not answer ({type(error).__name__}): check the network, a proxy, or SLACK_API_URL."
        )
    if not answer.get("ok"):
        return Finding(
            "Slack", ok=False, text=f"the bot token is refused ({answer.get('error')}): install the app again and copy its token to SLACK_BOT_TOKEN."
        )
    missing = sorted(set(SCOPES) - scopes)
    if missing:
        return Finding(
            "Slack", ok=False, text=f"missing scopes {', '.join(missing)}: paste the output of `steward manifest` into the app's manifest and reinstall it."
        )
    return Finding("Slack", ok=True, text=f"{answer.get('user')} in {answer.get('team')}, all {len(SCOPES)} scopes granted")


async def check_socket_mode(settings: Settings, http: aiohttp.ClientSession) -> Finding:
    """The app-level token can open a connection (asking for one opens none)."""
    assert settings.slack_app_token is not None  # noqa: S101 - this mode has one
    try:
        answer, _ = await _ask_slack(http, settings.slack_api_url, "apps.connections.open", settings.slack_app_token.get_secret_value())
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return Finding("Socket Mode", ok=False, text=f"no answer ({type(error).__name__}): check the network, a proxy, or SLACK_API_URL.")
    if not answer.get("ok"):
        return Finding(
            "Socket Mode", ok=False, text=f"refused ({answer.get('error')}): make an app-level token with connections:write and set SLACK_APP_TOKEN."
        )
    return Finding("Socket Mode", ok=True, text="Slack offers a connection")


async def _ask_slack(http: aiohttp.ClientSession, api: str, method: str, token: str) -> tuple[dict[str, object], set[str]]:
    async with http.post(api + method, headers={"Authorization": f"Bearer {token}"}) as response:
        body = await response.json(content_type=None)
        if not isinstance(body, dict):
            raise ValueError(method)
        return body, {scope.strip() for scope in response.headers.get("x-oauth-scopes", "").split(",")}


async def check_model(settings: Settings, http: aiohttp.ClientSession) -> Finding:
    """The model's server answers with our key, and has the models we name, if it lists any."""
    if settings.uses_demo_model:
        return Finding("model", ok=True, text="the offline demo model (OPENAI_API_KEY and OPENAI_BASE_URL are not set)")
    base = (settings.openai_base_url or OPENAI).rstrip("/")
    headers = {"Authorization": f"Bearer {settings.openai_api_key.get_secret_value()}"} if settings.openai_api_key else {}
    try:
        async with http.get(f"{base}/models", headers=headers) as response:
            status = response.status
            body = await response.json(content_type=None) if status == 200 else None
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return Finding("model", ok=False, text=f"{base} does not answer ({type(error).__name__}): start it, or mend OPENAI_BASE_URL.")
    if status in {401, 403}:
        return Finding("model", ok=False, text=f"{base} refuses the key (HTTP {status}): mend OPENAI_API_KEY.")
    if status >= 500:
        return Finding("model", ok=False, text=f"{base} answers HTTP {status}: look at its own log, or try later.")
    listed = (
        {str(model["id"]) for model in body["data"] if isinstance(model, dict) and "id" in model}
        if isinstance(body, dict) and isinstance(body.get("data"), list)
        else set()
    )
    unknown = [name for name in (settings.openai_model, *settings.model_fallbacks) if listed and name not in listed]
    if unknown:
        return Finding("model", ok=False, text=f"{base} has no {', '.join(unknown)}: mend OPENAI_MODEL or STEWARD_MODEL_FALLBACKS.")
    return Finding("model", ok=True, text=f"{settings.openai_model} at {base}" + ("" if listed else " (it lists no models to compare with)"))
