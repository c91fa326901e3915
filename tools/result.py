"""`ToolResult`: the one envelope in which every tool call ends, whatever happened to it.

The model reads it as JSON, the person sees parts of it on cards, the operator finds it in the log. Keeping one
shape means the loop has one road: a refusal, a time-out and a success differ in fields, not in control flow.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class ErrorCode(StrEnum):
    """The closed set of ways in which a call can fail."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    NOT_FOUND = "NOT_FOUND"
    EMPTY = "EMPTY"
    REFUSED = "REFUSED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    DENIED_BY_PERSON = "DENIED_BY_PERSON"
    EXPIRED = "EXPIRED"
    SUPERSEDED = "SUPERSEDED"
    TIMEOUT = "TIMEOUT"
    UPSTREAM_ERROR = "UPSTREAM_ERROR"
    RATE_LIMITED = "RATE_LIMITED"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    TOO_LARGE = "TOO_LARGE"
    INTERNAL = "INTERNAL"


class Suggestion(StrEnum):
    """What the model should do about a failure."""

    RETRY = "retry"
    FIX_ARGUMENTS = "fix_arguments"
    ASK_PERSON = "ask_person"
    USE_OTHER_TOOL = "use_other_tool"
    GIVE_UP = "give_up"


class ToolResult(BaseModel):
    """One call's outcome.

    `data` is JSON-compatible. `error_message` is written for the model and may be shown to the person: it never
    holds a stack trace, a path, a host or a secret; those go to the log.
    """

    model_config = ConfigDict(frozen=True)

    success: bool
    data: Any = None
    error_code: ErrorCode | None = None
    error_message: str | None = None
    suggestion: Suggestion | None = None
    tool_name: str
    raw_arguments: str = ""
    duration_ms: float = 0.0
    truncated: bool = False

    @classmethod
    def ok(cls, tool_name: str, data: Any, **more: Any) -> ToolResult:
        """A success carrying `data`."""
        return cls(success=True, tool_name=tool_name, data=data, **more)

    @classmethod
    def fail(cls, tool_name: str, code: ErrorCode, message: str, suggestion: Suggestion, **more: Any) -> ToolResult:
        """A failure with its reason and what to do about it."""
        return cls(success=False, tool_name=tool_name, error_code=code, error_message=message, suggestion=suggestion, **more)

    def for_model(self, edited_arguments: dict[str, Any] | None = None) -> str:
        """The JSON text the model reads: empty fields, timings and the arguments it wrote itself left out; `data` whole.

        With `edited_arguments`, it also says that a person changed the arguments and to what.
        """
        left_out = {"raw_arguments", "duration_ms", "data"} | (set() if self.truncated else {"truncated"})
        body = self.model_dump(mode="json", exclude_none=True, exclude=left_out)
        if self.success or self.data is not None:
            body["data"] = self.data
        if edited_arguments is not None:
            body["note"] = "A person changed the arguments before approving; these were used."
            body["arguments"] = edited_arguments
        return json.dumps(body, ensure_ascii=False)
