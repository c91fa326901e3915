"""chat.startStream, appendStream, stopStream."""

from __future__ import annotations

from playground.people import Channel, Json
from playground.streaming import Stream, StreamError
from playground.validate import MESSAGE_BLOCKS, with_ids
from playground.webapi.chat import author_fields, check_thread_ts, clear_status, writable
from playground.webapi.content import checked_blocks, checked_metadata
from playground.webapi.registry import ApiError, Call, method

MODES = frozenset({"timeline", "plan", "dense"})
SESSION_STATUSES = frozenset({"active", "processing", "suspended", "closed"})


def _refused(error: StreamError) -> ApiError:
    if error.error == "invalid_blocks":
        return ApiError(error.error, error.messages, errors=error.messages)
    return ApiError(error.error, error.messages)


def _feed(call: Call, stream: Stream) -> bool:
    try:
        return call.core.streams.feed(stream, call.text("markdown_text") or None, call.args.get("chunks"))
    except StreamError as error:
        raise _refused(error) from None


def _stream(call: Call, channel: Channel) -> Stream:
    """The open stream the call writes to."""
    ts = call.text("ts")
    if ts not in channel.messages:
        raise ApiError("message_not_found")
    try:
        return call.core.streams.writable(channel.id, ts, call.token.bot_id)
    except StreamError as error:
        _expire(call, channel, ts)
        raise _refused(error) from None


def _expire(call: Call, channel: Channel, ts: str) -> None:
    """A stream whose time is over shows as errored."""
    stream = call.core.streams.find(channel.id, ts)
    if stream is not None and stream.state == "in_progress" and not call.core.streams.is_open(stream):
        call.core.streams.close(stream)
        call.world.change(channel, ts, {"streaming_state": "errored"}, actor=call.caller)


@method("chat.startStream", tier=2, scopes=("chat:write",), tokens=("bot",), required=("channel", "thread_ts"))
def start_stream(call: Call) -> Json:
    """Begin a streamed message in a thread."""
    channel = writable(call)
    thread_ts = check_thread_ts(call)
    if thread_ts not in channel.messages:
        raise ApiError("invalid_thread_ts")
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not call.text(name):
                raise ApiError(f"missing_{name}")
    recipient = call.text("recipient_user_id")
    if recipient and recipient not in call.world.users:
        raise ApiError("user_not_found")
    mode = call.text("task_display_mode", "timeline")
    if mode not in MODES:
        raise ApiError("invalid_arguments", ["task_display_mode must be one of: dense, plan, timeline"])
    ts = call.core.clock.stamp()
    stream = call.core.streams.open(channel.id, ts, thread_ts, call.token.bot_id, mode)
    try:
        _feed(call, stream)
    except ApiError:
        call.core.streams.close(stream)
        raise
    message = author_fields(call) | {
        "ts": ts,
        "thread_ts": thread_ts,
        "text": stream.text,
        "blocks": call.core.streams.blocks(stream),
        "streaming_state": "in_progress",
    }
    posted = call.world.post(channel, message)
    stream.thread_ts = posted["thread_ts"]
    clear_status(call, channel, posted)
    return {"channel": channel.id, "ts": ts}


@method("chat.appendStream", tier=4, scopes=("chat:write",), tokens=("bot",), required=("channel", "ts"))
def append_stream(call: Call) -> Json:
    """Add to a streamed message."""
    channel = call.channel()
    stream = _stream(call, channel)
    if not _feed(call, stream):
        raise ApiError("no_text")
    fields = {"text": stream.text, "blocks": call.core.streams.blocks(stream)}
    call.world.change(channel, stream.ts, fields, actor=call.caller, quiet=True)
    return {"channel": channel.id, "ts": stream.ts}


@method("chat.stopStream", tier=2, scopes=("chat:write",), tokens=("bot",), required=("channel", "ts"))
def stop_stream(call: Call) -> Json:
    """End a streamed message, with last words and blocks."""
    channel = call.channel()
    status = call.text("session_status", "active")
    if status not in SESSION_STATUSES:
        raise ApiError("invalid_arguments", ["session_status must be one of: active, closed, processing, suspended"])
    stopped = call.core.streams.find(channel.id, call.text("ts"))
    by_user = stopped is not None and stopped.state == "stopped" and stopped.owner == call.token.bot_id
    stream = stopped if stopped is not None and by_user else _stream(call, channel)
    if isinstance(call.args.get("blocks"), list) and len(call.args["blocks"]) > MESSAGE_BLOCKS:
        raise ApiError("msg_blocks_too_many")
    blocks = checked_blocks(call.args)
    metadata = checked_metadata(call.args)
    _feed(call, stream)
    all_blocks = call.core.streams.blocks(stream) + (with_ids(blocks, call.core.ids.short) if blocks else [])
    if not all_blocks:
        raise ApiError("no_text")
    fields: Json = {"text": stream.text, "blocks": all_blocks, "streaming_state": "completed"}
    if metadata is not None:
        fields["metadata"] = metadata
    call.core.streams.close(stream)
    message = call.world.change(channel, stream.ts, fields, actor=call.caller)
    if call.world.app.agent:
        call.core.sessions.set_session(channel, stream.thread_ts, status=status)
    return {"channel": channel.id, "ts": stream.ts, "message": message}
