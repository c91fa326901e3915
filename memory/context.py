"""Which part of a thread a model call carries. The first cut: the newest items that fit a size, whole rounds only.

This is the seam for budgets, summaries and recall; callers see one function from items to items.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.transcript import AssistantMessage, Item, Note, ToolMessage, UserMessage

DEFAULT_LIMIT = 240_000
"""Characters of transcript sent to the model (about 60,000 tokens of English)."""


def size(item: Item) -> int:
    """An item's weight in characters."""
    match item:
        case UserMessage():
            return len(item.text) + len(item.name) + sum(map(len, item.files)) + 8
        case AssistantMessage():
            return len(item.text) + sum(len(call.arguments) + len(call.name) for call in item.calls) + 8
        case ToolMessage():
            return len(item.content) + 8
        case _:
            return 64


def select(items: Sequence[Item], limit: int = DEFAULT_LIMIT) -> tuple[list[Item], bool]:
    """The newest of the arranged `items` that fit into `limit` characters, and whether older ones were left out.

    The cut falls before a user message, so no request is separated from its results; the newest user message and all
    that follows it always stay, whatever their size.
    """
    newest = max((i for i, item in enumerate(items) if isinstance(item, UserMessage) and item.addressed), default=0)
    start, weight = newest, sum(size(item) for item in items[newest:])
    for i in range(newest - 1, -1, -1):
        weight += size(items[i])
        if weight > limit:
            break
        if isinstance(items[i], UserMessage):
            start = i
    kept = list(items[start:])
    if start == 0:
        return kept, False
    return [Note(text="Earlier messages of this thread are left out here because it is long."), *kept], True
