"""Modals: edit the arguments of a waiting call before approving it, or deny it with a reason.

The edit form is made from the tool's JSON schema and read back with the same knowledge, so a field that cannot be edited
in a Slack input keeps its value untouched, and so does one that nobody changed. Whether the values are valid is for the
tool's own arguments model to say; `field_errors` puts its complaints beside the fields, in the person's language.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from bot.markdown import size
from bot.messages import say
from bot.render import header, plain, section, shorten
from bot.visible import pieces, visible

MAX_INPUT: Final = 3_000
"""Characters a Slack text input holds."""
_MAX_BLOCKS: Final = 97
_MAX_JSON: Final = 220_000
_MAX_OPTIONS: Final = 100
_MULTILINE: Final = 80
_PREFIX: Final = "field:"
_ACTION: Final = "value"
NO_WORDS: Final[Mapping[str, str]] = {}

Kind = Literal["string", "integer", "number", "choice", "lines", "json", "kept"]
Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Field:
    """One argument as the form treats it."""

    name: str
    schema: dict[str, Any]
    kind: Kind
    required: bool
    value: Any
    """The argument before editing; `_MISSING` when it was not given."""
    options: tuple[Any, ...] = ()
    initial: str | None = None
    """What a text input holds at first."""

    @property
    def block_id(self) -> str:
        return _PREFIX + self.name


class _Missing:
    """The argument was not given."""


_MISSING: Final = _Missing()


# --- reading the schema ----------------------------------------------------------------------------------------------


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A property's schema without references and without "or null"."""
    node = dict(schema)
    for _ in range(8):
        if isinstance(node.get("$ref"), str):
            target = root.get("$defs", {}).get(str(node.pop("$ref")).rpartition("/")[2], {})
            node = {**target, **node}
            continue
        branches = node.get("anyOf") or node.get("oneOf") or node.get("allOf")
        if not isinstance(branches, list):
            break
        real = [branch for branch in branches if branch.get("type") != "null"]
        if len(real) != 1:
            break
        rest = {key: value for key, value in node.items() if key not in {"anyOf", "oneOf", "allOf"}}
        node = {**real[0], **rest}
    return node


def _fields(tool_schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[_Field]:
    root = tool_schema.get("function", tool_schema)
    root = root.get("parameters", root)
    needed = set(root.get("required", ()))
    properties = root.get("properties", {})
    return [_field(name, _resolved(node, root), required=name in needed, value=arguments.get(name, _MISSING)) for name, node in properties.items()]


def _field(name: str, schema: dict[str, Any], *, required: bool, value: Any) -> _Field:
    kept = _Field(name, schema, "kept", required, value)
    if size(_PREFIX + name) > 255:
        return kept
    given = value is not _MISSING and value is not None
    kind = schema.get("type")
    options = _options(schema)
    if options and len(options) <= _MAX_OPTIONS and (not given or any(_same(value, option) for option in options)):
        return _Field(name, schema, "choice", required, value, options)
    if kind == "string" and (not given or isinstance(value, str)):
        return _texted(kept, "string", value if given else "")
    if kind in {"integer", "number"} and (not given or (isinstance(value, (int, float)) and not isinstance(value, bool))):
        return _texted(kept, kind, json.dumps(value) if given else "")
    items = schema.get("items", {})
    if kind == "array" and isinstance(items, dict) and items.get("type") == "string" and "enum" not in items and (not given or _line_by_line(value)):
        return _texted(kept, "lines", "\n".join(value) if given else "")
    return _texted(kept, "json", _json(value) if value is not _MISSING else "")


def _options(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    if schema.get("type") == "boolean":
        return (True, False)
    if "const" in schema:
        return (schema["const"],)
    return tuple(schema.get("enum", ()))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _line_by_line(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item and item == item.strip() and len(item.splitlines()) == 1 for item in value)


def _json(value: Any) -> str:
    pretty = json.dumps(value, ensure_ascii=False, indent=2)
    return pretty if size(pretty) <= MAX_INPUT else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _texted(field: _Field, kind: Kind, initial: str) -> _Field:
    # NUL and halves of characters cannot travel through a form, and a carriage return comes back as something else.
    carried = not any(char in "\x00\r" or "\ud800" <= char <= "\udfff" for char in initial)
    if size(initial) > MAX_INPUT or not carried:
        return field
    return _Field(field.name, field.schema, kind, field.required, field.value, (), initial)


# --- the forms -------------------------------------------------------------------------------------------------------


def edit_view(
    tool_schema: dict[str, Any], arguments: dict[str, Any], *, approval_id: str, session_id: str, title: str, language: str, words: Mapping[str, str] = NO_WORDS
) -> dict[str, Any]:
    """The modal in which the arguments of a waiting call are edited.

    `tool_schema` is the tool's definition or its `parameters` alone, `arguments` the validated ones as they stand. The private
    part carries `approval_id` and `session_id` (the thread's id); `title` is the tool's name for people, `words` its labels and
    hints in their language.
    """
    blocks = [header(visible(title))]
    budget, left_out = _MAX_JSON, 0
    fields = _fields(tool_schema, arguments)
    for field in fields:
        block = _kept(field, language) if field.kind == "kept" else _input(field, language, words)
        budget -= len(json.dumps(block))
        if len(blocks) >= _MAX_BLOCKS or budget < 0:
            left_out += 1
        else:
            blocks.append(block)
    if left_out:
        blocks.append(section(say("form_kept_more", language, count=str(left_out))))
    if not fields:
        blocks.append(section(say("form_nothing", language)))
    return _modal("edit", blocks, approval_id, session_id, language)


def deny_view(approval_id: str, session_id: str, language: str, title: str = "") -> dict[str, Any]:
    """The modal that asks why; leaving it empty is allowed. `title` is the tool's name for people."""
    element = {"type": "plain_text_input", "action_id": _ACTION, "multiline": True, "max_length": 1_000, "focus_on_load": True}
    label, hint = plain(say("form_deny_label", language)), plain(say("form_deny_hint", language))
    block = {"type": "input", "block_id": "reason", "optional": True, "label": label, "hint": hint, "element": element}
    top = [header(visible(title))] if title else []
    return _modal("deny", [*top, block], approval_id, session_id, language)


def _modal(what: str, blocks: list[Block], approval_id: str, session_id: str, language: str) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": f"steward:{what}",
        "title": plain(say(f"form_{what}_title", language)),
        "submit": plain(say(f"form_{what}_submit", language)),
        "close": plain(say("form_cancel", language)),
        "private_metadata": json.dumps({"a": approval_id, "s": session_id}),
        "blocks": blocks,
    }


def human(name: str) -> str:
    """An argument's name as a person reads it: `order_id` is "Order id"."""
    words = visible(name).replace("_", " ").strip() or "·"
    return words[0].upper() + words[1:]


def _input(field: _Field, language: str, words: Mapping[str, str]) -> Block:
    hint_text, label = str(field.schema.get("description", "")), human(field.name)
    hints = [words.get(hint_text, hint_text)]
    if field.kind in {"lines", "json", "integer", "number"}:
        hints.append(say(f"form_hint_{field.kind}", language))
    block: Block = {
        "type": "input",
        "block_id": field.block_id,
        "optional": not field.required or (field.kind in {"string", "lines"} and not _minimum(field)),
        "label": plain(shorten(words.get(label, label), 1_000)),
        "element": _select(field, language) if field.kind == "choice" else _text_input(field),
    }
    if hint := " ".join(part for part in hints if part):
        block["hint"] = plain(shorten(visible(" ".join(hint.split())), 1_000))
    return block


def _minimum(field: _Field) -> int:
    key = "minItems" if field.kind == "lines" else "minLength"
    return int(field.schema.get(key, 0))


def _text_input(field: _Field) -> Block:
    initial = field.initial or ""
    longest = int(field.schema.get("maxLength", MAX_INPUT)) if field.kind == "string" else MAX_INPUT
    roomy = field.kind in {"lines", "json"} or len(initial) > _MULTILINE or "\n" in initial or (field.kind == "string" and _MULTILINE < longest < MAX_INPUT)
    element: Block = {"type": "plain_text_input", "action_id": _ACTION, "multiline": roomy}
    if initial:
        element["initial_value"] = initial
    if field.kind == "string":
        # Slack may count an emoji as two: a limit that the present value already breaks would lock the form.
        element["max_length"] = max(1, min(MAX_INPUT, max(longest, size(initial))))
        least = min(_minimum(field), MAX_INPUT)
        if field.required and 0 < least <= element["max_length"]:
            element["min_length"] = least
    return element


def _option(field: _Field, index: int, language: str) -> Block:
    value = field.options[index]
    if isinstance(value, bool):
        text = say("form_yes" if value else "form_no", language)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"text": plain(shorten(visible(text), 75) or say("card_empty", language)), "value": str(index)}


def _select(field: _Field, language: str) -> Block:
    options = [_option(field, index, language) for index in range(len(field.options))]
    element: Block = {"type": "static_select", "action_id": _ACTION, "options": options}
    chosen = [index for index, option in enumerate(field.options) if _same(option, field.value)]
    if chosen:
        element["initial_option"] = options[chosen[0]]
    return element


def _kept(field: _Field, language: str) -> Block:
    value = field.value
    text = "" if value is _MISSING else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    shown, count = pieces(text, 1_200)[0] if text else ("", 0)
    note = say("form_kept", language)
    if count < len(text):
        note += " · " + say("card_reason_cut", language, count=f"{len(text) - count:,}")
    label = [
        {"type": "text", "text": shorten(human(field.name), 200), "style": {"bold": True}},
        {"type": "text", "text": f" ({note})", "style": {"italic": True}},
    ]
    box = [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]}] if shown else []
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": label}, *box]}


# --- reading a form back ---------------------------------------------------------------------------------------------


def read_form(tool_schema: dict[str, Any], original_arguments: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The arguments after editing, from a submission's `state.values`.

    What was not shown, not editable or not changed stays as it was. A text that cannot be read as the number or JSON it
    should be is passed on as text, so that the tool's own validation can complain about it.
    """
    arguments = dict(original_arguments)
    for field in _fields(tool_schema, original_arguments):
        state = (values.get(field.block_id) or {}).get(_ACTION)
        if field.kind == "kept" or not isinstance(state, dict):
            continue
        value = _chosen(field, state) if field.kind == "choice" else _typed(field, state.get("value"))
        if value is _MISSING:
            arguments.pop(field.name, None)
        else:
            arguments[field.name] = value
    return arguments


def _chosen(field: _Field, state: Mapping[str, Any]) -> Any:
    option = state.get("selected_option")
    if not isinstance(option, dict):
        return _blank(field)
    index = str(option.get("value", ""))
    # A forged value is passed on as text, for validation to refuse.
    return field.options[int(index)] if index.isascii() and index.isdigit() and int(index) < len(field.options) else index


def _typed(field: _Field, typed: Any) -> Any:
    text = str(typed or "").replace("\r\n", "\n").replace("\r", "\n")
    if text == (field.initial or ""):
        return field.value
    if not text.strip() and (field.kind != "string" or not text):
        return _blank(field)
    match field.kind:
        case "integer" | "number":
            return _number(text.strip())
        case "lines":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "json":
            return _parsed(text)
        case _:
            return text


def _blank(field: _Field) -> Any:
    if field.value is _MISSING or field.value is None:
        return field.value
    if field.required:
        return {"string": "", "lines": []}.get(field.kind, _MISSING)
    return _MISSING


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass  # not a whole number; it may still be one
    try:
        return float(text)
    except ValueError:
        return text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# --- errors ----------------------------------------------------------------------------------------------------------

_LIMITS: Final = {
    "string_too_short": ("too_short", "min_length"),
    "string_too_long": ("too_long", "max_length"),
    "too_short": ("few", "min_length"),
    "too_long": ("many", "max_length"),
    "greater_than_equal": ("min", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("max", "le"),
    "less_than": ("below", "lt"),
    "literal_error": ("choice", "expected"),
    "enum": ("choice", "expected"),
}
_BEGINNINGS: Final = {
    "missing": "missing",
    "int_": "integer",
    "float_": "number",
    "decimal_": "number",
    "finite_number": "number",
    "bool_": "boolean",
    "string_pattern": "pattern",
    "date": "date",
    "time": "date",
    "json_": "json",
    "list_": "json",
    "dict_": "json",
    "model_": "json",
    "extra_": "extra",
}


def field_errors(errors: Iterable[Mapping[str, Any]], language: str, shown: Iterable[str] = ()) -> dict[str, str]:
    """Pydantic's `errors()` as messages by block id, for Slack's `response_action: errors`; the first complaint about a field wins.

    With `shown` (the block ids of the submitted form) a complaint about something that is not in the form stands beside the first field.
    """
    there = list(shown)
    found: dict[str, str] = {}
    for error in errors:
        place = error.get("loc") or ()
        name = str(place[0]) if place else ""
        block_id, message = _PREFIX + name, _complaint(error, language)
        if there and block_id not in there:
            block_id, message = there[0], f"{human(name)}: {message}" if name else message
        found.setdefault(block_id, shorten(message, 150))
    return found


def _complaint(error: Mapping[str, Any], language: str) -> str:
    kind, details = str(error.get("type", "")), error.get("ctx") or {}
    if kind in _LIMITS:
        key, limit = _LIMITS[kind]
        return say(f"form_error_{key}", language, limit=str(details.get(limit, "")))
    for beginning, key in _BEGINNINGS.items():
        if kind.startswith(beginning):
            return say(f"form_error_{key}", language)
    reason = str(error.get("msg", "")).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return say("form_error_other", language, reason=visible(reason))
