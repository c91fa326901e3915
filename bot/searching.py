"""Search in the older part of one thread: its index read once and kept for a while, its hits turned into lines the model can read.

Only threads that were compacted have an index; for all others nothing here is ever called, and what it needs is not loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import structlog

from bot.kept import Kept, state_of
from bot.state import Run
from memory.recall import Recalled, recall
from memory.retelling import HITS, Told, edits_of, older_of, ranges_of, teller, wanted
from memory.session_memory import BLOCK
from memory.terms import terms
from memory.thread_index import ThreadIndex
from memory.transcript import Correction

if TYPE_CHECKING:
    from bot.deps import Deps
    from bot.ledger import Ledger

log = structlog.get_logger(__name__)


async def _index(ledger: Ledger, kept: Kept) -> ThreadIndex:
    """The index of the ledger's thread. Raises `MailboxDown`."""
    session = ledger.session
    state = (*state_of(session), session.memory.indexed)
    known = kept.indexes.get(session, state)
    if known is not None:
        return known
    blocks = await ledger.index(range(session.log_start // BLOCK, (session.memory.covered - 1) // BLOCK + 1))
    found = await asyncio.to_thread(_joined, blocks)
    if found.skipped:
        log.warning("index_damaged", blocks=found.skipped)
    kept.indexes.put(session, state, found)
    return found


def _joined(blocks: Mapping[int, bytes]) -> ThreadIndex:
    terms("loads the word stems, here and not while everybody waits")
    return ThreadIndex.of(blocks)


async def found_for(run: Run, ledger: Ledger, deps: Deps) -> Told | None:
    """What the older part of the thread has to do with the current request; None when nothing has. The items go to `ledger.found`.

    Raises `MailboxDown`.
    """
    ledger.found = []
    if ledger.session.memory.covered <= ledger.session.log_start:
        return None
    asked = wanted([item for _, item in await ledger.log()], run.request_ts)
    if asked is None:
        return None
    index = await _index(ledger, deps.kept)
    recalled = await recall(
        index,
        asked.text,
        recent=asked.recent,
        speakers=asked.speakers,
        now=run.started_at,
        timezone=run.timezone,
        embedder=deps.embedder(),
        limit=HITS,
    )
    return await _told(recalled, run, ledger, deps)


async def _told(recalled: Recalled, run: Run, ledger: Ledger, deps: Deps) -> Told | None:
    read, memory = dict(await ledger.read(*ranges_of(recalled))), await ledger.memory()
    edits = edits_of(read.values(), memory)
    later = [*(await ledger.read(*edits) if edits else ()), *await ledger.log()]
    older = older_of(read, memory, [item for _, item in later if isinstance(item, Correction)])
    ledger.found = [older[at] for at in sorted(older)]
    return teller(recalled, older, timezone=run.timezone, count=deps.count, log=later)
