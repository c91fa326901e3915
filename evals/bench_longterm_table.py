"""The figures of long-term memory as tables for people, with the targets beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evals.bench_process import Json

MB: Final = 1e6
PEERS: Final = {"edge": "Steward", "local": "qdrant-client, local mode", "mem0": "mem0"}


def _pair(part: Json | None) -> str:
    return "no model" if part is None else f"{part['p50']:.1f} / {part['p99']:.1f}"


def _ram(each: Json) -> str:
    own = each["rss"]["own"] - each["rss_empty"]["own"]
    return f"{own / each['memories']:.0f} ({each['rss']['own'] / MB:.0f} MB)"


ROWS: Final[tuple[tuple[str, Callable[[Json], str], str], ...]] = (
    ("recall p50 / p99, ms, without embedding", lambda each: _pair(each["recall"]), "p50 ≤ 3"),
    ("    a person's first question, their next", lambda each: f"{each['recall']['first']['p50']:.1f}, {each['recall']['next']['p50']:.1f}", ""),
    ("    of it processor time: the bot's, the engine's", lambda each: f"{each['recall']['cpu']['bot']:.1f}, {each['recall']['cpu']['engine']:.1f}", ""),
    ("recall p50 / p99, ms, with embedding", lambda each: _pair(each.get("recall_embedding")), "p50 ≤ 20"),
    ("the store's search in it p50 / p99, ms", lambda each: _pair(each["search"]), ""),
    ("add p50 / p99, ms, without embedding", lambda each: _pair(each["add"]), ""),
    ("bytes on disk a memory", lambda each: f"{each['disk']:.0f}", ""),
    ("bytes of the engine's memory a memory (all)", _ram, ""),
    ("    file pages kept for it while there is room", lambda each: f"{each['rss']['files'] / MB:.0f} MB", ""),
    ("    grown in the bot's own process", lambda each: f"{each['rss']['bot'] / MB:.0f} MB", ""),
    ("start, s", lambda each: f"{each['start_s']:.2f}", ""),
    ("    to the first recall, to all parts open", lambda each: f"{each['start_first_recall_s']:.2f}, {each['start_open_s']:.2f}", ""),
    ("put in order, memories/s", lambda each: f"{each['ordering']['per_second']:,.0f}", ""),
    ("filled, memories/s", lambda each: f"{each['filled_per_second']:,.0f}", ""),
)


def _print(rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_longterm(figures: Json) -> None:
    """Print all rows, a column for each size, and what the others take, in times of ours."""
    sizes = figures["sizes"]
    head = ["long-term memory of 1,000 people", *(f"{each['memories']:,}" for each in sizes), "target at a million"]
    print()
    _print([head, *([name, *(cell(each) for each in sizes), target] for name, cell, target in ROWS)])
    found = figures.get("peers", {})
    if ours := found.get("edge"):
        rows = [[f"{found['memories']:,} memories of {ours['people']} people", "recall ms", "times", "add ms", "times", "bytes on disk", "MB of memory"]]
        for name, title in PEERS.items():
            if (each := found.get(name)) is None:
                rows.append([title, "is not installed", "", "", "", "", ""])
                continue
            recall, add = each["recall"]["p50"], each["add"]["p50"]
            ratios = f"{recall / ours['recall']['p50']:.1f}", f"{add / ours['add']['p50']:.1f}"
            rows.append([title, f"{recall:.1f}", ratios[0], f"{add:.1f}", ratios[1], f"{each['disk']:.0f}", f"{each['rss'] / MB:.0f}"])
        print()
        _print(rows)
