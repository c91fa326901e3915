"""The identifier guard: no number, id, date, address, file name or amount is lost because a summary did not find it worth a word.

What a text names is found by code, in what is about to be compacted and again in the summary that was made of it. What is missing is put
back exactly as it was written. The guard never trusts who wrote the summary; where the room ends, the oldest names are only counted, for
a search in the thread still finds their messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from memory.call_line import one_line
from memory.compaction import as_read
from memory.identifiers import Identifier, canonical, identifiers, missing
from memory.session_memory import SECTIONS, Summary
from memory.summary import Count, fitted, kind_of, shown
from memory.transcript import AssistantMessage, Item, Note, Request, ToolMessage, UserMessage

LARGE: Final = 4_000
"""Characters above which a tool's result is a table or a document: only what stands at its top is named."""
_TOP_VALUE: Final = 200
_DEPTH: Final = 12
_SAID_BY_TOOL: Final = ("data", "error_message", "note", "arguments")
"""What of a result's envelope is about the world; the rest (pages, age, codes) is about the call."""

_NOISE = re.compile(r"data:[\w./+-]{0,80};base64,[A-Za-z0-9+/=_-]*|(?<![A-Za-z0-9/])(?:0x)?[0-9a-fA-F]{65,}|(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[ :]){16,}")
"""Pictures and dumps written as text; longer than any checksum that somebody would ask for."""


def required(items: Iterable[Item], before: Summary) -> tuple[Identifier, ...]:
    """Every identifier that a summary of `before` and `items` must name, each once, the newest last.

    Of a tool result above `LARGE` characters those of its one line and of its top-level fields; of encoded bytes none.
    """
    log = as_read(items)
    requests = {call.id: call for item in log if isinstance(item, AssistantMessage) for call in item.calls}
    lines = (each for section in SECTIONS for each in getattr(before, section))
    texts = chain(lines, (text for item in log for text in _texts(item, requests)))
    read = (each for text in texts for each in identifiers(_NOISE.sub(" ", text)))
    return _newest_last(chain(map(_listed, before.identifiers), read))


def _newest_last(found: Iterable[Identifier]) -> tuple[Identifier, ...]:
    each_once: dict[str, Identifier] = {}
    for each in found:
        form = canonical(each.text)
        each_once.pop(form, None)
        each_once[form] = each
    return tuple(each_once.values())


def _listed(text: str) -> Identifier:
    """A name that an earlier summary lists, whatever it looks like by itself."""
    return Identifier(text, kind_of(text))


def _texts(item: Item, requests: dict[str, Request]) -> Iterator[str]:
    match item:
        case UserMessage():
            yield from (item.text, item.quoted, *item.files)
        case AssistantMessage():
            yield item.text
            for call in item.calls:
                yield _plain(call.arguments)
        case ToolMessage() if len(item.content) > LARGE:
            request = requests.get(item.call_id) or Request(id=item.call_id, name=item.name, arguments="{}")
            yield one_line(request, item)
            yield _top(item.content)
        case ToolMessage():
            yield _told(item.content)
        case Note():
            yield item.text
        case _:
            pass


def _read(text: str) -> Any:
    """The JSON value of `text` with every number as it is written; None when it is not JSON."""
    try:
        return json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None


def _plain(text: str) -> str:
    """The keys and values of a JSON text, one a line: escapes and brackets would hide or change what is named. Other text as it is."""
    value = _read(text)
    return text if value is None else "\n".join(_leaves(value))


def _told(content: str) -> str:
    envelope = _read(content)
    if not isinstance(envelope, dict) or "success" not in envelope:
        return _plain(content)
    return "\n".join(each for key in _SAID_BY_TOOL for each in _leaves(envelope.get(key)))


def _top(content: str) -> str:
    envelope = _read(content)
    if not isinstance(envelope, dict):
        return ""
    data = envelope.get("data") if "success" in envelope else envelope
    fields = data if isinstance(data, dict) else {}
    scalars = {key: value for key, value in fields.items() if isinstance(value, str) and len(value) <= _TOP_VALUE}
    return "\n".join([*_leaves(scalars), *_leaves(envelope.get("error_message"))])


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > _DEPTH:
        return
    match value:
        case dict():
            for key, each in value.items():
                yield str(key)
                yield from _leaves(each, depth + 1)
        case list():
            for each in value:
                yield from _leaves(each, depth + 1)
        case str():
            yield value
        case _:
            pass


def guarded(summary: Summary, required: Sequence[Identifier], *, budget: int, count: Count) -> Summary:
    """The summary within `budget` tokens, naming every one of `required`: in its lines, or in `identifiers`; the oldest only counted in `more`.

    Sentences give way to names down to half of the budget. `more` of the given summary is taken for what earlier compactions
    counted, so a guarded summary is not guarded again with the same `required`.
    """
    every = _newest_last(chain(map(_listed, summary.identifiers), required))
    known = _missing(every, summary)
    lines = summary.model_copy(update={"identifiers": ()})
    if len(known) <= budget and count(shown(whole := _with(lines, known, summary.more))) <= budget:
        return whole
    room = max(budget, 0)  # no name is shorter than a token, so older ones than these can only be counted
    most = summary.more + len(every)  # what `more` can come to: counted with the longest line it may need
    names = count(shown(_with(Summary(language=summary.language), known[-room:], most)))
    lost: list[Identifier] = []
    # With every line that gives way its names have to be listed too: a step further each time that they have no room.
    for share in (budget - names, budget * 3 // 4, budget // 2):
        if share >= budget // 2:
            lines = fitted(lines, budget=share, count=count)
            lost = _missing(every[-room:], lines)
            if count(shown(_with(lines, lost, most))) <= budget:
                break
    low, high = 0, len(lost)  # how many of the newest have room
    while low < high:
        middle = (low + high + 1) // 2
        if count(shown(_with(lines, lost[-middle:], most))) <= budget:
            low = middle
        else:
            high = middle - 1
    whole = fitted(_with(lines, lost[len(lost) - low :], most), budget=budget, count=count)
    # A name may stand within one that is listed ("7" in "7号"); only what is nowhere is counted.
    return whole.model_copy(update={"more": summary.more + len(missing(every, shown(whole.model_copy(update={"more": 0}))))})


def _missing(wanted: Sequence[Identifier], summary: Summary) -> list[Identifier]:
    """Those of `wanted` that the sentences of the summary do not hold; its own count of left-out names is no mention of a number."""
    return list(missing(wanted, shown(summary.model_copy(update={"identifiers": (), "more": 0}))))


def _with(lines: Summary, names: Sequence[Identifier], more: int) -> Summary:
    return lines.model_copy(update={"identifiers": tuple(dict.fromkeys(each.text for each in names)), "more": more})
