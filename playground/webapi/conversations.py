"""conversations.*: history, replies, info, list, members, open, join."""

from __future__ import annotations

from itertools import islice

from playground.people import Channel, Json
from playground.webapi.content import without_metadata
from playground.webapi.registry import ApiError, Call, method, page_of
from playground.world import is_root

FAMILY = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
HISTORY = tuple(f"{f}:history" for f in FAMILY.values())
READ = tuple(f"{f}:read" for f in FAMILY.values())
TYPE_OF = {"channel": "public_channel", "group": "private_channel", "im": "im", "mpim": "mpim"}


def _readable(call: Call, what: str) -> Channel:
    """The channel, when the token's scopes allow `what` (read, history) for its kind."""
    channel = call.channel()
    call.scope(f"{FAMILY[channel.kind]}:{what}")
    return channel


def _micros(ts: str) -> int:
    """A timestamp in microseconds; a float could not tell neighbours apart. Raises `ValueError`."""
    seconds, _, micros = ts.partition(".")
    return int(seconds or "0") * 1_000_000 + int((micros + "000000")[:6])


def _between(call: Call, name: str, default: str) -> int:
    try:
        return _micros(call.text(name) or default)
    except ValueError:
        raise ApiError(f"invalid_ts_{name}") from None


class _Window:
    """The bounds of the messages wanted: `oldest`, `latest`, `inclusive`."""

    __slots__ = ("high", "low")

    def __init__(self, call: Call) -> None:
        slack = 0 if call.flag("inclusive") else 1
        self.low = _between(call, "oldest", "0") + slack
        self.high = _between(call, "latest", "9999999999.999999") - slack

    def holds(self, message: Json) -> bool:
        """Whether a message lies inside."""
        return self.low <= _micros(message["ts"]) <= self.high


def _shown(call: Call, messages: list[Json]) -> list[Json]:
    return messages if call.flag("include_all_metadata") else [without_metadata(m) for m in messages]


@method("conversations.history", tier=3, scopes=HISTORY, required=("channel",))
def history(call: Call) -> Json:
    """A channel's messages, newest first, replies left out."""
    channel = _readable(call, "history")
    if call.caller not in channel.members and not (channel.kind == "channel" and call.token.kind == "user"):
        raise ApiError("not_in_channel")
    limit = call.number("limit", 100, most=999)
    window = _Window(call)
    if cursor := call.text("cursor"):
        if not cursor.startswith("before:"):
            raise ApiError("invalid_cursor")
        try:
            window.high = _micros(cursor.removeprefix("before:")) - 1
        except ValueError:
            raise ApiError("invalid_cursor") from None
    wanted = (m for m in reversed(channel.messages.values()) if is_root(m) and window.holds(m))
    messages = list(islice(wanted, limit + 1))
    more = len(messages) > limit
    messages = messages[:limit]
    body: Json = {"messages": _shown(call, messages), "has_more": more, "pin_count": len(channel.pins), "channel_actions_ts": None, "channel_actions_count": 0}
    if more:
        body["response_metadata"] = {"next_cursor": f"before:{messages[-1]['ts']}"}
    return body


@method("conversations.replies", tier=3, scopes=HISTORY, required=("channel", "ts"))
def replies(call: Call) -> Json:
    """A thread, root first, then replies oldest first. `ts` may name a reply."""
    channel = _readable(call, "history")
    if call.caller not in channel.members and call.token.kind == "bot":
        raise ApiError("not_in_channel")
    named = channel.messages.get(call.text("ts"))
    if named is None:
        raise ApiError("thread_not_found")
    thread = call.world.thread(channel, str(named.get("thread_ts", named["ts"])))
    window = _Window(call)
    tail = [m for m in thread[1:] if window.holds(m)]
    part, cursor = page_of(tail, call, default=1000)
    body: Json = {"messages": _shown(call, [*thread[:1], *part]), "has_more": bool(cursor)}
    if cursor:
        body["response_metadata"] = {"next_cursor": cursor}
    return body


@method("conversations.info", tier=3, scopes=READ, required=("channel",))
def info(call: Call) -> Json:
    """One conversation."""
    channel = _readable(call, "read")
    locale = "en-US" if call.flag("include_locale") else None
    return {"channel": channel.shape(call.caller, num_members=call.flag("include_num_members"), locale=locale)}


def _listed(call: Call, channels: list[Channel], *, num_members: bool) -> Json:
    types = {t.strip() for t in call.text("types", "public_channel").split(",")}
    if not types <= set(TYPE_OF.values()):
        raise ApiError("invalid_types")
    for kind, name in TYPE_OF.items():
        if name in types:
            call.scope(f"{FAMILY[kind]}:read")
    hide = call.flag("exclude_archived")
    found = [c for c in channels if TYPE_OF[c.kind] in types and not (hide and c.is_archived)]
    part, cursor = page_of(found, call)
    return {"channels": [c.shape(call.caller, num_members=num_members) for c in part], "response_metadata": {"next_cursor": cursor}}


@method("conversations.list", tier=2, scopes=READ)
def list_all(call: Call) -> Json:
    """The conversations the caller may see."""
    return _listed(call, [c for c in call.world.channels.values() if call.sees(c)], num_members=True)


@method("users.conversations", tier=3, scopes=READ)
def of_user(call: Call) -> Json:
    """The conversations a user is in (the caller by default), as far as the caller may see them."""
    user_id = call.text("user") or call.caller
    if user_id not in call.world.users:
        raise ApiError("user_not_found")
    return _listed(call, [c for c in call.world.channels.values() if user_id in c.members and call.sees(c)], num_members=False)


@method("conversations.members", tier=4, scopes=READ, required=("channel",))
def members(call: Call) -> Json:
    """The ids of a conversation's members."""
    part, cursor = page_of(list(_readable(call, "read").members), call)
    return {"members": part, "response_metadata": {"next_cursor": cursor}}


@method("conversations.open", tier=3, scopes=("im:write", "mpim:write"))
def open_conversation(call: Call) -> Json:
    """Open a direct or group conversation with `users`, or an existing one by `channel`."""
    if call.text("channel"):
        return {"no_op": True, "already_open": True, "channel": {"id": call.channel().id}}
    users = call.args.get("users")
    names = [str(u) for u in users] if isinstance(users, list) else [u.strip() for u in call.text("users").split(",") if u.strip()]
    if not names:
        raise ApiError("users_list_not_supplied")
    if len(names) > 8:
        raise ApiError("too_many_users")
    if any(n not in call.world.users for n in names):
        raise ApiError("user_not_found")
    call.scope("im:write" if len(names) == 1 else "mpim:write")
    channel, was_open = call.world.conversation((call.caller, *names), call.token.team_id)
    body: Json = {"channel": channel.shape(call.caller) if call.flag("return_im") else {"id": channel.id}}
    return {**body, "no_op": True, "already_open": True} if was_open else body


@method("conversations.join", tier=3, scopes=("channels:join",), required=("channel",))
def join(call: Call) -> Json:
    """Join a public channel."""
    channel = call.channel()
    if channel.kind != "channel":
        raise ApiError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise ApiError("is_archived")
    already = call.caller in channel.members
    call.world.join(channel, call.caller)
    body: Json = {"channel": channel.shape(call.caller)}
    return {**body, "warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}} if already else body
