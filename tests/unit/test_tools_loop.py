"""Loop control: the same read is not run twice, the same failure not a third time, and a tool that brings nothing new rests for a while."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.loop import (
    COOLING_ROUNDS,
    MAX_FAILURES,
    REMEMBERED,
    WINDOW,
    Cooling,
    Past,
    cooled,
    earlier_answer,
    given_up,
    remembered,
    resting,
)
from tools.result import ErrorCode, Suggestion


def past(key: str, round_: int, *, ok: bool = True, mark: str = "", write: bool = False, tool: str = "") -> Past:
    return Past(tool=tool or key[0], key=key, round=round_, ok=ok, mark=mark or f"{key}{round_}", call_id=f"{key}{round_}", write=write)


# --- answered from the run ------------------------------------------------------------------------------------------------


def test_the_latest_identical_success_answers() -> None:
    history = [past("r1", 0), past("r2", 0), past("r1", 1)]

    assert earlier_answer(history, "r1") == history[2]
    assert earlier_answer(history, "r2") == history[1]
    assert earlier_answer(history, "r3") is None
    assert earlier_answer([], "r1") is None


def test_a_failure_answers_nothing_and_hides_no_earlier_success() -> None:
    assert earlier_answer([past("r1", 0, ok=False)], "r1") is None
    assert earlier_answer([past("r1", 0), past("r1", 1, ok=False)], "r1") == past("r1", 0)


@pytest.mark.parametrize("ok", [True, False], ids=["done", "failed or unknown"])
def test_after_any_write_the_read_runs_again(ok: bool) -> None:
    """One that failed may have been done all the same."""
    history = [past("r1", 0), past("w1", 1, write=True, ok=ok)]

    assert earlier_answer(history, "r1") is None
    assert earlier_answer([*history, past("r1", 2)], "r1") == past("r1", 2)


@pytest.mark.parametrize("order", [1, -1], ids=["read first", "write first"])
def test_a_write_of_the_same_answer_counts_as_later_in_whatever_order_they_were_asked(order: int) -> None:
    """The read ran at once, the write when a person had approved it."""
    assert earlier_answer([past("r1", 0), past("w1", 0, write=True)][::order], "r1") is None


def test_a_write_is_never_answered_from_the_run() -> None:
    assert earlier_answer([past("w1", 0, write=True)], "w1") is None


# --- given up -------------------------------------------------------------------------------------------------------------


def test_the_same_call_that_failed_twice_is_not_run_a_third_time() -> None:
    history = [past("r1", 0, ok=False)]
    assert given_up(history, "read", "r1") is None

    refused = given_up([*history, past("r1", 1, ok=False)], "read", "r1")
    assert refused is not None
    assert (refused.error_code, refused.suggestion, refused.attempts) == (ErrorCode.COOLING_DOWN, Suggestion.USE_OTHER_TOOL, 0)
    assert "has failed 2 times with exactly these arguments" in (refused.error_message or "")


def test_other_arguments_are_another_call() -> None:
    assert given_up([past("r1", 0, ok=False), past("r2", 1, ok=False)], "read", "r1") is None


# --- cooling down ---------------------------------------------------------------------------------------------------------


def test_a_tool_called_three_times_within_three_rounds_without_anything_new_rests() -> None:
    same = [past("r1", n, mark="same") for n in range(4)]  # the first one was new

    assert cooled(same[:3], (), 3) == ()
    assert cooled(same, (), 4) == (Cooling(tool="r", until=4 + COOLING_ROUNDS),)


def test_failures_bring_nothing_new_whatever_they_say() -> None:
    assert cooled([past(f"r{n}", n, ok=False) for n in range(3)], (), 3) == (Cooling(tool="r", until=3 + COOLING_ROUNDS),)


def test_new_results_keep_a_tool_on_offer() -> None:
    assert cooled([past(f"r{n}", n // 3) for n in range(12)], (), 4) == ()


def test_what_happened_more_than_three_rounds_ago_does_not_count() -> None:
    history = [past("r1", 0, ok=False), past("r2", 0, ok=False), past("r3", WINDOW + 1, ok=False)]

    assert cooled(history, (), WINDOW + 2) == ()


def test_a_tool_the_model_has_left_alone_is_not_sent_to_rest_afterwards() -> None:
    assert cooled([*(past("r1", 0, ok=False) for _ in range(3)), past("s1", 1)], (), 2) == ()


def test_it_is_back_after_its_rounds_and_rests_again_only_for_new_reasons() -> None:
    history = [past("r1", n, ok=False) for n in range(3)]
    [rest] = cooled(history, (), 3)
    for round_ in range(3, rest.until):
        history.append(past("s1", round_))
        assert rest in cooled(history, (rest,), round_)

    assert cooled(history, (rest,), rest.until) == ()


def test_other_tools_are_not_touched() -> None:
    history = [past("r1", n, ok=False) for n in range(3)] + [past("s1", 2)]

    assert [each.tool for each in cooled(history, (), 3)] == ["r"]


def test_the_answer_of_a_resting_tool_says_what_to_do_instead() -> None:
    result = resting("search")

    assert (result.error_code, result.suggestion) == (ErrorCode.COOLING_DOWN, Suggestion.USE_OTHER_TOOL)
    assert "'search'" in (result.error_message or "")
    assert "tell the person" in (result.error_message or "")


def test_what_is_remembered_is_bounded_and_the_latest() -> None:
    history: tuple[Past, ...] = ()
    for n in range(REMEMBERED + 5):
        history = remembered(history, [past(f"r{n}", n)])

    assert len(history) == REMEMBERED
    assert history[-1].key == f"r{REMEMBERED + 4}"


# --- any model ------------------------------------------------------------------------------------------------------------


@dataclass
class World:
    """The rules applied the way a run applies them, to a model that calls whatever it likes; `ok` says how a call would end."""

    ok: dict[str, bool]
    history: tuple[Past, ...] = ()
    cooling: tuple[Cooling, ...] = ()
    ran: list[tuple[int, str]] = field(default_factory=list)
    state: int = 0
    """Raised by each write: what reads give depends on it."""

    def round(self, number: int, wanted: list[str]) -> None:
        self.cooling = cooled(self.history, self.cooling, number)
        new: list[Past] = []
        for key in wanted:
            write = key.startswith("w")
            if any(each.tool == key[0] for each in self.cooling) or given_up(self.history, key[0], key) is not None:
                new.append(past(key, number, ok=False, mark="refused", write=False))
                continue
            found = None if write else earlier_answer(self.history, key)
            if found is not None:
                new.append(past(key, number, mark=found.mark))
                continue
            if (number, key) not in self.ran or write:
                self.ran.append((number, key))
            if write and self.ok[key]:
                self.state += 1
            new.append(past(key, number, ok=self.ok[key], mark=f"{key}{self.state}", write=write))
        self.history = remembered(self.history, new)


KEYS = ["r1", "r2", "s1", "w1", "w2"]
CALLS = st.lists(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3), min_size=1, max_size=14)
ENDS = st.fixed_dictionaries({key: st.booleans() for key in KEYS})


@settings(max_examples=300)
@given(CALLS, ENDS)
def test_no_identical_failing_call_runs_in_more_than_two_rounds_and_no_read_twice_without_a_write_between(
    calls: list[list[str]], ends: dict[str, bool]
) -> None:
    world = World(ends)
    for number, wanted in enumerate(calls):
        world.round(number, wanted)

    rounds: dict[str, set[int]] = {}
    for number, key in world.ran:
        rounds.setdefault(key, set()).add(number)
    assert all(len(numbers) <= MAX_FAILURES for key, numbers in rounds.items() if not ends[key])
    writes = sorted(number for number, key in world.ran if key.startswith("w"))
    for key, numbers in rounds.items():
        if ends[key] and not key.startswith("w"):
            ordered = sorted(numbers)
            assert all(any(first <= write < second for write in writes) for first, second in pairwise(ordered))


@given(ENDS, st.sampled_from(KEYS), st.integers(5, 40))
def test_a_model_that_only_repeats_itself_soon_runs_nothing_more(ends: dict[str, bool], key: str, rounds: int) -> None:
    world = World(ends)
    for number in range(rounds):
        world.round(number, [key])

    if key.startswith("w") and ends[key]:  # each needs a person's yes, and brings a change
        assert len(world.ran) == rounds
    else:
        assert len(world.ran) <= MAX_FAILURES


@given(CALLS, ENDS)
def test_cooling_ends_for_every_tool_once_it_is_left_alone(calls: list[list[str]], ends: dict[str, bool]) -> None:
    world = World(ends)
    for number, wanted in enumerate(calls):
        world.round(number, wanted)
        assert all(count == 1 for count in Counter(each.tool for each in world.cooling).values())
        assert all(number < each.until <= number + COOLING_ROUNDS for each in world.cooling)
    for number in range(len(calls), len(calls) + COOLING_ROUNDS + WINDOW + 1):
        world.round(number, [])

    assert world.cooling == ()


def test_a_write_between_makes_the_read_run_again() -> None:
    world = World(dict.fromkeys(KEYS, True))
    script: list[Any] = [["r1"], ["r1"], ["w1"], ["r1"], ["r1"]]
    for number, wanted in enumerate(script):
        world.round(number, wanted)

    assert world.ran == [(0, "r1"), (2, "w1"), (3, "r1")]
