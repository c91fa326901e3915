"""A bot in a process of its own, for tests that kill, freeze or terminate it.

    python -m tests.fakes.bot_process '{"slack_api_url": …}'

The argument is `Parts` as JSON (times, addresses, tokens). `crash_at` n ends the process without any clean-up at the
n-th effect (a Redis script, a Slack call, a model call or a tool's execution): before it, or with `crash_after` true
right after it took place. The process prints `ready PORT` when it works.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.deps import Limits
from bot.model import Model
from bot.policy_file import Approvals
from bot.run import Budget
from bot.service import Parts, Service
from bot.slack import Slack
from memory.mailbox import Mailbox
from tools.engine import Engine, EngineLimits
from tools.retry import Pauses

_READ_ONLY = {"auth.test", "users.info"}


def parts_from(values: dict[str, Any]) -> Parts:
    """`Parts` from plain JSON values."""
    known = dict(values)
    if "home" in known:
        known["home"] = Path(known["home"])
    for name, kind in (("limits", Limits), ("budget", Budget), ("approvals", Approvals)):
        if name in known:
            known[name] = kind(**known[name])
    if "pauses" in known:
        known["engine_limits"] = EngineLimits(pauses=Pauses(**known.pop("pauses")))
    for name in ("models", "tool_modules"):
        if name in known:
            known[name] = tuple(known[name])
    return Parts(**known)


class Crash:
    """Counts effects and ends the process at one of them."""

    def __init__(self, at: int, *, after: bool) -> None:
        self._at = at
        self._after = after
        self.count = 0

    def around(self, function: Callable[..., Awaitable[Any]], counts: Callable[..., bool] = lambda *_a, **_k: True) -> Callable[..., Awaitable[Any]]:
        """`function`, counted."""

        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            if not counts(*args, **kwargs):
                return await function(*args, **kwargs)
            self.count += 1
            mine = self.count == self._at
            if mine and not self._after:
                os._exit(137)
            result = await function(*args, **kwargs)
            if mine:
                os._exit(137)
            return result

        return wrapped

    def install(self) -> None:
        """Put the counter around every door to the outside."""
        Mailbox._run = self.around(Mailbox._run, lambda _self, name, *_a: name in {"commit", "deliver"})  # type: ignore[method-assign, assignment]
        Slack._once = self.around(Slack._once, lambda _self, method, *_a, **_k: method not in _READ_ONLY)  # type: ignore[method-assign, assignment]
        Model.ask = self.around(Model.ask)  # type: ignore[method-assign, assignment]
        Engine.call = self.around(Engine.call)  # type: ignore[method-assign, assignment]


async def main(values: dict[str, Any]) -> None:
    """Run until SIGTERM."""
    at, after = int(values.pop("crash_at", 0)), bool(values.pop("crash_after", False))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    service = Service(parts_from(values))
    await service.start()
    crash = Crash(at, after=after)
    if at:
        crash.install()
    print(f"ready {service.port}", flush=True)
    await service.run_until(stop)
    await service.stop()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
