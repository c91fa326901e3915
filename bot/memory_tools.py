"""Long-term memory as the model's tools reach it: in the name of the person who asks, where they ask, and nothing else."""

from __future__ import annotations

from typing import Final

from bot.events import RoomKind
from bot.long_term import LongTerm
from bot.messages import pick
from bot.reminders import is_direct
from memory.keys import Actor, Thread
from memory.longterm.access import Reader
from memory.longterm.memories import Learned
from memory.longterm.memory import Kind, Memory
from memory.longterm.recalling import holds
from memory.longterm.store import StoreDown
from memory.longterm.telling import day
from memory.mailbox import MailboxDown
from tools.memories import MemoryPaused, MemoryUnavailable, NotRemembered

STATED: Final = (Kind.PREFERENCE, Kind.FACT, Kind.PLAN, Kind.HABIT, Kind.AGREEMENT)
SEEN: Final = (Kind.ENTITY, Kind.EPISODE)
"""What a person said of themselves, and what was seen of their work."""
_WHY = {
    "secret": "It was not kept: passwords, keys, card and identity numbers are never remembered.",
    "authority": "It was not kept: a memory can never allow anything.",
    "paused": "It was not kept: the person has paused their memory. They resume it with `/memory resume`.",
    "anothers": "It was not kept: it is about another person's private life.",
}


class MemoryForTools:
    """`tools.memories.MemoryAccess` over the one door to the memories."""

    def __init__(self, long_term: LongTerm) -> None:
        self._long_term = long_term

    async def _reader(self, actor: Actor, thread: Thread) -> Reader:
        room = RoomKind.IM if is_direct(thread.channel_id) else RoomKind.CHANNEL
        return await self._long_term.places.reader(actor, thread, room)

    def _tellable(self, memories: list[Memory], reader: Reader) -> list[Memory]:
        now = self._long_term.memories.now()
        return [m for m in memories if holds(m, now) and not reader.outsider and (reader.audiences is None or m.audience.tag in reader.audiences)]

    async def recall(self, actor: Actor, thread: Thread, question: str, limit: int) -> list[dict[str, str]]:
        """See `MemoryAccess`."""
        memories = self._long_term.memories
        try:
            reader = await self._reader(actor, thread)
            if not (await memories.settings(actor)).learning:
                raise MemoryPaused
            if question:
                found = [each.memory for each in await memories.find(actor, question, limit=3 * limit, audiences=reader.audiences)]
            else:
                found = [*(await memories.listed(actor, limit=3 * limit, kinds=STATED, audiences=reader.audiences)).memories]
                if not found:
                    found = [*(await memories.listed(actor, limit=limit, kinds=SEEN, audiences=reader.audiences)).memories]
        except StoreDown as error:
            raise MemoryUnavailable(str(error)) from error
        return [{"id": m.id, "kind": m.kind.value, "said": day(m.source_time, "UTC"), "text": m.text} for m in self._tellable(found, reader)[:limit]]

    async def remember(self, actor: Actor, thread: Thread, text: str) -> dict[str, str]:
        """See `MemoryAccess`."""
        try:
            reader = await self._reader(actor, thread)
            learned: Learned = await self._long_term.memories.add(reader, text, language=pick(text))
        except StoreDown as error:
            raise MemoryUnavailable(str(error)) from error
        if learned.memory is None:
            raise NotRemembered(_WHY.get(learned.verdict.reason, "It was not kept: nothing in it is a lasting statement of the person's own."))
        return {"id": learned.memory.id, "text": learned.memory.text}

    async def texts(self, actor: Actor, thread: Thread, ids: list[str]) -> dict[str, str]:
        """See `MemoryAccess`."""
        try:
            reader = await self._reader(actor, thread)
            found = [memory for one in ids if (memory := await self._long_term.memories.get(actor, one)) is not None]
        except StoreDown as error:
            raise MemoryUnavailable(str(error)) from error
        return {memory.id: memory.text for memory in self._tellable(found, reader)}

    async def forget(self, actor: Actor, thread: Thread, ids: list[str], mark: str) -> int:
        """See `MemoryAccess`."""
        try:
            allowed = await self._long_term.erasing.begun(actor, mark) or list(await self.texts(actor, thread, ids))
            return await self._long_term.erasing.forget_once(actor, allowed, mark=mark) if allowed else 0
        except (StoreDown, MailboxDown) as error:
            raise MemoryUnavailable(str(error)) from error
