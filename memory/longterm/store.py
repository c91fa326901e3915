"""Where memories are kept: one small interface, two engines (`edge` in this process, `server` through its client).

The store knows records, not memories: a JSON payload with the few fields that are filtered by, a vector of meaning and weighted terms. Every
call names the owners it may touch. A write that returned is durable: it survives the end of the process at any moment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from memory.longterm.access import Owner

Floats = npt.NDArray[np.float32]
What = Literal["memory", "change", "settings"]

WORDS_ONLY = "words-only"
"""The name of the embedding model where there is none: such a collection has no vectors of meaning."""


class StoreDown(Exception):  # noqa: N818 - states a condition
    """The store does not answer, or not in time: go on without it."""


class StoreError(Exception):
    """The store cannot be used as it is (another model's vectors, another process's, a newer version's). One line that names the remedy."""


class StoreInUse(StoreError):  # noqa: N818 - states a condition
    """The embedded store belongs to another process, most likely a bot that runs."""


@dataclass(frozen=True, slots=True)
class Record:
    """One stored thing."""

    id: str
    """A UUID."""
    owner: Owner
    what: What
    payload: Mapping[str, Any]
    """JSON: the whole of it, and all that a search gives back."""
    audience: str = ""
    """An `Audience.tag`; filtered by, like the fields below."""
    kind: str = ""
    key: str = ""
    live: bool = True
    at: float = 0.0
    """Seconds since the epoch: when it was said (a memory's `valid_from` or `created`) or done."""
    dense: Floats | None = None
    """Shape (size,), unit length; None: it cannot be found by meaning."""
    words: Mapping[int, float] = field(default_factory=dict)
    """Weight by term number; empty: it cannot be found by words."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which records: those of these owners (never empty; no owners, no records) that fit every field given."""

    owners: tuple[Owner, ...]
    what: What = "memory"
    audiences: frozenset[str] | None = None
    """None: whatever they are. Otherwise records of a person with another audience are not there; a room's records have their room's."""
    kinds: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    live: bool | None = None
    since: float | None = None
    until: float | None = None
    """`since <= at < until`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found, with what each leg thought of it; None where that leg did not bring it among its best."""

    record: Record
    dense: float | None
    """Cosine."""
    words: float | None
    """Sum over shared terms of query weight x record weight x inverse document frequency."""


class Store(Protocol):
    """All methods but `start` raise `StoreDown` when the engine does not answer. Nothing blocks the event loop for more than a millisecond or so."""

    model: str
    """Name of the embedding model its vectors were made with, or `WORDS_ONLY`."""
    size: int
    """Numbers in a vector, 0 without vectors."""

    async def start(self) -> None:
        """Open it, make or migrate its collection. Raises `StoreError` (another model, another process, a newer schema) or `StoreDown`."""

    async def close(self) -> None:
        """Close; nothing is lost that was not closed."""

    async def put(self, records: Sequence[Record], *, existing: bool = False) -> None:
        """Write these, all or none per owner, replacing those with the same id.

        `existing`: replace only, and leave out those that are not there (any more): what was forgotten meanwhile must not come back.
        """

    async def get(self, owner: Owner, ids: Sequence[str]) -> list[Record]:
        """Those of these ids that exist and are this owner's, in the order asked, with their vectors."""

    async def search(self, where: Where, *, dense: Floats | None, words: Mapping[int, float], limit: int) -> list[Hit]:
        """The best `limit` by meaning and the best `limit` by words, each record once, in no particular order. `where` is in force inside both legs."""

    async def list(self, where: Where, *, limit: int, before: tuple[float, str] | None = None, vectors: bool = False) -> list[Record]:
        """Newest first by (`at`, id); `before`: only older ones than this place, for the next page."""

    async def count(self, where: Where) -> int:
        """How many there are, exactly."""

    async def delete(self, owner: Owner, ids: Sequence[str]) -> int:
        """Delete those of these ids that are this owner's; how many there were."""

    async def delete_owner(self, owner: Owner, *, keep: Sequence[What] = ()) -> int:
        """Delete everything of one owner but what is in `keep`; how many records."""

    async def delete_team(self, team_id: str) -> int:
        """Delete everything of one workspace; how many records."""

    def owners(self, team_id: str | None = None) -> AsyncIterator[Owner]:
        """Every owner that has a record, each once, in a fixed order."""

    async def scrub(self) -> None:
        """Rewrite what deleted records may still lie in, so that none of their bytes is left in the engine's files (embedded), or ask the server to."""

    async def stats(self) -> dict[str, float]:
        """Numbers without contents: records by `what`, bytes on disk where they are known."""
