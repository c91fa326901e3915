"""The measurement of recall: it reads both forms of data, counts as it says, and would notice a memory that cannot be found."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from evals import longterm
from evals.longterm_data import data_sets
from evals.longterm_systems import Ours
from memory.longterm.asking import understood


def turn(number: int, speaker: str, text: str) -> dict[str, Any]:
    return {"dia_id": f"D1:{number}", "speaker": speaker, "text": text}


TALK = {
    "sample_id": "one",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn(1, "Ann", "Hello!"),
            turn(2, "Bob", "How is the lighthouse?"),
            turn(3, "Ann", "Its lamp is broken."),
            turn(4, "Bob", "My horse won a race."),
        ],
    },
    "qa": [
        {"question": "What is wrong with the lighthouse of Ann?", "evidence": ["D1:3; D1:2"], "category": 1},
        {"question": "What did Bob's horse win?", "evidence": ["D1:4"], "category": 4},
        {"question": "Never said", "evidence": ["D1:1"], "category": 5},
    ],
}
ENTRIES = (("2023-02-19", "喜好类", "开心", "Bart吃了炼乳吐司。"), ("2023-08-16", "活动类", "开心", "Bart在海边放风筝。"))
DIALOGUE = {
    "dialogue": ["<BOD>\n", '<Bart>:"今天风很大"\n', '<Assistant>:"想做什么?"\n', '<Bart>:"想放风筝"\n', '<Assistant>:"你在海边放过"\n', '<Bart>:"吐司"\n'],
    "test-turn": [4],
    "relevant-id": [7],
    "user-id": 1,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "locomo_dev.json").write_text(json.dumps([TALK]), encoding="utf-8")
    entries = [
        {str(6 + at): {"time": time, "scene": scene, "emotion": mood, "event": event, "user-id": 1}} for at, (time, scene, mood, event) in enumerate(ENTRIES)
    ]
    (tmp_path / "madial_zh_memory.jsonl").write_text("\n".join(json.dumps(entry) for entry in entries), encoding="utf-8")
    (tmp_path / "madial_zh_dialogue_dev.jsonl").write_text(json.dumps(DIALOGUE) + "\n\n", encoding="utf-8")
    return tmp_path


def test_several_answers_in_one_field_are_read_and_questions_without_an_answer_left_out(folder: Path) -> None:
    case = data_sets(folder)[0].cases[0]
    texts = {memory.id: memory.text for memory in case.memories}
    assert [sorted(texts[one] for one in asking.answers) for asking in case.askings] == [
        ["How is the lighthouse?", "Its lamp is broken."],
        ["My horse won a race."],
    ]
    assert [memory.context for memory in case.memories[:3]] == ["", "Hello!", "How is the lighthouse?"]


def test_a_question_is_what_the_person_said_before_the_tested_turn(folder: Path) -> None:
    asking = data_sets(folder)[1].cases[0].askings[0]
    assert (asking.question.recent, asking.question.text) == (("今天风很大",), "想放风筝")
    assert understood(asking.question).queries == ("今天风很大\n想放风筝", "想放风筝")


async def test_our_recall_finds_the_answers_by_words_alone(folder: Path) -> None:
    for data in data_sets(folder):
        for case in data.cases:
            ours = await Ours.of(case, None)
            for asking in case.askings:
                best = [found.memory.id for found in await ours.found(asking, None)]
                assert set(best[: len(asking.answers)]) == asking.answers


def test_the_measures_are_what_their_names_say() -> None:
    order = ["x", "a", *"cdefghi", "z", "b"]
    recall_5, recall_10, recall_20, reciprocal, gain = longterm.measures(order, frozenset({"a", "b"}))
    assert (recall_5, recall_10, recall_20, reciprocal) == (0.5, 0.5, 1.0, 0.5)
    assert gain == pytest.approx((1 / 1.58496) / (1 + 1 / 1.58496), abs=1e-4)
    assert longterm.measures(["x"], frozenset({"a"})) == (0.0, 0.0, 0.0, 0.0, 0.0)


async def test_it_prints_every_system_and_how_often_recall_is_silent(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longterm, "embedder", lambda: None)
    await longterm.main(argparse.Namespace(data=str(folder), cache=None, without_mem0=True, each=False))
    out = capsys.readouterr().out
    assert "LoCoMo: 4 memories of 1, 2 questions" in out
    assert "MADial zh: 2 memories of 1, 1 questions" in out
    assert out.count("\nBM25 ") == out.count("\nours ") == 2
    assert "another's questions that recall anything" in out


async def test_without_data_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEWARD_EVAL_DATA", raising=False)
    monkeypatch.setattr(longterm, "embedder", lambda: None)
    await longterm.main(argparse.Namespace(data=None, cache=None, without_mem0=True, each=False))
    assert "give the folder" in capsys.readouterr().out
