"""The pure half of a tool call: from what the model wrote to validated arguments, or to a result that says how to do better.

`prepare` never runs anything. Its outcome is either a `Prepared` call or a finished `ToolResult`, so a bad call takes the same
road as a good one: the tool is found, the text read (`tools.lenient`), markers for other calls' results are told apart
(`tools.placeholders`), spellings settled (`tools.coerce`), the whole validated strictly and judged by the tool's own rules
(`tools.check`). `canonical` and `digest` give the arguments the identity an approval is bound to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from tools.check import InvalidArguments, canonical, check, dump, typed, validate
from tools.explain import FieldError, shown, summary
from tools.faults import report
from tools.lenient import NotAnObject, Parsed, parse
from tools.normal import clean
from tools.placeholders import placeholders
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.shrink import clip
from tools.tool import Tool

__all__ = ["MAX_RAW", "InvalidArguments", "Prepared", "canonical", "digest", "dump", "kept", "prepare", "typed", "validate"]

MAX_RAW: Final = 64 * 1024
"""Characters of raw arguments that are looked at."""
_KEPT_RAW = 1000
_LISTED_NAMES = 40
_SUGGESTED = 3
_MAX_CHANGES = 20
_PREFIXES = ("functions.", "function.", "default_api.", "tools.", "tool.", "api.")
"""What models put before a name because of how tools were written in their training."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may be executed: the tool exists and the arguments fit it."""

    tool: Tool
    arguments: dict[str, Any]
    """Validated and JSON-compatible, defaults filled in: what cards show, digests cover and `execute` takes."""
    raw: str
    """What the model wrote."""
    repaired: bool = False
    """The arguments were read from a text that was not JSON, or other spellings of values were settled: whoever approves should look twice."""
    changes: tuple[str, ...] = ()
    """How the reading differs from what was written, a few words each; they may hold values of arguments."""


def prepare(registry: Registry, name: str, raw_arguments: str, *, offered: Collection[str] | None = None) -> Prepared | ToolResult:
    """Find the tool and validate the arguments the model wrote for it (JSON; an empty text counts as `{}`).

    `offered`: the names that may be told when there is no such tool; all of the registry's when it is not given.
    """
    tool = registry.get(name) or _same_name(registry, name)
    if tool is None:
        return _unknown(registry, name, raw_arguments, registry.names if offered is None else sorted(offered))
    if len(raw_arguments) > MAX_RAW:
        message = f"The arguments of {tool.name!r} are {len(raw_arguments):,} characters long; at most {MAX_RAW:,} are accepted. Send less."
        return ToolResult.fail(tool.name, ErrorCode.TOO_LARGE, message, Suggestion.FIX_ARGUMENTS, raw_arguments=kept(raw_arguments))
    try:
        parsed = parse(raw_arguments)
        if marked := list(placeholders(parsed.value)):
            return _dependent(tool, parsed.value, marked, raw_arguments)
        arguments, changes = check(tool, parsed.value)
    except NotAnObject as error:
        message = f"The arguments of {tool.name!r} {error}. Send one JSON object, for example {_example(tool)}."
        return _invalid(tool, message, raw_arguments)
    except InvalidArguments as error:
        return _invalid(tool, str(error), raw_arguments)
    except Exception as error:  # noqa: BLE001 - a validator or rule of the tool's own may raise anything; it is logged
        reference = report(logger, "tool.validator_failed", error, function=tool.function, tool=tool.name)
        message = f"The arguments of {tool.name!r} could not be checked because of a fault in the tool (reference {reference})."
        return ToolResult.fail(tool.name, ErrorCode.INTERNAL, message, Suggestion.GIVE_UP, raw_arguments=kept(raw_arguments))
    repaired = bool(parsed.repairs) or any(not change.trivial for change in changes)
    return Prepared(tool, arguments, raw_arguments, repaired, _told(tool, name, parsed, tuple(map(str, changes[:_MAX_CHANGES]))))


def _told(tool: Tool, name: str, parsed: Parsed, changes: tuple[str, ...]) -> tuple[str, ...]:
    renamed = () if name == tool.name or name in tool.aliases else (f"tool name {clip(clean(name), 60)!r} read as {tool.name!r}",)
    return (*renamed, *parsed.repairs, *changes)


def _invalid(tool: Tool, message: str, raw_arguments: str) -> ToolResult:
    return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, message, Suggestion.FIX_ARGUMENTS, raw_arguments=kept(raw_arguments))


def _dependent(tool: Tool, arguments: dict[str, Any], marked: list[tuple[str, str]], raw_arguments: str) -> ToolResult:
    """Refuse a call that waits for another one, together with whatever else is wrong with it."""
    errors = [FieldError(path, shown(text), "stands for the result of another call", "the value itself") for path, text in marked]
    try:
        check(tool, arguments)
    except InvalidArguments as error:
        places = {path for path, _ in marked}
        errors += [each for each in error.errors if each.field not in places]
    hint = f"Calls of one answer run independently: make the other call first, read its result, then call {tool.name!r} with the real value."
    return _invalid(tool, f"{summary(errors)}\n{hint}", raw_arguments)


def digest(tool: Tool, arguments: dict[str, Any], session_id: str, run_id: str, call_id: str) -> str:
    """SHA-256 (hex) over the tool's name and schema, the canonical arguments, and the session, run and call they belong to.

    Two calls share a digest only if they would do the same thing in the same place; an approval is bound to it.
    """
    parts = {"tool": tool.name, "schema": tool.schema(), "arguments": arguments, "session": session_id, "run": run_id, "call": call_id}
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def kept(raw: str) -> str:
    """Raw arguments as they are kept in a result: whole when their size is acceptable, else their beginning."""
    return clean(raw if len(raw) <= MAX_RAW else clip(raw, _KEPT_RAW))


def _example(tool: Tool) -> str:
    required = tool.parameters().get("required", [])
    return json.dumps(dict.fromkeys(required, "...")) if required else "{}"


def _same_name(registry: Registry, name: str) -> Tool | None:
    """The one read that `name` spells in another style (`getOrder`, `functions.get_order`). A write is never guessed."""
    wanted = _style(_bare(name))
    found = {id(tool): tool for tool in registry if any(_style(known) == wanted for known in (tool.name, *tool.aliases))} if wanted else {}
    tools = list(found.values())
    return tools[0] if len(tools) == 1 and tools[0].effect == "read" else None


def _bare(name: str) -> str:
    return next((name[len(prefix) :] for prefix in _PREFIXES if name.startswith(prefix)), name)[:128]


def _style(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _unknown(registry: Registry, name: str, raw_arguments: str, names: Sequence[str]) -> ToolResult:
    shown = clip(clean(name), 100)
    close = [match for match in registry.close_to(_bare(name), limit=len(registry)) if match in names][:_SUGGESTED] if names else []
    listed = ", ".join(names[:_LISTED_NAMES]) + (f" and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else "")
    message = f"There is no tool {shown!r}."
    if close:
        message += f" Did you mean {' or '.join(repr(match) for match in close)}?"
    message += f" The tools are: {listed}." if names else " No tools are available."
    return ToolResult.fail(shown, ErrorCode.UNKNOWN_TOOL, message, Suggestion.USE_OTHER_TOOL, raw_arguments=kept(raw_arguments))
