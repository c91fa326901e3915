"""What a request always carries whoever asks: the system prompt and the tools' definitions, as far as they can be known beforehand."""

from __future__ import annotations

import json

from bot.model import MESSAGE_TOKENS
from bot.prompt import system
from bot.state import Session
from memory.tokens import Counter
from tools.registry import Registry
from tools.routing import RoutingLimits, offer


class Fixed:
    """Counts them. A person's rights and the groups a run opens make a little difference to what is really sent."""

    def __init__(self, registry: Registry, limits: RoutingLimits, *, strict: bool = False) -> None:
        self._registry = registry
        self._limits = limits
        self._strict = strict

    def tokens(self, session: Session, count: Counter) -> int:
        """Their tokens in a session. The first time with a new counter it loads that counter's vocabulary."""
        offered = offer(self._registry, allowed=lambda _: True, opened=(), cooling=set(), limits=self._limits, strict=self._strict)
        definitions = json.dumps(offered.schemas, ensure_ascii=False) if offered.schemas else ""
        return MESSAGE_TOKENS + count(system(session.room, offer=offered)) + count(definitions)
