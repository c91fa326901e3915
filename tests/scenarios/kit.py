"""What the scenarios do and look at again and again: the bot over either transport, what the model was told, cards and private answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from pydantic import Field

from bot.service import Service
from playground.delivery import Answer
from playground.events import AppEvents
from playground.people import Json
from playground.server import Playground
from playground.transport_http import HttpTransport
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, buttons, shown
from tests.fakes.valkey import Valkey
from tools.decorator import tool
from tools.registry import Registry
from tools.tool import Tool, ToolContext

BOT = "<@U01STEWARD>"
ALICE, BRUNO, MEI, DANA, ERIK, BUILDS = "U01ALICE00", "U01BRUNO00", "U01MEI0000", "U01DANA000", "U02ERIK000", "U01BUILDS0"


@contextlib.asynccontextmanager
async def over(transport: str, valkey: Valkey, model: ScriptedModel, *, ack_timeout: float = 3.0, **parts: Any) -> AsyncIterator[Stack]:
    """A stack with one bot that is reached over Socket Mode (`socket`) or signed HTTP (`http`)."""
    http = transport == "http"
    slack = Playground(request_url="http://127.0.0.1:9/slack/events" if http else None, ack_timeout=ack_timeout, time_scale=0.01)
    mode = {"app_token": "", "signing_secret": slack.signing_secret} if http else {}
    async with Stack(valkey, model, playground=slack, **(mode | parts)) as stack:
        aim(slack, await stack.bot())
        yield stack


def aim(slack: Playground, bot: Service) -> None:
    """Send what comes over HTTP to this bot."""
    carrier = slack.core.delivery.transport
    if isinstance(carrier, HttpTransport):
        carrier.url = f"http://127.0.0.1:{bot.port}/slack/events"


# --- events delivered by hand --------------------------------------------------------------------------------------------


def written(slack: Playground, user: str, channel: str, text: str, **fields: Any) -> Json:
    """A message that stands in the workspace although no event told of it yet."""
    room = slack.core.world.find_channel(channel)
    assert room is not None
    who = slack.core.world.users[user]
    return slack.core.world.post(room, {"user": who.id, "team": who.team_id, "text": text, **fields}, quiet=True)


async def deliver(slack: Playground, channel: str, message: Json, *, kind: str = "message", retry: int = 0, **fields: Any) -> Answer:
    """One attempt to tell the app of a message, as the retry number `retry`, under an event id of its own."""
    room = slack.core.world.find_channel(channel)
    assert room is not None
    install = slack.core.world.installs[slack.team_id]
    event = {**message, "type": kind, "channel": room.id, "event_ts": message["ts"], **({"channel_type": room.kind} if kind == "message" else {}), **fields}
    events: AppEvents = slack.core.events
    return await slack.core.delivery.transport.attempt(events.parcel(install, event, room), retry, "http_timeout" if retry else "")


# --- what the model was told ----------------------------------------------------------------------------------------------


MOMENT: Final = "[note by the program] Today is "
"""How the note begins that stands before every request."""


def heard(request: Json) -> list[str]:
    """What people (and the program) said, as the model read it, oldest first; without the note of the moment."""
    return [said for m in request["messages"] if m["role"] == "user" and not (said := content_text(m)).startswith(MOMENT)]


def moment(request: Json) -> str:
    """The note just before the current request: the day, the facts, what search brought back, what is known from elsewhere."""
    return next((said for m in reversed(request["messages"]) if m["role"] == "user" and (said := content_text(m)).startswith(MOMENT)), "")


def results(request: Json) -> list[Json]:
    """The tool results in a request, oldest first."""
    return [json.loads(content_text(m)) for m in request["messages"] if m["role"] == "tool"]


# --- cards ----------------------------------------------------------------------------------------------------------------


def cards(stack: Stack, channel: str, ts: str | None) -> list[Json]:
    """The bot's messages that have an "Approve" button now."""
    return [m for m in stack.own(channel, ts) if "steward:approve" in buttons(m)]


async def card(stack: Stack, channel: str, ts: str | None, *, count: int = 1) -> Json:
    """Wait until `count` cards stand open, and until the bot rests; the newest."""
    await stack.until(lambda: len(cards(stack, channel, ts)) >= count)
    await rest(stack)
    return cards(stack, channel, ts)[-1]


_UNDER_WAY = """
local count, time = 0, redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs(redis.call('KEYS', '*:leases')) do count = count + redis.call('ZCARD', key) end
for _, key in ipairs(redis.call('KEYS', '*:due')) do count = count + redis.call('ZCOUNT', key, '-inf', now) end
return count
"""


async def rest(stack: Stack) -> None:
    """Wait until no event is under way, no session is due and none is being worked on: nothing more will happen by itself now."""
    async with asyncio.timeout(20):
        while stack.slack.core.delivery.in_flight or any(bot.worker.busy for bot in stack.bots) or stack.valkey.command("EVAL", _UNDER_WAY, 0):
            await asyncio.sleep(0.01)


async def overdue(stack: Stack) -> None:
    """Wait until some session is due, whoever should see to it: for tests in which nobody does."""
    async with asyncio.timeout(20):
        while not stack.valkey.command("EVAL", _UNDER_WAY, 0):
            await asyncio.sleep(0.01)


async def becomes(stack: Stack, channel: str, ts: str, words: str) -> str:
    """Wait until the message at `ts` shows `words`; all it shows then."""

    def now() -> str:
        message = stack.slack.message(channel, ts)
        said = shown(message) if message else ""
        return said if words in said else ""

    return await stack.slack.wait_for(now)


async def told(stack: Stack, user: str, words: str, *, times: int = 1) -> list[str]:
    """Wait until `user` was privately told `words` that often; everything they were privately told."""

    def notes() -> list[str]:
        return [shown(m) for m in stack.slack.ephemerals(user)]

    await stack.until(lambda: sum(words in note for note in notes()) >= times)
    return notes()


# --- a tool that writes ---------------------------------------------------------------------------------------------------


class Rooms:
    """A tool module of the tests' own: two writes and a read, and the list of what was really carried out."""

    def __init__(self) -> None:
        self.booked: list[dict[str, Any]] = []
        self.fails: Exception | None = None
        self.hold: asyncio.Event | None = None

    def tools(self) -> list[Tool]:
        """The tools, recording into this object."""

        @tool(effect="write", keyed=True)
        async def book_room(
            ctx: ToolContext,
            room: Annotated[str, Field(description="Which meeting room, e.g. Oak", min_length=1, max_length=40)],
            seats: Annotated[int, Field(description="How many people come", ge=1, le=12)] = 4,
            note: Annotated[str, Field(description="Anything the host should know", max_length=20_000)] = "",
        ) -> dict[str, Any]:
            """Book one meeting room for the person who asks. Not for cancelling."""
            if self.hold is not None:
                await self.hold.wait()
            if self.fails is not None:
                raise self.fails
            self.booked.append({"room": room, "seats": seats, "note": note, "by": ctx.actor.user_id, "key": ctx.call_id})
            return {"booked": room}

        @tool(effect="write")
        async def free_room(room: Annotated[str, Field(description="Which meeting room, e.g. Oak", min_length=1)]) -> dict[str, Any]:
            """Give one booked meeting room back, so that others may have it."""
            if self.fails is not None:
                raise self.fails
            self.booked.append({"freed": room})
            return {"freed": room}

        @tool(effect="read")
        async def list_rooms() -> list[str]:
            """List the meeting rooms that can be booked, by name."""
            return ["Oak", "Elm"]

        return [book_room, free_room, list_rooms]

    def registry(self, *more: Tool) -> Registry:
        """A registry of these tools and `more`."""
        return Registry([*self.tools(), *more])

    @property
    def names(self) -> list[str]:
        """The rooms booked so far."""
        return [str(entry["room"]) for entry in self.booked if "room" in entry]
