"""The change feed: what pages are told, and what `wait_for` waits on.

Every change of the workspace, every Web API call and every delivery passes here. Pages get those addressed to their user as
JSON over a WebSocket; waiting tests are woken to look again. Nothing here sleeps or polls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from playground.people import Json

T = TypeVar("T")


class Feed:
    """Publish to pages and wake waiters."""

    def __init__(self) -> None:
        self._pages: dict[str, set[asyncio.Queue[str]]] = {}
        self._waiters: set[asyncio.Future[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.watchers: list[Callable[[], None]] = []

    def touch(self) -> None:
        """Something changed: wake whoever waits."""
        if self._waiters:
            waiters, self._waiters = self._waiters, set()
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    def changed(self) -> None:
        """The kept state changed: wake waiters and tell the watchers (the snapshot writer)."""
        self.touch()
        for watcher in self.watchers:
            watcher()

    def push(self, kind: str, body: Json, users: Iterable[str] | None) -> None:
        """Send `{type: kind, **body}` to the pages of `users` (None = everyone)."""
        if self._pages:
            targets = list(self._pages) if users is None else [u for u in users if u in self._pages]
            if targets:
                text = json.dumps({"type": kind, **body}, separators=(",", ":"), ensure_ascii=False)
                for user in targets:
                    for queue in self._pages[user]:
                        queue.put_nowait(text)
        self.touch()

    def subscribe(self, user: str) -> asyncio.Queue[str]:
        """A queue of JSON texts for one page of `user`."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._pages.setdefault(user, set()).add(queue)
        return queue

    def unsubscribe(self, user: str, queue: asyncio.Queue[str]) -> None:
        """Forget a page."""
        queues = self._pages.get(user, set())
        queues.discard(queue)
        if not queues:
            self._pages.pop(user, None)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` beside the caller and keep it alive until done."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` beside the caller; nobody waits for it."""
        task = self.spawn(work)
        task.set_name("playground-background")

    @property
    def watched(self) -> bool:
        """Whether any page is open."""
        return bool(self._pages)

    async def stop(self) -> None:
        """Give up the work in the background, the pumping to pages included."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def wait_for(self, predicate: Callable[[], T], timeout: float) -> T:
        """Wait until `predicate()` is truthy and return its value; `TimeoutError` after `timeout` seconds."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                while True:
                    waiter: asyncio.Future[None] = loop.create_future()
                    self._waiters.add(waiter)
                    try:
                        value = predicate()
                        if value:
                            return value
                        await waiter
                    finally:
                        self._waiters.discard(waiter)
        except TimeoutError:
            raise TimeoutError(f"nothing satisfied the condition within {timeout} s") from None
