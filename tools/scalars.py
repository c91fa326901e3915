"""Texts that say a number, a yes or no, a date or a time in another spelling, read without losing or adding anything.

Each function gives the value in the schema's own spelling, or `None` when the text does not say it beyond doubt: `"12abc"`,
`"1,23"` (no grouping people use), `"007"` (the zeros may matter) and `"05/06/2024"` (May or June?) stay what they are. Commas group
thousands, as English and Chinese writers do it.
"""

from __future__ import annotations

import re
from datetime import date, time
from decimal import Decimal
from typing import Final

_WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_PLAIN: Final = _WIDE | dict.fromkeys(map(ord, "\u3000\u00a0\u2009\u202f"), " ") | {0x2212: "-"}
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?: [0-9]{3})+)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_BASIC = re.compile(r"((?:19|20|21)[0-9]{2})([0-9]{2})([0-9]{2})")
_SIGNED = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_CHINESE = re.compile(r"([0-9]{4}) ?年 ?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?[日号號]")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(Z|z|[+-][0-9]{2}:?[0-9]{2})?")
_MIDNIGHT = re.compile(r"00:00(?::00(?:\.0+)?)?")
_YES_NO = {"true": True, "false": False, "yes": True, "no": False, "是": True, "否": False}
_LONGEST = 64


def plain(text: str) -> str:
    """`text` without surrounding space, with full-width letters, digits and signs as their common counterparts."""
    return text.translate(_PLAIN).strip()


def integer(text: str) -> int | None:
    """`"1,234"`, `"１２３"`, `"5.0"` as an integer. `"1.000"` is one to some and a thousand to others, so it is neither."""
    found = _NUMBER.fullmatch(plain(text)) if len(text) <= _LONGEST else None
    if found is None or found[2] or found[1] == ".000" or (found[1] or "").strip(".0"):
        return None
    return int(_digits(found[0].partition(".")[0]))


def number(text: str) -> int | float | None:
    """`"1,234.50"` as a number; `None` when a float would not hold every digit."""
    found = _NUMBER.fullmatch(plain(text)) if len(text) <= _LONGEST else None
    if found is None:
        return None
    digits = _digits(found[0])
    if not (found[1] or found[2]):
        return int(digits)
    value = float(digits)
    return value if Decimal(digits) == Decimal(repr(value)) else None


def boolean(text: str) -> bool | None:
    """`"True"`, `"no"`, `"是"` as a boolean. `"1"` and `"on"` may mean something else."""
    return _YES_NO.get(plain(text).casefold())


def day(text: str) -> str | None:
    """`2024/5/20`, `2024年5月20日`, `20240520` or the midnight a day begins with as `2024-05-20`."""
    words = plain(text)
    head, mark, tail = words.replace("T", " ", 1).partition(" ")
    if mark and _MIDNIGHT.fullmatch(tail):
        words = head
    if found := _SIGNED.fullmatch(words):
        parts = (found[1], found[3], found[4])
    elif found := _CHINESE.fullmatch(words) or _BASIC.fullmatch(words):
        parts = (found[1], found[2], found[3])
    else:
        return None
    try:
        return date(int(parts[0]), int(parts[1]), int(parts[2])).isoformat()
    except ValueError:  # no such day
        return None


def clock(text: str) -> str | None:
    """`9:30` as `09:30:00`; an offset or fraction is kept as it is."""
    found = _TIME.fullmatch(plain(text))
    if found is None:
        return None
    try:
        moment = time(int(found[1]), int(found[2]), int(found[3] or 0))
    except ValueError:
        return None
    return moment.isoformat() + (found[4] or "") + (found[5] or "")


def instant(text: str) -> str | None:
    """`2024/5/20 9:30`, `2024年5月20日 9:30` as `2024-05-20T09:30:00`. A day alone says no time of day."""
    words = plain(text)
    place = max(words.find(sign) for sign in "日号號") + 1 or next((at for at, sign in enumerate(words) if sign in " T"), -1)
    if place < 0:
        return None
    date_part, time_part = day(words[:place]), clock(words[place:].strip(" T"))
    return f"{date_part}T{time_part}" if date_part and time_part else None


def _digits(text: str) -> str:
    return text.replace(",", "").replace(" ", "")
