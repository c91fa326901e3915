"""What the tests of the engines' shared state have in common: a service desk to read and change, engines, and hands that turn the clock of the store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import structlog
from pydantic import Field

from memory.connect import connect
from memory.keys import Actor, Thread
from memory.toolstate import Circuits, ToolState
from tests.fakes.valkey import Valkey
from tools import Tool, ToolContext, ToolFailed, tool
from tools.engine import Engine, EngineLimits
from tools.result import ErrorCode, Suggestion
from tools.retry import Pauses

QUICK = EngineLimits(pauses=Pauses(first=0.0, longest=0.0, jitter=0.0, keyed_first=0.0), state_pause=0.0)
DOWN = ToolFailed("The desk does not answer.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)
NONE = ToolFailed("There is no such desk.", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.FIX_ARGUMENTS)
SLOW = Circuits(threshold=3, cooling=1000.0, longest=100_000.0)
Desk = Annotated[str, Field(description="Which desk, e.g. north")]


def quiet() -> None:
    """Drawing a traceback with all its variables takes longer than the test it belongs to."""
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])


@contextlib.asynccontextmanager
async def opened(valkey: Valkey, circuits: Circuits = SLOW) -> AsyncIterator[ToolState]:
    state = ToolState(connect(valkey.url, timeout=2.0), circuits=circuits)
    yield state
    await state.close()


def engine(state: ToolState | None) -> Engine:
    return Engine(state, limits=QUICK)


def context(person: str = "U1", channel: str = "C1", team: str = "T1", *, call: str = "c1", timezone: str = "UTC") -> ToolContext:
    return ToolContext(Actor(team_id=team, user_id=person), Thread(team_id=team, channel_id=channel), timezone, "run1", call)


class Desks:
    """A source that can be read and changed, and that may be slow, refuse or be down."""

    def __init__(self) -> None:
        self.open = {"north": 1, "south": 2}
        self.reads = 0
        self.fault: BaseException | None = None
        self.gate: asyncio.Event | None = None
        self.inside = asyncio.Event()

    async def at(self, desk: str) -> int:
        """How many tickets `desk` has open; counted, held and failing as the test says."""
        self.reads += 1
        value = self.open.get(desk)
        self.inside.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        if value is None:
            raise NONE
        return value

    def reader(self, **options: Any) -> Tool:
        async def count_tickets(desk: Desk = "north") -> int:
            """Count the open tickets of one desk, as they stand now."""
            return await self.at(desk)

        return tool(**{"effect": "read", "group": "tickets", "cache_ttl": 60, "retries": 0, **options})(count_tickets)

    def writer(self, **options: Any) -> Tool:
        async def open_ticket(desk: Desk = "north") -> int:
            """Open one more ticket at a desk, in the name of whoever asks."""
            if self.fault is not None:
                raise self.fault
            self.open[desk] = self.open.get(desk, 0) + 1
            return self.open[desk]

        return tool(**{"effect": "write", "group": "tickets", "invalidates": ("tickets",), **options})(open_ticket)


def aged(valkey: Valkey, seconds: float) -> None:
    """Make everything in the cache that much older."""
    for key in found(valkey, "*:value:*"):
        valkey.command("HINCRBY", key, "at", -int(seconds * 1000))


def cooled(valkey: Valkey) -> None:
    """Let the cooling time of every open circuit be over."""
    for key in found(valkey, "*:circuit:*"):
        if valkey.command("HEXISTS", key, "until"):
            valkey.command("HSET", key, "until", 1)


def found(valkey: Valkey, pattern: str) -> list[str]:
    names = valkey.command("KEYS", pattern)
    assert isinstance(names, list)
    return [name.decode() for name in names]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.002)


def counted(engine: Engine, name: str, **labels: str) -> float:
    return engine.metrics.registry.get_sample_value(name, labels) or 0.0


ME = context()
