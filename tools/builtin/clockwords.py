"""The time of day in the words of people: "9am", "half past nine", "下午三点半", "今晚8点".

One step of reading a moment (`when.py`): it takes the words about the clock out of a text and gives the hour they
mean. What can be read in two ways is refused with both readings, because a reminder twelve hours late is worse than
a question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


class Unclear(Exception):  # noqa: N818 - an outcome with words for the model, not a fault
    """A moment cannot be told from these words; the message says how they were understood and what would be clear."""


@dataclass(frozen=True, slots=True)
class Clock:
    """An hour and minute of some day. `later` counts days: "12 at night" belongs to the day after the one that was named."""

    hour: int
    minute: int = 0
    later: int = 0
    other: int | None = None
    """The hour it could mean as well, when no part of the day was named and the evening is as possible as the morning."""
    named: bool = True
    """Whether an hour was said; else it is the usual one for that part of the day."""


NUMBER_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

_PERIODS: Final = {
    "dawn": "凌晨|拂晓",
    "morning": r"早上|早晨|清晨|上午|早(?=\s|\d|$)|(?:in the )?\bmorning\b",
    "noon": r"中午|正午|午间|\bnoon\b|\bmidday\b",
    "afternoon": r"下午|午后|(?:in the )?\bafternoon\b",
    "night": r"傍晚|晚上|晚间|夜里|夜晚|深夜|晚(?=\s|\d|$)|(?:in the )?\bevening\b|(?:at )?\bnight\b",
    "midnight": r"午夜|半夜|\bmidnight\b",
}
_USUAL: Final = {"morning": 9, "noon": 12, "afternoon": 15, "night": 20}
_WORDS: Final = {word: i for i, word in enumerate(NUMBER_WORDS, 1)}
_HOUR: Final = rf"\d{{1,2}}|{'|'.join(_WORDS)}"

_AM_PM: Final = re.compile(r"(?<![\d:.])(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?(?::\d{2})?\s*(?P<half>[ap])\.?\s?m\b\.?")
_COLON: Final = re.compile(r"(?<![\d:])(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?(?![\d:])")
_ZH: Final = re.compile(r"(?<!\d)(?P<h>\d{1,2})\s*[点點时](?:钟|整)?(?:\s*(?:(?P<half>半)|(?P<quarter>[13])刻|(?P<m>\d{1,2})(?!\d)分?))?")
_PAST: Final = re.compile(rf"\b(?P<what>half|(?:a )?quarter|\d{{1,2}}(?: minutes?)?)\s+(?P<way>past|to)\s+(?P<h>{_HOUR})\b")
_BARE: Final = re.compile(rf"\b(?:at\s+(?P<at>{_HOUR})(?:\s*o'?\s?clock)?|(?P<oclock>{_HOUR})\s*o'?\s?clock)(?![\d:/.-]|\s*(?:st|nd|rd|th)\b)")


def read_clock(text: str) -> tuple[Clock | None, str]:
    """The time of day in `text` (lower case, ASCII digits), or None, and the text without it. Raises `Unclear`."""
    period, rest = _period(text)
    for pattern, read in ((_AM_PM, _am_pm), (_PAST, _past), (_ZH, _zh), (_COLON, _colon), (_BARE, _bare)):
        match = pattern.search(rest)
        if match is not None:
            hour, minute, sure = read(match)
            if hour > 24 or minute > 59 or (hour == 24 and minute):
                raise Unclear(f"{match[0].strip()!r} is no time of day")
            left = f"{rest[: match.start()]} {rest[match.end() :]}"
            if pattern is _AM_PM:  # "9 am in the morning" says it twice, "9 pm in the morning" is a contradiction
                return _placed(hour, minute, period, match[0].strip()) if period else Clock(hour, minute), left
            if period:
                return _placed(hour, minute, period, match[0].strip()), left
            return _alone(hour, minute, match[0].strip(), sure=sure), left
    if period is None:
        return None, rest
    if period == "midnight":
        return Clock(0, 0, later=1), rest
    if period not in _USUAL:
        raise Unclear("which hour of the early morning is meant?")
    return Clock(_USUAL[period], named=period == "noon"), rest


def _period(text: str) -> tuple[str | None, str]:
    found: str | None = None
    for name, words in _PERIODS.items():
        match = re.search(words, text)
        if match is None:
            continue
        if found is not None:
            raise Unclear("two parts of the day are named; write one time, such as 2026-11-30T09:00")
        found, text = name, f"{text[: match.start()]} {text[match.end() :]}"
    return found, text


def _number(word: str) -> int:
    return _WORDS.get(word) or int(word)


def _am_pm(match: re.Match[str]) -> tuple[int, int, bool]:
    hour, minute = int(match["h"]), int(match["m"] or 0)
    if hour > 12:
        if match["half"] == "a" or hour > 23:
            raise Unclear(f"{match[0].strip()!r} is no time of day")
        return hour, minute, True
    return hour % 12 + (12 if match["half"] == "p" else 0), minute, True


def _colon(match: re.Match[str]) -> tuple[int, int, bool]:
    return int(match["h"]), int(match["m"]), len(match["h"]) == 2


def _zh(match: re.Match[str]) -> tuple[int, int, bool]:
    minute = 30 if match["half"] else int(match["quarter"]) * 15 if match["quarter"] else int(match["m"] or 0)
    return int(match["h"]), minute, False


def _past(match: re.Match[str]) -> tuple[int, int, bool]:
    what = match["what"]
    minutes = 30 if what == "half" else 15 if "quarter" in what else int(what.split()[0])
    hour = _number(match["h"])
    if match["way"] == "past":
        return hour, minutes, False
    return (hour - 1) % 24 or 12, 60 - minutes, False


def _bare(match: re.Match[str]) -> tuple[int, int, bool]:
    return _number(match["at"] or match["oclock"]), 0, False


def _placed(hour: int, minute: int, period: str, said: str) -> Clock:
    """The hour within a named part of the day. Raises `Unclear` when it cannot lie there."""
    match period:
        case "dawn" if hour <= 6 or hour == 12:
            return Clock(hour % 12, minute)
        case "morning" if hour <= 11:
            return Clock(hour, minute)
        case "noon" if hour in {11, 12, 13, 14} or hour in {1, 2}:
            return Clock(hour + 12 if hour < 3 else hour, minute)
        case "afternoon" if 1 <= hour <= 19:
            return Clock(hour + 12 if hour < 12 else hour, minute)
        case "night" if 5 <= hour <= 11 or 17 <= hour <= 23:
            return Clock(hour + 12 if hour < 12 else hour, minute)
        case "night" | "midnight" if hour in {0, 12, 24}:
            return Clock(0, minute, later=1)
        case _:
            raise Unclear(f"{said!r} and the part of the day named with it do not fit together; write the hour from 00 to 23")


def _alone(hour: int, minute: int, said: str, *, sure: bool) -> Clock:
    """The hour without a part of the day: as the 24-hour clock has it, where that is what people mean."""
    if hour == 24:
        return Clock(0, minute, later=1)
    if sure or hour >= 12 or hour == 0:
        return Clock(hour, minute)
    if hour < 8:
        raise Unclear(f"{said!r} may be {hour:02}:{minute:02} or {hour + 12}:{minute:02}; ask the person or write the one that follows from what they said")
    return Clock(hour, minute, other=hour + 12)
