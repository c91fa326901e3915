"""The twelve ways in which the memory of a conversation usually goes wrong, each by its name, over a real store."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

import pytest

from bot.events import RoomKind
from bot.prompt import system
from memory.identifiers import identifiers, missing
from memory.mailbox import Mailbox
from memory.transcript import AssistantMessage, Item, Request, ToolMessage, UserMessage
from tests.fakes.long_thread import ANA, LongThread, text_of, wire
from tests.fakes.valkey import Valkey

WORDS = "and then some more words that nobody will need again, as people write them. " * 6


def said(number: int, text: str) -> UserMessage:
    return UserMessage(actor=ANA, name="Ana", ts=f"{1_700_000_000 + number}.000100", text=text)


def round_(number: int, text: str, *, answer: str = "Noted.") -> list[Item]:
    return [said(number, text), AssistantMessage(run_id=f"r{number}", text=answer)]


def called(number: int, tool: str, arguments: dict[str, Any], result: dict[str, Any], *, answer: str = "Done.", effect: Any = "read") -> list[Item]:
    call = Request(id=f"r{number}.0.0", name=tool, arguments=json.dumps(arguments, ensure_ascii=False))
    return [
        said(number, f"please {tool} {number}"),
        AssistantMessage(run_id=f"r{number}", calls=(call,)),
        ToolMessage(call_id=call.id, name=tool, content=json.dumps(result, ensure_ascii=False), effect=effect),
        AssistantMessage(run_id=f"r{number}", text=answer),
    ]


def ok(data: Any) -> dict[str, Any]:
    return {"success": True, "data": data}


async def test_growth_without_end(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox)
    sizes = []
    for start in range(0, 240, 40):
        for number in range(start, start + 40, 10):
            await thread.add(*(item for n in range(number, number + 10) for item in round_(n, f"parcel P-{n:04d}: {WORDS}")))
        sizes.append((await thread.turn("and now?")).total)

    assert max(sizes) <= thread.deps.context.total_input
    assert sizes[-1] < 2 * sizes[1]


async def test_summary_eats_an_id(mailbox: Mailbox) -> None:
    async def forgetful(_: list[dict[str, Any]]) -> str:
        return json.dumps({"goals": ["Ana: wants her parcels"], "state": ["some parcels are under way"]})

    thread = LongThread(mailbox, writer=forgetful)
    texts = [f"parcel P-{n:04d} costs ¥{n},250 by 2026-12-{1 + n % 28:02d}, file f_{n}.xlsx {WORDS}" for n in range(40)]
    for start in range(0, 40, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in round_(n, texts[n])))
    context = text_of(await thread.turn("and now?"))

    assert thread.model.asked >= 1
    assert (await thread.memory()).compactions >= 1
    assert [lost for text in texts for lost in missing(identifiers(text), context)] == []


async def test_system_prompt_compressed(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox, window=2_000)
    await thread.add(*(item for n in range(60) for item in round_(n, f"parcel P-{n}: {WORDS}")))
    context = await thread.turn("and now?")

    assert wire(context)[0] == {"role": "system", "content": system(RoomKind.CHANNEL)}
    assert sum(message["role"] == "system" for message in wire(context)) == 1


@pytest.mark.parametrize("text", ["x is {n}, " * 900, "第{n}项的金额是多少？" * 500], ids=["en", "zh"])
async def test_latest_message_compressed(mailbox: Mailbox, text: str) -> None:
    thread = LongThread(mailbox)
    await thread.add(*(item for n in range(40) for item in round_(n, f"parcel P-{n}: {WORDS}")))
    context = await thread.turn(text)

    assert wire(context)[-1]["content"].endswith(text.strip())


async def test_open_tool_call_compressed(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox)
    call = Request(id="open.0.0", name="cancel_order", arguments='{"order_id":"ABC-1"}')
    await thread.add(said(0, "cancel ABC-1"), AssistantMessage(run_id="open", calls=(call,)))
    for start in range(1, 61, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in round_(n, f"parcel P-{n}: {WORDS}")))
    assert (await thread.memory()).covered > 2
    await thread.add(ToolMessage(call_id=call.id, name=call.name, content=json.dumps(ok({"status": "cancelled"})), effect="write"))
    context = wire(await thread.turn("was it cancelled?"))

    at = next(place for place, message in enumerate(context) if message.get("tool_calls"))
    assert context[at]["tool_calls"][0]["function"]["arguments"] == call.arguments
    assert json.loads(context[at + 1]["content"])["data"] == {"status": "cancelled"}


async def test_results_of_parallel_calls_swapped(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox)
    cities = ["北京", "上海", "Guangzhou"]
    requests = tuple(
        Request(id=f"r.0.{n}", name="get_current_weather", arguments=json.dumps({"city": city}, ensure_ascii=False)) for n, city in enumerate(cities)
    )
    came = [
        ToolMessage(call_id=f"r.0.{n}", name="get_current_weather", content=json.dumps(ok({"city": city}), ensure_ascii=False)) for n, city in enumerate(cities)
    ]
    await thread.add(said(0, "weather?"), AssistantMessage(run_id="r", calls=requests), came[2], came[0], came[1], AssistantMessage(run_id="r", text="so"))
    for start in range(1, 41, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in round_(n, f"parcel P-{n}: {WORDS}")))
    context = wire(await thread.turn("那上海呢？"))

    at = next(place for place, message in enumerate(context) if message.get("tool_calls"))
    asked = [json.loads(call["function"]["arguments"])["city"] for call in context[at]["tool_calls"]]
    assert [json.loads(message["content"])["data"]["city"] for message in context[at + 1 : at + 4]] == asked == cities


async def test_error_text_haunting_later_turns(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox, window=128_000)
    failed = {"success": False, "error_code": "UPSTREAM_ERROR", "error_message": "The warehouse is on fire.", "suggestion": "retry"}
    first = called(0, "get_order", {"order_id": "ABC-1"}, failed, answer="")[:-1]
    again = called(0, "get_order", {"order_id": "ABC-1"}, ok({"status": "shipped"}))[1:]
    again[0] = AssistantMessage(run_id="r0", calls=(Request(id="r0.1.0", name="get_order", arguments='{"order_id": "ABC-1"}'),))
    again[1] = ToolMessage(call_id="r0.1.0", name="get_order", content=json.dumps(ok({"status": "shipped"})), effect="read")
    await thread.add(*first, *again, *called(1, "get_stock", {"item": "tea"}, {**failed, "error_message": "No such shelf."}, answer="I could not look."))

    soon = text_of(await thread.turn("thanks"))
    assert "on fire" not in soon
    assert "shipped" in soon
    assert "No such shelf" in soon
    await thread.turn("fine")
    await thread.add(*(item for n in range(2, 6) for item in called(n, "get_order", {"order_id": f"ABC-{n}"}, ok({"status": "new"}))))
    assert "No such shelf" not in text_of(await thread.turn("and now?"))


async def test_tool_called_again_by_habit(mailbox: Mailbox) -> None:
    """What was found out long ago is still there, in a line: the model need not ask again."""
    thread = LongThread(mailbox)
    await thread.add(*called(0, "get_order", {"order_id": "ABC-77"}, ok({"order_id": "ABC-77", "status": "shipped", "carrier": "SF-Express"})))
    await thread.add(*(item for n in range(1, 8) for item in called(n, "get_stock", {"item": f"I-{n}"}, ok({"left": n}))))
    early = await thread.turn("what was ABC-77 again?")
    for start in range(8, 58, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in round_(n, f"parcel P-{n}: {WORDS}")))
    late = await thread.turn("what was ABC-77 again?")

    for context in (early, late):
        said_of = [line for line in text_of(context).splitlines() if "ABC-77" in line and "shipped" in line]
        assert said_of, "the call and its result are gone"


async def test_base64_in_context(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox, window=128_000)
    noise = base64.b64encode(bytes(range(256)) * 40).decode()
    await thread.add(*called(0, "get_image", {"id": "I-1"}, ok({"image": noise, "name": "chart.png"})), said(1, f"data:image/png;base64,{noise}"))
    context = text_of(await thread.turn("what is it?"))

    assert noise[:200] not in context
    assert "chart.png" in context


async def test_mojibake(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox)
    words = "订单已发货 🚚 naïve café 👩‍👩‍👧 𠮷野家 ½ \ud83d broken"
    await thread.add(*round_(0, words), *called(1, "search", {"q": "上海🌧"}, ok({"标题": "𠮷野家 🍜"})))
    for start in range(2, 42, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in round_(n, f"包裹 P-{n}：{WORDS}")))
    thread.forget_process()
    memory = await thread.memory()
    context = text_of(await thread.turn("𠮷野家在哪？"))

    assert memory.covered > 0
    assert "𠮷野家" in context
    assert "🌧" in context
    assert "\ufffd broken" in context or "\ufffd" not in context.replace("\ufffd broken", "")
    context.encode("utf-8")


async def test_id_collision_between_threads(mailbox: Mailbox) -> None:
    one, other = LongThread(mailbox, name="1.000001"), LongThread(mailbox, name="2.000001")
    other.deps = one.deps  # one process works on both
    for start in range(0, 40, 10):
        await one.add(*(item for n in range(start, start + 10) for item in called(n, "get_order", {"order_id": f"ONE-{n}"}, ok({"note": WORDS}))))
        await other.add(*(item for n in range(start, start + 10) for item in called(n, "get_order", {"order_id": f"TWO-{n}"}, ok({"note": WORDS}))))
    first, second = text_of(await one.turn("which order?")), text_of(await other.turn("which order?"))

    assert ("ONE-3" in first, "TWO-" in first) == (True, False)
    assert ("TWO-3" in second, "ONE-" in second) == (True, False)


async def test_serialising_the_whole_history_each_turn(mailbox: Mailbox, valkey: Valkey) -> None:
    """What one turn writes to the store does not grow with the thread."""
    thread = LongThread(mailbox, window=128_000)

    def received() -> int:
        info = cast("dict[str, Any]", valkey.command("INFO", "stats"))
        return int(info["total_net_input_bytes"])

    async def written() -> int:
        await thread.turn("warm up")
        before = received()
        await thread.turn("what now?")
        return received() - before

    early = await written()
    await thread.add(*(item for n in range(400) for item in round_(n, f"parcel P-{n:04d}: {WORDS}")))
    late = await written()

    assert late < early * 1.2
    claim, _ = await thread.claim()
    assert len(claim.document) < 4_000
