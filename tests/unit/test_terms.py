from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.terms import hashed, identifiers, parts, telling, terms, whole_identifiers


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


@pytest.mark.parametrize("text", ["ABC-1", "report.pdf", "10:30-11:45", "2026/11/30", "v1.2.3", "ana@b.example", "build_number", "20240520", "C3PO"])
def test_what_names_one_thing_is_an_identifier(text: str) -> None:
    assert identifiers(f"please look at {text} now") == {text.casefold()}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("arn:aws:s3:::bucket-20/key/part-7.json", {"bucket-20", "part-7.json"}),
        ("arn:aws:s3:::acme-invoices", {"acme-invoices"}),
        ("/var/log/app-16/error.16.log", {"app-16", "error.16.log"}),
        ("https://wiki.example/pages/onboarding?v=2#top", {"wiki.example", "onboarding"}),
        ("order:ABC-1", {"abc-1"}),
        ("10.0.0.1:5432", {"10.0.0.1", "5432"}),
        ("ana@b.example", set()),
        ("2026-11-30T10:00:00Z", set()),
    ],
)
@pytest.mark.parametrize("around", ["please look at {} now", "请看一下{}，谢谢"])
def test_a_path_or_an_address_is_known_by_its_parts_too(text: str, named: set[str], around: str) -> None:
    whole = text.casefold().strip("/")
    assert identifiers(around.format(text)) == {whole} | named
    assert whole_identifiers(around.format(text)) == {whole}
    assert parts(whole) == named
    assert {part for part in named if not part.isalpha()} <= set(terms(around.format(text)))


def test_the_end_of_a_very_long_path_is_still_found() -> None:
    path = f"https://store.example/{'folder/' * 40}release-notes-7.md"
    assert {"release-notes-7.md", "store.example"} <= set(terms(path)) & identifiers(path)
    assert len(parts("/".join(f"part-{number}" for number in range(500)))) <= 24


@pytest.mark.parametrize("word", ["kickoff", "ship", "kontor", "dhl", "启动", "康托", "발송"])
def test_a_word_that_says_what_it_is_about_tells(word: str) -> None:
    assert all(telling(term) for term in terms(word) if len(term) > 1)


@pytest.mark.parametrize("text", ["thanks", "cancelling orders", "tell me again", "ab", "12", "谢谢", "取消订单", "怎么样", "它在哪里"])
def test_the_words_of_any_request_tell_nothing(text: str) -> None:
    assert not any(telling(term) for term in terms(text))


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
