"""The effect `RunTools`: all reads of an answer at once, or one approved write, held against what the person saw."""

from __future__ import annotations

import asyncio

import structlog

from bot import actions as act
from bot.deps import Deps
from bot.effects_slack import card
from bot.ledger import Ledger
from bot.slack import SlackDown, SlackRefused
from bot.state import Call, Run, Status
from tools.engine import Prepared, digest, execute
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import ToolContext

log = structlog.get_logger(__name__)


async def run_tools(action: act.RunTools, ledger: Ledger, deps: Deps) -> None:
    """Run the calls and record each result; the intent is committed first."""
    checked = [(call, _ready(call, action.run, ledger, deps)) for call in action.calls]
    await ledger.record(act.ToolsStarted(tuple(call.id for call in action.calls)))
    ledger.check()
    if action.calls[0].effect == "write":
        call, ready = checked[0]
        result = await _write(call, ready, action.run, ledger, deps)
        await ledger.record(_done(call, result))
        return
    results = await asyncio.gather(*(_execute(call, ready, action.run, ledger, deps) for call, ready in checked))
    await ledger.record(*(_done(call, result) for (call, _), result in zip(checked, results, strict=True)))


def _done(call: Call, result: ToolResult) -> act.ToolDone:
    if result.success:
        return act.ToolDone(call.id, Status.DONE, result)
    unknown = result.error_code is ErrorCode.OUTCOME_UNKNOWN
    return act.ToolDone(call.id, Status.UNKNOWN if unknown else Status.FAILED, result)


def _ready(call: Call, run: Run, ledger: Ledger, deps: Deps) -> Prepared | ToolResult:
    """Validate again what will really be sent, and hold it against what the person saw."""
    tool = deps.registry.get(call.tool)
    if tool is None:
        return ToolResult.fail(call.tool, ErrorCode.UNKNOWN_TOOL, "This tool is no longer offered. It was not run.", Suggestion.GIVE_UP)
    arguments = call.arguments or {}
    if tool.effect == "write":
        now = digest(tool, arguments, ledger.session.thread.id, run.id, call.id)
        if call.approval is None or now != call.approval.digest:
            log.warning("approval_digest_mismatch", tool=call.tool, call=call.id)
            message = "This action changed after it was approved, so it was not run. Ask again."
            return ToolResult.fail(call.tool, ErrorCode.REFUSED, message, Suggestion.ASK_PERSON)
    return Prepared(tool, arguments, call.raw)


async def _execute(call: Call, ready: Prepared | ToolResult, run: Run, ledger: Ledger, deps: Deps) -> ToolResult:
    if isinstance(ready, ToolResult):
        return ready
    context = ToolContext(
        actor=run.requested_by,
        thread=ledger.session.thread,
        timezone=run.timezone,
        run_id=run.id,
        call_id=call.id,
        slack=deps.tool_slack,
        resources=deps.resources,
    )
    result = await execute(ready.tool, ready.arguments, context, ready.raw)
    for attempt in range(deps.limits.keyed_repeats if call.effect == "write" and ready.tool.keyed else 0):
        if result.error_code is not ErrorCode.OUTCOME_UNKNOWN:
            break
        # The upstream honours the key: asking again either does it or says what came of the first time.
        await asyncio.sleep(deps.limits.keyed_pause * 2**attempt)
        result = await execute(ready.tool, ready.arguments, context, ready.raw)
    return result


async def _write(call: Call, ready: Prepared | ToolResult, run: Run, ledger: Ledger, deps: Deps) -> ToolResult:
    """Run an approved write. When it takes long its card says so; when told to stop it gets a moment to end on its own."""
    task = asyncio.create_task(_execute(call, ready, run, ledger, deps))
    try:
        done, _ = await asyncio.wait({task}, timeout=deps.limits.running_card)
        if not done and call.approval is not None and call.approval.card_ts:
            try:
                await deps.slack.update(ledger.session.thread.channel_id, call.approval.card_ts, card(call, run, "started", deps), patient=False)
            except (SlackDown, SlackRefused) as error:
                log.info("running_card_not_shown", reason=str(error))
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait({task}, timeout=deps.limits.write_grace)
        if done and not task.cancelled() and not ledger.claim.lost:
            await ledger.record(_done(call, task.result()))
        raise
    finally:
        task.cancel()  # nobody would learn what comes of it any more
