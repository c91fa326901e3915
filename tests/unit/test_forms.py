"""What the forms promise: every argument can be edited or is kept, what nobody changed stays the same, and complaints are friendly."""

# ruff: noqa: E501 - tables of cases read best with one case, or one family of them, a line

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_sdk.models.views import View

from bot.forms import deny_view, edit_view, field_errors, read_form
from tools.schema import parameters


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    street: str
    zip: int


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    order_id: Annotated[str, Field(description="Full order number", min_length=3, max_length=20)]
    reason: Annotated[str, Field(max_length=500)] = ""
    count: Annotated[int, Field(ge=1, le=9)] = 1
    price: float | None = None
    urgent: bool = False
    colour: Colour = Colour.RED
    size: Literal["s", "m", 1] = "s"
    tags: list[str] = []
    address: Inner | None = None
    mixed: int | str = 0


SCHEMA = parameters(Arguments)
FULL: dict[str, Any] = {
    "order_id": "A-1", "reason": "because", "count": 2, "price": 1.5, "urgent": True, "colour": "blue", "size": 1, "tags": ["a", "b c"], "address": {"street": "x", "zip": 1}, "mixed": "y",
}  # fmt: skip


def view_of(schema: dict[str, Any], arguments: dict[str, Any], language: str = "en") -> dict[str, Any]:
    view = edit_view(schema, arguments, approval_id="apr_1", session_id="T1:C1:1.2", title="Cancel order", language=language)
    View(**view).validate_json()
    assert len(view["blocks"]) <= 100
    assert len(json.dumps(view)) <= 250_000
    assert len(view["title"]["text"]) <= 24
    assert len(view["submit"]["text"]) <= 24
    assert len(view["close"]["text"]) <= 24
    ids = [block["block_id"] for block in view["blocks"] if "block_id" in block]
    assert len(ids) == len(set(ids))
    assert all(len(block_id) <= 255 for block_id in ids)
    for block in view["blocks"]:
        element = block.get("element", {})
        assert len(element.get("initial_value", "").encode("utf-16-le")) // 2 <= element.get("max_length", 3_000)
        if "initial_option" in element:
            assert element["initial_option"] in element["options"]
    return view


def submitted(view: dict[str, Any], **typed: Any) -> dict[str, Any]:
    """`state.values` as Slack sends them for this view: the initial values, but for the fields `typed` names."""
    values: dict[str, Any] = {}
    for block in view["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        name = block["block_id"].removeprefix("field:")
        if element["type"] == "static_select":
            options = {option["text"]["text"]: option for option in element["options"]}
            chosen = options[typed[name]] if typed.get(name) is not None else None if name in typed else element.get("initial_option")
            state: dict[str, Any] = {"type": "static_select", "selected_option": chosen}
        else:
            state = {"type": "plain_text_input", "value": typed.get(name, element.get("initial_value"))}
        values[block["block_id"]] = {element["action_id"]: state}
    return values


def element(view: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(block["element"] for block in view["blocks"] if block.get("block_id") == f"field:{name}")
    return found


def test_a_form_has_an_input_for_every_kind_of_argument() -> None:
    view = view_of(SCHEMA, FULL)

    assert view["callback_id"] == "steward:edit"
    assert json.loads(view["private_metadata"]) == {"a": "apr_1", "s": "T1:C1:1.2"}
    assert [block["label"]["text"] for block in view["blocks"][1:]] == [
        "Order id",
        "Reason",
        "Count",
        "Price",
        "Urgent",
        "Colour",
        "Size",
        "Tags",
        "Address",
        "Mixed",
    ]
    assert element(view, "order_id") == {
        "type": "plain_text_input",
        "action_id": "value",
        "multiline": False,
        "initial_value": "A-1",
        "min_length": 3,
        "max_length": 20,
    }
    assert element(view, "reason")["multiline"] is True
    assert [option["text"]["text"] for option in element(view, "urgent")["options"]] == ["Yes", "No"]
    assert element(view, "colour")["initial_option"]["text"]["text"] == "blue"
    assert element(view, "size")["initial_option"]["text"]["text"] == "1"
    assert element(view, "tags")["initial_value"] == "a\nb c"
    assert json.loads(element(view, "address")["initial_value"]) == {"street": "x", "zip": 1}
    assert view["blocks"][1]["hint"]["text"] == "Full order number"
    assert view["blocks"][1]["optional"] is False
    assert view["blocks"][2]["optional"] is True


def test_the_tools_whole_definition_is_understood_too() -> None:
    definition = {"type": "function", "function": {"name": "x", "description": "y", "parameters": SCHEMA}}

    assert view_of(definition, FULL) == view_of(SCHEMA, FULL)


@pytest.mark.parametrize(
    "arguments",
    [
        FULL,
        {"order_id": "A-1"},
        {"order_id": "A-1", "price": None, "address": None, "tags": [], "reason": ""},
        Arguments(order_id="abc").model_dump(mode="json"),
    ],
)
def test_a_form_submitted_as_it_was_changes_nothing(arguments: dict[str, Any]) -> None:
    assert read_form(SCHEMA, arguments, submitted(view_of(SCHEMA, arguments))) == arguments


def test_every_kind_of_argument_can_be_changed() -> None:
    typed = {
        "order_id": "B-2",
        "reason": "new\nlines",
        "count": " 3 ",
        "price": "2.25",
        "urgent": "No",
        "colour": "red",
        "size": "m",
        "tags": "x\n\n y \n",
        "address": '{"street":"z","zip":2}',
        "mixed": "5",
    }
    changed = read_form(SCHEMA, FULL, submitted(view_of(SCHEMA, FULL), **typed))

    assert changed == {
        "order_id": "B-2", "reason": "new\nlines", "count": 3, "price": 2.25, "urgent": False, "colour": "red", "size": "m", "tags": ["x", "y"], "address": {"street": "z", "zip": 2}, "mixed": 5,
    }  # fmt: skip
    assert Arguments.model_validate(changed)


def test_an_emptied_optional_field_falls_back_to_its_default() -> None:
    emptied = read_form(SCHEMA, FULL, submitted(view_of(SCHEMA, FULL), reason=None, price="", tags="", address=None, urgent=None))

    assert Arguments.model_validate(emptied) == Arguments.model_validate({"order_id": "A-1", "count": 2, "colour": "blue", "size": 1, "mixed": "y"})


def test_what_cannot_be_read_is_left_for_validation_to_refuse() -> None:
    wrong = read_form(SCHEMA, FULL, submitted(view_of(SCHEMA, FULL), count="many", price="x", address="{", tags="ok"))

    assert (wrong["count"], wrong["price"], wrong["address"]) == ("many", "x", "{")
    forged = submitted(view_of(SCHEMA, FULL))
    forged["field:colour"]["value"]["selected_option"] = {"value": "99"}
    assert read_form(SCHEMA, FULL, forged)["colour"] == "99"


@pytest.mark.parametrize("text", ["x" * 3_001, "👩" * 1_501, "a\x00b", "a\r\nb", "\ud800"])
def test_a_text_no_input_can_hold_is_shown_and_kept(text: str) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "other": {"type": "string"}}}
    view = view_of(schema, {"text": text, "other": "o"})

    assert [block["type"] for block in view["blocks"]] == ["header", "rich_text", "input"]
    assert "stays as it is" in json.dumps(view["blocks"][1])
    assert read_form(schema, {"text": text, "other": "o"}, submitted(view, other="p")) == {"text": text, "other": "p"}


def test_a_tool_with_very_many_arguments_keeps_those_that_do_not_fit() -> None:
    schema = {"type": "object", "properties": {f"argument_{n}": {"type": "string"} for n in range(150)}}
    arguments = {f"argument_{n}": "字" * 200 for n in range(150)}
    view = view_of(schema, arguments)

    assert "more values do not fit" in view["blocks"][-1]["text"]["text"]
    assert read_form(schema, arguments, submitted(view, argument_0="new")) == {**arguments, "argument_0": "new"}


def test_a_tool_without_arguments_says_so() -> None:
    view = view_of({"type": "object", "properties": {}}, {})

    assert "nothing to edit" in view["blocks"][-1]["text"]["text"]


def test_a_value_longer_than_its_limit_does_not_lock_the_form() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}, "required": ["text"]}

    assert element(view_of(schema, {"text": "👩👩👩"}), "text")["max_length"] == 6


ODD = st.one_of(st.text(max_size=30), st.sampled_from(["", " ", "a\nb", "a\r\nb", "\x00", "\ud800", "字" * 3_001, "1", "true", "null", "[]", " x "]))
JSON = st.recursive(
    st.one_of(ODD, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ODD, inner, max_size=3)),
    max_leaves=5,
)
PROPERTY = st.sampled_from(
    [
        {"type": "string"}, {"type": "string", "minLength": 2, "maxLength": 10}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"enum": ["a", "b", 1, None]}, {"const": "x"},
        {"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}, {"type": "object"}, {}, {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"$ref": "#/$defs/D"}, {"allOf": [{"$ref": "#/$defs/D"}], "description": "d"}, {"$ref": "#/$defs/Gone"},
        {"enum": [str(n) for n in range(200)]}, {"type": "string", "description": "long " * 900},
    ]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.one_of(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), ODD), st.tuples(PROPERTY, st.booleans(), JSON, st.booleans()), max_size=6),
    st.sampled_from(["en", "zh"]),
)
def test_any_schema_and_arguments_make_a_form_that_changes_nothing_by_itself(made: dict[str, tuple[dict[str, Any], bool, Any, bool]], language: str) -> None:
    schema = {
        "type": "object", "$defs": {"D": {"enum": ["p", "q"]}}, "properties": {name: node for name, (node, *_) in made.items()}, "required": [name for name, (_, needed, *_) in made.items() if needed],
    }  # fmt: skip
    arguments = {name: value for name, (_, _, value, given_) in made.items() if given_}
    view = view_of(schema, arguments, language)

    after = read_form(schema, arguments, submitted(view))

    assert json.dumps(after, sort_keys=True) == json.dumps(arguments, sort_keys=True)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_deny_form_asks_why(language: str) -> None:
    view = deny_view("apr_1", "T1:C1:1.2", language)

    View(**view).validate_json()
    assert view["callback_id"] == "steward:deny"
    assert json.loads(view["private_metadata"]) == {"a": "apr_1", "s": "T1:C1:1.2"}
    assert [block["element"]["type"] for block in view["blocks"]] == ["plain_text_input"]


def complaints(arguments: dict[str, Any], language: str = "en") -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        Arguments.model_validate(arguments)
    return field_errors(caught.value.errors(include_url=False), language)


def test_complaints_stand_beside_their_fields_in_plain_words() -> None:
    found = complaints(
        {
            "order_id": "A",
            "reason": "x" * 501,
            "count": "many",
            "price": "x",
            "colour": "green",
            "size": "xl",
            "address": {"street": "x"},
            "tags": 5,
            "urgent": "perhaps",
            "else": 1,
        }
    )

    assert found == {
        "field:order_id": "Too short: at least 3 characters.",
        "field:reason": "Too long: at most 500 characters.",
        "field:count": "Please write a whole number, such as 12.",
        "field:price": "Please write a number, such as 12.5.",
        "field:urgent": "Please choose yes or no.",
        "field:colour": "Must be one of: 'red' or 'blue'.",
        "field:size": "Must be one of: 's', 'm' or 1.",
        "field:tags": "This is not valid JSON of the expected form.",
        "field:address": "This is needed.",
        "field:else": "This value is not known here.",
    }
    assert complaints({"order_id": "A-1", "count": 99}, "zh") == {"field:count": "不能大于 9。"}
    assert complaints({}) == {"field:order_id": "This is needed."}


def test_a_complaint_about_the_whole_or_about_a_hidden_field_stands_beside_the_first_field() -> None:
    errors = [
        {"type": "value_error", "loc": (), "msg": "Value error, dates are the wrong way round"},
        {"type": "missing", "loc": ("hidden_one",), "msg": "Field required"},
    ]

    assert field_errors(errors, "en", ["field:a", "field:b"]) == {"field:a": "Not accepted: dates are the wrong way round"}
    assert field_errors(errors[1:], "en", ["field:a"]) == {"field:a": "Hidden one: This is needed."}
