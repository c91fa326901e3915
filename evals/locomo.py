"""How often what a question needs is at hand in a long thread: `python -m evals.locomo [--data FOLDER] [--cache FOLDER]`.

Real conversations of months (LoCoMo, five of them) are fed as threads in which two people write each other. At the end of a session somebody asks
the bot a question that can be answered from then on, while what it may send of the conversation is a quarter of the thread so far: it was
compacted by the bot's own code in a window of that size, and the context is the one the bot would send. Counted is whether the messages that
hold the answer are in it; no model is asked. The data are not part of this project: the folder that holds `locomo_dev.json` is given here or by
STEWARD_EVAL_DATA, and where there is none this says so and ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median

from evals.locomo_data import DATA_FILE, Conversation, Question, conversations
from evals.locomo_thread import Asked, Indexes, Moment, ask, grown, whole
from evals.locomo_vectors import Stored
from memory.embedder import Embedder, embedder
from memory.identifiers import contains, identifiers
from memory.recall import line_of, recall
from memory.transcript import Note, UserMessage

CONTEXT = 0.25
"""Part of the thread so far that may be sent, unless another is asked for."""
POINTS = 6
"""At most so many moments at which one question is asked, the first and the last possible among them."""
TARGET = 0.90
"""Of the questions, so many have all their messages at hand."""


@dataclass
class Tally:
    """What was counted: questions, by what of their messages is at hand; messages, by where they are; tokens."""

    asked: int = 0
    all_there: int = 0
    any_there: int = 0
    turns: int = 0
    verbatim: int = 0
    recalled: int = 0
    in_facts: int = 0
    in_summary: int = 0
    """Word for word there, and nowhere else."""
    sent: int = 0
    full: int = 0
    over: int = 0
    """Contexts that did not keep to the budget."""
    seconds: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another one's in."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def row(self, name: str) -> str:
        """One line of the table."""
        asked, turns = max(self.asked, 1), max(self.turns, 1)
        parts = (self.all_there / asked, self.any_there / asked, (self.verbatim + self.recalled + self.in_facts) / turns)
        places = (self.verbatim / turns, self.recalled / turns, self.in_facts / turns, self.in_summary / turns)
        told = " ".join(f"{part:>8.1%}" for part in (*parts, *places, self.sent / max(self.full, 1)))
        return f"{name:<10} {self.asked:>6} {told} {self.over:>5} {1000 * median(self.seconds or [0]):>7.1f}"


COLUMNS = ("all", "any", "turns", "verbatim", "recalled", "facts", "+summary", "of full")
HEAD = f"{'':<10} {'asked':>6} {' '.join(f'{name:>8}' for name in COLUMNS)} {'over':>5} {'ms p50':>7}"


def counted(question: Question, moment: Moment, found: Asked) -> Tally:
    """What one context holds of what one question needs."""
    tally = Tally(asked=1, turns=len(question.evidence), seconds=[found.seconds])
    for position in question.evidence:
        item = moment.items[position]
        if item.ts in found.verbatim:
            tally.verbatim += 1
        elif line_of(item) in found.recalled:
            tally.recalled += 1
        elif item.ts in found.facts:
            tally.in_facts += 1
        elif " ".join(item.text.split()) in found.summary:
            tally.in_summary += 1
    there = tally.verbatim + tally.recalled + tally.in_facts
    tally.all_there, tally.any_there = int(there == tally.turns), int(there > 0)
    tally.sent, tally.full = found.context.used["session"], moment.full
    tally.over = int(tally.sent > moment.room or found.context.over)
    return tally


async def measure(thread: Conversation, at: dict[int, Moment], indexes: Indexes) -> Tally:
    """All questions of a conversation, each at its moments."""
    total = Tally()
    for question in thread.questions:
        sessions = [session for session in at if session >= question.since]
        last = len(sessions) - 1
        for step in sorted({round(step * last / (POINTS - 1)) for step in range(POINTS)}):
            moment = at[sessions[step]]
            total.add(counted(question, moment, await ask(question.text, moment, indexes)))
    return total


async def lost(moment: Moment, indexes: Indexes) -> tuple[int, int, list[str]]:
    """Of one thread's identifiers: how many there are, how many the context of a question about nothing holds, and those not even the index finds."""
    found = await ask("Hello!", moment, indexes)
    held = "\n".join(item.text for item in found.context.items if isinstance(item, UserMessage | Note))
    index = await indexes.upto(moment.memory.covered)
    known = {each.text: each for item in moment.items for each in identifiers(item.text)}
    missing = [each for each in known.values() if not contains(held, each)]
    gone = [each.text for each in missing if not any(contains(line_of(moment.items[at]), each) for at in index.holding(each.text))]
    return len(known), len(known) - len(missing), gone


async def silence(threads: Sequence[Conversation], read: dict[str, dict[int, Moment]], indexes: dict[str, Indexes], step: int) -> float:
    """How often search gives nothing at all, when every conversation is asked the questions of the one `step` further on (0: its own)."""
    asked = silent = 0
    for at, thread in enumerate(threads):
        moment = list(read[thread.name].values())[-1]
        index = await indexes[thread.name].upto(moment.memory.covered)
        for question in threads[(at + step) % len(threads)].questions:
            found = await recall(
                index,
                question.text,
                recent=(),
                speakers=thread.speakers,
                now=moment.now,
                timezone="UTC",
                embedder=indexes[thread.name].engine,
                limit=1,
            )
            asked += 1
            silent += not found.hits
    return silent / max(asked, 1)


def moments(threads: Iterable[Conversation], part: float) -> dict[str, dict[int, Moment]]:
    """By conversation and session: the thread as it is held then."""
    found = {}
    for thread in threads:
        costs = whole(thread.items)
        found[thread.name] = {session: grown(thread, session, costs, part) for session in thread.ends}
    return found


async def main(options: argparse.Namespace) -> None:
    """Measure and print."""
    folder = options.data or os.environ.get("STEWARD_EVAL_DATA", "")
    if not folder or not (Path(folder) / DATA_FILE).is_file():
        print(f"No conversations to measure with: give the folder that holds {DATA_FILE} by --data or STEWARD_EVAL_DATA.")
        return
    began = time.perf_counter()
    engine = embedder()
    stored = Stored(engine, Path(options.cache) if options.cache else None) if engine is not None else None
    engines: dict[str, Embedder | None] = {"words": None} | ({"words and meaning": stored} if stored is not None else {})
    threads = conversations(Path(folder) / DATA_FILE)
    read = moments(threads, options.part)
    last = [(thread.name, list(read[thread.name].values())[-1]) for thread in threads]
    compactions = sum(moment.memory.compactions for at in read.values() for moment in at.values())
    print(f"{len(threads)} threads, {sum(map(len, read.values()))} moments, {compactions} compactions: {time.perf_counter() - began:.0f} s")
    total = Tally()
    for name, each in engines.items():
        indexes = {thread.name: Indexes(thread, each) for thread in threads}
        print(f"\nRecall by {name}; the conversation may take {options.part:.1%} of the thread so far\n{HEAD}")
        total = Tally()
        for thread in threads:
            tally = await measure(thread, read[thread.name], indexes[thread.name])
            print(tally.row(thread.name))
            total.add(tally)
        print(total.row("total"))
        own, other = [await silence(threads, read, indexes, step) for step in (0, 1)]
        print(f"nothing found: for {own:.1%} of a conversation's own questions, for {other:.1%} of another one's")
        for thread_name, moment in last:
            known, held, gone = await lost(moment, indexes[thread_name])
            print(f"identifiers of {thread_name}: {known}, in the context {held}, lost {len(gone)}" + (f" {gone}" if gone else ""))
        if stored is not None:
            stored.save()
    reached = total.all_there / max(total.asked, 1)
    print(f"\nall evidence at hand for {reached:.1%} (target {TARGET:.0%}: {'met' if reached >= TARGET else 'missed'}); {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evals.locomo", description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--data", metavar="FOLDER", help=f"holds {DATA_FILE}")
    parser.add_argument("--part", type=float, default=CONTEXT, help=f"part of the thread so far that may be sent, as it would be sent whole ({CONTEXT})")
    parser.add_argument("--cache", metavar="FOLDER", help="where vectors are kept between runs")
    asyncio.run(main(parser.parse_args()))
