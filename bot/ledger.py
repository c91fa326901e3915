"""A worker's copy of one claimed session, and the only way it changes it: record an outcome, commit it.

The ledger keeps the state, the part of the transcript already read, the thread's memory and the mail's position together, so that what is
committed is always one consistent step. It also answers the question every send must ask first: is this session still
mine?
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from time import monotonic, time
from typing import Any, Final

from bot import actions as act
from bot.events import Deleted, Edited
from bot.going_out import Seen
from bot.kept import MOST_ITEMS, Kept, state_of
from bot.mail import parsed, readable
from bot.recovery import disturbed, where
from bot.run import record
from bot.state import Session, dump, load
from memory import session_memory
from memory.mailbox import Claim, Fenced, Mailbox, MailboxDown
from memory.session_memory import SessionMemory
from memory.transcript import ITEM, Item, ToolMessage, arrange

HISTORY_READ: Final = 3_000
"""Items since the last compaction that are read at most for a model call: the newest. It takes a thread that grew while nobody looked to have more."""
SEND_MARGIN = 0.05
"""Part of the lease that must be left before something is sent."""


_Kept = act.Compacted | act.Indexed | act.Redacted
"""Outcomes that are written beside the state."""


class Ledger:
    """State of one claim: one action at a time works with it; what an action shows meanwhile records through the same lock."""

    def __init__(self, mailbox: Mailbox, claim: Claim, rest: Callable[[Session], act.Wait | None] = lambda _: None, *, kept: Kept | None = None) -> None:
        """`rest` tells whether nothing is left to do in a state: then the commit that leads there also gives the session back.

        `kept`: what this process remembers of threads.
        """
        self.kept = kept if kept is not None else Kept()
        self._mailbox = mailbox
        self._rest = rest
        self.released: act.Wait | None = None
        """Set when a commit gave the session back; the worker's hold is over."""
        self.claim = claim
        self.session = load(claim.document) if claim.document else Session(thread=claim.thread, born=claim.epoch)
        self._log: list[tuple[int, Item]] | None = None
        """Items with their positions: older ones that are carried whole, then those since the last compaction."""
        self._memory: SessionMemory | None = None
        self.found: list[Item] = []
        """Older items that search brought back for the current request."""
        self._one_at_a_time = asyncio.Lock()
        self.lent: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
        """While inside, the worker's place may be used for another session: for waits that nobody waits for."""

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
        kept = [outcome for outcome in outcomes if isinstance(outcome, act.Compacted | act.Indexed | act.Redacted)]
        for outcome in outcomes:
            self.session = record(self.session, outcome, time(), self.claim.epoch)
        progress = not all(isinstance(o, act.ToolsStarted | act.Posting | act.NoticeTaken | act.ProcessingShown) for o in outcomes)
        # One round trip less for every turn: what usually comes last is written together with the release.
        last = any(isinstance(o, act.PartReplied | act.CardPosted | act.CardShown) for o in outcomes)
        wait = self._rest(self.session) if last and not self.session.processing and len(self.claim.mail) <= self.claim.taken else None
        if wait is None:
            await self.commit(progress=progress, kept=kept)
        else:
            await self.commit(progress=progress, release=True, wake=wait.until)
            self.released = wait

    async def commit(self, *, progress: bool = True, release: bool = False, wake: float | None = None, kept: Sequence[_Kept] = ()) -> None:
        """Write the state, and what was made of the thread's memory (`kept`).

        A cancellation waits for the end of it, so that memory and Redis never disagree about what was written.
        """
        writing = asyncio.create_task(self._write(progress=progress, release=release, wake=wake, kept=kept))
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

    async def _write(self, *, progress: bool, release: bool, wake: float | None, kept: Sequence[_Kept]) -> None:
        """Repeated until the lease ends when Redis does not answer: the script is safe to repeat."""
        items = self.session.pending
        base = self.session.log_length
        encoded = [ITEM.dump_json(item, exclude_defaults=False) for item in items]
        mark = self.session.memory
        if items:
            mark = mark.model_copy(update={"weight": mark.weight + sum(map(len, encoded))})
        erase = self.session.erase
        after = self.session.model_copy(update={"log_length": base + len(items), "pending": (), "erase": False, "memory": mark})
        document = dump(after)
        memory = next((session_memory.dump(each.memory) for each in kept if not isinstance(each, act.Indexed) and each.memory is not None), None)
        rewrites = {at: ITEM.dump_json(item) for each in kept if isinstance(each, act.Redacted) for at, item in each.rewrites.items()}
        index = {block: data for outcome in kept for block, data in outcome.index.items()}
        pause = 0.05
        while True:
            try:
                await self._mailbox.commit(
                    self.claim,
                    document,
                    log_base=base,
                    items=encoded,
                    progress=progress,
                    release=release,
                    wake=wake,
                    log_start=after.log_start,
                    memory=memory,
                    index=index,
                    rewrites=rewrites,
                    erase=erase,
                )
                break
            except MailboxDown:
                if monotonic() + pause > self.claim.deadline:
                    self.claim.lost = True
                    raise
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
        self.session = after
        if erase or kept:
            self._log = self._memory = None
        elif self._log is not None and items:
            self._log.extend(enumerate(items, base))
            self._keep()

    def disturbed(self) -> None:
        """An action was interrupted: a message it was about to post may stand or not, so it is looked up before it is posted again."""
        self.session = disturbed(self.session)

    async def named(self, outbound_id: str) -> str | None:
        """Where the committed state, by now perhaps another worker's, says a message stands; None when it says nothing."""
        document = await self._mailbox.read_document(self.claim.thread)
        return where(load(document), outbound_id) if document else None

    def result_of(self, call_id: str) -> dict[str, Any] | None:
        """What the model read of an earlier call of this thread; None when it is not at hand or was no success."""
        for item in reversed([*(item for _, item in self._log or ()), *self.session.pending]):
            if isinstance(item, ToolMessage) and item.call_id == call_id:
                read: dict[str, Any] = json.loads(item.content)
                return read if read.get("success") else None
        return None

    async def memory(self) -> SessionMemory:
        """What the thread is remembered by; read only when there is something. Raises `MailboxDown`."""
        if self._memory is None:
            self._memory = await self.remembered(self._mailbox, self.session)
        return self._memory

    @staticmethod
    async def remembered(mailbox: Mailbox, session: Session) -> SessionMemory:
        """The memory that belongs to a committed state: of a document that is damaged or newer, only how far it reaches. Raises `MailboxDown`."""
        if not session.memory.covered:
            return SessionMemory(covered=session.log_start)
        found = session_memory.load(await mailbox.read_memory(session.thread))
        return found if found is not None else SessionMemory(covered=session.memory.covered)

    async def log(self) -> list[tuple[int, Item]]:
        """Older items that are carried whole, then everything since the last compaction (its newest `HISTORY_READ`), what is not yet committed included."""
        if self._log is None:
            async with self._one_at_a_time:  # what is shown meanwhile may commit: the log must not be read on both sides of that
                await self._read_log()
        return [*(self._log or ()), *enumerate(self.session.pending, self.session.log_length)]

    async def _read_log(self) -> None:
        if self._log is None:
            stop, state = self.session.log_length, state_of(self.session)
            known = self.kept.logs.get(self.session, state)
            if known is not None and known[1] and known[1][-1][0] < stop:
                self._memory = known[0]
                self._log = [*known[1], *await self.read((known[1][-1][0] + 1, stop))]
            else:
                memory = await self.memory()
                pins = [(pin, pin + 1) for pin in memory.pins]
                self._log = await self.read(*pins, (max(memory.covered, stop - HISTORY_READ), stop))
            self._keep()

    def _keep(self) -> None:
        """Leave a copy of the committed items for the next claim of this thread; nobody adds to it."""
        whole = self._log and self._log[-1][0] + 1 == self.session.log_length
        if self._log and whole and self._memory is not None and len(self._log) <= MOST_ITEMS:
            self.kept.logs.put(self.session, state_of(self.session), (self._memory, list(self._log)))

    async def read(self, *ranges: tuple[int, int]) -> list[tuple[int, Item]]:
        """Committed transcript items by position. Raises `MailboxDown`."""
        return [(position, ITEM.validate_json(item)) for position, item in await self._mailbox.read_log(self.claim.thread, *ranges)]

    async def index(self, blocks: Sequence[int]) -> dict[int, bytes]:
        """Blocks of the thread's search index. Raises `MailboxDown`."""
        return await self._mailbox.read_index(self.claim.thread, blocks)

    def open_calls(self) -> list[str]:
        """Ids of the calls whose results are still to come."""
        runs = ([self.session.run] if self.session.run else []) + list(self.session.waiting)
        return [call.id for run in runs for call in run.calls if call.open]

    async def edited_meanwhile(self) -> bool:
        """Whether mail has come that corrects or deletes a message; it is then there to be folded. Raises `MailboxDown`."""
        mail = await self._mailbox.unread(self.claim)
        self.claim.mail = self.claim.mail[: self.claim.taken] + mail
        return any(isinstance(parsed(raw), Edited | Deleted) for raw in mail if readable(raw))

    def open_requests(self) -> list[str]:
        """`ts` of the messages that runs not yet ended are answering."""
        runs = ([self.session.run] if self.session.run else []) + list(self.session.waiting)
        return [run.request_ts for run in runs if run.request_ts]

    async def items(self) -> list[Item]:
        """The part of the thread that is at hand, in the order a model's API takes, nothing shortened."""
        return arrange([item for _, item in await self.log()], self.open_calls())

    async def seen(self) -> Seen:
        """What decides which addresses may be opened and shown."""
        memory = await self.memory()
        return Seen([*self.found, *await self.items()], memory.links, memory.own_links)
