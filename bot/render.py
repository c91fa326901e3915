"""What people see, as Slack's blocks: the answer in parts, the answer while it grows, the App Home, the help text.

All of it is computed from values; nothing here talks to Slack. Texts by the model arrive cleaned by `guard`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.emphasis import marked, mend
from bot.markdown import blocks, close_fences, fences, fitting, size, spans, tidy
from bot.messages import say
from bot.split import split

MAX_PART: Final = 11_500
"""Characters of one message's answer text; Slack takes 12,000 of Markdown and about 13,200 in all."""
MAX_TEXT: Final = 3_000
"""Characters of the plain text beside the blocks, escapes counted."""
MAX_PARTS: Final = 12
"""Messages of an answer that was too long for `capped` and did not go through it; cleaning may double what did."""
MAX_HEADER: Final = 150
_ROOM_FOR_CUT: Final = 400
MAX_ANSWER: Final = 60_000
"""Characters of a model's text that are shown; a longer one is a malfunction, and nobody reads its tenth message."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One message: `blocks` is what is seen, `text` what notifications and screen readers use."""

    text: str
    blocks: list[dict[str, Any]]


def escape(text: str) -> str:
    """Slack's three escapes: nothing in the result can be a mention or a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shorten(text: str, limit: int) -> str:
    """At most `limit` UTF-16 units, with an ellipsis when something was left out."""
    if size(text) <= limit:
        return text
    return text[: fitting(text, limit - 1)] + "…"


def fallback(markdown: str) -> str:
    """The message as plain text of at most `MAX_TEXT` characters: emphasis and heading marks gone, code marks kept, escaped."""
    out: list[str] = []
    fenced = False
    for line in markdown[: 2 * MAX_TEXT].split("\n"):
        if line.lstrip(" >").startswith(("```", "~~~")):
            fenced = not fenced
        out.append(line if fenced else _unmarked(line))
    text = "\n".join(out).strip()
    room = MAX_TEXT
    while size(escape(shorten(text, room))) > MAX_TEXT - 8:
        room -= max((size(escape(shorten(text, room))) - MAX_TEXT + 8) // 5, 1)
    short = shorten(text, room)
    if short != text and short.count("```") % 2:
        short += "\n```"
    elif short != text and short.rpartition("\n")[2].count("`") % 2:
        short += "`"
    return escape(short) or "…"


def _unmarked(line: str) -> str:
    line = re.sub(r"^( {0,3}>? ?)#{1,6}\s+", r"\1", line)
    out, at = "", 0
    for start, end in (*spans(line), (len(line), len(line))):
        out += re.sub(r"\*\*|(?<!\w)__|__(?!\w)|~~|\\(?=[*_])", "", line[at:start]) + line[start:end]
        at = end
    return out


def _prepared(markdown: str) -> str:
    text = close_fences(tidy(markdown))
    if not marked(text):
        return text
    lines = text.split("\n")
    free = [True] * len(lines)
    tokens, _ = blocks(text)
    for fence in fences(lines, tokens):
        free[fence.start : fence.end] = [False] * (fence.end - fence.start)
    for token in tokens:
        if token.type == "code_block" and token.map:
            free[slice(*token.map)] = [False] * (token.map[1] - token.map[0])
    return mend(text, free)


def capped(text: str, language: str) -> str:
    """`text` if it has at most `MAX_ANSWER` UTF-16 units, else its beginning, with a last sentence that says how many characters are left out.

    This comes before `guard.clean`, never after it: a cut can open a code span. Cutting what was cut changes nothing.
    """
    if size(text) <= MAX_ANSWER:
        return text
    end = fitting(text, MAX_ANSWER - _ROOM_FOR_CUT)
    if "\n" in text[end - 200 : end]:
        end = text.rindex("\n", end - 200, end)
    kept = close_fences(tidy(text[:end]))
    kept = kept if size(kept) <= MAX_ANSWER - _ROOM_FOR_CUT // 2 else text[:end]  # a fence's mark can be as long as a text
    return f"{kept}\n\n{say('answer_cut', language, count=f'{len(text) - end:,}')}"


def _message(markdown: str) -> Rendered:
    return Rendered(text=fallback(markdown), blocks=[{"type": "markdown", "text": markdown}])


def answer_parts(markdown: str, language: str = "en") -> list[Rendered]:
    """The answer as one message or several, in order, each of at most `MAX_PART` characters; never none.

    Every part stands on its own: a fence cut in two is closed and opened again, a table that fits is kept whole. Of a text
    that nobody capped, `MAX_PARTS` messages are shown; `language` is that of the sentence which then says so. Whole messages
    are left out, because a cut anywhere in a cleaned text might open a code span and make live what it holds.
    """
    text = _prepared(markdown)
    if not _seen(text):
        return [_message("…")]
    parts = split(text, MAX_PART)
    if size(text) > 2 * MAX_ANSWER and len(parts) > MAX_PARTS:
        left_out = sum(map(len, parts[MAX_PARTS - 1 :]))
        parts[MAX_PARTS - 1 :] = [say("answer_cut", language, count=f"{left_out:,}")]
    return [_message(part) for part in parts]


def _seen(text: str) -> bool:
    return any(char.isprintable() and not char.isspace() for char in text)


def progress(markdown_so_far: str, language: str) -> Rendered:
    """One message for an unfinished answer: its first part as it will stand, and a small line saying that it goes on."""
    if not _seen(markdown_so_far):
        thinking = say("progress_thinking", language)
        return Rendered(text=thinking, blocks=[_small(thinking)])
    part = answer_parts(markdown_so_far)[0]
    return Rendered(text=part.text, blocks=[*part.blocks, _small(say("progress_writing", language))])


def plain(text: str) -> dict[str, Any]:
    """A plain-text object in which nothing is interpreted, emoji names included."""
    return {"type": "plain_text", "text": text, "emoji": False}


def _small(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [plain(text)]}


def header(text: str) -> dict[str, Any]:
    """A header block; a long text is cut at Slack's limit."""
    return {"type": "header", "text": plain(shorten(text, MAX_HEADER))}


def section(text: str) -> dict[str, Any]:
    """A section of plain text."""
    return {"type": "section", "text": plain(shorten(text, 3_000))}


def home(person_name: str, language: str, commands: Iterable[str]) -> dict[str, Any]:
    """The App Home: what I am, how to use me, and the slash commands (`/steward`)."""
    name = " ".join(tidy(person_name).split()) or say("home_someone", language)
    view: list[dict[str, Any]] = [
        header(say("home_hello", language, name=shorten(name, 80))),
        section(say("home_what", language)),
        {"type": "divider"},
        header(say("home_how_title", language)),
        section(say("home_how", language)),
        section(say("home_approvals", language)),
    ]
    listed = [shorten(command, 100) for command in commands][:20]
    if listed:
        view += [{"type": "divider"}, header(say("home_commands", language)), section("\n".join(listed))]
        view += [{"type": "section", "text": {"type": "mrkdwn", "text": say(key, language)}} for key in ("help_commands", "help_memory")]
    return {"type": "home", "blocks": view}


def help_text(language: str) -> str:
    """The answer to `/steward help`, in Slack's mrkdwn."""
    return "\n\n".join(say(key, language) for key in ("home_what", "home_how", "home_approvals", "help_commands", "help_memory"))
