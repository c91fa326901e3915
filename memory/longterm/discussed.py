"""What a person stated in a thread that has ended, as one episode: from the thread's key facts, which are read from people's own words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.keys import Actor, Thread
from memory.longterm.access import Audience, person
from memory.longterm.episodes import DAYS
from memory.longterm.memory import LONGEST, Kind, Memory, Source, memory_id
from memory.longterm.secrets_found import secret
from memory.session_memory import Fact

MOST: Final = 12
"""Facts told of one thread, the newest."""


def discussed(facts: Sequence[Fact], actor: Actor, thread: Thread, audience: Audience, *, at: float) -> Memory | None:
    """The episode of one person in one thread; None when they stated nothing. `at`: when the thread was last active, in seconds since the epoch."""
    own = [fact for fact in facts if fact.actor == actor and not secret(f"{fact.key} {fact.value}")][-MOST:]
    if not own:
        return None
    text = "; ".join(f"{fact.key}: {fact.value}" for fact in own)
    owner = person(actor)
    return Memory(
        id=memory_id(owner, "thread", thread.id),
        owner=owner,
        kind=Kind.EPISODE,
        key="thread",
        text=text[:LONGEST],
        audience=audience,
        source=Source(thread=thread, ts=own[-1].ts, said_by=actor, via="run"),
        created=at,
        importance=0.3,
        language="zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en",
        expires=at + DAYS * 86_400,
    )
