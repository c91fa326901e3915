"""A person's long-term memories on the screen: one memory with its buttons, the list of them, a search, a channel's agreements. Pure.

What people said stands in rich text made of literal text, in which Slack interprets nothing: it can call nobody, hides no link and imitates
none of our own lines. A message holds `PAGE` memories, the App Home `HOME_PAGE`: what Slack takes in characters, not in blocks, is the limit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.context_view import moment, one_line
from bot.markdown import size
from bot.memory_forms import PREFIX, Act, Spot, value_of
from bot.messages import say
from bot.render import Rendered, escape, header, plain, section
from memory.keys import Actor
from memory.longterm.memory import Kind, Memory

PAGE: Final = 5
"""Memories in one message."""
HOME_PAGE: Final = 10
"""Memories in the App Home."""
PAIRS_SHOWN: Final = 1
"""Contradicting pairs that are asked about at a time."""
ROOM: Final = 12_500
"""Characters of JSON of a message's blocks up to which a channel's agreements are put under one's own list; Slack takes about 13,200."""
TEXT: Final = 300
"""UTF-16 units of a memory's text in a list; all of it is in the form that edits it."""
_PAIR_TEXT: Final = 200
_ORDER: Final = (Kind.PREFERENCE, Kind.FACT, Kind.PLAN, Kind.HABIT, Kind.ENTITY, Kind.EPISODE, Kind.AGREEMENT)

Block = dict[str, Any]
Pair = tuple[Memory, Memory]
"""A new memory and the known one it contradicts."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """For whom it is drawn, and when (seconds since the epoch)."""

    actor: Actor
    language: str
    timezone: str = "UTC"
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Listed:
    """What there is to list. `memories` are in the order of `by_kind`, all of them or (of very many) the newest."""

    memories: Sequence[Memory]
    total: int
    pairs: Sequence[Pair] = ()
    room: Sequence[Memory] = ()
    room_total: int = 0
    paused: bool = False


def by_kind(memories: Sequence[Memory]) -> list[Memory]:
    """In the order they are shown: kind by kind, what always applies first, then the newest."""
    return sorted(memories, key=lambda memory: (_ORDER.index(memory.kind), not memory.always, -memory.created, memory.id))


def pages(count: int, page: int = PAGE) -> int:
    """How many pages `count` memories fill; one at least."""
    return max(-(-count // page), 1)


def short_id(one: str) -> str:
    """The part of an id that people read and type."""
    return one[:8]


# --- the parts ---------------------------------------------------------------------------------------------------------


def literal(text: str, **style: bool) -> Block:
    """Text in which nothing is interpreted."""
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def rich(*lines: Sequence[Block]) -> Block:
    """Lines of literal elements."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(line)} for line in lines]}


def small(text: str) -> Block:
    """A line in small print."""
    return {"type": "context", "elements": [plain(text)]}


def button(act: Act, label: str, viewer_language: str, spot: Spot, one: str = "", **more: Any) -> Block:
    """One of our buttons."""
    return {"type": "button", "action_id": f"{PREFIX}{act}", "text": plain(label), "value": value_of(viewer_language, spot, one), **more}


def actions(*elements: Block) -> Block:
    """A row of buttons."""
    return {"type": "actions", "elements": list(elements)}


def forget_button(one: str, language: str, spot: Spot, label: str = "lt_button_forget") -> Block:
    """A button that forgets, after Slack's own question."""
    confirm = {
        "title": plain(say("lt_confirm_title", language)),
        "text": plain(say("lt_confirm_forget", language)),
        "confirm": plain(say("lt_button_forget", language)),
        "deny": plain(say("lt_button_keep", language)),
        "style": "danger",
    }
    return button("forget", say(label, language), language, spot, one, confirm=confirm)


def audience(memory: Memory, language: str) -> list[Block]:
    """Where a memory may be used, in words; a channel by its name."""
    if memory.owner.kind == "room":
        return [literal(say("lt_audience_room", language))]
    words = [literal(say(f"lt_audience_{memory.audience.scope}", language))]
    if memory.audience.scope == "channel" and memory.audience.channel_id:
        words += [literal(" "), {"type": "channel", "channel_id": memory.audience.channel_id}]
    return words


def source(memory: Memory, language: str) -> list[Block]:
    """Where it came from: a link, the person who said it (of a room), or a word for it."""
    said = memory.source
    out: list[Block] = []
    if memory.owner.kind == "room" and said.said_by.user_id:
        out += [literal(f"{say('lt_source_by', language)} "), {"type": "user", "user_id": said.said_by.user_id}]
    if said.permalink.startswith("https://") and len(said.permalink) <= 500:
        out += [*([literal(" · ")] if out else []), {"type": "link", "url": said.permalink, "text": say("lt_source", language)}]
    elif not out and said.via != "message":
        out.append(literal(say("lt_source_command" if said.via == "command" else "lt_source_seen", language)))
    return out


def marks(memory: Memory, viewer: Viewer) -> list[str]:
    """What else is to be known of it: that it always applies, until when it holds, when it is dropped."""
    language, out = viewer.language, []
    if memory.always:
        out.append("📌 " + say("lt_always", language))
    if memory.valid_until is not None:
        over = memory.valid_until <= viewer.now
        out.append("⌛ " + say("lt_over" if over else "lt_until", language, when=moment(memory.valid_until, viewer.timezone)))
    if memory.expires is not None:
        out.append("⌛ " + say("lt_expires", language, when=moment(memory.expires, viewer.timezone)))
    return out


def told(memory: Memory, viewer: Viewer, limit: int = TEXT) -> Block:
    """One memory without buttons: its text, and in a second line when, for where, from where."""
    meta = [literal(f"\n{moment(memory.created, viewer.timezone)} · "), *audience(memory, viewer.language)]
    if where := source(memory, viewer.language):
        meta += [literal(" · "), *where]
    meta.append(literal("".join(f" · {mark}" for mark in [*marks(memory, viewer), f"#{short_id(memory.id)}"])))
    return rich([literal(one_line(memory.text, limit) or "?", bold=True), *joined(meta)])


def joined(line: Sequence[Block]) -> list[Block]:
    """The same line with neighbouring plain texts as one."""
    out: list[Block] = []
    for each in line:
        if out and each.keys() == out[-1].keys() == {"type", "text"}:
            out[-1] = literal(out[-1]["text"] + each["text"])
        else:
            out.append(each)
    return out


def entry(memory: Memory, viewer: Viewer, spot: Spot) -> list[Block]:
    """One memory with the buttons its viewer may use: an agreement is forgotten only by the person who said it."""
    language, one = viewer.language, memory.id
    if memory.owner.kind == "room":
        own = memory.source.said_by == viewer.actor
        return [told(memory, viewer), *([actions(forget_button(one, language, spot))] if own else [])]
    buttons = [
        forget_button(one, language, spot),
        button("edit", say("lt_button_edit", language), language, spot, one),
        button("audience", say("lt_button_audience", language), language, spot, one),
    ]
    return [told(memory, viewer), actions(*buttons)]


def pair(new: Memory, known: Memory, viewer: Viewer, spot: Spot) -> list[Block]:
    """Two memories that contradict each other, and the question which is right."""
    language = viewer.language
    lines = [
        [literal(f"❓ {say('lt_which', language)}", bold=True)],
        [literal(f"\n{say('lt_which_new', language)} "), literal(one_line(new.text, _PAIR_TEXT) or "?")],
        [literal(f"\n{say('lt_which_old', language)} "), literal(one_line(known.text, _PAIR_TEXT) or "?")],
    ]
    acts: tuple[Act, ...] = ("new", "old", "both")
    return [rich(*lines), actions(*(button(act, say(f"lt_button_{act}", language), language, spot, new.id) for act in acts))]


def grouped(memories: Sequence[Memory], viewer: Viewer, spot: Spot) -> list[Block]:
    """Memories under the headings of their kinds."""
    out: list[Block] = []
    last: Kind | None = None
    for memory in memories:
        if memory.kind is not last:
            out.append(small(say(f"lt_kind_{memory.kind.value}", viewer.language)))
            last = memory.kind
        out += entry(memory, viewer, spot)
    return out


def turning(viewer: Viewer, spot: Spot, count: int) -> list[Block]:
    """The buttons to other pages; `count` is how many pages there are."""
    language, at = viewer.language, spot.page
    row = []
    if at > 0:
        row.append(button("previous", "◀ " + say("lt_button_previous", language), language, Spot(spot.listing, at - 1, spot.query)))
    if at + 1 < count:
        row.append(button("next", say("lt_button_next", language) + " ▶", language, Spot(spot.listing, at + 1, spot.query)))
    return [actions(*row)] if row else []


# --- what is shown -----------------------------------------------------------------------------------------------------


def memories_blocks(listed: Listed, viewer: Viewer, spot: Spot, page: int = PAGE) -> list[Block]:
    """One page of a person's memories: what is to be decided first, then kind by kind, then the buttons to other pages."""
    language = viewer.language
    count = pages(len(listed.memories), page)
    here = Spot(spot.listing, min(spot.page, count - 1), spot.query)
    out: list[Block] = []
    if listed.paused:
        out.append(small("⏸ " + say("lt_paused_note", language)))
    if here.page == 0:
        for new, known in listed.pairs[:PAIRS_SHOWN]:
            out += pair(new, known, viewer, here)
        if len(listed.pairs) > PAIRS_SHOWN:
            out.append(small(say("lt_which_more", language, count=str(len(listed.pairs) - PAIRS_SHOWN))))
    if not listed.memories:
        return [*out, section(say("lt_empty", language))] if not listed.pairs else out
    total = f"{listed.total:,}"
    out.append(small(say("lt_page", language, total=total, page=str(here.page + 1), pages=str(count)) if count > 1 else say("lt_total", language, total=total)))
    if len(listed.memories) < listed.total:
        out.append(small(say("lt_first_of", language, total=total, shown=f"{len(listed.memories):,}")))
    out += grouped(listed.memories[here.page * page : (here.page + 1) * page], viewer, here)
    return [*out, *turning(viewer, here, count)]


def list_message(listed: Listed, viewer: Viewer, spot: Spot) -> Rendered:
    """The private answer to `/memory`: one's own memories and, in a channel, its agreements."""
    language = viewer.language
    title = say("lt_title", language)
    blocks = [header(title), *memories_blocks(listed, viewer, spot)]
    if listed.room and spot.page == 0:
        blocks += [{"type": "divider"}, small(say("lt_room_title", language))]
        left = ROOM - weight(blocks)
        shown = 0
        for memory in listed.room:
            agreement = entry(memory, viewer, spot)
            left -= weight(agreement)
            if left < 0:
                break
            blocks += agreement
            shown += 1
        if listed.room_total > shown:
            blocks.append(section_mrkdwn(say("lt_room_more", language, total=f"{listed.room_total:,}")))
    return Rendered(text=escape(title), blocks=blocks)


def weight(blocks: Sequence[Block]) -> int:
    """Characters of blocks as JSON."""
    return size(json.dumps(blocks, ensure_ascii=False))


def section_mrkdwn(text: str) -> Block:
    """A section of our own words, with marks."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def room_message(memories: Sequence[Memory], total: int, viewer: Viewer, spot: Spot) -> Rendered:
    """One page of a channel's agreements; `memories` are those of the page."""
    language = viewer.language
    title = say("lt_room_title", language)
    if not memories:
        return Rendered(text=escape(say("lt_room_none", language)), blocks=[])
    count = pages(total)
    note = (
        say("lt_page", language, total=f"{total:,}", page=str(spot.page + 1), pages=str(count)) if count > 1 else say("lt_total", language, total=f"{total:,}")
    )
    blocks = [header(title), small(note)]
    for memory in memories[:PAGE]:
        blocks += entry(memory, viewer, spot)
    return Rendered(text=escape(title), blocks=[*blocks, *turning(viewer, spot, count)])


def found_message(memories: Sequence[Memory], viewer: Viewer, query: str) -> Rendered:
    """What a search among one's memories found, best first."""
    language = viewer.language
    if not memories:
        return Rendered(text=escape(say("lt_search_none", language)), blocks=[])
    title = say("lt_search_title", language)
    blocks = [header(title)]
    for memory in memories[:PAGE]:
        blocks += entry(memory, viewer, Spot("search", 0, query))
    return Rendered(text=escape(title), blocks=[*blocks, *_not_all(memories, language)])


def choose_message(memories: Sequence[Memory], viewer: Viewer, query: str) -> Rendered:
    """Which of these is to be forgotten; of a single one, whether it is."""
    language = viewer.language
    title = say("lt_forget_one" if len(memories) == 1 else "lt_forget_which", language)
    spot = Spot("one", 0, query)
    blocks: list[Block] = [section(title)]
    for memory in memories[:PAGE]:
        blocks += [told(memory, viewer), actions(forget_button(memory.id, language, spot))]
    keep = actions(button("keep", say("lt_button_keep", language), language, spot))
    return Rendered(text=escape(title), blocks=[*blocks, *_not_all(memories, language), keep])


def _not_all(memories: Sequence[Memory], language: str) -> list[Block]:
    """A line that says so when more fit than are shown."""
    return [small(say("lt_search_more", language, count=str(PAGE)))] if len(memories) > PAGE else []


def added_message(memory: Memory, step: str, known: Memory | None, viewer: Viewer) -> Rendered:
    """What was stored and where it may be used, with the buttons to change one's mind."""
    title = say(f"lt_added_{step}" if step in {"add", "reinforce", "update", "supersede", "ask"} else "lt_added_add", viewer.language)
    if step == "ask" and known is not None:
        return Rendered(text=escape(title), blocks=[section(title), *pair(memory, known, viewer, Spot("one"))])
    return Rendered(text=escape(title), blocks=[section(title), *entry(memory, viewer, Spot("one"))])


def line(text: str) -> Rendered:
    """A private answer of one sentence."""
    return Rendered(text=text, blocks=[])
