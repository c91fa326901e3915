"""What recall found becomes lines: as their authors left them, and only what is not in the context anyway."""

from __future__ import annotations

import pytest

from bot.context_of import facts_of
from memory.compaction import MOST_CORRECTED, applied, corrected, plan
from memory.facts import updated
from memory.keys import Actor
from memory.recall import Recalled
from memory.retelling import edits_of, older_of, ranges_of, teller, wanted
from memory.session_memory import Fact, SessionMemory, Summary
from memory.thread_index import Hit
from memory.transcript import AssistantMessage, Correction, Item, Request, ToolMessage, UserMessage

ANA = Actor(team_id="T1", user_id="U0ANA")


def said(number: int, text: str = "", *, name: str = "Ana", **more: object) -> UserMessage:
    actor = Actor(team_id="T1", user_id=f"U0{name.upper()}")
    return UserMessage(actor=actor, name=name, ts=f"{1_700_000_000 + number}.000100", text=text or f"word{number}", **more)  # type: ignore[arg-type]


def words(text: str) -> int:
    return len(text.split())


def hits(*positions: int) -> Recalled:
    return Recalled(tuple(Hit(each, 1.0, ("words",)) for each in positions))


def test_what_a_message_asks_is_read_with_the_turns_of_the_same_person_before_it() -> None:
    items = [said(1), said(2, name="Bo"), said(3), said(4), said(5), said(6)]
    asked = wanted(items, items[4].ts)
    assert asked is not None
    assert (asked.text, asked.recent, asked.speakers) == ("word5", ("word1", "word3", "word4"), ("Ana", "Bo"))
    assert wanted(items, "1.1") is None


def test_what_a_message_asks_is_read_as_its_author_left_it() -> None:
    items = [said(1, "secret"), said(2, "the old word"), said(3, "what about Berlin?")]
    edits = [Correction(ts=said(1).ts, text=None), Correction(ts=said(2).ts, text="the new word"), Correction(ts=said(3).ts, text="what about Paris?")]
    asked = wanted([*items, *edits], items[2].ts)
    assert asked is not None
    assert (asked.text, asked.recent) == ("what about Paris?", ("the new word",))
    assert wanted([*items, Correction(ts=items[2].ts, text=None)], items[2].ts) is None


def test_hits_are_read_with_their_neighbours_and_results_with_what_stands_before_them() -> None:
    assert ranges_of(Recalled((Hit(0, 1.0, ()), Hit(90, 1.0, ())), (60,))) == [(0, 2), (36, 61), (89, 92)]


def test_what_stands_in_the_context_is_not_told_again() -> None:
    read: dict[int, Item] = {at: said(at) for at in range(5)}
    assert sorted(older_of(read, SessionMemory(covered=3, pins=(1,)), ())) == [0, 2]


def test_edits_and_deletions_hold_whether_or_not_they_are_summarised_themselves() -> None:
    read: dict[int, Item] = {at: said(at) for at in range(4)}
    memory = SessionMemory(covered=10, corrected={read[0].ts: None, read[1].ts: 7})  # type: ignore[union-attr]
    assert edits_of(read.values(), memory) == [(7, 8)]
    edits = [Correction(ts=said(1).ts, text="edited"), Correction(ts=said(2).ts, text=None), Correction(ts=said(3).ts, text="late")]
    told = teller(hits(0, 1, 2, 3), older_of(read, memory, edits), timezone="UTC", count=words)
    assert told is not None
    assert told(1_000) == ["[2023-11-14]", "> Ana: edited", "> Ana: late"]


def test_a_later_edit_of_what_was_edited_before_is_the_one_that_holds() -> None:
    memory = SessionMemory(covered=10, corrected={said(1).ts: 7})
    older = older_of({1: said(1)}, memory, [Correction(ts=said(1).ts, text="first"), Correction(ts=said(1).ts, text="second")])
    assert [item.text for item in older.values() if isinstance(item, UserMessage)] == ["second"]


def test_nothing_found_is_nothing_to_tell() -> None:
    assert teller(Recalled(), {}, timezone="UTC", count=words) is None


def test_a_call_is_told_whole_and_takes_its_room_first() -> None:
    call = Request(id="c1", name="get_order", arguments='{"order_id": "A-1"}')
    read: dict[int, Item] = {
        0: said(0, "what about it"),
        1: AssistantMessage(run_id="r", calls=(call,)),
        2: ToolMessage(call_id="c1", name="get_order", content='{"success": true, "data": {"status": "shipped"}}'),
    }
    told = teller(Recalled((Hit(0, 1.0, ()),), (2,)), older_of(read, SessionMemory(covered=9), ()), timezone="UTC", count=words)
    assert told is not None
    line = told(100)[-1]
    assert line.startswith("> tool: get_order(")
    assert "A-1" in line
    assert "shipped" in line
    assert told(words(line) + 1) == [line]
    assert told(1) == []


LONG = "The supplier delivers on time. " * 600 + "Clause 7 says that the penalty is 4 % a week. " + "The buyer pays on time. " * 600


@pytest.mark.parametrize("room", [80, 200, 900, 3_000])
@pytest.mark.parametrize("more", [{"text": LONG}, {"text": "see", "quoted": LONG}], ids=["said", "quoted"])
def test_a_message_longer_than_the_room_is_told_by_the_passage_that_was_asked_for(room: int, more: dict[str, str]) -> None:
    found = Recalled((Hit(0, 9.9, ("words",)), Hit(1, 1.0, ("words",))), words=frozenset(("penalti", "deliv")))
    told = teller(found, {0: said(0, **more), 1: said(1, "hello")}, timezone="UTC", count=words)
    assert told is not None
    lines = told(room)
    assert sum(map(words, lines)) <= room
    assert "the penalty is 4 %" in lines[1]
    assert lines[1].count("characters left out)") == 2
    assert "hello" in lines[-1]


def test_a_long_answer_found_by_its_meaning_alone_is_told_by_its_beginning_and_its_end() -> None:
    answer = AssistantMessage(run_id="r", text=f"It began in Lima. {LONG} It ended in Oslo.", at=1_700_000_000.0)
    told = teller(hits(0), {0: answer}, timezone="UTC", count=words)
    assert told is not None
    (_, line) = told(400)
    assert line.startswith("> assistant: It began in Lima.")
    assert line.endswith("It ended in Oslo.")
    assert "characters left out" in line


def test_what_is_remembered_of_corrections_is_where_the_latest_stands_or_that_the_message_is_gone() -> None:
    log: list[tuple[int, Item]] = [
        (4, Correction(ts="1", text="a")),
        (5, Correction(ts="2", text="b")),
        (6, Correction(ts="2", text=None)),
        (7, Correction(ts="1", text="c")),
        (9, Correction(ts="3", text="later")),
    ]
    assert corrected(SessionMemory(corrected={"0": 1}), log, 9) == {"0": 1, "2": None, "1": 7}


def test_when_too_many_are_remembered_edits_are_forgotten_before_deletions() -> None:
    log: list[tuple[int, Item]] = [(at, Correction(ts=str(at), text=None if at == 0 else "x")) for at in range(MOST_CORRECTED + 2)]
    kept = corrected(SessionMemory(), log, len(log))
    assert len(kept) == MOST_CORRECTED
    assert list(kept)[:2] == ["0", "3"]


def test_a_message_that_is_carried_whole_keeps_its_correction() -> None:
    asked = said(0, "order one")
    log: list[tuple[int, Item]] = [(0, asked), (1, Correction(ts=asked.ts, text="order two")), *((2 + n, said(2 + n, addressed=False)) for n in range(8))]
    made = plan(log, SessionMemory(), keep_tokens=5, keep_rounds=5, count_item=lambda _: 1, open_calls=())
    assert made is not None
    assert made.pins == (0, 1)
    memory = applied(SessionMemory(), made, Summary(), (), now=1.0, by="extract", tokens_before=0, tokens_after=0)
    still = [(at, item) for at, item in log if at in memory.pins or at >= memory.covered]
    assert plan(still, memory, keep_tokens=5, keep_rounds=5, count_item=lambda _: 1, open_calls=()) is None


@pytest.mark.parametrize(("text", "value"), [(None, None), ("the deadline is Monday", "Monday"), ("never mind", None)], ids=["deleted", "edited", "emptied"])
def test_a_fact_goes_with_the_message_that_is_only_remembered(text: str | None, value: str | None) -> None:
    message = said(1, "the deadline is Friday")
    facts: tuple[Fact, ...] = updated((), message)
    assert [fact.value for fact in facts] == ["Friday"]
    after = facts_of(SessionMemory(covered=1, facts=facts), [said(2), Correction(ts=message.ts, text=text)])
    assert [fact.value for fact in after] == ([value] if value else [])
