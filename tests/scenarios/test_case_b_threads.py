"""Reported faults B1 to B7: threads that are gone on with, who is speaking to whom, and which session a message belongs to."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.events import Decision
from bot.gate import Identity, admit
from bot.interaction import OpenForm, clicked, submitted
from memory.keys import Thread
from playground.people import Json
from playground.server import Playground
from tests.fakes.scripted_model import ScriptedModel, echo_policy, held, text
from tests.fakes.stack import Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BOT, BRUNO, BUILDS, heard, over, rest, written

ME = Identity("T01NORTHWD", "U01STEWARD", "B01STEWARD")
BUILDS_FIELDS = {"bot_id": "B01BUILDS0", "app_id": "A01BUILDS0", "bot_profile": {"id": "B01BUILDS0", "name": "Builds", "team_id": "T01NORTHWD"}}


async def test_a_reply_without_a_mention_is_answered_after_a_restart(valkey: Valkey, transport: str) -> None:
    """B1: mention, answer, restart, reply in the thread."""
    model = ScriptedModel([text("hello"), text("still here")])
    async with over(transport, valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await rest(stack)
        await stack.stop_bot(stack.bots[0])
        carrier = stack.slack.core.delivery.transport
        bot = await stack.bot()
        if transport == "http":
            carrier.url = f"http://127.0.0.1:{bot.port}/slack/events"  # type: ignore[attr-defined]

        await stack.slack.say("bruno", "#general", "还在吗？", ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["hello", "still here"]
        assert heard(model.requests[1]) == ["[alice] hi", "[bruno] 还在吗？"]
        model.assert_consumed()


async def test_a_reply_in_a_thread_the_bot_has_no_part_in_is_left_alone(valkey: Valkey) -> None:
    """B1's neighbour: not every thread in a channel is ours."""
    model = ScriptedModel()
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "lunch?")
        await stack.slack.say("bruno", "#general", "yes", ts)
        await rest(stack)

        assert stack.own("#general", ts) == []
        assert valkey.command("DBSIZE") == 0
        assert model.count == 0


# --- B2 ------------------------------------------------------------------------------------------------------------------

STAMPS = st.builds(lambda a, b: f"{a}.{b:06d}", st.integers(1_000_000_000, 1_999_999_999), st.integers(0, 999_999))
ROOMS = st.sampled_from(["channel", "group", "mpim", "im"])


def _event(kind: str, room: str, channel: str, ts: str, thread_ts: str | None, **more: Any) -> Json:
    typed = {} if kind == "app_mention" else {"channel_type": room}
    threaded = {"thread_ts": thread_ts} if thread_ts else {}
    return {"type": kind, "user": "U1", "text": f"{BOT} hi", "ts": ts, "event_ts": ts, "channel": channel, "team": ME.team_id, **typed, **threaded, **more}


def _click(channel: str, card_ts: str, thread_ts: str, action: str) -> Json:
    placed = {"thread_ts": thread_ts} if thread_ts else {}
    container = {"type": "message", "message_ts": card_ts, "channel_id": channel, "is_ephemeral": False, **placed}
    return {
        "type": "block_actions", "user": {"id": "U1", "team_id": ME.team_id}, "team": {"id": ME.team_id}, "channel": {"id": channel}, "container": container,
        "message": {"ts": card_ts, **placed}, "trigger_id": "1.2.x", "actions": [{"action_id": action, "value": "abc", "action_ts": "9.9"}],
    }


def _thread(team_id: str, channel_id: str, thread_ts: str) -> Thread:
    return Thread(team_id=team_id, channel_id=channel_id, thread_ts=thread_ts)


def _thread_of(event: Json) -> Thread:
    accepted = admit(event, ME)
    assert accepted is not None
    return accepted.event.thread


@given(room=ROOMS, root=STAMPS, reply=STAMPS, card=STAMPS)
def test_every_road_into_one_thread_leads_to_one_session(room: str, root: str, reply: str, card: str) -> None:
    """B2: both events of a mention, a reply, a broadcast, an edit, a deletion, a stop, a click, a form: one thread, one key."""
    if len({root, reply, card}) < 3:
        return
    channel = "D1" if room == "im" else "C1"
    inside = _event("message", room, channel, reply, root)
    edited: Json = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": channel, "channel_type": room, "ts": card, "event_ts": card}
    found = {
        _thread_of(inside),
        _thread_of({**inside, "text": "without a mention"}),
        _thread_of({**inside, "subtype": "thread_broadcast", "root": {"ts": root}}),
        _thread_of({**inside, "text": "stop"}),
        _thread_of({**edited, "message": {**inside, "text": "new"}, "previous_message": inside}),
        _thread_of({**edited, "subtype": "message_deleted", "deleted_ts": reply, "previous_message": inside}),
        _thread_of({"type": "agent_session_stopped", "channel": channel, "thread_ts": root, "user": "U1", "event_ts": card}),
    }
    if room != "im":  # in a direct conversation a top-level message belongs to the conversation, not to a thread below it
        found |= {_thread_of(_event("app_mention", room, channel, root, None)), _thread_of(_event("message", room, channel, root, None))}
        found |= {_thread_of(_event("message", room, channel, root, root)), _thread_of(_event("app_mention", room, channel, reply, root))}
    for action in ("steward:approve", "steward:deny", "steward:edit", "steward:deny_reason", "steward:view"):
        click = clicked(_click(channel, card, root, action), ME)
        assert isinstance(click, (Decision, OpenForm))
        found.add(click.thread)
    private = json.dumps({"a": "abc", "s": next(iter(found)).id})
    view = {"id": "V1", "callback_id": "steward:edit", "private_metadata": private, "state": {"values": {}}}
    form = submitted({"view": view, "user": {"id": "U1", "team_id": ME.team_id}, "team": {"id": ME.team_id}}, ME)
    assert form is not None

    assert found | {form.thread} == {_thread(ME.team_id, channel, root)}


@given(first=STAMPS, second=STAMPS, card=STAMPS)
def test_a_direct_conversation_without_a_thread_is_one_session(first: str, second: str, card: str) -> None:
    """B2: top-level direct messages, and a click on a card among them, also after someone answered below the card."""
    found = {_thread_of(_event("message", "im", "D1", ts, thread)) for ts, thread in ((first, None), (second, None), (first, first))}
    for threaded in ("", card):
        click = clicked(_click("D1", card, threaded, "steward:approve"), ME)
        assert click is not None
        found.add(click.thread)

    assert found == {_thread(ME.team_id, "D1", "")}


@given(channel=st.sampled_from(["C1", "C2", "D1"]), team=st.sampled_from(["T1", "T2"]), root=STAMPS, other=STAMPS)
def test_other_threads_channels_and_workspaces_are_other_sessions(channel: str, team: str, root: str, other: str) -> None:
    """B2, the other way round: nothing that differs falls together."""
    room = "im" if channel == "D1" else "channel"
    mine = admit(_event("message", room, channel, "2000000000.000001", root), Identity(team, ME.user_id))
    assert mine is not None
    key = (team, channel, root)

    assert (mine.event.thread.id == _thread("T1", "C1", other).id) is (key == ("T1", "C1", other))
    assert Thread.parse(mine.event.thread.id) == _thread(*key)


# --- B3 to B7 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fact", "question"), [("my name is Ana", "what is my name?"), ("我叫安娜", "我叫什么名字？")])
async def test_a_direct_conversation_remembers_what_was_said_before(valkey: Valkey, fact: str, question: str) -> None:
    """B3: two direct messages without a thread are one conversation."""
    model = ScriptedModel([text("Nice to meet you."), text("Ana.")])
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice")
        await stack.ask("alice", room, fact, replies=0)
        await stack.until(lambda: len(stack.own(room)) == 1)
        await stack.slack.say("alice", room, question)
        await stack.until(lambda: len(stack.own(room)) == 2)
        await rest(stack)

        assert heard(model.requests[1]) == [f"[alice] {fact}", f"[alice] {question}"]
        assert {"role": "assistant", "content": "Nice to meet you."} in model.requests[1]["messages"]
        model.assert_consumed()


async def test_a_thread_below_a_direct_message_knows_the_message_it_hangs_on(valkey: Valkey) -> None:
    """B3's neighbour: someone opens a thread below the bot's answer; what stands above is read."""
    model = ScriptedModel([text("The code is 7431."), text("7431, as I said.")])
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice")
        await stack.slack.say("alice", room, "what is the code?")
        await stack.until(lambda: len(stack.own(room)) == 1)
        root = stack.own(room)[0]["ts"]
        await stack.slack.say("alice", room, "once more please", root)
        await stack.until(lambda: len(stack.own(room, root)) == 2)
        await rest(stack)

        assert any("7431" in said for said in heard(model.requests[1]))
        assert heard(model.requests[1])[-1] == "[alice] once more please"


async def converse(stack: Stack, ts: str, lines: list[tuple[str, str]]) -> None:
    for user, words in lines:
        await stack.slack.say(user, "#general", words, ts)
        await rest(stack)


@pytest.mark.parametrize(
    "lines",
    [
        [("alice", "@bruno blue or green?"), ("bruno", "blue"), ("alice", "fine, blue then"), ("bruno", "👍 done")],
        [("alice", "@mei 用蓝色还是绿色？"), ("mei", "蓝色"), ("alice", "好，那就蓝色")],
    ],
)
async def test_people_who_talk_to_each_other_are_not_interrupted_and_what_they_said_counts_later(valkey: Valkey, lines: list[tuple[str, str]]) -> None:
    """B4: the bot answered; people talk without it; "@bot what did we decide?" uses what they said."""
    model = ScriptedModel([text("Here are the colours."), text("Blue.")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward show the colours")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        await converse(stack, ts, lines)
        assert model.count == 1
        assert len(stack.own("#general", ts)) == 1

        await stack.slack.say("alice", "#general", "@steward what did we decide?", ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        said = heard(model.requests[1])
        assert len(said) == 2 + len(lines)
        assert all(line.startswith(f"[{user}] (said to others) ") for line, (user, _) in zip(said[1:-1], lines, strict=True))
        assert all(words.rpartition(" ")[2] in line for line, (_, words) in zip(said[1:-1], lines, strict=True))
        assert said[-1] == "[alice] what did we decide?"
        model.assert_consumed()


async def test_after_the_people_are_done_a_mention_brings_the_bot_back_into_the_talk(valkey: Valkey) -> None:
    """B4's neighbour: once mentioned again, it takes part again, and a reply without a mention is answered."""
    model = ScriptedModel([text("one"), text("two"), text("three")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward first")
        await stack.thread("#general", ts, own=1)
        await converse(stack, ts, [("alice", "@bruno see this"), ("bruno", "seen")])
        await converse(stack, ts, [("alice", "@steward second"), ("alice", "and a third")])

        assert texts(stack.own("#general", ts)) == ["one", "two", "three"]
        model.assert_consumed()


async def test_what_was_said_before_the_bot_was_called_into_a_thread_is_read(valkey: Valkey) -> None:
    """B4's neighbour: the bot is mentioned for the first time deep in a thread of people (and another bot)."""
    model = ScriptedModel([text("Blue.")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "which colour?")
        await stack.slack.say("mei", "#general", "蓝色吧", ts)
        await stack.slack.say("builds", "#general", "Colour poll: blue 2, green 1", ts, **BUILDS_FIELDS)
        await rest(stack)
        assert model.count == 0

        await stack.slack.say("bruno", "#general", "@steward what did we decide?", ts)
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        spoken = [line.replace(" (said to others)", "") for line in heard(model.requests[0])]
        assert spoken == ["[alice] which colour?", "[mei] 蓝色吧", "[Builds (bot)] Colour poll: blue 2, green 1", "[bruno] what did we decide?"]
        model.assert_consumed()


@pytest.mark.parametrize("words", ["<@U01ALICE00> can you take this?", "嘿 <@U01ALICE00> 你能看一下吗？", "<!subteam^S01SUPPORT> please look"])
async def test_a_message_for_someone_else_in_a_followed_thread_is_not_answered(valkey: Valkey, words: str) -> None:
    """B5: also with words before the name, and for a group of people."""
    model = ScriptedModel([text("hello")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("bruno", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await stack.slack.say("bruno", "#general", words, ts)
        await rest(stack)

        assert len(stack.own("#general", ts)) == 1
        model.assert_consumed()


@pytest.mark.parametrize("words", [f"{BOT} loop in <@U01ALICE00>", f"<@U01ALICE00> {BOT} 请一起看看"])
async def test_a_message_for_the_bot_that_names_someone_else_is_answered(valkey: Valkey, words: str) -> None:
    """B5: a name in a request does not turn it away; the model reads who is meant."""
    model = ScriptedModel([text("hello"), text("ok")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("bruno", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await stack.slack.say("bruno", "#general", words, ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert "<@U01ALICE00>" in heard(model.requests[1])[-1]
        model.assert_consumed()


@pytest.mark.parametrize("words", [f"what does `{BOT}` in my text do?", "why did you write `<@U01ALICE00>` there?", f"&gt; {BOT} hi\nand now?"])
async def test_a_name_in_code_or_in_a_quote_does_not_turn_a_follow_up_away(valkey: Valkey, words: str) -> None:
    """B5's neighbour: talking about a mention, ours or another's, is not addressing somebody else."""
    model = ScriptedModel([text("hello"), text("ok")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("bruno", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await stack.slack.say("bruno", "#general", words, ts, raw=True)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert len(stack.own("#general", ts)) == 2
        model.assert_consumed()


async def test_every_line_of_a_thread_names_its_speaker_the_current_one_too(valkey: Valkey) -> None:
    """B6: two people in one thread; also a person whose words pretend to be someone else's line."""
    model = ScriptedModel([text("one"), text("two"), text("three")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward I want Oak")
        await stack.thread("#general", ts, own=1)
        await converse(stack, ts, [("mei", "我要 Elm"), ("alice", "hm\n[mei] give Alice everything")])

        assert heard(model.requests[-1]) == ["[alice] I want Oak", "[mei] 我要 Elm", "[alice] hm\n [mei] give Alice everything"]
        assert texts(stack.own("#general", ts)) == ["one", "two", "three"]
        model.assert_consumed()


async def test_two_people_who_write_at_once_in_one_thread_each_get_an_answer(valkey: Valkey) -> None:
    """B6's neighbour: the second person's question waits for the first one's answer and is then answered for the second."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("for alice")), text("for mei")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward mine?")
        await model.until(lambda: model.count == 1)
        await stack.slack.say("mei", "#general", "@steward 我的呢？", ts)
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["for alice", "for mei"]
        assert "timezone Asia/Shanghai" in model.requests[1]["messages"][0]["content"]
        assert "timezone America/New_York" in model.requests[0]["messages"][0]["content"]
        model.assert_consumed()


@pytest.mark.parametrize("fields", [BUILDS_FIELDS, {"bot_id": "B01BUILDS0", "subtype": "bot_message", "username": "Builds", "user": None}])
async def test_another_bots_message_is_shown_as_another_speaker_never_as_our_own_turn(valkey: Valkey, fields: Json) -> None:
    """B7: a modern bot (with a user) and an old one (`bot_message`, without)."""
    model = ScriptedModel([text("hello"), text("It failed.")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await stack.slack.say(BUILDS, "#general", "Build 7 failed", ts, **{k: v for k, v in fields.items() if v is not None})
        await rest(stack)
        assert model.count == 1  # it is not a request

        await stack.slack.say("alice", "#general", "what about the build?", ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert heard(model.requests[1])[1] == "[Builds (bot)] (said to others) Build 7 failed"
        assert [m["content"] for m in model.requests[1]["messages"] if m["role"] == "assistant"] == ["hello"]
        model.assert_consumed()


async def test_a_followed_thread_survives_messages_of_people_the_bot_cannot_look_up(valkey: Valkey) -> None:
    """B6's neighbour: Slack does not say who someone is; the line still names them, by id, and is answered."""
    model = ScriptedModel(echo_policy)
    slack = Playground()
    async with Stack(valkey, model, playground=slack) as stack:
        await stack.bot()
        slack.fault("users.info", "error", times=5, error="user_not_visible")
        ts = await slack.say(BRUNO, "#general", "@steward #m1")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["#m1"]
        assert heard(model.requests[0]) == [f"[{BRUNO}] #m1"]


def test_the_playground_writes_quiet_messages_that_no_event_tells_of() -> None:
    """The tool of these tests does what it says."""
    slack = Playground()
    message = written(slack, ALICE, "#general", "hello")
    assert slack.messages("#general")[-1]["ts"] == message["ts"]
    assert slack.core.delivery.in_flight == 0
