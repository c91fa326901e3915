"""Several messages one after another: a change is never taken for a repetition, what ends something ends it, and doubt keeps both."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, person
from memory.longterm.alike import roles_differ
from memory.longterm.candidate import Candidate, Said
from memory.longterm.memory import Memory, Source, memory_id
from memory.longterm.reconcile import reconcile
from memory.longterm.rules import read

ANA = Actor(team_id="T1", user_id="UANA")
DM = Thread(team_id="T1", channel_id="D1")
AT = 1_764_547_200.0
DAY = 86_400.0


def as_memory(candidate: Candidate, at: float) -> Memory:
    shared = {name: getattr(candidate, name) for name in ("kind", "key", "text", "value", "negated", "condition", "single", "always", "sensitive", "explicit")}
    named = memory_id(person(ANA), repr(at), candidate.key, candidate.text)
    return Memory(id=named, owner=person(ANA), audience=PRIVATE, created=at, source=Source(thread=DM, ts=repr(at), said_by=ANA), **shared)


def told(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is live after the texts were said a day apart, and the steps taken."""
    known: dict[str, Memory] = {}
    steps: list[str] = []
    for number, text in enumerate(texts):
        at = AT + number * DAY
        tongue = "zh" if any("\u4e00" <= each <= "\u9fff" for each in text) else "en"
        for candidate in read(Said(text=text, ts=f"{at:.6f}", at=at, language=tongue, direct=True)).candidates:
            fresh = as_memory(candidate, at)
            verdict = reconcile(candidate, list(known.values()), audience=PRIVATE, said_at=at, memory_id=fresh.id)
            steps.append(verdict.step)
            if verdict.step == "supersede":
                for each in (verdict.target, *verdict.also):
                    known[each] = known[each].model_copy(update={"superseded_by": fresh.id, "valid_until": at})
            if verdict.step in {"add", "supersede", "ask"}:
                known[fresh.id] = fresh
            if verdict.step == "update":
                known[verdict.target] = known[verdict.target].model_copy(update={"text": candidate.text, "updated": at})
    return [memory.text for memory in known.values() if not memory.superseded_by], steps


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I work from home on Mondays", "I work from home on Fridays"),
        ("我周一在家办公", "我周五在家办公"),
        ("Remember I fly from Berlin to Oslo", "Remember I fly from Oslo to Berlin"),
        ("记住我从北京飞上海", "记住我从上海飞北京"),
        ("Remember that Anna reports to Bruno", "Remember that Bruno reports to Anna"),
        ("Remember that invoices are due on the 5th", "Remember that invoices are due on the 10th"),
        ("I don't work from home on Mondays any more", "I work from home on Fridays"),
        ("I work from home on Fridays", "I don't work from home on Mondays any more"),
        ("我周五在家办公", "我周一不在家办公了"),
    ],
)
def test_what_may_both_be_so_is_kept_both_ways(first: str, then: str) -> None:
    live, steps = told((first, then))
    assert steps == ["add", "add"]
    assert len(live) == 2


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I have two cats", "I have three cats"),
        ("我有两只猫", "我有三只猫"),
        ("Remember that the report goes to Anna", "Remember that the report does not go to Anna"),
        ("Remember that the report goes to Anna", "Remember that the report doesn't go to Anna any more"),
        ("记住周报发给小王", "记住周报不发给小王"),
        ("以后发票都抄送小王", "以后发票不用抄送小王"),
        ("I'm learning Spanish", "I gave up learning Spanish"),
        ("我在学西班牙语", "我不学西班牙语了"),
        ("I work from home on Mondays", "I don't work from home on Mondays any more"),
        ("我周一在家办公", "我周一不在家办公了"),
        ("From now on answer in Chinese", "You don't have to answer in Chinese any more"),
        ("以后用中文回答", "不用再用中文回答了"),
        ("I'm vegetarian", "I no longer am a vegetarian"),
        ("I'm vegetarian", "I eat meat again"),
        ("我吃素", "我又吃肉了"),
        ("我吃素", "我现在吃荤了"),
        ("I eat meat", "I'm vegetarian now"),
        ("我不再喜欢咖啡了", "我又喜欢咖啡了"),
        ("I no longer like coffee", "I like coffee again"),
        ("I'm travelling to Tokyo next week", "The Tokyo trip is cancelled"),
        ("I'm travelling to Tokyo next week", "My trip to Tokyo is off"),
        ("我下周去东京出差", "东京的行程取消了"),
        ("when I check orders just tell me where it is, skip payment", "when I check orders show me everything"),
        ("查订单的时候只告诉我物流", "查订单的时候告诉我全部信息"),
    ],
)
def test_what_has_changed_takes_the_place_of_what_was(first: str, then: str) -> None:
    live, steps = told((first, then))
    assert steps == ["add", "supersede"]
    assert len(live) == 1


@pytest.mark.parametrize(("first", "then"), [("I'm allergic to peanuts", "I can eat peanuts now"), ("我对花生过敏", "我现在可以吃花生了")])
def test_that_something_can_be_eaten_ends_no_allergy_but_asks(first: str, then: str) -> None:
    live, steps = told((first, then))
    assert steps == ["add", "ask"]
    assert first in live


@pytest.mark.parametrize(
    ("first", "then"), [("I'm vegetarian", "I eat tofu"), ("我吃素", "我吃豆腐"), ("I'm pescatarian", "I eat fish"), ("我对花生过敏", "我现在可以吃虾了")]
)
def test_what_a_diet_or_an_allergy_leaves_open_contradicts_neither(first: str, then: str) -> None:
    assert told((first, then))[1] == ["add", "add"]


@pytest.mark.parametrize("text", ["The Tokyo trip is cancelled", "东京的行程取消了"])
def test_a_journey_nobody_spoke_of_cannot_be_called_off(text: str) -> None:
    assert told((text,)) == ([], ["ignore"])


@pytest.mark.parametrize(
    ("left", "right", "differ"),
    [
        ("I fly from Berlin to Oslo", "I fly from Oslo to Berlin", True),
        ("Anna reports to Bruno", "Bruno reports to Anna", True),
        ("从北京飞上海", "从上海飞北京", True),
        ("I park on level 2 these days", "These days I park on level 2", False),
        ("In the morning I drink coffee", "I drink coffee in the morning", False),
        ("我在B2层停车", "我停车在B2层", False),
    ],
)
def test_the_same_words_in_another_order_are_the_same_only_where_a_clause_moved(left: str, right: str, differ: bool) -> None:
    assert roles_differ(left, right) is differ
