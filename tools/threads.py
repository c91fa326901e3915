"""Threads for plain (not async) tools: a lane of a few daemon threads per tool, so that a hung one holds up only itself.

The standard pool is not used because its threads are shared by everybody and joined at exit: a few calls that never return
would stop every other tool, and then the process from ending. What tools themselves need to do beside the loop (a name look-up, a
database) goes through `beside`, again in a lane of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

T = TypeVar("T")

LANE_WIDTH: Final = 16
"""Calls of one tool that may run in threads at the same time; more wait for their turn within their time-out."""


@dataclass(slots=True)
class _Lane:
    waiting: deque[tuple[Future[Any], Callable[[], Any]]] = field(default_factory=deque)
    running: int = 0


class Lanes:
    """Runs functions in daemon threads, at most `width` at a time under one name."""

    def __init__(self, width: int = LANE_WIDTH) -> None:
        self._width = width
        self._lanes: dict[str, _Lane] = {}
        self._lock = threading.Lock()

    def submit(self, name: str, function: Callable[[], Any], *, width: int | None = None) -> Future[Any]:
        """Run `function` as soon as the lane called `name` has room, in a copy of the caller's context. `width`: another one for this lane.

        `cancel()` on the returned future succeeds only while the function has not started: it then never will.
        """
        future: Future[Any] = Future()
        context = contextvars.copy_context()
        with self._lock:
            lane = self._lanes.setdefault(name, _Lane())
            lane.waiting.append((future, lambda: context.run(function)))
            if lane.running >= (width or self._width):
                return future
            lane.running += 1
        threading.Thread(target=self._drain, args=(lane,), name=f"tool-{name}", daemon=True).start()
        return future

    def _drain(self, lane: _Lane) -> None:
        while True:
            with self._lock:
                if not lane.waiting:
                    lane.running -= 1
                    return
                future, function = lane.waiting.popleft()
            if future.set_running_or_notify_cancel():
                _run(future, function)
            del future, function  # an idle moment must not keep a large result alive


_shared: Final = Lanes()


async def beside(lane: str, function: Callable[[], T], *, width: int = LANE_WIDTH) -> T:
    """What `function` returns, run in the lane called `lane`, at most `width` at a time; others' lanes are not held up by it.

    Whoever stops waiting takes a call that has not started with them; one that runs ends by itself.
    """
    result: T = await asyncio.wrap_future(_shared.submit(lane, function, width=width))
    return result


def _run(future: Future[Any], function: Callable[[], Any]) -> None:
    try:
        result = function()
    except Exception as error:  # noqa: BLE001 - handed to whoever waits
        # An asyncio future refuses StopIteration, and the caller would wait for ever.
        future.set_exception(error if not isinstance(error, StopIteration) else _wrapped(error))
    except BaseException as error:  # noqa: BLE001 - sys.exit() in a tool must end neither the thread's lane nor the bot
        future.set_exception(_wrapped(error))
    else:
        future.set_result(result)


def _wrapped(error: BaseException) -> RuntimeError:
    wrapped = RuntimeError(f"the tool raised {type(error).__name__}")
    wrapped.__cause__ = error
    return wrapped
