"""The place on whose clock a time is meant: "9am Tokyo time", "东京时间早上9点", "15:00 UTC", "9am in New York".

One step of reading a moment (`when.py`), before all others. A place that is named as one and is not known is refused,
because the same hour on the person's own clock would be a wrong reminder.
"""

from __future__ import annotations

import re
from datetime import tzinfo
from typing import Final

from tools.builtin.clockwords import Unclear
from tools.builtin.moment import UnknownTimezone, find_timezone

_OWN: Final = re.compile(r"\b(?:my|our|local)(?: own)? time\b|(?:我的|我们的|我这边的?|我这里的?|当地|本地)时间")
"""The person's own clock, which is meant anyway."""
_EN_TIME: Final = re.compile(r"(?P<words>(?:[a-z/_]+(?:[+-]\d{1,2}(?::?\d{2})?)?\s+){1,3})time\b")
_NO_PLACE: Final = re.compile(r"(?:this|same|that|the|any|some|what|first|next|last|at|on)\s+$")
_NO_NAME: Final = frozenset({"am", "pm", "today", "tomorrow", "tonight", "at", "on", "in", "the"})
_ZH_TIME: Final = re.compile(r"(?P<words>[\u4e00-\u9fff]{2,12})时间")
_IN: Final = re.compile(r"\b(?:in|at)\s+(?P<words>[a-z][a-z/_]*(?:\s+[a-z]+){0,2})")
_FIXED: Final = re.compile(r"(?<![a-z])(?P<words>(?:utc|gmt)(?:\s*[+-]\d{1,2}(?::?\d{2})?)?)(?![\w+-])|\b(?P<iana>(?:[a-z]+/)+[a-z_]+)")

_Found = tuple[str, tzinfo] | None


def read_zone(text: str) -> tuple[_Found, str]:
    """The zone named in `text` (lower case) with its name, or None, and the text without it. Raises `Unclear` for a place not known."""
    text = _OWN.sub(" ", text)
    match = _EN_TIME.search(text)
    if match is not None and not _NO_PLACE.search(match["words"]):
        words = match["words"].split()
        for start in range(len(words)):
            if found := _zone(" ".join(words[start:])):
                return found, _without(text, match, " ".join(words[:start]))
        place = [word for word in words if word not in _NO_NAME] or words
        raise _unknown(f"{' '.join(place)} time", place[-1])
    if (match := _ZH_TIME.search(text)) is not None:
        for start in range(len(match["words"]) - 1):
            if found := _zone(match["words"][start:]):
                return found, _without(text, match, match["words"][:start])
        raise _unknown(match[0], match["words"])
    if (match := _FIXED.search(text)) is not None:
        found = _zone(match[0])
        if found is None:
            raise _unknown(match[0], match[0])
        return found, _without(text, match, "")
    for match in _IN.finditer(text):
        words = match["words"].split()
        for end in range(len(words), 0, -1):
            if found := _zone(" ".join(words[:end])):
                return found, _without(text, match, " ".join(words[end:]))
    return None, text


def _zone(name: str) -> _Found:
    try:
        return find_timezone(name)
    except UnknownTimezone:
        return None


def _without(text: str, match: re.Match[str], kept: str) -> str:
    return f"{text[: match.start()]} {kept} {text[match.end() :]}"


def _unknown(said: str, place: str) -> Unclear:
    try:
        find_timezone(place)
        close: list[str] = []
    except UnknownTimezone as error:
        close = error.close
    hint = f" (perhaps {', '.join(close)})" if close else ""
    return Unclear(f"{said.strip()!r} names a clock that is not known{hint}; ask the person, or send the IANA name as timezone")
