"""Socket Mode: the app dials in over a WebSocket and envelopes go to one of its connections.

`apps.connections.open` gives a single-use ticket; the connection starts with `hello`. Each envelope goes to exactly one connection, in
turn, and must be acknowledged by its id within the acknowledgement time, on any connection. While none is connected, events wait.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable

from aiohttp import WSCloseCode, WSMsgType, web

from playground.clock import Ids
from playground.delivery import Answer, Parcel
from playground.feed import Feed

MAX_CONNECTIONS = 10


class SocketMode:
    """The app's connections, and the transport over them."""

    name = "socket"

    def __init__(self, app_id: str, ids: Ids, feed: Feed, ack_timeout: float, queue_seconds: Callable[[], float]) -> None:
        self._app_id = app_id
        self._ids = ids
        self._feed = feed
        self._ack_timeout = ack_timeout
        self._queue_seconds = queue_seconds
        self._tickets: set[str] = set()
        self._sockets: list[web.WebSocketResponse] = []
        self._lines: dict[web.WebSocketResponse, asyncio.BaseTransport | None] = {}
        self._turn = 0
        self._pending: dict[str, tuple[asyncio.Future[Answer], web.WebSocketResponse]] = {}
        self._arrived = asyncio.Event()

    def connected(self) -> bool:
        """Whether at least one connection is open."""
        return bool(self._sockets)

    def ticket(self) -> str:
        """A single-use ticket for the WebSocket's address."""
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection at `/link/`."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401, text="invalid ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=True, max_msg_size=2**22)
        await socket.prepare(request)
        if len(self._sockets) >= MAX_CONNECTIONS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets", "debug_info": {"host": "playground"}})
            await socket.close()
            return socket
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._sockets) + 1,
                "connection_info": {"app_id": self._app_id},
                "debug_info": {"host": "playground", "build_number": 1, "approximate_connection_time": 18060},
            }
        )
        self._sockets.append(socket)
        self._lines[socket] = request.transport
        self._arrived.set()
        self._feed.push("app", {"connected": True}, None)
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._acknowledge(message.data)
        finally:
            self._gone(socket)
        return socket

    def _acknowledge(self, text: str) -> None:
        """Take an acknowledgement; anything else the client says is ignored, as Slack does."""
        try:
            body = json.loads(text)
        except ValueError:
            return
        if isinstance(body, dict) and (entry := self._pending.pop(str(body.get("envelope_id")), None)):
            payload = body.get("payload")
            if isinstance(payload, dict) and set(payload) == {"body"}:
                payload = payload["body"]
            if not entry[0].done():
                entry[0].set_result(Answer(200, payload if isinstance(payload, (dict, str)) and payload else None))

    def _retire(self, socket: web.WebSocketResponse) -> None:
        """Send nothing more over a connection; acknowledgements may still come over it."""
        if socket in self._sockets:
            self._sockets.remove(socket)
            if not self._sockets:
                self._arrived.clear()
                self._feed.push("app", {"connected": False}, None)

    def _gone(self, socket: web.WebSocketResponse) -> None:
        """A connection ended: what it had not acknowledged has failed."""
        self._retire(socket)
        self._lines.pop(socket, None)
        for future, carrier in list(self._pending.values()):
            if carrier is socket and not future.done():
                future.set_result(Answer(0, reason="connection_failed"))

    async def attempt(self, parcel: Parcel, retry: int, reason: str) -> Answer:
        """Send one envelope to the next connection and wait for its acknowledgement."""
        if not self._sockets:
            limit = self._queue_seconds() if parcel.kind == "events_api" else self._ack_timeout
            try:
                async with asyncio.timeout(limit):
                    while not self._sockets:
                        await self._arrived.wait()
            except TimeoutError:
                return Answer(0, reason="connection_failed")
        self._turn += 1
        socket = self._sockets[self._turn % len(self._sockets)]
        envelope_id = self._ids.make("E")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending[envelope_id] = (future, socket)
        head = f'{{"envelope_id":"{envelope_id}","type":"{parcel.kind}","payload":{parcel.text}'
        if parcel.kind == "events_api":
            tail = f',"accepts_response_payload":false,"retry_attempt":{retry},"retry_reason":{json.dumps(reason)}}}'
        else:
            tail = ',"accepts_response_payload":true}'
        try:
            await socket.send_str(head + tail)
            async with asyncio.timeout(self._ack_timeout):
                return await future
        except TimeoutError:
            return Answer(0, reason="timeout")
        except ConnectionError:
            self._gone(socket)
            return Answer(0, reason="connection_failed")
        finally:
            self._pending.pop(envelope_id, None)

    async def disconnect(self, reason: str) -> int:
        """Ask every connection to leave for `reason`, or cut the lines when it is `abort`. Returns how many there were."""
        sockets = list(self._sockets)
        for socket in sockets:
            line = self._lines.get(socket)
            if reason == "abort":
                self._gone(socket)
                if isinstance(line, asyncio.Transport):
                    line.abort()
            else:
                if reason != "warning":
                    self._retire(socket)
                await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "playground"}})
        return len(sockets)

    async def stop(self) -> None:
        """Close every connection."""
        for socket in list(self._lines):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"going away")
