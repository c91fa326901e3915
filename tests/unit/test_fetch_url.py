"""`fetch_url` as the engine runs it: pages in, text out, and every trouble in a sentence of its own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.unit.net_site import Site, answer, context, fetcher, redirect
from tools.builtin.fetch_url import MAX_BYTES, fetch_url
from tools.builtin.readable import MAX_ELEMENTS, MAX_LINKS, read_html
from tools.engine import execute
from tools.result import ErrorCode, Suggestion, ToolResult

PARAGRAPHS = "".join(f"<p>第{n}段：这里是正文，讲的是杭州的天气和西湖的风景，内容足够长。</p>" for n in range(6))
ARTICLE = (
    '<html lang="zh-CN"><head><meta charset="CHARSET"><title>西湖 游记</title><script>var secret = 1;</script><style>p{}</style></head>'
    '<body><nav><a href="/home">首页</a> <a href="/about#x">关于</a></nav><article><h1>西湖游记</h1>'
    f'{PARAGRAPHS}<ul><li>断桥</li><li>苏堤</li></ul></article><footer>版权所有 <a href="https://other.example/">友链</a></footer></body></html>'
)


async def fetch(site: Site, path: str = "/", **arguments: Any) -> ToolResult:
    return await execute(fetch_url, {"url": site.url(path)} | arguments, context(fetcher=fetcher(site)))


@pytest.mark.parametrize(
    ("charset", "header"), [("gbk", "text/html"), ("gb2312", "text/html; charset=gb2312"), ("utf-8", "text/html"), ("utf-8", "application/xhtml+xml")]
)
async def test_a_chinese_article_is_read_without_its_menus_and_scripts(charset: str, header: str) -> None:
    async with Site({"/": answer(ARTICLE.replace("CHARSET", charset).encode(charset), content_type=header)}) as site:
        result = await fetch(site)

    assert result.success, result
    page = result.data
    assert (page["url"], page["title"], page["language"]) == (site.url(), "西湖 游记", "zh-CN")
    assert "第0段" in page["text"]
    assert "- 断桥" in page["text"]
    assert not any(word in page["text"] for word in ("secret", "首页", "版权", "p{}"))
    assert page["complete"] is True


async def test_links_are_listed_when_asked_for_with_whole_addresses() -> None:
    many = "".join(f'<a href="/{n}">n{n}</a>' for n in range(300))
    bad = '<a href="javascript:x()">js</a><a href="mailto:a@b.c">mail</a><a href="http://[">broken</a><a>none</a><a href="/home">首页</a>'
    async with Site({"/": answer(ARTICLE + bad), "/many": answer(many)}) as site:
        links = (await fetch(site, links=True)).data["links"]
        assert links == [
            {"text": "首页", "url": site.url("/home")},
            {"text": "关于", "url": site.url("/about")},
            {"text": "友链", "url": "https://other.example/"},
        ]
        assert len((await fetch(site, "/many", links=True)).data["links"]) == MAX_LINKS


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", "# 标题\n\n1 < 2"),
        ("text/markdown; charset=utf-8", "# 标题"),
        ("application/json", '{"a": [1, "二"]}'),
        ("application/vnd.api+json", '{"a": 1}'),
        ("application/rss+xml", '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><rss>&e;</rss>'),
        ("text/csv", "a,b\n1,2"),
        ("", "just text"),
    ],
)
async def test_other_text_is_given_as_it_is(content_type: str, body: str) -> None:
    async with Site({"/": answer(body, content_type=content_type)}) as site:
        result = await fetch(site)

    assert result.success, result
    assert result.data["text"] == body
    assert result.data["content_type"] == (content_type.partition(";")[0] or "text/plain")


async def test_a_page_that_does_not_say_what_it_is_is_looked_at() -> None:
    async with Site({"/": answer(ARTICLE.replace("CHARSET", "utf-8"), content_type="")}) as site:
        assert (await fetch(site)).data["title"] == "西湖 游记"


async def test_a_short_page_and_a_page_without_an_article_are_read_plainly() -> None:
    async with Site({"/": answer("<title>T</title><h2>Opening hours</h2><div>9–5<br>closed on Sunday</div><script>x</script>")}) as site:
        page = (await fetch(site)).data

    assert page["title"] == "T"
    assert "Opening hours" in page["text"]
    assert "closed on Sunday" in page["text"]


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("application/pdf", b"%PDF-1.7", "a PDF file of 8 bytes"),
        ("image/png", b"\x89PNG\r\n\x1a\n", "an image (image/png)"),
        ("text/html", b"%PDF-1.7 \x00", "a PDF file"),
        ("text/plain", b"\x00\x01\x02\x03", "a file of unknown kind"),
        ("", b"\xff\xd8\xff\xe0", "an image (image/jpeg)"),
        ("video/mp4", b"....", "a video (video/mp4)"),
        ("application/zip", b"PK", "an archive (ZIP)"),
    ],
)
async def test_what_is_no_text_is_named(content_type: str, body: bytes, words: str) -> None:
    async with Site({"/": answer(body, content_type=content_type)}) as site:
        result = await fetch(site)

    assert result.error_code is ErrorCode.REFUSED
    assert result.suggestion is Suggestion.GIVE_UP
    assert words in str(result.error_message)


@pytest.mark.parametrize("body", ["", "   ", "<html><body><div id=app></div><script>run()</script></body></html>", "<!-- nothing -->"])
async def test_a_page_that_shows_nothing_is_said_to_be_empty(body: str) -> None:
    async with Site({"/": answer(body)}) as site:
        result = await fetch(site)

    assert (result.error_code, result.suggestion) == (ErrorCode.EMPTY, Suggestion.GIVE_UP)


async def test_a_very_long_page_is_cut_and_says_so() -> None:
    async with Site({"/": answer("字" * 1_000_000, content_type="text/plain; charset=utf-8")}) as site:
        result = await fetch(site)
        assert result.success
        assert result.data["complete"] is False
        page = await fetch_url(context(fetcher=fetcher(site)), site.url())
    assert len(page.text) == MAX_BYTES // 3


@pytest.mark.parametrize(
    "page", ["<p>just this, 只有这个</p>", "just this, 只有这个", "<!-- x --><div>just this, 只有这个", f"<p>just this, 只有这个 {'x' * 1_500_000}</p>"]
)
async def test_a_fragment_is_a_page_too(page: str) -> None:
    reading = await read_html(page.encode(), "utf-8", "https://example.com/", links=False)

    assert reading.text.startswith("just this, 只有这个")


async def test_a_page_made_to_be_slow_to_read_is_read_plainly() -> None:
    hostile = "<p>" + "<br>a" * (MAX_ELEMENTS * 20)
    reading = await read_html(hostile.encode(), "utf-8", "https://example.com/", links=False)
    nested = await read_html(b"<div><b>" * 100_000 + b"deep", "utf-8", "https://example.com/", links=True)

    # Seeking its article takes minutes and finds nothing; the time-out of the test would show it.
    assert reading.text.count("a") == MAX_ELEMENTS * 20
    assert nested.title == ""


async def test_troubles_have_their_codes() -> None:
    async def silent(_: str, writer: asyncio.StreamWriter) -> None:
        writer.close()

    pages: dict[str, Any] = {"/inside": redirect("http://169.254.169.254/latest"), "/down": answer("", 502), "/silent": silent, "/loop": redirect("/loop")}
    async with Site(pages) as site:
        codes = {path: (await fetch(site, path)).error_code for path in ("/inside", "/missing", "/down", "/silent", "/loop")}
        inside = await fetch(site, "/inside")
    assert codes == {
        "/inside": ErrorCode.PERMISSION_DENIED,
        "/missing": ErrorCode.NOT_FOUND,
        "/down": ErrorCode.UPSTREAM_ERROR,
        "/silent": ErrorCode.UPSTREAM_ERROR,
        "/loop": ErrorCode.UPSTREAM_ERROR,
    }
    assert "169.254" not in json.dumps(inside.model_dump(mode="json"))


@pytest.mark.parametrize("url", ["example.com", "http://127.0.0.1/", "file:///etc/passwd", "https://nowhere.example/", "not an address"])
async def test_without_a_fetcher_of_its_own_the_default_one_guards(url: str) -> None:
    result = await execute(fetch_url, {"url": url}, context(fetcher=fetcher()))
    expected = {"example.com": "INVALID_ARGUMENTS", "not an address": "INVALID_ARGUMENTS", "https://nowhere.example/": "NOT_FOUND"}
    assert result.error_code == expected.get(url, "PERMISSION_DENIED")
    if "nowhere" not in url:  # what is refused before any name is asked for, also without a test's resolver
        assert (await execute(fetch_url, {"url": url}, context())).error_code == result.error_code


def test_its_result_is_shared_in_the_workspace_for_a_while_and_is_text_from_outside() -> None:
    assert (fetch_url.cache_ttl, fetch_url.scope, fetch_url.stale_ttl, fetch_url.trusted) == (300, "workspace", 3600, False)
    assert (fetch_url.effect, fetch_url.group) == ("read", "web")
