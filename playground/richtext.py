"""Slack text to rich_text blocks, as Slack adds them to every message that came without blocks.

Understands fences, quotes, bulleted and numbered lists, code spans, bold, italic, strike, mentions, channels, broadcasts, user groups,
links and emoji. The parser is one pass per line and keeps no state between messages.
"""

from __future__ import annotations

import re

from playground.people import Json
from playground.text import unescape

_FENCE = re.compile(r"```\n?(.*?)\n?```\n?", re.DOTALL)
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<entity>[@#!]?[^<>\n]+)>"
    r"|(?<![\w*])\*(?P<bold>[^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^_\s](?:[^_\n]*[^_\s])?)_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>[^~\s](?:[^~\n]*[^~\s])?)~(?![\w~])"
    r"|(?<![\w:]):(?P<emoji>[a-z0-9_+'-]*[a-z_+'-][a-z0-9_+'-]*(?:::skin-tone-[2-6])?):(?![\w:])"
)
_BULLET = re.compile(r"^(?:•|-|\*)\s+(.*)$")
_NUMBER = re.compile(r"^\d+\.\s+(.*)$")
_QUOTE = re.compile(r"^(?:&gt;|>)\s?(.*)$")


def _entity(body: str) -> Json:
    """The element for one `<…>` sequence."""
    target, bar, label = body.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target[9:]}
    if target in ("!here", "!channel", "!everyone"):
        return {"type": "broadcast", "range": target[1:]}
    if target.startswith("!date^"):
        return {"type": "text", "text": unescape(label)}
    element: Json = {"type": "link", "url": unescape(target)}
    if bar:
        element["text"] = unescape(label)
    return element


def inline(text: str, style: Json | None = None) -> list[Json]:
    """The inline elements of one run of Slack text; `style` is what surrounds it."""
    out: list[Json] = []

    def plain(piece: str) -> None:
        if piece:
            out.append({"type": "text", "text": unescape(piece), **({"style": style} if style else {})})

    at = 0
    for match in _INLINE.finditer(text):
        plain(text[at : match.start()])
        at = match.end()
        kind = match.lastgroup or ""
        body = match[kind]
        if kind == "code":
            out.append({"type": "text", "text": unescape(body), "style": {**(style or {}), "code": True}})
        elif kind == "entity":
            element = _entity(body)
            out.append({**element, "style": style} if style else element)
        elif kind == "emoji":
            name, _, tone = body.partition("::skin-tone-")
            out.append({"type": "emoji", "name": name, **({"skin_tone": int(tone)} if tone else {})})
        else:
            out.extend(inline(body, {**(style or {}), kind: True}))
    plain(text[at:])
    return out


def _lines(text: str, elements: list[Json]) -> None:
    """Append the sections, quotes and lists of text that holds no fence."""
    kind, held = "", list[str]()

    def flush() -> None:
        if not held:
            return
        if kind in ("bullet", "ordered"):
            items = [{"type": "rich_text_section", "elements": inline(item)} for item in held]
            elements.append({"type": "rich_text_list", "style": kind, "indent": 0, "border": 0, "elements": items})
        else:
            joined = "\n".join(held)
            if joined:
                elements.append({"type": f"rich_text_{kind}", "elements": inline(joined)})
        held.clear()

    for line in text.split("\n"):
        for name, pattern in (("quote", _QUOTE), ("bullet", _BULLET), ("ordered", _NUMBER)):
            if match := pattern.match(line):
                now, content = name, match[1]
                break
        else:
            now, content = "section", line
        if now != kind:
            flush()
            kind = now
        held.append(content)
    flush()


def elements_of(text: str) -> list[Json]:
    """The rich_text elements of a whole message."""
    if "```" not in text and "\n" not in text and not text.startswith((">", "&gt;", "•", "- ", "* ")) and not text[:1].isdigit():
        return [{"type": "rich_text_section", "elements": inline(text)}]
    elements: list[Json] = []
    at = 0
    for fence in _FENCE.finditer(text):
        if before := text[at : fence.start()].removesuffix("\n"):
            _lines(before, elements)
        elements.append({"type": "rich_text_preformatted", "elements": [{"type": "text", "text": unescape(fence[1])}], "border": 0})
        at = fence.end()
    if rest := text[at:]:
        _lines(rest, elements)
    return elements


def blocks_of(text: str, block_id: str) -> list[Json]:
    """The one rich_text block Slack would add for `text`; none for an empty text."""
    return [{"type": "rich_text", "block_id": block_id, "elements": elements_of(text)}] if text else []
