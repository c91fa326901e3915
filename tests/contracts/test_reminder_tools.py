"""The reminder tools over a real store: what they refuse, what they repeat safely, and whose reminders they touch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from pydantic import Field

from memory.connect import connect
from memory.keys import Actor, Thread
from memory.reminders import MAX_OPEN, MAX_TEXT, Reminders
from tests.fakes.valkey import Valkey
from tools.builtin.reminders import cancel_reminder, list_reminders, remind_me
from tools.decorator import tool
from tools.engine import execute, prepare
from tools.prepare import Prepared
from tools.registry import Registry
from tools.resolve import resolved
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Tool, ToolContext, ToolFailed

REGISTRY = Registry([remind_me, list_reminders, cancel_reminder])
NOW = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
ANA, BO = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
ROOM, OTHER, DIRECT = (Thread(team_id="T1", channel_id=channel, thread_ts="1.000001") for channel in ("C1", "C2", "D1"))


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[Reminders]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield Reminders(client)
    await client.aclose()


def context(
    store: Reminders | None, *, actor: Actor = ANA, thread: Thread = ROOM, call: str = "c1", now: datetime = NOW, zone: str = "Asia/Tokyo"
) -> ToolContext:
    resources: dict[str, Any] = {"now": lambda: now} | ({"reminders": store} if store is not None else {})
    return ToolContext(actor, thread, zone, "run", call, resources=resources)


async def resolve(tool: Tool, arguments: str, ctx: ToolContext) -> Prepared | ToolResult:
    prepared = prepare(REGISTRY, tool.name, arguments)
    return prepared if isinstance(prepared, ToolResult) else await resolved(prepared, ctx)


async def definite(tool: Tool, arguments: str, ctx: ToolContext) -> dict[str, Any]:
    found = await resolve(tool, arguments, ctx)
    assert isinstance(found, Prepared), found
    return found.arguments


def rows(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    assert tool.render is not None
    return dict(tool.render(tool.args_model.model_validate(arguments)))


async def test_what_the_card_shows_is_what_is_kept_though_time_goes_on(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "tea", "when": "in 2 hours"}', context(store))
    assert rows(remind_me, arguments) == {"Text": "tea", "When": "2026-11-30 10:30 (Monday 星期一), Asia/Tokyo, UTC+09:00"}

    result = await execute(remind_me, arguments, context(store, now=NOW + timedelta(minutes=90)))

    assert result.success
    assert result.data["when"] == rows(remind_me, arguments)["When"]
    assert [each.due for each in await store.of(ANA)] == [int((NOW + timedelta(hours=2)).timestamp())]


async def test_resolving_what_is_definite_changes_nothing(store: Reminders) -> None:
    once = await definite(remind_me, '{"text": "tea", "when": "明早八点"}', context(store))
    prepared = Prepared(remind_me, once, "")

    again = await resolved(prepared, context(store, now=NOW + timedelta(hours=5), zone="America/New_York"))

    assert isinstance(again, Prepared)
    assert again.arguments == once


async def test_a_place_named_with_the_time_is_whose_clock_is_meant(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "call", "when": "tomorrow 9am New York time"}', context(store))

    assert (arguments["when"], arguments["timezone"]) == ("2026-11-30T09:00:00-05:00", "America/New_York")
    refused = await resolve(remind_me, '{"text": "call", "when": "tomorrow 9am New York time", "timezone": "Europe/Berlin"}', context(store))
    assert isinstance(refused, ToolResult)
    assert "names the clock of America/New_York, but timezone is Europe/Berlin" in (refused.error_message or "")


async def test_a_text_that_asks_for_a_repetition_is_given_once_and_the_card_and_the_result_say_so(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "每天喝水", "when": "明早八点"}', context(store))

    assert rows(remind_me, arguments)["Note"].said("zh") == "只提醒一次：提醒不会重复。"
    assert rows(remind_me, arguments)["Note"].said("en") == "This reminder is given once; reminders do not repeat."
    result = await execute(remind_me, arguments, context(store))
    assert "do not repeat" in result.data["note"]


async def test_the_time_of_another_place_can_be_meant(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "call", "when": "tomorrow 9am", "timezone": "new york"}', context(store))

    assert rows(remind_me, arguments)["When"] == "2026-11-30 09:00 (Monday 星期一), America/New_York, UTC-05:00"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"text": "x", "when": "next week"}', "which day of it is meant"),
        ('{"text": "x", "when": "tomorrow 9am", "timezone": "Tokyoo"}', "Did you mean Asia/Tokyo"),
        ('{"text": "x", "when": "today 8am"}', "has passed: it is now 2026-11-30 08:30"),
        ('{"text": "", "when": "tomorrow"}', "text"),
        ('{"text": "' + "x" * (MAX_TEXT + 1) + '", "when": "tomorrow"}', "text"),
        ('{"text": "x"}', "when"),
    ],
)
async def test_what_cannot_be_meant_is_refused_before_anybody_is_asked(store: Reminders, arguments: str, said: str) -> None:
    result = await resolve(remind_me, arguments, context(store))

    assert isinstance(result, ToolResult)
    assert (result.error_code, result.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)
    assert said in str(result.error_message)
    assert result.raw_arguments


async def test_a_repeated_call_sets_one_reminder_and_says_so_even_after_its_time(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "tea", "when": "in 1 minute"}', context(store))

    first = await execute(remind_me, arguments, context(store))
    second = await execute(remind_me, arguments, context(store))
    late = await execute(remind_me, arguments, context(store, now=NOW + timedelta(hours=1)))
    other = await execute(remind_me, arguments, context(store, call="c2", now=NOW + timedelta(hours=1)))

    assert first.data["reminder_id"] == second.data["reminder_id"] == late.data["reminder_id"]
    assert late.data["note"] == "It was set, and its time has come since."
    assert "Nothing was set" in str(other.error_message)
    assert len(await store.of(ANA)) == 1


async def test_the_hundred_and_first_is_refused_with_the_limit(store: Reminders) -> None:
    arguments = await definite(remind_me, '{"text": "tea", "when": "tomorrow"}', context(store))
    for i in range(MAX_OPEN):
        assert (await execute(remind_me, arguments, context(store, call=f"c{i}"))).success

    result = await execute(remind_me, arguments, context(store, call="one more"))

    assert (result.error_code, result.suggestion) == (ErrorCode.REFUSED, Suggestion.ASK_PERSON)
    assert "100 open reminders already" in str(result.error_message)


async def kept(store: Reminders, text: str, thread: Thread, actor: Actor = ANA) -> str:
    arguments = await definite(remind_me, f'{{"text": "{text}", "when": "tomorrow"}}', context(store))
    result = await execute(remind_me, arguments, context(store, actor=actor, thread=thread, call=text))
    return str(result.data["reminder_id"])


async def test_a_list_holds_only_what_may_be_read_in_its_place(store: Reminders) -> None:
    for text, thread in (("here", ROOM), ("there", OTHER), ("private", DIRECT)):
        await kept(store, text, thread)
    await kept(store, "theirs", ROOM, BO)

    in_room = (await execute(list_reminders, {}, context(store))).data
    in_private = (await execute(list_reminders, {}, context(store, thread=DIRECT))).data

    assert [each["text"] for each in in_room["reminders"]] == ["here"]
    assert in_room["elsewhere"].startswith("2 more")
    assert sorted(each["text"] for each in in_private["reminders"]) == ["here", "private", "there"]
    assert "elsewhere" not in in_private


async def test_the_card_of_a_cancellation_names_the_reminder_by_its_words_whatever_the_model_wrote(store: Reminders) -> None:
    wanted = await kept(store, "water the ficus", ROOM)

    arguments = await definite(cancel_reminder, f'{{"reminder_id": " {wanted} ", "text": "something harmless"}}', context(store))

    assert rows(cancel_reminder, arguments) == {
        "Text": "water the ficus",
        "When": "2026-12-01 09:00 (Tuesday 星期二), Asia/Tokyo, UTC+09:00",
        "Reminder": wanted,
    }
    assert (await execute(cancel_reminder, arguments, context(store))).data["text"] == "water the ficus"
    assert (await execute(cancel_reminder, arguments, context(store))).data["note"].startswith("It was not open any more")
    assert await store.of(ANA) == []


async def test_another_persons_reminder_and_one_from_a_private_place_do_not_exist_here(store: Reminders) -> None:
    theirs, private = await kept(store, "theirs", ROOM, BO), await kept(store, "private", DIRECT)

    for wanted in (theirs, private, "0123456789ab"):
        result = await resolve(cancel_reminder, f'{{"reminder_id": "{wanted}"}}', context(store))
        assert isinstance(result, ToolResult)
        assert result.error_code is ErrorCode.NOT_FOUND
    assert (await execute(cancel_reminder, {"reminder_id": theirs}, context(store))).data["note"].startswith("It was not open any more")
    assert len(await store.of(BO)) == 1


async def test_without_the_store_everything_says_so(store: Reminders) -> None:
    away = connect("redis://127.0.0.1:1", timeout=0.2)
    arguments = await definite(remind_me, '{"text": "tea", "when": "tomorrow"}', context(store))
    gone, none = context(Reminders(away)), context(None)
    for called, given in ((remind_me, arguments), (cancel_reminder, {"reminder_id": "0123456789ab"})):
        doubt = await execute(called, given, gone)  # it may have been done before the answer was lost
        assert (doubt.error_code, doubt.suggestion) == (ErrorCode.OUTCOME_UNKNOWN, Suggestion.ASK_PERSON)
        result = await execute(called, given, none)
        assert result.error_code is ErrorCode.UPSTREAM_ERROR
        assert "not kept here" in str(result.error_message)
    for ctx, words in ((gone, "does not answer right now"), (none, "not kept here")):
        result = await execute(list_reminders, {}, ctx)
        assert result.error_code is ErrorCode.UPSTREAM_ERROR
        assert words in str(result.error_message)
    await away.aclose()


# --- resolving in general -------------------------------------------------------------------------------------------------


def with_resolver(resolver: Any) -> Tool:
    @tool(effect="write", resolve=resolver)
    async def book_table(seats: Annotated[int, Field(description="How many people sit at the table, e.g. 4")]) -> int:
        """Book a table in the restaurant for the evening, for so many people; returns the number of seats."""
        return seats

    return book_table


@pytest.mark.parametrize(
    ("resolver", "code"),
    [
        (lambda _ctx, _arguments: {"seats": "many"}, ErrorCode.INVALID_ARGUMENTS),
        (lambda _ctx, _arguments: 1 / 0, ErrorCode.INTERNAL),
        (lambda _ctx, _arguments: (_ for _ in ()).throw(ToolFailed("Closed.", code=ErrorCode.NOT_FOUND)), ErrorCode.NOT_FOUND),
    ],
)
async def test_a_resolver_that_goes_wrong_gives_a_result_and_no_exception(resolver: Any, code: ErrorCode) -> None:
    result = await resolved(Prepared(with_resolver(resolver), {"seats": 2}, '{"seats": 2}'), context(None))

    assert isinstance(result, ToolResult)
    assert result.error_code is code
    assert "division" not in str(result.error_message)


async def test_a_resolver_may_be_a_plain_function_and_a_tool_need_not_have_one() -> None:
    doubled = await resolved(Prepared(with_resolver(lambda _ctx, arguments: {"seats": arguments["seats"] * 2}), {"seats": 2}, ""), context(None))
    same = await resolved(Prepared(with_resolver(None), {"seats": 2}, ""), context(None))

    assert isinstance(doubled, Prepared)
    assert isinstance(same, Prepared)
    assert (doubled.arguments, same.arguments) == ({"seats": 4}, {"seats": 2})
