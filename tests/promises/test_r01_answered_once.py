"""A stored mention is answered exactly once, in order, whatever dies.

People write in many threads at once, a part of the events comes twice, and at random moments one of the two replicas is
killed without warning. Every mention carries a number; in the end each number stands in exactly one message of its own
thread, in the order asked, and nothing else stands there. Each model answer repeats the numbers it was asked about, so
a burst of one person may be answered together.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import Reply, echo_policy, stall_after, text
from tests.promises.harness import ALICE, BRUNO, MEI, Bot, House, eventually, house, stored

pytestmark = pytest.mark.promise

LEASE = 2.0
NUMBER = re.compile(r"#m\d+")
PHRASES = ("@steward what about {}?", "@steward 请看一下 {}", "hello @steward, {} please", "@steward {} 谢谢!")


@dataclass
class Talk:
    """One thread: who asks what in it, in order."""

    channel: str
    people: list[str]
    numbers: list[str]
    copies: list[int]
    ts: str = ""
    asked: list[str] = field(default_factory=list)


def slowly(request: dict[str, Any]) -> Reply:
    """Echo; some answers come in pieces with a pause between, so that a part of them is shown before the end."""
    reply = echo_policy(request)
    said = "".join(reply.completion.pieces)
    return stall_after(2, text(said, pieces=1), seconds=0.45) if zlib.crc32(said.encode()) % 8 == 0 else reply


def talks(rng: random.Random, mentions: int, threads: int) -> list[Talk]:
    made = [Talk(rng.choice(["#general", "#orders"]), [], [], []) for _ in range(threads)]
    for number in range(mentions):
        talk = made[number] if number < threads else rng.choice(made)
        bursting = talk.people and rng.random() < 0.5
        talk.people.append(talk.people[-1] if bursting else rng.choice([ALICE, BRUNO, MEI]))
        talk.numbers.append(f"#m{number}")
        talk.copies.append(2 if rng.random() < 0.3 else 1)
    return made


class Storm:
    """People talking and replicas dying, each waiting for the other, so that the deaths are spread over the whole talk."""

    def __init__(self, there: House, rng: random.Random, mentions: int, kills: int) -> None:
        self._house = there
        self._rng = rng
        self._share = mentions / kills
        self._kills = kills
        self._killed = 0
        self._said = 0
        self._bots: list[Bot] = []

    async def start(self) -> None:
        self._bots = [await self._house.bot(), await self._house.bot()]

    async def people(self, talk: Talk) -> None:
        """Ask one thing after the other, each once the one before is stored; who asks again before the answer makes a burst."""
        slack = self._house.slack
        for person, number, copies in zip(talk.people, talk.numbers, talk.copies, strict=True):
            await self._house.until(lambda: self._said < (self._killed + 2) * self._share, 120, "the next kill")
            self._said += 1
            slack.delivery(copies=copies)
            ts = await slack.say(person, talk.channel, self._rng.choice(PHRASES).format(number), talk.ts or None)
            slack.delivery(copies=1)
            talk.ts = talk.ts or ts
            talk.asked.append(number)
            await self._house.until(lambda ts=ts: ts in self._house.watched.stored, 60, f"{number} stored")  # type: ignore[misc]

    async def death(self) -> None:
        """Kill a replica at a random moment of each share of the talk, and put a new one in its place."""
        for kill in range(self._kills):
            point = (kill + self._rng.random()) * self._share
            await self._house.until(lambda point=point: self._said >= point, 120, f"mention {point:.0f} said")  # type: ignore[misc]
            await asyncio.sleep(self._rng.uniform(0.0, 0.1))  # the moment itself is chance
            place = self._rng.randrange(2)
            await self._house.end(self._bots[place])
            self._bots[place] = await self._house.bot()
            self._killed += 1
            self._house.slack.core.feed.touch()


def judged(there: House, made: list[Talk]) -> dict[str, int]:
    """What stands in the threads, against what was asked there."""
    found = {"lost": 0, "double": 0, "out_of_order": 0, "stray": 0}
    for talk in made:
        texts = there.texts(talk.channel, talk.ts)
        found["stray"] += sum(re.fullmatch(r"#m\d+( #m\d+)*", each) is None for each in texts)
        found["stray"] += bool(there.slack.status(talk.channel, talk.ts))
        answered = [number for each in texts for number in NUMBER.findall(each)]
        found["lost"] += len(set(talk.asked) - set(answered))
        found["stray"] += len(set(answered) - set(talk.asked))
        found["double"] += len(answered) - len(set(answered))
        places = [talk.asked.index(number) for number in answered if number in talk.asked]
        found["out_of_order"] += sum(later < earlier for earlier, later in itertools.pairwise(places))
    return found


@pytest.mark.timeout(900)
async def test_each_mention_is_answered_once_and_in_order_while_replicas_are_killed(tmp_path: Path, full: bool, figures: Recorder) -> None:
    mentions, threads, kills = (1_000, 60, 50) if full else (80, 10, 5)
    rng = random.Random(20_240_520)
    made = talks(rng, mentions, threads)
    with stored() as valkey:
        async with house(valkey, slowly, tmp_path, lease=LEASE) as there:
            there.slack.delivery(order="random", seed=7)
            storm = Storm(there, rng, mentions, kills)
            await storm.start()
            began = asyncio.get_running_loop().time()
            async with asyncio.TaskGroup() as group:
                group.create_task(storm.death())
                for talk in made:
                    group.create_task(storm.people(talk))

            async def all_answered() -> bool:
                return judged(there, made)["lost"] == 0

            await eventually(all_answered, 60, lambda: report(there, made))
            seconds = asyncio.get_running_loop().time() - began
            await there.settled(60)
            found = judged(there, made)
            figures("R1", mentions=mentions, kills=kills, **found, seconds=round(seconds, 1))
            print(f"R1 {mentions} mentions, {kills} kills: {found}, {seconds:.1f} s")

            assert found == {"lost": 0, "double": 0, "out_of_order": 0, "stray": 0}, await report(there, made)
            assert there.model.violations == []


async def report(there: House, made: list[Talk]) -> object:
    """What to read when something is amiss."""
    talked = [(t.channel, t.ts, t.asked, there.texts(t.channel, t.ts), there.slack.status(t.channel, t.ts)) for t in made]
    odd = [each for each in talked if [n for said in each[3] for n in NUMBER.findall(said)] != each[2] or each[4]]
    return judged(there, made), odd, await there.unrest()
