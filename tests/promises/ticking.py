"""A replica that does nothing but keep time: a process of its own that notes every tick it begins, each step of it and its end, in one file."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping

import structlog

from bot.scheduled import Job, JobContext, Outcome, Scheduled
from memory.connect import connect
from memory.slots import Slot, Slots

STEPS = 3
STEP = 0.02
"""Seconds."""


class Noting(Scheduled):
    """Notes what counts, after it counted."""

    def __init__(self, every: float, slots: Slots, file: int) -> None:
        super().__init__([Job("tick", self.tick, every=every)], slots)
        self.file = file

    def note(self, *words: object) -> None:
        os.write(self.file, (" ".join(map(str, (*words, os.getpid()))) + "\n").encode())

    async def tick(self, context: JobContext) -> Mapping[str, int]:
        first = int(context.cursor or 0)
        self.note("begun", context.at, first)
        for step in range(first, STEPS):
            await asyncio.sleep(STEP)
            self.note("step", context.at, step)
            await context.save(str(step + 1) if step + 1 < STEPS else "")
        return {"steps": STEPS - first}

    async def work(self, job: Job, slot: Slot, *, dry: bool = False) -> Outcome:
        outcome = await super().work(job, slot, dry=dry)
        if outcome.ours and not outcome.failed:
            self.note("done", slot.at, outcome.counts["steps"])
        return outcome


async def main(url: str, path: str, every: float) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = connect(url, timeout=2.0)
    replica = Noting(every, Slots(client), os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
    replica.start()
    replica.note("up", 0, 0)
    await stop.wait()
    await replica.stop()
    await client.aclose()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
