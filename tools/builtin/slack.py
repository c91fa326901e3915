"""`read_thread` and `post_message`: the conversation itself as a tool, always in the name of the person who asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from tools.decorator import tool
from tools.result import ErrorCode, Suggestion
from tools.tool import SlackAccess, ToolContext, ToolFailed


@tool(effect="read", group="slack", always=True, time_sensitive=True, title="Read thread")
async def read_thread(
    ctx: ToolContext,
    limit: Annotated[int, Field(description="How many of the latest messages to read", ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Read the latest messages of the thread the request came from, oldest first, with who wrote each and when.

    Use it to summarise or quote the thread, or when the person refers to something said before that is not in the conversation
    you see. Not for other threads or channels.
    """
    messages = await _slack(ctx).read_thread(ctx.actor, ctx.thread, limit=limit)
    return {"count": len(messages), "messages": messages}


_WORDS = {
    "zh": {
        "I am not in that channel. Someone has to invite me there first.": "我不在那个频道里，需要先有人邀请我进去。",
        "There is no such channel, or I cannot see it.": "没有这个频道，或者我看不到它。",
        "That channel is archived.": "那个频道已归档。",
        "There is no such thread.": "没有这个消息列。",
        "This workspace does not allow me to post there.": "这个工作区不允许我在那里发消息。",
        "Slack is not answering right now. Nothing was posted.": "Slack 现在没有回应，什么都没有发出。",
        "Slack is not answering right now.": "Slack 现在没有回应。",
        "That is too long for one message.": "内容太长，一条消息放不下。",
        "The person who asked is not in that channel, so I do not post there for them.": "提出请求的人不在那个频道里，所以我不替他在那里发消息。",
        "Post a message": "发送消息",
        "Channel": "频道",
        "Channel id": "频道编号",
        "Text": "内容",
        "In thread": "回复到",
        "Thread ts": "回复的消息",
        'Channel name or id, e.g. "#general" or "C0123456789"': "频道名称或编号，例如 #general 或 C0123456789",
        "Leave it out: the channel's id is filled in": "请留空：频道编号会自动填写",
        "The message, complete and ready to be read by others": "完整的消息，可以直接给别人看",
    },
}


def _card(args: BaseModel) -> list[tuple[str, Any]]:
    sent = args.model_dump()
    rows = [("Channel", sent["channel"]), ("Text", sent["text"]), ("In thread", sent["thread_ts"]), ("Channel id", sent["channel_id"])]
    return [(label, value) for label, value in rows if value or label in {"Channel", "Text"}]


async def _settled(ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """The name for people and for rules, the id for the post itself: a channel renamed after the approval is still the one that was meant."""
    found = await _slack(ctx).channel(ctx.actor, arguments["channel"].strip())
    return arguments | {"channel": found["name"], "channel_id": found["id"]}


@tool(effect="write", group="slack", title="Post a message", render=_card, resolve=_settled, same_as={"channel": "channel_id"}, words=_WORDS)
async def post_message(
    ctx: ToolContext,
    channel: Annotated[str, Field(description='Channel name or id, e.g. "#general" or "C0123456789"', min_length=1, max_length=82)],
    text: Annotated[str, Field(description="The message, complete and ready to be read by others", min_length=1, max_length=4000)],
    thread_ts: Annotated[
        str, Field(description="Timestamp of the message to reply to, e.g. 1716192000.000100; empty for a new message", pattern=r"^(\d{1,12}\.\d{6})?$")
    ] = "",
    channel_id: Annotated[str, Field(description="Leave it out: the channel's id is filled in", max_length=24)] = "",
) -> dict[str, str]:
    """Post a message to a channel for the person who asked; returns its channel, timestamp and link.

    Use it only when the person asks to write to a channel. Not for answering in the present conversation: just answer there.
    """
    return await _slack(ctx).post_message(ctx.actor, channel_id or channel.strip(), text, thread_ts=thread_ts)


def _slack(ctx: ToolContext) -> SlackAccess:
    if ctx.slack is None:
        raise ToolFailed("Slack is not reachable from here.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.GIVE_UP)
    return ctx.slack
