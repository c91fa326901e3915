"""Which words a text must have before a longer pattern can find anything in it: a look at its words instead of a search for each pattern.

Reading facts tries some eighty patterns on each clause, and nearly all clauses of a conversation state nothing. A rule therefore says which
words it cannot do without; the words are taken from the very alternatives its pattern is made of, so that the two cannot drift apart.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.identifier_patterns import HAN

_WORD: Final = re.compile(f"[a-z]+|[0-9]+|[{HAN}]|[_¥$€£:：=]")


@lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters; of Chinese each character is one, and so are a few signs."""
    return frozenset(_WORD.findall(text.casefold()))


def first_word(text: str) -> str:
    """The word a text begins with, as `words_of` has it; "" when it begins with none."""
    found = _WORD.match(text[:64].casefold())
    return found[0] if found else ""


def openings(pattern: str) -> frozenset[str]:
    """The first words of everything a pattern can match. Known in it: alternatives, groups, `?` and small classes; an escape ends a word."""
    texts, _ = _expanded(pattern, 0)
    return frozenset(found[0] for text in texts if (found := _WORD.search(text.casefold())))


def _expanded(pattern: str, at: int) -> tuple[set[str], int]:
    """The texts of the alternatives from `at` to the end of their group, and where that is."""
    done: set[str] = set()
    texts = {""}
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            done |= texts
            texts, at = {""}, at + 1
            continue
        if pattern.startswith("(?:", at):
            piece, at = _expanded(pattern, at + 3)
            at += 1
        elif pattern[at] == "[":
            end = pattern.index("]", at)
            piece, at = set(pattern[at + 1 : end]), end + 1
        elif pattern[at] == "\\":
            piece, at = {" "}, at + 2
        else:
            piece, at = {pattern[at]}, at + 1
        if pattern[at : at + 1] in {"?", "+"}:
            piece = piece | {""} if pattern[at] == "?" else piece
            at += 1
        texts = {before + each for before in texts for each in piece}
    return done | texts, at
