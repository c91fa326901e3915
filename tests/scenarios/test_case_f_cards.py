"""Reported faults F4 and F5, and what a card can do: large arguments, long names, look-alike arguments, denying with a reason, editing, expiring."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.cards import decode_card
from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, raw_calls, text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import Rooms, becomes, card, cards, over, overdue, rest, results, told
from tools.decorator import tool
from tools.tool import Tool

LONG = "据说一个很长的备注 and a long note. " * 160  # about 5 kB of text, more in bytes


def field(name: str, value: str) -> Json:
    return {f"field:{name}": {"value": {"type": "plain_text_input", "value": value}}}


async def view_all(stack: Stack, card_ts: str, user: str = "alice") -> dict[str, Any]:
    """The arguments as the "View all" modal shows them."""
    assert (await stack.slack.click(user, "#general", card_ts, "steward:view"))["ok"]
    view = await stack.slack.wait_for(lambda: stack.slack.view(user))
    assert view is not None
    await stack.slack.close_view(user, view["id"])
    shown_values = decode_card(view["blocks"])
    assert isinstance(shown_values, dict)
    return shown_values


# --- F4 and F5 ----------------------------------------------------------------------------------------------------------------


async def test_arguments_of_five_kilobytes_get_a_card_and_are_shown_whole_on_request(valkey: Valkey, transport: str) -> None:
    """F4: the card says what is cut, "View all" shows it, and what runs is the whole."""
    rooms, arguments = Rooms(), {"room": "Oak", "seats": 4, "note": LONG}
    model = ScriptedModel([calls(("book_room", arguments)), text("Booked.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        assert len(json.dumps(arguments, ensure_ascii=False).encode()) > 5_000
        assert "more characters — View all" in shown(asked)
        assert await view_all(stack, asked["ts"]) == arguments

        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert [entry["note"] for entry in rooms.booked] == [LONG]
        model.assert_consumed()


def long_tool(done: list[str]) -> Tool:
    """A tool whose name has 120 characters."""

    async def placeholder(what: Annotated[str, Field(description="Which thing is to be done", max_length=100)]) -> str:
        """Do the one thing that this very long name stands for, and nothing else."""
        done.append(what)
        return "ok"

    placeholder.__name__ = ("do_the_thing_" * 10)[:120]
    return tool(effect="write")(placeholder)


async def test_a_tool_name_of_120_characters_gets_a_card_and_runs(valkey: Valkey) -> None:
    """F4: the name fits nowhere whole and must not stop the card."""
    done: list[str] = []
    long = long_tool(done)
    assert len(long.name) == 120
    model = ScriptedModel([lambda request: calls((request["tools"][-1]["function"]["name"], {"what": "东西"})), text("Done it.")])
    async with running(valkey, model, registry=Rooms().registry(long)) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward do it")
        asked = await card(stack, "#general", ts)
        assert "东西" in shown(asked)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:edit")
        assert stack.slack.view("alice") is not None
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Done it." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert done == ["东西"]
        model.assert_consumed()


@pytest.mark.parametrize("name", ["查询 订单", "a b", "x" * 300, "drop;table", "", "book_room\n"])
async def test_a_tool_name_the_model_made_up_does_not_spoil_the_conversation(valkey: Valkey, name: str) -> None:
    """F4's neighbour: no endpoint accepts such a name back in the history; the model is told that there is no such tool, and goes on."""
    model = ScriptedModel([raw_calls((name, "{}"), ids=["call_1"]), text("There is no such tool.")])
    async with running(valkey, model, registry=Rooms().registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward do something odd")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["There is no such tool."]
        assert results(model.requests[1])[0]["error_code"] == "UNKNOWN_TOOL"
        model.assert_consumed()


async def test_a_card_that_slack_refuses_is_not_a_denial(valkey: Valkey) -> None:
    """F4: nobody was asked, so nobody said no: the model reads that, and may ask again."""
    rooms, book = Rooms(), calls(("book_room", {"room": "Oak"}))
    model = ScriptedModel([book, book, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        stack.slack.fault("chat.postMessage", "error", error="invalid_blocks")
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        refused = results(model.requests[1])[0]
        assert refused["success"] is False
        assert refused["error_code"] != "DENIED_BY_PERSON"
        assert "could not be asked" in refused["error_message"]

        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


@pytest.mark.parametrize("kind", ["drop", "drop_after", "status", "ratelimit"])
async def test_a_card_whose_posting_goes_wrong_stands_once(valkey: Valkey, kind: str) -> None:
    """F4's neighbour: the line drops before or after Slack took the card, a 500, a 429: one card, and it works."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("Booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        stack.slack.fault("chat.postMessage", kind, retry_after=0)
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        assert len(stack.own("#general", ts)) == 1

        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        assert len(stack.own("#general", ts)) == 2
        model.assert_consumed()


async def test_two_calls_that_begin_alike_are_two_cards_and_only_the_approved_one_runs(valkey: Valkey) -> None:
    """F5: equal in the first 2,600 characters: other fingerprints, other ends in "View all", and approving one never runs the other."""
    rooms, start = Rooms(), "相同的开头 same start " * 160
    ends = {"first": start + "pay ten", "second": start + "pay ten thousand"}
    assert len(start) > 2_600
    model = ScriptedModel([calls(*(("book_room", {"room": "Oak", "note": note}) for note in ends.values())), text("One is booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book twice")
        await card(stack, "#general", ts, count=2)
        one, two = cards(stack, "#general", ts)
        prints = [line for m in (one, two) for line in shown(m).splitlines() if line.startswith("Fingerprint")]
        assert len(set(prints)) == 2
        assert (await view_all(stack, one["ts"]))["note"] == ends["first"]
        assert (await view_all(stack, two["ts"]))["note"] == ends["second"]

        await stack.slack.click("alice", "#general", two["ts"], "steward:approve")
        await becomes(stack, "#general", two["ts"], "Done")
        await rest(stack)
        assert [entry["note"] for entry in rooms.booked] == [ends["second"]]
        assert [m["ts"] for m in cards(stack, "#general", ts)] == [one["ts"]]

        await stack.slack.click("alice", "#general", one["ts"], "steward:deny")
        await stack.until(lambda: "One is booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert [entry["note"] for entry in rooms.booked] == [ends["second"]]
        model.assert_consumed()


# --- several writes, reasons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
async def test_several_writes_of_one_answer_are_decided_one_by_one(valkey: Valkey, order: tuple[int, ...]) -> None:
    """Point 7: approve the first, deny the second, edit the third, in any order; the model reads each one's own result, in the order asked."""
    rooms = Rooms()
    wanted = calls(("book_room", {"room": "Oak"}), ("book_room", {"room": "Elm"}), ("book_room", {"room": "Ash"}), ("list_rooms", {}))
    model = ScriptedModel([wanted, text("Sorted.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book three")
        await card(stack, "#general", ts, count=3)
        stamps = [m["ts"] for m in cards(stack, "#general", ts)]
        for index in order:
            if index < 2:
                await stack.slack.click("alice", "#general", stamps[index], ("steward:approve", "steward:deny")[index])
            else:
                await stack.slack.click("alice", "#general", stamps[2], "steward:edit")
                view = stack.slack.view("alice")
                assert view is not None
                assert (await stack.slack.submit("alice", view["id"], field("room", "灰") | field("seats", "4") | field("note", "")))["ok"]
            await rest(stack)
        await stack.until(lambda: "Sorted." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert sorted(rooms.names) == ["Oak", "灰"]
        assert [r["success"] for r in results(model.requests[1])] == [True, False, True, True]
        heads = [shown(stack.slack.message("#general", stamp) or {}).splitlines()[0] for stamp in stamps]
        assert [state in head for state, head in zip(("Done", "Denied", "Done"), heads, strict=True)] == [True, True, True]
        model.assert_consumed()


@pytest.mark.parametrize("reason", ["too expensive <b>", "太贵了，先不要", ""])
async def test_a_denial_with_a_reason_is_kept_on_the_card_and_read_by_the_model(valkey: Valkey, transport: str, reason: str) -> None:
    """Point 7: the reason stands on the card with who and when; an empty one is allowed."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("Then not.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:deny_reason")
        view = stack.slack.view("alice")
        assert view is not None
        assert (await stack.slack.submit("alice", view["id"], {"reason": {"value": {"type": "plain_text_input", "value": reason or None}}}))["ok"]
        await stack.until(lambda: "Then not." in texts(stack.own("#general", ts)))
        await rest(stack)

        said = shown(stack.slack.message("#general", asked["ts"]) or {})
        assert "Denied by <@U01ALICE00>" in said
        assert reason in said
        assert reason in results(model.requests[1])[0]["error_message"]
        assert rooms.booked == []
        model.assert_consumed()


# --- editing -----------------------------------------------------------------------------------------------------------------------


async def test_edit_then_approve_runs_the_edited_values_and_errors_stay_in_the_form(valkey: Valkey, transport: str) -> None:
    """Point 7: wrong values come back beside their fields; right ones run, once, and the card and the model say what was changed."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak", "seats": 4})), text("Booked.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:edit")
        view = stack.slack.view("alice")
        assert view is not None

        for seats in ("40", "many", "4.5", "-1"):
            answer = await stack.slack.submit("alice", view["id"], field("room", "Elm") | field("seats", seats) | field("note", ""))
            assert answer["ok"] is False
            assert list(answer["errors"]) == ["field:seats"]
        answer = await stack.slack.submit("alice", view["id"], field("room", "") | field("seats", "99") | field("note", ""))
        assert sorted(answer["errors"]) == ["field:room", "field:seats"]
        assert rooms.booked == []
        assert [m["ts"] for m in cards(stack, "#general", ts)] == [asked["ts"]]

        assert (await stack.slack.submit("alice", view["id"], field("room", "榆树厅") | field("seats", "6") | field("note", "窗边")))["ok"]
        assert stack.slack.view("alice") is None
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert [(b["room"], b["seats"], b["note"]) for b in rooms.booked] == [("榆树厅", 6, "窗边")]
        done = stack.slack.message("#general", asked["ts"]) or {}
        assert "Edited and approved by <@U01ALICE00>" in shown(done)
        assert decode_card(done["blocks"]) == {"room": "榆树厅", "seats": 6, "note": "窗边"}
        assert "榆树厅" in json.dumps(results(model.requests[1])[0], ensure_ascii=False)
        model.assert_consumed()


async def test_a_form_that_was_open_while_the_card_was_decided_is_refused_in_the_form(valkey: Valkey) -> None:
    """Point 7: the first decision wins over a form submitted later."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("Booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:edit")
        view = stack.slack.view("alice")
        assert view is not None
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)

        answer = await stack.slack.submit("alice", view["id"], field("room", "Elm") | field("seats", "4") | field("note", ""))
        await rest(stack)

        assert answer["ok"] is False
        assert "no longer valid" in " ".join(answer["errors"].values())
        assert rooms.names == ["Oak"]
        model.assert_consumed()


# --- expiry -------------------------------------------------------------------------------------------------------------------------


async def test_a_card_that_nobody_decides_expires_says_so_and_the_conversation_goes_on(valkey: Valkey) -> None:
    """Point 7: the card is updated, the model reads that nobody approved, a late click gets a private answer, and asking again works."""
    rooms, book = Rooms(), calls(("book_room", {"room": "Oak"}))
    model = ScriptedModel([book, text("Nobody approved it."), book, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approval_ttl=0.6) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        await stack.until(lambda: cards(stack, "#general", ts))
        card_ts = cards(stack, "#general", ts)[0]["ts"]
        assert "It was not carried out" in await becomes(stack, "#general", card_ts, "Expired")
        await stack.until(lambda: "Nobody approved it." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert results(model.requests[1])[0]["error_code"] == "EXPIRED"

        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve"))["ok"]
        await told(stack, "alice", "This card is no longer valid.")
        assert rooms.booked == []

    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_a_click_on_a_card_that_expired_while_the_bot_was_away_runs_nothing(valkey: Valkey) -> None:
    """Point 7: the time is over although no worker was there to say so: the click is refused, the card updated."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("Too late.")])
    async with running(valkey, model, registry=rooms.registry(), approval_ttl=1.0) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        await stack.until(lambda: cards(stack, "#general", ts))
        card_ts = cards(stack, "#general", ts)[0]["ts"]
        value = buttons(cards(stack, "#general", ts)[0])["steward:approve"]
        await rest(stack)
        await stack.bots[0].worker.stop()
        if cards(stack, "#general", ts):  # on a slow machine its time may be over already
            await overdue(stack)
        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve", value))["ok"]  # the edge still takes it
        await stack.bot()
        await stack.until(lambda: "Too late." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert rooms.booked == []
        assert "Expired" in shown(stack.slack.message("#general", card_ts) or {})
        assert len(stack.slack.ephemerals("alice")) == 1
        model.assert_consumed()
