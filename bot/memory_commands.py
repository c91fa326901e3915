"""The desk at which people see and change what Steward remembers about them: `/memory`, its answers, the App Home, and numbers for admins.

Everything it shows is private to the person who asks. What may take longer than Slack waits for an acknowledgement goes on afterwards, and
its result comes through the address that came with the command. Clicks and forms are `memory_clicks`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from bot.events import RoomKind
from bot.later import Later
from bot.long_term import LongTerm
from bot.memory_clicks import MemoryClicks
from bot.memory_forms import ALL_WORDS, LANGUAGES, Asked, Click, Spot, Submitted, asked, command_of
from bot.memory_reading import Approvals, Forgetting, MemoryDesk, MemoryReading, OpenReminders, Rooms
from bot.memory_view import PAGE, Viewer, added_message, choose_message, line, list_message, literal
from bot.memory_view_more import ANSWERS_SHOWN, all_modal, why_message
from bot.messages import say
from bot.plain import plain
from bot.render import Rendered
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE
from memory.longterm.memory import LONGEST, Memory
from memory.longterm.store import StoreDown
from memory.mailbox import MailboxDown
from memory.redaction import Redactor

__all__ = ["COMMAND", "Forgetting", "MemoryCommands", "MemoryDesk", "MemoryReading", "desk_of"]

log = structlog.get_logger(__name__)

COMMAND: Final = "/memory"
WAIT: Final = 0.8
"""Seconds after which a command or a click is acknowledged though its answer is still to come."""
FORM_WAIT: Final = 1.5
"""The same of a submitted form, whose errors can be shown only in its acknowledgement."""
_SHORT: Final = re.compile(r"#?([0-9a-f]{6,8}|[0-9a-f-]{36})")
_LOOKED_AT: Final = 200
"""Changes, and agreements of a channel, among which the one of a short id is looked for."""
_Answer = Callable[[Viewer, Asked, str], Awaitable[Rendered]]


class MemoryCommands:
    """All of `/memory`. Nothing here raises for a store that is away: the person is told."""

    def __init__(self, reading: MemoryReading, forgetting: Forgetting, rooms: Rooms, *, wait: float = WAIT) -> None:
        """`wait` in seconds, see `WAIT`."""
        self._reading = reading
        self._memories = reading.memories
        self._slack = reading.slack
        self._forgetting = forgetting
        self._rooms = rooms
        self._wait = wait
        self._later = Later()
        self._erasing = False
        self._clicks = MemoryClicks(reading, forgetting, self._later, self.export, form_wait=max(wait, FORM_WAIT) if wait else 0.0)
        self._answers: dict[str, _Answer] = {
            "list": self._list,
            "search": self._search,
            "add": self._add,
            "forget": self._forget,
            "export": self._export,
            "pause": self._pause,
            "resume": self._resume,
            "why": self._why,
            "history": self._history,
            "undo": self._undo,
            "room": self._room,
            "language": self._language,
            "help": self._help,
        }

    async def close(self) -> None:
        """Let what is under way end."""
        await self._later.close()

    # --- the command -----------------------------------------------------------------------------------------------------

    async def command(self, body: Mapping[str, Any]) -> Rendered | None:
        """The private answer to `/memory …`; None when it comes later. Raises `ValueError` when the body has not Slack's form."""
        wanted = asked(body, self._slack.me)

        async def late(answer: Rendered) -> None:
            await self._clicks.respond(wanted.response_url, answer)

        outcome = await self._later.within(self._wait, self.answer(wanted), late)
        return outcome[1]

    async def answer(self, wanted: Asked) -> Rendered:
        """The answer, however long it takes."""
        text = plain(wanted.text)
        name, rest = command_of(text)
        viewer = await self._reading.viewer(wanted.actor, text=text)
        if isinstance(viewer, str):
            return line(say(viewer, await self._reading.language(wanted.actor)))
        if not name:
            return line(f"{say('lt_unknown', viewer.language)}\n\n{say('lt_help', viewer.language)}")
        try:
            return await self._answers[name](viewer, wanted, rest)
        except (StoreDown, MailboxDown) as error:
            log.warning("memory_not_reached", command=name, error=type(error).__name__)
            return line(say("lt_down", viewer.language))

    async def _list(self, viewer: Viewer, wanted: Asked, _: str) -> Rendered:
        channel = "" if wanted.channel_id.startswith("D") else wanted.channel_id  # Slack itself says that the person is there
        return list_message(await self._reading.listed(viewer, channel), viewer, Spot("mine"))

    async def _search(self, viewer: Viewer, _: Asked, rest: str) -> Rendered:
        if not rest:
            return line(say("lt_search_what", viewer.language))
        return await self._reading.draw(viewer, Spot("search", 0, rest[:100]), "")

    async def _add(self, viewer: Viewer, wanted: Asked, rest: str) -> Rendered:
        if not rest:
            return line(say("lt_add_what", viewer.language))
        if len(rest) > LONGEST:
            return line(say("lt_add_long", viewer.language, limit=str(LONGEST)))
        thread = Thread(team_id=self._slack.me.team_id, channel_id=wanted.channel_id)
        reader = await self._rooms.reader(viewer.actor, thread, RoomKind.IM if wanted.channel_id.startswith("D") else RoomKind.CHANNEL)
        # Nobody else sees what is typed after a command, so it is private wherever it was typed, until its owner widens it.
        learned = await self._memories.add(reader, rest, language=viewer.language, audience=PRIVATE)
        if learned.memory is None:
            reason = learned.verdict.reason
            return line(say(f"lt_refused_{reason}" if reason in _REFUSED else "lt_refused", viewer.language))
        return added_message(learned.memory, learned.verdict.step, learned.before, viewer)

    async def _forget(self, viewer: Viewer, wanted: Asked, rest: str) -> Rendered:
        language = viewer.language
        if not rest:
            return line(say("lt_forget_what", language))
        if rest.casefold() in ALL_WORDS:
            total = (await self._memories.listed(viewer.actor, limit=1)).total
            opened = await self._clicks.open(wanted.trigger_id, all_modal(total, viewer, Spot("one")))
            return line(say("lt_all_asked" if opened else "lt_window_late", language))
        if (short := _SHORT.fullmatch(rest.casefold())) is not None:
            own = [*(await self._reading.listed(viewer)).memories, *await self._agreed(viewer, wanted)]
            found = [memory for memory in own if memory.id.startswith(short[1])]
        else:
            meant = Redactor((), [rest])
            agreed = [memory for memory in await self._agreed(viewer, wanted) if rest.casefold() in memory.text.casefold() or meant.tells(memory.text)]
            found = [*agreed, *(each.memory for each in await self._memories.find(viewer.actor, rest, limit=PAGE + 1))]
        return choose_message(found, viewer, rest[:100]) if found else line(say("lt_not_there", language))

    async def _agreed(self, viewer: Viewer, wanted: Asked) -> list[Memory]:
        """What the person said that the channel agreed in which they ask: theirs to take back."""
        if wanted.channel_id.startswith("D"):
            return []
        page = await self._memories.room_listed(self._reading.channel(wanted.channel_id), limit=_LOOKED_AT)
        return [memory for memory in page.memories if memory.source.said_by == viewer.actor]

    async def _export(self, viewer: Viewer, _: Asked, __: str) -> Rendered:
        return line(say(await self.export(viewer), viewer.language))

    async def export(self, viewer: Viewer) -> str:
        """Send a person everything that is kept of them, as a file in their direct conversation: what came of it, as a key of `messages`."""
        content = json.dumps(await self._memories.export(viewer.actor), ensure_ascii=False, indent=2).encode()
        try:
            await self._slack.send_file(viewer.actor.user_id, "steward-memory.json", content, say("lt_export_comment", viewer.language))
        except (SlackDown, SlackRefused) as error:
            log.warning("export_not_sent", reason=str(error))
            return "lt_export_failed"
        return "lt_exported"

    async def _pause(self, viewer: Viewer, _: Asked, __: str) -> Rendered:
        await self._memories.choose(viewer.actor, learning=False)
        return line(say("lt_paused", viewer.language))

    async def _resume(self, viewer: Viewer, _: Asked, __: str) -> Rendered:
        await self._memories.choose(viewer.actor, learning=True)
        return line(say("lt_resumed", viewer.language))

    async def _why(self, viewer: Viewer, wanted: Asked, _: str) -> Rendered:
        return why_message(await self._reading.used_in(viewer.actor, wanted.channel_id, ANSWERS_SHOWN), viewer)

    async def _history(self, viewer: Viewer, _: Asked, __: str) -> Rendered:
        return await self._reading.draw(viewer, Spot("history"), "")

    async def _undo(self, viewer: Viewer, _: Asked, rest: str) -> Rendered:
        short = _SHORT.fullmatch(rest.casefold())
        if short is None:
            return line(say("lt_undo_what", viewer.language))
        found = [change for change in await self._memories.history(viewer.actor, limit=_LOOKED_AT) if change.id.startswith(short[1])]
        undone = await self._memories.undo(viewer.actor, found[0].id) if len(found) == 1 else None
        return line(say("lt_undone" if undone is not None else "lt_not_undone", viewer.language))

    async def _room(self, viewer: Viewer, wanted: Asked, _: str) -> Rendered:
        return await self._reading.draw(viewer, Spot("room"), wanted.channel_id)

    async def _language(self, viewer: Viewer, _: Asked, rest: str) -> Rendered:
        if rest.casefold() not in LANGUAGES:
            return line(say("lt_help", viewer.language))
        chosen = LANGUAGES[rest.casefold()]
        await self._memories.choose(viewer.actor, language=chosen)
        return line(say("lt_language_set" if chosen else "lt_language_auto", chosen or viewer.language))

    async def _help(self, viewer: Viewer, _: Asked, __: str) -> Rendered:
        return line(say("lt_help", viewer.language))

    # --- clicks, forms, the App Home ---------------------------------------------------------------------------------------

    async def clicked(self, click: Click) -> None:
        """Do what a click asks; back within a second, though its result may come later."""
        await self._later.within(self._wait, self._clicks.clicked(click))

    async def submitted(self, form: Submitted) -> dict[str, Any]:
        """How to acknowledge a submitted modal: empty closes it."""
        return await self._clicks.submitted(form)

    async def opened_home(self, user: str) -> None:
        """Draw the App Home of one person, which they have opened."""
        await self._later.within(self._wait, self._clicks.show_home(Actor(team_id=self._slack.me.team_id, user_id=user)))

    # --- the workspace -------------------------------------------------------------------------------------------------------

    async def stats(self, actor: Actor, language: str) -> Rendered:
        """`/steward memory stats`: numbers without contents, for admins and owners of the workspace."""
        viewer = await self._reading.viewer(actor, drawn=language)
        if isinstance(viewer, str):
            return line(say(viewer, language))
        try:
            person = await self._slack.person(actor)
            if not person.is_admin:
                return line(say("lt_stats_refused", viewer.language))
            numbers = await self._memories.stats(actor.team_id)
        except StoreDown as error:
            log.warning("memory_not_reached", command="stats", error=type(error).__name__)
            return line(say("lt_down", viewer.language))
        except (SlackDown, SlackRefused):
            return line(say("lt_unsure", viewer.language))
        title = say("lt_stats_title", viewer.language)
        rows = "\n".join(
            f"{name.replace('_', ' ')}: {number:,.6g}" if number < 1e6 else f"{name.replace('_', ' ')}: {number:,.0f}" for name, number in numbers.items()
        )
        table = {"type": "rich_text_preformatted", "elements": [literal(rows or "0")]}
        lead = {"type": "rich_text_section", "elements": [literal(title, bold=True)]}
        return Rendered(text=title, blocks=[{"type": "rich_text", "elements": [lead, table]}])

    async def uninstalled(self, team_id: str) -> bool:
        """The app was taken out of the workspace: everything of it is deleted. Whether that is done; otherwise it goes on, and may be asked again."""
        if team_id != self._slack.me.team_id:
            return True
        if self._erasing:
            return False
        self._erasing = True
        done, erased = await self._later.within(self._wait, self._erase(team_id))
        return done and bool(erased)

    async def _erase(self, team_id: str) -> bool:
        try:
            count = await self._forgetting.erase_team(team_id)
        except (StoreDown, MailboxDown) as error:
            log.warning("workspace_not_erased", error=type(error).__name__)
            return False
        finally:
            self._erasing = False
        log.info("workspace_erased", records=count)
        return True


def desk_of(long_term: LongTerm, slack: Slack, *, reminders: OpenReminders | None = None, approvals: Approvals | None = None) -> MemoryCommands:
    """The desk over the long-term memory that the agent uses."""
    reading = MemoryReading(long_term.memories, long_term.trail, slack, reminders=reminders, approvals=approvals, now=long_term.memories.now)
    return MemoryCommands(reading, long_term.erasing, long_term.places)


_REFUSED: Final = frozenset({"secret", "sensitive", "anothers", "not_said", "not_meant", "nothing", "authority", "paused"})
"""Why something typed is not kept, as far as there are words for it."""
