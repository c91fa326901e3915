"""Long threads without long tests: a small window, and a model that writes summaries when it is asked for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bot.state import Session, load
from memory import session_memory
from memory.budget import ContextBudget
from memory.keys import Thread
from memory.session_memory import SessionMemory
from playground.people import Json
from tests.fakes.scripted_model import Reply, ScriptedModel, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack

SMALL = ContextBudget(8_000)
WRITER = "You write the memory of a Slack thread"
"""How the request for a summary begins."""


def wants_summary(request: Json) -> bool:
    """Whether the program asks for a summary, and nobody for an answer."""
    return content_text(request["messages"][0]).startswith(WRITER)


def summaries(model: ScriptedModel) -> int:
    """How often a summary was asked for."""
    return sum(wants_summary(request) for request in model.requests)


def remembering(answer: Callable[[Json], Reply] | None = None, **sections: Any) -> Callable[[Json], Reply]:
    """A policy: writes this summary when asked for one, else answers by `answer`, or "ok"."""
    written = {"goals": ["Ana: wants the order checked"], "state": ["the order is being looked at"], **sections}

    def policy(request: Json) -> Reply:
        if wants_summary(request):
            return text(json.dumps(written, ensure_ascii=False))
        return answer(request) if answer is not None else text("ok")

    return policy


async def session_of(stack: Stack, channel: str, ts: str | None) -> Session:
    """The committed state of a thread."""
    return load(await stack.bots[0].mailbox.read_document(thread_of(stack, channel, ts)))


async def memory_of(stack: Stack, channel: str, ts: str | None) -> SessionMemory:
    """What the thread is remembered by."""
    document = await stack.bots[0].mailbox.read_memory(thread_of(stack, channel, ts))
    return session_memory.load(document) or SessionMemory() if document else SessionMemory()


def thread_of(stack: Stack, channel: str, ts: str | None) -> Thread:
    """The thread in the playground's only workspace."""
    room = stack.slack.core.world.find_channel(channel)
    assert room is not None
    return Thread(team_id=stack.slack.team_id, channel_id=room.id, thread_ts=ts or "")


def said(request: Json) -> str:
    """Everything in a request but the system prompt, as one text."""
    return "\n".join(content_text(message) for message in request["messages"][1:])
