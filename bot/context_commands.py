"""Seeing and clearing what is held about a thread: the two commands, the message shortcut, and the clicks and forms that follow.

A slash command names no thread, so it is found: the conversation itself in a direct message, the thread of a link, else the
latest one of the channel with a menu of others. Buttons and forms carry a thread's id, which proves nothing: who may see or
clear a thread is asked of Slack each time. Clearing is an event in the thread's own mail, like every decision; of a thread that has
expired, what was handed over is dropped at once.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import structlog

from bot.context_view import (
    OTHERS,
    Held,
    Other,
    Reader,
    context_message,
    context_modal,
    ended_message,
    ended_modal,
    line_modal,
    reset_message,
    reset_modal,
)
from bot.events import Person, Reset
from bot.gate import Identity, a_ts, an_id
from bot.messages import pick, say
from bot.reminders import is_direct
from bot.render import Rendered
from bot.slack import Slack, SlackDown, SlackRefused
from memory.handover import HandedOver, Handovers
from memory.keys import Actor, Thread
from memory.mailbox import MailboxDown

log = structlog.get_logger(__name__)

CONTEXT_WORDS: Final = frozenset({"context", "memory", "上下文", "记忆"})
RESET_WORDS: Final = frozenset({"reset", "forget", "重置", "清空"})
MAX_LINK: Final = 500
"""Characters of a link that are looked at."""

_MESSAGE: Final = re.compile(r"/archives/([A-Z0-9]{1,32})/p([0-9]{7,18})/?")
_CLIENT: Final = re.compile(r"/client/[A-Z0-9]{1,32}/([A-Z0-9]{1,32})/thread/([A-Z0-9]{1,32})-([0-9]{1,12}\.[0-9]{1,12})/?")

Forget = Callable[[Reset], Awaitable[bool]]
"""Stores the event; whether there is such a thread. Raises `MailboxDown`."""


class Holding(Protocol):
    """Reads what is held. Raises `MailboxDown`."""

    async def held(self, thread: Thread) -> Held | None:
        """What is held about a thread; None when nothing is."""
        ...

    async def recent(self, team_id: str, channel_id: str, limit: int = 10) -> list[Other]:
        """The latest threads of a channel in which we take part."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a link or a message's menu points: a message's channel, and the threads it may belong to, likeliest first."""

    channel_id: str
    threads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryClick:
    """A click on one of our buttons or menus in a private message."""

    what: Literal["pick", "pick_reset", "forget", "keep"]
    thread: Thread
    actor: Actor
    language: str
    response_url: str
    channel_id: str
    """Where the private message stands."""
    key: str


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """A submitted modal: `ask` wants the question, `forget` answers it."""

    what: Literal["ask", "forget"]
    thread: Thread
    actor: Actor
    language: str
    key: str


@dataclass(frozen=True, slots=True)
class Menu:
    """The message shortcut."""

    actor: Actor
    place: Place
    trigger_id: str


# --- reading what Slack sends ------------------------------------------------------------------------------------------


def linked(text: str) -> Place | None:
    """The message a Slack link points to, as it stands in a command: with or without angle brackets; None when it is no such link."""
    url = html.unescape(text.strip()[:MAX_LINK].strip("<>").partition("|")[0])
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, max_num_fields=20)
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    if (found := _CLIENT.fullmatch(parts.path)) is not None:
        return Place(found[2], (found[3],)) if found[1] == found[2] else None
    if (found := _MESSAGE.fullmatch(parts.path)) is None:
        return None
    ts = f"{found[2][:-6]}.{found[2][-6:]}"
    channel, above = query.get("cid", [found[1]])[0], query.get("thread_ts", [""])[0]
    if channel != found[1]:
        return None
    try:
        return place_of(found[1], ts, a_ts(above, "thread_ts"))
    except ValueError:
        return None


def place_of(channel_id: str, ts: str, thread_ts: str) -> Place:
    """Where a message belongs. One at the top of a direct conversation may stand for all of that, or be the root of a thread in it."""
    if thread_ts and thread_ts != ts:
        return Place(channel_id, (thread_ts,))
    return Place(channel_id, (ts, "") if is_direct(channel_id) else (ts,))


def _actor(body: Mapping[str, Any], me: Identity) -> Actor:
    user = body["user"]
    team = user.get("team_id") or (body.get("team") or {}).get("id") or me.team_id
    if not isinstance(team, str) or not an_id(user.get("id"), "user"):
        raise ValueError("no user")
    return Actor(team_id=team, user_id=user["id"])


def _thread(session_id: str, me: Identity) -> Thread | None:
    """The thread of an id that came with a click or a form; None when it cannot be one of ours."""
    try:
        thread = Thread.parse(session_id)
        an_id(thread.channel_id, "channel")
        a_ts(thread.thread_ts, "thread_ts")
    except ValueError:
        return None
    return thread if thread.team_id == me.team_id and thread.channel_id else None


def memory_click(body: Mapping[str, Any], me: Identity) -> MemoryClick | None:
    """Read a `block_actions` payload that is about memory; None for any other. Raises `ValueError` or `KeyError` when it has not Slack's form."""
    action = body["actions"][0]
    what = str(action.get("action_id", "")).removeprefix("steward:memory:")
    if what not in {"pick", "pick_reset", "forget", "keep"}:
        return None
    value = (action.get("selected_option") or {}).get("value") if what.startswith("pick") else action.get("value")
    container = body.get("container") or {}
    channel = an_id((body.get("channel") or {}).get("id") or container.get("channel_id"), "channel")
    ts = a_ts(container.get("message_ts"), "message_ts")
    language, _, session_id = value.partition(" ") if isinstance(value, str) and len(value) <= 150 else ("", "", "")
    thread = _thread(session_id, me)
    if thread is None or not channel or not ts:
        raise ValueError("not a click on our buttons")
    actor = _actor(body, me)
    url = str(body.get("response_url") or "")
    key = f"reset:{thread.thread_ts}:{ts}:{actor.user_id}"  # however often the buttons of one message are pressed, it is one wish
    named = cast("Literal['pick', 'pick_reset', 'forget', 'keep']", what)
    return MemoryClick(named, thread, actor, "zh" if language == "zh" else "en", url, channel, key)


def memory_form(body: Mapping[str, Any], me: Identity) -> MemoryForm | None:
    """Read a `view_submission` that is about memory; None for any other. Raises `ValueError` or `KeyError` when it has not Slack's form."""
    view = body["view"]
    what = {"steward:memory": "ask", "steward:memory_forget": "forget"}.get(str(view.get("callback_id", "")))
    if what is None:
        return None
    private = json.loads(view.get("private_metadata") or "{}")
    thread = _thread(str(private["s"]), me)
    if thread is None:
        raise ValueError("not a form of ours")
    actor = _actor(body, me)
    key = f"reset:{thread.thread_ts}:{an_id(view.get('id'), 'view')}:{actor.user_id}"
    return MemoryForm(cast("Literal['ask', 'forget']", what), thread, actor, "zh" if private.get("l") == "zh" else "en", key)


def menu(body: Mapping[str, Any], me: Identity) -> Menu:
    """Read a `message_action` payload. Raises `ValueError` or `KeyError` when it has not Slack's form."""
    message = body["message"]
    channel, ts = an_id(body["channel"].get("id"), "channel"), a_ts(message.get("ts") or body.get("message_ts"), "ts")
    if not channel or not ts:
        raise ValueError("no message")
    return Menu(_actor(body, me), place_of(channel, ts, a_ts(message.get("thread_ts"), "thread_ts")), str(body.get("trigger_id") or ""))


# --- answering ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _No:
    """Why something is neither shown nor changed: a key of `messages`."""

    key: str


class ContextCommands:
    """The desk at which people ask what is held about a thread."""

    def __init__(self, holding: Holding, slack: Slack, handovers: Handovers | None = None) -> None:
        """`handovers`: what is left of threads that have expired; without it nobody can clear that."""
        self._holding = holding
        self._handovers = handovers
        self._slack = slack

    async def command(self, actor: Actor, channel_id: str, words: list[str], language: str) -> Rendered:
        """The private answer to `/steward context [link]` and `/steward reset [link]`; `words` are what was written, the command's own first."""
        resets = words[0].casefold() in RESET_WORDS
        try:
            channel = an_id(channel_id, "channel")
            place = linked(words[1]) if len(words) > 1 else None
            if not channel or (len(words) > 1 and place is None):
                return _line(say("memory_link", language))
            # That the person is where the command was written, Slack says with the command itself.
            reader = await self._reader(actor, place.channel_id if place is not None and place.channel_id != channel else "", language, resets=resets)
            if isinstance(reader, _No):
                return _line(say(reader.key, language))
            if place is None and is_direct(channel):
                place = Place(channel, ("",))
            held = await self._at(place) if place is not None else None
            others = await self._recent(channel) if place is None or place.threads == ("",) else []
            if place is None:
                held = await self._first(others)
            ended = await self._ended(place) if held is None and resets and place is not None else None
            if ended is not None:
                return ended_message(ended.thread, len(ended.facts), reader)
            if held is None:
                return _line(say("memory_none" if place is not None else "memory_none_here", language))
            others = [other for other in others if other[0] != held.thread][:OTHERS]
            return reset_message(held, reader, others) if resets else context_message(held, reader, others)
        except MailboxDown as error:
            log.warning("memory_not_read", reason=str(error))
            return _line(say("memory_down", language))

    async def clicked(self, click: MemoryClick, forget: Forget) -> None:
        """Do what a click asks, and put what came of it in the clicked message's place. Raises `MailboxDown` when it could not be stored."""
        language = click.language
        if click.what == "keep":
            await self._respond(click, _line(say("memory_kept", language)))
            return
        reader = await self._reader(click.actor, click.thread.channel_id, language, resets=click.what != "pick")
        if isinstance(reader, _No):
            log.warning("memory_click_refused", what=click.what, why=reader.key, actor=click.actor.user_id)
            await self._tell(click, say(reader.key, language))
            return
        if click.what == "forget":
            done = await self._forget(Reset(thread=click.thread, key=click.key, actor=click.actor, locale=language), forget)
            await self._respond(click, _line(say(done, language)))
            return
        held = await self._holding.held(click.thread)
        if held is None:
            await self._respond(click, _line(say("memory_none", language)))
            return
        others = [other for other in await self._recent(click.thread.channel_id) if other[0] != click.thread][:OTHERS]
        await self._respond(click, reset_message(held, reader, others) if click.what == "pick_reset" else context_message(held, reader, others))

    async def opened(self, asked: Menu) -> None:
        """The message shortcut: a modal with what is held about the message's thread."""
        language = await self._language(asked.actor)
        try:
            reader = await self._reader(asked.actor, asked.place.channel_id, language, resets=False)
            held = await self._at(asked.place) if not isinstance(reader, _No) else None
            ended = await self._ended(asked.place) if held is None and not isinstance(reader, _No) and reader.may_reset else None
            if isinstance(reader, _No):
                view = line_modal(say(reader.key, language), language)
            elif ended is not None:
                view = ended_modal(ended.thread, len(ended.facts), reader)
            else:
                view = context_modal(held, reader) if held is not None else line_modal(say("memory_none", language), language)
        except MailboxDown as error:
            log.warning("memory_not_read", reason=str(error))
            view = line_modal(say("memory_down", language), language)
        try:
            await self._slack.open_view(asked.trigger_id, view)
        except (SlackDown, SlackRefused) as error:
            log.warning("view_not_opened", what="memory", reason=str(error))

    async def submitted(self, form: MemoryForm, forget: Forget) -> dict[str, Any]:
        """The modal that takes the submitted one's place. Raises `MailboxDown` when it could not be stored."""
        reader = await self._reader(form.actor, form.thread.channel_id, form.language, resets=True)
        if isinstance(reader, _No):
            log.warning("memory_click_refused", what=form.what, why=reader.key, actor=form.actor.user_id)
            return line_modal(say(reader.key, form.language), form.language)
        if form.what == "forget":
            done = await self._forget(Reset(thread=form.thread, key=form.key, actor=form.actor, locale=form.language), forget)
            return line_modal(say(done, form.language), form.language)
        held = await self._holding.held(form.thread)
        return reset_modal(held, reader) if held is not None else line_modal(say("memory_none", form.language), form.language)

    # --- who may ---------------------------------------------------------------------------------------------------------

    async def _reader(self, actor: Actor, channel_id: str, language: str, *, resets: bool) -> Reader | _No:
        """For whom to draw, or why not. The person must be in `channel_id`, unless it is empty. When Slack does not say, nobody may."""
        try:
            person = await self._slack.person(actor)
        except SlackRefused:
            return _No("foreign")
        except SlackDown as error:
            log.warning("person_not_looked_up", reason=str(error))
            return _No("memory_unsure")
        if person.is_foreign or person.is_bot:
            return _No("foreign")
        if resets and person.is_guest:
            return _No("reset_refused")
        try:
            if channel_id and not await self._slack.is_member(channel_id, actor.user_id):
                return _No("memory_not_yours")
        except SlackRefused as error:  # a conversation that we are not in ourselves, or that does not exist
            log.info("membership_unknown", reason=str(error))
            return _No("memory_not_yours")
        except SlackDown as error:
            log.warning("membership_not_looked_up", reason=str(error))
            return _No("memory_unsure")
        return Reader(language, person.timezone, may_reset=not person.is_guest)

    async def _language(self, actor: Actor) -> str:
        try:
            person: Person = await self._slack.person(actor)
        except (SlackDown, SlackRefused):
            return "en"
        return pick("", person.locale)

    # --- what there is -----------------------------------------------------------------------------------------------------

    async def _at(self, place: Place) -> Held | None:
        for thread_ts in place.threads:
            held = await self._holding.held(Thread(team_id=self._slack.me.team_id, channel_id=place.channel_id, thread_ts=thread_ts))
            if held is not None:
                return held
        return None

    async def _ended(self, place: Place) -> HandedOver | None:
        """What is left of a thread that has expired."""
        if self._handovers is None:
            return None
        for thread_ts in place.threads:
            kept = await self._handovers.of(Thread(team_id=self._slack.me.team_id, channel_id=place.channel_id, thread_ts=thread_ts))
            if kept is not None:
                return kept
        return None

    async def _forget(self, event: Reset, forget: Forget) -> str:
        """Clear a thread for somebody who may: what came of it, as a key of `messages`."""
        if await forget(event):  # its own worker drops what was handed over as well
            return "memory_forgotten"
        if self._handovers is not None and await self._handovers.forget(event.thread):
            log.info("handover_forgotten", session=event.thread.id, actor=event.actor.user_id)
            return "memory_forgotten_ended"
        return "memory_none"

    async def _recent(self, channel_id: str) -> list[Other]:
        found = await self._holding.recent(self._slack.me.team_id, channel_id, OTHERS + 1)
        return sorted(found, key=lambda other: other[1], reverse=True)

    async def _first(self, others: list[Other]) -> Held | None:
        """The latest that is still held."""
        for thread, _, _ in others:
            held = await self._holding.held(thread)
            if held is not None:
                return held
        return None

    async def _respond(self, click: MemoryClick, shown: Rendered) -> None:
        try:
            await self._slack.respond(click.response_url, shown)
        except (SlackDown, SlackRefused) as error:
            log.warning("memory_answer_not_shown", reason=str(error))

    async def _tell(self, click: MemoryClick, text: str) -> None:
        try:
            await self._slack.notice(click.channel_id, click.actor.user_id, text, "")
        except (SlackDown, SlackRefused) as error:
            log.warning("notice_not_sent", reason=str(error))


def _line(text: str) -> Rendered:
    return Rendered(text=text, blocks=[])
