"""What one fact was said to be, statement by statement: the newest holds, and an older one holds again when the newest is taken away.

A fact carries its newest statement and a few older ones, ordered by when they were said and not by when they were read: a message that is
read late, or edited long after, never overrides what was said after it. A deleted message takes its statement with it, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from memory.session_memory import Fact, Said

MOST_OLDER: Final = 3
"""Older statements of a fact that are kept."""


@lru_cache(maxsize=4096)
def moment_of(ts: str) -> float:
    """When a message was written, in seconds since the epoch; 0 when that is not known."""
    return float(ts) if ts.isascii() and ts.replace(".", "", 1).isdigit() else 0.0


def statements(fact: Fact) -> tuple[Said, ...]:
    """All that is known to have been said of it, newest first. Of a value before whose message is not known there is no more than the value."""
    older = fact.history or ((Said(value=fact.before),) if fact.before else ())
    return (Said(value=fact.value, name=fact.name, actor=fact.actor, ts=fact.ts), *older)


def of_statements(fact: Fact, said: Sequence[Said]) -> Fact | None:
    """`fact` as these statements, newest first, make it; None when there are none."""
    if not said:
        return None
    newest, *older = said
    before = next((each.value for each in older if each.value.casefold() != newest.value.casefold()), "")
    update = {"value": newest.value, "name": newest.name, "actor": newest.actor, "ts": newest.ts, "before": before, "history": tuple(older)}
    return fact.model_copy(update=update)


def joined(old: Fact, new: Fact) -> Fact:
    """`old` with the statement of `new` in its place among the others; a message states a thing once, what it says of it last."""
    said = statements(new)[0]
    others = [each for each in statements(old) if not said.ts or each.ts != said.ts]
    when = moment_of(said.ts)
    at = next((place for place, each in enumerate(others) if not said.ts or moment_of(each.ts) <= when), len(others))
    whole = _short([*others[:at], said, *others[at:]])
    return of_statements(new if at == 0 else old, whole) or old


def without_message(facts: Iterable[Fact], ts: str) -> tuple[Fact, ...]:
    """`facts` without what was said in the message `ts`. Where it had said something anew, what was said before holds again, with who said it."""
    facts = tuple(facts)
    if ts and not any(fact.ts == ts or any(each.ts == ts for each in fact.history) for fact in facts):
        return facts  # as for nearly every message: it is read for the first time
    return _kept(facts, lambda each: each != ts)


def up_to(facts: Iterable[Fact], ts: str) -> tuple[Fact, ...]:
    """The facts as they stood when the message `ts` was written, itself included; all of them when there is no telling."""
    when = moment_of(ts)
    return _kept(facts, lambda each: moment_of(each) <= when) if when else tuple(facts)


def since(facts: Iterable[Fact], ts: str) -> tuple[Fact, ...]:
    """What of `facts` was said after the message `ts`; nothing when there is no telling."""
    when = moment_of(ts)
    return _kept(facts, lambda each: moment_of(each) > when) if when else ()


def _kept(facts: Iterable[Fact], stays: Callable[[str], bool]) -> tuple[Fact, ...]:
    """What is left of `facts` of the messages whose `ts` stay."""
    found: list[Fact] = []
    for fact in facts:
        whole = stays(fact.ts) and all(stays(each.ts) for each in fact.history) and (not fact.before or bool(fact.history) or stays(""))
        kept = fact if whole else of_statements(fact, [each for each in statements(fact) if stays(each.ts)])
        if kept is not None:
            found.append(kept)
    return tuple(found)


def _short(said: list[Said]) -> list[Said]:
    """At most the newest and `MOST_OLDER`: of one value said again and again the oldest statements leave first, for another value says more."""
    while len(said) > MOST_OLDER + 1:
        again = [place for place in range(2, len(said)) if said[place].value.casefold() == said[place - 1].value.casefold()]
        del said[again[-1] if again else -1]
    return said
