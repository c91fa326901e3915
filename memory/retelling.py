"""What recall found, told: from a request to what it is searched by, and from hits to the lines that go with the request.

Between the two stands a store that this knows nothing of: `ranges_of` says which items have to be read for some hits, `older_of` makes of
what was read the messages as their authors left them, and `teller` gives their lines in as many tokens as turn out to be free. Deleted
messages never come back, edited ones come back as they were edited, long ones in part, and results that no longer hold say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.compaction import as_read
from memory.passage import in_part
from memory.recall import RECENT_TURNS, Recalled, call_line, chosen, lines, neighbours, requests_of
from memory.session_memory import SessionMemory
from memory.stale import checked
from memory.summary import FENCE
from memory.transcript import Correction, Item, Request, ToolMessage, UserMessage

HITS: Final = 200
"""Messages looked at for one request; how many are shown is a matter of room. So many of usual length fill the most that recall may take: half as
many bring everything for 90 % of the questions where these bring it for 93 %, twice as many for no more."""
CALL_REACH: Final = 24
"""Items before a result among which its request is looked for."""
LONGEST: Final = 2_000
"""Characters of one older call and its result that are shown."""

LARGEST_PART: Final = 3
"""A message may take one part in so many of the room; of a longer one only a passage is shown."""
ROOM_FOR_ONE: Final = 300
"""Tokens; with fewer to give in all, the best message may take nearly everything."""
FRAME: Final = 40
"""Tokens of a line beside its text: its speaker, marks and day."""

Told = Callable[[int], list[str]]
"""What was found, as lines of data for the model, in at most so many tokens."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a thread is searched by."""

    text: str
    recent: tuple[str, ...]
    """Earlier turns of the same person, oldest first."""
    speakers: tuple[str, ...]


def wanted(items: Sequence[Item], ts: str) -> Wanted | None:
    """What the message `ts` among `items` asks of the older part of its thread, as its author left it; None when it is not there (any more)."""
    said = [item for item in as_read(items) if isinstance(item, UserMessage)]
    asked = next((item for item in reversed(said) if item.ts == ts), None)
    if asked is None:
        return None
    recent = [item.text for item in said if item.actor == asked.actor and item.ts < asked.ts][-RECENT_TURNS:]
    return Wanted(asked.text, tuple(recent), tuple(sorted({item.name for item in said})))


def ranges_of(recalled: Recalled) -> list[tuple[int, int]]:
    """The positions (first, after the last) that `older_of` needs, ascending, none twice."""
    beside = [(position, position + 1) for position in (*(hit.position for hit in recalled.hits), *neighbours(recalled.hits))]
    # A result is shown together with its request, which stands a little before it.
    return _merged([*beside, *((position - CALL_REACH, position + 1) for position in recalled.calls)])


def edits_of(read: Iterable[Item], memory: SessionMemory) -> list[tuple[int, int]]:
    """The positions of the corrections that have to be read as well: of messages in `read` that were edited and whose edit is summarised too."""
    places = (memory.corrected.get(item.ts) for item in read if isinstance(item, UserMessage))
    return _merged([(place, place + 1) for place in places if place is not None])


def older_of(read: Mapping[int, Item], memory: SessionMemory, corrections: Iterable[Correction]) -> dict[int, Item]:
    """By position: those of `read` that are not in the context anyway, as their authors left them; results that the thread changed later say so.

    `corrections`: those that are still verbatim, and those that `edits_of` asked for, in the order of the log.
    """
    texts: dict[str, str | None] = {ts: None for ts, place in memory.corrected.items() if place is None}
    texts |= {each.ts: each.text for each in corrections}
    held = set(memory.pins)
    found: dict[int, Item] = {}
    for at, item in read.items():
        if at < memory.covered and at not in held and (left := _as_left(item, texts)) is not None:
            found[at] = left
    return checked(found, memory.changes, ())


def teller(recalled: Recalled, older: Mapping[int, Item], *, timezone: str, count: Callable[[str], int], log: Iterable[tuple[int, Item]] = ()) -> Told | None:
    """How `older` is told, calls whole and before everything else; None when there is nothing to tell.

    `log`: the verbatim part with its positions, whose writes show which of the older results no longer hold.
    """
    if not older:
        return None
    older = checked(older, (), log)
    requests = requests_of(older.values())
    calls = [item for position in recalled.calls if isinstance(item := older.get(position), ToolMessage)]
    whole = [f"{FENCE}tool: {call_line(requests.get(each.call_id) or _unknown(each), each, limit=LONGEST)}" for each in calls]

    def told(room: int) -> list[str]:
        kept = []
        for line in whole:
            if (size := count(line) + 1) <= room:
                kept.append(line)
                room -= size
        most = max(room // LARGEST_PART, min(room, ROOM_FOR_ONE) - FRAME)
        fitting = {at: in_part(item, recalled.words, most=most, count=count) for at, item in older.items()} if most >= FRAME else older
        return [*lines(chosen(recalled.hits, fitting, budget=room, count=count), fitting, timezone=timezone), *kept]

    return told


def _unknown(result: ToolMessage) -> Request:
    return Request(id=result.call_id, name=result.name, arguments="{}")


def _as_left(item: Item, texts: Mapping[str, str | None]) -> Item | None:
    """An item as its author left it; None when it was deleted."""
    if not isinstance(item, UserMessage) or item.ts not in texts:
        return item
    text = texts[item.ts]
    return item.model_copy(update={"text": text}) if text is not None else None


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping or touching ranges joined, ascending."""
    joined: list[tuple[int, int]] = []
    for first, stop in sorted((max(first, 0), stop) for first, stop in ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((first, stop))
    return joined
