"""Block Kit rules for what sits inside blocks: text objects, buttons, menus, inputs, options, confirmation dialogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.people import Json


def kind_of(value: Any) -> str:
    """The `type` of an object, "" for anything that has none."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


class Problems:
    """Collects problems with their JSON pointers, and the total length of the texts seen."""

    __slots__ = ("chars", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.chars = 0

    def add(self, text: str, at: str) -> None:
        """One problem at a JSON pointer."""
        self.texts.append(f"{text} [json-pointer:{at}]")

    def missing(self, at: str, name: str) -> None:
        """A required field is not there."""
        self.add(f"missing required field: {name}", at)

    def unsupported(self, value: Any, at: str) -> None:
        """A type Slack does not know, or does not allow here."""
        if not isinstance(value, dict):
            self.add("must be an object", at)
        elif "type" not in value:
            self.missing(at, "type")
        else:
            self.add(f"unsupported type: {value['type']}", f"{at}/type")

    def items(self, value: Any, at: str, limit: int, *, required: bool = False) -> list[Any]:
        """`value` as a list within `limit`; problems are noted and an empty list returned."""
        if value is None and not required:
            return []
        if not isinstance(value, list):
            self.add("must be an array", at)
            return []
        if required and not value:
            self.add("must contain at least 1 items", at)
        if len(value) > limit:
            self.add(f"no more than {limit} items allowed", at)
        return value

    def string(self, holder: Json, name: str, at: str, limit: int, *, required: bool = False, count: bool = True) -> None:
        """Check a string field's presence, type and length."""
        value = holder.get(name)
        if value is None:
            if required:
                self.missing(at, name)
            return
        if not isinstance(value, str):
            self.add("must be a string", f"{at}/{name}")
            return
        if required and not value:
            self.add("must be more than 0 characters", f"{at}/{name}")
        if len(value) > limit:
            self.add(f"must be less than {limit + 1} characters", f"{at}/{name}")
        if count and name == "text":
            self.chars += len(value)


def no_extras(value: Json, allowed: frozenset[str], at: str, problems: Problems) -> None:
    """Slack refuses fields it does not know."""
    if not value.keys() <= allowed:
        for name in value.keys() - allowed:
            problems.add(f"invalid additional property: {name}", at)


_PLAIN = frozenset({"type", "text", "emoji"})
_MRKDWN = frozenset({"type", "text", "verbatim"})


def text_object(value: Any, at: str, problems: Problems, *, limit: int, plain: bool = False) -> None:
    """A plain_text or mrkdwn object of 1..limit characters."""
    if value is None:
        problems.missing(at.rpartition("/")[0], at.rpartition("/")[2])
        return
    if not isinstance(value, dict):
        problems.add("must be an object", at)
        return
    kind = kind_of(value)
    if kind == "plain_text":
        no_extras(value, _PLAIN, at, problems)
    elif kind == "mrkdwn" and not plain:
        no_extras(value, _MRKDWN, at, problems)
    else:
        problems.unsupported(value, at)
        return
    problems.string(value, "text", at, limit, required=True)


def _confirm(value: Any, at: str, problems: Problems) -> None:
    if not isinstance(value, dict):
        problems.add("must be an object", at)
        return
    no_extras(value, frozenset({"title", "text", "confirm", "deny", "style"}), at, problems)
    text_object(value.get("title"), f"{at}/title", problems, limit=100, plain=True)
    text_object(value.get("text"), f"{at}/text", problems, limit=300)
    text_object(value.get("confirm"), f"{at}/confirm", problems, limit=30, plain=True)
    text_object(value.get("deny"), f"{at}/deny", problems, limit=30, plain=True)


def _options(element: Json, at: str, problems: Problems, limit: int, *, least: int = 1, plain: bool = True) -> None:
    options = problems.items(element.get("options"), f"{at}/options", limit, required="option_groups" not in element)
    if options and len(options) < least:
        problems.add(f"must contain at least {least} items", f"{at}/options")
    for n, option in enumerate(options):
        _option(option, f"{at}/options/{n}", problems, plain=plain)
    for g, group in enumerate(problems.items(element.get("option_groups"), f"{at}/option_groups", 100)):
        where = f"{at}/option_groups/{g}"
        if not isinstance(group, dict):
            problems.add("must be an object", where)
            continue
        text_object(group.get("label"), f"{where}/label", problems, limit=75, plain=True)
        for n, option in enumerate(problems.items(group.get("options"), f"{where}/options", 100, required=True)):
            _option(option, f"{where}/options/{n}", problems, plain=plain)


def _option(option: Any, at: str, problems: Problems, *, plain: bool) -> None:
    if not isinstance(option, dict):
        problems.add("must be an object", at)
        return
    no_extras(option, frozenset({"text", "value", "description", "url"}), at, problems)
    text_object(option.get("text"), f"{at}/text", problems, limit=75, plain=plain)
    problems.string(option, "value", at, 150, required=True)
    if "description" in option:
        text_object(option["description"], f"{at}/description", problems, limit=75, plain=plain)


def _button(element: Json, at: str, problems: Problems) -> None:
    no_extras(element, frozenset({"type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label", "agent_prompt"}), at, problems)
    text_object(element.get("text"), f"{at}/text", problems, limit=75, plain=True)
    problems.string(element, "value", at, 2000)
    problems.string(element, "url", at, 3000)
    problems.string(element, "accessibility_label", at, 75)
    if element.get("style") not in (None, "primary", "danger"):
        problems.add("must be one of: primary, danger", f"{at}/style")


def _feedback(element: Json, at: str, problems: Problems) -> None:
    no_extras(element, frozenset({"type", "action_id", "positive_button", "negative_button"}), at, problems)
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        if not isinstance(button, dict):
            problems.missing(at, name)
            continue
        text_object(button.get("text"), f"{at}/{name}/text", problems, limit=75, plain=True)
        problems.string(button, "value", f"{at}/{name}", 2000, required=True)
        problems.string(button, "accessibility_label", f"{at}/{name}", 75)


def _icon(element: Json, at: str, problems: Problems) -> None:
    allowed = frozenset({"type", "action_id", "icon", "text", "value", "confirm", "accessibility_label", "visible_to_user_ids"})
    no_extras(element, allowed, at, problems)
    problems.string(element, "icon", at, 75, required=True)
    text_object(element.get("text"), f"{at}/text", problems, limit=75, plain=True)
    problems.string(element, "value", at, 2000)


def _image(element: Json, at: str, problems: Problems) -> None:
    no_extras(element, frozenset({"type", "image_url", "alt_text", "slack_file", "image_width", "image_height", "image_bytes", "fallback"}), at, problems)
    if "slack_file" not in element:
        problems.string(element, "image_url", at, 3000, required=True)
    problems.string(element, "alt_text", at, 2000, required=True)


def _menu(limit: int, *, least: int = 1, plain: bool = True) -> Callable[[Json, str, Problems], None]:
    def check(element: Json, at: str, problems: Problems) -> None:
        _options(element, at, problems, limit, least=least, plain=plain)

    return check


def _text_input(element: Json, at: str, problems: Problems) -> None:
    for name in ("min_length", "max_length"):
        value = element.get(name)
        if value is not None and (not isinstance(value, int) or not 0 <= value <= 3000):
            problems.add("must be between 0 and 3000", f"{at}/{name}")
    problems.string(element, "initial_value", at, 3000)


def _anything(element: Json, at: str, problems: Problems) -> None:
    """No rules beyond the common ones."""


_CHECKS: dict[str, Callable[[Json, str, Problems], None]] = {
    "button": _button,
    "feedback_buttons": _feedback,
    "icon_button": _icon,
    "image": _image,
    "overflow": _menu(5),
    "checkboxes": _menu(10, plain=False),
    "radio_buttons": _menu(10, plain=False),
    "static_select": _menu(100),
    "multi_static_select": _menu(100),
    "plain_text_input": _text_input,
    "workflow_button": _anything,
}
_PICKERS = ("external_select", "users_select", "conversations_select", "channels_select")
_CHECKS |= dict.fromkeys((*_PICKERS, *(f"multi_{p}" for p in _PICKERS)), _anything)
_CHECKS |= dict.fromkeys(
    ("datepicker", "timepicker", "datetimepicker", "rich_text_input", "email_text_input", "url_text_input", "number_input", "file_input"), _anything
)

ELEMENTS = frozenset(_CHECKS)
INPUT_ELEMENTS = ELEMENTS - {"button", "feedback_buttons", "icon_button", "image", "overflow", "workflow_button"}


def check_element(element: Any, at: str, problems: Problems, allowed: frozenset[str]) -> None:
    """Check one element that must be of an `allowed` type."""
    if element is None:
        problems.missing(at.rpartition("/")[0], at.rpartition("/")[2])
        return
    kind = kind_of(element)
    if kind not in allowed:
        problems.unsupported(element, at)
        return
    problems.string(element, "action_id", at, 255)
    if "placeholder" in element:
        text_object(element["placeholder"], f"{at}/placeholder", problems, limit=150, plain=True)
    if "confirm" in element:
        _confirm(element["confirm"], f"{at}/confirm", problems)
    _CHECKS[kind](element, at, problems)
