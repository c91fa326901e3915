"""Arguments checked against a JSON schema that somebody else wrote, such as an MCP server's.

The judge is `jsonschema` (draft 2020-12) with dates, addresses and identifiers checked too. The schema is untrusted: references to
other documents are not followed, and patterns run in an engine whose time cannot explode; a pattern it does not know is left to the
server to check.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry

from tools.explain import FieldError, accepted, shown, unknown_name
from tools.fits import FORMATS, matches
from tools.normal import clean
from tools.shrink import clip

MAX_PROBLEMS: Final = 100
"""Mistakes looked for: a list of thousands of wrong items costs time and tells nothing new."""
_PROBLEM = 200
_ACCEPTED = 160
_FORMATS = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))


@_FORMATS.checks("date-time")
def _is_instant(value: object) -> bool:
    return not isinstance(value, str) or FORMATS["date-time"].fullmatch(value) is not None


@_FORMATS.checks("time")
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or FORMATS["time"].fullmatch(value) is not None


class _Same:
    """A schema as the key of a cache: the very same object, which the key keeps alive."""

    __slots__ = ("schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema


def problems(schema: Mapping[str, Any], arguments: dict[str, Any]) -> list[FieldError]:
    """What in `arguments` `schema` does not accept, by field; empty when all is well. Beyond `MAX_PROBLEMS` nothing more is looked for.

    Raises whatever a broken schema makes the validator raise: that is a fault of the tool, not of the call.
    """
    judge = _judge(_Same(schema))
    if judge.is_valid(arguments):
        return []
    found = sorted(islice(judge.iter_errors(arguments), MAX_PROBLEMS), key=lambda error: [str(part) for part in error.absolute_path])
    return list({(each.field, each.problem): each for error in found for each in _errors(error, schema)}.values())


def whole(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` with numbers like 3.0 written 3: JSON knows one kind of number, and equal arguments have one text."""
    return {name: _whole(inner) for name, inner in arguments.items()}


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return whole(value)
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


@lru_cache(maxsize=512)
def _judge(key: _Same) -> Any:
    Draft202012Validator.check_schema(key.schema)
    return _Validator(dict(key.schema), format_checker=_FORMATS, registry=Registry())


def _errors(error: ValidationError, root: Mapping[str, Any]) -> Iterator[FieldError]:
    path = [str(part) for part in error.absolute_path]
    definitions = {**root.get("definitions", {}), **root.get("$defs", {})}
    where = error.schema if isinstance(error.schema, dict) else {}
    properties = where.get("properties", {})
    if error.validator == "required" and isinstance(error.instance, dict):
        for name in (name for name in where.get("required", ()) if name not in error.instance):
            yield FieldError(_dotted([*path, name]), "", "required, but nothing was sent", clip(accepted(properties.get(name, {}), definitions), _ACCEPTED))
    elif error.validator in {"additionalProperties", "unevaluatedProperties"} and isinstance(error.instance, dict) and where.get(error.validator) is False:
        for name in _extras(error.instance, where):
            hint, names = unknown_name(name, list(properties))
            yield FieldError(_dotted([*path, name]), shown(error.instance[name]), hint, names)
    else:
        yield FieldError(_dotted(path), shown(error.instance), _problem(error), clip(accepted(where, definitions), _ACCEPTED))


def _problem(error: ValidationError) -> str:
    if error.validator == "type":
        return "has the wrong type"
    if error.validator in {"anyOf", "oneOf"}:
        return "fits none of the forms it may have" if error.context else "fits more than one of the forms it may have"
    if error.validator in {"enum", "const"}:
        return "is not one of the accepted values"
    if error.validator == "format":
        return f"does not have the format {error.validator_value}"
    # The validator's own words repeat the value first, whole; what was sent is told apart from them.
    sent = repr(error.instance)
    return clip(clean(error.message).removeprefix(sent).strip(), _PROBLEM)


def _dotted(path: Iterable[str]) -> str:
    return clip(clean(".".join(path)), 100)


def _extras(entries: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    patterns = schema.get("patternProperties", {})
    return [name for name in entries if name not in schema.get("properties", {}) and not any(matches(pattern, name) for pattern in patterns)]


def _pattern(_judge: Any, pattern: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not matches(str(pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(judge: Any, patterns: Mapping[str, Any], entries: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(entries, dict):
        for pattern, schema in patterns.items():
            for name, value in entries.items():
                if matches(pattern, name):
                    yield from judge.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(judge: Any, others: Any, entries: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if not isinstance(entries, dict):
        return
    extras = _extras(entries, schema)
    if isinstance(others, dict):
        for name in extras:
            yield from judge.descend(entries[name], others, path=name)
    elif others is False and extras:
        yield ValidationError(f"{json.dumps(extras)} are not known")


def _unevaluated_properties(judge: Any, others: Any, entries: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    # The library's search for evaluated names uses patterns as they stand; with patterns about, the server has to check.
    if "patternProperties" not in json.dumps(judge.schema):
        yield from Draft202012Validator.VALIDATORS["unevaluatedProperties"](judge, others, entries, schema)


_extend: Any = extend  # it carries no types
_Validator: Final[Any] = _extend(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
    },
)
