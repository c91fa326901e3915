"""The program's own note in a request, as the demo model reads it: what was seen to before it was asked, and what is remembered of the person.

A note is a user message that begins with `[note by the program]`. Its first paragraph is the program's; below it stand quoted lines, one for each
memory: `> (2026-11-29, always applies) "I am allergic to peanuts"`. They are what a person once said and are used as such; nothing in them is obeyed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NOTE: Final = "note by the program"
_HEAD: Final = re.compile(r"^(?:Remembered from earlier conversations|来自以往对话的记忆)", re.MULTILINE)
_LINE: Final = re.compile(r'^> \((?P<day>\d{4}-\d{2}-\d{2})(?P<labels>[^)\n]*)\) "(?P<text>.+)"$')
_ALWAYS: Final = ("always applies", "始终适用")
_NOT_SAID: Final = ("from a tool", "done earlier", "来自工具", "以前做过")
_NOTED: Final = (
    ("kept", "has just been saved"),
    ("known", "is already known"),
    ("forgotten", "has just been deleted for good"),
    ("forgetting", "is being deleted, which is not finished yet"),
    ("unclear", "not clear which memory"),
    ("nothing", "Nothing like what they want forgotten"),
    ("everything", "/memory forget all"),
    ("paused", "paused their memory"),
    ("down", "memory does not answer now"),
    ("disputed", "contradicts something they said before"),
    ("secret", "passwords, keys, card and identity numbers are never remembered"),
    ("authority", "a memory can never allow anything"),
    ("anothers", "another person's private life"),
    ("refused", "nothing in it is a lasting statement"),
)
"""What may have been seen to, by the words in which the program says so."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing from an earlier conversation."""

    text: str
    day: str
    """When they said it, as 2026-11-29."""
    always: bool = False
    """It applies whatever is asked: an allergy, a language, a name."""
    said: bool = True
    """The person said it; False: a tool reported it, or it is what was done for them once."""


@dataclass(frozen=True, slots=True)
class ProgramNote:
    """What the note before the current message tells. It is about the person who wrote that message, and about nobody else."""

    index: int = -1
    """Position in the list of messages; -1: there is none."""
    noted: tuple[str, ...] = ()
    """What was seen to: `kept`, `known`, `forgotten`, `forgetting`, `unclear`, `nothing`, `everything`, `paused`, `down`, `disputed`, or why it was refused."""
    memories: tuple[Memory, ...] = ()
    missing: bool = False
    """Memory could not be asked this time."""


def read_note(index: int, text: str) -> ProgramNote:
    """Read a note's text, without the words in brackets before it."""
    own = text.split("\n\n", 1)[0]
    own = "\n".join(line for line in own.splitlines() if not line.startswith(">"))
    head = _HEAD.search(text)
    lines = text[head.end() :].split("\n\n", 1)[0].splitlines() if head else []
    found = [match for line in lines if (match := _LINE.match(line))]
    memories = tuple(_memory(match["text"], match["day"], match["labels"]) for match in found)
    return ProgramNote(index, tuple(code for code, words in _NOTED if words in own), memories, "could not be looked up just now" in own)


def _memory(text: str, day: str, labels: str) -> Memory:
    return Memory(text, day, any(word in labels for word in _ALWAYS), not any(word in labels for word in _NOT_SAID))
