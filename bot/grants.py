"""Standing permissions ("always allow"): which calls one covers, and how one comes from a click. Pure.

A person who decides on their own requests may, with one approval, allow calls like it for some time: the same tool as it is
now, in the same channel, for them alone, with the arguments they named exactly as they were. It covers nothing else: not another
person, not another channel, not a tool that changed, not an argument that was not there when they looked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.state import Approval, Call, Policy
from memory.grant import Grant
from memory.keys import Actor, Thread
from tools.tool import Tool


def tool_digest(tool: Tool) -> str:
    """SHA-256 (hex) over what a tool is to somebody who allows it: name, schema and description, effect, version."""
    parts = {"tool": tool.name, "schema": tool.schema(), "effect": tool.effect, "version": tool.version}
    return hashlib.sha256(_written(parts).encode()).hexdigest()


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are one and the same: `1`, `1.0`, `"1"` and `true` are four."""
    return _written(one) == _written(other)


def _written(value: Any) -> str:
    """The one text that equal JSON values share."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def covers(pattern: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether every argument the pattern names is there, with exactly its value."""
    return all(name in arguments and same(value, arguments[name]) for name, value in pattern.items())


def matches(grant: Grant, tool: Tool, arguments: Mapping[str, Any], *, thread: Thread, actor: Actor, now: float) -> bool:
    """Whether the grant allows this call at `now` (seconds since the epoch). `arguments` are the validated ones."""
    return (
        grant.actor == actor
        and actor.team_id == thread.team_id
        and grant.channel_id == thread.channel_id
        and grant.tool == tool.name
        and now < grant.expires_at
        and covers(grant.pattern, arguments)
        and arguments.keys() <= grant.pattern.keys() | set(grant.anything)
        and grant.tool_digest == tool_digest(tool)
    )


def fitting(found: Sequence[Grant], tool: Tool, arguments: Mapping[str, Any], *, thread: Thread, actor: Actor, now: float) -> Grant | None:
    """The grant of `found` that allows the call, the one that lasts longest when there are several."""
    return max(
        (grant for grant in found if matches(grant, tool, arguments, thread=thread, actor=actor, now=now)), key=lambda grant: grant.expires_at, default=None
    )


def from_decision(call: Call, tool: Tool, thread: Thread, *, title: str = "") -> Grant | None:
    """The grant that was given with a call's approval; None when none was. The same again for the same call.

    `title` is the tool's name for people.
    """
    approval = call.approval
    if approval is None or approval.always is None or not approval.votes:
        return None
    vote, arguments = approval.votes[-1], call.arguments or {}
    if vote.verdict != "approve" or approval.edited or not permitted(approval.policy, approval.always.expires_after):
        return None
    return Grant(
        id=approval.id,
        actor=vote.actor,
        channel_id=thread.channel_id,
        tool=tool.name,
        title=title or tool.title,
        tool_digest=tool_digest(tool),
        pattern=approval.always.pattern,
        anything=tuple(sorted(arguments.keys() - approval.always.pattern.keys())),
        created_at=vote.at,
        expires_at=vote.at + approval.always.expires_after,
    )


def permitted(policy: Policy, expires_after: float) -> bool:
    """Whether the policy lets the requester allow such calls for so many seconds."""
    return policy.rule == "requester" and 0 < expires_after <= policy.always_for


def granted(grant: Grant, policy: Policy, *, approval_id: str, digest: str) -> Approval:
    """The approval of a call that nobody is asked about, because `grant` allows it; it lasts as long as the grant."""
    return Approval(id=approval_id, digest=digest, policy=policy, expires_at=grant.expires_at, grant=grant.id)
