"""Reported faults G2 to G6 in long-term memory: other companies' people, other people, other workspaces, changed minds, and what was forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from memory.keys import Actor
from memory.longterm.server import ServerStore
from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import Stack, running, shown
from tests.fakes.stores import in_memory
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import ALICE, rest
from tests.scenarios.remembering_kit import answered, known, long_term, prompt, remembering
from tests.scenarios.test_case_g_safety import elsewhere


def fine() -> ScriptedModel:
    return ScriptedModel(lambda _: text("Fine."))


@pytest.mark.parametrize("words", ["Please remember that I hate rainy days", "请记住我讨厌下雨天"], ids=["en", "zh"])
async def test_a_person_of_another_company_has_no_memories_here(valkey: Valkey, tmp_path: Path, words: str) -> None:
    """G2: refused with a private notice; nothing is learned, nothing recalled."""
    model = fine()
    async with remembering(valkey, tmp_path, model) as stack:
        await stack.slack.say("erik", "#partners", f"<@{stack.slack.bot_user_id}> {words}")
        await stack.until(lambda: stack.slack.ephemerals("erik"))
        await rest(stack)
        assert model.requests == []
        assert [owner async for owner in long_term(stack).memories.store.owners()] == []


@pytest.mark.parametrize(
    ("words", "question"),
    [("Please remember that I want short answers", "what did alice say?"), ("请记住以后回答我要简短", "刚才 alice 说了什么？")],
    ids=["en", "zh"],
)
async def test_what_one_person_wants_is_not_done_for_another_in_the_same_thread(valkey: Valkey, tmp_path: Path, words: str, question: str) -> None:
    """G3: it is no memory of the other's; that it was said in the thread everybody can still be told."""
    model = fine()
    async with remembering(valkey, tmp_path, model) as stack:
        ts = await stack.slack.say("alice", "#orders", f"<@{stack.slack.bot_user_id}> {words}")
        await stack.until(lambda: stack.own("#orders", ts))
        await rest(stack)
        assert len(await known(stack, actor("alice"), 1)) == 1
        await answered(stack, "bruno", "#orders", f"<@{stack.slack.bot_user_id}> {question}", thread=ts)
        last = model.requests[-1]
        kept = (await long_term(stack).memories.listed(actor("alice"))).memories[0].text
        transcript = [m for m in last["messages"] if m["role"] == "user" and "[note by the program]" not in str(m["content"])]
        assert any(kept in str(m["content"]) for m in transcript)
        assert not any(kept in str(m["content"]) for m in last["messages"] if m not in transcript)
        await rest(stack)
        assert await known(stack, actor("bruno"), 0) == []


async def test_the_same_ids_in_two_workspaces_have_memories_apart(valkey: Valkey) -> None:
    """G4: one store of memories, two workspaces, equal user and channel ids."""
    client = AsyncQdrantClient(":memory:")
    here_model, there_model = fine(), fine()

    def store() -> ServerStore:
        return in_memory(client, model="words-only", size=0)

    given = {"model_reads": False, "memory_limit": 20.0}
    async with running(valkey, here_model, store=store(), **given) as here, elsewhere(valkey, there_model, store=store(), **given) as there:
        await here.slack.say(ALICE, "D01DIRECT1", "Please remember that my favourite city is Porto")
        await there.slack.say(ALICE, "D01DIRECT1", "请记住我最喜欢的城市是昆明")
        await _has(here, here.slack.team_id, "Porto")
        await _has(there, "T09ELSEWHR", "昆明")
        await rest(here)
        await here.slack.say(ALICE, "D01DIRECT1", "Which city do I like? 我喜欢哪个城市？")
        await here.until(lambda: len(here.own("D01DIRECT1")) == 2)
        assert not any("昆明" in prompt(request) for request in here_model.requests)
        assert not any("Porto" in prompt(request) for request in there_model.requests)
    await client.close()


async def _has(stack: Stack, team: str, words: str) -> None:
    found = await known(stack, Actor(team_id=team, user_id=ALICE), 1)
    assert words in found[0]


@pytest.mark.parametrize(
    ("sayings", "values"),
    [
        (("Please remember that my favourite colour is blue", "Please remember that my favourite colour is now green"), ("blue", "green")),
        (("请记住我最喜欢的颜色是蓝色", "请记住我现在最喜欢的颜色是绿色"), ("蓝色", "绿色")),
    ],
    ids=["en", "zh"],
)
async def test_a_changed_mind_leaves_one_memory_and_the_old_one_with_its_dates(
    valkey: Valkey, tmp_path: Path, sayings: tuple[str, str], values: tuple[str, str]
) -> None:
    """G5: the new one holds, the old one is kept as superseded; said twice, it is one entry."""
    async with remembering(valkey, tmp_path, fine()) as stack:
        old, new = values
        for words in (sayings[0], sayings[1], sayings[1]):
            await answered(stack, "alice", "dm", words)
            await rest(stack)
        memories = long_term(stack).memories
        everything = (await memories.listed(actor("alice"), live=False)).memories
        live = [memory for memory in everything if memory.live]
        superseded = [memory for memory in everything if memory.superseded_by]
        assert [new in memory.text for memory in live] == [True]
        assert [old in memory.text for memory in superseded] == [True]
        assert superseded[0].superseded_by == live[0].id
        assert superseded[0].valid_until is not None
        assert superseded[0].created <= superseded[0].valid_until
        assert live[0].times_said == 2


@pytest.mark.parametrize(
    ("words", "question", "canary"),
    [
        ("Please remember that my favourite dish is qombra", "What is my favourite dish?", "qombra"),
        ("请记住我最喜欢的菜是珊瑚鱼", "我最喜欢的菜是什么？", "珊瑚鱼"),
    ],
    ids=["en", "zh"],
)
async def test_what_was_forgotten_by_its_id_is_gone_when_asked_for(valkey: Valkey, tmp_path: Path, words: str, question: str, canary: str) -> None:
    """G6: from the memories, their history, and the thread it was said in."""
    model = fine()
    async with remembering(valkey, tmp_path, model) as stack:
        assert canary not in shown(await answered(stack, "alice", "dm", question))
        await answered(stack, "alice", "dm", words)
        await rest(stack)
        assert canary in prompt(model.requests[-1])
        (kept,) = (await long_term(stack).memories.listed(actor("alice"))).memories
        await long_term(stack).erasing.forget(actor("alice"), [kept.id])
        await rest(stack)
        await answered(stack, "alice", "dm", question)
        assert canary not in prompt(model.requests[-1])
        assert canary not in repr(await long_term(stack).memories.export(actor("alice")))
