"""What tools may do in Slack, in the name of the person who asked and with no more rights than that person has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.addresses import urls
from bot.guard import clean
from bot.plain import plain
from bot.render import answer_parts
from bot.slack import Slack, SlackDown, SlackRefused
from bot.slack_search import Search, Sight, listed, name_of, sight
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
            raise _silent() from error

    async def _name(self, thread: Thread, message: dict[str, Any]) -> str:
        if message.get("user") == self._slack.me.user_id:
            return "Steward"
        if message.get("bot_id") or not message.get("user"):
            return str((message.get("bot_profile") or {}).get("name") or message.get("username") or "a bot")
        try:
            return (await self._slack.person(Actor(team_id=thread.team_id, user_id=message["user"]))).name
        except SlackRefused:
            return str(message["user"])

    async def channel(self, actor: Actor, channel: str) -> dict[str, str]:
        """The channel that is meant, by its id and its name of this moment, when `actor` is in it."""
        try:
            wanted = channel.strip().strip("<>").partition("|")[0].lstrip("#").strip()  # also as Slack writes it: <#C01ORDERS0|orders>
            found = await self._slack.channel(wanted)
            member = found is not None and await self._slack.is_member(str(found["id"]), actor.user_id)
        except SlackRefused as error:
            raise _refusal(error) from error
        except SlackDown as error:
            raise ToolFailed("Slack is not answering right now. Nothing was posted.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY) from error
        if found is None or (not member and found.get("is_private")):  # that a private one exists is nobody's to learn
            raise ToolFailed(f"I know no channel called {channel!r}.", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.ASK_PERSON)
        if not member:
            message = "The person who asked is not in that channel, so I do not post there for them."
            raise ToolFailed(message, code=ErrorCode.PERMISSION_DENIED, suggestion=Suggestion.ASK_PERSON)
        return {"id": str(found["id"]), "name": f"#{found['name']}" if found.get("name") else str(found["id"])}

    async def post_message(self, actor: Actor, channel: str, text: str, *, thread_ts: str = "") -> dict[str, str]:
        """Post to a channel the person is a member of. An outcome nobody saw is raised as `SlackDown`."""
        channel_id = (await self.channel(actor, channel))["id"]
        parts = answer_parts(clean(text, urls(text)))
        if len(parts) != 1:
            raise ToolFailed("That is too long for one message.", code=ErrorCode.TOO_LARGE, suggestion=Suggestion.FIX_ARGUMENTS)
        try:
            ts = await self._slack.post_for_tool(channel_id, thread_ts, parts[0])
            return {"channel": channel_id, "ts": ts, "permalink": await self._link(channel_id, ts)}
        except SlackRefused as error:
            raise _refusal(error) from error

    async def list_channels(self, actor: Actor, thread: Thread) -> list[dict[str, Any]]:
        """The channels `actor` may see and that may be named in `thread`."""
        try:
            return await listed(self._slack, actor, thread)
        except SlackRefused as error:
            raise _refusal(error) from error
        except SlackDown as error:
            raise _silent() from error

    async def search_messages(
        self, actor: Actor, thread: Thread, weigh: Callable[[str], float], *, channel: str = "", oldest: float = 0.0, limit: int = 10
    ) -> dict[str, Any]:
        """Recent messages for which `weigh(text)` is above 0, in the channels both `actor` and the bot are in and that may be quoted in `thread`."""
        try:
            seen = await sight(self._slack, actor, thread)
            rooms = seen.searchable()
            if channel:
                wanted = channel.strip("<>").lstrip("#").partition("|")[0].casefold()  # also as Slack writes it: <#C01ORDERS0|orders>
                rooms = [room for room in rooms if wanted in {room["id"].casefold(), str(room.get("name", "")).casefold()}]
                if not rooms:
                    # One sentence for every reason: which one it is would say that a private channel exists.
                    message = f"I cannot search {channel!r} here: there is none, or not both of us are in it, or it is private and others read along here."
                    raise ToolFailed(message, code=ErrorCode.NOT_FOUND, suggestion=Suggestion.ASK_PERSON)
            search = Search(self._slack, thread, weigh, oldest)
            reached = await search.run(rooms)
            matches = [
                {
                    "channel": name_of(match.room),
                    "speaker": await self._name(thread, match.message),
                    "text": match.text,
                    "ts": str(match.message["ts"]),
                    "permalink": await self._link(match.room["id"], match.message["ts"]),
                }
                for match in search.best(limit)
            ]
        except SlackRefused as error:
            raise _refusal(error) from error
        except SlackDown as error:
            raise _silent() from error
        missed = [*search.missed, *(_left_out(seen) if not channel else [])]
        return {"matches": matches, "searched": [name_of(room) for room in reached], "not_searched": missed, "messages_read": search.read}

    async def _link(self, channel_id: str, ts: str) -> str:
        """A link to what was posted; without one it is posted all the same."""
        try:
            return await self._slack.permalink(channel_id, ts)
        except (SlackRefused, SlackDown):
            return ""


def _left_out(seen: Sight) -> list[str]:
    """The channels a person may have expected to be searched, as far as they may be named here."""
    without = sorted(name_of(room) for room in seen.theirs.values() if room["id"] not in seen.ours and seen.tellable(room) and not room.get("is_im"))
    sentences = [f"channels I am not in: {', '.join(without[:20])}"] if without else []
    if seen.confined:
        return [*sentences, "every channel but this one, because of who is asking or reading here"]
    return sentences if seen.direct else [*sentences, "private channels, because others read along here"]


def _silent() -> ToolFailed:
    return ToolFailed("Slack is not answering right now.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)


def _refusal(error: SlackRefused) -> ToolFailed:
    words = _WORDS.get(error.code, f"Slack refused: {error.code}.")
    return ToolFailed(words, code=ErrorCode.NOT_FOUND if "not_found" in error.code else ErrorCode.PERMISSION_DENIED, suggestion=Suggestion.ASK_PERSON)
