"""Duplicates and disorder are absorbed: however often and in whatever order an event or a click comes, a message starts one run and an approval one execution.

Each event is delivered one to four times, the two events of a mention in both orders and up to 250 ms apart, others again because
the bot was killed before it acknowledged them. Buttons are pressed twice, late, by two people at once, and again after a crash.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import Reply, echo_policy, obey_policy
from tests.fakes.scripted_policies import NONCE, content_text
from tests.fakes.stack import shown
from tests.promises.harness import House, house, stored
from tests.promises.kit import TOOLS, Replacement, Upstream

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

CLICKS = ("once", "twice at once", "twenty at once", "by two people", "late", "approved and denied")


def policy(request: dict[str, Any]) -> Reply:
    """Writes where a write is asked for in the thread, else answers every nonce."""
    said = "\n".join(content_text(m) for m in request["messages"] if m["role"] == "user")
    return obey_policy(request) if "CALL" in said else echo_policy(request)


@dataclass
class Told:
    """A message that must be answered once, and where its answer comes."""

    nonce: str
    channel: str
    ts: str | None
    """Its thread; None in a direct conversation."""


class Story:
    """What people say and press."""

    def __init__(self, home: House, chance: random.Random, replacement: Replacement) -> None:
        self.home = home
        self.chance = chance
        self.replacement = replacement
        self.told: list[Told] = []
        self.asked: dict[int, tuple[str, str]] = {}
        """Number of a write → its tool and thread."""
        self.clicks: Counter[str] = Counter()
        self.events = 0

    async def say(self, user: str, channel: str, words: str, thread_ts: str | None = None) -> str:
        """Say something whose events come several times, in any order."""
        copies = self.chance.randrange(1, 5)
        self.home.slack.delivery(copies=copies, order=self.chance.choice(["mention_first", "message_first"]), gap_ms=self.chance.choice([0, 0, 5, 60, 250]))
        self.events += copies
        return await self.home.slack.say(user, channel, words, thread_ts)

    async def message(self, n: int) -> None:
        """A mention and a follow-up, or a direct message."""
        nonce = f"#m{n * 2}"
        who = ("alice", "bruno", "mei")[n % 3]
        if n % 4 == 3:
            direct = self.home.slack.dm(who)
            await self.say(who, direct, f"hello {nonce}")
            self.told.append(Told(nonce, direct, None))
            return
        ts = await self.say(who, "#orders", f"@steward 你好 {nonce}")
        self.told.append(Told(nonce, "#orders", ts))
        if n % 2:
            await self.home.until(lambda: self.home.own("#orders", ts), 120, f"an answer to {nonce}")
            more = f"#m{n * 2 + 1}"
            await self.say(who, "#orders", f"and {more}", ts)
            self.told.append(Told(more, "#orders", ts))

    async def write(self, n: int) -> None:
        """A write, decided with too many clicks."""
        home, kind, way = self.home, ("book", "ship")[n % 2], CLICKS[n % len(CLICKS)]
        ts = await self.say("alice", "#orders", f'@steward CALL {kind} {{"n": {n}}}')
        self.asked[n] = (kind, ts)
        await home.until(lambda: home.open_cards("#orders", ts), 120, f"the card of {n}")
        card = str(home.open_cards("#orders", ts)[0]["ts"])
        self.clicks[way] += 1
        many = {"twice at once": 2, "twenty at once": 20}.get(way, 1)
        jobs = [home.click("alice", "#orders", card) for _ in range(many)]
        if way == "by two people":
            jobs += [home.click("bruno", "#orders", card), home.click("mei", "#orders", card)]
        if way == "approved and denied":
            jobs.append(home.click("alice", "#orders", card, "steward:deny"))
        await asyncio.gather(*jobs)
        await home.until(lambda: home.texts("#orders", ts), 120, f"the answer about {n}")
        if n % 3 == 0:
            self.replacement.kill()
        await asyncio.gather(*(home.click("alice", "#orders", card) for _ in range(2 if way == "late" else 1)))


async def test_every_message_starts_one_run_and_every_approval_one_execution(figures: Recorder, full: bool, tmp_path: Path) -> None:
    messages, writes = (400, 100) if full else (20, 6)
    chance = random.Random(7)
    with stored() as valkey:
        async with Upstream() as upstream, house(valkey, policy, tmp_path, tool_modules=list(TOOLS), resources={"upstream": upstream.url}) as home:
            replacement = Replacement(home)
            story = Story(home, chance, replacement)
            room = asyncio.Semaphore(10)

            async def tell(n: int) -> None:
                async with room:
                    if n % (25 if full else 12) == 5:
                        replacement.kill()  # what it had not acknowledged comes again
                    await (story.message(n) if n < messages else story.write(n))

            order = list(range(messages + writes))
            chance.shuffle(order)

            async def everything() -> None:
                await asyncio.gather(*map(tell, order))
                await home.settled(120)

            await replacement.during(everything())
            answers: Counter[str] = Counter()
            for channel, ts in {(told.channel, told.ts) for told in story.told}:
                own = home.own(channel, ts) if ts else [m for m in home.slack.messages(channel) if m.get("user") == home.slack.bot_user_id]
                answers.update(nonce for message in own for nonce in NONCE.findall(shown(message)))
            runs = {told.nonce: answers[told.nonce] for told in story.told}
            for told in story.told:
                if runs[told.nonce] != 1 and told.ts:
                    print(told, [(m["user"], shown(m)) for m in home.slack.messages(told.channel, told.ts)], await home.log(home.thread(told.channel, told.ts)))
            cards = {n: len(home.cards("#orders", ts)) for n, (_, ts) in story.asked.items()}
            replies = {n: len(home.texts("#orders", ts)) for n, (_, ts) in story.asked.items()}
    wrong = {nonce: times for nonce, times in runs.items() if times != 1}
    most = max(upstream.effects.values())
    denied = CLICKS.index("approved and denied")
    missing = [n for n, (kind, _) in story.asked.items() if kind == "book" and n % len(CLICKS) != denied and upstream.effects[kind, n] != 1]
    print(f"{len(runs)} messages, {replacement.kills} kills, {story.events} events, clicks {dict(story.clicks)}, wrong {wrong}, most executions {most}")
    figures(
        "R7",
        messages=len(runs) + len(story.asked),
        deliveries=len(home.slack.deliveries()),
        bots_killed=replacement.kills,
        runs_missing=sum(times == 0 for times in wrong.values()),
        runs_double=sum(times > 1 for times in wrong.values()) + sum(times != 1 for times in replies.values()),
        approvals=len(story.asked),
        most_executions_of_one_approval=most,
    )
    assert not wrong
    assert most == 1
    assert all(times == 1 for (kind, _), times in upstream.asked.items() if kind == "ship")  # without a key it is not even sent twice
    assert set(cards.values()) == {1}
    assert set(replies.values()) == {1}
    assert not missing
    assert replacement.kills > 0
