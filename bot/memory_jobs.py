"""What is done for long-term memory by the clock.

Each owner's memories are put in order, the store is checked, files are rewritten after something was forgotten, ended threads taken in,
people who left forgotten.

Every job goes through the owners one by one under the owner's lock, notes how far it came, and may be run twice: what it did once it does not
find again. What changes an existing memory replaces it only if it is still there, so nothing that was forgotten meanwhile comes back.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Final

import structlog

from bot.events import RoomKind
from bot.long_term import LongTerm
from bot.reminders import is_direct
from bot.scheduled import Job, JobContext
from bot.slack import Slack, SlackDown, SlackRefused
from memory.handover import ALL_SHARDS, HandedOver, Handovers
from memory.keys import Actor
from memory.longterm.access import Owner
from memory.longterm.consolidate import Planned, applied, plan_merge, plan_settle
from memory.longterm.consolidate_aging import plan_expire, plan_lower
from memory.longterm.consolidate_habits import plan_habits
from memory.longterm.discussed import discussed
from memory.longterm.memories import MOST_READ
from memory.longterm.memory import Memory, Source
from memory.longterm.paging import AT_ONCE, pages, read_all
from memory.longterm.records import change_of, memory_of
from memory.longterm.store import Record, Where
from memory.longterm.writing import Step

log = structlog.get_logger(__name__)

KEEP_CHANGES: Final = 500
"""Entries of one owner's history that are kept, the newest ones,"""
KEEP_CHANGES_FOR: Final = 180 * 86_400.0
"""and for how many seconds."""

_UNKNOWN: Final = frozenset({"user_not_found", "users_not_found"})
"""Slack's words for somebody it does not know any more; any other refusal says nothing about the person."""

Plan = Callable[[Sequence[Memory], float], list[Planned]]

PLANS: Final[tuple[tuple[str, Plan], ...]] = (
    ("expired", lambda memories, now: plan_expire(memories, now=now)),
    ("settled", lambda memories, now: plan_settle(memories, now=now)),
    ("merged", lambda memories, now: plan_merge(memories, now=now)),
    ("habits", lambda memories, now: plan_habits(memories, now=now)),
    ("lowered", lambda memories, now: plan_lower(memories, now=now)),
)
"""What is done to one owner's memories, in this order: what is over must not be merged, what was settled may be."""


class MemoryJobs:
    """The jobs of one workspace."""

    def __init__(
        self,
        long_term: LongTerm,
        handovers: Handovers,
        slack: Slack,
        *,
        left_ttl: float,
        rewrite_log: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`left_ttl`: seconds after a person left. `rewrite_log` has the session store rewrite its file, where that is ours to do."""
        self._long_term = long_term
        self._memories = long_term.memories
        self._handovers = handovers
        self._slack = slack
        self._left_ttl = left_ttl
        self._rewrite_log = rewrite_log

    def jobs(self) -> tuple[Job, ...]:
        """All of them."""
        return (
            Job("memory-order", self.order, every=900.0, budget=60.0, about="merges, settles, ages and expires each person's memories, and sees habits"),
            Job("memory-check", self.check, every=3_600.0, budget=60.0, about="completes vectors, mends what points nowhere, shortens histories"),
            Job("memory-scrub", self.scrub, every=120.0, budget=110.0, about="rewrites the files that forgotten memories may still lie in"),
            Job("memory-handover", self.take_in, every=300.0, budget=60.0, about="takes in what was handed over of threads that ended"),
            Job("left-people", self.left, cron="17 3 * * *", budget=300.0, about="forgets people some time after they left the workspace"),
        )

    async def _owners(self, context: JobContext) -> AsyncIterator[Owner]:
        """The owners from where the last slot stopped, as far as the budget reaches; notes how far that is."""
        everybody = sorted([owner async for owner in self._memories.store.owners(self._slack.me.team_id)], key=lambda owner: owner.tag)
        for owner in everybody:
            if owner.tag <= context.cursor:
                continue
            if context.left() <= 0 or not context.alive():
                return
            yield owner
            await context.save(owner.tag)
        await context.save("")

    # --- one owner's memories ----------------------------------------------------------------------------------------------

    async def order(self, context: JobContext) -> Mapping[str, int]:
        """Consolidation."""
        counts: Counter[str] = Counter(owners=0)
        async for owner in self._owners(context):
            counts["owners"] += 1
            counts.update(await self._order(owner, context))
        return dict(counts)

    async def _order(self, owner: Owner, context: JobContext) -> Counter[str]:
        counts: Counter[str] = Counter()
        async with self._memories.locks.held(owner):
            memories, counts["recalled"] = await self._recalled(owner, await self._all(owner), context)
            for name, plan in PLANS:
                steps = await asyncio.to_thread(plan, memories, context.now())
                counts[name] += len(steps)
                if steps and not context.dry:
                    await self._memories.writer.write([Step(step.done, step.before, step.after) for step in steps], name)
                memories = applied(memories, steps)
        return counts

    async def _recalled(self, owner: Owner, memories: list[Memory], context: JobContext) -> tuple[list[Memory], int]:
        """The memories with when, and how often, each was at hand for an answer, as the answers have noted it; and of how many that changed.

        Told again from the same notes nothing is counted twice: what lies before the time that is kept already was.
        """
        answers: defaultdict[str, list[float]] = defaultdict(list)
        for one, at in await self._long_term.trail.times(owner):
            answers[one].append(at)
        update: dict[str, Memory] = {}
        for memory in memories:
            if later := [at for at in answers[memory.id] if at > memory.last_recalled]:
                counted = {"last_recalled": max(later), "times_recalled": memory.times_recalled + len(later)}
                update[memory.id] = memory.model_copy(update=counted)
        if update and not context.dry:
            await self._memories.writer.touch(list(update.values()))
        return [update.get(memory.id, memory) for memory in memories], len(update)

    async def _all(self, owner: Owner) -> list[Memory]:
        return [memory for record in await read_all(self._memories.store, Where((owner,)), most=MOST_READ) if (memory := memory_of(record)) is not None]

    async def check(self, context: JobContext) -> Mapping[str, int]:
        """Consistency."""
        counts: Counter[str] = Counter(owners=0)
        async for owner in self._owners(context):
            counts["owners"] += 1
            async with self._memories.locks.held(owner):
                counts.update(await self._completed(owner, context))
                counts.update(await self._mended(owner, context))
                counts.update(await self._shortened(owner, context))
        return dict(counts)

    async def _completed(self, owner: Owner, context: JobContext) -> Counter[str]:
        """Memories kept while no vector could be made get theirs."""
        if not self._memories.store.size:
            return Counter()
        store, lacking = self._memories.store, 0
        async for page in pages(store, Where((owner,)), most=MOST_READ, vectors=True):
            bare: list[Record] = [record for record in page if record.dense is None and memory_of(record) is not None]
            lacking += len(bare)
            if bare and not context.dry:
                await self._memories.writer.completed(bare)
        return Counter(completed=lacking)

    async def _mended(self, owner: Owner, context: JobContext) -> Counter[str]:
        """A memory that waits for a decision against one that is gone is simply so; one whose successor is gone is history nobody reaches."""
        memories = await self._all(owner)
        named = {one for memory in memories for one in (memory.disputed_with, memory.superseded_by) if one}
        there = {memory.id for memory in await self._memories.many(owner, sorted(named))}
        alone = [memory for memory in memories if memory.disputed_with and memory.disputed_with not in there]
        orphans = [memory for memory in memories if memory.superseded_by and memory.superseded_by not in there]
        if not context.dry and (alone or orphans):
            freed = [Step("settled", memory, memory.model_copy(update={"disputed_with": ""})) for memory in alone]
            await self._memories.writer.write([*freed, *(Step("expired", memory, None) for memory in orphans)], "memory-check")
        return Counter(freed=len(alone), orphans=len(orphans))

    async def _shortened(self, owner: Owner, context: JobContext) -> Counter[str]:
        records = await read_all(self._memories.store, Where((owner,), what="change"), most=MOST_READ)
        oldest = context.now() - KEEP_CHANGES_FOR
        old = [record.id for place, record in enumerate(records) if place >= KEEP_CHANGES or record.at < oldest or change_of(record) is None]
        for first in range(0, 0 if context.dry else len(old), AT_ONCE):
            await self._memories.store.delete(owner, old[first : first + AT_ONCE])
        return Counter(history_dropped=len(old))

    # --- files, threads, people ----------------------------------------------------------------------------------------------

    async def scrub(self, context: JobContext) -> Mapping[str, int]:
        """After something was forgotten: no byte of it stays in a file of ours. What was not forgotten to its end, is so first."""
        finished = await self._long_term.erasing.finish(dry=context.dry)
        if not await self._long_term.trail.forgotten(take=not context.dry):
            return {"finished": finished, "rewritten": 0}
        if not context.dry:
            try:
                await self._memories.store.scrub()
                if self._rewrite_log is not None:
                    await self._rewrite_log()
            except BaseException:
                await self._long_term.trail.note_forgotten()  # it is still to be done
                raise
        return {"finished": finished, "rewritten": 1}

    async def take_in(self, context: JobContext) -> Mapping[str, int]:
        """What people stated in threads that ended, as one episode for each of them."""
        counts: Counter[str] = Counter(threads=0, kept=0)
        for shard in ALL_SHARDS:
            while batch := await self._handovers.waiting(shard):
                for each in batch:
                    if context.left() <= 0 or not context.alive():
                        return dict(counts)
                    counts["threads"] += 1
                    counts["kept"] += await self._taken(each, context)
                if context.dry:
                    break
        return dict(counts)

    async def _taken(self, kept: HandedOver, context: JobContext) -> int:
        room = RoomKind.IM if is_direct(kept.thread.channel_id) else RoomKind.CHANNEL
        made = []
        for actor in kept.people:
            reader = await self._long_term.places.reader(actor, kept.thread, room)
            if not reader.outsider:
                settings = await self._memories.settings(actor)
                facts = [fact for fact in kept.facts if settings.hears(said := Source(thread=kept.thread, ts=fact.ts, said_by=actor), said.at)]
                memory = discussed(facts, actor, kept.thread, self._memories.audience(reader), at=kept.last_active)
                made += [memory] if memory is not None else []
        if not context.dry:
            await self._memories.remember(made, "memory-handover")
            await self._handovers.taken(kept.thread)
        return len(made)

    async def left(self, context: JobContext) -> Mapping[str, int]:
        """People whose account is deactivated: noted first, forgotten when they have been away for long enough."""
        counts: Counter[str] = Counter(people=0, away=0, forgotten=0)
        async for owner in self._owners(context):
            if owner.kind != "person":
                continue
            counts["people"] += 1
            actor = Actor(team_id=owner.team_id, user_id=owner.id)
            try:
                gone = (await self._slack.person(actor)).is_deleted
            except (SlackDown, SlackRefused) as error:
                if not (isinstance(error, SlackRefused) and error.code in _UNKNOWN):
                    log.warning("person_not_looked_up", reason=str(error))
                    continue
                gone = True
            since = (await self._memories.settings(actor)).left_at
            counts["away"] += gone
            if gone and since and context.now() - since >= self._left_ttl:
                counts["forgotten"] += 1
                if not context.dry:
                    await self._long_term.erasing.forget_all(actor)
                    await self._memories.store.delete_owner(owner)
            elif bool(since) != gone and not context.dry:
                await self._memories.choose(actor, left_at=context.now() if gone else 0.0)
        return dict(counts)
