"""Whether a person's words point at something said or done before, and how: "same as last time", "the second one", "那上海呢", "上次的订单".

Read from the words alone, by code, before any model is asked: what points back makes the search for older messages worth its while, and
says which of them are wanted. `looks_back` is for a message that opens a thread in a channel: does it lean on what was said in the channel
before it ("explain", "总结一下"), or is it a request of its own? Short messages are taken to lean sooner than long ones.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from memory.terms import identifiers

Back = Literal["same_as_before", "ordinal", "other_one", "decision", "ellipsis", "earlier"]

LONGEST: Final = 2_000
"""Characters that are read."""
SHORT_WORDS: Final = 8
SHORT_CHARACTERS: Final = 14
"""Up to so many English words, or Chinese characters, a message is short: it may lean on others by what it leaves out."""


@dataclass(frozen=True, slots=True)
class Reference:
    """How a text points back."""

    kind: Back
    ordinal: int = 0
    """Which one, from 1; negative from the end (-1: the last); 0 when it is not said."""


_THING: Final = (
    r"(?:one|option|item|result|order|choice|plan|proposal|link|file|message|version|entry|draft|ticket|"
    r"suggestion|row|candidate|answer|question|point|step|call|flight|hotel|city|email|report)"
)
_SAID: Final = (
    r"(?:said|mentioned|discussed|talked about|told|asked|agreed|decided|wrote|sent|shared|posted|showed|"
    r"found|did|used|ordered|booked|set|tried|had|chose|gave|suggested)"
)
_EN_ORDINALS: Final = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th", "seventh 7th"), start=1)
    for word in words.split()
} | {"last": -1, "latter": -1, "former": 1}
_HAN_ORDINALS: Final = {word: number for number, word in enumerate("一二三四五六七八九十", start=1)} | {"两": 2}
_HAN_UNITS: Final = "[个条项种份张笔次封家位款段件步点]"

_SAME: Final = re.compile(
    r"\b(?:as (?:before|usual|always|last time|earlier|previously)|(?:the )?same (?:as|like) (?:\w+ )?(?:before|"
    r"last|usual|always|earlier|previous|yesterday|time|ever|first|other|that)\b"
    r"|like (?:before|last time|usual|the last|we did|you did|i did)|(?:the )?same (?:again|thing|way|"
    r"settings?|order|place|as always|procedure|one)\b|^(?:the )?(?:same|usual|ditto)\b[.!?]*$|the usual\b"
    r"|(?:do|run|try|send|order|book|repeat|make) (?:it|that|this|the same) again|^(?:again|once (?:more|"
    r"again)|one more time|repeat)\b|just like (?:last|before)|one more of (?:those|these|the same))|^(?:and )?(?:the )?same (?:for|"
    r"with|to|in|on|here|there)\b"
    r"|老样子|老规矩|老地方|照旧|照常|照老|跟(?:上次|之前|以前|昨天|上回|原来|刚才)(?:的)?一样|(?:和|同|像|按|照|按照|跟)(?:上次|之前|以前|以往|往常|上回|原来|"
    r"刚才|平时)|[跟和同像][^,，。?？吗]{1,10}一样(?:的|吧|就行|就好)?$|(?:一样|同样)(?:的|就行|就好|处理|操作|来)"
    r"|再(?:来|做|发|跑|试|查|订|执行|点)(?:一)?(?:次|遍|份|个|单|回)|重复(?:一)?(?:次|遍)|同上|一如既往|^(?:一样|同样|照样)"
)
_DECISION: Final = re.compile(
    r"\b(?:what|which|where|when|who|how|did|have|had|has)\b.{0,40}?\b(?:we|they|you|i|it|us|team|everyone)\b.{0,20}?\b(?:decide[d]?|"
    r"agree[d]?|settle[d]?|choose|chose|chosen|conclude[d]?|pick(?:ed)?|go with|went with|land(?:ed)? on|"
    r"end(?:ed)? up)\b"
    r"|\b(?:the|our|that|final) (?:decision|agreement|conclusion|outcome|verdict)\b|what was (?:decided|"
    r"agreed|settled|concluded|the (?:plan|outcome|result))|as (?:agreed|decided|discussed)\b"
    r"|(?:我们|咱们|大家|你们|他们|当时|最后|最终|到底)?(?:怎么|如何|是|都)?(?:决定|商定|说定|敲定|约定|定下来?|拍板|选定)(?:了|的)?(?:什么|哪|谁|怎么|"
    r"吗|是|多少|几|的)|(?:结论|决定|最终方案)是|(?:最后|最终|到底)(?:选|定|用|决定|怎么定)了?|按(?:约定|说好)的|说好的"
)
_ORDINAL_EN: Final = re.compile(
    rf"\b(?:the|that|your|my|our)\s+(?P<word>{'|'.join(_EN_ORDINALS)})(?:\s+(?:\w+\s+)?{_THING}s?\b|\s+(?:of (?:those|"
    rf"these|them|the)|two|three)\b|\s*(?:[,.!?]|please|then|$|instead|too|as well))"
    rf"|\b(?:option|number|no\.?|item|choice|#)\s*(?P<digit>\d{{1,2}})\b(?![-\w.])|^(?P<bare>first|second|third|fourth|fifth|last) one\b"
)
_ORDINAL_ZH: Final = re.compile(
    rf"第(?P<number>[一二三四五六七八九十\d]{{1,2}}){_HAN_UNITS}|(?P<last>最后(?:那)?(?:一)?{_HAN_UNITS}|倒数第一{_HAN_UNITS}|"
    rf"后者)|(?P<former>前者)|^(?:选|要|用|就)?(?P<pick>[一二三四五\d])(?:号)?(?:吧|就行|可以)?$"
)
_OTHER: Final = re.compile(
    rf"\b(?:the|that|those|and|any) others?(?: (?:one|two|three|{_THING})s?)?\b(?! (?:day|hand|side|than|"
    rf"people|words)\b)|\banother one\b|\bthe (?:remaining|rest)\b|\bboth of (?:them|those|these)\b"
    r"|另(?:外)?(?:一|两|几|那)?(?:个|条|份|笔|种|单|家|位|项)|另外那|其他(?:的|几个|那)|剩下|其余|别的(?:呢|那)?|还有(?:一|那|别)个|那个呢|其它"
)
_ELLIPSIS: Final = re.compile(
    r"^(?:and|but|so|ok(?:ay)?,?|or|then)?\s*(?:what|how) about\b(?:\W+[\w'-]+){1,9}\W*$|^(?:and|or|but) (?:for |"
    r"in |on |at |with |to )?[\w .,'-]{1,40}\?*$|^(?:and|or) (?:if|when|why|how|who|where|now|then)\b|"
    r"^(?:why|how come|how so|since when|says who|which one|which ones|who|when|where)\s*\??$"
    r"|^(?:for|in|on|at|with) [\w .'-]{1,30}\?$|^(?:and )?(?:tomorrow|today|yesterday|next week|the day after)\?*$|"
    r"^(?:go on|continue|more|more details?|keep going|next|and\?*|then\?*|so\?*|really\?*)[.!?]*$"
    r"|^(?:那|那么|还有)?[^,，。!?！？]{1,12}呢[?？]?$|^(?:(?:那|那么|还有)[^,，。!?！？]{1,12}|[^,，。!?！？\s]{1,3})(?:怎么样|如何)[?？]?$|"
    r"^那[^么个些是里边笔条份单件封次家张位种段款项天时几不]\S{0,10}[?？]?$|^(?:再|更)\S{1,4}(?:一点|点|一些|些)的?$|^(?:为什么|为啥|为何|怎么会|什么时候|"
    r"哪个|哪一个|多少|谁|在哪)[呢呀啊]?[?？]?$|^(?:继续|接着|然后呢?|还有吗?|再说说|详细点|具体点|展开)[^,，。]{0,4}$|^换成?\S{1,12}"
)
_EARLIER: Final = re.compile(
    rf"\b(?:that|those|this|these|the (?:same|previous|last|earlier|above|former|old|original|aforementioned)) (?:\w+ )?{_THING}s?\b|"
    rf"\b(?:you|i|we|he|she|they|\w+) (?:just |already |previously |earlier |have |had |also )*{_SAID}\b.{{0,50}}\b(?:before|"
    rf"earlier|last|ago|previously|above|already|yesterday|just now)\b"
    rf"|\b(?:what|which|where|who|when|how|the \w+|thing|everything|something|all|one) (?:\w+ )?(?:i|we|"
    rf"you|he|she|they) (?:just |already |previously |had )?{_SAID}\b|\b(?:what|when|where|who|which|why|"
    rf"how) did (?:i|we|you|he|she|they|\w+) .{{0,40}}\b(?:say|mention|tell|ask|write|send|share|order|"
    rf"book|do|use|set|try|suggest|find|call|talk|discuss)\b"
    r"|\b(?:remember|recall|remind me (?:what|which|who|when|where|of)|earlier|previously|beforehand|last time|"
    r"the other day|a while ago|back then|above|aforementioned|just now|again\?)\b|\b(?:do|undo|cancel|"
    r"send|show|open|repeat|change|fix|check|delete|use|explain|translate|summari[sz]e|read|update|approve|"
    r"forward|finish|retry|move|share) (?:it|that|them|those|these|this)\b"
    r"|^(?:it|that|they|those|them|this|he|she)(?:'s| is| are| was| were)?\b|\b(?:about|with|of|from|than) (?:it|"
    r"them|those)\b|\b(?:for|to|with|about|of) that\b[.!?]*$|(?<!\bis )(?<!\bwas )\b(?:it|them)(?: (?:to|"
    r"for|with|please|now|again|too)\b.{0,20})?[.!?]*$"
    r"|\b(?:the|that|this) (?!right\b|only\b|first\b)\w+ one\b|\bgo with \w{1,2}\b|\b(?:where|when|how|why) did (?:i|we|you)\b|\bwas supposed to\b"
    r"|刚才|刚刚|方才|刚(?:说|发|给|提|问|查|订|做|写)|之前(?!的?(?:[一二三四五六七八九十\d]))|先前|此前|以前(?:说|提|讲|聊|问|发|做|用|订|给)|上次|上回|"
    r"上一(?:次|个|条|份|笔|单|封|轮|步)|前面|上面|上述|(?:你|我|他|她|我们|咱们|大家)(?:说过|提过|提到过?的|讲过|问过|发过|说的|给的|发的|写的|做的|订的)|"
    r"还记得|记不记得|记得吗"
    r"|(?:那|这)(?:个(?!月|星期|周|礼拜|季度|世界|国家)|条|份|笔|单|些|件|封|次|家|张|位|几个|两个|种|段|款|项)|那(?:天|时|里|边)|当时|那会儿|昨天(?:说|"
    r"提|聊|那|的)|(?:把|给|对|用|取消|删掉|改|查|看|发)(?:它|他们|她们|它们)|^(?:它|他|她|那)(?:是|在|的|能|会|要|有)"
)

_ORDERED: Final[tuple[tuple[Back, re.Pattern[str]], ...]] = (("same_as_before", _SAME), ("decision", _DECISION))
_REST: Final[tuple[tuple[Back, re.Pattern[str]], ...]] = (("other_one", _OTHER), ("ellipsis", _ELLIPSIS), ("earlier", _EARLIER))


def refers_back(text: str) -> Reference | None:
    """How `text` points at something old in its thread; None when it can be understood by itself."""
    plain = _plain(text)
    if not plain:
        return None
    for kind, pattern in _ORDERED:
        if pattern.search(plain):
            return Reference(kind)
    ordinal = _ordinal(plain)
    if ordinal:
        return Reference("ordinal", ordinal)
    for kind, pattern in _REST:
        if pattern.search(plain):
            return Reference(kind)
    return None


def _ordinal(plain: str) -> int:
    english = _ORDINAL_EN.search(plain)
    if english is not None:
        word = english["word"] or english["bare"]
        return _EN_ORDINALS[word] if word else int(english["digit"])
    chinese = _ORDINAL_ZH.search(plain)
    if chinese is None:
        return 0
    if chinese["last"]:
        return -1
    number = chinese["number"] or chinese["pick"]
    if number is None:
        return 1
    return int(number) if number.isdecimal() else _HAN_ORDINALS.get(number, 0)


_ABOUT_THE_TALK: Final = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|recap|tl;?dr|catch me up|fill me in|bring me up to speed|what(?:'s| is| was) (?:going on|"
    r"happening|this|that|the (?:issue|problem|context|plan|status|verdict))|what happened|thoughts|opinions?|"
    r"any ideas?|"
    r"what do you (?:think|make of|say|suggest)|who(?:'s| is) right|action items|next steps|minutes|follow up|"
    r"conversation|discussion|thread|(?:messages?|chat|channel|points?|posts?) (?:above|so far|before|"
    r"here)|above|so far|earlier|"
    r"take over|deal with|handle|look into|take a look|have a look|sort (?:this|that|it) out|can you help|"
    r"please help|help us|help me (?:here|out)|could you do (?:this|that|it)|is (?:this|that|it) (?:right|"
    r"true|correct|ok|normal|possible)|does (?:this|that|it))\b"
    r"|总结|汇总|概括|归纳|梳理|纪要|整理一下|怎么办|怎么看|怎么处理|怎么回事|咋办|咋回事|啥情况|什么情况|什么意思|看看|看一下|看下|帮忙|帮个忙|处理一下|处理下|跟进|解释|评价|意见|你觉得|你认为|说说|谁对|上面|以上|上文|刚才|前面|讨论|聊天记录|这段|翻译一下|待办|下一步"
)
_BARE_VERB: Final = re.compile(
    r"^(?:please |can you |could you |would you |pls |hey |hi |so |ok |and )*(?:explain|translate|summari[sz]e|"
    r"recap|help|fix|check|verify|clarify|elaborate|continue|answer|reply|respond|review|proofread|comment|"
    r"decide|assist|investigate|analy[sz]e|confirm|"
    r"do|handle|rewrite|shorten|simplify|vote|thoughts|why|how|what|who|when|where|really|agreed?|true|"
    r"correct|yes|no|right|ideas?|opinions?)(?: (?:it|this|that|these|those|them|here|please|us|me|all|"
    r"everything|again|in (?:english|chinese|short|detail|simple terms)|(?:in)?to (?:english|chinese)|"
    r"now|for (?:me|us)))*[.!? ]*$"
    r"|^(?:请|麻烦|帮我?|帮忙|能不能|可以|你)*(?:解释|翻译|总结|回答|回复|确认|检查|分析|处理|改写|润色|核对|评论|说明|继续|查一下|查查|算一下|修复|跟进|补充|看)(?:一下|下|成?(?:中文|英文|英语)|吧|吗|这个|它|呢)*[。!?！？]*$"
)


def looks_back(text: str) -> bool:
    """Whether a message that opens a thread leans on what was said in the channel before it. In doubt, a short one does and a long one does not."""
    plain = _plain(text)
    if not plain:
        return True  # a mention and nothing else: what is meant can only stand above
    if _BARE_VERB.search(plain):
        return True
    han = len(re.findall("[\u3400-\u9fff]", plain))
    short = han <= SHORT_CHARACTERS if han * 2 > len(plain.replace(" ", "")) else len(plain.split()) + han // 2 <= SHORT_WORDS
    if identifiers(plain) and not _strongly(plain):
        return False  # it says what it is about
    if _strongly(plain):
        return True
    return short and (_ABOUT_THE_TALK.search(plain) is not None or refers_back(plain) is not None)


_STRONG: Final = re.compile(
    r"\b(?:(?:messages?|discussion|conversation|chat|posts?|points?|said|written|everything|all|question|"
    r"link|error|issue) (?:above|so far|up there|before this|earlier)|the above|this (?:channel|conversation|"
    r"discussion|chat|thread)|"
    r"what did (?:we|they|you all|everyone)|what (?:was|has been) (?:said|decided|discussed|agreed)|catch me up|"
    r"tl;?dr|recap|(?:deal|help) with (?:this|that|it)\b|(?:explain|summari[sz]e|translate|check|fix|handle|"
    r"review|answer) (?:this|that|these|those|it|them)\b(?! \w+ (?:https?|file)))"
    r"|上面|以上|上文|上述|刚才|这个怎么|这怎么|这是怎么|这事|这件事|这个问题|这段(?:话|讨论|对话)|大家(?:说|讨论|刚)|我们(?:刚才|刚刚|决定|讨论)|(?:他|她|他们)(?:说的|刚才)|聊天记录|处理(?:一下)?这"
)


def _strongly(plain: str) -> bool:
    return _STRONG.search(plain) is not None


_ADDRESS: Final = re.compile(r"<@[^>]*>|^(?:hey|hi|hello|ok|okay|so|please|pls|你好|嗨|嘿)[ ,，!！]+")


def _plain(text: str) -> str:
    """One width, lower case, single spaces; without the mention and the greeting at its beginning."""
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold().replace("’", "'")
    bare = " ".join(re.sub(r"<@[^>]*>", " ", folded).split())
    return _ADDRESS.sub("", bare).strip(" ,，:：、")
