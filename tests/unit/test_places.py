"""Where something is said and read: what Slack does not say is taken for the narrowest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bot.events import RoomKind
from bot.places import Places
from bot.slack import SlackDown, SlackRefused
from memory.keys import Actor, Thread
from memory.longterm.access import WORKSPACE, learned_in

ANA = Actor(team_id="T1", user_id="U1")
THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.5")


class Answering:
    """A Slack that says this of every channel, or fails so."""

    me = SimpleNamespace(url="https://acme.slack.com/")

    def __init__(self, said: dict[str, Any] | Exception | None) -> None:
        self.said = said
        self.asked = 0

    async def channel(self, channel: str) -> dict[str, Any] | None:
        assert channel == THREAD.channel_id
        self.asked += 1
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def places(said: dict[str, Any] | Exception | None) -> Places:
    return Places(Answering(said))  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [SlackDown("away"), SlackRefused("conversations.info", "missing_scope"), None, {}])
async def test_a_room_that_is_not_known_is_read_as_a_private_one_shared_with_others(said: dict[str, Any] | Exception | None) -> None:
    reader = await places(said).reader(ANA, THREAD, RoomKind.CHANNEL)
    assert reader.room_type == "group"
    assert WORKSPACE.tag not in (reader.audiences or ()) or said == {}
    assert learned_in(THREAD, reader.room_type, shared=reader.shared).scope == "channel"


@pytest.mark.parametrize(
    ("said", "kind", "shared"),
    [
        ({"is_private": False}, "channel", False),
        ({"is_private": True}, "group", False),
        ({"is_mpim": True, "is_private": True}, "mpim", False),
        ({"is_private": False, "is_ext_shared": True}, "channel", True),
        ({"is_private": False, "is_pending_ext_shared": True}, "channel", True),
    ],
)
async def test_what_slack_says_of_a_room_decides(said: dict[str, Any], kind: str, shared: bool) -> None:
    reader = await places(said).reader(ANA, THREAD, RoomKind.CHANNEL)
    assert (reader.room_type, reader.shared) == (kind, shared)


async def test_an_answer_is_kept_and_a_failure_is_asked_again() -> None:
    slack = Answering({"is_private": False})
    known = Places(slack)  # type: ignore[arg-type]
    for _ in range(3):
        await known.reader(ANA, THREAD, RoomKind.CHANNEL)
    assert slack.asked == 1
    failing = Answering(SlackDown("away"))
    unknown = Places(failing)  # type: ignore[arg-type]
    for _ in range(2):
        await unknown.reader(ANA, THREAD, RoomKind.CHANNEL)
    assert failing.asked == 2
    failing.said = {"is_private": False}
    assert (await unknown.reader(ANA, THREAD, RoomKind.CHANNEL)).room_type == "channel"


async def test_a_direct_conversation_is_asked_of_nobody_and_a_stranger_is_an_outsider() -> None:
    slack = Answering(SlackDown("away"))
    assert (await Places(slack).reader(ANA, THREAD, RoomKind.IM)).room_type == "im"  # type: ignore[arg-type]
    assert slack.asked == 0
    stranger = await places({"is_private": False}).reader(Actor(team_id="T2", user_id="U1"), THREAD, RoomKind.CHANNEL)
    assert stranger.outsider
    assert stranger.owners == ()
