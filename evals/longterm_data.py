"""Conversations and diaries as memories of one owner, with questions and the memories that answer them: LoCoMo's and MADial-Bench's files as they are.

Of LoCoMo (Maharana et al., 2024) every turn is a memory, said by its speaker in a thread of its session. Of MADial-Bench every entry of a
person's diary is one; the question is what the person said in a dialogue up to the first turn that is tested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from evals.locomo_data import DATA_FILE, conversations
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Owner, Reader, person
from memory.longterm.memory import LONGEST, Kind, Memory, Source, memory_id
from memory.longterm.question import Question

TEAM: Final = "T1"
DAY: Final = 86_400.0
SESSION_GAP: Final = 3_600.0
"""Seconds between two turns after which they are of two sessions."""
_SPOKEN: Final = re.compile(r"^\s*<([^>]+)>\s*[:：]\s*[\"“”]?(.*?)[\"“”]?\s*$", re.DOTALL)


@dataclass(frozen=True)
class Asking:
    """A question and the ids of the memories that answer it."""

    question: Question
    answers: frozenset[str]


@dataclass(frozen=True)
class Case:
    """One owner's memories and what is asked about them."""

    name: str
    memories: tuple[Memory, ...]
    plain: tuple[str, ...]
    """What of each memory a system that knows only texts is given."""
    askings: tuple[Asking, ...]


@dataclass(frozen=True)
class DataSet:
    """Several owners, measured together."""

    name: str
    cases: tuple[Case, ...]


def data_sets(folder: Path) -> list[DataSet]:
    """Those that are in the folder."""
    found = []
    if (folder / DATA_FILE).is_file():
        found.append(DataSet("LoCoMo", tuple(_talks(folder / DATA_FILE))))
    for language in ("zh", "en"):
        memories, dialogues = folder / f"madial_{language}_memory.jsonl", folder / f"madial_{language}_dialogue_dev.jsonl"
        if memories.is_file() and dialogues.is_file():
            found.append(DataSet(f"MADial {language}", tuple(_diaries(memories, dialogues, language))))
    return found


def _memory(owner: Owner, name: str, text: str, at: float, **rest: Any) -> Memory:
    thread = rest.pop("thread", Thread(team_id=TEAM, channel_id="D1", thread_ts="1.000001"))
    source = Source(thread=thread, ts=rest.pop("ts", ""), said_by=Actor(team_id=TEAM, user_id=rest.pop("said_by", owner.id)))
    return Memory(id=memory_id(owner, name), owner=owner, kind=Kind.FACT, text=text[:LONGEST], audience=PRIVATE, source=source, created=at, **rest)


def _reader(user: str) -> Reader:
    actor = Actor(team_id=TEAM, user_id=user)
    return Reader(actor=actor, thread=Thread(team_id=TEAM, channel_id="D1", thread_ts="2.000001"), room_type="im")


def _talks(path: Path) -> Iterator[Case]:
    for talk in conversations(path):
        reader = _reader(talk.name)
        owner = person(reader.actor)
        memories: list[Memory] = []
        opened = before = None
        for number, item in enumerate(talk.items):
            at = float(item.ts)
            if before is None or at - float(before.ts) > SESSION_GAP:
                opened, before = item.ts, None
            thread = Thread(team_id=TEAM, channel_id="D1", thread_ts=opened or item.ts)
            context = before.text[:LONGEST] if before is not None else ""
            memories.append(_memory(owner, str(number), item.text, at, key="", said_by=item.name, thread=thread, ts=item.ts, context=context))
            before = item
        now = float(talk.items[-1].ts) + DAY
        people = {name: name for name in talk.speakers}
        askings = tuple(
            Asking(Question(reader, each.text, now=now, people=people), frozenset(memories[at].id for at in each.evidence)) for each in talk.questions
        )
        yield Case(talk.name, tuple(memories), tuple(f"{item.name}: {item.text}" for item in talk.items), askings)


def _diaries(memories: Path, dialogues: Path, language: str) -> Iterator[Case]:
    entries = {int(key): value for line in _lines(memories) for key, value in line.items()}
    first_users = 76  # entries without a user are the first one's up to here, then the second one's
    owner_of = {key: int(entry.get("user-id", 1 if number < first_users else 2)) for number, (key, entry) in enumerate(entries.items())}
    talks = list(_lines(dialogues))
    for user in sorted(set(owner_of.values())):
        reader = _reader(f"U{user}")
        owner = person(reader.actor)
        own = {key: _entry(owner, key, entries[key]) for key, whose in owner_of.items() if whose == user}
        now = max(memory.created for memory in own.values()) + DAY
        askings = []
        for talk in talks:
            said = _said(talk)
            if talk["user-id"] != user or not said:
                continue
            question = Question(reader, said[-1], recent=tuple(said[:-1]), now=now, language=language)
            askings.append(Asking(question, frozenset(own[int(each)].id for each in talk["relevant-id"] if int(each) in own)))
        plain = tuple(f"{entries[key]['scene']} {entries[key]['emotion']}: {entries[key]['event']}" for key in own)
        yield Case(f"{language}{user}", tuple(own.values()), plain, tuple(asking for asking in askings if asking.answers))


def _entry(owner: Owner, key: int, entry: dict[str, Any]) -> Memory:
    at = datetime.strptime(entry["time"], "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    return _memory(owner, str(key), entry["event"], at, key=entry["scene"].casefold(), value=entry["emotion"].casefold())


def _said(talk: dict[str, Any]) -> list[str]:
    """What the person said before the first tested turn."""
    tested = talk["test-turn"]
    first = min(tested) if isinstance(tested, list) else int(tested)
    spoken = [match for line in talk["dialogue"][:first] if (match := _SPOKEN.match(line.strip()))]
    return [match[2] for match in spoken if match[1] != "Assistant"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
