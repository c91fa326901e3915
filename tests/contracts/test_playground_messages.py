"""Messages, threads, history, metadata, ephemeral messages: the state behind the Web API."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground import seed
from playground.server import Playground
from tests.contracts.playground_kit import client_of, error_of, opened


@pytest.fixture
async def pg() -> AsyncIterator[Playground]:
    async with opened() as playground:
        yield playground


@pytest.fixture
async def client(pg: Playground) -> AsyncWebClient:
    return client_of(pg)


async def test_timestamps_are_unique_and_rise(pg: Playground) -> None:
    stamps = [await pg.say("alice", "#general", str(n)) for n in range(50)]

    assert stamps == sorted(set(stamps))


async def test_a_thread_has_its_root_first_and_the_root_counts(pg: Playground, client: AsyncWebClient) -> None:
    root = await pg.say("alice", "#general", "root")
    first = (await client.chat_postMessage(channel=seed.GENERAL, thread_ts=root, text="one"))["ts"]
    second = await pg.say("mei", "#general", "two", thread_ts=first)  # a reply to a reply lands in the same thread

    body = await client.conversations_replies(channel=seed.GENERAL, ts=second)
    assert [m["ts"] for m in body["messages"]] == [root, first, second]
    top = body["messages"][0]
    assert (top["reply_count"], top["latest_reply"], top["reply_users"]) == (2, second, [pg.bot_user_id, seed.MEI])
    assert body["messages"][1]["parent_user_id"] == seed.ALICE
    assert (await error_of(client.conversations_replies(channel=seed.GENERAL, ts="1.2")))["error"] == "thread_not_found"


async def test_a_thread_ts_that_names_nothing_posts_at_top_level(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=seed.GENERAL, thread_ts="1700000000.000100", text="x")

    assert "thread_ts" not in posted["message"]


async def test_history_is_newest_first_without_replies_and_pages(pg: Playground, client: AsyncWebClient) -> None:
    roots = [await pg.say("alice", "#orders", str(n)) for n in range(5)]
    await pg.say("alice", "#orders", "reply", thread_ts=roots[0])

    first = await client.conversations_history(channel=seed.ORDERS, limit=2)
    assert [m["ts"] for m in first["messages"]] == roots[:2:-1]
    assert first["has_more"]
    rest = await client.conversations_history(channel=seed.ORDERS, cursor=first["response_metadata"]["next_cursor"])
    assert [m["ts"] for m in rest["messages"]] == roots[2::-1]
    after = await client.conversations_history(channel=seed.ORDERS, oldest=roots[3])
    assert [m["ts"] for m in after["messages"]] == [roots[4]]
    both = await client.conversations_history(channel=seed.ORDERS, oldest=roots[3], latest=roots[4], inclusive=True)
    assert len(both["messages"]) == 2
    assert (await error_of(client.conversations_history(channel=seed.RANDOM)))["error"] == "not_in_channel"


async def test_metadata_is_returned_only_when_asked_for(client: AsyncWebClient) -> None:
    metadata = {"event_type": "outbound", "event_payload": {"id": "o1"}}
    await client.chat_postMessage(channel=seed.GENERAL, text="x", metadata=metadata)

    plain = (await client.conversations_history(channel=seed.GENERAL, limit=1))["messages"][0]
    full = (await client.conversations_history(channel=seed.GENERAL, limit=1, include_all_metadata=True))["messages"][0]
    assert "metadata" not in plain
    assert full["metadata"] == metadata
    wrong = client.chat_postMessage(channel=seed.GENERAL, text="x", metadata={"event_type": "only"})
    assert (await error_of(wrong))["error"] == "invalid_metadata_format"


async def test_a_deleted_root_with_replies_stays_as_a_tombstone_until_its_last_reply_goes(pg: Playground, client: AsyncWebClient) -> None:
    root = (await client.chat_postMessage(channel=seed.GENERAL, text="root"))["ts"]
    reply = (await client.chat_postMessage(channel=seed.GENERAL, thread_ts=root, text="reply"))["ts"]

    await client.chat_delete(channel=seed.GENERAL, ts=root)
    stone = pg.message("#general", root)
    assert stone is not None
    assert (stone["subtype"], stone["text"], stone["reply_count"]) == ("tombstone", "This message was deleted.", 1)
    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts=root, text="x")))["error"] == "message_not_found"
    await client.chat_delete(channel=seed.GENERAL, ts=reply)
    assert pg.message("#general", root) is None


async def test_a_root_whose_only_reply_is_deleted_is_standalone_again(pg: Playground) -> None:
    root = await pg.say("alice", "#general", "root")
    reply = await pg.say("alice", "#general", "reply", thread_ts=root)
    await pg.delete("alice", "#general", reply)

    message = pg.message("#general", root)
    assert message is not None
    assert "thread_ts" not in message
    assert "reply_count" not in message


async def test_an_ephemeral_message_is_for_one_person_and_not_in_history(pg: Playground, client: AsyncWebClient) -> None:
    ts = (await client.chat_postEphemeral(channel=seed.GENERAL, user=seed.ALICE, text="only you"))["message_ts"]

    assert [m["ts"] for m in pg.ephemerals("alice")] == [ts]
    assert pg.ephemerals("mei") == []
    assert [m["ts"] for m in pg.messages("#general", user="alice")] == [ts]
    assert (await client.conversations_history(channel=seed.GENERAL))["messages"] == []
    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts=ts, text="x")))["error"] == "message_not_found"
    outside = client.chat_postEphemeral(channel=seed.GENERAL, user=seed.DANA, text="x")
    assert (await error_of(outside))["error"] == "user_not_in_channel"
    assert (await error_of(client.chat_postEphemeral(channel=seed.GENERAL, user="alice", text="x")))["error"] == "invalid_arguments"


async def test_neighbouring_timestamps_are_told_apart(pg: Playground, client: AsyncWebClient) -> None:
    for ts in ("1790000000.123456", "1790000000.123457"):
        await pg.say("alice", "#general", ts, ts=ts)

    after = await client.conversations_history(channel=seed.GENERAL, oldest="1790000000.123456")
    assert [m["ts"] for m in after["messages"]] == ["1790000000.123457"]
    assert (await error_of(client.conversations_history(channel=seed.GENERAL, oldest="soon")))["error"] == "invalid_ts_oldest"


async def test_a_scheduled_message_is_not_for_the_past(pg: Playground, client: AsyncWebClient) -> None:
    now = int(pg.core.clock.now())
    assert (await error_of(client.chat_scheduleMessage(channel=seed.GENERAL, post_at=now - 5, text="x")))["error"] == "time_in_past"
    assert (await client.chat_scheduleMessage(channel=seed.GENERAL, post_at=now + 60, text="x"))["scheduled_message_id"].startswith("Q")
    await client.chat_scheduleMessage(channel=seed.GENERAL, post_at=now + 1, text="soon")
    await pg.wait_for(lambda: [m["text"] for m in pg.messages("#general")] == ["soon"])


async def test_permalinks_name_the_thread(pg: Playground, client: AsyncWebClient) -> None:
    root = await pg.say("alice", "#general", "root")
    reply = await pg.say("alice", "#general", "reply", thread_ts=root)

    link = (await client.chat_getPermalink(channel=seed.GENERAL, message_ts=reply))["permalink"]
    assert link.endswith(f"/archives/{seed.GENERAL}/p{reply.replace('.', '')}?thread_ts={root}&cid={seed.GENERAL}")


async def test_a_broadcast_reply_shows_in_the_channel_too(pg: Playground, client: AsyncWebClient) -> None:
    root = await pg.say("alice", "#general", "root")
    reply = (await client.chat_postMessage(channel=seed.GENERAL, thread_ts=root, reply_broadcast=True, text="all"))["ts"]

    assert [m["ts"] for m in pg.messages("#general")] == [root, reply]


async def test_posting_to_a_persons_id_opens_the_direct_conversation(pg: Playground, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=seed.MEI, text="hi")

    assert posted["channel"] == pg.dm("mei")
