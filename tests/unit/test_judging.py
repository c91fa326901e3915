"""The second look at what memory brought: it can only leave out, never what always applies, and never in the way."""

from __future__ import annotations

import pytest

from bot.judging import Judge, numbers
from bot.model import Model
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Reader, person
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.question import Found, Question, Recalled
from tests.fakes.scripted_model import ScriptedModel, text

ANA = Actor(team_id="T1", user_id="U1")
HERE = Thread(team_id="T1", channel_id="D1")


def found(one: str, why: str = "words") -> Found:
    source = Source(thread=HERE, ts="1.0", said_by=ANA)
    memory = Memory(id=one, owner=person(ANA), kind=Kind.FACT, key=one, text=f"I like {one}", audience=PRIVATE, source=source, created=1.0)
    return Found(memory, 1.0, why)


QUESTION = Question(Reader(actor=ANA, thread=HERE, room_type="im"), "What shall I cook?")
ALL = Recalled(found=(found("short answers", "always"), found("tea"), found("chess")))


async def left(answer: str) -> list[str]:
    async with ScriptedModel(lambda _: text(answer)) as scripted:
        judge = Judge(Model(base_url=scripted.url, api_key="x", models=("small",)))
        try:
            judged = await judge.judged(QUESTION, ALL)
        finally:
            await judge.close()
    return [each.memory.id for each in judged.found]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("1", ["short answers", "tea"]),
        ("2, 1", ["short answers", "tea", "chess"]),
        ("0", ["short answers"]),
        ("I think all of them help.", ["short answers", "tea", "chess"]),
        ("7", ["short answers", "tea", "chess"]),
    ],
)
async def test_it_leaves_out_what_does_not_help_and_believes_numbers_only(answer: str, kept: list[str]) -> None:
    assert await left(answer) == kept


async def test_a_model_that_is_away_leaves_everything() -> None:
    judge = Judge(Model(base_url="http://127.0.0.1:9/v1", api_key="x", models=("small",)))
    try:
        assert await judge.judged(QUESTION, ALL) == ALL
    finally:
        await judge.close()


def test_numbers_are_read_in_either_writing() -> None:
    assert numbers("1，3", 3) == [1, 3]
    assert numbers("1、2", 3) == [1, 2]
    assert numbers("none", 3) is None
