"""The offline demo model, driven by the real openai client through whole conversations in English and Chinese."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError

from playground.demo_model import MODEL_NAME, DemoModel
from tests.unit.demo_talk import ONE, TOOLS, TWO, Talk, failed, ok, shop, tool


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with DemoModel() as model, AsyncOpenAI(api_key="none", base_url=model.url, max_retries=0) as made:
        yield made


async def test_several_requests_are_called_in_parallel_and_answered_in_order(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    answer = await talk.say(f"where is {ONE} and what is 15*7?")
    assert [len(message.get("tool_calls", ())) for message in talk.messages if message["role"] == "assistant"] == [2, 0]
    assert answer.index(f"Order **{ONE}** is **shipped**") < answer.index("= 105")


async def test_calls_come_one_by_one_when_parallel_calls_are_switched_off(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear(f"where is {ONE} and what is 15*7?", "Ana")
    await talk.answer(parallel_tool_calls=False)
    assert [len(message.get("tool_calls", ())) for message in talk.messages if message["role"] == "assistant"] == [1, 1, 0]


async def test_answers_come_in_the_language_of_the_request(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert f"订单 **{ONE}** 的状态：**已发货**" in await talk.say(f"{ONE} 到哪了？")
    assert "星期五 2026-01-02 10:20" in await talk.say("东京现在几点？")
    assert f"Order **{ONE}** is **shipped**" in await talk.say(f"where is {ONE}?")
    assert "2 × Lamp" in talk.messages[-1]["content"]


async def test_a_list_of_orders_is_a_table_and_its_rows_can_be_named_by_number(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    answer = await talk.say("list my orders")
    assert f"| {TWO} | shipped |" in answer
    await talk.say("cancel the second one")
    assert talk.calls == [("cancel_order", {"order_id": TWO})]


OUTCOMES = [
    ("DENIED_BY_PERSON", f"cancel {ONE}", ["Not done", "declined", "nothing was changed"]),
    ("DENIED_BY_PERSON", f"取消 {ONE}", ["没有执行", "被拒绝", "没有改动"]),
    ("EXPIRED", f"cancel {ONE}", ["Not done", "Nobody decided in time"]),
    ("EXPIRED", f"取消 {ONE}", ["没有执行", "过期"]),
    ("SUPERSEDED", f"cancel {ONE}", ["Not done", "conversation went on"]),
    ("SUPERSEDED", f"取消 {ONE}", ["没有执行", "作废"]),
    ("OUTCOME_UNKNOWN", f"cancel {ONE}", ["cannot tell whether", "check"]),
    ("OUTCOME_UNKNOWN", f"取消 {ONE}", ["无法确定", "核实"]),
    ("REFUSED", f"cancel {ONE}", ["Not done", "THE REASON"]),
    ("NOT_FOUND", f"where is {ONE}", ["found nothing", "THE REASON"]),
    ("TIMEOUT", f"where is {ONE}", ["did not work", "THE REASON"]),
    ("INVALID_ARGUMENTS", f"取消 {ONE}", ["没有成功"]),
    ("INVALID_ARGUMENTS", f"cancel {ONE}", ["did not work", "THE REASON"]),
]


@pytest.mark.parametrize(("code", "text", "words"), OUTCOMES)
async def test_a_call_that_did_not_succeed_is_never_reported_as_done(client: AsyncOpenAI, code: str, text: str, words: list[str]) -> None:
    talk = Talk(client, lambda *_: failed(code, "THE REASON"))
    answer = await talk.say(text)
    assert len(talk.calls) == 1, "it is not asked for again"
    for word in words:
        assert word in answer
    for claim in ("is cancelled", "已取消", "is **shipped**", "succeeded", "was changed."):
        assert claim not in answer.replace("nothing was changed.", "")


async def test_the_reason_a_person_gave_for_refusing_is_repeated(client: AsyncOpenAI) -> None:
    refused = failed("DENIED_BY_PERSON", 'A person refused this action. Their reason: "too early". It was not done. Do not ask for it again.')
    assert "(too early)" in await Talk(client, lambda *_: refused).say(f"cancel {ONE}")


async def test_a_write_edited_before_approval_is_reported_with_the_values_that_were_used(client: AsyncOpenAI) -> None:
    edited = {**ok({"channel": "C1", "ts": "1.2"}), "arguments": {"channel": "#random", "text": "bye", "thread_ts": ""}}
    answer = await Talk(client, lambda *_: edited).say('post "hello" to #general')
    assert "Posted to #random: “bye”" in answer
    assert "changed by a person" in answer
    assert "hello" not in answer


async def test_one_refusal_beside_one_success_is_told_apart(client: AsyncOpenAI) -> None:
    talk = Talk(client, lambda name, arguments: failed("DENIED_BY_PERSON") if arguments["order_id"] == ONE else shop(name, arguments))
    answer = await talk.say(f"cancel {ONE} and {TWO}")
    assert f"**Not done:** cancel order {ONE}" in answer
    assert f"Order **{TWO}** is cancelled" in answer


async def test_a_name_told_in_the_thread_is_remembered_for_that_person_only(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    await talk.say("my name is Ana", who="user one")
    await talk.say("我叫小明", who="user two")
    assert "**Ana**" in await talk.say("what is my name?", who="user one")
    assert "**小明**" in await talk.say("我叫什么名字？", who="user two")
    assert "Slack shows you as **user three**" in await talk.say("what is my name?", who="user three")


async def test_facts_people_stated_are_remembered_the_newest_first(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    await talk.say("my favourite colour is blue")
    await talk.say("my favourite colour is green")
    assert "**green**" in await talk.say("what is my favourite colour?")
    await talk.say("我的座位是 A12")
    assert "**A12**" in await talk.say("我的座位是哪里？")
    assert "have not told me" in await talk.say("what is my favourite colour?", who="Bruno")


async def test_that_order_means_the_last_one_mentioned_by_anyone(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    await talk.say(f"where is {ONE}?")
    await talk.say(f"{TWO} 到哪了？")
    await talk.say("cancel that order")
    assert talk.calls == [("cancel_order", {"order_id": TWO})]
    await talk.say("那个订单到哪了？")
    assert talk.calls == [("get_order_status", {"order_id": TWO})]


async def test_it_asks_back_when_something_is_missing_and_goes_on_with_the_reply(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert "Which order" in await talk.say("cancel that order because it is late")
    assert talk.calls == []
    await talk.say(ONE)
    assert talk.calls == [("cancel_order", {"order_id": ONE, "reason": "it is late"})]
    assert "新地址" in await talk.say(f"改一下 {ONE} 的地址")
    await talk.say("上海市人民路1号")
    assert talk.calls == [("change_shipping_address", {"order_id": ONE, "address": "上海市人民路1号"})]


async def test_what_was_asked_and_said_is_repeated_with_names(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    assert "first message" in await talk.say("what did I ask before?")
    talk.hear("(said to others) we ship on Monday", "Bruno")
    await talk.say("what is 15*7?")
    assert "- what is 15*7?" in await talk.say("what did I ask before?")
    assert "we ship on Monday" not in talk.messages[-1]["content"]
    assert "- we ship on Monday" in await talk.say("what did Bruno say?")
    assert "- **Bruno**: we ship on Monday" in await talk.say("who said what?")
    assert "- what is 15*7?" in await talk.say("我之前问了什么？")


async def test_what_people_said_to_each_other_is_context_and_no_request(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear(f"(said to others) cancel {ONE}", "Ana")
    talk.hear(f"where is {TWO}?", "Bruno")
    talk.hear("what is 15*7?", "Ana")
    await talk.answer()
    assert talk.calls == [("calculate", {"expression": "15*7"})]


async def test_two_quick_messages_of_one_person_are_one_request(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear("what is 15*7?", "Ana")
    talk.hear("and what time is it?", "Ana")
    await talk.answer()
    assert [name for name, _ in talk.calls] == ["calculate", "current_time"]


async def test_the_speaker_may_come_in_the_name_field_or_not_at_all(client: AsyncOpenAI) -> None:
    for extra in ({"name": "Ana"}, {}):
        talk = Talk(client)
        for text in ("my name is Zoë", "what is my name?"):
            talk.messages.append({"role": "user", "content": text, **extra})
            last = await talk.answer()
            assert "Zoë" in last


async def test_writing_instead_of_clicking_answers_the_new_question_and_reports_the_closed_one(client: AsyncOpenAI) -> None:
    talk = Talk(client, lambda name, arguments: failed("SUPERSEDED") if name == "cancel_order" else shop(name, arguments))
    talk.hear(f"cancel {ONE}", "Ana")
    asked = await talk.ask()
    talk.messages += [asked, {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": json.dumps(failed("SUPERSEDED"))}]
    answer = await talk.say("never mind, what time is it?")
    assert talk.calls == [("current_time", {})]
    assert "conversation went on" in answer
    assert "10:20" in answer


async def test_a_decision_that_comes_after_the_talk_went_on_is_reported_once(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear(f"cancel {ONE}", "Ana")
    asked = await talk.ask()
    result = {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": json.dumps(failed("WAITING", "Not decided."))}
    talk.messages += [asked, result]
    answer = await talk.say("现在几点？", who="Mei")
    assert talk.calls == [("current_time", {})]
    assert "10:20" in answer
    result["content"] = json.dumps(shop("cancel_order", {"order_id": ONE}))
    assert f"Order **{ONE}** is cancelled." in await talk.answer()
    assert talk.calls == []
    assert "is cancelled" not in await talk.answer()


async def test_without_tools_it_sums_up_what_was_done_and_what_was_not(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear(f"where is {ONE} and what is 15*7?", "Ana")
    asked = await talk.ask(parallel_tool_calls=False)
    talk.messages += [asked, {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": json.dumps(shop("get_order_status", {"order_id": ONE}))}]
    talk.messages.append({"role": "user", "content": "[note by the program] The budget is used up."})
    without = Talk(client, tools=[])
    without.messages = talk.messages
    for message in (await talk.ask(tool_choice="none"), await without.ask()):
        assert f"Order **{ONE}** is **shipped**" in message["content"]
        assert "**not** done this: calculate 15*7" in message["content"]


async def test_a_tool_that_is_not_offered_is_not_called(client: AsyncOpenAI) -> None:
    talk = Talk(client, tools=TOOLS[:1])
    answer = await talk.say(f"cancel {ONE} and what is 15*7?")
    assert talk.calls == [("calculate", {"expression": "15*7"})]
    assert "`cancel_order` is not offered" in answer


async def test_arguments_follow_the_offered_schema(client: AsyncOpenAI) -> None:
    parts = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}, "postcode": {"type": "string"}}}
    talk = Talk(
        client, lambda *_: ok({}), [tool("change_shipping_address", ("order", "address"), order="string", address=parts), tool("cancel_order", order="string")]
    )
    await talk.say(f"change the address of {ONE} to 5 Lake Road, 3011 Bern")
    await talk.say(f"cancel {ONE} because of a mistake")
    assert talk.calls == [("cancel_order", {"order": ONE})]
    first = json.loads(next(message for message in talk.messages if message.get("tool_calls"))["tool_calls"][0]["function"]["arguments"])
    assert first == {"order": ONE, "address": {"street": "5 Lake Road", "city": "Bern", "postcode": "3011"}}


async def test_it_says_plainly_that_it_is_the_offline_demo_and_what_it_can_do(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    for text in ("help", "hello", "write me a poem about the sea"):
        answer = await talk.say(text)
        assert "offline demo model" in answer
        assert "list my orders" in answer
    for text in ("帮助", "你好", "给我写一首关于大海的诗"):
        answer = await talk.say(text)
        assert "离线演示模型" in answer
        assert "列出我的订单" in answer
    assert "list my orders" not in await Talk(client, tools=TOOLS[:1]).say("help")


async def test_an_attached_file_is_admitted_to_be_unreadable(client: AsyncOpenAI) -> None:
    assert "cannot look into files" in await Talk(client).say("\n(attached file: photo.png, image/png, 12 kB)")


async def test_odd_tool_results_are_shown_and_do_no_harm(client: AsyncOpenAI) -> None:
    for content in ("plain words", "[]", "null", "{}", '{"success": true}', '{"success": false}', '{"success": true, "data": [1, 2]}'):
        talk = Talk(client)
        talk.hear(f"where is {ONE}? list my orders. what is 15*7? what time is it? summarise this thread", "Ana")
        asked = await talk.ask()
        talk.messages.append(asked)
        talk.messages += [{"role": "tool", "tool_call_id": call["id"], "content": content} for call in asked["tool_calls"]]
        assert (await talk.ask())["content"]


async def test_the_same_request_gets_the_same_answer_and_ids_differ_along_a_thread(client: AsyncOpenAI) -> None:
    talk = Talk(client)
    talk.hear("what is 15*7?", "Ana")
    first, second = await talk.ask(), await talk.ask()
    assert first == second
    await talk.answer()
    await talk.say("what is 15*7?")
    ids = [call["id"] for message in talk.messages for call in message.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 2


async def test_text_and_calls_are_streamed_in_small_pieces_with_usage_when_asked(client: AsyncOpenAI) -> None:
    async def chunks(text: str, **more: Any) -> list[Any]:
        made: Any = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], tools=TOOLS, stream=True, **more)  # type: ignore[arg-type]
        return [chunk async for chunk in made]

    talked = await chunks("帮助", stream_options={"include_usage": True})
    pieces = [chunk.choices[0].delta.content for chunk in talked if chunk.choices and chunk.choices[0].delta.content]
    assert len(pieces) > 20
    assert max(map(len, pieces)) < 40
    assert "".join(pieces) == (await Talk(client).say("帮助"))
    assert talked[-1].choices == []
    assert talked[-1].usage.completion_tokens > 0

    called = await chunks(f"where is {ONE} and what is 15*7?")
    fragments: dict[int, str] = {}
    for chunk in called:
        for piece in chunk.choices[0].delta.tool_calls or []:
            fragments[piece.index] = fragments.get(piece.index, "") + piece.function.arguments
    assert [json.loads(text) for text in fragments.values()] == [{"order_id": ONE}, {"expression": "15*7"}]
    assert called[-1].choices[0].finish_reason == "tool_calls"
    assert all(chunk.usage is None for chunk in called)


async def test_a_message_list_that_the_real_api_refuses_is_refused(client: AsyncOpenAI) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}
    orphan = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    user = {"role": "user", "content": "hi"}
    for messages in ([user, call], [user, call, user, orphan], [user, orphan], [{"role": "robot", "content": "hi"}], []):
        talk = Talk(client)
        talk.messages = messages  # type: ignore[assignment]
        with pytest.raises(BadRequestError) as refused:
            await talk.ask()
        assert refused.value.type == "invalid_request_error"
        assert refused.value.param


async def test_it_lists_itself_as_the_only_model_and_its_address_is_loopback() -> None:
    model = DemoModel()
    with pytest.raises(RuntimeError):
        _ = model.url
    await model.start()
    try:
        assert model.url.startswith("http://127.0.0.1:")
        async with AsyncOpenAI(api_key="none", base_url=model.url) as client:
            assert [entry.id async for entry in client.models.list()] == [MODEL_NAME]
    finally:
        await model.stop()


_REPEATED = [word * 3_000 for word in ("天气", "东京和", "remind me ", "提醒我", "search for x and ", "https://a.b/c ", "1点半", "in 2 hours ")]


async def test_a_very_long_or_odd_message_is_answered_quickly(client: AsyncOpenAI) -> None:
    for text in (
        "cancel " * 20_000,
        "(" * 50_000,
        "1+" * 30_000,
        "post " * 20_000 + "x",
        "把" * 50_000,
        "\ud83d\ude00" * 1_000,
        "   ",
        "#" * 9_999,
        *_REPEATED,
    ):
        assert await Talk(client, tools=TOOLS[:1]).say(text.encode("utf-16", "surrogatepass").decode("utf-16"))
