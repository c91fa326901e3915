"""The whole product on loopback, as a test wants it: a store, the playground, a scripted model, one or more bots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from bot.deps import Limits
from bot.manifest import build
from bot.service import Parts, Service
from playground.appconfig import AppConfig
from playground.server import Playground
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.valkey import Valkey
from tools.engine import EngineLimits
from tools.retry import Pauses

QUICK = Limits(first_status=0.2, first_partial=0.3, between_partials=0.2, running_card=0.2, write_grace=0.3, adoption_looks=20, adoption_pause=0.1)


PAUSES = EngineLimits(pauses=Pauses(first=0.02, longest=0.1, jitter=0.0, keyed_first=0.02))


class Stack:
    """What stands around a bot, and the bots themselves. Use `async with Stack(...) as stack`."""

    def __init__(self, valkey: Valkey, model: ScriptedModel, *, playground: Playground | None = None, **parts: Any) -> None:
        self.valkey = valkey
        self.model = model
        self.slack = playground or Playground(app_config=AppConfig.from_manifest(build()))
        self.bots: list[Service] = []
        self._given = parts
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.slack.start()
        self._stack.push_async_callback(self.slack.stop)
        await self.model.start()
        self._stack.push_async_callback(self.model.stop)
        return self

    async def __aexit__(self, *_: object) -> None:
        for bot in self.bots:
            await bot.stop(grace=2.0)
        await self._stack.aclose()

    def parts(self, **changes: Any) -> Parts:
        """A bot's parts, aimed at this stack; quick to show things, as tests are impatient."""
        values: dict[str, Any] = {
            "slack_api_url": self.slack.api_url,
            "bot_token": self.slack.bot_token,
            "app_token": self.slack.app_token,
            "redis_url": self.valkey.url,
            "model_base_url": self.model.url,
            "model_key": "test",
            "models": ("scripted",),
            "limits": QUICK,
            "engine_limits": PAUSES,
            "lease": 3.0,
            "heartbeat": 0.1,
            "sweep": 0.2,
            "model_backoff": 0.01,
            "slack_backoff": 0.02,
            "ping_interval": 1.0,
        }
        return Parts(**(values | self._given | changes))

    async def bot(self, **changes: Any) -> Service:
        """Start one more bot."""
        service = Service(self.parts(**changes))
        await service.start()
        self.bots.append(service)
        return service

    async def stop_bot(self, service: Service) -> None:
        self.bots.remove(service)
        await service.stop(grace=2.0)

    # --- what a test does and sees ----------------------------------------------------------------------------------------

    async def ask(self, user: str, channel: str, text: str, *, replies: int = 1, within: float = 10.0) -> list[dict[str, Any]]:
        """Say something to the bot at the top of a channel and wait for `replies` messages below it; returns the thread's messages."""
        ts = await self.slack.say(user, channel, text)
        return await self.thread(channel, ts, own=replies, within=within)

    async def thread(self, channel: str, ts: str, *, own: int, within: float = 10.0) -> list[dict[str, Any]]:
        """Wait until the thread holds `own` messages of the bot; returns all its messages."""
        await self.until(lambda: len(self.own(channel, ts)) >= own, within)
        return self.slack.messages(channel, ts)

    def own(self, channel: str, ts: str | None = None) -> list[dict[str, Any]]:
        """The bot's messages in a thread, or (without `ts`) at the top level of a channel."""
        return [m for m in self.slack.messages(channel, ts) if m.get("user") == self.slack.bot_user_id]

    async def until(self, condition: Callable[[], object], within: float = 10.0) -> None:
        """Wait for something to become true in the workspace."""
        await self.slack.wait_for(condition, within)

    async def quiet(self, seconds: float = 0.4) -> None:
        """Let everything under way come to rest: used before asserting that nothing (more) happened."""
        await asyncio.sleep(seconds)
        for bot in self.bots:
            while bot.worker.busy:
                await asyncio.sleep(0.02)


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """All a person can read in each message, block texts included."""
    return [shown(m) for m in messages]


def shown(message: dict[str, Any]) -> str:
    """The text of a message and of all its blocks."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in {"text", "markdown_text", "name", "fallback"} and isinstance(value, str):
                    found.append(value)
                else:
                    walk(value)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(message.get("blocks") or [])
    return "\n".join(found) or str(message.get("text", ""))


def buttons(message: dict[str, Any]) -> dict[str, str]:
    """Action id → value of every button of a message."""
    out: dict[str, str] = {}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "button":
                out[node["action_id"]] = node.get("value", "")
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(message.get("blocks") or [])
    return out


@contextlib.asynccontextmanager
async def running(valkey: Valkey, model: ScriptedModel, **parts: Any) -> AsyncIterator[Stack]:
    """A stack with one bot."""
    async with Stack(valkey, model, **parts) as stack:
        await stack.bot()
        yield stack
