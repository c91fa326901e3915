"""Typed text: what a composer makes of mentions, channels, links, code and quotes, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.richtext import blocks_of, elements_of
from playground.text import encode, escape, unescape

USERS = {"steward": "U1", "mei": "U2"}
CHANNELS = {"orders": "C1", "订单": "C2", "back-office": "C3"}


def typed(text: str, *, entities: bool = False) -> str:
    return encode(text, USERS.get, CHANNELS.get, entities=entities)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@steward hi", "<@U1> hi"),
        ("hi @steward.", "hi <@U1>."),
        ("@steward, @mei: now", "<@U1>, <@U2>: now"),
        ("请问@steward订单在哪", "请问<@U1>订单在哪"),
        ("mail me@steward.example", "mail me@steward.example"),
        ("@nobody", "@nobody"),
        ("@here and @channel", "<!here> and <!channel>"),
        ("see #orders and #nowhere", "see <#C1|orders> and #nowhere"),
        ("看#orders里的", "看<#C1|orders>里的"),
        ("#订单", "<#C2|订单>"),
        ("#back-office", "<#C3|back-office>"),
        ("https://e.example/a?b=1&c=2.", "<https://e.example/a?b=1&amp;c=2>."),
        ("(https://e.example/)", "(<https://e.example/>)"),
        ("看https://e.example/路径。好", "看<https://e.example/路径>。好"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("`@steward` and ```\n@steward <b>\n```", "`@steward` and ```\n@steward &lt;b&gt;\n```"),
        ("<@U1> typed", "&lt;@U1&gt; typed"),
        ("> @steward said", "&gt; <@U1> said"),
        ("*bold*", "*bold*"),
    ],
)
def test_typed_text_is_encoded_as_slack_does(text: str, expected: str) -> None:
    assert typed(text) == expected


def test_scripts_may_use_ready_made_mentions() -> None:
    assert typed("<@U1> in <#C1> & <b>", entities=True) == "<@U1> in <#C1> &amp; &lt;b&gt;"


@given(st.text())
def test_nothing_typed_breaks_the_encoder_or_forges_a_mention(text: str) -> None:
    encoded = encode(text, lambda name: None, lambda name: None)

    assert "<@" not in encoded
    assert isinstance(blocks_of(encoded, "b"), list)


@given(st.text())
def test_escaping_is_reversible(text: str) -> None:
    assert unescape(escape(text)) == text


def inline(text: str) -> list[dict[str, object]]:
    (sections,) = elements_of(text)
    found: list[dict[str, object]] = sections["elements"]
    return found


def test_rich_text_has_an_element_for_each_kind_of_inline() -> None:
    found = inline("a *b* _c_ ~d~ `e` <@U1> <#C1|orders> <!here> <https://e.example|label> <!subteam^S1> :wave::skin-tone-3:")

    assert [(e["type"], e.get("style")) for e in found if e.get("text") != " "] == [
        ("text", None),
        ("text", {"bold": True}),
        ("text", {"italic": True}),
        ("text", {"strike": True}),
        ("text", {"code": True}),
        ("user", None),
        ("channel", None),
        ("broadcast", None),
        ("link", None),
        ("usergroup", None),
        ("emoji", None),
    ]
    assert found[-1] == {"type": "emoji", "name": "wave", "skin_tone": 3}


def test_styles_nest_and_times_are_not_emoji() -> None:
    assert inline("*_both_*")[0]["style"] == {"bold": True, "italic": True}
    assert inline("at 10:30:00 ok") == [{"type": "text", "text": "at 10:30:00 ok"}]
    assert inline("snake_case_name and 2*3*4") == [{"type": "text", "text": "snake_case_name and 2*3*4"}]


def test_fences_quotes_and_lists_are_blocks_of_their_own() -> None:
    kinds = [e["type"] for e in elements_of("hello\n&gt; quoted\n• one\n• two\n1. first\n```\ncode *x* &lt;y&gt;\n```\nend")]

    assert kinds == ["rich_text_section", "rich_text_quote", "rich_text_list", "rich_text_list", "rich_text_preformatted", "rich_text_section"]
    code = elements_of("```\ncode *x* &lt;y&gt;\n```")[0]
    assert code["elements"] == [{"type": "text", "text": "code *x* <y>"}]
