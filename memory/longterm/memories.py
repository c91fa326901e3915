"""The one door to long-term memory: learn, recall, show, change, forget, undo, export.

Every call names the person (or the reader: person and place) it is for, and reaches only what is theirs. What is read, compared and written
happens under the owner's lock. All methods but `recall` raise `StoreDown` when the store does not answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from time import time
from typing import Any, Final, Literal

from memory.embedder import Embedder
from memory.keys import Actor, Thread
from memory.longterm.access import Audience, Owner, Reader, learned_in, narrower, person, room
from memory.longterm.asking import EVERYDAY_PART, understood
from memory.longterm.candidate import Candidate, Refusal, Said, Verdict
from memory.longterm.exporting import exported
from memory.longterm.forms import Place, begun, freed, last_forms, tells_of, with_older_forms
from memory.longterm.history import History
from memory.longterm.indexed import said_words
from memory.longterm.learning import Learned, Learner
from memory.longterm.locks import LocalLocks, Locks
from memory.longterm.memory import Change, Kind, Memory, Settings, Source
from memory.longterm.paging import read_all
from memory.longterm.question import Found, Question, Recalled
from memory.longterm.ranking import ranked
from memory.longterm.recalling import Count, Recaller, kinds_stored
from memory.longterm.records import change_of, memory_of, of_settings
from memory.longterm.store import Store, Where
from memory.longterm.typed import NotKept, retyped, typed
from memory.longterm.withdrawing import holding_again, withdrawal
from memory.longterm.writing import Step, Writer

LIMIT: Final = 0.5
"""Seconds an answer waits for memory."""
PAGE: Final = 20
MOST_READ: Final = 10_000
"""Records of one owner read at once, at most."""

__all__ = ["LIMIT", "MOST_READ", "PAGE", "Learned", "Memories", "Page"]


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
        self._learner = Learner(store, self.writer, self.recaller, LIMIT)
        self._history = History(store, self.writer, self.locks)

    # --- recalling -------------------------------------------------------------------------------------------------------

    async def recall(self, question: Question, *, tokens: int, count: Count, limit: float = LIMIT) -> Recalled:
        """What memory brings to an answer, in at most `tokens`, within `limit` seconds. Never raises for a store that is away."""
        return await self.recaller.recall(question, tokens=tokens, count=count, limit=limit)

    async def find(self, actor: Actor, text: str, *, limit: int = 10, audiences: frozenset[str] | None = None, sure: bool = True) -> list[Found]:
        """A search over one's own memories, for the person themself: what fits and what holds all that is asked for, the best first.

        `audiences`: only those that may be told to these; None: whatever theirs is. Not `sure`: the nearest as well, for who looks at each.
        """
        reader = Reader(actor=actor, thread=Thread(team_id=actor.team_id, channel_id=""), room_type="im")
        asked = replace(understood(Question(reader=reader, text=text, now=self.now())), personal=True)
        found = ranked(asked, await self.recaller.matches(asked, reader.owners, audiences, LIMIT), now=self.now())
        words = {term for term, weight in asked.telling.items() if weight > EVERYDAY_PART} or set(asked.telling)
        return [each for each in found if not sure or each.fits or (words and words <= said_words(each.memory))][:limit]

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
        asked_at: float = 0.0,
        audience: Audience | None = None,
    ) -> list[Learned]:
        """Keep what one message said, compared with what is known; safe to repeat. Nothing for outsiders, and while the person has paused it.

        Nothing either of what was said before they had it forgotten, unless they asked for it after that (`asked_at`).
        `audience` is where the person wants it recalled (an agreement is then theirs alone); None: by where it was said.
        Times in seconds since the epoch, 0: now.
        """
        if reader.outsider:
            return []
        learned, at = [], said_at or self.now()
        for candidate in candidates:
            is_rooms = candidate.kind is Kind.AGREEMENT and reader.room_type != "im" and audience is None
            owner = room(reader.thread) if is_rooms else person(reader.actor)
            async with self.locks.held(owner):
                settings = await self.settings(reader.actor)
                if not settings.learning or not settings.hears(source, asked_at or at):
                    continue
                where = Audience(scope="channel", channel_id=reader.thread.channel_id) if is_rooms else audience
                where = where or settings.audience(source, self.audience(reader))
                learned.append(await self._learner.learn(Place(owner, where, source, context), candidate, by, at))
        if learned and not (await self.settings(reader.actor)).hears(source, asked_at or at):  # in a channel it was forgotten meanwhile
            await self._forget(room(reader.thread), [each.memory.id for each in learned if each.memory is not None and each.memory.owner.kind == "room"])
        return learned

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
        """Keep memories made by code (episodes, entities, habits) of people, each replacing the one with its id.

        Nothing for those who paused learning, and nothing of what was said or done before they had it forgotten.
        """
        for owner in {memory.owner for memory in memories}:
            async with self.locks.held(owner):
                settings = await self.recaller.settings(owner)
                own = [memory for memory in memories if memory.owner == owner and settings.learning and settings.hears(memory.source, begun(memory))]
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
            return await self._chosen(actor, Settings.model_validate({**(await self.settings(actor)).model_dump(), **changes}))

    async def _chosen(self, actor: Actor, settings: Settings) -> Settings:
        """Keep settings. The caller holds the person's lock."""
        await self.store.put([of_settings(person(actor), settings, self.now())])
        return settings

    async def listed(
        self,
        actor: Actor,
        *,
        limit: int = PAGE,
        before: tuple[float, str] | None = None,
        kinds: Sequence[Kind] = (),
        live: bool = True,
        audiences: frozenset[str] | None = None,
    ) -> Page:
        """A person's memories, newest first; `live`: without those that were superseded. `audiences` as in `find`."""
        where = Where((person(actor),), audiences=audiences, kinds=kinds_stored(*kinds) if kinds else (), live=True if live else None)
        page = await self._page(where, limit, before)
        if before is not None or kinds:
            return page
        others = [memory for record in await read_all(self.store, Where((person(actor),), live=False)) if (memory := memory_of(record)) is not None]
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
        """Change where a memory may be recalled; it stays so when its message is read again."""
        memory = await self._change(actor, one, {"audience": audience}, "widened")
        if memory is not None:
            await self._addressed(actor, memory)
        return memory

    async def _addressed(self, actor: Actor, memory: Memory) -> None:
        """Note how far what is kept of a memory's message may reach, by its owner's choice."""
        if memory.source.ts:
            same = [each.audience for each in await self.from_message(actor, memory.source.thread, memory.source.ts)]
            async with self.locks.held(person(actor)):
                await self._chosen(actor, (await self.settings(actor)).addressed(memory.source, reduce(narrower, same, memory.audience)))

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
        if told := [source for memory in await self.going(actor, ids, thread=thread) for source in (memory.source, *memory.also_said)]:
            async with self.locks.held(person(actor)):  # first: a reading of these messages that is under way must not tell it again
                await self._chosen(actor, (await self.settings(actor)).without(told))
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
        return [memory for record in await read_all(self.store, Where((owner,)), most=MOST_READ) if (memory := memory_of(record)) is not None]

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
        records = await read_all(self.store, Where((owner,), what="change", keys=of), most=MOST_READ)
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
        """Delete everything of a person but their settings, and the agreements they said; gives what was deleted. Nothing said until now is learned."""
        owner = person(actor)
        async with self.locks.held(owner):
            gone = await self._everything(owner)
            await self._chosen(actor, (await self.settings(actor)).model_copy(update={"forgotten_at": self.now(), "unheard": (), "narrowed": ()}))
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
        change = await self._history.undo(person(actor), change_id)
        if change is not None and change.before is not None and change.after is not None and change.before.audience != change.after.audience:
            await self._addressed(actor, change.after)
        return change

    async def export(self, actor: Actor) -> dict[str, Any]:
        """Everything kept of a person, as JSON: memories with the superseded ones, agreements of channels they said, history, settings."""
        return await exported(self.store, actor, await self.settings(actor), self.now())

    async def stats(self, team_id: str) -> dict[str, float]:
        """Numbers without contents: those of the store, and how many owners the workspace has."""
        owners = {"person": 0, "room": 0}
        async for owner in self.store.owners(team_id):
            owners[owner.kind] += 1
        return {**await self.store.stats(), "people": owners["person"], "rooms": owners["room"]}
