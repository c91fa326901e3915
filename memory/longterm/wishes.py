"""Explicit requests about memory itself: "remember that I hate rain", "别忘了我对花生过敏", "forget what I said about Berlin", "忘记关于我的一切".

They are honoured before the answer, so they must be told apart from the many sentences that only use the same words: a reminder ("don't forget
to send it", "记得帮我发"), a memory of one's own ("I can't remember", "我忘了密码"), an idiom ("forget it", "算了"). Pure.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memory.longterm.candidate import Wish
from memory.longterm.own_words import Sentence, sentences


class Asked(NamedTuple):
    """A sentence with a request to remember, and where in the message what it asks to remember stands. An empty span points back."""

    start: int
    end: int


LONGEST_WISH: Final = 600
"""Characters of a sentence that may end in "…, remember that": what is longer tells no one thing."""
_POLITE: Final = (
    r"(?:(?:please|pls|hey|hi|ok|okay|oh|and|also|btw|by the way|so|just|yes|no|well|steward|@\w+|<@\w+>|can you|could you|will you|would you|i want you to|i'd like you to|"
    r"i need you to|you should|you can|make sure (?:to|you)|be sure to|always|kindly)[,:]?\s+)*"
)
_POLITE_ZH: Final = "(?:(?:请|麻烦|拜托|帮我|帮忙|你|您|好的?|对了|另外|还有|顺便|一定要?|能不能|可不可以|能|可以|要|给我|也|务必|千万)[，,：: ]?)*"

_BACK_EN: Final = r"(?:this|that|it|these|those|all (?:of )?(?:this|that)|what i (?:just )?(?:said|told you)|the above|my (?:preferences?|choice))"
_BACK_ZH: Final = "(?:这个|这点|这一点|这条|这件事|这些|这|刚才(?:说的|那个|的话)?|上面(?:说的|的)?|我(?:刚才|刚刚)?说的(?:话|这些)?|那个|那点|它)"
_TAIL: Final = r"(?:\s*(?:please|pls|ok|okay|for (?:me|later|next time|the future)|from now on|in (?:mind|future)|too|as well|thanks|thank you|吧|啊|哦|呀|哈|了|好吗|可以吗|好不好|吗|一下|谢谢|下来))*"

_REMEMBER_BACK: Final = re.compile(
    rf"{_POLITE}(?:remember|memori[sz]e|note|save|store|keep)\s+{_BACK_EN}{_TAIL}|{_POLITE}(?:don't|do not|never) forget (?:this|that|it){_TAIL}"
    rf"|{_POLITE_ZH}(?:记住|记下来?|记一下|记着|存一下|保存|记好|别忘了?|不要忘了?|别忘记|不要忘记){_BACK_ZH}?{_TAIL}|{_POLITE_ZH}把{_BACK_ZH}(?:记住|记下来?|存下来?|保存下来?|记一下){_TAIL}",
    re.IGNORECASE,
)
_REMEMBER: Final = re.compile(
    rf"{_POLITE}(?:(?:remember|memori[sz]e|keep in mind|bear in mind|note down|make a note|note|take note|save to memory|add to (?:your )?memory|store)(?:,)?"
    rf"(?:\s+(?:that|this|for (?:later|next time|the future)|in (?:your )?memory))*\s*[:,–—-]?\s+|(?:save|keep|store|put)(?: (?:this|that|the following))?(?: (?:in (?:mind|memory|your (?:memory|head|notes))|for (?:later|me|next time)))*\s*:\s*|"
    r"save that (?=i\b|i'm|my\b|we\b)|(?:don't|do not|never|please don't) (?:ever )?forget(?:\s+that|\s*[:,])?\s+|for the record[,:]?\s+|"
    rf"for future reference[,:]?\s+|(?:i want|i'd like) you to (?:know|remember) that\s+)"
    r"(?!to\b|not to\b|when\b|how\b|where\b|what\b|why\b|who\b|which\b|if\b|me\b|us\b|him\b|her\b|them\b|it\b|the (?:time|days?|last|first)\b|about\b|your\b)(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBER_CASE: Final = re.compile(
    rf"{_POLITE}(?:remember|keep in mind|bear in mind|note|take note)(?:\s+that|\s*[:,–—-])\s*(?P<content>(?:when|whenever|if) (?:i|you|we)\b\S*\s\S.*)",
    re.IGNORECASE | re.DOTALL,
)
"""What is to be done in some case; without "that" or a colon it is a memory of one's own ("remember when we met")."""
_REMEMBER_ZH: Final = re.compile(
    rf"{_POLITE_ZH}(?:(?:记住|记下来?|牢记|记一下|记着|记好|存一下|备注一下|注意一下|记在心里)(?:了|啊|哦|吧|一下|这一?点|这个|这条|下面(?:这)?(?:点|条|件事)?)*\s*[，,：:]?\s*(?!的|没|了吗|吗|密码|账号)|"
    r"(?:别|不要|千万别|可别)(?:忘了?|忘记了?)[，,：: ]*(?=我(?!的)|我的[^，,]{1,12}(?:是|在|为|叫|不|很|对)|我们|咱|大家)|记得[，,：: ]*(?=我(?:对|是|不|讨厌|喜欢|最|只|住|叫|的[^，,]{1,10}(?:是|在|为|叫)|们|从不|平时|一般|爱|怕|在|吃|喝|有|会|用|属|养|更|每|周|姓|来自|负责|戒)))"
    r"(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBER_THIS_ZH: Final = re.compile(
    rf"{_POLITE_ZH}把[，, ]*(?P<content>(?:我|咱|大家|下面)\S.*?)(?:这件事|这点|这条|这个)?(?:给我)?(?:记住|记下来?|记一下|存下来?|保存下来?|记在心里)(?:了|吧|哦|啊|一下|好吗|可以吗)*",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBER_AFTER: Final = re.compile(
    rf"(?P<content>\S.*?)\s*(?:[,，:–—-]|\band\b)\s*{_POLITE}(?:(?:remember|memori[sz]e|note|save|store) (?:that|this|it)|keep (?:that|this|it) in mind|(?:don't|do not|never) forget (?:that|this|it)?|"
    rf"remember){_TAIL}"
    rf"|(?P<content2>\S.*?)[，,：: ]\s*{_POLITE_ZH}(?:记住|记下来?|记一下|记着|记好|存一下|别忘了?|别忘记|不要忘了?|不要忘记|记得){_BACK_ZH}?{_TAIL}",
    re.IGNORECASE | re.DOTALL,
)
_PAST: Final = re.compile(
    r"\b(?:do|did|does|don't|didn't|can't|cannot|can|could|couldn't) (?:i|we|he|she|they|anyone|anybody)\b[^,]{0,20}\bremember|\bi (?:can't|cannot|don't|do not|still|will|'ll|always|now|also|barely|hardly|just)? ?remember\b|"
    r"\b(?:do|did) you (?:still )?remember\b|\b(?:hard|easy|try|trying|need|have|want|reminds?) (?:me )?to remember\b|(?<![帮给替为请])我(?:会|都|也|还|已经|不|没|想)?(?:记住|记得|记不)|(?:记住|记得|记下来?)了(?:吗|没|么|没有)|你(?:还|都)?记得[^，,。]{0,30}(?:吗|么|不)$|(?:怎么|如何|为什么|为啥)[^，,]{0,8}(?:记住|忘)",
    re.IGNORECASE,
)

_FORGET_ALL: Final = re.compile(
    rf"{_POLITE}(?:(?:forget|delete|erase|remove|wipe|clear|drop|purge)\s+(?:absolutely |literally )?(?:everything|all|anything|whatever)(?:\s+(?:of|that|the|my|your|things?|data|memor(?:y|ies)|information|facts|stuff))*"
    r"(?:\s+(?:you|you've|you have|we|i)(?:\s+(?:know|remember|learned|learnt|stored|saved|have|told you|ever told you|said)(?: about)?)?)?(?:\s+(?:stored|saved|learned|about|of|on|from)\s*(?:me|myself|you)?)*(?:\s+me)?|"
    r"(?:forget|delete|erase|wipe|clear) (?:(?:all )?(?:of )?(?:my|your) (?:memory|memories|long-term memory)(?: (?:of|about|on) me)?|me(?: (?:completely|entirely))?))"
    rf"{_TAIL}",
    re.IGNORECASE,
)
_FORGET_ALL_ZH: Final = re.compile(
    rf"{_POLITE_ZH}(?:把)?(?:(?:忘记|忘掉|忘了|删除|删掉|清除|清空|抹掉|抹去|清掉)(?:掉|了)?(?:你)?(?:所?记得|记住|知道|保存|存储|了解)?(?:的)?(?:所有|全部|一切)?(?:的)?(?:和我有关|与我有关|关于我|有关我|我)(?:的)?(?:一切|所有|全部|的)*(?:信息|记忆|事情|事|内容|资料|数据|东西|记录)*|"
    r"(?:忘记|忘掉|忘了|删除|删掉|清除|清空)(?:所有|全部|一切)(?:的)?(?:记忆|信息|内容|东西)?|(?:你)?(?:记得|知道|记住|保存)?(?:的)?(?:所有|全部)?(?:关于|有关)?我的?(?:一切|所有|全部|全部信息|所有信息|记忆|所有记忆|全部记忆|信息|事情)(?:都|全|全部)*(?:忘掉|忘了|忘记|删掉|删除|清空|清除|删了)|"
    rf"清空(?:你的|我的)?(?:长期)?记忆|把(?:你)?(?:所?知道的|记得的|存的)?(?:所有|全部)?(?:关于|有关)我的?(?:一切|所有|全部|信息|记忆|资料|数据|内容|事情|东西)*(?:都|全|全部)+(?:忘掉|忘了|忘记|删掉|删除|清空|清除|删了)){_TAIL}",
    re.IGNORECASE,
)
_FORGET_BACK: Final = re.compile(
    rf"{_POLITE}(?:(?:forget|unremember) (?:this|that|what i (?:just )?(?:said|told you)|the last (?:thing|one)(?: i said)?)|(?:don't|do not) (?:remember|save|store|keep|memori[sz]e) (?:this|that|it|any of this|what i (?:just )?said)|delete (?:that|this) memory){_TAIL}"
    rf"|{_POLITE_ZH}(?:(?:忘掉|忘记|忘了|删掉|删除)(?:它|这个|这条|这点|那个|那条|刚才(?:说的|那个|那条|那句(?:话)?|的)?|我(?:刚才|刚刚)说的(?:话)?|刚刚说的)(?:记忆)?|(?:别|不要|不用|不必)(?:记住?|记下来?|保存|存|记录)(?:这个|这条|这些|它|刚才的|刚才说的|了)?|把(?:它|这个|这条|刚才(?:说的|那条|那个))(?:忘了|忘掉|忘记|删掉|删了)){_TAIL}",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    rf"{_POLITE}(?:(?:forget|unremember)\s+(?:that\s+(?=i\b|i'm|my|we\b)|(?:about\s+)?(?:the (?:fact|memory|thing|part|note) (?:that|about|of)\s+|what i (?:said|told you|mentioned|wrote)(?: (?:about|on|regarding))?\s+|(?=my\b)|(?=everything (?:about|i|on)\b|anything (?:about|i)\b))|(?=i\b|i'm\b|我))|"
    r"(?:delete|remove|erase|drop|clear)\s+(?:(?:the|that|any|all|your) )?(?:memor(?:y|ies)|what you (?:know|remember)|everything you (?:know|remember)|anything you (?:know|remember))(?: (?:you have|entries))?\s+(?:about|of|on|that|regarding|with)\s+|"
    r"(?:stop remembering|(?:don't|do not) remember|(?:you )?no longer (?:need to )?remember)(?: any more)?(?: that)?\s+(?!to\b|where|how|what (?!i\b)|when|who|why|if|seeing|having|being)|(?:delete|remove|erase)\s+(?=my (?:allerg|birthday|address|e-?mail|phone|name|favou?rite|preference|diet|home|city|memory)))(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_FORGET_ZH: Final = re.compile(
    rf"{_POLITE_ZH}(?:(?:忘掉|忘记|忘了|删掉|删除|去掉|抹掉)(?:吧)?[，,：: ]*(?:(?:我(?:之前|以前|上次|曾经|刚才|刚刚)?(?:说过?|提过?|讲过?|告诉过?你)的?(?:关于|有关)?|关于|有关|(?:那条|这条)?(?:关于|有关))(?P<a>\S.*?)(?:的)?(?:记忆|事情?|内容|信息|那条|那件事|话)?|(?P<b>(?=my\b|i\b|i'm\b|that i\b)\S.*?|我(?!的?(?:密码|账号|手机|钥匙|订单|文件|邮件|任务|日程|提醒))\S.*?)(?:这件事|这事|这点|的事情?|的记忆|这条)?)|"
    r"(?:别再?|不要再?|不用再?|不必再?)(?:记着?|记住|记得|保存)(?P<c>我\S.*?)|把(?:关于|有关)?(?P<d>\S.*?)(?:的)?(?:记忆|信息|事)?(?:忘掉|忘了|忘记|从记忆里?删掉|从记忆中删除))"
    r"(?:了|吧|谢谢|好吗|可以吗)*",
    re.IGNORECASE,
)
_NOT_MINE: Final = re.compile(
    r"^(?:我|i\b).{0,6}(?:忘了|忘记|forgot|forget\b)|(?:怎么|如何|为什么|为啥|会不会|会|不会)[^，,]{0,6}(?:忘|删)|\bhow (?:do|can|to|would)\b|\b(?:will|did|do|does) (?:you|it|he|she|they) (?:ever )?forget",
    re.IGNORECASE,
)
_AND_FORGET: Final = re.compile(
    r"[,，;；]?\s*(?:\b(?:and|but)\b|并且?|同时|也)\s*(?:please |请)?(?:\bforget\b|忘掉|忘记|忘了)|[,，;；]\s*(?:please |请)?(?:forget\b|忘掉|忘记)",
    re.IGNORECASE,
)
"""Where another wish begins that what is to be remembered does not tell."""
_TRAILING: Final = re.compile(r"[\s,，.。!！?？~…:：]+$")
_PLEASE: Final = re.compile(r"(?:[\s,，]*(?:please|pls|thanks|thank you|ok|okay|谢谢|好吗|可以吗|好不好|吧|哦|啊))+$", re.IGNORECASE)


def wish(text: str) -> Wish | None:
    """What `text` asks of memory, or None. A request to forget goes before one to remember, because it cannot be made later as well."""
    said = sentences(text)
    for one in said:
        if found := _forgets(one):
            return found
    content: list[str] = []
    back = False
    for number, one in enumerate(said):
        found_at = asked(one)
        if found_at is None:
            continue
        if found_at.start == found_at.end:
            before = said[number - 1] if number else None
            content += [] if before is None or before.asks or asked(before) else [before.text]
            back = back or not content
        else:
            content.append(text[found_at.start : found_at.end])
    if not content and not back:
        return None
    return Wish(what="remember", content=_tidy("; ".join(content) if len(content) > 1 else "".join(content)), back=not content)


def asked(sentence: Sentence) -> Asked | None:
    """Where in the message the sentence names what to remember; an empty span when it points to what was said before; None: it asks nothing."""
    text = sentence.text
    if _PAST.search(text) and not re.match(rf"{_POLITE}(?:remember|memori[sz]e)\b", text, re.IGNORECASE):
        return None
    if _REMEMBER_BACK.fullmatch(_TRAILING.sub("", text)):
        return Asked(sentence.start, sentence.start)
    for pattern in (_REMEMBER_CASE, _REMEMBER, _REMEMBER_ZH):
        if match := pattern.match(text):
            other = _AND_FORGET.search(text, match.start("content"))
            return Asked(sentence.start + match.start("content"), sentence.start + (other.start() if other else match.end("content")))
    if match := _REMEMBER_THIS_ZH.fullmatch(_TRAILING.sub("", text)):
        return Asked(sentence.start + match.start("content"), sentence.start + match.end("content"))
    if len(text) <= LONGEST_WISH and (match := _REMEMBER_AFTER.fullmatch(_TRAILING.sub("", text))):
        group = "content" if match["content"] else "content2"
        return Asked(sentence.start + match.start(group), sentence.start + match.end(group))
    return None


def _forgets(sentence: Sentence) -> Wish | None:
    text = _TRAILING.sub("", sentence.text)
    if _NOT_MINE.search(text):
        return None
    if _FORGET_ALL.fullmatch(text) or _FORGET_ALL_ZH.fullmatch(text):
        return Wish(what="forget", content="", everything=True)
    if _FORGET_BACK.fullmatch(text):
        return Wish(what="forget", content="", back=True)
    match = _FORGET.match(text) or _FORGET_ZH.fullmatch(text)
    content = next((each for each in match.groups() if each), "") if match else ""
    return Wish(what="forget", content=_tidy(content)) if content.strip() else None


def _tidy(content: str) -> str:
    content = re.sub(r"\s+(?:from|out of|in) (?:your |the )?(?:memory|memories|long-term memory)$", "", content.strip(), flags=re.IGNORECASE)
    return _TRAILING.sub("", _PLEASE.sub("", _TRAILING.sub("", content.strip())))
