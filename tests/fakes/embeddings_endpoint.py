"""A real HTTP server that speaks the embeddings protocol: a vector that follows from the text alone, and whatever fault is asked for."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from aiohttp import web

Answer = Callable[[list[dict[str, Any]]], Any]


class Endpoint:
    """Serves `/v1/embeddings` on loopback. What it was asked stays in `requests` and `keys`."""

    def __init__(self, size: int = 6) -> None:
        self.size = size
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.statuses: list[int] = []
        """Answered first, one a request; then 200."""
        self.shaped: Answer = lambda data: {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        self.hold: Callable[[], Any] | None = None
        """Awaited before each answer."""
        self.url = ""
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=16 << 20)
        app.router.add_post("/v1/embeddings", self._embeddings)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _embeddings(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        if self.hold is not None:
            await self.hold()
        if self.statuses:
            return web.json_response({"error": {"message": f"no: {body['input']}"}}, status=self.statuses.pop(0), headers={"retry-after-ms": "1"})
        data = [{"object": "embedding", "index": place, "embedding": self.vector(text)} for place, text in enumerate(body["input"])]
        shaped = self.shaped(data[::-1])  # the order is told by the index alone
        return web.Response(text=shaped) if isinstance(shaped, str) else web.json_response(shaped)

    def vector(self, text: str) -> list[float]:
        """Of no particular length."""
        return [float(number) for number in np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.size) * 3]
