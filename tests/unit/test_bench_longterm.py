"""The benchmark of long-term memory: its made-up memories are varied and the same each time, and it measures all that it prints."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from evals.bench_longterm import filled, opened
from evals.bench_longterm_data import AGAIN, EN, ZH, Talk, Vectors
from evals.bench_longterm_peers import PEOPLE, main
from evals.bench_longterm_table import ROWS, print_longterm
from memory.longterm.indexed import words_of


def test_the_memories_are_the_same_each_time_and_seldom_alike() -> None:
    first, again = (list(Talk(1).memories(3, 0, 600)) for _ in range(2))
    assert first == again
    assert len({memory.id for memory in first}) == 600
    said = [memory.text for memory in first]
    repeated = sum(one == other for one, other in pairwise(said))
    assert repeated == 600 // AGAIN
    assert len(set(said)) > 0.9 * (600 - repeated)
    assert 0.2 < sum(memory.language == "zh" for memory in first) / 600 < 0.5
    assert len({term for memory in first for term in words_of(memory)}) > 1_500


def test_every_pattern_can_be_filled() -> None:
    talk = Talk(2)
    for pattern in (*EN, *ZH):
        text = talk.sentence([pattern])
        assert "{" not in text
        assert len(text) < 200


async def test_made_up_vectors_have_unit_length_and_follow_from_the_text() -> None:
    vectors = Vectors()
    rows = await vectors.passages(["one", "two", "one"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(rows[0], rows[2])
    np.testing.assert_array_equal(await vectors.query("two"), rows[1])


async def test_a_small_run_measures_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = await filled(40, tmp_path / "store")
    figures |= await opened(40, tmp_path / "store", None, 4)
    assert figures["recall"]["missing"] == 0
    assert figures["ordering"]["owners"] == 43  # who was filled in, and three more who were told something
    print_longterm({"sizes": [figures]})
    printed = capsys.readouterr().out
    assert all(name in printed for name, _, _ in ROWS)
    assert "40" in printed.splitlines()[1]


def test_what_is_beside_it_is_measured_by_the_same_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = {}
    for name in ("edge", "local"):
        main(name, PEOPLE, tmp_path / name)
        figures[name] = json.loads(capsys.readouterr().out)
    assert figures["edge"].keys() == figures["local"].keys() == {"add", "recall", "rss", "disk", "people"}
    print_longterm({"sizes": [], "peers": {"memories": PEOPLE, **figures}})
    printed = capsys.readouterr().out
    assert "qdrant-client, local mode" in printed
    assert "is not installed" in printed  # mem0 was not measured
