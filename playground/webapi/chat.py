"""chat.postMessage, update, delete, postEphemeral, getPermalink, scheduleMessage."""

from __future__ import annotations

import asyncio
import re

from playground.people import Channel, Json
from playground.webapi.content import author_of, content_of
from playground.webapi.registry import ApiError, Call, method
from playground.world import World

_USER_ID = re.compile(r"[UW][A-Z0-9]{2,}")


def writable(call: Call, *, by_name: bool = False, need_member: bool = True) -> Channel:
    """The channel to write to. A user id stands for the direct conversation with that user."""
    ref = call.text("channel")
    if by_name and ref in call.world.users and call.token.kind == "bot":
        channel, _ = call.world.conversation((call.caller, ref), call.token.team_id)
    else:
        channel = call.channel(by_name=by_name)
    if channel.is_archived:
        raise ApiError("is_archived")
    public = channel.kind == "channel" and "chat:write.public" in call.token.scopes
    if need_member and call.caller not in channel.members and not public:
        raise ApiError("not_in_channel")
    if channel.kind == "im" and call.token.kind == "bot" and not call.world.app.messages_tab:
        raise ApiError("messages_tab_disabled")
    return channel


def check_thread_ts(call: Call) -> str:
    """The `thread_ts` argument, "" when not given. Raises `invalid_thread_ts` for what cannot be a timestamp."""
    thread_ts = call.text("thread_ts")
    if not thread_ts:
        return ""
    try:
        seconds = float(thread_ts)
    except ValueError:
        seconds = 0.0
    if not 631_152_000 < seconds <= call.core.clock.now() + 3600:
        raise ApiError("invalid_thread_ts", [f"{int(seconds * 1_000_000)} is not a valid thread_ts"])
    return thread_ts


def author_fields(call: Call) -> Json:
    """Who the message is from, with `username` and icons where the scope allows them."""
    if call.token.kind != "bot":
        return {"user": call.caller, "team": call.token.team_id, "app_id": call.world.app.app_id}
    fields = author_of(call.world, call.install)
    if "chat:write.customize" in call.token.scopes:
        if call.text("username"):
            fields["username"] = call.text("username")
        icons = {k.removeprefix("icon_"): call.text(k) for k in ("icon_emoji", "icon_url") if call.text(k)}
        if icons:
            fields["icons"] = icons
    return fields


def clear_status(call: Call, channel: Channel, message: Json) -> None:
    """A post by the app ends the typing status of its thread."""
    call.core.sessions.set_status(channel, str(message.get("thread_ts", message["ts"])), "", [])


@method("chat.postMessage", tier=0, scopes=("chat:write",), required=("channel",))
def post_message(call: Call) -> Json:
    """Post a message."""
    channel = writable(call, by_name=True)
    content, warning = content_of(call.world, call.args)
    message = author_fields(call) | content
    thread_ts = check_thread_ts(call)
    if thread_ts:
        message["thread_ts"] = thread_ts
        root = channel.messages.get(thread_ts)
        if call.flag("reply_broadcast") and root is not None:
            message |= {"subtype": "thread_broadcast", "root": root}
    posted = call.world.post(channel, message)
    clear_status(call, channel, posted)
    body: Json = {"channel": channel.id, "ts": posted["ts"], "message": {k: v for k, v in posted.items() if k != "parent_user_id"}}
    if warning:
        body |= {"warning": warning, "response_metadata": {"warnings": [warning]}}
    return body


def _made_by_app(message: Json) -> bool:
    """Whether a message's blocks were given by the app, not derived from its text; such blocks survive an update that names none."""
    blocks = message.get("blocks", [])
    return "streaming_state" not in message and any(b["type"] not in ("rich_text", "markdown") for b in blocks)


@method("chat.update", tier=3, scopes=("chat:write",), required=("channel", "ts"))
def update(call: Call) -> Json:
    """Replace the content of one of the caller's messages."""
    channel = call.channel()
    message = call.message(channel)
    if message.get("subtype") == "tombstone":
        raise ApiError("message_not_found")
    if message.get("user") != call.caller:
        raise ApiError("cant_update_message")
    stream = call.core.streams.find(channel.id, message["ts"])
    if stream is not None and call.core.streams.is_open(stream):
        raise ApiError("streaming_state_conflict")
    content, _ = content_of(call.world, call.args, update=True)
    if "attachments" not in call.args and "attachments" in message:
        content["attachments"] = message["attachments"]
    if call.args.get("blocks") == []:
        content["blocks"] = []
    elif "blocks" not in call.args and "markdown_text" not in call.args and _made_by_app(message):
        content["blocks"] = message["blocks"]
    content["edited"] = {"user": call.caller, "ts": f"{int(call.core.clock.now())}.000000"}
    drop: tuple[str, ...] = ()
    if message.get("streaming_state") == "in_progress":
        content["streaming_state"] = "completed"
    changed = call.world.change(channel, message["ts"], content, actor=call.caller, drop=drop)
    shown = {k: v for k, v in changed.items() if k not in ("ts", "reactions")}
    return {"channel": channel.id, "ts": message["ts"], "text": changed["text"], "message": shown}


@method("chat.delete", tier=3, scopes=("chat:write",), required=("channel", "ts"))
def delete(call: Call) -> Json:
    """Delete one of the caller's messages."""
    channel = call.channel()
    message = call.message(channel)
    if message.get("subtype") == "tombstone":
        raise ApiError("message_not_found")
    if message.get("user") != call.caller:
        raise ApiError("cant_delete_message")
    call.world.delete(channel, message["ts"], actor=call.caller)
    return {"channel": channel.id, "ts": message["ts"]}


@method("chat.postEphemeral", tier=4, scopes=("chat:write",), required=("user", "channel"))
def post_ephemeral(call: Call) -> Json:
    """Show a message to one person."""
    user_id = call.text("user")
    if not _USER_ID.fullmatch(user_id):
        raise ApiError("invalid_arguments", [f"input must match regex pattern: ^{_USER_ID.pattern}$ [json-pointer:/user]"])
    channel = writable(call)
    if user_id not in channel.members:
        raise ApiError("user_not_in_channel")
    content, _ = content_of(call.world, call.args, may_be_empty=True)
    message = author_fields(call) | content
    thread_ts = check_thread_ts(call)
    if thread_ts:
        message["thread_ts"] = thread_ts
    return {"message_ts": call.world.ephemeral(channel, message, user_id)["ts"]}


def permalink(world: World, channel: Channel, message: Json) -> str:
    """A message's archive address; one in a thread names the thread too."""
    domain = world.teams[channel.team_id].domain
    link = f"https://{domain}.slack.com/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    return f"{link}?thread_ts={message['thread_ts']}&cid={channel.id}" if message.get("thread_ts") else link


@method("chat.getPermalink", tier=0, required=("channel", "message_ts"))
def get_permalink(call: Call) -> Json:
    """A message's permanent address."""
    channel = call.channel()
    return {"channel": channel.id, "permalink": permalink(call.world, channel, call.message(channel, "message_ts"))}


async def _post_later(world: World, channel: Channel, message: Json, wait: float) -> None:
    await asyncio.sleep(wait)
    world.post(channel, message)


@method("chat.scheduleMessage", tier=3, scopes=("chat:write",), required=("channel", "post_at"))
def schedule_message(call: Call) -> Json:
    """Post later, at `post_at` (seconds since the epoch)."""
    channel = writable(call, by_name=True)
    content, _ = content_of(call.world, call.args)
    wait = call.number("post_at", 0, least=0, most=2**33) - call.core.clock.now()
    if wait <= 0:
        raise ApiError("time_in_past")
    if wait > 120 * 86_400:
        raise ApiError("time_too_far")
    message = author_fields(call) | content
    if thread_ts := check_thread_ts(call):
        message["thread_ts"] = thread_ts
    call.core.feed.background(_post_later(call.world, channel, message, wait))
    scheduled_id = call.core.ids.make("Q0")
    return {"channel": channel.id, "scheduled_message_id": scheduled_id, "post_at": int(call.args["post_at"]), "message": message}
