"""What a request asks of memory, understood by rules before anything is searched: its words, its days, its names, and whether it means a habit.

Both languages alike. Nothing here decides what is recalled: it says what to look for, and ranking weighs what was found. Only a question
for what was *said* in one span of time ("what did I tell you last month", "上个月我说的…") shuts out other times; any other day in it is a
hint, because what happened in May may have been told in June.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from memory.longterm.aspects import touched
from memory.longterm.indexed import day_mark, month_mark
from memory.longterm.keys_of import thing, topics
from memory.longterm.question import Question
from memory.longterm.sparse import query_words
from memory.longterm.topics import deeds_of, mark, topics_of, wanted
from memory.recall import COMMON_NAMES
from memory.reference import refers_back
from memory.said_days import Span, spans_of
from memory.terms import hashed, is_pair, telling, terms

LONGEST: Final = 1_500
"""Characters of a message that are read; what it asks for stands at its beginning, and meaning is not read further either."""
RECENT: Final = 8
"""Earlier messages of the person that a request is read with."""
MOST_BACK: Final = 2
"""So many messages back it is looked for what a short one goes on with."""
SHORT: Final = 9
"""Words of a message that may go on with another; two Chinese characters count as one."""
POLITE: Final = 60
"""Characters of a message that does nothing but greet, thank or agree."""
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
    r"|(?:我|我们|咱们)[^,，。?？!！]{0,12}?(?:说[过了的]|告诉|提过|提到|讲[过了的]|问[过了的]|聊[过了的到]|讨论|决定|商量)"
)
_KEYS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (key, re.compile(pattern))
    for key, pattern in (
        ("name", r"\bmy name\b|\bcall me\b|\bwho am i\b|我叫什么|我的名字|怎么称呼我|叫我什么"),
        ("birthday", r"\bmy birthday\b|\bwhen was i born\b|我(?:的)?生日|我哪天生"),
        ("reply_language", r"\b(?:which|what) language (?:do|should) you\b|用(?:什么|哪种)语言(?:回|答)"),
        (
            "allergy",
            r"\bwhat (?:am i|i am|i[’\x27]m) allergic to\b|\bmy (?:[a-z]+ )?allerg(?:y|ies)\b|我(?:都)?对(?:什么|哪些)\S{0,4}过敏|我的过敏|我过敏(?:什么|吗)",
        ),
        ("diet", r"\b(?:what|which) (?:food )?(?:can|can't|don't|do) i (?:not )?eat\b|\bmy diet\b|我(?:不吃|不能吃|忌口)(?:什么|哪些)|我的(?:饮食|忌口)"),
        ("home", r"\bwhere (?:do |am )?i(?:[’\x27]m)? liv(?:e|ing)\b|\bmy home (?:town|city)\b|我(?:现在)?住(?:在)?哪|我家在哪"),
        ("role", r"\bwhat(?:'s| is) my (?:job|role|title|position|profession)\b|\bwhat do i do for (?:a living|work)\b|我是做什么|我的(?:职位|职业|岗位)"),
        ("team", r"\b(?:which|what) team (?:am i|do i)\b|\bwhat(?:'s| is) my team\b|我在(?:哪个|什么)(?:团队|组|部门)|我的(?:团队|部门)是"),
        ("employer", r"\b(?:where|which company) do i work\b|\bwho do i work for\b|我在哪(?:里|儿|家公司)?(?:工作|上班)"),
        ("seat", r"\bwhere (?:do i sit|is my (?:desk|seat))\b|我(?:的)?(?:工位|座位)在|我坐(?:在)?哪"),
        ("timezone", r"\bmy time ?zone\b|\bwhich time ?zone am i\b|我的时区|我在(?:什么|哪个)时区"),
        ("working_hours", r"\bmy working hours\b|\bwhen do i (?:start|finish) work\b|我的(?:上班|工作)时间|我几点(?:上班|下班)"),
        ("manager", r"\bwho(?:'s| is) my (?:manager|boss|supervisor|team lead)\b|我的(?:经理|领导|上司|主管|老板)是谁"),
    )
)
"""Keys of what is asked for itself, in whatever words it was told."""
_FAVOURITE: Final = re.compile(r"\bmy favou?rite (?P<two>(?P<en>[a-z]+)(?: [a-z]+)?)|我最(?:喜欢|爱)的(?P<zh>[\u4e00-\u9fff]{1,6}?)(?=是|[，,。？?吗呢]|$)")

_PAST: Final = re.compile(
    r"\b(?:last|previous|other) (?:time|week|month|year|day|night)\b|\b(?:before|previously|earlier|again|yesterday|ago|already)\b"
    r"|\b(?:did|have) (?:we|you|i)\b|\bhappened\b|发生|上次|上回|之前|以前|先前|再次|又|昨天|前天|刚才|已经|过(?:吗|没有)"
)

_RECORDS: Final = (
    r"(?:reminder|order|ticket|approval|task|message|invoice|calendar|file|document|channel|thread|password|log-?in|account(?! manager)"
    r"|access|permission|pull request|pr|branch|build|import"
    r"|export|request|case|parcel|package|shipment|delivery|refund|site|website|server|database|dashboard|inbox|stock|data|query|script|code|link)"
)
_RECORDS_ZH: Final = (
    "(?:提醒|订单|工单|审批|任务|消息|发票|日程|文件|文档|频道|密码|账号|账户|权限|申请|包裹|快递|退款|网站|服务器|数据库|数据|库存|代码"
    "|脚本|链接|请求|分支|导入|导出)"
)
"""What systems keep of a person; it is looked up there."""
_PERSONAL: Final = re.compile(
    rf"\b(?:i(?! (?:meant?|said|guess|suppose|wonder)\b)|i[’'](?:m|ve|d|ll)|(?:my|our)(?! (?:[\w-]+ )?{_RECORDS}s?\b)|mine|myself|we"
    rf"|we[’'](?:re|ve|d|ll)|ours|(?-i:us))\b"
    rf"|(?<![帮给跟替对为])(?<!告诉)(?<!提醒)(?:我|咱)(?!想问|要问|说的?是|是说|的意思|指的是|们?的?(?:[\u4e00-\u9fff]{{1,3}}的?"
    rf"|\s*[A-Z]+ ?\d* ?)?{_RECORDS_ZH})",
    re.IGNORECASE,
)
"""It speaks of the person, beyond asking to be told, shown or given something."""
_ASKS_ONESELF: Final = re.compile(
    r"\b(?:what|which|where|when|who|whom|whose|why|how|am|was|were|do|did|does|have|had|will|would|should)\b[^.!;]{0,120}\b(?:i|we|my|our|mine|ours|us|me)\b"
    r"|(?:我|咱)[^，。！!；]{0,60}(?:什么|哪|几|多少|谁|怎么|怎样|如何|吗|何时|多久|多大|是不是|有没有|来着|为什么)|(?:谁|哪|什么|怎么|几"
    r"|多少)[^，。！!；]{0,60}(?:我|咱)",
    re.IGNORECASE,
)
"""It asks something about the person: who only says "I need the log" does not."""
_NOT_ASKING: Final = re.compile(
    r"(?:(?:ok(?:ay)?|yes|yep|yeah|no|fine|great|perfect|super|cool|nice|good|well|sure|right|alright|got it|understood|done"
    r"|thanks?(?: (?:you|a lot|so much|very much|all|everyone))?"
    r"|thank you(?: (?:so|very) much)?|many thanks|cheers|hi|hello|hey|good (?:morning|afternoon|evening|night|day)|morning|bye"
    r"|see you(?: (?:later|tomorrow))?|ha|lol|welcome"
    r"|(?:you too|there|again|then|everyone|all|team|one|job|work|to know|that(?:['’]s| was) (?:all|it|great|good|quick|helpful|perfect)))[\s,.!~…:)-]*)+"
    r"|(?:(?:好的?|行|可以|嗯|哦|对的?|是的?|没错|不错|太好了|太棒了|完美|明白了?|知道了|了解|收到|辛苦了?|麻烦了|谢谢(?:你|您|大家)?|多谢"
    r"|感谢|谢了|你好|您好|大家好|嗨|哈喽|早上好|上午好|中午好|下午好"
    r"|晚上好|早安?|晚安|再见|拜拜|回头见|明天见|哈|嘿|呵|没别的了|没事了|就这样|啦|了|吧|呀|啊)[\s,，。.!！~～…]*)+",
)
"""The whole of a message that only greets, thanks or agrees: it asks for nothing, and nothing has to come to mind."""
_CONTINUES: Final = re.compile(
    r"(?:(?:now|also|then|please|and|but|ok(?:ay)?|great|good)[, ]+)*(?:add|drop|remove|make|shorten|include|skip|leave out|sort|use|put"
    r"|keep|in|with|without|for|as|not|but)\b"
    r"|(?:something|anything|a (?:bit|little)|much|more|less|even|rather|shorter|longer|cheaper|earlier|later|another|the same)\b"
    r"|(?:and|but|so|or)?\s*(?:would|is|does|will|could|can|should) (?:that|it|this|they|those)\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|(?:那|再|换|改成|改为|加上|加个|去掉|还是|或者|要不|也|更|不要|便宜|贵|短|长|近|远|早|晚|大|小|简单|详细|正式|有没有)"
    r"|.*(?:的有吗|的呢|呢|行吗|行不行|可以吗|好吗|合适吗|适合我吗|怎么样)[?？]?$"
)
"""How a short message begins or ends that goes on with what was asked before it."""
_TURNS: Final = re.compile(
    r"(?:ok(?:ay)?[, ]+)?(?:(?:now )?(?:something|anything) else|one more thing|another (?:thing|question|topic)"
    r"|(?:a )?different (?:topic|question|subject)|by the way|btw|never ?mind|forget it|and now)\b"
    r"|(?:对了|换个|另外|顺便|还有(?:件|个)|话说|算了|不说这个)"
)
"""How it begins with a new subject."""
_STANDS_FOR: Final = re.compile(
    r"(?:(?:and|or|but|maybe|is there|are there|do you have|have you got|any|not|the|an?|another|some)\s+)*(?:\w+ )?ones?\b|(?:only"
    r"|just) (?:the|those|that|it|in|for|with|from)\b"
    r"|(?:\S+的|有\S+的)(?:有吗|有没有|吗|呢|吧)?[?？]?$"
)
"""A word in it stands for the thing that was asked for before: whatever else it speaks of, it is about that."""
_LATIN_WORD: Final = re.compile(r"[^\W\d_\u3400-\u4dbf\u4e00-\u9fff]+")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
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
    exact: tuple[str, ...] = ()
    """Keys of what it asks for itself ("what is my name")."""
    keys: tuple[str, ...] = ()
    """Keys of what it is about ("order", "food"): such a memory need not be meant."""
    past: bool = False
    """It speaks of what was done before."""
    spans: tuple[Span, ...] = ()
    """Times it names; a hint."""
    speakers: frozenset[str] = frozenset()
    """Ids of the people it names."""
    telling: Mapping[int, float] = field(default_factory=dict)
    """Weight by term number of what a memory that fits would hold: less for words of any request whatever."""
    asks: bool = True
    """False: it only greets, thanks or agrees."""
    personal: bool = False
    """It asks about the person, or speaks of somebody whose words may be among the memories. A sum or a translation does not."""
    mentions: bool = False
    """It speaks of the person at all ("I need the log of job 51")."""
    wanted: frozenset[str] = frozenset()
    """Topics of which preferences and plans matter to the answer."""


def understood(question: Question) -> Asked:
    """Read a request with the person's messages before it. Reads text only; the same question always gives the same."""
    question = replace(question, text=question.text[:LONGEST], recent=tuple(each[:LONGEST] for each in question.recent[-RECENT:]))
    recent = question.recent
    spans = spans_of(question.text, now=question.now, timezone=question.timezone)
    plain = " ".join(question.text.casefold().split())
    since, until = spans[0] if len(spans) == 1 and _SAID.search(plain) else (None, None)
    back = refers_back(question.text)
    people = dict.fromkeys(question.names, question.reader.actor.user_id) | dict(question.people)
    named = {part: people[name] for name in people for part in _parts(name) if _stands(part).search(question.text)}
    texts = [_told_by_oneself(each, named) for each in (*recent, question.text)]
    weighted = [*((text, RECENT_WEIGHT) for text in texts[:-1]), (texts[-1], 1.0)]
    before, spoken = _continued(question.text, recent)
    speakers = frozenset({*named.values(), *_MENTION.findall(question.text)})
    mentions = _PERSONAL.search(question.text) is not None
    personal = bool(speakers) or (mentions and _ASKS_ONESELF.search(question.text) is not None)
    oneself = _PERSONAL.search(f"{before}\n{question.text}") is not None
    matter = deeds_of(spoken) | wanted(spoken, personal=oneself, of_another=not speakers <= {question.reader.actor.user_id})
    marks = [(mark(topic), TOPIC_WEIGHT) for topic in sorted(matter)]
    exact = [key for key, pattern in _KEYS if pattern.search(plain)]
    exact += [f"favourite:{thing(each)}" for named in _FAVOURITE.finditer(plain) for each in (named["en"], named["two"], named["zh"]) if each]
    return Asked(
        queries=("\n".join(texts), texts[-1]) if recent else (texts[-1],),
        words=query_words([*weighted, *((name, NAME_WEIGHT) for name in named)], [*((day, MARK_WEIGHT) for span in spans for day in _marks(span)), *marks]),
        since=since,
        until=until,
        habit=back is not None and back.kind == "same_as_before",
        exact=tuple(exact),
        keys=topics(question.text),
        past=_PAST.search(plain) is not None,
        spans=spans,
        speakers=speakers,
        telling=_telling(weighted[-1:]),
        asks=not _only_polite(plain),
        personal=personal,
        mentions=personal or mentions,
        wanted=matter,
    )


def _continued(text: str, recent: Sequence[str]) -> tuple[str, str]:
    """The message that a short one goes on with, "" for none; and what is asked for: where it says no topic of its own, with the one that did."""
    plain = " ".join(text.casefold().split())
    if not recent or not _goes_on(text, plain):
        return "", text
    before = "" if _about(text) and not _STANDS_FOR.match(plain) else next((each for each in reversed(recent[-MOST_BACK:]) if _about(each)), "")
    return recent[-1], f"{before}\n{text}" if before else text


def _goes_on(text: str, plain: str) -> bool:
    """Whether it is short, and begins or ends as what goes on with another message does. `plain`: the same in lower case."""
    if _TURNS.match(plain) or _only_polite(plain) or len(_LATIN_WORD.findall(plain)) + len(_HAN.findall(plain)) / 2 > SHORT:
        return False
    back = refers_back(text)
    return (
        _CONTINUES.match(plain) is not None or _STANDS_FOR.match(plain) is not None or (back is not None and back.kind in {"ellipsis", "ordinal", "other_one"})
    )


def _only_polite(plain: str) -> bool:
    return len(plain) <= POLITE and _NOT_ASKING.fullmatch(plain) is not None


def _about(text: str) -> frozenset[str]:
    return topics_of(text) | touched(text)


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
