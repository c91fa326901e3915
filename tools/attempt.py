"""One execution of one call: started, bounded in time, judged, and turned into a `ToolResult`.

A plain function runs in a thread lane of its own tool, an async one in the loop; neither can hold up its caller beyond
the time-out. A fault's details go to the log under a reference; the model and the person get a sentence they can act
on. The rule that shapes the rest: a write whose end nobody saw is `OUTCOME_UNKNOWN`, never "failed".
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from concurrent.futures import Future
from typing import Any

import structlog
from pydantic import BaseModel

from tools.faults import report
from tools.normal import UnreadableResult, bulky, clean, normalise
from tools.prepare import InvalidArguments, typed
from tools.redact import hide
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.shrink import clip
from tools.threads import Lanes, beside
from tools.tool import ModelRetry, Tool, ToolContext, ToolFailed

_MESSAGE_LIMIT = 2000
_GRACE = 1.0
"""Seconds a tool gets to tidy up when its call is cancelled."""

logger = structlog.get_logger(__name__)
_lanes = Lanes()
_abandoned: set[asyncio.Future[Any]] = set()
"""Calls given up at their time-out that have not ended yet: asyncio keeps only weak references to tasks."""


async def attempt(tool: Tool, arguments: dict[str, Any], ctx: ToolContext, *, limit: int, log: Any, timeout: float | None = None) -> ToolResult:
    """Run `tool` once. `limit`: characters of JSON its data may have; `timeout`: seconds, the tool's own by default.

    Raises nothing but `asyncio.CancelledError`.
    """
    try:
        return await _attempt(tool, arguments, ctx, limit=limit, log=log, timeout=tool.timeout if timeout is None else timeout)
    except Exception as error:  # noqa: BLE001 - the promise of this function; the fault is logged
        return unexpected(tool, error, log)


async def _attempt(tool: Tool, arguments: dict[str, Any], ctx: ToolContext, *, limit: int, log: Any, timeout: float) -> ToolResult:
    try:
        args = typed(tool, arguments)
    except InvalidArguments as error:
        return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, str(error), Suggestion.FIX_ARGUMENTS)
    call = functools.partial(tool.function, *((ctx,) if tool.takes_context else ()), **_keywords(args))
    job: Future[Any] | None = None if inspect.iscoroutinefunction(tool.function) else _lanes.submit(tool.name, call, width=tool.concurrency)
    task = asyncio.create_task(_in_thread(job) if job is not None else _in_loop(call))
    try:
        # Not asyncio.timeout: a tool that swallows its cancellation would keep the caller waiting.
        await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        task.cancel()
        _forget(task)
        await asyncio.wait({task}, timeout=_GRACE)
        raise
    if not task.done():
        never_started = job is not None and job.cancel()
        task.cancel()
        _forget(task)
        return _late(tool, never_started=never_started)
    if task.cancelled():  # not by us: the tool cancelled itself
        return unexpected(tool, RuntimeError("the tool ended by cancelling itself"), log)
    return await _judge(tool, task, limit, log)


async def _judge(tool: Tool, task: asyncio.Future[Any], limit: int, log: Any) -> ToolResult:
    """The finished `task` as a result."""
    match task.exception():
        case None:
            value = task.result()
            if bulky(value):  # megabytes take seconds to read, in which nobody else would be served
                return await beside("results", lambda: _success(tool, value, limit, log), width=4)
            return _success(tool, value, limit, log)
        case ModelRetry() as signal:
            message = worded(signal, "The call was wrong; check the arguments.")
            return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, message, Suggestion.FIX_ARGUMENTS)
        case ToolFailed() as signal:
            message = worded(signal, "The tool could not do this.")
            if tool.effect == "write" and signal.code is ErrorCode.TIMEOUT:  # it waited for an end that it did not see
                return ToolResult.fail(tool.name, ErrorCode.OUTCOME_UNKNOWN, f"{message} {_UNKNOWN}", Suggestion.ASK_PERSON)
            return ToolResult.fail(tool.name, signal.code, message, signal.suggestion, retry_after=signal.retry_after)
        case TimeoutError() as error if tool.effect == "read":
            log.warning("tool.upstream_timeout", error=type(error).__name__)
            return ToolResult.fail(tool.name, ErrorCode.TIMEOUT, f"What {tool.name!r} depends on did not answer in time.", Suggestion.RETRY)
        case ConnectionError() as error if tool.effect == "read":
            log.warning("tool.upstream_down", error=type(error).__name__)
            return ToolResult.fail(tool.name, ErrorCode.UPSTREAM_ERROR, f"What {tool.name!r} depends on cannot be reached.", Suggestion.RETRY)
        case Exception() as error:
            return unexpected(tool, error, log)
        case other:
            raise other


def _success(tool: Tool, value: Any, limit: int, log: Any) -> ToolResult:
    try:
        data, truncated = normalise(value, limit)
    except UnreadableResult as problem:
        log.warning("tool.unreadable_result", problem=str(problem))
        if tool.effect == "write":  # it returned, so it was done: saying "failed" would invite a second time
            return ToolResult.ok(tool.name, {"note": "The change was made, but the tool's answer could not be read."})
        return ToolResult.fail(tool.name, ErrorCode.INTERNAL, f"The answer of {tool.name!r} could not be read: {problem}.", Suggestion.GIVE_UP)
    return ToolResult.ok(tool.name, data, truncated=truncated)


def _late(tool: Tool, *, never_started: bool) -> ToolResult:
    if never_started:
        message = f"{tool.name!r} is busy and did not start within {tool.timeout:g} s. Nothing was done."
        return ToolResult.fail(tool.name, ErrorCode.TIMEOUT, message, Suggestion.RETRY)
    message = f"{tool.name!r} did not answer within {tool.timeout:g} s."
    if tool.effect == "read":
        return ToolResult.fail(tool.name, ErrorCode.TIMEOUT, message, Suggestion.RETRY)
    return ToolResult.fail(tool.name, ErrorCode.OUTCOME_UNKNOWN, f"{message} {_UNKNOWN}", Suggestion.ASK_PERSON)


def unexpected(tool: Tool, error: Exception, log: Any) -> ToolResult:
    """The result of a call that ended in a fault nobody foresaw; its details go to the log under a reference."""
    reference = report(log, "tool.crashed", error, function=tool.function)
    message = f"{tool.name!r} stopped because of an internal fault (reference {reference})."
    if tool.effect == "read":
        return ToolResult.fail(tool.name, ErrorCode.INTERNAL, message, Suggestion.GIVE_UP)
    return ToolResult.fail(tool.name, ErrorCode.OUTCOME_UNKNOWN, f"{message} {_UNKNOWN}", Suggestion.ASK_PERSON)


_UNKNOWN = "It is not known whether the change was made. Do not try again: tell the person to check first."


async def _in_loop(call: functools.partial[Any]) -> Any:
    try:
        return await call()
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:  # asyncio would hand sys.exit() or an interrupt raised in a tool to the event loop, which would end
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error


async def _in_thread(job: Future[Any]) -> Any:
    value = await asyncio.wrap_future(job)
    return await value if inspect.isawaitable(value) else value


def _forget(task: asyncio.Future[Any]) -> None:
    """Let an abandoned call end by itself; whatever it still raises was answered already."""
    _abandoned.add(task)
    task.add_done_callback(_ended)


def _ended(task: asyncio.Future[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.info("tool.ended_late", error=type(error).__name__)


def _keywords(args: BaseModel) -> dict[str, Any]:
    fields = type(args).model_fields
    return {field.alias or name: getattr(args, name) for name, field in fields.items()}


def worded(signal: Exception, otherwise: str) -> str:
    """The text of an exception as the model may read it: cleaned, without secrets and inside places, of bounded length."""
    return clip(hide(clip(clean(str(signal)).strip(), 2 * _MESSAGE_LIMIT)), _MESSAGE_LIMIT) or otherwise
