"""Who may decide on a write, by the policy of `STEWARD_CONFIG`: the requester, a list, a user group, two people, someone else; never a guest or an outsider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.policy_file import Approvals, ToolApproval, UserGroup, Users, read_policy_file
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, BRUNO, DANA, MEI, Rooms, becomes, card, cards, rest, told

OAK = calls(("book_room", {"room": "Oak"}))
NOT_LISTED = "You are not on the list of people who may decide on this."
OUTSIDER = "Guests, bots and people from other companies cannot decide on this."


async def asked(stack: Stack, user: str = "alice", channel: str = "#orders") -> tuple[str, str]:
    """`user` asks for Oak: the thread's and the card's `ts`."""
    ts = await stack.slack.say(user, channel, "@steward book Oak")
    return ts, (await card(stack, channel, ts))["ts"]


async def booked(stack: Stack, ts: str, channel: str = "#orders") -> None:
    await stack.until(lambda: "Booked." in texts(stack.own(channel, ts)))
    await rest(stack)


async def test_a_list_of_people_decides_and_the_requester_is_not_on_it(valkey: Valkey) -> None:
    """Point 7, `users`: the listed person approves; the requester and others are told why not."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy=Users(users=(MEI,)))) as stack:
        ts, card_ts = await asked(stack)
        assert f"<@{MEI}>" in shown(stack.slack.message("#orders", card_ts) or {})
        for user in ("alice", "bruno"):
            await stack.slack.click(user, "#orders", card_ts, "steward:approve")
            await told(stack, user, NOT_LISTED)
        assert rooms.booked == []

        await stack.slack.click("mei", "#orders", card_ts, "steward:approve")
        await booked(stack, ts)

        assert rooms.booked[0]["by"] == ALICE  # it runs for the one who asked, whoever approved
        assert f"Approved by <@{MEI}>" in shown(stack.slack.message("#orders", card_ts) or {})
        model.assert_consumed()


async def test_a_user_group_decides_and_a_guest_in_it_does_not(valkey: Valkey) -> None:
    """Point 7, `usergroup`: membership is asked of Slack; being a guest is a no all the same."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy=UserGroup(usergroup="S01SUPPORT"))) as stack:
        stack.slack.add(usergroups=[{"id": "S01SUPPORT", "name": "Support", "handle": "support", "users": [MEI, DANA]}])
        ts, card_ts = await asked(stack, "bruno")
        await stack.slack.click("bruno", "#orders", card_ts, "steward:approve")
        await told(stack, "bruno", NOT_LISTED)
        await stack.slack.click("dana", "#orders", card_ts, "steward:approve")
        await told(stack, "dana", OUTSIDER)
        assert rooms.booked == []

        await stack.slack.click("mei", "#orders", card_ts, "steward:approve")
        await booked(stack, ts)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_a_group_that_slack_does_not_tell_of_opens_no_door(valkey: Valkey) -> None:
    """Point 7's neighbour: while Slack does not say who is in the group nobody is; afterwards the same click counts."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy=UserGroup(usergroup="S01SUPPORT"))) as stack:
        ts, card_ts = await asked(stack, "bruno")
        stack.slack.fault("usergroups.users.list", "status", times=5, status=500)
        await stack.slack.click("mei", "#orders", card_ts, "steward:approve")
        await stack.until(lambda: len(stack.slack.calls("usergroups.users.list")) >= 5)
        assert rooms.booked == []

        await booked(stack, ts)  # the decision was kept, and judged once the question was answered
        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_two_people_must_approve_and_one_person_twice_is_not_two(valkey: Valkey) -> None:
    """Point 7, `two_people`: half after the first, run after the second; both stand on the card."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy="two_people")) as stack:
        ts, card_ts = await asked(stack)
        assert "steward:edit" not in buttons(stack.slack.message("#orders", card_ts) or {})

        await stack.slack.click("alice", "#orders", card_ts, "steward:approve")
        await becomes(stack, "#orders", card_ts, "One of two people has approved")
        await stack.slack.click("alice", "#orders", card_ts, "steward:approve")
        await told(stack, "alice", "a second person must approve it too")
        await stack.slack.click("dana", "#orders", card_ts, "steward:approve")
        await told(stack, "dana", OUTSIDER)
        assert rooms.booked == []

        await stack.slack.click("bruno", "#orders", card_ts, "steward:approve")
        await booked(stack, ts)

        said = shown(stack.slack.message("#orders", card_ts) or {})
        assert f"Approved by <@{ALICE}>" in said
        assert f"Approved by <@{BRUNO}>" in said
        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_one_of_two_people_who_denies_ends_it(valkey: Valkey) -> None:
    """Point 7's neighbour: one approved, the other refuses; it is not run."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Not booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy="two_people")) as stack:
        ts, card_ts = await asked(stack)
        await stack.slack.click("mei", "#orders", card_ts, "steward:approve")
        await becomes(stack, "#orders", card_ts, "One of two people has approved")
        await stack.slack.click("bruno", "#orders", card_ts, "steward:deny")
        await stack.until(lambda: "Not booked." in texts(stack.own("#orders", ts)))
        await rest(stack)

        assert rooms.booked == []
        assert f"Denied by <@{BRUNO}>" in shown(stack.slack.message("#orders", card_ts) or {})
        model.assert_consumed()


async def test_someone_other_than_the_requester_must_approve_and_the_requester_may_still_deny(valkey: Valkey) -> None:
    """Point 7, `not_requester`: nobody approves their own request; taking it back is always allowed."""
    rooms, model = Rooms(), ScriptedModel([OAK, text("Booked."), OAK, text("Taken back.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy="not_requester")) as stack:
        ts, card_ts = await asked(stack)
        await stack.slack.click("alice", "#orders", card_ts, "steward:approve")
        await told(stack, "alice", "Someone other than the person who asked must decide on this.")
        assert rooms.booked == []
        await stack.slack.click("bruno", "#orders", card_ts, "steward:approve")
        await booked(stack, ts)

        ts, card_ts = await asked(stack)
        await stack.slack.click("alice", "#orders", card_ts, "steward:deny")
        await stack.until(lambda: "Taken back." in texts(stack.own("#orders", ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]
        model.assert_consumed()


@pytest.mark.parametrize("policy", ["not_requester", "two_people", Users(users=(BRUNO,))])
async def test_an_edit_through_the_form_is_judged_by_the_same_policy(valkey: Valkey, policy: Any) -> None:
    """Point 7's neighbour: a form is no side door: the requester edits and approves what the requester may not approve."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy=policy)) as stack:
        ts, card_ts = await asked(stack)
        value = buttons(stack.slack.message("#orders", card_ts) or {})["steward:approve"]
        form = {"id": "V1", "callback_id": "steward:edit", "private_metadata": f'{{"a":"{value}","s":"T01NORTHWD:C01ORDERS0:{ts}"}}', "type": "modal"}
        state = {"values": {"field:room": {"value": {"type": "plain_text_input", "value": "Elm"}}}}
        core = stack.slack.core
        who, install = core.world.users[ALICE], core.world.installs[stack.slack.team_id]
        answer = await core.interactivity.send("interactive", core.interactivity.view_event("view_submission", who, install, form, state))
        assert answer.ok
        await stack.until(lambda: stack.slack.ephemerals("alice"))
        await rest(stack)

        assert rooms.booked == []
        assert [m["ts"] for m in cards(stack, "#orders", ts)] == [card_ts]
        model.assert_consumed()


async def test_a_person_of_another_company_decides_nothing_in_a_shared_channel(valkey: Valkey) -> None:
    """Point 7: not by a click, although the policy names them, and not by a form."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy=Users(users=("U02ERIK000",)))) as stack:
        _, card_ts = await asked(stack, channel="#partners")
        await stack.slack.click("erik", "#partners", card_ts, "steward:approve")
        await told(stack, "erik", OUTSIDER)
        await stack.slack.click("erik", "#partners", card_ts, "steward:deny")
        await told(stack, "erik", OUTSIDER, times=2)
        await rest(stack)

        assert rooms.booked == []
        model.assert_consumed()


async def test_a_guests_card_for_someone_else_cannot_be_approved_by_the_guest(valkey: Valkey) -> None:
    """Point 7's neighbour: where others may decide a guest's request gets its card, and the guest's own click does not count."""
    rooms, model = Rooms(), ScriptedModel([OAK])
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(policy="not_requester")) as stack:
        _, card_ts = await asked(stack, "dana")
        await stack.slack.click("dana", "#orders", card_ts, "steward:approve")
        await told(stack, "dana", OUTSIDER)
        await rest(stack)

        assert rooms.booked == []
        model.assert_consumed()


async def test_each_tool_follows_its_own_line_of_the_policy_file(valkey: Valkey, tmp_path: Path) -> None:
    """Point 7: a real file: one tool for a list of people, the others for the requester, with an expiry of its own."""
    path = tmp_path / "steward.toml"
    path.write_text(f'[approvals]\nexpiry = 600\n[approvals.tools.book_room]\npolicy = {{ users = ["{MEI}"] }}\nexpiry = 60\n', encoding="utf-8")
    approvals = read_policy_file(path).approvals
    assert approvals == Approvals(expiry=600, tools={"book_room": ToolApproval(policy=Users(users=(MEI,)), expiry=60)})
    rooms = Rooms()
    model = ScriptedModel([calls(("book_room", {"room": "Oak"}), ("free_room", {"room": "Elm"})), text("Booked.")])
    async with running(valkey, model, registry=rooms.registry(), approvals=approvals) as stack:
        ts = await stack.slack.say("alice", "#orders", "@steward swap rooms")
        await card(stack, "#orders", ts, count=2)
        book, free = (m["ts"] for m in cards(stack, "#orders", ts))
        await stack.slack.click("alice", "#orders", book, "steward:approve")
        await told(stack, "alice", NOT_LISTED)
        await stack.slack.click("mei", "#orders", free, "steward:approve")
        await told(stack, "mei", "只有提出请求的人可以决定。")  # in the language of the one who clicked
        await stack.slack.click("alice", "#orders", free, "steward:approve")
        await stack.slack.click("mei", "#orders", book, "steward:approve")
        await booked(stack, ts)

        assert rooms.names == ["Oak"]
        assert {"freed": "Elm"} in rooms.booked
        model.assert_consumed()
