"""Reported faults G4, G7 and G10: workspaces kept apart, secrets that stay in nobody's log, and "stop"."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import structlog

from bot.log import configure_logging
from playground.server import Playground
from tests.fakes.scripted_model import ScriptedModel, calls, echo_policy, fault, held, stream_error, text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BOT, BRUNO, Rooms, card, cards, heard, over, rest, results, told

# --- G4 -----------------------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def elsewhere(valkey: Valkey, model: ScriptedModel, **parts: Any) -> AsyncIterator[Stack]:
    """A stack for another workspace in which the same ids stand for other people and another channel."""
    slack = Playground()
    token = slack.add(teams=[{"id": "T09ELSEWHR", "name": "Elsewhere"}])["T09ELSEWHR"]
    bot = slack.core.world.installs["T09ELSEWHR"].bot_user_id
    people = [{"id": ALICE, "team_id": "T09ELSEWHR", "name": "alicia", "real_name": "Alicia Other"}]
    members = [ALICE, bot]
    rooms = [{"id": "C01GENERAL", "team_id": "T09ELSEWHR", "name": "general", "members": members}]
    direct = [{"id": "D01DIRECT1", "team_id": "T09ELSEWHR", "name": "", "kind": "im", "members": members}]
    slack.add(users=people, channels=[*rooms, *direct])
    async with Stack(valkey, model, playground=slack, bot_token=token, **parts) as stack:
        await stack.bot()
        yield stack


def own(stack: Stack, channel: str, ts: str | None, bot: str) -> list[str]:
    return texts([m for m in stack.slack.messages(channel, ts) if m.get("user") == bot])


@pytest.mark.parametrize("room", ["C01GENERAL", "D01DIRECT1"])
async def test_the_same_ids_in_two_workspaces_are_two_people_two_threads_and_two_messages(valkey: Valkey, room: str) -> None:
    """G4: one store, two workspaces; user, channel and `ts` are all equal: apart in session and in dedupe, and neither reads the other's words."""
    here_model, there_model = ScriptedModel(echo_policy), ScriptedModel(echo_policy)
    async with running(valkey, here_model) as here, elsewhere(valkey, there_model) as there:
        bot = there.slack.core.world.installs["T09ELSEWHR"].bot_user_id
        ts = "1790000000.000100"
        await here.slack.say(ALICE, room, f"{BOT} my secret is #m1", ts=ts)
        await there.slack.say(ALICE, room, f"<@{bot}> my secret is #m2", ts=ts)
        place = ts if room.startswith("C") else None
        await here.until(lambda: own(here, room, place, "U01STEWARD"))
        await there.until(lambda: own(there, room, place, bot))
        await here.slack.say(ALICE, room, "and? #m3", place)
        await there.slack.say(ALICE, room, "and? #m4", place)
        await here.until(lambda: len(own(here, room, place, "U01STEWARD")) == 2)
        await there.until(lambda: len(own(there, room, place, bot)) == 2)
        await rest(here)
        await rest(there)

        assert own(here, room, place, "U01STEWARD") == ["#m1", "#m3"]
        assert own(there, room, place, bot) == ["#m2", "#m4"]
        assert heard(here_model.requests[-1]) == ["[alice] my secret is #m1", "[alice] and? #m3"]
        assert heard(there_model.requests[-1]) == ["[alicia] my secret is #m2", "[alicia] and? #m4"]


async def test_a_card_of_one_workspace_cannot_be_decided_from_the_other(valkey: Valkey) -> None:
    """G4's neighbour: the true value, from the same user id in another workspace."""
    rooms, script = Rooms(), [calls(("book_room", {"room": "Oak"}))]
    here_model, there_model = ScriptedModel(script), ScriptedModel(script)
    async with running(valkey, here_model, registry=rooms.registry()) as here, elsewhere(valkey, there_model, registry=rooms.registry()) as there:
        bot = there.slack.core.world.installs["T09ELSEWHR"].bot_user_id
        ts = "1790000000.000100"
        await here.slack.say(ALICE, "C01GENERAL", f"{BOT} book", ts=ts)
        await there.slack.say(ALICE, "C01GENERAL", f"<@{bot}> book", ts=ts)
        asked = await card(here, "C01GENERAL", ts)
        theirs = await there.slack.wait_for(lambda: [m for m in there.slack.messages("C01GENERAL", ts) if "steward:approve" in buttons(m)])
        value = buttons(asked)["steward:approve"]

        assert (await there.slack.click(ALICE, "C01GENERAL", theirs[0]["ts"], "steward:approve", value))["ok"]
        await told(there, ALICE, "This card is no longer valid.")
        await rest(here)
        await rest(there)

        assert rooms.booked == []
        assert [m["ts"] for m in cards(here, "C01GENERAL", ts)] == [asked["ts"]]


# --- G7 -----------------------------------------------------------------------------------------------------------------------

SECRETS = ["xoxb-123456789012-abcdefGHIJKL", "xapp-1-A01-123-abcdef0123456789", "sk-proj-abcDEF123456789_-xyz", "hunter2@db.internal"]
LEAK = f"Incorrect key {SECRETS[2]} for {SECRETS[0]} over {SECRETS[1]} at postgres://steward:{SECRETS[3]}/prod; Authorization: Bearer abc.def.ghi"


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """Everything the program logs at DEBUG, as it is written."""
    stream, root, before = io.StringIO(), logging.getLogger(), logging.getLogger().level
    handlers = list(root.handlers)
    configure_logging(level="DEBUG", stream=stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(before)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def spilled(where: str) -> list[str]:
    return [secret for secret in [*SECRETS[:3], "hunter2", "abc.def.ghi"] if secret in where]


SHAPED = f'{{"error":{{"message":"{LEAK}","type":"auth","code":"invalid_api_key"}}}}'


@pytest.mark.parametrize(
    "reply", [fault(400, body=LEAK), fault(401, body=SHAPED), fault(500, body=LEAK), stream_error(message=LEAK)], ids=["400", "401", "500", "in the stream"]
)
async def test_a_models_error_that_holds_secrets_shows_them_to_nobody(valkey: Valkey, log_lines: io.StringIO, reply: Any) -> None:
    """G7: in neither Slack nor the logs; the person reads what they can do."""
    model = ScriptedModel(lambda _: reply)
    async with running(valkey, model, model_backoff=0.0) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hello")
        await model.until(lambda: model.count >= (1 if reply.status == 401 else 3))
        if reply.status in {400, 401}:
            await stack.thread("#general", ts, own=1)
            assert "language model" in texts(stack.own("#general", ts))[0]
        await rest(stack)
        sent = str([call["args"] for call in stack.slack.calls()])

    assert "model_failed" in log_lines.getvalue()
    assert spilled(log_lines.getvalue()) == []
    assert spilled(sent) == []


async def test_a_tools_error_that_holds_secrets_shows_them_to_nobody(valkey: Valkey, log_lines: io.StringIO) -> None:
    """G7's neighbour: a tool raises with a connection string in its text; its traceback is logged without it, and the model does not read it either."""
    rooms = Rooms()
    rooms.fails = ConnectionError(LEAK)
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("It broke.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "It broke." in texts(stack.own("#general", ts)))
        await rest(stack)
        sent = str([call["args"] for call in stack.slack.calls()])

    assert "tool.crashed" in log_lines.getvalue()
    assert spilled(log_lines.getvalue()) == []
    assert spilled(sent) == []
    assert spilled(str(model.requests)) == []


async def test_no_message_text_is_logged_at_info(valkey: Valkey, log_lines: io.StringIO) -> None:
    """G7's neighbour: what people and the model write is in no line, whichever way it went."""
    configure_logging(level="INFO", stream=log_lines)
    model = ScriptedModel([calls(("book_room", {"room": "Zebrazimmer"})), text("Die Antwort lautet Quittenmus.")])
    async with running(valkey, model, registry=Rooms().registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward Geheimwort 暗号在此")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:deny")
        await stack.until(lambda: any("Quittenmus" in said for said in texts(stack.own("#general", ts))))
        await rest(stack)

    lines = log_lines.getvalue()
    assert '"event": "event"' in lines or '"event":"event"' in lines
    assert [word for word in ("Geheimwort", "暗号", "Zebrazimmer", "Quittenmus") if word in lines] == []


# --- G10 ----------------------------------------------------------------------------------------------------------------------


STOPS = [("channel", word) for word in ("stop", "@steward stop", "Stop!", "停止", "@steward 停", "the button")] + [("dm", word) for word in ("stop", "停下。")]


@pytest.mark.parametrize(("place", "word"), STOPS)
async def test_stop_ends_the_run_and_gives_up_the_model_call(valkey: Valkey, transport: str, place: str, word: str) -> None:
    """G10: the model's request is cut off, one line says so, the status is gone, and the answer that was under way never appears."""
    model = ScriptedModel([held(asyncio.Event(), text("too late"))])
    async with over(transport, valkey, model) as stack:
        room = stack.slack.dm("alice") if place == "dm" else "#general"
        ts = await stack.slack.say("alice", room, "write a long story" if place == "dm" else "@steward write a long story")
        await model.until(lambda: model.count == 1)
        thread = None if place == "dm" else ts
        if word == "the button":
            await stack.slack.stop_session("alice", room, ts)
        else:
            await stack.slack.say("alice", room, word, thread)

        await model.until(lambda: model.disconnects == 1)
        await stack.until(lambda: stack.own(room, thread))
        await rest(stack)
        said = texts(stack.own(room, thread))
        assert len(said) == 1
        assert "topped" in said[0] or "停" in said[0]
        assert stack.slack.status(room, ts) == ""
        model.assert_consumed()


@pytest.mark.parametrize("words", ["stop the deploy", "please stop", "停止部署", "don't stop"])
async def test_a_sentence_with_stop_in_it_is_an_ordinary_message(valkey: Valkey, words: str) -> None:
    """G10: only the exact word stops; a sentence is answered."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("story")), text("which deploy?")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward write a story")
        await model.until(lambda: model.count == 1)
        await stack.slack.say("alice", "#general", words, ts)
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["story", "which deploy?"]
        assert heard(model.requests[1])[-1] == f"[alice] {words}"
        assert model.disconnects == 0
        model.assert_consumed()


async def test_stop_cancels_every_open_card_and_what_waits_behind_it(valkey: Valkey) -> None:
    """G10: two open cards of one person, one of another, nothing runs afterwards; clicks are answered; the next request works."""
    rooms = Rooms()
    both = calls(("book_room", {"room": "Oak"}), ("book_room", {"room": "Elm"}))
    model = ScriptedModel([both, calls(("free_room", {"room": "Ash"})), text("Hello again.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book two")
        await card(stack, "#general", ts, count=2)
        await stack.slack.say("bruno", "#general", "@steward free Ash", ts)
        await card(stack, "#general", ts, count=3)
        stamps = [m["ts"] for m in cards(stack, "#general", ts)]

        await stack.slack.say("alice", "#general", "stop", ts)
        await stack.until(lambda: not cards(stack, "#general", ts))
        await rest(stack)
        for stamp in stamps:
            assert "It was not carried out" in shown(stack.slack.message("#general", stamp) or {})
        assert (await stack.slack.click("alice", "#general", stamps[0], "steward:approve"))["ok"]
        assert (await stack.slack.click("bruno", "#general", stamps[2], "steward:approve"))["ok"]
        await stack.until(lambda: stack.slack.ephemerals("alice") and stack.slack.ephemerals("bruno"))
        await rest(stack)
        assert rooms.booked == []

        await stack.slack.say("alice", "#general", "@steward hello", ts)
        await stack.until(lambda: "Hello again." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert {r["success"] for r in results(model.requests[-1])} == {False}
        model.assert_consumed()


async def test_stop_while_an_approved_write_runs_says_that_its_outcome_is_not_known(valkey: Valkey) -> None:
    """G10's neighbour: the write was started and does not end in its moment of grace: nobody claims that it was, or was not, done."""
    rooms = Rooms()
    rooms.hold = asyncio.Event()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"}))])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Running" in shown(stack.slack.message("#general", asked["ts"]) or {}))
        await stack.slack.say("alice", "#general", "停止", ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert "Outcome unknown" in shown(stack.slack.message("#general", asked["ts"]) or {})
        assert rooms.booked == []
        model.assert_consumed()


async def test_stop_with_nothing_to_stop_is_answered_privately_when_it_was_said_to_the_bot(valkey: Valkey) -> None:
    """G10's neighbour: "@bot stop" gets a private line; a bare "stop" among people, or the button, gets none."""
    model = ScriptedModel([text("hello")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await rest(stack)
        await stack.slack.say("bruno", "#general", "stop", ts)
        await stack.slack.stop_session("bruno", "#general", ts)
        await rest(stack)
        assert stack.slack.ephemerals("bruno") == []
        await stack.slack.say("bruno", "#general", "@steward stop", ts)
        await stack.until(lambda: stack.slack.ephemerals("bruno"))
        await rest(stack)

        assert len(stack.own("#general", ts)) == 1
        assert len(stack.slack.ephemerals(BRUNO)) == 1
        model.assert_consumed()


async def test_another_companys_person_cannot_stop_our_run(valkey: Valkey) -> None:
    """G10's neighbour: in a shared channel an outsider's "stop" is no command."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("story"))])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#partners", "@steward write a story")
        await model.until(lambda: model.count == 1)
        await stack.slack.say("erik", "#partners", "stop", ts)
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()
        await stack.until(lambda: "story" in texts(stack.own("#partners", ts)))
        await rest(stack)

        assert texts(stack.own("#partners", ts)) == ["story"]
        model.assert_consumed()
