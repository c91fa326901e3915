"""The set of tools a run may use: found by name or alias, offered to the model as definitions, loaded from the modules that hold them.

To its readers a registry looks immutable. Tools that come and go with a service of somebody else (an MCP server) belong to a named
source, whose tools are swapped all at once with `replace`: a reader sees the old set or the new one, never a mixture.
"""

from __future__ import annotations

import difflib
import importlib
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import structlog

from tools.lint import lint, lint_set
from tools.strict import strict_schema
from tools.tool import Tool, ToolLoadError

OPEN_TOOLS: Final = "open_tools"
NO_FITTING_TOOL: Final = "no_fitting_tool"
RESERVED: Final = frozenset({OPEN_TOOLS, NO_FITTING_TOOL})
"""Names of the two tools `tools.routing` offers itself; no other may have them."""
MAX_GROUP_LINE: Final = 120
"""Characters of a group's one line, when it is made from its tools' titles."""

logger = structlog.get_logger(__name__)


class _Entry:
    """A tool with the definitions that are sent for it, made once: the same bytes from turn to turn let the endpoint cache the prompt."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.plain: dict[str, Any] = tool.schema()["function"]

    @cached_property
    def strict(self) -> dict[str, Any]:
        """The definition in strict form, or the plain one where there is no such form."""
        parameters = strict_schema(self.plain["parameters"])
        return self.plain if parameters is None else {**self.plain, "strict": True, "parameters": parameters}

    @cached_property
    def plain_text(self) -> tuple[str, int]:
        return _text(self.plain)

    @cached_property
    def strict_text(self) -> tuple[str, int]:
        return self.plain_text if self.strict is self.plain else _text(self.strict)


@dataclass(frozen=True, slots=True)
class _State:
    """Everything a reader looks at; replaced as a whole."""

    sources: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict)
    entries: Mapping[str, _Entry] = field(default_factory=dict)
    owners: Mapping[str, Tool] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict)


class Registry:
    """Tools by name; iterating gives them in the order they were given, those of later sources last."""

    def __init__(self, tools: Iterable[Tool], *, groups: Mapping[str, str] | None = None) -> None:
        """Hold `tools`; `groups` may describe their groups, one line each (see `groups`).

        Raises:
            ToolLoadError: two different tools claim one name or alias, or have descriptions that cannot be told apart, or one invalidates nothing.

        """
        self._lines: dict[str, dict[str, str]] = {}
        self._noted: set[str] = set()
        self._state = _State()
        self.replace("", tools, groups=groups)

    @classmethod
    def load(cls, modules: Iterable[str] | str) -> Registry:
        """The tools held by `modules`: dotted names, or one comma-separated string as in `STEWARD_TOOLS`.

        A module may describe its groups in `GROUPS`, a dict from a group's name to one line.

        Raises:
            ToolLoadError: a module cannot be imported, holds no tool, or holds a tool that is refused.

        """
        names = [name.strip() for name in (modules.split(",") if isinstance(modules, str) else modules) if name.strip()]
        tools = [tool for name in names for tool in _collect(name)]
        lines: dict[str, str] = {}
        for name in names:
            lines = {**_lines_of(name), **lines}
        return cls(tools, groups=lines)

    def replace(self, source: str, tools: Iterable[Tool], *, groups: Mapping[str, str] | None = None) -> None:
        """Let `tools` be all the tools of `source` (e.g. `"mcp:github"`) from now on; none removes them.

        Nothing changes when it raises. A source keeps its place in the order also while it has no tools.

        Raises:
            ToolLoadError: a name or alias is reserved or belongs to a tool of another source, or two descriptions cannot be told apart.

        """
        given = tuple(tools)
        if not source:
            _refuse_idle(given)
        sources = {**self._state.sources, source: given}
        lines = {**self._lines, source: dict(groups or {})}
        state = _built(sources, {name: line for part in lines.values() for name, line in part.items()}, self._state.entries)
        self._refuse_alike(state)
        self._state, self._lines = state, lines

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, by its own name or an alias; `None` when there is none."""
        return self._state.owners.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' own names, without aliases."""
        return tuple(self._state.entries)

    def groups(self) -> dict[str, str]:
        """Every group's name and one line about it, in the order of their first tools.

        The line is the one given with the tools, or in `GROUPS` of the module that holds one of them, or the tools' titles.
        """
        return dict(self._state.groups)

    def tools_of(self, group: str) -> tuple[Tool, ...]:
        """The tools of one group, in order; none when there is no such group."""
        return self._state.members.get(group, ())

    def schemas(self, names: Collection[str] | None = None, *, strict: bool = False) -> list[dict[str, Any]]:
        """The function definitions of every tool, or of those in `names`, as the model's API takes them.

        With an ordered `names` (a list, a tuple) they come in its order, else in the registry's; unknown names are passed over. `strict`
        asks the endpoint to hold the model to the schema, for every tool whose schema can be said in the endpoint's strict form. Equal
        calls give equal bytes. The `parameters` inside are shared between calls: do not change them.
        """
        return [{"type": "function", "function": dict(entry.strict if strict else entry.plain)} for entry in self._entries_of(names)]

    def texts(self, names: Collection[str] | None = None, *, strict: bool = False) -> list[tuple[str, int]]:
        """As `schemas`, each definition as JSON text and how many bytes that has; made once per tool."""
        return [entry.strict_text if strict else entry.plain_text for entry in self._entries_of(names)]

    def close_to(self, name: str, *, limit: int = 3) -> list[str]:
        """Names of up to `limit` tools that `name` may have meant, closest first; spelling style (`getOrder`, `get-order`) does not count."""
        plain = {_plain(known): tool.name for known, tool in self._state.owners.items()}
        found = difflib.get_close_matches(_plain(name[:128]), plain, n=limit, cutoff=0.6)
        return list(dict.fromkeys(plain[match] for match in found))

    def __iter__(self) -> Iterator[Tool]:
        return iter([entry.tool for entry in self._state.entries.values()])

    def __len__(self) -> int:
        return len(self._state.entries)

    def __contains__(self, name: object) -> bool:
        return name in self._state.owners

    def _entries_of(self, names: Collection[str] | None) -> list[_Entry]:
        entries = self._state.entries
        ordered: Iterable[str] = entries if names is None else names if isinstance(names, (list, tuple)) else (name for name in entries if name in names)
        return [entries[name] for name in ordered if name in entries]

    def _refuse_alike(self, state: _State) -> None:
        tools = [entry.tool for entry in state.entries.values()]
        foreign = {tool.name for tool in tools if tool.input_schema is not None}
        if findings := lint_set(tool for tool in tools if tool.name not in foreign):
            raise ToolLoadError("\n".join(finding.message for finding in findings))
        if not foreign:
            return
        # Their authors are elsewhere: the operator hears of it once and decides.
        for finding in (*(each for tool in tools if tool.name in foreign for each in lint(tool)), *lint_set(tools)):
            if finding.message not in self._noted:
                self._noted.add(finding.message)
                logger.warning("tool.lint", tool=finding.tool, parameter=finding.parameter, finding=finding.message)


def _built(sources: Mapping[str, tuple[Tool, ...]], lines: Mapping[str, str], known: Mapping[str, _Entry]) -> _State:
    entries: dict[str, _Entry] = {}
    owners: dict[str, Tool] = {}
    members: dict[str, list[Tool]] = {}
    for tool in (tool for tools in sources.values() for tool in tools):
        if owners.get(tool.name) is tool:
            continue  # re-exported by a second module
        for name in (tool.name, *tool.aliases):
            other = owners.get(name)
            if other is not None and other is not tool:
                raise ToolLoadError(f"Two tools answer to {name!r}: {_where(other)} and {_where(tool)}. Rename one of them or remove the alias.")
            if name in RESERVED:
                raise ToolLoadError(f"The name {name!r} of {_where(tool)} is taken by the engine itself. Rename the tool or remove the alias.")
            owners[name] = tool
        kept = known.get(tool.name)
        entries[tool.name] = kept if kept is not None and kept.tool is tool else _Entry(tool)
        members.setdefault(tool.group, []).append(tool)
    groups = {group: lines.get(group) or _own_line(group, tools) or _titles(tools) for group, tools in members.items()}
    return _State(sources, entries, owners, groups, {group: tuple(tools) for group, tools in members.items()})


def _refuse_idle(tools: Iterable[Tool]) -> None:
    """A misspelt tag would quietly leave in the cache what a write changed. Not asked of tools that come and go: what they are about may come later."""
    own = list(tools)
    about = dict.fromkeys(tag for tool in own for tag in (tool.group, *tool.tags))
    for tool in own:
        for tag in tool.invalidates:
            if tag not in about:
                close = difflib.get_close_matches(tag, about, n=1)
                hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(sorted(about))}."
                raise ToolLoadError(
                    f"{_where(tool)} invalidates {tag!r}, which is neither the group nor a tag of any tool, so it would make nothing void. {hint} "
                    "Name the group or a tag of the reads it changes, or remove it."
                )


def _text(definition: dict[str, Any]) -> tuple[str, int]:
    text = json.dumps({"type": "function", "function": definition}, ensure_ascii=False)
    return text, len(text.encode())


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


def _lines_of(module_name: str) -> dict[str, str]:
    """`GROUPS` of a loaded module: one line by group."""
    lines = getattr(sys.modules.get(module_name), "GROUPS", {})
    if not isinstance(lines, dict) or not all(isinstance(part, str) and part.strip() for pair in lines.items() for part in pair):
        raise ToolLoadError(f'GROUPS in module {module_name!r} must say one line for each group, for example GROUPS = {{"orders": "Look up, cancel orders"}}.')
    return {group: " ".join(line.split()) for group, line in lines.items()}


def _own_line(group: str, tools: Iterable[Tool]) -> str:
    modules = dict.fromkeys(str(getattr(tool.function, "__module__", "")) for tool in tools)
    return next((line for module in modules if (line := _lines_of(module).get(group))), "")


def _titles(tools: Iterable[Tool]) -> str:
    titles = list(dict.fromkeys(tool.title or tool.name.replace("_", " ").capitalize() for tool in tools))
    for count in range(len(titles), 0, -1):
        left_out = len(titles) - count
        line = ", ".join(titles[:count]) + (f" and {left_out} more" if left_out else "")
        if len(line) <= MAX_GROUP_LINE:
            return line
    return f"{titles[0][: MAX_GROUP_LINE - 1]}…" if titles else ""


def _remove(module_name: str) -> str:
    return f"remove {module_name!r} from STEWARD_TOOLS"


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _where(tool: Tool) -> str:
    return f"{tool.name!r} of {getattr(tool.function, '__module__', '?')}"
