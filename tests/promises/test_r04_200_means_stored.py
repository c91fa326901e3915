"""200 means stored: whatever is wrong with Redis, an event is acknowledged only when it will be answered, and the answer to Slack comes in time.

Redis is stopped, black-holed, slow, full, read-only and without the replicas it wants, in the middle of a stream of signed
mentions. What was not acknowledged is delivered again afterwards, as Slack does.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

import pytest

from memory.keys import Keys, Thread
from playground import seed
from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, echo_policy
from tests.fakes.valkey import Valkey
from tests.promises.kit import HttpStack, free_port, http_running

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]


class Line:
    """A TCP line to Redis that can be made slow."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.delay: Callable[[], float] = lambda: 0.0
        self.port = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            self._tasks.discard(task)
            return
        try:
            await asyncio.wait({asyncio.create_task(self._pump(reader, back)), asyncio.create_task(self._pump(there, writer))})
        finally:
            writer.close()
            back.close()
            self._tasks.discard(task)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                if wait := self.delay():
                    await asyncio.sleep(wait)
                sink.write(data)
                await sink.drain()
        except ConnectionError:
            return  # the other side hung up, which is what lines do
        finally:
            sink.close()


@dataclass
class Event:
    """A mention on its way, and what became of it."""

    ts: str
    nonce: str
    body: bytes
    status: int = 0
    seconds: float = 0.0


@dataclass
class Trial:
    """What one fault did."""

    name: str
    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0
    lost: int = 0
    unanswered: int = 0
    double: int = 0


class Trouble:
    """The faults, each with its end."""

    def __init__(self, valkey: Valkey, line: Line) -> None:
        chance = random.Random(4)

        def command(*words: str | int) -> Callable[[], Awaitable[Any]]:
            return lambda: asyncio.to_thread(valkey.command, *words)

        async def slow() -> None:
            line.delay = lambda: chance.choice([0.0, 0.05, 0.3, 0.6, 1.2, 2.5])

        async def quick() -> None:
            line.delay = lambda: 0.0

        self.all: dict[str, tuple[Callable[[], Awaitable[Any]], Callable[[], Awaitable[Any]]]] = {
            "stopped": (lambda: asyncio.to_thread(valkey.kill), lambda: asyncio.to_thread(valkey.start)),
            "black-holed": (lambda: asyncio.to_thread(valkey.freeze), lambda: asyncio.to_thread(valkey.thaw)),
            "slow": (slow, quick),
            "full": (command("CONFIG", "SET", "maxmemory", 1), command("CONFIG", "SET", "maxmemory", 0)),
            "read-only": (command("REPLICAOF", "127.0.0.1", 1), command("REPLICAOF", "NO", "ONE")),
            "without replicas": (command("CONFIG", "SET", "min-replicas-to-write", 1), command("CONFIG", "SET", "min-replicas-to-write", 0)),
        }


def mention(bot: HttpStack, n: int) -> Event:
    """Someone's mention that Slack has not delivered yet."""
    core = bot.stack.slack.core
    channel = core.world.channels[seed.ORDERS]
    nonce = f"#m{n}"
    message = core.world.post(channel, {"user": seed.ALICE, "team": seed.TEAM_ID, "text": f"<@{bot.stack.slack.bot_user_id}> {nonce}"}, quiet=True)
    event = {**message, "type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}
    parcel = core.events.parcel(core.world.installs[seed.TEAM_ID], event, channel)
    return Event(str(message["ts"]), nonce, parcel.text.encode())


async def deliver(bot: HttpStack, events: list[Event], trial: Trial, at_once: int = 16) -> None:
    """Send events, many at a time, and note the answers."""
    room = asyncio.Semaphore(at_once)

    async def one(event: Event) -> None:
        async with room:
            answer = await bot.send(event.body)
        event.status, event.seconds = answer.status, answer.seconds
        trial.statuses[answer.status] += 1
        trial.slowest = max(trial.slowest, answer.seconds)

    await asyncio.gather(*map(one, events))


async def _trial(bot: HttpStack, valkey: Valkey, trouble: Trouble, name: str, *, count: int, first: int) -> Trial:
    trial = Trial(name)
    events = [mention(bot, first + i) for i in range(count)]
    early, late = max(count // 10, 2), max(count // 10, 2)
    begin, end = trouble.all[name]
    before = asyncio.create_task(deliver(bot, events[:early], trial))
    half = (early + count - late) // 2
    during = asyncio.create_task(deliver(bot, events[early:half], trial))
    while not trial.statuses:  # the first is answered, others are on their way when it happens
        await asyncio.sleep(0.001)
    await begin()
    under = asyncio.create_task(deliver(bot, events[half : count - late], trial))  # and these certainly meet it
    await asyncio.wait({before, during, under})
    under.result()
    before.result()
    during.result()
    await end()
    await deliver(bot, events[count - late :], trial)
    keys = Keys(seed.TEAM_ID)
    for event in events:
        thread = Thread(team_id=seed.TEAM_ID, channel_id=seed.ORDERS, thread_ts=event.ts)
        seen = f"{keys.base(thread.shard)}seen:{seed.TEAM_ID}:{seed.ORDERS}:m:{seed.ORDERS}:{event.ts}"
        trial.lost += event.status == 200 and not await asyncio.to_thread(valkey.command, "EXISTS", seen)
    again = Trial("again")
    for _ in range(20):
        missing = [event for event in events if event.status != 200]
        if not missing:
            break
        await deliver(bot, missing, again)
    assert not [event for event in events if event.status != 200]
    own = bot.stack.own
    await bot.stack.until(lambda: all(own("#orders", event.ts) for event in events), 180)
    await bot.stack.quiet(0.5)
    for event in events:
        answers = [m["text"] for m in own("#orders", event.ts)]
        trial.unanswered += event.nonce not in answers
        trial.double += len(answers) > 1
    print(f"{name}: {dict(trial.statuses)}, slowest {trial.slowest:.2f} s, lost {trial.lost}, unanswered {trial.unanswered}, double {trial.double}")
    return trial


async def test_an_event_is_acknowledged_only_when_it_will_be_answered(figures: Recorder, full: bool) -> None:
    count = 500 if full else 24
    port = free_port()
    valkey, model = Valkey("--port", str(port), fsync="always"), ScriptedModel(echo_policy, keep=10)
    try:
        async with Line(port) as line, http_running(valkey, model, redis_url=f"redis://127.0.0.1:{line.port}") as bot:
            trouble = Trouble(valkey, line)
            trials = [await _trial(bot, valkey, trouble, name, count=count, first=n * 10_000) for n, name in enumerate(trouble.all)]
    finally:
        valkey.close()
    figures(
        "R4",
        faults=len(trials),
        requests=count * len(trials),
        acknowledged_without_a_stored_event=sum(t.lost for t in trials),
        unanswered_in_the_end=sum(t.unanswered for t in trials),
        answered_twice=sum(t.double for t in trials),
        slowest_answer_s=round(max(t.slowest for t in trials), 2),
    )
    for trial in trials:
        assert set(trial.statuses) <= {200, 503}, trial
        assert (trial.lost, trial.unanswered, trial.double) == (0, 0, 0), trial
        assert trial.statuses[503] > 0, trial  # it was a fault indeed
        if full:
            assert trial.slowest <= 2.5, trial
