"""What happens by the clock and not because somebody wrote.

Reminders that are due are put into their thread's mailbox, by every replica: a reminder stays due until it is in the mailbox, and the mailbox
takes it once, by its id. All other work, such as handing over threads that are about to expire, is a list of `bot.scheduled` jobs, each done
by one replica for all. The schedule itself is kept in memory only; what is due is in the store, so nothing is missed while nobody runs, it
is late and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC
from time import time
from typing import Any, Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.events import Due
from bot.messages import pick
from bot.scheduled import Job, Scheduled
from memory.mailbox import Delivery, Mailbox, MailboxDown
from memory.reminders import Reminder, Reminders, RemindersDown
from memory.slots import Slots

log = structlog.get_logger(__name__)

EVERY: Final = 1.0
"""Seconds between looks at what is due."""
PATIENCE: Final = 2.0
"""Seconds a look under way gets to end when we stop."""
BATCH: Final = 50
"""Reminders read at a time."""
FULL_PAUSE: Final = 5.0
"""Seconds until the next try for a thread whose mailbox is full, or a reminder that failed twice."""


class Jobs:
    """The scheduler of one process. Start it inside a running event loop; stop it once."""

    def __init__(
        self,
        mailbox: Mailbox,
        reminders: Reminders,
        jobs: Sequence[Job] = (),
        slots: Slots | None = None,
        *,
        every: float = EVERY,
        clock: Callable[[], float] = time,
    ) -> None:
        """`jobs` are done by one replica for all, which `slots` decides. `every` in seconds, for reminders; `clock` gives seconds since the epoch."""
        if jobs and slots is None:
            raise ValueError("jobs need slots")
        self._mailbox = mailbox
        self._reminders = reminders
        self._clock = clock
        self._looking = asyncio.Lock()
        self._stopping = False
        self._failed: set[str] = set()
        scheduler: Any = AsyncIOScheduler
        self._scheduler = scheduler(timezone=UTC)
        # A look that takes longer than the pause is not started twice, and looks missed meanwhile are one look.
        self._scheduler.add_job(self.tick, "interval", seconds=every, id="due reminders", coalesce=True, max_instances=1, misfire_grace_time=None)
        self.scheduled = Scheduled(jobs, slots, now=clock) if slots is not None else None

    def start(self) -> None:
        """Begin to look."""
        self._scheduler.start()
        if self.scheduled is not None:
            self.scheduled.start()

    async def stop(self) -> None:
        """Look no more, and wait for the look under way: it gives no further reminder. A job under way is given back."""
        self._stopping = True
        if self.scheduled is not None:
            await self.scheduled.stop()
        if self._scheduler.running:
            self._scheduler.pause()
            try:
                async with asyncio.timeout(PATIENCE), self._looking:
                    pass
            except TimeoutError:
                log.warning("reminders_interrupted")  # what was begun and not handed over is due at the next look of another
            self._scheduler.shutdown(wait=False)

    async def tick(self) -> None:
        """One look: put every reminder that is due into its thread's mailbox. Never raises; what fails is due at the next look again."""
        async with self._looking:
            try:
                while await self._batch() == BATCH and not self._stopping:
                    pass  # there is more
            except (RemindersDown, MailboxDown) as error:
                log.warning("reminders_not_given", reason=str(error))
            except Exception:  # the scheduler must go on whatever one look met
                log.exception("reminders_failed")

    async def _batch(self) -> int:
        """Give what is due, at most `BATCH`; how many were given."""
        batch = await self._reminders.due(self._clock(), BATCH)
        given = 0
        for reminder in batch:
            if self._stopping:
                break
            try:
                await self._give(reminder)
                given += 1
                self._failed.discard(reminder.id)
            except RemindersDown:
                raise
            except MailboxDown as error:  # on a cluster it may be this thread's part alone: the others must not wait behind it
                log.warning("reminder_waits", reminder=reminder.id, reason=str(error))
                await self._step_back(reminder)
            except Exception:  # whatever is wrong with one reminder must not hold up the others
                log.exception("reminder_failed", reminder=reminder.id)
                await self._step_back(reminder)
        return given

    async def _step_back(self, reminder: Reminder) -> None:
        """The next look tries it again; one that fails a second time lets others go first for a while."""
        if reminder.id in self._failed:
            self._failed.discard(reminder.id)
            await self._reminders.postpone(reminder, self._clock() + FULL_PAUSE)
        else:
            self._failed.add(reminder.id)

    async def _give(self, reminder: Reminder) -> None:
        if not await self._reminders.begin(reminder):
            return  # called off since we read it
        key = f"reminder:{reminder.id}"
        due = Due(thread=reminder.thread, key=key, actor=reminder.actor, text=reminder.text, locale=pick(reminder.text), at=float(reminder.due))
        delivery = await self._mailbox.deliver(reminder.thread, key, due.model_dump_json().encode())
        if delivery is Delivery.FULL:
            log.warning("reminder_waits", reminder=reminder.id)  # the thread is flooded, and must not hold up the others
            await self._reminders.postpone(reminder, self._clock() + FULL_PAUSE)
            return
        await self._reminders.done(reminder)
        log.info("reminder_given", reminder=reminder.id, late=round(self._clock() - reminder.due, 1), again=delivery is Delivery.DUPLICATE)
