"""Search terms: what a text is found by, whatever language it is written in.

English words are stemmed and its function words left out; Chinese, Japanese and Korean, which write no spaces between words (or attach
their particles to them), give single characters and pairs; an identifier is a term as a whole and in its pieces, and a path, an address or
a resource name in its parts as well: the file, the bucket, the host. One text may mix all of these. The same function makes the terms of a
question and of what is searched, so that they can meet.
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
MOST_PARTS: Final = 24
"""Parts of one path or address that are terms of their own: its last ones, which say most."""
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
_PARTING: Final = re.compile(r"[/:?&=#]+")
_CLOCK: Final = re.compile(r"(?:^|[^\d:])\d{1,2}:\d\d(?![\d.])")  # its parts are no names of anything
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
EVERYDAY: Final = frozenset(
    """
    able actually add addition agree almost already although always among anybody anyone anything apply area around ask attend away back bad became
    become began begin believe besides better big bring call came can cancel certain change check choose chose close collect come common condition
    correct could create current day decide delete describe detail develop different discover discuss during easy either else enjoy enough especially
    even ever every everybody everyone everything exactly explain explore far feel felt find fine finish first free full future gave general get give
    given going gone good got great happen happened happy hard hear heard hello help high hope idea important improve include information instead
    interested involve item join keep kept kind know large last later left less let likely list listen little live long look lot love made main make
    manage many may maybe mean meet mention met might moment must name near need never new next nice nothing now number often old once open order
    other others part people perform person place point possible prefer problem process provide put question quick quickly read realize really reason
    receive remember remind right said saw say see seem seen send set share show shown side similar since single situation small something soon sorry
    sort specific spend spread start still stop suggest summarize supposed sure take taken talk tell thank thanks thing think time today together told
    tomorrow tonight toward try turn two type understand update use usual usually various visit want watch way week well went whether whose wish
    without wonder work write wrong year yes yesterday yet
    """.split()  # noqa: SIM905 - as above
)
"""Words of any request whatever: that one of them was said before tells nothing."""
_EVERYDAY_CHARACTERS: Final = STOP_CHARACTERS | frozenset("哪谁几吗什怎么请谢您咱啥个嗯哦噢喂嗨")
_EVERYDAY_PAIRS: Final = frozenset(
    """
    一下 一个 一些 一点 一样 一起 上午 下午 不是 不能 不要 为何 今天 今晚 任何 但是 你好 例如 先生 全部 关于 再见 几个 别的 刚才 删除 创建 到底
    取消 只要 可以 可能 后来 告诉 因为 多久 多少 大家 如何 如果 它们 安排 对于 将会 小姐 已经 帮助 帮忙 帮我 应该 开始 当时 怎样 总结 所有 所以
    打开 找到 抱歉 提醒 早上 时候 时间 明天 昨天 是否 显示 晚上 更新 更改 最后 最近 查看 查询 查下 检查 次数 每个 比如 没有 添加 现在 发给 直接
    知道 确认 确定 列出 给出 继续 能否 能够 自己 觉得 解释 订单 记得 说说 说明 这里 那里 问题 问一 需要 非常 麻烦 修改 下订 消订 看看 看下 想要
    想知 想问 好的 东西 事情 地方 谢谢
    """.split()  # noqa: SIM905 - as above
)
LONGEST_RUN: Final = 400
"""Characters of a run without spaces that are looked at for signs that join; what is longer is data."""
LEAST_LETTERS: Final = 3
"""Of a word that tells something, and of a part of a path that is a name."""


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
    """The terms of `text` that name one thing exactly: they hold a digit and something else, or at least four digits, or are joined by signs.

    Of a path, an address or a resource name there are its parts too (`parts`).
    """
    whole = whole_identifiers(text)
    return whole.union(*(parts(each) for each in whole))


def whole_identifiers(text: str) -> set[str]:
    """The identifiers of `text` as they were written, without parts of them."""
    return {folded for run in _runs(text) if is_identifier(folded := _POSSESSIVE.sub("", run.casefold()))}


def parts(identifier: str) -> set[str]:
    """What a path, an address or a resource name (case-folded) is also known by: its host, its file or last segment, each segment that is a name.

    Empty for an identifier that has no such parts: an order number, a time of day, a mail address.
    """
    segments = [each.strip("-.+@%~'") for each in _PARTING.split(identifier)]
    if len(segments) < 2 or _CLOCK.search(identifier):
        return set()
    last = _PARTING.split(re.split("[?#]", identifier, maxsplit=1)[0])[-1]
    named = [each for each in segments if _names_something(each) and (each == last or not each.isalpha())]
    return set(named[-MOST_PARTS:]) - {identifier}


def _names_something(segment: str) -> bool:
    return LEAST_LETTERS <= len(segment) <= MAX_WORD and segment not in STOP_WORDS and not _PLAIN_NUMBER.fullmatch(segment)


def telling(term: str) -> bool:
    """Whether a term that few messages hold singles them out: a word of three letters or more or a pair of characters, not one of any request."""
    if _is_cjk(term[:1]):
        return is_pair(term) and term not in _EVERYDAY_PAIRS and not _EVERYDAY_CHARACTERS.intersection(term)
    return sum(character.isalpha() for character in term) >= LEAST_LETTERS and term not in _everyday_stems()


def is_pair(term: str) -> bool:
    """Whether a term is two characters of a language that parts no words."""
    return len(term) > 1 and _is_cjk(term[0])


@lru_cache(maxsize=1)
def _everyday_stems() -> frozenset[str]:
    return frozenset(stem for word in EVERYDAY for stem in (word, _stem(word)))


def is_identifier(term: str) -> bool:
    """Whether a whole term (case-folded) is an identifier: an order number, a file name, an address, a version, a long number."""
    if any(character.isdigit() for character in term):
        return not _PLAIN_NUMBER.fullmatch(term) and len(term) > 1
    return bool(_JOINED.search(term[:LONGEST_RUN]))


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
    """The terms of one run without spaces: a word's stem, or an identifier with its parts and pieces."""
    whole = _POSSESSIVE.sub("", word.casefold().replace("’", "'"))
    # The others are among the pieces, unless the run is so long that they are cut off.
    joined = [part if not part.isalpha() else _stem(part) for part in sorted(parts(whole)) if not part.isalpha() or len(word) > MAX_WORD]
    if len(word) > MAX_WORD:
        word, whole = word[:MAX_WORD], whole[:MAX_WORD]
    if whole in STOP_WORDS:
        return ()
    pieces = _PIECE.findall(_HUMP.sub("_", _POSSESSIVE.sub("", word)).casefold())
    if len(pieces) <= 1 or ("'" in whole and whole.replace("'", "").isalpha()):
        return (_stem(whole),)
    return (whole, *joined, *(_stem(piece) for piece in pieces if piece not in STOP_WORDS and (len(piece) > 1 or piece.isdigit())))


def _stem(word: str) -> str:
    if not word.isascii():
        word = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each)) if _LATIN.search(word) else word
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word
