"""How well calls are read: the corpus of right and damaged calls through `prepare`, and its texts through json-repair beside it.

    python -m evals.calls

Prints the share of right calls accepted with their exact values, and of damaged calls repaired to exactly what was meant or refused
naming the fault. For json-repair, the same texts are read by it instead of by `tools.lenient`, then validated in the same way.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import structlog
from json_repair import repair_json

from tests.corpus.calls.corpus import damaged_fault, gold_fault, read, registry, verdict
from tools import ToolResult
from tools.fits import same
from tools.grammar import NotAnObject, strict
from tools.lenient import parse
from tools.prepare import prepare


def main() -> int:
    """Print the figures; 1 when a call became something else than it must."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    gold = [call for case in read("gold") for call in case["calls"]]
    damaged = read("damaged")
    accepted = sum(not gold_fault(call) for call in gold)
    repairs, refusals = [case for case in damaged if "repaired" in case], [case for case in damaged if "repaired" not in case]
    repaired, refused = (sum(not damaged_fault(case) for case in group) for group in (repairs, refusals))
    wrong = len(damaged) - repaired - refused
    nofit = [case for case in read("nofit") if "name" in case]
    unknown = sum(isinstance(prepare(registry(), case["name"], "{}"), ToolResult) for case in nofit)
    print(f"tools {len(registry())}")
    print(f"right calls accepted with exact values    {_share(accepted, len(gold))}")
    print(f"damaged calls repaired to exact values    {_share(repaired, len(repairs))}")
    print(f"damaged calls refused naming the fault    {_share(refused, len(refusals))}")
    print(f"damaged calls with any other outcome      {_share(wrong, len(damaged))}")
    print(f"names no tool answers to, refused         {_share(unknown, len(nofit))}")
    _compare(damaged)
    return int(bool(wrong) or accepted < len(gold) or unknown < len(nofit))


def _compare(damaged: list[dict[str, Any]]) -> None:
    texts = [case for case in damaged if _is_damaged_text(case["raw"])]
    counts = Counter(_by_json_repair(case) for case in texts)
    print(f"\nof the {len(texts)} texts that are not one JSON object, json-repair alone:")
    for name in ("the object that was written", "no object", "another object, or one where several can be meant"):
        print(f"  gives {name:<50} {_share(counts[name], len(texts))}")
    through = [verdict(case, prepare(registry(), case["tool"], json.dumps(repair_json(case["raw"], return_objects=True)))) for case in texts]
    right = sum(not each or (each.startswith("refused") and "repaired" not in case) for each, case in zip(through, texts, strict=True))
    wrong = sum(each.startswith(("accepted", "became")) for each in through)
    for name, count in (("as it must be", right), ("accepted, but wrong", wrong), ("refused, though it could be read", len(texts) - right - wrong)):
        print(f"  then validated: {name:<42} {_share(count, len(texts))}")


def _by_json_repair(case: dict[str, Any]) -> str:
    guess = repair_json(case["raw"], return_objects=True)
    if not isinstance(guess, dict) or not guess:
        return "no object"
    try:
        meant = parse(case["raw"]).value
    except NotAnObject:
        return "another object, or one where several can be meant"
    return "the object that was written" if same(guess, meant) else "another object, or one where several can be meant"


def _is_damaged_text(raw: str) -> bool:
    try:
        return not isinstance(strict(raw), dict)
    except (json.JSONDecodeError, NotAnObject):
        return True


def _share(part: int, whole: int) -> str:
    return f"{part:>4} of {whole:<4} {part / whole:7.1%}" if whole else "none"


if __name__ == "__main__":
    sys.exit(main())
