"""Whether a JSON value satisfies a JSON schema, judged strictly and cheaply, to choose between the alternatives a schema offers.

This is no validator: the tool's own model, or `tools.foreign` for schemas of others, has the last word. It knows the keywords
that tell alternatives apart, takes JSON's types literally (`"5"` is no number, `true` is not 1), and ignores the rest.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

MAX_HOPS: Final = 200
"""Schemas visited inside each other before a walk stops looking; a schema may refer to itself without end."""
MAX_STEPS: Final = 20_000
"""Schemas visited in one walk: nested alternatives multiply."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_RANGE: Final = {"minimum": operator.ge, "maximum": operator.le, "exclusiveMinimum": operator.gt, "exclusiveMaximum": operator.lt}
_OFFSET = r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?" + _OFFSET
FORMATS: Final = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "time": re.compile(_TIME),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "date-time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]" + _TIME),
}
"""How dates, times and UUIDs are written; whether there is such a day is for the validator to say."""


class TooMuch(Exception):  # noqa: N818 - a signal inside this package
    """A walk took more than `MAX_STEPS`."""


class Schemas:
    """The schemas of one document: follows its references and counts the steps of one walk over it."""

    def __init__(self, root: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> None:
        self._root = root
        self._definitions = definitions or {}
        self._steps = 0

    def step(self) -> None:
        """Count a visit. Raises `TooMuch`."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooMuch

    def resolve(self, schema: Any) -> dict[str, Any]:
        """`schema` with local references followed; an empty one when it says nothing (`true`) or points nowhere."""
        for _ in range(MAX_HOPS):
            if not isinstance(schema, dict):
                return {"enum": []} if schema is False else {}
            if "$ref" not in schema:
                return schema
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            target = self._target(str(schema["$ref"]))
            schema = {**target, **beside} if isinstance(target, dict) else target
        return {}

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return {}
        parts = [part.replace("~1", "/").replace("~0", "~") for part in reference[1:].split("/")[1:]]
        if len(parts) == 2 and parts[1] in self._definitions:
            return self._definitions[parts[1]]
        found: Any = self._root
        for part in parts:
            found = found.get(part) if isinstance(found, Mapping) else None
        return dict(found) if isinstance(found, Mapping) else {}


def fits(value: Any, schema: Any, schemas: Schemas, hops: int = 0) -> bool:
    """Whether `value` satisfies `schema` as far as can be told here. Raises `TooMuch`."""
    schemas.step()
    plain = schemas.resolve(schema)
    if hops > MAX_HOPS or not plain:
        return True
    if not _has_type(value, plain.get("type")) or not _is_chosen(value, plain):
        return False
    for key in ("anyOf", "oneOf"):
        if key in plain and not any(fits(value, part, schemas, hops + 1) for part in _parts(plain[key])):
            return False
    if not all(fits(value, part, schemas, hops + 1) for part in _parts(plain.get("allOf"))):
        return False
    match value:
        case bool() | None:
            return True
        case int() | float():
            return _in_range(value, plain)
        case str():
            return _text_fits(value, plain)
        case list():
            return _list_fits(value, plain, schemas, hops)
        case dict():
            return _object_fits(value, plain, schemas, hops)
        case _:
            return False


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and `true` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def matches(pattern: str, text: str) -> bool:
    """Whether a schema's `pattern` is found in `text`; `True` when it uses what the engine does not know.

    Patterns come from other people's servers, so they run in an engine whose time grows with the text and never explodes.
    """
    validator = _compiled(pattern)
    if validator is None:
        return True
    try:
        return validator.isinstance_python(text)
    except UnicodeError:
        return False


def kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types a schema names, or the one its keywords imply."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if isinstance(named, list):
        return tuple(str(each) for each in named)
    return ("object",) if "properties" in schema else ("array",) if "items" in schema else ()


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> SchemaValidator | None:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _parts(schemas: Any) -> list[Any]:
    return schemas if isinstance(schemas, list) else []


def _has_type(value: Any, named: Any) -> bool:
    if named is None:
        return True
    names = named if isinstance(named, list) else [named]
    return any(isinstance(value, _TYPES.get(str(name), (object,))) and (name == "boolean" or not isinstance(value, bool)) for name in names)


def _is_chosen(value: Any, schema: Mapping[str, Any]) -> bool:
    if "const" in schema and not same(value, schema["const"]):
        return False
    return "enum" not in schema or any(same(value, choice) for choice in _parts(schema["enum"]))


def _in_range(value: float, schema: Mapping[str, Any]) -> bool:
    limits = ((schema.get(key), allowed) for key, allowed in _RANGE.items())
    return all(allowed(value, limit) for limit, allowed in limits if isinstance(limit, (int, float)) and not isinstance(limit, bool))


def _text_fits(text: str, schema: Mapping[str, Any]) -> bool:
    least, most = schema.get("minLength", 0), schema.get("maxLength", len(text))
    if isinstance(least, int) and isinstance(most, int) and not least <= len(text) <= most:
        return False
    form = FORMATS.get(str(schema.get("format")))
    if form is not None and not form.fullmatch(text):
        return False
    return matches(schema["pattern"], text) if isinstance(schema.get("pattern"), str) else True


def _list_fits(items: list[Any], schema: Mapping[str, Any], schemas: Schemas, hops: int) -> bool:
    first = _parts(schema.get("prefixItems"))
    rest = schema.get("items", {})
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(items))
    if isinstance(least, int) and isinstance(most, int) and not least <= len(items) <= most:
        return False
    return all(fits(item, first[place] if place < len(first) else rest, schemas, hops + 1) for place, item in enumerate(items))


def _object_fits(entries: dict[str, Any], schema: Mapping[str, Any], schemas: Schemas, hops: int) -> bool:
    properties = schema.get("properties", {})
    if any(name not in entries for name in _parts(schema.get("required"))):
        return False
    others = {} if "patternProperties" in schema else schema.get("additionalProperties", {})
    return all(fits(value, properties.get(name, others), schemas, hops + 1) for name, value in entries.items())
