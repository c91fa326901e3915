"""Events as a real Bolt app receives them, over signed HTTP and over Socket Mode."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any, Self

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from playground import seed
from playground.appconfig import AppConfig
from playground.server import Playground
from tests.contracts.playground_kit import TRANSPORTS, client_of, connected, opened

Json = dict[str, Any]


class Heard:
    """A Bolt app that keeps the bodies of all events it gets."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []

    def register(self, app: AsyncApp) -> None:
        """Listen for everything, before Bolt sorts out the app's own messages."""

        @app.event("app_mention")
        async def mention(body: Json) -> None:
            self.bodies.append(body)

        for kind in ("message", "reaction_added", "reaction_removed", "member_joined_channel", "app_home_opened", "agent_session_stopped", "tokens_revoked"):
            app.event(kind)(mention)

    @property
    def events(self) -> list[Json]:
        """The inner events."""
        return [b["event"] for b in self.bodies]

    async def wait(self, pg: Playground, count: int) -> list[Json]:
        """The first `count` events or more."""
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0 and len(self.bodies) >= count, 5)
        return self.events


@TRANSPORTS
async def test_a_mention_in_a_channel_arrives_as_two_events_of_one_message(transport: str) -> None:
    heard = Heard()
    async with connected(transport, heard.register) as pg:
        ts = await pg.say("alice", "#general", "@steward hello `@steward`")
        events = await heard.wait(pg, 2)

    assert sorted(e["type"] for e in events) == ["app_mention", "message"]
    assert {e["ts"] for e in events} == {ts}
    assert len({b["event_id"] for b in heard.bodies}) == 2
    assert events[0]["text"] == f"<@{pg.bot_user_id}> hello `@steward`"
    assert events[0]["blocks"][0]["elements"][0]["elements"][0] == {"type": "user", "user_id": pg.bot_user_id}
    assert heard.bodies[0]["authorizations"][0] == {
        "enterprise_id": None,
        "team_id": pg.team_id,
        "user_id": pg.bot_user_id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    assert {"client_msg_id", "team"} <= events[0].keys()
    assert "channel_type" not in next(e for e in events if e["type"] == "app_mention")


@TRANSPORTS
async def test_a_direct_message_arrives_once(transport: str) -> None:
    heard = Heard()
    async with connected(transport, heard.register) as pg:
        await pg.say("mei", "@steward", "你好 @steward")
        events = await heard.wait(pg, 1)

    assert [(e["type"], e["channel_type"]) for e in events] == [("message", "im")]


@pytest.mark.parametrize(("order", "first"), [("mention_first", "app_mention"), ("message_first", "message")])
async def test_the_order_of_the_two_events_can_be_chosen(order: str, first: str) -> None:
    heard = Heard()
    async with connected("socket", heard.register) as pg:
        pg.delivery(order=order, gap_ms=20)
        await pg.say("alice", "#general", "@steward hello")
        events = await heard.wait(pg, 2)

    assert events[0]["type"] == first


async def test_a_seed_fixes_the_random_order() -> None:
    orders = []
    for _ in range(2):
        async with Endpoint() as endpoint, opened(request_url=endpoint.url) as pg:
            pg.delivery(order="random", seed=7, gap_ms=5)
            for _ in range(8):
                await pg.say("alice", "#general", "@steward x")
                await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)
            orders.append([json.loads(body)["event"]["type"] for _, body in endpoint.requests])

    assert orders[0] == orders[1]
    assert {"app_mention", "message"} == set(orders[0][::2])


@TRANSPORTS
async def test_edits_and_deletions_are_told_with_what_was_before(transport: str) -> None:
    heard = Heard()
    async with connected(transport, heard.register) as pg:
        ts = await pg.say("alice", "#general", "before")
        await heard.wait(pg, 1)
        await pg.edit("alice", "#general", ts, "after")
        await heard.wait(pg, 2)
        await pg.delete("alice", "#general", ts)
        _, changed, deleted = await heard.wait(pg, 3)

    assert (changed["subtype"], changed["hidden"]) == ("message_changed", True)
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("after", "before")
    assert changed["message"]["edited"]["user"] == seed.ALICE
    assert (deleted["subtype"], deleted["deleted_ts"], deleted["previous_message"]["text"]) == ("message_deleted", ts, "after")


async def test_an_edit_that_adds_a_mention_is_a_mention() -> None:
    heard = Heard()
    async with connected("socket", heard.register) as pg:
        ts = await pg.say("alice", "#general", "hello")
        await heard.wait(pg, 1)
        await pg.edit("alice", "#general", ts, "hello @steward")
        events = await heard.wait(pg, 3)

    assert [e["type"] for e in events[1:]] == ["app_mention", "message"]
    assert "edited" in events[1]


async def test_the_apps_own_posts_and_updates_are_delivered_too() -> None:
    async with connected("socket", lambda app: None) as pg:
        client = client_of(pg)
        ts = (await client.chat_postMessage(channel=seed.GENERAL, text="x"))["ts"]
        await client.chat_update(channel=seed.GENERAL, ts=ts, text="y")
        await pg.wait_for(lambda: len(pg.deliveries()) == 2)

    assert [d["type"] for d in pg.deliveries()] == ["message", "message.message_changed"]


async def test_nothing_is_heard_of_channels_the_app_is_not_in_or_did_not_subscribe_to() -> None:
    heard = Heard()
    config = replace(AppConfig(), events=("app_mention", "message.channels"))
    async with connected("socket", heard.register, app_config=config) as pg:
        await pg.say("alice", "#random", "@steward nobody hears")
        await pg.say("alice", "#leads", "private and not subscribed")
        await pg.say("alice", "@steward", "direct and not subscribed")
        await pg.say("alice", "#general", "heard")
        events = await heard.wait(pg, 1)

    assert [e["text"] for e in events] == ["heard"]


async def test_a_person_of_another_company_is_marked() -> None:
    heard = Heard()
    async with connected("socket", heard.register) as pg:
        await pg.say("erik", "#partners", "hello")
        (event,) = await heard.wait(pg, 1)

    assert heard.bodies[0]["is_ext_shared_channel"] is True
    assert (event["team"], event["user_team"]) == (seed.PARTNER_TEAM_ID, seed.PARTNER_TEAM_ID)
    assert heard.bodies[0]["team_id"] == pg.team_id


@TRANSPORTS
async def test_other_events_arrive(transport: str) -> None:
    heard = Heard()
    async with connected(transport, heard.register) as pg:
        ts = await pg.say("alice", "#general", "x")
        await heard.wait(pg, 1)
        await pg.react("mei", "#general", ts, "eyes")
        await pg.open_home("alice", "messages")
        await pg.stop_session("alice", "#general", ts)
        events = (await heard.wait(pg, 4))[1:]

    found = {e["type"]: e for e in events}
    assert found["reaction_added"]["item"] == {"type": "message", "channel": seed.GENERAL, "ts": ts}
    assert (found["app_home_opened"]["tab"], found["app_home_opened"]["channel"]) == ("messages", pg.dm("alice"))
    assert (found["agent_session_stopped"]["thread_ts"], found["agent_session_stopped"]["streaming_message_ts"]) == (ts, [])


async def test_copies_have_the_same_event_id() -> None:
    heard = Heard()
    async with connected("socket", heard.register) as pg:
        pg.delivery(copies=3)
        await pg.say("alice", "@steward", "x")
        await heard.wait(pg, 3)

    assert len({b["event_id"] for b in heard.bodies}) == 1


class Endpoint:
    """A bare HTTP receiver that answers as told and keeps the requests."""

    def __init__(self, *answers: web.Response) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[Json, bytes]] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/", self._take)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.headers), await request.read()))
        return self.answers.pop(0) if self.answers else web.Response()


async def test_requests_are_signed_as_the_sdk_verifies() -> None:
    async with Endpoint() as endpoint, opened(request_url=endpoint.url) as pg:
        await pg.say("alice", "@steward", "你好")
        await pg.wait_for(lambda: bool(pg.deliveries()))
        headers, body = endpoint.requests[0]

        assert SignatureVerifier(pg.signing_secret).is_valid_request(body, headers)
        assert not SignatureVerifier("another secret").is_valid_request(body, headers)
        assert headers["User-Agent"].startswith("Slackbot 1.0")
        assert "X-Slack-Retry-Num" not in headers


async def test_a_failed_delivery_is_retried_three_times_with_its_reason() -> None:
    failures = [web.Response(status=500) for _ in range(4)]
    async with Endpoint(*failures) as endpoint, opened(request_url=endpoint.url, time_scale=0) as pg:
        await pg.say("alice", "@steward", "x")
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        retries = [(h.get("X-Slack-Retry-Num"), h.get("X-Slack-Retry-Reason")) for h, _ in endpoint.requests]
        assert retries == [(None, None), ("1", "http_error"), ("2", "http_error"), ("3", "http_error")]
        assert len({json.loads(b)["event_id"] for _, b in endpoint.requests}) == 1


async def test_the_app_can_ask_for_no_retry() -> None:
    refusal = web.Response(status=500, headers={"X-Slack-No-Retry": "1"})
    async with Endpoint(refusal) as endpoint, opened(request_url=endpoint.url, time_scale=0) as pg:
        await pg.say("alice", "@steward", "x")
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert len(endpoint.requests) == 1


async def test_a_lost_attempt_and_a_dead_address_count_as_failed_connections() -> None:
    async with opened(request_url="http://127.0.0.1:9/", time_scale=0) as pg:
        pg.delivery(retries=1)
        await pg.say("alice", "@steward", "x")
        await pg.wait_for(lambda: len(pg.deliveries()) == 2)
        pg.delivery(drop=1.0, retries=0)
        await pg.say("alice", "@steward", "x")
        await pg.wait_for(lambda: len(pg.deliveries()) == 3)

    assert [d["reason"] for d in pg.deliveries()] == ["connection_failed"] * 3


async def test_a_slow_app_is_retried_for_http_timeout() -> None:
    never = asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        await never.wait()
        return web.Response()

    app = web.Application()
    app.router.add_post("/", hang)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with opened(request_url=f"http://127.0.0.1:{runner.addresses[0][1]}/", time_scale=0, ack_timeout=0.05) as pg:
        pg.delivery(retries=1)
        await pg.say("alice", "@steward", "x")
        await pg.wait_for(lambda: len(pg.deliveries()) == 2)
    never.set()
    await runner.cleanup()

    assert [d["reason"] for d in pg.deliveries()] == ["http_timeout", "http_timeout"]


async def test_a_request_url_is_verified_by_its_challenge() -> None:
    async with connected("http", lambda app: None) as pg:
        assert await pg.verify_request_url()
    async with Endpoint() as endpoint, opened(request_url=endpoint.url) as pg:
        assert not await pg.verify_request_url()


async def test_a_raw_envelope_is_sent_as_it_is() -> None:
    envelope = {"type": "event_callback", "event_id": "EvRAW", "event": {"type": "unheard_of"}}
    async with Endpoint() as endpoint, opened(request_url=endpoint.url) as pg:
        async with aiohttp.ClientSession() as session, session.post(f"{pg.url}/_/send", json=envelope) as response:
            assert (await response.json())["event_id"] == "EvRAW"
        await pg.wait_for(lambda: bool(pg.deliveries()))

        assert json.loads(endpoint.requests[0][1]) == envelope
