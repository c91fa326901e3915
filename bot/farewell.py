"""Before a thread expires: what it was about is summarised once more, without a model, and handed to long-term memory.

A session nobody has written in for most of its lifetime is read one last time. Its summary is carried on over the messages that were
still kept word by word, its facts likewise, and both go into the queue of `memory.handover`. Threads in which nothing was asked leave nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from time import time
from typing import Final

import structlog

from bot.context_of import facts_of
from bot.ledger import HISTORY_READ, Ledger
from bot.scheduled import Job, JobContext
from bot.state import Session, StateError, load
from memory.compaction import as_read
from memory.extract import extract
from memory.handover import ALL_SHARDS, HandedOver, Handovers
from memory.keys import Thread
from memory.mailbox import Mailbox, MailboxDown
from memory.session_memory import SessionMemory
from memory.tokens import at_most
from memory.transcript import ITEM, Item, UserMessage

log = structlog.get_logger(__name__)

MARGIN: Final = 0.1
"""Part of its lifetime before the end at which an idle session is handed over."""
EVERY: Final = 60.0
"""Seconds between looks at which sessions are about to expire."""
SUMMARY_BYTES: Final = 16_000
"""What is kept of one thread's summary, in UTF-8 bytes."""


class Farewell:
    """Hands over what is about to expire. `lifetime`: seconds a session is kept after its last activity."""

    def __init__(self, mailbox: Mailbox, handovers: Handovers, *, lifetime: float, clock: Callable[[], float] = time) -> None:
        self._mailbox = mailbox
        self._handovers = handovers
        self._lifetime = lifetime
        self._clock = clock

    def job(self) -> Job:
        """The look by the clock, done by one replica for all."""
        return Job("idle-sessions", self.run, every=EVERY, about="hands over what threads that are about to expire were about")

    async def run(self, context: JobContext) -> Mapping[str, int]:
        """Look over the shards from where the last look ended, within the budget. Raises `MailboxDown`; what was not done is looked at again."""
        counts: Counter[str] = Counter(handed_over=0, left=0)
        for shard in ALL_SHARDS[int(context.cursor or 0) :]:
            if context.left() <= 0 or not context.alive():
                break
            counts.update(await self._shard(shard, context))
            if context.left() <= 0:  # in the middle of this one
                await context.save(str(shard))
                break
            await context.save(str(shard + 1) if shard + 1 < len(ALL_SHARDS) else "")
        return {name: counts[name] for name in ("handed_over", "left")}

    async def tick(self) -> None:
        """One look over all shards: what is about to expire is handed over, what waited for too long dropped. Never raises; what fails is looked at again."""
        for shard in ALL_SHARDS:
            try:
                await self._shard(shard)
            except MailboxDown as error:
                log.warning("sessions_not_handed_over", reason=str(error))

    async def _shard(self, shard: int, context: JobContext | None = None) -> Counter[str]:
        """How many sessions were handed over, or would be in a dry run, and how many left: of a newer program, which is to hand them over."""
        before, dry = self._clock() - self._lifetime * (1 - MARGIN), context is not None and context.dry
        handed, left = 0, 0  # those left must not hold up the others; a dry run leaves all
        while batch := await self._handovers.idle(shard, before, skip=left + (handed if dry else 0)):
            for thread, last_active in batch:
                if context is not None and (context.left() <= 0 or not context.alive()):
                    return Counter(handed_over=handed, left=left)
                try:
                    done = dry or await self._one(thread, last_active)
                except MailboxDown:
                    raise
                except Exception:  # whatever is wrong with one thread
                    log.exception("handover_failed", session=thread.id)
                    done = False
                handed, left = handed + done, left + (not done)
        if not dry:
            await self._handovers.expire(shard)
        return Counter(handed_over=handed, left=left)

    async def _one(self, thread: Thread, last_active: float) -> bool:
        """Whether the session needs no further look."""
        document = await self._mailbox.read_document(thread)
        try:
            session = load(document) if document else None
        except (StateError, ValueError) as error:
            log.warning("handover_unreadable", session=thread.id, reason=type(error).__name__)
            return False
        kept = await self._kept(session, last_active) if session is not None else None
        if await self._handovers.hand_over(thread, last_active, kept):
            log.info("handed_over", session=thread.id, kept=kept is not None)
        return True

    async def _kept(self, session: Session, last_active: float) -> HandedOver | None:
        memory = await Ledger.remembered(self._mailbox, session)
        pins = [(pin, pin + 1) for pin in memory.pins]
        first = max(memory.covered, session.log_length - HISTORY_READ)
        raw = await self._mailbox.read_log(session.thread, *pins, (first, session.log_length))
        items = [ITEM.validate_json(item) for _, item in raw]
        return await asyncio.to_thread(_farewell, session, memory, items, last_active)


def _farewell(session: Session, memory: SessionMemory, items: list[Item], last_active: float) -> HandedOver | None:
    """What is worth keeping, made by code alone: nobody is there to wait for a model, and none may be away now."""
    read = as_read(items)
    facts = facts_of(memory, items[len(memory.pins) :])  # what is pinned is in those remembered already
    summary = extract(read, memory.summary, facts=facts, budget=SUMMARY_BYTES, count=at_most)
    people = {item.actor: None for item in read if isinstance(item, UserMessage) and not item.bot and not item.own}
    if summary.empty and not facts:
        return None
    return HandedOver(thread=session.thread, summary=summary, facts=facts, people=tuple(people), last_active=last_active)
