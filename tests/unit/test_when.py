"""Moments in the words of people and models: what is understood, and what is refused because two people would read it differently."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.builtin.clockwords import Unclear
from tools.builtin.when import MAX_AHEAD, definite, repeats, understand, weekday_in_one

TOKYO = "Asia/Tokyo"
NOW = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
"""In Tokyo it is Monday, 30 November, 08:30."""


def read(text: str, zone: str = TOKYO, now: datetime = NOW) -> str:
    """The moment as local clock time with its offset."""
    return understand(text, now, ZoneInfo(zone), zone).written()


UNDERSTOOD = {
    "2026-12-01T09:00": "2026-12-01T09:00",
    "2026-12-01 9:00": "2026-12-01T09:00",
    "2026-12-01T09:00:30": "2026-12-01T09:00:30",
    "2026-12-01T00:00:00Z": "2026-12-01T09:00",
    "2026-12-01T09:00+02:00": "2026-12-01T16:00",
    "2026-12-01T09:00:00.000+0900": "2026-12-01T09:00",
    "2026-12-01": "2026-12-01T09:00",
    "2026/12/05 3pm": "2026-12-05T15:00",
    "2026-12-05 下午3点": "2026-12-05T15:00",
    "2026-12-04 (Friday) 09:00": "2026-12-04T09:00",
    "in 2 hours": "2026-11-30T10:30",
    "in 45 min": "2026-11-30T09:15",
    "in an hour": "2026-11-30T09:30",
    "in half an hour": "2026-11-30T09:00",
    "in 1.5 hours": "2026-11-30T10:00",
    "in two and a half hours": "2026-11-30T11:00",
    "in 1h30m": "2026-11-30T10:00",
    "in 1 hour and 15 minutes": "2026-11-30T09:45",
    "90 minutes from now": "2026-11-30T10:00",
    "in 90 seconds": "2026-11-30T08:31:30",
    "in 2 days and 3 hours": "2026-12-02T11:30",
    "in 3 days at 9am": "2026-12-03T09:00",
    "in a week": "2026-12-07T08:30",
    "in 3 months": "2027-02-28T08:30",
    "2小时后": "2026-11-30T10:30",
    "2 小时后": "2026-11-30T10:30",
    "半小时后": "2026-11-30T09:00",
    "半个小时以后": "2026-11-30T09:00",
    "一个半小时后": "2026-11-30T10:00",
    "两小时三十分钟后": "2026-11-30T11:00",
    "过10分钟": "2026-11-30T08:40",
    "十五分钟后提醒我": "2026-11-30T08:45",
    "一刻钟后": "2026-11-30T08:45",
    "3天后上午9点": "2026-12-03T09:00",
    "一个月后": "2026-12-30T08:30",
    "tomorrow 9am": "2026-12-01T09:00",
    "Tomorrow at 9:30 AM": "2026-12-01T09:30",
    "9 o'clock tomorrow": "2026-12-01T09:00",
    "half past nine tomorrow": "2026-12-01T09:30",
    "quarter to ten tomorrow morning": "2026-12-01T09:45",
    "tomorrow": "2026-12-01T09:00",
    "tomorrow morning": "2026-12-01T09:00",
    "tomorrow at 8 in the evening": "2026-12-01T20:00",
    "day after tomorrow 9am": "2026-12-02T09:00",
    "today 9am": "2026-11-30T09:00",
    "tonight": "2026-11-30T20:00",
    "tonight at 9": "2026-11-30T21:00",
    "3pm": "2026-11-30T15:00",
    "8am": "2026-12-01T08:00",
    "at 15:00": "2026-11-30T15:00",
    "noon": "2026-11-30T12:00",
    "midnight": "2026-12-01T00:00",
    "friday 5pm": "2026-12-04T17:00",
    "9am on Friday": "2026-12-04T09:00",
    "monday 8am": "2026-12-07T08:00",
    "this friday 5pm": "2026-12-04T17:00",
    "next monday 10:00": "2026-12-07T10:00",
    "Dec 5 at 3pm": "2026-12-05T15:00",
    "5 December 2026 14:00": "2026-12-05T14:00",
    "the 5th of December at 5pm": "2026-12-05T17:00",
    "Friday, Dec 4 at 3pm": "2026-12-04T15:00",
    "25/12 09:00": "2026-12-25T09:00",
    "Feb 29": "2028-02-29T09:00",
    "明天上午9点": "2026-12-01T09:00",
    "明天 9am": "2026-12-01T09:00",
    "tomorrow 上午10点": "2026-12-01T10:00",
    "明早8点": "2026-12-01T08:00",
    "明晚": "2026-12-01T20:00",
    "明天下午3：30": "2026-12-01T15:30",
    "后天": "2026-12-02T09:00",
    "大后天下午两点一刻": "2026-12-03T14:15",
    "今晚8点": "2026-11-30T20:00",
    "今晚12点": "2026-12-01T00:00",
    "今天下午三点半": "2026-11-30T15:30",
    "周五": "2026-12-04T09:00",
    "周五晚8点": "2026-12-04T20:00",
    "星期天晚上七点": "2026-12-06T19:00",
    "本周五 10:00": "2026-12-04T10:00",
    "下周一下午三点": "2026-12-07T15:00",
    "下周五 3pm": "2026-12-11T15:00",
    "下下周三上午十点半": "2026-12-16T10:30",
    "12月5日下午3点": "2026-12-05T15:00",
    "12月5日9点": "2026-12-05T09:00",
    "明年1月3日": "2027-01-03T09:00",
    "二十五号下午两点": "2026-12-25T14:00",
    "下个月5号": "2026-12-05T09:00",
    "明天凌晨3点": "2026-12-01T03:00",
    "周二十点": "2026-12-01T10:00",
    "星期三十点": "2026-12-02T10:00",
    "下周二二十点": "2026-12-08T20:00",
    "周日一点半下午": "2026-12-06T13:30",
    "二零二六年十二月一日十点零五分": "2026-12-01T10:05",
    "０９：４５": "2026-11-30T09:45",
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_moment_is_understood_on_the_persons_own_clock(text: str) -> None:
    expected = UNDERSTOOD[text] + (":00" if UNDERSTOOD[text].count(":") == 1 else "")

    assert read(text) == f"{expected}+09:00"


PLACES = {
    "tomorrow at 9am Tokyo time": ("2026-12-01T09:00:00+09:00", TOKYO),
    "9 am tokyo time tomorrow": ("2026-12-01T09:00:00+09:00", TOKYO),
    "tomorrow at 9am in Tokyo": ("2026-12-01T09:00:00+09:00", TOKYO),
    "9am asia/tokyo tomorrow": ("2026-12-01T09:00:00+09:00", TOKYO),
    "2026-12-05 09:00 Tokyo time": ("2026-12-05T09:00:00+09:00", TOKYO),
    "东京时间早上9点": ("2026-11-30T09:00:00+09:00", TOKYO),
    "明天东京时间上午九点": ("2026-12-01T09:00:00+09:00", TOKYO),
    "9am New York time": ("2026-11-30T09:00:00-05:00", "America/New_York"),
    "tomorrow 15:00 UTC": ("2026-11-30T15:00:00+00:00", "UTC"),
    "9pm UTC+8": ("2026-11-30T21:00:00+08:00", "UTC+08:00"),
    "tomorrow 9am my time": ("2026-11-30T09:00:00+00:00", "Europe/London"),
    "明天早上9点当地时间": ("2026-11-30T09:00:00+00:00", "Europe/London"),
}


@pytest.mark.parametrize("text", PLACES)
def test_a_time_on_the_clock_of_a_place_is_that_places(text: str) -> None:
    found = understand(text, NOW, ZoneInfo("Europe/London"), "Europe/London")

    assert (found.written(), found.zone) == PLACES[text]


REFUSED = {
    "tomorrow 9am Atlantis time": "'atlantis time' names a clock that is not known",
    "火星时间早上9点": "'火星时间' names a clock that is not known",
    "9am Tokyo tomorrow": "the part 'tokyo' is not understood",
    "on mondays at 9am": "cannot repeat",
    "weekdays 9am": "cannot repeat",
    "每个工作日早上9点": "cannot repeat",
    "monday 10:00": "2026-12-07",
    "next friday 10:00": "2026-12-04 or 2026-12-11",
    "next week": "which day",
    "下周": "which day",
    "05/06/2027 09:00": "day/month or month/day",
    "明天3点": "03:00 or 15:00",
    "tomorrow at 6": "06:00 or 18:00",
    "tomorrow midnight": "2026-12-01T00:00 or 2026-12-02T00:00",
    "Thursday Dec 4 3pm": "is a Friday, not a Thursday",
    "12月4日周四下午3点": "is a Friday, not a Thursday",
    "tomorrow 9am PST": "'pst' is not understood",
    "周五下午5点 meeting": "'meeting' is not understood",
    "end of day": "not understood",
    "in -5 minutes": "not understood",
    "10 minutes ago": "not understood",
    "every day at 9": "cannot repeat",
    "每天9点": "cannot repeat",
    "today": "which hour",
    "today 8am": "has passed: it is now 2026-11-30 08:30",
    "2026-11-28T09:00": "has passed",
    "this sunday in 2 hours": "not understood",
    "in 0 minutes": "has passed",
    "2030-01-01": "two years",
    "in 999999 hours": "too far",
    "in 99999999999999 hours": "too far",
    "12月32日": "no such day",
    "February 30": "no such day",
    "2026-12-01T25:00": "no date and time",
    "25:00": "no time of day",
    "上午15点": "do not fit",
    "tomorrow 9pm in the morning": "do not fit",
    "早上9点晚上": "two parts of the day",
    "三五天后": "not understood",
    "明天七八点": "not understood",
    "一百二十分钟后": "not understood",
    "周一一点": "01:00 or 13:00",
    "tonight 2am": "do not fit",
    "in a couple of hours": "not understood",
    "8:20": "20:20",
    "半个月后": "no exact end",
    "": "names no time",
    "asap": "not understood",
    "x" * 201: "200 characters",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_clear_is_refused_with_how_it_was_understood(text: str) -> None:
    with pytest.raises(Unclear) as refused:
        read(text)

    assert REFUSED[text] in str(refused.value)


def test_a_bare_hour_that_has_passed_may_mean_the_evening_and_is_refused() -> None:
    with pytest.raises(Unclear, match="21:00"):
        read("at 9", now=NOW + timedelta(hours=4))


def test_tomorrow_is_the_persons_tomorrow_not_the_servers() -> None:
    """G8: 23:30 UTC is already the next day in Tokyo, and still the day before in New York."""
    assert read("tomorrow 9am", TOKYO) == "2026-12-01T09:00:00+09:00"
    assert read("tomorrow 9am", "America/New_York") == "2026-11-30T09:00:00-05:00"


BERLIN = "Europe/Berlin"


def test_a_time_that_clocks_skip_is_moved_on_by_the_gap_and_said() -> None:
    found = understand("tomorrow 2:30 am", datetime(2027, 3, 27, 12, tzinfo=UTC), ZoneInfo(BERLIN), BERLIN)

    assert found.written() == "2027-03-28T03:30:00+02:00[_gap=02-30]"
    assert found.note().startswith("02:30 does not exist that day (clocks go forward), so it is 03:30.")
    assert "没有 02:30" in found.note()


def test_of_a_time_that_clocks_show_twice_the_first_is_taken_and_said() -> None:
    now = datetime(2027, 10, 30, 12, tzinfo=UTC)

    assert read("2027-10-31T02:30", BERLIN, now) == "2027-10-31T02:30:00+02:00"
    assert "this is the first" in understand("2027-10-31T02:30", now, ZoneInfo(BERLIN), BERLIN).note()
    assert "this is the second" in understand("2027-10-31T02:30:00+01:00", now, ZoneInfo(BERLIN), BERLIN).note()
    assert understand("2027-10-31T03:30", now, ZoneInfo(BERLIN), BERLIN).note() == ""


@pytest.mark.parametrize(
    ("day", "after_24_hours", "after_a_day"), [("2027-03-27", "14:00:00+02:00", "13:00:00+02:00"), ("2027-10-30", "13:00:00+01:00", "14:00:00+01:00")]
)
def test_hours_pass_on_a_stopwatch_and_days_on_the_calendar(day: str, after_24_hours: str, after_a_day: str) -> None:
    now = datetime.fromisoformat(f"{day}T12:00:00+00:00")

    assert read("in 24 hours", BERLIN, now).endswith(after_24_hours)
    assert read("in 1 day", BERLIN, now).endswith(after_a_day)


def test_a_gap_that_is_only_claimed_is_not_shown() -> None:
    assert definite("2027-03-28T09:00:00+02:00[_gap=02-30]", ZoneInfo(BERLIN), BERLIN).gap == ""  # type: ignore[union-attr]


@given(
    minutes=st.integers(1, MAX_AHEAD * 1440 - 2),
    zone=st.sampled_from(["UTC", TOKYO, BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana", "Pacific/Apia"]),
)
def test_what_was_resolved_once_means_the_same_whenever_it_is_read_again(minutes: int, zone: str) -> None:
    local = (NOW + timedelta(minutes=minutes)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)

    first = understand(local.isoformat(), NOW, ZoneInfo(zone), zone)

    assert definite(first.written(), ZoneInfo(zone), zone) == first
    assert understand(first.written(), NOW, ZoneInfo(zone), zone) == first
    assert first.at.replace(tzinfo=None) - local in {timedelta(0), timedelta(minutes=30), timedelta(hours=1)}


@given(st.text(max_size=60) | st.text(alphabet="0123456789一二三十点半上下午周月日天后明今 :-/amp\u665a", max_size=30))
def test_no_text_gives_anything_but_a_future_moment_or_a_reason(text: str) -> None:
    with contextlib.suppress(Unclear):
        assert NOW < understand(text, NOW, ZoneInfo(TOKYO), TOKYO).at <= NOW + timedelta(days=MAX_AHEAD)


@pytest.mark.parametrize("text", ["drink water every day", "每天喝水", "stand up daily", "每个工作日打卡", "water the plants every 2 days", "每两小时站起来"])
def test_words_that_ask_for_a_repetition_are_noticed(text: str) -> None:
    assert repeats(text)


@pytest.mark.parametrize("text", ["write the daily report", "给每个人发邮件", "call every customer", "交每日报告", "weekly meeting"])
def test_words_that_only_look_like_a_repetition_are_left_alone(text: str) -> None:
    assert not repeats(text)


def test_a_shown_time_reads_in_one_language_on_a_card() -> None:
    shown = weekday_in_one(understand("tomorrow 9am", NOW, ZoneInfo(TOKYO), TOKYO).shown())

    assert shown == "2026-12-01 09:00 (Tuesday 星期二), Asia/Tokyo, UTC+09:00"
    assert shown.said("en") == "2026-12-01 09:00 (Tuesday), Asia/Tokyo, UTC+09:00"
    assert shown.said("zh") == "2026-12-01 09:00（星期二）, Asia/Tokyo, UTC+09:00"
