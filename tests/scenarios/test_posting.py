"""`post_message` and its channel: one place, settled before the rules, the card and the approval, and the only one posted to."""

from __future__ import annotations

from typing import Any

import pytest

from bot.guardrails import Guardrails
from bot.policy_file import PolicyFile
from playground.seed import GENERAL, LEADS, ORDERS, RANDOM
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import card, cards, rest, results

ROOM = "#orders"


def post(channel: str, **more: Any) -> ScriptedModel:
    return ScriptedModel([calls(("post_message", {"channel": channel, "text": "hello all", **more})), text("Done.")])


def closed(**rule: str) -> Guardrails:
    return Guardrails.load(PolicyFile.model_validate({"arguments": [{"tool": "post_message", "argument": "channel", **rule}]}))


async def answered(stack: Stack) -> str:
    ts = await stack.slack.say("alice", ROOM, "@steward post it")
    await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
    await rest(stack)
    return ts


@pytest.mark.parametrize("written", ["general", "#general", "##general", " # General", GENERAL, f"<#{GENERAL}|team>", f"#{GENERAL}"])
@pytest.mark.parametrize("rule", [{"deny": "^#?general$"}, {"deny": f"^{GENERAL}$"}, {"allow": "^#?(random|orders)$"}, {"allow": f"^{ORDERS}$"}])
async def test_a_rule_on_a_channels_name_or_id_holds_however_the_channel_is_written(valkey: Valkey, written: str, rule: dict[str, str]) -> None:
    model = post(written)
    async with running(valkey, model, guardrails=closed(**rule)) as stack:
        ts = await answered(stack)

        [result] = results(model.requests[1])
        assert result["error_code"] == "PERMISSION_DENIED"
        assert result["error_message"].endswith("It was not run.")
        assert cards(stack, ROOM, ts) == []
        assert texts(stack.own("#general")) == []


@pytest.mark.parametrize("rule", [{"allow": "^#general$"}, {"allow": f"^{GENERAL}$"}, {"deny": "^#?random$"}])
async def test_the_card_names_the_channel_and_the_post_goes_there_although_it_was_renamed_meanwhile(valkey: Valkey, rule: dict[str, str]) -> None:
    """Another channel has taken the name when the click comes: what was approved is the place, not the word."""
    async with running(valkey, post(GENERAL, channel_id=RANDOM), guardrails=closed(**rule)) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward post it")
        asked = await card(stack, ROOM, ts)
        assert "#general" in shown(asked)
        assert RANDOM not in shown(asked)
        world = stack.slack.core.world
        world.channels[GENERAL].name, world.channels[ORDERS].name = "old-general", "general"
        await stack.slack.click("alice", ORDERS, asked["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ORDERS, ts)))
        await rest(stack)

        assert texts(stack.own(GENERAL)) == ["hello all"]
        assert "hello all" not in texts(stack.own(ORDERS))


@pytest.mark.parametrize(
    ("channel", "user", "code"),
    [
        ("#nowhere", "alice", "NOT_FOUND"),
        ("C0NOSUCH00", "alice", "NOT_FOUND"),
        ("#leads", "bruno", "NOT_FOUND"),  # a private one that Bruno is not in
        (LEADS, "bruno", "NOT_FOUND"),
    ],
)
async def test_a_channel_there_is_not_for_the_person_is_said_before_anybody_is_asked(valkey: Valkey, channel: str, user: str, code: str) -> None:
    model = post(channel)
    async with running(valkey, model) as stack:
        ts = await stack.slack.say(user, ROOM, "@steward post it")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))

        assert [result["error_code"] for result in results(model.requests[1])] == [code]
        assert cards(stack, ROOM, ts) == []


async def test_when_slack_is_silent_before_the_post_it_is_known_that_nothing_was_posted(valkey: Valkey) -> None:
    model = post("#general")
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward post it")
        asked = await card(stack, ROOM, ts)
        stack.slack.fault("conversations.members", "status", times=99, status=500)
        await stack.slack.click("alice", ROOM, asked["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))

        [result] = results(model.requests[-1])
        assert (result["error_code"], "Nothing was posted" in result["error_message"]) == ("UPSTREAM_ERROR", True)
        assert texts(stack.own("#general")) == []
