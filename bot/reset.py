"""Clearing a thread's memory, as a step of `fold`. Pure.

Everything said and done so far is let go of with the next commit, a note takes its place, and the thread is told who
wanted that. What was under way ends as if somebody had said "stop": a write that had begun is reported as unknown, and
cards that waited are closed. We stay in the thread, and never read what stood in it before.
"""

from __future__ import annotations

import re
from typing import Final

from bot.events import Reset
from bot.messages import pick, say
from bot.session_ops import all_runs, close_call, new_run, notify, outbound_id, unknown_outcome, with_runs
from bot.state import Mark, Run, Session, Status
from memory.transcript import Note
from tools.result import ErrorCode, Suggestion, ToolResult

_USER: Final = re.compile(r"[A-Z0-9]{2,32}")


def reset(session: Session, event: Reset, now: float) -> Session:
    """The session as it goes on with nothing remembered. `now` in seconds since the epoch.

    Guests, bots and people of other companies, and anybody of whom Slack says nothing, are told privately that they may not.
    """
    person = event.person
    language = pick("", event.locale or (person.locale if person else "en"))
    if person is None or person.is_foreign or person.is_guest or person.is_bot or event.actor.team_id != session.thread.team_id:
        return notify(session, event.key, event.actor, say("reset_refused", language))
    told = new_run(session, event.actor, f"reset:{event.key}", locale=language, timezone=person.timezone, now=now)
    runs = all_runs(session)
    if told.id in session.answered or any(run.id == told.id for run in runs):
        return session
    user = event.actor.user_id
    text = say("reset_done", language, user=f"<@{user}>" if _USER.fullmatch(user) else "?")
    told = told.model_copy(update={"answer": text, "answer_kind": "failure", "dirty": False})
    ended = [_ended(session, run, event) for run in runs]
    session = with_runs(session, ended)
    # By id: a display name may say anything, and this stands as a note by the program.
    note = Note(text=f"A person (<@{user}>) cleared this thread's memory; nothing said before is known here.")
    return session.model_copy(
        update={
            "waiting": (*session.waiting, told),
            "inbox": (),
            "history_from": "",
            "memory": Mark(learned=session.log_length),
            "log_start": session.log_length,
            "pending": (note,),
            "erase": True,
        }
    )


def _ended(session: Session, run: Run, event: Reset) -> Run:
    """The run with nothing left to do but to close its cards, and to say what nobody may keep silent about: a write whose outcome is unknown."""
    if run.answer is not None:  # its reply is already on the way
        return run
    under_way = ", ".join(call.tool for call in run.calls if call.open and call.begun and call.effect == "write")
    calls = []
    for call in run.calls:
        closed = call
        if call.open:
            hurt = call.begun and call.effect == "write"
            gone = ToolResult.fail(call.tool, ErrorCode.SUPERSEDED, "A person cleared this thread's memory. It was not done.", Suggestion.GIVE_UP)
            _, closed = close_call(session, call, Status.UNKNOWN if hurt else Status.STOPPED, unknown_outcome(call) if hurt else gone)
        calls.append(closed)
    partial = any(box.id == outbound_id(run, 0) for box in run.outbox)  # it stands in the thread and must not stay unfinished
    text = say("stopped_under_way", run.locale, tool=under_way) if under_way else say("stopped", run.locale) if partial else ""
    update = {"calls": tuple(calls), "answer": text, "answer_kind": "stopped", "stopped_by": event.actor, "dirty": False, "retry_at": 0.0}
    return run.model_copy(update=update)
