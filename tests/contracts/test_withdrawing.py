"""A message that is deleted takes along what it told, and nothing that another message told: over both engines."""

from __future__ import annotations

import json

import pytest

from memory.longterm.access import PRIVATE, Reader, person
from memory.longterm.candidate import Candidate
from memory.longterm.memory import Kind, Memory
from memory.longterm.records import of_memory
from tests.contracts.door_kit import ANA, BEN, CHANNEL, DM, Door, likes, lives, one

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def withdrawn(door: Door, ts: str) -> list[str]:
    """What goes with the message `ts` of the direct conversation."""
    told = await door.memories.from_message(ANA, DM, ts)
    return sorted(memory.text for memory in await door.memories.withdraw(ANA, [memory.id for memory in told], thread=DM))


def at(number: int) -> str:
    return f"17900001{number:02}.000000"


async def kept(door: Door) -> str:
    """All that is kept of the person, as JSON."""
    return json.dumps(await door.memories.export(ANA))


async def test_what_it_had_taken_the_place_of_holds_again_as_it_was(door: Door) -> None:
    first = await one(door, lives("Lisbon"), ts=at(0))
    await one(door, lives("Porto"), ts=at(1))
    assert await withdrawn(door, at(1)) == ["I live in Porto"]
    assert await door.knows() == ["I live in Lisbon"]
    again = await door.memories.get(ANA, first.id)
    assert again == first
    assert await door.recalls("where do I live?") == ["I live in Lisbon"]
    assert "Porto" not in await kept(door)
    assert await withdrawn(door, at(1)) == []


async def test_of_three_the_middle_one_goes_without_a_trace_and_the_last_one_brings_back_the_one_before(door: Door) -> None:
    for number, city in enumerate(("Lisbon", "Porto", "Faro")):
        await one(door, lives(city), ts=at(number))
    assert await withdrawn(door, at(1)) == ["I live in Porto"]
    assert await door.knows() == ["I live in Faro"]
    assert "Porto" not in await kept(door)
    assert await withdrawn(door, at(2)) == ["I live in Faro"]
    assert await door.knows() == ["I live in Lisbon"]


async def test_what_it_had_told_in_more_detail_is_as_it_was_told_before(door: Door) -> None:
    before = await one(door, Candidate(kind=Kind.PREFERENCE, key="coffee", text="I drink coffee", quote="I drink coffee"), ts=at(0))
    more = "I drink black coffee in the morning"
    await one(door, Candidate(kind=Kind.PREFERENCE, key="coffee", text=more, quote=more), ts=at(1))
    assert await door.knows() == [more]
    assert await withdrawn(door, at(1)) == []
    assert await door.knows() == ["I drink coffee"]
    assert await door.memories.get(ANA, before.id) == before
    assert "morning" not in await kept(door)


async def test_what_waited_for_a_decision_against_it_is_simply_so(door: Door) -> None:
    await one(door, lives("Lisbon"), ts=at(0))
    [asked] = await door.hears(lives("Porto"), ts="1790000100.000200")
    assert asked.verdict.step == "ask"
    assert await withdrawn(door, at(0)) == ["I live in Lisbon"]
    assert await door.knows() == ["I live in Porto"]
    assert (await door.memories.listed(ANA)).disputed == ()


async def test_where_the_history_was_shortened_the_older_one_holds_again_all_the_same(door: Door) -> None:
    await one(door, lives("Lisbon"), ts=at(0))
    await one(door, lives("Porto"), ts=at(1))
    old = await door.memories.history(ANA, limit=100)
    await door.memories.store.delete(old[0].owner, [change.id for change in old])
    assert await withdrawn(door, at(1)) == ["I live in Porto"]
    assert await door.knows() == ["I live in Lisbon"]
    (back,) = (await door.memories.listed(ANA)).memories
    assert (back.live, back.valid_until) == (True, None)


async def test_nobody_withdraws_for_another_and_what_a_channel_agreed_goes_with_its_speaker_alone(door: Door) -> None:
    text = "We deploy on Tuesdays"
    agreement = Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text, single=True)
    agreed = await one(door, agreement, thread=CHANNEL, room_type="channel", ts=at(0))
    mine = await one(door, likes("tea"), ts=at(1))
    assert await door.memories.withdraw(BEN, [agreed.id, mine.id], thread=CHANNEL) == []
    later = "We deploy on Fridays"
    changed = agreement.model_copy(update={"text": later, "quote": later})
    over = await one(door, changed, actor=BEN, thread=CHANNEL, room_type="channel", ts=at(2))
    assert [memory.text for memory in await door.memories.withdraw(BEN, [over.id], thread=CHANNEL)] == [later]
    assert [memory.text for memory in (await door.memories.room_listed(CHANNEL)).memories] == [text]


async def test_of_very_many_superseded_ones_every_dispute_is_still_listed(door: Door) -> None:
    first = await one(door, lives("Lisbon"), ts=at(0))
    [asked] = await door.hears(lives("Porto"), ts="1790000100.000200")
    assert asked.memory is not None
    superseded: list[Memory] = [
        first.model_copy(update={"id": first.id[:-12] + f"{number:012}", "superseded_by": first.id, "created": first.created + number, "valid_from": None})
        for number in range(1, 301)
    ]
    await door.memories.store.put([of_memory(memory, dense=None, words={}) for memory in superseded])
    assert [(new.text, old.text) for new, old in (await door.memories.listed(ANA, limit=5)).disputed] == [("I live in Porto", "I live in Lisbon")]


async def test_who_forgets_what_a_channel_agreed_anew_brings_back_what_somebody_else_had_said(door: Door) -> None:
    def deploys(day: str) -> Candidate:
        text = f"We deploy on {day}"
        return Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text, single=True)

    tuesday = await one(door, deploys("Tuesdays"), thread=CHANNEL, room_type="channel", ts=at(0))
    await one(door, deploys("Wednesdays"), actor=BEN, thread=CHANNEL, room_type="channel", ts=at(1))
    friday = await one(door, deploys("Fridays"), actor=BEN, thread=CHANNEL, room_type="channel", ts=at(2))
    gone = await door.memories.forget(BEN, [friday.id], thread=CHANNEL)
    assert sorted(memory.text for memory in gone) == ["We deploy on Fridays", "We deploy on Wednesdays"]
    assert (await door.memories.room_listed(CHANNEL)).memories == (tuesday,)


async def test_what_a_channel_agreed_but_a_person_keeps_to_themself_is_theirs(door: Door) -> None:
    text = "We deploy on Tuesdays"
    reader = Reader(actor=ANA, thread=CHANNEL, room_type="channel")
    learned = await door.memories.add(reader, text, language="en", audience=PRIVATE)
    assert learned.memory is not None
    assert (learned.memory.owner, learned.memory.audience) == (person(ANA), PRIVATE)
    assert (await door.memories.room_listed(CHANNEL)).total == 0
