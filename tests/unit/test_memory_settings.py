"""What a person's settings say about messages: what is not learned from them any more, and how far it may reach."""

from __future__ import annotations

import pytest

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, narrower
from memory.longterm.memory import MOST_MARKED, Settings, Source

ANA = Actor(team_id="T1", user_id="U1")
HERE, THERE = (Audience(scope="channel", channel_id=channel) for channel in ("C1", "C2"))


def source(number: int, channel: str = "C1") -> Source:
    return Source(thread=Thread(team_id="T1", channel_id=channel), ts=f"{1_790_000_000 + number}.000100" if number >= 0 else "", said_by=ANA)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (PRIVATE, WORKSPACE, PRIVATE),
        (WORKSPACE, HERE, HERE),
        (HERE, PRIVATE, PRIVATE),
        (HERE, HERE, HERE),
        (HERE, THERE, PRIVATE),
        (WORKSPACE, WORKSPACE, WORKSPACE),
    ],
    ids=lambda audience: audience.tag,
)
def test_of_two_audiences_the_one_that_reaches_fewer_counts_whichever_comes_first(one: Audience, other: Audience, both: Audience) -> None:
    assert narrower(one, other) == narrower(other, one) == both


def test_of_the_messages_that_are_not_heard_any_more_the_latest_are_kept_in_mind() -> None:
    settings = Settings().without(source(n) for n in reversed(range(MOST_MARKED + 1)))
    assert len(settings.unheard) == MOST_MARKED
    assert [settings.hears(source(n), source(n).at) for n in (0, 1, MOST_MARKED)] == [True, False, False]
    assert settings.without([source(1)]) == settings
    assert settings.hears(source(1, "C2"), 1.0), "another channel's message of the same moment is another message"
    assert settings.without([source(-1)]) == settings, "what was no message cannot be read again"
    assert not any("179" in mark or "C1" in mark for mark in settings.unheard), "neither its place nor its time is kept"


def test_the_latest_choice_of_an_audience_counts_for_its_message_and_only_narrows() -> None:
    settings = Settings().addressed(source(1), PRIVATE).addressed(source(2), WORKSPACE).addressed(source(-1), PRIVATE)
    assert [settings.audience(source(n), HERE) for n in (1, 2, 3, -1)] == [PRIVATE, HERE, HERE, HERE]
    assert settings.addressed(source(1), HERE).audience(source(1), WORKSPACE) == HERE
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


def test_what_was_said_at_the_moment_of_the_forgetting_or_before_is_not_heard() -> None:
    settings = Settings(forgotten_at=source(5).at)
    assert [settings.hears(source(n), source(n).at) for n in (4, 5, 6)] == [False, False, True]
    assert settings.hears(source(-1), 0.0), "nothing is known of when that was"
    assert Settings().hears(source(0), source(0).at)
