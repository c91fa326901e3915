"""From bytes to text: what the server says, what the page says, and what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.net.text import codec, decode

CHINESE = "今天天气很好，我们去公园散步。价格：￥100。"


@pytest.mark.parametrize("label", ["gbk", "GB2312", "gb18030", "x-gbk", "utf-8", "UTF8", "utf-16le", '"gbk"'])
def test_what_the_server_says_is_believed(label: str) -> None:
    assert decode(CHINESE.encode({"utf-16le": "utf-16-le"}.get(label, "utf-8" if "utf" in label.lower() else "gb18030")), label) == CHINESE


@pytest.mark.parametrize(
    "meta",
    [
        "<meta charset=gbk>",
        '<META http-equiv="Content-Type" content="text/html; charset=gb2312">',
        "<?xml version='1.0' encoding='GB18030'?>",
        "<meta charset = 'GBK' />",
    ],
)
@pytest.mark.parametrize("said", ["", "iso-8859-1", "utf-8", "nonsense"])
def test_what_the_page_says_of_itself_is_believed_where_the_server_is_silent_or_wrong(meta: str, said: str) -> None:
    page = f"<html><head>{meta}<title>{CHINESE}</title>"

    assert decode(page.encode("gb18030"), said) == page


def test_traditional_japanese_and_korean_pages_are_read() -> None:
    assert decode("臺灣的天氣，嘅".encode("big5hkscs"), "Big5") == "臺灣的天氣，嘅"
    assert decode("①日本語".encode("cp932"), "Shift_JIS") == "①日本語"
    assert decode("똠방각하".encode("cp949"), "EUC-KR") == "똠방각하"
    assert decode("“quoted” €".encode("cp1252"), "ISO-8859-1") == "“quoted” €"


def test_a_byte_order_mark_wins_and_does_not_show() -> None:
    assert decode(b"\xef\xbb\xbf" + CHINESE.encode(), "gbk") == CHINESE
    assert decode(b"\xff\xfe" + CHINESE.encode("utf-16-le"), "utf-8") == CHINESE
    assert decode(b"\xfe\xff" + CHINESE.encode("utf-16-be")) == CHINESE


def test_a_page_that_nobody_describes_is_recognised() -> None:
    assert decode(CHINESE.encode()) == CHINESE
    assert CHINESE in decode((CHINESE * 20).encode("gb18030"))


def test_a_character_cut_in_half_and_a_stray_byte_do_not_spoil_the_rest() -> None:
    assert decode(CHINESE.encode()[:-1]) == CHINESE[:-1]
    assert decode(CHINESE.encode("gb18030")[:-1], "gbk") == CHINESE[:-1]
    spoilt = decode((CHINESE * 5).encode() + b"\xff" + (CHINESE * 5).encode(), "utf-8")
    assert (spoilt.count("\ufffd"), spoilt.startswith(CHINESE)) == (1, True)


@pytest.mark.parametrize(
    "label", ["zlib", "bz2", "hex", "rot13", "base64", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "utf-7", "undefined", "中文", "", "x" * 999]
)
def test_codecs_that_are_not_of_the_web_are_not_used(label: str) -> None:
    assert codec(label) is None
    assert decode(b"plain", label) == "plain"


@given(st.binary(max_size=3000), st.sampled_from(["", "utf-8", "gbk", "big5", "utf-16", "iso-2022-jp", "hz", "windows-874", "latin1", "?"]))
def test_any_bytes_become_some_text(body: bytes, label: str) -> None:
    assert "\r" not in decode(body, label)
