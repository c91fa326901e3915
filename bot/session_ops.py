"""Small pure steps on a session's state that `fold`, `settle`, `record` and the recovery share.

Each takes a value and gives a new one; none of them chooses what to do.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from bot.state import FINAL, Call, Notice, Outbound, Run, Sent, Session, Status
from memory.keys import Actor, Thread
from memory.transcript import Item, ToolMessage
from tools.loop import Past, remembered
from tools.result import ErrorCode, Suggestion, ToolResult

KEPT_SENT: Final = 40
"""Messages of finished runs whose place is remembered."""
KEPT_DATA: Final = 2_000
"""Characters of a result's data that the state keeps for its card."""


def all_runs(session: Session) -> list[Run]:
    """The active run first, then those that wait for a person."""
    return ([session.run] if session.run else []) + list(session.waiting)


def with_runs(session: Session, runs: list[Run]) -> Session:
    """The session with exactly these runs; the active one stays active."""
    active = session.run.id if session.run else None
    return session.model_copy(update={"run": next((r for r in runs if r.id == active), None), "waiting": tuple(r for r in runs if r.id != active)})


def with_run(session: Session, run: Run) -> Session:
    """The session with the run of this id replaced."""
    return with_runs(session, [run if r.id == run.id else r for r in all_runs(session)])


def with_call(run: Run, call: Call) -> Run:
    """The run with the call of this id replaced."""
    return run.model_copy(update={"calls": tuple(call if c.id == call.id else c for c in run.calls)})


def append(session: Session, *items: Item) -> Session:
    """The session with transcript items for the next commit to write."""
    return session.model_copy(update={"pending": (*session.pending, *items)}) if items else session


def notify(session: Session, key: str, actor: Actor, text: str) -> Session:
    """The session with a private line owed to one person."""
    return session.model_copy(update={"notices": (*session.notices, Notice(id=key, actor=actor, text=text))})


def close_call(session: Session, call: Call, status: Status, result: ToolResult, now: float = 0.0) -> tuple[Session, Call]:
    """Give a call its final status, and the transcript the result the model will read. `now`: seconds since the epoch, when it is known."""
    if status not in FINAL:
        raise ValueError(f"{status} does not end a call")
    changed = call.arguments if call.approval is not None and call.approval.edited else None
    content = result.for_model(changed)
    session = append(session, ToolMessage(call_id=call.id, name=call.tool, content=content, effect=call.effect, at=now))
    slim = result.model_copy(update={"raw_arguments": "", "data": _brief(result.data)})
    news = json.dumps([result.success, result.error_code, result.error_message, result.data], ensure_ascii=False, sort_keys=True, default=str)
    mark = hashlib.sha256(news.encode("utf-8", "replace")).hexdigest()[:16]
    return session, call.model_copy(update={"status": status, "result": slim, "mark": mark})


def _brief(data: Any) -> Any:
    """What a card needs of a result's data; the transcript holds the whole."""
    return data if data is None or len(json.dumps(data, ensure_ascii=False, default=str)) <= KEPT_DATA else None


def run_id_of(thread: Thread, actor: Actor, ts: str) -> str:
    """The id of the run that answers a person's message `ts`."""
    return hashlib.sha256(f"{thread.id}\n{actor.team_id}\n{actor.user_id}\n{ts}".encode()).hexdigest()[:16]


def new_run(session: Session, actor: Actor, ts: str, *, locale: str, timezone: str, now: float) -> Run:
    """The id follows from what is answered, so folding the same mail again after a crash gives the same run."""
    return Run(id=run_id_of(session.thread, actor, ts), requested_by=actor, locale=locale, timezone=timezone, request_ts=ts, started_at=now, active_since=now)


def finish(session: Session) -> Session:
    """The active run is over; where its messages stand is remembered for a while."""
    run = session.run
    if run is None:
        return session
    # A reminder is no turn of the conversation: people who talk to each other go on doing so.
    aside = session.aside and run.answer_kind == "reminder"
    sent = (*session.sent, *(Sent(id=box.id, ts=box.ts) for box in run.outbox if box.ts))[-KEPT_SENT:]
    return session.model_copy(update={"run": None, "sent": sent, "answered": (*session.answered, run.id)[-KEPT_SENT:], "aside": aside})


def intend(run: Run, box_id: str, epoch: int) -> Run:
    """The run with the intent to post the message `box_id`."""
    if any(box.id == box_id for box in run.outbox):
        return run
    return run.model_copy(update={"outbox": (*run.outbox, Outbound(id=box_id, epoch=epoch))})


def sent_at(run: Run, box_id: str, ts: str) -> Run:
    """The run that knows where the message `box_id` stands."""
    return run.model_copy(update={"outbox": tuple(box.model_copy(update={"ts": ts}) if box.id == box_id else box for box in run.outbox)})


def outbound_id(run: Run, part: int) -> str:
    """The identity of one part of a run's answer, carried in the message's metadata."""
    return f"{run.id}.{part}"


def fingerprint(call: Call) -> str:
    """What makes two calls the same request: tool and arguments, not ids."""
    arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{call.tool}\n{arguments}".encode()).hexdigest()[:24]


def past_calls(run: Run) -> tuple[Past, ...]:
    """Every call of the run that has ended, as loop control looks at it: those of earlier rounds, then the latest answer's."""
    round_ = run.usage.model_calls - 1
    latest = (
        Past(
            tool=c.tool,
            key=c.key or fingerprint(c),
            round=round_,
            ok=c.status is Status.DONE,
            mark=c.mark,
            call_id=c.id,
            write=c.effect == "write",
        )
        for c in run.calls
        if not c.open and c.status in {Status.DONE, Status.FAILED, Status.UNKNOWN}
    )
    return remembered(run.history, latest)


def unrecorded(call: Call) -> bool:
    """Whether a call that nobody was asked about, because of a standing permission, still has to be shown in the thread."""
    return call.approval is not None and bool(call.approval.grant) and not call.open and not call.approval.card_ts and not call.approval.shown


def card_state(call: Call) -> str:
    """What a call's card should show: `open`, `half` (one of two approved) or the call's status."""
    if call.status is Status.WAITING:
        return "half" if call.approval is not None and call.approval.votes else "open"
    return call.status.value


def superseded(call: Call) -> ToolResult:
    """The result of a write whose approval, or of a question whose answer, was overtaken by what the person wrote since."""
    if call.effect == "ask":
        return ToolResult.ok(call.tool, {"answer": None}, note="The person wrote instead of choosing: their next message is the answer, or a new request.")
    return ToolResult.fail(
        call.tool,
        ErrorCode.SUPERSEDED,
        "The person wrote something else instead of deciding, so this was not done. Ask again only if they still want it.",
        Suggestion.ASK_PERSON,
    )


def unknown_outcome(call: Call) -> ToolResult:
    """The result of a write that may or may not have taken effect."""
    return ToolResult.fail(
        call.tool,
        ErrorCode.OUTCOME_UNKNOWN,
        "This action was started, but it is not known whether it took effect. Do not repeat it. Tell the person to check.",
        Suggestion.ASK_PERSON,
    )
