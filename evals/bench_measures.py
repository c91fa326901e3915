"""What the benchmark measures, one function a measure; each gives plain figures (seconds, bytes, counts).

Times of a turn are taken from outside, by the processes around the bot, on one machine's clock: from just before its
event is sent to the moment Slack has the answer, less the time the model had the request. So the HTTP server, the
parsing, the store, the libraries and the loopback all count as the bot's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import resource
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from redis.asyncio import Redis

from evals.bench_process import ROOT, Child, Json, child
from memory.connect import PATIENCE, connect
from memory.keys import Thread
from memory.mailbox import Mailbox

WITHIN = 6.0
"""Seconds a measure may take, so that the whole stays short on a machine that is slow or busy; it then counts fewer turns."""
OURS = ("SLACK_", "OPENAI_", "STEWARD_", "REDIS_URL", "QDRANT_")


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 10_000) * len(ordered) // 10_000) - 1))]


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class World:
    """A bot with a Slack and a load generator of its own."""

    bot: Child
    load: Child


@contextlib.asynccontextmanager
async def world(what: str, model: Child, redis_url: str, profile: str = "") -> AsyncIterator[World]:
    """`steward` or `plain`, ready, and what stands around it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack/events"
    async with child("evals.bench_slack", url) as slack:
        options = {"what": what, "port": port, "slack": slack.hello, "model": model.hello["url"], "redis": redis_url, "profile": profile}
        async with child("evals.bench_bot", json.dumps(options)) as bot, child("evals.bench_load", json.dumps({"url": url, "slack": slack.hello})) as load:
            yield World(bot, load)


async def start_times(runs: int) -> Json:
    """`steward run` on an empty data folder: seconds from the process's start to its ready line, and until the bot is connected.

    `cpu` is the processor time of the whole run, its end included: the figure to look at on a busy machine.
    """
    ready, connected, cpu = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="steward-bench-") as home:
            env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
            env |= {"STEWARD_HOME": home, "PORT": str(free_port()), "STEWARD_LOG_LEVEL": "WARNING"}
            began, used = time.monotonic(), _children()
            process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bot.cli", "run", stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=env)
            try:
                async with asyncio.timeout(30):
                    url = await _ready_line(process)
                    ready.append(time.monotonic() - began)
                    await _connected(url)
                    connected.append(time.monotonic() - began)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
            cpu.append(_children() - used)
        if sum(connected) > WITHIN:
            break
    return {"ready": statistics.median(ready), "connected": statistics.median(connected), "cpu": statistics.median(cpu)}


def _children() -> float:
    """Seconds of processor time of the child processes that have ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _ready_line(process: asyncio.subprocess.Process) -> str:
    if process.stdout is None:
        raise RuntimeError("no output")
    async for line in process.stdout:
        found = re.search(rb"ready.*?(http://\S+)", line)
        if found:
            return found[1].decode()
    raise RuntimeError(f"steward run ended with code {await process.wait()}")


async def _connected(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{url.rstrip('/')}/_/state") as response:
                state = await response.json()
            if state["app"]["connected"]:
                return
            await asyncio.sleep(0.01)


async def deliveries(redis_url: str, count: int, at_once: int) -> Json:
    """`Mailbox.deliver` alone: per second of wall time, and its latency with `at_once` under way."""
    client = connect(redis_url, timeout=PATIENCE)
    mailbox = Mailbox(client, space="bench")
    payload = b'{"kind":"mention","text":"' + b"x" * 500 + b'"}'
    took: list[float] = []
    numbers = iter(range(count))

    async def deliver() -> None:
        for number in numbers:
            thread = Thread(team_id="T", channel_id=f"C{number % 40}", thread_ts=f"{number}.0")
            began = time.perf_counter()
            await mailbox.deliver(thread, f"m:{number}", payload)
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(deliver())
    spent = time.perf_counter() - began
    await client.aclose()
    return {"per_second": count / spent, "p50": quantile(took, 0.5), "p99": quantile(took, 0.99)}


async def saturated(place: World, turns: int, under_way: int, store: Redis | None = None) -> Json:
    """As many turns as it can (up to `turns`): per second of wall time, and per second of the bot's own processor time."""
    before, store_before, began = await place.bot.ask("usage"), await store_cpu(store), time.perf_counter()
    turns = len((await place.load.ask("closed", turns=turns, under_way=under_way, within=WITHIN))["answered"])
    wall, after = time.perf_counter() - began, await place.bot.ask("usage")
    cpu = after["cpu"] - before["cpu"]
    return {
        "turns": turns,
        "per_second": turns / wall,
        "per_core": turns / cpu,
        "cpu": cpu / turns,
        "store_cpu": (await store_cpu(store) - store_before) / turns,
    }


async def own_time(place: World, model: Child, turns: int, kind: str = "m") -> Json:
    """One turn at a time: the bot's own seconds from the event's arrival to its last Slack call."""
    await model.ask("spent")
    load = await place.load.ask("closed", turns=turns, under_way=1, kind=kind, within=WITHIN)
    spent = await model.ask("spent")
    own = [load["answered"][mark] - load["sent"][mark] - spent[mark] for mark in load["answered"]]
    return {"p50": quantile(own, 0.5), "p99": quantile(own, 0.99), "model_p50": quantile(list(spent.values()), 0.5)}


async def acknowledged(place: World, events: float, seconds: float) -> Json:
    """At a steady `events` a second (half as many mentions): how long an event waits for its 200, and a person for the answer."""
    load = await place.load.ask("open", rate=events / 2, seconds=seconds)
    answer = [load["answered"][mark] - sent for mark, sent in load["sent"].items()]
    acks: list[float] = load["acks"]
    figures = {"p50": quantile(acks, 0.5), "p99": quantile(acks, 0.99), "events": len(acks), "refused": load["refused"]}
    return figures | {"answer_p50": quantile(answer, 0.5), "answer_p99": quantile(answer, 0.99)}


async def store_cpu(store: Redis | None) -> float:
    """Seconds of processor time the store has used."""
    if store is None:
        return 0.0
    info: dict[str, Any] = await store.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


async def keys(store: Redis) -> Json:
    """How many keys there are, and how many of them never expire."""
    space: dict[str, Any] = (await store.info("keyspace")).get("db0") or {"keys": 0, "expires": 0}
    return {"all": space["keys"], "lasting": space["keys"] - space["expires"]}


def median(rounds: Sequence[Json]) -> Json:
    """The median of each figure."""
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A data folder for the store."""
    return tempfile.TemporaryDirectory(prefix="steward-bench-", ignore_cleanup_errors=True)


def build(name: str) -> Path:
    """A file under `build/`."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    return folder / name
