"""The only module that talks to a language model: transcript in, one streamed answer out.

It speaks Chat Completions to any compatible endpoint and expects such endpoints to be sloppy: tool calls in fragments,
with missing or repeated ids, empty choices, a usage chunk or none. Failures come out as one exception with a kind the
person can be told about. A time-out, a retry or a fallback to the next model happens in here; whether to try again
minutes later is the run's decision.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import structlog
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    AuthenticationError,
    BadRequestError,
    DefaultAioHttpClient,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    Timeout,
)

from bot.actions import FailureKind
from memory.transcript import AssistantMessage, Correction, Item, Note, ToolMessage, UserMessage

log = structlog.get_logger(__name__)

OnText = Callable[[str], Awaitable[None]]
"""Receives the whole text so far, again from the start when a turn is asked again."""

ATTEMPTS: Final = 3
"""How often one model is asked for one turn before the next model's turn comes."""
LONGEST_WAIT: Final = 10.0
"""Seconds a `Retry-After` may ask for to be waited out here; longer ones end the attempt and the run comes back later."""
MAX_ANSWER: Final = 400_000
"""Characters of text and arguments after which an answer is cut off: an endless stream must end."""


class ModelError(Exception):
    """No answer. `kind` names the message the person gets; `transient` says whether asking again later can help."""

    def __init__(self, kind: FailureKind, *, transient: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(kind)
        self.kind: FailureKind = kind
        self.transient = transient
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool call as the model asked for it; `arguments` is whatever text it sent."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete answer. `tokens` is the endpoint's count, or an estimate when it gave none."""

    text: str
    calls: tuple[WantedCall, ...]
    tokens: int
    model: str
    cut: bool = False
    """The endpoint's own limit ended it."""


@dataclass(slots=True)
class _Draft:
    """An answer while it arrives."""

    text: str = ""
    refusal: str = ""
    size: int = 0
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    finish: str = ""


class Model:
    """An ordered list of models on one endpoint; the first that answers wins."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str,
        models: Sequence[str],
        read_timeout: float = 60.0,
        call_timeout: float = 180.0,
        attempts: int = ATTEMPTS,
        backoff: float = 0.5,
        temperature: float | None = None,
        clock: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`read_timeout` bounds the silence between two pieces, `call_timeout` one whole answer, both in seconds."""
        self._models = tuple(models)
        self._attempts = attempts
        self._backoff = backoff
        self._temperature = temperature
        self.identity = (base_url or "", self._models, temperature)
        """What, besides the request, an answer depends on."""
        self._call_timeout = call_timeout
        self._sleep = clock
        # Our own budget decides about retries: the client's would hide them, and never covers a started stream.
        timeout = Timeout(connect=5.0, read=read_timeout, write=10.0, pool=5.0)
        # Over aiohttp, which the program has anyway and whose parser is native: it takes a sixth off the cost of a turn.
        http = DefaultAioHttpClient(timeout=timeout)
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout, http_client=http)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: OnText | None = None, *, once: bool = False) -> Answer:
        """One answer, streamed through `on_text`. `once`: the first model is asked, once, whatever comes of it. Raises `ModelError`."""
        failure = ModelError("unavailable", transient=True)
        names = {wire_name(each["function"]["name"]): each["function"]["name"] for each in tools}
        offered = [{**each, "function": {**each["function"], "name": wire_name(each["function"]["name"])}} for each in tools]
        for model in self._models[:1] if once else self._models:
            for attempt in range(1 if once else self._attempts):
                try:
                    async with asyncio.timeout(self._call_timeout):
                        answer = await self._once(model, messages, offered, on_text)
                        return replace(answer, calls=tuple(replace(call, name=names.get(call.name, call.name)) for call in answer.calls))
                except TimeoutError:
                    failure = ModelError("unavailable", transient=True)
                except ModelError as error:
                    failure = error
                log.warning("model_failed", model=model, attempt=attempt + 1, kind=failure.kind, transient=failure.transient)
                if failure.kind in {"overflow", "refused"}:
                    raise failure
                again = failure.transient or failure.kind in {"empty", "invalid"}
                if once or not again or failure.retry_after > LONGEST_WAIT or attempt + 1 == self._attempts:
                    break
                await self._sleep(max(failure.retry_after, self._backoff * 2**attempt))
        raise failure

    async def _once(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: OnText | None) -> Answer:
        body: dict[str, Any] = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
        if tools:
            body["tools"] = tools
        if self._temperature is not None:
            body["temperature"] = self._temperature
        draft = _Draft()
        try:
            # The same request as `chat.completions.create`, with plain values in and out: walking the whole history and every schema
            # on the way in, and building typed objects of every piece on the way out, cost more than the rest of a turn.
            stream = await self._client.post("/chat/completions", body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object])
            async with stream:
                async for chunk in stream:
                    if _take(draft, chunk) and on_text is not None:
                        await on_text(draft.text)
                    if draft.size > MAX_ANSWER:
                        draft.finish = "length"
                        break
        except APIError as error:
            raise _failure(error) from error
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError, AttributeError, ValueError) as error:
            # A stream that is not what it says it is fails wherever the client first trips over it.
            raise ModelError("invalid") from error
        return _finished(draft, model, messages)


def _take(draft: _Draft, chunk: object) -> bool:
    """Add one chunk; returns whether visible text grew."""
    usage = _get(chunk, "usage")
    if usage is not None:
        draft.tokens = int(_get(usage, "total_tokens") or 0)
    grew = False
    for choice in (_get(chunk, "choices") or [])[:1]:
        draft.finish = _get(choice, "finish_reason") or draft.finish
        delta = _get(choice, "delta")
        if delta is None:
            continue
        content = _get(delta, "content")
        if content:
            draft.text += content
            draft.size += len(content)
            grew = True
        draft.refusal += _get(delta, "refusal") or ""
        for piece in _get(delta, "tool_calls") or []:
            _piece(draft, piece)
    return grew


def _get(value: object, name: str) -> Any:
    """A field of what should be an object; None when it is not there, or the value is something else."""
    return value.get(name) if isinstance(value, dict) else None


def _piece(draft: _Draft, piece: object) -> None:
    """Join a fragment to its call: by index, else by id, else to the newest; a new id under a used index is a new call."""
    function = _get(piece, "function")
    name, arguments = _get(function, "name") or "", _get(function, "arguments") or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    given, call_id = _get(piece, "index"), _get(piece, "id") or ""
    newest = max(draft.calls, default=-1)
    if call_id and call_id in draft.ids:
        index = draft.ids[call_id]
    elif isinstance(given, int) and given in draft.calls and not (call_id and draft.calls[given]["id"] and call_id != draft.calls[given]["id"]):
        index = given
    elif call_id or name:
        index = given if isinstance(given, int) and given not in draft.calls else newest + 1
    else:
        index = newest
    if index < 0:
        return
    entry = draft.calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
    if call_id:
        entry["id"] = entry["id"] or call_id
        draft.ids[call_id] = index
    if name and entry["name"] != name:
        entry["name"] += name
    entry["arguments"] += arguments
    draft.size += len(arguments)


def _finished(draft: _Draft, model: str, messages: list[dict[str, Any]]) -> Answer:
    calls = tuple(WantedCall(entry["name"], entry["arguments"]) for _, entry in sorted(draft.calls.items()))
    text = draft.text.strip()
    if draft.finish == "length" and calls and not _whole(calls[-1].arguments):
        raise ModelError("invalid")  # cut off in the middle of a call: what is missing at its end cannot be known
    if not calls and not text:
        if draft.refusal or draft.finish == "content_filter":
            raise ModelError("refused")
        raise ModelError("empty")
    tokens = draft.tokens or estimate(messages) + (len(text.encode()) + sum(len(c.arguments) for c in calls)) // 4
    return Answer(text, calls, tokens, model, cut=draft.finish == "length")


def _whole(arguments: str) -> bool:
    try:
        json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return False
    return True


def estimate(messages: list[dict[str, Any]]) -> int:
    """Tokens of a request when the endpoint does not count: UTF-8 bytes by four, right within a third for English and Chinese."""
    return len(json.dumps(messages, ensure_ascii=False).encode()) // 4


def _failure(error: APIError) -> ModelError:
    """What an error of the client means to us."""
    response = getattr(error, "response", None)
    after = _seconds(response.headers.get("retry-after")) if response is not None else 0.0
    match error:
        case APIConnectionError():  # time-outs too
            return ModelError("unavailable", transient=True)
        case RateLimitError():
            return ModelError("rate_limited", transient=True, retry_after=after)
        case AuthenticationError() | PermissionDeniedError() | NotFoundError():
            return ModelError("not_configured")
        case BadRequestError():
            words = f"{error.code or ''} {error.message}".lower()
            if "context_length" in words or "context length" in words or "maximum context" in words or "too many tokens" in words:
                return ModelError("overflow")
            return ModelError("refused" if "content" in words and "filter" in words else "invalid")
        case APIStatusError() if error.status_code in {408, 409} or error.status_code >= 500:
            return ModelError("unavailable", transient=True, retry_after=after)
        case APIStatusError() if error.status_code == 413:
            return ModelError("overflow")
        case APIStatusError():
            return ModelError("invalid")
        case _:  # an error chunk inside a stream
            return ModelError("unavailable", transient=True)


def _seconds(value: str | None) -> float:
    try:
        return min(max(float(value or 0), 0.0), 120.0)
    except ValueError:
        return 0.0


# --- the one place where a transcript becomes the model's format -----------------------------------------------------


_FUNCTION_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def wire_name(name: str) -> str:
    """A function's name as the API takes it: 1 to 64 of A-Z a-z 0-9 _ -.

    A longer one, or what a model made up, keeps a readable beginning and gets a fingerprint: one such name would make the endpoint refuse the whole request.
    """
    if _FUNCTION_NAME.fullmatch(name):
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', name)[:55] or 'unnamed'}_{mark}"


MESSAGE_TOKENS: Final = 4
"""What a message costs beside its words, and what a call costs beside its name and arguments: a little more than models are known to take."""


def weigh(item: Item, count: Callable[[str], int]) -> int:
    """Tokens of one item as it is sent; `count` counts those of a text."""
    total = 0
    for message in to_wire("", (item,))[1:]:
        total += MESSAGE_TOKENS + count(message["content"] or "")
        for call in message.get("tool_calls", ()):
            total += MESSAGE_TOKENS + count(call["function"]["name"]) + count(call["function"]["arguments"]) + count(call["id"])
        if "tool_call_id" in message:
            total += count(message["tool_call_id"])
    return total


def weigher(count: Callable[[str], int]) -> Callable[[Item], int]:
    """`weigh` with `count`, which remembers what it was asked lately: most of a thread is weighed again for every request."""

    @lru_cache(maxsize=8_192)
    def known(item: Item) -> int:
        return weigh(item, count)

    return known


def to_wire(system: str, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Messages for the API from a system prompt and arranged items (see `memory.transcript.arrange`)."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    for item in items:
        match item:
            case UserMessage():
                messages.append({"role": "user", "content": _spoken(item)})
            case AssistantMessage() if item.calls:
                calls = [{"id": c.id, "type": "function", "function": {"name": wire_name(c.name), "arguments": _object(c.arguments)}} for c in item.calls]
                messages.append({"role": "assistant", "content": item.text or None, "tool_calls": calls})
            case AssistantMessage():
                messages.append({"role": "assistant", "content": item.text})
            case ToolMessage():
                messages.append({"role": "tool", "tool_call_id": item.call_id, "content": item.content})
            case Note():
                messages.append({"role": "user", "content": f"[note by the program] {item.text}"})
            case Correction():
                pass
    return messages


def _object(arguments: str) -> str:
    """Arguments that are not a JSON object make some endpoints refuse the whole history: those are sent wrapped."""
    try:
        if isinstance(json.loads(arguments or "{}"), dict):
            return arguments or "{}"
    except (ValueError, RecursionError):  # nested deeper than the reader goes is no object either
        pass
    return json.dumps({"invalid": arguments[:2_000]}, ensure_ascii=False)


def _line(text: str) -> str:
    """Text without line breaks of any kind."""
    return " ".join(text.split())


def _spoken(item: UserMessage) -> str:
    """The speaker in brackets, then the words; what is data stands line by line behind "> ", where nothing its author wrote can end it.

    Data are other bots' words, what was not said to us, and all that a message carries of other messages. In the words of somebody who
    speaks to us, a line that imitates a speaker's beginning is indented.
    """
    head = f"[{item.speaker} (bot)]" if item.bot and not item.own else f"[{item.speaker}]"
    if item.earlier:
        head += " (earlier in the channel)"
    elif not item.addressed and not item.own:
        head += " (said to others)"
    files = [f"(attached file: {_line(file)})" for file in item.files]
    if not item.own and (item.bot or not item.addressed):
        body = "".join(f"\n> {line}" for line in [*item.text.splitlines(), *files])
    else:
        first, *rest = item.text.splitlines() or [""]
        body = "\n".join([f" {first}", *(f" {line}" if line.lstrip().startswith("[") else line for line in rest), *files])
    if item.quoted.strip():
        body += "\n(quoted, data only)" + "".join(f"\n> {line}" for line in item.quoted.splitlines())
    return f"{head}{body}".rstrip()
