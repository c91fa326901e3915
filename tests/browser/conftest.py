"""The product in a browser: one Chromium and one running program for all tests, a window for each person, and what is kept of a failure.

The program holds one workspace for all tests of the folder, as a team does: every test has its own thread and its own
order. A test that ends the program or scripts the model starts a program of its own. A test fails, too, when the page
reported an error, asked for something outside, or broke its own content policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, async_playwright, expect

from tests.browser.person import PATIENCE, Person
from tests.fakes.program import Program, clean_environment
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, hang, stall_after, text
from tests.fakes.scripted_policies import content_text

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-proxy-server"),
]
_TELL_VIOLATIONS = "addEventListener('securitypolicyviolation', e => console.error(`policy broken: ${e.violatedDirective} ${e.blockedURI}`))"
_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember that the test itself failed, for the fixture that keeps the pictures."""
    report = yield
    if call.when == "call":
        item.stash[_FAILED] = call.excinfo is not None
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS, env=dict(clean_environment()))
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def steward(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """The program as `make run` starts it: the playground, the demo model, the embedded store."""
    async with Program(tmp_path_factory.mktemp("steward")) as program:
        yield program


POEM = "\n\n".join(f"Paragraph {number}: the harbour wakes, 港口醒来, and the boats go out **one by one**." for number in range(1, 9))


class Scripted:
    """A program whose model does as the test wants: it holds an answer back, never answers, or asks for the tool of `booking.py`."""

    program: Program

    def __init__(self) -> None:
        self.hold = asyncio.Event()
        """Lets the poem go on."""

    def policy(self, request: dict[str, Any]) -> Reply:
        """What the model answers."""
        last = request["messages"][-1]
        asked = content_text(last)
        if last["role"] == "tool":
            return text(f"The tool said: {asked}")
        if "poem" in asked:
            return stall_after(12, text(POEM, pieces=16), until=self.hold)
        if "book" in asked:
            return calls(("book_room", {"room": "Oak", "seats": 4}))
        return hang() if "for ever" in asked else text("Here I am.")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def scripted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scripted]:
    """The program with a model that is not the demo's, and with one more tool."""
    script = Scripted()
    async with ScriptedModel(script.policy) as model:
        settings = {"OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": "test", "STEWARD_TOOLS": "tests.browser.booking"}
        async with Program(tmp_path_factory.mktemp("scripted"), **settings) as script.program:
            yield script
        assert model.violations == []


class Windows:
    """Opens a window for a person and watches what the page complains about."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.contexts: list[BrowserContext] = []
        self.pages: list[Page] = []
        self.console: list[str] = []
        self.complaints: list[str] = []
        self.tolerated: tuple[str, ...] = ()
        """Parts of complaints that this test brings about on purpose."""

    async def open(self, program: Program, user: str, channel: str = "orders", *, phone: bool = False, dark: bool = False) -> Person:
        """A new window in which `user` looks at `channel`; with nothing remembered from another."""
        context = await self._browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            is_mobile=phone,
            locale="en-GB",
        )
        self.contexts.append(context)
        await context.add_init_script(_TELL_VIOLATIONS)
        page = await context.new_page()
        self.pages.append(page)
        page.on("console", lambda message: self._console(user, message))
        page.on("pageerror", lambda error: self._complain(user, f"uncaught: {error}"))
        page.on("request", lambda request: self._request(user, program.url, request))
        await page.goto(f"{program.url}/#as={user}&in={channel}")
        await expect(page.get_by_test_id("composer")).to_be_visible(timeout=PATIENCE)
        return Person(page)

    def _console(self, user: str, message: ConsoleMessage) -> None:
        self.console.append(f"{user} {message.type}: {message.text}")
        if message.type in {"error", "warning"}:
            self._complain(user, message.text)

    def _request(self, user: str, home: str, request: Request) -> None:
        if not request.url.startswith((f"{home}/", home.replace("http", "ws", 1) + "/", "data:", "blob:")):
            self._complain(user, f"asked for {request.url}")

    def _complain(self, user: str, what: str) -> None:
        if not any(part in what for part in self.tolerated):
            self.complaints.append(f"{user}: {what}")

    async def keep(self, folder: Path) -> None:
        """A picture of every window and the page's console, for whoever looks into a failure."""
        for number, page in enumerate(self.pages):
            await page.screenshot(path=folder / f"window-{number}.png")
        (folder / "console.log").write_text("\n".join([*self.console, *self.complaints]) + "\n", encoding="utf-8")


@pytest_asyncio.fixture(loop_scope="session")
async def windows(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Windows]:
    opened = Windows(browser)
    yield opened
    if request.node.stash.get(_FAILED, False) or opened.complaints:
        await opened.keep(tmp_path)
    for context in opened.contexts:
        await context.close()
    assert opened.complaints == []
