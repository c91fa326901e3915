"""The composition root: from settings to a running program, and down again on SIGTERM.

Without Slack settings everything a bot needs runs in this process on loopback: the embedded store, the playground and,
without a model key, the demo model. With them the same `Service` is aimed at Slack. Nothing else in the project knows
that a playground exists.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

import structlog

from bot.deps import PersonCap
from bot.embedder_choice import Chosen
from bot.guardrails import Guardrails
from bot.log import configure_logging
from bot.manifest import build
from bot.mcp_config import McpConfigError, servers_from
from bot.memory_store import MEMORY_TOOLS, memory_store
from bot.run import Budget
from bot.service import BUILT_IN, Parts, Service
from bot.settings import Settings, SettingsError
from bot.slack import SlackDown, SlackRefused
from memory.embedded import StoreError, open_embedded
from memory.embedder_cache import NoVectorsError
from memory.longterm.store import StoreError as MemoryStoreError
from playground.appconfig import AppConfig
from playground.demo_model import DemoModel
from playground.server import Playground
from tools.mcp.config import McpServer
from tools.routing import RoutingLimits
from tools.tool import ToolLoadError

log = structlog.get_logger(__name__)

EXAMPLES = (
    "@steward what is 15% of 1,280, and what time is it in Tokyo?",
    "@steward where is my order ABC-20240520-001?",
    "@steward cancel ABC-20240520-001, because it comes too late",
    "@steward remind me in 2 hours to call the warehouse",
    "@steward remember that I hate rainy days",
    "@steward 取消一个订单",
    "@steward 你记得我什么？",
    "@steward 你能做什么？",
)
"""What the playground's page offers to a first visitor: reads, writes, a question with buttons and memory, in English and in Chinese."""


class StartError(Exception):
    """Something needed is not there; one line with the remedy."""


def run(settings: Settings) -> int:
    """`steward run`: work until SIGTERM or SIGINT. Returns the exit code."""
    return _main(_run(settings))


def playground_only(settings: Settings) -> int:
    """`steward playground`: only the local Slack, with what a bot needs to connect printed."""
    return _main(_playground(settings))


def _main(work: Coroutine[Any, Any, None]) -> int:
    try:
        with asyncio.Runner(loop_factory=_loop()) as runner:
            runner.run(work)
    except (SettingsError, StartError, StoreError, MemoryStoreError, ToolLoadError) as error:
        print(f"steward: {error}", file=sys.stderr)
        return 2
    return 0


def _loop() -> Any:
    try:
        import uvloop
    except ImportError:  # not made for this platform
        return None
    return uvloop.new_event_loop


def stop_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _run(settings: Settings) -> None:
    stop = stop_signals()
    async with contextlib.AsyncExitStack() as stack:
        parts, welcome = await stack.enter_async_context(assembled(settings))
        service = Service(parts)
        try:
            await service.start()
        except SlackRefused as error:
            raise StartError(f"Slack refused the bot token ({error.code}): install the app again and copy its token to SLACK_BOT_TOKEN.") from error
        except SlackDown as error:
            raise StartError(f"Slack does not answer ({error}): check the network, or SLACK_API_URL.") from error
        except OSError as error:
            raise StartError(f"Port {parts.port} cannot be used ({error.strerror}): set PORT to a free one.") from error
        if welcome:
            print(welcome, flush=True)
        gc.collect()
        gc.freeze()  # what start-up made stays to the end: the collector need not walk through it again and again
        try:
            await service.run_until(stop)
        finally:
            log.info("draining")
            await service.stop()
            log.info("stopped")


@contextlib.asynccontextmanager
async def assembled(settings: Settings) -> AsyncIterator[tuple[Parts, str]]:
    """The parts for these settings, with whatever runs inside this process started, and what to tell the person at the terminal."""
    async with contextlib.AsyncExitStack() as stack:
        _make_home(settings)
        embedder = Chosen(settings)
        stack.push_async_callback(embedder.close)
        rewrite_log = None
        if settings.redis_url is not None:
            redis_url = settings.redis_url.get_secret_value()
        else:
            store = await open_embedded(settings.home, fsync=settings.store_fsync)
            stack.push_async_callback(store.close)
            redis_url, rewrite_log = store.url, store.rewrite
        api_url, bot_token, app_token, secret = settings.slack_api_url, "", "", ""
        host, port, welcome = settings.host, settings.port, ""
        if settings.mode == "playground":
            playground = await _open_playground(settings, EXAMPLES)
            stack.push_async_callback(playground.stop)
            api_url, bot_token, app_token = playground.api_url, playground.bot_token, playground.app_token
            host, port = "127.0.0.1", 0
            welcome = f"Steward is ready: open {playground.url} in your browser (Ctrl-C ends it)."
        else:
            bot_token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else ""
            app_token = settings.slack_app_token.get_secret_value() if settings.slack_app_token and settings.mode == "socket" else ""
            secret = settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret and settings.mode == "http" else ""
        base_url, key, models = (
            settings.openai_base_url,
            settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none",
            settings.openai_model,
        )
        if settings.uses_demo_model:
            demo = DemoModel(chunk_delay=0.02)
            await demo.start()
            stack.push_async_callback(demo.stop)
            base_url, models = demo.url, "demo"
        try:
            memories = await memory_store(settings, embedder)
        except NoVectorsError as error:
            raise StartError(f"STEWARD_EMBEDDER: {error}. Mend it, or choose STEWARD_EMBEDDER=none.") from error
        parts = Parts(
            slack_api_url=api_url,
            bot_token=bot_token,
            app_token=app_token,
            signing_secret=secret,
            redis_url=redis_url,
            model_base_url=base_url,
            model_key=key,
            models=(models, *settings.model_fallbacks),
            home=settings.home,
            host=host,
            port=port,
            tool_modules=(BUILT_IN, *((MEMORY_TOOLS,) if memories is not None else ()), *settings.tools),
            store=memories,
            rewrite_log=rewrite_log,
            model_reads=settings.model_reads,
            memory_judge=settings.memory_judge,
            left_people_ttl=float(settings.left_people_ttl),
            approvals=settings.policies.approvals,
            approval_ttl=settings.approval_ttl,
            budget=Budget(settings.max_model_calls, settings.max_tool_calls, settings.max_tokens, settings.max_seconds),
            context=settings.context_budget,
            embedder=embedder,
            mcp=_mcp_servers(settings),
            guardrails=Guardrails.load(settings.policies),
            routing=RoutingLimits(max_tools=settings.tool_limit),
            model_temperature=settings.model_temperature,
            model_cache_ttl=float(settings.model_cache_ttl),
            answer_cache_ttl=float(settings.answer_cache_ttl),
            strict_schemas=settings.uses_strict_schemas,
            person_cap=PersonCap(settings.max_person_calls),
            workers=settings.workers,
            session_idle_ttl=settings.session_idle_ttl,
        )
        yield parts, welcome


def _mcp_servers(settings: Settings) -> dict[str, McpServer]:
    try:
        servers = servers_from(settings.policies.mcp, os.environ)
    except McpConfigError as error:
        raise StartError(f"STEWARD_CONFIG: {error}") from error
    secrets = [secret for server in servers.values() for secret in server.secrets]
    if secrets:
        configure_logging(level=settings.log_level, fmt=settings.log_format, secrets=[*settings.secrets(), *secrets])
    return servers


def _make_home(settings: Settings) -> None:
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"The data folder {settings.home} cannot be made ({error.strerror}): set STEWARD_HOME to a folder you may write to.") from error


async def _open_playground(settings: Settings, examples: Sequence[str] = ()) -> Playground:
    state = settings.home / "playground.json"
    playground = Playground(port=settings.port, app_config=AppConfig.from_manifest(build()), state_path=state, examples=examples)
    try:
        await playground.start()
    except OSError as error:
        raise StartError(f"Port {settings.port} cannot be used ({error.strerror}): set PORT to a free one.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise StartError(f"{state} is damaged ({error}): move it away to begin with a fresh workspace.") from error
    return playground


async def _playground(settings: Settings) -> None:
    stop = stop_signals()
    _make_home(settings)
    playground = await _open_playground(settings)
    try:
        print(f"The playground is at {playground.url}. A bot connects with:")
        print(f"  SLACK_API_URL={playground.api_url} SLACK_BOT_TOKEN={playground.bot_token} SLACK_APP_TOKEN={playground.app_token}", flush=True)
        await stop.wait()
    finally:
        await playground.stop()
