"""Many tools in the whole product: the model sees groups first, opens what it needs for this request, and may say that nothing fits."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, raw_calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import Rooms, card, moment, over, rest, results
from tools.builtin.ask_person import ask_person
from tools.builtin.read_more import read_more
from tools.decorator import tool
from tools.registry import Registry
from tools.routing import RoutingLimits
from tools.tool import Tool

ROOM = "#orders"
PLACES = ["harbour", "garden", "library", "theatre", "museum", "station", "kitchen", "garage", "rooftop", "cellar", "gallery", "office", "studio", "chapel"]


def guide(place: str, used: list[str]) -> Tool:
    """A read about one place; every third belongs to another group."""

    async def function(day: Annotated[str, Field(description="Which day, e.g. Monday", max_length=40)] = "today") -> str:
        used.append(place)
        return f"the {place} is open, {day}"

    function.__name__ = f"{place}_hours"
    function.__doc__ = f"Tell when the {place} of the town is open on a day, and who keeps the key of the {place}."
    return tool(effect="read", group=("public", "indoors", "outdoors")[PLACES.index(place) % 3])(function)


class Town:
    """Fourteen tools in three groups beside the rooms; more than are offered at once."""

    def __init__(self) -> None:
        self.used: list[str] = []
        self.rooms = Rooms()

    def registry(self) -> Registry:
        tools = [guide(place, self.used) for place in PLACES]
        lines = {"public": "Places everybody may enter", "indoors": "Places under a roof", "outdoors": "Places under the sky", "general": "Meeting rooms"}
        return Registry([*tools, *self.rooms.tools(), ask_person, read_more], groups=lines)


def offered(request: Json) -> list[str]:
    return [each["function"]["name"] for each in request.get("tools") or []]


def prompt(request: Json) -> str:
    return content_text(request["messages"][0])


async def answered(stack: Stack, words: str = "is the harbour open?", answer: str = "Done.", thread: str | None = None) -> str:
    ts = await stack.slack.say("alice", ROOM, f"@steward {words}", thread)
    await stack.until(lambda: answer in texts(stack.own(ROOM, thread or ts))[-1:])
    await rest(stack)
    return thread or ts


OPEN = calls(("open_tools", {"groups": ["public"]}))
HARBOUR = calls(("harbour_hours", {"day": "Monday"}))


async def test_the_model_sees_groups_opens_one_and_calls_its_tool(valkey: Valkey, transport: str) -> None:
    town, model = Town(), ScriptedModel([OPEN, HARBOUR, text("Done.")])
    async with over(transport, valkey, model, registry=town.registry()) as stack:
        await answered(stack)

        first, second, third = map(offered, model.requests)
        assert set(first) == {"ask_person", "read_more", "open_tools", "no_fitting_tool"}
        definition = json.dumps(model.requests[0]["tools"], ensure_ascii=False)
        assert all(word in definition for word in ("public", "indoors", "outdoors", "Places under a roof"))
        assert "harbour_hours" not in definition
        assert "open its group with open_tools first" in prompt(model.requests[0])
        assert second[: len(first)] == first  # only added to, so that the endpoint's cache of the prompt stays good
        assert set(second) - set(first) == {f"{place}_hours" for place in PLACES[0::3]}
        assert third == second
        opened = results(model.requests[1])[0]
        assert "harbour_hours" in opened["data"]["now_available"]["public"]
        assert town.used == ["harbour"]
        model.assert_consumed()


async def test_several_groups_may_be_opened_at_once_or_one_after_the_other(valkey: Valkey) -> None:
    town = Town()
    model = ScriptedModel([calls(("open_tools", {"groups": ["public", "indoors"]})), calls(("open_tools", {"groups": ["outdoors"]})), text("Done.")])
    async with running(valkey, model, registry=town.registry()) as stack:
        await answered(stack)

        sizes = [len(offered(request)) for request in model.requests]
        assert sizes == [4, 14, 18]
        model.assert_consumed()


async def test_what_a_request_opened_is_closed_in_the_next(valkey: Valkey) -> None:
    model = ScriptedModel([OPEN, text("Done."), text("Again.")])
    async with running(valkey, model, registry=Town().registry()) as stack:
        ts = await answered(stack)
        await answered(stack, "thanks", "Again.", ts)

        assert [len(offered(request)) for request in model.requests] == [4, 9, 4]


async def test_when_nothing_fits_the_model_says_so_and_answers_in_words(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("no_fitting_tool", {"reason": "Nobody can order a taxi here."})), text("I cannot order a taxi.")])
    async with running(valkey, model, registry=Town().registry()) as stack:
        await answered(stack, "order a taxi", "I cannot order a taxi.")

        [result] = results(model.requests[1])
        assert result["success"]
        assert result["data"] == {"outcome": "no fitting tool", "reason": "Nobody can order a taxi here."}
        assert "say plainly" in result["note"]
        model.assert_consumed()


async def test_a_group_that_does_not_exist_is_told_with_those_that_do(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("open_tools", {"groups": ["taxis"]})), raw_calls(("openTools", "{'groups': ['Public',]}")), text("Done.")])
    async with running(valkey, model, registry=Town().registry()) as stack:
        await answered(stack)

        wrong, mended = results(model.requests[2])
        assert not wrong["success"]
        assert all(group in wrong["error_message"] for group in ("public", "indoors", "outdoors"))
        assert mended["success"]
        assert "harbour_hours" in offered(model.requests[2])
        model.assert_consumed()


async def test_opening_groups_costs_no_tool_call_and_does_not_go_on_for_ever(valkey: Valkey) -> None:
    def stubborn(request: Json) -> Any:
        return OPEN if request.get("tools") else text("Done.")

    model = ScriptedModel(stubborn)
    async with running(valkey, model, registry=Town().registry()) as stack:
        await answered(stack)

        assert model.count <= 13


async def test_a_write_from_an_opened_group_still_gets_its_card(valkey: Valkey) -> None:
    town = Town()
    model = ScriptedModel([calls(("open_tools", {"groups": ["general"]})), calls(("book_room", {"room": "Oak"})), text("Done.")])
    async with running(valkey, model, registry=town.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        waiting = await card(stack, ROOM, ts)
        assert town.rooms.booked == []
        await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))

        assert town.rooms.names == ["Oak"]
        assert "book_room" in offered(model.requests[2])  # open as long as the request lasts, also while a person thinks
        model.assert_consumed()


async def test_a_tool_called_without_opening_its_group_works(valkey: Valkey) -> None:
    """The model may know it from earlier in the thread; refusing it would only cost a round."""
    town, model = Town(), ScriptedModel([HARBOUR, text("Done.")])
    async with running(valkey, model, registry=town.registry()) as stack:
        await answered(stack)

        assert town.used == ["harbour"]


async def test_a_tool_that_rests_is_missing_from_its_opened_group(valkey: Valkey) -> None:
    town = Town()
    model = ScriptedModel([OPEN, *[HARBOUR] * 4, text("Done.")])
    async with running(valkey, model, registry=town.registry()) as stack:
        await answered(stack)

        assert town.used == ["harbour"]
        assert ["harbour_hours" in offered(request) for request in model.requests] == [False, True, True, True, True, False]
        assert "theatre_hours" in offered(model.requests[5])
        assert "brought nothing new: harbour_hours." in moment(model.requests[5])


async def test_with_few_tools_all_are_offered_and_nothing_is_said_about_groups(valkey: Valkey) -> None:
    model = ScriptedModel([text("Done.")] * 2)
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        await answered(stack)
        assert offered(model.requests[0]) == ["ask_person", "book_room", "free_room", "list_rooms"]
        assert "open_tools" not in prompt(model.requests[0])
    async with running(valkey, model, registry=Town().registry(), routing=RoutingLimits(max_tools=17)) as stack:
        await answered(stack)
        assert len(offered(model.requests[1])) == 19
