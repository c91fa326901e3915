"""What was said before we were called, read from Slack once: a thread's earlier messages, or the latest ones of the channel a thread opens in.

Everything read is somebody's words, with its speaker: what this workspace's people said to us keeps its standing, everything else will be
fenced as data. Reading takes seconds at most; what could not be read in that time is said to be missing, and the request is answered with
what there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Final

import structlog

from bot import actions as act
from bot.deps import Deps
from bot.events import Person
from bot.gate import files_of, mentions
from bot.ledger import Ledger
from bot.plain import plain
from bot.quoted import described, quoted
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.transcript import Item, Note, UserMessage

log = structlog.get_logger(__name__)

SECONDS: Final = 8.0
"""For everything: the messages and the names of those who wrote them."""
THREAD_MESSAGES: Final = 200
CHANNEL_MESSAGES: Final = 20
CHANNEL_AGE: Final = 86_400.0
"""Seconds before the request; what stands further up in a channel is hardly what somebody points at."""
CHANNEL_LOOK: Final = 60
"""Messages asked for in a channel: people who come and go are among them."""
MAX_CHARACTERS: Final = 200_000
"""Of all that is taken over; the newest messages come first."""
NOT_SAID: Final = frozenset(
    {
        *("channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive", "channel_unarchive"),
        *("group_join", "group_leave", "group_topic", "group_purpose", "group_name", "group_archive", "group_unarchive"),
        *("assistant_app_thread", "bot_add", "bot_remove", "ekm_access_denied", "message_replied", "pinned_item", "reminder_add", "unpinned_item"),
    }
)
"""Subtypes of lines that Slack writes by itself."""


async def read_history(action: act.ReadHistory, ledger: Ledger, deps: Deps) -> None:
    """Read what was said before the message `action.before_ts`: in its thread, or, when it opens the thread, in the channel.

    Never fails because of Slack: what is missing is told to the model instead. Raises `Fenced`, `MailboxDown`.
    """
    thread, end = ledger.session.thread, monotonic() + SECONDS
    opens = action.before_ts == thread.thread_ts
    messages: list[dict[str, Any]] = []
    partial = False
    try:
        if opens:
            oldest = max(float(action.before_ts) - CHANNEL_AGE, 0.0)
            messages, _ = await deps.slack.history(thread.channel_id, "", action.before_ts, limit=CHANNEL_LOOK, oldest=oldest, within=SECONDS)
        else:
            messages, partial = await deps.slack.history(thread.channel_id, thread.thread_ts, action.before_ts, limit=THREAD_MESSAGES, within=SECONDS)
    except (SlackRefused, SlackDown) as error:
        log.warning("history_not_read", reason=str(error))
        partial = True
    waiting = {entry.item.ts for entry in ledger.session.inbox}  # a message that overtook the request comes in by itself
    messages = [m for m in messages if m.get("subtype") not in NOT_SAID and str(m["ts"]) not in waiting]
    if opens:
        messages = messages[-CHANNEL_MESSAGES:]
    people = await _people(messages, thread, deps.slack, end)
    read = [item for m in messages if (item := _item(m, thread, deps.slack, people, earlier=opens)) is not None]
    kept = _fitting(read, thread.thread_ts)
    items: list[Item] = [*kept]
    if partial or len(kept) < len(read):
        items.insert(0, Note(text=_missing(len(kept), channel=opens)))
    log.info("history_read", messages=len(kept), partial=partial, channel=opens)
    await ledger.record(act.HistoryRead(tuple(items)))


MISSING: Final = (
    "Only a part of the ",
    "The earlier messages of this thread could not be read",
    "The messages above this one in the channel could not be read",
)
"""How the note begins that stands where something could not be read."""


def _missing(count: int, *, channel: bool) -> str:
    what = "messages above this one in the channel" if channel else "earlier messages of this thread"
    read = f"Only a part of the {what} could be read: {count} of them." if count else f"The {what} could not be read."
    return f"{read} Say so if your answer may depend on the missing ones."


def _own(message: Mapping[str, Any], slack: Slack) -> bool:
    return message.get("user") == slack.me.user_id or bool(slack.me.bot_id and message.get("bot_id") == slack.me.bot_id)


def _author(message: Mapping[str, Any], thread: Thread) -> Actor:
    team = message.get("user_team") or message.get("source_team") or message.get("team") or thread.team_id
    return Actor(team_id=str(team), user_id=str(message.get("user") or message.get("bot_id") or "unknown"))


def _program(message: Mapping[str, Any]) -> bool:
    return bool(message.get("bot_id")) or message.get("user") == "USLACKBOT"


async def _people(messages: Sequence[Mapping[str, Any]], thread: Thread, slack: Slack, end: float) -> dict[Actor, Person]:
    """Those who wrote the messages, as far as Slack tells before `end` (on the clock of `time.monotonic`)."""
    found: dict[Actor, Person] = {}
    for actor in dict.fromkeys(_author(m, thread) for m in messages if not _program(m) and not _own(m, slack)):
        try:
            async with asyncio.timeout(max(end - monotonic(), 0.0)):
                found[actor] = await slack.person(actor)
        except (SlackRefused, SlackDown, TimeoutError) as error:
            log.info("speaker_unknown", user=actor.user_id, reason=str(error))
    return found


def _item(message: Mapping[str, Any], thread: Thread, slack: Slack, people: Mapping[Actor, Person], *, earlier: bool) -> UserMessage | None:
    """One message as the transcript keeps it; None when nothing can be read in it."""
    actor, own, program = _author(message, thread), _own(message, slack), _program(message)
    person = people.get(actor)
    text = plain(str(message.get("text") or ""), slack.me.user_id)
    files = tuple(described(file) for file in files_of(message))
    carried = "" if own else quoted(message)
    if not text and not files and not carried:
        return None
    profile = message.get("bot_profile")
    told = profile.get("name") if isinstance(profile, Mapping) else ""
    name = str(told or message.get("username") or ("Slackbot" if actor.user_id == "USLACKBOT" else actor.user_id))
    # Whoever is not known to be of this company did not speak to us: we would have refused them.
    colleague = person is not None and not person.is_foreign and actor.team_id == thread.team_id
    return UserMessage(
        actor=actor,
        name="Steward" if own else person.name if person is not None else name,
        ts=str(message["ts"]),
        text=text,
        files=files,
        quoted=carried,
        addressed=not earlier and (colleague or program) and mentions(message, slack.me.user_id),
        bot=program,
        own=own,
        earlier=earlier,
    )


def _fitting(items: list[UserMessage], root_ts: str) -> list[UserMessage]:
    """Of a thread's messages its first and the newest, as many as are taken over; oldest first."""
    by_worth = sorted(items, key=lambda item: (item.ts == root_ts, item.ts), reverse=True)
    room = MAX_CHARACTERS
    kept: set[str] = set()
    for item in by_worth:
        room -= len(item.text) + len(item.quoted) + sum(map(len, item.files))
        if room < 0 and kept:
            break
        kept.add(item.ts)
    return [item for item in items if item.ts in kept]
