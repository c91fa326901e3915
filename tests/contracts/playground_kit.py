"""What the playground's tests share: a running playground, a real SDK client, a real Bolt app connected by HTTP or Socket Mode."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from playground.server import Playground

Json = dict[str, Any]
TRANSPORTS = pytest.mark.parametrize("transport", ["http", "socket"])


def client_of(pg: Playground, token: str | None = None) -> AsyncWebClient:
    """A client as an app would make it, without retries of its own."""
    return AsyncWebClient(token=pg.bot_token if token is None else token, base_url=pg.api_url, retry_handlers=[])


@contextlib.asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[Playground]:
    """A playground for the length of a block."""
    pg = Playground(**settings)
    await pg.start()
    try:
        yield pg
    finally:
        await pg.stop()


@contextlib.asynccontextmanager
async def connected(transport: str, register: Callable[[AsyncApp], None], **settings: Any) -> AsyncIterator[Playground]:
    """A playground with a Bolt app; `register` adds the app's listeners, and everything else is acknowledged."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/slack/events"
    async with opened(request_url=url if transport == "http" else None, **settings) as pg:
        app = AsyncApp(client=client_of(pg), signing_secret=pg.signing_secret)
        register(app)

        @app.event(re.compile(".*"))
        async def rest() -> None:
            """Whatever no listener took."""

        if transport == "http":
            runner = web.AppRunner(app.web_app("/slack/events"), access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.SockSite(runner, listener).start()
            try:
                yield pg
            finally:
                await runner.cleanup()
        else:
            listener.close()
            handler = AsyncSocketModeHandler(app, pg.app_token, ping_interval=1)
            await handler.connect_async()  # type: ignore[no-untyped-call]
            try:
                yield pg
            finally:
                await handler.close_async()  # type: ignore[no-untyped-call]


async def error_of(awaitable: Any) -> Json:
    """The body of the refusal a call must end in."""
    with pytest.raises(SlackApiError) as caught:
        await awaitable
    body = caught.value.response.data
    assert isinstance(body, dict)
    return body


def button(action_id: str, value: str = "v", text: str = "OK") -> Json:
    """A button."""
    return {"type": "button", "text": {"type": "plain_text", "text": text}, "action_id": action_id, "value": value}


def section(text: str) -> Json:
    """A section of mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def card(*buttons: Json) -> list[Json]:
    """A section and buttons."""
    return [section("Approve?"), {"type": "actions", "block_id": "card", "elements": list(buttons)}]


def modal(title: str = "T", **more: Any) -> Json:
    """A modal with one text input, `i`/`a`."""
    return {
        "type": "modal",
        "callback_id": "cb",
        "title": {"type": "plain_text", "text": title},
        "submit": {"type": "plain_text", "text": "S"},
        "blocks": [
            {
                "type": "input",
                "block_id": "i",
                "label": {"type": "plain_text", "text": "L"},
                "element": {"type": "plain_text_input", "action_id": "a"},
            }
        ],
        **more,
    }


def typed(value: str) -> Json:
    """The state values of that modal."""
    return {"i": {"a": {"type": "plain_text_input", "value": value}}}
