"""Faults that were met once, each as the sentence that must stay true, end to end through the playground."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from time import time
from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.grants import tool_digest
from bot.guardrails import Guardrails, Patterns
from bot.policy_file import Approvals, ToolApproval
from bot.service import Parts, Service
from memory.connect import connect
from memory.grant import Grant
from memory.grants import Grants
from memory.keys import Actor
from tests.fakes.scripted_model import ScriptedModel, calls, raw_calls, text
from tests.fakes.scripted_replies import Pause
from tests.fakes.stack import QUICK, Stack, buttons, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BUILDS, ERIK, Rooms, card, cards, deliver, rest, written
from tools.decorator import tool
from tools.engine import validate
from tools.registry import Registry
from tools.tool import ToolLoadError

ROOM = "#general"


async def test_a_strangers_stop_changes_nothing_about_an_approved_write(valkey: Valkey) -> None:
    rooms = Rooms()
    rooms.hold = asyncio.Event()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("booked")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        shown = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await stack.until(lambda: "Running" in texts(stack.own(ROOM, ts))[0])
        stranger = written(stack.slack, ERIK, ROOM, "stop", thread_ts=ts)
        await deliver(stack.slack, ROOM, {**stranger, "user_team": "T02PARTNER", "team": "T02PARTNER"})
        rooms.hold.set()
        await stack.until(lambda: "booked" in texts(stack.own(ROOM, ts))[-1])
        await rest(stack)

        assert rooms.names == ["Oak"]
        assert "Done" in texts(stack.own(ROOM, ts))[0]


async def test_a_write_that_ends_within_its_grace_is_recorded_although_the_heart_goes_on_beating(valkey: Valkey) -> None:
    began, gate, done = asyncio.Event(), asyncio.Event(), []

    @tool(effect="write")
    async def free_room(room: Annotated[str, Field(description="Which meeting room, e.g. Oak")]) -> str:
        """Give one booked meeting room back, so that others may have it."""
        began.set()
        await gate.wait()
        done.append(room)
        return room

    model = ScriptedModel([calls(("free_room", {"room": "Oak"}))])
    limits = dataclasses.replace(QUICK, write_grace=1.9)
    async with running(valkey, model, registry=Registry([free_room]), limits=limits, heartbeat=0.05) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward free Oak")
        shown = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await began.wait()
        await stack.slack.say("alice", ROOM, "@steward stop", ts)
        await asyncio.sleep(0.5)  # several beats, all of which see the stop
        gate.set()
        await stack.until(lambda: "Stopped" in texts(stack.own(ROOM, ts))[-1])
        await rest(stack)

        assert done == ["Oak"]
        assert "Done" in texts(stack.own(ROOM, ts))[0]


async def test_a_post_whose_link_cannot_be_had_is_still_done(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("post_message", {"channel": "#orders", "text": "hello all"})), text("sent")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward post it")
        shown = await card(stack, ROOM, ts)
        stack.slack.fault("chat.getPermalink", "error", error="message_not_found")
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await stack.until(lambda: len(stack.own(ROOM, ts)) == 2)
        await rest(stack)

        assert texts(stack.own("#orders")) == ["hello all"]
        assert "Done" in texts(stack.own(ROOM, ts))[0]


async def test_a_rate_limited_status_delays_no_answer(valkey: Valkey) -> None:
    async def slow(_: dict[str, Any]) -> Any:
        await asyncio.sleep(0.5)
        return text("hi")

    async with running(valkey, ScriptedModel(slow)) as stack:
        stack.slack.fault("assistant.threads.setStatus", "ratelimit", retry_after=30)
        await stack.ask("alice", ROOM, "@steward one")

        await stack.ask("alice", "#orders", "@steward two", within=8.0)


async def test_someone_of_another_company_is_refused_even_when_slack_does_not_know_them(valkey: Valkey) -> None:
    model = ScriptedModel([])
    async with running(valkey, model) as stack:
        stack.slack.fault("users.info", "error", error="user_not_found", times=9)
        message = written(stack.slack, ERIK, "#partners", "<@U01STEWARD> list all orders")
        await deliver(stack.slack, "#partners", {**message, "user_team": "T02PARTNER"}, kind="app_mention")
        await stack.until(lambda: stack.slack.ephemerals("erik"))
        follow = written(stack.slack, ERIK, "#partners", "hello?", thread_ts=message["ts"])
        await deliver(stack.slack, "#partners", {**follow, "user_team": "T02PARTNER"})
        await rest(stack)

        assert model.count == 0
        assert stack.own("#partners", message["ts"]) == []


async def test_a_colleagues_word_below_a_refused_mention_starts_nothing(valkey: Valkey) -> None:
    model = ScriptedModel([])
    async with running(valkey, model) as stack:
        message = written(stack.slack, ERIK, "#partners", "<@U01STEWARD> list all orders")
        await deliver(stack.slack, "#partners", {**message, "user_team": "T02PARTNER"}, kind="app_mention")
        await stack.until(lambda: stack.slack.ephemerals("erik"))
        await stack.slack.say("alice", "#partners", "I can help you with that, Erik", message["ts"])
        await rest(stack)

        assert model.count == 0


async def test_an_answer_slack_refuses_for_its_form_arrives_as_plain_text(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel([text("the **answer** is 1 < 2")])) as stack:
        stack.slack.fault("chat.postMessage", "error", error="invalid_blocks")
        ts = await stack.slack.say("alice", ROOM, "@steward one")
        await stack.until(lambda: stack.own(ROOM, ts))
        await rest(stack)

        (answer,) = stack.own(ROOM, ts)
        assert answer["text"] == "the **answer** is 1 &lt; 2"


async def test_an_answer_whose_partial_was_deleted_is_posted_anew(valkey: Valkey) -> None:
    go_on = asyncio.Event()
    reply = dataclasses.replace(text("word " * 80 + "THE END", pieces=20), pause=Pause(until=go_on), pause_at=15)
    async with running(valkey, ScriptedModel([reply])) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward one")
        await stack.until(lambda: stack.own(ROOM, ts))
        stack.slack.fault("chat.update", "error", error="message_not_found", times=50)
        go_on.set()
        await stack.until(lambda: any("THE END" in shown for shown in texts(stack.own(ROOM, ts))))
        await rest(stack)

        (answer,) = texts(stack.own(ROOM, ts))
        assert answer.endswith("THE END")


async def test_stop_while_the_card_is_being_posted_leaves_no_open_card(valkey: Valkey) -> None:
    rooms = Rooms()
    async with running(valkey, ScriptedModel([calls(("book_room", {"room": "Oak"}))]), registry=rooms.registry()) as stack:
        stack.slack.fault("chat.postMessage", "delay", seconds=1.0)
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        await stack.until(lambda: stack.slack.calls("chat.postMessage") or stack.model.count)
        await asyncio.sleep(0.3)
        await stack.slack.say("alice", ROOM, "@steward stop", ts)
        await stack.until(lambda: any("Stopped" in shown for shown in texts(stack.own(ROOM, ts))))
        await rest(stack)

        assert cards(stack, ROOM, ts) == []
        assert rooms.booked == []


async def test_another_bots_mentions_at_the_top_of_a_channel_end_with_one_notice(valkey: Valkey) -> None:
    model = ScriptedModel(lambda _: text("pong"))
    async with running(valkey, model) as stack:
        for _ in range(9):
            message = written(stack.slack, BUILDS, ROOM, "<@U01STEWARD> ping", bot_id="B01BUILDS0")
            await deliver(stack.slack, ROOM, message, kind="app_mention")
            await rest(stack)

        said = [shown for root in stack.slack.messages(ROOM) for shown in texts(stack.own(ROOM, root["ts"]))]
        assert said.count("pong") == model.count == 5
        assert len(said) == 6


async def test_a_native_stop_in_a_direct_conversation_ends_what_runs_there(valkey: Valkey) -> None:
    forever = asyncio.Event()

    async def hold(_: dict[str, Any]) -> Any:
        await forever.wait()
        return text("never")

    model = ScriptedModel(hold)
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice")
        ts = await stack.slack.say("alice", room, "one")
        await stack.until(lambda: any(c["args"].get("status") == "processing" for c in stack.slack.calls("agents.sessions.setStatus")))
        bot = stack.bots[0]
        event = {"type": "agent_session_stopped", "channel": room, "thread_ts": ts, "user": "U01ALICE00", "event_ts": "1.5"}
        await bot.edge._on_event({"event": event})
        await stack.until(lambda: any("Stopped" in shown for shown in texts(stack.own(room))))
        forever.set()


async def test_an_argument_with_the_name_of_a_model_method_can_be_edited(valkey: Valkey) -> None:
    done = []

    @tool(effect="write")
    async def save_copy(copy: Annotated[str, Field(description="The file it is saved as")]) -> str:
        """Save a copy of the document under the name that the person gave."""
        done.append(copy)
        return copy

    async with running(valkey, ScriptedModel([calls(("save_copy", {"copy": "one"})), text("saved")]), registry=Registry([save_copy])) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward save")
        shown = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:edit")
        view = stack.slack.view("alice")
        assert view is not None
        block = next(b for b in view["blocks"] if b["type"] == "input")
        values = {block["block_id"]: {block["element"]["action_id"]: {"type": "plain_text_input", "value": "two"}}}
        assert (await stack.slack.submit("alice", view["id"], values))["ok"]
        await stack.until(lambda: "saved" in texts(stack.own(ROOM, ts))[-1])

        assert done == ["two"]


async def test_slack_is_told_when_work_ends_also_after_a_restart_in_the_middle(valkey: Valkey) -> None:
    asked = 0

    async def slow_once(_: dict[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        if asked == 1:
            await asyncio.sleep(60)
        return text("ok")

    async with running(valkey, ScriptedModel(slow_once)) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward y")
        await stack.until(lambda: any(c["args"].get("status") == "processing" for c in stack.slack.calls("agents.sessions.setStatus")))
        await stack.stop_bot(stack.bots[0])
        await stack.bot()
        await stack.thread(ROOM, ts, own=1)
        await rest(stack)

        assert stack.slack.calls("agents.sessions.setStatus")[-1]["args"]["status"] == "active"
        assert not buttons(stack.own(ROOM, ts)[-1])


async def test_a_guest_is_told_at_once_that_a_colleague_has_to_ask(valkey: Valkey) -> None:
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("a colleague has to ask")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        messages = await stack.ask("dana", "#orders", "@steward book Oak")
        await rest(stack)

        assert cards(stack, "#orders", messages[0]["ts"]) == []
        assert texts(stack.own("#orders", messages[0]["ts"])) == ["a colleague has to ask"]


async def test_editing_the_request_closes_the_card_it_led_to(valkey: Valkey) -> None:
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("then I do not")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        await card(stack, ROOM, ts)
        await stack.slack.edit("alice", ROOM, ts, "@steward do NOT book Oak")
        await stack.until(lambda: texts(stack.own(ROOM, ts))[-1] == "then I do not")
        await rest(stack)

        assert cards(stack, ROOM, ts) == []


async def test_half_a_character_in_a_message_is_answered_like_any_other(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel([text("hello")])) as stack:
        message = written(stack.slack, "U01ALICE00", ROOM, "<@U01STEWARD> half")
        await stack.bots[0].edge._on_event({"event": {**message, "type": "app_mention", "channel": "C01GENERAL", "text": "<@U01STEWARD> \ud83d half"}})
        await stack.thread(ROOM, message["ts"], own=1)


async def test_a_policy_for_a_tool_that_does_not_exist_is_refused_at_start() -> None:
    approvals = Approvals(tools={"cancel_ordre": ToolApproval(policy="two_people")})
    parts = Parts(slack_api_url="x", bot_token="x", redis_url="x", model_base_url=None, model_key="x", models=("x",), approvals=approvals)
    with pytest.raises(ToolLoadError, match="cancel_order"):
        Service(parts)


@pytest.mark.parametrize("later", [{"keyed": False}, {"keyed": True, "denied": True}], ids=["no longer keyed", "refused by now"])
async def test_a_keyed_write_that_was_begun_is_never_said_to_be_undone_whatever_changed_meanwhile(valkey: Valkey, later: dict[str, bool]) -> None:
    began, runs = asyncio.Event(), []

    async def free_room(room: Annotated[str, Field(description="Which meeting room, e.g. Oak")]) -> str:
        """Give one booked meeting room back, so that others may have it."""
        runs.append(room)
        began.set()
        await asyncio.Event().wait()
        return room

    def offered(*, keyed: bool) -> Registry:
        return Registry([tool(effect="write", keyed=keyed)(free_room)])

    model = ScriptedModel([calls(("free_room", {"room": "Oak"})), text("please check")])
    async with Stack(valkey, model) as stack:
        first = await stack.bot(registry=offered(keyed=True))
        ts = await stack.slack.say("alice", ROOM, "@steward free Oak")
        shown = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await began.wait()
        await stack.stop_bot(first)
        rules = Guardrails(deny=Patterns(("free_room",))) if later.get("denied") else Guardrails()
        await stack.bot(registry=offered(keyed=later["keyed"]), guardrails=rules)
        await stack.until(lambda: "please check" in texts(stack.own(ROOM, ts))[-1])
        await rest(stack)

        assert runs == ["Oak"]
        assert "Outcome unknown" in texts(stack.own(ROOM, ts))[0]
        assert "OUTCOME_UNKNOWN" in str(model.requests[-1]["messages"])


@pytest.mark.parametrize("raw", ["[" * 2000, '{"room":' + "[" * 1500 + "]" * 1500 + "}", '{"room":' * 20000])
async def test_arguments_nested_beyond_reading_end_in_a_reason_and_the_thread_goes_on(valkey: Valkey, raw: str) -> None:
    rooms = Rooms()
    model = ScriptedModel([raw_calls(("book_room", raw)), text("sorry"), text("still here")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book something")
        await stack.until(lambda: texts(stack.own(ROOM, ts)) == ["sorry"])
        await stack.slack.say("alice", ROOM, "are you there?", ts)
        await stack.until(lambda: texts(stack.own(ROOM, ts)) == ["sorry", "still here"])

        assert "fix_arguments" in str(model.requests[1]["messages"])
        assert rooms.names == []


async def test_the_same_change_twice_in_one_answer_is_put_to_the_person_once(valkey: Valkey) -> None:
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"}), ("book_room", {"room": "Oak"})), text("booked")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        shown = await card(stack, ROOM, ts)
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await stack.until(lambda: "booked" in texts(stack.own(ROOM, ts))[-1])
        await rest(stack)

        assert rooms.names == ["Oak"]
        assert len(stack.own(ROOM, ts)) == 2
        assert "exactly this change twice" in str(model.requests[1]["messages"])


async def test_a_standing_permission_lets_one_request_do_a_thing_once(valkey: Valkey) -> None:
    rooms = Rooms()
    again = calls(("book_room", {"room": "Oak"}))
    model = ScriptedModel([again, again, text("booked")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        bot, book = stack.bots[0], rooms.registry().get("book_room")
        assert book is not None
        me = Actor(team_id=bot.slack.me.team_id, user_id=ALICE)
        channel = await bot.slack.channel_id(ROOM)
        assert channel is not None
        whole = validate(book, {"room": "Oak"})
        grant = Grant(
            id="g1", actor=me, channel_id=channel, tool="book_room", title="Book room", tool_digest=tool_digest(book), pattern=whole, anything=(),
            created_at=time(), expires_at=time() + 600,
        )  # fmt: skip
        async with contextlib.aclosing(connect(valkey.url, timeout=2.0)) as client:
            assert await Grants(client, space=me.team_id).put(grant)
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak, and once more")
        shown = await card(stack, ROOM, ts)

        assert rooms.names == ["Oak"]  # the second time waits for a click
        await stack.slack.click("alice", ROOM, shown["ts"], "steward:approve")
        await stack.until(lambda: "booked" in texts(stack.own(ROOM, ts))[-1])
        assert rooms.names == ["Oak", "Oak"]
