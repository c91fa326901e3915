"""What a Markdown text is made of, as far as the guard and the renderer must know: its blocks, its fences, its code spans.

Slack's `markdown` block takes standard Markdown, so a CommonMark parser (with tables and strike-through) says where
code begins and ends; guessing with patterns is how a link hides in something that only looks like code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NEWLINES: Final = re.compile(r"\r\n?")
_OPENER: Final = re.compile(r"^(?P<prefix>.*?)(?P<marker>`{3,}|~{3,})(?P<info>[^\n]*)$")
_BACKTICKS: Final = re.compile(r"\\.|`+", re.DOTALL)
_QUOTES: Final = re.compile(r"^(?:\s*>\s?)+")


def _parser(*, html: bool, inline: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    # Addresses are compared as they were written, so they must not be re-encoded, and odd ones must not become text.
    parser.normalizeLink = str  # type: ignore[method-assign,assignment]
    parser.validateLink = bool  # type: ignore[method-assign,assignment]
    if not inline:
        parser.core.ruler.disable(["inline", "text_join"])
    return parser


_BLOCKS: Final = _parser(html=False, inline=False)
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


def blocks(text: str) -> tuple[list[Token], dict[str, Any]]:
    """The block tokens of `text` (inline content unparsed) and its link references by label. `text` must be tidy."""
    env: dict[str, Any] = {}
    tokens = _BLOCKS.parse(text, env)
    return tokens, env.get("references", {})


def full(text: str, *, html: bool) -> list[Token]:
    """All tokens with their inline children; `html` says whether the reader's renderer knows raw HTML."""
    return _FULL[html].parse(text)


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
    at = 0
    while match := _BACKTICKS.search(text, at):
        at = match.end()
        if match[0][0] == "`":
            close = re.compile(rf"(?<!`){match[0]}(?!`)").search(text, at)
            if close is not None:
                yield match.start(), close.end()
                at = close.end()


def close_fences(text: str) -> str:
    """`text` with a fence that is still open at its end closed."""
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    open_ = [fence for fence in fences(lines, blocks(text)[0]) if not fence.closed and fence.end >= len(lines) - (lines[-1] == "")]
    return f"{text.rstrip(chr(10))}\n{open_[-1].closer}" if open_ else text
