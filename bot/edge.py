"""The edge: everything Slack sends comes in here, over HTTP or Socket Mode, and goes no further than the mailbox.

Over HTTP the size, the signature and the time window are checked on the raw bytes before anything is parsed. Bolt does
the routing; a listener gates, stores and only then is the request acknowledged, so that a 200 means "stored". When the
mailbox does not answer the reply is a 503 (over Socket Mode: no acknowledgement) and Slack delivers again.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from time import time
from typing import Any, Final

import structlog
from aiohttp import web
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.context_commands import memory_click, memory_form, menu
from bot.events import Decision, Event, Mention, Reset
from bot.fold import BARE_MENTION_PATIENCE
from bot.gate import Accepted, Identity, admit
from bot.interaction import Interaction, Refused, clicked, submitted
from bot.manifest import MEMORY_COMMAND, SHORTCUT
from bot.memory_forms import click_of, form_of
from bot.messages import say
from bot.render import Rendered
from bot.shape import readable
from memory.keys import Thread
from memory.mailbox import Delivery, Mailbox, MailboxDown

log = structlog.get_logger(__name__)

EVENTS_USED: Final = ("app_mention", "message", "app_home_opened", "agent_session_stopped", "app_uninstalled")
"""The event types listened to; everything else is acknowledged and ignored."""
MAX_BODY: Final = 1024 * 1024
BOT_MENTIONS: Final = 5
"""Mentions by one bot at the top of a channel that are answered within `BOT_WINDOW` seconds; two bots may be talking to each other."""
BOT_WINDOW: Final = 600.0
WINDOW: Final = 300
"""Seconds a request's timestamp may differ from our clock."""
ANSWER_WITHIN: Final = 2.2
"""Seconds after which a request is answered 503: Slack waits three, and a late 200 would be counted as a failure."""
COMMAND: Final = "/steward"


def _expected(record: logging.LogRecord) -> bool:
    """Drops Bolt's warning that a token is not used: we authorise ourselves, with that very token."""
    return not any(words in record.getMessage() for words in ("will be ignored", "will be unused"))


class Edge:
    """Wires Bolt's listeners to the mailbox. `mailbox` should be one with short time-outs and no retries of its own."""

    def __init__(self, mailbox: Mailbox, interaction: Interaction, client: AsyncWebClient, me: Identity, *, signing_secret: str = "") -> None:
        """`client` is what Bolt hands to listeners; no listener here calls Slack with it."""
        self._mailbox = mailbox
        self._interaction = interaction
        self._me = me
        self._verifier = SignatureVerifier(signing_secret) if signing_secret else None
        token = client.token

        async def authorize(**_: Any) -> AuthorizeResult:
            # Known since start: Bolt need not ask Slack, and an environment with OAuth settings changes nothing.
            return AuthorizeResult(enterprise_id=None, team_id=me.team_id, bot_user_id=me.user_id, bot_id=me.bot_id, bot_token=token)

        logging.getLogger("slack_bolt.AsyncApp").addFilter(_expected)
        self.app = AsyncApp(
            client=client,
            authorize=authorize,
            signing_secret=signing_secret or "unused",
            request_verification_enabled=False,
            process_before_response=True,
            attaching_function_token_enabled=False,  # no listener here is a workflow step,
            attaching_conversation_kwargs_enabled=False,  # and none speaks: what would be made for each event is never used
        )
        self._listen()

    def _listen(self) -> None:
        app = self.app
        for name in ("app_mention", "message", "agent_session_stopped"):
            app.event(name)(self._on_event)
        app.event("app_home_opened")(self._on_home)
        app.event("app_uninstalled")(self._on_uninstalled)
        app.event(re.compile(r".*"))(self._ignore)
        app.action(re.compile(r"^steward:"))(self._on_action)
        app.action(re.compile(r".*"))(self._acknowledge)
        app.view(re.compile(r"^steward:"))(self._on_view)
        app.view_closed(re.compile(r".*"))(self._acknowledge)
        app.command(COMMAND)(self._on_command)
        app.command(MEMORY_COMMAND)(self._on_memory_command)
        app.message_shortcut(SHORTCUT["callback_id"])(self._on_shortcut)
        app.error(self._on_error)

    # --- events ---------------------------------------------------------------------------------------------------------

    async def _on_event(self, body: dict[str, Any]) -> None:
        event = body.get("event")
        if not isinstance(event, dict):
            raise ValueError("event is not an object")
        accepted = admit(event, self._me)
        if accepted is None:
            accepted = await self._continuation(event)
        if accepted is not None:
            await self.deliver(accepted)

    async def deliver(self, accepted: Accepted) -> Delivery:
        """Store one accepted event. Raises `MailboxDown`, also when the session's mail is full."""
        event: Event = accepted.event
        counter = f"bot:{event.actor.user_id}" if isinstance(event, Mention) and event.from_bot and event.root else ""
        if isinstance(event, Mention) and counter:
            mentions = int(await self._mailbox.kept(event.thread, counter) or 0)
            if mentions > BOT_MENTIONS:
                log.warning("bot_ignored", bot=event.actor.user_id, channel=event.thread.channel_id)
                return Delivery.DUPLICATE
            event = event.model_copy(update={"enough": mentions == BOT_MENTIONS})
        result = await self._mailbox.deliver(
            event.thread, event.key, event.model_dump_json(exclude_defaults=False).encode(), only_if_followed=accepted.only_if_followed
        )
        log.info("delivered", kind=event.kind, key=event.key, session=event.thread.id, correlation=event.correlation, result=result.name.lower())
        if result is Delivery.FULL:
            raise MailboxDown("mail full")
        if isinstance(event, Mention) and event.root and not event.text and not event.files and result is Delivery.STORED:
            # Someone who sends the bare mention first and the words as a second message means one request.
            await self._mailbox.keep(event.thread, f"bare:{event.actor.user_id}", event.ts, BARE_MENTION_PATIENCE)
        if counter and result is Delivery.STORED:
            await self._mailbox.count(event.thread, counter, BOT_WINDOW)
        for other in accepted.also:
            await self.deliver(Accepted(other, only_if_followed=accepted.only_if_followed))
        return result

    async def _continuation(self, event: dict[str, Any]) -> Accepted | None:
        """The words after a bare mention, when they came as a top-level message of the same person in the same channel.

        Remembered in the mailbox, not here: the second message may reach another replica.
        """
        channel, user, ts = event.get("channel"), event.get("user"), event.get("ts")
        if event.get("type") != "message" or event.get("subtype") or event.get("thread_ts") or event.get("bot_id"):
            return None
        if not (isinstance(channel, str) and isinstance(user, str) and isinstance(ts, str)):
            return None
        mention_ts = await self._mailbox.kept(Thread(team_id=self._me.team_id, channel_id=channel), f"bare:{user}")
        if mention_ts is None or ts <= mention_ts:
            return None
        return admit({**event, "thread_ts": mention_ts}, self._me)

    async def _on_home(self, body: dict[str, Any]) -> None:
        event = body["event"]
        if event.get("tab") == "home":
            await self._interaction.show_home(str(event.get("user", "")))

    async def _on_uninstalled(self, body: dict[str, Any]) -> None:
        """Not acknowledged before everything of the workspace is deleted: Slack then tells us again."""
        desk = self._interaction.desk
        if desk is not None and not await desk.uninstalled(str(body.get("team_id", ""))):
            raise MailboxDown("not erased yet")

    async def _ignore(self, body: dict[str, Any]) -> None:
        log.debug("event_ignored", type=(body.get("event") or {}).get("type"))

    # --- buttons, forms, commands ---------------------------------------------------------------------------------------

    async def _on_action(self, ack: Callable[[], Awaitable[Any]], body: dict[str, Any]) -> None:
        remembered = click_of(body, self._me)
        if remembered is not None:
            if self._interaction.desk is not None:
                await self._interaction.desk.clicked(remembered)
            await ack()
            return
        about_memory = memory_click(body, self._me)
        if about_memory is not None:
            if self._interaction.memory is not None:
                await self._interaction.memory.clicked(about_memory, self._forget)
            await ack()
            return
        click = clicked(body, self._me)
        if isinstance(click, Decision):
            await self.deliver(Accepted(click))
        elif click is not None:
            await self._interaction.open(click)
        else:
            log.warning("click_unreadable", user=str((body.get("user") or {}).get("id", "")))
        await ack()

    async def _on_view(self, ack: Callable[..., Awaitable[Any]], body: dict[str, Any]) -> None:
        remembered = form_of(body, self._me)
        if remembered is not None and self._interaction.desk is not None:
            await ack(**await self._interaction.desk.submitted(remembered))
            return
        about_memory = memory_form(body, self._me)
        if about_memory is not None and self._interaction.memory is not None:
            await ack(response_action="update", view=await self._interaction.memory.submitted(about_memory, self._forget))
            return
        form = submitted(body, self._me)
        if form is None:
            await ack()
            return
        checked = await self._interaction.check(form)
        if isinstance(checked, Refused):
            await ack(response_action="errors", errors=checked.errors)
            return
        await self.deliver(Accepted(checked))
        await ack()

    async def _on_shortcut(self, ack: Callable[[], Awaitable[Any]], body: dict[str, Any]) -> None:
        asked = menu(body, self._me)
        if self._interaction.memory is not None:
            await self._interaction.memory.opened(asked)
        await ack()

    async def _forget(self, event: Reset) -> bool:
        """Have a thread's memory cleared; False when there is no such thread. Raises `MailboxDown`."""
        return await self.deliver(Accepted(event, only_if_followed=True)) is not Delivery.NOT_FOLLOWED

    async def _on_command(self, ack: Callable[..., Awaitable[Any]], body: dict[str, Any]) -> None:
        answer = await self._interaction.command(body)
        await ack(response_type="ephemeral", text=answer.text, **({"blocks": answer.blocks} if answer.blocks else {}))

    async def _on_memory_command(self, ack: Callable[..., Awaitable[Any]], body: dict[str, Any]) -> None:
        desk = self._interaction.desk
        answer = await desk.command(body) if desk is not None else Rendered(say("lt_off", "en"), [])
        if answer is None:  # it comes later
            await ack()
        else:
            await ack(response_type="ephemeral", text=answer.text, **({"blocks": answer.blocks} if answer.blocks else {}))

    async def _acknowledge(self, ack: Callable[[], Awaitable[Any]]) -> None:
        await ack()

    async def _on_error(self, error: Exception) -> BoltResponse:
        if isinstance(error, MailboxDown):
            log.warning("not_stored", reason=str(error))
            return BoltResponse(status=503, body="not stored")
        if isinstance(error, ValueError | TypeError | LookupError | AttributeError):
            log.warning("malformed", error=type(error).__name__)
            return BoltResponse(status=400, body="malformed")
        log.error("listener_failed", exc_info=error)
        return BoltResponse(status=500, body="failed")

    # --- HTTP ---------------------------------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.Response:
        """`POST /slack/events`: 400, 401, 413 before anything is parsed; 200 only for what is stored."""
        length = request.content_length
        if length is not None and length > MAX_BODY:
            return web.json_response({"error": "too large"}, status=413)
        try:
            body = await request.content.read(MAX_BODY + 1)
            while len(body) <= MAX_BODY and not request.content.at_eof():
                more = await request.content.read(MAX_BODY + 1 - len(body))
                if not more:
                    break
                body += more
        except web.RequestPayloadError:  # not the encoding it says it has
            return web.json_response({"error": "malformed"}, status=400)
        if len(body) > MAX_BODY:
            return web.json_response({"error": "too large"}, status=413)
        if not self._signed(request, body):
            return web.json_response({"error": "invalid request"}, status=401)
        text = readable(request.content_type, body)
        if text is None:
            return web.json_response({"error": "malformed"}, status=400)
        try:
            # Bolt looks into the body already here, and trips over what it does not expect.
            bolt = AsyncBoltRequest(body=text, headers={key: [value] for key, value in request.headers.items()}, query=request.query_string)
            async with asyncio.timeout(ANSWER_WITHIN):
                answer = await self.app.async_dispatch(bolt)
        except TimeoutError:
            log.warning("not_stored", reason="time-out")
            return web.json_response({"error": "not stored"}, status=503)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            log.warning("malformed", error=type(error).__name__)
            return web.json_response({"error": "malformed"}, status=400)
        status = 400 if answer.status == 404 else answer.status
        content_type = answer.headers.get("content-type", ["text/plain"])[0]
        return web.Response(status=status, text=answer.body or "", content_type=content_type.split(";")[0])

    def _signed(self, request: web.Request, body: bytes) -> bool:
        timestamp, signature = request.headers.get("X-Slack-Request-Timestamp", ""), request.headers.get("X-Slack-Signature", "")
        if self._verifier is None or not re.fullmatch(r"[0-9]{1,12}", timestamp) or not signature.isascii():
            return False
        if abs(time() - int(timestamp)) > WINDOW:
            return False
        try:
            return bool(self._verifier.is_valid(body=body, timestamp=timestamp, signature=signature))
        except (UnicodeDecodeError, ValueError):
            return False
