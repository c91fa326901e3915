"""Ways in which the program could be wrong, each one safeguard taken out, and one in which it could be newer.

A function here changes the program in the process that calls it, a bot's own, before the bot starts. A test of the
promises is worth something only if it notices: `test_r03_mutants.py` holds every mutant against the check meant for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import bot.approvals
import bot.effects_tools
import bot.ledger
import bot.recovery
import bot.state
import bot.worker
from bot.edge import Edge
from bot.gate import Accepted
from bot.slack import Slack
from bot.state import Session, Status
from memory.keys import Thread
from memory.mailbox import Delivery, Mailbox
from tools.engine import Prepared

if TYPE_CHECKING:
    import pytest


def no_fencing() -> None:
    """A commit and a renewal under an old epoch are taken."""
    original = Mailbox.__init__

    def init(self: Mailbox, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        texts, hashes = self._scripts._texts, self._scripts._hashes
        for name in ("commit", "renew"):
            kept = [line for line in texts[name].splitlines() if "return -1" not in line]
            if len(kept) == len(texts[name].splitlines()):
                raise RuntimeError(f"there is no fence left to take out of {name}")
            texts[name] = "\n".join(kept)
            hashes[name] = hashlib.sha1(texts[name].encode(), usedforsecurity=False).hexdigest()

    Mailbox.__init__ = init  # type: ignore[method-assign]


def no_lookup() -> None:
    """Nobody looks whether a message already stands: neither before posting again nor at the end of a run."""

    async def find(*_: object, **__: object) -> dict[str, list[str]]:
        return {}

    Slack.find = find  # type: ignore[method-assign]


def retry_unkeyed() -> None:
    """A takeover treats every write as if its upstream honoured a key, and whoever sends it again does not ask either."""
    original = bot.recovery.take_over

    def take_over(session: Session, epoch: int, now: float) -> Session:
        if session.run is not None:
            calls = tuple(call.model_copy(update={"keyed": True}) if call.status is Status.STARTED else call for call in session.run.calls)
            session = session.model_copy(update={"run": session.run.model_copy(update={"calls": calls})})
        return original(session, epoch, now)

    bot.worker.take_over = take_over  # type: ignore[attr-defined]
    bot.effects_tools._may_repeat = lambda _: True  # type: ignore[assignment]


def mark_before_store() -> None:
    """An event's identity is marked as seen in one step, and the event stored in the next."""
    original = Mailbox.deliver

    async def deliver(self: Mailbox, thread: Thread, key: str, payload: bytes, *, only_if_followed: bool = False) -> Delivery:
        if not await self._client.set(f"{self._keys.base(thread.shard)}marked:{key}", "1", nx=True):
            return Delivery.DUPLICATE
        return await original(self, thread, key, payload, only_if_followed=only_if_followed)

    Mailbox.deliver = deliver  # type: ignore[method-assign]


def acknowledge_before_store() -> None:
    """Slack is told "stored" first, and the event is stored a moment later."""
    original = Edge.deliver
    later: set[asyncio.Task[Delivery]] = set()

    async def deliver(self: Edge, accepted: Accepted) -> Delivery:
        asyncio.get_running_loop().call_later(0.1, lambda: later.add(asyncio.create_task(original(self, accepted))))
        return Delivery.STORED

    Edge.deliver = deliver  # type: ignore[method-assign]


def no_digest_check() -> None:
    """What is about to run is not held against what was approved."""

    async def ready(call: Any, _run: object, _ledger: object, deps: Any) -> Prepared:
        return Prepared(deps.registry.get(call.tool), call.arguments or {}, call.raw)

    bot.effects_tools._ready = ready  # type: ignore[assignment]


def no_owner_check() -> None:
    """Any colleague may decide on anybody's card."""

    def forbidden(*_: object) -> str:
        return ""

    bot.approvals._forbidden = forbidden  # type: ignore[assignment]


class NewerSession(Session):
    """A later version's saved state: it needs something that this version does not keep."""

    origin: str


def newer_schema() -> None:
    """Not a fault: the next version of the program, which reads this one's states through an upgrade step and writes its own."""
    present, following = bot.state.SCHEMA_VERSION, bot.state.SCHEMA_VERSION + 1
    bot.state.SCHEMA_VERSION = following  # type: ignore[misc]
    bot.state.UPGRADES[present] = lambda raw: raw | {"origin": f"version {present}"}
    bot.state.Session = NewerSession  # type: ignore[assignment, misc]
    bot.ledger.Session = functools.partial(NewerSession, v=following, origin=f"version {following}")  # type: ignore[assignment, attr-defined]


MUTANTS: Final[dict[str, Callable[[], None]]] = {
    make.__name__: make
    for make in (no_fencing, no_lookup, retry_unkeyed, mark_before_store, acknowledge_before_store, no_digest_check, no_owner_check, newer_schema)
}


# --- long-term memory: these are taken back with the patch they are given ---------------------------------------------------


def no_owner_filter(patch: pytest.MonkeyPatch) -> None:
    """What is asked for by its id is given to anybody."""
    from memory.longterm.memories import Memories  # noqa: PLC0415 - loads numpy, which bots in their own processes do without
    from memory.longterm.records import memory_of  # noqa: PLC0415
    from memory.longterm.store import Where  # noqa: PLC0415

    async def anybodys(self: Memories, _: Any, ids: Any) -> list[Any]:
        found = []
        async for owner in self.store.owners():
            found += [memory_of(record) for record in await self.store.list(Where((owner,)), limit=1_000) if record.id in set(ids)]
        return found

    patch.setattr(Memories, "_get", anybodys)


def no_audience_filter(patch: pytest.MonkeyPatch) -> None:
    """Everything of a person is recalled wherever they ask."""
    from memory.longterm.access import Reader  # noqa: PLC0415

    patch.setattr(Reader, "audiences", property(lambda _: None))


def no_redaction(patch: pytest.MonkeyPatch) -> None:
    """What is forgotten goes from the memories and stays in the threads it was said in."""
    from bot.erasing import Erasing  # noqa: PLC0415

    async def tell(*_: object) -> None:
        return

    patch.setattr(Erasing, "_tell", tell)


def order_recreates(patch: pytest.MonkeyPatch) -> None:
    """Memories are put in order without their owner's lock, and written whether they are still there or not."""
    from memory.longterm.locks import LocalLocks  # noqa: PLC0415
    from memory.longterm.writing import Writer  # noqa: PLC0415

    original = Writer._put

    async def put(self: Writer, memories: Any, changes: Any, *, existing: bool) -> None:
        await original(self, memories, changes, existing=False)

    patch.setattr(Writer, "_put", put)
    patch.setattr(LocalLocks, "held", lambda *_: contextlib.nullcontext())


MEMORY_MUTANTS: Final[dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    make.__name__: make for make in (no_owner_filter, no_audience_filter, no_redaction, order_recreates)
}
