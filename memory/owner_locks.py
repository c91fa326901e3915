"""Locks on the owners of memories that hold over several replicas: an entry in Redis with a lifetime, on top of the lock within the process."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

import structlog
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Keys
from memory.longterm.access import Owner
from memory.longterm.locks import PATIENCE, LocalLocks
from memory.longterm.store import StoreDown

LIFETIME: Final = 30.0
"""Seconds after which the lock of a holder that died is free; nothing done under it takes nearly as long."""
PAUSE: Final = 0.05
_FREE: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)

log = structlog.get_logger(__name__)


class OwnerLocks:
    """See `memory.longterm.locks.Locks`."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "", patience: float = PATIENCE) -> None:
        self._client: Any = client
        self._keys = Keys(space)
        self._local = LocalLocks(patience)
        self._patience = patience

    @asynccontextmanager
    async def held(self, owner: Owner) -> AsyncIterator[None]:
        """Hold the owner's lock for a block. Raises `StoreDown`."""
        async with self._local.held(owner):
            key, token = self._keys.owner_lock(owner.tag), secrets.token_hex(8)
            try:
                await self._take(key, token)
                yield
            finally:
                await self._free(key, token)

    async def _take(self, key: str, token: str) -> None:
        end = monotonic() + self._patience
        try:
            while not await self._client.set(key, token, nx=True, px=int(LIFETIME * 1000)):
                if monotonic() > end:
                    raise StoreDown("busy")
                await asyncio.sleep(PAUSE)
        except _DOWN as error:
            raise StoreDown(type(error).__name__) from error

    async def _free(self, key: str, token: str) -> None:
        try:
            await self._client.eval(_FREE, 1, key, token)
        except _DOWN as error:  # it ends by itself
            log.warning("owner_lock_not_freed", reason=type(error).__name__)
