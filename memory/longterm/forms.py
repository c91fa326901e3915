"""From one form of a memory to another: a candidate become a memory, one told anew, and what belongs to one that goes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.longterm.access import WORKSPACE, Audience, Owner
from memory.longterm.candidate import Candidate
from memory.longterm.memory import Change, Kind, Memory, Source


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate would go, and where it came from."""

    owner: Owner
    audience: Audience
    source: Source
    context: str


def same_place(memory: Memory, fresh: Memory) -> bool:
    """Whether both say what has one value at a time."""
    return fresh.single and memory.key == fresh.key and memory.condition == fresh.condition


def memory_from(one: str, place: Place, candidate: Candidate, at: float) -> Memory:
    """A candidate as a memory with the id `one`, said `at` (seconds since the epoch)."""
    return Memory(
        id=one,
        owner=place.owner,
        kind=candidate.kind,
        key=candidate.key,
        text=candidate.text,
        value=candidate.value,
        negated=candidate.negated,
        condition=candidate.condition,
        single=candidate.single,
        always=candidate.always,
        sensitive=candidate.sensitive,
        explicit=candidate.explicit,
        audience=place.audience,
        source=place.source,
        context=place.context[:1_000],
        created=at,
        updated=at,
        valid_from=candidate.valid_from,
        valid_until=candidate.valid_until,
        importance=max(candidate.importance, 0.8) if candidate.explicit else candidate.importance,
        language=candidate.language,
        expires=candidate.expires,
    )


def begun(memory: Memory) -> float:
    """When what a memory made by code tells was said, or done: the request that led to it, if there was one. Seconds since the epoch."""
    return min(memory.source.at or memory.created, memory.created)


ALSO: Final = 20
"""Further messages that said the same of which a memory keeps the place."""


def also_said(known: Memory, now: Source) -> tuple[Source, ...]:
    """Where a known memory was said besides the place that `now` becomes or is added to, the latest last."""
    told = {(each.thread.id, each.ts): each for each in (*known.also_said, known.source) if each.ts and each.via == "message"}
    told.pop((now.thread.id, now.ts), None)
    return tuple(told.values())[-ALSO:]


def told_anew(known: Memory, fresh: Memory, at: float) -> Memory:
    """A known memory told anew: it keeps its id and age, and takes the wider of the two audiences, for what was said in public is public."""
    wider = WORKSPACE if WORKSPACE in (known.audience, fresh.audience) else fresh.audience if known.audience.scope == "private" else known.audience
    kept = {"id": known.id, "created": known.created, "audience": wider, "times_said": known.times_said + 1, "updated": at}
    kept |= {"times_recalled": known.times_recalled, "last_recalled": known.last_recalled, "always": known.always or fresh.always}
    kept |= {"explicit": known.explicit or fresh.explicit, "importance": max(known.importance, fresh.importance)}
    return fresh.model_copy(update=kept | {"also_said": also_said(known, fresh.source)})


def said_again(known: Memory, source: Source) -> tuple[Source, ...]:
    """The other places of a memory that keeps its own, once it was said at `source` as well."""
    others = tuple(each for each in known.also_said if (each.thread, each.ts) != (source.thread, source.ts))
    return (*others, source)[-ALSO:] if source.ts and source.via == "message" else others


def with_older_forms(asked: Sequence[Memory], everything: Sequence[Memory]) -> dict[str, Memory]:
    """These memories, what they took the place of, and the episodes of the same messages."""
    gone = {memory.id: memory for memory in asked}
    messages = {(memory.source.thread.id, memory.source.ts) for memory in asked if memory.source.ts}
    gone |= {m.id: m for m in everything if m.kind is Kind.EPISODE and (m.source.thread.id, m.source.ts) in messages}
    while older := [m for m in everything if m.id not in gone and (m.superseded_by in gone or _told_by(m, gone.get(m.disputed_with)))]:
        gone |= {memory.id: memory for memory in older}
    return gone


def _told_by(memory: Memory, other: Memory | None) -> bool:
    """Whether what stands against another one tells of the same; of another value it tells something else ("I live in Porto")."""
    return other is not None and not (memory.value and other.value and memory.value != other.value)


def freed(gone: Mapping[str, Memory], everything: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """What waited for a decision against one that goes and is simply so from now on: as it was, and as it is."""
    waiting = [memory for memory in everything if memory.id not in gone and memory.disputed_with in gone]
    return [(memory, memory.model_copy(update={"disputed_with": ""})) for memory in waiting]


def last_forms(ids: Collection[str], changes: Sequence[Change]) -> list[Memory]:
    """What the history still tells of memories that are not there any more; `changes` newest first."""
    found: dict[str, Memory] = {}
    for change in changes:
        form = change.after or change.before
        if change.memory_id in ids and form is not None:
            found.setdefault(change.memory_id, form)
    return list(found.values())


def tells_of(change: Change, gone: dict[str, Memory]) -> bool:
    """Whether an entry of the history tells of one of these."""
    return any(memory is not None and memory.id in gone for memory in (change.before, change.after)) or change.memory_id in gone
