"""The effects `Compact` and `Index`: a thread that has grown long gets a shorter memory, when nobody is waiting for an answer.

Compaction is planned by code, the summary is written by the model in at most two calls, and code sees to it that no identifier is lost.
When the model is away, or what it wrote is worse than what code can pick out, the picked sentences are the summary. The transcript stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import structlog

from bot import actions as act
from bot.context_of import facts_of
from bot.deps import Deps
from bot.going_out import Seen, links_of
from bot.ledger import Ledger
from bot.model import ModelError
from bot.state import Session
from bot.summarise import summarise
from memory import session_memory
from memory.budget import ContextBudget
from memory.compaction import Plan, applied, as_read, corrected, plan
from memory.context import SUMMARY_PART, WHOLE_CALLS, WHOLE_ROUNDS, Weigh
from memory.extract import PICKED, extract
from memory.hygiene import tidy
from memory.mailbox import Fenced, MailboxDown
from memory.session_memory import BLOCK, Fact, SessionMemory, Summary
from memory.stale import remembered
from memory.summary import language_of, shown
from memory.tokens import Counter
from memory.transcript import ITEM, Correction, Item, arrange

if TYPE_CHECKING:
    from memory.embedder import Embedder

log = structlog.get_logger(__name__)

AT_ONCE: Final = 3_000
"""Items one compaction takes in at most; what is more goes with the next, at once."""
KEEP: Final = 0.25
"""Part of the threshold that stays word by word, the last rounds apart: the less, the rarer is a compaction, which changes what every request begins
with, and the more room is left for what search finds. In a window of 128,000 tokens it is some 12,000."""
HURRY: Final = 6.0
"""At so many times the usual weight the model is not asked any more: it was interrupted too often, or cannot keep up."""
PATIENCE: Final = 60.0
"""Seconds the model has for a summary."""
MOST_ITEMS: Final = 100_000
"""Items of a transcript that are kept; the oldest of longer ones are let go, summary and facts still speak for them."""
LINES_OF_CONTEXT: Final = 2
"""Items read before a block, for what stands at its beginning."""


def look_weight(budget: ContextBudget) -> int:
    """UTF-8 bytes of conversation that may be as many tokens as make a compaction due: two bytes a token is as dense as text gets."""
    return max(int(budget.steady() * budget.compact_at) * 2, 2_000)


async def compact(ledger: Ledger, deps: Deps) -> None:
    """Summarise the older part of the thread if the newest has grown too long; else note when to look again."""
    if ledger.session.pending:
        await ledger.commit()
    session, memory = ledger.session, await ledger.memory()
    stop = min(memory.covered + AT_ONCE, session.log_length)
    placed = await ledger.read(*((pin, pin + 1) for pin in memory.pins), (memory.covered, stop))
    waiting = tuple(ledger.open_calls()), tuple(ledger.open_requests())
    fixed = await asyncio.to_thread(deps.fixed, session, deps.count)
    work = Work(session, memory, placed, *waiting, deps.context, deps.count, deps.weigh, more=stop < session.log_length, fixed=fixed)
    try:
        outcome = await _compacted(work, ledger, deps)
        if isinstance(outcome, act.Compacted):
            session_memory.dump(outcome.memory)  # what cannot be written must not be tried again and again
            first = max(memory.covered, session.log_start) // BLOCK * BLOCK
            words = await blocks_of_thread(ledger, first, outcome.memory.covered, None)
            outcome = replace(outcome, index={**words, **outcome.index})
    except (Fenced, MailboxDown):
        raise
    except Exception:  # whatever a thread holds, it must not keep this up for ever; without a summary its oldest part is told in fewer words each time
        log.exception("compaction_failed")
        outcome = act.LookedAt(session.memory.weight + look_weight(deps.context))
    if await ledger.edited_meanwhile():
        return  # what was just summarised may hold words that were taken back: it is made anew with what stands now
    await ledger.record(outcome)


async def _compacted(work: Work, ledger: Ledger, deps: Deps) -> act.Compacted | act.LookedAt:
    planned, size = await asyncio.to_thread(work.plan)
    if planned is None:
        return act.LookedAt(work.next_look(size))
    made = await asyncio.to_thread(work.draft, planned)
    if work.session.memory.weight < HURRY * look_weight(deps.context) and not work.more:
        async with ledger.lent():
            written = await _asked(work, planned, made, deps)
        made = made if written is None else replace(made, summary=written, by="model")
    outcome = await asyncio.to_thread(work.outcome, planned, made, size)
    remembered = outcome.memory
    log.info("compacted", by=remembered.by, items=len(planned.items), pins=len(planned.pins), before=size, summary=remembered.tokens_after)
    return outcome


async def _asked(work: Work, planned: Plan, made: Made, deps: Deps) -> Summary | None:
    async def ask(messages: list[dict[str, Any]]) -> str:
        try:
            async with asyncio.timeout(PATIENCE):
                return (await deps.model.ask(messages, [], once=True)).text
        except TimeoutError as error:
            raise ModelError("unavailable", transient=True) from error

    language = await asyncio.to_thread(language_of, planned.items, work.memory.summary.language)
    return await summarise(
        ask,
        planned.items,
        work.memory.summary,
        made.facts,
        language=language,
        budget=work.summary_room,
        count=work.count,
        window=deps.context.total_input,
        draft=made.summary,
    )


@dataclass(frozen=True, slots=True)
class Made:
    """What was written about the part that goes."""

    summary: Summary
    by: Literal["model", "extract"]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """The part of a compaction that is only computing: plain values in, plain values out, done in a thread."""

    session: Session
    memory: SessionMemory
    placed: Sequence[tuple[int, Item]]
    open_calls: tuple[str, ...]
    open_requests: tuple[str, ...]
    """`ts` of the messages whose runs have not ended."""
    budget: ContextBudget
    count: Counter
    weigh: Weigh
    more: bool
    """Items follow after those in `placed`: all of these may go."""
    fixed: int = 0
    """Tokens of system prompt and tools."""

    @property
    def room(self) -> int:
        """Tokens the conversation may have."""
        return self.budget.steady(self.fixed)

    @property
    def summary_room(self) -> int:
        """Tokens the summary may have."""
        return int(self.room * SUMMARY_PART)

    @property
    def threshold(self) -> int:
        """Tokens of conversation from which on it is compacted."""
        return int(self.room * self.budget.compact_at)

    def next_look(self, size: int) -> int:
        """The weight at which to look again, when nothing could or need go now that the conversation has `size` tokens."""
        return self.session.memory.weight + max(2 * (self.threshold - size), self.threshold // 4)

    def plan(self) -> tuple[Plan | None, int]:
        """What should go, and how many tokens the conversation has as it would be sent now."""
        items = arrange([item for _, item in self.placed], self.open_calls)
        tidied = tidy(items, current_run="", whole_rounds=WHOLE_ROUNDS, whole_calls=WHOLE_CALLS, open_calls=self.open_calls)
        size = sum(self.weigh(item) for item in tidied)
        if size < self.threshold and not self.more:
            return None, size
        planned = plan(
            self.placed,
            self.memory,
            keep_tokens=0 if self.more else int(self.threshold * KEEP),
            keep_rounds=0 if self.more else self.budget.keep_rounds,
            whole_rounds=0 if self.more else WHOLE_ROUNDS,
            count_item=self.weigh,
            open_calls=self.open_calls,
            open_requests=self.open_requests,
        )
        return planned, size

    def draft(self, planned: Plan) -> Made:
        """The summary code can make, no identifier lost, and the facts."""
        items = as_read(planned.items)
        # What stays pinned is before `covered` too: its facts are remembered now, once and in their place.
        since = [(at, item) for at, item in self.placed if at >= self.memory.covered]
        facts = facts_of(self.memory, [item for at, item in since if at < planned.upto or isinstance(item, Correction)])
        # What a model wrote is not thrown out for being long: it is better than what search would bring.
        room = None if self.memory.by == "model" else int(self.summary_room * PICKED)
        summary = extract(items, self.memory.summary, facts=facts, budget=self.summary_room, count=self.count, sentences_in=room)
        return Made(summary, "extract", facts)

    def outcome(self, planned: Plan, made: Made, size: int) -> act.Compacted:
        """What the thread is remembered by from now on."""
        after = self.count(shown(made.summary))
        memory = applied(self.memory, planned, made.summary, made.facts, now=time(), by=made.by, tokens_before=size, tokens_after=after)
        links, own = links_of(Seen(planned.items, self.memory.links, self.memory.own_links))
        changes = remembered(self.memory.changes, self.placed, planned.upto)
        edited = corrected(self.memory, self.placed, planned.upto)
        memory = memory.model_copy(update={"links": links, "own_links": own, "corrected": edited, "changes": changes})
        weight = sum(len(ITEM.dump_json(item)) for position, item in self.placed if position >= planned.upto)
        if self.more:  # the rest was not read: its part of what was weighed so far
            gone = sum(len(ITEM.dump_json(item)) for position, item in self.placed if self.memory.covered <= position < planned.upto)
            weight = max(self.session.memory.weight - gone, look_weight(self.budget))
        start = max(self.session.log_start, min(planned.upto, self.session.log_length - MOST_ITEMS, *planned.pins))
        emptied = dict.fromkeys(range(self.session.log_start // BLOCK, start // BLOCK), b"")
        return act.Compacted(memory, weight, emptied, start)


async def index(ledger: Ledger, deps: Deps) -> None:
    """Make the next block of summarised items findable by their meaning too, where there is an embedder; by their words they are already."""
    session, embedder = ledger.session, deps.embedder()
    if embedder is None:
        await ledger.record(act.Indexed(session.memory.covered, {}))
        return
    block = max(session.memory.indexed, session.log_start) // BLOCK
    upto = min((block + 1) * BLOCK, session.memory.covered)
    async with ledger.lent():
        blocks = await blocks_of_thread(ledger, block * BLOCK, upto, embedder)
    await ledger.record(act.Indexed(upto, blocks))
    log.info("indexed", upto=upto)


async def blocks_of_thread(
    ledger: Ledger, first: int, upto: int, embedder: Embedder | None, instead: Mapping[int, Item] = MappingProxyType({})
) -> Mapping[int, bytes]:
    """The blocks of the index for the items from `first`, where a block begins, to `upto`; `instead` are items about to be rewritten, by position."""
    from memory.recall import blocks_of, entries_of  # noqa: PLC0415 - numpy and all that comes with it, for long threads only

    placed = [(at, instead.get(at, item)) for at, item in await ledger.read((max(first - LINES_OF_CONTEXT, 0), upto))]
    edits = [(position, item) for position, item in await ledger.log() if isinstance(item, Correction) and position >= upto]
    entries = [entry for entry in await asyncio.to_thread(entries_of, [*placed, *edits]) if entry.position >= first]
    return await blocks_of(entries, embedder)
