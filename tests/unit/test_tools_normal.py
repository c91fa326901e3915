"""Results: whatever a tool returns becomes bounded, valid JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import uuid
from collections import OrderedDict, deque, namedtuple
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from tools.normal import MAX_DEPTH, UnreadableResult, clean, normalise
from tools.shrink import measure, shrink

LIMIT = 20_000
Point = namedtuple("Point", "x y")  # noqa: PYI024 - the plain kind is what is tested


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


class Pair(Enum):
    BOTH = (1, "b")


class Model(BaseModel):
    raw: bytes = b"\xff\xfe"
    when: datetime = datetime(2024, 5, 20, 9, 30, tzinfo=UTC)
    price: Decimal = Decimal("9.90")


class Names(RootModel[list[str]]):
    pass


@dataclasses.dataclass
class Node:
    name: str
    next: Any = None


class Broken(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        raise OSError("the connection is gone")

    def __iter__(self) -> Any:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


CASES: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (2**63 - 1, 2**63 - 1),
    (2**63, "9223372036854775808"),
    (-(2**70), str(-(2**70))),
    (1 << 100_000, "<integer of 100,001 bits>"),
    (1.5, 1.5),
    (math.nan, "NaN"),
    (math.inf, "Infinity"),
    (-math.inf, "-Infinity"),
    ("a\x00b", "a\ufffdb"),
    ("half \ud83d emoji", "half \ufffd emoji"),
    ("\ud83d\ude00", "😀"),
    ("订单 😀", "订单 😀"),
    (Word.YES, "yes"),
    (Level.HIGH, 3),
    (Pair.BOTH, [1, "b"]),
    (b"x" * 12, "<binary, 12 bytes>"),
    (bytearray(1500), "<binary, 1.5 kB>"),
    (memoryview(bytes(1_200_000)), "<binary, 1.2 MB>"),
    (datetime(2024, 5, 20, 9, 30, tzinfo=UTC), "2024-05-20T09:30:00+00:00"),
    (date(2024, 5, 20), "2024-05-20"),
    (timedelta(hours=1), "PT1H"),
    (Decimal("0.10"), "0.10"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (PurePosixPath("a/b"), "a/b"),
    ({3, 1, 2, 10}, [1, 2, 3, 10]),
    (frozenset({"b", "a"}), ["a", "b"]),
    ((1, [2]), [1, [2]]),
    (deque([1, 2]), [1, 2]),
    (range(3), [0, 1, 2]),
    ({"a": 1}.keys(), ["a"]),
    ({"a": 1}.values(), [1]),
    (Point(1, 2), {"x": 1, "y": 2}),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    ({1: "a", "1": "b", None: "c", False: "d", Word.YES: "e", (1, 2): "f"}, {"1": "a", "1 (2)": "b", "null": "c", "false": "d", "yes": "e", "(1, 2)": "f"}),
    (Model(), {"raw": "<binary, 2 bytes>", "when": "2024-05-20T09:30:00+00:00", "price": "9.90"}),
    (Names(["a"]), ["a"]),
    (Node("a", Node("b")), {"name": "a", "next": {"name": "b", "next": None}}),
]


@pytest.mark.parametrize(("value", "expected"), CASES, ids=[f"{type(value).__name__}{number}" for number, (value, _) in enumerate(CASES)])
def test_every_kind_of_value_becomes_data(value: Any, expected: Any) -> None:
    assert normalise(value, LIMIT) == (expected, False)


@pytest.mark.parametrize(
    "value", [object(), len, (n for n in [1]), open, Exception("secret"), Node, [1, {"a": object()}], Broken()], ids=[f"kind{n}" for n in range(8)]
)
def test_what_is_not_data_is_named_by_its_type_and_nothing_more(value: Any) -> None:
    with pytest.raises(UnreadableResult) as caught:
        normalise(value, LIMIT)

    assert "secret" not in str(caught.value)
    assert "0x" not in str(caught.value)
    assert "connection" not in str(caught.value)


def test_a_cycle_ends_at_the_depth_limit() -> None:
    node = Node("a")
    node.next = node

    data, cut = normalise(node, LIMIT)

    assert cut
    depth = 0
    while isinstance(data, dict):
        data, depth = data["next"], depth + 1
    assert (data, depth) == ("<nested too deeply>", MAX_DEPTH)


def test_a_structure_that_refers_to_itself_many_times_is_bounded_too() -> None:
    many: list[Any] = []
    many.extend([many] * 50)

    data, cut = normalise(many, LIMIT)

    assert cut
    assert measure(data) <= LIMIT


def test_a_million_items_are_cut_with_the_number_left_out() -> None:
    data, cut = normalise(list(range(1_000_000)), LIMIT)

    assert cut
    assert data[:3] == [0, 1, 2]
    assert data[-1] == f"… {1_000_000 - (len(data) - 1):,} more items left out"
    assert measure(data) <= LIMIT


def test_a_long_text_keeps_its_head_and_its_tail() -> None:
    data, cut = normalise("start " + "x" * 5_000_000 + " end", LIMIT)

    assert cut
    assert data.startswith("start xxx")
    assert data.endswith("xxx end")
    assert f"[{5_000_010 - data.count('x') - len('start  end'):,} characters left out]" in data
    assert LIMIT * 0.95 < measure(data) <= LIMIT


def test_small_fields_stay_whole_beside_huge_ones() -> None:
    data, cut = normalise({"log": "line\n" * 100_000, "rows": list(range(500_000)), "status": "shipped", "note": "短"}, LIMIT)

    assert cut
    assert (data["status"], data["note"]) == ("shipped", "短")
    assert len(data["log"]) > 3000
    assert data["rows"][-1] == f"… {500_000 - (len(data['rows']) - 1):,} more items left out"
    assert len(data["rows"]) > 500
    assert measure(data) <= LIMIT


def test_a_list_of_records_keeps_whole_records_from_the_start() -> None:
    rows = [{"order_id": f"ABC-{n:05}", "status": "paid"} for n in range(1000)]

    data, cut = normalise(rows, 2000)

    assert cut
    kept = len(data) - 1
    assert data[:-1] == rows[:kept]
    assert kept > 30
    assert data[-1] == f"… {1000 - kept:,} more items left out"


def test_a_wide_object_says_how_many_fields_are_missing() -> None:
    data, cut = normalise({f"field{n}": n for n in range(5000)}, 1000)

    assert cut
    assert data["…"] == f"… {5000 - (len(data) - 1):,} more fields left out"
    assert measure(data) <= 1000


def test_what_fits_is_not_touched() -> None:
    value = {"a": ["b" * 100] * 10}

    assert shrink(value, measure(value)) is value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(min_value=-(2**63), max_value=2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=20), inner, max_size=8),
    max_leaves=60,
)


@settings(deadline=None)
@given(JSON, st.integers(3, 600))
def test_cut_data_always_fits_and_is_always_json(value: Any, budget: int) -> None:
    short = shrink(value, budget)

    assert measure(short) <= budget
    assert json.loads(json.dumps(short)) == short
    if measure(value) <= budget:
        assert short == value


TEXTS = st.text(st.characters() | st.sampled_from('\x00\ud800\udfff"\\'), max_size=40)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary(max_size=20) | st.dates() | st.decimals() | st.uuids()
KEYS = st.integers() | st.none() | TEXTS
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=6) | st.tuples(inner) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=40,
)


@settings(deadline=None)
@given(ANYTHING, st.integers(3, 2000))
def test_any_result_becomes_json_that_can_be_sent(value: Any, limit: int) -> None:
    data, cut = normalise(value, limit)

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode()
    assert len(text) <= limit
    assert "\x00" not in text
    assert cut or normalise(data, limit) == (data, False)


@settings(deadline=None)
@given(TEXTS)
def test_cleaned_text_is_utf8_and_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)

    assert once.encode().decode() == once == clean(once)


def test_the_same_set_reads_the_same_in_any_order_of_insertion() -> None:
    names = [f"name{n}" for n in range(200)]
    shuffled = random.Random(7).sample(names, len(names))

    assert normalise(set(names), LIMIT) == normalise(set(shuffled), LIMIT)
