"""What the model wants, held against everything that may say no before anything runs or anybody is asked.

In this order: is it one of the engine's own calls (opening a group of tools), does the tool exist and do the arguments
fit, may it be used here and by this person, with the definite values, is it going round in circles, does it take an address of
the model's own making out, and, for a change, who has to approve it. Each "no" is a result the model reads at once; the call
never runs.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from time import time
from typing import Any, Final

import structlog

from bot.deps import Deps
from bot.going_out import may_open
from bot.grants import fitting, granted
from bot.ledger import Ledger
from bot.model import WantedCall
from bot.session_ops import fingerprint
from bot.state import Approval, Call, Policy, Run, Status
from memory.grants import GrantsDown
from tools.engine import digest, prepare
from tools.loop import Cooling, Past, earlier_answer, given_up, resting
from tools.prepare import Prepared
from tools.resolve import resolved
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.routing import Offer, answer_meta, is_meta
from tools.tool import Tool, ToolContext

log = structlog.get_logger(__name__)

SPARE: Final = 8
"""Calls of one answer that are still answered one by one beyond what the budget lets run; the others are not looked at."""


def context(run: Run, call_id: str, ledger: Ledger, deps: Deps) -> ToolContext:
    """What a call may know about where it runs."""
    return ToolContext(
        actor=run.requested_by,
        thread=ledger.session.thread,
        timezone=run.timezone,
        run_id=run.id,
        call_id=call_id,
        slack=deps.tool_slack,
        resources=deps.resources,
    )


@dataclass(slots=True)
class Checking:
    """The calls of one model answer on their way to becoming the run's calls."""

    run: Run
    offer: Offer
    history: tuple[Past, ...]
    cooling: tuple[Cooling, ...]
    ledger: Ledger
    deps: Deps
    opened: tuple[str, ...] = ()
    _tools_left: int = field(default=0, init=False)
    _writes: set[str] = field(default_factory=set, init=False)
    """Fingerprints of the changes this answer asks for."""

    async def check(self, wanted: tuple[WantedCall, ...]) -> tuple[Call, ...]:
        """The calls of an answer, each closed with its reason, ready to run, or waiting for a person.

        Of an answer with far more calls than may run only the first are kept; the last of them, always a closed one, tells the model.
        """
        self.opened = self.run.opened
        self._tools_left = self.deps.budget.tool_calls - self.run.usage.tool_calls
        kept = wanted[: max(self._tools_left, 0) + SPARE]
        calls = [await self._one(each, place) for place, each in enumerate(kept)]
        if dropped := len(wanted) - len(kept):
            log.warning("calls_dropped", run=self.run.id, kept=len(kept), dropped=dropped)
            calls[-1] = _with_note(calls[-1], f"This answer asked for {len(wanted)} calls at once; the last {dropped} were not looked at and not run.")
        return tuple(calls)

    async def _one(self, wanted: WantedCall, place: int) -> Call:
        # Ours, not the model's, which may be missing or repeated; the same again when the same answer is recorded.
        call_id = f"call_{self.run.id}_{self.run.usage.model_calls}_{place}"
        call = Call(id=call_id, tool=wanted.name, raw=wanted.arguments)
        if is_meta(wanted.name):
            answered = answer_meta(wanted.name, wanted.arguments, self.offer)
            self.opened = tuple(dict.fromkeys((*self.opened, *answered.opened)))
            return self._closed(call.model_copy(update={"key": fingerprint(call)}), answered.result)
        if place >= self._tools_left:
            message = "The budget of tool calls for this request is used up. It was not run."
            return self._closed(call, ToolResult.fail(wanted.name, ErrorCode.RATE_LIMITED, message, Suggestion.GIVE_UP))
        withheld = None if wanted.name in self.deps.registry else self.deps.withheld().get(wanted.name)
        if withheld is not None:
            return self._closed(call, ToolResult.fail(wanted.name, ErrorCode.PERMISSION_DENIED, withheld, Suggestion.GIVE_UP))
        prepared = prepare(self.deps.registry, wanted.name, wanted.arguments, offered=self.offer.names)
        if isinstance(prepared, Prepared) and self._open(prepared.tool):  # nothing of a closed tool runs, its resolver neither
            prepared = await resolved(prepared, context(self.run, call_id, self.ledger, self.deps))
        if isinstance(prepared, ToolResult):
            if prepared.tool_name in self.deps.registry:  # by its own name, however the model wrote it
                call = call.model_copy(update={"tool": prepared.tool_name})
            key = fingerprint(call.model_copy(update={"arguments": {"raw": wanted.arguments}}))
            call = call.model_copy(update={"key": key})
            return self._closed(call, given_up(self.history, call.tool, key) or prepared)
        tool = prepared.tool
        if tool.group in self.offer.groups and tool.group not in self.opened:
            self.opened = (*self.opened, tool.group)  # it knew the tool from earlier: what it works with stays in sight
        call = call.model_copy(
            update={
                "tool": tool.name,
                "arguments": prepared.arguments,
                "effect": "ask" if tool.asks else tool.effect,
                "keyed": tool.keyed,
                "repaired": prepared.repaired,
                "again": not tool.time_sensitive,
            }
        )
        call = call.model_copy(update={"key": fingerprint(call)})
        refused = self._refused(call, prepared) or await self._kept_in(prepared)
        if refused is not None:
            return self._closed(call, refused)
        if tool.asks:
            policy = Policy(expires_after=self.deps.approval_ttl)
            return call.model_copy(update={"status": Status.WAITING, "approval": self._approval(call, prepared, policy)})
        if tool.effect == "read":
            past = earlier_answer(self.history, call.key, since=self.run.fresh_from) if call.again else None
            known = self.ledger.result_of(past.call_id) if past is not None else None
            if known is not None and "stale" not in known:
                return self._closed(call, _once_more(tool.name, known))
            return call
        return await self._write(call, prepared)

    def _open(self, tool: Tool) -> bool:
        return self.deps.guardrails.allows(tool, thread=self.ledger.session.thread, actor=self.run.requested_by, groups=self.run.groups)

    async def _kept_in(self, prepared: Prepared) -> ToolResult | None:
        """The refusal of a call that would open an address which neither a person nor another tool's result has given."""
        tool = prepared.tool
        if not tool.goes_out:
            return None
        address = prepared.arguments.get(tool.goes_out)
        if not address or (isinstance(address, str) and may_open(address, await self.ledger.seen())):
            return None
        log.warning("tool.address_made_up", run=self.run.id, tool=tool.name)
        message = (
            f"Only an address that a person wrote in this thread, or that a tool's result shows, may be opened, exactly as it stands there: {tool.goes_out!r} "
            "is neither. It was not opened. Ask the person to paste the address if they want it read."
        )
        return ToolResult.fail(tool.name, ErrorCode.PERMISSION_DENIED, message, Suggestion.ASK_PERSON)

    def _refused(self, call: Call, prepared: Prepared) -> ToolResult | None:
        tool, thread = prepared.tool, self.ledger.session.thread
        said = self.deps.guardrails.refusal(tool, prepared.arguments, thread=thread, actor=self.run.requested_by, groups=self.run.groups)
        if said is not None:
            return ToolResult.fail(tool.name, ErrorCode.PERMISSION_DENIED, said, Suggestion.GIVE_UP)
        if any(each.tool == tool.name for each in self.cooling):
            return resting(tool.name)
        return given_up(self.history, tool.name, call.key)

    async def _write(self, call: Call, prepared: Prepared) -> Call:
        run, deps, tool = self.run, self.deps, prepared.tool
        policy = deps.approvals.policy_for(tool.name, default_expiry=deps.approval_ttl)
        if run.guest and policy.rule == "requester":
            message = "The person who asked is a guest, and only full members may approve a change, so it was not put to anyone. A colleague has to ask for it."
            return self._closed(call, ToolResult.fail(tool.name, ErrorCode.PERMISSION_DENIED, message, Suggestion.ASK_PERSON))
        if call.key in self._writes:
            message = "This answer asks for exactly this change twice. It is taken once; this second one was not run and nobody was asked about it."
            return self._closed(call, ToolResult.fail(tool.name, ErrorCode.REFUSED, message, Suggestion.GIVE_UP))
        self._writes.add(call.key)
        approval = self._approval(call, prepared, policy)
        # A standing permission lets a request do a thing once; whether it is to be done again is a question for a person.
        before = any(past.write and past.key == call.key for past in self.history)
        if not before and policy.always_for > 0 and not run.guest and not call.repaired and deps.grants is not None:
            thread = self.ledger.session.thread
            try:
                found = await deps.grants.find(run.requested_by, thread.channel_id)
            except GrantsDown as error:
                log.warning("grants_down", reason=str(error))  # the person is asked, as without a permission
                found = []
            grant = fitting(found, tool, prepared.arguments, thread=thread, actor=run.requested_by, now=time())
            if grant is not None:
                log.info("tool.approved", run=run.id, call=call.id, tool=tool.name, grant=grant.id)
                allowed = granted(grant, policy, approval_id=approval.id, digest=approval.digest)
                return call.model_copy(update={"status": Status.APPROVED, "approval": allowed})
        return call.model_copy(update={"status": Status.WAITING, "approval": approval})

    def _approval(self, call: Call, prepared: Prepared, policy: Policy) -> Approval:
        signed = digest(prepared.tool, prepared.arguments, self.ledger.session.thread.id, self.run.id, call.id)
        return Approval(id=secrets.token_urlsafe(15), digest=signed, policy=policy, expires_at=time() + policy.expires_after)

    def _closed(self, call: Call, result: ToolResult) -> Call:
        name = call.tool if call.tool in self.deps.registry or is_meta(call.tool) else "unknown"
        self.deps.engine.count(name, result)
        told = log.bind(run=self.run.id, call=call.id, tool=name, duration=0.0, attempts=0)
        if not result.success:
            told.info("tool.invalid", code=result.error_code)
        elif result.cached:
            told.info("tool.cached", in_run=True)
        ended = {"status": Status.DONE if result.success else Status.FAILED, "result": result}
        # Its key stands for its arguments from here on, and what the model wrote is kept as it was: the state need not hold them twice.
        return call.model_copy(update=ended if call.approval is not None else {**ended, "arguments": None})


def _with_note(call: Call, note: str) -> Call:
    if call.result is None:
        raise ValueError("only a call that has ended can carry a note")
    return call.model_copy(update={"result": call.result.model_copy(update={"note": f"{call.result.note} {note}".strip()})})


def _once_more(tool: str, known: dict[str, Any]) -> ToolResult:
    """What the model read of a call, as the answer to the same call again; the pages of a large one are still kept."""
    note = "Answered from the same call earlier in this request."
    pages: dict[str, Any] = {name: known[name] for name in ("truncated", "result_id", "pages") if name in known}
    if "result_id" in pages:
        note += f' For the rest: read_more(result_id="{pages["result_id"]}", page=2).'
    return ToolResult.ok(tool, known.get("data"), cached=True, untrusted="from_outside" in known, note=note, **pages)
