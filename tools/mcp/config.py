"""What an operator says about one MCP server: how to reach it, and which of its tools may do what.

These are plain values. They are made from the configuration file elsewhere; here is what they mean. Nothing a server says about
itself ever changes them: a tool that is not listed is a write, whatever its hints claim.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tools.tool import Effect

PREFIX: Final = r"^[A-Za-z][A-Za-z0-9_-]{0,31}$"
"""A server's prefix: short enough to leave room for the tool's own name."""
MAX_NAME: Final = 64
"""Characters a tool's name may have in the model's API."""
HIDDEN: Final = "[hidden]"
_SHORTEST_SECRET: Final = 6
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class McpTool:
    """What the operator says about one tool of a server."""

    effect: Effect | Literal["off"] = "write"
    """`off`: not offered."""
    keyed: bool = False
    """The server applies one `_meta.idempotencyKey` once only, so that an uncertain write may be repeated."""
    timeout: float | None = None
    """Seconds one call may take; the server's when absent."""
    title: str = ""
    """Short name on cards; made from the tool's name when empty."""
    cache_ttl: float = 0.0
    """Seconds a read may be answered from the cache."""


UNLISTED: Final = McpTool()
"""What holds for a tool the operator does not mention: it is a write."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: a `command` that speaks over its standard input and output, or a `url` that speaks streamable HTTP."""

    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Beside the few variables every program needs, all that the command sees."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 30.0
    """Seconds one call may take unless its tool says otherwise."""
    prefix: str = ""
    group: str = ""
    description: str = ""
    """One line about the group, for finding the right tools."""
    tools: Mapping[str, McpTool] = field(default_factory=dict)
    """By the server's own names."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that must never be shown: taken out of everything the server says in errors and on its standard error."""

    def setting(self, tool: str) -> McpTool:
        """What holds for the server's tool `tool`."""
        return self.tools.get(tool, UNLISTED)

    def offered_name(self, tool: str) -> str:
        """The name under which `tool` is offered: legal, at most 64 characters, and never another tool's.

        A name that had to be changed carries a part of its fingerprint: were it only made legal, a server could later offer a tool
        whose name comes out the same, and would take over what was allowed to the first.
        """
        whole = f"{self.prefix or self.name}_{tool}"
        if tool and len(whole) <= MAX_NAME and not _ILLEGAL.search(whole):
            return whole
        mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        plain = _ILLEGAL.sub("_", whole)[: MAX_NAME - len(mark) - 1].rstrip("_-")
        return f"{plain}_{mark}"

    @property
    def offered_group(self) -> str:
        """The group its tools belong to."""
        return self.group or self.name

    def hide(self, text: str) -> str:
        """`text` without the server's secrets."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, HIDDEN)
        return text


def clashes(servers: Iterable[McpServer]) -> tuple[McpServer, McpServer] | None:
    """Two servers whose tools could get equal names (`a` with `b_c`, `a_b` with `c`), if there are any."""
    known = [(f"{server.prefix or server.name}_", server) for server in servers]
    for index, (one, server) in enumerate(known):
        for other, second in known[index + 1 :]:
            if one.startswith(other) or other.startswith(one):
                return server, second
    return None
