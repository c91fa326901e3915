"""What long-term memory brings to a run: recalled once, before its first model call, and told to the model as quoted data.

What a run recalled is kept for its later model calls, so that they see the same. Which answer used which memories is noted before the model
is asked: whoever has one of them forgotten must reach this thread too.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Final

import structlog

from bot.deps import Deps
from bot.ledger import Ledger
from bot.long_term import LongTerm
from bot.state import Run
from memory.compaction import as_read
from memory.keys import Actor
from memory.longterm.access import person
from memory.longterm.question import Question, Recalled
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
    if recalled.found:
        ids = tuple(found.memory.id for found in recalled.found)
        await long_term.trail.note(run.requested_by, Used(run_id=run.id, thread=session.thread, at=time(), ids=ids))
    log.info("recalled", count=len(recalled.found), missing=recalled.missing, paused=recalled.paused, took=round(recalled.took, 4))
    deps.kept.recalled.put(run.id, recalled)
    return recalled


async def used(long_term: LongTerm, run: Run) -> None:
    """Note in the memories themselves that an answer had them at hand. Off the reply's path; raises `StoreDown`."""
    if run.recalled:
        await long_term.memories.used(await long_term.memories.many(person(run.requested_by), run.recalled))
