"""More of long-term memory on the screen: the lines under an answer, what an answer used, the history, the modals. Pure.

As in `memory_view`, people's words stand in elements in which Slack interprets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.context_view import moment, one_line
from bot.memory_forms import PREFIX, Spot, private_of, value_of
from bot.memory_view import PAGE, TEXT, Block, Viewer, actions, button, forget_button, literal, rich, short_id, small, told, turning
from bot.messages import say
from bot.render import Rendered, escape, header, plain, section
from memory.longterm.memory import LONGEST, Change, Memory

USED_SHOWN: Final = 20
"""Memories in the modal of an answer."""
ANSWERS_SHOWN: Final = 2
"""Answers in `/memory why`."""
_JOBS: Final = frozenset({"person", "operator", "message", "tool", "run"})


# --- under an answer ---------------------------------------------------------------------------------------------------


def used_footer(count: int, run_id: str, language: str) -> list[Block]:
    """Under an answer that used memories: how many, and a button that shows them to the person they belong to. Empty for none."""
    if count < 1:
        return []
    words = say("lt_used_one", language) if count == 1 else say("lt_used_many", language, count=str(count))
    which = button("used", say("lt_used_show", language), language, Spot("used"), run_id)
    return [small(f"🧠 {words}"), actions(which)]


def missing_footer(language: str) -> list[Block]:
    """Under an answer that had to do without long-term memory."""
    return [small(say("lt_missing", language))]


def saved_footer(count: int, language: str) -> list[Block]:
    """Under an answer to "remember this": that it was. Empty for none."""
    if count < 1:
        return []
    return [small(say("lt_saved_one", language) if count == 1 else say("lt_saved_many", language, count=str(count)))]


# --- what answers used -------------------------------------------------------------------------------------------------


def used_modal(memories: Sequence[Memory], viewer: Viewer, run_id: str) -> dict[str, Any]:
    """The memories an answer had at hand, each with "wrong, forget"."""
    language = viewer.language
    if not memories:
        return line_modal(say("lt_used_none", language), language)
    blocks: list[Block] = [section(say("lt_used_title", language))]
    for memory in memories[:USED_SHOWN]:
        blocks += [told(memory, viewer), actions(forget_button(memory.id, language, Spot("used", 0, run_id), "lt_button_wrong"))]
    if len(memories) > USED_SHOWN:
        blocks.append(small(say("lt_home_more", language, count=str(len(memories) - USED_SHOWN))))
    return modal(blocks, language)


def why_message(answers: Sequence[tuple[float, Sequence[Memory]]], viewer: Viewer) -> Rendered:
    """What the latest answers in a place used, newest first: when each was given (seconds since the epoch) and what is left of it."""
    language = viewer.language
    if not answers:
        return Rendered(text=escape(say("lt_why_none", language)), blocks=[])
    title = say("lt_why_title", language)
    blocks: list[Block] = [header(title)]
    room = PAGE
    for at, memories in answers[:ANSWERS_SHOWN]:
        blocks.append(small(say("lt_why_at", language, when=moment(at, viewer.timezone))))
        if not memories:
            blocks.append(section(say("lt_why_gone", language)))
        for memory in memories[:room]:
            blocks += [told(memory, viewer), actions(forget_button(memory.id, language, Spot("one"), "lt_button_wrong"))]
        if len(memories) > room:
            blocks.append(small(say("lt_home_more", language, count=str(len(memories) - room))))
        room -= min(len(memories), room)
    return Rendered(text=escape(title), blocks=blocks)


# --- the history -------------------------------------------------------------------------------------------------------


def history_message(changes: Sequence[Change], viewer: Viewer, spot: Spot, *, more: bool) -> Rendered:
    """One page of what changed, newest first; `changes` are those of the page, `more` whether another one follows."""
    language = viewer.language
    if not changes and spot.page == 0:
        return Rendered(text=escape(say("lt_history_none", language)), blocks=[])
    title = say("lt_history_title", language)
    blocks: list[Block] = [header(title)]
    if spot.page or more:
        blocks.append(small(say("lt_history_more", language, page=str(spot.page + 1))))
    for change in changes[:PAGE]:
        blocks.append(_change(change, viewer))
        if change.done != "undone":
            blocks.append(actions(button("undo", say("lt_button_undo", language), language, spot, change.id)))
    return Rendered(text=escape(title), blocks=[*blocks, *turning(viewer, spot, spot.page + 1 + more)])


def _change(change: Change, viewer: Viewer) -> Block:
    language = viewer.language
    before = one_line(change.before.text, TEXT // 2) if change.before is not None else ""
    after = one_line(change.after.text, TEXT // 2) if change.after is not None else ""
    line = [literal(f"{say(f'lt_done_{change.done}', language)}: ", bold=True)]
    line.append(literal(f"{before} → {after}" if before and after and before != after else after or before or "?"))
    by = say(f"lt_by_{change.by if change.by in _JOBS else 'job'}", language)
    line.append(literal(f"\n{moment(change.at, viewer.timezone)} · {by} · #{short_id(change.id)}"))
    return rich(line)


# --- modals ------------------------------------------------------------------------------------------------------------


def modal(blocks: list[Block], language: str) -> dict[str, Any]:
    """A modal to look at."""
    return {"type": "modal", "title": plain(say("lt_title_short", language)), "close": plain(say("view_close", language)), "blocks": blocks}


def line_modal(text: str, language: str) -> dict[str, Any]:
    """A modal that says one thing."""
    return modal([section(text)], language)


def _form(kind: str, titles: tuple[str, str], blocks: list[Block], language: str, private: str) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": f"{PREFIX}{kind}",
        "title": plain(say(titles[0], language)),
        "submit": plain(say(titles[1], language)),
        "close": plain(say("form_cancel", language)),
        "private_metadata": private,
        "blocks": blocks,
    }


def edit_modal(memory: Memory, viewer: Viewer, spot: Spot, response_url: str = "") -> dict[str, Any]:
    """The form that puts another text in a memory's place."""
    language = viewer.language
    element = {"type": "plain_text_input", "action_id": "text", "multiline": True, "initial_value": memory.text, "max_length": LONGEST, "min_length": 1}
    blocks: list[Block] = [{"type": "input", "block_id": "text", "label": plain(say("lt_edit_label", language)), "element": element}]
    return _form("edit", ("lt_edit_title", "lt_button_save"), blocks, language, private_of(language, spot, memory.id, response_url))


def audience_modal(memory: Memory, viewer: Viewer, spot: Spot, response_url: str = "") -> dict[str, Any]:
    """The form that changes where a memory may be used. A channel is offered only when the memory came from one."""
    language = viewer.language
    choices = [scope for scope in ("private", "channel", "workspace") if scope != "channel" or may_be_channels(memory)]
    options = {scope: {"text": plain(say(f"lt_choice_{scope}", language)), "value": scope} for scope in choices}
    element: Block = {"type": "radio_buttons", "action_id": "scope", "options": list(options.values())}
    if memory.audience.scope in options:
        element["initial_option"] = options[memory.audience.scope]
    blocks: list[Block] = [
        told(memory, viewer),
        {"type": "input", "block_id": "scope", "label": plain(say("lt_audience_label", language)), "element": element},
    ]
    return _form("audience", ("lt_audience_title", "lt_button_save"), blocks, language, private_of(language, spot, memory.id, response_url))


def channel_of(memory: Memory) -> str:
    """The channel a memory may be limited to: the one it has now, else the one it came from; empty when that was no channel."""
    current = memory.audience.channel_id if memory.audience.scope == "channel" else memory.source.thread.channel_id
    return "" if current.startswith("D") else current


def may_be_channels(memory: Memory) -> bool:
    """Whether "one channel" is a choice for this memory."""
    return bool(channel_of(memory))


def all_modal(total: int, viewer: Viewer, spot: Spot, response_url: str = "") -> dict[str, Any]:
    """The question before everything is forgotten: a word has to be typed."""
    language = viewer.language
    word = say("lt_all_word", language)
    element = {"type": "plain_text_input", "action_id": "word", "max_length": 50}
    blocks: list[Block] = [
        section(say("lt_all_what", language, total=f"{total:,}")),
        {"type": "input", "block_id": "word", "label": plain(say("lt_all_label", language, word=word)), "element": element},
    ]
    return _form("all", ("lt_all_title", "lt_button_forget"), blocks, language, private_of(language, spot, "", response_url))


def typed_right(typed: str) -> bool:
    """Whether the confirming word was typed, in either language."""
    given = " ".join(typed.split()).casefold()
    return given in {say("lt_all_word", language).casefold() for language in ("en", "zh")}


def language_menu(current: str, language: str, spot: Spot) -> Block:
    """The menu of languages; `current` is what was chosen ("" for automatic)."""
    options = {each: {"text": plain(say(f"lt_language_option_{each}", language)), "value": value_of(language, spot, each)} for each in ("auto", "en", "zh")}
    return {
        "type": "static_select",
        "action_id": f"{PREFIX}language",
        "placeholder": plain(say("lt_language_choose", language)),
        "options": list(options.values()),
        "initial_option": options[current or "auto"],
    }
