"""The two ways to a server: a child process with pipes, or streamable HTTP. Both say at once when the line is dead.

The SDK carries the messages. Here is what it leaves to its user: a child's standard error goes to the log in bounded pieces; the end
of a child's output is noticed without waiting for the next call; and a fault of the network becomes the answer to the one request
it hit, as an error that says whether anything was sent, where the SDK would let it end every call under way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Final, Self
from urllib.parse import urlsplit

import anyio
import httpx2
import structlog
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from tools.mcp.config import McpServer
from tools.mcp.words import one_line

MAX_ANSWER: Final = 8 * 1024 * 1024
"""Bytes of one answer over HTTP; more is a fault of the server."""
NOT_SENT: Final = -31_901
"""Error code: there was no connection, so nothing was sent."""
LOST: Final = -31_902
"""Error code: the request was sent, the answer never came."""
SESSION_GONE: Final = -31_903
"""Error code: the server does not know our session any more, so it did nothing; a new connection will do."""
FORBIDDEN: Final = -31_904
"""Error code: the server refuses our credentials."""
BUSY: Final = -31_905
"""Error code: we ask too often."""

_CONNECT: Final = 10.0
_SILENCE: Final = 600.0
_FAREWELL: Final = 2.0
_STDERR_LINE: Final = 500
_STDERR_LINES: Final = 2_000
"""Lines of one connection's standard error that are logged; a server that says more is only drained."""
_SESSION_HEADER: Final = "mcp-session-id"

Streams = Any
"""The SDK's pair of message streams; it does not export their type."""

log = structlog.get_logger(__name__)


class _Discreet(logging.Filter):
    """The SDK logs what it could not read, foreign text included: keep the fact only."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return False
        record.exc_info, record.exc_text = None, None
        return True


_DISCREET: Final = _Discreet()
for _name in ("client", "mcp.client.client", "mcp.client.session", "mcp.client.stdio", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher"):
    logging.getLogger(_name).addFilter(_DISCREET)


@contextlib.asynccontextmanager
async def connected(server: McpServer, on_end: Callable[[], None]) -> AsyncGenerator[Streams]:
    """The streams to `server`. `on_end` is called when nothing more can come from it. Raises `OSError` when a command cannot be started."""
    opened = _over_pipes(server) if server.command else _over_http(server)
    async with opened as (read, write):
        yield _Watched(read, on_end), write


@contextlib.asynccontextmanager
async def _over_pipes(server: McpServer) -> AsyncGenerator[Streams]:
    program, *arguments = server.command
    async with _stderr_to_log(server) as errors:
        parameters = StdioServerParameters(command=program, args=arguments, env=dict(server.env), encoding_error_handler="replace")
        async with stdio_client(parameters, errlog=errors) as streams:
            yield streams


@contextlib.asynccontextmanager
async def _over_http(server: McpServer) -> AsyncGenerator[Streams]:
    host = urlsplit(server.url).hostname or ""
    client = _Client(
        headers={**server.headers, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(_SILENCE, connect=_CONNECT, pool=_CONNECT),
        limits=httpx2.Limits(max_connections=64, max_keepalive_connections=8),
        trust_env=host not in {"127.0.0.1", "::1", "localhost"},  # no proxy stands between a machine and itself
    )
    async with client, streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_ANSWER) as streams:
        yield streams


class _Watched:
    """A stream of messages from a server that tells when it ends."""

    def __init__(self, inner: Any, on_end: Callable[[], None]) -> None:
        self._inner = inner
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        """The context a message was sent in, where the transport keeps it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        try:
            message: SessionMessage | Exception = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._on_end()
            raise
        return message

    async def aclose(self) -> None:
        """Close the stream beneath."""
        await self._inner.aclose()

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> bool | None:
        leave: bool | None = await self._inner.__aexit__(*problem)
        return leave


# --- HTTP ------------------------------------------------------------------------------------------------------------


class _Client(httpx2.AsyncClient):
    """An HTTP client whose faults are answers."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send `request`; a fault of the network comes back as a response that holds a JSON-RPC error."""
        if request.method == "DELETE":  # a farewell: nobody waits for its answer
            request.extensions["timeout"] = httpx2.Timeout(_FAREWELL).as_dict()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol, httpx2.ProxyError) as error:
            log.info("mcp.http_not_sent", error=type(error).__name__)
            return _answer(request, NOT_SENT, "not connected")
        except httpx2.TransportError as error:
            log.info("mcp.http_lost", error=type(error).__name__)
            return _answer(request, LOST, "connection lost")
        meaning = _meaning(request, response)
        if meaning is not None:
            await response.aclose()
            return _answer(request, *meaning, wait=response.headers.get("retry-after", ""))
        plain = not response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            # A stream of events may go on for days; each of its events is bounded by the SDK.
            response.stream = _Bounded(response.stream, MAX_ANSWER if plain else None)
        return response


def _meaning(request: httpx2.Request, response: httpx2.Response) -> tuple[int, str] | None:
    """What a status or an encoding means, where the SDK would not tell one from the other."""
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        return LOST, "the answer is compressed"  # a small answer could unfold without end
    match response.status_code:
        case 401 | 403:
            return FORBIDDEN, "not authorised"
        case 404 if _SESSION_HEADER in request.headers:
            return SESSION_GONE, "the session has ended"
        case 429:
            return BUSY, "too many requests"
        case _:
            return None


def _answer(request: httpx2.Request, code: int, message: str, wait: str = "") -> httpx2.Response:
    if request.method == "DELETE":
        return httpx2.Response(204, request=request)
    seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) <= 5 else None
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": {"retry_after": seconds}}})
    return httpx2.Response(502, headers={"content-type": "application/json"}, content=body.encode(), request=request)


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends in the one kind of error the SDK turns into an answer, when it breaks or grows too long."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int | None) -> None:
        self._inner = inner
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                if self._left is not None:
                    self._left -= len(piece)
                    if self._left < 0:
                        raise httpx2.StreamError("the answer is too long")
                yield piece
        except httpx2.TransportError as error:
            raise httpx2.StreamError("the connection broke") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


# --- a child's standard error ----------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _stderr_to_log(server: McpServer) -> AsyncGenerator[Any]:
    """A file for a child's standard error; what is written there goes to the log, at debug."""
    reading, writing = os.pipe()
    loop = asyncio.get_running_loop()
    os.set_blocking(reading, False)
    printer = _Printer(server)
    loop.add_reader(reading, printer.read, reading, loop)
    file = os.fdopen(writing, "w", encoding="utf-8")
    try:
        yield file
    finally:
        file.close()
        printer.read(reading, loop)  # what a dying child said last is what one wants to know
        loop.remove_reader(reading)
        os.close(reading)


class _Printer:
    """Cuts what a child says into lines and logs a bounded number of them."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._rest = b""
        self._lines = 0

    def read(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        """Take what is there now."""
        try:
            data = os.read(descriptor, 65_536)
        except BlockingIOError:
            return
        if not data:  # no process holds the other end any more
            loop.remove_reader(descriptor)
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: 4 * _STDERR_LINE] if data else b""
        for line in [*lines, *([] if data else [rest])]:
            self._say(line)

    def _say(self, line: bytes) -> None:
        if not line.strip() or self._lines > _STDERR_LINES:
            return
        self._lines += 1
        text = one_line(self._server.hide(line[: 4 * _STDERR_LINE].decode("utf-8", "replace")), _STDERR_LINE)
        log.debug("mcp.stderr", server=self._server.name, line=text if self._lines <= _STDERR_LINES else "… (more is not logged)")
