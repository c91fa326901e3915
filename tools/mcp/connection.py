"""One server's line: connected, kept, found dead, connected again. One task holds it for as long as it lives.

The SDK's client must be entered and left in the same task, so `run` is that task's whole life: connect, list the tools, then wait
until there is a reason to list again or to let go. Calls come from other tasks, many at a time; a caller that goes away takes only its own
call along, and a line that breaks ends the calls on it with an error that says whether they were sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, TypeVar

import structlog
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation, InputRequiredResult, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from tools.mcp import results
from tools.mcp.config import McpServer
from tools.mcp.definition import Definition
from tools.mcp.transport import LOST, NOT_SENT, SESSION_GONE, connected
from tools.mcp.words import one_line
from tools.tool import Effect

MAX_TOOLS: Final = 256
"""Tools of one server that are looked at."""
MAX_PAGES: Final = 64
MAX_CALLS: Final = 16
"""Calls under way on one line; more wait for their turn."""

_ANSWER: Final[TypeAdapter[CallToolResult | InputRequiredResult]] = TypeAdapter(CallToolResult | InputRequiredResult)
_GRACE: Final = 0.5
"""Seconds beyond a call's own limit after which the library itself ends it, where nobody else did."""
_T = TypeVar("_T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """How patient everything is, in seconds."""

    start: float = 5.0
    """How long the start of the program waits for servers to answer."""
    connect: float = 30.0
    """How long a server may take to be there; some install themselves first."""
    refresh: float = 300.0
    """How often tools are listed again without a reason."""
    quiet: float = 2.0
    """The least time between two listings that a server asked for."""
    fresh: float = 5.0
    """Before a write, the tool's definition is looked at again unless it was within this time."""
    patience: float = 2.0
    """How long a call waits for a line that is just being connected."""
    first_pause: float = 0.5
    longest_pause: float = 60.0
    """Between attempts to connect; the pause doubles."""
    steady: float = 30.0
    """A line that held this long is connected again at once when it breaks."""
    look: float = 5.0
    """How often the file of pins is looked at."""
    stop: float = 10.0
    """How long servers may take to end."""


async def listing(client: Client) -> tuple[Definition, ...]:
    """Every tool of the server, page by page, in its order. Raises `MCPError` or `ValidationError`."""
    if client.server_capabilities.tools is None:
        return ()
    found: dict[str, Definition] = {}
    cursor: str | None = None
    seen: set[str | None] = set()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            found.setdefault(tool.name, Definition(tool.name, tool.description or "", tool.input_schema))
        seen.add(cursor)
        cursor = page.next_cursor
        if not cursor or cursor in seen or len(found) >= MAX_TOOLS:
            break
    return tuple(found.values())[:MAX_TOOLS]


def client_for(server: McpServer, on_end: Callable[[], None], on_message: MessageHandlerFnT | None = None) -> Client:
    """A client that is not connected yet. It offers the server nothing: no questions to people, no model, no folders."""
    ours = Implementation(name="steward", version=version("steward-bot"))
    return Client(connected(server, on_end), cache=None, read_timeout_seconds=server.timeout, message_handler=on_message, client_info=ours)


class Connection:
    """The line to one server. `run` it in a task of its own."""

    def __init__(self, server: McpServer, on_listing: Callable[[], None], timing: Timing) -> None:
        """`on_listing` is called after each listing, in whatever task made it."""
        self.server = server
        self.timing = timing
        self.listed: dict[str, Definition] | None = None
        """The server's tools when last listed; None until it first answered."""
        self.tried = asyncio.Event()
        """Set once the first attempt to connect has ended, well or not."""
        self.failure = ""
        """Why the latest attempt failed, in a few words for an operator."""
        self._on_listing = on_listing
        self._client: Client | None = None
        self._up = asyncio.Event()
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._gone = False
        self._stale = False
        self._listed_at = float("-inf")
        self._listing = asyncio.Lock()
        self._room = asyncio.Semaphore(MAX_CALLS)
        self._under_way: set[asyncio.Task[Any]] = set()
        self._connecting: asyncio.Timeout | None = None
        self._announcement: asyncio.TimerHandle | None = None

    # --- the task that holds the line ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the line until `stop`; never raises but for its own cancellation."""
        loop = asyncio.get_running_loop()
        pause = 0.0
        while not self._stopping.is_set():
            begun = loop.time()
            await self._once()
            self.tried.set()
            if loop.time() - begun >= self.timing.steady:
                pause = 0.0
            if not self._stopping.is_set():
                log.info("mcp.reconnect", server=self.server.name, pause=round(pause, 2))
                await self._rest(pause)
            pause = min(max(pause * 2, self.timing.first_pause), self.timing.longest_pause) * random.uniform(0.8, 1.0)  # noqa: S311 - spreads replicas

    def stop(self) -> None:
        """Let go of the server; `run` returns when it is gone."""
        self._stopping.set()
        self._wake.set()
        if self._connecting is not None:
            with contextlib.suppress(RuntimeError):  # it is just being undone anyway
                self._connecting.reschedule(0)  # as if its time were over: what was begun is undone in order

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def _once(self) -> None:
        """Connect, and hold the line until it breaks or is let go."""
        self._gone = self._stale = False
        self._wake.clear()
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(self.timing.connect) as self._connecting:
                    client = await stack.enter_async_context(client_for(self.server, self._ended, self._on_message))
                    await self._list(client)
                self._connecting = None
                self._client = client
                self._up.set()
                self.tried.set()
                self.failure = ""
                log.info("mcp.connected", server=self.server.name, protocol=client.protocol_version, tools=len(self.listed or ()))
                try:
                    await self._hold(client)
                finally:
                    self._let_go()
        except Exception as error:  # noqa: BLE001 - anything a foreign server can cause; it is told by its kind, and tried again
            if self._stopping.is_set():
                return  # what was begun was called off
            known, self.failure = self.failure, explained(error, self.server)
            say = log.info if known == self.failure else log.warning  # a server may be down for days
            say("mcp.down", server=self.server.name, reason=self.failure)
        finally:
            self._connecting = None

    async def _hold(self, client: Client) -> None:
        listener = asyncio.create_task(self._listen(client)) if _announces(client) else None
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.timing.refresh, self._poke)
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._gone or self._stopping.is_set():
                    return
                if self._stale:
                    self._stale = False
                    await self._list(client)
                    timer.cancel()
                    timer = loop.call_later(self.timing.refresh, self._poke)
        finally:
            timer.cancel()
            if listener is not None:
                listener.cancel()
                await asyncio.wait({listener})

    def _let_go(self) -> None:
        self._client = None
        self._up.clear()
        for task in self._under_way:
            task.cancel()

    def _ended(self) -> None:
        """Nothing more will come over this line."""
        if not self._stopping.is_set() and self._client is not None:
            log.info("mcp.line_ended", server=self.server.name)
        self._drop()

    def _drop(self) -> None:
        self._client = None
        self._up.clear()
        self._gone = True
        self._wake.set()

    def _poke(self) -> None:
        if self._announcement is not None:
            self._announcement.cancel()
            self._announcement = None
        self._stale = True
        self._wake.set()

    # --- what the server announces ----------------------------------------------------------------------------------------

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._announced()

    async def _listen(self, client: Client) -> None:
        """Hear of changes by the newer protocol's subscription; without one the tools are still listed from time to time."""
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._announced()
        except (MCPError, SubscriptionLost, TimeoutError) as error:
            log.info("mcp.not_listening", server=self.server.name, reason=type(error).__name__)

    def _announced(self) -> None:
        """List again, soon; a server that announces without end is not listed without end."""
        loop = asyncio.get_running_loop()
        if self._announcement is None:
            since = 0.0 if self._listing.locked() else loop.time() - self._listed_at
            self._announcement = loop.call_later(max(self.timing.quiet - since, 0.0), self._poke)

    # --- what others want -----------------------------------------------------------------------------------------------------

    async def refresh(self, *, older_than: float) -> None:
        """List the tools again if the last listing is older than so many seconds. Raises `ToolFailed` when that cannot be done."""
        if asyncio.get_running_loop().time() - self._listed_at <= older_than:
            return
        client = await self._connected()
        try:
            await self._tracked(self._list(client))
        except (MCPError, ValidationError, TimeoutError, _Broken) as error:
            raise results.down(self.server) from error

    async def call(self, tool: str, arguments: dict[str, Any], *, effect: Effect, timeout: float, key: str = "") -> CallToolResult:
        """Call `tool` under the server's own name for it, within `timeout` seconds. Raises `ToolFailed`."""
        extra = {"_meta": {"idempotencyKey": key}} if key else {}
        request = CallToolRequest(params=CallToolRequestParams.model_validate({"name": tool, "arguments": arguments, **extra}))
        for again in (True, False):
            client = await self._connected()
            try:
                answer = await self._tracked(self._send(client, request, timeout))
            except MCPError as error:
                if error.code == SESSION_GONE:
                    self._forget(client)
                    if again:  # it did nothing, and a new session can be had
                        continue
                elif error.code in {NOT_SENT, LOST}:
                    self._poke()  # is it gone, or was it one fault?
                log.info("mcp.call_failed", server=self.server.name, code=error.code)
                log.debug("mcp.call_failed_because", server=self.server.name, reason=one_line(self.server.hide(error.message), 500))
                raise results.failure(error, self.server, effect) from error
            except ValidationError as error:
                raise results.unreadable(effect) from error
            except _Broken as error:
                raise results.lost(effect) from error
            if isinstance(answer, InputRequiredResult):
                raise results.needs_more(effect)
            return answer
        raise results.down(self.server)

    async def _connected(self) -> Client:
        if self._client is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.timing.patience):
                    await self._up.wait()
        if self._client is None:
            raise results.down(self.server)
        return self._client

    def _forget(self, client: Client) -> None:
        if client is self._client:
            self._drop()

    async def _send(self, client: Client, request: CallToolRequest, timeout: float) -> CallToolResult | InputRequiredResult:
        async with self._room:
            # Not `Client.call_tool`: it refuses an answer that does not fit the server's own schema, after a write has been done.
            # A little later than whoever calls gives up: ended by both at once, the server would not be told to stop.
            return await client.session.send_request(request, _ANSWER, request_read_timeout_seconds=timeout + _GRACE)

    async def _list(self, client: Client) -> None:
        async with self._listing:
            found = await listing(client)
            self.listed = {each.name: each for each in found}
            self._listed_at = asyncio.get_running_loop().time()
        self._on_listing()

    async def _tracked(self, work: Coroutine[Any, Any, _T]) -> _T:
        """`work` in a task that ends with the line. Raises what it raises, or `_Broken` when the line took it along."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._done)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()  # tells the server, too; the line and everybody else's calls stay
            raise
        if task.cancelled():
            raise _Broken
        try:
            return task.result()
        except (MCPError, ValidationError, TimeoutError):
            raise
        except Exception as error:
            log.info("mcp.call_broken", server=self.server.name, error=type(error).__name__)
            raise _Broken from error

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may be gone; asyncio would complain that nobody looked


class _Broken(Exception):  # noqa: N818 - an outcome
    """The line broke while something was under way on it."""


def _announces(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed) and client.protocol_version in MODERN_PROTOCOL_VERSIONS


def explained(error: BaseException, server: McpServer) -> str:
    """Why a server could not be reached, in a few words for an operator, secrets hidden."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case TimeoutError():
            return "it did not answer in time"
        case FileNotFoundError():
            return "its command was not found"
        case OSError():
            return f"it cannot be started or reached ({error.strerror or type(error).__name__})"
        case MCPError():
            return one_line(server.hide(error.message), 200)
        case _:
            return f"it does not speak the protocol ({type(error).__name__})"
