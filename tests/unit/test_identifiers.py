"""Identifiers: what is one, that two ways of writing one are the same, and that none goes missing unseen."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.identifiers import Identifier, canonical, contains, identifiers, missing


def found(text: str) -> list[tuple[str, str]]:
    return [(each.text, each.kind) for each in identifiers(text)]


def texts(text: str) -> list[str]:
    return [each.text for each in identifiers(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ABC-20240520-001", "id"),
        ("T-1234", "id"),
        ("U0123ABCD", "id"),
        ("INC12345", "id"),
        ("#4521", "id"),
        ("9fceb02d0ae598e95dc970b74767f19372d61af8", "id"),
        ("9fceb02", "id"),
        ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "id"),
        ("10.0.0.1:8080", "id"),
        ("gpt-4.1", "id"),
        ("2026-11-29", "date"),
        ("2026/11/29", "date"),
        ("2026-11-29T14:00:00Z", "date"),
        ("11/29", "date"),
        ("29 Nov", "date"),
        ("29th of November 2026", "date"),
        ("Nov 29th", "date"),
        ("Nov 29, 2026", "date"),
        ("5月2日", "date"),
        ("2026年11月29日", "date"),
        ("二〇二六年十一月", "date"),
        ("十二月三号", "date"),
        ("下周五", "date"),
        ("星期三", "date"),
        ("next Friday", "date"),
        ("Monday", "date"),
        ("Q3", "date"),
        ("Q4 2026", "date"),
        ("第三季度", "date"),
        ("9:30", "time"),
        ("9am", "time"),
        ("5 p.m.", "time"),
        ("上午九点", "time"),
        ("下午3点半", "time"),
        ("14:00 UTC+8", "time"),
        ("https://example.com/a/b?x=1&y=2#z", "url"),
        ("www.example.com/x", "url"),
        ("ana.b+c@example.co.uk", "email"),
        ("report_final.xlsx", "file"),
        ("archive.tar.gz", "file"),
        ("合同.pdf", "file"),
        ("合同v2.pdf", "file"),
        ("config/prod.yaml", "path"),
        ("/etc/hosts", "path"),
        ("~/notes/a.txt", "path"),
        ("C:\\Users\\ana\\a.txt", "path"),
        ("¥5,000", "amount"),
        ("$12.50", "amount"),
        ("30%", "amount"),
        ("3万元", "amount"),
        ("5 kg", "amount"),
        ("200ms", "amount"),
        ("USD 300", "amount"),
        ("$3.5k", "amount"),
        ("三个", "amount"),
        ("两天", "amount"),
        ("一百二十箱", "amount"),
        ("百分之三十", "amount"),
        ("五千", "number"),
        ("5,000", "number"),
        ("-3.5", "number"),
        ("１２３", "number"),
        ("v1.2.3", "version"),
        ("1.2.3-rc1", "version"),
        ("<@U123>", "mention"),
        ("<#C123|general>", "mention"),
        ("@ana", "mention"),
        ("key=value", "parameter"),
        ("--dry-run", "parameter"),
        ("--level=3", "parameter"),
        ("ENV_VAR_NAME", "parameter"),
        ("timeout: 30", "parameter"),
        ("max_retries=5", "parameter"),
        ("+1 415 555 0100", "phone"),
        ("13800138000", "phone"),
        ("(415) 555-0100", "phone"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "see {}, please", "请看 {} 。", "({})"], ids=["alone", "english", "chinese", "brackets"])
def test_each_kind_is_found_whole_wherever_it_stands(text: str, kind: str, around: str) -> None:
    assert found(around.format(text)) == [(text, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "one of the first",
        "and/or",
        "I may go",
        "一个人",
        "一下",
        "万一",
        "千万别",
        "十分好",
        "this is a plain sentence.",
        "第三个",
        "你好！",
        "e.g. this",
        "km/h",
        "",
    ],
)
def test_plain_words_are_no_identifiers(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("订单ABC-20240520-001已发货，数量12箱", ["ABC-20240520-001", "12箱"]),
        ("请打开合同.pdf和报价单v2.xlsx", ["合同.pdf", "报价单v2.xlsx"]),
        ("端口：８０８０，共５，０００元", ["８０８０", "５，０００元"]),
        ("(see https://example.com/a_(b)).", ["https://example.com/a_(b)"]),
        ("<https://example.com|here> and *T-1*", ["https://example.com", "T-1"]),
        ("Meeting: 3 pm, timeout: 30", ["3 pm", "timeout: 30"]),
        ("5-6 days, not 10-day", ["5", "6 days", "10-day"]),
        ("周三个人", ["周三"]),
        ("a_(b) 12, 12 and 12", ["12"]),
        ("29 Nov or Nov 29th", ["29 Nov"]),
        ("T-1 t-1", ["T-1"]),
        ('{"order":"ABC-1","total":5000.5,"n":[1,2]}', ["ABC-1", "5000.5", "1", "2"]),
        ('weather(city="New York", days=3)', ['city="New York"', "days=3"]),
        ("<mailto:a@b.com|a@b.com> owes 20 €", ["a@b.com", "20 €"]),
        ("commit 9fceb02 on feature/ABC-12-fix", ["9fceb02", "feature/ABC-12-fix"]),
    ],
)
def test_the_longest_wins_and_none_is_given_twice(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5,000", "5000"),
        ("５０００", "5000"),
        ("29 Nov", "11月29日"),
        ("Nov 29th, 2026", "2026-11-29"),
        ("2026年11月29日", "2026/11/29"),
        ("二〇二六年十一月", "2026年11月"),
        ("9am", "上午九点"),
        ("下午3点半", "15:30"),
        ("9:30", "09:30"),
        ("timeout: 30", "timeout=30"),
        ('city="Berlin"', "city=Berlin"),
        ("5 kg", "5kg"),
        ("abc-1", "ABC-1"),
        ("Report.xlsx", "report.xlsx"),
        ("HTTPS://Example.com/A", "https://example.com/A"),
        ("T-12.", "T-12"),
    ],
)
def test_two_ways_of_writing_one_thing_are_the_same(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert missing(identifiers(one), f"so: {other}") == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/etc/Hosts", "/etc/hosts"),
        ("https://a.b/X", "https://a.b/x"),
        ("-v", "-V"),
        ("12", "120"),
        ("5%", "5"),
        ("3万", "3"),
        ("9am", "9pm"),
        ("1.5", "15"),
        ("T-1", "T-12"),
    ],
)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("text", ["2012", "12.5", "3.12", "12%", "A12", "12kg", "ABC-12-3", "2026-12-01", "1,200", "12:30", "v12", "x12y", "12万"])
def test_a_number_inside_a_longer_one_is_not_that_number(text: str) -> None:
    assert not contains(text, Identifier("12", "number"))


@pytest.mark.parametrize("text", ["12", "12.", "(12)", "共12人", "limit=12", "a 12, b", "１２", "'12'", "12 of them"])
def test_a_number_that_stands_alone_is_held(text: str) -> None:
    assert contains(text, Identifier("12", "number"))


def test_what_a_summary_dropped_is_named_once_and_in_order() -> None:
    said = identifiers("Order ABC-1 of 5,000 due 29 Nov; see a.pdf and <@U1>. ABC-1 again.")

    assert [each.text for each in missing((*said, *said), "订单 abc-1，11月29日到期")] == ["5,000", "a.pdf", "<@U1>"]
    assert missing(said, "") == said
    assert missing((), "ABC-1") == ()


def test_encoded_data_holds_no_identifiers() -> None:
    assert texts("image: " + "iVBORw0KGgo1234T-5" * 40 + " for T-6") == ["T-6"]


PIECES = st.sampled_from(
    [
        "T-12",
        "2026-11-29",
        "29 Nov",
        "9:30",
        "5,000",
        "¥",
        "30%",
        "a.pdf",
        "合同.pdf",
        "/a/b",
        "https://x.y/z",
        "@",
        "<@U1>",
        "a=b",
        "--f",
        "_",
        "-",
        ".",
        ",",
        "，",
        "：",
        " ",
        "三",
        "个",
        "十",
        "年",
        "月",
    ]
)
ANY = st.one_of(st.text(max_size=80), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=14).map("".join))


@given(ANY)
@example("ﬁ½① 9\u00a0am")
@settings(max_examples=150)
def test_every_identifier_stands_in_the_text_and_the_text_holds_it(text: str) -> None:
    all_of_it = identifiers(text)

    assert all(each.text in text and contains(text, each) for each in all_of_it)
    assert missing(all_of_it, text) == ()
    assert len({canonical(each.text) for each in all_of_it}) == len(all_of_it)
    assert identifiers(text) == all_of_it


@given(ANY, ANY)
@settings(max_examples=80)
def test_identifiers_stand_in_order_and_what_is_not_missing_is_held(text: str, other: str) -> None:
    at = 0
    for each in identifiers(text):
        at = text.index(each.text, at) + len(each.text)
    gone = missing(identifiers(text), other)
    assert [each for each in identifiers(text) if not contains(other, each)] == list(gone)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "a-",
        "a.",
        "a_",
        "/",
        "a/",
        "1,",
        "1.",
        "一",
        "@",
        "a@",
        "<@a",
        "+1 ",
        "1:",
        "--a",
        "a=",
        "合.",
        "a.md",
        ".md",
        "T-12 at 9:30 for ¥5 ",
        "月",
        "三个",
        "http://",
    ],
)
def test_a_hostile_text_costs_in_proportion_to_its_length(piece: str) -> None:
    def cost(length: int) -> float:
        """The better of two: whatever else the process does only adds to it. Texts of this length are not remembered."""
        text = (piece * length)[:length]
        best = float("inf")
        for _ in range(2):
            start = process_time()
            identifiers(text)
            best = min(best, process_time() - start)
        return best

    # Four times as long: a linear reading costs four times as much, a quadratic one sixteen times.
    assert cost(40_000) / max(cost(10_000), 1e-4) < 10


def test_a_long_text_is_read_to_its_end() -> None:
    assert texts("nothing here, " * 70_000 + "but T-77")[-1] == "T-77"
