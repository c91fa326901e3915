"""What was changed in an owner's memory, and taking a change back."""

from __future__ import annotations

from memory.longterm.access import Owner
from memory.longterm.locks import Locks
from memory.longterm.memory import Change, Kind, Memory
from memory.longterm.records import change_of, memory_of
from memory.longterm.store import Store, Where
from memory.longterm.writing import Step, Writer


class History:
    """The entries of one store."""

    def __init__(self, store: Store, writer: Writer, locks: Locks) -> None:
        self._store = store
        self._writer = writer
        self._locks = locks

    async def of(self, owner: Owner, limit: int, before: tuple[float, str] | None = None) -> list[Change]:
        """The newest first. Raises `StoreDown`."""
        records = await self._store.list(Where((owner,), what="change"), limit=limit, before=before)
        return [change for record in records if (change := change_of(record)) is not None]

    async def undo(self, owner: Owner, change_id: str, by: str = "person") -> Change | None:
        """Take one change back; the entry that says so and by whom, or None when it cannot be. Raises `StoreDown`."""
        async with self._locks.held(owner):
            found = await self._store.get(owner, [change_id])
            change = change_of(found[0]) if found and found[0].what == "change" else None
            if change is None or change.done == "undone" or await self._undone(owner, change):
                return None
            steps = await self._back(owner, change)
            return (await self._writer.write(steps, by))[0] if steps else None

    async def _undone(self, owner: Owner, change: Change) -> bool:
        others = await self._store.list(Where((owner,), what="change", keys=(change.memory_id,)), limit=1_000)
        return any((other := change_of(record)) is not None and other.undoes == change.id for record in others)

    async def _back(self, owner: Owner, change: Change) -> list[Step]:
        """The steps that lead back. Only a memory that is still as the change left it goes back: what happened since is not thrown away."""
        current = await self._memory(owner, change.memory_id)
        if change.before is None:  # it was new
            if current is None or change.after is None or _moved_on(current, change.after):
                return []
            return [Step("undone", current, None, change.id), *await self._ended_by(owner, change.memory_id)]
        if change.after is None:  # it was dropped: what brought that about must not do so again
            kept_on = {"expires": None} | ({"valid_until": None} if change.before.kind is Kind.PLAN else {})
            return [Step("undone", None, change.before.model_copy(update=kept_on), change.id)] if current is None else []
        if current is None or _moved_on(current, change.after):
            return []
        kept = {"last_recalled": current.last_recalled, "times_recalled": current.times_recalled}
        steps = [Step("undone", current, change.before.model_copy(update=kept), change.id)]
        if change.done == "superseded" and (other := await self._memory(owner, change.after.superseded_by)) is not None and other.live:
            steps.append(Step("undone", other, other.model_copy(update={"superseded_by": change.memory_id}), change.id))
        return steps

    async def _ended_by(self, owner: Owner, one: str) -> list[Step]:
        """What took its end from a memory that goes holds again, as it was before."""
        records = await self._store.list(Where((owner,), what="change"), limit=1_000)
        steps = {}
        for change in (found for record in records if (found := change_of(record)) is not None):
            if change.done != "superseded" or change.before is None or change.after is None or change.after.superseded_by != one or change.memory_id in steps:
                continue
            current = await self._memory(owner, change.memory_id)
            if current is not None and not _moved_on(current, change.after):
                steps[change.memory_id] = Step("undone", current, change.before, change.id)
        for record in await self._store.list(Where((owner,), live=False), limit=1_000):  # by a change that was itself taken back
            memory = memory_of(record)
            if memory is not None and memory.superseded_by == one and memory.id not in steps:
                steps[memory.id] = Step("undone", memory, memory.model_copy(update={"superseded_by": "", "valid_until": None}))
        return list(steps.values())

    async def _memory(self, owner: Owner, one: str) -> Memory | None:
        found = await self._store.get(owner, [one]) if one else []
        return memory_of(found[0]) if found and found[0].what == "memory" else None


def _moved_on(current: Memory, after: Memory) -> bool:
    fields = ("text", "audience", "superseded_by", "disputed_with", "importance", "times_said")
    return any(getattr(current, name) != getattr(after, name) for name in fields)
