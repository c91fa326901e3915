"""Arguments held against a tool: strictly by its schema, then by its rules; every mistake in one answer.

A tool of ours has a pydantic model, which is asked in its strict JSON mode, so that `"5"`, `1.0` or `"yes"` never become something
else behind our back. A tool described by somebody else has a JSON schema, and its arguments stay the JSON they are. What is not
accepted as it stands gets one chance to be settled by `tools.coerce` before it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from tools import foreign
from tools.coerce import Change, coerce
from tools.explain import FieldError, explain, shown, summary
from tools.tool import Rule, Tool

_EXACT: Final = 2**53
"""From here on floats skip integers."""
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class InvalidArguments(Exception):  # noqa: N818 - an outcome with a value, not a fault
    """Arguments do not fit the tool's schema or rules; `errors` has one entry per field, at least one."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__(summary(errors))
        self.errors = errors


def check(tool: Tool, arguments: dict[str, Any]) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """`arguments` as JSON-compatible data that fits the tool, defaults filled in, and what was read differently from how it was sent.

    Raises `InvalidArguments`, or whatever a validator or rule of the tool's own raises.
    """
    try:
        return _valid(tool, arguments), ()
    except InvalidArguments as error:
        settled, changes = coerce(arguments, _schema(tool))
        if not changes:
            raise InvalidArguments([*error.errors, *_judged_apart(tool, arguments, error.errors)]) from error
    try:
        return _valid(tool, settled), changes
    except InvalidArguments as error:
        errors = [*error.errors, *_judged_apart(tool, settled, error.errors)]
        raise InvalidArguments(_as_sent(errors, changes)) from error


def validate(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` checked against the tool's schema and rules, as JSON-compatible data with defaults filled in.

    Raises `InvalidArguments` with one entry per wrong field; a form can show them beside its inputs.
    """
    return check(tool, arguments)[0]


def typed(tool: Tool, arguments: dict[str, Any]) -> BaseModel:
    """`arguments` (JSON-compatible) as the tool's own model, with the Python types its author asked for.

    Nothing is converted that JSON could have said itself. Raises `InvalidArguments`.
    """
    text = _text(arguments)
    if tool.input_schema is not None:
        if errors := foreign.problems(tool.input_schema, arguments):
            raise InvalidArguments(errors)
        return tool.args_model.model_validate(arguments)
    try:
        return tool.args_model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise InvalidArguments(explain(tool, error)) from error


def dump(model: BaseModel) -> dict[str, Any]:
    """A validated model as JSON-compatible data. Raises `InvalidArguments` when it holds what JSON cannot carry."""
    arguments: dict[str, Any] = model.model_dump(mode="json", by_alias=True)
    _text(arguments)
    return arguments


def canonical(arguments: dict[str, Any]) -> str:
    """`arguments` as the one JSON text that equal arguments share: keys sorted, no spaces, no escapes beyond JSON's own.

    Raises `ValueError` for NaN, infinity and lone surrogates, which have no place in JSON.
    """
    text = _ENCODER.encode(arguments)
    text.encode()
    return text


def _text(arguments: dict[str, Any]) -> str:
    try:
        return canonical(arguments)
    except ValueError as error:
        problem = "hold a character or number JSON cannot carry (half of an emoji, NaN or infinity)"
        raise InvalidArguments([FieldError("", "", problem, "valid text and finite numbers")]) from error


def _valid(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    if tool.input_schema is not None:
        _text(arguments)
        if errors := foreign.problems(tool.input_schema, arguments) or _judged(tool.rules, arguments, arguments):
            raise InvalidArguments(errors)
        return foreign.whole(arguments)
    args = typed(tool, arguments)
    valid = dump(args)
    if errors := [*_lost(arguments, valid, ""), *_judged(tool.rules, args, valid)]:
        raise InvalidArguments(errors)
    return valid


def _judged(rules: Iterable[Rule], args: Any, sent: Any) -> list[FieldError]:
    found = [problem for rule in rules for problem in rule(args)]
    return [FieldError(each.field, _sent(sent, each.field), each.message.rstrip("."), each.accepted) for each in found]


def _judged_apart(tool: Tool, arguments: dict[str, Any], errors: list[FieldError]) -> list[FieldError]:
    """What the rules say about the arguments nothing is wrong with, as far as they make sense without the others."""
    wrong = {error.field.partition(".")[0] for error in errors}
    rules = [rule for rule in tool.rules if (names := getattr(rule, "names", ())) and not wrong & set(names)]
    rest = {name: value for name, value in arguments.items() if name not in wrong}
    if not rules or "" in wrong:
        return []
    try:
        args = rest if tool.input_schema is not None else typed(tool, rest)
    except InvalidArguments:  # a wrong one is required: without it there is nothing to judge
        return []
    return [each for each in _judged(rules, args, rest) if each not in errors]


def _lost(sent: Any, valid: Any, path: str) -> Iterable[FieldError]:
    """What even the strict mode of the model reads as something else: digits a float cannot hold, a number in a text taken for a moment."""
    if isinstance(sent, dict) and isinstance(valid, dict):
        for name, value in sent.items():
            if name in valid:
                yield from _lost(value, valid[name], f"{path}.{name}" if path else name)
    elif isinstance(sent, list) and isinstance(valid, list) and len(sent) == len(valid):
        for place, (one, other) in enumerate(zip(sent, valid, strict=True)):
            yield from _lost(one, other, f"{path}.{place}")
    elif isinstance(sent, bool) and isinstance(valid, (int, float)) and not isinstance(valid, bool):
        yield FieldError(path, shown(sent), "true or false is no number", "a number")
    elif isinstance(sent, int) and isinstance(valid, float) and abs(sent) > _EXACT and sent != valid:
        yield FieldError(path, shown(sent), "has more digits than can be kept", f"a number up to {_EXACT:,}")
    elif isinstance(sent, str) and isinstance(valid, str) and "T" in valid and sent != valid and sent.strip().lstrip("+-").replace(".", "", 1).isdigit():
        yield FieldError(path, shown(sent), "is a number, not a moment", "a date and time like 2024-05-20T09:30:00+08:00")


def _sent(arguments: Any, path: str) -> str:
    """What was sent for the argument at the dotted `path`, as short JSON; empty when nothing was."""
    found = arguments
    for part in path.split(".") if path else ():
        inner = dict(enumerate(found)) if isinstance(found, list) else found if isinstance(found, dict) else {}
        found = inner.get(int(part) if isinstance(found, list) and part.isdigit() else part)
    return shown(found) if path and found is not None else ""


def _as_sent(errors: list[FieldError], changes: tuple[Change, ...]) -> list[FieldError]:
    """The errors with the values as the model wrote them, not as they were read."""
    before = {change.path: change.before for change in changes if change.what == "value"}
    return [FieldError(each.field, shown(before[each.field]), each.problem, each.accepted) if each.field in before and each.sent else each for each in errors]


def _schema(tool: Tool) -> Mapping[str, Any]:
    return tool.input_schema if tool.input_schema is not None else _made(tool.args_model)


@lru_cache(maxsize=1024)
def _made(args_model: type[BaseModel]) -> dict[str, Any]:
    return args_model.model_json_schema(mode="validation", schema_generator=_Exact)


class _Exact(GenerateJsonSchema):
    """The model's schema, which says of decimals in which texts they may come; pydantic's own lets any text pass."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:  # noqa: ARG002 - the library's signature
        return {"anyOf": [self.float_schema(core_schema.float_schema()), {"type": "string", "pattern": r"^[+-]?[0-9]+(\.[0-9]+)?$"}]}
