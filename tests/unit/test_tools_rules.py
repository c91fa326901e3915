"""Rules over several arguments: what passes, what is said, and what happens when a rule itself is wrong."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Annotated, Any

import pytest
from pydantic import Field

from tools import Registry, Tool, ToolResult, tool
from tools.prepare import Prepared, prepare
from tools.result import ErrorCode, Suggestion
from tools.rules import at_least_one, at_most_one, before, requires, value_of
from tools.tool import Problem

EAST = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (date(2024, 5, 20), date(2024, 5, 21)),
        ("2024-05-20", "2024-05-21"),
        (datetime(2024, 5, 20, 9, tzinfo=EAST), datetime(2024, 5, 20, 2, tzinfo=UTC)),
        ("2024-05-20T09:00:00+08:00", "2024-05-20T02:00:00Z"),
        ("2024-05-20T09:00:00", "2024-05-20T10:00:00+08:00"),
        ("2024-05-20", "2024-05-21T00:00:00"),
        (time(9), time(10)),
        ("09:00", "09:00:01"),
        (1, 1.5),
        (None, date(2024, 5, 20)),
        ("2024-05-20", None),
    ],
)
def test_the_first_comes_before_the_second(start: Any, end: Any) -> None:
    rule = before("start", "end")

    assert rule({"start": start, "end": end}) == ()
    if start is not None and end is not None:
        assert [problem.field for problem in rule({"start": end, "end": start})] == ["end"]


def test_the_same_moment_is_not_before_unless_it_may_be() -> None:
    arguments = {"low": 5, "high": 5}

    assert before("low", "high")(arguments) == (Problem("high", "high must be after low (5)", "a value after 5, or an earlier low"),)
    assert before("low", "high", or_equal=True)(arguments) == ()


def test_a_text_that_is_no_time_is_the_callers_mistake() -> None:
    assert [problem.field for problem in before("start", "end")({"start": "soon", "end": "2024-05-20"})] == ["start"]


def test_things_that_cannot_be_compared_are_the_tools_mistake() -> None:
    with pytest.raises(TypeError, match="date and int cannot be compared"):
        before("start", "end")({"start": date(2024, 5, 20), "end": 5})


@pytest.mark.parametrize(
    ("given", "fine"), [({}, False), ({"email": ""}, False), ({"email": "a"}, True), ({"user_id": 0}, True), ({"user_id": 1, "email": "a"}, True)]
)
def test_one_of_several_must_be_given(given: dict[str, Any], fine: bool) -> None:
    found = at_least_one("user_id", "email")(given)

    assert (found == ()) == fine
    assert fine or found[0] == Problem("", "none of user_id and email is given, but one is needed", "a value for user_id or email")


@pytest.mark.parametrize(
    ("given", "field"), [({}, None), ({"a": 1}, None), ({"a": 1, "b": None}, None), ({"a": 1, "c": 2}, "c"), ({"a": 1, "b": 0, "c": 2}, "c")]
)
def test_several_may_exclude_each_other(given: dict[str, Any], field: str | None) -> None:
    assert [problem.field for problem in at_most_one("a", "b", "c")(given)] == ([field] if field else [])


@pytest.mark.parametrize(
    ("given", "missing"), [({}, []), ({"a": 1}, ["b", "c"]), ({"a": 1, "b": 0, "c": False}, []), ({"b": 1}, []), ({"a": False}, []), ({"a": 0, "c": 1}, ["b"])]
)
def test_one_may_need_others(given: dict[str, Any], missing: list[str]) -> None:
    assert [problem.field for problem in requires("a", "b", "c")(given)] == missing


@pytest.mark.parametrize("make", [at_least_one, at_most_one, requires])
@pytest.mark.parametrize("names", [("a",), ("a", "a"), ()])
def test_a_rule_about_one_argument_is_a_mistake_of_its_author(make: Any, names: tuple[str, ...]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(*names)


@tool(effect="read", rules=(before("start", "end"), at_least_one("user_id", "email")))
def list_shifts(
    start: Annotated[date, Field(description="First day of the rota, YYYY-MM-DD")],
    end: Annotated[date | None, Field(description="Day after the last one, YYYY-MM-DD")] = None,
    user_id: Annotated[int | None, Field(description="Number in the staff directory")] = None,
    email: Annotated[str | None, Field(description="Address at work", max_length=20)] = None,
    json: Annotated[bool, Field(description="Whether to answer in a raw format")] = False,
) -> str:
    """Show who works when, for one colleague between two days."""
    return ""


def answer(used: Tool, raw: str) -> ToolResult | Prepared:
    return prepare(Registry([used]), used.name, raw)


def refused(used: Tool, raw: str) -> list[str]:
    result = answer(used, raw)
    assert isinstance(result, ToolResult)
    assert (result.error_code, result.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    return (result.error_message or "").splitlines()[1:]


def test_every_rule_that_is_broken_is_told_with_what_was_sent() -> None:
    assert refused(list_shifts, '{"start": "2024-05-20", "end": "2024-05-01"}') == [
        '- end: end must be after start (2024-05-20). Sent: "2024-05-01". Accepted: a value after 2024-05-20, or an earlier start.',
        "- arguments: none of user_id and email is given, but one is needed. Accepted: a value for user_id or email.",
    ]


def test_rules_and_wrong_fields_are_told_in_one_answer() -> None:
    lines = refused(list_shifts, '{"start": "2024-05-20", "end": "2024-05-01", "json": "perhaps"}')

    assert [line.partition(":")[0] for line in lines] == ["- json", "- end", "- arguments"]


def test_a_rule_is_silent_about_an_argument_that_is_wrong_by_itself() -> None:
    lines = refused(list_shifts, '{"start": "2024-05-20", "end": "never", "email": "far.too.long@mail.example.com"}')

    assert [line.partition(":")[0] for line in lines] == ["- end", "- email"]


def test_nothing_is_judged_when_what_is_needed_is_missing() -> None:
    assert [line.partition(":")[0] for line in refused(list_shifts, '{"json": "perhaps"}')] == ["- start", "- json"]


def test_a_rule_sees_arguments_by_the_names_the_model_uses() -> None:
    args = list_shifts.args_model.model_validate({"start": "2024-05-20", "json": True})

    assert (value_of(args, "json"), value_of(args, "start"), value_of(args, "nothing")) == (True, date(2024, 5, 20), None)


def test_a_function_is_a_rule_too() -> None:
    def on_monday(args: Any) -> list[Problem]:
        return [] if args.start.weekday() == 0 else [Problem("start", "the rota begins on Mondays.", "a Monday")]

    used = dataclasses.replace(list_shifts, rules=(on_monday,))

    assert isinstance(answer(used, '{"start": "2024-05-20"}'), Prepared)
    assert refused(used, '{"start": "2024-05-21"}') == ['- start: the rota begins on Mondays. Sent: "2024-05-21". Accepted: a Monday.']


def test_a_rule_that_fails_is_a_fault_of_the_tool() -> None:
    used = dataclasses.replace(list_shifts, rules=(lambda args: args.nothing,))
    result = answer(used, '{"start": "2024-05-20"}')

    assert isinstance(result, ToolResult)
    assert (result.error_code, result.suggestion) == (ErrorCode.INTERNAL, Suggestion.GIVE_UP)
    assert "nothing" not in (result.error_message or "")


def test_a_rule_judges_the_json_of_a_tool_that_somebody_else_described() -> None:
    schema = {"type": "object", "properties": {"start": {"type": "string"}, "end": {"type": "string"}, "n": {"type": "integer"}}}
    used = dataclasses.replace(list_shifts, input_schema=schema, rules=(before("start", "end"),))

    assert refused(used, '{"start": "2024-05-20", "end": "2024-05-01", "n": "x"}') == [
        '- n: has the wrong type. Sent: "x". Accepted: integer.',
        '- end: end must be after start (2024-05-20). Sent: "2024-05-01". Accepted: a value after 2024-05-20, or an earlier start.',
    ]


def test_a_missing_argument_does_not_hide_what_the_rules_say_of_json() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    used = dataclasses.replace(list_shifts, input_schema=schema, rules=(before("start", "end"), at_most_one("a", "b")))

    lines = refused(used, '{"start": 2, "end": 1, "a": 1, "b": 2}')

    assert [line.partition(":")[0] for line in lines] == ["- n", "- end", "- b"]


def test_what_two_rules_say_is_told_once() -> None:
    schema = {"type": "object"}
    used = dataclasses.replace(list_shifts, input_schema=schema, rules=(before("start", "end"), at_most_one("a", "b"), requires("c", "d")))

    lines = refused(used, '{"start": 2, "end": 1, "a": 1, "b": 2, "c": 3}')

    assert [line.partition(":")[0] for line in lines] == ["- end", "- b", "- d"]
