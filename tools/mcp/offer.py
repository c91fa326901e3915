"""Which of a server's tools are offered, under which names, and why the others are not. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import RootModel

from tools.mcp.config import McpServer, McpTool
from tools.mcp.definition import Definition, Unusable
from tools.mcp.pins import Confirmed
from tools.mcp.words import one_line
from tools.tool import Effect, Tool, ToolContext

State = Literal["new", "confirmed", "changed", "off", "unusable"]
"""`new`: not pinned yet; `changed`: not what was pinned; `off`: by configuration; `unusable`: cannot be offered to a model."""

OFFERED: Final[frozenset[State]] = frozenset({"new", "confirmed"})

Run = Callable[[Definition, ToolContext, dict[str, Any]], Awaitable[Any]]
"""Carries out one call."""


class AnyObject(RootModel[dict[str, Any]]):
    """Arguments whose schema is somebody else's: any object, kept as it is."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one tool."""

    definition: Definition
    name: str
    """Under which it is, or would be, offered."""
    setting: McpTool
    state: State
    reason: str = ""


def judge(server: McpServer, listed: Iterable[Definition], confirmed: Confirmed) -> list[Verdict]:
    """Every tool of `listed`, held against the configuration and the pins."""
    return [_verdict(server, each, confirmed) for each in listed]


def _verdict(server: McpServer, definition: Definition, confirmed: Confirmed) -> Verdict:
    setting, name = server.setting(definition.name), server.offered_name(definition.name)
    if setting.effect == "off":
        return Verdict(definition, name, setting, "off")
    try:
        definition.check()
        definition.parameters()
        fingerprint = definition.fingerprint
    except Unusable as error:
        return Verdict(definition, name, setting, "unusable", str(error))
    pin = confirmed.get(definition.name)
    if pin is None:
        return Verdict(definition, name, setting, "new")
    return Verdict(definition, name, setting, "confirmed" if pin.sha256 == fingerprint else "changed")


def made(server: McpServer, definition: Definition, run: Run) -> Tool:
    """The tool the model gets for `definition`. Nothing in it but the words and the schema comes from the server."""
    setting, name = server.setting(definition.name), server.offered_name(definition.name)
    title = setting.title or one_line(definition.name.replace("_", " ").replace("-", " "), 60).strip().capitalize() or name

    async def call(ctx: ToolContext, root: dict[str, Any]) -> Any:
        return await run(definition, ctx, root)

    effect: Effect = "read" if setting.effect == "read" else "write"
    return Tool(
        name=name,
        description=definition.words() or f"{title}: a tool of {server.offered_group!r} that does not describe itself.",
        args_model=AnyObject,
        effect=effect,
        function=call,
        group=server.offered_group,
        timeout=setting.timeout or server.timeout,
        keyed=setting.keyed and effect == "write",
        title=title,
        version=definition.fingerprint[:12],
        upstream=f"mcp:{server.name}",
        cache_ttl=setting.cache_ttl if effect == "read" else 0.0,
        input_schema=definition.parameters(),
        takes_context=True,
    )
