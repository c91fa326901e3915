"""A message taken apart: which of its characters are the person's own words, and the sentences they make, each where it stands.

Code, quoted lines, tables, pasted logs, and what stands in quotation marks are blanked out and not cut, so that a place in what is left is the
same place in the message: what is remembered can name the exact words it came from. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

READ: Final = 4_000
"""Characters of a message that are read; what is longer is a document and no statement."""


class Sentence(NamedTuple):
    """One sentence of a message, or one clause of it."""

    text: str
    start: int
    """Where it begins in the message."""
    asks: bool = False
    """It ends as a question."""


_FENCE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_CODE: Final = re.compile(r"`[^`\n]{1,400}`")
_LINE: Final = re.compile(
    r"^(?:[ \t]*(?:>|&gt;|\||\$ |>>> |\+\+\+|---|@@).*| {4,}\S.*|\t+\S.*|[ \t]*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE)\b|"
    r"(?:from|to|subject|sent|date|cc|发件人|收件人|主题|发送时间)\s*[:：]).*|[ \t]*(?!(?:i|i'm|my|we|our|please|don't|do not|never|remember|from|when|if|the|always|usually)\b|[我请别咱]|以后|记住|每|今天|明天|早上|上午|中午|下午|晚上|周|星期|不要)[\w.·\u4e00-\u9fff -]{1,24}[ ]?(?:\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?\]?)[:：]? .*|"
    r"[ \t]*[\"'{}\[\]].*[\"'{}\[\],:]\s*$)",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"“[^”\n]{1,600}”|「[^」\n]{1,600}」|『[^』\n]{1,600}』|«[^»\n]{1,600}»|(?<![\w\"])\"[^\"\n]{1,600}\"(?![\w\"])|(?<=[\u4e00-\u9fff：:，,])\"[^\"\n]{1,600}\""
)
_FORWARDED: Final = re.compile(
    r"(?:^|\n)[ \t]*(?:-{2,} ?)?(?:forwarded message|original message|fwd?:|begin forwarded message|转发(?:的)?(?:消息|邮件)?[:：]|原始邮件|以下是(?:转发|原文|聊天记录|邮件)|聊天记录[:：])"
    r".*\Z",
    re.IGNORECASE | re.DOTALL,
)
_MAIL: Final = re.compile(
    r"^[ \t]*(?:from|to|subject|sent|cc|bcc|发件人|收件人|主题|发送时间|抄送)[ \t]*[:：][^\n]*(?:\n[ \t]*(?:from|to|subject|sent|date|cc|bcc|reply-to|发件人|收件人|主题|发送时间|日期|时间|抄送)[ \t]*[:：][^\n]*)+.*\Z",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""A mail with its head: at least two lines of it, and everything below."""
_TALK: Final = re.compile(
    r"^[ \t]*(?!(?:i|i'm|my|we|our|please|don't|do not|never|remember|from|when|if|the|always|usually|at|on|until|after|before|call|meet)\b|[我请别咱]|以后|记住|每)[\w.·\u4e00-\u9fff]{1,20}(?: [\w.·\u4e00-\u9fff]{1,20})?"
    r"[ \t]+\[?(?:(?:上午|下午|晚上|凌晨|中午) ?)?\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?\]?[ \t]*\n(?:[^\n]*\S[^\n]*(?:\n|\Z))+",
    re.IGNORECASE | re.MULTILINE,
)
"""A message copied out of a conversation: who, when, and below it, up to an empty line, what."""
_HANDED: Final = re.compile(
    r"^[^\n]{0,60}?(?:\b(?:proof ?read|translate|summari[sz]e|rewrite|rephrase|correct|polish|edit|review|improve|check|reply to|answer)\b(?: (?:this|that|it|the|following|below|text|mail|e-?mail|message|letter|note|draft|for me|please|into \w+|to \w+))*"
    r"|\b(?:here(?:'s| is| are)|this is|below is|i (?:got|received)|look at) (?:\w+ ){0,3}(?:mail|e-?mail|message|letter|text|note|draft|transcript|chat|conversation|post|ticket|reply|answer)s?\b(?: (?:that )?(?:\w+ ){1,4}(?:got|received|sent|wrote|forwarded|posted))?(?: (?:from|by|to) [\w .]{1,20})?"
    r"|(?:校对|翻译|润色|改写|总结|修改|检查|看)(?:一?下)?(?:这|下面|以下)?(?:这|的)?(?:段|封|条|篇|个)?(?:的)?(?:话|文字|邮件|消息|信|内容|文本|短信)?|(?:这是|下面是|以下是|收到)[^\n，,。]{0,10}(?:邮件|消息|信|短信|留言|聊天|原文|文字|内容|回复))(?: ?(?:please|谢谢|吧))?[ \t]*[:：][ \t]*\n.*\Z",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""A text handed over to be worked on, or to be read: everything below the line that says so."""
_ASKED_OF: Final = re.compile(
    r"^[^\n]*(?:\b(?:what|how|why)\b[^\n?]{0,60}\b(?:(?:he|she|they) |does (?:this|that|it) (?:mean|say)|(?:reply|answer|respond|react) to (?:this|that|it|him|her|them))[^\n?]{0,40}\?|(?:这|他|她|对方|他们|她们)[^\n？?]{0,16}(?:什么意思|怎么回|怎么看|啥意思|是什么)[^\n？?]{0,8}[？?])[ \t]*\n\s*\n.*\Z",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_SIGNED: Final = re.compile(
    r"\n[ \t]*(?:--|—|——|best|regards|best regards|kind regards|cheers|sincerely|yours|此致|祝好|敬上|谨上)[ \t]*,?[ \t]*\n?[ \t]*(?!wishes|regards|谢)[A-Z\u4e00-\u9fff][\w .\u4e00-\u9fff]{0,30}\s*\Z",
    re.IGNORECASE,
)
"""A name below a text: whoever writes to an assistant signs nothing."""
_END: Final = re.compile(r"[。！？!?;；\n…]+|\.(?=\s|$)")
_ABBREVIATED: Final = re.compile(r"\b(?:mr|mrs|ms|dr|st|vs|e\.g|i\.e|etc|approx|no|a\.m|p\.m|dept|inc|ltd)$", re.IGNORECASE)
_ASKS: Final = re.compile(r"[?？]")


@lru_cache(maxsize=512)
def own_words(text: str) -> str:
    """`text` with everything blanked out (characters by spaces, lines kept) that the person did not say in their own words."""
    out = text[:READ]
    signed = _SIGNED.search(out) is not None
    for pattern in (_FENCE, _FORWARDED, _MAIL, _TALK, _HANDED, _CODE):
        out = pattern.sub(_blank, out)
    out = _ASKED_OF.sub(_blank, out)
    if signed and _SIGNED.search(out):
        out = re.sub(r"[^\n]", " ", out)
    out = _LINE.sub(_blank, out)
    return _QUOTED.sub(_without_quoted, out)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _without_quoted(match: re.Match[str]) -> str:
    """A word or two in quotation marks are a name that the person uses ("call me “Leo”"); anything longer is somebody's words."""
    inner = match[0][1:-1]
    short = len(inner.split()) <= 3 and len(inner) <= 24 if inner.isascii() else len(inner) <= 6
    says = re.search(
        r"(?:\b(?:said|says|say|wrote|writes|write|asked|told|translate|phrase|text|means?)\b|说|写|问|翻译|意思|原文|句)[^\w]*$",
        match.string[max(0, match.start() - 16) : match.start()],
        re.IGNORECASE,
    )
    return match[0] if short and not says else " " * len(match[0])


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of the person's own words, in order."""
    own = own_words(text).replace("’", "'")
    found: list[Sentence] = []
    at = 0
    for match in [*_END.finditer(own), None]:
        end = match.start() if match else len(own)
        if match and match[0] == "." and _ABBREVIATED.search(own[at:end]):
            continue
        if (piece := own[at:end]).strip():
            start = at + len(piece) - len(piece.lstrip())
            found.append(Sentence(piece.strip(), start, bool(match and _ASKS.search(match[0]))))
        at = match.end() if match else end
    return tuple(found)


_DRESSING: Final = re.compile(
    r"^(?:[ \t]*(?:[-•*·‣◦]|\d{1,2}[.)、])\s+)|^\s*<@\w+>[,:，：]?\s+(?=i\b|i'm|my\b|我)|:[a-z+][\w+'-]{1,40}:(?::skin-tone-\d:)?|[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+|"
    r"(?<=\s)(?:[:;=8][-^']?[()DPpOo/|\]]|<3|xD|\^_?\^)(?=\s|$)|[~～]+(?=\s|$)|(?<![\w*_~])[*_~]+(?=\w)|(?<=[\w.!])[*_~]+(?![\w*_~])",
    re.IGNORECASE,
)


def undressed(text: str) -> str:
    """A clause without what only dresses it: emoji, smileys, bullets, signs of bold and italic, whom it is addressed to."""
    return " ".join(_DRESSING.sub(" ", text).split()) if _DRESSING.search(text) else text


_STARTS_EN: Final = (
    r"(?:and |but |so |also |then |plus |yet ){0,3}(?:i|i'm|i've|i'd|i'll|my|we|we're|our|please|from now|call me|don't|do not|never|always|remember|the team|it's|that's|you|"
    r"when i|whenever|every time|just kidding|jk|what(?:'s| is| are)|where(?:'s| is| are)|how (?:do|much|many|is|are)|can you|could you|calculate|check|look up|tell me|show me)\b"
)
_STARTS_ZH: Final = "(?:而且|并且|但是?|不过|另外|还有|所以|然后|也|同时|因为|再|顺便){0,3}(?:我|俺|咱|以后|今后|往后|从现在|请|叫我|别|不要|记住|记得|大家|团队|现在(?=[^，,。]{0,3}我)|平时|每次|每周|每天|每月|凡是|只要|如果|开玩笑|你|帮|算一?下|查一?下|查询|看一下|告诉我|给我)"
_SPLITS: Final = re.compile(
    rf"(?:\s{{0,8}},\s{{1,8}}|\s{{0,8}}[，]\s{{0,8}}|\s{{1,8}}[-–—]{{1,8}}\s{{1,8}}|\s{{1,8}})(?=(?:(?<=[,，–—-] )|(?<=[,，])|(?=(?:and|but|so|plus)\s)){_STARTS_EN})|[，,、]\s*(?={_STARTS_ZH})|(?<=[\u4e00-\u9fff])(?=但是?我|不过我|而且我|所以我)",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def clauses(sentence: Sentence) -> tuple[Sentence, ...]:
    """The clauses of a sentence that each say something of their own. A list ("peanuts, shrimp and milk") stays whole."""
    found: list[Sentence] = []
    at = 0
    for match in [*_SPLITS.finditer(sentence.text), None]:
        end = match.start() if match else len(sentence.text)
        piece = sentence.text[at:end]
        if piece.strip():
            found.append(Sentence(piece.strip(), sentence.start + at + len(piece) - len(piece.lstrip()), sentence.asks))
        at = match.end() if match else end
    return tuple(found)
