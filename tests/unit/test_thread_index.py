from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ranking import Floats
from memory.terms import identifiers, terms
from memory.thread_index import BLOCK, Entry, Question, ThreadIndex, encode

MAKE = "test"


def said(*texts: str, start: int = 0, speaker: str = "Ana") -> list[Entry]:
    return [Entry(start + number, text, speaker, str(1_700_000_000 + number * 60), "user") for number, text in enumerate(texts)]


def asked(text: str, **more: object) -> Question:
    return replace(Question(words=dict.fromkeys(terms(text), 1.0), identifiers=frozenset(identifiers(text))), **more)  # type: ignore[arg-type]


def index(*blocks: list[Entry], vectors: Floats | None = None) -> ThreadIndex:
    return ThreadIndex.of({number: encode(block, vectors, MAKE) for number, block in enumerate(blocks)})


def found(from_: ThreadIndex, question: Question, limit: int = 5, exclude_from: int | None = None) -> list[int]:
    return [hit.position for hit in from_.search(question, limit=limit, exclude_from=exclude_from)]


TALK = said(
    "The invoice from Contoso is due on Friday",
    "My dog likes the beach",
    "Order ABC-20240520-001 goes to Berlin",
    "我们决定用上海的仓库",
    "Lunch was good",
    "Order ABC-20240520-002 goes to Rome",
)


@pytest.mark.parametrize(
    ("text", "position"),
    [("when are invoices due?", 0), ("dogs", 1), ("ABC-20240520-001", 2), ("abc-20240520-002 status", 5), ("上海仓库", 3), ("决定", 3)],
)
def test_a_message_is_found_by_its_words_in_any_language(text: str, position: int) -> None:
    assert found(index(TALK), asked(text))[0] == position


def test_nothing_relevant_gives_nothing() -> None:
    assert found(index(TALK), asked("quarterly kubernetes migration")) == []
    assert found(index(TALK), asked("the of and")) == []
    assert found(index(TALK), Question()) == []


def test_a_message_is_found_by_the_one_it_answers() -> None:
    entries = [*TALK, Entry(6, "Thursday at noon", "Bob", "1700001000", "user", context="When does the launch meeting begin?")]
    assert found(index(entries), asked("launch meeting"))[0] == 6


def test_an_exact_identifier_comes_before_everything_else() -> None:
    entries = [*said(*["order order order berlin shipping order"] * 5), Entry(9, "ok X-77", "Ana", "", "user")]
    hits = index(entries).search(asked("where is the order X-77 for berlin shipping"), limit=3)
    assert hits[0].position == 9
    assert "identifier" in hits[0].why


def test_who_is_named_and_which_day_is_named_count() -> None:
    talk = said("hello", "the budget is fine", "lunch", "coffee", "the budget is fine", "tea", "milk", "the budget is fine", "bye")
    entries = [replace(each, speaker="Bob") if each.position == 4 else each for each in talk]
    by_bob = index(entries).search(asked("budget", speakers=frozenset({"bob"})), limit=3)
    assert by_bob[0].position == 4
    assert "speaker" in by_bob[0].why
    in_span = index(entries).search(asked("budget", spans=((1_700_000_060.0, 1_700_000_090.0),)), limit=3)
    assert in_span[0].position == 1
    assert "date" in in_span[0].why
    assert found(index(entries), Question(spans=((1_700_000_060.0, 1_700_000_061.0),))) == [1]


def test_of_equals_the_newest_comes_first_and_what_is_excluded_never_comes() -> None:
    entries = said(*["the budget is fine", "lunch", "coffee"] * 4, "tea")
    assert found(index(entries), asked("budget"), limit=3) == [9, 6, 3]
    assert found(index(entries), asked("budget"), limit=2, exclude_from=8) == [6, 3]
    assert found(index(entries), asked("budget"), exclude_from=0) == []


def vectors(count: int, *, seed: int = 1) -> Floats:
    made = np.random.default_rng(seed).normal(size=(count, 48))
    unit: Floats = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_meaning_finds_what_words_do_not() -> None:
    made = vectors(len(TALK))
    hits = index(TALK, vectors=made).search(asked("zzz", vector=made[4], embedder=MAKE), limit=2)
    assert hits[0].position == 4
    assert hits[0].why == ("meaning",)


def test_vectors_of_another_make_are_not_compared() -> None:
    made = vectors(len(TALK))
    assert found(index(TALK, vectors=made), asked("zzz", vector=made[4], embedder="other")) == []


def test_blocks_without_vectors_are_searched_by_words() -> None:
    first, second = said(*[f"alpha {number}" for number in range(30)]), said("the invoice is due", start=BLOCK)
    made = vectors(30)
    joined = ThreadIndex.of({0: encode(first, made, MAKE), 1: encode(second, None)})
    assert found(joined, asked("invoice", vector=made[3], embedder=MAKE))[0] == BLOCK
    assert 3 in found(joined, asked("zzz", vector=made[3], embedder=MAKE))


def test_nothing_stands_out_where_nothing_is_alike() -> None:
    made = vectors(60)
    joined = index(said(*[f"alpha {number}" for number in range(60)]), vectors=made)
    assert found(joined, Question(vector=vectors(1, seed=2)[0], embedder=MAKE, stands_out=0.6)) == []
    assert found(joined, Question(vector=vectors(1, seed=2)[0], embedder=MAKE, stands_out=0.1)) != []


FIRST = "kickoff; the deadline is Friday, budget is 5,000, ship to Kontor Hamburg"
FIRST_ZH = "启动会：截止日期是周五，预算五千，货发到汉堡的康托仓库"
ARN = "it is arn:aws:s3:::bucket-20/key/part-1.json"
ARN_ZH = "地址是 arn:aws:s3:::bucket-21/key/part-1.json"
LOG = "see /var/log/app-16/error.16.log, sha256 is a1"
LOG_ZH = "见 /var/log/app-17/error.17.log，sha256 是 b2"
LONG = [FIRST, FIRST_ZH, ARN, ARN_ZH, LOG, LOG_ZH, *(f"the tests of module {number} pass, sha256 is c{number}, 文档{number}没问题" for number in range(60))]
VETO = 2.0
"""No meaning ever stands out so far."""


@pytest.fixture(scope="module")
def long_thread() -> ThreadIndex:
    return index(said(*LONG), vectors=vectors(len(LONG)))


def vetoed(text: str, **more: object) -> Question:
    return asked(text, vector=vectors(1, seed=2)[0], embedder=MAKE, stands_out=VETO, **more)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("kickoff", FIRST),
        ("启动会", FIRST_ZH),
        ("ship to where?", FIRST),
        ("货发到哪里？", FIRST_ZH),
        ("where do we ship it to, which Kontor?", FIRST),
        ("我们发到哪里，哪个康托仓库？", FIRST_ZH),
        ("bucket-20 arn", ARN),
        ("bucket-21 的 arn", ARN_ZH),
        ("sha256 of error.16.log", LOG),
        ("error.17.log 的 sha256", LOG_ZH),
        ("/var/log/app-16/error.16.log", LOG),
        ("打开 /mnt/old/error.17.log", LOG_ZH),
    ],
)
def test_a_word_or_name_said_once_brings_its_message_whatever_the_meaning_says(long_thread: ThreadIndex, text: str, first: str) -> None:
    hits = long_thread.search(vetoed(text), limit=3)
    assert hits[0].position == LONG.index(first)
    assert found(long_thread, asked(text))[0] == LONG.index(first)


@pytest.mark.parametrize(
    "text",
    [
        "what's the weather in Paris?",
        "巴黎天气怎么样？",
        "thanks",
        "谢谢",
        "cancel order ABC-1",
        "取消订单 ABC-1",
        "the tests of the module",
        "文档",
        "open c-20",
    ],
)
def test_what_nobody_said_or_everybody_says_brings_nothing_against_the_meaning(long_thread: ThreadIndex, text: str) -> None:
    assert found(long_thread, vetoed(text)) == []


def test_a_rare_word_of_a_long_question_about_something_else_brings_nothing() -> None:
    joined = index(said("the kontor opens", *["tea"] * 60), vectors=vectors(61))
    assert found(joined, vetoed("which kontor is it?")) == [0]
    assert found(joined, vetoed("did painters near the harbour sketch a kontor, lighthouse or bridge during winter?")) == []


def test_a_word_of_an_earlier_turn_or_of_the_message_before_singles_nothing_out() -> None:
    entries = [*said(*["tea"] * 60), Entry(60, "kickoff", "Ana", "", "user"), Entry(61, "on Monday", "Bob", "", "user", context="kickoff")]
    joined = index(entries, vectors=vectors(62))
    assert found(joined, vetoed("kickoff")) == [60]
    assert found(joined, replace(vetoed("thanks"), words={"kickoff": 0.3})) == []
    assert found(joined, vetoed("kickoff"), exclude_from=60) == []


def test_a_rare_identifier_comes_before_a_common_one() -> None:
    wordy = "sha256 for berlin shipping, the kontor and its dock, crane and barge"
    talk = said(*["the sha256"] * 10, f"error.16.log{' and so much else' * 20}", *["the sha256"] * 10, wordy)
    hits = index(talk).search(asked("sha256 of error.16.log for berlin shipping, kontor and dock, crane and barge"), limit=22)
    assert [hit.position for hit in hits[:2]] == [10, 21]
    assert all("identifier" in hit.why for hit in hits)


def test_a_piece_of_an_identifier_and_a_word_of_any_request_single_nothing_out() -> None:
    joined = index(said("abc is a good change of the tests", *["the tests pass"] * 60), vectors=vectors(61))
    assert found(joined, vetoed("abc")) == [0]
    assert found(joined, vetoed("status of ABC-1")) == []
    assert found(joined, vetoed("change the tests")) == []


def test_the_whole_comes_alone_and_a_common_host_stands_for_no_address() -> None:
    talk = said(*[f"https://shop.example/orders/{number}" for number in range(1000, 1020)])
    assert index(talk).search(asked("https://shop.example/orders/1007"), limit=9)[0].position == 7
    why = [hit.why for hit in index(talk).search(asked("https://shop.example/orders/1007"), limit=9)]
    assert sum("identifier" in each for each in why) == 1
    assert all("identifier" not in hit.why for hit in index(talk).search(asked("https://shop.example/orders/5555"), limit=9))
    assert "identifier" in index(talk).search(asked("shop.example"), limit=1)[0].why


@pytest.mark.parametrize("damage", ["short", "flipped", "version", "empty", "foreign"])
def test_a_block_that_cannot_be_read_is_skipped_and_counted(damage: str) -> None:
    good, bad = encode(TALK, None), bytearray(encode(said("the invoice", start=BLOCK), vectors(1), MAKE))
    match damage:
        case "short":
            del bad[-3:]
        case "flipped":
            bad[len(bad) // 2] ^= 1
        case "version":
            bad[4] = 99
        case "empty":
            bad.clear()
        case _:
            bad[:4] = b"PK\x03\x04"
    joined = ThreadIndex.of({0: good, 1: bytes(bad)})
    assert (joined.skipped, len(joined)) == (1, len(TALK))
    assert found(joined, asked("invoice"))[0] == 0


def test_an_identifier_is_found_wherever_it_was_said_newest_first() -> None:
    entries = [*TALK, Entry(6, "so ABC-20240520-001 is late", "Bob", "", "user")]
    assert index(entries).holding("ABC-20240520-001") == [6, 2]
    assert index(entries).holding("ABC-20240520-003") == []
    assert index(entries).holding("") == []


def test_the_newest_of_a_kind_is_known() -> None:
    entries = [replace(each, kind="tool") if number in (1, 3) else each for number, each in enumerate(TALK)]
    assert index(entries).newest("tool", 5) == [3, 1]
    assert index(entries).newest("tool", 5, exclude_from=3) == [1]
    assert index(entries).kind(3) == "tool"
    assert index(entries).kind(77) is None


def test_a_block_is_the_same_bytes_every_time_and_small() -> None:
    made = vectors(len(TALK))
    assert encode(TALK, made, MAKE) == encode(TALK, made, MAKE)
    assert len(encode(TALK, made, MAKE)) < 300 * len(TALK)


@given(st.lists(st.text(max_size=40), max_size=12), st.text(max_size=40))
def test_any_texts_can_be_indexed_and_searched(texts: list[str], text: str) -> None:
    joined = index(said(*texts))
    hits = joined.search(asked(text), limit=4)
    assert len({hit.position for hit in hits}) == len(hits) <= 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
