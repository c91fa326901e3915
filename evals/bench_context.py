"""What a long thread costs: building a context and writing a turn, for threads of 10 to 10,000 messages, and what an idle session holds.

Threads are written into the store as the bot writes them, compacted and indexed by its own code (without a model: the sentences are
picked), and then one turn after another is taken: claim, context, answer, commit. `python -m evals.bench_context` prints this part alone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import structlog
from redis.asyncio import Redis

from bot import actions as act
from bot.context_of import context_of
from bot.deps import Deps
from bot.effects_memory import compact, index, look_weight
from bot.events import Mention, RoomKind
from bot.ledger import Ledger
from bot.model import ModelError, to_wire, weigher
from bot.policy_file import Approvals
from bot.prompt import system
from bot.run import Budget, decide, fold
from evals import bench_measures as measures
from evals.bench_process import Json, run
from memory.budget import ContextBudget
from memory.connect import PATIENCE, connect
from memory.embedded import open_embedded
from memory.keys import Actor, Thread
from memory.mailbox import Claim, Mailbox
from memory.tokens import counter_for
from memory.transcript import AssistantMessage, Item, Request, ToolMessage, UserMessage
from tools.registry import Registry

SIZES: Final = (10, 100, 1_000, 10_000)
TURNS: Final = 60
IDLE: Final = 500
"""Sessions of ten messages whose memory is measured."""
WINDOW: Final = 32_000
"""Tokens: with the usual 128,000 a thread has to be longer than most to be compacted at all."""
ANA: Final = Actor(team_id="T1", user_id="U0ANA")
_WORDS: Final = (
    "the deploy to staging failed with code {n}, see https://example.com/runs/{n}",
    "客户问订单 ABC-20240520-{n:04d} 什么时候到，金额是 {n} 元",
    "let us move the review to 2026-11-{d:02d} at 14:{d:02d}, room {n}",
    "the budget for project {n} is {n},000 and the owner is Bruno",
    "请把报告 report_{n}.xlsx 发给财务，截止到 12月{d}日",
)


class _Away:
    """No model: compaction then picks sentences."""

    async def ask(self, *_: object, **__: object) -> Any:
        raise ModelError("unavailable")


def _deps(vectors: Any) -> Deps:
    budget = ContextBudget(WINDOW)
    return Deps(
        slack=cast("Any", None),
        model=cast("Any", _Away()),
        registry=Registry([]),
        approvals=Approvals(),
        budget=Budget(look_weight=look_weight(budget), searches=True),
        context=budget,
        count=counter_for("gpt-5-mini"),
        weigh=weigher(counter_for("gpt-5-mini")),
        embedder=lambda: vectors,
    )


def _round(number: int) -> list[Item]:
    """One request with a tool call now and then, in three or four items."""
    text = _WORDS[number % len(_WORDS)].format(n=number, d=1 + number % 28)
    asked = UserMessage(actor=ANA, name="Ana", ts=f"{1_700_000_000 + number}.000100", text=text)
    answer = AssistantMessage(run_id=f"r{number}", text=f"Noted: {text[:60]}")
    if number % 3:
        return [asked, answer]
    call = Request(id=f"r{number}.0.0", name="get_order", arguments=json.dumps({"order_id": f"ABC-20240520-{number:04d}"}))
    result = ToolMessage(call_id=call.id, name=call.name, content=json.dumps({"success": True, "data": {"status": "shipped", "total": number}}), effect="read")
    return [asked, AssistantMessage(run_id=f"r{number}", calls=(call,)), result, answer]


async def _claimed(mailbox: Mailbox, thread: Thread, key: str, text: str) -> Claim:
    mention = Mention(thread=thread, key=key, actor=ANA, ts=f"{1_800_000_000 + int(key)}.000100", text=text, room=RoomKind.CHANNEL)
    await mailbox.deliver(thread, key, mention.model_dump_json().encode())
    claim = await mailbox.claim(thread.shard)
    if claim is None:
        raise RuntimeError("nothing to claim")
    return claim


async def _grown(mailbox: Mailbox, thread: Thread, messages: int, deps: Deps) -> None:
    """A thread of so many messages, compacted and indexed as it would have been on the way."""
    claim = await _claimed(mailbox, thread, "0", "begin")
    claim.taken = len(claim.mail)
    ledger = Ledger(mailbox, claim)
    written = number = 0
    while written < messages:
        items = _round(number)
        number += 1
        written += len(items)
        ledger.session = ledger.session.model_copy(update={"pending": (*ledger.session.pending, *items)})
        if number % 20 == 0 or written >= messages:
            await ledger.commit()
            while (step := decide(ledger.session, time.time(), deps.budget)) and not isinstance(step, act.Wait):
                await (compact(ledger, deps) if isinstance(step, act.Compact) else index(ledger, deps))
    await ledger.commit(release=True)


async def _turns(mailbox: Mailbox, thread: Thread, store: Redis, deps: Deps) -> Json:
    """Figures of `TURNS` turns in one thread."""
    built, worked, written, stable, sizes = [], [], [], [], []
    before = ""
    for number in range(1, TURNS + 1):
        began_bytes = int((await store.info("stats"))["total_net_input_bytes"])
        claim = await _claimed(mailbox, thread, str(number), f"what did we say about run {number * 37 % 900}? 那个订单呢")
        ledger = Ledger(mailbox, claim, kept=deps.kept)
        ledger.session = fold(ledger.session, Mention.model_validate_json(claim.mail[0]), time.time())
        claim.taken = len(claim.mail)
        current = ledger.session.run
        if current is None:
            raise RuntimeError("no run")
        told = system(RoomKind.CHANNEL)
        began, began_cpu = time.perf_counter(), time.process_time()
        context = await context_of(current, ledger, deps, deps.context, system=told, tools=[])
        built.append((time.perf_counter() - began) * 1000)
        worked.append((time.process_time() - began_cpu) * 1000)
        wire = json.dumps(to_wire(told, context.items), ensure_ascii=False)
        if before:
            stable.append(_shared(before, wire) / len(wire))
        before = wire
        sizes.append(context.total)
        await ledger.record(act.ModelAnswered(f"Noted, number {number}.", (), 0))
        await ledger.record(act.PartReplied(last=True))
        await ledger.commit(release=True)
        written.append(int((await store.info("stats"))["total_net_input_bytes"]) - began_bytes)
    return {
        "build_ms": {"p50": statistics.median(built), "p99": _share(built, 0.99), "first": built[0], "cpu_p50": statistics.median(worked)},
        "bytes_per_turn": statistics.median(written),
        "unchanged_prefix": statistics.median(stable),
        "tokens": statistics.median(sizes),
    }


def _share(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


async def context_figures(url: str) -> Json:
    """All figures. `url` is a store of ours alone; it is emptied."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    store: Redis = Redis.from_url(url)
    client = connect(url, timeout=PATIENCE)
    mailbox = Mailbox(client)
    figures: Json = {}
    try:
        await store.flushall()
        before = int((await store.info("memory"))["used_memory"])
        plain = _deps(None)
        for number in range(IDLE):
            await _grown(mailbox, Thread(team_id="T1", channel_id=f"C{number}", thread_ts="1.000001"), 10, plain)
        figures["idle_session_bytes"] = (int((await store.info("memory"))["used_memory"]) - before) / IDLE
        for name, deps in (("words", plain), ("words_and_meaning", _deps(_embedder()))):
            if name == "words_and_meaning" and deps.embedder() is None:
                continue
            figures[name] = {}
            for size in SIZES if name == "words" else SIZES[-2:-1]:
                thread = Thread(team_id="T1", channel_id=f"C{name}{size}", thread_ts="1.000001")
                await _grown(mailbox, thread, size, deps)
                figures[name][str(size)] = await _turns(mailbox, thread, store, deps)
    finally:
        await client.aclose()
        await store.aclose()
    return figures


def _embedder() -> Any:
    from memory.embedder import embedder  # noqa: PLC0415 - loads numpy, which only this part needs

    return embedder()


def print_context(figures: Json) -> None:
    """The figures as a table."""
    print("\nContext of a long thread (window of 32,000 tokens, no model)")
    print(f"{'':<22}{'messages':>9}{'build p50':>11}{'of it CPU':>11}{'p99':>9}{'first':>9}{'tokens':>9}{'prefix':>9}{'bytes/turn':>12}")
    for name in ("words", "words_and_meaning"):
        for size, each in figures.get(name, {}).items():
            build = each["build_ms"]
            times = f"{build['p50']:>8.2f} ms{build['cpu_p50']:>8.2f} ms{build['p99']:>6.1f} ms{build['first']:>6.1f} ms"
            print(f"{name.replace('_', ' '):<22}{size:>9}{times}{each['tokens']:>9.0f}{each['unchanged_prefix']:>8.0%}{each['bytes_per_turn']:>12.0f}")
    print(f"an idle session of ten messages: {figures['idle_session_bytes'] / 1024:.1f} KiB in the store")


async def _main() -> None:
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(measures.scratch())
        embedded = await open_embedded(Path(home))
        stack.push_async_callback(embedded.close)
        print_context(await context_figures(embedded.url))


if __name__ == "__main__":
    run(_main())
