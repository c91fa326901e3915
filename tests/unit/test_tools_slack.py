"""`read_thread` and `post_message`: what they ask of Slack, in whose name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory.keys import Actor, Thread
from tools import Registry, ToolContext, ToolFailed, ToolResult
from tools.builtin.slack import post_message, read_thread
from tools.engine import execute, prepare
from tools.result import ErrorCode

ACTOR, THREAD = Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")
REGISTRY = Registry([read_thread, post_message])


class Board:
    """A Slack of one channel that keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def read_thread(self, actor: Actor, thread: Thread, *, limit: int) -> list[dict[str, str]]:
        self.asked.append((actor, thread, limit))
        return [{"speaker": "Ana", "text": "你好", "ts": "1.000001"}]

    async def channel(self, actor: Actor, channel: str) -> dict[str, str]:
        self.asked.append((actor, channel))
        if channel == "#gone":
            raise ToolFailed("I know no channel called '#gone'.", code=ErrorCode.NOT_FOUND)
        return {"id": "C9", "name": "#general"}

    async def post_message(self, actor: Actor, channel: str, text: str, *, thread_ts: str = "") -> dict[str, str]:
        if channel == "#secret":
            raise ToolFailed("You are not in #secret.", code=ErrorCode.PERMISSION_DENIED)
        self.asked.append((actor, channel, text, thread_ts))
        return {"channel": "C9", "ts": "2.000002", "permalink": "https://example.com/p2"}

    async def list_channels(self, actor: Actor, thread: Thread) -> list[dict[str, Any]]:
        self.asked.append((actor, thread))
        return []

    async def search_messages(
        self, actor: Actor, thread: Thread, weigh: Callable[[str], float], *, channel: str = "", oldest: float = 0.0, limit: int = 10
    ) -> dict[str, Any]:
        self.asked.append((actor, thread, weigh("你好"), channel, oldest, limit))
        return {"matches": [], "searched": [], "not_searched": [], "messages_read": 0}


def context(board: Board | None) -> ToolContext:
    return ToolContext(ACTOR, THREAD, "UTC", "run", "call", slack=board)


async def test_a_thread_is_read_for_the_person_who_asked() -> None:
    board = Board()

    result = await execute(read_thread, {}, context(board))

    assert result.data == {"count": 1, "messages": [{"speaker": "Ana", "text": "你好", "ts": "1.000001"}]}
    assert board.asked == [(ACTOR, THREAD, 50)]


async def test_a_message_is_posted_for_the_person_who_asked() -> None:
    board = Board()

    result = await execute(post_message, {"channel": " #general ", "text": "hello", "thread_ts": "1716192000.000100"}, context(board))

    assert result.data["channel"] == "C9"
    assert board.asked == [(ACTOR, "#general", "hello", "1716192000.000100")]


async def test_slacks_refusal_reaches_the_model() -> None:
    result = await execute(post_message, {"channel": "#secret", "text": "x"}, context(Board()))

    assert (result.error_code, result.error_message) == (ErrorCode.PERMISSION_DENIED, "You are not in #secret.")


async def test_without_slack_both_say_so() -> None:
    for tool, arguments in ((read_thread, {}), (post_message, {"channel": "C1", "text": "x"})):
        assert (await execute(tool, arguments, context(None))).error_code == ErrorCode.UPSTREAM_ERROR


def test_posting_is_a_write_that_may_not_be_repeated_and_reading_is_not() -> None:
    assert (post_message.effect, post_message.keyed, read_thread.effect) == ("write", False, "read")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("read_thread", '{"limit": 0}'),
        ("read_thread", '{"limit": 201}'),
        ("post_message", '{"channel": "#a", "text": ""}'),
        ("post_message", '{"channel": "#a", "text": "x", "thread_ts": "yesterday"}'),
        ("post_message", '{"text": "x"}'),
    ],
)
def test_impossible_arguments_are_refused(name: str, raw: str) -> None:
    result = prepare(REGISTRY, name, raw)

    assert isinstance(result, ToolResult)
    assert result.error_code == ErrorCode.INVALID_ARGUMENTS


def test_the_card_shows_where_and_what() -> None:
    assert post_message.render is not None
    args = post_message.args_model.model_validate({"channel": "#general", "text": "hello"})
    reply = post_message.args_model.model_validate({"channel": "#general", "text": "hello", "thread_ts": "1.000001"})

    assert post_message.render(args) == [("Channel", "#general"), ("Text", "hello")]
    assert post_message.render(reply)[-1] == ("In thread", "1.000001")
