"""Validation errors in words a model can act on: which argument, what is wrong, what was sent, what is accepted."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from tools.normal import clean
from tools.schema import parameters
from tools.shrink import clip
from tools.tool import Tool

MAX_ERRORS: Final = 12
"""Field errors spelled out in one message; the rest is counted."""
_SHOWN_VALUE = 80
_SHOWN_PROBLEM = 200
_SHOWN_ACCEPTED = 160
_FORMATS = {
    "date": "a date like 2024-05-20",
    "time": "a time like 09:30:00",
    "date-time": "a date and time like 2024-05-20T09:30:00+08:00",
    "duration": "a duration like PT1H30M",
    "uri": "a URL like https://example.com/page",
    "email": "an e-mail address",
    "uuid": "a UUID",
}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong argument."""

    field: str
    """Dotted path, e.g. `items.0.name`; empty when the arguments as a whole are wrong."""
    sent: str
    """What was sent, as short JSON; empty when nothing was."""
    problem: str
    accepted: str
    """What would have been accepted, in words; empty when there is nothing to add."""

    def __str__(self) -> str:
        text = f"{self.field or 'arguments'}: {self.problem}" + ("" if self.problem.endswith("?") else ".")
        if self.sent:
            text += f" Sent: {self.sent}."
        return f"{text} Accepted: {self.accepted}." if self.accepted else text


def explain(tool: Tool, error: ValidationError) -> list[FieldError]:
    """Every error pydantic found, one entry per field, in the order of the fields."""
    schema = parameters(tool.args_model)
    return [_field_error(dict(detail), schema) for detail in error.errors(include_url=False, include_context=False)]


def summary(errors: list[FieldError]) -> str:
    """All errors as one short text, a line each."""
    lines = [f"- {error}" for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        lines.append(f"- and {len(errors) - MAX_ERRORS:,} more")
    return "These arguments are not accepted:\n" + "\n".join(lines)


def accepted(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """What a JSON schema accepts, in words: `integer from 1 to 200`, `one of "a", "b"`."""
    if "$ref" in schema:
        return accepted(definitions.get(str(schema["$ref"]).rsplit("/", 1)[-1], {}), {})
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(text for text in (accepted(part, definitions) for part in schema[key]) if text))
    kind = schema.get("type", "")
    if kind == "array":
        inner = accepted(schema.get("items", {}), definitions)
        return f"a list of ({inner})" if inner else "a list"
    if kind == "object":
        names = ", ".join(schema.get("properties", {}))
        return f"an object with {names}" if names else "an object"
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    words = {"string": "text", "boolean": "true or false"}.get(kind, str(kind)) + _range(schema)
    return words + f" matching {schema['pattern']}" if "pattern" in schema else words


def unknown_name(name: str, names: list[str]) -> tuple[str, str]:
    """What is wrong with an argument called `name` where only `names` exist, and what is accepted."""
    close = difflib.get_close_matches(name[:128], names, n=1)
    hint = f"no such argument; did you mean {close[0]}?" if close else "no such argument"
    return hint, ("only " + ", ".join(names)) if names else "no arguments at all"


def _range(schema: dict[str, Any]) -> str:
    if "minLength" in schema or "maxLength" in schema:
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if most is None:
            return f" of at least {least} characters"
        return f" of {least} to {most} characters" if least else f" of at most {most} characters"
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    bounds = [f"{word} {value}" for word, value in (("at least", low), ("more than", above), ("at most", high), ("less than", below)) if value is not None]
    return " " + " and ".join(bounds) if bounds else ""


def _field_error(detail: dict[str, Any], schema: dict[str, Any]) -> FieldError:
    location = tuple(detail["loc"])
    field = clip(clean(".".join(str(part) for part in location)), 100)
    where, definitions = _locate(schema, location)
    if detail["type"] == "missing":
        return FieldError(field, "", "required, but nothing was sent", clip(accepted(where, definitions), _SHOWN_ACCEPTED))
    if detail["type"] == "extra_forbidden":
        hint, names = unknown_name(str(location[-1]), list(_locate(schema, location[:-1])[0].get("properties", {})))
        return FieldError(field, shown(detail["input"]), hint, names)
    problem = clip(clean(detail["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip("."), _SHOWN_PROBLEM)
    return FieldError(field, shown(detail["input"]), problem, clip(accepted(where, definitions), _SHOWN_ACCEPTED))


def _locate(schema: dict[str, Any], location: tuple[int | str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The part of `schema` that describes `location`, or an empty one when pydantic's path has no counterpart (unions)."""
    definitions = schema.get("$defs", {})
    where = schema
    for part in location:
        where = next((child for branch in _branches(where, definitions) if (child := _child(branch, part))), {})
    return where, definitions


def _branches(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """`schema` itself, or the alternatives it offers (an optional argument is one of a type and null)."""
    plain = definitions.get(str(schema["$ref"]).rsplit("/", 1)[-1], {}) if "$ref" in schema else schema
    alternatives = plain.get("anyOf") or plain.get("oneOf")
    return [part for branch in alternatives for part in _branches(branch, definitions)] if alternatives else [plain]


def _child(schema: dict[str, Any], part: int | str) -> dict[str, Any]:
    found = schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
    return found if isinstance(found, dict) else {}


def shown(value: Any) -> str:
    """What was sent, as short JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return clip(clean(text), _SHOWN_VALUE)
