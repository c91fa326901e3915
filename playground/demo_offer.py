"""What a request offers: the tools with their schemas, and how a wish's arguments fit the schema of its tool.

The demo model never calls a tool that was not offered and never sends an argument that the schema does not name.
"""

from __future__ import annotations

import re
from typing import Any, Final

from playground.demo_routing import OPEN_TOOLS, group_for, groups_of
from playground.demo_words import STATES

SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "expression": ("expression", "expr", "formula"),
    "timezone": ("timezone", "tz", "time_zone", "zone"),
    "order_id": ("order_id", "order", "order_number", "id"),
    "reason": ("reason", "why"),
    "address": ("address", "new_address", "shipping_address"),
    "channel": ("channel", "channel_id"),
    "text": ("text", "message", "body"),
    "status": ("status", "state"),
    "limit": ("limit", "count"),
    "place": ("place", "city", "location"),
    "url": ("url", "address", "link"),
    "query": ("query", "q", "words", "text"),
    "when": ("when", "time", "at"),
    "reminder_id": ("reminder_id", "reminder", "id"),
}
_STREET: Final = ("street", "line1", "address_line1", "line_1")
_POSTCODE: Final = ("postcode", "postal_code", "zip", "zip_code")


class Offer:
    """The tools of one request. `usable` is False when there are none or `tool_choice` forbids them."""

    def __init__(self, request: dict[str, Any]) -> None:
        functions = [tool["function"] for tool in request.get("tools") or ()]
        self.schemas: dict[str, dict[str, Any]] = {function["name"]: function.get("parameters") or {} for function in functions}
        self.usable = bool(self.schemas) and request.get("tool_choice") != "none"
        self.parallel = request.get("parallel_tool_calls") is not False
        opener = next((function for function in functions if function["name"] == OPEN_TOOLS), None)
        self.groups: dict[str, str] = groups_of(opener) if opener is not None else {}
        """The groups of tools that can be opened, with one line each."""

    def offers(self, tool: str) -> bool:
        """Whether a tool may be called now."""
        return self.usable and tool in self.schemas

    def group_of(self, tool: str) -> str:
        """The group to open for a tool that is not offered; "" when there is none for it."""
        return group_for(tool, self.groups) if self.usable and tool not in self.schemas else ""

    def fit(self, tool: str, wanted: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The arguments by the schema's names, and the required names still missing."""
        schema = self.schemas[tool]
        properties: dict[str, Any] = schema.get("properties") or {}
        out: dict[str, Any] = {}
        for name, value in wanted.items():
            if value == "":
                continue
            target = next((synonym for synonym in SYNONYMS.get(name, (name,)) if synonym in properties), None)
            if target is None:
                out |= _split_address(str(value), properties) if name == "address" else {}
                continue
            definition = _resolve(properties[target], schema)
            if definition.get("properties"):
                out[target] = _split_address(str(value), definition["properties"])
                continue
            allowed = _enum(definition, schema)
            chosen = _state(str(value), allowed) if allowed else value
            if chosen is not None:
                out[target] = chosen
        missing = [name for name in schema.get("required") or () if name not in out]
        # In the strict form of a schema everything is required, and what may be left out takes null.
        out |= {name: None for name in missing if _nullable(properties.get(name) or {}, schema)}
        return out, [name for name in missing if name not in out]


def _resolve(definition: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    reference = definition.get("$ref")
    if isinstance(reference, str):
        found = (schema.get("$defs") or {}).get(reference.rsplit("/", 1)[-1])
        return found if isinstance(found, dict) else {}
    return definition


def _nullable(definition: dict[str, Any], schema: dict[str, Any]) -> bool:
    parts = [definition, *(_resolve(part, schema) for key in ("anyOf", "oneOf") for part in definition.get(key) or ())]
    return any("null" in ([kind] if isinstance(kind := part.get("type"), str) else kind or ()) for part in parts)


def _enum(definition: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    parts = [definition, *(_resolve(part, schema) for key in ("anyOf", "oneOf", "allOf") for part in definition.get(key) or ())]
    return [value for part in parts for value in part.get("enum") or () if isinstance(value, str)]


def _state(value: str, allowed: list[str]) -> str | None:
    """The allowed state that a person's word means: itself, or one with a word in common."""
    if value in allowed:
        return value
    words = set(STATES.get(value, ()))
    return next((state for state in allowed if words & {state, *STATES.get(state, ())}), None)


def _split_address(address: str, properties: dict[str, Any]) -> dict[str, Any]:
    """A written address in the parts a schema asks for: street, then city with its postcode, then country."""
    parts = [part.strip() for part in re.split(r"[,，\n]", address) if part.strip()]
    out: dict[str, Any] = {}
    street = next((name for name in _STREET if name in properties), None)
    postcode = next((name for name in _POSTCODE if name in properties), None)
    if street and parts:
        out[street] = parts.pop(0)
    if "country" in properties and len(parts) > 1:
        out["country"] = parts.pop()
    code = next((match for part in parts if (match := re.search(r"\b[A-Z]{0,2}-?\d{4,6}\b", part))), None)
    if postcode and code:
        out[postcode] = code[0]
        parts = [rest for part in parts if (rest := part.replace(code[0], "").strip())]
    if "city" in properties and parts:
        out["city"] = ", ".join(parts)
    return out
