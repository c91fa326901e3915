"""What long-term memory brings to a run: recalled once, before its first model call, and told to the model as quoted data.

What a run recalled is kept for its later model calls, so that they see the same. Which answer used which memories is noted before the model
is asked: whoever has one of them forgotten must reach this thread too.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from time import time
from typing import Final

import structlog

from bot.deps import Deps
from bot.ledger import Ledger
from bot.long_term import LongTerm
from bot.state import Run
from memory.compaction import as_read
from memory.keys import Actor, Thread
from memory.longterm.access import Owner
from memory.longterm.memory import Memory
from memory.longterm.question import Question, Recalled
from memory.longterm.store import StoreDown
from memory.recall_trail import Used
from memory.tokens import estimate
from memory.transcript import Item, UserMessage

RECENT: Final = 4
"""A person's own messages before the current one that say what is being talked about."""
SHARE: Final = 0.9
"""Part of memory's share of the window that is filled."""

log = structlog.get_logger(__name__)


def own_words(items: Sequence[Item], actor: Actor, ts: str) -> tuple[str, tuple[str, ...]]:
    """The message `ts` as its author left it, and what the same person said before it, oldest first. Pure."""
    said = [item for item in as_read(items) if isinstance(item, UserMessage) and item.actor == actor and not (item.own or item.bot)]
    current = next((item for item in reversed(said) if item.ts == ts), None)
    if current is None:
        return "", ()
    return current.text, tuple(item.text for item in said if item.ts < ts)[-RECENT:]


async def recalled_for(run: Run, ledger: Ledger, deps: Deps) -> Recalled:
    """What memory brings to this run; the same for each of its model calls. Raises `MailboxDown`."""
    long_term = deps.long_term
    if long_term is None:
        return Recalled()
    known = deps.kept.recalled.get(run.id)
    if known is not None:
        if known.found and any(run.id in each.runs for each in ledger.session.redactions):  # some of it was forgotten since the last call
            known = await _still_there(known, long_term)
            deps.kept.recalled.put(run.id, known)
        return known
    items = [item for _, item in await ledger.log()]
    text, recent = own_words(items, run.requested_by, run.request_ts)
    if not text and not recent:
        return Recalled()
    session = ledger.session
    reader = await long_term.places.reader(run.requested_by, session.thread, session.room)
    names = tuple({item.name for item in items if isinstance(item, UserMessage) and item.actor == run.requested_by})
    question = Question(reader, text, recent, now=run.started_at, timezone=run.timezone, language=run.locale, names=names)
    recalled = await long_term.memories.recall(question, tokens=int(deps.context.long_term * SHARE), count=estimate, limit=long_term.limit)
    if long_term.judge is not None:
        recalled = await long_term.judge.judged(question, recalled)
    recalled = replace(recalled, found=tuple(found for found in recalled.found if not _just_said(found.memory, run, session.thread)))
    if recalled.found:
        ids = tuple(found.memory.id for found in recalled.found)
        noted = Used(run_id=run.id, thread=session.thread, at=time(), ids=ids)
        await long_term.trail.note(run.requested_by, noted)
        if agreed := tuple(found.memory.id for found in recalled.found if found.memory.owner.kind == "room"):
            await long_term.trail.note_agreed(noted.model_copy(update={"ids": agreed}))
        recalled = await _still_there(recalled, long_term)
    log.info("recalled", count=len(recalled.found), missing=recalled.missing, paused=recalled.paused, took=round(recalled.took, 4))
    deps.kept.recalled.put(run.id, recalled)
    return recalled


async def _still_there(recalled: Recalled, long_term: LongTerm) -> Recalled:
    """Without what was forgotten between being found and being noted here; whoever forgets it from now on finds the note."""
    ids: defaultdict[Owner, list[str]] = defaultdict(list)
    for found in recalled.found:
        ids[found.memory.owner].append(found.memory.id)
    try:
        async with asyncio.timeout(long_term.limit):
            there = {memory.id for owner, own in ids.items() for memory in await long_term.memories.many(owner, own)}
    except (StoreDown, TimeoutError) as error:  # it answered a moment ago
        log.warning("recalled_not_looked_at_again", reason=str(error) or "too slow")
        return recalled
    return replace(recalled, found=tuple(found for found in recalled.found if found.memory.id in there))


def _just_said(memory: Memory, run: Run, thread: Thread) -> bool:
    """It was learned from the very message that is answered: the model reads that anyway."""
    return memory.source.thread == thread and memory.source.ts == run.request_ts
