"""Listing and searching channels as one person, and who may read the answer: nothing reaches a wider circle than it came from."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.manifest import build
from bot.slack import Slack
from bot.slack_search import MAX_REQUESTS
from bot.slack_tools import SlackForTools
from memory.keys import Actor, Thread
from playground.appconfig import AppConfig
from playground.people import Channel
from playground.seed import ALICE, BRUNO, DANA, ERIK, GENERAL, LEADS, MEI, ORDERS, PARTNER_TEAM_ID, PARTNERS, RANDOM, TEAM_ID
from playground.server import Playground
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import running, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import results
from tools.builtin.channels import list_channels, search_messages
from tools.engine import execute
from tools.registry import Registry
from tools.result import ErrorCode, ToolResult
from tools.tool import ToolContext

HR, BUILDERS = "C01HRPRIV0", "C01MPIMABM"
ROOMS = {"general": GENERAL, "orders": ORDERS, "random": RANDOM, "leads": LEADS, "partners": PARTNERS, "hr": HR, "group": BUILDERS}
"""`random` is public without the bot; `leads` (Alice, Mei) and `hr` (Mei) are private with it; `partners` is shared with another company."""
PEOPLE = {"alice": ALICE, "bruno": BRUNO, "mei": MEI, "dana": DANA, "erik": ERIK}


@contextlib.asynccontextmanager
async def workspace() -> AsyncIterator[SimpleNamespace]:
    """A Slack in which the same word was said in every room, and our door to it."""
    slack = Playground(app_config=AppConfig.from_manifest(build()))
    world, bot = slack.core.world, slack.bot_user_id
    world.add_channel(Channel(HR, TEAM_ID, "hr", "group", dict.fromkeys((MEI, bot)), "Salaries", creator=MEI))
    world.add_channel(Channel(BUILDERS, TEAM_ID, "mpdm-alice--bruno--steward-1", "mpim", dict.fromkeys((ALICE, BRUNO, bot))))
    await slack.start()
    try:
        async with aiohttp.ClientSession() as session:
            door = Slack(AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session, retry_handlers=[]), backoff=0.01)
            await door.connect()
            for name, channel in ROOMS.items():
                world.post(world.channels[channel], {"user": ALICE, "text": f"the budget in {name}: 预算已经批准"}, quiet=True)
            yield SimpleNamespace(slack=slack, door=door, world=world, tools=SlackForTools(door))
    finally:
        await slack.stop()


def context(place: SimpleNamespace, person: str, room: str, thread_ts: str = "") -> ToolContext:
    """`person` asks in `room` (`dm`: in their direct conversation with us)."""
    channel = place.slack.dm(person) if room == "dm" else ROOMS[room]
    actor = Actor(team_id=PARTNER_TEAM_ID if person == "erik" else TEAM_ID, user_id=PEOPLE[person])
    return ToolContext(actor, Thread(team_id=TEAM_ID, channel_id=channel, thread_ts=thread_ts), "Europe/Berlin", "run", "call", slack=place.tools)


async def found(place: SimpleNamespace, person: str, room: str, query: str = "budget", **more: Any) -> ToolResult:
    return await execute(search_messages, {"query": query, **more}, context(place, person, room))


def where(result: ToolResult) -> set[str]:
    """The rooms whose words came back, by what was said in them."""
    assert result.success, result.error_message
    return {name for name in ROOMS if any(f"budget in {name}:" in match["text"] for match in result.data["matches"])}


MAY_READ = {
    ("alice", "dm"): {"general", "orders", "leads", "partners", "group"},
    ("bruno", "dm"): {"general", "orders", "partners", "group"},
    ("mei", "dm"): {"general", "orders", "leads", "hr"},
    ("dana", "dm"): set(),
    ("alice", "general"): {"general", "orders", "partners"},
    ("mei", "general"): {"general", "orders"},
    ("alice", "leads"): {"general", "orders", "partners", "leads"},
    ("mei", "leads"): {"general", "orders", "leads"},
    ("mei", "hr"): {"general", "orders", "hr"},
    ("alice", "group"): {"general", "orders", "partners", "group"},
    ("alice", "partners"): {"partners"},
    ("erik", "partners"): {"partners"},
    ("dana", "orders"): {"orders"},
    ("erik", "general"): set(),
    ("erik", "dm"): set(),
    ("bruno", "leads"): {"general", "orders", "partners"},
}
"""Who asks, where: what may come back. `bruno` in `leads` and `erik` in `general` are no members: whoever claims they asked there, they cannot read it."""


async def test_a_search_tells_each_person_in_each_place_only_what_may_be_told_there() -> None:
    async with workspace() as place:
        for query in ("budget", "预算批准"):
            seen = {asked: where(await found(place, *asked, query)) for asked in MAY_READ}

            assert seen == MAY_READ


async def test_nothing_in_an_answer_names_a_room_that_may_not_be_named() -> None:
    async with workspace() as place:
        for (person, room), rooms in MAY_READ.items():
            said = str((await found(place, person, room)).data)

            for private in {"leads", "hr"} - rooms:
                assert f"#{private}" not in said
                assert ROOMS[private] not in said


async def test_the_answer_says_what_was_covered_and_what_was_not() -> None:
    async with workspace() as place:
        public = (await found(place, "alice", "general")).data["covered"]
        confined = (await found(place, "dana", "orders")).data["covered"]

        assert public["channels"] == ["#general", "#orders", "#partners"]
        assert public["not_covered"] == ["channels I am not in: #random", "private channels, because others read along here"]
        assert public["messages_read"] == 3
        assert confined["not_covered"] == ["every channel but this one, because of who is asking or reading here"]


@pytest.mark.parametrize("channel", ["#hr", HR, "hr", "#nosuch"])
async def test_a_channel_one_may_not_search_looks_like_one_that_does_not_exist(channel: str) -> None:
    async with workspace() as place:
        result = await found(place, "alice", "general", channel=channel)

        assert result.error_code is ErrorCode.NOT_FOUND
        assert str(result.error_message).replace(channel, "X") == (
            "I cannot search 'X' here: there is none, or not both of us are in it, or it is private and others read along here."
        )


async def test_one_channel_can_be_searched_by_name_and_id() -> None:
    async with workspace() as place:
        assert where(await found(place, "alice", "general", channel="#orders")) == {"orders"}
        assert where(await found(place, "alice", "general", channel=ORDERS)) == {"orders"}
        assert where(await found(place, "alice", "general", channel=f"<#{ORDERS}|orders>")) == {"orders"}


async def test_a_match_says_who_wrote_it_where_when_and_how_to_get_there() -> None:
    async with workspace() as place:
        match = (await found(place, "alice", "dm", channel="orders")).data["matches"][0]

        assert (match["channel"], match["speaker"]) == ("#orders", "alice")
        assert datetime.fromisoformat(match["time"]).utcoffset() == datetime.now(tz=datetime.fromisoformat(match["time"]).tzinfo).utcoffset()
        assert match["permalink"].startswith("https://")
        assert match["ts"].replace(".", "") in match["permalink"]


async def test_replies_are_found_in_other_threads_and_the_present_thread_and_our_own_words_are_left_out() -> None:
    async with workspace() as place:
        general = place.world.channels[GENERAL]
        root = place.world.post(general, {"user": BRUNO, "text": "planning"}, quiet=True)
        place.world.post(general, {"user": MEI, "text": "the zebra contract is signed", "thread_ts": root["ts"]}, quiet=True)
        mine = place.world.post(general, {"user": ALICE, "text": "find zebra"}, quiet=True)
        place.world.post(general, {"user": place.slack.bot_user_id, "text": "zebra? I will look"}, quiet=True)

        elsewhere = await execute(search_messages, {"query": "zebra"}, context(place, "alice", "general", mine["ts"]))
        inside = await execute(search_messages, {"query": "zebra"}, context(place, "alice", "general", root["ts"]))

        assert [match["text"] for match in elsewhere.data["matches"]] == ["the zebra contract is signed"]
        assert [match["text"] for match in inside.data["matches"]] == ["find zebra"]


async def test_newer_messages_come_first_and_old_ones_are_not_looked_at() -> None:
    async with workspace() as place:
        general = place.world.channels[GENERAL]
        now = datetime.now(UTC).timestamp()
        for days in (40, 20, 2):
            place.world.post(general, {"user": BRUNO, "text": f"zebra {days}", "ts": f"{now - days * 86_400:.6f}"}, quiet=True)
        general.messages = dict(sorted(general.messages.items()))

        result = await found(place, "alice", "general", "zebra")
        wider = await found(place, "alice", "general", "zebra", days=90, limit=2)

        assert [match["text"] for match in result.data["matches"]] == ["zebra 2", "zebra 20"]
        assert [match["text"] for match in wider.data["matches"]] == ["zebra 2", "zebra 20"]


async def test_a_rate_limit_ends_the_search_with_what_there_is_and_says_so() -> None:
    async with workspace() as place:
        place.slack.fault("conversations.history", "ratelimit", times=1, retry_after=30)

        result = await found(place, "alice", "general")

        assert result.success
        assert "the rest, because Slack asked for a pause or did not answer" in result.data["covered"]["not_covered"]
        assert len(place.slack.calls("conversations.history")) <= 4


async def test_a_search_reads_no_more_than_its_budget_and_says_what_is_missing() -> None:
    async with workspace() as place:
        general = place.world.channels[GENERAL]
        for i in range(50):
            root = place.world.post(general, {"user": BRUNO, "text": f"topic {i}"}, quiet=True)
            place.world.post(general, {"user": MEI, "text": "zebra", "thread_ts": root["ts"]}, quiet=True)

        result = await found(place, "alice", "general", "zebra", channel="general", limit=20)

        assert len(place.slack.calls("conversations.history")) + len(place.slack.calls("conversations.replies")) == MAX_REQUESTS
        assert result.data["covered"]["not_covered"] == ["the replies of 21 threads"]
        assert len(result.data["matches"]) == 20


async def test_slack_being_down_is_said_in_words() -> None:
    async with workspace() as place:
        place.slack.fault("users.conversations", "status", times=50, status=500)

        result = await found(place, "alice", "general")

        assert (result.error_code, result.error_message) == (ErrorCode.UPSTREAM_ERROR, "Slack is not answering right now.")


# --- listing ------------------------------------------------------------------------------------------------------------


async def names(place: SimpleNamespace, person: str, room: str, query: str = "") -> set[str]:
    result = await execute(list_channels, {"query": query}, context(place, person, room))
    assert result.success, result.error_message
    return {row["name"] for row in result.data["channels"]}


MAY_KNOW = {
    ("alice", "dm"): {"general", "orders", "random", "partners", "leads"},
    ("bruno", "dm"): {"general", "orders", "random", "partners"},
    ("mei", "dm"): {"general", "orders", "random", "partners", "leads", "hr"},
    ("mei", "general"): {"general", "orders", "random", "partners"},
    ("mei", "hr"): {"general", "orders", "random", "partners", "hr"},
    ("mei", "leads"): {"general", "orders", "random", "partners", "leads"},
    ("dana", "dm"): {"orders"},
    ("dana", "orders"): {"orders"},
    ("alice", "partners"): {"partners"},
    ("erik", "partners"): {"partners"},
    ("erik", "dm"): set(),
    ("bruno", "leads"): {"general", "orders", "random", "partners"},
}


async def test_a_list_names_to_each_person_in_each_place_only_what_may_be_named_there() -> None:
    async with workspace() as place:
        assert {asked: await names(place, *asked) for asked in MAY_KNOW} == MAY_KNOW


async def test_a_list_says_what_a_channel_is_about_and_who_is_in_it() -> None:
    async with workspace() as place:
        result = await execute(list_channels, {"query": "deliveries"}, context(place, "mei", "dm"))
        row = result.data["channels"][0]

        assert result.data["count"] == 1
        assert row == {
            "id": ORDERS,
            "name": "orders",
            "topic": "Orders and deliveries",
            "private": False,
            "members": 5,
            "you_are_in": True,
            "i_am_in": True,
        }
        random = (await execute(list_channels, {"query": "#random"}, context(place, "mei", "dm"))).data["channels"][0]
        assert (random["you_are_in"], random["i_am_in"]) == (True, False)


async def test_a_long_list_comes_in_pages() -> None:
    async with workspace() as place:
        for i in range(60):
            place.world.add_channel(Channel(f"C09MANY{i:03}", TEAM_ID, f"many-{i:02}", "channel", {}))

        first = await execute(list_channels, {"query": "many"}, context(place, "mei", "dm"))
        second = await execute(list_channels, {"query": "many", "page": 2}, context(place, "mei", "dm"))
        third = await execute(list_channels, {"query": "many", "page": 3}, context(place, "mei", "dm"))

        assert (first.data["count"], first.data["pages"], len(first.data["channels"]), len(second.data["channels"])) == (60, 2, 40, 20)
        assert third.error_message == "There is no page 3; the list has 2."


# --- the whole product ----------------------------------------------------------------------------------------------------


async def test_a_person_asks_and_gets_an_answer_from_another_channel(valkey: Valkey) -> None:
    model = ScriptedModel([calls(("search_messages", {"query": "采购合同"})), text("Mei wrote about it in #orders.")])
    async with running(valkey, model, registry=Registry([search_messages, list_channels])) as stack:
        await stack.slack.say("mei", "#orders", "新的采购合同已经发给供应商了")

        thread = await stack.ask("bruno", "#general", "@steward 采购合同怎么样了？")

        assert "Mei wrote about it in #orders." in texts(thread)
        assert "新的采购合同已经发给供应商了" in str(results(model.requests[1]))
