"""What a fact is about: the words beside its noun that tell one deadline, budget or price from another ("the travel budget", "价格" of "台灯的价格").

Two facts are the same only when they are about the same thing, so the words become part of the fact's key. Where a sentence has words beside
the noun that cannot be read so, it is better not to take a fact from it at all than to change another one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.identifier_patterns import HAN

_MOST: Final = 48
"""Characters of the words that tell what a fact is about."""

_NEUTRAL: Final = re.compile(
    "new|current|final|hard|latest|overall|whole|entire|actual|updated|revised|agreed|correct|right|real|main|max|maximum|min|default|expected|"
    "planned|official|project|this|that|only|same|fixed|tentative"
)
"""Words beside a noun that do not make it another thing."""
_WORK: Final = re.compile("it|this|that|these|those|them|they|us|me|everything|report|reports|slides|presentation|draft|document|work|task|project")
"""What is due without further name is the thread's own work."""
_NO_SUBJECT: Final = re.compile(
    "the|a|an|and|but|so|also|then|now|please|ok|okay|yes|no|well|i|we|you|he|she|they|it|this|that|these|those|who|which|what|with|by|at|on|in|"
    "to|from|is|are|was|were|be|been|has|have|had|do|does|did|can|will|not|just|still|already|only|set|change|make|keep|use|using|check|see|note|"
    "update|remember|know|confirm|about|under|over|within|per|as|for|of|because|since|while|when|until|before|after|asking|ask|our|my|your|their|"
    "his|her|its|actually|sorry|wait|oh|hi|hello|hey|great|fyi|reminder|said|say|says|mean|meant|think|tell|told|want|need|let|let's|lets|if|"
    "more|less"
)
"""Words that begin or end what may stand before a noun."""
_OTHERS: Final = re.compile("their|his|her|its")
"""Whose it is, when nobody said who that is: no fact of this thread."""
_POSSESSIVE: Final = re.compile(r"(?<=\w)'s?(?=\s|$)")
_WORDS: Final = re.compile(r"[^\s,;:()\"]+")
_AFTER: Final = re.compile(
    r"(?:\s*(?:number|no\.?|id|code|key|date|time))?(?:\s+(?:of|for|on)\s+(?P<about>(?:the |our |my |a |an )?[\w./#&' -]{1,48}?))?"
    r"(?:\s*[:=]\s*|\s*,?\s+(?:is|are|will|has|have|should|must|stays?|remains|moved|changed|went|extended|postponed|pushed|brought|updated|raised|reduced|increased|dropped|rose|"
    r"(?:was|were|got) (?:moved|changed|extended|postponed|pushed|brought|updated|raised|reduced|increased|set|fixed)|been|of)\b.*|\s*)$",
    re.IGNORECASE | re.DOTALL,
)
_FILL: Final = re.compile(
    r"\s*(?:about|around|roughly|exactly|approximately|up to|at most|max(?:imum)?|fixed at|limited to|capped at|now|set|to|at|on|by|until|the|a|still|only|"
    r"currently|actually|just|in|=|:|：|-|~|≈)*\s*",
    re.IGNORECASE,
)
_HAN_FILL: Final = re.compile(
    "(?:我们|咱们|我|你们|大家|这次|本次|此次|这个|那个|该|整个|整体|的|那么?|现在|目前|请|注意|记住|记一下|记得|确认一下|确认|提醒一下|提醒|因为|所以|"
    "最晚|最迟|不晚于|务必在|必须在|要在|得在|说过?的?|就是|(?:老板|客户|领导|甲方)(?:要求|定|给)的?|然后|另外|还有|对了|好的?|嗯|新|最终|最新|最后|总体?|项目|最大|默认|当前|原定|把|将|麻烦|帮我|关于|首先|其次|不过|但是?|而且|并且|而|和|及|以及|"
    "同时|已经|再|先|统一|暂定|实际|正式|报告|方案|这事|事情|它|最多|大概|大约|约|不对|错了|抱歉|更正|等等|不|也|就|说一下|补充|[，,：:、。！!~ \t-])+"
)
_HAN_NO: Final = re.compile("[他她您谁]|(?:如果|说|觉得|认为)|[了着过吗呢吧]|不是|没有")
_HAS_HAN: Final = re.compile(f"[{HAN}]")


@lru_cache(maxsize=4096)
def before_noun(text: str) -> str | None:
    """What the words directly before a noun make it: "travel" of "our travel budget"; "" when nothing, None when there is no telling."""
    if _HAS_HAN.search(text):
        return _before_han(text)
    words = _WORDS.findall(text.casefold())
    if text and not text[-1].isspace():
        return "" if text[-1] in "(@\"'" or not words else None
    chosen: list[str] = []
    for word in reversed(words):
        if _OTHERS.fullmatch(word):
            return None
        if _NO_SUBJECT.fullmatch(word) or word.startswith(("@", "<@")):
            break
        chosen.insert(0, word)
    if re.search(r"[,;:()\"]\s*$", text):
        return ""
    if len(chosen) > 4:
        return None
    return _named(chosen)


def _before_han(text: str) -> str | None:
    piece = re.split("[，,。；;：:！!]", text)[-1].strip()
    piece = re.sub(r"^(?:(?:<@\w+(?:\|[^>]*)?>|@\S+)\s*)+", "", piece)
    while piece and (found := _HAN_FILL.match(piece)):
        piece = piece[found.end() :]
    piece = re.sub("(?:的|这边的?|那边的?|总)+$", "", piece).strip()
    piece = re.sub(r"^(?:the|our|my)\b\s*", "", piece, flags=re.IGNORECASE)
    if _HAN_NO.search(piece) or len(piece) > (12 if _HAS_HAN.search(piece) else 24):
        return None
    return piece.casefold()


def _named(words: list[str]) -> str:
    plain = [_POSSESSIVE.sub("", word) for word in words if not _NEUTRAL.fullmatch(word)]
    return " ".join(word.strip("'.") for word in plain)[:_MOST].strip()


@lru_cache(maxsize=4096)
def after_noun(text: str) -> str | None:
    """What the words between a noun and its value make it: "website" of " for the website is "; None when there is no telling."""
    if _HAS_HAN.search(text):
        return ""
    if _FILL.fullmatch(text):
        return ""
    # "went from 5,000": the value is the one that held before
    if re.search(r"\bfrom\b(?!.*\b(?:to|until)\s*$)", text):
        return None
    found = _AFTER.match(text)
    if not found:
        return None
    about = re.sub(r"^(?:the|our|my|a|an)\s+", "", (found["about"] or "").casefold())
    return "" if not about or _WORK.fullmatch(about) else _named(about.split())


_DUE: Final = re.compile(r"(?:^|[,:]\s*)(?P<about>[^,;:]{1,60}?)\s*(?:'s|\b(?:is|are|will be|was))(?: now| still| only)?\s*$", re.IGNORECASE)
_NEEDED: Final = re.compile(
    r"^(?:needs?|wants?|has|have|must|to|have to|has to|needs? to|want to)\s+(?:have |get |see )?(?P<about>(?:it|this|that|them|these|everything)\b|"
    r"(?:the|our|my|a|an|your|all|this|these|that)\s[\w ./#'-]{1,40}?)(?:\s+(?:done|finished|ready|back|delivered|completed|here|in))?\s*$",
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"^(?:needs?|must|has|have|wants?)(?: to)?(?: be)?\s+(?:finished|finish|done|ready|deliver(?:ed)?|complete[d]?|ship(?:ped)?|"
    r"submit(?:ted)?|launch(?:ed)?|in|live|"
    r"out|there|here)\b(?:\s+(?P<about>(?:it|this|that|the|our|everything)\b[\w ./#'-]{0,40}?))?\s*$",
    re.IGNORECASE,
)


def _subject(said: str) -> str | None:
    """A noun phrase as what something is about; "" for the thread's own work."""
    words = re.sub(r"^(?:(?:and|but|so|also|please|fyi|ok|we|i)\s+)*(?:the|our|my|a|an|your|all)?\s*", "", said.casefold()).split()
    if len(words) > 4:
        return None
    return "" if not words or _WORK.fullmatch(words[0]) or words[-1] in {"i", "we"} else _named(words)


@lru_cache(maxsize=4096)
def of_deadline(before: str, between: str) -> str | None:
    """What is due, of "the invoice INV/1/A is | due | Friday" and "we | need the slides by | Monday"; None when it says no such thing."""
    if not between or _HAS_HAN.search(before + between):
        return _before_han(before)
    if re.match(r"(?:due|no later|at the latest|latest|by|before)\b", between, re.IGNORECASE):
        found = _DUE.search(before)
        return _subject(found["about"]) if found else ""
    wanted = re.sub(r"\s+(?:by|before|until)\s*$", "", between, flags=re.IGNORECASE)
    if found := _NEEDED.match(wanted):
        return _subject(found["about"])
    if found := _DONE.match(wanted):
        return _subject(found["about"] or before)
    return "" if re.fullmatch(r"needs?|needs? to be|must be", wanted, re.IGNORECASE) and _subject(before) == "" else None


_FOR: Final = re.compile(
    r" (?:for|on) (?:the |our )?(?P<about>(?!now\b|it\b|this\b|that\b|us\b|me\b|next\b|each\b|all\b|an?\b|one\b|two\b|every)[a-z][\w-]*(?: [\w-]+)?)$",
    re.IGNORECASE,
)


def after_value(text: str) -> str:
    """What the words behind an amount make it: "ads" of "a budget of 3,000 | for ads"."""
    found = _FOR.match(text)
    return _named(found["about"].casefold().split()) if found else ""
