"""Results that a later write changed say so wherever they are told after they left the context: when they are recalled, and in a summary."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from memory.extract import extract
from memory.recall import Recalled
from memory.retelling import older_of, teller
from memory.session_memory import Change, SessionMemory, Summary, dump, load
from memory.stale import MOST_CHANGES, changes_in, remembered
from memory.thread_index import Hit
from memory.tokens import count
from memory.transcript import AssistantMessage, Item, Request, ToolMessage


def call(name: str, effect: Literal["read", "write"], arguments: dict[str, Any], data: Any = None, *, success: bool = True, key: str = "") -> list[Item]:
    request = Request(id=f"{name}{key}{json.dumps(arguments)}", name=name, arguments=json.dumps(arguments))
    content = json.dumps({"success": success, "data": data or arguments}, ensure_ascii=False)
    return [AssistantMessage(run_id="r", calls=(request,), at=1.0), ToolMessage(call_id=request.id, name=name, content=content, effect=effect, at=1.0)]


READ = call("get_order", "read", {"order_id": "ABC-1"}, {"order_id": "ABC-1", "status": "open"})
CANCEL = call("cancel_order", "write", {"order_id": "ABC-1"})
MARK = "(stale: cancel_order changed this later) get_order("


def told(older: list[Item], memory: SessionMemory, log: list[Item], found: Recalled) -> list[str]:
    placed = [(memory.covered + at, item) for at, item in enumerate(log)]
    tell = teller(found, older_of(dict(enumerate(older)), memory, ()), timezone="UTC", count=count, log=placed)
    assert tell is not None
    return tell(1_000)


@pytest.mark.parametrize("found", [Recalled((), (1,)), Recalled((Hit(1, 1.0, ()),))], ids=["whole", "a line"])
@pytest.mark.parametrize("where", ["verbatim", "recalled", "remembered"])
def test_a_recalled_result_that_was_changed_later_says_so(where: str, found: Recalled) -> None:
    older = [*READ, *(CANCEL if where == "recalled" else [])]
    changes = remembered((), [(40 + at, item) for at, item in enumerate(CANCEL)], 50) if where == "remembered" else ()
    memory = SessionMemory(covered=60, changes=changes)
    lines = told(older, memory, CANCEL if where == "verbatim" else [], found)
    assert sum(MARK in line for line in lines) == 1
    assert all(line.startswith(("> ", "[")) for line in lines)


@pytest.mark.parametrize(
    "log",
    [
        call("cancel_order", "write", {"order_id": "ABC-2"}),
        call("cancel_order", "write", {"order_id": "ABC-1"}, success=False),
        call("track_order", "read", {"order_id": "ABC-1"}),
    ],
    ids=["of something else", "that failed", "that only read"],
)
def test_a_call_that_did_not_change_it_leaves_a_recalled_result_as_it_was(log: list[Item]) -> None:
    assert not any("stale" in line for line in told(READ, SessionMemory(covered=60), log, Recalled((), (1,))))


def test_a_result_read_after_the_change_is_not_stale() -> None:
    memory = SessionMemory(covered=60, changes=(Change(at=0, tool="cancel_order", arguments=(("order_id", "ABC-1"),)),))
    assert not any("stale" in line for line in told(READ, memory, [], Recalled((), (1,))))


def test_only_the_latest_writes_are_remembered_each_once_and_without_their_texts() -> None:
    log = [
        pair for at in range(MOST_CHANGES + 20) for pair in enumerate(call("send", "write", {"to": f"user-{at}", "text": "word " * 100}, key=str(at)), 2 * at)
    ]
    first = remembered((), log, 100)
    both = remembered(first, log[90:], len(log) - 2)  # pinned calls are read again with what is new
    assert len(first) == 50
    assert [each.at for each in both] == list(range(len(log) - 2 * MOST_CHANGES - 1, len(log) - 2, 2))
    assert {len(each.arguments) for each in both} == {1}
    memory = SessionMemory(changes=both)
    assert load(dump(memory)) == memory
    assert len(dump(memory)) < 20_000


def test_a_result_without_its_request_is_no_known_change() -> None:
    assert changes_in([(0, CANCEL[1])]) == []


@pytest.mark.parametrize(("before", "mark"), [("en", "(stale: cancel_order changed this later) "), ("zh", "（已过时：之后被 cancel_order 更改）")])
def test_a_summary_says_of_a_result_that_it_was_changed_later(before: Literal["en", "zh"], mark: str) -> None:
    other = call("get_order", "read", {"order_id": "ABC-9"}, key="x")
    found = extract(
        [*READ, *other, *CANCEL, *call("get_order", "read", {"order_id": "ABC-1"}, key="y")], Summary(language=before), facts=(), budget=999, count=count
    )
    assert [each.startswith(f"{mark}get_order(") for each in found.actions] == [True, False, False, False]
