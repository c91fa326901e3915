"""Which answers used which memories: for "why did you say that?", and so that forgetting reaches the threads a memory was used in.

Ids only, no words. A list for each person, the newest first, kept as long as the threads it speaks of. What a channel agreed is used in
everybody's threads there: of each agreement it is noted in which. What a request is about to have forgotten is noted too, so that after a crash
its second try knows what the first one did.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Actor, Keys, Thread
from memory.longterm.access import Owner
from memory.mailbox import MailboxDown

MOST: Final = 1_000
"""Answers remembered of one person."""
MOST_AGREED: Final = 50_000
"""Uses of agreements remembered of one channel: one for each agreement and answer."""
BEGUN_FOR: Final = 7 * 86_400
"""Seconds for which it is remembered what a request is about to have forgotten: longer than any request is tried again."""
_BETWEEN: Final = " "
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


class Begun(BaseModel):
    """What one request began to have forgotten."""

    model_config = ConfigDict(frozen=True)

    actor: Actor
    mark: str
    ids: tuple[str, ...]
    thread: Thread | None = None
    """In whose channel agreements were meant too."""
    also: tuple[tuple[Thread, str], ...] = ()
    """Further messages that carry it, as the one that asked for it."""


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

    async def note_agreed(self, used: Used) -> None:
        """Keep that an answer used these agreements of its channel. Raises `MailboxDown`."""
        key, at = self._keys.agreed(used.thread), used.at
        try:
            await self._client.zadd(key, {_BETWEEN.join((one, used.thread.id, used.run_id)): at for one in used.ids})
            await self._client.zremrangebyscore(key, "-inf", at - self._lifetime)
            await self._client.zremrangebyrank(key, 0, -MOST_AGREED - 1)
            await self._client.expire(key, self._lifetime)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def agreed(self, channel: Thread, ids: Collection[str]) -> list[tuple[Thread, str]]:
        """The answers in a channel that used one of these agreements: their threads and runs. Raises `MailboxDown`."""
        try:
            found = await self._client.zrange(self._keys.agreed(channel), 0, -1)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        uses = (raw.decode().split(_BETWEEN, 2) for raw in found)
        return [(Thread.parse(place), run) for place, run in dict.fromkeys((place, run) for one, place, run in uses if one in ids)]

    async def times(self, owner: Owner) -> list[tuple[str, float]]:
        """Which of an owner's memories were at hand for an answer, and when (seconds since the epoch). Raises `MailboxDown`."""
        if owner.kind == "person":
            answers = await self.of(Actor(team_id=owner.team_id, user_id=owner.id))
            return [(one, used.at) for used in answers for one in used.ids]
        try:
            key = self._keys.agreed(Thread(team_id=owner.team_id, channel_id=owner.id))
            found = await self._client.zrange(key, 0, -1, withscores=True)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [(raw.decode().partition(_BETWEEN)[0], float(at)) for raw, at in found]

    async def begin(self, actor: Actor, mark: str, ids: Sequence[str], thread: Thread | None = None, also: Sequence[tuple[Thread, str]] = ()) -> None:
        """Note what a request is about to have forgotten (of `thread`'s channel too), with what else carries it, until `done`. Raises `MailboxDown`."""
        begun = Begun(actor=actor, mark=mark, ids=tuple(ids), thread=thread, also=tuple(also))
        try:
            await self._client.hset(self._keys.unfinished, f"{actor.user_id} {mark}", begun.model_dump_json())
            await self._client.set(self._keys.forgetting(actor, mark), _BETWEEN.join(ids), ex=BEGUN_FOR)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def done(self, actor: Actor, mark: str) -> None:
        """Note that a request's memories are forgotten; its next try still finds which they were. Raises `MailboxDown`."""
        try:
            await self._client.hdel(self._keys.unfinished, f"{actor.user_id} {mark}")
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error

    async def unfinished(self) -> list[Begun]:
        """What requests began to have forgotten and did not get to the end of. Raises `MailboxDown`."""
        try:
            found = await self._client.hvals(self._keys.unfinished)
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return [begun for raw in found if (begun := _begun(raw)) is not None]

    async def begun(self, actor: Actor, mark: str) -> list[str]:
        """What an earlier try of the same request was about to have forgotten; empty when there was none. Raises `MailboxDown`."""
        try:
            found = await self._client.get(self._keys.forgetting(actor, mark))
        except _DOWN as error:
            raise MailboxDown(type(error).__name__) from error
        return found.decode().split(_BETWEEN) if found else []

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


def _begun(raw: bytes) -> Begun | None:
    """None for a later version's, which that one finishes."""
    try:
        return Begun.model_validate_json(raw)
    except ValidationError:
        return None
