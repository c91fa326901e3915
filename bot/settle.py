"""Which run is worked on: pure. Called after every change, it brings the state to where `decide` can read it.

A run in which only a person's decision is missing steps aside, so that others in the thread are served meanwhile. A
person who writes on instead of clicking gets an answer too: their open calls are superseded.
"""

from __future__ import annotations

from bot.session_ops import all_runs, append, close_call, new_run, superseded, unrecorded, with_runs
from bot.state import Run, Session, Status
from tools.result import ErrorCode, Suggestion, ToolResult


def settle(session: Session, now: float) -> Session:
    """Bring the state to where `decide` can read it: expire, supersede, absorb new messages, choose the active run."""
    session = _expire(session, now)
    if session.history_from:
        return session
    if session.run is not None and _idle(session.run):
        session = session.model_copy(update={"run": None, "waiting": (*session.waiting, _pause(session.run, now))})
    session = _absorb(session, now)
    if session.run is None:
        ready = next((run for run in session.waiting if not _idle(run)), None)
        if ready is not None:
            rest = tuple(run for run in session.waiting if run.id != ready.id)
            session = session.model_copy(update={"run": _resume(ready, now), "waiting": rest})
        else:
            session = _begin(session, now)
    return session


def _idle(run: Run) -> bool:
    """Whether only a person's decision is missing: every open call waits, and its card is posted."""
    if run.answer is not None or run.dirty:
        return False
    if any(unrecorded(call) for call in run.calls):
        return False
    pending = [call for call in run.calls if call.open]
    return bool(pending) and all(call.status is Status.WAITING and call.approval is not None and call.approval.card_ts for call in pending)


def _pause(run: Run, now: float) -> Run:
    spent = run.usage.seconds + max(0.0, now - run.active_since)
    return run.model_copy(update={"usage": run.usage.model_copy(update={"seconds": spent}), "active_since": now})


def _resume(run: Run, now: float) -> Run:
    """The run goes on. A person may have taken a day to answer, so what was read before is not taken for the present any more."""
    return run.model_copy(update={"active_since": now, "fresh_from": run.usage.model_calls})


def _expire(session: Session, now: float) -> Session:
    runs, expired = [], False
    for run in all_runs(session):
        calls = list(run.calls)
        for i, call in enumerate(calls):
            if call.status is Status.WAITING and call.approval is not None and now >= call.approval.expires_at:
                late = "Nobody answered in time." if call.effect == "ask" else "Nobody approved this in time. It was not done."
                result = ToolResult.fail(call.tool, ErrorCode.EXPIRED, late, Suggestion.ASK_PERSON)
                session, calls[i] = close_call(session, call, Status.EXPIRED, result)
                expired = True
        runs.append(run.model_copy(update={"calls": tuple(calls)}) if expired else run)
    return with_runs(session, runs) if expired else session


def _absorb(session: Session, now: float) -> Session:
    """A person who writes on instead of clicking: their open calls are superseded and the same run answers both."""
    while session.inbox:
        head = next((i for i in session.inbox if i.request), None)
        if head is None:
            break
        run = next((r for r in all_runs(session) if r.requested_by == head.item.actor and r.answer is None), None)
        if run is None or (session.run is not None and session.run.id != run.id):
            break
        busy = any(call.open and call.status is not Status.WAITING for call in run.calls)
        if busy or any(call.status is Status.APPROVED for call in run.calls):
            break
        calls = []
        for call in run.calls:
            closed = call
            if call.open:
                session, closed = close_call(session, call, Status.SUPERSEDED, superseded(call))
            calls.append(closed)
        before = session.inbox[: session.inbox.index(head) + 1]
        session = append(session, *(i.item for i in before))
        resumed = run.model_copy(
            update={
                "calls": tuple(calls),
                "dirty": True,
                "request_ts": head.item.ts,
                "locale": head.locale,
                "guest": head.guest,
                "groups": head.groups if head.groups is not None else run.groups,
                "active_since": run.active_since if session.run else now,
                "fresh_from": run.fresh_from if session.run else run.usage.model_calls,
            }
        )
        session = session.model_copy(
            update={
                "inbox": session.inbox[len(before) :],
                "run": resumed,
                "waiting": tuple(r for r in session.waiting if r.id != run.id),
            }
        )
    return session


def _begin(session: Session, now: float) -> Session:
    """Start the next request, together with the same person's messages that follow it, once its patience is over."""
    first = next((i for i, entry in enumerate(session.inbox) if entry.request), None)
    if first is None:
        return append(session, *(i.item for i in session.inbox)).model_copy(update={"inbox": ()})
    head = session.inbox[first]
    end = first + 1
    while end < len(session.inbox) and (not session.inbox[end].request or session.inbox[end].item.actor == head.item.actor):
        end += 1
    taken = session.inbox[:end]
    if any(entry.not_before > now for entry in taken):
        return session
    last = [entry for entry in taken if entry.request][-1]
    person = {"guest": last.guest, "groups": last.groups}
    run = new_run(session, head.item.actor, last.item.ts, locale=last.locale, timezone=last.timezone, now=now).model_copy(update=person)
    return append(session, *(entry.item for entry in taken)).model_copy(update={"inbox": session.inbox[end:], "run": run})
