"""`make bench`: how fast the bot is, how much it holds, and how it compares with the plain thing one would write instead.

Everything runs on loopback: the embedded store, the playground, an instant model, the load generator and the bot, each
in a process of its own. A turn is a mention in a channel, delivered as Slack delivers it (twice), answered with one
model call and one message. Because such a machine is rarely alone, the figure to trust is turns per second of the
bot's own processor time: per core. What is remembered of people is measured last, at two sizes; `--memories 1000000`
measures another one. The figures are printed and written to `build/bench.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import time
from pathlib import Path

from redis.asyncio import Redis

from evals import bench_measures as measures
from evals.bench_context import context_figures, print_context
from evals.bench_engine import engine_figures
from evals.bench_longterm import SIZES, arguments, longterm_figures
from evals.bench_longterm_table import print_longterm
from evals.bench_process import Json, child, run
from evals.bench_table import print_table
from memory.embedded import open_embedded

WARM_UP = 100
ROUNDS, ROUND = 3, 300
UNDER_WAY = 32


async def bench(*, ack_seconds: float, profile: str) -> Json:
    """All figures."""
    figures: Json = {"python": platform.python_version(), "machine": platform.machine()}
    figures["start"] = await measures.start_times(3)
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(measures.scratch())
        embedded = await open_embedded(Path(home))
        stack.push_async_callback(embedded.close)
        store: Redis = await stack.enter_async_context(Redis.from_url(embedded.url))
        figures["deliveries"] = await measures.deliveries(embedded.url, 6_000, 16)
        await store.flushall()
        figures["engine"] = await engine_figures(embedded.url)
        await store.flushall()
        figures["context"] = await context_figures(embedded.url)
        await store.flushall()
        model = await stack.enter_async_context(child("evals.bench_model"))
        steward = await stack.enter_async_context(measures.world("steward", model, embedded.url, profile))
        plain = await stack.enter_async_context(measures.world("plain", model, embedded.url))
        memory: Json = {}
        for name, place in (("steward", steward), ("plain", plain)):
            memory[name] = {"start": (await place.bot.ask("usage"))["rss"]}
        figures["keys"] = {"start": await measures.keys(store)}
        rounds: dict[str, list[Json]] = {"steward": [], "plain": []}
        counted: dict[measures.World, int] = {}
        for place in (steward, plain):
            warm = await place.load.ask("closed", turns=WARM_UP, under_way=8, within=measures.WITHIN)
            counted[place] = len(warm["answered"])
        for _ in range(ROUNDS):  # in turns, so that what else the machine does weighs on both
            rounds["steward"].append(await measures.saturated(steward, ROUND, UNDER_WAY, store))
            rounds["plain"].append(await measures.saturated(plain, ROUND, UNDER_WAY))
        for name, place in (("steward", steward), ("plain", plain)):
            memory[name]["after"] = (await place.bot.ask("usage"))["rss"]
        figures["keys"]["after"] = await measures.keys(store)
        figures["memory"], figures["turns"] = memory, counted[steward] + sum(each["turns"] for each in rounds["steward"])
        figures["saturated"] = {name: measures.median(each) for name, each in rounds.items()}
        figures["own_time"] = {"steward": await measures.own_time(steward, model, 200), "plain": await measures.own_time(plain, model, 200)}
        figures["own_time"]["steward_with_a_tool"] = await measures.own_time(steward, model, 100, "t")
        figures["acknowledgement"] = {
            "steward": await measures.acknowledged(steward, 50, ack_seconds),
            "plain": await measures.acknowledged(plain, 50, ack_seconds / 2),
        }
    return figures


async def main(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    began = time.monotonic()
    figures = await bench(ack_seconds=options.seconds, profile=options.profile)
    figures["longterm"] = await longterm_figures(options.memories or SIZES, mem0_python=options.mem0_python, peers_size=options.peers)
    figures["took"] = time.monotonic() - began
    target = measures.build("bench.json")
    target.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print_table(figures)
    print_context(figures["context"])
    print_longterm(figures["longterm"])
    print(f"\n{target.relative_to(target.parents[1])} holds all figures; this took {figures['took']:.0f} s.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="how long 50 events a second are sent (8)")
    arguments(parser)
    parser.add_argument("--profile", default="", metavar="FILE", help="write what the bot spent its time on, for pstats (slows it down)")
    run(main(parser.parse_args()))
