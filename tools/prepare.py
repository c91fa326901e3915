"""The pure half of a tool call: from what the model wrote to validated arguments, or to a result that says how to do better.

`prepare` never runs anything. Its outcome is either a `Prepared` call or a finished `ToolResult`, so a bad call takes the same
road as a good one. `canonical` and `digest` give the arguments the identity an approval is bound to.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

import structlog
from pydantic import BaseModel, ValidationError

from tools.explain import FieldError, explain, summary
from tools.normal import clean
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.shrink import clip
from tools.tool import Tool

MAX_RAW: Final = 64 * 1024
"""Characters of raw arguments that are looked at."""
_KEPT_RAW = 1000
_LISTED_NAMES = 40

logger = structlog.get_logger(__name__)


class InvalidArguments(Exception):  # noqa: N818 - an outcome with a value, not a fault
    """Arguments do not fit the tool's schema; `errors` has one entry per field, at least one."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__(summary(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may be executed: the tool exists and the arguments fit it."""

    tool: Tool
    arguments: dict[str, Any]
    """Validated and JSON-compatible, defaults filled in: what cards show, digests cover and `execute` takes."""
    raw: str
    """What the model wrote."""


def prepare(registry: Registry, name: str, raw_arguments: str) -> Prepared | ToolResult:
    """Find the tool and validate the arguments the model wrote for it (JSON; an empty text counts as `{}`)."""
    tool = registry.get(name)
    if tool is None:
        return _unknown(registry, name, raw_arguments)
    if len(raw_arguments) > MAX_RAW:
        message = f"The arguments of {tool.name!r} are {len(raw_arguments):,} characters long; at most {MAX_RAW:,} are accepted. Send less."
        return ToolResult.fail(tool.name, ErrorCode.TOO_LARGE, message, Suggestion.FIX_ARGUMENTS, raw_arguments=kept(raw_arguments))
    try:
        arguments = validate(tool, _parsed(raw_arguments))
    except _NotAnObject as error:
        message = f"The arguments of {tool.name!r} {error}. Send one JSON object, for example {_example(tool)}."
        return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, message, Suggestion.FIX_ARGUMENTS, raw_arguments=kept(raw_arguments))
    except InvalidArguments as error:
        return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, str(error), Suggestion.FIX_ARGUMENTS, raw_arguments=kept(raw_arguments))
    except Exception:  # a validator of the tool's own may raise anything
        logger.exception("tool.validator_failed", tool=tool.name)
        message = f"The arguments of {tool.name!r} could not be checked because of a fault in the tool."
        return ToolResult.fail(tool.name, ErrorCode.INTERNAL, message, Suggestion.GIVE_UP, raw_arguments=kept(raw_arguments))
    return Prepared(tool, arguments, raw_arguments)


def validate(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` checked against the tool's schema, as JSON-compatible data with defaults filled in.

    Raises `InvalidArguments` with one entry per wrong field; a form can show them beside its inputs.
    """
    return dump(typed(tool, arguments))


def typed(tool: Tool, arguments: dict[str, Any]) -> BaseModel:
    """`arguments` as the tool's own model, with the Python types its author asked for. Raises `InvalidArguments`."""
    try:
        return tool.args_model.model_validate(arguments)
    except ValidationError as error:
        raise InvalidArguments(explain(tool, error)) from error


def dump(model: BaseModel) -> dict[str, Any]:
    """A validated model as JSON-compatible data. Raises `InvalidArguments` when it holds what JSON cannot carry."""
    try:
        arguments: dict[str, Any] = model.model_dump(mode="json", by_alias=True)
        canonical(arguments)
    except ValueError as error:
        problem = "hold a character or number JSON cannot carry (half of an emoji, NaN or infinity)"
        raise InvalidArguments([FieldError("", "", problem, "valid text and finite numbers")]) from error
    return arguments


def canonical(arguments: dict[str, Any]) -> str:
    """`arguments` as the one JSON text that equal arguments share: keys sorted, no spaces, no escapes beyond JSON's own.

    Raises `ValueError` for NaN, infinity and lone surrogates, which have no place in JSON.
    """
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text.encode()
    return text


def digest(tool: Tool, arguments: dict[str, Any], session_id: str, run_id: str, call_id: str) -> str:
    """SHA-256 (hex) over the tool's name and schema, the canonical arguments, and the session, run and call they belong to.

    Two calls share a digest only if they would do the same thing in the same place; an approval is bound to it.
    """
    parts = {"tool": tool.name, "schema": tool.schema(), "arguments": arguments, "session": session_id, "run": run_id, "call": call_id}
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def kept(raw: str) -> str:
    """Raw arguments as they are kept in a result: whole when their size is acceptable, else their beginning."""
    return clean(raw if len(raw) <= MAX_RAW else clip(raw, _KEPT_RAW))


class _NotAnObject(Exception):  # noqa: N818 - see InvalidArguments
    """The raw arguments are not one JSON object; the message completes "The arguments of 'x' …"."""


def _parsed(raw: str) -> dict[str, Any]:
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise _NotAnObject("are nested too deeply") from error
    except json.JSONDecodeError as error:
        near = clip(clean(raw[max(error.pos - 20, 0) : error.pos + 20]), 40)
        raise _NotAnObject(f"are not valid JSON ({error.msg} at character {error.pos}, near {near!r})") from error
    except ValueError as error:  # an integer of thousands of digits
        raise _NotAnObject("hold a number that is too long") from error
    if not isinstance(value, dict):
        raise _NotAnObject(f"are {_kind(value)}, not an object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON readers disagree on which of two equal keys counts: one must not be shown on a card while the other is sent.
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _NotAnObject(f"name {clip(clean(twice), 60)!r} twice")
    return entries


def _no_constant(word: str) -> Any:
    raise _NotAnObject(f"hold {word}, which is not JSON")


def _kind(value: Any) -> str:
    return "null" if value is None else {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")


def _example(tool: Tool) -> str:
    required = tool.schema()["function"]["parameters"].get("required", [])
    return json.dumps(dict.fromkeys(required, "...")) if required else "{}"


def _unknown(registry: Registry, name: str, raw_arguments: str) -> ToolResult:
    shown = clip(clean(name), 100)
    close = registry.close_to(name)
    names = registry.names
    listed = ", ".join(names[:_LISTED_NAMES]) + (f" and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else "")
    message = f"There is no tool {shown!r}."
    if close:
        message += f" Did you mean {' or '.join(repr(match) for match in close)}?"
    message += f" The tools are: {listed}." if names else " No tools are available."
    return ToolResult.fail(shown, ErrorCode.UNKNOWN_TOOL, message, Suggestion.USE_OTHER_TOOL, raw_arguments=kept(raw_arguments))
