"""What a person says about themselves, read by rules and without a model: "我对花生过敏", "call me Leo", "when I check orders, skip payment".

A message is taken apart into sentences and clauses of the person's own words (`own_words`); what is asked, guessed, joked or quoted says nothing
(`not_meant`). A wish for a sort of case is read as a whole, everything else clause by clause with the patterns of `rule_tables`. Whatever a
person explicitly asks to be remembered is kept, also when no pattern knows it. Pure: the same message gives the same candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.longterm.candidate import Candidate, Read, Refusal, Said
from memory.longterm.keys_of import content_key, thing, topic
from memory.longterm.memory import LONGEST, Kind
from memory.longterm.not_meant import anothers, authority, meant, refusal, sensitive
from memory.longterm.own_words import Sentence, clauses, own_words, sentences
from memory.longterm.rule_tables import CASES, RULES, Rule
from memory.longterm.secrets_found import secret
from memory.longterm.wishes import asked

MOST: Final = 12
"""Candidates of one message."""
PLAN_GRACE: Final = 86_400.0
"""Seconds a plan stays known after its day."""
_EDGES: Final = " ,，.。;；!！"
_ONCE: Final = re.compile(
    r"\b(?:this time|just (?:this )?once|for now|right now|for this (?:one|message|answer|question)|today only|tonight only)\b|这次|这一次|这回|暂时|先(?:用|说)|今天就?(?:用|先)",
    re.IGNORECASE,
)
_LIST: Final = re.compile(r"\s*(?:,|，|、|\band\b|\bor\b|和|以及|还有|或者?|跟|与)\s*", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"\s*[,，]?\s*(?:\b(?:but|because|since|which|so|and (?:they|it|i|we|that|hate|love|like|dislike))\b|但是?|因为|所以|不过|而且).*$",
    re.IGNORECASE | re.DOTALL,
)
"""What follows the names of things and is none."""
_SPOKEN: Final = {
    "chinese": "zh",
    "mandarin": "zh",
    "中文": "zh",
    "汉语": "zh",
    "english": "en",
    "英文": "en",
    "英语": "en",
    "german": "de",
    "德语": "de",
    "french": "fr",
    "法语": "fr",
    "spanish": "es",
    "japanese": "ja",
    "日语": "ja",
}
_BRIEF: Final = re.compile(r"short|brief|concise|to the point|one sentence|简|短|精", re.IGNORECASE)
_PLAN: Final = re.compile(
    r"^(?:and |but |so |also |btw |remember (?:that )?)*(?:i(?:'m| am|'ll| will)|we(?:'re| are|'ll| will)) (?:be )?(?:going|flying|travel+ing|moving|on (?:vacation|holiday|leave)|away|out of (?:the )?office|visiting|off|have|fly|travel|go|visit|move|start|attend|meet|take)\b.{2,120}$"
    r"|^(?:记住|记得|还有|另外)*(?:我|我们)?(?P<day>明天|后天|大后天|今晚|下周\S?|下个?星期\S?|这周\S|本周\S|周[一二三四五六日天末]|下个?月\S{0,3}|\d{1,2}月\d{1,2}[日号]\S?)?(?:我|我们)?(?:(?:要|会|打算|计划|准备|将)(?:去|飞|出差|旅行|旅游|休假|请假|搬家|参加|开会|到|在|回).{0,40}|(?:去|飞|出差|旅行|旅游|休假|请假|搬家|参加|回).{0,40})$",
    re.IGNORECASE,
)
_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(("monday 一", "tuesday 二", "wednesday 三", "thursday 四", "friday 五", "saturday 六", "sunday 日 天"))
    for name in names.split()
}
_TO_DAY: Final = re.compile(
    r"\b(?P<en>today|tonight|tomorrow|the day after tomorrow)\b|(?P<zh>今天|今晚|明天|后天|大后天)|\b(?P<next>next |this |on )(?P<wd>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|(?P<zn>下下?个?(?:周|星期|礼拜)|这个?周|本周|周|星期|礼拜)(?P<zd>[一二三四五六日天])|\b(?P<nw>next week|next month)\b|(?P<zw>下周|下个?星期|下个?月)(?![一二三四五六日天])|(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]",
    re.IGNORECASE,
)


def read(said: Said) -> Read:
    """The candidates of one message, and why others were refused."""
    found: list[Candidate] = []
    refused: list[Refusal] = []
    own = own_words(said.text).replace("’", "'")
    for sentence in sentences(said.text):
        wanted = asked(sentence)
        explicit = wanted is not None and wanted.start < wanted.end
        inner = Sentence(own[wanted.start : wanted.end], wanted.start, False) if wanted is not None and explicit else sentence
        if not explicit and not meant(sentence, own):
            if _looks_like_one(sentence, said):
                refused.append(Refusal.NOT_MEANT)
            continue
        if (why := _forbidden(inner.text)) is not None:
            refused.append(why)
            continue
        read_here, why_not = _of_sentence(inner, said, explicit=explicit)
        found += read_here
        refused += why_not
        if explicit and not read_here and not why_not:
            candidate = _as_told(inner, said)
            found += [candidate] if candidate is not None else []
            refused += [] if candidate is not None else [Refusal.NOTHING]
    return Read(candidates=tuple(_distinct(found))[:MOST], refused=tuple(dict.fromkeys(refused)))


def _forbidden(text: str) -> Refusal | None:
    """What is never kept, whoever asks."""
    return Refusal.SECRET if secret(text) else Refusal.AUTHORITY if authority(text) else None


def _of_sentence(sentence: Sentence, said: Said, *, explicit: bool) -> tuple[list[Candidate], list[Refusal]]:
    case = _case(sentence, said, explicit=explicit)
    if case is not None:
        return [case], []
    found: list[Candidate] = []
    refused: list[Refusal] = []
    for clause in clauses(sentence):
        if _ONCE.search(clause.text):
            continue
        if anothers(clause.text):
            if not (said.direct is False and explicit is False and _agreement(clause)):
                refused.append(Refusal.ANOTHERS)
            continue
        made = list(_of_clause(clause, said, explicit=explicit))
        if made and not explicit and sensitive(clause.text):
            refused.append(Refusal.SENSITIVE)
            continue
        if not made and not explicit and sensitive(clause.text) and re.match(r"\s*(?:i\b|i'm|my\b|我)", clause.text, re.IGNORECASE):
            refused.append(Refusal.SENSITIVE)
        found += made
    return found, refused


def _agreement(clause: Sentence) -> bool:
    return any(rule.rooms and rule.pattern.match(clause.text) for rule in RULES)


def _of_clause(clause: Sentence, said: Said, *, explicit: bool) -> Iterator[Candidate]:
    text = clause.text.strip(_EDGES)
    for rule in RULES:
        if rule.rooms and said.direct:
            continue
        match = rule.pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        obj = next((groups[name].strip() for name in ("o", "o2") if groups.get(name)), "")
        value = next((groups[name].strip(" '\"“”") for name in ("v", "v2") if groups.get(name)), "")
        for made in _made(rule, clause, obj, value, said):
            yield made.model_copy(update={"explicit": explicit})
        return
    plan = _plan(clause, text, said, explicit=explicit)
    if plan is not None:
        yield plan


def _made(rule: Rule, clause: Sentence, obj: str, value: str, said: Said) -> Iterator[Candidate]:
    text = clause.text.strip(_EDGES)
    obj = _AFTER.sub("", obj)
    things = [part for part in _LIST.split(obj) if part.strip()] if rule.several and obj else [obj]
    for one in things:
        name = thing(one) if one else ""
        if rule.keyed and not name:
            continue
        key = f"{rule.attribute}:{name}" if rule.keyed else rule.attribute
        if rule.attribute in {"habit", "agreement"}:
            key = topic(text) or content_key(text)
        yield Candidate(
            kind=rule.kind,
            key=key,
            text=text[:LONGEST],
            value=_value(rule, value, name),
            negated=rule.negated or (rule.attribute == "reply_format" and bool(re.search(r"don't|never|\bno\b|不要|别", text, re.IGNORECASE))),
            single=rule.single,
            always=rule.always,
            retracts=rule.retracts,
            sensitive=sensitive(text),
            quote=clause.text,
            language=said.language,
            importance=rule.importance,
            ts=said.ts,
        )


def _value(rule: Rule, value: str, name: str) -> str:
    if rule.attribute == "reply_language":
        return _SPOKEN.get(value.casefold(), value.casefold())
    if rule.attribute == "reply_length":
        return "short" if _BRIEF.search(value) else "long"
    if rule.attribute in {"favourite", "reply_format", "diet"} and value:
        return thing(value)
    if rule.attribute == "like":
        return rule.value
    return rule.value or value.casefold() or (name if rule.keyed else "")


def _case(sentence: Sentence, said: Said, *, explicit: bool) -> Candidate | None:
    """A wish for one sort of case."""
    text = sentence.text.strip(_EDGES)
    if _ONCE.search(text) or anothers(text):
        return None
    for pattern in CASES:
        match = pattern.match(text)
        if match is None or re.match(r"if i (?:were|was|had)", match["c"], re.IGNORECASE):
            continue
        about = topic(match["c"]) or topic(match["o"]) or content_key(match["c"])
        return Candidate(
            kind=Kind.PREFERENCE,
            key=about,
            text=text[:LONGEST],
            condition=match["c"].strip(),
            explicit=explicit,
            quote=sentence.text,
            language=said.language,
            importance=0.8,
            ts=said.ts,
        )
    return None


def _as_told(sentence: Sentence, said: Said) -> Candidate | None:
    """What the person explicitly wants remembered, in their words."""
    text = sentence.text.strip(" ,，.。;；!！:：")
    why = refusal(text, said)
    if len(text) < 2 or why in {Refusal.SECRET, Refusal.AUTHORITY, Refusal.ANOTHERS, Refusal.NOT_SAID}:
        return None
    return Candidate(
        kind=Kind.FACT,
        key=topic(text) or content_key(text),
        text=text[:LONGEST],
        sensitive=sensitive(text),
        explicit=True,
        quote=sentence.text,
        language=said.language,
        importance=0.8,
        ts=said.ts,
    )


def _plan(clause: Sentence, text: str, said: Said, *, explicit: bool) -> Candidate | None:
    """Something to come, with the day it is over."""
    if _PLAN.match(text) is None:
        return None
    day = _day(text, said)
    if day is None:
        return None
    ends = day.timestamp() + PLAN_GRACE
    return Candidate(
        kind=Kind.PLAN,
        key=topic(text) or content_key(text),
        text=f"{text[: LONGEST - 20]} ({day:%Y-%m-%d})",
        value=f"{day:%Y-%m-%d}",
        explicit=explicit,
        quote=clause.text,
        language=said.language,
        importance=0.6,
        valid_until=ends,
        expires=ends + 30 * PLAN_GRACE,
        ts=said.ts,
    )


def _day(text: str, said: Said) -> datetime | None:
    """The day a text names, counted from when it was said, in the person's timezone; None when it names none."""
    match = _TO_DAY.search(text)
    if match is None:
        return None
    try:
        zone = ZoneInfo(said.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    today = datetime.fromtimestamp(said.at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if near := match["en"] or match["zh"]:
        ahead = {"tomorrow": 1, "the day after tomorrow": 2, "明天": 1, "后天": 2, "大后天": 3}.get(near.casefold(), 0)
        return today + timedelta(days=ahead)
    if far := match["nw"] or match["zw"]:
        return today + timedelta(days=31 if "月" in far or "month" in far.casefold() else 7)
    if match["m"]:
        return _in_year(today, int(match["m"]), int(match["d"]))
    named = match["wd"] or match["zd"]
    wanted = _WEEKDAYS[named.casefold()]
    ahead = (wanted - today.weekday()) % 7
    lead = (match["next"] or match["zn"] or "").casefold()
    if lead.startswith(("next", "下")):
        ahead = 7 - today.weekday() + wanted + (7 if lead.startswith("下下") else 0)
    return today + timedelta(days=ahead)


def _in_year(today: datetime, month: int, day: int) -> datetime | None:
    try:
        named = today.replace(month=month, day=day)
    except ValueError:
        return None
    return named if named >= today else named.replace(year=today.year + 1, day=min(day, 28) if month == 2 else day)


def _looks_like_one(sentence: Sentence, said: Said) -> bool:
    """Whether a sentence that is not meant would have said something."""
    return any(next(_of_clause(clause, said, explicit=False), None) is not None for clause in clauses(sentence))


def _distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Each thing once, as it was said last in the message."""
    last = {(each.key, each.condition): each for each in candidates}
    yield from last.values()
