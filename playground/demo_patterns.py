"""The patterns by which the demo model recognises what it can do, in English and Chinese.

They are built from a few shared pieces: an order (`WHICH`), a channel, a quotation, and the words after which a new
request begins (`JOINED`, `SPLIT`), so that "… and what time is it?" ends the free text before it.
"""

from __future__ import annotations

import re
from typing import Final

from playground.demo_transcript import ORDER_ID


def rx(pattern: str) -> re.Pattern[str]:
    """A pattern that ignores case."""
    return re.compile(pattern, re.IGNORECASE)


ID: Final = ORDER_ID.pattern
THAT: Final = (
    r"(?:\b(?:that|this|the|my)\s+(?:last\s+|same\s+|first\s+|second\s+|third\s+)?(?:order|one)\b|\bit\b|\bthem\b"
    r"|(?:那个|这个|那|这|该|上个|刚才的|刚才那个|第[一二三]个|最后一?个)(?:订单|单子|单)?|它)"
)
WHICH: Final = rf"(?:(?:order\s+|订单\s*)?(?:{ID})|{THAT})"
ANY_ORDER: Final = rx(r"\b(?:an|one|some)\s+order\b|一个订单|某个订单")
"""An order not named yet: to be asked for."""
CHANNEL: Final = r"(?P<channel><#[A-Z0-9]+(?:\|[^>]*)?>|#[a-z0-9_-]+|#[\u4e00-\u9fff]{1,20}?(?=\s|频道|发|说|[:：]|$))"
QUOTED: Final = r"(?:\"(?P<q1>[^\"]+)\"|“(?P<q2>[^”]+)”|「(?P<q3>[^」]+)」|'(?P<q4>[^']+)'(?!\w))"
VERB: Final = (
    r"(?:please\s+|请|帮我)?(?:what|where|when|who\b|how\b|cancel\b|list\b|show\b|calculate|compute|post\b|tell\b|change\b|check\b|summari[sz]e|look up"
    r"|remind me\b|search\b"
    r"|取消|查|看一?下|看看|计算|算一?下|列出|告诉|通知|把|现在|几点|多少|修改|更改|总结|提醒我|搜|在\s*[#<])"
)
JOINED: Final = rx(rf"[\s,，;；.。!！]*(?:\band then\b|\band also\b|\band\b|\bthen\b|\balso\b|然后|并且|并|还有|另外|同时|再|顺便|接着|\n)[\s,，]*(?={VERB})")
SPLIT: Final = rx(rf"{JOINED.pattern}|[.;!?。；！？\n]\s*|[,，]\s*(?={VERB})")

POST: Final = [
    rx(rf"\b(?:post|send|say|write|announce)\s+(?:the message\s+|a message\s+)?{QUOTED}\s+(?:to|in|on)\s+{CHANNEL}"),
    rx(rf"\b(?:post|send|write|announce|say)\s+(?:a message\s+|this\s+)?(?:to|in|on)\s+{CHANNEL}\s*(?::|：|,|saying\b|that\b)?\s*(?P<tail>[\s\S]*)"),
    rx(rf"\b(?:tell|let)\s+{CHANNEL}\s*(?:know\s+)?(?:that\s+|:\s*|：\s*)?(?P<tail>[\s\S]*)"),
    rx(rf"\b(?:post|send|announce|say)\s+(?P<middle>[^\n#<]{{1,2000}}?)\s+(?:to|in|on)\s+{CHANNEL}"),
    rx(rf"把\s*{QUOTED}\s*(?:这句话|这条消息)?\s*(?:发送|发布|发)到\s*{CHANNEL}\s*(?:频道)?"),
    rx(rf"(?:发布|发送|发)\s*{QUOTED}\s*(?:到|在|给)\s*{CHANNEL}\s*(?:频道)?"),
    rx(
        rf"(?:在|到|往|向|给)\s*{CHANNEL}\s*(?:频道)?[里中上]?\s*(?:发布|发送|发|说|通知|宣布)(?:一下|一条)?(?:消息|一句|个消息)?\s*[:：,，]?\s*(?P<tail>[\s\S]*)"
    ),
    rx(rf"(?:发(?:一条|个)?消息(?:到|给)|告诉|通知)\s*{CHANNEL}\s*(?:频道)?(?:的人|大家)?\s*[:：,，]?\s*(?P<tail>[\s\S]*)"),
]
POST_NOWHERE: Final = rx(rf"(?:\b(?:post|announce)|发布|发送)\s*{QUOTED}")
ADDRESS: Final = [
    rx(
        rf"\b(?:change|update|set|correct|fix)\s+(?:the\s+|my\s+)?(?:new\s+)?(?:shipping\s+|delivery\s+)?address(?:\s+(?:of|for|on)\s+(?P<which>{WHICH}))?"
        r"(?:\s*(?:to\b|:|：)\s*(?P<tail>[\s\S]*))?",
    ),
    rx(rf"\b(?:change|update|set|correct|fix)\s+(?P<which>{WHICH})(?:'s|’s)?\s+(?:shipping\s+|delivery\s+)?address(?:\s*(?:to\b|:|：)\s*(?P<tail>[\s\S]*))?"),
    rx(rf"\b(?:ship|send|deliver)\s+(?P<which>{WHICH})\s+to\s+(?![#<])(?P<tail>[\s\S]*)"),
    rx(
        rf"(?:把|将|请|帮我)?\s*(?P<which>{WHICH})?\s*的?\s*(?:收货|收件|配送|送货)?地址\s*(?:改成|改为|换成|换为|更改为|更改成|修改为|修改成|更新为|改到)\s*[:：]?\s*(?P<tail>[\s\S]*)"
    ),
    rx(rf"(?:修改|更改|更新|改一下|改|换)\s*(?P<which>{WHICH})?\s*的?\s*(?:收货|收件|配送|送货)?地址(?:\s*(?:为|成|到|[:：])\s*(?P<tail>[\s\S]*))?"),
    rx(rf"(?:把|将)\s*(?P<which>{WHICH})\s*(?:寄|送|发)到\s*(?![#<])(?P<tail>[\s\S]*)"),
]
NOT_CANCEL: Final = rx(rf"(?:\b(?:do not|don't|don’t|never|did you|have you|was it|is it)\s+cancel\w*|别取消|不要取消|不用取消|取消了[吗么没])(?:\s*{WHICH})?")
CANCEL: Final = rx(r"\bcancel\b|(?<!已)取消(?!的)")
CANCEL_ALL: Final = rx(
    r"\b(?:cancel|delete|remove)\s+(?:all|every|each)\b(?:\s+(?:of|one|my|the|open|these|those))*\s+orders?\b"
    r"|(?:取消|退订|退掉|删除|删掉)\s*(?:掉)?(?:我的?)?(?:所有|全部)的?(?:我的)?订单|(?:把|将)?\s*(?:我的?)?(?:所有|全部)的?订单\s*(?:都|全部|全)?\s*(?:取消|退订|退掉|删除|删掉)掉?"
)
"""Several orders at once, which no tool does."""
REASON: Final = rx(r"[,，;；(（]?\s*(?:\b(?:because|since|due to|reason(?: is)?)\b|因为|由于|原因是?|理由是?)\s*[:：]?\s*(?P<reason>[^\n]+)")
REASON_FIRST: Final = rx(r"(?:\b(?:because|since)\b|因为|由于)\s*(?P<reason>[^,，。.\n]+?)\s*[,，]\s*(?:所以|so\s+)?(?=[^,，。.\n]{0,12}(?:\bcancel\b|取消))")
ORDINALS: Final = {"first": 0, "第一": 0, "second": 1, "第二": 1, "third": 2, "第三": 2, "last": -1, "最后": -1}
LIST: Final = rx(
    r"\b(?:list|show|see|which|what|any|find|all|my|how many)\b[^.?!;\n#]{0,40}\borders\b[^.?!;,\n]{0,30}"
    r"|(?:列出|列一下|查看|显示|看看|看一?下|查询|查一?下|有哪些|有什么|我的|所有|全部|哪些)[^。？！；，,.?!\n]{0,14}(?<![那这该个])订单(?:列表|有哪些)?|订单(?:列表|有哪些)",
)
STATUS: Final = rx(
    rf"(?:\bwhere(?:'s|’s| is| are)?\b|\bstatus\b|\btrack\b|\bcheck\b|\blook up\b|\bhow is\b)[^.?!;\n]{{0,24}}?(?P<en>{THAT})"
    rf"|\b(?:has|did|is|was)\s+(?P<en3>{THAT})\s+[^.?!;\n]{{0,12}}(?:ship|arriv|deliver)\w*"
    rf"|(?P<en2>{THAT})[^.?!;\n]{{0,12}}\bstatus\b"
    rf"|(?P<zh>{THAT})[^。？！；，,\n]{{0,8}}(?:到哪|在哪|状态|物流|发货|进度|怎么样)|(?:查|看)[^。？！；，,\n]{{0,6}}(?P<zh2>{THAT})"
    r"|(?P<bare>\border status\b|订单状态|物流状态)",
)
THREAD: Final = rx(
    r"\b(?:summari[sz]e|recap|catch me up|tl;?dr|read (?:this|the) (?:thread|conversation)"
    r"|what (?:did|have) we (?:decide|agree|discuss|say)\w*|what was (?:said|decided))\b[^.?!;\n]*"
    r"|(?:总结|概括|回顾|读一下|看一下)[^。？！；，,\n]{0,8}(?:讨论|对话|聊天|消息|内容|线程|帖子|大家)[^。？！；，,\n]{0,6}|我们(?:刚才|之前)?(?:都)?(?:决定|讨论|商量|说|聊)了?(?:些)?什么|总结一下",
)
LIMIT: Final = rx(r"(?:\blast|\blatest|最近|最后)\s*(?:的)?\s*(\d{1,3})\s*(?:messages|条|个)")
TIME: Final = rx(
    r"\bwhat(?:'s|’s| is)?\s+(?:the\s+)?(?:current\s+|local\s+)?(?:time|date|day)\b(?:\s+is\s+it)?|\b(?:current|local)\s+time\b"
    r"|\btime is it\b|\btoday's date\b|\bwhat day\b|\btime in\b"
    r"|几点(?:了|钟)?|什么时间|(?:当前|现在|本地)的?时间|今天(?:是)?(?:几号|星期几|周几|礼拜几|什么日子)|今天(?:的)?日期",
)
ZONE: Final = rx(r"\b(?:Africa|America|Asia|Australia|Europe|Pacific|Atlantic|Indian)/[A-Za-z_]+(?:/[A-Za-z_]+)?")
READ_ON: Final = rx(
    r"(?:please\s+)?(?:read on|go on|continue(?: reading)?|keep reading|next page|(?:show|read)(?: me)?(?: some)? more|more)(?:\s+please)?[.!?]*"
    r"|(?:请|帮我)?(?:继续(?:读|看|显示)?(?:下去)?|接着(?:读|看)|往下(?:读|看)|下一页|看?更多)(?:吧|一下)?[。！!.]*"
)
"""A whole message that asks for the rest of a result."""
