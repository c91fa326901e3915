"""Which answers used which of a person's memories: for "why did you say that?", and so that forgetting reaches the threads a memory was used in.

Ids only, no words. A list for each person, the newest first, kept as long as the threads it speaks of.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Actor, Keys, Thread
from memory.mailbox import MailboxDown

MOST: Final = 1_000
"""Answers remembered of one person."""
_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)


class Used(BaseModel):
    """One answer."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    thread: Thread
    at: float
    """Seconds since the epoch."""
    ids: tuple[str, ...]
    """The memories it had at hand."""


class RecallTrail:
    """All operations. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "", lifetime: float = 60 * 86_400.0) -> None:
        """`lifetime` in seconds, counted from a person's latest answer: at least that of a thread."""
        self._client: Any = client
        self._keys = Keys(space)
        self._lifetime = int(lifetime)

    async def note(self, actor: Actor, used: Used) -> None:
        """Keep one answer; the same run again takes the earlier entry's place. Raises `MailboxDown`."""
        key = self._keys.recalled(actor)
        try:
            latest = await self._client.lindex(key, 0)
            if latest is not None and (before := _read(latest)) is not None and before.run_id == used.run_id:
                await self._client.lset(key, 0, used.model_dump_json())
            else:
                await self._client.lpush(key, used.model_dump_json())
                await self._client.ltrim(key, 0, MOST - 1)
            await self._client.expire(key, self._lifetime)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def of(self, actor: Actor, limit: int = MOST) -> list[Used]:
        """The latest answers, newest first. Raises `MailboxDown`."""
        try:
            found = await self._client.lrange(self._keys.recalled(actor), 0, limit - 1)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [used for raw in found if (used := _read(raw)) is not None]

    async def note_forgotten(self) -> None:
        """Note that something was forgotten, so that files have to be rewritten. Raises `MailboxDown`."""
        try:
            await self._client.set(self._keys.forgotten, b"1")
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def forgotten(self, *, take: bool) -> bool:
        """Whether something was forgotten since the last time; `take` clears the note. Raises `MailboxDown`."""
        try:
            found = await (self._client.getdel(self._keys.forgotten) if take else self._client.get(self._keys.forgotten))
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return found is not None

    async def forget(self, actor: Actor) -> None:
        """Drop everything of one person. Raises `MailboxDown`."""
        try:
            await self._client.delete(self._keys.recalled(actor))
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error


def _read(raw: bytes) -> Used | None:
    try:
        return Used.model_validate_json(raw)
    except ValidationError:  # a later version's
        return None
