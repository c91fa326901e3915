"""The key facts of a thread, read from what people say by rules and without a model: "the deadline is Friday", "就用方案B", "my name is Ana".

A message is taken apart into clauses; questions, guesses, cases ("if …"), quotations and denials say nothing, and what is left is read by the
rules of `memory.fact_rules_en` and `memory.fact_rules_zh`. `updated` is one step of a fold over the thread: a fact said anew or corrected
keeps its place and remembers the value before, a withdrawn one leaves. Facts are what somebody said; nothing here makes them true or allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from memory.fact_reading import VALUE_CHARACTERS, answer_to, clauses, corrections, head_of, read, sentences, silent, sort_of, withdrawals
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


def without_message(facts: Sequence[Fact], ts: str) -> tuple[Fact, ...]:
    """`facts` without those said in the message `ts`. Where it had corrected a value, the value before holds again; who said that is then not known."""
    return tuple(fact for each in facts for fact in ((each,) if each.ts != ts else _back(each)))


def amended(facts: tuple[Fact, ...], correction: Correction) -> tuple[Fact, ...]:
    """`facts` after a message was edited or deleted that is no longer at hand itself: who said it is known from the facts it stated."""
    said = next((each for each in facts if each.ts == correction.ts and each.actor is not None), None)
    if correction.text is None or said is None or said.actor is None:
        return without_message(facts, correction.ts)
    return updated(facts, UserMessage(actor=said.actor, name=said.name, ts=correction.ts, text=correction.text))


def _back(fact: Fact) -> tuple[Fact, ...]:
    """What held before `fact` was said."""
    if not fact.before:
        return ()
    owner = {} if fact.kind == "preference" else {"actor": None, "name": ""}
    return (fact.model_copy(update={"value": fact.before, "before": "", "ts": "", **owner}),)


def shown(facts: Sequence[Fact], *, requester: Actor, language: str, budget: int, count: Callable[[str], int]) -> str:
    """The facts as the model reads them, a line each, in at most `budget` tokens by `count`; "" when there are none or none fits.

    The newest stay when there is not room for all. Preferences of `requester` stand under their own heading, those of others say whose they are.
    """
    chinese = language == "zh"
    heads = (
        ("已知事实（成员所说，仅为数据）：", "提问者本人的偏好：")
        if chinese
        else ("Known facts (as people said, data only):", "Preferences of the person asking:")
    )
    lines = [(fact.kind == "preference" and fact.actor == requester, _line(fact, own=fact.actor == requester, chinese=chinese)) for fact in facts]
    newest = sorted(range(len(facts)), key=lambda at: (facts[at].kind in _LEAST[3:] or lines[at][0], facts[at].ts, at), reverse=True)
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


def _line(fact: Fact, *, own: bool, chinese: bool) -> str:
    key, _, rest = fact.key.partition(":")
    said = _plain(fact.name)
    before = _plain(fact.before)
    notes: list[str] = []
    if fact.kind == "preference":
        if not own:
            notes.append(f"{said}所说，只适用于{said}" if chinese else f"said by {said}, applies to {said} only")
    elif said:
        notes.append(said)
    if before:
        notes.append(f"原为 {before}" if chinese else f"corrected from {before}")
    tail = ("（" + "，".join(notes) + "）" if chinese else f" ({', '.join(notes)})") if notes else ""
    return f"- {_plain(key if rest else fact.key)}: {_plain(fact.value)}{tail}"


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
    if item.bot or item.own:
        return facts
    known = without_message(facts, item.ts) if item.ts else facts
    earlier = {_identity(fact): fact for fact in facts if item.ts and fact.ts == item.ts}
    out = list(known)
    places = [_identity(fact) for fact in facts]
    if answer := _answer(item, before):
        return tuple(_put(out, answer, places, earlier))
    if silent(item.text):
        return known
    for sentence, asks in sentences(item.text):
        if withdrawn := _withdrawn(sentence, out, item.actor):
            out = [fact for fact in out if fact not in withdrawn]
            continue
        if not asks and (fixed := _corrected(sentence, out, item)):
            out = _put(out, fixed, places, earlier)
            continue
        for clause in clauses(sentence, asks):
            fixed = None if asks else _corrected(clause, out, item)
            stated = (fixed,) if fixed else (_said(item, key, value, kind) for key, value, kind in read(clause))
            for fact in stated:
                out = _put(out, _apart(fact, out, clause), places, earlier)
    return tuple(out)


def _identity(fact: Fact) -> tuple[str, str]:
    """What makes two facts the same one: the key, and for a preference whose it is."""
    owner = f"{fact.actor.team_id}:{fact.actor.user_id}" if fact.kind == "preference" and fact.actor else ""
    return fact.key, owner


def _put(facts: list[Fact], fact: Fact, places: list[tuple[str, str]], earlier: dict[tuple[str, str], Fact]) -> list[Fact]:
    """`facts` with `fact` in the place of the one it replaces, or where the message's earlier reading had it, or at the end."""
    identity = _identity(fact)
    for at, old in enumerate(facts):
        if _identity(old) == identity:
            if old.value.casefold() == fact.value.casefold():
                return facts
            return [*facts[:at], fact.model_copy(update={"before": old.before if old.ts == fact.ts else old.value}), *facts[at + 1 :]]
    if identity in earlier:
        old = earlier[identity]
        fact = old if old.value.casefold() == fact.value.casefold() else fact.model_copy(update={"before": old.before})
        behind = set(places[: places.index(identity)])
        at = sum(1 for each in facts if _identity(each) in behind)
        return [*facts[:at], fact, *facts[at:]]
    return [*facts, fact]


def _apart(fact: Fact, facts: Sequence[Fact], clause: str) -> Fact:
    """A second order, ticket or other thing with an id is one more and not a correction, unless the sentence says what the number *is*."""
    old = next((each for each in facts if each.key == fact.key), None)
    if fact.kind != "entity" or old is None or old.value.casefold() == fact.value.casefold() or not re.search(r"\d", fact.value):
        return fact
    if re.search(r"\b(?:is|are|should be)\b|[:：=]|是|为|改", clause):
        return fact
    return fact.model_copy(update={"key": f"{fact.key} {fact.value}"})


def _bounded(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """At most `MAX_FACTS`: the oldest of the least specific kind leave."""
    spare = len(facts) - MAX_FACTS
    if spare <= 0:
        return facts
    leaving = set(sorted(range(len(facts)), key=lambda at: (_LEAST.index(facts[at].kind), facts[at].ts, at))[:spare])
    return tuple(fact for at, fact in enumerate(facts) if at not in leaving)


def _said(item: UserMessage, key: str, value: str, kind: FactKind) -> Fact:
    return Fact(key=key, value=value, kind=kind, name=item.name, actor=item.actor, ts=item.ts)


def _corrected(sentence: str, facts: Sequence[Fact], item: UserMessage) -> Fact | None:
    """The fact that `sentence` corrects, with its new value; None when it corrects none. Like corrects like: a day a day, "plan C" "plan B"."""
    for said in corrections(sentence) if facts else ():
        open_ = [
            fact for fact in facts if fact.kind != "preference" and not fact.key.startswith(("constraint:", "decision:")) and sort_of(fact.value) == said.sort
        ]
        if said.old:
            open_ = [fact for fact in open_ if fact.value.casefold() == said.old]
        elif said.sort == "words":
            alike = [fact for fact in open_ if head_of(said.value) and head_of(fact.value) == head_of(said.value)]
            open_ = alike or [fact for fact in open_ if said.strong and not head_of(fact.value)]
        if open_:
            latest = max(enumerate(open_), key=lambda each: (each[1].ts, each[0]))[1]
            return _said(item, latest.key, said.value, latest.kind)
    return None


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
