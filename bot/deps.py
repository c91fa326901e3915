"""What an effect may use: the doors to Slack, the model and the tools, and how patient to be. Made once by the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.model import Model
from bot.policy_file import Approvals
from bot.run import Budget
from bot.slack import Slack
from tools.registry import Registry
from tools.tool import SlackAccess


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast things are shown and how long is waited, in seconds."""

    first_status: float = 0.3
    """A model call that takes longer than this shows "is thinking…"."""
    status_grace: float = 1.0
    """How long an answer waits for such a line that is just being sent."""
    first_partial: float = 1.5
    """A model call that has text but takes longer than this shows what it has."""
    between_partials: float = 1.5
    running_card: float = 0.8
    """An approved tool that takes longer than this is shown as running."""
    adoption_looks: int = 60
    adoption_pause: float = 0.5
    """How often, and how far apart, a fenced worker looks whether its last message was adopted."""
    keyed_repeats: int = 3
    keyed_pause: float = 1.0
    """How often a keyed write whose outcome is unknown is sent again with the same key, and the first pause, which doubles."""
    write_grace: float = 1.0
    """A write under way when everything is told to stop gets this long to end."""


@dataclass(frozen=True, slots=True)
class Deps:
    """Everything an effect may use; made once by the composition root."""

    slack: Slack
    model: Model
    registry: Registry
    approvals: Approvals
    budget: Budget = field(default_factory=Budget)
    approval_ttl: float = 86_400.0
    limits: Limits = field(default_factory=Limits)
    tool_slack: SlackAccess | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    allowed_hosts: frozenset[str] = frozenset()
