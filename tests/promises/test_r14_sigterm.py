"""SIGTERM is gentle.

A replica with many runs in flight, some waiting for the model and some in the middle of a tool, is told to end. It
gives its sessions back and goes; another replica goes on with all of them at once; every person gets one answer, and
no “thinking” line stays behind.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import Reply, held, obey_policy, text
from tests.promises.harness import ALICE, BRUNO, MEI, House, eventually, house, stored
from tests.promises.record_tools import noted

pytestmark = pytest.mark.promise

CHANNELS = ("#orders", "#general")
WORDS = "@steward hello {}", '@steward CALL wait_here {{"text": "{}"}}'


class Model:
    """Holds every answer to a plain request until told to let go; notes when it was asked."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.asked: list[float] = []

    def __call__(self, request: dict[str, Any]) -> Reply:
        if "wait_here" in str(request["messages"]):
            return obey_policy(request)
        self.asked.append(asyncio.get_running_loop().time())
        return held(self.gate, text("done"))


async def one_round(there: House, model: Model, runs: int, turn: int) -> dict[str, float]:
    """Fill the replica, bring a second one up, end the first, let everything finish: seconds to its end and to the last resumption, and answers lost."""
    gate = there.folder / "gate"
    gate.unlink(missing_ok=True)
    shutil.rmtree(there.folder / "attempts", ignore_errors=True)
    model.gate = asyncio.Event()
    model.asked.clear()
    first = there.bots[-1]
    tools = runs // 5
    threads = [
        (channel := CHANNELS[place % 2], await there.slack.say((ALICE, BRUNO, MEI)[place % 3], channel, WORDS[place < tools].format(f"{turn}-{place}")))
        for place in range(runs)
    ]

    def attempts() -> int:
        return sum(each["text"].startswith(f"{turn}-") for each in noted(there.folder, "attempts"))

    async def in_flight() -> bool:
        return len(model.asked) == runs - tools and attempts() == tools

    await eventually(in_flight, 60, counted(model, attempts))
    await there.until(lambda: all(there.slack.status(*thread) for thread in threads[tools:]), 60, "“thinking” in every thread")
    await there.bot()
    model.asked.clear()
    told = asyncio.get_running_loop().time()
    code = await there.end(first, gently=True)

    async def resumed() -> bool:
        return len(model.asked) >= runs - tools and attempts() >= 2 * tools

    await eventually(resumed, 60, counted(model, attempts))
    resumed_at = asyncio.get_running_loop().time()
    gate.touch()
    model.gate.set()
    await eventually(lambda: answered(there, threads), 60)
    await there.settled(60)
    texts = [there.texts(*thread) for thread in threads]
    left = sum(bool(there.slack.status(*thread)) for thread in threads)
    assert code == 0
    return {
        "exit": first.ended_at - told,
        "resumed": resumed_at - first.ended_at,
        "lost": sum("done" not in each for each in texts),
        "double": sum(len(each) > 1 for each in texts),
        "thinking": left,
    }


def counted(model: Model, attempts: Any) -> Any:
    """What to say when runs are missing."""

    async def why() -> str:
        return f"{len(model.asked)} asked, {attempts()} in a tool"

    return why


async def answered(there: House, threads: list[tuple[str, str]]) -> bool:
    return all(there.texts(*thread) for thread in threads)


@pytest.mark.timeout(900)
async def test_a_replica_told_to_end_gives_everything_back_and_another_goes_on(tmp_path: Path, full: bool, figures: Recorder) -> None:
    runs, turns = (50, 20) if full else (10, 2)
    model = Model()
    with stored() as valkey:
        # The lease is long: who waits for it to run out has not been given anything back.
        async with house(valkey, model, tmp_path, lease=30.0, workers=64) as there:
            await there.bot()
            rounds = [await one_round(there, model, runs, turn) for turn in range(turns)]
    total = {name: sum(each[name] for each in rounds) for name in ("lost", "double", "thinking")}
    slowest = {name: round(max(each[name] for each in rounds), 2) for name in ("exit", "resumed")}
    figures("R14", terminations=turns, runs_in_flight=runs, **total, slowest_exit_s=slowest["exit"], slowest_resume_s=slowest["resumed"])
    print(f"R14 {turns} x {runs} runs: {total}, slowest exit {slowest['exit']} s, all resumed at most {slowest['resumed']} s after it")

    assert total == {"lost": 0, "double": 0, "thinking": 0}
    assert slowest["exit"] <= 10.0
    assert slowest["resumed"] <= 1.0 or not full
