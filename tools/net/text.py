"""From a page's bytes to text: which characters they are, as browsers decide it, Chinese pages of every age included.

The order is: a byte order mark, what the server says, what the page says of itself, UTF-8, a guess from the bytes. The first
that fits the bytes wins. Only the codecs that the web uses are accepted: Python knows others that are not for untrusted input.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from charset_normalizer import from_bytes

_SAME: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "hz",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
}
"""Labels mean the larger set that browsers take them for: pages marked GB2312 use characters only GBK has."""
_NAMES: Final = {"windows-874": "cp874", "x-sjis": "cp932", "x-gbk": "gb18030", "x-x-big5": "big5hkscs", "unicode": "utf-16-le"}
"""Labels that browsers know and Python does not."""
_WEB: Final = frozenset(
    {
        *("utf-8", "utf-16-le", "utf-16-be", "gb18030", "hz", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "cp874", "cp866", "koi8-r", "koi8-u"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        "mac-roman",
    }
)
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"""<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_LOOKED_AT = 4096
"""Bytes at the start in which a page may name its characters."""
_GUESSED_FROM = 20_000


def codec(label: str) -> str | None:
    """Python's codec for a charset label of the web; None for one the web does not use."""
    label = label.strip().strip("\"'").lower()
    try:
        name = codecs.lookup(_NAMES.get(label, label)).name if label.isascii() else ""
    except (LookupError, ValueError):
        return None
    name = _SAME.get(name, name)
    return name if name in _WEB else None


def decode(body: bytes, charset: str = "") -> str:
    """The text of `body`; `charset` is what the server said, or empty. What no codec reads becomes U+FFFD; lines end in line feeds."""
    candidates = _candidates(body, charset)
    text = next((text for name in candidates if (text := _fitting(body, name)) is not None), None)
    if text is None:
        text = body.decode(candidates[0], errors="replace")
        if text.count("\ufffd") * 50 > len(text) and (guessed := _guess(body)) is not None:  # a stray byte is no reason to doubt what was said
            text = body.decode(guessed, errors="replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _candidates(body: bytes, charset: str) -> list[str]:
    for mark, name in _MARKS:
        if body.startswith(mark):
            return [name]
    said = codec(charset) if charset else None
    found = _META.search(body[:_LOOKED_AT])
    meta = codec(found[1].decode("ascii")) if found else None
    if meta is not None and meta.startswith("utf-16"):
        meta = "utf-8"  # it could not have been read had it been true
    # Latin-1 fits any bytes, and is what servers say that were never told: it comes after what is more particular.
    order = [meta, "utf-8", said] if said == "cp1252" else [said, meta, "utf-8"]
    return list(dict.fromkeys(name for name in order if name))


def _fitting(body: bytes, name: str) -> str | None:
    try:
        # Not final: the answer may have been cut in the middle of a character.
        return codecs.getincrementaldecoder(name)("strict").decode(body, final=False)
    except UnicodeDecodeError:
        return None


def _guess(body: bytes) -> str | None:
    best = from_bytes(body[:_GUESSED_FROM]).best()
    return codec(best.encoding) if best is not None else None
