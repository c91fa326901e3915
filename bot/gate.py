"""The gate: what Slack sends, turned into an `Event` that concerns us, or into nothing. Pure.

It runs before anything is stored or marked as seen, so a message that is not for us leaves no trace that could hide
its twin (Slack delivers a mention twice, in either order). Both twins come out as the same event with the same key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.events import Deleted, DirectMessage, Edited, Event, FileRef, Mention, RoomKind, Stop, ThreadReply
from bot.plain import plain
from bot.quoted import quoted
from memory.keys import Actor, Thread

STOP_WORDS: Final = frozenset({"stop", "停", "停止", "停下"})
HANDLED_SUBTYPES: Final = frozenset({None, "file_share", "thread_broadcast", "me_message", "bot_message"})

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^(?:&gt;|>)[^\n]*", re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(r"[A-Z0-9]{1,32}")
_TS: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,12}")
_ANY_MENTION: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>|<!subteam\^")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in a workspace."""

    team_id: str
    user_id: str
    bot_id: str = ""
    app_id: str = ""
    url: str = ""
    """The workspace's address, `https://name.slack.com/`."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event to deliver; `only_if_followed` ones count only in threads we already take part in."""

    event: Event
    only_if_followed: bool = False
    also: tuple[Event, ...] = ()
    """The same happening, seen from other sessions it may concern."""


def admit(event: Mapping[str, Any], me: Identity) -> Accepted | None:
    """Judge one inner event of the Events API. Raises `ValueError` when a field has the wrong type.

    Our own messages, their edits and everything that is not a message or a stop give None.
    """
    kind = event.get("type")
    if kind == "agent_session_stopped":
        return _native_stop(event, me)
    if kind not in {"app_mention", "message"}:
        return None
    subtype = event.get("subtype")
    if subtype == "message_changed":
        return _edit(event, me)
    if subtype == "message_deleted":
        return _deletion(event, me)
    if subtype not in HANDLED_SUBTYPES or event.get("hidden"):
        return None
    return _message(event, me)


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")
    return _whole(value)


def _whole(text: str) -> str:
    """Text without halves of characters: JSON can carry a lone surrogate, no store can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def an_id(value: Any, name: str) -> str:
    """One of Slack's ids, or empty. Raises `ValueError` for anything else: ids become parts of storage keys."""
    text = _text(value, name)
    if text and not _ID.fullmatch(text):
        raise ValueError(f"{name} is not an id")
    return text


def a_ts(value: Any, name: str) -> str:
    """One of Slack's timestamps, or empty. Raises `ValueError` for anything else."""
    text = _text(value, name)
    if text and not _TS.fullmatch(text):
        raise ValueError(f"{name} is not a timestamp")
    return text


def _ours(message: Mapping[str, Any], me: Identity) -> bool:
    return message.get("user") == me.user_id or bool(me.bot_id and message.get("bot_id") == me.bot_id)


def _message(event: Mapping[str, Any], me: Identity) -> Accepted | None:
    channel, ts = an_id(event.get("channel"), "channel"), a_ts(event.get("ts"), "ts")
    if not channel or not ts or _ours(event, me):
        return None
    bot_id = an_id(event.get("bot_id"), "bot_id")
    user = an_id(event.get("user"), "user") or bot_id
    if not user or user == "USLACKBOT":
        return None
    raw = _text(event.get("text"), "text")
    room = _room(event, channel)
    thread_ts = a_ts(event.get("thread_ts"), "thread_ts")
    direct = room is RoomKind.IM
    root = not thread_ts or thread_ts == ts
    thread = Thread(team_id=me.team_id, channel_id=channel, thread_ts=("" if root else thread_ts) if direct else (thread_ts or ts))
    actor = Actor(team_id=an_id(event.get("user_team") or event.get("source_team") or event.get("team"), "team") or me.team_id, user_id=user)
    mentioned = mentions(event, me.user_id)
    text = plain(raw, me.user_id)
    key = f"m:{channel}:{ts}"
    if not bot_id and is_stop(text) and (direct or mentioned or not root):
        spoken = direct or mentioned
        return Accepted(Stop(thread=thread, key=key, actor=actor, ts=ts, quiet=not spoken), only_if_followed=not spoken)
    common: dict[str, Any] = {
        "thread": thread,
        "key": key,
        "actor": actor,
        "ts": ts,
        "text": text,
        "room": room,
        "files": files_of(event),
        "quoted": quoted(event),
        "root": root,
        "from_bot": bool(bot_id),
        "speaker": _speaker(event),
    }
    if direct:
        return None if bot_id else Accepted(DirectMessage(**common))
    if mentioned:
        return Accepted(Mention(**common))
    if root:
        return None
    return Accepted(ThreadReply(**common, to_others=names_others(event, me.user_id)), only_if_followed=True)


def _room(event: Mapping[str, Any], channel: str) -> RoomKind:
    """`app_mention` carries no channel type; it is never sent in a direct message."""
    kind = event.get("channel_type")
    if kind in {"channel", "group", "im", "mpim"}:
        return RoomKind(kind)
    return RoomKind.IM if channel.startswith("D") else RoomKind.CHANNEL


def _speaker(event: Mapping[str, Any]) -> str:
    profile = event.get("bot_profile")
    if isinstance(profile, Mapping) and isinstance(profile.get("name"), str):
        return _whole(str(profile["name"]))
    return _text(event.get("username"), "username")


def files_of(event: Mapping[str, Any]) -> tuple[FileRef, ...]:
    """The files that came with a message."""
    files = event.get("files")
    if not isinstance(files, list):
        return ()
    return tuple(
        FileRef(
            id=str(f.get("id", "")),
            name=_whole(str(f.get("name") or f.get("title") or "")),
            mimetype=str(f.get("mimetype") or ""),
            size=int(f.get("size") or 0),
        )
        for f in files
        if isinstance(f, Mapping)
    )


def _edit(event: Mapping[str, Any], me: Identity) -> Accepted | None:
    """Only a change of words counts: unfurls and reactions also arrive as `message_changed`."""
    new, old, channel = event.get("message"), event.get("previous_message"), an_id(event.get("channel"), "channel")
    if not isinstance(new, Mapping) or not channel or _ours(new, me) or new.get("bot_id"):
        return None
    ts, text = a_ts(new.get("ts"), "ts"), _text(new.get("text"), "text")
    if not ts or new.get("subtype") == "tombstone" or (isinstance(old, Mapping) and old.get("text") == text):
        return None
    threaded = new.get("thread_ts") not in {None, ts}
    if not threaded and mentions(new, me.user_id) and not (isinstance(old, Mapping) and mentions(old, me.user_id)):
        # The mention was put in afterwards: to Slack this is the twin of an `app_mention`, so it is one to us.
        return _message({**new, "channel": channel, "channel_type": event.get("channel_type")}, me)
    edited = new.get("edited")
    mark = _text(edited.get("ts"), "edited.ts") if isinstance(edited, Mapping) else a_ts(event.get("ts"), "ts")
    actor = Actor(team_id=an_id(new.get("user_team") or new.get("team"), "team") or me.team_id, user_id=an_id(new.get("user"), "user"))
    return Accepted(
        Edited(thread=_home(event, new, channel, ts, me), key=f"e:{channel}:{ts}:{mark}", actor=actor, ts=ts, text=plain(text, me.user_id)),
        only_if_followed=True,
    )


def _deletion(event: Mapping[str, Any], me: Identity) -> Accepted | None:
    channel, ts, old = an_id(event.get("channel"), "channel"), a_ts(event.get("deleted_ts"), "deleted_ts"), event.get("previous_message")
    if not channel or not ts or not isinstance(old, Mapping) or _ours(old, me):
        return None
    return Accepted(Deleted(thread=_home(event, old, channel, ts, me), key=f"x:{channel}:{ts}", ts=ts), only_if_followed=True)


def _home(event: Mapping[str, Any], message: Mapping[str, Any], channel: str, ts: str, me: Identity) -> Thread:
    thread_ts = a_ts(message.get("thread_ts"), "thread_ts")
    if _room(event, channel) is RoomKind.IM:
        return Thread(team_id=me.team_id, channel_id=channel, thread_ts="" if thread_ts == ts else thread_ts)
    return Thread(team_id=me.team_id, channel_id=channel, thread_ts=thread_ts or ts)


def _native_stop(event: Mapping[str, Any], me: Identity) -> Accepted | None:
    channel, thread_ts, user = an_id(event.get("channel"), "channel"), a_ts(event.get("thread_ts"), "thread_ts"), an_id(event.get("user"), "user")
    if not channel or not user:
        return None
    key = f"s:{channel}:{a_ts(event.get('event_ts'), 'event_ts') or thread_ts}"
    actor = Actor(team_id=me.team_id, user_id=user)

    def stop(where: str) -> Stop:
        return Stop(thread=Thread(team_id=me.team_id, channel_id=channel, thread_ts=where), key=f"{key}:{where}", actor=actor, quiet=True)

    # In a direct conversation every message is a thread of its own to Slack; to us the ones at the top are one session.
    also = (stop(""),) if channel.startswith("D") and thread_ts else ()
    return Accepted(stop(thread_ts), only_if_followed=True, also=also)


def is_stop(text: str) -> bool:
    """Whether the whole message is one of the stop words; "stop the deploy" is not."""
    return text.strip().strip("!！.。 ").casefold() in STOP_WORDS


def mentions(event: Mapping[str, Any], user_id: str) -> bool:
    """Whether the message addresses `user_id`: a mention inside code or a quote is talk about us, not to us.

    Slack's `rich_text` blocks say what is code and what is a quote; without them the text's own marks do.
    """
    blocks = event.get("blocks")
    rich = [b for b in blocks if isinstance(b, Mapping) and b.get("type") == "rich_text"] if isinstance(blocks, list) else []
    if rich:
        return any(_addressed(element, user_id) for block in rich for element in _children(block))
    text = _text(event.get("text"), "text")
    return re.search(rf"<@{re.escape(user_id)}(?:\|[^<>]*)?>", _CODE.sub("", text)) is not None


def names_others(event: Mapping[str, Any], user_id: str) -> bool:
    """Whether the message addresses a person or a group other than `user_id`; as in `mentions`, code and quotes do not count."""
    blocks = event.get("blocks")
    rich = [b for b in blocks if isinstance(b, Mapping) and b.get("type") == "rich_text"] if isinstance(blocks, list) else []
    if rich:
        return any(_addressed(element, user_id, others=True) for block in rich for element in _children(block))
    found = _ANY_MENTION.finditer(_CODE.sub("", _text(event.get("text"), "text")))
    return any(match.group(1) != user_id for match in found)


def _children(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    elements = node.get("elements")
    if isinstance(elements, list):
        yield from (e for e in elements if isinstance(e, Mapping))


def _addressed(node: Mapping[str, Any], user_id: str, depth: int = 0, *, others: bool = False) -> bool:
    kind = node.get("type")
    if kind in {"rich_text_preformatted", "rich_text_quote"} or depth > 8:
        return False
    if kind in {"user", "usergroup"}:
        style = node.get("style")
        return (node.get("user_id") == user_id) is not others and not (isinstance(style, Mapping) and style.get("code"))
    return any(_addressed(child, user_id, depth + 1, others=others) for child in _children(node))
