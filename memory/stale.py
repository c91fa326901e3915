"""Results that no longer hold: what was read before something was changed is marked, so that the model reads again instead of repeating it.

This holds wherever a result is told: word by word, on one line, in a summary, and when search brings it back after the write itself has left the
context, for which the thread keeps a short record of its writes (`remembered`).

A read belongs to a later write when they share something that identifies: the same value of an argument of the same name, or an id of the write's
arguments that occurs in the read's arguments or data. Being wrong here is cheap on one side only: a mark too many costs a
read, a mark too few a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.session_memory import Change
from memory.transcript import AssistantMessage, Item, Request, ToolMessage

MOST_CHANGES: Final = 100
"""Writes a thread remembers after they left the context; the latest."""
LONGEST_VALUE: Final = 100
"""Characters; longer values of arguments are texts, which identify nothing."""
_VALUES: Final = 6
"""Values and ids kept of one such write."""

_SUCCESS: Final = re.compile(r'\s*\{\s*"success"\s*:\s*true\b')
_TOKEN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[-_.#][A-Za-z0-9]+)*")
_ENDS: Final = re.compile(r"(?![-_.#]?[A-Za-z0-9])")
_DATE: Final = re.compile(r"\d{4}[-.]?\d{2}[-.]?\d{2}(?:T[\d.+-]*Z?)?|\d{1,2}[A-Za-z]{3,9}\d{0,4}|\d{1,4}(?:am|pm|st|nd|rd|th|[Tt]\d{2}.*)", re.IGNORECASE)


def parsed(text: str) -> Any:
    """The JSON value in `text`, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def ids(text: str) -> set[str]:
    """The id-like words of `text`: letters with digits, or many digits, at least 4 characters, and no date."""
    found = set()
    for token in _TOKEN.findall(text):
        digits = sum(character.isdigit() for character in token)
        if len(token) >= 4 and (digits >= 6 or (digits and not token.replace(".", "").isdigit())) and not _DATE.fullmatch(token):
            found.add(token)
    return found


def identifying(arguments: str) -> set[tuple[str, str]]:
    """The arguments that can tell one thing from another, as pairs of name and value: texts, and numbers that are large or named as ids."""
    value = parsed(arguments)
    if not isinstance(value, dict):
        return set()
    pairs = set()
    for name, inner in value.items():
        if isinstance(inner, str) and inner.strip():
            pairs.add((name, inner.strip()))
        elif isinstance(inner, int) and not isinstance(inner, bool) and (abs(inner) >= 1000 or name.lower().endswith(("id", "number", "no"))):
            pairs.add((name, str(inner)))
    return pairs


@dataclass(slots=True)
class Changes:
    """The changes made after a place in the thread, gathered from the newest backwards."""

    by_argument: dict[tuple[str, str], int] = field(default_factory=dict)
    by_id: dict[str, int] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)

    def add(self, request: Request) -> None:
        """Take in a write older than all there are."""
        self._add(request.name, identifying(request.arguments), ids(request.arguments))

    def add_remembered(self, change: Change) -> None:
        """As `add`, of a write that is only remembered."""
        self._add(change.tool, change.arguments, change.ids)

    def _add(self, tool: str, arguments: Iterable[tuple[str, str]], named: Iterable[str]) -> None:
        number = len(self.tools)
        self.tools.append(tool)
        for pair in arguments:
            self.by_argument.setdefault(pair, number)
        for each in named:
            self.by_id.setdefault(each, number)

    def newest(self, read: Request, data: str) -> str | None:
        """The tool of the newest change to what `read` asked for or got as `data`; None when nothing of it was changed."""
        if not self.tools:
            return None
        found = [number for pair in identifying(read.arguments) if (number := self.by_argument.get(pair)) is not None]
        # Looking for the few ids that were changed costs far less than reading all ids of a large result. They are in order, the newest change first.
        found += next(([number] for each, number in self.by_id.items() if _holds(read.arguments, each) or _holds(data, each)), [])
        return self.tools[min(found)] if found else None


def _holds(text: str, token: str) -> bool:
    """Whether `token` stands in `text` as a word of its own."""
    place = text.find(token)
    while place >= 0:
        if not (place and _alphanumeric(text[place - 1])) and _ENDS.match(text, place + len(token)):
            return True
        place = text.find(token, place + 1)
    return False


def _alphanumeric(character: str) -> bool:
    return character.isascii() and character.isalnum()


def marked(result: ToolMessage, tool: str) -> ToolMessage:
    """`result` with the mark that `tool` changed it later, as the first thing the model reads; unchanged when it is marked or no JSON object."""
    body = parsed(result.content)
    if not isinstance(body, dict) or "stale_reason" in body:
        return result
    mark = json.dumps({"stale": True, "stale_reason": f"{tool} changed this later"}, ensure_ascii=False)
    if "stale" in body:
        content = json.dumps(json.loads(mark) | {key: value for key, value in body.items() if key != "stale"}, ensure_ascii=False)
    else:
        # The rest stays as it was written, to the last digit.
        rest = result.content.lstrip()[1:].lstrip()
        content = f"{mark[:-1]}{'' if rest.startswith('}') else ', '}{rest}"
    return result.model_copy(update={"content": content})


def reason(content: str) -> str:
    """Why a result is marked as one that no longer holds; empty for one that is not."""
    body = parsed(content) if '"stale_reason"' in content else None
    return str(body.get("stale_reason") or "") if isinstance(body, dict) else ""


def changes_in(placed: Iterable[tuple[int, Item]]) -> list[Change]:
    """The successful writes among (position, item) pairs, in their order."""
    requests: dict[str, Request] = {}
    found: list[Change] = []
    for at, item in placed:
        if isinstance(item, AssistantMessage):
            requests |= {call.id: call for call in item.calls}
        elif isinstance(item, ToolMessage) and item.effect == "write" and succeeded(item) and (request := requests.get(item.call_id)) is not None:
            pairs = sorted(pair for pair in identifying(request.arguments) if len(pair[0]) + len(pair[1]) <= LONGEST_VALUE)
            named = sorted(each for each in ids(request.arguments) if len(each) <= LONGEST_VALUE)
            found.append(Change(at=at, tool=request.name, arguments=tuple(pairs[:_VALUES]), ids=tuple(named[:_VALUES])))
    return found


def remembered(known: Sequence[Change], placed: Iterable[tuple[int, Item]], upto: int) -> tuple[Change, ...]:
    """The writes to remember when the items before `upto` leave the context: those `known` and those among `placed`, the latest `MOST_CHANGES`."""
    every = {each.at: each for each in (*known, *changes_in(placed)) if each.at < upto}
    return tuple(every[at] for at in sorted(every)[-MOST_CHANGES:])


def checked(read: Mapping[int, Item], known: Sequence[Change], later: Iterable[tuple[int, Item]]) -> dict[int, Item]:
    """`read`, items by position, with every result marked that a later write changed: one `known`, one in `read`, or one in `later`."""
    every = {each.at: each for each in (*known, *changes_in(sorted(read.items())), *changes_in(later))}
    if not every:
        return dict(read)
    requests = {call.id: call for item in read.values() if isinstance(item, AssistantMessage) for call in item.calls}
    out, changes, waiting = dict(read), Changes(), sorted(every)
    for at in sorted(read, reverse=True):
        item = read[at]
        if not isinstance(item, ToolMessage) or item.effect != "read" or not succeeded(item):
            continue
        while waiting and waiting[-1] > at:
            changes.add_remembered(every[waiting.pop()])
        tool = changes.newest(requests.get(item.call_id) or Request(id=item.call_id, name=item.name, arguments="{}"), item.content)
        if tool is not None:
            out[at] = marked(item, tool)
    return out


def succeeded(result: ToolMessage) -> bool:
    """Whether a result says that its call was done."""
    if _SUCCESS.match(result.content):
        return True
    body = parsed(result.content)
    return isinstance(body, dict) and body.get("success") is True
