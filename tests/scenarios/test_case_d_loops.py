"""Reported faults D1 to D3: bots that talk to each other, the bot's own messages, answers that would ping people."""

from __future__ import annotations

import json
import re

import pytest

from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, echo_policy, text
from tests.fakes.stack import Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import BOT, BUILDS, Rooms, card, over, rest

BUILDS_FIELDS: Json = {"bot_id": "B01BUILDS0", "app_id": "A01BUILDS0", "bot_profile": {"id": "B01BUILDS0", "name": "Builds", "team_id": "T01NORTHWD"}}
LOOP = "I have answered another bot several times"


# --- D1 -------------------------------------------------------------------------------------------------------------------


async def bot_says(stack: Stack, words: str, ts: str | None) -> str:
    stamp = await stack.slack.say(BUILDS, "#general", words, ts, **BUILDS_FIELDS)
    await rest(stack)
    return stamp


async def test_two_bots_that_mention_each_other_stop_after_a_few_turns_with_one_notice(valkey: Valkey, transport: str) -> None:
    """D1: every answer of ours is answered by another bot that mentions us again."""
    model = ScriptedModel(lambda _: text(f"<@{BUILDS}> your turn"))
    async with over(transport, valkey, model) as stack:
        ts = await bot_says(stack, f"{BOT} build 7 failed", None)
        for turn in range(8):
            await bot_says(stack, f"{BOT} your turn {turn}", ts)

        own = texts(stack.own("#general", ts))
        assert sum(LOOP in said for said in own) == 1
        assert LOOP in own[-1]
        assert len(own) == 4  # three answers and the notice
        assert model.count == 3


async def test_a_person_who_writes_sets_the_count_back(valkey: Valkey) -> None:
    """D1's neighbour: after the notice the bot works for people as before, and for bots again once a person took part."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model) as stack:
        ts = await bot_says(stack, f"{BOT} #m0", None)
        for turn in range(1, 6):
            await bot_says(stack, f"{BOT} #m{turn}", ts)
        assert model.count == 3

        await stack.slack.say("alice", "#general", "@steward #m6", ts)
        await rest(stack)
        assert "#m6" in texts(stack.own("#general", ts))[-1]
        await bot_says(stack, f"{BOT} #m7", ts)
        assert texts(stack.own("#general", ts))[-1] == "#m7"


async def test_another_bot_that_does_not_mention_us_is_never_answered(valkey: Valkey) -> None:
    """D1's neighbour: not in a followed thread, not in the channel, not in a direct message."""
    model = ScriptedModel([text("hello")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await bot_says(stack, "build 8 failed", ts)
        await bot_says(stack, "构建失败", None)
        await stack.slack.say("alice", stack.slack.dm("alice"), "I am a bot too", **BUILDS_FIELDS)
        await rest(stack)

        assert len(stack.own("#general", ts)) == 1
        model.assert_consumed()


# --- D2 -------------------------------------------------------------------------------------------------------------------

ME = {"user": "U01STEWARD", "bot_id": "B01STEWARD", "app_id": "A01STEWARD"}
ROOT = {"channel": "C01GENERAL", "channel_type": "channel", "team": "T01NORTHWD"}
OWN: dict[str, Json] = {
    "message": {"type": "message", **ROOT, **ME, "text": f"{BOT} hi", "ts": "1790000000.000100"},
    "mention": {"type": "app_mention", "channel": "C01GENERAL", **ME, "text": f"{BOT} hi", "ts": "1790000000.000100"},
    "by user id only": {"type": "message", **ROOT, "user": "U01STEWARD", "text": f"{BOT} hi", "ts": "1790000000.000100"},
    "by bot id only": {"type": "message", "subtype": "bot_message", **ROOT, "bot_id": "B01STEWARD", "text": f"{BOT} hi", "ts": "1790000000.000100"},
    "direct": {"type": "message", "channel": "D01DIRECT1", "channel_type": "im", **ME, "text": "hi", "ts": "1790000000.000100"},
    "edit": {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        **ROOT,
        "ts": "1790000001.000100",
        "message": {"type": "message", **ME, "text": "new", "ts": "1790000000.000100", "edited": {"user": "U01STEWARD", "ts": "1790000001.000000"}},
        "previous_message": {"type": "message", **ME, "text": "old", "ts": "1790000000.000100"},
    },
    "stream": {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        **ROOT,
        "ts": "1790000001.000100",
        "message": {"type": "message", **ME, "text": f"{BOT} more", "ts": "1790000000.000100", "thread_ts": "1789999999.000100", "streaming_state": "x"},
        "previous_message": {"type": "message", **ME, "text": "", "ts": "1790000000.000100"},
    },
    "deletion": {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        **ROOT,
        "ts": "1790000001.000100",
        "deleted_ts": "1790000000.000100",
        "previous_message": {"type": "message", **ME, "text": "old", "ts": "1790000000.000100"},
    },
}


@pytest.mark.parametrize("what", list(OWN))
async def test_the_bots_own_messages_are_ignored(valkey: Valkey, transport: str, what: str) -> None:
    """D2: own message, own edit, own stream events, known by user id and by bot id: nothing is stored, nobody answers."""
    model = ScriptedModel()
    async with over(transport, valkey, model) as stack:
        head = {"type": "event_callback", "team_id": "T01NORTHWD", "api_app_id": "A01STEWARD", "event_id": "Ev1", "event_time": 1790000000}
        stack.slack.send({**head, "event": OWN[what]})
        await rest(stack)

        assert [d["status"] for d in stack.slack.deliveries()] == [200]
        assert valkey.command("DBSIZE") == 0
        assert model.count == 0


async def test_an_answer_that_mentions_the_bot_itself_does_not_start_a_conversation_with_itself(valkey: Valkey) -> None:
    """D2's neighbour: the model writes the bot's own mention."""
    model = ScriptedModel([text(f"Write {BOT} hello, or @steward 你好")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward how do I call you?")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert len(stack.own("#general", ts)) == 1
        model.assert_consumed()


# --- D3 -------------------------------------------------------------------------------------------------------------------

PINGS = [
    "<!channel> <!here> [x](!channel) @everyone",
    "<!everyone> <!subteam^S01SUPPORT> <!subteam^S01SUPPORT|@support>",
    "<@U01ALICE00> <@U01ALICE00|alice> please look",
    "请 @channel 注意，@here 大家<!channel>好",
    "[hi](<!channel>) [a](@here) <!channel|x>",
    "&lt;!channel&gt; and \\<!channel> and <\u200b!channel>",
    "```\nsafe\n```\n<!channel>\n> <!here>\n- @everyone\n\n| a | b |\n|---|---|\n| <!channel> | @here |",
]


def pings(message: Json) -> list[str]:
    """What of a message, as Slack would read it, pings someone."""
    found: list[str] = []

    def walk(node: object, kind: str = "") -> None:
        if isinstance(node, dict):
            here = str(node.get("type", ""))
            if here in {"broadcast", "user", "usergroup"}:
                found.append(json.dumps(node))
            for key, value in node.items():
                if isinstance(value, str) and key == "text" and here in {"mrkdwn", "markdown", ""}:
                    found.extend(live(value, markdown=here == "markdown"))
                walk(value, here)
        elif isinstance(node, list):
            for child in node:
                walk(child, kind)

    walk(message.get("blocks") or [])
    found.extend(live(str(message.get("text", "")), markdown=False))
    return found


def live(value: str, *, markdown: bool) -> list[str]:
    """Mentions outside code. In mrkdwn only the angled forms are live; in Markdown the bare words are taken for live, too."""
    outside = re.sub(r"```.*?```|``.*?``|`[^`\n]*`", "", value, flags=re.DOTALL)
    angled = re.findall(r"<(?:!|@)[^>]*>", outside)
    bare = re.findall(r"(?<![\w`])@(?:channel|here|everyone)\b", outside) if markdown else []
    linked = re.findall(r"\]\(\s*<?(?:!|@)[^)]*\)", outside) if markdown else []
    return angled + bare + linked


@pytest.mark.parametrize("answer", PINGS)
async def test_nothing_the_model_writes_pings_anyone(valkey: Valkey, answer: str) -> None:
    """D3: broadcasts, groups and people, in every spelling, in English and Chinese, in quotes, lists and tables."""
    model = ScriptedModel([text(answer)])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward wake everyone up")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        for call in stack.slack.calls("chat.postMessage"):
            assert pings(call["args"]) == []
        assert texts(stack.own("#general", ts)) != [""]
        model.assert_consumed()


async def test_nothing_in_a_card_or_in_its_outcome_pings_anyone(valkey: Valkey) -> None:
    """D3's neighbour: the arguments of a write and a tool's own words hold the same tricks."""
    rooms = Rooms()
    rooms.fails = ValueError("<!channel>")
    arguments = {"room": "<!channel>", "note": "<!here> @everyone <@U01MEI0000> [x](!channel)"}
    model = ScriptedModel([calls(("book_room", arguments)), text("It failed.")])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book it")
        asked = await card(stack, "#general", ts)
        await stack.slack.click("alice", "#general", asked["ts"], "steward:approve")
        await stack.until(lambda: "It failed." in texts(stack.own("#general", ts)))
        await rest(stack)

        sent = [*stack.slack.calls("chat.postMessage"), *stack.slack.calls("chat.update")]
        assert len(sent) >= 3
        allowed = {"<@U01ALICE00>"}  # who asked and who decided is named by us
        for call in sent:
            assert [ping for ping in pings(call["args"]) if ping not in allowed and not ping.startswith("<!date^")] == []
