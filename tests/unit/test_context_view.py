"""What is held about a thread fits on Slack's screen whatever it is, says what is cut, and nothing that people wrote is interpreted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.context_commands import MemoryClick, Place, linked, memory_click, memory_form, menu
from bot.context_view import OTHERS, Reader, bar, context_message, context_modal, line_modal, moment, one_line, reset_message, reset_modal
from bot.gate import Identity
from bot.render import Rendered
from bot.shape import readable
from memory.keys import Thread
from memory.session_memory import SECTIONS, Fact, Summary
from playground.validate import TOTAL_CHARS, check_blocks
from playground.views import check_view
from tests.fakes.stack import buttons, shown

THREAD = Thread(team_id="T01NORTHWD", channel_id="C01ORDERS0", thread_ts="1790000001.000200")
EN, ZH = Reader("en", "Europe/Berlin"), Reader("zh", "Asia/Shanghai")
HOSTILE = [
    "<!channel>",
    "<@U01ALICE00>",
    "*bold* _it_ ~no~ `code`",
    "[click](https://evil.example)",
    "<https://evil.example|bank>",
    "abc\u202edcba\u202c",
    "a\u200bb",
]


@dataclass(frozen=True)
class Known:
    thread: Thread = THREAD
    summary: Summary = field(default_factory=Summary)
    facts: tuple[Fact, ...] = ()
    window: int = 100_000
    used: Mapping[str, int] = field(default_factory=lambda: {"system": 1_000, "long_term": 0, "session": 15_500, "current": 10, "answer": 0})
    allotted: Mapping[str, int] = field(default_factory=lambda: {"system": 10_000, "long_term": 15_000, "session": 50_000, "current": 5_000, "answer": 20_000})
    verbatim: int = 12
    covered: int = 0
    compacted_at: float = 0.0
    by: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    partial: bool = False
    title: str = "Where is order 4711?"


LONG = Known(
    summary=Summary(
        goals=("Deliver order 4711",),
        decisions=("Ship with the blue van",),
        said=("Ana: the budget is fixed",),
        identifiers=("PO-2231", "https://x.example/a?b=1"),
        more=3,
    ),
    facts=(Fact(key="deadline", value="Friday", before="Thursday", name="Ana", ts="1790000001.000200"), Fact(key="预算", value="3 万")),
    covered=230,
    compacted_at=1_790_000_000.0,
    by="model",
    tokens_before=12_345,
    tokens_after=2_345,
    partial=True,
)


def fits(message: Rendered) -> None:
    """It is what Slack takes in a message, all characters of its JSON counted."""
    problems = check_blocks(message.blocks)
    assert problems.texts == []
    assert problems.chars <= TOTAL_CHARS
    assert len(json.dumps(message.blocks, ensure_ascii=False).encode("utf-16-le")) // 2 <= TOTAL_CHARS


def read(message: Rendered) -> str:
    return shown({"blocks": message.blocks})


def interpreted(node: Any) -> list[str]:
    """Every text in which Slack would interpret something, and every live link or mention."""
    if isinstance(node, list):
        return [each for child in node for each in interpreted(child)]
    if not isinstance(node, dict):
        return []
    own = [str(node.get("text", node))] if node.get("type") in {"mrkdwn", "markdown", "link", "user", "usergroup", "broadcast", "channel", "emoji"} else []
    own += ["emoji"] if node.get("type") == "plain_text" and node.get("emoji") is not False else []
    return own + [each for child in node.values() for each in interpreted(child)]


def test_all_that_is_held_is_shown() -> None:
    said = read(context_message(LONG, EN))
    for words in (
        "Where is order 4711?",
        "Messages carried word by word: 12; earlier ones summarised: 230.",
        "by the model: 12,345 → 2,345 tokens",
        "2026-09-21 16:13",
        "Only a part of this thread's earlier messages",
        "Deliver order 4711",
        "Ship with the blue van",
        "Ana: the budget is fixed",
        "PO-2231",
        "and 3 more that search",
        "deadline",
        "Friday",
        "was: Thursday",
        "— Ana · 2026-09-21 16:13",
        "预算",
        "▓▓▓░░░░░░░  31 %  this thread · 15,500 of 50,000 tokens",
        "▓▓░░░░░░░░  17 %  in all · 16,510 of 100,000 tokens",
    ):
        assert words in said, words
    fits(context_message(LONG, EN))


def test_it_is_said_in_chinese_to_who_reads_chinese() -> None:
    said = read(context_message(LONG, ZH))
    for words in ("逐字保留 12 条消息，更早的 230 条已写入摘要", "由模型撰写", "2026-09-21 22:13", "关键事实", "原为：Thursday", "本消息列", "合计"):
        assert words in said, words
    fits(context_message(LONG, ZH))
    assert "忘记全部 242 条消息、摘要和 2 条关键事实" in read(reset_message(LONG, ZH))


def test_a_short_thread_says_that_nothing_is_summarised() -> None:
    said = read(context_message(Known(), EN))
    assert "Messages carried word by word: 12, which is all of them." in said
    assert "Nothing had to be summarised yet." in said
    assert "No key facts yet." in said
    assert "Summary of what came before" not in said


BARS = [(0, 100, "░░░░░░░░░░   0 %"), (1, 1000, "▓░░░░░░░░░   0 %"), (31, 100, "▓▓▓░░░░░░░  31 %"), (150, 100, "▓▓▓▓▓▓▓▓▓▓ 150 %"), (0, 0, "░░░░░░░░░░   0 %")]


@pytest.mark.parametrize(("used", "allotted", "drawn"), BARS)
def test_a_bar_shows_how_full_a_share_is(used: int, allotted: int, drawn: str) -> None:
    assert bar(used, allotted) == drawn


@pytest.mark.parametrize("text", HOSTILE, ids=[f"text{n}" for n in range(len(HOSTILE))])
def test_nothing_that_people_or_the_model_wrote_is_interpreted(text: str) -> None:
    sections: dict[str, Any] = dict.fromkeys(SECTIONS, (text,))
    held = replace(LONG, title=text, summary=Summary(**sections, identifiers=(text,)), facts=(Fact(key=text, value=text, before=text, name=text, ts=text),))
    other = (Thread(team_id="T01NORTHWD", channel_id="C01ORDERS0", thread_ts="1.1"), 1_790_000_000.0, text)
    for message in (context_message(held, EN, [other]), reset_message(held, EN, [other])):
        fits(message)
        assert interpreted(message.blocks) == []
        assert text not in message.text
        said = json.dumps(message.blocks, ensure_ascii=False)
        assert "\u202e" not in said
        assert "\u200b" not in said
    for view in (context_modal(held, EN), reset_modal(held, EN)):
        check_view(view, ("modal",))
        assert interpreted(view["blocks"]) == []


@pytest.mark.parametrize("letter", ["x", "字", "😀", "\u202e", '"'], ids=["ascii", "han", "emoji", "bidi", "quote"])
def test_however_much_is_held_it_fits_and_the_cut_is_said(letter: str) -> None:
    long = letter * 10_000
    many = tuple(f"{n}{letter * 250}" for n in range(100))
    sections: dict[str, Any] = dict.fromkeys(SECTIONS, many)
    held = replace(
        LONG,
        title=long,
        facts=tuple(Fact(key=f"{n} {long}", value=long, before=long, name=long, ts="1790000001.000200") for n in range(60)),
        summary=Summary(**sections, identifiers=(long, *many), more=10_000_000),
    )
    others = [(Thread(team_id="T01NORTHWD", channel_id="C01ORDERS0", thread_ts=f"{n}.1"), 1_790_000_000.0, long) for n in range(30)]
    message = context_message(held, EN, others)
    fits(message)
    fits(reset_message(held, EN, others))
    assert read(message).count("do not fit here") == 2
    options = next(block["accessory"]["options"] for block in message.blocks if "accessory" in block)
    assert len(options) == OTHERS
    view = context_modal(held, EN)
    check_view(view, ("modal",))
    assert len(json.dumps(view)) < 250_000
    check_view(reset_modal(held, ZH), ("modal",))


def test_a_modal_shows_more_than_a_message() -> None:
    held = replace(LONG, summary=Summary(goals=tuple(f"goal {n} {'x' * 200}" for n in range(60))))
    message, view = context_message(held, EN), context_modal(held, EN)
    assert "goal 59" not in read(message)
    assert "do not fit here" in read(message)
    assert "goal 59" in shown(view)
    assert "do not fit here" not in shown(view)


def test_the_facts_have_room_beside_a_long_summary() -> None:
    held = replace(LONG, summary=Summary(goals=("x" * 290,) * 100))
    assert "deadline" in read(context_message(held, EN))


def test_only_who_may_clear_a_memory_is_offered_that() -> None:
    assert buttons({"blocks": context_message(LONG, EN).blocks}) == {"steward:memory:forget": f"en {THREAD.id}"}
    guest = replace(EN, may_reset=False)
    assert buttons({"blocks": context_message(LONG, guest).blocks}) == {}
    assert "submit" not in context_modal(LONG, guest)
    assert set(buttons({"blocks": reset_message(LONG, EN).blocks})) == {"steward:memory:forget", "steward:memory:keep"}


@pytest.mark.parametrize("reader", [EN, ZH], ids=["en", "zh"])
def test_forgetting_asks_once_more(reader: Reader) -> None:
    actions = reset_message(LONG, reader).blocks[-1]["elements"]
    assert actions[0]["confirm"]["style"] == "danger"
    check_view(line_modal("text", reader.language), ("modal",))


def test_an_unknown_zone_and_a_time_that_is_none_do_no_harm() -> None:
    assert moment(1_790_000_000.0, "Mars/Olympus") == "2026-09-21 14:13"
    assert moment(1e30, "UTC") == "?"
    held = replace(LONG, facts=(Fact(key="a", value="b", ts="9" * 40), Fact(key="c", value="d", ts="no")))
    fits(context_message(held, EN))


@given(st.text(max_size=400), st.integers(10, 300))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line.encode("utf-16-le", "surrogatepass")) // 2 <= limit
    assert "\u202e" not in line


LINKS = {
    "https://acme.slack.com/archives/C01ORDERS0/p1790000001000200": Place("C01ORDERS0", ("1790000001.000200",)),
    "<https://acme.slack.com/archives/C01ORDERS0/p1790000002000100?thread_ts=1790000001.000200&amp;cid=C01ORDERS0>": Place(
        "C01ORDERS0", ("1790000001.000200",)
    ),
    "<https://acme.slack.com/archives/C01ORDERS0/p1790000002000100?thread_ts=1790000001.000200&cid=C01ORDERS0|there>": Place(
        "C01ORDERS0", ("1790000001.000200",)
    ),
    "https://acme.slack.com/archives/D01DIRECT1/p1790000001000200": Place("D01DIRECT1", ("1790000001.000200", "")),
    "https://acme.slack.com/archives/D01DIRECT1/p1790000002000100?thread_ts=1790000001.000200": Place("D01DIRECT1", ("1790000001.000200",)),
    "https://app.slack.com/client/T01NORTHWD/C01ORDERS0/thread/C01ORDERS0-1790000001.000200": Place("C01ORDERS0", ("1790000001.000200",)),
    "https://acme.slack.com/archives/C01ORDERS0/p1790000002000100?thread_ts=1790000001.000200&cid=C01LEADS00": None,
    "https://acme.slack.com/archives/C01ORDERS0/p1790000002000100?thread_ts=x:y": None,
    "https://acme.slack.com/archives/C01ORDERS0": None,
    "https://acme.slack.com/archives/C01:RDERS0/p1790000002000100": None,
    "https://[": None,
    "javascript:/archives/C01ORDERS0/p1790000002000100": None,
    "words": None,
    "": None,
}


@pytest.mark.parametrize(("link", "place"), LINKS.items(), ids=[f"link{n}" for n in range(len(LINKS))])
def test_a_link_names_a_thread_or_nothing(link: str, place: Place | None) -> None:
    assert linked(link) == place


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_of_links(text: str) -> None:
    assert linked(text) is None
    found = linked(f"https://a.slack.com/archives/C1/p1790000002000100?{text}")
    assert found is None or found.channel_id == "C1"


# --- what Slack sends --------------------------------------------------------------------------------------------------

ME = Identity("T01NORTHWD", "U01STEWARD", "B01STEWARD")


def click(action_id: str = "steward:memory:forget", value: Any = f"zh {THREAD.id}", **more: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": ME.team_id},
        "channel": {"id": "C01GENERAL"},
        "container": {"message_ts": "9.9", "channel_id": "C01GENERAL", "is_ephemeral": True},
        "response_url": "https://hooks.slack.com/actions/T1/1/x",
        "actions": [{"action_id": action_id, "action_ts": "9.9", **({"selected_option": {"value": value}} if "pick" in action_id else {"value": value})}],
    } | more


@pytest.mark.parametrize("what", ["pick", "pick_reset", "forget", "keep"])
def test_a_click_says_which_thread_it_is_about_and_where_it_was_made(what: str) -> None:
    read = memory_click(click(f"steward:memory:{what}"), ME)
    assert isinstance(read, MemoryClick)
    assert (read.what, read.thread, read.language, read.channel_id, read.actor.user_id) == (what, THREAD, "zh", "C01GENERAL", "U1")


def test_clicks_on_one_message_are_one_wish_and_on_another_a_new_one() -> None:
    first, again = memory_click(click(), ME), memory_click(click(), ME)
    other = memory_click(click(container={"message_ts": "9.10"}), ME)
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.key == again.key != other.key


def test_other_buttons_and_forms_are_not_about_memory() -> None:
    assert memory_click(click("steward:approve"), ME) is None
    assert memory_form({"view": {"callback_id": "steward:edit"}}, ME) is None


FORGED = [
    "",
    "en",
    "en T1",
    f"en {THREAD.id}:1",
    "en T02PARTNER:C01ORDERS0:1.1",
    "en T01NORTHWD::1.1",
    "en T01NORTHWD:C 1:1.1",
    "en T01NORTHWD:C1:x",
    "en " + "T" * 200,
]


@pytest.mark.parametrize("value", FORGED, ids=[f"value{n}" for n in range(len(FORGED))])
def test_a_value_that_names_no_thread_of_this_workspace_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        memory_click(click(value=value), ME)
    private = json.dumps({"s": value.removeprefix("en ")})
    with pytest.raises(ValueError):
        memory_form({"user": {"id": "U1"}, "view": {"id": "V1", "callback_id": "steward:memory", "private_metadata": private}}, ME)


def test_only_a_whole_message_action_is_let_in() -> None:
    whole = {
        "type": "message_action",
        "callback_id": "steward_context",
        "trigger_id": "1.2.x",
        "user": {"id": "U1", "team_id": ME.team_id},
        "channel": {"id": "C01ORDERS0"},
        "message": {"ts": "1790000002.000100", "thread_ts": "1790000001.000200"},
    }
    assert menu(whole, ME).place == Place("C01ORDERS0", ("1790000001.000200",))

    def let_in(payload: Any) -> bool:
        return readable("application/x-www-form-urlencoded", urlencode({"payload": json.dumps(payload)}).encode()) is not None

    assert let_in(whole)
    for name in ("callback_id", "channel", "message", "trigger_id", "user"):
        assert not let_in({key: value for key, value in whole.items() if key != name})
        assert not let_in(whole | {name: 7})
    with pytest.raises(ValueError, match="ts"):
        menu(whole | {"message": {"ts": "x:y"}}, ME)
