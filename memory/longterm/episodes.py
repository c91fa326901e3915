"""What was done once and how it ended, as one short memory: the person's request in their own words, the tools used, the outcome. Pure.

Made from a finished run's plain values. A run that used no tool did nothing that is worth knowing later; a request with a secret in it is not
kept at all. What the tools answered is never part of it: only their names and whether they did it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory.longterm.access import Audience, Owner
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.own_words import own_words
from memory.longterm.reading_checks import holds_secret

Result = Literal["success", "denied", "failed"]
Outcome = Literal["done", "failed", "stopped", "denied"]

REQUEST: Final = 240
"""Characters of the request that are kept."""
MOST_TOOLS: Final = 6
DAYS: Final = 90
ARROW: Final = " ⇒ "
"""Between the request and what was done."""

_RESULTS: Final[dict[str, dict[Result, str]]] = {
    "en": {"success": "", "denied": " (not approved)", "failed": " (failed)"},
    "zh": {"success": "", "denied": "（未获批准）", "failed": "（失败）"},
}
_OUTCOMES: Final[dict[str, dict[Outcome, str]]] = {
    "en": {"done": "done", "failed": "it failed", "stopped": "stopped", "denied": "not approved"},
    "zh": {"done": "已完成", "failed": "失败了", "stopped": "被停止", "denied": "未获批准"},
}
_TOOL: Final = re.compile(r"[A-Za-z][\w.-]{0,63}")
_WORST: Final[tuple[Result, ...]] = ("failed", "denied", "success")


@dataclass(frozen=True, slots=True)
class Deed:
    """One call of a tool."""

    tool: str
    result: Result
    topic: str = ""
    """What the tool is about, where it says so ("order"); otherwise its own name stands for it."""


def episode(
    *,
    owner: Owner,
    audience: Audience,
    source: Source,
    request: str,
    deeds: Sequence[Deed],
    outcome: Outcome,
    at: float,
    language: str,
) -> Memory | None:
    """The episode of one run; None for a run without tools, without a request in words, or with a secret in it.

    `request`: the person's own words. `at`: when it ended, in seconds since the epoch. `language`: `en` or `zh`. The same run gives the same id.
    """
    done = [deed for deed in deeds if _TOOL.fullmatch(deed.tool)]
    words = " ".join(own_words(request).replace(ARROW.strip(), " ").split())
    if not done or not words or holds_secret(request):
        return None
    tongue = "zh" if language == "zh" else "en"
    asked = words if len(words) <= REQUEST else words[: REQUEST - 1].rstrip() + "…"
    first = next((deed for deed in done if deed.result == "success"), done[0])
    tools = list(dict.fromkeys(deed.tool for deed in done))
    told = [f"{tool}{_RESULTS[tongue][_worst(done, tool)]}" for tool in tools[:MOST_TOOLS]]
    rest = [f"+{len(tools) - MOST_TOOLS}"] if len(tools) > MOST_TOOLS else []
    between, colon = ("、", "：") if tongue == "zh" else (", ", ": ")
    return Memory(
        id=memory_id(owner, "episode", source.thread.id, source.ts or repr(at)),
        owner=owner,
        kind=Kind.EPISODE,
        key=(first.topic or first.tool).casefold(),
        text=f"{asked}{ARROW}{_OUTCOMES[tongue][outcome]}{colon}{between.join([*told, *rest])}"[:500],
        value=",".join(tools[:MOST_TOOLS]),
        audience=audience,
        source=source,
        created=at,
        importance=0.3 if outcome == "done" else 0.4,
        language=tongue,
        expires=at + DAYS * 86_400,
    )


def request_of(memory: Memory) -> str:
    """The person's words of an episode."""
    return memory.text.partition(ARROW)[0].strip()


def first_tool(memory: Memory) -> str:
    """What an episode began with."""
    return memory.value.partition(",")[0]


def _worst(deeds: Sequence[Deed], tool: str) -> Result:
    """How a tool did over all its calls: one that failed and then succeeded has succeeded."""
    results = [deed.result for deed in deeds if deed.tool == tool]
    return "success" if results[-1] == "success" else min(results, key=_WORST.index)
