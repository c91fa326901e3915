"""Streamed messages: the state machine behind chat.startStream, appendStream and stopStream.

A stream belongs to one message. Text appended in a row grows one markdown block; task updates with the same id update the same card, whose
`details` and `output` grow; blocks sent as chunks are kept in place. A stream ends by being stopped, by the person's stop button, or after
five minutes, and cannot be written to afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.clock import Clock, Ids
from playground.elements import kind_of
from playground.people import Json
from playground.validate import MESSAGE_BLOCKS, TOTAL_CHARS, check_blocks, with_ids

LIFETIME = 300.0
MARKDOWN_LIMIT = 12_000
TITLE_LIMIT = 256
TASK_STATUSES = frozenset({"pending", "in_progress", "complete", "error"})
CHUNK_TYPES = frozenset({"markdown_text", "task_update", "plan_update", "blocks"})


class StreamError(Exception):
    """A refused stream call; the argument is Slack's error name, with details where Slack gives them."""

    def __init__(self, error: str, messages: list[str] | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.messages = messages or []


@dataclass(slots=True)
class Stream:
    """One message being streamed: `parts` are its blocks in order, `state` is in_progress, completed or stopped."""

    channel_id: str
    ts: str
    thread_ts: str
    owner: str
    started: float
    mode: str = "timeline"
    state: str = "in_progress"
    parts: list[Json] = field(default_factory=list)
    tasks: dict[str, Json] = field(default_factory=dict)
    plan_title: str = ""
    text: str = ""
    chunk_blocks: int = 0


class Streams:
    """All streams by (channel, ts)."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self.lifetime = LIFETIME
        self._clock = clock
        self._ids = ids
        self._streams: dict[tuple[str, str], Stream] = {}

    def open(self, channel_id: str, ts: str, thread_ts: str, owner: str, mode: str) -> Stream:
        """Begin a stream."""
        stream = Stream(channel_id, ts, thread_ts, owner, self._clock.now(), mode)
        self._streams[(channel_id, ts)] = stream
        return stream

    def find(self, channel_id: str, ts: str) -> Stream | None:
        """The stream of a message, open or ended."""
        return self._streams.get((channel_id, ts))

    def is_open(self, stream: Stream) -> bool:
        """Whether it may still be written to; expiry counts as ended."""
        return stream.state == "in_progress" and self._clock.now() - stream.started < self.lifetime

    def writable(self, channel_id: str, ts: str, owner: str) -> Stream:
        """The open stream of a message. Raises `StreamError` when it has ended, is stopped, or belongs to another app."""
        stream = self.find(channel_id, ts)
        if stream is None:
            raise StreamError("message_not_in_streaming_state")
        if stream.owner != owner:
            raise StreamError("message_not_owned_by_app")
        if stream.state == "stopped":
            raise StreamError("stopped_by_user")
        if not self.is_open(stream):
            raise StreamError("message_not_in_streaming_state")
        return stream

    def in_thread(self, channel_id: str, thread_ts: str) -> list[Stream]:
        """The open streams of a thread."""
        return [s for s in self._streams.values() if s.channel_id == channel_id and s.thread_ts == thread_ts and self.is_open(s)]

    def close(self, stream: Stream) -> None:
        """End it."""
        stream.state = "completed"
        self._streams.pop((stream.channel_id, stream.ts), None)

    # -- content ----------------------------------------------------------------------------------------------------------------------

    def feed(self, stream: Stream, markdown: str | None, chunks: Any) -> bool:
        """Add text and chunks; False when there was nothing to add. Raises `StreamError` and then leaves the stream as it was."""
        parsed = self._check(stream, markdown, chunks)
        for chunk in parsed:
            kind = chunk["type"]
            if kind == "markdown_text":
                self._text(stream, chunk["text"])
            elif kind == "plan_update":
                stream.plan_title = chunk["title"]
            elif kind == "task_update":
                self._task(stream, chunk)
            else:
                added = with_ids(chunk["blocks"], self._ids.short)
                stream.chunk_blocks += len(added)
                stream.parts = [*stream.parts, *added]
        return bool(parsed)

    def _check(self, stream: Stream, markdown: str | None, chunks: Any) -> list[Json]:
        parsed: list[Json] = []
        if markdown:
            if len(markdown) > MARKDOWN_LIMIT:
                raise StreamError("msg_too_long")
            parsed.append({"type": "markdown_text", "text": markdown})
        if chunks in (None, ""):
            return parsed
        if not isinstance(chunks, list):
            raise StreamError("invalid_chunks")
        added = 0
        for n, chunk in enumerate(chunks):
            added += self._check_chunk(chunk, n)
            parsed.append(chunk)
        if stream.chunk_blocks + added > MESSAGE_BLOCKS:
            raise StreamError("msg_blocks_too_many")
        return parsed

    def _check_chunk(self, chunk: Any, n: int) -> int:
        """Check one chunk; returns how many blocks it adds."""
        kind = kind_of(chunk)
        at = f"[json-pointer:/chunks/{n}]"
        if kind not in CHUNK_TYPES:
            raise StreamError("invalid_chunks", [f"unsupported type: {kind} {at}"])
        if kind == "markdown_text":
            if not isinstance(chunk.get("text"), str):
                raise StreamError("invalid_chunks", [f"missing required field: text {at}"])
            if len(chunk["text"]) > MARKDOWN_LIMIT:
                raise StreamError("msg_too_long")
        elif kind == "blocks":
            blocks = chunk.get("blocks")
            if not isinstance(blocks, list):
                raise StreamError("invalid_chunks", [f"missing required field: blocks {at}"])
            if len(blocks) > MESSAGE_BLOCKS:
                raise StreamError("msg_blocks_too_many")
            problems = check_blocks(blocks, f"/chunks/{n}/blocks")
            if problems.texts:
                raise StreamError("invalid_blocks", problems.texts)
            if problems.chars > TOTAL_CHARS:
                raise StreamError("msg_blocks_too_long")
            return len(blocks)
        else:
            self._check_task(chunk, kind, at)
        return 0

    @staticmethod
    def _check_task(chunk: Json, kind: str, at: str) -> None:
        if not isinstance(chunk.get("title"), str):
            raise StreamError("invalid_chunks", [f"missing required field: title {at}"])
        if kind == "task_update":
            if not isinstance(chunk.get("id"), str) or not chunk["id"]:
                raise StreamError("invalid_chunks", [f"missing required field: id {at}"])
            if not isinstance(chunk.get("sources", []), list):
                raise StreamError("invalid_chunks", [f"sources must be an array {at}"])
            if str(chunk.get("status")) not in TASK_STATUSES:
                raise StreamError("invalid_chunks", [f"invalid status {at}"])
        for name in ("title", "details", "output"):
            value = chunk.get(name)
            if value is not None and not isinstance(value, str):
                raise StreamError("invalid_chunks", [f"{name} must be a string {at}"])
            if len(value or "") > TITLE_LIMIT:
                raise StreamError("invalid_chunks", [f"{name} must be less than {TITLE_LIMIT + 1} characters {at}"])

    def _text(self, stream: Stream, text: str) -> None:
        if not text:
            return
        stream.text += text
        last = stream.parts[-1] if stream.parts else None
        if last is not None and last["type"] == "markdown" and last.get("streamed"):
            stream.parts = [*stream.parts[:-1], {**last, "text": last["text"] + text}]
        else:
            stream.parts = [*stream.parts, {"type": "markdown", "block_id": self._ids.short(), "text": text, "streamed": True}]

    def _task(self, stream: Stream, chunk: Json) -> None:
        """Update or add a task card; a repeated `details` or `output` is added to what was there."""
        card = stream.tasks.get(chunk["id"])
        if card is None:
            card = {"type": "task_card", "block_id": self._ids.short(), "task_id": chunk["id"]}
            if stream.mode != "plan":
                stream.parts = [*stream.parts, card]
        updated = {**card, "title": chunk["title"], "status": chunk["status"]}
        for name in ("details", "output"):
            if chunk.get(name):
                updated[name] = _grown(card.get(name), chunk[name])
        if chunk.get("sources"):
            updated["sources"] = [*card.get("sources", []), *chunk["sources"]]
        stream.tasks[chunk["id"]] = updated
        stream.parts = [updated if part is card else part for part in stream.parts]

    def blocks(self, stream: Stream) -> list[Json]:
        """The message's blocks as they stand."""
        blocks = [{k: v for k, v in part.items() if k != "streamed"} if "streamed" in part else part for part in stream.parts]
        if stream.mode == "plan" and (stream.tasks or stream.plan_title):
            plan = {"type": "plan", "block_id": f"plan-{stream.ts[-6:]}", "title": stream.plan_title or "Plan", "tasks": list(stream.tasks.values())}
            blocks.insert(0, plan)
        return blocks


def _grown(old: Any, text: str) -> Json:
    """A rich_text with `text` added to what `old` held."""
    before = old["elements"][0]["elements"][0]["text"] if old else ""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": before + text}]}]}
