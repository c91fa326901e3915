"""What was done in a thread, as memories made by code: one episode for each request that used tools, and the state of the things tools told about.

Read from the transcript alone: which calls a request led to and what came of each. Only the person's request in their own words and the names
of the tools get into an episode; only declared fields of a tool's structured result get into an entity. Pure.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bot.messages import pick
from bot.session_ops import run_id_of
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, person
from memory.longterm.entities import entities
from memory.longterm.episodes import Deed, Outcome, Result, episode
from memory.longterm.memory import Memory, Source
from memory.redaction import GONE
from memory.transcript import AssistantMessage, Item, ToolMessage, UserMessage
from tools.registry import Registry
from tools.result import ErrorCode

MEMORY = "memory"
"""The group of the tools over memory itself."""


def records_of(fresh: Sequence[Item], log: Sequence[Item], thread: Thread, registry: Registry) -> dict[Actor, list[Memory]]:
    """By person: what was done for them in the runs whose answer is among `fresh`. `log` holds what led to it. Audiences are the caller's to set."""
    ended = {item.run_id for item in fresh if isinstance(item, AssistantMessage) and not item.calls}
    requests = (item for item in log if isinstance(item, UserMessage) and item.addressed and not item.bot and item.text != GONE)
    asked = {run_id_of(thread, item.actor, item.ts): item for item in requests}
    results = {item.call_id: item for item in log if isinstance(item, ToolMessage)}
    made: dict[Actor, list[Memory]] = defaultdict(list)
    for run_id in sorted(ended & asked.keys()):
        request = asked[run_id]
        answers = [item for item in log if isinstance(item, AssistantMessage) and item.run_id == run_id]
        made[request.actor] += _of_run(request, answers, results, thread, registry)
    return made


def _of_run(request: UserMessage, answers: Sequence[AssistantMessage], results: Mapping[str, ToolMessage], thread: Thread, registry: Registry) -> list[Memory]:
    owner, language = person(request.actor), pick(request.text)
    deeds, made = [], []
    at = max((answer.at for answer in answers), default=0.0)
    for call in (call for answer in answers for call in answer.calls):
        tool, result = registry.get(call.name), _read(results.get(call.id))
        if tool is None or result is None or tool.trusted or tool.asks or tool.always or tool.group == MEMORY:
            continue  # sums, the time, questions, the opening of groups and what is done to memory itself are no deeds
        deeds.append(Deed(tool.name, _came_of(result), topic=tool.group))
        if tool.thing is not None and result.get("success") and not result.get("stale"):
            source = Source(thread=thread, ts=request.ts, said_by=request.actor, via="tool")
            told = results[call.id].at or at
            made += entities(result.get("data"), tool.thing, owner=owner, audience=PRIVATE, source=source, tool=tool.name, at=told, language=language)
    source = Source(thread=thread, ts=request.ts, said_by=request.actor, via="run")
    done = episode(owner=owner, audience=PRIVATE, source=source, request=request.text, deeds=deeds, outcome=_outcome(deeds), at=at, language=language)
    return [*made, done] if done is not None else made


def _read(item: ToolMessage | None) -> dict[str, Any] | None:
    if item is None:
        return None
    try:
        read = json.loads(item.content)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _came_of(result: Mapping[str, Any]) -> Result:
    if result.get("success"):
        return "success"
    return "denied" if result.get("error_code") == ErrorCode.DENIED_BY_PERSON else "failed"


def _outcome(deeds: Sequence[Deed]) -> Outcome:
    results = {deed.result for deed in deeds}
    return "denied" if "denied" in results else "failed" if results == {"failed"} else "done"
