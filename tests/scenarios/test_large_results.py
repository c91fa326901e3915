"""Results too large to show at once: the model reads a part, is told how much is missing, and pages through the rest; nothing is run again."""

from __future__ import annotations

import base64
import json
import random
from typing import Annotated, Any

import pytest
from pydantic import Field

from memory.tokens import count, count_json
from playground.people import Json
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, hang, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import PAUSES, Stack, running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import over, rest, results
from tools.builtin.read_more import read_more
from tools.decorator import tool
from tools.engine import EngineLimits
from tools.registry import Registry
from tools.tool import Tool

ROOM = "#orders"
PAGE = 600
"""Tokens of a page in these tests."""
SMALL = EngineLimits(page_tokens=PAGE, pauses=PAUSES.pauses)
ROWS = [{"id": n, "customer": f"客户 {n}", "note": "call back 😀", "internal": "x" * 40} for n in range(300)]
FETCH = calls(("fetch_rows", {}))


class Source:
    """One read that gives whatever the test wants, and counts how often it ran."""

    def __init__(self, data: Any, **options: Any) -> None:
        self.data = data
        self.runs = 0
        self.options = options

    def registry(self) -> Registry:
        async def fetch_rows(page: Annotated[int, Field(description="Which page of the source, from 1", ge=1)] = 1) -> Any:
            """Fetch the rows of the big table, all columns, as they stand now."""
            self.runs += 1
            return self.data

        made: Tool = tool(**{"effect": "read", "group": "table", **self.options})(fetch_rows)
        return Registry([made, read_more])


async def answered(stack: Stack, answer: str = "Done.", user: str = "alice", thread: str | None = None) -> str:
    ts = await stack.slack.say(user, ROOM, "@steward read it all", thread)
    await stack.until(lambda: answer in texts(stack.own(ROOM, thread or ts))[-1:])
    await rest(stack)
    return thread or ts


def read_all(request: Json) -> Reply:
    """A model that reads page after page of the first result, one at a time."""
    read = results(request)
    first = read[0]
    nxt = len(read) + 1
    return text("Done.") if nxt > first["pages"] else calls(("read_more", {"result_id": first["result_id"], "page": nxt}))


def raw(request: Json) -> list[str]:
    return [content_text(m) for m in request["messages"] if m["role"] == "tool"]


async def test_a_long_list_is_paged_to_its_end_and_the_tool_runs_once(valkey: Valkey, transport: str) -> None:
    source = Source(ROWS[:90], fields=("id", "customer", "note"))
    model = ScriptedModel([FETCH, *[read_all] * 5])
    async with over(transport, valkey, model, registry=source.registry(), engine_limits=SMALL) as stack:
        await answered(stack)

        first, *rest_of_it = results(model.requests[-1])
        *shown, note = first["data"]
        assert note == f"… {90 - len(shown)} more items left out"
        assert first["truncated"]
        assert first["pages"] == len(rest_of_it) + 1
        assert f'read_more(result_id="{first["result_id"]}", page=2), up to page {first["pages"]}' in first["note"]
        assert "fetch_rows itself takes 'page'" in first["note"]
        assert first["from_outside"]
        assert all(each["from_outside"] for each in rest_of_it)
        assert [each["data"]["page"] for each in rest_of_it] == list(range(2, first["pages"] + 1))
        whole = shown + [row for each in rest_of_it for row in each["data"]["content"]]
        assert whole == [{name: row[name] for name in ("id", "customer", "note")} for row in ROWS[:90]]
        assert source.runs == 1
        assert all(count_json(each["data"]) <= PAGE for each in (first, *rest_of_it))
        assert max(map(count, raw(model.requests[-1]))) <= PAGE + 120  # with what the envelope says
        assert all("truncated" not in each for each in rest_of_it)


async def test_a_long_text_shows_its_end_and_nothing_of_it_is_lost(valkey: Valkey) -> None:
    log = "".join(f"{n:04d} 步骤 step done 😀\n" for n in range(220)) + "FAILED: disk full\n"
    model = ScriptedModel([FETCH, *[read_all] * 9])
    async with running(valkey, model, registry=Source(log).registry(), engine_limits=SMALL) as stack:
        await answered(stack)

        first, *rest_of_it = results(model.requests[-1])
        assert first["data"].endswith("FAILED: disk full\n")
        head = first["data"].split("… [")[0]
        assert head + "".join(each["data"]["content"] for each in rest_of_it) == log


async def test_a_page_that_does_not_exist_and_a_result_that_was_never_kept_are_told(valkey: Valkey) -> None:
    def beyond(request: Json) -> Reply:
        first = results(request)[0]
        return calls(
            ("read_more", {"result_id": first["result_id"], "page": first["pages"] + 1}),
            ("read_more", {"result_id": "call_invented_0", "page": 2}),
            ("read_more", {"result_id": first["result_id"], "page": 0}),
            ids=["a", "b", "c"],
        )

    model = ScriptedModel([FETCH, beyond, text("Done.")])
    async with running(valkey, model, registry=Source(ROWS).registry(), engine_limits=SMALL) as stack:
        await answered(stack)

        _, late, unknown, wrong = results(model.requests[2])
        assert (late["error_code"], unknown["error_code"], wrong["error_code"]) == ("INVALID_ARGUMENTS", "NOT_FOUND", "INVALID_ARGUMENTS")
        assert f"the result has {results(model.requests[2])[0]['pages']} pages" in late["error_message"]


async def test_the_pages_of_one_request_cannot_be_read_in_another(valkey: Valkey) -> None:
    """What is kept belongs to the run: not to the next one in the thread, not to another person who learnt the id."""
    kept: list[str] = []

    def remember(request: Json) -> Reply:
        kept.append(results(request)[0]["result_id"])
        return text("Done.")

    def pry(_: Json) -> Reply:
        return calls(("read_more", {"result_id": kept[0], "page": 2}))

    model = ScriptedModel([FETCH, remember, pry, text("Nothing."), pry, text("Nothing.")])
    async with running(valkey, model, registry=Source(ROWS).registry(), engine_limits=SMALL) as stack:
        ts = await answered(stack)
        await answered(stack, "Nothing.", thread=ts)
        await answered(stack, "Nothing.", user="bruno")

        assert [results(model.requests[n])[-1]["error_code"] for n in (3, 5)] == ["NOT_FOUND", "NOT_FOUND"]
        model.assert_consumed()


async def test_the_same_large_read_again_is_answered_from_the_run_and_its_pages_stay_readable(valkey: Valkey) -> None:
    def from_the_second(request: Json) -> Reply:
        return calls(("read_more", {"result_id": results(request)[1]["result_id"], "page": 2}))

    source, model = Source(ROWS), ScriptedModel([FETCH, FETCH, from_the_second, text("Done.")])
    async with running(valkey, model, registry=source.registry(), engine_limits=SMALL) as stack:
        await answered(stack)

        first, second, page = results(model.requests[3])
        assert source.runs == 1
        assert (second["result_id"], second["pages"], second["truncated"], second["data"]) == (first["result_id"], first["pages"], True, first["data"])
        assert page["data"]["content"][0]["id"] == len(first["data"]) - 1


async def test_pages_survive_a_restart(valkey: Valkey) -> None:
    source, model = Source(ROWS), ScriptedModel([FETCH, hang(), read_all, text("Done.")])
    async with running(valkey, model, registry=source.registry(), engine_limits=SMALL) as stack:
        ts = await stack.slack.say("alice", ROOM, "@steward read it all")
        await stack.until(lambda: model.count == 2)
        await stack.stop_bot(stack.bots[0])
        await stack.bot()
        await stack.until(lambda: "Done." in texts(stack.own(ROOM, ts)))
        await rest(stack)

        assert results(model.requests[-1])[-1]["data"]["page"] == 2
        assert source.runs == 1


async def test_a_kept_large_read_is_paged_anew_for_the_next_request(valkey: Valkey) -> None:
    source = Source(ROWS[:60], cache_ttl=60)
    model = ScriptedModel([FETCH, text("Done."), FETCH, *[read_all] * 9])
    async with running(valkey, model, registry=source.registry(), engine_limits=SMALL) as stack:
        await answered(stack)
        await answered(stack)

        first, *rest_of_it = results(model.requests[-1])
        assert source.runs == 1
        assert "read" in first
        assert first["data"][:-1] + [row for each in rest_of_it for row in each["data"]["content"]] == ROWS[:60]


async def test_what_is_small_is_shown_whole_without_a_word_about_pages(valkey: Valkey) -> None:
    model = ScriptedModel([FETCH, text("Done.")])
    async with running(valkey, model, registry=Source(ROWS[:2]).registry()) as stack:
        await answered(stack)

        assert set(results(model.requests[1])[0]) == {"success", "tool_name", "from_outside", "data"}
        assert results(model.requests[1])[0]["data"] == ROWS[:2]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"file": base64.b64encode(random.Random(1).randbytes(30_000)).decode()}, {"file": "<base64, 30.0 kB>"}),
        ({"file": random.Random(1).randbytes(30_000), "text": "bad \ud800 half"}, {"file": "<binary, 30.0 kB>", "text": "bad � half"}),
    ],
    ids=["base64", "binary"],
)
async def test_files_and_broken_text_reach_the_model_as_words(valkey: Valkey, data: Any, shown: Any) -> None:
    model = ScriptedModel([FETCH, text("Done.")])
    async with running(valkey, model, registry=Source(data).registry()) as stack:
        await answered(stack)

        assert results(model.requests[1])[0]["data"] == shown


async def test_a_result_of_megabytes_costs_the_window_one_page(valkey: Valkey) -> None:
    source, model = Source([{"n": n, "line": "数据 data " * 30} for n in range(20_000)]), ScriptedModel([FETCH, text("Done.")])
    async with running(valkey, model, registry=source.registry()) as stack:
        await answered(stack)

        [result] = results(model.requests[1])
        assert len(json.dumps(source.data)) > 4_000_000
        assert count(raw(model.requests[1])[0]) <= 4_200
        assert result["pages"] > 10
