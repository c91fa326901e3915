"""A scripted, OpenAI-compatible model server for tests.

The test says what the model answers: a list of steps, checked to be used up exactly, or a policy, a function from the
request to a reply. The server keeps every request, sees clients that hang up, and refuses message lists that the
real API would refuse, so that a test that passes here has sent valid requests. Run as a module it stays outside the
process under test, and survives its being killed:

    python -m tests.fakes.scripted_model --policy echo --port 0
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import inspect
import itertools
import json
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from aiohttp import web

from playground.demo_validate import Violation, check_request
from playground.demo_wire import MAX_REQUEST_BYTES, SSE_HEADERS, Head, LoopbackServer, dumps, error_response, models_response
from tests.fakes.scripted_policies import Policy, echo_policy, loop_policy, loops, obey_policy
from tests.fakes.scripted_replies import (
    Pause,
    Reply,
    bad_json_stream,
    calls,
    context_overflow,
    delay,
    disconnect,
    drop_after,
    empty,
    fault,
    hang,
    held,
    no_choices,
    raw_calls,
    reasoning,
    refusal,
    stall_after,
    stream_error,
    text,
)

__all__ = [
    "Exchange",
    "Pause",
    "Policy",
    "Reply",
    "ScriptedModel",
    "bad_json_stream",
    "calls",
    "context_overflow",
    "delay",
    "disconnect",
    "drop_after",
    "echo_policy",
    "empty",
    "fault",
    "hang",
    "held",
    "loop_policy",
    "loops",
    "no_choices",
    "obey_policy",
    "raw_calls",
    "reasoning",
    "refusal",
    "stall_after",
    "stream_error",
    "text",
]

Step = Reply | Policy
Script = Sequence[Step] | Policy


@dataclass(slots=True)
class Exchange:
    """One request and what became of it."""

    request: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    """The HTTP status sent; 0 until then."""
    finished: bool = False
    """The whole answer, or the whole scripted failure, was sent."""
    disconnected: bool = False
    """The client hung up first."""


class ScriptedModel(LoopbackServer):
    """The server. `async with ScriptedModel([text("hi")]) as model:` then point a client at `model.url`.

    `script` is a list of steps (each a `Reply`, or a function from the request to one), or one function for all
    requests. A function may be async, and may return a list: its first reply is given now, the others to the next
    requests before the function is asked again. `validate` refuses invalid requests with 400 and notes them in
    `violations`. `keep` bounds how many exchanges are remembered.
    """

    def __init__(
        self, script: Script = (), *, host: str = "127.0.0.1", port: int = 0, validate: bool = True, keep: int | None = None, name: str = "scripted"
    ) -> None:
        super().__init__(host, port)
        self.exchanges: deque[Exchange] = deque(maxlen=keep)
        self.violations: list[Violation] = []
        self.unexpected: list[dict[str, Any]] = []
        """Requests for which no step was left."""
        self.count = 0
        """Chat requests received, also those no longer remembered."""
        self.name = name
        self._validate = validate
        self._steps: deque[Step] | None = None if callable(script) else deque(script)
        self._policy: Policy | None = script if callable(script) else None
        self._queued: deque[Reply] = deque()
        self._ids = itertools.count(1)
        self._running: set[asyncio.Task[Any]] = set()
        self._stopping = False
        self._changed = asyncio.Condition()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The parsed bodies of the remembered requests, oldest first."""
        return [exchange.request for exchange in self.exchanges]

    @property
    def disconnects(self) -> int:
        """How many remembered requests ended by the client hanging up."""
        return sum(exchange.disconnected for exchange in self.exchanges)

    def extend(self, *steps: Step) -> None:
        """Add steps to a step list. Raises `TypeError` for a model with a policy."""
        if self._steps is None:
            raise TypeError("this model follows a policy; it has no steps")
        self._steps.extend(steps)

    def assert_consumed(self) -> None:
        """Raise `AssertionError` unless every step was used, none was missing, and no request was invalid."""
        problems = [f"invalid request: {found.message} ({found.param})" for found in self.violations]
        problems += [f"unexpected request: {dumps(request)[-300:]}" for request in self.unexpected]
        left = len(self._steps or ()) + len(self._queued)
        if left:
            problems.append(f"{left} of the scripted replies were never asked for")
        if problems:
            raise AssertionError("; ".join(problems))

    async def until(self, condition: Callable[[], bool], *, timeout: float = 10.0) -> None:
        """Wait until `condition()` holds, looked at after each request, answer and hang-up. Raises `TimeoutError` after `timeout` seconds."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(condition)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Cancel what hangs, then stop listening."""
        self._stopping = True
        for task in self._running:
            task.cancel()
        await super().stop()
        self._stopping = False

    def application(self) -> web.Application:
        """`/v1/chat/completions`, `/v1/models`, and `/scripted`: what was recorded, for a test in another process."""
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/scripted", self._report)
        return app

    async def _models(self, _: web.Request) -> web.Response:
        return models_response(self.name)

    async def _report(self, request: web.Request) -> web.Response:
        report: dict[str, Any] = {"count": self.count, "disconnects": self.disconnects, "violations": [found.message for found in self.violations]}
        if "requests" in request.query:
            report["requests"] = self.requests
        return web.Response(text=dumps(report), content_type="application/json")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            return self._refuse(Violation("The body is not valid JSON.", "body"))
        found = check_request(body) if self._validate else None
        exchange = Exchange(body, request.headers)
        self.exchanges.append(exchange)
        self.count += 1
        task = asyncio.current_task()
        if task is not None:
            self._running.add(task)
        try:
            await self._notify()
            if found is not None:
                exchange.status, exchange.finished = 400, True
                return self._refuse(found)
            return await self._send(request, exchange, await self._next(body), len(raw))
        except asyncio.CancelledError:
            exchange.disconnected = not self._stopping
            raise
        except ConnectionResetError:
            exchange.disconnected = not self._stopping
            raise
        finally:
            if task is not None:
                self._running.discard(task)
            await self._notify()

    def _refuse(self, found: Violation) -> web.Response:
        self.violations.append(found)
        return error_response(400, found.message, param=found.param, code=found.code)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _next(self, body: dict[str, Any]) -> Reply:
        if self._queued:
            return self._queued.popleft()
        step: Step
        if self._steps is None:
            if self._policy is None:
                raise RuntimeError("a model has steps or a policy")
            step = self._policy
        elif self._steps:
            step = self._steps.popleft()
        else:
            self.unexpected.append(body)
            return fault(400, code="unexpected_request")
        if isinstance(step, Reply):
            return step
        made = step(body)
        chosen = await made if inspect.isawaitable(made) else made
        if isinstance(chosen, Reply):
            return chosen
        first, *rest = chosen
        self._queued.extend(rest)
        return first

    async def _send(self, request: web.Request, exchange: Exchange, reply: Reply, size: int) -> web.StreamResponse:
        body = exchange.request
        streamed = body.get("stream") is True and reply.body is None
        wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        head = Head(f"chatcmpl-{next(self._ids)}", body.get("model") or self.name, size // 4, include_usage=wants_usage)
        if reply.body is not None:
            chunks = [reply.body]
        elif streamed:
            chunks = head.stream(reply.completion)
        else:
            whole = head.body(reply.completion)
            chunks = [whole[: len(whole) // 2], whole[len(whole) // 2 :]]
        if reply.keep is not None:
            kept = reply.keep if streamed else min(reply.keep, 1)
            chunks = [*chunks[:kept], reply.tail] if reply.tail else chunks[:kept]
        headers = dict(SSE_HEADERS) if streamed else {"Content-Type": reply.content_type}
        headers.update(reply.headers)
        exchange.status = reply.status
        if reply.plain:
            exchange.finished = True
            return web.Response(status=reply.status, body=b"".join(chunks), headers=headers)
        return await self._send_slowly(request, exchange, reply, chunks, headers)

    async def _send_slowly(self, request: web.Request, exchange: Exchange, reply: Reply, chunks: list[bytes], headers: dict[str, str]) -> web.StreamResponse:
        if reply.pause is not None and reply.pause_at < 0:
            await reply.pause.wait()
            if not reply.drop:
                exchange.finished = True
                return web.Response(status=reply.status, body=b"".join(chunks), headers=headers)
        response = web.StreamResponse(status=reply.status, headers=headers)
        if chunks or reply.pause is None:
            await response.prepare(request)
        for index, chunk in enumerate(chunks):
            if reply.pause is not None and reply.pause_at == index:
                await reply.pause.wait()
            await response.write(chunk)
        exchange.finished = True
        if not reply.drop:
            await response.write_eof()
        elif request.transport is not None:
            request.transport.close()  # what was written is flushed first; the end of the body never comes
        return response


POLICIES: Final[dict[str, Policy]] = {"echo": echo_policy, "obey": obey_policy, "loop": loop_policy}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.scripted_model", description="A scripted model server on loopback; prints its URL.")
    parser.add_argument("--policy", choices=[*sorted(POLICIES), "text"], default="echo")
    parser.add_argument("--text", default="ok", help="the answer of the policy 'text'")
    parser.add_argument("--tool", default="", help="the tool that the policy 'loop' asks for")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--keep", type=int, default=200, help="how many requests to remember for GET /scripted?requests")
    parser.add_argument("--with-stdin", action="store_true", help="end when standard input closes, so that it never outlives its parent")
    return parser.parse_args()


def _policy(options: argparse.Namespace) -> Policy:
    chosen: Policy = (lambda _: text(options.text)) if options.policy == "text" else POLICIES[options.policy]
    if options.policy == "loop" and options.tool:
        chosen = loops(options.tool)
    if not options.delay:
        return chosen

    async def later(request: dict[str, Any]) -> Reply | list[Reply]:
        await asyncio.sleep(options.delay)
        made = chosen(request)
        return await made if inspect.isawaitable(made) else made

    return later


async def main() -> None:
    """Serve until SIGTERM or SIGINT (or the end of standard input, when asked)."""
    options = _options()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with ScriptedModel(_policy(options), port=options.port, keep=options.keep) as model:
        print(model.url, flush=True)
        if options.with_stdin:
            reader = asyncio.StreamReader()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
            closed = asyncio.create_task(_drain(reader, ended))
            await ended.wait()
            closed.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await closed
        else:
            await ended.wait()


async def _drain(reader: asyncio.StreamReader, ended: asyncio.Event) -> None:
    while await reader.read(4096):
        pass
    ended.set()


if __name__ == "__main__":
    asyncio.run(main())
