"""The sentences that rules know, a pattern for each way of saying a thing, in English and in Chinese. `rules.py` says what becomes of a match.

A pattern is tried on one clause. Its group `o` names the object ("peanuts"), `v` the value ("Leo"), `c` the case in which it holds. A rule with
`keyed` has its object in its key: what somebody likes is one matter for each thing, what they are called is one matter.
"""

from __future__ import annotations

from typing import Final

from memory.longterm.rule_answers import ANSWERS
from memory.longterm.rule_body import BODY
from memory.longterm.rule_form import Rule
from memory.longterm.rule_over import OVER
from memory.longterm.rule_person import PERSON
from memory.longterm.rule_room import CASES, ROOM
from memory.longterm.rule_taste import TASTE
from memory.longterm.rule_work import WORK

__all__ = ["CASES", "RULES", "Rule"]

RULES: Final[tuple[Rule, ...]] = (*OVER, *BODY, *PERSON, *WORK, *ANSWERS, *TASTE, *ROOM)
"""In the order in which they are tried: the first that fits a clause reads it."""
