"""Block Kit rules: the limits Slack enforces, reported the way Slack reports them.

The common blocks are checked by a small table-driven walk that costs microseconds; the rare ones (tables, cards, videos…) by the SDK's own
models. Each problem reads `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from playground.elements import ELEMENTS, INPUT_ELEMENTS, Problems, check_element, kind_of, no_extras, text_object
from playground.people import Json

logging.getLogger("slack_sdk.models.blocks.blocks").setLevel(logging.ERROR)

MESSAGE_BLOCKS, VIEW_BLOCKS, TOTAL_CHARS, MARKDOWN_CHARS = 50, 100, 13_200, 12_000
_COMMON = frozenset({"type", "block_id"})
_SECTION_ACCESSORIES = ELEMENTS - {"feedback_buttons", "icon_button", "plain_text_input", "rich_text_input"}


def _section(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"text", "fields", "accessory", "expand"}, at, problems)
    if "text" not in block and not block.get("fields"):
        problems.missing(at, "text")
    if "text" in block:
        text_object(block["text"], f"{at}/text", problems, limit=3000)
    fields = problems.items(block.get("fields"), f"{at}/fields", 10)
    for n, item in enumerate(fields):
        text_object(item, f"{at}/fields/{n}", problems, limit=2000)
    if "accessory" in block:
        check_element(block["accessory"], f"{at}/accessory", problems, _SECTION_ACCESSORIES)


def _elements(limit: int, allowed: frozenset[str]) -> Callable[[Json, str, Problems], None]:
    def check(block: Json, at: str, problems: Problems) -> None:
        no_extras(block, _COMMON | {"elements"}, at, problems)
        elements = problems.items(block.get("elements"), f"{at}/elements", limit, required=True)
        seen: set[str] = set()
        for n, element in enumerate(elements):
            where = f"{at}/elements/{n}"
            check_element(element, where, problems, allowed)
            action_id = str(element.get("action_id") or "") if isinstance(element, dict) else ""
            if action_id in seen:
                problems.add(f'action_id "{action_id}" already exists', f"{where}/action_id")
            if action_id:
                seen.add(action_id)

    return check


def _context(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"elements"}, at, problems)
    for n, element in enumerate(problems.items(block.get("elements"), f"{at}/elements", 10, required=True)):
        where = f"{at}/elements/{n}"
        if kind_of(element) == "image":
            check_element(element, where, problems, frozenset({"image"}))
        else:
            text_object(element, where, problems, limit=3000)


def _header(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"text", "level"}, at, problems)
    text_object(block.get("text"), f"{at}/text", problems, limit=150, plain=True)


def _divider(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON, at, problems)


def _image(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"image_url", "alt_text", "title", "slack_file"}, at, problems)
    if "slack_file" not in block:
        problems.string(block, "image_url", at, 3000, required=True)
    problems.string(block, "alt_text", at, 2000, required=True)
    if "title" in block:
        text_object(block["title"], f"{at}/title", problems, limit=2000, plain=True)


def _input(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"label", "hint", "element", "optional", "dispatch_action"}, at, problems)
    text_object(block.get("label"), f"{at}/label", problems, limit=2000, plain=True)
    if "hint" in block:
        text_object(block["hint"], f"{at}/hint", problems, limit=2000, plain=True)
    check_element(block.get("element"), f"{at}/element", problems, INPUT_ELEMENTS)


def _markdown(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"text"}, at, problems)
    problems.string(block, "text", at, MARKDOWN_CHARS, required=True)


def _rich_text(block: Json, at: str, problems: Problems) -> None:
    no_extras(block, _COMMON | {"elements"}, at, problems)
    kinds = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
    for n, element in enumerate(problems.items(block.get("elements"), f"{at}/elements", 1000, required=True)):
        where = f"{at}/elements/{n}"
        if kind_of(element) not in kinds:
            problems.unsupported(element, where)
            continue
        inner = element.get("elements")
        if not isinstance(inner, list):
            problems.missing(where, "elements")
            continue
        rows = inner if element["type"] == "rich_text_list" else [{"elements": inner}]
        for row in rows:
            parts = row.get("elements") if isinstance(row, dict) else None
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, dict) and isinstance(part.get("text"), str):
                    problems.chars += len(part["text"])


def _by_sdk(block: Json, at: str, problems: Problems) -> None:
    """The rare blocks: let the SDK's model speak."""
    try:
        parsed = Block.parse(block)
        if parsed is not None:
            parsed.to_dict()
    except (SlackObjectFormationError, TypeError, ValueError, AttributeError, KeyError) as error:
        problems.add(str(error), at)
    problems.chars += _text_chars(block)


def _text_chars(value: Any) -> int:
    """The characters of every `text` in a nested value."""
    if isinstance(value, dict):
        return sum(len(v) if k == "text" and isinstance(v, str) else _text_chars(v) for k, v in value.items())
    return sum(map(_text_chars, value)) if isinstance(value, list) else 0


_ACTIONS = ELEMENTS - {"image", "feedback_buttons", "icon_button", "file_input"}
RULES: dict[str, Callable[[Json, str, Problems], None]] = {
    "section": _section,
    "actions": _elements(25, _ACTIONS),
    "context": _context,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "context_actions": _elements(5, frozenset({"feedback_buttons", "icon_button"})),
    "input": _input,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "video": _by_sdk,
    "file": _by_sdk,
    "call": _by_sdk,
    "table": _by_sdk,
    "task_card": _by_sdk,
    "plan": _by_sdk,
    "alert": _by_sdk,
    "card": _by_sdk,
    "carousel": _by_sdk,
    "container": _by_sdk,
    "auth_provider": _by_sdk,
}
_MESSAGE_ONLY = frozenset({"table", "markdown", "task_card", "plan", "context_actions"})


def check_blocks(blocks: list[Any], root: str = "/blocks", *, surface: str = "message") -> Problems:
    """Check the blocks of a `message` or a `view`. The result's `texts` are empty when all is well; `chars` is the total text length."""
    problems = Problems()
    limit = MESSAGE_BLOCKS if surface == "message" else VIEW_BLOCKS
    if len(blocks) > limit:
        problems.add(f"no more than {limit} items allowed", root)
    seen: set[str] = set()
    markdown = tables = 0
    for n, block in enumerate(blocks):
        at = f"{root}/{n}"
        rule = RULES.get(kind_of(block))
        if rule is None or (surface != "message" and block["type"] in _MESSAGE_ONLY):
            problems.unsupported(block, at)
            continue
        rule(block, at, problems)
        if block.get("block_id") is not None:
            problems.string(block, "block_id", at, 255, count=False)
            block_id = str(block["block_id"])
            if block_id in seen:
                problems.add(f'block_id "{block_id}" already exists', f"{at}/block_id")
            seen.add(block_id)
        kind = block["type"]
        if kind == "markdown" and isinstance(block.get("text"), str):
            markdown += len(block["text"])
        tables += kind == "table"
    if markdown > MARKDOWN_CHARS:
        problems.add(f"markdown blocks must be less than {MARKDOWN_CHARS + 1} characters in total", root)
    if tables > 1:
        problems.add("no more than 1 table allowed", root)
    return problems


def with_ids(blocks: list[Json], short: Callable[[], str]) -> list[Json]:
    """The blocks as stored: each with a block_id, each clickable element with an action_id."""
    return [_with_id(block, short) for block in blocks]


def _with_id(block: Json, short: Callable[[], str]) -> Json:
    named = block if block.get("block_id") else {**block, "block_id": short()}
    kind = block["type"]
    if kind in ("actions", "context_actions"):
        if any("action_id" not in e for e in block["elements"]):
            named = {**named, "elements": [e if "action_id" in e else {**e, "action_id": short()} for e in block["elements"]]}
    elif kind == "input":
        if "action_id" not in block["element"]:
            named = {**named, "element": {**block["element"], "action_id": short()}}
    elif kind == "section" and "accessory" in block and block["accessory"]["type"] != "image" and "action_id" not in block["accessory"]:
        named = {**named, "accessory": {**block["accessory"], "action_id": short()}}
    return named
