"""Large results: what the model sees fits its budget, what is kept holds everything, and what no model can read is described."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.tokens import count_json
from tools.normal import normalise
from tools.paging import LEAST_TOKENS, PAGE_TOKENS, WHOLE, Paged, fits_surely, paged, reduced

WORDS = st.sampled_from(
    ["order", "订单已发货", "😀👩‍👩‍👧", "naïve", '"', "\n", " ", "\\", "a" * 40, "1234567890", "，。", "€", "नमस्ते", "\u200d", "<|endoftext|>"]
)
TEXTS = st.lists(WORDS, max_size=120).map("".join) | st.text(max_size=60)
LEAVES = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=40) | st.dictionaries(TEXTS, inner, max_size=8), max_leaves=60)
ROWS = st.lists(st.fixed_dictionaries({"id": st.integers(0, 10**9), "name": TEXTS}), min_size=1, max_size=60)
BUDGETS = st.integers(LEAST_TOKENS, 700)


def whole(cut: Paged, data: Any) -> Any:
    """Everything the pages hold, put together again the way a reader of them would."""
    pages = list(cut.pages)
    if all(isinstance(page, dict) and set(page) == {"json_text"} for page in pages) and not (isinstance(data, dict) and set(data) == {"json_text"}):
        return json.loads("".join(page["json_text"] for page in pages))
    if isinstance(data, dict):
        [name] = set(pages[-1]) if len(pages) > 1 else {max(data, key=lambda key: count_json(data[key]))}
        parts = [page[name] for page in pages]
        return {**pages[0], name: joined(parts)}
    return joined(pages)


def joined(parts: list[Any]) -> Any:
    return "".join(parts) if isinstance(parts[0], str) else [item for part in parts for item in part]


# --- whatever the data ----------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(JSON, BUDGETS)
def test_any_data_fits_its_budget_and_its_pages_hold_the_whole(data: Any, budget: int) -> None:
    cut = paged(data, budget)

    assert count_json(cut.view) <= budget
    assert json.loads(json.dumps(cut.view)) == cut.view
    if not cut.pages:
        assert cut.view == data
        return
    assert whole(cut, data) == data
    for number, page in enumerate(cut.pages, start=1):
        assert count_json({"page": number, "of": len(cut.pages), "content": page}) <= budget
    assert paged(cut.view, budget) == Paged(cut.view, ())  # cutting what was cut changes nothing


@settings(max_examples=60)
@given(ROWS, BUDGETS)
def test_a_list_is_split_between_its_items_and_the_number_left_out_is_right(rows: list[dict[str, Any]], budget: int) -> None:
    data: list[Any] = rows * 20
    cut = paged(data, budget)
    if not cut.pages or not all(isinstance(page, list) for page in cut.pages):  # it fits, or one row alone is more than a page
        assert not cut.pages or max(map(count_json, rows)) > budget // 2
        return

    assert joined(list(cut.pages)) == data
    *shown, note = cut.view
    assert shown == cut.pages[0] == data[: len(shown)]
    assert note == f"… {len(data) - len(shown):,} more items left out"


@settings(max_examples=60)
@given(st.lists(TEXTS, min_size=30, max_size=60).map("\n".join), BUDGETS)
def test_a_text_shows_its_head_and_its_tail_and_counts_what_lies_between(text: str, budget: int) -> None:
    cut = paged(text, budget)
    if not cut.pages:
        return

    assert "".join(cut.pages) == text
    found = re.search(r"… \[([\d,]+) characters left out\] …", cut.view[len(cut.pages[0]) :])
    assert found is not None
    head = cut.view[: len(cut.pages[0]) + found.start()]
    tail = cut.view[len(cut.pages[0]) + found.end() :]
    assert text.startswith(head)
    assert head == cut.pages[0]  # nothing between the first page and the second
    assert text.endswith(tail)
    assert len(head) + int(found[1].replace(",", "")) + len(tail) == len(text)


# --- particular data ------------------------------------------------------------------------------------------------------


def test_what_fits_stays_as_it_is() -> None:
    same: list[Any] = [None, 0, "", [], {}, "短", {"rows": [1, 2]}, "x" * 100]
    for data in same:
        assert paged(data) == Paged(data, ())
        assert fits_surely(data, PAGE_TOKENS)


@given(JSON, st.integers(0, 300))
def test_what_surely_fits_does(data: Any, budget: int) -> None:
    if fits_surely(data, budget):
        assert count_json(data) <= budget


def test_the_log_of_a_long_job_shows_its_last_lines() -> None:
    log = "".join(f"{n:05d} step done\n" for n in range(5_000)) + "FAILED: disk full\n"
    cut = paged({"exit": 1, "log": log})

    assert cut.view["exit"] == 1
    assert cut.view["log"].startswith("00000 step done\n")
    assert cut.view["log"].endswith("FAILED: disk full\n")
    assert all(page["log"].endswith("\n") for page in cut.pages)  # between lines, where there are lines
    assert all(set(page) == {"log"} for page in cut.pages[1:])


def test_what_surrounds_a_long_list_stays_on_the_first_page_only() -> None:
    data = {"total": 3_000, "rows": [{"id": n, "名称": f"订单{n}"} for n in range(3_000)], "next": None}
    cut = paged(data)

    assert (cut.view["total"], cut.view["next"]) == (3_000, None)
    assert cut.view["rows"][-1] == f"… {3_000 - len(cut.view['rows']) + 1:,} more items left out"
    assert [set(page) for page in cut.pages[:2]] == [{"total", "rows", "next"}, {"rows"}]
    assert whole(cut, data) == data
    assert count_json(cut.view) > PAGE_TOKENS // 2  # the room there is is used


@pytest.mark.parametrize(
    "data",
    [
        [{"subject": "a", "body": "long mail " * 9_000}, {"subject": "b", "body": "short"}],
        {"a": {"b": ["x" * 300] * 400}, "c": {"d": "y " * 20_000}},
        {"log": "line\n" * 12_000, "other": {"deep": "text " * 11_000}},
        {f"key {n}": {"value": n, "note": "备注" * 10} for n in range(2_000)},
        {"名" * 150: ["item"] * 20_000},
    ],
    ids=["one long item", "two deep branches", "much around the longest", "many fields", "a long name"],
)
def test_nothing_is_lost_of_data_that_has_no_even_parts(data: Any) -> None:
    cut = paged(data)

    assert whole(cut, data) == data
    assert count_json(cut.view) <= PAGE_TOKENS
    assert all(count_json(page) <= PAGE_TOKENS for page in cut.pages)


@pytest.mark.parametrize("late", ["订" * 20_000, "😀" * 9_000, "".join(chr(0x4E00 + n % 9_000) for n in range(15_000))], ids=["chinese", "emoji", "rare"])
def test_a_text_that_grows_denser_keeps_to_the_budget_on_every_page(late: str) -> None:
    """A guess from the beginning would be wrong by a factor of ten."""
    text = " " * 30_000 + late
    cut = paged(text)

    assert "".join(cut.pages) == text
    assert count_json(cut.view) <= PAGE_TOKENS
    assert max(map(count_json, cut.pages)) <= PAGE_TOKENS


LARGEST: dict[str, Any] = {
    "english": "the quick brown fox\n" * (WHOLE // 20),
    "chinese": "敏捷的棕色狐狸跳过懒狗。\n" * (WHOLE // 13),
    "one word": "a" * WHOLE,
    "quotes": '"' * (WHOLE // 2),
    "numbers": list(range(60_000)),
    "ones": [1] * (WHOLE // 2),
    "rows": [{"id": n, "name": f"客户 {n}", "note": "x" * 40} for n in range(5_000)],
}


@pytest.mark.parametrize("what", list(LARGEST))
def test_the_largest_result_costs_little_more_than_counting_it(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded in work, not in seconds: the tokens of every page are counted once or twice."""
    counted = [0]

    def counting(value: Any) -> int:
        counted[0] += len(json.dumps(value, ensure_ascii=False))
        return count_json(value)

    monkeypatch.setattr("tools.paging.count_json", counting)
    cut = paged(LARGEST[what])

    assert joined(list(cut.pages)) == LARGEST[what]
    assert counted[0] <= 4 * len(json.dumps(LARGEST[what], ensure_ascii=False))


def test_fields_are_kept_in_the_order_declared() -> None:
    assert list(reduced([{"b": 1, "a": 2, "c": 3}], ("a", "b"))[0]) == ["a", "b"]
    assert reduced({"rows": [{"a": 1, "z": 2}], "n": {"z": 1}}, ("a",)) == {"rows": [{"a": 1}], "n": {"z": 1}}
    assert reduced("text", ("a",)) == "text"
    assert reduced([{"z": 1}], ()) == [{"z": 1}]


# --- what no model can read -----------------------------------------------------------------------------------------------

RANDOM = random.Random(7).randbytes(3_000)
ENCODED = base64.b64encode(RANDOM).decode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (RANDOM, "<binary, 3.0 kB>"),
        (b"", "<binary, 0 bytes>"),
        (ENCODED, "<base64, 3.0 kB>"),
        (base64.urlsafe_b64encode(RANDOM).decode(), "<base64, 3.0 kB>"),
        (base64.encodebytes(RANDOM).decode(), "<base64, 3.0 kB>"),
        ("data:image/png;base64," + ENCODED, "<image/png, base64, 3.0 kB>"),
        ("data:;base64," + ENCODED, "<data, base64, 3.0 kB>"),
        ("data:text/plain;charset=utf-8;base64," + ENCODED, "<text/plain;charset=utf-8, base64, 3.0 kB>"),
    ],
)
def test_binary_and_encoded_files_become_a_description(value: Any, shown: str) -> None:
    assert normalise({"file": value, "name": "图.png"}, WHOLE) == ({"file": shown, "name": "图.png"}, False)


def test_a_file_inside_a_text_is_described_and_the_text_stays() -> None:
    page = f"Before ![logo](data:image/png;base64,{ENCODED}) between <img src='data:image/gif;base64,{ENCODED}'> 之后。"
    data, cut = normalise(page, WHOLE)

    assert (data, cut) == ("Before ![logo](<image/png, base64, 3.0 kB>) between <img src='<image/gif, base64, 3.0 kB>'> 之后。", False)


ORDINARY = {
    "a long word": "Donaudampfschifffahrtsgesellschaft" * 12,
    "hexadecimal": "9f86d081884c7d659a2feaa0c55ad015" * 12,
    "capital hexadecimal": "9F86D081884C7D659A2FEAA0C55AD015" * 12,
    "a number": "31415926535897932384" * 20,
    "a link": "https://example.com/a/very/long/path/" + "segment/" * 40 + "?q=Abc123",
    "a path": "/usr/share/" + "some_folder/" * 40,
    "names joined by hyphens": "-".join(["alice", "bruno", "mei"] * 40),
    "names line by line": "\n".join(["Alice", "Bruno", "美", "Dana9"] * 40),
    "codes line by line": "\n".join(f"ABC{n:03d}xyz" for n in range(60)),
    "prose": "All work and no play makes Jack a dull boy. " * 20,
    "chinese": "订单已经发货，请稍等。" * 40,
    "a word about data": "data:this is how a line may begin, and go on for long;base64, too " * 10,
    "the alphabet": string.ascii_letters * 8,
}


@pytest.mark.parametrize("what", list(ORDINARY))
def test_ordinary_text_is_left_alone(what: str) -> None:
    assert normalise(ORDINARY[what], WHOLE) == (ORDINARY[what], False)
