"""A conversation as the bot holds it at a moment: grown message by message in a window of a given size, compacted and indexed by the bot's own code.

There is no store and no model: what the ledger would write is kept here, summaries are what code picks out. One question is then asked as the
bot is asked: searched for, and answered from the context that `memory.context` builds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.context_of import facts_of
from bot.effects_memory import Work, look_weight
from bot.model import weigher
from bot.state import Mark, Session
from evals.locomo_data import Conversation
from memory.budget import ContextBudget
from memory.context import FACTS_PART, Context, Sources, build
from memory.embedder import Embedder
from memory.facts import shown
from memory.keys import Actor, Thread
from memory.recall import blocks_of, entries_of, recall
from memory.retelling import HITS, older_of, ranges_of, teller, wanted
from memory.session_memory import Fact, SessionMemory
from memory.thread_index import BLOCK, Entry, ThreadIndex
from memory.tokens import counter_for
from memory.transcript import ITEM, Item, Note, UserMessage

COUNT: Final = counter_for("gpt-5-mini")
WEIGH: Final = weigher(COUNT)
ASKER: Final = Actor(team_id="T1", user_id="U0ASKER")
"""Who asks the bot: somebody who has said nothing so far."""
THREAD: Final = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")
SHARE: Final = 0.65
"""Part of a window that is the conversation's: its own share, and that of long-term memory, of which there is none."""

GOLDEN: Final = 0.618
"""Multiples of it fall evenly between 0 and 1."""


def whole(items: Sequence[UserMessage]) -> list[int]:
    """Tokens of each message as it is sent word by word."""
    return [WEIGH(item) for item in items]


def window_for(tokens: int) -> ContextBudget:
    """The window in which the conversation may have so many tokens, system prompt and request taking exactly their shares."""
    budget = ContextBudget(max(round(tokens / SHARE), 1))
    while budget.steady() > tokens:
        budget = ContextBudget(budget.window - 1)
    return budget


@dataclass(frozen=True)
class Moment:
    """The thread just after a session."""

    items: tuple[UserMessage, ...]
    full: int
    """Tokens of all of it."""
    budget: ContextBudget
    memory: SessionMemory
    facts: tuple[Fact, ...]
    now: float

    @property
    def room(self) -> int:
        """Tokens the conversation may have."""
        return self.budget.steady()


def grown(conversation: Conversation, session: int, costs: Sequence[int], part: float) -> Moment:
    """The thread after a session in a window that holds `part` of it, compacted each time the bot would have looked and found it too long.

    The first compaction comes early, by another part of the threshold for every session: moments then stand anywhere between two compactions,
    where without it all would stand at the same place, because their windows are in the same relation to their threads.
    """
    items = conversation.items[: conversation.ends[session]]
    full = sum(costs[: len(items)])
    budget = window_for(int(full * part))
    early = replace(budget, compact_at=budget.compact_at * max(session * GOLDEN % 1, 0.05))
    memory, weight, look_at = SessionMemory(), 0, 0
    sizes = [len(ITEM.dump_json(item)) for item in items]
    for length in range(1, len(items) + 1):
        weight += sizes[length - 1]
        now = budget if memory.compactions else early
        while weight >= max(look_at, look_weight(now)):
            placed: list[tuple[int, Item]] = [*((pin, items[pin]) for pin in memory.pins), *((at, items[at]) for at in range(memory.covered, length))]
            state = Session(thread=THREAD, log_length=length, memory=Mark(covered=memory.covered, weight=weight))
            work = Work(state, memory, placed, (), (), now, COUNT, WEIGH, more=False)
            planned, size = work.plan()
            if planned is None:
                look_at = work.next_look(size)
                break
            outcome = work.outcome(planned, work.draft(planned), size)
            memory, weight, look_at, now = outcome.memory, outcome.weight, 0, budget
    return Moment(items, full, budget, memory, facts_of(memory, items[memory.covered :]), conversation.now[session])


class Indexes:
    """The search indexes of one conversation with one engine, each up to some message; full blocks are made once."""

    def __init__(self, conversation: Conversation, engine: Embedder | None) -> None:
        self.engine = engine
        self._entries: list[Entry] = entries_of(list(enumerate(conversation.items)))
        self._full: dict[int, bytes] = {}
        self._known: dict[int, ThreadIndex] = {}

    async def upto(self, covered: int) -> ThreadIndex:
        """What can be searched when everything before `covered` has been indexed."""
        if covered not in self._known:
            for number in range(covered // BLOCK):
                if number not in self._full:
                    self._full |= await blocks_of([entry for entry in self._entries if entry.position // BLOCK == number], self.engine)
            rest = [entry for entry in self._entries if covered // BLOCK * BLOCK <= entry.position < covered]
            full = {number: data for number, data in self._full.items() if number < covered // BLOCK}
            self._known[covered] = ThreadIndex.of(full | await blocks_of(rest, self.engine))
        return self._known[covered]


@dataclass(frozen=True)
class Asked:
    """What the model would be given for one question, the question itself left out."""

    context: Context
    verbatim: frozenset[str]
    """Messages (`ts`) that stand there word for word,"""
    recalled: frozenset[str]
    """lines of messages that search brought back,"""
    facts: frozenset[str]
    """messages (`ts`) of which a fact is shown,"""
    summary: str
    """and the note that speaks for what is not."""
    seconds: float
    """For searching and building; vectors of older runs come for free."""


async def ask(text: str, moment: Moment, indexes: Indexes) -> Asked:
    """Ask a question just after the moment."""
    memory = moment.memory
    request = UserMessage(actor=ASKER, name="Asker", ts=f"{moment.now:.6f}", text=text)
    log: list[Item] = [*(moment.items[pin] for pin in memory.pins), *moment.items[memory.covered :], request]
    index = await indexes.upto(memory.covered)
    began = time.perf_counter()
    told = None
    seen = wanted(log, request.ts)
    if memory.covered and seen is not None:
        found = await recall(
            index,
            seen.text,
            recent=seen.recent,
            speakers=seen.speakers,
            now=moment.now,
            timezone="UTC",
            embedder=indexes.engine,
            limit=HITS,
        )
        read: dict[int, Item] = {at: moment.items[at] for first, stop in ranges_of(found) for at in range(first, min(stop, len(moment.items)))}
        told = teller(found, older_of(read, memory, ()), timezone="UTC", count=COUNT)
    lines: list[str] = []

    def noted(room: int) -> Sequence[str]:
        lines[:] = told(room) if told is not None else ()
        return lines

    budget = moment.budget
    # The prompt takes what leaves the conversation its part exactly, whatever the question's length.
    fixed = budget.total_input - moment.room - WEIGH(request)
    sources = Sources(
        fixed=fixed,
        memory=memory,
        log=log,
        facts=moment.facts,
        requester=ASKER,
        request_ts=request.ts,
        recalled=noted if told is not None else None,
    )
    context = build(sources, budget, weigh=WEIGH, count=COUNT)
    took = time.perf_counter() - began
    told_facts = shown(moment.facts, requester=ASKER, language="en", budget=int(moment.room * FACTS_PART), count=COUNT)
    notes = [item.text for item in context.items[: context.stable] if isinstance(item, Note)]
    return Asked(
        context=context,
        verbatim=frozenset(item.ts for item in context.items if isinstance(item, UserMessage) and item.ts != request.ts),
        recalled=frozenset(lines if context.recalled else ()),
        facts=frozenset(fact.ts for fact in moment.facts if fact.value in told_facts),
        summary="\n".join(notes),
        seconds=took,
    )
