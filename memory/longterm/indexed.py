"""From a memory to what it is found by: the text whose meaning is embedded, and its weighted terms.

A memory is indexed together with what was said just before it, because an answer seldom repeats its question, and with the days it speaks
of, because "in May" seldom stands in what was said in May.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from memory.longterm.memory import Memory
from memory.longterm.sparse import record_words
from memory.longterm.topics import mark, topics_about
from memory.terms import hashed, terms

OWN: Final = 2.0
BEFORE: Final = 1.0
"""What a word of the memory counts, and one of what was said before it."""
SAYING: Final = 1.0
"""What a word of its key or its condition counts."""


def embed_text(memory: Memory) -> str:
    """The text whose meaning stands for the memory."""
    about = " ".join(_about(memory))
    return f"{about}: {memory.text}" if about else memory.text


def words_of(memory: Memory) -> dict[int, float]:
    """Its weighted terms."""
    parts = ((memory.text, OWN), (memory.context, BEFORE), (" ".join(_about(memory)), SAYING))
    marks = day_marks(memory.created if memory.valid_from is None else memory.valid_from)
    return record_words(parts, (*marks, *(mark(topic) for topic in sorted(topics_about(memory.kind, memory.key, memory.text, memory.condition)))))


def said_words(memory: Memory) -> frozenset[int]:
    """The numbers of the terms in it and in what it is about."""
    return _numbers((memory.text, memory.context, *_about(memory)))


@lru_cache(maxsize=4_096)
def _numbers(texts: tuple[str, ...]) -> frozenset[int]:
    return frozenset(hashed(term) for text in texts for term in terms(text))


def _about(memory: Memory) -> list[str]:
    """What its text leaves unsaid of its key, value and condition."""
    plain = memory.text.casefold()
    parts = [*memory.key.replace("_", " ").split(":"), memory.value, memory.condition]
    return [part for part in dict.fromkeys(parts) if part and part.casefold() not in plain]


def day_marks(at: float) -> tuple[str, str]:
    """The terms of the day and of the month in which something was, as a question that names them has them too."""
    day = datetime.fromtimestamp(at, UTC).date()
    return day_mark(day.year, day.month, day.day), month_mark(day.year, day.month)


def day_mark(year: int, month: int, day: int) -> str:
    """The term of a day; no text holds it."""
    return f"@{year:04}-{month:02}-{day:02}"


def month_mark(year: int, month: int) -> str:
    """The term of a month; no text holds it."""
    return f"@{year:04}-{month:02}"
