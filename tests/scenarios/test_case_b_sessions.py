"""Reported fault B2: whichever road a message, a click or a form takes into a thread, it reaches that thread's one session."""

from __future__ import annotations

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
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import BOT, over, rest

ME = Identity("T01NORTHWD", "U01STEWARD", "B01STEWARD")
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
        "type": "block_actions",
        "user": {"id": "U1", "team_id": ME.team_id},
        "team": {"id": ME.team_id},
        "channel": {"id": channel},
        "container": container,
        "message": {"ts": card_ts, **placed},
        "trigger_id": "1.2.x",
        "actions": [{"action_id": action, "value": "abc", "action_ts": "9.9"}],
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
        assert isinstance(click, Decision)
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


@pytest.mark.parametrize("text_given", ["", "help", "status", "状态", "<@U01ALICE00|alice> && <b>", "x" * 3_000])
async def test_a_slash_command_is_answered_at_once_and_belongs_to_no_session(valkey: Valkey, transport: str, text_given: str) -> None:
    """B2: Slack gives a command no thread, so it never opens, joins or changes one."""
    model = ScriptedModel()
    async with over(transport, valkey, model) as stack:
        outcome = await stack.slack.command("alice", "#general", "/steward", text_given)
        await rest(stack)

        assert outcome["ok"]
        assert stack.slack.ephemerals("alice", "#general")
        assert stack.own("#general") == []
        assert valkey.command("DBSIZE") == 0
        assert model.count == 0
