"""Two caches above the tools, both off unless an operator switches them on, each with one rule for when it may be used.

*Model level*: the very same request (messages, tools, models, byte for byte) to a model at temperature 0 gets the very
same answer, because the endpoint would compute it again.

*Answer level*: the same person asking the same question on the same day (theirs), as the first message of a thread, with the
same tools on offer, gets the answer given before, if that one came from cacheable reads alone: no change, no question
to a person, no tool whose answer depends on the moment, no fault, no old value that stood in for a source that was
down. Any write that makes cached reads void makes it void.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

from bot.model import Answer, Model, OnText, WantedCall
from bot.state import Run
from memory.keys import Thread
from memory.toolstate import Slot, ToolState, ToolStateDown
from memory.transcript import Item, UserMessage
from tools.engine import Engine
from tools.loop import REMEMBERED
from tools.registry import Registry
from tools.routing import Offer

log = structlog.get_logger(__name__)

_OPEN_RUNS: Final = 512


class ModelCache:
    """A `Model` whose answers to identical requests are kept. Only for a model that is asked at temperature 0."""

    def __init__(self, model: Model, state: ToolState, engine: Engine, *, ttl: float) -> None:
        """`ttl` in seconds."""
        self._model, self._state, self._engine, self._ttl = model, state, engine, ttl

    async def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: OnText | None = None, *, once: bool = False) -> Answer:
        """As `Model.ask`; an answer from the cache costs no tokens and is not streamed."""
        request = json.dumps([self._model.identity, messages, tools], sort_keys=True, ensure_ascii=False)
        name = "model:" + hashlib.sha256(request.encode("utf-8", "replace")).hexdigest()
        kept = await self._kept(name)
        self._engine.metrics.answers.labels("model", "miss" if kept is None else "hit").inc()
        if kept is not None:
            return kept
        answer = await self._model.ask(messages, tools, on_text, once=once)
        if self._engine.state is not None and not answer.cut:
            text = {"text": answer.text, "calls": [[call.name, call.arguments] for call in answer.calls], "model": answer.model}
            try:
                await self._state.remember(name, json.dumps(text, ensure_ascii=False), self._ttl)
            except ToolStateDown as error:
                self._engine.lost(error)
        return answer

    async def _kept(self, name: str) -> Answer | None:
        if self._engine.state is None:
            return None
        try:
            kept = await self._state.remembered(name)
        except ToolStateDown as error:
            self._engine.lost(error)
            return None
        if kept is None:
            return None
        try:
            read = json.loads(kept)
            return Answer(read["text"], tuple(WantedCall(*call) for call in read["calls"]), 0, read["model"])
        except (ValueError, KeyError, TypeError):  # kept by a version that wrote it differently
            log.warning("kept_answer_unreadable")
            return None

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that is being answered: where its answer would be kept, and what the tags' generation was before any read."""

    slot: Slot
    generation: str


class AnswerCache:
    """Answers to first questions, by person."""

    def __init__(self, state: ToolState, engine: Engine, registry: Registry, *, ttl: float) -> None:
        """`ttl` in seconds."""
        self._state, self._engine, self._registry, self._ttl = state, engine, registry, ttl
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    async def look(self, run: Run, thread: Thread, items: Sequence[Item], offer: Offer) -> str | None:
        """The kept answer to the question this run begins with; None when there is none or the rule does not allow it."""
        question = items[-1] if len(items) == 1 and isinstance(items[-1], UserMessage) else None
        if question is None or question.files or run.usage.model_calls or self._engine.state is None:
            return None
        text = " ".join(unicodedata.normalize("NFKC", question.text).casefold().split())
        day = datetime.fromtimestamp(run.started_at, _zone(run.timezone)).date().isoformat()
        asker = [thread.team_id, thread.channel_id, run.requested_by.team_id, run.requested_by.user_id, run.locale, run.timezone]
        members = {group: [tool.name for tool in tools] for group, tools in offer.members.items()}
        parts = [*asker, day, text, offer.schemas, members]
        key = "answer:" + hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")).hexdigest()
        slot = Slot(key, self._tags(), self._ttl, patience=1.0)
        token = secrets.token_hex(8)
        try:
            begun = await self._state.begin((), slot, token)
            if begun.verdict == "hit" and begun.value is not None:
                self._engine.metrics.answers.labels("answer", "hit").inc()
                log.info("answer_from_cache", run=run.id, age=round(begun.value.age, 1))
                return begun.value.text
            await self._state.end((), "none", slot, token)
        except ToolStateDown as error:
            self._engine.lost(error)
            return None
        self._engine.metrics.answers.labels("answer", "miss").inc()
        self._asked[run.id] = _Asked(slot, begun.generation)
        while len(self._asked) > _OPEN_RUNS:
            self._asked.popitem(last=False)
        return None

    async def keep(self, run: Run, text: str) -> None:
        """Keep the answer of a run that `look` knows, if everything it did allows that."""
        asked = self._asked.pop(run.id, None)
        if asked is None or not text or self._engine.state is None:
            return
        if not all(self._harmless(call.tool) and call.result is not None and call.result.success and not call.result.stale for call in run.calls):
            return
        # Of earlier rounds it is not remembered whether a value was stale, and of very many calls not even that they were made.
        if len(run.history) >= REMEMBERED or not all(past.ok and self._harmless(past.tool) and not self._may_be_stale(past.tool) for past in run.history):
            return
        try:
            await self._state.end((), "none", asked.slot, secrets.token_hex(8), generation=asked.generation, text=text)
        except ToolStateDown as error:
            self._engine.lost(error)

    def _tags(self) -> tuple[str, ...]:
        """All that any tool's result may be about: an answer may rest on each of them."""
        return tuple(sorted({*self._registry.groups(), *(tag for tool in self._registry for tag in (*tool.tags, *tool.invalidates))}))

    def _may_be_stale(self, name: str) -> bool:
        tool = self._registry.get(name)
        return tool is None or tool.stale_ttl > 0

    def _harmless(self, name: str) -> bool:
        tool = self._registry.get(name)
        return tool is not None and tool.effect == "read" and not tool.asks and not tool.time_sensitive and (tool.cache_ttl > 0 or tool.trusted)


def _zone(name: str) -> ZoneInfo:
    """The person's own time zone: their day ends when they go to bed, not at midnight in Greenwich."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # Slack's to say, and it may say anything
        return ZoneInfo("UTC")
