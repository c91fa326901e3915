"""What changes in a conversation changes in memory: "now it is green" after "my favourite colour is blue", the same fact twice, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.memories import in_memory
from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import running
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import known
from tools.registry import Registry

ALICE = actor("alice")


def parts() -> dict[str, Any]:
    return {"store": in_memory(), "model_reads": False, "registry": Registry([]), "memory_limit": 20.0}


def plain() -> ScriptedModel:
    return ScriptedModel(lambda _: text("Fine."))


async def told_one_after_the_other(valkey: Valkey, messages: list[str], expected: list[str]) -> list[str]:
    """What is remembered once every message of one conversation was answered and read."""
    async with running(valkey, plain(), **parts()) as stack:
        room = stack.slack.dm("alice")
        thread = ""
        for message in messages:
            ts = await stack.slack.say("alice", room, message, thread_ts=thread or None)
            thread = thread or ts
            await rest(stack)
        found: list[str] = []
        for _ in range(200):
            if (found := await known(stack, ALICE, len(expected))) == expected:
                break
            await stack.quiet(0.05)
        return found


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["My favourite colour is blue", "now it is green"], ["My favourite colour is green"]),
        (["我最喜欢的颜色是蓝色", "现在是绿色了"], ["我最喜欢的颜色是绿色"]),
        (["I live in Beijing", "我住在北京"], ["I live in Beijing"]),
        (["I used to live in Paris, now Rome", "我以前住在巴黎，现在住罗马"], ["I live in Rome"]),
    ],
)
async def test_what_changed_stands_alone_and_what_was_said_twice_stands_once(valkey: Valkey, messages: list[str], expected: list[str]) -> None:
    assert await told_one_after_the_other(valkey, messages, expected) == expected


@pytest.mark.parametrize(
    ("first", "change", "edited", "expected"),
    [
        ("My favourite colour is blue", "now it is green", "now it is red", "My favourite colour is red"),
        ("我最喜欢的颜色是蓝色", "现在是绿色了", "现在是红色了", "我最喜欢的颜色是红色"),
    ],
)
async def test_a_change_that_is_edited_changes_the_same_thing_anew(valkey: Valkey, first: str, change: str, edited: str, expected: str) -> None:
    async with running(valkey, plain(), **parts()) as stack:
        room = stack.slack.dm("alice")
        thread = await stack.slack.say("alice", room, first)
        await rest(stack)
        ts = await stack.slack.say("alice", room, change, thread_ts=thread)
        await rest(stack)
        assert len(await known(stack, ALICE, 1)) == 1
        await stack.slack.edit("alice", room, ts, edited)
        await rest(stack)
        texts: list[str] = []
        for _ in range(200):
            if (texts := await known(stack, ALICE, 1)) == [expected]:
                break
            await stack.quiet(0.05)
        assert texts == [expected]
