"""`fetch_url`: a public web page as text, for a model that is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from tools.builtin.readable import read_html, read_text
from tools.decorator import tool
from tools.net import Fetcher, FetchError, NotReadable, Page, default_fetcher
from tools.net.words import kind, size
from tools.result import ErrorCode, Suggestion
from tools.tool import ToolContext, ToolFailed

MAX_BYTES: Final = 2_000_000
"""Bytes of one page, unpacked; what is beyond is not read."""
_SECONDS = 12.0

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("text/*", "application/json", "application/*+json", "application/xml", "application/*+xml", "application/yaml", "application/x-yaml")
_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)


class Link(BaseModel):
    """Where a page leads."""

    text: str
    url: str


class WebPage(BaseModel):
    """A page as it can be read."""

    url: str
    """The address it was found at in the end, after redirects."""
    title: str = ""
    text: str
    content_type: str
    language: str | None = None
    """As the page says, e.g. `zh-CN`."""
    links: list[Link] | None = None
    complete: bool = True
    """False when the page is longer than what is read of one."""


def _site(arguments: Mapping[str, Any]) -> str:
    """The site an address is on, as far as its spelling tells: a dead one must not close the others."""
    return str(arguments.get("url", "")).partition("://")[2].partition("/")[0].rpartition("@")[2].casefold()


@tool(
    effect="read",
    group="web",
    circuit=_site,
    goes_out="url",
    timeout=20,
    aliases=("fetchUrl", "open_url", "read_url", "web_fetch"),
    title="Read a web page",
    cache_ttl=300,
    scope="workspace",
    stale_ttl=3600,
    words={"zh": {"Read a web page": "读取网页", "Url": "网址", "Links": "列出链接"}},
)
async def fetch_url(
    ctx: ToolContext,
    url: Annotated[str, Field(description='Complete address of a public page, e.g. "https://example.com/news"', min_length=1, max_length=4000)],
    links: Annotated[bool, Field(description="Whether to list where the page links to as well")] = False,  # noqa: FBT002 - the model names its arguments
) -> WebPage:
    """Read one public web page and return its address, title and text (articles as Markdown; JSON, XML, feeds and plain text as they are).

    Use it for an address that a person wrote here or that a tool's result shows, exactly as it stands there. Not for searching the web, for pages
    that need a sign-in or lie in the company's own network, or for PDF files, images and downloads.
    """
    fetcher = ctx.resources.get("fetcher") or default_fetcher()
    try:
        return await _read(fetcher, url, links=links)
    except FetchError as error:
        raise error.as_tool_failure() from error


async def _read(fetcher: Fetcher, url: str, *, links: bool) -> WebPage:
    page = await fetcher.fetch(url, accept=(*_HTML, *_TEXT), max_bytes=MAX_BYTES, timeout=_SECONDS, cut=True)
    content_type = page.content_type or _guessed(page.body)
    _check_that_it_is_text(page)
    if content_type in _HTML:
        reading = await read_html(page.body, page.charset, page.url, links=links)
        shown = WebPage(url=page.url, title=reading.title, text=reading.text, content_type=content_type, language=reading.language or None)
        if links:
            shown.links = [Link(text=text, url=address) for text, address in reading.links]
    else:
        shown = WebPage(url=page.url, text=(await read_text(page.body, page.charset)).strip(), content_type=content_type)
    if not shown.text and not shown.links:
        raise ToolFailed(
            "The page was reached but shows no text: it is empty, or only shows something to a browser that runs its scripts.",
            code=ErrorCode.EMPTY,
            suggestion=Suggestion.GIVE_UP,
        )
    shown.complete = not page.truncated
    return shown


def _guessed(body: bytes) -> str:
    return "text/html" if body.lstrip()[:1] == b"<" else "text/plain"


def _check_that_it_is_text(page: Page) -> None:
    """Sites call files text that are none. Raises `NotReadable`."""
    found = next((content_type for signature, content_type in _SIGNATURES if page.body.startswith(signature)), None)
    wide = page.body.startswith((b"\xff\xfe", b"\xfe\xff")) or "utf-16" in page.charset.lower()
    if found is None and b"\x00" in page.body[:1024] and not wide:
        found = "application/octet-stream"
    if found is not None:
        raise NotReadable(f"This is {kind(found)}{'' if page.truncated else size(len(page.body))}, not text that can be read here.")
