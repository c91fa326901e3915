"""The jobs that need nothing but the store of threads; those over people's memories are `memory_jobs`, and the service puts both together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.farewell import Farewell
from bot.scheduled import Job
from memory.handover import Handovers
from memory.mailbox import Mailbox


@dataclass(frozen=True, slots=True)
class Needs:
    """What the jobs work with. Times in seconds."""

    mailbox: Mailbox
    handovers: Handovers
    session_idle_ttl: float
    now: Callable[[], float]


def standing_jobs(needs: Needs) -> list[Job]:
    """Those of every installation, whether it remembers people or not."""
    return [Farewell(needs.mailbox, needs.handovers, lifetime=needs.session_idle_ttl, clock=needs.now).job()]
