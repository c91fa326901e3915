"""What is to be done with a candidate, given what is known: add, reinforce, update, supersede, ask or ignore. Pure.

A memory is only ever replaced by a saying about the same subject and the same attribute under the same condition, said later; what is merely
near stays. Everything else that could go wrong is settled towards keeping: two memories too many are merged later, one too few is lost. A
private wording never reaches more people than it was said to: what is said again before a wider audience is taken in the words said there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

from memory.longterm.access import Audience
from memory.longterm.alike import (
    alike,
    breadth,
    conditions,
    content,
    core,
    counts_differ,
    days_differ,
    denies,
    dice,
    finer_value,
    frame,
    has_object,
    is_han,
    marks,
    over,
    roles_differ,
    same_value,
    says_all_of,
    side_of,
    stance,
    subject,
    turned_round,
)
from memory.longterm.candidate import Candidate, Step, Verdict
from memory.longterm.eating import eating
from memory.longterm.memory import Kind, Memory

Relation = Literal["same", "against", "unclear"]

MOMENT: Final = 0.0005
"""Seconds within which two sayings are of one moment, which is one message: neither is the newer. Of two messages the later one is."""
REWORDED: Final = 0.8
"""Share of words from which a rewording under the same key counts as the same, `NEAR_WORDS` where it is as near in meaning as `NEAR_ENOUGH`."""
NEAR_WORDS: Final = 0.75
NEAR_ENOUGH: Final = 0.93
_NUMERIC: Final = re.compile(r"\d|day|\bweek")
_PARTS: Final = re.compile(r"[,，;；]|\bbut\b")
NAMED: Final = 0.5
"""Share of words from which a retraction under another key names what it ends."""
DETAILS: Final = 3
"""Terms of a private wording that a public one lacks, from which the private one is kept beside it."""

_COMPARED: Final[Mapping[Kind, frozenset[Kind]]] = {
    Kind.FACT: frozenset({Kind.FACT, Kind.PREFERENCE, Kind.HABIT}),
    Kind.PREFERENCE: frozenset({Kind.FACT, Kind.PREFERENCE, Kind.HABIT}),
    Kind.HABIT: frozenset({Kind.FACT, Kind.PREFERENCE, Kind.HABIT}),
    Kind.PLAN: frozenset({Kind.PLAN}),
    Kind.AGREEMENT: frozenset({Kind.AGREEMENT}),
    Kind.ENTITY: frozenset({Kind.ENTITY}),
    Kind.EPISODE: frozenset(),
}
_ENDED: Final = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.HABIT, Kind.PLAN})
"""What a person can say is over, whatever kind it was taken for."""


class Stated(Protocol):
    """What a candidate and a memory have in common."""

    @property
    def kind(self) -> Kind:
        """What sort of thing."""

    @property
    def key(self) -> str:
        """What it is about."""

    @property
    def text(self) -> str:
        """In the person's words."""

    @property
    def value(self) -> str:
        """In normal form; may be empty."""

    @property
    def negated(self) -> bool:
        """It says that something is not so."""

    @property
    def condition(self) -> str:
        """When it applies."""

    @property
    def single(self) -> bool:
        """One value at a time."""


def said_of(memory: Memory) -> float:
    """When a memory was said last, in seconds since the epoch: `updated`, which consolidation leaves alone, or `created`."""
    return max(memory.created, memory.updated)


def reconcile(
    candidate: Candidate,
    known: Sequence[Memory],
    *,
    audience: Audience,
    said_at: float,
    memory_id: str,
    near: Mapping[str, float] | None = None,
) -> Verdict:
    """Compare a candidate with what its owner's memory holds under the same key and near it. Total; the order of `known` does not matter.

    `audience`: where it was said. `said_at` in seconds since the epoch. `memory_id`: the id it would be kept under. `near`: similarity by id,
    where it is known. Superseded memories among `known` only tell that something is older than what ended it.
    """
    nearness = near or {}
    if any(memory.id == memory_id for memory in known):
        return Verdict(step="ignore", target=memory_id, reason="already read")
    ended = [memory for memory in known if memory.superseded_by and memory.valid_until is not None and said_of_ended(memory) <= said_at < memory.valid_until]
    standing = sorted((memory for memory in known if _stands(memory, said_at)), key=lambda memory: (-said_of(memory), memory.id))
    if candidate.retracts:
        return _retraction(candidate, standing, said_at)
    related = [(memory, found) for memory in standing if (found := relation(candidate, memory, near=nearness.get(memory.id, 0.0)))]
    same = [memory for memory, found in related if found == "same"]
    against = [memory for memory, found in related if found == "against"]
    if against and (not same or said_of(against[0]) > said_of(same[0])):
        return _conflict(against[0], [*against[1:], *same], said_at)
    if same:
        return _again(candidate, same, audience, said_at)
    if gone := [memory for memory in ended if relation(candidate, memory) == "same"]:
        return Verdict(step="ignore", target=gone[0].id, reason="older than what ended it")
    if unclear := [memory for memory, found in related if found == "unclear"]:
        return _asking(unclear[0], said_at, "contradicts under a condition that overlaps")
    return Verdict(step="add", reason="new")


def said_of_ended(memory: Memory) -> float:
    """When a superseded memory was first said: its `updated` is when it ended."""
    return memory.created


def relation(new: Stated, old: Stated, *, near: float = 0.0) -> Relation | None:
    """How one saying stands to another: it says the same, contradicts it, contradicts it perhaps, or (None) has nothing to do with it."""
    if old.kind not in _COMPARED[new.kind]:
        return None
    under = conditions(new.condition, old.condition)
    if under == "same" and (eaten := eating(new, old)) is not None:
        return eaten
    if subject(new.key)[0] != subject(old.key)[0]:
        return _of_other_key(new, old) if under == "same" else None
    if new.condition and old.condition and is_han(new.condition) != is_han(old.condition) and new.value and same_value(new.value, old.value):
        under = "same"  # one condition in two languages: key and value vouch for it
    return None if under == "apart" else _of_one_key(new, old, under, near)


def _of_one_key(new: Stated, old: Stated, under: str, near: float) -> Relation | None:
    """One key, under one condition (`same`) or under two that overlap."""
    if new.condition and under == "same" and (broad := breadth(new.text)) and breadth(old.text) == -broad:
        return "against"
    opposite = _opposite(new, old)
    if opposite and days_differ(new.text, old.text):
        return None  # what is not so on Mondays may be so on Fridays
    if new.value and old.value and not same_value(new.value, old.value) and not (side_of(new.value) and side_of(old.value)):
        return _of_other_value(new, old, opposite=opposite) if under == "same" else None
    if opposite:
        if not (new.value and old.value) and not has_object(new.key) and not (new.single or old.single) and not _one_subject(new, old):
            return None
        return "against" if under == "same" else "unclear"
    if under != "same":
        return None
    return _of_one_side(new, old, near)


def _of_one_side(new: Stated, old: Stated, near: float) -> Relation | None:
    """One key, no contradiction in what they affirm or deny, and no two values that differ."""
    one_language = is_han(new.text) == is_han(old.text)
    if new.value and old.value:
        return _of_one_value(new, old) if one_language else "same"
    if turned_round(new.text, old.text):
        return "against"
    if one_language and not (new.single or old.single) and (roles_differ(new.text, old.text) or _denial_apart(new.text, old.text)):
        return None  # the same words, and perhaps not the same: both are kept
    if says_all_of(new.text, old.text) or says_all_of(old.text, new.text):
        return "same"
    if new.single or old.single:
        return "against"  # reworded or changed: the newer wording holds in either case
    if is_han(new.text) != is_han(old.text):
        return "same" if has_object(new.key) and marks(new.text) == marks(old.text) else None
    return "same" if _reworded(new, old, near) else None


def _of_one_value(new: Stated, old: Stated) -> Relation | None:
    """One key and one value: the same, unless the words around the value tell of other days, or of another number of it."""
    if _NUMERIC.search(new.value) or _NUMERIC.search(old.value):
        return "same"  # the days and numbers are the value, which has been compared
    if days_differ(new.text, old.text):
        return None
    return "against" if has_object(new.key) and counts_differ(new.text, old.text) else "same"


def _denial_apart(new: str, old: str) -> bool:
    """Whether one denies and the other does not, in hardly any other words."""
    return denies(new) != denies(old) and len(_PARTS.findall(new)) == len(_PARTS.findall(old)) and dice(content(new), content(old)) >= REWORDED


def _reworded(new: Stated, old: Stated, near: float) -> bool:
    """Whether hardly a word differs, what they say of their condition apart."""
    share = dice(content(new.text) - content(new.condition), content(old.text) - content(old.condition))
    return marks(new.text) == marks(old.text) and frame(new.text) == frame(old.text) and share >= (NEAR_WORDS if near >= NEAR_ENOUGH else REWORDED)


def _of_other_value(new: Stated, old: Stated, *, opposite: bool) -> Relation | None:
    """One key, two values: only what has one value at a time is changed by it, and "not blue" says nothing against "green"."""
    if opposite or not (new.single or old.single):
        return None
    return "same" if finer_value(new.value, old.value) and not denies(new.text) else "against"


def _of_other_key(new: Stated, old: Stated) -> Relation | None:
    """Two keys: only the words can tell that they are about one thing."""
    if new.value and old.value and not same_value(new.value, old.value):
        return None
    if alike(new.text, old.text) and new.negated == old.negated:
        return "same"
    about = core(new.text)
    return "against" if about and about == core(old.text) and marks(new.text) == marks(old.text) and _opposite_texts(new, old) else None


def _opposite_texts(new: Stated, old: Stated) -> bool:
    sides = stance(new.text), stance(old.text)
    if all(sides):
        return sides[0] != sides[1]
    return not any(sides) and denies(new.text) != denies(old.text)


def _opposite(new: Stated, old: Stated) -> bool:
    """Whether one affirms what the other denies, or likes what the other dislikes."""
    sides = _side(new), _side(old)
    if all(sides):
        return sides[0] != sides[1]
    texts = stance(new.text), stance(old.text)
    if all(texts):
        return texts[0] != texts[1]
    return _denied(new) != _denied(old)


def _side(stated: Stated) -> int:
    """The side taken by a key like `hate:rain` or a value like "dislike"; 0 where neither says."""
    if value := side_of(stated.value):
        return value
    side = subject(stated.key)[1]
    if not side:
        return 0
    # "I do not like rain" under `like:rain` is the other side; under `hate:rain` the key has already said so.
    said = stance(stated.text)
    return said or (-side if side > 0 and _denied(stated) else side)


def _denied(stated: Stated) -> bool:
    return stated.negated or over(stated.text)


def _one_subject(new: Stated, old: Stated) -> bool:
    left, right = core(new.text), core(old.text)
    return bool(left and right) and (left <= right or right <= left)


def _stands(memory: Memory, said_at: float) -> bool:
    """Whether it was still so when the candidate was said."""
    return not memory.superseded_by and (memory.valid_until is None or memory.valid_until > said_at or memory.kind not in _ENDED)


def _conflict(target: Memory, others: Sequence[Memory], said_at: float) -> Verdict:
    newer = said_at - said_of(target)
    if newer <= -MOMENT:
        return Verdict(step="ignore", target=target.id, reason="older than what holds")
    if newer < MOMENT:
        return Verdict(step="ask", target=target.id, reason="contradicts what was said in the same moment")
    also = tuple(memory.id for memory in others if said_at - said_of(memory) >= MOMENT)
    return Verdict(step="supersede", target=target.id, reason="changed since", also=also)


def _asking(target: Memory, said_at: float, reason: str) -> Verdict:
    if said_at - said_of(target) <= -MOMENT:
        return Verdict(step="ignore", target=target.id, reason="older than what holds")
    return Verdict(step="ask", target=target.id, reason=reason)


def _again(candidate: Candidate, same: Sequence[Memory], audience: Audience, said_at: float) -> Verdict:
    """The same fact once more: where it was said, and how much was said, decide whether the known one changes."""
    by_width = {_width(audience, memory.audience): memory for memory in reversed(same)}
    if target := by_width.get("equal"):
        step, reason = _again_here(candidate, target)
    elif target := by_width.get("narrower"):
        # Said before fewer people than know it: what is more in it is for them alone.
        step, reason = ("add", "more detail, for fewer") if _more(candidate, target) else ("reinforce", "said again")
    elif target := by_width.get("wider"):
        step, reason = _again_wider(candidate, target)
    else:
        return Verdict(step="add", reason="said in another room")
    if step == "add":
        return Verdict(step="add", reason=reason)
    if said_at <= said_of(target):
        return Verdict(step="ignore", target=target.id, reason="already said")
    return Verdict(step=step, target=target.id, reason=reason)


def _again_here(candidate: Candidate, target: Memory) -> tuple[Step, str]:
    if _more(candidate, target):
        return "update", "more detail"
    if not (candidate.value and target.value) and is_han(target.text) == is_han(candidate.text) and _said_beyond(candidate, target):
        return "update", "reworded"
    return "reinforce", "said again"


def _again_wider(candidate: Candidate, target: Memory) -> tuple[Step, str]:
    """Said before more people than know it: they have heard it now, in the words that were used before them."""
    if target.sensitive and not candidate.explicit:
        return "reinforce", "said again"
    return ("add", "less detail, for more") if _details(target, candidate) >= DETAILS else ("update", "said to more people")


def _more(new: Stated, old: Stated) -> bool:
    """Whether the new wording says more than the old one, and all of it or nearly so."""
    if old.value and new.value and not same_value(new.value, old.value) and finer_value(new.value, old.value):
        return True
    if is_han(new.text) != is_han(old.text):
        return False
    gained, lost = (_said_beyond(one, other) for one, other in ((new, old), (old, new)))
    if says_all_of(new.text, old.text):
        return gained > 0
    return bool(new.value) and gained >= 2 and lost <= 1 and marks(old.text) <= marks(new.text)


def _said_beyond(one: Stated, other: Stated) -> int:
    """How many words (of Chinese: characters) and numbers one text has beyond another."""
    beyond = {term for term in core(one.text) - core(other.text) if not is_han(term) or len(term) == 1}
    return len(beyond) + len(marks(one.text) - marks(other.text))


def _details(longer: Stated, shorter: Stated) -> int:
    """How much the first wording says beyond the second; nothing to count between languages."""
    if is_han(longer.text) != is_han(shorter.text):
        return 0
    beyond = content(longer.text) - content(shorter.text) - content(longer.value)
    return sum(len(term) > 1 for term in beyond) + len(marks(longer.text) - marks(shorter.text))


def _width(said: Audience, kept: Audience) -> Literal["equal", "wider", "narrower", "other"]:
    """How the place where it was said compares with where it is recalled."""
    if said == kept:
        return "equal"
    order = {"private": 0, "channel": 1, "workspace": 2}
    if order[said.scope] == order[kept.scope]:
        return "other"
    return "wider" if order[said.scope] > order[kept.scope] else "narrower"


def _retraction(candidate: Candidate, standing: Sequence[Memory], said_at: float) -> Verdict:
    """It ends what it names, and only that; what it repeats is a repetition, and what nobody said before it cannot end."""
    ends = [memory for memory in standing if not _denied(memory) and _named_by(candidate, memory)]
    if ends:
        return _conflict(ends[0], ends[1:], said_at)
    again = [memory for memory in standing if _denied(memory) and subject(memory.key)[0] == subject(candidate.key)[0] and _values_meet(candidate, memory)]
    if again:
        return Verdict(step="reinforce" if said_at > said_of(again[0]) else "ignore", target=again[0].id, reason="already over")
    if candidate.negated:
        return Verdict(step="add", reason="new, as a denial")
    return Verdict(step="ignore", reason="nothing to take back")


def _named_by(candidate: Candidate, memory: Memory) -> bool:
    kinds = frozenset({Kind.AGREEMENT}) if candidate.kind is Kind.AGREEMENT else _ENDED
    if memory.kind not in kinds or not _values_meet(candidate, memory) or days_differ(candidate.text, memory.text):
        return False
    if candidate.condition and conditions(candidate.condition, memory.condition) != "same":
        return False
    sides = stance(candidate.text), _side(memory) or stance(memory.text)
    if all(sides) and sides[0] == sides[1]:  # "I no longer like it" does not end "I hate it"
        return False
    left, right = core(candidate.text), core(memory.text)
    if subject(candidate.key)[0] == subject(memory.key)[0]:
        sure = has_object(candidate.key) or candidate.single or memory.single or bool(candidate.value and memory.value)
        return sure or _one_subject(candidate, memory)
    weighty = [term for term in left if len(term) > 1]
    return left == right if len(weighty) < 2 else left <= right and dice(left, right) >= NAMED


def _values_meet(candidate: Candidate, memory: Memory) -> bool:
    if not candidate.value or not memory.value or (side_of(candidate.value) and side_of(memory.value)):
        return True
    return same_value(candidate.value, memory.value) or finer_value(memory.value, candidate.value)
