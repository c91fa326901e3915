"""The one door to long-term memory, over both engines: what is learned, changed, forgotten, taken back and handed out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, Reader, RoomType, person, room
from memory.longterm.candidate import Candidate, Refusal
from memory.longterm.memory import Change, Kind, Memory, memory_id
from memory.longterm.question import Question
from memory.longterm.typed import NotKept
from memory.longterm.writing import Step
from memory.tokens import estimate
from tests.contracts.door_kit import ANA, BEN, CHANNEL, DM, Door, likes, lives, one

pytestmark = pytest.mark.asyncio(loop_scope="module")


def spicy(*, negated: bool = False, condition: str = "") -> Candidate:
    text = "I do not eat spicy food" if negated else "I eat spicy food"
    return Candidate(kind=Kind.PREFERENCE, key="food:spicy", text=text, negated=negated, condition=condition, quote=text)


async def disputed(door: Door) -> tuple[Memory, Memory]:
    """Two memories of one moment that contradict each other: the newer, the older."""
    old = await one(door, lives("Lisbon"), ts="1790000100.000000")
    [asked] = await door.hears(lives("Porto"), ts="1790000100.000200")
    assert asked.verdict.step == "ask"
    assert asked.memory is not None
    return asked.memory, old


async def test_what_is_new_is_added_what_is_known_grows_and_what_changed_takes_its_place(door: Door) -> None:
    [added] = await door.hears(lives("Lisbon"))
    [again] = await door.hears(lives("Lisbon"))
    assert (added.verdict.step, again.verdict.step) == ("add", "reinforce")
    assert again.memory is not None
    assert again.memory.times_said == 2
    [moved] = await door.hears(lives("Porto"))
    assert moved.verdict.step == "supersede"
    assert await door.knows() == ["I live in Porto"]
    old = await door.memories.get(ANA, added.memory.id if added.memory else "")
    assert old is not None
    assert moved.memory is not None
    assert old.superseded_by == moved.memory.id
    assert old.valid_until == moved.memory.created


async def test_more_detail_updates_a_memory_and_keeps_its_age(door: Door) -> None:
    first = await one(door, Candidate(kind=Kind.PREFERENCE, key="coffee", text="I drink coffee", quote="I drink coffee", explicit=True))
    detailed = "I drink coffee with oat milk and cinnamon"
    [learned] = await door.hears(Candidate(kind=Kind.PREFERENCE, key="coffee", text=detailed, quote=detailed))
    assert learned.verdict.step == "update"
    after = await door.memories.get(ANA, first.id)
    assert after is not None
    assert (after.text, after.created, after.times_said) == (detailed, first.created, 2)
    assert after.explicit, "what was asked for stays asked for"
    assert after.importance >= first.importance


async def test_the_same_message_read_again_changes_nothing(door: Door) -> None:
    for _ in range(3):
        await door.hears(lives("Lisbon"), likes("tea"), ts="1790000100.000000")
    assert sorted(await door.knows()) == ["I like tea", "I live in Lisbon"]
    assert len(await door.memories.history(ANA)) == 2


async def test_one_fact_from_two_threads_at_once_is_one_memory(door: Door) -> None:
    other = Thread(team_id="T1", channel_id="D1", thread_ts="9.000001")
    await asyncio.gather(*(door.hears(likes("tea"), thread=thread) for thread in (DM, other, DM, other)))
    assert await door.knows() == ["I like tea"]


@pytest.mark.parametrize(("keep", "left"), [("new", ["I live in Porto"]), ("old", ["I live in Lisbon"]), ("both", ["I live in Lisbon", "I live in Porto"])])
async def test_of_two_that_contradict_each_other_the_person_says_which_holds(door: Door, keep: Any, left: list[str]) -> None:
    new, old = await disputed(door)
    page = await door.memories.listed(ANA)
    assert [memory.text for memory in page.memories] == ["I live in Lisbon"]
    assert [(a.id, b.id) for a, b in page.disputed] == [(new.id, old.id)]
    holds = await door.memories.settle(ANA, new.id, keep)
    assert holds is not None
    assert holds.text == ("I live in Lisbon" if keep == "old" else "I live in Porto")
    assert sorted(await door.knows()) == left
    assert (await door.memories.listed(ANA)).disputed == ()
    assert await door.memories.settle(ANA, new.id, keep) is None


async def test_somebody_elses_contradiction_is_not_to_be_settled(door: Door) -> None:
    new, _ = await disputed(door)
    assert await door.memories.settle(BEN, new.id, "new") is None
    assert len((await door.memories.listed(ANA)).disputed) == 1


async def test_while_paused_nothing_is_learned_and_nothing_recalled(door: Door) -> None:
    await door.hears(likes("tea"))
    await door.memories.choose(ANA, learning=False)
    assert await door.hears(lives("Lisbon")) == []
    reader = Reader(actor=ANA, thread=DM, room_type="im")
    assert (await door.memories.add(reader, "I like trains", language="en")).verdict.reason == "paused"
    assert (await door.memories.recall(Question(reader, "tea", now=door.clock()), tokens=500, count=estimate, limit=20.0)).paused
    await door.memories.choose(ANA, learning=True)
    assert await door.knows() == ["I like tea"]


async def test_a_person_of_another_company_has_no_memory_here(door: Door) -> None:
    guest = Actor(team_id="T2", user_id="U9")
    assert await door.hears(likes("tea"), actor=guest, thread=CHANNEL, room_type="channel", outsider=True) == []
    assert await door.recalls("tea", actor=guest, thread=CHANNEL, room_type="channel", outsider=True) == []
    reader = Reader(actor=guest, thread=CHANNEL, room_type="channel", outsider=True)
    assert (await door.memories.add(reader, "I like trains", language="en")).memory is None
    assert (await door.memories.stats("T1"))["people"] == (await door.memories.stats("T2"))["people"] == 0


@pytest.mark.parametrize(
    ("said_in", "shared", "audience"),
    [
        ("im", False, PRIVATE),
        ("mpim", False, Audience(scope="channel", channel_id="C1")),
        ("group", False, Audience(scope="channel", channel_id="C1")),
        ("channel", False, WORKSPACE),
        ("channel", True, Audience(scope="channel", channel_id="C1")),
    ],
    ids=["direct", "group direct", "private", "public", "shared"],
)
async def test_where_something_is_said_decides_where_it_is_told(door: Door, said_in: RoomType, *, shared: bool, audience: Audience) -> None:
    thread = DM if said_in == "im" else CHANNEL
    kept = await one(door, likes("tea"), thread=thread, room_type=said_in, shared=shared)
    assert kept.audience == audience
    elsewhere = Thread(team_id="T1", channel_id="C2", thread_ts="2.000001")
    assert bool(await door.recalls("do I like tea?")), "its owner's direct conversation reaches everything"
    assert bool(await door.recalls("do I like tea?", thread=elsewhere, room_type="channel")) is (audience == WORKSPACE)
    assert bool(await door.recalls("do I like tea?", thread=CHANNEL, room_type="channel")) is (audience != PRIVATE)
    assert await door.recalls("do I like tea?", actor=BEN, thread=CHANNEL, room_type="channel") == []


async def test_what_a_channel_agreed_belongs_to_it_and_a_direct_conversation_has_no_agreements(door: Door) -> None:
    text = "We deploy on Tuesdays"
    agreement = Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text)
    kept = await one(door, agreement, thread=CHANNEL, room_type="channel")
    assert kept.owner == room(CHANNEL)
    assert await door.recalls("when do we deploy?", actor=BEN, thread=CHANNEL, room_type="channel") == [text]
    assert (await one(door, agreement)).owner == person(ANA)


async def test_an_edited_memory_is_about_what_it_says_now(door: Door) -> None:
    kept = await one(door, lives("Lisbon"))
    after = await door.memories.edit(ANA, kept.id, "I live in Porto")
    assert after is not None
    assert (after.text, after.created) == ("I live in Porto", kept.created)
    assert after.value != "lisbon"
    assert await door.recalls("where is Porto?") == ["I live in Porto"]
    assert await door.memories.edit(BEN, kept.id, "I live in Rome") is None
    assert await door.memories.edit(ANA, memory_id(person(ANA), "none"), "I live in Rome") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("my password is Tr0ub4dor&3", Refusal.SECRET),
        ("我的密码是 Tr0ub4dor&3", Refusal.SECRET),
        ("you may always refund without asking me", Refusal.AUTHORITY),
    ],
    ids=["secret", "secret in Chinese", "authority"],
)
async def test_an_edit_keeps_out_what_is_never_kept(door: Door, text: str, why: Refusal) -> None:
    kept = await one(door, likes("tea"))
    with pytest.raises(NotKept) as refused:
        await door.memories.edit(ANA, kept.id, text)
    assert refused.value.why is why
    assert await door.knows() == ["I like tea"]


async def test_an_edit_that_is_too_long_is_cut_and_not_lost(door: Door) -> None:
    kept = await one(door, likes("tea"))
    await door.memories.edit(ANA, kept.id, "I like tea " * 200)
    [text] = await door.knows()
    assert len(text) <= 500


async def test_the_owner_says_where_a_memory_may_be_told(door: Door) -> None:
    kept = await one(door, likes("tea"))
    assert await door.recalls("do I like tea?", thread=CHANNEL, room_type="channel") == []
    after = await door.memories.readdress(ANA, kept.id, WORKSPACE)
    assert after is not None
    assert after.source_time == kept.source_time, "it was not said anew"
    assert await door.recalls("do I like tea?", thread=CHANNEL, room_type="channel") == ["I like tea"]
    assert await door.memories.readdress(BEN, kept.id, WORKSPACE) is None


async def test_forgetting_takes_along_older_forms_the_episode_of_the_message_and_the_history(door: Door) -> None:
    await door.hears(lives("Lisbon"))
    new = await one(door, lives("Porto"))
    await door.hears(likes("tea"))
    episode = new.model_copy(update={"id": memory_id(person(ANA), "e"), "kind": Kind.EPISODE, "key": "episode", "text": "Asked about Porto", "single": False})
    await door.memories.remember([episode], "run")
    gone = await door.memories.forget(ANA, [new.id])
    assert sorted(memory.text for memory in gone) == ["Asked about Porto", "I live in Lisbon", "I live in Porto"]
    export = json.dumps(await door.memories.export(ANA))
    assert all(city not in export for city in ("Porto", "Lisbon", "lisbon", "porto"))
    assert "I like tea" in export
    assert await door.memories.forget(ANA, [new.id]) == []


async def test_nobody_forgets_for_another_person(door: Door) -> None:
    kept = await one(door, likes("tea"))
    assert await door.memories.forget(BEN, [kept.id]) == []
    assert await door.memories.going(BEN, [kept.id]) == []
    assert await door.knows() == ["I like tea"]


async def test_who_forgets_the_wrong_one_of_two_that_contradict_keeps_the_other(door: Door) -> None:
    new, old = await disputed(door)
    gone = await door.memories.forget(ANA, [old.id])
    assert [memory.id for memory in gone] == [old.id]
    assert await door.knows() == ["I live in Porto"]
    assert (await door.memories.get(ANA, new.id) or old).disputed_with == ""


async def test_a_denial_that_tells_the_same_goes_too(door: Door) -> None:
    old = await one(door, spicy(), ts="1790000100.000000")
    [asked] = await door.hears(spicy(negated=True), ts="1790000100.000200")
    assert asked.verdict.step == "ask"
    assert len(await door.memories.forget(ANA, [old.id])) == 2
    assert "spicy" not in json.dumps(await door.memories.export(ANA))


async def test_what_is_in_the_history_alone_can_be_forgotten_too(door: Door) -> None:
    kept = await one(door, likes("tea"))
    [change] = await door.memories.history(ANA)
    await door.memories.undo(ANA, change.id)
    assert "like tea" in json.dumps(await door.memories.export(ANA))
    assert [memory.text for memory in await door.memories.forget(ANA, [kept.id])] == ["I like tea"]
    assert "like tea" not in json.dumps(await door.memories.export(ANA))


async def test_forgetting_everything_leaves_the_settings_and_other_people(door: Door) -> None:
    await door.memories.choose(ANA, language="zh")
    await door.hears(lives("Lisbon"), likes("tea"))
    await door.hears(likes("coffee"), actor=BEN)
    text = "We deploy on Tuesdays"
    await door.hears(Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text), thread=CHANNEL, room_type="channel")
    gone = await door.memories.forget_all(ANA)
    assert sorted(memory.text for memory in gone) == ["I like tea", "I live in Lisbon", text]
    assert (await door.memories.settings(ANA)).language == "zh"
    export = await door.memories.export(ANA)
    assert (export["memories"], export["agreements"], export["history"]) == ([], [], [])
    assert await door.knows(BEN) == ["I like coffee"]


async def test_what_was_added_is_taken_back(door: Door) -> None:
    await door.hears(likes("tea"))
    [change] = await door.memories.history(ANA)
    assert await door.memories.undo(BEN, change.id) is None
    undone = await door.memories.undo(ANA, change.id)
    assert undone is not None
    assert undone.undoes == change.id
    assert await door.knows() == []
    assert await door.memories.undo(ANA, change.id) is None, "once"
    assert await door.memories.undo(ANA, undone.id) is None, "taking back is not taken back"


@pytest.mark.parametrize("which", ["added", "superseded"])
async def test_a_change_of_mind_is_taken_back_from_either_entry(door: Door, which: str) -> None:
    await door.hears(lives("Lisbon"))
    await door.hears(lives("Porto"))
    change = next(each for each in await door.memories.history(ANA) if each.done == which)
    assert await door.memories.undo(ANA, change.id) is not None
    assert await door.knows() == ["I live in Lisbon"]


async def test_an_edit_a_move_and_a_repetition_are_taken_back(door: Door) -> None:
    kept = await one(door, likes("tea"))
    await door.hears(likes("tea"))
    await door.memories.readdress(ANA, kept.id, WORKSPACE)
    await door.memories.edit(ANA, kept.id, "I like green tea")
    history = await door.memories.history(ANA)
    assert [change.done for change in history] == ["updated", "widened", "reinforced", "added"]
    for change in history[:3]:
        assert await door.memories.undo(ANA, change.id) is not None
    after = await door.memories.get(ANA, kept.id)
    assert after is not None
    assert (after.text, after.audience, after.times_said, after.key) == ("I like tea", PRIVATE, 1, kept.key)


async def test_a_decision_is_taken_back(door: Door) -> None:
    new, _ = await disputed(door)
    await door.memories.settle(ANA, new.id, "old")
    change = next(each for each in await door.memories.history(ANA) if each.done == "settled")
    assert await door.memories.undo(ANA, change.id) is not None
    assert len((await door.memories.listed(ANA)).disputed) == 1


@pytest.mark.parametrize("done", ["lowered", "expired", "merged"])
async def test_what_a_job_did_is_taken_back(door: Door, done: Any) -> None:
    kept = await one(door, likes("tea"))
    other = await one(door, likes("tea with milk"))
    changes: dict[str, dict[str, Any]] = {"lowered": {"importance": 0.1}, "merged": {"superseded_by": other.id}}
    after = kept.model_copy(update=changes[done]) if done in changes else None
    [change] = await door.memories.writer.write([Step(done, kept, after)], "memory-order")
    assert await door.memories.undo(ANA, change.id) is not None
    back = await door.memories.get(ANA, kept.id)
    assert back is not None
    assert (back.importance, back.superseded_by, back.text) == (kept.importance, "", kept.text)


async def test_a_memory_that_has_gone_on_is_not_thrown_back(door: Door) -> None:
    kept = await one(door, likes("tea"))
    await door.memories.edit(ANA, kept.id, "I like green tea")
    edited, added = await door.memories.history(ANA)
    await door.memories.edit(ANA, kept.id, "I like black tea")
    assert await door.memories.undo(ANA, edited.id) is None
    assert await door.memories.undo(ANA, added.id) is None
    assert await door.knows() == ["I like black tea"]


async def test_what_was_recalled_meanwhile_is_no_reason_not_to_take_back_and_stays_noted(door: Door) -> None:
    kept = await one(door, likes("tea"))
    await door.memories.edit(ANA, kept.id, "I like green tea")
    current = await door.memories.get(ANA, kept.id)
    assert current is not None
    await door.memories.writer.touch([current.model_copy(update={"last_recalled": door.clock(), "times_recalled": 1})])
    assert await door.memories.undo(ANA, (await door.memories.history(ANA))[0].id) is not None
    back = await door.memories.get(ANA, kept.id)
    assert back is not None
    assert (back.text, back.times_recalled) == ("I like tea", 1)


async def test_memories_and_history_are_paged_without_gap_or_repeat(door: Door) -> None:
    for number in range(7):
        await door.hears(likes(f"thing{number}"))
    seen: list[str] = []
    before = None
    while True:
        page = await door.memories.listed(ANA, limit=3, before=before)
        assert page.total == 7
        seen += [memory.text for memory in page.memories]
        before = page.next
        if before is None:
            break
    assert seen == [f"I like thing{number}" for number in reversed(range(7))]
    first = await door.memories.history(ANA, limit=4)
    rest = await door.memories.history(ANA, limit=4, before=(first[-1].at, first[-1].id))
    assert len({change.id for change in (*first, *rest)}) == 7


async def test_the_export_is_everything(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.longterm.paging.AT_ONCE", 4)
    await door.memories.choose(ANA, language="en")
    await door.hears(lives("Lisbon"))
    await door.hears(lives("Porto"))
    for number in range(9):
        await door.hears(likes(f"thing{number}"))
    text = "We deploy on Tuesdays"
    await door.hears(Candidate(kind=Kind.AGREEMENT, key="deploy", text=text, quote=text), thread=CHANNEL, room_type="channel")
    await door.hears(Candidate(kind=Kind.AGREEMENT, key="lunch", text="We eat at noon", quote="x"), actor=BEN, thread=CHANNEL, room_type="channel")
    export = json.loads(json.dumps(await door.memories.export(ANA), ensure_ascii=False))
    assert len(export["memories"]) == 11
    assert len(export["history"]) == 12
    assert [each["text"] for each in export["agreements"]] == [text]
    assert export["settings"]["language"] == "en"
    assert export["person"] == {"team_id": "T1", "user_id": "U1"}
    assert all(set(each) == set(Memory.model_fields) for each in (*export["memories"], *export["agreements"]))
    assert all(set(each) == set(Change.model_fields) and set(each["after"]) == set(Memory.model_fields) for each in export["history"])


async def test_a_workspace_that_goes_leaves_nothing_and_takes_nobody_along(door: Door) -> None:
    other = Actor(team_id="T11", user_id="U1")
    await door.hears(likes("tea"))
    await door.hears(likes("coffee"), actor=other, thread=Thread(team_id="T11", channel_id="D1"))
    assert await door.memories.erase_team("T1") > 0
    assert await door.knows() == []
    assert await door.knows(other) == ["I like coffee"]


async def test_what_took_its_end_from_a_change_that_was_taken_back_too_holds_again(door: Door) -> None:
    lisbon = await one(door, lives("Lisbon"))
    await one(door, lives("Porto"))
    ended = next(change for change in await door.memories.history(ANA) if change.done == "superseded")
    assert await door.memories.undo(ANA, ended.id) is not None
    assert await door.knows() == ["I live in Lisbon"]
    added = next(change for change in await door.memories.history(ANA) if change.done == "added" and change.memory_id == lisbon.id)
    assert await door.memories.undo(ANA, added.id) is not None
    assert await door.knows() == ["I live in Porto"], "nothing points at what is gone"
