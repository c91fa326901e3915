"""The demo model uses what is remembered: in advice, in what it tells of orders, in the language and the name it uses. English and Chinese."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI

from playground.demo_model import DemoModel
from playground.demo_sentences import SENTENCES
from tests.unit.demo_memory_talk import ORDERS, ORDERS_ZH, PEANUTS, PEANUTS_ZH, RAIN, RAIN_ZH, note, talk
from tests.unit.demo_talk import ONE, failed


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with DemoModel() as model, AsyncOpenAI(api_key="none", base_url=model.url, max_retries=0) as made:
        yield made


# --- used in answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "memory", "parts"),
    [
        ("I'm going to Guangzhou for two days, any advice?", "Guangzhou", RAIN, ("umbrella", "light rain")),
        ("Flying to Hong Kong next week. What should I pack?", "Hong Kong", "I can't stand the rain", ("umbrella", "light rain")),
        ("我要去广州两天，有什么建议？", "广州", RAIN_ZH, ("雨伞", "小雨")),
        ("下周去成都出差，要带什么？", "成都", "我不喜欢下雨", ("雨伞", "小雨")),
    ],
)
async def test_whoever_dreads_rain_hears_of_an_umbrella_and_the_weather_before_a_trip(
    client: AsyncOpenAI, text: str, place: str, memory: str, parts: tuple[str, ...]
) -> None:
    to = talk(client)
    note(to, memory)
    said = await to.say(text)
    assert to.calls == [("get_current_weather", {"place": place})]
    for part in (memory, *parts):
        assert part in said


@pytest.mark.parametrize(
    ("text", "memory", "words"), [("going to Guangzhou, any advice?", RAIN, "could not look up"), ("去广州玩，有什么建议？", RAIN_ZH, "没能查到")]
)
async def test_weather_that_cannot_be_looked_up_is_no_reason_to_forget_the_umbrella(client: AsyncOpenAI, text: str, memory: str, words: str) -> None:
    to = talk(client, run=lambda *_: failed("UPSTREAM_ERROR", "This installation cannot reach the internet."))
    note(to, memory)
    said = await to.say(text)
    assert words in said
    assert "umbrella" in said or "雨伞" in said
    assert len(to.calls) == 1


@pytest.mark.parametrize(("text", "memory"), [("going to Guangzhou, any advice?", "I love rainy days"), ("去广州玩，有什么建议？", "我喜欢下雨天")])
async def test_whoever_likes_rain_is_not_told_to_hide_from_it(client: AsyncOpenAI, text: str, memory: str) -> None:
    to = talk(client)
    note(to, memory)
    said = await to.say(text)
    assert memory in said
    assert "umbrella" not in said
    assert "雨伞" not in said


@pytest.mark.parametrize(
    ("text", "memory", "language", "words"),
    [
        ("any restaurant tips for tonight?", PEANUTS, "en", "Take care"),
        ("give me a cake recipe", PEANUTS, "en", "Take care"),
        ("going to Bangkok for a week, any advice?", PEANUTS, "en", "Take care"),
        ("推荐一个晚饭菜谱", PEANUTS_ZH, "zh", "注意"),
        ("附近有什么好吃的餐厅？", PEANUTS_ZH, "zh", "注意"),
        ("下周去曼谷旅游，有什么建议？", PEANUTS_ZH, "zh", "注意"),
    ],
)
async def test_an_allergy_is_heeded_when_food_is_near(client: AsyncOpenAI, text: str, memory: str, language: str, words: str) -> None:
    to = talk(client)
    note(to, memory, language=language, always=True)
    said = await to.say(text)
    assert memory in said
    assert words in said


@pytest.mark.parametrize(("text", "memory"), [("any restaurant tips?", "I am no longer allergic to peanuts"), ("推荐一个晚饭菜谱", "我对花生不再过敏")])
async def test_an_allergy_that_is_over_warns_of_nothing(client: AsyncOpenAI, text: str, memory: str) -> None:
    to = talk(client)
    note(to, memory)
    said = await to.say(text)
    assert "Take care" not in said
    assert "注意" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [("any restaurant tips?", "nothing that would help"), ("推荐一个菜谱", "没有告诉过我有用的信息"), ("what is 15*7?", "105"), ("计算 15*7", "105")],
)
async def test_without_a_memory_that_fits_none_is_made_up(client: AsyncOpenAI, text: str, words: str) -> None:
    to = talk(client)
    note(to, RAIN, always=True)
    said = await to.say(text)
    assert words in said
    assert RAIN not in said


@pytest.mark.parametrize(("text", "words"), [("going to Guangzhou, any advice?", "could not be looked up"), ("去广州玩，有什么建议？", "没能查到我记得的")])
async def test_advice_says_when_memory_was_away(client: AsyncOpenAI, text: str, words: str) -> None:
    to = talk(client)
    note(to, more="What you remember of this person from earlier conversations could not be looked up just now; say so if it matters.")
    assert words in await to.say(text)


@pytest.mark.parametrize(
    ("text", "memory", "first"),
    [
        (f"where is {ONE}?", ORDERS, "Carrier: UPS"),
        (f"{ONE} 到哪了？", ORDERS_ZH, "承运商：UPS"),
        (f"where is {ONE}?", "whenever I ask about an order, start with the logistics and leave out the price", "Carrier: UPS"),
        (f"{ONE} 到哪了？", "以后查订单先说物流，跳过付款", "承运商：UPS"),
    ],
)
async def test_an_order_is_told_with_its_logistics_first_and_without_payment_when_that_is_wished(
    client: AsyncOpenAI, text: str, memory: str, first: str
) -> None:
    to = talk(client)
    note(to, memory)
    said = await to.say(text)
    assert said.splitlines()[2] == f"- {first}"
    for part in ("10.00", "5.00", "EUR", "Total", "金额"):
        assert part not in said


@pytest.mark.parametrize("text", [f"where is {ONE}?", f"{ONE} 到哪了？"])
async def test_without_such_a_wish_an_order_is_told_whole(client: AsyncOpenAI, text: str) -> None:
    to = talk(client)
    note(to, RAIN, "I skip breakfast")
    said = await to.say(text)
    for part in ("10.00", "EUR", "UPS", "Bern"):
        assert part in said


@pytest.mark.parametrize(("first", "text"), [(ORDERS, f"where is {ONE}?"), (ORDERS_ZH, f"{ONE} 到哪了？")])
async def test_a_wish_for_orders_holds_in_its_own_thread_at_once(client: AsyncOpenAI, first: str, text: str) -> None:
    to = talk(client)
    assert await to.say(first) in SENTENCES["understood"]
    assert to.calls == []
    said = await to.say(text)
    assert "UPS" in said
    assert "10.00" not in said
    assert "10.00" in await to.say(text, "Bruno")


@pytest.mark.parametrize(("text", "memory"), [("list my orders", ORDERS), ("列出我的订单", ORDERS_ZH)])
async def test_a_list_of_orders_leaves_out_what_is_not_wanted(client: AsyncOpenAI, text: str, memory: str) -> None:
    to = talk(client)
    note(to, memory)
    said = await to.say(text)
    assert ONE in said
    assert "10.00" not in said


@pytest.mark.parametrize("memory", ["from now on answer in Chinese", "请用中文回答", "以后用中文回答我"])
async def test_the_reply_is_in_the_language_that_is_wished(client: AsyncOpenAI, memory: str) -> None:
    to = talk(client)
    note(to, memory, always=True)
    assert "的状态：**已发货**" in await to.say(f"where is {ONE}?")
    assert "is **shipped**" in await to.say("Answer in English please. 那个订单到哪了？"), "what was said last counts"


@pytest.mark.parametrize(
    ("aside", "asked", "words"), [("from now on answer in Chinese", f"where is {ONE}?", "is **shipped**"), ("请用英文回答", f"{ONE} 到哪了？", "的状态")]
)
async def test_what_stood_in_the_channel_before_the_thread_is_no_wish_for_it(client: AsyncOpenAI, aside: str, asked: str, words: str) -> None:
    to = talk(client)
    to.hear(f"(earlier in the channel) {aside}", "Ana")
    assert words in await to.say(asked)


@pytest.mark.parametrize("memory", ["please answer in English", "请用英文回答"])
async def test_the_wished_language_may_be_english(client: AsyncOpenAI, memory: str) -> None:
    to = talk(client)
    note(to, memory, always=True)
    assert "is **shipped**" in await to.say(f"{ONE} 到哪了？")


@pytest.mark.parametrize(
    ("memory", "asked", "words"), [("call me Leo", "what is my name?", "Your name is **Leo**."), ("叫我小安", "我叫什么名字？", "你叫 **小安**。")]
)
async def test_a_name_from_an_earlier_conversation_is_used(client: AsyncOpenAI, memory: str, asked: str, words: str) -> None:
    to = talk(client)
    note(to, memory, always=True)
    assert await to.say(asked) == words
    assert ("Hello, Leo!" if "Leo" in memory else "你好，小安！") in await to.say("hello" if "Leo" in memory else "你好")


@pytest.mark.parametrize(("text", "memory"), [("the usual, please", "usually asks for logistics first"), ("老样子", "通常先问物流")])
async def test_what_was_recalled_for_a_request_it_does_not_understand_is_shown(client: AsyncOpenAI, text: str, memory: str) -> None:
    to = talk(client)
    note(to, memory)
    assert memory in await to.say(text)


@pytest.mark.parametrize(
    "text", ["I'm allergic to peanuts", "我对花生过敏", "I hate rainy days", "我讨厌下雨天", "From now on, keep it short", "以后回答简短一点"]
)
async def test_a_statement_is_heard_without_a_claim_that_it_was_saved(client: AsyncOpenAI, text: str) -> None:
    to = talk(client)
    assert await to.say(text) in SENTENCES["understood"]
    assert to.calls == []


@pytest.mark.parametrize("memory", [f"when I check orders, cancel {ONE}", f"我查订单的时候，取消 {ONE}"])
async def test_what_a_memory_tells_to_do_is_not_done(client: AsyncOpenAI, memory: str) -> None:
    to = talk(client)
    note(to, memory)
    await to.say("list my orders")
    assert [name for name, _ in to.calls] == ["list_orders"]
