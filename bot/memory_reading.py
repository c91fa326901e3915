"""What a person may see of their long-term memory, read and put on the screen: who asks, in which language, and each list as a message.

Every call to the memories names the person who asks, as Slack says who that is; nothing a button or a form carries decides whose they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import time
from typing import Any, Final, Literal, Protocol

import structlog

from bot.events import RoomKind
from bot.home_view import Approval, Home, home_view
from bot.memory_forms import Spot
from bot.memory_view import PAGE, Listed, Viewer, by_kind, found_message, line, list_message, room_message
from bot.memory_view_more import history_message
from bot.messages import pick, say
from bot.render import Rendered
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.longterm.access import Audience, Reader
from memory.longterm.memories import Learned, Page
from memory.longterm.memory import Change, Memory, Settings
from memory.longterm.question import Found
from memory.longterm.store import StoreDown
from memory.mailbox import MailboxDown
from memory.recall_trail import Used
from memory.reminders import Reminder, RemindersDown

log = structlog.get_logger(__name__)

MOST: Final = 2_000
"""Memories that are put in order for one list; of more the newest."""
ANSWERS: Final = 200
"""Latest answers among which those of one place, or a certain one, are looked for."""


class MemoryDesk(Protocol):
    """The memories, as this desk uses them. Every method may raise `StoreDown`."""

    async def settings(self, actor: Actor) -> Settings:
        """What the person chose."""
        ...

    async def choose(self, actor: Actor, **changes: Any) -> Settings:
        """Change `learning` or `language`."""
        ...

    async def listed(self, actor: Actor, *, limit: int = ...) -> Page:
        """A person's own, newest first, and the pairs that contradict each other."""
        ...

    async def room_listed(self, thread: Thread, *, limit: int = ...) -> Page:
        """A channel's agreements, newest first."""
        ...

    async def find(self, actor: Actor, text: str, *, limit: int = ...) -> list[Found]:
        """A search among a person's own, best first."""
        ...

    async def get(self, actor: Actor, one: str, *, thread: Thread | None = None) -> Memory | None:
        """One of a person's own, or an agreement of `thread`'s channel that they said."""
        ...

    async def add(self, reader: Reader, text: str, *, language: str, audience: Audience | None = None) -> Learned:
        """Keep what somebody typed. Of what is not kept, `memory` is None and the verdict's reason is a `Refusal`'s value, `authority` or `paused`."""
        ...

    async def edit(self, actor: Actor, one: str, text: str) -> Memory | None:
        """Put another text in one's place; None when it is not theirs. Raises `NotKept` for what is never kept."""
        ...

    async def readdress(self, actor: Actor, one: str, audience: Audience) -> Memory | None:
        """Change where one may be recalled; None when it is not theirs."""
        ...

    async def settle(self, actor: Actor, one: str, keep: Literal["new", "old", "both"]) -> Memory | None:
        """Say which of two contradicting ones is right, `one` being the newer."""
        ...

    async def history(self, actor: Actor, *, limit: int = ...) -> list[Change]:
        """What changed, newest first."""
        ...

    async def undo(self, actor: Actor, change_id: str) -> Change | None:
        """Take one change back; None when it cannot be."""
        ...

    async def export(self, actor: Actor) -> dict[str, Any]:
        """Everything kept of a person, as JSON."""
        ...

    async def stats(self, team_id: str) -> dict[str, float]:
        """Numbers without contents."""
        ...

    async def erase_team(self, team_id: str) -> int:
        """Delete everything of a workspace; how many records."""
        ...


class Forgetting(Protocol):
    """Deletes memories from everywhere. Raises `StoreDown` or `MailboxDown`."""

    async def forget(self, actor: Actor, ids: Sequence[str], *, thread: Thread | None = None) -> list[Memory]:
        """Some of a person's own, and agreements of `thread`'s channel that they said; gives what was deleted."""
        ...

    async def forget_all(self, actor: Actor) -> int:
        """All of a person's; how many."""
        ...

    async def erase_team(self, team_id: str) -> int:
        """Everything of a workspace; how many records."""
        ...


class Trail(Protocol):
    """Which answers used which memories."""

    async def of(self, actor: Actor, limit: int = ...) -> list[Used]:
        """The latest answers to a person, newest first. Raises `MailboxDown`."""
        ...


class Rooms(Protocol):
    """What kind of room a channel is."""

    async def reader(self, actor: Actor, thread: Thread, room: RoomKind) -> Reader:
        """For whom and where something is learned."""
        ...


class OpenReminders(Protocol):
    """A person's reminders."""

    async def of(self, actor: Actor) -> list[Reminder]:
        """The open ones, the next one first. Raises `RemindersDown`."""
        ...


Approvals = Callable[[Actor], Awaitable[Sequence[Approval]]]
"""The latest approvals that concern a person, newest first. Raises `MailboxDown`."""


class MemoryReading:
    """Reads for people and draws."""

    def __init__(
        self,
        memories: MemoryDesk,
        trail: Trail,
        slack: Slack,
        *,
        reminders: OpenReminders | None = None,
        approvals: Approvals | None = None,
        now: Callable[[], float] = time,
    ) -> None:
        """`now` gives seconds since the epoch."""
        self.memories = memories
        self.slack = slack
        self.now = now
        self._trail = trail
        self._reminders = reminders
        self._approvals = approvals

    # --- who asks --------------------------------------------------------------------------------------------------------

    async def viewer(self, actor: Actor, *, drawn: str = "", text: str = "") -> Viewer | str:
        """For whom to draw, or the key of why not: only people of this workspace, guests among them, have memories.

        The language is the one they chose, else `drawn` (that of what they clicked), else by their words and their Slack.
        """
        try:
            person = await self.slack.person(actor)
        except SlackRefused:
            return "lt_foreign"
        except SlackDown as error:
            log.warning("person_not_looked_up", reason=str(error))
            return "lt_unsure"
        if person.is_foreign or person.is_bot or actor.team_id != self.slack.me.team_id:
            return "lt_foreign"
        language = drawn or pick(text if pick(text) == "zh" else "", person.locale)
        try:
            language = (await self.memories.settings(actor)).language or language
        except StoreDown as error:
            log.warning("settings_not_read", reason=type(error).__name__)
        return Viewer(actor, language, person.timezone, self.now())

    async def language(self, actor: Actor, drawn: str = "") -> str:
        """The language for somebody for whom nothing is drawn."""
        if drawn:
            return drawn
        try:
            return pick("", (await self.slack.person(actor)).locale)
        except (SlackDown, SlackRefused):
            return "en"

    async def in_channel(self, viewer: Viewer, channel_id: str) -> bool:
        """Whether the person is in a channel, as Slack says now; when it does not say, they are not."""
        try:
            return await self.slack.is_member(channel_id, viewer.actor.user_id)
        except (SlackDown, SlackRefused) as error:
            log.warning("membership_not_looked_up", reason=str(error))
            return False

    # --- what there is -----------------------------------------------------------------------------------------------------

    async def listed(self, viewer: Viewer, channel_id: str = "") -> Listed:
        """A person's memories in the order they are shown, and of a channel its latest agreements."""
        page = await self.memories.listed(viewer.actor, limit=MOST)
        paused = not (await self.memories.settings(viewer.actor)).learning
        rooms = await self.memories.room_listed(self.channel(channel_id), limit=PAGE) if channel_id else None
        return Listed(by_kind(page.memories), page.total, page.disputed, rooms.memories if rooms else (), rooms.total if rooms else 0, paused)

    def channel(self, channel_id: str) -> Thread:
        """A channel of this workspace, as the owner of agreements is named by it."""
        return Thread(team_id=self.slack.me.team_id, channel_id=channel_id)

    async def used_by(self, actor: Actor, run_id: str) -> tuple[list[Memory], Thread] | None:
        """Which of a person's own memories an answer had at hand, and where it was given; None when it was no answer to them."""
        for used in await self._trail.of(actor, ANSWERS):
            if used.run_id == run_id:
                return await self._own(actor, used), used.thread
        return None

    async def used_in(self, actor: Actor, channel_id: str, limit: int) -> list[tuple[float, list[Memory]]]:
        """The latest answers to a person in a channel that used memories: when, and which of their own."""
        answers = [used for used in await self._trail.of(actor, ANSWERS) if used.thread.channel_id == channel_id and used.ids]
        return [(used.at, await self._own(actor, used)) for used in answers[:limit]]

    async def _own(self, actor: Actor, used: Used) -> list[Memory]:
        found = [await self.memories.get(actor, one, thread=used.thread) for one in dict.fromkeys(used.ids)]
        return [memory for memory in found if memory is not None]

    # --- drawing -----------------------------------------------------------------------------------------------------------

    async def draw(self, viewer: Viewer, spot: Spot, channel_id: str) -> Rendered:
        """The list a spot names, as it is now. The caller has made sure that the person is in the channel, unless it is empty."""
        match spot.listing:
            case "search":
                found = await self.memories.find(viewer.actor, spot.query, limit=PAGE + 1)
                return found_message([each.memory for each in found], viewer, spot.query)
            case "room":
                return await self._room(viewer, spot, channel_id)
            case "history":
                changes = await self.memories.history(viewer.actor, limit=PAGE * (spot.page + 1) + 1)
                page = min(spot.page, max(-(-len(changes) // PAGE) - 1, 0))  # what is gone may have emptied the page that was asked for
                here = changes[PAGE * page :]
                return history_message(here[:PAGE], viewer, Spot("history", page), more=len(here) > PAGE)
            case _:
                return list_message(await self.listed(viewer, channel_id), viewer, spot)

    async def _room(self, viewer: Viewer, spot: Spot, channel_id: str) -> Rendered:
        if not channel_id or channel_id.startswith("D"):
            return line(say("lt_room_not_here", viewer.language))
        page = await self.memories.room_listed(self.channel(channel_id), limit=PAGE * (spot.page + 1))
        last = max(-(-len(page.memories) // PAGE) - 1, 0)  # what is gone may have emptied the page that was asked for
        here = Spot("room", min(spot.page, last))
        return room_message(page.memories[PAGE * here.page : PAGE * (here.page + 1)], page.total, viewer, here)

    async def home(self, viewer: Viewer, page: int = 0) -> dict[str, Any]:
        """The App Home, with what could be read."""
        person = await self.slack.person(viewer.actor)
        listed: Listed | None = None
        settings: Settings | None = None
        try:
            listed, settings = await self.listed(viewer), await self.memories.settings(viewer.actor)
        except StoreDown as error:
            log.warning("memories_not_read", reason=type(error).__name__)
        home = Home(person.name, listed, settings, await self._open_reminders(viewer.actor), await self._latest_approvals(viewer.actor))
        return home_view(home, viewer, Spot("home", page))

    async def _open_reminders(self, actor: Actor) -> Sequence[Reminder] | None:
        if self._reminders is None:
            return ()
        try:
            return await self._reminders.of(actor)
        except RemindersDown as error:
            log.warning("reminders_not_read", reason=type(error).__name__)
            return None

    async def _latest_approvals(self, actor: Actor) -> Sequence[Approval]:
        if self._approvals is None:
            return ()
        try:
            return await self._approvals(actor)
        except MailboxDown as error:
            log.warning("approvals_not_read", reason=type(error).__name__)
            return ()
