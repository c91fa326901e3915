"""When it is not clear which order or which reminder is meant: the demo model's question with choices.

What can be chosen comes from the conversation or from a list that is looked up first. With one candidate there is
nothing to ask. The answer comes back as the result of the question; without one, the person's next message is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from playground.demo_offer import Offer
from playground.demo_patterns import ORDINALS
from playground.demo_recall import short, small_talk
from playground.demo_results import report, what
from playground.demo_transcript import Called, Transcript, order_ids, reminder_rows
from playground.demo_wish import Wish
from playground.demo_words import Language, say

ASK_PERSON: Final = "ask_person"
MAX_CHOICES: Final = 8
_LABEL: Final = 75
"""Characters of a choice."""
_UNCLEAR: Final = frozenset({"which_of", "which_order", "which_reminder"})
_FINISHED: Final = {
    "cancel_order": ("shipped", "delivered", "cancelled", "returned"),
    "change_shipping_address": ("packed", "shipped", "delivered", "cancelled", "returned"),
}
"""States in which an order is not offered for a change."""


@dataclass(frozen=True, slots=True)
class Next:
    """What to do about an unclear wish: go on with it (`wish`), call a tool first (`tool`), or say something (`text`, "" for nothing)."""

    text: str = ""
    wish: Wish | None = None
    tool: str = ""
    arguments: dict[str, Any] | None = None


class Chooser:
    """Clears up the wishes of one request. `asked` are the questions it has put already, the oldest first; each is used once."""

    def __init__(self, transcript: Transcript, offer: Offer, asked: list[Called], language: Language, *, more: bool) -> None:
        self._transcript = transcript
        self._offer = offer
        self._asked = asked
        self._language = language
        self._more = more
        """Whether the person has written on since."""
        self.looked_up: set[str] = set()
        """Tools whose result served to find out what can be chosen."""

    def clears(self, wish: Wish) -> bool:
        """Whether a wish's question can be put with choices; else it is asked in words."""
        if wish.ask not in _UNCLEAR:
            return False
        return wish.ask == "which_reminder" or self._offer.offers(ASK_PERSON)

    def next(self, wish: Wish) -> Next:
        """The next step towards a clear wish."""
        candidates = self._candidates(wish)
        if isinstance(candidates, Next):
            return candidates
        if self._asked:
            return self._answered(wish, self._asked.pop(0), candidates)
        if len(candidates) == 1:
            return Next(wish=self._with(wish, candidates[0][1]))
        if not self._offer.offers(ASK_PERSON):
            return Next(text=say(wish.ask, self._language, orders="; ".join(f"{number}. {label}" for number, (label, _) in enumerate(candidates, 1))))
        question = say(f"ask_{wish.tool}", self._language)
        return Next(tool=ASK_PERSON, arguments={"question": question, "choices": [label for label, _ in candidates[:MAX_CHOICES]]})

    def _candidates(self, wish: Wish) -> list[tuple[str, str]] | Next:
        """What the wish may be about, as `(label, value)`."""
        orders = wish.tool != "cancel_reminder"
        if orders and wish.choices:
            return [(each, each) for each in wish.choices]
        lookup = "list_orders" if orders else "list_reminders"
        found = next((call for call in reversed(self._transcript.turn_calls) if call.name == lookup), None)
        if found is None:
            return Next(tool=lookup, arguments={})
        self.looked_up.add(lookup)
        if orders:
            rows = [(each, each) for each in _open_orders(wish.tool, found)]
        else:
            hint = wish.choices[0] if wish.choices else ""
            every = reminder_rows(found)
            one = chosen(hint, every, orders=False) if hint else ""
            rows = _labelled([row for row in every if hint.lower() in row[0].lower()] or [row for row in every if row[1] == one] or every)
        return rows or Next(text=report(found, self._language))

    def _answered(self, wish: Wish, call: Called, candidates: list[tuple[str, str]]) -> Next:
        if not call.success:
            key = "not_answered" if call.code == "EXPIRED" else ""
            meant = what(wish.tool, wish.arguments, self._language)
            return Next(text=say(key, self._language, what=meant) if key else report(call, self._language))
        answer = call.data.get("answer") if isinstance(call.data, dict) else None
        if not isinstance(answer, str) or not answer.strip():
            labels = ", ".join(label for label, _ in candidates)
            return Next(text="" if self._more else say("which_of" if wish.tool != "cancel_reminder" else "which_reminder", self._language, orders=labels))
        value = chosen(answer, candidates, orders=wish.tool != "cancel_reminder")
        if value:
            return Next(wish=self._with(wish, value))
        return Next(text=small_talk(answer, self._language) or say("no_such_choice", self._language, answer=short(answer)))

    def _with(self, wish: Wish, value: str) -> Wish:
        return replace(wish, ask="", arguments={**wish.arguments, "reminder_id" if wish.tool == "cancel_reminder" else "order_id": value})


def chosen(answer: str, candidates: list[tuple[str, str]], *, orders: bool) -> str:
    """The value that an answer means: a choice's own words, an order's number, or "the second one"; "" for none of those."""
    said = answer.strip().lower()
    exact = next((value for label, value in candidates if said in (label.lower(), value.lower())), "")
    if exact or (orders and order_ids(answer)):
        return exact or order_ids(answer)[0]
    number = next((number for word, number in ORDINALS.items() if word in said), None)
    return candidates[number][1] if number is not None and -len(candidates) <= number < len(candidates) else ""


def still_open(tool: str, found: Called) -> list[str]:
    """The orders of a list that `tool` can still do something about."""
    return [str(row["order_id"]) for row in _order_rows(found) if row.get("status") not in _FINISHED.get(tool, ())]


def _open_orders(tool: str, found: Called) -> list[str]:
    """The same, or all of them when there is none: the refusal then says why."""
    return still_open(tool, found) or [str(row["order_id"]) for row in _order_rows(found)]


def _order_rows(found: Called) -> list[dict[str, Any]]:
    rows = found.data.get("orders") if isinstance(found.data, dict) else found.data
    return [row for row in rows if isinstance(row, dict) and row.get("order_id")] if isinstance(rows, list) else []


def _labelled(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Reminders by their words; those that say the same get their id as well."""
    labels = [short(text, _LABEL - 16) or "…" for text, _ in rows]
    return [(label if labels.count(label) == 1 else f"{label} ({ident})", ident) for label, (_, ident) in zip(labels, rows, strict=True)]
