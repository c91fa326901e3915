"""From a run to what its next model call carries: everything the context is built from, gathered, and the builder asked.

The builder (`memory.context`) is pure and knows nothing of stores; this is where the session's state, its transcript, what it is
remembered by and what search finds come together. Short conversations are counted by their bytes, which are never fewer than their
tokens, so that for them no vocabulary is loaded and nothing is searched.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any, Final

import structlog

from bot.deps import Deps
from bot.kept import state_of
from bot.ledger import Ledger
from bot.model import MESSAGE_TOKENS, weigh
from bot.prompt import moment
from bot.remembering import recalled_for
from bot.state import Run
from memory.budget import ContextBudget
from memory.compaction import as_read
from memory.context import Context, Sources, build
from memory.facts import amended, updated
from memory.longterm.telling import lines
from memory.session_memory import Fact, SessionMemory
from memory.tokens import Counter, at_most, estimate
from memory.transcript import Correction, Item, UserMessage
from tools.loop import Cooling

log = structlog.get_logger(__name__)

MANY: Final = 20
"""Items from which on they are read for facts beside the event loop."""
LOOK_BACK: Final = 6
"""Items before a message that it is understood with ("no, Thursday")."""


async def context_of(
    run: Run, ledger: Ledger, deps: Deps, budget: ContextBudget, *, system: str, tools: Sequence[dict[str, Any]], cooling: Sequence[Cooling] = ()
) -> Context:
    """What the run's next request carries after `system`, in a window shared out by `budget`. Raises `MailboxDown`."""
    began = perf_counter()
    memory = await ledger.memory()
    placed = await ledger.log()
    items = [item for _, item in placed]
    definitions = json.dumps(list(tools), ensure_ascii=False) if tools else ""
    count = _counter(items, memory, system + definitions, budget, deps.count)
    recalled = None
    if memory.covered:
        from bot.searching import found_for  # noqa: PLC0415 - numpy and all that comes with it, for long threads only

        recalled = await found_for(run, ledger, deps)
    remembered = await recalled_for(run, ledger, deps)
    sources = Sources(
        fixed=MESSAGE_TOKENS + (_estimated(system + definitions) if count is at_most else count(system) + count(definitions)),
        memory=memory,
        log=items,
        facts=await _facts_of(ledger, memory, placed),
        requester=run.requested_by,
        request_ts=run.request_ts,
        current_run=run.id,
        open_calls=tuple(ledger.open_calls()),
        moment=moment(run, run.started_at, cooling=cooling, memory_missing=remembered.missing),
        recalled=recalled,
        long_term=lines(remembered.found, language=run.locale, timezone=run.timezone),
        language=run.locale,
        timezone=run.timezone,
        left_out=_left_out(ledger, memory, placed),
    )
    if count is at_most:
        context = build(sources, budget, weigh=lambda item: weigh(item, at_most), count=at_most)
    else:  # counting a long thread for the first time takes a while, and others are waiting for this loop
        context = await asyncio.to_thread(build, sources, budget, weigh=deps.weigh, count=count)
    took = round(perf_counter() - began, 4)
    log.info("context", tokens=context.total, exact=count is not at_most, compressed=context.compressed, recalled=context.recalled, took=took)
    return context


def _left_out(ledger: Ledger, memory: SessionMemory, placed: Sequence[tuple[int, Item]]) -> bool:
    """Whether there are older messages that neither the summary speaks for nor the log at hand holds."""
    first = next((position for position, _ in placed if position >= memory.covered), ledger.session.log_length)
    unread = first > memory.covered
    return unread or (memory.summary.empty and memory.covered > ledger.session.log_start)


def facts_of(memory: SessionMemory, items: Sequence[Item]) -> tuple[Fact, ...]:
    """The facts stated in a thread: those remembered, carried on through the `items` since, which may correct what is only remembered."""
    here = {item.ts for item in items if isinstance(item, UserMessage)}
    facts = memory.facts
    for item in items:
        if isinstance(item, Correction) and item.ts not in here:
            facts = amended(facts, item)
    return _carried(facts, as_read(items), 0)


def _carried(facts: tuple[Fact, ...], read: Sequence[Item], first: int) -> tuple[Fact, ...]:
    for place in range(first, len(read)):
        facts = updated(facts, read[place], before=read[max(place - LOOK_BACK, 0) : place])
    return facts


async def _facts_of(ledger: Ledger, memory: SessionMemory, placed: Sequence[tuple[int, Item]]) -> tuple[Fact, ...]:
    """The facts; after a restart, when all of a long part is read anew, not while everybody else waits."""
    known = ledger.kept.facts.get(ledger.session, state_of(ledger.session))
    fresh = sum(position >= known[0] for position, _ in placed) if known is not None else len(placed)
    return _facts(ledger, memory, placed) if fresh <= MANY else await asyncio.to_thread(_facts, ledger, memory, placed)


def _facts(ledger: Ledger, memory: SessionMemory, placed: Sequence[tuple[int, Item]]) -> tuple[Fact, ...]:
    """As `facts_of`, going on from what is kept; a correction in what is new makes everything be read anew."""
    session, state = ledger.session, state_of(ledger.session)
    since = [each for each in placed if each[0] >= memory.covered]
    items = [item for _, item in since]
    upto, facts = ledger.kept.facts.get(session, state) or (memory.covered, memory.facts)
    fresh = next((place for place, (position, _) in enumerate(since) if position >= upto), len(since))
    committed = next((place for place, (position, _) in enumerate(since) if position >= session.log_length), len(since))
    if any(isinstance(item, Correction) for item in items[fresh:committed]):
        facts = facts_of(memory, items[:committed])
    else:
        facts = _carried(facts, items[:committed], fresh)
    ledger.kept.facts.put(session, state, (session.log_length, facts))
    if any(isinstance(item, Correction) for item in items[committed:]):
        return facts_of(memory, items)
    return _carried(facts, items, committed)


@lru_cache(maxsize=64)
def _estimated(text: str) -> int:
    """Tokens of what is the same in every request, on the dear side, without a vocabulary."""
    return int(estimate(text) * 1.1)


def _counter(items: Sequence[Item], memory: SessionMemory, fixed: str, budget: ContextBudget, exact: Counter) -> Counter:
    """Bytes when even they are far from the budget, else the model's tokens."""
    if memory.covered:
        return exact
    size = _estimated(fixed) + sum(weigh(item, at_most) for item in items)
    return at_most if size <= budget.total_input * 0.8 else exact
