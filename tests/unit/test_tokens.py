"""Counting tokens: exact, in every script, whatever the text holds."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.token_texts import KINDS, samples
from evals.tokens import errors
from memory.tokens import _Remembering, at_most, count, count_json, counter_for, encoding_of, estimate, fits, load
from memory.windows import UNKNOWN_WINDOW, window_of

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


# ── counters by the model's name, and the estimator ──


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5-mini", "o200k_base"),
        ("gpt-4o-2024-11-20", "o200k_base"),
        ("openai/gpt-4.1-nano", "o200k_base"),
        ("ft:gpt-4o-mini-2024-07-18:us::abc", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("o3", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-4-1106-preview", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("Qwen/Qwen2.5-7B-Instruct", None),
        ("llama3.1:8b", None),
        ("", None),
    ],
)
def test_the_vocabulary_is_the_model_s_own(model: str, encoding: str | None) -> None:
    text = "Order SO-104233 was delivered, 谢谢！"

    assert encoding_of(model) == encoding
    if encoding is not None:
        assert counter_for(model)(text) == load(encoding).count(text)


def test_models_with_the_same_vocabulary_share_one_counter() -> None:
    assert counter_for("gpt-4o") is counter_for("gpt-5")
    assert counter_for("gpt-4o") is not counter_for("gpt-4")


def test_an_unknown_model_s_texts_are_estimated_and_chinese_costs_less_where_the_model_is_at_home_in_it() -> None:
    text = "今天早上仓库打电话来说，他们把货盘数了两遍。"

    assert counter_for("our-own")(text) == estimate(text)
    assert counter_for("qwen3:8b")(text) < estimate(text)


@settings(max_examples=300)
@given(ANY_TEXT)
def test_an_estimate_is_at_least_one_and_at_most_the_bytes(text: str) -> None:
    assert (text != "") <= estimate(text) <= at_most(text)


@given(ANY_TEXT)
def test_no_count_is_above_the_upper_bound(text: str) -> None:
    assert max(counter_for("gpt-4")(text), counter_for("gpt-5")(text)) <= at_most(text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_estimator_hardly_ever_counts_too_little(kind: str, encoding: str) -> None:
    found = errors(samples(kind), estimate, load(encoding).count)

    assert found.texts >= 40
    assert found.p5 >= -0.03
    assert found.worst_under >= -0.15  # the code among the texts is this project's own, and changes
    assert found.mean <= 0.8


@pytest.mark.parametrize("seed", range(5))
def test_random_letters_are_not_taken_for_words(seed: int) -> None:
    text = base64.b64encode(random.Random(seed).randbytes(6000)).decode()

    assert estimate(text) >= max(load("o200k_base").count(text), load("cl100k_base").count(text))


def test_a_counter_counts_a_text_once_while_it_remembers_it() -> None:
    asked: list[str] = []

    def counted(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = _Remembering(counted, room=10)
    seen = [counter(text) for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb", "")]

    assert seen == [4, 4, 4, 4, 4, 4, 0]
    assert asked == ["aaaa", "bbbb", "cccc", "bbbb"]  # the least lately used went when the room was full


def test_a_text_too_large_to_remember_is_counted_each_time_and_pushes_nothing_out() -> None:
    asked: list[str] = []

    def counted(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = _Remembering(counted, room=10)
    for text in ("aaaa", "x" * 6, "x" * 6, "aaaa"):
        counter(text)

    assert asked == ["aaaa", "x" * 6, "x" * 6]


@pytest.mark.parametrize(
    "text",
    [
        "Siobhan Ngozi Wojciechowski Eilidh Xochitl Niamh " * 6,
        "zq vxk plmo grth bnw " * 20,
        "Hyvää päivää, tilaukseni ei ole vielä saapunut. " * 5,
        "龘靐齉爩鱻麤" * 20,
    ],
    ids=["names", "made up", "Finnish", "rare signs"],
)
def test_an_unknown_model_is_never_counted_below_the_common_vocabulary(text: str) -> None:
    assert counter_for("our-own")(text) >= load("o200k_base").count(text)
    assert counter_for("qwen3:8b")(text) >= load("o200k_base").count(text)


def test_asking_for_a_counter_loads_no_vocabulary() -> None:
    program = "from memory.tokens import *\ncounter_for('gpt-5'); counter_for('x'); at_most('短')\nprint(load.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout.strip(), done.stderr) == ("0", "")


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-5-mini", 400_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4o-mini", 128_000),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-3.5-turbo", 16_385),
        ("o3-mini", 200_000),
        ("o4-mini", 200_000),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768),
        ("meta-llama/Llama-3.1-8B-Instruct", 131_072),
        ("Meta-Llama-3-8B-Instruct", 8_192),
        ("llama3.3:70b", 131_072),
        ("mistral-7b-instruct-v0.3", 32_768),
        ("deepseek/deepseek-chat", 65_536),
        ("DeepSeek-V3.1", 131_072),
        ("glm-4.6", 200_000),
        ("phi-3-mini-128k-instruct", 128_000),
        ("moonshot-v1-8k", 8_000),
        ("our-own", UNKNOWN_WINDOW),
        ("", UNKNOWN_WINDOW),
    ],
)
def test_the_window_is_that_of_the_longest_known_beginning_of_the_name(model: str, window: int) -> None:
    assert window_of(model) == window
