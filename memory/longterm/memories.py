"""The one door to long-term memory: learn, recall, show, change, forget, undo, export.

Every call names the person (or the reader: person and place) it is for, and reaches only what is theirs. What is read, compared and written
happens under the owner's lock. All methods but `recall` raise `StoreDown` when the store does not answer.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import time
from typing import Any, Final, Literal

from memory.embedder import Embedder
from memory.keys import Actor, Thread
from memory.longterm.access import Audience, Owner, Reader, learned_in, person, room
from memory.longterm.asking import understood
from memory.longterm.candidate import Candidate, Refusal, Said, Verdict
from memory.longterm.forms import Place, freed, last_forms, memory_from, same_place, tells_of, told_anew, with_older_forms
from memory.longterm.history import History
from memory.longterm.locks import LocalLocks, Locks
from memory.longterm.memory import Change, Kind, Memory, Settings, Source, memory_id
from memory.longterm.question import Found, Question, Recalled
from memory.longterm.ranking import ranked
from memory.longterm.recalling import Count, Recaller, kinds_stored
from memory.longterm.reconcile import reconcile
from memory.longterm.records import EVERYTHING, change_of, memory_of, of_settings, whole
from memory.longterm.store import Record, Store, Where
from memory.longterm.typed import NotKept, retyped, typed
from memory.longterm.withdrawing import holding_again, withdrawal
from memory.longterm.writing import Step, Writer

LIMIT: Final = 0.5
"""Seconds an answer waits for memory."""
NEAR: Final = 12
"""Known memories a candidate is compared with, beside those with its key."""
PAGE: Final = 20
MOST_READ: Final = 10_000
"""Records of one owner read at once, at most."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of one candidate: the memory as it is kept now, None when nothing was."""

    verdict: Verdict
    memory: Memory | None = None
    before: Memory | None = None
    """What it changed, or stands against."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a person's memories, newest first."""

    memories: tuple[Memory, ...]
    next: tuple[float, str] | None
    """Where the next page begins; None at the end."""
    total: int
    disputed: tuple[tuple[Memory, Memory], ...] = ()
    """New and known memories that contradict each other, until their owner says which is right; with the first page."""


class Memories:
    """Long-term memory over one store."""

    def __init__(self, store: Store, embedder: Embedder | None = None, *, locks: Locks | None = None, now: Callable[[], float] = time) -> None:
        """`now` gives seconds since the epoch."""
        self.store = store
        self.locks: Locks = locks or LocalLocks()
        self.now = now
        self.writer = Writer(store, embedder, now)
        self.recaller = Recaller(store, embedder)
        self._history = History(store, self.writer, self.locks)

    # --- recalling -------------------------------------------------------------------------------------------------------

    async def recall(self, question: Question, *, tokens: int, count: Count, limit: float = LIMIT) -> Recalled:
        """What memory brings to an answer, in at most `tokens`, within `limit` seconds. Never raises for a store that is away."""
        return await self.recaller.recall(question, tokens=tokens, count=count, limit=limit)

    async def find(self, actor: Actor, text: str, *, limit: int = 10) -> list[Found]:
        """A search over one's own memories, for the person themself: whatever their audience, without a threshold."""
        reader = Reader(actor=actor, thread=Thread(team_id=actor.team_id, channel_id=""), room_type="im")
        question = Question(reader=reader, text=text, now=self.now())
        asked = understood(question)
        matches = await self.recaller.matches(asked, reader.owners, None, LIMIT)
        with_words = [match for match in matches if match.words is not None]
        return ranked(asked, with_words or matches, now=self.now())[:limit]

    # --- learning --------------------------------------------------------------------------------------------------------

    async def learn(
        self,
        reader: Reader,
        candidates: Sequence[Candidate],
        source: Source,
        *,
        context: str = "",
        by: str = "message",
        said_at: float = 0.0,
        audience: Audience | None = None,
    ) -> list[Learned]:
        """Keep what one message said, compared with what is known; safe to repeat. Nothing for outsiders, and while the person has paused it.

        `audience` is where the person wants it recalled (an agreement is then theirs alone); None: by where it was said.
        `said_at` in seconds since the epoch, 0: now.
        """
        if reader.outsider or not candidates or not (await self.settings(reader.actor)).learning:
            return []
        learned = []
        for candidate in candidates:
            is_rooms = candidate.kind is Kind.AGREEMENT and reader.room_type != "im" and audience is None
            owner = room(reader.thread) if is_rooms else person(reader.actor)
            where = Audience(scope="channel", channel_id=reader.thread.channel_id) if is_rooms else audience
            async with self.locks.held(owner):
                learned.append(await self._learn(Place(owner, where or self.audience(reader), source, context), candidate, by, said_at or self.now()))
        return learned

    async def _learn(self, place: Place, candidate: Candidate, by: str, at: float) -> Learned:
        owner, source, audience = place.owner, place.source, place.audience
        mark = hashlib.sha256(f"{candidate.key}\x1f{candidate.value or candidate.text}\x1f{candidate.condition}".encode()).hexdigest()[:24]
        new_id = memory_id(owner, source.thread.id, source.ts or repr(at), mark)
        known, near = await self._near(owner, candidate, new_id)
        verdict = reconcile(candidate, known, audience=audience, said_at=at, memory_id=new_id, near=near)
        target = next((memory for memory in known if memory.id == verdict.target), None)
        if verdict.step == "reinforce" and target is not None and source.ts and target.source.ts == source.ts and target.source.thread == source.thread:
            verdict = verdict.model_copy(update={"step": "ignore", "reason": "already kept from this message"})
        fresh = memory_from(new_id, place, candidate, at)
        match verdict.step:
            case "add":
                await self.writer.write([Step("added", None, fresh)], by)
                return Learned(verdict, fresh)
            case "reinforce" if target is not None:
                after = target.model_copy(
                    update={"times_said": target.times_said + 1, "updated": at, "importance": max(target.importance, candidate.importance)}
                )
                await self.writer.write([Step("reinforced", target, after)], by)
                return Learned(verdict, after, target)
            case "update" if target is not None:
                after = told_anew(target, fresh, at)
                await self.writer.write([Step("updated", target, after)], by)
                return Learned(verdict, after, target)
            case "supersede" if target is not None:
                older = [
                    memory
                    for memory in known
                    if memory.live and memory.id != new_id and (memory.id == target.id or memory.id in verdict.also or same_place(memory, fresh))
                ]
                steps = [Step("superseded", m, m.model_copy(update={"superseded_by": new_id, "valid_until": at, "updated": at})) for m in older]
                await self.writer.write([Step("added", None, fresh), *steps], by)
                return Learned(verdict, fresh, target)
            case "ask" if target is not None:
                disputed = fresh.model_copy(update={"disputed_with": target.id})
                await self.writer.write([Step("disputed", None, disputed)], by)
                return Learned(verdict, disputed, target)
            case _:
                return Learned(verdict, target)

    async def _near(self, owner: Owner, candidate: Candidate, new_id: str) -> tuple[list[Memory], dict[str, float]]:
        """What the candidate is compared with: the same place's earlier reading, the same key, and what search finds near."""
        found = {record.id: record for record in await self.store.get(owner, [new_id])}
        found |= {record.id: record for record in await self.store.list(Where((owner,), keys=(candidate.key,), live=True), limit=NEAR)}
        hits = await self.recaller.hits(candidate.text, (owner,), LIMIT)
        best = sorted(hits, key=lambda hit: (-(hit.dense or 0.0) - (1.0 if hit.words else 0.0), hit.record.id))[:NEAR]
        found |= {hit.record.id: hit.record for hit in best}
        near = {hit.record.id: hit.dense for hit in best if hit.dense is not None}
        return [memory for record in found.values() if (memory := memory_of(record)) is not None], near

    async def add(self, reader: Reader, text: str, *, language: str, audience: Audience | None = None) -> Learned:
        """Keep what a person typed to be remembered, as they wrote it; `verdict.reason` says why it is refused, if it is.

        Rules say what it is about; what they do not know is kept as a fact of its own.
        """
        now = self.now()
        said = Said(text=text, ts="", at=now, language=language, direct=reader.room_type == "im")
        found = await asyncio.to_thread(typed, said)
        if isinstance(found, Refusal):
            return Learned(Verdict(step="ignore", reason=found.value))
        source = Source(thread=reader.thread, said_by=reader.actor, via="command")
        learned = await self.learn(reader, [found], source, by="person", said_at=now, audience=audience)
        return learned[0] if learned else Learned(Verdict(step="ignore", reason=Refusal.NOTHING.value if reader.outsider else "paused"))

    async def from_message(self, actor: Actor, thread: Thread, ts: str) -> list[Memory]:
        """What was learned from one message of a person, superseded or not."""
        own = [*await self._everything(person(actor)), *await self._everything(room(thread))]
        return [memory for memory in own if memory.source.thread == thread and memory.source.ts == ts and memory.source.said_by == actor]

    @staticmethod
    def audience(reader: Reader) -> Audience:
        """Where what is learned at this place may be recalled."""
        return learned_in(reader.thread, reader.room_type, shared=reader.shared)

    async def remember(self, memories: Sequence[Memory], by: str) -> None:
        """Keep memories made by code (episodes, entities, habits), each replacing the one with its id. Nothing for owners who paused learning."""
        for owner in {memory.owner for memory in memories}:
            if not (await self.recaller.settings(owner)).learning:
                continue
            async with self.locks.held(owner):
                own = [memory for memory in memories if memory.owner == owner]
                known = {memory.id: memory for memory in await self._get(owner, [memory.id for memory in own])}
                await self.writer.write([Step("updated" if m.id in known else "added", known.get(m.id), m) for m in own if known.get(m.id) != m], by)

    # --- what a person sees and changes ------------------------------------------------------------------------------------

    async def settings(self, actor: Actor) -> Settings:
        """What the person chose."""
        return await self.recaller.settings(person(actor))

    async def choose(self, actor: Actor, **changes: Any) -> Settings:
        """Change what the person chose: `learning`, `language`."""
        owner = person(actor)
        async with self.locks.held(owner):
            chosen = Settings.model_validate({**(await self.settings(actor)).model_dump(), **changes})
            await self.store.put([of_settings(owner, chosen, self.now())])
        return chosen

    async def listed(self, actor: Actor, *, limit: int = PAGE, before: tuple[float, str] | None = None, kinds: Sequence[Kind] = (), live: bool = True) -> Page:
        """A person's memories, newest first; `live`: without those that were superseded."""
        where = Where((person(actor),), kinds=kinds_stored(*kinds) if kinds else (), live=True if live else None)
        page = await self._page(where, limit, before)
        if before is not None or kinds:
            return page
        others = [memory for record in await self._all_of(Where((person(actor),), live=False)) if (memory := memory_of(record)) is not None]
        waiting = [memory for memory in others if memory.disputed_with and not memory.superseded_by]
        known = {memory.id: memory for memory in await self._get(person(actor), [memory.disputed_with for memory in waiting])}
        pairs = tuple((memory, known[memory.disputed_with]) for memory in waiting if memory.disputed_with in known)
        return Page(page.memories, page.next, page.total, pairs)

    async def room_listed(self, thread: Thread, *, limit: int = PAGE, before: tuple[float, str] | None = None) -> Page:
        """A channel's agreements. The caller has made sure that the reader is in the channel."""
        return await self._page(Where((room(thread),), live=True), limit, before)

    async def _page(self, where: Where, limit: int, before: tuple[float, str] | None) -> Page:
        records = await self.store.list(where, limit=limit + 1, before=before)
        memories = tuple(memory for record in records[:limit] if (memory := memory_of(record)) is not None)
        more = (records[limit - 1].at, records[limit - 1].id) if len(records) > limit else None
        return Page(memories, more, await self.store.count(where))

    async def get(self, actor: Actor, one: str, *, thread: Thread | None = None) -> Memory | None:
        """One of the person's memories by its id, or an agreement of `thread`'s channel that they said."""
        found = await self._get(person(actor), [one])
        if not found and thread is not None:
            found = [memory for memory in await self._get(room(thread), [one]) if memory.source.said_by == actor]
        return found[0] if found else None

    async def many(self, owner: Owner, ids: Sequence[str]) -> list[Memory]:
        """Those of these that exist and are this owner's."""
        return await self._get(owner, ids)

    async def _get(self, owner: Owner, ids: Sequence[str]) -> list[Memory]:
        return [memory for record in await self.store.get(owner, list(ids)) if (memory := memory_of(record)) is not None] if ids else []

    async def edit(self, actor: Actor, one: str, text: str) -> Memory | None:
        """Put another text in a memory's place; None when it is not there (any more). Raises `typed.NotKept` for what is never kept."""
        known = await self._get(person(actor), [one])
        if not known:
            return None
        direct = known[0].audience.scope == "private"
        said = Said(text=text, ts="", at=self.now(), language=known[0].language, direct=direct)
        after = await asyncio.to_thread(retyped, known[0], said)
        if isinstance(after, Refusal):
            raise NotKept(after)
        changed = {name: getattr(after, name) for name in Memory.model_fields if getattr(after, name) != getattr(known[0], name)}
        return await self._change(actor, one, changed)

    async def readdress(self, actor: Actor, one: str, audience: Audience) -> Memory | None:
        """Change where a memory may be recalled."""
        return await self._change(actor, one, {"audience": audience}, "widened")

    async def _change(self, actor: Actor, one: str, update: dict[str, Any], done: Literal["updated", "widened"] = "updated") -> Memory | None:
        owner = person(actor)
        async with self.locks.held(owner):
            found = await self._get(owner, [one])
            if not found:
                return None
            after = found[0].model_copy(update=update)
            await self.writer.write([Step(done, found[0], after)], "person")
            return after

    async def settle(self, actor: Actor, one: str, keep: Literal["new", "old", "both"]) -> Memory | None:
        """Say which of two contradicting memories is right; `one` is the newer. Gives the one that holds; None when there is nothing to settle."""
        owner, now = person(actor), self.now()
        async with self.locks.held(owner):
            found = await self._get(owner, [one])
            if not found or not found[0].disputed_with:
                return None
            new = found[0]
            older = next(iter(await self._get(owner, [new.disputed_with])), None)
            plain = new.model_copy(update={"disputed_with": "", "updated": now})
            steps = []
            if keep == "old" and older is not None:
                steps = [Step("settled", new, plain.model_copy(update={"superseded_by": older.id, "valid_until": now}))]
            else:
                steps = [Step("settled", new, plain)]
                if keep == "new" and older is not None:
                    steps.append(Step("superseded", older, older.model_copy(update={"superseded_by": new.id, "valid_until": now, "updated": now})))
            await self.writer.write(steps, "person")
            return older if keep == "old" and older is not None else plain

    # --- forgetting ------------------------------------------------------------------------------------------------------

    async def forget(self, actor: Actor, ids: Sequence[str], *, thread: Thread | None = None) -> list[Memory]:
        """Delete these of the person's memories, their superseded forms and everything the history holds of them; gives what was deleted.

        `thread`: also agreements of its channel that they said.
        """
        gone = await self._forget(person(actor), ids)
        if thread is not None:
            gone += await self._forget(room(thread), [memory.id for memory in await self._said_in(thread, actor, ids)])
        return gone

    async def going(self, actor: Actor, ids: Sequence[str], *, thread: Thread | None = None) -> list[Memory]:
        """What `forget` would delete."""
        gone = list((await self._going(person(actor), ids)).values())
        if thread is not None:
            gone += (await self._going(room(thread), [memory.id for memory in await self._said_in(thread, actor, ids)])).values()
        return gone

    async def going_all(self, actor: Actor) -> list[Memory]:
        """What `forget_all` would delete."""
        gone = await self._everything(person(actor))
        async for other in self.store.owners(actor.team_id):
            if other.kind == "room":
                gone += [memory for memory in await self._everything(other) if memory.source.said_by == actor]
        return gone

    async def _said_in(self, thread: Thread, actor: Actor, ids: Sequence[str]) -> list[Memory]:
        return [memory for memory in await self._get(room(thread), ids) if memory.source.said_by == actor]

    async def _everything(self, owner: Owner) -> list[Memory]:
        return [memory for record in await self.store.list(Where((owner,)), limit=MOST_READ) if (memory := memory_of(record)) is not None]

    async def _going(self, owner: Owner, ids: Sequence[str]) -> dict[str, Memory]:
        """These and what belongs to them; of those that are gone already, what the history still tells."""
        asked = await self._get(owner, ids)
        missing = frozenset(ids) - {memory.id for memory in asked}
        if missing:
            asked += last_forms(missing, await self._changes(owner, tuple(missing)))
        if not asked:
            return {}
        # In a room what somebody else said is no older form of it, though it took its place: that one is theirs.
        speakers = {memory.source.said_by for memory in asked}
        return with_older_forms(asked, [m for m in await self._everything(owner) if owner.kind == "person" or m.source.said_by in speakers])

    async def _changes(self, owner: Owner, of: tuple[str, ...] = ()) -> list[Change]:
        records = await self.store.list(Where((owner,), what="change", keys=of), limit=MOST_READ)
        return [change for record in records if (change := change_of(record)) is not None]

    async def _forget(self, owner: Owner, ids: Sequence[str]) -> list[Memory]:
        async with self.locks.held(owner):
            gone = await self._going(owner, ids)
            if not gone:
                return []
            changes, left = await self._changes(owner), [memory for memory in await self._everything(owner) if memory.id not in gone]
            back = [*freed(gone, left), *holding_again(gone, left, changes)]
            noted = await self.writer.write([Step("settled", before, after) for before, after in back], "person")
            notes = [change.id for change in (*changes, *noted) if tells_of(change, gone) or change in noted]  # what leads back to it goes too
            await self.store.delete(owner, [*gone, *notes])
            return list(gone.values())

    async def withdraw(self, actor: Actor, ids: Sequence[str], *, thread: Thread) -> list[Memory]:
        """Delete what a message told that is gone or tells something else now; what it had changed is as it was. Gives what was deleted."""
        gone = await self._withdraw(person(actor), ids)
        return gone + await self._withdraw(room(thread), [memory.id for memory in await self._said_in(thread, actor, ids)])

    async def _withdraw(self, owner: Owner, ids: Sequence[str]) -> list[Memory]:
        async with self.locks.held(owner):
            asked = await self._get(owner, ids)
            if not asked:
                return []
            plan = withdrawal(asked, await self._everything(owner), await self._changes(owner))
            noted = await self.writer.write([Step("settled", before, after) for before, after in plan.back], "message")
            await self.store.delete(owner, [*plan.gone, *plan.notes, *(change.id for change in noted)])  # they tell it, or lead back to it
            return list(plan.gone.values())

    async def forget_all(self, actor: Actor) -> list[Memory]:
        """Delete everything of a person but their settings, and the agreements they said; gives what was deleted."""
        owner = person(actor)
        async with self.locks.held(owner):
            gone = await self._everything(owner)
            await self.store.delete_owner(owner, keep=("settings",))
        async for other in self.store.owners(actor.team_id):
            if other.kind == "room":
                gone += await self._forget(other, [memory.id for memory in await self._everything(other) if memory.source.said_by == actor])
        return gone

    async def erase_team(self, team_id: str) -> int:
        """Delete everything of a workspace; how many records."""
        return await self.store.delete_team(team_id)

    # --- history and export ------------------------------------------------------------------------------------------------

    async def history(self, actor: Actor, *, limit: int = PAGE, before: tuple[float, str] | None = None) -> list[Change]:
        """What was changed in a person's memory, newest first."""
        return await self._history.of(person(actor), limit, before)

    async def undo(self, actor: Actor, change_id: str) -> Change | None:
        """Take one change back; None when it is not theirs, was taken back, or what it concerned has gone on since."""
        return await self._history.undo(person(actor), change_id)

    async def export(self, actor: Actor) -> dict[str, Any]:
        """Everything kept of a person, as JSON: memories with the superseded ones, agreements of channels they said, history, settings."""
        owner = person(actor)
        found = {what: [whole(record) for record in await self._all_of(Where((owner,), what=what))] for what in EVERYTHING}
        agreed: list[Any] = []
        async for other in self.store.owners(actor.team_id):
            if other.kind == "room":
                records = await self._all_of(Where((other,)))
                agreed += [whole(each) for each in records if (memory := memory_of(each)) is not None and memory.source.said_by == actor]
        return {
            "person": actor.model_dump(),
            "exported_at": self.now(),
            "embedding_model": self.store.model,
            "memories": found["memory"],
            "agreements": agreed,
            "history": found["change"],
            "settings": (await self.settings(actor)).model_dump(),
        }

    async def _all_of(self, where: Where) -> list[Record]:
        """However many there are, page by page."""
        found = batch = await self.store.list(where, limit=MOST_READ)
        while len(batch) == MOST_READ:
            batch = await self.store.list(where, limit=MOST_READ, before=(batch[-1].at, batch[-1].id))
            found = [*found, *batch]
        return found

    async def stats(self, team_id: str) -> dict[str, float]:
        """Numbers without contents: those of the store, and how many owners the workspace has."""
        owners = {"person": 0, "room": 0}
        async for owner in self.store.owners(team_id):
            owners[owner.kind] += 1
        return {**await self.store.stats(), "people": owners["person"], "rooms": owners["room"]}
