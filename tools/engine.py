"""The engine every tool call passes through: `prepare` (pure) finds and validates, `Engine.call` runs, `to_model` words the outcome.

Every call ends in one `ToolResult`. Between the two stand, in this order: the cache, the circuit breakers of the tool
and of what is behind it, the bulkhead, the time-out, and the retries of what may safely be repeated. What replicas
share of that lives in Redis; without it a call is still validated, bounded and explained.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import structlog

from memory.toolstate import Begun, Ended, Slot, ToolState, ToolStateDown, Value, slot_key
from tools.attempt import attempt, unexpected
from tools.bulkhead import Bulkheads, Full
from tools.facts import FactBook, Facts
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
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
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


@dataclass(slots=True)
class _Call:
    """One call on its way through the engine."""

    facts: Facts
    arguments: dict[str, Any]
    ctx: ToolContext
    log: Any
    runs: int = 0
    """How often the tool was run for it."""


@dataclass(slots=True)
class _Flight:
    """A read under way, for whose result later callers in this process may wait."""

    tags: frozenset[str]
    landing: asyncio.Future[ToolResult]
    valid: bool = False
    """No write anywhere made void what it read while it was read: known once it has landed."""


class Engine:
    """Runs calls. One per bot; safe for any number of calls at once."""

    def __init__(self, state: ToolState | None = None, *, metrics: Metrics | None = None, limits: EngineLimits | None = None) -> None:
        """Without `state` nothing is cached, no circuit opens and large results are cut for good."""
        self.metrics = metrics or Metrics()
        self._state = state
        self._limits = limits or EngineLimits()
        self._bulkheads = Bulkheads()
        self._facts = FactBook(self.metrics)
        self._flights: dict[str, _Flight] = {}
        self._state_back = 0.0
        self._owed: dict[str, int] = {}
        """Tags that writes made void while the shared state could not be told; how often, so that none is taken for told that came meanwhile."""
        self._telling: set[asyncio.Task[Ended | None]] = set()

    @property
    def state(self) -> ToolState | None:
        """The shared state, unless it did not answer a moment ago."""
        return self._state if time.monotonic() >= self._state_back else None

    async def call(self, tool: Tool, arguments: dict[str, Any], ctx: ToolContext, raw_arguments: str = "") -> ToolResult:
        """Run one call to its end. `arguments` are those of `Prepared`. Raises nothing but `asyncio.CancelledError`.

        At most one execution for an unkeyed write. A keyed one and a read may run several times, see `tools.retry`.
        """
        started = time.perf_counter()
        facts = self._facts.of(tool)
        log = logger.bind(tool=tool.name, run=ctx.run_id, call=ctx.call_id)
        log.info("tool.start")
        call = _Call(facts, arguments, ctx, log)
        try:
            result = await self._answered(call)
            update = await self._presented(facts, result, ctx)
        except asyncio.CancelledError:
            log.warning("tool.cancelled", duration=_since(started))
            self.metrics.calls.labels(tool.name, "CANCELLED").inc()
            raise
        except Exception as error:  # noqa: BLE001 - the promise of this function; the fault is logged
            result, update = unexpected(tool, error, log), {}
        update |= {"attempts": call.runs, "untrusted": result.success and not tool.trusted, "duration": _since(started), "raw_arguments": kept(raw_arguments)}
        result = result.model_copy(update=update)
        self.count(tool.name, result)
        facts.duration.observe(result.duration)
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

    async def _answered(self, call: _Call) -> ToolResult:
        facts = call.facts
        slot = _slot(call) if facts.cacheable and self.state is not None else None
        # The same is being fetched in this process: one call serves all.
        while slot is not None and self.state is not None and (flight := self._flights.get(slot.key)) is not None:
            try:
                shared = await asyncio.shield(flight.landing)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.landing.cancelled() or (task is not None and task.cancelling()):
                    raise
                continue  # the one who fetched was stopped: somebody else has to
            if not flight.valid:
                continue  # a write came in between, perhaps before this call was made
            self.metrics.cache.labels(facts.tool.name, "shared").inc()
            call.log.info("tool.cached", shared=True)
            return shared.model_copy(update={"cached": True, "age": 0.0}) if shared.success and not shared.stale else shared
        if slot is None or self.state is None:
            return (await self._admitted(call, None))[0]
        mine = self._flights[slot.key] = _Flight(frozenset(slot.tags), asyncio.get_running_loop().create_future())
        try:
            result, mine.valid = await self._admitted(call, slot)
            mine.landing.set_result(result)
            return result
        finally:
            self._leave(slot.key, mine)
            if not mine.landing.done():
                mine.landing.cancel()

    def _leave(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:  # a write may have made room for another one
            del self._flights[key]

    async def _admitted(self, call: _Call, slot: Slot | None) -> tuple[ToolResult, bool]:
        """Ask the shared state for leave, run, and tell it what came of that. Also whether what was read still held at the end."""
        state, facts = self.state, call.facts
        tool = facts.tool
        if state is None:
            return await self._alone(call), False
        circuits = facts.circuits(call.arguments)
        token = secrets.token_hex(8)
        try:
            if self._owed:
                await self._pay(state)
            begun = await self._begun(state, circuits, slot, token, facts)
        except ToolStateDown as error:
            self.lost(error)
            return await self._alone(call), False
        except asyncio.CancelledError:  # leave may have been given just then: give back what came with it
            await self._ended(state, call, None, circuits, _Held(slot, token, Begun("probe", None, "", 0.0, marked=True)), started=False)
            raise
        if begun.verdict == "hit" and begun.value is not None:
            self.metrics.cache.labels(tool.name, "negative" if begun.value.negative else "hit").inc()
            call.log.info("tool.cached", age=round(begun.value.age, 1))
            return _from_cache(tool, begun.value), True
        if begun.verdict == "open":
            self.metrics.circuits.labels(facts.counted_as(begun.circuit), "refused").inc()
            return self._stale(tool, begun.value, call.log) or _circuit_open(tool, begun.wait), True
        if slot is not None:
            self.metrics.cache.labels(tool.name, "miss").inc()
        result: ToolResult | None = None
        ended: Ended | None = None
        try:
            result = await self._tried(call)
        finally:
            ended = await self._ended(state, call, result, circuits, _Held(slot, token, begun))
        if result.error_code in PASSING and tool.effect == "read" and (stale := self._stale(tool, begun.value, call.log)) is not None:
            result = stale
        return result, ended is not None and ended.held

    async def _alone(self, call: _Call) -> ToolResult:
        """Run without the shared state. What a write made void is told to it later, or it would go on serving what was read before."""
        result: ToolResult | None = None
        try:
            result = await self._tried(call)
            return result
        finally:
            self._owe(self._voided(call.facts, result))

    def _owe(self, tags: Iterable[str]) -> None:
        for tag in tags:
            self._owed[tag] = self._owed.get(tag, 0) + 1

    async def _pay(self, state: ToolState) -> None:
        """Tell the shared state what was made void while it did not answer, before anything is read from it. Raises `ToolStateDown`."""
        owed = dict(self._owed)
        await state.end((), "none", void=sorted(owed))
        self._owed = {tag: times for tag, times in self._owed.items() if owed.get(tag) != times}

    def _voided(self, facts: Facts, result: ToolResult | None) -> tuple[str, ...]:
        """The tags a call made void: those of a write that was done or may have been. `result` is None for one that was interrupted.

        Nobody joins a read of this process any more that began before.
        """
        if not facts.void or not (result is None or result.success or result.error_code is ErrorCode.OUTCOME_UNKNOWN):
            return ()
        for key, flight in list(self._flights.items()):
            if not flight.tags.isdisjoint(facts.void):
                self._leave(key, flight)
        return facts.void

    async def _begun(self, state: ToolState, circuits: Sequence[str], slot: Slot | None, token: str, facts: Facts) -> Begun:
        """Leave to run; while another replica fetches the same value, wait for that."""
        late = time.monotonic() + facts.tool.timeout
        pause = _POLL
        while True:
            begun = await state.begin(circuits, slot, token, void=facts.void)
            if begun.verdict != "busy" or time.monotonic() >= late:
                return begun
            await asyncio.sleep(min(pause, begun.wait or pause))
            pause = min(pause * 2, 0.25)

    async def _ended(
        self, state: ToolState, call: _Call, result: ToolResult | None, circuits: Sequence[str], held: _Held, *, started: bool = True
    ) -> Ended | None:
        """Tell the shared state what came of a call; goes on to do so when its caller is stopped. None when there was nothing to tell or nobody to hear it."""
        slot, token, begun, facts, tool = held.slot, held.token, held.begun, call.facts, call.facts.tool
        fault = result is not None and result.error_code in _FAULTS and call.runs > 0
        broken = result is not None and result.error_code is ErrorCode.INTERNAL
        good = result is not None and not fault and not broken and call.runs > 0
        void = self._voided(facts, result) if started else ()
        text, negative = _to_keep(tool, result) if slot is not None and result is not None and begun.verdict != "busy" else ("", 0.0)
        if good and slot is None and not void and begun.verdict == "run" and not begun.marked:
            return None  # no failure is on record, nothing is cached, nothing changed
        word: Literal["good", "bad", "none"] = "good" if good else "bad" if fault or broken else "none"
        # A tool that is broken in itself says nothing about what is behind it.
        whom, other = (circuits[:1], circuits[1:]) if broken and begun.verdict == "probe" else (circuits[:1] if broken else circuits, ())

        async def tell() -> Ended | None:
            try:
                ended = await state.end(whom, word, slot, token, generation=begun.generation, text=text, negative=negative, void=void)
                if other:  # another call may be its probe
                    await state.end(other, "none", None, token)
            except ToolStateDown as error:
                self._owe(void)
                self.lost(error)
                return None
            for event, names in (("opened", ended.opened), ("closed", ended.closed)):
                for name in names:
                    self.metrics.circuits.labels(facts.counted_as(name), event).inc()
                    logger.warning("tool.circuit", tool=tool.name, circuit=facts.counted_as(name), event_kind=event)
            return ended

        telling = asyncio.create_task(tell())
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
        return await asyncio.shield(telling)

    def _stale(self, tool: Tool, value: Value | None, log: Any) -> ToolResult | None:
        if value is None or value.negative or tool.stale_ttl <= 0:
            return None
        self.metrics.cache.labels(tool.name, "stale").inc()
        log.info("tool.cached", stale=True, age=round(value.age, 1))
        return _from_cache(tool, value).model_copy(update={"stale": True})

    # --- running --------------------------------------------------------------------------------------------------------

    async def _tried(self, call: _Call) -> ToolResult:
        facts, tool, log = call.facts, call.facts.tool, call.log

        async def once(_number: int) -> ToolResult:
            started = time.monotonic()
            try:
                # At most half of its time goes into waiting: what begins too late is cut off, and a write's end then unknown.
                async with self._bulkheads.room(tool.name, tool.concurrency, tool.timeout / 2):
                    call.runs += 1
                    facts.attempts.inc()
                    left = tool.timeout - (time.monotonic() - started)
                    return await attempt(tool, call.arguments, call.ctx, limit=WHOLE, log=log, timeout=left)
            except Full:
                message = f"{tool.name!r} is busy with other calls. Nothing was done; try again a little later."
                return ToolResult.fail(tool.name, ErrorCode.TIMEOUT, message, Suggestion.RETRY)

        def told(number: int, result: ToolResult) -> None:
            log.warning("tool.retried", attempt=number, code=result.error_code)

        result, _ = await repeated(tool, once, self._limits.pauses, told)
        return result

    async def _presented(self, facts: Facts, result: ToolResult, ctx: ToolContext) -> dict[str, Any]:
        """What to change in the result for the model to see it: reduced, within the token budget, the rest kept for the run."""
        if result.data is None:
            return {}
        data = reduced(result.data, facts.tool.fields)
        if fits_surely(data, self._limits.page_tokens):
            return {"data": data}
        cut = await asyncio.to_thread(paged, data, self._limits.page_tokens)
        if not cut.pages:
            return {"data": data}
        update: dict[str, Any] = {"data": cut.view, "truncated": True}
        state = self.state
        if state is not None and len(cut.pages) > 1:
            try:
                texts = [_ENCODE(page) for page in cut.pages]
                await state.keep(ctx.run_id, ctx.call_id, texts, self._limits.keep_results)
                update |= {"result_id": ctx.call_id, "pages": len(texts)}
                rest = f'read_more(result_id="{ctx.call_id}", page=2), up to page {len(texts)}.'
                update["note"] = f"Only a part is shown. For the rest: {rest}{facts.own_pages}"
            except ToolStateDown as error:
                self.lost(error)
        return update


def _slot(call: _Call) -> Slot:
    facts, tool, ctx = call.facts, call.facts.tool, call.ctx
    places = {
        "person": (ctx.actor.team_id, ctx.actor.user_id, ctx.timezone),
        "channel": (ctx.thread.team_id, ctx.thread.channel_id),
        "workspace": (ctx.thread.team_id,),
    }
    key = slot_key(tool.name, tool.version, facts.schema, canonical(call.arguments), (tool.scope, *places[tool.scope]))
    return Slot(key, facts.tags, tool.cache_ttl, tool.stale_ttl, patience=tool.timeout * 2)


def _to_keep(tool: Tool, result: ToolResult) -> tuple[str, float]:
    """The text to cache, empty for nothing, and for how long if it is a "there is no such thing"."""
    if result.success:
        text = _ENCODE({"data": result.data, "truncated": result.truncated})
        return (text if len(text) <= LARGEST_CACHED else ""), 0.0
    if result.error_code is ErrorCode.NOT_FOUND and tool.negative_ttl > 0:
        return _ENCODE({"message": result.error_message, "suggestion": result.suggestion}), tool.negative_ttl
    return "", 0.0


def _from_cache(tool: Tool, value: Value) -> ToolResult:
    kept_value = json.loads(value.text)
    if value.negative:
        suggestion = Suggestion(kept_value["suggestion"])
        return ToolResult.fail(tool.name, ErrorCode.NOT_FOUND, kept_value["message"], suggestion, cached=True, age=value.age)
    return ToolResult.ok(tool.name, kept_value["data"], truncated=kept_value["truncated"], cached=True, age=value.age)


def _circuit_open(tool: Tool, wait: float) -> ToolResult:
    message = f"{tool.name!r} failed several times in a row and is given a rest. Nothing was done. It may be tried again in about {max(wait, 1):.0f} s."
    return ToolResult.fail(tool.name, ErrorCode.CIRCUIT_OPEN, message, Suggestion.USE_OTHER_TOOL, retry_after=wait)


def _told(log: Any, result: ToolResult) -> None:
    if result.success:
        log.info("tool.done", duration=result.duration, attempts=result.attempts, cached=result.cached, truncated=result.truncated)
    else:
        log.warning("tool.failed", duration=result.duration, attempts=result.attempts, code=result.error_code)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 6)
