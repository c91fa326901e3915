"""Socket Mode: tickets, hello, exactly one connection per envelope, retries, disconnects, waiting events."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from playground.server import Playground
from tests.contracts.playground_kit import client_of, connected, opened

Json = dict[str, Any]


class Line:
    """A bare Socket Mode client."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def next(self) -> Json:
        """The next message."""
        body: Json = json.loads(await self.socket.receive_str(timeout=5))
        return body

    async def ack(self, envelope: Json, payload: Json | None = None) -> None:
        """Acknowledge."""
        await self.socket.send_json({"envelope_id": envelope["envelope_id"]} | ({"payload": payload} if payload else {}))


@contextlib.asynccontextmanager
async def lines(pg: Playground, count: int = 1) -> AsyncIterator[list[Line]]:
    """Open connections that have got their hello."""
    async with aiohttp.ClientSession() as session:
        opened_lines = []
        for _ in range(count):
            url = (await client_of(pg).apps_connections_open(app_token=pg.app_token))["url"]
            line = Line(await session.ws_connect(url))
            assert (await line.next())["type"] == "hello"
            opened_lines.append(line)
        yield opened_lines
        for line in opened_lines:
            await line.socket.close()


async def test_a_ticket_opens_one_connection_only() -> None:
    async with opened() as pg, aiohttp.ClientSession() as session:
        url = (await client_of(pg).apps_connections_open(app_token=pg.app_token))["url"]
        async with session.ws_connect(url):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(url)


async def test_each_envelope_goes_to_one_connection_in_turn() -> None:
    async with opened() as pg, lines(pg, 2) as (first, second):
        await pg.say("alice", "@steward", "one")
        await pg.say("alice", "@steward", "two")
        got = [await first.next(), await second.next()]
        for line, envelope in zip((first, second), got, strict=True):
            await line.ack(envelope)
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert {e["payload"]["event"]["text"] for e in got} == {"one", "two"}
        assert all(e["type"] == "events_api" and e["accepts_response_payload"] is False and e["retry_attempt"] == 0 for e in got)


async def test_an_unacknowledged_envelope_is_sent_again_and_an_ack_on_any_line_counts() -> None:
    async with opened(ack_timeout=0.05, time_scale=0) as pg, lines(pg, 2) as (first, second):
        await pg.say("alice", "@steward", "x")
        sent = [await second.next()]  # the turn starts with the second line
        again = await first.next()
        await second.ack(again)
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
        assert again["payload"]["event_id"] == sent[0]["payload"]["event_id"]
        assert [d["status"] for d in pg.deliveries()][:2] == [0, 200]


async def test_events_wait_for_a_connection() -> None:
    async with opened() as pg:
        await pg.say("alice", "@steward", "early")
        async with lines(pg) as (line,):
            envelope = await line.next()
            await line.ack(envelope)
            await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert envelope["payload"]["event"]["text"] == "early"


async def test_events_do_not_wait_for_ever() -> None:
    async with opened(time_scale=0) as pg:
        pg.core.socket._queue_seconds = lambda: 0.01
        await pg.say("alice", "@steward", "lost")
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

    assert [d["reason"] for d in pg.deliveries()] == ["connection_failed"] * 4


async def test_a_disconnect_is_announced_with_its_reason_and_late_acks_still_count() -> None:
    async with opened() as pg, lines(pg) as (line,):
        await pg.say("alice", "@steward", "x")
        envelope = await line.next()
        assert await pg.disconnect("refresh_requested") == 1
        assert (await line.next())["reason"] == "refresh_requested"
        await line.ack(envelope)
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert [d["status"] for d in pg.deliveries()] == [200]


async def test_a_cut_line_fails_what_was_on_it_and_the_retry_goes_to_the_next() -> None:
    async with opened(time_scale=0) as pg, lines(pg) as (line,):
        await pg.say("alice", "@steward", "x")
        await line.next()
        await pg.disconnect("abort")
        async with lines(pg) as (other,):
            envelope = await other.next()
            await other.ack(envelope)
            await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert (envelope["retry_attempt"], envelope["retry_reason"]) == (1, "connection_failed")


async def test_the_eleventh_connection_is_turned_away() -> None:
    async with opened() as pg, lines(pg, 10), aiohttp.ClientSession() as session:
        url = (await client_of(pg).apps_connections_open(app_token=pg.app_token))["url"]
        eleventh = Line(await session.ws_connect(url))
        assert (await eleventh.next())["reason"] == "too_many_websockets"


@pytest.mark.parametrize("reason", ["refresh_requested", "abort"])
async def test_the_sdks_client_comes_back_after_a_disconnect(reason: str) -> None:
    texts: list[str] = []

    def register(app: AsyncApp) -> None:
        @app.event("message")
        async def heard(event: Json) -> None:
            texts.append(event["text"])

    async with connected("socket", register) as pg:
        await pg.disconnect(reason)
        await pg.say("alice", "@steward", "after")
        await pg.wait_for(lambda: texts == ["after"], 20)


async def test_garbage_on_the_line_is_ignored() -> None:
    async with opened() as pg, lines(pg) as (line,):
        await line.socket.send_str("not json")
        await line.socket.send_json({"envelope_id": "E-unknown"})
        await pg.say("alice", "@steward", "x")
        envelope = await line.next()
        await line.ack(envelope)
        await pg.wait_for(lambda: pg.core.delivery.in_flight == 0)

        assert pg.deliveries()[0]["status"] == 200
