"""How what somebody eats stands to how they eat: meat again and a vegetarian's diet, peanuts and an allergy to them. Pure.

These are two keys and one matter. A diet gives way to what is eaten since, and that to a diet taken up since; an allergy never gives way to anything but its
own denial: that somebody eats what they are allergic to is a question to be asked.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol

from memory.longterm.keys_of import thing

_MEAT: Final = frozenset(
    {"meat", "荤", "beef", "pork", "lamb", "chicken", "steak", "bacon", "ham", "sausage", "duck", "turkey", "fried chicken", "羊肉", "鸭肉", "牛排"}
)
_SEA: Final = frozenset({"fish", "seafood", "shrimp", "crab", "shellfish", "salmon", "tuna", "squid", "sushi", "三文鱼"})
_OF_ANIMALS: Final = frozenset({"egg", "milk", "dairy", "cheese", "butter", "yoghurt", "yogurt", "honey", "蜂蜜", "黄油", "酸奶"})
_LEFT_OUT: Final = {"vegetarian": _MEAT | _SEA, "vegan": _MEAT | _SEA | _OF_ANIMALS, "pescatarian": _MEAT}
"""What is not eaten under a diet."""


class Eaten(Protocol):
    """What a candidate and a memory have in common."""

    @property
    def key(self) -> str:
        """`diet`, `diet:<food>` or `allergy:<food>`."""

    @property
    def value(self) -> str:
        """Of `diet`: which."""

    @property
    def negated(self) -> bool:
        """It is not eaten, or not so any more."""


def eating(new: Eaten, old: Eaten) -> Literal["against", "unclear"] | None:
    """Whether what is eaten contradicts a diet (either the newer holds) or, perhaps, an allergy."""
    if new.negated or old.negated:
        return None
    (family, _, food), (other, _, known) = new.key.partition(":"), old.key.partition(":")
    if family != "diet":
        return None
    if food and other == "allergy":
        return "unclear" if thing(food) == thing(known) else None
    if other != "diet" or bool(food) == bool(known):
        return None
    eaten, how = (food, old.value) if food else (known, new.value)
    return "against" if thing(eaten) in _LEFT_OUT.get(how, frozenset()) else None
