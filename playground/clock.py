"""Time and names: the workspace's clock, its unique message timestamps, and fresh ids.

Slack names a message by its timestamp, a decimal string with six digits after the point that is unique in its channel.
The clock here hands out strictly increasing ones. It can also be moved forward, so that a test of "three seconds later"
or "after five minutes" does not have to wait.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

_BASE36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Clock:
    """Wall-clock seconds plus an offset that tests may advance."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._last_micros = 0
        self._sleepers: list[Callable[[], None]] = []

    def now(self) -> float:
        """Seconds since the epoch, as this workspace sees them."""
        return time.time() + self._offset

    def advance(self, seconds: float) -> None:
        """Move the clock forward and let whoever watches for expiry look again."""
        self._offset += seconds
        for wake in self._sleepers:
            wake()

    def on_advance(self, wake: Callable[[], None]) -> None:
        """Call `wake` after each jump forward."""
        self._sleepers.append(wake)

    def stamp(self) -> str:
        """A new message timestamp, greater than every one before it."""
        micros = max(int(self.now() * 1_000_000), self._last_micros + 1)
        self._last_micros = micros
        return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"

    def not_before(self, stamp: str) -> None:
        """Never hand out a timestamp at or below `stamp` (used after a restart)."""
        seconds, _, micros = stamp.partition(".")
        self._last_micros = max(self._last_micros, int(seconds) * 1_000_000 + int(micros or 0))


class Ids:
    """Fresh ids in Slack's style: a kind letter and base-36 capitals, never repeated, also across restarts."""

    def __init__(self) -> None:
        self._next = itertools.count(int(time.time() * 1000) * 64)
        self._random = random.Random()  # noqa: S311  (names, not secrets)

    def make(self, prefix: str) -> str:
        """A new id such as `C0` followed by base-36 digits."""
        number = next(self._next)
        digits = []
        while number:
            number, rest = divmod(number, 36)
            digits.append(_BASE36[rest])
        return prefix + "".join(reversed(digits))

    def short(self) -> str:
        """Five characters, as Slack gives a block that came without a block_id."""
        return "".join(self._random.choices(_BASE36, k=5))
