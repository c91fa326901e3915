"""The load generator, in a process of its own: it mentions the bot as Slack would, and times the acknowledgements.

Each mention is a turn in a thread of its own and is sent as Slack sends it: twice, as `app_mention` and as `message`,
with different event ids, both signed, at the same moment. Two ways to press:

`open`    a given rate, whatever the bot does: what a day's traffic looks like.
`closed`  a given number of turns under way, a new one as soon as one is answered: what the bot can do at most.

    python -m evals.bench_load '{"url": …, "slack": {…}}'
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import random
import sys
import time
from typing import Any, Final

import aiohttp

from evals.bench_model import MARK
from evals.bench_process import Json, obey, run

PATIENCE: Final = 30.0
"""Seconds without a single answer after which the bot counts as stuck."""
LOOK_EVERY: Final = 0.01


class Load:
    """Sends mentions to one bot. `slack` is what the playground's process said of itself."""

    def __init__(self, url: str, slack: Json, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._slack = slack
        self._session = session
        self._numbers = itertools.count(1)
        self._last_ts = 0
        self._sending: set[asyncio.Task[None]] = set()
        self._seen = 0
        self.sent: dict[str, float] = {}
        """When each turn began, by its mark; seconds since the epoch."""
        self.answered: dict[str, float] = {}
        self.acks: list[float] = []
        """Seconds each event took to be acknowledged."""
        self.refused = 0

    def mention(self, kind: str = "m") -> str:
        """Begin one turn; its mark."""
        number = next(self._numbers)
        mark = f"#{kind}{number}"
        self._last_ts = max(int(time.time() * 1_000_000), self._last_ts + 1)
        slack = self._slack
        event = {
            "user": slack["people"][number % len(slack["people"])],
            "text": f"<@{slack['bot_user']}> which of our orders are still open? {mark}",
            "ts": f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}",
            "channel": slack["channels"][number % len(slack["channels"])],
            "team": slack["team"],
        }
        self.sent[mark] = time.time()
        for twin in ({"type": "app_mention", **event}, {"type": "message", "channel_type": "channel", **event}):
            task = asyncio.create_task(self._post(twin, f"Ev{mark[1:]}{twin['type'][0]}"))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return mark

    async def _post(self, event: Json, event_id: str) -> None:
        envelope = {"type": "event_callback", "team_id": self._slack["team"], "api_app_id": "A01STEWARD", "event_id": event_id, "event": event}
        envelope |= {"event_time": int(time.time()), "authorizations": [{"team_id": self._slack["team"], "user_id": self._slack["bot_user"], "is_bot": True}]}
        body = json.dumps(envelope).encode()
        stamp = str(int(time.time()))
        signature = hmac.new(self._slack["signing_secret"].encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={signature}"}
        began = time.perf_counter()
        async with self._session.post(self._url, data=body, headers=headers) as response:
            await response.read()
            self.acks.append(time.perf_counter() - began)
            self.refused += response.status != 200

    async def _look(self, waiting: set[str]) -> dict[str, float]:
        """When the marks in `waiting` that were answered since the last look were answered, seconds since the epoch."""
        async with self._session.get(f"{self._slack['url']}/_/calls", params={"method": "chat.postMessage", "since": str(self._seen)}) as response:
            calls: list[dict[str, Any]] = (await response.json())["calls"]
        self._seen = max((call["n"] for call in calls), default=self._seen)
        return {mark: call["at"] for call in calls if call["ok"] for mark in MARK.findall(str(call["args"].get("text", ""))) if mark in waiting}

    async def closed(self, order: Json) -> Json:
        """`turns` turns of a `kind`, `under_way` at a time; after `within` seconds no new ones are begun."""
        self._forget()
        left, waiting, end = int(order["turns"]), set[str](), time.monotonic() + order["within"]
        while left or waiting:
            while left and len(waiting) < order["under_way"]:
                waiting.add(self.mention(order.get("kind", "m")))
                left = left - 1 if time.monotonic() < end else 0
            await self._until_some(waiting)
        return await self._report()

    async def open(self, order: Json) -> Json:
        """Mentions at random moments, on average `rate` a second for `seconds`; then wait until all are answered."""
        self._forget()
        chance = random.Random(7)  # noqa: S311 - the same moments in every run
        loop = asyncio.get_running_loop()
        at, end = loop.time(), loop.time() + order["seconds"]
        while (at := at + chance.expovariate(order["rate"])) < end:
            await asyncio.sleep(at - loop.time())
            self.mention()
        waiting = set(self.sent)
        while waiting:
            await self._until_some(waiting)
        return await self._report()

    async def _until_some(self, waiting: set[str]) -> None:
        """Wait until some turn of `waiting` is answered and take it out."""
        until = time.monotonic() + PATIENCE
        while not (done := await self._look(waiting)):
            if time.monotonic() > until:
                raise RuntimeError(f"{len(waiting)} turns were not answered")
            await asyncio.sleep(LOOK_EVERY)
        self.answered |= done
        waiting.difference_update(done)

    def _forget(self) -> None:
        self.sent, self.answered, self.acks, self.refused = {}, {}, [], 0

    async def _report(self) -> Json:
        if self._sending:
            await asyncio.wait(self._sending)
        return {"sent": self.sent, "answered": self.answered, "acks": self.acks, "refused": self.refused}


async def main(options: Json) -> None:
    """Obey the orders `open` and `closed`."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        load = Load(options["url"], options["slack"], session)
        await obey({}, {"open": load.open, "closed": load.closed})


if __name__ == "__main__":
    run(main(json.loads(sys.argv[1])))
