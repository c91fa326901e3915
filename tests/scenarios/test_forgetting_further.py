"""Forgetting where it is harder: what a channel agreed, long threads that were summarised, a bot that dies in the middle, answers kept for repetition."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from qdrant_client import AsyncQdrantClient

from memory.keys import Thread
from memory.longterm.store import WORDS_ONLY, Store, StoreDown
from playground.seed import ORDERS
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, shown
from tests.fakes.stores import in_memory
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually
from tests.scenarios.desk_kit import actor, desk
from tests.scenarios.kit import card, heard, moment, rest
from tests.scenarios.long_kit import SMALL, memory_of, summaries, wants_summary
from tests.scenarios.long_kit import remembering as summing_up
from tests.scenarios.remembering_kit import answered, by_the_clock, known, long_term, prompt, remembering
from tests.scenarios.test_forgetting import gone_from_redis, holding
from tools.decorator import tool
from tools.registry import Registry

ALICE = actor("alice")
ROOM = "#orders"
EMPTY = Registry([])


# --- what a channel agreed -------------------------------------------------------------------------------------------------


def repeating(*words: str) -> ScriptedModel:
    """Says which of these words it was told."""

    def policy(request: dict[str, Any]) -> Reply:
        told = prompt(request)
        return text(" ".join(word for word in words if word in told) or "Noted.")

    return ScriptedModel(policy)


AGREED = {
    "en": ("We agreed that we deploy on Tuesdays. Please remember that.", "When do we deploy?", "Please forget that we deploy on Tuesdays", "Tuesdays"),
    "zh": ("请记住：我们约定每周二部署", "我们什么时候部署？", "请忘掉我们约定每周二部署", "每周二"),
}


@pytest.mark.parametrize("way", ["words", "list"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_agreement_that_is_forgotten_goes_from_everybodys_threads_that_used_it(valkey: Valkey, tmp_path: Path, language: str, way: str) -> None:
    said, question, forget, canary = AGREED[language]
    model = repeating(canary)
    async with remembering(valkey, tmp_path, model, registry=EMPTY) as stack:
        await answered(stack, "alice", ROOM, said)
        await rest(stack)
        memories = long_term(stack).memories
        thread = Thread(team_id=stack.slack.team_id, channel_id=ORDERS)
        assert canary in (await memories.room_listed(thread)).memories[0].text
        theirs = await answered(stack, "bruno", ROOM, question)
        assert canary in shown(theirs)
        await rest(stack)
        if way == "words":
            await answered(stack, "alice", ROOM, forget)
            await rest(stack)
            assert any("forgotten" in moment(request) or "deleted" in moment(request) for request in model.requests)
        else:
            agreed = (await memories.room_listed(thread)).memories
            gone = await long_term(stack).erasing.forget(ALICE, [memory.id for memory in agreed], thread=thread)
            assert gone
        assert (await memories.room_listed(thread)).total == 0
        await rest(stack)
        assert [key for key in holding(valkey, canary) if theirs["thread_ts"] in key] == []
        await answered(stack, "bruno", ROOM, "And what else? 还有呢？", thread=theirs["thread_ts"])
        assert canary not in prompt(model.requests[-1])


# --- a bot that dies in the middle -----------------------------------------------------------------------------------------


class Last:
    """A store whose first deletion is done, and after which nothing is heard of it any more."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.deleted = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def delete(self, *args: Any, **kwargs: Any) -> int:
        await self._store.delete(*args, **kwargs)
        self.deleted.set()
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize(("said", "wish", "words"), [
    ("Please remember that I hate rainy days", "Please forget that I hate rainy days", "rainy"),
    ("请记住我讨厌下雨天", "请忘掉我讨厌下雨天", "下雨天"),
], ids=["en", "zh"])  # fmt: skip
async def test_a_bot_that_dies_between_forgetting_and_saying_so_says_so_when_it_is_back(valkey: Valkey, said: str, wish: str, words: str) -> None:
    client = AsyncQdrantClient(":memory:")
    model = ScriptedModel(lambda _: text("Noted."))
    async with Stack(valkey, model, registry=EMPTY, model_reads=False, memory_limit=20.0) as stack:
        dying = Last(in_memory(client, model=WORDS_ONLY, size=0))
        first = await stack.bot(store=cast("Store", dying))
        await answered(stack, "alice", "dm", said)
        assert len(await known(stack, ALICE, 1)) == 1
        await rest(stack)
        asked = len(stack.own(stack.slack.dm("alice")))
        await stack.slack.say("alice", stack.slack.dm("alice"), wish)
        await asyncio.wait_for(dying.deleted.wait(), 20.0)
        await stack.stop_bot(first)
        assert len(stack.own(stack.slack.dm("alice"))) == asked, "it said nothing before it died"
        await stack.bot(store=in_memory(client, model=WORDS_ONLY, size=0))
        await stack.until(lambda: len(stack.own(stack.slack.dm("alice"))) > asked, 20.0)
        note = moment(model.requests[-1])
        assert await known(stack, ALICE, 0) == []
        assert "deleted" in note.casefold() or "forgot" in note.casefold(), note
        assert "nothing" not in note.casefold(), note
        await gone_from_redis(stack, valkey, words)
    await client.close()


class Failing:
    """A store that is away from the moment at which something is deleted until it is told to come back."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.away = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def delete(self, *args: Any, **kwargs: Any) -> int:
        if self.away:
            raise StoreDown("in the middle")
        return int(await self._store.delete(*args, **kwargs))


@pytest.mark.parametrize(("said", "wish", "words"), [
    ("Please remember that I hate rainy days", "Please forget that I hate rainy days", "rainy"),
    ("请记住我讨厌下雨天", "请忘掉我讨厌下雨天", "下雨天"),
], ids=["en", "zh"])  # fmt: skip
async def test_what_a_store_that_went_away_did_not_delete_is_deleted_by_the_clock_and_the_person_is_told_so(
    valkey: Valkey, said: str, wish: str, words: str
) -> None:
    client = AsyncQdrantClient(":memory:")
    store = Failing(in_memory(client, model=WORDS_ONLY, size=0))
    async with desk(valkey, store=cast("Store", store)) as d:
        await answered(d.stack, "alice", "dm", said)
        await known(d.stack, ALICE, 1)
        await rest(d.stack)
        store.away = True
        await answered(d.stack, "alice", "dm", wish)
        assert "not finished yet" in moment(d.stack.model.requests[-1])
        assert len(await known(d.stack, ALICE, 1)) == 1
        store.away = False
        assert await by_the_clock(d.stack, "memory-scrub") == {"finished": 1, "rewritten": 1}
        assert await known(d.stack, ALICE, 0) == []
        await gone_from_redis(d.stack, valkey, words)
        assert await by_the_clock(d.stack, "memory-scrub") == {"finished": 0, "rewritten": 0}
    await client.close()


# --- long threads ------------------------------------------------------------------------------------------------------------

PADDING = "and there are many more words around it that nobody will ever need again, as people like to write them in the morning. " * 8
LONG = {
    "en": ("I am allergic to qombra nuts, remember that", "alice: is allergic to qombra nuts", "What may I not eat?"),
    "zh": ("请记住：我对 qombra 坚果过敏", "alice：对 qombra 坚果过敏", "我不能吃什么？"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_summarised_thread_carries_nothing_of_it_any_more(valkey: Valkey, language: str) -> None:
    told, line, question = LONG[language]
    policy = summing_up(lambda request: text("You cannot eat qombra nuts." if "qombra" in prompt(request) else "ok"), said=[line], state=["parcels are due"])
    async with desk(valkey, context=SMALL) as d:
        d.stack.model._policy, d.stack.model._steps = policy, None
        ts = await d.stack.slack.say("alice", ROOM, f"@steward {told}")
        await d.stack.until(lambda: len(d.stack.own(ROOM, ts)) == 1)
        for number in range(26):
            await d.stack.slack.say("bruno", ROOM, f"@alice parcel ABC-2024-{number:04d} is due. {PADDING}", ts)
        await eventually(lambda: _compacted(d.stack, ts))
        await rest(d.stack)
        before = await memory_of(d.stack, ROOM, ts)
        assert summaries(d.stack.model) >= 1
        assert before.covered > 1, "what was said is covered by the summary"
        assert "qombra" in before.model_dump_json()
        assert {what for key in holding(valkey, "qombra") for what in ("log", "memory") if f":{what}:" in key} == {"log", "memory"}
        indexed = index_of(valkey)
        assert indexed, "its terms are in the search index, by their numbers"
        (kept,) = (await d.memories.listed(ALICE)).memories
        message = await d.asks("alice", "")
        await d.press("alice", message, "forget", kept.id)
        await d.stack.until(lambda: not any("qombra" in shown(m) for m in d.stack.slack.ephemerals("alice")))
        await gone_from_redis(d.stack, valkey, "qombra")
        after = await memory_of(d.stack, ROOM, ts)
        assert index_of(valkey) != indexed
        assert "qombra" not in after.model_dump_json()
        assert after.summary.identifiers == before.summary.identifiers, "what has nothing to do with it stays"
        sent = len(d.stack.model.requests)
        await d.stack.slack.say("alice", ROOM, f"@steward {question}", ts)
        await d.stack.until(lambda: len(d.stack.own(ROOM, ts)) == 2)
        await rest(d.stack)
        assert [r for r in d.stack.model.requests[sent:] if "qombra" in json.dumps(r, ensure_ascii=False)] == []
        assert any(question in words for r in d.stack.model.requests[sent:] if not wants_summary(r) for words in heard(r))


def index_of(valkey: Valkey) -> dict[str, Any]:
    """The search indexes of all threads, by key."""
    keys = cast("list[bytes]", valkey.command("KEYS", "*:index:*"))
    return {key.decode(): valkey.command("HGETALL", key.decode()) for key in keys}


async def _compacted(stack: Stack, ts: str) -> bool:
    return (await memory_of(stack, ROOM, ts)).compactions > 0


# --- answers kept for repetition -----------------------------------------------------------------------------------------------


CACHING = {"model_temperature": 0.0, "model_cache_ttl": 900.0, "answer_cache_ttl": 900.0}


@pytest.mark.parametrize(("said", "question", "words"), [
    ("Please remember that I am allergic to peanuts", "What should I have for lunch?", "peanuts"),
    ("请记住我对花生过敏", "午饭吃什么好？", "花生"),
], ids=["en", "zh"])  # fmt: skip
async def test_an_answer_kept_for_repetition_goes_with_the_memory_and_is_never_anybody_elses(valkey: Valkey, said: str, question: str, words: str) -> None:
    def policy(request: dict[str, Any]) -> Reply:
        return text(f"No {words} for you." if words in prompt(request) else "Soup.")

    async with desk(valkey, **CACHING) as d:
        d.stack.model._policy, d.stack.model._steps = policy, None
        await answered(d.stack, "alice", ROOM, said)
        await rest(d.stack)
        (kept,) = (await d.memories.listed(ALICE)).memories
        assert words in shown(await answered(d.stack, "alice", ROOM, question))
        assert words in shown(await answered(d.stack, "alice", ROOM, question))
        theirs = await answered(d.stack, "bruno", ROOM, question)
        assert (words in shown(theirs), "Soup." in shown(theirs)) == (False, True)
        assert "Soup." in shown(await answered(d.stack, "bruno", ROOM, question))
        await long_term(d.stack).erasing.forget(ALICE, [kept.id])
        await gone_from_redis(d.stack, valkey, words)
        again = await answered(d.stack, "alice", ROOM, question)
        assert (words in shown(again), "Soup." in shown(again)) == (False, True)


# --- the model's tool ------------------------------------------------------------------------------------------------------------


async def test_a_forgetting_by_the_models_tool_that_is_done_again_is_counted_the_same(valkey: Valkey) -> None:
    def policy(request: dict[str, Any]) -> Reply:
        last = request["messages"][-1]
        if last["role"] == "tool":
            return text(content_text(last))
        return calls(("forget", {"ids": [kept[0]]})) if "forget it" in content_text(last) else text("Noted.")

    kept: list[str] = []
    client = AsyncQdrantClient(":memory:")
    model = ScriptedModel(policy)
    given: dict[str, Any] = {"model_reads": False, "memory_limit": 20.0, "tool_modules": ("tools.builtin", "tools.memories")}
    async with Stack(valkey, model, **given) as stack:
        dying = Last(in_memory(client, model=WORDS_ONLY, size=0))
        first = await stack.bot(store=cast("Store", dying))
        await answered(stack, "alice", "dm", "Please remember that I hate rainy days")
        await known(stack, ALICE, 1)
        kept += [memory.id for memory in (await long_term(stack).memories.listed(ALICE)).memories]
        room = stack.slack.dm("alice")
        await stack.slack.say("alice", room, "forget it")
        waiting = await card(stack, room, None)
        await stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await asyncio.wait_for(dying.deleted.wait(), 20.0)
        await stack.stop_bot(first)
        await stack.bot(store=in_memory(client, model=WORDS_ONLY, size=0))
        await stack.until(lambda: any('"forgotten": 1' in shown(m) or '"forgotten":1' in shown(m) for m in stack.own(room)), 20.0)
    await client.close()


# --- at the same moment ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "question", "words"), [
    ("Please remember that I hate rainy days", "What do you think of rainy weather in Lisbon?", "hate rainy days"),
    ("请记住我讨厌下雨天", "下雨天的里斯本怎么样？", "讨厌下雨天"),
], ids=["en", "zh"])  # fmt: skip
async def test_what_is_forgotten_between_being_found_and_being_told_is_not_told(valkey: Valkey, said: str, question: str, words: str) -> None:
    async def policy(request: dict[str, Any]) -> Reply:
        if "judge" not in request["model"]:
            return text("Noted.")
        if question not in prompt(request):
            return text("none")
        gone = await long_term(d.stack).erasing.forget(ALICE, [memory.id for memory in (await d.memories.listed(ALICE)).memories])
        judged.append(len(gone))
        return text("1")

    judged: list[int] = []
    async with desk(valkey, memory_judge="judge") as d:
        d.stack.model._policy, d.stack.model._steps = policy, None
        await answered(d.stack, "alice", ROOM, said)
        await known(d.stack, ALICE, 1)
        await rest(d.stack)
        await answered(d.stack, "alice", ROOM, question)
        assert judged == [1], "it was found, judged to help, and forgotten meanwhile"
        asked = [prompt(request) for request in d.stack.model.requests if "judge" not in request["model"]]
        assert question in asked[-1]
        assert words not in asked[-1]
        await gone_from_redis(d.stack, valkey, words)


@pytest.mark.parametrize(("said", "question", "words"), [
    ("Please remember that I hate rainy days", "Look up whether it is rainy in Lisbon", "hate rainy days"),
    ("请记住我讨厌下雨天", "查一下里斯本是不是下雨天", "讨厌下雨天"),
], ids=["en", "zh"])  # fmt: skip
async def test_what_is_forgotten_while_a_request_is_worked_on_is_not_in_its_next_model_call(valkey: Valkey, said: str, question: str, words: str) -> None:
    @tool(effect="read")
    async def look_outside() -> str:
        """Look out of the window."""
        await long_term(d.stack).erasing.forget(ALICE, [memory.id for memory in (await d.memories.listed(ALICE)).memories])
        return "clouds"

    def policy(request: dict[str, Any]) -> Reply:
        last = request["messages"][-1]
        return calls(("look_outside", {})) if last["role"] == "user" and question in content_text(last) else text("Clouds.")

    async with desk(valkey, registry=Registry([look_outside])) as d:
        d.stack.model._policy, d.stack.model._steps = policy, None
        await answered(d.stack, "alice", ROOM, said)
        await known(d.stack, ALICE, 1)
        await rest(d.stack)
        sent = len(d.stack.model.requests)
        assert "Clouds." in shown(await answered(d.stack, "alice", ROOM, question))
        before, after = d.stack.model.requests[sent:]
        assert words in prompt(before)
        assert words not in prompt(after)
        await gone_from_redis(d.stack, valkey, words)


class Finding:
    """A store during whose deletion another answer finds the memory and notes that it did."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.meanwhile: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def delete(self, *args: Any, **kwargs: Any) -> int:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return int(await self._store.delete(*args, **kwargs))


async def test_an_answer_that_finds_it_while_it_is_being_deleted_is_told_too(valkey: Valkey) -> None:
    client = AsyncQdrantClient(":memory:")
    store = Finding(in_memory(client, model=WORDS_ONLY, size=0))
    async with desk(valkey, store=cast("Store", store)) as d:
        await answered(d.stack, "alice", ROOM, "Please remember that I hate rainy days")
        await known(d.stack, ALICE, 1)
        await rest(d.stack)

        async def meanwhile() -> None:
            await answered(d.stack, "alice", ROOM, "What do you think of rainy weather?")

        d.stack.model._policy, d.stack.model._steps = (lambda request: text("You hate rainy days." if "hate rainy" in prompt(request) else "ok")), None
        store.meanwhile = meanwhile
        (kept,) = (await d.memories.listed(ALICE)).memories
        await long_term(d.stack).erasing.forget(ALICE, [kept.id])
        assert store.meanwhile is None
        assert any("You hate rainy days." in shown(m) for m in d.stack.slack.messages(ROOM) + _below(d.stack))
        await gone_from_redis(d.stack, valkey, "You hate rainy")
    await client.close()


def _below(stack: Stack) -> list[dict[str, Any]]:
    """All replies in the room's threads."""
    return [reply for m in stack.slack.messages(ROOM) for reply in stack.slack.messages(ROOM, m["ts"])]


# --- said in two places ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "again", "canary"), [("I live in Lisbon", "I live in Lisbon", "Lisbon"), ("我住在里斯本", "我住在里斯本", "里斯本")])
async def test_what_was_said_in_two_places_is_gone_from_both(valkey: Valkey, first: str, again: str, canary: str) -> None:
    async with desk(valkey) as d:
        await answered(d.stack, "alice", "dm", first)
        await known(d.stack, ALICE, 1)
        await answered(d.stack, "alice", ROOM, again)

        async def said_twice() -> bool:
            return [memory.times_said for memory in (await d.memories.listed(ALICE)).memories if canary in memory.text] == [2]

        await eventually(said_twice)
        await long_term(d.stack).erasing.forget(ALICE, [memory.id for memory in (await d.memories.listed(ALICE)).memories])
        await gone_from_redis(d.stack, valkey, canary)


async def test_what_two_messages_say_stands_when_one_of_them_is_deleted_and_goes_with_the_other(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        dm = d.stack.slack.dm("alice")
        stamps = []
        for _ in range(2):
            await answered(d.stack, "alice", "dm", "I live in Lisbon")
            stamps.append(next(m["ts"] for m in reversed(d.stack.slack.messages(dm)) if m.get("text") == "I live in Lisbon"))

        async def said_twice() -> bool:
            return [memory.times_said for memory in (await d.memories.listed(ALICE)).memories] == [2]

        await eventually(said_twice)
        await d.stack.slack.delete("alice", dm, stamps[0])

        async def stands_on_the_other() -> bool:
            return [memory.source.ts for memory in (await d.memories.listed(ALICE)).memories] == [stamps[1]]

        await eventually(stands_on_the_other)
        await d.stack.slack.delete("alice", dm, stamps[1])
        assert await known(d.stack, ALICE, 0) == []
