"""Reported fault F10: "always allow" holds for one person, one channel, one tool and the values they named, until it is over or revoked.

Everything else is asked about as before.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.guardrails import Guardrails
from bot.policy_file import Approvals, PolicyFile, ToolApproval
from memory.connect import connect
from memory.grants import MAX_GRANTS, Grants
from memory.keys import Actor
from playground.people import Json
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.scripted_replies import Reply
from tests.fakes.stack import Stack, buttons, running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import ALICE, DANA, Rooms, card, cards, over, rest, told
from tools.decorator import tool
from tools.registry import Registry

ORDERS, GENERAL, PARTNERS = "#orders", "#general", "#partners"
NOTHING = "I ask before every change"


def booking(request: Json) -> Reply:
    """A model that books what it is told to: "book Oak", "book Oak 6"; and says so once it has a result."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return text("Booked." if json.loads(content_text(last))["success"] else "Not booked.")
    found = re.findall(r"book (\w+)(?: (\d+))?", content_text(last))
    arguments: dict[str, Any] = {"room": found[-1][0]} | ({"seats": int(found[-1][1])} if found[-1][1] else {})
    return calls(("book_room", arguments))


def chosen(value: str) -> Json:
    return {"value": {"type": "static_select", "selected_option": {"text": {"type": "plain_text", "text": "…"}, "value": value}}}


def terms(seconds: int = 3_600, **free: str) -> Json:
    """A submission: every value held fast but those said to be `any`; the arguments are room, seats, note in this order."""
    places = {"room": "always:0", "seats": "always:1", "note": "always:2"}
    return {place: chosen(free.get(name, "exact")) for name, place in places.items()} | {"always:for": chosen(str(seconds))}


async def asked(stack: Stack, words: str, user: str = "alice", channel: str = ORDERS) -> tuple[str | None, str]:
    """Somebody asks and a card stands: the thread's and the card's `ts`."""
    ts = await stack.slack.say(user, channel, f"@steward {words}")
    place = None if channel.startswith("D") else ts
    before = {m["ts"] for m in cards(stack, channel, place)}
    await stack.until(lambda: {m["ts"] for m in cards(stack, channel, place)} - before or len(cards(stack, channel, place)) > len(before))
    return place, (await card(stack, channel, place))["ts"]


async def passes(stack: Stack, words: str, user: str = "alice", channel: str = ORDERS) -> Json:
    """Somebody asks and it is done without a question: the record of it in the thread."""
    ts = await stack.slack.say(user, channel, f"@steward {words}")
    place = None if channel.startswith("D") else ts
    known = len(stack.own(channel, place)) if place is None else 0
    await stack.until(lambda: "Booked." in texts(stack.own(channel, place)[known:]))
    await rest(stack)
    assert cards(stack, channel, place) == []
    return next(m for m in stack.own(channel, place)[known:] if "standing permission" in shown(m) or "长期授权" in shown(m))


async def always(stack: Stack, words: str, given: Json, user: str = "alice", channel: str = ORDERS) -> str:
    """Somebody asks, and with the approval allows such calls: the card's `ts` once the call has run."""
    ts, card_ts = await asked(stack, words, user, channel)
    await stack.slack.click(user, channel, card_ts, "steward:always")
    view = await stack.slack.wait_for(lambda: stack.slack.view(user)) or {}
    assert view["callback_id"] == "steward:always"
    assert (await stack.slack.submit(user, view["id"], given))["ok"]
    await stack.until(lambda: "Booked." in texts(stack.own(channel, ts)))
    await rest(stack)
    return card_ts


async def listed(stack: Stack, user: str = "alice", words: str = "grants", channel: str = ORDERS) -> Json:
    """The private answer to `/steward grants` or another command."""
    assert (await stack.slack.command(user, channel, "/steward", words))["ok"]
    return stack.slack.ephemerals(user)[-1]


def revoke_buttons(message: Json) -> list[str]:
    """The ids that the list's buttons stand for."""
    return [block["accessory"]["value"] for block in message.get("blocks") or [] if "accessory" in block]


@pytest.mark.parametrize("channel", [ORDERS, "D01DIRECT1"])
async def test_a_permission_of_a_in_one_channel_lets_just_such_calls_pass(valkey: Valkey, transport: str, channel: str) -> None:
    """F10: bound to person, channel, tool and values; still asked for B, in another channel, for another tool and another value."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        card_ts = await always(stack, "book Oak", terms(note="any"), channel=channel)
        assert rooms.names == ["Oak"]
        said = shown(stack.slack.message(channel, card_ts) or {})
        assert f"Approved by <@{ALICE}>" in said
        assert "also allows such calls of their own in this channel until" in said
        assert "As long as these stay the same: Room, Seats" in said

        record = await passes(stack, "book Oak", channel=channel)  # in a thread of its own
        assert rooms.names == ["Oak", "Oak"]
        assert rooms.booked[1]["by"] == ALICE
        assert f"Allowed by a standing permission of <@{ALICE}>" in shown(record)
        assert "Oak" in shown(record)
        assert buttons(record) == {}

        others = [("book Elm", "alice", channel), ("book Oak 6", "alice", channel), ("book Oak", "alice", GENERAL), ("book Oak", "bruno", ORDERS)]
        for words, user, place in others:
            await asked(stack, words, user, place)
        assert rooms.names == ["Oak", "Oak"]


async def test_another_value_may_be_anything_where_the_person_said_so(valkey: Valkey) -> None:
    """F10: the argument left open may be anything, the other must stay the same."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms(seats="any", note="any"))
        await passes(stack, "book Oak 9")
        await asked(stack, "book Elm 9")

        assert [entry["seats"] for entry in rooms.booked] == [4, 9]


async def test_another_tool_is_not_covered(valkey: Valkey) -> None:
    """F10: the same room, another tool."""
    rooms = Rooms()
    free = [calls(("free_room", {"room": "Oak"}))]
    model = ScriptedModel([calls(("book_room", {"room": "Oak"})), text("Booked."), *free])
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms(room="any", seats="any", note="any"))
        ts = await stack.slack.say("alice", ORDERS, "@steward free Oak")
        await card(stack, ORDERS, ts)

        assert rooms.names == ["Oak"]
        model.assert_consumed()


async def test_listing_and_revoking_by_button_and_afterwards_the_next_call_is_asked_about_on_every_replica(valkey: Valkey, transport: str) -> None:
    """F10: list and revoke; the list is private and renewed in place; an old list's button is harmless."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with over(transport, valkey, model, registry=rooms.registry()) as stack:
        await stack.bot()
        await always(stack, "book Oak", terms())
        await passes(stack, "book Oak")

        old, new = await listed(stack), await listed(stack, words="权限")
        for message in (old, new):
            assert message["ephemeral_to"] == ALICE
            [grant_id] = revoke_buttons(message)
            for part in ("book_room", "Oak", "<#C01ORDERS0>", grant_id[:8]):
                assert part in shown(message) or part.replace("_", " ").capitalize() in shown(message)
        assert "used once" in shown(old)
        assert "已使用 1 次" in shown(new)
        assert NOTHING in shown(await listed(stack, "bruno"))

        await stack.slack.click("alice", ORDERS, new["ts"], "steward:revoke")
        renewed = next(m for m in stack.slack.ephemerals("alice") if m["ts"] == new["ts"])
        assert revoke_buttons(renewed) == []
        assert "Revoked" in shown(renewed)
        ts, _ = await asked(stack, "book Oak")
        await asked(stack, "book Oak")  # whichever replica takes it
        assert rooms.names == ["Oak", "Oak"]

        await stack.slack.click("alice", ORDERS, old["ts"], "steward:revoke")
        late = next(m for m in stack.slack.ephemerals("alice") if m["ts"] == old["ts"])
        assert "Nothing was changed" in shown(late)
        assert len(cards(stack, ORDERS, ts)) == 1


@pytest.mark.parametrize(
    ("words", "left", "answer"),
    [
        ("revoke {}", ["Elm"], "Revoked: Book room"),
        ("revoke {}…", ["Elm", "Oak"], "Nothing was changed"),
        ("撤销 {}", ["Elm"], "已撤销：Book room"),
        ("撤销 one-of_many-words", ["Elm", "Oak"], "你没有这项授权"),
        ("revoke all", [], "Revoked: all 2"),
        ("撤销 全部", [], "已全部撤销，共 2 项"),
        ("revoke", ["Elm", "Oak"], "Say which one"),
        ("revoke index", ["Elm", "Oak"], "Nothing was changed"),
    ],
)
async def test_revoking_by_command(valkey: Valkey, words: str, left: list[str], answer: str) -> None:
    """F10: `/steward revoke <id|all>`."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Elm", terms())
        await always(stack, "book Oak", terms())
        newest, _ = revoke_buttons(await listed(stack))
        said = await listed(stack, words=words.format(newest[:8]))
        if answer not in shown(said):  # the answer may stand above the list
            pytest.fail(shown(said))

        still = shown(await listed(stack))
        assert [room for room in ("Elm", "Oak") if room in still] == left


async def test_nobody_sees_or_ends_what_somebody_else_allowed(valkey: Valkey) -> None:
    """F10's neighbour: neither by the id nor by a forged click on the button."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms())
        [grant_id] = revoke_buttons(await listed(stack))
        await always(stack, "book Elm", terms(), user="bruno")

        assert "Nothing was changed" in shown(await listed(stack, "bruno", f"revoke {grant_id}"))
        own = await listed(stack, "bruno")
        await stack.slack.click("bruno", ORDERS, own["ts"], "steward:revoke", grant_id)
        assert "Oak" not in shown(own)
        await rest(stack)

        assert "Revoked: the one permission you gave." in shown(await listed(stack, "bruno", "revoke all"))
        assert "There was nothing to revoke" in shown(await listed(stack, "bruno", "revoke all"))
        assert "没有可以撤销的授权" in shown(await listed(stack, "bruno", "撤销 全部"))
        await passes(stack, "book Oak")
        assert rooms.names == ["Oak", "Elm", "Oak"]


async def test_when_it_is_over_the_person_is_asked_again(valkey: Valkey) -> None:
    """F10: with an expiry, which the operator bounds."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry(), approvals=Approvals(always_allow_max=2)) as stack:
        await always(stack, "book Oak", terms(2))
        async with asyncio.timeout(20):
            while valkey.command("KEYS", "*{grants:*index"):
                await asyncio.sleep(0.02)

        await asked(stack, "book Oak")
        assert rooms.names == ["Oak"]
        assert NOTHING in shown(await listed(stack))


async def test_a_tool_that_changed_is_asked_about_again(valkey: Valkey) -> None:
    """F10's neighbour: what was allowed is the tool as it was."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms(room="any", seats="any", note="any"))
        await stack.stop_bot(stack.bots[0])

        @tool(effect="write")
        async def book_room(room: Annotated[str, Field(description="Name of the place on the door, e.g. Oak", min_length=1, max_length=80)]) -> str:
            """Book one meeting room for the person who asks. Not for cancelling."""
            raise AssertionError(room)

        await stack.bot(registry=Registry([book_room]))
        await asked(stack, "book Oak")
        assert rooms.names == ["Oak"]


@pytest.mark.parametrize(
    "approvals",
    [
        Approvals(always_allow=False),
        Approvals(tools={"book_room": ToolApproval(always_allow=False)}),
        Approvals(policy="not_requester"),
        Approvals(policy="two_people"),
    ],
)
async def test_where_the_operator_says_no_it_is_neither_offered_nor_honoured(valkey: Valkey, approvals: Approvals) -> None:
    """F10's neighbour: no button, no form for a forged one, no effect of a forged submission, and none of a permission given before."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms())
        await stack.stop_bot(stack.bots[0])
        await stack.bot(approvals=approvals)

        ts, card_ts = await asked(stack, "book Oak")
        shown_card = stack.slack.message(ORDERS, card_ts) or {}
        assert "steward:always" not in buttons(shown_card)
        outcome = await submitted(stack, ALICE, buttons(shown_card)["steward:approve"], str(ts), terms())
        assert outcome["errors"] or "That kind of permission" in str(await told(stack, "alice", "permission cannot be given here"))
        await rest(stack)
        assert rooms.names == ["Oak"]
        assert [m["ts"] for m in cards(stack, ORDERS, ts)] == [card_ts]


async def submitted(stack: Stack, user: str, approval_id: str, thread_ts: str, values: Json, *, channel_id: str = "C01ORDERS0") -> Json:
    """A submission as Slack would send it for a form that we never opened."""
    core = stack.slack.core
    form = {
        "id": "V1",
        "callback_id": "steward:always",
        "type": "modal",
        "private_metadata": json.dumps({"a": approval_id, "s": f"{stack.slack.team_id}:{channel_id}:{thread_ts}"}),
    }
    who, install = core.world.users[user], core.world.installs[stack.slack.team_id]
    answer = await core.interactivity.send("interactive", core.interactivity.view_event("view_submission", who, install, form, {"values": values}))
    assert answer.ok
    body: Json = answer.body if isinstance(answer.body, dict) else {}
    return {"errors": body.get("errors") or {}}


async def test_a_submission_by_somebody_else_or_for_another_card_allows_nothing(valkey: Valkey) -> None:
    """F10's neighbour: B with A's form, B opening the form from A's card, an id that is no card's, a time that was not offered."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts, card_ts = await asked(stack, "book Oak")
        value = buttons(stack.slack.message(ORDERS, card_ts) or {})["steward:approve"]

        await stack.slack.click("bruno", ORDERS, card_ts, "steward:always")
        assert stack.slack.view("bruno") is None
        await submitted(stack, "U01BRUNO00", value, str(ts), terms())
        await told(stack, "bruno", "Only the person who asked can decide on this.", times=2)
        assert (await submitted(stack, ALICE, value[:-1] + "!", str(ts), terms()))["errors"]
        assert (await submitted(stack, ALICE, value, str(ts), terms(5)))["errors"]
        assert (await submitted(stack, ALICE, value, str(ts), terms(), channel_id="C01GENERAL"))["errors"]
        await rest(stack)

        assert rooms.booked == []
        assert [m["ts"] for m in cards(stack, ORDERS, ts)] == [card_ts]
        for user in ("alice", "bruno"):
            assert NOTHING in shown(await listed(stack, user))


async def test_a_guest_and_a_person_of_another_company_can_allow_nothing(valkey: Valkey) -> None:
    """F10's neighbour: neither for themselves nor with a form forged for somebody else's card."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        ts = await stack.slack.say("dana", ORDERS, "@steward book Oak")  # a guest's change is put to nobody
        await stack.until(lambda: "Not booked." in texts(stack.own(ORDERS, ts)))
        assert cards(stack, ORDERS, ts) == []

        place, card_ts = await asked(stack, "book Oak", channel=PARTNERS)
        value = buttons(stack.slack.message(PARTNERS, card_ts) or {})["steward:approve"]
        for user in ("U02ERIK000", DANA):
            await submitted(stack, user, value, str(place), terms(), channel_id="C01PARTNER")
        await told(stack, "erik", "Guests, bots and people from other companies cannot decide on this.")
        await rest(stack)

        assert rooms.booked == []
        assert [m["ts"] for m in cards(stack, PARTNERS, place)] == [card_ts]


async def test_the_deny_list_beats_a_permission(valkey: Valkey) -> None:
    """F10's neighbour: what the operator switches off is off, whatever anybody allowed before."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms())
        await stack.stop_bot(stack.bots[0])
        await stack.bot(guardrails=Guardrails.load(PolicyFile.model_validate({"tools": {"deny": ["book_*"]}})))

        ts = await stack.slack.say("alice", ORDERS, "@steward book Oak")
        await stack.until(lambda: "Not booked." in texts(stack.own(ORDERS, ts)))
        await rest(stack)
        assert rooms.names == ["Oak"]


async def test_somebody_who_has_allowed_as_much_as_may_be_is_told_so(valkey: Valkey) -> None:
    """F10's neighbour: a bound on how much one person can leave unattended."""
    rooms, model = Rooms(), ScriptedModel(booking)
    async with running(valkey, model, registry=rooms.registry()) as stack:
        await always(stack, "book Oak", terms())
        client = connect(valkey.url, timeout=2.0)
        async with contextlib.aclosing(client):
            store = Grants(client, space=stack.slack.team_id)
            [(grant, _)] = await store.list(Actor(team_id=stack.slack.team_id, user_id=ALICE))
            for number in range(MAX_GRANTS - 1):
                await store.put(grant.model_copy(update={"id": f"more{number}"}))
        _, card_ts = await asked(stack, "book Elm")
        await stack.slack.click("alice", ORDERS, card_ts, "steward:always")
        await told(stack, "alice", "You have allowed as many kinds of calls as one person may.")

        assert stack.slack.view("alice") is None
        assert rooms.names == ["Oak"]
