"""Putting one owner's memories in order: what is said twice becomes one, what contradicts is settled, what is over goes. Pure plans.

A plan takes all memories of one owner and gives the steps to be made, each a memory before and after; whoever makes them checks that the memory
is still as it was before. A plan made of what its own steps lead to is empty, so running a job twice does nothing twice. Habits are in
`consolidate_habits.py`, aging in `consolidate_aging.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.longterm.alike import alike, conditions, content, is_han, says_all_of, subject
from memory.longterm.memory import Done, Kind, Memory
from memory.longterm.reconcile import relation, said_of

DAY: Final = 86_400.0
LIMIT: Final = 200
"""Steps of one plan; the next run makes the rest."""
DISPUTED_DAYS: Final = 14.0
"""After so long without an answer the newest of the person's own words holds."""
MOST_ALIKE: Final = 40
"""Memories that share a rare word with one and are compared with it."""
_MERGED: Final = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.AGREEMENT, Kind.PLAN, Kind.HABIT})


@dataclass(frozen=True, slots=True)
class Planned:
    """One change: `before` is None for a memory that is made, `after` None for one that goes."""

    done: Done
    before: Memory | None
    after: Memory | None


def applied(memories: Iterable[Memory], steps: Iterable[Planned]) -> list[Memory]:
    """The memories as they are after the steps, in their order, new ones last."""
    left = {memory.id: memory for memory in memories}
    for step in steps:
        if step.after is not None:
            left[step.after.id] = step.after
        elif step.before is not None:
            left.pop(step.before.id, None)
    return list(left.values())


Near = Callable[[Memory, Memory], float]
"""How alike two memories are in meaning, 0 to 1."""


def plan_merge(memories: Sequence[Memory], *, now: float, limit: int = LIMIT, near: Near | None = None) -> list[Planned]:
    """Make one of memories of the same kind, audience and condition that say the same. At most `limit` steps, whole groups only.

    The oldest keeps its id and takes the fullest wording; the others are superseded by it, which leaves their words in the history.
    """
    held = [memory for memory in memories if memory.live and memory.kind in _MERGED and not _over(memory, now)]
    steps: list[Planned] = []
    for group in _groups(held, near):
        made = list(_merged(sorted(group, key=lambda memory: (memory.created, memory.id))))
        if len(steps) + len(made) > limit:
            break
        steps += made
    return steps


def _over(memory: Memory, now: float) -> bool:
    return memory.valid_until is not None and memory.valid_until <= now


def _groups(memories: Sequence[Memory], near: Near | None) -> Iterator[list[Memory]]:
    """Groups in which every memory says the same as the first; in a fixed order."""
    boxes: dict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        boxes[memory.owner.tag, memory.kind, memory.audience.tag, memory.sensitive, memory.valid_until].append(memory)
    for box in boxes.values():
        if len(box) > 1:
            yield from _within(box, near)


def _within(box: Sequence[Memory], near: Near | None) -> Iterator[list[Memory]]:
    places = _places(box)
    taken: set[str] = set()
    for memory in box:
        if memory.id in taken:
            continue
        group = [memory]
        for other in _neighbours(memory, places):
            # Every member says the same as every other: likeness handed on from one to the next ends anywhere.
            if other.id not in taken and other.id != memory.id and all(_same(each, other, near) for each in group):
                group.append(other)
        if len(group) > 1:
            taken |= {each.id for each in group}
            yield group


def _places(box: Sequence[Memory]) -> dict[str, list[Memory]]:
    """Memories by key and by each of their terms, so that not every pair has to be looked at."""
    places: dict[str, list[Memory]] = defaultdict(list)
    for memory in box:
        places[f"key {subject(memory.key)[0]}"].append(memory)
        for term in content(memory.text):
            places[term].append(memory)
    return places


def _neighbours(memory: Memory, places: dict[str, list[Memory]]) -> list[Memory]:
    found = {each.id: each for each in places[f"key {subject(memory.key)[0]}"]}
    for term in sorted(content(memory.text), key=lambda term: (len(places[term]), term))[:2]:
        found |= {each.id: each for each in places[term][:MOST_ALIKE]}
    return sorted(found.values(), key=lambda each: (each.created, each.id))


def _same(left: Memory, right: Memory, near: Near | None) -> bool:
    """Whether one of two can go without anything being lost."""
    if is_han(left.text) == is_han(right.text) and not (content(left.text) <= content(right.text) or content(right.text) <= content(left.text)):
        return False  # nearly all pairs end here
    if conditions(left.condition, right.condition) != "same" or left.negated != right.negated:
        return False
    if subject(left.key) == subject(right.key):
        if relation(right, left, near=near(left, right) if near else 0.0) != "same":
            return False
        if left.value and right.value and is_han(left.text) != is_han(right.text):
            return True
    elif not alike(left.text, right.text) or (left.value and right.value and left.value != right.value):
        return False
    return says_all_of(left.text, right.text) or says_all_of(right.text, left.text)


def _merged(group: Sequence[Memory]) -> Iterator[Planned]:
    kept, *others = group
    fullest = max(group, key=lambda memory: (len(content(memory.text)) if is_han(memory.text) == is_han(kept.text) else 0, -memory.created, memory.id))
    after = kept.model_copy(
        update={
            "text": fullest.text,
            "language": fullest.language,
            "value": fullest.value or kept.value or next((each.value for each in group if each.value), ""),
            "times_said": sum(each.times_said for each in group),
            "times_recalled": sum(each.times_recalled for each in group),
            "last_recalled": max(each.last_recalled for each in group),
            "updated": max(map(said_of, group)),
            "importance": max(each.importance for each in group),
            "always": any(each.always for each in group),
            "explicit": any(each.explicit for each in group),
            "single": any(each.single for each in group),
            "expires": None if any(each.expires is None for each in group) else max(each.expires or 0.0 for each in group),
        }
    )
    yield Planned("merged", kept, after)
    for each in others:
        yield Planned("merged", each, each.model_copy(update={"superseded_by": kept.id}))


def plan_settle(memories: Sequence[Memory], *, now: float, days: float = DISPUTED_DAYS, limit: int = LIMIT) -> list[Planned]:
    """Settle contradictions nobody answered for `days`, and two live values of what has one: the newest of the person's own words holds.

    A dispute whose other side is gone is over. At most `limit` steps, whole disputes only.
    """
    by_id = {memory.id: memory for memory in memories}
    steps: list[Planned] = []
    touched: set[str] = set()
    for disputed in sorted((memory for memory in memories if memory.disputed_with), key=lambda memory: (memory.created, memory.id)):
        other = by_id.get(disputed.disputed_with)
        if disputed.id in touched or (other is not None and other.id in touched):
            continue
        made = _settled(disputed, other, now - days * DAY)
        if len(steps) + len(made) > limit:
            break
        steps += made
        touched |= {step.before.id for step in made if step.before is not None}
    for older, newer in _two_values([memory for memory in memories if memory.live and memory.id not in touched and not _over(memory, now)]):
        if len(steps) >= limit:
            break
        steps.append(Planned("settled", older, _ended(older, newer)))
    return steps


def _settled(disputed: Memory, other: Memory | None, before: float) -> list[Planned]:
    if other is None or other.superseded_by or disputed.superseded_by:
        # superseded together with its other side, or left alone by it
        return [Planned("settled", disputed, disputed.model_copy(update={"disputed_with": ""}))]
    if max(said_of(disputed), said_of(other)) > before:
        return []
    loser, winner = sorted((disputed, other), key=_weight)
    steps = [Planned("settled", loser, _ended(loser, winner))]
    if winner.disputed_with:
        steps.append(Planned("settled", winner, winner.model_copy(update={"disputed_with": ""})))
    return steps


def _weight(memory: Memory) -> tuple[bool, float, bool, int, str]:
    """What decides which of two holds: own words before what a tool or a job made, then the newer, then what was typed into a form, then the oftener said."""
    return memory.source.via in {"message", "command"}, said_of(memory), memory.source.via == "command", memory.times_said, memory.id


def _ended(loser: Memory, winner: Memory) -> Memory:
    return loser.model_copy(update={"superseded_by": winner.id, "disputed_with": "", "valid_until": said_of(winner)})


def _two_values(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    """Pairs (older, newest) of live memories of one key that has one value, which say two things."""
    boxes: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.single and memory.kind in _MERGED:
            boxes[memory.owner.tag, subject(memory.key)[0]].append(memory)
    for box in boxes.values():
        ended: set[str] = set()
        for newer in sorted(box, key=_weight, reverse=True):
            for older in sorted(box, key=_weight):
                if older.id == newer.id:
                    break
                if older.id not in ended and newer.id not in ended and relation(newer, older) == "against":
                    ended.add(older.id)
                    yield older, newer
