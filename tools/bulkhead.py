"""Bulkheads: a tool may hold only so many calls of a process, so that a slow one cannot use up the worker.

A call waits a short while for its turn and is then turned away: what has not started has changed nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

LONGEST_WAIT: Final = 2.0
"""Seconds a call waits for its turn at most, whatever its time-out."""


class Full(Exception):  # noqa: N818 - states a condition
    """No turn came in time. Nothing was started."""


class Bulkheads:
    """One compartment per tool, made when first used."""

    def __init__(self, longest_wait: float = LONGEST_WAIT) -> None:
        self._rooms: dict[str, asyncio.Semaphore] = {}
        self._longest_wait = longest_wait

    @contextlib.asynccontextmanager
    async def room(self, name: str, size: int, patience: float) -> AsyncIterator[None]:
        """Hold one of the `size` places of `name`; wait at most `patience` seconds. Raises `Full`."""
        places = self._rooms.get(name)
        if places is None:
            places = self._rooms[name] = asyncio.Semaphore(size)
        if places.locked():
            try:
                await asyncio.wait_for(places.acquire(), min(patience, self._longest_wait))
            except TimeoutError as error:
                raise Full(name) from error
        else:
            await places.acquire()
        try:
            yield
        finally:
            places.release()
