"""The effect `Learn`: when nobody waits, what people told about themselves is read and what lasts is kept.

Only a person's own words count, said to us, as they stand after their edits: not what they forwarded, not what the bot, a tool or anybody else
said. Rules read every message; the model reads those that may hold more, in one call a person, and code checks every word of its answer. A
message that is edited is read anew, one that is deleted takes along what was learned from it. The place up to which the thread was read is
committed with the session, and the same message gives the same memories, so a crash repeats nothing that shows.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from time import time
from typing import Final

import structlog

from bot import actions as act
from bot.deps import Deps
from bot.ledger import Ledger
from bot.long_term import LongTerm
from bot.messages import pick, say
from bot.model import ModelError
from bot.permalinks import permalink
from bot.run_records import records_of
from bot.slack import SlackDown, SlackRefused
from bot.state import Notice
from bot.which_holds import DISPUTED
from memory.compaction import as_read
from memory.keys import Actor
from memory.longterm.access import Reader
from memory.longterm.candidate import Candidate, Said
from memory.longterm.memories import Learned
from memory.longterm.memory import Source
from memory.longterm.reading import parsed, request
from memory.longterm.rules import read
from memory.longterm.store import StoreDown
from memory.longterm.worth import worth_asking
from memory.redaction import GONE
from memory.transcript import AssistantMessage, Correction, Item, UserMessage

log = structlog.get_logger(__name__)

AT_ONCE: Final = 200
"""Items read in one step; more follow with the next."""
LINES_BEFORE: Final = 4
"""Items before the first, for what it answers."""
LOOK_BACK: Final = 2_000
"""Items in which the author of an edited message is looked for."""
PAUSE: Final = 30.0
"""Seconds until the next try; doubled each time the model fails."""
MOST_TRIES: Final = 5
"""After so many failures of the model it is not asked any more for these messages; a store that is away is waited for."""
PATIENCE: Final = 60.0
"""Seconds the model has."""
KNOWN_SHOWN: Final = 40
"""Known memories of which the model is shown what they are about."""


@dataclass(frozen=True, slots=True)
class _Message:
    """One message to read."""

    said: Said
    actor: Actor
    reader: Reader
    source: Source
    context: str = ""
    """What was said before it by the person or by us: kept with the memory for search. What somebody else said is theirs."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What a reading works with."""

    ledger: Ledger
    deps: Deps
    long_term: LongTerm


async def learn(ledger: Ledger, deps: Deps) -> None:
    """Read what was said since the last time. Raises `Fenced`, `MailboxDown`."""
    if ledger.session.pending:
        await ledger.commit()
    session, long_term = ledger.session, deps.long_term
    first = max(session.memory.learned, session.log_start)
    upto = min(first + AT_ONCE, session.log_length)
    if long_term is None:
        await ledger.record(act.Learned(session.log_length))
        return
    placed = await ledger.read((max(first - LINES_BEFORE, session.log_start), session.log_length))
    outcome: act.Learned | act.LearnLater
    try:
        outcome = await _learned(placed, first, upto, _Work(ledger, deps, long_term))
    except StoreDown as error:
        log.warning("not_learned", reason=str(error))
        outcome = act.LearnLater(time() + PAUSE, failed=False)
    except ModelError as error:
        log.warning("not_learned", reason=str(error), tries=session.memory.learn_tries + 1)
        outcome = act.LearnLater(time() + PAUSE * 2 ** min(session.memory.learn_tries, 7))
    await ledger.record(outcome)


async def _learned(placed: Sequence[tuple[int, Item]], first: int, upto: int, work: _Work) -> act.Learned:
    ledger, long_term = work.ledger, work.long_term
    here = [item for position, item in placed if position < upto]
    fresh = [item for position, item in placed if first <= position < upto]
    edits = [item for position, item in placed if isinstance(item, Correction) and position >= first]
    standing = as_read([*here, *edits])
    stamps = {item.ts for item in fresh if isinstance(item, UserMessage)}
    messages = [message for item in standing if (message := await _message(item, stamps, standing, work)) is not None]
    edited = await _mend(edits, stamps, placed, work)
    learned = [(message, await _by_rules(message, long_term)) for message in messages]
    if long_term.model_reads and ledger.session.memory.learn_tries < MOST_TRIES:
        async with ledger.lent():
            learned += await _by_model([*messages, *edited], work)
    await _records(fresh, work)
    count = sum(each.memory is not None for _, found in learned for each in found)
    log.info("learned", messages=len(messages), kept=count)
    return act.Learned(upto, tuple(notice for message, found in learned for each in found if (notice := _question(message, each)) is not None))


async def _message(item: Item, stamps: set[str], standing: Sequence[Item], work: _Work) -> _Message | None:
    """A person's own message to us as something to read; None for everything else."""
    if not isinstance(item, UserMessage) or item.ts not in stamps or not item.addressed or item.bot or item.own or item.earlier:
        return None
    if not item.text.strip() or item.text == GONE:
        return None
    session = work.ledger.session
    try:
        person = await work.deps.slack.person(item.actor)
    except (SlackDown, SlackRefused) as error:
        raise StoreDown(f"person not looked up: {error}") from error
    if person.is_foreign or person.is_bot:
        return None
    reader = await work.long_term.places.reader(item.actor, session.thread, session.room)
    place = standing.index(item)
    latest = next((each for each in reversed(standing[:place]) if isinstance(each, UserMessage | AssistantMessage) and each.text), None)
    before = latest.text if latest is not None else ""
    strangers = isinstance(latest, UserMessage) and latest.actor != item.actor
    language = pick(item.text, person.locale)
    direct = reader.room_type == "im"
    earlier = next((each.text for each in reversed(standing[:place]) if isinstance(each, UserMessage) and each.actor == item.actor and each.text != GONE), "")
    said = Said(text=item.text, ts=item.ts, at=_time_of(item.ts), timezone=person.timezone, language=language, before=before, earlier=earlier, direct=direct)
    link = permalink(work.long_term.places.url, session.thread, item.ts)
    source = Source(thread=session.thread, ts=item.ts, said_by=item.actor, permalink=link)
    return _Message(said, item.actor, reader, source, "" if strangers else before)


async def _by_rules(message: _Message, long_term: LongTerm) -> list[Learned]:
    found = await asyncio.to_thread(read, message.said)
    return await _kept(message, found.candidates, long_term)


async def _kept(message: _Message, candidates: Sequence[Candidate], long_term: LongTerm) -> list[Learned]:
    return await long_term.memories.learn(message.reader, candidates, message.source, context=message.context, said_at=message.said.at)


async def _by_model(messages: Sequence[_Message], work: _Work) -> list[tuple[_Message, list[Learned]]]:
    """What the model finds beside the rules: one call for each person with a message worth it. Raises `ModelError` for what may pass."""
    deps, long_term = work.deps, work.long_term
    by_person: dict[Actor, list[_Message]] = defaultdict(list)
    for message in messages:
        if worth_asking(message.said) and not message.reader.outsider and (await long_term.memories.settings(message.actor)).learning:
            by_person[message.actor].append(message)
    learned: list[tuple[_Message, list[Learned]]] = []
    for actor, own in by_person.items():
        known = (await long_term.memories.listed(actor, limit=KNOWN_SHOWN)).memories
        name = (await deps.slack.person(actor)).name
        saids = [message.said for message in own]
        answer = await _asked(request(saids, known, name=name), deps)
        found = await asyncio.to_thread(parsed, answer, saids, known)
        for message in own:
            candidates = [each for each in found.candidates if each.ts == message.said.ts]
            learned.append((message, await _kept(message, candidates, long_term)))
    return learned


async def _asked(messages: list[dict[str, str]], deps: Deps) -> str:
    try:
        async with asyncio.timeout(PATIENCE):
            return (await deps.model.ask(list(messages), [], once=True)).text
    except TimeoutError as error:
        raise ModelError("unavailable", transient=True) from error
    except ModelError as error:
        if error.transient:
            raise
        log.warning("model_did_not_read", kind=error.kind)
        return ""


async def _mend(edits: Sequence[Correction], stamps: set[str], placed: Sequence[tuple[int, Item]], work: _Work) -> list[_Message]:
    """What was learned from a message that was deleted goes, and so does what an edited one no longer says; what it says now is learned.

    Gives the edited messages as they stand now, for the model to read.
    """
    older = {edit.ts: edit for edit in edits if edit.ts not in stamps}  # of several edits of one message the last one counts
    edited: list[_Message] = []
    if not older:
        return edited
    long_term, session = work.long_term, work.ledger.session
    before = await work.ledger.read((max(session.log_start, session.log_length - LOOK_BACK), placed[0][0])) if placed else []
    authors = {item.ts: item for _, item in (*before, *placed) if isinstance(item, UserMessage)}
    stood = [item for item in as_read([item for _, item in (*before, *placed)]) if isinstance(item, UserMessage)]
    for edit in older.values():
        item = authors.get(edit.ts)
        if item is None:
            continue
        learned = await long_term.memories.from_message(item.actor, session.thread, edit.ts)
        message = None
        if edit.text:
            written = item.model_copy(update={"text": edit.text})
            own = [each for each in stood if each.actor == item.actor and each.ts < edit.ts]
            message = await _message(written, {edit.ts}, [*own, written], work)
        still = (await asyncio.to_thread(read, message.said)).candidates if message is not None else ()
        gone = [memory.id for memory in learned if memory.text not in {each.text for each in still}]
        if gone:
            await long_term.memories.withdraw(item.actor, gone, thread=session.thread)
            await long_term.trail.note_forgotten()
        if message is not None:
            await _kept(message, still, long_term)
            edited.append(message)
    return edited


async def _records(fresh: Sequence[Item], work: _Work) -> None:
    """What was done: episodes, and the state of things that tools told, by code alone."""
    ledger, long_term = work.ledger, work.long_term
    log_of_thread = as_read([item for _, item in await ledger.log()])
    made = await asyncio.to_thread(records_of, fresh, log_of_thread, ledger.session.thread, work.deps.registry)
    for actor, memories in made.items():
        reader = await long_term.places.reader(actor, ledger.session.thread, ledger.session.room)
        if not reader.outsider and memories:
            placed = [memory.model_copy(update={"audience": long_term.memories.audience(reader)}) for memory in memories]
            await long_term.memories.remember(placed, "run")


def _question(message: _Message, learned: Learned) -> Notice | None:
    """A contradiction is put to the person, privately and once; also when it was found by a reading that did not get to its end."""
    memory = learned.memory
    if memory is None or learned.verdict.step not in {"ask", "ignore"} or not memory.disputed_with:
        return None
    if (memory.source.thread, memory.source.ts) != (message.source.thread, message.source.ts):
        return None
    text = say("lt_disputed_notice", message.said.language)
    return Notice(id=f"{DISPUTED}{memory.id}", actor=message.actor, text=text)


def _time_of(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:
        return 0.0
