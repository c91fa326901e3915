"""The bytes of the Chat Completions API: one answer as a stream of server-sent events, or as one JSON body.

Shared by the offline demo model and by the scripted model of the tests. The events are put together by hand from a
prepared prefix, because an instant model in a benchmark must cost as little as possible of the core it shares with
the thing measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

CREATED: Final = 1_767_225_600
"""The `created` field of every answer, in seconds: a constant, so that equal requests get equal bytes."""

DONE: Final = b"data: [DONE]\n\n"
SSE_HEADERS: Final[Mapping[str, str]] = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024


def dumps(value: Any) -> str:
    """Compact JSON; text outside ASCII stays readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class WireCall:
    """One tool call as it travels.

    `arguments` is any string, valid JSON or not. `fragments` splits it for streaming (one piece by default);
    `id` and `name` may be None, as some providers leave them out.
    """

    name: str | None
    arguments: str = "{}"
    id: str | None = None
    fragments: tuple[str, ...] | None = None

    @property
    def pieces(self) -> tuple[str, ...]:
        """The argument text in the pieces it is streamed in."""
        return (self.arguments,) if self.fragments is None else self.fragments


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model, before it becomes bytes.

    `pieces` are the text deltas in order; `finish` overrides the finish reason; `usage` says whether a usage chunk
    is sent when the request asks for one; `interleave` sends the fragments of parallel calls in turn.
    """

    pieces: tuple[str, ...] = ()
    calls: tuple[WireCall, ...] = ()
    reasoning: str = ""
    refusal: str = ""
    finish: str | None = None
    usage: bool = True
    choices: bool = True
    interleave: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)

    @property
    def finish_reason(self) -> str:
        """`tool_calls` when there are calls, else `stop`, unless overridden."""
        return self.finish or ("tool_calls" if self.calls else "stop")

    def deltas(self) -> list[str]:
        """The stream's deltas as JSON texts, from the role to the last tool-call fragment."""
        out = ['{"role":"assistant","content":""}' if not self.calls else '{"role":"assistant","content":null}']
        if self.reasoning:
            out.append('{"reasoning_content":' + dumps(self.reasoning) + "}")
        out.extend('{"content":' + dumps(piece) + "}" for piece in self.pieces)
        if self.refusal:
            out.append('{"refusal":' + dumps(self.refusal) + "}")
        out.extend(self._call_deltas())
        return out

    def _call_deltas(self) -> list[str]:
        heads: list[str] = []
        rests: list[list[str]] = []
        for index, call in enumerate(self.calls):
            first, *rest = call.pieces or ("",)
            head: dict[str, Any] = {"index": index}
            if call.id is not None:
                head["id"] = call.id
            head["type"] = "function"
            head["function"] = {"arguments": first} if call.name is None else {"name": call.name, "arguments": first}
            heads.append('{"tool_calls":[' + dumps(head) + "]}")
            rests.append([f'{{"tool_calls":[{{"index":{index},"function":{{"arguments":{dumps(piece)}}}}}]}}' for piece in rest])
        if not self.interleave:
            return [delta for head, rest in zip(heads, rests, strict=True) for delta in (head, *rest)]
        longest = max((len(rest) for rest in rests), default=0)
        return heads + [rest[step] for step in range(longest) for rest in rests if step < len(rest)]


@dataclass(frozen=True, slots=True)
class Head:
    """What every chunk of one answer repeats, and the prompt's size for the usage figures."""

    id: str
    model: str
    prompt_tokens: int
    include_usage: bool = False

    def stream(self, completion: Completion) -> list[bytes]:
        """The whole answer as server-sent events, `[DONE]` included."""
        start = f'data: {{"id":{dumps(self.id)},"object":"chat.completion.chunk","created":{CREATED},"model":{dumps(self.model)},"choices":'
        end = ',"usage":null}\n\n' if self.include_usage else "}\n\n"
        if completion.choices:
            chunks = [f'{start}[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}]{end}' for delta in completion.deltas()]
            chunks.append(f'{start}[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":{dumps(completion.finish_reason)}}}]{end}')
        else:
            chunks = [f"{start}[]{end}"]
        if self.include_usage and completion.usage:
            chunks.append(f'{start}[],"usage":{dumps(self._usage(completion))}}}\n\n')
        return [chunk.encode("utf-8", "replace") for chunk in chunks]  # half a surrogate pair has no bytes + [DONE]

    def body(self, completion: Completion) -> bytes:
        """The whole answer as one JSON document."""
        message: dict[str, Any] = {"role": "assistant", "content": None if completion.calls and not completion.pieces else completion.text}
        message["refusal"] = completion.refusal or None
        if completion.reasoning:
            message["reasoning_content"] = completion.reasoning
        if completion.calls:
            message["tool_calls"] = [_whole_call(call) for call in completion.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": completion.finish_reason}
        document: dict[str, Any] = {"id": self.id, "object": "chat.completion", "created": CREATED, "model": self.model}
        document["choices"] = [choice] if completion.choices else []
        if completion.usage:
            document["usage"] = self._usage(completion)
        return dumps(document).encode("utf-8", "replace")

    def _usage(self, completion: Completion) -> dict[str, int]:
        size = len(completion.text) + len(completion.reasoning) + sum(len(call.arguments) for call in completion.calls)
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": size // 4 + 1, "total_tokens": self.prompt_tokens + size // 4 + 1}


def _whole_call(call: WireCall) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "function", "function": {"arguments": "".join(call.pieces)}}
    if call.id is not None:
        out["id"] = call.id
    if call.name is not None:
        out["function"]["name"] = call.name
    return out


def error_body(message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None) -> bytes:
    """An error in the API's shape: `{"error": {"message", "type", "param", "code"}}`."""
    return dumps({"error": {"message": message, "type": kind, "param": param, "code": code}}).encode()


def error_response(status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None) -> web.Response:
    """The same as an HTTP answer."""
    return web.Response(status=status, body=error_body(message, kind=kind, param=param, code=code), content_type="application/json")


def models_response(*names: str) -> web.Response:
    """The answer of `GET /v1/models`."""
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "local"} for name in names]
    return web.Response(text=dumps({"object": "list", "data": data}), content_type="application/json")


class LoopbackServer:
    """An aiohttp application on a loopback port; `port=0` takes a free one. Usable as `async with`."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._runner: web.AppRunner | None = None

    def application(self) -> web.Application:
        """The routes to serve."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The base URL for an OpenAI client. Raises `RuntimeError` before `start()`."""
        if self._runner is None:
            raise RuntimeError("the server has not been started")
        return f"http://{self.host}:{self.port}/v1"

    async def start(self) -> None:
        """Listen. Raises `OSError` when the port is taken."""
        if self._runner is not None:
            raise RuntimeError("the server was started already")
        runner = web.AppRunner(self.application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, self.host, self.port)
        try:
            await site.start()
        except OSError:
            await runner.cleanup()
            raise
        self.port = runner.addresses[0][1]
        self._runner = runner

    async def stop(self) -> None:
        """Stop listening and drop open connections. Harmless when not started."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
