"""The offline demo model: an OpenAI-compatible Chat Completions server on loopback that needs no key and no network.

It is a set of rules (see docs/demo-model.md), there so that the whole product can be tried and tested at once: it
understands requests about the built-in tools in English and Chinese, calls the tools that are offered, answers from
their results, and remembers what was said in the thread. The same request always gets the same bytes. It refuses
message lists that the real API would refuse.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import signal
from typing import Any, Final, Self

from aiohttp import web

from playground.demo_brain import decide
from playground.demo_validate import check_request
from playground.demo_wire import MAX_REQUEST_BYTES, SSE_HEADERS, Completion, Head, LoopbackServer, WireCall, dumps, error_response, models_response

MODEL_NAME: Final = "steward-demo"
_PIECE: Final = re.compile(r"[\u3000-\u9fff\uf900-\uffef]{1,4}|\s*[^\s\u3000-\u9fff\uf900-\uffef]+|\s+")


class DemoModel(LoopbackServer):
    """The server: `await start()`, then `url` is the base URL for any OpenAI client; `await stop()`.

    `port=0` takes a free port. `chunk_delay` is the pause between streamed chunks, in seconds.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, chunk_delay: float = 0.0) -> None:
        super().__init__(host, port)
        self.chunk_delay = chunk_delay

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def application(self) -> web.Application:
        """`POST /v1/chat/completions` and `GET /v1/models`."""
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        return app

    async def _models(self, _: web.Request) -> web.Response:
        return models_response(MODEL_NAME)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            return error_response(400, "The body is not valid JSON.")
        found = check_request(body)
        if found is not None:
            return error_response(400, found.message, param=found.param, code=found.code)
        completion = complete(body)
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        head = Head(f"chatcmpl-{_digest(dumps(body))[:24]}", body["model"], len(raw) // 4 + 1, include_usage=usage)
        if body.get("stream") is not True:
            return web.Response(body=head.body(completion), content_type="application/json")
        response = web.StreamResponse(headers=SSE_HEADERS)
        await response.prepare(request)
        for chunk in head.stream(completion):
            await response.write(chunk)
            if self.chunk_delay > 0:
                await asyncio.sleep(self.chunk_delay)
        await response.write_eof()
        return response


def complete(body: dict[str, Any]) -> Completion:
    """The answer to a valid request, in small pieces; call ids follow from the request."""
    decision = decide(body)
    if not decision.calls:
        return Completion(pieces=tuple(_PIECE.findall(decision.text)))
    seed = dumps(body["messages"])
    calls = []
    for index, (name, arguments) in enumerate(decision.calls):
        raw = dumps(arguments)
        fragments = tuple(raw[start : start + 12] for start in range(0, len(raw), 12))
        calls.append(WireCall(name, raw, f"call_{_digest(seed, str(index), name, raw)[:24]}", fragments))
    return Completion(calls=tuple(calls))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


async def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m playground.demo_model", description="The offline demo model on loopback; prints its URL.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--chunk-delay", type=float, default=0.02, help="seconds between streamed chunks")
    options = parser.parse_args()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with DemoModel(port=options.port, chunk_delay=options.chunk_delay) as model:
        print(model.url, flush=True)  # noqa: T201 - what a caller reads
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
