"""A web site on loopback that a test controls to the byte, and a fetcher that may reach it and nothing else there."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self

from memory.keys import Actor, Thread
from tools import ToolContext
from tools.net import Fetcher, NameNotFound, Policy

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]
"""Given the head of the request, writes the answer."""


def answer(body: bytes | str = b"", status: int = 200, content_type: str = "text/html; charset=utf-8", **headers: str) -> bytes:
    """A whole HTTP answer; `Content_Length="5"` overrides the true length."""
    raw = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": content_type, "Content-Length": str(len(raw)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    return f"HTTP/1.1 {status} X\r\n".encode() + b"".join(f"{name}: {value}\r\n".encode() for name, value in lines.items() if value) + b"\r\n" + raw


def redirect(to: str, status: int = 302) -> bytes:
    return answer("", status, Location=to)


class Site:
    """`async with Site({"/": answer("hi")}) as site`. A page is bytes, or a handler for what bytes cannot do; others are 404."""

    def __init__(self, pages: Mapping[str, bytes | Handler], *, host: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None) -> None:
        self.pages = dict(pages)
        self.connections = 0
        self.requests: list[str] = []
        """The heads of the requests."""
        self.port = port
        self.host = host
        self._context = context
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "site.example") -> str:
        return f"http{'s' if self._context else ''}://{host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            page = self.pages.get(head.split(" ", 2)[1].partition("?")[0], answer("gone", 404))
            if isinstance(page, bytes):
                writer.write(page)
            else:
                await page(head, writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client went away, which is what some tests are about
        finally:
            self._tasks.discard(task)
            writer.close()


class Names:
    """A resolver that is a table: the next answer of a name's list, its last one for ever."""

    def __init__(self, table: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._table = {name: list(answers) for name, answers in table.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self._table.get(host)
        if answers is None:
            raise NameNotFound("There is no site of that name. The address may be misspelled.")
        return answers.pop(0) if len(answers) > 1 else answers[0]


def fetcher(*sites: Site, names: Mapping[str, Sequence[Sequence[str]]] | Names | None = None, **more: Any) -> Fetcher:
    """One that may reach `sites`; every one is called `site.example`, and `example.com` exists."""
    reachable = {(site.host, site.port) for site in sites}
    table = names if isinstance(names, Names) else Names({"site.example": [["127.0.0.1"]], "example.com": [["93.184.215.14"]]} | dict(names or {}))
    return Fetcher(Policy(allow=lambda address, port: (str(address), port) in reachable), resolver=table, **more)


def context(**resources: Any) -> ToolContext:
    return ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run", "call", resources=resources)
