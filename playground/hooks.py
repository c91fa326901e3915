"""Response URLs: the app answers a click or command without a token, at most five times within thirty minutes."""

from __future__ import annotations

import json

from aiohttp import web

from playground.core import Core
from playground.interactivity import HOOK_USES, Hook
from playground.people import Channel, Json
from playground.webapi.content import author_of, content_of
from playground.webapi.registry import ApiError


def post_as_app(core: Core, channel: Channel, user_id: str, body: Json, thread_ts: str = "") -> Json:
    """Show the app's answer: to the person only, or in the channel with `response_type: in_channel`. Raises `ApiError`."""
    install = core.world.install_of(channel)
    if install is None:
        raise ApiError("account_inactive")
    content, _ = content_of(core.world, body)
    message = author_of(core.world, install) | content
    thread_ts = str(body.get("thread_ts") or thread_ts)
    if thread_ts:
        message["thread_ts"] = thread_ts
    if body.get("response_type") == "in_channel":
        return core.world.post(channel, message)
    return core.world.ephemeral(channel, message, user_id)


def _use(core: Core, hook: Hook, body: Json) -> None:
    """Carry out one answer. Raises `ApiError`."""
    channel = core.world.channels[hook.channel_id]
    if body.get("delete_original"):
        if hook.is_ephemeral:
            core.world.change_ephemeral(channel, hook.message_ts, None)
        elif hook.message_ts in channel.messages:
            core.world.delete(channel, hook.message_ts, actor=_app_user(core, channel))
        else:
            raise ApiError("message_not_found")
    elif body.get("replace_original") and hook.message_ts:
        content, _ = content_of(core.world, body)
        content.setdefault("blocks", [])
        if hook.is_ephemeral:
            if not core.world.change_ephemeral(channel, hook.message_ts, content):
                raise ApiError("message_not_found")
        elif hook.message_ts in channel.messages:
            actor = _app_user(core, channel)
            content["edited"] = {"user": actor, "ts": f"{int(core.clock.now())}.000000"}
            core.world.change(channel, hook.message_ts, content, actor=actor)
        else:
            raise ApiError("message_not_found")
    else:
        post_as_app(core, channel, hook.user_id, body, hook.thread_ts if hook.is_ephemeral else "")


def _app_user(core: Core, channel: Channel) -> str:
    install = core.world.install_of(channel)
    return install.bot_user_id if install else ""


class Hooks:
    """Serves `/hooks/<kind>/<id>`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def handle(self, request: web.Request) -> web.Response:
        """One use of a response URL: 200 `ok`, 404 when it is unknown, used up or expired."""
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            return web.Response(status=400, text="invalid_payload")
        if not isinstance(body, dict):
            return web.Response(status=400, text="invalid_payload")
        hook = self._core.interactivity.hooks.get(request.match_info["id"])
        status, text = self._answer(hook, body)
        self._log(body, status, text)
        return web.Response(status=status, text=text)

    def _answer(self, hook: Hook | None, body: Json) -> tuple[int, str]:
        if hook is None:
            return 404, "no_hook"
        if self._core.clock.now() > hook.expires:
            return 404, '{"ok":false,"error":"expired_url"}'
        if hook.uses >= HOOK_USES:
            return 404, '{"ok":false,"error":"used_url"}'
        hook.uses += 1
        try:
            _use(self._core, hook, body)
        except ApiError as error:
            return 200, json.dumps(error.body)
        return 200, "ok"

    def _log(self, body: Json, status: int, text: str) -> None:
        core = self._core
        core.call_count += 1
        core.calls.append(
            {
                "n": core.call_count,
                "at": core.clock.now(),
                "method": "response_url",
                "args": body,
                "ok": text == "ok",
                "error": None if text == "ok" else text,
                "status": status,
                "token_kind": "none",
            }
        )
        core.feed.touch()
