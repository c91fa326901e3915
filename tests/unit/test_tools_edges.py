"""What goes on around a tool's own work: resolving within bounds, threads of one's own, and faults that tell the log where and not what."""

from __future__ import annotations

import asyncio
import contextlib
import io
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import structlog
from pydantic import AfterValidator, Field

import tools.resolve
from bot.log import configure_logging
from tests.unit.net_site import context
from tools.builtin.orders.calls import list_orders
from tools.builtin.reminders import remind_me
from tools.decorator import tool
from tools.engine import execute
from tools.faults import report, where
from tools.net.names import ask_system
from tools.prepare import Prepared, prepare
from tools.registry import Registry
from tools.resolve import resolved
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.threads import beside
from tools.tool import ModelRetry, Tool, ToolFailed, ToolLoadError

SECRET = "hunter2"


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def with_resolver(resolver: Any, timeout: float = 30.0) -> Tool:
    @tool(effect="write", resolve=resolver, timeout=timeout)
    async def book_table(seats: Annotated[int, Field(description="How many people sit at the table, e.g. 4")]) -> int:
        """Book a table in the restaurant for the evening, for so many people; returns the number of seats."""
        return seats

    return book_table


async def outcome(resolver: Any, **more: Any) -> ToolResult:
    result = await resolved(Prepared(with_resolver(resolver, **more), {"seats": 2}, '{"seats": 2}'), context())
    assert isinstance(result, ToolResult)
    return result


# --- resolving ------------------------------------------------------------------------------------------------------------


async def test_a_resolver_that_hangs_is_given_up_whether_in_the_loop_or_in_a_thread(release: threading.Event) -> None:
    async def stubborn(_ctx: Any, _arguments: Any) -> Any:
        while not release.is_set():
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                await asyncio.to_thread(release.wait)

    def hung(_ctx: Any, _arguments: Any) -> Any:
        release.wait()

    for resolver in (stubborn, hung):
        result = await asyncio.wait_for(outcome(resolver, timeout=0.05), 5)
        assert (result.error_code, result.suggestion) == (ErrorCode.TIMEOUT, Suggestion.RETRY)
    release.set()
    assert tools.resolve.PATIENCE <= 5


async def test_a_plain_resolver_does_not_hold_up_the_loop(release: threading.Event) -> None:
    def waits(_ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        assert release.wait(10)
        return arguments

    task = asyncio.create_task(resolved(Prepared(with_resolver(waits), {"seats": 2}, ""), context()))
    await asyncio.sleep(0)
    release.set()  # never reached if the resolver ran in the loop

    assert isinstance(await task, Prepared)


async def test_what_a_resolver_says_is_cleaned_and_of_bounded_length() -> None:
    for error in (ModelRetry("bad\x00 " + "x" * 9_000), ToolFailed("bad\x00 " + "x" * 9_000)):

        def fails(_ctx: Any, _arguments: Any, error: Exception = error) -> Any:
            raise error

        said = (await outcome(fails)).error_message or ""
        assert len(said) <= 2_000
        assert said.startswith("bad")
        assert "\x00" not in said


@pytest.mark.parametrize("fault", [SystemExit(3), StopIteration(), asyncio.CancelledError(), MemoryError()])
async def test_a_resolver_may_raise_anything(fault: BaseException) -> None:
    def plain(_ctx: Any, _arguments: Any) -> Any:
        raise fault

    async def slow(_ctx: Any, _arguments: Any) -> Any:
        raise fault

    for resolver in (plain, slow):
        if isinstance(fault, StopIteration) and resolver is slow:
            continue  # Python makes a RuntimeError of it itself
        assert (await outcome(resolver)).error_code is ErrorCode.INTERNAL


# --- threads --------------------------------------------------------------------------------------------------------------


async def test_hanging_look_ups_of_names_delay_nothing_else(release: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Semaphore(0)

    def hangs(*_: Any, **__: Any) -> Any:
        started.release()
        release.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    asked = [asyncio.create_task(ask_system(f"h{n}.example")) for n in range(64)]
    try:
        await asyncio.sleep(0)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "ok"), 10) == "ok"
        result = await asyncio.wait_for(resolved(Prepared(remind_me, {"text": "tea", "when": "in 2 hours", "timezone": ""}, ""), context()), 10)
        assert isinstance(result, Prepared)
    finally:
        release.set()
    assert await asyncio.gather(*asked) == [["192.0.2.1"]] * 64


async def test_a_common_pool_full_of_hung_work_stops_neither_orders_nor_reminders(release: threading.Event, tmp_path: Path) -> None:
    clogged = [asyncio.create_task(asyncio.to_thread(release.wait)) for _ in range(64)]
    try:
        await asyncio.sleep(0)
        assert (await asyncio.wait_for(execute(list_orders, {}, context(home=tmp_path)), 15)).error_code is not ErrorCode.TIMEOUT
        assert isinstance(await resolved(Prepared(remind_me, {"text": "tea", "when": "in 2 hours", "timezone": ""}, ""), context()), Prepared)
    finally:
        release.set()
        await asyncio.gather(*clogged)


async def test_a_call_nobody_waits_for_any_more_never_starts(release: threading.Event) -> None:
    ran: list[int] = []
    first = asyncio.create_task(beside("narrow", release.wait, width=1))
    await asyncio.sleep(0)
    second = asyncio.create_task(beside("narrow", lambda: ran.append(2), width=1))
    await asyncio.sleep(0)
    second.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await second  # it has heard of it before the lane has room
    release.set()
    await first
    await beside("narrow", lambda: ran.append(3), width=1)

    assert ran == [3]


# --- faults ---------------------------------------------------------------------------------------------------------------


def _angry(value: str) -> str:
    raise RuntimeError(f"cannot take {value}")


@tool(effect="read")
async def judge(word: Annotated[str, AfterValidator(_angry), Field(description="Any word, e.g. Oak")]) -> str:
    """Judge a word, which fails, as its own validator raises what no validator should."""
    return word


async def test_a_fault_of_a_validator_or_resolver_is_logged_without_the_values() -> None:
    def fails(_ctx: Any, _arguments: Any) -> Any:
        raise RuntimeError(SECRET)

    with structlog.testing.capture_logs() as logs:
        refused = prepare(Registry([judge]), "judge", f'{{"word": "{SECRET}"}}')
        unclear = await outcome(fails)

    assert isinstance(refused, ToolResult)
    errors = [line for line in logs if line["log_level"] == "error"]
    assert [line["event"] for line in errors] == ["tool.validator_failed", "tool.resolver_failed"]
    assert all(line["error"] == "RuntimeError" and line["at"].startswith("unit/test_tools_edges.py:") for line in errors)
    assert SECRET not in repr(errors)
    for line, result in zip(errors, (refused, unclear), strict=True):
        assert line["reference"] in (result.error_message or "")
        [whole] = [each for each in logs if each["log_level"] == "debug" and each["reference"] == line["reference"]]
        assert SECRET in str(whole["exc_info"])


def test_a_traceback_is_printed_at_debug_only() -> None:
    for level, there in (("INFO", False), ("DEBUG", True)):
        out = io.StringIO()
        configure_logging(level=level, stream=out)
        with pytest.raises(RuntimeError) as caught:
            _angry(SECRET)
        reference = report(structlog.get_logger("t"), "tool.crashed", caught.value)
        assert reference in out.getvalue()
        assert (SECRET in out.getvalue()) is there


def test_the_place_of_a_fault_is_the_tools_own_line_and_else_where_it_was_raised() -> None:
    def calls_others() -> None:
        int("no number")

    def own() -> None:
        Path("/nowhere/at/all").read_text()

    for function, file in ((calls_others, "unit/test_tools_edges.py"), (own, "unit/test_tools_edges.py")):
        with pytest.raises((ValueError, OSError)) as caught:
            function()
        assert where(caught.value, function).startswith(file)
    assert where(ValueError()) == ""
    assert where(ValueError(), own) == f"unit/test_tools_edges.py:{own.__code__.co_firstlineno}"


# --- names that may be told, names of arguments -----------------------------------------------------------------------------


def test_only_the_names_on_offer_are_told_of_an_unknown_tool() -> None:
    @tool(effect="read")
    async def judge_salary(word: Annotated[str, Field(description="Any word, e.g. Oak")]) -> str:
        """Judge the salary of somebody, which is not for everybody to know of."""
        return word

    registry = Registry([judge, judge_salary])
    told = prepare(registry, "judge_salry", "{}", offered=frozenset({"judge", "open_tools"}))
    everything = prepare(registry, "judge_salry", "{}")
    nothing = prepare(registry, "judge_salry", "{}", offered=())

    assert isinstance(told, ToolResult)
    assert isinstance(everything, ToolResult)
    assert isinstance(nothing, ToolResult)
    assert told.error_message == "There is no tool 'judge_salry'. Did you mean 'judge'? The tools are: judge, open_tools."
    assert "'judge_salary'" in str(everything.error_message)
    assert nothing.error_message == "There is no tool 'judge_salry'. No tools are available."


@pytest.mark.parametrize("option", [{"goes_out": "uri"}, {"same_as": {"word": "other"}}, {"same_as": {"other": "word"}}])
def test_an_option_that_names_no_argument_is_refused_when_the_tool_is_loaded(option: dict[str, Any]) -> None:
    async def look(word: Annotated[str, Field(description="Any word, e.g. Oak")]) -> str:
        """Look a word up in the dictionary of the house and return what it means."""
        return word

    with pytest.raises(ToolLoadError, match="which is no argument"):
        tool(effect="read", **option)(look)
