"""One Web API scenario run against the playground and against `backlot`, an independent stand-in for Slack: same errors, same shapes.

Where the two differ on purpose the difference is named here: the playground adds the app's `app_id` and `bot_profile` to a bot's message, keeps the
blocks it was given, and marks users and channels with a few more fields. `backlot` knows neither scopes, events nor block validation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import backlot  # type: ignore[import-untyped]
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from playground import seed
from tests.contracts.playground_kit import client_of, opened

Json = dict[str, Any]
MORE_HERE = {"app_id", "bot_profile"}
FIGURES = {"reply_count", "reply_users", "reply_users_count", "latest_reply", "is_locked", "subscribed"}
"""What a root says of its replies: `backlot` says it in history and replies only, the playground wherever the message is shown."""


@pytest.fixture(scope="module")
def peer() -> Iterator[Any]:
    """A running backlot with its telemetry off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BACKLOT_TELEMETRY", "0")
        patch.setenv("DO_NOT_TRACK", "1")
        with backlot.serve() as server:
            yield server


class Side:
    """One of the two servers, with the ids that play the same part."""

    def __init__(self, client: AsyncWebClient, channel: str, person: str) -> None:
        self.client, self.channel, self.person = client, channel, person

    async def call(self, method: str, **args: Any) -> Json:
        """One call's body, refused or not."""
        try:
            answer = await self.client.api_call(method, params=args)
        except SlackApiError as error:
            answer = error.response
        body = answer.data
        assert isinstance(body, dict)
        return body


@pytest.fixture
async def sides(peer: Any) -> AsyncIterator[tuple[Side, Side]]:
    """The playground, then backlot."""
    async with opened() as pg:
        other = AsyncWebClient(token=peer.token, base_url=f"{peer.base_url}/slack/api/", retry_handlers=[])
        general = next(c["id"] for c in (await other.conversations_list())["channels"] if c["is_general"])
        person = (await other.conversations_members(channel=general))["members"][0]
        yield Side(client_of(pg), seed.GENERAL, seed.ALICE), Side(other, general, person)


async def scenario(side: Side) -> list[tuple[str, Json]]:
    """Post, reply, react, edit, read, delete. Each step with its answer."""
    steps: list[tuple[str, Json]] = []

    async def step(method: str, **args: Any) -> Json:
        body = await side.call(method, **args)
        steps.append((method, body))
        return body

    channel = side.channel
    root = (await step("chat.postMessage", channel=channel, text="root & <more>"))["ts"]
    reply = (await step("chat.postMessage", channel=channel, text="reply", thread_ts=root))["ts"]
    deep = (await step("chat.postMessage", channel=channel, text="reply to a reply", thread_ts=reply))["ts"]
    await step("reactions.add", channel=channel, timestamp=root, name="eyes")
    await step("reactions.get", channel=channel, timestamp=root)
    await step("chat.update", channel=channel, ts=root, text="changed")
    await step("conversations.replies", channel=channel, ts=deep)
    await step("conversations.history", channel=channel, limit=1)
    await step("chat.getPermalink", channel=channel, message_ts=root)
    await step("reactions.remove", channel=channel, timestamp=root, name="eyes")
    await step("chat.delete", channel=channel, ts=root)
    await step("conversations.replies", channel=channel, ts=root)
    await step("chat.delete", channel=channel, ts=deep)
    await step("chat.delete", channel=channel, ts=reply)
    await step("conversations.replies", channel=channel, ts=root)
    await step("chat.postEphemeral", channel=channel, user=side.person, text="only you")
    await step("conversations.info", channel=channel)
    await step("users.info", user=side.person)
    await step("auth.test")
    return steps


def messages_of(body: Json) -> list[Json]:
    """The messages of an answer, at most a root and two replies."""
    return [body["message"]] if isinstance(body.get("message"), dict) else body.get("messages", [])


async def test_the_same_story_has_the_same_shape_on_both(sides: tuple[Side, Side]) -> None:
    ours, theirs = [await scenario(side) for side in sides]

    for (method, mine), (_, other) in zip(ours, theirs, strict=True):
        assert (method, mine["ok"], mine.get("error")) == (method, other["ok"], other.get("error"))
        assert mine.keys() >= other.keys() - {"response_metadata"}, method
        for my_message, other_message in zip(messages_of(mine), messages_of(other), strict=True):
            more = MORE_HERE if method.startswith("conversations.") else MORE_HERE | FIGURES
            if other_message.get("subtype") == "tombstone":
                more = more | {"edited"}  # `backlot` keeps it from the message that is gone
            assert my_message.keys() - more == other_message.keys() - more, method
            for key in {"type", "subtype", "text", "reply_count", "hidden"} - more:
                assert my_message.get(key) == other_message.get(key), (method, key)


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("chat.postMessage", {}),
        ("chat.postMessage", {"channel": "", "text": "x"}),
        ("chat.postMessage", {"channel": "C0NOWHERE", "text": "x"}),
        ("chat.postMessage", {"channel": "*", "text": ""}),
        ("chat.postMessage", {"channel": "*", "blocks": "abc"}),
        ("chat.postMessage", {"channel": "*", "blocks": "[]"}),
        ("chat.postMessage", {"channel": "*", "attachments": '[{"color": "red"}]'}),
        ("chat.postMessage", {"channel": "*", "text": "x", "thread_ts": "5"}),
        ("chat.update", {"channel": "*"}),
        ("chat.update", {"channel": "*", "ts": "1.2", "text": "x"}),
        ("chat.delete", {"channel": "*", "ts": "1.2"}),
        ("chat.postEphemeral", {}),
        ("chat.postEphemeral", {"channel": "*", "user": "alice", "text": "x"}),
        ("chat.postEphemeral", {"channel": "*", "user": "U0NOBODY"}),
        ("conversations.replies", {}),
        ("conversations.replies", {"channel": "*", "ts": "1.2"}),
        ("conversations.history", {"channel": "C0NOWHERE"}),
        ("conversations.info", {}),
        ("reactions.add", {"channel": "*", "timestamp": "1.2", "name": "eyes"}),
        ("users.info", {"user": "U0NOBODY"}),
        ("users.info", {}),
        ("chat.getPermalink", {"channel": "*"}),
        ("chat.shout", {}),
    ],
    ids=str,
)
async def test_refusals_have_the_same_names_and_explanations(sides: tuple[Side, Side], method: str, args: Json) -> None:
    bodies = []
    for side in sides:
        given = {k: side.channel if v == "*" else v for k, v in args.items()}
        bodies.append(await side.call(method, **given))
    mine, other = bodies

    assert (mine["ok"], mine["error"]) == (False, other["error"])
    assert mine.get("response_metadata") == other.get("response_metadata")


async def test_bad_tokens_are_refused_alike(sides: tuple[Side, Side]) -> None:
    for token, error in (("", "not_authed"), ("xoxb-wrong", "invalid_auth")):
        for side in sides:
            stranger = Side(AsyncWebClient(token=token, base_url=side.client.base_url, retry_handlers=[]), side.channel, side.person)
            assert (await stranger.call("auth.test"))["error"] == error
