"""What every kind of test shares: the full size of the promises and their figures, an environment without surprises, the browser."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

hypothesis_settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
hypothesis_settings.load_profile("steady")  # the same examples in every run, however slow the machine

Recorder = Callable[..., None]

FIGURES = pytest.StashKey[dict[str, dict[str, Any]]]()

OURS = ("SLACK_", "OPENAI_", "STEWARD_", "REDIS_URL", "QDRANT_", "PORT", "XDG_DATA_HOME")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promises")
    group.addoption("--full", action="store_true", help="measure the promises at full size, not the small cut")
    group.addoption("--figures", metavar="FILE", help="write what the promises measured to FILE, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    target = session.config.getoption("--figures")
    if target:
        Path(target).write_text(json.dumps(session.config.stash[FIGURES], indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether promises run at full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Recorder:
    """`figures("R1", lost=0, double=0)` keeps what a promise measured. The promise itself is the module's docstring, first line."""

    def keep(number: str, **measured: float | str) -> None:
        promise = (request.module.__doc__ or "").strip().splitlines()[0]
        entry = request.config.stash[FIGURES].setdefault(number, {"promise": promise, "figures": {}})
        entry["figures"].update(measured)

    return keep


@pytest.fixture(autouse=True)
def only_the_test_speaks_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own tokens, keys and proxies must not reach a test."""
    for name in list(os.environ):
        # STEWARD_BROWSER and STEWARD_REQUIRE_BROWSER are for the tests themselves.
        if (name.startswith(OURS) and "BROWSER" not in name) or name in PROXIES:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium. Without one the test is skipped, visibly; where a browser is required it fails."""
    found = os.environ.get("STEWARD_BROWSER") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        if os.environ.get("CI") == "true" or os.environ.get("STEWARD_REQUIRE_BROWSER") == "1":
            pytest.fail("no Chromium, and this run requires one")
        pytest.skip("no Chromium here: the page was not tested")
    return found
