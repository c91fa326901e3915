"""What the replicas' tool engines share, against a real Valkey: circuits, people's counts, kept pages; and how they do without it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
import structlog
from pydantic import Field

from memory.connect import connect
from memory.keys import Actor
from memory.toolstate import Circuits, Ended, Slot, ToolState, ToolStateDown
from tests.contracts.tool_kit import DOWN, ME, NONE, SLOW, Desks, cooled, counted, engine, found, opened, quiet, until
from tests.fakes.valkey import Valkey
from tools import ModelRetry, Tool, ToolFailed, ToolResult, tool
from tools.engine import Engine, EngineLimits
from tools.result import ErrorCode, Suggestion


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def plain_log() -> Iterator[None]:
    quiet()
    yield
    structlog.reset_defaults()


@pytest.fixture
async def state(valkey: Valkey) -> AsyncIterator[ToolState]:
    valkey.command("FLUSHALL")
    async with opened(valkey) as state:
        yield state


# --- circuits -------------------------------------------------------------------------------------------------------------


async def fail(runner: Engine, read: Tool, desks: Desks, times: int, fault: BaseException = DOWN) -> list[ToolResult]:
    desks.fault = fault
    results = [await runner.call(read, {"desk": "north"}, ME) for _ in range(times)]
    desks.fault = None
    return results


async def test_a_circuit_opens_at_the_threshold_for_every_replica_and_says_when_to_come_back(state: ToolState) -> None:
    desks, one, two = Desks(), engine(state), engine(state)
    read = desks.reader(cache_ttl=0)
    await fail(one, read, desks, 2)
    await fail(two, read, desks, 1)
    refused = await one.call(read, {"desk": "north"}, ME)

    assert (refused.error_code, refused.suggestion, refused.attempts) == (ErrorCode.CIRCUIT_OPEN, Suggestion.USE_OTHER_TOOL, 0)
    assert 900 < (refused.retry_after or 0) <= 1000
    assert "Nothing was done" in (refused.error_message or "")
    assert desks.reads == 3
    assert counted(two, "steward_tool_circuits_total", circuit="tool:count_tickets", event="opened") == 1
    assert counted(one, "steward_tool_circuits_total", circuit="tool:count_tickets", event="refused") == 1


async def test_a_success_in_between_sets_the_count_back_and_so_does_time(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(cache_ttl=0)
    await fail(runner, read, desks, 2)
    assert (await runner.call(read, {"desk": "north"}, ME)).success
    await fail(runner, read, desks, 2)
    assert (await runner.call(read, {"desk": "north"}, ME)).success

    await fail(runner, read, desks, 2)
    valkey.command("HINCRBY", found(valkey, "*:circuit:*")[0], "first", -61_000)
    await fail(runner, read, desks, 2)
    assert (await runner.call(read, {"desk": "north"}, ME)).success


@pytest.mark.parametrize("answer", [NONE, ToolFailed("Closed."), ModelRetry("Name the desk.")], ids=["not found", "refused", "wrong"])
async def test_an_answer_that_is_a_no_is_no_failure(state: ToolState, answer: Exception) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(cache_ttl=0)
    await fail(runner, read, desks, 2)
    await fail(runner, read, desks, 9, answer)

    assert (await runner.call(read, {"desk": "north"}, ME)).success


async def test_half_open_lets_one_probe_through_over_two_replicas_and_a_good_one_closes(valkey: Valkey, state: ToolState) -> None:
    async with opened(valkey) as second:
        desks, one, two = Desks(), engine(state), engine(second)
        read = desks.reader(cache_ttl=0)
        await fail(one, read, desks, 3)
        cooled(valkey)
        desks.gate, desks.inside, before = asyncio.Event(), asyncio.Event(), desks.reads
        tasks = [asyncio.create_task((one, two)[n % 2].call(read, {"desk": "north"}, ME)) for n in range(20)]
        await until(lambda: sum(task.done() for task in tasks) == 19)
        assert desks.reads == before + 1
        desks.gate.set()
        results = await asyncio.gather(*tasks)

        assert sorted(str(result.error_code) for result in results) == ["CIRCUIT_OPEN"] * 19 + ["None"]
        assert found(valkey, "*:circuit:*") == []
        assert (await two.call(read, {"desk": "north"}, ME)).success
        assert sum(counted(each, "steward_tool_circuits_total", circuit="tool:count_tickets", event="closed") for each in (one, two)) == 1


async def test_a_probe_that_fails_doubles_the_cooling_up_to_the_longest(valkey: Valkey, state: ToolState) -> None:
    async with opened(valkey, Circuits(threshold=1, cooling=1000.0, longest=3000.0)) as short:
        desks, runner = Desks(), engine(short)
        read = desks.reader(cache_ttl=0)
        waits = []
        for _ in range(4):
            await fail(runner, read, desks, 1)
            waits.append((await runner.call(read, {"desk": "north"}, ME)).retry_after or 0)
            cooled(valkey)

        assert [round(wait, -2) for wait in waits] == [1000, 2000, 3000, 3000]
        assert desks.reads == 4


async def test_a_probe_that_was_stopped_makes_room_for_the_next(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(cache_ttl=0)
    await fail(runner, read, desks, 3)
    cooled(valkey)
    desks.gate, desks.inside = asyncio.Event(), asyncio.Event()
    probe = asyncio.create_task(runner.call(read, {"desk": "north"}, ME))
    await desks.inside.wait()
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    desks.gate = None

    assert (await runner.call(read, {"desk": "north"}, ME)).success


@pytest.mark.parametrize("late", ["bad", "none"])
async def test_a_call_from_before_the_circuit_opened_does_not_end_anothers_probe(valkey: Valkey, state: ToolState, late: Any) -> None:
    await state.begin(["c"], token="early")
    for _ in range(3):
        await state.end(["c"], "bad", token="x")
    cooled(valkey)
    assert (await state.begin(["c"], token="probe")).verdict == "probe"
    ended = await state.end(["c"], late, token="early")

    assert ended.opened == ()
    assert (await state.begin(["c"], token="second")).verdict == "open"
    assert await state.end(["c"], "good", token="probe") == Ended(opened=(), closed=("c",), held=False)
    assert (await state.begin(["c"], token="third")).verdict == "run"


async def test_a_probe_that_never_comes_back_is_followed_by_another_one(valkey: Valkey, state: ToolState) -> None:
    for _ in range(3):
        await state.end(["c"], "bad", token="x")
    cooled(valkey)
    await state.begin(["c"], token="lost")
    assert (await state.begin(["c"], token="second")).verdict == "open"
    valkey.command("HSET", found(valkey, "*:circuit:*")[0], "probe", 1)

    assert (await state.begin(["c"], token="second")).verdict == "probe"


async def test_tools_with_one_upstream_share_its_circuit_and_others_are_not_touched(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(cache_ttl=0, upstream="desk-api")
    await fail(runner, read, desks, 3)

    async def name_desks() -> list[str]:
        """List the names of all desks there are in the building."""
        return ["north", "south"]

    shared = tool(effect="read", upstream="desk-api")(name_desks)
    assert (await runner.call(shared, {}, ME)).error_code == ErrorCode.CIRCUIT_OPEN
    assert (await runner.call(tool(effect="read", upstream="other-api")(name_desks), {}, ME)).success


async def test_a_tool_that_is_broken_itself_opens_only_its_own_circuit_and_keeps_no_probe_of_the_upstream(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    broken = desks.reader(cache_ttl=0, upstream="desk-api")
    await fail(runner, broken, desks, 3, ValueError("a bug"))
    assert (await runner.call(broken, {"desk": "north"}, ME)).error_code == ErrorCode.CIRCUIT_OPEN

    async def name_desks() -> list[str]:
        """List the names of all desks there are in the building."""
        return ["north", "south"]

    healthy = tool(effect="read", upstream="desk-api")(name_desks)
    assert (await runner.call(healthy, {}, ME)).success
    for _ in range(3):
        await state.end(["upstream:desk-api"], "bad", token="x")
    cooled(valkey)
    [result] = await fail(runner, broken, desks, 1, ValueError("still a bug"))  # the probe of both
    assert result.error_code == ErrorCode.INTERNAL
    assert (await runner.call(healthy, {}, ME)).success


async def test_circuits_are_counted_by_their_own_name_and_those_of_places_by_the_tools(state: ToolState) -> None:
    async def look_at(where: Annotated[str, Field(description="The address to look at")]) -> str:
        """Look at a page of somebody else, wherever it is."""
        raise DOWN

    looker = tool(effect="read", retries=0, circuit=lambda arguments: arguments["where"])(look_at)
    desks, runner = Desks(), engine(state)
    await fail(runner, desks.reader(cache_ttl=0, upstream="desk-api"), desks, 4)
    for place in ("one.example", "two.example"):
        for _ in range(4):
            await runner.call(looker, {"where": place}, ME)

    exposed = runner.metrics.render().decode()
    seen = dict(re.findall(r'steward_tool_circuits_total\{circuit="([^"]*)",event="opened"\} (\S+)', exposed))
    assert seen == {"tool:count_tickets": "1.0", "upstream:desk-api": "1.0", "tool:look_at": "2.0"}
    assert counted(runner, "steward_tool_circuits_total", circuit="tool:look_at", event="refused") == 2


async def test_a_write_in_doubt_counts_as_a_failure_and_an_open_circuit_does_nothing(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    write = desks.writer()
    await fail(runner, write, desks, 3, ConnectionResetError())
    refused = await runner.call(write, {"desk": "north"}, ME)

    assert refused.error_code == ErrorCode.CIRCUIT_OPEN
    assert desks.open["north"] == 1


# --- counts and kept pages ------------------------------------------------------------------------------------------------


async def test_what_people_use_is_counted_for_each_of_them_and_forgotten_after_the_window(valkey: Valkey, state: ToolState) -> None:
    ann, ben, other = (Actor(team_id=team, user_id=user) for team, user in (("T1", "U1"), ("T1", "U2"), ("T2", "U1")))
    answers = [await state.spend(ann, 2, limit=5, window=60.0) for _ in range(3)]

    assert answers == [True, True, False]
    assert await state.spend(ben, 5, limit=5, window=60.0)
    assert await state.spend(other, 5, limit=5, window=60.0)
    keys = found(valkey, "*:spent:*")
    assert len(keys) == 3
    assert all(0 < int(str(valkey.command("TTL", key))) <= 60 for key in keys)
    valkey.command("PERSIST", keys[0])  # as if a window had been lost
    for person in (ann, ben, other):
        await state.spend(person, 1, limit=99, window=60.0)
    assert all(int(str(valkey.command("TTL", key))) > 0 for key in keys)


async def test_pages_are_kept_for_their_run_and_no_other(valkey: Valkey, state: ToolState) -> None:
    await state.keep("run1", "call1", ["one", "两", "😀"], 60.0)

    assert [await state.page("run1", "call1", number) for number in (1, 2, 3, 4, 0)] == [("one", 3), ("两", 3), ("😀", 3), (None, 3), (None, 3)]
    assert await state.page("run2", "call1", 1) == (None, 0)
    assert await state.page("run1", "call2", 1) == (None, 0)
    await state.keep("run1", "call1", ["new"], 60.0)
    assert await state.page("run1", "call1", 2) == (None, 1)
    assert 0 < int(str(valkey.command("TTL", found(valkey, "*:result:*")[0]))) <= 60


async def test_remembered_answers_come_back_until_their_time_is_over(valkey: Valkey, state: ToolState) -> None:
    await state.remember("a", "你好", 60.0)

    assert await state.remembered("a") == "你好"
    assert await state.remembered("b") is None
    assert 0 < int(str(valkey.command("TTL", found(valkey, "*:answer:*")[0]))) <= 60


async def test_installations_that_share_a_redis_share_nothing_else(valkey: Valkey, state: ToolState) -> None:
    other = ToolState(connect(valkey.url, timeout=2.0), space="T9")
    await state.keep("run1", "call1", ["one"], 60.0)
    await state.end((), "none", void=["tickets"])

    assert await other.page("run1", "call1", 1) == (None, 0)
    slot = Slot("k", ("tickets",), fresh=60.0)
    assert (await other.begin((), slot, "t")).generation == "0"
    assert (await state.begin((), slot, "t")).generation == "1"
    await other.close()


# --- without Redis --------------------------------------------------------------------------------------------------------


async def test_without_shared_state_calls_still_run(valkey: Valkey) -> None:
    desks, runner = Desks(), engine(None)
    results = [await runner.call(desks.reader(), {"desk": "north"}, ME) for _ in range(2)]

    assert [result.data for result in results] == [1, 1]
    assert desks.reads == 2


async def test_with_redis_away_calls_still_run_and_it_is_not_asked_again_for_a_moment(tmp_path: Any) -> None:
    state = ToolState(connect(f"unix://{tmp_path}/none", timeout=1.0))
    desks, runner = Desks(), Engine(state, limits=EngineLimits(state_pause=3600.0))
    for _ in range(3):
        assert (await runner.call(desks.reader(), {"desk": "north"}, ME)).data == 1

    assert runner.state is None
    assert counted(runner, "steward_tool_state_down_total") == 1
    for question in (state.page("r", "c", 1), state.keep("r", "c", ["x"], 1), state.spend(ME.actor, 1, limit=1, window=1), state.remembered("x")):
        with pytest.raises(ToolStateDown):
            await question
    await state.close()


async def test_redis_killed_in_mid_call_costs_the_call_nothing() -> None:
    server = Valkey()
    try:
        async with opened(server) as state:
            desks, runner = Desks(), engine(state)
            desks.gate = asyncio.Event()
            call = asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME))
            await desks.inside.wait()
            server.kill()
            desks.gate.set()
            assert (await call).data == 1

            server.start()
            valid = [await runner.call(desks.reader(), {"desk": "south"}, ME) for _ in range(2)]
            assert [result.cached for result in valid] == [False, True]
    finally:
        server.close()


async def test_a_redis_that_forgot_the_scripts_is_given_them_again(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    await runner.call(desks.reader(), {"desk": "north"}, ME)
    valkey.command("SCRIPT", "FLUSH")

    assert (await runner.call(desks.reader(), {"desk": "north"}, ME)).cached
    assert await state.spend(ME.actor, 1, limit=1, window=60.0)


async def test_the_same_works_on_a_cluster() -> None:
    """Every script touches one hash slot, whatever it is about; a cluster refuses one that does not."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        port, bus = one.getsockname()[1], two.getsockname()[1]
    server = Valkey("--cluster-enabled", "yes", "--port", str(port), "--cluster-port", str(bus), "--bind", "127.0.0.1")
    try:
        server.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while b"cluster_state:ok" not in bytes(server.command("CLUSTER", "INFO")):  # type: ignore[call-overload]
            await asyncio.sleep(0.01)
        state = ToolState(connect(f"redis+cluster://127.0.0.1:{port}", timeout=2.0), space="T1", circuits=SLOW)
        desks, runner = Desks(), engine(state)
        read = desks.reader(tags=("desks", "rota"), upstream="desk-api", negative_ttl=5)
        for _ in range(2):
            assert (await runner.call(read, {"desk": "north"}, ME)).data == 1
            await runner.call(read, {"desk": "nowhere"}, ME)
        assert desks.reads == 2
        await runner.call(desks.writer(invalidates=("rota", "rooms")), {"desk": "north"}, ME)
        assert (await runner.call(read, {"desk": "north"}, ME)).data == 2
        await fail(runner, desks.reader(upstream="desk-api", cache_ttl=0), desks, 3)
        assert (await runner.call(desks.reader(cache_ttl=0), {"desk": "north"}, ME)).error_code == ErrorCode.CIRCUIT_OPEN
        await state.keep("r", "c", ["one", "two"], 60.0)
        assert await state.page("r", "c", 2) == ("two", 2)
        assert await state.spend(ME.actor, 1, limit=1, window=60.0)
        await state.remember("a", "b", 60.0)
        assert await state.remembered("a") == "b"
        await state.close()
    finally:
        server.close()


async def test_a_cluster_that_is_away_is_a_store_that_is_down() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        state = ToolState(connect(f"redis+cluster://127.0.0.1:{nobody.getsockname()[1]}", timeout=1.0))
        with pytest.raises(ToolStateDown):
            await state.begin(["c"])
        desks = Desks()
        assert (await engine(state).call(desks.reader(), {"desk": "north"}, ME)).data == 1
        await state.close()
