"""The Web API as the SDK meets it: argument forms, tokens, scopes, errors, shapes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground import seed
from playground.appconfig import AppConfig
from playground.server import Playground
from tests.contracts.playground_kit import client_of, error_of, opened, section


@pytest.fixture
async def pg() -> AsyncIterator[Playground]:
    async with opened() as playground:
        yield playground


@pytest.fixture
async def client(pg: Playground) -> AsyncWebClient:
    return client_of(pg)


async def test_auth_test_says_who_the_bot_is_and_names_its_scopes_in_a_header(pg: Playground, client: AsyncWebClient) -> None:
    answer = await client.auth_test()

    assert (answer["user_id"], answer["team_id"], answer["bot_id"]) == (pg.bot_user_id, pg.team_id, pg.app_config.bot_id)
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


@pytest.mark.parametrize("form", ["query", "form", "json"])
@pytest.mark.parametrize("verb", ["get", "post"])
async def test_arguments_arrive_by_query_form_and_json_with_either_verb(pg: Playground, verb: str, form: str) -> None:
    args = {"channel": seed.GENERAL, "text": "hello", "blocks": json.dumps([section("from text")])}
    forms: dict[str, dict[str, Any]] = {"query": {"params": args}, "form": {"data": args}, "json": {"json": args | {"blocks": [section("from text")]}}}
    async with aiohttp.ClientSession() as session:
        send = session.get if verb == "get" else session.post
        async with send(f"{pg.api_url}chat.postMessage", headers={"Authorization": f"Bearer {pg.bot_token}"}, **forms[form]) as response:
            body = await response.json()

    assert body["ok"], body
    assert body["message"]["blocks"][0]["text"]["text"] == "from text"


async def test_a_token_may_come_as_an_argument(pg: Playground) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{pg.api_url}auth.test", data={"token": pg.bot_token}) as response:
        assert (await response.json())["ok"]


async def test_bodies_that_are_not_json_objects_are_named_as_such(pg: Playground) -> None:
    headers = {"Authorization": f"Bearer {pg.bot_token}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(f"{pg.api_url}chat.postMessage", data="{no") as response:
            assert (await response.json())["error"] == "invalid_json"
        async with session.post(f"{pg.api_url}chat.postMessage", data="[]") as response:
            assert (await response.json())["error"] == "json_not_object"


async def test_wrong_tokens_are_refused_by_kind(pg: Playground) -> None:
    assert (await error_of(client_of(pg, "").auth_test()))["error"] == "not_authed"
    assert (await error_of(client_of(pg, "xoxb-nobody").auth_test()))["error"] == "invalid_auth"
    assert (await error_of(client_of(pg, pg.app_token).chat_postMessage(channel=seed.GENERAL, text="x")))["error"] == "not_allowed_token_type"
    assert (await error_of(client_of(pg).apps_connections_open(app_token=pg.bot_token)))["error"] == "not_allowed_token_type"


async def test_a_revoked_token_stays_revoked(client: AsyncWebClient) -> None:
    assert (await client.auth_revoke())["revoked"] is True

    assert (await error_of(client.auth_test()))["error"] == "token_revoked"


async def test_unknown_methods_answer_with_status_200(client: AsyncWebClient) -> None:
    body = await error_of(client.api_call("chat.shout"))

    assert body["error"] == "unknown_method"


async def test_a_missing_scope_is_named_with_what_the_token_has() -> None:
    config = replace(AppConfig(), scopes=("chat:write", "channels:history"))
    async with opened(app_config=config) as pg:
        body = await error_of(client_of(pg).users_info(user=seed.ALICE))
        assert body == {"ok": False, "error": "missing_scope", "needed": "users:read", "provided": "channels:history,chat:write"}
        dm = await error_of(client_of(pg).conversations_history(channel=pg.dm("alice")))
        assert dm["needed"] == "im:history"


async def test_missing_arguments_are_listed(client: AsyncWebClient) -> None:
    body = await error_of(client.api_call("conversations.replies"))

    assert body["error"] == "invalid_arguments"
    assert body["response_metadata"]["messages"] == ["[ERROR] missing required field: channel", "[ERROR] missing required field: ts"]


async def test_posting_is_refused_with_slacks_reasons(client: AsyncWebClient) -> None:
    assert (await error_of(client.chat_postMessage(channel="C0NOWHERE", text="x")))["error"] == "channel_not_found"
    assert (await error_of(client.chat_postMessage(channel=seed.RANDOM, text="x")))["error"] == "not_in_channel"
    assert (await error_of(client.api_call("chat.postMessage", json={"channel": seed.GENERAL, "text": ""})))["error"] == "no_text"
    assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, text="x", thread_ts="5")))["error"] == "invalid_thread_ts"
    both = client.api_call("chat.postMessage", json={"channel": seed.GENERAL, "text": "a", "markdown_text": "b"})
    assert (await error_of(both))["error"] == "markdown_text_conflict"


async def test_lengths_follow_slacks_rules(client: AsyncWebClient) -> None:
    long = await client.chat_postMessage(channel=seed.GENERAL, text="x" * 40_001)
    assert len(long["message"]["text"]) == 40_000
    assert long["warning"] == "message_truncated"
    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts=long["ts"], text="x" * 4_001)))["error"] == "msg_too_long"
    assert (await client.chat_update(channel=seed.GENERAL, ts=long["ts"], text="x" * 4_000))["ok"]
    assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, markdown_text="x" * 12_001)))["error"] == "msg_too_long"


async def test_only_the_author_may_update_or_delete(pg: Playground, client: AsyncWebClient) -> None:
    ts = await pg.say("alice", "#general", "mine")

    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts=ts, text="x")))["error"] == "cant_update_message"
    assert (await error_of(client.chat_delete(channel=seed.GENERAL, ts=ts)))["error"] == "cant_delete_message"
    assert (await error_of(client.chat_update(channel=seed.GENERAL, ts="1.2", text="x")))["error"] == "message_not_found"


async def test_an_update_without_blocks_keeps_the_apps_blocks_and_an_empty_list_removes_them(client: AsyncWebClient) -> None:
    ts = (await client.chat_postMessage(channel=seed.GENERAL, text="t", blocks=[section("kept")]))["ts"]
    kept = await client.chat_update(channel=seed.GENERAL, ts=ts, text="new")
    assert kept["message"]["blocks"][0]["text"]["text"] == "kept"
    gone = await client.chat_update(channel=seed.GENERAL, ts=ts, text="new", blocks=[])
    assert gone["message"]["blocks"] == []


async def test_users_are_seen_with_zone_locale_guest_flag_and_home_team(client: AsyncWebClient) -> None:
    mei = (await client.users_info(user=seed.MEI, include_locale=True))["user"]
    assert (mei["tz"], mei["locale"], mei["tz_offset"]) == ("Asia/Shanghai", "zh-CN", 28_800)
    assert (await client.users_info(user=seed.DANA))["user"]["is_restricted"] is True
    assert (await client.users_info(user=seed.ERIK))["user"]["team_id"] == seed.PARTNER_TEAM_ID
    assert (await error_of(client.users_info(user="U0NOBODY")))["error"] == "user_not_found"
    assert (await client.users_lookupByEmail(email=mei["profile"]["email"]))["user"]["id"] == seed.MEI
    assert (await client.users_profile_get(user=seed.MEI))["profile"]["display_name"] == "mei"
    assert len((await client.users_list())["members"]) == 7


async def test_the_directory_answers(pg: Playground, client: AsyncWebClient) -> None:
    assert (await client.team_info())["team"]["id"] == pg.team_id
    assert (await client.bots_info(bot=pg.app_config.bot_id))["bot"]["user_id"] == pg.bot_user_id
    group = (await client.usergroups_list(include_users=True))["usergroups"][0]
    assert (await client.usergroups_users_list(usergroup=group["id"]))["users"] == group["users"] == [seed.ALICE, seed.MEI]
    assert (await client.emoji_list())["emoji"] == {}
    assert (await client.pins_list(channel=seed.GENERAL))["items"] == []


async def test_conversations_are_listed_joined_opened_and_counted(pg: Playground, client: AsyncWebClient) -> None:
    listed = (await client.conversations_list(types="public_channel,private_channel"))["channels"]
    assert {c["name"] for c in listed} == {"general", "orders", "random", "leads", "partners"}
    assert next(c for c in listed if c["name"] == "partners")["is_ext_shared"] is True
    mine = (await client.users_conversations(types="public_channel", user=pg.bot_user_id))["channels"]
    assert {c["name"] for c in mine} == {"general", "orders", "partners"}
    assert (await client.conversations_join(channel=seed.RANDOM))["channel"]["is_member"] is True
    assert (await client.conversations_join(channel=seed.RANDOM))["warning"] == "already_in_channel"
    assert (await client.conversations_open(users=seed.ALICE))["channel"]["id"] == pg.dm("alice")
    group = (await client.conversations_open(users=[seed.ALICE, seed.MEI]))["channel"]["id"]
    assert set((await client.conversations_members(channel=group))["members"]) == {seed.ALICE, seed.MEI, pg.bot_user_id}
    assert (await client.conversations_info(channel=group))["channel"]["is_mpim"] is True
    assert (await client.conversations_info(channel=seed.GENERAL, include_num_members=True))["channel"]["num_members"] == 5


async def test_a_private_channel_does_not_exist_for_who_is_not_in_it(pg: Playground) -> None:
    bruno = client_of(pg, pg.user_token("bruno", ("groups:history", "channels:history", "chat:write")))

    assert (await error_of(bruno.conversations_history(channel=seed.LEADS)))["error"] == "channel_not_found"


async def test_pages_follow_cursors_to_the_end(client: AsyncWebClient) -> None:
    seen: list[str] = []
    async for page in await client.users_list(limit=3):
        seen += [m["id"] for m in page["members"]]
    assert len(seen) == len(set(seen)) == 7
    assert (await error_of(client.users_list(cursor="garbage")))["error"] == "invalid_cursor"


async def test_files_are_uploaded_in_two_steps_and_downloaded_with_the_token(pg: Playground, client: AsyncWebClient) -> None:
    shared = await client.files_upload_v2(filename="报告.txt", content="hello", channel=seed.GENERAL, initial_comment="here")
    file = (await client.files_info(file=shared["file"]["id"]))["file"]
    assert (file["size"], file["mimetype"]) == (5, "text/plain")
    assert [f["id"] for f in (await client.files_list(channel=seed.GENERAL))["files"]] == [file["id"]]
    assert pg.messages("#general")[-1]["files"][0]["id"] == file["id"]
    async with aiohttp.ClientSession() as session:
        async with session.get(file["url_private_download"], headers={"Authorization": f"Bearer {pg.bot_token}"}) as response:
            assert await response.read() == b"hello"
        async with session.get(file["url_private_download"]) as response:
            assert (response.status, response.content_type) == (200, "text/html")


async def test_a_file_is_not_given_to_who_may_not_see_it(pg: Playground, client: AsyncWebClient) -> None:
    file_id = await pg.upload("alice", "secret.txt", b"x")
    assert (await error_of(client.files_info(file=file_id)))["error"] == "file_not_found"
    await pg.say("alice", "#leads", "look", file_ids=[file_id])
    assert (await client.files_info(file=file_id))["file"]["name"] == "secret.txt"


async def test_reactions_are_added_once_listed_and_removed(client: AsyncWebClient) -> None:
    ts = (await client.chat_postMessage(channel=seed.GENERAL, text="x"))["ts"]
    await client.reactions_add(channel=seed.GENERAL, timestamp=ts, name="eyes")
    assert (await error_of(client.reactions_add(channel=seed.GENERAL, timestamp=ts, name="eyes")))["error"] == "already_reacted"
    assert (await client.reactions_get(channel=seed.GENERAL, timestamp=ts))["message"]["reactions"][0]["name"] == "eyes"
    await client.reactions_remove(channel=seed.GENERAL, timestamp=ts, name="eyes")
    assert (await error_of(client.reactions_remove(channel=seed.GENERAL, timestamp=ts, name="eyes")))["error"] == "no_reaction"
    assert (await error_of(client.reactions_add(channel=seed.GENERAL, timestamp=ts, name="NOT OK")))["error"] == "invalid_name"


async def test_every_call_is_logged_in_order(pg: Playground, client: AsyncWebClient) -> None:
    await client.chat_postMessage(channel=seed.GENERAL, text="one")
    await error_of(client.chat_postMessage(channel="C0NOWHERE", text="two"))

    first, second = pg.calls("chat.postMessage")
    assert (first["ok"], first["args"]["text"], first["token_kind"]) == (True, "one", "bot")
    assert (second["ok"], second["error"]) == (False, "channel_not_found")
    assert first["n"] < second["n"]
