"""The mailbox: one place per session for what came in, what is known and who works on it, over Redis.

Everything that must be true together changes in one Lua script: `deliver` marks an event's identity, stores it and
makes the session due; `claim` hands a due session to one worker under a rising epoch; `commit` writes state,
transcript and mail position, and refuses an old epoch. From this one structure follow order per thread, a single
writer, crash recovery, back-off, approval expiry and delayed wake-ups. All keys of a session and its shard share a
hash tag, so the same code runs on one Redis and on a cluster.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic
from typing import Any, Final

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Keys, Thread
from memory.scripts import Scripts

SEEN_LIFETIME: Final = 24 * 3600
"""Seconds for which an event's identity is remembered; Slack's own retries end after minutes."""
MAIL_LIMIT: Final = 1_000
"""Mails one session may hold unread; more are refused, so that a flood ends at the edge."""
PARKED_LIFETIME: Final = 7 * 24 * 3600
"""Seconds for which a mail that could not be processed is kept."""
MAIL_BATCH: Final = 64
"""Mails handed to a worker at a time."""


class Delivery(Enum):
    """What `deliver` did with an event."""

    STORED = 1
    DUPLICATE = 0
    NOT_FOLLOWED = -1
    FULL = -2


class MailboxDown(Exception):  # noqa: N818 - states a condition, as the field names it
    """Redis did not answer in time or refused to write. Nothing can be said about whether the change was made."""


class Fenced(Exception):  # noqa: N818 - the field's word
    """Another worker holds this session by now: stop, and change nothing more in its name."""


@dataclass(slots=True)
class Claim:
    """A worker's hold on one session."""

    thread: Thread
    epoch: int
    attempts: int
    """Claims since the session last made progress, this one included."""
    consumed: int
    """Mails of this session consumed in all."""
    document: bytes
    """The saved state, empty for a new session."""
    mail: list[bytes]
    deadline: float
    """On this process's monotonic clock: when the lease ends unless renewed."""
    lost: bool = False
    taken: int = field(default=0)
    """Mails of `mail` already folded into the state but not yet committed."""


class Mailbox:
    """All operations on sessions. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(
        self, client: Redis | RedisCluster, *, lease: float = 15.0, idle_lifetime: float = 30 * 86_400, space: str = "", owner: str = "worker"
    ) -> None:
        """`lease` and `idle_lifetime` in seconds; `space` is the workspace whose sessions these are."""
        self._keys = Keys(space)
        self._client: Any = client
        self._lease = lease
        self._idle_lifetime = int(idle_lifetime)
        self._owner = owner
        self._scripts = Scripts(client, ("deliver", "claim", "commit", "renew", "read"))

    @property
    def lease(self) -> float:
        """Seconds a claim holds without being renewed."""
        return self._lease

    async def _run(self, name: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        try:
            return await self._scripts.run(name, names, args)
        except (RedisError, RedisClusterException, OSError, TimeoutError) as error:
            raise MailboxDown(f"{name}: {type(error).__name__}") from error

    async def deliver(self, thread: Thread, key: str, payload: bytes, *, only_if_followed: bool = False) -> Delivery:
        """Store one event. Safe to repeat. Raises `MailboxDown`; the event is then not to be acknowledged."""
        base = self._keys.base(thread.shard)
        names = (
            self._keys.due(thread.shard),
            self._keys.leases(thread.shard),
            f"{base}doc:{thread.id}",
            f"{base}mail:{thread.id}",
            f"{base}seen:{thread.team_id}:{thread.channel_id}:{key}",
        )
        args = (thread.id, payload, SEEN_LIFETIME, int(only_if_followed), MAIL_LIMIT, self._keys.wake_channel, thread.shard)
        return Delivery(int(await self._run("deliver", names, args)))

    async def claim(self, shard: int) -> Claim | None:
        """Take one due session of `shard`, or None. Raises `MailboxDown`."""
        asked = monotonic()
        args = (self._keys.base(shard), self._owner, int(self._lease * 1000), MAIL_BATCH)
        answer = await self._run("claim", (self._keys.due(shard), self._keys.leases(shard)), args)
        if answer is None:
            return None
        session, epoch, attempts, consumed, document, *mail = answer
        try:
            thread = Thread.parse(session.decode())
        except ValueError:
            # No program of ours wrote that; it must not stop the work on what is.
            await self._park(shard, session)
            await self._read(self._client.zrem(self._keys.leases(shard), session))
            return None
        # Counted from before the request: the holder must never believe in its lease longer than Redis does.
        return Claim(thread, int(epoch), int(attempts), int(consumed), document, list(mail), asked + self._lease)

    async def commit(
        self,
        claim: Claim,
        document: bytes | None,
        *,
        log_base: int = 0,
        items: Sequence[bytes] = (),
        progress: bool = True,
        attempts: int | None = None,
        release: bool = False,
        wake: float | None = None,
        log_start: int = 0,
        memory: bytes | None = None,
        index: Mapping[int, bytes] | None = None,
        rewrites: Mapping[int, bytes] | None = None,
        erase: bool = False,
    ) -> None:
        """Write the new state; afterwards `claim.mail` holds what is still unread. Safe to repeat.

        `document` None leaves the stored one. `log_base` is the transcript's length before `items`; items before the position `log_start` are let go.
        `memory` replaces the thread's memory document, `index` blocks of its search index (empty bytes delete one); `erase` deletes both, and what
        was handed over of it. `rewrites` are items that take the place of those at their positions. `progress` starts the count of attempts anew,
        `attempts` sets it. `release` gives the session back, due at `wake` (seconds since the epoch) or when mail comes.
        Raises `Fenced` when another worker took the session, `MailboxDown` when Redis did not answer.
        """
        shard = claim.thread.shard
        base, sid = self._keys.base(shard), claim.thread.id
        names = (
            *(self._keys.due(shard), self._keys.leases(shard), *(f"{base}{part}:{sid}" for part in ("doc", "log", "mail", "meta", "memory", "index"))),
            *(self._keys.recent(claim.thread), self._keys.idle(shard), self._keys.handovers(shard), self._keys.handover_times(shard)),
        )
        # Who goes on holding is the first to try the next step.
        noted = attempts if attempts is not None else None if not progress else 0 if release else 1
        asked = monotonic()
        args = (
            sid,
            claim.epoch,
            document if document is not None else b"",
            log_base,
            claim.consumed + claim.taken,
            "" if noted is None else noted,
            int(release),
            "" if wake is None else int(wake * 1000),
            self._idle_lifetime,
            int(self._lease * 1000),
            self._keys.wake_channel,
            shard,
            MAIL_BATCH,
            log_start,
            "-" if erase else memory or "",
            len(index or {}),
            *(part for pair in (index or {}).items() for part in pair),
            len(rewrites or {}),
            *(part for pair in (rewrites or {}).items() for part in pair),
            *items,
        )
        left = await self._run("commit", names, args)
        if left == -1:
            claim.lost = True
            raise Fenced(sid)
        claim.consumed += claim.taken
        claim.taken = 0
        claim.attempts = claim.attempts if noted is None else noted
        claim.mail = list(left)
        claim.deadline = asked + self._lease
        if release:
            claim.lost = True

    async def begin(self, claim: Claim) -> None:
        """Count this attempt, just before its work starts; the first one was counted by `claim`. Raises `Fenced` or `MailboxDown`."""
        if claim.attempts > 1:
            await self.commit(claim, None, progress=False, attempts=claim.attempts)

    async def renew(self, claim: Claim) -> int:
        """Extend the lease; returns how many mails wait. Raises `Fenced` or `MailboxDown`."""
        shard = claim.thread.shard
        base, sid = self._keys.base(shard), claim.thread.id
        asked = monotonic()
        names = (self._keys.leases(shard), f"{base}meta:{sid}", f"{base}mail:{sid}")
        waiting = int(await self._run("renew", names, (sid, claim.epoch, int(self._lease * 1000))))
        if waiting < 0:
            claim.lost = True
            raise Fenced(sid)
        claim.deadline = asked + self._lease
        return waiting

    async def unread(self, claim: Claim) -> list[bytes]:
        """The mails after those already folded, without taking them. Raises `MailboxDown`."""
        key = f"{self._keys.base(claim.thread.shard)}mail:{claim.thread.id}"
        mail: list[bytes] = await self._read(self._client.lrange(key, claim.taken, claim.taken + MAIL_BATCH - 1))
        return mail

    async def read_document(self, thread: Thread) -> bytes:
        """The committed state of a session, empty when there is none. Raises `MailboxDown`."""
        document: bytes | None = await self._read(self._client.get(f"{self._keys.base(thread.shard)}doc:{thread.id}"))
        return document or b""

    async def read_log(self, thread: Thread, *ranges: tuple[int, int]) -> list[tuple[int, bytes]]:
        """Transcript items with their positions, for each range (first, after the last) in turn; what is not there is left out. Raises `MailboxDown`."""
        wanted = [number for first, stop in ranges if stop > first for number in (first, stop)]
        if not wanted:
            return []
        base = self._keys.base(thread.shard)
        parts = await self._run("read", (f"{base}log:{thread.id}", f"{base}meta:{thread.id}"), wanted)
        return [(int(first) + i, item) for first, *items in parts for i, item in enumerate(items)]

    async def read_memory(self, thread: Thread) -> bytes:
        """The thread's memory document, empty when there is none. Raises `MailboxDown`."""
        document: bytes | None = await self._read(self._client.get(f"{self._keys.base(thread.shard)}memory:{thread.id}"))
        return document or b""

    async def read_index(self, thread: Thread, blocks: Sequence[int]) -> dict[int, bytes]:
        """Blocks of the thread's search index, those that exist. Raises `MailboxDown`."""
        if not blocks:
            return {}
        found = await self._read(self._client.hmget(f"{self._keys.base(thread.shard)}index:{thread.id}", [str(block) for block in blocks]))
        return {block: data for block, data in zip(blocks, found, strict=True) if data is not None}

    async def recent(self, thread: Thread, limit: int = 10) -> list[tuple[Thread, float]]:
        """The threads of a channel in which we were last active, newest first, each with the time (s). Raises `MailboxDown`."""
        found = await self._read(self._client.zrevrange(self._keys.recent(thread), 0, limit - 1, withscores=True))
        return [(Thread.parse(session.decode()), float(score) / 1000) for session, score in found]

    async def follows(self, thread: Thread) -> bool:
        """Whether there is a session for this thread. Raises `MailboxDown`."""
        base = self._keys.base(thread.shard)
        return bool(await self._read(self._client.exists(f"{base}doc:{thread.id}", f"{base}mail:{thread.id}")))

    async def keep(self, thread: Thread, name: str, value: str, seconds: float) -> None:
        """Remember a small value beside a channel's sessions for a short time. Raises `MailboxDown`."""
        await self._read(self._client.set(f"{self._keys.base(thread.shard)}kept:{thread.team_id}:{thread.channel_id}:{name}", value, px=int(seconds * 1000)))

    async def kept(self, thread: Thread, name: str) -> str | None:
        """What `keep` remembered, if it is not over. Raises `MailboxDown`."""
        value: bytes | None = await self._read(self._client.get(f"{self._keys.base(thread.shard)}kept:{thread.team_id}:{thread.channel_id}:{name}"))
        return value.decode() if value is not None else None

    async def count(self, thread: Thread, name: str, seconds: float) -> int:
        """Add one to a small counter of a channel and return it; it starts anew `seconds` after its first. Raises `MailboxDown`."""
        key = f"{self._keys.base(thread.shard)}kept:{thread.team_id}:{thread.channel_id}:{name}"
        number: int = await self._read(self._client.incr(key))
        if number == 1:
            await self._read(self._client.expire(key, int(seconds)))
        return number

    async def park(self, claim: Claim, payload: bytes) -> None:
        """Take an unread mail that cannot be processed out of the way; the last 100 of a shard are kept for whoever looks into them."""
        await self._park(claim.thread.shard, payload)
        await self._read(self._client.lrem(f"{self._keys.base(claim.thread.shard)}mail:{claim.thread.id}", 1, payload))
        claim.mail.remove(payload)

    async def _park(self, shard: int, payload: bytes) -> None:
        key = f"{self._keys.base(shard)}parked"
        await self._read(self._client.rpush(key, payload))
        await self._read(self._client.ltrim(key, -100, -1))
        await self._read(self._client.expire(key, PARKED_LIFETIME))

    async def ping(self) -> bool:
        """Whether Redis answers."""
        try:
            await self._read(self._client.ping())
        except MailboxDown:
            return False
        return True

    async def wakes(self) -> AsyncGenerator[int, None]:
        """Shard numbers as sessions become due in any process. Ends with `MailboxDown` when the connection breaks."""
        try:
            async with contextlib.aclosing(self._client.pubsub()) as channel:
                await channel.subscribe(self._keys.wake_channel)
                while True:
                    message = await channel.get_message(ignore_subscribe_messages=True, timeout=1.0)
                    if message is not None:
                        yield int(message["data"])
        except (RedisError, RedisClusterException, OSError, TimeoutError) as error:
            raise MailboxDown("wakes") from error

    async def _read(self, request: Any) -> Any:
        try:
            return await request
        except (RedisError, RedisClusterException, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise MailboxDown(type(error).__name__) from error
