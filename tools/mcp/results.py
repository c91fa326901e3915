"""What a server answered to a call, as a value for the engine or as the reason why there is none.

Structured content is preferred to the text that repeats it; pictures, sounds and files are described, not passed on. A failure's
text is the server's own, so it is cleaned, bounded and rid of secrets before the model sees it. For a write, only what certainly
was not done may be called failed; everything else is of unknown outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tools.mcp.config import McpServer
from tools.mcp.transport import BUSY, FORBIDDEN, NOT_SENT, SESSION_GONE
from tools.mcp.words import one_line, spoken
from tools.result import ErrorCode, Suggestion
from tools.tool import Effect, ToolFailed

MAX_REASON: Final = 1_000
"""Characters of a server's own words about a failure."""
_MAX_FIELD: Final = 300
_MAX_PARTS: Final = 200

UNKNOWN: Final = "It is not known whether the change was made. Do not try again: tell the person to check first."


def value(result: CallToolResult, server: McpServer) -> Any:
    """What a successful call gives the model, secrets hidden: structured data, a text, or both beside the descriptions of other parts."""
    texts, others = _parts(result.content)
    said = _hidden("\n\n".join(texts), server)
    structured = _hidden(result.structured_content, server)
    if not others:
        if structured is not None:
            return structured
        return said or {"note": "Done; the tool gave nothing back."}
    body: dict[str, Any] = {"data": structured} if structured is not None else {"text": said} if said else {}
    return {**body, "attachments": _hidden(others, server)}


def refusal(result: CallToolResult, server: McpServer, effect: Effect) -> ToolFailed:
    """The tool's own "no", from a result that is marked as an error."""
    texts, _ = _parts(result.content)
    reason = spoken(server.hide("\n".join(texts)), MAX_REASON) or "The tool refused without giving a reason."
    # A read may be asked again with better arguments; a write needs a person's yes again, so it is for the person to say.
    return ToolFailed(reason, code=ErrorCode.REFUSED, suggestion=Suggestion.FIX_ARGUMENTS if effect == "read" else Suggestion.GIVE_UP)


def down(server: McpServer) -> ToolFailed:
    """The call was not even sent."""
    message = f"The service behind the tools of {server.offered_group!r} cannot be reached at the moment. Nothing was done."
    return ToolFailed(message, code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)


def lost(effect: Effect) -> ToolFailed:
    """The connection broke while the call was under way."""
    if effect == "write":
        return ToolFailed(f"The connection broke while the tool ran. {UNKNOWN}", code=ErrorCode.OUTCOME_UNKNOWN, suggestion=Suggestion.ASK_PERSON)
    return ToolFailed("The connection broke while the tool ran.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)


def late(effect: Effect) -> ToolFailed:
    """The server did not answer in time."""
    if effect == "write":
        return ToolFailed(f"The tool did not answer in time. {UNKNOWN}", code=ErrorCode.OUTCOME_UNKNOWN, suggestion=Suggestion.ASK_PERSON)
    return ToolFailed("The tool did not answer in time.", code=ErrorCode.TIMEOUT, suggestion=Suggestion.RETRY)


def needs_more(effect: Effect) -> ToolFailed:
    """The server wants to ask a person, or a model, before it goes on; that is not offered to servers."""
    message = "The tool wants further input in the middle of the call, which is not supported here."
    return ToolFailed(message, code=ErrorCode.REFUSED, suggestion=Suggestion.USE_OTHER_TOOL if effect == "read" else Suggestion.ASK_PERSON)


def unreadable(effect: Effect) -> ToolFailed:
    """The answer is none that the protocol knows."""
    if effect == "write":
        return ToolFailed(f"The tool answered with something unreadable. {UNKNOWN}", code=ErrorCode.OUTCOME_UNKNOWN, suggestion=Suggestion.ASK_PERSON)
    return ToolFailed("The tool answered with something unreadable.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.GIVE_UP)


def failure(error: MCPError, server: McpServer, effect: Effect) -> ToolFailed:
    """A protocol error as the signal the engine understands."""
    match error.code:
        case code if code in {NOT_SENT, SESSION_GONE}:
            return down(server)
        case code if code == FORBIDDEN:
            message = "The service behind this tool does not accept our credentials. An operator must mend them."
            return ToolFailed(message, code=ErrorCode.PERMISSION_DENIED, suggestion=Suggestion.GIVE_UP)
        case code if code == BUSY:
            wait = error.data.get("retry_after") if isinstance(error.data, dict) else None
            message = "The service behind this tool is asked too often."
            seconds = float(wait) if isinstance(wait, (int, float)) else None
            return ToolFailed(message, code=ErrorCode.RATE_LIMITED, suggestion=Suggestion.RETRY, retry_after=seconds)
        case code if code == REQUEST_TIMEOUT:
            return late(effect)
        case code if code == INVALID_PARAMS:
            reason = spoken(server.hide(error.message), MAX_REASON)
            return ToolFailed(f"The arguments were refused: {reason}", code=ErrorCode.INVALID_ARGUMENTS, suggestion=Suggestion.FIX_ARGUMENTS)
        case code if code == METHOD_NOT_FOUND:
            return vanished()
        case code if code == HEADER_MISMATCH:
            return changed()
        case code if code == CONNECTION_CLOSED:
            return lost(effect)
        case _ if effect == "write":
            return ToolFailed(f"The service behind this tool reported a fault. {UNKNOWN}", code=ErrorCode.OUTCOME_UNKNOWN, suggestion=Suggestion.ASK_PERSON)
        case _:
            # Its message may be the SDK's, with addresses in it; the log has it.
            return ToolFailed("The service behind this tool reported a fault.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)


def vanished() -> ToolFailed:
    """The server no longer has the tool."""
    message = "The service behind it no longer has this tool. Nothing was done."
    return ToolFailed(message, code=ErrorCode.NOT_FOUND, suggestion=Suggestion.USE_OTHER_TOOL)


def changed() -> ToolFailed:
    """The tool is not the one that was confirmed."""
    message = "This tool is refused: its definition changed, an operator must confirm it. Nothing was done."
    return ToolFailed(message, code=ErrorCode.PERMISSION_DENIED, suggestion=Suggestion.GIVE_UP)


def _parts(content: Sequence[ContentBlock]) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts among the parts, and a description of each other one."""
    texts: list[str] = []
    others: list[dict[str, Any]] = []
    for part in content[:_MAX_PARTS]:
        match part:
            case TextContent():
                texts.append(part.text)
            case EmbeddedResource(resource=BlobResourceContents() as blob):
                others.append(_described("file", blob.mime_type, blob.blob, blob.uri))
            case EmbeddedResource(resource=TextResourceContents() as file):
                texts.append(file.text)  # a text is a text, whatever it is called
            case ImageContent():
                others.append(_described("image", part.mime_type, part.data, ""))
            case AudioContent():
                others.append(_described("audio", part.mime_type, part.data, ""))
            case ResourceLink():
                about = one_line(part.title or part.name, _MAX_FIELD)
                others.append({"kind": "link", "about": about, "uri": one_line(str(part.uri), _MAX_FIELD), "type": one_line(part.mime_type or "", 100)})
    if len(content) > _MAX_PARTS:
        others.append({"kind": "note", "about": f"{len(content) - _MAX_PARTS:,} more parts left out"})
    return texts, others


def _described(kind: str, mime_type: str | None, encoded: str, uri: object) -> dict[str, Any]:
    size = len(encoded) * 3 // 4 - encoded[-2:].count("=")
    about: dict[str, Any] = {"kind": kind, "type": one_line(mime_type or "unknown", 100), "bytes": max(size, 0)}
    return {**about, "uri": one_line(str(uri), _MAX_FIELD)} if uri else about


def _hidden(data: Any, server: McpServer) -> Any:
    """`data` with the server's secrets taken out of every text in it."""
    if not server.secrets:
        return data
    match data:
        case str():
            return server.hide(data)
        case list():
            return [_hidden(each, server) for each in data]
        case dict():
            return {server.hide(str(key)): _hidden(each, server) for key, each in data.items()}
        case _:
            return data
