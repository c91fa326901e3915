"""The two caches above the tools, end to end: what they may answer again, for whom, and everything after which they must not."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
import structlog
from pydantic import Field

from bot.answer_cache import AnswerCache, ModelCache
from bot.model import Model, ModelError
from bot.state import Call, Run, Status, Usage
from memory.connect import connect
from memory.keys import Actor, Thread
from memory.toolstate import ToolState, ToolStateDown
from memory.transcript import UserMessage
from tests.contracts.tool_kit import SLOW, counted, engine, found, opened, quiet
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.scripted_replies import refusal
from tests.fakes.stack import Stack, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import card, over, rest
from tools import Tool, ToolResult, tool
from tools.loop import REMEMBERED, Past
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion
from tools.routing import Offer, offer

Desk = Annotated[str, Field(description="Which desk, e.g. north")]
NOON = 1_700_049_600.0
"""12:00 UTC on 2023-11-15, 20:00 in Shanghai."""
HOUR = 3600.0


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
def valkey(server: Valkey) -> Valkey:
    server.command("FLUSHALL")
    return server


@pytest.fixture(autouse=True)
def plain_log() -> Iterator[None]:
    quiet()
    yield
    structlog.reset_defaults()


@pytest.fixture
async def state(valkey: Valkey) -> AsyncIterator[ToolState]:
    async with opened(valkey) as state:
        yield state


class House:
    """A few tools: a cached read, one that may be stale, one of the moment, one that is not cached, and a write."""

    def __init__(self) -> None:
        self.open = 1

        async def count_tickets(desk: Desk = "north") -> int:
            """Count the open tickets of one desk, as they stand now."""
            return self.open

        async def list_rooms() -> list[str]:
            """List the meeting rooms of the building, which seldom change."""
            return ["oak"]

        async def tell_hour() -> str:
            """Tell the hour of the day as the clock in the hall shows it."""
            return "noon"

        async def read_door() -> str:
            """Read from the door lock who went in last, live and uncached."""
            return "nobody"

        async def open_ticket(desk: Desk = "north") -> int:
            """Open one more ticket at a desk, in the name of whoever asks."""
            self.open += 1
            return self.open

        self.registry = Registry(
            [
                tool(effect="read", group="tickets", tags=("desks",), cache_ttl=60)(count_tickets),
                tool(effect="read", group="rooms", cache_ttl=60, stale_ttl=600)(list_rooms),
                tool(effect="read", group="clock", time_sensitive=True, trusted=True)(tell_hour),
                tool(effect="read", group="door")(read_door),
                tool(effect="write", group="changes", invalidates=("desks",))(open_ticket),
            ]
        )

    def tool(self, name: str) -> Tool:
        found = self.registry.get(name)
        assert found is not None
        return found

    @property
    def offer(self) -> Offer:
        return offer(self.registry, allowed=lambda _: True)


# --- one cache, by hand ---------------------------------------------------------------------------------------------------

ROOM = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")
ASKED = "How many are open?"


class Inquiry:
    """An answer cache with a house around it, and questions put to it."""

    def __init__(self, state: ToolState) -> None:
        self.house, self.engine = House(), engine(state)
        self.cache = AnswerCache(state, self.engine, self.house.registry, ttl=100_000)
        self._runs = 0

    def run(self, **fields: Any) -> Run:
        self._runs += 1
        values: dict[str, Any] = {"requested_by": Actor(team_id="T1", user_id="U1"), "started_at": NOON, "active_since": NOON, "timezone": "Asia/Shanghai"}
        return Run(**{"id": f"run{self._runs}", **values, **fields})

    async def look(self, run: Run, thread: Thread = ROOM, asked: str = ASKED, **fields: Any) -> str | None:
        return await self.cache.look(run, thread, [UserMessage(actor=run.requested_by, name="Ana", ts="1.000001", text=asked, **fields)], self.house.offer)

    async def answered(self, run: Run | None = None, answer: str = "One.", thread: Thread = ROOM) -> None:
        """The question is asked, found to be new, and answered."""
        run = run or self.run()
        assert await self.look(run, thread) is None
        await self.cache.keep(run, answer)


def called(name: str, result: ToolResult | None = None) -> Call:
    return Call(id="c1", tool=name, arguments={}, status=Status.DONE, result=result or ToolResult.ok(name, 1))


def past(name: str, *, ok: bool = True) -> Past:
    return Past(tool=name, key="k", round=0, ok=ok, mark="m", call_id="c0")


async def test_the_same_question_of_the_same_person_is_answered_again(state: ToolState) -> None:
    desk = Inquiry(state)
    await desk.answered(desk.run(calls=(called("count_tickets"),), history=(past("count_tickets"),)))

    assert await desk.look(desk.run()) == "One."
    assert await desk.look(desk.run(started_at=NOON + 2 * HOUR), asked="  how many  are OPEN？") == "One."
    assert counted(desk.engine, "steward_answer_cache_total", level="answer", event="hit") == 2


OTHERS: dict[str, tuple[dict[str, Any], Thread]] = {
    "another person": ({"requested_by": Actor(team_id="T1", user_id="U2")}, ROOM),
    "the same id in another company": ({"requested_by": Actor(team_id="T2", user_id="U1")}, ROOM),
    "another channel": ({}, Thread(team_id="T1", channel_id="C2", thread_ts="1.000001")),
    "another workspace": ({}, Thread(team_id="T2", channel_id="C1", thread_ts="1.000001")),
    "another language": ({"locale": "zh"}, ROOM),
    "another time zone": ({"timezone": "UTC"}, ROOM),
    "the next day": ({"started_at": NOON + 24 * HOUR}, ROOM),
    "after the person's own midnight": ({"started_at": NOON + 5 * HOUR}, ROOM),
    "later in a run": ({"usage": Usage(model_calls=1)}, ROOM),
}


@pytest.mark.parametrize("who", list(OTHERS))
async def test_an_answer_is_for_one_person_in_one_place_on_one_day(state: ToolState, who: str) -> None:
    desk = Inquiry(state)
    await desk.answered()
    fields, thread = OTHERS[who]

    assert await desk.look(desk.run(**fields), thread) is None


async def test_a_place_that_offers_other_tools_another_question_or_a_file_is_another_request(state: ToolState) -> None:
    desk = Inquiry(state)
    await desk.answered()
    assert await desk.look(desk.run(), asked="How many are closed?") is None
    assert await desk.look(desk.run(), files=("a.png, image, 1 kB",)) is None
    desk.house.registry.replace("mcp:a", [dataclasses.replace(desk.house.tool("read_door"), name="read_gate", description="Read the gate's log of today.")])

    assert await desk.look(desk.run()) is None


STALE = ToolResult.ok("list_rooms", ["oak"], cached=True, stale=True, age=90.0)
FAILED = ToolResult.fail("count_tickets", ErrorCode.TIMEOUT, "Too slow.", Suggestion.RETRY)
NOT_KEPT: dict[str, dict[str, Any]] = {
    "a value that stood in for its source": {"calls": (called("list_rooms", STALE),)},
    "an earlier value that may have": {"history": (past("list_rooms"),)},
    "a tool of the moment": {"calls": (called("tell_hour"),)},
    "a tool of the moment, earlier": {"history": (past("tell_hour"),)},
    "a read that is not cached": {"calls": (called("read_door"),)},
    "a write": {"calls": (called("open_ticket"),)},
    "a write, earlier": {"history": (past("open_ticket"), past("count_tickets"))},
    "a tool that is no more": {"calls": (called("gone"),)},
    "a read that failed": {"calls": (called("count_tickets", FAILED),)},
    "a read that failed, earlier": {"history": (past("count_tickets", ok=False),)},
    "more calls than are remembered": {"history": (past("count_tickets"),) * REMEMBERED},
}


@pytest.mark.parametrize("what", list(NOT_KEPT))
async def test_an_answer_that_rests_on_more_than_cacheable_reads_is_not_kept(valkey: Valkey, state: ToolState, what: str) -> None:
    desk = Inquiry(state)
    await desk.answered(desk.run(**NOT_KEPT[what]))

    assert await desk.look(desk.run()) is None
    assert found(valkey, "*:value:answer:*") == []


async def test_a_fresh_value_of_a_tool_that_may_be_stale_does_no_harm(state: ToolState) -> None:
    desk = Inquiry(state)
    await desk.answered(desk.run(calls=(called("list_rooms"),)), "Oak.")

    assert await desk.look(desk.run()) == "Oak."


async def test_a_write_makes_answers_void_by_a_tag_that_is_no_group(state: ToolState) -> None:
    desk = Inquiry(state)
    await desk.answered()
    late = desk.run(requested_by=Actor(team_id="T1", user_id="U2"))
    assert await desk.look(late) is None
    await state.end((), "none", void=["desks"])  # what `open_ticket` does, in any replica

    assert await desk.look(desk.run()) is None
    await desk.cache.keep(late, "One.")  # read before, ended after
    assert await desk.look(desk.run(requested_by=late.requested_by)) is None


async def test_an_answer_nobody_looked_for_and_an_empty_one_are_not_kept(valkey: Valkey, state: ToolState) -> None:
    desk = Inquiry(state)
    await desk.cache.keep(desk.run(), "One.")
    await desk.answered(answer="")

    assert found(valkey, "*:value:answer:*") == []


# --- the model's replies, by hand -----------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def cached_model(server: ScriptedModel, state: ToolState) -> AsyncIterator[ModelCache]:
    async with server:
        model = Model(base_url=server.url, api_key="k", models=("scripted",), backoff=0.0, temperature=0.0)
        try:
            yield ModelCache(model, state, engine(state), ttl=60)
        finally:
            await model.close()


def said(words: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": words}]


async def test_the_very_same_request_is_not_sent_twice_and_calls_come_back_whole(state: ToolState) -> None:
    tools = House().registry.schemas()
    server = ScriptedModel([calls(("count_tickets", {"desk": "北"}), say="Let me see."), text("Hello.")])
    async with cached_model(server, state) as cache:
        first = await cache.ask(said("How many?"), tools)
        again = await cache.ask(said("How many?"), tools)
        other = await cache.ask(said("how many?"), tools)

        assert (again.text, again.calls, again.tokens) == (first.text, first.calls, 0)
        assert first.calls
        assert other.text == "Hello."
        assert server.count == 2


async def test_a_failure_of_the_model_is_not_kept(valkey: Valkey, state: ToolState) -> None:
    server = ScriptedModel([refusal("I would rather not."), text("Hello.")])
    async with cached_model(server, state) as cache:
        with pytest.raises(ModelError):
            await cache.ask(said("Hi"), [])
        assert found(valkey, "*:answer:*") == []

        assert (await cache.ask(said("Hi"), [])).text == "Hello."


@pytest.mark.parametrize("fails", ["remember", "remembered"])
async def test_a_store_that_fails_costs_the_cache_and_no_second_request(valkey: Valkey, fails: str) -> None:
    async def down(*_: Any) -> Any:
        raise ToolStateDown("away")

    state = ToolState(connect(valkey.url, timeout=2.0), circuits=SLOW)
    setattr(state, fails, down)
    server = ScriptedModel([text("Hello."), text("Never.")])
    async with cached_model(server, state) as cache:
        assert (await cache.ask(said("Hi"), [])).text == "Hello."
        assert server.count == 1
    await state.close()


async def test_a_kept_reply_of_another_form_is_asked_for_again(valkey: Valkey, state: ToolState) -> None:
    server = ScriptedModel([text("Hello."), text("Hello again.")])
    async with cached_model(server, state) as cache:
        await cache.ask(said("Hi"), [])
        valkey.command("SET", found(valkey, "*:answer:model:*")[0], '{"other": 1}')

        assert (await cache.ask(said("Hi"), [])).text == "Hello again."


# --- in the whole product -------------------------------------------------------------------------------------------------


async def asked(stack: Stack, answer: str, *, user: str = "alice", channel: str = "#orders", words: str = "how many are open?") -> None:
    """Somebody asks at the top of a channel and gets `answer`."""
    ts = await stack.slack.say(user, channel, f"@steward {words}")
    await stack.until(lambda: answer in texts(stack.own(channel, ts)))
    await rest(stack)


class Clerk:
    """A model that looks once and says what it found; asked to open a ticket, it does."""

    def __call__(self, request: dict[str, Any]) -> Any:
        last = request["messages"][-1]
        if last["role"] == "tool":
            return text(f"There: {content_text(last)[-2]}.")
        return calls(("open_ticket" if "please" in content_text(last) else "count_tickets", {"desk": "north"}))


async def test_the_bot_answers_a_first_question_again_until_a_write_and_only_for_the_one_who_asked(valkey: Valkey) -> None:
    house, model = House(), ScriptedModel(Clerk())
    async with over("socket", valkey, model, registry=house.registry, answer_cache_ttl=600.0) as stack:
        await asked(stack, "There: 1.")
        assert model.count == 2
        await asked(stack, "There: 1.")
        assert model.count == 2  # answered as before

        await asked(stack, "There: 1.", user="bruno")
        assert model.count == 4
        await asked(stack, "There: 1.", channel="#general")
        assert model.count == 6

        ts = await stack.slack.say("alice", "#orders", "@steward please open one")
        opening = await card(stack, "#orders", ts)
        await stack.slack.click("alice", "#orders", opening["ts"], "steward:approve")
        await stack.until(lambda: "There: 2." in texts(stack.own("#orders", ts)))
        await rest(stack)
        asked_so_far = model.count
        await asked(stack, "There: 2.")
        assert model.count == asked_so_far + 2
        await asked(stack, "There: 2.")
        assert model.count == asked_so_far + 2


async def test_the_bot_asks_a_model_at_temperature_0_the_same_thing_once(valkey: Valkey) -> None:
    house, model = House(), ScriptedModel(Clerk())
    async with over("socket", valkey, model, registry=house.registry, model_cache_ttl=600.0, model_temperature=0.0) as stack:
        await asked(stack, "There: 1.")
        before = model.count
        await asked(stack, "There: 1.")

        assert model.count - before < before  # the first request at least is the very same
        assert sum(counted(bot.engine, "steward_answer_cache_total", level="model", event="hit") for bot in stack.bots) >= 1
        before = model.count
        await asked(stack, "There: 1.", words="how many are open today?")
        assert model.count > before


async def test_a_model_at_another_temperature_is_asked_every_time(valkey: Valkey) -> None:
    model = ScriptedModel(Clerk())
    async with over("socket", valkey, model, registry=House().registry, model_cache_ttl=600.0, model_temperature=0.7) as stack:
        await asked(stack, "There: 1.")
        await asked(stack, "There: 1.")

        assert model.count == 4
