"""reactions.add, remove, get."""

from __future__ import annotations

import re

from playground.people import Channel, Json
from playground.webapi.chat import permalink
from playground.webapi.registry import ApiError, Call, method

NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")
MOST_EMOJI = 50


def _target(call: Call) -> tuple[Channel, Json]:
    if not call.text("channel") or not call.text("timestamp"):
        raise ApiError("no_item_specified")
    channel = call.channel()
    try:
        float(call.text("timestamp"))
    except ValueError:
        raise ApiError("bad_timestamp") from None
    return channel, call.message(channel, "timestamp")


def _name(call: Call) -> str:
    name = call.text("name").strip(":")
    if not NAME.fullmatch(name):
        raise ApiError("invalid_name")
    return name


@method("reactions.add", tier=3, scopes=("reactions:write",), required=("name",))
def add(call: Call) -> Json:
    """React to a message."""
    name = _name(call)
    channel, message = _target(call)
    if call.caller not in channel.members:
        raise ApiError("not_in_channel")
    names = [r["name"] for r in message.get("reactions", ())]
    if name not in names and len(names) >= MOST_EMOJI:
        raise ApiError("too_many_emoji")
    if not call.world.react(channel, message["ts"], name, call.caller):
        raise ApiError("already_reacted")
    return {}


@method("reactions.remove", tier=2, scopes=("reactions:write",), required=("name",))
def remove(call: Call) -> Json:
    """Take a reaction back."""
    name = _name(call)
    channel, message = _target(call)
    if not call.world.react(channel, message["ts"], name, call.caller, remove=True):
        raise ApiError("no_reaction")
    return {}


@method("reactions.get", tier=3, scopes=("reactions:read",))
def get(call: Call) -> Json:
    """A message with its reactions."""
    channel, message = _target(call)
    return {"type": "message", "channel": channel.id, "message": {**message, "permalink": permalink(call.world, channel, message)}}
