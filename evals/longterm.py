"""How well long-term memory finds what a question needs, beside other ways to search: `python -m evals.longterm [--data FOLDER] [--cache FOLDER]`.

First the requests of five people's working days are asked beside their notes, most of which have nothing to do with them. Then LoCoMo (conversations of
months, every turn a memory) and MADial-Bench (diaries in Chinese and English) are searched by words alone, by meaning alone, by both with reciprocal ranks, by
mem0 where it is installed, and by the product's own recall; no language model is asked. It is counted how often recall keeps what fits, and how often it
keeps silent when another person's questions are asked. One set of parameters for everything. LoCoMo's and MADial's data are not part of this project: the
folder that holds them is given here or by STEWARD_EVAL_DATA.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import product
from math import log2
from pathlib import Path
from statistics import mean, median
from typing import Final

from evals.locomo_vectors import Stored
from evals.longterm_data import Asking, Case, DataSet, data_sets
from evals.longterm_everyday import DAYS, kept
from evals.longterm_mem0 import Mem0, installed
from evals.longterm_systems import Ours, Plain, spoken
from memory.embedder import Embedder, embedder
from memory.longterm.ranking import chosen
from memory.longterm.recalling import MOST

OURS: Final = "ours"
NAMES: Final = ("R@5", "R@10", "R@20", "MRR", "nDCG@10")
TOKENS: Final = 10_000
"""Room for what is chosen: more than it ever takes, so that relevance alone decides."""

Rank = Callable[[Asking], Awaitable[Sequence[str]]]
Row = tuple[float, ...]


def measures(order: Sequence[str], answers: frozenset[str]) -> Row:
    """Of one question, as in `NAMES`."""
    places = [place for place, one in enumerate(order) if one in answers]
    recalls = [sum(place < depth for place in places) / len(answers) for depth in (5, 10, 20)]
    gain = sum(1 / log2(place + 2) for place in places if place < 10)
    ideal = sum(1 / log2(place + 2) for place in range(min(len(answers), 10)))
    return (*recalls, 1 / (places[0] + 1) if places else 0.0, gain / ideal)


async def measured(case: Case, rank: Rank, seconds: list[float]) -> list[Row]:
    """All questions of a case by one system."""
    rows = []
    for asking in case.askings:
        began = time.perf_counter()
        order = await rank(asking)
        seconds.append(time.perf_counter() - began)
        rows.append(measures(order, asking.answers))
    return rows


async def systems(case: Case, engine: Embedder | None, folder: Path | None) -> dict[str, Rank]:
    """Everything that can be compared here, ready to be asked. `folder`: where mem0 may keep its files; None: without it."""
    plain = Plain(case, await engine.passages(case.plain) if engine is not None else None)
    ours = await Ours.of(case, engine)

    async def words(asking: Asking) -> Sequence[str]:
        return plain.by_words(spoken(asking))

    async def own(asking: Asking) -> Sequence[str]:
        return [found.memory.id for found in await ours.found(asking, engine)]

    ways: dict[str, Rank] = {"BM25": words}
    if engine is not None:

        async def meaning(asking: Asking) -> Sequence[str]:
            return plain.by_meaning(await engine.query(spoken(asking)))

        async def both(asking: Asking) -> Sequence[str]:
            return plain.by_both(spoken(asking), await engine.query(spoken(asking)))

        ways |= {"dense": meaning, "RRF 60": both}
        if folder is not None:
            other = await asyncio.to_thread(Mem0, case, engine, folder, asyncio.get_running_loop())

            async def mem0(asking: Asking) -> Sequence[str]:
                return await asyncio.to_thread(other.found, spoken(asking))

            ways["mem0"] = mem0
    return ways | {OURS: own}


async def compared(data: DataSet, engine: Embedder | None, folder: Path | None) -> dict[str, dict[str, list[Row]]]:
    """By system and case the figures of each question; printed as a table."""
    rows: dict[str, dict[str, list[Row]]] = {}
    seconds: dict[str, list[float]] = {}
    for case in data.cases:
        for name, rank in (await systems(case, engine, folder)).items():
            rows.setdefault(name, {})[case.name] = await measured(case, rank, seconds.setdefault(name, []))
    memories, asked = sum(len(case.memories) for case in data.cases), sum(len(case.askings) for case in data.cases)
    print(f"\n{data.name}: {memories} memories of {len(data.cases)}, {asked} questions\n{'':<10} {' '.join(f'{name:>8}' for name in NAMES)}   ms p50")
    for name, of in rows.items():
        every = [row for each in of.values() for row in each]
        print(f"{name:<10} {_line(every)} {1000 * median(seconds[name]):>8.1f}")
    for case_name, own in rows[OURS].items():
        print(f"  {case_name:<8} {_line(own)}")
    return rows


def _line(rows: Sequence[Row]) -> str:
    return " ".join(f"{mean(column):>8.3f}" for column in zip(*rows, strict=True))


async def silence(data: DataSet, engine: Embedder | None) -> tuple[float, float, float]:
    """Part kept of the answers among the best; of the questions with one there, those that keep one; of another's, those that recall anything."""
    best = kept = false = other = any_kept = asked = 0
    for place, case in enumerate(data.cases):
        ours = await Ours.of(case, engine)
        for asking in case.askings:
            found = await ours.found(asking, engine)
            told = {each.memory.id for each in chosen(found, k=MOST, tokens=TOKENS, count=len)}
            hits = {each.memory.id for each in found[:MOST]} & asking.answers
            best, kept = best + len(hits), kept + len(hits & told)
            asked, any_kept = asked + bool(hits), any_kept + bool(hits & told)
        people = case.askings[0].question.people if case.askings else {}
        for asking in data.cases[(place + 1) % len(data.cases)].askings if len(data.cases) > 1 else ():
            question = replace(asking.question, people=people, reader=case.askings[0].question.reader)
            found = await ours.found(replace(asking, question=question), engine)
            other, false = other + 1, false + bool(chosen(found, k=MOST, tokens=TOKENS, count=len))
    return kept / max(best, 1), any_kept / max(asked, 1), false / max(other, 1)


async def main(options: argparse.Namespace) -> None:
    """Measure and print."""
    engine = embedder()
    for (name, prefix), language in product(DAYS.items(), ("en", "zh")):
        day = await kept(engine, language, prefix)
        print(f"{name}, {language}: {len(day.disturbed)} of {day.silent} requests that need nothing recall something; ", end="")
        print(f"{len(day.missed)} of {day.needed} memories needed are missed; {day.besides:.1f} come besides")
        for each in (*day.disturbed, *day.missed) if options.each else ():
            print(f"  {each}")
    folder = options.data or os.environ.get("STEWARD_EVAL_DATA", "")
    sets = data_sets(Path(folder)) if folder else []
    if not sets:
        print("Nothing to measure with: give the folder that holds LoCoMo's or MADial-Bench's files by --data or STEWARD_EVAL_DATA.")
        return
    began = time.perf_counter()
    stored = Stored(engine, Path(options.cache) if options.cache else None) if engine is not None else None
    compare = installed() and not options.without_mem0 and stored is not None
    if not installed():
        print("mem0 is not installed: left out.")
    with tempfile.TemporaryDirectory(prefix="steward-eval-") as scratch:
        for data in sets:
            await compared(data, stored, Path(scratch) if compare else None)
            if stored is not None:
                stored.save()
            part, any_of, false = await silence(data, stored)
            print(f"kept of the answers among the best {MOST}: {part:.1%}; of the questions with one there: {any_of:.1%}")
            print(f"another's questions that recall anything: {false:.1%}")
            if stored is not None:
                stored.save()
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evals.longterm", description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--data", metavar="FOLDER", help="holds locomo_dev.json and madial_*.jsonl")
    parser.add_argument("--cache", metavar="FOLDER", help="where vectors are kept between runs")
    parser.add_argument("--each", action="store_true", help="name the requests of the working day that went wrong")
    parser.add_argument("--without-mem0", action="store_true", help="leave mem0 out: it takes most of the time")
    asyncio.run(main(parser.parse_args()))
