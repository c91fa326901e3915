"""Recall's decisions: what a request asks for, which memories fit it and which go with it, in English and Chinese alike."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from evals.longterm_systems import Shelf
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Reader, person
from memory.longterm.asking import Asked, understood
from memory.longterm.indexed import embed_text, words_of
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.question import Found, Question
from memory.longterm.ranking import LINE_COST, Match, chosen, ranked
from memory.longterm.records import of_memory
from memory.longterm.sparse import query_words, record_words

ANN = Actor(team_id="T1", user_id="U0ANN")
BOB = Actor(team_id="T1", user_id="U0BOB")
THREAD = Thread(team_id="T1", channel_id="D1", thread_ts="1.000001")
READER = Reader(actor=ANN, thread=THREAD, room_type="im")
NOW = datetime(2024, 6, 12, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


def memory(text: str, *, kind: Kind = Kind.FACT, key: str = "", at: float = NOW - 40 * DAY, said_by: Actor = ANN, ts: str = "", **rest: Any) -> Memory:
    owner = person(ANN)
    source = Source(thread=THREAD, ts=ts, said_by=said_by)
    return Memory(id=memory_id(owner, text, str(at)), owner=owner, kind=kind, key=key, text=text, audience=PRIVATE, source=source, created=at, **rest)


def question(text: str, *recent: str, **rest: Any) -> Question:
    return Question(READER, text, recent=recent, now=NOW, **rest)


def found(asking: Question, memories: Sequence[Memory]) -> list[Found]:
    """Found by words alone, as when there is no embedding model."""
    asked = understood(asking)
    shelf = Shelf([of_memory(each, dense=None, words=words_of(each)) for each in memories])
    return ranked(asked, shelf.search([], asked.words, 100), now=asking.now)


def word_count(text: str) -> int:
    return len(text.split())


def told(asking: Question, memories: Sequence[Memory], *, k: int = 8, tokens: int = 1_000) -> list[str]:
    return [each.memory.text for each in chosen(found(asking, memories), k=k, tokens=tokens, count=word_count)]


def matches(*each: tuple[Memory, float | None, float | None]) -> list[Match]:
    """Found so near, in spreads of what is usual, and with so much of the words."""
    return [Match(of_memory(one, dense=None, words={}), near, near, words) for one, near, words in each]


TWINS = {
    "en": (
        ["I am allergic to peanuts", "My sister lives in Lyon", "I drive a green van"],
        "Satay with a peanut allergy?",
        "Who wrote the opera Carmen?",
    ),
    "zh": (["我对花生过敏", "我妹妹住在里昂", "我开一辆绿色面包车"], "花生过敏能吃沙爹吗", "歌剧卡门是谁写的"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_fits_is_told_and_nothing_is_when_nothing_does(language: str) -> None:
    texts, fitting, unrelated = TWINS[language]
    memories = [memory(text, language=language) for text in texts]
    assert told(question(fitting), memories) == [texts[0]]
    assert told(question(unrelated), memories) == []


@pytest.mark.parametrize("text", ["What did I tell you last month?", "上个月我说过什么", "上个月我跟你说的那家店"])
def test_what_was_said_in_a_named_time_shuts_out_other_times(text: str) -> None:
    asked = understood(question(text, timezone="UTC"))
    assert (asked.since, asked.until) == (datetime(2024, 5, 1, tzinfo=UTC).timestamp(), datetime(2024, 6, 1, tzinfo=UTC).timestamp())


@pytest.mark.parametrize("text", ["Where did my sister go last month?", "我妹妹上个月去了哪里", "5月2日怎么样", "What happened yesterday?"])
def test_a_time_in_which_something_was_is_only_a_hint(text: str) -> None:
    asked = understood(question(text))
    assert asked.since is None
    assert asked.until is None
    assert len(asked.spans) == 1


def test_days_are_those_of_the_person_who_asks() -> None:
    there = understood(question("What did I say yesterday?", timezone="Asia/Shanghai"))
    assert there.since == datetime(2024, 6, 10, 16, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("text", ["what did we eat in the restaurant in May", "我们5月在餐厅吃了什么"])
def test_a_memory_of_the_day_named_comes_before_one_that_says_the_same_of_another_day(text: str) -> None:
    of_may = memory("We ate noodles in the restaurant 餐厅吃面条", at=datetime(2024, 5, 2, tzinfo=UTC).timestamp())
    of_june = memory("We ate dumplings in the restaurant 餐厅吃饺子", at=datetime(2024, 6, 2, tzinfo=UTC).timestamp())
    first = found(question(text), [of_june, of_may])[0]
    assert (first.memory.id, first.why) == (of_may.id, "date")


@pytest.mark.parametrize("text", ["check my order, as usual", "老样子,查一下订单", "订单照旧"])
def test_as_usual_finds_the_habit_by_what_it_is_and_not_by_its_words(text: str) -> None:
    habit = memory("Ann starts with the parcel's whereabouts", kind=Kind.HABIT, key="order")
    other = memory("My cousin sells orders of cheese, as usual 老样子 订单 照旧", kind=Kind.FACT, key="cousin")
    asked = understood(question(text))
    assert asked.habit
    assert "order" in asked.keys
    order = ranked(asked, matches((other, 0.80, 4.0), (habit, None, None)), now=NOW)
    assert order[0].memory == habit
    assert (order[0].fits, order[0].why) == (True, "key")


@pytest.mark.parametrize(
    ("text", "habit"), [("do it again like last time", True), ("跟上次一样", True), ("what is the weather", False), ("今天天气怎么样", False)]
)
def test_a_wish_for_the_usual_is_seen_in_both_languages(text: str, habit: bool) -> None:
    assert understood(question(text)).habit is habit


@pytest.mark.parametrize("text", ["What is my name?", "我叫什么"])
def test_the_very_thing_asked_for_fits_whatever_its_words(text: str) -> None:
    name = memory("Call me Nan", key="name")
    assert ranked(understood(question(text)), matches((name, None, None)), now=NOW)[0].fits


def test_whoever_is_named_called_themselves_i() -> None:
    asked = understood(question("Where did Bob park Ann's van?", names=("Ann",), people={"Bob": BOB.user_id}))
    assert asked.queries == ("Where did I park my van?",)
    assert asked.speakers == {ANN.user_id, BOB.user_id}
    assert understood(question("小李的车停在哪", people={"小李": "U0LI"})).queries == ("我的车停在哪",)
    assert understood(question("what will Will do", people={"Will": "U0W"})).queries == ("what will I do",)


def test_what_the_named_person_said_comes_first() -> None:
    by_ann, by_bob = memory("The van is in the yard", at=NOW - 2), memory("The van stands in the yard", at=NOW - 3, said_by=BOB)
    asked = understood(question("Where does Bob say the van is?", people={"Bob": BOB.user_id}))
    assert [each.memory.source.said_by for each in ranked(asked, matches((by_ann, 0.81, 2.0), (by_bob, 0.81, 2.0)), now=NOW)] == [BOB, ANN]


def test_earlier_messages_count_but_less_than_the_request() -> None:
    asked = understood(question("and where?", "my sister's wedding"))
    assert asked.queries == ("my sister's wedding\nand where?", "and where?")
    both = understood(question("wedding", "sister"))
    words = query_words([("wedding", 1.0)])
    assert all(both.words[key] == 1.0 for key in words)
    assert 0 < min(both.words.values()) < 1


def test_neither_leg_shuts_out_what_the_other_found() -> None:
    asked = understood(question("peanut"))
    by_words, by_meaning = memory("peanut butter"), memory("groundnuts")
    assert {each.memory.id for each in ranked(asked, matches((by_words, None, 3.0), (by_meaning, 0.85, None)), now=NOW)} == {by_words.id, by_meaning.id}


def test_near_in_meaning_fits_only_when_it_is_nearer_than_all_are() -> None:
    asked = understood(question("What should I avoid at dinner?"))
    rest = [(memory(f"Remark number {number} on trains"), number / 10, None) for number in range(10)]
    near = memory("Nuts make me ill")
    outstanding = ranked(asked, matches((near, 3.0, None), *rest), now=NOW)
    assert [each.memory for each in outstanding if each.fits] == [near]
    assert not any(each.fits for each in ranked(asked, matches((near, 1.2, None), *rest), now=NOW))


@pytest.mark.parametrize(("personal", "other"), [("Where do I live?", "What is 12 times 17?"), ("我住在哪里？", "12乘17等于多少？")])
def test_a_request_that_does_not_speak_of_the_person_needs_more_to_recall_anything(personal: str, other: str) -> None:
    home = memory("I moved to Hangzhou")
    assert ranked(understood(question(personal)), matches((home, 2.0, None)), now=NOW)[0].fits
    assert not ranked(understood(question(other)), matches((home, 2.0, None)), now=NOW)[0].fits


def test_what_is_near_to_the_talk_alone_is_not_told_when_the_request_turns_to_something_else() -> None:
    rain = of_memory(memory("I hate rainy days", kind=Kind.FACT), dense=None, words={})
    asked = understood(question("What is 12 * 12?", "I hate rainy days, remember that"))
    assert not ranked(asked, [Match(rain, 4.5, 0.1, None)], now=NOW)[0].fits
    assert ranked(understood(question("And what do I hate most?", "Rainy days.")), [Match(rain, 4.5, 2.0, None)], now=NOW)[0].fits


def test_what_is_beside_a_good_match_in_its_thread_is_lifted() -> None:
    asked = understood(question("peanut"))
    good = memory("peanut", ts="1000.0")
    beside, far = memory("it makes me ill", ts="1030.0", at=NOW - 9), memory("that makes me ill", ts="9000.0", at=NOW - 9)
    order = ranked(asked, matches((good, 0.90, 5.0), (far, 0.80, None), (beside, 0.80, None)), now=NOW)
    assert [each.memory.id for each in order] == [good.id, beside.id, far.id]


def test_what_is_over_superseded_or_disputed_never_comes() -> None:
    gone = [
        memory("peanut", superseded_by="x"),
        memory("peanut a", disputed_with="y"),
        memory("peanut b", valid_until=NOW - 1),
        memory("peanut c", expires=NOW),
    ]
    assert ranked(understood(question("peanut")), matches(*((each, 0.9, 3.0) for each in gone)), now=NOW) == []
    assert chosen([Found(gone[0], 1.0)], k=8, tokens=100, count=len) == ()


def test_of_a_thing_of_business_only_the_newest_state_comes() -> None:
    states = [memory(f"Order 7 is {state}", kind=Kind.ENTITY, key="order:7", at=NOW - age) for state, age in (("paid", 9), ("shipped", 3), ("made", 20))]
    other = memory("Order 8 is paid", kind=Kind.ENTITY, key="order:8", at=NOW - 30)
    assert {each.memory.text for each in found(question("order"), [*states, other])} == {"Order 7 is shipped", "Order 8 is paid"}


def test_how_old_a_memory_is_decides_only_between_equals() -> None:
    old, new = memory("peanut pie", at=NOW - 900 * DAY), memory("peanut pie!", at=NOW - DAY)
    asked = understood(question("peanut"))
    assert [each.memory for each in ranked(asked, matches((old, 0.85, 3.0), (new, 0.85, 3.0)), now=NOW)] == [new, old]
    assert [each.memory for each in ranked(asked, matches((old, 0.86, 3.1), (new, 0.85, 3.0)), now=NOW)] == [old, new]


def test_the_same_is_not_told_twice_and_no_more_than_there_is_room_for() -> None:
    twice = [
        Found(memory("I love peanut butter"), 0.9),
        Found(memory("i love Peanut butter!"), 0.8),
        Found(memory("I sold my van"), 0.7),
        Found(memory("Lyon"), 0.6),
    ]
    assert [each.memory.text for each in chosen(twice, k=8, tokens=1_000, count=word_count)] == ["I love peanut butter", "I sold my van", "Lyon"]
    assert len(chosen(twice, k=2, tokens=1_000, count=word_count)) == 2
    room = word_count("I love peanut butter") + LINE_COST + word_count("Lyon") + LINE_COST
    assert [each.memory.text for each in chosen(twice, k=8, tokens=room, count=word_count)] == ["I love peanut butter", "Lyon"]
    assert chosen(twice, k=8, tokens=0, count=word_count) == ()


def test_a_memory_is_found_by_what_it_answered_by_its_key_and_by_its_month() -> None:
    answer = memory("Only on Tuesdays", key="swimming:club", context="When do you train?", at=datetime(2024, 5, 2, tzinfo=UTC).timestamp())
    words = words_of(answer)
    for text in ("training", "swimming", "tuesday"):
        assert set(query_words([(text, 1.0)])) & set(words)
    assert set(understood(question("in May 2024")).words) & set(words)
    assert set(understood(question("2024年5月2日")).words) & set(words)
    assert embed_text(answer) == "swimming club: Only on Tuesdays"
    assert embed_text(memory("I like blue", key="favourite:blue")).count("blue") == 1


def test_a_word_said_often_counts_more_and_a_long_text_less() -> None:
    (key,) = query_words([("peanut", 1.0)])
    once, often, lost = (record_words([(text, 1.0)])[key] for text in ("peanut van", "peanut peanut", "peanut " + "van lorry coach train " * 30))
    assert lost < once < often < 2 * once


def test_nothing_found_is_nothing_ranked() -> None:
    assert ranked(Asked(queries=(), words={}), [], now=NOW) == []


def test_a_request_ranks_the_same_whatever_order_the_store_gives() -> None:
    some = [(memory(f"peanut {number}", at=NOW - number), 0.8 + (number % 3) / 100, float(number % 2)) for number in range(12)]
    asked = understood(question("peanut"))
    shuffled = [some[place] for place in np.random.default_rng(1).permutation(len(some))]
    assert ranked(asked, matches(*some), now=NOW) == ranked(asked, matches(*shuffled), now=NOW)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("What is my favourite colour?", "favourite:colour"),
        ("我最喜欢的颜色是什么？", "favourite:colour"),
        ("Where do I live?", "home"),
        ("我住哪？", "home"),
        ("What am I allergic to?", "allergy:peanut"),
        ("我对什么过敏？", "allergy:peanut"),
        ("Who is my manager?", "manager"),
        ("我的领导是谁？", "manager"),
        ("When do I start work?", "working_hours"),
        ("我几点上班？", "working_hours"),
    ],
)
def test_what_is_asked_for_by_its_key_comes_in_whatever_language_it_was_told(text: str, key: str) -> None:
    told, other = memory("xyz", key=key), memory("abc", key="pet")
    assert [each.memory for each in ranked(understood(question(text)), matches((other, 0.1, None), (told, None, None)), now=NOW) if each.fits] == [told]


@pytest.mark.parametrize(("now", "before"), [("Is order 7 paid?", "What did we do with order 7 last time?"), ("订单7付款了吗？", "上次订单7我们怎么处理的？")])
def test_what_was_done_comes_when_it_is_spoken_of_and_hardly_otherwise(now: str, before: str) -> None:
    done = memory("Where is order 7? ⇒ done: get_order", kind=Kind.EPISODE, key="order")
    assert not ranked(understood(question(now)), matches((done, 2.0, None)), now=NOW)[0].fits
    assert ranked(understood(question(before)), matches((done, 2.0, None)), now=NOW)[0].fits


def test_a_very_long_message_is_read_by_its_beginning() -> None:
    asked = understood(question("Where do I live? " + "and so on " * 5_000))
    assert asked.exact == ("home",)
    assert len(asked.queries[0]) < 2_000
