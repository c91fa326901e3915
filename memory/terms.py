"""Search terms: what a text is found by, whatever language it is written in.

English words are stemmed and its function words left out; Chinese, Japanese and Korean, which write no spaces between words (or attach
their particles to them), give single characters and pairs; an identifier is a term as a whole and in its pieces. One text may mix all of
these. The same function makes the terms of a question and of what is searched, so that they can meet.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

MAX_TEXT: Final = 20_000
"""Characters of one text that are read; a message is found by its beginning."""
MAX_WORD: Final = 128
"""Characters of one term; what is longer is data, not a word."""
STEMS_KEPT: Final = 50_000
"""Words whose terms are remembered: stemming costs 20 µs a word, looking up a hundredth of that."""

_CJK: Final = "\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_RUN: Final = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W{_CJK}]+(?:[-./:@+&#=%?~'’]+[^\W{_CJK}]+)*)")
_PIECE: Final = re.compile(r"[^\W\d_]+|\d+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_LATIN: Final = re.compile("[\u00c0-\u024f]")
_PLAIN_NUMBER: Final = re.compile(r"\d+(?:st|nd|rd|th|am|pm|[hms])|\d{1,3}%?|(?:19|20)\d{2}s?")  # a year is on too many messages to name one
_JOINED: Final = re.compile(r"_|[^\W_]@[^\W_]|://|\w\.[a-z]{2,}\b|[^\W_]+/[^\W_]+/")

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all also am an and any are aren't as at be because been before being below between both but by can can't
    cannot could couldn't did didn't do does doesn't doing don't down during each few for from further get got had hadn't has hasn't have
    haven't having he he'd he'll he's her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its itself just
    let's like me more most my myself no nor not of off on once only or other our ours ourselves out over own please same she she'd she'll she's
    should shouldn't so some such than that that's the their theirs them themselves then there there's these they they'd they'll they're they've
    this those through to too under until up us very was wasn't we we'd we'll we're we've were weren't what what's when where which while who
    who's whom why will with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves yeah yes ok okay oh hey hi
    """.split()  # noqa: SIM905 - a list of a hundred and fifty literals reads worse
)
STOP_CHARACTERS: Final = frozenset("的了吗呢吧啊呀嘛着过是在有和与或及就都也很我你他她它们这那个之么の은는이가을를はがをにでとも")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    """Loaded when first needed: the package brings the rules of every language along, which takes a quarter of a second."""
    import snowballstemmer  # type: ignore[import-untyped]  # noqa: PLC0415 - it ships no marker

    return snowballstemmer.stemmer("english")


def terms(text: str) -> list[str]:
    """The search terms of `text` in order, repeated as often as they occur; empty for a text of function words alone."""
    found: list[str] = []
    for run in _runs(text):
        found += _of_cjk(run) if run[0] >= "\u3005" and _is_cjk(run[0]) else _of_word(run)
    return found


def identifiers(text: str) -> set[str]:
    """The whole terms of `text` that name one thing exactly: they hold a digit and something else, or at least four digits, or are joined by signs."""
    return {folded for run in _runs(text) if is_identifier(folded := _POSSESSIVE.sub("", run.casefold()))}


def is_identifier(term: str) -> bool:
    """Whether a whole term (case-folded) is an identifier: an order number, a file name, an address, a version, a long number."""
    if any(character.isdigit() for character in term):
        return not _PLAIN_NUMBER.fullmatch(term) and len(term) > 1
    return bool(_JOINED.search(term))


def hashed(term: str) -> int:
    """A term as the index keeps it: 32 bits, the same in every process and version."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def _runs(text: str) -> Iterable[str]:
    """Case is kept, so that the humps of `createOrder` can be seen."""
    plain = text[:MAX_TEXT] if text.isascii() else unicodedata.normalize("NFKC", text[:MAX_TEXT])
    return (match[0] for match in _RUN.finditer(_THOUSANDS.sub("", plain)))


def _is_cjk(character: str) -> bool:
    match = _RUN.match(character)
    return match is not None and match.lastgroup == "cjk"


def _of_cjk(run: str) -> list[str]:
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    return [character for character in run if character not in STOP_CHARACTERS] + pairs


@lru_cache(maxsize=STEMS_KEPT)
def _of_word(word: str) -> tuple[str, ...]:
    """The terms of one run without spaces: a word's stem, or an identifier with its pieces."""
    if len(word) > MAX_WORD:
        word = word[:MAX_WORD]
    whole = _POSSESSIVE.sub("", word.casefold().replace("’", "'"))
    if whole in STOP_WORDS:
        return ()
    pieces = _PIECE.findall(_HUMP.sub("_", _POSSESSIVE.sub("", word)).casefold())
    if len(pieces) <= 1 or ("'" in whole and whole.replace("'", "").isalpha()):
        return (_stem(whole),)
    return (whole, *(_stem(piece) for piece in pieces if piece not in STOP_WORDS and (len(piece) > 1 or piece.isdigit())))


def _stem(word: str) -> str:
    if not word.isascii():
        word = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each)) if _LATIN.search(word) else word
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word
