"""The replies a scripted model can give: good answers, odd ones, and every way in which a model's server fails.

A `Reply` is a value: what is answered (`Completion`) and how its bytes leave (delayed, cut, stalled, replaced). The
helpers below build the ones that tests need; most take another reply and change one thing about it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.demo_wire import DONE, Completion, WireCall, dumps, error_body

LONG_TEXT: Final = "One sentence after the other, so that there is something to cut. " * 8


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait of `seconds`, or until `until` is set; for ever when both are None."""

    seconds: float | None = None
    until: asyncio.Event | None = None

    async def wait(self) -> None:
        """Wait it out."""
        if self.seconds is not None:
            await asyncio.sleep(self.seconds)
        else:
            await (self.until or asyncio.Event()).wait()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one request.

    Without `body` it is `completion`, streamed or whole as the request asks; with `body` it is these bytes and
    `status`. Of a stream, only the first `keep` chunks are sent when `keep` is given, then `tail`; `pause` comes
    before chunk number `pause_at` (-1: before the response's headers); `drop` ends by breaking the connection.
    """

    completion: Completion = field(default_factory=Completion)
    status: int = 200
    body: bytes | None = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    keep: int | None = None
    tail: bytes = b""
    pause: Pause | None = None
    pause_at: int = -1
    drop: bool = False

    @property
    def plain(self) -> bool:
        """Whether all bytes can leave at once."""
        return self.pause is None and not self.drop


def text(content: str, *, pieces: int | Sequence[str] = 0, usage: bool = True, finish: str | None = None) -> Reply:
    """Text. `pieces` is the size of each streamed delta in characters, or the deltas themselves; 0 sends one."""
    if isinstance(pieces, int):
        size = pieces or max(len(content), 1)
        parts = tuple(content[start : start + size] for start in range(0, len(content), size))
    else:
        parts = tuple(pieces)
        if "".join(parts) != content:
            raise ValueError("the pieces do not add up to the content")
    return Reply(Completion(pieces=parts, usage=usage, finish=finish))


def calls(*wanted: tuple[str, dict[str, Any]], ids: Sequence[str] | None = None, say: str = "", usage: bool = True, finish: str | None = None) -> Reply:
    """Well-formed tool calls, `("tool", {"a": 1})` each; ids are derived from the content unless given. `say` is text before them."""
    if ids is not None and len(ids) != len(wanted):
        raise ValueError("one id per call, please")
    made = []
    for index, (name, arguments) in enumerate(wanted):
        raw = dumps(arguments)
        made.append(WireCall(name, raw, ids[index] if ids is not None else call_id(index, name, raw)))
    return Reply(Completion(pieces=(say,) if say else (), calls=tuple(made), usage=usage, finish=finish))


def raw_calls(
    *wanted: tuple[str | None, str | Sequence[str]],
    ids: Sequence[str | None] | None = None,
    interleave: bool = False,
    usage: bool = True,
    finish: str | None = None,
) -> Reply:
    """Tool calls as some servers send them.

    Each is `(name, arguments)`, where arguments is any text, or the fragments it is streamed in, split anywhere. No
    ids by default; None in `ids` leaves that one out. `interleave` mixes the fragments of the calls.
    """
    made = []
    for index, (name, arguments) in enumerate(wanted):
        fragments = None if isinstance(arguments, str) else tuple(arguments)
        whole = arguments if isinstance(arguments, str) else "".join(arguments)
        made.append(WireCall(name, whole, ids[index] if ids is not None else None, fragments))
    return Reply(Completion(calls=tuple(made), interleave=interleave, usage=usage, finish=finish))


def call_id(index: int, name: str, raw: str, salt: str = "") -> str:
    """A deterministic call id."""
    return "call_" + hashlib.sha256(f"{salt}|{index}|{name}|{raw}".encode()).hexdigest()[:24]


def fault(status: int = 500, *, retry_after: float | None = None, body: str | bytes | None = None, code: str | None = None) -> Reply:
    """An HTTP error (or any status with any body). `retry_after` is in seconds; the default body has the API's error shape."""
    kind = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}.get(status, "server_error")
    raw = error_body(f"Scripted failure {status}.", kind=kind, code=code) if body is None else body.encode() if isinstance(body, str) else body
    headers = () if retry_after is None else (("retry-after", f"{retry_after:g}"),)
    return Reply(status=status, body=raw, headers=headers)


def context_overflow() -> Reply:
    """The 400 that says the request does not fit the model's window."""
    return Reply(status=400, body=error_body("The messages exceed the model's context length.", param="messages", code="context_length_exceeded"))


def refusal(words: str) -> Reply:
    """The model declines: a `refusal` in place of content."""
    return Reply(Completion(refusal=words))


def empty(*, usage: bool = True) -> Reply:
    """An answer with no text and no calls."""
    return Reply(Completion(usage=usage))


def no_choices() -> Reply:
    """An answer in which `choices` is an empty list throughout."""
    return Reply(Completion(choices=False))


def bad_json_stream(after: int = 2, reply: Reply | None = None) -> Reply:
    """A stream whose next event after `after` good chunks is cut-off JSON; then `[DONE]`."""
    broken = b'data: {"id":"broken","choices":[{"index":0,"delta":{"content":"cut o\n\n'
    return dataclasses.replace(reply or text(LONG_TEXT, pieces=40), keep=after, tail=broken + DONE)


def stream_error(after: int = 2, reply: Reply | None = None, *, message: str = "Scripted failure in mid-stream.") -> Reply:
    """A stream that, after `after` good chunks, carries an error event and ends."""
    return dataclasses.replace(reply or text(LONG_TEXT, pieces=40), keep=after, tail=b"data: " + error_body(message, kind="server_error") + b"\n\n")


def drop_after(n_chunks: int, reply: Reply | None = None) -> Reply:
    """The connection breaks after `n_chunks` chunks (0: after the headers)."""
    return dataclasses.replace(reply or text(LONG_TEXT, pieces=40), keep=n_chunks, drop=True)


def disconnect() -> Reply:
    """The connection breaks before any answer."""
    return hang(0)


def hang(seconds: float | None = None, *, until: asyncio.Event | None = None) -> Reply:
    """Nothing is answered, not even headers, for `seconds`, until the event, or for ever; then the connection breaks."""
    return Reply(pause=Pause(seconds, until), drop=True, keep=0, body=b"")


def stall_after(n_chunks: int, reply: Reply | None = None, *, seconds: float | None = None, until: asyncio.Event | None = None) -> Reply:
    """The stream stops after `n_chunks` chunks for `seconds`, until the event, or for ever; then goes on."""
    return _paused(reply or text(LONG_TEXT, pieces=40), Pause(seconds, until), n_chunks)


def delay(seconds: float, reply: Reply) -> Reply:
    """`reply`, `seconds` later."""
    return _paused(reply, Pause(seconds), -1)


def held(until: asyncio.Event, reply: Reply) -> Reply:
    """`reply`, once the event is set: a delay without a clock."""
    return _paused(reply, Pause(until=until), -1)


def reasoning(thought: str, reply: Reply) -> Reply:
    """`reply` with `reasoning_content` before it."""
    return dataclasses.replace(reply, completion=dataclasses.replace(reply.completion, reasoning=thought))


def _paused(reply: Reply, pause: Pause, at: int) -> Reply:
    if reply.pause is not None:
        raise ValueError("a reply can pause once only")
    return dataclasses.replace(reply, pause=pause, pause_at=at)
