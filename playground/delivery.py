"""Sending to the app: attempts, the three-second rule, retries, and the faults a test can order.

`Delivery` decides when and how often; a `Transport` (signed HTTP or Socket Mode) carries out one attempt. Events are retried as Slack
does: at once, after a minute, after five more minutes, unless the app answers in time or asks for no retry. Interactive payloads and slash
commands are sent once and their answer is handed back. Every attempt is kept in a log.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from playground.clock import Clock
from playground.feed import Feed
from playground.people import Json

RETRY_DELAYS = (0.0, 60.0, 300.0)
LOG_SIZE = 50_000


@dataclass(slots=True)
class Answer:
    """What one attempt brought back: `status` 200 means acknowledged; `body` is decoded JSON, text, or None."""

    status: int
    body: Json | str | None = None
    reason: str = ""
    no_retry: bool = False

    @property
    def ok(self) -> bool:
        """Whether the app acknowledged in time."""
        return 200 <= self.status < 300


@dataclass(slots=True)
class Parcel:
    """One payload on its way: `kind` is events_api, interactive or slash_commands; `text` is the payload as JSON."""

    kind: str
    id: str
    type: str
    payload: Json
    text: str
    acks: asyncio.Future[Answer] | None = None


class Transport(Protocol):
    """One way to reach the app."""

    name: str

    async def attempt(self, parcel: Parcel, retry: int, reason: str) -> Answer:
        """Send once and wait for the acknowledgement, at most the acknowledgement time."""
        ...

    def connected(self) -> bool:
        """Whether the app can be reached right now, as far as known."""
        ...


@dataclass(slots=True)
class Control:
    """How events reach the app, set by tests.

    `copies` of each event; `order` of the two events of a mention; `gap_ms` between them; `drop`, the share (0..1) of attempts lost on the
    way; `delay_ms` before each; `retries` at most; `time_scale` multiplies the retry waits; `seed` fixes the chance.
    """

    copies: int = 1
    order: str = "mention_first"
    gap_ms: float = 0.0
    drop: float = 0.0
    delay_ms: float = 0.0
    retries: int = 3
    time_scale: float = 1.0
    seed: int | None = None
    chance: random.Random = field(default_factory=random.Random)

    def set(self, body: Json) -> None:
        """Change the named settings. Raises `ValueError` for an unknown name, order or a value of the wrong type."""
        for name, value in body.items():
            if name == "order":
                if value not in ("mention_first", "message_first", "random"):
                    raise ValueError(f"unknown order: {value}")
                self.order = value
            elif name == "seed":
                self.seed = None if value is None else int(value)
                self.chance = random.Random(self.seed)  # noqa: S311  (ordered mishaps, not secrets)
            elif name in ("copies", "retries"):
                setattr(self, name, int(value))
            elif name in ("gap_ms", "drop", "delay_ms", "time_scale"):
                setattr(self, name, float(value))
            else:
                raise ValueError(f"unknown setting: {name}")


class Delivery:
    """Sends parcels through the current transport."""

    def __init__(self, transport: Transport, control: Control, clock: Clock, feed: Feed) -> None:
        self.transport = transport
        self.control = control
        self.log: deque[Json] = deque(maxlen=LOG_SIZE)
        self._clock = clock
        self._feed = feed
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def in_flight(self) -> int:
        """Events that are neither acknowledged nor given up."""
        return len(self._tasks)

    def events(self, parcels: list[Parcel]) -> None:
        """Send events in the order the control asks for, with its gap between them."""
        control = self.control
        if len(parcels) == 2 and (control.order == "message_first" or (control.order == "random" and control.chance.random() < 0.5)):
            parcels.reverse()
        for index, parcel in enumerate(parcels):
            delay = (control.delay_ms + index * control.gap_ms) / 1000
            for _ in range(control.copies):
                task = asyncio.create_task(self._deliver(parcel, delay))
                self._tasks.add(task)
                task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        """An event is off the road: those who wait for that look again."""
        self._tasks.discard(task)
        self._feed.touch()

    async def _deliver(self, parcel: Parcel, delay: float) -> None:
        """One event until acknowledged or given up."""
        if delay:
            await asyncio.sleep(delay)
        reason = ""
        for retry in range(self.control.retries + 1):
            if retry:
                wait = RETRY_DELAYS[min(retry, 3) - 1] * self.control.time_scale
                if wait:
                    await asyncio.sleep(wait)
            answer = await self._attempt(parcel, retry, reason)
            if answer.ok or answer.no_retry:
                return
            reason = answer.reason

    async def _attempt(self, parcel: Parcel, retry: int, reason: str) -> Answer:
        """One attempt, logged."""
        started = self._clock.now()
        if self.control.drop and parcel.kind == "events_api" and self.control.chance.random() < self.control.drop:
            answer = Answer(0, reason="connection_failed")
        else:
            answer = await self.transport.attempt(parcel, retry, reason)
        self.log.append(
            {
                "event_id": parcel.id,
                "kind": parcel.kind,
                "type": parcel.type,
                "retry_num": retry,
                "status": answer.status,
                "reason": answer.reason,
                "at": started,
                "duration_ms": round((self._clock.now() - started) * 1000, 3),
                "transport": self.transport.name,
            }
        )
        self._feed.touch()
        return answer

    async def request(self, parcel: Parcel) -> Answer:
        """Send an interactive payload or slash command once and return the app's answer."""
        return await self._attempt(parcel, 0, "")

    async def stop(self) -> None:
        """Give up everything still under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
