"""A clause in two languages put into one, for the patterns of the rules: "我 hate 早会" → "I hate 早会", "my timezone 是 PST" → "my timezone is PST". Pure.

Only the small words that join the others are put over; the names of things stay as they are, the patterns take them in either language.
"""

from __future__ import annotations

import re
from typing import Final

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]{2,}|\bI\b")
_TO_EN: Final = tuple(
    (re.compile(pattern), english)
    for pattern, english in (
        ("(?:以后|今后|从现在起)[，, ]*", "from now on "),
        ("请", "please "),
        ("我的", " my "),
        ("我不喜欢", " I don't like "),
        ("我(?:很|最|特别|非常)*喜欢", " I like "),
        ("我(?:很|最|特别|非常)*讨厌", " I hate "),
        ("我住在?", " I live in "),
        ("我在(?=.*(?:工作|上班))", " I work at "),
        ("我是(?:一名|一个|个)?", " I'm a "),
        ("我对", " I'm allergic to "),
        ("我(?:也|都)?", " I "),
        ("(?:叫|称呼)(?= *(?:me|I)\\b)", "call "),
        ("(?:用|使用)", " use "),
        ("现在是|是", " is "),
        ("在", " in "),
        ("(?:格式|过敏|工作|上班|的时候|吧|了|哦|啊|呢)", " "),
    )
)
_ME: Final = re.compile(r"\b(answer|reply|respond|write|talk|speak|call|give|tell|show|message|ping)( to)? +I\b", re.IGNORECASE)
_TO_ZH: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), chinese)
    for pattern, chinese in (
        (r"\b(?:please|pls)\b", "请"),
        (r"\bmy\b", "我的"),
        (r"\bi(?:'m| am) allergic to\b", "我对"),
        (r"\bi(?:'m| am)\b(?: an?\b)?", "我是"),
        (r"\bi\b", "我"),
        (r"\b(?:don't|do not) like\b", "不喜欢"),
        (r"\b(?:like|love|enjoy)\b", "喜欢"),
        (r"\b(?:hate|dislike|can't stand)\b", "讨厌"),
        (r"\blive in\b", "住在"),
        (r"\b(?:desk|seat)\b", "工位"),
        (r"\b(?:is|are)\b", "是"),
        (r"\b(?:dates?)\b", "日期"),
        (r"\b(?:times?)\b", "时间"),
        (r"\b(?:temperatures?)\b", "温度"),
        (r"\b(?:prices?)\b", "价格"),
        (r"\benglish\b", "英文"),
        (r"\bchinese\b", "中文"),
        (r"\b(?:answers?|reply|replies)\b", "回答"),
        (r"\bchatting with me\b", "跟我聊天"),
    )
)
_SEAMS: Final = re.compile(r"(?<=[\u3400-\u9fff]) +| +(?=[\u3400-\u9fff])")


def unmixed(text: str) -> tuple[str, ...]:
    """The clause in English and in Chinese as far as its small words go; nothing for a clause in one language."""
    if not (_HAN.search(text) and _LATIN.search(text)):
        return ()
    english = text
    for pattern, other in _TO_EN:
        english = pattern.sub(other, english)
    chinese = text
    for pattern, other in _TO_ZH:
        chinese = pattern.sub(other, chinese)
    put = (_ME.sub(r"\1\2 me", " ".join(english.split())), _SEAMS.sub("", chinese))
    return tuple(each for each in dict.fromkeys(put) if each != text)
