"""The corpus of calls: right ones are accepted with their exact values, damaged ones become exactly what was meant or name the fault."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.corpus.calls.corpus import damaged_fault, gold_fault, raw_of, read, registry
from tools import ToolResult
from tools.prepare import prepare
from tools.result import ErrorCode, Suggestion

GOLD: list[dict[str, Any]] = read("gold")
DAMAGED: list[dict[str, Any]] = read("damaged")
NOFIT: list[dict[str, Any]] = read("nofit")


@pytest.mark.parametrize("case", GOLD, ids=lambda case: case["id"])
def test_a_right_call_is_accepted_with_its_exact_values(case: dict[str, Any]) -> None:
    assert [gold_fault(call) for call in case["calls"]] == [""] * len(case["calls"])


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: case["id"])
def test_a_damaged_call_becomes_what_was_meant_or_is_refused_by_name(case: dict[str, Any]) -> None:
    assert damaged_fault(case) == ""


@pytest.mark.parametrize("case", [case for case in DAMAGED if "repaired" in case], ids=lambda case: case["id"])
def test_a_repair_is_never_silent(case: dict[str, Any]) -> None:
    call = prepare(registry(), case["tool"], case["raw"])

    assert not isinstance(call, ToolResult)
    assert call.changes


@pytest.mark.parametrize("case", [case for case in NOFIT if "name" in case], ids=lambda case: case["id"])
def test_a_call_no_tool_fits_is_answered_with_the_nearest_name(case: dict[str, Any]) -> None:
    result = prepare(registry(), case["name"], "{}")

    assert isinstance(result, ToolResult)
    assert (result.error_code, result.suggestion) == (ErrorCode.UNKNOWN_TOOL, Suggestion.USE_OTHER_TOOL)
    message = (result.error_message or "").partition(" The tools are")[0]
    assert message.startswith("There is no tool ")
    assert not case["meant"] or f"Did you mean {case['meant']!r}" in message


@pytest.mark.parametrize("seed", range(8))
def test_a_call_with_one_letter_wrong_ends_in_a_reason_or_a_call(seed: int) -> None:
    chance = random.Random(seed)
    for case in GOLD:
        for call in case["calls"]:
            raw = raw_of(call)
            place = chance.randrange(len(raw) + 1)
            other = raw[:place] + chance.choice(["", '"', "'", ",", "}", "]", "“", "\\", "\n", "x", "0", "：", "#", "`"]) + raw[place + chance.randrange(2) :]

            outcome = prepare(registry(), call["tool"], other)

            assert not isinstance(outcome, ToolResult) or outcome.error_code == ErrorCode.INVALID_ARGUMENTS, other


def test_the_corpus_is_large_and_varied() -> None:
    ids = [case["id"] for case in [*GOLD, *DAMAGED, *NOFIT]]
    used = {call["tool"] for case in GOLD for call in case["calls"]}

    assert len(GOLD) >= 160
    assert len(DAMAGED) >= 160
    assert len(used) == len(registry()) >= 40
    assert sum(len(case["calls"]) > 1 for case in GOLD) >= 5
    assert any(case.get("calls") == [] for case in NOFIT)
    assert len(GOLD) == len({case["id"] for case in GOLD})
    assert len(DAMAGED) == len({case["id"] for case in DAMAGED})
    assert len(ids) == len(GOLD) + len(DAMAGED) + len(NOFIT)
    assert all(len({"repaired", "refused_field", "refused_with"} & case.keys()) == 1 for case in DAMAGED)
