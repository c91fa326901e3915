"""What the embedded store keeps at hand and how it chooses the best before it reads them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.longterm.collection import best, pack, unpack
from memory.longterm.edge_process import answer_text
from memory.longterm.edge_rows import BESIDE, Rows, merged
from memory.longterm.packed import Scored, fields, from_text, packed, row_text, scored, scored_text
from tests.fakes.stores import person, record


def test_a_row_is_at_hand_until_its_point_is_written() -> None:
    rows = Rows()
    rows.add(1, b"one")
    rows.add(2, b"two")
    assert (rows.get(1), rows.get(2), rows.get(3)) == (b"one", b"two", None)
    rows.drop([1, 3])
    assert (rows.get(1), rows.get(2)) == (None, b"two")
    assert rows.size == len(b"two") + BESIDE


def test_the_row_not_asked_for_the_longest_goes_first_and_the_bound_holds() -> None:
    rows = Rows(most=3 * (10 + BESIDE))
    for point in (1, 2, 3):
        rows.add(point, b"x" * 10)
    rows.get(1)
    rows.add(4, b"x" * 10)
    assert [rows.get(point) is not None for point in (1, 2, 3, 4)] == [True, False, True, True]
    rows.add(5, b"x" * 1_000)  # more than there is room for at all: it is not kept, and nothing is owed
    assert [rows.get(point) for point in (1, 2, 3, 4, 5)] == [None] * 5
    assert rows.size == 0


def test_a_row_added_again_counts_once() -> None:
    rows = Rows()
    rows.add(1, b"old")
    rows.add(1, b"newer")
    assert rows.get(1) == b"newer"
    assert rows.size == len(b"newer") + BESIDE


PLACES = st.lists(st.integers(0, 12), unique=True, max_size=10)
SCORES = st.tuples(PLACES, st.permutations([n / 8 - 0.5 for n in range(10)])).map(lambda drawn: dict(zip(*drawn, strict=False)))
"""No two alike: which of two equals is the best is nobody's business."""


@given(meant=SCORES, worded=SCORES, limit=st.integers(1, 6))
def test_the_best_places_are_those_that_the_best_records_would_be(meant: dict[int, float], worded: dict[int, float], limit: int) -> None:
    found = merged(list(meant.items()), list(worded.items()), limit)
    blank = pack(record("x"))
    known = [Scored(blank._replace(id=str(place)), meant.get(place), worded.get(place)) for place in dict.fromkeys([*meant, *worded])]
    wanted = {int(each.record.id): (each.dense, each.words) for each in best(known, limit)}
    assert found == wanted


def test_a_row_is_read_back_as_the_record_that_was_packed() -> None:
    for text in ("plain", "花生过敏 🥜", "half \ud800 a pair", 'quotes " \\ \n'):
        for live in (True, False):
            one = pack(record("a", person("U9"), text=text, at=1.75e9 + 0.125, audience="channel:C1", key="k", live=live))
            row = packed(from_text(row_text(fields(one))))
            assert row == one
            assert row.live is live
            assert unpack(row).payload == {"text": text}


def test_scores_come_through_as_they_are_even_where_there_are_none() -> None:
    row = row_text(fields(pack(record("a"))))
    text = scored_text([(row, 0.1 + 0.2, None), (row, None, -7e-12), (row, float("inf"), float("-inf"))])
    found = [scored(each) for each in from_text(text)]
    assert [(each.dense, each.words) for each in found] == [(0.1 + 0.2, None), (None, -7e-12), (float("inf"), float("-inf"))]


def test_an_answer_that_is_json_already_is_put_in_as_it_is() -> None:
    assert json.loads(answer_text(7, "", scored_text([]))) == [7, "", []]
    assert json.loads(answer_text(7, "", {"a": [1]})) == [7, "", {"a": [1]}]
    assert json.loads(answer_text(8, 'a "fault"', None)) == [8, 'a "fault"', None]
