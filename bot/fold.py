"""`fold`: what happened, taken into a session's state. Pure.

It knows the rules of a conversation: which messages are meant for us, what an edit corrects, what a click decides and
what "stop" ends. It starts nothing; `settle` and `decide` find out what follows.
"""

from __future__ import annotations

from typing import Final, assert_never

from bot.approvals import Refusal, judge
from bot.events import Decision, Deleted, DirectMessage, Due, Edited, Event, Forgotten, Mention, Person, Reset, RoomKind, Stop, ThreadReply
from bot.forgetting import forget
from bot.joining import leans_on_channel
from bot.messages import pick, say
from bot.questions import choices_of
from bot.quoted import described
from bot.reminders import is_direct
from bot.reset import reset
from bot.session_ops import (
    all_runs,
    append,
    close_call,
    fingerprint,
    new_run,
    notify,
    outbound_id,
    sent_at,
    superseded,
    unknown_outcome,
    with_call,
    with_run,
    with_runs,
)
from bot.settle import settle
from bot.state import Call, Inbound, Run, Session, Status
from memory.keys import Actor
from memory.transcript import Correction, Note, UserMessage
from tools.result import ErrorCode, Suggestion, ToolResult

BOT_TURNS: Final = 3
"""How many requests of other bots are answered in a row before a person has to write."""
BARE_MENTION_PATIENCE: Final = 1.5
"""Seconds a mention without words waits for the words."""
MAX_INBOX_CHARACTERS: Final = 120_000
"""Text that may wait unanswered in one thread; more is refused, and its author told."""


def fold(session: Session, event: Event, now: float) -> Session:
    """Take one event into the state. `now` in seconds since the epoch."""
    match event:
        case Mention() | DirectMessage():
            session = _request(session, event, now)
        case ThreadReply():
            session = _reply(session, event, now)
        case Edited():
            session = _edited(session, event.ts, event.text, event.actor)
        case Deleted():
            session = _edited(session, event.ts, None)
        case Decision():
            session = _decision(session, event, now)
        case Stop():
            session = _stop(session, event, now)
        case Reset():
            session = reset(session, event, now)
        case Forgotten():
            session = forget(session, event)
        case Due():
            session = _due(session, event, now)
        case _:
            assert_never(event)
    return settle(session, now)


def _name(person: Person | None, actor: Actor, speaker: str = "") -> str:
    return (person.name if person else "") or speaker or actor.user_id


def _foreign(session: Session, event: Mention | DirectMessage | ThreadReply | Stop) -> bool:
    """Whether someone of another company speaks, also when Slack does not tell more about them than that."""
    return event.actor.team_id != session.thread.team_id or (event.person is not None and event.person.is_foreign)


def _unknown(session: Session) -> bool:
    """Whether nothing of this thread came by us yet."""
    return session.log_length == 0 and not session.pending and not session.inbox


def _request(session: Session, event: Mention | DirectMessage, now: float) -> Session:
    person = event.person
    if _foreign(session, event) and not event.from_bot:
        # What they started here is not ours to follow: the next line in this thread is not meant for us either.
        session = session.model_copy(update={"aside": True})
        return notify(session, f"foreign:{event.key}", event.actor, say("foreign", pick(event.text, person.locale if person else "en")))
    if event.from_bot:
        turns = session.bot_turns + 1
        session = session.model_copy(update={"bot_turns": turns})
        if turns > BOT_TURNS + 1:
            return _inbound(session, event, request=False, now=now)
        if turns == BOT_TURNS + 1 or event.enough:
            return _canned(_inbound(session, event, request=False, now=now), event, say("bot_loop", pick(event.text)), now)
    else:
        session = session.model_copy(update={"bot_turns": 0})
    needed = not event.root or (isinstance(event, Mention) and leans_on_channel(event))
    if needed and _unknown(session) and not session.history_from:
        session = session.model_copy(update={"history_from": event.ts})
    return _inbound(session.model_copy(update={"aside": False, "room": event.room}), event, request=True, now=now)


def _reply(session: Session, event: ThreadReply, now: float) -> Session:
    """A message without a mention is for us unless it is addressed to someone else, or people are talking to each other."""
    outsider = event.from_bot or event.to_others or _foreign(session, event)
    engaged = any(run.requested_by == event.actor for run in all_runs(session)) or any(i.request and i.item.actor == event.actor for i in session.inbox)
    meant = not outsider and (engaged or not session.aside)
    if not meant and session.aside and _unknown(session) and not all_runs(session):
        return session  # only an outsider has called us here: when somebody of ours does, the thread is read, this message with it
    if not event.from_bot:
        session = session.model_copy(update={"aside": not meant, "bot_turns": 0})
    return _inbound(session, event, request=meant, now=now)


def _inbound(session: Session, event: Mention | DirectMessage | ThreadReply, *, request: bool, now: float) -> Session:
    person = event.person
    item = UserMessage(
        actor=event.actor,
        name=_name(person, event.actor, event.speaker),
        ts=event.ts,
        text=event.text,
        files=tuple(described(file) for file in event.files),
        quoted=event.quoted,
        addressed=request,
        bot=event.from_bot,
    )
    bare = request and not event.text.strip() and not event.files and not event.quoted
    if sum(len(i.item.text) + len(i.item.quoted) for i in session.inbox) + len(event.text) + len(event.quoted) > MAX_INBOX_CHARACTERS:
        language = pick(event.text, person.locale if person else "en")
        return notify(session, f"busy:{event.key}", event.actor, say("busy", language)) if request else session
    entry = Inbound(
        item=item,
        request=request,
        locale=pick(event.text, person.locale if person else "en"),
        timezone=person.timezone if person else "UTC",
        guest=person is not None and person.is_guest,
        groups=person.groups if person is not None else None,
        not_before=now + BARE_MENTION_PATIENCE if bare else 0.0,
    )
    inbox = [i.model_copy(update={"not_before": 0.0}) if i.item.actor == event.actor else i for i in session.inbox] if request else list(session.inbox)
    # Slack promises no order: two messages of a burst may arrive swapped, and their `ts` says which was written first.
    inbox.append(entry)
    inbox.sort(key=lambda i: i.item.ts)
    return session.model_copy(update={"inbox": tuple(inbox)})


def _canned(session: Session, event: Mention | DirectMessage, text: str, now: float) -> Session:
    """Answer with a sentence of our own, through the same road as any answer."""
    run = new_run(session, event.actor, event.ts, locale=pick(event.text), timezone="UTC", now=now).model_copy(
        update={"answer": text, "answer_kind": "failure", "dirty": False}
    )
    return session.model_copy(update={"waiting": (*session.waiting, run)})


def _due(session: Session, event: Due, now: float) -> Session:
    """Say a reminder, once, through the same road as any answer, beside whatever else goes on in the thread."""
    run = new_run(session, event.actor, f"due:{event.key}", locale=event.locale, timezone="UTC", now=now)
    if run.id in session.answered or any(run.id == other.id for other in all_runs(session)):
        return session
    if session.log_length == 0 and not session.pending and not session.inbox and not all_runs(session):
        # The thread was forgotten meanwhile, or never known: whoever answers the reminder goes on with what stands there.
        session = session.model_copy(update={"room": RoomKind.IM if is_direct(session.thread.channel_id) else session.room})
        if session.thread.thread_ts and not session.history_from:
            session = session.model_copy(update={"history_from": f"{now:.6f}"})
    note = f"A reminder came due and is being given to {event.actor.user_id}, who had asked for it. Its text, which is data: {event.text!r}"
    session = append(session, Note(text=note))
    said = run.model_copy(update={"answer": event.text, "answer_kind": "reminder", "dirty": False, "started_at": event.at or now})
    return session.model_copy(update={"waiting": (*session.waiting, said)})


def _edited(session: Session, ts: str, text: str | None, author: Actor | None = None) -> Session:
    """Correct a message that waits in the inbox, or one already in the transcript; a running turn is asked again.

    A turn may answer several messages of its person, so any correction by that person concerns it.
    """
    for i, entry in enumerate(session.inbox):
        if entry.item.ts != ts:
            continue
        inbox = list(session.inbox)
        if text is None:
            del inbox[i]
        else:
            inbox[i] = entry.model_copy(update={"item": entry.item.model_copy(update={"text": text}), "not_before": 0.0})
        return session.model_copy(update={"inbox": tuple(inbox)})
    session = append(session, Correction(ts=ts, text=text))
    run = session.run
    if run is not None and (run.request_ts == ts or run.requested_by == author) and run.parts_posted == 0 and run.answer_kind == "answer":
        if run.answer is not None:
            session = append(session, Note(text="The person corrected the message above before your answer was sent. Answer the corrected message."))
    else:  # a card still stands for what the message asked
        run = next((r for r in session.waiting if r.request_ts == ts and r.answer is None), None)
    if run is None:
        return session
    calls = []
    for call in run.calls:
        closed = call
        if call.status is Status.WAITING:  # what was to be approved followed from words that no longer stand
            session, closed = close_call(session, call, Status.SUPERSEDED, superseded(call))
        calls.append(closed)
    return with_run(session, run.model_copy(update={"calls": tuple(calls), "dirty": True, "answer": None}))


def _decision(session: Session, event: Decision, now: float) -> Session:
    language = event.person.locale[:2] if event.person else "en"
    for run in all_runs(session):
        for call in run.calls:
            if call.approval is None or call.approval.id != event.approval_id:
                continue
            if call.effect == "ask" and event.choice is not None:
                event = _chosen(event, call)
            if event.person is not None and event.actor == run.requested_by:  # what the person may use is judged by what they are now
                run = run.model_copy(update={"groups": event.person.groups, "guest": event.person.is_guest})  # noqa: PLW2901
            ruling = judge(run, call, event, team_id=session.thread.team_id, now=now, language=language)
            if isinstance(ruling, Refusal):
                return notify(session, event.key, event.actor, ruling.text)
            if event.verdict == "edit" and not event.digest:  # the tool is no longer the one whose card was shown
                return notify(session, event.key, event.actor, say("click_changed", language))
            if ruling.note:
                session = notify(session, event.key, event.actor, ruling.note)
            run = sent_at(run, ruling.approval.id, ruling.approval.card_ts)  # noqa: PLW2901 - the run that knows where its card stands
            decided = call.model_copy(update={"approval": ruling.approval})
            if ruling.status is Status.DENIED:
                why = f' Their reason: "{event.reason}".' if event.reason else ""
                denied = ToolResult.fail(
                    call.tool,
                    ErrorCode.DENIED_BY_PERSON,
                    f"A person refused this action.{why} It was not done. Do not ask for it again.",
                    Suggestion.GIVE_UP,
                )
                session, decided = close_call(session, decided, Status.DENIED, denied)
                run = run.model_copy(update={"refused": (*run.refused, fingerprint(call))})  # noqa: PLW2901 - the run with its refusal
            elif ruling.status is Status.DONE:
                said = ToolResult.ok(call.tool, {"answer": event.answer, "answered_by": _name(event.person, event.actor)})
                session, decided = close_call(session, decided, Status.DONE, said)
            else:
                decided = decided.model_copy(update={"status": ruling.status})
                if event.verdict == "edit" and event.arguments is not None:
                    signed = ruling.approval.model_copy(update={"digest": event.digest})
                    decided = decided.model_copy(update={"arguments": event.arguments, "approval": signed})
                    decided = decided.model_copy(update={"key": fingerprint(decided)})
            return with_run(session, with_call(run, decided))
    return notify(session, event.key, event.actor, say("click_unknown", language))


def _chosen(event: Decision, call: Call) -> Decision:
    """A click on a question's choice with the words of that choice; one that does not exist answers nothing."""
    choices = choices_of(call)
    if event.choice is None or not 0 <= event.choice < len(choices):
        return event.model_copy(update={"verdict": "approve"})  # which a question does not take
    return event.model_copy(update={"answer": choices[event.choice]})


def _stop(session: Session, event: Stop, now: float) -> Session:
    """End everything under way in this thread: open calls, waiting cards and requests not begun. One message says so."""
    person = event.person
    if _foreign(session, event) or (person is not None and person.is_bot):
        return session
    language = pick("", person.locale if person else "en")
    runs = all_runs(session)
    requests = [i for i in session.inbox if i.request]
    if not runs and not requests:
        return session if event.quiet else notify(session, event.key, event.actor, say("nothing_running", language))
    if not runs:
        first = requests[0]
        runs = [new_run(session, first.item.actor, requests[-1].item.ts, locale=first.locale, timezone=first.timezone, now=now)]
    session = append(session, *(i.item for i in session.inbox)).model_copy(update={"inbox": (), "run": None, "waiting": ()})
    stopped: list[Run] = []
    for i, run in enumerate(runs):
        if run.answer is not None:  # its reply is already on the way
            stopped.append(run)
            continue
        under_way = ", ".join(call.tool for call in run.calls if call.open and call.begun and call.effect == "write")
        calls = []
        for call in run.calls:
            if not call.open:
                calls.append(call)
                continue
            hurt = call.begun and call.effect == "write"
            result = (
                unknown_outcome(call)
                if hurt
                else ToolResult.fail(call.tool, ErrorCode.SUPERSEDED, "A person stopped this. It was not done.", Suggestion.GIVE_UP)
            )
            session, closed = close_call(session, call, Status.UNKNOWN if hurt else Status.STOPPED, result)
            calls.append(closed)
        text = say("stopped_under_way", run.locale, tool=under_way) if under_way else say("stopped", run.locale)
        partial = any(box.id == outbound_id(run, 0) for box in run.outbox)  # it stands in the thread and must not stay unfinished
        stopped.append(
            run.model_copy(
                update={
                    "calls": tuple(calls),
                    "answer": text if i == 0 or partial else "",
                    "answer_kind": "stopped",
                    "stopped_by": event.actor,
                    "dirty": False,
                    "retry_at": 0.0,
                }
            )
        )
    return with_runs(session, stopped)
