"""The engine every tool call passes through: `prepare` (pure) finds and validates, `Engine.call` runs, `to_model` words the outcome.

Every call ends in one `ToolResult`. Between the two stand, in this order: the cache, the circuit breakers of the tool
and of what is behind it, the bulkhead, the time-out, and the retries of what may safely be repeated. What replicas
share of that lives in Redis; without it a call is still validated, bounded and explained.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import structlog

from memory.toolstate import Begun, Slot, ToolState, ToolStateDown, Value, slot_key
from tools.attempt import attempt, unexpected
from tools.bulkhead import Bulkheads, Full
from tools.metrics import Metrics
from tools.paging import PAGE_TOKENS, WHOLE, fits_surely, paged, reduced
from tools.prepare import InvalidArguments, Prepared, canonical, digest, kept, prepare, validate
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.retry import PASSING, Pauses, repeated
from tools.tool import Tool, ToolContext

__all__ = ["Engine", "EngineLimits", "InvalidArguments", "Prepared", "canonical", "digest", "execute", "prepare", "to_model", "validate"]

RESULT_LIMIT: Final = 20_000
"""Characters of JSON one result of `execute` may have; more is cut and marked `truncated`."""
LARGEST_CACHED: Final = 256_000
"""Characters of JSON a cached value may have."""
_FAULTS: Final = frozenset({*PASSING, ErrorCode.OUTCOME_UNKNOWN})
_POLL = 0.02
"""Seconds between looks at a value another replica is fetching, at first."""

logger = structlog.get_logger(__name__)


async def execute(tool: Tool, arguments: dict[str, Any], ctx: ToolContext, raw_arguments: str = "", *, limit: int = RESULT_LIMIT) -> ToolResult:
    """Run one call once, to its end or its time-out, with nothing around it. `arguments` are those of `Prepared` (or validated again after an edit).

    Raises nothing but `asyncio.CancelledError`. For a keyed tool it may be called again with the same `ctx` after
    `OUTCOME_UNKNOWN`; for an unkeyed write it must not.
    """
    started = time.perf_counter()
    log = logger.bind(tool=tool.name, run=ctx.run_id, call=ctx.call_id)
    log.info("tool.start")
    try:
        result = await attempt(tool, arguments, ctx, limit=limit, log=log)
    except asyncio.CancelledError:
        log.warning("tool.cancelled", duration=_since(started))
        raise
    result = result.model_copy(update={"duration": _since(started), "attempts": 1, "raw_arguments": kept(raw_arguments)})
    _told(log, result)
    return result


def to_model(result: ToolResult) -> str:
    """The JSON the model reads: what happened, without empty fields, timings, or the arguments it wrote itself."""
    return result.for_model()


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """How much a result may hold and how calls are repeated."""

    page_tokens: int = PAGE_TOKENS
    keep_results: float = 86_400.0
    """Seconds the rest of a large result is kept for its run."""
    pauses: Pauses = field(default_factory=Pauses)
    state_pause: float = 2.0
    """Seconds in which shared state that did not answer is not asked again."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What a call that was let run has in hand."""

    slot: Slot | None
    token: str
    begun: Begun


class Engine:
    """Runs calls. One per bot; safe for any number of calls at once."""

    def __init__(self, state: ToolState | None = None, *, metrics: Metrics | None = None, limits: EngineLimits | None = None) -> None:
        """Without `state` nothing is cached, no circuit opens and large results are cut for good."""
        self.metrics = metrics or Metrics()
        self._state = state
        self._limits = limits or EngineLimits()
        self._bulkheads = Bulkheads()
        self._flights: dict[str, asyncio.Future[ToolResult]] = {}
        self._state_back = 0.0
        self._owed: set[str] = set()
        """Tags that writes made void while the shared state could not be told."""

    @property
    def state(self) -> ToolState | None:
        """The shared state, unless it did not answer a moment ago."""
        return self._state if time.monotonic() >= self._state_back else None

    async def call(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, raw_arguments: str = "") -> ToolResult:
        """Run one call to its end. `arguments` are those of `Prepared`. Raises nothing but `asyncio.CancelledError`.

        At most one execution for an unkeyed write. A keyed one and a read may run several times, see `tools.retry`.
        """
        started = time.perf_counter()
        log = logger.bind(tool=tool.name, run=ctx.run_id, call=ctx.call_id)
        log.info("tool.start")
        try:
            result = await self._answered(tool, arguments, ctx, log)
            result = await self._presented(tool, result, ctx)
        except asyncio.CancelledError:
            log.warning("tool.cancelled", duration=_since(started))
            self.metrics.calls.labels(tool.name, "CANCELLED").inc()
            raise
        except Exception as error:  # noqa: BLE001 - the promise of this function; the fault is logged
            result = unexpected(tool, error, log)
        result = result.model_copy(update={"duration": _since(started), "raw_arguments": kept(raw_arguments)})
        self.count(tool.name, result)
        self.metrics.duration.labels(tool.name).observe(result.duration)
        _told(log, result)
        return result

    def count(self, name: str, result: ToolResult) -> None:
        """Count how a call ended; for those that were answered without running, too."""
        self.metrics.calls.labels(name, "OK" if result.success else str(result.error_code)).inc()

    def lost(self, error: ToolStateDown) -> None:
        """Shared state did not answer: go on without for a moment, so that not every call waits for it."""
        self._state_back = time.monotonic() + self._limits.state_pause
        self.metrics.state_down.inc()
        logger.warning("tool.state_down", reason=str(error))

    # --- the cache and what stands before it ---------------------------------------------------------------------------

    async def _answered(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, log: Any) -> ToolResult:
        slot = _slot(tool, arguments, ctx) if tool.cache_ttl > 0 and tool.effect == "read" and not tool.time_sensitive else None
        if slot is None or self.state is None:
            return await self._admitted(tool, arguments, ctx, log, slot)
        while (flight := self._flights.get(slot.key)) is not None:  # the same is being fetched in this process: one call serves all
            try:
                shared = await asyncio.shield(flight)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.cancelled() or (task is not None and task.cancelling()):
                    raise
                continue  # the one who fetched was stopped: somebody else has to
            self.metrics.cache.labels(tool.name, "shared").inc()
            log.info("tool.cached", shared=True)
            return shared.model_copy(update={"cached": True, "age": 0.0, "attempts": 0}) if shared.success and not shared.stale else shared
        mine: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        self._flights[slot.key] = mine
        try:
            result = await self._admitted(tool, arguments, ctx, log, slot)
            mine.set_result(result)
            return result
        finally:
            del self._flights[slot.key]
            if not mine.done():
                mine.cancel()

    async def _admitted(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, log: Any, slot: Slot | None) -> ToolResult:
        """Ask the shared state for leave, run, and tell it what came of that."""
        state = self.state
        if state is None:
            return await self._alone(tool, arguments, ctx, log)
        circuits = _circuits(tool, arguments)
        token = secrets.token_hex(8)
        try:
            if self._owed:
                await self._pay(state)
            begun = await self._begun(state, circuits, slot, token, tool)
        except ToolStateDown as error:
            self.lost(error)
            return await self._alone(tool, arguments, ctx, log)
        except asyncio.CancelledError:  # leave may have been given just then: give back what came with it
            await self._ended(state, tool, None, circuits, _Held(slot, token, Begun("probe", None, "", 0.0, marked=True)), started=False)
            raise
        if begun.verdict == "hit" and begun.value is not None:
            self.metrics.cache.labels(tool.name, "negative" if begun.value.negative else "hit").inc()
            log.info("tool.cached", age=round(begun.value.age, 1))
            return _from_cache(tool, begun.value)
        if begun.verdict == "open":
            self.metrics.circuits.labels(tool.name, "refused").inc()
            return self._stale(tool, begun.value, log) or _circuit_open(tool, begun.wait)
        if slot is not None:
            self.metrics.cache.labels(tool.name, "miss").inc()
        held = slot if begun.verdict != "busy" else None
        result = ToolResult.fail(tool.name, ErrorCode.INTERNAL, "The call was interrupted.", Suggestion.RETRY)
        outcome_known = False
        try:
            result = await self._tried(tool, arguments, ctx, log)
            outcome_known = True
        finally:
            await self._ended(state, tool, result if outcome_known else None, circuits, _Held(held, token, begun))
        if result.error_code in PASSING and tool.effect == "read":
            stale = self._stale(tool, begun.value, log)
            return stale.model_copy(update={"attempts": result.attempts}) if stale is not None else result
        return result

    async def _alone(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, log: Any) -> ToolResult:
        """Run without the shared state. What a write made void is told to it later, or it would go on serving what was read before."""
        result: ToolResult | None = None
        try:
            result = await self._tried(tool, arguments, ctx, log)
            return result
        finally:
            self._owed.update(_void(tool, result))

    async def _pay(self, state: ToolState) -> None:
        """Tell the shared state what was made void while it did not answer, before anything is read from it. Raises `ToolStateDown`."""
        owed = frozenset(self._owed)
        await state.end((), "none", void=sorted(owed))
        self._owed -= owed

    async def _begun(self, state: ToolState, circuits: Sequence[str], slot: Slot | None, token: str, tool: Tool) -> Begun:
        """Leave to run; while another replica fetches the same value, wait for that."""
        late = time.monotonic() + tool.timeout
        pause = _POLL
        while True:
            begun = await state.begin(circuits, slot, token)
            if begun.verdict != "busy" or time.monotonic() >= late:
                return begun
            await asyncio.sleep(min(pause, begun.wait or pause))
            pause = min(pause * 2, 0.25)

    async def _ended(self, state: ToolState, tool: Tool, result: ToolResult | None, circuits: Sequence[str], held: _Held, *, started: bool = True) -> None:
        slot, token, begun = held.slot, held.token, held.begun
        fault = result is not None and result.error_code in _FAULTS and result.attempts > 0
        broken = result is not None and result.error_code is ErrorCode.INTERNAL
        good = result is not None and not fault and not broken and result.attempts > 0
        void = _void(tool, result) if started else ()
        text, negative = _to_keep(tool, result) if slot is not None and result is not None else ("", 0.0)
        if good and slot is None and not void and begun.verdict == "run" and not begun.marked:
            return  # nothing to tell: no failure is on record, nothing is cached, nothing changed
        word: Literal["good", "bad", "none"] = "good" if good else "bad" if fault or broken else "none"
        try:
            # A tool that is broken in itself says nothing about what is behind it.
            whom, other = (circuits[:1], circuits[1:]) if broken and begun.verdict == "probe" else (circuits[:1] if broken else circuits, ())
            ending = state.end(whom, word, slot, token, generation=begun.generation, text=text, negative=negative, void=void)
            opened, closed = await asyncio.shield(asyncio.create_task(ending))
            if other:  # another call may be its probe
                await state.end(other, "none", None, token)
        except ToolStateDown as error:
            self._owed.update(void)
            self.lost(error)
            return
        for event, number in (("opened", opened), ("closed", closed)):
            if number:
                self.metrics.circuits.labels(tool.name, event).inc(number)
                logger.warning("tool.circuit", tool=tool.name, event_kind=event)

    def _stale(self, tool: Tool, value: Value | None, log: Any) -> ToolResult | None:
        if value is None or value.negative or tool.stale_ttl <= 0:
            return None
        self.metrics.cache.labels(tool.name, "stale").inc()
        log.info("tool.cached", stale=True, age=round(value.age, 1))
        return _from_cache(tool, value).model_copy(update={"stale": True})

    # --- running --------------------------------------------------------------------------------------------------------

    async def _tried(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, log: Any) -> ToolResult:
        runs = 0

        async def once(_number: int) -> ToolResult:
            nonlocal runs
            started = time.monotonic()
            try:
                # At most half of its time goes into waiting: what begins too late is cut off, and a write's end then unknown.
                async with self._bulkheads.room(tool.name, tool.concurrency, tool.timeout / 2):
                    runs += 1
                    self.metrics.attempts.labels(tool.name).inc()
                    left = tool.timeout - (time.monotonic() - started)
                    result = await attempt(tool, arguments, ctx, limit=WHOLE, log=log, timeout=left)
                    return result.model_copy(update={"attempts": runs, "untrusted": result.success and not tool.trusted})
            except Full:
                message = f"{tool.name!r} is busy with other calls. Nothing was done; try again a little later."
                return ToolResult.fail(tool.name, ErrorCode.TIMEOUT, message, Suggestion.RETRY, attempts=runs)

        def told(number: int, result: ToolResult) -> None:
            log.warning("tool.retried", attempt=number, code=result.error_code)

        result, _ = await repeated(tool, once, self._limits.pauses, told)
        return result if result.attempts == runs else result.model_copy(update={"attempts": runs})

    async def _presented(self, tool: Tool, result: ToolResult, ctx: ToolContext) -> ToolResult:
        """The result as the model may see it: reduced, within the token budget, the rest kept for the run."""
        if result.data is None:
            return result
        data = reduced(result.data, tool.fields)
        if fits_surely(data, self._limits.page_tokens):
            return result if data is result.data else result.model_copy(update={"data": data})
        cut = await asyncio.to_thread(paged, data, self._limits.page_tokens)
        if not cut.pages:
            return result.model_copy(update={"data": data})
        update: dict[str, Any] = {"data": cut.view, "truncated": True}
        state = self.state
        if state is not None and len(cut.pages) > 1:
            try:
                texts = [json.dumps(page, ensure_ascii=False) for page in cut.pages]
                await state.keep(ctx.run_id, ctx.call_id, texts, self._limits.keep_results)
                update |= {"result_id": ctx.call_id, "pages": len(texts)}
                update["note"] = f'Only a part is shown. For the rest: read_more(result_id="{ctx.call_id}", page=2), up to page {len(texts)}.' + _own_pages(
                    tool
                )
            except ToolStateDown as error:
                self.lost(error)
        return result.model_copy(update=update)


def _circuits(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    """The circuit of the tool itself, or of the place this call speaks to, then that of what is behind it."""
    own = f"tool:{tool.name}"
    if tool.circuit is not None:
        own += ":" + hashlib.sha256(tool.circuit(arguments).encode("utf-8", "replace")).hexdigest()[:16]
    return [own, *([f"upstream:{tool.upstream}"] if tool.upstream else [])]


def _slot(tool: Tool, arguments: dict[str, Any], ctx: ToolContext) -> Slot:
    places = {
        "person": (ctx.actor.team_id, ctx.actor.user_id, ctx.timezone),
        "channel": (ctx.thread.team_id, ctx.thread.channel_id),
        "workspace": (ctx.thread.team_id,),
    }
    schema = json.dumps(tool.parameters(), sort_keys=True, ensure_ascii=False)
    key = slot_key(tool.name, tool.version, schema, canonical(arguments), (tool.scope, *places[tool.scope]))
    return Slot(key, tuple(dict.fromkeys((tool.group, *tool.tags))), tool.cache_ttl, tool.stale_ttl, patience=tool.timeout * 2)


def _void(tool: Tool, result: ToolResult | None) -> tuple[str, ...]:
    """The tags a call made void: those of a write that was done or may have been. `result` is None for one that was interrupted."""
    if tool.effect == "read" or not (result is None or result.success or result.error_code is ErrorCode.OUTCOME_UNKNOWN):
        return ()
    return tool.invalidates


def _to_keep(tool: Tool, result: ToolResult) -> tuple[str, float]:
    """The text to cache, empty for nothing, and for how long if it is a "there is no such thing"."""
    if result.success:
        text = json.dumps({"data": result.data, "truncated": result.truncated}, ensure_ascii=False)
        return (text if len(text) <= LARGEST_CACHED else ""), 0.0
    if result.error_code is ErrorCode.NOT_FOUND and tool.negative_ttl > 0:
        return json.dumps({"message": result.error_message, "suggestion": result.suggestion}, ensure_ascii=False), tool.negative_ttl
    return "", 0.0


def _from_cache(tool: Tool, value: Value) -> ToolResult:
    kept_value = json.loads(value.text)
    if value.negative:
        suggestion = Suggestion(kept_value["suggestion"])
        return ToolResult.fail(tool.name, ErrorCode.NOT_FOUND, kept_value["message"], suggestion, cached=True, age=value.age)
    return ToolResult.ok(tool.name, kept_value["data"], truncated=kept_value["truncated"], cached=True, age=value.age, untrusted=not tool.trusted)


def _circuit_open(tool: Tool, wait: float) -> ToolResult:
    message = f"{tool.name!r} failed several times in a row and is given a rest. Nothing was done. It may be tried again in about {max(wait, 1):.0f} s."
    return ToolResult.fail(tool.name, ErrorCode.CIRCUIT_OPEN, message, Suggestion.USE_OTHER_TOOL, retry_after=wait)


def _own_pages(tool: Tool) -> str:
    names = tool.parameters().get("properties", {})
    page = next((name for name in ("page", "page_number", "offset", "cursor") if name in names), None)
    return f" {tool.name} itself takes {page!r} for what comes after that." if page else ""


def _told(log: Any, result: ToolResult) -> None:
    if result.success:
        log.info("tool.done", duration=result.duration, attempts=result.attempts, cached=result.cached, truncated=result.truncated)
    else:
        log.warning("tool.failed", duration=result.duration, attempts=result.attempts, code=result.error_code)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 6)
