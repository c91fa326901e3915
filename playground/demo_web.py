"""Requests about the weather, about web pages and about the workspace, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from playground.demo_patterns import CHANNEL, JOINED, QUOTED, VERB, rx
from playground.demo_transcript import ORDER_ID
from playground.demo_wish import TAKEN, Sheet, unquoted
from playground.demo_words import CITIES

URL: Final = re.compile(r"<(?P<inner>https?://[^\s|>\x00]{1,2000})(?:\|[^>\n]{0,300})?>|(?P<bare>https?://[^\s<>\"“”「」，。！？；（）\x00]{1,2000})")
_PAGE_WORD: Final = rx(r"summari|\bread\b|open|fetch|what|tell|\bsay|about|page|link|article|总结|概括|讲|说|写|读|看|打开|链接|网页|文章|页面|内容")
_SENTENCE_END: Final = rx(rf"[.?!;。？！；\n{TAKEN}]\s*|{JOINED.pattern}|[,，]\s*(?={VERB})")

_NOW: Final = r"(?:\s+(?:like|right now|now|today|currently|at the moment))*"
_NAME: Final = r"(?:[A-Za-z.'-]{1,30}(?: [A-Za-z.'-]{1,30}){0,3}|[\u4e00-\u9fff·]{1,20}?)"
_WEATHER: Final = [
    rx(
        rf"(?:\b(?:what|how)(?:'s|’s| is)?\s+|\b(?:tell|show) me\s+)?(?:\b(?:the|current|today'?s)\s+)*(?<!say about the )(?<!said about the )\bweather\b{_NOW}"
        r"(?:(?:\s+(?:in|at|for|of)\s+|\s*(?=[\u4e00-\u9fff]))(?P<place>[^?!.;。？！；\n\x00]{1,100}))?"
    ),
    rx(rf"\b(?:how (?:warm|cold|hot)|what temperature) is it{_NOW}(?:\s+(?:in|at)\s+(?P<place>[^?!.;\n\x00]{{1,100}}))?"),
    rx(rf"\bis it (?:raining|snowing|sunny|cold|warm|hot|windy){_NOW}(?:\s+(?:in|at)\s+(?P<place>[^?!.;\n\x00]{{1,100}}))?"),
]
_WEATHER_ZH: Final = rx(
    r"(?:(?:天气|气温)(?:状况|情况)?(?:怎么样|怎样|如何|好吗|好不好|是多少|多少度|几度)?|(?:冷吗|热吗|冷不冷|热不热|下雨吗|下雪吗|下雨了吗|多少度|几度))"
    r"(?=\s*(?:[，,。.？?！!;；、\x00]|$|和|呢|吗|另外|还有|\bin\b))"
)
_PLACE_ZH: Final = rx(rf"(?P<place>{_NAME}(?:\s*(?:和|、|跟|以及)\s*{_NAME}){{0,3}})\s*(?:今天|现在|目前|当前)?的?\s*$")
_LOOK_BACK: Final = 60
"""Characters before the Chinese word for weather in which its place may stand."""
_BEFORE_PLACE: Final = rx(
    r"^(?:请问|请|帮我|麻烦|查询|查一?下|查|看一?下|看看|告诉我|我想知道|今天|现在|目前|那么?|另外|还有|再|然后|顺便|说说|一下|在|the\s+)+"
)
_AFTER_PLACE: Final = rx(
    r"(?:\s*(?:right now|now|today|currently|please|at the moment|in (?:degrees )?(?:celsius|fahrenheit)|今天|现在|目前|当前|那边|这边|的))+$"
)
_SEVERAL: Final = rx(r"\s+and\s+|\s*(?:、|以及|还有|和|跟|&)\s*")
_NO_PLACE: Final = rx(r"\b(?:what|how|is|the)\b|几点|什么|多少|怎么|时间|这里|那里|^(?:it|here|there)$")

_SEARCH: Final = [
    rx(
        r"\bsearch(?:\s+(?:the|all|my|our|messages?|channels?|slack|history|workspace))*(?:\s+(?:in|on)\s+(?P<inside>#\S{1,80}|<#[^>]{1,90}>))?"
        r"(?:\s+(?:for|about)\b)?(?:\s+messages?\s+(?:about|with|containing|mentioning))?\s+(?P<tail>[^\n\x00]{1,300})"
    ),
    rx(r"\b(?:find|look for)\s+(?:all\s+|the\s+|any\s+)?messages?\s+(?:about|with|containing|mentioning|that mention)\s+(?P<tail>[^\n\x00]{1,300})"),
    rx(
        r"(?:请|帮我)?(?:在\s*(?P<inside>#[^\s，。]{1,60}?|<#[^>]{1,90}>)\s*(?:频道)?[里中]?\s*)?(?:搜索一下|搜一下|搜一搜|搜索|搜|查找(?=[^。\n]{1,40}消息))"
        r"(?:消息|聊天记录|关于|包含|含有|带有|一下|[:：，,\s])*(?P<tail>[^\n\x00]{1,300})"
    ),
]
_SEARCH_END: Final = rx(rf"{JOINED.pattern}|[?!;。？！；\n]|\.(?=\s|$)|[,，]\s*(?={VERB})")
_SEARCH_LEAD: Final = rx(r"^\s*(?:for|about)\b\s*")
_SEARCH_REST: Final = rx(r"\s*(?:的|相关的?|有关的?|这个词)*\s*(?:消息|聊天记录|记录)?$")
_IN_CHANNEL: Final = rx(rf"\s*(?:\bin|\bon|在)?\s*{CHANNEL}\s*(?:频道)?(?:里|中|上)?(?:的)?")
_CHANNELS: Final = [
    rx(r"(?:(?:有哪些|有什么|有没有|列出|看看|找|查)\s*)?(?:关于|有关|跟|和)\s*(?P<query>[^，。？！\n的#\x00]{1,30}?)\s*(?:有关|相关)?的?频道"),
    rx(r"(?:有哪些|有什么|列出|列一下|看看|看一下|查看|显示|哪些|所有|全部)[^。？！；，\n#\x00]{0,6}频道(?:列表)?|频道(?:列表|有哪些|有什么)"),
    rx(
        r"\b(?:which|what|list|show|find|see|are there|any|all)\b[^.?!;,\n#\x00]{0,25}\bchannels?\b"
        r"(?:\s+(?:are there|exist|do we have|can i (?:see|join)|is there))*"
        r"(?:\s+(?:about|for|on|named|called|with)\s+(?P<query>[^.?!;,\n\x00]{1,60}))?"
    ),
]


def pages(sheet: Sheet) -> None:
    """Addresses of web pages, each with the words around it that say what is wanted."""
    while found := URL.search(sheet.text):
        before = [end.end() for end in _SENTENCE_END.finditer(sheet.text[: found.start()])]
        start = before[-1] if before else 0
        after = _SENTENCE_END.search(sheet.text, found.end())
        end = after.start() if after else len(sheet.text)
        lead, trail = sheet.text[start : found.start()], sheet.text[found.end() : end]
        start = start if _PAGE_WORD.search(lead) and not ORDER_ID.search(lead) else found.start()
        end = end if _PAGE_WORD.search(trail) and not ORDER_ID.search(trail) and not URL.search(trail) else found.end()
        sheet.take(start, end)
        sheet.wish(found.start(), "fetch_url", url=found["inner"] or found["bare"].rstrip(".,;:!?)'"))


def weather(sheet: Sheet) -> None:
    """Where somebody wants to know the weather; without a place, the only one named elsewhere in the text."""
    units = "imperial" if re.search(r"fahrenheit|华氏", sheet.text, re.IGNORECASE) else ""
    while match := _WEATHER_ZH.search(sheet.text):
        back = max(match.start() - _LOOK_BACK, 0)
        place = _PLACE_ZH.search(sheet.text[back : match.start()])
        _weather_at(sheet, back + place.start() if place else match.start(), match.end(), place["place"] if place else "", units)
    for pattern in _WEATHER:
        while match := pattern.search(sheet.text):
            said, end = match["place"] or "", match.end()
            stop = _SENTENCE_END.search(said)
            if stop:
                said, end = said[: stop.start()], match.start("place") + stop.start()
            _weather_at(sheet, match.start(), end, said, units)


def _weather_at(sheet: Sheet, start: int, end: int, said: str, units: str) -> None:
    """Wishes for the places that `said` names, or else for the only one in the text; the stretch from `start` to `end` is understood."""
    named = [place for part in _SEVERAL.split(said) if (place := _AFTER_PLACE.sub("", _BEFORE_PLACE.sub("", part.strip())).strip(" ,，、"))]
    if not named or any(_NO_PLACE.search(place) for place in named):
        named = [word for words in CITIES.values() for word in words if _has_word(word, sheet.text)][:1]
    sheet.take(start, end)
    for place in named:
        sheet.wish(start, "get_current_weather", place=place, units=units)
    if not named:
        sheet.wish(start, "get_current_weather", "which_place", units=units)


def _has_word(word: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", text, re.IGNORECASE) is not None


def searches(sheet: Sheet) -> None:
    """Words to look for in messages, and the channel to look in if one is named."""
    for pattern in _SEARCH:
        while match := pattern.search(sheet.text):
            raw = match["tail"]
            quoted = re.search(rf"^\s*{QUOTED}", raw)
            stop = _SEARCH_END.search(raw, quoted.end() if quoted else 0)
            end = stop.start() if stop else len(raw)
            sheet.take(match.start(), match.start("tail") + end)
            inside = _IN_CHANNEL.search(raw[:end], quoted.end() if quoted else 0)
            channel = (inside["channel"] if inside else match.groupdict().get("inside")) or ""
            words = f'"{unquoted(quoted)}"' if quoted and " " in unquoted(quoted) else unquoted(quoted) if quoted else raw[:end]
            if inside and not quoted:
                words = words[: inside.start()] + words[inside.end() :]
            words = _SEARCH_REST.sub("", _SEARCH_LEAD.sub("", words)).strip(" :：")
            sheet.wish(match.start(), "search_messages", query=words, channel=re.sub(r"<#([A-Z0-9]+)(?:\|[^>]*)?>", r"\1", channel))


def channels(sheet: Sheet) -> None:
    """Which channels there are, perhaps about something."""
    for pattern in _CHANNELS:
        while match := pattern.search(sheet.text):
            query = (match.groupdict().get("query") or "").strip()
            sheet.take(*match.span())
            sheet.wish(match.start(), "list_channels", query=query)
