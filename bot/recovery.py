"""What a new holder of a session does about the old one's unfinished business: pure.

After a crash, a freeze or an interruption, an intent without a result may have taken effect or not. Each kind has its
rule, and every rule can be applied twice.
"""

from __future__ import annotations

from bot.session_ops import all_runs, card_state, close_call, finish, new_run, unknown_outcome, with_runs
from bot.state import Session, Status
from memory.keys import Actor
from tools.result import ErrorCode, Suggestion, ToolResult


def take_over(session: Session, epoch: int, now: float) -> Session:
    """What a new claim means: started calls without a result are resolved, and the clock of active time starts anew.

    Idempotent. Time in which nobody worked does not count against a run.
    """
    session = resolve_started(session)
    runs = []
    for run in all_runs(session):
        recovered = run.recovered or any(box.epoch != epoch and not box.ts for box in run.outbox)
        # Between two tries of a model that fails nobody works either, but those pauses count: else such a run would never use its time up.
        active_since = run.active_since if run.retry_at else now
        runs.append(run.model_copy(update={"recovered": recovered, "active_since": active_since}))
    return with_runs(session, runs)


def resolve_started(session: Session) -> Session:
    """Resolve calls that were started and have no result, by kind.

    Reads run again, keyed writes run again with the same key, unkeyed writes are never run again: their outcome is
    unknown and the person is told to check. Only for when nothing is under way: after a take-over or an interruption.
    """
    if not any(call.status is Status.STARTED for run in all_runs(session) for call in run.calls):
        return session
    runs = []
    for run in all_runs(session):
        calls = list(run.calls)
        for i, call in enumerate(calls):
            if call.status is not Status.STARTED:
                continue
            if call.effect == "read":
                calls[i] = call.model_copy(update={"status": Status.PROPOSED})
            elif call.keyed:
                calls[i] = call.model_copy(update={"status": Status.APPROVED})
            else:
                session, calls[i] = close_call(session, call, Status.UNKNOWN, unknown_outcome(call))
        runs.append(run.model_copy(update={"calls": tuple(calls)}))
    return with_runs(session, runs)


def disturbed(session: Session) -> Session:
    """An action was interrupted: a message it was about to post may stand or not, so it is looked up first, as after a take-over."""
    runs = []
    for run in all_runs(session):
        loose = any(not box.ts for box in run.outbox)
        outbox = tuple(box if box.ts else box.model_copy(update={"epoch": 0}) for box in run.outbox)
        runs.append(run.model_copy(update={"outbox": outbox, "recovered": run.recovered or loose}))
    return with_runs(session, runs)


def where(session: Session, box_id: str) -> str | None:
    """Where the state says the message `box_id` stands: its `ts`, or None when it does not say."""
    for run in all_runs(session):
        for box in run.outbox:
            if box.id == box_id:
                return box.ts or None
    return next((sent.ts for sent in session.sent if sent.id == box_id), None)


def apologise(session: Session, text: str, now: float, epoch: int) -> Session:
    """Say `text` in the thread, for a mail that nobody can read, beside whatever else goes on there."""
    nobody = Actor(team_id=session.thread.team_id, user_id="")
    run = new_run(session, nobody, f"parked:{epoch}", locale="en", timezone="UTC", now=now)
    told = run.model_copy(update={"answer": text, "answer_kind": "failure", "dirty": False, "recovered": True})
    return session.model_copy(update={"waiting": (*session.waiting, told)})


def set_aside(session: Session, text: str, now: float, epoch: int) -> Session:
    """Give up on what cannot be processed: the active run ends with `text`, or a new one says it when there is none.

    Used when the same step failed several times; touches nothing it need not.
    """
    if session.run is None and session.waiting:
        session = session.model_copy(update={"run": session.waiting[0], "waiting": session.waiting[1:]})
    run = session.run
    if run is None:
        nobody = Actor(team_id=session.thread.team_id, user_id="")
        run = new_run(session, nobody, f"parked:{epoch}", locale="en", timezone="UTC", now=now)
    elif run.answer_kind == "failure" and run.answer is not None:
        return finish(session)  # not even the apology could be delivered
    calls = []
    for call in run.calls:
        closed = call
        if call.open:
            result = (
                unknown_outcome(call)
                if call.begun and call.effect == "write"
                else ToolResult.fail(call.tool, ErrorCode.INTERNAL, "This was given up after repeated faults.", Suggestion.GIVE_UP)
            )
            session, closed = close_call(session, call, Status.UNKNOWN if result.error_code is ErrorCode.OUTCOME_UNKNOWN else Status.FAILED, result)
        if closed.approval is not None:  # redrawing a card may be what fails
            closed = closed.model_copy(update={"approval": closed.approval.model_copy(update={"shown": card_state(closed)})})
        calls.append(closed.model_copy(update={"arguments": None}))  # they may be what is too large to keep
    ended = run.model_copy(update={"calls": tuple(calls), "answer": text, "answer_kind": "failure", "dirty": False, "retry_at": 0.0, "recovered": True})
    return session.model_copy(update={"run": ended})
