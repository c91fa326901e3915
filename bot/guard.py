"""What the model's Markdown may do to its readers: no pings, no links that nobody gave us.

A model can be talked into writing `<!channel>`, or an address that carries a secret away when it is clicked or
previewed. So every mention is shown as code, and an address is live only when a person or a tool wrote that very
address. Work is done on the text as written; a real parser then looks at the outcome, and if it still sees anything
live (two parsers may disagree about odd Markdown), the whole text is shown as code instead.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from markdown_it.token import Token

from bot.addresses import OPEN, SENTENCE_END, SHUT, addresses, canonical, deceives, stripped
from bot.lookalike import Flat, flatten, invisible
from bot.markdown import BRACKET, blocks, children, depth, fences, spans, tidy

_PLACE: Final = re.compile(f"{OPEN}(\\d+){SHUT}")
_SIGNED: Final = re.compile(rf"<\s*(?P<sign>[!！@#])(?P<body>[^<>{OPEN}]{{0,400}})>|<\s*[!！@#][\w^]+")
_ANGLED: Final = re.compile(rf"<(?P<target>[^<>\s|{OPEN}]+)(?:\|(?P<label>[^<>\n{OPEN}]*))?>")
_BROADCAST: Final = re.compile(r"@(?:channel|here|everyone)(?![a-z0-9_])", re.IGNORECASE)
_DEFINITION: Final = re.compile(rf"(?<!\\)\[(?P<label>[^\[\]{OPEN}]+)\]:\s*(?P<target><[^<>\n]*>|[^\s{OPEN}]+)")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_WORTH_A_LOOK: Final = re.compile(r"[@<\[]|:\S|\w[.。]\w")
_HTTP: Final = re.compile(r"https?://(?P<host>[a-z0-9.-]+)(?::\d{1,5})?(?:[/?#][!-~]*)?", re.IGNORECASE)
_ROUNDS: Final = 4
_PAREN: Final = re.compile(r"\\.|[()\s]", re.DOTALL)
_DEEPEST: Final = 32  # brackets open at once in one block of text: a parser's work grows with their number, and no prose has as many
_LONGEST: Final = 3_000
"""Characters of a link's address that are looked at; a longer one is no link here."""


@dataclass(frozen=True, slots=True)
class _Allowed:
    """Which addresses may be live."""

    urls: frozenset[str]
    hosts: frozenset[str]

    @classmethod
    def of(cls, urls: Collection[str], hosts: Collection[str]) -> _Allowed:
        return cls(frozenset(map(canonical, urls)), frozenset(host.lower() for host in hosts))

    def permits(self, url: str) -> bool:
        """`url` was given to us letter by letter, or is on an allowed host. Markdown's own escapes may be undone, nothing else."""
        return any(canonical(form) in self.urls or self._on_host(form) for form in {url, html.unescape(url), _ESCAPED.sub(r"\1", url)})

    def _on_host(self, url: str) -> bool:
        match = _HTTP.fullmatch(url)
        if match is None or "\\" in url:
            return False
        host = match["host"].lower()
        return host in self.hosts or any(entry.startswith(".") and host.endswith(entry) for entry in self.hosts)


# --- rewriting -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """One block of inline text while it is rewritten: finished pieces are put away under a mark, so that no later step touches them."""

    allowed: _Allowed
    text: str
    put_away: list[tuple[str, bool]] = field(default_factory=list)

    def keep(self, piece: str, *, ours: bool = False) -> str:
        self.put_away.append((piece, ours))
        return f"{OPEN}{len(self.put_away) - 1}{SHUT}"

    def code(self, shown: str) -> str:
        """A code span we write ourselves."""
        shown = "".join("ˋ" if char == "`" else "%7C" if char == "|" else char for char in shown if not invisible(char) and char not in "\n\t")
        shown = _PLACE.sub("", shown).strip()
        return self.keep(f"`{shown}`", ours=True) if shown else ""

    def mention(self, sign: str, body: str) -> str:
        """Who would have been pinged, readable and harmless: a word joiner keeps the name from being one even outside code."""
        name, _, label = body.partition("|")
        name = name.strip().removeprefix("subteam^")
        shown = (label or name).strip().lstrip("@#")
        return self.code("#" + shown) if sign == "#" else self.keep("`@\u2060" + self._plain(shown) + "`", ours=True)

    @staticmethod
    def _plain(shown: str) -> str:
        return "".join(char for char in shown if not invisible(char) and char not in "`\n\t|") or "…"

    def replace(self, find: Callable[[str], Iterator[tuple[int, int]]], with_: Callable[[str, str], str | None]) -> None:
        """Rewrite what `find` sees in the flattened text; `with_` gets the flat and the written form, and None leaves it alone."""
        flat = flatten(self.text)
        out: list[str] = []
        at = 0
        for start, end in find(flat.text):
            begin, stop = flat.origin(start, end)
            new = with_(flat.text[start:end], self.text[begin:stop]) if begin >= at else None
            if new is not None:
                out += (self.text[at:begin], new)
                at = stop
        self.text = "".join((*out, self.text[at:]))

    def finish(self) -> str:
        """The text with everything put back. If code of ours is in it, stray backticks may not pair with it."""
        if any(ours for _, ours in self.put_away):
            self.text = self.text.replace("\\`", "ˋ").replace("`", "ˋ")
        out = ""
        pieces = _PLACE.split(self.text)
        for number, piece in enumerate(pieces):
            text, ours = self.put_away[int(piece)] if number % 2 else (piece, False)
            if text and ((ours and out[-1:] in {"`", "\\"}) or (text[0] == "`" and out[-1:] == "`" and number % 2)):
                out += " "
            out += text
        return out


def _rewrite(text: str, allowed: _Allowed, *, references: bool, row: bool) -> str:
    block = _Block(allowed, "")
    free: list[str] = []
    at = 0
    for start, end in spans(text):
        if row and re.search(r"(?<!\\)\|", text[start:end]):
            continue  # in a table row the cell ends at the bar, code or not
        free += (text[at:start], block.keep(text[start:end]))
        at = end
    block.text = "".join((*free, text[at:]))
    block.text = re.sub(r"!(?=\[[^\[\]]*\][(\[])", "", block.text)  # an image is at most a link
    block.text = re.sub(r"!(?=\\?\[)", "! ", block.text)
    _links(block)
    if references:
        block.text = _DEFINITION.sub(lambda m: _definition(block, m), block.text)
    block.replace(lambda flat: (m.span() for m in _SIGNED.finditer(flat)), lambda flat, written: _signed(block, flat, written))
    block.replace(lambda flat: (m.span() for m in _ANGLED.finditer(flat)), lambda flat, written: _angled(block, flat, written))
    block.replace(addresses, lambda flat, written: _address(block, flat, written))
    block.replace(lambda flat: (m.span() for m in _BROADCAST.finditer(flat)), lambda flat, _: block.mention("@", flat[1:]))
    return block.finish()


def _links(block: _Block) -> None:
    """Inline links, the inner ones first: kept when allowed, else the label with the address beside it as code."""
    text = block.text
    out: list[str] = []
    openings: list[int] = []  # where in `out` the brackets stand that are still open
    at = 0
    while match := BRACKET.search(text, at):
        out.append(text[at : match.start()])
        at = match.end()
        if match[0] == "[":
            openings.append(len(out))
        escaped = match[0] != "]"
        opening = openings.pop() if openings and not escaped else None
        if match[0][-1] != "]" or text[at : at + 1] != "(":
            out.append(match[0])
            continue
        target = _target(text, at + 1)
        if opening is None or target is None:
            out.append(match[0] + " ")
            continue
        out[opening:] = [_link(block, "".join(out[opening + 1 :]), target[0], text[match.start() : target[1]])]
        at = target[1]
    block.text = "".join((*out, text[at:]))


def _link(block: _Block, label: str, address: str, written: str) -> str:
    flat = flatten(address).text
    if address and block.allowed.permits(address) and not deceives(flatten(label).text, flat):
        tail = written if not _BROADCAST.search(flatten(written).text) else f"]({address})"
        return block.keep("[") + label + block.keep(tail)
    if sign := re.match(r"[!@#](?=[\w^])", flat):
        return f"{label} {block.mention(sign[0], flat[1:])}".lstrip()
    if not (re.match(r"[a-z][a-z0-9+.-]*:|//|\\\\", flat, re.IGNORECASE) or any(addresses(flat))):
        return f"[{label}] ({written[2:]}"  # `handlers[0](event)`, or a place in some other document
    shown = block.code(flat)
    return shown if len(label) <= _LONGEST and flatten(label).text.strip() in {"", flat} else f"{label} ({shown})"


def _target(text: str, at: int) -> tuple[str, int] | None:
    """The address of an inline link whose parenthesis opened before `at`, and where the link ends."""
    match = re.compile(r"\s*").match(text, at)
    start = match.end() if match else at
    if text[start : start + 1] == "<":
        close = re.compile(r"[^<>\n\\]*(?:\\.[^<>\n\\]*)*>").match(text, start + 1)
        if close is None:
            return None
        address, at = text[start + 1 : close.end() - 1], close.end()
    else:
        level, end = 0, min(len(text), start + _LONGEST)
        for match in _PAREN.finditer(text, start, end):
            level += {"(": 1, ")": -1}.get(match[0], 0)
            if level < 0 or level > 10 or match[0].isspace():
                at = match.start()
                break
        else:
            at = end
        address = text[start:at]
    title = re.compile(r"(?:\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)").match(text, at)
    return None if title is None or OPEN in address else (address, title.end())


def _definition(block: _Block, match: re.Match[str]) -> str:
    target = match["target"].removeprefix("<").removesuffix(">")
    if block.allowed.permits(target):
        return block.keep(match[0])
    return "\\" + match[0]


def _signed(block: _Block, flat: str, written: str) -> str:
    body = flat.strip("<>").strip()
    if body.startswith("!--") or body.lower().startswith("!doctype"):
        return block.code(written)
    if body.startswith("!date^"):
        return block.code(body.rpartition("|")[2])
    return block.mention(body[0], body[1:])


def _angled(block: _Block, flat: str, written: str) -> str | None:
    target, _, label = flat[1:-1].partition("|")
    if not (re.match(r"[a-z][a-z0-9+.-]*:.|//", target, re.IGNORECASE) or any(addresses(target))):
        return None  # `List<String>` and the like
    if block.allowed.permits(written[1:-1].partition("|")[0]) and not deceives(flatten(label).text, target):
        return block.keep("[") + label + block.keep(f"]({target})") if label else block.keep(written)
    return f"{label} ({block.code(target)})" if label.strip() not in {"", target} else block.code(target)


def _address(block: _Block, flat: str, written: str) -> str:
    for form in stripped(written):
        if block.allowed.permits(form):
            return block.keep(form) + written[len(form) :]
    ascii_part = re.split(r"[^!-~]", written)[0]
    for form in stripped(ascii_part):
        if form and form != written and block.allowed.permits(form):
            return f"{block.keep(form)}{ascii_part[len(form) :]} {written[len(ascii_part) :]}"  # `https://a.example/看看`: two things, told apart
    shown = flat.rstrip(SENTENCE_END) or flat
    return block.code(shown) + flat[len(shown) :]


# --- the whole text --------------------------------------------------------------------------------------------------


def clean(text: str, allowed_urls: Collection[str], allowed_hosts: Collection[str] = ()) -> str:
    """The model's Markdown with nothing in it that pings, and no live address but those in `allowed_urls` or on `allowed_hosts`.

    `text` is everything written so far: a partial text is cleaned as a whole each time. `allowed_urls` holds addresses as a
    person or a tool wrote them, see `urls`; of `allowed_hosts`, one that begins with a dot stands for all hosts below it.
    Cleaning a clean text changes nothing. What is taken out of action stays readable, as inline code.
    """
    if not _WORTH_A_LOOK.search(flatten(text).text):
        return text
    allowed = _Allowed.of(allowed_urls, allowed_hosts)
    text = tidy(text)
    for _ in range(_ROUNDS):
        tokens, references = blocks(text)
        before, text = text, _once(text, tokens, allowed, references=bool(references))
        if text == before:
            return text if not _alive(text, tokens, references, allowed) else _as_code(text)
    return _as_code(text)


def _once(text: str, tokens: list[Token], allowed: _Allowed, *, references: bool) -> str:
    lines = text.split("\n")
    kind = ["" for _ in lines]
    for fence in fences(lines, tokens):
        for number in range(fence.start, fence.end):
            kind[number] = "fence"
    for token in tokens:
        if token.map and token.type in {"inline", "tr_open"}:
            for number in range(*token.map):
                kind[number] = kind[number] or (f"row {number}" if token.type == "tr_open" else f"text {token.map[0]}")
    out: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and kind[end] == kind[at] and (kind[at] or (lines[end].strip() and lines[at].strip())):
            end += 1
        piece = "\n".join(lines[at:end])
        out.append(piece if kind[at] == "fence" else _rewrite(piece, allowed, references=references, row=kind[at].startswith("row")))
        at = end
    return "\n".join(out)


def _alive(text: str, tokens: list[Token], references: dict[str, Any], allowed: _Allowed) -> bool:
    """Whether a Markdown renderer would find a live link, an image or a ping in it, or so many open brackets that nobody can say."""
    if _inline_alive(tokens, references, allowed, html_too=False):
        return True
    if "<" not in text:
        return False
    tokens, references = blocks(text, html=True)
    raw = any(_text_alive(token.content, allowed) for token in tokens if token.type == "html_block")
    return raw or _inline_alive(tokens, references, allowed, html_too=True)


def _inline_alive(tokens: list[Token], references: dict[str, Any], allowed: _Allowed, *, html_too: bool) -> bool:
    contents = (token.content for token in tokens if token.type == "inline" and _WORTH_A_LOOK.search(flatten(token.content).text))
    return any(depth(content) > _DEEPEST or _token_alive(children(content, references, html=html_too), allowed) for content in contents)


def _token_alive(tokens: list[Token], allowed: _Allowed) -> bool:
    words = ""
    for token in tokens:
        if token.type == "image" or (token.type == "link_open" and not allowed.permits(str(token.attrs.get("href", "")))):
            return True
        if token.type in {"text", "text_special", "html_inline"}:
            words += token.content
        else:
            if _text_alive(words, allowed):
                return True
            words = "\n" if token.type in {"softbreak", "hardbreak"} else OPEN
    return _text_alive(words, allowed)


def _text_alive(words: str, allowed: _Allowed) -> bool:
    flat = flatten(words)
    if _SIGNED.search(flat.text) or _BROADCAST.search(flat.text):
        return True
    return any(not any(allowed.permits(form) for form in stripped(_written(flat, words, span))) for span in addresses(flat.text))


def _written(flat: Flat, words: str, span: tuple[int, int]) -> str:
    begin, end = flat.origin(*span)
    return words[begin:end]


def _as_code(text: str) -> str:
    """The last resort: everything in one fence."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}\n{text.strip(chr(10))}\n{mark}"


# --- while it is being written ---------------------------------------------------------------------------------------


def settled(text: str) -> str:
    """The beginning of an unfinished text in which no link, mention or code span is cut in half: what may be shown already."""
    lines = tidy(text).split("\n")
    found = fences(lines, blocks("\n".join(lines))[0])
    if found and not found[-1].closed and found[-1].end >= len(lines):
        return text.rstrip("`~") if set(lines[-1].strip()) <= set("`~") else text
    start = text.rfind("\n") + 1
    masked, at = "", 0
    for begin, end in (*spans(text[start:]), (len(text), len(text))):
        masked += text[start + at : start + begin] + "x" * (end - begin)
        at = end
    start, masked = max(start, len(text) - _LONGEST), masked[-_LONGEST:]
    line, cut = text[start:], len(masked)
    for sign in (r"`", r"!?\[[^\]]*$", r"!?\[[^\]]*\]$", r"!?\[[^\]]*\]\([^)]*$", r"<[!@#a-zA-Z/&][^>]*$", r"&#?\w*$"):
        if match := re.search(sign, masked[:cut]):
            cut = match.start()
    tail = re.search(r"\S+$", masked[:cut])
    if tail and cut == len(line) and re.search(r"[:/.@#\uff20\\]|[a-z0-9-]$", tail[0], re.IGNORECASE):
        word = re.search(r"[^\s，。、；：！？（）“”]+$", tail[0])
        cut = tail.start() + word.start() if word else cut
    return text[: start + cut]
