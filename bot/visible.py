"""Values on a card so that they cannot lie: every character shows, and what is shown can be read back exactly.

Invisible and direction-changing characters appear as `⟨U+202E⟩`, a line's end as `↵`; a value that contains those signs
itself has them escaped too, so two different values never look the same.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from bot.lookalike import invisible
from bot.markdown import size

_ESCAPE: Final = re.compile("⟨U\\+([0-9A-F]{4,6})⟩|↵\n")
_SIGNS: Final = frozenset("⟨↵")


def _hidden(char: str) -> bool:
    if char in _SIGNS:
        return True
    if char.isascii() and char.isprintable():
        return False
    return invisible(char) or unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}


def _shown(char: str) -> str:
    return "↵\n" if char == "\n" else f"⟨U+{ord(char):04X}⟩"


def visible(text: str) -> str:
    """`text` with everything that would not be seen made visible. `revealed` undoes it."""
    out = [_shown(char) if char == "\n" or _hidden(char) else char for char in text]
    for at, char in enumerate(text):
        # A space at a line's end leaves no trace, and clients may trim one at either end.
        if char == " " and (at in {0, len(text) - 1} or text[at + 1] == "\n"):
            out[at] = _shown(" ")
    return "".join(out)


def revealed(shown: str) -> str:
    """The text that `visible` was given."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] is None else chr(int(match[1], 16)), shown)


def pieces(text: str, limit: int) -> list[tuple[str, int]]:
    """`text` made visible in pieces of at most `limit` UTF-16 units (12 at least), each with the number of its own characters."""
    out: list[tuple[str, int]] = []
    start = 0
    while start < len(text):
        end, room = start, limit
        while end < len(text):
            # Where a piece ends, a space would be at its edge and take its longest form.
            need = 8 if text[end] == " " else size(visible(text[end]))
            if need > room:
                break
            room -= need
            end += 1
        out.append((visible(text[start:end]), end - start))
        start = end
    return out
