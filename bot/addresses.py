"""Addresses in a text: where something stands that a client might turn into a link, and when two of them are the same.

What counts is what clients do, not what a standard says: bare domains, e-mail addresses, Chinese top-level names, and
addresses that end where a sentence goes on. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

OPEN, SHUT = "\ufdd0", "\ufdd1"
"""Two characters that no text may hold: the guard marks finished pieces with them."""
_STOP: Final = rf"\s<>\"`|{OPEN}{SHUT}，。、；：！？（）【】「」『』《》“”‘’…\u0000-\u001f"
_SCHEMES: Final = "mailto|javascript|vbscript|tel|sms|slack|file|blob|facetime|skype|intent|view-source"
_COMMON: Final = "com|net|org|io|co|cn|dev|app|ai|me|info|biz|edu|gov|xyz|top|site|online|shop|tk|ru|uk|de|jp|example|test|invalid"
_WITH_SCHEME: Final = re.compile(rf"[a-z][a-z0-9+.-]{{0,30}}://[^{_STOP}]*|(?<![a-z0-9])(?:(?:{_SCHEMES}):|data:[a-z]+/)[^{_STOP}]+", re.IGNORECASE)
_DOMAIN: Final = re.compile(
    rf"(?P<host>(?:[\w.+%-]{{1,100}}@)?[\w-]{{1,100}}(?:\.[\w-]+)+)(?P<rest>(?::\d+)?(?:[/?#][^{_STOP}]*)?)"
    rf"|[a-z0-9-]{{1,63}}(?:[.。][a-z0-9-]{{1,63}}){{0,8}}。(?:{_COMMON})(?![a-z0-9])(?:[/?#:][^{_STOP}]*)?",
    re.IGNORECASE,
)
_HAN: Final = "\u3400-\u9fff\uf900-\ufaff"
_HAN_CHAR: Final = re.compile(f"[{_HAN}]")
_HAN_TLDS: Final = re.compile(
    "中国|中國|公司|网络|網絡|网址|網址|在线|商城|集团|香港|台湾|台灣|新加坡|澳門|澳门|游戏|移动|网站|网店|中文网|商店|商标|佛山|广东|我爱你|慈善|政务|机构|组织机构"
    "|手机|时尚|世界|企业|信息|健康|娱乐|招聘|新闻|旅游|购物|餐厅|食品"
)
SENTENCE_END: Final = ".,;:!?'\"*_~)]}"
_MOST_STEPS: Final = 32  # characters at the end of an address that may belong to the sentence


def canonical(url: str) -> str:
    """The one spelling of an address under which two are compared."""
    # `example.com`, `https://example.com` and `https://example.com/` say the same and carry nothing.
    bare = re.sub(r"^(?:https?://|mailto:)", "", url)
    return bare[:-1] if bare.endswith("/") and not set(bare[:-1]) & set("/?#") else bare


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where in (flattened) text something stands that a client might turn into a link."""
    at = 0
    for match in (*_WITH_SCHEME.finditer(text), None):
        for domain in _DOMAIN.finditer(text, at, match.start() if match else len(text)):
            found = _host(domain["host"], domain["rest"]) if domain["host"] else (0, len(domain[0]))
            if found is not None:
                yield domain.start() + found[0], domain.start() + found[1]
        if match:
            at = match.end()
            yield match.span()


def _host(host: str, rest: str) -> tuple[int, int] | None:
    """The part of `host + rest` that can be a domain or an e-mail address; None for `3.14`, `e.g`, `v2.0`, or two Chinese sentences."""
    labels = host.split(".")
    if len(labels) == 4 and rest and all(map(str.isdigit, labels)):
        return 0, len(host) + len(rest)
    end = len(host) + len(rest)
    if len(host) > 300:  # no such domain exists, but what a client makes of it is another matter
        return 0, end
    while len(labels) > 1:
        found = _domain(labels)
        if found is not None:
            start, stop = found
            return start, end if stop is None else stop
        if _HAN_CHAR.match(labels.pop()):  # `evil.example.后面`
            end = len(".".join(labels))
    return None


def _domain(labels: list[str]) -> tuple[int, int | None] | None:
    """Whether these labels are a domain: where it starts in them, and where it stops if before their end."""
    last = labels[-1]
    before = len(".".join(labels[:-1]))
    stop = None
    if _HAN_CHAR.match(last):
        if not _HAN_TLDS.fullmatch(last):
            return None
    elif cut := _HAN_CHAR.search(last):  # `README.md文件`: the name ends where the Chinese begins
        stop, last = before + 1 + cut.start(), last[: cut.start()]
    host = ".".join(labels)
    start = 0
    if last.isascii():  # `见README.md`: the name begins where the Chinese ends
        start = max((char.end() for char in _HAN_CHAR.finditer(host, 0, before) if host[char.end()] != "."), default=0)
    known = _COMMON if all(label.isdigit() for label in host[start:before].split(".")) else r"[^\W\d_]{2,}(?:[-_].*)?"
    return (start, stop) if re.fullmatch(known, last, re.IGNORECASE) else None


def stripped(url: str) -> Iterator[str]:
    """`url` and what is left of it when punctuation that probably belongs to the sentence is taken off, step by step."""
    yield url
    for end in range(len(url), max(len(url) - _MOST_STEPS, 0), -1):
        if url[end - 1] not in SENTENCE_END:
            return
        yield url[: end - 1]


def urls(text: str) -> set[str]:
    """The addresses in a person's message or a tool's result: with and without a scheme, and e-mail addresses, as they were written."""
    found: set[str] = set()
    for start, end in addresses(text):
        whole = text[start:end]
        for url in (whole, re.split(r"[^!-~]", whole)[0], whole.split("\\")[0]):
            found.update(form for form in stripped(url) if form and not form.endswith("://"))
    return found


def deceives(label: str, address: str) -> bool:
    """Whether a link's words name another site than the one it leads to."""
    target = _site(address)
    return any(_site(label[start:end]) != target for start, end in addresses(label))


def _site(address: str) -> str:
    return re.split(r"[/?#:]", canonical(address).rpartition("@")[2], maxsplit=1)[0].casefold().removeprefix("www.")
