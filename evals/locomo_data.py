"""LoCoMo's conversations (Maharana et al., 2024) as threads: their turns as messages that two people write each other, their questions with those needed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memory.keys import Actor
from memory.transcript import UserMessage

DATA_FILE: Final = "locomo_dev.json"
CATEGORIES: Final = (1, 2, 3, 4)
"""Several turns needed, times, open, one turn; the fifth asks for what was never said."""
PACE: Final = 30
"""Seconds between the turns of one session; the data date only its beginning."""


@dataclass(frozen=True)
class Question:
    """A question."""

    text: str
    evidence: tuple[int, ...]
    """Positions of the messages that answer it together."""
    since: int
    """The first session after which all of them have been said."""


@dataclass(frozen=True)
class Conversation:
    """One conversation as a thread."""

    name: str
    items: tuple[UserMessage, ...]
    speakers: tuple[str, ...]
    ends: dict[int, int]
    """By session, in order: how many messages have been said at its end."""
    now: dict[int, float]
    """By session: the moment just after it."""
    questions: tuple[Question, ...]


def conversations(path: Path) -> list[Conversation]:
    """All conversations of the file."""
    return [_conversation(raw) for raw in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(raw: dict[str, Any]) -> Conversation:
    talk = raw["conversation"]
    items: list[UserMessage] = []
    at: dict[str, int] = {}
    session_of: list[int] = []
    ends: dict[int, int] = {}
    now: dict[int, float] = {}
    session = 0
    while f"session_{session + 1}" in talk:
        session += 1
        began = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
        for number, turn in enumerate(talk[f"session_{session}"]):
            at[turn["dia_id"]] = len(items)
            session_of.append(session)
            text = f"{turn['text']} (photo: {turn['blip_caption']})" if turn.get("blip_caption") else turn["text"]
            speaker = turn["speaker"]
            actor = Actor(team_id="T1", user_id=speaker)
            items.append(UserMessage(actor=actor, name=speaker, ts=f"{began + number * PACE:.6f}", text=text, addressed=False))
        ends[session] = len(items)
        now[session] = began + len(talk[f"session_{session}"]) * PACE + 60
    questions = []
    for asked in raw["qa"]:
        ids = re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))
        evidence = tuple(sorted({at[each] for each in ids if each in at}))
        if asked["category"] in CATEGORIES and evidence:
            questions.append(Question(asked["question"], evidence, session_of[evidence[-1]]))
    return Conversation(str(raw["sample_id"]), tuple(items), tuple(sorted({item.name for item in items})), ends, now, tuple(questions))
