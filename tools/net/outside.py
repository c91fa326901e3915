"""Telling one site's trouble from a house without internet, so that people are told which of the two it is.

What is remembered is little: when something outside last answered, and which sites did not since. A name that cannot be
looked up is compared with one that always can.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import Final

from tools.net.errors import FetchError, NameNotFound, Offline, Unreachable
from tools.net.names import Resolver

PROBE: Final = "example.com"
"""A name that exists as long as the internet's names do (RFC 2606)."""

NO_WAY_OUT: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EACCES, errno.EPERM})
"""What the machine itself, or the wall around it, says of a connection that leaves it."""

_RECENT = 300.0
"""Seconds for which an answer from outside proves that there is a way out."""
_ENOUGH = 3
"""Different sites that must fail in a row, with no answer in between, before the house is blamed."""


class Outside:
    """What one process knows of its way out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answered_at: float | None = None
        self._silent: set[str] = set()

    def answered(self) -> None:
        """A site answered, whatever it said."""
        self._answered_at = self._clock()
        self._silent.clear()

    async def unnamed(self, error: NameNotFound | Unreachable, resolver: Resolver) -> FetchError:
        """The error to raise for a name that could not be looked up."""
        if self._recently_answered:
            return error
        try:
            found = await resolver(PROBE)
        except (NameNotFound, Unreachable):
            return Offline()
        return error if found else Offline()

    def silent(self, host: str, error: FetchError, number: int | None) -> FetchError:
        """The error to raise for a site that could not be connected to; `number` is the system's, when it gave one."""
        if self._recently_answered:
            return error
        if len(self._silent) < _ENOUGH:
            self._silent.add(host)
        return Offline() if number in NO_WAY_OUT or len(self._silent) >= _ENOUGH else error

    @property
    def _recently_answered(self) -> bool:
        return self._answered_at is not None and self._clock() - self._answered_at < _RECENT
