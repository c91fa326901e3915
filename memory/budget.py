"""The model's window, shared out: how many tokens of a request may be system prompt, long-term memory, conversation and current message.

The shares are what each part may count on, not what it must use. What the small parts leave unused goes to the conversation (the session);
what they need beyond their share is taken from it. The answer's share is never lent: a request that fills the window to the brim
leaves the model nothing to answer with. Everything here is arithmetic on plain numbers of tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Final, Self

_EPSILON = 1e-9
STEP: Final = 500
"""Tokens to which the size of system prompt and tools is rounded up where a steady figure is wanted."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of the window, each between 0 and 1. Together at most 1; what is missing to 1 is a margin nobody uses."""

    system: float = 0.10
    long_term: float = 0.15
    session: float = 0.50
    current: float = 0.05
    answer: float = 0.20

    def __post_init__(self) -> None:
        """Raise ValueError for a share that is not above 0, or shares that are more than the whole."""
        for name, value in self._named():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"the share of {name} must be above 0")
        if sum(value for _, value in self._named()) > 1 + _EPSILON:
            raise ValueError("the shares must not add up to more than 100")

    def _named(self) -> list[tuple[str, float]]:
        return [(field.name, float(getattr(self, field.name))) for field in fields(self)]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Shares from percent as an operator writes them: "system=10,session=50"; those not named keep their default.

        Raises ValueError with one sentence for a person.
        """
        known = {field.name for field in fields(cls)}
        given: dict[str, float] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, number = map(str.strip, part.partition("="))
            if name not in known:
                raise ValueError(f"{name[:40]} is no part of the context; the parts are {', '.join(field.name for field in fields(cls))}")
            if name in given:
                raise ValueError(f"{name} is given twice")
            try:
                given[name] = float(number.removesuffix("%")) / 100
            except ValueError:
                raise ValueError(f"{name} needs a number of percent, as in {name}=10") from None
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Allotment:
    """The window of one request, divided, in tokens. The first three are what they really take, the last two what is left and what is reserved."""

    system: int
    long_term: int
    current: int
    session: int
    """For the conversation so far: summary, facts, recalled and verbatim messages."""
    answer: int
    total_input: int
    """What system, long-term, current and session may be together."""

    @property
    def over(self) -> int:
        """Tokens by which the first three alone are more than the whole input; 0 when they fit."""
        return max(0, self.system + self.long_term + self.current - self.total_input)


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How a window of `window` tokens is used."""

    window: int
    shares: Shares = Shares()
    compact_at: float = 0.60
    """The part of the session's tokens above which the conversation is compacted, between 0 and 1."""
    keep_rounds: int = 4
    """The newest rounds that always stay word by word."""

    def __post_init__(self) -> None:
        """Raise ValueError for a figure no budget can be made of."""
        if self.window < 1:
            raise ValueError("the window must be at least one token")
        if not 0 < self.compact_at <= 1:
            raise ValueError("compact_at must be above 0 and at most 1")
        if self.keep_rounds < 1:
            raise ValueError("at least one round must be kept")

    def _tokens(self, share: float) -> int:
        return int(self.window * share + _EPSILON)

    @property
    def system(self) -> int:
        """Tokens of the system prompt's share."""
        return self._tokens(self.shares.system)

    @property
    def long_term(self) -> int:
        """Tokens of the long-term memory's share."""
        return self._tokens(self.shares.long_term)

    @property
    def session(self) -> int:
        """Tokens of the conversation's own share, before anything is lent or taken."""
        return self._tokens(self.shares.session)

    @property
    def current(self) -> int:
        """Tokens of the current message's share."""
        return self._tokens(self.shares.current)

    @property
    def answer(self) -> int:
        """Tokens kept for the model's answer."""
        return self._tokens(self.shares.answer)

    @property
    def total_input(self) -> int:
        """Tokens a request may have in all, without its answer."""
        return self.system + self.long_term + self.session + self.current

    def allot(self, *, system: int, long_term: int, current: int) -> Allotment:
        """Divide the window for a request whose three fixed parts take these tokens. The session never gets less than 0."""
        left = self.total_input - max(0, system) - max(0, long_term) - max(0, current)
        return Allotment(
            system=max(0, system),
            long_term=max(0, long_term),
            current=max(0, current),
            session=max(0, left),
            answer=self.answer,
            total_input=self.total_input,
        )

    def threshold(self, allotment: Allotment) -> int:
        """The session tokens above which the conversation is to be compacted."""
        return int(allotment.session * self.compact_at + _EPSILON)

    def steady(self, fixed: int = 0) -> int:
        """Tokens the conversation may have whatever is asked: system prompt and tools take `fixed` or their share, the message its share.

        Rounded, so that what is made to fit into a part of it does not change with every word.
        """
        system = max(self.system, -(-fixed // STEP) * STEP)
        return self.allot(system=system, long_term=0, current=self.current).session

    def shrunk(self, factor: float) -> ContextBudget:
        """The same budget for a window `factor` (between 0 and 1) as large: what to try when the endpoint says that the context overflowed."""
        if not 0 < factor < 1:
            raise ValueError("a budget shrinks by a factor between 0 and 1")
        return replace(self, window=max(1, int(self.window * factor)))
