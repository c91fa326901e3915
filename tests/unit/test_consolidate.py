"""Putting memories in order: what is the same becomes one, nothing that holds is lost, and doing it twice does nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, person
from memory.longterm.alike import content, is_han
from memory.longterm.consolidate import DAY, Planned, applied, plan_merge, plan_settle
from memory.longterm.consolidate_aging import plan_expire, plan_lower
from memory.longterm.consolidate_habits import plan_habits
from memory.longterm.episodes import Deed, episode
from memory.longterm.memory import Kind, Memory, Source, memory_id

ANA = Actor(team_id="T1", user_id="UANA")
OWNER = person(ANA)
DM = Thread(team_id="T1", channel_id="D1")
ROOM = Audience(scope="channel", channel_id="C1")
T0 = 1_800_000_000.0
NOW = T0 + 400 * DAY
Plan = Callable[..., list[Planned]]
PLANS: list[Plan] = [plan_merge, plan_settle, plan_habits, plan_lower, plan_expire]


def memory(key: str, text: str, *, at: float = T0, kind: Kind = Kind.FACT, audience: Audience = PRIVATE, via: str = "message", **more: Any) -> Memory:
    source = Source.model_validate({"thread": DM, "ts": repr(at), "said_by": ANA, "via": via})
    fields: dict[str, Any] = {"id": memory_id(OWNER, key, text, repr(at)), "created": at, "language": "zh" if is_han(text) else "en"} | more
    return Memory(owner=OWNER, kind=kind, key=key, text=text, audience=audience, source=source, **fields)


def did(request: str, *tools: str, at: float, topic: str = "order", audience: Audience = PRIVATE, language: str = "en") -> Memory:
    source = Source(thread=DM, ts=repr(at), said_by=ANA, via="run")
    deeds = [Deed(tool, "success", topic) for tool in tools]
    made = episode(owner=OWNER, audience=audience, source=source, request=request, deeds=deeds, outcome="done", at=at, language=language)
    assert made is not None
    return made


def live(memories: Sequence[Memory]) -> list[str]:
    return sorted(each.text for each in memories if each.live)


def run(plan: Plan, memories: Sequence[Memory], **more: Any) -> list[Memory]:
    left = applied(memories, plan(memories, **({"now": NOW} | more)))
    assert plan(left, **({"now": NOW} | more)) == []
    return left


# Merging


def test_the_oldest_of_two_alike_keeps_its_id_and_takes_the_fuller_words() -> None:
    old = memory("allergy:peanut", "I am allergic to peanuts", value="peanut")
    new = memory("allergy:peanut", "I am allergic to peanuts, even traces", value="peanut", at=T0 + DAY, times_said=2)
    left = {each.id: each for each in run(plan_merge, [new, old])}
    assert (left[old.id].text, left[old.id].times_said, left[new.id].superseded_by) == (new.text, 3, old.id)
    assert not left[new.id].live


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (memory("allergy:peanut", "I am allergic to peanuts", value="peanut"), memory("allergy:peanut", "我对花生过敏", value="peanut", at=T0 + 1)),
        (memory("reply", "I prefer short replies in Slack"), memory("answers", "I prefer short replies in Slack.", at=T0 + 1)),
        (memory("回复", "我喜欢简短的回复"), memory("答复", "我喜欢简短的回复。", at=T0 + 1)),
        (memory("like:tea", "I like tea"), memory("like:tea", "I really like tea", at=T0 + 1)),
    ],
    ids=lambda each: each.text,
)
def test_what_says_the_same_becomes_one(one: Memory, other: Memory) -> None:
    left = run(plan_merge, [one, other])
    assert len(live(left)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (memory("like:tea", "I like tea"), memory("like:tea", "I like tea", at=T0 + 1, audience=WORKSPACE)),
        (memory("like:tea", "I like tea"), memory("like:tea", "I don't like tea", at=T0 + 1, negated=True)),
        (memory("reply", "I want short replies"), memory("answers", "I want long replies", at=T0 + 1)),
        (memory("order", "skip payment", condition="when I check orders"), memory("order", "skip payment", condition="when I check refunds", at=T0 + 1)),
        (memory("standup", "standup at 9"), memory("meeting", "standup at 10", at=T0 + 1)),
        (memory("站会", "站会在九点"), memory("会议", "站会在十点", at=T0 + 1)),
        (memory("work", "I work at Acme"), memory("sister", "My sister works at Acme", at=T0 + 1)),
        (
            memory("trip", "I fly to Rome", kind=Kind.PLAN, valid_until=NOW + 9),
            memory("trip", "I fly to Rome", kind=Kind.PLAN, valid_until=NOW + 99, at=T0 + 1),
        ),
    ],
    ids=lambda each: each.text,
)
def test_what_differs_in_one_thing_that_counts_stays_apart(one: Memory, other: Memory) -> None:
    assert plan_merge([one, other], now=NOW, near=lambda left, right: 0.99) == []


def test_a_plan_is_bounded_and_goes_on_where_it_stopped() -> None:
    memories = [memory(f"like:thing{number}", f"I like thing{number}", at=T0 + number + again) for number in range(10) for again in (0, 0.5)]
    left = memories
    for _ in range(5):
        steps = plan_merge(left, now=NOW, limit=4)
        assert 0 < len(steps) <= 4
        left = applied(left, steps)
    assert plan_merge(left, now=NOW, limit=4) == []
    assert len(live(left)) == 10


# Settling


def test_a_dispute_nobody_answered_is_settled_by_the_newest_own_words() -> None:
    old = memory("like:tea", "I like tea")
    new = memory("hate:tea", "I hate tea", at=T0 + 0.5, disputed_with=old.id)
    assert plan_settle([old, new], now=T0 + 3 * DAY) == []
    left = {each.id: each for each in run(plan_settle, [old, new])}
    assert (left[old.id].superseded_by, left[old.id].valid_until, left[new.id].live) == (new.id, new.created, True)


def test_own_words_hold_against_what_a_job_made_however_new() -> None:
    own = memory("like:tea", "我喜欢茶")
    made = memory("hate:tea", "我讨厌茶", at=T0 + DAY, disputed_with=own.id, via="job")
    assert live(run(plan_settle, [own, made])) == ["我喜欢茶"]


def test_a_dispute_whose_other_side_is_gone_is_over() -> None:
    assert live(run(plan_settle, [memory("like:tea", "I like tea", disputed_with="gone")], now=T0)) == ["I like tea"]


def test_of_two_live_values_of_one_key_the_newest_holds() -> None:
    two = [memory("city", f"I live in {city}", at=T0 + n, value=city.casefold(), single=True) for n, city in enumerate(("Berlin", "Paris", "Rome"))]
    assert live(run(plan_settle, two)) == ["I live in Rome"]
    hobbies = [memory("hobby", f"My hobby is {one}", at=T0 + n, value=one) for n, one in enumerate(("chess", "rowing"))]
    assert plan_settle(hobbies, now=NOW) == []


# Habits


def test_three_times_the_same_first_is_a_habit_in_the_persons_words() -> None:
    asked = [did(f"where is order SO-10{n}? only logistics", "get_logistics", at=T0 + n * DAY) for n in range(3)]
    left = run(plan_habits, asked)
    habit = next(each for each in left if each.kind is Kind.HABIT)
    assert (habit.key, habit.value, habit.times_said, habit.language) == ("order", "get_logistics", 3, "en")
    assert habit.text == "About order I usually ask first for: where is order ? only logistics"


def test_a_chinese_habit_is_told_in_chinese() -> None:
    asked = [did(f"查一下订单SO-10{n}的物流", "get_logistics", at=T0 + n * DAY, language="zh") for n in range(3)]
    habit = next(each for each in run(plan_habits, asked) if each.kind is Kind.HABIT)
    assert habit.text.startswith("关于订单，我通常先问：查一下订单")
    assert "SO-10" not in habit.text


def test_twice_is_no_habit_and_neither_is_half_of_the_time() -> None:
    assert plan_habits([did("where is it", "a", at=T0 + n) for n in range(2)], now=NOW) == []
    mixed = [did(f"{words} please", tool, at=T0 + n) for n, (words, tool) in enumerate([("ship red", "a"), ("pay green", "b")] * 3)]
    assert plan_habits(mixed, now=NOW) == []


def test_a_habit_grows_with_new_episodes_and_changes_with_them() -> None:
    asked = [did("where is my parcel", "get_logistics", at=T0 + n * DAY) for n in range(4)]
    first = run(plan_habits, asked)
    grown = run(plan_habits, [*first, did("where is my parcel", "get_logistics", at=T0 + 9 * DAY)])
    habits = [each for each in grown if each.kind is Kind.HABIT]
    assert [each.times_said for each in habits] == [5]
    changed = run(plan_habits, [*grown, *(did("show the invoice", "get_invoice", at=T0 + (20 + n) * DAY) for n in range(12))])
    assert [(each.value, each.times_said) for each in changed if each.kind is Kind.HABIT] == [("get_invoice", 12)]


def test_a_habit_reaches_no_more_people_than_its_episodes() -> None:
    public = [did("where is my parcel", "t", at=T0 + n, audience=WORKSPACE) for n in range(2)]
    private = did("where is my parcel for the surprise", "t", at=T0 + 5)
    room = did("where is my parcel", "t", at=T0 + 6, audience=ROOM)

    def audience(*asked: Memory) -> Audience:
        return next(step.after.audience for step in plan_habits(asked, now=NOW) if step.after)

    assert audience(*public, private) == PRIVATE
    assert audience(*public, room) == ROOM
    assert audience(*public, did("where is my parcel", "t", at=T0 + 7, audience=WORKSPACE), private) == WORKSPACE


def test_a_habit_its_owner_ended_stays_ended_until_it_is_one_again() -> None:
    asked = [did("where is my parcel", "t", at=T0 + n * DAY) for n in range(3)]
    habit = plan_habits(asked, now=NOW)[0].after
    assert habit is not None
    ended = habit.model_copy(update={"superseded_by": "x", "valid_until": T0 + 5 * DAY})
    assert plan_habits([*asked, ended], now=NOW) == []
    again = [did("where is my parcel", "t", at=T0 + n * DAY) for n in (6, 7, 8)]
    assert [step.done for step in plan_habits([*asked, ended, *again], now=NOW)] == ["updated"]


# Aging


def test_the_unused_weighs_less_with_time_and_the_wanted_never() -> None:
    plain = memory("hobby", "My hobby is chess", importance=0.6)
    kept = [
        memory("reply", "answer in Chinese", importance=0.6, always=True),
        memory("a", "remember me", importance=0.6, explicit=True),
        memory("b", "typed in", importance=0.6, via="command"),
        memory("c", "recalled", importance=0.6, last_recalled=NOW - DAY),
    ]
    weights = [applied([plain], plan_lower([plain, *kept], now=T0 + days * DAY))[0].importance for days in (10, 91, 181, 271, 361, 2000)]
    assert weights == [0.6, 0.4, 0.25, 0.15, 0.1, 0.1]
    assert plan_lower(kept, now=T0 + 2000 * DAY)[0].before == kept[3]
    assert len(plan_lower(kept, now=NOW)) == 0


def test_what_is_for_a_time_goes_when_it_is_over() -> None:
    going = [
        memory("trip", "I fly on Friday", kind=Kind.PLAN, valid_until=NOW - 2 * DAY),
        memory("trip2", "I fly some day", kind=Kind.PLAN, at=NOW - 61 * DAY),
        memory("order", "asked ⇒ done: t", kind=Kind.EPISODE, at=NOW - 91 * DAY),
        memory("order:1", "order 1: status open (t)", kind=Kind.ENTITY, at=NOW - 31 * DAY),
        memory("guest", "use the guest room today", expires=NOW - 1),
    ]
    staying = [
        memory("trip3", "I fly on Monday", kind=Kind.PLAN, valid_until=NOW - 0.5 * DAY),
        memory("trip4", "I fly in a year", kind=Kind.PLAN, at=NOW - 99 * DAY, valid_until=NOW + DAY),
        memory("order", "big ⇒ done: t", kind=Kind.EPISODE, at=NOW - 91 * DAY, importance=0.9),
        memory("order:2", "order 2: status open (t)", kind=Kind.ENTITY, at=NOW - 91 * DAY, updated=NOW - 3 * DAY),
        memory("birthday", "我的生日是五月三日", at=T0 - 9999 * DAY),
        memory("reply", "short replies", kind=Kind.PREFERENCE, at=T0 - 9999 * DAY),
    ]
    assert sorted(each.text for each in run(plan_expire, [*going, *staying])) == sorted(each.text for each in staying)
    assert len(plan_expire(going, now=NOW, limit=2)) == 2


# Whatever there is


WORDS = [
    "I like tea",
    "I really like tea",
    "I like green tea",
    "I hate tea",
    "I don't like tea",
    "我喜欢茶",
    "我很喜欢茶",
    "我讨厌茶",
    "我不喜欢茶",
    "I live in Berlin",
    "I live in Paris",
    "我住在北京",
]
MEMORIES = st.lists(
    st.builds(
        lambda text, key, day, kind, audience, value, single, condition, said: memory(
            key,
            text,
            at=T0 + day * DAY,
            kind=kind,
            audience=audience,
            value=value,
            single=single,
            condition=condition,
            times_said=said,
            negated="don't" in text or "不" in text,
        ),
        st.sampled_from(WORDS),
        st.sampled_from(["like:tea", "hate:tea", "city", "tea"]),
        st.integers(0, 300),
        st.sampled_from([Kind.FACT, Kind.PREFERENCE, Kind.PLAN, Kind.AGREEMENT]),
        st.sampled_from([PRIVATE, WORKSPACE, ROOM]),
        st.sampled_from(["", "", "tea", "berlin"]),
        st.booleans(),
        st.sampled_from(["", "", "at work"]),
        st.integers(1, 3),
    ),
    max_size=8,
    unique_by=lambda each: each.id,
)


@given(MEMORIES, st.sampled_from(PLANS))
@settings(max_examples=200)
def test_every_plan_made_of_its_own_result_is_empty(memories: list[Memory], plan: Plan) -> None:
    run(plan, memories)


@given(MEMORIES)
@settings(max_examples=200)
def test_merging_loses_nothing_that_holds(memories: list[Memory]) -> None:
    left = run(plan_merge, memories)
    assert {each.id for each in left} == {each.id for each in memories}
    assert sum(each.times_said for each in left if each.live) >= sum(each.times_said for each in memories if each.live)
    for lost in memories:
        homes = [each for each in left if each.live and each.kind is lost.kind and each.audience == lost.audience]
        assert any(
            content(lost.text) <= content(home.text) or (home.value and home.value == lost.value and is_han(home.text) != is_han(lost.text)) for home in homes
        )


@given(MEMORIES)
@settings(max_examples=100)
def test_settling_ends_only_what_another_took_the_place_of(memories: list[Memory]) -> None:
    left = {each.id: each for each in run(plan_settle, memories)}
    for each in left.values():
        if each.superseded_by:
            heir = left[each.superseded_by]
            assert heir.live
            assert heir.created >= each.created
            assert each.single
            assert heir.single
