"""A session's mail as events: read, put into the order in which it was written, and judged by what it did. Pure."""

from __future__ import annotations

import contextlib

from pydantic import ValidationError

from bot.events import EVENT, DirectMessage, Event, Mention, Stop, ThreadReply
from bot.session_ops import all_runs
from bot.state import Session, StateError


def parsed(raw: bytes) -> Event:
    """A mail as an event. One of a kind that is not ours to know was stored by a newer version, and waits for it like its state would.

    Raises `StateError` for that, `ValidationError` for what cannot be an event at all.
    """
    try:
        return EVENT.validate_json(raw)
    except ValidationError as error:
        if any(each["type"] == "union_tag_invalid" for each in error.errors()):
            raise StateError("mail of an unknown kind") from error
        raise


def readable(raw: bytes) -> bool:
    """Whether a mail is an event of ours."""
    try:
        EVENT.validate_json(raw)
    except ValidationError:
        return False
    return True


def standing(session: Session, approval_id: str) -> tuple[str, int] | None:
    """What was decided so far about an approval: the call's status and the number of votes."""
    for run in all_runs(session):
        for call in run.calls:
            if call.approval is not None and call.approval.id == approval_id:
                return call.status.value, len(call.approval.votes)
    return None


def as_written(mail: list[bytes]) -> list[bytes]:
    """Slack promises no order: messages of one batch that arrived swapped are folded as they were written; everything else keeps its place."""
    if len(mail) < 2:
        return mail
    written: dict[int, str] = {}
    for place, raw in enumerate(mail):
        with contextlib.suppress(ValidationError):  # what cannot be read fails where it is folded, and is dealt with there
            event = EVENT.validate_json(raw)
            if isinstance(event, Mention | DirectMessage | ThreadReply | Stop) and event.ts:
                written[place] = event.ts
    ordered = list(mail)
    for place, source in zip(written, sorted(written, key=written.__getitem__), strict=True):
        ordered[place] = mail[source]
    return ordered
