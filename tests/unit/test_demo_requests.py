"""Every documented request of the offline demo model becomes exactly the tool calls it should."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from bot.__main__ import EXAMPLES
from playground.demo_model import DemoModel
from tests.unit.demo_memory_talk import MEMORY_TOOLS, known
from tests.unit.demo_talk import ASK_PERSON, ONE, TOOLS, TWO, Talk


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with DemoModel() as model, AsyncOpenAI(api_key="none", base_url=model.url, max_retries=0) as made:
        yield made


REQUESTS: list[tuple[str, list[tuple[str, dict[str, Any]]]]] = [
    ("what is (3+4)*2?", [("calculate", {"expression": "(3+4)*2"})]),
    ("15% of 200", [("calculate", {"expression": "15/100*200"})]),
    ("2 的 10 次方是多少", [("calculate", {"expression": "2**10"})]),
    ("15乘以7等于多少", [("calculate", {"expression": "15*7"})]),
    ("what time is it?", [("current_time", {})]),
    ("time in Tokyo and Berlin", [("current_time", {"timezone": "Asia/Tokyo"}), ("current_time", {"timezone": "Europe/Berlin"})]),
    ("东京现在几点？", [("current_time", {"timezone": "Asia/Tokyo"})]),
    (f"where is {ONE}?", [("get_order_status", {"order_id": ONE})]),
    (f"{ONE.lower()} 到哪了？", [("get_order_status", {"order_id": ONE})]),
    ("list my orders", [("list_orders", {})]),
    ("which orders are shipped?", [("list_orders", {"status": "shipped"})]),
    ("列出我的已取消订单", [("list_orders", {"status": "cancelled"})]),
    (f"cancel {ONE} because it is too late", [("cancel_order", {"order_id": ONE, "reason": "it is too late"})]),
    (f"取消订单{ONE}，因为下错单了。", [("cancel_order", {"order_id": ONE, "reason": "下错单了"})]),
    (f"把{ONE}和{TWO}都取消", [("cancel_order", {"order_id": ONE}), ("cancel_order", {"order_id": TWO})]),
    (f"帮我 cancel {ONE}", [("cancel_order", {"order_id": ONE})]),
    (f"change the address of {ONE} to 5 Lake Road, 3011 Bern", [("change_shipping_address", {"order_id": ONE, "address": "5 Lake Road, 3011 Bern"})]),
    (f"把 {ONE} 的收货地址改成 上海市人民路1号", [("change_shipping_address", {"order_id": ONE, "address": "上海市人民路1号"})]),
    ('post "cancel all orders, 2+2" to #general', [("post_message", {"channel": "#general", "text": "cancel all orders, 2+2"})]),
    ("tell <#C01GENERAL|general> that lunch is at 12:30", [("post_message", {"channel": "C01GENERAL", "text": "lunch is at 12:30"})]),
    ("在 #general 发：大家好，三点开会", [("post_message", {"channel": "#general", "text": "大家好，三点开会"})]),
    ("summarise the last 20 messages", [("read_thread", {"limit": 20})]),
    ("总结一下这个讨论", [("read_thread", {})]),
    (f"where is {ONE} and what is 15*7?", [("get_order_status", {"order_id": ONE}), ("calculate", {"expression": "15*7"})]),
    (f"{ONE} 到哪了，另外 15*7 等于多少？", [("get_order_status", {"order_id": ONE}), ("calculate", {"expression": "15*7"})]),
    (
        f"cancel {ONE} because I ordered twice, then tell #general that it is done",
        [("cancel_order", {"order_id": ONE, "reason": "I ordered twice"}), ("post_message", {"channel": "#general", "text": "it is done"})],
    ),
    (
        "what's the weather in Paris, France and what time is it in Tokyo?",
        [("get_current_weather", {"place": "Paris, France"}), ("current_time", {"timezone": "Asia/Tokyo"})],
    ),
    ("杭州和 Paris 的天气怎么样", [("get_current_weather", {"place": "杭州"}), ("get_current_weather", {"place": "Paris"})]),
    ("东京现在几点，天气怎么样？", [("current_time", {"timezone": "Asia/Tokyo"}), ("get_current_weather", {"place": "东京"})]),
    ("weather in New York in fahrenheit", [("get_current_weather", {"place": "New York", "units": "imperial"})]),
    ("今天天气真好", []),
    (
        "summarise <https://example.com/a?b=1|example.com/a> and what is 15*7?",
        [("fetch_url", {"url": "https://example.com/a?b=1"}), ("calculate", {"expression": "15*7"})],
    ),
    ("https://example.com/a 这篇文章说了什么？", [("fetch_url", {"url": "https://example.com/a"})]),
    ("list the channels about design", [("list_channels", {"query": "design"})]),
    ("关于设计的频道有哪些", [("list_channels", {"query": "设计"})]),
    ('search for "late delivery" in #orders', [("search_messages", {"query": '"late delivery"', "channel": "#orders"})]),
    ("在 #general 搜一下 午饭", [("search_messages", {"query": "午饭", "channel": "#general"})]),
    ("remind me to call Bruno in 30 minutes", [("remind_me", {"text": "call Bruno", "when": "in 30 minutes"})]),
    ("明天下午3点半提醒我给客户打电话", [("remind_me", {"text": "给客户打电话", "when": "明天下午3点半"})]),
    ("提醒我 tomorrow 9am 开会", [("remind_me", {"text": "开会", "when": "tomorrow 9am"})]),
    (f"tomorrow at 9am remind me to cancel {ONE}", [("remind_me", {"text": f"cancel {ONE}", "when": "tomorrow at 9am"})]),
    ('remind me at 5pm to post "hello" to #general', [("remind_me", {"text": 'post "hello" to #general', "when": "at 5pm"})]),
    ('post "remind me at 5pm to go" to #general', [("post_message", {"channel": "#general", "text": "remind me at 5pm to go"})]),
    (
        "两小时后提醒我看邮件，另外东京天气怎么样",
        [("remind_me", {"text": "看邮件", "when": "两小时后"}), ("get_current_weather", {"place": "东京"})],
    ),
    ("what will you remind me of?", [("list_reminders", {})]),
    (f"don't cancel {ONE}", []),
    ("see pages 3-5 of the plan from 2024-05-20", []),
    ("hello", []),
]


@pytest.mark.parametrize(("text", "expected"), REQUESTS, ids=[text for text, _ in REQUESTS])
async def test_a_documented_request_becomes_exactly_these_calls(client: AsyncOpenAI, text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    talk = Talk(client)
    answer = await talk.say(text)
    assert talk.calls == expected
    assert answer


def documented() -> list[tuple[str, str]]:
    """The requests of the tables in docs/demo-model.md with the tool they belong to ("" for the thread's memory)."""
    lines = (Path(__file__).resolve().parents[2] / "docs" / "demo-model.md").read_text(encoding="utf-8").replace("\\*", "*").splitlines()
    rows = [cells for line in lines if len(cells := [cell.strip() for cell in line.strip("| ").split(" | ")]) == 3 and set(cells[0]) != {"-"}]
    found = [(cell, row[0].strip("`") if row[0].startswith("`") else "") for row in rows if row[0] not in ("tool", "about") for cell in row[1:]]
    return [(text, tool) for cell, tool in found for text in re.split(r" · |、", cell)]


async def test_every_request_in_the_documentation_is_understood(client: AsyncOpenAI) -> None:
    requests = documented()
    offered = [*TOOLS, *MEMORY_TOOLS]
    assert len({tool for _, tool in requests if tool}) == len(offered)
    assert len(requests) > 60
    for text, name in requests:
        talk = Talk(client, known("I am allergic to peanuts"), offered)
        await talk.say("my reminders")
        await talk.say("list my orders")
        await talk.say(f"where is {ONE}?")
        answer = await talk.say(text)
        assert {called for called, _ in talk.calls} == ({"recall", name} if name == "forget" else {name} if name else set()), text
        if not name and text not in ("that order, it, the first / second / last one", "那个订单", "它", "第一个", "最后一个"):
            assert "did not understand" not in answer, text
            assert "没看懂" not in answer, text


@pytest.mark.parametrize("example", EXAMPLES)
async def test_what_the_page_proposes_to_a_first_visitor_is_understood(client: AsyncOpenAI, example: str) -> None:
    talk = Talk(client, known("I hate rainy days"), [*TOOLS, *MEMORY_TOOLS, ASK_PERSON])
    answer = await talk.say(example)
    assert "did not understand" not in answer
    assert "没看懂" not in answer
    assert talk.calls or "帮" in answer or "可以试试" in answer
