"""`current_time`: where the person is, or anywhere else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.keys import Actor, Thread
from tools import ToolContext
from tools.builtin.current_time import current_time
from tools.builtin.moment import now
from tools.engine import execute
from tools.result import ErrorCode

MOMENT = datetime(2024, 3, 31, 16, 30, 5, tzinfo=UTC)


def context(timezone: str = "Asia/Shanghai", moment: datetime = MOMENT) -> ToolContext:
    return ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), timezone, "run", "call", resources={"now": lambda: moment})


async def ask(timezone: str = "", ctx: ToolContext | None = None) -> Any:
    result = await execute(current_time, {"timezone": timezone}, ctx or context())
    return result.data if result.success else result


async def test_without_a_name_it_is_the_persons_own_time() -> None:
    assert await ask() == {
        "timezone": "Asia/Shanghai",
        "date": "2024-04-01",
        "weekday": "Monday",
        "weekday_zh": "星期一",
        "time": "00:30:05",
        "utc_offset": "+08:00",
        "iso": "2024-04-01T00:30:05+08:00",
    }


@pytest.mark.parametrize(
    ("asked", "zone", "offset"),
    [
        ("Asia/Tokyo", "Asia/Tokyo", "+09:00"),
        ("asia/tokyo", "Asia/Tokyo", "+09:00"),
        (" Tokyo ", "Asia/Tokyo", "+09:00"),
        ("东京", "Asia/Tokyo", "+09:00"),
        ("北京时间", "Asia/Shanghai", "+08:00"),
        ("New York", "America/New_York", "-04:00"),
        ("america/new york", "America/New_York", "-04:00"),
        ("Berlin", "Europe/Berlin", "+02:00"),
        ("Mumbai", "Asia/Kolkata", "+05:30"),
        ("UTC", "UTC", "+00:00"),
        ("UTC+8", "UTC+08:00", "+08:00"),
        ("GMT-03:30", "UTC-03:30", "-03:30"),
        ("+0530", "UTC+05:30", "+05:30"),
    ],
)
async def test_a_place_can_be_named_in_many_ways(asked: str, zone: str, offset: str) -> None:
    moment = await ask(asked)

    assert (moment["timezone"], moment["utc_offset"]) == (zone, offset)


HINTS = {"Asia/Tokio": "Asia/Tokyo", "Pariss": "Europe/Paris", "CST": "Did you mean|IANA", "UTC+99": "Did you mean|IANA", "火星": "IANA"}


@pytest.mark.parametrize(("asked", "hint"), HINTS.items())
async def test_an_unknown_place_goes_back_to_the_model_with_close_names(asked: str, hint: str) -> None:
    result = await ask(asked)

    assert result.error_code == ErrorCode.INVALID_ARGUMENTS
    assert f"There is no timezone {asked!r}" in result.error_message
    assert any(part in result.error_message for part in hint.split("|"))


async def test_summer_time_is_that_of_the_moment() -> None:
    before = await ask("Europe/Berlin", context(moment=datetime(2024, 3, 31, 0, 59, 59, tzinfo=UTC)))
    after = await ask("Europe/Berlin", context(moment=datetime(2024, 3, 31, 1, 0, 0, tzinfo=UTC)))

    assert (before["time"], before["utc_offset"]) == ("01:59:59", "+01:00")
    assert (after["time"], after["utc_offset"]) == ("03:00:00", "+02:00")


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "../../etc/passwd"])
async def test_a_person_without_a_usable_timezone_gets_utc(timezone: str) -> None:
    assert (await ask("", context(timezone)))["timezone"] == "UTC"


def test_without_a_clock_of_its_own_the_context_gives_the_systems() -> None:
    ctx = ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run", "call")

    assert now(ctx).tzinfo is UTC
    assert now(ctx) <= datetime.now(UTC)
