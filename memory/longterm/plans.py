"""Something to come, as people say it ("I'm flying to Madrid next Friday", "我下周五飞北京出差"): the day it is for, and what it is about. Pure."""

from __future__ import annotations

import re
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
    r"|^(?:记住|记得|还有|另外)*(?:我|我们)?(?P<day>明天|后天|大后天|今晚|下周\S?|下个?星期\S?|这周\S|本周\S|周[一二三四五六日天末]|下个?月\S{0,3}|\d{1,2}月\d{1,2}[日号]\S?)?(?:我|我们)?(?:(?:要|会|打算|计划|准备|将)(?:去|飞|出差|旅行|旅游|休假|请假|搬家|参加|开会|到|在|回).{0,40}|(?:去|飞|出差|旅行|旅游|休假|请假|搬家|参加|回).{0,40})$",
    re.IGNORECASE,
)
_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(("monday 一", "tuesday 二", "wednesday 三", "thursday 四", "friday 五", "saturday 六", "sunday 日 天"))
    for name in names.split()
}
_TO_DAY: Final = re.compile(
    r"\b(?P<en>today|tonight|tomorrow|the day after tomorrow)\b|(?P<zh>今天|今晚|明天|后天|大后天)|\b(?P<next>next |this |on )(?P<wd>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|(?P<zn>下下?个?(?:周|星期|礼拜)|这个?周|本周|周|星期|礼拜)(?P<zd>[一二三四五六日天])|\b(?P<nw>next week|next month)\b|(?P<zw>下周|下个?星期|下个?月)(?![一二三四五六日天])|(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]",
    re.IGNORECASE,
)

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
    match = _TO_DAY.search(text)
    if match is None:
        return None
    try:
        zone = ZoneInfo(said.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    today = datetime.fromtimestamp(said.at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if near := match["en"] or match["zh"]:
        ahead = {"tomorrow": 1, "the day after tomorrow": 2, "明天": 1, "后天": 2, "大后天": 3}.get(near.casefold(), 0)
        return today + timedelta(days=ahead)
    if far := match["nw"] or match["zw"]:
        return today + timedelta(days=31 if "月" in far or "month" in far.casefold() else 7)
    if match["m"]:
        return _in_year(today, int(match["m"]), int(match["d"]))
    named = match["wd"] or match["zd"]
    wanted = _WEEKDAYS[named.casefold()]
    ahead = (wanted - today.weekday()) % 7
    lead = (match["next"] or match["zn"] or "").casefold()
    if lead.startswith(("next", "下")):
        ahead = 7 - today.weekday() + wanted + (7 if lead.startswith("下下") else 0)
    return today + timedelta(days=ahead)


def _in_year(today: datetime, month: int, day: int) -> datetime | None:
    try:
        named = today.replace(month=month, day=day)
    except ValueError:
        return None
    return named if named >= today else named.replace(year=today.year + 1, day=min(day, 28) if month == 2 else day)
