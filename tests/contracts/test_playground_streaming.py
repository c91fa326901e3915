"""Streamed messages, statuses, prompts and agent sessions: the state machines, driven by the SDK's own helpers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground import seed
from playground.appconfig import AppConfig
from playground.server import Playground
from tests.contracts.playground_kit import client_of, error_of, opened, section

Json = dict[str, Any]
TO_ALICE: Json = {"recipient_team_id": seed.TEAM_ID, "recipient_user_id": seed.ALICE}


@pytest.fixture
async def pg() -> AsyncIterator[Playground]:
    async with opened() as playground:
        yield playground


@pytest.fixture
async def client(pg: Playground) -> AsyncWebClient:
    return client_of(pg)


@pytest.fixture
async def root(pg: Playground) -> str:
    return await pg.say("alice", "#general", "question")


async def start(client: AsyncWebClient, root: str, **more: Any) -> str:
    """Start a stream in the thread; its ts."""
    return str((await client.chat_startStream(channel=seed.GENERAL, thread_ts=root, **TO_ALICE, **more))["ts"])


async def test_the_sdks_stream_helper_writes_one_message_that_grows(pg: Playground, client: AsyncWebClient, root: str) -> None:
    stream = await client.chat_stream(channel=seed.GENERAL, thread_ts=root, buffer_size=1, **TO_ALICE)
    await stream.append(markdown_text="**one** ")
    await stream.append(markdown_text="two ")
    growing = pg.message("#general", stream.ts or "")
    assert growing is not None
    assert (growing["streaming_state"], growing["text"]) == ("in_progress", "**one** two ")
    done = await stream.stop(markdown_text="three", blocks=[section("end")])

    message = done["message"]
    assert (message["streaming_state"], message["text"], message["thread_ts"]) == ("completed", "**one** two three", root)
    assert [b["type"] for b in message["blocks"]] == ["markdown", "section"]


async def test_task_updates_with_one_id_change_one_card_whose_output_grows(client: AsyncWebClient, root: str) -> None:
    ts = await start(client, root, chunks=[{"type": "task_update", "id": "t1", "title": "Search", "status": "in_progress", "output": "a"}])
    await client.chat_appendStream(
        channel=seed.GENERAL,
        ts=ts,
        chunks=[
            {"type": "task_update", "id": "t1", "title": "Search", "status": "complete", "output": "b"},
            {"type": "markdown_text", "text": "done"},
        ],
    )
    message = (await client.chat_stopStream(channel=seed.GENERAL, ts=ts))["message"]

    card, text = message["blocks"]
    assert (card["type"], card["status"], text["text"]) == ("task_card", "complete", "done")
    assert card["output"]["elements"][0]["elements"][0]["text"] == "ab"


async def test_in_plan_mode_tasks_stand_in_one_plan(client: AsyncWebClient, root: str) -> None:
    ts = await start(
        client,
        root,
        task_display_mode="plan",
        chunks=[
            {"type": "plan_update", "title": "Working"},
            {"type": "task_update", "id": "t1", "title": "One", "status": "pending"},
        ],
    )
    plan = (await client.chat_stopStream(channel=seed.GENERAL, ts=ts))["message"]["blocks"][0]

    assert (plan["type"], plan["title"], [t["task_id"] for t in plan["tasks"]]) == ("plan", "Working", ["t1"])


@pytest.mark.parametrize("name", ["recipient_team_id", "recipient_user_id"])
async def test_in_a_channel_the_recipient_must_be_named(client: AsyncWebClient, root: str, name: str) -> None:
    args = {k: v for k, v in TO_ALICE.items() if k != name}

    assert (await error_of(client.chat_startStream(channel=seed.GENERAL, thread_ts=root, **args)))["error"] == f"missing_{name}"


async def test_in_a_direct_message_it_need_not(pg: Playground, client: AsyncWebClient) -> None:
    dm_root = await pg.say("alice", "@steward", "hi")

    assert (await client.chat_startStream(channel=pg.dm("alice"), thread_ts=dm_root, markdown_text="x"))["ok"]


async def test_what_has_ended_or_never_was_a_stream_cannot_be_written(client: AsyncWebClient, root: str) -> None:
    plain = (await client.chat_postMessage(channel=seed.GENERAL, thread_ts=root, text="x"))["ts"]
    ts = await start(client, root, markdown_text="x")
    await client.chat_stopStream(channel=seed.GENERAL, ts=ts)

    for target, error in ((plain, "message_not_in_streaming_state"), (ts, "message_not_in_streaming_state"), ("1.2", "message_not_found")):
        assert (await error_of(client.chat_appendStream(channel=seed.GENERAL, ts=target, markdown_text="y")))["error"] == error


async def test_a_stream_dies_after_five_minutes_and_can_be_rescued_by_an_update(pg: Playground, client: AsyncWebClient, root: str) -> None:
    ts = await start(client, root, markdown_text="x")
    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts=ts, text="y")))["error"] == "streaming_state_conflict"
    pg.core.clock.advance(301)
    for call in (client.chat_appendStream, client.chat_stopStream):
        assert (await error_of(call(channel=seed.GENERAL, ts=ts, markdown_text="y")))["error"] == "message_not_in_streaming_state"
    assert (await client.chat_update(channel=seed.GENERAL, ts=ts, text="rescued"))["text"] == "rescued"


async def test_the_stop_button_ends_the_stream_for_the_app_which_may_still_close_it(pg: Playground, client: AsyncWebClient, root: str) -> None:
    ts = await start(client, root, markdown_text="x")
    await pg.stop_session("alice", "#general", root)

    assert (await error_of(client.chat_appendStream(channel=seed.GENERAL, ts=ts, markdown_text="y")))["error"] == "stopped_by_user"
    closed = await client.chat_stopStream(channel=seed.GENERAL, ts=ts, session_status="closed")
    assert closed["message"]["streaming_state"] == "completed"
    assert pg.core.sessions.session(pg.core.world.channels[seed.GENERAL], root).status == "closed"


async def test_bad_chunks_and_too_much_text_are_refused_and_change_nothing(pg: Playground, client: AsyncWebClient, root: str) -> None:
    ts = await start(client, root, markdown_text="x")
    cases: list[tuple[Json, str]] = [
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "nonsense"}]}, "invalid_chunks"),
        ({"chunks": "abc"}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "t", "title": "x" * 257, "status": "pending"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "t", "title": "x", "status": "odd"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "blocks", "blocks": [section("")]}]}, "invalid_blocks"),
        ({"chunks": [{"type": "blocks", "blocks": [{"type": "divider"}] * 51}]}, "msg_blocks_too_many"),
        ({}, "no_text"),
    ]
    for args, error in cases:
        assert (await error_of(client.api_call("chat.appendStream", json={"channel": seed.GENERAL, "ts": ts, **args})))["error"] == error, args
    message = pg.message("#general", ts)
    assert message is not None
    assert message["text"] == "x"


async def test_blocks_sent_as_chunks_are_at_most_fifty_in_all(client: AsyncWebClient, root: str) -> None:
    chunk = {"type": "blocks", "blocks": [{"type": "divider"}] * 30}
    ts = await start(client, root, chunks=[chunk])

    assert (await error_of(client.chat_appendStream(channel=seed.GENERAL, ts=ts, chunks=[chunk])))["error"] == "msg_blocks_too_many"


async def test_a_status_shows_until_cleared_or_answered_or_two_minutes_passed(pg: Playground, client: AsyncWebClient, root: str) -> None:
    async def set_status(text: str) -> None:
        await client.assistant_threads_setStatus(channel_id=seed.GENERAL, thread_ts=root, status=text)

    await set_status("is thinking…")
    assert pg.status("#general", root) == "is thinking…"
    await set_status("")
    assert pg.status("#general", root) == ""
    await set_status("again")
    await client.chat_postMessage(channel=seed.GENERAL, thread_ts=root, text="answer")
    assert pg.status("#general", root) == ""
    await set_status("long")
    pg.core.clock.advance(121)
    assert pg.status("#general", root) == ""
    wrong = client.assistant_threads_setStatus(channel_id=seed.GENERAL, thread_ts="1.2", status="x")
    assert (await error_of(wrong))["error"] == "invalid_thread_ts"


async def test_prompts_titles_and_sessions_have_their_limits(pg: Playground, client: AsyncWebClient, root: str) -> None:
    prompt = {"title": "T", "message": "M"}
    await client.assistant_threads_setSuggestedPrompts(channel_id=pg.dm("alice"), prompts=[prompt] * 4)
    too_many = client.assistant_threads_setSuggestedPrompts(channel_id=pg.dm("alice"), prompts=[prompt] * 5)
    assert (await error_of(too_many))["error"] == "invalid_arguments"
    await client.assistant_threads_setTitle(channel_id=seed.GENERAL, thread_ts=root, title="Orders")
    status = await client.api_call("agents.sessions.setStatus", json={"channel_id": seed.GENERAL, "thread_ts": root, "status": "processing"})
    assert (status["agent_status"], status["title"], "warning" in status.data) == ("processing", "Orders", False)
    long = client.api_call("agents.sessions.rename", json={"channel_id": seed.GENERAL, "thread_ts": root, "title": "x" * 201})
    assert (await error_of(long))["error"] == "invalid_arguments"


async def test_processing_without_the_stop_event_is_warned_about() -> None:
    async with opened(app_config=replace(AppConfig(), events=("app_mention",))) as pg:
        answer = await client_of(pg).api_call("agents.sessions.setStatus", json={"channel_id": pg.dm("alice"), "status": "processing"})

    assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
