"""What the real Chat Completions API refuses, refused here too.

A local model that accepts anything hides the bot's own mistakes until the day it meets the real one. So every
request is checked for the rules that matter to an agent: above all that each tool call is followed at once by one
result per id, that no result stands alone, and that tools and names are well formed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
MAX_TOOLS: Final = 128
MAX_CALL_ID: Final = 64
_FUNCTION_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SPEAKER_NAME: Final = re.compile(r"[^\s<|\\/>]{1,64}")


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: what is wrong, and the field it is wrong in."""

    message: str
    param: str
    code: str | None = None


def check_request(body: Any) -> Violation | None:
    """The first rule that `body` (a parsed request) breaks, or None when it is fine."""
    if not isinstance(body, dict):
        return Violation("The body must be a JSON object.", "body")
    if not isinstance(body.get("model"), str) or not body["model"]:
        return Violation("A model name is required.", "model")
    if body.get("stream_options") is not None and body.get("stream") is not True:
        return Violation("'stream_options' goes with 'stream': true only.", "stream_options")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return Violation("'messages' must be a list with at least one message.", "messages", "empty_array" if messages == [] else "invalid_type")
    return _check_tools(body) or _check_each(messages) or check_order(messages)


def _check_tools(body: dict[str, Any]) -> Violation | None:
    tools = body.get("tools")
    if tools is None:
        stray = next((name for name in ("tool_choice", "parallel_tool_calls") if body.get(name) is not None), None)
        return Violation(f"'{stray}' goes with 'tools' only.", stray) if stray else None
    if not isinstance(tools, list) or not 1 <= len(tools) <= MAX_TOOLS:
        return Violation(f"'tools' must be a list of 1 to {MAX_TOOLS} tools.", "tools")
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            return Violation("A tool must be {'type': 'function', 'function': {…}}.", f"tools[{index}]")
        if not isinstance(function.get("name"), str) or not _FUNCTION_NAME.fullmatch(function["name"]):
            return Violation("A function's name is 1 to 64 of A-Z a-z 0-9 _ -.", f"tools[{index}].function.name", "invalid_value")
        parameters = function.get("parameters", {})
        if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
            at = f"tools[{index}].function.parameters"
            return Violation("A function's parameters must be a JSON schema of type object.", at, "invalid_function_parameters")
    return None


def _check_each(messages: list[Any]) -> Violation | None:
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            return Violation(f"A message needs a role, one of {', '.join(sorted(ROLES))}.", f"{at}.role", "invalid_value")
        name = message.get("name")
        if name is not None and not (isinstance(name, str) and _SPEAKER_NAME.fullmatch(name)):
            return Violation("A name is up to 64 characters without white space or any of < | \\ / >.", f"{at}.name", "invalid_value")
        if message["role"] == "assistant" and message.get("tool_calls") is not None:
            found = _check_calls(message["tool_calls"], f"{at}.tool_calls")
            if found:
                return found
            if message.get("content") is None:
                continue
        if not _is_content(message.get("content")):
            return Violation("The content must be a text or a list of parts.", f"{at}.content", "invalid_type")
    return None


def _is_content(content: Any) -> bool:
    if isinstance(content, list):
        return bool(content) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content)
    return isinstance(content, str)


def _check_calls(calls: Any, at: str) -> Violation | None:
    if not isinstance(calls, list) or not calls:
        return Violation("'tool_calls' must be a list with at least one call, or be left out.", at, "empty_array")
    seen: set[str] = set()
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) and call.get("type") == "function" else None
        if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
            return Violation("A call must be {'id', 'type': 'function', 'function': {'name', 'arguments': text}}.", f"{at}[{index}]")
        if not isinstance(function.get("name"), str) or not _FUNCTION_NAME.fullmatch(function["name"]):
            return Violation("A function's name is 1 to 64 of A-Z a-z 0-9 _ -.", f"{at}[{index}].function.name", "invalid_value")
        call_id = call.get("id")
        if not isinstance(call_id, str) or not 1 <= len(call_id) <= MAX_CALL_ID:
            return Violation(f"A call needs an id of 1 to {MAX_CALL_ID} characters.", f"{at}[{index}].id", "invalid_value")
        if call_id in seen:
            return Violation(f"The call id {call_id} appears twice in one message.", f"{at}[{index}].id", "invalid_value")
        seen.add(call_id)
    return None


def check_order(messages: list[dict[str, Any]]) -> Violation | None:
    """The rule of tool messages alone: every call answered at once, exactly once, and no answer without its call."""
    owed: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in owed:
                why = "must answer a call of the assistant message just before it" if not owed else "answers no open call of the assistant message before it"
                return Violation(f"A tool message {why}.", f"messages[{index}].tool_call_id")
            owed.remove(message["tool_call_id"])
            continue
        if owed:
            break
        owed = [call["id"] for call in message.get("tool_calls") or ()] if message["role"] == "assistant" else []
    if owed:
        missing = ", ".join(owed)
        return Violation(f"An assistant message with tool_calls must be followed by a tool message for each of its ids; missing: {missing}.", "messages")
    return None
