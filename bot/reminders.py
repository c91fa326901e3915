"""How a reminder looks when its time has come: pure.

The mention of its person is written here, by code; their text stands in a box of its own in which nothing is
interpreted, so it can ping nobody and hides no address behind other words. A link in it is live only if a person or a
tool wrote it in this thread.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final

from bot.messages import say
from bot.render import Rendered, escape
from bot.state import Run

LATE: Final = 90.0
"""Seconds after its time from which a reminder says that it comes late."""

_USER: Final = re.compile(r"[A-Z0-9]{2,30}")
_LINK: Final = re.compile(r"https?://[!-;=?-~]+", re.IGNORECASE)
_AFTER: Final = ".,;:!?'\"*_~)]}"


def is_direct(channel_id: str) -> bool:
    """Whether a conversation is between us and one person, going by its id: that is all a scheduler knows of it."""
    return channel_id.startswith("D")


def reminder(run: Run, channel_id: str, allowed: Collection[str], *, direct: bool = False) -> Rendered:
    """The message for a run of kind `reminder`: `started_at` is when it was due, `active_since` when it was taken up.

    `allowed` are the addresses that may be live. In a direct message nobody has to be called; `direct` says that it is one because
    the reminder's own place, `channel_id`, takes no message.
    """
    person = run.requested_by.user_id
    who = "" if direct or is_direct(channel_id) or not _USER.fullmatch(person) else f"<@{person}> "
    head = who + say("reminder", run.locale)
    if run.active_since - run.started_at > LATE:
        head += f" ({say('reminder_late', run.locale, when=_moment(run.started_at))})"
    if direct:
        head += f" ({say('reminder_moved', run.locale, where=f'<#{channel_id}>')})"
    text = run.answer or ""
    return Rendered(
        text=f"{head} {escape(text)}",
        blocks=[
            {"type": "section", "text": {"type": "mrkdwn", "text": head}},
            {"type": "rich_text", "elements": [{"type": "rich_text_quote", "elements": _pieces(text, allowed)}]},
        ],
    )


def _moment(at: float) -> str:
    """In each reader's own timezone; in UTC where a client cannot."""
    return f"<!date^{int(at)}^{{date_short_pretty}} {{time}}|{datetime.fromtimestamp(int(at), UTC):%Y-%m-%d %H:%M} UTC>"


def _pieces(text: str, allowed: Collection[str]) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    at = 0
    for match in _LINK.finditer(text):
        url = match[0].rstrip(_AFTER)
        if url not in allowed:
            continue
        if match.start() > at:
            pieces.append({"type": "text", "text": text[at : match.start()]})
        pieces.append({"type": "link", "url": url})
        at = match.start() + len(url)
    return [*pieces, {"type": "text", "text": text[at:]}] if at < len(text) else pieces
