"""The App Home of one person: what Steward remembers about them, their settings, reminders and recent approvals, and how to use it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.context_view import moment, one_line
from bot.markdown import tidy
from bot.memory_forms import Spot
from bot.memory_view import HOME_PAGE, Block, Listed, Viewer, actions, button, literal, memories_blocks, rich, section_mrkdwn, small
from bot.memory_view_more import language_menu
from bot.messages import say
from bot.render import header, section, shorten
from memory.longterm.memory import Settings
from memory.reminders import Reminder

ROWS: Final = 10
"""Reminders, and approvals, that are listed."""

Approval = tuple[str, str, float, str]
"""The tool, what became of it (a call's status, or words), when (seconds since the epoch), and a link to its card or nothing."""


@dataclass(frozen=True, slots=True)
class Home:
    """What there is to show. None: it could not be read."""

    name: str
    listed: Listed | None
    settings: Settings | None
    reminders: Sequence[Reminder] | None = ()
    approvals: Sequence[Approval] = ()


def home_view(home: Home, viewer: Viewer, spot: Spot) -> dict[str, Any]:
    """The view to publish; `spot.page` is that of the memories."""
    language = viewer.language
    name = " ".join(tidy(home.name).split()) or say("home_someone", language)
    blocks: list[Block] = [
        header(say("home_hello", language, name=shorten(name, 80))),
        section(say("home_what", language)),
        header(say("lt_home_memories", language)),
    ]
    here = Spot("home", spot.page)
    blocks += memories_blocks(home.listed, viewer, here, HOME_PAGE) if home.listed is not None else [section(say("lt_down_home", language))]
    if home.listed is not None and home.listed.total:
        more = [
            button("export", say("lt_button_export", language), language, here),
            button("all", say("lt_button_all", language), language, here, style="danger"),
        ]
        blocks.append(actions(*more))
    if home.settings is not None:
        blocks += _settings(home.settings, language, here)
    blocks += [{"type": "divider"}, header(say("lt_home_reminders", language)), *_reminders(home.reminders, viewer)]
    blocks += [header(say("lt_home_approvals", language)), *_approvals(home.approvals, viewer)]
    blocks += [{"type": "divider"}, header(say("home_how_title", language)), section(say("home_how", language)), section(say("home_approvals", language))]
    blocks += [section_mrkdwn(say(key, language)) for key in ("help_commands", "help_memory", "lt_help")]
    return {"type": "home", "blocks": blocks}


def _settings(chosen: Settings, language: str, spot: Spot) -> list[Block]:
    learning = say("lt_home_learning_on" if chosen.learning else "lt_home_learning_off", language)
    toggle = button("pause", say("lt_button_pause", language), language, spot)
    if not chosen.learning:
        toggle = button("resume", say("lt_button_resume", language), language, spot, style="primary")
    return [
        {"type": "divider"},
        header(say("lt_home_settings", language)),
        section(learning) | {"accessory": toggle},
        section(say("lt_home_language", language)) | {"accessory": language_menu(chosen.language, language, spot)},
    ]


def _reminders(reminders: Sequence[Reminder] | None, viewer: Viewer) -> list[Block]:
    language = viewer.language
    if reminders is None:
        return [section(say("lt_home_reminders_down", language))]
    if not reminders:
        return [section(say("lt_home_reminders_none", language))]
    rows = [rich([literal(moment(each.due, viewer.timezone), bold=True), literal(f" · {one_line(each.text, 200)}")]) for each in reminders[:ROWS]]
    return [*rows, *_rest(len(reminders), language)]


def _approvals(approvals: Sequence[Approval], viewer: Viewer) -> list[Block]:
    language = viewer.language
    if not approvals:
        return [section(say("lt_home_approvals_none", language))]
    rows = []
    for tool, status, at, permalink in approvals[:ROWS]:
        row = [literal(moment(at, viewer.timezone), bold=True), literal(f" · {one_line(tool, 80)} · {_status(status, language)}")]
        if permalink.startswith("https://") and len(permalink) <= 500:
            row += [literal(" · "), {"type": "link", "url": permalink, "text": say("lt_home_open", language)}]
        rows.append(rich(row))
    return [*rows, *_rest(len(approvals), language)]


def _status(status: str, language: str) -> str:
    try:
        return say(f"status_{status}", language)
    except KeyError:
        return one_line(status, 60)


def _rest(count: int, language: str) -> list[Block]:
    return [small(say("lt_home_more", language, count=str(count - ROWS)))] if count > ROWS else []
