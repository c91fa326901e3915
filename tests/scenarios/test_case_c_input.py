"""Reported faults C1 to C3 and C6 to C8: files, broadcasts, mentions in code, edits, kinds of rooms, escaped text."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, echo_policy, held, text
from tests.fakes.stack import Stack, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BOT, Rooms, card, cards, deliver, heard, over, rest, results, written

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


# --- C1: a file is input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["dm", "channel", "thread"])
@pytest.mark.parametrize("subtype", [True, False])
async def test_an_image_without_words_is_answered(valkey: Valkey, place: str, subtype: bool) -> None:
    """C1: `file_share` with empty text, or `files[]` without a subtype: in a direct message, with a bare mention, in a followed thread."""
    model = ScriptedModel([*([text("hello")] if place == "thread" else []), text("A picture.")])
    async with running(valkey, model) as stack:
        channel, thread_ts, words = (stack.slack.dm("alice"), None, "") if place == "dm" else ("#general", None, BOT)
        if place == "thread":
            thread_ts = await stack.slack.say("alice", "#general", "@steward hi")
            await stack.thread("#general", thread_ts, own=1)
            await rest(stack)
            words = ""
        file_id = await stack.slack.upload("alice", "图片.png", PNG)
        if subtype:
            ts = await stack.slack.say("alice", channel, words, thread_ts, file_ids=[file_id], **({"raw": True} if words else {}))
        else:
            shape = stack.slack.core.files.shape(stack.slack.core.files.files[file_id], stack.slack.url)
            ts = await stack.slack.say("alice", channel, words, thread_ts, files=[shape])
        place_ts = {"dm": None, "channel": ts, "thread": thread_ts}[place]
        await stack.until(lambda: any("A picture." in said for said in texts(stack.own(channel, place_ts))))
        await rest(stack)

        assert heard(model.requests[-1])[-1] == f"[alice] \n(attached file: 图片.png (image/png, {len(PNG)} bytes))"
        model.assert_consumed()


async def test_a_file_of_which_slack_connect_tells_only_the_id_is_answered_too(valkey: Valkey) -> None:
    """C1's neighbour: `file_access: check_file_info` brings nothing but an id."""
    model = ScriptedModel([text("Got it.")])
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice")
        await stack.slack.say("alice", room, "", files=[{"id": "F0AAA", "file_access": "check_file_info"}])
        await stack.until(lambda: stack.own(room))
        await rest(stack)

        assert heard(model.requests[0]) == ["[alice] \n(attached file: F0AAA (unknown type, 0 bytes))"]
        model.assert_consumed()


# --- C2: broadcasts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["@steward #m1", "#m1"])
async def test_a_reply_also_sent_to_the_channel_gives_one_reply(valkey: Valkey, transport: str, words: str) -> None:
    """C2: `thread_broadcast` and its copy in the channel are one message."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        reply = await stack.slack.say("alice", "#general", words, ts, broadcast=True)
        await stack.thread("#general", ts, own=2)
        message = stack.slack.message("#general", reply)
        assert message is not None
        assert (await deliver(stack.slack, "#general", message)).ok
        await rest(stack)

        assert texts(stack.own("#general", ts))[1:] == ["#m1"]
        assert stack.own("#general") == []  # nothing at the top of the channel
        assert model.count == 2


# --- C3: mentions that are none -----------------------------------------------------------------------------------------------

USER: Json = {"type": "user", "user_id": "U01STEWARD"}


def rich(*elements: Json) -> list[Json]:
    return [{"type": "rich_text", "block_id": "b1", "elements": list(elements)}]


def part(kind: str, *inside: Json) -> Json:
    return {"type": f"rich_text_{kind}", "elements": list(inside)}


SILENT = {
    "code": (f"use `{BOT}` to call it", rich(part("section", {"type": "text", "text": "use "}, {**USER, "style": {"code": True}}))),
    "preformatted": (f"```{BOT} hi```", rich(part("preformatted", USER, {"type": "text", "text": " hi"}))),
    "quote": (f"&gt; {BOT} hi\n真的吗？", rich(part("quote", USER, {"type": "text", "text": " hi"}), part("section", {"type": "text", "text": "真的吗？"}))),
}


@pytest.mark.parametrize("where", list(SILENT))
@pytest.mark.parametrize("with_blocks", [True, False])
async def test_a_mention_in_code_or_in_a_quote_is_not_a_request(valkey: Valkey, where: str, with_blocks: bool) -> None:
    """C3: `rich_text` says so; without blocks the text's own marks do. Slack sends `app_mention` all the same."""
    words, blocks = SILENT[where]
    model = ScriptedModel()
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", words, **({"blocks": blocks} if with_blocks else {"raw": True}))
        await rest(stack)

        assert {d["type"] for d in stack.slack.deliveries()} == {"app_mention", "message"}
        assert stack.own("#general", ts) == []
        assert valkey.command("DBSIZE") == 0
        assert model.count == 0


@pytest.mark.parametrize("where", list(SILENT))
async def test_a_real_mention_beside_one_in_code_or_in_a_quote_is_answered(valkey: Valkey, where: str) -> None:
    """C3: the mention that counts stands beside the one that does not."""
    words, blocks = SILENT[where]
    model = ScriptedModel([text("Like this.")])
    async with running(valkey, model) as stack:
        beside = part("section", USER, {"type": "text", "text": " what is that?"})
        ts = await stack.slack.say("alice", "#general", f"{words}\n{BOT} what is that?", blocks=[{**blocks[0], "elements": [*blocks[0]["elements"], beside]}])
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["Like this."]
        model.assert_consumed()


# --- C6: edits ------------------------------------------------------------------------------------------------------------------


async def changed(stack: Stack, channel: str, ts: str, **fields: Any) -> None:
    """Slack changes a message without a person's doing (an unfurl, for example)."""
    room = stack.slack.core.world.find_channel(channel)
    assert room is not None
    stack.slack.core.world.change(room, ts, fields, actor="USLACKBOT")


async def test_an_unfurl_changes_nothing(valkey: Valkey) -> None:
    """C6: `message_changed` with the same text, while the model works and after the answer."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("hello"))])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward see https://example.com/a")
        await model.until(lambda: model.count == 1)
        await changed(stack, "#general", ts, attachments=[{"title": "Example", "from_url": "https://example.com/a"}])
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()
        await stack.thread("#general", ts, own=1)
        await changed(stack, "#general", ts, attachments=[])
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["hello"]
        assert model.disconnects == 0
        model.assert_consumed()


@pytest.mark.parametrize(("before", "after"), [("deploy staging", "deploy prod"), ("部署到测试环境", "部署到生产环境")])
@pytest.mark.parametrize("place", ["channel", "dm"])
async def test_a_real_edit_while_running_corrects_the_running_turn(valkey: Valkey, place: str, before: str, after: str) -> None:
    """C6: the model is asked again with the corrected words; there is one reply and no second run."""
    model = ScriptedModel([held(asyncio.Event(), text("staging")), text("prod")])
    async with running(valkey, model) as stack:
        channel, mention = (stack.slack.dm("alice"), "") if place == "dm" else ("#general", "@steward ")
        ts = await stack.slack.say("alice", channel, mention + before)
        await model.until(lambda: model.count == 1)
        await stack.slack.edit("alice", channel, ts, mention + after)
        root = None if place == "dm" else ts
        await stack.until(lambda: stack.own(channel, root))
        await rest(stack)

        assert texts(stack.own(channel, root)) == ["prod"]
        assert heard(model.requests[1]) == [f"[alice] {after}"]
        assert model.disconnects == 1
        model.assert_consumed()


async def test_an_edit_of_the_first_of_two_messages_corrects_the_running_turn_too(valkey: Valkey) -> None:
    """C6's neighbour: the turn answers two messages of a burst, and the earlier one is corrected."""
    model = ScriptedModel([held(asyncio.Event(), text("staging")), text("prod")])
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice")
        old = stack.bots[0]
        await old.worker.stop()
        first = await stack.slack.say("alice", room, "deploy staging")
        await stack.slack.say("alice", room, "and be quick")
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        await stack.bot()
        await model.until(lambda: model.count == 1)
        await stack.slack.edit("alice", room, first, "deploy prod")
        await stack.until(lambda: stack.own(room))
        await rest(stack)

        assert texts(stack.own(room)) == ["prod"]
        assert heard(model.requests[1]) == ["[alice] deploy prod", "[alice] and be quick"]
        model.assert_consumed()


async def test_an_edit_after_the_answer_starts_nothing_but_is_known_later(valkey: Valkey) -> None:
    """C6's neighbour: the run is over; the next one reads the corrected words."""
    model = ScriptedModel([text("one"), text("two")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward my room is Oak")
        await stack.thread("#general", ts, own=1)
        await stack.slack.edit("alice", "#general", ts, "@steward my room is Elm")
        await rest(stack)
        assert model.count == 1

        await stack.slack.say("alice", "#general", "which room?", ts)
        await stack.thread("#general", ts, own=2)
        await rest(stack)

        assert heard(model.requests[1]) == ["[alice] my room is Elm", "[alice] which room?"]
        model.assert_consumed()


async def test_an_edit_that_adds_the_mention_is_a_request(valkey: Valkey) -> None:
    """C6's neighbour: the mention was forgotten and is put in afterwards; Slack sends `app_mention` with the old `ts`."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "what is up? #m1")
        await rest(stack)
        assert model.count == 0
        await stack.slack.edit("alice", "#general", ts, "@steward what is up? #m1")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["#m1"]
        assert model.count == 1


async def test_an_edit_while_a_card_waits_closes_the_card_and_the_corrected_words_count(valkey: Valkey) -> None:
    """C6's neighbour: the words are corrected above an open card; what was to be approved followed from words that no longer stand."""
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), calls(("book_room", {"room": "Elm"})), text("Elm is booked.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        await stack.slack.edit("alice", "#general", ts, "@steward book Elm")
        await stack.until(lambda: [m["ts"] for m in cards(stack, "#general", ts)] not in ([], [asked["ts"]]))
        await rest(stack)
        (again,) = cards(stack, "#general", ts)
        assert "Elm" in shown(again)
        assert heard(model.requests[1]) == ["[alice] book Elm"]

        await stack.slack.click("alice", "#general", again["ts"], "steward:approve")
        await stack.thread("#general", ts, own=3)
        await rest(stack)

        assert rooms.names == ["Elm"]
        model.assert_consumed()


# --- C7 and C8 --------------------------------------------------------------------------------------------------------------------


async def test_a_private_channel_is_like_a_channel(valkey: Valkey, transport: str) -> None:
    """C7: `channel_type: group`: a mention is answered in its thread, an unmentioned line is not."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        stack.slack.delivery(order="message_first", gap_ms=200)  # only the `message` event tells the kind of room
        await stack.slack.say("mei", "#leads", "#m0 只是聊聊")
        ts = await stack.slack.say("mei", "#leads", "@steward #m1")
        await stack.thread("#leads", ts, own=1)
        await stack.slack.say("alice", "#leads", "#m2", ts)
        await stack.thread("#leads", ts, own=2)
        await rest(stack)

        assert texts(stack.own("#leads", ts)) == ["#m1", "#m2"]
        assert stack.own("#leads") == []
        assert "a private channel" in model.requests[0]["messages"][0]["content"]


async def test_a_group_conversation_is_a_shared_room_and_needs_a_mention(valkey: Valkey, transport: str) -> None:
    """C7: `mpim`: Slack sends no `app_mention` there; the message's own mention counts, and without one the bot is silent."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        room = await stack.slack.open_dm("alice", "bruno", "steward")
        quiet = await stack.slack.say("bruno", room, "#m0 between us")
        await rest(stack)
        assert model.count == 0
        assert stack.own(room) == []
        assert stack.own(room, quiet) == []

        ts = await stack.slack.say("alice", room, "@steward #m1")
        await stack.thread(room, ts, own=1)
        await rest(stack)

        assert texts(stack.own(room, ts)) == ["#m1"]
        assert "a group conversation" in model.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize("words", ["<b> & c", "5 < 6 && 7 > 6", "&lt; stays &lt;", "价格 <100 & >50"])
async def test_the_model_reads_what_the_person_typed(valkey: Valkey, words: str) -> None:
    """C8: Slack's three escapes are undone exactly once, and the answer is shown as written."""
    model = ScriptedModel([text(words)])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", f"@steward {words}")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert heard(model.requests[0]) == [f"[alice] {words}"]
        model.assert_consumed()


async def test_a_tool_gets_unescaped_arguments_and_the_card_shows_them_as_they_are(valkey: Valkey) -> None:
    """C8's neighbour: nothing is escaped on the way to the tool, and the card reads like the value."""
    rooms, note = Rooms(), "<b> & 'c' *not bold* <!channel> <@U01MEI0000>"
    model = ScriptedModel([calls(("book_room", {"room": "Oak", "note": note})), text("Done.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        asked = await card(stack, "#general", ts)
        assert note in shown(asked)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "Done." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert [entry["note"] for entry in rooms.booked] == [note]
        assert results(model.requests[1])[0]["success"] is True


async def test_a_message_that_was_not_told_of_is_no_trouble_when_its_edit_arrives(valkey: Valkey) -> None:
    """C6's neighbour: an edit of a message in a thread the bot has no part in leaves no trace."""
    model = ScriptedModel()
    async with running(valkey, model) as stack:
        message = written(stack.slack, ALICE, "#general", "hello")
        await stack.slack.edit("alice", "#general", message["ts"], "hello you")
        await rest(stack)

        assert valkey.command("DBSIZE") == 0
