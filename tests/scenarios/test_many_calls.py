"""An answer that asks for far more calls than may run, and what a closed tool's resolver gets to see."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, cast

from pydantic import Field

from bot.checks import SPARE
from bot.guardrails import Guardrails
from bot.policy_file import PolicyFile
from bot.run import Budget
from tests.fakes.scripted_model import ScriptedModel, calls, held, text
from tests.fakes.stack import running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, Rooms, cards, results
from tools.decorator import tool
from tools.registry import Registry
from tools.tool import ToolContext

ROOM = "#orders"


def saved_calls(valkey: Valkey) -> list[dict[str, Any]]:
    """The calls of the one run in the store, as its state holds them."""
    [key] = cast("list[bytes]", valkey.command("KEYS", "*doc:*"))
    found: list[dict[str, Any]] = json.loads(cast("bytes", valkey.command("GET", key.decode())))["run"]["calls"]
    return found


async def test_a_thousand_calls_of_one_answer_are_cut_and_the_model_reads_how_many(valkey: Valkey) -> None:
    """Half of them the engine's own, which use up no budget: they count here too."""
    rooms = Rooms()
    wanted = [("open_tools", {"group": f"g{n}"}) if n % 2 else ("list_rooms", {"n": f"{n}" * 50}) for n in range(1_000)]
    model = ScriptedModel([calls(*wanted), text("Done.")])
    async with running(valkey, model, registry=rooms.registry(), budget=Budget(tool_calls=4)) as stack:
        said = await stack.ask("alice", ROOM, "@steward list them all")

        read = results(model.requests[-1])
        assert len(read) == 4 + SPARE
        assert [f"the last {1_000 - 4 - SPARE} were not looked at" in result.get("note", "") for result in read] == [False] * (3 + SPARE) + [True]
        assert "Done." in texts(said)


async def test_a_closed_call_keeps_its_words_once(valkey: Valkey) -> None:
    """What the model wrote stands in the transcript; the state of a call that will never run does not hold it a second time."""
    rooms, long = Rooms(), "long" * 1_000
    guardrails = Guardrails.load(PolicyFile.model_validate({"arguments": [{"tool": "book_room", "argument": "room", "deny": "Oak"}]}))
    go_on = asyncio.Event()
    model = ScriptedModel([calls(("book_room", {"room": "Oak", "note": long})), held(go_on, text("Done."))])
    async with running(valkey, model, registry=rooms.registry(), guardrails=guardrails) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        await stack.until(lambda: len(model.requests) == 2)
        [call] = saved_calls(stack.valkey)
        go_on.set()
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))

        assert (call["tool"], call["status"], call.get("arguments")) == ("book_room", "failed", None)
        assert long not in json.dumps(call)
        assert results(model.requests[1])[0]["error_code"] == "PERMISSION_DENIED"


async def test_the_resolver_of_a_tool_that_is_closed_for_the_person_never_runs(valkey: Valkey) -> None:
    ran: list[str] = []

    def resolve(ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
        ran.append(ctx.actor.user_id)
        return arguments

    @tool(effect="write", resolve=resolve)
    async def reserve(room: Annotated[str, Field(description="Which meeting room, e.g. Oak")]) -> str:
        """Reserve a meeting room for the person who asks; returns its name."""
        return room

    guardrails = Guardrails.load(PolicyFile.model_validate({"people": {ALICE: {"tools": []}}}))
    model = ScriptedModel([calls(("reserve", {"room": "Oak"})), text("Done."), calls(("reserve", {"room": "Oak"})), text("Done.")])
    async with running(valkey, model, registry=Registry([reserve]), guardrails=guardrails) as stack:
        said = await stack.ask("alice", ROOM, "@steward reserve Oak")
        assert "Done." in texts(said)
        assert results(model.requests[1])[0]["error_code"] == "PERMISSION_DENIED"
        assert ran == []
        ts = await stack.slack.say("bruno", ROOM, "@steward reserve Oak")
        await stack.until(lambda: cards(stack, ROOM, ts))
        assert len(ran) == 1
