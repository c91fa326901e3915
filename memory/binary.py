"""Finds encoded binary data in text and says how much of it there was instead.

A picture as base64, a hex dump or a signed blob costs a model more than all other text of a thread together and tells it nothing. What goes
must look like it: long, without spaces, letters and digits well mixed. Addresses, code, and text of any script stay as they are.
"""

from __future__ import annotations

import re
from typing import Final

SHORTEST: Final = 200
"""Characters below which nothing is taken for binary data that does not say of itself what it is (as `data:` addresses do)."""

_LONG_WORD: Final = 48
"""Characters between spaces that any encoded data has; most text is done with after looking for that."""

_DATA_URL: Final = re.compile(r"data:[\w.+-]{1,60}/[\w.+-]{1,80}(?:;[\w=.+-]{1,80}){0,4},[A-Za-z0-9+/=_%-]{100,}")
_WRAPPED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{48,100}(?:\\{1,4}r)?(?:\\{1,4}n|\r?\n)[ \t]?){2,}[A-Za-z0-9+/]{0,100}={0,2}")
"""Base64 in lines, as in mail and certificates; the line breaks may be written as escapes, as in JSON, or in JSON within JSON."""
_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{200,}={0,2}")
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>]*\Z", re.IGNORECASE)


def without_binary(text: str) -> str:
    """`text` with each piece of binary data replaced by "[binary data, 12,345 characters]"; the very same text when there is none."""
    if len(text) < 100 or max(map(len, text.split()), default=0) < _LONG_WORD:
        return text
    text = _DATA_URL.sub(_said, text) if "data:" in text else text
    text = _WRAPPED.sub(lambda found: _said(found) if _mixed(found[0]) else found[0], text)
    return _RUN.sub(lambda found: _said(found) if _mixed(found[0]) and not _in_an_address(found) else found[0], text)


def _said(found: re.Match[str]) -> str:
    return f"[binary data, {len(found[0]):,} characters]"


def _mixed(run: str) -> bool:
    """Whether a run looks like encoded bytes: digits and letters throughout, hardly anything that parts words, most of its alphabet used."""
    if len(run) < SHORTEST:
        return False
    head = run[:2000]
    digits = sum(character.isdigit() for character in head)
    parting = sum(character in "/_-" for character in head)
    if digits * 20 < len(head) or digits == len(head) or parting * 10 > len(head):
        return False
    kinds = set(head)
    if kinds <= set("0123456789abcdef") or kinds <= set("0123456789ABCDEF"):
        return len(kinds) >= 8
    return len(kinds) >= 24


def _in_an_address(found: re.Match[str]) -> bool:
    return _ADDRESS.search(found.string[max(0, found.start() - 2000) : found.start()]) is not None
