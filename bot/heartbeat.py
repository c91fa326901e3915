"""The heart of a claim: keeps its lease alive while an action runs, and interrupts the action when that must end.

An action ends early when the mail says stop, when the words it works on were corrected, or when the lease is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from time import monotonic
from typing import Final

from pydantic import ValidationError
from structlog.contextvars import bound_contextvars

from bot import actions as act
from bot.deps import Deps
from bot.events import EVENT, Deleted, Edited, Reset, Stop, ThreadReply
from bot.ledger import Ledger
from bot.perform import perform
from bot.state import Run
from memory.mailbox import Claim, Fenced, Mailbox, MailboxDown

PATIENCE_WITH_INTERRUPTED: Final = 2.0
"""Seconds an interrupted action has to tidy up (a write under way gets a moment to end) before it is interrupted again."""


class Beat:
    """Keeps a claim's lease alive and interrupts the current action when the mail says stop, or when the lease is lost."""

    def __init__(self, mailbox: Mailbox, claim: Claim, every: float) -> None:
        self._mailbox = mailbox
        self._claim = claim
        self._every = min(every, mailbox.lease / 4)
        self._task: asyncio.Task[None] | None = None
        self._action: act.Action | None = None
        self._interrupted = False
        self._interrupted_until = 0.0

    async def during(self, action: act.Action, ledger: Ledger, deps: Deps) -> None:
        """Perform one action; an interrupted one returns early, so that the mail behind it is folded."""
        self._interrupted = False
        self._interrupted_until = 0.0
        self._action = action
        run: Run | None = getattr(action, "run", None)
        with bound_contextvars(**({"run": run.id} if run is not None else {})):  # the task takes a copy of the context with it
            self._task = asyncio.create_task(perform(action, ledger, deps))
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._interrupted or not self._task.cancelled():
                await end_all([self._task], grace=PATIENCE_WITH_INTERRUPTED)
                raise
            if self._claim.lost:
                raise Fenced(self._claim.thread.id) from None
            ledger.disturbed()
            self._claim.mail = self._claim.mail[: self._claim.taken] + await self._mailbox.unread(self._claim)
        finally:
            self._task = None

    async def run(self) -> None:
        """Beat until cancelled."""
        while not self._claim.lost:
            await asyncio.sleep(self._every)
            try:
                waiting = await self._mailbox.renew(self._claim)
                if waiting > self._claim.taken and self._concerns(await self._mailbox.unread(self._claim)):
                    self._interrupt()
            except Fenced:
                self._interrupt()
                return
            except MailboxDown:
                if monotonic() > self._claim.deadline:
                    self._claim.lost = True
                    self._interrupt()
                    return

    def _concerns(self, mail: list[bytes]) -> bool:
        for raw in mail:
            try:
                event = EVENT.validate_json(raw)
            except ValidationError:
                continue  # whoever folds it will trip over it, be counted, and set it aside
            if isinstance(self._action, act.Compact | act.Index | act.Learn):
                # Somebody wants something: tidying up is for when nobody does. What people say among themselves can wait,
                # but a summary must not be made of words that were taken back meanwhile.
                aside = isinstance(event, ThreadReply) and (event.to_others or event.from_bot)
                if not aside and not (isinstance(event, Edited | Deleted) and isinstance(self._action, act.Index | act.Learn)):
                    return True
                continue
            if isinstance(event, Stop | Reset) and event.actor.team_id == self._claim.thread.team_id:
                return True
            if isinstance(event, Edited) and isinstance(self._action, act.CallModel):
                run = self._action.run
                if event.ts == run.request_ts or event.actor == run.requested_by:
                    return True
        return False

    def _interrupt(self) -> None:
        """Once an action: a second cancellation would cut off what the first one left time for. Repeated only when that time is long over."""
        if self._task is None or self._task.done() or monotonic() < self._interrupted_until:
            return
        self._interrupted = True
        self._interrupted_until = monotonic() + PATIENCE_WITH_INTERRUPTED
        self._task.cancel()


async def end_all(tasks: Collection[asyncio.Task[None]], grace: float = 0.1) -> None:
    """End tasks: ask, leave `grace` seconds for tidying up, then ask as often as it takes.

    Before Python 3.12 `asyncio.wait_for` loses a cancellation that comes just as its work ends, and the Redis client sends
    every command through it.
    """
    wait = grace
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=wait)
        wait = 0.1
