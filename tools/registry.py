"""The set of tools a run may use: found by name or alias, offered to the model as schemas, loaded from the modules that hold them."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from tools.tool import Tool, ToolLoadError


class Registry:
    """Tools by name. Immutable once built; iterating gives the tools in the order they were given."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Hold `tools`. Raises `ToolLoadError` when two different tools claim one name or alias."""
        self._tools: dict[str, Tool] = {}
        self._owners: dict[str, Tool] = {}
        for tool in tools:
            if self._tools.get(tool.name) is tool:
                continue  # re-exported by a second module
            for name in (tool.name, *tool.aliases):
                other = self._owners.get(name)
                if other is not None and other is not tool:
                    raise ToolLoadError(f"Two tools answer to {name!r}: {_where(other)} and {_where(tool)}. Rename one of them or remove the alias.")
                self._owners[name] = tool
            self._tools[tool.name] = tool

    @classmethod
    def load(cls, modules: Iterable[str] | str) -> Registry:
        """The tools held by `modules`: dotted names, or one comma-separated string as in `STEWARD_TOOLS`.

        Raises:
            ToolLoadError: a module cannot be imported, holds no tool, or holds a tool that is refused.

        """
        names = modules.split(",") if isinstance(modules, str) else modules
        return cls(tool for name in names if name.strip() for tool in _collect(name.strip()))

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, by its own name or an alias; `None` when there is none."""
        return self._owners.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' own names, without aliases."""
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """The function definitions of every tool, as the model's API takes them."""
        return [tool.schema() for tool in self._tools.values()]

    def close_to(self, name: str, *, limit: int = 3) -> list[str]:
        """Names of up to `limit` tools that `name` may have meant, closest first; spelling style (`getOrder`, `get-order`) does not count."""
        plain = {_plain(known): tool.name for known, tool in self._owners.items()}
        found = difflib.get_close_matches(_plain(name[:128]), plain, n=limit, cutoff=0.6)
        return list(dict.fromkeys(plain[match] for match in found))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._owners


def _collect(module_name: str) -> list[Tool]:
    try:
        module = importlib.import_module(module_name)
    except ToolLoadError as error:
        raise ToolLoadError(f"In module {module_name!r}: {error}") from error
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            remedy = "Check the spelling in STEWARD_TOOLS, and that it is installed or its folder is on PYTHONPATH."
            raise ToolLoadError(f"There is no module {module_name!r}. {remedy}") from error
        raise ToolLoadError(f"Module {module_name!r} needs {error.name!r}, which is not installed. Install it, or {_remove(module_name)}.") from error
    except (Exception, SystemExit) as error:  # a module may fail in any way; the operator needs to know which one and how
        raise ToolLoadError(f"Module {module_name!r} fails when imported: {type(error).__name__}: {error}. Mend it, or {_remove(module_name)}.") from error
    found = [value for value in vars(module).values() if isinstance(value, Tool)]
    if not found:
        raise ToolLoadError(f"Module {module_name!r} holds no tools. Decorate a function in it with @tool(effect=...), or {_remove(module_name)}.")
    return found


def _remove(module_name: str) -> str:
    return f"remove {module_name!r} from STEWARD_TOOLS"


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _where(tool: Tool) -> str:
    return f"{tool.name!r} of {getattr(tool.function, '__module__', '?')}"
