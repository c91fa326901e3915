"""Long-term memory for tests of the desk: the real thing over the client's in-memory engine, with a switch that takes the store away."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, Owner, person, room
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.store import WORDS_ONLY, StoreDown
from memory.longterm.writing import Step

_CALLS = frozenset({"put", "get", "search", "list", "count", "delete", "delete_owner", "delete_team", "stats"})


class Switch:
    """A store that can be away, or slow: nothing is answered while its gate is closed. Everything else is the store's."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.away = False
        self.gate = asyncio.Event()
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        if self.away and name in {*_CALLS, "owners"}:
            raise StoreDown("away")
        real = getattr(self._store, name)
        if name not in _CALLS:
            return real

        async def answered(*args: Any, **kwargs: Any) -> Any:
            await self.gate.wait()
            return await real(*args, **kwargs)

        return answered


def in_memory() -> Switch:
    """An empty store on the client's stand-in for a server, not started yet, that finds by words alone."""
    from qdrant_client import AsyncQdrantClient  # noqa: PLC0415 - takes seconds to load

    from memory.longterm.server import ServerStore  # noqa: PLC0415 - the same

    return Switch(ServerStore(AsyncQdrantClient(":memory:"), model=WORDS_ONLY, size=0, local=True))


def memory(
    text: str,
    actor: Actor,
    *,
    kind: Kind = Kind.FACT,
    key: str = "",
    audience: Audience = WORKSPACE,
    channel: str = "C01ORDERS0",
    ts: str = "1790000001.000100",
    created: float = 1_790_000_000.0,
    **more: Any,
) -> Memory:
    """One memory of a person, or (an agreement) of the channel."""
    thread = Thread(team_id=actor.team_id, channel_id=channel)
    owner: Owner = room(thread) if kind is Kind.AGREEMENT else person(actor)
    source = Source(thread=thread, ts=ts, said_by=actor, permalink=f"https://northwind.slack.com/archives/{channel}/p{ts.replace('.', '')}")
    values: dict[str, Any] = {"key": key or f"note:{text[:40].casefold()}", "created": created, "source": source, "audience": audience}
    return Memory(id=memory_id(owner, text, ts), owner=owner, kind=kind, text=text, **(values | more))


async def keep(memories: Memories, *kept: Memory, done: Literal["added", "disputed"] = "added") -> None:
    """Write memories as a message would have them written."""
    for one in kept:
        await memories.writer.write([Step(done, None, one)], "message")


__all__ = ["PRIVATE", "WORKSPACE", "Switch", "in_memory", "keep", "memory"]
