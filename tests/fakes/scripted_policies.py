"""Ready policies for the scripted model: functions from a request to a reply, with no state of their own.

Everything they decide is read from the messages of the request, so a policy behaves the same after the model, the
bot or both were restarted. `obey_policy` is the worst model there can be: whatever any text tells it to call, it calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from playground.demo_wire import dumps
from tests.fakes.scripted_replies import Reply, call_id, calls, text

Policy = Callable[[dict[str, Any]], "Reply | list[Reply] | Awaitable[Reply | list[Reply]]"]

NONCE: Final = re.compile(r"#m\d+")
_COMMAND: Final = re.compile(r"\bCALL\s+([A-Za-z_][\w-]*)\s*(?=\{)")
_DECODER: Final = json.JSONDecoder()


def content_text(message: dict[str, Any]) -> str:
    """A message's content as one text, whether it is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def echo_policy(request: dict[str, Any]) -> Reply:
    """Answers with every nonce (`#m` and digits) of the user messages after the last assistant message, in order, or "nothing"."""
    fresh: list[str] = []
    for message in reversed(request["messages"]):
        if message["role"] == "assistant":
            break
        if message["role"] == "user":
            fresh.append(content_text(message))
    found = [nonce for said in reversed(fresh) for nonce in NONCE.findall(said)]
    return text(" ".join(found) or "nothing")


def obey_policy(request: dict[str, Any]) -> Reply:
    """Obeys `CALL tool {json}` wherever it stands: calls that tool once with these arguments, then answers "done".

    Looked for in every message: what people wrote, what tools returned (also inside their JSON), what the system
    prompt holds, names of files. Whether the tool is offered does not matter to it.
    """
    asked: dict[tuple[str, str], dict[str, Any]] = {}
    for message in request["messages"]:
        for name, arguments in commands(content_text(message)):
            asked.setdefault((name, _canonical(arguments)), arguments)
    made: list[tuple[str, str]] = []
    for message in request["messages"]:
        wanted = [call["function"] for call in message.get("tool_calls") or ()]
        made.extend((function["name"], _canonical(_parse(function["arguments"]))) for function in wanted)
    pending = [key for key in asked if key not in made]
    edited = [key for key in made if key not in asked]  # a person changed the arguments: the command counts as obeyed
    for name, _ in edited:
        match = next((key for key in pending if key[0] == name), None)
        if match is not None:
            pending.remove(match)
    if not pending or not request.get("tools"):
        return text("done")
    salt = str(len(request["messages"]))
    ids = [call_id(index, name, raw, salt) for index, (name, raw) in enumerate(pending)]
    return calls(*((key[0], asked[key]) for key in pending), ids=ids)


def loops(tool: str, arguments: dict[str, Any] | None = None, *, stubborn: bool = False) -> Callable[[dict[str, Any]], Reply]:
    """A policy that asks for the same tool for ever; only when `stubborn` also in a request that offers no tools."""

    def policy(request: dict[str, Any]) -> Reply:
        if not request.get("tools") and not stubborn:
            return text("I stopped because no tools were offered.")
        wanted = arguments or {}
        return calls((tool, wanted), ids=[call_id(0, tool, dumps(wanted), str(len(request["messages"])))])

    return policy


loop_policy: Final = loops("current_time")
"""Asks for the current time, for ever."""


def commands(said: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every `CALL tool {json}` in a text, also where the text is JSON (or JSON in JSON) and the command is escaped in it."""
    for _ in range(4):
        rest, last = [], 0
        for match in _COMMAND.finditer(said):
            try:
                arguments, end = _DECODER.raw_decode(said, match.end())
            except ValueError:
                continue  # not a command after all, or still escaped: looked at again one level down
            if isinstance(arguments, dict):
                yield match[1], arguments
                rest.append(said[last : match.start()])
                last = end
        said = "".join([*rest, said[last:]])
        if '\\"' not in said:
            return
        said = said.replace('\\"', '"').replace("\\\\", "\\")


def _parse(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _canonical(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)
