"""Requests about reminders: setting one, listing them, cancelling one, in English and Chinese.

The words that say when are found but not understood: they go to the tool as the person said them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from playground.demo_patterns import JOINED, ORDINALS, VERB, ZONE, rx
from playground.demo_transcript import Transcript
from playground.demo_wish import Sheet, Wish
from playground.demo_words import CITIES

_N: Final = r"(?:\d+(?:\.\d+)?|an?|half an?|one|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|thirty|a few|a couple of)"
_UNIT: Final = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?)"
_DAY: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH: Final = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_CLOCK: Final = r"(?:\d{1,2}[:：]\d{2}\s*(?:[ap]\.?m\b\.?)?|\d{1,2}\s*(?:[ap]\.?m\b\.?|o'?clock\b)|noon\b|midnight\b)"
_EN: Final = (
    rf"(?:\bin\s+{_N}\s*{_UNIT}\b(?:\s+and a half\b)?(?:\s*(?:and\s+)?{_N}\s*{_UNIT}\b)*|\b{_N}\s+{_UNIT}\s+from now\b|\b(?:the\s+)?day after tomorrow\b"
    r"|\b(?:tomorrow|today|tonight)(?:\s+(?:morning|afternoon|evening|night|noon))?\b|\b(?:this|next)\s+(?:morning|afternoon|evening|week|month|"
    rf"{_DAY})\b|\b(?:on\s+)?{_DAY}\b(?:\s+(?:morning|afternoon|evening))?|\bin the (?:morning|afternoon|evening)\b|(?:\bat\s+)?\b{_CLOCK}|\bat\s+\d{{1,2}}\b"
    rf"|\b(?:on\s+)?(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}})?|\b(?:on\s+)?{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
    r"|\b(?:on\s+)?\d{4}-\d{2}-\d{2}\b(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\b(?:on\s+)?the\s+\d{1,2}(?:st|nd|rd|th)\b)"
)
_ZN: Final = r"(?:\d+(?:\.\d+)?|[一二两三四五六七八九十半几]{1,3})"
_PART: Final = r"(?:早上|上午|中午|下午|傍晚|晚上|凌晨|夜里|半夜)"
_ZH: Final = (
    rf"(?:(?:再?过)?\s*{_ZN}\s*个?半?\s*(?:秒钟?|分钟|刻钟|小时|钟头|天|周|星期|月)(?:{_ZN}\s*(?:分钟|秒))?\s*(?:之后|以后|过后|后)"
    rf"|(?:再过|过)\s*{_ZN}\s*个?半?\s*(?:秒钟?|分钟|刻钟|小时|钟头|天|周|星期|月)|大后天|后天|明天|明早|明晚|今天|今晚"
    rf"|(?:下下?个?|这个?|本)?(?:周|星期|礼拜)[一二三四五六日天]|下(?:周|个?月)|(?:\d{{4}}年)?{_ZN}月{_ZN}[日号]|{_ZN}[号日](?={_PART}|\s|{_ZN}点)|{_PART}"
    rf"|{_ZN}\s*点(?:钟|整|半|[一三]刻|{_ZN}分?)?)"
)
_ONE: Final = rf"(?:{_EN}|{_ZH})"
_CITY_EN: Final = "|".join(re.escape(word) for words in CITIES.values() for word in words if word.isascii())
_CITY_ZH: Final = "|".join(word for words in CITIES.values() for word in words if not word.isascii())
_ZONE_EN: Final = (
    rf"\b(?:{_CITY_EN})(?:\s+local)?\s+time\b|\b(?:UTC|GMT)\b(?:\s?[+-]\d{{1,2}}(?::?\d{{2}})?)?|{ZONE.pattern}"
    r"|\b(?:my|local)\s+time\b"
)
_ZONE_ZH: Final = rf"(?:{_CITY_ZH}|当地|本地|我的)时间"
_AFTER: Final = (
    rf"(?:\s+in\s+(?:{_CITY_EN})\b|\s+(?!(?:to|that|about|the|for|of|and|a|an|my)\b)[A-Za-z'/_-]{{2,30}}(?:\s+(?!(?:the|to|a|my)\b)[A-Za-z'/_-]{{2,30}})?\s+time\b"
    rf"|\s*[\u4e00-\u9fff]{{2,5}}时间(?=\s*(?:{_PART}|{_ZN}点))|(?<=点)(?:{_CITY_ZH})时间)"
)
"""The place on whose clock it is, which may follow a time: also one that is not known here goes to the tool, which says so."""
_PIECE: Final = rf"(?:{_ONE}|{_ZONE_EN}|{_ZONE_ZH})"
WHEN: Final = rx(rf"{_PIECE}(?:\s*[,，的]?\s*{_PIECE}|{_AFTER})*")
_ONLY_PLACE: Final = rx(rf"(?:{_ZONE_EN}|{_ZONE_ZH})")
_EVERY_DAY_EN: Final = r"mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun"
_REPEATS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (rx(rf"\b(?:on\s+)?({_EVERY_DAY_EN})days\b"), r"\1day"),
    (rx(rf"\b(?:on\s+)?(?:every|each)(?:\s+(?:single|other))?\s+({_DAY})\b"), r"\1"),
    (rx(r"\b(?:every|each)(?:\s+single)?\s+(morning|afternoon|evening)\b"), r"in the \1"),
    (rx(r"\b(?:every|each)(?:\s+single)?\s+night\b"), "in the evening"),
    (rx(rf"\bevery\s+({_N}\s*{_UNIT})\b"), r"in \1"),
    (rx(r"\b(?:every|each)\s+(hour|half(?: an)? hour)\b"), r"in an \1"),
    (
        rx(r"\b(?:every|each)(?:\s+(?:single|other))?\s+(?:minute|day|week|month|year|quarter|weekday|weekend|work(?:ing)?\s?day|business day)s?\b"
           r"|\b(?:on\s+)?(?:weekdays|weekends|workdays)\b"
           r"|\b(?:daily|weekly|monthly|yearly|hourly)\b(?=\s*(?:at\b|on\b|to\b|in\b|[,，:.!]|$))"),
        "",
    ),
    (rx(r"每个?(早上|早晨|上午|中午|下午|傍晚|晚上)"), r"\1"),
    (rx(r"每(?:天早(?![上晨])|早)"), "早上"),
    (rx(r"每(?:天晚(?!上)|晚|夜)"), "晚上"),
    (rx(r"每个?(?=(?:周|星期|礼拜)[一二三四五六日天])"), ""),
    (rx(rf"每隔?({_ZN}\s*个?(?:分钟|小时|钟头|天|周|星期|月))"), r"\1后"),
    (rx(r"每个?小时"), "一小时后"),
    (rx(r"每个?月(?=[一二三四五六七八九十\d])|每逢?个?(?:天|日|周末|周|星期|礼拜|月|年|工作日)(?![的报刊例])|天天"), ""),
)  # fmt: skip
"""Words that ask for a repetition, and what they leave for its first time."""
_NOTHING: Final = rx(r"(?:[\s,，]|请|帮我|please)*")
_CUT: Final = r"[^\n\x00]{0,600}"
_REMIND: Final = rx(
    rf"(?P<before>[^.?!;。？！；\n\x00]{{0,60}}?)(?:(?:please\s+|can you\s+|could you\s+)*\bremind me\b"
    rf"|\b(?:set|create|add|make)\s+(?:me\s+)?(?:a|another)\s+reminder\b"
    rf"|(?:请|帮我|麻烦)*(?:提醒我|提醒一下我|设(?:置|定|个)?(?:一?个)?提醒))(?P<tail>{_CUT})"
)
_END: Final = rx(rf"{JOINED.pattern}|[,，]\s*(?=另外|顺便)|[;!?。？！；\n]|\.(?=\s|$)|[,，]\s*(?={VERB})")
_LEAD: Final = rx(r"^[\s,，:：]*(?:(?:to|that|about|of|for|say(?:ing)?)\b\s*)?[\s:：,，]*")
_LOOSE: Final = rx(r"^\s*(?!to\b|that\b|about\b|of\b)(?P<when>[^,，]{2,60}?)\s+(?:to|that)\s+(?P<text>.+)$")
_LIST: Final = rx(
    r"\b(?:list|show|see|what|which|any|all|my|open)\b[^.?!;,\n\x00]{0,25}\breminders\b[^.?!;,\n\x00]{0,20}"
    r"|(?:列出|列一下|查看|显示|看看|看一下|有哪些|有什么|我的|我有|所有|全部|哪些)[^。？！；，\n\x00]{0,8}提醒(?:列表|有哪些)?|提醒(?:列表|有哪些)"
)
_WHAT_IS_SET: Final = rx(r"\bwhat (?:will|are) you (?:going to )?remind(?:ing)? me(?: of| about)?\b|你(?:会|要)提醒我(?:些)?什么")
_ID: Final = r"(?=[0-9a-z]*\d)[0-9a-z]{4,40}\b"
_ORDINAL: Final = r"first|second|third|last|第[一二三]个?|最后一?个"
_CANCEL: Final = [
    rx(
        rf"\b(?:cancel|delete|remove|drop)\s+(?:(?:the|my|that|this)\s+)?(?P<which>{_ORDINAL})?\s*reminders?\b"
        rf"(?:\s+(?:number\s+|id\s+)?`?(?P<id>{_ID})`?|\s+(?:to|about|for)\s+(?P<about>[^.?!;\n\x00]{{1,80}}))?"
    ),
    rx(
        rf"(?:取消|删除|删掉|去掉)\s*(?:我的|那个|这个)?(?P<which>{_ORDINAL})?\s*(?:的)?(?:关于\s*(?P<about>[^。？！，\n\x00]{{1,40}}?)\s*的)?提醒\s*`?(?P<id>{_ID})?`?"
    ),
    rx(rf"把?\s*(?P<which>{_ORDINAL}|那个|这个)?\s*提醒\s*`?(?P<id>{_ID})?`?\s*(?:取消|删掉|删除)(?:掉|了)?"),
]


def first_place(text: str) -> int:
    """Where a reminder is asked for (the words "remind me"), or -1."""
    found = _REMIND.search(text)
    return found.end("before") if found else -1


def reminders(sheet: Sheet, transcript: Transcript, position: int) -> None:
    """All that is asked about reminders in a text."""
    shown = transcript.last_reminders(position)
    for pattern in _CANCEL:
        while match := pattern.search(sheet.text):
            sheet.take(*match.span())
            sheet.wishes.append(_cancel(match.start(), match["id"] or "", match["which"] or "", match.groupdict().get("about") or "", shown))
    _lists(sheet, _WHAT_IS_SET)
    while match := _REMIND.search(sheet.text):
        said = _once(match[0])
        if said == match[0]:
            sheet.wishes.append(_set(sheet, match))
            continue
        sheet.text = sheet.text[: match.start()] + said + sheet.text[match.end() :]
        once = _REMIND.search(sheet.text)
        if once is not None:  # it is: only words about the time have gone
            sheet.wishes.append(_not_repeated(_set(sheet, once)))
    _lists(sheet, _LIST)


def _lists(sheet: Sheet, pattern: re.Pattern[str]) -> None:
    while match := pattern.search(sheet.text):
        sheet.take(*match.span())
        sheet.wish(match.start(), "list_reminders")


def meant(words: str, at: int, transcript: Transcript, position: int) -> Wish | None:
    """The reminder that "the first one" or "it" means, when reminders were what was last talked about; else None."""
    if not transcript.reminders_are_meant(position):
        return None
    ordinal = next((word for word in ORDINALS if word in words.lower()), "")
    return _cancel(at, "", ordinal, "", transcript.last_reminders(position))


def _cancel(at: int, ident: str, which: str, about: str, shown: list[tuple[str, str]]) -> Wish:
    """The wish to cancel the reminder with an id, or of those `shown` the one at a place ("first") or about something."""
    wish = Wish(at, "cancel_reminder", {"reminder_id": ident})
    if ident:
        return wish
    number = next((number for word, number in ORDINALS.items() if word in which.lower()), None) if which else None
    if number is not None and -len(shown) <= number < len(shown):
        return replace(wish, arguments={"reminder_id": shown[number][1]})
    hint = about.strip() or which
    fitting = shown if not hint else [each for each in shown if hint.lower() in each[0].lower()]
    if len(fitting) == 1:
        return replace(wish, arguments={"reminder_id": fitting[0][1]})
    return Wish(at, "cancel_reminder", {}, "which_reminder", choices=(hint,) if hint else ())


def _once(said: str) -> str:
    """The request for one reminder, where `said` asks for a repetition; else `said` as it is."""
    stop = _END.search(said, found.end("before") if (found := _REMIND.match(said)) else 0)
    head, rest = said[: stop.start() if stop else None], said[stop.start() :] if stop else ""
    for pattern, becomes in _REPEATS:
        head = pattern.sub(becomes, head)
    return head + rest


def _not_repeated(wish: Wish) -> Wish:
    """The wish for a repetition's first time, which waits for a yes."""
    when = str(wish.arguments.get("when") or "")
    return replace(wish, ask="no_repeat" if when else "no_repeat_when", ask_values={"when": when})


def _set(sheet: Sheet, match: re.Match[str]) -> Wish:
    tail = match["tail"]
    stop = _END.search(tail)
    while stop and WHEN.fullmatch(tail[: stop.start()].strip(" ,，:：")):  # "in 2 hours. Call the bank" is one reminder
        stop = _END.search(tail, stop.end())
    said = tail[: stop.start() if stop else len(tail)]
    start, when, text = match.start(), "", ""
    before = [found for found in WHEN.finditer(match["before"]) if _NOTHING.fullmatch(match["before"], found.end())]
    if before:
        start, when, text = match.start("before") + before[-1].start(), before[-1][0], said
    else:
        start += len(match["before"])
        lead = _LEAD.match(said)
        bare = said[lead.end() :] if lead else said
        leading = WHEN.match(bare)
        trailing = [found for found in WHEN.finditer(said) if not said[found.end() :].strip(" .,，请") and found.start() > 0]
        if leading:
            when, text = leading[0], bare[leading.end() :]
        elif trailing:
            when, text = trailing[-1][0], said[: trailing[-1].start()]
        elif loose := _LOOSE.match(said):
            when, text = loose["when"], loose["text"]
        else:
            text = said
    text = _LEAD.sub("", text, count=1).strip(' .,，:："“”')
    sheet.take(start, match.start("tail") + len(said))
    ask = "which_when" if not when else "which_what" if not text else ""
    return Wish(start, "remind_me", {"text": text, "when": when.strip(" ,，")}, ask)
