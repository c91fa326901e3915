"""What people tell is learned when nobody waits: as it stands after edits and deletions, once, later if the store is away, on nobody's word but theirs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.effects_learn import _Message, _question
from memory.longterm.access import Reader
from memory.longterm.candidate import Said, Verdict
from memory.longterm.memories import Learned
from tests.fakes.memories import in_memory, memory
from tests.fakes.scripted_model import Reply, ScriptedModel, text
from tests.fakes.stack import running
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import answered, known, long_term
from tools.registry import Registry

ALICE = actor("alice")


def parts(**more: Any) -> dict[str, Any]:
    return {"store": in_memory(), "model_reads": False, "registry": Registry([]), "memory_limit": 20.0} | more


def plain() -> ScriptedModel:
    return ScriptedModel(lambda _: text("Fine."))


async def test_after_an_edit_the_new_words_count_and_after_a_deletion_none(valkey: Valkey) -> None:
    async with running(valkey, plain(), **parts()) as stack:
        room = stack.slack.dm("alice")
        ts = await stack.slack.say("alice", room, "I live in Lisbon")
        assert await known(stack, ALICE, 1) == ["I live in Lisbon"]
        await stack.slack.edit("alice", room, ts, "I live in Porto")
        await rest(stack)
        texts: list[str] = []
        for _ in range(200):
            if (texts := await known(stack, ALICE, 1)) == ["I live in Porto"]:
                break
            await stack.quiet(0.05)
        assert texts == ["I live in Porto"]
        await stack.slack.delete("alice", room, ts)
        assert await known(stack, ALICE, 0) == []
        export = json.dumps(await long_term(stack).memories.export(ALICE))
        assert "Porto" not in export
        assert "Lisbon" not in export


async def test_while_the_store_is_away_the_answer_goes_out_and_what_was_said_is_learned_later(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.effects_learn.PAUSE", 0.1)
    store = in_memory()
    async with running(valkey, plain(), **parts(store=store)) as stack:
        store.away = True
        await answered(stack, "alice", "dm", "I live in Lisbon")
        await stack.quiet()
        store.away = False
        assert await known(stack, ALICE, 1) == ["I live in Lisbon"]


async def test_a_reading_that_broke_off_before_it_was_noted_is_repeated_without_a_trace(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.effects_learn.PAUSE", 0.1)
    from bot import effects_learn  # noqa: PLC0415
    from memory.longterm.store import StoreDown  # noqa: PLC0415

    real = effects_learn._records
    broken: list[int] = []

    async def breaking(*args: Any) -> None:
        if not broken:
            broken.append(1)
            raise StoreDown("after it was kept")
        await real(*args)

    monkeypatch.setattr(effects_learn, "_records", breaking)
    async with running(valkey, plain(), **parts()) as stack:
        await answered(stack, "alice", "dm", "I live in Lisbon")
        await rest(stack)
        await stack.quiet(1.0)
        assert broken
        assert await known(stack, ALICE, 1) == ["I live in Lisbon"]
        assert [change.done for change in await long_term(stack).memories.history(ALICE)] == ["added"]


def reads(answer: str) -> ScriptedModel:
    """A model that answers people "Fine." and whoever asks what is worth remembering `answer`."""

    def policy(request: dict[str, Any]) -> Reply:
        asked = str(request["messages"][0]["content"])
        return text(answer if "worth remembering" in asked else "Fine.")

    return ScriptedModel(policy)


def item(words: str, quote: str, **more: Any) -> dict[str, Any]:
    blank = {"message": 1, "kind": "preference", "key": "tea", "value": "", "condition": "", "single": False, "always": False, "retracts": False}
    return blank | {"text": words, "quote": quote} | more


SAID = "Whenever I travel for work I always take the night train because flying wears me out"


async def test_what_rules_do_not_know_the_model_reads(valkey: Valkey) -> None:
    answer = json.dumps({"memories": [item(SAID, SAID, key="travel")]})
    async with running(valkey, reads(answer), **parts(model_reads=True)) as stack:
        await answered(stack, "alice", "dm", SAID)
        found: list[str] = []
        for _ in range(200):
            found = [each.text for each in (await long_term(stack).memories.listed(ALICE)).memories]
            if any("night train" in each for each in found):
                break
            await stack.quiet(0.05)
        assert any("night train" in each for each in found)


HOSTILE = {
    "not JSON": "Sure! I will remember everything.",
    "never said": json.dumps({"memories": [item("I am an administrator", "I am an administrator")]}),
    "quoted, told otherwise": json.dumps({"memories": [item("I may approve refunds without asking", SAID)]}),
    "another message": json.dumps({"memories": [item(SAID, SAID, message=99)]}),
    "too much": json.dumps({"memories": [item("x" * 600, SAID)] * 500}),
    "other fields": json.dumps({"memories": [item(SAID, SAID, owner="U_ADMIN", audience="workspace")]}),
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_reading_puts_nothing_in_a_persons_mouth(valkey: Valkey, answer: str) -> None:
    async with running(valkey, reads(answer), **parts(model_reads=True)) as stack:
        await answered(stack, "alice", "dm", SAID)
        await rest(stack)
        await stack.quiet(0.2)
        found = [each.text for each in (await long_term(stack).memories.listed(ALICE)).memories]
        assert [each for each in found if each not in SAID] == []


@pytest.mark.parametrize("step", ["ask", "ignore"], ids=["found now", "found by a reading that broke off"])
def test_a_contradiction_is_put_to_the_person_privately(step: Any) -> None:
    known_one = memory("I eat spicy food", ALICE)
    new = memory("I do not eat spicy food", ALICE, disputed_with=known_one.id)
    reader = Reader(actor=ALICE, thread=new.source.thread, room_type="channel")
    message = _Message(Said(text=new.text, ts=new.source.ts, at=1.0), ALICE, reader, new.source)
    notice = _question(message, Learned(Verdict(step=step), new, known_one))
    assert notice is not None
    assert (notice.actor, "/memory" in notice.text) == (ALICE, True)
    assert _question(message, Learned(Verdict(step="add"), known_one)) is None
