"""What was said and not learned yet when it was forgotten: a reading that waits for the store, one that is under way, one that an edit brings about."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest
from qdrant_client import AsyncQdrantClient

from memory.longterm.access import PRIVATE
from memory.longterm.memory import Memory
from memory.longterm.store import WORDS_ONLY, Store, StoreDown
from tests.fakes.memories import in_memory as switch
from tests.fakes.scripted_model import Reply, ScriptedModel, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, running
from tests.fakes.stores import in_memory
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually
from tests.scenarios.desk_kit import actor, desk
from tests.scenarios.kit import moment, rest
from tests.scenarios.remembering_kit import answered, by_the_clock, known, long_term
from tests.scenarios.test_forgetting import gone_from_redis
from tests.scenarios.test_learning import item, parts, plain
from tools.registry import Registry

ALICE = actor("alice")
SAID = {"en": ("I live in Lisbon", "I like tea"), "zh": ("我住在上海", "我喜欢喝茶")}
"""What is forgotten, and what is said afterwards: once that is learned, so is everything before it that is to be."""


async def memories_of(stack: Stack) -> list[Memory]:
    return list((await long_term(stack).memories.listed(ALICE)).memories)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_waited_for_the_store_is_not_learned_once_everything_was_forgotten(valkey: Valkey, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setattr("bot.effects_learn.PAUSE", 2.0)
    said, later = SAID[language]
    store = switch()
    async with running(valkey, plain(), **parts(store=store)) as stack:
        store.away = True
        await answered(stack, "alice", "dm", said)
        await rest(stack)
        store.away = False
        assert await long_term(stack).erasing.forget_all(ALICE) == 0, "it was not learned yet"
        await stack.slack.say("alice", stack.slack.dm("alice"), later)
        assert await known(stack, ALICE, 1) == [later]
        assert said not in json.dumps(await long_term(stack).memories.export(ALICE), ensure_ascii=False)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_older_message_that_is_edited_after_everything_was_forgotten_is_not_learned(valkey: Valkey, language: str) -> None:
    said, later = SAID[language]
    async with running(valkey, plain(), **parts()) as stack:
        room = stack.slack.dm("alice")
        ts = await stack.slack.say("alice", room, said)
        assert await known(stack, ALICE, 1) == [said]
        await rest(stack)
        assert await long_term(stack).erasing.forget_all(ALICE) == 1
        await rest(stack)
        await stack.slack.edit("alice", room, ts, f"{said}!")
        await stack.slack.say("alice", room, later)
        assert await known(stack, ALICE, 1) == [later]


READ = {
    "en": ("I live in Lisbon. In busy weeks I drink coffee with the team", "In busy weeks I drink coffee with the team", "I like tea"),
    "zh": ("我住在上海。出差的时候我喝咖啡", "出差的时候我喝咖啡", "我喜欢喝茶"),
}


@pytest.mark.parametrize("what", ["one", "all"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_reading_that_is_under_way_while_its_message_is_forgotten_tells_nothing(valkey: Valkey, language: str, what: str) -> None:
    said, quote, later = READ[language]
    reading, read = asyncio.Event(), asyncio.Event()

    async def policy(request: dict[str, Any]) -> Reply:
        if "worth remembering" not in content_text(request["messages"][0]):
            return text("Fine.")
        if said not in content_text(request["messages"][-1]):
            return text('{"memories": []}')
        reading.set()
        await read.wait()
        return text(json.dumps({"memories": [item(quote, quote, key="drink:coffee")]}, ensure_ascii=False))

    async with running(valkey, ScriptedModel(policy), **parts(model_reads=True)) as stack:
        await answered(stack, "alice", "dm", said)
        await asyncio.wait_for(reading.wait(), 20.0)
        (home,) = await memories_of(stack)
        assert home.text in said
        erasing = long_term(stack).erasing
        assert await (erasing.forget_all(ALICE) if what == "all" else _forgotten(stack, home)) == 1
        read.set()
        await stack.slack.say("alice", stack.slack.dm("alice"), later)
        assert await known(stack, ALICE, 1) == [later]


async def _forgotten(stack: Stack, one: Memory) -> int:
    return len(await long_term(stack).erasing.forget(ALICE, [one.id]))


class Leaving:
    """A store that answers no such question any more once a memory was asked for so often, until it is told to come back."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.watched, self.left = "", 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, owner: Any, ids: Any) -> Any:
        self.left -= bool(self.watched) and (self.watched in ids)
        if self.watched and self.left < 0:
            raise StoreDown("gone")
        return await self._store.get(owner, ids)


@pytest.mark.parametrize(("said", "wish", "words"), [
    ("Please remember that I hate rainy days", "Please forget that I hate rainy days", "rainy"),
    ("请记住我讨厌下雨天", "请忘掉我讨厌下雨天", "下雨天"),
], ids=["en", "zh"])  # fmt: skip
@pytest.mark.parametrize("meanwhile", ["nothing", "everything is forgotten"])
async def test_what_is_forgotten_by_the_clock_takes_along_the_message_that_asked_for_it(
    valkey: Valkey, said: str, wish: str, words: str, meanwhile: str
) -> None:
    client = AsyncQdrantClient(":memory:")
    store = Leaving(in_memory(client, model=WORDS_ONLY, size=0))
    async with desk(valkey, store=cast("Store", store)) as d:
        await answered(d.stack, "alice", "#orders", said)
        await known(d.stack, ALICE, 1)
        await rest(d.stack)
        store.watched, store.left = (await memories_of(d.stack))[0].id, 1  # it is found, noted as what is to go, and then out of reach
        await answered(d.stack, "alice", "dm", wish)
        assert "not finished yet" in moment(d.stack.model.requests[-1])
        store.watched = ""
        if meanwhile != "nothing":
            assert await long_term(d.stack).erasing.forget_all(ALICE) == 1
        assert (await by_the_clock(d.stack, "memory-scrub"))["finished"] == 1
        assert await known(d.stack, ALICE, 0) == []
        await gone_from_redis(d.stack, valkey, words)
    await client.close()


# --- what is no forgetting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "edited"), [("I live in Lisbon", "I live in Porto"), ("我住在上海", "我搬到北京了")], ids=["en", "zh"])
async def test_what_its_owner_kept_to_themself_stays_so_when_its_message_is_edited(valkey: Valkey, said: str, edited: str) -> None:
    async with running(valkey, plain(), **parts()) as stack:
        named = f"<@{stack.slack.bot_user_id}> "
        ts = await stack.slack.say("alice", "#orders", named + said)
        assert await known(stack, ALICE, 1) == [said]
        await rest(stack)
        (kept,) = await memories_of(stack)
        assert kept.audience != PRIVATE
        assert await long_term(stack).memories.readdress(ALICE, kept.id, PRIVATE) is not None
        await stack.slack.edit("alice", "#orders", ts, named + edited)

        async def told_anew() -> bool:
            return [memory.text for memory in await memories_of(stack)] == [edited]

        await eventually(told_anew)
        assert [memory.audience for memory in await memories_of(stack)] == [PRIVATE]


@pytest.mark.parametrize("words", ["In busy weeks I drink coffee with the team", "出差的时候我喝咖啡"], ids=["en", "zh"])
async def test_that_the_store_was_away_for_long_does_not_keep_the_model_from_reading(valkey: Valkey, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setattr("bot.effects_learn.PAUSE", 0.02)

    def policy(request: dict[str, Any]) -> Reply:
        asked = "worth remembering" in content_text(request["messages"][0])
        return text(json.dumps({"memories": [item(words, words, key="drink:coffee")]}, ensure_ascii=False) if asked else "Fine.")

    store = Away(switch())
    async with running(valkey, ScriptedModel(policy), **parts(store=store, model_reads=True, registry=Registry([]))) as stack:
        await answered(stack, "alice", "dm", words)
        store.refused = 0

        async def tried() -> bool:
            return store.refused > 10  # more often than the model may fail

        await eventually(tried)
        store.away = False
        assert await known(stack, ALICE, 1) == [words]


class Away:
    """A store that is away, and how often that was found out."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.away, self.refused = True, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, owner: Any, ids: Any) -> Any:
        if self.away:
            self.refused += 1
            raise StoreDown("away")
        return await self._store.get(owner, ids)
