"""What becomes of a candidate: the same fact is one memory, a change replaces the right one, and nothing else is ever touched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, person
from memory.longterm.alike import alike, conditions, denies, marks, over, same_value, stance, subject
from memory.longterm.candidate import Candidate, Verdict
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.reconcile import reconcile, relation

ANA = Actor(team_id="T1", user_id="UANA")
OWNER = person(ANA)
DM = Thread(team_id="T1", channel_id="D1")
ROOM_A = Audience(scope="channel", channel_id="CA")
ROOM_B = Audience(scope="channel", channel_id="CB")
T0 = 1_800_000_000.0
DAY = 86_400.0


def cand(key: str, text: str, *, kind: Kind = Kind.FACT, **more: Any) -> Candidate:
    return Candidate(kind=kind, key=key, text=text, quote=text, **more)


def kept(candidate: Candidate, *, at: float = T0, audience: Audience = PRIVATE, **more: Any) -> Memory:
    shared = {name: getattr(candidate, name) for name in ("kind", "key", "text", "value", "negated", "condition", "single", "always", "sensitive", "explicit")}
    fields: dict[str, Any] = (
        {"id": memory_id(OWNER, repr(at), candidate.key, candidate.text), "owner": OWNER, "audience": audience, "created": at} | shared | more
    )
    return Memory(source=Source(thread=DM, ts=repr(at), said_by=ANA), **fields)


def after(known: list[Memory], candidate: Candidate, at: float, audience: Audience = PRIVATE) -> tuple[list[Memory], Verdict]:
    """The memories as the verdict leaves them, the way whoever writes them does it."""
    fresh = kept(candidate, at=at, audience=audience)
    verdict = reconcile(candidate, known, audience=audience, said_at=at, memory_id=fresh.id)
    by_id = {memory.id: memory for memory in known}
    match verdict.step:
        case "add":
            by_id[fresh.id] = fresh
        case "reinforce":
            by_id[verdict.target] = by_id[verdict.target].model_copy(update={"times_said": by_id[verdict.target].times_said + 1, "updated": at})
        case "update":
            by_id[verdict.target] = by_id[verdict.target].model_copy(
                update={
                    "text": candidate.text,
                    "value": candidate.value,
                    "audience": audience,
                    "times_said": by_id[verdict.target].times_said + 1,
                    "updated": at,
                }
            )
        case "supersede":
            for each in (verdict.target, *verdict.also):
                by_id[each] = by_id[each].model_copy(update={"superseded_by": fresh.id, "valid_until": at, "updated": at})
            by_id[fresh.id] = fresh
        case "ask":
            by_id[fresh.id] = fresh.model_copy(update={"disputed_with": verdict.target})
        case "ignore":
            pass
    return list(by_id.values()), verdict


def step(known: Candidate, said: Candidate, *, later: float = DAY, where: Audience = PRIVATE, there: Audience = PRIVATE, near: float = 0.0) -> str:
    memory = kept(known, audience=where)
    return reconcile(said, [memory], audience=there, said_at=T0 + later, memory_id="new", near={memory.id: near}).step


BLUE = cand("favourite:colour", "My favourite colour is blue", value="blue", single=True)
GREEN = cand("favourite:colour", "My favourite colour is green now", value="green", single=True)
LAN = cand("favourite:colour", "我最喜欢的颜色是蓝色", value="blue", single=True, language="zh")
LV = cand("favourite:colour", "我现在最喜欢绿色", value="green", single=True, language="zh")
NUTS = cand("allergy:peanut", "I am allergic to peanuts", value="peanut")
NUTS_ZH = cand("allergy:peanut", "我对花生过敏", value="peanut", language="zh")
TEA = cand("like:tea", "I like tea")
SKIP = cand("order", "when I check orders just tell me where it is, skip payment", kind=Kind.PREFERENCE, condition="when I check orders")
SKIP_ZH = cand("order", "查订单时只告诉我物流，不用说付款", kind=Kind.PREFERENCE, condition="查订单时", language="zh")


@pytest.mark.parametrize(
    ("known", "said", "wanted"),
    [
        (BLUE, GREEN, "supersede"),
        (LAN, LV, "supersede"),
        (BLUE, LV, "supersede"),
        (LAN, GREEN, "supersede"),
        (BLUE, BLUE, "reinforce"),
        (BLUE, LAN, "reinforce"),
        (LAN, BLUE, "reinforce"),
        (NUTS, NUTS_ZH, "reinforce"),
        (NUTS_ZH, cand("allergy:peanut", "我对花生过敏", value="peanut"), "reinforce"),
        (NUTS, cand("allergy:peanut", "Remember that I'm allergic to peanuts!", value="peanut"), "reinforce"),
        (NUTS, cand("allergy:peanut", "I am allergic to peanuts and carry an EpiPen", value="peanut"), "update"),
        (NUTS_ZH, cand("allergy:peanut", "我对花生过敏，吃了会休克", value="peanut"), "update"),
        (NUTS, cand("allergy:shrimp", "I am allergic to shrimp", value="shrimp"), "add"),
        (NUTS_ZH, cand("allergy:shrimp", "我对虾过敏", value="shrimp"), "add"),
        (NUTS, cand("like:peanut", "I love peanut butter jokes"), "add"),
        (NUTS, cand("allergy:peanut", "I'm not allergic to peanuts", value="peanut", negated=True), "supersede"),
        (NUTS_ZH, cand("allergy:peanut", "我对花生不过敏", value="peanut", negated=True), "supersede"),
        (TEA, cand("hate:tea", "I hate tea"), "supersede"),
        (TEA, cand("dislike:tea", "I can't stand tea"), "supersede"),
        (TEA, cand("like:tea", "I don't like tea", negated=True), "supersede"),
        (TEA, cand("like:tea", "I love tea"), "reinforce"),
        (TEA, cand("like:coffee", "I like coffee"), "add"),
        (cand("like:香菜", "我喜欢香菜"), cand("hate:香菜", "我讨厌香菜"), "supersede"),
        (cand("like:香菜", "我喜欢香菜"), cand("like:香菜", "我不喜欢香菜", negated=True), "supersede"),
        (cand("like:香菜", "我喜欢香菜"), cand("like:葱", "我喜欢葱"), "add"),
        (cand("weather", "I hate rainy days"), cand("rain", "I love rainy days"), "supersede"),
        (cand("weather", "我讨厌下雨天"), cand("rain", "我喜欢下雨天"), "supersede"),
        (cand("hate:rain", "I hate rain"), cand("like:rain", "I don't like rain", negated=True), "reinforce"),
        (SKIP, cand("order", "when I check orders always show payment too", kind=Kind.PREFERENCE, condition="when I check refunds"), "add"),
        (SKIP, cand("order", SKIP.text, kind=Kind.PREFERENCE, condition="when I check my orders"), "reinforce"),
        (SKIP_ZH, cand("order", SKIP_ZH.text, kind=Kind.PREFERENCE, condition="查订单的时候"), "reinforce"),
        (
            cand("reply_language", "answer in English", value="en", single=True),
            cand("reply_language", "answer in Chinese at work", value="zh", single=True, condition="at work"),
            "add",
        ),
        (cand("hobby", "My hobby is chess", value="chess"), cand("hobby", "My hobby is rowing", value="rowing"), "add"),
        (cand("hobby", "我的爱好是下棋", value="下棋"), cand("hobby", "我的爱好是划船", value="划船"), "add"),
        (
            cand("favourite:colour", "My favourite colour is blue", value="blue", single=True),
            cand("favourite:colour", "It is dark blue", value="dark blue", single=True),
            "update",
        ),
        (cand("city", "I live in Berlin", value="berlin", single=True), cand("city", "I don't live in Paris", value="paris", negated=True, single=True), "add"),
        (cand("city", "I live in Berlin", value="berlin", single=True), cand("city", "I moved to Paris", value="paris", single=True), "supersede"),
        (cand("city", "我住在北京", value="北京", single=True), cand("city", "我搬到上海了", value="上海", single=True), "supersede"),
        (SKIP, cand("order", "when I check orders skip the invoices", kind=Kind.PREFERENCE, condition="when I check orders"), "add"),
        (SKIP_ZH, cand("order", "查订单时不用说发票", kind=Kind.PREFERENCE, condition="查订单时"), "add"),
        (cand("sport", "I follow the Lakers games"), cand("sport", "I follow the Bulls games"), "add"),
        (cand("like:tea", "I like tea with breakfast"), cand("like:tea", "I like tea at work"), "add"),
        (cand("like:茶", "我喜欢早饭配茶"), cand("like:茶", "我喜欢上班喝茶"), "add"),
        (cand("report", "send me the weekly sales report as a table"), cand("report", "give me the weekly sales report as a table"), "update"),
        (cand("report", "mail the weekly sales report as a table"), cand("report", "mail the weekly sales report as a chart"), "update"),
        (NUTS, cand("allergy:peanut", "peanuts are dangerous, my allergy dates from birth", value="peanut"), "update"),
        (cand("employer", "I work at Acme"), cand("sister", "My sister works at Acme"), "add"),
        (cand("work", "我在北京工作"), cand("sister", "我姐在北京工作"), "add"),
        (cand("reply", "I want short replies"), cand("answers", "I want long replies"), "add"),
        (cand("standup", "Our standup is at 9"), cand("meeting", "Our standup is at 10"), "add"),
        (cand("standup", "我们的站会在九点"), cand("meeting", "我们的站会在十点"), "add"),
        (cand("meeting", "My review is on Tuesday"), cand("review", "My review is on Thursday"), "add"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.text,
)
def test_a_later_saying_does_to_a_known_one(known: Candidate, said: Candidate, wanted: str) -> None:
    assert step(known, said) == wanted


def test_nearness_in_meaning_alone_never_makes_two_sayings_one() -> None:
    assert step(cand("reply", "I want short replies"), cand("answers", "I want long replies"), near=0.99) == "add"
    assert step(cand("sport", "I follow the Lakers games"), cand("sport", "I follow the Bulls games"), near=0.99) == "add"


@pytest.mark.parametrize(
    ("first", "second"),
    [(BLUE, GREEN), (LAN, LV), (TEA, cand("hate:tea", "I hate tea")), (NUTS, cand("allergy:peanut", "I am not allergic to peanuts", negated=True))],
)
def test_a_contradiction_of_one_moment_is_asked_about_and_an_older_one_ignored(first: Candidate, second: Candidate) -> None:
    assert step(first, second, later=0.0) == "ask"
    assert step(first, second, later=-DAY) == "ignore"


def test_opposite_sayings_under_conditions_that_overlap_are_asked_about() -> None:
    known = cand("like:tea", "I like tea in the morning", condition="in the morning")
    assert step(known, cand("hate:tea", "I hate tea on a Monday morning", condition="on a Monday morning")) == "ask"
    assert step(known, cand("hate:tea", "I hate tea at night", condition="at night")) == "add"


@pytest.mark.parametrize(
    ("known", "said", "wanted"),
    [
        (TEA, cand("like:tea", "I no longer like tea", retracts=True), "supersede"),
        (TEA, cand("drinks", "I no longer like tea", retracts=True), "supersede"),
        (cand("like:香菜", "我喜欢吃香菜"), cand("like:香菜", "我不再喜欢香菜", retracts=True), "supersede"),
        (cand("like:香菜", "我喜欢吃香菜"), cand("香菜", "我现在不喜欢香菜了", retracts=True), "supersede"),
        (cand("hate:tea", "I hate tea"), cand("like:tea", "I no longer like tea", retracts=True), "ignore"),
        (
            cand("employer", "I work at Acme", value="acme", single=True),
            cand("employer", "I no longer work at Acme", value="acme", single=True, retracts=True),
            "supersede",
        ),
        (
            cand("employer", "I work at Bolt", value="bolt", single=True),
            cand("employer", "I no longer work at Acme", value="acme", single=True, retracts=True),
            "ignore",
        ),
        (cand("hobby", "My hobby is chess", value="chess"), cand("hobby", "I no longer row", value="rowing", retracts=True), "ignore"),
        (cand("trip", "I fly to Guangzhou on Friday", kind=Kind.PLAN), cand("trip", "I no longer fly to Guangzhou", retracts=True), "supersede"),
        (TEA, cand("diet", "I no longer eat meat", negated=True, retracts=True), "add"),
        (SKIP, cand("order", "I no longer want you to skip payment", retracts=True, kind=Kind.PREFERENCE), "supersede"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.text,
)
def test_a_retraction_ends_what_it_names_and_nothing_else(known: Candidate, said: Candidate, wanted: str) -> None:
    assert step(known, said) == wanted


def test_a_retraction_said_twice_changes_nothing_more() -> None:
    gone = cand("like:tea", "I no longer like tea", retracts=True)
    known, first = after([kept(TEA)], gone, T0 + DAY)
    _, second = after(known, gone, T0 + 2 * DAY)
    assert (first.step, second.step) == ("supersede", "reinforce")


@pytest.mark.parametrize(
    ("where", "there", "said", "wanted"),
    [
        (PRIVATE, WORKSPACE, NUTS, "update"),
        (PRIVATE, ROOM_A, NUTS, "update"),
        (ROOM_A, WORKSPACE, NUTS_ZH, "update"),
        (WORKSPACE, PRIVATE, NUTS, "reinforce"),
        (ROOM_A, PRIVATE, NUTS, "reinforce"),
        (ROOM_A, ROOM_B, NUTS, "add"),
        (WORKSPACE, PRIVATE, cand("allergy:peanut", "I am allergic to peanuts and nearly died last year", value="peanut"), "add"),
    ],
)
def test_what_is_said_again_elsewhere_reaches_no_more_people_than_it_was_said_to(where: Audience, there: Audience, said: Candidate, wanted: str) -> None:
    assert step(NUTS, said, where=where, there=there) == wanted


def test_a_private_wording_with_more_in_it_stays_beside_the_public_one() -> None:
    private = cand("allergy:peanut", "I am allergic to peanuts, nearly died at my sister's wedding in Rome", value="peanut")
    assert step(private, NUTS, where=PRIVATE, there=WORKSPACE) == "add"
    sensitive = private.model_copy(update={"text": NUTS.text, "sensitive": True})
    assert step(sensitive, NUTS, where=PRIVATE, there=WORKSPACE) == "reinforce"
    assert step(sensitive, NUTS.model_copy(update={"explicit": True}), where=PRIVATE, there=WORKSPACE) == "update"


def test_a_change_ends_every_form_of_the_fact_wherever_it_was_said() -> None:
    known = [kept(BLUE, audience=ROOM_A), kept(BLUE, at=T0 + 5, audience=ROOM_B)]
    verdict = reconcile(GREEN, known, audience=PRIVATE, said_at=T0 + DAY, memory_id="new")
    assert verdict.step == "supersede"
    assert {verdict.target, *verdict.also} == {memory.id for memory in known}


def test_a_plan_replaces_no_fact_and_a_habit_no_entity() -> None:
    assert (
        step(cand("city", "I live in Berlin", value="berlin", single=True), cand("city", "I move to Paris in May", value="paris", single=True, kind=Kind.PLAN))
        == "add"
    )
    assert step(cand("order:7", "order 7: status open", kind=Kind.ENTITY, single=True), cand("order:7", "order 7 is closed", single=True)) == "add"
    assert step(cand("deploy", "we deploy on Tuesdays", kind=Kind.AGREEMENT, single=True), cand("deploy", "I deploy on Mondays", single=True)) == "add"
    assert (
        step(
            cand("deploy", "we deploy on Tuesdays", kind=Kind.AGREEMENT, single=True), cand("deploy", "we deploy on Mondays", single=True, kind=Kind.AGREEMENT)
        )
        == "supersede"
    )


def test_a_plan_whose_time_is_over_is_not_compared() -> None:
    trip = cand("trip", "I fly to Guangzhou on Friday", kind=Kind.PLAN, single=True, value="2027-01-15")
    over_now = kept(trip, valid_until=T0 + 3 * DAY)
    again = trip.model_copy(update={"value": "2027-02-05"})
    assert reconcile(again, [over_now], audience=PRIVATE, said_at=T0 + 9 * DAY, memory_id="new").step == "add"
    assert reconcile(again, [over_now], audience=PRIVATE, said_at=T0 + DAY, memory_id="new").step == "supersede"


def test_the_same_message_read_twice_counts_once() -> None:
    known, first = after([], BLUE, T0)
    known, again = after(known, BLUE, T0)
    assert (first.step, again.step) == ("add", "ignore")
    known, said_again = after(known, BLUE, T0 + DAY)
    known, reread = after(known, BLUE, T0 + DAY)
    assert (said_again.step, reread.step, known[0].times_said) == ("reinforce", "ignore", 2)


def test_what_was_said_before_it_ended_does_not_come_back_when_it_is_read_late() -> None:
    ended = kept(TEA, superseded_by="x", valid_until=T0 + 5 * DAY, updated=T0 + 5 * DAY)
    late = reconcile(TEA, [ended], audience=PRIVATE, said_at=T0 + DAY, memory_id="new")
    new = reconcile(TEA, [ended], audience=PRIVATE, said_at=T0 + 9 * DAY, memory_id="new")
    assert (late.step, new.step) == ("ignore", "add")


@pytest.mark.parametrize(
    ("a", "b"), [(BLUE, GREEN), (LAN, LV), (TEA, cand("hate:tea", "I hate tea")), (cand("like:香菜", "我喜欢香菜"), cand("like:香菜", "我讨厌香菜"))]
)
def test_there_and_back_again_leaves_the_first_live_and_the_second_superseded_with_dates(a: Candidate, b: Candidate) -> None:
    known: list[Memory] = []
    for day, said in enumerate((a, b, a)):
        known, _ = after(known, said, T0 + day * DAY)
    live = [memory for memory in known if memory.live]
    ended = {memory.text: memory.valid_until for memory in known if memory.superseded_by}
    assert [memory.text for memory in live] == [a.text]
    assert ended == {a.text: T0 + DAY, b.text: T0 + 2 * DAY}


def test_the_order_of_what_is_known_does_not_matter() -> None:
    known = [kept(BLUE), kept(NUTS, at=T0 + 9), kept(TEA, at=T0 + 5), kept(LAN, at=T0 + 7, audience=WORKSPACE)]
    verdicts = {reconcile(GREEN, order, audience=PRIVATE, said_at=T0 + DAY, memory_id="n").model_dump_json() for order in (known, known[::-1])}
    assert len(verdicts) == 1


FACTS = [
    BLUE,
    LAN,
    NUTS,
    NUTS_ZH,
    TEA,
    SKIP,
    SKIP_ZH,
    GREEN,
    LV,
    *(cand(f"like:{one}", f"I like {one}", value="") for one in ("coffee", "chess", "rain")),
    *(cand(f"hate:{one}", f"I hate {one}") for one in ("coffee", "chess", "rain")),
    *(cand(f"like:{one}", f"我喜欢{one}", language="zh") for one in ("香菜", "爬山", "下雨")),
    *(cand(f"hate:{one}", f"我讨厌{one}", language="zh") for one in ("香菜", "爬山", "下雨")),
    cand("name", "Call me Leo", value="leo", single=True),
    cand("name", "叫我小李", value="小李", single=True, language="zh"),
    cand("hobby", "My hobby is chess", value="chess"),
    cand("hobby", "我的爱好是爬山", value="爬山", language="zh"),
    cand("diet", "I don't eat meat", value="meat", negated=True),
    cand("diet", "我不吃肉", value="meat", negated=True, language="zh"),
]


@given(st.lists(st.sampled_from(FACTS), max_size=12))
@settings(max_examples=150)
def test_nothing_is_ever_touched_but_what_has_the_same_subject_or_the_same_words(said: list[Candidate]) -> None:
    known: list[Memory] = []
    for number, candidate in enumerate(said):
        before = {memory.id: memory for memory in known}
        known, verdict = after(known, candidate, T0 + number * DAY)
        for target in (verdict.target, *verdict.also):
            if target and (old := before.get(target)):
                assert subject(old.key)[0] == subject(candidate.key)[0] or alike(old.text, candidate.text)
        untouched = {memory.id for memory in known if before.get(memory.id) == memory}
        assert {key for key, memory in before.items() if subject(memory.key)[0] != subject(candidate.key)[0]} <= untouched


@given(st.lists(st.sampled_from(FACTS), max_size=10), st.sampled_from(FACTS))
@settings(max_examples=150)
def test_saying_the_same_once_more_never_makes_a_second_memory(said: list[Candidate], twice: Candidate) -> None:
    known: list[Memory] = []
    for number, candidate in enumerate([*said, twice]):
        known, _ = after(known, candidate, T0 + number * DAY)
    live = sorted(memory.id for memory in known if memory.live)
    again, verdict = after(known, twice, T0 + 99 * DAY)
    assert verdict.step in {"reinforce", "update"}
    assert sorted(memory.id for memory in again if memory.live) == live


@given(st.permutations(FACTS[:9]))
@settings(max_examples=40)
def test_a_reading_of_everything_a_second_time_changes_nothing(said: list[Candidate]) -> None:
    known: list[Memory] = []
    for number, candidate in enumerate(said):
        known, _ = after(known, candidate, T0 + number * DAY)
    again = known
    for number, candidate in enumerate(said):
        again, verdict = after(again, candidate, T0 + number * DAY)
        assert verdict.step == "ignore"
    assert again == known


@pytest.mark.parametrize(
    ("text", "side", "denied", "ended"),
    [
        ("I hate rainy days", -1, False, False),
        ("I don't hate rain", 1, True, False),
        ("我喜欢下雨天", 1, False, False),
        ("我不喜欢下雨天", -1, True, False),
        ("I can't stand coriander", -1, False, False),
        ("I no longer like tea", -1, True, True),
        ("我不再喜欢香菜", -1, True, True),
        ("我不吃肉了", 0, True, True),
        ("I am used to spicy food", 0, False, False),
        ("特别的一天", 0, False, False),
        ("no problem with tea", 0, False, False),
    ],
)
def test_liking_denying_and_ending_are_read_from_the_words(text: str, side: int, denied: bool, ended: bool) -> None:
    assert (stance(text), denies(text), over(text)) == (side, denied, ended)


def test_marks_conditions_and_values_are_compared_in_their_plain_form() -> None:
    assert marks("at three on Monday") == marks("周一3点")
    assert same_value("5,000", "5000")
    assert same_value("Peanuts", "peanut")
    assert not same_value("day 3", "day 4")
    assert conditions("when I check orders", "When I check my orders") == "same"
    assert conditions("查订单时", "查天气时") != "same"
    assert subject("favorite:colors") == subject("favourite:colour")
    assert relation(BLUE, kept(LAN)) == "same"
