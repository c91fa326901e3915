"""Cards and lists in the language of their reader: a tool's own explanations and names, and values written in more than one language."""

from __future__ import annotations

from typing import Any

import pytest

from bot.always import grants_list
from bot.cards import resolved_card
from bot.effects_slack import card_input
from bot.state import Approval, Call, Policy, Run, Status
from bot.told import told, translated
from memory.grant import Grant, Used
from memory.keys import Actor
from tests.fakes.stack import shown
from tools.builtin.orders import cancel_order
from tools.builtin.reminders import remind_me
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Tool

DOWN = "The order system cannot be reached just now. Nothing was changed."
SHIPPED = "Order ABC-1 has already shipped with UPS (1Z9), so it cannot be cancelled. It can be returned after delivery."


GRANT = Grant(
    id="g" * 20,
    actor=Actor(team_id="T1", user_id="U1"),
    channel_id="C1",
    tool="cancel_order",
    title="Cancel order",
    tool_digest="t",
    pattern={"order_id": "ABC-1"},
    anything=("reason",),
    created_at=1.0,
    expires_at=9e8,
)


def card(tool: Tool, arguments: dict[str, Any], language: str, message: str = "") -> str:
    result = ToolResult.fail(tool.name, ErrorCode.REFUSED, message, Suggestion.GIVE_UP) if message else None
    run = Run(id="r", requested_by=Actor(team_id="T1", user_id="U1"), locale=language, started_at=0, active_since=0)
    approval = Approval(id="a", digest="d" * 64, policy=Policy(), expires_at=9e8)
    call = Call(id="c", tool=tool.name, arguments=arguments, effect="write", status=Status.FAILED, approval=approval, result=result)
    return shown({"blocks": resolved_card(card_input(call, run, "failed", Registry([tool]))).blocks})


@pytest.mark.parametrize(
    ("message", "chinese"),
    [
        (DOWN, "订单系统现在无法访问，什么都没有改动。"),
        (SHIPPED, "订单 ABC-1 已经发货（UPS (1Z9)），不能取消；签收后可以退货。"),
        ("Order ABC-1 is already cancelled (reason: {order} .*). Nothing is left to do.", "订单 ABC-1 之前已经取消（原因：{order} .*）。"),
    ],
)
def test_a_failed_card_explains_itself_in_the_readers_language(message: str, chinese: str) -> None:
    assert chinese in card(cancel_order, {"order_id": "ABC-1", "reason": ""}, "zh", message)
    assert message in card(cancel_order, {"order_id": "ABC-1", "reason": ""}, "en", message)


def test_what_the_author_did_not_translate_stays_as_it_is() -> None:
    assert translated("Something else.", cancel_order, "zh") == "Something else."
    assert translated(DOWN, cancel_order, "fr") == DOWN
    assert told(None, cancel_order, "zh") is None


@pytest.mark.parametrize(("language", "there", "not_there"), [("en", "(Tuesday)", "星期二"), ("zh", "（星期二）", "Tuesday")])
def test_a_time_on_a_card_has_its_weekday_in_one_language(language: str, there: str, not_there: str) -> None:
    text = card(remind_me, {"text": "tea", "when": "2026-12-01T09:00:00+09:00", "timezone": "Asia/Tokyo"}, language)

    assert f"2026-12-01 09:00{' ' if language == 'en' else ''}{there}, Asia/Tokyo" in text
    assert not_there not in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_says_how_often_a_grant_was_used_in_a_sentence(language: str) -> None:
    words = {"en": ["not used yet", "used once", "used 2 times"], "zh": ["尚未使用", "已使用 1 次", "已使用 2 次"]}[language]
    for number, said in enumerate(words):
        assert said in shown({"blocks": grants_list([(GRANT, Used(times=number))], language).blocks})


def test_the_list_names_a_tool_and_its_values_as_the_tools_author_did_for_its_reader() -> None:
    text = shown({"blocks": grants_list([(GRANT, Used())], "zh", registry=Registry([cancel_order])).blocks})

    assert "取消订单 · " in text
    assert "订单号：ABC-1" in text
    assert "原因：任何内容" in text
    assert "Cancel order" not in text
    assert "Cancel order · " in shown({"blocks": grants_list([(GRANT, Used())], "en", registry=Registry([cancel_order])).blocks})
