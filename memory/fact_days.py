"""Days and times that mean another day when they are read on another day: "tomorrow", "Friday", "in two days", "下周五"."""

from __future__ import annotations

import re
from typing import Final

from memory.fact_rules_zh import RELATIVE

_COUNTED: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b|"
    r"\b(?:in|within|next|this) [\w ]{1,20}?(?:minute|hour|day|week|month|quarter|year)s?\b|"
    r"[本这下上]*个?(?:周|星期|礼拜)[一二三四五六日天]|[\d一二三四五六七八九十两半几]+个?(?:分钟|小时|天|日|周|星期|月|年)(?:之|以)?[后内]|[今明后]天|[今明后]年|[本这下]个?(?:周|月|季度)",
    re.IGNORECASE,
)


def is_relative(value: str) -> bool:
    """Whether a value is a day or time that means something else on another day: "tomorrow", "Friday", "in two days", "下周五"."""
    return bool(_COUNTED.search(value) or RELATIVE.search(value))
