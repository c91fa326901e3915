"""Memories as the model reads them: a line each, quoted, with the day it was said. Data about the person, never instructions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.longterm.memory import Kind, Memory
from memory.longterm.question import Found

_LABELS: Final = {
    "en": {
        "always": "always applies",
        Kind.AGREEMENT: "agreed in this channel",
        Kind.ENTITY: "from a tool, as of that time",
        Kind.EPISODE: "done earlier",
        Kind.HABIT: "seen repeatedly",
        Kind.PLAN: "a plan",
    },
    "zh": {
        "always": "始终适用",
        Kind.AGREEMENT: "本频道的约定",
        Kind.ENTITY: "来自工具，截至该时间",
        Kind.EPISODE: "以前做过的事",
        Kind.HABIT: "多次出现的习惯",
        Kind.PLAN: "计划",
    },
}


def day(at: float, timezone: str) -> str:
    """The day (2026-11-29) of a time in seconds since the epoch, in a person's timezone."""
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is none
        zone = ZoneInfo("UTC")
    return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d}"


def line(memory: Memory, *, language: str, timezone: str) -> str:
    """One memory as one line: its day, what sort of thing it is where that matters, who said it in a room, and its words in quotation marks."""
    labels = _LABELS["zh" if language == "zh" else "en"]
    notes = [day(memory.source_time, timezone)]
    if memory.always:
        notes.append(labels["always"])
    if memory.kind in labels:
        notes.append(labels[memory.kind])
    if memory.kind is Kind.AGREEMENT:
        notes.append(f"<@{memory.source.said_by.user_id}>")
    words = " ".join(memory.text.split()).replace('"', "'")
    return f'({", ".join(notes)}) "{words}"'


def lines(found: Sequence[Found], *, language: str, timezone: str) -> list[str]:
    """The memories in the order given, a line each."""
    return [line(each.memory, language=language, timezone=timezone) for each in found]
