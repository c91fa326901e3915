"""What every call of a tool needs to know about it and that never changes, worked out once and kept by the tool's name.

Kept for the tool object itself: a tool that takes over the name (a server of tools that was updated) gets facts of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tools.metrics import Metrics
from tools.tool import Tool

_PAGE_NAMES = ("page", "page_number", "offset", "cursor")


class Facts:
    """The facts about one tool."""

    def __init__(self, tool: Tool, metrics: Metrics) -> None:
        self.tool = tool
        self.attempts = metrics.attempts.labels(tool.name)
        self.duration = metrics.duration.labels(tool.name)
        self.tags = tuple(dict.fromkeys((tool.group, *tool.tags)))
        """What a cached result of it is about."""
        self.void = () if tool.effect == "read" else tool.invalidates or (tool.group,)  # who says nothing changed something of its own kind
        """What it makes void when it runs."""
        self.cacheable = tool.cache_ttl > 0 and tool.effect == "read" and not tool.time_sensitive
        self._own = f"tool:{tool.name}"
        self._upstream = [f"upstream:{tool.upstream}"] if tool.upstream else []

    @cached_property
    def schema(self) -> str:
        """The schema of the arguments as text, part of every cache key."""
        return json.dumps(self.tool.parameters(), sort_keys=True, ensure_ascii=False)

    @cached_property
    def own_pages(self) -> str:
        """A sentence for the model about the tool's own way to give more, empty when it has none."""
        names = self.tool.parameters().get("properties", {})
        page = next((name for name in _PAGE_NAMES if name in names), None)
        return f" {self.tool.name} itself takes {page!r} for what comes after that." if page else ""

    def circuits(self, arguments: Mapping[str, Any]) -> list[str]:
        """The circuit of the tool itself, or of the place this call speaks to, then that of what is behind it."""
        if self.tool.circuit is None:
            return [self._own, *self._upstream]
        place = hashlib.sha256(self.tool.circuit(arguments).encode("utf-8", "replace")).hexdigest()[:16]
        return [f"{self._own}:{place}", *self._upstream]

    def counted_as(self, circuit: str) -> str:
        """The name a circuit is counted under: that of the tool for all the places it speaks to, of which there may be any number."""
        return self._own if circuit.startswith(f"{self._own}:") else circuit


class FactBook:
    """The facts about every tool that was called."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._known: dict[str, Facts] = {}

    def of(self, tool: Tool) -> Facts:
        """The facts about `tool`."""
        facts = self._known.get(tool.name)
        if facts is None or facts.tool is not tool:
            facts = self._known[tool.name] = Facts(tool, self._metrics)
        return facts
