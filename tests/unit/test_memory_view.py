"""Long-term memory on the screen: within Slack's limits whatever is in it, in both languages, and nothing of it alive."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from typing import Any

import pytest

from bot.gate import Identity
from bot.home_view import Home, home_view
from bot.memory_forms import PREFIX, Click, Spot, asked, click_of, command_of, form_of, private_of, value_of
from bot.memory_view import HOME_PAGE, PAGE, Listed, Viewer, added_message, by_kind, choose_message, found_message, list_message, pages, room_message
from bot.memory_view_more import (
    all_modal,
    audience_modal,
    edit_modal,
    history_message,
    missing_footer,
    saved_footer,
    typed_right,
    used_footer,
    used_modal,
    why_message,
)
from bot.messages import MESSAGES
from bot.messages_longterm import LONGTERM
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, WORKSPACE, Audience, person, room
from memory.longterm.memory import LONGEST, Change, Kind, Memory, Settings, Source, memory_id
from memory.reminders import Reminder
from playground.validate import check_blocks
from playground.views import check_view

ANN = Actor(team_id="T1", user_id="U1")
BEN = Actor(team_id="T1", user_id="U2")
THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1790000001.000100")
ME = Identity("T1", "U0BOT")
HOSTILE = "<!channel> <@U2> <https://evil.example|click> *bold* `x` [a](https://b.example) \u202egnp.exe\u200b :rotating_light: @here ＜!here＞\n\n> quote"
LANGUAGES = ["en", "zh"]
MESSAGE_ROOM = 13_200
"""Characters of all blocks of a message, as JSON."""


def one(number: int = 0, text: str = "I am allergic to peanuts", actor: Actor = ANN, **more: Any) -> Memory:
    kind = more.pop("kind", Kind.FACT)
    owner = room(THREAD) if kind is Kind.AGREEMENT else person(actor)
    link = f"https://northwind.slack.com/archives/C1/p179000000100{number:04d}"
    source = more.pop("source", Source(thread=THREAD, ts="1790000001.000100", said_by=actor, permalink=link))
    values: dict[str, Any] = {"audience": WORKSPACE, "created": 1_790_000_000.0 + number, "source": source, "key": f"note:{number}"}
    return Memory(id=memory_id(owner, str(number), text), owner=owner, kind=kind, text=text, **(values | more))


def many(count: int, text: str) -> list[Memory]:
    kinds = [kind for kind in Kind if kind is not Kind.AGREEMENT]
    audiences = [PRIVATE, WORKSPACE, Audience(scope="channel", channel_id="C1")]
    return [
        one(
            n,
            text,
            kind=kinds[n % len(kinds)],
            audience=audiences[n % 3],
            always=n % 4 == 0,
            valid_until=1_800_000_000.0 if n % 3 == 0 else None,
            expires=1_900_000_000.0 if n % 5 == 0 else None,
        )
        for n in range(count)
    ]


def viewer(language: str, actor: Actor = ANN) -> Viewer:
    return Viewer(actor, language, "Asia/Shanghai", 1_795_000_000.0)


def legal(blocks: list[dict[str, Any]]) -> None:
    assert check_blocks(blocks).texts == []
    assert len(blocks) <= 50
    assert len(json.dumps(blocks, ensure_ascii=False)) <= MESSAGE_ROOM


def walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from walk(child)


def shown(node: Any) -> str:
    return "\n".join(each["text"] for each in walk(node) if isinstance(each.get("text"), str))


def buttons(node: Any) -> list[dict[str, Any]]:
    return [each for each in walk(node) if each.get("type") == "button"]


LONG_EN = "x" * LONGEST
LONG_ZH = "花" * LONGEST


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", [LONG_EN, LONG_ZH, "\u202e" * LONGEST, "&<>" * 160, HOSTILE], ids=["long", "long_zh", "invisible", "escapes", "hostile"])
def test_five_hundred_long_memories_fit_page_by_page(language: str, text: str) -> None:
    memories = by_kind(many(500, text))
    pairs = [(one(900 + n, text, disputed_with="x"), one(950 + n, text)) for n in range(5)]
    agreements = [one(800 + n, text, kind=Kind.AGREEMENT) for n in range(5)]
    listed = Listed(memories, 500, pairs, agreements, 5, paused=True)
    seen: set[str] = set()
    for page in range(pages(500)):
        message = list_message(listed, viewer(language), Spot("mine", page))
        legal(message.blocks)
        seen |= {json.loads(each["value"])[3] for each in buttons(message.blocks) if each["action_id"] == f"{PREFIX}edit"}
    assert seen == {memory.id for memory in memories}
    for page in (0, 1, pages(500, HOME_PAGE) - 1):
        reminder = Reminder(id="r", actor=ANN, thread=THREAD, text=text, due=1_790_000_000, timezone="UTC", local="x")
        home = Home(HOSTILE, listed, Settings(), [reminder] * 30, [(text, "done", 1.0, "https://a.example")] * 30)
        assert check_view(home_view(home, viewer(language), Spot("home", page)), ("home",))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", [LONG_ZH, HOSTILE], ids=["long", "hostile"])
def test_everything_else_fits_too(language: str, text: str) -> None:
    memories, who = many(30, text), viewer(language)
    changes = [
        Change(id=memory_id(person(ANN), str(n)), owner=person(ANN), at=1.0, done="updated", by="person", memory_id="m", before=m, after=m)
        for n, m in enumerate(memories)
    ]
    messages = [
        found_message(memories, who, text[:100]),
        choose_message(memories, who, text[:100]),
        choose_message(memories[:1], who, text[:100]),
        added_message(memories[0], "add", None, who),
        added_message(memories[0], "ask", memories[1], who),
        why_message([(1.0, memories), (2.0, memories), (3.0, [])], who),
        room_message([one(n, text, kind=Kind.AGREEMENT) for n in range(PAGE)], 40, who, Spot("room", 1)),
        history_message(changes, who, Spot("history", 1), more=True),
    ]
    for message in messages:
        legal(message.blocks)
    for view in (used_modal(memories, who, "r1"), edit_modal(memories[0], who, Spot()), audience_modal(memories[0], who, Spot()), all_modal(500, who, Spot())):
        assert check_view(view, ("modal",))


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_that_was_said_can_call_link_or_format(language: str) -> None:
    listed = Listed([one(0, HOSTILE)], 1, [(one(1, HOSTILE), one(2, HOSTILE))], [one(3, HOSTILE, kind=Kind.AGREEMENT)], 1)
    message = list_message(listed, viewer(language), Spot())
    for each in walk(message.blocks):
        if each.get("type") == "mrkdwn":
            assert "evil" not in each["text"]
            assert "<!" not in each["text"]
        if each.get("type") == "link":
            assert each["url"].startswith("https://northwind.slack.com/")
        assert each.get("type") != "broadcast"
    assert "evil" not in message.text
    assert "\u202e" not in shown(message.blocks)
    assert "\u200b" not in shown(message.blocks)


def test_a_link_that_is_no_web_address_is_not_shown() -> None:
    source = Source(thread=THREAD, ts="1.0", said_by=ANN, permalink="javascript:alert(1)")
    assert [each for each in walk(list_message(Listed([one(0, source=source)], 1), viewer("en"), Spot()).blocks) if each.get("type") == "link"] == []


def test_memories_stand_under_their_kinds_with_date_audience_and_source() -> None:
    listed = by_kind([one(1, "I live in Lisbon"), one(2, "short replies", kind=Kind.PREFERENCE, always=True, audience=PRIVATE)])
    text = shown(list_message(Listed(listed, 2), viewer("en"), Spot()).blocks)
    assert text.index("How you like things") < text.index("short replies") < text.index("About you") < text.index("I live in Lisbon")
    assert "only in direct messages with you" in text
    assert "anywhere in this workspace" in text
    assert "always applies" in text
    assert "2026-09-21 22:13" in text  # in the person's own zone
    assert "where you said it" in text


def test_only_the_person_who_said_an_agreement_may_forget_it() -> None:
    agreement = one(0, "we deploy on Tuesdays", actor=BEN, kind=Kind.AGREEMENT)
    for actor, may in ((BEN, True), (ANN, False)):
        message = room_message([agreement], 1, viewer("en", actor), Spot("room"))
        assert bool(buttons(message.blocks)) is may
        assert {"type": "user", "user_id": "U2"} in list(walk(message.blocks))


def test_the_first_page_has_no_previous_and_the_last_no_next() -> None:
    listed = Listed(by_kind(many(PAGE * 3, "x")), PAGE * 3)
    turns = []
    for page in range(3):
        acts = {each["action_id"].removeprefix(PREFIX) for each in buttons(list_message(listed, viewer("en"), Spot("mine", page)).blocks)}
        turns.append(acts & {"previous", "next"})
    assert turns == [{"next"}, {"previous", "next"}, {"previous"}]


def test_a_page_that_is_no_longer_there_shows_the_last_one() -> None:
    message = list_message(Listed([one(0, "what is left")], 1), viewer("en"), Spot("mine", 9))
    assert "what is left" in shown(message.blocks)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lines_under_an_answer(language: str) -> None:
    assert used_footer(0, "r", language) == saved_footer(0, language) == []
    footer = used_footer(2, "run-1", language)
    legal([*footer, *missing_footer(language), *saved_footer(1, language), *saved_footer(3, language)])
    assert "2" in shown(footer)
    assert [each["action_id"] for each in buttons(footer)] == [f"{PREFIX}used"]
    assert "run-1" in buttons(footer)[0]["value"]


def test_a_channel_is_a_choice_only_for_what_came_from_one() -> None:
    def choices(memory: Memory) -> list[str]:
        return [option["value"] for option in audience_modal(memory, viewer("en"), Spot())["blocks"][1]["element"]["options"]]

    direct = Source(thread=Thread(team_id="T1", channel_id="D1"), said_by=ANN)
    assert choices(one(0)) == ["private", "channel", "workspace"]
    assert choices(one(1, source=direct, audience=PRIVATE)) == ["private", "workspace"]


@pytest.mark.parametrize(("typed", "right"), [("forget all", True), (" Forget  ALL ", True), ("全部忘记", True), ("yes", False), ("", False)])
def test_the_word_that_confirms_is_taken_in_either_language(typed: str, right: bool) -> None:
    assert typed_right(typed) is right


def test_every_sentence_is_there_in_both_languages_with_the_same_blanks() -> None:
    fields = string.Formatter()
    for key, row in LONGTERM.items():
        assert set(row) == {"en", "zh"}, key
        blanks = {language: {name for _, name, _, _ in fields.parse(text) if name} for language, text in row.items()}
        assert blanks["en"] == blanks["zh"], key
        assert MESSAGES[key] == row
    titles = ("lt_title_short", "lt_edit_title", "lt_audience_title", "lt_all_title", "lt_button_save", "lt_button_forget")
    assert all(len(LONGTERM[key][language]) <= 24 for key in titles for language in LANGUAGES)
    used = {*re.findall(r'"(lt_[a-z_]+)"', sources())}
    assert used <= set(LONGTERM)


def sources() -> str:
    from pathlib import Path  # noqa: PLC0415

    ours = [*(Path(__file__).parents[2] / "bot").glob("memory_*.py"), Path(__file__).parents[2] / "bot" / "home_view.py"]
    return "\n".join(path.read_text(encoding="utf-8") for path in ours)


# --- what comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("list", "")),
        ("search peanuts", ("search", "peanuts")),
        ("SEARCH  Peanuts ", ("search", "Peanuts")),
        ("搜索花生", ("search", "花生")),
        ("搜索 花生", ("search", "花生")),
        ("添加 我对花生过敏", ("add", "我对花生过敏")),
        ("记住我对花生过敏", ("add", "我对花生过敏")),
        ("忘记 全部", ("forget", "全部")),
        ("忘掉花生", ("forget", "花生")),
        ("导出", ("export", "")),
        ("暂停", ("pause", "")),
        ("恢复", ("resume", "")),
        ("为什么", ("why", "")),
        ("历史", ("history", "")),
        ("撤销 1a2b3c4d", ("undo", "1a2b3c4d")),
        ("频道", ("room", "")),
        ("帮助", ("help", "")),
        ("dance", ("", "dance")),
        ("找", ("search", "")),
    ],
)
def test_the_words_after_the_command_are_known_in_both_languages(text: str, expected: tuple[str, str]) -> None:
    assert command_of(text) == expected


def payload(action: dict[str, Any], **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"user": {"id": "U1", "team_id": "T1"}, "actions": [action], "channel": {"id": "C1"}, "response_url": "https://hooks.slack.com/x"}
    return base | {"container": {"type": "message", "message_ts": "1.0", "channel_id": "C1", "is_ephemeral": True}} | more


def test_a_click_comes_back_as_it_was_drawn() -> None:
    value = value_of("zh", Spot("search", 3, "花生"), "abc")
    click = click_of(payload({"action_id": f"{PREFIX}forget", "value": value}), ME)
    assert isinstance(click, Click)
    assert (click.act, click.id, click.spot, click.language, click.surface) == ("forget", "abc", Spot("search", 3, "花生"), "zh", "message")
    assert click.actor == ANN


def test_the_answer_to_a_click_in_a_message_that_others_see_never_takes_its_place() -> None:
    container = {"type": "message", "message_ts": "1.0", "channel_id": "C1", "is_ephemeral": False}
    click = click_of(payload({"action_id": f"{PREFIX}used", "value": value_of("en", Spot("used"), "r1")}, container=container), ME)
    assert click is not None
    assert click.response_url == ""


@pytest.mark.parametrize(
    "action",
    [
        {"action_id": f"{PREFIX}drop", "value": value_of("en", Spot())},
        {"action_id": f"{PREFIX}forget", "value": None},
        {"action_id": f"{PREFIX}forget", "value": "x"},
        {"action_id": f"{PREFIX}forget", "value": "[1,2]"},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "all", 0, "a", ""])},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "mine", -1, "a", ""])},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "mine", True, "a", ""])},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "mine", 10**9, "a", ""])},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "mine", 0, "a b/../c", ""])},
        {"action_id": f"{PREFIX}forget", "value": json.dumps(["en", "mine", 0, "a", "q" * 200])},
        {"action_id": f"{PREFIX}forget", "value": "[" * 2_500},
    ],
    ids=range(11),
)
def test_a_click_that_is_not_on_a_button_of_ours_is_refused(action: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError)):
        click_of(payload(action), ME)


def test_clicks_and_forms_about_other_things_are_left_alone() -> None:
    assert click_of(payload({"action_id": "steward:memory:forget", "value": "x"}), ME) is None
    assert form_of({"view": {"callback_id": "steward:edit"}, "user": {"id": "U1"}}, ME) is None


def test_a_form_comes_back_as_it_was_opened() -> None:
    view = {
        "id": "V1",
        "callback_id": f"{PREFIX}edit",
        "private_metadata": private_of("zh", Spot("mine", 2), "abc", "https://hooks.slack.com/x"),
        "state": {"values": {"text": {"text": {"type": "plain_text_input", "value": "typed"}}}},
    }
    form = form_of({"view": view, "user": {"id": "U1", "team_id": "T1"}}, ME)
    assert form is not None
    assert (form.form, form.id, form.spot, form.value, form.block, form.language) == ("edit", "abc", Spot("mine", 2), "typed", "text", "zh")
    assert len(private_of("zh", Spot("search", 9_999, "花" * 100), "a" * 150, "https://h.example/" + "x" * 990)) <= 3_000


def test_a_command_without_a_person_is_refused() -> None:
    with pytest.raises(ValueError, match="user"):
        asked({"text": "list"}, ME)
