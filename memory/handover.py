"""The end of a session: what a thread was about is kept when nobody has written there for long, before its messages expire.

Sessions that have been idle for most of their lifetime are found by the time they were last active; what is worth keeping of each (its
summary and key facts, with who said them) is put into a queue from which long-term memory takes it. Queue and mark change in one script,
so a session is handed over once, and one that came to life again or was forgotten meanwhile is left alone.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import SHARDS, Actor, Keys, Thread
from memory.mailbox import MailboxDown
from memory.scripts import Scripts
from memory.session_memory import Fact, Summary

LIFETIME: Final = 90 * 86_400
"""Seconds for which what was handed over of a thread waits to be taken; each has its own time."""
MOST: Final = 10_000
"""Threads of one shard that may wait; the oldest make room."""
_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)


class HandedOver(BaseModel):
    """What is kept of one thread."""

    model_config = ConfigDict(frozen=True)

    v: int = 1
    thread: Thread
    summary: Summary
    facts: tuple[Fact, ...] = ()
    people: tuple[Actor, ...] = ()
    """Who spoke there."""
    last_active: float
    """Seconds since the epoch."""


class Handovers:
    """All operations. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "") -> None:
        """`space` is the workspace whose sessions these are, as for the mailbox."""
        self._client: Any = client
        self._keys = Keys(space)
        self._scripts = Scripts(client, ("over", "read"), prefix="hand_")

    async def idle(self, shard: int, before: float, *, skip: int = 0, limit: int = 20) -> list[tuple[Thread, float]]:
        """Sessions last active before `before` (seconds since the epoch), the longest idle first, each with that time; the first `skip` are passed over.

        Raises `MailboxDown`.
        """
        try:
            found = await self._client.zrangebyscore(self._keys.idle(shard), "-inf", int(before * 1000), start=skip, num=limit, withscores=True)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [(Thread.parse(session.decode()), float(score) / 1000) for session, score in found]

    async def hand_over(self, thread: Thread, last_active: float, kept: HandedOver | None) -> bool:
        """Put what is kept into the queue (None: there is nothing to keep) and look at this session no more until it is active again.

        False when it has been active since `last_active`, or was forgotten. Raises `MailboxDown`.
        """
        shard = thread.shard
        names = (self._keys.idle(shard), self._keys.handovers(shard), self._keys.handover_times(shard))
        args = (thread.id, round(last_active * 1000), kept.model_dump_json() if kept is not None else "", MOST, LIFETIME)
        try:
            return bool(await self._scripts.run("over", names, args))
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def waiting(self, shard: int, limit: int = 100) -> list[HandedOver]:
        """What was handed over and not taken yet, the longest waiting first. Raises `MailboxDown`."""
        return await self._read(shard, limit)

    async def of(self, thread: Thread) -> HandedOver | None:
        """What was handed over of one thread and not taken yet. Raises `MailboxDown`."""
        return next(iter(await self._read(thread.shard, 1, thread.id)), None)

    async def expire(self, shard: int) -> None:
        """Drop what has waited for too long. Raises `MailboxDown`."""
        await self._read(shard, 0)

    async def _read(self, shard: int, limit: int, *sessions: str) -> list[HandedOver]:
        names = (self._keys.handovers(shard), self._keys.handover_times(shard))
        try:
            found = await self._scripts.run("read", names, (LIFETIME, limit, *sessions))
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [HandedOver.model_validate_json(each) for each in found]

    async def taken(self, thread: Thread) -> None:
        """What was kept of this thread was taken in. Raises `MailboxDown`."""
        await self.forget(thread)

    async def forget(self, thread: Thread) -> bool:
        """Drop what was kept of this thread; whether there was anything. Raises `MailboxDown`."""
        try:
            gone = await self._client.hdel(self._keys.handovers(thread.shard), thread.id)
            await self._client.zrem(self._keys.handover_times(thread.shard), thread.id)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return bool(gone)


ALL_SHARDS: Final = range(SHARDS)
