"""What a compaction moves: which of a thread's older items stop being sent word by word, and which are carried whole all the same.

The plan is made over the log as it was written, so that what it says (positions) holds whatever arrives later. It lets go of as little
as needed, always in front of somebody's message and between two rounds. Requests that still wait, whose results came later, or that are
among the latest of the thread are pinned: they stay whole with every result, until a later plan finds that they no longer need to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from memory.rounds import rounds
from memory.session_memory import Fact, SessionMemory, Summary
from memory.transcript import AssistantMessage, Correction, Item, ToolMessage, UserMessage

LAST_CALLS: Final = 3
"""So many of the thread's latest tool calls stay whole whatever their age."""

MOST_CORRECTED: Final = 1_000
"""Corrected messages of the summarised part that are remembered, some 30 bytes each."""

Placed = tuple[int, Item]
"""An item with its absolute position in the transcript."""


@dataclass(frozen=True)
class Plan:
    """One compaction to be done."""

    upto: int
    """Items before this position are no longer sent word by word."""
    items: tuple[Item, ...]
    """What the summary has to take in, in the order of the log, with the corrections that concern it."""
    pins: tuple[int, ...]
    """Positions before `upto` that are carried whole: requests and their results."""


def as_read(items: Iterable[Item]) -> list[Item]:
    """The items as their authors left them: edited messages with their last text, deleted ones not at all, no corrections."""
    log = list(items)
    texts = {item.ts: item.text for item in log if isinstance(item, Correction)}
    out: list[Item] = []
    for item in log:
        if isinstance(item, Correction):
            continue
        if isinstance(item, UserMessage) and item.ts in texts:
            text = texts[item.ts]
            if text is not None:
                out.append(item.model_copy(update={"text": text}))
        else:
            out.append(item)
    return out


def plan(
    log: Sequence[Placed],
    memory: SessionMemory,
    *,
    keep_tokens: int,
    keep_rounds: int,
    count_item: Callable[[Item], int],
    open_calls: Collection[str],
    open_requests: Collection[str] = (),
    whole_rounds: int = 0,
) -> Plan | None:
    """What should go so that what stays, pins included, has at most `keep_tokens` tokens; None when nothing can or need go.

    `log` is the raw log in its order: the items at `memory.pins`, then all from `memory.covered` on. The last `keep_rounds` rounds
    stay even when they alone are more than `keep_tokens`, as do the tool calls of the last `whole_rounds`, and the messages
    with a `ts` in `open_requests`. A plan made again after `applied` is None.
    """
    old = [(at, item) for at, item in log if at < memory.covered]
    fresh = [(at, item) for at, item in log if at >= memory.covered]
    costs = [count_item(item) for _, item in fresh]
    stays = [*reversed(list(accumulate(reversed(costs), initial=0)))]  # stays[k]: tokens of fresh[k:]
    if sum(count_item(item) for _, item in old) + stays[0] <= keep_tokens:
        return None
    newest = _last_rounds(log, keep_rounds)
    called = frozenset(at for at, item in log if isinstance(item, ToolMessage) or (isinstance(item, AssistantMessage) and item.calls))
    asked = frozenset(at for at, item in log if isinstance(item, UserMessage) and item.ts in open_requests)
    pinning = _Pinning(log, open_calls, newest | asked | (_last_rounds(log, whole_rounds) & called))
    since = min(newest, default=None)
    between, inside = _cuts(fresh, since)
    # What people said among themselves in the last rounds goes only when nothing less helps; the rounds themselves stay.
    first = min(bisect_left(between, True, key=lambda cut: stays[cut] <= keep_tokens), len(between) - 1)
    best: tuple[int, int, list[Placed]] | None = None
    for cut in (*between[first:], *inside):
        upto = fresh[cut][0] if cut else memory.covered
        pinned = pinning.at(upto)
        total = stays[cut] + sum(count_item(item) for _, item in pinned)
        if best is None or total < best[0]:
            best = total, upto, pinned
        if total <= keep_tokens:
            break
    if best is None:
        return None
    _, upto, pinned = best
    pins = tuple(at for at, _ in pinned)
    held = set(pins)
    moved = [item for at, item in log if at < upto and at not in held]
    if not moved:
        return None
    named = {item.ts for item in moved if isinstance(item, UserMessage)}
    later = [item for at, item in log if at >= upto and isinstance(item, Correction) and item.ts in named]
    return Plan(upto, (*moved, *later), pins)


def applied(
    memory: SessionMemory,
    plan: Plan,
    summary: Summary,
    facts: Sequence[Fact],
    *,
    now: float,
    by: Literal["model", "extract"],
    tokens_before: int,
    tokens_after: int,
) -> SessionMemory:
    """The document after `plan` was carried out; `now` in seconds since the epoch."""
    return memory.model_copy(
        update={
            "covered": plan.upto,
            "pins": plan.pins,
            "summary": summary,
            "facts": tuple(facts),
            "compacted_at": now,
            "compactions": memory.compactions + 1,
            "by": by,
            "tokens_before": tokens_before,
            "tokens_after": tokens_after,
        }
    )


def corrected(memory: SessionMemory, log: Iterable[Placed], upto: int) -> dict[str, int | None]:
    """`memory.corrected` with the corrections of the log before `upto`; of more than `MOST_CORRECTED` the oldest edits leave, then the oldest deletions."""
    found = dict(memory.corrected)
    for at, item in log:
        if isinstance(item, Correction) and at < upto:
            found.pop(item.ts, None)
            found[item.ts] = at if item.text is not None else None
    spare = len(found) - MOST_CORRECTED
    gone = sorted(found, key=lambda ts: found[ts] is None)[: max(spare, 0)]
    return {ts: at for ts, at in found.items() if ts not in set(gone)}


def _is_aside(item: Item) -> bool:
    return isinstance(item, UserMessage) and (not item.addressed or item.own or item.earlier)


def _last_rounds(log: Sequence[Placed], keep_rounds: int) -> frozenset[int]:
    """Positions of what belongs to the last rounds: requests, answers, calls and results, not what people said among themselves meanwhile."""
    starts = rounds([item for _, item in log])
    if keep_rounds <= 0 or not starts:
        return frozenset()
    return frozenset(at for at, item in log[starts[-min(keep_rounds, len(starts))] :] if not _is_aside(item))


def _cuts(items: Sequence[Placed], since: int | None) -> tuple[list[int], list[int]]:
    """Where the verbatim part may begin, ascending: between two rounds up to the position `since`, and before asides behind it.

    0, where it begins now, is always one of the first. Between rounds means before somebody's message with no round under way: what
    remains then divides into the same rounds as before the cut.
    """
    between, inside, answered = [0], [], True
    for index, (at, item) in enumerate(items):
        if isinstance(item, UserMessage):
            late = since is not None and at > since
            if index and answered and not late:
                between.append(index)
            elif index and ((late and _is_aside(item)) or since is None):
                inside.append(index)
            if not _is_aside(item):
                answered = False
        elif isinstance(item, AssistantMessage) and not item.calls:
            answered = True
    return between, inside


class _Pinning:
    """Which requests of a log must stay whole for a given boundary."""

    def __init__(self, log: Sequence[Placed], open_calls: Collection[str], newest: Collection[int]) -> None:
        """`newest`: positions of what stays because it is new."""
        self._newest = [(at, item) for at, item in log if at in newest]
        self._asked = [(at, item) for at, item in log if isinstance(item, AssistantMessage) and item.calls]
        self._corrections = [(at, item) for at, item in log if isinstance(item, Correction)]
        self._results: dict[str, list[tuple[int, ToolMessage]]] = {}
        self._ends: dict[str, int] = {}
        for at, item in log:
            if isinstance(item, ToolMessage):
                self._results.setdefault(item.call_id, []).append((at, item))
            elif isinstance(item, AssistantMessage):
                self._ends[item.run_id] = at
        latest = [call.id for _, item in self._asked for call in item.calls][-LAST_CALLS:]
        self._always = {*open_calls, *latest}

    def at(self, upto: int) -> list[Placed]:
        """The items before `upto` that stay, in the order of the log. An answer with several requests stays as one."""
        kept: dict[int, Item] = {at: item for at, item in self._newest if at < upto}
        for at, item in self._asked:
            if at < upto and self._stays(item, upto):
                kept[at] = item
                kept.update(placed for call in item.calls for placed in self._results.get(call.id, ()) if placed[0] < upto)
        said = {item.ts for item in kept.values() if isinstance(item, UserMessage)}
        kept.update(placed for placed in self._corrections if placed[0] < upto and placed[1].ts in said)
        return sorted(kept.items())

    def _stays(self, item: AssistantMessage, upto: int) -> bool:
        if self._ends[item.run_id] >= upto:  # the chain goes on behind the boundary
            return True
        return any(call.id in self._always or any(at >= upto for at, _ in self._results.get(call.id, ())) for call in item.calls)
