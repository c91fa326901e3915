from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.terms import hashed, identifiers, terms


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("running", "runs"),
        ("deliveries", "delivery"),
        ("RÉSUMÉ", "resume"),
        ("ＡＢＣ", "abc"),
        ("Caroline's", "Caroline"),
        ("Caroline’s", "caroline"),
        ("订单", "我的订单在哪里"),
        ("東京", "東京タワー"),
        ("createOrder", "create an order"),
        ("20240520", "abc-20240520-001"),
        ("1200", "1,200 dollars"),
        ("report", "report.pdf"),
    ],
)
def test_two_ways_of_writing_one_thing_have_a_term_in_common(asked: str, said: str) -> None:
    assert set(terms(asked)) & set(terms(said))


def test_an_identifier_is_a_term_as_a_whole_and_in_its_pieces() -> None:
    assert terms("abc-20240520-001") == ["abc-20240520-001", "abc", "20240520", "001"]
    assert "abc-20240520-001" in terms("取消ABC-20240520-001吧")


def test_chinese_gives_characters_and_pairs() -> None:
    assert terms("上海天气") == ["上", "海", "天", "气", "上海", "海天", "天气"]


def test_function_words_are_no_terms() -> None:
    assert terms("What's the one that you'd have?") == ["one"]
    assert terms("的") == []


@pytest.mark.parametrize("text", ["ABC-1", "report.pdf", "https://a.example/b?x=1", "v1.2.3", "ana@b.example", "build_number", "20240520", "C3PO"])
def test_what_names_one_thing_is_an_identifier(text: str) -> None:
    assert identifiers(f"please look at {text} now") == {text.casefold()}


@pytest.mark.parametrize("text", ["well-known", "5pm", "the 2nd", "10%", "and/or", "12 people", "in 2023", "don't", "Caroline's", "上海"])
def test_plain_words_and_small_numbers_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == set()


def test_hashes_are_the_same_in_every_process() -> None:
    assert hashed("order") == 4113142680


@given(st.text(max_size=300))
def test_any_text_has_terms_and_they_can_be_hashed(text: str) -> None:
    found = terms(text)
    assert all(found)
    assert [hashed(term) for term in found] == [hashed(term) for term in terms(text)]


@pytest.mark.parametrize("text", ["a" * 300_000, "a-" * 150_000, "字" * 100_000, "\ud800" * 1_000, "1," * 100_000])
def test_a_huge_text_is_read_by_its_beginning(text: str) -> None:
    assert len(terms(text)) <= 40_000
