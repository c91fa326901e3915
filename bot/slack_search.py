"""Which channels may be listed and searched for a person in a place, and the search itself.

A bot has no search method of Slack's, so recent history is read channel by channel, within a small budget of requests,
and the answer says what was covered. Two questions are asked of every channel. May the person see it? They must be in
it (to be listed, a public one is enough). And may it be told here? In a direct message, yes; in a room that others
read, only public channels and the room itself; where another company reads along, and for guests, only the room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import structlog

from bot.gate import HANDLED_SUBTYPES
from bot.plain import plain
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread

log = structlog.get_logger(__name__)

MAX_REQUESTS: Final = 30
"""Pages of messages read for one search: well within the fifty requests a minute Slack allows for reading."""
PAGES: Final = 3
"""Pages (200 messages each) read of one channel at most."""
AT_ONCE: Final = 4
SECONDS: Final = 18.0
"""After this no further page is asked for."""

Room = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sight:
    """What one person may be told in one place."""

    here: str
    theirs: dict[str, Room]
    """Conversations the person is in, by id, as far as the bot may know of them."""
    ours: frozenset[str]
    """Ids of conversations the bot is in."""
    confined: bool
    """Only the room itself: the person is a guest or of another company, or another company's people read along."""

    @property
    def direct(self) -> bool:
        """Whether nobody else reads the answer."""
        return self.here.startswith("D")

    def tellable(self, room: Room) -> bool:
        """Whether a conversation may be named and quoted here."""
        if room["id"] == self.here:
            return True
        return not self.confined and (self.direct or public(room))

    def searchable(self) -> list[Room]:
        """The rooms to search, the present one first. The direct conversation itself is not searched: it is in front of everybody."""
        rooms = [room for room in self.theirs.values() if room["id"] in self.ours and not room.get("is_im") and self.tellable(room)]
        return sorted(rooms, key=lambda room: (room["id"] != self.here, str(room.get("name", ""))))


def public(room: Room) -> bool:
    """Whether everybody in the workspace may see a conversation. When in doubt it is private."""
    return bool(room.get("is_channel")) and room.get("is_private") is False and not room.get("is_mpim") and not room.get("is_im")


async def sight(slack: Slack, actor: Actor, thread: Thread) -> Sight:
    """Ask Slack who is where, now. Raises `SlackRefused` or `SlackDown`."""
    here = thread.channel_id
    person = await slack.person(actor)
    ours = {room["id"]: room for room in await slack.conversations()}
    if person.is_foreign:
        inside = here in ours and await slack.is_member(here, actor.user_id)
        return Sight(here, {here: ours[here]} if inside else {}, frozenset(ours), confined=True)
    theirs = {room["id"]: room for room in await slack.conversations(actor.user_id)}
    room = ours.get(here)
    shared = room is None or any(room.get(mark) for mark in ("is_ext_shared", "is_pending_ext_shared", "is_shared"))
    return Sight(here, theirs, frozenset(ours), confined=person.is_guest or (shared and not here.startswith("D")))


async def listed(slack: Slack, actor: Actor, thread: Thread) -> list[dict[str, Any]]:
    """The channels `actor` may be told about in `thread`. Raises `SlackRefused` or `SlackDown`."""
    seen = await sight(slack, actor, thread)
    person = await slack.person(actor)
    rooms = dict(seen.theirs)
    if not seen.confined:
        rooms = {room["id"]: room for room in await slack.public_channels()} | {k: r for k, r in rooms.items() if not public(r)}
    elif person.is_guest and not person.is_foreign and seen.direct:
        seen = Sight(seen.here, seen.theirs, seen.ours, confined=False)  # a guest knows the rooms they are in, and nobody else reads this
    return [
        {
            "id": room["id"],
            "name": str(room.get("name") or ""),
            "topic": _words(room, "topic"),
            "purpose": _words(room, "purpose"),
            "private": not public(room),
            "members": room.get("num_members"),
            "you_are_in": room["id"] in seen.theirs,
            "i_am_in": room["id"] in seen.ours,
        }
        for room in rooms.values()
        if not room.get("is_im") and not room.get("is_mpim") and seen.tellable(room)
    ]


def _words(room: Room, name: str) -> str:
    return plain(str((room.get(name) or {}).get("value") or ""), "")[:250]


@dataclass(frozen=True, slots=True)
class Match:
    """A message that fits."""

    room: Room
    message: dict[str, Any]
    text: str
    weight: float


@dataclass(slots=True)
class Search:
    """One search under way: what was found so far, and what was left unread."""

    slack: Slack
    thread: Thread
    weigh: Callable[[str], float]
    oldest: float
    """Seconds since the epoch."""
    requests: int = 0
    read: int = 0
    held: str = ""
    """Why nothing more is read, once that is so."""
    matches: dict[tuple[str, str], Match] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    """What was not covered, as sentences."""
    _end: float = field(default_factory=lambda: monotonic() + SECONDS)

    async def run(self, rooms: list[Room]) -> list[Room]:
        """Read the rooms, newest messages first, then the threads last written in; the rooms that could be read."""
        cursors = {room["id"]: "" for room in rooms}
        by_id = {room["id"]: room for room in rooms}
        reached: dict[str, bool] = {}
        threads: list[tuple[str, str, str]] = []
        for _ in range(PAGES):
            answers = await self._pages([(by_id[room_id], "", cursor) for room_id, cursor in cursors.items()])
            cursors = {}
            for room, _thread, page, cursor in answers:
                reached[room["id"]] = not cursor
                if cursor:
                    cursors[room["id"]] = cursor
                threads += [(str(m["latest_reply"]), room["id"], m["ts"]) for m in page if m.get("latest_reply")]
            if not cursors or self.held:
                break
        threads = [each for each in sorted(threads, reverse=True) if float(each[0]) >= self.oldest and each[2] != self.thread.thread_ts]
        answers = await self._pages([(by_id[room_id], ts, "") for _, room_id, ts in threads])
        if (unread := len(threads) - len(answers)) > 0:
            self.missed.append("the replies of one thread" if unread == 1 else f"the replies of {unread} threads")
        self.missed += [f"older messages of {name_of(by_id[room_id])}" for room_id, whole in reached.items() if not whole]
        unreached = [name_of(room) for room in rooms if room["id"] not in reached and not any(name_of(room) in each for each in self.missed)]
        if unreached:
            self.missed.append(f"{', '.join(unreached[:20])} (not reached)")
        if self.held:
            self.missed.append(self.held)
        return [room for room in rooms if room["id"] in reached]

    async def _pages(self, wanted: Iterable[tuple[Room, str, str]]) -> list[tuple[Room, str, list[dict[str, Any]], str]]:
        """Pages of (room, thread, cursor), a few at a time, as long as the budget lasts; those that were read, with the next cursor."""
        queue, done = list(wanted), []
        while queue and not self.held:
            if self.requests >= MAX_REQUESTS or monotonic() > self._end:
                break
            batch = queue[: min(AT_ONCE, MAX_REQUESTS - self.requests)]
            del queue[: len(batch)]
            self.requests += len(batch)
            done += [answer for answer in await asyncio.gather(*(self._page(*each) for each in batch)) if answer is not None]
        return done

    async def _page(self, room: Room, thread_ts: str, cursor: str) -> tuple[Room, str, list[dict[str, Any]], str] | None:
        try:
            messages, following = await self.slack.page(room["id"], oldest=self.oldest, thread_ts=thread_ts, cursor=cursor)
        except SlackRefused as error:
            log.info("search_refused", code=error.code)
            if not thread_ts:
                self.missed.append(f"{name_of(room)} (Slack does not let me read it)")
            return None
        except SlackDown as error:
            log.info("search_held", reason=str(error))
            self.held = "the rest, because Slack asked for a pause or did not answer"
            return None
        self.read += len(messages)
        for message in messages:
            self._look(room, message)
        return room, thread_ts, messages, following

    def _look(self, room: Room, message: dict[str, Any]) -> None:
        if message.get("subtype") not in HANDLED_SUBTYPES or message.get("user") == self.slack.me.user_id or float(message["ts"]) < self.oldest:
            return
        if room["id"] == self.thread.channel_id and self.thread.thread_ts and message.get("thread_ts", message["ts"]) == self.thread.thread_ts:
            return  # the present thread holds the question itself
        text = plain(str(message.get("text") or ""), self.slack.me.user_id)
        weight = self.weigh(text)
        if weight > 0:
            self.matches[room["id"], message["ts"]] = Match(room, message, text, weight)

    def best(self, limit: int) -> list[Match]:
        """What fits best, and of equals the newest."""
        return sorted(self.matches.values(), key=lambda match: (match.weight, float(match.message["ts"])), reverse=True)[:limit]


def name_of(room: Room) -> str:
    """How a room is called in an answer."""
    if room.get("is_mpim"):
        return "a group conversation"
    return f"#{room['name']}" if room.get("name") else str(room["id"])
