"""Jobs in words, for the operator at a terminal: a line for each, and what running one came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import time

from bot.scheduled import Job, Scheduled
from memory.slots import Refused, Slots

Say = Callable[[str], object]
"""Takes a line."""


async def show_jobs(scheduled: Scheduled, slots: Slots, write: Say, *, now: float | None = None) -> None:
    """A line for each job. `now` in seconds since the epoch."""
    moment = time() if now is None else now
    for job in scheduled.jobs.values():
        seen = await slots.seen(job.name)
        held = f"; {seen.owner} is at it" if seen.held > moment else ""
        last = f"last done {_moment(seen.ended)} ({counted(seen.counts or {})})" if seen.ended else "not done yet"
        more = "; goes on in the middle" if seen.unfinished else ""
        write(f"{job.name}  {_due(job)}, next {_moment(job.after(moment))}; {last}{more}{held}  {job.about}".rstrip())


async def run_job(scheduled: Scheduled, name: str, write: Say, *, dry: bool = False) -> int:
    """Run a job of this name and show what it did; the exit code."""
    if name not in scheduled.jobs:
        write(f"There is no job {name!r}. There are: {', '.join(scheduled.jobs)}.")
        return 1
    outcome = await scheduled.run_now(name, dry=dry)
    if isinstance(outcome, Refused):
        write(f"{name} is being worked on; try again in {outcome.wait:.0f} s.")
        return 1
    if not outcome.ours:
        write(f"{name}: another process took it over.")
        return 1
    if outcome.failed:
        write(f"{name} failed ({outcome.failed}); STEWARD_LOG_LEVEL=DEBUG shows where.")
        return 1
    write(f"{name}{' (dry run, nothing was changed)' if dry else ''}: {counted(outcome.counts)}")
    return 0


def counted(counts: Mapping[str, int]) -> str:
    """Counts as words: `3 handed over, 0 left`."""
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items()) or "nothing to do"


def _due(job: Job) -> str:
    return f"every {job.every:g} s" if job.every else f"at {job.cron} UTC"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
