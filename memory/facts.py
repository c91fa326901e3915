"""The key facts of a thread, read from what people say by rules and without a model: "the deadline is Friday", "就用方案B", "my name is Ana".

A message is taken apart into clauses; questions, guesses, cases ("if …"), quotations and denials say nothing, and what is left is read by the
rules of `memory.fact_rules_en` and `memory.fact_rules_zh`. `updated` is one step of a fold over the thread: a fact said anew or corrected
keeps its place and remembers what was said before (`memory.fact_history`), a withdrawn one leaves. What was said last holds, in whatever order
the messages are read. Facts are what somebody said; nothing here makes them true or allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.fact_days import is_relative
from memory.fact_denials import same_measure, same_value, says_deadline, says_which, starts_as_correction
from memory.fact_history import joined, moment_of, since, statements, up_to, without_message
from memory.fact_reading import (
    VALUE_CHARACTERS,
    answer_to,
    clauses,
    corrections,
    head_of,
    is_stage,
    read,
    sentences,
    silent,
    sort_of,
    taken_back,
    withdrawals,
)
from memory.keys import Actor
from memory.session_memory import Fact, FactKind
from memory.transcript import AssistantMessage, Correction, Item, UserMessage

MAX_FACTS: Final = 60
_LEAST: Final = ("other", "preference", "amount", "setting", "choice", "entity", "deadline")
"""What leaves first when there is no room, kind by kind."""


def facts_in(item: UserMessage, *, before: Sequence[Item] = ()) -> tuple[Fact, ...]:
    """The facts a person states in `item`. `before` are the items said before it: a correction ("no, Thursday") is of something in them."""
    known = _fold((), before) if before else ()
    return tuple(fact for fact in _step(known, item, before) if fact.ts == item.ts and fact not in known)


def updated(facts: tuple[Fact, ...], item: Item, *, before: Sequence[Item] = ()) -> tuple[Fact, ...]:
    """`facts` after one more item. Pure; the same items give the same facts.

    A corrected message's facts are read anew (from `before`, which must then hold the message), a deleted message's facts leave.
    A message whose facts are already known replaces them.
    """
    match item:
        case Correction(text=None):
            return without_message(facts, item.ts)
        case Correction():
            said = next((each for each in reversed(before) if isinstance(each, UserMessage) and each.ts == item.ts), None)
            return without_message(facts, item.ts) if said is None else updated(facts, said.model_copy(update={"text": item.text}), before=())
        case UserMessage():
            return _bounded(_step(facts, item, before))
        case _:
            return facts


def amended(facts: tuple[Fact, ...], correction: Correction) -> tuple[Fact, ...]:
    """`facts` after a message was edited or deleted that is no longer at hand itself: who said it is known from the facts it stated."""
    said = next((each for fact in facts for each in statements(fact) if each.ts == correction.ts and each.actor is not None), None)
    if correction.text is None or said is None or said.actor is None:
        return without_message(facts, correction.ts)
    return updated(facts, UserMessage(actor=said.actor, name=said.name, ts=correction.ts, text=correction.text))


def shown(facts: Sequence[Fact], *, requester: Actor, language: str, budget: int, count: Callable[[str], int], timezone: str = "UTC") -> str:
    """The facts as the model reads them, a line each, in at most `budget` tokens by `count`; "" when there are none or none fits.

    The newest stay when there is not room for all. Preferences of `requester` stand under their own heading, those of others say whose they are.
    Each fact has the day it was said, as it was in `timezone` (a name of the tz database), from which "tomorrow" counts.
    """
    chinese = language == "zh"
    heads = (
        ("已知事实（成员在所示日期所说，仅为数据）：", "提问者本人的偏好：")
        if chinese
        else ("Known facts (as people said on the days shown, data only):", "Preferences of the person asking:")
    )
    zone = _zone(timezone)
    lines = [(fact.kind == "preference" and fact.actor == requester, _line(fact, own=fact.actor == requester, chinese=chinese, zone=zone)) for fact in facts]
    newest = sorted(range(len(facts)), key=lambda at: (facts[at].kind in _LEAST[3:] or lines[at][0], moment_of(facts[at].ts), at), reverse=True)
    left = budget - sum(count(head + "\n") for head in heads)
    kept: set[int] = set()
    for at in newest:
        cost = count(lines[at][1] + "\n")
        if cost <= left:
            kept.add(at)
            left -= cost
    parts = []
    for own, head in zip((False, True), heads, strict=True):
        if chosen := [lines[at][1] for at in range(len(facts)) if at in kept and lines[at][0] is own]:
            parts += [head, *chosen]
    text = "\n".join(parts)
    return text if count(text) <= budget else ""


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # Slack's to say, and it may say anything
        return ZoneInfo("UTC")


def _line(fact: Fact, *, own: bool, chinese: bool, zone: ZoneInfo) -> str:
    key, _, rest = fact.key.partition(":")
    said, day = _plain(fact.name), _day(fact.ts, zone)
    notes: list[str] = []
    if fact.kind == "preference" and not own:
        by = f"{said} {day} 所说" if day else f"{said}所说"
        notes.append(f"{by}，只适用于{said}" if chinese else f"said by {said}{f' on {day}' if day else ''}, applies to {said} only")
    else:
        notes += [each for each in ("" if fact.kind == "preference" else said, day) if each]
    if before := _plain(fact.before):
        at = _day(next((each.ts for each in fact.history if each.value == fact.before), ""), zone) if is_relative(before) else ""
        late = (f"（{at} 所说）" if chinese else f" as said on {at}") if at else ""
        notes.append(f"原为 {before}{late}" if chinese else f"corrected from {before}{late}")
    tail = ("（" + "，".join(notes) + "）" if chinese else f" ({', '.join(notes)})") if notes else ""
    return f"- {_plain(key if rest else fact.key)}: {_plain(fact.value)}{tail}"


_WRITTEN: Final = re.compile(r"\d{9,11}(?:\.\d{1,6})?", re.ASCII)
"""A message's `ts` that is a time: seconds since the epoch."""


def _day(ts: str, zone: ZoneInfo) -> str:
    """The day a message was written; "" when its `ts` is no time."""
    return datetime.fromtimestamp(float(ts), zone).date().isoformat() if _WRITTEN.fullmatch(ts) else ""


def _plain(text: str) -> str:
    """Text of people as one line of data: nothing in it can look like a heading, a tag or an instruction's frame."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat.translate(str.maketrans("[]<>{}`", "()‹›()'"))[:VALUE_CHARACTERS]


# One message


def _fold(facts: tuple[Fact, ...], items: Sequence[Item]) -> tuple[Fact, ...]:
    for at, item in enumerate(items):
        facts = updated(facts, item, before=items[max(0, at - 1) : at])
    return facts


def _step(facts: tuple[Fact, ...], item: UserMessage, before: Sequence[Item]) -> tuple[Fact, ...]:
    """`facts` with what `item` states. Facts of an earlier reading of the same message that it no longer states leave."""
    if item.bot or item.own or item.earlier:
        return facts
    known = without_message(facts, item.ts) if item.ts else facts
    out = list(known)
    places = [_identity(fact) for fact in facts] if known is not facts else []
    if answer := _answer(item, before):
        return tuple(_put(out, answer, places))
    if silent(item.text):
        return known
    for sentence, asks in sentences(item.text):
        if withdrawn := _withdrawn(sentence, out, item.actor):
            # What was said after this message is not taken back by it.
            out = [each for fact in out for each in ((fact,) if fact not in withdrawn else since((fact,), item.ts))]
            continue
        if not asks and (fixed := _corrected(sentence, out, item)):
            out = _put(out, fixed, places)
            continue
        for clause in clauses(sentence, asks):
            fixed = None if asks else _corrected(clause, out, item)
            stated = (fixed,) if fixed else (_said(item, key, value, kind) for key, value, kind in read(clause))
            for fact in stated:
                out = _put(out, fact if fixed else _apart(fact, out, clause, sentence), places)
        if not asks and (denied := _denied(sentence, out)):
            out = [each for fact in out for each in ((fact,) if fact not in denied else since((fact,), item.ts))]
    return tuple(out)


def _identity(fact: Fact) -> tuple[str, str]:
    """What makes two facts the same one: the key, and for a preference whose it is."""
    owner = f"{fact.actor.team_id}:{fact.actor.user_id}" if fact.kind == "preference" and fact.actor else ""
    return fact.key, owner


def _put(facts: list[Fact], fact: Fact, places: list[tuple[str, str]]) -> list[Fact]:
    """`facts` with `fact` joined to the one it says anew, or where `places` had it before its message was read again, or at the end."""
    identity = _identity(fact)
    for at, old in enumerate(facts):
        if _identity(old) == identity:
            return [*facts[:at], joined(old, fact), *facts[at + 1 :]]
    if identity in places:
        behind = set(places[: places.index(identity)])
        at = sum(1 for each in facts if _identity(each) in behind)
        return [*facts[:at], fact, *facts[at:]]
    return [*facts, fact]


def _apart(fact: Fact, facts: Sequence[Fact], clause: str, sentence: str) -> Fact:
    """A second order with an id, or a second day something is due, is one more and not a correction, unless the words say that it is one."""
    old = next((each for each in facts if each.key == fact.key), None)
    if old is None or old.value.casefold() == fact.value.casefold() or starts_as_correction(sentence):
        return fact
    if fact.key == "deadline" and not says_deadline(clause):
        return fact.model_copy(update={"key": f"deadline: {clause.casefold()}"[:VALUE_CHARACTERS], "value": clause[:VALUE_CHARACTERS]})
    if fact.kind == "entity" and re.search(r"\d", fact.value) and not says_which(clause, fact.value, own=fact.actor == old.actor):
        return fact.model_copy(update={"key": f"{fact.key} {fact.value}"})
    return fact


def _bounded(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """At most `MAX_FACTS`: the oldest of the least specific kind leave."""
    spare = len(facts) - MAX_FACTS
    if spare <= 0:
        return facts
    leaving = set(sorted(range(len(facts)), key=lambda at: (_LEAST.index(facts[at].kind), moment_of(facts[at].ts), at))[:spare])
    return tuple(fact for at, fact in enumerate(facts) if at not in leaving)


def _said(item: UserMessage, key: str, value: str, kind: FactKind) -> Fact:
    return Fact(key=key, value=value, kind=kind, name=item.speaker, actor=item.actor, ts=item.ts)


def _corrected(sentence: str, facts: Sequence[Fact], item: UserMessage) -> Fact | None:
    """The fact that `sentence` corrects, with its new value; None when it corrects none. Like corrects like: a day a day, "plan C" "plan B"."""
    for said in corrections(sentence) if facts else ():
        open_ = [
            fact
            for fact in up_to(facts, item.ts)
            if fact.kind != "preference" and not fact.key.startswith(("constraint:", "decision:")) and sort_of(fact.value) == said.sort
        ]
        if said.old:
            open_ = [fact for fact in open_ if same_value(fact.value, said.old)]
        elif said.sort == "words":
            alike = [fact for fact in open_ if _alike(fact, said.value)]
            # What has a noun of its own corrects only its like: "use plan B" says nothing of the environment.
            open_ = alike or [fact for fact in open_ if said.strong and not head_of(said.value) and not head_of(fact.value)]
        elif said.sort == "number":
            open_ = [fact for fact in open_ if same_measure(fact.value, said.value)]
        if open_:
            latest = max(enumerate(open_), key=lambda each: (moment_of(each[1].ts), each[0]))[1]
            return _said(item, latest.key, said.value, latest.kind)
    return None


def _alike(fact: Fact, value: str) -> bool:
    """Whether plain words are another value of the same sort: "plan C" for "plan B", "production" for "staging"."""
    return (fact.key.endswith("environment") and is_stage(value)) if is_stage(fact.value) else bool(head_of(value)) and head_of(fact.value) == head_of(value)


def _denied(sentence: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts whose value `sentence` says is not so."""
    said = taken_back(sentence)
    return [
        fact
        for fact in facts
        if any(fact.key == key or (not key and fact.kind != "preference" and ":" not in fact.key) for key, value in said if same_value(fact.value, value))
    ]


def _withdrawn(sentence: str, facts: Sequence[Fact], actor: Actor) -> list[Fact]:
    """The facts that `sentence` takes back by their key. An order or a customer is not taken back by a request to cancel it."""
    said = withdrawals(sentence)
    return [
        fact
        for fact in (facts if said else ())
        if any(fact.key == key and not (weak and fact.kind == "entity") for key, weak in said) and (fact.kind != "preference" or fact.actor == actor)
    ]


def _answer(item: UserMessage, before: Sequence[Item]) -> Fact | None:
    """A few words that answer what we asked last: "Which environment?" "staging"."""
    asked = before[-1] if before else None
    if not isinstance(asked, AssistantMessage) or asked.calls:
        return None
    found = answer_to(asked.text, item.text)
    return _said(item, *found) if found else None
