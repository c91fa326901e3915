"""A real MCP server as a program: over its standard input and output, or over streamable HTTP.

What it is asked to do it writes to a journal, so that a test sees what really arrived; what it offers beside its own tools, or says about
them, it reads from a file at every listing, so that a test can change it under way. `McpProgram` is the test's side of it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import SessionMessage

PAGE = 4
"""Tools on one page of the listing."""
TEXT = {"type": "object", "properties": {"text": {"type": "string", "description": "What to take"}}, "required": ["text"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
PIXEL = base64.b64encode(b"\x89PNG" + b"\x00" * 996).decode()

OWN: dict[str, tuple[str, dict[str, Any]]] = {
    "echo": ("Say back the text that is given, and how long it is. For trying the line out.", TEXT),
    "write_note": ("Keep one note for the person who asks; each call keeps another one.", TEXT),
    "fail": ("Refuse, with the reason that is given as text.", TEXT),
    "wait": ("Never answer. For trying out patience.", NOTHING),
    "die": ("End the server's process in the middle of the call.", NOTHING),
    "big": ("Give back as many letters as asked for.", {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}),
    "media": ("Give back a picture, a sound, two files and a link.", NOTHING),
    "environment": ("Give back the names and values of the process's variables.", NOTHING),
    "announce": ("Tell the client that the tools have changed.", NOTHING),
    "ask": ("Ask the person something in the middle of the call.", NOTHING),
}


class Program:
    """The server's side."""

    def __init__(self, folder: Path, *, legacy: bool = False) -> None:
        self.folder = folder
        self.legacy = legacy
        self.bus = InMemorySubscriptionBus()
        self.server: Server[Any] = Server("fake", version="1", on_list_tools=self.list, on_call_tool=self.call, on_subscriptions_listen=ListenHandler(self.bus))
        if legacy:
            self.server.add_request_handler("server/discover", types.RequestParams, self.unheard_of)

    async def unheard_of(self, _: ServerRequestContext[Any], params: types.RequestParams) -> types.EmptyResult:
        """What a server of an older protocol says to a question of the newer one."""
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")

    def note(self, **entry: Any) -> None:
        """Write one line of the journal."""
        with (self.folder / "journal").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def tools(self) -> list[types.Tool]:
        """What is offered now."""
        path = self.folder / "tools.json"
        changes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        found: dict[str, tuple[str, dict[str, Any]]] = dict(OWN)
        for name, change in changes.items():
            if change is None:
                found.pop(name, None)
            else:
                description, schema = found.get(name, ("", NOTHING))
                found[name] = (change.get("description", description), change.get("schema", schema))
        hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False)  # every one of them lies
        return [types.Tool(name=name, description=words, input_schema=schema, annotations=hints) for name, (words, schema) in found.items()]

    async def list(self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int(params.cursor) if params is not None and params.cursor else 0
        tools = self.tools()
        following = str(start + PAGE) if start + PAGE < len(tools) else None
        return types.ListToolsResult(tools=tools[start : start + PAGE], next_cursor=following)

    async def call(self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        given = params.arguments or {}
        meta = dict(params.meta or {})
        self.note(tool=params.name, arguments=given, key=meta.get("idempotencyKey"))
        if all(tool.name != params.name for tool in self.tools()):
            return _said(f"Unknown tool: {params.name}", error=True)
        match params.name:
            case "echo":
                return types.CallToolResult(content=_text("(a longer way to say it)"), structured_content={"text": given["text"], "length": len(given["text"])})
            case "fail":
                return _said(given["text"], error=True)
            case "wait":
                try:
                    await asyncio.Event().wait()
                finally:
                    self.note(cancelled=params.name)
            case "die":
                os._exit(3)
            case "big":
                return _said("x" * given["size"])
            case "media":
                return types.CallToolResult(content=_media())
            case "environment":
                return types.CallToolResult(content=[], structured_content={"variables": dict(os.environ)})
            case "ask":
                return types.InputRequiredResult(request_state="one question left")
            case "announce":
                await self.bus.publish(ToolsListChanged())
                await ctx.session.send_tool_list_changed()
            case _:
                pass
        return _said(f"done: {params.name}")


def _text(*texts: str) -> list[types.ContentBlock]:
    return [types.TextContent(text=text) for text in texts]


def _said(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=_text(text), is_error=error)


def _media() -> list[types.ContentBlock]:
    return [
        *_text("Here they are."),
        types.ImageContent(data=PIXEL, mime_type="image/png"),
        types.AudioContent(data=PIXEL, mime_type="audio/wav"),
        types.EmbeddedResource(resource=types.BlobResourceContents(uri="file:///a.bin", mime_type="application/zip", blob=PIXEL)),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a.txt", text="The text of a file.")),
        types.ResourceLink(name="manual", uri="https://docs.example/manual"),
    ]


async def over_pipes(program: Program) -> None:
    """Serve one client."""
    async with stdio_server() as (arriving, write), anyio.create_task_group() as group:
        read: Any = arriving
        if program.legacy:
            passed, read = anyio.create_memory_object_stream[SessionMessage | Exception](16)
            group.start_soon(_without_discovery, arriving, passed, write)
        options = program.server.create_initialization_options(NotificationOptions(tools_changed=True))
        await program.server.run(read, write, options)
        group.cancel_scope.cancel()


async def _without_discovery(read: Any, passed: Any, write: Any) -> None:
    """Answer the newer protocol's first question as a server does that never heard of it: the SDK's own would speak the newer one from then on."""
    async with passed:
        async for message in read:
            request = getattr(message, "message", None)
            if isinstance(request, types.JSONRPCRequest) and request.method == "server/discover":
                error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
                await write.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))
            else:
                await passed.send(message)


async def over_http(program: Program, port: int) -> None:
    """Serve until killed."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen()  # whoever reads the port may connect
    app = program.server.streamable_http_app()

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            program.note(http=scope["method"], path=scope["path"], authorization=headers.get("authorization"))
            answers = program.folder / "status"
            if answers.exists():
                status, location = answers.read_text(encoding="utf-8").split()
                await send({"type": "http.response.start", "status": int(status), "headers": [(b"location", location.encode()), (b"retry-after", b"7")]})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(watched, log_level="error", timeout_graceful_shutdown=0))
    (program.folder / "port").write_text(str(listening.getsockname()[1]), encoding="utf-8")
    await server.serve(sockets=[listening])


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--http", type=int, default=None, metavar="PORT")
    parser.add_argument("--deaf", action="store_true", help="start, and never answer anything")
    parser.add_argument("--stubborn", action="store_true", help="go on when told to end")
    parser.add_argument("--legacy", action="store_true", help="speak the older protocol, which begins with a handshake")
    options = parser.parse_args()
    program = Program(options.folder, legacy=options.legacy)
    program.note(started=os.getpid())
    print("fake server started, token", os.environ.get("FAKE_TOKEN"), file=sys.stderr, flush=True)
    if (options.folder / "broken").exists():
        sys.exit(4)
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.deaf:
        signal.pause()
    asyncio.run(over_pipes(program) if options.http is None else over_http(program, options.http))


class McpProgram:
    """The test's side: the folder in which the server's journal and its instructions lie."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    def command(self, *options: str) -> tuple[str, ...]:
        """The command that starts the server."""
        return (sys.executable, str(Path(__file__)), str(self.folder), *options)

    def journal(self) -> list[dict[str, Any]]:
        """Everything the server wrote down, oldest first."""
        path = self.folder / "journal"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def calls(self, tool: str) -> list[dict[str, Any]]:
        """The calls of one tool that arrived."""
        return [entry for entry in self.journal() if entry.get("tool") == tool]

    def pids(self) -> list[int]:
        """The processes that were started, oldest first."""
        return [entry["started"] for entry in self.journal() if "started" in entry]

    def alive(self) -> list[int]:
        """Those of them that still run."""
        return [pid for pid in self.pids() if _runs(pid)]

    def change(self, **tools: dict[str, Any] | None) -> None:
        """From now on the server says this about its tools; None: it no longer has the tool."""
        new = self.folder / "tools.new"
        new.write_text(json.dumps(tools), encoding="utf-8")
        new.replace(self.folder / "tools.json")

    def port(self) -> int:
        """The port an HTTP server listens on; 0 until it does."""
        path = self.folder / "port"
        return int(path.read_text(encoding="utf-8") or "0") if path.exists() else 0


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] if Path("/proc").is_dir() else "R"
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


if __name__ == "__main__":
    main()
