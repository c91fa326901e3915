"""Deleting everything a workspace has left in Redis: sessions, reminders, permissions, trails, caches. For when the app was taken out of it."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Keys
from memory.mailbox import MailboxDown


async def erase_space(client: Redis | RedisCluster, space: str) -> int:
    """Delete every key of a workspace; how many. Safe to repeat. Raises `ValueError` without a workspace, `MailboxDown`."""
    if not space:
        raise ValueError("whose keys?")
    gone, asked = 0, Keys(space).everything
    connection: Any = client
    try:
        async for key in connection.scan_iter(match=asked, count=1_000):
            gone += int(await connection.unlink(key))
    except (RedisError, RedisClusterException, OSError, TimeoutError) as error:
        raise MailboxDown(type(error).__name__) from error
    return gone
