"""G8 and reminders as people meet them: asked for, shown on a card with the exact time, given once in the same place, late after an outage."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from time import time
from typing import Any

import pytest

from bot.service import Service
from memory.keys import Actor, Thread
from memory.reminders import Reminder, Reminders, reminder_id
from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BRUNO, MEI, Rooms, card, cards, heard, rest, results
from tools.builtin.reminders import cancel_reminder, list_reminders, remind_me
from tools.registry import Registry

REGISTRY = Registry([remind_me, list_reminders, cancel_reminder])


class Clock:
    """The present, moved by the test."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def stack_at(valkey: Valkey, model: ScriptedModel, clock: Clock, registry: Registry = REGISTRY) -> Any:
    return running(valkey, model, registry=registry, resources={"now": clock})


def store(bot: Service) -> Reminders:
    return bot.jobs._reminders  # type: ignore[union-attr]


async def looked(stack: Stack) -> None:
    """One look at what is due, now, by every bot; then everything comes to rest."""
    for bot in stack.bots:
        assert bot.jobs is not None
        await bot.jobs.tick()
    await rest(stack)


def reminders_in(stack: Stack, channel: str, ts: str | None) -> list[Json]:
    return [m for m in stack.own(channel, ts) if "⏰" in shown(m)]


async def approved(stack: Stack, user: str, channel: str, words: str) -> tuple[str, str]:
    """Ask, look at the card, approve: the thread's `ts` and all the card said."""
    ts = await stack.slack.say(user, channel, words)
    shown_card = await card(stack, channel, ts if channel.startswith("#") else None)
    await stack.slack.click(user, channel, shown_card["ts"], "steward:approve")
    await rest(stack)
    return ts, shown(shown_card)


TOKYO_EVENING = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "words", "on_card"),
    [
        ("tomorrow 9am", "@steward remind me tomorrow 9am to call Bo", "2026-12-01 09:00 (Tuesday), Asia/Tokyo, UTC+09:00"),
        ("明天上午9点", "@steward 明天上午9点提醒我给 Bo 打电话", "2026-12-01 09:00（星期二）, Asia/Tokyo, UTC+09:00"),
    ],
)
async def test_tomorrow_at_nine_is_the_persons_own_tomorrow(valkey: Valkey, when: str, words: str, on_card: str) -> None:
    """G8: it is 23:30 UTC, and Monday morning in Tokyo already."""
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": "call Bo", "when": when})), text("Will do.")])
    async with stack_at(valkey, model, clock) as stack:
        stack.slack.core.world.users[ALICE].tz = "Asia/Tokyo"

        ts, said = await approved(stack, "alice", "#general", words)

        assert on_card in said
        assert "call Bo" in said
        (kept,) = await store(stack.bots[0]).of(Actor(team_id=stack.slack.core.world.users[ALICE].team_id, user_id=ALICE))
        assert kept.due == datetime(2026, 12, 1, 0, 0, tzinfo=UTC).timestamp()
        await looked(stack)
        assert reminders_in(stack, "#general", ts) == []

        clock.now = datetime(2026, 12, 1, 0, 0, 1, tzinfo=UTC)
        await looked(stack)
        await looked(stack)

        (given,) = reminders_in(stack, "#general", ts)
        assert f"<@{ALICE}>" in shown(given)
        assert "call Bo" in shown(given)
        model.assert_consumed()


async def test_in_two_hours_does_not_move_while_the_card_stands(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": "喝水", "when": "2小时后"})), text("好的。")])
    async with stack_at(valkey, model, clock) as stack:
        ts = await stack.slack.say("mei", "#general", "@steward 两小时后提醒我喝水")
        standing = await card(stack, "#general", ts)
        assert "2026-11-30 09:30（星期一）, Asia/Shanghai, UTC+08:00" in shown(standing)

        clock.now += timedelta(hours=1, minutes=50)
        await stack.slack.click("mei", "#general", standing["ts"], "steward:approve")
        await rest(stack)

        (kept,) = await store(stack.bots[0]).of(Actor(team_id=stack.slack.core.world.users[MEI].team_id, user_id=MEI))
        assert kept.due == (TOKYO_EVENING + timedelta(hours=2)).timestamp()


async def test_a_card_approved_after_its_time_sets_nothing_and_says_so(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": "x", "when": "in 5 minutes"})), text("Too late.")])
    async with stack_at(valkey, model, clock) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward remind me in five minutes")
        standing = await card(stack, "#general", ts)
        clock.now += timedelta(hours=1)
        await stack.slack.click("alice", "#general", standing["ts"], "steward:approve")
        await stack.until(lambda: "Too late." in texts(stack.own("#general", ts)))
        await rest(stack)

        assert "has passed" in str(results(model.requests[-1]))
        assert "Nothing was set" in str(results(model.requests[-1]))
        await looked(stack)
        assert reminders_in(stack, "#general", ts) == []


async def test_a_time_the_model_got_wrong_is_corrected_before_anybody_is_asked(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    wrong, right = {"text": "x", "when": "yesterday 9am"}, {"text": "x", "when": "2026-12-03T09:00"}
    model = ScriptedModel([calls(("remind_me", wrong)), calls(("remind_me", right)), text("Done.")])
    async with stack_at(valkey, model, clock) as stack:
        ts, said = await approved(stack, "bruno", "#general", "@steward remind me")

        assert "2026-12-03 09:00 (Thursday), Europe/Berlin" in said
        assert "'yesterday' is not understood" in str(results(model.requests[1]))
        assert len([m for m in stack.own("#general", ts) if "Set a reminder" in shown(m)]) == 1


async def test_an_hour_that_clocks_skip_is_explained_on_the_card(valkey: Valkey) -> None:
    clock = Clock(datetime(2027, 3, 27, 12, tzinfo=UTC))
    model = ScriptedModel([calls(("remind_me", {"text": "x", "when": "2027-03-28T02:30"})), text("Done.")])
    async with stack_at(valkey, model, clock) as stack:
        _, said = await approved(stack, "bruno", "#general", "@steward remind me")

        assert "2027-03-28 03:30" in said
        assert "02:30 does not exist that day" in said


async def test_a_reminder_survives_a_restart_and_is_given_late_with_the_time_it_was_due(valkey: Valkey) -> None:
    model = ScriptedModel([text("hello")])
    async with running(valkey, model, registry=REGISTRY) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward hi")
        await stack.thread("#general", ts, own=1)
        await rest(stack)
        first = stack.bots[0]
        me = stack.slack.core.world.users[ALICE].team_id
        channel = stack.slack.core.world.find_channel("general").id  # type: ignore[union-attr]
        actor = Actor(team_id=me, user_id=ALICE)
        await first.jobs.stop()  # type: ignore[union-attr]
        due = int(time()) - 3_600
        await store(first).add(
            Reminder(
                id=reminder_id(actor, "k"),
                actor=actor,
                thread=Thread(team_id=me, channel_id=channel, thread_ts=ts),
                text="开会",
                due=due,
                timezone="UTC",
                local="2026-11-30T09:00:00+00:00",
            )
        )
        await stack.stop_bot(first)

        await stack.bot()
        await stack.bot()
        await looked(stack)
        await looked(stack)

        (given,) = reminders_in(stack, "#general", ts)
        assert f"原定 <!date^{due}^" in shown(given)
        assert "开会" in shown(given)
        assert f"<@{ALICE}>" in shown(given)


HOSTILE = "<!channel> <@U01BRUNO00> @here *bold* [click](https://evil.example/?d=1) https://evil.example/?d=SECRET <https://evil.example|ok>"


async def test_a_reminders_text_pings_nobody_and_links_nowhere(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": HOSTILE, "when": "in 1 hour"})), text("Done.")])
    async with stack_at(valkey, model, clock) as stack:
        ts, _ = await approved(stack, "alice", "#general", "@steward remind me")
        clock.now += timedelta(hours=1, seconds=1)
        await looked(stack)

        (given,) = reminders_in(stack, "#general", ts)
        heading, body = given["blocks"]
        marks = re.findall(r"<[^>]*>", heading["text"]["text"])  # the person, and the time it was due when the clock on the wall is past that
        assert [mark for mark in marks if not mark.startswith("<!date^")] == [f"<@{ALICE}>"]
        assert body["elements"][0]["elements"] == [{"type": "text", "text": HOSTILE}]
        assert "<!channel>" not in given["text"]
        assert "&lt;!channel&gt;" in given["text"]
        assert BRUNO not in given["text"].replace(f"&lt;@{BRUNO}&gt;", "")


async def test_a_link_the_person_wrote_is_live_in_their_reminder(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    url = "https://wiki.example.com/plan"
    model = ScriptedModel([calls(("remind_me", {"text": f"read {url}, please", "when": "in 1 hour"})), text("Done.")])
    async with stack_at(valkey, model, clock) as stack:
        ts, _ = await approved(stack, "alice", "#general", f"@steward remind me in 1 hour to read {url}")
        clock.now += timedelta(hours=1, seconds=1)
        await looked(stack)

        (given,) = reminders_in(stack, "#general", ts)
        assert given["blocks"][1]["elements"][0]["elements"] == [
            {"type": "text", "text": "read "},
            {"type": "link", "url": url},
            {"type": "text", "text": ", please"},
        ]


async def test_a_reminder_disturbs_neither_a_waiting_card_nor_people_talking_to_each_other(valkey: Valkey) -> None:
    clock, rooms = Clock(TOKYO_EVENING), Rooms()
    model = ScriptedModel(
        [
            calls(("remind_me", {"text": "tea", "when": "in 1 hour"})),
            text("Set."),
            calls(("book_room", {"room": "Oak"})),
            text("Booked."),
            text("You are welcome."),
        ]
    )
    async with stack_at(valkey, model, clock, rooms.registry(remind_me)) as stack:
        ts, _ = await approved(stack, "alice", "#general", "@steward remind me in 1 hour of tea")
        await stack.slack.say("alice", "#general", "@steward book Oak", ts)
        standing = await card(stack, "#general", ts)
        await stack.slack.say("bruno", "#general", "<@U01MEI0000> lunch?", ts)
        await rest(stack)
        clock.now += timedelta(hours=1, seconds=1)

        await looked(stack)
        assert len(reminders_in(stack, "#general", ts)) == 1
        assert [m["ts"] for m in cards(stack, "#general", ts)] == [standing["ts"]]
        await stack.slack.say("mei", "#general", "yes, at one", ts)  # still said to bruno
        await rest(stack)
        assert model.count == 3

        await stack.slack.click("alice", "#general", standing["ts"], "steward:approve")
        await stack.until(lambda: "Booked." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        await stack.slack.say("alice", "#general", "@steward thanks for the reminder", ts)
        await stack.until(lambda: "You are welcome." in texts(stack.own("#general", ts)))
        assert any("A reminder came due" in each for each in heard(model.requests[-1]))


async def test_in_a_direct_conversation_nobody_has_to_be_called(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": "tea", "when": "in 1 hour"})), text("Set.")])
    async with stack_at(valkey, model, clock) as stack:
        room = stack.slack.dm("alice")
        await approved(stack, "alice", room, "remind me in 1 hour of tea")
        clock.now += timedelta(hours=1, seconds=1)
        await looked(stack)

        (given,) = reminders_in(stack, room, None)
        assert "<@" not in shown(given)
        assert "tea" in shown(given)


async def test_reminders_asked_for_in_private_are_not_read_out_in_a_channel(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel(
        [
            calls(("remind_me", {"text": "secret interview", "when": "in 1 hour"})),
            text("Set."),
            calls(("list_reminders", {})),
            text("None here."),
            calls(("list_reminders", {})),
            text("One."),
        ]
    )
    async with stack_at(valkey, model, clock) as stack:
        room = stack.slack.dm("alice")
        await approved(stack, "alice", room, "remind me in 1 hour")
        await stack.ask("alice", "#general", "@steward what are my reminders?")
        assert "secret" not in str(results(model.requests[3]))
        assert "1 more, asked for in other places" in str(results(model.requests[3]))

        await stack.slack.say("alice", room, "what are my reminders?")
        await stack.until(lambda: "One." in texts(stack.own(room)))

        assert "secret interview" in str(results(model.requests[5]))


async def test_calling_off_shows_what_goes_and_only_ones_own_goes(valkey: Valkey) -> None:
    clock = Clock(TOKYO_EVENING)
    model = ScriptedModel([calls(("remind_me", {"text": "water the ficus", "when": "in 1 hour"})), text("Set.")])
    async with stack_at(valkey, model, clock) as stack:
        await approved(stack, "alice", "#general", "@steward remind me in 1 hour")
        team = stack.slack.core.world.users[ALICE].team_id
        (kept,) = await store(stack.bots[0]).of(Actor(team_id=team, user_id=ALICE))
        wanted = calls(("cancel_reminder", {"reminder_id": kept.id}))

        model.extend(wanted, text("There is none."), wanted, text("Cancelled."))
        theirs = await stack.ask("bruno", "#general", "@steward cancel it")
        assert "There is none." in texts(theirs)
        assert not any("Cancel a reminder" in each for each in texts(theirs))

        ts, said = await approved(stack, "alice", "#general", "@steward cancel it")
        assert "water the ficus" in said
        assert await store(stack.bots[0]).of(Actor(team_id=team, user_id=ALICE)) == []
        clock.now += timedelta(hours=2)
        await looked(stack)
        assert reminders_in(stack, "#general", ts) == []


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_reminder_whose_channel_was_archived_reaches_its_person_directly(valkey: Valkey, language: str) -> None:
    clock = Clock(TOKYO_EVENING)
    words = {"en": "water the ficus", "zh": "给绿萝浇水"}[language]
    model = ScriptedModel([calls(("remind_me", {"text": words, "when": "in 1 hour"})), text("Set.")])
    async with stack_at(valkey, model, clock) as stack:
        ts, _ = await approved(stack, "alice", "#general", "@steward remind me in 1 hour")
        channel = stack.slack.core.world.find_channel("general")
        assert channel is not None
        channel.is_archived = True
        clock.now += timedelta(hours=1, seconds=1)

        await looked(stack)
        await looked(stack)

        assert reminders_in(stack, "#general", ts) == []
        (given,) = reminders_in(stack, stack.slack.dm("alice"), None)
        assert words in shown(given)
        assert {"en": "I could not post it in", "zh": "无法发送到"}[language] + f" <#{channel.id}>" in shown(given)
