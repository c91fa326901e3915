"""Something to come, as people say it ("I'm flying to Madrid next Friday", "我下周五飞北京出差"): the day it is for, and what it is about. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.longterm.candidate import Candidate, Said
from memory.longterm.keys_of import content_key, topic
from memory.longterm.memory import LONGEST, Kind
from memory.longterm.own_words import Sentence
from memory.longterm.values_of import known_place, place

PLAN_GRACE: Final = 86_400.0
"""Seconds a plan stays known after its day."""
_PLAN: Final = re.compile(
    r"^(?:and |but |so |also |btw |remember (?:that )?)*(?:i(?:'m| am|'ll| will)|we(?:'re| are|'ll| will)) (?:be )?(?:going|flying|travel+ing|moving|on (?:vacation|holiday|leave)|away|out of (?:the )?office|visiting|off|have|fly|travel|go|visit|move|start|attend|meet|take)\b.{2,120}$"
    r"|^(?:and |but |so |also |btw |remember (?:that )?)*(?:i|we) (?:(?:fly|travel|leave|move|head)(?: off| back| out)? (?:to|for)|(?:leave|start|begin))\b(?!.{0,80}\b(?:every|each|usually|often|always)\b).{2,120}$"
    r"|^(?:记住|记得|还有|另外)*(?:我|我们)?(?P<day>明天|后天|大后天|今晚|下周\S?|下个?星期\S?|这周\S|本周\S|周[一二三四五六日天末]|下个?月\S{0,3}|(?:\d{1,2}|[一二三四五六七八九十]{1,3})月(?:份|初|底|中旬)?|(?:\d{1,2}|[一二三四五六七八九十]{1,3})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]\S?)?(?:我|我们)?(?:(?:要|会|打算|计划|准备|将)(?:去|飞|搬|出差|旅行|旅游|休假|请假|搬家|参加|开会|到|在|回).{0,40}|(?:去|飞|出差|旅行|旅游|休假|请假|搬家|参加|回).{0,40})$",
    re.IGNORECASE,
)
_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(("monday 一", "tuesday 二", "wednesday 三", "thursday 四", "friday 五", "saturday 六", "sunday 日 天"))
    for name in names.split()
}
_TO_DAY: Final = re.compile(
    r"\b(?P<en>today|tonight|tomorrow|the day after tomorrow)\b|(?P<zh>今天|今晚|明天|后天|大后天)|\b(?P<next>next |this |on )(?P<wd>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|(?P<zn>下下?个?(?:周|星期|礼拜)|这个?周|本周|周|星期|礼拜)(?P<zd>[一二三四五六日天])|\b(?P<nw>next week|next month)\b|(?P<zw>下周|下个?星期|下个?月)(?![一二三四五六日天])",
    re.IGNORECASE,
)

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_HAN_NUMBER: Final = "(?:十[一二]?|[一二三四五六七八九])"
_DATE: Final = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})|\b(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)|\b(?:in|by) (?:early |mid[- ]|late )?(?P<m3>{_MONTH})"
    rf"|(?P<m4>\d{{1,2}}|{_HAN_NUMBER})月(?:(?P<d4>\d{{1,2}}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]|(?:份|初|底|中旬)?(?![\d日号]))",
    re.IGNORECASE,
)
"""A day of a month, or a whole month: a plan for it is over when the month is."""

_CALLED_OFF: Final = re.compile(r"\b(?:not|never|no longer|cancel\w*)\b|n't\b|[不没]|取消", re.IGNORECASE)
_AWAY: Final = re.compile(r"\b(?:on (?:vacation|holiday|leave|pto)|off|away|out of (?:the )?office|ooo)\b|休假|请假|年假|休息|调休|病假|放假", re.IGNORECASE)
_TO: Final = re.compile(
    r"\b(?:to|visit(?:ing)?|in|for) (?P<en>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)|(?:去|飞|到|回)(?:往|了)?(?P<zh>[\u4e00-\u9fff]{2,5}?)(?=出差|旅行|旅游|开会|参加|见|玩|办|看|待|呆|[一两二三四五六七\d]|[，,。]|$)",
    re.IGNORECASE,
)


def plan(clause: Sentence, text: str, said: Said, *, explicit: bool) -> Candidate | None:
    """Something to come, with the day it is over; None where a clause is no plan or names no day."""
    if _PLAN.match(text) is None or _CALLED_OFF.search(text):
        return None
    day = _day(text, said)
    if day is None:
        return None
    ends = day.timestamp() + PLAN_GRACE
    return Candidate(
        kind=Kind.PLAN,
        key=_about(text),
        text=f"{text[: LONGEST - 20]} ({day:%Y-%m-%d})",
        value=f"{day:%Y-%m-%d}",
        explicit=explicit,
        quote=clause.text,
        language=said.language,
        importance=0.6,
        valid_until=ends,
        expires=ends + 30 * PLAN_GRACE,
        ts=said.ts,
    )


def _about(text: str) -> str:
    """Where somebody goes, that they are away, or what else it is about: one key in both languages."""
    for match in _TO.finditer(text):
        named = match["en"] or match["zh"]
        if known_place(named) or (topic(text) == "travel" and match["en"] and _TO_DAY.search(f"on {named}") is None):
            return f"travel:{place(named)}"
    return "away" if _AWAY.search(text) else topic(text) or content_key(text)


def _day(text: str, said: Said) -> datetime | None:
    """The day a text names, counted from when it was said, in the person's timezone; None when it names none."""
    dated, match = _DATE.search(text), _TO_DAY.search(text)
    if dated is None and match is None:
        return None
    try:
        zone = ZoneInfo(said.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    today = datetime.fromtimestamp(said.at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if dated is not None:
        return _of_date(today, dated)
    if match is None:
        return None
    if near := match["en"] or match["zh"]:
        ahead = {"tomorrow": 1, "the day after tomorrow": 2, "明天": 1, "后天": 2, "大后天": 3}.get(near.casefold(), 0)
        return today + timedelta(days=ahead)
    if far := match["nw"] or match["zw"]:
        return today + timedelta(days=31 if "月" in far or "month" in far.casefold() else 7)
    named = match["wd"] or match["zd"]
    wanted = _WEEKDAYS[named.casefold()]
    ahead = (wanted - today.weekday()) % 7
    lead = (match["next"] or match["zn"] or "").casefold()
    if lead.startswith(("next", "下")):
        ahead = 7 - today.weekday() + wanted + (7 if lead.startswith("下下") else 0)
    return today + timedelta(days=ahead)


def _of_date(today: datetime, dated: re.Match[str]) -> datetime | None:
    """The day of a date without a year: the next one to come. Of a month alone its last day."""
    if dated["m4"]:
        month, day = _number(dated["m4"]), _number(dated["d4"]) if dated["d4"] else 0
    else:
        name = dated["m1"] or dated["m2"] or dated["m3"]
        month, day = _MONTHS.index(name[:3].casefold()) + 1, int(dated["d1"] or dated["d2"] or 0)
    if not 1 <= month <= len(_MONTHS):
        return None
    if day:
        return _in_year(today, month, day)
    year = today.year + (month < today.month)
    return today.replace(year=year, month=month, day=monthrange(year, month)[1])


def _number(written: str) -> int:
    """Up to 99, in digits or as Chinese writes it."""
    if written.isdecimal():
        return int(written)
    tens, has_ten, ones = written.rpartition("十")
    digits = "一二三四五六七八九"
    one = digits.index(ones) + 1 if ones else 0
    return ((digits.index(tens) + 1 if tens else 1) * 10 if has_ten else 0) + one


def _in_year(today: datetime, month: int, day: int) -> datetime | None:
    try:
        named = today.replace(month=month, day=day)
    except ValueError:
        return None
    return named if named >= today else named.replace(year=today.year + 1, day=min(day, 28) if month == 2 else day)
