"""Taking in one candidate: it is compared with what is known nearby, and what comes of that is written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from memory.longterm.access import Owner
from memory.longterm.candidate import Candidate, Verdict
from memory.longterm.forms import Place, memory_from, said_again, same_place, told_anew
from memory.longterm.memory import Memory, memory_id
from memory.longterm.recalling import Recaller
from memory.longterm.reconcile import reconcile
from memory.longterm.records import memory_of
from memory.longterm.store import Store, Where
from memory.longterm.writing import Step, Writer

NEAR: Final = 12
"""Known memories a candidate is compared with, beside those with its key."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of one candidate: the memory as it is kept now, None when nothing was."""

    verdict: Verdict
    memory: Memory | None = None
    before: Memory | None = None
    """What it changed, or stands against."""


class Learner:
    """Takes candidates in, for one store."""

    def __init__(self, store: Store, writer: Writer, recaller: Recaller, patience: float) -> None:
        """`patience`: seconds that making a candidate's vector may take."""
        self._store = store
        self._writer = writer
        self._recaller = recaller
        self._patience = patience

    async def learn(self, place: Place, candidate: Candidate, by: str, at: float) -> Learned:
        """Keep it, or what it changes. The caller holds the owner's lock. Raises `StoreDown`."""
        owner, source, audience = place.owner, place.source, place.audience
        mark = hashlib.sha256(f"{candidate.key}\x1f{candidate.value or candidate.text}\x1f{candidate.condition}".encode()).hexdigest()[:24]
        new_id = memory_id(owner, source.thread.id, source.ts or repr(at), mark)
        known, near = await self._near(owner, candidate, new_id)
        verdict = reconcile(candidate, known, audience=audience, said_at=at, memory_id=new_id, near=near)
        target = next((memory for memory in known if memory.id == verdict.target), None)
        told = [(each.thread, each.ts) for each in (target.source, *target.also_said)] if target is not None else []
        if verdict.step == "reinforce" and source.ts and (source.thread, source.ts) in told:
            verdict = verdict.model_copy(update={"step": "ignore", "reason": "already kept from this message"})
        fresh = memory_from(new_id, place, candidate, at)
        match verdict.step:
            case "add":
                await self._writer.write([Step("added", None, fresh)], by)
                return Learned(verdict, fresh)
            case "reinforce" if target is not None:
                after = target.model_copy(
                    update={
                        "times_said": target.times_said + 1,
                        "updated": at,
                        "importance": max(target.importance, candidate.importance),
                        "also_said": said_again(target, source),
                    }
                )
                await self._writer.write([Step("reinforced", target, after)], by)
                return Learned(verdict, after, target)
            case "update" if target is not None:
                after = told_anew(target, fresh, at)
                await self._writer.write([Step("updated", target, after)], by)
                return Learned(verdict, after, target)
            case "supersede" if target is not None:
                older = [
                    memory
                    for memory in known
                    if memory.live and memory.id != new_id and (memory.id == target.id or memory.id in verdict.also or same_place(memory, fresh))
                ]
                steps = [Step("superseded", m, m.model_copy(update={"superseded_by": new_id, "valid_until": at, "updated": at})) for m in older]
                await self._writer.write([Step("added", None, fresh), *steps], by)
                return Learned(verdict, fresh, target)
            case "ask" if target is not None:
                disputed = fresh.model_copy(update={"disputed_with": target.id})
                await self._writer.write([Step("disputed", None, disputed)], by)
                return Learned(verdict, disputed, target)
            case _:
                return Learned(verdict, target)

    async def _near(self, owner: Owner, candidate: Candidate, new_id: str) -> tuple[list[Memory], dict[str, float]]:
        """What the candidate is compared with: the same place's earlier reading, the same key, and what search finds near."""
        found = {record.id: record for record in await self._store.get(owner, [new_id])}
        found |= {record.id: record for record in await self._store.list(Where((owner,), keys=(candidate.key,), live=True), limit=NEAR)}
        hits = await self._recaller.hits(candidate.text, (owner,), self._patience)
        best = sorted(hits, key=lambda hit: (-(hit.dense or 0.0) - (1.0 if hit.words else 0.0), hit.record.id))[:NEAR]
        found |= {hit.record.id: hit.record for hit in best}
        near = {hit.record.id: hit.dense for hit in best if hit.dense is not None}
        return [memory for record in found.values() if (memory := memory_of(record)) is not None], near
