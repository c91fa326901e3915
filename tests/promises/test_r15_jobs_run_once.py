"""A job is done once for each time it is due.

Three replicas keep time for one job over one store. Again and again the one that has the tick is killed in the middle of it, at each of its
steps in turn, and replaced. No tick is completed twice; a killed owner's tick is taken over where it was, or missed and caught up by the next.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Recorder
from tests.fakes.valkey import Valkey
from tests.promises.ticking import STEPS

pytestmark = pytest.mark.promise

ROOT = Path(__file__).parents[2]
REPLICAS = 3
EVERY = 0.3
"""Seconds between ticks."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a replica noted: `begun`, `step` or `done`, of which tick (ms), a number, by whom."""

    what: str
    slot: int
    number: int
    pid: int


class Replicas:
    """The replicas, and the file all of them write to."""

    def __init__(self, url: str, folder: Path) -> None:
        self.file = folder / "notes"
        self.file.touch()
        self._url = url
        self._alive: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.promises.ticking", self._url, str(self.file), str(EVERY)]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
        self._alive[process.pid] = process

    def kill(self, pid: int) -> None:
        process = self._alive.pop(pid)
        process.kill()
        process.wait()

    def lines(self) -> list[Line]:
        whole = self.file.read_text().rpartition("\n")[0].splitlines()
        return [Line(what, int(slot), int(number), int(pid)) for what, slot, number, pid in map(str.split, whole)]

    def up(self) -> int:
        return len({line.pid for line in self.lines() if line.what == "up"} & self._alive.keys())

    def ended(self) -> list[str]:
        return [f"{pid}: {process.returncode}" for pid, process in self._alive.items() if process.poll() is not None]

    def close(self) -> None:
        for process in self._alive.values():
            process.terminate()
        for process in self._alive.values():
            process.wait(10)


@contextmanager
def replicas(folder: Path) -> Iterator[Replicas]:
    store = Valkey()
    made = Replicas(store.url, folder)
    try:
        for _ in range(REPLICAS):
            made.start()
        yield made
    finally:
        made.close()
        store.close()


async def killed_in_the_middle(there: Replicas, place: int) -> Line:
    """Kill whoever works on a tick that begins from now on, once it is at `place` (0: it has just begun), and replace it. The last thing it noted."""
    before = {line.slot for line in there.lines() if line.slot}
    while True:
        assert there.ended() == []
        for line in there.lines():
            reached = line.what == "begun" if place == 0 else line.what == "step" and line.number == place - 1
            if reached and line.slot not in before:
                there.kill(line.pid)
                there.start()
                return line
        await asyncio.sleep(0.002)


@pytest.mark.timeout(600)
async def test_each_tick_is_done_once_whoever_is_killed(tmp_path: Path, full: bool, figures: Recorder) -> None:
    ticks, kills = (200, 20) if full else (16, 3)
    with replicas(tmp_path) as there:
        while there.up() < REPLICAS or not any(line.what == "done" for line in there.lines()):
            assert there.ended() == []
            await asyncio.sleep(0.01)
        first = max(line.slot for line in there.lines() if line.what == "done")
        step = round(EVERY * 1000)
        killed: list[Line] = []
        for number in range(kills):
            wanted = first + step * (1 + number * ticks // kills)
            while max(line.slot for line in there.lines()) < wanted or there.up() < REPLICAS:
                await asyncio.sleep(0.01)
            killed.append(await killed_in_the_middle(there, number % STEPS))
        while max(line.slot for line in there.lines() if line.what == "done") < first + step * ticks:
            assert there.ended() == []
            await asyncio.sleep(0.01)
        lines = there.lines()

    wanted_slots = range(first, first + step * ticks, step)
    completed = Counter(line.slot for line in lines if line.what == "done")
    really = {line.slot: line for line in killed if not any(each.what == "done" and each.slot == line.slot and each.pid == line.pid for each in lines)}
    missed = [slot for slot in wanted_slots if not completed[slot]]
    by_kill = {slot: [each for each in missed if slot <= each <= slot + step] for slot in really}
    resumed = [line for line in lines if line.what == "begun" and line.number and line.slot in completed]
    steps = Counter((line.slot, line.number) for line in lines if line.what == "step")
    measured = {
        "double": sum(count > 1 for count in completed.values()),
        "missed": len(missed),
        "most_missed_a_kill": max(map(len, by_kill.values()), default=0),
        "taken_over": sum(slot in completed for slot in really),
        "not_caught_up": sum(not completed[slot + step] for slot in missed if slot + step in wanted_slots),
        "steps_repeated": sum(count - 1 for count in steps.values()),
    }
    figures("R15", replicas=REPLICAS, ticks=ticks, kills=len(killed), killed_in_work=len(really), resumed=len(resumed), **measured)
    print(
        f"R15 {REPLICAS} replicas, {ticks} ticks, {len(killed)} kills ({len(really)} in the middle of a tick): {measured}, {len(resumed)} went on in the middle"
    )

    assert measured["double"] == 0
    assert measured["most_missed_a_kill"] <= 1
    assert len(missed) <= len(really)
    assert measured["not_caught_up"] == 0
    assert len(really) > kills / 2
