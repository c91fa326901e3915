"""What people state in a thread is known when it matters, with who said it; and one person's wishes are not another's."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, running
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import heard, moment, over, rest
from tests.scenarios.long_kit import said
from tools.decorator import tool
from tools.registry import Registry

ROOM = "#orders"


async def talk(stack: Stack, *lines: tuple[str, str]) -> str:
    """A thread in which people say these things to the bot, each answered before the next."""
    ts = ""
    for number, (who, words) in enumerate(lines, 1):
        sent = await stack.slack.say(who, ROOM, f"@steward {words}", ts or None)
        ts = ts or sent
        await stack.thread(ROOM, ts, own=number)
    await rest(stack)
    return ts


CORRECTED = {
    "en": ("the deadline is Friday, use staging", "no, the deadline is Thursday", ("deadline: Thursday", "staging"), "deadline: Friday"),
    "zh": ("截止日期是周五，用测试环境", "不对，截止日期改到周四", ("deadline: 周四", "测试"), "deadline: 周五"),
}
WISHES = {
    "en": ("short answers please", "what did alice say?", "applies to alice only"),
    "zh": ("以后回答短一点", "alice 说了什么？", "只适用于alice"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_fact_is_kept_and_corrected_in_place(valkey: Valkey, transport: str, language: str) -> None:
    first, corrected, holds, gone = CORRECTED[language]
    model = ScriptedModel([text("ok")] * 3)
    async with over(transport, valkey, model) as stack:
        await talk(stack, ("alice", first), ("alice", corrected), ("alice", "so when? 什么时候？"))
        facts = moment(model.requests[-1])

        assert all(fact in facts for fact in holds), facts
        assert gone not in facts
        assert "alice" in facts


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_one_person_wishes_is_not_applied_to_another_and_can_be_told(valkey: Valkey, language: str) -> None:
    wish, asked, marked = WISHES[language]
    model = ScriptedModel([text("ok")] * 3)
    async with running(valkey, model) as stack:
        await talk(stack, ("alice", wish), ("bruno", asked), ("alice", "and me? 我呢？"))
        brunos, alices = moment(model.requests[1]), moment(model.requests[2])

        assert marked in brunos
        assert marked not in alices
        assert any(wish in line for line in heard(model.requests[1])), "what was said can still be told"


async def test_what_is_said_in_a_question_or_quoted_is_no_fact(valkey: Valkey) -> None:
    model = ScriptedModel([text("ok")] * 2)
    async with running(valkey, model) as stack:
        await talk(stack, ("alice", "is the deadline Friday?\n> the budget is 9,000"), ("alice", "and now?"))

        assert "deadline" not in moment(model.requests[-1])
        assert "9,000" not in moment(model.requests[-1])


@tool(effect="read", group="weather", title="Weather")
async def weather_now(city: Annotated[str, Field(description="The city, as people call it")]) -> dict[str, Any]:
    """Tell the weather of one city as it is now. Use it when somebody asks about the weather of a place."""
    return {"city": city, "sky": "rain"}


@pytest.mark.parametrize(
    ("first", "city", "then"), [("weather in Beijing?", "Beijing", "and Shanghai?"), ("北京天气怎么样？", "北京", "那上海呢？")], ids=["en", "zh"]
)
async def test_an_ellipsis_finds_the_last_call_whole(valkey: Valkey, first: str, city: str, then: str) -> None:
    model = ScriptedModel([calls(("weather_now", {"city": city})), text("rain"), text("rain there too")])
    async with running(valkey, model, registry=Registry([weather_now])) as stack:
        await talk(stack, ("alice", first), ("alice", then))
        asked = model.requests[-1]["messages"]

        call = next(message for message in asked if message.get("tool_calls"))
        assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"city": city}
        assert '"sky": "rain"' in said(model.requests[-1]) or '"sky":"rain"' in said(model.requests[-1])
