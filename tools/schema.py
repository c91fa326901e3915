"""The JSON schema of a tool's arguments, as the model sees it: pydantic's own, untitled and closed.

Titles only cost tokens. Every object is closed, nested ones too, so that a misspelt key is a mistake the model hears of rather than
a value that is silently left out.

A schema is computed once per arguments model and kept as text, because it is sent with every model call and is part of every
approval's digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_MAPS_OF_SCHEMAS = ("properties", "$defs", "patternProperties", "dependentSchemas")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "contains", "not", "propertyNames")


def parameters(args_model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema (an object) of `args_model`; a fresh copy each time."""
    schema: dict[str, Any] = json.loads(_text(args_model))
    return schema


@lru_cache(maxsize=1024)
def _text(args_model: type[BaseModel]) -> str:
    schema = _closed(_untitled(args_model.model_json_schema(mode="validation")))
    schema.pop("description", None)  # the function's own description says it already
    schema.setdefault("properties", {})
    return json.dumps(schema, ensure_ascii=False)


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    return map_children({key: value for key, value in schema.items() if key != "title"}, _untitled)


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    # A model that takes further keys on purpose (`extra="allow"`) says so itself.
    closed = {"additionalProperties": False, **schema} if schema.get("type") == "object" and "properties" in schema else schema
    return map_children(closed, _closed)


def map_children(schema: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A copy of `schema` with `change` applied to each schema directly inside it.

    Only schema positions are visited: an argument may itself be called "title", and a default may hold anything.
    """
    copy = dict(schema)
    for key in _MAPS_OF_SCHEMAS:
        if isinstance(copy.get(key), dict):
            copy[key] = {name: change(child) if isinstance(child, dict) else child for name, child in copy[key].items()}
    for key in _LISTS_OF_SCHEMAS:
        if isinstance(copy.get(key), list):
            copy[key] = [change(child) if isinstance(child, dict) else child for child in copy[key]]
    for key in _SCHEMAS:
        if isinstance(copy.get(key), dict):
            copy[key] = change(copy[key])
    return copy
