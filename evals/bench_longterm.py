"""Long-term memory under measurement: recalling and adding at several sizes, what a memory costs, the start, putting in order, and others beside it.

A recall is what an answer waits for: what always applies, the search by words and by meaning, the ranking and the choice, through the pipe to the
engine's process, for one of a thousand people after the other. It is measured twice, with vectors of questions that cost nothing and with real ones,
and beside it the bare search. The store is filled, closed and opened again first, so that nothing is measured that a bot which was just started would
not have. `python -m evals.bench_longterm --memories 1000000` measures other sizes; `evals.bench_longterm_store` has the store's own figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import structlog

from bot.memory_jobs import MemoryJobs
from evals.bench_longterm_data import APART, BEGAN, SIZE, TEAM, Talk, Vectors, reader
from evals.bench_process import Json, rss, run
from memory.embedder import Embedder, embedder
from memory.longterm.access import Owner
from memory.longterm.candidate import Candidate
from memory.longterm.edge import EdgeStore
from memory.longterm.indexed import embed_text, words_of
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.records import of_memory
from memory.longterm.sparse import query_words
from memory.longterm.store import Record, Store, Where

PEOPLE: Final = 1_000
SIZES: Final = (1_000, 20_000)
FULL: Final = (1_000, 100_000, 1_000_000)
PEERS: Final = ("edge", "local", "mem0")
PEERS_SIZE: Final = 1_000
"""Memories in the others: some take ten milliseconds and more for each."""
ROUNDS: Final = 200
TOKENS: Final = 1_500
AT_ONCE: Final = 10
"""Memories of one person written at once when a store is filled, so that those of all lie mingled, as they do after months."""
SETTLED: Final = 60.0
"""Seconds the engine is given to read its files after the start, at most."""
ORDERING: Final = 15.0
"""Seconds the job that puts memories in order is watched."""


def milliseconds(seconds: Iterable[float]) -> Json:
    """p50 and p99."""
    ordered = sorted(seconds)
    return {"p50": 1e3 * statistics.median(ordered), "p99": 1e3 * ordered[min(int(len(ordered) * 0.99), len(ordered) - 1)]}


async def timed(count: int, call: Callable[[int], Awaitable[object]]) -> Json:
    """How long a call takes, one after the other."""
    taken = []
    for number in range(count):
        began = time.perf_counter()
        await call(number)
        taken.append(time.perf_counter() - began)
    return milliseconds(taken)


def records(memories: Sequence[Memory], vectors: Vectors) -> list[Record]:
    """As the writer would keep them."""
    made = vectors.made([embed_text(memory) for memory in memories])
    return [of_memory(memory, dense=vector, words=words_of(memory)) for memory, vector in zip(memories, made, strict=True)]


async def fill(store: Store, count: int, people: int, vectors: Vectors) -> float:
    """Memories per second, written some at a time, person by person, again and again."""
    talk, began, each = Talk(1), time.perf_counter(), max(1, min(AT_ONCE, count // people))
    waiting: list[asyncio.Task[None]] = []
    for start in range(0, -(-count // people), each):
        for number in range(people):
            left = count - start * people - number * each
            if left <= 0:
                break
            made = records(list(talk.memories(number, start, min(each, left))), vectors)
            waiting.append(asyncio.create_task(store.put(made)))
            if len(waiting) > 4:  # the engine writes while the next are made
                await waiting.pop(0)
    await asyncio.gather(*waiting)
    return count / (time.perf_counter() - began)


def resident(pid: int | None) -> Json:
    """Bytes of a process's own memory, and of files that the system keeps there for it until it needs the room; NaN where it does not say."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return {"own": float("nan"), "files": float("nan")}
    sizes = dict(line.split(":", 1) for line in text.splitlines())
    return {"own": 1024.0 * int(sizes["RssAnon"].split()[0]), "files": 1024.0 * int(sizes["RssFile"].split()[0])}


async def settled(pid: int | None) -> float:
    """Wait until the engine has read its files ahead; how many seconds that took."""
    began, before = time.perf_counter(), -1
    while time.perf_counter() - began < SETTLED:
        try:
            read = int(Path(f"/proc/{pid}/io").read_text(encoding="ascii").split()[1])
        except OSError:
            break
        if read == before:
            break
        before = read
        await asyncio.sleep(0.5)
    return time.perf_counter() - began


def worked(pid: int | None) -> tuple[float, float]:
    """Seconds of processor time that this process and the engine's have used so far; NaN where the system does not say."""
    try:
        spent = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    except OSError:
        return time.process_time(), float("nan")
    return time.process_time(), sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


async def recalls(memories: Memories, pid: int | None, now: float, rounds: int, seed: int) -> Json:
    """Recalls for one person after the other, each asked two different things."""
    talk = Talk(seed)
    await memories.recall(talk.question(0, now), tokens=TOKENS, count=lambda text: len(text) // 3, limit=60.0)  # loads what is loaded once
    questions = [talk.question(number // 2 * 37 % PEOPLE, now) for number in range(rounds)]
    taken, found, missing, before = [], 0, 0, worked(pid)
    for question in questions:
        recalled = await memories.recall(question, tokens=TOKENS, count=lambda text: len(text) // 3, limit=10.0)
        taken.append(recalled.took)
        found += len(recalled.found)
        missing += recalled.missing
    bot, engine = (1e3 * (now - then) / rounds for now, then in zip(worked(pid), before, strict=True))
    parts = {"first": milliseconds(taken[::2]), "next": milliseconds(taken[1::2]), "cpu": {"bot": bot, "engine": engine}}
    return milliseconds(taken) | parts | {"found": found / rounds, "missing": missing}


async def searches(store: Store, people: int, now: float, rounds: int) -> Json:
    """The bare search that a recall is made of."""
    talk, vectors = Talk(5), Vectors()
    asked = [talk.question(number * 53 % people, now) for number in range(rounds)]
    dense = vectors.made([question.text for question in asked])

    async def search(number: int) -> None:
        where = Where(asked[number].reader.owners, audiences=asked[number].reader.audiences, live=True)
        await store.search(where, dense=dense[number], words=query_words([(asked[number].text, 1.0)]), limit=100)

    return await timed(rounds, search)


async def adds(memories: Memories, people: int, now: float, rounds: int) -> Json:
    """Learning one thing: compared with what is known, written with its history. The texts are new ones."""
    talk = Talk(9)
    fresh = [next(talk.memories(number * 41 % people, 0, 1)) for number in range(rounds)]

    async def learn(number: int) -> None:
        each = fresh[number]
        candidate = Candidate(kind=Kind.FACT, key=f"added:{number}", text=each.text, quote=each.text, language=each.language)
        source = Source(thread=each.source.thread, ts=f"{now + number:.6f}", said_by=each.source.said_by)
        await memories.learn(reader(number * 41 % people), [candidate], source, said_at=now + number)

    return await timed(rounds, learn)


class _Trail:
    """No answer has used any memory yet."""

    async def times(self, _owner: Owner) -> list[tuple[str, float]]:
        return []


class _Slot:
    """What the job is given here: some seconds, and nobody to contend with."""

    dry, cursor = False, ""

    def __init__(self, seconds: float, now: float) -> None:
        self._until, self._now = time.monotonic() + seconds, now

    def left(self) -> float:
        return self._until - time.monotonic()

    def alive(self) -> bool:
        return True

    def now(self) -> float:
        return self._now

    async def save(self, cursor: str) -> None:
        self.cursor = cursor


async def ordering(memories: Memories, now: float, most: float) -> Json:
    """The job that puts each person's memories in order, for some seconds: memories it went through per second."""
    nobody = cast("Any", SimpleNamespace(me=SimpleNamespace(team_id=TEAM)))
    jobs = MemoryJobs(cast("Any", SimpleNamespace(memories=memories, trail=_Trail())), nobody, nobody, left_ttl=0.0)
    counted, slot = [memories.store.count(Where((each,))) async for each in memories.store.owners(TEAM)], _Slot(most, now)
    each = sum(await asyncio.gather(*counted)) / len(counted)
    began = time.perf_counter()
    done = await jobs.order(cast("Any", slot))
    taken = time.perf_counter() - began
    return {"per_second": done["owners"] * each / taken, "owners": done["owners"], "changed": sum(done.values()) - done["owners"]}


async def filled(count: int, home: Path) -> Json:
    """Figures of a store while it is filled; it is closed then."""
    figures: Json = {"memories": count, "people": PEOPLE}
    empty = EdgeStore(home.with_name("empty"), model=Vectors.name, size=SIZE)
    await empty.start()
    figures["rss_empty"] = resident(empty.pid)
    await empty.close()
    store = EdgeStore(home, model=Vectors.name, size=SIZE)
    await store.start()
    figures["filled_per_second"] = await fill(store, count, PEOPLE, Vectors())
    figures["disk"] = (await store.stats())["disk_bytes"] / count
    await store.close()
    return figures


async def opened(count: int, home: Path, real: Embedder | None, rounds: int) -> Json:
    """Figures of a store that is opened, asked and added to."""
    figures: Json = {}
    now, before, began = BEGAN + APART * (count // PEOPLE + 10), rss(), time.perf_counter()
    store = EdgeStore(home, model=Vectors.name, size=SIZE)
    await store.start()
    figures["start_s"] = time.perf_counter() - began
    memories = Memories(store, Vectors(), now=lambda: now)
    await memories.recall(Talk(2).question(1, now), tokens=TOKENS, count=len, limit=60.0)
    figures["start_first_recall_s"] = time.perf_counter() - began
    await store.warm()
    figures["start_open_s"] = time.perf_counter() - began
    figures["read_ahead_s"] = await settled(store.pid)
    figures["recall"] = await recalls(memories, store.pid, now, rounds, 3)
    figures["search"] = await searches(store, PEOPLE, now, rounds)
    figures["rss"] = resident(store.pid) | {"bot": float(rss() - before)}
    if real is not None:
        figures["recall_embedding"] = await recalls(Memories(store, Vectors(real), now=lambda: now), store.pid, now, rounds, 4)
    figures["add"] = await adds(memories, PEOPLE, now, rounds)
    figures["ordering"] = await ordering(memories, now, ORDERING)
    await store.close()
    return figures


async def peers(python: str, count: int) -> Json:
    """The same by the others, each in a process of its own; those that are not installed are left out."""
    figures: Json = {"memories": count}
    for name in PEERS:
        runs = python or sys.executable if name == "mem0" else sys.executable
        with tempfile.TemporaryDirectory(prefix="steward-peer-") as home:
            command = (runs, "-m", "evals.bench_longterm_peers", name, str(count), home)
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[1])
            out, _ = await process.communicate()
            if process.returncode == 0 and out.strip():
                figures[name] = json.loads(out.splitlines()[-1])
    return figures


async def longterm_figures(sizes: Sequence[int], *, mem0_python: str = "", peers_size: int = PEERS_SIZE, rounds: int = ROUNDS) -> Json:
    """Everything: at each size, and the others beside it."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    figures: Json = {"sizes": []}
    for count in sizes:
        with tempfile.TemporaryDirectory(prefix="steward-longterm-") as home:
            store = Path(home) / "store"
            figures["sizes"].append(await filled(count, store) | await opened(count, store, embedder(), rounds))
            print(f"long-term memory: {count:,} memories measured", file=sys.stderr, flush=True)
    if peers_size:
        figures["peers"] = await peers(mem0_python, peers_size)
    return figures


async def main(options: argparse.Namespace) -> None:
    """Measure, print."""
    from evals.bench_longterm_table import print_longterm  # noqa: PLC0415 - it reads what is made here

    figures = await longterm_figures(
        FULL if options.full else options.memories or SIZES, mem0_python=options.mem0_python, peers_size=options.peers, rounds=options.rounds
    )
    print_longterm(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen here and in `evals.bench`."""
    parser.add_argument("--memories", type=int, action="append", metavar="COUNT", help="memories of a thousand people; may be repeated (1000 and 20000)")
    parser.add_argument("--peers", type=int, default=PEERS_SIZE, metavar="COUNT", help=f"memories in mem0 and qdrant-client ({PEERS_SIZE}); 0: without them")
    parser.add_argument("--mem0-python", default="", metavar="PATH", help="the Python mem0 is installed for, if it is another one than ours")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evals.bench_longterm", description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    arguments(parser)
    parser.add_argument("--full", action="store_true", help="up to a million memories: half an hour and 4 GB of disk")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    run(main(parser.parse_args()))
