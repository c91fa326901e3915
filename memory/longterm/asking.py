"""What a request asks of memory, understood by rules before anything is searched: its words, its days, its names, and whether it means a habit.

Both languages alike. Nothing here decides what is recalled: it says what to look for, and ranking weighs what was found. Only a question
for what was *said* in one span of time ("what did I tell you last month", "上个月我说的…") shuts out other times; any other day in it is a
hint, because what happened in May may have been told in June.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from memory.longterm.indexed import day_mark, month_mark
from memory.longterm.question import Question
from memory.longterm.sparse import query_words
from memory.longterm.topics import mark, wanted
from memory.recall import COMMON_NAMES
from memory.reference import refers_back
from memory.said_days import Span, spans_of
from memory.terms import hashed, is_pair, telling, terms

RECENT: Final = 8
"""Earlier messages of the person that a request is read with."""
RECENT_WEIGHT: Final = 0.5
"""Of a word of such a message, where one of the request itself weighs 1."""
NAME_WEIGHT: Final = 0.3
"""Of a name: whoever is called so says it less often than others do."""
EVERYDAY_PART: Final = 0.3
PAIR_PART: Final = 0.5
"""What a word of any request tells, and one pair of characters: pairs overlap, and half of them are no words."""
MARK_WEIGHT: Final = 1.0
"""Of the mark of a day or a month that is named."""
TOPIC_WEIGHT: Final = 1.0
"""Of the mark of a topic that matters."""
MOST_DAYS: Final = 10
"""A span of more days is looked for by its months."""

_SAID: Final = re.compile(
    r"\b(?:(?:i|we) (?:\w+ )?(?:said|told|mentioned|asked|talked|wrote|discussed|decided|agreed)|did (?:i|we) (?:\w+ )?(?:say|tell|mention|ask|talk|write|"
    r"discuss|decide|agree)|have (?:i|we) (?:\w+ )?(?:said|told|mentioned|asked))\b"
    r"|(?:我|我们|咱们)[^,，。?？!！]{0,12}?(?:说过|说的|告诉|提过|提到|讲过|讲的|问过|问的|聊过|聊的|聊到|讨论|决定|商量)"
)
_KEYS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (key, re.compile(pattern))
    for key, pattern in (
        ("order", r"\borders?\b|\b(?:parcel|package|shipment|delivery)\b|订单|快递|物流|包裹|发货"),
        ("name", r"\bmy name\b|\bcall me\b|\bwho am i\b|我叫什么|我的名字|怎么称呼我|叫我什么"),
        ("birthday", r"\bmy birthday\b|\bwhen was i born\b|我(?:的)?生日|我哪天生"),
        ("reply_language", r"\b(?:which|what) language\b|什么语言|哪种语言"),
        ("food", r"\b(?:eat|food|lunch|dinner|breakfast|restaurant|snack|meal|cook|recipe)s?\b|吃|饭|餐|零食|点菜|外卖|菜谱"),
        ("travel", r"\b(?:travel|trip|flight|hotel|fly|visit|vacation|holiday)s?\b|旅行|旅游|出差|航班|机票|酒店|度假|行程"),
    )
)

_PERSONAL: Final = re.compile(
    r"\b(?:i|i[’'](?:m|ve|d|ll)|my(?! (?:reminder|order|ticket|approval|task|message|invoice|calendar)s?\b)|mine|myself|we|we[’'](?:re|ve|d|ll)|our|ours|us)\b"
    r"|(?<![帮给跟替对为])(?<!告诉)(?<!提醒)(?:我|咱)(?!想问|要问|们?的(?:提醒|订单|工单|任务|消息|发票|日程))",
    re.IGNORECASE,
)
"""It speaks of the person, beyond asking to be told, shown or given something."""
_EXACT: Final = frozenset({"name", "birthday", "reply_language"})
_MENTION: Final = re.compile(r"<@([UW][A-Z0-9]+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """What to look for."""

    queries: tuple[str, ...]
    """Texts whose meaning is looked for: the request with the messages before it, and where there are any the request alone, by which it is decided
    what has to do with it."""
    words: dict[int, float]
    """Weight by term number."""
    since: float | None = None
    until: float | None = None
    """Nothing outside of this is meant, for certain; seconds since the epoch."""
    habit: bool = False
    """It wants what is usual ("as always", "老样子")."""
    keys: tuple[str, ...] = ()
    """Keys of memories it is about."""
    topical: bool = True
    """The keys are only a topic ("order", "food"): what is about it need not be meant. False: the very thing is asked for ("what is my name")."""
    spans: tuple[Span, ...] = ()
    """Times it names; a hint."""
    speakers: frozenset[str] = frozenset()
    """Ids of the people it names."""
    telling: Mapping[int, float] = field(default_factory=dict)
    """Weight by term number of what a memory that fits would hold: less for words of any request whatever."""
    personal: bool = False
    """It speaks of the person, or of somebody whose words may be among the memories. A sum or a translation does not."""
    wanted: frozenset[str] = frozenset()
    """Topics of which preferences and plans matter to the answer."""


def understood(question: Question) -> Asked:
    """Read a request with the person's messages before it. Reads text only; the same question always gives the same."""
    recent = question.recent[-RECENT:]
    spans = spans_of(question.text, now=question.now, timezone=question.timezone)
    plain = " ".join(question.text.casefold().split())
    since, until = spans[0] if len(spans) == 1 and _SAID.search(plain) else (None, None)
    back = refers_back(question.text)
    people = dict.fromkeys(question.names, question.reader.actor.user_id) | dict(question.people)
    named = {part: people[name] for name in people for part in _parts(name) if _stands(part).search(question.text)}
    texts = [_told_by_oneself(each, named) for each in (*recent, question.text)]
    weighted = [*((text, RECENT_WEIGHT) for text in texts[:-1]), (texts[-1], 1.0)]
    matter = wanted(question.text)
    marks = [(mark(topic), TOPIC_WEIGHT) for topic in sorted(matter)]
    speakers = frozenset({*named.values(), *_MENTION.findall(question.text)})
    keys = tuple(key for key, pattern in _KEYS if pattern.search(plain))
    return Asked(
        queries=("\n".join(texts), texts[-1]) if recent else (texts[-1],),
        words=query_words([*weighted, *((name, NAME_WEIGHT) for name in named)], [*((day, MARK_WEIGHT) for span in spans for day in _marks(span)), *marks]),
        since=since,
        until=until,
        habit=back is not None and back.kind == "same_as_before",
        keys=keys,
        topical=not any(key in _EXACT for key in keys),
        spans=spans,
        speakers=speakers,
        telling=_telling(weighted[-1:]),
        personal=bool(speakers) or _PERSONAL.search(question.text) is not None,
        wanted=matter,
    )


def _told_by_oneself(text: str, named: Mapping[str, str]) -> str:
    """What is remembered was said in the first person: whoever is asked about by name called themselves "I"."""
    for name in named:
        oneself, owned = ("I", "my") if name.isascii() else ("我", "我")
        text = _stands(name).sub(lambda match, oneself=oneself, owned=owned: owned if match["owns"] else oneself, text)  # type: ignore[misc]
    return text


@lru_cache(maxsize=512)
def _stands(name: str) -> re.Pattern[str]:
    """Where a name stands; one that is a word as well only with its capital."""
    if not name.isascii():
        return re.compile(rf"{re.escape(name)}(?P<owns>(?!))?")
    return re.compile(rf"\b{re.escape(name)}(?P<owns>['’]s)?\b", 0 if name.casefold() in COMMON_NAMES else re.IGNORECASE)


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[\s._@-]+", name) if len(part) > 1]


def _telling(weighted: Sequence[tuple[str, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for text, weight in weighted:
        for term in set(terms(text)):
            part = weight * (1.0 if telling(term) else EVERYDAY_PART) * (PAIR_PART if is_pair(term) else 1.0)
            found[hashed(term)] = max(found.get(hashed(term), 0.0), part)
    return found


def _marks(span: Span) -> Iterator[str]:
    """The days of a short span, the months of a long one. Its ends are taken as they are in UTC: a zone's few hours are no matter for a hint."""
    first = datetime.fromtimestamp(span[0] + 12 * 3600, UTC).date()
    last = datetime.fromtimestamp(span[1] - 12 * 3600, UTC).date()
    if (last - first).days < MOST_DAYS:
        for number in range((last - first).days + 1):
            day = first + timedelta(days=number)
            yield day_mark(day.year, day.month, day.day)
        return
    for number in range(first.year * 12 + first.month - 1, min(last.year * 12 + last.month, first.year * 12 + first.month + 11)):
        yield month_mark(number // 12, number % 12 + 1)
