"""`record`: what came of an action, taken into a session's state. Pure."""

from __future__ import annotations

from typing import Final

from bot import actions as act
from bot.messages import say
from bot.session_ops import all_runs, append, card_state, close_call, fingerprint, finish, intend, outbound_id, past_calls, sent_at, with_call, with_run
from bot.settle import settle
from bot.state import Run, Session, Status
from memory.transcript import AssistantMessage, Request
from tools.result import ErrorCode, Suggestion, ToolResult

PATIENCE: Final = 180.0
"""Seconds from a run's first model failure until it is given up."""


def record(session: Session, outcome: act.Outcome, now: float, epoch: int) -> Session:
    """Take the outcome of the action just performed into the state. `epoch` is the claim's."""
    match outcome:
        case act.NoticeTaken():
            session = session.model_copy(update={"notices": tuple(n for n in session.notices if n.id != outcome.notice_id)})
        case act.HistoryRead():
            session = append(session.model_copy(update={"history_from": ""}), *outcome.items)
        case act.CardShown():
            run = next((r for r in all_runs(session) if r.id == outcome.run_id), None)
            if run is not None:
                session = with_run(session, _show(run, outcome.call_id, shown=outcome.state))
        case act.ProcessingShown():
            session = session.model_copy(update={"processing": True})
        case act.Compacted():
            now_held = {"covered": outcome.memory.covered, "made": outcome.memory.compactions, "weight": outcome.weight, "look_at": 0}
            mark = session.memory.model_copy(update=now_held)
            session = session.model_copy(update={"memory": mark, "log_start": max(session.log_start, outcome.log_start)})
        case act.LookedAt():
            session = session.model_copy(update={"memory": session.memory.model_copy(update={"look_at": outcome.look_at})})
        case act.Indexed():
            session = session.model_copy(update={"memory": session.memory.model_copy(update={"indexed": outcome.upto})})
        case act.Wished() if session.run is not None:
            seen_to = {"wished": True, "noted": outcome.noted, "kept": outcome.kept}
            session = session.model_copy(update={"run": session.run.model_copy(update=seen_to)})
        case act.Learned():
            mark = session.memory.model_copy(update={"learned": max(outcome.upto, session.memory.learned), "learn_at": 0.0, "learn_tries": 0})
            session = session.model_copy(update={"memory": mark, "notices": (*session.notices, *outcome.notices)})
        case act.LearnLater():
            mark = session.memory.model_copy(update={"learn_at": outcome.at, "learn_tries": session.memory.learn_tries + outcome.failed})
            session = session.model_copy(update={"memory": mark})
        case act.Redacted():
            mark = session.memory.model_copy(update={"indexed": min(session.memory.indexed, outcome.indexed), "made": session.memory.made + 1})
            rest = tuple(each for each in session.redactions if each.key != outcome.key)
            session = session.model_copy(update={"memory": mark, "redactions": rest})
        case act.Finished():
            session = finish(session)
        case _:
            session = _record_run(session, outcome, now, epoch)
    return settle(session, now)


def _record_run(session: Session, outcome: act.Outcome, now: float, epoch: int) -> Session:
    run = session.run
    if run is None:
        raise ValueError(f"{type(outcome).__name__} without an active run")
    match outcome:
        case act.ModelAnswered():
            return _answered(session, run, outcome, now, epoch)
        case act.ModelFailed():
            return session.model_copy(update={"run": _failed(run, outcome, now, epoch)})
        case act.ToolsStarted():
            calls = tuple(c.model_copy(update={"status": Status.STARTED, "begun": True}) if c.id in outcome.call_ids else c for c in run.calls)
            usage = run.usage.model_copy(update={"tool_calls": run.usage.tool_calls + len(outcome.call_ids)})
            return session.model_copy(update={"run": run.model_copy(update={"calls": calls, "usage": usage})})
        case act.ToolDone():
            call = next(c for c in run.calls if c.id == outcome.call_id)
            session, closed = close_call(session, call, outcome.status, outcome.result, now)
            return with_run(session, with_call(run, closed))
        case act.Posting():
            return session.model_copy(update={"run": intend(run, outcome.outbound_id, epoch)})
        case act.Posted():
            return session.model_copy(update={"run": sent_at(run, outcome.outbound_id, outcome.ts)})
        case act.PartReplied():
            run = run.model_copy(update={"parts_posted": -1 if outcome.last else run.parts_posted + 1})
            session = session.model_copy(update={"run": run})
            return finish(session) if outcome.last and not run.recovered else session
        case act.CardPosted():
            call = next(c for c in run.calls if c.id == outcome.call_id)
            run = sent_at(run, call.approval.id if call.approval else "", outcome.ts)
            return session.model_copy(update={"run": _show(run, call.id, ts=outcome.ts, shown=card_state(call))})
        case act.CardRefused():
            call = next(c for c in run.calls if c.id == outcome.call_id)
            if not call.open:  # the record of what a standing permission allowed: it stays unshown, and the answer still tells
                return with_run(session, _show(run, call.id, shown="refused"))
            result = ToolResult.fail(
                call.tool,
                ErrorCode.INTERNAL,
                "The person could not be asked, because the approval card could not be shown. It was not done.",
                Suggestion.ASK_PERSON,
            )
            session, closed = close_call(session, call, Status.FAILED, result)
            return with_run(session, with_call(run, closed))
        case _:
            raise TypeError(f"unexpected outcome {type(outcome).__name__}")


def _show(run: Run, call_id: str, *, shown: str, ts: str | None = None) -> Run:
    call = next(c for c in run.calls if c.id == call_id)
    if call.approval is None:
        return run
    update = {"shown": shown} if ts is None else {"shown": shown, "card_ts": ts}
    return with_call(run, call.model_copy(update={"approval": call.approval.model_copy(update=update)}))


def _answered(session: Session, run: Run, outcome: act.ModelAnswered, now: float, epoch: int) -> Session:
    if any(call.open for call in run.calls):
        raise ValueError("the model was asked while a call of its last answer was open")
    usage = run.usage.model_copy(update={"model_calls": run.usage.model_calls + 1, "tokens": run.usage.tokens + outcome.tokens})
    history = past_calls(run)
    run = run.model_copy(
        update={
            "usage": usage,
            "dirty": False,
            "model_failures": 0,
            "retry_at": 0.0,
            "first_failure_at": 0.0,
            "calls": outcome.calls,
            "history": history,
            "cooling": outcome.cooling,
            "opened": outcome.opened or run.opened,
            "recalled": outcome.recalled,
            "memory_missing": outcome.memory_missing,
        }
    )
    requests = tuple(Request(id=c.id, name=c.tool, arguments=c.raw) for c in outcome.calls)
    session = append(session, AssistantMessage(run_id=run.id, text=outcome.text, calls=requests, at=now))
    if not outcome.calls:
        run = intend(run, outbound_id(run, run.parts_posted), epoch)
        return session.model_copy(update={"run": run.model_copy(update={"answer": outcome.text, "answer_kind": "summary" if outcome.final else "answer"})})
    calls = []
    for call in outcome.calls:
        checked = call
        if call.open and call.effect == "write" and fingerprint(call) in run.refused:
            again = ToolResult.fail(
                call.tool, ErrorCode.DENIED_BY_PERSON, "A person already refused exactly this. They are not asked again.", Suggestion.GIVE_UP
            )
            session, checked = close_call(session, call.model_copy(update={"approval": None}), Status.DENIED, again, now)
        elif not call.open and call.result is not None:
            session, checked = close_call(session, call, call.status, call.result, now)
        elif call.approval is not None:
            run = intend(run, call.approval.id, epoch)
        calls.append(checked.model_copy(update={"raw": ""}))  # the transcript holds it; the state stays small
    return session.model_copy(update={"run": run.model_copy(update={"calls": tuple(calls)})})


def _failed(run: Run, outcome: act.ModelFailed, now: float, epoch: int) -> Run:
    failures = run.model_failures + 1
    first = run.first_failure_at or now
    usage = run.usage.model_copy(update={"model_calls": run.usage.model_calls + (0 if outcome.transient else 1)})
    if outcome.transient and now - first < PATIENCE:
        delay = max(outcome.retry_after, min(2.0 ** (failures - 1), 15.0))
        return run.model_copy(update={"model_failures": failures, "first_failure_at": first, "retry_at": now + delay, "usage": usage})
    run = intend(run, outbound_id(run, run.parts_posted), epoch)
    return run.model_copy(update={"answer": say(outcome.kind, run.locale), "answer_kind": "failure", "dirty": False, "usage": usage})
