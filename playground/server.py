"""The playground itself: builds the parts, serves them on loopback, and offers the in-process API used by tests and by the starter.

Start it, give `bot_token` and `api_url` to a Bolt app, `say` something as a person and `wait_for` the answer:
`ts = await pg.say("alice", "#general", "@steward hello")`, then `await pg.wait_for(lambda: len(pg.messages("#general", ts)) > 1)`.
"""

from __future__ import annotations

import secrets
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

import playground.webapi  # noqa: F401  (registers the methods)
from playground import seed
from playground.actions import Actions
from playground.appconfig import AppConfig
from playground.clock import Clock, Ids
from playground.control import Control, visible_messages
from playground.core import Core
from playground.delivery import Control as DeliveryControl
from playground.delivery import Delivery, Transport
from playground.events import AppEvents
from playground.faults import Faults
from playground.feed import Feed
from playground.filestore import MAX_BYTES, FileStore
from playground.hooks import Hooks
from playground.interactivity import Interactivity
from playground.limits import Limits
from playground.pagefeed import PageFeed
from playground.people import Json
from playground.sessions import Sessions
from playground.snapshot import Snapshot
from playground.socketmode import SocketMode
from playground.streaming import Streams
from playground.testing import Testing, add_to_workspace
from playground.transport_http import HttpTransport
from playground.views import Views
from playground.web import Site, guard
from playground.webapi.dispatch import WebApi
from playground.world import World

T = TypeVar("T")
CALLS_KEPT = 50_000
CALLS_KEPT_LONG = 2_000  # where a workspace is kept it runs for days, and nobody counts its calls
QUEUE_SECONDS = 360.0


class Playground:
    """A local Slack with one app.

    Args:
        port: 0 takes a free one.
        host: A loopback address.
        app_config: The app; a usable default when None.
        request_url: Where the app takes signed HTTP. None means Socket Mode.
        enforce_rate_limits: Answer 429 above Slack's promised rates.
        time_scale: Multiplies the waits between retries.
        state_path: Keep the workspace in this file across restarts.
        ack_timeout: Seconds the app has to acknowledge.
        examples: Messages that the page offers to someone who does not know what to write.

    """

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        app_config: AppConfig | None = None,
        request_url: str | None = None,
        enforce_rate_limits: bool = False,
        time_scale: float = 1.0,
        state_path: str | Path | None = None,
        ack_timeout: float = 3.0,
        examples: Sequence[str] = (),
    ) -> None:
        self.app_config = replace(app_config or AppConfig(), client_secret=(app_config or AppConfig()).client_secret or secrets.token_hex(16))
        self.verification_token = secrets.token_hex(12)
        self._address = (host, port)
        self._runner: web.AppRunner | None = None
        app, clock, ids, feed = self.app_config, Clock(), Ids(), Feed()
        world = World(app, clock, ids)
        self._seed(world)
        control = DeliveryControl(time_scale=time_scale)
        socket_mode = SocketMode(app.app_id, ids, feed, ack_timeout, lambda: QUEUE_SECONDS * max(control.time_scale, 0.1))
        self._http = HttpTransport(request_url, lambda: self.core.signing_secret, ack_timeout) if request_url else None
        transport: Transport = self._http or socket_mode
        delivery = Delivery(transport, control, clock, feed)
        events = AppEvents(world, delivery, self.verification_token)
        self.core = Core(
            world=world,
            clock=clock,
            ids=ids,
            feed=feed,
            delivery=delivery,
            events=events,
            interactivity=Interactivity(world, delivery, clock, ids, self.verification_token),
            views=Views(clock, ids, feed),
            streams=Streams(clock, ids),
            sessions=Sessions(clock, feed),
            files=FileStore(clock, ids),
            limits=Limits(clock, enforce=enforce_rate_limits),
            faults=Faults(),
            socket=socket_mode,
            calls=deque(maxlen=CALLS_KEPT if state_path is None else CALLS_KEPT_LONG),
            signing_secret=secrets.token_hex(16),
            app_token=world.issue_token("app", seed.TEAM_ID, "", ("connections:write",)).value,
        )
        world.listeners += [PageFeed(world, feed).on_change, events.on_change]
        self._actions = Actions(self.core)
        self._examples = tuple(examples)
        self._snapshot = Snapshot(self.core, Path(state_path)) if state_path is not None else None

    def _seed(self, world: World) -> None:
        world.teams = {t.id: t for t in seed.teams()}
        world.users = {u.id: u for u in seed.users(self.app_config)}
        for channel in seed.channels(self.app_config):
            world.add_channel(channel)
        world.usergroups["S01SUPPORT"] = {
            "id": "S01SUPPORT",
            "team_id": seed.TEAM_ID,
            "is_usergroup": True,
            "name": "Support",
            "handle": "support",
            "description": "",
            "date_delete": 0,
            "users": [seed.ALICE, seed.MEI],
            "user_count": 2,
        }
        world.install(seed.TEAM_ID, self.app_config.bot_user_id, self.app_config.bot_id)

    # -- addresses and secrets --------------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        return self.core.url

    @property
    def api_url(self) -> str:
        """The base of the Web API, for `AsyncWebClient(base_url=…)`."""
        return f"{self.core.url}/api/"

    @property
    def team_id(self) -> str:
        """The home workspace."""
        return seed.TEAM_ID

    @property
    def signing_secret(self) -> str:
        """What requests to the app are signed with; assign to rotate it."""
        return self.core.signing_secret

    @signing_secret.setter
    def signing_secret(self, value: str) -> None:
        self.core.signing_secret = value

    @property
    def bot_token(self) -> str:
        """The app's bot token in the home workspace."""
        return self.core.world.installs[seed.TEAM_ID].token

    @property
    def app_token(self) -> str:
        """The app-level token for Socket Mode."""
        return self.core.app_token

    @property
    def bot_user_id(self) -> str:
        """The app's user in the home workspace."""
        return self.core.world.installs[seed.TEAM_ID].bot_user_id

    def user_token(self, user: str, scopes: tuple[str, ...] = ("chat:write", "channels:read", "channels:history", "users:read")) -> str:
        """A new user token (xoxp) for a person."""
        found = self._actions.user(user)
        return self.core.world.issue_token("user", found.team_id, found.id, scopes).value

    # -- life -------------------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Serve. Afterwards `url` is known."""
        if self._snapshot is not None:
            self._snapshot.restore()
            self.core.feed.watchers.append(self._snapshot.changed)
        app = web.Application(middlewares=[guard], client_max_size=MAX_BYTES + 1024)
        app.router.add_route("*", "/api/{method}", WebApi(self.core).handle)
        app.router.add_get("/link/", self.core.socket.handle)
        app.router.add_post("/hooks/{kind}/{id}", Hooks(self.core).handle)
        app.add_routes([*Control(self.core, self._actions, self._examples).routes(), *Testing(self.core).routes(), *Site(self.core).routes()])
        listener = socket.socket(socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(self._address)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()
        self.core.url = self.core.interactivity.base_url = f"http://{self._address[0]}:{listener.getsockname()[1]}"

    async def stop(self) -> None:
        """Stop serving; give up what is under way; write the state file, if any."""
        core = self.core
        await core.delivery.stop()
        core.sessions.stop()
        await core.feed.stop()
        await core.socket.stop()
        if self._http is not None:
            await self._http.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._snapshot is not None:
            core.feed.watchers.clear()
            self._snapshot.write()

    # -- what people do ---------------------------------------------------------------------------------------------------------------
    # Users are given by id or name, channels by id or "#name"; "@name" is the person's direct conversation with that user.

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None, **raw: Any) -> str:
        """Post as a person; the new message's ts. `@name`, `#channel` and ready-made `<@U1>` become mentions.

        `broadcast` and `file_ids` work as on the page. Any other keyword is put into the message as it is, and then nothing is encoded;
        `raw=True` alone means the same.
        """
        who = self._actions.user(user)
        broadcast, file_ids = bool(raw.pop("broadcast", False)), raw.pop("file_ids", None)
        taken = {k: v for k, v in raw.items() if k != "raw"} if raw else None
        posted = self._actions.say(who, self._actions.channel(channel, who), text, thread_ts, entities=True, broadcast=broadcast, file_ids=file_ids, raw=taken)
        return str(posted["ts"])

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Edit one's own message. Raises `actions.RefusedError`."""
        who = self._actions.user(user)
        self._actions.edit(who, self._actions.channel(channel, who), ts, text, entities=True)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete one's own message. Raises `actions.RefusedError`."""
        who = self._actions.user(user)
        self._actions.delete(who, self._actions.channel(channel, who), ts)

    async def react(self, user: str, channel: str, ts: str, name: str, *, remove: bool = False) -> None:
        """Add or take back a reaction. Raises `actions.RefusedError`."""
        who = self._actions.user(user)
        self._actions.react(who, self._actions.channel(channel, who), ts, name, remove=remove)

    async def click(
        self, user: str, channel: str, message_ts: str, action_id: str, value: str | None = None, *, state: Json | None = None, **chosen: Any
    ) -> Json:
        """Use an element of a message: `{"ok": true, "response": acknowledgement}`, or ok false with `dispatch_failed` when not acknowledged in time.

        `value` chooses among elements with the same action_id, or overrides the element's value (a forged click); `chosen` may give
        `selected_option` and the like. Raises `actions.RefusedError` when there never was such an element.
        """
        who = self._actions.user(user)
        given = {"action_id": action_id, "value": value, **chosen}
        return await self._actions.click(who, self._actions.channel(channel, who), message_ts, given, state)

    async def click_view(self, user: str, view_id: str, action_id: str, value: str | None = None, *, state: Json | None = None, **chosen: Any) -> Json:
        """Use an element of a modal or App Home."""
        return await self._actions.click_view(self._actions.user(user), view_id, {"action_id": action_id, "value": value, **chosen}, state)

    async def submit(self, user: str, view_id: str, values: Json) -> Json:
        """Submit a modal; `values` is `{block_id: {action_id: {…}}}`. The answer is as on the page."""
        return await self._actions.submit(self._actions.user(user), view_id, {"values": values})

    async def close_view(self, user: str, view_id: str, *, clear: bool = False) -> Json:
        """Close a modal (`clear`: the whole stack)."""
        return await self._actions.close(self._actions.user(user), view_id, clear=clear)

    async def command(self, user: str, channel: str, command: str, text: str = "") -> Json:
        """Run a slash command."""
        who = self._actions.user(user)
        return await self._actions.command(who, self._actions.channel(channel, who), command, text)

    async def shortcut(self, user: str, callback_id: str, channel: str | None = None, message_ts: str = "") -> Json:
        """Use a shortcut, on a message when one is given."""
        who = self._actions.user(user)
        return await self._actions.shortcut(who, callback_id, self._actions.channel(channel, who) if channel else None, message_ts)

    async def options(self, user: str, **body: Any) -> Json:
        """Ask for an external menu's options: `channel`+`message_ts` or `view_id`, `block_id`, `action_id`, `value`."""
        return await self._actions.options(self._actions.user(user), body)

    async def open_home(self, user: str, tab: str = "home") -> Json:
        """Open App Home."""
        return self._actions.home(self._actions.user(user), tab)

    async def stop_session(self, user: str, channel: str, thread_ts: str) -> Json:
        """Press the stop button of a thread."""
        who = self._actions.user(user)
        return self._actions.stop(who, self._actions.channel(channel, who), thread_ts)

    async def upload(self, user: str, name: str, content: bytes) -> str:
        """Upload a file as a person; its id, to be shared with `say(…, file_ids=[id])`."""
        who = self._actions.user(user)
        return self.core.files.new(name, len(content), who.id, who.team_id, content).id

    async def open_dm(self, user: str, *others: str) -> str:
        """The id of the direct or group conversation of these people, made if new."""
        who = self._actions.user(user)
        channel, _ = self.core.world.conversation((who.id, *(self._actions.user(o).id for o in others)), who.team_id)
        return channel.id

    def dm(self, user: str) -> str:
        """The id of a person's direct conversation with the app."""
        channel, _ = self.core.world.conversation((self._actions.user(user).id, self.bot_user_id), seed.TEAM_ID)
        return channel.id

    # -- what there is ----------------------------------------------------------------------------------------------------------------

    def messages(self, channel: str, thread_ts: str | None = None, user: str | None = None, limit: int = 1000) -> list[Json]:
        """A channel's roots, or a thread with its root, oldest first; with `user`, that person's ephemeral messages too."""
        who = self._actions.user(user) if user else None
        return visible_messages(self._actions.channel(channel), who, thread_ts, limit)

    def message(self, channel: str, ts: str) -> Json | None:
        """One message by its ts."""
        return self._actions.channel(channel).messages.get(ts)

    def ephemerals(self, user: str, channel: str | None = None) -> list[Json]:
        """The ephemeral messages a person has seen and not dismissed, oldest first."""
        who = self._actions.user(user)
        rooms = [self._actions.channel(channel)] if channel else list(self.core.world.channels.values())
        return sorted((m for c in rooms for m in c.ephemerals if m["ephemeral_to"] == who.id), key=lambda m: str(m["ts"]))

    def view(self, user: str) -> Json | None:
        """The modal a person sees now."""
        return self.core.views.top(self._actions.user(user).id)

    def home(self, user: str) -> Json | None:
        """A person's App Home as last published."""
        return self.core.views.homes.get(self._actions.user(user).id)

    def status(self, channel: str, thread_ts: str) -> str:
        """The typing status shown in a thread, "" when none."""
        shown = self.core.sessions.status(self._actions.channel(channel).id, thread_ts)
        return str(shown["status"]) if shown else ""

    def calls(self, method: str | None = None) -> list[Json]:
        """The Web API calls so far: `{n, at, method, args, ok, error, status, token_kind}` each, and `ts` where the answer had one."""
        return [c for c in self.core.calls if method is None or c["method"] == method]

    def deliveries(self) -> list[Json]:
        """Every attempt to reach the app: `{event_id, kind, type, retry_num, status, reason, at, duration_ms, transport}`."""
        return list(self.core.delivery.log)

    # -- what tests order -------------------------------------------------------------------------------------------------------------

    def fault(self, method: str, kind: str, times: int = 1, **more: Any) -> None:
        """The next `times` calls of `method` (`*` = any) fail: `kind` status, ratelimit, error, drop, drop_after, delay."""
        self.core.faults.add({"method": method, "kind": kind, "times": times, **more})

    def delivery(self, **settings: Any) -> None:
        """Set how events reach the app: copies, order, gap_ms, drop, delay_ms, retries, time_scale, seed."""
        self.core.delivery.control.set(settings)

    def send(self, envelope: Json) -> str:
        """Deliver an event envelope as it is; its event_id."""
        return self.core.events.send_envelope(envelope)

    def add(self, **what: Any) -> Json:
        """Add `teams`, `users`, `channels`, `usergroups`; the bot tokens of new teams."""
        return add_to_workspace(self.core, what)

    async def verify_request_url(self) -> bool:
        """The handshake Slack makes when a request URL is saved; always true in Socket Mode."""
        return self._http is None or await self._http.verify_url(self.verification_token, secrets.token_hex(16))

    async def disconnect(self, reason: str = "refresh_requested") -> int:
        """Ask Socket Mode connections to leave, or cut them with `abort`."""
        return await self.core.socket.disconnect(reason)

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """Wait until `predicate()` is truthy, looking again at each change, Web API call and delivery; its value.

        Raises `TimeoutError` after `timeout` seconds.
        """
        return await self.core.feed.wait_for(predicate, timeout)
