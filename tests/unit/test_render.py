"""What the renderer promises: the whole answer arrives, in order, in messages Slack takes, looking as it was meant."""

# ruff: noqa: E501 - tables of cases read best with one case, or one family of them, a line

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot.addresses import urls
from bot.guard import clean, settled
from bot.markdown import close_fences, tidy
from bot.render import MAX_ANSWER, MAX_PART, MAX_PARTS, Rendered, answer_parts, capped, fallback, help_text, home, progress
from bot.split import split

HTML = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def markdown(text: str) -> list[str]:
    """The Markdown of every message of an answer; each message checked against Slack's limits on the way."""
    out = []
    for part in answer_parts(text):
        assert len(part.blocks) == 1
        for block in Block.parse_all(part.blocks):
            block.validate_json()
        assert part.blocks[0]["type"] == "markdown"
        assert 0 < len(part.blocks[0]["text"].encode("utf-16-le")) // 2 <= MAX_PART
        assert 0 < len(part.text) <= 3_000
        assert not re.search("[<>]", part.text)
        out.append(part.blocks[0]["text"])
    return out


def rendered(text: str) -> str:
    return str(HTML.render("\n\n".join(markdown(text)))).strip()


def letters(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("length", [2_999, 3_001, 4_001, 11_500, 11_501, 12_001, 45_000])
@pytest.mark.parametrize(
    "unit", ["word ", "A sentence of a few words, with a comma. ", "中文句子，带逗号。", "x", "中", "👩‍👩‍👧", "line\n", "para\n\n", "- item\n"]
)
def test_an_answer_of_any_length_arrives_whole_and_in_order(length: int, unit: str) -> None:
    text = (unit * (length // len(unit) + 1))[:length].rstrip("\u200d\ud83d")

    parts = markdown(text)

    assert letters("".join(parts)) == letters(text)
    assert len(parts) == 1 or all(len(part.encode("utf-16-le")) // 2 > MAX_PART // 3 for part in parts[:-1])


def test_two_long_paragraphs_are_two_messages() -> None:
    one, two = "a" * 7_000, "b" * 7_000

    assert markdown(f"{one}\n\n{two}") == [one, two]


def test_a_long_line_is_cut_after_a_sentence_in_english_and_in_chinese() -> None:
    assert all(part.endswith(".") for part in markdown("This is one sentence of the text. " * 900))
    assert all(part.endswith("。") for part in markdown("这是一句完整的话，后面还有。" * 3_000))


def test_a_cut_never_parts_what_is_one_character() -> None:
    family = "👩‍👩‍👧"

    for part in markdown(family * 4_000):
        assert part.startswith("👩")
        assert part.endswith("👧")
    for part in markdown("🇨🇳" * 8_000):
        assert len(part) % 2 == 0
    for part in markdown("e\u0301" * 9_000):
        assert part.startswith("e")


def test_a_cut_does_not_fall_into_a_link_or_a_code_span() -> None:
    link, code = "[a label](https://x.example/some/path)", "`a b c`"
    parts = markdown(f"{link} {code} " * 600)

    assert sum(part.count(link) for part in parts) == 600
    assert sum(part.count(code) for part in parts) == 600


def test_a_long_fence_is_closed_and_opened_again_with_language_and_indentation() -> None:
    code = "\n".join(f"    value_{n} = {n}  # **not bold**" for n in range(900))
    parts = markdown(f"Before\n\n```python\n{code}\n```\n\nAfter")

    assert len(parts) >= 3
    for part in parts:
        assert part.count("```") == 2
        assert "```python\n" in part
    assert parts[0].startswith("Before")
    assert parts[-1].endswith("After")
    assert "\n".join(re.sub(r"^(Before\n\n)?```python\n|\n```(\n\nAfter)?$", "", part) for part in parts) == code


def test_a_fence_of_nine_thousand_characters_that_fits_is_kept_whole() -> None:
    code = "\n".join(f"x_{n} = {n}" for n in range(900))[:9_000]
    parts = markdown("intro. " * 700 + f"\n\n~~~js\n{code}\n~~~\n\n" + "outro. " * 700)

    assert sum(f"~~~js\n{code}\n~~~" in part for part in parts) == 1


def test_a_fence_inside_a_list_is_reopened_at_its_column() -> None:
    code = "\n".join(f"   echo {n}" for n in range(2_000))
    parts = markdown(f"1. first\n2. run this:\n   ```sh\n{code}\n   ```\n3. last")

    assert len(parts) >= 2
    for part in parts:
        assert len([token for token in HTML.parse(part) if token.type == "fence" and token.info == "sh"]) == 1
    assert [int(n) for part in parts for token in HTML.parse(part) if token.type == "fence" for n in re.findall(r"echo (\d+)", token.content)] == list(
        range(2_000)
    )
    assert '<ol start="3">' in HTML.render(parts[-1].partition("```\n")[2])


def test_a_fence_inside_a_quote_stays_a_quote() -> None:
    parts = markdown("> ```\n" + "\n".join(f"> line {n}" for n in range(2_000)) + "\n> ```")

    assert len(parts) >= 2
    for part in parts:
        assert [token.type for token in HTML.parse(part)] == ["blockquote_open", "fence", "blockquote_close"]


def test_an_unclosed_fence_is_closed() -> None:
    assert markdown("```py\nx = 1") == ["```py\nx = 1\n```"]
    assert markdown("- a\n  ```\n  x") == ["- a\n  ```\n  x\n  ```"]
    assert markdown("````\n```\nx") == ["````\n```\nx\n````"]


def test_a_table_that_fits_is_kept_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {'x' * 40} |" for n in range(200))
    parts = markdown("text. " * 800 + f"\n\n{table}\n\nafter")

    assert sum(table in part for part in parts) == 1


def test_a_table_too_long_for_one_message_repeats_its_head() -> None:
    head = "| a | b |\n|---|---|\n"
    parts = markdown(head + "\n".join(f"| {n} | {'x' * 40} |" for n in range(600)))

    assert len(parts) >= 3
    assert all(part.startswith(head) for part in parts)
    assert [int(n) for part in parts for n in re.findall(r"^\| (\d+) \|", part, re.MULTILINE)] == list(range(600))


def test_a_long_nested_list_does_not_become_code_where_it_is_cut() -> None:
    text = "- top\n" + "\n".join(f"    - nested item number {n}" for n in range(1_000))
    parts = markdown(text)

    assert len(parts) >= 2
    assert all("code_block" not in [token.type for token in HTML.parse(part)] for part in parts)
    assert [int(n) for part in parts for n in re.findall(r"number (\d+)", part)] == list(range(1_000))


def test_a_numbered_list_that_is_cut_goes_on_counting() -> None:
    parts = markdown("\n".join(f"{n}. item with some words in it" for n in range(3, 900)))

    assert parts[0].startswith("3. ")
    assert [int(n) for part in parts for n in re.findall(r"^(\d+)\.", part, re.MULTILINE)] == list(range(3, 900))


def test_tables_nested_lists_headings_and_numbers_are_left_to_slack() -> None:
    text = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n  - y\n    - z\n\n3. three\n4. four\n\n- [ ] todo"

    assert markdown(text) == [text]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("这是**重要**的", "这是<strong>重要</strong>的"),
        ("**Note:**text", "<strong>Note</strong>:text"),
        ("**Note:** text", "<strong>Note:</strong> text"),
        ("这是**“重要”**的", "这是“<strong>重要</strong>”的"),
        ("含**「重点」**内容", "含「<strong>重点</strong>」内容"),
        ("**注意：**请看", "<strong>注意</strong>：请看"),
        ("**（注意）**这", "（<strong>注意</strong>）这"),
        ("他说**“好。”**然后", "他说“<strong>好。</strong>”然后"),
        ("**“a”和“b”**的", "<strong>“a”和“b”</strong>\u2009的"),
        ("**请注意（重要）**的", "<strong>请注意（重要）</strong>\u2009的"),
        ("用**`code`**的", "用\u2009<strong><code>code</code></strong>\u2009的"),
        ("看**[文档](https://x.example)**的", '看\u2009<strong><a href="https://x.example">文档</a></strong>\u2009的'),
        ("**100%**的", "<strong>100%</strong>\u2009的"),
        ("~~“旧”~~的", "“<s>旧</s>”的"),
        ("这*「轻」*的", "这「<em>轻</em>」的"),
        ("是__重要__的", "是<strong>重要</strong>的"),
        ("**A:**x and **B:** y", "<strong>A</strong>:x and <strong>B:</strong> y"),
        ("2*3*4", "2*3*4"),
        ("x = a*b*c", "x = a*b*c"),
        ("**5*3**", "<strong>5*3</strong>"),
        ("my_var_name", "my_var_name"),
        ("`__init__`和`a**b:**c`", "<code>__init__</code>和<code>a**b:**c</code>"),
        ("f(**kwargs) and g(**opts)", "f(**kwargs) and g(**opts)"),
        ("a ** b ** c", "a ** b ** c"),
        ("*italic* and **bold** and ***both***", "<em>italic</em> and <strong>bold</strong> and <em><strong>both</strong></em>"),
        ("[a & b](https://x.example/?a=1&b=2)", '<a href="https://x.example/?a=1&amp;b=2">a &amp; b</a>'),
    ],
)
def test_emphasis_comes_out_as_it_was_meant(text: str, html: str) -> None:
    assert rendered(text) == f"<p>{html}</p>"


@pytest.mark.parametrize("text", ["- **要点：**说明", "> **要点：**说明", "## **要点：**说明", "| **要点：**说明 |\n|---|\n| x |", "1. **要点：**说明"])
def test_emphasis_is_mended_in_lists_quotes_headings_and_tables(text: str) -> None:
    assert "<strong>要点</strong>：说明" in rendered(text)


def test_nothing_is_mended_inside_a_fence() -> None:
    text = "```\n**Note:**text 2*3*4 是__重要__的\n```"

    assert markdown(text) == [text]


@pytest.mark.parametrize("text", ["", "   ", "\n\n\n", "\u200b", "\x00", "\ud800"])
def test_an_odd_answer_is_one_message_too(text: str) -> None:
    assert len(markdown(text)) == 1


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            ["```\n", "```py\n", "~~~\n", "> ", "- ", "1. ", "    ", "\n", "\n\n", "**", "*", "`", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "# ", "中文。", "，", "word ", "👩‍👩‍👧", "e\u0301", "[x](https://x.example)", "\\", "---\n"]
        ),
        st.integers(1, 250).map(lambda n: "x" * n),
        st.integers(1, 80).map(lambda n: "中文句子。" * n),
        st.integers(1, 40).map(lambda n: "line of text\n" * n),
        st.text(max_size=20),
    ),
    max_size=14,
).map("".join)  # fmt: skip


def content(text: str) -> str:
    """Letters and digits only: what splitting and mending must neither lose nor reorder."""
    return "".join(char for char in text if char.isalnum())


@settings(max_examples=150, deadline=None)
@given(MARKDOWN)
def test_any_markdown_is_split_without_loss_into_pieces_whole_in_themselves(text: str) -> None:
    whole = close_fences(tidy(text))
    parts = split(whole, 200)

    assert all(len(part.encode("utf-16-le")) // 2 <= 200 for part in parts)
    arrived = iter(content("".join(parts)))  # a fence's language and a table's head may be repeated
    assert all(char in arrived for char in content(text))
    assert len(parts) > 1 or content(text) == content("".join(parts))
    for part in parts:
        for fence in HTML.parse(part):
            if fence.type == "fence" and fence.map is not None and "`" not in text.replace("```", ""):
                assert fence.map[1] - fence.map[0] >= 2


@settings(max_examples=50, deadline=None)
@given(MARKDOWN)
def test_any_markdown_is_an_answer_slack_takes(text: str) -> None:
    assert content("".join(markdown(text))) == content(text)


def test_the_fallback_is_readable_and_never_leaves_code_open() -> None:
    assert fallback("# Title\n\n**bold** & `<!here>` 2\\*3\n```\na **b**\n```") == "Title\n\nbold &amp; `&lt;!here&gt;` 2*3\n```\na **b**\n```"
    assert fallback("`" + "x" * 5_000 + "`").endswith("…`")
    assert fallback("```\n" + "x\n" * 5_000 + "```").endswith("…\n```")
    assert len(fallback("&" * 5_000)) <= 3_000
    assert len(fallback("👩" * 5_000).encode("utf-16-le")) // 2 <= 3_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_progress_is_calm_before_the_first_word(language: str) -> None:
    shown = progress(" \n", language)

    assert [block["type"] for block in shown.blocks] == ["context"]
    assert shown.text in {"Thinking…", "正在思考…"}


@pytest.mark.parametrize("length", [10, 9_000, 60_000])
def test_progress_is_one_message_that_says_it_goes_on(length: int) -> None:
    shown = progress("```py\n" + "x = 1\n" * (length // 6), "en")

    assert [block["type"] for block in shown.blocks] == ["markdown", "context"]
    assert shown.blocks[0]["text"].endswith("\n```")
    assert "still writing" in shown.blocks[1]["elements"][0]["text"]
    for block in Block.parse_all(shown.blocks):
        block.validate_json()
    assert sum(len(text) for text in texts(shown.blocks)) <= 12_500


def texts(value: Any) -> list[str]:
    found = re.findall(r'"text": ("(?:[^"\\]|\\.)*")', json.dumps(value, ensure_ascii=False))
    return [json.loads(text) for text in found]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["Mei", "", "x" * 500, "*bold* <!channel>\n:smile:", "梅"])
def test_the_home_greets_and_explains(name: str, language: str) -> None:
    view = home(name, language, ["/steward"])

    View(**view).validate_json()
    assert "/steward" in json.dumps(view)
    assert view["blocks"][0]["text"]["emoji"] is False
    assert help_text(language)


def test_a_quote_deeper_than_a_message_still_ends_and_stays_a_few_messages() -> None:
    assert content("".join(markdown("> " * 6_000 + "x"))) == "x"
    assert len(markdown("> " * 6_000 + "x")) == 1

    parts = markdown("> " * 5_600 + "word " * 2_000)

    assert content("".join(parts)) == "word" * 2_000
    assert len(parts) <= 2


def test_a_code_span_that_is_cut_is_closed_and_opened_again() -> None:
    inside = "https://evil.example/?d=" + "x" * 14_000 + " `` " + "y" * 14_000
    for text in (f"before `{inside}` after", "> `" + inside.replace(" ", "\n> ") + "`", "| a | b |\n|---|---|\n" + f"| `{inside}` | 2 |"):
        parts = markdown(text)

        assert len(parts) >= 3
        for part in parts:
            words = "".join(child.content for token in HTML.parse(part) for child in token.children or [] if child.type == "text")
            assert not re.search("https|xx|yy", words)


def test_an_escape_is_not_parted_from_what_it_escapes() -> None:
    parts = markdown("x" + "\\[" * 12_000)

    assert len(parts) == 3
    assert all(part.startswith(("x\\", "\\")) and part.endswith("\\[") for part in parts)


def test_a_fence_or_a_table_head_as_long_as_a_message_does_not_make_a_flood() -> None:
    rows = "| 1 | 2 |\n" * 3_000
    for text in (
        "> " * 5_000 + "```\n" + "> x\n" * 8_000,
        "```" + "i" * 11_000 + "\n" + "x = 1\n" * 5_000,
        "`" * 11_000 + "\nx\n" + "`" * 11_000 + "\n" + "text " * 5_000,
        f"| {'head ' * 2_200} | b |\n|---|---|\n{rows}",
        "`" * 3_000 + "x" * 30_000 + "`" * 3_000,
    ):
        assert len(markdown(text)) <= len(text) / MAX_PART * 2 + 3


PATHOLOGICAL: dict[str, Callable[[int], str]] = {
    "deep quotes": lambda n: "> " * (n // 2) + "x",
    "deep bare quotes": lambda n: ">" * n + "x",
    "deep lists": lambda n: "- " * (n // 2) + "x",
    "deep numbered lists": lambda n: "1. " * (n // 3) + "x",
    "quotes in lists": lambda n: "> - " * (n // 4) + "x",
    "ever deeper lists": lambda n: "\n".join("  " * depth + "- x" for depth in range(int(n**0.5))),
    "ever deeper quotes": lambda n: "\n".join(">" * depth + " x" for depth in range(int((2 * n) ** 0.5))),
    "open brackets": lambda n: "[" * n,
    "brackets": lambda n: "[]" * (n // 2),
    "nested brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "closings": lambda n: "@x [a] " + "](" * (n // 2),
    "open links": lambda n: "[a](" * (n // 4),
    "angled links": lambda n: "[x](<" * (n // 5),
    "nested links": lambda n: "[" * (n // 8) + "](//b)" * (n // 8),
    "images": lambda n: "![](" * (n // 4),
    "allowed links": lambda n: "[a](https://x.example) " * (n // 23),
    "links with titles": lambda n: "[x](a '" * (n // 7),
    "definitions": lambda n: "[a]: https://x.example\n" * (n // 23),
    "asterisks with words": lambda n: "*a " * (n // 3),
    "asterisks in words": lambda n: "*a" * (n // 2),
    "products": lambda n: "1*" * (n // 2),
    "asterisks": lambda n: "*" * n,
    "double asterisks": lambda n: "**a " * (n // 4),
    "strokes": lambda n: "~~a " * (n // 4),
    "underscores": lambda n: "__a中" * (n // 4),
    "backticks": lambda n: "`" * n,
    "ever longer backticks": lambda n: " ".join("`" * length for length in range(1, int((2 * n) ** 0.5))),
    "escaped backticks": lambda n: "\\``" * (n // 3),
    "fences": lambda n: "```\n" * (n // 4),
    "bars": lambda n: "|" * n,
    "a table": lambda n: "|a|b|\n|-|-|\n" + "|1|2|\n" * (n // 6),
    "a wide table": lambda n: "|a" * (n // 4) + "|\n" + "|-" * (n // 4) + "|\n",
    "a table of nothing": lambda n: "|a" * 120 + "|\n" + "|-" * 120 + "|\n" + "|\n" * (n // 2),
    "less-than signs": lambda n: "<" * n,
    "comments": lambda n: "<!--" * (n // 4),
    "tags": lambda n: "<a " * (n // 3),
    "instructions": lambda n: "<?" * (n // 2),
    "sections": lambda n: "<![CDATA[" * (n // 9),
    "ampersands": lambda n: "&" * n,
    "entities": lambda n: "&#x3c;" * (n // 6),
    "backslashes": lambda n: "\\" * n,
    "escaped brackets": lambda n: "\\[" * (n // 2),
    "families": lambda n: "👩‍👩‍👧" * (n // 5),
    "joiners": lambda n: "👩\u200d" * (n // 2),
    "flags": lambda n: "🇨" * n,
    "accents": lambda n: "e" + "\u0301" * n,
    "nothing visible": lambda n: "\u200b" * n,
    "a Chinese line without punctuation": lambda n: "这是一段没有标点的中文" * (n // 11),
    "Chinese domains": lambda n: "a。" * (n // 2),
    "domains": lambda n: "a." * (n // 2),
    "a word": lambda n: "a" * n,
    "addresses": lambda n: "https://x.example/a " * (n // 20),
    "an address": lambda n: "https://x.example/" + ")" * n,
    "blank lines": lambda n: "x" + "\n" * n + "x",
    "an indentation": lambda n: " " * n + "x",
}  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_no_text_keeps_the_renderer_for_long_or_becomes_a_flood(make: Callable[[int], str]) -> None:
    text = make(MAX_ANSWER)

    parts = answer_parts(text)

    assert len(parts) <= len(text.encode("utf-16-le")) / 2 / MAX_PART * 2 + 3
    assert all(len(part.blocks[0]["text"].encode("utf-16-le")) // 2 <= MAX_PART for part in parts)
    assert len(content("".join(part.blocks[0]["text"] for part in parts))) >= len(content(text))


def all_of_it(text: str) -> list[Rendered]:
    """Everything that is done to a model's text on its way to Slack."""
    urls(text)
    settled(text)
    return answer_parts(clean(text, {"https://x.example"}))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_no_text_keeps_the_guard_for_long_or_becomes_a_flood_by_cleaning(make: Callable[[int], str]) -> None:
    assert len(all_of_it(make(MAX_ANSWER))) <= 2 * 2 * MAX_ANSWER / MAX_PART + 3


def steps(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called while `work` runs: its cost, the same on every machine."""
    count = 0

    def called(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_a_text_twice_as_long_is_twice_the_work(make: Callable[[int], str]) -> None:
    once, twice = (steps(partial(all_of_it, make(length))) for length in (12_000, 24_000))

    assert twice <= 2.5 * once + 5_000


UNITS = [
    ">",
    "> ",
    "- ",
    "1. ",
    "[",
    "](",
    "![",
    "*a ",
    "**",
    "~~",
    "`",
    "``",
    "```\n",
    "|",
    "| a | b |\n|---|---|\n",
    "| 1 | 2 |\n",
    "<",
    "&",
    "\\",
    "👩‍👩‍👧",
    "\u200d",
    "\n",
    "\n\n",
    " ",
    "x",
    "word ",
    "中",
    "中文。",
    "https://x.example/a ",
]


@pytest.mark.timeout(120)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(UNITS), st.sampled_from([1, 2, 7, 400, 3_000, 12_000, 30_000])), min_size=1, max_size=5))
def test_any_long_text_ends_in_a_few_messages_without_loss(pieces: list[tuple[str, int]]) -> None:
    text = "".join((unit * times)[:30_000] for unit, times in pieces)[:MAX_ANSWER]

    parts = markdown(text)

    assert len(parts) <= len(text.encode("utf-16-le")) / 2 / MAX_PART * 2 + 3
    arrived = iter(content("".join(parts)))  # a table's head may be repeated
    assert all(char in arrived for char in content(text))


@pytest.mark.parametrize(("language", "sentence"), [("en", "… cut here: 15,4"), ("zh", "……在此截断：后面还有 15,4")])
def test_a_text_that_only_a_malfunction_writes_is_cut_and_says_so(language: str, sentence: str) -> None:
    text = "A sentence. " * 6_250

    short = capped(text, language)

    assert len(short) <= MAX_ANSWER
    kept, _, said = short.rpartition("\n\n")
    assert text.startswith(kept)
    assert said.startswith(sentence)
    assert f"{len(text) - len(kept):,}" in said
    assert capped(short, language) == short
    assert capped("x" * MAX_ANSWER, language) == "x" * MAX_ANSWER


def test_a_text_cut_inside_a_fence_says_so_outside_of_it() -> None:
    assert re.search(r"```\n\n… cut here: [0-9,]+ more characters$", capped("```py\n" + "x = 1\n" * 20_000, "en"))


def test_a_text_that_nobody_capped_still_ends_with_the_sentence() -> None:
    parts = answer_parts("word " * 60_000, "zh")

    assert len(parts) == MAX_PARTS
    assert "在此截断" in parts[-1].blocks[0]["text"]
