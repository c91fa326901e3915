"""What the agent can do: the engine every tool call passes through, and the tools that come with it.

A tool's author needs only the names below: `from tools import tool, ToolContext, ModelRetry, ToolFailed`. (The decorator shares
its name with the module of contracts; `tools.tool` is the decorator, `from tools.tool import …` reaches the module.)
"""

from tools.decorator import tool
from tools.registry import Registry
from tools.result import ToolResult
from tools.tool import ModelRetry, Tool, ToolContext, ToolFailed

__all__ = ["ModelRetry", "Registry", "Tool", "ToolContext", "ToolFailed", "ToolResult", "tool"]
