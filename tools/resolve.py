"""Resolving a call: arguments that depend on the moment and the person, made definite before anybody is shown them.

"In two hours" must not mean something else when it runs than when it was approved. A tool with `resolve` turns such
arguments into definite ones; those are what the card shows, the digest covers and the tool gets. Resolving what is
definite already changes nothing, so it may happen again.
"""

from __future__ import annotations

import dataclasses
import inspect

import structlog

from tools.prepare import InvalidArguments, Prepared, kept, validate
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import ModelRetry, ToolContext, ToolFailed

log = structlog.get_logger(__name__)


async def resolved(prepared: Prepared, ctx: ToolContext) -> Prepared | ToolResult:
    """The call with its definite arguments, or the result that tells the model what is unclear. Never raises for a tool's fault."""
    tool = prepared.tool
    if tool.resolve is None:
        return prepared
    raw = kept(prepared.raw)
    try:
        outcome = tool.resolve(ctx, dict(prepared.arguments))
        arguments = await outcome if inspect.isawaitable(outcome) else outcome
        return dataclasses.replace(prepared, arguments=validate(tool, arguments))
    except ModelRetry as error:
        return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, str(error), Suggestion.FIX_ARGUMENTS, raw_arguments=raw)
    except ToolFailed as error:
        return ToolResult.fail(tool.name, error.code, str(error), error.suggestion, raw_arguments=raw)
    except InvalidArguments as error:
        return ToolResult.fail(tool.name, ErrorCode.INVALID_ARGUMENTS, str(error), Suggestion.FIX_ARGUMENTS, raw_arguments=raw)
    except Exception:  # a resolver of the tool's own may raise anything
        log.exception("tool.resolver_failed", tool=tool.name)
        message = f"The arguments of {tool.name!r} could not be understood because of a fault in the tool."
        return ToolResult.fail(tool.name, ErrorCode.INTERNAL, message, Suggestion.GIVE_UP, raw_arguments=raw)
