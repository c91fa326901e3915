"""The bot's end of the pipe to a process of `edge_process`: requests go out at once, answers wake those who asked."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import structlog

from memory.longterm.packed import from_text, to_text
from memory.longterm.store import StoreDown

log = structlog.get_logger(__name__)

ROOT: Final = Path(__file__).parents[2]
PIPE: Final = 1 << 22
"""Bytes of an answer that may be under way."""
END_WITHIN: Final = 30.0
"""Seconds the process has to bring everything into place when it is closed; then it is ended, and nothing is lost either."""
START_WITHIN: Final = 60.0
"""Seconds the process has to be ready once it is started."""
ANSWER_WITHIN: Final = 30.0
"""Seconds without any answer, while one is waited for, after which the process hangs: it is ended, and the next call starts it again."""


class Link:
    """One such process, started with what it is to be. Every failure is a `StoreDown`."""

    def __init__(self, kind: str, *arguments: Any, within: float = ANSWER_WITHIN) -> None:
        """`within`: seconds as for `ANSWER_WITHIN`."""
        self._first = (kind, arguments)
        self._within = within
        self._limit = START_WITHIN
        self._heard = 0.0
        self._looking: asyncio.TimerHandle | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Start the process and wait until it is ready."""
        async with self._starting:
            if self._process is not None:
                return
            if self._closed:
                raise StoreDown("the store is closed")
            # It gets nothing of our environment that it does not need, least of all the tokens in it.
            surroundings = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
            command = (sys.executable, "-P", "-m", "memory.longterm.edge_process")
            pipe = asyncio.subprocess.PIPE
            try:
                # A session of its own: a Ctrl-C at the terminal is for us, and we end it, even before it has come as far as to ignore one.
                process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=surroundings, limit=PIPE, start_new_session=True)
            except OSError as error:
                raise StoreDown(f"the store's process does not start: {error}") from error
            self._process, self._limit = process, START_WITHIN
            self._reader = asyncio.create_task(self._read(process), name="memory-store")
            try:
                await self._ask(process, self._first[0], self._first[1])
            except BaseException:
                await self._end(process, 0.0)
                raise
            self._look_no_more()
            self._limit = self._within

    async def call(self, name: str, *arguments: Any) -> Any:
        """Ask for something and wait for the answer. A process that died is started again first."""
        if self._process is None:
            await self.start()
        process = self._process
        if process is None:
            raise StoreDown("the store's process ended")
        return await self._ask(process, name, arguments)

    async def _ask(self, process: asyncio.subprocess.Process, name: str, arguments: Any) -> Any:
        number = next(self._numbers)
        text = to_text((number, name, arguments))
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._heard = loop.time()  # there was nothing to hear until now
        future = self._waiting[number] = loop.create_future()
        if self._looking is None:
            self._looking = loop.call_later(self._limit, self._look, process)
        stdin = process.stdin
        if stdin is None:
            raise RuntimeError("a process without its input")
        try:
            stdin.write(len(text).to_bytes(4, "big") + text)
            await stdin.drain()
            return await future
        except OSError as error:
            raise StoreDown("the store's process ended") from error
        finally:
            self._waiting.pop(number, None)
            if future.done() and not future.cancelled():
                future.exception()  # the pipe may have told it before: nobody else asks for it

    def _look(self, process: asyncio.subprocess.Process) -> None:
        """End a process that has said nothing for too long: whoever waits for it then learns that it ended."""
        self._looking = None
        if not self._waiting or process is not self._process:
            return
        loop = asyncio.get_running_loop()
        left = self._heard + self._limit - loop.time()
        if left > 0:
            self._looking = loop.call_later(left, self._look, process)
            return
        log.error("memory_store_process_hangs", waiting=len(self._waiting))
        with suppress(ProcessLookupError):
            process.kill()  # a stopped one ends too

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        stdout = process.stdout
        if stdout is None:
            raise RuntimeError("a process without its output")
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await stdout.readexactly(4), "big")
                number, error, result = from_text(await stdout.readexactly(size))
                self._heard = asyncio.get_running_loop().time()
                future = self._waiting.get(number)
                if future is None or future.done():
                    continue
                if error:
                    future.set_exception(StoreDown(error))
                else:
                    future.set_result(result)
        if self._process is process:
            self._process = None
            self._look_no_more()
            if not self._closed:
                log.error("memory_store_process_ended")
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(StoreDown("the store's process ended"))

    async def close(self, *, finish: bool = True) -> None:
        """End the process; `finish`: let it bring everything into place first. Raises `StoreDown` when that failed."""
        self._closed = True
        process = self._process
        if process is None:
            return
        try:
            if finish:
                async with asyncio.timeout(END_WITHIN):
                    await self._ask(process, "close", ())
        except TimeoutError:
            log.warning("memory_store_slow_to_close")
        finally:
            await self._end(process, 5.0 if finish else 0.0)

    async def _end(self, process: asyncio.subprocess.Process, patience: float) -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(patience):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._reader is not None:
            await self._reader
        self._look_no_more()
        self._process = None

    def _look_no_more(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
