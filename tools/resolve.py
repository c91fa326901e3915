"""Resolving a call: arguments that depend on the moment and the person, made definite before anybody is shown them.

"In two hours" must not mean something else when it runs than when it was approved. A tool with `resolve` turns such
arguments into definite ones; those are what the card shows, the digest covers and the tool gets. Resolving what is
definite already changes nothing, so it may happen again. A resolver has a few seconds: a plain one runs in a thread lane of its
own, like a plain tool, and one that hangs holds up nobody but its own call.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
from typing import Any, Final

import structlog

from tools.attempt import worded
from tools.faults import report
from tools.prepare import InvalidArguments, Prepared, kept, validate
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.threads import beside
from tools.tool import ModelRetry, Tool, ToolContext, ToolFailed

PATIENCE: Final = 5.0
"""Seconds a resolver may take, unless the tool's own time-out is shorter: the model's other calls wait for it."""

log = structlog.get_logger(__name__)
_abandoned: set[asyncio.Task[Any]] = set()
"""Resolvers given up that have not ended yet: asyncio keeps only weak references to tasks."""


async def resolved(prepared: Prepared, ctx: ToolContext) -> Prepared | ToolResult:
    """The call with its definite arguments, or the result that tells the model what is unclear. Never raises for a tool's fault."""
    tool = prepared.tool
    if tool.resolve is None:
        return prepared
    refuse = functools.partial(ToolResult.fail, tool.name, raw_arguments=kept(prepared.raw))
    task = asyncio.create_task(_definite(tool, ctx, dict(prepared.arguments)))
    try:
        # Not asyncio.timeout: a resolver that swallows its cancellation would keep everybody waiting.
        await asyncio.wait({task}, timeout=min(PATIENCE, tool.timeout))
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not task.done():
        _abandon(task)
        message = f"The arguments of {tool.name!r} could not be looked up in time. It was not run."
        return refuse(ErrorCode.TIMEOUT, message, Suggestion.RETRY)
    try:
        return dataclasses.replace(prepared, arguments=validate(tool, task.result()))
    except ModelRetry as error:
        return refuse(ErrorCode.INVALID_ARGUMENTS, worded(error, "The call was wrong; check the arguments."), Suggestion.FIX_ARGUMENTS)
    except ToolFailed as error:
        return refuse(error.code, worded(error, "The tool could not do this."), error.suggestion, retry_after=error.retry_after)
    except InvalidArguments as error:
        return refuse(ErrorCode.INVALID_ARGUMENTS, worded(error, "The call was wrong; check the arguments."), Suggestion.FIX_ARGUMENTS)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a resolver of the tool's own may raise anything, its own cancellation too; it is logged
        reference = report(log, "tool.resolver_failed", error, function=tool.resolve, tool=tool.name)
        message = f"The arguments of {tool.name!r} could not be understood because of a fault in the tool (reference {reference})."
        return refuse(ErrorCode.INTERNAL, message, Suggestion.GIVE_UP)


async def _definite(tool: Tool, ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
    call = functools.partial(tool.resolve or _same, ctx, arguments)
    try:
        outcome = call() if inspect.iscoroutinefunction(tool.resolve) else await beside(f"resolve-{tool.name}", call, width=tool.concurrency)
        found: dict[str, Any] = await outcome if inspect.isawaitable(outcome) else outcome
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:  # asyncio would hand sys.exit() in a resolver to the event loop, which would end
        raise RuntimeError(f"the resolver raised {type(error).__name__}") from error
    return found


def _same(_: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def _abandon(task: asyncio.Task[Any]) -> None:
    """Let a resolver that was given up end by itself; whatever it still raises was answered already."""
    task.cancel()
    _abandoned.add(task)
    task.add_done_callback(_ended)


def _ended(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("tool.resolver_ended_late", error=type(error).__name__)
