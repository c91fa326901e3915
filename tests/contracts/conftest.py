"""What the contracts about a thread's store share: a server of their own, and a mailbox on it that begins empty."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from memory.connect import connect
from memory.mailbox import Mailbox
from tests.fakes.valkey import Valkey


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    """One real server for the tests of a file."""
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
async def mailbox(valkey: Valkey) -> AsyncIterator[Mailbox]:
    """A mailbox over an emptied store."""
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield Mailbox(client)
    await client.aclose()
