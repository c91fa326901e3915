"""`/memory` and the App Home at their edges: long and hostile texts, pages that empty, buttons of yesterday, two windows at once, a pause that is one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.memory_view_more import used_footer
from memory.keys import Thread
from memory.longterm.access import PRIVATE
from memory.longterm.memory import LONGEST, Change, Kind, Memory, Settings
from memory.recall_trail import Used
from playground.people import Json
from playground.seed import ORDERS, TEAM_ID
from tests.fakes.memories import keep, memory
from tests.fakes.stack import shown
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import Desk, actor, desk, seen
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import answered, known, long_term, prompt

ALICE, BRUNO, MEI = actor("alice"), actor("bruno"), actor("mei")
LONG = {"en": "I keep a long list of what I like to eat. " * 12, "zh": "我喜欢吃的东西有很多很多种。" * 36, "emoji": "🥜🍜👨‍👩‍👧‍👦" * 45}


def facts(count: int, text: str = "fact number {n:02d}") -> list[Memory]:
    """So many memories of alice, the last one the newest."""
    return [memory(text.format(n=n), ALICE, created=1_790_000_000.0 + n, ts=f"17900000{n:02}.000100") for n in range(count)]


async def used_in_orders(d: Desk, *memories: Memory) -> None:
    """An answer to alice in #orders that had these at hand."""
    used = Used(run_id="run-1", thread=Thread(team_id=TEAM_ID, channel_id=ORDERS), at=1_790_000_000.0, ids=tuple(each.id for each in memories))
    await long_term(d.stack).trail.note(ALICE, used)


# --- long ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LONG)
async def test_the_longest_memories_are_listed_everywhere_and_shown_whole_where_they_are_edited(valkey: Valkey, kind: str) -> None:
    async with desk(valkey) as d:
        whole = [f"{n:02d} {LONG[kind]}"[:LONGEST].strip() for n in range(25)]
        kept = [memory(text, ALICE, created=1_790_000_000.0 + n, ts=f"{n}.0") for n, text in enumerate(whole)]
        await keep(d.memories, *kept)
        for words in ("", "search 24", "forget 24", "why", "history"):
            message = await d.asks("alice", words)
            assert message.get("blocks") or words == "why", words
        listed = await d.asks("alice", "")
        assert "24 " in shown(listed)
        await d.press("alice", listed, "edit", kept[24].id)
        form = await d.modal("alice", "24 ")
        assert json.dumps(whole[24]) in json.dumps(form)
        await d.stack.slack.open_home("alice")
        assert "page 1 of 3" in seen(await d.home("alice", "24 "))
        await used_in_orders(d, *kept)
        assert "00 " in shown(await d.asks("alice", "why"))
        posted = used_footer(25, "run-1", "en")
        ts = d.stack.slack.core.world.post(
            d.stack.slack.core.world.channels[ORDERS],
            {
                "user": d.stack.slack.bot_user_id,
                "bot_id": "B01STEWARD",
                "team": TEAM_ID,
                "text": "x",
                "blocks": [b | {"block_id": str(n)} for n, b in enumerate(posted)],
            },
        )["ts"]
        await d.stack.slack.click("alice", "#orders", ts, "steward:mem:used")
        assert "5 more" in seen(await d.modal("alice", "00 "))
        assert [(call["method"], call["error"]) for call in d.stack.slack.calls() if not call["ok"]] == []


# --- pages -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listing", ["", "history"])
async def test_a_last_page_that_a_forgetting_empties_gives_way_to_the_one_before(valkey: Valkey, listing: str) -> None:
    async with desk(valkey) as d:
        kept = facts(6)
        await keep(d.memories, *kept)
        message = await d.asks("alice", listing)
        await d.press("alice", message, "next")
        await d.becomes("alice", message, "fact number 00")
        second = next(m for m in d.stack.slack.ephemerals("alice") if m["ts"] == message["ts"])
        if listing:
            await long_term(d.stack).erasing.forget(ALICE, [kept[0].id])
            await d.press("alice", second, "undo", "")
        else:
            await d.press("alice", second, "forget", kept[0].id)
        said = await d.becomes("alice", message, "fact number 05")
        assert "fact number 00" not in said
        assert d.values(next(m for m in d.stack.slack.ephemerals("alice") if m["ts"] == message["ts"]), "next") == []


# --- yesterday's buttons -----------------------------------------------------------------------------------------------------


async def test_a_button_about_what_is_gone_says_so_and_draws_what_there_is(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        gone, stays = facts(2)
        await keep(d.memories, gone, stays)
        first, second, third = [await d.asks("alice", "") for _ in range(3)]
        await d.press("alice", first, "forget", gone.id)
        await d.becomes("alice", first, "Forgotten")
        for message, act in ((second, "forget"), (third, "edit")):
            await d.press("alice", message, act, gone.id)
            said = await d.becomes("alice", message, "no such memory")
            assert stays.text in said
            assert gone.text not in said
        assert d.stack.slack.view("alice") is None


async def test_a_form_about_what_is_gone_meanwhile_says_so_and_brings_nothing_back(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        gone, stays = facts(2)
        await keep(d.memories, gone, stays)
        message = await d.asks("alice", "")
        await d.press("alice", message, "edit", gone.id)
        view = await d.modal("alice", gone.text)
        await long_term(d.stack).erasing.forget(ALICE, [gone.id])
        answer = await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "something else"}}})
        assert "no such memory" in seen(answer["view"])
        assert await d.knows("alice") == [stays.text]


async def test_of_two_windows_the_second_sees_and_changes_what_the_first_has_made_of_it(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        (one,) = facts(1)
        await keep(d.memories, one)
        first, second = await d.asks("alice", ""), await d.asks("alice", "")
        await d.press("alice", first, "edit", one.id)
        view = await d.modal("alice", one.text)
        await d.stack.slack.submit("alice", view["id"], {"text": {"text": {"type": "plain_text_input", "value": "I moved to Porto"}}})
        await d.becomes("alice", first, "Porto")
        await d.press("alice", second, "edit", one.id)
        assert "I moved to Porto" in seen(await d.modal("alice", "Porto"))
        await d.press("alice", second, "forget", one.id)
        await d.becomes("alice", second, "Forgotten")
        assert await d.knows("alice") == []
        assert "Porto" not in json.dumps(await d.memories.export(ALICE))


# --- hostile -----------------------------------------------------------------------------------------------------------------


HOSTILE = "<!channel> <@U01BRUNO00> *bold* <https://evil.example|click> :boom: `x` &lt;!here&gt;"


def interpreted(node: Any) -> list[str]:
    """Texts in which Slack would read marks."""
    if isinstance(node, dict):
        own = [str(node["text"])] if node.get("type") == "mrkdwn" else []
        return [*own, *(text for child in node.values() for text in interpreted(child))]
    return [text for child in node for text in interpreted(child)] if isinstance(node, list) else []


async def test_whatever_stands_in_a_memory_is_shown_as_it_was_written_and_calls_nobody(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        bad = memory(HOSTILE, ALICE, audience=PRIVATE)
        agreed = memory(f"agreed: {HOSTILE}", ALICE, kind=Kind.AGREEMENT, ts="2.0")
        await keep(d.memories, bad, agreed)
        await used_in_orders(d, bad)
        asked = ("", "search evil", "forget evil", "why", "history", "room", "add I like <!here> *and* <https://evil.example|this>")
        shown_in = [(words, await d.asks("alice", words)) for words in asked]
        await d.stack.slack.open_home("alice")
        shown_in.append(("home", await d.home("alice", "evil")))
        await d.press("alice", shown_in[0][1], "audience", bad.id)
        shown_in.append(("audience", await d.modal("alice", "evil")))
        for where, message in shown_in:
            assert "evil.example" in json.dumps(message), where
            assert [text for text in (*interpreted(message), str(message.get("text", ""))) if "evil" in text or "!channel" in text] == [], where
            assert not any(block.get("type") == "link" and "evil" in block.get("url", "") for block in _elements(message)), where
        assert HOSTILE in json.dumps(shown_in[0][1], ensure_ascii=False).replace('\\"', '"')


def _elements(node: Any) -> list[Json]:
    if isinstance(node, dict):
        return [node, *(found for child in node.values() for found in _elements(child))]
    return [found for child in node for found in _elements(child)] if isinstance(node, list) else []


# --- finding -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("user", "words", "text", "more"), [
    ("alice", "search cheese", "I like cheese number {n:02d}", "Only the 5 that fit best"),
    ("alice", "forget cheese", "I like cheese number {n:02d}", "Only the 5 that fit best"),
    ("mei", "搜索奶酪", "我喜欢第 {n:02d} 种奶酪", "只显示最相符的 5 条"),
    ("mei", "忘记 奶酪", "我喜欢第 {n:02d} 种奶酪", "只显示最相符的 5 条"),
])  # fmt: skip
async def test_of_many_that_fit_the_best_are_shown_and_that_there_are_more_is_said(valkey: Valkey, user: str, words: str, text: str, more: str) -> None:
    async with desk(valkey) as d:
        kept = [memory(text.format(n=n), actor(user), ts=f"{n}.0", language="zh" if user == "mei" else "en") for n in range(7)]
        await keep(d.memories, *kept[:5], memory("something else", actor(user)))
        assert more not in shown(await d.asks(user, words))
        await keep(d.memories, *kept[5:])
        message = await d.asks(user, words)
        assert more in shown(message)
        assert "something else" not in shown(message)
        assert len(d.values(message, "forget")) == 5


@pytest.mark.parametrize(("text", "words"), [("we deploy on Tuesdays", "forget deploy on Tuesdays"), ("我们每周二部署", "忘记 每周二部署")], ids=["en", "zh"])
@pytest.mark.parametrize("by", ["words", "id"])
async def test_what_a_person_said_that_the_channel_agreed_is_forgotten_by_command_where_it_was_agreed(valkey: Valkey, text: str, words: str, by: str) -> None:
    async with desk(valkey) as d:
        agreed = memory(text, ALICE, kind=Kind.AGREEMENT)
        await keep(d.memories, agreed)
        asked = words if by == "words" else f"{words.split(maxsplit=1)[0]} #{agreed.id[:8]}"
        for user, channel in (("alice", "dm"), ("alice", "#general"), ("bruno", "#orders")):
            assert text not in shown(await d.asks(user, asked, channel))
        message = await d.asks("alice", asked)
        assert text in shown(message)
        await d.press("alice", message, "forget", agreed.id)
        await d.becomes("alice", message, "已忘记" if "已忘记" in d.now("alice", message) else "Forgotten")
        assert (await d.memories.room_listed(agreed.source.thread)).total == 0


async def test_what_is_typed_in_a_channel_is_the_persons_own_even_if_it_sounds_like_an_agreement(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        for user, words in (("alice", "add we deploy on Tuesdays"), ("mei", "添加 我们约定每周二部署")):
            assert "direct messages" in (said := shown(await d.asks(user, words))) or "私信" in said
            assert len(await d.knows(user)) == 1
        assert "Tuesdays" not in shown(await d.asks("bruno", ""))
        assert "no agreements" in shown(await d.asks("bruno", "room"))


# --- export and pause ----------------------------------------------------------------------------------------------------------


async def test_the_file_that_is_exported_has_every_field_the_history_the_settings_and_the_pause(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        agreed = memory("we deploy on Tuesdays", ALICE, kind=Kind.AGREEMENT, ts="3.0")
        await keep(d.memories, memory("I like tea", ALICE), agreed, memory("not hers", BRUNO, ts="2.0"))
        await d.asks("alice", "pause")
        await d.asks("alice", "export")
        sent = [m for m in d.stack.own(d.stack.slack.dm("alice")) if m.get("files")]
        content = d.stack.slack.core.files.files[sent[0]["files"][0]["id"]].content
        assert content is not None
        exported = json.loads(content)
        assert [each["text"] for each in exported["memories"]] == ["I like tea"]
        assert [each["text"] for each in exported["agreements"]] == [agreed.text]
        assert {frozenset(each) for each in (*exported["memories"], *exported["agreements"])} == {frozenset(Memory.model_fields)}
        assert {frozenset(each) for each in exported["history"]} == {frozenset(Change.model_fields)}
        assert frozenset(exported["settings"]) == frozenset(Settings.model_fields)
        assert exported["settings"]["learning"] is False
        assert "not hers" not in content.decode()
        assert Memory.model_validate(exported["memories"][0]).text == "I like tea"


@pytest.mark.parametrize(("known_one", "said", "asked", "question"), [
    ("I am allergic to peanuts", "I live in Porto", "Please remember that I like jazz", "What should I have for lunch, and where do I live?"),
    ("我对花生过敏", "我住在北京", "请记住我喜欢爵士乐", "午饭吃什么好？我住在哪里？"),
], ids=["en", "zh"])  # fmt: skip
async def test_a_pause_stops_learning_and_recall_and_what_was_said_meanwhile_is_not_learned_after_it(
    valkey: Valkey, known_one: str, said: str, asked: str, question: str
) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory(known_one, MEI, always=True, language="zh"))
        await d.asks("mei", "暂停")
        await answered(d.stack, "mei", "dm", said)
        await answered(d.stack, "mei", "dm", asked)
        assert "/memory resume" in prompt(d.stack.model.requests[-1])
        await rest(d.stack)
        answer = await answered(d.stack, "mei", "#orders", question)
        assert known_one not in prompt(d.stack.model.requests[-1])
        assert "🧠" not in shown(answer)
        await rest(d.stack)
        assert await known(d.stack, MEI, 1) == [known_one]
        await d.asks("mei", "恢复")
        answer = await answered(d.stack, "mei", "#orders", question)
        assert known_one in prompt(d.stack.model.requests[-1])
        await rest(d.stack)
        assert await known(d.stack, MEI, 1) == [known_one]
