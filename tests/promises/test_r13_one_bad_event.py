"""One bad event harms only itself.

Three kinds of it: a mail that cannot be read, a card that cannot be drawn (each attempt ends in an exception), and a
tool that ends the whole process. It is set aside, the person is told, and the thread goes on to serve. Beside it many
healthy sessions are answered as if it were not there: their times are held against those of a second house that is
busy at the same moment on the same machine, without the bad event.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest

from bot.messages import say
from tests.conftest import Recorder
from tests.fakes.scripted_model import obey_policy
from tests.promises.harness import ALICE, BRUNO, MEI, House, Nursery, eventually, percentile, stored
from tests.promises.record_tools import noted

pytestmark = pytest.mark.promise

CHANNEL = "#orders"
TOLD: Final = say("parked", "en", ref="•").split("•", maxsplit=1)[0]


@contextlib.asynccontextmanager
async def replicas(there: House, count: int) -> AsyncIterator[None]:
    """`count` bots, each replaced by a new process whenever it ends."""

    async def place() -> None:
        while True:
            bot = await there.bot()
            await bot.end()

    async def ready() -> bool:
        return sum(bot.ready.done() for bot in there.bots) >= count

    places = [asyncio.create_task(place()) for _ in range(count)]
    try:
        await eventually(ready, 60)
        yield
    finally:
        for each in places:
            each.cancel()
        await asyncio.gather(*places, return_exceptions=True)


async def unreadable_mail(there: House) -> str:
    """A mail of a known kind that makes no sense, in a thread that was answered before. (An unknown kind would be a newer program's, and be left to it.)"""
    ts = await there.slack.say(MEI, CHANNEL, "@steward hello")
    await there.until(lambda: there.texts(CHANNEL, ts), what="the thread's first answer")
    await there.at_ease()
    thread = there.thread(CHANNEL, ts)
    await there.store.rpush(there.key("mail", thread), b'{"kind": "mention", "text": 7}')
    await there.store.zadd(there.keys.due(thread.shard), {thread.id: time.time() * 1000})
    return ts


async def undrawable_card(there: House) -> str:
    return await there.slack.say(MEI, CHANNEL, '@steward CALL note_undrawable {"text": "never"}')


async def deadly_tool(there: House) -> str:
    return await there.slack.say(MEI, CHANNEL, '@steward CALL end_the_process {"text": "down"}')


KINDS: Final[dict[str, tuple[Callable[[House], Awaitable[str]], int, float]]] = {
    # What to do, how often it is tried, and the seconds between two healthy requests. An end without a word counts half,
    # because it may have come from outside. Whoever is being answered by a process when it ends waits for its lease to run
    # out; there the requests are further apart, so that the figure tells whether anybody else waits too.
    "mail": (unreadable_mail, 3, 0.2),
    "card": (undrawable_card, 3, 0.2),
    "exit": (deadly_tool, 6, 0.6),
}


async def healthy(there: House, count: int, every: float, rng: random.Random) -> list[float]:
    """Ask in `count` threads, one after the other, about `every` seconds apart; seconds to each answer, which comes once."""

    async def one() -> float:
        began = asyncio.get_running_loop().time()
        ts = await there.slack.say(rng.choice([ALICE, BRUNO]), CHANNEL, "@steward hello")
        await there.until(lambda: there.texts(CHANNEL, ts), 90, f"an answer in {ts}")
        seconds = asyncio.get_running_loop().time() - began
        threads.append(ts)
        return seconds

    threads: list[str] = []
    tasks = []
    for _ in range(count):
        tasks.append(asyncio.create_task(one()))
        await asyncio.sleep(rng.uniform(0.5, 1.5) * every)  # people do not wait for each other
    seconds = list(await asyncio.gather(*tasks))
    await there.settled(60)
    for ts in threads:
        assert there.texts(CHANNEL, ts) == ["done"]
    return seconds


def attempts_at(there: House, ts: str) -> int:
    """How often the bad event's session failed, by the logs and by what the tool left behind."""
    logs = "".join(bot.log.read_text(encoding="utf-8") for bot in there.bots)
    return sum('"session_failed"' in line and ts in line for line in logs.splitlines()) + len(noted(there.folder, "attempts"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_bad_event_is_set_aside_and_harms_nobody_else(kind: str, tmp_path: Path, full: bool, figures: Recorder) -> None:
    bring_about, tries, pace = KINDS[kind]
    count, every = (100, pace) if full else (12, pace / 2)
    with stored() as valkey:
        async with (
            Nursery(tmp_path) as nursery,
            House(nursery, valkey, obey_policy, tmp_path / "with", db=0) as there,
            House(nursery, valkey, obey_policy, tmp_path / "without", db=1) as other,
            replicas(there, 2),
            replicas(other, 2),
        ):
            ts = await bring_about(there)
            before, after = await asyncio.gather(healthy(other, count, every, random.Random(13)), healthy(there, count, every, random.Random(13)))
            await there.until(lambda: any(TOLD in said for said in there.texts(CHANNEL, ts)), 60, "a word to the person")
            tried = attempts_at(there, ts)
            await there.slack.say(MEI, CHANNEL, "@steward and now?", ts)
            await there.until(lambda: there.texts(CHANNEL, ts)[-1] == "done", what="the thread's next answer")
            await there.settled()
            told = sum(TOLD in said for said in there.texts(CHANNEL, ts))
    ratio = round(percentile(after, 0.95) / percentile(before, 0.95), 2)
    late = sum(seconds > 1.2 * percentile(before, 0.95) for seconds in after)
    measured = {"attempts": tried, "told": told, "others": len(after), "others_late": late, "others_p95_ratio": ratio}
    figures("R13", **{f"{kind}_{name}": value for name, value in measured.items()})
    print(f"R13 {kind}: {measured}; p95 without it {percentile(before, 0.95) * 1000:.0f} ms")

    assert told == 1
    assert tried == tries
    assert noted(tmp_path / "with", "unkeyed") == []
    if full and kind == "exit":
        # Whoever is being answered by a process when it ends waits for its lease to run out: a few at each end, and no others.
        assert late <= 2 * tries
    elif full:
        assert ratio <= 1.2
