"""Forgetting reaches whatever carries it: the conversation it was said in, those it was used in, what waits, and the next question."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from tests.fakes.scripted_model import Reply, calls, text
from tests.fakes.stack import Stack, shown
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor, desk
from tests.scenarios.kit import card, rest
from tests.scenarios.remembering_kit import answered, known, prompt
from tools.decorator import tool
from tools.registry import Registry

ALICE = actor("alice")


async def gone_from_redis(stack: Stack, valkey: Valkey, *words: str) -> None:
    """Wait until no key holds one of these words."""
    await rest(stack)
    found: list[str] = []
    for _ in range(100):
        if not (found := holding(valkey, *words)):
            return
        await stack.quiet(0.05)
    assert found == []


def holding(valkey: Valkey, *words: str) -> list[str]:
    """The keys whose values hold one of these words."""
    reading = {b"string": ("GET",), b"list": ("LRANGE", 0, -1), b"hash": ("HGETALL",), b"zset": ("ZRANGE", 0, -1), b"set": ("SMEMBERS",)}
    found, keys = [], valkey.command("KEYS", "*")
    assert isinstance(keys, list)
    for key in keys:
        kind: Any = valkey.command("TYPE", key)
        if kind in reading:
            command, *rest_of = reading[kind]
            held = _bytes(valkey.command(str(command), key, *rest_of))
            found += [key.decode() for word in words if word.encode() in held]
    return found


def _bytes(value: Any) -> bytes:
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    return b" ".join(map(_bytes, value)) if isinstance(value, (list, set, tuple)) else value if isinstance(value, bytes) else str(value).encode()


@pytest.mark.parametrize("way", ["command", "words"])
async def test_it_is_gone_from_the_conversation_it_was_said_in_and_the_one_it_was_used_in(valkey: Valkey, way: str) -> None:
    async with desk(valkey) as d:
        model = d.stack.model
        await answered(d.stack, "alice", "dm", "Please remember that I am allergic to peanuts")
        assert len(await known(d.stack, ALICE, 1)) == 1
        ts = await d.stack.slack.say("alice", d.stack.slack.dm("alice"), "another thread")
        await rest(d.stack)
        await answered(d.stack, "alice", "dm", "What should I have for lunch?", thread=ts)
        assert "allergic to peanuts" in prompt(model.requests[-1])
        await rest(d.stack)
        assert holding(valkey, "peanut")
        if way == "words":
            await answered(d.stack, "alice", "dm", "Please forget that I am allergic to peanuts")
        else:
            message = await d.asks("alice", "")
            await d.press("alice", message, "forget", (await d.memories.listed(ALICE)).memories[0].id)
            await d.becomes("alice", message, "Forgotten")
        assert await known(d.stack, ALICE, 0) == []
        await gone_from_redis(d.stack, valkey, "peanut")
        await answered(d.stack, "alice", "dm", "And what should I have for dinner?", thread=ts)
        assert "peanut" not in prompt(model.requests[-1])


async def test_in_chinese_too(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await answered(d.stack, "mei", "dm", "请记住我对花生过敏")
        assert len(await known(d.stack, actor("mei"), 1)) == 1
        await answered(d.stack, "mei", "dm", "请忘掉我对花生过敏")
        assert await known(d.stack, actor("mei"), 0) == []
        await rest(d.stack)
        await answered(d.stack, "mei", "dm", "晚饭吃什么好？")
        assert "花生" not in prompt(d.stack.model.requests[-1])


@tool(effect="write", title="Order lunch")
async def order_lunch(note: Annotated[str, Field(description="What the kitchen has to know, e.g. no onions")]) -> dict[str, str]:
    """Order lunch with a note for the kitchen."""
    return {"ordered": note}


async def test_a_card_that_waits_and_tells_it_can_no_longer_be_approved(valkey: Valkey) -> None:
    def policy(request: dict[str, object]) -> Reply:
        last = str(request["messages"][-1])  # type: ignore[index]
        return calls(("order_lunch", {"note": "no peanuts, allergic"})) if "order lunch" in last and "'role': 'tool'" not in last else text("Noted.")

    async with desk(valkey, registry=Registry([order_lunch])) as d:
        d.stack.model._policy = policy
        d.stack.model._steps = None
        await answered(d.stack, "alice", "dm", "Please remember that I am allergic to peanuts")
        await known(d.stack, ALICE, 1)
        room = d.stack.slack.dm("alice")
        await d.stack.slack.say("alice", room, "order lunch")
        waiting = await card(d.stack, room, None)
        message = await d.asks("alice", "")
        await d.press("alice", message, "forget", (await d.memories.listed(ALICE)).memories[0].id)
        await d.becomes("alice", message, "Forgotten")
        await d.stack.until(lambda: "peanut" not in next(shown(m) for m in d.stack.own(room) if m["ts"] == waiting["ts"]))
        await gone_from_redis(d.stack, valkey, "peanut")
