"""`list_channels` and `search_messages`: the workspace as the asking person sees it, told to no wider circle than that.

What a person may see depends on who they are, and what may be said on where they ask: in a room that others read,
private channels are neither named nor quoted, except the room itself.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, Final

from pydantic import Field

from tools.builtin.matching import MAX_QUERY, folded
from tools.builtin.matching import query as read_query
from tools.builtin.moment import UnknownTimezone, find_timezone, now
from tools.decorator import tool
from tools.result import ErrorCode, Suggestion
from tools.tool import ModelRetry, SlackAccess, ToolContext, ToolFailed

PAGE: Final = 40
"""Channels on one page."""


@tool(effect="read", group="slack", title="List channels")
async def list_channels(
    ctx: ToolContext,
    query: Annotated[str, Field(description="Part of the channel's name, topic or purpose; empty for all of them", max_length=MAX_QUERY)] = "",
    page: Annotated[int, Field(description="Which page of the list, from 1", ge=1, le=200)] = 1,
) -> dict[str, Any]:
    """List the channels the asking person may see, with id, name, topic, member count and whether they and the bot are in it.

    Use it to find a channel by what it is about, or to answer which channels there are. Private channels appear only if the person is
    in them and asks in a direct message. Not for reading what is written in a channel: use search_messages.
    """
    found = await _slack(ctx).list_channels(ctx.actor, ctx.thread)
    words = folded(query).lstrip("#").split()
    fitting = [each for each in found if all(word in folded(f"{each['name']} {each['topic']} {each['purpose']}") for word in words)]
    fitting.sort(key=lambda each: (not each["you_are_in"], each["name"]))
    pages = max(1, -(-len(fitting) // PAGE))
    if page > pages:
        raise ModelRetry(f"There is no page {page}; the list has {pages}.")
    rows = [{key: value for key, value in each.items() if value not in ("", None)} for each in fitting[(page - 1) * PAGE : page * PAGE]]
    answer: dict[str, Any] = {"count": len(fitting), "page": page, "pages": pages, "channels": rows}
    if not ctx.thread.channel_id.startswith("D"):
        answer["note"] = "Asked where others read along, so private channels are left out; the person can ask in a direct message."
    return answer


@tool(effect="read", group="slack", title="Search messages", timeout=30, time_sensitive=True)
async def search_messages(
    ctx: ToolContext,
    query: Annotated[str, Field(description='Words to look for; all must occur. Put an exact phrase in "quotes"', min_length=1, max_length=MAX_QUERY)],
    channel: Annotated[str, Field(description="Only in this channel, by name or id, e.g. `#general`; empty for all that may be searched", max_length=82)] = "",
    days: Annotated[int, Field(description="How many days back to look", ge=1, le=366)] = 30,
    limit: Annotated[int, Field(description="How many messages to give back at most", ge=1, le=20)] = 10,
) -> dict[str, Any]:
    """Search recent messages by keyword in channels that both the asking person and the bot are in; best and newest matches first.

    Returns for each its channel, speaker, time, text and link, and says which channels and time were covered and what was not: tell
    the person so when nothing is found. Not for the present thread (use read_thread), and not for files.
    """
    wanted = read_query(query)
    if wanted.empty:
        raise ModelRetry(f"{query!r} holds no word to look for. Send one or more words.")
    oldest = now(ctx).timestamp() - days * 86_400
    found = await _slack(ctx).search_messages(ctx.actor, ctx.thread, wanted.weigh, channel=channel.strip(), oldest=oldest, limit=limit)
    name, zone = _zone(ctx)
    matches = [match | {"text": wanted.snippet(match["text"]), "time": _time(match["ts"], zone)} for match in found["matches"]]
    since = datetime.fromtimestamp(oldest, zone)
    return {
        "count": len(matches),
        "matches": matches,
        "covered": {
            "channels": found["searched"],
            "since": f"{since:%Y-%m-%d %H:%M} ({name})",
            "messages_read": found["messages_read"],
            "not_covered": found["not_searched"],
        },
    }


def _zone(ctx: ToolContext) -> tuple[str, tzinfo]:
    try:
        return find_timezone(ctx.timezone or "UTC")
    except UnknownTimezone:
        return "UTC", UTC


def _time(ts: str, zone: tzinfo) -> str:
    return datetime.fromtimestamp(float(ts), zone).isoformat(timespec="minutes")


def _slack(ctx: ToolContext) -> SlackAccess:
    if ctx.slack is None:
        raise ToolFailed("Slack is not reachable from here.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.GIVE_UP)
    return ctx.slack
