"""One writer at a time for each owner: what is read, compared and written again must not be changed by somebody else meanwhile.

In one process an asyncio lock is enough. With several replicas the same lock is held in Redis as well (`memory.owner_locks`). A lock that
cannot be had in time raises `StoreDown`, and the work is done later; a lock lost by a process that froze does no lasting harm, because
changes replace only what is still there (`Store.put(existing=True)`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol
from weakref import WeakValueDictionary

from memory.longterm.access import Owner
from memory.longterm.store import StoreDown

PATIENCE = 10.0
"""Seconds a writer waits for its turn."""


class Locks(Protocol):
    """Locks by owner."""

    def held(self, owner: Owner) -> AbstractAsyncContextManager[None]:
        """Hold the owner's lock for a block. Raises `StoreDown` when it is not to be had."""
        ...


class LocalLocks:
    """For one process."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._patience = patience

    @asynccontextmanager
    async def held(self, owner: Owner) -> AsyncIterator[None]:
        """See `Locks`."""
        lock = self._locks.setdefault(owner.tag, asyncio.Lock())
        try:
            async with asyncio.timeout(self._patience):
                await lock.acquire()
        except TimeoutError as error:
            raise StoreDown("busy") from error
        try:
            yield
        finally:
            lock.release()
