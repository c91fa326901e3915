"""Which tools the model is shown in one request, so that many tools cost few tokens and are not confused with each other.

A few tools are all offered. Beyond a limit the model first sees the groups, one line each, and opens the ones it needs with
`open_tools`; their tools are then offered for the rest of the run, and it can open further groups later. When no group fits it calls
`no_fitting_tool` and answers in words, so that it is never forced to choose a wrong tool. Everything here is pure: the caller keeps
which groups a run has opened. Definitions keep their order and their bytes from turn to turn, and opening a group only appends, so
that the endpoint's prompt cache stays good.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from memory.tokens import count
from tools.lenient import NotAnObject, parse
from tools.normal import clean
from tools.registry import NO_FITTING_TOOL, OPEN_TOOLS, RESERVED, Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.shrink import clip
from tools.tool import Tool

_LINE = 160
_SURELY_FITS, _SURELY_NOT = 3, 8
"""Bytes a token below and above which definitions need not be counted."""
_MAX_RAW = 4000
_MAX_DEPTH = 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\u4e00-\u9fff])|(?<=[。！？])|\n\s*\n")
_QUOTED = re.compile(r"""["']([^"':,\[\]{}]{1,100})["'](?!\s*:)""")
_SEPARATORS = re.compile(r"[,;，、；\n|]+")


@dataclass(frozen=True, slots=True)
class RoutingLimits:
    """From when on tools are offered by group."""

    max_tools: int = 12
    """Tools, those marked `always` not counted, that are all offered at once."""
    max_definition_tokens: int = 4000
    """Tokens their definitions may cost together."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the model is shown in one request."""

    schemas: list[dict[str, Any]]
    """The function definitions, in a stable order."""
    names: frozenset[str]
    """The tools' own names among them, the two of this module included when they are offered."""
    routed: bool
    """Whether tools are offered by group."""
    groups: dict[str, str] = field(default_factory=dict)
    """When routed: the groups that can be opened, with one line each."""
    opened: tuple[str, ...] = ()
    """When routed: the groups that are open."""
    members: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict)
    """When routed: the tools each group has for the asking person now, those left out for some rounds not among them."""


@dataclass(frozen=True, slots=True)
class MetaAnswer:
    """The answer to a call of `open_tools` or `no_fitting_tool`."""

    result: ToolResult
    opened: tuple[str, ...] = ()
    """Groups to add, in this order, to those the run has opened."""


def offer(
    registry: Registry,
    *,
    allowed: Callable[[Tool], bool],
    opened: Sequence[str] = (),
    cooling: Collection[str] = (),
    limits: RoutingLimits = RoutingLimits(),
    strict: bool = False,
) -> Offer:
    """What to offer now.

    Args:
        registry: all tools there are.
        allowed: whether the asking person may use a tool here; others are never shown.
        opened: groups this run has opened, in the order it did; names that are no group (any more) are passed over.
        cooling: names of tools left out for some rounds. They still count towards the limits, so that the way of offering does not flip.
        limits: from when on tools are offered by group.
        strict: ask the endpoint to hold the model to the schemas where they can be said in its strict form.

    """
    usable = [tool for tool in registry if allowed(tool)]
    always = [tool for tool in usable if tool.always]
    lines = registry.groups()
    members: dict[str, list[Tool]] = {group: [] for group in lines}
    for tool in usable:
        if not tool.always:
            members[tool.group].append(tool)
    groups = {group: line for group, line in lines.items() if members[group]}
    grouped = [tool for group in groups for tool in members[group]]
    if not _too_many(registry, grouped, limits, strict=strict):
        names = [tool.name for tool in (*always, *grouped) if tool.name not in cooling]
        return Offer(registry.schemas(names, strict=strict), frozenset(names), routed=False)
    now_open = tuple(group for group in dict.fromkeys(opened) if group in groups)
    first = [tool.name for tool in always if tool.name not in cooling]
    then = [tool.name for group in now_open for tool in members[group] if tool.name not in cooling]
    meta = _meta_schemas(tuple(groups.items()), strict=strict)
    schemas = [*registry.schemas(first, strict=strict), *meta, *registry.schemas(then, strict=strict)]
    kept = {group: tuple(tool for tool in members[group] if tool.name not in cooling) for group in groups}
    return Offer(schemas, frozenset({*first, *RESERVED, *then}), routed=True, groups=groups, opened=now_open, members=kept)


def is_meta(name: str) -> bool:
    """Whether `name`, in whatever spelling (`openTools`), is one of the two tools answered here and not by the engine."""
    return _own_name(name) is not None


def answer_meta(name: str, raw_arguments: str, offer: Offer) -> MetaAnswer:
    """Answer a call of `open_tools` or `no_fitting_tool` under the offer it was made in. Never raises; `is_meta(name)` must hold."""
    known = _own_name(name)
    if known is None:
        raise ValueError(f"{name!r} is not answered here")
    sent = _sent(raw_arguments)
    raw = clean(raw_arguments[:_MAX_RAW])
    if known == NO_FITTING_TOOL:
        return MetaAnswer(_gave_up(sent, raw))
    if not offer.routed:
        message = "Every tool is offered already; call the one that fits, or answer in words."
        return MetaAnswer(ToolResult.fail(OPEN_TOOLS, ErrorCode.REFUSED, message, Suggestion.USE_OTHER_TOOL, raw_arguments=raw))
    return _open(_texts(sent, ("groups", "group", "names", "name")), raw, offer)


def _too_many(registry: Registry, tools: list[Tool], limits: RoutingLimits, *, strict: bool) -> bool:
    if len(tools) > limits.max_tools:
        return True
    texts = registry.texts([tool.name for tool in tools], strict=strict)
    # A definition has about four bytes a token in English and three in Chinese. Only near the limit is it worth loading the vocabulary,
    # which takes 70 MB; each definition is then counted once in the life of the process.
    size, budget = sum(size for _, size in texts), limits.max_definition_tokens
    if size <= budget * _SURELY_FITS:
        return False
    return size > budget * _SURELY_NOT or sum(_tokens(text) for text, _ in texts) > budget


@lru_cache(maxsize=4096)
def _tokens(text: str) -> int:
    return count(text)


@lru_cache(maxsize=256)
def _meta_texts(groups: tuple[tuple[str, str], ...], strict: bool) -> tuple[str, ...]:  # noqa: FBT001 - a key of the cache
    listed = "\n".join(f"- {name}: {line}" for name, line in groups)
    open_tools = (
        "Open one or several groups of tools. Their tools can be called from the next step on, for the whole of this request; more groups can be "
        f"opened later. Open a group before you say that something cannot be done. The groups:\n{listed}"
    )
    no_fitting = (
        "Say that none of the groups and tools can do what is asked, instead of calling a wrong one; then answer in words. "
        "Not needed for small talk or for what you can answer yourself."
    )
    names = {"type": "array", "items": {"type": "string", "enum": [name for name, _ in groups]}, "minItems": 1, "description": "The groups to open"}
    reason = {"type": "string", "description": "What is asked for that no tool can do, in one sentence"}
    return tuple(
        json.dumps(
            {"type": "function", "function": {"name": name, "description": said, **({"strict": True} if strict else {}), "parameters": _object(**about)}}
        )
        for name, said, about in ((OPEN_TOOLS, open_tools, {"groups": names}), (NO_FITTING_TOOL, no_fitting, {"reason": reason}))
    )


def _meta_schemas(groups: tuple[tuple[str, str], ...], *, strict: bool) -> list[dict[str, Any]]:
    return [json.loads(text) for text in _meta_texts(groups, strict)]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _open(asked: list[str], raw: str, offer: Offer) -> MetaAnswer:
    wanted, unknown = _understood(asked, offer)
    if not wanted:
        problem = f"There is no group {', '.join(repr(clip(clean(each), 60)) for each in unknown[:5])}" if unknown else "No group was named"
        close = [match for each in unknown for match in difflib.get_close_matches(_plain(each[:100]), [_plain(name) for name in offer.groups], n=1)]
        meant = [name for name in offer.groups if _plain(name) in close]
        hint = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""
        message = f'{problem}.{hint} The groups are: {", ".join(offer.groups)}. Send, for example, {{"groups": [{json.dumps(next(iter(offer.groups)))}]}}.'
        return MetaAnswer(ToolResult.fail(OPEN_TOOLS, ErrorCode.INVALID_ARGUMENTS, message, Suggestion.FIX_ARGUMENTS, raw_arguments=raw))
    new = tuple(group for group in wanted if group not in offer.opened)
    notes = [f"The tools of {group!r} are left out for some rounds." for group in wanted if not offer.members[group]]
    if again := [group for group in wanted if group in offer.opened]:
        notes.append(f"Already open: {', '.join(again)}; call their tools directly.")
    if unknown:
        said = ", ".join(repr(clip(clean(each), 60)) for each in unknown[:5])
        notes.append(f"There is no group {said}; the groups are: {', '.join(offer.groups)}.")
    data = {"now_available": {group: {tool.name: _one_line(tool.description) for tool in offer.members[group]} for group in wanted}}
    return MetaAnswer(ToolResult.ok(OPEN_TOOLS, data, raw_arguments=raw, note=" ".join(notes)), new)


def _gave_up(sent: Any, raw: str) -> ToolResult:
    reason = clip(clean(" ".join(_texts(sent, ("reason", "message", "why"), split=False))), 500)
    note = (
        "No tool was run and nothing was changed. Answer in words now: say plainly, in the person's language, what you cannot do, and what you can "
        "do instead if there is something. Do not pretend that it was done."
    )
    return ToolResult.ok(NO_FITTING_TOOL, {"outcome": "no fitting tool", "reason": reason}, raw_arguments=raw, note=note)


def _understood(asked: list[str], offer: Offer) -> tuple[list[str], list[str]]:
    """The groups meant, in the order asked, and what is none. A tool's name stands for its group: it is clear what is wanted, and opening is harmless."""
    groups = {_plain(name): name for name in offer.groups}
    tools = {_plain(name): group for group, members in offer.members.items() for tool in members for name in (tool.name, *tool.aliases)}
    found = [(each, each if each in offer.groups else groups.get(_plain(each)) or tools.get(_plain(each))) for each in asked]
    return list(dict.fromkeys(group for _, group in found if group)), [each for each, group in found if not group]


def _sent(raw: str) -> Any:
    text = raw[:_MAX_RAW].strip()
    if not text:
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if text[0] not in "{[":
            return text
    try:
        return parse(text).value
    except NotAnObject:
        return _QUOTED.findall(text)  # a cut-off list, say: opening a group is harmless, and what is no group's name is told


def _texts(sent: Any, keys: tuple[str, ...], *, split: bool = True, depth: int = 0) -> list[str]:
    """The texts the model sent, whatever it wrapped them in."""
    if isinstance(sent, dict):
        sent = next((sent[key] for key in keys if key in sent), list(sent.values()) if len(sent) == 1 else [])
    texts = [each for each in (sent if isinstance(sent, list) else [sent]) if isinstance(each, str)]
    if isinstance(sent, list) and depth < _MAX_DEPTH:
        texts += [part for each in sent if isinstance(each, (list, dict)) for part in _texts(each, keys, split=split, depth=depth + 1)]
    if split:
        texts = [part for each in texts for part in _SEPARATORS.split(each)]
    return [each.strip() for each in texts if each.strip()]


def _own_name(name: str) -> str | None:
    return next((own for own in RESERVED if _plain(own) == _plain(name[:100])), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", name).casefold() if letter.isalnum())


def _one_line(description: str) -> str:
    first = _SENTENCE_END.split(description.strip(), maxsplit=1)[0]
    return clip(" ".join(first.split()), _LINE)
