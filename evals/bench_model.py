"""A model that answers at once, in a process of its own, and notes how long each answer took it.

It finds the mark (`#m12`) in the newest user message and answers a short paragraph that carries it. Asked with a
mark of the form `#t12` it first wants one tool call. Streamed or whole, as the request asks.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from typing import Any, Final

from aiohttp import web

from evals.bench_process import Json, obey, run
from playground.demo_wire import SSE_HEADERS, Completion, Head, LoopbackServer, WireCall

MARK: Final = re.compile(r"#[mt]\d+")
PIECES: Final = (
    "Here is what I found. ",
    "**Three** orders are open, ",
    "and the oldest of them was placed on Monday. ",
    "Two will leave the warehouse tomorrow; ",
    "the third waits for a part. ",
    "\n\n- first: on its way\n- second: packed\n- third: waiting\n\n",
    "Tell me if you want to change one of them.",
)
"""The answer, in the pieces it is streamed in; the mark comes first."""


class InstantModel(LoopbackServer):
    """The server. `spent` maps a mark to the seconds from the requests' arrival to the last byte, all calls of that turn added up."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1", 0)
        self.spent: dict[str, float] = {}
        self._ids = itertools.count(1)

    def application(self) -> web.Application:
        """One route."""
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        return app

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        began = time.time()
        raw = await request.read()
        body = json.loads(raw)
        last = body["messages"][-1]
        asked = next(str(m["content"]) for m in reversed(body["messages"]) if m["role"] == "user")
        mark = MARK.findall(asked)[-1]
        if mark.startswith("#t") and last["role"] == "user":
            completion = Completion(calls=(WireCall("calculate", '{"expression":"6*7"}', f"call_{mark[1:]}"),))
        else:
            completion = Completion(pieces=(f"{mark}: ", *PIECES))
        response = await self._send(request, body, completion, len(raw))
        self.spent[mark] = self.spent.get(mark, 0.0) + time.time() - began
        return response

    async def _send(self, request: web.Request, body: Json, completion: Completion, size: int) -> web.StreamResponse:
        options: dict[str, Any] = body.get("stream_options") or {}
        head = Head(f"chatcmpl-{next(self._ids)}", str(body["model"]), size // 4, include_usage=bool(options.get("include_usage")))
        if body.get("stream") is not True:
            return web.Response(body=head.body(completion), content_type="application/json")
        response = web.StreamResponse(headers=dict(SSE_HEADERS))
        await response.prepare(request)
        for chunk in head.stream(completion):
            await response.write(chunk)
        await response.write_eof()
        return response


async def main() -> None:
    """Serve; the order `spent` gives the times so far and forgets them."""
    model = InstantModel()

    async def spent(_: Json) -> Json:
        kept, model.spent = model.spent, {}
        return kept

    await model.start()
    try:
        await obey({"url": model.url}, {"spent": spent})
    finally:
        await model.stop()


if __name__ == "__main__":
    run(main())
