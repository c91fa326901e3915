"""Work that may take longer than Slack waits for an acknowledgement: begun at once, waited for a moment, and finished afterwards if need be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Later:
    """The work under way of one desk."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def within(self, seconds: float, work: Coroutine[Any, Any, T], late: Callable[[T], Awaitable[None]] | None = None) -> tuple[bool, T | None]:
        """Whether `work` was done within so many seconds, and what it gave; otherwise it goes on, and `late` gets its result.

        An error of work that is done in time is raised here, one of late work is logged.
        """
        task = asyncio.create_task(work)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if done:
            return True, task.result()
        self._keep(asyncio.create_task(self._finish(task, late)), task)
        return False, None

    def _keep(self, *tasks: asyncio.Task[Any]) -> None:
        for task in tasks:  # the loop itself holds no task that nobody waits for
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _finish(task: asyncio.Task[T], late: Callable[[T], Awaitable[None]] | None) -> None:
        try:
            result = await task
            if late is not None:
                await late(result)
        except Exception as error:  # noqa: BLE001 - nobody waits for it any more: all that is left to do is to say so
            log.error("late_work_failed", error=type(error).__name__)

    async def close(self, grace: float = 2.0) -> None:
        """Let what is under way end, for at most `grace` seconds, then stop it."""
        tasks = set(self._tasks)
        if not tasks:
            return
        _, left = await asyncio.wait(tasks, timeout=grace)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=grace)
