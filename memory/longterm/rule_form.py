"""One way of saying something, as a pattern with what it means, and the words that may stand before and after any statement, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory.longterm.memory import Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of saying something."""

    attribute: str
    pattern: re.Pattern[str]
    kind: Kind = Kind.FACT
    keyed: bool = False
    several: bool = False
    """The object may be a list, each of it a statement of its own."""
    single: bool = False
    always: bool = False
    negated: bool = False
    retracts: bool = False
    value: str = ""
    """What it says whatever the words, as "zh" of "answer in Chinese"."""
    importance: float = 0.5
    rooms: bool = False
    """Said in a room, it is the room's and not the person's."""


def en(pattern: str) -> re.Pattern[str]:
    """A pattern for a whole English clause, whatever leads in."""
    return re.compile(rf"^{LEAD}{pattern}$", re.IGNORECASE)


def zh(pattern: str) -> re.Pattern[str]:
    """A pattern for a whole Chinese clause, whatever leads in."""
    return re.compile(rf"^{LEAD_ZH}{pattern}$", re.IGNORECASE)


LEAD: Final = (
    r"(?:(?:and|but|so|also|btw|by the way|fyi|please|pls|just so you know|for the record|note that|remember(?: that)?|hi|hey|well|actually|no(?=[,:])|yes|ok|okay|now|today|currently|"
    r"you should know(?: that)?|heads[- ]up(?: for [\w ]{2,40}:)?|as you know|unfortunately|sadly|luckily|i think|i (?:know|guess|believe|should (?:say|add|mention)|forgot to (?:say|mention)|must (?:say|admit)|(?:just )?wanted to (?:say|add|mention))(?: that)?|did i mention(?: that)?|as (?:i said|mentioned)|to be clear|for context|quick note|one more thing|first of all|additionally|just (?:fyi|saying|to let you know)|heads up|ps|p\.s\.|in general|generally|以后)[,:]?\s+)*"
)
LEAD_ZH: Final = "(?:(?:而且|并且|但是?|不过|另外|还有|所以|顺便说一?下?|对了|你好|请|麻烦|记住|记得|其实|目前|现在|今天|不(?=[，, ])|是的|好的?|嗯|因为|说明一下|提醒一下|补充一下|先?说一下|声明一下|跟你说(?:一下)?|告诉你|忘了说|我想说|再说一[句下]|首先|最后|一般来说|总的来说)[，,：: ]*)*"
END: Final = r"(?:[,\s]*(?:now|too|as well|though|actually|by the way|btw|please|thanks|thank you|ok|okay|you know|so (?:please )?(?:be careful|keep (?:that|this) in mind|remember (?:that|this)|don't .{1,40})))*"
END_ZH: Final = "(?:[，, ]*(?:了|的|哦|啊|呀|吧|呢|哈|谢谢|谢谢你|请注意|注意一下|请记住|你知道的|所以.{1,20}|就行|就好|就可以了?|即可))*"
LIKES: Final = r"(?:really |absolutely |quite |just |also |do |totally )*"
FROM_NOW: Final = r"(?:(?:from now on|in (?:the )?future|going forward|always|whenever you (?:answer|reply)(?: me)?|when (?:you )?(?:answer|reply|talk)(?:ing)?(?: to)? me)[,:]?\s+)*(?:please\s+|can you\s+|could you\s+|i(?:'d| would) (?:like|prefer) (?:it if )?you (?:to )?|i want you to\s+|always\s+|just\s+)*"
FROM_NOW_ZH: Final = "(?:(?:以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)(?:开始|起)?|每次|平时|一直|总是|和我(?:说话|聊天)(?:时|的时候)?|回答我(?:的?问题)?(?:时|的时候)|回复我?(?:时|的时候))[，, ]*(?:都|也|就)?)*(?:请|麻烦|你|都|一律|尽量|我希望你|我想让你|希望|要|就|直接)*"

NOW: Final = r"(?:now |currently |still |just |recently |also )*"
NOW_ZH: Final = "(?:现在|目前|已经|刚刚?|最近|还|也|还是)*"
NAME: Final = r"(?!(?:out|away|off|sick|here|back|ill|late|new|busy|on|in|gone|great|nice)\b)(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
"""A name as English writes it."""
SURNAMES: Final = "王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈姜崔钟谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙史陶贺毛郝顾龚邵万覃武钱戴严莫孔汤"
NAME_ZH: Final = rf"(?:[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|(?-i:[A-Z])[a-z]+)"
"""A name as Chinese writes it, or a Latin one."""
