"""The effect `Redact`: what somebody had forgotten is taken out of the thread's transcript, summary, facts and search index, in one commit."""

from __future__ import annotations

import asyncio

import structlog

from bot import actions as act
from bot.deps import Deps
from bot.effects_memory import blocks_of_thread
from bot.ledger import Ledger
from bot.state import Redaction
from memory.longterm.store import StoreDown
from memory.redaction import Passage, Redactor, redacted_memory
from memory.session_memory import BLOCK
from memory.transcript import Item

log = structlog.get_logger(__name__)

AT_ONCE = 2_000
"""Items read at a time."""


async def redact(redaction: Redaction, ledger: Ledger, deps: Deps) -> None:
    """Take it out. Safe to repeat: what is gone already is not found again."""
    if ledger.session.pending:
        await ledger.commit()
    session = ledger.session
    redactor = Redactor(frozenset(redaction.ts), redaction.phrases)
    passage = Passage(redactor, redaction.runs)
    rewrites: dict[int, Item] = {}
    for first in range(session.log_start, session.log_length, AT_ONCE):
        placed = await ledger.read((first, min(first + AT_ONCE, session.log_length)))
        rewrites |= await asyncio.to_thread(_rewrites, placed, passage)
    memory, indexed = None, session.memory.indexed
    index: dict[int, bytes] = {}
    if session.memory.covered:
        memory = await asyncio.to_thread(redacted_memory, await ledger.memory(), redactor)
        touched = sorted({place // BLOCK for place in rewrites if place < session.memory.covered})
        for block in touched:  # by their words at once; by their meaning when `Index` comes to them again
            index |= await blocks_of_thread(ledger, block * BLOCK, min((block + 1) * BLOCK, session.memory.covered), None, rewrites)
        indexed = min((indexed, *(block * BLOCK for block in touched)))
    await _not_back(redaction, ledger, deps)
    await ledger.record(act.Redacted(redaction.key, rewrites, memory, index, indexed))
    deps.kept.recalled.clear()
    log.info("redacted", items=len(rewrites))


async def _not_back(redaction: Redaction, ledger: Ledger, deps: Deps) -> None:
    """What was learned of these messages while they were being forgotten goes too: a reading may have been under way."""
    long_term, thread = deps.long_term, ledger.session.thread
    if long_term is None:
        return
    redactor = Redactor((), redaction.phrases)
    try:
        for ts in redaction.ts:
            late = [memory for memory in await long_term.memories.from_message(redaction.actor, thread, ts) if redactor.tells(memory.text)]
            if late:
                await long_term.memories.forget(redaction.actor, [memory.id for memory in late], thread=thread)
    except StoreDown as error:  # the message is emptied all the same, so it is not read again
        log.warning("late_memories_not_looked_for", reason=str(error))


def _rewrites(placed: list[tuple[int, Item]], passage: Passage) -> dict[int, Item]:
    changed = ((place, item, passage.redacted(item)) for place, item in placed)
    return {place: after for place, before, after in changed if after is not before}
