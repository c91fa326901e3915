"""What became of the latest actions a person was asked about: for their App Home. Names and outcomes only, no arguments."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Actor, Keys
from memory.mailbox import MailboxDown

MOST: Final = 20
LIFETIME: Final = 30 * 86_400
"""Seconds after the latest one."""
_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)


class Decided(NamedTuple):
    """One action and what became of it."""

    tool: str
    status: str
    at: float
    """Seconds since the epoch."""
    permalink: str
    """Where its card stands."""


class DecisionLog:
    """All operations. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "") -> None:
        self._client: Any = client
        self._keys = Keys(space)

    async def note(self, actor: Actor, call_id: str, decided: Decided) -> None:
        """Keep one; the same call again takes its place. Raises `MailboxDown`."""
        key = self._keys.decisions(actor)
        try:
            for member in await self._client.zrange(key, 0, -1):
                if member.startswith(f"{call_id}\x1f".encode()):
                    await self._client.zrem(key, member)
            await self._client.zadd(key, {f"{call_id}\x1f{decided.tool}\x1f{decided.status}\x1f{decided.permalink}": decided.at})
            await self._client.zremrangebyrank(key, 0, -MOST - 1)
            await self._client.expire(key, LIFETIME)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def of(self, actor: Actor) -> list[Decided]:
        """The latest, newest first. Raises `MailboxDown`."""
        try:
            found = await self._client.zrange(self._keys.decisions(actor), 0, -1, desc=True, withscores=True)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [Decided(tool, status, float(at), link) for member, at in found for _, tool, status, link in [member.decode().split("\x1f")]]
