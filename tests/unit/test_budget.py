"""Sharing out the window: what each part may take, and where unused tokens go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.budget import ContextBudget, Shares

SIZES = st.integers(0, 300_000)
PERCENT = st.tuples(*[st.integers(1, 20)] * 5).map(lambda parts: Shares(*(part / 100 for part in parts)))
BUDGETS = st.builds(ContextBudget, st.integers(1, 2_000_000), st.just(Shares()) | PERCENT, st.floats(0.01, 1), st.integers(1, 50))


def test_the_window_is_shared_out_by_the_defaults() -> None:
    budget = ContextBudget(100_000)

    assert (budget.system, budget.long_term, budget.session, budget.current, budget.answer) == (10_000, 15_000, 50_000, 5_000, 20_000)
    assert (budget.compact_at, budget.keep_rounds) == (0.60, 4)


def test_what_the_small_parts_leave_unused_goes_to_the_session() -> None:
    allotment = ContextBudget(100_000).allot(system=4_000, long_term=0, current=1_000)

    assert allotment.session == 50_000 + 6_000 + 15_000 + 4_000
    assert (allotment.answer, allotment.over) == (20_000, 0)


def test_what_they_need_beyond_their_share_is_taken_from_the_session_and_never_from_the_answer() -> None:
    allotment = ContextBudget(100_000).allot(system=10_000, long_term=15_000, current=40_000)

    assert (allotment.session, allotment.answer) == (15_000, 20_000)


def test_a_message_larger_than_all_leaves_the_session_nothing_and_says_by_how_much_it_is_too_large() -> None:
    allotment = ContextBudget(100_000).allot(system=10_000, long_term=0, current=100_000)

    assert (allotment.session, allotment.over, allotment.answer) == (0, 30_000, 20_000)


def test_compaction_is_due_above_a_part_of_what_the_session_has() -> None:
    budget = ContextBudget(100_000, compact_at=0.6)

    assert budget.threshold(budget.allot(system=10_000, long_term=15_000, current=5_000)) == 30_000


@given(BUDGETS, SIZES, SIZES, SIZES)
def test_the_parts_are_never_more_than_the_window(budget: ContextBudget, system: int, long_term: int, current: int) -> None:
    got = budget.allot(system=system, long_term=long_term, current=current)

    assert budget.system + budget.long_term + budget.session + budget.current + budget.answer <= budget.window
    assert got.system + got.long_term + got.current + got.session + got.answer <= budget.window + got.over
    assert (got.session == 0) or (got.over == 0)
    assert got.session >= 0
    assert 0 <= budget.threshold(got) <= got.session


@given(BUDGETS, SIZES, SIZES, SIZES, st.integers(0, 1000))
def test_a_token_less_for_any_part_is_a_token_more_for_the_session(budget: ContextBudget, system: int, long_term: int, current: int, less: int) -> None:
    before = budget.allot(system=system + less, long_term=long_term, current=current)
    after = budget.allot(system=system, long_term=long_term, current=current)

    assert after.session - before.session == less or before.session == 0
    assert after.session >= before.session
    assert budget.allot(system=long_term, long_term=current, current=system).session == after.session


@given(BUDGETS, st.floats(0.05, 0.95))
def test_a_shrunk_budget_is_smaller_in_every_part_and_otherwise_the_same(budget: ContextBudget, factor: float) -> None:
    small = budget.shrunk(factor)

    assert 1 <= small.window <= max(1, budget.window * factor)
    assert small.session <= budget.session
    assert (small.shares, small.compact_at, small.keep_rounds) == (budget.shares, budget.compact_at, budget.keep_rounds)


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("", Shares()),
        ("system=10,long_term=15,session=50,current=5,answer=20", Shares()),
        (" session = 40% , answer=30 ,", Shares(session=0.4, answer=0.3)),
        ("system=2.5", Shares(system=0.025)),
    ],
)
def test_shares_are_written_in_percent_and_the_rest_keeps_its_default(text: str, shares: Shares) -> None:
    assert Shares.parse(text) == shares


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("session=51", "must not add up to more than 100"),
        ("system=0", "share of system must be above 0"),
        ("answer=-1", "share of answer must be above 0"),
        ("answer=nan", "share of answer must be above 0"),
        ("answer=inf", "share of answer must be above 0"),
        ("history=5", "history is no part of the context; the parts are system, long_term, session, current, answer"),
        ("system", "system needs a number of percent, as in system=10"),
        ("system=ten", "system needs a number"),
        ("system=5,system=6", "system is given twice"),
    ],
)
def test_shares_that_make_no_sense_are_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Shares.parse(text)


@pytest.mark.parametrize("wrong", [{"window": 0}, {"window": 10, "compact_at": 0.0}, {"window": 10, "compact_at": 1.1}, {"window": 10, "keep_rounds": 0}])
def test_a_budget_of_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        ContextBudget(**wrong)


@pytest.mark.parametrize("factor", [0, 1, 1.5, -1])
def test_a_budget_shrinks_by_a_part(factor: float) -> None:
    with pytest.raises(ValueError):
        ContextBudget(1000).shrunk(factor)
