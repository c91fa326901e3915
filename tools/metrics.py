"""Counters of the tool engine, for Prometheus: what was called, how it ended, and how the cache and the breakers did.

Each engine has its own registry, so that two bots in one process (as in tests) do not count into each other. Tool
names come from the registry of tools only; what a model invents is counted as `unknown`.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_SECONDS: Final = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 30.0)


class Metrics:
    """The counters. `render` gives the exposition text."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.calls = Counter("steward_tool_calls", "Tool calls by how they ended", ["tool", "outcome"], registry=self.registry)
        self.attempts = Counter("steward_tool_attempts", "Executions of tools, repeats included", ["tool"], registry=self.registry)
        self.cache = Counter("steward_tool_cache", "Cached reads: hit, miss, stale, negative, shared", ["tool", "event"], registry=self.registry)
        self.circuits = Counter(
            "steward_tool_circuits", "Circuits opened, closed, and calls refused by an open one", ["circuit", "event"], registry=self.registry
        )
        self.answers = Counter("steward_answer_cache", "Answers and model replies from the cache: hit or miss", ["level", "event"], registry=self.registry)
        self.duration = Histogram("steward_tool_seconds", "Seconds from a call's start to its end", ["tool"], buckets=_SECONDS, registry=self.registry)
        self.state_down = Counter("steward_tool_state_down", "Times the shared tool state could not be reached", registry=self.registry)

    def render(self) -> bytes:
        """Everything counted so far, in Prometheus' text format."""
        return generate_latest(self.registry)
