"""`prepare`, `canonical`, `digest`: the pure half of a tool call."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from tools import Registry, ToolResult, tool
from tools.placeholders import is_placeholder
from tools.prepare import MAX_RAW, InvalidArguments, Prepared, canonical, digest, dump, prepare, typed, validate
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
    room: Annotated[str, Field(description="Letter of the floor and number of the door, e.g. B12", pattern="^[A-Z][0-9]+$")],
    day: Annotated[date, AfterValidator(not_weekend), Field(description="A working day, e.g. 2024-05-20")],
    hours: Annotated[int, Field(description="How long it is needed", ge=1, le=8)] = 1,
    kind: Annotated[Literal["desk", "meeting"], Field(description="For one person or for several")] = "desk",
    items: Annotated[list[Item] | None, Field(description="What must stand ready in it")] = None,
    price: Annotated[float, Field(description="The most it may cost, in euros; 0 for no limit")] = 0.0,
) -> str:
    """Book one room for a day. Use only when the person asks for it."""
    return room


@tool(effect="read")
def ping() -> str:
    """Answer with a word to show that tools work at all."""
    return "pong"


@tool(effect="read")
def odd(value: Annotated[str, AfterValidator(faulty), Field(description="Anything at all, it is never found")]) -> str:
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
        ("{room: B1}", "not valid JSON .* at character 7, near"),
        ('{"room": "B1', "not valid JSON"),
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
        "- hours: Input should be a valid integer. Sent: 9.5. Accepted: integer from 1 to 8.",
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
    result = refused("book_room", json.dumps({"room": "B1", "day": "2024-05-20", "items": [{"name": [i]} for i in range(1000)]}))

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


@pytest.mark.parametrize(
    ("raw", "repaired", "changes"),
    [
        ('{"room": "B1", "day": "2024-05-20"}', False, ()),
        ('{"room": "B1", "day": "2024-05-20", "hours": 2.0, "kind": null}', False, ("hours: 2.0 read as 2", "kind: null left out")),
        ('{"room": "B1", "day": "2024-05-20", "hours": "2"}', True, ('hours: "2" read as 2',)),
        ("{'room': 'B1', 'day': '2024-05-20'}", True, ("single quotes",)),
        ('{"Room": "B1", "day": "2024/5/20",}', True, ("trailing comma", 'Room: "Room" read as "room"', 'day: "2024/5/20" read as "2024-05-20"')),
    ],
)
def test_a_call_says_how_its_reading_differs_from_what_was_written(raw: str, repaired: bool, changes: tuple[str, ...]) -> None:
    call = prepare(REGISTRY, "book_room", raw)

    assert isinstance(call, Prepared)
    assert (call.repaired, call.changes) == (repaired, changes)
    assert {"room": "B1", "day": "2024-05-20"}.items() <= call.arguments.items()
    assert call.raw == raw


def test_what_was_sent_is_told_as_it_was_sent() -> None:
    assert (refused("book_room", '{"room": "B1", "day": "2024/5/20", "hours": "９"}').error_message or "").splitlines()[1:] == [
        '- hours: Input should be less than or equal to 8. Sent: "９". Accepted: integer from 1 to 8.'
    ]


@pytest.mark.parametrize("name", ["Ping", "PING", "ping_", "functions.ping", "default_api.ping"])
def test_a_read_is_found_under_another_style_of_its_name(name: str) -> None:
    call = prepare(REGISTRY, name, "{}")

    assert isinstance(call, Prepared)
    assert call.tool is ping
    assert call.changes == (f"tool name {name!r} read as 'ping'",)
    assert not call.repaired


@pytest.mark.parametrize("name", ["BookRoom", "book-room", "functions.book_room", "Book_Room"])
def test_a_write_is_never_guessed(name: str) -> None:
    result = refused(name, '{"room": "B1", "day": "2024-05-20"}')

    assert result.error_code == ErrorCode.UNKNOWN_TOOL
    assert "Did you mean 'book_room'" in (result.error_message or "")


@pytest.mark.parametrize("name", ["pin", "pong", "", "-", "functions.", "ping.ping"])
def test_a_read_with_a_name_of_other_letters_is_not_guessed(name: str) -> None:
    assert refused(name, "{}").error_code == ErrorCode.UNKNOWN_TOOL


def test_a_style_that_two_tools_share_is_not_guessed() -> None:
    twins = Registry([ping, dataclasses.replace(ping, name="p_ing", description="Measure how long the network takes to answer a packet.")])

    assert isinstance(prepare(twins, "PING", "{}"), ToolResult)


def test_a_marker_for_another_calls_result_is_refused_with_the_way_out() -> None:
    result = refused("book_room", '{"room": "<room from previous call>", "day": "{{day}}", "hours": 9, "items": [{"name": "$call_1.name"}]}')

    assert (result.error_code, result.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert (result.error_message or "").splitlines() == [
        "These arguments are not accepted:",
        '- room: stands for the result of another call. Sent: "<room from previous call>". Accepted: the value itself.',
        '- day: stands for the result of another call. Sent: "{{day}}". Accepted: the value itself.',
        '- items.0.name: stands for the result of another call. Sent: "$call_1.name". Accepted: the value itself.',
        "- hours: Input should be less than or equal to 8. Sent: 9. Accepted: integer from 1 to 8.",
        "Calls of one answer run independently: make the other call first, read its result, then call 'book_room' with the real value.",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order_id", "<order id from previous call>"),
        ("order_id", "{{order_id}}"),
        ("order_id", "${result.id}"),
        ("order_id", "[order_id]"),
        ("orderId", "$order_id"),
        ("order_id", "<上一步的订单号>"),
        ("order_id", "＜订单号＞"),
        ("id", "$call_1.id"),
        ("id", "【第一步的返回结果】"),
        ("city", "<city>"),
        ("x", "[result of get_order]"),
        ("x", "ORDER_ID_FROM_PREVIOUS_CALL"),
        ("query", "<result of the previous call>"),
    ],
)
def test_a_marker_is_recognised(name: str, value: str) -> None:
    assert is_placeholder(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", "<b>hello</b>"),
        ("text", "<order id from previous call>"),
        ("messageBody", "{{name}}"),
        ("x", "see <order id from previous call>"),
        ("channel", "<#C123|general>"),
        ("user", "<@U123>"),
        ("link", "<https://example.com/a b|result of call>"),
        ("tag", "<br />"),
        ("tag", '<div class="x">'),
        ("tag", "<input disabled>"),
        ("kind", "<int>"),
        ("ticker", "$ACME"),
        ("price", "$100"),
        ("path", "$HOME"),
        ("label", "[urgent]"),
        ("name", "《三体》"),
        ("name", "TODO"),
        ("query", "{{name}}"),
        ("query", "<div>"),
        ("value", "[1, 2]"),
        ("value", '{"a": 1}'),
        ("country", "USA"),
        ("x", ""),
        ("x", "<>"),
    ],
)
def test_what_only_looks_like_a_marker_is_let_through(name: str, value: str) -> None:
    assert not is_placeholder(name, value)


@tool(effect="read")
def kinds(  # noqa: PLR0917 - one field of every kind
    moment: Annotated[datetime | None, Field(description="When it happened, ISO 8601")] = None,
    money: Annotated[Decimal | None, Field(description="How much it cost, in euros")] = None,
    rate: Annotated[float | None, Field(description="How fast it went, in km/h")] = None,
    one: Annotated[Literal[1] | None, Field(description="Always one, if it is given")] = None,
    span: Annotated[timedelta | None, Field(description="How long it took, ISO 8601")] = None,
    flags: Annotated[set[int] | None, Field(description="Marks it was given, in any order")] = None,
    pair: Annotated[tuple[int, str] | None, Field(description="Place and name of the winner")] = None,
) -> str:
    """Record a race with everything that was measured about it."""
    return ""


KINDS = Registry([kinds])


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("moment", "1716190000"),
        ("moment", "20240520"),
        ("moment", 1716190000),
        ("moment", "2024-05-20"),
        ("money", "1,5"),
        ("money", True),
        ("rate", True),
        ("rate", 2**53 + 1),
        ("one", True),
        ("one", "one"),
        ("span", 60),
        ("span", "60"),
        ("flags", {"1": 1}),
        ("pair", [1]),
        ("pair", [1.5, "x"]),
    ],
)
def test_nothing_is_converted_behind_anyones_back(field: str, sent: Any) -> None:
    result = prepare(KINDS, "kinds", json.dumps({field: sent}))

    assert isinstance(result, ToolResult)
    assert f"- {field}" in (result.error_message or "")


@pytest.mark.parametrize(
    ("field", "sent", "read"),
    [
        ("moment", "2024-05-20T09:30:00Z", "2024-05-20T09:30:00Z"),
        ("money", "1,234.50", "1234.5"),
        ("money", 0.1, "0.1"),
        ("money", "0.1", "0.1"),
        ("rate", 2**53, float(2**53)),
        ("one", 1, 1),
        ("one", "1", 1),
        ("span", "PT1M", "PT1M"),
        ("flags", [1, 2.0], [1, 2]),
        ("pair", ["1", "x"], [1, "x"]),
    ],
)
def test_types_json_lacks_are_given_in_text_and_come_back(field: str, sent: Any, read: Any) -> None:
    call = prepare(KINDS, "kinds", json.dumps({field: sent}))

    assert isinstance(call, Prepared)
    assert call.arguments[field] == read
    assert validate(kinds, call.arguments) == call.arguments
    assert dump(typed(kinds, call.arguments)) == call.arguments


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(-(2**53), 2**53), st.randoms(use_true_random=False))
def test_equal_arguments_have_one_text_however_their_numbers_are_spelled(hours: int, price: int, chance: Any) -> None:
    foreign = dataclasses.replace(book_room, input_schema={"type": "object", "properties": {"hours": {"type": "integer"}, "price": {"type": "number"}}})
    for used in (book_room, foreign):
        texts = set()
        for number in (hours, float(hours), f" {hours} "):
            members = [("room", "B1"), ("day", "2024-05-20"), ("hours", number), ("price", chance.choice([price, float(price)]))]
            chance.shuffle(members)
            call = prepare(Registry([used]), "book_room", json.dumps(dict(members)))
            assert isinstance(call, Prepared)
            texts.add(canonical(call.arguments))
        assert len(texts) == 1


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
