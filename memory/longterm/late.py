"""A store that may come later: the program starts without its server, answers that memory is away, and tries again until it is there.

Only a store that does not answer is waited for. One that answers and cannot be used (another model's vectors, a newer schema) is an error at
start; should a server turn out so later, that is said in the log and memory stays away.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from time import monotonic
from typing import Final

import structlog

from memory.longterm.access import Owner
from memory.longterm.store import Floats, Hit, Record, Store, StoreDown, StoreError, What, Where

PAUSE: Final = 5.0
"""Seconds between two tries to reach a server that is away."""

log = structlog.get_logger(__name__)


class LateStore:
    """`Store` over another one that may not have been reached yet."""

    def __init__(self, store: Store, *, pause: float = PAUSE) -> None:
        self._store = store
        self.model = store.model
        self.size = store.size
        self._pause = pause
        self._started = False
        self._next = 0.0
        self._starting = asyncio.Lock()
        self._reaching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Try once. Raises `StoreError`; a store that is away is tried again when it is needed."""
        try:
            await self._reach()
        except StoreDown as error:
            log.warning("memory_store_away", reason=str(error))

    async def _reach(self) -> None:
        await self._store.start()
        self._started = True

    async def _there(self) -> Store:
        if self._started:
            return self._store
        async with self._starting:
            if not self._started:
                if self._reaching is None or self._reaching.done():
                    if monotonic() < self._next:
                        raise StoreDown("not reached yet")
                    self._next = monotonic() + self._pause
                    self._reaching = asyncio.create_task(self._reach())
                try:
                    await asyncio.shield(self._reaching)  # who does not wait as long must not keep it from being reached
                except StoreError as error:
                    log.error("memory_store_unusable", reason=str(error))
                    raise StoreDown("unusable") from error
        return self._store

    async def close(self) -> None:
        """See `Store`."""
        if self._reaching is not None and not self._reaching.done():
            self._reaching.cancel()
            await asyncio.wait([self._reaching])
        await self._store.close()

    async def put(self, records: Sequence[Record], *, existing: bool = False) -> None:
        """See `Store`."""
        await (await self._there()).put(records, existing=existing)

    async def get(self, owner: Owner, ids: Sequence[str]) -> list[Record]:
        """See `Store`."""
        return await (await self._there()).get(owner, ids)

    async def search(self, where: Where, *, dense: Floats | None, words: Mapping[int, float], limit: int) -> list[Hit]:
        """See `Store`."""
        return await (await self._there()).search(where, dense=dense, words=words, limit=limit)

    async def list(self, where: Where, *, limit: int, before: tuple[float, str] | None = None, vectors: bool = False) -> list[Record]:
        """See `Store`."""
        return await (await self._there()).list(where, limit=limit, before=before, vectors=vectors)

    async def count(self, where: Where) -> int:
        """See `Store`."""
        return await (await self._there()).count(where)

    async def delete(self, owner: Owner, ids: Sequence[str]) -> int:
        """See `Store`."""
        return await (await self._there()).delete(owner, ids)

    async def delete_owner(self, owner: Owner, *, keep: Sequence[What] = ()) -> int:
        """See `Store`."""
        return await (await self._there()).delete_owner(owner, keep=keep)

    async def delete_team(self, team_id: str) -> int:
        """See `Store`."""
        return await (await self._there()).delete_team(team_id)

    async def owners(self, team_id: str | None = None) -> AsyncIterator[Owner]:
        """See `Store`."""
        async for owner in (await self._there()).owners(team_id):
            yield owner

    async def scrub(self) -> None:
        """See `Store`."""
        await (await self._there()).scrub()

    async def stats(self) -> dict[str, float]:
        """See `Store`."""
        return await (await self._there()).stats()
