"""`/steward context`, `/steward reset` and the message shortcut, end to end: who sees what is held about which thread, and who can clear it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from memory.handover import HandedOver
from memory.session_memory import Summary
from playground.people import Json
from playground.seed import ALICE, BRUNO, LEADS, ORDERS, PARTNERS
from tests.fakes.scripted_model import ScriptedModel, calls, hang, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.scripted_replies import Reply
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import Rooms, becomes, card, heard, over, rest
from tests.scenarios.long_kit import thread_of

FORGOTTEN = "I've forgotten this thread's conversation"


def listening(request: Json) -> Reply:
    """A model that books what it is told to book, and else says how many messages it was given."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return text("Booked." if json.loads(content_text(last)).get("success") else "Not booked.")
    if "book Oak" in content_text(last):
        return calls(("book_room", {"room": "Oak"}))
    return text("Noted.")


async def begun(stack: Stack, words: str, user: str = "alice", channel: str = "#orders") -> str:
    """Somebody asks something and has an answer: the thread's `ts`."""
    before = len(stack.own(channel)) if channel.startswith("D") else 0
    ts = await stack.slack.say(user, channel, words if channel.startswith("D") else f"@steward {words}")
    await stack.until(lambda: len(stack.own(channel, None if channel.startswith("D") else ts)) > before)
    await rest(stack)
    return ts


async def privately(stack: Stack, user: str, channel: str, words: str) -> Json:
    """The private answer to `/steward …`."""
    known = {m["ts"] for m in stack.slack.ephemerals(user)}
    outcome = await stack.slack.command(user, channel, "/steward", words)
    assert outcome["ok"], outcome
    return next(m for m in reversed(stack.slack.ephemerals(user)) if m["ts"] not in known)


def now(stack: Stack, user: str, message: Json) -> str:
    """What a private message shows by now."""
    return next(shown(m) for m in stack.slack.ephemerals(user) if m["ts"] == message["ts"])


def link(channel_id: str, ts: str, thread_ts: str = "") -> str:
    """A message's permalink, as Slack makes it."""
    return f"https://northwind.slack.com/archives/{channel_id}/p{ts.replace('.', '')}" + (f"?thread_ts={thread_ts}&cid={channel_id}" if thread_ts else "")


def options(message: Json) -> list[Json]:
    """What the menu of other threads offers."""
    return [option for block in message["blocks"] if "accessory" in block for option in block["accessory"]["options"]]


async def pressed(stack: Stack, user: str, channel: str, message: Json, button: str, **chosen: Any) -> None:
    assert (await stack.slack.click(user, channel, message["ts"], f"steward:memory:{button}", **chosen))["ok"]


# --- seeing ------------------------------------------------------------------------------------------------------------


async def test_a_direct_conversation_is_the_one_it_is_asked_in(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        room = stack.slack.dm("alice")
        await begun(stack, "where is parcel 4711?", channel=room)
        said = shown(await privately(stack, "alice", room, "context"))
        assert "What I hold about this thread" in said
        assert "parcel 4711" in said
        assert "which is all of them" in said
        assert "▓" in said


async def test_it_is_answered_in_the_language_it_was_asked_in(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        await begun(stack, "包裹 4711 在哪里？", user="mei")
        for words in ("上下文", "记忆", "context"):
            said = shown(await privately(stack, "mei", "#orders", words))
            assert "我记住的这个消息列" in said
            assert "包裹 4711" in said


async def test_in_a_channel_the_latest_thread_is_shown_and_the_others_are_offered(valkey: Valkey, transport: str) -> None:
    async with over(transport, valkey, ScriptedModel(listening)) as stack:
        for words in ("first thing", "second thing", "third thing"):
            await begun(stack, words)
        await begun(stack, "elsewhere", channel="#general")
        message = await privately(stack, "bruno", "#orders", "context")
        assert "third thing" in shown({"blocks": message["blocks"][:3]})
        labels = [option["text"]["text"] for option in options(message)]
        assert [label.partition(" · ")[0] for label in labels] == ["second thing", "first thing"]

        await pressed(stack, "bruno", "#orders", message, "pick", selected_option=options(message)[1])
        assert "first thing" in now(stack, "bruno", message)
        assert "What I hold" in now(stack, "bruno", message)


async def test_where_nothing_goes_on_that_is_said(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        assert "no thread of this channel" in shown(await privately(stack, "alice", "#orders", "context"))
        assert "I hold nothing" in shown(await privately(stack, "alice", stack.slack.dm("alice"), "reset"))
        ts = await stack.slack.say("alice", "#orders", "nothing to do with us")
        assert "I hold nothing" in shown(await privately(stack, "alice", "#orders", f"context {link(ORDERS, ts)}"))
        assert "not a link" in shown(await privately(stack, "alice", "#orders", "context yesterday"))


async def test_a_link_names_the_thread_here_and_in_another_channel(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "the thing in question")
        reply = stack.own("#orders", ts)[0]["ts"]
        await begun(stack, "something newer")
        for place in ("#orders", "#general", stack.slack.dm("bruno")):
            for address in (link(ORDERS, ts), link(ORDERS, reply, ts)):
                assert "the thing in question" in shown(await privately(stack, "bruno", place, f"context {address}"))


async def test_who_is_not_in_a_channel_sees_nothing_of_it_and_clears_nothing_there(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "the secret plan", channel=LEADS)
        for command in ("context", "reset"):
            said = shown(await privately(stack, "bruno", "#orders", f"{command} {link(LEADS, ts)}"))
            assert "I do not find you in that conversation" in said
            assert "secret" not in said
        assert "I do not find you" in shown(await privately(stack, "alice", "#orders", f"context {link('C0NOWHERE0', ts)}"))


async def test_a_forged_button_shows_and_clears_nothing(valkey: Valkey) -> None:
    """The value names a thread of a channel that the clicker is not in."""
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "the secret plan", channel=LEADS)
        await begun(stack, "one thing")
        await begun(stack, "another thing")
        stolen = f"en {stack.slack.team_id}:{LEADS}:{ts}"
        message = await privately(stack, "bruno", "#orders", "context")
        await pressed(stack, "bruno", "#orders", message, "pick", selected_option={"text": {"type": "plain_text", "text": "x"}, "value": stolen})
        await pressed(stack, "bruno", "#orders", message, "forget", value=stolen)
        await rest(stack)
        assert "another thing" in now(stack, "bruno", message)
        assert sum("I do not find you" in shown(m) for m in stack.slack.ephemerals("bruno")) == 2
        assert not any("secret" in shown(m) for m in stack.slack.ephemerals("bruno"))
        assert not any(FORGOTTEN in said for said in texts(stack.own(LEADS, ts)))


async def test_people_of_another_company_see_and_clear_nothing(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "between us", channel=PARTNERS)
        for command in ("context", "reset", f"reset {link(PARTNERS, ts)}"):
            said = shown(await privately(stack, "erik", PARTNERS, command))
            assert "I only work for people of this workspace" in said
            assert "between us" not in said
        assert (await stack.slack.shortcut("erik", "steward_context", PARTNERS, ts))["ok"]
        assert "I only work for people of this workspace" in shown(stack.slack.view("erik") or {})


async def test_a_guest_sees_what_is_held_and_cannot_clear_it(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "a question")
        message = await privately(stack, "dana", "#orders", "context")
        assert "a question" in shown(message)
        assert buttons(message) == {}
        assert "Guests" in shown(await privately(stack, "dana", "#orders", "reset"))
        await rest(stack)
        assert not any(FORGOTTEN in said for said in texts(stack.own("#orders", ts)))


async def test_when_slack_does_not_say_who_somebody_is_nothing_is_shown(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "a question")
        stack.slack.fault("conversations.members", "error", times=50, error="internal_error")
        said = shown(await privately(stack, "alice", "#general", f"context {link(ORDERS, ts)}"))
        assert "a question" not in said
        assert "Slack did not tell me" in said


async def test_the_shortcut_opens_what_is_held_about_a_messages_thread(valkey: Valkey, transport: str) -> None:
    async with over(transport, valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "the thing in question")
        await begun(stack, "something newer")
        for message_ts in (ts, stack.own("#orders", ts)[0]["ts"]):  # its root, and an answer in it
            assert (await stack.slack.shortcut("bruno", "steward_context", "#orders", message_ts))["ok"]
            view = stack.slack.view("bruno") or {}
            assert "the thing in question" in shown(view)
            assert view["submit"]["text"] == "Forget…"
            await stack.slack.close_view("bruno", view["id"])


async def test_the_shortcut_in_a_direct_conversation_finds_it(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        room = stack.slack.dm("mei")
        ts = await begun(stack, "你好，包裹 4711 呢？", user="mei", channel=room)
        assert (await stack.slack.shortcut("mei", "steward_context", room, ts))["ok"]
        assert "包裹 4711" in shown(stack.slack.view("mei") or {})
        other = await stack.slack.say("mei", "#general", "not for us")
        assert (await stack.slack.shortcut("mei", "steward_context", "#general", other))["ok"]
        assert "我没有关于这个消息列的记忆" in shown(stack.slack.view("mei") or {})


# --- forgetting --------------------------------------------------------------------------------------------------------


async def test_after_a_reset_the_model_no_longer_receives_what_was_said(valkey: Valkey, transport: str) -> None:
    model = ScriptedModel(listening)
    async with over(transport, valkey, model) as stack:
        ts = await begun(stack, "my code word is marigold")
        message = await privately(stack, "alice", "#orders", "reset")
        assert "messages: 2" in shown(message)
        assert "marigold" in shown(message)
        await pressed(stack, "alice", "#orders", message, "forget")
        await stack.until(lambda: any(FORGOTTEN in said for said in texts(stack.own("#orders", ts))))
        await rest(stack)
        assert f"asked by <@{ALICE}>" in texts(stack.own("#orders", ts))[-1]
        assert now(stack, "alice", message).startswith("Done")

        read = len(stack.slack.calls("conversations.replies"))
        await stack.slack.say("bruno", "#orders", "@steward what was the code word?", ts)
        await stack.until(lambda: texts(stack.own("#orders", ts))[-1] == "Noted.")
        await rest(stack)
        asked = model.requests[-1]
        assert "marigold" not in json.dumps(asked)
        assert "cleared this thread's memory; nothing said before is known here." in json.dumps(asked)
        assert any("what was the code word?" in said for said in heard(asked))
        assert len(stack.slack.calls("conversations.replies")) == read, "the thread was read from Slack again"

        await stack.slack.say("bruno", "#orders", "and now without a mention", ts)  # still a thread of ours
        await stack.until(lambda: texts(stack.own("#orders", ts))[-2:] == ["Noted.", "Noted."])
        said = shown(await privately(stack, "alice", "#orders", f"context {link(ORDERS, ts)}"))
        assert "marigold" not in said


async def test_a_direct_conversation_is_forgotten_too(valkey: Valkey) -> None:
    model = ScriptedModel(listening)
    async with running(valkey, model) as stack:
        room = stack.slack.dm("mei")
        await begun(stack, "暗号是金盏花", user="mei", channel=room)
        message = await privately(stack, "mei", room, "清空")
        await pressed(stack, "mei", room, message, "forget")
        await stack.until(lambda: any("我已忘记" in said for said in texts(stack.own(room))))
        await rest(stack)
        await begun(stack, "暗号是什么？", user="mei", channel=room)
        assert "金盏花" not in json.dumps(model.requests[-1], ensure_ascii=False)


async def test_keeping_changes_nothing(valkey: Valkey) -> None:
    model = ScriptedModel(listening)
    async with running(valkey, model) as stack:
        ts = await begun(stack, "my code word is marigold")
        message = await privately(stack, "alice", "#orders", "reset")
        await pressed(stack, "alice", "#orders", message, "keep")
        assert now(stack, "alice", message) == "Kept. Nothing was changed."
        await stack.slack.say("alice", "#orders", "and?", ts)
        await stack.until(lambda: len(model.requests) == 2)
        assert "marigold" in json.dumps(model.requests[-1])


async def test_a_double_click_forgets_once(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "one thing")
        message = await privately(stack, "alice", "#orders", "reset")
        await asyncio.gather(*(pressed(stack, "alice", "#orders", message, "forget") for _ in range(3)))
        await rest(stack)
        assert sum(FORGOTTEN in said for said in texts(stack.own("#orders", ts))) == 1
        assert now(stack, "alice", message).startswith("Done")


async def test_a_card_that_waited_is_closed_and_cannot_be_approved_any_more(valkey: Valkey) -> None:
    rooms = Rooms()
    async with running(valkey, ScriptedModel(listening), registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#orders", "@steward book Oak")
        waiting = await card(stack, ORDERS, ts)
        message = await privately(stack, "bruno", "#orders", "context")
        await pressed(stack, "bruno", "#orders", message, "forget")  # the button under what is held
        assert "It was not carried out" in await becomes(stack, ORDERS, waiting["ts"], "Stopped")
        await stack.until(lambda: any(FORGOTTEN in said for said in texts(stack.own("#orders", ts))))
        assert f"asked by <@{BRUNO}>" in texts(stack.own("#orders", ts))[-1]
        await stack.slack.click("alice", ORDERS, waiting["ts"], "steward:approve")
        await rest(stack)
        assert rooms.names == []
        assert any("no longer valid" in shown(m) for m in stack.slack.ephemerals("alice"))


async def test_the_modal_asks_and_then_forgets(valkey: Valkey, transport: str) -> None:
    async with over(transport, valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "the thing in question")
        await stack.slack.shortcut("bruno", "steward_context", "#orders", ts)
        view = stack.slack.view("bruno") or {}
        asked = await stack.slack.submit("bruno", view["id"], {})
        assert "Forget this thread?" in shown(asked["view"])
        assert not any(FORGOTTEN in said for said in texts(stack.own("#orders", ts)))
        done = await stack.slack.submit("bruno", asked["view"]["id"], {})
        assert shown(done["view"]).startswith("Done")
        await stack.until(lambda: any(FORGOTTEN in said for said in texts(stack.own("#orders", ts))))


async def test_who_has_left_the_channel_meanwhile_clears_nothing(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "one thing")
        message = await privately(stack, "bruno", "#general", f"reset {link(ORDERS, ts)}")
        assert "one thing" in shown(message)
        del stack.slack.core.world.channels[ORDERS].members[BRUNO]
        await pressed(stack, "bruno", "#general", message, "forget")
        await rest(stack)
        assert any("I do not find you" in shown(m) for m in stack.slack.ephemerals("bruno"))
        assert not any(FORGOTTEN in said for said in texts(stack.own("#orders", ts)))


async def test_a_thread_that_is_gone_meanwhile_is_not_begun_by_clearing_it(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await begun(stack, "one thing")
        message = await privately(stack, "alice", "#orders", "reset")
        valkey.command("FLUSHALL")
        await pressed(stack, "alice", "#orders", message, "forget")
        assert now(stack, "alice", message) == "I hold nothing about this thread."
        await rest(stack)
        assert not any(FORGOTTEN in said for said in texts(stack.own("#orders", ts)))


async def expired(stack: Stack, valkey: Valkey, words: str) -> str:
    """A thread of which nothing is left but what was handed over."""
    ts = await begun(stack, words)
    thread = thread_of(stack, ORDERS, ts)
    handovers = stack.bots[0].handovers
    at = next(at for each, at in await handovers.idle(thread.shard, 4e9) if each == thread)
    assert await handovers.hand_over(thread, at, HandedOver(thread=thread, summary=Summary(goals=(words,)), last_active=at))
    for key in cast("list[bytes]", valkey.command("KEYS", f"*:{thread.id}")):
        valkey.command("DEL", key.decode())
    return ts


async def test_what_was_handed_over_of_a_thread_that_has_expired_can_be_forgotten(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await expired(stack, valkey, "the secret plan")
        kept = thread_of(stack, ORDERS, ts)
        assert "Guests" in shown(await privately(stack, "dana", "#orders", f"reset {link(ORDERS, ts)}"))
        assert "I hold nothing" in shown(await privately(stack, "alice", "#orders", f"context {link(ORDERS, ts)}"))
        message = await privately(stack, "alice", "#orders", f"reset {link(ORDERS, ts)}")
        assert "has expired" in shown(message)
        of_bruno = await privately(stack, "bruno", "#general", f"reset {link(ORDERS, ts)}")
        del stack.slack.core.world.channels[ORDERS].members[BRUNO]
        await pressed(stack, "bruno", "#general", of_bruno, "forget")
        await pressed(stack, "alice", "#orders", message, "keep")
        assert await stack.bots[0].handovers.of(kept) is not None

        message = await privately(stack, "alice", "#orders", f"reset {link(ORDERS, ts)}")
        await pressed(stack, "alice", "#orders", message, "forget")
        assert now(stack, "alice", message).startswith("Done")
        assert await stack.bots[0].handovers.of(kept) is None
        await rest(stack)
        assert not any(FORGOTTEN in said for said in texts(stack.own("#orders", ts))), "no session is begun by it"


async def test_the_shortcut_offers_to_forget_what_is_left_of_a_thread_that_has_expired(valkey: Valkey) -> None:
    async with running(valkey, ScriptedModel(listening)) as stack:
        ts = await expired(stack, valkey, "the secret plan")
        await stack.slack.shortcut("dana", "steward_context", "#orders", ts)
        assert "I hold nothing" in shown(stack.slack.view("dana") or {})
        await stack.slack.shortcut("bruno", "steward_context", "#orders", ts)
        view = stack.slack.view("bruno") or {}
        assert "has expired" in shown(view)
        done = await stack.slack.submit("bruno", view["id"], {})
        assert shown(done["view"]).startswith("Done")
        assert await stack.bots[0].handovers.of(thread_of(stack, ORDERS, ts)) is None


async def test_what_runs_when_the_memory_is_cleared_is_stopped_at_once(valkey: Valkey) -> None:
    """The model is still being asked: its answer would come from words that no longer stand."""
    model = ScriptedModel([text("Noted."), hang()])
    async with running(valkey, model) as stack:
        ts = await begun(stack, "one thing")
        await stack.slack.say("alice", "#orders", "and another", ts)
        await model.until(lambda: len(model.requests) == 2)
        message = await privately(stack, "alice", "#orders", f"reset {link(ORDERS, ts)}")
        await pressed(stack, "alice", "#orders", message, "forget")
        await stack.until(lambda: any(FORGOTTEN in said for said in texts(stack.own("#orders", ts))))
        await rest(stack)
        assert [said.partition(" (")[0] for said in texts(stack.own("#orders", ts))] == ["Noted.", f"{FORGOTTEN} up to here"]
