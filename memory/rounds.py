"""How a thread divides: rounds (one request and all that was done for it), and the places where it may be cut.

A round begins with the first message addressed to us after an answer, and ends before the next one. What people say among themselves is
no round of its own. Whatever is kept or let go is chosen in these units, so that no request is ever parted from its results.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.transcript import AssistantMessage, Item, UserMessage


def rounds(items: Sequence[Item]) -> list[int]:
    """The index at which each round begins, oldest first. Items before the first belong to none."""
    starts: list[int] = []
    answered = True
    for index, item in enumerate(items):
        if isinstance(item, UserMessage) and item.addressed and not item.own and not item.earlier and answered:
            starts.append(index)
            answered = False
        elif isinstance(item, AssistantMessage) and not item.calls:
            answered = True
    return starts


def cuts(items: Sequence[Item]) -> list[int]:
    """Every index before which a list of arranged items may be cut: where somebody speaks."""
    return [index for index, item in enumerate(items) if isinstance(item, UserMessage)]
