"""The tool engine in the whole product: what a model that repeats itself, guesses or stumbles is told, and what a person never has to repeat."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import aiohttp
from pydantic import Field

from bot.deps import PersonCap
from memory.toolstate import Circuits
from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, raw_calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import Rooms, card, cards, heard, moment, over, rest, results
from tools.decorator import tool
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion
from tools.tool import Tool, ToolFailed

ROOM = "#orders"
NORTH, SOUTH = calls(("count_tickets", {"desk": "north"})), calls(("count_tickets", {"desk": "south"}))


class Desks:
    """A service desk: one read, one write, and how often each was really carried out."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.open = {"north": 1, "south": 2, "北": 3}
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.fault: Exception | None = None
        self.meet: asyncio.Barrier | None = None
        self.gate: asyncio.Event | None = None
        self.inside, self.stopped = asyncio.Event(), asyncio.Event()

    def tools(self) -> list[Tool]:
        async def count_tickets(desk: Annotated[str, Field(description="Which desk, e.g. north", min_length=1, max_length=40)]) -> dict[str, Any]:
            """Count the open tickets of one desk, as they stand now. Not for opening one."""
            self.reads.append(desk)
            if self.meet is not None:
                await self.meet.wait()
            if self.gate is not None:
                self.inside.set()
                try:
                    await self.gate.wait()
                except asyncio.CancelledError:
                    self.stopped.set()
                    raise
            if self.fault is not None:
                raise self.fault
            if desk not in self.open:
                raise ToolFailed(f"There is no desk {desk!r}.", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.FIX_ARGUMENTS)
            return {"desk": desk, "open": self.open[desk]}

        async def open_ticket(
            desk: Annotated[str, Field(description="Which desk is to get it, e.g. north", min_length=1, max_length=40)],
            days: Annotated[int, Field(description="Days until it is due", ge=1, le=30)] = 3,
        ) -> dict[str, Any]:
            """Open one more ticket at a desk, for the person who asks. Not for counting them."""
            self.writes.append(f"{desk} {days}")
            self.open[desk] = self.open.get(desk, 0) + 1
            return {"open": self.open[desk]}

        reader = tool(**{"effect": "read", "group": "desk", "retries": 0, **self.options})(count_tickets)
        return [reader, tool(effect="write", group="desk", invalidates=("desk",))(open_ticket)]

    def registry(self, *more: Tool) -> Registry:
        return Registry([*self.tools(), *more])


async def answered(stack: Stack, words: str = "how many?", user: str = "alice", answer: str = "Done.", channel: str = ROOM) -> str:
    """Somebody asks at the top of a channel and gets an answer: the thread's `ts`."""
    ts = await stack.slack.say(user, channel, f"@steward {words}")
    await stack.until(lambda: answer in texts(stack.own(channel, ts)))
    await rest(stack)
    return ts


def offered(request: Json) -> set[str]:
    return {each["function"]["name"] for each in request.get("tools") or []}


def prompt(request: Json) -> str:
    return content_text(request["messages"][0])


def counted(stack: Stack, name: str, **labels: str) -> float:
    return sum(bot.engine.metrics.registry.get_sample_value(name, labels) or 0.0 for bot in stack.bots)


# --- going round in circles -----------------------------------------------------------------------------------------------


async def test_an_identical_read_is_answered_from_the_run(valkey: Valkey, transport: str) -> None:
    desks, model = Desks(), ScriptedModel([NORTH, NORTH, text("Done.")])
    async with over(transport, valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        first, second = results(model.requests[2])
        assert desks.reads == ["north"]
        assert first["data"] == second["data"] == {"desk": "north", "open": 1}
        assert second["note"] == "Answered from the same call earlier in this request."
        assert second["from_outside"] == first["from_outside"]
        assert counted(stack, "steward_tool_calls_total", tool="count_tickets", outcome="OK") == 2
        model.assert_consumed()


async def test_a_read_in_another_request_runs_again(valkey: Valkey) -> None:
    desks, model = Desks(), ScriptedModel([NORTH, text("Done."), NORTH, text("Done again.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await answered(stack)
        await stack.slack.say("alice", ROOM, "and now?", ts)
        await stack.until(lambda: "Done again." in texts(stack.own(ROOM, ts)))

        assert desks.reads == ["north", "north"]


async def test_a_read_whose_answer_depends_on_the_moment_runs_each_time(valkey: Valkey) -> None:
    desks, model = Desks(time_sensitive=True), ScriptedModel([NORTH, NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        assert desks.reads == ["north", "north"]


async def test_a_read_asked_for_along_with_a_write_runs_again_afterwards(valkey: Valkey) -> None:
    """It ran while the person was still reading the card, so that what it saw is old when the write is done."""
    both = calls(("open_ticket", {"desk": "north"}), ("count_tickets", {"desk": "north"}))
    desks, model = Desks(), ScriptedModel([both, NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward one more, and count")
        waiting = await card(stack, ROOM, ts)
        assert desks.reads == ["north"]
        await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
        await rest(stack)

        assert desks.reads == ["north", "north"]
        assert [each["data"].get("open") for each in results(model.requests[2])] == [2, 1, 2]
        model.assert_consumed()


async def test_the_same_failing_call_is_not_run_a_third_time(valkey: Valkey) -> None:
    west = calls(("count_tickets", {"desk": "west"}))
    desks, model = Desks(), ScriptedModel([west, west, west, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        assert desks.reads == ["west", "west"]
        codes = [each["error_code"] for each in results(model.requests[3])]
        assert codes == ["NOT_FOUND", "NOT_FOUND", "COOLING_DOWN"]
        assert "Change the approach" in results(model.requests[3])[2]["error_message"]
        model.assert_consumed()


async def test_a_tool_that_brings_nothing_new_is_not_offered_for_some_rounds_and_the_prompt_says_so(valkey: Valkey) -> None:
    @tool(effect="read", group="desk")
    async def name_desk(number: Annotated[int, Field(description="Which desk, counted from 1", ge=1)]) -> str:
        """Tell what a desk is called, by its number in the plan of the building."""
        return f"desk {number}"

    tries = [calls(("count_tickets", {"desk": f"west{n}"})) for n in range(4)]
    others = [calls(("name_desk", {"number": n})) for n in (1, 2)]
    desks, model = Desks(), ScriptedModel([*tries, *others, NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry(name_desk)) as stack:
        await answered(stack)

        assert desks.reads == ["west0", "west1", "west2", "north"]
        on_offer = ["count_tickets" in offered(request) for request in model.requests]
        assert on_offer == [True, True, True, False, False, False, True, True]
        said = ["Not available for some rounds" in moment(request) for request in model.requests]
        assert said == [not each for each in on_offer]
        assert "brought nothing new: count_tickets." in moment(model.requests[3])
        refused = results(model.requests[4])[3]
        assert (refused["error_code"], refused["suggestion"]) == ("COOLING_DOWN", "use_other_tool")
        model.assert_consumed()


async def test_what_a_model_invents_has_no_place_in_the_prompt(valkey: Valkey) -> None:
    name = "obey_whoever_writes_next"
    desks, model = Desks(), ScriptedModel([*(calls((name, {"n": n})) for n in range(4)), text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        assert {each["error_code"] for each in results(model.requests[4])} == {"UNKNOWN_TOOL"}
        assert all(name not in prompt(request) + moment(request) for request in model.requests)
        assert counted(stack, "steward_tool_calls_total", tool="unknown", outcome="UNKNOWN_TOOL") == 4
        assert name not in stack.bots[0].engine.metrics.render().decode()


async def test_a_model_that_only_repeats_itself_is_ended_with_an_honest_answer(valkey: Valkey) -> None:
    def stubborn(request: Json) -> Any:
        return NORTH if request.get("tools") else text("Done.")

    desks, model = Desks(), ScriptedModel(stubborn)
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        assert desks.reads == ["north"]
        assert model.count <= 13


async def test_stop_ends_a_tool_under_way_and_lets_others_have_its_place_and_token(valkey: Valkey) -> None:
    desks, model = Desks(**KEPT, concurrency=1, scope="workspace"), ScriptedModel([NORTH, NORTH, text("Done.")])
    desks.gate = asyncio.Event()
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward how many?")
        await desks.inside.wait()
        await stack.slack.say("alice", ROOM, "stop", ts)
        await asyncio.wait_for(desks.stopped.wait(), 10)
        await rest(stack)
        assert valkey.command("KEYS", "*:lock:*") == []

        desks.gate = None
        await answered(stack, user="bruno")
        assert desks.reads == ["north", "north"]
        assert counted(stack, "steward_tool_calls_total", tool="count_tickets", outcome="CANCELLED") == 1


# --- several at once ------------------------------------------------------------------------------------------------------


async def test_identical_reads_of_one_answer_run_once_and_different_ones_side_by_side(valkey: Valkey) -> None:
    wanted = calls(*(("count_tickets", {"desk": desk}) for desk in ("north", "south", "north")), ids=["a", "b", "c"])
    desks, model = Desks(), ScriptedModel([wanted, text("Done.")])
    desks.meet = asyncio.Barrier(2)  # one after the other they would never get past it
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)

        assert sorted(desks.reads) == ["north", "south"]
        assert [each["data"]["open"] for each in results(model.requests[1])] == [1, 2, 1]
        model.assert_consumed()


async def test_what_one_person_may_use_is_bounded_over_all_their_requests_and_others_are_not_touched(valkey: Valkey) -> None:
    desks = Desks()
    model = ScriptedModel([NORTH, SOUTH, text("Done."), SOUTH, text("Done."), SOUTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry(), person_cap=PersonCap(calls=2)) as stack:
        await answered(stack)
        await answered(stack)
        [refused] = results(model.requests[4])
        assert (refused["error_code"], refused["suggestion"]) == ("RATE_LIMITED", "give_up")
        assert "2 tool calls" in refused["error_message"]
        assert desks.reads == ["north", "south"]

        await answered(stack, user="bruno")
        assert desks.reads == ["north", "south", "south"]
        assert counted(stack, "steward_tool_calls_total", tool="count_tickets", outcome="RATE_LIMITED") == 1
        model.assert_consumed()


# --- mending --------------------------------------------------------------------------------------------------------------


async def test_a_wrong_call_is_corrected_by_the_model_and_the_person_says_it_once(valkey: Valkey, transport: str) -> None:
    wrong = calls(("open_ticket", {"dsk": "north", "days": 99}))
    desks, model = Desks(), ScriptedModel([wrong, calls(("open_ticket", {"desk": "north", "days": 9})), text("Done.")])
    async with over(transport, valkey, model, registry=desks.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward one more for north, due in nine days")
        waiting = await card(stack, ROOM, ts)
        [refused] = results(model.requests[1])
        assert (refused["error_code"], refused["suggestion"]) == ("INVALID_ARGUMENTS", "fix_arguments")
        assert all(part in refused["error_message"] for part in ("desk", "dsk", "days", "30"))
        assert len(stack.own(ROOM, ts)) == 1  # the card, and no word about the mistake
        await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))

        assert desks.writes == ["north 9"]
        assert len(heard(model.requests[-1])) == 1
        model.assert_consumed()


async def test_a_mended_write_says_so_on_its_card_and_a_proper_one_does_not(valkey: Valkey) -> None:
    mended = raw_calls(("open_ticket", "```json\n{'desk': 'north', 'days': 9,}\n```"))
    desks, model = Desks(), ScriptedModel([mended, text("Done."), calls(("open_ticket", {"desk": "south"})), text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        for note in (True, False):
            ts = await stack.slack.say("alice", ROOM, "@steward one more")
            waiting = await card(stack, ROOM, ts)
            assert ("malformed and have been mended" in shown(waiting)) == note
            await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
            await stack.until(lambda ts=ts: "Done." in texts(stack.own(ROOM, ts)))  # type: ignore[misc]

        assert desks.writes == ["north 9", "south 3"]


async def test_a_mended_write_says_so_in_chinese_too(valkey: Valkey) -> None:
    desks, model = Desks(), ScriptedModel([raw_calls(("open_ticket", "{desk: '北'}"))])
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward 再开一张工单")

        assert "模型给出的内容格式有误，已作修复" in shown(await card(stack, ROOM, ts))


async def test_a_marker_for_another_calls_result_is_refused_before_anybody_is_asked(valkey: Valkey) -> None:
    both = calls(("count_tickets", {"desk": "north"}), ("open_ticket", {"desk": "<desk from previous call>"}))
    desks, model = Desks(), ScriptedModel([both, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await answered(stack)

        read, refused = results(model.requests[1])
        assert read["success"]
        assert refused["error_code"] == "INVALID_ARGUMENTS"
        assert "make the other call first" in refused["error_message"]
        assert cards(stack, ROOM, ts) == []
        assert desks.writes == []


# --- what is kept between requests ----------------------------------------------------------------------------------------

KEPT: dict[str, Any] = {"cache_ttl": 60, "tags": ("desk",)}


async def test_a_kept_read_serves_the_same_person_in_another_thread_and_nobody_else(valkey: Valkey) -> None:
    desks = Desks(**KEPT)
    model = ScriptedModel([NORTH, text("Done.")] * 3)
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)
        await answered(stack)
        assert desks.reads == ["north"]
        [kept] = results(model.requests[3])
        assert kept["data"] == {"desk": "north", "open": 1}
        assert kept["read"].endswith("seconds ago")
        assert kept["from_outside"]

        await answered(stack, user="bruno")
        assert desks.reads == ["north", "north"]
        assert "read" not in results(model.requests[5])[0]
        assert counted(stack, "steward_tool_cache_total", tool="count_tickets", event="hit") == 1
        assert counted(stack, "steward_tool_cache_total", tool="count_tickets", event="miss") == 2


async def test_an_approved_write_makes_kept_reads_void_for_everybody(valkey: Valkey) -> None:
    desks = Desks(**KEPT, scope="workspace")
    model = ScriptedModel([NORTH, text("Done."), calls(("open_ticket", {"desk": "north"})), text("Done."), NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)
        ts = await stack.slack.say("bruno", ROOM, "@steward one more")
        waiting = await card(stack, ROOM, ts)
        await stack.slack.click("bruno", ROOM, waiting["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
        await answered(stack)

        assert desks.reads == ["north", "north"]
        assert results(model.requests[5])[0]["data"]["open"] == 2
        model.assert_consumed()


async def test_with_the_source_down_an_old_value_stands_in_and_the_model_is_told_how_old_it_is(valkey: Valkey) -> None:
    desks = Desks(**KEPT, stale_ttl=3600)
    model = ScriptedModel([NORTH, text("Done."), NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)
        aged(valkey, 600)
        desks.fault = ToolFailed("The desk does not answer.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)
        await answered(stack)

        [old] = results(model.requests[3])
        assert old["data"] == {"desk": "north", "open": 1}
        assert old["stale"].startswith("The source does not answer; this was read 10 minutes ago.")
        assert "If it is marked stale, say how old it is" in prompt(model.requests[3])


async def test_an_old_value_that_stood_in_is_asked_for_again_when_the_model_wants_to(valkey: Valkey) -> None:
    """It is no answer from this run: the source may be back by now."""
    desks = Desks(**KEPT, stale_ttl=3600)

    def back(_: Json) -> Any:
        desks.fault = None
        return NORTH

    model = ScriptedModel([NORTH, text("Done."), NORTH, back, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        await answered(stack)
        aged(valkey, 600)
        desks.fault = ToolFailed("The desk does not answer.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)
        desks.open["north"] = 9
        await answered(stack)

        old, new = results(model.requests[4])
        assert ("stale" in old, old["data"]["open"]) == (True, 1)
        assert ("stale" in new, new["data"]["open"]) == (False, 9)


async def test_a_tool_that_keeps_failing_is_given_a_rest_that_every_request_sees(valkey: Valkey) -> None:
    desks, model = Desks(), ScriptedModel([NORTH, text("Done."), SOUTH, text("Done."), NORTH, text("Done.")])
    desks.fault = ToolFailed("The desk does not answer.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)
    async with running(valkey, model, registry=desks.registry(), circuits=Circuits(threshold=2, cooling=900.0, longest=900.0)) as stack:
        for user in ("alice", "bruno", "mei"):
            await answered(stack, user=user)

        codes = [results(model.requests[n])[0]["error_code"] for n in (1, 3, 5)]
        assert codes == ["UPSTREAM_ERROR", "UPSTREAM_ERROR", "CIRCUIT_OPEN"]
        assert desks.reads == ["north", "south"]


async def test_with_the_shared_state_gone_tools_still_work(valkey: Valkey) -> None:
    """Only what the engine shares is refused; sessions live on."""
    desks, model = Desks(**KEPT), ScriptedModel([NORTH, text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        valkey.command(
            "ACL", "SETUSER", "default", "resetkeys", "~steward:*{s*", "~steward:*due*", "~steward:*leases*", "~steward:*{reminders*", "~steward:*{grants*"
        )
        try:
            await answered(stack)
        finally:
            valkey.command("ACL", "SETUSER", "default", "allkeys")

        assert results(model.requests[1])[0]["data"]["open"] == 1
        assert counted(stack, "steward_tool_state_down_total") >= 1


# --- told to the operator -------------------------------------------------------------------------------------------------


async def test_every_step_is_a_line_in_the_log_and_a_count_for_prometheus(valkey: Valkey, capsys: Any) -> None:
    desks = Desks(**KEPT, retries=1)
    model = ScriptedModel([calls(("count_tickets", {"desk": ""})), NORTH, NORTH, calls(("open_ticket", {"desk": "hunter2"})), text("Done.")])
    async with running(valkey, model, registry=desks.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward count, then one more")
        waiting = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
        await rest(stack)
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{stack.bots[0].port}/metrics") as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=")
            rendered = await response.text()

    lines = [line for line in capsys.readouterr().out.splitlines() if " tool." in line]
    assert [line.split(" tool.")[1].split()[0] for line in lines] == ["invalid", "start", "done", "cached", "approved", "start", "done"]
    assert all(all(f"{name}=" in line for name in ("run", "call", "tool")) for line in lines)
    assert all("duration=" in line and "attempts=" in line for line in lines if any(end in line for end in ("tool.done", "tool.invalid")))
    assert "hunter2" not in "".join(lines)
    for outcome, name, number in (("INVALID_ARGUMENTS", "count_tickets", 1), ("OK", "count_tickets", 2), ("OK", "open_ticket", 1)):
        assert f'steward_tool_calls_total{{outcome="{outcome}",tool="{name}"}} {number}.0' in rendered


def aged(valkey: Valkey, seconds: float) -> None:
    """Make everything in the tools' cache that much older."""
    names = valkey.command("KEYS", "*{tools}:value:*")
    assert isinstance(names, list)
    for name in names:
        valkey.command("HINCRBY", name.decode(), "at", -int(seconds * 1000))


async def test_rooms_and_desks_in_one_answer_keep_to_the_order_asked_after_approval(valkey: Valkey) -> None:
    """Writes run in the order in which people approve them, each once; reads do not wait for them."""
    rooms, desks = Rooms(), Desks()
    wanted = calls(("book_room", {"room": "Oak"}), ("open_ticket", {"desk": "north"}), ("count_tickets", {"desk": "south"}))
    model = ScriptedModel([wanted, text("Done.")])
    async with running(valkey, model, registry=rooms.registry(*desks.tools())) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward all of it")
        await card(stack, ROOM, ts, count=2)
        assert desks.reads == ["south"]
        first, second = (each["ts"] for each in cards(stack, ROOM, ts))
        assert "Oak" in shown(stack.slack.message(ROOM, first) or {})
        for each in (first, second):
            await stack.slack.click("alice", ROOM, each, "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
        await rest(stack)

        assert (rooms.names, desks.writes) == (["Oak"], ["north 3"])
        assert [json.dumps(each["data"]) for each in results(model.requests[1])] == ['{"booked": "Oak"}', '{"open": 2}', '{"desk": "south", "open": 2}']
        assert all(buttons(stack.slack.message(ROOM, each) or {}) == {} for each in (first, second))
