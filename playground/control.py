"""The `/_/` API: what the page calls for the people it shows, over JSON.

Refusals are `{"ok": false, "error": …}` with status 200. The calls for tests are in `testing.py`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import WSMsgType, web

from playground.actions import Actions, RefusedError
from playground.core import Core
from playground.filestore import MAX_BYTES
from playground.jsontext import parse
from playground.people import Channel, Json, User
from playground.world import is_root

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(body: Json) -> web.Response:
    """A JSON answer."""
    return web.Response(text=json.dumps(body, ensure_ascii=False), content_type="application/json")


async def body_of(request: web.Request) -> Json:
    """The JSON object of a request. Raises `RefusedError`."""
    try:
        body = parse(await request.read())
    except ValueError:
        raise RefusedError("invalid_json") from None
    if not isinstance(body, dict):
        raise RefusedError("json_not_object")
    return body


def refusing(act: Callable[[Json], Awaitable[Json]]) -> Handle:
    """A handler that reads a JSON body, runs `act`, and turns refusals and wrong types into answers."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return answer(await act(await body_of(request)))
        except RefusedError as refused:
            return answer({"ok": False, "error": str(refused)})
        except (ValueError, TypeError, KeyError) as error:
            return answer({"ok": False, "error": "invalid_arguments", "detail": str(error)})

    return handle


def visible_messages(channel: Channel, user: User | None, thread_ts: str | None, limit: int) -> list[Json]:
    """Messages oldest first: the roots and broadcasts of a channel, or one thread; with the person's own ephemerals."""
    if thread_ts:
        root = channel.messages.get(thread_ts)
        found = ([root] if root else []) + [channel.messages[ts] for ts in channel.replies.get(thread_ts, ())]
    else:
        found = [m for m in channel.messages.values() if is_root(m)]
    if user is not None:
        own = [m for m in channel.ephemerals if m["ephemeral_to"] == user.id and (m.get("thread_ts") or None) == (thread_ts or None)]
        found = sorted([*found, *own], key=lambda m: m["ts"]) if own else found
    return found[-limit:]


class Control:
    """The page's API."""

    def __init__(self, core: Core, actions: Actions, examples: Sequence[str] = ()) -> None:
        self._core = core
        self._actions = actions
        self._examples = list(examples)

    def routes(self) -> list[web.RouteDef]:
        """Every route of the page's API."""
        posts = {
            "message": self._message,
            "edit": self._edit,
            "delete": self._delete,
            "react": self._react,
            "command": self._command,
            "action": self._action,
            "submit": self._submit,
            "close": self._close,
            "home": self._home,
            "stop": self._stop,
            "open": self._open,
            "options": self._options,
            "shortcut": self._shortcut,
        }
        return [
            web.get("/_/state", self._state),
            web.get("/_/messages", self._messages),
            web.get("/_/feed", self._feed),
            web.post("/_/upload", self._upload),
            *(web.post(f"/_/{name}", refusing(act)) for name, act in posts.items()),
        ]

    def _who(self, body: Json) -> User:
        return self._actions.user(str(body.get("user", "")))

    def _where(self, body: Json) -> tuple[User, Channel]:
        user = self._who(body)
        return user, self._actions.channel(str(body.get("channel", "")), user)

    # -- reading ----------------------------------------------------------------------------------------------------------------------

    async def _state(self, request: web.Request) -> web.StreamResponse:
        world = self._core.world
        try:
            me = self._actions.user(request.query.get("user", "") or next(u.id for u in world.users.values() if not u.is_bot))
        except RefusedError as refused:
            return answer({"ok": False, "error": str(refused)})
        team, app = world.teams[me.team_id], world.app
        install = world.installs.get(me.team_id) or next(iter(world.installs.values()))
        users = [
            {
                "id": u.id,
                "name": u.name,
                "real_name": u.real_name,
                "is_bot": u.is_bot,
                "is_guest": u.is_guest,
                "team_id": u.team_id,
                "tz": u.tz,
                "locale": u.locale,
                "color": u.color,
            }
            for u in world.users.values()
        ]
        channels = []
        for channel in world.channels.values():
            if me.id in channel.members:
                entry: Json = {"id": channel.id, "name": channel.name, "kind": channel.kind, "members": list(channel.members), "topic": channel.topic}
                if channel.kind == "im":
                    entry["peer"] = next((m for m in channel.members if m != me.id), me.id)
                channels.append(entry)
        return answer(
            {
                "ok": True,
                "team": {"id": team.id, "name": team.name, "domain": team.domain},
                "user": me.id,
                "users": users,
                "channels": channels,
                "commands": [{"command": c.command, "description": c.description, "usage_hint": c.usage_hint} for c in app.commands],
                "app": {"id": app.app_id, "name": app.name, "bot_user_id": install.bot_user_id, "connected": self._core.delivery.transport.connected()},
                "shortcuts": [{"name": s.name, "callback_id": s.callback_id, "kind": s.kind, "description": s.description} for s in app.shortcuts],
                "examples": self._examples,
                **self._core.sessions.shown({entry["id"] for entry in channels}),
            }
        )

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        try:
            user, channel = self._where(dict(query))
            limit = max(1, int(query.get("limit", "200")))
        except RefusedError as refused:
            return answer({"ok": False, "error": str(refused)})
        except ValueError:
            return answer({"ok": False, "error": "invalid_arguments"})
        found = visible_messages(channel, user, query.get("thread_ts"), limit)
        return answer({"ok": True, "messages": [{**m, "channel": channel.id} for m in found]})

    async def _feed(self, request: web.Request) -> web.StreamResponse:
        user = self._core.world.find_user(request.query.get("user", ""))
        if user is None:
            return web.Response(status=404)
        socket = web.WebSocketResponse(heartbeat=30)
        await socket.prepare(request)
        queue = self._core.feed.subscribe(user.id)

        async def pump() -> None:
            while True:
                await socket.send_str(await queue.get())

        pumping = self._core.feed.spawn(pump())
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    break
        finally:
            pumping.cancel()
            self._core.feed.unsubscribe(user.id, queue)
        return socket

    # -- doing ------------------------------------------------------------------------------------------------------------------------

    async def _message(self, body: Json) -> Json:
        user, channel = self._where(body)
        raw: Json | None = None
        if body.get("raw"):
            raw = {k: v for k, v in body.items() if k not in ("user", "channel", "raw", "thread_ts", "broadcast", "file_ids", "text")}
        ids = body.get("file_ids")
        posted = self._actions.say(
            user,
            channel,
            str(body.get("text", "")),
            body.get("thread_ts"),
            broadcast=bool(body.get("broadcast")),
            file_ids=[str(i) for i in ids] if isinstance(ids, list) else None,
            raw=raw,
        )
        return {"ok": True, "ts": posted["ts"]}

    async def _edit(self, body: Json) -> Json:
        user, channel = self._where(body)
        self._actions.edit(user, channel, str(body.get("ts")), str(body.get("text", "")))
        return {"ok": True}

    async def _delete(self, body: Json) -> Json:
        user, channel = self._where(body)
        self._actions.delete(user, channel, str(body.get("ts")))
        return {"ok": True}

    async def _react(self, body: Json) -> Json:
        user, channel = self._where(body)
        self._actions.react(user, channel, str(body.get("ts")), str(body.get("name", "")), remove=bool(body.get("remove")))
        return {"ok": True}

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        part = form.get("file")
        user = self._core.world.find_user(str(form.get("user", "")))
        if user is None or not isinstance(part, web.FileField):
            return answer({"ok": False, "error": "invalid_arguments"})
        content = part.file.read()
        if len(content) > MAX_BYTES:
            return answer({"ok": False, "error": "file_too_large"})
        stored = self._core.files.new(part.filename, len(content), user.id, user.team_id, content)
        return answer({"ok": True, "file": self._core.files.shape(stored, self._core.url)})

    async def _command(self, body: Json) -> Json:
        user, channel = self._where(body)
        return _brief(await self._actions.command(user, channel, str(body.get("command", "")), str(body.get("text", ""))))

    async def _action(self, body: Json) -> Json:
        action, state = body.get("action"), body.get("state")
        if not isinstance(action, dict):
            raise RefusedError("invalid_arguments")
        if body.get("view_id"):
            return _brief(await self._actions.click_view(self._who(body), str(body["view_id"]), action, state))
        user, channel = self._where(body)
        return _brief(await self._actions.click(user, channel, str(body.get("message_ts")), action, state))

    async def _submit(self, body: Json) -> Json:
        state: Any = body.get("state") or {"values": {}}
        return _brief(await self._actions.submit(self._who(body), str(body.get("view_id")), state))

    async def _close(self, body: Json) -> Json:
        return await self._actions.close(self._who(body), str(body.get("view_id")), clear=bool(body.get("clear")))

    async def _home(self, body: Json) -> Json:
        return self._actions.home(self._who(body), str(body.get("tab", "home")))

    async def _stop(self, body: Json) -> Json:
        user, channel = self._where(body)
        return self._actions.stop(user, channel, str(body.get("thread_ts") or ""))

    async def _open(self, body: Json) -> Json:
        user = self._who(body)
        users = [self._actions.user(str(u)).id for u in body.get("users", [])]
        channel, was_open = self._core.world.conversation((user.id, *users), user.team_id)
        if not was_open:
            self._core.feed.push("channel", {"channel": channel.id}, channel.members)
            self._core.feed.changed()
        return {"ok": True, "channel": channel.id}

    async def _options(self, body: Json) -> Json:
        return await self._actions.options(self._who(body), body)

    async def _shortcut(self, body: Json) -> Json:
        user = self._who(body)
        channel = self._actions.channel(str(body["channel"]), user) if body.get("channel") else None
        return _brief(await self._actions.shortcut(user, str(body.get("callback_id", "")), channel, str(body.get("message_ts", ""))))


def _brief(outcome: Json) -> Json:
    """An outcome as the page gets it, without the app's raw acknowledgement."""
    return {k: v for k, v in outcome.items() if k != "response"}
