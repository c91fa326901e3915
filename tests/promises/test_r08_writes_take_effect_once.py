"""Keyed writes take effect exactly once; unkeyed ones at most once, and never silently: whose outcome cannot be known is reported as unknown.

The system behind the writes breaks the line before or after it did its work, answers with errors, and kills the bot in the
middle of a call, while a new bot takes over. It counts what really happened.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from bot.messages import say
from tests.conftest import Recorder
from tests.fakes.scripted_model import obey_policy
from tests.promises.harness import House, house, stored
from tests.promises.kit import TOOLS, Plan, Replacement, Upstream

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

FAULTS = ("drop_before", "drop_after", "error_after")


def plan(seed: int, kills: float) -> Plan:
    """Chance fixed by a seed and by what is asked: four of ten first tries fail, some of them because the bot is killed; a keyed second try may fail too."""

    def chosen(kind: str, n: int, times: int) -> str:
        chance = random.Random(f"{seed}/{kind}/{n}/{times}")
        if times == 1 and chance.random() < kills:
            return chance.choice(["kill_before", "kill_after"])
        share = {1: 0.4, 2: 0.3}.get(times, 0.0)
        return chance.choice(FAULTS) if chance.random() < share else "ok"

    return chosen


async def _write(home: House, kind: str, n: int, room: asyncio.Semaphore) -> str:
    """Ask for one write, approve it, wait for the end; the first words of the card."""
    async with room:
        ts = await home.slack.say("alice", "#orders", f'@steward CALL {kind} {{"n": {n}}}')
        await home.until(lambda: home.open_cards("#orders", ts), 120, f"the card of {kind} {n}")
        await home.click("alice", "#orders", home.open_cards("#orders", ts)[0]["ts"])
        await home.until(lambda: home.texts("#orders", ts), 120, f"the answer about {kind} {n}")
        return ts


async def test_no_write_is_doubled_no_keyed_one_is_missing_and_no_doubt_is_hidden(figures: Recorder, full: bool, tmp_path: Path) -> None:
    count = 500 if full else 36
    with stored() as valkey:
        async with (
            Upstream(plan(8, 0.08)) as upstream,
            house(valkey, obey_policy, tmp_path, tool_modules=list(TOOLS), resources={"upstream": upstream.url}) as home,
        ):
            replacement = Replacement(home)
            upstream.kill = replacement.kill
            room = asyncio.Semaphore(12)
            kinds = [("book", "ship")[n % 2] for n in range(count)]

            async def story() -> list[str]:
                threads = await asyncio.gather(*(_write(home, kind, n, room) for n, kind in enumerate(kinds)))
                await home.settled(60)
                return threads

            threads = await replacement.during(story())
            states = {n: str(home.cards("#orders", ts)[-1]["text"]) for n, ts in enumerate(threads)}
    done, unknown = say("card_state_done", "en"), say("card_state_unknown", "en")
    keyed, unkeyed = [n for n in range(count) if n % 2 == 0], [n for n in range(count) if n % 2]
    double = [key for key, times in upstream.effects.items() if times > 1]
    missing = [n for n in keyed if upstream.effects["book", n] != 1]
    repeated = [n for n in unkeyed if upstream.asked["ship", n] > 1]
    reported = [n for n in unkeyed if states[n].startswith(unknown)]
    hidden = [n for n in unkeyed if n not in reported and (not states[n].startswith(done) or upstream.effects["ship", n] != 1)]
    wrong = [n for n in keyed if not states[n].startswith(done)]
    doubtful = [n for n in unkeyed if plan(8, 0.08)("ship", n, 1) != "ok" and upstream.asked["ship", n]]
    print(f"{count} writes, {replacement.kills} kills, faults {dict(upstream.failed)}, double {double}, missing {missing}, unknown {len(reported)}")
    figures(
        "R8",
        writes=count,
        bots_killed=replacement.kills,
        faults=sum(times for fault, times in upstream.failed.items() if fault != "ok"),
        double=len(double),
        keyed_missing=len(missing),
        unkeyed_sent_twice=len(repeated),
        reported_unknown=len(reported),
        doubts_not_reported=len(hidden) + len(set(doubtful) - set(reported)),
    )
    assert not double
    assert not missing
    assert not repeated
    assert not wrong, [states[n] for n in wrong]
    assert not hidden, [states[n] for n in hidden]
    assert set(doubtful) <= set(reported)
    assert replacement.kills > 0
    assert Counter(states[n].split(":")[0] for n in unkeyed)[unknown] == len(reported) > 0
