"""The names that must survive any summary: every number, id, date, time, address, file, amount, version, parameter and mention in a text.

A summary may say things in its own words, but "ABC-20240520-001" has no other word. `identifiers` reads them from a text by code, `missing`
tells which of them another text no longer holds. Two ways of writing one thing count as one ("29 Nov" and "11月29日", "5,000" and "5000"),
and a number inside a longer one is not that number. Everything here is a pure function of the text, in time linear in its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, cast

from memory.identifier_patterns import BLOB, CLOCK, DATE_FORMS, DIGIT, EXTENSION, FILES, HAN, LEAD, LOOSE, MONTHS, PATTERNS

Kind = Literal["id", "number", "amount", "date", "time", "url", "email", "file", "path", "mention", "version", "phone", "parameter"]

CACHED_CHARACTERS: Final = 8_000
"""Texts up to this length are remembered with what was found in them, at most a thousand of them."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One of them, exactly as it was written."""

    text: str
    kind: Kind


def identifiers(text: str) -> tuple[Identifier, ...]:
    """All identifiers of `text` in the order they appear, without overlaps: the longest wins. One written twice, or in two ways, is given once."""
    return _cached(text)[0] if len(text) <= CACHED_CHARACTERS else _read(text)[0]


def contains(text: str, identifier: Identifier) -> bool:
    """Whether `text` holds the identifier, as a whole and not as a part of a longer one, in whatever way it is written."""
    return _held(text, (identifier,)) == [True]


def missing(required: Iterable[Identifier], text: str) -> tuple[Identifier, ...]:
    """Those of `required` that `text` does not hold, each once, in their order."""
    wanted = tuple({canonical(each.text): each for each in reversed(tuple(required))}.values())[::-1]
    return tuple(each for each, held in zip(wanted, _held(text, wanted), strict=True) if not held)


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """The form in which identifiers are compared: two ways of writing one thing have the same.

    Compatibility characters are made plain, case is folded except where it matters (paths, addresses, options), thousands separators and
    punctuation at the end are gone, a day is `2026-11-29` or `--11-29`, a time of day `14:00`.
    """
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", " ".join(unicodedata.normalize("NFKC", text).split()))
    trimmed = plain.rstrip(".,;:!?。、，；：！？\"'").lstrip("\"'") or plain
    if trimmed.startswith("-") or "\\" in trimmed:
        return trimmed
    if "://" in trimmed:
        scheme, _, rest = trimmed.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host}".casefold() + (slash + path if path else "")
    low = trimmed.casefold()
    if len(low) > 40:
        return trimmed if "/" in low else low
    return _day(low) or _clock(low) or _joined(trimmed, low)


def _held(text: str, wanted: tuple[Identifier, ...]) -> list[bool]:
    """For each of `wanted` whether `text` holds it: as one of its own identifiers, or as a whole word of it."""
    if not wanted:
        return []
    forms = (_cached if len(text) <= CACHED_CHARACTERS else _read)(text)[1]
    exact = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", " ".join(unicodedata.normalize("NFKC", text).split()))
    folded = exact.casefold()
    held = []
    for each in wanted:
        form = canonical(each.text)
        held.append(form in forms or _stands(form, folded if form == form.casefold() else exact))
    return held


def _stands(form: str, text: str) -> bool:
    """Whether `form` stands in `text` with nothing beside it that would make it part of something longer."""
    at = text.find(form)
    while form and at >= 0:
        before, after = text[max(0, at - 2) : at], text[at + len(form) : at + len(form) + 2]
        if not (_joins(form[0], before[::-1]) or _joins(form[-1], after) or (form[-1].isdigit() and after[:1] in set("%‰万亿千百十"))):
            return True
        at = text.find(form, at + 1)
    return False


def _joins(edge: str, beside: str) -> bool:
    """Whether the character beside an edge belongs to the same word: a letter or digit, or a sign with another one behind it."""
    if not beside or edge not in _WORD:
        return False
    return beside[0] in _WORD or (beside[0] in ".-/:@\\+" and len(beside) > 1 and beside[1] in _WORD)


def _joined(trimmed: str, low: str) -> str:
    """The form of what is neither a day nor a time: no space around a sign or between a number and its unit."""
    if re.fullmatch(r"[\w.-]+ ?[:=] ?\S+", low, re.ASCII) and not low[0].isdigit():
        return re.sub(r" ?[:=] ?", "=", low, count=1).replace('"', "").replace("'", "")
    if "/" in low and not re.search(r"\d ?(?:[kmgt]?i?b|km)/", low):
        return trimmed
    return (
        re.sub(rf"(?<=[\d$¥€£{HAN}])[ -](?=[\d%a-zµ°{HAN}])", "", low)
        if re.match(r"[a-z$¥€£+-]{0,3} ?[\d]", low) and not re.search(r"[a-z]-|\d-\d|\d \d", low)
        else low
    )


def _day(low: str) -> str:
    """`low` as an ISO day, a day of any year (`--11-29`) or a month; empty when it is none."""
    latin = _latin(low) if re.search("[年月]", low) else low
    for form in DATE_FORMS:
        if found := form.fullmatch(latin):
            part = found.groupdict()
            month = MONTHS.get(part["name"]) if "name" in part else int(part["m"])
            day = int(part["d"]) if part.get("d") else 0
            if month is None or not 1 <= month <= 12 or day > 31:
                continue
            return f"{part.get('y') or '-'}-{month:02}" + (f"-{day:02}" if day else "")
    return ""


def _clock(low: str) -> str:
    """`low` as a time of day on 24 hours; empty when it is none."""
    found = CLOCK.fullmatch(_latin(low) if "点" in low or "时" in low else low)
    if not found or not (found["half"] or found["part"] or re.search("[:点]", low)):
        return ""
    hour, minute = int(found["h"]), 30 if found["min"] == "半" else int(found["min"] or 0)
    if hour < 12 and ((found["half"] or "").startswith("p") or found["part"] in {"下午", "傍晚", "晚上", "今晚"}):
        hour += 12
    elif hour == 12 and (found["half"] or "").startswith("a"):
        hour = 0
    return f"{hour:02}:{minute:02}" + (found["zone"] or "").replace(" ", "")


def _latin(text: str) -> str:
    """Chinese numerals up to 99, and years said digit by digit, as digits."""

    def digits(found: re.Match[str]) -> str:
        word = found[0]
        values = {sign: value for value, signs in enumerate(("〇零", "一", "二两", "三", "四", "五", "六", "七", "八", "九")) for sign in signs}
        if "十" not in word:
            return "".join(str(values[sign]) for sign in word)
        tens, _, ones = word.partition("十")
        if len(tens) > 1 or len(ones) > 1 or "十" in ones:
            return word
        return str(values.get(tens, 1) * 10 + values.get(ones, 0))

    return re.sub(f"[{DIGIT}十]+", digits, text)


# Reading a text

_PLAIN: Final = {0xFF10 + n: 0x30 + n for n in range(10)} | {
    **{0xFF21 + n: 0x41 + n for n in range(26)},
    **{0xFF41 + n: 0x61 + n for n in range(26)},
    **{ord(wide): ord(plain) for wide, plain in zip("：％＠－．／＃＝＿＄￥＋", ":%@-./#=_$¥+", strict=True)},
}
"""Full-width signs, each by one character, so that every place in the plain text is the same place in the text as written."""

_WIDE_COMMA: Final = re.compile(r"(?<=\d)，(?=\d{3}(?!\d))")

_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


_Found = tuple[int, int, int, int, str]
"""Length and start of a match, the pattern's rank, its end, and its kind; "": room taken by what is no identifier."""


@lru_cache(maxsize=1024)
def _cached(text: str) -> tuple[tuple[Identifier, ...], frozenset[str]]:
    return _read(text)


def _read(text: str) -> tuple[tuple[Identifier, ...], frozenset[str]]:
    """The identifiers of a text, and the forms they are compared by."""
    plain = text if text.isascii() else _WIDE_COMMA.sub(",", text.translate(_PLAIN))
    taken = bytearray(len(plain))
    kept: list[tuple[int, int, str]] = []
    for length, start, _, end, kind in sorted(_candidates(plain)):
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * -length
            if kind:
                kept.append((start, end, kind))
    kept.sort()
    written = {text[start:end]: kind for start, end, kind in reversed(kept)}
    first: dict[str, Identifier] = {}
    for each, kind in reversed(written.items()):
        first.setdefault(canonical(each), Identifier(each, cast("Kind", kind)))
    return tuple(first.values()), frozenset(first)


def _candidates(plain: str) -> Iterator[_Found]:
    """Everything that looks like an identifier, overlapping; the shortest length is the largest number, so that sorting puts the longest first."""
    for blob in BLOB.finditer(plain):
        yield blob.start() - blob.end(), blob.start(), 0, blob.end(), ""
    ends: dict[int, int] = {}
    for rank, (kind, needs, pattern) in enumerate(PATTERNS, start=1):
        if needs and not (needs in plain if needs == "://" else any(sign in plain for sign in needs)):
            continue
        for match in pattern.finditer(plain):
            start, end = match.span()
            if kind in _CLOSER:
                end = _fitted(kind, plain, start, end)
            if end > start:
                ends[start] = max(end, ends.get(start, 0))
                yield start - end, start, rank, end, kind
    if "." in plain:
        yield from _files(plain)
    if ":" in plain:
        for match in LOOSE.finditer(plain):
            if ends.get(match.start("value"), 0) <= match.end():
                yield match.start() - match.end(), match.start(), 0, match.end(), "parameter"


_CLOSER: Final = frozenset({"url", "path", "parameter", "id"})
_RANGE: Final = re.compile(r"\d+[a-z]?-[a-z]+|\d+(?:\.\d+)?|(?:19|20)\d\d-(?:19|20)\d\d")


def _fitted(kind: str, plain: str, start: int, end: int) -> int:
    """Where a match ends without the punctuation of the sentence around it; `start` when on a closer look it is none."""
    if kind == "id":
        word = plain[start:end]
        return start if _RANGE.fullmatch(word) or (len(word) < 8 and re.fullmatch(r"[\d-]+", word)) else end
    loose = ".,;:!?*_~`|" if kind == "parameter" else ".,;:!?'\"*_~`|"
    run = plain[start:end].rstrip(loose)
    while run and (run[-1] in loose or (run[-1] in ")]}" and run.count(run[-1]) > run.count({")": "(", "]": "[", "}": "{"}[run[-1]]))):
        run = run[:-1]
    return start + len(run) if kind != "path" or _is_path(run) else start


def _is_path(run: str) -> bool:
    """Whether a run with slashes in it names a place, and is not "and/or", "24/7" or "km/h"."""
    if "\\" in run:
        return re.match(r"[A-Za-z]:\\|\\\\|[\w.-]+\\[\w.-]+", run, re.ASCII) is not None
    if "/" not in run or not any(map(str.isalpha, run)):
        return False
    if run.startswith(("/", "~/", "./", "../")):
        return len(run) > 2 and run.strip("/.~") != ""
    return EXTENSION.search(run) is not None or (re.search(r"[\d_-]|/.*/", run) is not None and re.match(r"[\d.]+[a-zA-Z]*/[a-zA-Z]+\d?$", run) is None)


def _files(plain: str) -> Iterator[_Found]:
    """File names. Chinese has no spaces, so a name may be run into the words before it and the next name after it."""
    for run in FILES.finditer(plain):
        start = run.start()
        for extension in EXTENSION.finditer(plain, run.start(), run.end()):
            end = extension.end()
            first = max(start, end - 120)
            if not plain[first:end].isascii() and (lead := LEAD.match(plain, first, extension.start())):
                first = lead.end()
            while first < end and plain[first] in ".()+-":
                first += 1
            if first < extension.start():
                yield first - end, first, 0, end, "file"
                # "archive.tar.gz": the next extension may belong to the same name
                start = first if EXTENSION.match(plain, end) else end
