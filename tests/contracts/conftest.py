"""What the contracts share: a session store of their own with a mailbox that begins empty, and the door to memories over both engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from memory.connect import connect
from memory.longterm.memories import Memories
from memory.longterm.store import WORDS_ONLY
from memory.mailbox import Mailbox
from tests.contracts.door_kit import Clock, Door
from tests.fakes.stores import ENGINES, Engine, opened
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


@pytest_asyncio.fixture(params=ENGINES, scope="module", loop_scope="module")
async def memory_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    """One store of each kind for the tests of a file: starting one takes longer than what is done with it."""
    async with opened(request.param, tmp_path_factory.mktemp("store"), model=WORDS_ONLY, size=0) as store:
        yield store


@pytest_asyncio.fixture(loop_scope="module")
async def door(memory_store: Engine) -> Door:
    """The door to memories where nobody has been before. Its tests run in the file's loop: `pytest.mark.asyncio(loop_scope="module")`."""
    for team in sorted({owner.team_id async for owner in memory_store.owners()}):
        await memory_store.delete_team(team)
    clock = Clock()
    return Door(Memories(memory_store, None, now=clock), clock)
