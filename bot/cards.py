"""The approval card: what a person sees before and after deciding, built by code from validated arguments.

Every value stands in a rich-text element of its own block, where nothing in it is interpreted; furniture (headings,
buttons, who asked, the fingerprint) is written here and nowhere else. What does not fit is said to be cut, and the
"View all" modal shows it. `decode_card` reads a card back, so that a test can prove that cards tell the truth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from bot.markdown import size
from bot.messages import say
from bot.render import Rendered, escape, header, plain, shorten
from bot.state import Approval, Policy, Vote
from bot.visible import pieces, revealed, visible
from tools.result import ErrorCode, ToolResult

MAX_VALUE: Final = 1_200
"""Characters of one value on a card."""
MAX_VALUES: Final = 9_000
"""Characters of all labels and values of a card together."""
_MAX_JSON: Final = 11_000
"""Characters of the rows' JSON: Slack counts a message's blocks in a way it does not document, so their frame is kept small too."""
_MAX_ROWS: Final = 38
_VIEW_PIECE: Final = 2_500
_MAX_VIEW_JSON: Final = 230_000
_MAX_VIEW_BLOCKS: Final = 98
_SNAKE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_USER: Final = re.compile(r"[A-Z0-9]{2,30}")

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CardInput:
    """Everything a card is made of."""

    approval: Approval
    tool_name: str
    title: str
    rows: list[tuple[str, Any]]
    """(label, JSON value), from the validated arguments."""
    requested_by: str
    """Slack user id."""
    state: str
    """`open`, `half`, or a status of the call."""
    result: ToolResult | None
    language: str
    repaired: bool = False
    """The model's arguments were not valid as it wrote them and were mended."""
    same: tuple[str, ...] = ()
    """Labels of the arguments that a permission given with this approval holds fast."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The blocks do not hold everything, and say so."""

    left_out: int
    """Characters, or whole rows, that are not shown."""


# --- rows ------------------------------------------------------------------------------------------------------------


def _label(name: str) -> tuple[str, str]:
    """How an argument's name is shown, and a mark for how to read it back: `order_id` is "Order id" (h), anything else is shown as it is (r)."""
    if len(name) <= 200 and _SNAKE.fullmatch(name):
        words = name.replace("_", " ")
        return words[0].upper() + words[1:], "h"
    return visible(name) or "·", "r" if name else "n"


def _name(label: str, how: str) -> str:
    if how == "h":
        return (label[0].lower() + label[1:]).replace(" ", "_")
    return "" if how == "n" else revealed(label)


def _text(text: str, **style: bool) -> Block:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def _section(*elements: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(elements)}


def _written(value: Any) -> tuple[str, str]:
    """A value as text, and its kind: a string (s), or anything else as compact JSON (j)."""
    return (value, "s") if isinstance(value, str) else (json.dumps(value, ensure_ascii=False, separators=(",", ":")), "j")


def _box(kind: str, shown: str, language: str) -> Block:
    if not shown:
        return _section(_text(say("card_empty", language), italic=True))
    if kind == "s":
        return {"type": "rich_text_preformatted", "elements": [_text(shown)]}
    return _section(_text(shown, code=True))


def _row(index: int, label: str, value: Any, room: int, language: str) -> tuple[Block, int]:
    """One argument's block, and how many of the value's characters were left out."""
    name, how = _label(label)
    text, kind = _written(value)
    left_out = 0
    if size(name) > 160:
        name, count = pieces(label, 150)[0]
        how, left_out = "c", len(label) - count  # a name cut is as bad as a value cut
    shown, count = pieces(text, max(room, 12))[0] if text else ("", 0)
    left_out += len(text) - count
    elements = [_section(_text(name, bold=True)), _box(kind, shown, language)]
    if left_out:
        elements.append(_section(_text(say("card_cut", language, count=f"{left_out:,}"), italic=True)))
    return {"type": "rich_text", "block_id": f"arg:{index}:{kind}{how}:{left_out}", "elements": elements}, left_out


def _rows(card: CardInput) -> tuple[list[Block], bool]:
    """The rows that fit, with a line that says how many do not, and whether anything was cut."""
    blocks: list[Block] = []
    room, frame, cut = MAX_VALUES, _MAX_JSON, False
    for index, (label, value) in enumerate(card.rows):
        block, left_out = _row(index, label, value, min(MAX_VALUE, room - 200), card.language)
        text, json_size = sum(map(size, _texts(block["elements"]))), size(json.dumps(block, ensure_ascii=False))
        if index >= _MAX_ROWS or room - text < 200 or frame - json_size < 0:
            count = len(card.rows) - index
            line = say("card_rows_cut", card.language, count=str(count))
            return [*blocks, {"type": "rich_text", "block_id": f"more:{count}", "elements": [_section(_text(line, italic=True))]}], True
        blocks.append(block)
        room, frame, cut = room - text, frame - json_size, cut or left_out > 0
    return blocks, cut


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for child in value.values():
            if not isinstance(child, str):
                yield from _texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from _texts(child)


# --- furniture -------------------------------------------------------------------------------------------------------


def _head(card: CardInput, lead: str) -> Block:
    """The first line: how the matter stands, and what it is about."""
    return header(say("card_head", card.language, lead=lead, title=visible(card.title)))


def _user(user_id: str) -> str:
    return f"<@{user_id}>" if _USER.fullmatch(user_id) else escape(visible(user_id))


def _when(at: float) -> str:
    """A moment in each reader's own timezone; written in UTC where a client cannot."""
    moment = datetime.fromtimestamp(int(at), UTC)
    return f"<!date^{int(at)}^{{date_short_pretty}} {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def _line(block_id: str, mrkdwn: str) -> Block:
    """A small line of our own words; never holds a value."""
    return {"type": "context", "block_id": block_id, "elements": [{"type": "mrkdwn", "text": mrkdwn}]}


def _small(block_id: str, text: str) -> Block:
    return {"type": "context", "block_id": block_id, "elements": [plain(shorten(text, 600))]}


def _deciders(policy: Policy, language: str) -> str:
    match policy.rule:
        case "users":
            return say("card_who_users", language, users=" ".join(_user(user) for user in policy.users[:20]))
        case "usergroup":
            group = policy.usergroup
            return say("card_who_group", language, group=f"<!subteam^{group}>" if _USER.fullmatch(group) else escape(visible(group)))
        case _:
            return say(f"card_who_{policy.rule}", language)


def _votes(votes: Iterable[Vote], language: str) -> list[Block]:
    blocks: list[Block] = []
    for number, vote in enumerate(votes):
        blocks.append(_line(f"vote:{number}", say(f"card_vote_{vote.verdict}", language, user=_user(vote.actor.user_id), when=_when(vote.at))))
        if vote.reason:
            label = _section(_text(say("card_reason", language), bold=True))
            blocks.append({"type": "rich_text", "block_id": f"reason:{number}", "elements": [label, *_quoted(vote.reason, language)]})
    return blocks[:8]


def _quoted(text: str, language: str) -> list[Block]:
    """What a person or a tool said, in a box of its own; 600 characters of it."""
    shown, count = pieces(text, 600)[0]
    box = {"type": "rich_text_preformatted", "elements": [_text(shown)]}
    left_out = len(text) - count
    return [box, _section(_text(say("card_reason_cut", language, count=f"{left_out:,}"), italic=True))] if left_out else [box]


def _button(name: str, card: CardInput, **more: Any) -> Block:
    return {"type": "button", "action_id": f"steward:{name}", "text": plain(say(f"card_button_{name}", card.language)), "value": card.approval.id, **more}


def _buttons(card: CardInput, *, cut: bool) -> Block:
    title = shorten(visible(card.title), 50)
    elements = [
        _button("approve", card, style="primary", accessibility_label=f"{say('card_button_approve', card.language)}: {title}"),
        _button("deny", card, style="danger", accessibility_label=f"{say('card_button_deny', card.language)}: {title}"),
        _button("deny_reason", card),
    ]
    if card.approval.policy.rule != "two_people":  # what two people approve must be one and the same
        elements.append(_button("edit", card))
    if card.approval.policy.always_for > 0:
        elements.append(_button("always", card))
    if cut:
        elements.append(_button("view", card))
    return {"type": "actions", "block_id": "steward:actions", "elements": elements}


def _fingerprint(card: CardInput) -> Block:
    return _small("fingerprint", say("card_fingerprint", card.language, digest=card.approval.digest[:8], tool=visible(card.tool_name)))


def _fallback(card: CardInput, lead: str) -> str:
    return escape(shorten(f"{lead}: {visible(card.title)}", 500))


def approval_card(card: CardInput) -> Rendered:
    """The question: `open`, or `half` when one of two people has approved."""
    rows, cut = _rows(card)
    language = card.language
    lead = say("card_ask", language)
    who = say("card_asked_by", language, user=_user(card.requested_by), when=_when(card.approval.expires_at))
    blocks = [_head(card, lead), _line("asked", f"{who}\n{_deciders(card.approval.policy, language)} {say('card_not_yet', language)}")]
    if card.repaired:
        blocks.append(_small("repaired", say("card_repaired", language)))
    blocks += rows or [_small("no_rows", say("card_no_rows", language))]
    blocks += _votes(card.approval.votes, language)
    if card.state == "half":
        blocks.append(_small("half", say("card_half", language)))
    return Rendered(text=_fallback(card, lead), blocks=[*blocks, _fingerprint(card), _buttons(card, cut=cut)])


def _standing(card: CardInput) -> list[Block]:
    """What a standing permission has to do with the call: it allowed it, or came with its approval."""
    approval, language = card.approval, card.language
    if approval.grant:
        return [_line("granted", say("card_granted", language, user=_user(card.requested_by), when=_when(approval.expires_at)))]
    if approval.always is None or not approval.votes:
        return []
    until = approval.votes[-1].at + approval.always.expires_after
    held = say("card_always_same", language, names=", ".join(card.same)) if card.same else say("card_always_any", language)
    return [_line("always", say("card_always", language, user=_user(card.requested_by), when=_when(until))), _small("always_same", held)]


def _truth(card: CardInput) -> str:
    """What really became of the call, whatever the caller believes."""
    if card.result is not None and card.state in {"done", "failed"}:
        if card.result.error_code is ErrorCode.OUTCOME_UNKNOWN:
            return "unknown"
        return "done" if card.result.success and card.state == "done" else "failed"
    return card.state


def resolved_card(card: CardInput) -> Rendered:
    """The card after the question is settled: what was asked, who decided what and when, and what really happened. No buttons."""
    rows, _ = _rows(card)
    language = card.language
    state = _truth(card)
    lead = say(f"card_state_{state}", language)
    blocks = [_head(card, lead), _line("asked", say("card_was_asked_by", language, user=_user(card.requested_by)))]
    if card.repaired:
        blocks.append(_small("repaired", say("card_repaired", language)))
    blocks += rows or [_small("no_rows", say("card_no_rows", language))]
    blocks += _votes(card.approval.votes, language)
    blocks += _standing(card)
    blocks.append(_small("outcome", say(f"card_outcome_{state}", language)))
    message = card.result.error_message if card.result is not None and state in {"failed", "unknown"} else None
    if message:
        blocks.append({"type": "rich_text", "block_id": "message", "elements": _quoted(message, language)})
    return Rendered(text=_fallback(card, lead), blocks=[*blocks, _fingerprint(card)])


# --- the whole -------------------------------------------------------------------------------------------------------


def full_view(card: CardInput) -> dict[str, Any]:
    """The "View all" modal: every argument whole, over as many blocks as it takes; beyond Slack's limits it says how much is left out."""
    language = card.language
    blocks: list[Block] = []
    budget, left_out = _MAX_VIEW_JSON, 0
    for index, (label, value) in enumerate(card.rows):
        for block, count in _view_row(index, label, value, language):
            cost = len(json.dumps(block))  # the escaped form is what is sent
            if left_out or len(blocks) >= _MAX_VIEW_BLOCKS or budget < cost:
                left_out += max(count, 1)
            else:
                blocks.append(block)
                budget -= cost
    if left_out:
        line = say("view_left_out", language, count=f"{left_out:,}")
        blocks.append({"type": "rich_text", "block_id": f"more:{left_out}", "elements": [_section(_text(line, italic=True))]})
    top = header(visible(card.title))
    return {
        "type": "modal",
        "callback_id": "steward:view",
        "title": plain(say("view_title", language)),
        "close": plain(say("view_close", language)),
        "blocks": [top, *(blocks or [_small("no_rows", say("card_no_rows", language))])],
    }


def _view_row(index: int, label: str, value: Any, language: str) -> Iterator[tuple[Block, int]]:
    name, how = _label(label)
    text, kind = _written(value)
    head = [_section(_text(shorten(name, 2_000), bold=True))]
    if size(name) > 2_000:
        how = "c"
    for part, (shown, count) in enumerate(pieces(text, _VIEW_PIECE) or [("", 0)]):
        yield {"type": "rich_text", "block_id": f"arg:{index}:{kind}{how}:0:{part}", "elements": [*head, _box(kind, shown, language)]}, count
        head = []


def decode_card(blocks: list[Block]) -> dict[str, Any] | Cut:
    """The arguments as a reader of these blocks (a card's, or the view's) takes them from what is shown, or `Cut` where it is said that some are not."""
    names: dict[int, str] = {}
    values: dict[int, list[str]] = {}
    kinds: dict[int, str] = {}
    left_out = 0
    for block in blocks:
        block_id = str(block.get("block_id", ""))
        if block_id.startswith("more:"):
            left_out += int(block_id.partition(":")[2])
        if not block_id.startswith("arg:"):
            continue
        _, index_text, marks, missing, *part = block_id.split(":")
        index = int(index_text)
        left_out += int(missing) + (marks[1] == "c")
        elements = list(block["elements"])
        if not part or part == ["0"]:
            names[index] = _name(elements.pop(0)["elements"][0]["text"], marks[1])
        shown = elements[0]["elements"][0]
        kinds[index] = marks[0]
        values.setdefault(index, []).append("" if shown.get("style") == {"italic": True} else revealed(shown["text"]))
    if left_out:
        return Cut(left_out)
    return {names[index]: "".join(texts) if kinds[index] == "s" else json.loads("".join(texts)) for index, texts in values.items()}
