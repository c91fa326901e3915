"""The benchmark's figures as a table for people, with the targets beside them."""

from __future__ import annotations

from collections.abc import Iterator

from evals.bench_engine import rows as engine_rows
from evals.bench_process import Json

Row = tuple[str, str, str, str]

MB = 1024 * 1024


def _ms(figures: Json, *names: str) -> str:
    return " / ".join(f"{figures[name] * 1000:.1f}" for name in names) + " ms"


def _rows(figures: Json) -> Iterator[Row]:
    bot, plain = figures["saturated"]["steward"], figures["saturated"]["plain"]
    ack, own, memory, keys = figures["acknowledgement"], figures["own_time"], figures["memory"], figures["keys"]
    yield "acknowledgement at 50 events/s, p50 / p99", _ms(ack["steward"], "p50", "p99"), _ms(ack["plain"], "p50", "p99"), ""
    yield "mention to answer at 25 mentions/s, p50 / p99", _ms(ack["steward"], "answer_p50", "answer_p99"), _ms(ack["plain"], "answer_p50", "answer_p99"), ""
    yield "own time per turn, p50 / p99", _ms(own["steward"], "p50", "p99"), _ms(own["plain"], "p50", "p99"), "p50 ≤ 15 ms"
    yield "own time per turn with a tool, p50 / p99", _ms(own["steward_with_a_tool"], "p50", "p99"), "", ""
    yield "turns per second per core, saturated", f"{bot['per_core']:.0f}", f"{plain['per_core']:.0f}", "≥ 60"
    yield "    of the plain thing's", f"{bot['per_core'] / plain['per_core']:.2f}", "1", "≥ 0.5"
    yield "turns per second here, all processes together", f"{bot['per_second']:.0f}", f"{plain['per_second']:.0f}", ""
    yield "processor time per turn (and the store's)", f"{bot['cpu'] * 1000:.1f} ms (+ {bot['store_cpu'] * 1000:.1f})", _ms(plain, "cpu"), ""
    yield "deliveries per second", f"{figures['deliveries']['per_second']:.0f}", "", ""
    yield f"memory at start / after {figures['turns']} turns", _held(memory["steward"]), _held(memory["plain"]), ""
    yield f"keys at start / after {figures['turns']} turns", f"{keys['start']['all']} / {keys['after']['all']}", "", ""
    yield "    that never expire", f"{keys['start']['lasting']} / {keys['after']['lasting']}", "", ""
    yield from engine_rows(figures["engine"])
    yield "start of `steward run` to ready line", f"{figures['start']['ready']:.1f} s", "", "≤ 5 s"
    yield "    to connected (processor time in all)", f"{figures['start']['connected']:.1f} s ({figures['start']['cpu']:.1f} s)", "", "≤ 5 s"


def _held(memory: Json) -> str:
    return f"{memory['start'] / MB:.0f} / {memory['after'] / MB:.0f} MB"


def print_table(figures: Json) -> None:
    """Print all rows."""
    rows = [("", "Steward", "plain thing", "target"), *_rows(figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
