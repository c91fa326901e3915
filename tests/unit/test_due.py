"""A reminder that comes due, folded into a session: said once, beside whatever else goes on there, and how its message looks."""

from __future__ import annotations

from typing import Any

import pytest

from bot import actions as act
from bot.events import Due, RoomKind
from bot.reminders import LATE, reminder
from bot.run import Budget, decide, fold, record
from bot.session_ops import all_runs
from bot.state import Call, Run, Session, Status, dump, load
from memory.keys import Actor, Thread
from memory.transcript import Note

ANA = Actor(team_id="T1", user_id="U1ANA")
THREAD, DIRECT = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001"), Thread(team_id="T1", channel_id="D1")
NOW = 1_000.0


def due(thread: Thread = THREAD, key: str = "reminder:abc") -> Due:
    return Due(thread=thread, key=key, actor=ANA, text="tea", at=NOW)


def known(**more: Any) -> Session:
    """A session of a thread that was worked in before."""
    return Session(thread=THREAD, log_length=3, **more)


def said(session: Session) -> Session:
    """The session after the active run's answer was posted."""
    assert session.run is not None
    return record(session, act.PartReplied(last=True), NOW, 1)


def test_it_is_answered_at_once_without_the_model() -> None:
    session = fold(known(), due(), NOW)

    action = decide(session, NOW, Budget())

    assert isinstance(action, act.Reply)
    assert (action.run.answer, action.run.answer_kind, action.run.requested_by) == ("tea", "reminder", ANA)
    assert [type(item) for item in session.pending] == [Note]
    assert load(dump(session)).run == session.run


def test_the_same_reminder_is_said_once_while_it_is_on_its_way_and_after() -> None:
    session = fold(fold(known(), due(), NOW), due(), NOW)
    assert len(all_runs(session)) == 1

    over = said(session)

    assert fold(over, due(), NOW + 1) == over
    assert all_runs(fold(over, due(key="reminder:other"), NOW + 1)) != []


def test_it_waits_for_a_run_under_way_and_leaves_a_waiting_one_alone() -> None:
    busy = Run(id="r", requested_by=ANA, started_at=NOW, active_since=NOW, calls=(Call(id="c", tool="t", status=Status.STARTED),))

    session = fold(known(run=busy), due(), NOW)

    assert session.run == busy
    assert [run.answer_kind for run in session.waiting] == ["reminder"]


def test_people_who_talk_to_each_other_are_still_talking_to_each_other_afterwards() -> None:
    session = said(fold(known(aside=True), due(), NOW))

    assert session.run is None
    assert session.aside


def test_a_thread_that_was_forgotten_is_read_again_first() -> None:
    session = fold(Session(thread=THREAD), due(), NOW)

    assert isinstance(decide(session, NOW, Budget()), act.ReadHistory)
    assert isinstance(decide(record(session, act.HistoryRead(()), NOW, 1), NOW, Budget()), act.Reply)


def test_a_forgotten_direct_conversation_is_known_for_one() -> None:
    session = fold(Session(thread=DIRECT), due(DIRECT), NOW)

    assert session.room is RoomKind.IM
    assert isinstance(decide(session, NOW, Budget()), act.Reply)


def message(text: str, *, late: float = 0.0, person: str = "U1ANA", channel: str = "C1", locale: str = "en", allowed: tuple[str, ...] = ()) -> Any:
    run = Run(
        id="r", requested_by=Actor(team_id="T1", user_id=person), locale=locale, started_at=NOW, active_since=NOW + late, answer=text, answer_kind="reminder"
    )
    return reminder(run, channel, allowed)


@pytest.mark.parametrize(("locale", "heading"), [("en", "<@U1ANA> ⏰ Reminder:"), ("zh", "<@U1ANA> ⏰ 提醒：")])
def test_its_person_is_called_in_a_channel(locale: str, heading: str) -> None:
    made = message("tea", locale=locale)

    assert made.blocks[0]["text"]["text"] == heading
    assert made.text == f"{heading} tea"


def test_only_a_late_one_says_when_it_was_due() -> None:
    assert "due" not in message("tea", late=LATE).text
    assert "(it was due <!date^1000^{date_short_pretty} {time}|1970-01-01 00:16 UTC>)" in message("tea", late=LATE + 1).text


def test_nothing_but_a_slack_id_becomes_a_mention() -> None:
    assert "<" not in message("tea", person="U1> <!channel").text
    assert "<" not in message("tea", channel="D1").text


def test_only_given_links_are_live_and_every_character_of_the_text_stays() -> None:
    text = "see https://a.example/x, https://b.example/y. (https://a.example/x)"

    elements = message(text, allowed=("https://a.example/x",)).blocks[1]["elements"][0]["elements"]

    assert "".join(each.get("text") or each["url"] for each in elements) == text
    assert [each["url"] for each in elements if each["type"] == "link"] == ["https://a.example/x"] * 2
