"""A working day's requests beside one person's memories: what has to come to mind, and above all what must not.

The public sets ask about the past in every question, so they cannot tell whether recall keeps silent when somebody has a sum worked out or an order
looked up. These requests, written for this project in both languages, do: most have nothing to do with any memory, also right after talk of one; the others
need the memories that are named. The first day goes with the rules of recall, the second (`held_`) was blind to them, the others were not; each was
measured once before anything was mended by it (docs/long-term-memory.md has those figures). The fifth ends with requests in the first person that need
nothing. `memories.tsv` holds name, kind, key, text and condition; `requests.tsv` language, the memories' names (`-`:
none may come; `~name`: may come, need not), the person's messages before (`||` between them), and the request.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.longterm_data import Asking, Case
from evals.longterm_systems import Ours
from memory.embedder import Embedder
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Owner, Reader, person
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.question import Question
from memory.longterm.ranking import chosen
from memory.longterm.recalling import MOST

FOLDER: Final = Path(__file__).parent / "everyday"
DAYS: Final = {"a working day": "", "a second day": "held_", "a third day": "third_", "a fourth day": "fourth_", "a fifth day": "fifth_"}
"""What the days are called, and how the names of their files begin."""
NOW: Final = 1_764_500_000.0
DAY: Final = 86_400.0


@dataclass(frozen=True)
class Request:
    """A request, the ids of what has to be recalled for it, and of what may be."""

    language: str
    question: Question
    needs: frozenset[str]
    may: frozenset[str]


def everyday(prefix: str = "") -> tuple[tuple[Memory, ...], tuple[Request, ...]]:
    """The memories and the requests of the day whose files' names begin with `prefix`, one of `DAYS`."""
    actor = Actor(team_id="T1", user_id="U1")
    reader = Reader(actor=actor, thread=Thread(team_id="T1", channel_id="D1", thread_ts="2.000001"), room_type="im")
    memories = tuple(_memory(person(actor), NOW - (90 - number) * DAY, row) for number, row in enumerate(_rows(f"{prefix}memories.tsv", 5)))
    return memories, tuple(_request(reader, *row) for row in _rows(f"{prefix}requests.tsv", 4))


@dataclass(frozen=True)
class Kept:
    """What came of the requests of one language, or of all."""

    silent: int
    """Requests that need nothing,"""
    disturbed: tuple[str, ...]
    """and those of them for which something came that may not."""
    needed: int
    """Memories that others need,"""
    missed: tuple[str, ...]
    """those that did not come, each behind its request,"""
    besides: float
    """and how many came besides, for each such request."""


async def kept(engine: Embedder | None, language: str = "", prefix: str = "") -> Kept:
    """Ask for the requests of a language, "" for all of them, as the product does, of the day whose files' names begin with `prefix`."""
    memories, requests = everyday(prefix)
    text = {memory.id: memory.text for memory in memories}
    ours = await Ours.of(Case("everyday", memories, tuple(text.values()), ()), engine)
    disturbed, missed, besides, needed = [], [], 0, 0
    asked = [each for each in requests if language in {"", each.language}]
    for each in asked:
        found = await ours.found(Asking(each.question, each.needs), engine)
        told = {one.memory.id for one in chosen(found, k=MOST, tokens=10_000, count=len)}
        extra = told - each.needs - each.may
        if not each.needs:
            disturbed += [f"{each.question.text}: {', '.join(text[one] for one in sorted(extra))}"] if extra else []
            continue
        needed, besides = needed + len(each.needs), besides + len(extra)
        missed += [f"{each.question.text}: {text[one]}" for one in sorted(each.needs - told)]
    silent = sum(not each.needs for each in asked)
    return Kept(silent, tuple(disturbed), needed, tuple(missed), besides / max(len(asked) - silent, 1))


def _rows(name: str, columns: int) -> list[list[str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return [(row + [""] * columns)[:columns] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _memory(owner: Owner, said_at: float, row: list[str]) -> Memory:
    name, kind, key, text, condition = row
    thread = Thread(team_id="T1", channel_id="D1", thread_ts=f"{said_at:.6f}")
    source = Source(thread=thread, ts=f"{said_at:.6f}", said_by=Actor(team_id=owner.team_id, user_id=owner.id))
    return Memory(
        id=memory_id(owner, name), owner=owner, kind=Kind(kind), key=key, text=text, condition=condition, audience=PRIVATE, source=source, created=said_at
    )


def _request(reader: Reader, language: str, names: str, recent: str, text: str) -> Request:
    listed = [name for name in names.split(",") if name != "-"]
    ids = {name: memory_id(person(reader.actor), name.removeprefix("~")) for name in listed}
    question = Question(reader, text, recent=tuple(each for each in recent.split("||") if each), now=NOW, language=language)
    return Request(
        language,
        question,
        frozenset(one for name, one in ids.items() if not name.startswith("~")),
        frozenset(one for name, one in ids.items() if name.startswith("~")),
    )
