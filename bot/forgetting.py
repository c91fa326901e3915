"""A step of `fold`: somebody had a memory deleted that this thread may carry. Pure.

What is written down is taken out by the effect `Redact` once no request is being answered. What waits for a decision and tells it ends here:
a card that shows what is forgotten can no longer be approved.
"""

from __future__ import annotations

import json

from bot.events import Forgotten
from bot.session_ops import all_runs, close_call, with_runs
from bot.state import Inbound, Redaction, Run, Session, Status
from memory.redaction import Redactor, redacted
from memory.transcript import UserMessage
from tools.result import ErrorCode, Suggestion, ToolResult


def forget(session: Session, event: Forgotten) -> Session:
    """The session with the redaction to come, and without what waits and tells it."""
    if not session.log_length and not session.pending and not session.inbox:
        return session
    redactor = Redactor(event.ts, event.phrases)
    runs = []
    for run in all_runs(session):
        session, cleared = _run(session, run, redactor, strictly=run.id in event.runs)
        runs.append(cleared)
    session = with_runs(session, runs)
    inbox = tuple(_inbound(entry, redactor) for entry in session.inbox)
    redaction = Redaction(key=event.key, actor=event.actor, ts=event.ts, phrases=event.phrases, runs=event.runs)
    return session.model_copy(update={"inbox": inbox, "redactions": (*session.redactions, redaction)})


def _inbound(entry: Inbound, redactor: Redactor) -> Inbound:
    if entry.request:  # it is about to be answered; its words go once it is
        return entry
    item = redacted(entry.item, redactor)
    return entry.model_copy(update={"item": item}) if isinstance(item, UserMessage) else entry


def _run(session: Session, run: Run, redactor: Redactor, *, strictly: bool) -> tuple[Session, Run]:
    calls = []
    for call in run.calls:
        closed = call
        told = json.dumps(call.arguments or {}, ensure_ascii=False)
        if call.status is Status.WAITING and call.arguments is not None and redactor.tells_in(told, strictly=strictly):
            gone = ToolResult.fail(call.tool, ErrorCode.SUPERSEDED, "The person had what this was about forgotten. It was not done.", Suggestion.GIVE_UP)
            session, closed = close_call(session, call, Status.SUPERSEDED, gone)
            closed = closed.model_copy(update={"arguments": {}, "raw": "{}"})
        calls.append(closed)
    return session, run.model_copy(update={"calls": tuple(calls)})
