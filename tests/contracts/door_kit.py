"""The one door to long-term memory as the contracts use it: two people, their places, a clock of its own, and what they say."""

from __future__ import annotations

from typing import Any

from memory.keys import Actor, Thread
from memory.longterm.access import Reader, RoomType
from memory.longterm.candidate import Candidate
from memory.longterm.memories import Learned, Memories
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.question import Question
from memory.tokens import estimate

ANA, BEN = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
DM = Thread(team_id="T1", channel_id="D1")
CHANNEL = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


class Clock:
    """Seconds since the epoch, at the test's choosing."""

    def __init__(self) -> None:
        self.at = 1_790_000_000.0

    def __call__(self) -> float:
        self.at += 1.0
        return self.at


class Door:
    """The door, and how a test says things at it."""

    def __init__(self, memories: Memories, clock: Clock) -> None:
        self.memories = memories
        self.clock = clock

    async def hears(
        self, *candidates: Candidate, actor: Actor = ANA, thread: Thread = DM, room_type: RoomType = "im", ts: str = "", **reader: Any
    ) -> list[Learned]:
        """One message said now."""
        at = self.clock()
        source = Source(thread=thread, ts=ts or f"{at:.6f}", said_by=actor)
        who = Reader(actor=actor, thread=thread, room_type=room_type, **reader)
        return await self.memories.learn(who, candidates, source, said_at=float(source.ts))

    async def knows(self, actor: Actor = ANA) -> list[str]:
        """What holds, newest first."""
        return [memory.text for memory in (await self.memories.listed(actor)).memories]

    async def recalls(self, words: str, *, actor: Actor = ANA, thread: Thread = DM, room_type: RoomType = "im", **reader: Any) -> list[str]:
        """What an answer would be told."""
        who = Reader(actor=actor, thread=thread, room_type=room_type, **reader)
        found = await self.memories.recall(Question(who, words, now=self.clock()), tokens=2_000, count=estimate, limit=20.0)
        return [each.memory.text for each in found.found]


def lives(city: str, **more: Any) -> Candidate:
    return Candidate(kind=Kind.FACT, key="home", text=f"I live in {city}", value=city.casefold(), single=True, quote=f"I live in {city}", **more)


def likes(what: str, **more: Any) -> Candidate:
    return Candidate(kind=Kind.PREFERENCE, key=f"like:{what}", text=f"I like {what}", value=what, quote=f"I like {what}", **more)


async def one(door: Door, candidate: Candidate, **where: Any) -> Memory:
    [learned] = await door.hears(candidate, **where)
    assert learned.memory is not None
    return learned.memory
