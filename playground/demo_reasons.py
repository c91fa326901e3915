"""Why a tool did not do something, for people: the reasons of tools are written for a model, in English, with advice to it.

What a reason says is told again in the language of the request; what it advises the model to do is left out.
"""

from __future__ import annotations

import re
from typing import Final

from playground.demo_words import Language

_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WEEKDAY: Final = re.compile(r" ?\((\w+) ([\u4e00-\u9fff]+)\)")
_Q: Final = r"(?:'(?P<q>[^\n]*?)'|\"(?P<qq>[^\n]*?)\")"
_ORDER: Final = r"Order (?P<q>\S+)"


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


_TIMES: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = (
    (_rx(r"cannot repeat"), "Reminders do not repeat, I can only remind you once.", "提醒不会重复，我只能提醒一次。"),
    (
        _rx(rf"{_Q} names a clock that is not known"),
        "I do not know the place in “{q}”; a city or a timezone such as Asia/Tokyo would help.",
        "我不知道“{q}”是哪里的时间，可以写城市，或者 Asia/Tokyo 这样的时区。",
    ),
    (_rx(r"names the clock of (?P<a>[^,]+), but timezone is (?P<b>[^;]+)"), "It names two places, {a} and {b}.", "里面有两个地方的时间：{a} 和 {b}。"),
    (_rx(rf"^{_Q} may be day/month"), "“{q}” may be read in two ways; write the date like 2026-11-30.", "“{q}”可以有两种读法，请把日期写成 2026-11-30 这样。"),
    (_rx(rf"^{_Q} may be (?P<a>.+?),? or (?P<b>[^;]+?) tomorrow;"), "“{q}” may be {a}, or {b} tomorrow.", "“{q}”可能是 {a}，也可能是明天 {b}。"),
    (_rx(rf"^{_Q} may be today, (?P<a>.+?), or (?P<b>[^;]+)"), "“{q}” may be today, {a}, or {b}.", "“{q}”可能是今天 {a}，也可能是 {b}。"),
    (_rx(rf"^{_Q} may be (?P<a>.+?),? or (?P<b>[^;]+)"), "“{q}” may be {a} or {b}.", "“{q}”可能是 {a}，也可能是 {b}。"),
    (_rx(r"midnight may begin or end (?P<a>[\d-]+)"), "Midnight may begin or end {a}.", "午夜可能是 {a} 的开始，也可能是结束。"),
    (_rx(rf"{_Q} (?:is (?P<a>.+?), and that )?has passed"), "“{q}” has passed.", "“{q}”已经过去了。"),
    (_rx(r"two years ahead|too far away"), "That is too far away: at most two years ahead are possible.", "太远了：最多只能设两年以内的时间。"),
    (_rx(rf"in {_Q} the part {_Q.replace('<q', '<r')} is not understood"), "I do not understand “{r}” in it.", "其中的“{r}”我没看懂。"),
    (_rx(rf"{_Q} names no time"), "“{q}” names no time.", "“{q}”里没有说时间。"),
    (_rx(r"without a time; which hour"), "It names a day but no hour, and that day is today.", "只说了今天，没有说几点。"),
    (_rx(r"which hour of the early morning"), "It names no hour of the early morning.", "没有说是凌晨几点。"),
    (_rx(r"two parts of the day|do not fit together"), "The hour and the part of the day do not fit together.", "钟点和时段对不上。"),
    (_rx(rf"{_Q} is no (?:time of day|date and time)"), "“{q}” is no time of day.", "“{q}”不是一个时间。"),
    (_rx(rf"no such day as {_Q}"), "There is no such day as “{q}”.", "没有“{q}”这一天。"),
    (
        _rx(rf"{_Q} is the week from Monday (?P<a>[\d-]+)"),
        "“{q}” is the week from Monday {a}; it names no day of it.",
        "“{q}”是从 {a}（星期一）开始的那一周，没有说是哪一天。",
    ),
    (_rx(r"(?P<a>[\d-]+) is a \w+, not a \w+"), "{a} is not that day of the week.", "{a} 不是那个星期几。"),
    (_rx(rf"{_Q} names a day in two ways"), "“{q}” names a day in two ways.", "“{q}”里说了两个日子。"),
    (_rx(rf"{_Q} has no exact end"), "“{q}” has no exact end.", "“{q}”说不清到底是多久。"),
    (_rx(r"a time is at most \d+ characters"), "That is too long for a time.", "这段话太长，不像是一个时间。"),
    (_rx(r"no timezone"), "I do not know that timezone.", "没有这个时区。"),
    (_rx(r"open reminders already"), "You have as many open reminders as are possible; cancel one first.", "未到时间的提醒已达上限，请先取消一个。"),
)  # fmt: skip
_OTHERS: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = (
    (_rx(rf"no channel called {_Q}|There is no such channel"), "", "没有这个频道，或者我看不到它。"),
    (_rx(r"I am not in that channel"), "", "我不在那个频道里，需要先有人邀请我。"),
    (
        _rx(r"The person who asked is not in that channel"),
        "You are not in that channel, so I do not post there for you.",
        "你不在那个频道里，所以我不能替你在那里发消息。",
    ),
    (_rx(r"channel is archived"), "", "那个频道已归档。"),
    (_rx(r"does not allow me to post"), "", "这个工作区不允许我在那里发消息。"),
    (_rx(r"too long for one message"), "", "内容太长，一条消息放不下。"),
    (_rx(rf"I cannot search {_Q} here"), "", "这里不能搜索“{q}”：没有这个频道，或者你我不都在里面，或者它是私密频道而这里别人也能看到。"),
    (_rx(rf"{_ORDER} has already shipped.*cannot be cancelled"), "", "订单 {q} 已经发货，不能取消；签收后可以退货。"),
    (_rx(rf"{_ORDER} has been delivered"), "", "订单 {q} 已经签收，不能取消，但可以退货。"),
    (_rx(rf"{_ORDER} is already cancelled"), "", "订单 {q} 之前已经取消。"),
    (_rx(rf"{_ORDER} was returned"), "", "订单 {q} 已经退货，不需要取消。"),
    (_rx(rf"{_ORDER} is packed"), "", "订单 {q} 已经打包并打印了面单，不能再改地址，但还可以取消。"),
    (_rx(rf"{_ORDER} has already shipped.*address"), "", "订单 {q} 已经发货，不能再改地址，只有承运商可以改投。"),
    (_rx(rf"{_ORDER} is \w+, so its address"), "", "订单 {q} 的状态已经不能再改地址。"),
    (_rx(r"no open reminder"), "You have no such open reminder here.", "这里没有这个未到时间的提醒。"),
    (_rx(r"cannot be reached just now|does not answer|not answering"), "", "服务现在没有响应，请稍后再试。"),
)
_GAPS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (_rx(r"channels I am not in: (?P<q>.+)"), "我不在的频道：{q}"),
    (_rx(r"private channels, because others read along here"), "私密频道（这里别人也能看到）"),
    (_rx(r"every channel but this one, because of who is asking or reading here"), "除本频道以外的频道（因为提问的人或能看到这里的人）"),
    (_rx(r"the replies of (?P<q>one|\d+) threads?"), "{q} 个消息列里的回复"),
    (_rx(r"older messages of (?P<q>.+)"), "{q} 里更早的消息"),
    (_rx(r"(?P<q>.+) \(not reached\)"), "{q}（没有搜到那里）"),
    (_rx(r"(?P<q>.+) \(Slack does not let me read it\)"), "{q}（Slack 不让我读取）"),
    (_rx(r"the rest, because Slack asked for a pause or did not answer"), "其余部分（Slack 要求暂停，或没有响应）"),
)
_TO_THE_MODEL: Final = re.compile(
    r"\b(?:the|this) (?:person|model)\b|\b(?:list|get|read|search|cancel|post|fetch|remind)_\w+|^(?:Ask|Send|Use|Write|Tell|Call|Give|Leave|Do not)\b"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def _filled(found: re.Match[str], template: str, language: Language) -> str:
    named = found.groupdict()
    known = {key: named.get(key) or named.get(key * 2) or "" for key in "qrab"}
    known["q"] = {"one": "1"}.get(known["q"], known["q"]) if language == "zh" else known["q"]
    return template.format(**{key: one_weekday(value, language) for key, value in known.items()})


def one_weekday(text: str, language: Language) -> str:
    """A time with the weekday in one language only."""
    return _WEEKDAY.sub(lambda match: f" ({match[1]})" if language == "en" else f"（{match[2]}）", text)


def time_reason(detail: str, language: Language) -> str:
    """Why a reminder's time was not taken; "" when nothing can be said to a person about it."""
    for pattern, english, chinese in _TIMES:
        if found := pattern.search(detail):
            return _filled(found, chinese if language == "zh" else english, language)
    return reason(detail, language)


def reason(detail: str, language: Language) -> str:
    """A tool's reason for people, without what it advises the model; "" when nothing is left, or when it is not in their language."""
    for pattern, english, chinese in _OTHERS:
        if found := pattern.search(detail):
            template = chinese if language == "zh" else english
            if template:
                return _filled(found, template, language)
    said = [sentence for sentence in _SENTENCE.split(detail.strip()) if not _TO_THE_MODEL.search(sentence)]
    return " ".join(each for each in said if language == "en" or _HAN.search(each))


def gap(part: str, language: Language) -> str:
    """A part that a search did not cover, as its tool names it."""
    if language == "zh":
        for pattern, chinese in _GAPS:
            if found := pattern.fullmatch(part):
                return _filled(found, chinese, language)
    return part
