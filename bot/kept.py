"""What this process remembers of threads it lately worked on, so that a turn reads only what is new: parsed items, facts, the search index.

Everything here can be had again from the store; nothing is true because it is here. An entry belongs to one state of a session (which
session it is, where its transcript begins, how far it is summarised): another replica that changes one of these makes it useless, not wrong.
Committed items never change, so of the same state more can only have been added at the end.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from bot.state import Session
from memory.session_memory import Fact, SessionMemory
from memory.transcript import Item

if TYPE_CHECKING:  # loading it takes longer than most programs start
    from memory.longterm.question import Recalled
    from memory.thread_index import ThreadIndex

INDEXES: Final = 32
"""Search indexes kept; one of 10,000 messages takes about 6 MB."""
RUNS: Final = 256
"""Runs whose memories are kept."""
THREADS: Final = 64
"""Threads whose newest items are kept."""
MOST_ITEMS: Final = 1_500
"""Items of one thread that are kept; one that has more is read again."""

State = tuple[int, ...]
T = TypeVar("T")

Placed = tuple[int, Item]


def state_of(session: Session) -> State:
    """What makes kept items and facts of a session valid."""
    return (session.born, session.log_start, session.memory.covered, session.memory.made)


class Recent(Generic[T]):
    """The latest value of each thread, as of one state of it; the least recently used make room."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, tuple[State, T]] = OrderedDict()

    def get(self, session: Session, state: State) -> T | None:
        """The thread's value, if it is kept and of this state."""
        kept = self._values.get(session.thread.id)
        if kept is None or kept[0] != state:
            return None
        self._values.move_to_end(session.thread.id)
        return kept[1]

    def put(self, session: Session, state: State, value: T) -> None:
        """Keep a value in place of the thread's former one."""
        self._values[session.thread.id] = (state, value)
        self._values.move_to_end(session.thread.id)
        while len(self._values) > self._most:
            self._values.popitem(last=False)


class Latest(Generic[T]):
    """Values by id; the oldest make room."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, T] = OrderedDict()

    def get(self, one: str) -> T | None:
        """The value of this id, if it is kept."""
        return self._values.get(one)

    def put(self, one: str, value: T) -> None:
        """Keep a value."""
        self._values[one] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def clear(self) -> None:
        """Keep none."""
        self._values.clear()


class Kept:
    """All that is kept."""

    def __init__(self) -> None:
        self.recalled: Latest[Recalled] = Latest(RUNS)
        """What long-term memory brought to a run, by its id."""
        self.indexes: Recent[ThreadIndex] = Recent(INDEXES)
        self.logs: Recent[tuple[SessionMemory, list[Placed]]] = Recent(THREADS)
        """The memory document, and the items that `Ledger.log` gives, committed ones only."""
        self.facts: Recent[tuple[int, tuple[Fact, ...]]] = Recent(THREADS)
        """The facts stated before a position."""
