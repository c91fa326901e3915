"""Tenants and people are apart.

Two workspaces with equal user and channel ids share one store. Random operations of everybody on their memories, many of them with the ids of
somebody else's memories and changes: whatever comes back is the person's own or their own channel's, and nothing of anybody else's changes.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from memory.embedder import Floats
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, Reader
from memory.longterm.candidate import Candidate
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Settings, Source
from memory.longterm.question import Question
from tests.conftest import Recorder
from tests.fakes.stores import ENGINES, MODEL, SIZE, opened

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

TEAMS, USERS, CHANNELS = ("T1", "T2"), ("U1", "U2", "U3"), ("C1", "C2", "D1")
THINGS: Final = ("peanuts", "rain", "jazz", "雨天", "花生", "爵士乐", "trains", "coffee", "会议", "reports")
MARK: Final = re.compile(r"zz[a-z0-9]+zz")
OPERATIONS: Final = {
    "learn": 30, "agree": 6, "recall": 20, "find": 8, "list": 8, "room": 5, "get": 14, "edit": 8, "readdress": 8, "forget": 12,
    "history": 4, "undo": 4, "export": 3, "choose": 3, "settings": 2, "forget_all": 1,
}  # fmt: skip


class Hashed:
    """An embedder whose vectors mean nothing and are always the same."""

    name, size = MODEL, SIZE

    async def passages(self, texts: Sequence[str]) -> Floats:
        return np.array([self._vector(text) for text in texts], np.float32)

    async def query(self, text: str) -> Floats:
        return self._vector(text)

    async def queries(self, texts: Sequence[str]) -> Floats:
        return await self.passages(texts)

    @staticmethod
    def _vector(text: str) -> Floats:
        raw = np.frombuffer(hashlib.sha256(text.encode()).digest()[:SIZE], np.uint8).astype(np.float32) + 1.0
        return np.asarray(raw / np.linalg.norm(raw), np.float32)


def mark(team: str, one: str) -> str:
    """The word that tells whose a text is."""
    return f"zz{team}{one}zz".lower()


class Crowd:
    """Everybody, doing things at random; `crossed` counts what went over a border, by operation."""

    def __init__(self, memories: Memories, seed: int) -> None:
        self.memories = memories
        self.chance = random.Random(seed)
        self.clock = 1_790_000_000.0
        self.crossed: Counter[str] = Counter()
        self.brought: Counter[str] = Counter()
        """Operations that brought something, by name."""
        self.ids: list[str] = []
        self.changes: list[str] = []
        self.settings: dict[Actor, Settings] = {}
        """What each person chose last."""

    async def act(self, number: int) -> None:
        self.clock += 1.0
        names = list(OPERATIONS)
        name = self.chance.choices(names, list(OPERATIONS.values()))[0]
        actor = Actor(team_id=self.chance.choice(TEAMS), user_id=self.chance.choice(USERS))
        thread = Thread(team_id=actor.team_id, channel_id=self.chance.choice(CHANNELS), thread_ts="1.0")
        reader = Reader(actor=actor, thread=thread, room_type="im" if thread.channel_id == "D1" else "channel")
        given = await getattr(self, f"_{name}")(actor, reader, number)
        said = written(given)
        allowed = {mark(actor.team_id, actor.user_id), mark(actor.team_id, thread.channel_id)}
        self.crossed[name] += len(set(MARK.findall(said)) - allowed)
        self.brought[name] += bool(MARK.search(said))

    async def _kept(self, reader: Reader, kind: Kind, whose: str, number: int) -> Any:
        text = f"I like {self.chance.choice(THINGS)} number {self.chance.randrange(40)} {whose}"
        key = f"{kind.value}:{self.chance.choice(THINGS)}"
        one = Candidate(kind=kind, key=key, text=text, quote=text, explicit=True, single=self.chance.random() < 0.2, always=self.chance.random() < 0.1)
        source = Source(thread=reader.thread, ts=f"{self.clock:.6f}", said_by=reader.actor)
        learned = await self.memories.learn(reader, [one], source, said_at=self.clock)
        self.ids += [each.memory.id for each in learned if each.memory is not None]
        return learned

    async def _learn(self, actor: Actor, reader: Reader, number: int) -> Any:
        kind = self.chance.choice((Kind.FACT, Kind.PREFERENCE, Kind.PLAN))
        return await self._kept(reader, kind, mark(actor.team_id, actor.user_id), number)

    async def _agree(self, actor: Actor, reader: Reader, number: int) -> Any:
        one = actor.user_id if reader.room_type == "im" else reader.thread.channel_id
        return await self._kept(reader, Kind.AGREEMENT, mark(actor.team_id, one), number)

    async def _recall(self, actor: Actor, reader: Reader, _: int) -> Any:
        question = Question(reader, f"what about {self.chance.choice(THINGS)} and {self.chance.choice(THINGS)}?", now=self.clock)
        return (await self.memories.recall(question, tokens=2_000, count=len, limit=30.0)).found

    async def _find(self, actor: Actor, reader: Reader, _: int) -> Any:
        whose = mark(self.chance.choice(TEAMS), self.chance.choice(USERS))
        return await self.memories.find(actor, f"{self.chance.choice(THINGS)} {whose}")

    async def _list(self, actor: Actor, reader: Reader, _: int) -> Any:
        page = await self.memories.listed(actor, limit=self.chance.randrange(1, 50), live=self.chance.random() < 0.5)
        return [*page.memories, *page.disputed]

    async def _room(self, actor: Actor, reader: Reader, _: int) -> Any:
        return (await self.memories.room_listed(reader.thread)).memories

    async def _get(self, actor: Actor, reader: Reader, _: int) -> Any:
        return await self.memories.get(actor, self._any())

    async def _edit(self, actor: Actor, reader: Reader, number: int) -> Any:
        return await self.memories.edit(actor, self._any(), f"I prefer {self.chance.choice(THINGS)} {number} {mark(actor.team_id, actor.user_id)}")

    async def _readdress(self, actor: Actor, reader: Reader, _: int) -> Any:
        return await self.memories.readdress(actor, self._any(), self.chance.choice((PRIVATE, WORKSPACE, Audience(scope="channel", channel_id="C1"))))

    async def _forget(self, actor: Actor, reader: Reader, _: int) -> Any:
        # Agreements of the channel go when their own speaker asks; others' stay.
        return await self.memories.forget(actor, [self._any() for _ in range(20)], thread=reader.thread if reader.room_type != "im" else None)

    async def _forget_all(self, actor: Actor, reader: Reader, _: int) -> Any:
        gone = await self.memories.forget_all(actor)
        return [memory for memory in gone if memory.source.said_by != actor]  # agreements they said, in any channel, are theirs to take back

    async def _history(self, actor: Actor, reader: Reader, _: int) -> Any:
        found = await self.memories.history(actor)
        self.changes += [change.id for change in found]
        return found

    async def _undo(self, actor: Actor, reader: Reader, _: int) -> Any:
        return await self.memories.undo(actor, self.chance.choice(self.changes)) if self.changes else None

    async def _export(self, actor: Actor, reader: Reader, _: int) -> Any:
        return await self.exported(actor)

    async def exported(self, actor: Actor) -> dict[str, Any]:
        """An export; the agreements in it bear their channel's mark, and are looked at by who said them where."""
        given = await self.memories.export(actor)
        agreed = given.pop("agreements", [])
        self.crossed["agreements"] += sum(Actor.model_validate(one["source"]["said_by"]) != actor or one["owner"]["team_id"] != actor.team_id for one in agreed)
        return given

    async def _choose(self, actor: Actor, reader: Reader, _: int) -> Any:
        chosen = await self.memories.choose(actor, learning=self.chance.random() < 0.9, language=self.chance.choice(("", "en", "zh")))
        self.settings[actor] = chosen
        return chosen

    async def _settings(self, actor: Actor, reader: Reader, _: int) -> None:
        if actor in self.settings and await self.memories.settings(actor) != self.settings[actor]:
            self.crossed["settings"] += 1

    def _any(self) -> str:
        """Anybody's memory; the newer ones rather, which are still there."""
        return self.chance.choice(self.ids[-40:]) if self.ids else "00000000-0000-0000-0000-000000000000"


def written(given: Any) -> str:
    """All of what an operation gave, as text."""
    return repr(given)


STANDS_IN: Final = 500
"""Operations on one store of the client's stand-in for a server: it looks at every record it ever had in each call, so ten thousand take hours."""


@pytest.mark.parametrize("engine", ENGINES)
async def test_whatever_comes_back_is_ones_own(engine: str, tmp_path: Path, full: bool, figures: Recorder) -> None:
    operations = 10_000 if full else 400
    at_once = min(operations, STANDS_IN) if engine == "memory" else operations
    crossed: Counter[str] = Counter()
    brought: Counter[str] = Counter()
    for seed in range(operations // at_once):
        async with opened(engine, tmp_path / f"store{seed}") as store:
            crowd = Crowd(Memories(store, Hashed(), now=lambda: crowd.clock), 7 + seed)  # noqa: B023 - called in this round only
            for number in range(at_once):
                await crowd.act(number)
            # What each holds at the end bears their own mark: nobody wrote into anybody else's.
            for team in TEAMS:
                for user in USERS:
                    crowd.crossed["end"] += len(set(MARK.findall(written(await crowd.exported(Actor(team_id=team, user_id=user))))) - {mark(team, user)})
        crossed.update(crowd.crossed)
        brought.update(crowd.brought)
    figures("S7", **{f"operations_{engine}": operations, f"cross_reads_{engine}": crossed.total(), f"brought_{engine}": brought.total()})
    print(f"S7 {engine}: {operations} operations, {crossed.total()} cross reads, {dict(brought)}")

    assert {name: count for name, count in crossed.items() if count} == {}
    blind = {"choose", "settings", "forget_all"}
    assert {name for name in OPERATIONS if name not in blind and not brought[name]} == set()
