"""Reported faults A6, A7 and A10: a socket gone silent, a shutdown in mid-answer, a store or a model that is away for a while."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Self

import aiohttp
import pytest

from bot.service import Service
from playground.server import Playground
from tests.fakes.scripted_model import ScriptedModel, echo_policy, fault, held, stall_after, text
from tests.fakes.stack import QUICK, Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import heard, over, rest


class Relay:
    """A wire between the bot and the playground on which the WebSockets, and only they, can be made to fall silent."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.silent = False
        self.swallowed = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        upstream: asyncio.StreamWriter | None = None
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            first = await reader.read(65536)
            socket = first.startswith(b"GET /link/")
            if not (socket and self.silent):
                source, upstream = await asyncio.open_connection("127.0.0.1", self._target)
                upstream.write(first)
                pumps = [asyncio.create_task(self._pump(reader, upstream, socket=socket)), asyncio.create_task(self._pump(source, writer, socket=socket))]
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in pumps:
                    pump.cancel()
        for end in (writer, upstream):
            if end is not None:
                end.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, socket: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                if socket and self.silent:
                    self.swallowed += 1
                    continue
                sink.write(data)
                await sink.drain()


async def ready(bot: Service) -> int:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{bot.port}/readyz") as response:
        return response.status


async def becomes_ready(bot: Service, status: int) -> None:
    async with asyncio.timeout(20):
        while await ready(bot) != status:
            await asyncio.sleep(0.05)


async def test_a_socket_that_goes_silent_is_replaced_and_meanwhile_the_bot_is_not_ready(valkey: Valkey) -> None:
    """A6: the connection stays open and carries nothing: `/readyz` says 503, a new connection is made, and what was said meanwhile is answered."""
    model = ScriptedModel(echo_policy)
    async with Stack(valkey, model, playground=Playground(time_scale=0.05, ack_timeout=0.4)) as stack, Relay(int(stack.slack.url.rpartition(":")[2])) as relay:
        stack.slack.core.url = relay.url
        bot = await stack.bot(ping_interval=0.4)
        assert await ready(bot) == 200

        relay.silent = True
        ts = await stack.slack.say("alice", "#general", "@steward #m6")
        await becomes_ready(bot, 503)
        assert relay.swallowed
        assert stack.own("#general", ts) == []
        relay.silent = False

        await becomes_ready(bot, 200)
        await stack.thread("#general", ts, own=1)
        await rest(stack)
        assert texts(stack.own("#general", ts)) == ["#m6"]


@pytest.mark.parametrize("reason", ["refresh_requested", "abort"])
async def test_a_connection_that_slack_ends_is_replaced(valkey: Valkey, reason: str) -> None:
    """A6's neighbours: Slack asks the connection to leave, or the line is cut."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model, ping_interval=0.4) as stack:
        assert await stack.slack.disconnect(reason) == 1

        ts = await stack.slack.say("alice", "#general", "@steward #m7")
        await stack.thread("#general", ts, own=1, within=20)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["#m7"]


async def test_a_bot_that_is_stopped_during_a_model_call_leaves_the_question_to_the_next_one(valkey: Valkey) -> None:
    """A7: the model call is given up, the next bot asks again, one reply stands, and no "is thinking…" is left behind."""
    model = ScriptedModel([held(asyncio.Event(), text("never")), text("answered by the second")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("mei", "#general", "@steward 现在几点？")
        await stack.until(lambda: stack.slack.status("#general", ts) == "正在思考…")
        await stack.stop_bot(stack.bots[0])
        await model.until(lambda: model.disconnects == 1)

        await stack.bot()
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["answered by the second"]
        assert stack.slack.status("#general", ts) == ""
        model.assert_consumed()


async def test_a_half_written_answer_is_finished_in_place_by_the_next_bot(valkey: Valkey) -> None:
    """A7's neighbour: part of the answer was already shown when the bot was stopped; the next one completes that very message."""
    long = "One sentence after the other, and the next. " * 12
    model = ScriptedModel([stall_after(9, text(long + "lost", pieces=40)), text(long + "the end.")])
    async with running(valkey, model, limits=replace(QUICK, first_partial=0.0, between_partials=0.0)) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward tell me everything")
        half = (await stack.thread("#general", ts, own=1))[-1]["ts"]
        await stack.stop_bot(stack.bots[0])
        await stack.bot()

        await stack.until(lambda: any("the end." in said for said in texts(stack.own("#general", ts))))
        await rest(stack)

        assert [m["ts"] for m in stack.own("#general", ts)] == [half]
        model.assert_consumed()


async def test_sigterm_during_a_model_call_ends_the_process_cleanly_and_another_one_answers(valkey: Valkey) -> None:
    """A7: the same with a real process and the real signal."""
    model = ScriptedModel([held(asyncio.Event(), text("never")), text("answered elsewhere")])
    async with Stack(valkey, model) as stack:
        values = {
            "slack_api_url": stack.slack.api_url,
            "bot_token": stack.slack.bot_token,
            "app_token": stack.slack.app_token,
            "redis_url": valkey.url,
            "model_base_url": model.url,
            "model_key": "test",
            "models": ["scripted"],
            "lease": 60.0,
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-m", "tests.fakes.bot_process", json.dumps(values), stdout=asyncio.subprocess.PIPE, env=dict(os.environ)
        )
        try:
            assert process.stdout is not None
            lines = b""
            while b"ready" not in lines:
                lines = await process.stdout.readline()
                assert lines, "the process ended before it was ready"
            ts = await stack.slack.say("alice", "#general", "@steward are you there?")
            await model.until(lambda: model.count == 1, timeout=20)
            process.send_signal(signal.SIGTERM)
            await process.stdout.read()
            assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

        await stack.bot()  # its lease of a minute was given back, so nobody waits for it to run out
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["answered elsewhere"]
        assert stack.slack.status("#general", ts) == ""
        model.assert_consumed()


@pytest.fixture
def mortal() -> Iterator[Valkey]:
    """A store that the test may kill."""
    server = Valkey()
    yield server
    server.close()


@contextlib.asynccontextmanager
async def away(store: Valkey) -> AsyncIterator[None]:
    """The store is killed for the length of the block, and comes back with its data."""
    store.kill()
    yield
    await asyncio.to_thread(store.start)


async def test_a_message_sent_while_the_store_is_away_is_answered_when_it_is_back(mortal: Valkey, transport: str) -> None:
    """A10: it is not acknowledged while it cannot be stored, so Slack sends it again."""
    model = ScriptedModel(echo_policy)
    async with over(transport, mortal, model, ack_timeout=0.5) as stack:
        stack.slack.delivery(time_scale=0.05)
        async with away(mortal):
            ts = await stack.slack.say("alice", "#general", "@steward #m10")
            await stack.until(lambda: any(d["retry_num"] == 1 and d["status"] != 200 for d in stack.slack.deliveries()))
            assert all(d["status"] != 200 for d in stack.slack.deliveries())
            assert await ready(stack.bots[0]) == 503

        await stack.thread("#general", ts, own=1, within=30)
        await rest(stack)
        assert texts(stack.own("#general", ts)) == ["#m10"]
        assert await ready(stack.bots[0]) == 200


async def test_an_answer_that_arrives_while_the_store_is_away_is_posted_once_when_it_is_back(mortal: Valkey) -> None:
    """A10: the store dies during the model call; nothing is posted before it can be recorded, and nothing twice after."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("#m11")), text("#m11")])
    async with running(mortal, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward #m11")
        await model.until(lambda: model.count == 1)
        async with away(mortal):
            release.set()
            await model.until(lambda: model.exchanges[0].finished)
            assert stack.own("#general", ts) == []

        await stack.thread("#general", ts, own=1, within=30)
        await rest(stack)
        assert texts(stack.own("#general", ts)) == ["#m11"]


async def test_a_message_is_answered_when_the_model_comes_back(valkey: Valkey) -> None:
    """A10: the model's server refuses connections, then is there again."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model) as stack:
        await model.stop()
        ts = await stack.slack.say("mei", "#general", "@steward 在吗？ #m12")
        await stack.until(lambda: stack.slack.status("#general", ts) != "" or stack.slack.calls("users.info"))
        await rest_of_attempt(stack)
        assert stack.own("#general", ts) == []
        await model.start()

        await stack.thread("#general", ts, own=1, within=30)
        await rest(stack)
        assert texts(stack.own("#general", ts)) == ["#m12"]


async def rest_of_attempt(stack: Stack) -> None:
    """Wait until the bot gave the session back because the model did not answer."""
    async with asyncio.timeout(20):
        while stack.bots[0].worker.busy:
            await asyncio.sleep(0.01)


async def test_a_model_that_fails_for_a_while_costs_the_person_nothing_but_time(valkey: Valkey) -> None:
    """A10: five 503s in a row, more than one stretch of attempts: one reply, no apology in between."""
    model = ScriptedModel([*(fault(503) for _ in range(4)), text("back again")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hello")

        await stack.thread("#general", ts, own=1, within=30)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["back again"]
        assert heard(model.requests[-1]) == ["[alice] hello"]
        model.assert_consumed()
