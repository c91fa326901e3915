"""What becomes of an owner's memories when a message is deleted or no longer says what it said. Pure.

What was learned from it goes, with all that the history holds of it. What it had changed was said in other messages, which still stand: what it
had taken the place of holds again, what it had told anew is as it was told before, and what waited for a decision against it is simply so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.longterm.forms import freed, tells_of
from memory.longterm.memory import Change, Kind, Memory, Source


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What is to be done."""

    gone: Mapping[str, Memory]
    """What goes, by its id."""
    back: tuple[tuple[Memory, Memory], ...]
    """What changes: as it is, and as it will be."""
    notes: tuple[str, ...]
    """Entries of the history that tell of it."""


def withdrawal(asked: Iterable[Memory], everything: Sequence[Memory], changes: Sequence[Change]) -> Withdrawal:
    """How to take back `asked`, all of one message, of an owner who has `everything`; `changes` is the history, newest first.

    What another message says as well stands on that one.
    """
    asked = list(asked)
    again = {memory.id for memory in asked if memory.also_said and _told_before(memory, changes) is None}
    stands = [
        (memory, memory.model_copy(update={"source": memory.also_said[-1], "also_said": memory.also_said[:-1]})) for memory in asked if memory.id in again
    ]
    asked = [memory for memory in asked if memory.id not in again]
    messages = {_message(memory.source) for memory in asked if memory.source.ts}
    going = {memory.id: memory for memory in asked}
    going |= {memory.id: memory for memory in everything if memory.kind is Kind.EPISODE and _message(memory.source) in messages}
    earlier = {one: form for one, memory in going.items() if (form := _told_before(memory, changes)) is not None}
    gone = {one: memory for one, memory in going.items() if one not in earlier}
    left = [memory for memory in everything if memory.id not in going]
    back = (*stands, *((going[one], form) for one, form in earlier.items()), *holding_again(gone, left, changes), *freed(gone, left))
    notes = tuple(change.id for change in changes if tells_of(change, gone) or (change.memory_id in earlier and _of_message(change, messages)))
    return Withdrawal(gone, back, notes)


def holding_again(gone: Mapping[str, Memory], left: Sequence[Memory], changes: Sequence[Change]) -> list[tuple[Memory, Memory]]:
    """Of what is left, what had its end from one that goes: as it is, and as it holds again."""
    return [(memory, _holding_again(memory, gone, changes)) for memory in left if memory.superseded_by in gone]


def _message(source: Source) -> tuple[str, str]:
    return source.thread.id, source.ts


def _of_message(change: Change, messages: set[tuple[str, str]]) -> bool:
    return any(form is not None and _message(form.source) in messages for form in (change.before, change.after))


def _told_before(memory: Memory, changes: Sequence[Change]) -> Memory | None:
    """The form in which an earlier message told it, if the one that goes only told it anew."""
    for change in changes:
        before = change.before
        if change.memory_id == memory.id and change.done == "updated" and before is not None and _message(before.source) != _message(memory.source):
            over = {"superseded_by": memory.superseded_by} | ({"valid_until": memory.valid_until} if memory.superseded_by else {})
            return before.model_copy(update=over | {"last_recalled": memory.last_recalled, "times_recalled": memory.times_recalled})
    return None


def _holding_again(memory: Memory, gone: Mapping[str, Memory], changes: Sequence[Change]) -> Memory:
    """What a memory that went had taken the place of: as it was before, or superseded by whatever took that one's place in turn."""
    following = memory.superseded_by
    seen: set[str] = set()
    while following in gone and following not in seen:
        seen.add(following)
        following = gone[following].superseded_by
    if following and following not in gone:
        return memory.model_copy(update={"superseded_by": following})
    for change in changes:
        if change.memory_id == memory.id and change.done == "superseded" and change.before is not None and change.before.live:
            return change.before.model_copy(update={"last_recalled": memory.last_recalled, "times_recalled": memory.times_recalled})
    return memory.model_copy(update={"superseded_by": "", "valid_until": None})  # the history does not reach back that far
