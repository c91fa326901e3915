"""What a Markdown text is made of, as far as the guard and the renderer must know: its blocks, its fences, its code spans.

Slack's `markdown` block takes standard Markdown, so a CommonMark parser (with tables and strike-through) says where
code begins and ends; guessing with patterns is how a link hides in something that only looks like code.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NEWLINES: Final = re.compile(r"\r\n?")
_OPENER: Final = re.compile(r"^(?P<prefix>.*?)(?P<marker>`{3,}|~{3,})(?P<info>[^\n]*)$")
_BACKTICKS: Final = re.compile(r"\\.|`+", re.DOTALL)
BRACKET: Final = re.compile(r"\\.|[\[\]]", re.DOTALL)
"""A square bracket, or an escape (which may be one that does not count)."""
_RUN: Final = re.compile(r"`+")
_QUOTES: Final = re.compile(r"^(?:\s*>\s?)+")


def _parser(*, html: bool, inline: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    # Addresses are compared as they were written, so they must not be re-encoded, and odd ones must not become text.
    parser.normalizeLink = str  # type: ignore[method-assign,assignment]
    parser.validateLink = bool  # type: ignore[method-assign,assignment]
    if not inline:
        parser.core.ruler.disable(["inline", "text_join"])
    return parser


_BLOCKS: Final = {html: _parser(html=html, inline=False) for html in (False, True)}
_FULL: Final = {html: _parser(html=html, inline=True) for html in (False, True)}


def tidy(text: str) -> str:
    """`text` with plain line ends, and with NUL, lone surrogates and the two non-characters used as marks here replaced by U+FFFD."""
    text = _NEWLINES.sub("\n", text)
    if text.isascii():
        return text.replace("\x00", "\ufffd")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "\ufffd").replace("\ufdd0", "\ufffd").replace("\ufdd1", "\ufffd")


def size(text: str) -> int:
    """Length as Slack counts it: UTF-16 units, in which an emoji is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitting(text: str, room: int) -> int:
    """How many characters from the beginning of `text` fit into `room` UTF-16 units."""
    end = min(len(text), room)
    while size(text[:end]) > room:
        end -= max((size(text[:end]) - room) // 2, 1)
    return end


def blocks(text: str, *, html: bool = False) -> tuple[list[Token], dict[str, Any]]:
    """The block tokens of `text` (inline content unparsed) and its link references by label. `text` must be tidy.

    `html` says whether the reader's renderer knows raw HTML.
    """
    env: dict[str, Any] = {}
    tokens = _BLOCKS[html].parse(text, env)
    return tokens, env.get("references", {})


def children(content: str, references: dict[str, Any], *, html: bool = False) -> list[Token]:
    """The inline tokens of one block's `content`. Mind `depth`: a content with many open brackets takes long."""
    parser = _FULL[html]
    return parser.inline.parse(content, parser, {"references": references}, [])


def full(text: str) -> list[Token]:
    """All tokens of `text` with their inline children, as a renderer without HTML sees them."""
    return _FULL[False].parse(text)


def depth(content: str) -> int:
    """How many square brackets are open at once, at most: a parser looks for the end of each of them."""
    deepest = level = 0
    for match in BRACKET.finditer(content):
        level = level + 1 if match[0] == "[" else max(level - (match[0] == "]"), 0)
        deepest = max(deepest, level)
    return deepest


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: lines `start` to `end` (exclusive) of the text."""

    start: int
    end: int
    opener: str
    """Its first line as it should be repeated: container prefix (quotes, indentation), marker, language."""
    closer: str
    closed: bool


def fences(lines: list[str], tokens: list[Token]) -> list[Fence]:
    """Every fence at any depth, in order."""
    found = []
    for token in tokens:
        if token.type != "fence" or token.map is None:
            continue
        start, end = token.map
        match = _OPENER.match(lines[start])
        if match is None:
            continue
        quotes = _QUOTES.match(match["prefix"])
        # A list item's own marker ("- ```") is not repeated; what follows it is indented to the same column.
        prefix = quotes[0] if quotes else ""
        prefix += re.sub(r"\S", " ", match["prefix"][len(prefix) :])
        last = lines[end - 1] if end - 1 > start else ""
        body = last[len(_QUOTES.match(last)[0]) :] if quotes and _QUOTES.match(last) else last  # type: ignore[index]
        closed = re.fullmatch(rf"\s*{re.escape(match['marker'][0])}{{{len(match['marker'])},}}\s*", body) is not None
        found.append(Fence(start, end, prefix + match["marker"] + match["info"], prefix + match["marker"], closed))
    return found


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the code spans of one block of inline text are, backticks included."""
    if "`" not in text:
        return
    runs: dict[int, list[int]] = {}  # where the runs of each length begin
    for run in _RUN.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while match := _BACKTICKS.search(text, at):
        at = match.end()
        if match[0][0] == "`":
            same = runs.get(len(match[0]), [])
            number = bisect_left(same, at)
            if number < len(same):
                at = same[number] + len(match[0])
                yield match.start(), at


def close_fences(text: str) -> str:
    """`text` with a fence that is still open at its end closed."""
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    open_ = [fence for fence in fences(lines, blocks(text)[0]) if not fence.closed and fence.end >= len(lines) - (lines[-1] == "")]
    return f"{text.rstrip(chr(10))}\n{open_[-1].closer}" if open_ else text
