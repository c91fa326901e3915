"""What the scenarios share: a real Valkey, empty for each test, and both roads by which Slack reaches the bot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.valkey import Valkey


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
def valkey(server: Valkey) -> Valkey:
    server.command("FLUSHALL")
    return server


@pytest.fixture(params=["socket", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)
