"""What a request says about memory itself is done before the model is asked: "remember that I hate rain", "忘掉我对花生过敏".

By rules, from the person's own message, without a model: what they ask for explicitly must not depend on one. What came of it is told to the
model in codes and shown under the answer. Everything here may be repeated after a crash: the same message gives the same memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from bot import actions as act
from bot.ledger import Ledger
from bot.long_term import LongTerm
from bot.permalinks import permalink
from bot.remembering import own_words
from bot.state import Run
from memory.compaction import as_read
from memory.longterm.access import Reader
from memory.longterm.asking import understood
from memory.longterm.candidate import Said, Wish
from memory.longterm.memories import Learned
from memory.longterm.memory import Memory, Source
from memory.longterm.question import Question
from memory.longterm.rules import read
from memory.longterm.store import StoreDown
from memory.longterm.wishes import wish
from memory.redaction import Redactor
from memory.terms import terms
from memory.transcript import UserMessage

log = structlog.get_logger(__name__)

PATIENCE: Final = 4.0
"""Seconds an answer waits for what was asked of memory; what was not done by then is said, and read again afterwards."""

KNOWN: Final = 200
"""Memories of a person, the newest, among which one is looked for by what it is about."""
AGREED: Final = 200
"""Agreements of a channel, the newest, among which the one that is to be forgotten is looked for."""

_CODES = {"add": "kept", "update": "kept", "supersede": "kept", "reinforce": "known", "ignore": "known", "ask": "disputed"}


async def honoured(action: act.CallModel, ledger: Ledger, long_term: LongTerm) -> act.CallModel:
    """The action, with its run as it stands once an explicit wish was seen to; unchanged when there is none. Raises `Fenced`, `MailboxDown`."""
    run = action.run
    items = [item for _, item in await ledger.log()]
    text, _ = own_words(items, run.requested_by, run.request_ts)
    asked = wish(text) if text else None
    if asked is None:
        return action
    said = [item for item in as_read(items) if isinstance(item, UserMessage) and item.actor == run.requested_by and not (item.own or item.bot)]
    own = [item for item in said if item.ts <= run.request_ts]
    try:
        reader = await long_term.places.reader(run.requested_by, ledger.session.thread, ledger.session.room)
        if reader.outsider:
            return action
        doing = _remember if asked.what == "remember" else _forget
        async with asyncio.timeout(PATIENCE):
            outcome = await doing(asked, run, own, reader, long_term)
    except (StoreDown, TimeoutError) as error:
        log.warning("wish_not_honoured", reason=str(error) or "too slow")
        begun = asked.what == "forget" and await long_term.erasing.begun(run.requested_by, run.id)
        outcome = act.Wished(("forgetting" if begun else "down",))  # what was begun is brought to its end by the clock
    if outcome is None:
        return action
    log.info("wish", what=asked.what, came_of=outcome.noted)
    await ledger.record(outcome)
    current = ledger.session.run
    return act.CallModel(current if current is not None else run, action.final)


async def _remember(asked: Wish, run: Run, own: Sequence[UserMessage], reader: Reader, long_term: LongTerm) -> act.Wished | None:
    back = asked.back and not asked.content
    if back and len(own) < 2:
        return None  # it means something the person did not say themself: the model has to ask
    message = own[-2] if back else own[-1]
    before = own[-2].text if len(own) > 1 and not back else ""
    at, direct = float(message.ts), reader.room_type == "im"
    said = Said(text=message.text, ts=message.ts, at=at, timezone=run.timezone, language=run.locale, before=before, earlier=before, direct=direct)
    found = await asyncio.to_thread(read, said)
    candidates = [each.model_copy(update={"explicit": True}) for each in found.candidates]
    if not candidates:
        return act.Wished((f"refused:{found.refused[0].value}" if found.refused else "refused:nothing",))
    link = permalink(long_term.places.url, reader.thread, message.ts)
    source = Source(thread=reader.thread, ts=message.ts, said_by=run.requested_by, permalink=link)
    learned = await long_term.memories.learn(reader, candidates, source, context=before, said_at=at, asked_at=float(run.request_ts))
    if not learned:  # the other reason: something of the very message they point to was forgotten
        paused = not (await long_term.memories.settings(run.requested_by)).learning
        return act.Wished(("paused" if paused else "refused:nothing",))
    kept = tuple(each.memory.id for each in learned if each.memory is not None)
    return act.Wished(tuple(dict.fromkeys(_code(each) for each in learned)), kept)


def _code(learned: Learned) -> str:
    return _CODES[learned.verdict.step]


async def _forget(asked: Wish, run: Run, own: Sequence[UserMessage], reader: Reader, long_term: LongTerm) -> act.Wished | None:
    if asked.everything:
        return act.Wished(("everything",))
    ids = await long_term.erasing.begun(run.requested_by, run.id)  # by an earlier try of this request, which broke off
    if not ids:
        matching = await _matching(asked, own, reader, long_term)
        if not matching:
            return act.Wished(("nothing",))
        if len({memory.key for memory in matching}) > 1:
            return act.Wished(("unclear",))
        ids = [memory.id for memory in matching]
    # The message that asks for it tells it too.
    also = [(reader.thread, run.request_ts)]
    room = reader.thread if reader.room_type != "im" else None
    count = await long_term.erasing.forget_once(run.requested_by, ids, mark=run.id, thread=room, also=also)
    return act.Wished(("forgotten",) if count else ("nothing",))


async def _matching(asked: Wish, own: Sequence[UserMessage], reader: Reader, long_term: LongTerm) -> list[Memory]:
    if asked.content:
        named = await _of_key(asked.content, reader, long_term)
        if named:
            return named
        found = [each.memory for each in await long_term.memories.find(reader.actor, asked.content, sure=False)]
        if reader.room_type != "im":  # what they said that the channel agreed is theirs to take back, there
            agreed = (await long_term.memories.room_listed(reader.thread, limit=AGREED)).memories
            found += [memory for memory in agreed if memory.source.said_by == reader.actor]
        return [memory for memory in found if _same(asked.content, memory)]
    stamps = {message.ts for message in own[-4:]}
    latest = (await long_term.memories.listed(reader.actor)).memories
    said_here = [memory for memory in latest if memory.source.thread == reader.thread and memory.source.ts in stamps]
    newest = max((memory.source.ts for memory in said_here), default="")
    return [memory for memory in said_here if memory.source.ts == newest]


async def _of_key(content: str, reader: Reader, long_term: LongTerm) -> list[Memory]:
    """What is named by what it is ("my allergy", "where I live"); of several that which is named besides ("my peanut allergy")."""
    exact = understood(Question(reader=reader, text=content)).exact
    if not exact:
        return []
    known = (await long_term.memories.listed(reader.actor, limit=KNOWN)).memories
    meant = [memory for memory in known if any(memory.key == key or memory.key.startswith(f"{key}:") for key in exact)]
    said = set(terms(content))
    return [memory for memory in meant if said & set(terms(memory.value))] or meant


def _same(content: str, memory: Memory) -> bool:
    """Whether what is to be forgotten is this memory: each tells the other, in the sense in which forgetting looks for it."""
    return Redactor((), [content]).tells(memory.text) or Redactor((), [memory.text]).tells(content)
