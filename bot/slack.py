"""The only module that talks to Slack's Web API.

A post is made once: the client never retries it by itself, because a line that drops after Slack took the message
would double it. When an outcome is uncertain, or a predecessor may have posted already, the message is looked up by
the id in its metadata first. Rate limits hold back the one channel or method they name. Everything a caller can see
go wrong is `SlackRefused` (final, with Slack's word for it) or `SlackDown` (worth another try later).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.events import Person
from bot.gate import Identity
from bot.render import Rendered
from memory.keys import Actor

log = structlog.get_logger(__name__)

EVENT_TYPE: Final = "steward_message"
"""`metadata.event_type` of everything we post; the payload's `id` is the outbound id."""

UNCERTAIN: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})
PERSON_LIFETIME: Final = 300.0
ATTEMPTS: Final = 5


class SlackRefused(Exception):  # noqa: N818 - states what happened
    """Slack understood and said no; `code` is its word, e.g. `channel_not_found`."""

    def __init__(self, method: str, code: str) -> None:
        super().__init__(f"{method}: {code}")
        self.method = method
        self.code = code


class SlackDown(Exception):  # noqa: N818 - states a condition
    """Slack did not answer, or only with faults; whether the last request was processed is not known."""


class Slack:
    """One workspace's door. `client` must be made without retry handlers and share one HTTP session."""

    def __init__(self, client: AsyncWebClient, *, backoff: float = 0.5) -> None:
        """`backoff` in seconds: the first pause after a fault; it doubles."""
        self._client = client
        self._backoff = backoff
        self._held: dict[str, float] = {}
        self._people: dict[Actor, tuple[float, dict[str, Any]]] = {}
        self._groups: dict[str, tuple[float, frozenset[str]]] = {}
        self._channels: tuple[float, dict[str, str]] = (0.0, {})
        self._public: tuple[float, list[dict[str, Any]]] = (0.0, [])
        self.me = Identity(team_id="", user_id="")

    async def connect(self) -> Identity:
        """Ask Slack who we are. Raises `SlackRefused` or `SlackDown`."""
        answer = await self._call("auth.test")
        self.me = Identity(answer["team_id"], answer["user_id"], answer.get("bot_id") or "", url=answer.get("url") or "")
        return self.me

    # --- messages ---------------------------------------------------------------------------------------------------

    async def post(
        self, channel: str, thread_ts: str, message: Rendered, outbound_id: str, *, lookup: bool, since: float = 0.0, check: Callable[[], None] = lambda: None
    ) -> str:
        """Post once and return the `ts`. With `lookup`, first find out whether it already stands there.

        It cannot be older than `since` (seconds since the epoch; less a minute for clocks that differ). `check` is called
        just before each send and may raise (a lost lease).
        """
        uncertain = lookup
        for attempt in range(ATTEMPTS):
            if uncertain:
                found = await self.find(channel, thread_ts, [outbound_id], since=since)
                if found.get(outbound_id):
                    ts = found[outbound_id][0]
                    if lookup:  # a predecessor's: it may have shown no more than a part of the answer
                        check()
                        await self.update(channel, ts, message)
                    return ts
            await self._wait_for(f"post:{channel}")
            check()
            try:
                answer = await self._once(
                    "chat.postMessage",
                    {
                        "channel": channel,
                        "text": message.text,
                        "blocks": message.blocks,
                        "unfurl_links": False,
                        "unfurl_media": False,
                        "metadata": {"event_type": EVENT_TYPE, "event_payload": {"id": outbound_id}},
                        **({"thread_ts": thread_ts} if thread_ts else {}),
                    },
                    hold=f"post:{channel}",
                )
                return str(answer["ts"])
            except _RateLimited:
                continue
            except SlackDown:
                uncertain = True
                await asyncio.sleep(self._backoff * 2**attempt)
        raise SlackDown("chat.postMessage")

    async def post_for_tool(self, channel: str, thread_ts: str, message: Rendered) -> str:
        """One try, for a write that a person approved: an uncertain outcome is the caller's to report. Raises `SlackRefused` or `SlackDown`."""
        await self._wait_for(f"post:{channel}")
        args = {"channel": channel, "text": message.text, "blocks": message.blocks, "unfurl_links": False, "unfurl_media": False}
        try:
            answer = await self._once("chat.postMessage", args | ({"thread_ts": thread_ts} if thread_ts else {}), hold=f"post:{channel}")
        except _RateLimited as error:
            raise SlackRefused("chat.postMessage", "ratelimited") from error
        return str(answer["ts"])

    async def update(self, channel: str, ts: str, message: Rendered, *, patient: bool = True) -> None:
        """Replace a message of ours. Without `patient`, a rate limit is reported at once as `SlackDown`."""
        await self._call("chat.update", {"channel": channel, "ts": ts, "text": message.text, "blocks": message.blocks}, attempts=ATTEMPTS if patient else 1)

    async def delete(self, channel: str, ts: str) -> None:
        """Withdraw a message of ours; one that is gone already is fine."""
        try:
            await self._call("chat.delete", {"channel": channel, "ts": ts})
        except SlackRefused as error:
            if error.code != "message_not_found":
                raise

    async def find(self, channel: str, thread_ts: str, outbound_ids: Collection[str], *, since: float = 0.0) -> dict[str, list[str]]:
        """Where messages with these ids stand, oldest first, among those posted after `since` (seconds since the epoch, less a minute)."""
        wanted = set(outbound_ids)
        found: dict[str, list[str]] = {}
        messages: list[dict[str, Any]] = []
        await self._read(messages, channel, thread_ts, {"include_all_metadata": True, "oldest": f"{max(since - 60.0, 0.0):.6f}"})
        for message in messages:
            metadata = message.get("metadata") or {}
            own = metadata.get("event_type") == EVENT_TYPE and message.get("bot_id", self.me.bot_id) == self.me.bot_id
            outbound_id = (metadata.get("event_payload") or {}).get("id")
            if own and outbound_id in wanted:
                found.setdefault(outbound_id, []).append(message["ts"])
        return {key: sorted(stamps) for key, stamps in found.items()}

    async def notice(self, channel: str, user: str, text: str, thread_ts: str, blocks: Sequence[Mapping[str, Any]] = ()) -> None:
        """Tell one person something only they see. One try: it is not worth a second copy."""
        more = {name: value for name, value in (("thread_ts", thread_ts), ("blocks", list(blocks))) if value}
        await self._call("chat.postEphemeral", {"channel": channel, "user": user, "text": text, **more}, attempts=1)

    async def respond(self, url: str, message: Rendered) -> None:
        """Put `message` in the place of the one whose button was clicked, which only one person may see; `url` came with the click. One try."""
        parts, home = urlsplit(url), urlsplit(self._client.base_url)
        slacks = parts.scheme == "https" and (parts.hostname or "").endswith((".slack.com", ".slack-gov.com"))
        if not slacks and (parts.scheme, parts.netloc) != (home.scheme, home.netloc):
            raise SlackRefused("response_url", "invalid_url")
        hook = AsyncWebhookClient(url, session=self._client.session, proxy=self._client.proxy, retry_handlers=[])
        try:
            answer = await hook.send(text=message.text, blocks=message.blocks, response_type="ephemeral", replace_original=True)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackDown(f"response_url: {type(error).__name__}") from error
        if answer.status_code != 200:
            raise SlackRefused("response_url", str(answer.status_code))

    async def send_file(self, user: str, name: str, content: bytes, comment: str) -> None:
        """Send a file to one person, in the direct conversation with them. Its last step is made once: a second one would send it again."""
        room = await self._call("conversations.open", {"users": user})
        place = await self._call("files.getUploadURLExternal", {"filename": name, "length": len(content)}, get=True)
        try:
            async with asyncio.timeout(30.0):
                async with self._session().post(str(place["upload_url"]), data=content, proxy=self._client.proxy) as answer:
                    status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackDown(f"upload: {type(error).__name__}") from error
        if status != 200:
            raise SlackRefused("upload", str(status))
        files = [{"id": place["file_id"], "title": name}]
        await self._call("files.completeUploadExternal", {"files": files, "channel_id": room["channel"]["id"], "initial_comment": comment}, attempts=1)

    async def status(self, channel: str, thread_ts: str, text: str) -> None:
        """Show or (with an empty text) clear the "is thinking…" line; failing is of no consequence to the answer."""
        if not thread_ts:
            return
        try:
            await self._call("assistant.threads.setStatus", {"channel_id": channel, "thread_ts": thread_ts, "status": text}, attempts=1)
        except (SlackRefused, SlackDown) as error:
            log.info("status_not_shown", reason=str(error))

    async def session(self, channel: str, thread_ts: str, status: Literal["processing", "suspended", "active"]) -> None:
        """Tell Slack what the agent does in a thread; its stop button shows only while it is processing. Of no consequence to the answer."""
        args = {"channel_id": channel, "status": status, **({"thread_ts": thread_ts} if thread_ts else {})}
        try:
            await self._call("agents.sessions.setStatus", args, attempts=1)
        except (SlackRefused, SlackDown) as error:
            log.info("session_not_shown", reason=str(error))

    async def history(
        self, channel: str, thread_ts: str, before_ts: str, *, limit: int = 200, oldest: float = 0.0, within: float | None = None
    ) -> tuple[list[dict[str, Any]], bool]:
        """The thread's messages before `before_ts`, oldest first, and whether some are missing; without `thread_ts` the channel's, replies left out.

        Of more than `limit` a thread's first and the newest are given. `oldest` in seconds since the epoch. What was read when `within` seconds are
        over, or Slack fails on a later page, is given as a part; raises `SlackDown` or `SlackRefused` when that is nothing.
        """
        messages: list[dict[str, Any]] = []
        bounds: dict[str, Any] = {"latest": before_ts} | ({"oldest": f"{oldest:.6f}"} if oldest else {})
        if not thread_ts:  # a channel's newest messages come first: one page is enough
            bounds["limit"] = min(limit, 900)
        try:
            async with asyncio.timeout(within):
                missing = await self._read(messages, channel, thread_ts, bounds, pages=5 if thread_ts else 1)
        except (SlackDown, SlackRefused, TimeoutError) as error:
            if not messages:
                raise error if not isinstance(error, TimeoutError) else SlackDown("history: too slow") from error
            log.warning("history_cut_short", reason=str(error) or "too slow")
            missing = True
        found = sorted((m for m in messages if str(m["ts"]) < before_ts), key=lambda m: str(m["ts"]))
        root = [m for m in found[:-limit] if m["ts"] == thread_ts and limit > 1]
        return root + found[len(root) - limit :], missing or len(found) > limit

    async def _read(self, into: list[dict[str, Any]], channel: str, thread_ts: str, bounds: dict[str, Any], *, pages: int = 5) -> bool:
        """Read page by page into a list, which keeps what came before a failure; whether there is more."""
        method = "conversations.replies" if thread_ts else "conversations.history"
        base = {"channel": channel, "limit": 900, **bounds, **({"ts": thread_ts} if thread_ts else {})}
        cursor = ""
        for _ in range(pages):
            try:
                answer = await self._call(method, {**base, **({"cursor": cursor} if cursor else {})}, get=True)
            except SlackRefused as error:
                if error.code == "thread_not_found":
                    break
                raise
            into += answer.get("messages") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return bool(cursor)

    async def permalink(self, channel: str, ts: str) -> str:
        """A link to a message."""
        return str((await self._call("chat.getPermalink", {"channel": channel, "message_ts": ts}, get=True)).get("permalink", ""))

    # --- views ------------------------------------------------------------------------------------------------------

    async def open_view(self, trigger_id: str, view: dict[str, Any]) -> None:
        """Open a modal; the trigger lives for three seconds, so there is one try."""
        await self._call("views.open", {"trigger_id": trigger_id, "view": view}, attempts=1)

    async def update_view(self, view_id: str, view: dict[str, Any]) -> None:
        """Put another view in an open one's place. One try: whoever looks at it may have closed it."""
        await self._call("views.update", {"view_id": view_id, "view": view}, attempts=1)

    async def publish_home(self, user: str, view: dict[str, Any]) -> None:
        """Show the App Home of one person."""
        await self._call("views.publish", {"user_id": user, "view": view})

    # --- people and places --------------------------------------------------------------------------------------------

    async def person(self, actor: Actor, groups: Iterable[str] = ()) -> Person:
        """What Slack says about someone, kept for five minutes; `groups` are the user groups to look into.

        Raises `SlackDown` when Slack does not say, `SlackRefused` for an unknown user.
        """
        kept = self._people.get(actor)
        if kept is None or kept[0] < monotonic():
            answer = await self._call("users.info", {"user": actor.user_id, "include_locale": True}, get=True)
            kept = (monotonic() + PERSON_LIFETIME, answer["user"])
            if len(self._people) > 10_000:
                self._people.clear()
            self._people[actor] = kept
        user = kept[1]
        profile = user.get("profile") or {}
        member_of = [group for group in groups if actor.user_id in await self._members_of_group(group)]
        home = user.get("team_id") or actor.team_id
        return Person(
            name=profile.get("display_name") or profile.get("real_name") or user.get("real_name") or user.get("name") or actor.user_id,
            timezone=user.get("tz") or "UTC",
            locale=user.get("locale") or "en",
            is_bot=bool(user.get("is_bot")),
            is_deleted=bool(user.get("deleted")),
            is_admin=bool(user.get("is_admin") or user.get("is_owner") or user.get("is_primary_owner")),
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            is_foreign=bool(user.get("is_stranger")) or (home != self.me.team_id and not user.get("enterprise_user")) or actor.team_id != self.me.team_id,
            groups=tuple(member_of),
        )

    async def _members_of_group(self, group: str) -> frozenset[str]:
        kept = self._groups.get(group)
        if kept is None or kept[0] < monotonic():
            answer = await self._call("usergroups.users.list", {"usergroup": group}, get=True)
            kept = (monotonic() + 60.0, frozenset(answer.get("users") or []))
            self._groups[group] = kept
        return kept[1]

    async def channel_id(self, name: str) -> str | None:
        """The id of a channel given by name (`#general`), among those we are told about."""
        wanted = name.lstrip("#").casefold()
        if self._channels[0] < monotonic():
            known: dict[str, str] = {}
            cursor = ""
            for _ in range(10):
                answer = await self._call(
                    "conversations.list",
                    {"types": "public_channel,private_channel", "exclude_archived": True, "limit": 200, **({"cursor": cursor} if cursor else {})},
                    get=True,
                )
                known |= {c["name"].casefold(): c["id"] for c in answer.get("channels") or [] if c.get("name")}
                cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
                if not cursor:
                    break
            self._channels = (monotonic() + 60.0, known)
        return self._channels[1].get(wanted)

    async def channel(self, name: str) -> dict[str, Any] | None:
        """The channel of that name (`#general`) or id, as Slack knows it at this moment; None when there is none that we are told about."""
        if name[:1] in {"C", "G", "D"} and name.isalnum() and name.isupper():
            return await self._channel(name)
        for _ in range(2):
            found = await self.channel_id(name)
            channel = await self._channel(found) if found is not None else None
            if channel is not None and channel.get("name", "").casefold() == name.lstrip("#").casefold():
                return channel
            self._channels = (0.0, {})  # made, renamed or closed since they were last listed
        return None

    async def _channel(self, channel: str) -> dict[str, Any] | None:
        try:
            answer = await self._call("conversations.info", {"channel": channel}, get=True)
        except SlackRefused as error:
            if error.code in {"channel_not_found", "missing_scope"}:
                return None
            raise
        found: dict[str, Any] = answer["channel"]
        return found

    async def conversations(self, user: str = "") -> list[dict[str, Any]]:
        """The conversations a person is in (without `user`: we ourselves), as far as we may know of them; asked anew each time."""
        types = {"types": "public_channel,private_channel,mpim,im", "exclude_archived": True}
        return await self._listing("users.conversations", types | ({"user": user} if user else {}))

    async def public_channels(self) -> list[dict[str, Any]]:
        """Every public channel that is not archived, kept for a minute: a large workspace has many pages of them, and Slack gives few a minute."""
        if self._public[0] < monotonic():
            self._public = (monotonic() + 60.0, await self._listing("conversations.list", {"types": "public_channel", "exclude_archived": True}))
        return self._public[1]

    async def _listing(self, method: str, args: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = ""
        for _ in range(20):
            answer = await self._call(method, {**args, "limit": 200, **({"cursor": cursor} if cursor else {})}, get=True)
            found += answer.get("channels") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return found

    async def page(self, channel: str, *, oldest: float, thread_ts: str = "", cursor: str = "") -> tuple[list[dict[str, Any]], str]:
        """One page of a channel, newest first, or of a thread, oldest first, and the cursor of the next. One try: a rate limit is `SlackDown`."""
        more = ({"ts": thread_ts} if thread_ts else {}) | ({"cursor": cursor} if cursor else {})
        args = {"channel": channel, "limit": 200, "oldest": f"{oldest:.6f}", **more}
        answer = await self._call("conversations.replies" if thread_ts else "conversations.history", args, get=True, attempts=1)
        return answer.get("messages") or [], (answer.get("response_metadata") or {}).get("next_cursor") or ""

    async def is_member(self, channel: str, user: str) -> bool:
        """Whether a person is in a channel."""
        cursor = ""
        for _ in range(20):
            answer = await self._call("conversations.members", {"channel": channel, "limit": 200, **({"cursor": cursor} if cursor else {})}, get=True)
            if user in (answer.get("members") or []):
                return True
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return False

    def _session(self) -> aiohttp.ClientSession:
        if self._client.session is None:
            raise SlackDown("not connected")
        return self._client.session

    # --- the wire -----------------------------------------------------------------------------------------------------

    async def _call(self, method: str, args: dict[str, Any] | None = None, *, get: bool = False, attempts: int = ATTEMPTS) -> dict[str, Any]:
        """A request that may be repeated without harm."""
        for attempt in range(attempts):
            if attempts == 1 and self._held.get(method, 0.0) > monotonic():
                raise SlackDown(f"{method}: held back by a rate limit")  # not worth waiting for
            await self._wait_for(method)
            try:
                return await self._once(method, args or {}, get=get, hold=method)
            except _RateLimited:
                if attempt + 1 == attempts:
                    raise SlackDown(method) from None
            except SlackDown:
                if attempt + 1 == attempts:
                    raise
                await asyncio.sleep(self._backoff * 2**attempt)
        raise SlackDown(method)

    async def _wait_for(self, key: str) -> None:
        while (delay := self._held.get(key, 0.0) - monotonic()) > 0:  # noqa: ASYNC110 - another answer may lengthen the hold meanwhile
            await asyncio.sleep(delay)

    async def _once(self, method: str, args: dict[str, Any], *, hold: str, get: bool = False) -> dict[str, Any]:
        try:
            if get:
                answer = await self._client.api_call(method, http_verb="GET", params=args)
            else:
                answer = await self._client.api_call(method, json=args)
        except SlackApiError as error:
            code = str(error.response.get("error") or "") if isinstance(error.response.data, dict) else ""
            status = error.response.status_code
            if status == 429 or code in {"ratelimited", "rate_limited"}:
                wait = _retry_after(error.response.headers)
                self._held[hold] = max(self._held.get(hold, 0.0), monotonic() + wait)
                log.info("slack_rate_limited", method=method, seconds=wait)
                raise _RateLimited from error
            if status >= 500 or code in UNCERTAIN or not code:
                raise SlackDown(f"{method}: {code or status}") from error
            raise SlackRefused(method, code) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackDown(f"{method}: {type(error).__name__}") from error
        if not isinstance(answer.data, dict):
            raise SlackDown(f"{method}: not JSON")
        return answer.data


class _RateLimited(Exception):  # noqa: N818 - internal signal
    """Slack asked us to wait; the hold is already noted."""


def _retry_after(headers: Any) -> float:
    for key, value in dict(headers).items():
        if str(key).lower() == "retry-after":
            with contextlib.suppress(ValueError, TypeError):
                return min(max(float(value), 0.0), 600.0)
    return 1.0
