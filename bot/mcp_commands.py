"""`steward mcp list` and `steward mcp confirm`: what the MCP servers offer, what has changed since it was confirmed, and the confirming.

Both ask the servers themselves and hold the answers against the pins in the data folder; neither needs Slack, nor a running bot. A bot
that runs notices a confirmation by itself within seconds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final

from bot.mcp_config import McpConfigError, servers_from
from bot.settings import Settings, SettingsError
from tools.mcp.config import McpServer
from tools.mcp.connection import client_for, explained, listing
from tools.mcp.definition import Definition
from tools.mcp.offer import Verdict, judge
from tools.mcp.pins import Confirmed, Pins, PinsError, difference
from tools.mcp.words import one_line

PATIENCE: Final = 30.0
"""Seconds a server gets to start and to list its tools."""

Say = Callable[[str], object]


def list_command(settings: Settings, *, write: Say = print) -> int:
    """Show each server's tools: the name, whether it reads or writes, and whether it is as confirmed. 1 when something needs an operator, else 0."""
    servers = _servers(settings)
    if not servers:
        write("There are no MCP servers. Add an [mcp.<name>] section to the file STEWARD_CONFIG names.")
        return 0
    return asyncio.run(_list(servers, Pins(settings.home), write))


def confirm_command(settings: Settings, server: str, tool: str | None = None, *, write: Say = print) -> int:
    """Confirm what `server` says about `tool` now, or about all its tools. `tool` may be the server's own name or the offered one. 1 when it cannot be done."""
    servers = _servers(settings)
    if server not in servers:
        write(f"There is no MCP server {server!r}. Configured are: {', '.join(servers) or 'none'}.")
        return 1
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return asyncio.run(_confirm(servers[server], tool, Pins(settings.home), write))


def _servers(settings: Settings) -> Mapping[str, McpServer]:
    try:
        return servers_from(settings.policies.mcp, os.environ)
    except McpConfigError as error:
        raise SettingsError(f"{settings.config_path}: {error}") from error


async def _list(servers: Mapping[str, McpServer], pins: Pins, write: Say) -> int:
    answers = await asyncio.gather(*(_asked(server) for server in servers.values()))
    attention = False
    for server, answer in zip(servers.values(), answers, strict=True):
        write(f"{server.name}  (tools {server.prefix or server.name}_…, group {server.offered_group})")
        if isinstance(answer, str):
            write(f"  cannot be asked: {answer}")
            attention = True
            continue
        try:
            confirmed = pins.of(server.name)
        except PinsError as error:
            write(f"  {error}")
            attention = True
            continue
        verdicts = judge(server, answer, confirmed)
        for verdict in verdicts:
            for line in _lines(verdict, confirmed):
                write(f"  {line}")
        for name in sorted(server.tools.keys() - {each.name for each in answer}):
            write(f"  {one_line(name, 80)}: configured, but the server has no such tool")
        attention = attention or any(verdict.state in {"changed", "unusable"} for verdict in verdicts)
    return 1 if attention else 0


async def _confirm(server: McpServer, tool: str | None, pins: Pins, write: Say) -> int:
    answer = await _asked(server)
    if isinstance(answer, str):
        write(f"{server.name} cannot be asked: {answer}")
        return 1
    try:
        confirmed = pins.of(server.name)
        verdicts = [each for each in judge(server, answer, confirmed) if tool is None or tool in {each.definition.name, each.name}]
        if tool is not None and not verdicts:
            write(f"{server.name} has no tool {one_line(tool, 80)!r}.")
            return 1
        wanted = [verdict for verdict in verdicts if verdict.state in {"new", "changed"}]
        for verdict in verdicts:
            if verdict in wanted or tool is not None:
                for line in _lines(verdict, confirmed):
                    write(line)
        pins.confirm(server.name, [verdict.definition for verdict in wanted])
    except PinsError as error:
        write(str(error))
        return 1
    write(f"{len(wanted)} confirmed." if wanted else "Nothing to confirm.")
    return 1 if tool is not None and any(verdict.state == "unusable" for verdict in verdicts) else 0


def _lines(verdict: Verdict, confirmed: Confirmed) -> list[str]:
    """A tool as an operator sees it: one line, and what changed."""
    words = {
        "new": "not offered yet",
        "confirmed": "confirmed",
        "changed": "CHANGED, refused until confirmed",
        "off": "off, by configuration",
        "unusable": f"NOT USABLE: {verdict.reason}",
    }[verdict.state]
    own = one_line(verdict.definition.name, 80)
    lines = [f"{verdict.name}  [{verdict.setting.effect}]  {words}" + ("" if verdict.name.endswith(f"_{own}") else f"  (the server calls it {own!r})")]
    pin = confirmed.get(verdict.definition.name)
    if verdict.state == "changed" and pin is not None:
        lines += [f"    {line}" for line in difference(pin, verdict.definition)]
    return lines


async def _asked(server: McpServer) -> tuple[Definition, ...] | str:
    """The server's tools, or why it could not be asked."""
    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(PATIENCE):
                client = await stack.enter_async_context(client_for(server, lambda: None))
                return await listing(client)
    except Exception as error:  # noqa: BLE001 - whatever a foreign server does, the operator gets a line about it
        return explained(error, server)
