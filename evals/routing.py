"""What two-step routing saves at forty tools: tokens of definitions before and after, and the rounds it adds.

    python -m evals.routing [--seed N]

Each request of the task set names the tools it takes (or none). It is played twice: with all forty tools offered in every round, and
with the groups offered first. The router is scripted: it opens the groups of the tools it needs as a real model would, now and then a
wrong one first, one by one or all at once, by a seeded die. Nothing is said about a model's choice here, only about what is on offer
when it is needed and what that costs; the calls of `open_tools` and their answers, which stay in the conversation, are counted too.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memory.tokens import count, count_json
from tools.registry import NO_FITTING_TOOL, OPEN_TOOLS, Registry
from tools.routing import Offer, RoutingLimits, answer_meta, offer
from tools.tool import Tool

TASKS: Final = Path(__file__).parent / "tasks" / "routing.json"
SEED: Final = 7
LIMITS: Final = RoutingLimits()
Allowed = Callable[[Tool], bool]
WRONG_FIRST: Final = 0.2
"""How often the router opens a group it does not need before the right one."""
ONE_BY_ONE: Final = 0.5
"""How often it opens the groups of a request that needs several one after the other."""


def _everyone(_: Tool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Task:
    """One request and the tools it takes, in order; none when no tool fits."""

    id: str
    language: str
    text: str
    tools: tuple[str, ...]


@dataclass(slots=True)
class Played:
    """What one request cost."""

    rounds: int = 0
    definitions: int = 0
    """Tokens of the definitions, over all its rounds."""
    talk: int = 0
    """Tokens of the calls and answers routing itself adds, over all the rounds they are sent in."""
    largest: int = 0
    """Tokens of the definitions of its most costly round."""
    missing: list[str] = field(default_factory=list)
    """Tools that were not on offer when they were needed."""
    declined: bool = False
    """It ended in `no_fitting_tool`."""
    _added: int = 0

    def round(self, given: Offer, added: int = 0) -> None:
        """Pay for one request to the model; `added` tokens of call and answer are sent again in each later one."""
        cost = sum(count_json(schema) for schema in given.schemas)
        self.rounds += 1
        self.definitions += cost
        self.largest = max(self.largest, cost)
        self.talk += self._added
        self._added += added


def read_tasks(path: Path = TASKS) -> list[Task]:
    """The task set."""
    return [Task(each["id"], each["language"], each["text"], tuple(each["tools"])) for each in json.loads(path.read_text(encoding="utf-8"))]


def play_all_offered(registry: Registry, task: Task, allowed: Allowed) -> Played:
    """The request with every tool offered in every round: one round per tool, one for the answer."""
    played = Played()
    given = offer(registry, allowed=allowed, limits=RoutingLimits(max_tools=10_000, max_definition_tokens=10**9))
    for tool in task.tools:
        played.round(given)
        if tool not in given.names:
            played.missing.append(tool)
    played.round(given)
    return played


def play_routed(registry: Registry, task: Task, dice: random.Random, allowed: Allowed) -> Played:
    """The request with the groups offered first."""
    played = Played()
    opened: tuple[str, ...] = ()
    groups = {tool.name: tool.group for tool in registry}
    others = [group for group in registry.groups() if group not in {groups[name] for name in task.tools}]
    if dice.random() < WRONG_FIRST:
        opened = _opens(registry, played, opened, [dice.choice(others)], allowed)
    together = dice.random() >= ONE_BY_ONE
    for name in task.tools:
        given = offer(registry, allowed=allowed, opened=opened, limits=LIMITS)
        if name not in given.names:
            wanted = [groups[each] for each in task.tools] if together else [groups[name]]
            opened = _opens(registry, played, opened, list(dict.fromkeys(wanted)), allowed)
            given = offer(registry, allowed=allowed, opened=opened, limits=LIMITS)
        if name not in given.names:
            played.missing.append(name)
        played.round(given)
    given = offer(registry, allowed=allowed, opened=opened, limits=LIMITS)
    if not task.tools and given.routed:
        arguments = json.dumps({"reason": task.text}, ensure_ascii=False)
        answer = answer_meta(NO_FITTING_TOOL, arguments, given)
        played.declined = answer.result.success and not answer.opened
        played.round(given, count(arguments) + count(answer.result.for_model()))
    played.round(given)
    return played


def _opens(registry: Registry, played: Played, opened: tuple[str, ...], wanted: Sequence[str], allowed: Allowed) -> tuple[str, ...]:
    given = offer(registry, allowed=allowed, opened=opened, limits=LIMITS)
    arguments = json.dumps({"groups": list(wanted)})
    answer = answer_meta(OPEN_TOOLS, arguments, given)
    played.round(given, count(arguments) + count(answer.result.for_model()))
    return (*opened, *answer.opened)


def measure(registry: Registry, tasks: Sequence[Task], seed: int = SEED, allowed: Allowed = _everyone) -> dict[str, Any]:
    """Play every task both ways; the figures by name, counts in tokens and shares from 0 to 1. Tools that are not `allowed` are missing."""
    dice = random.Random(seed)  # noqa: S311 - a scripted model, not a secret
    before = [play_all_offered(registry, task, allowed) for task in tasks]
    after = [play_routed(registry, task, dice, allowed) for task in tasks]
    nothing = [played for task, played in zip(tasks, after, strict=True) if not task.tools]
    needed = sum(len(task.tools) for task in tasks)
    missing = sum(len(played.missing) for played in after)
    was, now, talk = (sum(each) for each in zip(*((one.definitions, two.definitions, two.talk) for one, two in zip(before, after, strict=True)), strict=True))
    rounds_before, rounds_after = sum(each.rounds for each in before), sum(each.rounds for each in after)
    return {
        "tasks": len(tasks),
        "tools": len(registry),
        "groups": len(registry.groups()),
        "definitions_per_round_before": was / rounds_before,
        "definitions_per_round_after": now / rounds_after,
        "definitions_per_request_before": was / len(tasks),
        "definitions_per_request_after": now / len(tasks),
        "largest_round_after": max(each.largest for each in after),
        "talk_per_request": talk / len(tasks),
        "saved_per_round": 1 - (now / rounds_after) / (was / rounds_before),
        "saved_per_request": 1 - now / was,
        "saved_with_talk": 1 - (now + talk) / was,
        "rounds_before": rounds_before / len(tasks),
        "rounds_after": rounds_after / len(tasks),
        "rounds_added": (rounds_after - rounds_before) / len(tasks),
        "reachable": 1 - missing / needed,
        "missing": sorted({name for each in after for name in each.missing}),
        "nothing_fits": len(nothing),
        "declined": sum(each.declined for each in nothing),
    }


def _table(figures: dict[str, Any]) -> str:
    def share(name: str) -> str:
        return f"{figures[name]:.1%}"

    rows = [
        ("", "all offered", "two steps", "saved"),
        (
            "tokens of definitions per round",
            f"{figures['definitions_per_round_before']:,.0f}",
            f"{figures['definitions_per_round_after']:,.0f}",
            share("saved_per_round"),
        ),
        (
            "tokens of definitions per request",
            f"{figures['definitions_per_request_before']:,.0f}",
            f"{figures['definitions_per_request_after']:,.0f}",
            share("saved_per_request"),
        ),
        (
            "    with what routing itself says",
            "",
            f"{figures['definitions_per_request_after'] + figures['talk_per_request']:,.0f}",
            share("saved_with_talk"),
        ),
        ("most costly round", "", f"{figures['largest_round_after']:,}", ""),
        ("rounds per request", f"{figures['rounds_before']:.2f}", f"{figures['rounds_after']:.2f}", f"+{figures['rounds_added']:.2f}"),
        ("needed tools on offer when needed", "", share("reachable"), ""),
        ("requests no tool fits, declined", "", f"{figures['declined']} of {figures['nothing_fits']}", ""),
    ]
    head = f"{figures['tasks']} requests over {figures['tools']} tools in {figures['groups']} groups"
    return "\n".join([head, *(f"{name:<36}{before:>13}{after:>13}{saved:>9}" for name, before, after, saved in rows)])


def main() -> None:
    """Print the table; fail when a needed tool could not be reached or a request that no tool fits did not end so."""
    parser = argparse.ArgumentParser(description="Tokens saved by two-step routing at forty tools.")
    parser.add_argument("--seed", type=int, default=SEED, help="of the scripted router's die")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args()
    figures = measure(Registry.load("evals.forty"), read_tasks(), chosen.seed)
    print(json.dumps(figures) if chosen.json else _table(figures))
    if figures["reachable"] < 1 or figures["declined"] < figures["nothing_fits"]:
        raise SystemExit(f"not every request could be served: {', '.join(figures['missing']) or 'a wrong tool was forced'}")


if __name__ == "__main__":
    main()
