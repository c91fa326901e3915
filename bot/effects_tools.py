"""The effect `RunTools`: all reads of an answer at once, or one approved write, held against what the person saw."""

from __future__ import annotations

import asyncio

import structlog

from bot import actions as act
from bot.checks import context
from bot.deps import Deps
from bot.effects_slack import card
from bot.grants import from_decision
from bot.ledger import Ledger
from bot.messages import say
from bot.session_ops import unknown_outcome
from bot.slack import SlackDown, SlackRefused
from bot.state import Call, Run, Status
from memory.grants import GrantsDown
from memory.mailbox import MailboxDown
from memory.toolstate import ToolStateDown
from tools.engine import Prepared, digest
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.retry import settled

log = structlog.get_logger(__name__)


async def run_tools(action: act.RunTools, ledger: Ledger, deps: Deps) -> None:
    """Run the calls and record each result; the intent is committed first."""
    checked = [(call, await _ready(call, action.run, ledger, deps)) for call in action.calls]
    await ledger.record(act.ToolsStarted(tuple(call.id for call in action.calls)))
    ledger.check()
    again = action.calls[0].begun and action.calls[0].effect == "write"
    approval = action.calls[0].approval
    clicked = approval is not None and bool(approval.votes)  # each such call cost a person a click: that is cap enough
    over = None if again or clicked else await _over_the_cap(action, deps)
    if over is not None:
        for call in action.calls:
            log.info("tool.invalid", run=action.run.id, call=call.id, tool=call.tool, code=over.error_code, duration=0.0, attempts=0)
            deps.engine.count(call.tool, over)
        await ledger.record(*(_done(call, over.model_copy(update={"tool_name": call.tool})) for call, _ in checked))
        return
    if action.calls[0].effect == "write":
        call, ready = checked[0]
        log.info("tool.approved", run=action.run.id, call=call.id, tool=call.tool)
        if again and not _may_repeat(ready):
            ready = unknown_outcome(call)
        result = await _write(call, ready, action.run, ledger, deps)
        if again:
            result = settled(unknown_outcome(call), result)
        await ledger.record(_done(call, result))
        await _count_use(call, result, action.run, ledger, deps)
        return
    # The same question twice in one answer is asked once.
    first = {call.key if call.key and call.again else call.id: (call, ready) for call, ready in reversed(checked)}
    results = dict(zip(first, await asyncio.gather(*(_execute(call, ready, action.run, ledger, deps) for call, ready in first.values())), strict=True))
    await ledger.record(*(_done(call, results.get(call.key) or results[call.id]) for call, _ in checked))


def _may_repeat(ready: Prepared | ToolResult) -> bool:
    """Whether a write that was begun may be sent again: it was keyed then, but a second time is safe only if it still is."""
    return isinstance(ready, ToolResult) or ready.tool.keyed


def _done(call: Call, result: ToolResult) -> act.ToolDone:
    if result.success:
        return act.ToolDone(call.id, Status.DONE, result)
    unknown = result.error_code is ErrorCode.OUTCOME_UNKNOWN
    return act.ToolDone(call.id, Status.UNKNOWN if unknown else Status.FAILED, result)


async def _over_the_cap(action: act.RunTools, deps: Deps) -> ToolResult | None:
    """The answer to a person whose calls have used up what one person may use, or None."""
    state, cap = deps.engine.state, deps.person_cap
    if state is None or cap.calls <= 0:
        return None
    try:
        if await state.spend(action.run.requested_by, len(action.calls), limit=cap.calls, window=cap.seconds):
            return None
    except ToolStateDown as error:
        deps.engine.lost(error)
        return None
    log.warning("person_over_cap", run=action.run.id, limit=cap.calls)
    message = f"This person has used the {cap.calls} tool calls that one person may use in {cap.seconds / 60:.0f} minutes. It was not run. Tell them to wait."
    return ToolResult.fail(action.calls[0].tool, ErrorCode.RATE_LIMITED, message, Suggestion.GIVE_UP)


async def _ready(call: Call, run: Run, ledger: Ledger, deps: Deps) -> Prepared | ToolResult:
    """Hold what will really be sent against what the person saw and what is allowed by now."""
    tool = deps.registry.get(call.tool)
    if tool is None:
        withheld = deps.withheld().get(call.tool)
        if withheld is not None:
            return ToolResult.fail(call.tool, ErrorCode.PERMISSION_DENIED, withheld, Suggestion.GIVE_UP)
        return ToolResult.fail(call.tool, ErrorCode.UNKNOWN_TOOL, "This tool is no longer offered. It was not run.", Suggestion.GIVE_UP)
    arguments, thread = call.arguments or {}, ledger.session.thread
    said = deps.guardrails.refusal(tool, arguments, thread=thread, actor=run.requested_by, groups=run.groups)
    if said is not None:
        return ToolResult.fail(call.tool, ErrorCode.PERMISSION_DENIED, said, Suggestion.GIVE_UP)
    if tool.effect == "write":
        now = digest(tool, arguments, thread.id, run.id, call.id)
        if call.approval is None or now != call.approval.digest:
            log.warning("approval_digest_mismatch", tool=call.tool, call=call.id)
            message = "This action changed after it was approved, so it was not run. Ask again."
            return ToolResult.fail(call.tool, ErrorCode.REFUSED, message, Suggestion.ASK_PERSON)
        if call.approval.grant and not await _still_granted(call.approval.grant, run, ledger, deps):
            message = "The standing permission for this ended before it ran, so it was not run. Ask for it again and the person will be asked."
            return ToolResult.fail(call.tool, ErrorCode.REFUSED, message, Suggestion.ASK_PERSON)
    return Prepared(tool, arguments, call.raw)


async def _still_granted(grant_id: str, run: Run, ledger: Ledger, deps: Deps) -> bool:
    if deps.grants is None:
        return False
    try:
        return any(grant.id == grant_id for grant in await deps.grants.find(run.requested_by, ledger.session.thread.channel_id))
    except GrantsDown as error:
        raise MailboxDown(str(error)) from error  # tried again when the store is back


async def _count_use(call: Call, result: ToolResult, run: Run, ledger: Ledger, deps: Deps) -> None:
    """Count what a standing permission let through; only for its owner's list, so nothing waits for it."""
    if call.approval is None or not call.approval.grant or deps.grants is None or result.attempts == 0:
        return
    try:
        for grant in await deps.grants.find(run.requested_by, ledger.session.thread.channel_id):
            if grant.id == call.approval.grant:
                await deps.grants.count_use(grant)
    except GrantsDown as error:
        log.warning("grant_use_not_counted", grant=call.approval.grant, reason=str(error))


async def _execute(call: Call, ready: Prepared | ToolResult, run: Run, ledger: Ledger, deps: Deps) -> ToolResult:
    if isinstance(ready, ToolResult):
        log.info("tool.invalid", run=run.id, call=call.id, tool=call.tool, code=ready.error_code, duration=0.0, attempts=0)
        deps.engine.count(call.tool, ready)
        return ready
    return await deps.engine.call(ready.tool, ready.arguments, context(run, call.id, ledger, deps), ready.raw)


async def _write(call: Call, ready: Prepared | ToolResult, run: Run, ledger: Ledger, deps: Deps) -> ToolResult:
    """Run an approved write. When it takes long its card says so; when told to stop it gets a moment to end on its own."""
    await _keep_permission(call, ready, run, ledger, deps)
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


async def _keep_permission(call: Call, ready: Prepared | ToolResult, run: Run, ledger: Ledger, deps: Deps) -> None:
    """What a person allowed for some time along with this call. If it cannot be kept they are asked again next time; the call itself runs."""
    if isinstance(ready, ToolResult) or deps.grants is None:
        return
    thread = ledger.session.thread
    grant = from_decision(call, ready.tool, thread, title=ready.tool.say(ready.tool.title, run.locale))
    if grant is None:
        return
    try:
        if await deps.grants.put(grant):
            log.info("grant_kept", grant=grant.id, tool=grant.tool)
            return
        problem = "grants_full"
    except GrantsDown as error:
        log.warning("grant_not_kept", grant=grant.id, reason=str(error))
        problem = "grants_down"
    try:
        await deps.slack.notice(thread.channel_id, grant.actor.user_id, say(problem, run.locale), thread.thread_ts)
    except (SlackDown, SlackRefused) as error:
        log.warning("notice_not_sent", reason=str(error))
