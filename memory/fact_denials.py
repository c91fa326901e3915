"""Sentences that say what is *not* so, and what is so instead: "the deadline is not Friday, it is Thursday", "别用staging，用生产".

Such a sentence is rewritten as the plain one it means ("the deadline is Thursday") and as the one it takes back ("the deadline is Friday");
both are then read by the rules for plain sentences. What somebody else is reported to have said is recognised here too: it is no statement.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from memory.fact_words import openings, words_of
from memory.identifier_patterns import HAN

_CUES_EN: Final = "no|nope|actually|sorry|correction|wait|oops|hold on|hmm|no wait|my mistake|my bad|scratch that|i was wrong|that'?s wrong|that is wrong|wrong"
_CUES_ZH: Final = "不对|不是|错了|说错了|搞错了|我说错了|我搞错了|我?记错了|我?弄错了|我?写错了|口误|算了|更正|更正一下|抱歉|等等|哦不|噢不|不|不不"
CUE: Final = re.compile(rf"(?:oh |ah |ok |well )?(?:{_CUES_EN}|{_CUES_ZH})", re.IGNORECASE)
"""A sentence that says no more than that something before was wrong; what comes after it is the correction."""
CONTINUES: Final = re.compile(r"(?:it'?s|it is|instead|rather)\b|but (?:it'?s|it is|rather)\b|而是|应该是|是(?!不是|吗|的$)", re.IGNORECASE)
"""How the sentence after a denial begins when it says what is so instead."""

_LEAD: Final = (
    r"^(?:(?:fyi|nb|note|reminder|update|info|ps|p\.s\.|btw|by the way|next topic|new topic|another topic|one more thing|also|additionally|"
    r"另外|还有|备注|注意|补充|补充一下|顺便|顺便说一下|对了|下一个话题|提醒|通知)\s*(?:[:：]|[,，](?=\s|[\u4e00-\u9fff])|\s[–—-]\s)\s*)+"
)
LEAD: Final = re.compile(_LEAD, re.IGNORECASE)
"""A heading before a sentence that is no part of it: "FYI: …", "另外：…"."""

_EN: Final = re.compile(
    rf"^(?:(?:{_CUES_EN}|but|and|so|well|ok)[,:.!]*\s+)*(?P<about>[^,;]{{1,80}}?)\s*(?P<verb>\b(?:is|are|will be))"
    r"(?:\s+not|n't|\s+no longer)\s+(?:on |at |by |for )?"
    r"(?P<old>(?:[^,;]|,(?=\d{3})){1,50}?)(?:\s+any ?more)?"
    r"(?P<rest>(?:,|;|\s+[–—-]+)?\s*(?:(?:but|and|rather|instead|it'?s|it is|is|that'?s|they'?re)\s+)+"
    r"(?:now |actually |rather |on |for )*(?P<new>(?:[^,;]|,(?=\d{3})){1,60}?)(?:\s+instead)?)?$",
    re.IGNORECASE,
)
_ZH: Final = re.compile(
    rf"^(?:(?:{_CUES_ZH})[，,。：:\s]+)?(?P<about>[^，；]{{1,24}}?)(?:现在|已经|其实)?(?:并不是|不再是|已?不是|并非)\s*(?P<old>[^，,；]{{1,24}}?)(?:了)?"
    "(?P<rest>[，,；\\s]*(?:而是|应该是|现在是|是|改成了?|改为|为)\\s*(?P<new>[^，；]{1,40}?)(?:了)?)?$"
)
_WAS: Final = re.compile(
    r"^(?P<about>[^,;]{1,60}?)\s+(?P<verb>was|were)\s+(?P<old>(?:[^,;]|,(?=\d{3})){1,40}?),?\s+(?:but\s+)?"
    r"(?:now\s+it'?s|now\s+it\s+is|it'?s\s+now|it\s+is\s+now|"
    r"is\s+now|now\s+is)\s+(?P<new>(?:[^,;]|,(?=\d{3})){1,60})$",
    re.IGNORECASE,
)
_WAS_ZH: Final = re.compile(
    "^(?P<about>[^，；]{1,24}?)(?:原来|本来|之前|以前|原先|原本)(?:是|定在)?(?P<old>[^，；]{1,24}?)"
    "[，,]\\s*(?:但是?|不过)?(?:现在|后来)?(?:是|改成了?|改为|改到了?)(?P<new>[^，；]{1,40}?)(?:了)?$"
)
_USE: Final = re.compile(
    rf"^(?:(?:{_CUES_EN}|please|ok|so)[,:.!]*\s+)*(?:don'?t|do not|let'?s not|stop|never)\s+(?:use|using|go with|take|pick)\s+"
    r"(?P<old>[^,;]{1,40}?)(?:\s+any ?more)?"
    r"(?:(?:,|;|\s+[–—-]+)?\s*(?:but|and|instead|rather)?,?\s*(?:let'?s\s+)?(?:use|go with|take|pick)\s+(?P<new>[^,;]{1,40}?)(?:\s+instead)?)?$",
    re.IGNORECASE,
)
_USE_ZH: Final = re.compile(
    "^(?:(?:不对|等等|还是)[，, ]?)?(?:请)?(?:别|不要|不|别再|不要再)用(?P<old>[^，；]{1,20}?)(?:了)?"
    "(?:[，,；\\s]+(?:还是|改|而是|要|就|请)*用(?P<new>[^，；]{1,20}?)(?:吧|了)?)?$"
)
_BARE: Final = re.compile(
    rf"^(?:(?:{_CUES_EN}|but|and)[,:.!]*\s+)*(?:(?:it'?s|it is|that'?s|that is)\s+)?(?:not|isn't)\s+"
    r"(?:on |at )?(?P<old>(?:[^,;]|,(?=\d{3})){1,30}?)(?:\s+any ?more)?$",
    re.IGNORECASE,
)
_BARE_ZH: Final = re.compile("^(?:不是|不再是)(?P<old>[^，,；]{1,16}?)(?:了)?$")
_NEGATION: Final = frozenset(["not", "t", "no", "was", "were", "stop", "never", "不", "别", "非", "原", "前", "来"])
"""Without one of these words nothing is denied; "t" is that of "isn't"."""


class Denial(NamedTuple):
    """What a sentence takes back and what it says instead."""

    old: str
    """The plain sentence that is not so; a bare value when `bare`."""
    new: str
    """The plain sentence that is so instead; "" when it is not said."""
    bare: bool = False


@lru_cache(maxsize=4096)
def denied(sentence: str) -> Denial | None:
    """What `sentence` denies; None when it denies nothing that could be a fact."""
    if len(sentence) > 160 or _NEGATION.isdisjoint(words_of(sentence)):
        return None
    for pattern, verb in ((_EN, ""), (_ZH, "是"), (_WAS, "is"), (_WAS_ZH, "是")):
        found = pattern.match(sentence)
        if not found or re.fullmatch(r"(?:it|that|this|there|i|we|you|he|she|they|what|who|是|这|那|它)", found["about"].strip(), re.IGNORECASE):
            continue
        gap = "" if verb == "是" else " "
        joint = verb or found["verb"]
        new = found["new"]
        return Denial(f"{found['about'].strip()}{gap}{joint}{gap}{found['old']}", f"{found['about'].strip()}{gap}{joint}{gap}{new}" if new else "")
    for pattern, use in ((_USE, "use "), (_USE_ZH, "用")):
        if found := pattern.match(sentence):
            return Denial(use + found["old"], use + found["new"] if found["new"] else "")
    for pattern in (_BARE, _BARE_ZH):
        if found := pattern.match(sentence):
            return Denial(found["old"], "", bare=True)
    return None


_CUED: Final = re.compile(rf"(?:{CUE.pattern})\s*[,，:：.!！]", re.IGNORECASE)
_DUE: Final = re.compile(
    r"(?<![a-z])(?:deadline|due date|ddl|cut-?off|latest)(?![a-z])|^(?:(?:and|but|so|now|then) )*(?:it|this|that|everything|due|by|before|no later)\b|"
    "截止|期限|交期|最晚|最迟|^.{1,8}前要$",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"\b(?:other|another|second|third|return|next|previous|old|different|additional)\b|另|其他|第二|第三|返程|别的|之前的|下一", re.IGNORECASE
)
_MINE: Final = re.compile(r"\bmy\b|我的", re.IGNORECASE)


def starts_as_correction(sentence: str) -> bool:
    """Whether `sentence` begins by saying that something before was wrong: "no, …", "不对，…"."""
    return _CUED.match(sentence) is not None


def says_deadline(clause: str) -> bool:
    """Whether a day is said to be the deadline of what the thread is about, and not of something else that is due."""
    return _DUE.search(clause) is not None


def says_which(clause: str, value: str, *, own: bool) -> bool:
    """Whether an id is said to *be* the order's or ticket's ("the order number is ABC-2"), so that it takes the place of the one known.

    `own`: the same person said the one known; two people's "my order" are two orders.
    """
    if _ANOTHER.search(clause) or (not own and _MINE.search(clause)):
        return False
    return re.search(rf"(?:\b(?:is|are|should be)(?: now)?|是|为|改成|改为|改到|换成)\s*{re.escape(value)}", clause) is not None


_TOLD: Final = (
    "said|says|saying|told|tells|claims?|claimed|mentioned|mentions|thinks|thought|believes?|believed|reckons?|wrote|writes|announced|announces|guesses|"
    "suggests?|suggested|insists?|insisted|replied|states|stated|estimates?|estimated|proposes|proposed"
)
_HEARSAY: Final = re.compile(
    rf"(?:^|[\s,])(?P<who>(?!(?:i|we|i've|we've|i'd|as|and|or|just|already|also|like|that)\b)[^\s,]+)(?:\s+(?:already|also|just|once|has|have|had|previously|earlier|"
    rf"yesterday|today|now|only|even))*\s+(?:{_TOLD})\b|\baccording to\b|\b(?:i|we)(?:'ve| have)? (?:heard|read|was told|were told)\b|"
    r"\b(?:was|were|been) told\b|\bword is\b",
    re.IGNORECASE,
)
_HEARSAY_ZH: Final = re.compile(
    f"^(?P<who>[{HAN}A-Za-z@<>|0-9·]{{1,16}}?)\\s*(?:刚才|刚刚|之前|昨天|今天|前天|上次|也|都|曾经?|已经|一直|跟我们?|和我们?|对我们?|给我们?|在会上|会上|那边)*"
    "(?:说(?!好|错|明|话|法|服|不定|起|到|得|一下|实话|真的|了算)|表示|告诉|提到|认为|觉得|声称|透露|宣布|通知我)|^(?:据|按|听)[^，]{1,16}(?:说|讲|的说法|透露)|听说|据说"
)
_REPORTS: Final = openings(rf"{_TOLD}|according|heard|read|was|were|been|word|说|表|告|提|认|觉|声|透|宣|通|据|按|听")
"""Without one of these words nothing is reported."""
_OWN: Final = re.compile("^(?:刚才|刚刚|之前|昨天|今天)?(?:我|我们|咱们|也就是|就是|换句话|具体来|总的来|再|前面|不是|一般来|简单来|老实)$")


@lru_cache(maxsize=4096)
def hearsay(sentence: str) -> bool:
    """Whether `sentence` reports what somebody else said or thinks."""
    if _REPORTS.isdisjoint(words_of(sentence)):
        return False
    if _HEARSAY.search(sentence):
        return True
    found = _HEARSAY_ZH.match(sentence)
    return found is not None and not (found["who"] and _OWN.match(found["who"]))


_CODE: Final = re.compile(r"[{}\\]|=>|->|==|!=|&&|::|</|\b[A-Za-z_][A-Za-z0-9_]*\([^)\s]*\)?|\b(?:self|this)\.\w|\w\.\w+\(|;$|\b(?:None|null)\b")
_CODE_SIGNS: Final = frozenset("{}\\=>-&:<(;.N")
_CODE_WORDS: Final = re.compile(
    r"(?:def|class|import|from|return|async|await|const|var|function|public|private|elif|else:) \w+(?:[_.(=]|$)|(?:return|import) |null\b"
)
_JUNK: Final = re.compile(r"^[_/\\.,:;)\]}>|*+=-]|[(\[{<|\\=_]$|^\W+$|^\w+\(|__")


_NO_SETTING: Final = re.compile(r"^(?:str|int|float|bool|bytes|Final|None|True|False|list|dict)\b|=|^\w{3,}(?:ed|ing) \w|^(?:shown|given|written|different) \w")
"""What stands behind "the model is" in prose, and behind the colon of a declaration."""


def is_code(clause: str) -> bool:
    """Whether a clause is a piece of a program and no sentence."""
    return _CODE_WORDS.match(clause) is not None or (not _CODE_SIGNS.isdisjoint(clause) and _CODE.search(clause) is not None)


def is_junk(value: str, *, setting: bool) -> bool:
    """Whether a value is a piece torn from code or prose: brackets that do not close, signs at its ends, for a `setting` a type or a verb."""
    if setting and _NO_SETTING.search(value):
        return True
    unclosed = any(value.count(left) != value.count(right) for left, right in ("()", "[]", "（）", "【】")) or value.count('"') % 2 == 1
    # A Slack mention, "<@U…>", begins with a sign and is whole.
    return unclosed or (_JUNK.search(value) is not None and not value.startswith("<@"))


_MEASURES: Final = tuple(
    re.compile(unit, re.IGNORECASE)
    for unit in (
        r"\d\s*(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?)\b|毫秒|秒|分钟|小时|天|周|个月",
        "[%％]",
        "[$€£¥]|元|块|美元|usd|eur",
    )
)
"""Time, share and money: one is no new value of another."""


def same_measure(known: str, value: str) -> bool:
    """Whether two amounts can be of the same thing. A bare number can be any amount but a share."""
    kinds = [[bool(measure.search(text)) for measure in _MEASURES] for text in (known, value)]
    return kinds[0] == kinds[1] or (not any(kinds[1]) and not kinds[0][1]) or (not any(kinds[0]) and kinds[1][2])


_SIGNS: Final = re.compile(rf"[^a-z0-9{HAN}.]")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


def _plain(value: str) -> str:
    return _SIGNS.sub(" ", re.sub(r"(?<=\d)[,，](?=\d{3})", "", value.casefold())).strip(" .")


@lru_cache(maxsize=4096)
def same_value(known: str, denied_: str) -> bool:
    """Whether a value that is denied is the known one: "5000" is "5,000元", "Friday" is "next Friday"."""
    left, right = _plain(known), _plain(denied_)
    if not left or not right:
        return False
    if left == right:
        return True
    numbers, others = _NUMBER.findall(left), _NUMBER.findall(right)
    if numbers or others:
        return len(numbers) == len(others) == 1 and float(numbers[0]) == float(others[0]) and (len(left) <= len(numbers[0]) + 6)
    if re.search(f"[{HAN}]", left + right):
        return left.endswith(right) or right.endswith(left)
    return f" {right} " in f" {left} " or f" {left} " in f" {right} "
