"""One thread that grows as the worker would let it grow: written, compacted and indexed by the product's own code over a real store.

There is no Slack and no network; the model, where there is one, is a function that writes summaries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

from bot import actions as act
from bot.context_of import context_of
from bot.deps import Deps
from bot.effects_memory import compact, index, look_weight
from bot.events import Mention, RoomKind
from bot.ledger import Ledger
from bot.model import Answer, ModelError, to_wire, weigher
from bot.policy_file import Approvals
from bot.prompt import system
from bot.run import Budget, decide, fold
from memory.budget import ContextBudget
from memory.context import Context
from memory.keys import Actor, Thread
from memory.mailbox import Claim, Mailbox
from memory.session_memory import SessionMemory
from memory.tokens import counter_for
from memory.transcript import Item
from tools.registry import Registry

ANA = Actor(team_id="T1", user_id="U0ANA")
START = 1_800_000_000
Writer = Callable[[list[dict[str, Any]]], Awaitable[str]]


class _Model:
    def __init__(self, writer: Writer | None) -> None:
        self._writer = writer
        self.asked = 0

    async def ask(self, messages: list[dict[str, Any]], *_: object, **__: object) -> Answer:
        self.asked += 1
        if self._writer is None:
            raise ModelError("unavailable")
        return Answer(await self._writer(messages), (), 0, "m")


class LongThread:
    """The thread and what works on it. `window` in tokens."""

    def __init__(self, mailbox: Mailbox, *, window: int = 8_000, writer: Writer | None = None, name: str = "1.000001", embedder: Any = None) -> None:
        self.mailbox = mailbox
        self.thread = Thread(team_id="T1", channel_id="C1", thread_ts=name)
        self.model = _Model(writer)
        self.clock = START
        count = counter_for("gpt-5-mini")
        budget = ContextBudget(window)
        self.deps = Deps(
            slack=cast("Any", None),
            model=cast("Any", self.model),
            registry=Registry([]),
            approvals=Approvals(),
            budget=Budget(look_weight=look_weight(budget), searches=True),
            context=budget,
            count=count,
            weigh=weigher(count),
            embedder=lambda: embedder,
        )

    async def claim(self, text: str = "go on") -> tuple[Claim, Mention]:
        """Say something to the bot and take the session, as a worker does."""
        self.clock += 10
        key = f"m:{self.thread.thread_ts}:{self.clock}"
        mention = Mention(thread=self.thread, key=key, actor=ANA, ts=f"{self.clock}.000100", text=text, room=RoomKind.CHANNEL)
        await self.mailbox.deliver(self.thread, mention.key, mention.model_dump_json().encode())
        claim = await self.mailbox.claim(self.thread.shard)
        assert claim is not None
        assert claim.thread == self.thread
        return claim, mention

    async def add(self, *items: Item) -> None:
        """Write items into the transcript, and do what falls due then."""
        claim, _ = await self.claim()
        claim.taken = len(claim.mail)
        ledger = Ledger(self.mailbox, claim, kept=self.deps.kept)
        ledger.session = ledger.session.model_copy(update={"pending": items})
        await ledger.commit()
        await self._upkeep(ledger)
        await ledger.commit(release=True)

    async def _upkeep(self, ledger: Ledger) -> None:
        for _ in range(100):
            step = decide(ledger.session, self.clock, self.deps.budget)
            if isinstance(step, act.Compact):
                await compact(ledger, self.deps)
            elif isinstance(step, act.Index):
                await index(ledger, self.deps)
            else:
                return
        raise AssertionError("upkeep does not come to an end")

    async def turn(self, text: str, answer: str = "ok") -> Context:
        """One whole turn; gives what the model was given."""
        claim, mention = await self.claim(text)
        ledger = Ledger(self.mailbox, claim, kept=self.deps.kept)
        ledger.session = fold(ledger.session, mention, self.clock)
        claim.taken = len(claim.mail)
        run = ledger.session.run
        assert run is not None
        context = await context_of(run, ledger, self.deps, self.deps.context, system=system(RoomKind.CHANNEL), tools=[])
        await ledger.record(act.ModelAnswered(answer, (), 0))
        await ledger.record(act.PartReplied(last=True))
        await self._upkeep(ledger)
        await ledger.commit(release=True)
        return context

    async def memory(self) -> SessionMemory:
        """What the thread is remembered by."""
        claim, _ = await self.claim()
        ledger = Ledger(self.mailbox, claim)
        found = await ledger.memory()
        claim.taken = len(claim.mail)
        await ledger.commit(release=True)
        return found

    def forget_process(self) -> None:
        """As after a restart: only what is in the store is left."""
        self.deps = replace(self.deps, kept=type(self.deps.kept)())


def wire(context: Context) -> list[dict[str, Any]]:
    """The request the context makes."""
    return to_wire(system(RoomKind.CHANNEL), context.items)


def text_of(context: Context) -> str:
    """Everything in it but the system prompt, as one text."""
    return "\n".join(str(message["content"] or "") + str(message.get("tool_calls", "")) for message in wire(context)[1:])
