"""The JSON schema of a tool's arguments, as the model sees it: pydantic's own, without the titles that only cost tokens.

A schema is computed once per arguments model and kept as text, because it is sent with every model call and is part of every
approval's digest.
"""

from __future__ import annotations

import json
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
    schema = _untitled(args_model.model_json_schema(mode="validation"))
    schema.pop("description", None)  # the function's own description says it already
    schema.setdefault("properties", {})
    return json.dumps(schema, ensure_ascii=False)


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    # Only schema positions are visited: an argument may itself be called "title", and a default may hold anything.
    plain = {key: value for key, value in schema.items() if key != "title"}
    for key in _MAPS_OF_SCHEMAS:
        if isinstance(plain.get(key), dict):
            plain[key] = {name: _untitled(child) if isinstance(child, dict) else child for name, child in plain[key].items()}
    for key in _LISTS_OF_SCHEMAS:
        if isinstance(plain.get(key), list):
            plain[key] = [_untitled(child) if isinstance(child, dict) else child for child in plain[key]]
    for key in _SCHEMAS:
        if isinstance(plain.get(key), dict):
            plain[key] = _untitled(plain[key])
    return plain
