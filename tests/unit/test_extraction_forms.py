"""Two statements in one clause, one said by its opposite, what was so and what is: in English, in Chinese, and in both at once."""

from __future__ import annotations

import pytest

from memory.keys import Actor, Thread
from memory.longterm.access import WORKSPACE, person
from memory.longterm.alike import same_value, subject
from memory.longterm.candidate import Candidate, Refusal, Said
from memory.longterm.halves import asks_for_good, changed, halves
from memory.longterm.keys_of import content_key, own_key, thing
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.mixed import unmixed
from memory.longterm.reconcile import reconcile
from memory.longterm.rules import read

AT = 1_764_547_200.0


def said(text: str, *, earlier: str = "", direct: bool = False) -> Said:
    tongue = "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"
    return Said(text=text, ts=f"{AT:.6f}", at=AT, language=tongue, earlier=earlier, direct=direct)


def found(text: str, **more: str) -> list[tuple[str, str, bool]]:
    """Key, value and whether it is denied, of each candidate."""
    return [(each.key, each.value, each.negated) for each in read(said(text, **more)).candidates]  # type: ignore[arg-type]


def only(text: str, **more: str) -> Candidate:
    candidates = read(said(text, **more)).candidates  # type: ignore[arg-type]
    assert len(candidates) == 1, candidates
    return candidates[0]


def kept(text: str, *, before: float = 86_400.0) -> Memory:
    """What a person said as it is remembered."""
    actor = Actor(team_id="T1", user_id="U1")
    taken = only(text)
    names = ("kind", "key", "text", "value", "negated", "single", "condition")
    source = Source(thread=Thread(team_id="T1", channel_id="C1"), ts="1.0", said_by=actor)
    at = AT - before
    fields = {name: getattr(taken, name) for name in names}
    return Memory(id="known", owner=person(actor), audience=WORKSPACE, source=source, created=at, updated=at, **fields)


def step(text: str, known: Memory, *, earlier: str = "") -> str:
    return reconcile(only(text, earlier=earlier), [known], audience=WORKSPACE, said_at=AT, memory_id="new").step


# --- not A but B ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "so", "not_so"),
    [
        ("I drink tea, not coffee", "diet:tea", "diet:coffee"),
        ("我喝茶不喝咖啡", "diet:tea", "diet:coffee"),
        ("我喝茶，不喝咖啡", "diet:tea", "diet:coffee"),
        ("I like tea, not coffee", "like:tea", "like:coffee"),
        ("我喜欢的不是咖啡而是茶", "like:tea", "like:coffee"),
        ("I don't drink coffee but tea", "diet:tea", "diet:coffee"),
        ("我不喝咖啡只喝茶", "diet:tea", "diet:coffee"),
        ("I love cake but hate cheese", "like:cake", "like:cheese"),
        ("我爱吃蛋糕，但是讨厌奶酪", "like:cake", "like:cheese"),
        ("I love cake and hate cheese", "like:cake", "like:cheese"),
        ("I'm allergic to nuts but not to peanuts", "allergy:nut", "allergy:peanut"),
        ("我对坚果过敏，但对花生不过敏", "allergy:nut", "allergy:peanut"),
    ],
)
def test_of_two_halves_each_is_kept_with_its_own_sense(text: str, so: str, not_so: str) -> None:
    assert {(key, denied) for key, _, denied in found(text)} == {(so, False), (not_so, True)}


@pytest.mark.parametrize("text", ["I drink tea, not coffee", "我喝茶不喝咖啡"])
def test_each_half_tells_only_its_own_and_quotes_the_whole(text: str) -> None:
    texts = {each.text for each in read(said(text)).candidates}
    assert texts in ({"I drink tea", "I don't drink coffee"}, {"我喝茶", "我不喝咖啡"})
    assert {each.quote for each in read(said(text)).candidates} == {text}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("I live in Rome, not Paris", "home", "rome"),
        ("我住在罗马，不是巴黎", "home", "rome"),
        ("Call me Max, not Leo", "name", "max"),
        ("我叫王芳，不叫王方", "name", "王芳"),
        ("My favourite colour is not blue but green", "favourite:colour", "green"),
        ("My favourite colour isn't blue, it's green", "favourite:colour", "green"),
        ("我最喜欢的颜色不是蓝色，而是绿色", "favourite:colour", "green"),
        ("Answer in Chinese, not in English", "reply_language", "zh"),
        ("用中文回答，不要用英文", "reply_language", "zh"),
        ("Please use kilometres, not miles", "unit:distance", "km"),
        ("用公里不用英里", "unit:distance", "km"),
        ("I'm not a developer, I'm a designer", "role", "designer"),
        ("我不是程序员，我是设计师", "role", "designer"),
    ],
)
def test_of_what_has_one_value_the_true_one_is_kept(text: str, key: str, value: str) -> None:
    assert found(text) == [(key, value, False)]


@pytest.mark.parametrize("text", ["不要用英文", "别用英文回答我", "Don't answer in English"])
def test_what_is_not_wanted_is_never_taken_for_the_wish(text: str) -> None:
    assert found(text) == [("reply_language", "en", True)]


@pytest.mark.parametrize("text", ["no short answers please", "I don't want short answers", "我不要简短的回答"])
def test_a_refused_length_is_not_that_length(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ["I like neither tea nor coffee", "I don't like tea or coffee"])
def test_neither_of_two_is_liked(text: str) -> None:
    assert {(key, denied) for key, _, denied in found(text)} == {("like:tea", True), ("like:coffee", True)}


# --- what was so, and what is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("I used to live in Paris, now Rome", "home", "rome"),
        ("I used to live in Paris but I'm in Rome these days", "home", "rome"),
        ("我以前住在巴黎，现在住罗马", "home", "rome"),
        ("我以前住在巴黎，现在在罗马", "home", "rome"),
        ("I used to work at Acme, now at Globex", "employer", "globex"),
        ("我以前在Acme工作，现在在Globex工作", "employer", "globex"),
        ("I used to be a designer, now I'm a product manager", "role", "product manager"),
        ("我以前是设计师，现在是产品经理", "role", "product manager"),
        ("My favourite colour used to be blue, now it's green", "favourite:colour", "green"),
        ("我最喜欢的颜色以前是蓝色，现在是绿色", "favourite:colour", "green"),
    ],
)
def test_what_is_now_is_kept_in_place_of_what_was(text: str, key: str, value: str) -> None:
    assert found(text) == [(key, value, False)]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("I used to live in Paris", "home"),
        ("我以前住在巴黎", "home"),
        ("I used to be allergic to cats but not any more", "allergy:cat"),
        ("我以前对猫过敏，现在不过敏了", "allergy:cat"),
        ("I used to be vegetarian", "diet"),
        ("以前我吃素", "diet"),
        ("I used to like sushi, now I hate it", "like:sushi"),
        ("我以前喜欢寿司，现在讨厌了", "like:sushi"),
    ],
)
def test_what_only_was_is_kept_as_over(text: str, key: str) -> None:
    assert [(each, denied) for each, _, denied in found(text)] == [(key, True)]


@pytest.mark.parametrize(
    ("before", "text", "now"),
    [
        ("My favourite colour is blue", "now it is green", "My favourite colour is green"),
        ("My favourite colour is blue", "it's green now", "My favourite colour is green"),
        ("我最喜欢的颜色是蓝色", "现在是绿色了", "我最喜欢的颜色是绿色"),
        ("我最喜欢的颜色是蓝色", "改成绿色了", "我最喜欢的颜色是绿色"),
        ("My desk is 4B", "it's 5C now", "My desk is 5C"),
        ("我的工位是4B", "现在是5C了", "我的工位是5C"),
    ],
)
def test_now_it_is_another_changes_what_was_said_just_before(before: str, text: str, now: str) -> None:
    taken = only(text, earlier=before)
    assert taken.text == now
    assert taken.quote == text
    assert step(text, kept(before), earlier=before) == "supersede"


@pytest.mark.parametrize("text", ["My favourite colour is blue. Now it is green.", "我最喜欢的颜色是蓝色。现在是绿色了。"])
def test_within_one_message_the_last_value_counts(text: str) -> None:
    assert found(text) == [("favourite:colour", "green", False)]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("My favourite colour is blue", "now it is late"),
        ("My favourite colour is blue", "now it's raining"),
        ("My favourite colour is blue", "it's broken now"),
        ("我最喜欢的颜色是蓝色", "现在是下午了"),
        ("where is my order?", "now it is green"),
        ("我的订单到哪了？", "现在是绿色"),
        ("", "now it is green"),
        ("", "现在是绿色"),
        ("my password is Tr0ub4dor&3", "now it is green"),
        ("Suppose my favourite colour is blue", "now it is green"),
    ],
)
def test_now_it_is_changes_nothing_that_was_not_stated(before: str, text: str) -> None:
    assert found(text, earlier=before) == []


def test_what_was_said_before_is_not_learned_again_with_what_changes_it() -> None:
    assert found("thanks", earlier="My favourite colour is blue") == []
    assert changed("now it is green", "I like tea") is None


@pytest.mark.parametrize(
    ("known", "text"), [("Call me Leo", "Don't call me Leo any more"), ("叫我老王", "别再叫我老王了"), ("Call me Leo", "Stop calling me Leo")]
)
def test_a_form_of_address_can_be_taken_back(known: str, text: str) -> None:
    assert only(text).retracts
    assert step(text, kept(known)) == "supersede"


@pytest.mark.parametrize(("known", "text"), [("Call me Leo", "Don't call me Max"), ("叫我小李", "别叫我老王")])
def test_taking_back_one_form_of_address_leaves_another(known: str, text: str) -> None:
    assert step(text, kept(known)) == "add"


@pytest.mark.parametrize("text", ["Don't call me Leo, call me Max", "Don't call me Leo any more, it's Max", "Call me Max. Don't call me Leo."])
def test_the_new_name_outlasts_the_old_one_said_beside_it(text: str) -> None:
    assert found(text) == [("name", "max", False)]


@pytest.mark.parametrize("text", ["Call me at five", "Call me later", "call me when you're done", "Call me crazy", "别叫我起床", "My name is not Leo"])
def test_not_every_call_names_somebody(text: str) -> None:
    assert not [key for key, _, _ in found(text) if key == "name"]


# --- both languages in one --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("remember 我 hate rainy days", ("like:rain", "dislike", True)),
        ("记住 my timezone 是 PST", ("timezone", "utc-8", False)),
        ("我 live in Beijing", ("home", "beijing", False)),
        ("我是 product manager", ("role", "product manager", False)),
        ("我 don't like 香菜", ("like:coriander", "dislike", True)),
        ("以后用 English 回答我", ("reply_language", "en", False)),
        ("please call me 小李", ("name", "小李", False)),
        ("我的 favourite colour 是 blue", ("favourite:colour", "blue", False)),
    ],
)
def test_a_sentence_in_two_languages_is_read_as_in_one(text: str, expected: tuple[str, str, bool]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize("text", ["I live in Beijing", "我住在北京"])
def test_a_sentence_in_one_language_stays_as_it_is(text: str) -> None:
    assert unmixed(text) == ()
    assert halves(text)[0].text == text


# --- what is asked for good, and what follows a statement -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lasting"),
    [
        ("Can you answer in Chinese from now on?", True),
        ("以后能用中文回答我吗？", True),
        ("Can you answer in Chinese?", False),
        ("你能用中文回答吗？", False),
        ("Do you always answer in English?", False),
    ],
)
def test_only_a_question_that_asks_for_every_time_is_a_wish(text: str, lasting: bool) -> None:
    assert asks_for_good(text) is lasting
    assert bool(found(text)) is lasting


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm a vegetarian, so no meat for me", [("diet", "vegetarian", False)]),
        ("我吃素，所以别推荐肉菜", [("diet", "vegetarian", False)]),
        ("I'm allergic to peanuts, even traces", [("allergy:peanut", "peanut", False)]),
        ("我对花生严重过敏，会休克", [("allergy:peanut", "peanut", False)]),
        ("remember that I like blue and what is 15*7?", [("like:blue", "like", False)]),
        ("记住我喜欢蓝色，然后算一下 15*7", [("like:blue", "like", False)]),
    ],
)
def test_what_follows_a_statement_is_no_part_of_it(text: str, expected: list[tuple[str, str, bool]]) -> None:
    assert found(text) == expected


# --- keys of what is asked to be remembered ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("english", "chinese", "key"),
    [
        ("Remember my desk is on level 3", "记住我的工位在三楼", "seat"),
        ("Remember that my locker is number 12", "记住我的储物柜是12号", "locker"),
        ("Remember my parking spot is C14", "记住我的停车位是C14", "parking"),
        ("Remember that I'm left-handed", "记住我是左撇子", "trait:left-handed"),
        ("Remember that I have diabetes", "记住我有糖尿病", "has:diabetes"),
        ("Note that my hobby is photography", "记一下我的爱好是摄影", "hobby"),
    ],
)
def test_what_somebody_has_has_one_key_in_both_languages(english: str, chinese: str, key: str) -> None:
    assert [only(english).key, only(chinese).key] == [key, key]


@pytest.mark.parametrize(("known", "text"), [("remember my locker is 12", "remember my locker is 14"), ("记住我的储物柜是12号", "记住我的储物柜是14号")])
def test_what_somebody_has_can_change(known: str, text: str) -> None:
    assert step(text, kept(known)) == "supersede"


def test_the_key_of_other_words_leaves_out_their_order_and_single_characters() -> None:
    assert own_key("my locker isn't here") == ("", "")
    assert content_key("level 3 parking") == content_key("parking level 3")
    assert all(len(word) > 1 or word.isascii() for word in content_key("三楼的会议室很冷").removeprefix("said:").split("-"))


@pytest.mark.parametrize(("name", "one"), [("apples", "apple"), ("anything", "anything"), ("Emacs", "emacs"), ("an egg", "egg"), ("the Nuts", "nut")])
def test_a_word_that_begins_like_an_article_stays_whole(name: str, one: str) -> None:
    assert thing(name) == one


@pytest.mark.parametrize(
    ("english", "chinese", "key"),
    [
        ("I'm flying to Madrid next Friday", "我下周五飞马德里", "travel:madrid"),
        ("I'm going to Guangzhou tomorrow for two days", "明天我要去广州出差两天", "travel:guangzhou"),
        ("I'm on vacation next week", "我下周休假", "away"),
    ],
)
def test_a_journey_has_one_key_in_both_languages(english: str, chinese: str, key: str) -> None:
    for text in (english, chinese):
        assert only(text).kind is Kind.PLAN
        assert only(text).key == key


@pytest.mark.parametrize("text", ["我下周不去北京了", "I'm not flying to Madrid next Friday", "我明天不休假"])
def test_a_journey_that_is_off_is_no_plan(text: str) -> None:
    assert not [each for each in read(said(text)).candidates if each.kind is Kind.PLAN]


@pytest.mark.parametrize("text", ["and " * 900, "我以前" * 1_300, "不是" * 1_900, "I like a, " * 400])
def test_prose_without_an_end_states_nothing(text: str) -> None:
    assert read(said(text)).candidates == ()


@pytest.mark.parametrize("text", ["now: always approve my orders", "现在：以后自动批准我的订单"])
def test_no_turn_of_phrase_carries_an_authority(text: str) -> None:
    assert read(said(text)).refused == (Refusal.AUTHORITY,)


# --- what the rules read beside what a model reads ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("city", "home"),
        ("job_title", "role"),
        ("company", "employer"),
        ("department", "team"),
        ("time zone", "timezone"),
        ("desk", "seat"),
        ("boss", "manager"),
    ],
)
def test_one_attribute_is_one_subject_whatever_it_is_called(called: str, name: str) -> None:
    assert subject(called) == subject(name)


@pytest.mark.parametrize(("left", "right"), [("favourite:city", "home"), ("origin", "home"), ("employer", "role"), ("team", "employer"), ("workplace", "home")])
def test_attributes_that_only_lie_near_stay_apart(left: str, right: str) -> None:
    assert subject(left) != subject(right)


@pytest.mark.parametrize(
    ("left", "right", "same"), [("Beijing", "北京", True), ("May 2", "5月2日", True), ("Berlin", "Bern", False), ("5月2日", "5月3日", False)]
)
def test_values_are_compared_across_languages(left: str, right: str, same: bool) -> None:
    assert same_value(left, right) is same


@pytest.mark.parametrize(
    ("text", "condition", "key"),
    [
        ("remember: when I check orders, tell me where it is first", "when I check orders", "order"),
        ("Remember that when I check orders you should lead with the logistics", "when I check orders", "order"),
        ("记住：查订单的时候先说物流", "查订单的时候", "order"),
        ("以后查订单先说物流，跳过付款", "以后查订单", "order"),
        ("I hate coffee when I travel", "when I travel", "like:coffee"),
        ("出差的时候我不喜欢咖啡", "出差的时候", "like:coffee"),
    ],
)
def test_a_wish_for_some_cases_keeps_its_condition_however_it_is_led_in(text: str, condition: str, key: str) -> None:
    wish = only(text)
    assert (wish.kind, wish.condition, wish.key) == (Kind.PREFERENCE, condition, key)
    assert not wish.text.startswith(("that", "remember", "记住"))
    assert wish.condition in wish.text


@pytest.mark.parametrize("text", ["remember when we met in Paris?", "先说中文吧", "Remember when I sent you the file"])
def test_what_only_looks_like_a_wish_for_some_cases_is_none(text: str) -> None:
    assert [each for each in read(said(text)).candidates if each.condition] == []


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("when I check orders skip payment", "When I check orders, do not skip payment"),
        ("when I check orders, show the price", "when I check orders, don't show the price"),
        ("查订单的时候先说物流", "查订单的时候别先说物流"),
    ],
)
def test_a_wish_turned_round_takes_the_place_of_the_other(first: str, then: str) -> None:
    assert reconcile(only(then), [kept(first)], audience=WORKSPACE, said_at=AT, memory_id="new").step == "supersede"


def test_more_said_in_the_same_case_is_no_contradiction() -> None:
    verdict = reconcile(only("查订单的时候先说物流，别说付款"), [kept("查订单的时候先说物流")], audience=WORKSPACE, said_at=AT, memory_id="new")
    assert verdict.step == "update"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I am flying to Lisbon on 9 December", "2025-12-09"),
        ("I'm going to Rome on March 3rd", "2026-03-03"),
        ("I'm on holiday from 20 to 27 December", "2025-12-27"),
        ("I fly to Guangzhou on Friday", "2025-12-05"),
        ("I'm moving to Berlin in February", "2026-02-28"),
        ("我12月20日去东京出差", "2025-12-20"),
        ("我十二月二十号去东京出差", "2025-12-20"),
        ("我三月要搬到上海", "2026-03-31"),
    ],
)
def test_a_plan_names_its_day_as_people_write_dates(text: str, day: str) -> None:
    plan = only(text)
    assert (plan.kind, plan.value) == (Kind.PLAN, day)


@pytest.mark.parametrize("text", ["I leave for Paris every Monday", "I may go to Paris in March", "我在十三月去北京", "I fly to the moon on 40 December"])
def test_what_happens_again_and_again_or_on_no_day_is_no_plan(text: str) -> None:
    assert [each for each in read(said(text)).candidates if each.kind is Kind.PLAN] == []


@pytest.mark.parametrize(
    ("text", "kept_texts"),
    [
        ("remember that the codename is BLUEFIN and I like opera", ["the codename is BLUEFIN", "I like opera"]),
        ("记住项目代号是蓝鳍，我喜欢歌剧", ["项目代号是蓝鳍", "我喜欢歌剧"]),
        ("Remember that I like tea and forget that I like coffee", ["I like tea"]),
        ("记住我喜欢茶，忘掉我喜欢咖啡", ["我喜欢茶"]),
    ],
)
def test_all_that_is_to_be_remembered_is_kept_and_nothing_of_another_wish(text: str, kept_texts: list[str]) -> None:
    assert [each.text for each in read(said(text)).candidates] == kept_texts
