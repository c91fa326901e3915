"""Hygiene of the context: what leaves it, what shrinks, and what must never change."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.binary import without_binary
from memory.call_line import one_line
from memory.hygiene import LINES, SAME, tidy
from memory.keys import Actor
from memory.rounds import rounds
from memory.transcript import AssistantMessage, Item, Note, Request, ToolMessage, UserMessage, arrange

ANA = Actor(team_id="T1", user_id="U1")
BLOB = base64.b64encode(random.Random(7).randbytes(900)).decode()
Effect = Literal["", "read", "write", "ask"]


def says(text: str, number: int = 0) -> UserMessage:
    return UserMessage(actor=ANA, name="Ana", ts=f"{number}.1", text=text)


def ok(data: Any) -> str:
    return json.dumps({"success": True, "tool_name": "t", "data": data}, ensure_ascii=False)


def failed(code: str = "NOT_FOUND", message: str = "There is no such order.") -> str:
    return json.dumps({"success": False, "error_code": code, "error_message": message, "suggestion": "ask_person"}, ensure_ascii=False)


def call(run: str, number: str, tool: str, arguments: Any, content: str, *, effect: Effect = "read", text: str = "") -> list[Item]:
    request = Request(id=number, name=tool, arguments=json.dumps(arguments, ensure_ascii=False))
    return [AssistantMessage(run_id=run, text=text, calls=(request,)), ToolMessage(call_id=number, name=tool, content=content, effect=effect)]


def answer(run: str, text: str = "Done.") -> AssistantMessage:
    return AssistantMessage(run_id=run, text=text)


def talk(count: int, start: int = 100) -> Iterator[Item]:
    """Rounds without calls."""
    for number in range(start, start + count):
        yield says(f"question {number}", number)
        yield answer(f"r{number}", f"answer {number}")


def told(items: Sequence[Item]) -> str:
    return "\n".join(item.model_dump_json() for item in items)


def valid(items: Sequence[Item]) -> bool:
    """Whether each request is followed at once by exactly its results, in order."""
    rest = list(items)
    while rest:
        item = rest.pop(0)
        if isinstance(item, ToolMessage):
            return False
        for request in item.calls if isinstance(item, AssistantMessage) else ():
            if not rest or not isinstance(result := rest.pop(0), ToolMessage) or result.call_id != request.id:
                return False
    return True


# ── a. encoded data ──


@pytest.mark.parametrize(
    "blob",
    [
        BLOB,
        f"data:image/png;base64,{BLOB}",
        base64.urlsafe_b64encode(random.Random(8).randbytes(600)).decode(),
        random.Random(9).randbytes(300).hex(),
        random.Random(9).randbytes(300).hex().upper(),
        base64.encodebytes(random.Random(3).randbytes(900)).decode().strip(),
        json.dumps(base64.encodebytes(random.Random(3).randbytes(900)).decode().strip())[1:-1],
    ],
    ids=["base64", "data address", "base64 for addresses", "hex", "capital hex", "base64 in lines", "base64 in escaped lines"],
)
def test_base64_never_reaches_the_context(blob: str) -> None:
    items = [
        says(f"看看这个 {blob} 谢谢"),
        *call("r1", "c1", "read_file", {"name": "a.png", "body": blob}, ok({"content": "x"}).replace('"x"', f'"{blob}"') if "\n" not in blob else ok(blob)),
        answer("r1", f"Here: {blob}"),
        Note(text=blob),
    ]
    text = told(tidy(items, current_run="r1"))

    assert f"[binary data, {len(blob):,} characters]" in text
    assert blob[100:150] not in text
    assert "看看这个" in text
    assert all(isinstance(json.loads(item.content), dict) for item in tidy(items, current_run="r1") if isinstance(item, ToolMessage))


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/" + "/".join(f"part{number}" for number in range(60)),
        "https://files.example.com/download?signature=" + BLOB[:300].replace("+", "a").replace("/", "b"),
        "项目组昨天重新估算了工期" * 40,
        "a" * 500,
        "1234567890" * 40,
        "the_name_of_a_test_that_says_what_it_does_" * 8,
        "/srv/data/projects/2026/reports/final/" * 8,
        "function add(a,b){return a+b};" * 20,
        "x" * 199,
        "-" * 300,
    ],
    ids=["address", "signed address", "Chinese", "one letter", "digits", "a name", "a path", "code", "short", "a rule"],
)
def test_what_is_no_encoded_data_stays(text: str) -> None:
    assert without_binary(text) == text


# ── b. errors ──


def test_an_error_that_a_later_call_made_good_leaves_with_its_request() -> None:
    items = [
        says("Where is SO-104233?"),
        *call("r1", "c1", "get_order", {"order_id": "SO-104233"}, failed("TIMEOUT", "The shop did not answer.")),
        *call("r1", "c2", "get_order", {"order_id": "SO-104233"}, ok({"status": "shipped"})),
        answer("r1"),
        says("Thanks", 2),
    ]

    assert tidy(items, current_run="r2") == [items[0], *items[3:]]


def test_a_message_that_loses_its_only_call_keeps_its_words() -> None:
    items = [
        says("查一下订单"),
        *call("r1", "c1", "查订单", {"单号": "DD-2026-001"}, failed("INVALID_ARGUMENTS"), text="我先查一下。"),
        *call("r1", "c2", "查订单", {"单号": "DD-2026-0001"}, ok({"状态": "已发货"})),
        answer("r1", "已发货。"),
        says("好的", 2),
    ]
    out = tidy(items, current_run="r2")

    assert "INVALID_ARGUMENTS" not in told(out)
    assert [item.text for item in out if isinstance(item, AssistantMessage)] == ["我先查一下。", "", "已发货。"]


def test_of_parallel_calls_only_the_one_that_failed_leaves() -> None:
    first, second = (Request(id=number, name="get_order", arguments=json.dumps({"order_id": order})) for number, order in (("c1", "A-1001"), ("c2", "B-1002")))
    items: list[Item] = [
        says("both"),
        AssistantMessage(run_id="r1", calls=(first, second)),
        ToolMessage(call_id="c1", name="get_order", content=failed("TIMEOUT")),
        ToolMessage(call_id="c2", name="get_order", content=ok({"status": "paid"})),
        *call("r1", "c3", "get_order", {"order_id": "A-1001"}, ok({"status": "open"})),
        answer("r1"),
        says("next", 2),
    ]
    out = tidy(items, current_run="r2")

    assert out == [items[0], AssistantMessage(run_id="r1", calls=(second,)), items[3], *items[4:]]


def test_two_orders_asked_for_side_by_side_do_not_correct_each_other() -> None:
    first, second = (Request(id=number, name="get_order", arguments=json.dumps({"order_id": order})) for number, order in (("c1", "A-1001"), ("c2", "B-1002")))
    items: list[Item] = [
        says("both"),
        AssistantMessage(run_id="r1", calls=(first, second)),
        ToolMessage(call_id="c1", name="get_order", content=failed()),
        ToolMessage(call_id="c2", name="get_order", content=ok({"status": "paid"})),
        answer("r1"),
        says("next", 2),
    ]

    assert tidy(items, current_run="r2") == items


def test_an_error_nobody_overcame_stays_one_round_and_then_only_its_code() -> None:
    items = [says("Where is SO-1?"), *call("r1", "c1", "get_order", {"order_id": "SO-1"}, failed()), answer("r1")]

    assert tidy([*items, says("next", 2)], current_run="r2") == [*items, says("next", 2)]

    later = tidy([*items, *talk(2)], current_run="r9", whole_calls=0)
    assert [item.text for item in later if isinstance(item, Note)] == [f"{LINES}\n> get_order(order_id=SO-1) → NOT_FOUND"]
    assert "There is no such order" not in told(later)


def test_error_text_does_not_haunt_later_turns_even_among_the_last_calls() -> None:
    items = [says("Where is SO-1?"), *call("r1", "c1", "get_order", {"order_id": "SO-1"}, failed()), answer("r1"), *talk(2)]
    out = tidy(items, current_run="r9")

    assert out[1] == items[1]
    assert isinstance(out[2], ToolMessage)
    assert json.loads(out[2].content) == {"success": False, "error_code": "NOT_FOUND"}


@pytest.mark.parametrize("code", ["WAITING", "OUTCOME_UNKNOWN", "DENIED_BY_PERSON", "EXPIRED", "SUPERSEDED"])
def test_what_a_person_decided_is_no_error(code: str) -> None:
    items = [
        says("Cancel SO-1234"),
        *call("r1", "c1", "cancel_order", {"order_id": "SO-1234"}, failed(code, "A person said no."), effect="write"),
        *call("r1", "c2", "cancel_order", {"order_id": "SO-1234"}, ok({"status": "cancelled"}), effect="write"),
        answer("r1"),
        *talk(3),
    ]

    assert tidy(items, current_run="r9") == items


def test_the_run_being_worked_on_keeps_its_errors() -> None:
    items = [
        says("Where is SO-1234?"),
        *call("r1", "c1", "get_order", {"order_id": "SO-1234"}, failed("TIMEOUT")),
        *call("r1", "c2", "get_order", {"order_id": "SO-1234"}, ok({"status": "shipped"})),
    ]

    assert tidy(items, current_run="r1") == items


# ── c. older calls ──


def rounds_with_calls(count: int) -> list[Item]:
    return [
        item
        for number in range(count)
        for item in (
            says(f"order {number}?", number),
            *call(
                f"r{number}",
                f"c{number}",
                "get_order",
                {"order_id": f"SO-{number:05}"},
                ok({"order_id": f"SO-{number:05}", "status": "已发货"}),
                text="Looking.",
            ),
            answer(f"r{number}"),
        )
    ]


def whole(items: Sequence[Item]) -> set[str]:
    return {item.call_id for item in items if isinstance(item, ToolMessage)}


def test_older_calls_become_a_line_and_the_words_around_them_stay() -> None:
    out = tidy(rounds_with_calls(10), current_run="r10")

    assert whole(out) == {f"c{number}" for number in range(5, 10)}
    assert [item.text for item in out[:4]] == [  # type: ignore[union-attr]
        "order 0?",
        "Looking.",
        f"{LINES}\n> get_order(order_id=SO-00000) → order_id=SO-00000, status=已发货",
        "Done.",
    ]


def test_the_older_part_stays_the_same_to_the_letter_for_several_rounds() -> None:
    texts = [told(tidy(rounds_with_calls(count), current_run="none")) for count in range(5, 16)]
    changes = [count for count, (before, after) in enumerate(pairwise(texts), 6) if not after.startswith(before)]

    assert changes == [10, 15]


@pytest.mark.parametrize("count", range(16))
def test_every_call_of_the_last_rounds_and_the_last_three_stay_whole(count: int) -> None:
    items = [*rounds_with_calls(count), *talk(count % 4)]
    total = count + count % 4
    must = {f"c{number}" for number in range(count) if number >= total - 5 or number >= count - 3}

    assert must <= whole(tidy(items, current_run="none"))


def test_the_last_three_calls_stay_whole_whatever_their_age() -> None:
    assert whole(tidy([*rounds_with_calls(6), *talk(30)], current_run="none")) == {"c3", "c4", "c5"}


def test_an_open_call_stays_whole_whatever_its_age() -> None:
    items = arrange([*rounds_with_calls(2), *talk(30)], ["c0"])

    assert "c0" in whole(tidy(items, current_run="none", whole_calls=0, open_calls=["c0"]))


def test_a_parallel_answer_is_collapsed_whole_or_not_at_all() -> None:
    requests = tuple(Request(id=f"p{number}", name="get_order", arguments=json.dumps({"order_id": f"P-{number}"})) for number in range(5))
    results = [ToolMessage(call_id=request.id, name="get_order", content=ok({"n": request.id})) for request in requests]
    items: list[Item] = [says("all five"), AssistantMessage(run_id="r1", calls=requests), *results, answer("r1"), *talk(30)]

    assert tidy(items, current_run="none") == items
    collapsed = tidy(items, current_run="none", whole_calls=0)
    assert whole(collapsed) == set()
    assert isinstance(collapsed[1], Note)
    assert len(collapsed[1].text.splitlines()) == 6


# ── d. repetitions ──


def test_equal_results_of_equal_calls_are_sent_once() -> None:
    content = ok({"forecast": ["晴", "多云"] * 40})
    items = [
        item
        for number in range(6)
        for item in (says("天气", number), *call(f"r{number}", f"c{number}", "weather", {"city": "上海"}, content), answer(f"r{number}"))
    ]
    contents = [item.content for item in tidy(items, current_run="none") if isinstance(item, ToolMessage)]

    assert contents == [SAME] * 3 + [content] * 3


# ── e. stale results ──


@pytest.mark.parametrize(
    ("read", "write", "stale"),
    [
        ({"order_id": "SO-1042"}, {"order_id": "SO-1042"}, True),
        ({"query": "Ana"}, {"order": "SO-1042"}, True),
        ({"name": "上海办公室"}, {"name": "上海办公室", "phone": "1"}, True),
        ({"id": 7}, {"id": 7}, True),
        ({"order_id": "SO-9999", "limit": 10}, {"order_id": "SO-8888", "limit": 10}, False),
        ({"day": "2026-11-30"}, {"date": "2026-11-30"}, False),
        ({"name": "上海办公室"}, {"name": "北京办公室"}, False),
    ],
)
def test_what_was_read_before_it_was_changed_is_marked_stale(read: Any, write: Any, stale: bool) -> None:
    data = {"orders": [{"id": "SO-1042", "total": 12.50}]} if "query" in read else {"day": "2026-11-30"}
    items = [
        says("?"),
        *call("r1", "c1", "find", read, ok(data)),
        *call("r1", "c2", "change", write, ok({}), effect="write"),
        answer("r1"),
        says("and now?", 2),
    ]
    out = tidy(items, current_run="r2")
    result = out[2]

    assert isinstance(result, ToolMessage)
    body = json.loads(result.content)
    assert (list(body)[:2] == ["stale", "stale_reason"]) == stale
    assert body.get("stale_reason", "change changed this later") == "change changed this later"
    assert body["data"] == data
    assert out[3:] == items[3:]


def test_a_refused_change_makes_nothing_stale_and_a_later_read_holds() -> None:
    order = {"order_id": "SO-1042"}
    items = [
        says("?"),
        *call("r1", "c1", "get", order, ok({"a": 1})),
        *call("r1", "c2", "cancel", order, failed("DENIED_BY_PERSON"), effect="write"),
        *call("r1", "c3", "pay", order, ok({}), effect="write"),
        *call("r1", "c4", "get", order, ok({"a": 2})),
        answer("r1"),
    ]
    contents = [json.loads(item.content) for item in tidy(items, current_run="r2") if isinstance(item, ToolMessage)]

    assert [body.get("stale_reason") for body in contents] == ["pay changed this later", None, None, None]


def test_a_line_says_that_its_result_is_stale() -> None:
    order = {"order_id": "SO-1042"}
    items = [
        says("?"),
        *call("r1", "c1", "get_order", order, ok({"status": "open"})),
        *call("r1", "c2", "cancel_order", order, ok({"status": "cancelled"}), effect="write"),
        answer("r1"),
        *talk(12),
    ]
    notes = [item.text for item in tidy(items, current_run="none", whole_calls=0) if isinstance(item, Note)]

    assert notes == [f"{LINES}\n> get_order(order_id=SO-1042) → (stale) status=open", f"{LINES}\n> cancel_order(order_id=SO-1042) → status=cancelled"]


# ── whatever the history ──

TOOLS = ("get_order", "cancel_order", "查天气")
ARGUMENTS = ('{"order_id": "SO-1042"}', '{"order_id": "SO-2077"}', '{"city": "上海"}', "{}", "not json", '{"id": 7, "body": "' + BLOB[:400] + '"}')
CONTENTS = (
    ok({"order_id": "SO-1042", "status": "open"}),
    ok(["SO-2077"] * 60),
    ok(None),
    failed(),
    failed("TIMEOUT", "No answer. " * 30),
    failed("DENIED_BY_PERSON", "No."),
    "plain text",
    "[1, 2]",
    "{",
    SAME,
    '{"success": true, "stale": "old", "data": {"city": "上海"}}',
    '{"success":true}',
    f'{{"success": true, "data": "{BLOB}"}}',
    '{"success": true, "data": "data:image/png;base64,' + BLOB[:110] + '"}',
)
EFFECTS: tuple[Effect, ...] = ("", "read", "write", "ask")


def history(size: int, seed: int) -> tuple[list[Item], list[str]]:
    """Arranged items of `size` messages, with the ids of calls that still wait."""
    chance = random.Random(seed)
    log: list[Item] = []
    waiting: list[str] = []
    for number in range(size):
        run = f"r{chance.randrange(3) + number // 3}"
        kind = chance.choice(["user", "user", "aside", "answer", "calls", "calls", "calls", "note"])
        if kind in {"user", "aside"}:
            log.append(says("好 " + BLOB[: chance.choice([0, 500])], number).model_copy(update={"addressed": kind == "user"}))
        elif kind == "answer":
            log.append(answer(run))
        elif kind == "note":
            log.append(Note(text="joined late"))
        else:
            requests = tuple(
                Request(id=f"c{number}.{part}", name=chance.choice(TOOLS), arguments=chance.choice(ARGUMENTS)) for part in range(chance.randrange(1, 4))
            )
            log.append(AssistantMessage(run_id=run, text=chance.choice(["", "Let me see."]), calls=requests))
            for request in requests:
                state = chance.choice(["done", "done", "done", "open", "lost"])
                if state == "done":
                    log.append(ToolMessage(call_id=request.id, name=request.name, content=chance.choice(CONTENTS), effect=chance.choice(EFFECTS)))
                elif state == "open":
                    waiting.append(request.id)
    return arrange(log, waiting), waiting


HISTORIES = st.builds(history, st.integers(0, 40), st.integers(0, 1_000_000))


@settings(max_examples=250)
@given(HISTORIES, st.integers(0, 3), st.integers(0, 4), st.integers(0, 12))
def test_tidied_items_are_valid_the_same_each_time_and_tidied_for_good(past: tuple[list[Item], list[str]], rounds_kept: int, calls_kept: int, run: int) -> None:
    items, waiting = past
    before = told(items)

    def again(given: list[Item]) -> list[Item]:
        return tidy(given, current_run=f"r{run}", whole_rounds=rounds_kept, whole_calls=calls_kept, open_calls=waiting)

    once = again(items)

    assert valid(once)
    assert again(items) == once
    assert again(once) == once
    assert told(items) == before
    assert BLOB[:60] not in told(once)


@settings(max_examples=200)
@given(HISTORIES, st.integers(1, 3), st.integers(0, 4), st.integers(0, 12))
def test_what_must_stay_whole_stays(past: tuple[list[Item], list[str]], rounds_kept: int, calls_kept: int, run: int) -> None:
    items, waiting = past
    out = tidy(items, current_run=f"r{run}", whole_rounds=rounds_kept, whole_calls=calls_kept, open_calls=waiting)
    starts = rounds(items)
    results = [(place, item) for place, item in enumerate(items) if isinstance(item, ToolMessage)]
    running = {request.id for item in items if isinstance(item, AssistantMessage) and item.run_id == f"r{run}" for request in item.calls}
    newest = starts[-rounds_kept] if len(starts) >= rounds_kept else 0
    failures = {item.call_id for _, item in results if '"success": false' in item.content}
    last = {item.call_id for _, item in results[-calls_kept:]} if calls_kept else set()
    must = {item.call_id for place, item in results if place >= newest} | last

    assert running | set(waiting) <= whole(out)
    assert must - failures <= whole(out)
    assert [item.text for item in out if isinstance(item, UserMessage)] == [without_binary(item.text) for item in items if isinstance(item, UserMessage)]
    assert [item.text for item in out if isinstance(item, AssistantMessage) and item.text] == [
        item.text for item in items if isinstance(item, AssistantMessage) and item.text
    ]


@pytest.mark.parametrize(
    "broken", [[ToolMessage(call_id="c", name="t", content="{}")], call("r", "c", "t", {}, "{}")[:1]], ids=["a result alone", "a request alone"]
)
def test_items_that_are_not_arranged_are_refused(broken: list[Item]) -> None:
    with pytest.raises(ValueError, match="not arranged"):
        tidy(broken, current_run="")


# ── the line ──


def line(arguments: Any, content: str | None, tool: str = "get_order", limit: int = 240) -> str:
    request = Request(id="c1", name=tool, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))
    return one_line(request, None if content is None else ToolMessage(call_id="c1", name=tool, content=content), limit=limit)


@pytest.mark.parametrize(
    ("arguments", "content", "expected"),
    [
        ({"order_id": "SO-1"}, ok({"note": "fragile", "status": "shipped", "id": "SO-1"}), "get_order(order_id=SO-1) → id=SO-1, status=shipped, note=fragile"),
        ({"城市": "上海", "天数": 3}, ok({"天气": "晴", "日期": "2026-11-30"}), "get_order(城市=上海, 天数=3) → 日期=2026-11-30, 天气=晴"),
        ({}, ok({"orders": [{"order_id": f"SO-{n}", "total": n} for n in range(24)]}), "get_order() → orders: 24 (SO-0, SO-1, SO-2)"),
        ({}, ok([]), "get_order() → 0"),
        ({"q": "x"}, ok([{"name": "王小明", "age": 3}]), "get_order(q=x) → 1 (王小明)"),
        ({}, ok({"order": {"id": "A-1", "customer": {"name": "Ana"}}}), "get_order() → id=A-1, customer.name=Ana"),
        ({}, ok(12.5), "get_order() → 12.5"),
        ({}, ok(None), "get_order() → ok"),
        ({"deep": True, "none": None, "empty": ""}, ok({}), "get_order(deep=true) → ok"),
        ({}, failed("TIMEOUT", "The shop did not answer."), "get_order() → TIMEOUT: The shop did not answer."),
        ({}, '{"success": false, "error_code": "TIMEOUT"}', "get_order() → TIMEOUT"),
        ('{"order_id": "SO-1', "plain answer", "get_order(order_id : SO-1) → plain answer"),
        ({}, '{"broken": [1, 2', "get_order() → broken : 1, 2"),
        ({}, None, "get_order() → …"),
        ({}, "", "get_order() → ok"),
    ],
)
def test_a_call_is_told_in_one_line(arguments: Any, content: str | None, expected: str) -> None:
    assert line(arguments, content) == expected


def test_what_has_no_room_is_left_out_whole_and_counted() -> None:
    data = {f"id_{number}_id": f"ORDER-2026-{number:06}" for number in range(30)}
    text = line({"order_id": "SO-1"}, ok(data), limit=160)
    shown = re.findall(r"ORDER-[\d-]+", text)

    assert len(text) <= 160
    assert 0 < len(shown) < 30
    assert all(re.fullmatch(r"ORDER-2026-\d{6}", each) for each in shown)
    assert text.endswith(f"+{30 - len(shown)} more")


def test_a_long_text_is_shortened_in_the_middle_between_words_and_its_lost_ids_are_counted() -> None:
    text = line({"text": "Please tell Ana that order SO-104233 and order SO-104234 and also order SO-104235 are late, call +49-30-123456 today"}, ok({}))

    assert text == "get_order(text=Please tell Ana that order SO-104233 and order … +2 more … call +49-30-123456 today) → ok"


def test_a_long_chinese_text_is_shortened_too() -> None:
    text = line({"留言": "请告诉客户这批货要晚两天到" * 20}, ok({}))

    assert len(text) < 120
    assert text.startswith("get_order(留言=请告诉客户")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=80) | st.from_regex(r"[A-Z]{2}-[0-9]{4,60}", fullmatch=True),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=20), inner, max_size=8),
    max_leaves=25,
)


@settings(max_examples=60)
@given(JSON.map(json.dumps) | st.text(), JSON.map(ok) | JSON.map(json.dumps) | st.text(), st.integers(120, 400))
def test_a_line_is_one_line_within_its_limit_and_without_braces(arguments: str, content: str, limit: int) -> None:
    text = line(arguments, content, limit=limit)

    assert len(text) <= limit
    assert len(text.splitlines()) == 1
    assert not re.search(r"[{}\[\]\"]", text)
    assert text == line(arguments, content, limit=limit)


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[A-Z]{2}-[0-9]{4,90}", fullmatch=True), min_size=1, max_size=12), st.integers(120, 300))
def test_no_identifier_is_ever_cut(ids: list[str], limit: int) -> None:
    text = line({f"a{number}": each for number, each in enumerate(ids)}, ok({"text": " and ".join(ids), "list": ids}), limit=limit)

    assert set(re.findall(r"[A-Z]{2}-[0-9]+", text)) <= set(ids)
