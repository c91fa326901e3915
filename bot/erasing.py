"""Forgetting, all the way: from the store, and from everything that may carry what was forgotten.

A memory that goes takes along its history; the threads it came from and those it was used in are told to take it out of their transcripts,
summaries and facts; answers kept for repetition are dropped. Files are rewritten a little later (`scrubbed`), so that no deleted byte stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final
from uuid import uuid4

import structlog

from bot.events import Forgotten
from memory.handover import Handovers
from memory.keys import Actor, Thread
from memory.longterm.memories import Memories
from memory.longterm.memory import Memory
from memory.mailbox import Mailbox
from memory.recall_trail import RecallTrail

log = structlog.get_logger(__name__)

Use = tuple[Thread, str]
"""Where an answer was given, and the run that gave it."""
MOST_PHRASES: Final = 200
"""Phrases one event carries."""


class Erasing:
    """Deletes on behalf of a person. Raises `StoreDown`, `MailboxDown`."""

    def __init__(
        self,
        memories: Memories,
        mailbox: Mailbox,
        trail: RecallTrail,
        handovers: Handovers,
        *,
        drop_answers: Callable[[], Awaitable[object]],
        erase_space: Callable[[], Awaitable[int]],
    ) -> None:
        """`drop_answers` empties the caches of answers, `erase_space` deletes everything the workspace has beside the memories."""
        self._erase_space = erase_space
        self._handovers = handovers
        self._memories = memories
        self._mailbox = mailbox
        self._trail = trail
        self._drop_answers = drop_answers

    async def forget(self, actor: Actor, ids: Sequence[str], *, thread: Thread | None = None, also: Sequence[tuple[Thread, str]] = ()) -> list[Memory]:
        """Forget some of a person's memories; gives what was deleted. `also` are further messages that carry it, as the one that asked for it.

        The threads are told first: a memory is gone from the store only when everything else is sure to follow.
        """
        gone = await self._memories.going(actor, ids, thread=thread)
        if not gone:
            return []
        used = await self._used(actor, gone)
        await self._tell(actor, gone, used, also)
        await self._trail.note_forgotten()
        await self._memories.forget(actor, ids, thread=thread)
        await self._tell_later(actor, gone, used)
        await self._drop_answers()
        log.info("memories_forgotten", actor=actor.user_id, count=len(gone))
        return gone

    async def forget_once(self, actor: Actor, ids: Sequence[str], *, mark: str, thread: Thread | None = None, also: Sequence[tuple[Thread, str]] = ()) -> int:
        """`forget` for a request that is tried again after a crash, which `mark` names: how many were forgotten, by this try or by an earlier one."""
        begun = await self.begun(actor, mark)
        if not begun:
            begun = [memory.id for memory in await self._memories.going(actor, ids, thread=thread) if memory.id in ids]
            if not begun:
                return 0
            await self._trail.begin(actor, mark, begun, thread, also)
        if not await self.forget(actor, begun, thread=thread, also=also):
            await self._tell(actor, (), (), also)  # somebody else deleted it meanwhile, or an earlier try that did not come further
            await self._drop_answers()
        await self._trail.done(actor, mark)
        return len(begun)

    async def finish(self, *, dry: bool = False) -> int:
        """Forget what requests began to have forgotten and did not get to the end of, as the store was away; how many requests."""
        unfinished = await self._trail.unfinished()
        for each in unfinished if not dry else ():
            await self.forget_once(each.actor, each.ids, mark=each.mark, thread=each.thread, also=each.also)
            await self._trail.done(each.actor, each.mark)
        return len(unfinished)

    async def begun(self, actor: Actor, mark: str) -> list[str]:
        """What an earlier try of the request `mark` began to forget: it is forgotten, or is to be. Raises `MailboxDown`."""
        return await self._trail.begun(actor, mark)

    async def _used(self, actor: Actor, gone: Sequence[Memory]) -> list[Use]:
        """The answers that had one of these at hand: the person's own and, of a channel's agreements, everybody's there."""
        ids = {memory.id for memory in gone}
        used = [(entry.thread, entry.run_id) for entry in await self._trail.of(actor) if ids & set(entry.ids)]
        for channel in {memory.owner.id for memory in gone if memory.owner.kind == "room"}:
            used += await self._trail.agreed(Thread(team_id=actor.team_id, channel_id=channel), ids)
        return used

    async def forget_all(self, actor: Actor) -> int:
        """Forget everything of a person; how many memories."""
        gone = await self._memories.going_all(actor)
        used = [*((entry.thread, entry.run_id) for entry in await self._trail.of(actor)), *await self._used(actor, gone)]
        await self._tell(actor, gone, used, ())
        await self._trail.note_forgotten()
        deleted = await self._memories.forget_all(actor)
        await self._tell_later(actor, gone, used)
        await self._trail.forget(actor)
        await self._drop_answers()
        log.info("memories_forgotten", actor=actor.user_id, count=len(deleted))
        return len(deleted)

    async def erase_team(self, team_id: str) -> int:
        """Forget a whole workspace, threads and permissions included; how many memories, changes and settings there were."""
        await self._trail.note_forgotten()
        count = await self._memories.erase_team(team_id)
        keys = await self._erase_space()
        await self._trail.note_forgotten()
        log.info("workspace_forgotten", records=count, keys=keys)
        return count

    async def _tell_later(self, actor: Actor, gone: Sequence[Memory], told: Sequence[Use]) -> None:
        """Tell those who found one of them while it was being deleted. After that nobody finds it: an answer looks again once it has noted its use."""
        if later := [use for use in await self._used(actor, gone) if use not in told]:
            await self._tell(actor, gone, later, (), sources=False)

    async def _tell(self, actor: Actor, gone: Sequence[Memory], used: Iterable[Use], also: Sequence[tuple[Thread, str]], *, sources: bool = True) -> None:
        """Have every thread concerned take it out; `sources`: those it was said in too. A thread that has ended holds nothing."""
        said: dict[Thread, list[str]] = {}
        for memory in gone if sources else ():
            for source in (memory.source, *memory.also_said):
                said.setdefault(source.thread, []).extend([source.ts] if source.ts else [])
        for thread, ts in also:
            said.setdefault(thread, []).append(ts)
        runs: dict[Thread, list[str]] = {}
        for thread, run in used:
            said.setdefault(thread, [])
            runs.setdefault(thread, []).append(run)
        phrases = list(dict.fromkeys(phrase for memory in gone for phrase in phrases_of(memory)))
        for thread, stamps in said.items():
            if thread.channel_id:
                await self._handovers.forget(thread)  # what was kept of it when it ended
                await self._deliver(actor, thread, stamps, phrases, runs.get(thread, ()))

    async def _deliver(self, actor: Actor, thread: Thread, stamps: Sequence[str], phrases: Sequence[str], runs: Sequence[str]) -> None:
        for first in range(0, max(len(phrases), 1), MOST_PHRASES):
            key = f"forgotten:{uuid4().hex}"
            part, ts, answers = tuple(phrases[first : first + MOST_PHRASES]), tuple(dict.fromkeys(stamps)), tuple(dict.fromkeys(runs))
            event = Forgotten(thread=thread, key=key, actor=actor, ts=ts, phrases=part, runs=answers)
            await self._mailbox.deliver(thread, key, event.model_dump_json().encode(), only_if_followed=True)


def phrases_of(memory: Memory) -> list[str]:
    """The words by which what tells a memory is known again."""
    value = memory.value if len(memory.value.encode()) >= 4 else ""  # two Chinese characters, four letters: less is in every text
    return [phrase for phrase in (memory.text, value) if phrase]
