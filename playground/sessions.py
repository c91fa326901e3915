"""Agent sessions, typing statuses and suggested prompts: what a thread shows besides its messages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from playground.clock import Clock
from playground.feed import Feed
from playground.people import Channel, Json

STATUS_LIFETIME = 120.0


@dataclass(slots=True)
class Session:
    """An agent session: `status` is active, processing, suspended or closed."""

    status: str = "active"
    title: str = ""
    initiator: str = ""


class Sessions:
    """The statuses and sessions of all threads, keyed by (channel, thread_ts)."""

    def __init__(self, clock: Clock, feed: Feed) -> None:
        self._clock = clock
        self._feed = feed
        self._sessions: dict[tuple[str, str], Session] = {}
        self._statuses: dict[tuple[str, str], Json] = {}
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self.prompts: dict[tuple[str, str], Json] = {}
        clock.on_advance(self._sweep)

    def session(self, channel: Channel, thread_ts: str) -> Session:
        """The session of a thread, made when first asked for."""
        return self._sessions.setdefault((channel.id, thread_ts), Session())

    def set_session(self, channel: Channel, thread_ts: str, *, status: str | None = None, title: str | None = None, initiator: str = "") -> Session:
        """Change a session and show it."""
        session = self.session(channel, thread_ts)
        if status is not None:
            session.status = status
        if title is not None:
            session.title = title
        session.initiator = initiator or session.initiator
        body = {"channel": channel.id, "thread_ts": thread_ts, "status": session.status, "title": session.title}
        self._feed.push("session", body, channel.members)
        return session

    def status(self, channel_id: str, thread_ts: str) -> Json | None:
        """The status shown in a thread now: `{status, loading_messages}`."""
        return self._statuses.get((channel_id, thread_ts))

    def set_status(self, channel: Channel, thread_ts: str, status: str, loading_messages: list[str]) -> None:
        """Show a status; an empty one clears. It clears itself after two minutes."""
        key = (channel.id, thread_ts)
        if not status and key not in self._statuses:
            return
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if status:
            self._statuses[key] = {"status": status, "loading_messages": loading_messages, "until": self._clock.now() + STATUS_LIFETIME, "room": channel}
            self._timers[key] = asyncio.get_running_loop().call_later(STATUS_LIFETIME, self._sweep)
        else:
            self._statuses.pop(key)
        body = {"channel": channel.id, "thread_ts": thread_ts, "status": status, "loading_messages": loading_messages}
        self._feed.push("status", body, channel.members)

    def _sweep(self) -> None:
        """Clear the statuses whose time is over."""
        now = self._clock.now()
        for (_, thread_ts), shown in list(self._statuses.items()):
            if shown["until"] <= now:
                self.set_status(shown["room"], thread_ts, "", [])

    def set_prompts(self, channel: Channel, thread_ts: str, title: str, prompts: list[Json]) -> None:
        """Offer prompts in a thread, or at the top of the Messages tab when `thread_ts` is empty."""
        self.prompts[(channel.id, thread_ts)] = {"title": title, "prompts": prompts}
        body: Json = {"channel": channel.id, "title": title, "prompts": prompts}
        if thread_ts:
            body["thread_ts"] = thread_ts
        self._feed.push("prompts", body, channel.members)

    def shown(self, channels: Collection[str]) -> Json:
        """What these channels show besides their messages, as the feed would tell it: sessions under way, statuses, prompts."""
        told = [(key, s) for key, s in self._sessions.items() if s.title or s.status in ("processing", "suspended")]
        sessions = [(key, {"status": s.status, "title": s.title}) for key, s in told]
        statuses = [(key, {"status": s["status"], "loading_messages": s["loading_messages"]}) for key, s in self._statuses.items()]

        def placed(entries: Iterable[tuple[tuple[str, str], Json]]) -> list[Json]:
            return [{"channel": channel, "thread_ts": thread_ts, **entry} for (channel, thread_ts), entry in entries if channel in channels]

        return {"sessions": placed(sessions), "statuses": placed(statuses), "prompts": placed(self.prompts.items())}

    def stop(self) -> None:
        """Cancel the timers."""
        for timer in self._timers.values():
            timer.cancel()
