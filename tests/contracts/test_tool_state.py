"""What the replicas' tool engines share, against a real Valkey: cached values, what makes them void, and who fetches them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import structlog

from memory.connect import connect
from memory.toolstate import LONGEST_KEPT, Begun, Ended, ToolState, ToolStateDown, slot_key
from tests.contracts.tool_kit import DOWN, ME, NONE, SLOW, Desks, aged, context, cooled, counted, engine, found, opened, quiet, until
from tests.fakes.valkey import Valkey
from tools import ModelRetry, ToolFailed, tool
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


# --- cached values --------------------------------------------------------------------------------------------------------


async def test_a_value_is_answered_from_the_cache_by_every_replica_until_it_is_too_old(valkey: Valkey, state: ToolState) -> None:
    desks, one, two = Desks(), engine(state), engine(state)
    read = desks.reader()
    first = await one.call(read, {"desk": "north"}, context())
    desks.open["north"] = 7
    again = await two.call(read, {"desk": "north"}, context(call="c2"))
    aged(valkey, 30)
    older = await one.call(read, {"desk": "north"}, context(call="c3"))

    assert (first.data, first.cached, first.attempts) == (1, False, 1)
    assert (again.data, again.cached, again.attempts, again.stale) == (1, True, 0, False)
    assert older.cached
    assert 30 <= (older.age or 0) < 60
    assert desks.reads == 1

    aged(valkey, 31)
    assert (await two.call(read, {"desk": "north"}, context())).data == 7
    assert desks.reads == 2
    assert counted(one, "steward_tool_cache_total", tool="count_tickets", event="miss") == 1
    assert counted(one, "steward_tool_cache_total", tool="count_tickets", event="hit") == 1
    assert counted(two, "steward_tool_cache_total", tool="count_tickets", event="hit") == 1


async def test_nothing_of_a_read_without_a_lifetime_or_that_depends_on_the_moment_is_kept(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    for read in (desks.reader(cache_ttl=0), desks.reader(cache_ttl=0, time_sensitive=True), desks.writer(invalidates=())):
        for _ in range(2):
            assert not (await runner.call(read, {"desk": "north"}, context())).cached

    assert desks.reads == 4
    assert desks.open["north"] == 3
    assert found(valkey, "*value*") == found(valkey, "*lock*") == []


PLACES = {
    "same person, another channel": (context(channel="C2"), {"person", "workspace"}),
    "another person, the same channel": (context(person="U2"), {"channel", "workspace"}),
    "the same person in another time zone": (context(timezone="Asia/Shanghai"), {"channel", "workspace"}),
    "another workspace": (context(team="T2"), set()),
}


@pytest.mark.parametrize("scope", ["person", "channel", "workspace"])
@pytest.mark.parametrize("who", list(PLACES))
async def test_a_value_is_shared_within_its_scope_and_not_beyond(state: ToolState, scope: str, who: str) -> None:
    where, shared_in = PLACES[who]
    desks, runner = Desks(), engine(state)
    read = desks.reader(scope=scope)
    await runner.call(read, {"desk": "north"}, ME)
    other = await runner.call(read, {"desk": "north"}, where)

    assert other.cached == (scope in shared_in)
    assert desks.reads == (1 if scope in shared_in else 2)


async def test_other_arguments_another_version_and_another_schema_are_other_values(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    await runner.call(desks.reader(), {"desk": "north"}, ME)
    others = [(desks.reader(), {"desk": "south"}), (desks.reader(version="2"), {"desk": "north"})]
    for read, arguments in others:
        assert not (await runner.call(read, arguments, ME)).cached

    assert len({slot_key("t", "1", "{}", arguments, ("person", "a")) for arguments in ('{"a":1}', '{"a":2}')}) == 2
    assert len({slot_key("t", "1", schema, "{}", ("person", "a")) for schema in ("{}", '{"x":1}')}) == 2
    assert slot_key("t", "1", "{}", "{}", ("a", "bc")) != slot_key("t", "1", "{}", "{}", ("ab", "c"))


async def test_only_successes_are_kept(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    for fault in (DOWN, NONE, ModelRetry("Name the desk."), ToolFailed("Closed."), ValueError("broken"), TimeoutError()):
        desks.fault = fault
        for _ in range(2):
            assert not (await runner.call(desks.reader(), {"desk": "north"}, ME)).cached
        valkey.command("DEL", *(found(valkey, "*:circuit:*") or ["none"]))

    assert desks.reads == 12
    assert found(valkey, "*:value:*") == []
    assert found(valkey, "*:lock:*") == []


async def test_a_value_too_large_to_keep_is_answered_and_read_again(valkey: Valkey, state: ToolState) -> None:
    reads = []

    async def dump_log() -> list[str]:
        """Give the whole log of the building, line by line."""
        reads.append(1)
        return ["a line of some length " * 4] * 3_500

    log, runner = tool(effect="read", cache_ttl=60)(dump_log), engine(state)
    for _ in range(2):
        assert (await runner.call(log, {}, ME)).truncated

    assert len(reads) == 2
    assert found(valkey, "*:value:*") == []


async def test_a_kept_value_that_cannot_be_read_ends_in_a_reason_and_not_in_a_crash(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    await runner.call(desks.reader(), {"desk": "north"}, ME)
    valkey.command("HSET", found(valkey, "*:value:*")[0], "value", "{not json")
    result = await runner.call(desks.reader(), {"desk": "north"}, ME)

    assert (result.error_code, result.suggestion) == (ErrorCode.INTERNAL, Suggestion.GIVE_UP)


# --- what makes them void -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tags", "void", "gone"), [((), ("tickets",), True), (("desks", "rota"), ("rota",), True), (("desks",), ("rooms",), False)])
async def test_a_write_makes_void_what_carries_one_of_its_tags_in_every_replica(
    state: ToolState, tags: tuple[str, ...], void: tuple[str, ...], gone: bool
) -> None:
    desks, one, two = Desks(), engine(state), engine(state)
    read, write = desks.reader(tags=tags), desks.writer(invalidates=void)
    await one.call(read, {"desk": "north"}, ME)
    await two.call(write, {"desk": "north"}, ME)
    after = await one.call(read, {"desk": "north"}, ME)

    assert (after.data, after.cached) == ((2, False) if gone else (1, True))


async def test_a_write_that_was_not_let_run_makes_nothing_void_and_one_in_doubt_does(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read, write = desks.reader(upstream="desk-api"), desks.writer(upstream="desk-api")
    await runner.call(read, {"desk": "north"}, ME)
    for _ in range(3):
        await state.end(["tool:open_ticket"], "bad", token="x")
    assert (await runner.call(write, {"desk": "north"}, ME)).error_code == ErrorCode.CIRCUIT_OPEN
    assert (await runner.call(read, {"desk": "north"}, ME)).cached

    await state.end(["tool:open_ticket"], "good")
    desks.fault = ConnectionResetError()
    assert (await runner.call(write, {"desk": "north"}, ME)).error_code == ErrorCode.OUTCOME_UNKNOWN
    desks.fault = None
    assert not (await runner.call(read, {"desk": "north"}, ME)).cached


async def test_a_value_read_before_a_write_and_ended_after_it_is_not_kept(valkey: Valkey, state: ToolState) -> None:
    desks, one, two = Desks(), engine(state), engine(state)
    desks.gate = asyncio.Event()
    reading = asyncio.create_task(one.call(desks.reader(), {"desk": "north"}, ME))
    await desks.inside.wait()
    await two.call(desks.writer(), {"desk": "north"}, ME)
    desks.gate.set()

    assert (await reading).data == 1  # what was true when it was asked
    assert found(valkey, "*:value:*") == []
    fresh = await two.call(desks.reader(), {"desk": "north"}, ME)
    assert (fresh.data, fresh.cached) == (2, False)


async def test_a_read_after_a_write_does_not_join_one_that_began_before_it(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    desks.gate = asyncio.Event()
    read = desks.reader()
    old = asyncio.create_task(runner.call(read, {"desk": "north"}, ME))
    await desks.inside.wait()
    assert (await runner.call(desks.writer(), {"desk": "north"}, ME)).success
    new = [asyncio.create_task(runner.call(read, {"desk": "north"}, context(call=f"c{n}"))) for n in range(5)]
    await until(lambda: len(runner._flights) == 1)
    desks.gate.set()

    assert (await old).data == 1
    assert {(await each).data for each in new} == {2}
    assert desks.reads == 2
    assert found(valkey, "*:lock:*") == []
    again = await runner.call(read, {"desk": "north"}, ME)
    assert (again.data, again.cached) == (2, True)


async def test_a_read_after_a_write_of_another_replica_does_not_get_what_was_read_before(valkey: Valkey, state: ToolState) -> None:
    async with opened(valkey) as second:
        desks, one, two = Desks(), engine(state), engine(second)
        desks.gate = asyncio.Event()
        old = asyncio.create_task(one.call(desks.reader(), {"desk": "north"}, ME))
        await desks.inside.wait()
        assert (await two.call(desks.writer(), {"desk": "north"}, ME)).success
        new = asyncio.create_task(one.call(desks.reader(), {"desk": "north"}, ME))
        await asyncio.sleep(0)
        desks.gate.set()

        assert [(await old).data, (await new).data] == [1, 2]
        assert desks.reads == 2


async def test_a_write_of_other_tags_leaves_a_read_under_way_to_all_who_want_it(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    desks.gate = asyncio.Event()
    reading = [asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME))]
    await desks.inside.wait()
    await runner.call(desks.writer(invalidates=("rooms",)), {"desk": "south"}, ME)
    reading.append(asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME)))
    await asyncio.sleep(0)
    desks.gate.set()

    assert [result.cached for result in await asyncio.gather(*reading)] == [False, True]
    assert desks.reads == 1


async def test_a_write_whose_process_was_killed_before_it_could_say_so_made_void_what_was_kept(valkey: Valkey, state: ToolState) -> None:
    """The state as a dead process leaves it: leave was given, the change made, and the end never told."""

    class Killed(ToolState):
        async def end(self, *args: Any, **more: Any) -> Ended:
            self.asked.set()
            await asyncio.Event().wait()
            raise AssertionError("never")

        asked = asyncio.Event()

    desks, runner = Desks(), engine(state)
    await runner.call(desks.reader(), {"desk": "north"}, ME)
    killed = Killed(connect(valkey.url, timeout=2.0), circuits=SLOW)
    dying = asyncio.create_task(engine(killed).call(desks.writer(), {"desk": "north"}, ME))
    await killed.asked.wait()

    after = await runner.call(desks.reader(), {"desk": "north"}, ME)
    assert (after.data, after.cached) == (2, False)
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying
    await killed.close()


async def test_what_a_stopped_write_made_void_is_owed_when_redis_goes_away_under_it(valkey: Valkey, state: ToolState) -> None:
    class Leaving(ToolState):
        """Does not answer to the end of a call, once the test says so."""

        asked, gone = asyncio.Event(), asyncio.Event()

        async def end(self, *args: Any, **more: Any) -> Ended:
            if not self.gone.is_set():
                self.asked.set()
                await self.gone.wait()
                raise ToolStateDown("end: gone")
            return await super().end(*args, **more)

    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: unheard.append(said))
    desks, other = Desks(), engine(state)
    leaving = Leaving(connect(valkey.url, timeout=2.0), circuits=SLOW)
    runner = engine(leaving)
    write = asyncio.create_task(runner.call(desks.writer(), {"desk": "north"}, ME))
    await leaving.asked.wait()
    desks.open["north"] = 1  # read by another one between its beginning and its end
    await other.call(desks.reader(), {"desk": "north"}, ME)
    desks.open["north"] = 2
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    leaving.gone.set()
    await until(lambda: counted(runner, "steward_tool_state_down_total") == 1)

    after = await runner.call(desks.reader(), {"desk": "north"}, ME)
    assert (after.data, after.cached) == (2, False)
    gc.collect()
    assert unheard == []
    await leaving.close()


async def test_generations_outlive_every_value(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    await runner.call(desks.writer(), {"desk": "north"}, ME)
    await runner.call(desks.reader(cache_ttl=30 * 86_400), {"desk": "north"}, ME)
    [generation], [value] = found(valkey, "*:generation:*"), found(valkey, "*:value:*")

    assert int(str(valkey.command("TTL", value))) <= LONGEST_KEPT < int(str(valkey.command("TTL", generation)))


async def test_what_a_write_made_void_while_redis_was_away_is_made_void_when_it_is_back(valkey: Valkey) -> None:
    server = Valkey()
    try:
        async with opened(server) as state:
            desks, runner = Desks(), engine(state)
            await runner.call(desks.reader(), {"desk": "north"}, ME)
            server.kill()
            assert (await runner.call(desks.writer(), {"desk": "north"}, ME)).success
            server.start()
            after = await runner.call(desks.reader(), {"desk": "north"}, ME)

            assert (after.data, after.cached) == (2, False)
    finally:
        server.close()


# --- "there is no such thing" ---------------------------------------------------------------------------------------------


async def test_a_not_found_is_kept_for_its_own_short_time_only_where_declared(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(negative_ttl=5)
    first = await runner.call(read, {"desk": "west"}, ME)
    desks.open["west"] = 4
    again = await runner.call(read, {"desk": "west"}, ME)

    assert (first.error_code, first.cached) == (ErrorCode.NOT_FOUND, False)
    assert (again.error_code, again.error_message, again.suggestion, again.cached) == (first.error_code, first.error_message, first.suggestion, True)
    assert desks.reads == 1
    assert counted(runner, "steward_tool_cache_total", tool="count_tickets", event="negative") == 1

    aged(valkey, 6)
    assert (await runner.call(read, {"desk": "west"}, ME)).data == 4


async def test_a_write_makes_a_kept_not_found_void(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(negative_ttl=50)
    await runner.call(read, {"desk": "west"}, ME)
    await runner.call(desks.writer(), {"desk": "west"}, ME)

    assert (await runner.call(read, {"desk": "west"}, ME)).data == 1


async def test_a_kept_not_found_never_stands_in_for_a_source_that_is_down(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(negative_ttl=5, stale_ttl=3600)
    await runner.call(read, {"desk": "west"}, ME)
    aged(valkey, 6)
    desks.fault = DOWN

    assert (await runner.call(read, {"desk": "west"}, ME)).error_code == ErrorCode.UPSTREAM_ERROR


# --- old values that stand in ---------------------------------------------------------------------------------------------


async def test_an_old_value_stands_in_for_a_source_that_is_down_marked_with_its_age_and_not_for_ever(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(stale_ttl=3600, retries=1)
    await runner.call(read, {"desk": "north"}, ME)
    aged(valkey, 600)
    desks.fault = DOWN
    stale = await runner.call(read, {"desk": "north"}, ME)

    assert (stale.success, stale.data, stale.cached, stale.stale, stale.attempts) == (True, 1, True, True, 2)
    assert 600 <= (stale.age or 0) < 660
    assert "this was read 10 minutes ago" in stale.for_model()
    assert counted(runner, "steward_tool_cache_total", tool="count_tickets", event="stale") == 1

    aged(valkey, 3600)
    assert (await runner.call(read, {"desk": "north"}, ME)).error_code == ErrorCode.UPSTREAM_ERROR


async def test_an_old_value_stands_in_while_the_circuit_is_open_and_is_not_used_where_a_tool_wants_none(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    patient, strict = desks.reader(stale_ttl=3600), desks.reader(version="2")
    for read in (patient, strict):
        await runner.call(read, {"desk": "north"}, ME)
    aged(valkey, 61)
    desks.fault = DOWN
    for _ in range(3):
        await runner.call(patient, {"desk": "south"}, ME)
    reads = desks.reads

    assert (await runner.call(patient, {"desk": "north"}, ME)).stale
    assert (await runner.call(strict, {"desk": "north"}, ME)).error_code == ErrorCode.CIRCUIT_OPEN
    assert desks.reads == reads


async def test_a_refusal_or_a_fault_of_the_tools_own_is_told_and_not_covered_by_an_old_value(valkey: Valkey, state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read = desks.reader(stale_ttl=3600)
    await runner.call(read, {"desk": "north"}, ME)
    aged(valkey, 61)
    for fault, code in ((ToolFailed("Closed."), ErrorCode.REFUSED), (ValueError("x"), ErrorCode.INTERNAL), (NONE, ErrorCode.NOT_FOUND)):
        desks.fault = fault
        assert (await runner.call(read, {"desk": "north"}, ME)).error_code == code


# --- one fetches for all --------------------------------------------------------------------------------------------------


async def test_a_hundred_callers_in_two_replicas_cause_one_execution(valkey: Valkey, state: ToolState) -> None:
    async with opened(valkey) as second:
        desks, one, two = Desks(), engine(state), engine(second)
        desks.gate = asyncio.Event()
        read = desks.reader()
        tasks = [asyncio.create_task((one, two)[n % 2].call(read, {"desk": "north"}, context(call=f"c{n}"))) for n in range(100)]
        await desks.inside.wait()
        desks.gate.set()
        results = await asyncio.gather(*tasks)

        assert desks.reads == 1
        assert {result.data for result in results} == {1}
        assert sum(not result.cached for result in results) == 1
        assert found(valkey, "*:lock:*") == []


async def test_when_the_one_who_fetches_is_stopped_another_one_does_at_once(valkey: Valkey, state: ToolState) -> None:
    """Within a process and from another one: the token is given back, nobody waits for it to run out."""
    async with opened(valkey) as second:
        desks, one, two = Desks(), engine(state), engine(second)
        desks.gate = asyncio.Event()
        read = desks.reader()
        leader = asyncio.create_task(one.call(read, {"desk": "north"}, ME))
        await desks.inside.wait()
        same = asyncio.create_task(one.call(read, {"desk": "north"}, ME))
        other = asyncio.create_task(two.call(read, {"desk": "north"}, ME))
        await asyncio.sleep(0)
        leader.cancel()
        desks.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await leader

        async with asyncio.timeout(10):  # the token alone would hold them up for longer
            assert [(await same).data, (await other).data] == [1, 1]
        assert desks.reads == 2
        assert found(valkey, "*:lock:*") == []
        assert counted(one, "steward_tool_calls_total", tool="count_tickets", outcome="CANCELLED") == 1


async def test_a_follower_that_is_stopped_stops_alone(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    desks.gate = asyncio.Event()
    leader = asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME))
    await desks.inside.wait()
    follower = asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME))
    await asyncio.sleep(0)
    follower.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower
    desks.gate.set()

    assert (await leader).data == 1
    assert desks.reads == 1


async def test_a_call_stopped_just_when_it_got_leave_gives_the_token_and_the_probe_back(valkey: Valkey, state: ToolState) -> None:
    class Held(ToolState):
        """Leave is given, and the answer is on its way for ever."""

        given = asyncio.Event()

        async def begin(self, *args: Any, **more: Any) -> Begun:
            await super().begin(*args, **more)
            self.given.set()
            await asyncio.Event().wait()
            raise AssertionError("never")

    desks = Desks()
    desks.fault = DOWN
    for _ in range(3):
        await engine(state).call(desks.reader(), {"desk": "south"}, ME)
    cooled(valkey)
    desks.fault = None
    held = Held(connect(valkey.url, timeout=2.0), circuits=SLOW)
    call = asyncio.create_task(engine(held).call(desks.reader(), {"desk": "north"}, ME))
    await held.given.wait()
    assert len(found(valkey, "*:lock:*")) == 1
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await held.close()

    assert found(valkey, "*:lock:*") == []
    assert (await engine(state).call(desks.reader(), {"desk": "north"}, ME)).data == 1


async def test_a_failure_is_shared_with_those_who_waited_and_with_nobody_later(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    desks.gate, desks.fault = asyncio.Event(), DOWN
    tasks = [asyncio.create_task(runner.call(desks.reader(), {"desk": "north"}, ME)) for _ in range(3)]
    await desks.inside.wait()
    desks.gate.set()
    assert {result.error_code for result in await asyncio.gather(*tasks)} == {ErrorCode.UPSTREAM_ERROR}
    assert desks.reads == 1

    desks.fault = None
    assert (await runner.call(desks.reader(), {"desk": "north"}, ME)).data == 1


async def test_a_write_that_says_nothing_of_it_makes_void_what_is_cached_of_its_own_group(state: ToolState) -> None:
    desks, runner = Desks(), engine(state)
    read, write = desks.reader(), desks.writer(invalidates=())
    before = await runner.call(read, {"desk": "north"}, ME)
    await runner.call(write, {"desk": "north"}, ME)
    after = await runner.call(read, {"desk": "north"}, ME)

    assert read.group == write.group
    assert (before.cached, after.cached) == (False, False)
    assert after.data != before.data


async def test_what_goes_beyond_a_persons_cap_does_not_use_up_what_is_left(state: ToolState) -> None:
    assert await state.spend(ME.actor, 6, limit=10, window=60)
    assert not await state.spend(ME.actor, 6, limit=10, window=60)
    assert await state.spend(ME.actor, 4, limit=10, window=60)
    assert not await state.spend(ME.actor, 1, limit=10, window=60)
