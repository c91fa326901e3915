"""Parts of a benchmark in processes of their own: a child that answers orders, and the parent's handle on it.

Parent and child speak JSON, one object a line, over the child's standard input and output: the child first says what
it is (its address, say), then answers one order after another. It ends when its standard input closes, so it never
outlives the benchmark. Every child can say what it has used: `{"do": "usage"}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import uvloop

Json = dict[str, Any]
Orders = Mapping[str, Callable[[Json], Awaitable[Json]]]

LONGEST_LINE: Final = 64 * 1024 * 1024
ROOT: Final = Path(__file__).parents[1]


def rss() -> int:
    """Bytes of memory this process holds now (where the system does not say: the most it ever held)."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


async def _usage(_: Json) -> Json:
    """Seconds of processor time used by all threads so far, and bytes held."""
    return {"cpu": time.process_time(), "rss": rss()}


async def obey(hello: Json, orders: Orders) -> None:
    """The child's life: say `hello`, then answer orders until standard input closes."""
    answers: Orders = {"usage": _usage, **orders}
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print(json.dumps(hello), flush=True)
    while line := await reader.readline():
        order = json.loads(line)
        print(json.dumps(await answers[order.pop("do")](order)), flush=True)


class Child:
    """The parent's handle: `hello` is what the child said first."""

    def __init__(self, process: asyncio.subprocess.Process, hello: Json) -> None:
        self.hello = hello
        self._process = process

    async def ask(self, do: str, **order: Any) -> Json:
        """Give an order and wait for the answer. Raises `RuntimeError` when the child ended instead."""
        if self._process.stdin is None:
            raise RuntimeError("the child has no input")
        self._process.stdin.write(json.dumps({"do": do, **order}).encode() + b"\n")
        return await _line(self._process)

    async def close(self) -> None:
        """Let it end; after five seconds make it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def _line(process: asyncio.subprocess.Process) -> Json:
    if process.stdout is None:
        raise RuntimeError("the child has no output")
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError(f"a part of the benchmark ended with code {await process.wait()}")
    answer: Json = json.loads(line)
    return answer


@contextlib.asynccontextmanager
async def child(module: str, *arguments: str) -> AsyncIterator[Child]:
    """Start `python -m module arguments…`, wait for its first line, end it at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, limit=LONGEST_LINE
    )
    handle = Child(process, {})
    try:
        handle.hello = await _line(process)
        yield handle
    finally:
        await handle.close()


def run(work: Awaitable[None]) -> None:
    """Run to the end on the loop the product uses."""

    async def main() -> None:
        await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
