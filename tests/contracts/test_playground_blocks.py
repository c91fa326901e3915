"""Block Kit checks: Slack's error shape, the limits, and agreement with the SDK's own models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from playground import seed
from playground.validate import check_blocks
from playground.views import ViewError, check_view
from tests.contracts.playground_kit import button, card, client_of, error_of, modal, opened, section

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def option(text: str = "o", value: str = "v") -> Json:
    return {"text": plain(text), "value": value}


def select(**more: Any) -> Json:
    return {"type": "static_select", "action_id": "s", "options": [option()], **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


async def test_a_refusal_has_slacks_shape() -> None:
    async with opened() as pg:
        body = await error_of(client_of(pg).chat_postMessage(channel=seed.GENERAL, text="x", blocks=[section("x" * 3001)]))

    assert body == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": ["must be less than 3001 characters [json-pointer:/blocks/0/text/text]"],
        "response_metadata": {"messages": ["[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"]},
    }


async def test_blocks_must_be_a_list_and_not_too_long_in_all() -> None:
    async with opened() as pg:
        client = client_of(pg)
        assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, text="x", blocks="abc")))["error"] == "invalid_blocks_format"
        many = [section("x" * 3000) for _ in range(5)]
        assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, text="x", blocks=many)))["error"] == "msg_blocks_too_long"
        assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, text="x", blocks=[section("x")] * 51)))["error"] == "invalid_blocks"
        posted = await client.chat_postMessage(channel=seed.GENERAL, text="x", blocks=[section("x"), actions({**button("a"), "action_id": "a"})])
        assert all(len(b["block_id"]) == 5 for b in posted["message"]["blocks"])


SIZES: list[tuple[str, int, Callable[[int], Json]]] = [
    ("section text", 3000, lambda n: section("x" * n)),
    ("fields", 10, lambda n: {"type": "section", "fields": [plain("x")] * n}),
    ("field text", 2000, lambda n: {"type": "section", "fields": [plain("x" * n)]}),
    ("header", 150, lambda n: {"type": "header", "text": plain("x" * n)}),
    ("context elements", 10, lambda n: {"type": "context", "elements": [plain("x")] * n}),
    ("actions elements", 25, lambda n: actions(*(button(f"a{i}") for i in range(n)))),
    ("button text", 75, lambda n: actions(button("a", text="x" * n))),
    ("button value", 2000, lambda n: actions(button("a", value="x" * n))),
    ("action_id", 255, lambda n: actions(button("x" * n))),
    ("block_id", 255, lambda n: {"type": "divider", "block_id": "x" * n}),
    ("options", 100, lambda n: actions(select(options=[option(value=str(i)) for i in range(n)]))),
    ("option text", 75, lambda n: actions(select(options=[option("x" * n)]))),
    ("overflow", 5, lambda n: actions({"type": "overflow", "action_id": "o", "options": [option(value=str(i)) for i in range(n)]})),
    ("checkboxes", 10, lambda n: actions({"type": "checkboxes", "action_id": "c", "options": [option(value=str(i)) for i in range(n)]})),
    ("placeholder", 150, lambda n: actions(select(placeholder=plain("x" * n)))),
    ("image alt text", 2000, lambda n: {"type": "image", "image_url": "https://e.example/a.png", "alt_text": "x" * n}),
    ("markdown", 12_000, lambda n: {"type": "markdown", "text": "x" * n}),
    (
        "confirm title",
        100,
        lambda n: actions({**button("a"), "confirm": {"title": plain("x" * n), "text": plain("t"), "confirm": plain("y"), "deny": plain("n")}}),
    ),
]


@pytest.mark.parametrize(("name", "limit", "make"), SIZES, ids=[name for name, _, _ in SIZES])
def test_each_limit_holds_exactly(name: str, limit: int, make: Callable[[int], Json]) -> None:
    assert check_blocks([make(limit)]).texts == []
    assert check_blocks([make(limit + 1)]).texts != []


@pytest.mark.parametrize(
    "block",
    [
        {"type": "section"},
        {"type": "nonsense"},
        {},
        "text",
        {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
        section(""),
        {**section("x"), "colour": "red"},
        {"type": "actions", "elements": []},
        {"type": "actions", "elements": [select(options=[])]},
        actions(button("same"), button("same")),
        {"type": "section", "text": "bare"},
        actions({**button("a"), "style": "loud"}),
        {"type": "context_actions", "elements": [button("a")]},
        {"type": "input", "label": plain("l")},
        actions({"type": "plain_text_input", "action_id": 5}),
    ],
    ids=str,
)
def test_malformed_blocks_are_problems_not_crashes(block: Any) -> None:
    assert check_blocks([block]).texts != []


def test_block_ids_are_unique_in_a_message() -> None:
    assert "already exists" in check_blocks([{**section("a"), "block_id": "b"}, {**section("b"), "block_id": "b"}]).texts[0]


@pytest.mark.parametrize(
    "block",
    [
        {
            "type": "context_actions",
            "elements": [
                {
                    "type": "feedback_buttons",
                    "action_id": "f",
                    "positive_button": {"text": plain("Good"), "value": "good"},
                    "negative_button": {"text": plain("Bad"), "value": "bad"},
                }
            ],
        },
        {"type": "task_card", "task_id": "t", "title": "Search", "status": "complete"},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]},
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}]},
        {"type": "alert", "text": plain("x"), "level": "warning"},
        {"type": "divider"},
    ],
    ids=lambda b: b["type"],
)
def test_the_newer_blocks_are_taken(block: Json) -> None:
    assert check_blocks([block]).texts == []


LENGTHS = st.sampled_from([0, 1, 74, 75, 76, 149, 150, 151, 255, 256, 1999, 2000, 2001, 2999, 3000, 3001])


@given(LENGTHS, LENGTHS, LENGTHS)
def test_what_the_sdks_models_refuse_is_refused_here_too(text: int, label: int, value: int) -> None:
    blocks: list[Json] = [section("x" * text), actions({**button("a", text="x" * label), "value": "x" * value}), {"type": "header", "text": plain("x" * label)}]
    for block in blocks:
        try:
            parsed = Block.parse(block)
            assert parsed is not None
            parsed.to_dict()
        except SlackObjectFormationError:
            assert check_blocks([block]).texts != []


@given(LENGTHS)
def test_what_the_sdks_view_model_refuses_is_refused_here_too(length: int) -> None:
    view = modal("x" * length)
    try:
        View(**view).to_dict()
    except SlackObjectFormationError:
        with pytest.raises(ViewError):
            check_view(view, ("modal",))


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"title": plain("x" * 25)}, "/view/title/text"),
        ({"private_metadata": "x" * 3001}, "/view/private_metadata"),
        ({"submit": None}, "submit"),
        ({"callback_id": "x" * 256}, "/view/callback_id"),
        ({"blocks": [section("x")] * 101}, "/view/blocks"),
        ({"type": "home"}, "/view"),
        ({"blocks": [{"type": "markdown", "text": "x"}]}, "/view/blocks/0/type"),
    ],
)
def test_view_limits_point_at_the_field(change: Json, pointer: str) -> None:
    with pytest.raises(ViewError) as caught:
        check_view(modal() | change, ("modal",))

    assert any(pointer in message for message in caught.value.messages)


async def test_a_card_keeps_its_ids_so_that_a_click_finds_them() -> None:
    async with opened() as pg:
        posted = await client_of(pg).chat_postMessage(channel=seed.GENERAL, text="x", blocks=card(button("approve")))

    assert posted["message"]["blocks"][1]["block_id"] == "card"
    assert posted["message"]["blocks"][1]["elements"][0]["action_id"] == "approve"
