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
from tests.fakes.stack import Stack, running, shown
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually
from tests.scenarios.desk_kit import actor, desk
from tests.scenarios.kit import rest, told
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


@pytest.mark.parametrize(("older", "newer"), [("I live in Lisbon", "I moved to Porto"), ("我住在上海", "我搬到北京了")], ids=["en", "zh"])
@pytest.mark.parametrize("how", ["deleted", "edited"])
async def test_what_a_message_had_changed_is_as_it_was_once_the_message_is_gone_or_says_something_else(
    valkey: Valkey, how: str, older: str, newer: str
) -> None:
    async with running(valkey, plain(), **parts()) as stack:
        room = stack.slack.dm("alice")
        await answered(stack, "alice", "dm", older)
        assert await known(stack, ALICE, 1) == [older]
        ts = await stack.slack.say("alice", room, newer)
        await eventually(lambda: _knows(stack, newer))
        await rest(stack)
        if how == "deleted":
            await stack.slack.delete("alice", room, ts)
        else:
            await stack.slack.edit("alice", room, ts, "never mind")
        await eventually(lambda: _knows(stack, older))
        assert newer not in json.dumps(await long_term(stack).memories.export(ALICE), ensure_ascii=False)


async def _knows(stack: Stack, words: str) -> bool:
    return [memory.text for memory in (await long_term(stack).memories.listed(ALICE)).memories] == [words]


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


SAID = "On work trips the night train suits me best because flying wears me out"
"""No rule knows it."""


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
        assert asked_to_read(stack) == 1


def asked_to_read(stack: Stack) -> int:
    """How often the model was asked what is worth remembering."""
    return sum("worth remembering" in str(request["messages"][0]["content"]) for request in stack.model.requests)


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
        assert asked_to_read(stack) >= 1


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


DISPUTED = {
    "en": (
        ("In busy weeks I drink coffee with the team", "In busy weeks before the yearly audit I don't drink coffee"),
        ("In busy weeks", "In busy weeks before the yearly audit"),
        "does not fit with something I remember",
    ),
    "zh": (("出差的时候我喝咖啡", "去北方出差的时候我不喝咖啡"), ("出差的时候", "去北方出差的时候"), "内容矛盾"),
}


def reading(items: dict[str, dict[str, Any]]) -> ScriptedModel:
    """A model that, asked to read somebody's messages, finds in each what is listed for it."""

    def policy(request: dict[str, Any]) -> Reply:
        if "worth remembering" not in str(request["messages"][0]["content"]):
            return text("Fine.")
        told = str(request["messages"][-1]["content"])
        return text(json.dumps({"memories": [each for words, each in items.items() if words in told]}, ensure_ascii=False))

    return ScriptedModel(policy)


@pytest.mark.parametrize("keep", ["new", "old", "both"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_contradiction_that_is_no_clear_change_is_asked_about_privately_and_settled_with_a_button(valkey: Valkey, language: str, keep: str) -> None:
    (first, second), (when, narrower), asked = DISPUTED[language]
    model = reading({first: item(first, first, key="drink:coffee", condition=when), second: item(second, second, key="drink:coffee", condition=narrower)})
    async with desk(valkey, model_reads=True, registry=Registry([])) as d:
        d.stack.model._policy, d.stack.model._steps = model._policy, None
        who = "mei" if language == "zh" else "alice"
        await answered(d.stack, who, "#orders", first)
        assert await known(d.stack, actor(who), 1) == [first]
        await answered(d.stack, who, "#orders", second)
        notes = await told(d.stack, who, asked)
        assert sum(asked in note for note in notes) == 1
        assert not any(asked in shown(m) for m in d.stack.slack.ephemerals("bruno")), "it is between them and us"
        assert await known(d.stack, actor(who), 1) == [first], "until it is settled the older one is used"
        notice = next(m for m in d.stack.slack.ephemerals(who) if asked in shown(m))
        assert first in shown(notice)
        assert second in shown(notice)
        await d.press(who, notice, keep)
        left = {"new": [second], "old": [first], "both": [second, first]}[keep]
        assert sorted(await known(d.stack, actor(who), len(left))) == sorted(left)
        await rest(d.stack)
        assert (await d.memories.listed(actor(who))).disputed == ()
        settled = await d.asks(who, "")
        assert d.values(settled, keep) == []
