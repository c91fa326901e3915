"""Reads the corpus of calls: tools, calls that are right, calls no tool fits, and damaged calls with what must become of them.

`gold.json`: what a person asked, and the calls a good model makes, each accepted with exactly `expected` (default: `arguments`).
`nofit.json`: names no tool answers to, and requests for which nothing is to be called. `damaged.json`: raw arguments that are
`repaired` to exactly this, refused naming a field (`refused_field`), or refused with a reason (`refused_with`). `foreign.json`: tools
as somebody else's server would describe them; those in `declared.py` are our own.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from tests.corpus.calls.declared import DECLARED
from tools import Registry, Tool, ToolResult
from tools.fits import same
from tools.prepare import Prepared, prepare

HERE = Path(__file__).parent


class AnyObject(BaseModel):
    """The model of a tool whose arguments its JSON schema describes."""

    model_config = ConfigDict(extra="allow")


def read(name: str) -> Any:
    """One file of the corpus."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


@cache
def registry() -> Registry:
    """Every tool of the corpus."""
    foreign = [
        Tool(
            name=name,
            description=f"{name.replace('_', ' ').capitalize()}, as a server of somebody else describes it.",
            args_model=AnyObject,
            effect=entry["effect"],
            function=print,
            input_schema=entry["schema"],
        )
        for name, entry in read("foreign").items()
    ]
    return Registry([*DECLARED, *foreign])


def raw_of(call: dict[str, Any]) -> str:
    """What the model wrote for a call that is right."""
    return call["raw"] if "raw" in call else json.dumps(call["arguments"], ensure_ascii=False)


def gold_fault(call: dict[str, Any]) -> str:
    """Why a call that is right was not accepted with its exact values; empty when it was."""
    outcome = prepare(registry(), call.get("name", call["tool"]), raw_of(call))
    if isinstance(outcome, ToolResult):
        return outcome.error_message or "refused"
    wanted = call.get("expected", call.get("arguments", {}))
    if outcome.tool.name != call["tool"] or not same(outcome.arguments, wanted):
        return f"became {outcome.tool.name} {outcome.arguments}, not {wanted}"
    return "counted as repaired" if outcome.repaired else ""


def damaged_fault(case: dict[str, Any]) -> str:
    """What went wrong with a damaged call; empty when it became what it must."""
    return verdict(case, prepare(registry(), case["tool"], case["raw"]))


def verdict(case: dict[str, Any], outcome: Prepared | ToolResult) -> str:
    """How `outcome` differs from what must become of the damaged call; empty when it does not."""
    if isinstance(outcome, Prepared):
        if "repaired" not in case:
            return f"accepted as {outcome.arguments}"
        return "" if same(outcome.arguments, case["repaired"]) else f"became {outcome.arguments}"
    message = outcome.error_message or ""
    if "refused_field" in case:
        named = any(line.startswith((f"- {case['refused_field']}:", f"- {case['refused_field']}.")) for line in message.splitlines())
        return "" if named else f"refused without naming the field: {message}"
    if "refused_with" in case:
        return "" if case["refused_with"] in message else f"refused with other words: {message}"
    return f"refused: {message}"
