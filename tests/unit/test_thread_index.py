from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.terms import identifiers, terms
from memory.thread_index import BLOCK, Entry, Floats, Question, ThreadIndex, encode

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
