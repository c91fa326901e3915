"""Settling spellings: only what the schema does not accept, only without loss, only when there is one way to read it."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import scalars
from tools.coerce import Change, coerce
from tools.fits import Schemas, fits, matches, same

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
TIME = {"type": "string", "format": "time"}
MOMENT = {"type": "string", "format": "date-time"}
STATE = {"type": "string", "enum": ["Open", "shipped", "A", "a"]}


def items(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": schema, **more}


def thing(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def either(*schemas: Any) -> dict[str, Any]:
    return {"anyOf": list(schemas)}


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        (INTEGER, "123", 123),
        (INTEGER, " １２３ ", 123),
        (INTEGER, "1,234,567", 1234567),
        (INTEGER, "12 345", 12345),
        (INTEGER, "-5", -5),
        (INTEGER, "5.00", 5),
        (INTEGER, 3.0, 3),
        (NUMBER, "1,234.50", 1234.5),
        (NUMBER, "1e3", 1000.0),
        (NUMBER, "−0.5", -0.5),
        (NUMBER, "7", 7),
        (BOOLEAN, "True", True),
        (BOOLEAN, "false", False),
        (BOOLEAN, "是", True),
        (BOOLEAN, "NO", False),
        (TEXT, 123, "123"),
        (DAY, "2024/5/20", "2024-05-20"),
        (DAY, "2024年5月20日", "2024-05-20"),
        (DAY, "2024 年 5 月 20 号", "2024-05-20"),
        (DAY, "20240520", "2024-05-20"),
        (DAY, "2024-05-20T00:00", "2024-05-20"),
        (TIME, "9:30", "09:30:00"),
        (TIME, "09：30", "09:30:00"),
        (MOMENT, "2024/5/20 9:30", "2024-05-20T09:30:00"),
        (MOMENT, "2024年5月20日 9:30:15+08:00", "2024-05-20T09:30:15+08:00"),
        (STATE, " open ", "Open"),
        (STATE, "SHIPPED", "shipped"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"const": "incident"}, "Incident", "incident"),
        (items(INTEGER), "[1, 2]", [1, 2]),
        (items(INTEGER), "5", [5]),
        (items(INTEGER), ["1", 2.0], [1, 2]),
        (items(TEXT), "a", ["a"]),
        (items(thing(a=INTEGER)), '{"a": "1"}', [{"a": 1}]),
        ({"type": "array", "prefixItems": [INTEGER, BOOLEAN]}, ["1", "true"], [1, True]),
        (thing(a=INTEGER), '{"a": 1}', {"a": 1}),
        (thing(order_id=INTEGER), {"orderId": "5"}, {"order_id": 5}),
        (thing(a=INTEGER), {"a": None}, {}),
        (either(INTEGER, {"type": "null"}), "5", 5),
        (either(DAY, INTEGER), "2024/5/20", "2024-05-20"),
        ({"type": ["boolean", "null"]}, "true", True),
        ({"allOf": [INTEGER]}, "5", 5),
        ({"$ref": "#/$defs/n", "$defs": {"n": INTEGER}}, "5", 5),
        ({"type": "object", "additionalProperties": INTEGER}, {"x": "5"}, {"x": 5}),
        (either(thing(("t", "n"), t={"const": "a"}, n=INTEGER), thing(("t", "n"), t={"const": "b"}, n=TEXT)), {"t": "b", "n": 5}, {"t": "b", "n": "5"}),
    ],
)
def test_another_spelling_of_the_same_is_settled(schema: dict[str, Any], sent: Any, read: Any) -> None:
    before = copy.deepcopy(sent)
    value, changes = coerce(sent, schema)

    assert same(value, read)
    assert type(value) is type(read)
    assert changes
    assert same(sent, before)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        *((INTEGER, sent) for sent in ("12abc", 1.5, "1.5", "1,23", "12,34", "1,2345", "007", "", "1e3", True, None, "0x10", "1_000", "²", "五", 1e300)),
        *((NUMBER, sent) for sent in ("1,23", "1.2.3", "5%", "$5", "NaN", "Infinity", "0.10000000000000000001", "1 23", False, "1e999")),
        *((BOOLEAN, sent) for sent in (1, 0, "1", "on", "y", "", "maybe")),
        *((TEXT, sent) for sent in (1.5, True, None, ["a"], {"a": 1})),
        *(
            (DAY, sent)
            for sent in (
                "05/06/2024",
                "20/05/2024",
                "2024-02-30",
                "2024/13/1",
                "24/5/20",
                "May 20",
                20240520,
                "2024-05-20T09:00",
                "2024-05-20T00:00Z",
                "2024-5/20",
            )
        ),
        *((TIME, sent) for sent in ("25:00", "9", "9pm", 930, "3点")),
        *((MOMENT, sent) for sent in ("2024-05-20", "20240520", "1716190000", "5/6/2024 9:00", "tomorrow")),
        *((STATE, sent) for sent in ("opened", "", 5)),
        ({"enum": ["YES", "yes"]}, "Yes"),
        *((items(TEXT), sent) for sent in ("a, b", "a；b", "a\nb", "", "  ", None, 1.5)),
        (items(items(INTEGER)), 5),
        (items(items(INTEGER)), [1, 2]),
        (items({}), "a"),
        (items(INTEGER), "1,2"),
        (thing(order_id=INTEGER), {"order_id": 1, "orderId": 2}),
        (thing(order_id=INTEGER), {"orderId": 1, "OrderID": 2}),
        (thing(order_id=INTEGER, orderid=INTEGER), {"orderId": 1}),
        ({"type": "object", "properties": {"order_id": INTEGER}}, {"orderId": 1}),
        (thing(("a",), a=INTEGER), {"a": None}),
        (thing(a=INTEGER), "[1]"),
        (thing(a=INTEGER), "{'a': 1}"),
        (either(INTEGER, TEXT), "5"),
        (either(INTEGER, BOOLEAN), "maybe"),
        (either({"enum": ["Yes"]}, {"enum": ["YES"]}), "yes"),
        ({}, "5"),
        ({"$ref": "https://elsewhere.example/schema"}, "5"),
        ({"$ref": "#/nowhere"}, "5"),
    ],
)
def test_what_is_not_the_same_beyond_doubt_stays_as_it_was(schema: dict[str, Any], sent: Any) -> None:
    value, changes = coerce(sent, schema)

    assert same(value, sent)
    assert type(value) is type(sent)
    assert changes == ()


def test_each_change_says_where_and_what() -> None:
    schema = thing(items=items(thing(("order_id",), order_id=INTEGER, note=TEXT)), on=BOOLEAN)

    value, changes = coerce({"items": [{"orderId": "1"}, {"order_id": 2.0, "note": None}], "on": "yes"}, schema)

    assert value == {"items": [{"order_id": 1}, {"order_id": 2}], "on": True}
    assert changes == (
        Change("items.0.orderId", "orderId", "order_id", "name"),
        Change("items.0.order_id", "1", 1),
        Change("items.1.order_id", 2.0, 2),
        Change("items.1.note", None, None, "left out"),
        Change("on", "yes", True),
    )
    assert [change.trivial for change in changes] == [False, False, True, True, False]
    assert [str(change) for change in changes][1:4:2] == ['items.0.order_id: "1" read as 1', "items.1.note: null left out"]


def test_a_required_name_in_another_style_is_found_in_an_open_object_too() -> None:
    schema = {"type": "object", "properties": {"order_id": INTEGER}, "required": ["order_id"]}

    assert coerce({"orderId": 1}, schema)[0] == {"order_id": 1}


def test_a_schema_that_goes_round_in_circles_comes_to_an_end() -> None:
    circle = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    nested = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, INTEGER]}

    assert coerce("5", circle) == ("5", ())
    assert coerce("5", nested) == ("5", ())


def test_a_schema_whose_alternatives_multiply_changes_nothing() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"c": {"$ref": "#"}, "n": INTEGER}}
    schema = {"anyOf": [node, {**node, "required": ["x"]}, {**node, "required": ["y"]}]}
    value: Any = {"n": "x"}
    for _ in range(20):
        value = {"c": value}

    assert coerce(value, schema) == (value, ())


def test_a_tree_is_walked_to_its_leaves() -> None:
    schema = {"$ref": "#/$defs/N", "$defs": {"N": thing(n=INTEGER, c=items({"$ref": "#/$defs/N"}))}}
    sent: Any = {"n": "1"}
    read: Any = {"n": 1}
    for _ in range(30):
        sent, read = {"n": "1", "c": [sent]}, {"n": 1, "c": [read]}

    assert coerce(sent, schema)[0] == read


def test_the_definitions_may_be_handed_over_apart() -> None:
    assert coerce("5", {"$ref": "#/$defs/n"}, {"n": INTEGER})[0] == 5


def test_a_pattern_that_would_take_for_ever_elsewhere_answers_at_once() -> None:
    assert not matches("^(a+)+$", "a" * 50_000 + "!")
    assert matches("(?=x)look-ahead is not known here", "anything")


SCHEMAS = st.recursive(
    st.sampled_from([INTEGER, NUMBER, BOOLEAN, TEXT, DAY, TIME, MOMENT, STATE, {"enum": [1, "2", None]}, {"type": ["integer", "null"]}, {}]),
    lambda inner: (
        inner.map(items)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts})
        | st.dictionaries(st.sampled_from(["a", "order_id", "b_c"]), inner, max_size=3).map(lambda parts: thing(**parts))
    ),
    max_leaves=6,
)
SENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["1", "1,234", "1.5", "true", "是", "2024/5/20", "2024-05-20", "9:30", "open", "[1]", '{"a": "1"}', "2", "a,b", "", "２", "2024-05-20 9:30"]
    )
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "orderId", "order_id", "bC", "B-c", "x"]), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=400)
@given(SCHEMAS, SENT)
def test_what_fits_is_never_changed_and_twice_is_as_good_as_once(schema: dict[str, Any], sent: Any) -> None:
    once, changes = coerce(sent, schema)
    twice, more = coerce(once, schema)

    assert same(twice, once)
    assert type(twice) is type(once)
    assert more == ()
    assert changes or same(once, sent)
    if fits(sent, schema, Schemas(schema)):
        assert all(change.trivial for change in changes)
        assert same(once, sent) or any(change.what == "left out" for change in changes)


@settings(deadline=None)
@given(st.integers(-(10**20), 10**20), st.sampled_from(["{}", "{:,}", " {} ", "{}.0", "wide", "spaces"]))
def test_an_integer_in_any_spelling_comes_back_exactly(number: int, style: str) -> None:
    if style == "wide":
        text = str(number).translate({ord(str(digit)): 0xFF10 + digit for digit in range(10)})
    else:
        text = f"{number:,}".replace(",", " ") if style == "spaces" else style.format(number)

    assert scalars.integer(text) == number
    assert same(coerce(text, INTEGER)[0], number)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_written_as_text_comes_back_exactly(number: float) -> None:
    assert scalars.number(repr(number)) == number


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="0123456789,. eE+-１", max_size=12))
def test_no_number_is_read_with_other_digits_than_were_written(text: str) -> None:
    read = scalars.number(text)
    if read is not None:
        written = scalars.plain(text).replace(",", "").replace(" ", "")
        assert Decimal(written) == Decimal(repr(read))
        json.dumps(read)


@settings(deadline=None)
@given(st.dates(), st.sampled_from(["%Y/%m/%d", "%Y-%m-%d", "%Y.%m.%d", "%Y年%m月%d日"]))
def test_a_day_in_any_known_spelling_is_that_day(day: Any, style: str) -> None:
    text = day.strftime(style) if day.year >= 1000 else style.replace("%Y", f"{day.year:04}").replace("%m", str(day.month)).replace("%d", str(day.day))

    assert scalars.day(text) == day.isoformat()
