"""What the bot holds about a thread, put together for whoever wants to see it.

Read only, from the same stores and with the same builder that answers are made with, so that what is shown is what the model would get.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.context_of import facts_of
from bot.effects_history import MISSING
from bot.ledger import HISTORY_READ, Ledger
from bot.model import weigh
from bot.session_ops import all_runs
from bot.state import Session, StateError, load
from memory.budget import ContextBudget
from memory.context import Sources, build
from memory.keys import Actor, Thread
from memory.mailbox import Mailbox
from memory.session_memory import Fact, SessionMemory, Summary
from memory.tokens import Counter
from memory.transcript import ITEM, Item, Note, UserMessage

TITLE: Final = 60
"""Characters of a thread's title: the beginning of its first message."""
SEARCHED_FOR_TITLE: Final = 20
"""Items at the start of a thread among which its first message is looked for."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of one thread. Tokens are the model's."""

    thread: Thread
    title: str
    summary: Summary
    facts: tuple[Fact, ...]
    window: int
    used: Mapping[str, int]
    """By share: `system`, `long_term`, `session`, `current`, `answer`."""
    allotted: Mapping[str, int]
    verbatim: int
    """Messages that are carried word by word."""
    covered: int
    """Messages that only summary, facts and search speak for."""
    compacted_at: float
    """Seconds since the epoch; 0: never."""
    by: str
    tokens_before: int
    tokens_after: int
    partial: bool
    """What was said before the bot came could be read only in part."""


class Holding:
    """Reads what is held. `fixed` gives the tokens that system prompt and tools take in a session."""

    def __init__(self, mailbox: Mailbox, budget: ContextBudget, count: Counter, fixed: Callable[[Session, Counter], int]) -> None:
        self._mailbox = mailbox
        self._budget = budget
        self._count = count
        self._fixed = fixed

    async def held(self, thread: Thread) -> Held | None:
        """What is held about a thread; None when there is nothing. Raises `MailboxDown`."""
        session = await self._session(thread)
        if session is None:
            return None
        memory = await Ledger.remembered(self._mailbox, session)
        pins = [(pin, pin + 1) for pin in memory.pins]
        first = max(memory.covered, session.log_length - HISTORY_READ)
        raw = await self._mailbox.read_log(thread, *pins, (first, session.log_length))
        title, partial = await self._beginning(session)
        placed = [(at, ITEM.validate_json(item)) for at, item in raw]
        return await asyncio.to_thread(self._put_together, session, memory, placed, title, partial=partial)

    async def recent(self, team_id: str, channel_id: str, limit: int = 10) -> list[tuple[Thread, float, str]]:
        """The channel's threads in which the bot was last active, newest first: each with the time (s) and a title. Raises `MailboxDown`."""
        found = []
        for each, at in await self._mailbox.recent(Thread(team_id=team_id, channel_id=channel_id), limit):
            session = await self._session(each)
            if session is not None:
                title, _ = await self._beginning(session)
                found.append((each, at, title))
        return found

    async def _session(self, thread: Thread) -> Session | None:
        document = await self._mailbox.read_document(thread)
        try:
            return load(document) if document else None
        except StateError:
            return None

    async def _beginning(self, session: Session) -> tuple[str, bool]:
        """A title from the first thing asked, and whether the history was read in part only."""
        raw = await self._mailbox.read_log(session.thread, (session.log_start, session.log_start + SEARCHED_FOR_TITLE))
        items = [ITEM.validate_json(item) for _, item in raw]
        partial = any(isinstance(item, Note) and item.text.startswith(MISSING) for item in items)
        said = [item for item in items if isinstance(item, UserMessage) and item.text.strip()]
        first = next((item for item in said if item.addressed and not item.own), said[0] if said else None)
        text = " ".join(first.text.split()) if first is not None else ""
        return (text if len(text) <= TITLE else text[: TITLE - 1] + "…"), partial

    def _put_together(self, session: Session, memory: SessionMemory, placed: Sequence[tuple[int, Item]], title: str, *, partial: bool) -> Held:
        count = self._count
        items = [item for _, item in placed]
        facts = facts_of(memory, [item for at, item in placed if at >= memory.covered])
        run = session.run
        asked = next((item for item in reversed(items) if isinstance(item, UserMessage) and item.addressed and not item.own), None)
        nobody = Actor(team_id=session.thread.team_id, user_id="")
        sources = Sources(
            fixed=self._fixed(session, count),
            memory=memory,
            log=items,
            facts=facts,
            requester=run.requested_by if run is not None else asked.actor if asked is not None else nobody,
            request_ts=run.request_ts if run is not None else "",
            current_run=run.id if run is not None else "",
            open_calls=[call.id for each in all_runs(session) for call in each.calls if call.open],
        )
        context = build(sources, self._budget, weigh=lambda item: weigh(item, count), count=count)
        spoken = [item for item in items if not isinstance(item, Note)]
        return Held(
            thread=session.thread,
            title=title,
            summary=memory.summary,
            facts=facts,
            window=self._budget.window,
            used={**context.used, "answer": 0},
            allotted=context.allotted,
            verbatim=max(len(spoken) - context.compressed, 0),
            covered=max(memory.covered - session.log_start - len(memory.pins), 0) + context.compressed,
            compacted_at=memory.compacted_at,
            by=memory.by,
            tokens_before=memory.tokens_before,
            tokens_after=memory.tokens_after,
            partial=partial,
        )
