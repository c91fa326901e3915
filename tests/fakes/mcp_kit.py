"""What tests of MCP servers share: a server program with its line, a registry that its tools land in, and calls through the engine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory.keys import Actor, Thread
from tests.fakes.mcp_server import McpProgram
from tools.engine import execute
from tools.mcp.config import McpServer, McpTool
from tools.mcp.connection import Timing
from tools.mcp.servers import McpServers
from tools.registry import Registry
from tools.result import ToolResult
from tools.tool import Tool, ToolContext

READ, OFF = McpTool("read"), McpTool("off")
READS = dict.fromkeys(("echo", "fail", "wait", "die", "big", "media", "environment", "announce"), READ)
TIMING = Timing(start=30, connect=30, quiet=0.01, fresh=0.0, patience=20, first_pause=0.05, longest_pause=0.1, look=0.02)
"""Patient where a slow machine would matter, quick where a test would wait."""
HASTY = replace(TIMING, patience=0.0)
"""Calls do not wait for a line that is being connected."""
WITHIN = 60.0


async def until(condition: Callable[[], object]) -> None:
    """Wait until something in another process has come true."""
    async with asyncio.timeout(WITHIN):
        while not condition():
            await asyncio.sleep(0.01)


def context(call_id: str = "call1") -> ToolContext:
    """Where a call comes from."""
    return ToolContext(
        actor=Actor(team_id="T1", user_id="U1"),
        thread=Thread(team_id="T1", channel_id="C1", thread_ts="1.1"),
        timezone="UTC",
        run_id="run1",
        call_id=call_id,
    )


class Kit:
    """One server program and what has become of its tools."""

    def __init__(self, program: McpProgram, server: McpServer, home: Path, timing: Timing) -> None:
        self.program = program
        self.server = server
        self.home = home
        self.registry = Registry([])
        self.servers = McpServers({server.name: server}, home, timing)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Started, and stopped afterwards."""
        try:
            await self.servers.start(self.registry)
            yield
        finally:
            await self.servers.stop()

    def tool(self, name: str) -> Tool:
        """The tool offered for the server's own `name`."""
        found = self.registry.get(self.server.offered_name(name))
        assert found is not None, self.registry.names
        return found

    async def call(self, tool: str | Tool, /, **arguments: Any) -> ToolResult:
        """Call a tool as the engine does."""
        return await execute(tool if isinstance(tool, Tool) else self.tool(tool), arguments, context())

    async def offered(self, *names: str) -> None:
        """Wait until the server's tools of these names, and no others, are offered."""
        wanted = {self.server.offered_name(name) for name in names}
        await until(lambda: set(self.registry.names) == wanted)


@contextlib.asynccontextmanager
async def serving(folder: Path, *options: str, timing: Timing = TIMING, http: bool = False, **fields: Any) -> AsyncIterator[Kit]:
    """A kit whose server is connected. With `http` the program listens on a port, else it is a child of ours."""
    program = McpProgram(folder / "server")
    home = folder / "home"
    home.mkdir(exist_ok=True)
    async with contextlib.AsyncExitStack() as stack:
        way: dict[str, Any] = {"command": program.command(*options)}
        if http:
            await stack.enter_async_context(listening(program, options=options))
            way = {"url": f"http://127.0.0.1:{program.port()}/mcp"}
        server = McpServer(**{"name": "fake", "prefix": "fake", "timeout": 20.0, "tools": READS, **way, **fields})
        kit = Kit(program, server, home, timing)
        await stack.enter_async_context(kit.connected())
        yield kit


@contextlib.asynccontextmanager
async def listening(program: McpProgram, port: int = 0, options: tuple[str, ...] = ()) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program as an HTTP server, ended afterwards."""
    (program.folder / "port").unlink(missing_ok=True)
    process = await asyncio.create_subprocess_exec(*program.command("--http", str(port), *options))
    try:
        await until(program.port)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def kill(program: McpProgram) -> None:
    """End the newest process of the program without a warning."""
    os.kill(program.pids()[-1], signal.SIGKILL)
