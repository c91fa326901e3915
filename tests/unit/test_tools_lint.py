"""What the lint refuses, what it lets through, and that its messages say what to write."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Annotated, Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tools import Registry, Tool, tool
from tools.builtin import calculate
from tools.lint import Finding, lint, lint_set
from tools.tool import ToolLoadError

GOOD = "Cancel one order that has not shipped; returns the refund. Not for returns."


class Nothing(BaseModel):
    pass


def described(name: str, description: str, **properties: Any) -> Tool:
    """A tool of somebody else's: nothing is checked when it is made."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return dataclasses.replace(calculate, name=name, description=description, input_schema=schema, aliases=())


def own(name: str, description: str) -> Tool:
    return dataclasses.replace(described(name, description), input_schema=None, args_model=Nothing)


@pytest.mark.parametrize(
    ("name", "description", "problem"),
    [
        ("f", "", "no real description"),
        ("f", "Get data.", "no real description"),
        ("f", "获取数据。", "no real description"),
        ("get_order_status", "Get the status of an order.", "only repeats the name"),
        ("getOrderStatus", "Gets the order's status", "only repeats the name"),
        ("list_open_invoices", "List the open invoices.", "only repeats the name"),
        ("f", "Gets the requested data from the system for the user.", "vague description"),
        ("f", "This function does some stuff with various things.", "vague description"),
        ("f", "Helper tool for performing various operations", "vague description"),
        ("f", "获取相关的数据和各种信息，并返回结果。", "vague description"),
        ("f", "这个工具用于处理用户的输入数据。", "vague description"),
        ("f", "Executes the tool. 执行该操作并返回数据。", "vague description"),
    ],
)
def test_a_description_that_says_nothing_is_found(name: str, description: str, problem: str) -> None:
    (finding,) = lint(described(name, description))

    assert problem in finding.message
    assert finding.message.startswith(f"Tool {name!r} ")
    assert all(part in finding.message for part in ("what it does", "what it takes", "what it returns", "when to use it", "when not"))


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_order_status", "Get the status of one order, with its carrier once shipped."),
        ("list_rooms", "List the meeting rooms that can be booked, by name."),
        ("weather", "查询指定城市未来三天的天气预报。"),
        ("cancel", "取消一个尚未发货的订单，返回退款金额。"),
        ("search", "在公司知识库中按关键词搜索文章"),
        ("f", "Convert an amount between two currencies"),
        ("f", "Look up 订单 by its full number"),
    ],
)
def test_a_description_that_says_something_passes(name: str, description: str) -> None:
    assert lint(described(name, description)) == []


@pytest.mark.parametrize(
    ("name", "about", "problem"),
    [
        ("city", {}, "has no description"),
        ("city", {"description": "  "}, "has no description"),
        ("city", {"description": 3}, "has no description"),
        ("city", {"description": "The city"}, "only repeats its name ('The city')"),
        ("order_id", {"description": "the id"}, "only repeats its name"),
        ("orderId", {"description": "Order ID."}, "only repeats its name"),
        ("x", {"description": "value"}, "vague description ('value')"),
        ("x", {"description": "The value to be used"}, "vague description"),
        ("x", {"description": "a string"}, "vague description"),
        ("x", {"description": "The id of the object"}, "vague description"),
        ("x", {"description": "参数"}, "vague description"),
        ("x", {"description": "该参数的值"}, "vague description"),
        ("x", {"description": "数据编号"}, "vague description"),
    ],
)
def test_a_parameter_that_is_not_described_is_found(name: str, about: dict[str, Any], problem: str) -> None:
    (finding,) = lint(described("f", GOOD, **{name: {"type": "string", **about}}))

    assert (finding.tool, finding.parameter) == ("f", name)
    assert problem in finding.message
    assert 'Annotated[str, Field(description="' in finding.message


@pytest.mark.parametrize(
    "description", ["How many", "City in English, e.g. Paris", "完整的订单号", "城市", "Who receives it", "ISO date", "Full order number", "要查询的城市名称"]
)
def test_a_short_description_of_a_parameter_is_enough_when_it_says_something(description: str) -> None:
    assert lint(described("f", GOOD, x={"type": "string", "description": description})) == []


@pytest.mark.parametrize("about", [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}])
def test_a_parameter_that_may_be_null_but_must_be_sent_is_given_a_default(about: dict[str, Any]) -> None:
    (finding,) = lint(described("f", GOOD, note={**about, "description": "A remark for the packer"}))

    assert "Give it the default that was meant, for example note: ... | None = None" in finding.message


def test_the_decorator_refuses_with_every_finding_at_once() -> None:
    def act(first: str, second: Annotated[str, Field(description="value")], third: Annotated[int | None, Field(description="How many")]) -> str:
        """Do it."""
        return f"{first}{second}{third}"

    with pytest.raises(ToolLoadError) as caught:
        tool(effect="read")(act)

    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    for line, part in zip(lines, ["no real description", "'first' has no description", "'second' has a vague", "'third' may be null"], strict=True):
        assert part in line


SAME = [
    ("Find one customer by number and return the details", "Get the details of a customer by number, and returns them"),
    ("Fetch the customer record.", "Show the customer record!"),
    (
        "List all invoices of one customer, newest first, with amount and due date",
        "Lists all the invoices of a user, newest first, with the amount and due date",
    ),
    ("查询订单的详细信息，返回状态和金额", "获取指定订单信息，返回状态和金额。"),
    ("删除一个日程", "移除指定的日程"),
    ("创建一条新的提醒，到时间后通知本人", "新建一条新的提醒，到时间后通知本人。"),
    ("Look up 订单 by number", "Get 订单 by the number"),
]
DIFFERENT = [
    ("Turn on the light in one room", "Turn off the light in one room"),
    ("Cancel one order that has not shipped", "Cancel one order that has shipped"),
    ("Move a task from the board to the archive", "Move a task from the archive to the board"),
    ("Get one invoice by number", "Get one order by number"),
    ("List open invoices", "List paid invoices"),
    ("查询用户的余额", "查询用户的积分"),
    ("取消订单", "查询订单"),
    ("打开会议室的灯", "关闭会议室的灯"),
    ("把消息发送到频道", "把消息发送给个人"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_descriptions_that_say_the_same_are_found(one: str, other: str) -> None:
    (finding,) = lint_set([own("alpha", one), own("beta", other)])

    assert finding == Finding("beta", finding.message)
    assert finding.message.startswith("Tools 'alpha' and 'beta' have descriptions that cannot be told apart. Say in each what the other does not do")


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_descriptions_that_differ_in_what_matters_pass(one: str, other: str) -> None:
    assert lint_set([own("alpha", one), own("beta", other)]) == []


def test_a_word_that_is_also_in_the_name_tells_two_long_descriptions_apart() -> None:
    long = "List the {} of the person who asks, newest first, each with number, subject, author, date, priority, labels, due day and colour"
    reminders, notes = long.format("reminders"), long.format("notes")

    assert lint_set([own("list_reminders", reminders), own("list_notes", notes)]) == []
    assert len(lint_set([own("alpha", reminders), own("beta", notes)])) == 1


def test_the_threshold_stands_between_one_word_more_in_six_and_one_in_seven() -> None:
    words = ["stone", "river", "cloud", "forest", "bridge", "meadow", "castle"]

    assert lint_set([own("a", " ".join(words[:5])), own("b", " ".join(words[:6]))]) == []
    assert len(lint_set([own("a", " ".join(words[:6])), own("b", " ".join(words[:7]))])) == 1


def test_every_pair_is_found_once() -> None:
    assert len(lint_set([own(name, GOOD) for name in ("a", "b", "c", "d")])) == len(list(itertools.combinations("abcd", 2)))


def test_the_tools_that_come_with_the_product_have_no_findings() -> None:
    registry = Registry.load("tools.builtin")

    assert [finding for each in registry for finding in lint(each)] == []
    assert lint_set(registry) == []


def test_a_registry_refuses_its_own_tools_that_cannot_be_told_apart() -> None:
    with pytest.raises(ToolLoadError, match="Tools 'a' and 'b' have descriptions that cannot be told apart"):
        Registry([own("a", GOOD), own("b", GOOD)])


def test_foreign_tools_are_not_refused_but_the_operator_hears_of_it_once() -> None:
    foreign = [described("a", "Get data", x={"type": "string"}), described("b", GOOD), described("c", GOOD)]
    with structlog.testing.capture_logs() as logs:
        registry = Registry([own("d", "Tell how long a journey between two cities takes by train")])
        registry.replace("mcp:one", foreign)
        registry.replace("mcp:one", foreign)

    assert [(line["event"], line["log_level"], line["tool"], line["parameter"]) for line in logs] == [
        ("tool.lint", "warning", "a", ""),
        ("tool.lint", "warning", "a", "x"),
        ("tool.lint", "warning", "c", ""),
    ]
    assert registry.names == ("d", "a", "b", "c")


@given(st.text(), st.text(), st.text(min_size=1))
def test_any_text_can_be_looked_at(name: str, description: str, parameter: str) -> None:
    both = [described(name, description, **{parameter: {"description": description}}), described(f"{name}2", description)]

    assert all(finding.message for each in both for finding in lint(each))
    assert {finding.tool for finding in lint_set(both)} <= {f"{name}2"}
