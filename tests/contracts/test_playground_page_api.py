"""The page's own API: who may call it, what it answers, what the feed pushes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from playground import seed
from playground.server import Playground
from tests.contracts.playground_kit import client_of, connected, modal, opened

Json = dict[str, Any]


@pytest.fixture
async def pg() -> AsyncIterator[Playground]:
    async with opened() as playground:
        yield playground


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def call(http: aiohttp.ClientSession, pg: Playground, path: str, **body: Any) -> Json:
    """POST to the page's API; always status 200."""
    async with http.post(f"{pg.url}/_/{path}", json=body) as response:
        assert response.status == 200
        answer: Json = await response.json()
        return answer


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost:1"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
    ],
)
async def test_only_the_page_itself_on_a_loopback_name_may_call(pg: Playground, http: aiohttp.ClientSession, headers: dict[str, str], status: int) -> None:
    for path in ("/_/state", "/_/feed", "/"):
        async with http.get(f"{pg.url}{path}?user=alice", headers=headers) as response:
            assert (response.status == 403) == (status == 403), path
    async with http.get(f"{pg.url}/_/state", headers={"Origin": pg.url}) as response:
        assert response.status == 200


async def test_the_web_api_does_not_look_at_the_host(pg: Playground, http: aiohttp.ClientSession) -> None:
    async with http.post(f"{pg.api_url}auth.test", headers={"Host": "slack.example", "Authorization": f"Bearer {pg.bot_token}"}) as response:
        assert (await response.json())["ok"]


async def test_the_page_is_served_under_a_strict_policy(pg: Playground, http: aiohttp.ClientSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.html").write_text("<!DOCTYPE html><title>page</title>")
    (tmp_path.parent / "outside.txt").write_text("no")
    monkeypatch.setattr("playground.web.STATIC", tmp_path)
    async with http.get(f"{pg.url}/") as response:
        assert response.status == 200
        assert response.headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "unsafe-inline" not in response.headers["Content-Security-Policy"]
    async with http.get(f"{pg.url}/static/index.html") as response:
        assert response.status == 200
    async with http.get(f"{pg.url}/static/%2e%2e/outside.txt") as response:
        assert response.status == 404


async def test_the_state_shows_what_the_person_may_see(pg: Playground, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{pg.url}/_/state", params={"user": seed.DANA}) as response:
        state = await response.json()

    assert state["user"] == seed.DANA
    assert {c["name"] for c in state["channels"] if c["kind"] != "im"} == {"orders"}
    assert next(c for c in state["channels"] if c["kind"] == "im")["peer"] == pg.bot_user_id
    assert {"id", "name", "real_name", "is_bot", "is_guest", "team_id", "tz", "locale", "color"} == state["users"][0].keys()
    assert state["app"] == {"id": "A01STEWARD", "name": "Steward", "bot_user_id": pg.bot_user_id, "connected": False}


async def test_messages_are_written_edited_reacted_to_and_deleted(pg: Playground, http: aiohttp.ClientSession) -> None:
    where = {"user": seed.ALICE, "channel": seed.GENERAL}
    ts = (await call(http, pg, "message", **where, text="hello @mei"))["ts"]
    reply = (await call(http, pg, "message", **where, text="reply", thread_ts=ts, broadcast=True))["ts"]
    assert (await call(http, pg, "edit", **where, ts=ts, text="changed"))["ok"]
    assert (await call(http, pg, "react", **where, ts=ts, name="eyes"))["ok"]
    async with http.get(f"{pg.url}/_/messages", params=where) as response:
        first, second = (await response.json())["messages"]
    assert (first["text"], first["reply_count"], first["reactions"][0]["name"], second["ts"]) == ("changed", 1, "eyes", reply)
    assert (await call(http, pg, "delete", **where, ts=reply))["ok"]
    async with http.get(f"{pg.url}/_/messages", params={**where, "thread_ts": ts}) as response:
        assert [m["ts"] for m in (await response.json())["messages"]] == [ts]


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("message", {"user": "U0NOBODY", "channel": seed.GENERAL, "text": "x"}, "user_not_found"),
        ("message", {"user": seed.DANA, "channel": seed.LEADS, "text": "x"}, "channel_not_found"),
        ("message", {"user": seed.ALICE, "channel": seed.GENERAL, "text": ""}, "no_text"),
        ("edit", {"user": seed.ALICE, "channel": seed.GENERAL, "ts": "1.2", "text": "x"}, "message_not_found"),
        ("action", {"user": seed.ALICE, "channel": seed.GENERAL, "message_ts": "1.2", "action": {"action_id": "a"}}, "message_not_found"),
        ("action", {"user": seed.ALICE, "channel": seed.GENERAL, "message_ts": "1.2"}, "invalid_arguments"),
        ("submit", {"user": seed.ALICE, "view_id": "V0"}, "view_not_found"),
        ("open", {"user": seed.ALICE, "users": 5}, "invalid_arguments"),
        ("faults", {"method": "x", "kind": "y"}, "invalid_arguments"),
    ],
)
async def test_refusals_have_status_200_and_a_name(pg: Playground, http: aiohttp.ClientSession, path: str, body: Json, error: str) -> None:
    assert (await call(http, pg, path, **body))["error"] == error


async def test_raw_messages_are_taken_as_they_are(pg: Playground, http: aiohttp.ClientSession) -> None:
    raw = {"text": "<@U1> & <raw>", "subtype": "bot_message", "bot_id": "B9", "raw": True}
    ts = (await call(http, pg, "message", user=seed.ALICE, channel=seed.GENERAL, **raw))["ts"]

    message = pg.message("#general", ts)
    assert message is not None
    assert (message["text"], message["subtype"], message["bot_id"], "blocks" in message) == ("<@U1> & <raw>", "bot_message", "B9", False)


async def test_a_person_may_not_click_in_anothers_modal(pg: Playground, http: aiohttp.ClientSession) -> None:
    view = (await client_of(pg).views_open(trigger_id=pg.core.interactivity.trigger(seed.ALICE), view=modal()))["view"]

    assert (await call(http, pg, "submit", user=seed.MEI, view_id=view["id"], state={"values": {}}))["error"] == "view_not_found"


async def test_a_command_nobody_answers_is_a_failed_dispatch(http: aiohttp.ClientSession) -> None:
    async with connected("socket", lambda app: None, ack_timeout=0.05) as pg:
        answer = await call(http, pg, "command", user=seed.ALICE, channel=seed.GENERAL, command="/steward", text="help")

    assert (answer["ok"], answer["error"]) == (False, "dispatch_failed")


async def test_the_feed_pushes_what_the_person_may_see_and_nothing_else(pg: Playground, http: aiohttp.ClientSession) -> None:
    client = client_of(pg)
    async with http.ws_connect(f"{pg.url}/_/feed", params={"user": seed.MEI}) as feed:
        await pg.wait_for(lambda: seed.MEI in pg.core.feed._pages)
        await pg.say("alice", "@steward", "not for mei")
        await client.chat_postEphemeral(channel=seed.GENERAL, user=seed.ALICE, text="not for mei")
        ts = await pg.say("alice", "#general", "root")
        await client.assistant_threads_setStatus(channel_id=seed.GENERAL, thread_ts=ts, status="is thinking…")
        reply = (await client.chat_postMessage(channel=seed.GENERAL, thread_ts=ts, text="reply"))["ts"]
        await client.chat_delete(channel=seed.GENERAL, ts=reply)
        await client.views_open(trigger_id=pg.core.interactivity.trigger(seed.MEI), view=modal())
        await client.views_publish(user_id=seed.MEI, view={"type": "home", "blocks": []})
        pushed = [await feed.receive_json(timeout=5) for _ in range(9)]

    assert [p["type"] for p in pushed] == [
        "message",
        "status",
        "message",
        "message_changed",
        "status",
        "message_deleted",
        "message_changed",
        "view",
        "home",
    ]
    assert (pushed[0]["message"]["ts"], pushed[1]["status"], pushed[4]["status"]) == (ts, "is thinking…", "")
    assert (pushed[5]["ts"], pushed[5]["thread_ts"], pushed[7]["action"]) == (reply, ts, "open")


async def test_an_upload_is_shared_with_a_message_and_shown_only_to_the_channels_people(pg: Playground, http: aiohttp.ClientSession) -> None:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("user", seed.ALICE)
    form.add_field("file", b"<script>1</script>", filename="../x.html")
    async with http.post(f"{pg.url}/_/upload", data=form) as response:
        file = (await response.json())["file"]
    assert file["name"] == "x.html"
    assert (await call(http, pg, "message", user=seed.ALICE, channel=seed.LEADS, text="", file_ids=[file["id"]]))["ok"]
    same = {"Sec-Fetch-Site": "same-origin"}
    async with http.get(file["url_private"], params={"as": seed.MEI}, headers=same) as response:
        assert await response.read() == b"<script>1</script>"
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert "sandbox" in response.headers["Content-Security-Policy"]
    for params, headers in (({"as": seed.BRUNO}, same), ({"as": seed.MEI}, {}), ({"as": seed.MEI}, {"Sec-Fetch-Site": "cross-site"})):
        async with http.get(file["url_private"], params=params, headers=headers) as response:
            assert response.content_type == "text/html"
            assert b"script>1" not in await response.read()


async def test_the_logs_can_be_read_from_outside(pg: Playground, http: aiohttp.ClientSession) -> None:
    await client_of(pg).auth_test()
    async with http.get(f"{pg.url}/_/calls", params={"method": "auth.test"}) as response:
        (entry,) = (await response.json())["calls"]
    assert (entry["method"], entry["ok"], entry["status"], entry["token_kind"]) == ("auth.test", True, 200, "bot")
    async with http.get(f"{pg.url}/_/calls", params={"since": entry["n"]}) as response:
        assert (await response.json())["calls"] == []


async def test_the_state_tells_what_a_reload_would_miss_and_only_to_those_who_may_see_it(http: aiohttp.ClientSession) -> None:
    async with opened(examples=("@steward hello", "@steward 你好")) as pg:

        async def state(user: str) -> Json:
            async with http.get(f"{pg.url}/_/state", params={"user": user}) as response:
                answer: Json = await response.json()
                return answer

        client, ts = client_of(pg), await pg.say("alice", "#leads", "@steward hello")
        await client.assistant_threads_setStatus(channel_id=seed.LEADS, thread_ts=ts, status="is thinking…", loading_messages=["Reading"])
        await client.assistant_threads_setSuggestedPrompts(channel_id=seed.LEADS, thread_ts=ts, title="Try", prompts=[{"title": "A", "message": "a"}])
        await client.api_call("agents.sessions.setStatus", json={"channel_id": seed.LEADS, "thread_ts": ts, "status": "processing"})
        seen, unseen = await state("mei"), await state("bruno")
        place = {"channel": seed.LEADS, "thread_ts": ts}
        assert seen["examples"] == ["@steward hello", "@steward 你好"] == unseen["examples"]
        assert seen["statuses"] == [{**place, "status": "is thinking…", "loading_messages": ["Reading"]}]
        assert seen["sessions"] == [{**place, "status": "processing", "title": ""}]
        assert seen["prompts"] == [{**place, "title": "Try", "prompts": [{"title": "A", "message": "a"}]}]
        assert (unseen["statuses"], unseen["sessions"], unseen["prompts"]) == ([], [], [])
        await client.api_call("assistant.threads.setStatus", json={"channel_id": seed.LEADS, "thread_ts": ts, "status": ""})
        await client.api_call("agents.sessions.setStatus", json={"channel_id": seed.LEADS, "thread_ts": ts, "status": "active"})
        after = await state("mei")
        assert (after["statuses"], after["sessions"]) == ([], [])
