"""The day in the words of people: "tomorrow", "next Monday", "Dec 5", "下周一", "12月5日", "3天后".

One step of reading a moment (`when.py`), after the words about the clock were taken out. Days are counted on the
person's own calendar. A day that two people would understand differently is refused with both dates.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from tools.builtin.clockwords import NUMBER_WORDS, Unclear
from tools.builtin.moment import WEEKDAYS


@dataclass(frozen=True, slots=True)
class Day:
    """A day, and whether another one must be meant if the time on it has passed."""

    date: date
    rolls: int = 0
    """Days to the next one that is meant just as well (a weekday: 7), 0 when exactly this one was named."""
    same_time: bool = False
    """Counted from now ("in 3 days"): without a time of its own it keeps the present one."""


_NAMED: Final = (
    ("大后天", 3), ("后天|後天", 2), ("明天|明日|明(?=[早晚上下中])", 1), ("今天|今日|今(?=[早晚上下中])", 0),
    (r"\b(?:the )?day after tomorrow\b", 2), (r"\b(?:tomorrow|tmrw?|tmr)\b", 1), (r"\btoday\b|\bthis(?=\s*$)", 0),
)  # fmt: skip
_EN_DAY: Final = r"mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_EN_WEEKDAY: Final = re.compile(rf"(?:\b(?P<which>next|this|coming|on)\s+)?\b(?P<day>{_EN_DAY})\b\.?")
_ZH_WEEKDAY: Final = re.compile(r"(?P<which>下下个?|下个?|本|这个?|上个?)?(?:周|星期|礼拜|週)(?P<day>[1-6一-六日天])")
_ZH_DATE: Final = re.compile(r"(?:(?P<y>\d{4})年|(?P<rel>今年|明年))?\s*(?P<m>\d{1,2})月(?P<d>\d{1,2})(?:[日号號]|(?!\d))")
_ZH_DAY: Final = re.compile(r"(?P<which>本月|这个月|下个?月)?(?<!\d)(?P<d>\d{1,2})[号號日]")
_YMD: Final = re.compile(r"(?<![\d/.-])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d/.-])")
_DMY: Final = re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<y>\d{4}))?(?![\d/.-])")
_MONTH: Final = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_EN_DATE: Final = re.compile(
    rf"\b(?:(?:{_MONTH})\.?\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\.?(?:,?\s+\d{{4}})?)\b"
)
_NEXT_WEEK: Final = re.compile(r"\bnext week\b|下个?(?:周|星期|礼拜)(?![\d一-六日天末])")

_NUMBERS: Final = {word: float(i) for i, word in enumerate(NUMBER_WORDS, 1)} | {"a": 1.0, "an": 1.0}
_COUNT: Final = rf"(?:half an?|\d+(?:\.\d+)?|\b(?:{'|'.join(_NUMBERS)})(?=\s))"  # apart, or the "an" of "and" would count
_EN_UNIT: Final = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[smhdw](?![a-z]))"
_EN_PIECE: Final = rf"{_COUNT}\s*{_EN_UNIT}"
_EN_SPAN: Final = rf"{_EN_PIECE}(?:\s*(?:,|and|\s)?\s*{_EN_PIECE})*"
_IN: Final = re.compile(rf"\b(?:in|after)\s+(?P<in>{_EN_SPAN})(?!\w)|\b(?P<from>{_EN_SPAN})\s+(?:from now|later)\b")
_ZH_PIECE: Final = r"(?:\d+(?:\.\d+)?个?半?|半个?)(?:秒钟?|分钟?|刻钟|小时|钟头|天|周|星期|礼拜|个?月|年)"
_ZH_IN: Final = re.compile(
    rf"(?:(?:再?过|等)\s?)?(?P<after>{_ZH_PIECE}(?:零?{_ZH_PIECE})*)(?:之后|以后|过后|後|后)|(?:再?过|等)\s?(?P<pass>{_ZH_PIECE}(?:零?{_ZH_PIECE})*)"
)
_UNITS: Final = {
    "s": "seconds", "秒": "seconds", "m": "minutes", "分": "minutes", "刻": "quarters", "h": "hours", "小": "hours", "钟": "hours",
    "d": "days", "天": "days", "w": "weeks", "周": "weeks", "星": "weeks", "礼": "weeks", "月": "months", "年": "years", "y": "years",
}  # fmt: skip


# --- spans of time ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time from now: whole calendar steps first, then seconds that pass on a stopwatch."""

    months: int = 0
    days: int = 0
    seconds: int = 0


def read_span(text: str) -> tuple[Span | None, str]:
    """A span such as `in 2 hours` or `3天后`, or None, and the text without it. Raises `Unclear` for parts of a day or month."""
    text = re.sub(rf"\b({_COUNT})\s+(hour|day|week)s? and a half\b", lambda m: f"{_count(m[1]) + 0.5} {m[2]}s", text)
    text = re.sub(rf"\b({_COUNT})\s+and a half\s+({_EN_UNIT})", lambda m: f"{_count(m[1]) + 0.5} {m[2]}", text)
    match = _IN.search(text) or _ZH_IN.search(text)
    if match is None:
        return None, text
    said = next(group for group in match.groups() if group)
    total: dict[str, float] = {}
    for count, unit in _pieces(said):
        total[unit] = total.get(unit, 0.0) + count
    months, days = total.get("months", 0.0) + 12 * total.get("years", 0.0), total.get("days", 0.0) + 7 * total.get("weeks", 0.0)
    if months % 1 or days % 1:
        raise Unclear(f"{said!r} has no exact end; write whole days, or hours")
    seconds = 3600 * total.get("hours", 0.0) + 60 * total.get("minutes", 0.0) + 900 * total.get("quarters", 0.0) + total.get("seconds", 0.0)
    if months > 1200 or days > 36_600 or seconds > 36_600 * 86_400:
        raise Unclear(f"{said!r} is too far away")
    return Span(int(months), int(days), round(seconds)), f"{text[: match.start()]} {text[match.end() :]}"


def _pieces(said: str) -> Iterator[tuple[float, str]]:
    for match in re.finditer(rf"(?P<count>{_COUNT})\s*(?P<unit>{_EN_UNIT})|(?P<zh>{_ZH_PIECE})", said):
        if match["zh"] is None:
            unit = match["unit"]
            yield _count(match["count"]), "months" if unit.startswith("mo") else _UNITS[unit[0]]
            continue
        zh = re.fullmatch(r"(?P<n>\d+(?:\.\d+)?)?个?(?P<half>半)?个?(?P<unit>.+)", match["zh"])
        if zh is not None:
            yield float(zh["n"] or 0) + (0.5 if zh["half"] else 0.0), _UNITS[zh["unit"][0]]


def _count(word: str) -> float:
    return 0.5 if word.startswith("half") else _NUMBERS[word] if word in _NUMBERS else float(word)


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the month's last when it has no such day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


# --- days ------------------------------------------------------------------------------------------------------------


def read_day(text: str, today: date) -> tuple[Day | None, str]:
    """The day in `text`, or None, and the text without it. Raises `Unclear`."""
    for reader in (_ymd, _zh_date, _english_date, _numeric, _named, _zh_weekday, _en_weekday, _zh_day, _next_week):
        found = reader(text, today)
        if found is not None:
            day, span = found
            rest = f"{text[: span[0]]} {text[span[1] :]}"
            return day, rest if day.rolls else _checked(day.date, rest)
    return None, text


def _checked(day: date, rest: str) -> str:
    """A date that comes with its weekday ("Friday, Dec 4"): the weekday must be right, and is done with."""
    for pattern in (_EN_WEEKDAY, _ZH_WEEKDAY):
        match = pattern.search(rest)
        if match is not None and not match["which"]:
            wanted = _weekday(match["day"])
            if wanted != day.weekday():
                raise Unclear(f"{day} is a {WEEKDAYS['en'][day.weekday()]}, not a {WEEKDAYS['en'][wanted]}; which of the two is right?")
            return f"{rest[: match.start()]} {rest[match.end() :]}"
    return rest


def _weekday(word: str) -> int:
    """Monday is 0."""
    if word in "日天":
        return 6
    if word.isdigit():
        return int(word) - 1
    return "一二三四五六".index(word) if word in "一二三四五六" else [day[:3].lower() for day in WEEKDAYS["en"]].index(word[:3])


_Found = tuple[Day, tuple[int, int]] | None


def _made(year: int, month: int, day: int, said: str) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise Unclear(f"there is no such day as {said!r}") from error


def _ymd(text: str, today: date) -> _Found:  # noqa: ARG001 - all readers look alike
    match = _YMD.search(text)
    return (Day(_made(int(match["y"]), int(match["m"]), int(match["d"]), match[0])), match.span()) if match else None


def _yearless(month: int, day: int, today: date, said: str) -> date:
    """The next such day; 29 February may be years away."""
    for year in range(today.year, today.year + 9):
        if day == 29 and month == 2 and not calendar.isleap(year):
            continue
        found = _made(year, month, day, said)
        if found >= today:
            return found
    raise Unclear(f"there is no such day as {said!r}")


def _zh_date(text: str, today: date) -> _Found:
    match = _ZH_DATE.search(text)
    if match is None:
        return None
    month, day = int(match["m"]), int(match["d"])
    if match["y"] or match["rel"]:
        return Day(_made(int(match["y"] or today.year + (match["rel"] == "明年")), month, day, match[0])), match.span()
    return Day(_yearless(month, day, today, match[0])), match.span()


def _english_date(text: str, today: date) -> _Found:
    match = _EN_DATE.search(text)
    if match is None:
        return None
    numbers = [int(number) for number in re.findall(r"\d+", match[0])]
    day, year = numbers[0], numbers[1] if len(numbers) > 1 else 0
    month = next(place for place, name in enumerate(_MONTH.split("|"), start=1) if name[:3] in re.findall(r"[a-z]{3}", match[0].lower()))
    return Day(_made(year, month, day, match[0]) if year else _yearless(month, day, today, match[0])), match.span()


def _numeric(text: str, today: date) -> _Found:
    match = _DMY.search(text)
    if match is None:
        return None
    a, b = int(match["a"]), int(match["b"])
    if a <= 12 and b <= 12 and a != b:
        raise Unclear(f"{match[0]!r} may be day/month or month/day; write the date as YYYY-MM-DD")
    month, day = (a, b) if a <= 12 else (b, a)
    return Day(_made(int(match["y"]), month, day, match[0]) if match["y"] else _yearless(month, day, today, match[0])), match.span()


def _named(text: str, today: date) -> _Found:
    for words, ahead in _NAMED:
        match = re.search(words, text)
        if match is not None:
            return Day(today + timedelta(days=ahead)), match.span()
    return None


def _zh_weekday(text: str, today: date) -> _Found:
    match = _ZH_WEEKDAY.search(text)
    if match is None:
        return None
    wanted = _weekday(match["day"])
    which = (match["which"] or "").removesuffix("个")
    monday = today - timedelta(days=today.weekday())
    if which == "上":
        raise Unclear(f"{match[0]!r} has passed")
    if which:  # a Chinese week is a calendar week, and begins on Monday
        return Day(monday + timedelta(days=wanted + {"本": 0, "这": 0, "下": 7, "下下": 14}[which])), match.span()
    return Day(today + timedelta(days=(wanted - today.weekday()) % 7), rolls=7), match.span()


def _en_weekday(text: str, today: date) -> _Found:
    match = _EN_WEEKDAY.search(text)
    if match is None:
        return None
    wanted = _weekday(match["day"])
    ahead = (wanted - today.weekday()) % 7
    nearest = today + timedelta(days=ahead or 7)
    if match["which"] == "this":
        return Day(today - timedelta(days=today.weekday() - wanted)), match.span()
    if match["which"] == "next":
        in_next_week = today + timedelta(days=wanted - today.weekday() + 7)
        if nearest != in_next_week:
            raise Unclear(f"{match[0]!r} may be {nearest} or {in_next_week}; ask the person which, and send the date")
        return Day(in_next_week), match.span()
    return Day(today + timedelta(days=ahead), rolls=7), match.span()


def _zh_day(text: str, today: date) -> _Found:
    match = _ZH_DAY.search(text)
    if match is None:
        return None
    day = int(match["d"])
    if match["which"] and match["which"].startswith("下"):
        first = add_months(today.replace(day=1), 1)
        return Day(_made(first.year, first.month, day, match[0])), match.span()
    if match["which"] or day >= today.day:
        return Day(_made(today.year, today.month, day, match[0])), match.span()
    first = add_months(today.replace(day=1), 1)
    return Day(_made(first.year, first.month, day, match[0])), match.span()


def _next_week(text: str, today: date) -> _Found:
    match = _NEXT_WEEK.search(text)
    if match is None:
        return None
    monday = today + timedelta(days=7 - today.weekday())
    raise Unclear(f"{match[0]!r} is the week from Monday {monday}; which day of it is meant?")
