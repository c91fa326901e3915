"""Who does a job now: one replica for each time it is due, known by a claim in Redis.

A slot is the moment at which a job was due, in milliseconds, the same in every replica. Claiming one gives a lease and an epoch; whatever the
holder writes carries the epoch and is refused once somebody else holds the job. The lease is judged by Redis' own clock, so a replica
whose clock is wrong neither takes a slot that is still to come nor keeps one for too long. Slots are completed in rising order, each at most
once: completing one settles those before it. How far the work has come is kept beside it, for whoever goes on with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Keys
from memory.scripts import Scripts

LEASE: Final = 15.0
"""Seconds after which the slot of a replica that is silent may be taken."""
AHEAD: Final = 0.05
"""Seconds a slot may lie in the future of Redis' clock."""
LIFETIME: Final = 100 * 86_400
"""Seconds a job's record is kept after it was last worked on: longer than any job's pause."""
MAX_CURSOR: Final = 4_000
"""Characters of a cursor."""
_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)


class SlotsDown(Exception):  # noqa: N818 - states a condition, as the field names it
    """Redis did not answer in time. Nothing can be said about whether the change was made; every operation may be repeated."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A claimed slot."""

    job: str
    at: int
    """When it was due: milliseconds since the epoch."""
    epoch: str
    """Of this claim; what is written with an older one is refused."""
    cursor: str = ""
    """How far the work on this job had come; empty: begin at the beginning."""
    lease: float = LEASE
    """Seconds between signs of life."""


@dataclass(frozen=True, slots=True)
class Refused:
    """No claim. `wait`: seconds until it is worth asking again; 0: the slot is done."""

    wait: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a job. Times in seconds since the epoch, 0 where there was none."""

    done: float = 0.0
    """The newest slot completed."""
    ended: float = 0.0
    """When it was."""
    counts: Mapping[str, int] | None = None
    """What was done in it."""
    held: float = 0.0
    """Until when somebody holds it."""
    owner: str = ""
    """Who."""
    unfinished: bool = False
    """Whether the next one goes on in the middle."""


class Slots:
    """All operations. `client` speaks to one Redis or to a cluster and must not decode responses. Every method raises `SlotsDown`."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "") -> None:
        """`space` is the workspace whose jobs these are, as for the mailbox."""
        self._client: Any = client
        self._keys = Keys(space)
        self._scripts = Scripts(client, ("claim", "hold", "end"), prefix="slot_")

    async def claim(self, job: str, at: int | None, owner: str, *, lease: float = LEASE) -> Slot | Refused:
        """Take the slot `at` (ms since the epoch; None: one of its own, for now) for `lease` seconds."""
        args = ("" if at is None else at, owner, _ms(lease), _ms(AHEAD), LIFETIME * 1000)
        told = await self._run("claim", job, args)
        if int(told[0]) == 0:
            return Refused(int(told[1]) / 1000)
        return Slot(job, int(told[2]), told[1].decode(), told[3].decode(), lease)

    async def hold(self, slot: Slot) -> bool:
        """A sign of life; False when the slot is no longer the caller's."""
        return bool(await self._run("hold", slot.job, (slot.epoch, _ms(slot.lease), 0, "")))

    async def save(self, slot: Slot, cursor: str) -> bool:
        """Note how far the work has come (empty: through), which is a sign of life too; False when the slot is no longer the caller's."""
        if len(cursor) > MAX_CURSOR:
            raise ValueError(f"a cursor has at most {MAX_CURSOR} characters")
        return bool(await self._run("hold", slot.job, (slot.epoch, _ms(slot.lease), 1, cursor)))

    async def done(self, slot: Slot, counts: Mapping[str, int]) -> bool:
        """The slot is completed; False when it is no longer the caller's, whose work then does not count."""
        return bool(await self._run("end", slot.job, (slot.epoch, 1, json.dumps(dict(counts)), LIFETIME * 1000)))

    async def give_back(self, slot: Slot) -> bool:
        """Let another go on at once from the cursor; False when it is no longer the caller's."""
        return bool(await self._run("end", slot.job, (slot.epoch, 0, "", LIFETIME * 1000)))

    async def seen(self, job: str) -> Seen:
        """What is known of a job."""
        try:
            found = await self._client.hmget(self._keys.job(job), ("done", "ended", "counts", "until", "owner", "cursor"))
        except _DOWN as error:
            raise SlotsDown(type(error).__name__) from error
        done, ended, counts, held, owner, cursor = (each.decode() if each is not None else "" for each in found)
        told = json.loads(counts) if counts else None
        return Seen(int(done or 0) / 1000, int(ended or 0) / 1000, told, int(held or 0) / 1000, owner, bool(cursor))

    async def _run(self, name: str, job: str, args: Sequence[Any]) -> Any:
        try:
            return await self._scripts.run(name, (self._keys.job(job),), args)
        except _DOWN as error:
            raise SlotsDown(type(error).__name__) from error


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
