"""Finding words in messages, English and Chinese alike, without an index: what a search over a few hundred messages needs.

Words are compared without regard to case and width. Chinese has no spaces, so a run of characters is looked at in
pairs: half of them have to be there, and the more there are the better the message fits. "Quoted words" must stand
there exactly so.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

MAX_QUERY: Final = 200
"""Characters of a query."""
SNIPPET: Final = 240
"""Characters of a message that are shown around what was found."""

_QUOTED: Final = re.compile(r'["“”「『]([^"“”「」『』]+)["“”」』]')
_HAN_RUN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_WORD: Final = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+(?:[-'./#@_][^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)*")
_EMPTY: Final = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "at",
        "by",
        "for",
        "from",
        "how",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "who",
        "with",
        "about",
        "any",
        "all",
        "me",
        "my",
    )
)

_SMALL_ZH: Final = re.compile("怎么样了?|怎么|什么时候|什么|哪里|哪个|有没有|关于|吗|呢|吧|的|了|是谁|谁")
"""Chinese that asks rather than names; it parts the words beside it."""


def folded(text: str) -> str:
    """The text as it is compared: one width, one case."""
    return unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    phrases: tuple[str, ...]
    """Must be there letter by letter."""
    words: tuple[str, ...]
    """All must be there, each at the beginning of a word."""
    runs: tuple[tuple[str, ...], ...]
    """Of the pairs of each run of Chinese characters, at least half must be there."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not (self.phrases or self.words or self.runs)

    def weigh(self, text: str) -> float:
        """How well a message fits: 0 not at all, 1 when everything is there."""
        body = folded(text)
        if not all(phrase in body for phrase in self.phrases) or not all(re.search(rf"(?<!\w){re.escape(w)}", _apart(body)) for w in self.words):
            return 0.0
        shares = [sum(pair in body for pair in run) / len(run) for run in self.runs]
        if any(share < 0.5 for share in shares):
            return 0.0
        return sum(shares) / len(shares) if shares else 1.0

    def snippet(self, text: str) -> str:
        """The part of the message around the first thing found, `…` where something is left out."""
        flat = " ".join(text.split())
        if len(flat) <= SNIPPET:
            return flat
        body = flat.casefold()  # of the same length, near enough to find the place
        wanted = (*self.phrases, *self.words, *(pair for run in self.runs for pair in run))
        first = min((at for each in wanted if (at := body.find(each)) >= 0), default=0)
        start = max(0, min(first - SNIPPET // 3, len(flat) - SNIPPET))
        part = flat[start : start + SNIPPET].strip()
        return f"{'…' if start else ''}{part}{'…' if start + SNIPPET < len(flat) else ''}"


def _apart(body: str) -> str:
    """Chinese characters set apart by spaces, so that a Latin word beside one begins a word."""
    return _HAN_RUN.sub(lambda match: f" {match[0]} ", body)


def query(text: str) -> Query:
    """Read a query as people type it."""
    body = folded(text)
    phrases = tuple(phrase.strip() for phrase in _QUOTED.findall(body) if phrase.strip())
    rest = _QUOTED.sub(" ", body)
    words = tuple(dict.fromkeys(word for word in _WORD.findall(rest)))
    telling = tuple(word for word in words if word not in _EMPTY) or words  # a query of small words only looks for those
    found = _HAN_RUN.findall(_SMALL_ZH.sub(" ", rest)) or _HAN_RUN.findall(rest)
    runs = tuple(_pairs(run) for run in dict.fromkeys(found))
    return Query(phrases, () if runs and not any(word not in _EMPTY for word in words) else telling, runs)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1))) or (run,)
