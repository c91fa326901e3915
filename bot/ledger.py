"""A worker's copy of one claimed session, and the only way it changes it: record an outcome, commit it.

The ledger keeps the state, the part of the transcript already read and the mail's position together, so that what is
committed is always one consistent step. It also answers the question every send must ask first: is this session still
mine?
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import monotonic, time
from typing import Any

from bot import actions as act
from bot.recovery import disturbed, where
from bot.run import record
from bot.state import Session, dump, load
from memory.context import DEFAULT_LIMIT, select
from memory.mailbox import Claim, Fenced, Mailbox, MailboxDown
from memory.transcript import ITEM, Item, ToolMessage, arrange

HISTORY_READ = 400
"""Transcript items read for a model call."""
SEND_MARGIN = 0.05
"""Part of the lease that must be left before something is sent."""


class Ledger:
    """State of one claim: one action at a time works with it; what an action shows meanwhile records through the same lock."""

    def __init__(self, mailbox: Mailbox, claim: Claim, rest: Callable[[Session], act.Wait | None] = lambda _: None) -> None:
        """`rest` tells whether nothing is left to do in a state: then the commit that leads there also gives the session back."""
        self._mailbox = mailbox
        self._rest = rest
        self.released: act.Wait | None = None
        """Set when a commit gave the session back; the worker's hold is over."""
        self.claim = claim
        self.session = load(claim.document) if claim.document else Session(thread=claim.thread)
        self._log: list[Item] | None = None
        self._log_start = 0
        self._one_at_a_time = asyncio.Lock()

    def check(self) -> None:
        """Raise `Fenced` when the session is, or may by now be, another worker's. Called just before each send."""
        if self.claim.lost or monotonic() > self.claim.deadline - self._mailbox.lease * SEND_MARGIN:
            self.claim.lost = True
            raise Fenced(self.claim.thread.id)

    async def record(self, *outcomes: act.Outcome) -> None:
        """Take outcomes into the state and commit. Raises `Fenced`, `MailboxDown`, `StateError`."""
        async with self._one_at_a_time:
            await self._record(outcomes)

    async def _record(self, outcomes: tuple[act.Outcome, ...]) -> None:
        for outcome in outcomes:
            self.session = record(self.session, outcome, time(), self.claim.epoch)
        progress = not all(isinstance(o, act.ToolsStarted | act.Posting | act.NoticeTaken | act.ProcessingShown) for o in outcomes)
        # One round trip less for every turn: what usually comes last is written together with the release.
        last = any(isinstance(o, act.PartReplied | act.CardPosted | act.CardShown) for o in outcomes)
        wait = self._rest(self.session) if last and not self.session.processing and len(self.claim.mail) <= self.claim.taken else None
        if wait is None:
            await self.commit(progress=progress)
        else:
            await self.commit(progress=progress, release=True, wake=wait.until)
            self.released = wait

    async def commit(self, *, progress: bool = True, release: bool = False, wake: float | None = None) -> None:
        """Write the state; a cancellation waits for the end of it, so that memory and Redis never disagree about what was written."""
        writing = asyncio.create_task(self._write(progress=progress, release=release, wake=wake))
        cancelled = False
        while not writing.done():
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                cancelled = True
            except Exception:  # noqa: BLE001, S110 - it is raised by `result` below
                pass
        writing.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _write(self, *, progress: bool, release: bool, wake: float | None) -> None:
        """Repeated until the lease ends when Redis does not answer: the script is safe to repeat."""
        items = self.session.pending
        base = self.session.log_length
        after = self.session.model_copy(update={"log_length": base + len(items), "pending": ()})
        document, encoded = dump(after), [ITEM.dump_json(item, exclude_defaults=False) for item in items]
        pause = 0.05
        while True:
            try:
                await self._mailbox.commit(self.claim, document, log_base=base, items=encoded, progress=progress, release=release, wake=wake)
                break
            except MailboxDown:
                if monotonic() + pause > self.claim.deadline:
                    self.claim.lost = True
                    raise
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
        self.session = after
        if self._log is not None:
            self._log.extend(items)

    def disturbed(self) -> None:
        """An action was interrupted: a message it was about to post may stand or not, so it is looked up before it is posted again."""
        self.session = disturbed(self.session)

    async def named(self, outbound_id: str) -> str | None:
        """Where the committed state, by now perhaps another worker's, says a message stands; None when it says nothing."""
        document = await self._mailbox.read_document(self.claim.thread)
        return where(load(document), outbound_id) if document else None

    def result_of(self, call_id: str) -> dict[str, Any] | None:
        """What the model read of an earlier call of this thread; None when it is not at hand or was no success."""
        for item in reversed([*(self._log or []), *self.session.pending]):
            if isinstance(item, ToolMessage) and item.call_id == call_id:
                read: dict[str, Any] = json.loads(item.content)
                return read if read.get("success") else None
        return None

    async def messages(self, limit: int = DEFAULT_LIMIT) -> tuple[list[Item], bool]:
        """The thread as a model may read it, newest part first to be kept, and whether older parts were left out."""
        if self._log is None:
            stop = self.session.log_length
            self._log_start = max(0, stop - HISTORY_READ)
            raw = await self._mailbox.read_log(self.claim.thread, self._log_start, stop)
            self._log = [ITEM.validate_json(item) for item in raw]
        runs = ([self.session.run] if self.session.run else []) + list(self.session.waiting)
        open_calls = [call.id for run in runs for call in run.calls if call.open]
        kept, cut = select(arrange([*self._log, *self.session.pending], open_calls), limit)
        return kept, cut or self._log_start > 0
