"""The story of long-term memory from end to end, in English and in Chinese: the local Slack, the demo model, the real tools and the real store.

Somebody says a thing once; days later, in another thread, after compaction, a restart and a month, the answer uses it. For nobody else.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.manifest import build
from bot.memory_jobs import MemoryJobs
from bot.memory_store import MEMORY_TOOLS
from bot.scheduled import Outcome, Scheduled
from bot.service import BUILT_IN
from memory.connect import PATIENCE as CONNECTING
from memory.connect import connect
from memory.longterm.telling import day
from memory.slots import Slots
from playground.appconfig import AppConfig
from playground.demo_model import complete
from playground.server import Playground
from tests.fakes.program import Program
from tests.fakes.scripted_model import Reply, ScriptedModel
from tests.fakes.stack import Stack, running, shown
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import card, rest
from tests.scenarios.long_kit import SMALL, memory_of
from tests.scenarios.long_kit import remembering as writing_summaries
from tests.scenarios.remembering_kit import ENGINE, PATIENCE, answered, known, long_term, prompt, store_in
from tests.unit.net_site import Site, answer, fetcher

DAY = 86_400.0
ALICE = actor("alice")
MINE, THEIRS = "ABC-20240520-002", "ABC-20240516-009"
"""An order of Alice's and one of Bruno's, both on their way."""
FILLER = "and there are many more words around it that nobody will ever need again, as people like to write them in the morning. " * 8

GUANGZHOU = {
    "id": 1, "latitude": 23.1, "longitude": 113.3, "elevation": 15.0, "feature_code": "PPLA", "country_code": "CN", "admin1_id": 2, "timezone": "Asia/Shanghai",
    "population": 16_000_000, "country_id": 3, "country": "China", "admin1": "Guangdong",
}  # fmt: skip
SKY = {
    "time": "2026-11-29T20:15", "interval": 900, "temperature_2m": 17.5, "apparent_temperature": 17.0, "relative_humidity_2m": 91, "precipitation": 1.2,
    "weather_code": 61, "wind_speed_10m": 7.0, "wind_direction_10m": 90, "is_day": 0,
}  # fmt: skip
FORECAST = {"latitude": 23.1, "longitude": 113.3, "utc_offset_seconds": 28_800, "timezone": "Asia/Shanghai", "current": SKY}


def as_json(data: Any) -> bytes:
    return answer(json.dumps(data, ensure_ascii=False), 200, "application/json; charset=utf-8")


async def searched(head: str, writer: asyncio.StreamWriter) -> None:
    """The place search: Guangzhou by either of its names."""
    name = "广州" if "%E5" in head else "Guangzhou"
    found = GUANGZHOU | {"name": name}
    writer.write(as_json({"generationtime_ms": 0.6, "results": [found]}))


def demo() -> ScriptedModel:
    """The demo model, with its requests kept for the test; it writes no summaries, so a scripted one stands in."""
    return ScriptedModel(writing_summaries(lambda request: Reply(complete(request))))


@asynccontextmanager
async def steward(valkey: Valkey, home: Path, *, days_ago: float = 0.0, **parts: Any) -> AsyncIterator[Stack]:
    """The whole program, whose workspace's clock stands so many days in the past, with weather on loopback."""
    slack = Playground(app_config=AppConfig.from_manifest(build()))
    slack.core.clock.advance(-days_ago * DAY)
    async with Site({"/search": searched, "/forecast": as_json(FORECAST)}) as site:
        outside = {"fetcher": fetcher(site), "weather_urls": {"geocoding": site.url("/search"), "forecast": site.url("/forecast")}}
        memory: dict[str, Any] = {"store": store_in(home), "embedder": lambda: ENGINE, "model_reads": False, "memory_limit": PATIENCE}
        given: dict[str, Any] = {"tool_modules": (BUILT_IN, MEMORY_TOOLS), "home": home, "resources": outside} | memory | parts
        async with running(valkey, demo(), playground=slack, **given) as stack:
            yield stack


def later(stack: Stack, days: float) -> None:
    """Let days pass in the workspace."""
    stack.slack.core.clock.advance(days * DAY)


async def restart(stack: Stack, home: Path) -> None:
    """End the bot and start another over the same data."""
    await stack.stop_bot(stack.bots[0])
    await stack.bot(store=store_in(home))


async def knows(stack: Stack, text: str) -> bool:
    """Whether Alice has a memory with these words."""
    return text in [memory.text for memory in (await long_term(stack).memories.listed(ALICE, limit=50)).memories]


async def new_thread(stack: Stack, user: str, channel: str, words: str) -> str:
    """Ask in a thread of its own, in a direct conversation too; the answer."""
    root = await stack.slack.say(user, stack.slack.dm(user), "…") if channel == "dm" else ""
    await rest(stack)
    return shown(await answered(stack, user, channel, words, thread=root))


async def in_thread(stack: Stack, user: str, channel: str, words: str, thread: str) -> str:
    """Mention the bot in a thread and read its answer."""
    return shown(await answered(stack, user, channel, f"<@{stack.slack.bot_user_id}> {words}", thread=thread))


@dataclass(frozen=True, slots=True)
class Story:
    """What is said first, what is asked later, and what then stands in the answer, or does not."""

    told: str
    asked: str
    parts: tuple[str, ...]
    confirmed: str = ""
    not_parts: tuple[str, ...] = ()
    then: str = ""
    """What is said in between, or asked in another room."""
    word: str = ""
    """How an order is called besides its number; or a greeting."""


def stories(english: Story, chinese: Story) -> pytest.MarkDecorator:
    """The same story in both languages."""
    return pytest.mark.parametrize("story", [english, chinese], ids=["en", "zh"])


# --- "I hate rainy days, remember that" --------------------------------------------------------------------------------------

TRIP = "going to Guangzhou for two days, any advice?"
TRIP_ZH = "我要去广州两天，有什么建议？"
RAIN = stories(
    Story("I hate rainy days, remember that", TRIP, ("I hate rainy days", "umbrella", "17.5"), "I will remember that."),
    Story("我讨厌下雨天，记住", TRIP_ZH, ("我讨厌下雨天", "雨伞", "17.5"), "记住了。"),
)
ROOMS = [("dm", "dm"), ("#general", "#orders"), ("#general", "dm"), ("#leads", "dm")]


@pytest.mark.parametrize("rooms", ROOMS, ids=["in private", "in other channels", "from a channel to private", "from a private channel to private"])
@RAIN
async def test_rain_that_is_hated_is_heeded_days_later_when_a_trip_is_planned(valkey: Valkey, tmp_path: Path, story: Story, rooms: tuple[str, str]) -> None:
    async with steward(valkey, tmp_path, days_ago=5) as stack:
        assert story.confirmed in shown(await answered(stack, "alice", rooms[0], story.told))
        await known(stack, ALICE, 1)
        (kept,) = (await long_term(stack).memories.listed(ALICE)).memories
        assert kept.source_time < time.time() - 4 * DAY
        later(stack, 5)
        advice = await new_thread(stack, "alice", rooms[1], story.asked)
        for part in story.parts:
            assert part in advice
        assert day(kept.source_time, stack.slack.core.world.users[ALICE.user_id].tz) in advice, "with the day on which it was said"


@RAIN
async def test_what_was_said_in_private_stays_out_of_a_channel_and_is_not_anothers(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path) as stack:
        assert story.confirmed in shown(await answered(stack, "alice", "dm", story.told))
        await known(stack, ALICE, 1)
        assert story.parts[0] not in shown(await answered(stack, "alice", "#orders", story.asked)), "said in private, asked where others read"
        assert story.parts[0] not in shown(await answered(stack, "bruno", "dm", story.asked)), "asked by somebody else"
        assert story.parts[0] not in prompt(stack.model.requests[-1])


@stories(
    Story("I hate rainy days, remember that", TRIP, (), "forgotten for good", ("rainy days",), "forget that I hate rainy days"),
    Story("我讨厌下雨天，记住", TRIP_ZH, (), "彻底忘掉", ("讨厌下雨",), "忘掉我讨厌下雨天"),
)
async def test_what_was_forgotten_in_words_is_used_no_more(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path) as stack:
        await answered(stack, "alice", "#general", story.told)
        await known(stack, ALICE, 1)
        assert story.confirmed in shown(await answered(stack, "alice", "#general", story.then))
        assert await known(stack, ALICE, 0) == []
        assert story.not_parts[0] not in shown(await answered(stack, "alice", "#orders", story.asked))
        assert story.not_parts[0] not in prompt(stack.model.requests[-1])


# --- "when I check orders just tell me where it is, skip payment" ------------------------------------------------------------


@pytest.mark.parametrize("named", [True, False], ids=["as an order", "by its number alone"])
@stories(
    Story(
        "when I check orders just tell me where it is, skip payment",
        "where is {word}{order}?",
        ("- Carrier: UPS",),
        word="my order ",
        not_parts=("Total", "89.00"),
    ),
    Story("我查订单的时候只告诉我到哪了，不用说付款", "{word}{order} 到哪了？", ("- 承运商：UPS",), word="我的订单 ", not_parts=("金额", "89.00")),
)
async def test_an_order_is_told_the_way_it_was_once_asked_for_and_to_others_whole(valkey: Valkey, tmp_path: Path, story: Story, named: bool) -> None:
    word = story.word if named else ""
    mine, theirs = (story.asked.format(word=word, order=order) for order in (MINE, THEIRS))
    async with steward(valkey, tmp_path, days_ago=3) as stack:
        whole = shown(await answered(stack, "alice", "#orders", mine))
        assert all(part in whole for part in story.not_parts), "before it was said"
        await answered(stack, "alice", "#general", story.told)
        await eventually(lambda: knows(stack, story.told))
        later(stack, 3)
        asked = await stack.slack.say("alice", "#orders", f"<@{stack.slack.bot_user_id}> {mine}")
        await stack.until(lambda: stack.own("#orders", asked))
        said = shown(stack.own("#orders", asked)[-1])
        assert [line for line in said.splitlines() if line.startswith("- ")][:1] == list(story.parts)
        assert not any(part in said for part in story.not_parts)
        other = await in_thread(stack, "bruno", "#orders", theirs, asked)
        assert "289.00" in other
        assert story.not_parts[0] in other


# --- "我对花生过敏" ------------------------------------------------------------------------------------------------------------


@stories(
    Story("By the way, I'm allergic to peanuts", "give me a recipe for dinner", ("Take care", "allergic to peanuts"), then="any restaurant tips for tonight?"),
    Story("对了，我对花生过敏", "推荐一个晚饭菜谱", ("注意", "对花生过敏"), then="附近有什么好吃的餐厅？"),
)
async def test_an_allergy_survives_compaction_a_restart_and_a_month(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path, days_ago=31, context=SMALL) as stack:
        thread = await stack.slack.say("alice", "#general", f"<@{stack.slack.bot_user_id}> {story.told}")
        await known(stack, ALICE, 1)
        for number in range(26):
            await stack.slack.say("bruno", "#general", f"@alice parcel {number:04d} is here {FILLER}", thread)
        await rest(stack)
        await eventually(lambda: _compacted(stack, thread))
        later(stack, 31)
        assert await ordered(stack, valkey) == 0, "a month of tidying changes nothing"
        await restart(stack, tmp_path)

        same = await in_thread(stack, "alice", "#general", story.asked, thread)
        assert all(part in same for part in story.parts)
        for room in ("#orders", "dm"):
            there = await new_thread(stack, "alice", room, story.then)
            assert all(part in there for part in story.parts)
        other = await in_thread(stack, "bruno", "#general", story.asked, thread)
        assert not any(part in other for part in story.parts)


async def _compacted(stack: Stack, thread: str) -> bool:
    return (await memory_of(stack, "#general", thread)).compactions > 0


async def ordered(stack: Stack, valkey: Valkey) -> int:
    """Put memories in order, as the clock does; how many were changed."""
    bot = stack.bots[0]
    client = connect(valkey.url, timeout=CONNECTING)
    try:
        jobs = MemoryJobs(long_term(stack), bot.handovers, bot.slack, left_ttl=30 * DAY).jobs()
        done = await Scheduled(jobs, Slots(client, space="story"), now=time.time).run_now("memory-order")
    finally:
        await client.aclose()
    assert isinstance(done, Outcome)
    assert not done.failed
    assert done.counts["owners"] == 1
    return sum(count for word, count in done.counts.items() if word != "owners")


# --- in conversation ---------------------------------------------------------------------------------------------------------


@stories(
    Story("remember that I prefer window seats", "what do you know about me?", ("window seats", "rainy days"), then="remember that I hate rainy days"),
    Story("记住我喜欢靠窗的座位", "你记得我什么？", ("靠窗的座位", "讨厌下雨天"), then="记住我讨厌下雨天"),
)
async def test_what_is_known_of_a_person_is_told_to_them_where_it_may_be(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path) as stack:
        await answered(stack, "alice", "#general", story.told)
        await answered(stack, "alice", "dm", story.then)
        await known(stack, ALICE, 2)
        everything = shown(await answered(stack, "alice", "dm", story.asked))
        assert all(part in everything for part in story.parts)
        here = shown(await answered(stack, "alice", "#orders", story.asked))
        assert [part in here for part in story.parts] == [True, False]
        others = shown(await answered(stack, "bruno", "dm", story.asked))
        assert not any(part in others for part in story.parts)


@stories(
    Story("remember that I hate rainy days", "forget the rain thing", ("I hate rainy days",), "forgotten for good"),
    Story("记住我讨厌下雨天", "那条关于下雨的删了吧", ("我讨厌下雨天",), "彻底忘掉"),
)
async def test_a_memory_that_is_only_hinted_at_is_forgotten_after_a_click(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path) as stack:
        room = stack.slack.dm("alice")
        await answered(stack, "alice", "dm", story.told)
        await known(stack, ALICE, 1)
        await stack.slack.say("alice", room, story.asked)
        waiting = await card(stack, room, None)
        assert story.parts[0] in shown(waiting)
        await known(stack, ALICE, 1)
        await stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await known(stack, ALICE, 0)
        await stack.until(lambda: story.confirmed in shown(stack.own(room)[-1]))


@stories(
    Story("call me Leo", f"where is {MINE}?", ("Leo", "已发货"), word="hello", then="from now on answer in Chinese"),
    Story("叫我小安", f"{MINE} 到哪了？", ("小安", "is **shipped**"), word="你好", then="以后用英文回答"),
)
async def test_the_name_and_the_language_hold_in_every_later_thread(valkey: Valkey, tmp_path: Path, story: Story) -> None:
    async with steward(valkey, tmp_path, days_ago=40) as stack:
        await answered(stack, "alice", "#general", story.told)
        await known(stack, ALICE, 1)
        await answered(stack, "alice", "#general", story.then)
        await known(stack, ALICE, 2)
        later(stack, 40)
        assert story.parts[0] in shown(await answered(stack, "alice", "#orders", story.word))
        assert story.parts[1] in shown(await answered(stack, "alice", "#orders", story.asked))


# --- the program as an operator runs it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
@stories(
    Story("I'm allergic to peanuts, remember that", "give me a recipe for dinner", ("allergic to peanuts",), "I will remember that."),
    Story("我对花生过敏，记住", "推荐一个晚饭菜谱", ("我对花生过敏",), "记住了。"),
)
async def test_what_was_confirmed_is_there_after_the_program_was_started_again(tmp_path: Path, story: Story, end: signal.Signals) -> None:
    async with Program(tmp_path / "home") as program, aiohttp.ClientSession() as http:
        assert story.confirmed in await _asked(http, program, story.told, story.confirmed)
        await program.restart(end)
        assert story.parts[0] in await _asked(http, program, story.asked, story.parts[0])


async def _asked(http: aiohttp.ClientSession, program: Program, words: str, awaited: str) -> str:
    """Mention the bot in a new thread of the program's Slack; its answer, once it holds `awaited`, or the last one within a minute."""
    at = {"user": ALICE.user_id, "channel": "C01ORDERS0"}
    async with http.post(f"{program.url}/_/message", json={**at, "text": f"@steward {words}"}) as response:
        posted = await response.json()
    assert posted["ok"], posted
    said = ""
    for _ in range(1_200):
        async with http.get(f"{program.url}/_/messages", params={**at, "thread_ts": posted["ts"]}) as response:
            own = [message for message in (await response.json())["messages"] if message["user"] == "U01STEWARD"]
        said = shown(own[-1]) if own else ""
        if awaited in said:
            break
        await asyncio.sleep(0.05)
    return said
