"""Counting tokens: exact, in every script, whatever the text holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.tokens import count, count_json, fits

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("Hello, world!", 4),
        ("The order has not shipped yet.", 7),
        ("你好，世界！", 4),
        ("查询指定城市未来三天的天气预报。", 11),
        ("def add(a, b):\n    return a + b\n", 12),
        ("🙂", 1),
        ("<|endoftext|>", 7),
    ],
)
def test_known_texts_have_their_known_counts(text: str, tokens: int) -> None:
    assert count(text) == tokens


@settings(deadline=None, max_examples=300)
@given(ANY_TEXT)
def test_any_text_can_be_counted_and_is_no_more_than_its_bytes(text: str) -> None:
    size = len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())

    assert (size > 0) <= count(text) <= size


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00", "\u202e\u2066", "\ufeff"])
def test_odd_characters_are_counted_too(text: str) -> None:
    assert count(text) >= 1


def test_the_two_halves_of_an_emoji_are_one_emoji() -> None:
    assert count("\ud83d\ude42") == count("🙂")


@pytest.mark.parametrize("piece", ["x", "你好吗", "word ", "🙂"])
def test_a_text_of_megabytes_is_counted(piece: str) -> None:
    few, many = piece * 10_000, piece * 400_000

    assert count(many) == pytest.approx(40 * count(few), rel=0.001)


@pytest.mark.parametrize("value", [None, 3, "订单", {"a": [1, {"b": "订单"}]}, []])
def test_a_value_counts_as_its_json(value: Any) -> None:
    assert count_json(value) == count(json.dumps(value, ensure_ascii=False))


@settings(deadline=None)
@given(ANY_TEXT, st.integers(0, 300))
def test_fits_agrees_with_the_count(text: str, budget: int) -> None:
    assert fits(text, budget) == (count(text) <= budget)


def test_the_vocabulary_is_not_loaded_before_it_is_needed() -> None:
    program = "from memory.tokens import count, fits, load\nfits('短 text', 100)\nprint(load.cache_info().currsize, count('a'), load.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout.split(), done.stderr) == (["0", "1", "1"], "")
