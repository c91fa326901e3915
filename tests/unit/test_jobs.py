"""When jobs are due: the same in every process, whatever moment it asks at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.scheduled import Job, JobContext
from memory.slots import LEASE


async def nothing(_: JobContext) -> Mapping[str, int]:
    return {}


MOMENTS = st.floats(min_value=1.5e9, max_value=4e9, allow_nan=False)


@given(MOMENTS, st.sampled_from([0.1, 0.2, 0.3, 1.0, 7.0, 60.0, 3_600.0, 86_400.0]))
def test_an_interval_is_due_at_the_same_moments_whoever_asks(moment: float, every: float) -> None:
    job = Job("tidy", nothing, every=every)
    due = job.after(moment)
    assert moment < due <= moment + every + 0.002
    assert round(job.after(due) * 1_000) == round((due + every) * 1_000)
    assert job.after(moment + (due - moment) / 2) == pytest.approx(due, abs=1e-6) or due - moment < 0.004


@given(MOMENTS)
def test_a_cron_line_is_due_at_its_minute_in_utc(moment: float) -> None:
    due = Job("tidy", nothing, cron="30 3 * * mon").after(moment)
    assert due > moment
    at = datetime.fromtimestamp(due, UTC)
    assert (at.weekday(), at.hour, at.minute, at.second) == (0, 3, 30, 0)


@pytest.mark.parametrize(
    ("name", "every", "cron"),
    [("Tidy", 1.0, ""), ("a b", 1.0, ""), ("", 1.0, ""), ("tidy", 0.0, ""), ("tidy", 1.0, "0 3 * * *"), ("tidy", 0.0, "0 3 * *"), ("tidy", 0.0, "99 3 * * *")],
)
def test_a_description_that_means_nothing_is_refused(name: str, every: float, cron: str) -> None:
    with pytest.raises(ValueError):
        Job(name, nothing, every=every, cron=cron)


def test_a_lease_ends_before_the_next_slot_begins() -> None:
    assert Job("tidy", nothing, every=1.0).lease < 1.0
    assert Job("tidy", nothing, every=3_600.0).lease == LEASE
    assert Job("tidy", nothing, cron="0 3 * * *").lease == LEASE
