"""`understand`: a moment in the future, from whatever a person or a model writes, in the person's timezone.

It takes ISO times, spans ("in 2 hours", "半小时后") and the words of English and Chinese in any mixture, and it must
account for every word: what it does not know, what has passed and what can be read in two ways is refused with the
reading it had, never guessed. The outcome is written as an ISO time with its offset, so that a card that stands for
hours still says, and does, the same.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from tools.builtin.clockwords import Clock, Unclear, read_clock
from tools.builtin.daywords import Day, Span, add_months, read_day, read_span
from tools.builtin.moment import WEEKDAYS
from tools.builtin.zonewords import read_zone
from tools.words import Worded

MAX_AHEAD: Final = 731
"""Days into the future that are accepted."""
MAX_LENGTH: Final = 200
"""Characters of a moment's description."""
USUAL_HOUR: Final = 9
"""The hour meant when only a day is named."""

_ISO: Final = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})[t ]+(?P<time>\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(?P<offset>z|[+-]\d{2}:?\d{2})?(?:\[_gap=(?P<gap>\d{2}-\d{2})\])?",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(r"(?:\b(?:at|on|by|the|of|around|please|remind|me)\b|请?提醒我|[的在于,，。.@()]|^\s*-\s|\s-\s*$)+")
_REPEATED: Final = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|yearly|annually|hourly|nightly|weekdays|weekends|workdays|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b|每|天天"
)
_REPEATED_TEXT: Final = re.compile(
    r"\b(?:every|each)\s+(?:other\s+|single\s+|\d+\s+)?(?:second|minute|hour|day|night|morning|noon|afternoon|evening|week|weekday|weekend|workday|month|year"
    r"|mon|tue|wed|thu|fri|sat|sun)\w*|\b(?:daily|weekly|monthly|yearly|hourly)[.!]?\s*$"
    r"|每(?:隔|天|日(?!报|刊|例)|早|晚|夜|周|週|星期|礼拜|月|年|小时|分钟|个?(?:工作日|周末|星期|礼拜|小时|钟头|月|早上|上午|中午|下午|晚上)|[一两二三四五六七八九十\d]+个?(?:天|周|小时|分钟|月|年))|天天",
    re.IGNORECASE,
)
_WEEKDAY_SHOWN: Final = re.compile(r" \((\w+) (星期.)\)")
_HAN_DIGITS: Final = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_WEEKDAY: Final = re.compile("(?:周|週|星期|礼拜)[一二三四五六日天]")
_HAN_NUMBER: Final = re.compile("[零〇一二两三四五六七八九十]+")


@dataclass(frozen=True, slots=True)
class When:
    """A moment in the future, on the clock of one place."""

    at: datetime
    """Aware, in the zone."""
    zone: str
    gap: str = ""
    """The clock time that was asked for but does not exist that day (`02:30`), because clocks go forward; `at` is later by the gap."""

    @property
    def due(self) -> int:
        """Seconds since the epoch."""
        return int(self.at.timestamp())

    @property
    def twice(self) -> bool:
        """Whether clocks show this time twice that day, because they go back; `at` is one of the two."""
        return self.at.utcoffset() != self.at.replace(fold=1 - self.at.fold).utcoffset() and not _missing(self.at)

    def written(self) -> str:
        """As `understand` reads it back, exactly, however much later."""
        return self.at.isoformat(timespec="seconds") + (f"[_gap={self.gap.replace(':', '-')}]" if self.gap else "")

    def shown(self) -> str:
        """For people: `2026-12-01 09:00 (Tuesday 星期二), Asia/Tokyo, UTC+09:00`."""
        offset, seconds = self.at.strftime("%z"), f":{self.at:%S}" if self.at.second else ""
        day = self.at.weekday()
        return f"{self.at:%Y-%m-%d %H:%M}{seconds} ({WEEKDAYS['en'][day]} {WEEKDAYS['zh'][day]}), {self.zone}, UTC{offset[:3]}:{offset[3:5]}"

    def note(self) -> Worded:
        """What is special about the time, in both languages; empty when nothing is."""
        if self.gap:
            return both(
                f"{self.gap} does not exist that day (clocks go forward), so it is {self.at:%H:%M}.",
                f"当天时钟拨快，没有 {self.gap}，因此改为 {self.at:%H:%M}。",
            )
        if self.twice:
            which, zh = ("first", "第一次") if not self.at.fold else ("second", "第二次")
            return both(f"Clocks show {self.at:%H:%M} twice that day; this is the {which}.", f"当天时钟拨慢，{self.at:%H:%M} 会出现两次，这里指{zh}。")
        return Worded("")


def both(english: str, chinese: str) -> Worded:
    """A sentence in both languages, of which a card shows the reader's."""
    return Worded(f"{english} {chinese}", en=english, zh=chinese)


def weekday_in_one(shown: str) -> Worded:
    """A time as `When.shown` wrote it, with the weekday in the language of whoever reads it on a card."""
    return Worded(shown, en=_WEEKDAY_SHOWN.sub(r" (\1)", shown), zh=_WEEKDAY_SHOWN.sub(r"（\2）", shown))


def repeats(text: str) -> bool:
    """Whether a reminder's words ask for more than one ("drink water every day", "每天喝水"); a "daily report" does not."""
    return _REPEATED_TEXT.search(text) is not None


def understand(text: str, now: datetime, zone: tzinfo, name: str) -> When:
    """The moment `text` means for someone in `zone` (called `name`) at `now` (aware); on another place's clock when it names one.

    Raises `Unclear` with how it was understood, for what has passed, lies too far ahead or is not clear.
    """
    if len(text) > MAX_LENGTH:
        raise Unclear(f"a time is at most {MAX_LENGTH} characters long")
    plain = _plain(text)
    if _REPEATED.search(plain):
        raise Unclear("a reminder is given once and cannot repeat; tell the person so, and send the first time only if they want that one")
    iso = _ISO.fullmatch(plain)
    if iso is None:
        named, plain = read_zone(plain)
        name, zone = named or (name, zone)
        iso = _ISO.fullmatch(plain.strip())  # "2026-11-30T09:00 Tokyo time"
    found = _iso(iso, zone, name) if iso is not None else _spoken(plain, text, now.astimezone(zone), zone, name)
    if found.at <= now:
        raise Unclear(f"{text.strip()!r} is {found.shown()}, and that has passed: it is now {now.astimezone(zone):%Y-%m-%d %H:%M} there")
    if found.at - now > timedelta(days=MAX_AHEAD):
        raise Unclear(f"{text.strip()!r} is {found.shown()}; at most two years ahead are possible")
    return found


def definite(text: str, zone: tzinfo, name: str) -> When | None:
    """What `When.written` wrote, read back whenever that may be; None for any other text."""
    iso = _ISO.fullmatch(_plain(text))
    if iso is None or not iso["offset"]:
        return None
    try:
        return _iso(iso, zone, name)
    except Unclear:
        return None


def _plain(text: str) -> str:
    """Lower case, one width, Chinese numerals as digits."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("鐘", "钟").replace("後", "后").replace("點", "点").strip()
    folded = _WEEKDAY.sub(r"\g<0> ", folded)  # or 星期三十点, Wednesday at ten, would be read as a thirty
    digits = _HAN_NUMBER.sub(lambda match: _han(match[0]), re.sub(r"\s+", " ", folded))
    return re.sub(r"(?<=\d) (?=[\u4e00-\u9fff])", "", digits)


def _han(numeral: str) -> str:
    if "十" not in numeral:
        if len(numeral) not in {1, 4} and numeral[0] not in "零〇":
            return numeral  # 三五天 is "a few days", not 35
        return "".join(str(_HAN_DIGITS[char]) for char in numeral)
    tens, _, ones = numeral.partition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return numeral  # no numeral of a date or time; whoever reads on will not understand it
    return str((_HAN_DIGITS[tens] if tens else 1) * 10 + (_HAN_DIGITS[ones] if ones else 0))


def _iso(match: re.Match[str], zone: tzinfo, name: str) -> When:
    try:
        local = datetime.fromisoformat(f"{match['day']}T{match['time']}")
        if match["offset"]:
            offset = "+00:00" if match["offset"] == "z" else match["offset"]
            exact = datetime.fromisoformat(f"{match['day']}T{match['time']}{offset}").astimezone(zone)
            asked = placed(datetime.fromisoformat(f"{match['day']}T{match['gap'].replace('-', ':')}"), zone, name) if match["gap"] else None
            return asked if asked is not None and asked.at == exact else When(exact, name)
    except (ValueError, OverflowError) as error:
        raise Unclear(f"{match[0]!r} is no date and time") from error
    return placed(local, zone, name)


def placed(local: datetime, zone: tzinfo, name: str) -> When:
    """A clock time (naive) in a zone: moved on by the gap when clocks skip it, the first of two when they show it twice."""
    aware = local.replace(tzinfo=zone, fold=0)
    if _missing(aware):
        return When(aware.astimezone(UTC).astimezone(zone), name, f"{local:%H:%M}")
    return When(aware, name)


def _missing(at: datetime) -> bool:
    return at.astimezone(UTC).astimezone(at.tzinfo).replace(tzinfo=None, fold=0) != at.replace(tzinfo=None, fold=0)


def _spoken(plain: str, said: str, here: datetime, zone: tzinfo, name: str) -> When:
    tonight, plain = _tonight(plain)
    span, rest = read_span(plain)
    if span is not None and span.seconds:
        _nothing_left(rest, said)
        return _after(span, here, zone, name)
    day, rest = read_day(rest, here.date()) if not tonight else (Day(here.date()), rest)
    clock, rest = read_clock(rest)
    if day is None and span is None and clock is not None:  # "9am on Friday": with the clock gone the day may stand alone
        day, rest = read_day(rest, here.date())
    _nothing_left(rest, said)
    if span is not None:
        if day is not None:
            raise Unclear(f"{said.strip()!r} names a day in two ways; send the date")
        counted = add_months(here.date(), span.months) + timedelta(days=span.days)
        day = Day(counted, same_time=True)
    if day is None and clock is None:
        raise Unclear(f"{said.strip()!r} names no time; write for example 2026-11-30T09:00, in 2 hours, tomorrow 9am")
    return _joined(day, clock, said, here, zone=zone, name=name)


def _tonight(plain: str) -> tuple[bool, str]:
    """Whether the text has a word like `tonight`, a day and a part of it in one, and the text with only the part."""
    found = re.search(r"\btonight\b|\bthis (?=morning|afternoon|evening)", plain)
    if found is None:
        return False, plain
    return True, plain[: found.start()] + (" evening " if found[0] == "tonight" else " ") + plain[found.end() :]


def _nothing_left(rest: str, said: str) -> None:
    left = " ".join(_FILLER.sub(" ", rest).split())
    if left:
        raise Unclear(f"in {said.strip()!r} the part {left!r} is not understood; write for example 2026-11-30T09:00, in 2 hours, tomorrow 9am, 明天上午9点")


def _after(span: Span, here: datetime, zone: tzinfo, name: str) -> When:
    """A span from now. Hours and minutes pass as on a stopwatch, whatever the clocks on the wall do."""
    start = here
    if span.months or span.days:
        day = add_months(here.date(), span.months) + timedelta(days=span.days)
        start = placed(datetime.combine(day, here.time().replace(tzinfo=None)), zone, name).at
    end = start.astimezone(UTC) + timedelta(seconds=span.seconds)
    return When(_whole(end).astimezone(zone), name)


def _whole(moment: datetime) -> datetime:
    """Without fractions, and never before what was asked."""
    return moment.replace(microsecond=0) + timedelta(seconds=1 if moment.microsecond else 0)


def _joined(day: Day | None, clock: Clock | None, said: str, here: datetime, *, zone: tzinfo, name: str) -> When:
    today = here.date()
    if clock is None:
        if day is not None and day.same_time:
            return placed(datetime.combine(day.date, _whole(here).time().replace(tzinfo=None)), zone, name)
        if day is not None and day.date == today and not day.rolls:
            raise Unclear(f"{said.strip()!r} names today, {today}, without a time; which hour is meant?")
        clock = Clock(USUAL_HOUR, named=False)
    base = day.date if day is not None else today
    if clock.later and day is not None and clock == Clock(0, 0, later=1) and re.search(r"midnight|午夜|半夜", said.casefold()) and base != today:
        raise Unclear(f"midnight may begin or end {base}; write {base}T00:00 or {base + timedelta(days=1)}T00:00")
    found = _at(base, clock, zone, name)
    if found.at > here:
        if day is not None and day.rolls and base == today:
            other = _at(base + timedelta(days=day.rolls), clock, zone, name)
            raise Unclear(f"{said.strip()!r} may be today, {found.shown()}, or {other.shown()}; ask the person which, and send the date")
        return found
    if day is None and clock.other is not None:
        evening = placed(datetime.combine(base, time(clock.other, clock.minute)), zone, name)
        if evening.at > here:
            raise Unclear(f"{said.strip()!r} may be {evening.shown()}, or {clock.hour:02}:{clock.minute:02} tomorrow; ask the person which")
    step = 1 if day is None else day.rolls
    return _at(base + timedelta(days=step), clock, zone, name) if step else found


def _at(day: date, clock: Clock, zone: tzinfo, name: str) -> When:
    try:
        return placed(datetime.combine(day + timedelta(days=clock.later), time(clock.hour, clock.minute)), zone, name)
    except OverflowError as error:
        raise Unclear("that is too far away") from error
