"""What a person says about themselves, read by rules and without a model: "我对花生过敏", "call me Leo", "when I check orders, skip payment".

A message is taken apart into sentences and clauses of the person's own words (`own_words`), a clause with two statements into both (`halves`); what
is asked, guessed, joked or quoted says nothing (`not_meant`). A wish for a sort of case is read as a whole, everything else clause by clause with the
patterns of `rule_tables`. Whatever a person explicitly asks to be remembered is kept, also when no pattern knows it. Pure: the same message gives
the same candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memory.longterm.candidate import Candidate, Read, Refusal, Said
from memory.longterm.halves import Half, changed, halves, is_one
from memory.longterm.keys_of import content_key, own_key, thing, topic
from memory.longterm.memory import LONGEST, Kind
from memory.longterm.mixed import unmixed
from memory.longterm.not_meant import anothers, authority, meant, refusal, sensitive
from memory.longterm.own_words import Sentence, clauses, own_words, sentences, undressed
from memory.longterm.plans import plan
from memory.longterm.rule_tables import CASES, RULES, Rule
from memory.longterm.secrets_found import secret
from memory.longterm.values_of import NORMAL, known_place, language_name, names_weekday, place, plain, weekdays
from memory.longterm.wishes import asked
from memory.terms import is_pair, terms

LONGEST_CLAUSE: Final = 400
"""Characters of a clause that may be a statement; what goes on longer is prose, and two hundred patterns would take their time with it."""
MOST: Final = 12
"""Candidates of one message."""
_EDGES: Final = " ,，.。;；!！"
_ONCE: Final = re.compile(
    r"\b(?:this time|just (?:this )?once|for now|right now|for this (?:one|message|answer|question)|today only|tonight only)\b|这次|这一次|这回|暂时|今天就?(?:用|先)",
    re.IGNORECASE,
)
LEAST_TOLD: Final = 2
"""Words that tell something in a part of a sentence that is kept as it was said."""
_LEADING: Final = re.compile(r"^(?:(?:and|but|also|so|plus|as well as)\b|而且|并且|还有|另外|以及|也)[\s,，]*", re.IGNORECASE)
_STATES: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|goes|go|runs?|uses?|needs?|costs?|starts?|ends?|opens?|closes?|lives?|works?|wants?|likes?|meets?|takes?)\b|是|在|为|叫|用|有|归|需要|喜欢|要"
)
_COMMANDS: Final = re.compile(
    r"^\W*(?:then|what|how|when|where|why|who|which|tell|show|give|calculate|check|find|list|send|book)\b|然后|算|查|帮|告诉|给我|看看", re.IGNORECASE
)
_WISHED: Final = re.compile(r"\b(?:remember|forget|please|thanks?|thank you|ok|okay)\b|记住|忘|谢谢|好吗", re.IGNORECASE)
_FIRST: Final = re.compile("先(?:用|说)")
"""For the moment, unless it is said of every such case."""
_LIST: Final = re.compile(r"\s*(?:,|，|、|\band\b|\bor\b|和|以及|还有|或者?|跟|与)\s*", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"\s*[,，]?\s*(?:\b(?:but|because|since|which|so|and (?:they|it|i|we|that|hate|love|like|dislike))\b|但是?|因为|所以|不过|而且).*$",
    re.IGNORECASE | re.DOTALL,
)
"""What follows the names of things and is none."""
_ONLY_WHEN: Final = re.compile(
    r"(?P<rest>i (?!am\b).{4,60}?) (?P<c>(?:when|whenever|while) (?:i|i'm|we|travell?ing|working|driving|running)\b.{0,60})"
    r"|(?P<c2>(?!现在|今天|最近|以前|小)[^，,。我]{2,12}(?:的时候|时))[，, ]*(?P<rest2>我(?:不|喜|讨|爱|最|更|只|都|从|很|特|真).{1,30})",
    re.IGNORECASE,
)
"""A taste for one sort of case only: "I hate coffee when I travel"."""
_DENIED: Final = re.compile(r"(?:not|no longer|never|neither|unknown|none of)\b|不是|不再|没有", re.IGNORECASE)
_EMPTY: Final = re.compile(r"[了的吧啊呢吗亏苦]+|[这那]\S*|什么")
"""What is left of "我受不了了" or "我不吃这一套" is the name of no thing."""
_REASON: Final = re.compile(
    r"^(?P<a>[^,]{4,120}?)(?:,\s*|\s+)(?:so|because|since|hence|therefore|which is why)\b.+$|^(?P<b>我[^，,]{1,40}?)[，, ]*(?:所以|因为|因此|毕竟).+$",
    re.IGNORECASE,
)
"""A statement with what follows from it or why it is so."""
_NO_THING: Final = re.compile(
    r"(?:what|how|do|does|can|could|you|please|where|when|is|are|it|they|these|which|who|he|she|we|i|i'm|my|me|because|thanks|so|if|then|that|not|even|including|especially|mostly|mainly|such|really|though|just|a lot|very|sorry)\b|什么|怎么|你|吗|谢|尤其|特别是|包括|其中"
)
"""How the rest of a sentence begins that looked like one more thing of a list."""
_BRIEF: Final = re.compile(
    r"short|brief|concise|to the point|one sentence|verbose|wordy|long-winded|no long|简|短|精|啰嗦|罗嗦|长篇|长话短说|一句话|太长|冗长|说太多|写太长|^长$",
    re.IGNORECASE,
)
_SITE: Final = re.compile(
    r"\b(?:office|warehouse|branch|plant|factory|site|headquarters|hq|store|shop|campus)$|(?:分公司|办事处|仓库|办公室|总部|工厂|门店|园区)$", re.IGNORECASE
)
_UNIT_ZH: Final = re.compile(r"(?:部门|部|团队|小组|组)$")


def read(said: Said) -> Read:
    """The candidates of one message, and why others were refused."""
    found: list[Candidate] = []
    refused: list[Refusal] = []
    own = own_words(said.text).replace("’", "'")
    before = _last(said.earlier)
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
        read_here, why_not = _of_sentence(inner, said, before, explicit=explicit)
        before = clauses(inner)[-1].text if clauses(inner) else before
        found += read_here
        refused += why_not
        if explicit and not read_here and not why_not:
            candidate = _as_told(inner, said)
            found += [candidate] if candidate is not None else []
            refused += [] if candidate is not None else [Refusal.NOTHING]
    if not found and not refused and secret(said.text):
        refused.append(Refusal.SECRET)  # in what was pasted or quoted, which is not read otherwise
    return Read(candidates=tuple(_distinct(found))[:MOST], refused=tuple(dict.fromkeys(refused)))


def _last(earlier: str) -> str:
    """The last thing stated in what the person said before, for "now it is …" to change."""
    stated = [sentence for sentence in sentences(earlier) if meant(sentence, own_words(earlier)) and _forbidden(sentence.text) is None]
    return clauses(stated[-1])[-1].text if stated else ""


def _forbidden(text: str) -> Refusal | None:
    """What is never kept, whoever asks."""
    return Refusal.SECRET if secret(text) else Refusal.AUTHORITY if authority(text) else None


def _of_sentence(sentence: Sentence, said: Said, before: str, *, explicit: bool) -> tuple[list[Candidate], list[Refusal]]:
    case = _case(sentence, said, explicit=explicit)
    if case is not None:
        return [case], []
    found: list[Candidate] = []
    refused: list[Refusal] = []
    for clause in (sentence,) if is_one(sentence.text) else clauses(sentence):
        if _ONCE.search(clause.text) or _FIRST.search(clause.text):
            continue
        if anothers(undressed(clause.text)):
            if not (said.direct is False and explicit is False and _agreement(clause)):
                refused.append(Refusal.ANOTHERS)
            before = ""
            continue
        made = list(_of_clause(clause, said, before, explicit=explicit))
        if explicit and not made and (told := _beside(clause, sentence, said)) is not None:
            made = [told]
        before = clause.text
        if made and not explicit and sensitive(clause.text):
            refused.append(Refusal.SENSITIVE)
            continue
        if not made and not explicit and sensitive(clause.text) and re.match(r"\s*(?:i\b|i'm|my\b|我)", clause.text, re.IGNORECASE):
            refused.append(Refusal.SENSITIVE)
        found += made
    return found, refused


def _beside(clause: Sentence, sentence: Sentence, said: Said) -> Candidate | None:
    """What a part of an explicit wish tells that no rule knows, while others know the rest: "the codename is Bluefin and I like opera"."""
    words = _LEADING.sub("", clause.text)
    if len(clause.text) >= len(sentence.text) or len([term for term in terms(words) if not is_pair(term)]) < LEAST_TOLD or _WISHED.search(words) or clause.asks:
        return None
    if _STATES.search(words) is None or _COMMANDS.search(words):
        return None
    return _as_told(Sentence(words, clause.start, False), said)


def _agreement(clause: Sentence) -> bool:
    return any(rule.rooms and rule.pattern.match(clause.text) for rule in RULES)


def _of_clause(clause: Sentence, said: Said, before: str = "", *, explicit: bool) -> Iterator[Candidate]:
    """Each plain statement of a clause. `before`: the clause said just before, whose value "now it is …" changes."""
    text = undressed(clause.text).strip(_EDGES)
    if len(text) > LONGEST_CLAUSE:
        return
    found = False
    reason = _REASON.match(text)
    for part in (text, *((reason["a"] or reason["b"],) if reason else ())):
        for half in _parts(part):
            for made in _of_half(half, clause, said):
                found = True
                yield made.model_copy(update={"explicit": explicit})
        if found:
            return
    if before and (renewed := changed(text, before)) is not None:
        for made in _of_half(Half(renewed, renewed), clause, said):
            if made.single:
                yield made.model_copy(update={"explicit": explicit})
                return
    coming = plan(clause, text, said, explicit=explicit)
    if coming is not None:
        yield coming


def _parts(text: str) -> tuple[Half, ...]:
    """The plain statements of a clause, whichever language its small words are in."""
    parts = halves(text)
    return parts if parts != (Half(text, text),) else next((several for each in unmixed(text) if len(several := halves(each)) > 1), parts)


def _of_half(half: Half, clause: Sentence, said: Said) -> Iterator[Candidate]:
    said_as = half.read_as.strip(_EDGES)
    if (case := _ONLY_WHEN.match(said_as)) is not None:
        wishes = [each for each in _of_half(Half(case["rest"] or case["rest2"], half.text), clause, said) if each.kind is Kind.PREFERENCE]
        yield from (each.model_copy(update={"condition": case["c"] or case["c2"]}) for each in wishes)
        return
    for text in (said_as, *unmixed(said_as)):
        for rule in RULES:
            if rule.rooms and said.direct:
                continue
            match = rule.pattern.match(text)
            if match is None:
                continue
            groups = match.groupdict()
            obj = next((groups[name].strip() for name in ("o", "o2") if groups.get(name)), "")
            value = next((groups[name].strip(" '\"“”") for name in ("v", "v2") if groups.get(name)), "")
            yield from _made(rule, half.text.strip(_EDGES), clause, said, obj=obj, value=value)
            return


def _made(rule: Rule, text: str, clause: Sentence, said: Said, *, obj: str, value: str) -> Iterator[Candidate]:
    if _DENIED.match(value):
        return  # "my favourite colour is not green" says which it is not, and no value
    obj = _AFTER.sub("", obj)
    things = [part for part in _LIST.split(obj) if part.strip()] if rule.several and obj else [obj]
    for one in things:
        name = _name(rule.attribute, one)
        if (rule.keyed and (not name or _EMPTY.fullmatch(name))) or (rule.several and _NO_THING.match(name)):
            continue
        attribute = _attribute(rule.attribute, value)
        if rule.attribute in {"habit", "agreement"}:
            key = topic(text) or content_key(text)
        elif rule.attribute == "own":
            key = attribute = name
        else:
            key = f"{attribute}:{name}" if rule.keyed else attribute
        yield Candidate(
            kind=rule.kind,
            key=key,
            text=_LEADING.sub("", text)[:LONGEST],
            value=_value(rule, attribute, value or (obj if rule.attribute in {"reply_length", "reply_format"} else ""), name),
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


def _name(attribute: str, one: str) -> str:
    """The object of a statement in one form."""
    if not one:
        return ""
    if attribute == "working_days":
        return weekdays(one)
    if attribute == "travel":
        return place(one)
    if attribute in {"speaks", "learning"}:
        return language_name(re.sub(r"^(?:a (?:bit|little)(?: of)?|some) ", "", one, flags=re.IGNORECASE))
    return re.sub(r"^(?:a|the) ", "", plain(one)) if attribute == "tool" else thing(one)


def _attribute(attribute: str, value: str) -> str:
    """What a statement is about where the words around it do not say: "I work in Berlin" names a place, "I work in sales" a team."""
    if attribute in {"team", "employer"}:
        if known_place(value) or _SITE.search(value):
            return "workplace"
        return "team" if _UNIT_ZH.search(value) else attribute
    if attribute == "contact_hours" and names_weekday(value):
        return f"contact_hours:{weekdays(value)}"
    return attribute


def _value(rule: Rule, attribute: str, value: str, name: str) -> str:
    if rule.attribute == "reply_length":
        return "short" if _BRIEF.search(value) else "long"
    if rule.attribute == "like":
        return rule.value
    if rule.attribute == "travel":
        return ""  # the value of a journey is its day
    if rule.attribute == "favourite" and value:
        return _favourite(name, value)
    if rule.attribute == "reply_format" and value:
        return thing(value)
    normal = NORMAL.get(attribute)
    if normal is not None and value:
        return normal(value)
    return rule.value or plain(value) or (name if rule.keyed else "")


def _favourite(name: str, value: str) -> str:
    return NORMAL["home"](value) if name == "city" else thing(value)


def _case(sentence: Sentence, said: Said, *, explicit: bool) -> Candidate | None:
    """A wish for one sort of case."""
    text = undressed(sentence.text).strip(_EDGES)
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
    key, value = own_key(text)
    return Candidate(
        kind=Kind.FACT,
        key=key or topic(text) or content_key(text),
        text=text[:LONGEST],
        value=value,
        single=bool(value),
        sensitive=sensitive(text),
        explicit=True,
        quote=sentence.text,
        language=said.language,
        importance=0.8,
        ts=said.ts,
    )


def _looks_like_one(sentence: Sentence, said: Said) -> bool:
    """Whether a sentence that is not meant would have said something."""
    return any(next(_of_clause(clause, said, explicit=False), None) is not None for clause in clauses(sentence))


def _distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Each thing once, as it was said last in the message; that the old is over ("don't call me Leo, call me Max") does not undo the new."""
    last: dict[tuple[str, str], Candidate] = {}
    for each in candidates:
        place = (each.key, each.condition)
        if not (each.retracts and place in last and not last[place].retracts):
            last[place] = each
    yield from last.values()
