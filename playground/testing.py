"""The `/_/` calls for tests: the logs, ordered faults, delivery settings, disconnects, more people and workspaces, raw events."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from playground.actions import RefusedError
from playground.control import answer, refusing
from playground.core import Core
from playground.people import Channel, Json, Team, User


def add_to_workspace(core: Core, body: Json) -> Json:
    """Add teams (with the app installed), users and channels. Returns the new bot tokens by team. Raises `KeyError`, `TypeError` for wrong fields."""
    world = core.world
    tokens = {}
    for team in body.get("teams", ()):
        added = Team(team["id"], team["name"], team.get("domain") or team["name"].lower())
        world.teams[added.id] = added
        if team.get("install", True) and added.id not in world.installs:
            bot_user, bot_id = core.ids.make("U0"), core.ids.make("B0")
            world.users[bot_user] = User(bot_user, added.id, world.app.bot_name, world.app.name, is_bot=True, bot_id=bot_id, app_id=world.app.app_id)
            tokens[added.id] = world.install(added.id, bot_user, bot_id).token
    home = next(iter(world.teams))
    for fields in body.get("users", ()):
        user = User(**({"id": core.ids.make("U0"), "team_id": home, "real_name": fields.get("name", "")} | fields))
        world.users[user.id] = user
    for fields in body.get("channels", ()):
        defaults: Json = {"id": core.ids.make("C0"), "team_id": home, "kind": "channel"}
        given: Json = {**fields, "members": dict.fromkeys(fields.get("members", ())), "shared_with": tuple(fields.get("shared_with", ()))}
        channel = world.add_channel(Channel(**(defaults | given)))
        core.feed.push("channel", {"channel": channel.id}, channel.members)
    for group in body.get("usergroups", ()):
        entry: Json = {"id": core.ids.make("S0"), "team_id": home, "is_usergroup": True, "users": [], "date_delete": 0, **group}
        world.usergroups[entry["id"]] = {**entry, "user_count": len(entry["users"])}
    core.feed.changed()
    return tokens


class Testing:
    """The tests' API."""

    __test__ = False

    def __init__(self, core: Core) -> None:
        self._core = core

    def routes(self) -> list[web.RouteDef]:
        """Every route."""
        return [
            web.get("/_/calls", self._calls),
            web.get("/_/deliveries", self._deliveries),
            web.post("/_/faults", refusing(self._faults)),
            web.post("/_/delivery", refusing(self._delivery)),
            web.post("/_/disconnect", refusing(self._disconnect)),
            web.post("/_/workspace", refusing(self._workspace)),
            web.post("/_/send", refusing(self._send)),
        ]

    async def _calls(self, request: web.Request) -> web.StreamResponse:
        method = request.query.get("method")
        try:
            since = int(request.query.get("since", "0"))
        except ValueError:
            return answer({"ok": False, "error": "invalid_arguments"})
        found: list[Any] = [c for c in self._core.calls if c["n"] > since and (not method or c["method"] == method)]
        return answer({"ok": True, "calls": found})

    async def _deliveries(self, _request: web.Request) -> web.StreamResponse:
        return answer({"ok": True, "deliveries": list(self._core.delivery.log), "in_flight": self._core.delivery.in_flight})

    async def _faults(self, body: Json) -> Json:
        if body.get("clear"):
            self._core.faults.clear()
        else:
            self._core.faults.add(body)
        return {"ok": True}

    async def _delivery(self, body: Json) -> Json:
        self._core.delivery.control.set(body)
        return {"ok": True}

    async def _disconnect(self, body: Json) -> Json:
        return {"ok": True, "connections": await self._core.socket.disconnect(str(body.get("reason", "refresh_requested")))}

    async def _workspace(self, body: Json) -> Json:
        return {"ok": True, "tokens": add_to_workspace(self._core, body)}

    async def _send(self, body: Json) -> Json:
        if not body:
            raise RefusedError("invalid_arguments")
        return {"ok": True, "event_id": self._core.events.send_envelope(body)}
