"""What people do: write, edit, delete, react, click, submit, run commands, open App Home, press stop.

Both the page's API and the in-process API end here. Each action answers `{"ok": true, …}` or `{"ok": false, "error": …}`, as a page would show it.
"""

from __future__ import annotations

import uuid
from typing import Any

from playground.core import Core
from playground.delivery import Answer
from playground.hooks import post_as_app
from playground.interactivity import action_of, find_element
from playground.people import Channel, Install, Json, User
from playground.richtext import blocks_of
from playground.text import encode
from playground.views import ViewError, check_view
from playground.webapi.registry import ApiError


class RefusedError(Exception):
    """A person cannot do this; the argument is the error name shown."""


class Actions:
    """The hands of the people in the workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # -- who and where ----------------------------------------------------------------------------------------------------------------

    def user(self, ref: str) -> User:
        """A person by id or name. Raises `RefusedError` user_not_found."""
        user = self._core.world.find_user(str(ref))
        if user is None:
            raise RefusedError("user_not_found")
        return user

    def channel(self, ref: str, user: User | None = None) -> Channel:
        """A conversation by id or #name; `@name` or a user id is the person's direct conversation with that user. Raises `RefusedError`."""
        world = self._core.world
        ref = str(ref)
        channel = world.find_channel(ref)
        if channel is None and user is not None and (ref.startswith("@") or ref in world.users):
            peer = world.find_user(ref)
            if peer is not None:
                channel, _ = world.conversation((user.id, peer.id), user.team_id)
        if channel is None or (user is not None and user.id not in channel.members):
            raise RefusedError("channel_not_found")
        return channel

    def install(self, channel: Channel) -> Install:
        """The app's installation that sees a channel, if the app is in it. Raises `RefusedError`."""
        install = self._core.world.install_of(channel)
        if install is None:
            raise RefusedError("app_not_installed")
        return install

    def _message(self, channel: Channel, ts: str, user: User) -> Json:
        message = channel.messages.get(ts) or next((m for m in channel.ephemerals if m["ts"] == ts and m["ephemeral_to"] == user.id), None)
        if message is None:
            raise RefusedError("message_not_found")
        return message

    # -- messages ---------------------------------------------------------------------------------------------------------------------

    def encoded(self, text: str, user: User, *, entities: bool) -> str:
        """Slack text for what a person typed."""
        world = self._core.world

        def named_user(name: str) -> str | None:
            found = world.find_user(name, user.team_id)
            return found.id if found else None

        def named_channel(name: str) -> str | None:
            return next((c.id for c in world.channels.values() if c.name == name and c.kind in ("channel", "group")), None)

        return encode(text, named_user, named_channel, entities=entities)

    def say(
        self,
        user: User,
        channel: Channel,
        text: str,
        thread_ts: str | None = None,
        *,
        entities: bool = False,
        broadcast: bool = False,
        file_ids: list[str] | None = None,
        raw: Json | None = None,
    ) -> Json:
        """Post what a person typed. With `raw`, its fields are taken as they are and nothing is encoded or added."""
        core = self._core
        message: Json = {"user": user.id, "team": user.team_id}
        if channel.is_ext_shared:
            message |= {"user_team": user.team_id, "source_team": user.team_id}
        if raw is not None:
            message |= {"text": text, **raw}
        else:
            encoded = self.encoded(text, user, entities=entities)
            message |= {"client_msg_id": str(uuid.uuid4()), "text": encoded, "blocks": blocks_of(encoded, core.ids.short())}
        if file_ids:
            files = [core.files.files[f] for f in file_ids if f in core.files.files and core.files.files[f].user_id == user.id]
            for stored in files:
                stored.shared_in[channel.id] = None
            message |= {"subtype": "file_share", "upload": False, "files": [core.files.shape(f, core.url) for f in files]}
        if thread_ts:
            message["thread_ts"] = thread_ts
            root = channel.messages.get(thread_ts)
            if broadcast and root is not None:
                message |= {"subtype": "thread_broadcast", "root": root}
        if not message["text"] and not file_ids and raw is None:
            raise RefusedError("no_text")
        return core.world.post(channel, message)

    def _own(self, user: User, channel: Channel, ts: str, refusal: str) -> Json:
        message = channel.messages.get(ts)
        if message is None or message.get("subtype") == "tombstone":
            raise RefusedError("message_not_found")
        if message.get("user") != user.id:
            raise RefusedError(refusal)
        return message

    def edit(self, user: User, channel: Channel, ts: str, text: str, *, entities: bool = False) -> None:
        """Edit one's own message."""
        self._own(user, channel, ts, "cant_update_message")
        encoded = self.encoded(text, user, entities=entities)
        edited = {"user": user.id, "ts": f"{int(self._core.clock.now())}.000000"}
        fields = {"text": encoded, "blocks": blocks_of(encoded, self._core.ids.short()), "edited": edited}
        self._core.world.change(channel, ts, fields, actor=user.id)

    def delete(self, user: User, channel: Channel, ts: str) -> None:
        """Delete one's own message; an ephemeral one is only dismissed."""
        if any(m["ts"] == ts and m["ephemeral_to"] == user.id for m in channel.ephemerals):
            self._core.world.change_ephemeral(channel, ts, None)
            return
        self._own(user, channel, ts, "cant_delete_message")
        self._core.world.delete(channel, ts, actor=user.id)

    def react(self, user: User, channel: Channel, ts: str, name: str, *, remove: bool = False) -> None:
        """Add or take back a reaction."""
        if ts not in channel.messages:
            raise RefusedError("message_not_found")
        if not self._core.world.react(channel, ts, name.strip(":"), user.id, remove=remove):
            raise RefusedError("no_reaction" if remove else "already_reacted")

    # -- interactive ------------------------------------------------------------------------------------------------------------------

    @staticmethod
    def _outcome(answer: Answer) -> Json:
        """What the person sees of an acknowledgement."""
        if answer.ok:
            return {"ok": True, "response": answer.body}
        return {"ok": False, "error": "dispatch_failed", "status": answer.status, "reason": answer.reason}

    async def click(self, user: User, channel: Channel, message_ts: str, given: Json, state: Json | None = None) -> Json:
        """Use an element of a message. One that was just replaced can still be hit, as by a click already under way."""
        message = self._message(channel, message_ts, user)
        if user.id not in channel.members:
            raise RefusedError("channel_not_found")
        action_id, value, block_id = str(given.get("action_id", "")), given.get("value"), given.get("block_id")
        found = find_element(message.get("blocks", []), action_id, value, block_id)
        for blocks in reversed(self._core.world.past_blocks.get((channel.id, message_ts), [])):
            found = found or find_element(blocks, action_id, value, block_id)
        if found is None:
            raise RefusedError("no_such_element")
        install = self.install(channel)
        shown = {k: v for k, v in message.items() if k not in ("ephemeral_to", "metadata")}
        action = action_of(*found, given)
        payload = self._core.interactivity.message_action(user, install, channel, shown, action=action, state=state or {"values": {}})
        return self._outcome(await self._core.interactivity.send("interactive", payload))

    def _view(self, user: User, view_id: str) -> Json:
        view = self._core.views.find(view_id)
        if view is None or self._core.views.owners.get(view_id) != user.id:
            raise RefusedError("view_not_found")
        return view

    def _view_install(self, view: Json) -> Install:
        return self._core.world.installs[view["team_id"]]

    async def click_view(self, user: User, view_id: str, given: Json, state: Json | None = None) -> Json:
        """Use an element of a modal or App Home."""
        view = self._view(user, view_id)
        found = find_element(view["blocks"], str(given.get("action_id", "")), given.get("value"), given.get("block_id"))
        if found is None:
            raise RefusedError("no_such_element")
        payload = self._core.interactivity.view_action(user, self._view_install(view), view, action_of(*found, given), state or {"values": {}})
        return self._outcome(await self._core.interactivity.send("interactive", payload))

    async def submit(self, user: User, view_id: str, state: Json) -> Json:
        """Submit a modal and do what the app answers: close, clear, update, push, or show errors."""
        view = self._view(user, view_id)
        install = self._view_install(view)
        payload = self._core.interactivity.view_event("view_submission", user, install, view, state)
        answer = await self._core.interactivity.send("interactive", payload)
        if not answer.ok:
            return self._outcome(answer)
        body = answer.body if isinstance(answer.body, dict) else {}
        action = body.get("response_action")
        views = self._core.views
        if action == "errors":
            return self._errors(view, body.get("errors"))
        if action == "clear":
            views.clear(user.id)
            return {"ok": True}
        if action in ("update", "push"):
            try:
                checked = check_view(body.get("view"), ("modal",))
                shown = views.update(view_id, checked, install) if action == "update" else views.push(checked, user.id, install)
            except ViewError as error:
                return {"ok": False, "error": error.error, "messages": error.messages}
            return {"ok": True, "view": shown}
        below = views.close(user.id, view_id)
        return {"ok": True, "view": below} if below else {"ok": True}

    @staticmethod
    def _errors(view: Json, errors: Any) -> Json:
        """Errors for input blocks; naming anything else is a mistake of the app that the person sees as a failure."""
        inputs = {b["block_id"] for b in view["blocks"] if b["type"] == "input"}
        if not isinstance(errors, dict) or not errors or not errors.keys() <= inputs:
            return {"ok": False, "error": "invalid_errors", "errors": errors if isinstance(errors, dict) else {}}
        return {"ok": False, "errors": errors}

    async def close(self, user: User, view_id: str, *, clear: bool = False) -> Json:
        """Close a modal; the app hears of it only if it asked to."""
        view = self._view(user, view_id)
        views = self._core.views
        closed = [view] if not clear else [v for i in reversed(views.stacks.get(user.id, [])) if (v := views.find(i))]
        below = None
        if clear or view["clear_on_close"]:
            views.clear(user.id)
        else:
            below = views.close(user.id, view_id)
        for gone in closed:
            if gone["notify_on_close"]:
                install = self._view_install(gone)
                payload = self._core.interactivity.view_event("view_closed", user, install, gone, {"values": {}}, is_cleared=clear)
                self._core.feed.background(self._tell(payload))
        return {"ok": True, "view": below} if below else {"ok": True}

    async def _tell(self, payload: Json) -> None:
        """Send a payload whose answer changes nothing."""
        await self._core.interactivity.send("interactive", payload)

    async def options(self, user: User, body: Json) -> Json:
        """Ask the app for the options of an external menu."""
        where: Json
        if body.get("view_id"):
            view = self._view(user, str(body["view_id"]))
            install, where = self._view_install(view), {"container": {"type": "view", "view_id": view["id"]}, "view": view}
        else:
            channel = self.channel(str(body.get("channel", "")), user)
            message = self._message(channel, str(body.get("message_ts", "")), user)
            install = self.install(channel)
            container = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": bool(message.get("is_ephemeral"))}
            where = {"container": container, "channel": {"id": channel.id, "name": channel.name}, "message": message}
        payload = self._core.interactivity.suggestion(
            user, install, where, block_id=str(body.get("block_id", "")), action_id=str(body.get("action_id", "")), value=str(body.get("value", ""))
        )
        answer = await self._core.interactivity.send("interactive", payload)
        if not answer.ok or not isinstance(answer.body, dict):
            return self._outcome(answer) | ({} if not answer.ok else {"options": []})
        return {"ok": True, **{k: answer.body[k] for k in ("options", "option_groups") if k in answer.body}}

    async def shortcut(self, user: User, callback_id: str, channel: Channel | None, message_ts: str) -> Json:
        """Use a shortcut, on a message when one is given."""
        message = self._message(channel, message_ts, user) if channel and message_ts else None
        install = self.install(channel) if channel else self._core.world.installs[user.team_id]
        payload = self._core.interactivity.shortcut(user, install, callback_id, channel, message)
        return self._outcome(await self._core.interactivity.send("interactive", payload))

    async def command(self, user: User, channel: Channel, command: str, text: str) -> Json:
        """Run a slash command; its immediate answer is shown."""
        core = self._core
        command = command if command.startswith("/") else f"/{command}"
        known = core.world.app.commands
        spec = next((c for c in known if c.command == command), None)
        if known and spec is None:
            raise RefusedError("invalid_command")
        if "commands" not in core.world.app.scopes:
            raise RefusedError("invalid_command")
        install = self.install(channel)
        payload = core.interactivity.command(user, install, channel, command, text, should_escape=spec is not None and spec.should_escape)
        answer = await core.interactivity.send("slash_commands", payload)
        if not answer.ok:
            return self._outcome(answer)
        body = {"text": answer.body} if isinstance(answer.body, str) else answer.body
        if body:
            try:
                post_as_app(core, channel, user.id, body)
            except ApiError as error:
                return {"ok": False, "error": error.error}
        return {"ok": True, "response": answer.body}

    def home(self, user: User, tab: str) -> Json:
        """Open App Home; the app hears `app_home_opened`."""
        core = self._core
        install = core.world.installs[user.team_id] if user.team_id in core.world.installs else next(iter(core.world.installs.values()))
        channel, _ = core.world.conversation((user.id, install.bot_user_id), install.team_id)
        event: Json = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": tab, "event_ts": core.clock.stamp()}
        view = core.views.homes.get(user.id)
        if tab == "home" and view:
            event["view"] = view
        if core.events.subscribed("app_home_opened"):
            core.events.send(install, event, channel)
        return {"ok": True, "view": view} if tab == "home" and view else {"ok": True}

    def stop(self, user: User, channel: Channel, thread_ts: str) -> Json:
        """Press stop in a thread: its streams end for the app, and it hears `agent_session_stopped`."""
        core = self._core
        streams = core.streams.in_thread(channel.id, thread_ts)
        for stream in streams:
            stream.state = "stopped"
        if core.events.subscribed("agent_session_stopped"):
            core.events.send(
                self.install(channel),
                {
                    "type": "agent_session_stopped",
                    "channel": channel.id,
                    "thread_ts": thread_ts,
                    "user": user.id,
                    "streaming_message_ts": [s.ts for s in streams],
                    "event_ts": core.clock.stamp(),
                },
                channel,
            )
        return {"ok": True}
