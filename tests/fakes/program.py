"""`steward run` as an operator starts it: a process of its own with a data folder and a port, stopped, killed and started again at will."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Self

from tests.conftest import OURS, PROXIES
from tools.builtin.orders.store import FILE_NAME, OrderStore

ROOT = Path(__file__).parents[2]
READY = "Steward is ready: open "
WITHIN = 30.0
"""Seconds that starting or ending may take on a machine that is busy with other things."""


def clean_environment() -> dict[str, str]:
    """The environment without a developer's own settings and proxies."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS) and name not in PROXIES}


def free_port() -> int:
    """A port that is free now; kept for a program that is to come back at the same address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Program:
    """The program over one data folder. `async with Program(home) as program` starts it and ends it."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.said: list[str] = []
        """What stood on standard output, line by line; of the latest start."""
        self.log: list[str] = []
        """The same for standard error."""
        self._environ = clean_environment() | {"PYTHONPATH": str(ROOT), "STEWARD_HOME": str(home), "PORT": str(self.port)} | environ
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.end(signal.SIGTERM)

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it says that it is ready."""
        self.said, self.log = [], []
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot.cli", "run"),
            cwd=self.home.parent,  # away from a developer's .env
            env=self._environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**20,
        )
        ready = asyncio.Event()

        async def read(stream: asyncio.StreamReader, lines: list[str]) -> None:
            async for line in stream:
                lines.append(line.decode().rstrip("\n"))
                if lines[-1].startswith(READY):
                    ready.set()
            ready.set()  # it ended

        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [asyncio.create_task(read(process.stdout, self.said)), asyncio.create_task(read(process.stderr, self.log))]
        async with asyncio.timeout(WITHIN):
            await ready.wait()
        assert any(line.startswith(f"{READY}{self.url} ") for line in self.said), "\n".join([*self.said, *self.log])

    async def end(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end; the exit code."""
        assert self._process is not None
        self._process.send_signal(number)
        async with asyncio.timeout(WITHIN):
            code = await self._process.wait()
            await asyncio.gather(*self._readers)
        return code

    async def restart(self, number: signal.Signals) -> None:
        """End it with a signal and start it again over the same data at the same address."""
        code = await self.end(number)
        assert code == (0 if number is signal.SIGTERM else -number), "\n".join(self.log)
        await self.start()

    async def kept(self, words: str) -> None:
        """Wait until the local Slack has written `words` to its file, which it does a moment after each change."""
        file = self.home / "playground.json"
        await until(lambda: file.exists() and words in file.read_text("utf-8"))

    def order(self, order_id: str) -> dict[str, str]:
        """An order as the shop's book has it now; the book is opened as any process opens it, because its first use makes it."""
        OrderStore(self.home / FILE_NAME).close()
        return self._rows("SELECT * FROM orders WHERE order_id = ?", order_id)[0]

    def writes(self, order_id: str) -> int:
        """How many writes about an order were carried out (each has a key of its own)."""
        if not (self.home / FILE_NAME).exists():
            return 0  # no tool has asked for the book yet
        return len(self._rows("SELECT key FROM outcomes WHERE request LIKE ?", f"%{order_id}%"))

    def _rows(self, query: str, *values: str) -> list[dict[str, str]]:
        with closing(sqlite3.connect(f"file:{self.home / FILE_NAME}?mode=ro", uri=True)) as book:
            book.row_factory = sqlite3.Row
            return [dict(row) for row in book.execute(query, values)]


async def until(condition: Callable[[], object]) -> None:
    """Wait until something outside of this process has come true."""
    async with asyncio.timeout(WITHIN):
        while not condition():
            await asyncio.sleep(0.02)
