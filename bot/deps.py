"""What an effect may use: the doors to Slack, the model and the tools, and how patient to be. Made once by the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.answer_cache import AnswerCache, ModelCache
from bot.guardrails import Guardrails
from bot.kept import Kept
from bot.model import Model, weigher
from bot.policy_file import Approvals
from bot.run import Budget
from bot.slack import Slack
from bot.state import Session
from memory.budget import ContextBudget
from memory.context import Weigh
from memory.grants import Grants
from memory.tokens import Counter, counter_for
from memory.windows import UNKNOWN_WINDOW
from tools.engine import Engine
from tools.registry import Registry
from tools.routing import RoutingLimits
from tools.tool import SlackAccess

if TYPE_CHECKING:
    from bot.long_term import LongTerm
    from memory.embedder import Embedder


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
    write_grace: float = 1.0
    """A write under way when everything is told to stop gets this long to end."""


@dataclass(frozen=True, slots=True)
class PersonCap:
    """How many tool calls one person may use in so many seconds, over all their requests; 0 calls: no cap."""

    calls: int = 300
    seconds: float = 3_600.0


@dataclass(frozen=True, slots=True)
class Deps:
    """Everything an effect may use; made once by the composition root."""

    slack: Slack
    model: Model | ModelCache
    registry: Registry
    approvals: Approvals
    budget: Budget = field(default_factory=Budget)
    approval_ttl: float = 86_400.0
    limits: Limits = field(default_factory=Limits)
    engine: Engine = field(default_factory=Engine)
    guardrails: Guardrails = field(default_factory=Guardrails)
    grants: Grants | None = None
    """Standing permissions; None: everybody is asked every time."""
    routing: RoutingLimits = field(default_factory=RoutingLimits)
    answers: AnswerCache | None = None
    """Answers to first questions that may be given again; None: none are."""
    strict_schemas: bool = False
    """Whether the endpoint can hold the model to the schemas, and is asked to."""
    withheld: Callable[[], Mapping[str, str]] = dict
    """Tools that exist but are not offered until an operator has looked at them, by name, each with the sentence a call is answered with."""
    person_cap: PersonCap = field(default_factory=PersonCap)
    tool_slack: SlackAccess | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    allowed_hosts: frozenset[str] = frozenset()
    context: ContextBudget = field(default_factory=lambda: ContextBudget(UNKNOWN_WINDOW))
    """How the model's window is shared out."""
    fixed: Callable[[Session, Counter], int] = lambda _session, _count: 0
    """Tokens of what every request of a session carries: system prompt and tools."""
    count: Counter = field(default_factory=lambda: counter_for(""))
    """Counts a text in the model's tokens."""
    weigh: Weigh = field(default_factory=lambda: weigher(counter_for("")))
    """Tokens of an item as it is sent."""
    embedder: Callable[[], Embedder | None] = lambda: None
    """Finds older messages by their meaning, made when it is first needed; None: they are found by their words alone."""
    long_term: LongTerm | None = None
    """What is remembered of people beyond a thread; None: nothing is."""
    kept: Kept = field(default_factory=Kept)
    """What this process remembers of threads lately worked on."""
