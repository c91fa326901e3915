"""The agent as pure functions over a session's saved state: `fold`, `decide`, `record`.

`fold` takes in what happened, `decide` names the next action, `record` takes in what came of it. No clock, no
network, no randomness: the same values give the same answer in every process, which is what lets any replica go on
where another one died. Waiting for a person is not a feature of a loop here; it is the case where nothing is left to
decide. This module holds `decide`; the other two have modules of their own and are named here for the reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot import actions as act
from bot.fold import fold
from bot.record import record
from bot.session_ops import all_runs, card_state, unrecorded
from bot.state import Run, Session, Status
from memory.transcript import ITEM

__all__ = ["Budget", "decide", "fold", "record"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may use. `seconds` counts active time only, not time spent waiting for a person."""

    model_calls: int = 12
    tool_calls: int = 24
    tokens: int = 200_000
    seconds: float = 300.0
    look_weight: int = 0
    """UTF-8 bytes of unsummarised items from which on somebody looks whether the thread has grown too long; 0: nobody does."""
    searches: bool = False
    """Whether summarised items are made findable by their meaning."""
    learns: bool = False
    """Whether what people tell about themselves is read, when nobody waits."""

    def used_up(self, run: Run, now: float) -> bool:
        """Whether the run may make no more ordinary model calls."""
        used = run.usage
        return used.model_calls >= self.model_calls or used.tool_calls >= self.tool_calls or used.tokens >= self.tokens or self.time_left(run, now) <= 0

    def time_left(self, run: Run, now: float) -> float:
        """Seconds the run may still take, negative when it is over its time."""
        return self.seconds - run.usage.seconds - (now - run.active_since)


def decide(session: Session, now: float, budget: Budget) -> act.Action:
    """The next thing to do. `now` in seconds since the epoch."""
    if session.notices:
        return act.SendNotice(session.notices[0])
    if session.history_from:
        return act.ReadHistory(session.history_from)
    run = session.run
    if run is not None and (step := _urgent(run)) is not None:
        return step
    for other in all_runs(session):
        for call in other.calls:
            state = card_state(call)
            if call.approval is not None and call.approval.card_ts and call.approval.shown != state:
                return act.UpdateCard(other, call, state)
    if run is None:
        return _upkeep(session, budget, now) or act.Wait(_wake(session, budget))
    if run.answer is not None:
        return act.Finish(run) if run.parts_posted < 0 else act.Reply(run)
    if run.retry_at > now:
        return act.Wait(run.retry_at)
    return act.CallModel(run, final=budget.used_up(run, now))


def _urgent(run: Run) -> act.Action | None:
    """Calls come before cards are redrawn: what was approved runs first."""
    approved = [call for call in run.calls if call.status is Status.APPROVED]
    if approved:
        return act.RunTools(run, (approved[0],))
    reads = tuple(call for call in run.calls if call.status is Status.PROPOSED)
    if reads:
        return act.RunTools(run, reads)
    for call in run.calls:
        if (call.status is Status.WAITING and call.approval is not None and not call.approval.card_ts) or unrecorded(call):
            return act.AskApproval(run, call)
    return None


def _upkeep(session: Session, budget: Budget, now: float) -> act.Action | None:
    """What is done for memory when nobody waits for anything."""
    mark = session.memory
    if session.redactions:
        return act.Redact(session.redactions[0])
    if budget.learns and mark.learned < session.log_length + len(session.pending) and mark.learn_at <= now:
        return act.Learn()
    weight = mark.weight + sum(len(ITEM.dump_json(item)) for item in session.pending)
    if budget.look_weight and weight >= max(mark.look_at, budget.look_weight):
        return act.Compact()
    return act.Index() if budget.searches and mark.indexed < mark.covered else None


def _wake(session: Session, budget: Budget) -> float | None:
    """When something will be due without mail: an approval's end, a bare mention's patience."""
    times = [call.approval.expires_at for run in session.waiting for call in run.calls if call.status is Status.WAITING and call.approval is not None]
    times += [entry.not_before for entry in session.inbox if entry.not_before]
    if budget.learns and session.memory.learned < session.log_length:
        times += [session.memory.learn_at]
    return min(times, default=None)
