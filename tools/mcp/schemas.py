"""A server's JSON schema for a tool's arguments, made safe to send to the model and to check arguments against.

Only keywords of JSON Schema pass, in bounded number and depth, with cleaned words. References stay within the document and are
counted as if written out, so that a short schema cannot stand for endless work. Regular expressions are told to the model
but not run here: a foreign pattern can take hours on a short text. What is loosened by that, the server still checks itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tools.mcp.words import hidden, spoken

MAX_SCHEMA: Final = 32_000
"""Characters of JSON."""
MAX_DEPTH: Final = 24
MAX_NODES: Final = 4_000
"""Schemas within the schema, every reference written out."""
MAX_WORDS: Final = 400
"""Characters of one parameter's description."""
_MAX_PROPERTY: Final = 100
_MAX_PATTERN: Final = 120

_SCHEMAS: Final = ("items", "additionalProperties", "contains", "not", "propertyNames", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS: Final = ("properties", "$defs", "definitions", "dependentSchemas")
_NUMBERS: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"}
    | {"minProperties", "maxProperties", "minContains", "maxContains"}
)
_VALUES: Final = frozenset({"type", "required", "enum", "const", "default", "format", "uniqueItems", "deprecated", "dependentRequired"}) | _NUMBERS
_NOT_AT_ROOT: Final = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "default", "description", "dependentSchemas")
"""Models' APIs take a plain object; what these add at the top is left to the server to check."""

Schema = dict[str, Any]


class SchemaRefused(Exception):  # noqa: N818 - an outcome with a reason
    """The schema cannot be used; the message completes "its schema …"."""


def sanitised(raw: Mapping[str, Any]) -> Schema:
    """`raw` as an object schema that is safe to use; a fresh value. Raises `SchemaRefused`."""
    try:
        text = json.dumps(raw, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaRefused("is not JSON") from error
    if len(text) > MAX_SCHEMA:
        raise SchemaRefused(f"has {len(text):,} characters; at most {MAX_SCHEMA:,} are accepted")
    made, reason = _made(text)
    if reason:
        raise SchemaRefused(reason)
    fresh: Schema = json.loads(made)
    return fresh


@lru_cache(maxsize=1024)
def _made(text: str) -> tuple[str, str]:
    """The sanitised schema as JSON, or the reason against it. Kept, because a server's tools are listed again and again and hardly ever change."""
    try:
        return json.dumps(_checked(json.loads(text))), ""
    except SchemaRefused as error:
        return "", str(error)


def _checked(raw: Any) -> Schema:
    root: Schema = _clean(_root(raw), 0)
    for keyword in _NOT_AT_ROOT:
        root.pop(keyword, None)
    root["type"] = "object"
    root.setdefault("properties", {})
    _count(root, root, {}, ())
    try:
        Draft202012Validator.check_schema(root)
    except SchemaError as error:
        raise SchemaRefused(f"is not valid JSON Schema (at {'/'.join(map(str, error.absolute_path)) or 'the top'})") from error
    except RecursionError as error:
        raise SchemaRefused("is nested too deeply") from error
    return root


def _root(schema: Any) -> Schema:
    if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        target = _target(schema, schema["$ref"])
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}} if isinstance(target, dict) else schema
    if not isinstance(schema, dict):
        raise SchemaRefused("is not an object")
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise SchemaRefused("is not of type object")
    if not isinstance(schema.get("properties", {}), dict):
        raise SchemaRefused('has "properties" that are not an object')
    return schema


def _clean(schema: Any, depth: int) -> Any:
    """A schema with what is not known to be harmless left out."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        raise SchemaRefused("holds something that is not a schema")
    if depth > MAX_DEPTH:
        raise SchemaRefused(f"is nested deeper than {MAX_DEPTH} levels")
    out = _plain(schema)
    for key in _MAPS:
        if isinstance(children := schema.get(key), dict):
            out[key] = {_property(name): _clean(child, depth + 1) for name, child in children.items()}
    for key in _LISTS:
        if isinstance(branches := schema.get(key), list):
            out[key] = [_clean(child, depth + 1) for child in branches]
    for key in _SCHEMAS:
        if key == "items" and isinstance(schema.get(key), list):  # how earlier drafts spell it
            out["prefixItems"] = [_clean(child, depth + 1) for child in schema[key]]
        elif key in schema:
            out[key] = _clean(schema[key], depth + 1)
    if "patternProperties" in schema:  # not checked here, so what they allow must not count as additional
        out.pop("additionalProperties", None)
        out.pop("unevaluatedProperties", None)
    return out


def _plain(schema: Schema) -> Schema:
    """The keywords of a schema that hold no schemas."""
    out: Schema = {key: value for key, value in schema.items() if key in _VALUES}
    if "$dynamicRef" in schema or "$recursiveRef" in schema:
        raise SchemaRefused("has dynamic references")
    if isinstance(reference := schema.get("$ref"), str):
        if not reference.startswith("#"):
            raise SchemaRefused("refers to another document")
        out["$ref"] = reference
    if words := _words(schema):
        out["description"] = words
    return out


def _words(schema: Schema) -> str:
    said = schema.get("description")
    words = spoken(said, MAX_WORDS) if isinstance(said, str) else ""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN and pattern.isprintable():
        words = f"{words} (pattern: {pattern})".strip()
    return words


def _property(name: str) -> str:
    if len(name) > _MAX_PROPERTY or any(hidden(char) for char in name):
        raise SchemaRefused("names a parameter with hidden characters, or with more than 100 of them")
    return name


def _count(schema: Any, root: Schema, known: dict[int, int], within: tuple[int, ...]) -> int:
    """How many schemas `schema` stands for when every reference is written out; a reference to what it stands in counts as one."""
    if not isinstance(schema, dict) or id(schema) in within:
        return 1
    if id(schema) not in known:
        if len(within) > 4 * MAX_DEPTH:
            raise SchemaRefused("has references nested too deeply")
        inner = (*within, id(schema))
        total = 1
        for child in _children(schema, root):
            total += _count(child, root, known, inner)
            if total > MAX_NODES:
                raise SchemaRefused(f"stands for more than {MAX_NODES:,} schemas")
        known[id(schema)] = total
    return known[id(schema)]


def _children(schema: Schema, root: Schema) -> list[Any]:
    found = [child for key in _MAPS if key in schema for child in schema[key].values()]
    found += [child for key in _LISTS for child in schema.get(key, ())]
    found += [schema[key] for key in _SCHEMAS if key in schema]
    if "$ref" in schema:
        found.append(_target(root, schema["$ref"]))
    return found


def _target(root: Any, reference: str) -> Any:
    """What a reference into the document points at."""
    if not reference.startswith("#"):
        raise SchemaRefused("refers to another document")
    if reference != "#" and not reference.startswith("#/"):
        raise SchemaRefused("refers to a part by a name of its own, which is not supported")
    node, place = root, "schema"
    for part in reference.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        # Only where schemas stand: a default or a list of choices may hold anything, and was not cleaned.
        place = _place(key) if place == "schema" else "schema"
        node = _step(node, key) if place else None
        if node is None:
            raise SchemaRefused("refers to a part it does not have")
    if place != "schema":
        raise SchemaRefused("refers to a part that is not a schema")
    return node


def _place(keyword: str) -> str:
    return "map" if keyword in _MAPS else "list" if keyword in _LISTS else "schema" if keyword in _SCHEMAS else ""


def _step(node: Any, key: str) -> Any:
    if isinstance(node, dict):
        return node.get(key)
    return node[int(key)] if isinstance(node, list) and key.isascii() and key.isdigit() and int(key) < len(node) else None
