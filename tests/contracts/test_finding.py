"""A person's own search of their memories, by `/memory search` and by the model's `recall`: what is asked for, or nothing."""

from __future__ import annotations

import pytest

from memory.longterm.access import WORKSPACE
from memory.longterm.candidate import Candidate
from memory.longterm.memory import Kind
from tests.contracts.door_kit import ANA, CHANNEL, DM, Door, lives

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOLD = {
    "en": ("I am allergic to peanuts", "My bike is red", "I drink green tea", "My desk is by the window"),
    "zh": ("我对花生过敏", "我的自行车是红色的", "我喝绿茶", "我的工位靠窗"),
}


def fact(text: str, key: str, language: str) -> Candidate:
    return Candidate(kind=Kind.FACT, key=key, text=text, language=language, quote=text)


async def told(door: Door, language: str) -> tuple[str, ...]:
    for number, text in enumerate(TOLD[language]):
        await door.hears(fact(text, f"thing:{number}", language))
    return TOLD[language]


async def found(door: Door, words: str, **more: object) -> list[str]:
    return [each.memory.text for each in await door.memories.find(ANA, words, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "words"), [("en", "peanuts"), ("en", "What am I allergic to?"), ("zh", "花生"), ("zh", "我对什么过敏？")])
async def test_a_search_brings_what_is_asked_for_and_nothing_else(door: Door, language: str, words: str) -> None:
    texts = await told(door, language)
    assert await found(door, words) == [texts[0]]


@pytest.mark.parametrize(("language", "words"), [("en", "zeppelin"), ("en", "nothinglikethis"), ("zh", "飞艇"), ("zh", "量子力学")])
async def test_a_search_for_what_is_not_there_brings_nothing(door: Door, language: str, words: str) -> None:
    await told(door, language)
    assert await found(door, words) == []
    assert len(await found(door, words, sure=False)) <= len(TOLD[language]), "who looks at each may still see the nearest"


async def test_what_may_not_be_told_there_does_not_hide_what_may(door: Door) -> None:
    await door.hears(fact("I park my red bike at the station", "bike:station", "en"), thread=CHANNEL, room_type="channel")
    for number in range(70):
        await door.hears(fact(f"My red bike has the number {number}", f"bike:{number}", "en"), thread=DM)
    everywhere = frozenset({WORKSPACE.tag})
    assert await found(door, "my red bike", limit=5, audiences=everywhere) == ["I park my red bike at the station"]
    listed = await door.memories.listed(ANA, limit=5, audiences=everywhere)
    assert [memory.text for memory in listed.memories] == ["I park my red bike at the station"]


async def test_a_question_of_nothing_but_common_words_still_finds_its_answer(door: Door) -> None:
    await told(door, "en")
    await door.hears(lives("Lisbon"))
    assert await found(door, "Where do I live?") == ["I live in Lisbon"]
