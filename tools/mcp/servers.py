"""All MCP servers of an installation: started together, their tools kept up to date in the registry, stopped without orphans.

A server that is down neither delays nor prevents the start of the program. Until it answers, the tools confirmed earlier are offered
as they were confirmed; calls to them say that the service cannot be reached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import structlog

from tools.mcp import results
from tools.mcp.config import McpServer
from tools.mcp.connection import Connection, Timing
from tools.mcp.definition import Definition, Unusable
from tools.mcp.offer import OFFERED, Verdict, judge, made
from tools.mcp.pins import Confirmed, Pins, PinsError
from tools.mcp.words import one_line
from tools.tool import Effect, Tool, ToolContext, ToolFailed, ToolLoadError

log = structlog.get_logger(__name__)


class Offers(Protocol):
    """What is needed of the registry."""

    def replace(self, source: str, tools: Iterable[Tool], *, groups: Mapping[str, str] | None = None) -> None:
        """Offer exactly `tools` from `source`; raises `ToolLoadError` when they do not go together with the others."""
        ...


class McpServers:
    """The servers of one program. `start` once, `stop` once."""

    def __init__(self, servers: Mapping[str, McpServer], home: Path | None, timing: Timing | None = None) -> None:
        """`servers` by name; `home` is the data folder, where the pins are kept."""
        self._timing = timing or Timing()
        self._pins = Pins(home)
        self._served = [_Served(server, self._pins, self._timing) for server in servers.values()]
        self._tasks: list[asyncio.Task[None]] = []
        self._watch: asyncio.Task[None] | None = None

    def refused(self) -> dict[str, str]:
        """The names of tools that are not offered because their definition changed, each with the sentence a call to it is answered with."""
        return {name: str(results.changed()) for each in self._served for name in each.refused}

    async def start(self, registry: Offers) -> None:
        """Connect to all servers at once and offer their tools; those that do not answer within a few seconds are tried again later."""
        if not self._served:
            return
        for each in self._served:
            each.registry = registry
            each.publish()  # what was confirmed earlier, at once
        self._tasks = [asyncio.create_task(each.connection.run(), name=f"mcp-{each.server.name}") for each in self._served]
        tried = [asyncio.create_task(each.connection.tried.wait()) for each in self._served]
        try:
            await asyncio.wait(tried, timeout=self._timing.start)
        finally:
            for task in tried:
                task.cancel()
        self._watch = asyncio.create_task(self._look(), name="mcp-pins")

    async def stop(self) -> None:
        """Let go of all servers and end the processes that were started."""
        if self._watch is not None:
            self._watch.cancel()
        for each in self._served:
            each.connection.stop()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=self._timing.stop)
            for task in left:
                log.warning("mcp.stop_forced", task=task.get_name())
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=2.0)

    def refresh(self) -> None:
        """Look at the pins again, now."""
        for each in self._served:
            each.publish()

    async def _look(self) -> None:
        """A tool that an operator confirmed is offered again without a restart."""
        seen = self._pins.mark()
        while True:
            await asyncio.sleep(self._timing.look)
            now = self._pins.mark()
            if now != seen:
                seen = now
                self.refresh()


class _Served:
    """One server and what of it is offered."""

    def __init__(self, server: McpServer, pins: Pins, timing: Timing) -> None:
        self.server = server
        self.registry: Offers | None = None
        self.connection = Connection(server, self.publish, timing)
        self._pins = pins
        self._timing = timing
        self._tools: dict[tuple[str, str], Tool] = {}
        self._offered: tuple[Tool, ...] | None = None
        self._told: set[tuple[str, str]] = set()
        self.groups = {server.offered_group: server.description} if server.description else {}
        self.refused: tuple[str, ...] = ()

    def publish(self) -> None:
        """Offer what may be offered by now. Never raises: a fault is logged, and nothing is offered that could not be checked."""
        if self.registry is None:
            return
        try:
            verdicts = self._verdicts()
            tools = tuple(self._tool(verdict.definition) for verdict in verdicts if verdict.state in OFFERED)
            self.refused = tuple(verdict.name for verdict in verdicts if verdict.state == "changed")
        except PinsError as error:
            log.error("mcp.pins", server=self.server.name, problem=str(error))
            tools = ()
        if tools == self._offered:
            return
        self._offered = tools
        source = f"mcp:{self.server.name}"
        try:
            self.registry.replace(source, tools, groups=self.groups)
        except ToolLoadError as error:
            log.warning("mcp.conflict", server=self.server.name, problem=str(error))
            self._one_by_one(self.registry, source, tools)

    def _verdicts(self) -> list[Verdict]:
        confirmed = self._pins.of(self.server.name)
        listed = self.connection.listed
        if listed is None:  # it never answered: what is known of it is what was confirmed
            return judge(self.server, [pin.definition(name) for name, pin in confirmed.items()], confirmed)
        verdicts = judge(self.server, listed.values(), confirmed)
        fresh = [verdict.definition for verdict in verdicts if verdict.state == "new"]
        if fresh:
            self._pins.add(self.server.name, fresh)
        self._tell(verdicts, listed)
        return verdicts

    def _tell(self, verdicts: Iterable[Verdict], listed: Mapping[str, Definition]) -> None:
        """What an operator must know, once."""
        for verdict in verdicts:
            if verdict.state in {"changed", "unusable"}:
                state = f"{verdict.state} {_fingerprint(verdict.definition)[:12]}".strip()
                self._once("mcp.tool_refused", verdict.definition.name, state, reason=verdict.reason or "its definition changed")
        for name in self.server.tools.keys() - listed.keys():
            self._once("mcp.tool_unknown", name, "unknown", reason="the configuration names a tool that the server does not have")

    def _once(self, event: str, tool: str, state: str, *, reason: str) -> None:
        if (tool, state) not in self._told and len(self._told) < 10_000:
            self._told.add((tool, state))
            log.warning(event, server=self.server.name, tool=one_line(tool, 80), state=state, reason=reason)

    def _tool(self, definition: Definition) -> Tool:
        key = (definition.name, definition.fingerprint)
        if key not in self._tools:
            self._tools = {kept: tool for kept, tool in self._tools.items() if kept[0] != definition.name}
            self._tools[key] = made(self.server, definition, self._run)
        return self._tools[key]

    def _one_by_one(self, registry: Offers, source: str, tools: Iterable[Tool]) -> None:
        """Leave out those that do not go together with the others."""
        kept: list[Tool] = []
        for tool in tools:
            try:
                registry.replace(source, [*kept, tool], groups=self.groups)
            except ToolLoadError as error:
                log.error("mcp.tool_left_out", server=self.server.name, tool=tool.name, problem=str(error))
            else:
                kept.append(tool)
        registry.replace(source, kept, groups=self.groups)

    # --- a call -------------------------------------------------------------------------------------------------------

    async def _run(self, definition: Definition, ctx: ToolContext, arguments: dict[str, Any]) -> Any:
        """Call the tool as it was offered, or raise `ToolFailed`."""
        setting = self.server.setting(definition.name)
        effect: Effect = "read" if setting.effect == "read" else "write"
        if effect == "write":  # a person approved this definition: is it still the server's?
            await self.connection.refresh(older_than=self._timing.fresh)
        self._held_against(definition)
        result = await self.connection.call(
            definition.name,
            arguments,
            effect=effect,
            timeout=setting.timeout or self.server.timeout,
            key=ctx.idempotency_key if setting.keyed else "",
        )
        if result.is_error:
            await self._still_there(definition)
            raise results.refusal(result, self.server, effect)
        return results.value(result, self.server)

    def _held_against(self, definition: Definition) -> None:
        """Raise `ToolFailed` unless the definition is the confirmed one and the one the server has now."""
        if self.connection.listed is not None:
            now = self.connection.listed.get(definition.name)
            if now is None:
                raise results.vanished()
            if _fingerprint(now) != definition.fingerprint:
                raise results.changed()
        confirmed: Confirmed = {}
        try:
            confirmed = self._pins.of(self.server.name)
        except PinsError as error:
            log.error("mcp.pins", server=self.server.name, problem=str(error))
        pin = confirmed.get(definition.name)
        if pin is None or pin.sha256 != definition.fingerprint:
            raise results.changed()

    async def _still_there(self, definition: Definition) -> None:
        """Servers answer a call to a tool they no longer have with any error: look whether that is why."""
        try:
            await self.connection.refresh(older_than=0.0)
        except ToolFailed:
            return
        if definition.name not in (self.connection.listed or {}):
            raise results.vanished()


def _fingerprint(definition: Definition) -> str:
    """The fingerprint; empty when there can be none, which equals nobody's."""
    try:
        return definition.fingerprint
    except Unusable:
        return ""
