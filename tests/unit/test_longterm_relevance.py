"""What makes recall keep silent: what is usual between requests is taken away from likeness, topics lead to wishes, and a working day is not disturbed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from evals.longterm_everyday import kept
from memory.embedder import Floats, NoVectorsError, embedder
from memory.longterm.memory import Kind
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


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_without_vectors_a_working_day_is_hardly_disturbed_either(language: str) -> None:
    day = await kept(None, language)
    assert len(day.disturbed) <= 0.1 * day.silent, day.disturbed
    assert len(day.missed) <= 0.4 * day.needed, day.missed
