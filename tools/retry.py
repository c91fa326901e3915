"""When a call is tried again: faults that may pass, for reads and for writes whose upstream honours a key; with growing pauses and jitter.

An unkeyed write is never here: it runs at most once. The loop itself is tenacity's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt, stop_before_delay, wait_exponential_jitter

from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Tool

PASSING: Final = frozenset({ErrorCode.TIMEOUT, ErrorCode.UPSTREAM_ERROR, ErrorCode.RATE_LIMITED})
"""Faults that may be over at the next try, when the tool suggests one."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds between tries: the first pause, doubled each time up to the longest; `jitter` is added at random."""

    first: float = 0.2
    longest: float = 5.0
    jitter: float = 0.2
    keyed_repeats: int = 3
    """How often a keyed write whose outcome is unknown is sent again with the same key."""
    keyed_first: float = 1.0


def may_repeat(tool: Tool) -> bool:
    """Whether a second execution can do no harm."""
    return tool.effect == "read" or tool.keyed


def passing(tool: Tool, result: ToolResult) -> bool:
    """Whether another try could end better."""
    if result.success or not may_repeat(tool):
        return False
    if result.error_code is ErrorCode.OUTCOME_UNKNOWN:
        return tool.keyed  # asking again with the key either does it or says what came of the first time
    return result.error_code in PASSING and result.suggestion is Suggestion.RETRY


async def repeated(
    tool: Tool,
    once: Callable[[int], Awaitable[ToolResult]],
    pauses: Pauses,
    told: Callable[[int, ToolResult], None],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[ToolResult, int]:
    """Call `once(number)` until it ends well, for good or too late; the last result, and how often it ran.

    No try begins later after the first than the tool's time-out, for a read, or as many time-outs as there may be tries, for a write:
    an upstream that asks for a longer pause is not waited for. `told` hears of each try that will be repeated.
    """
    tries = 1 + (max(tool.retries, pauses.keyed_repeats) if tool.keyed else tool.retries)
    began = time.monotonic()
    first = await once(1)
    if tries == 1 or not passing(tool, first):  # nearly always: the loop below costs more than the call around it
        return first, 1
    doubt: list[ToolResult] = []
    patience = tool.timeout if tool.effect == "read" else tool.timeout * tries
    stop: Any = stop_after_attempt(tries) | stop_before_delay(patience - (time.monotonic() - began))
    grow = wait_exponential_jitter(multiplier=pauses.keyed_first if tool.keyed else pauses.first, max=pauses.longest, jitter=pauses.jitter)

    def pause(state: RetryCallState) -> float:
        asked = state.outcome.result().retry_after if state.outcome is not None else None
        return max(grow(state), asked or 0.0)

    def again(state: RetryCallState) -> None:
        if state.outcome is not None:
            told(state.attempt_number, state.outcome.result())

    number = 0

    async def numbered() -> ToolResult:
        nonlocal number
        number += 1
        result = first if number == 1 else await once(number)
        if result.error_code is ErrorCode.OUTCOME_UNKNOWN:
            doubt.append(result)
        return result

    loop = AsyncRetrying(
        sleep=sleep, stop=stop, wait=pause, retry=retry_if_result(lambda result: passing(tool, result)), before_sleep=again, retry_error_callback=_last
    )
    last: ToolResult = await loop(numbered)
    return (settled(doubt[-1], last) if doubt else last), number


def settled(doubt: ToolResult, later: ToolResult) -> ToolResult:
    """What holds of a keyed write that was in doubt, after a later try: only a success or the upstream's own no, under the same key, tells what came of it.

    Everything else (it did not get through, it is no longer allowed, the tool has changed) says nothing about the earlier try.
    """
    return later if later.success or later.error_code is ErrorCode.REFUSED else doubt


def _last(state: RetryCallState) -> ToolResult | None:
    return state.outcome.result() if state.outcome is not None else None
