"""`/memory` end to end: people see, search, add, change and delete what is remembered about them, and nobody else's."""

from __future__ import annotations

import json

import pytest

from bot.memory_view_more import missing_footer, saved_footer, used_footer
from memory.keys import Thread
from memory.longterm.access import PRIVATE, WORKSPACE
from memory.longterm.memory import Kind
from memory.recall_trail import Used
from playground.people import Json
from playground.seed import ORDERS, TEAM_ID
from tests.fakes.memories import keep, memory
from tests.fakes.stack import shown
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import Desk, actor, desk, seen

ALICE, BRUNO, MEI = actor("alice"), actor("bruno"), actor("mei")


async def test_a_person_sees_their_own_memories_and_nobody_elses(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE, audience=PRIVATE), memory("I live in Berlin", BRUNO))
        said = shown(await d.asks("alice", ""))
        assert "What I remember about you" in said
        assert "allergic to peanuts" in said
        assert "only in direct messages" in said
        assert "Berlin" not in said
        assert "Berlin" in shown(await d.asks("bruno", ""))
        assert [m for m in d.stack.slack.messages("#orders") if "peanuts" in shown(m)] == []


async def test_a_chinese_speaker_is_answered_in_chinese_and_by_chinese_words(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("我对花生过敏", MEI, language="zh"), memory("我喜欢短回复", ALICE, language="zh"))
        assert "我记得的关于你的事" in shown(await d.asks("mei", ""))
        assert "花生" in shown(await d.asks("mei", "搜索花生"))
        assert "在你的记忆中找到" in shown(await d.asks("alice", "搜索 短回复"))
        assert "/memory 搜索" in shown(await d.asks("mei", "帮助"))


async def test_a_chosen_language_outdoes_words_and_locale(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        assert "中文" in shown(await d.asks("alice", "language 中文"))
        assert "我还没有关于你的记忆" in shown(await d.asks("alice", ""))
        await d.asks("alice", "language auto")
        assert "I remember nothing about you" in shown(await d.asks("alice", ""))


async def test_forgetting_from_the_list_deletes_and_draws_the_list_again(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        kept = memory("I am allergic to peanuts", ALICE)
        await keep(d.memories, kept, memory("I live in Lisbon", ALICE))
        message = await d.asks("alice", "")
        await d.press("alice", message, "forget", kept.id)
        said = await d.becomes("alice", message, "Forgotten")
        assert "peanuts" not in said
        assert "Lisbon" in said
        assert await d.knows("alice") == ["I live in Lisbon"]


async def test_a_click_under_another_persons_name_changes_nothing_of_the_owners(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        kept = memory("I am allergic to peanuts", ALICE)
        await keep(d.memories, kept, memory("I live in Berlin", BRUNO))
        message = await d.asks("bruno", "")
        value = json.dumps(["en", "mine", 0, kept.id, ""])
        for act in ("forget", "edit", "audience", "new", "undo"):
            body = forged(d, message, "bruno", act, value)
            await d.stack.slack.core.interactivity.send("interactive", body)
        await d.stack.quiet()
        assert await d.knows("alice") == ["I am allergic to peanuts"]
        assert "peanuts" not in seen(d.stack.slack.view("bruno"))
        assert all("peanuts" not in shown(m) for m in d.stack.slack.ephemerals("bruno"))


def forged(d: Desk, message: Json, user: str, act: str, value: str) -> Json:
    """A click with a value that no button of the person's carries."""
    core = d.stack.slack.core
    channel, who = core.world.channels[ORDERS], core.world.users[actor(user).user_id]
    action = {"type": "button", "action_id": f"steward:mem:{act}", "block_id": "x", "value": value}
    return core.interactivity.message_action(who, core.world.installs[TEAM_ID], channel, message, action=action, state={"values": {}})


async def test_a_memory_is_edited_in_a_form(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        kept = memory("I live in Lisbon", ALICE)
        await keep(d.memories, kept)
        message = await d.asks("alice", "")
        await d.press("alice", message, "edit", kept.id)
        view = await d.modal("alice", "I live in Lisbon")
        refused = await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "my password is hunter2!"}}})
        assert "passwords" in refused["errors"]["text"]
        assert (await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "   "}}}))["errors"]
        assert (await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "I live in Porto"}}}))["ok"]
        assert d.stack.slack.view("alice") is None
        await d.becomes("alice", message, "I live in Porto")
        assert await d.knows("alice") == ["I live in Porto"]


async def test_the_audience_is_changed_in_a_form(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        kept = memory("I live in Lisbon", ALICE, audience=WORKSPACE)
        await keep(d.memories, kept)
        message = await d.asks("alice", "")
        await d.press("alice", message, "audience", kept.id)
        view = await d.modal("alice", "Where I may use it")
        chosen = {"type": "radio_buttons", "selected_option": {"text": {"type": "plain_text", "text": "x"}, "value": "everywhere"}}
        assert (await d.stack.slack.submit("alice", view["id"], {"scope": {"scope": chosen}}))["errors"]
        chosen["selected_option"] = {"text": {"type": "plain_text", "text": "x"}, "value": "channel"}
        assert (await d.stack.slack.submit("alice", view["id"], {"scope": {"scope": chosen}}))["ok"]
        await d.becomes("alice", message, "in one channel")
        after = await d.memories.get(ALICE, kept.id)
        assert after is not None
        assert after.audience.tag == f"channel:{ORDERS}"


async def test_many_memories_are_paged(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, *(memory(f"fact number {n:02d}", ALICE, created=1_790_000_000.0 + n) for n in range(12)))
        message = await d.asks("alice", "")
        assert "fact number 11" in shown(message)
        await d.press("alice", message, "next")
        assert "fact number 04" in await d.becomes("alice", message, "page 2 of 3")
        later = next(m for m in d.stack.slack.ephemerals("alice") if m["ts"] == message["ts"])
        await d.press("alice", later, "previous")
        await d.becomes("alice", message, "page 1 of 3")


async def test_what_is_typed_is_kept_privately_and_confirmed(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        said = shown(await d.asks("alice", "add I am allergic to peanuts"))
        assert "Remembered" in said
        assert "peanuts" in said
        assert "only in direct messages" in said
        assert await d.knows("alice") == ["I am allergic to peanuts"]


async def test_a_secret_is_not_kept_and_the_person_is_told_why(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        assert "passwords, keys" in shown(await d.asks("alice", "add my password is Tr0ub4dor&3"))
        assert "密码" in shown(await d.asks("mei", "添加 我的密码是 Tr0ub4dor3"))
        assert await d.knows("alice") == await d.knows("mei") == []


async def test_forgetting_by_words_asks_which_and_forgets_on_a_click(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        one, two = memory("I am allergic to peanuts", ALICE), memory("peanuts are banned from my desk", ALICE)
        await keep(d.memories, one, two, memory("I live in Lisbon", ALICE))
        message = await d.asks("alice", "forget peanuts")
        assert "Which of these" in shown(message)
        assert "Lisbon" not in shown(message)
        assert len(await d.knows("alice")) == 3
        await d.press("alice", message, "forget", two.id)
        await d.becomes("alice", message, "Forgotten")
        by_id = await d.asks("alice", f"forget #{one.id[:8]}")
        assert "Forget this?" in shown(by_id)
        await d.press("alice", by_id, "keep")
        await d.becomes("alice", by_id, "Kept")
        assert sorted(await d.knows("alice")) == ["I am allergic to peanuts", "I live in Lisbon"]
        assert "no such memory" in shown(await d.asks("alice", "forget #00000000"))


@pytest.mark.parametrize(
    ("user", "words", "title", "typed"), [("alice", "forget all", "Forget everything?", "forget all"), ("mei", "忘记 全部", "全部忘记？", "全部忘记")]
)
async def test_forgetting_everything_wants_a_typed_word(valkey: Valkey, user: str, words: str, title: str, typed: str) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("one thing", actor(user)), memory("another thing", actor(user)), memory("not theirs", BRUNO))
        await d.asks(user, words)
        view = await d.modal(user, title)
        wrong = await d.stack.slack.submit(user, view["id"], {"word": {"word": {"type": "plain_text_input", "value": "yes"}}})
        assert typed in wrong["errors"]["word"]
        assert len(await d.knows(user)) == 2
        done = await d.stack.slack.submit(user, view["id"], {"word": {"word": {"type": "plain_text_input", "value": typed}}})
        assert "2" in seen(done["view"])
        assert await d.knows(user) == []
        assert await d.knows("bruno") == ["not theirs"]


async def test_an_export_comes_as_a_file_in_the_direct_conversation(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("我对花生过敏", MEI))
        assert "私信" in shown(await d.asks("mei", "导出"))
        sent = [m for m in d.stack.own(d.stack.slack.dm("mei")) if m.get("files")]
        assert len(sent) == 1
        content = d.stack.slack.core.files.files[sent[0]["files"][0]["id"]].content
        assert content is not None
        exported = json.loads(content)
        assert [each["text"] for each in exported["memories"]] == ["我对花生过敏"]
        assert exported["history"]


async def test_an_export_that_slack_refuses_is_said_to_have_failed(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        d.stack.slack.fault("files.completeUploadExternal", "error", error="file_not_found")
        assert "could not send" in shown(await d.asks("alice", "export"))


async def test_pause_and_resume(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("one thing", ALICE))
        assert "Paused" in shown(await d.asks("alice", "pause"))
        assert not (await d.memories.settings(ALICE)).learning
        assert "Memory is paused" in shown(await d.asks("alice", ""))
        assert "Resumed" in shown(await d.asks("alice", "resume"))
        assert (await d.memories.settings(ALICE)).learning


async def test_changes_are_listed_and_taken_back(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        kept = memory("I live in Lisbon", ALICE)
        await keep(d.memories, kept)
        await d.memories.edit(ALICE, kept.id, "I live in Porto")
        message = await d.asks("alice", "history")
        assert "I live in Lisbon → I live in Porto" in shown(message)
        await d.press("alice", message, "undo")
        await d.becomes("alice", message, "Taken back")
        assert await d.knows("alice") == ["I live in Lisbon"]
        assert "cannot be taken back" in shown(await d.asks("alice", "undo 00000000"))
        await d.memories.edit(ALICE, kept.id, "I live in Faro")
        latest = (await d.memories.history(ALICE))[0]
        assert "cannot be taken back" in shown(await d.asks("bruno", f"undo {latest.id[:8]}"))
        assert "Taken back" in shown(await d.asks("alice", f"undo {latest.id[:8]}"))


async def test_two_that_contradict_are_asked_about(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        old = memory("I take milk in coffee", ALICE)
        await keep(d.memories, old)
        await keep(d.memories, memory("I take coffee black", ALICE, disputed_with=old.id), done="disputed")
        message = await d.asks("alice", "")
        assert "Which is right?" in shown(message)
        await d.press("alice", message, "new")
        await d.becomes("alice", message, "I go by that")
        assert await d.knows("alice") == ["I take coffee black"]


async def test_a_channel_shows_its_agreements_and_only_who_said_one_forgets_it(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        agreed = memory("we deploy on Tuesdays", BRUNO, kind=Kind.AGREEMENT)
        await keep(d.memories, agreed)
        assert "we deploy on Tuesdays" in shown(await d.asks("alice", ""))
        theirs = await d.asks("alice", "room")
        assert "we deploy on Tuesdays" in shown(theirs)
        assert d.values(theirs, "forget") == []
        assert "we deploy" not in shown(await d.asks("alice", "room", "#general"))
        assert "no agreements" in shown(await d.asks("alice", "room", "dm"))
        own = await d.asks("bruno", "频道")
        await d.stack.slack.core.interactivity.send("interactive", forged(d, theirs, "alice", "forget", d.values(own, "forget")[0]))
        await d.stack.quiet(0.1)
        assert (await d.memories.room_listed(agreed.source.thread)).total == 1
        await d.press("bruno", own, "forget", agreed.id)
        await d.stack.until(lambda: "频道" in d.now("bruno", own) or "agreements" in d.now("bruno", own))
        assert (await d.memories.room_listed(agreed.source.thread)).total == 0


# --- what an answer used -----------------------------------------------------------------------------------------------


async def answered(d: Desk, *ids: str, run: str = "run-1") -> str:
    """An answer in #orders with the lines of memory under it, as if it had used these for alice."""
    slack = d.stack.slack.core
    channel = slack.world.channels[ORDERS]
    blocks = [*used_footer(len(ids), run, "en"), *saved_footer(1, "en"), *missing_footer("en")]
    ts = str(
        slack.world.post(channel, {"user": d.stack.slack.bot_user_id, "bot_id": "B01STEWARD", "team": TEAM_ID, "text": "x", "blocks": blocks_with_ids(blocks)})[
            "ts"
        ]
    )
    long_term = d.stack.bots[0].long_term
    assert long_term is not None
    await long_term.trail.note(ALICE, Used(run_id=run, thread=Thread(team_id=TEAM_ID, channel_id=ORDERS), at=1_790_000_000.0, ids=ids))
    return ts


def blocks_with_ids(blocks: list[Json]) -> list[Json]:
    return [{**block, "block_id": f"b{n}"} for n, block in enumerate(blocks)]


async def test_the_button_under_an_answer_shows_the_memories_to_their_owner_who_may_forget_one(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        one, two = memory("I am allergic to peanuts", ALICE), memory("I live in Lisbon", ALICE)
        await keep(d.memories, one, two)
        ts = await answered(d, one.id, two.id)
        assert (await d.stack.slack.click("alice", "#orders", ts, "steward:mem:used"))["ok"]
        view = await d.modal("alice", "Lisbon")
        value = next(value for value in d.values(view["blocks"], "forget") if one.id in value)
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:forget", value))["ok"]
        await d.stack.until(lambda: "peanuts" not in seen(d.stack.slack.view("alice")))
        assert "Lisbon" in seen(d.stack.slack.view("alice"))
        assert await d.knows("alice") == ["I live in Lisbon"]
        assert any("Used 2 memories" in shown(m) for m in d.stack.slack.messages("#orders"))  # the answer itself still stands


async def test_the_button_under_somebody_elses_answer_shows_nothing(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        one = memory("I am allergic to peanuts", ALICE)
        await keep(d.memories, one)
        ts = await answered(d, one.id)
        assert (await d.stack.slack.click("bruno", "#orders", ts, "steward:mem:used"))["ok"]
        await d.stack.until(lambda: any("for somebody else" in shown(m) for m in d.stack.slack.ephemerals("bruno")))
        assert d.stack.slack.view("bruno") is None


async def test_why_names_what_the_last_answers_here_used(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        one = memory("I am allergic to peanuts", ALICE)
        await keep(d.memories, one)
        assert "None of my latest answers" in shown(await d.asks("alice", "why"))
        await answered(d, one.id)
        assert "peanuts" in shown(await d.asks("alice", "why"))
        assert "None of my latest answers" in shown(await d.asks("alice", "why", "#general"))
        assert "peanuts" not in shown(await d.asks("bruno", "为什么"))


# --- who may, and when things are away ---------------------------------------------------------------------------------


async def test_guests_see_their_own_and_outsiders_have_none(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I work on Mondays", actor("dana")))
        assert "I work on Mondays" in shown(await d.asks("dana", ""))
        assert "people of this workspace" in shown(await d.asks("erik", "", "#partners"))
        assert "people of this workspace" in shown(await d.asks("erik", "add I like tea", "#partners"))


async def test_an_unknown_word_shows_the_help(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        assert "/memory search" in shown(await d.asks("alice", "dance with me"))


async def test_a_store_that_is_away_is_said_to_be(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        d.switch.away = True
        for words in ("", "search peanuts", "add I like tea", "forget tea", "forget all", "history", "pause", "export", "room"):
            assert "does not answer" in shown(await d.asks("alice", words)), words


async def test_a_slow_store_holds_no_command_up_and_its_answer_comes_later(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE))
        d.switch.gate.clear()
        assert (await d.stack.slack.command("alice", "#orders", "/memory"))["ok"]
        assert d.stack.slack.ephemerals("alice") == []
        d.switch.gate.set()
        await d.stack.until(lambda: any("peanuts" in shown(m) for m in d.stack.slack.ephemerals("alice")))


async def test_a_slow_store_holds_no_click_and_no_form_up(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        one, two = memory("I am allergic to peanuts", ALICE), memory("I live in Lisbon", ALICE)
        await keep(d.memories, one, two)
        message = await d.asks("alice", "")
        d.switch.gate.clear()
        await d.press("alice", message, "forget", one.id)
        assert "peanuts" in d.now("alice", message)
        d.switch.gate.set()
        await d.becomes("alice", message, "Forgotten")
        await d.press("alice", message, "edit", two.id)
        view = await d.modal("alice", "I live in Lisbon")
        d.switch.gate.clear()
        answer = await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "I live in Porto"}}})
        assert "Working on it" in seen(answer["view"])
        d.switch.gate.set()
        await d.modal("alice", "Changed.")
        assert await d.knows("alice") == ["I live in Porto"]


async def test_numbers_are_for_admins_and_without_contents(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I am allergic to peanuts", BRUNO))

        async def stats(user: str) -> str:
            outcome = await d.stack.slack.command(user, "#orders", "/steward", "memory stats")
            assert outcome["ok"]
            return shown(d.stack.slack.ephemerals(user)[-1])

        numbers = await stats("alice")
        assert "people: 1" in numbers
        assert "peanuts" not in numbers
        assert "Only admins" in await stats("bruno")


async def test_hostile_words_are_shown_and_not_obeyed(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("<!channel> <https://evil.example|click> *now*", ALICE))
        message = await d.asks("alice", "")
        texts = [e for e in json.dumps(message["blocks"]).split('"') if "evil" in e]
        assert texts
        assert all(block.get("text", {}).get("type") != "mrkdwn" or "evil" not in block["text"]["text"] for block in message["blocks"])


async def test_taking_the_app_out_of_the_workspace_deletes_everything(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE), memory("I live in Berlin", BRUNO))
        core = d.stack.slack.core
        core.events.send(core.world.installs[TEAM_ID], {"type": "app_uninstalled"}, None)

        async def gone() -> bool:
            return await d.knows("alice") == await d.knows("bruno") == []

        for _ in range(100):
            if await gone():
                break
            await d.stack.quiet(0.02)
        assert await gone()
