"""What makes recall keep silent: what is usual between requests is taken away from likeness, topics lead to wishes, and a working day is not disturbed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from evals.longterm_everyday import DAYS, kept
from memory.embedder import Floats, NoVectorsError, embedder
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Reader, person
from memory.longterm.asking import Asked, understood
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.question import Question
from memory.longterm.relevance import fitting
from memory.longterm.topics import topics_about, topics_of, wanted
from memory.longterm.usual import Usual, usual_of


class Leaning:
    """An embedder whose vectors lean far towards one direction for each language, and a little towards what the text holds of a few words."""

    name, size = "leaning", 6
    words = ("rain", "雨", "order", "订单")

    def vector(self, text: str) -> Floats:
        made = np.zeros(6, np.float32)
        made[0 if text.isascii() else 1] = 5.0
        for place, word in enumerate(self.words):
            made[2 + place // 2] += 1.0 if word in text else 0.0
        return np.asarray(made / np.linalg.norm(made), np.float32)

    async def passages(self, texts: Sequence[str]) -> Floats:
        return np.stack([self.vector(text) for text in texts])

    async def query(self, text: str) -> Floats:
        return self.vector(text)

    async def queries(self, texts: Sequence[str]) -> Floats:
        return await self.passages(texts)


async def test_likeness_of_language_alone_is_no_nearness() -> None:
    engine = Leaning()
    usual = await usual_of(engine)
    question = await engine.query("will it rain")
    look = usual.bearing(question, "will it rain")
    same_words, same_language = await engine.passages(["我讨厌下雨", "the train is late"])
    assert question @ same_language > question @ same_words, "as it is, the language decides"
    assert look.direction @ same_words > look.direction @ same_language
    assert np.isclose(np.linalg.norm(look.direction), 1.0)


def test_a_text_of_two_languages_has_something_of_both_taken_away() -> None:
    usual = Usual(np.array([1.0, 0.0, 0.0], np.float32), np.array([0.0, 1.0, 0.0], np.float32), 0.5)
    vector = np.array([0.5, 0.5, 0.7], np.float32)
    both = usual.bearing(vector, "明天 rain")
    assert np.allclose(both.direction[:2], 0.0, atol=1e-6)
    assert both.reach == pytest.approx(0.7 / 0.5)
    english = usual.bearing(vector, "rain")
    assert english.direction[1] > 0.4


def test_a_request_that_is_nothing_but_usual_is_near_to_nothing() -> None:
    mean = np.array([1.0, 0.0], np.float32)
    assert Usual(mean, mean, 0.1).bearing(mean, "hello").reach == 0.0


async def test_an_engine_that_cannot_be_used_has_nothing_usual() -> None:
    class Broken(Leaning):
        async def queries(self, texts: Sequence[str]) -> Floats:
            raise NoVectorsError("away")

    with pytest.raises(NoVectorsError):
        await usual_of(Broken())


@pytest.mark.parametrize(
    ("english", "chinese", "topic"),
    [
        ("where is my parcel", "我的包裹到哪了", "order"),
        ("book a hotel", "订个酒店", "lodging"),
        ("will it rain tomorrow", "明天下雨吗", "weather"),
        ("any good restaurant", "有什么好餐厅", "food"),
        ("a cup of coffee", "来杯咖啡", "drink"),
        ("schedule a meeting", "安排会议", "meeting"),
        ("write the weekly report", "写周报", "report"),
        ("a small script", "写个脚本", "code"),
        ("put on some music", "放点音乐", "music"),
        ("can we deploy today", "今天能上线吗", "deploy"),
    ],
)
def test_both_languages_speak_of_the_same_topics(english: str, chinese: str, topic: str) -> None:
    assert topic in topics_of(english)
    assert topic in topics_of(chinese)


@pytest.mark.parametrize(
    "text", ["going to Guangzhou for two days, any advice?", "I am going to Guangzhou for two days, any advice?", "要去广州玩两天，有什么建议？"]
)
def test_who_asks_for_advice_on_a_journey_wants_the_weather_thought_of(text: str) -> None:
    assert {"travel", "weather", "food"} <= wanted(text)


@pytest.mark.parametrize(
    "text", ["What is 17 times 23?", "17乘以23是多少？", "Translate good morning into French", "总结一下这个讨论", "hello", "你好", "thanks", "谢谢"]
)
def test_what_is_about_nothing_of_the_sort_wants_no_wishes(text: str) -> None:
    assert not wanted(text)


def test_a_wish_with_a_condition_is_about_its_condition_and_a_fact_is_about_none() -> None:
    assert topics_about(Kind.PREFERENCE, "order", "when I check orders skip the food", "when I check orders") == {"order"}
    assert topics_about(Kind.PREFERENCE, "dislike:rain", "我讨厌下雨天") == {"weather"}
    assert topics_about(Kind.FACT, "dislike:rain", "It rained when I was born") == frozenset()


@pytest.mark.skipif(embedder() is None, reason="no embedding model comes with this system")
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_working_days_requests_bring_up_what_they_need_and_hardly_anything_else(language: str) -> None:
    day = await kept(embedder(), language)
    assert day.silent >= 40
    assert len(day.disturbed) <= 0.05 * day.silent, day.disturbed
    assert len(day.missed) <= 0.1 * day.needed, day.missed


@pytest.mark.skipif(embedder() is None, reason="no embedding model comes with this system")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prefix", [prefix for prefix in DAYS.values() if prefix])
async def test_other_peoples_days_are_hardly_disturbed_either_and_get_what_they_need(prefix: str, language: str) -> None:
    day = await kept(embedder(), language, prefix)
    assert day.silent >= 25
    assert len(day.disturbed) <= 0.12 * day.silent, day.disturbed
    assert len(day.missed) <= 0.1 * day.needed, day.missed


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_without_vectors_a_working_day_is_hardly_disturbed_either(language: str) -> None:
    day = await kept(None, language)
    assert len(day.disturbed) <= 0.1 * day.silent, day.disturbed
    assert len(day.missed) <= 0.4 * day.needed, day.missed


ACTOR = Actor(team_id="T1", user_id="U1")
THREAD = Thread(team_id="T1", channel_id="D1", thread_ts="1.0")


def asked(text: str, *recent: str, people: dict[str, str] | None = None) -> Asked:
    reader = Reader(actor=ACTOR, thread=THREAD, room_type="im")
    return understood(Question(reader, text, recent=recent, now=1_764_500_000.0, people=people or {}))


def matters(request: Asked, told: str, kind: Kind = Kind.FACT, *, key: str = "said", condition: str = "") -> bool:
    return not topics_about(kind, key, told, condition).isdisjoint(request.wanted)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Would a boat trip suit us?", "I can't swim"),
        ("我想去划船，合适吗", "我不会游泳"),
        ("Plan a day in the mountains with a cable car for me", "I am afraid of heights"),
        ("周末坐缆车怎么样", "我恐高"),
        ("What should I wear on the terrace tonight?", "I am always cold"),
        ("我要去海边，带什么好", "我怕晒"),
        ("Which train should I take to Vienna?", "I get sick when I sit backwards"),
        ("我坐大巴去行吗", "我晕车"),
        ("I am on a trip next week, what do I have to arrange at home?", "We have an old dog"),
        ("我下周不在家，怎么办", "我养了两只猫"),
        ("Any ideas for a weekend with the kids?", "My daughter is seven"),
        ("周末带孩子去哪玩", "我女儿七岁"),
        ("What could I give my wife?", "Our wedding anniversary is on 20 May"),
        ("送太太什么礼物好", "我们的结婚纪念日是5月20日"),
        ("How do I get to the office tomorrow?", "I cycle to work"),
        ("明天怎么上班", "我骑车上班"),
        ("Shall we meet at the office on Monday?", "I work from home on Mondays"),
        ("我们周一来公司面谈行吗", "我周一在家办公"),
        ("When should I call my boss?", "My manager sits in Singapore"),
        ("几点给我领导打电话合适", "我领导在新加坡"),
        ("Which editor do I use?", "I write everything in Neovim"),
        ("我的 editor 是哪个", "我用 Neovim 写代码"),
        ("Where could I charge on the way?", "I drive an electric car"),
        ("我路上在哪充电", "我开的是电动车"),
        ("Which mouse would suit me?", "I am left-handed"),
        ("我适合哪种鼠标", "我是左撇子"),
        ("What should I send my sister?", "My sister lives in Melbourne"),
        ("给我妹妹寄点什么", "我妹妹在墨尔本"),
        ("Order lunch for me", "I don't eat meat"),
        ("帮我点个外卖", "我不吃香菜"),
    ],
)
def test_a_fact_matters_to_a_request_that_touches_its_side_of_life(request_text: str, told: str) -> None:
    assert matters(asked(request_text), told)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("What is a lake?", "I can't swim"),
        ("湖是什么", "我不会游泳"),
        ("What are swim lanes in a process diagram?", "I can't swim"),
        ("Who built the highest cable car?", "I am afraid of heights"),
        ("世界上最高的缆车是谁建的", "我恐高"),
        ("The lift in building C is stuck, open a ticket", "I avoid stairs"),
        ("三号楼的电梯坏了，报修", "我怕坐电梯"),
        ("How do I feed a cat?", "My sister lives in Melbourne"),
        ("What pizza did the customer order?", "I don't eat meat"),
        ("Suggest a name for my project", "I studied physics at university"),
        ("给我的项目起个名字", "我大学学的物理"),
    ],
)
def test_a_fact_does_not_matter_to_a_request_about_the_world_or_another_side_of_life(request_text: str, told: str) -> None:
    assert not matters(asked(request_text), told)


def test_what_is_asked_about_somebody_else_by_name_touches_nothing_of_ones_own() -> None:
    assert matters(asked("Any ideas for a trip to the lake?"), "I can't swim")
    assert not matters(asked("Any ideas what Ann liked about the lake?", people={"Ann": "U2"}), "I can't swim")
    assert not matters(asked("Ann 觉得去湖边划船怎么样？", people={"Ann": "U2"}), "我不会游泳")


@pytest.mark.parametrize(
    ("own", "single"),
    [("Which orders should I look at today?", "Where is order 5521?"), ("我今天该看哪些订单", "订单5521到哪了")],
)
def test_what_is_usual_matters_to_who_asks_about_themselves_and_not_to_who_has_one_order_looked_up(own: str, single: str) -> None:
    habit = ("I look at the shipped orders first", Kind.HABIT)
    assert matters(asked(own), *habit, key="order")
    assert not matters(asked(single), *habit, key="order")


@pytest.mark.parametrize(
    "text", ['Translate "the hotel has no lunch" into German', "把“酒店不提供午餐”翻译成德语", "Fix the grammar: `he eat lunch`", "《酒店》是谁写的"]
)
def test_what_is_only_quoted_is_not_what_a_request_is_about(text: str) -> None:
    assert not wanted(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I split data into train and test sets?",
        "The coffee machine is broken",
        "咖啡机坏了",
        "What is the HS code of bicycles?",
        "Please report it to facilities",
        "报修一下",
        "the zip code of Bonn",
        "Our data lake is full",
        "数据库满了",
    ],
)
def test_a_word_in_another_sense_is_no_topic(text: str) -> None:
    assert not wanted(text)


@pytest.mark.parametrize(
    ("text", "topic"), [("帮我schedule一个call", "meeting"), ("写个script批量改名", "code"), ("今天能deploy吗", "deploy"), ("订个hotel", "lodging")]
)
def test_english_words_in_a_chinese_sentence_are_read_without_a_space_between(text: str, topic: str) -> None:
    assert topic in topics_of(text)


@pytest.mark.parametrize(
    ("english", "chinese", "topic"),
    [
        ("compare the two carriers", "对比一下这两家快递", "compare"),
        ("the minutes of the meeting", "会议纪要", "minutes"),
        ("what does the scanner cost", "扫描枪多少钱", "money"),
        ("the numbers of October", "十月份的数字", "numbers"),
        ("write a function that adds dates", "写个函数算日期", "code"),
        ("when do we go live", "什么时候上线", "deploy"),
        ("find a time slot for a call", "约个时间打电话", "meeting"),
        ("announce it in the channel", "写个公告", "announcement"),
        ("who has to approve the purchase", "这笔采购谁批", "approval"),
        ("a game of chess", "下象棋", "game"),
        ("the best way from Berlin to Vienna", "从柏林去维也纳怎么走", "transport"),
        ("a lemonade", "一瓶可乐", "drink"),
        ("something to watch tonight", "看什么片子", "film"),
        ("play badminton", "打羽毛球", "sport"),
    ],
)
def test_what_is_done_at_work_and_after_it_has_topics_in_both_languages(english: str, chinese: str, topic: str) -> None:
    assert topic in topics_of(english)
    assert topic in topics_of(chinese)


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        ("Find me a hotel in Nanjing", "something cheaper?", "I like hotels near the metro"),
        ("在南京订个酒店", "便宜点的呢", "我喜欢离地铁近的酒店"),
        ("Find me a hotel in Nanjing", "one with breakfast?", "I like hotels near the metro"),
        ("在南京订个酒店", "带早餐的有吗", "我喜欢离地铁近的酒店"),
        ("Write a script that renames files", "make it shorter", "I want scripts in Python"),
        ("写个脚本改文件名", "再短一点", "脚本我要用 Python"),
        ("We could rent a boat on the lake", "would that suit me?", "I can't swim"),
        ("可以去湖上划船", "适合我吗", "我不会游泳"),
    ],
)
def test_a_short_message_that_goes_on_with_a_request_is_about_what_that_was_about(before: str, text: str, told: str) -> None:
    kind = Kind.FACT if "swim" in told or "游泳" in told else Kind.PREFERENCE
    assert matters(asked(text, before), told, kind)
    assert not matters(asked(text), told, kind), "by itself it says nothing of it"


@pytest.mark.parametrize(
    ("before", "text"),
    [("I am in Berlin for two days", "and for lunch?"), ("我去柏林两天", "那午饭呢")],
)
def test_who_goes_on_about_themselves_need_not_say_so_again(before: str, text: str) -> None:
    assert matters(asked(text, before), "I don't eat meat")
    assert not asked(text, before).wanted & {"lodging", "travel"}, "its own topic is enough"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("Find me a hotel in Nanjing", "Thanks!"),
        ("在南京订个酒店", "谢谢"),
        ("Find me a hotel in Nanjing", "By the way, what does FOB mean?"),
        ("在南京订个酒店", "对了，FOB是什么意思"),
        ("Find me a hotel in Nanjing", "What is 7 times 8?"),
        ("在南京订个酒店", "7乘8等于几"),
        ("Find me a hotel in Nanjing", "Now show me the error log of the importer"),
        ("在南京订个酒店", "重启夜间的导出任务"),
    ],
)
def test_thanks_and_another_subject_do_not_go_on_with_what_was_talked_about(before: str, text: str) -> None:
    assert not asked(text, before).wanted


@pytest.mark.parametrize(
    ("condition", "request_text"),
    [
        ("when you translate", "把这段话翻译成英文"),
        ("翻译的时候", "Translate this paragraph"),
        ("when you summarise something", "总结一下这份合同"),
        ("总结的时候", "Summarise this contract"),
        ("when you proofread", "帮我校对一下"),
    ],
)
def test_a_wish_about_what_is_done_with_any_text_is_found_in_either_language(condition: str, request_text: str) -> None:
    assert matters(asked(request_text), "keep names as they are", Kind.PREFERENCE, condition=condition)
    assert not matters(asked("What is 7 times 8?"), "keep names as they are", Kind.PREFERENCE, condition=condition)


def test_who_asks_whether_they_have_time_is_told_their_plans() -> None:
    for text in ("Am I free on 9 December?", "我十二月九号有空吗"):
        assert matters(asked(text), "I am flying to Lisbon on 9 December", Kind.PLAN)
        assert not matters(asked(text), "I am from Lisbon")


@pytest.mark.parametrize("text", ["Good morning", "thanks a lot!", "ok, got it", "haha", "早上好", "好的，谢谢", "哈哈哈", "收到"])
def test_who_only_greets_or_thanks_is_told_nothing_however_near_it_is(text: str) -> None:
    request = asked(text)
    assert not request.asks
    assert fitting(request, [memory(text)], np.array([9.0]), np.array([9.0]), [0]) == [False]
    assert fitting(asked(f"{text} what do I do first?"), [memory(text)], np.array([9.0]), np.array([9.0]), [0]) == [True]


@pytest.mark.parametrize(
    ("text", "speaks"), [("no, I meant the other ticket", False), ("不是，我说的是另一个工单", False), ("I need a rest", True), ("我要休息一下", True)]
)
def test_who_corrects_themselves_does_not_speak_of_themselves(text: str, speaks: bool) -> None:
    assert asked(text).mentions is speaks


@pytest.mark.parametrize(
    ("about_oneself", "wants_something"),
    [
        ("When do I have lunch?", "I need the log of job 51"),
        ("What is my favourite colour?", "Show me my open tickets"),
        ("Do we have a budget?", "Tell the customer that we are sorry"),
        ("我几点吃午饭", "我要任务51的日志"),
        ("我最喜欢什么颜色", "看看我的未结工单"),
        ("我们有预算吗", "跟客户说我们很抱歉"),
    ],
)
def test_who_wants_a_log_or_a_ticket_does_not_ask_about_themselves(about_oneself: str, wants_something: str) -> None:
    assert asked(about_oneself).personal
    assert not asked(wants_something).personal


@pytest.mark.parametrize(
    ("condition", "met", "other"),
    [
        ("when you write onboarding guides", "An onboarding page, please", "A poem on Bonn, please"),
        ("做表格的时候", "做一个索赔表格", "做一个索赔清单"),
    ],
)
def test_a_wish_is_meant_for_a_request_that_names_its_case(condition: str, met: str, other: str) -> None:
    wish = memory("keep it plain", Kind.PREFERENCE, condition)
    far = np.array([-1.0])
    assert fitting(asked(met), [wish], far, far, [0]) == [True]
    assert fitting(asked(other), [wish], far, far, [0]) == [False]


def memory(text: str, kind: Kind = Kind.FACT, condition: str = "") -> Memory:
    source = Source(thread=THREAD, ts="1.0", said_by=ACTOR)
    return Memory(id="m", owner=person(ACTOR), kind=kind, key="said", text=text, condition=condition, audience=PRIVATE, source=source, created=1.0)
