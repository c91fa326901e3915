"""The present, and the names of timezones: what tools need to know about time."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import cast
from zoneinfo import ZoneInfo, available_timezones

from tools.tool import ToolContext

_PLACES = {
    "北京": "Asia/Shanghai", "上海": "Asia/Shanghai", "中国": "Asia/Shanghai", "beijing": "Asia/Shanghai", "china": "Asia/Shanghai",
    "深圳": "Asia/Shanghai", "shenzhen": "Asia/Shanghai",
    "香港": "Asia/Hong_Kong", "台北": "Asia/Taipei", "东京": "Asia/Tokyo", "日本": "Asia/Tokyo", "首尔": "Asia/Seoul", "新加坡": "Asia/Singapore",
    "曼谷": "Asia/Bangkok", "迪拜": "Asia/Dubai", "德里": "Asia/Kolkata", "delhi": "Asia/Kolkata", "mumbai": "Asia/Kolkata", "india": "Asia/Kolkata",
    "伦敦": "Europe/London", "英国": "Europe/London", "巴黎": "Europe/Paris", "柏林": "Europe/Berlin", "慕尼黑": "Europe/Berlin", "munich": "Europe/Berlin",
    "莫斯科": "Europe/Moscow", "纽约": "America/New_York", "洛杉矶": "America/Los_Angeles", "旧金山": "America/Los_Angeles", "芝加哥": "America/Chicago",
    "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles", "boston": "America/New_York", "washington": "America/New_York",
    "多伦多": "America/Toronto", "悉尼": "Australia/Sydney", "墨尔本": "Australia/Melbourne", "bern": "Europe/Zurich", "geneva": "Europe/Zurich",
}  # fmt: skip
"""Places people name that are no zone's own name. Abbreviations stay out: CST alone is four different times."""
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


class UnknownTimezone(Exception):  # noqa: N818 - an outcome with suggestions, not a fault
    """No timezone has this name; `close` holds names that may have been meant."""

    def __init__(self, name: str, close: list[str]) -> None:
        super().__init__(name)
        self.close = close


def now(ctx: ToolContext) -> datetime:
    """The present as an aware `datetime` in UTC, from the clock the context carries (`resources["now"]`) or the system's."""
    clock = cast("Callable[[], datetime] | None", ctx.resources.get("now"))
    return (clock() if clock is not None else datetime.now(UTC)).astimezone(UTC)


def find_timezone(name: str) -> tuple[str, tzinfo]:
    """The timezone meant by `name` (an IANA name, a city, a fixed offset such as `UTC+8`) with the name to show.

    Raises `UnknownTimezone`.
    """
    wanted = name.strip()
    offset = _OFFSET.fullmatch(wanted)
    if offset is not None and int(offset[2]) <= 14 and int(offset[3] or 0) < 60:
        minutes = (int(offset[2]) * 60 + int(offset[3] or 0)) * (-1 if offset[1] == "-" else 1)
        return f"UTC{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}", timezone(timedelta(minutes=minutes))
    by_name, by_city = _zones()
    lower = wanted.lower().removesuffix("时间")
    found = by_name.get(lower.replace(" ", "_")) or _PLACES.get(lower) or by_city.get(lower.replace(" ", "_"))
    if found is None:
        raise UnknownTimezone(wanted, _close(lower))
    return found, ZoneInfo(found)


def _close(lower: str) -> list[str]:
    by_name, by_city = _zones()
    names = difflib.get_close_matches(lower[:64].replace(" ", "_"), [*by_city, *by_name, *_PLACES], n=5, cutoff=0.6)
    return list(dict.fromkeys(by_name.get(name) or by_city.get(name) or _PLACES[name] for name in names))


@functools.cache
def _zones() -> tuple[dict[str, str], dict[str, str]]:
    """Every zone by its lower-case name, and by its city where only one zone has it."""
    regions = ("Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")
    names = sorted(available_timezones())
    by_city: dict[str, str] = {}
    for name in names:
        city = name.rsplit("/", 1)[-1].lower()
        if name.startswith(regions):
            by_city[city] = "" if city in by_city else name
    return {name.lower(): name for name in names if name != "localtime"}, {city: name for city, name in by_city.items() if name}


WEEKDAYS: dict[str, tuple[str, ...]] = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
"""Names of the days by language, Monday first; the system's locale plays no part."""
