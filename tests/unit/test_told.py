"""A card in the language of its reader: the tool's own explanations, and values that were written in more than one language."""

from __future__ import annotations

from typing import Any

import pytest

from bot.cards import resolved_card
from bot.effects_slack import card_input
from bot.state import Approval, Call, Policy, Run, Status
from bot.told import told, translated
from memory.keys import Actor
from tests.fakes.stack import shown
from tools.builtin.orders import cancel_order
from tools.builtin.reminders import remind_me
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Tool

DOWN = "The order system cannot be reached just now. Nothing was changed."
SHIPPED = "Order ABC-1 has already shipped with UPS (1Z9), so it cannot be cancelled. It can be returned after delivery."


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
