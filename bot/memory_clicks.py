"""What happens when somebody clicks a button about their memories, or submits one of the forms: done under their name, then drawn again.

A list is drawn again where it stands: a private message through the address that came with the click, a modal by its id, the App Home by
publishing it. That they can only be the clicker's own memories follows from every call naming the clicker.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog

from bot.later import Later
from bot.memory_forms import Click, Submitted
from bot.memory_reading import Forgetting, MemoryReading
from bot.memory_view import Viewer, line, small
from bot.memory_view_more import all_modal, audience_modal, channel_of, edit_modal, line_modal, typed_right, used_modal
from bot.messages import say
from bot.render import Rendered
from bot.slack import SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience
from memory.longterm.memory import LONGEST, Memory, Settings
from memory.longterm.store import StoreDown
from memory.longterm.typed import NotKept
from memory.mailbox import MailboxDown

log = structlog.get_logger(__name__)

Export = Callable[[Viewer], Awaitable[str]]
_LANGUAGES: Final[dict[str, Any]] = {"auto": "", "en": "en", "zh": "zh"}


class MemoryClicks:
    """The buttons and forms of the desk."""

    def __init__(self, reading: MemoryReading, forgetting: Forgetting, later: Later, export: Export, *, form_wait: float) -> None:
        """`form_wait` in seconds: how long a submitted form waits for its result before it says that work goes on."""
        self._reading = reading
        self._memories = reading.memories
        self._slack = reading.slack
        self._forgetting = forgetting
        self._later = later
        self._export = export
        self._form_wait = form_wait

    # --- clicks ----------------------------------------------------------------------------------------------------------

    async def clicked(self, click: Click) -> None:
        """Do what a click asks, and show what came of it."""
        viewer = await self._reading.viewer(click.actor, drawn=click.language)
        if isinstance(viewer, str):
            log.warning("memory_click_refused", act=click.act, why=viewer, actor=click.actor.user_id)
            await self._tell(click, say(viewer, click.language))
            return
        try:
            await self._act(click, viewer)
        except (StoreDown, MailboxDown) as error:
            log.warning("memory_not_reached", act=click.act, error=type(error).__name__)
            await self._tell(click, say("lt_down", viewer.language))

    async def _act(self, click: Click, viewer: Viewer) -> None:
        match click.act:
            case "used":
                await self._used(click, viewer)
            case "edit" | "audience":
                await self._form(click, viewer)
            case "all":
                total = (await self._memories.listed(viewer.actor, limit=1)).total
                if not await self.open(click.trigger_id, all_modal(total, viewer, click.spot, click.response_url)):
                    await self._tell(click, say("lt_window_late", viewer.language))
            case "keep":
                await self.respond(click.response_url, line(say("lt_kept", viewer.language)))
            case "export":
                await self._tell(click, say(await self._export(viewer), viewer.language))
            case "forget":
                await self._forget(click, viewer)
            case _:
                await self._change(click, viewer)

    async def _forget(self, click: Click, viewer: Viewer) -> None:
        thread, used = self._channel(click), None
        if click.spot.listing == "used":
            used = await self._reading.used_by(viewer.actor, click.spot.query)
            thread = used[1] if used is not None else None
        gone = await self._forgetting.forget(viewer.actor, [click.id], thread=thread)
        if used is not None and click.surface == "modal":
            left = [memory for memory in used[0] if memory.id not in {each.id for each in gone}]
            await self._update(click.view_id, used_modal(left, viewer, click.spot.query))
            return
        await self._redraw(click, viewer, "lt_forgotten" if gone else "lt_not_there")

    def _channel(self, click: Click) -> Thread | None:
        """The channel a click was made in, whose agreements the person may have said."""
        return self._reading.channel(click.channel_id) if click.channel_id and not click.channel_id.startswith("D") else None

    async def _change(self, click: Click, viewer: Viewer) -> None:
        """What changes memories or settings, or turns a page; then the list is drawn again."""
        note = ""
        match click.act:
            case "new" | "old" | "both":
                note = "lt_settled" if await self._memories.settle(viewer.actor, click.id, click.act) is not None else "lt_not_there"
            case "undo":
                note = "lt_undone" if await self._memories.undo(viewer.actor, click.id) is not None else "lt_not_undone"
            case "pause" | "resume":
                await self._memories.choose(viewer.actor, learning=click.act == "resume")
                note = "lt_paused" if click.act == "pause" else "lt_resumed"
            case "language" if click.id in _LANGUAGES:
                chosen: Settings = await self._memories.choose(viewer.actor, language=_LANGUAGES[click.id])
                viewer = await self._fresh(viewer, chosen.language)
        await self._redraw(click, viewer, note)

    async def _fresh(self, viewer: Viewer, language: str) -> Viewer:
        """The same viewer after they chose another language."""
        other = await self._reading.viewer(viewer.actor, drawn=language)
        return viewer if isinstance(other, str) else other

    async def _used(self, click: Click, viewer: Viewer) -> None:
        used = await self._reading.used_by(viewer.actor, click.id)
        if used is None:
            await self._tell(click, say("lt_used_not_yours", viewer.language))
        elif not await self.open(click.trigger_id, used_modal(used[0], viewer, click.id)):
            await self._tell(click, say("lt_window_late", viewer.language))

    async def _form(self, click: Click, viewer: Viewer) -> None:
        memory = await self._memories.get(viewer.actor, click.id)
        if memory is None:
            await self._redraw(click, viewer, "lt_not_there")
            return
        make = edit_modal if click.act == "edit" else audience_modal
        if not await self.open(click.trigger_id, make(memory, viewer, click.spot, click.response_url)):
            await self._tell(click, say("lt_window_late", viewer.language))

    # --- forms -----------------------------------------------------------------------------------------------------------

    async def submitted(self, form: Submitted) -> dict[str, Any]:
        """How to acknowledge a submitted modal: errors, another view, or nothing, which closes it."""

        async def late(answer: dict[str, Any]) -> None:
            view = answer.get("view") or line_modal(_first(answer) or say("lt_changed", form.language), form.language)
            await self._update(form.view_id, view)

        outcome = await self._later.within(self._form_wait, self._submitted(form), late)
        if outcome[1] is not None:
            return outcome[1]
        return {"response_action": "update", "view": line_modal(say("lt_working", form.language), form.language)}

    async def _submitted(self, form: Submitted) -> dict[str, Any]:
        viewer = await self._reading.viewer(form.actor, drawn=form.language)
        if isinstance(viewer, str):
            log.warning("memory_click_refused", act=form.form, why=viewer, actor=form.actor.user_id)
            return _shown(say(viewer, form.language), form.language)
        try:
            return await (self._all(form, viewer) if form.form == "all" else self._saved(form, viewer))
        except (StoreDown, MailboxDown) as error:
            log.warning("memory_not_reached", act=form.form, error=type(error).__name__)
            return _shown(say("lt_down", viewer.language), viewer.language)

    async def _saved(self, form: Submitted, viewer: Viewer) -> dict[str, Any]:
        language = viewer.language
        if form.form == "edit":
            text = " ".join(form.value.split())
            if not text:
                return _error(form, say("form_error_missing", language))
            if len(text) > LONGEST:
                return _error(form, say("lt_add_long", language, limit=str(LONGEST)))
            try:
                after = await self._memories.edit(viewer.actor, form.id, text)
            except NotKept as refused:
                return _error(form, say(f"lt_refused_{refused.why.value}", language))
        else:
            memory = await self._memories.get(viewer.actor, form.id)
            chosen = _audience(form.value, memory) if memory is not None else PRIVATE
            if chosen is None:
                return _error(form, say("form_error_extra", language))
            after = await self._memories.readdress(viewer.actor, form.id, chosen) if memory is not None else None
        if after is None:
            return _shown(say("lt_not_there", language), language)
        await self._later.within(0.0, self._again(form, viewer, "lt_changed"))
        return {}

    async def _all(self, form: Submitted, viewer: Viewer) -> dict[str, Any]:
        language = viewer.language
        if not typed_right(form.value):
            return _error(form, say("lt_all_wrong", language, word=say("lt_all_word", language)))
        count = await self._forgetting.forget_all(viewer.actor)
        await self._later.within(0.0, self._again(form, viewer, ""))
        return _shown(say("lt_all_done", language, count=f"{count:,}"), language)

    async def _again(self, form: Submitted, viewer: Viewer, note: str) -> None:
        """Draw the list again from which a form was opened."""
        if form.spot.listing == "home":
            await self._publish(viewer, form.spot.page)
        elif form.response_url:
            try:
                shown = line(say("lt_changed", viewer.language)) if form.spot.listing == "one" else await self._reading.draw(viewer, form.spot, "")
            except StoreDown:
                return
            await self.respond(form.response_url, shown if form.spot.listing == "one" else _noted(shown, note, viewer.language))

    # --- showing ---------------------------------------------------------------------------------------------------------

    async def _redraw(self, click: Click, viewer: Viewer, note: str) -> None:
        """Draw the list again in which a click was made, with a word on what came of it."""
        if click.surface == "home":
            await self._publish(viewer, click.spot.page)
            return
        if click.surface == "modal":
            await self._update(click.view_id, line_modal(say(note or "lt_changed", viewer.language), viewer.language))
            return
        if click.spot.listing in {"one", "used", "home"}:
            await self.respond(click.response_url, line(say(note or "lt_changed", viewer.language)))
            return
        channel = "" if click.channel_id.startswith("D") else click.channel_id
        if channel and click.spot.listing in {"room", "mine"} and not await self._reading.in_channel(viewer, channel):
            channel = ""
        await self.respond(click.response_url, _noted(await self._reading.draw(viewer, click.spot, channel), note, viewer.language))

    async def show_home(self, actor: Actor) -> None:
        """Draw the App Home of one person."""
        viewer = await self._reading.viewer(actor)
        if isinstance(viewer, str):
            log.info("home_refused", why=viewer)
            return
        await self._publish(viewer, 0)

    async def _publish(self, viewer: Viewer, page: int) -> None:
        try:
            await self._slack.publish_home(viewer.actor.user_id, await self._reading.home(viewer, page))
        except (SlackDown, SlackRefused) as error:
            log.warning("home_not_shown", reason=str(error))

    async def open(self, trigger_id: str, view: dict[str, Any]) -> bool:
        """Open a modal; whether it opened."""
        try:
            await self._slack.open_view(trigger_id, view)
        except (SlackDown, SlackRefused) as error:
            log.warning("view_not_opened", what="memories", reason=str(error))
            return False
        return True

    async def _update(self, view_id: str, view: dict[str, Any]) -> None:
        try:
            await self._slack.update_view(view_id, view)
        except (SlackDown, SlackRefused) as error:  # closed meanwhile
            log.info("view_not_updated", reason=str(error))

    async def respond(self, url: str, shown: Rendered) -> None:
        """Put a private message in the place of the one a command or click came from."""
        if not url:
            return
        try:
            await self._slack.respond(url, shown)
        except (SlackDown, SlackRefused) as error:
            log.warning("memory_answer_not_shown", reason=str(error))

    async def _tell(self, click: Click, text: str) -> None:
        """A word that only the clicker sees, beside what they clicked."""
        if click.surface == "modal":
            await self._update(click.view_id, line_modal(text, click.language))
            return
        if click.surface == "home":
            if not await self.open(click.trigger_id, line_modal(text, click.language)):
                log.info("word_not_said", act=click.act)
            return
        try:
            await self._slack.notice(click.channel_id, click.actor.user_id, text, click.thread_ts)
        except (SlackDown, SlackRefused) as error:
            log.warning("notice_not_sent", reason=str(error))


def _audience(scope: str, memory: Memory) -> Audience | None:
    """The audience of a choice; None when it is not one that was offered."""
    if scope == "channel":
        channel = channel_of(memory)
        return Audience(scope="channel", channel_id=channel) if channel else None
    return {"private": PRIVATE, "workspace": WORKSPACE}.get(scope)


def _noted(shown: Rendered, note: str, language: str) -> Rendered:
    """A list with a line on top that says what was done."""
    if not note:
        return shown
    words = say(note, language)
    return Rendered(shown.text, [small(f"✓ {words}"), *shown.blocks]) if shown.blocks else Rendered(f"{words}\n{shown.text}", [])


def _shown(text: str, language: str) -> dict[str, Any]:
    return {"response_action": "update", "view": line_modal(text, language)}


def _error(form: Submitted, text: str) -> dict[str, Any]:
    return {"response_action": "errors", "errors": {form.block: text}}


def _first(answer: dict[str, Any]) -> str:
    """The first error of an acknowledgement that comes too late to be shown at its field."""
    return next(iter((answer.get("errors") or {}).values()), "")
