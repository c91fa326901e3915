"""What a Slack message carries besides its own words, as text: forwarded messages, an alert's attachments, blocks without a text, link previews. Pure.

Programs mostly leave `text` empty and put what they have to say into attachments or Block Kit blocks; a forwarded message arrives as an
attachment too. None of it is the author's own word, so it is kept apart from the text and treated as data all the way to the model.
Whatever Slack or a stranger's app sends, of whatever shape, comes out as a bounded text or as nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bot.events import FileRef
from bot.plain import plain

MAX_QUOTED: Final = 20_000
"""Characters of what one message carries; the rest is cut off, and the text says so."""
MAX_DEPTH: Final = 6
"""How deep messages within messages, and elements within elements, are looked into."""
_CUT: Final = "\n… (the rest is cut off)"
_REPEATED: Final = 8
"""Letters and digits from which a piece that stands within the message's own text counts as said already."""
_LABELLED: Final = frozenset({"actions", "context_actions"})
_TEXTS: Final = ("title", "subtitle", "text", "label", "description", "body", "alt_text")


def quoted(message: Mapping[str, Any]) -> str:
    """What `message`, as Slack's events and history give it, carries besides its text; empty when there is nothing.

    Blocks count when the text is empty or a program wrote the message: a person's blocks only repeat the text.
    """
    text = _string(message.get("text"))
    blocks = message.get("blocks") if not text.strip() or message.get("bot_id") else None
    if not blocks and not message.get("attachments"):
        return ""
    said = _key(plain(text))
    parts = [_Pieces(said)]
    parts[0].extend(_blocks(blocks, 0))
    for attachment in _mappings(message.get("attachments")):
        if sum(part.size for part in parts) > MAX_QUOTED:
            break
        parts.append(_Pieces(said))
        _attachment(attachment, parts[-1], 0)
    whole = "\n".join(dict.fromkeys(text for part in parts if (text := part.text())))
    return whole if len(whole) <= MAX_QUOTED else whole[: MAX_QUOTED - len(_CUT)] + _CUT


def described(file: FileRef) -> str:
    """A file in one line: its name, type and size."""
    return f"{file.name or file.id} ({file.mimetype or 'unknown type'}, {file.size} bytes)"


class _Pieces:
    """What was found in one attachment, or in the blocks: without what the message's own text, or a longer piece before, says already."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._seen = {said}
        self._lines: list[str] = []
        self.size = 0

    @property
    def count(self) -> int:
        return len(self._lines)

    def extend(self, pieces: Iterator[str]) -> None:
        for piece in pieces:
            if self.size > MAX_QUOTED:
                return
            self.add(piece)

    def add(self, piece: str) -> None:
        piece = piece.strip()[: MAX_QUOTED + 1]
        key = _key(piece)
        if not piece or key in self._seen or (len(key) >= _REPEATED and key in self._said):
            return
        if len(key) >= _REPEATED:  # short ones may well be meant twice: "ok" for two hosts
            self._seen.add(key)
        self._put(len(self._lines), piece)

    def head(self, at: int, line: str) -> None:
        """Put `line` in front of what came since there were `at` pieces, if anything did."""
        if line and len(self._lines) > at:
            self._put(at, line)

    def _put(self, at: int, piece: str) -> None:
        self._lines.insert(at, piece)
        self.size += len(piece) + 1

    def text(self) -> str:
        return "\n".join(self._lines).replace("\0", "").encode("utf-8", "replace").decode()


def _key(text: str) -> str:
    """What makes a piece the same as another: its letters and digits, or the whole of it when it has none."""
    return "".join(char for char in text.casefold() if char.isalnum()) or text.strip()


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _line(value: Any) -> str:
    """A value as one line."""
    return " ".join(plain(_string(value)[:MAX_QUOTED]).split())


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, Mapping))


# --- attachments ------------------------------------------------------------------------------------------------------


def _attachment(attachment: Mapping[str, Any], pieces: _Pieces, depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    start = pieces.count
    pieces.extend(_attached(attachment, depth))
    for inner in _mappings(attachment.get("attachments")):
        _attachment(inner, pieces, depth + 1)
    if pieces.count == start:
        pieces.add(plain(_string(attachment.get("fallback"))[:MAX_QUOTED]))
    pieces.head(start, _headline(attachment))


def _attached(attachment: Mapping[str, Any], depth: int) -> Iterator[str]:
    """What stands in one attachment, in the order in which Slack shows it."""
    for name in ("pretext", "title", "text"):
        text = plain(_string(attachment.get(name))[: MAX_QUOTED + 1])
        link = _string(attachment.get("title_link")) if name == "title" else ""
        yield f"{text} ({_line(link)})" if text and link and link not in text else text
    for field in _mappings(attachment.get("fields")):
        title, value = _line(field.get("title")), plain(_string(field.get("value"))[: MAX_QUOTED + 1])
        yield f"{title}: {value}" if title and value else title or value
    yield from _blocks(attachment.get("blocks"), depth + 1)
    if not _string(attachment.get("text")).strip():
        for quoted_block in _mappings(attachment.get("message_blocks")):
            message = quoted_block.get("message")
            if isinstance(message, Mapping):
                yield from _blocks(message.get("blocks"), depth + 1)
    for file in _mappings(attachment.get("files")):
        name = _line(file.get("name") or file.get("title"))
        yield f"(file: {name})" if name else ""
    yield from _labels(attachment.get("actions"))
    if not _forwarded(attachment):
        yield _line(attachment.get("footer"))


def _forwarded(attachment: Mapping[str, Any]) -> bool:
    return bool(attachment.get("is_share") or attachment.get("is_msg_unfurl") or attachment.get("message_blocks"))


def _headline(attachment: Mapping[str, Any]) -> str:
    """Where an attachment comes from, as far as Slack says."""
    author = _line(attachment.get("author_name") or attachment.get("author_subname"))
    channel = _line(attachment.get("channel_name")).lstrip("#")
    where = f" in #{channel}" if channel else ""
    if _forwarded(attachment):
        footer = "" if where else _line(attachment.get("footer"))
        return f"Forwarded from {author or 'someone'}{where}{f' ({footer})' if footer else ''}:"
    source = _line(attachment.get("from_url") or attachment.get("original_url"))
    if source:
        return f"Link preview of {source}{f', by {author}' if author else ''}:"
    return f"{author}{where}:" if author or where else ""


# --- blocks -----------------------------------------------------------------------------------------------------------


def _blocks(value: Any, depth: int) -> Iterator[str]:
    """The text of Block Kit blocks, piece by piece."""
    if depth > MAX_DEPTH:
        return
    for block in _mappings(value):
        kind = block.get("type")
        if kind == "rich_text":
            yield "\n".join(filter(None, (_rich(element, depth + 1) for element in _mappings(block.get("elements")))))
        elif kind in _LABELLED:
            yield from _labels(block.get("elements"))
        elif kind == "table":
            yield from _rows(block.get("rows"), depth + 1)
        else:
            yield from (_words(block.get(name), depth + 1) for name in _TEXTS)
            yield from (_words(field, depth + 1) for field in _mappings(block.get("fields")))
            yield from _labels([block.get("accessory")])
            for inside in ("elements", "children", "cards", "tasks", "details", "output"):
                yield from _inner(block.get(inside), depth + 1)


def _inner(value: Any, depth: int) -> Iterator[str]:
    """Blocks, or elements such as those of a context, within a block."""
    for each in _mappings([value] if isinstance(value, Mapping) else value):
        if each.get("type") in {"mrkdwn", "plain_text"}:
            yield _words(each, depth)
        else:
            yield from _blocks([each], depth)


def _words(value: Any, depth: int) -> str:
    """A text object, or a text as it is."""
    if isinstance(value, Mapping):
        if value.get("type") == "rich_text":
            return "\n".join(_blocks([value], depth))
        value = value.get("text")
    return plain(_string(value)[: MAX_QUOTED + 1])


def _labels(elements: Any) -> Iterator[str]:
    """Buttons and menus by what is written on them."""
    for element in _mappings(elements):
        label = _line(_words(element.get("text"), MAX_DEPTH) or _words(element.get("placeholder"), MAX_DEPTH))
        if label:
            yield f"(button: {label})"
        elif element.get("type") == "image":
            yield _line(element.get("alt_text"))


def _rows(value: Any, depth: int) -> Iterator[str]:
    for row in value if isinstance(value, list) else ():
        cells = (" ".join(_words(cell, depth).split()) for cell in _mappings(row))
        yield " | ".join(cells).strip(" |")


def _rich(node: Mapping[str, Any], depth: int) -> str:
    """An element of a rich text; its words are not encoded as those of other texts are."""
    if depth > MAX_DEPTH + 2:
        return ""
    kind, text = node.get("type"), _string(node.get("text"))
    match kind:
        case "link":
            url = _string(node.get("url"))
            return f"{text} ({url})" if text and text != url else url
        case "user":
            return f"<@{_string(node.get('user_id'))}>"
        case "usergroup":
            return f"<!subteam^{_string(node.get('usergroup_id'))}>"
        case "channel":
            return f"<#{_string(node.get('channel_id'))}>"
        case "broadcast":
            return f"@{_string(node.get('range'))}"
        case "emoji":
            return f":{_string(node.get('name'))}:"
        case "date":
            return _string(node.get("fallback")) or _string(node.get("timestamp"))
        case "rich_text_list":
            items = (_rich(item, depth + 1) for item in _mappings(node.get("elements")))
            numbered = node.get("style") == "ordered"
            return "\n".join(f"{f'{number}.' if numbered else '-'} {item}" for number, item in enumerate(items, 1))
        case _:
            return text or "".join(_rich(child, depth + 1) for child in _mappings(node.get("elements")))
