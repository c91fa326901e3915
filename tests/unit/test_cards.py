"""What a card promises: it shows exactly what would run, or says what it leaves out; nothing in a value can dress up as the card."""

# ruff: noqa: E501 - tables of cases read best with one case, or one family of them, a line

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot.cards import CardInput, Cut, approval_card, decode_card, full_view, resolved_card
from bot.messages import MESSAGES
from bot.render import Rendered
from bot.state import Approval, Policy, Vote
from bot.visible import pieces, revealed, visible
from memory.keys import Actor
from tools.result import ErrorCode, Suggestion, ToolResult

APPROVAL = Approval(id="apr_1", digest="deadbeef" * 8, policy=Policy(always_for=3_600.0), expires_at=1_795_996_800.0)
SETTLED = ["approved", "started", "done", "failed", "denied", "expired", "superseded", "unknown", "stopped"]


def card(arguments: dict[str, Any], **changes: Any) -> CardInput:
    base = CardInput(
        approval=APPROVAL,
        tool_name="cancel_order",
        title="Cancel order",
        rows=list(arguments.items()),
        requested_by="U1",
        state="open",
        result=None,
        language="en",
    )
    return replace(base, **changes)


def elements(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from elements(child)
    elif isinstance(value, list):
        for child in value:
            yield from elements(child)


def texts(value: Any) -> list[str]:
    return [element["text"] for element in elements(value) if isinstance(element.get("text"), str)]


def check(shown: Rendered) -> Rendered:
    """Slack would take it."""
    for block in Block.parse_all(shown.blocks):
        block.validate_json()
    assert len(shown.blocks) <= 50
    assert sum(len(text.encode("utf-16-le")) // 2 for text in texts(shown.blocks)) <= 12_500
    assert len(json.dumps(shown.blocks, ensure_ascii=False).encode("utf-16-le")) // 2 <= 16_000
    ids = [block["block_id"] for block in shown.blocks if "block_id" in block]
    assert len(ids) == len(set(ids))
    assert 0 < len(shown.text) <= 3_000
    assert not re.search("[<>]", shown.text)
    json.dumps(shown.blocks).encode()
    for element in elements(shown.blocks):
        assert element.get("type") != "markdown"
        if element.get("type") == "plain_text":
            assert element["emoji"] is False
    return shown


def mrkdwn(shown: Rendered) -> str:
    return "\n".join(element["text"] for element in elements(shown.blocks) if element.get("type") == "mrkdwn")


def words(shown: Rendered) -> str:
    return "\n".join(texts(shown.blocks))


NASTY = st.one_of(
    st.text(max_size=80),
    st.text(alphabet=st.characters(categories=["Cf", "Cc", "Zs", "Zl", "Zp", "Cs", "Co", "Mn"]), max_size=20),
    st.lists(
        st.sampled_from(
            ["Approved ✅ by <@U2>", "\n", "\r", "\t", " ", "  ", "\u202e", "\u200b", "\ufeff", "⟨U+202E⟩", "⟨", "⟩", "↵", "↵\n", "*bold*", "`code`", "```", "<!channel>", "<https://evil.example|x>", "&amp;", ":smile:", "(empty text)", "cut: 5 more characters — View all", "\ud800", "\x00", "👩‍👩‍👧", "\ufe0f", "中文", "\u3164", "\u00a0"]
        ),
        max_size=10,
    ).map("".join),
    st.integers(500, 4_000).map(lambda n: "x" * n),
    st.integers(1, 900).map(lambda n: "\u200b" * n),
    st.integers(200, 1_200).map(lambda n: " " * n),
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(NASTY, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NASTY, inner, max_size=4)),
    max_leaves=6,
)
NAMES = st.one_of(
    st.from_regex(r"[a-z]{1,8}(_[a-z0-9]{1,8}){0,3}", fullmatch=True),
    NASTY,
    st.sampled_from(["Order id", "order_id", "Order", "order", "_x", "x__y", "orderId", "", "·", " "]),
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=8)


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@settings(max_examples=120, deadline=None)
@given(ARGUMENTS, st.sampled_from(["en", "zh"]), st.sampled_from(["open", "half", *SETTLED]))
def test_a_card_decodes_back_to_the_arguments_or_says_it_is_cut(arguments: dict[str, Any], language: str, state: str) -> None:
    given_card = card(arguments, language=language, state=state)
    shown = check(approval_card(given_card) if state in {"open", "half"} else resolved_card(given_card))

    decoded = decode_card(shown.blocks)

    if isinstance(decoded, Cut):
        assert decoded.left_out > 0
        assert re.search("cut: |已截断", words(shown))
        assert state in SETTLED or "steward:view" in [element.get("action_id") for element in elements(shown.blocks)]
    else:
        assert same(decoded, arguments)


@settings(max_examples=40, deadline=None)
@given(ARGUMENTS)
def test_the_whole_view_decodes_back_to_the_arguments(arguments: dict[str, Any]) -> None:
    view = full_view(card(arguments))

    View(**view).validate_json()
    assert len(view["blocks"]) <= 100
    assert len(json.dumps(view)) <= 250_000
    decoded = decode_card(view["blocks"])
    assert isinstance(decoded, Cut) or same(decoded, arguments)
    assert not isinstance(decoded, Cut) or any(len(visible(name)) > 2_000 for name in arguments) or "cut: " in json.dumps(view)


@settings(max_examples=60, deadline=None)
@given(ARGUMENTS)
def test_no_value_stands_where_slack_would_interpret_it(arguments: dict[str, Any]) -> None:
    shown = approval_card(card(arguments))

    assert mrkdwn(shown) == mrkdwn(approval_card(card({})))
    kinds = {element["type"] for element in elements(shown.blocks) if "type" in element}
    assert kinds <= {"header", "context", "actions", "button", "rich_text", "rich_text_section", "rich_text_preformatted", "plain_text", "mrkdwn", "text"}


@settings(max_examples=150, deadline=None)
@given(NASTY)
def test_what_is_made_visible_can_be_read_back(text: str) -> None:
    shown = visible(text)

    assert revealed(shown) == text
    assert all(char == "\n" or char.isprintable() for char in shown)
    assert "".join(revealed(piece) for piece, _ in pieces(text, 50)) == text
    assert all(len(piece.encode("utf-16-le")) // 2 <= 50 for piece, _ in pieces(text, 50))
    assert sum(count for _, count in pieces(text, 50)) == len(text)


def test_different_values_never_look_the_same() -> None:
    values = ["a", "a\u200b", "a ", " a", "a\n", "a↵", "a↵\n", "a⟨U+200B⟩", "a\u00a0", "a\t", "\u202ea", "a\u3164", "", "(empty text)", "a\ufe0f", "а"]
    seen = {json.dumps(approval_card(card({"x": value})).blocks[2]) for value in values}

    assert len(seen) == len(values)
    assert "⟨U+202E⟩" in words(approval_card(card({"x": "\u202eevil"})))


def test_two_objects_equal_in_their_first_2600_characters_give_two_different_cards() -> None:
    one, two = "x" * 2_600 + "a", "x" * 2_600 + "b"
    first = card({"text": one}, approval=APPROVAL.model_copy(update={"digest": "a" * 64, "id": "apr_a"}))
    second = card({"text": two}, approval=APPROVAL.model_copy(update={"digest": "b" * 64, "id": "apr_b"}))

    assert approval_card(first).blocks != approval_card(second).blocks
    assert "aaaaaaaa" in words(approval_card(first))
    assert "bbbbbbbb" in words(approval_card(second))
    assert same(decode_card(full_view(first)["blocks"]), {"text": one})


def test_five_kilobytes_and_a_long_name_still_make_a_card() -> None:
    big = card({"text": "字" * 5_000, "more": ["y" * 5_000]}, tool_name="t" * 120, title="T" * 200)
    shown = check(approval_card(big))

    assert "cut: 3,800 more characters — View all" in words(shown)
    assert isinstance(decode_card(shown.blocks), Cut)
    assert same(decode_card(full_view(big)["blocks"]), {"text": "字" * 5_000, "more": ["y" * 5_000]})
    assert "t" * 120 in words(shown)


def test_more_rows_than_fit_are_counted() -> None:
    many = card({f"argument_{n}": "v" * 50 for n in range(120)})
    shown = check(approval_card(many))
    count = re.search(r"cut: (\d+) more values", words(shown))

    assert count is not None
    assert int(count[1]) + len([block for block in shown.blocks if block.get("block_id", "").startswith("arg:")]) == 120
    assert decode_card(shown.blocks) == Cut(int(count[1]))


def test_a_view_beyond_slacks_limits_says_how_much_is_missing() -> None:
    view = full_view(card({"text": "字" * 200_000}))

    View(**view).validate_json()
    assert len(json.dumps(view)) <= 250_000
    decoded = decode_card(view["blocks"])
    shown = sum(text.count("字") for text in texts(view["blocks"]))
    assert decoded == Cut(200_000 - shown)
    assert f"{200_000 - shown:,}" in json.dumps(view)


def test_every_button_carries_the_opaque_id_and_nothing_else() -> None:
    buttons = [element for element in elements(approval_card(card({"x": "y" * 2_000})).blocks) if element.get("type") == "button"]

    assert [button["action_id"] for button in buttons] == [
        *("steward:approve", "steward:deny", "steward:deny_reason", "steward:edit", "steward:always", "steward:view")
    ]
    assert {button["value"] for button in buttons} == {"apr_1"}


def test_two_people_cannot_edit_and_half_says_who_approved() -> None:
    half = APPROVAL.model_copy(
        update={"policy": Policy(rule="two_people"), "votes": (Vote(actor=Actor(team_id="T1", user_id="U2"), verdict="approve", at=1_795_990_000.0),)}
    )
    shown = check(approval_card(card({"x": 1}, approval=half, state="half")))

    assert "steward:edit" not in [element.get("action_id") for element in elements(shown.blocks)]
    assert "Approved by <@U2>, <!date^1795990000^" in words(shown)
    assert "One more must approve" in words(shown)


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        (Policy(), "Only the person who asked"),
        (Policy(rule="users", users=("U7", "U8")), "<@U7> <@U8>"),
        (Policy(rule="usergroup", usergroup="S9"), "<!subteam^S9>"),
        (Policy(rule="two_people"), "Two people"),
        (Policy(rule="not_requester"), "Someone other"),
    ],
)
def test_the_card_says_who_asks_who_decides_and_until_when(policy: Policy, line: str) -> None:
    lines = mrkdwn(check(approval_card(card({"x": 1}, approval=APPROVAL.model_copy(update={"policy": policy})))))

    assert line in lines
    assert "Asked by <@U1>" in lines
    assert "<!date^1795996800^{date_short_pretty} {time}|2026-11-30 00:00 UTC>" in lines


def test_mended_arguments_are_pointed_out() -> None:
    assert "have been mended" in words(approval_card(card({"x": 1}, repaired=True)))


def failed(code: ErrorCode, message: str) -> ToolResult:
    return ToolResult.fail("cancel_order", code, message, Suggestion.GIVE_UP)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("state", SETTLED)
def test_a_settled_card_keeps_what_was_asked_and_has_no_buttons(state: str, language: str) -> None:
    votes = (
        Vote(
            actor=Actor(team_id="T1", user_id="U2"),
            verdict="deny" if state == "denied" else "approve",
            at=1_795_990_000.0,
            reason="no\u202e <!channel>" if state == "denied" else "",
        ),
    )
    shown = check(resolved_card(card({"order_id": "A-1"}, state=state, language=language, approval=APPROVAL.model_copy(update={"votes": votes}))))

    assert decode_card(shown.blocks) == {"order_id": "A-1"}
    assert not [element for element in elements(shown.blocks) if element.get("type") in {"button", "actions"}]
    assert MESSAGES[f"card_state_{state}"][language] in words(shown)
    assert MESSAGES[f"card_outcome_{state}"][language] in words(shown)
    assert "<@U2>" in mrkdwn(shown)
    assert "<!channel>" not in mrkdwn(shown)
    assert state != "denied" or "no⟨U+202E⟩ <!channel>" in words(shown)


@pytest.mark.parametrize(
    ("state", "result", "truth"),
    [
        ("failed", failed(ErrorCode.REFUSED, "already shipped"), "failed"),
        ("done", failed(ErrorCode.INTERNAL, "it broke"), "failed"),
        ("done", failed(ErrorCode.OUTCOME_UNKNOWN, "no answer"), "unknown"),
        ("failed", failed(ErrorCode.OUTCOME_UNKNOWN, "no answer"), "unknown"),
        ("unknown", failed(ErrorCode.OUTCOME_UNKNOWN, "no answer"), "unknown"),
        ("done", ToolResult.ok("cancel_order", {"x": 1}), "done"),
        ("started", None, "started"),
    ],
)
def test_a_card_says_what_really_happened(state: str, result: ToolResult | None, truth: str) -> None:
    shown = check(resolved_card(card({"x": 1}, state=state, result=result)))

    for name in SETTLED:
        assert (MESSAGES[f"card_outcome_{name}"]["en"] in words(shown)) is (name == truth)
    assert shown.text.startswith(MESSAGES[f"card_state_{truth}"]["en"])
    if result is not None and result.error_message:
        assert result.error_message in words(shown)


def test_a_long_error_message_is_cut_and_says_so() -> None:
    shown = check(resolved_card(card({}, state="failed", result=failed(ErrorCode.REFUSED, "z" * 5_000))))

    assert "cut: 4,400 more characters" in words(shown)


def test_names_are_made_human_and_odd_ones_shown_as_they_are() -> None:
    shown = words(approval_card(card({"shipping_address": "x", "orderId": "y", "Reason for it": "z"})))

    assert "Shipping address" in shown
    assert "orderId" in shown
    assert "Reason for it" in shown
