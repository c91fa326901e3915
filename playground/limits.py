"""Slack's rate limits: a number of calls per minute for each method and team, and one post a second in a channel.

Slack promises at least 1, 20, 50 or 100 calls a minute for the tiers 1 to 4. Here the promise is the limit. Switched off by default;
`scale` multiplies every quota.
"""

from __future__ import annotations

from collections import deque
from math import ceil

from playground.clock import Clock

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}


class Limits:
    """Sliding one-minute windows."""

    def __init__(self, clock: Clock, *, enforce: bool = False) -> None:
        self.enforce = enforce
        self.scale = 1.0
        self._clock = clock
        self._windows: dict[tuple[str, str], deque[float]] = {}
        self._posts: dict[tuple[str, str], float] = {}

    def check(self, method: str, tier: int, team_id: str, channel: str | None) -> int:
        """Count one call; 0 when allowed, else the whole seconds to wait."""
        if not self.enforce:
            return 0
        now = self._clock.now()
        if method == "chat.postMessage" and channel:
            gap = 1.0 / self.scale
            wait = self._posts.get((team_id, channel), 0.0) + gap - now
            if wait > 0:
                return ceil(wait)
            self._posts[(team_id, channel)] = now
            return 0
        quota = PER_MINUTE.get(tier)
        if quota is None:
            return 0
        window = self._windows.setdefault((team_id, method), deque())
        while window and window[0] <= now - 60:
            window.popleft()
        if len(window) >= max(1, int(quota * self.scale)):
            return max(1, ceil(window[0] + 60 - now))
        window.append(now)
        return 0
