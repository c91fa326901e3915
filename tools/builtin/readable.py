"""From a web page to what a person would read of it: the article without menus and scripts, in Markdown, by trafilatura.

Everything here takes time in proportion to a page that somebody else wrote, so it runs in a lane of its own, and
pages of very many elements get a plainer reading that costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

from tools.net.text import decode
from tools.threads import beside

MAX_ELEMENTS: Final = 8_000
"""Elements of a page up to which the article is sought; that takes about a second. A hostile page could make it minutes."""
MAX_LINKS: Final = 100

_UNREAD = frozenset({"script", "style", "noscript", "template", "head", "svg", "iframe", "object", "select", "textarea"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul"),
    }
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a page."""

    title: str
    text: str
    """Markdown; empty when the page shows nothing without running its scripts."""
    language: str = ""
    """As the page says, e.g. `zh-CN`; empty when it does not."""
    links: tuple[tuple[str, str], ...] = ()
    """(text, address) of its links, at most `MAX_LINKS`."""


async def read_text(body: bytes, charset: str) -> str:
    """`body` decoded; a guess at its characters may take a while."""
    return await beside("readable", lambda: decode(body, charset), width=_AT_ONCE)


async def read_html(body: bytes, charset: str, url: str, *, links: bool) -> Reading:
    """The readable part of an HTML page at `url`; with `links`, where it leads as well."""
    return await beside("readable", lambda: _read(decode(body, charset), url, links=links), width=_AT_ONCE)


def _read(html: str, url: str, *, links: bool) -> Reading:
    import trafilatura  # noqa: PLC0415 - two seconds and 60 MB that only a first page should cost, in its thread

    # Given as text and not as bytes, which trafilatura would unpack without a limit when they look compressed.
    html = html.replace("\x00", "").strip()
    if "html" not in html[:50].lower():
        html = f"<html>{html}"  # without it trafilatura takes a bare fragment for no page at all
    tree: Any = trafilatura.load_html(html)
    if tree is None:
        return Reading("", "")
    title = next((text for name in ("title", "h1") for node in tree.iter(name) if (text := _line("".join(node.itertext())))), "")
    said = str(tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    language = said if _LANGUAGE.fullmatch(said) else ""
    found = tuple(_links(tree, url)) if links else ()
    small = sum(1 for _ in tree.iter()) <= MAX_ELEMENTS
    plain = _tidy("".join(_words(tree)))
    article = trafilatura.extract(tree, url=url, fast=True, output_format="markdown", include_comments=False, include_tables=True) if small else None
    return Reading(title[:300], article or plain, language, found)


def _words(tree: Any) -> Iterator[str]:
    """The text of every visible element, a line for each block. A walk without recursion: pages may be nested deeply."""
    stack: list[tuple[Any, bool]] = [(tree, True)]
    while stack:
        node, enters = stack.pop()
        name = node.tag if isinstance(node.tag, str) else "script"  # comments have a function for a name
        block = "\n" if name in _BLOCKS else ""
        if not enters:
            yield block + (node.tail or "")
            continue
        stack.append((node, False))
        if name not in _UNREAD:
            yield block + (node.text or "")
            stack.extend((child, True) for child in reversed(node))


def _links(tree: Any, url: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for node in tree.iter("a"):
        try:
            address = urljoin(url, str(node.get("href") or "").strip()).partition("#")[0]
        except ValueError:
            continue  # not an address anybody could follow
        text = _line("".join(node.itertext()))
        if text and address.startswith(("http://", "https://")) and address not in seen and len(address) <= 2000:
            seen.add(address)
            yield text[:200], address
            if len(seen) == MAX_LINKS:
                return


def _line(text: str) -> str:
    return " ".join(text.split())


def _tidy(text: str) -> str:
    lines = (_line(line) for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
