"""The effect `CallModel`: build the context, ask, check what the model wants, show a long answer while it grows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import time
from typing import Any

import structlog

from bot import actions as act
from bot.checks import Checking
from bot.context_of import context_of
from bot.deps import Deps
from bot.effects_slack import cleaned, post_recorded
from bot.going_out import Seen
from bot.guard import settled
from bot.honouring import honoured
from bot.ledger import Ledger
from bot.messages import say
from bot.model import Answer, ModelError, to_wire
from bot.prompt import SUMMARY, system
from bot.remembering import recalled_for
from bot.render import Rendered, capped, progress
from bot.session_ops import outbound_id, past_calls
from bot.slack import SlackDown, SlackRefused
from bot.state import Run
from memory.longterm.question import Recalled
from tools.loop import cooled
from tools.routing import offer as offered

log = structlog.get_logger(__name__)


async def call_model(action: act.CallModel, ledger: Ledger, deps: Deps) -> None:
    """Ask the model once (with its own retries) and record its answer or its failure."""
    if deps.long_term is not None and not action.run.wished:
        action = await honoured(action, ledger, deps.long_term)
    async with _thinking(action.run, ledger, deps):
        outcome = await _asked(action, ledger, deps)
    await ledger.record(outcome)


@contextlib.asynccontextmanager
async def _thinking(run: Run, ledger: Ledger, deps: Deps) -> AsyncIterator[None]:
    """Say that an answer is on its way, unless it comes at once. Never left in flight: it must not land after the answer."""
    thread = ledger.session.thread
    started = asyncio.Event()

    async def show() -> None:
        await asyncio.sleep(deps.limits.first_status)
        started.set()
        if not ledger.session.processing:
            await ledger.record(act.ProcessingShown())
            await deps.slack.session(thread.channel_id, thread.thread_ts, "processing")
        await deps.slack.status(thread.channel_id, thread.thread_ts, say("still_trying" if run.model_failures else "thinking", run.locale))

    task = asyncio.create_task(show())
    try:
        yield
    finally:
        if started.is_set():  # it is at the door: let it through, but not at the answer's expense
            await asyncio.wait({task}, timeout=deps.limits.status_grace)
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error


async def _asked(action: act.CallModel, ledger: Ledger, deps: Deps) -> act.ModelAnswered | act.ModelFailed:
    run, thread = action.run, ledger.session.thread
    budget = deps.context
    history = past_calls(run)
    # A name the model made up rests nowhere, and has no place in the system prompt.
    cooling = tuple(each for each in cooled(history, run.cooling, run.usage.model_calls) if each.tool in deps.registry)
    offer = offered(
        deps.registry,
        allowed=lambda tool: deps.guardrails.allows(tool, thread=thread, actor=run.requested_by, groups=run.groups),
        opened=run.opened,
        cooling={each.tool for each in cooling},
        limits=deps.routing,
        strict=deps.strict_schemas,
    )
    outcome: act.ModelAnswered | act.ModelFailed
    for _ in range(3):
        remembered = await recalled_for(run, ledger, deps)
        repeatable = deps.answers if not remembered.found and not run.noted else None  # what memory brings makes an answer one person's, at one time
        if repeatable is not None and not action.final:
            known = await repeatable.look(run, thread, await ledger.items(), offer)
            if known is not None:
                return act.ModelAnswered(known, (), 0)
        told = system(ledger.session.room, offer=offer, remembers=deps.long_term is not None)
        context = await context_of(run, ledger, deps, budget, system=told, tools=[] if action.final else offer.schemas, cooling=cooling)
        if context.used["system"] + context.used["current"] > budget.total_input:
            outcome = act.ModelFailed("too_long", transient=False)  # it is never cut, and to send it all the same would only cost
            break
        wire = to_wire(told, context.items)
        if action.final:
            wire.append({"role": "user", "content": f"[note by the program] {SUMMARY}"})
        try:
            answer = await _heard(wire, [] if action.final else offer.schemas, _Partials(run, await ledger.seen(), ledger, deps), deps)
            if action.final:
                outcome = act.ModelAnswered(answer.text or say("capped", run.locale), (), answer.tokens, final=True, **_brought(remembered))
            else:
                checking = Checking(run, offer, history, cooling, ledger, deps)
                calls = await checking.check(answer.calls)
                outcome = act.ModelAnswered(answer.text, calls, answer.tokens, opened=checking.opened, cooling=cooling, **_brought(remembered))
                if repeatable is not None and not calls and not answer.cut:
                    await repeatable.keep(run, answer.text)
            break
        except ModelError as error:
            outcome = act.ModelFailed(error.kind, error.transient, error.retry_after)
            if error.kind != "overflow":
                break
            budget = budget.shrunk(1 / 3)  # the endpoint knows its window better than we do
    if isinstance(outcome, act.ModelFailed) and outcome.transient and deps.budget.time_left(run, time()) <= outcome.retry_after:
        # To wait for the model longer would break the budget: the person hears now that there is no answer.
        outcome = act.ModelFailed(outcome.kind, transient=False)
    elif isinstance(outcome, act.ModelFailed) and action.final and not outcome.transient:
        outcome = act.ModelAnswered(say("capped", run.locale), (), 0, final=True)
    return outcome


def _brought(recalled: Recalled) -> dict[str, Any]:
    """What the answer had at hand of memory; what always applies is worth telling only together with more than that."""
    more = any(found.why != "always" for found in recalled.found)
    return {"recalled": tuple(found.memory.id for found in recalled.found if more), "memory_missing": recalled.missing}


async def _heard(wire: list[dict[str, Any]], tools: list[dict[str, Any]], partials: _Partials, deps: Deps) -> Answer:
    try:
        return await deps.model.ask(wire, tools, partials.on_text)
    except asyncio.CancelledError:
        await partials.abandon()
        raise
    finally:
        await partials.done()


class _Partials:
    """Shows a long answer while it grows: posted once (intent first), then updated at a calm pace.

    One showing is under way at a time, beside the stream and not in its way; `done` waits for it, so that no partial
    text can land after the final one.
    """

    def __init__(self, run: Run, seen: Seen, ledger: Ledger, deps: Deps) -> None:
        self._run = run
        self._seen = seen
        self._ledger = ledger
        self._deps = deps
        self._started = self._last = time()
        self._text = self._shown = ""
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def on_text(self, text: str) -> None:
        """The whole text so far. It is shown when its time has come, whether or not the model has gone on by then."""
        self._text = text
        if self._timer is None:
            limits = self._deps.limits
            due = max(self._started + limits.first_partial, self._last + limits.between_partials)
            self._timer = asyncio.get_running_loop().call_later(max(due - time(), 0.0), self._begin)

    def _begin(self) -> None:
        self._timer = None
        if self._task is not None and not self._task.done():
            self._timer = asyncio.get_running_loop().call_later(max(self._deps.limits.between_partials, 0.05), self._begin)
            return
        self._last = time()
        self._task = asyncio.create_task(self._show(self._text))

    async def _show(self, text: str) -> None:
        part = progress(await cleaned(settled(capped(text, self._run.locale)), self._seen, self._deps), self._run.locale)
        if part.text == self._shown:
            return
        self._shown = part.text
        try:
            await _show_partial(self._run.id, part, self._ledger, self._deps)
        except (SlackDown, SlackRefused) as error:
            log.info("partial_not_shown", reason=str(error))

    async def done(self) -> None:
        """Begin nothing more, and wait for what is under way. Raises what it raised: a lost lease ends the action."""
        self._no_more()
        if self._task is not None:
            await self._task

    def _no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def abandon(self) -> None:
        """The action was interrupted: end what is under way."""
        self._no_more()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


async def _show_partial(run_id: str, part: Rendered, ledger: Ledger, deps: Deps) -> None:
    run = ledger.session.run
    if run is None or run.id != run_id or run.parts_posted:
        return
    thread = ledger.session.thread
    box_id = outbound_id(run, 0)
    box = next((b for b in run.outbox if b.id == box_id), None)
    if box is not None and box.ts:
        ledger.check()
        await deps.slack.update(thread.channel_id, box.ts, part, patient=False)
        return
    if box is None:
        await ledger.record(act.Posting(box_id))
    lookup = box is not None and box.epoch != ledger.claim.epoch
    ts = await deps.slack.post(thread.channel_id, thread.thread_ts, part, box_id, lookup=lookup, since=run.started_at, check=ledger.check)
    await post_recorded(ledger, deps, box_id, ts, act.Posted(box_id, ts))
