"""A tool's own explanation of why it did nothing, in the language of the person who reads the card.

A tool's author translates it in the tool's `words`, by exact text; a name in braces in it (`Order {order} is packed.`)
stands for whatever is there, and is put into the translation as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tools.result import ToolResult
from tools.tool import Tool

_HOLE: Final = re.compile(r"\{([a-z_]+)\}")
_MAX: Final = 2_000
"""Characters of a message that is compared: a longer one is no sentence of a tool's author."""


def told(result: ToolResult | None, tool: Tool | None, language: str) -> ToolResult | None:
    """The result with its message in `language`, as far as the tool's author translated it."""
    if result is None or tool is None or not result.error_message:
        return result
    return result.model_copy(update={"error_message": translated(result.error_message, tool, language)})


def translated(message: str, tool: Tool, language: str) -> str:
    """`message` in `language`, or as it is."""
    exact = tool.say(message, language)
    if exact != message or len(message) > _MAX:
        return exact
    for text, said in tool.words.get(language, {}).items():
        found = _pattern(text).fullmatch(message) if _HOLE.search(text) else None
        if found is not None:
            return _HOLE.sub(lambda hole: found.groupdict().get(hole[1]) or "", said)  # noqa: B023 - used before the next turn
    return message


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    parts = _HOLE.split(text)
    out, seen = "", set[str]()
    for index, part in enumerate(parts):
        if index % 2 == 0:
            out += re.escape(part)
        else:
            out += f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
            seen.add(part)
    return re.compile(out, re.DOTALL)
