"""Taking out what somebody had forgotten: all that tells it goes, all that does not stays, in both languages, in an order any API accepts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.keys import Actor
from memory.redaction import GONE, Passage, Redactor, redacted, redacted_memory
from memory.session_memory import Fact, SessionMemory, Summary
from memory.transcript import AssistantMessage, Correction, Item, Note, Request, ToolMessage, UserMessage, arrange

ANA = Actor(team_id="T1", user_id="U1")
PEANUTS = Redactor((), ["I am allergic to peanuts", "peanut"])
ERDNUSS = Redactor((), ["我对花生过敏", "花生"])

WORDS = st.sampled_from(
    [
        "I",
        "am",
        "allergic",
        "to",
        "peanuts",
        "rain",
        "trains",
        "order",
        "deploy",
        "on",
        "Tuesday",
        "我",
        "对",
        "花生",
        "过敏",
        "喜欢",
        "下雨",
        "the",
        "city",
        "。",
        ".",
        "!",
        "\n",
    ]
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)
TOLD = ["I am allergic to peanuts", "peanut", "我对花生过敏", "花生", "I hate rain", "rain", "ORD-20240520-001"]
PHRASES = st.lists(st.sampled_from(TOLD), min_size=1, max_size=3)


def said(text: str, ts: str = "1.000001", *, quoted: str = "") -> UserMessage:
    return UserMessage(actor=ANA, name="Ana", ts=ts, text=text, quoted=quoted)


@given(TEXTS, PHRASES)
def test_nothing_that_tells_it_is_left(text: str, phrases: list[str]) -> None:
    redactor = Redactor((), phrases)
    assert not redactor.tells(redactor.without(text).replace(GONE, " "))


@given(TEXTS, PHRASES)
def test_what_does_not_tell_it_is_untouched_and_twice_is_once(text: str, phrases: list[str]) -> None:
    redactor = Redactor((), phrases)
    once = redactor.without(text)
    if not redactor.tells(text):
        assert once == text
    assert redactor.without(once) == once


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("rain", "The training is on Monday."), ("Lisbon", "Lisbonite is a mineral."), ("order ABC-12", "ABC-123 has shipped."), ("下雨", "上海的天气很好。")],
    ids=["part of a word", "beginning of a word", "beginning of a number", "another word"],
)
def test_what_only_looks_like_it_stays(phrase: str, text: str) -> None:
    assert Redactor((), [phrase]).without(text) == text


@pytest.mark.parametrize(
    ("redactor", "text", "left"),
    [
        (PEANUTS, "You asked about lunch.\n\n- No peanuts for you\n- Soup is fine\n", f"You asked about lunch.\n\n{GONE}\n- Soup is fine\n"),
        (PEANUTS, "Soup is fine. You are allergic to PEANUTS! Bread too.", f"Soup is fine. {GONE} Bread too."),
        (PEANUTS, "One peanut. Two peanuts. Bread.", f"{GONE} Bread."),
        (ERDNUSS, "汤可以。你对花生过敏！面包也可以。", f"汤可以。{GONE}面包也可以。"),
        (ERDNUSS, "你对花生過敏嗎", GONE),
    ],
    ids=["list", "sentences", "one after another", "Chinese", "Chinese alone"],
)
def test_the_sentences_that_tell_it_go_and_the_rest_keeps_its_shape(redactor: Redactor, text: str, left: str) -> None:
    assert redactor.without(text) == left


def test_what_is_told_across_sentences_goes_whole() -> None:
    redactor = Redactor((), ["my sister Wilhelmina lives near Cuxhaven harbour"])
    assert redactor.without("My sister is Wilhelmina. She lives by a harbour. That is near Cuxhaven.") == GONE


def test_the_message_it_was_said_in_is_emptied_whole_with_its_files() -> None:
    item = UserMessage(actor=ANA, name="Ana", ts="5.000001", text="Something else entirely", quoted="and this", files=("diagnosis.pdf",))
    gone = redacted(item, Redactor({"5.000001"}, ()))
    assert gone == UserMessage(actor=ANA, name="Ana", ts="5.000001", text=GONE)
    assert redacted(Correction(ts="5.000001", text="Something"), Redactor({"5.000001"}, ())) == Correction(ts="5.000001", text=None)


@pytest.mark.parametrize("text", ["Peanuts!", "花生！"], ids=["en", "zh"])
def test_every_kind_of_item_is_looked_into(text: str) -> None:
    redactor = Redactor((), ["peanuts", "花生"])
    items: list[Item] = [
        said("Look", quoted=text),
        AssistantMessage(run_id="r", text=text, calls=(Request(id="c", name="find", arguments=json.dumps({"q": text})),)),
        ToolMessage(call_id="c", name="find", content=json.dumps({"success": True, "data": text})),
        Correction(ts="9.000001", text=text),
        Note(text=text),
    ]
    for item in items:
        after = redacted(item, redactor)
        assert after is not item
        assert not redactor.tells(json.dumps(json.loads(after.model_dump_json()), ensure_ascii=False).replace(GONE, ""))


PASSAGES = {
    "en": ("I am allergic to peanuts", "No peanuts for you. The soup is fine.", "The soup is fine.", "peanuts", "soup"),
    "zh": ("我对花生过敏", "菜里别放花生。汤可以喝。", "汤可以喝。", "花生", "汤"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("where", ["the run had it at hand", "it answered the message"])
def test_an_answer_that_had_it_at_hand_loses_what_tells_it_in_other_words(language: str, where: str) -> None:
    phrase, answer, left, word, other = PASSAGES[language]
    redactor = Redactor({"1.000001"} if where == "it answered the message" else (), [phrase])
    passage = Passage(redactor, () if where == "it answered the message" else ("r1",))
    asked = tuple(Request(id=one, name="find", arguments=json.dumps({"q": words}, ensure_ascii=False)) for one, words in (("c1", word), ("c2", other)))
    log: list[Item] = [
        said(phrase, "1.000001"),
        said("and what else", "1.500001"),
        AssistantMessage(run_id="r1", text=answer, calls=asked),
        ToolMessage(call_id="c1", name="find", content=json.dumps({"data": f"{word} {other}"}, ensure_ascii=False)),
        ToolMessage(call_id="c2", name="find", content=json.dumps({"data": other}, ensure_ascii=False)),
        said(answer, "2.000001"),
        AssistantMessage(run_id="r2", text=answer),
    ]
    after = [passage.redacted(item) for item in log]
    told = after[2]
    assert isinstance(told, AssistantMessage)
    assert told.text.replace(GONE, "").strip() == left
    assert [json.loads(call.arguments) for call in told.calls] == [{}, {"q": other}]
    assert [after[n] is log[n] for n in (3, 4)] == [False, True]
    assert [after[n] is log[n] for n in (5, 6)] == [True, True], "what others said, and answers that never had it, stay"


@pytest.mark.parametrize("text", ["我对芒果过敏", "你对这个怎么看", "We are allergic to Mondays"])
def test_what_shares_a_particle_or_a_common_word_only_stays_where_it_was_not_at_hand(text: str) -> None:
    assert not Redactor((), ["我对花生过敏", "I am allergic to peanuts"]).tells(text, strictly=False)


def test_the_names_of_fields_are_nobodys_words() -> None:
    redactor = Redactor((), ["when I check orders skip payment"])
    assert not redactor.tells_in('{"orders": ["A-17"]}', strictly=True)
    assert redactor.tells_in('{"orders": ["without payment"]}', strictly=True)


def _tells(item: Item, redactor: Redactor) -> bool:
    return isinstance(item, ToolMessage) or redactor.tells(item.text or "") or (isinstance(item, UserMessage) and redactor.tells(item.quoted))


ITEMS = st.one_of(
    st.builds(said, TEXTS),
    st.builds(lambda text: AssistantMessage(run_id="r", text=text), TEXTS),
    st.builds(lambda text: Note(text=text), TEXTS),
    st.builds(lambda text: Correction(ts="1.000001", text=text), TEXTS),
)


@given(st.lists(ITEMS, max_size=8), TEXTS, PHRASES)
def test_places_calls_and_results_stay_so_that_any_api_accepts_what_is_left(items: list[Item], text: str, phrases: list[str]) -> None:
    log: list[Item] = [*items, AssistantMessage(run_id="r", calls=(Request(id="c", name="find", arguments=json.dumps({"q": text})),))]
    log.append(ToolMessage(call_id="c", name="find", content=json.dumps({"data": text})))
    redactor = Redactor((), phrases)
    after = [redacted(item, redactor) for item in log]
    assert [item.role for item in after] == [item.role for item in log]
    calls = [call for item in after if isinstance(item, AssistantMessage) for call in item.calls]
    assert [call.id for call in calls] == ["c"]
    assert all(isinstance(json.loads(call.arguments), dict) for call in calls)
    assert [item.role for item in arrange(after)] == [item.role for item in arrange(log)]
    assert all(before is now for before, now in zip(items, after, strict=False) if not _tells(before, redactor))


def fact(key: str, value: str, ts: str = "1.000001") -> Fact:
    return Fact(key=key, value=value, ts=ts, actor=ANA)


def test_what_a_thread_is_remembered_by_no_longer_tells_it() -> None:
    summary = Summary(goals=("Plan lunch",), decisions=("No nuts: the guest has a peanut problem", "Soup at noon"))
    memory = SessionMemory(summary=summary, facts=(fact("allergy", "peanuts"), fact("time", "noon", "2.000001"), fact("place", "canteen", "7.000001")))
    after = redacted_memory(memory, Redactor({"7.000001"}, ["I am allergic to peanuts", "peanut"]))
    assert after.summary.decisions == ("Soup at noon",)
    assert after.summary.goals == ("Plan lunch",)
    assert [each.key for each in after.facts] == ["time"]


def test_without_phrases_nothing_but_the_messages_goes() -> None:
    redactor = Redactor({"1.000001"}, ["", "  "])
    assert not redactor.tells("anything at all")
    assert redacted(said("hello", "2.000001"), redactor) == said("hello", "2.000001")
