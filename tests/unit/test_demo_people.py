"""The demo model to somebody who tries it for the first time: repeated reminders, other places' clocks, all orders at once, and reasons in their language."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from openai import AsyncOpenAI

from playground.demo_model import DemoModel
from playground.demo_reasons import gap, reason, time_reason
from tests.unit.demo_talk import ONE, Talk, failed, ok, shop
from tests.unit.test_when import REFUSED
from tools.builtin.clockwords import Unclear
from tools.builtin.orders.rules import Item, Order, Status, may_cancel, may_readdress
from tools.builtin.when import understand
from tools.tool import ToolFailed

HAN = re.compile(r"[\u3400-\u9fff]")
TO_THE_MODEL = re.compile(r"the person|send |write for example|list_|ask ", re.IGNORECASE)
NOW = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with DemoModel() as model, AsyncOpenAI(api_key="none", base_url=model.url, max_retries=0) as made:
        yield made


REPEATED = [
    ("每天早上8点提醒我喝水", "好", {"text": "喝水", "when": "早上8点"}),
    ("提醒我每天早上8点喝水", "好的", {"text": "喝水", "when": "早上8点"}),
    ("每周一早上9点提醒我开会", "可以", {"text": "开会", "when": "周一早上9点"}),
    ("每个工作日下午5点提醒我打卡", "行", {"text": "打卡", "when": "下午5点"}),
    ("每两个小时提醒我站起来", "好", {"text": "站起来", "when": "两个小时后"}),
    ("remind me every day at 8am to drink water", "yes", {"text": "drink water", "when": "at 8am"}),
    ("remind me to drink water every morning at 8", "Yes, please.", {"text": "drink water", "when": "in the morning at 8"}),
    ("remind me daily at 9am to stretch", "ok", {"text": "stretch", "when": "at 9am"}),
    ("set a reminder every friday at 5pm to send the report", "sure", {"text": "send the report", "when": "friday at 5pm"}),
    ("remind me on weekdays at 9am to clock in", "yes", {"text": "clock in", "when": "at 9am"}),
]


@pytest.mark.parametrize(("request_", "agreed", "arguments"), REPEATED)
async def test_a_repeated_reminder_is_refused_in_words_and_its_first_time_set_after_a_yes(
    client: AsyncOpenAI, request_: str, agreed: str, arguments: dict[str, Any]
) -> None:
    talk = Talk(client)

    said = await talk.say(request_)

    assert talk.calls == []
    assert ("不会重复" if HAN.search(request_) else "do **not** repeat") in said
    await talk.say(agreed)
    assert talk.calls == [("remind_me", arguments)]


@pytest.mark.parametrize(("request_", "no"), [("每天早上8点提醒我喝水", "不用了"), ("remind me every day at 8am to drink water", "no thanks")])
async def test_without_a_yes_no_reminder_is_set(client: AsyncOpenAI, request_: str, no: str) -> None:
    talk = Talk(client)
    await talk.say(request_)

    await talk.say(no)

    assert talk.calls == []


async def test_a_repetition_without_an_hour_asks_for_the_one_time_and_takes_it(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert "不会重复" in await talk.say("每天提醒我吃药")

    await talk.say("明天上午9点")

    assert talk.calls == [("remind_me", {"text": "吃药", "when": "明天上午9点"})]


@pytest.mark.parametrize(
    ("request_", "arguments"),
    [
        ("remind me tomorrow at 9am to write the daily report", {"text": "write the daily report", "when": "tomorrow at 9am"}),
        ("remind me tomorrow 9am to call every customer", {"text": "call every customer", "when": "tomorrow 9am"}),
        ("remind me tomorrow at 9am Tokyo time to call", {"text": "call", "when": "tomorrow at 9am Tokyo time"}),
        ("remind me to call at 9am tokyo time tomorrow", {"text": "call", "when": "at 9am tokyo time tomorrow"}),
        ("remind me tomorrow at 9am in New York to call", {"text": "call", "when": "tomorrow at 9am in New York"}),
        ("remind me tomorrow at 9am Atlantis time to call", {"text": "call", "when": "tomorrow at 9am Atlantis time"}),
        ("remind me at 5pm UTC to call", {"text": "call", "when": "at 5pm UTC"}),
        ("remind me tomorrow at 9am to check the time", {"text": "check the time", "when": "tomorrow at 9am"}),
        ("remind me tomorrow to meet Bo in Tokyo", {"text": "meet Bo in Tokyo", "when": "tomorrow"}),
        ("明天东京时间早上9点提醒我打电话", {"text": "打电话", "when": "明天东京时间早上9点"}),
        ("提醒我东京时间明天早上9点打电话", {"text": "打电话", "when": "东京时间明天早上9点"}),
    ],
)
async def test_the_place_on_whose_clock_it_is_goes_to_the_tool_with_the_time(client: AsyncOpenAI, request_: str, arguments: dict[str, Any]) -> None:
    talk = Talk(client)
    await talk.say(request_)
    assert talk.calls == [("remind_me", arguments)]


@pytest.mark.parametrize("request_", ["delete all orders", "cancel all my orders", "退订所有订单", "取消我的全部订单", "把所有订单都取消"])
async def test_all_orders_at_once_are_cancelled_one_at_a_time(client: AsyncOpenAI, request_: str) -> None:
    talk = Talk(client)

    said = await talk.say(request_)

    assert talk.calls == [("list_orders", {})]
    assert ("一次只能取消一个订单" if HAN.search(request_) else "one order at a time") in said
    assert ONE in said
    assert "ABC-20240521-002" not in said, "it has shipped"


async def test_when_no_order_can_be_cancelled_it_says_so(client: AsyncOpenAI) -> None:
    shipped = ok({"orders": [{"order_id": ONE, "status": "delivered"}]})
    assert "none of your orders can be cancelled" in await Talk(client, lambda *_: shipped).say("cancel all orders")


def unclear(text: str) -> str:
    with pytest.raises(Unclear) as caught:
        understand(text, NOW, ZoneInfo("Asia/Tokyo"), "Asia/Tokyo")
    return f"{caught.value}."


@pytest.mark.parametrize("text", REFUSED)
def test_every_time_that_the_tool_refuses_has_a_reason_for_people_in_both_languages(text: str) -> None:
    detail = unclear(text)
    english, chinese = time_reason(detail, "en"), time_reason(detail, "zh")

    assert english
    assert not TO_THE_MODEL.search(english), english
    assert not HAN.search(english.replace(text, "").replace(text.casefold(), "")) or HAN.search(text), english
    assert HAN.search(chinese)
    around = re.sub(r"“[^”]*”|Asia/Tokyo|UTC", "", chinese)
    assert not re.search(r"[A-Za-z]{3,}", around), chinese


ITEMS = [Item(name="Lamp", quantity=1, unit_price="3")]  # type: ignore[arg-type]
STATES: list[Status] = ["packed", "shipped", "delivered", "cancelled", "returned"]


@pytest.mark.parametrize("status", STATES)
@pytest.mark.parametrize("rule", [may_cancel, may_readdress])
@pytest.mark.parametrize("carrier", [None, "UPS"])
def test_every_refusal_about_an_order_is_told_in_chinese_with_its_number(status: Status, rule: Any, carrier: str | None) -> None:
    order = Order(
        order_id=ONE, status=status, customer="x", placed_at="x", items=ITEMS, currency="USD", address="x", carrier=carrier, tracking_number=carrier and "1Z9"
    )
    try:
        rule(order)
    except ToolFailed as error:
        said = reason(str(error), "zh")
        assert ONE in said or status == "returned"
        assert HAN.search(said)
        assert not re.search(r"[a-z]{3,}", said)


@pytest.mark.parametrize(
    "part",
    [
        "channels I am not in: #random, #design",
        "private channels, because others read along here",
        "every channel but this one, because of who is asking or reading here",
        "the replies of one thread",
        "the replies of 3 threads",
        "older messages of #general",
        "#general, #random (not reached)",
        "#general (Slack does not let me read it)",
        "the rest, because Slack asked for a pause or did not answer",
    ],
)
def test_what_a_search_did_not_cover_is_told_in_the_readers_language(part: str) -> None:
    assert gap(part, "en") == part
    assert not re.search(r"\b(?!Slack\b)(?<!#)[A-Za-z]{2,}", gap(part, "zh")), gap(part, "zh")


@pytest.mark.parametrize(
    ("code", "message", "english", "chinese"),
    [
        (
            "NOT_FOUND",
            "I know no channel called '#nosuch'.",
            "I could not post to #nosuch: I know no channel called '#nosuch'.",
            "没能在 #nosuch 发消息。没有这个频道",
        ),
        ("PERMISSION_DENIED", "I am not in that channel. Someone has to invite me there first.", "I am not in that channel.", "我不在那个频道里"),
        (
            "PERMISSION_DENIED",
            "The person who asked is not in that channel, so I do not post there for them.",
            "You are not in that channel",
            "你不在那个频道里",
        ),
    ],
)
async def test_a_post_that_failed_is_told_by_what_was_wanted(client: AsyncOpenAI, code: str, message: str, english: str, chinese: str) -> None:
    talk = Talk(client, lambda *_: failed(code, message))

    said = await talk.say('post "hello" to #nosuch')

    assert english in said
    assert "found nothing" not in said
    assert chinese in await talk.say("在 #nosuch 发：大家好")


async def test_what_a_tool_advises_the_model_is_not_quoted(client: AsyncOpenAI) -> None:
    message = "The person has no open reminder '0a1b2c3d4e5f'. Use list_reminders to see the open ones."
    talk = Talk(client, lambda name, arguments: failed("NOT_FOUND", message) if name == "cancel_reminder" else shop(name, arguments))

    said = await talk.say("cancel reminder 0a1b2c3d4e5f")

    assert "You have no such open reminder here." in said
    assert "list_reminders" not in said


async def test_a_note_in_both_languages_is_told_in_one(client: AsyncOpenAI) -> None:
    note = "This reminder is given once; reminders do not repeat. 只提醒一次：提醒不会重复。"
    talk = Talk(client, lambda *_: ok({"reminder_id": "0a1b2c3d4e5f", "when": "2026-12-01 09:00 (Tuesday 星期二), UTC", "note": note}))

    english, chinese = await talk.say("remind me tomorrow at 9am to eat"), await talk.say("明天上午9点提醒我吃饭")

    assert "do not repeat." in english
    assert not HAN.search(english)
    assert "只提醒一次" in chinese
    assert "do not repeat" not in chinese
