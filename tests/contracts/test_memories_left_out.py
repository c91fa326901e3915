"""What is not learned (any more), over both engines: what is older than a forgetting, and, read again, nothing for more people than its owner chose."""

from __future__ import annotations

from typing import Any

import pytest

from memory.longterm.access import PRIVATE, WORKSPACE, Reader
from memory.longterm.candidate import Candidate
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Memory, Source
from tests.contracts.door_kit import ANA, BEN, CHANNEL, DM, Door, likes, lives, one
from tests.fakes.memories import memory

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_nothing_said_before_everything_was_forgotten_is_learned_unless_it_is_asked_for_afterwards(door: Door) -> None:
    await door.hears(lives("Lisbon"))
    before = f"{door.clock():.6f}"
    await door.memories.choose(ANA, language="zh")
    await door.memories.forget_all(ANA)
    assert await door.hears(lives("Lisbon"), ts=before) == []
    assert (await door.memories.settings(ANA)).language == "zh"
    assert len(await door.hears(lives("Porto"), actor=BEN, ts=before)) == 1, "it is theirs alone"
    assert [each.verdict.step for each in await door.hears(likes("tea"))] == ["add"]
    who, source = Reader(actor=ANA, thread=DM, room_type="im"), Source(thread=DM, ts=before, said_by=ANA)
    asked = await door.memories.learn(who, [lives("Lisbon")], source, said_at=float(before), asked_at=door.clock())
    assert [each.verdict.step for each in asked] == ["add"]
    assert await door.knows() == ["I like tea", "I live in Lisbon"]


async def test_what_was_done_before_everything_was_forgotten_is_not_remembered(door: Door) -> None:
    def episode(text: str, asked: float, done: float) -> Memory:
        return memory(text, ANA, kind=Kind.EPISODE, ts=f"{asked:.6f}", created=done)

    asked = door.clock()
    await door.memories.forget_all(ANA)
    await door.memories.remember([episode("asked before, done after", asked, door.clock()), episode("done after", door.clock(), door.clock())], "run")
    assert await door.knows() == ["done after"]


async def test_of_a_message_of_which_something_was_forgotten_nothing_more_is_learned(door: Door) -> None:
    ts = f"{door.clock():.6f}"
    told, _ = await door.hears(lives("Lisbon"), likes("tea"), ts=ts)
    assert told.memory is not None
    await door.memories.forget(ANA, [told.memory.id])
    assert await door.hears(lives("Lisbon"), likes("coffee"), ts=ts) == []
    assert await door.knows() == ["I like tea"]
    assert [each.verdict.step for each in await door.hears(lives("Lisbon"))] == ["add"], "said again it is told again"


class Meanwhile:
    """A store in which something else happens right before a certain owner's record is written for the first time."""

    def __init__(self, store: Any, what: Any) -> None:
        self._store = store
        self.what = what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def put(self, records: Any, **more: Any) -> None:
        if any(record.owner.kind == "room" for record in records) and self.what is not None:
            what, self.what = self.what, None
            await what()
        await self._store.put(records, **more)


async def test_an_agreement_that_is_being_learned_while_everything_is_forgotten_does_not_stay(door: Door) -> None:
    text = "We deploy on Tuesdays"
    slow: Any = Meanwhile(door.memories.store, lambda: door.memories.forget_all(ANA))
    learning = Memories(slow, None, now=door.clock)
    who, at = Reader(actor=ANA, thread=CHANNEL, room_type="channel"), door.clock()
    source = Source(thread=CHANNEL, ts=f"{at:.6f}", said_by=ANA)
    await learning.learn(who, [Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text)], source, said_at=at)
    assert slow.what is None, "it came to that"
    assert (await door.memories.room_listed(CHANNEL)).memories == ()


async def test_where_its_owner_let_a_memory_be_recalled_holds_for_whatever_its_message_tells_later(door: Door) -> None:
    ts = f"{door.clock():.6f}"
    kept = await one(door, lives("Lisbon"), thread=CHANNEL, room_type="channel", ts=ts)
    assert kept.audience == WORKSPACE
    await door.memories.readdress(ANA, kept.id, PRIVATE)
    await door.memories.withdraw(ANA, [kept.id], thread=CHANNEL)
    again = await one(door, lives("Porto"), thread=CHANNEL, room_type="channel", ts=ts)
    assert again.audience == PRIVATE
    await door.memories.readdress(ANA, again.id, WORKSPACE)
    await door.memories.withdraw(ANA, [again.id], thread=CHANNEL)
    wide = await one(door, lives("Rome"), thread=CHANNEL, room_type="channel", ts=ts)
    assert wide.audience == WORKSPACE, "they may change their mind"
    private = await one(door, likes("tea"), ts=f"{door.clock():.6f}")
    await door.memories.readdress(ANA, private.id, WORKSPACE)
    also = await one(door, likes("coffee"), ts=private.source.ts)
    assert also.audience == PRIVATE, "other words of a private message were not released"


async def test_taking_a_wider_audience_back_holds_for_its_message_too(door: Door) -> None:
    kept = await one(door, lives("Lisbon"), thread=CHANNEL, room_type="channel", ts=f"{door.clock():.6f}")
    await door.memories.readdress(ANA, kept.id, PRIVATE)
    await door.memories.readdress(ANA, kept.id, WORKSPACE)
    newest = (await door.memories.history(ANA))[0]
    assert await door.memories.undo(ANA, newest.id) is not None
    await door.memories.withdraw(ANA, [kept.id], thread=CHANNEL)
    again = await one(door, lives("Porto"), thread=CHANNEL, room_type="channel", ts=kept.source.ts)
    assert again.audience == PRIVATE
