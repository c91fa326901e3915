"""What the scenarios share: a real Valkey, empty for each test, and both roads by which Slack reaches the bot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

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


@pytest.fixture(autouse=True)
def plain_log() -> Iterator[None]:
    """Logs as plain lines: drawing a traceback with all its variables takes longer than the scenario it belongs to."""
    renderer = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, renderer])
    yield
    structlog.reset_defaults()


@pytest.fixture(params=["socket", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)
