"""Growing old: what is never needed weighs less, and what was for a time goes when its time is over. Facts and preferences never do. Pure plans.

How little something may weigh follows from how long it has not been used, not from how often this was looked at, so the same day gives the
same weight however often the job runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.longterm.consolidate import DAY, LIMIT, Planned
from memory.longterm.memory import Kind, Memory
from memory.longterm.reconcile import said_of

UNUSED_DAYS: Final = 90.0
CEILINGS: Final = (0.4, 0.25, 0.15, 0.1)
"""The most that something weighs which was not used for one, two, three, four or more times `UNUSED_DAYS`."""
EPISODE_DAYS: Final = 90.0
IMPORTANT: Final = 0.8
IMPORTANT_DAYS: Final = 365.0
"""How long an episode of at least that importance stays."""
ENTITY_DAYS: Final = 30.0
PLAN_DAYS: Final = 60.0
"""How long a plan without a day of its own stays."""
PLAN_GRACE_DAYS: Final = 1.0
"""A plan stays so long after its end: people ask how it was."""


def plan_lower(memories: Sequence[Memory], *, now: float, days: float = UNUSED_DAYS, limit: int = LIMIT) -> list[Planned]:
    """Lower the importance of what was neither said nor recalled for `days`; never of what always applies or was asked to be remembered."""
    steps = []
    for memory in _by_age(memories):
        if not memory.live or memory.always or memory.explicit or memory.source.via == "command":
            continue
        periods = int((now - max(said_of(memory), memory.last_recalled)) // (days * DAY))
        if periods < 1:
            continue
        most = CEILINGS[min(periods, len(CEILINGS)) - 1]
        if memory.importance > most:
            steps.append(Planned("lowered", memory, memory.model_copy(update={"importance": most})))
    return steps[:limit]


def plan_expire(memories: Sequence[Memory], *, now: float, limit: int = LIMIT) -> list[Planned]:
    """Drop what is over: by its own expiry, plans after their end, episodes and things of business by age."""
    return [Planned("expired", memory, None) for memory in _by_age(memories) if _ends(memory) <= now][:limit]


def _ends(memory: Memory) -> float:
    """When it goes, in seconds since the epoch; infinity: never."""
    ends = float("inf") if memory.expires is None else memory.expires
    match memory.kind:
        case Kind.PLAN:
            over = said_of(memory) + PLAN_DAYS * DAY if memory.valid_until is None else memory.valid_until + PLAN_GRACE_DAYS * DAY
            # Its own day, where it has one, is later knowledge than an expiry given when it was read.
            return over if memory.valid_until is not None else min(ends, over)
        case Kind.EPISODE:
            # An important one outlives the expiry that all episodes are given.
            return memory.created + IMPORTANT_DAYS * DAY if memory.importance >= IMPORTANT else min(ends, memory.created + EPISODE_DAYS * DAY)
        case Kind.ENTITY:
            return min(ends, said_of(memory) + ENTITY_DAYS * DAY)
        case Kind.FACT | Kind.PREFERENCE | Kind.HABIT | Kind.AGREEMENT:
            return ends


def _by_age(memories: Sequence[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (memory.created, memory.id))
