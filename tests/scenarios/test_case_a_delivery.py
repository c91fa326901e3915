"""Reported faults A1 to A5, A8 and A9: duplicates, lost twins, late and repeated deliveries, messages in quick succession."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes.scripted_model import ScriptedModel, calls, echo_policy, held, text
from tests.fakes.stack import running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BOT, Rooms, cards, deliver, heard, over, rest, written


def keys(valkey: Valkey) -> list[str]:
    found = valkey.command("KEYS", "*")
    assert isinstance(found, list)
    return [key.decode() for key in found]


@pytest.mark.parametrize("gap_ms", [0, 250])
@pytest.mark.parametrize("order", ["mention_first", "message_first"])
async def test_the_two_events_of_one_mention_give_one_reply(valkey: Valkey, transport: str, order: str, gap_ms: int) -> None:
    """A1: same `ts`, different event ids, 0 and 250 ms apart, both orders."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        stack.slack.delivery(order=order, gap_ms=gap_ms)

        ts = await stack.slack.say("alice", "#general", "@steward 你好 #m1")
        await stack.thread("#general", ts, own=1)
        await rest(stack)

        events = [d for d in stack.slack.deliveries() if d["kind"] == "events_api" and d["type"] in {"app_mention", "message"}]
        assert {"app_mention", "message"} <= {d["type"] for d in events}
        assert len({d["event_id"] for d in events}) == len(events)
        assert texts(stack.own("#general", ts)) == ["#m1"]
        assert model.count == 1


async def test_every_event_copied_three_times_still_gives_one_reply(valkey: Valkey, transport: str) -> None:
    """A1's neighbour: each of the two events arrives three times, in random order."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        stack.slack.delivery(copies=3, order="random", seed=7)

        ts = await stack.slack.say("mei", "#leads", "@steward #m2")
        await stack.thread("#leads", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#leads", ts)) == ["#m2"]
        assert model.count == 1


async def test_a_twin_that_is_not_addressed_does_not_hide_the_one_that_is(valkey: Valkey, transport: str) -> None:
    """A2: the `message` event shows no mention and is dropped; its `app_mention` twin, arriving later, is answered."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        message = written(stack.slack, ALICE, "#general", f"{BOT} #m3")

        first = await deliver(stack.slack, "#general", {**message, "text": "#m3"})
        assert first.ok
        assert valkey.command("DBSIZE") == 0  # nothing was kept that could hide the twin
        second = await deliver(stack.slack, "#general", message, kind="app_mention")
        assert second.ok

        await stack.thread("#general", message["ts"], own=1)
        await rest(stack)
        assert texts(stack.own("#general", message["ts"])) == ["#m3"]


async def test_two_hundred_pairs_of_twins_reaching_two_replicas_at_once_are_stored_two_hundred_times(valkey: Valkey) -> None:
    """A3: each of the two events of a mention reaches another replica, at once, 200 times."""
    model = ScriptedModel()
    async with running(valkey, model) as stack:
        await stack.bot()
        for bot in stack.bots:
            await bot.worker.stop()  # what is stored stays where it can be counted
        stack.slack.delivery(order="random", seed=3, time_scale=0.01)

        stamps = []
        for batch in range(10):  # a slow machine could not acknowledge all of them within three seconds
            stamps += [await stack.slack.say("alice", "#general", f"@steward #m{20 * batch + i}") for i in range(20)]
            await stack.until(lambda: stack.slack.core.delivery.in_flight == 0, 60.0)

        stored = [key for key in keys(valkey) if ":mail:" in key]
        assert sorted(key.rpartition(":")[2] for key in stored) == stamps
        assert [valkey.command("LLEN", key) for key in stored] == [1] * 200


async def test_twins_that_reach_two_working_replicas_at_once_are_answered_once(valkey: Valkey) -> None:
    """A3: the same with both replicas at work."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model) as stack:
        await stack.bot()
        stack.slack.delivery(order="random", seed=4, time_scale=0.01)

        stamps = [await stack.slack.say("alice", "#general", f"@steward #m{i}") for i in range(30)]
        await stack.until(lambda: all(stack.own("#general", ts) for ts in stamps), 40.0)
        await rest(stack)

        assert [texts(stack.own("#general", ts)) for ts in stamps] == [[f"#m{i}"] for i in range(30)]
        assert model.count == 30


async def test_a_first_delivery_that_calls_itself_a_retry_is_answered_and_a_late_copy_is_not(valkey: Valkey, transport: str) -> None:
    """A4: `retry_num: 1` on the first one that gets through; the copy of 301 s later changes nothing."""
    model = ScriptedModel(echo_policy)
    async with over(transport, valkey, model) as stack:
        message = written(stack.slack, ALICE, "#general", f"{BOT} #m4")

        assert (await deliver(stack.slack, "#general", message, kind="app_mention", retry=1)).ok
        await stack.thread("#general", message["ts"], own=1)
        await rest(stack)
        seen = next(key for key in keys(valkey) if ":seen:" in key)
        assert int(str(valkey.command("TTL", seen))) > 301  # the identity outlives Slack's last retry by far
        assert (await deliver(stack.slack, "#general", message, kind="app_mention", retry=3)).ok
        assert (await deliver(stack.slack, "#general", message, retry=3)).ok
        await rest(stack)

        assert texts(stack.own("#general", message["ts"])) == ["#m4"]
        assert model.count == 1


async def test_slack_is_answered_while_the_model_still_thinks_and_its_retries_add_nothing(valkey: Valkey, transport: str) -> None:
    """A5: the acknowledgement does not wait for the model; three redeliveries later there is one reply."""
    release = asyncio.Event()
    model = ScriptedModel([held(release, text("done thinking"))])
    async with over(transport, valkey, model, ack_timeout=1.0) as stack:
        message = written(stack.slack, ALICE, "#general", f"{BOT} think hard")

        assert (await deliver(stack.slack, "#general", message, kind="app_mention")).ok
        await model.until(lambda: model.count == 1)
        for retry in (1, 2, 3):
            assert (await deliver(stack.slack, "#general", message, kind="app_mention", retry=retry)).ok
        assert stack.own("#general", message["ts"]) == []  # all four were acknowledged before there was an answer
        release.set()

        await stack.thread("#general", message["ts"], own=1)
        await rest(stack)
        assert texts(stack.own("#general", message["ts"])) == ["done thinking"]
        model.assert_consumed()


@pytest.mark.parametrize(("first", "second"), [("deploy staging", "wait, prod"), ("部署到测试环境", "等等，是生产环境")])
@pytest.mark.parametrize("channel", ["#general", "#leads", "dm"])
async def test_a_second_message_during_the_model_call_is_in_the_same_history_after_the_first(valkey: Valkey, channel: str, first: str, second: str) -> None:
    """A8: "deploy staging", then "wait, prod" while the model works on the first: both seen, in order, nothing lost."""
    release = asyncio.Event()
    script = [held(release, text("answer one")), text("answer two")]
    model = ScriptedModel(script)
    async with running(valkey, model) as stack:
        room = stack.slack.dm("alice") if channel == "dm" else channel
        ts = await stack.slack.say("alice", room, first if channel == "dm" else f"@steward {first}")
        await model.until(lambda: model.count == 1)
        await stack.slack.say("alice", room, second, None if channel == "dm" else ts)
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()
        place = None if channel == "dm" else ts
        await stack.until(lambda: len(stack.own(room, place)) >= 2)
        await rest(stack)

        assert texts(stack.own(room, place)) == ["answer one", "answer two"]
        assert [said.partition("] ")[2] for said in heard(model.requests[-1])] == [first, second]
        model.assert_consumed()


@pytest.mark.parametrize("swapped", [False, True])
async def test_two_messages_before_any_worker_looks_are_one_request_in_the_order_written(valkey: Valkey, swapped: bool) -> None:
    """A8: both are stored before a worker wakes, even delivered the wrong way round; one model call sees both in the order they were written."""
    model = ScriptedModel([text("prod it is")])
    async with running(valkey, model) as stack:
        direct = stack.slack.dm("alice")
        one, two = written(stack.slack, ALICE, direct, "deploy staging"), written(stack.slack, ALICE, direct, "wait, prod")
        old = stack.bots[0]
        await old.worker.stop()  # the edge still takes mail; nobody works on it
        for message in (two, one) if swapped else (one, two):
            assert (await deliver(stack.slack, direct, message)).ok
        await stack.bot()

        await stack.until(lambda: len(stack.own(direct)) == 1)
        await rest(stack)

        assert heard(model.requests[0]) == ["[alice] deploy staging", "[alice] wait, prod"]
        model.assert_consumed()


async def test_a_correction_in_words_before_the_card_stands_means_no_card_for_the_old_wish(valkey: Valkey) -> None:
    """A8's neighbour: the model wants to write for the first message while the second already waits: nobody is asked about the outdated call."""
    rooms, release = Rooms(), asyncio.Event()
    script = [held(release, calls(("book_room", {"room": "Oak"}))), calls(("book_room", {"room": "Elm"}))]
    model = ScriptedModel(script)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward book Oak")
        await model.until(lambda: model.count == 1)
        await stack.slack.say("alice", "#general", "no, Elm", ts)
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        release.set()

        await stack.until(lambda: cards(stack, "#general", ts))
        await rest(stack)

        assert ["Elm" in shown(m) for m in stack.own("#general", ts)] == [True]
        assert rooms.booked == []
        model.assert_consumed()


@pytest.mark.parametrize("place", ["thread", "channel"])
@pytest.mark.parametrize("words", ["hello #m9", "你好 #m9"])
async def test_a_bare_mention_and_the_words_after_it_are_answered_once_together(valkey: Valkey, place: str, words: str) -> None:
    """A9: "@bot", then "hello" within 200 ms, in the mention's thread or below it in the channel."""
    model = ScriptedModel(echo_policy)
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward")
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        await stack.slack.say("alice", "#general", words, ts if place == "thread" else None)

        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["#m9"]
        assert [said for said in heard(model.requests[0]) if words in said] == [f"[alice] {words}"]
        assert model.count == 1


async def test_words_of_someone_else_do_not_complete_a_bare_mention(valkey: Valkey) -> None:
    """A9's neighbour: another person's line in the channel right after a bare mention is not taken for the request."""
    model = ScriptedModel([text("Yes?")])
    async with running(valkey, model) as stack:
        ts = await stack.slack.say("alice", "#general", "@steward")
        await stack.until(lambda: stack.slack.core.delivery.in_flight == 0)
        await stack.slack.say("bruno", "#general", "lunch anyone?")

        await stack.thread("#general", ts, own=1)
        await rest(stack)

        assert texts(stack.own("#general", ts)) == ["Yes?"]
        assert not any("lunch" in said for said in heard(model.requests[0]))
        model.assert_consumed()
