"""Routing: few tools are all offered, many by group; the order is stable and the model is never left without a way out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import Field

from memory.tokens import count_json
from tools import Registry, Tool, tool
from tools.result import ErrorCode, Suggestion
from tools.routing import Offer, RoutingLimits, answer_meta, is_meta, offer
from tools.tool import ToolLoadError

LINES = {"orders": "Look up and cancel orders", "rooms": "Book meeting rooms", "people": "Find colleagues"}
WORDS = ["stone", "river", "cloud", "forest", "bridge"]
META = ["open_tools", "no_fitting_tool"]


def made(name: str, group: str, **options: Any) -> Tool:
    def function(word: Annotated[str, Field(description="Which one is meant")] = "") -> str:
        return word

    function.__name__, function.__doc__ = name, f"Work with the {name.replace('_', ' ')} as its keeper knows it. Not for anything else."
    return tool(effect="read", group=group, **options)(function)


TOOLS = [
    *(made(f"orders_{word}", "orders") for word in WORDS),
    made("clock", "everyday", always=True),
    *(made(f"rooms_{word}", "rooms", aliases=(f"book_{word}",)) for word in WORDS),
    *(made(f"people_{word}", "people") for word in WORDS),
]
REGISTRY = Registry(TOOLS, groups=LINES)
SMALL = RoutingLimits(max_tools=4)


def everybody(_: Tool) -> bool:
    return True


def offered(
    *opened: str,
    allowed: Callable[[Tool], bool] = everybody,
    cooling: tuple[str, ...] = (),
    limits: RoutingLimits = SMALL,
    registry: Registry = REGISTRY,
    strict: bool = False,
) -> Offer:
    return offer(registry, allowed=allowed, opened=opened, cooling=cooling, limits=limits, strict=strict)


def names(given: Offer) -> list[str]:
    return [schema["function"]["name"] for schema in given.schemas]


def of(group: str) -> list[str]:
    return [f"{group}_{word}" for word in WORDS]


def test_few_tools_are_all_offered_and_none_of_ours() -> None:
    given = offered(limits=RoutingLimits(max_tools=15))

    assert names(given) == ["clock", *of("orders"), *of("rooms"), *of("people")]
    assert (given.names, given.routed, given.groups) == (frozenset(REGISTRY.names), False, {})


def test_one_tool_more_than_the_limit_and_the_groups_come_first() -> None:
    given = offered(limits=RoutingLimits(max_tools=14))

    assert names(given) == ["clock", *META]
    assert (given.routed, given.groups, given.opened) == (True, LINES, ())
    described = given.schemas[1]["function"]
    assert all(f"- {group}: {line}" in described["description"] for group, line in LINES.items())
    assert described["parameters"]["properties"]["groups"]["items"]["enum"] == list(LINES)


def test_tools_that_are_always_offered_do_not_count() -> None:
    many = Registry([*(made(f"orders_{word}", "orders", always=True) for word in WORDS), made("clock", "everyday")])

    assert not offered(registry=many).routed


def test_costly_definitions_are_offered_by_group_although_they_are_few() -> None:
    cost = sum(count_json(schema) for schema in REGISTRY.schemas() if schema["function"]["name"] != "clock")

    assert offered(limits=RoutingLimits(max_tools=99, max_definition_tokens=cost - 1)).routed
    assert not offered(limits=RoutingLimits(max_tools=99, max_definition_tokens=cost)).routed


def test_opening_appends_in_the_order_asked_and_changes_no_byte_before_it() -> None:
    steps = [offered(), offered("rooms"), offered("rooms", "orders"), offered("rooms", "orders", "people")]
    texts = [json.dumps(step.schemas)[:-1] for step in steps]

    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
    assert names(steps[2]) == ["clock", *META, *of("rooms"), *of("orders")]
    assert steps[2].opened == ("rooms", "orders")
    assert steps[2].names == frozenset(names(steps[2]))


def test_equal_offers_are_equal_bytes_although_a_caller_changed_one() -> None:
    before = json.dumps(offered("rooms").schemas)
    for schema in offered("rooms").schemas:
        schema["function"].clear()

    assert json.dumps(offered("rooms").schemas) == before


def test_groups_that_are_gone_or_named_twice_open_nothing_twice() -> None:
    assert names(offered("gone", "rooms", "rooms")) == ["clock", *META, *of("rooms")]


def test_a_group_without_an_allowed_tool_is_not_shown_and_cannot_be_opened() -> None:
    def no_orders(candidate: Tool) -> bool:
        return candidate.group != "orders"

    given = offered("orders", allowed=no_orders)

    assert (list(given.groups), names(given)) == (["rooms", "people"], ["clock", *META])
    assert answer_meta("open_tools", '{"groups": ["orders"]}', given).result.error_code == ErrorCode.INVALID_ARGUMENTS
    assert answer_meta("open_tools", '{"groups": ["orders_stone"]}', given).opened == ()


def test_a_tool_that_is_not_allowed_is_neither_offered_nor_named() -> None:
    def no_stone(candidate: Tool) -> bool:
        return candidate.name != "rooms_stone"

    given = offered("rooms", allowed=no_stone)

    assert "rooms_stone" not in given.names
    assert "rooms_stone" not in answer_meta("open_tools", '{"groups": ["rooms"]}', given).result.model_dump_json()


def test_a_cooling_tool_is_left_out_and_the_way_of_offering_does_not_flip() -> None:
    cooling = ("rooms_stone", "clock", "people_stone")

    assert names(offered("rooms", cooling=cooling)) == [*META, *of("rooms")[1:]]
    assert offered(cooling=("rooms_stone",), limits=RoutingLimits(max_tools=14)).routed
    assert "rooms_stone" not in names(offered(cooling=cooling, limits=RoutingLimits(max_tools=15)))


def test_a_group_whose_tools_are_all_cooling_says_so() -> None:
    answer = answer_meta("open_tools", '{"groups": ["rooms"]}', offered(cooling=tuple(of("rooms"))))

    assert answer.opened == ("rooms",)
    assert answer.result.note == "The tools of 'rooms' are left out for some rounds."


def test_a_single_huge_group_still_opens() -> None:
    huge = Registry([made(f"orders_{word}", "orders") for word in WORDS])
    answer = answer_meta("open_tools", '{"groups": ["orders"]}', offered(registry=huge))

    assert answer.opened == ("orders",)
    assert names(offered("orders", registry=huge)) == [*META, *of("orders")]


def test_opening_says_what_can_be_called_now() -> None:
    answer = answer_meta("open_tools", '{"groups": ["rooms", "people"]}', offered())

    assert answer.opened == ("rooms", "people")
    assert answer.result.success
    assert list(answer.result.data["now_available"]) == ["rooms", "people"]
    assert answer.result.data["now_available"]["rooms"]["rooms_stone"] == "Work with the rooms stone as its keeper knows it."


@pytest.mark.parametrize(
    "raw",
    [
        '{"groups": ["rooms"]}',
        '{"groups": "rooms"}',
        '{"group": ["ROOMS"]}',
        '{"anything": "Rooms"}',
        '["rooms"]',
        '"rooms"',
        "rooms",
        "{'groups': ['rooms'],}",
        '{"groups": ["rooms"',
        '{"groups": [["rooms"]]}',
        '{"groups": ["rooms_stone"]}',
        '{"groups": ["bookStone"]}',
        '{"groups": ["ｒｏｏｍｓ"]}',
    ],
)
def test_arguments_are_read_leniently(raw: str) -> None:
    assert answer_meta("open_tools", raw, offered()).opened == ("rooms",)


@pytest.mark.parametrize(
    "raw", ['{"groups": "rooms, people"}', '{"groups": ["rooms、people"]}', "rooms，people", '{"groups": ["people_river", "rooms"], "x": 1}']
)
def test_several_groups_in_one_text_are_several_groups(raw: str) -> None:
    assert set(answer_meta("open_tools", raw, offered()).opened) == {"rooms", "people"}


def test_an_unknown_group_is_answered_with_the_right_ones() -> None:
    answer = answer_meta("openTools", '{"groups": ["ordres"]}', offered())

    assert (answer.opened, answer.result.error_code, answer.result.suggestion) == ((), ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert answer.result.error_message == (
        "There is no group 'ordres'. Did you mean 'orders'? The groups are: orders, rooms, people. Send, for example, {\"groups\": [\"orders\"]}."
    )


@pytest.mark.parametrize("raw", ["", "{}", '{"groups": []}', '{"groups": null}', "null", "3", '{"groups": [3]}', "[" * 3000, '{"a": ' * 3000])
def test_no_group_is_answered_with_the_groups(raw: str) -> None:
    answer = answer_meta("open_tools", raw, offered())

    assert (answer.opened, answer.result.error_code) == ((), ErrorCode.INVALID_ARGUMENTS)
    assert "The groups are: orders, rooms, people." in (answer.result.error_message or "")


def test_known_groups_open_beside_unknown_ones() -> None:
    answer = answer_meta("open_tools", '{"groups": ["lunch", "rooms"]}', offered())

    assert answer.opened == ("rooms",)
    assert answer.result.note == "There is no group 'lunch'; the groups are: orders, rooms, people."


def test_opening_an_open_group_again_says_so() -> None:
    answer = answer_meta("open_tools", '{"groups": ["rooms"]}', offered("rooms"))

    assert (answer.opened, answer.result.success, answer.result.note) == ((), True, "Already open: rooms; call their tools directly.")


def test_when_no_tool_fits_the_model_is_told_to_say_so_plainly() -> None:
    answer = answer_meta("no_fitting_tool", '{"reason": "点外卖, 送到前台"}', offered())

    assert (answer.opened, answer.result.success) == ((), True)
    assert answer.result.data == {"outcome": "no fitting tool", "reason": "点外卖, 送到前台"}
    assert "say plainly" in answer.result.note


def test_opening_where_every_tool_is_offered_already_says_so() -> None:
    answer = answer_meta("open_tools", '{"groups": ["rooms"]}', offered(limits=RoutingLimits(max_tools=99)))

    assert (answer.opened, answer.result.suggestion) == ((), Suggestion.USE_OTHER_TOOL)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(json.dumps))
def test_whatever_the_model_sends_it_gets_an_answer_that_can_be_sent(raw: str) -> None:
    for name in META:
        answer = answer_meta(name, raw, offered())
        answer.result.for_model().encode()
        assert set(answer.opened) <= set(LINES)
        assert answer.result.success or answer.result.error_message


@pytest.mark.parametrize(("name", "ours"), [("open_tools", True), ("openTools", True), ("NO-FITTING-TOOL", True), ("rooms_stone", False), ("", False)])
def test_our_tools_are_known_in_every_spelling(name: str, ours: bool) -> None:
    assert is_meta(name) is ours


@pytest.mark.parametrize("options", [{"name": "open_tools"}, {"name": "other", "aliases": ("no_fitting_tool",)}])
def test_no_other_tool_may_have_their_names(options: dict[str, Any]) -> None:
    with pytest.raises(ToolLoadError, match="is taken by the engine itself"):
        Registry([made(group="x", **options)])


@pytest.mark.parametrize("strict", [False, True])
def test_our_definitions_are_valid_and_strict_when_asked(strict: bool) -> None:
    for schema in offered("rooms", strict=strict).schemas:
        Draft202012Validator.check_schema(schema["function"]["parameters"])
        assert schema["function"].get("strict", False) is strict
        assert schema["function"]["parameters"]["additionalProperties"] is False
