"""Guardrails: which tools may be used where, by whom and with what, as the operator wrote it in `STEWARD_CONFIG`.

Three questions, each asked when tools are offered, when a call comes from the model, and once more right before it runs: is the
tool switched off altogether (`denied`), may it be used here and by this person (`allows`), and do its arguments keep to the rules
(`refusal`). They stand below every approval: no click and no standing permission opens what they close. What cannot be found
out (a person's user groups, a value too long to check, a rule that fails) closes the door. Once loaded it only looks at values.
"""

from __future__ import annotations

import copy
import inspect
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from time import monotonic
from typing import Any, Final

import regex
import structlog

from bot.lookalike import invisible
from bot.policy_file import ArgumentPolicy, PolicyFile
from memory.keys import Actor, Thread
from tools.faults import report
from tools.tool import Tool, ToolLoadError

log = structlog.get_logger(__name__)

Check = Callable[[str, dict[str, Any], Actor, Thread], str | None]
"""An operator's own rule: (tool name, arguments, who asked, where) -> why not, or None."""

MAX_VALUE: Final = 20_000
"""Characters of one value that a rule looks at; a longer one is refused by it."""
MAX_VALUES: Final = 2_000
"""Values one rule looks at in one call; more are refused."""
PATIENCE: Final = 0.25
"""Seconds all patterns together may take over one call: a pattern that backtracks without end is cut off, and the call refused."""
_MAX_SAID: Final = 500

_OFF: Final = "The tool {tool!r} is switched off here by the people who run this bot. It was not run. Tell the person so."
_NOT_HERE: Final = "The tool {tool!r} may not be used in this channel. It was not run. Tell the person so; asking again changes nothing."
_NOT_BY: Final = "The person who asked may not use the tool {tool!r}. It was not run. Tell them so; asking again changes nothing."
_VALUE: Final = "The value of {argument!r} is not allowed by the rules of this workspace{reason} It was not run."
_CALL: Final = "This call is not allowed by the rules of this workspace{reason} It was not run."
_UNCHECKED: Final = "A rule of this workspace about the tool {tool!r} could not be checked, so the call was refused. Tell the person so."


@dataclass(frozen=True, slots=True)
class Patterns:
    """A list of tools as the file writes it: names with `*`, and groups."""

    written: tuple[str, ...]

    def match(self, tool: Tool) -> bool:
        """Whether the tool is on the list."""
        return any(_same(pattern.removeprefix("group:"), tool.group if pattern.startswith("group:") else tool.name) for pattern in self.written)


def _same(pattern: str, name: str) -> bool:
    # No regular expression: the number of steps stays that of the letters, whatever stars somebody writes.
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == name
    if not name.startswith(first):
        return False
    at, last = len(first), rest.pop()
    for part in rest:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(name) - at >= len(last) and name.endswith(last)


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[[arguments]]` entry, ready to be used."""

    tools: Patterns
    policy: ArgumentPolicy
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Complaint:
    """Which rule about arguments a call breaks, without telling of any other."""

    argument: str = ""
    """The path the rule is about; empty when it is about the call as a whole."""
    reason: str = ""
    """The operator's words."""
    unchecked: bool = False
    """The rule could not be checked."""


@dataclass(frozen=True, slots=True)
class Guardrails:
    """Everything the file says about tools. Without a file: nothing is closed."""

    deny: Patterns = Patterns(())
    channels: Mapping[str, Patterns] = field(default_factory=dict)
    people: Mapping[str, Patterns] = field(default_factory=dict)
    """By user id, and under `default` everybody who is in no list."""
    groups: Mapping[str, Patterns] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    foreign: tuple[str, ...] = ()
    """What the names of tools begin with that other servers offer: they need not be known at start."""
    foreign_groups: frozenset[str] = frozenset()

    @classmethod
    def load(cls, file: PolicyFile) -> Guardrails:
        """The guardrails of a policy file, with its checks imported. Raises `ToolLoadError` with the remedy when one cannot be had."""
        rules = tuple(Rule(Patterns((entry.tool,)), entry, _imported(entry.check) if entry.check else None) for entry in file.arguments)
        return cls(
            deny=Patterns(file.tools.deny),
            channels={name: Patterns(channel.tools) for name, channel in file.channels.items() if channel.tools is not None},
            people={name: Patterns(allowed.tools) for name, allowed in file.people.items()},
            groups={name: Patterns(allowed.tools) for name, allowed in file.usergroups.items()},
            rules=rules,
            foreign=tuple(f"{server.prefix or name}_" for name, server in file.mcp.items()),
            foreign_groups=frozenset(server.group or name for name, server in file.mcp.items()),
        )

    def usergroups(self) -> frozenset[str]:
        """The Slack user groups named anywhere: whoever asks must be looked up in these before `allows` can be answered."""
        return frozenset(self.groups)

    def denied(self, tool: Tool) -> bool:
        """Whether the tool is on the hard deny list."""
        return self.deny.match(tool)

    def allows(self, tool: Tool, *, thread: Thread, actor: Actor, groups: Iterable[str] | None) -> bool:
        """Whether the tool may be used in this channel by this person. `groups`: the user groups the person is in; None when that is not known."""
        return not self.denied(tool) and self._here(tool, thread) and self._by(tool, thread, actor, groups)

    def _here(self, tool: Tool, thread: Thread) -> bool:
        here = self.channels.get(thread.channel_id)
        return here is None or here.match(tool)

    def _by(self, tool: Tool, thread: Thread, actor: Actor, groups: Iterable[str] | None) -> bool:
        # Ids repeat across companies: a line about one of our people says nothing about somebody else's person with the same id.
        own = self.people.get(actor.user_id) if actor.user_id != "default" and actor.team_id == thread.team_id else None
        default = self.people.get("default")
        if groups is None:  # what holds whichever groups the person turns out to be in
            if own is not None:
                return own.match(tool)
            return (default is None or default.match(tool)) and all(listed.match(tool) for listed in self.groups.values())
        theirs = [self.groups[group] for group in groups if group in self.groups]
        lists = [*theirs, *([own] if own is not None else [])] or ([default] if default is not None else [])
        return not lists or any(listed.match(tool) for listed in lists)

    def refusal(self, tool: Tool, arguments: Mapping[str, Any], *, thread: Thread, actor: Actor, groups: Iterable[str] | None) -> str | None:
        """Why this very call is refused, as a sentence for the model and the person; None when nothing is against it.

        `arguments` are the validated ones. Each sentence names the one rule that was broken and tells nothing of the others.
        """
        if self.denied(tool):
            return _OFF.format(tool=tool.name)
        if not self._here(tool, thread):
            return _NOT_HERE.format(tool=tool.name)
        if not self._by(tool, thread, actor, groups):
            return _NOT_BY.format(tool=tool.name)
        broken = self.complaint(tool, arguments, thread=thread, actor=actor)
        if broken is None:
            return None
        if broken.unchecked:
            return _UNCHECKED.format(tool=tool.name)
        reason = f": {broken.reason.rstrip('.。')}." if broken.reason else "."
        return _VALUE.format(argument=broken.argument, reason=reason) if broken.argument else _CALL.format(reason=reason)

    def complaint(self, tool: Tool, arguments: Mapping[str, Any], *, thread: Thread, actor: Actor) -> Complaint | None:
        """The first rule about arguments that a call with these validated ones breaks, for the person who asked; None when it breaks none."""
        until = monotonic() + PATIENCE
        for number, rule in enumerate(self.rules):
            if not rule.tools.match(tool):
                continue
            if rule.check is not None:
                found = _checked(rule, rule.check, number, call=(tool.name, copy.deepcopy(dict(arguments)), actor, thread))
            else:
                found = _broken(rule.policy, number, tool, arguments, until)
            if found is not None:
                return found
        return None

    def mistakes(self, tools: Iterable[Tool]) -> list[str]:
        """Names in the file that mean nothing, each as a clause: a misspelt entry of a deny list would otherwise quietly deny nothing."""
        known = {tool.name: tool for tool in tools}
        groups = {tool.group for tool in known.values()} | self.foreign_groups
        found: list[str] = []
        for pattern in self._written():
            name = pattern.removeprefix("group:")
            if "*" in name:
                continue
            if name != pattern and name not in groups:
                found.append(f"there is no group of tools called {name!r} (there are: {', '.join(sorted(groups))})")
            elif name == pattern and name not in known and not (self.foreign and name.startswith(self.foreign)):
                found.append(f"there is no tool called {name!r}")
        for rule in self.rules:
            tool, first = known.get(rule.policy.tool), rule.policy.argument.partition(".")[0]
            if tool is not None and first and first not in _properties(tool):
                found.append(f"the tool {tool.name!r} has no argument called {first!r} (it has: {', '.join(_properties(tool))})")
        return found

    def _written(self) -> list[str]:
        lists = [self.deny, *self.channels.values(), *self.people.values(), *self.groups.values(), *(rule.tools for rule in self.rules)]
        return list(dict.fromkeys(pattern for listed in lists for pattern in listed.written))


# --- argument rules --------------------------------------------------------------------------------------------------


def _imported(name: str) -> Check:
    """The function behind `module:function`. Raises `ToolLoadError`."""
    module_name, _, function_name = name.partition(":")
    where = f"STEWARD_CONFIG has the check {name!r}, but"
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise ToolLoadError(f"{where} there is no module {error.name!r}. Check the spelling, and that its folder is on PYTHONPATH.") from error
    except (Exception, SystemExit) as error:  # a module may fail in any way; the operator needs to know which one and how
        raise ToolLoadError(f"{where} its module fails when imported: {type(error).__name__}: {error}. Mend it, or remove the check.") from error
    check = getattr(module, function_name, None)
    if not callable(check):
        raise ToolLoadError(f"{where} the module has no function {function_name!r}. Check the spelling.")
    if inspect.iscoroutinefunction(check):
        raise ToolLoadError(f"{where} it is an async function. Write a plain one: it is to look at values, not to wait for anything.")
    try:
        inspect.signature(check).bind("tool", {}, None, None)
    except (TypeError, ValueError) as error:
        raise ToolLoadError(f"{where} it cannot be called with (tool_name, arguments, actor, thread): {error}. Give it these four parameters.") from error
    found: Check = check
    return found


def _broken(policy: ArgumentPolicy, number: int, tool: Tool, arguments: Mapping[str, Any], until: float) -> Complaint | None:
    path = policy.argument.split(".")
    if path[0] not in arguments and path[0] not in _properties(tool):
        return None  # a rule for many tools, about an argument this one does not have
    try:
        sayings = [list(_values(arguments, names)) for names in (path, [tool.same_as.get(policy.argument, "")]) if names != [""]]
        bad = policy.deny is not None and any(_denied(policy.deny, value, until) for values in sayings for value in values)
        bad = bad or (policy.allow is not None and not any(all(_allowed(policy.allow, value, until) for value in values) for values in sayings))
    except (_TooMuch, TimeoutError) as error:
        log.warning("guardrail.unchecked", tool=tool.name, rule=number, argument=policy.argument, reason=str(error) or "the pattern took too long")
        return Complaint(policy.argument, unchecked=True)
    if not bad:
        return None
    log.info("guardrail.refused", tool=tool.name, rule=number, argument=policy.argument)
    return Complaint(policy.argument, policy.reason.strip())


def _checked(rule: Rule, check: Check, number: int, *, call: tuple[str, dict[str, Any], Actor, Thread]) -> Complaint | None:
    tool = call[0]
    try:
        said: object = check(*call)
    except Exception as error:  # noqa: BLE001 - an operator's code may fail in any way; what it was to hold back is held back, and it is logged
        report(log, "guardrail.check_failed", error, function=check, tool=tool, rule=number, check=rule.policy.check)
        return Complaint(unchecked=True)
    if said is None:
        return None
    if not isinstance(said, str) or not said.strip():
        log.error("guardrail.check_unclear", tool=tool, rule=number, check=rule.policy.check, returned=type(said).__name__)
        return Complaint(unchecked=True)
    log.info("guardrail.refused", tool=tool, rule=number, check=rule.policy.check)
    return Complaint(reason=rule.policy.reason.strip() or said.strip()[:_MAX_SAID])


def _properties(tool: Tool) -> list[str]:
    return list(tool.parameters().get("properties", {}))


class _TooMuch(Exception):  # noqa: N818 - states a condition
    """There is more to look at than a rule looks at."""


def _values(node: Any, path: list[str]) -> Iterator[str]:
    """The values at `path` as texts: through every list, down to every value below, an empty text where there is none."""
    left = MAX_VALUES
    stack: list[tuple[Any, int]] = [(node, 0)]
    while stack:
        here, depth = stack.pop()
        if isinstance(here, (list, tuple)):
            stack.extend((item, depth) for item in here)
            continue
        if isinstance(here, Mapping):
            if depth < len(path):
                stack.append((here.get(path[depth]), depth + 1))
            else:
                stack.extend((part, depth) for item in here.items() for part in item)  # names too: they are chosen by the caller
            continue
        left -= 1
        if left < 0:
            raise _TooMuch("too many values")
        text = "" if here is None or depth < len(path) else here if isinstance(here, str) else _written(here)
        if len(text) > MAX_VALUE:
            raise _TooMuch("a value is too long")
        yield text


def _written(value: Any) -> str:
    """A value that is no text as a rule reads it; numbers plainly (`25000` also for 25000.0 and 2.5e4), so that no spelling slips by."""
    if isinstance(value, float):
        plain = format(Decimal(repr(value)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return json.dumps(value, ensure_ascii=False)


def _forms(text: str) -> list[str]:
    """A value as it is written, and as a careless or lenient reader takes it: full-width letters folded, what is invisible gone."""
    folded = unicodedata.normalize("NFKC", text)
    bare = unicodedata.normalize("NFKC", "".join(char for char in text if not invisible(char)))
    return list(dict.fromkeys((text, folded, bare)))


def _denied(pattern: str, text: str, until: float) -> bool:
    forms = _forms(text)
    return any(_found(pattern, form, until) for form in dict.fromkeys([*forms, *(form.strip() for form in forms)]))


def _allowed(pattern: str, text: str, until: float) -> bool:
    # `$` also matches before a line's end that comes last; doubled, that end is no longer the last character.
    return all(_found(pattern, form + "\n" if form.endswith("\n") else form, until) for form in _forms(text))


def _found(pattern: str, text: str, until: float) -> bool:
    """Whether the pattern is found, within the time left. Raises `TimeoutError`."""
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return regex.compile(pattern).search(text, timeout=left) is not None  # compiled patterns are kept by the library
