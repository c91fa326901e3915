"""Jobs that one replica does for all: described as `Job`, run by `Scheduled` when their time has come.

Every replica computes the same times from a job's trigger (APScheduler's, used as calculators) and asks for the slot; one gets it. It works
for a bounded time, gives signs of life, and notes how far it came. When it is killed, another one of those that wait takes the slot as soon as the
lease ends, or the next slot catches it up; either goes on where the dead one was. A job may therefore see the same piece of work twice and must
be safe to run twice. An error ends the slot and not the program: the next slot tries again from the same place.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic, time
from typing import Any, Final
from uuid import uuid4

import structlog
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from memory.slots import LEASE, Refused, Slot, Slots, SlotsDown

log = structlog.get_logger(__name__)

GRACE: Final = 10.0
"""Seconds beyond its budget after which a job that does not look at it is ended."""
START: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""What the times of all intervals are counted from, in every replica."""
SOON: Final = 0.02
"""Seconds beyond the end of somebody's lease at which it is worth asking again."""

_INTERVAL: Any = IntervalTrigger
_CRON: Any = CronTrigger


class JobLost(Exception):  # noqa: N818 - states a condition
    """Another replica holds the job now: stop at once, what is noted from here on is refused."""


class JobContext:
    """What a running job is given."""

    def __init__(self, *, dry: bool, budget: float, now: Callable[[], float], slot: Slot, slots: Slots, clock: Callable[[], float] = monotonic) -> None:
        self.dry = dry
        """Only look and count; change nothing."""
        self.budget = budget
        """Seconds of work it may take."""
        self.now = now
        """Seconds since the epoch."""
        self.at = slot.at
        """When the slot was due: milliseconds since the epoch."""
        self.cursor = slot.cursor
        """Where to go on, as last saved; empty: at the beginning."""
        self._slot, self._slots, self._clock = slot, slots, clock
        self._began = self._proved = clock()
        self._lost = False

    def left(self) -> float:
        """Seconds of the budget that are left. At or below 0 save the cursor and return: the next slot goes on."""
        return self.budget - (self._clock() - self._began)

    def alive(self) -> bool:
        """Whether the job is still this replica's to do: nobody else has it, and the last sign of life is younger than the lease."""
        return not self._lost and self._clock() - self._proved < self._slot.lease

    def abandon(self) -> None:
        """From now on it is not alive and notes nothing: a cancellation may be lost in a call to Redis, this is not."""
        self._lost = True

    async def save(self, cursor: str) -> None:
        """Note how far the work has come; empty when it is through. A dry run notes nothing. Raises `JobLost` or `SlotsDown`."""
        asked = self._mine()
        held = await (self._slots.hold(self._slot) if self.dry else self._slots.save(self._slot, cursor))
        self._told(held, asked)
        self.cursor = cursor

    async def hold(self) -> None:
        """A sign of life; given by itself while the job runs. Raises `JobLost` or `SlotsDown`."""
        asked = self._mine()
        self._told(await self._slots.hold(self._slot), asked)

    def _mine(self) -> float:
        if self._lost:
            raise JobLost(self._slot.job)
        return self._clock()

    def _told(self, held: bool, asked: float) -> None:  # noqa: FBT001 - an answer passed on
        if not held:
            self._lost = True
            raise JobLost(self._slot.job)
        self._proved = asked


Run = Callable[[JobContext], Awaitable[Mapping[str, int]]]
"""Does a piece of work within the budget; returns what it did, by a word for each kind of thing. In a dry run: what it would do."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job: its name (lower-case words joined by dashes) and when it is due, either every so many seconds or by a cron line in UTC."""

    name: str
    run: Run
    every: float = 0.0
    cron: str = ""
    """Five fields as in a crontab; name the days of the week, for their numbers mean other days here."""
    budget: float = 30.0
    """Seconds of work in one slot."""
    about: str = ""
    """What it does, for the operator."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for a description that means nothing."""
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(f"a job's name is lower-case words joined by dashes, not {self.name!r}")
        if (self.every > 0) == bool(self.cron):
            raise ValueError(f"job {self.name} needs either `every` or `cron`")
        self.after(time())

    def after(self, moment: float) -> float:
        """When it is due next, later than `moment`; both in seconds since the epoch."""
        trigger = _INTERVAL(seconds=self.every, start_date=START) if self.every else _CRON.from_crontab(self.cron, timezone=UTC)
        later = datetime.fromtimestamp(moment, UTC) + timedelta(milliseconds=1)
        due: datetime | None = trigger.get_next_fire_time(None, later)
        if due is None:
            raise ValueError(f"job {self.name} is never due")
        return due.timestamp()

    @property
    def lease(self) -> float:
        """Seconds: shorter than its pause, so that a dead replica's slot can be taken before the next one begins."""
        return min(LEASE, self.every * 0.6) if self.every else LEASE


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of a job ended: what it did, and whether that counts. `failed` names the error."""

    counts: Mapping[str, int]
    ours: bool = True
    failed: str = ""


class Scheduled:
    """The jobs in one replica. `start` it inside a running event loop, `stop` it once."""

    def __init__(self, jobs: Sequence[Job], slots: Slots, *, now: Callable[[], float] = time) -> None:
        """`now` is what the jobs take for the time; when they are due goes by the system's clock. Raises `ValueError` for two jobs of one name."""
        self.jobs = {job.name: job for job in jobs}
        if len(self.jobs) < len(jobs):
            raise ValueError("two jobs have the same name")
        self._slots = slots
        self._now = now
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:6]}"
        """Who holds a job, for the operator."""
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    def start(self) -> None:
        """Begin to keep time."""
        self._tasks = [asyncio.create_task(self._keep(job), name=f"job {job.name}") for job in self.jobs.values()]

    async def stop(self) -> None:
        """Do no more; what is under way is given back, and another replica goes on from its cursor."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    async def _keep(self, job: Job) -> None:
        last = 0.0
        while not self._stopping:  # a cancellation may be lost in a call to Redis
            last = job.after(max(time(), last))
            await asyncio.sleep(max(0.0, last - time()))
            try:
                await self._slot(job, last)
            except SlotsDown as error:
                log.warning("job_waits", job=job.name, reason=str(error))  # the next slot tries again
            except Exception:  # whatever one slot met, the next one is tried
                log.exception("job_failed", job=job.name)

    async def _slot(self, job: Job, due: float) -> None:
        """Do the slot, or wait until somebody has done it or the next one is due."""
        following = job.after(due)
        while not self._stopping:
            claim = await self._slots.claim(job.name, round(due * 1000), self.owner, lease=job.lease)
            if isinstance(claim, Slot):
                await (self._slots.give_back(claim) if self._stopping else self.work(job, claim))
                return
            if claim.wait == 0 or time() + claim.wait + SOON >= following:
                return
            await asyncio.sleep(claim.wait + SOON)

    async def run_now(self, name: str, *, dry: bool = False) -> Outcome | Refused:
        """Run a job outside its schedule, if nobody is at it; `Refused.wait` says for how long at most it is held. Raises `KeyError` or `SlotsDown`."""
        job = self.jobs[name]
        claim = await self._slots.claim(name, None, self.owner, lease=job.lease)
        return claim if isinstance(claim, Refused) else await self.work(job, claim, dry=dry)

    async def work(self, job: Job, slot: Slot, *, dry: bool = False) -> Outcome:
        """Do a claimed slot to its end. Raises `SlotsDown` when that cannot be told to Redis."""
        context = JobContext(dry=dry, budget=job.budget, now=self._now, slot=slot, slots=self._slots)
        began = monotonic()
        try:
            outcome = await self._guarded(job, context, slot)
        except asyncio.CancelledError:
            with suppress(SlotsDown):
                await asyncio.shield(self._slots.give_back(slot))
            raise
        if outcome.ours:
            held = await (self._slots.give_back(slot) if dry else self._slots.done(slot, outcome.counts))
            outcome = outcome if held else Outcome(outcome.counts, ours=False)
        told = {"job": job.name, "slot": slot.at, "seconds": round(monotonic() - began, 3), "dry": dry, "counts": dict(outcome.counts)}
        if not outcome.ours:
            log.warning("job_lost", **told)
        elif outcome.failed:
            log.warning("job_failed", **told, reason=outcome.failed)
        elif any(outcome.counts.values()):
            log.info("job_done", **told)
        else:
            log.debug("job_done", **told)
        return outcome

    async def _guarded(self, job: Job, context: JobContext, slot: Slot) -> Outcome:
        """Run the job while giving signs of life; end it when the slot is lost or its time is over by far."""
        working = asyncio.create_task(_called(job, context))
        holding = asyncio.create_task(_held(context, slot.lease / 3))
        try:
            await asyncio.wait({working, holding}, timeout=job.budget + GRACE, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                return Outcome({}, ours=False) if holding.done() else Outcome({"failed": 1}, failed="it took too long")
            return Outcome(dict(working.result()))
        except JobLost:
            return Outcome({}, ours=False)
        except SlotsDown:
            raise
        except Exception as error:  # the job's own fault, told by its kind only: its text may hold what people said
            log.debug("job_error", job=job.name, exc_info=True)
            return Outcome({"failed": 1}, failed=type(error).__name__)
        finally:
            context.abandon()
            for task in (working, holding):
                task.cancel()
            await asyncio.wait({working, holding})


async def _called(job: Job, context: JobContext) -> Mapping[str, int]:
    return await job.run(context)


async def _held(context: JobContext, every: float) -> None:
    """Give signs of life; returns when they are refused, or could not be given for as long as the lease lasts."""
    while context.alive():
        await asyncio.sleep(every)
        try:
            await context.hold()
        except JobLost:
            return
        except SlotsDown as error:
            log.warning("job_waits", reason=str(error))
