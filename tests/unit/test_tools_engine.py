"""`execute`: every call ends in one envelope, in time, whatever the tool does."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any

import pytest
import structlog
from pydantic import BaseModel, Field
from structlog.contextvars import bound_contextvars, get_contextvars

from memory.keys import Actor, Thread
from tools import ModelRetry, Registry, Tool, ToolContext, ToolFailed, ToolResult, tool
from tools.engine import Engine, Prepared, execute, prepare, to_model
from tools.result import ErrorCode, Suggestion
from tools.threads import LANE_WIDTH, Lanes

Count = Annotated[int, Field(description="How many, from one upwards")]
Day = Annotated[date, Field(description="A working day, e.g. 2024-05-20")]
Word = Annotated[str, Field(description="One word, any language")]


def context(call_id: str = "call1") -> ToolContext:
    return ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run1", call_id)


def made(function: Callable[..., Any], **options: Any) -> Tool:
    function.__doc__ = function.__doc__ or "A description that is long enough to be one."
    return tool(**{"effect": "read", **options})(function)


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """An event that lets hung threads go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def outcome(result: ToolResult) -> tuple[ErrorCode | None, Suggestion | None]:
    return result.error_code, result.suggestion


class Answer(BaseModel):
    day: date
    by: str


async def test_an_async_tool_gets_the_context_and_typed_arguments() -> None:
    async def answer(ctx: ToolContext, day: Day, count: Count = 2) -> Answer:
        assert isinstance(day, date)
        return Answer(day=day, by=f"{ctx.actor.user_id} {ctx.idempotency_key} {count}")

    result = await execute(made(answer), {"day": "2024-05-20"}, context(), '{"day":"2024-05-20"}')

    assert result.success
    assert result.data == {"day": "2024-05-20", "by": "U1 run1:call1 2"}
    assert result.raw_arguments == '{"day":"2024-05-20"}'
    assert result.duration > 0


async def test_a_plain_tool_runs_in_a_thread_with_the_callers_log_context() -> None:
    def where(json: Word) -> dict[str, Any]:
        return {"thread": threading.current_thread() is threading.main_thread(), "bound": get_contextvars(), "json": json}

    with bound_contextvars(run="r9"):
        result = await execute(made(where), {"json": "x"}, context())

    assert result.data == {"thread": False, "bound": {"run": "r9"}, "json": "x"}


async def test_a_plain_tool_may_return_something_to_await() -> None:
    async def later() -> str:
        return "done"

    def start() -> Any:
        return later()

    assert (await execute(made(start), {}, context())).data == "done"


async def test_arguments_are_checked_again_before_they_are_used() -> None:
    async def add(count: Count) -> int:
        return count

    result = await execute(made(add), {"count": "many", "extra": 1}, context())

    assert outcome(result) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert "- count:" in (result.error_message or "")
    assert "- extra:" in (result.error_message or "")


SIGNALS: list[tuple[Exception, ErrorCode, Suggestion, str]] = [
    (ModelRetry("There is no city 'Pariss'."), ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS, "There is no city 'Pariss'."),
    (ModelRetry(""), ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS, "The call was wrong; check the arguments."),
    (ToolFailed("Already shipped."), ErrorCode.REFUSED, Suggestion.GIVE_UP, "Already shipped."),
    (ToolFailed("None.", code=ErrorCode.EMPTY, suggestion=Suggestion.USE_OTHER_TOOL), ErrorCode.EMPTY, Suggestion.USE_OTHER_TOOL, "None."),
    (ToolFailed("x\ud800" * 5000), ErrorCode.REFUSED, Suggestion.GIVE_UP, ("x\ufffd" * 5000)[:1999] + "…"),
]


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize(("signal", "code", "suggestion", "message"), SIGNALS, ids=lambda part: type(part).__name__)
async def test_a_signal_becomes_its_envelope(signal: Exception, code: ErrorCode, suggestion: Suggestion, message: str, effect: str) -> None:
    async def fail() -> None:
        raise signal

    def fail_in_thread() -> None:
        raise signal

    for function in (fail, fail_in_thread):
        result = await execute(made(function, effect=effect), {}, context())
        assert (*outcome(result), result.error_message) == (code, suggestion, message)


FAULTS = [
    ValueError("password=hunter2 /etc/hosts"),
    StopIteration(),
    asyncio.CancelledError(),
    SystemExit(1),
    RecursionError(),
    MemoryError(),
    asyncio.InvalidStateError(),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_a_fault_in_a_read_is_internal_and_its_details_only_reach_the_log(fault: BaseException) -> None:
    async def fail() -> None:
        raise fault

    def fail_in_thread() -> None:
        raise fault

    for function in (fail, fail_in_thread):
        with structlog.testing.capture_logs() as logs:
            result = await execute(made(function), {}, context())
        assert outcome(result) == (ErrorCode.INTERNAL, Suggestion.GIVE_UP)
        assert "hunter2" not in result.model_dump_json()
        crash = next(line for line in logs if line["event"] == "tool.crashed")
        assert crash["reference"] in (result.error_message or "")
        assert crash["error"] in {type(fault).__name__, "RuntimeError"}
        assert crash["at"].startswith("unit/test_tools_engine.py:")
        assert "hunter2" not in repr([line for line in logs if line["log_level"] != "debug"])
        whole = next(line for line in logs if line["event"] == "fault.traceback")
        assert (whole["log_level"], whole["reference"]) == ("debug", crash["reference"])
        assert isinstance(whole["exc_info"], Exception)
        assert (crash["tool"], crash["run"], crash["call"], crash["log_level"]) == (function.__name__, "run1", "call1", "error")


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("fault", [ValueError("x"), TimeoutError(), ConnectionResetError()])
async def test_a_write_that_breaks_off_has_an_unknown_outcome(fault: Exception, keyed: bool) -> None:
    async def fail() -> None:
        raise fault

    result = await execute(made(fail, effect="write", keyed=keyed), {}, context())

    assert outcome(result) == (ErrorCode.OUTCOME_UNKNOWN, Suggestion.ASK_PERSON)
    assert "not known whether the change was made" in (result.error_message or "")


async def test_a_read_whose_upstream_times_out_may_be_tried_again() -> None:
    async def fail() -> None:
        raise TimeoutError

    assert outcome(await execute(made(fail), {}, context())) == (ErrorCode.TIMEOUT, Suggestion.RETRY)


async def test_a_hanging_async_tool_ends_at_its_time_out() -> None:
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    result = await execute(made(hang, timeout=0.05), {}, context())
    await asyncio.wait_for(cancelled.wait(), 5)

    assert outcome(result) == (ErrorCode.TIMEOUT, Suggestion.RETRY)
    assert result.error_message == "'hang' did not answer within 0.05 s."
    assert result.duration >= 0.05


async def test_a_tool_that_ignores_its_cancellation_does_not_hold_the_caller() -> None:
    let_go = asyncio.Event()

    async def stubborn() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    result = await asyncio.wait_for(execute(made(stubborn, timeout=0.05), {}, context()), 5)
    let_go.set()

    assert result.error_code == ErrorCode.TIMEOUT


@pytest.mark.parametrize("keyed", [False, True])
async def test_a_write_that_does_not_answer_in_time_has_an_unknown_outcome(release: threading.Event, keyed: bool) -> None:
    def hang() -> None:
        release.wait()

    result = await execute(made(hang, effect="write", keyed=keyed, timeout=0.05), {}, context())

    assert outcome(result) == (ErrorCode.OUTCOME_UNKNOWN, Suggestion.ASK_PERSON)
    assert "Do not try again" in (result.error_message or "")


async def test_hung_threads_hold_up_only_their_own_tool(release: threading.Event) -> None:
    ran = []

    def clog() -> None:
        release.wait()

    def clog_write(number: Count) -> None:
        ran.append(number)
        release.wait()

    def quick() -> str:
        return "ok"

    clogged = made(clog_write, effect="write", timeout=0.2)
    results = await asyncio.gather(*(execute(clogged, {"number": n}, context(f"c{n}")) for n in range(LANE_WIDTH)))
    waiting = await execute(clogged, {"number": 99}, context())
    other = await execute(made(quick), {}, context())

    assert {result.error_code for result in results} == {ErrorCode.OUTCOME_UNKNOWN}
    assert outcome(waiting) == (ErrorCode.TIMEOUT, Suggestion.RETRY)
    assert "did not start" in (waiting.error_message or "")
    assert "Nothing was done" in (waiting.error_message or "")
    assert other.data == "ok"
    assert sorted(ran) == list(range(LANE_WIDTH))


async def test_a_call_that_never_started_never_will() -> None:
    lanes = Lanes(width=1)
    first, go, ran = threading.Event(), threading.Event(), []

    def block() -> None:
        first.set()
        go.wait()

    running = lanes.submit("t", block)
    assert first.wait(5)
    given_up, kept = lanes.submit("t", lambda: ran.append("given up")), lanes.submit("t", lambda: ran.append("kept"))
    assert given_up.cancel()
    assert not running.cancel()
    go.set()
    kept.result(5)

    assert ran == ["kept"]


def test_a_hung_tool_does_not_keep_the_process_from_ending() -> None:
    import subprocess  # noqa: PLC0415 - only this test starts a process

    script = """
import asyncio, threading
from memory.keys import Actor, Thread
from tools import tool, ToolContext
from tools.engine import execute

@tool(effect="read", timeout=0.05)
def hang() -> None:
    '''Wait for something that never comes, for a test.'''
    threading.Event().wait()

ctx = ToolContext(Actor(team_id="T", user_id="U"), Thread(team_id="T", channel_id="C"), "UTC", "r", "c")
print("CODE", asyncio.run(execute(hang, {}, ctx)).error_code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)

    assert "CODE TIMEOUT" in done.stdout


async def test_a_cancelled_call_cancels_its_tool_and_lets_it_tidy_up() -> None:
    started, tidied = asyncio.Event(), []

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied.append(True)

    call = asyncio.create_task(execute(made(work), {}, context()))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert tidied == [True]


@pytest.mark.parametrize("value", [object(), lambda: 1], ids=["object", "function"])
async def test_a_read_that_returns_no_data_says_so(value: Any) -> None:
    async def answer() -> Any:
        return value

    result = await execute(made(answer), {}, context())

    assert outcome(result) == (ErrorCode.INTERNAL, Suggestion.GIVE_UP)
    assert "is not data JSON can carry" in (result.error_message or "")
    assert "0x" not in (result.error_message or "")


async def test_a_write_that_returns_no_data_was_done_all_the_same() -> None:
    async def change() -> Any:
        return object()

    result = await execute(made(change, effect="write"), {}, context())

    assert result.success
    assert result.data == {"note": "The change was made, but the tool's answer could not be read."}


@pytest.mark.parametrize("value", [b"\x00" * 3_000_000, "x" * 3_000_000, [{"n": n} for n in range(200_000)], {"deep": [[[[float("nan")]]]]}])
async def test_megabytes_bytes_and_nonsense_come_back_small_and_valid(value: Any) -> None:
    async def answer() -> Any:
        return value

    result = await execute(made(answer), {}, context(), limit=5000)
    sent = json.loads(to_model(result))

    assert len(json.dumps(result.data, ensure_ascii=False, separators=(",", ":"))) <= 5000
    assert sent["success"] is True
    assert sent.get("truncated", False) == (len(str(value)) > 5000 and not isinstance(value, bytes))


async def test_calls_run_in_parallel_and_answer_in_the_order_asked() -> None:
    arrived: list[int] = []
    all_here = asyncio.Event()

    async def meet(number: Count) -> int:
        arrived.append(number)
        if len(arrived) == 3:
            all_here.set()
        await all_here.wait()  # would never end one after the other
        for _ in range(5 - number):
            await asyncio.sleep(0)
        return number

    registry = Registry([made(meet, timeout=5)])
    calls = [prepare(registry, "meet", f'{{"number": {number}}}') for number in (1, 2, 3)]
    engine = Engine()
    ready = [call for call in calls if isinstance(call, Prepared)]
    results = await asyncio.gather(*(engine.call(call.tool, call.arguments, context(f"c{n}"), call.raw) for n, call in enumerate(ready)))

    assert [result.data for result in results] == [1, 2, 3]
    assert [result.raw_arguments for result in results] == ['{"number": 1}', '{"number": 2}', '{"number": 3}']


async def test_the_log_tells_start_and_end_and_never_the_arguments() -> None:
    async def greet(name: Word) -> str:
        if name == "nobody":
            raise ToolFailed("There is nobody of the name nobody.")
        return name

    greeter = made(greet)
    with structlog.testing.capture_logs() as logs:
        await execute(greeter, {"name": "somebody"}, context(), '{"name": "somebody"}')
        await execute(greeter, {"name": "nobody"}, context(), '{"name": "nobody"}')

    assert [line["event"] for line in logs] == ["tool.start", "tool.done", "tool.start", "tool.failed"]
    assert all((line["tool"], line["run"], line["call"]) == ("greet", "run1", "call1") for line in logs)
    assert logs[1]["duration"] > 0
    assert logs[3]["code"] == "REFUSED"
    assert "body" not in repr(logs)


def test_the_model_sees_no_empty_fields_and_no_raw_arguments_but_all_the_data() -> None:
    good = ToolResult.ok("list", {"next": None, "rows": [None, "订单"]}, raw_arguments="{}", duration=0.0032, attempts=1)
    nothing = ToolResult.ok("do", None)
    bad = ToolResult.fail("list", ErrorCode.EMPTY, "None.", Suggestion.GIVE_UP, truncated=True, raw_arguments="{}")

    assert json.loads(to_model(good)) == {"success": True, "tool_name": "list", "data": {"next": None, "rows": [None, "订单"]}}
    assert "订单" in to_model(good)
    assert json.loads(to_model(nothing)) == {"success": True, "tool_name": "do", "data": None}
    assert json.loads(to_model(bad)) == {
        "success": False,
        "tool_name": "list",
        "error_code": "EMPTY",
        "error_message": "None.",
        "suggestion": "give_up",
        "truncated": True,
    }


async def test_a_result_of_a_hand_made_tool_without_context_works() -> None:
    async def echo(text: Word) -> str:
        return text

    by_hand = dataclasses.replace(made(echo), takes_context=False, name="other")

    assert (await execute(by_hand, {"text": "a"}, context())).data == "a"
