"""Everything that is kept of a person, as JSON, for the person."""

from __future__ import annotations

from typing import Any

from memory.keys import Actor
from memory.longterm.access import person
from memory.longterm.memory import Settings
from memory.longterm.paging import read_all
from memory.longterm.records import EVERYTHING, memory_of, whole
from memory.longterm.store import Store, Where


async def exported(store: Store, actor: Actor, settings: Settings, at: float) -> dict[str, Any]:
    """Memories with the superseded ones, agreements of channels they said, history, settings; `at` in seconds since the epoch. Raises `StoreDown`."""
    owner = person(actor)
    found = {what: [whole(record) for record in await read_all(store, Where((owner,), what=what))] for what in EVERYTHING}
    agreed: list[Any] = []
    async for other in store.owners(actor.team_id):
        if other.kind == "room":
            records = await read_all(store, Where((other,)))
            agreed += [whole(each) for each in records if (memory := memory_of(each)) is not None and memory.source.said_by == actor]
    return {
        "person": actor.model_dump(),
        "exported_at": at,
        "embedding_model": store.model,
        "memories": found["memory"],
        "agreements": agreed,
        "history": found["change"],
        "settings": settings.model_dump(),
    }
