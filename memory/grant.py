"""What a standing permission is: the stored record, and how often it was used. Values only; `memory.grants` keeps them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from memory.keys import Actor


class Grant(BaseModel):
    """One standing permission: calls of one tool, for one person in one channel, whose named arguments are exactly these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """The id of the approval with which it was given."""
    actor: Actor
    """Who gave it, for their own requests."""
    channel_id: str
    """The Slack channel (or direct conversation) it holds in, in all its threads."""
    tool: str
    title: str = ""
    """The tool's name for people, in the language they gave it in."""
    tool_digest: str
    """Fingerprint of what the tool was then: another schema voids the grant."""
    pattern: dict[str, Any]
    """Arguments that must be exactly these."""
    anything: tuple[str, ...] = ()
    """Arguments that may be anything. One that is neither here nor in `pattern` must not be there."""
    created_at: float
    """Seconds since the epoch, as the one below."""
    expires_at: float


class Used(BaseModel):
    """How often a grant let a call pass, and when last (seconds since the epoch; 0: never)."""

    model_config = ConfigDict(frozen=True)

    times: int = 0
    last: float = 0.0
