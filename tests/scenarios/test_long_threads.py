"""Threads that outgrow the model's window: compacted when nobody waits, answered all the same before that, and nothing that matters is lost."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from memory.budget import ContextBudget
from memory.tokens import counter_for
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, fault, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import running, texts
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually
from tests.scenarios.kit import heard, moment, rest, results
from tests.scenarios.long_kit import SMALL, memory_of, remembering, said, session_of, summaries, wants_summary
from tools.decorator import tool
from tools.registry import Registry

ROOM = "#orders"
PADDING = "and there are many more words around it that nobody will ever need again, as people like to write them in the morning. " * 8
COUNT = counter_for("scripted")
EMPTY = Registry([])


def filler(number: int, language: str = "en") -> str:
    words = f"the parcel ABC-2024-{number:04d} for ¥{number},500 is due 2026-12-{1 + number % 28:02d}, see report_{number}.xlsx. "
    if language == "zh":
        words = f"包裹 ABC-2024-{number:04d}，金额 ¥{number},500，截止 2026-12-{1 + number % 28:02d}，见 report_{number}.xlsx。"
    return words + PADDING


async def grown(stack: Any, number: int, language: str = "en") -> str:
    """A thread that begins with a request and goes on with people talking among themselves."""
    ts: str = await stack.slack.say("alice", ROOM, "@steward please remember these parcels")
    await stack.until(lambda: len(stack.own(ROOM, ts)) == 1)
    for n in range(number):
        await stack.slack.say("bruno", ROOM, f"@alice {filler(n, language)}", ts)
    await rest(stack)
    return ts


def size(request: dict[str, Any]) -> int:
    return sum(4 + COUNT(content_text(m)) for m in request["messages"])


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_thread_three_times_the_window_is_answered_with_at_most_two_summaries_and_loses_no_number(valkey: Valkey, language: str) -> None:
    model = ScriptedModel(remembering(state=[f"parcel ABC-2024-{n:04d} is due" for n in range(3)]))
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await grown(stack, 110, language)
        await stack.slack.say("alice", ROOM, "@steward which parcels are due this month?", ts)
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 2)
        await rest(stack)

        answered = [request for request in model.requests if not wants_summary(request)]
        memory = await memory_of(stack, ROOM, ts)
        assert size(answered[-1]) <= SMALL.total_input
        assert summaries(model) <= 2 * memory.compactions
        assert memory.compactions >= 1
        again = memory.covered
        await stack.quiet(0.3)
        assert (await memory_of(stack, ROOM, ts)).covered == again, "compaction comes to an end"
        known = "\n".join(
            [*memory.summary.identifiers, *memory.summary.state, *memory.summary.entities, *memory.summary.said, *(f.value for f in memory.facts)]
        )
        lost = [n for n in range(8) if f"ABC-2024-{n:04d}" not in known]
        assert lost == [] or memory.summary.more > 0
        await stack.slack.say("alice", ROOM, "@steward what about ABC-2024-0003, how much was it?", ts)
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 3)
        assert "¥3,500" in said(model.requests[-1]) or "¥3,500" in said([r for r in model.requests if not wants_summary(r)][-1])


async def test_a_summary_that_eats_an_id_gets_it_back(valkey: Valkey) -> None:
    model = ScriptedModel(remembering())
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await grown(stack, 26)
        await eventually(lambda: _compacted(stack, ts))
        memory = await memory_of(stack, ROOM, ts)

        assert summaries(model) >= 1
        assert memory.summary.identifiers, "the summary named none, so they were put back"
        await stack.slack.say("alice", ROOM, "@steward and now?", ts)
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 2)
        context = said([request for request in model.requests if not wants_summary(request)][-1])
        assert [n for n in range(26) if f"ABC-2024-{n:04d}" not in context] == []


async def _compacted(stack: Any, ts: str) -> bool:
    return (await memory_of(stack, ROOM, ts)).compactions > 0


@pytest.mark.parametrize("broken", [fault(500), text("I would rather not."), text("{}")], ids=["away", "no object", "empty"])
async def test_without_a_usable_summary_the_sentences_are_picked_and_it_is_not_asked_more_than_twice(valkey: Valkey, broken: Reply) -> None:
    def policy(request: dict[str, Any]) -> Reply:
        return broken if wants_summary(request) else text("ok")

    model = ScriptedModel(policy)
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await grown(stack, 26)
        await eventually(lambda: _compacted(stack, ts))
        memory = await memory_of(stack, ROOM, ts)

        assert memory.by == "extract"
        assert 1 <= summaries(model) <= 2 * memory.compactions
        assert not memory.summary.empty


@pytest.mark.parametrize("how", ["deleted", "edited"])
async def test_what_is_taken_back_while_the_summary_is_written_does_not_enter_it(valkey: Valkey, how: str) -> None:
    gate = asyncio.Event()

    async def policy(request: dict[str, Any]) -> Reply:
        if not wants_summary(request):
            return text("ok")
        goal = "bruno: the password is hunter-TWO" if "hunter-TWO" in said(request) else "bruno: talked about parcels"
        await gate.wait()
        return text(json.dumps({"goals": [goal], "state": [f"{filler(n)[:90]}" for n in range(26)]}))

    model = ScriptedModel(policy)
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts: str = await stack.slack.say("alice", ROOM, "@steward please remember these parcels")
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 1)
        regretted = await stack.slack.say("bruno", ROOM, "@alice the password is hunter-TWO", ts)
        for n in range(26):
            await stack.slack.say("bruno", ROOM, f"@alice {filler(n)}", ts)
        await model.until(lambda: summaries(model) == 1)
        assert "hunter-TWO" in said(model.requests[-1])
        if how == "deleted":
            await stack.slack.delete("bruno", ROOM, regretted)
        else:
            await stack.slack.edit("bruno", ROOM, regretted, "@alice never mind")
        await model.until(lambda: summaries(model) == 2)
        gate.set()
        await eventually(lambda: _compacted(stack, ts))
        memory = await memory_of(stack, ROOM, ts)
        assert memory.by == "model"
        assert "hunter-TWO" not in memory.model_dump_json()


async def test_a_request_is_not_kept_waiting_by_a_summary(valkey: Valkey) -> None:
    gate = asyncio.Event()

    async def policy(request: dict[str, Any]) -> Reply:
        if wants_summary(request):
            await gate.wait()
            return text(json.dumps({"goals": ["a goal"], "state": [f"{filler(n)[:90]}" for n in range(26)]}))
        return text("ok")

    model = ScriptedModel(policy)
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await grown_without_rest(stack, 26)
        await model.until(lambda: summaries(model) == 1)
        await stack.slack.say("alice", ROOM, "@steward are you there?", ts)
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 2)
        gate.set()
        await eventually(lambda: _compacted(stack, ts))
        assert (await memory_of(stack, ROOM, ts)).by == "model"


async def grown_without_rest(stack: Any, number: int) -> str:
    ts: str = await stack.slack.say("alice", ROOM, "@steward please remember these parcels")
    await stack.until(lambda: len(stack.own(ROOM, ts)) == 1)
    for n in range(number):
        await stack.slack.say("bruno", ROOM, f"@alice {filler(n)}", ts)
    return ts


@tool(effect="read", group="table", title="Fetch")
async def fetch_page(page: Annotated[int, Field(description="Which page of the table, from 1", ge=1)]) -> dict[str, Any]:
    """Fetch one page of the big table of parcels as it stands now. Use it when somebody asks for the table."""
    return {"page": page, "rows": [{"parcel": f"P-{page}-{row}", "note": "so many words about it that nobody needs"} for row in range(230)]}


async def test_twelve_calls_of_ten_kilobytes_need_no_summary(valkey: Valkey) -> None:
    """What counts is what the last request holds, not what all requests of the run had together."""

    def policy(request: dict[str, Any]) -> Reply:
        done = len(results(request))
        return calls(("fetch_page", {"page": done + 1})) if done < 11 else text("all read")

    model = ScriptedModel(policy)
    budget = ContextBudget(128_000)
    async with running(valkey, model, context=budget, registry=Registry([fetch_page])) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward read the whole table")
        await stack.until(lambda: "all read" in texts(stack.own(ROOM, ts)), 20)
        await rest(stack)

        assert len(results(model.requests[-1])) == 11
        assert all(len(json.dumps(result)) > 5_000 for result in results(model.requests[-1]))
        assert summaries(model) == 0
        assert (await session_of(stack, ROOM, ts)).memory.covered == 0


async def test_what_was_said_long_ago_comes_back_when_it_is_asked_for(valkey: Valkey) -> None:
    model = ScriptedModel(remembering())
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward our rack in Reykjavik has the door code word marmalade")
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 1)
        for n in range(6):
            await stack.slack.say("alice", ROOM, f"@steward take note number {n} of this day", ts)
            await stack.thread(ROOM, ts, own=2 + n)
        for n in range(40):
            await stack.slack.say("bruno", ROOM, f"@alice {filler(n)}", ts)
        await rest(stack)
        await eventually(lambda: _indexed(stack, ts))
        await stack.slack.say("alice", ROOM, "@steward what was the door code word in Reykjavik?", ts)
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 8)

        asked = [request for request in model.requests if not wants_summary(request)][-1]
        assert "marmalade" in moment(asked)
        assert not any("marmalade" in line for line in heard(asked) if line.startswith("[alice]"))


async def _indexed(stack: Any, ts: str) -> bool:
    mark = (await session_of(stack, ROOM, ts)).memory
    return 0 < mark.covered <= mark.indexed


async def test_a_slow_summary_keeps_no_other_thread_waiting(valkey: Valkey) -> None:
    gate = asyncio.Event()

    async def policy(request: dict[str, Any]) -> Reply:
        if wants_summary(request):
            await gate.wait()
        return text("ok")

    model = ScriptedModel(policy)
    async with running(valkey, model, context=SMALL, registry=EMPTY, workers=1) as stack:
        await grown_without_rest(stack, 26)
        await model.until(lambda: summaries(model) == 1)
        other = await stack.slack.say("bruno", ROOM, "@steward hello from another thread")
        await stack.until(lambda: len(stack.own(ROOM, other)) == 1)
        assert not gate.is_set()
        gate.set()
        await rest(stack)


@pytest.mark.parametrize("goal", ["Ana: wants a \ud83d cake", "Ana: wants \x00 cake"], ids=["half a sign", "nul"])
async def test_a_summary_with_signs_no_store_takes_is_kept_all_the_same(valkey: Valkey, goal: str) -> None:
    def policy(request: dict[str, Any]) -> Reply:
        names = [f"{filler(n)[:90]}" for n in range(26)]
        return text(json.dumps({"goals": [goal], "state": names})) if wants_summary(request) else text("ok")

    model = ScriptedModel(policy)
    async with running(valkey, model, context=SMALL, registry=EMPTY) as stack:
        ts = await grown(stack, 26)
        await eventually(lambda: _compacted(stack, ts))

        assert (await memory_of(stack, ROOM, ts)).by == "model"
        assert len(stack.own(ROOM, ts)) == 1, "nobody is told of an error that was none"


@pytest.mark.parametrize(("words", "answer"), [("x is 17, ", "in parts"), ("第十七项的金额是多少？", "分几次")], ids=["en", "zh"])
async def test_a_message_longer_than_the_window_is_refused_in_words_and_the_thread_goes_on(valkey: Valkey, words: str, answer: str) -> None:
    model = ScriptedModel([text("ok")])
    async with running(valkey, model, context=ContextBudget(2_000), registry=EMPTY) as stack:
        ts = await stack.slack.say("alice", ROOM, f"@steward {words * 900}")
        await stack.thread(ROOM, ts, own=1)
        assert answer in texts(stack.own(ROOM, ts))[0]
        assert model.count == 0
        await stack.slack.say("alice", ROOM, "@steward and now?", ts)
        await stack.thread(ROOM, ts, own=2)
