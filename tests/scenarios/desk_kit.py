"""A bot with long-term memory and the desk at which people see it, for the scenarios of `/memory` and the App Home."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from bot.memory_commands import desk_of
from memory.connect import PATIENCE, connect
from memory.keys import Actor
from memory.longterm.memories import Memories
from memory.longterm.store import Store
from memory.reminders import Reminders
from playground.people import Json
from playground.seed import ALICE, BRUNO, DANA, ERIK, MEI, PARTNER_TEAM_ID, TEAM_ID
from tests.fakes.memories import Switch, in_memory, memory
from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import Stack, running, shown
from tests.fakes.valkey import Valkey
from tools.registry import Registry

IDS = {"alice": ALICE, "bruno": BRUNO, "mei": MEI, "dana": DANA, "erik": ERIK}


def actor(user: str) -> Actor:
    """A person of the seeded workspaces."""
    return Actor(team_id=PARTNER_TEAM_ID if user == "erik" else TEAM_ID, user_id=IDS[user])


@dataclass(slots=True)
class Desk:
    """The running thing, and what a test does at it."""

    stack: Stack
    memories: Memories
    switch: Switch
    reminders: Reminders

    async def asks(self, user: str, words: str, channel: str = "#orders") -> Json:
        """The private answer to `/memory …`."""
        known = {m["ts"] for m in self.stack.slack.ephemerals(user)}
        outcome = await self.stack.slack.command(user, self.stack.slack.dm(user) if channel == "dm" else channel, "/memory", words)
        assert outcome["ok"], outcome
        return await self.stack.slack.wait_for(lambda: next((m for m in reversed(self.stack.slack.ephemerals(user)) if m["ts"] not in known), None) or {})

    async def press(self, user: str, message: Json, act: str, one: str = "", *, channel: str = "#orders") -> None:
        """Press the button `act` of a private message; of several the one about `one`."""
        values = [value for value in self.values(message, act) if one in value]
        assert values, (act, one, shown(message))
        room = self.stack.slack.dm(user) if channel == "dm" else channel
        outcome = await self.stack.slack.click(user, room, message["ts"], f"steward:mem:{act}", values[0])
        assert outcome["ok"], outcome

    def values(self, node: Any, act: str) -> list[str]:
        """The values of all buttons `act`."""
        if isinstance(node, dict):
            own = [node["value"]] if node.get("type") == "button" and node.get("action_id") == f"steward:mem:{act}" else []
            return [*own, *(value for child in node.values() for value in self.values(child, act))]
        return [value for child in node for value in self.values(child, act)] if isinstance(node, list) else []

    def now(self, user: str, message: Json) -> str:
        """What a private message shows by now."""
        return next(shown(m) for m in self.stack.slack.ephemerals(user) if m["ts"] == message["ts"])

    async def becomes(self, user: str, message: Json, words: str) -> str:
        """Wait until a private message shows `words`."""
        await self.stack.until(lambda: words in self.now(user, message))
        return self.now(user, message)

    async def modal(self, user: str, words: str) -> Json:
        """Wait until the person sees a modal with these words."""
        await self.stack.until(lambda: words in seen(self.stack.slack.view(user)))
        view = self.stack.slack.view(user)
        assert view is not None
        return view

    async def home(self, user: str, words: str) -> Json:
        """Wait until a person's App Home shows these words."""
        await self.stack.until(lambda: words in seen(self.stack.slack.home(user)))
        view = self.stack.slack.home(user)
        assert view is not None
        return view

    async def knows(self, user: str) -> list[str]:
        """The texts of a person's memories."""
        return [each.text for each in (await self.memories.listed(actor(user))).memories]


def seen(view: Json | None) -> str:
    """All words of a view."""
    return "" if view is None else shown(view) + json.dumps(view, ensure_ascii=False)


@contextlib.asynccontextmanager
async def desk(valkey: Valkey, **parts: Any) -> AsyncIterator[Desk]:
    """A bot whose model only says "Noted."."""
    switch = in_memory()
    store: Store = switch
    given: dict[str, Any] = {"store": store, "model_reads": False, "registry": Registry([])} | parts
    async with running(valkey, ScriptedModel(lambda _: text("Noted.")), **given) as stack:
        long_term = stack.bots[0].long_term
        assert long_term is not None
        redis = connect(valkey.url, timeout=PATIENCE)
        reminders = Reminders(redis, space=TEAM_ID)
        interaction = stack.bots[0].edge._interaction
        if interaction.desk is None:
            interaction.desk = desk_of(long_term, stack.bots[0].slack, reminders=reminders)
        try:
            yield Desk(stack, long_term.memories, switch, reminders)
        finally:
            await interaction.desk.close()
            await redis.aclose()


__all__ = ["Desk", "actor", "desk", "memory", "seen"]
