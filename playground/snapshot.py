"""Keeping the workspace across restarts: one JSON file, written atomically a moment after each change and on stop."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from dataclasses import asdict
from pathlib import Path

from playground.core import Core
from playground.filestore import StoredFile
from playground.people import Channel, Json, Team, Token, User

VERSION = 1
DEBOUNCE_SECONDS = 0.5


def dump(core: Core) -> Json:
    """The kept state as JSON."""
    world = core.world
    return {
        "version": VERSION,
        "signing_secret": core.signing_secret,
        "app_token": core.app_token,
        "teams": [asdict(t) for t in world.teams.values()],
        "users": [asdict(u) for u in world.users.values()],
        "channels": [_channel(c) for c in world.channels.values()],
        "usergroups": world.usergroups,
        "installs": [asdict(i) for i in world.installs.values()],
        "tokens": [{**asdict(t), "scopes": sorted(t.scopes)} for t in world.tokens.values()],
        "homes": core.views.homes,
        "files": [{**asdict(f), "content": base64.b64encode(f.content).decode() if f.content is not None else None} for f in core.files.files.values()],
    }


def _channel(channel: Channel) -> Json:
    fields = {name: getattr(channel, name) for name in Channel.__slots__ if name != "members"}
    return {**fields, "members": list(channel.members), "shared_with": list(channel.shared_with)}


def load(core: Core, state: Json) -> None:
    """Put kept state back into a fresh workspace. Streams cut short by the restart show as errored."""
    world = core.world
    world.teams = {t["id"]: Team(**t) for t in state["teams"]}
    kept = {u["id"]: User(**u) for u in state["users"]}
    world.users = kept | {i.bot_user_id: world.users[i.bot_user_id] for i in world.installs.values() if i.bot_user_id in world.users}
    world.usergroups = state["usergroups"]
    world.channels.clear()
    for fields in state["channels"]:
        channel = Channel(**{**fields, "members": dict.fromkeys(fields["members"]), "shared_with": tuple(fields["shared_with"])})
        for ts, message in channel.messages.items():
            core.clock.not_before(ts)
            if message.get("streaming_state") == "in_progress":
                channel.messages[ts] = {**message, "streaming_state": "errored"}
        world.add_channel(channel)
    core.signing_secret, core.app_token = state["signing_secret"], state["app_token"]
    world.tokens.clear()
    for install in state["installs"]:
        world.install(install["team_id"], install["bot_user_id"], install["bot_id"], install["token"])
    for token in state["tokens"]:
        if token["kind"] != "bot":
            world.tokens[token["value"]] = Token(**{**token, "scopes": frozenset(token["scopes"])})
    for user_id, view in state["homes"].items():
        core.views.homes[user_id] = core.views.open_views[view["id"]] = view
        core.views.owners[view["id"]] = user_id
    for fields in state["files"]:
        content = base64.b64decode(fields["content"]) if fields["content"] is not None else None
        core.files.files[fields["id"]] = StoredFile(**{**fields, "content": content, "shared_in": dict.fromkeys(fields["shared_in"])})


class Snapshot:
    """Writes the state file."""

    def __init__(self, core: Core, path: Path) -> None:
        self._core = core
        self._path = path
        self._timer: asyncio.TimerHandle | None = None
        self._wait = DEBOUNCE_SECONDS

    def restore(self) -> bool:
        """Load the file if there is one. Raises `ValueError` when it is not a state file of this version."""
        if not self._path.exists():
            return False
        state = json.loads(self._path.read_text("utf-8"))
        if not isinstance(state, dict) or state.get("version") != VERSION:
            raise ValueError(f"{self._path} is not a playground state of version {VERSION}")
        load(self._core, state)
        return True

    def changed(self) -> None:
        """Write soon; several changes in a row are written once."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait, self.write)

    def write(self) -> None:
        """Write now, to a file beside it first, so that a crash leaves the old one whole."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        started = time.monotonic()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".tmp")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(dump(self._core), file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
        # A large workspace takes long to write: write it the more rarely, so that it never costs more than a twentieth of the time.
        self._wait = max(DEBOUNCE_SECONDS, 20 * (time.monotonic() - started))
