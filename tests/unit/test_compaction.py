"""Which older items a compaction moves, and which stay whole: rounds, pins, boundaries, and that it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.compaction import Placed, Plan, applied, as_read, plan
from memory.keys import Actor
from memory.rounds import rounds
from memory.session_memory import Fact, SessionMemory, Summary
from memory.transcript import LOST, AssistantMessage, Correction, Item, Note, Request, ToolMessage, UserMessage, arrange

ANA = Actor(team_id="T1", user_id="U1")
DONE = '{"success":true,"data":{"order_id":"A-1"}}'


def user(ts: int, text: str = "hello", *, addressed: bool = True) -> UserMessage:
    return UserMessage(actor=ANA, name="Ana", ts=f"{ts}.0", text=text, addressed=addressed)


def calls(run: str, *ids: str) -> AssistantMessage:
    return AssistantMessage(run_id=run, calls=tuple(Request(id=each, name="get_order", arguments='{"order_id":"A-1"}') for each in ids))


def result(call_id: str, content: str = DONE) -> ToolMessage:
    return ToolMessage(call_id=call_id, name="get_order", content=content)


def said(run: str, text: str = "Done.") -> AssistantMessage:
    return AssistantMessage(run_id=run, text=text)


def one(item: Item) -> int:
    return 1


def size(item: Item) -> int:
    match item:
        case UserMessage() | Note():
            return 4 + len(item.text)
        case AssistantMessage():
            return 4 + len(item.text) + 8 * len(item.calls)
        case ToolMessage():
            return 4 + len(item.content)
        case _:
            return 2


def placed(*items: Item) -> list[Placed]:
    return list(enumerate(items))


def planned(
    log: Sequence[Placed],
    memory: SessionMemory | None = None,
    *,
    keep: int,
    rounds: int = 1,
    open_calls: Sequence[str] = (),
    cost: Callable[[Item], int] = one,
) -> Plan | None:
    return plan(log, memory or SessionMemory(), keep_tokens=keep, keep_rounds=rounds, count_item=cost, open_calls=open_calls)


def carried_out(memory: SessionMemory, done: Plan) -> SessionMemory:
    return applied(memory, done, Summary(), (), now=1.0, by="extract", tokens_before=2, tokens_after=1)


def seen(log: Sequence[Placed], memory: SessionMemory) -> list[Placed]:
    """What the next plan, and the model, are given: the pins and everything from `covered` on."""
    return [(at, item) for at, item in log if at >= memory.covered or at in memory.pins]


def chat(number: int) -> list[Item]:
    return [item for n in range(number) for item in (user(n, f"question {n}"), said(f"t{n}"))]


def with_calls(number: int, first: int = 0) -> list[Item]:
    return [item for n in range(first, first + number) for item in (user(n), calls(f"r{n}", f"c{n}"), result(f"c{n}"), said(f"r{n}"))]


def test_a_thread_that_fits_is_left_alone() -> None:
    assert planned(placed(*chat(5)), keep=10) is None


def test_as_much_goes_as_needed_and_no_more() -> None:
    done = planned(placed(*chat(5)), keep=7)

    assert done is not None
    assert done.upto == 4  # three rounds, six items, stay
    assert done.items == tuple(chat(5)[:4])
    assert done.pins == ()


def test_the_last_rounds_stay_even_when_they_alone_are_too_much() -> None:
    done = planned(placed(*chat(5)), keep=0, rounds=3)

    assert done is not None
    assert done.upto == 4


def test_nothing_goes_when_the_last_rounds_are_all_there_is() -> None:
    assert planned(placed(*chat(3)), keep=0, rounds=3) is None


def test_a_round_is_never_cut_in_the_middle_of_its_tool_calls() -> None:
    aside = user(50, "lunch?", addressed=False)
    log: list[Item] = [user(1), calls("r1", "c1"), result("c1"), aside, calls("r1", "c2"), result("c2"), said("r1"), *with_calls(4)]

    for keep in range(len(log)):
        done = planned(placed(*log), keep=keep)
        assert done is None or done.upto == 0 or done.upto >= 7


def test_asides_between_two_rounds_may_go_by_themselves() -> None:
    log = [*chat(2), user(10, "lunch?", addressed=False), user(11, "yes", addressed=False), *chat(1)]

    done = planned(placed(*log), keep=3)

    assert done is not None
    assert done.upto == 5


def test_asides_inside_the_last_round_go_only_when_nothing_less_helps_and_its_request_stays() -> None:
    log = [*chat(2), user(9, "find it"), user(10, "lunch?", addressed=False), user(11, "yes", addressed=False)]

    enough = planned(placed(*log), keep=3, rounds=1)
    needed = planned(placed(*log), keep=2, rounds=1)

    assert enough is not None
    assert (enough.upto, enough.pins) == (4, ())
    assert needed is not None
    assert (needed.upto, needed.pins) == (6, (4,))


def test_a_thread_in_which_only_others_talk_is_compacted_all_the_same() -> None:
    log = [user(0, "remember this"), chat(1)[1], *(user(n, "chatter", addressed=False) for n in range(1, 200))]

    done = planned(placed(*log), keep=20, rounds=5)

    assert done is not None
    assert done.pins == (0, 1)
    assert done.upto == len(log) - 18


def test_the_last_three_tool_calls_are_pinned_with_their_results() -> None:
    log = [*with_calls(4), *chat(5)]

    done = planned(placed(*log), keep=8)

    assert done is not None
    assert done.pins == (5, 6, 9, 10, 13, 14)
    assert calls("r0", "c0") in done.items
    assert calls("r1", "c1") not in done.items


def test_of_parallel_calls_among_the_last_three_the_whole_answer_is_pinned() -> None:
    log: list[Item] = [user(1), calls("r1", "a", "b", "c", "d"), *map(result, "abcd"), said("r1"), *chat(5)]

    done = planned(placed(*log), keep=6)

    assert done is not None
    assert done.pins == (1, 2, 3, 4, 5)


def test_a_request_whose_result_came_behind_the_boundary_is_pinned() -> None:
    log: list[Item] = [user(1), calls("w", "late"), said("v", "Please decide."), *with_calls(4), result("late"), said("w"), *chat(3)]

    done = planned(placed(*log), keep=18, rounds=1)

    assert done is not None
    assert 3 <= done.upto <= log.index(result("late"))
    assert 1 in done.pins


def test_a_chain_that_goes_on_behind_the_boundary_is_pinned_from_its_beginning() -> None:
    waits: list[Item] = [user(1), calls("w", "first"), result("first"), calls("w", "late"), said("v", "Please decide.")]
    log: list[Item] = [*waits, *with_calls(4), result("late"), said("w"), *chat(3)]

    done = planned(placed(*log), keep=21)

    assert done is not None
    assert len(waits) <= done.upto <= log.index(result("late"))
    assert {1, 2, 3} <= set(done.pins)


def test_an_open_request_is_pinned_however_old_it_is() -> None:
    log: list[Item] = [user(1), calls("w", "open"), said("v", "Please decide."), *with_calls(6)]

    done = planned(placed(*log), keep=12, open_calls=["open"])

    assert done is not None
    assert 1 in done.pins


def test_pins_that_no_longer_qualify_are_summarised_by_the_next_plan() -> None:
    log: list[Item] = [*with_calls(3), *chat(4)]
    first = planned(placed(*log), keep=9)
    assert first is not None
    memory = carried_out(SessionMemory(), first)
    assert memory.pins == (1, 2, 5, 6, 9, 10)

    longer = placed(*log, *with_calls(4, first=10), *chat(2))
    second = planned(seen(longer, memory), memory, keep=12)

    assert second is not None
    assert set(second.pins).isdisjoint(memory.pins)
    assert {calls("r0", "c0"), calls("r1", "c1"), calls("r2", "c2")} <= set(second.items)


def test_a_correction_that_came_later_goes_with_its_message() -> None:
    log: list[Item] = [user(11, "the budget is 100"), said("t"), *chat(2), Correction(ts="11.0", text="the budget is 200"), *chat(1)]

    done = planned(placed(*log), keep=5)

    assert done is not None
    assert done.upto == 4
    assert user(11, "the budget is 200") in as_read(done.items)
    assert user(11, "the budget is 100") not in as_read(done.items)


def test_corrected_messages_are_read_as_they_were_left_and_deleted_ones_not_at_all() -> None:
    log: list[Item] = [
        user(1, "订单 1001"),
        user(2, "secret 4711"),
        Correction(ts="1.0", text="订单 1002"),
        Correction(ts="2.0", text=None),
        Correction(ts="9.0", text="x"),
    ]

    assert as_read(log) == [user(1, "订单 1002")]
    assert as_read(as_read(log)) == as_read(log)


def test_applying_a_plan_moves_the_boundary_and_says_who_wrote_the_summary() -> None:
    fact = Fact(key="deadline", value="3 June")
    before = SessionMemory(covered=1, compactions=2)

    after = applied(before, Plan(5, (), (2, 3)), Summary(goals=("Ana: ship it",)), [fact], now=12.5, by="model", tokens_before=90, tokens_after=30)

    assert (after.covered, after.pins, after.compactions, after.by) == (5, (2, 3), 3, "model")
    assert (after.summary.goals, after.facts, after.compacted_at) == (("Ana: ship it",), (fact,), 12.5)
    assert (after.tokens_before, after.tokens_after) == (90, 30)


# --- for any history ------------------------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Placed], tuple[str, ...]]:
    """A log with rounds, asides, parallel calls, results that come late, never or not yet, corrections and notes; and the open calls."""
    log: list[Item] = []
    late: list[ToolMessage] = []
    number = 0
    waiting: list[str] = []
    for n in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["talk", "work", "work", "wait", "aside", "note", "edit"]))
        if kind == "aside":
            log.append(user(1000 + n, "午饭吃什么", addressed=False))
        elif kind == "note":
            log.append(Note(text="history is partial"))
        elif kind == "edit":
            log.append(Correction(ts=f"{draw(st.integers(0, n))}.0", text=draw(st.sampled_from([None, "new text"]))))
        else:
            log.append(user(n, draw(st.sampled_from(["查一下订单", "cancel it", "x" * 60]))))
            for _ in range(draw(st.integers(1, 3)) if kind != "talk" else 0):
                ids = [f"c{number + i}" for i in range(draw(st.integers(1, 4)))]
                number += len(ids)
                log.append(calls(f"r{n}", *ids))
                for each in draw(st.permutations(ids)):
                    fate = draw(st.sampled_from(["now", "now", "now", "lost"] if kind == "work" else ["now", "late", "open"]))
                    if fate == "now":
                        log.append(result(each, draw(st.sampled_from([DONE, "y" * 300]))))
                    elif fate == "late":
                        late.append(result(each))
                    elif fate == "open":
                        waiting.append(each)
                if draw(st.sampled_from([True, False])):
                    log.append(user(2000 + number, "by the way", addressed=False))
            if draw(st.sampled_from([True, False])) or kind == "talk":
                log.append(said(f"r{n}"))
        arrives = draw(st.sampled_from(["nothing", "a result", "a result and an answer"]))
        if late and arrives != "nothing":
            log.append(late.pop(0))
            if arrives == "a result and an answer":
                log.append(said(f"late{n}"))
    return placed(*log), (*waiting, *(each.call_id for each in late))


SIZES = st.sampled_from([0, 40, 120, 300, 800])


def lost(items: Sequence[Item]) -> set[str]:
    return {item.call_id for item in items if isinstance(item, ToolMessage) and item.content == LOST}


@settings(max_examples=100)
@given(histories(), SIZES, st.integers(0, 4))
def test_what_stays_can_be_arranged_and_no_result_is_lost(history: tuple[list[Placed], tuple[str, ...]], keep: int, rounds_kept: int) -> None:
    log, waiting = history
    done = planned(log, keep=keep, rounds=rounds_kept, open_calls=waiting, cost=size)
    if done is None:
        return
    memory = carried_out(SessionMemory(), done)
    stays = [item for _, item in seen(log, memory)]
    whole = [item for _, item in log]

    assert lost(arrange(stays, waiting)) <= lost(arrange(whole, waiting))
    carried = {item.call_id for item in arrange(stays, waiting) if isinstance(item, ToolMessage)}
    assert {item.call_id for item in stays if isinstance(item, ToolMessage)} <= carried  # no result without its request
    assert set(waiting) <= carried
    every = [call.id for item in whole if isinstance(item, AssistantMessage) for call in item.calls]
    assert set(every[-3:]) <= carried


@settings(max_examples=100)
@given(histories(), SIZES, st.integers(0, 4))
def test_the_boundary_stands_before_a_message_and_every_item_has_one_place(history: tuple[list[Placed], tuple[str, ...]], keep: int, rounds_kept: int) -> None:
    log, waiting = history
    done = planned(log, keep=keep, rounds=rounds_kept, open_calls=waiting, cost=size)
    if done is None:
        return
    items = [item for _, item in log]

    assert isinstance(items[done.upto], UserMessage)
    starts = rounds(items)
    newest = starts[-min(rounds_kept, len(starts))] if rounds_kept and starts else len(items)
    for at in range(newest, done.upto):  # of the last rounds, only what people said among themselves may go
        item = items[at]
        assert at in done.pins or isinstance(item, Correction) or (isinstance(item, UserMessage) and not item.addressed)
    moved = [item for at, item in log if at < done.upto and at not in done.pins]
    assert list(done.items[: len(moved)]) == moved
    assert all(isinstance(item, Correction) for item in done.items[len(moved) :])
    assert all(at < done.upto and (at >= newest or isinstance(items[at], AssistantMessage | ToolMessage)) for at in done.pins)
    # A chain of calls is on one side of the boundary, or what is on the other side is pinned.
    behind = {item.run_id for item in items[done.upto :] if isinstance(item, AssistantMessage)}
    assert all(at in done.pins for at, item in log[: done.upto] if isinstance(item, AssistantMessage) and item.calls and item.run_id in behind)


@settings(max_examples=100)
@given(histories(), SIZES, st.integers(0, 4))
def test_a_plan_made_again_after_it_was_carried_out_is_none(history: tuple[list[Placed], tuple[str, ...]], keep: int, rounds_kept: int) -> None:
    log, waiting = history
    done = planned(log, keep=keep, rounds=rounds_kept, open_calls=waiting, cost=size)
    if done is not None:
        memory = carried_out(SessionMemory(), done)
        assert planned(seen(log, memory), memory, keep=keep, rounds=rounds_kept, open_calls=waiting, cost=size) is None
        assert done == planned(log, keep=keep, rounds=rounds_kept, open_calls=waiting, cost=size)


@settings(max_examples=60)
@given(histories(), SIZES, st.integers(0, 3))
def test_a_thread_compacted_at_every_step_gives_each_item_to_the_summary_once(
    history: tuple[list[Placed], tuple[str, ...]], keep: int, rounds_kept: int
) -> None:
    log, waiting = history
    memory = SessionMemory()
    told: list[int] = []
    for end in range(1, len(log) + 1):
        so_far = log[:end]
        answered = {item.call_id for _, item in so_far if isinstance(item, ToolMessage)}
        open_now = [call.id for _, item in so_far if isinstance(item, AssistantMessage) for call in item.calls if call.id not in answered]
        view = seen(so_far, memory)
        done = planned(view, memory, keep=keep, rounds=rounds_kept, open_calls=open_now, cost=size)
        if done is not None:
            assert done.upto >= memory.covered
            told += [at for at, _ in view if at < done.upto and at not in done.pins]
            memory = carried_out(memory, done)
        assert lost(arrange([item for _, item in seen(so_far, memory)], open_now)) == set()

    assert sorted(told + list(memory.pins)) == list(range(memory.covered))
    assert len(set(told)) == len(told)
    assert set(waiting) <= {call.id for _, item in seen(log, memory) if isinstance(item, AssistantMessage) for call in item.calls}


@pytest.mark.parametrize("keep", [50, 5_000])
def test_a_thread_of_ten_thousand_items_is_planned_by_counting_each_once_or_twice(keep: int) -> None:
    counted = 0

    def counting(item: Item) -> int:
        nonlocal counted
        counted += 1
        return 1

    log = placed(*with_calls(2_500))
    done = planned(log, keep=keep, cost=counting)

    assert done is not None
    assert counted < 2 * len(log)


def test_the_message_of_a_run_that_waits_for_a_click_stays_with_its_call() -> None:
    log = placed(user(0, "refund it"), calls("r0", "c0"), *(item for n in range(1, 30) for item in (user(n), said(f"q{n}"))))

    done = plan(log, SessionMemory(), keep_tokens=20, keep_rounds=2, count_item=one, open_calls=["c0"], open_requests=["0.0"])

    assert done is not None
    assert done.pins == (0, 1)


def test_a_part_in_which_nothing_was_answered_can_be_summarised_whole() -> None:
    log = placed(user(0, "hello"), *(user(n, "chatter", addressed=False) for n in range(1, 300)))

    done = plan(log, SessionMemory(), keep_tokens=0, keep_rounds=0, count_item=one, open_calls=[])

    assert done is not None
    assert done.upto == 299
