"""What is held about a thread, on the screen: the private message, the modal, and the question before it is forgotten. Pure.

Everything that people or the model wrote stands in elements in which Slack interprets nothing, with invisible and
direction-changing characters made visible: it can call nobody, hides no link and imitates none of our own lines. What
does not fit is cut, and that is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from bot.markdown import size
from bot.messages import say
from bot.render import Rendered, escape, header, plain, section, shorten
from bot.visible import visible
from memory.keys import Thread
from memory.session_memory import SECTIONS, Fact, Summary

SHARES: Final = ("system", "long_term", "session", "current", "answer")
CELLS: Final = 10
OTHERS: Final = 10
"""Threads offered beside the one that is shown."""
MESSAGE_ROOM: Final = 7_500
"""Characters of JSON for the summary and the facts of a message; Slack takes about 13,200 of all its blocks."""
MODAL_ROOM: Final = 35_000
"""The same of a modal, whose JSON may have 250 KB, six bytes a Chinese character."""
_LINE: Final = 300
_LABEL: Final = 75
_FACTS_SHARE: Final = 0.45
_LONGEST: Final = 2_000
"""Characters of one line that are looked at; nobody reads on, and making each visible takes time."""

Block = dict[str, Any]


class Held(Protocol):
    """What is held about one thread. Amounts are tokens, lengths are messages, times are seconds since the epoch."""

    @property
    def thread(self) -> Thread:
        """Where it is."""
        ...

    @property
    def summary(self) -> Summary:
        """What is no longer carried word by word."""
        ...

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Key facts, those of the newest messages included."""
        ...

    @property
    def window(self) -> int:
        """The model's window."""
        ...

    @property
    def used(self) -> Mapping[str, int]:
        """By share: `system`, `long_term`, `session`, `current`, `answer`."""
        ...

    @property
    def allotted(self) -> Mapping[str, int]:
        """By the same shares, as configured."""
        ...

    @property
    def verbatim(self) -> int:
        """Messages carried word by word."""
        ...

    @property
    def covered(self) -> int:
        """Earlier messages for which the summary speaks."""
        ...

    @property
    def compacted_at(self) -> float:
        """When it was last summarised; 0: never."""
        ...

    @property
    def by(self) -> str:
        """`model`, or `extract` when code picked sentences."""
        ...

    @property
    def tokens_before(self) -> int:
        """What the last summarising took in."""
        ...

    @property
    def tokens_after(self) -> int:
        """What became of it."""
        ...

    @property
    def partial(self) -> bool:
        """Whether earlier messages could not all be read."""
        ...

    @property
    def title(self) -> str:
        """The words it began with."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom it is drawn."""

    language: str
    timezone: str = "UTC"
    may_reset: bool = True


Other = tuple[Thread, float, str]
"""Another thread, when it was last active, and what it began with."""


def one_line(text: str, limit: int = _LINE) -> str:
    """Foreign text on one line of at most `limit` UTF-16 units, nothing of it invisible."""
    return shorten(visible(" ".join(text[:_LONGEST].split())), limit)


def moment(at: float, timezone: str) -> str:
    """A time in its reader's zone (UTC when Slack names none that is known)."""
    zone: tzinfo
    try:
        zone = ZoneInfo(timezone)
    except (ValueError, OSError, KeyError):  # Slack's to say, and it may say anything
        zone = UTC
    try:
        return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return "?"


def bar(used: int, allotted: int) -> str:
    """How full a share is: ten cells and the percentage; any use at all fills one cell, and a share may be used beyond its size."""
    share = used / allotted if allotted > 0 else float(used > 0)
    filled = min(max(round(share * CELLS), int(used > 0)), CELLS)
    return f"{'▓' * filled}{'░' * (CELLS - filled)} {round(share * 100):>3} %"


# --- the parts ---------------------------------------------------------------------------------------------------------


def _text(text: str, **style: bool) -> Block:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def _rich(*elements: Block) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _paragraph(*elements: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(elements)}


def _bullets(lines: Sequence[Sequence[Block]]) -> Block:
    return {"type": "rich_text_list", "style": "bullet", "elements": [_paragraph(*line) for line in lines]}


def _small(text: str) -> Block:
    return {"type": "context", "elements": [plain(shorten(text, 3_000))]}


def _weight(value: Any) -> int:
    return size(json.dumps(value, ensure_ascii=False))


class _Room:
    """Takes lines as long as there is room, and counts the characters of those it did not take or had to cut."""

    def __init__(self, room: int) -> None:
        self.left = room
        self.cut = 0

    def line(self, text: str) -> str:
        shown = one_line(text)
        if shown.endswith("…") and not text.rstrip().endswith("…"):
            self.cut += max(len(text) - len(shown) + 1, 1)
        return shown

    def takes(self, elements: Sequence[Block], text: str) -> bool:
        need = _weight(elements) + 50
        if need > self.left:
            self.left = 0  # what follows is left out too: no gaps that nobody sees
            self.cut += len(text)
            return False
        self.left -= need
        return True

    def lines(self, texts: Sequence[str], **style: bool) -> list[list[Block]]:
        out: list[list[Block]] = []
        for text in texts:
            if self.left <= 0:
                self.cut += len(text)
            elif text.strip() and self.takes(elements := [_text(self.line(text), **style)], text):
                out.append(elements)
        return out

    def note(self, language: str) -> list[Block]:
        return [_small(say("memory_cut", language, count=f"{self.cut:,}"))] if self.cut else []


def budget(held: Held, language: str) -> Block:
    """A bar for each share of the model's window, and one for all of it."""
    rows = [("total", sum(held.used.values()), held.window)]
    rows += [(name, held.used.get(name, 0), held.allotted.get(name, 0)) for name in SHARES if name in held.allotted or name in held.used]
    lines = [
        f"{bar(used, allotted)}  {say(f'memory_share_{name}', language)} · {say('memory_budget_of', language, used=f'{used:,}', allotted=f'{allotted:,}')}"
        for name, used, allotted in rows
    ]
    head = _paragraph(_text(say("memory_budget", language), bold=True))
    return _rich(head, {"type": "rich_text_preformatted", "elements": [_text("\n".join(lines))]})


def summary(told: Summary, language: str, room: int) -> list[Block]:
    """The summary by its sections; nothing when there is none. `room` in characters of JSON."""
    if told.empty:
        return []
    space = _Room(room)
    elements: list[Block] = [_paragraph(_text(say("memory_summary", language), bold=True))]
    for name in SECTIONS:
        lines = space.lines(getattr(told, name))
        if lines:
            elements += [_paragraph(_text(say(f"memory_{name}", language), italic=True)), _bullets(lines)]
    exact = space.lines(told.identifiers, code=True)
    if exact or told.more:
        rows = exact + ([[_text(say("memory_identifiers_more", language, count=str(told.more)))]] if told.more else [])
        elements += [_paragraph(_text(say("memory_identifiers", language), italic=True)), _bullets(rows)]
    return [_rich(*elements), *space.note(language)]


def facts(known: Sequence[Fact], reader: Reader, room: int) -> list[Block]:
    """The key facts, each with who said it and when, and what it took the place of. `room` in characters of JSON."""
    head = _paragraph(_text(say("memory_facts", reader.language), bold=True))
    if not known:
        return [_rich(head, _paragraph(_text(say("memory_facts_none", reader.language))))]
    space = _Room(room)
    lines = [line for fact in known if (line := _fact(fact, reader, space))]
    return [_rich(head, *([_bullets(lines)] if lines else [])), *space.note(reader.language)]


def _fact(fact: Fact, reader: Reader, space: _Room) -> list[Block]:
    if space.left <= 0:
        space.cut += len(fact.key) + len(fact.value)
        return []
    line = [_text(space.line(fact.key) or "?", bold=True), _text(f": {space.line(fact.value) or say('card_empty', reader.language)}")]
    if fact.before.strip():
        line.append(_text(f" ({say('memory_before', reader.language, value=space.line(fact.before))})"))
    when = moment(float(fact.ts), reader.timezone) if fact.ts.replace(".", "", 1).isdecimal() else ""
    source = " · ".join(part for part in (one_line(fact.name, 80), when) if part)
    if source:
        line.append(_text(f" — {source}", italic=True))
    return line if space.takes(line, fact.key + fact.value) else []


def _lead(held: Held, reader: Reader) -> list[Block]:
    language = reader.language
    title = one_line(held.title) or say("memory_untitled", language)
    carried = say("memory_carried" if held.covered else "memory_carried_all", language, verbatim=f"{held.verbatim:,}", covered=f"{held.covered:,}")
    if held.compacted_at > 0:
        by = say("memory_by_model" if held.by == "model" else "memory_by_extract", language)
        when = moment(held.compacted_at, reader.timezone)
        carried += "\n" + say("memory_compacted", language, when=when, by=by, before=f"{held.tokens_before:,}", after=f"{held.tokens_after:,}")
    else:
        carried += "\n" + say("memory_not_compacted", language)
    if held.partial:
        carried += "\n⚠️ " + say("memory_partial", language)
    began = _rich(_paragraph(_text(say("memory_began", language))), {"type": "rich_text_quote", "elements": [_text(title)]})
    return [began, section(carried)]


def _body(held: Held, reader: Reader, room: int) -> list[Block]:
    for_facts = int(room * _FACTS_SHARE)
    known = facts(held.facts, reader, for_facts)
    told = summary(held.summary, reader.language, room - min(_weight(known), for_facts))
    return [*_lead(held, reader), budget(held, reader.language), *known, *told]


# --- what is shown -----------------------------------------------------------------------------------------------------


def context_message(held: Held, reader: Reader, others: Sequence[Other] = ()) -> Rendered:
    """The private answer to `/steward context`: what is held, other threads to look at, and a button that forgets."""
    title = say("memory_title", reader.language)
    blocks = [header(title), *_body(held, reader, MESSAGE_ROOM), *_choice(others, reader, "pick")]
    if reader.may_reset:
        blocks.append({"type": "actions", "block_id": "memory:actions", "elements": [_forget(held.thread, reader.language)]})
    return Rendered(text=escape(title), blocks=blocks)


def reset_message(held: Held, reader: Reader, others: Sequence[Other] = ()) -> Rendered:
    """The private answer to `/steward reset`: what would be forgotten, and the two buttons."""
    title = say("memory_reset_title", reader.language)
    blocks = [header(title), *_forgotten(held, reader), *_choice(others, reader, "pick_reset"), _buttons(held.thread, reader.language)]
    return Rendered(text=escape(title), blocks=blocks)


def ended_message(thread: Thread, facts: int, reader: Reader) -> Rendered:
    """The same question about a thread of which only what was kept for long-term memory is left, so many facts among it."""
    title = say("memory_reset_title", reader.language)
    return Rendered(text=escape(title), blocks=[header(title), _ended(facts, reader), _buttons(thread, reader.language)])


def _buttons(thread: Thread, language: str) -> Block:
    keep = {"type": "button", "action_id": "steward:memory:keep", "text": plain(say("memory_button_keep", language)), "value": value_of(thread, language)}
    return {"type": "actions", "block_id": "memory:actions", "elements": [_forget(thread, language), keep]}


def _ended(facts: int, reader: Reader) -> Block:
    return section(say("memory_reset_ended", reader.language, facts=f"{facts:,}"))


def _forgotten(held: Held, reader: Reader) -> list[Block]:
    what = say("memory_reset_what", reader.language, messages=f"{held.verbatim + held.covered:,}", facts=f"{len(held.facts):,}")
    return [_lead(held, reader)[0], section(what)]


def context_modal(held: Held, reader: Reader) -> dict[str, Any]:
    """The same as a modal, for a message's shortcut; its submission asks whether to forget."""
    view = _modal(_body(held, reader, MODAL_ROOM), reader.language)
    if reader.may_reset:
        view |= {"callback_id": "steward:memory", "submit": plain(say("memory_button_reset_short", reader.language)), **_private(held.thread, reader.language)}
    return view


def reset_modal(held: Held, reader: Reader) -> dict[str, Any]:
    """The question in the modal's place; its submission forgets."""
    return _question(_forgotten(held, reader), held.thread, reader.language)


def ended_modal(thread: Thread, facts: int, reader: Reader) -> dict[str, Any]:
    """`ended_message` as a modal."""
    return _question([_ended(facts, reader)], thread, reader.language)


def _question(blocks: Sequence[Block], thread: Thread, language: str) -> dict[str, Any]:
    view = _modal([section(say("memory_reset_title", language)), *blocks], language, close="memory_button_keep")
    return view | {"callback_id": "steward:memory_forget", "submit": plain(say("memory_button_forget", language)), **_private(thread, language)}


def line_modal(text: str, language: str) -> dict[str, Any]:
    """A modal that says one thing."""
    return _modal([section(text)], language)


def _modal(blocks: list[Block], language: str, *, close: str = "view_close") -> dict[str, Any]:
    return {"type": "modal", "title": plain(say("memory_title_short", language)), "close": plain(say(close, language)), "blocks": blocks}


def _private(thread: Thread, language: str) -> dict[str, str]:
    return {"private_metadata": json.dumps({"s": thread.id, "l": language})}


def value_of(thread: Thread, language: str) -> str:
    """What a button carries: which thread it is about and in which language it was drawn. It proves nothing."""
    return f"{language} {thread.id}"


def _forget(thread: Thread, language: str) -> Block:
    confirm = {
        "title": plain(say("memory_reset_title", language)),
        "text": plain(say("memory_confirm", language)),
        "confirm": plain(say("memory_button_forget", language)),
        "deny": plain(say("memory_button_keep", language)),
        "style": "danger",
    }
    words = plain(say("memory_button_reset", language))
    return {"type": "button", "action_id": "steward:memory:forget", "text": words, "value": value_of(thread, language), "style": "danger", "confirm": confirm}


def _choice(others: Sequence[Other], reader: Reader, what: str) -> list[Block]:
    if not others:
        return []
    options = [{"text": plain(_label(other, reader)), "value": value_of(other[0], reader.language)} for other in others[:OTHERS]]
    menu = {
        "type": "static_select",
        "action_id": f"steward:memory:{what}",
        "placeholder": plain(say("memory_other_choose", reader.language)),
        "options": options,
    }
    return [{"type": "section", "block_id": "memory:others", "text": plain(say("memory_other", reader.language)), "accessory": menu}]


def _label(other: Other, reader: Reader) -> str:
    _, at, title = other
    when = f" · {moment(at, reader.timezone)}"
    return one_line(title or say("memory_untitled", reader.language), _LABEL - len(when)) + when
