"""What people like and dislike, their favourites, and what they usually do."""

from __future__ import annotations

from typing import Final

from memory.longterm.memory import Kind
from memory.longterm.rule_form import END, END_ZH, LIKES, Rule, en, zh

_LASTING: Final = r"(?!这|那|to\b|it\b|this\b|that\b|these\b|those\b|you\b|your\b|him\b|her\b|them\b|how\b|when\b|what\b|where\b|option\b|version\b|variant\b|number \d|plan [a-z\d]\b|being\b|working here|the (?:third|design|idea|way|answer|plan|new|sound|look|fact|result|draft|second|first|last)\b)"
"""What is liked here and now is no taste: "I like this answer", "I hate it when…"."""

TASTE: Final[tuple[Rule, ...]] = (
    Rule(
        "favourite",
        en(rf"my (?:new |all-time |absolute )?favou?rite (?P<o>[\w -]{{2,24}}?)(?: is| are|'s)(?: now| actually)? (?P<v>[\w '&.-]{{1,40}}?){END}"),
        keyed=True,
        single=True,
    ),
    Rule(
        "favourite",
        zh(rf"我(?:现在)?最(?:喜欢|爱)的(?P<o>[^，,。是不就]{{1,8}}?)(?:现在)?(?:是|改成了?|变成了?|换成了?)(?P<v>[^，,。]{{1,16}}?){END_ZH}"),
        keyed=True,
        single=True,
    ),
    Rule(
        "like",
        en(rf"i (?:no longer|don't|do not) (?:hate|dislike|mind) (?P<o>[\w '-]{{2,40}}?)(?: any ?more)?{END}"),
        Kind.PREFERENCE,
        keyed=True,
        retracts=True,
    ),
    Rule(
        "like",
        en(rf"i (?:no longer|stopped) (?:like|love|enjoy|liking|loving|enjoying) (?P<o>[\w '-]{{2,40}}?)(?: any ?more)?{END}"),
        Kind.PREFERENCE,
        keyed=True,
        negated=True,
        retracts=True,
    ),
    Rule(
        "like",
        en(
            rf"i {LIKES}(?:hate|dislike|despise|detest|loathe|can't stand|cannot stand|can't bear|don't like|do not like|don't enjoy|am not a fan of|am not keen on) (?!up\b|by\b|here\b|in\b|still\b){_LASTING}(?P<o>[\w '-]{{2,40}}?(?:(?:,| and|, and|,? or) (?!i\b)[\w '-]{{2,24}}?){{0,5}})(?: any ?more)?{END}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        negated=True,
        value="dislike",
    ),
    Rule(
        "like",
        en(rf"i(?:'m| am) (?:not a (?:big |huge )?fan of|not (?:very |too )?(?:keen on|fond of|into)) (?P<o>[\w '-]{{2,40}}?){END}"),
        Kind.PREFERENCE,
        keyed=True,
        negated=True,
        value="dislike",
    ),
    Rule(
        "like",
        en(
            rf"i {LIKES}(?:like|love|enjoy|adore|prefer|am a (?:big )?fan of|am (?:keen on|fond of)) {_LASTING}(?P<o>[\w '-]{{2,40}}?(?:(?:,| and|, and|,? or) (?!i\b)[\w '-]{{2,24}}?){{0,5}}){END}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        value="like",
    ),
    Rule("like", zh(rf"我(?:现在|已经)?(?:不再|不)(?:讨厌|反感)(?P<o>[^，,。]{{1,16}}?){END_ZH}"), Kind.PREFERENCE, keyed=True, retracts=True),
    Rule("like", zh(rf"我(?:现在|已经)?不再(?:喜欢|爱)(?P<o>[^，,。]{{1,16}}?){END_ZH}"), Kind.PREFERENCE, keyed=True, negated=True, retracts=True),
    Rule(
        "like",
        zh(
            rf"我(?:最|很|特别|非常|真的?|超|比较|有点|一直|现在)*(?:讨厌|不喜欢|反感|受不了|不爱(?:吃|喝|看|听|玩)?|不太喜欢|烦|怕吃)(?!这|那|你|他|她|的|第|方案|死|透|我|大家)(?P<o>[^，,。]{{1,20}}?){END_ZH}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        negated=True,
        value="dislike",
    ),
    Rule(
        "like",
        zh(
            rf"我(?:最|很|特别|非常|真的?|超级?|比较|一直|现在|也|还|又|重新|挺|蛮|更)*(?:喜欢|爱(?:吃|喝|看|听|玩)?|偏爱|热爱)(?!这|那|你|他|她|的|第|方案|死|透|我|大家)(?P<o>[^，,。]{{1,20}}?){END_ZH}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        value="like",
    ),
    Rule(
        "like",
        en(
            rf"i(?:'m| am) (?:a (?:big |huge )?fan of|(?:really |very )?(?:keen on|fond of|into)) {_LASTING}(?P<o>[\w '-]{{2,40}}?(?:(?:,| and|, and|,? or) (?!i\b)[\w '-]{{2,24}}?){{0,5}}){END}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        value="like",
    ),
    Rule(
        "like",
        zh(rf"我(?:还是)?更(?:喜欢|爱(?:吃|喝|看|听|玩)?)(?!这|那|你|他|她|的|第|方案|死|透|我|大家)(?P<o>[^，,。]{{1,16}}?){END_ZH}"),
        Kind.PREFERENCE,
        keyed=True,
        value="like",
    ),
    Rule(
        "habit",
        en(
            rf"i (?:usually|normally|always|typically|generally) (?!want|would|thought|think|agree|disagree|get\b|got\b|forget|fail|see\b|was\b|am\b|had\b|have (?:to|problems?|trouble|issues?)|feel|wonder|need|say\b|said\b|knew|know|hope|lose)(?P<o>.{{4,120}}?){END}"
        ),
        Kind.PREFERENCE,
    ),
    Rule(
        "habit",
        zh(rf"我(?:一般|通常|平时|习惯|总是|每天|每周\S?|每次)(?:都)?(?!.*(?:报错|出错|失败|忘|很忙|这样|崩|卡死|觉得|想说))(?P<o>[^。]{{3,60}}?){END_ZH}"),
        Kind.PREFERENCE,
    ),
)
