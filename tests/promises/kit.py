"""What the tests of the promises about safety and faults share: signed requests on a bare socket, a recorder of what Slack sends, an upstream that counts."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import aiohttp
from aiohttp import web

from playground.server import Playground
from playground.transport_http import FORM, sign
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stack import Stack, buttons
from tests.fakes.valkey import Valkey
from tests.promises.harness import Bot, House

T = TypeVar("T")
TOOLS = ("tests.promises.kit_tools",)
JSON = "application/json"
PATH = "/slack/events"


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


# --- requests ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it stands on the wire."""

    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back, and after how many seconds. A status of 0 means that the line was closed without an answer."""

    status: int
    body: bytes
    seconds: float


def signed(secret: str, body: bytes, content_type: str = JSON, *, at: float | None = None) -> Sent:
    """`body` with Slack's signature, as if sent at `at` (now when None)."""
    stamp = str(int(time.time() if at is None else at))
    return Sent(body, content_type, ((b"X-Slack-Request-Timestamp", stamp.encode()), (b"X-Slack-Signature", sign(secret, stamp, body).encode())))


async def post(port: int, sent: Sent, *, chunked: bool = False, path: str = PATH, patience: float = 20.0) -> Answered:
    """Send bytes that no well-behaved client would send, and read the answer."""
    started = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(sent.body)
    lines = [b"POST %s HTTP/1.1" % path.encode(), b"Host: 127.0.0.1", b"Connection: close", b"Content-Type: %s" % sent.content_type.encode(), length]
    head = b"\r\n".join([*lines, *(name + b": " + value for name, value in sent.headers)]) + b"\r\n\r\n"

    async def write() -> None:
        with contextlib.suppress(ConnectionError):  # an answer may come before all was said
            writer.write(head)
            step = 65_536
            for start in range(0, len(sent.body), step):
                piece = sent.body[start : start + step]
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
                await writer.drain()
            if chunked:
                writer.write(b"0\r\n\r\n")
            await writer.drain()

    writing = asyncio.create_task(write())
    answer = b""
    try:
        async with asyncio.timeout(patience):
            while True:
                with contextlib.suppress(ConnectionError):
                    more = await reader.read(65_536)
                    answer += more
                    if more and not _complete(answer):
                        continue
                break
    finally:
        writing.cancel()
        await asyncio.wait({writing})
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0
    return Answered(status, answer.partition(b"\r\n\r\n")[2], time.monotonic() - started)


def _complete(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = next((int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), None)
    return bool(end) and length is not None and len(body) >= length


class Recorder:
    """Stands between the playground and the bot, and keeps every request it passes on."""

    def __init__(self) -> None:
        self.requests: list[Sent] = []
        self.bot_port = 0
        self.url = ""
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._session = await self._stack.enter_async_context(aiohttp.ClientSession())
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post(PATH, self._pass)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _pass(self, request: web.Request) -> web.Response:
        body = await request.read()
        kept = {name: value for name, value in request.headers.items() if name.lower().startswith("x-slack") or name.lower() == "content-type"}
        extra = tuple((name.encode(), value.encode()) for name, value in kept.items() if name.lower() != "content-type")
        self.requests.append(Sent(body, request.content_type, extra))
        async with self._session.post(f"http://127.0.0.1:{self.bot_port}{PATH}", data=body, headers=kept) as answer:
            return web.Response(status=answer.status, body=await answer.read(), content_type=answer.content_type)


# --- what the writes do -----------------------------------------------------------------------------------------------

Plan = Callable[[str, int, int], str]
"""From (`book` or `ship`, number, how often it was asked for, from 1) to what goes wrong: see `Upstream`."""


class Upstream:
    """The system behind the test tools. It counts what really happened, whatever it answers.

    `plan` says how a request fails: `ok`, `drop_before` (the line breaks, nothing was done), `drop_after` (it breaks
    after it was done), `error_after` (500 after it was done), `kill_before` or `kill_after` (whoever asked is killed by
    `kill` before or after it was done).
    """

    def __init__(self, plan: Plan = lambda _kind, _n, _times: "ok") -> None:
        self.plan = plan
        self.asked: Counter[tuple[str, int]] = Counter()
        self.effects: Counter[tuple[str, int]] = Counter()
        self.bodies: list[dict[str, Any]] = []
        """Every body that took effect."""
        self.texts: dict[int, str] = {}
        self.keys: set[str] = set()
        self.failed: Counter[str] = Counter()
        self.kill: Callable[[], None] = lambda: None
        self.url = ""
        self._stack = contextlib.AsyncExitStack()

    @property
    def writes(self) -> int:
        """How many writes took effect."""
        return self.effects.total()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/look_up", self._look_up)
        app.router.add_post("/{kind}", self._write)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _look_up(self, request: web.Request) -> web.Response:
        n = int((await request.json())["n"])
        return web.json_response({"n": n, "text": self.texts.get(n, "nothing")})

    async def _write(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        kind, n = request.match_info["kind"], int(body["n"])
        self.asked[kind, n] += 1
        fault = self.plan(kind, n, self.asked[kind, n])
        self.failed[fault] += 1
        if fault == "kill_before":
            self.kill()
        if fault in {"drop_before", "kill_before"}:
            return self._drop(request)
        key = body.get("key")
        if key is None or key not in self.keys:
            self.effects[kind, n] += 1
            self.bodies.append(body)
            if key is not None:
                self.keys.add(key)
        if fault == "kill_after":
            self.kill()
        if fault in {"drop_after", "kill_after"}:
            return self._drop(request)
        return web.json_response({"n": n}, status=500 if fault == "error_after" else 200)

    @staticmethod
    def _drop(request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


# --- stacks -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class HttpStack:
    """A stack whose events come by signed HTTP through a recorder."""

    stack: Stack
    recorder: Recorder
    port: int = 0
    secret: str = field(default="")

    async def send(self, body: bytes, content_type: str = JSON) -> Answered:
        """A properly signed request straight to the bot."""
        return await post(self.port, signed(self.secret, body, content_type))


@contextlib.asynccontextmanager
async def http_running(valkey: Valkey, model: ScriptedModel, **parts: Any) -> AsyncIterator[HttpStack]:
    """A stack with one bot behind the real HTTP edge."""
    async with Recorder() as recorder:
        playground = Playground(request_url=recorder.url)
        playground.delivery(time_scale=0.001)
        given: Mapping[str, Any] = {"app_token": "", "signing_secret": playground.signing_secret, **parts}
        async with Stack(valkey, model, playground=playground, **given) as stack:
            bot = await stack.bot()
            recorder.bot_port = bot.port
            yield HttpStack(stack, recorder, bot.port, playground.signing_secret)


class Replacement:
    """Sees to it that a bot runs: when one is killed, the next one starts."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.kills = 0
        self._current: Bot | None = None

    def kill(self) -> None:
        if self._current is not None and self._current.alive and self._current.ready.done():
            self.kills += 1
            self._current.kill()

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` while a bot runs; a bot that does not start ends it, with the reason."""
        keeper, job = asyncio.create_task(self._keep()), asyncio.create_task(work)
        try:
            await asyncio.wait({keeper, job}, return_when=asyncio.FIRST_COMPLETED)
            if keeper.done():
                keeper.result()
            return await job
        finally:
            for task in (keeper, job):
                task.cancel()
            await asyncio.wait({keeper, job})

    async def _keep(self) -> None:
        while True:
            self._current = await self.home.bot()
            await self._current.end()


async def card(stack: Stack, channel: str, ts: str, *, within: float = 60.0, nth: int = 0) -> dict[str, Any]:
    """Wait for the `nth` card with an approve button in a thread."""

    def found() -> list[dict[str, Any]]:
        return [m for m in stack.own(channel, ts) if "steward:approve" in buttons(m)][nth:]

    await stack.until(found, within)
    return found()[0]


def stored(valkey: Valkey) -> int:
    """How many events were ever stored: each leaves the mark by which a second delivery is known."""
    keys = valkey.command("KEYS", "*seen:*")
    assert isinstance(keys, list)
    return len(keys)


__all__ = [
    "FORM",
    "JSON",
    "TOOLS",
    "Answered",
    "HttpStack",
    "Plan",
    "Recorder",
    "Replacement",
    "Sent",
    "Upstream",
    "card",
    "free_port",
    "http_running",
    "post",
    "signed",
    "stored",
]
