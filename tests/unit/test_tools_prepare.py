"""`prepare`, `canonical`, `digest`: the pure half of a tool call."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from tools import Registry, ToolResult, tool
from tools.engine import InvalidArguments, Prepared, canonical, digest, prepare, validate
from tools.prepare import MAX_RAW
from tools.result import ErrorCode, Suggestion


class Item(BaseModel):
    name: str
    count: Annotated[int, Field(ge=1)] = 1


def not_weekend(day: date) -> date:
    if day.weekday() > 4:
        raise ValueError("the office is closed on weekends")
    return day


def faulty(value: str) -> str:
    known: dict[str, str] = {}
    return known[value]


@tool(effect="write", aliases=("bookRoom",))
async def book_room(  # noqa: PLR0917 - one field of every kind
    room: Annotated[str, Field(pattern="^[A-Z][0-9]+$")],
    day: Annotated[date, AfterValidator(not_weekend)],
    hours: Annotated[int, Field(ge=1, le=8)] = 1,
    kind: Literal["desk", "meeting"] = "desk",
    items: list[Item] | None = None,
    price: float = 0.0,
) -> str:
    """Book one room for a day. Use only when the person asks for it."""
    return room


@tool(effect="read")
def ping() -> str:
    """Answer with a word to show that tools work at all."""
    return "pong"


@tool(effect="read")
def odd(value: Annotated[str, AfterValidator(faulty)]) -> str:
    """A tool whose own validator has a mistake in it."""
    return value


REGISTRY = Registry([book_room, ping, odd])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=5)


def refused(name: str, raw: str) -> ToolResult:
    result = prepare(REGISTRY, name, raw)
    assert isinstance(result, ToolResult)
    assert not result.success
    return result


def test_good_arguments_come_out_validated_json_compatible_and_complete() -> None:
    call = prepare(REGISTRY, "bookRoom", '{"day": "2024-05-20", "room": "B12", "items": [{"name": "灯"}]}')

    assert isinstance(call, Prepared)
    assert call.tool is book_room
    assert call.arguments == {"room": "B12", "day": "2024-05-20", "hours": 1, "kind": "desk", "items": [{"name": "灯", "count": 1}], "price": 0.0}
    assert call.raw.startswith('{"day"')


@pytest.mark.parametrize("raw", ["", "  \n", "{}"])
def test_no_arguments_are_an_empty_object(raw: str) -> None:
    call = prepare(REGISTRY, "ping", raw)

    assert isinstance(call, Prepared)
    assert call.arguments == {}


def test_an_unknown_tool_is_answered_with_close_names_and_the_list() -> None:
    result = refused("book_rom", '{"room": 1}')

    assert (result.error_code, result.suggestion, result.tool_name) == (ErrorCode.UNKNOWN_TOOL, Suggestion.USE_OTHER_TOOL, "book_rom")
    assert result.error_message == "There is no tool 'book_rom'. Did you mean 'book_room'? The tools are: book_room, ping, odd."


def test_an_absurd_tool_name_is_cut() -> None:
    result = refused("x\ud800\x00" * 100_000, "{}")

    assert len(result.tool_name) <= 100
    assert len(result.error_message or "") < 300
    json.dumps(result.model_dump(mode="json"), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("{room: 1}", "not valid JSON .* at character 1, near"),
        ('{"room": "B1"', "not valid JSON"),
        ('["B1"]', "are a list, not an object"),
        ('"B1"', "are a text, not an object"),
        ("null", "are null, not an object"),
        ("true", "are true or false"),
        ("12", "are a number"),
        ('{"room": "A1", "room": "B1"}', "name 'room' twice"),
        ('{"price": NaN}', "hold NaN"),
        ('{"price": -Infinity}', "hold -Infinity"),
        ('{"price": ' + "9" * 5000 + "}", "a number that is too long"),
        ("[" * 60_000, "nested too deeply"),
    ],
)
def test_what_is_not_one_json_object_is_refused_with_the_reason(raw: str, reason: str) -> None:
    result = refused("book_room", raw)

    assert (result.error_code, result.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert result.error_message is not None
    assert re.search(reason, result.error_message)
    assert result.error_message.endswith('Send one JSON object, for example {"room": "...", "day": "..."}.')


def test_every_wrong_field_is_named_with_what_was_sent_and_what_is_accepted() -> None:
    result = refused("book_room", '{"room": "12b", "hours": 9.5, "kind": "bed", "items": [{"count": 0}], "dya": "2024-05-20"}')

    assert (result.error_code, result.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert (result.error_message or "").splitlines() == [
        "These arguments are not accepted:",
        "- room: String should match pattern '^[A-Z][0-9]+$'. Sent: \"12b\". Accepted: text matching ^[A-Z][0-9]+$.",
        "- day: required, but nothing was sent. Accepted: a date like 2024-05-20.",
        "- hours: Input should be a valid integer, got a number with a fractional part. Sent: 9.5. Accepted: integer from 1 to 8.",
        '- kind: Input should be \'desk\' or \'meeting\'. Sent: "bed". Accepted: one of "desk", "meeting".',
        "- items.0.name: required, but nothing was sent. Accepted: text.",
        "- items.0.count: Input should be greater than or equal to 1. Sent: 0. Accepted: integer at least 1.",
        '- dya: no such argument; did you mean day? Sent: "2024-05-20". Accepted: only room, day, hours, kind, items, price.',
    ]


def test_a_rule_of_the_tools_own_speaks_in_its_own_words() -> None:
    message = refused("book_room", '{"room": "B1", "day": "2024-05-19"}').error_message

    assert message == 'These arguments are not accepted:\n- day: the office is closed on weekends. Sent: "2024-05-19". Accepted: a date like 2024-05-20.'


def test_the_errors_are_data_for_a_form() -> None:
    with pytest.raises(InvalidArguments) as caught:
        validate(book_room, {"room": "B1", "day": "2024-05-20", "hours": 0})

    assert [(error.field, error.sent, error.accepted) for error in caught.value.errors] == [("hours", "0", "integer from 1 to 8")]


def test_a_tool_without_arguments_says_so() -> None:
    assert (refused("ping", '{"a": 1}').error_message or "").endswith("- a: no such argument. Sent: 1. Accepted: no arguments at all.")


def test_a_thousand_errors_make_a_short_message() -> None:
    result = refused("book_room", json.dumps({"room": "B1", "day": "2024-05-20", "items": [{"name": i} for i in range(1000)]}))

    assert len(result.error_message or "") < 3000
    assert "and 988 more" in (result.error_message or "")


def test_large_arguments_are_not_even_read() -> None:
    result = refused("book_room", "[" * (MAX_RAW + 1))

    assert (result.error_code, result.suggestion) == (ErrorCode.TOO_LARGE, Suggestion.FIX_ARGUMENTS)
    assert len(result.raw_arguments) <= 1000


@pytest.mark.parametrize("raw", [r'{"room": "\ud800", "day": "2024-05-20"}', r'{"room": "B1", "day": "2024-05-20", "items": [{"name": "\udfff"}]}'])
def test_half_an_emoji_is_refused_and_the_message_can_be_sent(raw: str) -> None:
    result = refused("book_room", raw)

    assert result.error_code == ErrorCode.INVALID_ARGUMENTS
    json.dumps(result.model_dump(mode="json"), ensure_ascii=False).encode()


def test_a_number_written_as_nan_is_refused() -> None:
    assert refused("book_room", '{"room": "B1", "day": "2024-05-20", "price": "NaN"}').error_code == ErrorCode.INVALID_ARGUMENTS


def test_a_fault_in_a_tools_own_validator_is_the_tools_fault() -> None:
    result = refused("odd", '{"value": "x"}')

    assert (result.error_code, result.suggestion) == (ErrorCode.INTERNAL, Suggestion.GIVE_UP)
    assert "KeyError" not in (result.error_message or "")


@settings(deadline=None)
@given(st.text() | JSON.map(json.dumps) | OBJECTS.map(json.dumps))
def test_whatever_the_model_writes_prepare_answers(raw: str) -> None:
    for name in ("book_room", "ping", raw[:20]):
        outcome = prepare(REGISTRY, name, raw)
        assert isinstance(outcome, Prepared) or outcome.error_message
        text = str(outcome.arguments if isinstance(outcome, Prepared) else outcome.model_dump_json())
        text.encode()


@settings(deadline=None)
@given(OBJECTS)
def test_equal_arguments_have_one_canonical_text_whatever_their_order(arguments: dict[str, Any]) -> None:
    turned = dict(reversed(arguments.items()))

    assert canonical(arguments) == canonical(turned) == canonical(json.loads(canonical(arguments)))
    assert json.loads(canonical(arguments)) == arguments


def test_the_canonical_text_has_no_spaces_and_no_needless_escapes() -> None:
    assert canonical({"b": [1, 2.5], "a": {"é": "订单"}}) == '{"a":{"é":"订单"},"b":[1,2.5]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_carry_has_no_canonical_text(value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical({"a": [value]})


@settings(deadline=None)
@given(OBJECTS, OBJECTS)
def test_digests_are_equal_only_for_equal_arguments(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (digest(ping, one, "s", "r", "c") == digest(ping, other, "s", "r", "c")) == (canonical(one) == canonical(other))


def test_a_digest_depends_on_every_part() -> None:
    base: list[Any] = [book_room, {"room": "B1"}, "s", "r", "c"]
    changed = [
        [ping, *base[1:]],
        [dataclasses.replace(book_room, name="book_room2"), *base[1:]],
        [dataclasses.replace(book_room, description="Book one room for a day, and a second one."), *base[1:]],
        [dataclasses.replace(book_room, args_model=ping.args_model), *base[1:]],
        [base[0], {"room": "B2"}, *base[2:]],
        [*base[:2], "s2", "r", "c"],
        [*base[:3], "r2", "c"],
        [*base[:4], "c2"],
        [*base[:2], "sr", "", "c"],
    ]

    digests = {digest(*parts) for parts in [base, *changed]}

    assert len(digests) == len(changed) + 1
    assert all(len(value) == 64 for value in digests)


def test_arguments_equal_in_their_first_thousands_of_characters_have_two_digests() -> None:
    long = "x" * 5000

    assert digest(ping, {"a": long + "1"}, "s", "r", "c") != digest(ping, {"a": long + "2"}, "s", "r", "c")
