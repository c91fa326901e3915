"""Standing permissions on the screen: the form in which one is given, and the private list of those a person gave.

The form says what is allowed, where, for whom and until when; what is submitted only says which of the arguments shown must stay
the same. Their values are taken from the call as it was saved, never from the form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.events import Always
from bot.forms import human
from bot.markdown import size
from bot.messages import say
from bot.render import Rendered, escape, header, plain, section, shorten
from bot.visible import pieces, visible
from memory.grant import Grant, Used
from memory.keys import Thread
from tools.registry import Registry
from tools.tool import Tool

TIMES: Final = (3_600, 86_400, 7 * 86_400, 30 * 86_400)
"""Seconds a person may choose from, as far as the operator lets them."""
PAGE: Final = 10
"""Permissions of one list; a person may have a hundred."""
SHOWN_ID: Final = 8
"""Letters of an id that are shown, and are enough to name it."""
FOR: Final = "always:for"
"""Block id of the time's input."""
_MAX_ARGUMENTS: Final = 40
_MAX_JSON: Final = 200_000
_VALUE: Final = 1_200
_LISTED_VALUE: Final = 120
_LISTED: Final = 6

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form is about."""

    approval_id: str
    thread: Thread
    user_id: str
    title: str
    """The tool's name for people."""
    arguments: Mapping[str, Any]
    """As they stand on the card."""
    longest: float
    """Seconds a permission may last at most."""
    now: float
    timezone: str
    language: str
    words: Mapping[str, str]
    """Labels in the person's language, as far as the tool's author translated them."""


def times(longest: float) -> list[int]:
    """The times to choose from, in seconds, when none may be above `longest`; never none."""
    fitting = [seconds for seconds in TIMES if seconds <= longest]
    return fitting or [max(int(longest), 1)]


def always_view(asked: Asked) -> dict[str, Any]:
    """The form in which a person allows calls like the one before them."""
    language = asked.language
    where = say("always_direct", language) if asked.thread.channel_id.startswith("D") else say("always_here", language, channel=f"<#{asked.thread.channel_id}>")
    what = say("always_what", language, user=f"<@{asked.user_id}>", where=where)
    blocks: list[Block] = [header(visible(asked.title)), {"type": "section", "block_id": "always:what", "text": {"type": "mrkdwn", "text": what}}]
    budget, left_out = _MAX_JSON, 0
    for index, (name, value) in enumerate(asked.arguments.items()):
        label = asked.words.get(human(name), human(name))
        pair = [_value(index, label, value, language), _choice(index, label, language)]
        budget -= len(json.dumps(pair))
        if index >= _MAX_ARGUMENTS or budget < 0:
            left_out += 1
        else:
            blocks += pair
    if left_out:
        blocks.append(section(say("always_more", language, count=str(left_out))))
    return {
        "type": "modal",
        "callback_id": "steward:always",
        "title": plain(say("form_always_title", language)),
        "submit": plain(say("form_always_submit", language)),
        "close": plain(say("form_cancel", language)),
        "private_metadata": json.dumps({"a": asked.approval_id, "s": asked.thread.id}),
        "blocks": [*blocks, _times(asked)],
    }


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _value(index: int, label: str, value: Any, language: str) -> Block:
    text = _text_of(value)
    shown, count = pieces(text, _VALUE)[0] if text else ("", 0)
    elements: list[Block] = [{"type": "rich_text_section", "elements": [{"type": "text", "text": shorten(label, 200), "style": {"bold": True}}]}]
    if shown:
        elements.append({"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]})
    note = say("card_reason_cut", language, count=f"{len(text) - count:,}") if count < len(text) else "" if shown else say("card_empty", language)
    if note:
        elements.append({"type": "rich_text_section", "elements": [{"type": "text", "text": note, "style": {"italic": True}}]})
    return {"type": "rich_text", "block_id": f"always:value:{index}", "elements": elements}


def _choice(index: int, label: str, language: str) -> Block:
    options = [{"text": plain(say(f"always_{kind}", language)), "value": kind} for kind in ("exact", "any")]
    element = {"type": "static_select", "action_id": "value", "options": options, "initial_option": options[0]}
    asked = say("always_values", language, name=shorten(label, 200))
    return {"type": "input", "block_id": f"always:{index}", "label": plain(asked), "element": element}


def _times(asked: Asked) -> Block:
    options = [{"text": plain(_time(seconds, asked)), "value": str(seconds)} for seconds in times(asked.longest)]
    element = {"type": "static_select", "action_id": "value", "options": options, "initial_option": options[0]}
    return {"type": "input", "block_id": FOR, "label": plain(say("always_for", asked.language)), "element": element}


def _time(seconds: int, asked: Asked) -> str:
    until = datetime.fromtimestamp(asked.now + seconds, _zone(asked.timezone))
    unit, length = next((pair for pair in (("days", 86_400), ("hours", 3_600)) if seconds >= pair[1] and seconds % pair[1] == 0), ("minutes", 60))
    return say(f"always_{unit}", asked.language, count=str(max(seconds // length, 1)), until=f"{until:%Y-%m-%d %H:%M}")


def _zone(name: str) -> ZoneInfo | Any:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # Slack's to say, and it may say anything
        return UTC


def read_always(arguments: Mapping[str, Any], values: Mapping[str, Any], longest: float) -> Always | None:
    """What the person chose, from a submission's `state.values`; None when the time is not one of those offered.

    An argument is free only when exactly that was chosen for it; everything else stays the same.
    """
    chosen = _selected(values, FOR)
    if chosen not in {str(seconds) for seconds in times(longest)}:
        return None
    free = {name for index, name in enumerate(arguments) if index < _MAX_ARGUMENTS and _selected(values, f"always:{index}") == "any"}
    return Always(pattern={name: value for name, value in arguments.items() if name not in free}, expires_after=float(chosen))


def _selected(values: Mapping[str, Any], block_id: str) -> str:
    option = ((values.get(block_id) or {}).get("value") or {}).get("selected_option") or {}
    return str(option.get("value", ""))


# --- the list --------------------------------------------------------------------------------------------------------


def _moment(at: float) -> str:
    moment = datetime.fromtimestamp(int(at), UTC)
    return f"<!date^{int(at)}^{{date_short_pretty}} {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def grants_list(found: Sequence[tuple[Grant, Used]], language: str, *, page: int = 1, note: str = "", registry: Registry | None = None) -> Rendered:
    """A person's permissions, each with a button that revokes it; `page` counts from 1. `note` is a line above, about what was just done.

    `registry` holds the tools of today: their words say each permission in `language`, whatever the language it was given in.
    """
    lead = [section(note)] if note else []
    if not found:
        none = say("grants_none", language)
        return Rendered(text=escape(note or none), blocks=[*lead, section(none)])
    pages = (len(found) - 1) // PAGE + 1
    page = min(max(page, 1), pages)
    blocks: list[Block] = [*lead, header(say("grants_title", language, count=str(len(found))))]
    for grant, used in found[(page - 1) * PAGE : page * PAGE]:
        blocks += _entry(grant, used, language, registry.get(grant.tool) if registry is not None else None)
    example = found[(page - 1) * PAGE][0].id[:SHOWN_ID]
    lines = [say("grants_how", language, id=example)]
    if pages > 1:
        lines.insert(0, say("grants_more", language, page=str(page), pages=str(pages), next=str(page % pages + 1)))
    blocks.append({"type": "context", "block_id": "grants:how", "elements": [{"type": "mrkdwn", "text": "\n".join(lines)}]})
    return Rendered(text=escape(note or say("grants_title", language, count=str(len(found)))), blocks=blocks)


def grant_title(grant: Grant, tool: Tool | None, language: str) -> str:
    """What a permission is for, in `language` as far as the tool's author translated it."""
    return visible((tool.say(tool.title, language) if tool is not None else "") or grant.title or grant.tool)


def _used(times: int, language: str) -> str:
    return say("grants_used" if times > 1 else "grants_used_once" if times else "grants_used_never", language, count=str(times))


def _entry(grant: Grant, used: Used, language: str, tool: Tool | None) -> list[Block]:
    def called(name: str) -> str:
        return tool.say(human(name), language) if tool is not None else human(name)

    lines = [f"{shorten(grant_title(grant, tool, language), 100)} · {grant.id[:SHOWN_ID]}"]
    shown = [say("grants_same", language, name=called(name), value=_brief(value) or say("card_empty", language)) for name, value in grant.pattern.items()]
    shown += [say("grants_any", language, name=called(name)) for name in grant.anything]
    lines += [shorten(line, 200) for line in shown[:_LISTED]]
    if len(shown) > _LISTED:
        lines.append(say("grants_more_values", language, count=str(len(shown) - _LISTED)))
    button = {"type": "button", "action_id": "steward:revoke", "text": plain(say("grants_revoke", language)), "value": grant.id, "style": "danger"}
    where = say("grants_direct", language) if grant.channel_id.startswith("D") else f"<#{grant.channel_id}>"
    line = say("grants_where", language, where=where, until=_moment(grant.expires_at), used=_used(used.times, language))
    if used.last:
        line += " · " + say("grants_last", language, when=_moment(used.last))
    return [
        {"type": "section", "block_id": f"grant:{grant.id}", "text": plain("\n".join(lines)), "accessory": button},
        {"type": "context", "block_id": f"where:{grant.id}", "elements": [{"type": "mrkdwn", "text": line}]},
    ]


def _brief(value: Any) -> str:
    text = _text_of(value)
    shown = visible(text[: _LISTED_VALUE * 2])
    return shown if len(text) <= _LISTED_VALUE * 2 and size(shown) <= _LISTED_VALUE else shorten(shown, _LISTED_VALUE)
