"""The strict form of a schema: the subset of JSON Schema an OpenAI-like endpoint can hold a model to while it writes.

In that subset every property is required and every object is closed; an argument that may be left out takes `null` instead, which
the engine drops again before it validates. What the endpoint cannot enforce (a length, a look-ahead in a pattern, a default) is said
in the property's description; what cannot be said at all (an object with free keys, a value of any type) means the tool is offered
without strict mode. Whatever fits the strict form, without those nulls, fits the original but for the limits named in `UNENFORCED`,
which the engine checks itself.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

UNENFORCED: Final = ("minLength", "maxLength", "uniqueItems")
"""Limits that are moved into the description; a `pattern` with look-around and a `format` that is not known are too."""
MAX_PROPERTIES: Final = 5000
MAX_ENUM_VALUES: Final = 1000
MAX_DEPTH: Final = 10
"""The endpoint's limits for one schema; one beyond them is offered without strict mode."""

_KEPT = ("pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems")
_NOT_REGULAR = re.compile(r"\(\?(?!:)|\\[1-9]")
"""Look-around and back-references."""
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_TYPES = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})
_SILENT = frozenset({"title", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$comment", "discriminator"})
_READ = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf", "$ref", "description", "format"}
)
_DEFS = ("$defs", "definitions")
_NULL = {"type": "null"}


class _Unsayable(Exception):  # noqa: N818 - an outcome: the schema has no strict form
    """The schema cannot be expressed in the strict subset."""


def strict_schema(parameters: dict[str, Any]) -> dict[str, Any] | None:
    """`parameters` (the JSON schema of an object) in strict form, or `None` when it has none or is no schema. The argument is left as it is."""
    definitions = {f"#/{key}/{name}": name for key in _DEFS if isinstance(parameters.get(key), dict) for name in parameters[key]}
    writer = _Writer(definitions)
    try:
        Draft202012Validator.check_schema(parameters)
        if parameters.get("type") != "object":
            return None
        strict = writer.schema({key: value for key, value in parameters.items() if key not in _DEFS}, 1)
        inner = {name: writer.schema(child, 1) for key in _DEFS for name, child in (parameters.get(key) or {}).items()}
    except (_Unsayable, SchemaError, RecursionError):
        return None
    if writer.properties > MAX_PROPERTIES or writer.enum_values > MAX_ENUM_VALUES:
        return None
    return {**strict, "$defs": inner} if inner else strict


class _Writer:
    """Writes strict schemas and counts what the endpoint limits."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self.properties = 0
        self.enum_values = 0
        self._definitions = definitions

    def schema(self, source: Any, depth: int) -> dict[str, Any]:
        """The strict form of one schema at object depth `depth`."""
        if not isinstance(source, dict) or set(source) - _READ - _SILENT - set(_KEPT) - set(UNENFORCED):
            raise _Unsayable
        if depth > MAX_DEPTH:
            raise _Unsayable
        if "allOf" in source:
            return self._merged(source, depth)
        notes: list[str] = []
        strict = self._core(source, depth, notes)
        description = _sentences(str(source.get("description") or ""), *notes)
        if description:
            if "$ref" in strict:
                strict = {"anyOf": [strict]}  # the endpoint takes nothing beside a $ref
            strict["description"] = description
        return strict

    def _core(self, source: dict[str, Any], depth: int, notes: list[str]) -> dict[str, Any]:
        if "$ref" in source:
            name = self._definitions.get(source["$ref"])
            if name is None and source["$ref"] != "#":
                raise _Unsayable
            if set(source) - {"$ref", "description"} - _SILENT:
                raise _Unsayable
            return {"$ref": "#" if name is None else f"#/$defs/{name}"}
        choices = source.get("anyOf") or source.get("oneOf")
        if choices is not None:
            # "Exactly one" and "at least one" are the same where a discriminator keeps the choices apart.
            if "type" in source or "enum" in source or ("oneOf" in source and ("discriminator" not in source or "anyOf" in source)):
                raise _Unsayable
            if set(source) - {"anyOf", "oneOf", "description"} - _SILENT:
                raise _Unsayable
            return {"anyOf": [self.schema(choice, depth) for choice in choices]}
        return self._typed(source, depth, notes)

    def _typed(self, source: dict[str, Any], depth: int, notes: list[str]) -> dict[str, Any]:
        strict: dict[str, Any] = {}
        values = source.get("enum", [source["const"]] if "const" in source else None)
        if values is not None:
            if "enum" in source and "const" in source:
                raise _Unsayable
            if not values or any(isinstance(value, (dict, list)) for value in values):
                raise _Unsayable
            self.enum_values += len(values)
            strict["type"] = source.get("type") or _type_of(values)
            strict["enum"] = list(values)
        else:
            strict["type"] = source.get("type")
        kinds = strict["type"] if isinstance(strict["type"], list) else [strict["type"]]
        if not kinds or not all(isinstance(kind, str) and kind in _TYPES for kind in kinds):
            raise _Unsayable
        strict |= {key: source[key] for key in _KEPT if key in source}
        if _NOT_REGULAR.search(str(strict.get("pattern", ""))):
            notes.append(f"Must match {strict.pop('pattern')}.")
        if "format" in source:
            if source["format"] in _FORMATS:
                strict["format"] = source["format"]
            else:
                notes.append(f"Format: {source['format']}.")
        notes += _limits(source)
        if "object" in kinds:
            strict |= self._object(source, depth)
        if "array" in kinds:
            strict["items"] = self.schema(source.get("items"), depth)
        return strict

    def _object(self, source: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = source.get("properties")
        if source.get("additionalProperties", False) is not False or (properties is None and "additionalProperties" not in source):
            raise _Unsayable
        required = source.get("required", [])
        if set(required) - set(properties or {}):
            raise _Unsayable
        self.properties += len(properties or {})
        fields = {name: self._property(child, depth + 1, optional=name not in required) for name, child in (properties or {}).items()}
        return {"properties": fields, "required": list(fields), "additionalProperties": False}

    def _property(self, source: Any, depth: int, *, optional: bool) -> dict[str, Any]:
        strict = self.schema(source, depth)
        if not optional:
            return strict
        default = source.get("default")
        if default not in (None, "", [], {}):
            said = strict.pop("description", "")
            strict["description"] = _sentences(said, f"Null for the default, {json.dumps(default, ensure_ascii=False)}.")
        return _nullable(strict)

    def _merged(self, source: dict[str, Any], depth: int) -> dict[str, Any]:
        inner = source["allOf"]
        outer = {key: value for key, value in source.items() if key != "allOf"}
        if not isinstance(inner, list) or len(inner) != 1 or not isinstance(inner[0], dict) or set(outer) - {"description"} - _SILENT:
            raise _Unsayable
        return self.schema({**inner[0], **outer}, depth)


def _sentences(first: str, *more: str) -> str:
    if not first or not more:
        return first or " ".join(more)
    return " ".join((first if first[-1] in ".!?。！？" else f"{first}.", *more))


def _nullable(strict: dict[str, Any]) -> dict[str, Any]:
    """`strict`, taking null too."""
    if "anyOf" in strict:
        return strict if any(_takes_null(choice) for choice in strict["anyOf"]) else {**strict, "anyOf": [*strict["anyOf"], _NULL]}
    if _takes_null(strict):
        return strict
    kind = strict.get("type")
    if "enum" in strict or "$ref" in strict or kind == "object":
        plain = {key: value for key, value in strict.items() if key != "description"}
        described = {"description": strict["description"]} if "description" in strict else {}
        return {"anyOf": [plain, _NULL], **described}
    return {**strict, "type": [*(kind if isinstance(kind, list) else [kind]), "null"]}


def _takes_null(strict: dict[str, Any]) -> bool:
    kind = strict.get("type")
    return (kind == "null" or (isinstance(kind, list) and "null" in kind)) and ("enum" not in strict or None in strict["enum"])


def _type_of(values: list[Any]) -> Any:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kinds = list(dict.fromkeys(names[type(value)] for value in values))
    return kinds[0] if len(kinds) == 1 else kinds


def _limits(source: dict[str, Any]) -> list[str]:
    notes = []
    least, most = source.get("minLength"), source.get("maxLength")
    if least and most is not None:
        notes.append(f"{least} to {most} characters.")
    elif most is not None:
        notes.append(f"At most {most} characters.")
    elif least:
        notes.append("Not empty." if least == 1 else f"At least {least} characters.")
    if source.get("uniqueItems"):
        notes.append("No item twice.")
    return notes
