"""Reported faults F1 to F3 and F6 to F9: who clicks, when, how often, and what the card says afterwards."""

from __future__ import annotations

import asyncio

import pytest
import structlog

from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import Rooms, aim, becomes, card, cards, heard, over, rest, results, told
from tools.tool import ToolFailed

OAK = calls(("book_room", {"room": "Oak"}))


async def asked_for_oak(stack: Stack, user: str = "alice", channel: str = "#general", words: str = "@steward book Oak") -> tuple[str, str]:
    """`user` asks, a card stands: the thread's and the card's `ts`."""
    ts = await stack.slack.say(user, channel, words)
    return ts, (await card(stack, channel, ts))["ts"]


@pytest.mark.parametrize("words", ["@steward book Oak", "@steward 订 Oak"])
async def test_someone_elses_click_is_refused_privately_and_the_requester_can_still_decide(valkey: Valkey, transport: str, words: str) -> None:
    """F1: B clicks A's card: a private reason, the card unchanged, A's click runs it."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack, words=words)
        before = stack.slack.message("#general", card_ts)

        for action in ("steward:approve", "steward:deny"):
            assert (await stack.slack.click("bruno", "#general", card_ts, action))["ok"]
        await told(stack, "bruno", "Only the person who asked can decide on this.", times=2)
        await rest(stack)
        assert stack.slack.message("#general", card_ts) == before
        assert stack.slack.ephemerals("alice") == []
        assert rooms.booked == []

        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve"))["ok"]
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_a_stranger_cannot_edit_or_deny_through_the_form_either(valkey: Valkey) -> None:
    """F1's neighbour: the forms open for anyone who clicks, but what they submit is judged like a click."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        for action, values in (("edit", {"field:room": {"value": {"type": "plain_text_input", "value": "Elm"}}}), ("deny_reason", {})):
            await stack.slack.click("bruno", "#general", card_ts, f"steward:{action}")
            view = stack.slack.view("bruno")
            if view is not None:
                assert (await stack.slack.submit("bruno", view["id"], values))["ok"]
        await told(stack, "bruno", "Only the person who asked can decide on this.", times=1)
        await rest(stack)

        assert [m["ts"] for m in cards(stack, "#general", ts)] == [card_ts]
        assert rooms.booked == []
        model.assert_consumed()


@pytest.mark.parametrize("channel", ["#general", "dm"])
async def test_a_click_after_a_restart_runs_what_the_card_shows(valkey: Valkey, transport: str, channel: str) -> None:
    """F2: post the card, restart, click."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        room = stack.slack.dm("alice") if channel == "dm" else channel
        ts = await stack.slack.say("alice", room, "@steward book Oak")
        place = None if channel == "dm" else ts
        card_ts = (await card(stack, room, place))["ts"]
        await stack.stop_bot(stack.bots[0])
        aim(stack.slack, await stack.bot())

        assert (await stack.slack.click("alice", room, card_ts, "steward:approve"))["ok"]
        await stack.until(lambda: "Booked." in texts(stack.own(room, place)))
        await rest(stack)

        assert rooms.names == ["Oak"]
        assert "Done" in await becomes(stack, room, card_ts, "Approved by")
        model.assert_consumed()


async def test_a_click_after_everything_was_forgotten_is_answered(valkey: Valkey) -> None:
    """F2's neighbour: the store was lost between card and click: "no longer valid", never silence, and nothing runs."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        _, card_ts = await asked_for_oak(stack)
        valkey.command("FLUSHALL")

        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve"))["ok"]
        await told(stack, "alice", "This card is no longer valid.")
        for action in ("edit", "view", "deny_reason"):
            known = buttons(stack.slack.message("#general", card_ts) or {})
            if f"steward:{action}" in known:
                assert (await stack.slack.click("alice", "#general", card_ts, f"steward:{action}"))["ok"]
        await rest(stack)

        assert rooms.booked == []
        assert stack.slack.view("alice") is None
        model.assert_consumed()


async def test_a_tool_that_is_gone_after_the_restart_is_not_run_and_the_card_says_so(valkey: Valkey) -> None:
    """F2's neighbour: the new version of the bot does not offer the tool any more."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("I could not.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.stop_bot(stack.bots[0])
        await stack.bot(registry=None)

        await stack.slack.click("alice", "#general", card_ts, "steward:approve")
        await stack.until(lambda: "I could not." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert rooms.booked == []
        assert "It was not carried out" in shown(stack.slack.message("#general", card_ts) or {})
        model.assert_consumed()


@pytest.mark.parametrize("fault", [RuntimeError("disk on fire"), ValueError("订单不存在")])
async def test_the_card_says_what_really_happened_when_the_tool_breaks_after_the_click(valkey: Valkey, fault: Exception) -> None:
    """F3: the executor raises: outcome unknown, please check; never "done", and never the exception's text."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Please check the booking.")])
    rooms.fails = fault
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.click("alice", "#general", card_ts, "steward:approve")
        await stack.until(lambda: "Please check the booking." in texts(stack.own("#general", ts)))
        await rest(stack)

        said = shown(stack.slack.message("#general", card_ts) or {})
        assert "Outcome unknown" in said
        assert "check" in said
        assert "Done" not in said
        assert str(fault) not in said
        assert cards(stack, "#general", ts) == []
        assert results(model.requests[1])[0]["error_code"] == "OUTCOME_UNKNOWN"
        model.assert_consumed()


async def test_a_business_refusal_after_the_click_is_shown_as_not_done(valkey: Valkey) -> None:
    """F3's neighbour: the tool says why it will not; the card repeats that, the model reads it."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Oak is closed.")])
    rooms.fails = ToolFailed("Oak 房间正在装修 & closed until <May>.")
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.click("alice", "#general", card_ts, "steward:approve")
        await stack.until(lambda: "Oak is closed." in texts(stack.own("#general", ts)))
        await rest(stack)

        said = shown(stack.slack.message("#general", card_ts) or {})
        assert "Failed" in said
        assert "Oak 房间正在装修 & closed until <May>." in said
        assert results(model.requests[1])[0]["success"] is False
        model.assert_consumed()


@pytest.mark.parametrize("value", ["forged", "", "x" * 5_000, "'; DROP TABLE--", "同意"])
async def test_a_forged_button_value_runs_nothing_and_is_logged(valkey: Valkey, value: str) -> None:
    """F6: what a button says is looked up; what is not known is refused."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        with structlog.testing.capture_logs() as logs:
            outcome = await stack.slack.click("alice", "#general", card_ts, "steward:approve", value)
            await rest(stack)

        assert outcome["ok"]
        assert rooms.booked == []
        assert [m["ts"] for m in cards(stack, "#general", ts)] == [card_ts]
        assert [line for line in logs if line["event"] in {"decision_refused", "click_unreadable"}]
        if 0 < len(value) <= 200:
            await told(stack, "alice", "This card is no longer valid.")
        model.assert_consumed()


async def test_the_value_of_another_threads_card_does_not_open_this_one(valkey: Valkey) -> None:
    """F6's neighbour: a true value, but pressed on another card: neither of the two runs."""
    rooms, model = Rooms(), ScriptedModel([OAK, calls(("book_room", {"room": "Elm"}))])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts1, card1 = await asked_for_oak(stack)
        ts2, card2 = await asked_for_oak(stack, words="@steward book Elm")
        value = buttons(stack.slack.message("#general", card1) or {})["steward:approve"]

        assert (await stack.slack.click("alice", "#general", card2, "steward:approve", value))["ok"]
        await told(stack, "alice", "This card is no longer valid.")
        await rest(stack)

        assert rooms.booked == []
        assert cards(stack, "#general", ts1)
        assert cards(stack, "#general", ts2)
        model.assert_consumed()


async def test_the_value_of_a_sibling_card_in_the_same_thread_does_not_run_either(valkey: Valkey) -> None:
    """F6's neighbour: two cards of one answer; the first one's value pressed on the second."""
    rooms, model = Rooms(), ScriptedModel([calls(("book_room", {"room": "Oak"}), ("book_room", {"room": "Elm"}))])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book both")
        await card(stack, "#general", ts, count=2)
        first, second = cards(stack, "#general", ts)

        await stack.slack.click("alice", "#general", second["ts"], "steward:approve", buttons(first)["steward:approve"])
        await told(stack, "alice", "This card is no longer valid.")
        await rest(stack)

        assert rooms.booked == []
        assert len(cards(stack, "#general", ts)) == 2
        model.assert_consumed()


async def test_an_old_card_of_a_finished_request_is_answered_and_runs_nothing_again(valkey: Valkey) -> None:
    """F6: the value was true once."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.click("alice", "#general", card_ts, "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)

        # The playground lets a click hit a button that was just replaced, as Slack does.
        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve"))["ok"]
        await told(stack, "alice", "This card is no longer valid.")
        await rest(stack)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


@pytest.mark.parametrize("people", [["alice"], ["alice", "bruno", "mei", "dana"]])
async def test_twenty_clicks_at_once_are_one_execution(valkey: Valkey, transport: str, people: list[str]) -> None:
    """F7: by the requester alone, and by everyone who can see the card, the requester among them."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack, channel="#orders")
        clickers = [people[i % len(people)] for i in range(20)]

        outcomes = await asyncio.gather(*(stack.slack.click(user, "#orders", card_ts, "steward:approve") for user in clickers))
        await stack.until(lambda: "Booked." in texts(stack.own("#orders", ts)))
        await rest(stack)

        assert all(outcome["ok"] for outcome in outcomes)
        assert rooms.names == ["Oak"]
        told_privately = sum(len(stack.slack.ephemerals(user)) for user in people)
        assert told_privately == 19  # each of the other clicks is answered
        model.assert_consumed()


async def test_approve_and_deny_at_once_end_in_exactly_one_of_the_two(valkey: Valkey) -> None:
    """F7's neighbour: the first decision wins, and card, tool and model agree on which one it was."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("So be it.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await asyncio.gather(*(stack.slack.click("alice", "#general", card_ts, action) for action in ("steward:deny", "steward:approve") * 5))
        await stack.until(lambda: "So be it." in texts(stack.own("#general", ts)))
        await rest(stack)

        said = shown(stack.slack.message("#general", card_ts) or {})
        done = bool(rooms.booked)
        assert ("Done" in said, "Denied" in said) == (done, not done)
        assert results(model.requests[1])[0]["success"] is done
        assert len(rooms.booked) <= 1
        model.assert_consumed()


@pytest.mark.parametrize(("words", "closed"), [("never mind, what time is it?", "No longer valid"), ("算了，现在几点？", "已失效")])
async def test_someone_who_writes_instead_of_clicking_is_answered_and_the_card_is_closed(valkey: Valkey, words: str, closed: str) -> None:
    """F8: the open call is superseded; a later click says "no longer valid"."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("It is noon.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.say("alice", "#general", words, ts)
        await stack.until(lambda: "It is noon." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert closed in shown(stack.slack.message("#general", card_ts) or {})
        assert cards(stack, "#general", ts) == []

        assert (await stack.slack.click("alice", "#general", card_ts, "steward:approve"))["ok"]
        await told(stack, "alice", "This card is no longer valid.")
        await rest(stack)

        assert rooms.booked == []
        assert results(model.requests[1])[0]["error_code"] == "SUPERSEDED"
        assert heard(model.requests[1])[-1] == f"[alice] {words}"
        model.assert_consumed()


async def test_someone_else_who_writes_below_an_open_card_is_answered_and_the_card_stays(valkey: Valkey) -> None:
    """F8's neighbour: another person's question is another request; it does not close the first one's card."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("It is noon."), text("Booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.say("mei", "#general", "@steward 几点了？", ts)
        await stack.until(lambda: "It is noon." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert [m["ts"] for m in cards(stack, "#general", ts)] == [card_ts]

        await stack.slack.click("alice", "#general", card_ts, "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert rooms.names == ["Oak"]
        assert rooms.booked[0]["by"] == "U01ALICE00"
        model.assert_consumed()


@pytest.mark.parametrize("again", [{"room": "Oak"}, {"seats": 4, "room": "Oak"}])
async def test_a_denied_call_is_not_asked_for_again_in_the_same_turn(valkey: Valkey, again: dict[str, object]) -> None:
    """F9: deny, and the model wants the same once more (spelled out differently too): no second card; it is told that it was not done."""
    rooms, model = Rooms(), ScriptedModel([OAK, calls(("book_room", again)), text("It was not booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.click("alice", "#general", card_ts, "steward:deny")
        await stack.until(lambda: "It was not booked." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert len(stack.own("#general", ts)) == 2  # the one card and the answer
        assert rooms.booked == []
        assert [r["error_code"] for r in results(model.requests[2])] == ["DENIED_BY_PERSON", "DENIED_BY_PERSON"]
        assert not any(r["success"] for r in results(model.requests[2]))
        assert "Denied" in shown(stack.slack.message("#general", card_ts) or {})
        model.assert_consumed()


async def test_another_call_after_a_denial_is_asked_for_and_the_next_turn_may_ask_again(valkey: Valkey) -> None:
    """F9's neighbour: denial is final for that call only, in that turn only."""
    rooms = Rooms()
    model = ScriptedModel([OAK, calls(("book_room", {"room": "Elm"})), text("Elm it is."), OAK, text("Oak after all.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked_for_oak(stack)
        await stack.slack.click("alice", "#general", card_ts, "steward:deny")
        await stack.until(lambda: any("Elm" in shown(m) for m in cards(stack, "#general", ts)))
        await rest(stack)
        await stack.slack.click("alice", "#general", cards(stack, "#general", ts)[-1]["ts"], "steward:approve")
        await stack.until(lambda: "Elm it is." in texts(stack.own("#general", ts)))
        await stack.slack.say("alice", "#general", "and Oak please, I changed my mind", ts)
        await stack.until(lambda: cards(stack, "#general", ts))
        await rest(stack)
        await stack.slack.click("alice", "#general", cards(stack, "#general", ts)[-1]["ts"], "steward:approve")
        await stack.until(lambda: "Oak after all." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert rooms.names == ["Elm", "Oak"]
        model.assert_consumed()
