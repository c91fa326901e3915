"""`recall`, `remember` and `forget` in conversation: one's own memories, where they may be told, and a button before anything changes."""

from __future__ import annotations

import json
from typing import Any

from memory.longterm.access import PRIVATE, WORKSPACE
from tests.fakes.memories import keep, memory
from tests.fakes.scripted_model import Reply, calls, text
from tests.fakes.stack import shown
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import Desk, actor, desk
from tests.scenarios.kit import card, rest, results
from tests.scenarios.remembering_kit import answered
from tools.registry import Registry

ALICE, BRUNO = actor("alice"), actor("bruno")


def using(d: Desk, *wanted: tuple[str, dict[str, Any]]) -> None:
    """Have the model call these once for the next message, then speak."""
    left = [wanted]

    def policy(request: dict[str, Any]) -> Reply:
        if left and request["messages"][-1]["role"] != "tool":
            return calls(*left.pop())
        return text("Done.")

    d.stack.model._policy, d.stack.model._steps = policy, None


def tools() -> Registry:
    return Registry.load("tools.memories")


def told(d: Desk) -> list[dict[str, Any]]:
    """What the tools gave the model in its last request."""
    return results(d.stack.model.requests[-1])


async def test_what_is_known_of_a_person_is_told_to_them_and_only_theirs(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE, audience=PRIVATE), memory("I live in Berlin", BRUNO))
        using(d, ("recall", {}))
        await answered(d.stack, "alice", "dm", "What do you know about me?")
        said = json.dumps(told(d))
        assert "allergic to peanuts" in said
        assert "Berlin" not in said


async def test_in_a_channel_only_what_may_be_told_there_is_recalled(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE, audience=PRIVATE), memory("I live in Lisbon", ALICE, audience=WORKSPACE))
        for asked in ({}, {"question": "peanuts Lisbon"}):
            using(d, ("recall", asked))
            await answered(d.stack, "alice", "#orders", "What do you know about me?")
            said = json.dumps(told(d))
            assert "Lisbon" in said
            assert "peanuts" not in said


async def test_while_paused_nothing_is_recalled_and_nothing_kept(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        await keep(d.memories, memory("I live in Lisbon", ALICE))
        await d.memories.choose(ALICE, learning=False)
        using(d, ("recall", {}))
        await answered(d.stack, "alice", "dm", "What do you know about me?")
        assert "Lisbon" not in json.dumps(told(d))
        assert "Memory is paused" in json.dumps(told(d)), "that nothing is looked up is not that nothing is known"
        using(d, ("remember", {"text": "I like green tea"}))
        room = d.stack.slack.dm("alice")
        await d.stack.slack.say("alice", room, "keep that in mind, would you")
        waiting = await card(d.stack, room, None)
        await d.stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await d.stack.until(lambda: "paused" in json.dumps(told(d)))
        assert await d.knows("alice") == ["I live in Lisbon"]


async def test_what_the_model_wants_kept_is_kept_when_the_person_says_so(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        using(d, ("remember", {"text": "I like green tea"}))
        room = d.stack.slack.dm("alice")
        await d.stack.slack.say("alice", room, "keep that in mind, would you")
        waiting = await card(d.stack, room, None)
        assert "I like green tea" in shown(waiting)
        assert await d.knows("alice") == []
        await d.stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await rest(d.stack)
        await d.stack.until(lambda: '"success": true' in json.dumps(told(d)) or "green tea" in json.dumps(told(d)))
        assert await d.knows("alice") == ["I like green tea"]


async def test_a_secret_is_not_kept_even_with_a_click(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        using(d, ("remember", {"text": "my password is Tr0ub4dor&3"}))
        room = d.stack.slack.dm("alice")
        await d.stack.slack.say("alice", room, "keep that in mind, would you")
        waiting = await card(d.stack, room, None)
        await d.stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await d.stack.until(lambda: "never remembered" in json.dumps(told(d)))
        assert await d.knows("alice") == []


async def test_the_card_shows_what_would_be_forgotten_and_a_click_forgets_it(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        kept = memory("I am allergic to peanuts", ALICE)
        await keep(d.memories, kept, memory("I live in Lisbon", ALICE))
        using(d, ("forget", {"ids": [kept.id]}))
        room = d.stack.slack.dm("alice")
        await d.stack.slack.say("alice", room, "that about nuts is wrong")
        waiting = await card(d.stack, room, None)
        assert "I am allergic to peanuts" in shown(waiting)
        assert kept.id not in shown(waiting)
        assert len(await d.knows("alice")) == 2
        await d.stack.slack.click("alice", room, waiting["ts"], "steward:approve")
        await d.stack.until(lambda: '"forgotten"' in json.dumps(told(d)).replace("\\", ""))
        assert await d.knows("alice") == ["I live in Lisbon"]


async def test_another_persons_memory_and_one_that_may_not_be_told_here_are_not_there(valkey: Valkey) -> None:
    async with desk(valkey, registry=tools()) as d:
        theirs, private = memory("I live in Berlin", BRUNO), memory("I am allergic to peanuts", ALICE, audience=PRIVATE)
        await keep(d.memories, theirs, private)
        for one in (theirs, private):
            using(d, ("forget", {"ids": [one.id]}))
            await answered(d.stack, "alice", "#orders", "forget that one")
            said = json.dumps(told(d))
            assert "There is no memory" in said
            assert "Berlin" not in said
            assert "peanuts" not in said
        assert await d.knows("bruno") == ["I live in Berlin"]
        assert await d.knows("alice") == ["I am allergic to peanuts"]
