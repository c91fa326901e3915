"""What a request carries, over generated conversations: valid for the API, within the budget, and never without what must stay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.context_of import facts_of
from bot.model import MESSAGE_TOKENS, to_wire, weigher
from memory.budget import ContextBudget
from memory.context import WHOLE_CALLS, WHOLE_ROUNDS, Context, Sources, build
from memory.rounds import rounds
from memory.session_memory import SessionMemory, Summary
from memory.tokens import counter_for
from memory.transcript import AssistantMessage, Item, Note, Request, ToolMessage, UserMessage, arrange
from tests.fakes.histories import PEOPLE, History, histories

COUNT = counter_for("gpt-5-mini")
WEIGH = weigher(COUNT)
SYSTEM = "You are Steward." * 20

slow = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def sources(history: History, memory: SessionMemory | None = None, **more: Any) -> Sources:
    memory = memory or SessionMemory()
    asked = next((item for item in reversed(history.log) if isinstance(item, UserMessage) and item.addressed), None)
    return Sources(
        fixed=COUNT(SYSTEM) + MESSAGE_TOKENS,
        memory=memory,
        log=history.log,
        facts=facts_of(memory, history.log),
        requester=asked.actor if asked is not None else PEOPLE["ana"],
        request_ts=asked.ts if asked is not None else "",
        open_calls=history.open_calls,
        moment="Today is Monday, 2026-11-30 for the person you answer (timezone Asia/Shanghai).",
        **more,
    )


def made(history: History, window: int, memory: SessionMemory | None = None, **more: Any) -> Context:
    return build(sources(history, memory, **more), ContextBudget(window), weigh=WEIGH, count=COUNT)


def tokens(context: Context) -> int:
    """What the request costs by the real tokenizer, messages' own overhead included."""
    wire = to_wire(SYSTEM, context.items)
    total = 0
    for message in wire:
        total += 4 + COUNT(message["content"] or "")
        for call in message.get("tool_calls", ()):
            total += 4 + COUNT(call["function"]["name"]) + COUNT(call["function"]["arguments"])
    return total


def assert_valid(context: Context) -> None:
    """As the API has it: every request followed at once by exactly its results, and no result without its request."""
    wire = to_wire(SYSTEM, context.items)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in wire:
        if message["role"] == "tool":
            assert waiting, "a result without its request"
            assert waiting.pop(0) == message["tool_call_id"], "results in another order"
            continue
        assert not waiting, "a request without its result"
        ids = [call["id"] for call in message.get("tool_calls", ())]
        assert not seen & set(ids), "one call twice"
        seen |= set(ids)
        waiting = ids
        assert message["content"] or ids, "an empty message"
    assert not waiting


def calls_of(items: Sequence[Item]) -> list[str]:
    return [call.id for item in items if isinstance(item, AssistantMessage) for call in item.calls]


@slow
@given(histories(), st.sampled_from((2_000, 6_000, 32_000, 128_000)))
def test_a_request_is_always_one_the_api_takes(history: History, window: int) -> None:
    assert_valid(made(history, window))


@slow
@given(histories(biggest=200), st.sampled_from((4_000, 8_000, 32_000)))
def test_the_budget_is_never_exceeded_unless_what_must_stay_is_too_much_alone(history: History, window: int) -> None:
    context = made(history, window)
    if not context.over:
        assert tokens(context) <= ContextBudget(window).total_input
    assert tokens(context) <= sum(context.used.values())


@slow
@given(histories(biggest=200), st.sampled_from((4_000, 8_000, 32_000)))
def test_the_current_message_the_open_calls_and_the_latest_calls_always_stay(history: History, window: int) -> None:
    context = made(history, window)
    arranged = arrange(history.log, history.open_calls)
    asked = [item for item in arranged if isinstance(item, UserMessage) and item.addressed]
    if asked:
        assert asked[-1] in context.items
    kept = calls_of(context.items)
    failed = {item.call_id for item in arranged if item.role == "tool" and not json.loads(item.content).get("success")}
    wanted = [call for call in calls_of(arranged)[-WHOLE_CALLS:] if call not in failed] + [call for call in history.open_calls if call in calls_of(arranged)]
    assert set(wanted) <= set(kept)


@slow
@given(histories())
def test_the_same_values_give_the_same_request(history: History) -> None:
    assert made(history, 8_000) == made(history, 8_000)


@slow
@given(histories(most=12))
def test_what_was_sent_before_a_new_round_is_sent_again_to_the_letter(history: History) -> None:
    """Nothing in front of the last two rounds depends on what is asked now: prefix caches hit. Old calls become lines in steps of five rounds only."""
    more = (*history.log, AssistantMessage(run_id="last", text="ok"), UserMessage(actor=PEOPLE["ana"], name="ana", ts="1900000000.000100", text="next"))
    rounds_before, rounds_after = (len(rounds(arrange(log, history.open_calls))) for log in (history.log, more))
    if rounds_before // WHOLE_ROUNDS != rounds_after // WHOLE_ROUNDS:
        return
    first, second = made(history, 128_000), made(History(more, history.open_calls), 128_000)
    stable = first.items[: first.stable]
    shared = next((place for place, (one, other) in enumerate(zip(stable, second.items, strict=False)) if one != other), len(stable))
    changed = [item for item in stable[shared:] if isinstance(item, UserMessage) and item.addressed]
    assert len(changed) <= 2, "errors stay for one round, and nothing else may change what was sent"


def test_an_empty_thread_is_no_error() -> None:
    context = made(History((), ()), 8_000)
    assert [type(item) for item in context.items] == [Note]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_summary_comes_first_and_what_changes_comes_just_before_the_request(language: Any) -> None:
    ana = PEOPLE["ana"]
    log = (
        UserMessage(actor=ana, name="ana", ts="1.0", text="hello there"),
        AssistantMessage(run_id="a", text="hi"),
        UserMessage(actor=ana, name="ana", ts="2.0", text="and now?"),
    )
    memory = SessionMemory(covered=10, summary=Summary(language=language, goals=("ana: 订单 ABC-1",)))
    context = made(History(log, ()), 32_000, memory, language=language, recalled=lambda room: ["ana: the port is 8080"], long_term=["likes tea"])

    notes = [place for place, item in enumerate(context.items) if isinstance(item, Note)]
    assert notes == [0, 3]
    summary, tail = context.items[0], context.items[3]
    assert isinstance(summary, Note)
    assert isinstance(tail, Note)
    assert "ABC-1" in summary.text
    assert "8080" in tail.text
    assert "likes tea" in tail.text
    assert "Asia/Shanghai" in tail.text
    assert context.items[4] == log[2]


def test_what_no_longer_fits_is_told_in_fewer_words_with_its_numbers() -> None:
    ana = PEOPLE["ana"]
    log: list[Item] = []
    for n in range(200):
        log += [
            UserMessage(actor=ana, name="ana", ts=f"{n}.0", text=f"order ABC-2024-{n:04d} " + "and a good deal of other words that say nothing much " * 4),
            AssistantMessage(run_id=f"r{n}", text="noted"),
        ]
    log.append(UserMessage(actor=ana, name="ana", ts="900.0", text="which orders?"))
    context = made(History(tuple(log), ()), 8_000)

    assert context.compressed > 100
    assert not context.over
    assert tokens(context) <= ContextBudget(8_000).total_input
    first = context.items[0]
    assert isinstance(first, Note)
    assert "ABC-2024-0100" in first.text


def test_a_request_that_waited_for_a_click_comes_last_with_its_call_and_not_after_answers_to_others() -> None:
    ana, bruno = PEOPLE["ana"], PEOPLE["bruno"]
    call = Request(id="c1", name="refund", arguments='{"order": "ABC-1"}')
    asked = UserMessage(actor=ana, name="ana", ts="1.0", text="please refund order ABC-1")
    log: list[Item] = [asked, AssistantMessage(run_id="mine", calls=(call,))]
    for n in range(60):
        log += [UserMessage(actor=bruno, name="bruno", ts=f"{n + 2}.0", text="the weather? " * 40), AssistantMessage(run_id=f"r{n}", text="sunny " * 40)]
    result = ToolMessage(call_id="c1", name="refund", content='{"success": true, "data": {"refunded": "ABC-1"}}', effect="write")
    log.append(result)
    base = sources(History(tuple(log), ()))
    context = build(replace(base, requester=ana, request_ts="1.0", current_run="mine"), ContextBudget(8_000), weigh=WEIGH, count=COUNT)

    assert context.items[-3:] == (asked, log[1], result)
    assert_valid(context)
    assert not context.over
    assert tokens(context) <= ContextBudget(8_000).total_input
