"""What a worker reads of a thread while other steps of the same run commit: every message once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot import actions as act
from bot.fold import fold
from bot.kept import Kept
from bot.ledger import Ledger
from memory.connect import connect
from memory.keys import Thread
from memory.mailbox import Mailbox
from memory.transcript import AssistantMessage, UserMessage
from tests.fakes.long_thread import ANA, LongThread
from tests.fakes.valkey import Valkey


class Slow(Mailbox):
    """A store whose answers to one kind of question take as long as the test likes."""

    gate: asyncio.Event

    async def read_log(self, thread: Thread, *ranges: tuple[int, int]) -> list[tuple[int, bytes]]:
        """As the mailbox, a while later."""
        found = await super().read_log(thread, *ranges)
        await self.gate.wait()
        return found


@pytest.fixture
async def slow(valkey: Valkey) -> AsyncIterator[Slow]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    mailbox = Slow(client)
    mailbox.gate = asyncio.Event()
    mailbox.gate.set()
    yield mailbox
    await client.aclose()


async def test_a_message_that_is_committed_while_the_log_is_read_is_in_it_once(slow: Slow) -> None:
    thread = LongThread(slow)
    await thread.add(UserMessage(actor=ANA, name="Ana", ts="1.0", text="first"), AssistantMessage(run_id="r", text="ok"))
    claim, mention = await thread.claim("second")
    kept = Kept()
    ledger = Ledger(slow, claim, kept=kept)
    ledger.session = fold(ledger.session, mention, 0.0)
    claim.taken = len(claim.mail)

    slow.gate.clear()
    reading = asyncio.create_task(ledger.log())
    await asyncio.sleep(0)
    shown = asyncio.create_task(ledger.record(act.ProcessingShown()))
    await asyncio.sleep(0.05)
    slow.gate.set()
    read = [item.text for _, item in await reading if isinstance(item, UserMessage)]
    await shown

    assert read == ["first", "second"]
    assert [item.text for _, item in await ledger.log() if isinstance(item, UserMessage)] == ["first", "second"]
    await ledger.commit(release=True)
    again, _ = await thread.claim("third")
    assert [position for position, _ in await Ledger(slow, again, kept=kept).log()] == [0, 1, 2]
