"""What was done in a thread becomes memories by code: one episode for a request that used tools, and the state of the things they told about."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from bot.run_records import records_of
from bot.session_ops import run_id_of
from memory.keys import Actor, Thread
from memory.longterm.access import person
from memory.longterm.memory import Kind, Memory
from memory.redaction import GONE
from memory.transcript import AssistantMessage, Item, Request, ToolMessage, UserMessage
from tools.decorator import tool
from tools.registry import Registry

ANA, BEN = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


@tool(effect="read")
async def find_parcel(number: Annotated[str, Field(description="Number of the parcel, e.g. P-1")]) -> dict[str, str]:
    """Find a parcel by its number."""
    return {"parcel": number}


TOOLS = Registry([find_parcel])
ORDERS = Registry.load("tools.builtin.orders")


def told(
    *names: str, text: str = "Where is it?", actor: Actor = ANA, ts: str = "1.000001", result: Any = None, arguments: dict[str, Any] | None = None, **more: Any
) -> list[Item]:
    """One request, the calls it led to, their results, the answer."""
    run = run_id_of(THREAD, actor, ts)
    requests = tuple(Request(id=f"{ts}/{n}", name=name, arguments=json.dumps(arguments or {"number": "P-1"})) for n, name in enumerate(names))
    made: list[Item] = [UserMessage(actor=actor, name="Ana", ts=ts, text=text, **more), AssistantMessage(run_id=run, calls=requests, at=10.0)]
    done = result if result is not None else {"success": True, "data": {"parcel": "secret words of a result"}}
    made += [ToolMessage(call_id=each.id, name=each.name, content=json.dumps(done), at=11.0) for each in requests]
    return [*made, AssistantMessage(run_id=run, text="There.", at=12.0)]


def made(log: list[Item], fresh: list[Item] | None = None, registry: Registry = TOOLS) -> dict[Actor, list[Memory]]:
    return {actor: memories for actor, memories in records_of(fresh if fresh is not None else log, log, THREAD, registry).items() if memories}


def test_a_request_that_used_a_tool_is_one_episode_of_the_person_who_asked() -> None:
    [episode] = made(told("find_parcel", "find_parcel"))[ANA]
    assert (episode.kind, episode.owner, episode.source.ts, episode.source.via) == (Kind.EPISODE, person(ANA), "1.000001", "run")
    assert "Where is it?" in episode.text
    assert "secret words" not in episode.text
    assert episode.created == 12.0
    assert made(told("find_parcel", "find_parcel")) == made(told("find_parcel", "find_parcel")), "read again it is the same"


def test_talk_without_a_tool_and_a_tool_nobody_knows_make_none() -> None:
    assert made(told()) == {}
    assert made(told("no_such_tool")) == {}


def test_how_it_ended_is_told() -> None:
    denied = {"success": False, "error_code": "DENIED_BY_PERSON"}
    texts = {
        name: made(told("find_parcel", result=result))[ANA][0].text
        for name, result in {"done": {"success": True}, "failed": {"success": False}, "denied": denied}.items()
    }
    assert len(set(texts.values())) == 3


def test_only_requests_whose_answer_is_new_are_told_and_what_led_to_it_may_be_older() -> None:
    first, second = told("find_parcel"), told("find_parcel", actor=BEN, ts="2.000001")
    log = [*first, *second]
    assert set(made(log, second)) == {BEN}
    assert set(made(log, [second[-1]])) == {BEN}
    assert made(log, second[:-1]) == {}, "not answered yet"


def test_neither_bots_nor_what_was_not_meant_for_us_nor_what_was_forgotten_is_told() -> None:
    assert made(told("find_parcel", bot=True)) == {}
    assert made(told("find_parcel", addressed=False)) == {}
    assert made(told("find_parcel", text=GONE)) == {}


def test_what_is_done_to_memory_itself_does_not_get_into_it() -> None:
    assert made(told("forget", text="forget that I am allergic"), registry=Registry.load("tools.memories")) == {}


def test_results_of_any_form_do_no_harm() -> None:
    contents: tuple[Any, ...] = (None, [], "x", 1, {"success": True, "data": None}, {"success": True, "data": [[[]]]})
    for content in contents:
        found = records_of(log := told("find_parcel", result=content if content is not None else "null"), log, THREAD, TOOLS)
        assert all(each.kind is Kind.EPISODE for memories in found.values() for each in memories)
