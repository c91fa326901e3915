"""Standing permissions: what a person allowed in advance, kept in Redis until it expires or is revoked.

One grant is one key that dies by itself; an index per person finds them. All keys of a person share a hash tag, so the same
code runs on one Redis and on a cluster. Every look goes to Redis: a grant that is revoked is gone for every replica at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import time
from typing import Any, Final

import structlog
from pydantic import ValidationError
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.grant import Grant, Used
from memory.keys import Actor, Keys
from memory.scripts import Scripts

log = structlog.get_logger(__name__)

MAX_GRANTS: Final = 100
"""Standing permissions one person may have at a time."""
REVOKED_LIFETIME: Final = 7 * 24 * 3600
"""Seconds for which a revoked id cannot be put again."""


class GrantsDown(Exception):  # noqa: N818 - states a condition
    """Redis did not answer in time. Nothing can be said about whether a change was made."""


class Grants:
    """The standing permissions of one workspace. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "", clock: Callable[[], float] = time) -> None:
        """`space` is the workspace; `clock` gives seconds since the epoch."""
        self._client: Any = client
        self._keys = Keys(space)
        self._clock = clock
        self._scripts = Scripts(client, ("put",), prefix="grant_")

    async def put(self, grant: Grant) -> bool:
        """Keep a grant, unless it has expired or was revoked; putting it again changes nothing. False when the person has `MAX_GRANTS` already.

        Raises `GrantsDown`.
        """
        base = self._keys.grants(grant.actor)
        document = grant.model_dump_json().encode()
        names = (f"{base}index", base + grant.id, f"{base}revoked:{grant.id}")
        answer = self._scripts.run("put", names, (grant.id, document, int(grant.expires_at * 1000), MAX_GRANTS))
        return int(await _read(answer)) >= 0

    async def list(self, actor: Actor) -> list[tuple[Grant, Used]]:
        """A person's grants that hold now, newest first, with their use. Raises `GrantsDown`."""
        base = self._keys.grants(actor)
        found = sorted(await self._held(actor), key=lambda grant: grant.created_at, reverse=True)
        if not found:
            return []
        names = [f"{base}{what}:{grant.id}" for what in ("used", "last") for grant in found]
        values: Sequence[bytes | None] = await _read(self._client.mget(names))
        times, lasts = values[: len(found)], values[len(found) :]
        return [(grant, Used(times=int(n or 0), last=float(at or 0))) for grant, n, at in zip(found, times, lasts, strict=True)]

    async def count(self, actor: Actor) -> int:
        """How many grants that hold now a person has. Raises `GrantsDown`."""
        return int(await _read(self._client.zcount(f"{self._keys.grants(actor)}index", int(self._clock() * 1000), "+inf")))

    async def find(self, actor: Actor, channel_id: str) -> Sequence[Grant]:
        """A person's grants for one channel that hold now. Raises `GrantsDown`."""
        return [grant for grant in await self._held(actor) if grant.channel_id == channel_id]

    async def _held(self, actor: Actor) -> Sequence[Grant]:
        base = self._keys.grants(actor)
        ids: Sequence[bytes] = await _read(self._client.zrange(f"{base}index", 0, -1))
        if not ids:
            return []
        documents: Sequence[bytes | None] = await _read(self._client.mget([base + name.decode() for name in ids]))
        return [grant for document in documents if document is not None and (grant := self._valid(document, actor)) is not None]

    def _valid(self, document: bytes, actor: Actor) -> Grant | None:
        try:
            grant = Grant.model_validate_json(document)
        except ValidationError as error:
            # Written by another version: what cannot be understood allows nothing.
            log.warning("grant_unreadable", errors=error.error_count())
            return None
        return grant if grant.actor == actor and self._clock() < grant.expires_at else None

    async def count_use(self, grant: Grant) -> None:
        """Note that the grant let a call pass. Raises `GrantsDown`."""
        base, over = self._keys.grants(grant.actor), int(grant.expires_at * 1000)
        await _read(self._client.incr(f"{base}used:{grant.id}"))
        await _read(self._client.pexpireat(f"{base}used:{grant.id}", over))
        await _read(self._client.set(f"{base}last:{grant.id}", f"{self._clock():.3f}", pxat=over))

    async def revoke(self, actor: Actor, grant_id: str) -> bool:
        """End one grant of this person; False when they have none of that id. From then on no replica finds it. Raises `GrantsDown`."""
        if not _plain(grant_id):
            return False
        base = self._keys.grants(actor)
        # First the mark: a call that is being carried out again must not bring back what it brought.
        await _read(self._client.set(f"{base}revoked:{grant_id}", b"1", ex=REVOKED_LIFETIME))
        gone = int(await _read(self._client.delete(base + grant_id)))
        await _read(self._client.zrem(f"{base}index", grant_id))
        await _read(self._client.delete(f"{base}used:{grant_id}", f"{base}last:{grant_id}"))
        return gone > 0


def _plain(grant_id: str) -> bool:
    # What a button or a person gives must be able to name a grant, and none of the other keys beside it.
    return 0 < len(grant_id) <= 200 and grant_id != "index" and ":" not in grant_id


async def _read(request: Awaitable[Any]) -> Any:
    try:
        return await request
    except (RedisError, RedisClusterException, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise GrantsDown(type(error).__name__) from error
