"""`steward jobs list` and `steward jobs run NAME`: what is done by the clock, when it was done last, and doing one job now.

A job is run here under the same claim as by the replicas, so that it never meets one at the same work. With `--dry-run` it only counts what it
would do. The workspace is asked for by the bot token, as the running program does; the embedded store belongs to a program that runs on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.__main__ import StartError, assembled
from bot.jobs_shown import Say, run_job, show_jobs
from bot.scheduled import Scheduled
from bot.service import Service
from bot.settings import Settings
from bot.slack import SlackDown, SlackRefused
from memory.slots import Slots, SlotsDown


def list_command(settings: Settings, *, write: Say = print) -> int:
    """Show each job: when it is due, when it was done last and what it did. 0, or 2 when something needed is not there."""
    return _told(_list(settings, write), write)


def run_command(settings: Settings, name: str, *, dry: bool = False, write: Say = print) -> int:
    """Run one job now and show what it did. 1 when it is unknown, failed or somebody is at it; 2 when something needed is not there."""
    return _told(_run(settings, name, dry, write), write)


def _told(work: object, write: Say) -> int:
    try:
        return asyncio.run(work)  # type: ignore[arg-type]
    except (StartError, SlotsDown) as error:
        write(f"steward: {error if isinstance(error, StartError) else f'the store does not answer ({error}): start it, or mend REDIS_URL.'}")
        return 2


async def _list(settings: Settings, write: Say) -> int:
    async with _opened(settings) as (scheduled, slots):
        await show_jobs(scheduled, slots, write)
    return 0


async def _run(settings: Settings, name: str, dry: bool, write: Say) -> int:  # noqa: FBT001 - passed on
    async with _opened(settings) as (scheduled, _):
        return await run_job(scheduled, name, write, dry=dry)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Scheduled, Slots]]:
    async with assembled(settings) as (parts, _):
        try:
            async with Service(parts).only_jobs() as (jobs, slots):
                yield Scheduled(jobs, slots), slots
        except SlackRefused as error:
            raise StartError(f"Slack refused the bot token ({error.code}): install the app again and copy its token to SLACK_BOT_TOKEN.") from error
        except SlackDown as error:
            raise StartError(f"Slack does not answer ({error}): check the network, or SLACK_API_URL.") from error
