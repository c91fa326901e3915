"""Memories stay with their owner and audience.

Everybody tells something of their own in each place: a direct conversation, private channels, public ones, one shared with another company.
Then all of them ask after such things everywhere, several in one thread. Every request the model got is looked at: nothing told by another
person, in a direct conversation, in another private channel or across companies is ever in it, and what may be recalled is.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from bot.service import Service
from memory.longterm.access import PRIVATE, WORKSPACE, Audience
from playground import seed
from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import Stack
from tests.promises.harness import stored
from tests.scenarios.desk_kit import IDS, actor
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import prompt, remembering

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

THINGS: Final = ("dish", "sport", "author", "colour", "city", "song", "animal")
CANARY: Final = re.compile(r"qv[a-z]+\d+vq")
NONCE: Final = re.compile(r"#ask(\d+)\.")
VAULT: Final = "C01VAULT00"
"""A second private channel."""
ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "dm": ("alice", "bruno", "mei"),
    "#orders": ("alice", "bruno", "mei"),
    "#general": ("alice", "bruno", "mei"),
    "#leads": ("alice", "mei"),
    "#vault": ("alice", "bruno"),
    "#partners": ("alice", "bruno"),
}
"""Who speaks where."""


@dataclass(frozen=True, slots=True)
class Canary:
    """What one person told in one place."""

    word: str
    who: str
    room: str
    thing: str

    def may_be_told(self, who: str, room: str) -> bool:
        """The rule, written once more and plainly."""
        if who != self.who:
            return False
        if room in {"dm", self.room}:
            return True
        return self.room in {"#orders", "#general"} and room != "#partners"


def canaries() -> Iterator[Canary]:
    for place, (room, people) in enumerate(ROOMS.items()):
        for who in people:
            yield Canary(f"qv{who}{place}vq", who, room, THINGS[place])


def told(canary: Canary) -> str:
    if len(canary.word) % 2:
        return f"请记住：我最喜欢的{canary.thing}是 {canary.word}"
    return f"Please remember that my favourite {canary.thing} is {canary.word}"


class Talk:
    """Several threads at a time, one turn after another in each; a direct conversation is one."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._at_once = asyncio.Semaphore(6)
        self._direct = {who: asyncio.Lock() for who in IDS}

    async def thread(self, room: str, turns: Sequence[tuple[str, str]]) -> None:
        """Have people say things in a thread of its own, each once the one before is answered."""
        direct = contextlib.nullcontext() if room != "dm" else self._direct[turns[0][0]]
        async with direct, self._at_once:
            thread = ""
            for who, words in turns:
                thread = await self._say(who, room, words, thread)

    async def _say(self, who: str, room: str, words: str, thread: str) -> str:
        stack, direct = self._stack, room == "dm"
        place = stack.slack.dm(who) if direct else room
        before = len(stack.own(place, None if direct else thread)) if thread or direct else 0
        mention = "" if direct or thread else f"<@{stack.slack.bot_user_id}> "
        ts = await stack.slack.say(who, place, mention + words, **({"thread_ts": thread} if thread else {}))
        await stack.until(lambda: len(stack.own(place, None if direct else thread or ts)) > before, 60.0)
        return thread or ts


def add_vault(stack: Stack) -> None:
    members = [IDS["alice"], IDS["bruno"], stack.slack.bot_user_id]
    stack.slack.add(channels=[{"id": VAULT, "team_id": seed.TEAM_ID, "name": "vault", "kind": "group", "members": members}])


def question(chance: random.Random, number: int) -> str:
    thing = chance.choice(THINGS)
    other = chance.choice(THINGS)
    ways = (
        f"What is my favourite {thing}? #ask{number}.",
        f"我最喜欢的{thing}是什么？还有 {other} 呢？ #ask{number}.",
        f"Whose favourite {thing} do you know, and which {other} do I like? #ask{number}.",
        f"Tell me everything you remember about favourite {thing}s #ask{number}.",
    )
    return chance.choice(ways)


@dataclass(slots=True)
class Looked:
    """What looking at the model's requests brought."""

    prompts: int
    foreign: list[str]
    seen: set[str]


def look(requests: list[Any], asked: dict[int, tuple[str, str]], known: dict[str, Canary]) -> Looked:
    """Whether each canary in each request was allowed for who asked where."""
    result = Looked(0, [], set())
    for request in requests:
        words = prompt(request)
        nonces = NONCE.findall(words)
        if not nonces:
            continue
        result.prompts += 1
        who, room = asked[max(map(int, nonces))]  # the current question is the newest
        for word in set(CANARY.findall(words)):
            if known[word].may_be_told(who, room):
                result.seen.add(word)
            else:
                result.foreign.append(f"{word} told to {who} in {room}")
    return result


async def test_no_request_holds_what_may_not_be_recalled_there(tmp_path: Path, full: bool, figures: Recorder) -> None:
    threads = 500 if full else 24
    chance = random.Random(8)
    known = {canary.word: canary for canary in canaries()}
    asked: dict[int, tuple[str, str]] = {}
    model = ScriptedModel(lambda _: text("Noted."))
    with stored() as valkey:
        async with remembering(valkey, tmp_path, model) as stack:
            add_vault(stack)
            talk = Talk(stack)
            await asyncio.gather(*(talk.thread(canary.room, [(canary.who, told(canary))]) for canary in known.values()))
            await rest(stack)
            await planted(stack.bots[0], known)
            before = len(model.exchanges)
            plans = []
            for _ in range(threads):
                room = chance.choice(list(ROOMS))
                people = chance.sample(ROOMS[room], k=1 if room == "dm" else chance.choice((1, 1, 2)))
                turns = []
                for who in people:
                    turns.append((who, question(chance, len(asked))))
                    asked[len(asked)] = (who, room)
                plans.append((room, turns))
            await asyncio.gather(*(talk.thread(room, turns) for room, turns in plans))
            await rest(stack)
            looked = look(model.requests[before:], asked, known)
    figures("S8", threads=threads, prompts=looked.prompts, foreign=len(looked.foreign), canaries=len(known), seen=len(looked.seen))
    print(f"S8 {threads} threads, {looked.prompts} requests, foreign canaries {len(looked.foreign)}, {len(looked.seen)} of {len(known)} seen where they may be")

    assert looked.foreign == []
    assert looked.prompts >= len(asked)
    assert {known[word].room for word in looked.seen} == set(ROOMS)  # it can see


async def planted(bot: Service, known: dict[str, Canary]) -> None:
    """Every canary is kept, under its owner, with the audience of its place."""
    assert bot.long_term is not None
    channels = {"#leads": seed.LEADS, "#vault": VAULT, "#partners": seed.PARTNERS}
    for canary in known.values():
        found = (await bot.long_term.memories.listed(actor(canary.who), limit=100)).memories
        kept = [memory for memory in found if canary.word in memory.text]
        assert len(kept) == 1, (canary, [memory.text for memory in found])
        wanted = PRIVATE if canary.room == "dm" else Audience(scope="channel", channel_id=channels[canary.room]) if canary.room in channels else WORKSPACE
        assert kept[0].audience == wanted, canary
