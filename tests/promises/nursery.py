"""A process that has imported the bot once and makes bots by forking, so that a test can kill dozens of them in seconds.

    python -m tests.promises.nursery

Each line on standard input asks for one bot: `{"id": 1, "values": {…}, "mutants": […], "log": "FILE"}`, with `values`
as `tests.fakes.bot_process` takes them. Standard output tells, one line each: `ID pid N`, what the bot prints
(`ID ready PORT`), and `ID ended STATUS` (negative: killed by that signal). The bots are real processes of their own;
when standard input closes, none of them is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from bot.log import configure_logging
from bot.model import Model, ModelError
from tests.fakes import bot_process
from tests.promises.mutants import MUTANTS


class Named(io.TextIOBase):
    """Standard output of one bot: whole lines, with its id in front."""

    def __init__(self, bot_id: int) -> None:
        self._id = bot_id
        self._kept = ""

    def write(self, text: str) -> int:
        *lines, self._kept = (self._kept + text).split("\n")
        for line in lines:
            tell(f"{self._id} {line}")
        return len(text)


def tell(line: str) -> None:
    """One line to the test, in one write: several processes share the pipe."""
    os.write(1, f"{line}\n".encode())


def live(order: dict[str, Any]) -> None:
    """A bot's whole life, in the process just forked. Never returns."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = Named(order["id"])
        with Path(order["log"]).open("a", encoding="utf-8", buffering=1) as log:
            sys.stderr = log
            configure_logging(level="INFO", stream=log)
            for name in order.get("mutants", ()):
                MUTANTS[name]()
            asyncio.run(bot_process.main(order["values"]))
            status = 0
    except BaseException:  # noqa: BLE001 - whatever ended it stands in its log
        traceback.print_exc()
    finally:
        os._exit(status)


async def warm() -> None:
    """Import what the libraries import late, so that no bot has to: the port asked is one where nobody answers."""
    model = Model(base_url="http://127.0.0.1:9", api_key="none", models=("none",), attempts=1)
    with contextlib.suppress(ModelError):
        await model.ask([], [])
    await model.close()


def main() -> None:
    """Take orders until standard input closes."""
    configure_logging(level="CRITICAL")
    asyncio.run(warm())
    children: dict[int, int] = {}

    def reap(*_: object) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            tell(f"{children.pop(pid)} ended {os.waitstatus_to_exitcode(status)}")

    signal.signal(signal.SIGCHLD, reap)
    for line in sys.stdin:
        order = json.loads(line)
        # A bot may end before its number is noted here: its end is looked at afterwards.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        pid = os.fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            live(order)
        children[pid] = order["id"]
        tell(f"{order['id']} pid {pid}")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
