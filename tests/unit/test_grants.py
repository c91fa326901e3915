"""Standing permissions as values: what one covers to the letter, who may give one, and what the form, the card and the list say about it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot.always import FOR, PAGE, Asked, always_view, grants_list, read_always, times
from bot.approvals import Refusal, Ruling, judge
from bot.cards import CardInput, approval_card, resolved_card
from bot.events import Always, Decision, Person
from bot.grants import covers, fitting, from_decision, granted, matches, permitted, tool_digest
from bot.policy_file import Approvals, ToolApproval, Users
from bot.state import Approval, Call, Policy, Run, Status, Vote
from memory.grant import Grant, Used
from memory.keys import Actor, Thread
from tests.fakes.stack import buttons, shown
from tools.decorator import tool

NOW = 1_795_996_800.0
HERE = Thread(team_id="T1", channel_id="C1", thread_ts="1.1")
ALICE, BRUNO = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")
ARGUMENTS = {"room": "Oak", "seats": 4, "note": ""}
POLICY = Approvals().policy_for("book_room", default_expiry=600)


@tool(effect="write")
async def book_room(
    room: Annotated[str, Field(description="Name of the place on the door, e.g. Oak")],
    seats: Annotated[int, Field(description="Number of people who come")] = 4,
    note: Annotated[str, Field(description="Anything the host should know")] = "",
) -> str:
    """Book one meeting room for the person who asks. Not for cancelling."""
    return f"{room}{seats}{note}"


def waiting(policy: Policy = POLICY, **changes: Any) -> Call:
    approval = Approval(id="apr_123456789", digest="d", policy=policy, expires_at=NOW + 600, card_ts="2.2", shown="open")
    return Call(id="c1", tool="book_room", arguments=ARGUMENTS, effect="write", status=Status.WAITING, approval=approval, **changes)


def run_of(call: Call, actor: Actor = ALICE) -> Run:
    return Run(id="r1", requested_by=actor, started_at=NOW, active_since=NOW, calls=(call,))


def click(always: Always | None, actor: Actor = ALICE, **changes: Any) -> Decision:
    values: dict[str, Any] = {"verdict": "approve", "person": Person(), "message_ts": ""} | changes
    return Decision(thread=HERE, key="k", actor=actor, approval_id="apr_123456789", always=always, **values)


def ruled(call: Call, event: Decision, actor: Actor = ALICE) -> Refusal | Ruling:
    return judge(run_of(call, actor), call, event, team_id="T1", now=NOW, language="en")


def made(always: Always) -> Grant:
    """The grant that comes of a click with `always` on the card."""
    call = waiting()
    ruling = ruled(call, click(always))
    assert isinstance(ruling, Ruling)
    grant = from_decision(call.model_copy(update={"approval": ruling.approval}), book_room, HERE, title="Book room")
    assert grant is not None
    return grant


GRANT = made(Always(pattern={"room": "Oak"}, expires_after=3_600))


def fits(grant: Grant = GRANT, arguments: Any = ARGUMENTS, **where: Any) -> bool:
    values: dict[str, Any] = {"thread": HERE, "actor": ALICE, "now": NOW} | where
    return matches(grant, where.pop("tool", book_room), arguments, **{key: values[key] for key in ("thread", "actor", "now")})


# --- what one covers -------------------------------------------------------------------------------------------------


def test_a_grant_covers_the_same_tool_person_and_channel_in_every_thread() -> None:
    assert fits()
    assert fits(thread=Thread(team_id="T1", channel_id="C1", thread_ts="9.9"))
    assert fits(arguments={"room": "Oak", "seats": 9, "note": "other"})


@pytest.mark.parametrize(
    "changed",
    [
        {"actor": BRUNO},
        {"actor": Actor(team_id="T2", user_id="U1")},
        {"thread": Thread(team_id="T1", channel_id="C2", thread_ts="1.1")},
        {"thread": Thread(team_id="T2", channel_id="C1", thread_ts="1.1")},
        {"now": NOW + 3_600},
        {"arguments": {"room": "Elm", "seats": 4, "note": ""}},
        {"arguments": {"room": "oak", "seats": 4, "note": ""}},
        {"arguments": {"room": "Oak ", "seats": 4, "note": ""}},
        {"arguments": {"seats": 4, "note": ""}},
        {"arguments": {"room": "Oak", "seats": 4, "note": "", "force": True}},
        {"tool": replace(book_room, name="book_rooms")},
        {"tool": replace(book_room, description="Book all rooms there are, for everyone.")},
        {"tool": replace(book_room, version="2")},
        {"tool": replace(book_room, effect="read")},
    ],
)
def test_anything_else_is_not_covered(changed: dict[str, Any]) -> None:
    assert not fits(**changed)


def test_another_schema_makes_another_tool_of_it() -> None:
    @tool(effect="write")
    async def book_room(
        room: Annotated[str, Field(description="Name of the place on the door, e.g. Oak")],
        seats: Annotated[int, Field(description="Number of people who come", le=99)] = 4,
        note: Annotated[str, Field(description="Anything the host should know")] = "",
    ) -> str:
        """Book one meeting room for the person who asks. Not for cancelling."""
        return f"{room}{seats}{note}"

    assert not fits(tool=book_room)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, -1.5]) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("abc"), JSON_VALUES), st.dictionaries(st.sampled_from("abc"), JSON_VALUES))
def test_a_pattern_covers_exactly_the_arguments_that_have_its_values_to_the_type(pattern: dict[str, Any], arguments: dict[str, Any]) -> None:
    expected = all(name in arguments and json.dumps(arguments[name], sort_keys=True) == json.dumps(value, sort_keys=True) for name, value in pattern.items())

    assert covers(pattern, arguments) is expected
    assert covers(arguments, arguments)


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, ""), ([], {}), ("e\u0301", "é")])
def test_values_that_only_look_alike_are_not_the_same(one: Any, other: Any) -> None:
    assert not covers({"x": one}, {"x": other})


def test_of_several_that_fit_the_one_that_lasts_longest_allows_the_call() -> None:
    longer, other = (
        GRANT.model_copy(update={"id": "b", "expires_at": NOW + 9_000}),
        GRANT.model_copy(update={"id": "c", "expires_at": NOW + 99_000, "pattern": {"room": "Elm"}}),
    )

    assert fitting([GRANT, longer, other], book_room, ARGUMENTS, thread=HERE, actor=ALICE, now=NOW) == longer
    assert fitting([other], book_room, ARGUMENTS, thread=HERE, actor=ALICE, now=NOW) is None


def test_a_granted_call_has_an_approval_that_lasts_as_long_as_its_grant() -> None:
    assert granted(GRANT, POLICY, approval_id="a2", digest="d2") == Approval(id="a2", digest="d2", policy=POLICY, expires_at=GRANT.expires_at, grant=GRANT.id)


# --- who may give one ------------------------------------------------------------------------------------------------

HOUR = Always(pattern={"room": "Oak"}, expires_after=3_600)


def test_the_click_becomes_a_grant_of_its_person_until_its_time_is_over() -> None:
    assert (
        Grant(
            id="apr_123456789",
            actor=ALICE,
            channel_id="C1",
            tool="book_room",
            title="Book room",
            tool_digest=tool_digest(book_room),
            pattern={"room": "Oak"},
            anything=("note", "seats"),
            created_at=NOW,
            expires_at=NOW + 3_600,
        )
        == GRANT
    )


def test_a_click_without_it_grants_nothing() -> None:
    call = waiting()
    ruling = ruled(call, click(None))

    assert isinstance(ruling, Ruling)
    assert ruling.approval.always is None
    assert from_decision(call.model_copy(update={"approval": ruling.approval}), book_room, HERE) is None


@pytest.mark.parametrize(
    ("always", "changes"),
    [
        (Always(pattern={"room": "Elm"}, expires_after=3_600), {}),  # not what was shown
        (Always(pattern={"seats": 4.0}, expires_after=3_600), {}),
        (Always(pattern={"other": 1}, expires_after=3_600), {}),
        (Always(pattern={}, expires_after=POLICY.always_for + 1), {}),
        (Always(pattern={}, expires_after=0), {}),
        (Always(pattern={}, expires_after=-5), {}),
        (Always(pattern={}, expires_after=float("inf")), {}),
        (Always(pattern={}, expires_after=float("nan")), {}),
        (HOUR, {"verdict": "deny"}),
        (HOUR, {"verdict": "edit", "arguments": ARGUMENTS}),
    ],
)
def test_a_permission_that_goes_beyond_what_was_shown_or_is_possible_is_refused_and_nothing_is_approved(always: Always, changes: dict[str, Any]) -> None:
    refusal = ruled(waiting(), click(always, **changes))

    assert isinstance(refusal, Refusal)
    assert refusal.text.startswith("That kind of permission cannot be given here.")


@pytest.mark.parametrize(
    ("actor", "person"),
    [
        (BRUNO, Person()),
        (ALICE, Person(is_guest=True)),
        (ALICE, Person(is_foreign=True)),
        (ALICE, Person(is_bot=True)),
        (ALICE, None),
        (Actor(team_id="T2", user_id="U1"), Person()),
    ],
)
def test_only_the_full_member_who_asked_may_give_one(actor: Actor, person: Person | None) -> None:
    assert isinstance(ruled(waiting(), click(HOUR, actor, person=person)), Refusal)


@pytest.mark.parametrize(
    "approvals",
    [
        Approvals(always_allow=False),
        Approvals(tools={"book_room": ToolApproval(always_allow=False)}),
        Approvals(policy="two_people"),
        Approvals(policy="not_requester"),
        Approvals(policy=Users(users=("U1",))),
        Approvals(always_allow_max=3_599),
    ],
)
def test_where_the_operator_or_the_policy_says_no_there_is_none(approvals: Approvals) -> None:
    policy = approvals.policy_for("book_room", default_expiry=600)

    assert not permitted(policy, 3_600)
    assert isinstance(ruled(waiting(policy), click(HOUR, BRUNO if policy.rule == "not_requester" else ALICE)), Refusal)


def test_one_tool_may_have_what_the_others_have_not() -> None:
    approvals = Approvals(always_allow=False, always_allow_max=60, tools={"book_room": ToolApproval(always_allow=True)})

    assert approvals.policy_for("book_room", default_expiry=1).always_for == 60
    assert approvals.policy_for("other", default_expiry=1).always_for == 0


def test_a_saved_approval_that_claims_more_than_its_policy_grants_nothing() -> None:
    vote = Vote(actor=ALICE, verdict="approve", at=NOW)
    approval = waiting().approval
    assert approval is not None
    for update in ({"policy": Policy()}, {"votes": ()}, {"edited": True}, {"votes": (vote.model_copy(update={"verdict": "deny"}),)}):
        claimed = approval.model_copy(update={"always": HOUR, "votes": (vote,)} | update)
        assert from_decision(waiting().model_copy(update={"approval": claimed}), book_room, HERE) is None


# --- the form --------------------------------------------------------------------------------------------------------


def asked(arguments: dict[str, Any], **changes: Any) -> Asked:
    values: dict[str, Any] = {"longest": POLICY.always_for, "timezone": "Asia/Shanghai", "language": "en", "words": {}}
    return Asked(approval_id="a1", thread=HERE, user_id="U1", title="Book room", arguments=arguments, now=NOW, **(values | changes))


def select(value: str) -> dict[str, Any]:
    return {"value": {"type": "static_select", "selected_option": {"text": {"type": "plain_text", "text": "…"}, "value": value}}}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_form_says_what_where_for_whom_and_until_when(language: str) -> None:
    view = always_view(asked(ARGUMENTS, language=language))

    View(**view).validate_json()
    text = json.dumps(view, ensure_ascii=False)
    for words in ("Book room", "<@U1>", "<#C1>", "Oak", "/steward grants", "2026-11-30 09:00", "2026-12-30 08:00"):
        assert words in text
    assert ("*without asking*" if language == "en" else "不再询问") in text
    initial = [block["element"]["initial_option"]["value"] for block in view["blocks"] if block["type"] == "input"]
    assert initial == ["exact", "exact", "exact", "3600"]


def test_what_is_submitted_untouched_holds_every_value_fast() -> None:
    values = {f"always:{n}": select("exact") for n in range(3)} | {FOR: select("86400")}

    assert read_always(ARGUMENTS, values, POLICY.always_for) == Always(pattern=ARGUMENTS, expires_after=86_400)
    assert read_always(ARGUMENTS, values | {"always:1": select("any"), "always:2": select("ANY")}, POLICY.always_for) == Always(
        pattern={"room": "Oak", "note": ""}, expires_after=86_400
    )


@pytest.mark.parametrize(
    "chosen", [{}, {FOR: {}}, {FOR: select("")}, {FOR: select("1")}, {FOR: select("2592001")}, {FOR: select("-3600")}, {FOR: select("inf")}]
)
def test_a_time_that_was_not_offered_is_refused(chosen: dict[str, Any]) -> None:
    assert read_always(ARGUMENTS, chosen, POLICY.always_for) is None


@pytest.mark.parametrize(
    ("longest", "offered"), [(30 * 86_400, [3_600, 86_400, 604_800, 2_592_000]), (86_400, [3_600, 86_400]), (86_399, [3_600]), (90, [90]), (5, [5])]
)
def test_the_times_stop_at_what_the_operator_allows(longest: float, offered: list[int]) -> None:
    assert times(longest) == offered
    View(**always_view(asked(ARGUMENTS, longest=longest))).validate_json()


@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text(max_size=30), JSON_VALUES | st.integers(0, 4_000).map(lambda n: "长" * n) | st.integers(0, 3_000).map(lambda n: "\u200b" * n), max_size=60
    )
)
def test_slack_takes_the_form_for_any_arguments_and_what_is_not_in_it_is_held_fast(arguments: dict[str, Any]) -> None:
    view = always_view(asked(arguments, language="zh"))

    View(**view).validate_json()
    assert len(view["blocks"]) <= 100
    assert len(json.dumps(view)) <= 250_000
    ids = [block["block_id"] for block in view["blocks"] if "block_id" in block]
    assert len(ids) == len(set(ids))
    inputs = [block_id for block_id in ids if block_id.removeprefix("always:").isdecimal()]
    always = read_always(arguments, {block_id: select("any") for block_id in inputs} | {FOR: select("3600")}, POLICY.always_for)
    assert always is not None
    assert len(always.pattern) == len(arguments) - len(inputs)


def test_a_value_cannot_dress_up_as_the_form() -> None:
    text = json.dumps(
        [block for block in always_view(asked({"x": "<!channel> *Approved* <@U2>\u202e"}))["blocks"] if block.get("text", {}).get("type") == "mrkdwn"]
    )

    assert "channel>" not in text
    assert "Approved" not in text


# --- the card --------------------------------------------------------------------------------------------------------


def card(approval: Approval, state: str, **changes: Any) -> CardInput:
    values: dict[str, Any] = {"title": "Book room", "rows": list(ARGUMENTS.items()), "language": "en"} | changes
    return CardInput(approval=approval, tool_name="book_room", requested_by="U1", state=state, result=None, **values)


def test_a_card_offers_it_only_where_it_may_be_given() -> None:
    for policy, there in ((POLICY, True), (Policy(), False), (Approvals(policy="two_people").policy_for("x", default_expiry=1), False)):
        approval = waiting(policy).approval
        assert approval is not None
        assert ("steward:always" in buttons({"blocks": approval_card(card(approval, "open")).blocks})) is there


@pytest.mark.parametrize(("language", "words"), [("en", "Allowed by a standing permission of <@U1>"), ("zh", "由 <@U1> 的长期授权允许")])
def test_the_record_of_a_granted_call_says_whose_permission_it_was_and_until_when(language: str, words: str) -> None:
    record = resolved_card(card(granted(GRANT, POLICY, approval_id="a2", digest="d" * 64), "done", language=language))

    text = shown({"blocks": record.blocks})
    assert words in text
    assert f"<!date^{int(GRANT.expires_at)}^" in text
    assert "/steward grants" in text
    assert buttons({"blocks": record.blocks}) == {}
    for block in Block.parse_all(record.blocks):
        block.validate_json()


@pytest.mark.parametrize(("same", "words"), [(("Room", "Note"), "As long as these stay the same: Room, Note"), ((), "With any values.")])
def test_the_card_of_the_call_that_brought_it_says_what_was_allowed_besides(same: tuple[str, ...], words: str) -> None:
    ruling = ruled(waiting(), click(HOUR))
    assert isinstance(ruling, Ruling)

    text = shown({"blocks": resolved_card(card(ruling.approval, "done", same=same)).blocks})

    assert f"<@U1> also allows such calls of their own in this channel until <!date^{int(NOW + 3_600)}^" in text
    assert words in text


# --- the list --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_shows_each_grant_with_its_place_time_use_and_a_button(language: str) -> None:
    rendered = grants_list([(GRANT, Used(times=3, last=NOW + 60)), (GRANT.model_copy(update={"id": "b" * 20, "channel_id": "D1"}), Used())], language)

    text = shown({"blocks": rendered.blocks})
    for words in (
        "Book room",
        "apr_1234",
        "Room",
        "Oak",
        "<#C1>",
        f"<!date^{int(NOW + 3_600)}^",
        " 3 ",
        f"<!date^{int(NOW + 60)}^",
        "/steward revoke apr_1234",
    ):
        assert words in text
    assert [element["accessory"]["value"] for element in rendered.blocks if "accessory" in element] == ["apr_123456789", "b" * 20]


@settings(max_examples=30)
@given(
    st.lists(
        st.dictionaries(st.text(max_size=40), JSON_VALUES | st.text(max_size=400) | st.integers(0, 900).map(lambda n: "\u200b" * n), max_size=9),
        max_size=2 * PAGE + 3,
    )
)
def test_slack_takes_the_list_however_long_it_is(patterns: list[dict[str, Any]]) -> None:
    found = [
        (GRANT.model_copy(update={"id": f"{n:020d}", "pattern": pattern, "title": "长" * 300}), Used(times=10**6, last=NOW))
        for n, pattern in enumerate(patterns)
    ]
    for page in (0, 1, 2, 3, 99):
        rendered = grants_list(found, "en", page=page, note="Revoked: x")
        for block in Block.parse_all(rendered.blocks):
            block.validate_json()
        assert len(rendered.blocks) <= 50
        texts = [len(element["text"]["text"]) for element in rendered.blocks if "text" in element]
        assert sum(texts) <= 12_000
        assert all(length <= 3_000 for length in texts)


def test_a_long_list_has_pages_that_follow_each_other() -> None:
    found = [(GRANT.model_copy(update={"id": f"{n:020d}"}), Used()) for n in range(2 * PAGE + 1)]
    pages = [grants_list(found, "en", page=page) for page in (1, 2, 3)]

    seen = [block["accessory"]["value"] for page in pages for block in page.blocks if "accessory" in block]
    assert seen == [grant.id for grant, _ in found]
    assert "`/steward grants 2`" in shown({"blocks": pages[0].blocks})
    assert "`/steward grants 1`" in shown({"blocks": pages[2].blocks})


def test_an_empty_list_says_so() -> None:
    assert "I ask before every change" in shown({"blocks": grants_list([], "en").blocks})
