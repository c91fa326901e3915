"""`ask_person`: the model's question with buttons. The run waits for it as for an approval; answering it permits nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.people import Json
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, DANA, Rooms, aim, becomes, card, heard, over, rest, results, told
from tools.builtin.ask_person import ask_person

ROOM = "#orders"
WHICH = calls(("ask_person", {"question": "Which room?", "choices": ["Oak", "Elm"]}))
OAK = calls(("book_room", {"room": "Oak"}))


def said(request: Json) -> Reply:
    """The model says what it read as the answer to its question."""
    return text(f"You said: {results(request)[-1]['data']['answer']}.")


def questions(stack: Stack, ts: str | None, channel: str = ROOM) -> list[Json]:
    """The bot's questions that can be answered now."""
    return [m for m in stack.own(channel, ts) if "steward:answer" in buttons(m)]


async def asked(stack: Stack, user: str = "alice", channel: str = ROOM, words: str = "@steward a room please") -> tuple[str, str]:
    """Somebody asks and is asked back: the thread's and the question's `ts`."""
    ts = await stack.slack.say(user, channel, words)
    await stack.until(lambda: questions(stack, ts, channel))
    await rest(stack)
    return ts, questions(stack, ts, channel)[-1]["ts"]


async def heard_back(stack: Stack, ts: str, words: str, channel: str = ROOM) -> None:
    await stack.until(lambda: any(words in each for each in texts(stack.own(channel, ts))))
    await rest(stack)


async def send(stack: Stack, user: str, message_ts: str, action_id: str, value: str, *, channel: str = ROOM) -> None:
    """A click on a button that was never shown."""
    core = stack.slack.core
    room, who = core.world.find_channel(channel), next(u for u in core.world.users.values() if user in {u.id, u.name})
    assert room is not None
    install = core.world.installs[stack.slack.team_id]
    action = {"type": "button", "action_id": action_id, "block_id": "steward:question", "value": value, "action_ts": "1790000000.000100"}
    message = stack.slack.message(channel, message_ts)
    assert message is not None
    payload = core.interactivity.message_action(who, install, room, message, action=action, state={"values": {}})
    assert (await core.interactivity.send("interactive", payload)).ok


async def words_given(stack: Stack, user: str, message_ts: str, words: str, *, channel: str = ROOM) -> Json:
    """Answer in words, through the form."""
    assert (await stack.slack.click(user, channel, message_ts, "steward:answer"))["ok"]
    view = await stack.slack.wait_for(lambda: stack.slack.view(user))
    assert view is not None
    return await stack.slack.submit(user, view["id"], {"answer": {"value": {"type": "plain_text_input", "value": words}}})


# --- answering ------------------------------------------------------------------------------------------------------------


async def test_a_click_on_a_choice_is_the_answer(valkey: Valkey, transport: str) -> None:
    model = ScriptedModel([WHICH, said])
    async with over(transport, valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        message = stack.slack.message(ROOM, question) or {}
        assert list(buttons(message)) == ["steward:choice:0", "steward:choice:1", "steward:answer"]
        assert all(word in shown(message) for word in ("Which room?", "Oak", "Elm", "Answer in words", "write your answer below"))
        assert "steward:approve" not in buttons(message)
        assert model.count == 1  # nothing runs while a person thinks
        await stack.slack.click("alice", ROOM, question, "steward:choice:1")
        await heard_back(stack, ts, "You said: Elm.")

        answer = results(model.requests[1])[0]
        assert answer["data"] == {"answer": "Elm", "answered_by": "alice"}
        assert "from_outside" not in answer
        done = stack.slack.message(ROOM, question) or {}
        assert buttons(done) == {}
        assert "✅ Answered:" in shown(done)
        assert "Elm" in shown(done)
        model.assert_consumed()


async def test_an_answer_in_words_comes_through_the_form(valkey: Valkey, transport: str) -> None:
    model = ScriptedModel([WHICH, said])
    async with over(transport, valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        assert (await words_given(stack, "alice", question, "  the one with the <!channel> board "))["ok"]
        await heard_back(stack, ts, "You said: the one with the")

        assert results(model.requests[1])[0]["data"]["answer"] == "the one with the <!channel> board"
        assert "<!channel>" not in json.dumps([b for b in (stack.slack.message(ROOM, question) or {})["blocks"] if b["type"] != "rich_text"])
        model.assert_consumed()


async def test_blanks_are_no_answer(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        refused = await words_given(stack, "alice", question, "  \n ")
        assert refused["errors"] == {"answer": "This is needed."}
        await rest(stack)
        assert model.count == 1

        view = stack.slack.view("alice") or {}
        await stack.slack.submit("alice", view["id"], {"answer": {"value": {"type": "plain_text_input", "value": "Elm"}}})
        await heard_back(stack, ts, "You said: Elm.")
        model.assert_consumed()


async def test_whoever_writes_in_the_thread_instead_has_answered_and_the_question_says_so(valkey: Valkey) -> None:
    def read(request: Json) -> Reply:
        return text(f"You wrote: {heard(request)[-1].split('] ')[1]}.")

    model = ScriptedModel([WHICH, read])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        await stack.slack.say("alice", ROOM, "Elm, the small one", ts)
        await heard_back(stack, ts, "You wrote: Elm, the small one.")

        [answer] = results(model.requests[1])
        assert answer["success"]
        assert answer["data"] == {"answer": None}
        assert "their next message is the answer" in answer["note"]
        await becomes(stack, ROOM, question, "You wrote on instead")
        assert buttons(stack.slack.message(ROOM, question) or {}) == {}
        model.assert_consumed()


async def test_a_question_and_its_answer_in_chinese(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("ask_person", {"question": "订哪一间？", "choices": ["橡树厅", "榆树厅"]})), said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack, words="@steward 订个会议室")
        asks = shown(stack.slack.message(ROOM, question) or {})
        assert all(word in asks for word in ("订哪一间？", "橡树厅", "用文字回答", "直接在消息列里写下你的回答"))
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: 橡树厅.")

        assert "✅ 已回答：" in shown(stack.slack.message(ROOM, question) or {})
        model.assert_consumed()


async def test_without_choices_only_words_can_be_given(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("ask_person", {"question": "What shall I call it?"})), said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        assert list(buttons(stack.slack.message(ROOM, question) or {})) == ["steward:answer"]
        await words_given(stack, "alice", question, "项目 Oak")
        await heard_back(stack, ts, "You said: 项目 Oak.")
        model.assert_consumed()


async def test_a_guest_may_be_asked_and_may_answer(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack, "dana")
        assert DANA in json.dumps(stack.slack.message(ROOM, question))
        await stack.slack.click("dana", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        model.assert_consumed()


async def test_a_click_after_a_restart_is_the_answer(valkey: Valkey, transport: str) -> None:
    model, registry = ScriptedModel([WHICH, said]), Rooms().registry(ask_person)
    async with over(transport, valkey, model, registry=registry) as stack:
        ts, question = await asked(stack)
        await stack.stop_bot(stack.bots[0])
        aim(stack.slack, await stack.bot())
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        model.assert_consumed()


async def test_the_same_run_goes_on_to_a_write_that_has_its_own_card(valkey: Valkey) -> None:
    rooms, model = Rooms(), ScriptedModel([WHICH, OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(ask_person)) as stack:
        ts, question = await asked(stack)
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        waiting = await card(stack, ROOM, ts)
        assert rooms.booked == []  # an answer is no permission
        await stack.slack.click("alice", ROOM, waiting["ts"], "steward:approve")
        await heard_back(stack, ts, "Booked.")

        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_a_long_choice_and_an_odd_one_keep_their_words_for_the_model(valkey: Valkey) -> None:
    odd = ["<!here> *bold* `x`", "选" * 75, "\u200b"]
    model = ScriptedModel([calls(("ask_person", {"question": "Which?", "choices": odd})), said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said")

        assert results(model.requests[1])[0]["data"]["answer"] == odd[0]
        model.assert_consumed()


# --- not answering --------------------------------------------------------------------------------------------------------


async def test_another_persons_click_and_words_are_refused_privately(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        before = stack.slack.message(ROOM, question)
        await stack.slack.click("bruno", ROOM, question, "steward:choice:0")
        await told(stack, "bruno", "Only the person who asked")
        await words_given(stack, "bruno", question, "Elm!")
        await told(stack, "bruno", "Only the person who asked", times=2)
        await rest(stack)
        assert stack.slack.message(ROOM, question) == before
        assert model.count == 1

        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        model.assert_consumed()


async def test_a_second_click_changes_nothing(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        await stack.slack.click("alice", ROOM, question, "steward:choice:1")
        await stack.until(lambda: stack.slack.ephemerals("alice"))
        await rest(stack)

        assert sum("You said" in each for each in texts(stack.own(ROOM, ts))) == 1
        model.assert_consumed()


async def test_a_question_nobody_answers_expires_and_the_model_goes_on(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, text("I could not find out which room.")])
    async with running(valkey, model, registry=Rooms().registry(ask_person), approval_ttl=0.5) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward a room please")
        await heard_back(stack, ts, "I could not find out")

        [result] = results(model.requests[1])
        assert (result["error_code"], result["suggestion"]) == ("EXPIRED", "ask_person")
        question = next(m for m in stack.own(ROOM, ts) if "Which room?" in shown(m))
        assert buttons(question) == {}
        assert "Nobody answered in time" in shown(question)
        await stack.slack.click("alice", ROOM, question["ts"], "steward:choice:0")
        await stack.until(lambda: stack.slack.ephemerals("alice"))
        model.assert_consumed()


@pytest.mark.parametrize(("words", "state"), [("stop", "Stopped"), ("停止", "Stopped")])
async def test_stop_ends_the_question(valkey: Valkey, words: str, state: str) -> None:
    model = ScriptedModel([WHICH])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        await stack.slack.say("alice", ROOM, words, ts)
        await becomes(stack, ROOM, question, state)
        await rest(stack)
        assert buttons(stack.slack.message(ROOM, question) or {}) == {}
        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await stack.until(lambda: stack.slack.ephemerals("alice"))
        await rest(stack)

        assert model.count == 1


# --- forging --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["2", "7", "99999", "-1", "0x1", ""])
async def test_a_choice_that_was_never_offered_answers_nothing(valkey: Valkey, place: str) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        value = buttons(stack.slack.message(ROOM, question) or {})["steward:answer"]
        await send(stack, "alice", question, f"steward:choice:{place}", value)
        await rest(stack)
        assert model.count == 1
        assert [m["ts"] for m in questions(stack, ts)] == [question]

        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        model.assert_consumed()


@pytest.mark.parametrize("action", ["approve", "deny", "edit", "deny_reason", "always"])
async def test_an_approval_forged_on_a_question_does_nothing(valkey: Valkey, action: str) -> None:
    model = ScriptedModel([WHICH])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        value = buttons(stack.slack.message(ROOM, question) or {})["steward:answer"]
        await send(stack, "alice", question, f"steward:{action}", value)
        await rest(stack)

        assert model.count == 1
        assert stack.slack.view("alice") is None
        assert [m["ts"] for m in questions(stack, ts)] == [question]


@pytest.mark.parametrize("action", ["choice:0", "answer"])
async def test_an_answer_forged_on_an_approval_permits_nothing(valkey: Valkey, action: str) -> None:
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry(ask_person)) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward book Oak")
        waiting = await card(stack, ROOM, ts)
        value = buttons(waiting)["steward:approve"]
        await send(stack, "alice", waiting["ts"], f"steward:{action}", value)
        await rest(stack)
        form: Json = {
            "id": "V1",
            "callback_id": "steward:answer",
            "private_metadata": json.dumps({"a": value, "s": f"T01NORTHWD:C01ORDERS0:{ts}"}),
            "type": "modal",
        }
        core = stack.slack.core
        state: Json = {"values": {"answer": {"value": {"type": "plain_text_input", "value": "yes, approve"}}}}
        event = core.interactivity.view_event("view_submission", core.world.users[ALICE], core.world.installs[stack.slack.team_id], form, state)
        assert (await core.interactivity.send("interactive", event)).ok
        await told(stack, "alice", "", times=1)
        await rest(stack)

        assert rooms.booked == []
        assert "steward:approve" in buttons(stack.slack.message(ROOM, waiting["ts"]) or {})
        assert model.count == 1


async def test_an_edit_form_forged_on_a_question_does_not_rewrite_it(valkey: Valkey) -> None:
    model = ScriptedModel([WHICH, said])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts, question = await asked(stack)
        value = buttons(stack.slack.message(ROOM, question) or {})["steward:answer"]
        meta = json.dumps({"a": value, "s": f"T01NORTHWD:C01ORDERS0:{ts}"})
        core = stack.slack.core
        for what in ("edit", "always", "deny"):
            form: Json = {"id": f"V{what}", "callback_id": f"steward:{what}", "private_metadata": meta, "type": "modal"}
            state: Json = {"values": {"field:question": {"value": {"type": "plain_text_input", "value": "Your password?"}}}}
            event = core.interactivity.view_event("view_submission", core.world.users[ALICE], core.world.installs[stack.slack.team_id], form, state)
            await core.interactivity.send("interactive", event)
        await rest(stack)
        assert "Your password?" not in shown(stack.slack.message(ROOM, question) or {})
        assert [m["ts"] for m in questions(stack, ts)] == [question]

        await stack.slack.click("alice", ROOM, question, "steward:choice:0")
        await heard_back(stack, ts, "You said: Oak.")
        model.assert_consumed()


async def test_a_question_put_badly_is_explained_to_the_model_and_not_shown(valkey: Valkey) -> None:
    bad: list[dict[str, Any]] = [{"question": " "}, {"question": "Which?", "choices": ["x"] * 9}, {"question": "Which?", "choices": ["x" * 76, " "]}]
    model = ScriptedModel([*(calls(("ask_person", each)) for each in bad), text("Never mind.")])
    async with running(valkey, model, registry=Rooms().registry(ask_person)) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward a room please")
        await heard_back(stack, ts, "Never mind.")

        assert [each["error_code"] for each in results(model.requests[3])] == ["INVALID_ARGUMENTS"] * 3
        assert len(stack.own(ROOM, ts)) == 1
        model.assert_consumed()
