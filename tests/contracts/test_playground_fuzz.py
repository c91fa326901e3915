"""Whatever an app or a page sends, the playground answers: a name for what is wrong, never a crash."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground import seed
from playground.clock import Clock, Ids
from playground.streaming import StreamError, Streams
from playground.validate import RULES, check_blocks, with_ids
from playground.views import ViewError, check_view
from playground.webapi.registry import METHODS
from tests.contracts.playground_kit import modal, opened

Json = dict[str, Any]
WORDS = st.sampled_from([*RULES, "plain_text", "mrkdwn", "button", "static_select", "plain_text_input", "image", "overflow", "x", ""])
KEYS = st.sampled_from(
    [
        "type",
        "text",
        "elements",
        "fields",
        "accessory",
        "block_id",
        "action_id",
        "options",
        "option_groups",
        "value",
        "label",
        "element",
        "title",
        "confirm",
        "placeholder",
        "image_url",
        "alt_text",
        "rows",
        "tasks",
        "status",
        "id",
        "blocks",
        "chunks",
        "details",
        "output",
        "sources",
        "style",
        "hint",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5000) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=15,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6).flatmap(lambda d: WORDS.map(lambda kind: {**d, "type": kind}))


@given(st.lists(OBJECTS | VALUES, max_size=4))
def test_any_blocks_are_judged_and_what_is_accepted_can_be_stored(blocks: list[Any]) -> None:
    if not check_blocks(blocks).texts:
        stored = with_ids(blocks, Ids().short)
        assert all(block["block_id"] for block in stored)


@given(st.lists(OBJECTS | VALUES, max_size=4), OBJECTS)
def test_any_view_is_judged(blocks: list[Any], more: Json) -> None:
    for view in (modal() | {"blocks": blocks}, modal() | more, blocks, more):
        refusal = None
        try:
            check_view(view, ("modal",))
        except ViewError as error:
            refusal = error.error
        assert refusal in (None, "invalid_arguments", "view_too_large")


CHUNKS = st.sampled_from(["markdown_text", "task_update", "plan_update", "blocks", "x"]).flatmap(lambda kind: OBJECTS.map(lambda d: {**d, "type": kind}))


@given(st.lists(CHUNKS | VALUES, max_size=4) | VALUES)
def test_any_chunks_are_taken_or_refused_whole(chunks: Any) -> None:
    streams = Streams(Clock(), Ids())
    stream = streams.open("C", "1.2", "1.1", "B", "timeline")
    try:
        streams.feed(stream, None, chunks)
    except StreamError:
        assert stream.parts == []
    assert isinstance(json.dumps(streams.blocks(stream)), str)


ARGS = st.fixed_dictionaries(
    {},
    optional={
        name: VALUES | st.sampled_from([seed.GENERAL, seed.ALICE, "1.2"])
        for name in (
            "channel",
            "channel_id",
            "ts",
            "thread_ts",
            "timestamp",
            "text",
            "markdown_text",
            "blocks",
            "attachments",
            "metadata",
            "user",
            "users",
            "user_id",
            "name",
            "view",
            "view_id",
            "trigger_id",
            "chunks",
            "status",
            "title",
            "prompts",
            "files",
            "file",
            "filename",
            "length",
            "cursor",
            "limit",
            "oldest",
            "latest",
            "types",
            "email",
            "hash",
            "post_at",
            "loading_messages",
            "session_status",
            "recipient_team_id",
            "recipient_user_id",
            "task_display_mode",
            "usergroup",
            "bot",
            "external_id",
            "message_ts",
            "icon_emoji",
            "username",
            "initiator_user_id",
        )
    },
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(args=ARGS)
def test_no_method_crashes_on_any_arguments(args: Json) -> None:
    async def call_all() -> None:
        async with opened() as pg, aiohttp.ClientSession(headers={"Authorization": f"Bearer {pg.bot_token}"}) as session:
            await pg.say("alice", "#general", "x", ts="1.2")
            for name in METHODS:
                if name == "auth.revoke":
                    continue
                async with session.post(f"{pg.api_url}{name}", json={"channel": seed.GENERAL, "thread_ts": "1.2", "ts": "1.2", **args}) as response:
                    assert response.status == 200, (name, args)
                    assert isinstance((await response.json())["ok"], bool)

    asyncio.run(call_all())


@pytest.mark.parametrize(
    "path",
    [
        "message",
        "edit",
        "delete",
        "react",
        "command",
        "action",
        "submit",
        "close",
        "home",
        "stop",
        "open",
        "options",
        "shortcut",
        "faults",
        "delivery",
        "disconnect",
        "workspace",
        "send",
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        "{}",
        '{"user": 5}',
        '{"user": "alice", "channel": {}}',
        '{"user": "alice", "channel": "#general", "action": 5}',
        '{"teams": 5}',
        '{"copies": "many"}',
        '{"user": "alice", "view_id": [], "state": 5}',
    ],
)
async def test_no_page_call_crashes_on_any_body(path: str, body: str) -> None:
    async with opened(ack_timeout=0.01) as pg, aiohttp.ClientSession() as session, session.post(f"{pg.url}/_/{path}", data=body) as response:
        assert response.status == 200
        assert isinstance((await response.json())["ok"], bool)
