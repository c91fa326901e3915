"""Where the endpoint can hold the model to the schemas, it is asked to; what such a model sends is understood all the same."""

from __future__ import annotations

from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import card, rest


async def test_strict_schemas_are_sent_and_the_nulls_that_come_back_mean_not_given(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("cancel_order", {"order_id": "ABC-20240522-007", "reason": None})), text("asked")])
    async with running(valkey, model, strict_schemas=True) as stack:
        ts = await stack.slack.say("alice", "#orders", "@steward cancel ABC-20240522-007")
        shown = await card(stack, "#orders", ts)
        tools = {each["function"]["name"]: each["function"] for each in model.requests[0]["tools"]}
        await stack.slack.click("alice", "#orders", shown["ts"], "steward:deny")
        await rest(stack)

        assert tools["cancel_order"]["strict"] is True
        assert set(tools["cancel_order"]["parameters"]["required"]) == {"order_id", "reason"}
        assert "ABC-20240522-007" in texts([shown])[0]
        assert "mended" not in texts([shown])[0]


async def test_without_the_wish_nothing_is_said_about_it(valkey: Valkey) -> None:
    model = ScriptedModel([text("hello")])
    async with running(valkey, model) as stack:
        await stack.ask("alice", "#orders", "@steward hi")

        assert all("strict" not in each["function"] for each in model.requests[0]["tools"])
