"""What a search in the embedded store is made of before its records are read, and records read before, kept at hand.

A search asks each owner's part for places and scores alone, the best of all owners are chosen, and only those records are read: reading a
record costs more than finding it. What was read is kept as the text it is answered with, by place, up to a number of bytes. The process that
keeps it is the only one that writes, and every write drops what it concerns before it is made, so nothing changed or deleted is given out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

HELD: Final = 32 << 20
"""Bytes of records kept at hand, all parts together."""
BESIDE: Final = 250
"""Bytes that keeping one takes beside its text."""

Place = TypeVar("Place", bound=Hashable)


class Legs(NamedTuple):
    """What the two legs of a search found in one part: points and scores, the best first."""

    meant: list[tuple[int, float]]
    worded: list[tuple[int, float]]


def merged(meant: Sequence[tuple[Place, float]], worded: Sequence[tuple[Place, float]], limit: int) -> dict[Place, tuple[float | None, float | None]]:
    """The best `limit` of each leg, each place once, with the scores of the legs that brought it."""
    by_meaning, by_words = (dict(sorted(leg, key=lambda each: -each[1])[:limit]) for leg in (meant, worded))
    return {place: (by_meaning.get(place), by_words.get(place)) for place in dict.fromkeys([*by_meaning, *by_words])}


class Rows:
    """Texts by the number of their point; those not asked for in the longest time go first."""

    def __init__(self, most: int = HELD) -> None:
        self._most = most
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self.size = 0
        """Bytes kept now."""

    def get(self, point: int) -> bytes | None:
        """The text, if it is at hand."""
        row = self._held.get(point)
        if row is not None:
            self._held.move_to_end(point)  # the last to go now
        return row

    def add(self, point: int, row: bytes) -> None:
        """Keep a text that was read just now."""
        self.drop((point,))
        self._held[point] = row
        self.size += len(row) + BESIDE
        while self.size > self._most:
            _, gone = self._held.popitem(last=False)
            self.size -= len(gone) + BESIDE

    def drop(self, points: Iterable[int]) -> None:
        """These are written or deleted."""
        for point in points:
            if (row := self._held.pop(point, None)) is not None:
                self.size -= len(row) + BESIDE
