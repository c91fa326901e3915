"""What the demo model reads out of the messages of a request: who said what, what was called, what is still to answer.

The demo model keeps no state: all it knows about a conversation is in the request, as for any model. This module
turns that list into plain values, so that the rest never touches the wire format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.demo_note import NOTE, ProgramNote, read_note

ORDER_ID: Final = re.compile(r"(?<![A-Za-z0-9-])[A-Za-z]{2,6}-\d{4,8}-\d{2,6}(?![A-Za-z0-9-])")
REMINDER_TOOLS: Final = frozenset({"remind_me", "list_reminders", "cancel_reminder"})
SILENT: Final = frozenset({"open_tools", "no_fitting_tool", "ask_person"})
"""Calls that are steps on the way: their outcome is nothing to tell a person about."""
_SPEAKER: Final = re.compile(r"\s*\[([^\[\]\n]{1,100})\]:?\s*")
_ASIDE: Final = re.compile(r"\((?:said to others|earlier in the channel)\)\s*")
_CARRIED: Final = re.compile(r"(?:^|\n)\(quoted, data only\)(?:\n>[^\n]*)*\s*\Z")
_FENCE: Final = re.compile(r"^> ?", re.MULTILINE)
_FILE: Final = re.compile(r"^(?:> )?\(attached file: [^\n]*\)$", re.MULTILINE)
_ADDRESSEE: Final = re.compile(r"^\s*(?:<@[A-Z0-9]+(?:\|[^>]*)?>|@steward\b)[\s,:，：]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A person's message: its position in the list, the speaker's shown name ("" if unknown), and the text."""

    index: int
    speaker: str
    text: str
    attachment: bool = False
    """Whether a file or an image came along."""
    aside: bool = False
    """Said to others: context, not a request."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its outcome, as far as the message list has it."""

    index: int
    """Position of the assistant message that asked for it."""
    name: str
    arguments: dict[str, Any]
    success: bool
    data: Any = None
    code: str = ""
    message: str = ""
    truncated: bool = False
    edited: bool = False
    """A person changed the arguments before approving; `arguments` are the changed ones."""
    result_id: str = ""
    """Under which the rest of a cut result is kept, "" when there is none."""
    pages: int = 0
    stale: str = ""
    """What the result says about its age, when the source did not answer and an older value stands in."""

    @property
    def waiting(self) -> bool:
        """Whether the outcome is still to come."""
        return self.code == "WAITING"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The whole conversation, in order."""

    said: tuple[Said, ...]
    calls: tuple[Called, ...]
    answers: tuple[tuple[int, str], ...]
    """Final answers of the assistant: (position, text)."""
    length: int
    note: ProgramNote = field(default_factory=ProgramNote)
    """The program's note before the current message."""

    def note_for(self, said: Said) -> ProgramNote:
        """What the program's note tells about the person who said this; nothing when it is about somebody else's message, or an earlier one."""
        about = next((one for one in self.said if one.index > self.note.index and not one.aside), None)
        mine = about is not None and said.index > self.note.index and said.speaker == about.speaker
        return self.note if mine else ProgramNote()

    @property
    def turn_start(self) -> int:
        """Position of the first message after the last final answer."""
        return self.answers[-1][0] + 1 if self.answers else 0

    @property
    def turn_calls(self) -> tuple[Called, ...]:
        """The calls of the current turn."""
        return tuple(call for call in self.calls if call.index >= self.turn_start)

    def requests(self) -> list[tuple[Said, ...]]:
        """The messages to answer in this turn, in groups with tool calls between them."""
        edges = sorted({call.index for call in self.turn_calls} | {self.length})
        starts = [self.turn_start, *edges]
        return [group for start, edge in zip(starts, edges, strict=False) if (group := self.request_before(edge, start))]

    def request_before(self, edge: int, start: int = 0) -> tuple[Said, ...]:
        """The request that ends before position `edge`: the last speaker's unbroken run of messages.

        What others said before is context; two quick messages of one person are one request; what was said to others
        is never one. Calls and answers break a run too.
        """
        breaks = {index for index, _ in self.answers} | {call.index for call in self.calls}
        start = max([start, *(index for index in breaks if index < edge)])
        block = [said for said in self.said if start <= said.index < edge and not said.aside]
        first = len(block) - 1
        while first > 0 and block[first - 1].speaker == block[-1].speaker:
            first -= 1
        return tuple(block[first:]) if block else ()

    def unreported(self) -> list[Called]:
        """Decided calls of earlier turns that no final answer followed before people spoke again."""
        out = []
        for call in self.calls:
            after = min((index for index, _ in self.answers if index > call.index), default=self.length)
            if call.name not in SILENT and not call.waiting and any(call.index < said.index < after for said in self.said):
                out.append(call)
        return out

    def earlier(self, index: int, speaker: str | None = None) -> list[Said]:
        """What was said before position `index`, by one speaker or (None) by anyone."""
        return [said for said in self.said if said.index < index and (speaker is None or said.speaker == speaker)]

    def last_orders(self, before: int) -> list[str]:
        """The order ids that "that order" may mean: one when it is clear, several when a list was the last mention, else none."""
        marks: list[tuple[int, list[str]]] = [(said.index, order_ids(said.text)[-1:]) for said in self.said if said.index < before]
        for call in self.calls:
            if call.index < before:
                own = order_ids(json.dumps(call.arguments, ensure_ascii=False))
                marks.append((call.index, own or order_ids(json.dumps(call.data, ensure_ascii=False))))
        for _, found in sorted((mark for mark in marks if mark[1]), key=lambda mark: mark[0], reverse=True):
            return found
        return []

    def last_list(self, before: int) -> list[str]:
        """The ids of the last list of orders shown, in its order."""
        for call in reversed(self.calls):
            found = order_ids(json.dumps(call.data, ensure_ascii=False))
            if call.index < before and len(found) > 1:
                return found
        return []

    def last_reminders(self, before: int) -> list[tuple[str, str]]:
        """`(text, id)` of the reminders last shown: a list's, in its order, or the one just set."""
        for call in reversed(self.calls):
            if call.index >= before or not call.success or not isinstance(call.data, dict):
                continue
            if call.name == "list_reminders":
                return reminder_rows(call)
            if call.name == "remind_me" and call.data.get("reminder_id"):
                return [(str(call.arguments.get("text", "")), str(call.data["reminder_id"]))]
        return []

    def reminders_are_meant(self, before: int) -> bool:
        """Whether reminders were talked about later than orders."""
        calls = [call for call in self.calls if call.index < before]
        reminders = max((call.index for call in calls if call.name in REMINDER_TOOLS), default=-1)
        others = [call for call in calls if call.name not in REMINDER_TOOLS and call.index > reminders]
        orders = any(order_ids(json.dumps([call.arguments, call.data], ensure_ascii=False)) for call in others)
        return reminders >= 0 and not orders and not any(reminders < said.index < before and order_ids(said.text) for said in self.said)


def reminder_rows(call: Called) -> list[tuple[str, str]]:
    """`(text, id)` of each reminder in a result of `list_reminders`."""
    rows = call.data.get("reminders") if isinstance(call.data, dict) else None
    return [(str(row.get("text", "")), str(row["reminder_id"])) for row in rows or () if isinstance(row, dict) and row.get("reminder_id")]


def order_ids(text: str) -> list[str]:
    """The order ids in a text, upper case, each once, in order."""
    return list(dict.fromkeys(match.upper() for match in ORDER_ID.findall(text)))


def read(messages: Sequence[dict[str, Any]]) -> Transcript:
    """Read a valid message list."""
    said: list[Said] = []
    named = any(_SPEAKER.match(_text(message)) or message.get("name") for message in messages if message["role"] == "user")
    calls: list[Called] = []
    answers: list[tuple[int, str]] = []
    note = ProgramNote()
    for index, message in enumerate(messages):
        match message["role"]:
            case "user":
                one = _said(index, message)
                if one.speaker == NOTE:
                    note = _newer(note, read_note(index, one.text))
                elif one.speaker or not named:  # in a named conversation, a nameless line is the program's
                    said.append(one)
            case "assistant" if message.get("tool_calls"):
                count = len(message["tool_calls"])
                results = {result["tool_call_id"]: _text(result) for result in messages[index + 1 : index + 1 + count]}
                calls.extend(_called(index, call["function"], results[call["id"]]) for call in message["tool_calls"])
            case "assistant":
                answers.append((index, _text(message)))
    return Transcript(tuple(said), tuple(calls), tuple(answers), len(messages), note)


def _newer(known: ProgramNote, read: ProgramNote) -> ProgramNote:
    """Of two notes the later one, unless it tells nothing: one about the budget follows the one about the person."""
    return read if read.noted or read.memories or read.missing or known.index < 0 else known


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return content or ""


def _said(index: int, message: dict[str, Any]) -> Said:
    text, speaker = _text(message), message.get("name") or ""
    prefix = _SPEAKER.match(text)
    if prefix:
        speaker, text = prefix[1].strip(), text[prefix.end() :]
    aside = _ASIDE.match(text)
    if aside:
        text = text[aside.end() :]
    text = _CARRIED.sub("", text)
    if aside or speaker.endswith("(bot)"):  # what is not the person's own request is fenced, line by line
        text = _FENCE.sub("", text)
    content = message.get("content")
    attachment = bool(_FILE.search(text)) or (isinstance(content, list) and any(part.get("type") != "text" for part in content))
    return Said(index, speaker, _ADDRESSEE.sub("", _FILE.sub("", text)).strip(), attachment, bool(aside))


def _called(index: int, function: dict[str, Any], raw: str) -> Called:
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        arguments = {}
    if not isinstance(arguments, dict):
        arguments = {}
    try:
        result = json.loads(raw)
    except ValueError:
        result = None
    if not isinstance(result, dict) or not isinstance(result.get("success"), bool):
        return Called(index, function["name"], arguments, success=True, data=raw if result is None else result)
    edited = isinstance(result.get("arguments"), dict)
    return Called(
        index,
        function["name"],
        result["arguments"] if edited else arguments,
        success=result["success"],
        data=result.get("data"),
        code=result.get("error_code") or "",
        message=result.get("error_message") or "",
        truncated=result.get("truncated") is True,
        edited=edited,
        result_id=str(result.get("result_id") or ""),
        pages=result["pages"] if isinstance(result.get("pages"), int) else 0,
        stale=str(result.get("stale") or ""),
    )
