"""Reminders: what someone wants to be told, when and where, kept in Redis until it has been said.

A reminder's id follows from the key it was asked with, so asking twice keeps one. Whoever gives reminders first
`begin`s one (from then on it cannot be called off), hands it over, and then says `done`; killed in between, the next
one finds it due again, and the receiver knows it by its id. All keys share one hash tag, so a script may touch them
together on a cluster too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Sequence
from typing import Any, Final

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Actor, Keys, Thread
from memory.scripts import Scripts

log = structlog.get_logger(__name__)

MAX_OPEN: Final = 100
"""Reminders one person may have open."""
MAX_TEXT: Final = 1_000
"""Characters of a reminder's text."""
OVER_LIFETIME: Final = 30 * 86_400
"""Seconds for which an ended reminder's id is remembered, so that a late repetition of the same call does not bring it back."""
UNREADABLE_PAUSE: Final = 3_600
"""Seconds until a reminder that this program cannot read (written by a newer one) is looked at again."""


class RemindersDown(Exception):  # noqa: N818 - states a condition, as the field names it
    """Redis did not answer in time or refused to write. Nothing can be said about whether the change was made."""


class TooManyReminders(Exception):  # noqa: N818 - an outcome with words for people, not a fault
    """The person has as many open reminders as they may."""


class Reminder(BaseModel):
    """One thing to say to one person at one moment."""

    model_config = ConfigDict(frozen=True)

    id: str
    actor: Actor
    """Whose it is, and whom it reminds."""
    thread: Thread
    """Where it was asked for, and is given."""
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    due: int
    """Seconds since the epoch."""
    timezone: str
    """IANA name of the zone the time was said in."""
    local: str
    """The time as it was agreed on, ISO with offset."""
    created: int = 0
    """Seconds since the epoch."""


def reminder_id(actor: Actor, key: str) -> str:
    """The id of the reminder that `actor` asks for under an idempotency key: the same again for the same key."""
    return hashlib.sha256(f"{actor.team_id}\n{actor.user_id}\n{key}".encode()).hexdigest()[:12]


class Reminders:
    """All operations on reminders of one installation. `client` speaks to one Redis or a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "") -> None:
        """`space` is the workspace whose reminders these are, as for the mailbox."""
        self._client: Any = client
        self._keys = Keys(space)
        self._scripts = Scripts(client, ("add", "begin", "end"), prefix="remind_")

    async def add(self, reminder: Reminder) -> bool:
        """Keep it; False when it is known already. Raises `TooManyReminders` or `RemindersDown`."""
        names = (self._doc(reminder.id), self._over(reminder.id), self._keys.reminders_due, self._keys.reminders_of(reminder.actor))
        added = int(await self._run("add", names, (reminder.id, reminder.model_dump_json(), reminder.due, MAX_OPEN)))
        if added < 0:
            raise TooManyReminders(f"{MAX_OPEN} reminders are open already")
        return added == 1

    async def of(self, actor: Actor) -> list[Reminder]:
        """The person's open reminders, the next one first. Raises `RemindersDown`."""
        ids = await self._answer(self._client.zrange(self._keys.reminders_of(actor), 0, -1))
        return [reminder for reminder, _ in await self._read(ids) if reminder is not None]

    async def get(self, actor: Actor, reminder: str) -> Reminder | None:
        """One open reminder of the person. Raises `RemindersDown`."""
        return next((each for each in await self.of(actor) if each.id == reminder), None)

    async def known(self, reminder: str) -> bool:
        """Whether there is, or lately was, a reminder of this id. Raises `RemindersDown`."""
        return bool(await self._answer(self._client.exists(self._doc(reminder), self._over(reminder))))

    async def cancel(self, actor: Actor, reminder: str) -> Reminder | None:
        """Call off a reminder of the person's own; None when they have none of this id that is still to come. Raises `RemindersDown`."""
        names = (self._doc(reminder), self._over(reminder), self._keys.reminders_due, self._keys.reminders_of(actor))
        document = await self._run("end", names, (reminder, OVER_LIFETIME, 1))
        return Reminder.model_validate_json(document) if document is not None else None

    async def due(self, now: float, limit: int = 50) -> list[Reminder]:
        """Those whose time has come at `now` (seconds since the epoch), the oldest first. Raises `RemindersDown`."""
        due = self._keys.reminders_due
        found: list[Reminder] = []
        for reminder, raw in await self._read(await self._answer(self._client.zrangebyscore(due, "-inf", now, start=0, num=limit))):
            if reminder is not None:
                found.append(reminder)
            else:  # it must not stand in the way of the others
                await self._answer(self._client.zadd(due, {raw: now + UNREADABLE_PAUSE}, xx=True))
        return found

    async def postpone(self, reminder: Reminder, until: float) -> None:
        """Look at it again at `until` (seconds since the epoch); when it was due stays as it is. Raises `RemindersDown`."""
        await self._answer(self._client.zadd(self._keys.reminders_due, {reminder.id: until}, xx=True))

    async def begin(self, reminder: Reminder) -> bool:
        """Just before it is given: from now on it cannot be called off. False when it was, or is over. Raises `RemindersDown`."""
        return bool(await self._run("begin", (self._doc(reminder.id), self._keys.reminders_of(reminder.actor)), (reminder.id,)))

    async def done(self, reminder: Reminder) -> None:
        """It was given, and is over. Safe to repeat. Raises `RemindersDown`."""
        names = (self._doc(reminder.id), self._over(reminder.id), self._keys.reminders_due, self._keys.reminders_of(reminder.actor))
        await self._run("end", names, (reminder.id, OVER_LIFETIME, 0))

    async def _read(self, ids: Sequence[bytes]) -> Sequence[tuple[Reminder | None, bytes]]:
        if not ids:
            return []
        documents = await self._answer(self._client.mget([self._doc(raw.decode()) for raw in ids]))
        return [(_parsed(raw, document), raw) for raw, document in zip(ids, documents, strict=True)]

    def _doc(self, reminder: str) -> str:
        return self._keys.reminder(reminder)

    def _over(self, reminder: str) -> str:
        return self._keys.reminder_over(reminder)

    async def _run(self, name: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        return await self._answer(self._scripts.run(name, names, args))

    async def _answer(self, asked: Awaitable[Any]) -> Any:
        try:
            return await asked
        except (RedisError, RedisClusterException, OSError, TimeoutError) as error:
            raise RemindersDown(type(error).__name__) from error


def _parsed(raw: bytes, document: bytes | None) -> Reminder | None:
    try:
        return Reminder.model_validate_json(document) if document is not None else None
    except ValidationError as error:
        log.error("reminder_unreadable", reminder=raw.decode(errors="replace"), errors=error.error_count())
        return None
