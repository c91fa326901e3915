"""Jobs done by one replica for all, against a real Valkey: bounded, resumable, dry when asked, and never the end of the program."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

import bot.scheduled
from bot.jobs_shown import run_job, show_jobs
from bot.scheduled import Job, JobContext, JobLost, Outcome, Run, Scheduled
from memory.connect import connect
from memory.slots import Refused, Slot, Slots
from tests.fakes.valkey import Valkey

FAR = 30 * 86_400.0
"""A pause in which nothing falls due while a test runs."""
KEY = "steward:T1:{jobs}:tidy"


@pytest.fixture
async def slots(valkey: Valkey) -> AsyncIterator[Slots]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield Slots(client, space="T1")
    await client.aclose()


class Pile:
    """Work that is put away one by one, which notes its progress."""

    def __init__(self, size: int = 5) -> None:
        self.size = size
        self.touched: list[int] = []
        self.reached = asyncio.Event()
        self.stuck_at = -1

    async def run(self, context: JobContext) -> Mapping[str, int]:
        count = 0
        for number in range(int(context.cursor or 0), self.size):
            if context.left() <= 0 or not context.alive():
                break
            if number == self.stuck_at:
                self.reached.set()
                await asyncio.Event().wait()
            if not context.dry:
                self.touched.append(number)
            count += 1
            await context.save(str(number + 1) if number + 1 < self.size else "")
        return {"put_away": count}


def one(run: Run, *, every: float = FAR, budget: float = 30.0) -> Job:
    return Job("tidy", run, every=every, budget=budget, about="puts things away")


async def outcome(slots: Slots, job: Job, *, dry: bool = False) -> Outcome:
    done = await Scheduled([job], slots).run_now("tidy", dry=dry)
    assert isinstance(done, Outcome)
    return done


async def test_a_dry_run_counts_and_changes_nothing(slots: Slots) -> None:
    pile = Pile()
    assert await outcome(slots, one(pile.run), dry=True) == Outcome({"put_away": 5})
    seen = await slots.seen("tidy")
    assert (pile.touched, seen.done, seen.unfinished, seen.held) == ([], 0, False, 0)
    assert await outcome(slots, one(pile.run)) == Outcome({"put_away": 5})
    assert pile.touched == [0, 1, 2, 3, 4]


async def test_a_job_whose_time_is_over_goes_on_in_the_next_slot(slots: Slots) -> None:
    pile = Pile(size=3)

    async def run(context: JobContext) -> Mapping[str, int]:
        enough = len(pile.touched) + 1
        context.left = lambda: 1.0 if len(pile.touched) < enough else 0.0  # type: ignore[method-assign]
        return await pile.run(context)

    assert [(await outcome(slots, one(run))).counts for _ in range(3)] == [{"put_away": 1}] * 3
    assert pile.touched == [0, 1, 2]
    assert not (await slots.seen("tidy")).unfinished


async def test_what_a_stopped_replica_was_at_is_gone_on_with_by_another(slots: Slots) -> None:
    pile = Pile()
    pile.stuck_at = 2
    first = Scheduled([one(pile.run, every=0.05)], slots)
    first.start()
    await pile.reached.wait()
    await first.stop()
    assert (await slots.seen("tidy")).held == 0
    pile.stuck_at = -1
    assert (await outcome(slots, one(pile.run))).counts == {"put_away": 3}
    assert pile.touched == [0, 1, 2, 3, 4]


async def test_a_job_that_lost_its_slot_is_ended_and_does_not_count(slots: Slots, valkey: Valkey) -> None:
    pile = Pile()
    pile.stuck_at = 2
    job = one(pile.run, every=0.3)
    scheduled = Scheduled([job], slots)
    slot = await slots.claim("tidy", 1_000, "a", lease=job.lease)
    assert isinstance(slot, Slot)
    working = asyncio.create_task(scheduled.work(job, slot))
    await pile.reached.wait()
    valkey.command("HSET", KEY, "epoch", int(slot.epoch) + 1)  # somebody took it
    with capture_logs() as logs:
        assert await working == Outcome({}, ours=False)
    assert [each["event"] for each in logs] == ["job_lost"]
    assert (await slots.seen("tidy")).done == 0


async def test_progress_of_a_job_that_lost_its_slot_is_refused_at_once(slots: Slots, valkey: Valkey) -> None:
    async def run(context: JobContext) -> Mapping[str, int]:
        assert context.alive()
        valkey.command("HSET", KEY, "epoch", "9999999999999")
        with pytest.raises(JobLost):
            await context.save("1")
        assert not context.alive()
        return {"put_away": 1}

    assert not (await outcome(slots, one(run))).ours
    assert not (await slots.seen("tidy")).unfinished


@pytest.mark.parametrize("dry", [False, True])
async def test_an_error_ends_the_slot_and_says_only_its_kind(slots: Slots, dry: bool) -> None:
    async def run(context: JobContext) -> Mapping[str, int]:
        await context.save("7")
        raise RuntimeError("Ana hates rain")

    with capture_logs() as logs:
        done = await outcome(slots, one(run), dry=dry)
    assert done == Outcome({"failed": 1}, failed="RuntimeError")
    told = [each for each in logs if each["log_level"] != "debug"]
    assert [each["event"] for each in told] == ["job_failed"]
    assert "Ana" not in str(told)
    seen = await slots.seen("tidy")
    assert (bool(seen.done), seen.unfinished) == (not dry, not dry)


async def test_a_job_that_forgets_the_time_is_ended(slots: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.scheduled, "GRACE", 0.0)
    pile = Pile()
    pile.stuck_at = 1
    assert await outcome(slots, one(pile.run, budget=0.05)) == Outcome({"failed": 1}, failed="it took too long")
    assert (await slots.seen("tidy")).unfinished


async def test_two_never_work_at_once_and_the_second_is_told_for_how_long(slots: Slots) -> None:
    pile = Pile()
    pile.stuck_at = 0
    working = asyncio.create_task(Scheduled([one(pile.run)], slots).run_now("tidy"))
    await pile.reached.wait()
    other = await Scheduled([one(pile.run)], slots).run_now("tidy")
    assert isinstance(other, Refused)
    assert other.wait > 0
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working
    pile.stuck_at = -1
    assert isinstance(await Scheduled([one(pile.run)], slots).run_now("tidy"), Outcome)


async def test_replicas_share_the_ticks_and_the_store_may_go_away_for_a_while(slots: Slots, valkey: Valkey) -> None:
    ticks: list[int] = []
    enough, more = asyncio.Event(), asyncio.Event()

    async def run(context: JobContext) -> Mapping[str, int]:
        ticks.append(context.at)
        if len(ticks) >= 4:
            (more if enough.is_set() else enough).set()
        return {"ticks": 1}

    replicas = [Scheduled([one(run, every=0.1)], slots) for _ in range(3)]
    for replica in replicas:
        replica.start()
    await enough.wait()
    valkey.kill()
    more.clear()
    valkey.start()
    await more.wait()
    for replica in replicas:
        await replica.stop()
    assert len(set(ticks)) >= len(ticks) - 1  # the one during which the store went away may have been begun again
    assert {at % 100 for at in ticks} == {0}


async def test_the_commands_show_and_run_a_job_in_words(slots: Slots) -> None:
    pile, said = Pile(), list[str]()
    scheduled = Scheduled([one(pile.run), Job("sweep", pile.run, cron="0 3 * * mon")], slots)
    await show_jobs(scheduled, slots, said.append)
    assert [line.split()[0] for line in said] == ["tidy", "sweep"]
    assert all("not done yet" in line for line in said)
    assert "0 3 * * mon" in said[1]
    said.clear()
    assert await run_job(scheduled, "tidy", said.append, dry=True) == 0
    assert await run_job(scheduled, "tidy", said.append) == 0
    assert await run_job(scheduled, "nothing", said.append) == 1
    assert said == ["tidy (dry run, nothing was changed): 5 put away", "tidy: 5 put away", "There is no job 'nothing'. There are: tidy, sweep."]
    said.clear()
    await slots.claim("sweep", None, "host:1:abc")
    await show_jobs(scheduled, slots, said.append)
    assert "5 put away" in said[0]
    assert "host:1:abc is at it" in said[1]
    assert await run_job(scheduled, "sweep", said.append) == 1
    assert "is being worked on" in said[-1]


class Broken:
    async def run(self, _: JobContext) -> Any:
        raise ValueError("x")


async def test_a_failed_job_is_an_exit_code_of_one(slots: Slots) -> None:
    said: list[str] = []
    assert await run_job(Scheduled([one(Broken().run)], slots), "tidy", said.append) == 1
    assert said == ["tidy failed (ValueError); STEWARD_LOG_LEVEL=DEBUG shows where."]
