"""What leaves the context, or shrinks in it, because it only misleads: encoded data, errors that were overcome, old calls, repetitions, stale results.

`tidy` goes over the arranged items of a thread before they are sent. It never touches the transcript: the same items are tidied anew each time, and
the same items always give the same result, so that what the model has read before stays the same to the letter. Older calls become lines in steps
of several rounds for the same reason. What the current run has done is left alone: the model is in the middle of it.

Count rounds on the items as they were, not on tidied ones: a message that lost its calls would look like an answer. Its run's id ends in
`INTERIM`, by which `tidy` itself knows it again.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from memory.binary import without_binary
from memory.call_line import one_line
from memory.rounds import rounds
from memory.stale import Changes, identifying, marked, parsed
from memory.summary import FENCE
from memory.transcript import AssistantMessage, Item, Note, Request, ToolMessage, UserMessage

LINES: Final = "Earlier tool calls:"
"""How the note begins that stands for older calls."""
INTERIM: Final = " (interim)"
SAME: Final = '{"success":true,"note":"same result as a later identical call"}'
WORTH_REPLACING: Final = 200
"""Characters of a result above which its repetition is replaced."""
NOT_ERRORS: Final = frozenset({"WAITING", "OUTCOME_UNKNOWN", "DENIED_BY_PERSON", "EXPIRED", "SUPERSEDED"})
"""Codes of results that say how things stand, not that something went wrong."""


_SUCCESS: Final = re.compile(r'\s*\{\s*"success"\s*:\s*true\b')


@dataclass(frozen=True, slots=True)
class _Call:
    """One call with its result. `number` counts the calls of the thread; `code` is that of an error, with what says only how things stand left out."""

    number: int
    request: Request
    result: ToolMessage
    success: bool
    failed: bool
    code: str


@dataclass(frozen=True, slots=True)
class _Turn:
    """An answer of the model that asks for calls, with its calls; `round` counts from 1, 0 is before the first."""

    number: int
    message: AssistantMessage
    calls: tuple[_Call, ...]
    round: int
    fixed: bool
    """Of the current run, or with a call that is still open: nothing of it may change."""


_Piece = _Turn | AssistantMessage | UserMessage | Note


def tidy(items: Sequence[Item], *, current_run: str, whole_rounds: int = 5, whole_calls: int = 3, open_calls: Collection[str] = ()) -> list[Item]:
    """The arranged `items` without what misleads, still arranged: each request is followed at once by its result.

    `current_run` is the id of the run being worked on, `whole_rounds` and `whole_calls` say how many of the newest rounds and calls stay
    whole, `open_calls` are the ids of calls that still wait. Tidying twice changes nothing more. Raises ValueError for items not arranged.
    """
    clean = [_without_binary(item) for item in items]
    places = [place for place, item in enumerate(clean) if not (isinstance(item, AssistantMessage) and item.run_id.endswith(INTERIM))]
    starts = [places[start] for start in rounds([clean[place] for place in places])]
    pieces = _marked_stale(_codes_only(_without_resolved(list(_pieces(clean, starts, current_run, frozenset(open_calls)))), len(starts)))
    newest = {call.number for call in _calls(pieces)[-whole_calls:]} if whole_calls > 0 else set()
    past = _past_rounds(len(starts), whole_rounds)
    lined = {
        turn.number
        for turn in _turns(pieces)
        if not (turn.fixed or any(call.number in newest for call in turn.calls))
        and ((past > 0 and turn.round <= past) or all(_haunts(call, turn, len(starts)) for call in turn.calls))
    }
    return list(_written(_without_repetitions(pieces, lined, newest), lined))


def _past_rounds(count: int, whole: int) -> int:
    """How many of the oldest rounds have their calls as lines. It grows by `whole` at a time, so that between `whole` and twice as many stay whole."""
    step = max(1, whole)
    return max(0, count // step - 1) * step


def _pieces(items: Sequence[Item], starts: Sequence[int], current_run: str, open_calls: frozenset[str]) -> Iterator[_Piece]:
    place = number = 0
    while place < len(items):
        item = items[place]
        place += 1
        if isinstance(item, AssistantMessage) and item.calls:
            results = items[place : place + len(item.calls)]
            calls = []
            for offset, request in enumerate(item.calls):
                result = results[offset] if offset < len(results) else None
                if not isinstance(result, ToolMessage) or result.call_id != request.id:
                    raise ValueError("the items are not arranged: a request is not followed by its result")
                calls.append(_call(number + offset, request, result))
            fixed = item.run_id == current_run or any(request.id in open_calls for request in item.calls)
            yield _Turn(number, item, tuple(calls), bisect_right(starts, place - 1), fixed)
            place += len(calls)
            number += len(calls)
        elif isinstance(item, AssistantMessage | UserMessage | Note):
            yield item
        else:
            raise ValueError("the items are not arranged: a result or a correction stands alone")


def _call(number: int, request: Request, result: ToolMessage) -> _Call:
    if _SUCCESS.match(result.content):
        return _Call(number, request, result, success=True, failed=False, code="")
    body = parsed(result.content)
    success = body.get("success") if isinstance(body, dict) else None
    code = body.get("error_code") if isinstance(body, dict) else None
    code = code if isinstance(code, str) else ""
    return _Call(number, request, result, success=success is True, failed=success is False and code not in NOT_ERRORS, code=code)


def _turns(pieces: Sequence[_Piece]) -> list[_Turn]:
    return [piece for piece in pieces if isinstance(piece, _Turn)]


def _calls(pieces: Sequence[_Piece]) -> list[_Call]:
    return [call for turn in _turns(pieces) for call in turn.calls]


def _without_resolved(pieces: list[_Piece]) -> list[_Piece]:
    """Leave out each failed call of an earlier run that a later one made good; a message that loses all its calls keeps its text."""
    done: dict[str, list[tuple[_Turn, _Call]]] = {}
    out: list[_Piece] = []
    for piece in reversed(pieces):
        if not isinstance(piece, _Turn):
            out.append(piece)
            continue
        left: list[_Call] = []
        for call in reversed(piece.calls):
            later = done.setdefault(call.request.name, [])
            if piece.fixed or not call.failed or not any(_makes_good(piece, call, *good) for good in later):
                left.append(call)
            if call.success:
                later.append((piece, call))
        if len(left) == len(piece.calls):
            out.append(piece)
        elif left:
            calls = tuple(reversed(left))
            out.append(replace(piece, calls=calls, message=piece.message.model_copy(update={"calls": tuple(call.request for call in calls)})))
        elif piece.message.text:
            out.append(_interim(piece.message))
    return out[::-1]


def _makes_good(turn: _Turn, failed: _Call, later_turn: _Turn, later: _Call) -> bool:
    if failed.request.arguments == later.request.arguments:
        return True
    corrected = turn.message.run_id == later_turn.message.run_id and turn.number < later_turn.number  # calls asked side by side do not correct each other
    return corrected or bool(identifying(failed.request.arguments) & identifying(later.request.arguments))


def _haunts(call: _Call, turn: _Turn, count: int) -> bool:
    """Whether this is an error nobody overcame that has had its one more round."""
    return call.failed and not turn.fixed and count - turn.round >= 2


def _codes_only(pieces: list[_Piece], count: int) -> list[_Piece]:
    """Old errors without their prose: the code alone says that it was tried."""

    def short(call: _Call, turn: _Turn) -> _Call:
        if not _haunts(call, turn, count):
            return call
        content = json.dumps({"success": False, "error_code": call.code} if call.code else {"success": False}, ensure_ascii=False)
        return replace(call, result=call.result.model_copy(update={"content": content}))

    return [replace(piece, calls=tuple(short(call, piece) for call in piece.calls)) if isinstance(piece, _Turn) else piece for piece in pieces]


def _marked_stale(pieces: list[_Piece]) -> list[_Piece]:
    """Mark what earlier runs read before something about it was changed, with the newest such change."""
    changes = Changes()
    out: list[_Piece] = []
    for piece in reversed(pieces):
        if not isinstance(piece, _Turn):
            out.append(piece)
            continue
        calls: list[_Call] = []
        for call in reversed(piece.calls):
            if call.success and call.result.effect == "write":
                changes.add(call.request)
            elif call.success and call.result.effect == "read" and not piece.fixed and call.result.content != SAME:
                tool = changes.newest(call.request, call.result.content)
                calls.append(call if tool is None else replace(call, result=marked(call.result, tool)))
                continue
            calls.append(call)
        out.append(replace(piece, calls=tuple(reversed(calls))))
    return out[::-1]


def _without_repetitions(pieces: list[_Piece], lined: set[int], newest: set[int]) -> list[_Piece]:
    """Of equal results to equal requests, all but the newest only say so."""
    seen: set[tuple[str, str, str]] = set()
    out: list[_Piece] = []
    for piece in reversed(pieces):
        if not isinstance(piece, _Turn) or piece.number in lined:
            out.append(piece)
            continue
        calls: list[_Call] = []
        for call in reversed(piece.calls):
            key = (call.request.name, call.request.arguments, call.result.content)
            again = key in seen and call.success and not piece.fixed and call.number not in newest and len(call.result.content) > WORTH_REPLACING
            seen.add(key)
            calls.append(replace(call, result=call.result.model_copy(update={"content": SAME})) if again else call)
        out.append(replace(piece, calls=tuple(reversed(calls))))
    return out[::-1]


def _written(pieces: Sequence[_Piece], lined: set[int]) -> Iterator[Item]:
    """The pieces as items again; those in `lined` as their text and a note."""
    for piece in pieces:
        if not isinstance(piece, _Turn):
            yield piece
        elif piece.number in lined:
            if piece.message.text:
                yield _interim(piece.message)
            yield _as_lines(tuple((call.request, call.result) for call in piece.calls))
        else:
            yield piece.message
            yield from (call.result for call in piece.calls)


@lru_cache(maxsize=2_048)
def _as_lines(calls: tuple[tuple[Request, ToolMessage], ...]) -> Note:
    # Data behind a fence: nothing a tool or its caller wrote can pose as the program or as a speaker.
    return Note(text=without_binary("\n".join([LINES, *(f"{FENCE}{' '.join(one_line(request, result).split())}" for request, result in calls)])))


@lru_cache(maxsize=2_048)
def _interim(message: AssistantMessage) -> AssistantMessage:
    return message.model_copy(update={"calls": (), "run_id": message.run_id + INTERIM})


@lru_cache(maxsize=8_192)
def _without_binary(item: Item) -> Item:
    """Remembered: most of a thread is tidied again for every request, and comes out the same, as the same object."""
    match item:
        case UserMessage():
            new: dict[str, Any] = {"text": without_binary(item.text), "quoted": without_binary(item.quoted), "files": tuple(map(without_binary, item.files))}
        case AssistantMessage():
            requests = tuple(call.model_copy(update={"arguments": without_binary(call.arguments)}) for call in item.calls)
            new = {"text": without_binary(item.text), "calls": requests}
        case ToolMessage():
            new = {"content": without_binary(item.content)}
        case Note():
            new = {"text": without_binary(item.text)}
        case _:
            return item
    return item if all(getattr(item, name) == value for name, value in new.items()) else item.model_copy(update=new)
