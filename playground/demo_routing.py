"""Which group of tools to open for a tool that is not offered yet.

With many tools a request shows only their groups, one line each, and a tool that opens them. The groups of the built-in
tools are known by name; any other is chosen when its name or its line speaks of what the tool does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

OPEN_TOOLS: Final = "open_tools"
NO_FITTING_TOOL: Final = "no_fitting_tool"
_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "calculate": ("everyday", "general"),
    "current_time": ("everyday", "general"),
    "get_order_status": ("orders",),
    "list_orders": ("orders",),
    "cancel_order": ("orders",),
    "change_shipping_address": ("orders",),
    "post_message": ("slack",),
    "read_thread": ("slack",),
    "list_channels": ("slack",),
    "search_messages": ("slack",),
    "get_current_weather": ("web",),
    "fetch_url": ("web",),
    "remind_me": ("reminders",),
    "list_reminders": ("reminders",),
    "cancel_reminder": ("reminders",),
    "recall": ("memory",),
    "remember": ("memory",),
    "forget": ("memory",),
}
_WORDS: Final[dict[str, str]] = {
    "calculate": r"calculat|arithmetic|\bmath|计算|算术",
    "current_time": r"\btimes?\b|\bclock|\bdates?\b|时间|日期",
    "get_order_status": r"\borders?\b|订单",
    "list_orders": r"\borders?\b|订单",
    "cancel_order": r"\borders?\b|订单",
    "change_shipping_address": r"\borders?\b|shipping|订单|收货",
    "post_message": r"\bpost|\bmessages?\b|\bslack\b|消息",
    "read_thread": r"\bthreads?\b|\bslack\b|讨论|消息",
    "list_channels": r"\bchannels?\b|\bslack\b|频道",
    "search_messages": r"\bsearch\w*[^,.;]{0,20}\bmessages?|\bslack\b|搜索?消息",
    "get_current_weather": r"\bweather\b|\bforecast|天气",
    "fetch_url": r"web ?pages?\b|\bweb\b|\burls?\b|\blinks?\b|网页|链接",
    "remind_me": r"\bremind|提醒",
    "list_reminders": r"\bremind|提醒",
    "cancel_reminder": r"\bremind|提醒",
    "recall": r"\bremember|\bmemor(?:y|ies)\b|记忆|记住",
    "remember": r"\bremember|\bmemor(?:y|ies)\b|记忆|记住",
    "forget": r"\bremember|\bmemor(?:y|ies)\b|记忆|记住",
}
_LINE: Final = re.compile(r"^- ([^:\n]+): ?(.*)$", re.MULTILINE)


def groups_of(function: Mapping[str, Any]) -> dict[str, str]:
    """The groups that the definition of `open_tools` names, each with its line ("" when the description has none)."""
    parameters = (function.get("parameters") or {}).get("properties") or {}
    names = ((parameters.get("groups") or {}).get("items") or {}).get("enum") or ()
    lines = dict(_LINE.findall(str(function.get("description") or "")))
    return {name: lines.get(name, "") for name in names if isinstance(name, str)}


def group_for(tool: str, groups: Mapping[str, str]) -> str:
    """The group that has `tool`, by name or else by its words; "" when none fits."""
    named = next((name for name in _GROUPS.get(tool, ()) if name in groups), "")
    words = _WORDS.get(tool)
    if named or words is None:
        return named
    pattern = re.compile(words, re.IGNORECASE)
    return next((name for name, line in groups.items() if pattern.search(f"{name} {line}")), "")
