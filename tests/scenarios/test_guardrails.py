"""Guardrails in the whole product: what is not offered, what is refused before anybody is asked, and what is held back after an approval all the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.guardrails import Guardrails
from bot.policy_file import PolicyFile, read_policy_file
from bot.service import Parts, Service
from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, MEI, Rooms, aim, card, cards, over, rest, results
from tools.tool import ToolLoadError

ORDERS, GENERAL = "#orders", "#general"
OAK = calls(("book_room", {"room": "Oak"}))


def rails(**file: Any) -> Guardrails:
    return Guardrails.load(PolicyFile.model_validate(file))


def offered(request: Json) -> list[str]:
    """The names of the tools a request offers to the model."""
    return sorted(each["function"]["name"] for each in request.get("tools") or [])


async def answered(stack: Stack, words: str, user: str = "alice", channel: str = ORDERS, answer: str = "Done.") -> str:
    """Somebody asks and gets an answer: the thread's `ts`."""
    ts = await stack.slack.say(user, channel, f"@steward {words}")
    await stack.until(lambda: answer in texts(stack.own(channel, ts)))
    await rest(stack)
    return ts


async def test_a_denied_tool_is_never_offered_and_a_call_of_it_never_run(valkey: Valkey, transport: str) -> None:
    """The model calls it all the same, by name: it reads why not, and nobody is asked."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Done.")])
    async with over(transport, valkey, model, registry=rooms.registry(), guardrails=rails(tools={"deny": ["book_*"]})) as stack:
        ts = await answered(stack, "book Oak")

        assert offered(model.requests[0]) == ["free_room", "list_rooms"]
        [result] = results(model.requests[1])
        assert result["error_code"] == "PERMISSION_DENIED"
        assert "switched off" in result["error_message"]
        assert cards(stack, ORDERS, ts) == []
        assert rooms.booked == []
        model.assert_consumed()


async def test_what_is_denied_while_a_card_waits_is_not_run_after_the_approval(valkey: Valkey) -> None:
    """The deny list stands below every approval: it is looked at once more right before the call."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Done.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ORDERS, "@steward book Oak")
        card_ts = (await card(stack, ORDERS, ts))["ts"]
        await stack.stop_bot(stack.bots[0])
        aim(stack.slack, await stack.bot(guardrails=rails(tools={"deny": ["book_room"]})))
        await stack.slack.click("alice", ORDERS, card_ts, "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ORDERS, ts)))
        await rest(stack)

        assert results(model.requests[1])[0]["error_code"] == "PERMISSION_DENIED"
        assert rooms.booked == []
        model.assert_consumed()


async def test_a_channels_list_holds_in_that_channel_and_nowhere_else(valkey: Valkey) -> None:
    rooms, model = Rooms(), ScriptedModel([text("Done."), text("Done.")])
    async with running(valkey, model, registry=rooms.registry(), guardrails=rails(channels={"C01GENERAL": {"tools": ["list_*"]}})) as stack:
        await answered(stack, "hello", channel=GENERAL)
        await answered(stack, "hello", channel=ORDERS)

        assert [offered(request) for request in model.requests] == [["list_rooms"], ["book_room", "free_room", "list_rooms"]]


async def test_a_person_may_use_what_their_own_list_or_one_of_their_user_groups_allows(valkey: Valkey) -> None:
    """Memberships are asked of Slack; whoever is in no list has the default."""
    guardrails = rails(people={ALICE: {"tools": ["free_room"]}, "default": {"tools": []}}, usergroups={"S01HOSTS": {"tools": ["book_*"]}})
    rooms, model = Rooms(), ScriptedModel([text("Done.")] * 3)
    async with running(valkey, model, registry=rooms.registry(), guardrails=guardrails) as stack:
        stack.slack.add(usergroups=[{"id": "S01HOSTS", "name": "Hosts", "handle": "hosts", "users": [ALICE, MEI]}])
        for user in ("alice", "mei", "bruno"):
            await answered(stack, "hello", user)

        assert [offered(request) for request in model.requests] == [["book_room", "free_room"], ["book_room"], []]


async def test_while_slack_does_not_tell_who_is_in_a_group_nothing_is_open_that_the_group_would_close(valkey: Valkey) -> None:
    """A member of a restricted group is not unrestricted because Slack hiccups: the request waits, or gets no more than the group may."""
    guardrails = rails(usergroups={"S01TEMPS": {"tools": ["list_*"]}})
    rooms, model = Rooms(), ScriptedModel([text("Done.")])
    async with running(valkey, model, registry=rooms.registry(), guardrails=guardrails) as stack:
        stack.slack.add(usergroups=[{"id": "S01TEMPS", "name": "Temps", "handle": "temps", "users": [MEI]}])
        stack.slack.fault("usergroups.users.list", "status", times=5, status=500)
        await answered(stack, "hello", "mei")

        assert offered(model.requests[0]) == ["list_rooms"]


async def test_an_argument_rule_refuses_before_anybody_is_asked_and_the_reason_reaches_the_model(valkey: Valkey, tmp_path: Path) -> None:
    """The rule comes from the file; the wide letters change nothing; another value gets its card."""
    path = tmp_path / "steward.toml"
    path.write_text(
        '[[arguments]]\ntool = "book_room"\nargument = "room"\ndeny = "(?i)^boardroom$"\nreason = "The board books its room itself."\n', encoding="utf-8"
    )
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Ｂoard\u200broom"})), OAK])
    async with running(valkey, model, registry=rooms.registry(), guardrails=Guardrails.load(read_policy_file(path))) as stack:
        ts = await stack.slack.say("alice", ORDERS, "@steward book the boardroom")
        shown_card = await card(stack, ORDERS, ts)

        [result] = results(model.requests[1])
        assert result["error_code"] == "PERMISSION_DENIED"
        assert "The board books its room itself." in result["error_message"]
        assert "boardroom$" not in json.dumps(result)
        assert len(cards(stack, ORDERS, ts)) == 1
        await stack.slack.click("alice", ORDERS, shown_card["ts"], "steward:edit")
        view = await stack.slack.wait_for(lambda: stack.slack.view("alice")) or {}
        typed = {"field:room": "boardroom", "field:seats": "4", "field:note": ""}
        outcome = await stack.slack.submit(
            "alice", view["id"], {block: {"value": {"type": "plain_text_input", "value": value}} for block, value in typed.items()}
        )
        assert outcome["errors"] == {"field:room": "Not allowed by the rules of this workspace. The board books its room itself."}
        await rest(stack)
        assert rooms.booked == []
        assert len(cards(stack, ORDERS, ts)) == 1


async def test_a_rule_made_while_a_card_waits_holds_the_approved_call_back(valkey: Valkey) -> None:
    """Right before it runs the call is held against the rules once more."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Done.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ORDERS, "@steward book Oak")
        card_ts = (await card(stack, ORDERS, ts))["ts"]
        await stack.stop_bot(stack.bots[0])
        await stack.bot(guardrails=rails(arguments=[{"tool": "book_room", "argument": "room", "allow": "^Elm$", "reason": "Oak is being painted."}]))
        await stack.slack.click("alice", ORDERS, card_ts, "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own(ORDERS, ts)))
        await rest(stack)

        assert "Oak is being painted." in results(model.requests[1])[0]["error_message"]
        assert rooms.booked == []


async def test_an_operators_own_check_sees_who_asks_for_what(valkey: Valkey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "house_rules.py").write_text(
        "def small(tool_name, arguments, actor, thread):\n"
        f"    if tool_name == 'book_room' and arguments['seats'] > 6 and actor.user_id != {ALICE!r}:\n"
        "        return 'Big rooms are booked by Alice.'\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    big = calls(("book_room", {"room": "Hall", "seats": 9}))
    rooms, model = Rooms(), ScriptedModel([big, text("Done."), big])
    async with running(valkey, model, registry=rooms.registry(), guardrails=rails(arguments=[{"tool": "*", "check": "house_rules:small"}])) as stack:
        await answered(stack, "book the hall", "mei")
        ts = await stack.slack.say("alice", ORDERS, "@steward book the hall")
        await card(stack, ORDERS, ts)

        assert "Big rooms are booked by Alice." in results(model.requests[1])[0]["error_message"]


def test_a_rule_that_names_no_tool_stops_the_start() -> None:
    parts = Parts(
        slack_api_url="http://127.0.0.1:1",
        bot_token="xoxb-1",
        redis_url="redis://127.0.0.1:1",
        model_base_url=None,
        model_key="none",
        models=("scripted",),
        registry=Rooms().registry(),
        guardrails=rails(tools={"deny": ["book_rooms"]}),
    )

    with pytest.raises(ToolLoadError, match=r"STEWARD_CONFIG: there is no tool called 'book_rooms'\."):
        Service(parts)
