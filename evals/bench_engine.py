"""What a tool call costs beside the tool: the engine's overhead with and without Redis, parallel calls, the cache's hit rate.

The tool does nothing, so everything measured is ours: reading the arguments, validation, the cache and circuits, the
envelope and its text for the model. `python -m evals.bench_engine` prints this part alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Final

import structlog
from pydantic import Field

from evals import bench_measures as measures
from evals import routing
from evals.bench_process import Json, run
from memory.connect import HURRY, connect
from memory.embedded import open_embedded
from memory.keys import Actor, Thread
from memory.toolstate import ToolState
from tools import ToolContext, tool
from tools.engine import Engine, Prepared, prepare, to_model
from tools.registry import Registry

CALLS: Final = 3_000
WARM_UP: Final = 300
ASKED: Final = 2_000
"""Reads of the repeated load."""
THINGS: Final = 200
"""Different things they ask for, by a Zipf law: a few are asked for again and again."""


@tool(effect="read", group="bench", title="Nothing")
async def nothing(
    word: Annotated[str, Field(description="The word to give back, e.g. w12")],
    times: Annotated[int, Field(description="How often to say it, 1 or more", ge=1)] = 1,
) -> dict[str, str]:
    """Do nothing and say so. Only for measuring what stands around a tool; not for anything else."""
    return {"word": word * times}


@tool(effect="read", group="bench", cache_ttl=60, upstream="bench", title="Nothing, cached")
async def nothing_cached(word: Annotated[str, Field(description="The word to give back, e.g. w12")]) -> dict[str, str]:
    """Do nothing, and let the answer be remembered. Only for measuring the cache; not for anything else."""
    return {"word": word}


@tool(effect="read", group="bench", title="Wait")
async def wait(number: Annotated[int, Field(description="The number of the call, from 0")]) -> int:
    """Wait for a tenth of a second, as for something far away. Only for measuring calls side by side."""
    await asyncio.sleep(0.1)
    return number


REGISTRY = Registry([nothing, nothing_cached, wait])
CONTEXT = ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1", thread_ts="1.000001"), "UTC", "run", "call")


async def _one(engine: Engine, name: str, raw: str) -> str:
    ready = prepare(REGISTRY, name, raw)
    if not isinstance(ready, Prepared):
        raise TypeError(ready.error_message)
    return to_model(await engine.call(ready.tool, ready.arguments, CONTEXT, raw))


async def _timed(call: Callable[[int], Awaitable[object]], count: int = CALLS) -> Json:
    for number in range(WARM_UP):
        await call(-1 - number)
    took = []
    for number in range(count):
        began = time.perf_counter()
        await call(number)
        took.append((time.perf_counter() - began) * 1e6)
    cuts = statistics.quantiles(took, n=100)
    return {"p50": statistics.median(took), "p95": cuts[94], "p99": cuts[98]}


async def engine_figures(redis_url: str) -> Json:
    """All figures; times in microseconds unless a name says otherwise."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    figures: Json = {}
    alone = Engine()
    figures["alone"] = await _timed(lambda n: _one(alone, "nothing", json.dumps({"word": f"w{n}"})))
    async with contextlib.aclosing(_Closing(ToolState(connect(redis_url, timeout=HURRY)))) as held:
        shared = Engine(held.state)
        figures["circuits"] = await _timed(lambda n: _one(shared, "nothing", json.dumps({"word": f"w{n}"})))
        figures["cache_miss"] = await _timed(lambda n: _one(shared, "nothing_cached", json.dumps({"word": f"w{n}"})))
        figures["cache_hit"] = await _timed(lambda _: _one(shared, "nothing_cached", '{"word": "same"}'))
        spans = []
        for _ in range(5):
            began = time.perf_counter()
            await asyncio.gather(*(_one(shared, "wait", json.dumps({"number": n})) for n in range(10)))
            spans.append((time.perf_counter() - began) * 1000)
        figures["ten_of_100_ms"] = statistics.median(spans)
        die = random.Random(7)  # noqa: S311 - the same load every time
        weights = [1 / (rank + 1) for rank in range(THINGS)]
        before = _counted(shared)
        for _ in range(ASKED):
            await _one(shared, "nothing_cached", json.dumps({"word": f"thing {die.choices(range(THINGS), weights)[0]}"}))
        hits, misses = (after - earlier for after, earlier in zip(_counted(shared), before, strict=True))
        figures["hit_rate"] = hits / (hits + misses)
    figures["routing"] = routing.measure(Registry.load("evals.forty"), routing.read_tasks())
    return figures


class _Closing:
    def __init__(self, state: ToolState) -> None:
        self.state = state

    async def aclose(self) -> None:
        await self.state.close()


def _counted(engine: Engine) -> tuple[float, float]:
    hit, miss = (
        engine.metrics.registry.get_sample_value("steward_tool_cache_total", {"tool": "nothing_cached", "event": event}) or 0.0 for event in ("hit", "miss")
    )
    return hit, miss


def rows(figures: Json) -> list[tuple[str, str, str, str]]:
    """Table rows: what, figure, (nothing to compare), target."""

    def micro(name: str) -> str:
        return f"{figures[name]['p50']:.0f} / {figures[name]['p99']:.0f} µs"

    told = figures["routing"]
    return [
        ("engine per call, no Redis, p50 / p99", micro("alone"), "", "p50 ≤ 150 µs"),
        ("    with circuits in Redis", micro("circuits"), "", "p50 ≤ 1 ms"),
        ("    with cache and circuits, not cached yet", micro("cache_miss"), "", "p50 ≤ 1 ms"),
        ("    answered from the cache", micro("cache_hit"), "", "p50 ≤ 1 ms"),
        ("10 parallel calls of 100 ms", f"{figures['ten_of_100_ms']:.0f} ms", "", "≤ 130 ms"),
        (f"cache hits, {ASKED} reads of {THINGS} things by Zipf", f"{figures['hit_rate']:.0%}", "", ""),
        (
            "definitions at 40 tools, tokens per request",
            f"{told['definitions_per_request_before']:,.0f} → {told['definitions_per_request_after']:,.0f}",
            "",
            "",
        ),
        ("    saved, what routing itself says counted", f"{told['saved_with_talk']:.0%}", "", ""),
    ]


async def main() -> None:
    """Measure with an embedded store and print."""
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(measures.scratch())
        store = await open_embedded(Path(home))
        stack.push_async_callback(store.close)
        figures = await engine_figures(store.url)
    for what, figure, _, target in rows(figures):
        print(f"{what:<52} {figure:<20} {target}")


if __name__ == "__main__":
    run(main())
