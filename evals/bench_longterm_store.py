"""How fast the store of memories is, how much room it takes and how soon it is there, for a thousand people's memories.

The embedded engine is filled with made-up memories of a usual size (a vector of 384 numbers, a dozen words, half a kilobyte of text and
where it came from), at several sizes. A search is what a question asks of it: one person's memories and those of the room, by meaning and by
words, with its filters, through the pipe to the engine's process; making the question's vector is not part of it. Beside it the in-process mode of
`qdrant-client`, which one would take without an engine of one's own, at a size it can do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from qdrant_client import AsyncQdrantClient

from memory.longterm.access import Owner
from memory.longterm.collection import Quantization, Tuning
from memory.longterm.edge import EdgeStore
from memory.longterm.server import ServerStore
from memory.longterm.store import Floats, Record, Store, Where

Json = dict[str, Any]

PEOPLE = 1_000
SIZE = 384
VOCABULARY = 30_000
USUAL, FULL = (1_000, 20_000), (1_000, 100_000, 1_000_000)
PEER = 2_000
"""Records in the peer: it takes 8 ms for each."""
PEERS_PEOPLE = 20


class World:
    """Made-up memories, the same in every run."""

    def __init__(self, people: int) -> None:
        self.random = np.random.default_rng(5)
        self.people = people
        self.topics = self.random.normal(size=(64, SIZE)).astype(np.float32)

    def owner(self, number: int) -> Owner:
        """One of the people."""
        return Owner(team_id="T1", kind="person", id=f"U{number % self.people:05}")

    def vectors(self, count: int) -> Floats:
        """Vectors of unit length around a few topics."""
        raw = self.topics[self.random.integers(0, len(self.topics), count)] + 1.5 * self.random.normal(size=(count, SIZE)).astype(np.float32)
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)

    def words(self, count: int) -> dict[int, float]:
        """Words as frequent as words are."""
        return dict.fromkeys((int(term) % VOCABULARY for term in self.random.zipf(1.2, count)), 1.0)

    def records(self, start: int, count: int) -> list[Record]:
        """Memories of one owner after the other."""
        vectors = self.vectors(count)
        return [self._record(start + n, vectors[n]) for n in range(count)]

    def _record(self, number: int, vector: Floats) -> Record:
        owner = self.owner(number)
        payload = {
            "id": str(UUID(int=number)),
            "owner": owner.model_dump(),
            "kind": "fact",
            "key": f"subject:{number % 97}",
            "text": f"When I check order {number} I only want to know where it is, not what was paid. 我只想知道包裹到哪了。",
            "source": {"thread": {"team_id": "T1", "channel_id": f"C{number % 50}", "thread_ts": f"17{number:08}.000100"}, "ts": f"17{number:08}.000200"},
            "created": 1.7e9 + number,
            "importance": 0.5,
        }
        audience = ("workspace", "private", f"channel:C{number % 5}")[number % 3]
        return Record(str(UUID(int=number)), owner, "memory", payload, audience, "fact", f"subject:{number % 97}", True, 1.7e9 + number, vector, self.words(12))


def milliseconds(taken: Sequence[float]) -> Json:
    """p50 and p99."""
    ordered = sorted(taken)
    return {"p50_ms": 1e3 * statistics.median(ordered), "p99_ms": 1e3 * ordered[int(len(ordered) * 0.99)]}


async def timed(count: int, call: Callable[[int], Awaitable[object]]) -> Json:
    """How long a call takes, one after the other."""
    taken = []
    for number in range(count):
        began = time.perf_counter()
        await call(number)
        taken.append(time.perf_counter() - began)
    return milliseconds(taken)


@asynccontextmanager
async def longest_wait(figures: Json, name: str) -> AsyncIterator[None]:
    """How long the event loop at most did not get its turn."""
    worst = 0.0

    async def watch() -> None:
        nonlocal worst
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, time.perf_counter() - began - 0.001)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        figures[name] = 1e3 * worst


async def fill(store: Store, world: World, count: int) -> float:
    """Records per second, put by owner a few at a time."""
    began, each = time.perf_counter(), min(20, max(1, count // world.people))
    for start in range(0, count, world.people * each):
        rows = [
            world.records(start + part * world.people, min(world.people, count - start - part * world.people))
            for part in range(each)
            if start + part * world.people < count
        ]
        for column in range(len(rows[0])):
            await store.put([row[column] for row in rows if column < len(row)])
    return count / (time.perf_counter() - began)


async def searches(store: Store, world: World, count: int) -> Json:
    """Both legs for one person and a room, and a page of the person's list."""
    questions = [(world.vectors(1)[0], world.words(8)) for _ in range(count)]
    audiences = frozenset({"workspace", "channel:C1"})

    async def ask(number: int) -> None:
        where = Where((world.owner(number * 37), Owner(team_id="T1", kind="room", id="C1")), audiences=audiences, live=True)
        await store.search(where, dense=questions[number][0], words=questions[number][1], limit=100)

    return {"search": await timed(count, ask), "list": await timed(count, lambda n: store.list(Where((world.owner(n),), live=True), limit=20))}


async def puts(store: Store, world: World, count: int, at: int) -> Json:
    """One new record at a time."""
    fresh = world.records(at, count)
    return await timed(count, lambda n: store.put([fresh[n]]))


def resident(pid: int | None) -> float:
    """Bytes a process holds in memory, file pages included; NaN where the system does not say."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return float("nan")
    return 1024 * float(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


async def edge_figures(count: int, home: Path, tuning: Tuning, rounds: int) -> Json:
    """The embedded engine at one size."""
    world, figures = World(PEOPLE), Json(records=count)
    store = EdgeStore(home, model="bench", size=SIZE, tuning=tuning)
    await store.start()
    figures["fill_per_second"] = await fill(store, world, count)
    figures |= await searches(store, world, rounds)
    figures["put"] = await puts(store, world, rounds, count)
    figures["rss_filled"] = resident(store.pid)
    scrubs: list[float] = []
    async with longest_wait(figures, "scrub_longest_wait_ms"):
        for number in range(tuning.shards):
            began = time.perf_counter()
            await store.rewrite(number)
            scrubs.append(time.perf_counter() - began)
    figures["scrub_part_s"] = statistics.median(scrubs)
    figures["disk_bytes_per_record"] = (await store.stats())["disk_bytes"] / (count + rounds)
    figures["rewritten"] = await searches(store, world, rounds)
    began = time.perf_counter()
    await store.close()
    figures["close_s"] = time.perf_counter() - began
    began = time.perf_counter()
    store = EdgeStore(home, model="bench", size=SIZE, tuning=tuning)
    await store.start()
    figures["start_s"] = time.perf_counter() - began
    await store.warm()
    figures["start_warm_s"] = time.perf_counter() - began
    figures["rss_started"] = resident(store.pid)
    figures["started"] = await searches(store, world, rounds)
    await store.close()
    return figures


async def peer_figures(count: int, rounds: int) -> Json:
    """The client's in-process mode on disk, and the embedded engine with the same memories of the same people."""
    figures: Json = {"records": count}
    with tempfile.TemporaryDirectory() as home:
        local = ServerStore(AsyncQdrantClient(path=home), model="bench", size=SIZE, local=True)
        edge = EdgeStore(Path(home) / "edge", model="bench", size=SIZE)
        for name, store in (("local_mode", local), ("edge", edge)):
            world = World(PEERS_PEOPLE)
            await store.start()
            figures[name] = {"fill_per_second": await fill(store, world, count)} | await searches(store, world, rounds)
            figures[name]["put"] = await puts(store, world, rounds, count)
            await store.close()
    return figures


def _pair(part: Json) -> str:
    return f"{part['search']['p50_ms']:.2f}/{part['search']['p99_ms']:.2f}"


COLUMNS: dict[str, Callable[[Json], str]] = {
    "records": lambda each: f"{each['records']:,}",
    "search p50/p99 ms": _pair,
    "rewritten": lambda each: _pair(each["rewritten"]),
    "restarted": lambda each: _pair(each["started"]),
    "list p50": lambda each: f"{each['list']['p50_ms']:.2f}",
    "put p50": lambda each: f"{each['put']['p50_ms']:.2f}",
    "fill/s": lambda each: f"{each['fill_per_second']:.0f}",
    "B/record": lambda each: f"{each['disk_bytes_per_record']:.0f}",
    "RSS MB": lambda each: f"{each['rss_filled'] / 1e6:.0f}/{each['rss_started'] / 1e6:.0f}",
    "start s": lambda each: f"{each['start_s']:.2f}",
    "all open": lambda each: f"{each['start_warm_s']:.2f}",
    "scrub s/part": lambda each: f"{each['scrub_part_s']:.2f}",
    "wait ms": lambda each: f"{each['scrub_longest_wait_ms']:.1f}",
}


def print_figures(figures: Json) -> None:
    """As a table."""
    rows = [list(COLUMNS), *([column(each) for column in COLUMNS.values()] for each in figures["edge"])]
    widths = [max(len(row[n]) for row in rows) for n in range(len(COLUMNS))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    if peer := figures.get("peer"):
        local, edge = peer["local_mode"], peer["edge"]
        ratios = ", ".join(f"{name} {local[name]['p50_ms'] / edge[name]['p50_ms']:.1f}" for name in ("search", "list", "put"))
        filling = edge["fill_per_second"] / local["fill_per_second"]
        print(f"qdrant-client's local mode at {peer['records']:,} records, times of ours: {ratios}; fill {filling:.0f}")


async def main(sizes: Sequence[int], *, rounds: int = 300, quantization: Quantization = "none", peer: bool = True, on_disk: bool = True) -> Json:
    """All figures, printed as they come."""
    figures: Json = {"edge": []}
    for count in sizes:
        with tempfile.TemporaryDirectory(prefix="steward-store-") as home:
            figures["edge"].append(await edge_figures(count, Path(home) / "store", Tuning(quantization=quantization, on_disk=on_disk), rounds))
    if peer:
        figures["peer"] = await peer_figures(PEER, min(rounds, 100))
    figures["own_rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform == "linux" else 1)
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evals.bench_longterm_store", description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--full", action="store_true", help="up to a million records: some minutes and 5 GB of disk")
    parser.add_argument("--records", type=int, action="append", help="a size of one's own; may be repeated")
    parser.add_argument("--quantization", choices=("none", "int8", "binary"), default="none")
    parser.add_argument("--no-peer", action="store_true", help="without qdrant-client's local mode")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    options = parser.parse_args()
    found = asyncio.run(main(options.records or (FULL if options.full else USUAL), quantization=options.quantization, peer=not options.no_peer))
    print_figures(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
