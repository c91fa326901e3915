"""The days a question names, as spans of time: "last Friday", "in May 2023", "5月2日", "三天前", seen from a given moment in a given zone.

Used to find what was said then, so it looks back: a date without a year is the latest one that has come. What could mean two days gives
both; what names no day gives nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Span = tuple[float, float]

MOST: Final = 6
"""Spans read from one text."""

_MONTHS: Final = {name: number for number, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1)}
_DAYS: Final = {name: number for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_HAN_DAYS: Final = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_WORDS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "couple of": 2, "few": 3}
_HAN_NUMBERS: Final = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 3}

_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY: Final = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b"
_AMOUNT: Final = r"(?P<amount>\d{1,3}|an?|one|two|three|four|five|six|seven|couple of|few)"

_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<year>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH},?(?: (?P<year>\d{{4}}))?",
        rf"\b{_MONTH} (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,? (?P<year>\d{{4}}))?",
        rf"\b{_MONTH},? (?P<year>\d{{4}})",
        rf"\b(?:in|of|during|last|since|early|late|mid|this) {_MONTH}",
        rf"\b{_AMOUNT} (?P<unit>day|week|month|year)s? (?:ago|earlier|back)\b",
        r"\b(?P<named>day before yesterday|yesterday|last night|today|this morning|tonight)\b",
        r"\b(?P<which>last|this|previous|past) (?P<unit>week|month|year)\b",
        rf"\b(?:last |on |this |past |since ){_WEEKDAY}",
        r"\b(?:in|of|during|since) (?P<year>(?:19|20)\d{2})(?![-/.\d])",
        r"(?:(?P<year>\d{4})年|(?P<relative>去|今|前)年)?(?P<m>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份|(?P<day>\d{1,2}|[一二]?十[一二三四五六七八九]?|三十一?|[一二三四五六七八九])[日号])?",
        r"(?P<year>(?:19|20)\d{2})年(?!\d{1,2}月)",
        r"(?P<named>大前天|前天|昨天|昨晚|昨日|今天|今早|今晚|去年|今年|前年)(?!\d)",
        r"(?P<which>上上|上|这|本)个?(?:周|星期|礼拜)(?P<han>[一二三四五六日天])?",
        r"(?<![上这本下])(?:周|星期|礼拜)(?P<han>[一二三四五六日天])",
        r"(?P<which>上上|上|这|本)个?(?P<unit>月)",
        r"(?P<amount>\d{1,3}|[一两二三四五六七八九十几])个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:之|以)?前",
    )
)
_UNITS: Final = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_BACK: Final = {"day before yesterday": 2, "前天": 2, "大前天": 3, "yesterday": 1, "last night": 1, "昨天": 1, "昨晚": 1, "昨日": 1}
_YEARS_BACK: Final = {"去年": 1, "去": 1, "今年": 0, "今": 0, "前年": 2, "前": 2}


def spans_of(text: str, *, now: float, timezone: str) -> tuple[Span, ...]:
    """The times `text` names, each as (from, to), to excluded, in seconds since the epoch; `now` likewise. An unknown zone is UTC."""
    try:
        zone: ZoneInfo | None = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = None
    today = datetime.fromtimestamp(now, zone or UTC).date()
    plain = " ".join(unicodedata.normalize("NFKC", text[:2_000]).casefold().split())
    found: dict[Span, None] = {}
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            try:
                days = list(_days(match, today))
            except (ValueError, OverflowError):  # a 31st of February is no day
                continue
            taken.append(match.span())
            for first, last in days:
                start, end = (datetime.combine(each, clock(), zone or UTC).timestamp() for each in (first, last + timedelta(days=1)))
                found[start, end] = None
    return tuple(found)[:MOST]


def _days(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """First and last day, both meant."""
    got = {key: value for key, value in match.groupdict().items() if value}
    month = got.get("m") or got.get("month")
    if month:
        yield _of_month(got, _month_number(month), today)
    elif "amount" in got:
        yield _ago(got["amount"], _UNITS.get(got["unit"], got["unit"]), today)
    elif "named" in got:
        years = _YEARS_BACK.get(got["named"])
        day = today - timedelta(days=_BACK.get(got["named"], 0))
        yield (day, day) if years is None else (date(today.year - years, 1, 1), date(today.year - years, 12, 31))
    elif "weekday" in got or "han" in got:
        yield from _weekday(got, today)
    elif "which" in got:
        yield _whole(
            _UNITS.get(got.get("unit", "周"), got.get("unit", "week")), {"上上": 2, "上": 1, "last": 1, "previous": 1, "past": 1}.get(got["which"], 0), today
        )
    else:
        yield date(int(got["year"]), 1, 1), date(int(got["year"]), 12, 31)


def _of_month(got: dict[str, str], month: int, today: date) -> tuple[date, date]:
    year = int(got["year"]) if "year" in got else None
    if year is None and "relative" in got:
        year = today.year - _YEARS_BACK[got["relative"]]
    if "day" in got:
        day = _number(got["day"])
        if year is not None:
            return date(year, month, day), date(year, month, day)
        this = date(today.year, month, day)
        this = this if this <= today else date(today.year - 1, month, day)
        return this, this
    if year is None:
        year = today.year if month <= today.month else today.year - 1
    return date(year, month, 1), _month_end(year, month)


def _ago(amount: str, unit: str, today: date) -> tuple[date, date]:
    """Two days ago is a day; two months ago is about a month, and a week on either side of it is meant as well."""
    count = _WORDS.get(amount) or _number(amount)
    if unit == "day":
        return today - timedelta(days=count), today - timedelta(days=count)
    length, slack = {"week": (7, 3), "month": (30, 10), "year": (365, 60)}[unit]
    middle = today - timedelta(days=count * length)
    return middle - timedelta(days=slack), min(middle + timedelta(days=slack), today)


def _weekday(got: dict[str, str], today: date) -> Iterator[tuple[date, date]]:
    monday = today - timedelta(days=today.weekday())
    wanted = _HAN_DAYS[got["han"]] if "han" in got else _DAYS[got["weekday"][:3]]
    if "which" in got:  # Chinese counts weeks: 上周五 is the Friday of last week
        day = monday + timedelta(days=wanted - 7 * {"上上": 2, "上": 1}.get(got["which"], 0))
        yield day, day
        return
    latest = today - timedelta(days=(today.weekday() - wanted) % 7)
    yield latest, latest
    if latest >= monday:  # "last Friday" on a Saturday: yesterday to some, a week before to others
        yield latest - timedelta(days=7), latest - timedelta(days=7)


def _whole(unit: str, back: int, today: date) -> tuple[date, date]:
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return monday, monday + timedelta(days=6)
    if unit == "month":
        count = today.year * 12 + today.month - 1 - back
        return date(count // 12, count % 12 + 1, 1), _month_end(count // 12, count % 12 + 1)
    return date(today.year - back, 1, 1), date(today.year - back, 12, 31)


def _month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _month_number(word: str) -> int:
    return _MONTHS[word[:3]] if word[0].isascii() and word[0].isalpha() else _number(word)


def _number(word: str) -> int:
    """Digits, or a Chinese numeral up to 99."""
    if word.isdecimal():
        return int(word)
    tens, ten, ones = word.partition("十")
    if not ten:
        return _HAN_NUMBERS[word]
    return (_HAN_NUMBERS[tens] if tens else 1) * 10 + (_HAN_NUMBERS[ones] if ones else 0)
