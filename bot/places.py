"""What kind of room a channel is now, as Slack says: who can read there decides where what is said there may be told again."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Final

import structlog

from bot.events import RoomKind
from bot.slack import Slack, SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.longterm.access import Reader, RoomType

LIFETIME: Final = 60.0
"""Seconds for which an answer of Slack is taken for the present: so long a channel that is shared with others just now still counts as ours."""
MOST: Final = 5_000

log = structlog.get_logger(__name__)


class Places:
    """Rooms, looked up and kept for a while."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self.url = slack.me.url
        """The workspace's address."""
        self._kept: OrderedDict[str, tuple[float, RoomType, bool]] = OrderedDict()

    async def reader(self, actor: Actor, thread: Thread, room: RoomKind) -> Reader:
        """For whom and where something is recalled or learned. What Slack does not say is taken for the narrowest: a private channel shared with others."""
        outsider = actor.team_id != thread.team_id
        if room is RoomKind.IM:
            return Reader(actor=actor, thread=thread, room_type="im", outsider=outsider)
        kind, shared = await self._looked_up(thread.channel_id)
        return Reader(actor=actor, thread=thread, room_type="mpim" if room is RoomKind.MPIM else kind, shared=shared, outsider=outsider)

    async def _looked_up(self, channel: str) -> tuple[RoomType, bool]:
        kept = self._kept.get(channel)
        if kept is not None and kept[0] > monotonic():
            return kept[1:]
        try:
            found = await self._slack.channel(channel)
        except (SlackDown, SlackRefused) as error:
            log.warning("room_not_looked_up", reason=str(error))
            return "group", True
        if found is None:
            return "group", True
        kind: RoomType = "mpim" if found.get("is_mpim") else "group" if found.get("is_private", True) else "channel"
        shared = any(found.get(mark) for mark in ("is_ext_shared", "is_pending_ext_shared"))
        self._kept[channel] = (monotonic() + LIFETIME, kind, shared)
        self._kept.move_to_end(channel)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return kind, shared
