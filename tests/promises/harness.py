"""What the promises about crashes share: a house with the playground, a scripted model and a store, and bots in processes of their own.

The playground and the model live in the test's process and outlive every bot. A bot is a process that a test kills,
freezes or terminates by its number. Nothing here waits for time to pass: every wait is for something to be seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from redis.asyncio import Redis

from memory.keys import SHARDS, Keys, Thread
from playground.delivery import Answer, Parcel, Transport
from playground.server import Playground
from tests.fakes.scripted_model import Script, ScriptedModel
from tests.fakes.stack import buttons
from tests.fakes.valkey import Valkey

ROOT = Path(__file__).resolve().parents[2]
ALICE, BRUNO, MEI = "alice", "bruno", "mei"
QUICK = {
    "first_status": 0.2,
    "first_partial": 0.3,
    "between_partials": 0.2,
    "running_card": 0.2,
    "write_grace": 0.3,
    "adoption_looks": 20,
    "adoption_pause": 0.1,
}
TOOLS = ("tools.builtin", "tests.promises.record_tools")


class Bot:
    """One bot process."""

    def __init__(self, number: int, log: Path) -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.log = log
        self.pid = 0
        self.ready: asyncio.Future[int] = loop.create_future()
        """Its port, once it works."""
        self.ended: asyncio.Future[int] = loop.create_future()
        """Its exit code, negative for a signal."""
        self.ended_at = 0.0
        """On the loop's clock."""

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    async def end(self) -> int:
        """Wait for its end; the exit code. Whoever stops waiting leaves the others waiting."""
        return await asyncio.shield(self.ended)

    def kill(self) -> None:
        """`kill -9`."""
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive and self.pid:
            with contextlib.suppress(ProcessLookupError):  # it may have ended a moment ago
                os.kill(self.pid, number)


class Nursery:
    """Makes bot processes. Use `async with Nursery(folder) as nursery`; afterwards none is left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bots: dict[int, Bot] = {}
        self._count = 0

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.promises.nursery",
            cwd=ROOT,
            # Everything is on loopback without TLS; reading the machine's certificates takes a bot longer than all the rest.
            env={**os.environ, "SSL_CERT_DIR": str(self._folder)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        for bot in self._bots.values():
            bot.thaw()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reader

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := (await self._process.stdout.readline()).decode():
            number, word, *rest = line.split()
            bot = self._bots[int(number)]
            if word == "pid":
                bot.pid = int(rest[0])
            elif word == "ready" and not bot.ready.done():
                bot.ready.set_result(int(rest[0]))
            elif word == "ended":
                bot.ended_at = asyncio.get_running_loop().time()
                bot.ended.set_result(int(rest[0]))

    async def bot(self, values: dict[str, Any], mutants: Sequence[str] = ()) -> Bot:
        """Start one; returns at once."""
        self._count += 1
        bot = Bot(self._count, self._folder / f"bot-{self._count}.log")
        self._bots[bot.number] = bot
        assert self._process.stdin is not None
        order = {"id": bot.number, "values": values, "mutants": list(mutants), "log": str(bot.log)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self._process.stdin.drain()
        return bot


class Watched:
    """A transport that remembers which messages the bot said it had stored."""

    def __init__(self, inner: Transport, changed: Callable[[], None]) -> None:
        self._inner = inner
        self._changed = changed
        self.name = inner.name
        self.stored: set[str] = set()
        """`ts` of acknowledged messages."""
        self.given_up = 0

    def connected(self) -> bool:
        return self._inner.connected()

    async def attempt(self, parcel: Parcel, retry: int, reason: str) -> Answer:
        answer = await self._inner.attempt(parcel, retry, reason)
        if answer.ok and parcel.kind == "events_api":
            self.stored.add(str(parcel.payload["event"].get("ts")))
            self._changed()
        return answer


class House:
    """Everything around the bots. Use `async with House(nursery, valkey, script, folder) as house`."""

    def __init__(self, nursery: Nursery, valkey: Valkey, script: Script, folder: Path, *, db: int = 0, **values: Any) -> None:
        """`values` are a bot's parts as JSON, over quick defaults; `db` keeps houses apart that share one server."""
        self.nursery = nursery
        self.folder = folder
        self.slack = Playground(time_scale=0.003)
        self.slack.delivery(retries=20)
        self.model = ScriptedModel(script, keep=2_000)
        self.bots: list[Bot] = []
        self.store = Redis.from_url(f"{valkey.url}?db={db}")
        self._url = f"{valkey.url}?db={db}"
        self._given = values
        delivery = self.slack.core.delivery
        self.watched = Watched(delivery.transport, self.slack.core.feed.touch)
        delivery.transport = self.watched
        self.keys = Keys(self.slack.team_id)

    async def __aenter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        await self.store.flushdb()
        await self.slack.start()
        await self.model.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for bot in self.bots:
            bot.kill()
        for bot in self.bots:
            await bot.end()
        await self.model.stop()
        await self.slack.stop()
        await self.store.aclose()

    # --- bots ---------------------------------------------------------------------------------------------------------------

    async def bot(self, *, mutants: Sequence[str] = (), wait: bool = True, **changes: Any) -> Bot:
        """Start one more; with `wait`, until it works."""
        values: dict[str, Any] = {
            "slack_api_url": self.slack.api_url,
            "bot_token": self.slack.bot_token,
            "app_token": self.slack.app_token,
            "redis_url": self._url,
            "model_base_url": self.model.url,
            "model_key": "test",
            "models": ["scripted"],
            "home": str(self.folder),
            "tool_modules": list(TOOLS),
            "limits": QUICK,
            "pauses": {"first": 0.05, "longest": 0.4, "jitter": 0.05, "keyed_first": 0.1},
            "lease": 1.2,
            "heartbeat": 0.1,
            "sweep": 0.1,
            "model_backoff": 0.01,
            "slack_backoff": 0.02,
            "ping_interval": 1.0,
        }
        bot = await self.nursery.bot(values | self._given | changes, mutants)
        self.bots.append(bot)
        if wait:
            await asyncio.wait({bot.ready, bot.ended}, return_when=asyncio.FIRST_COMPLETED, timeout=30)
            if not bot.ready.done():
                raise RuntimeError(f"a bot did not start: {bot.log.read_text(encoding='utf-8')[-2000:]}")
        return bot

    async def end(self, bot: Bot, *, gently: bool = False) -> int:
        """Kill (or terminate) a bot and wait for its end; its exit code."""
        if gently:
            bot.terminate()
        else:
            bot.kill()
        return await bot.end()

    # --- what people do and see ---------------------------------------------------------------------------------------------

    def own(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """The bot's messages in a thread, oldest first."""
        return sorted((m for m in self.slack.messages(channel, ts) if m.get("user") == self.slack.bot_user_id), key=lambda m: str(m["ts"]))

    def texts(self, channel: str, ts: str) -> list[str]:
        """The texts of the bot's messages in a thread, cards left out."""
        return [str(m["text"]) for m in self.own(channel, ts) if not is_card(m)]

    def cards(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """The approval cards of a thread, open or decided."""
        return [m for m in self.own(channel, ts) if is_card(m)]

    def open_cards(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Those that can still be clicked."""
        return [m for m in self.own(channel, ts) if "steward:approve" in buttons(m)]

    async def until(self, condition: Callable[[], object], within: float = 30.0, what: str = "") -> None:
        """Wait for something to become true in the workspace; raises `AssertionError` saying `what` did not."""
        try:
            await self.slack.wait_for(condition, within)
        except TimeoutError:
            raise AssertionError(f"not seen within {within:g} s: {what or 'what was waited for'}") from None

    async def click(self, user: str, channel: str, card_ts: str, action: str = "steward:approve") -> None:
        """Click until the click is taken, as a person does who is shown an error."""
        deadline = asyncio.get_running_loop().time() + 30
        while not (await self.slack.click(user, channel, card_ts, action))["ok"]:
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError("no click was taken within 30 s")

    # --- what is stored -----------------------------------------------------------------------------------------------------

    def thread(self, channel: str, ts: str) -> Thread:
        room = self.slack.core.world.find_channel(channel)
        assert room is not None
        return Thread(team_id=self.slack.team_id, channel_id=room.id, thread_ts=ts)

    def key(self, what: str, thread: Thread) -> str:
        """The store's key of a session's `doc`, `log`, `mail` or `meta`."""
        return f"{self.keys.base(thread.shard)}{what}:{thread.id}"

    async def document(self, thread: Thread) -> dict[str, Any]:
        """A session's saved state; empty when there is none."""
        raw = await self.store.get(self.key("doc", thread))
        document: dict[str, Any] = json.loads(raw) if raw else {}
        return document

    async def log(self, thread: Thread) -> list[dict[str, Any]]:
        """A session's transcript as stored."""
        return [json.loads(item) for item in await self.store.lrange(self.key("log", thread), 0, -1)]

    async def unrest(self) -> list[str]:
        """What is not finished: a sentence for each thing. Documents are looked at only when no session is at work."""
        found = [f"{self.slack.core.delivery.in_flight} deliveries under way"] if self.slack.core.delivery.in_flight else []
        for shard in range(SHARDS):
            for name, key in (("due", self.keys.due(shard)), ("claimed", self.keys.leases(shard))):
                found += [f"{session!r} is {name}" for session in await self.store.zrange(key, 0, -1)]
        if found:
            return found
        async for key in self.store.scan_iter(match=f"{self.keys.base(0).split('{')[0]}*", count=500):
            name = key.decode().split("}:", 1)[1] if b"}:" in key else ""
            if name.startswith("mail:"):
                found.append(f"unread mail in {name}")
            elif name.startswith("doc:"):
                document = json.loads(await self.store.get(key) or "{}")
                found += [f"{name} has {part}" for part in ("run", "waiting", "inbox", "notices") if document.get(part)]
        return found

    async def settled(self, within: float = 30.0) -> None:
        """Wait until nothing is under way anywhere; raises `AssertionError` naming what is."""
        await eventually(self._rest, within, self.unrest)

    async def _rest(self) -> bool:
        return not await self.unrest()

    async def at_ease(self, within: float = 30.0) -> None:
        """Wait until no bot holds any session: what is left waits for people."""

        async def free() -> bool:
            return not self.slack.core.delivery.in_flight and not [
                s for shard in range(SHARDS) for s in await self.store.zrange(self.keys.leases(shard), 0, -1)
            ]

        await eventually(free, within, self.unrest)


def is_card(message: dict[str, Any]) -> bool:
    """Whether a message of the bot is an approval card: it carries the opaque id of an approval, not a part of an answer."""
    return "." not in str(((message.get("metadata") or {}).get("event_payload") or {}).get("id", "."))


async def eventually(condition: Callable[[], Awaitable[bool]], within: float = 30.0, why: Callable[[], Awaitable[object]] | None = None) -> None:
    """Wait until `condition` holds, for what no change in the workspace announces."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not await condition():
        if loop.time() > deadline:
            raise AssertionError(f"not so within {within:g} s: {await why() if why else ''}")
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def house(valkey: Valkey, script: Script, folder: Path, **values: Any) -> AsyncIterator[House]:
    """A house with a nursery of its own."""
    async with Nursery(folder) as nursery, House(nursery, valkey, script, folder / "home", **values) as made:
        yield made


@contextlib.contextmanager
def stored() -> Iterator[Valkey]:
    """A Valkey for one test."""
    server = Valkey()
    try:
        yield server
    finally:
        server.close()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of `values` lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
