"""How memories are told to the model: a line each, quoted, dated, and nothing in them can end the quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.keys import Actor
from memory.longterm.memory import Kind
from memory.longterm.question import Found
from memory.longterm.telling import day, line, lines
from tests.fakes.memories import memory

ANA = Actor(team_id="T1", user_id="U1")
AT = 1_790_000_000.0  # 2026-09-21, 14:13:20 UTC


@pytest.mark.parametrize(
    ("timezone", "expected"),
    [
        ("UTC", "2026-09-21"),
        ("Pacific/Kiritimati", "2026-09-22"),
        ("America", "2026-09-21"),
        ("", "2026-09-21"),
        ("No/Where", "2026-09-21"),
        ("../etc", "2026-09-21"),
    ],
    ids=["utc", "far east", "a folder", "none", "unknown", "a path"],
)
def test_the_day_is_the_persons_own_and_an_unknown_zone_is_utc(timezone: str, expected: str) -> None:
    assert day(AT, timezone) == expected


@pytest.mark.parametrize(
    ("kind", "language", "note"),
    [
        (Kind.FACT, "en", ""),
        (Kind.PLAN, "en", ", a plan"),
        (Kind.AGREEMENT, "en", ", agreed in this channel, <@U1>"),
        (Kind.AGREEMENT, "zh", ", 本频道的约定, <@U1>"),
        (Kind.ENTITY, "en", ", from a tool, as of that time"),
        (Kind.EPISODE, "zh", ", 以前做过的事"),
        (Kind.HABIT, "en", ", seen repeatedly"),
        (Kind.PLAN, "fr", ", a plan"),
    ],
)
def test_a_line_says_when_and_what_it_is(kind: Kind, language: str, note: str) -> None:
    assert line(memory("so it is", ANA, kind=kind, created=AT), language=language, timezone="UTC") == f'(2026-09-21{note}) "so it is"'


def test_what_always_applies_says_so_and_a_later_saying_dates_it() -> None:
    kept = memory("answer in Chinese", ANA, always=True, created=AT - 90 * 86_400.0, updated=AT)
    assert line(kept, language="en", timezone="UTC") == '(2026-09-21, always applies) "answer in Chinese"'
    assert line(kept, language="zh", timezone="UTC") == '(2026-09-21, 始终适用) "answer in Chinese"'


@given(st.text(max_size=200))
def test_no_text_leaves_its_line_or_its_quotation_marks(text: str) -> None:
    told = line(memory("x", ANA, created=AT).model_copy(update={"text": text}), language="en", timezone="UTC")
    assert len(told.splitlines()) == 1
    assert told.count('"') == 2
    assert told.endswith('"')


def test_the_order_given_is_the_order_told() -> None:
    found = [Found(memory(words, ANA, created=AT), 1.0) for words in ("b", "a", "c")]
    assert [each[-2] for each in lines(found, language="en", timezone="UTC")] == ["b", "a", "c"]
