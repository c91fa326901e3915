"""The demo model's longer ways to an answer: groups of tools to open, questions with choices, long results, and faults."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from openai import AsyncOpenAI

from playground.demo_model import DemoModel
from tests.unit.demo_talk import ASK_PERSON, FIRST, ONE, READ_MORE, SECOND, TOOLS, TWO, Run, Talk, failed, ok, shop, tool


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with DemoModel() as model, AsyncOpenAI(api_key="none", base_url=model.url, max_retries=0) as made:
        yield made


# --- what the new tools found --------------------------------------------------------------------------------------------


async def test_the_weather_is_told_with_its_units_place_and_source(client: AsyncOpenAI) -> None:
    answer = await Talk(client).say("what's the weather in Paris?")
    for part in ("**Paris**, now: light rain, **7.5 °C** (feels like 5 °C)", "81 %", "14 km/h from the west", "0.2 mm", "Europe/Paris", "Open-Meteo", "Texas"):
        assert part in answer
    assert "小雨" in await Talk(client).say("Paris 天气怎么样？")


async def test_a_page_is_quoted_and_what_it_asks_for_is_not_done(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    answer = await talk.say("summarise https://example.com/a")
    assert [name for name, _ in talk.calls] == ["fetch_url"]
    assert "**Harbour news** (https://example.com/a)" in answer
    assert "> Harbour news The old crane moves. It goes on Monday." in answer
    assert "开头是这样写的" in await Talk(client).say("这个链接讲什么 https://example.com/a")


async def test_channels_and_messages_are_listed_with_what_was_left_out(client: AsyncOpenAI) -> None:
    answer = await Talk(client).say("which channels are there?")
    assert "- **#general** (12 members, you are in it) — Everything" in answer
    assert "private channels are left out" in answer
    found = await Talk(client).say("搜一下 invoice")
    assert "- #general **Bruno** 2026-01-01 12:00: the invoice is paid ([查看](https://example.test/p2))" in found
    assert "没有搜到的部分：#general 里更早的消息" in found


async def test_a_reminder_is_set_listed_and_cancelled_by_its_place_in_the_list(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert "“call the bank”, on **2026-01-03 09:00 (Saturday), Europe/Zurich" in await talk.say("remind me tomorrow at 9am to call the bank")
    assert "2. 2026-01-03 09:00（星期六）" in await talk.say("我的提醒")
    assert "is cancelled" in await talk.say("cancel the second one")
    assert talk.calls == [("cancel_reminder", {"reminder_id": SECOND})]
    await talk.say(f"where is {ONE}?")
    await talk.say("cancel it")
    assert talk.calls == [("cancel_order", {"order_id": ONE})]


async def test_what_is_missing_for_a_reminder_or_the_weather_is_asked_for(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert "When shall I remind you" in await talk.say("remind me to call the bank")
    await talk.say("tomorrow at 9am")
    assert talk.calls == [("remind_me", {"text": "call the bank", "when": "tomorrow at 9am"})]
    assert "哪个地方" in await talk.say("天气怎么样？")
    await talk.say("杭州")
    assert talk.calls == [("get_current_weather", {"place": "杭州"})]


async def test_a_value_from_before_comes_with_its_age(client: AsyncOpenAI) -> None:
    old = {"stale": "The source does not answer; this was read 12 minutes ago. Tell the person how old it is."}
    run: Run = lambda name, arguments: shop(name, arguments) | old  # noqa: E731
    assert "does not answer right now; this is from 12 minutes ago" in await Talk(client, run).say("what's the weather in Paris?")
    assert "以下是 12 分钟前的数据" in await Talk(client, run).say("东京天气怎么样")


OFFLINE = "This installation cannot reach the internet: no outside site answers from here. Whoever runs it has to allow outgoing connections."
FAULTS = [
    ("UPSTREAM_ERROR", OFFLINE, "cannot reach the internet", "无法访问互联网"),
    ("CIRCUIT_OPEN", "", "failed several times", "连续出错"),
    ("COOLING_DOWN", "", "without bringing anything new", "没有新结果"),
    ("RATE_LIMITED", "It asks to wait 30 s.", "limit of calls is reached", "已达上限"),
    ("PERMISSION_DENIED", "This address lies inside a network.", "not permitted here", "不允许"),
    ("TIMEOUT", "", "took too long", "等待超时"),
]


@pytest.mark.parametrize(("code", "message", "english", "chinese"), FAULTS, ids=[code for code, *_ in FAULTS])
async def test_each_fault_has_its_own_words_and_none_of_them_claims_success(client: AsyncOpenAI, code: str, message: str, english: str, chinese: str) -> None:
    for text, words in (
        ("what's the weather in Paris?", english),
        ("东京天气怎么样", chinese),
        ("remind me in 2 hours to stretch", english),
        (f"取消 {ONE}", chinese),
    ):
        talk = Talk(client, lambda *_: failed(code, message))
        answer = await talk.say(text)
        assert words in answer
        assert len(talk.calls) == 1, "it is not asked for again"
        for claim in ("I will remind you", "is cancelled", "已取消", "到时会提醒", "now:", "现在："):
            assert claim not in answer


async def test_a_time_that_is_refused_sets_nothing_says_why_and_is_asked_for_again(client: AsyncOpenAI) -> None:
    refused = failed("INVALID_ARGUMENTS", "The time is not accepted: 'on 2020-01-01' has passed.")
    talk = Talk(client, lambda name, arguments: refused if "2020" in arguments["when"] else shop(name, arguments))
    answer = await talk.say("remind me on 2020-01-01 to call the bank")
    assert answer == "**No reminder was set.** I cannot use that time: “on 2020-01-01” has passed. When shall it be instead?"
    await talk.say("tomorrow at 8am")
    assert talk.calls == [("remind_me", {"text": "call the bank", "when": "tomorrow at 8am"})]


# --- groups of tools -------------------------------------------------------------------------------------------------------


class Routed:
    """Tools offered by group: what a request offers grows with the groups that were opened."""

    def __init__(self, client: AsyncOpenAI, *, ask: bool = False, **groups: tuple[str, str]) -> None:
        self.groups = groups or {
            "everyday": ("Calculate, Current time", "calculate current_time"),
            "orders": ("Look up, list and cancel orders", "get_order_status list_orders cancel_order change_shipping_address"),
            "web": ("Current weather, Read a web page", "get_current_weather fetch_url"),
            "reminders": ("Set a reminder, List reminders", "remind_me list_reminders cancel_reminder"),
        }
        self.always = [ASK_PERSON] if ask else []
        self.talk = Talk(client, self.run, [])
        self.reset()

    def reset(self) -> None:
        self.opened: list[str] = []
        lines = "\n".join(f"- {name}: {line}" for name, (line, _) in self.groups.items())
        enum = {"type": "array", "items": {"type": "string", "enum": list(self.groups)}, "minItems": 1}
        opener = tool("open_tools", ("groups",), groups=enum)
        opener["function"]["description"] = f"Open one or several groups of tools. The groups:\n{lines}"
        self.talk.tools = [*self.always, opener, tool("no_fitting_tool", ("reason",), reason="string")]

    def run(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert any(each["function"]["name"] == name for each in self.talk.tools), f"{name} was not offered"
        if name == "open_tools":
            members = {member for group in arguments["groups"] for member in self.groups[group][1].split()}
            self.talk.tools += [each for each in TOOLS if each["function"]["name"] in members]
            return ok({"now_available": {group: {} for group in arguments["groups"]}})
        if name == "no_fitting_tool":
            return ok({"outcome": "no fitting tool"})
        return ok({"answer": TWO}) if name == "ask_person" else shop(name, arguments)

    async def say(self, text: str) -> str:
        self.reset()
        return await self.talk.say(text)


async def test_the_group_of_a_tool_is_opened_first_and_only_then_is_it_called(client: AsyncOpenAI) -> None:
    routed = Routed(client)
    assert "Order **" in await routed.say(f"where is {ONE}?")
    assert routed.talk.calls == [("open_tools", {"groups": ["orders"]}), ("get_order_status", {"order_id": ONE})]
    assert "小雨" in await routed.say("东京天气怎么样")
    assert routed.talk.calls[0] == ("open_tools", {"groups": ["web"]})


async def test_several_wishes_open_all_their_groups_at_once(client: AsyncOpenAI) -> None:
    routed = Routed(client)
    answer = await routed.say("what is 15*7, what's the weather in Paris, and remind me tomorrow at 9am to go")
    assert routed.talk.calls[0] == ("open_tools", {"groups": ["everyday", "web", "reminders"]})
    assert [name for name, _ in routed.talk.calls[1:]] == ["calculate", "get_current_weather", "remind_me"]
    assert answer.index("= 105") < answer.index("light rain") < answer.index("I will remind you")


async def test_a_group_is_found_by_its_words_when_its_name_is_not_known(client: AsyncOpenAI) -> None:
    routed = Routed(client, shop=("订单：查询、取消", "get_order_status"), sky=("Weather and forecasts", "get_current_weather"))
    await routed.say("weather in Paris")
    assert routed.talk.calls[0] == ("open_tools", {"groups": ["sky"]})
    await routed.say(f"{ONE} 到哪了？")
    assert routed.talk.calls[0] == ("open_tools", {"groups": ["shop"]})


async def test_without_a_fitting_group_it_says_so_once_and_answers_in_words(client: AsyncOpenAI) -> None:
    routed = Routed(client, orders=("Orders", "list_orders"))
    answer = await routed.say("what's the weather in Paris?")
    assert routed.talk.calls == [("no_fitting_tool", {"reason": "look up the weather in Paris"})]
    assert "`get_current_weather` is not offered" in answer
    answer = await routed.say(f"cancel {ONE}")
    assert [name for name, _ in routed.talk.calls] == ["open_tools", "no_fitting_tool"], "a group that turns out not to have it is not opened again"
    assert "`cancel_order` is not offered" in answer


async def test_small_talk_and_help_open_nothing_and_help_names_what_is_behind_the_groups(client: AsyncOpenAI) -> None:
    routed = Routed(client)
    for text in ("thanks!", "你好"):
        await routed.say(text)
        assert routed.talk.calls == []
    answer = await routed.say("help")
    assert routed.talk.calls == []
    assert "what's the weather in Paris?" in answer
    assert 'post "hello"' not in answer


# --- questions with choices ------------------------------------------------------------------------------------------------


def answering(answer: Any, *, note: str = "", orders: int = 2) -> Run:
    """The tools, with somebody who answers every question with `answer`."""

    def run(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "ask_person":
            return answer if isinstance(answer, dict) else ok({"answer": answer, "answered_by": "Ana"}) | ({"note": note} if note else {})
        if name == "list_orders":
            return ok({"orders": [{"order_id": f"ABC-20240520-{number:03}", "status": "paid"} for number in range(1, orders + 1)]})
        return shop(name, arguments)

    return run


async def test_an_order_that_is_not_named_is_asked_for_with_the_orders_as_choices(client: AsyncOpenAI) -> None:
    talk = Talk(client, answering("ABC-20240520-002"), [*TOOLS, ASK_PERSON])
    answer = await talk.say("cancel an order because it is late")
    assert talk.calls == [
        ("list_orders", {}),
        ("ask_person", {"question": "Which order shall I cancel?", "choices": ["ABC-20240520-001", "ABC-20240520-002"]}),
        ("cancel_order", {"order_id": "ABC-20240520-002", "reason": "it is late"}),
    ]
    assert answer.startswith("Order **ABC-20240520-002** is cancelled.")
    assert "Here are the orders" not in answer


async def test_no_more_than_eight_choices_are_offered_and_one_candidate_is_not_asked_about(client: AsyncOpenAI) -> None:
    talk = Talk(client, answering("第二个", orders=11), [*TOOLS, ASK_PERSON])
    await talk.say("取消一个订单")
    assert len(talk.calls[1][1]["choices"]) == 8
    assert talk.calls[1][1]["question"] == "要取消哪个订单？"
    assert talk.calls[2] == ("cancel_order", {"order_id": "ABC-20240520-002"})
    talk = Talk(client, answering("never asked", orders=1), [*TOOLS, ASK_PERSON])
    await talk.say("cancel an order")
    assert [name for name, _ in talk.calls] == ["list_orders", "cancel_order"]


async def test_that_order_after_a_list_is_asked_about_without_looking_again(client: AsyncOpenAI) -> None:
    talk = Talk(client, answering(TWO.lower()), [*TOOLS, ASK_PERSON])
    await talk.say("list my orders")
    await talk.say("cancel that order")
    assert [name for name, _ in talk.calls] == ["ask_person", "cancel_order"]
    assert talk.calls[1] == ("cancel_order", {"order_id": TWO})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("the blue one", "is none of those, so nothing was done"),
        ("never mind", "I leave it"),
        (failed("EXPIRED", "Nobody answered in time."), "Nobody answered my question in time"),
        (failed("INTERNAL", "The question could not be put."), "did not work"),
    ],
)
async def test_an_answer_that_names_no_order_cancels_none(client: AsyncOpenAI, answer: Any, words: str) -> None:
    talk = Talk(client, answering(answer), [*TOOLS, ASK_PERSON])
    assert words in await talk.say("cancel an order")
    assert "cancel_order" not in [name for name, _ in talk.calls]


async def test_writing_instead_of_choosing_is_the_answer_or_a_new_request(client: AsyncOpenAI) -> None:
    note = "The person wrote instead of choosing: their next message is the answer, or a new request."
    for text, expected in (
        ("ABC-20240520-002", ("cancel_order", {"order_id": "ABC-20240520-002"})),
        ("the second one please", ("cancel_order", {"order_id": "ABC-20240520-002"})),
        ("what is 15*7?", ("calculate", {"expression": "15*7"})),
    ):
        talk = Talk(client, answering(None, note=note), [*TOOLS, ASK_PERSON])
        talk.hear("cancel an order", "Ana")
        for name in ("list_orders", "ask_person"):
            asked = await talk.ask()
            function = asked["tool_calls"][0]["function"]
            assert function["name"] == name
            result = talk.run(function["name"], json.loads(function["arguments"]))
            talk.messages += [asked, {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": json.dumps(result)}]
        answer = await talk.say(text)
        assert talk.calls == [expected]
        assert "Which order" not in answer
        assert "did not understand" not in answer


async def test_a_reminder_that_is_not_named_is_asked_for_by_its_words(client: AsyncOpenAI) -> None:
    talk = Talk(client, answering("开会"), [*TOOLS, ASK_PERSON])
    await talk.say("cancel my reminder")
    assert talk.calls[1] == ("ask_person", {"question": "Which reminder shall I cancel?", "choices": ["call the bank", "开会"]})
    assert talk.calls[2] == ("cancel_reminder", {"reminder_id": SECOND})
    talk = Talk(client)
    await talk.say("cancel the reminder about the bank")
    assert talk.calls == [("list_reminders", {}), ("cancel_reminder", {"reminder_id": FIRST})]
    talk = Talk(client)
    assert "1. call the bank; 2. 开会" in await talk.say("cancel my reminder")
    await talk.say("the second one")
    assert talk.calls == [("cancel_reminder", {"reminder_id": SECOND})]


async def test_a_question_works_behind_groups_of_tools_as_well(client: AsyncOpenAI) -> None:
    routed = Routed(client, ask=True)
    assert f"Order **{TWO}** is **shipped**" in await routed.say("order status?")
    assert [name for name, _ in routed.talk.calls] == ["open_tools", "list_orders", "ask_person", "get_order_status"]


async def test_an_order_that_is_too_late_to_cancel_is_no_choice(client: AsyncOpenAI) -> None:
    talk = Talk(client, tools=[*TOOLS, ASK_PERSON])
    await talk.say("cancel an order")
    assert talk.calls == [("list_orders", {}), ("cancel_order", {"order_id": ONE})]


# --- long results ----------------------------------------------------------------------------------------------------------


def paged(*, kept: bool) -> Run:
    """A thread that is too long for one result. `kept`: whether its rest can still be read in a later request."""
    made: list[str] = []

    def run(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name != "read_more":
            made.append(f"r{len(made)}")
            return shop(name, arguments) | {"truncated": True, "result_id": made[-1], "pages": 3}
        if not kept and arguments["result_id"] != made[-1]:
            return failed("NOT_FOUND", "Nothing is kept.")
        if not kept and len(made) == 1:
            return failed("NOT_FOUND", "Nothing is kept.")
        return ok({"page": arguments["page"], "of": 3, "content": {"messages": [{"speaker": "Mei", "text": f"line of page {arguments['page']}"}]}})

    return run


async def test_reading_on_turns_the_pages_up_to_the_last(client: AsyncOpenAI) -> None:
    talk = Talk(client, paged(kept=True), [*TOOLS, READ_MORE])
    assert "This is page 1 of 3. Say “read on”" in await talk.say("summarise this thread")
    answer = await talk.say("read on")
    assert talk.calls == [("read_more", {"result_id": "r0", "page": 2})]
    assert "line of page 2" in answer
    assert "最后一页" in await talk.say("继续")
    assert talk.calls == [("read_more", {"result_id": "r0", "page": 3})]
    assert "That was the last page." in await talk.say("next page")
    assert talk.calls == []


async def test_when_the_rest_is_gone_the_read_is_called_again_for_its_page(client: AsyncOpenAI) -> None:
    talk = Talk(client, paged(kept=False), [*TOOLS, READ_MORE])
    await talk.say("summarise the last 20 messages")
    answer = await talk.say("read on")
    assert talk.calls == [("read_more", {"result_id": "r0", "page": 2}), ("read_thread", {"limit": 20}), ("read_more", {"result_id": "r1", "page": 2})]
    assert "line of page 2" in answer
    assert "we ship on Monday" not in answer


async def test_there_is_nothing_to_read_on_in_a_thread_without_a_long_result(client: AsyncOpenAI) -> None:
    assert "nothing to read on" in await Talk(client, tools=[*TOOLS, READ_MORE]).say("read on")


async def test_a_strict_schema_gets_null_for_what_is_left_out(client: AsyncOpenAI) -> None:
    strict = tool("cancel_order", ("order_id", "reason"), order_id="string", reason={"anyOf": [{"type": "string"}, {"type": "null"}]})
    strict["function"]["strict"] = True
    talk = Talk(client, tools=[strict])
    await talk.say(f"cancel {ONE}")
    assert talk.calls == [("cancel_order", {"order_id": ONE, "reason": None})]
