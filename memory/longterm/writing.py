"""How memories get into the store: with what they are found by, and with an entry in their owner's history, in one write.

What is new is put; what changes an existing memory replaces it only if it is still there, so that nothing forgotten comes back. When no
vector can be made the memory is kept all the same, found by its words; `completed` makes up for it later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

import structlog

from memory.embedder import Embedder, NoVectorsError
from memory.longterm.indexed import embed_text, words_of
from memory.longterm.memory import Change, Done, Memory
from memory.longterm.records import of_change, of_memory
from memory.longterm.store import Floats, Record, Store

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """One change to be made: `before` is None for a new memory, `after` None for one that goes."""

    done: Done
    before: Memory | None
    after: Memory | None
    undoes: str = ""

    @property
    def memory(self) -> Memory:
        """The memory concerned."""
        memory = self.after if self.after is not None else self.before
        if memory is None:
            raise ValueError("a change of nothing")
        return memory


class Writer:
    """Writes steps. The caller holds the owner's lock."""

    def __init__(self, store: Store, embedder: Embedder | None, now: Callable[[], float]) -> None:
        self._store = store
        self._embedder = embedder
        self._now = now

    async def write(self, steps: Sequence[Step], by: str) -> list[Change]:
        """Make these changes, all of one owner, and note them. Raises `StoreDown`."""
        changes = [
            Change(
                id=str(uuid4()),
                owner=step.memory.owner,
                at=self._now(),
                done=step.done,
                by=by,
                memory_id=step.memory.id,
                before=step.before,
                after=step.after,
                undoes=step.undoes,
            )
            for step in steps
        ]
        fresh = [step.after for step in steps if step.before is None and step.after is not None]
        changed = [step.after for step in steps if step.before is not None and step.after is not None]
        gone = [step.before for step in steps if step.before is not None and step.after is None]
        await self._put(fresh, [of_change(change) for change in changes], existing=False)
        if changed:
            await self._put(changed, [], existing=True)
        if gone:
            await self._store.delete(gone[0].owner, [memory.id for memory in gone])
        return changes

    async def touch(self, memories: Sequence[Memory]) -> None:
        """Write memories whose numbers alone changed (when recalled last), without a history entry and without making vectors anew."""
        for owner in {memory.owner for memory in memories}:
            own = {memory.id: memory for memory in memories if memory.owner == owner}
            found = await self._store.get(owner, list(own))
            records = [of_memory(own[record.id], dense=record.dense, words=dict(record.words)) for record in found]
            if records:
                await self._store.put(records, existing=True)

    async def completed(self, records: Sequence[Record]) -> int:
        """Give vectors to memories that were kept without; how many have one now. Raises `StoreDown`, `NoVectorsError`."""
        if self._embedder is None:
            return 0
        memories = [Memory.model_validate(record.payload) for record in records]
        vectors = await self._embedder.passages([embed_text(memory) for memory in memories])
        made = [of_memory(memory, dense=vector, words=words_of(memory)) for memory, vector in zip(memories, vectors, strict=True)]
        await self._store.put(made, existing=True)
        return len(made)

    async def _put(self, memories: Sequence[Memory], changes: Sequence[Record], *, existing: bool) -> None:
        vectors = await self._vectors(memories)
        records = [of_memory(memory, dense=vector, words=words_of(memory)) for memory, vector in zip(memories, vectors, strict=True)]
        if records or changes:
            await self._store.put([*records, *changes], existing=existing)

    async def _vectors(self, memories: Sequence[Memory]) -> Sequence[Floats | None]:
        if self._embedder is None or not memories:
            return [None] * len(memories)
        try:
            return list(await self._embedder.passages([embed_text(memory) for memory in memories]))
        except NoVectorsError as error:
            log.warning("memory_without_vector", reason=str(error), count=len(memories))
            return [None] * len(memories)
