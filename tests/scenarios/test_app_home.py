"""The App Home end to end: a person's memories, settings, reminders and approvals, and the buttons there."""

from __future__ import annotations

import json

from memory.keys import Thread
from memory.reminders import Reminder
from playground.people import Json
from playground.seed import ORDERS, TEAM_ID
from tests.fakes.memories import keep, memory
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor, desk, seen

ALICE, MEI = actor("alice"), actor("mei")


async def test_the_home_shows_memories_settings_reminders_and_how_to_use_it(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await keep(d.memories, memory("I am allergic to peanuts", ALICE), memory("I live in Berlin", actor("bruno")))
        thread = Thread(team_id=TEAM_ID, channel_id=ORDERS)
        await d.reminders.add(
            Reminder(id="r1", actor=ALICE, thread=thread, text="water the plants", due=4_000_000_000, timezone="UTC", local="2096-10-02T07:06:40+00:00")
        )
        await d.stack.slack.open_home("alice")
        view = seen(await d.home("alice", "peanuts"))
        assert "water the plants" in view
        assert "Memory is on" in view
        assert "No recent approvals" in view
        assert "/memory search" in view
        assert "Berlin" not in view


async def test_the_home_is_in_the_persons_language_and_that_can_be_chosen_there(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await d.stack.slack.open_home("mei")
        view = await d.home("mei", "我记得的关于你的事")
        option = next(option for option in menu(view)["options"] if json.loads(option["value"])[3] == "en")
        assert (await d.stack.slack.click_view("mei", view["id"], "steward:mem:language", selected_option=option))["ok"]
        await d.home("mei", "What I remember about you")
        assert (await d.memories.settings(MEI)).language == "en"


def menu(view: Json) -> Json:
    """The menu of languages."""
    return next(block["accessory"] for block in view["blocks"] if block.get("accessory", {}).get("type") == "static_select")


async def test_learning_is_switched_off_and_on_at_home(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await d.stack.slack.open_home("alice")
        view = await d.home("alice", "Memory is on")
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:pause"))["ok"]
        view = await d.home("alice", "I learn nothing and use nothing")
        assert not (await d.memories.settings(ALICE)).learning
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:resume"))["ok"]
        await d.home("alice", "Memory is on")


async def test_forgetting_editing_and_paging_at_home_draw_it_again(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        facts = [memory(f"fact number {n:02d}", ALICE, created=1_790_000_000.0 + n) for n in range(13)]
        await keep(d.memories, *facts)
        await d.stack.slack.open_home("alice")
        view = await d.home("alice", "page 1 of 2")
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:next"))["ok"]
        view = await d.home("alice", "page 2 of 2")
        value = next(value for value in d.values(view["blocks"], "forget") if facts[0].id in value)
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:forget", value))["ok"]
        await d.stack.until(lambda: "fact number 00" not in seen(d.stack.slack.home("alice")))
        view = await d.home("alice", "page 2 of 2")
        value = next(value for value in d.values(view["blocks"], "edit") if facts[1].id in value)
        assert (await d.stack.slack.click_view("alice", view["id"], "steward:mem:edit", value))["ok"]
        form = await d.modal("alice", "fact number 01")
        assert (await d.stack.slack.submit("alice", form["id"], {"text": {"text": {"type": "plain_text_input", "value": "another fact"}}}))["ok"]
        await d.home("alice", "another fact")


async def test_a_store_that_is_away_leaves_the_rest_of_the_home(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        d.switch.away = True
        await d.stack.slack.open_home("alice")
        view = seen(await d.home("alice", "does not answer right now"))
        assert "Reminders" in view
        assert "How to use me" in view


async def test_an_outsider_gets_no_home(valkey: Valkey) -> None:
    async with desk(valkey) as d:
        await d.stack.slack.open_home("erik")
        await d.stack.quiet(0.2)
        assert d.stack.slack.home("erik") is None
