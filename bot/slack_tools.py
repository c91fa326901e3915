"""What tools may do in Slack, in the name of the person who asked and with no more rights than that person has."""

from __future__ import annotations

from typing import Any

from bot.gate import plain
from bot.guard import clean, urls
from bot.render import answer_parts
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread
from tools.result import ErrorCode, Suggestion
from tools.tool import ToolFailed

_WORDS = {
    "not_in_channel": "I am not in that channel. Someone has to invite me there first.",
    "channel_not_found": "There is no such channel, or I cannot see it.",
    "is_archived": "That channel is archived.",
    "thread_not_found": "There is no such thread.",
    "restricted_action": "This workspace does not allow me to post there.",
}


class SlackForTools:
    """`tools.tool.SlackAccess` over the one door to Slack."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    async def read_thread(self, actor: Actor, thread: Thread, *, limit: int) -> list[dict[str, str]]:  # noqa: ARG002 - the protocol names who asks
        """The latest `limit` messages of the thread `actor` is asking in, and so can read; oldest first."""
        try:
            messages, _ = await self._slack.history(thread.channel_id, thread.thread_ts, "9999999999.999999", limit=limit)
            return [{"speaker": await self._name(thread, m), "text": plain(str(m.get("text", "")), ""), "ts": str(m["ts"])} for m in messages]
        except SlackRefused as error:
            raise _refusal(error) from error
        except SlackDown as error:
            raise ToolFailed("Slack is not answering right now.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY) from error

    async def _name(self, thread: Thread, message: dict[str, Any]) -> str:
        if message.get("user") == self._slack.me.user_id:
            return "Steward"
        if message.get("bot_id") or not message.get("user"):
            return str((message.get("bot_profile") or {}).get("name") or message.get("username") or "a bot")
        try:
            return (await self._slack.person(Actor(team_id=thread.team_id, user_id=message["user"]))).name
        except SlackRefused:
            return str(message["user"])

    async def post_message(self, actor: Actor, channel: str, text: str, *, thread_ts: str = "") -> dict[str, str]:
        """Post to a channel the person is a member of."""
        try:
            channel_id = channel if channel[:1] in {"C", "G", "D"} and channel.isalnum() and channel.isupper() else await self._slack.channel_id(channel)
            if channel_id is None:
                raise ToolFailed(f"I know no channel called {channel!r}.", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.ASK_PERSON)
            if not await self._slack.is_member(channel_id, actor.user_id):
                raise ToolFailed("The person who asked is not in that channel, so I do not post there for them.", code=ErrorCode.PERMISSION_DENIED)
            parts = answer_parts(clean(text, urls(text)))
            if len(parts) != 1:
                raise ToolFailed("That is too long for one message.", code=ErrorCode.TOO_LARGE, suggestion=Suggestion.FIX_ARGUMENTS)
            ts = await self._slack.post_for_tool(channel_id, thread_ts, parts[0])
            return {"channel": channel_id, "ts": ts, "permalink": await self._link(channel_id, ts)}
        except SlackRefused as error:
            raise _refusal(error) from error

    async def _link(self, channel_id: str, ts: str) -> str:
        """A link to what was posted; without one it is posted all the same."""
        try:
            return await self._slack.permalink(channel_id, ts)
        except (SlackRefused, SlackDown):
            return ""


def _refusal(error: SlackRefused) -> ToolFailed:
    words = _WORDS.get(error.code, f"Slack refused: {error.code}.")
    return ToolFailed(words, code=ErrorCode.NOT_FOUND if "not_found" in error.code else ErrorCode.PERMISSION_DENIED, suggestion=Suggestion.ASK_PERSON)
