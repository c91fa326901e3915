"""Sessions saved by every released version of the program can be gone on with by this one.

The samples under `tests/corpus` were written by the program itself (see `tests/corpus/make.py`). Each is loaded, taken
over as a new holder would, and the next action is looked at: no clock, no network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot import actions as act
from bot.events import EVENT, Decision, Person
from bot.recovery import take_over
from bot.run import Budget, decide, fold
from bot.settle import settle
from bot.state import SCHEMA_VERSION, Session, StateError, Status, dump, load
from memory.transcript import ITEM, AssistantMessage, ToolMessage, arrange

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
VERSIONS = sorted(path.name for path in CORPUS.glob("v*"))
SITUATIONS = {"finished", "started_read", "started_keyed", "started_unkeyed", "waiting_approval", "inbox_queued", "retrying"}
SINCE = {"v2": {"waiting_question"}}
"""Situations that a version brought, which samples of earlier ones cannot show."""

versions = pytest.mark.parametrize("version", VERSIONS)


def sample(version: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / version / f"{name}.json").read_text(encoding="utf-8"))
    return found


def loaded(version: str, name: str) -> Session:
    return load(json.dumps(sample(version, name)["document"]).encode())


def moment(session: Session) -> float:
    """A second after the newest run began."""
    runs = ([session.run] if session.run else []) + list(session.waiting)
    return max((run.started_at for run in runs), default=0.0) + 1.0


def resumed(version: str, name: str, later: float = 0.0) -> tuple[Session, act.Action]:
    """The session in a new holder's hands, `later` seconds after the sample was taken, and what it does first."""
    session = loaded(version, name)
    now = moment(session) + later
    taken = settle(take_over(session, 9_999_999_999_999, now), now)
    return taken, decide(taken, now, Budget())


def test_every_schema_version_so_far_has_its_samples() -> None:
    assert [f"v{n}" for n in range(1, SCHEMA_VERSION + 1)] == VERSIONS


@versions
def test_every_situation_is_among_the_samples_and_can_be_read(version: str) -> None:
    names = SITUATIONS.union(*(new for first, new in SINCE.items() if int(first[1:]) <= int(version[1:])))
    assert {path.stem for path in (CORPUS / version).glob("*.json")} == names
    for name in names:
        session = loaded(version, name)
        for item in sample(version, name)["log"]:
            ITEM.validate_python(item)
        for mail in sample(version, name)["mail"]:
            EVENT.validate_json(mail)

        assert session.v == SCHEMA_VERSION
        assert load(dump(session)) == session


def test_a_question_still_waits_for_its_answer_and_a_click_on_a_choice_is_one() -> None:
    session, action = resumed("v2", "waiting_question")
    call = session.waiting[0].calls[0]
    assert call.approval is not None
    click = Decision(
        thread=session.thread,
        key="d:1",
        actor=session.waiting[0].requested_by,
        person=Person(name="Alice"),
        approval_id=call.approval.id,
        message_ts=call.approval.card_ts,
        verdict="answer",
        choice=1,
    )
    answered = fold(session, click, moment(session))

    assert isinstance(action, act.Wait)
    assert answered.run is not None
    assert answered.run.calls[0].status is Status.DONE
    assert any(isinstance(item, ToolMessage) and "ABC-20240522-007" in item.content for item in answered.pending)


@versions
def test_a_finished_session_waits_for_mail(version: str) -> None:
    assert resumed(version, "finished")[1] == act.Wait(None)


@versions
def test_a_read_that_was_started_runs_again(version: str) -> None:
    _, action = resumed(version, "started_read")

    assert isinstance(action, act.RunTools)
    assert [(call.effect, call.status) for call in action.calls] == [("read", Status.PROPOSED)]


@versions
def test_a_keyed_write_that_was_started_runs_again_under_the_same_id(version: str) -> None:
    before = loaded(version, "started_keyed").run
    session, action = resumed(version, "started_keyed")

    assert isinstance(action, act.RunTools)
    assert before is not None
    assert session.run is not None
    assert (session.run.id, action.calls[0].id) == (before.id, before.calls[0].id)
    assert action.calls[0].status is Status.APPROVED


@versions
def test_an_unkeyed_write_that_was_started_never_runs_again_and_its_card_says_so(version: str) -> None:
    session, action = resumed(version, "started_unkeyed")

    assert isinstance(action, act.UpdateCard)
    assert action.state == Status.UNKNOWN
    assert session.run is not None
    assert all(not call.open for call in session.run.calls)
    assert any(isinstance(item, ToolMessage) and "OUTCOME_UNKNOWN" in item.content for item in session.pending)


@versions
def test_an_approval_goes_on_waiting_until_it_expires(version: str) -> None:
    session, action = resumed(version, "waiting_approval")
    approval = session.waiting[0].calls[0].approval
    assert approval is not None
    expired, later = resumed(version, "waiting_approval", later=approval.policy.expires_after + 1.0)

    assert action == act.Wait(approval.expires_at)
    assert isinstance(later, act.UpdateCard)
    assert later.state == Status.EXPIRED
    assert any(isinstance(item, ToolMessage) and "EXPIRED" in item.content for item in expired.pending)


@versions
def test_a_message_behind_a_run_keeps_its_place(version: str) -> None:
    session, action = resumed(version, "inbox_queued")

    assert isinstance(action, act.RunTools)
    assert len(session.inbox) == 1
    assert session.inbox[0].request
    assert session.run is not None
    assert session.inbox[0].item.actor != session.run.requested_by


@versions
def test_a_model_that_failed_is_asked_again_when_its_time_has_come(version: str) -> None:
    session = loaded(version, "retrying")
    assert session.run is not None
    pause = session.run.retry_at

    assert decide(session, pause - 0.1, Budget()) == act.Wait(pause)
    assert isinstance(decide(session, pause, Budget()), act.CallModel)


@versions
def test_every_sample_gives_the_model_a_transcript_without_gaps(version: str) -> None:
    for name in SITUATIONS:
        session, _ = resumed(version, name)
        runs = ([session.run] if session.run else []) + list(session.waiting)
        open_calls = [call.id for run in runs for call in run.calls if call.open]
        log = [ITEM.validate_python(item) for item in sample(version, name)["log"]]
        items = arrange([*log, *session.pending], open_calls)
        asked = [call.id for item in items if isinstance(item, AssistantMessage) for call in item.calls]
        answered = [item.call_id for item in items if isinstance(item, ToolMessage)]

        assert asked == answered
        assert not any(isinstance(item, ToolMessage) and "is missing" in item.content for item in items)


def test_a_state_of_an_unknown_version_is_refused_and_not_guessed_at() -> None:
    newer = sample("v1", "waiting_approval")["document"] | {"v": SCHEMA_VERSION + 1}

    with pytest.raises(StateError, match="version"):
        load(json.dumps(newer).encode())


def test_a_state_with_a_field_nobody_knows_is_refused() -> None:
    odd = sample("v1", "finished")["document"] | {"mood": "good"}

    with pytest.raises(StateError, match="does not fit"):
        load(json.dumps(odd).encode())
