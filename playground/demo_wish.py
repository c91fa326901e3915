"""What a request is taken apart into: wishes, and the text from which the words of each wish are blanked out.

Every reader of a request works on one `Sheet`: what it understood becomes a `Wish` and is taken out of the text, so that
the words of a message to post, or of a reminder, are never taken for a second request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing asked for: a tool with arguments by their canonical names, or a question back when something is missing."""

    at: int
    """Position in the text, for the order of calls and answers."""
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    ask: str = ""
    """Key of the sentence that asks for what is missing."""
    ask_values: dict[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    """What the missing argument may be, as far as the conversation tells."""


TAKEN: Final = "\x00"
"""Stands for text that was understood, character by character, so that positions stay."""
_RUNS: Final = (
    (re.compile(r"[^\S\n]+"), " "),
    (re.compile(r"\s*\n\s*"), "\n"),
    (re.compile(r"([^\w\s])\1{3,}"), r"\1\1\1"),
    (re.compile(r"([\s,，;；.。!！?？]{3})[\s,，;；.。!！?？]{3,}"), r"\1"),
)


def normal(text: str) -> str:
    """The text with runs of white space and of punctuation shortened: they mean nothing and make patterns slow."""
    text = text.replace(TAKEN, " ")
    for pattern, becomes in _RUNS:
        text = pattern.sub(becomes, text)
    return text


class Sheet:
    """The text of one request while it is read."""

    def __init__(self, text: str) -> None:
        self.text = normal(text)
        self.wishes: list[Wish] = []

    @property
    def rest(self) -> str:
        """What was not understood, on one line."""
        return " ".join(self.text.replace(TAKEN, " ").split())

    def take(self, start: int, end: int) -> None:
        """Blank out what was understood."""
        self.text = self.text[:start] + TAKEN * (end - start) + self.text[end:]

    def wish(self, at: int, tool: str, ask: str = "", **arguments: Any) -> None:
        """Add a wish; arguments without a value are left out."""
        self.wishes.append(Wish(at, tool, {name: value for name, value in arguments.items() if value != ""}, ask))


def unquoted(match: re.Match[str]) -> str:
    """What stands in quotation marks in a match of a pattern with `QUOTED` in it."""
    return next((match[key] for key in ("q1", "q2", "q3", "q4") if match.groupdict().get(key)), "").strip()
