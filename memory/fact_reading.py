"""What one sentence says, if it says something: the reading behind `memory.facts`, from text to keys and values.

A text is taken apart into sentences and clauses, leaving out what is quoted, asked, guessed or only supposed. The rules read facts from a clause;
a whole sentence may also correct a fact said before, or take one back. Pure functions of the text, remembered, because a thread is read again
each time it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from memory import fact_rules_en as en
from memory import fact_rules_zh as zh
from memory.fact_about import after_noun, after_value, before_noun, of_deadline
from memory.fact_denials import CONTINUES, CUE, LEAD, denied, hearsay, is_code, is_junk
from memory.fact_rules_en import Check, Rule
from memory.fact_words import first_word, words_of
from memory.identifier_patterns import HAN, NUMERAL
from memory.identifiers import identifiers
from memory.session_memory import FactKind

VALUE_CHARACTERS: Final = 200
"""The longest value of a fact."""
READ_CHARACTERS: Final = 2_000
"""Facts are read from the beginning of a message; what is longer is a document and no statement."""

CLAUSE_CHARACTERS: Final = 400
"""What goes on longer without a comma is no plain statement."""

_LATIN: Final = re.compile("[A-Za-z]{2}")
_HAN: Final = re.compile(f"[{HAN}]")

# Sentences and clauses

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r"[“\"「『][^”\"」』\n]{12,400}[”\"」』]|[“「『][^”」』\n]{5,400}[”」』]")
_MARKS: Final = re.compile(r"(?<![A-Za-z0-9_])[*_~]+(?=\S)|(?<=\S)[*_~]+(?![A-Za-z0-9_])|`")
_END: Final = re.compile(r"(?<=[。！？!?;；])|(?<=\.)(?=\s)|\n")
_COMMA: Final = re.compile(
    r"[，、](?!\d{3}(?!\d))|,(?=\s)(?!\s+(?:\d{4}\b|please\b|not |at the latest|but rather))|\s+(?:--?|–|—)\s+|\s+(?:and|but|"
    r"so)\s+(?=(?:the |our |my |we |i |please |do not |don't |never |set |use )|\w+ (?:is|are|to) )"
    r"|(?:以及|并且|而且|，?但是?|，?所以)(?=.{3})",
    re.IGNORECASE,
)

_JOINS: Final = re.compile(r"[,，、–—以并而但所]|-\s|\s(?:and|but|so)\s", re.IGNORECASE)
"""One of these stands wherever a sentence is taken apart."""


@lru_cache(maxsize=2048)
def sentences(text: str) -> tuple[tuple[str, bool], ...]:
    """The sentences that are the speaker's own words, and whether each ends as a question."""
    own = _FENCE.sub("\n", text[:READ_CHARACTERS]).replace("’", "'")
    lines = (" ".join(line.split()) for line in own.splitlines() if not line.lstrip().startswith((">", "&gt;", "|", "$ ")) and not line.startswith("    "))
    found: list[tuple[str, bool]] = []
    for line in lines:
        for piece in _END.split(_MARKS.sub("", _QUOTED.sub("…", line))):
            sentence = LEAD.sub("", re.sub(r"^(?:[-•*]|\d{1,2}[.)、])\s+", "", piece.strip())).strip()
            if bare := sentence.rstrip(" .!！。;；?？~…"):
                asks = bool(re.search(r"[?？][ ~!！.…]*$", sentence))
                if found and not asks and not found[-1][1] and _goes_on(found[-1][0], bare):
                    bare = f"{found.pop()[0]}, {bare}"
                found.append((bare, asks))
    return tuple(found)


def _goes_on(before: str, sentence: str) -> bool:
    """Whether `sentence` is the rest of a correction that began in the sentence before: "No. Thursday!", "It isn't Friday. It's Thursday."."""
    if CUE.fullmatch(before):
        return True
    return CONTINUES.match(sentence) is not None and (denial := denied(before)) is not None and not denial.new


@lru_cache(maxsize=16_384)
def silent(text: str) -> bool:
    """Whether nothing in `text` states, corrects or takes back anything, as in most messages."""
    return not any(
        corrections(said) or withdrawals(said) or taken_back(said) or any(map(read, clauses(said, asks))) for said, asks in sentences(text)
    ) and not any(corrections(clause) for said, asks in sentences(text) for clause in clauses(said, asks))


def _skipped(sentence: str) -> bool:
    """Whether an English word makes it a guess, a case or an example."""
    return not en.SKIP_WORDS.isdisjoint(words_of(sentence)) and en.SKIP.search(sentence.lower()) is not None


@lru_cache(maxsize=4096)
def clauses(sentence: str, asks: bool) -> tuple[str, ...]:  # noqa: FBT001 - a cached function takes its arguments by place
    """The clauses of a sentence that state something."""
    denial = None if asks else denied(sentence)
    sentence = denial.new if denial and denial.new else sentence
    if _skipped(sentence) or (asks and en.ASKS.match(sentence)) or zh.CASE.match(sentence) or hearsay(sentence):
        return ()
    pieces = [piece.strip() for piece in _COMMA.split(sentence) if piece and piece.strip()] if _JOINS.search(sentence) else [sentence]
    if len(pieces) > 1 and (en.TAGS.match(pieces[-1]) or zh.TAGS.match(pieces[-1])):
        return ()
    told = pieces[:-1] if asks else pieces
    return tuple(piece for piece in told if not (en.ASKS.match(piece) or zh.SKIP.search(piece) or zh.ASKS.search(piece)))


@lru_cache(maxsize=4096)
def read(clause: str) -> tuple[tuple[str, str, FactKind], ...]:
    """Key, value and kind of the facts of one clause; what one rule has read no later one reads again."""
    if len(clause) > CLAUSE_CHARACTERS or is_code(clause):
        return ()
    han, latin = bool(_HAN.search(clause)), _LATIN.search(clause) is not None
    words, lower = words_of(clause), clause.lower()
    if len(lower) != len(clause):  # a few letters become two
        lower = clause
    taken: list[tuple[int, int]] = []
    read: list[tuple[str, str, FactKind]] = []
    for rule in _candidates(words, han=han, latin=latin):
        found = rule.pattern.search(lower if rule.small else clause)
        if not found:
            continue
        groups = {group: clause[slice(*found.span(group))] for group, part in found.groupdict().items() if part is not None}
        name = "value" if "value" in groups else "value2"
        negated = (en.NEGATED.search(found[0]) or zh.NEGATED.search(found[0])) and not rule.key.startswith(("constraint", "decision", "dislike"))
        value, length = ("", 0) if negated else value_of(rule, groups[name])
        end = found.start(name) + length
        if not value or any(start < end and found.start() < stop for start, stop in taken):
            continue
        about = _about(rule, clause, found, found.start(name) + groups[name].find(value), end)
        if about is None or is_junk(value, setting=rule.kind == "setting"):
            continue
        key = key_of(rule.key or groups["key"]) + (" location" if rule.check == "place" and not rule.key else "")
        key = f"{about} {key}" if about else key
        if _NO_KEY.fullmatch(key) or (rule.kind == "preference" and not rule.key and not _TELLING.search(value)):
            continue
        taken.append((end - len(value) if rule.key == "deadline" else found.start(), end))
        whole = f"{key} {value.casefold()}"[:VALUE_CHARACTERS] if key.endswith(":") else key
        read.append((whole, value, _kind(rule, key, value)))
    return tuple(read)


def _candidates(words: frozenset[str], *, han: bool, latin: bool) -> Iterator[Rule]:
    """The rules that may find something in a clause of these words."""
    for rule in (*(zh.RULES if han else ()), *(en.RULES if latin else ())):
        for needed in rule.words:
            if words.isdisjoint(needed):
                break
        else:
            yield rule


_ABOUT: Final = frozenset({"deadline", "amount", "setting", "entity"})
"""Kinds of facts of which there may be several, about different things."""


def _about(rule: Rule, clause: str, found: re.Match[str], value: int, end_of_value: int) -> str | None:
    """What the fact is about beside its noun, whose value stands from `value` to `end_of_value`; None when that cannot be told."""
    if rule.kind not in _ABOUT or rule.check == "id":
        return ""
    if rule.key:
        start = value if _HAN.search(found[0]) else min(found.start(), value)
        return of_deadline(clause[:start], clause[start:value]) if rule.kind == "deadline" else ""
    start, end = found.span("key")
    if value < start:
        return ""
    before = before_noun(clause[:start]) if not _SETS.match(found[0]) else ""
    after = after_noun(clause[end:value]) if rule.kind != "setting" else ""
    if before is None or after is None:
        return None
    behind = after_value(clause[end_of_value:]) if rule.kind == "amount" and not (before or after) else ""
    return " ".join(filter(None, (after, before, behind)))


_SETS: Final = re.compile(
    r"(?:(?:please|and|then|so|ok|no|let's),? )*(?:set|change|increase|reduce|raise|lower|bump|update|switch|move)\b|.*[把将]", re.IGNORECASE
)
"""Beginnings of a request to set something, whose key is all that is set."""

_NO_KEY: Final = re.compile("it|this|that|them|these|those|everything|all|something|things|up|one|这个|那个|它|他|她|文件|这|那|图片|事情")
_TELLING: Final = re.compile(rf"[\d@/]|^[A-Z]|[{HAN}]")
"""What the value of "my … is" must have to be more than a mood."""
_AMOUNTS: Final = frozenset({"budget", "price", "unit price", "cost", "total", "limit", "quantity", "discount", "deposit", "amount", "quota", "head count"})


def _kind(rule: Rule, key: str, value: str) -> FactKind:
    """What kind of fact it is: "set the budget to …" is an amount, "move the meeting to Thursday" a deadline."""
    if rule.kind != "setting":
        return rule.kind
    return "amount" if key in _AMOUNTS else "deadline" if sort_of(value) == "when" else "setting"


_NOUNS: Final = tuple(sorted((word if _HAN.search(word) else f" {word}" for word in zh.SYNONYMS), key=len, reverse=True))
"""Every word for a key as the end of a longer one: "团建预算", "website due date"."""


@lru_cache(maxsize=4096)
def key_of(said: str) -> str:
    """The one word for what a fact is about, in whatever language it was said."""
    plain = re.sub(r"^(?:the|our|my|your|this|that|its|a|an|new|max|default)\s+|(?:的|值)$", "", " ".join(said.split()).casefold())
    if of := re.fullmatch(r"(?!number )([\w ]+?) (?:of|for) (?:the |our |my )?([\w ]+)", plain):
        return f"{of[2]} {key_of(of[1])}"
    if plain not in zh.SYNONYMS and (noun := next((word for word in _NOUNS if plain.endswith(word)), "")):
        other = before_noun(plain[: -len(noun)])
        return f"{other} {zh.SYNONYMS[noun.strip()]}" if other else zh.SYNONYMS[noun.strip()] if other == "" and _HAN.search(noun) else plain
    plain = zh.SYNONYMS.get(plain, plain)
    return zh.SYNONYMS.get(re.sub(r"(?:号|编号)$", "", plain), plain) if _HAN.search(plain) else plain


# Values

_TAIL: Final = re.compile(
    r"(?:[\s,，]*(?:please|thanks|thank you|for now|now|then|ok|okay|instead|too|as well|from now on|if possible|谢谢|就行|就好|好了|吧|哦|"
    r"啊|呀|哈|了|先|即可))+$|\s+(?:and|but|because|since|so|as|which|who|after|until|for|with)\s.*$|(?:因为|所以|然后).*$",
    re.IGNORECASE,
)
_NAME: Final = re.compile(rf"<@\w+(?:\|[^>]*)?>|@[\w.-]+|[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){{0,2}}|[{HAN}·]{{2,6}}")
_NO_NAME: Final = re.compile(
    "^(?:The|This|That|It|He|She|They|We|You|I|There|Here|What|Who|Not|No|Yes|So|And|But|My|Our|Your|Busy|Sick|Away|Out|On|Off|Gone|Great|"
    r"Nobody|Someone|Today|Monday|Friday)\b|[他她它我你您这那谁]|不在|请假|有事|没空|很|休假|出差"
)


def value_of(rule: Rule, said: str) -> tuple[str, int]:
    """The value a rule asks for, as it was said, and how many characters of `said` it took; "" when it is not there."""
    match rule.check:
        case "when":
            return _span(said, {"date", "time"}, relative=True)
        case "number":
            return _span(said, {"amount", "number"}, relative=False)
        case "id":
            # "order 12 pizzas" is no order number
            found_id = _span(said, {"id", "number", "phone", "version", "parameter"}, relative=False, gap=2)
            torn = re.match(r"[A-Za-z0-9_/\\(\[=]", said[found_id[1] :]) or not re.search(r"\d", found_id[0])
            return ("", 0) if torn or (found_id[0].isdigit() and len(found_id[0]) < 3) else found_id
        case "name":
            found = _NAME.match(said.strip().removeprefix("now "))
            name = found[0].rstrip("吧了呢啊.") if found else ""
            return ("", 0) if not name or _NO_NAME.search(name) else (name, said.find(name) + len(name))
        case "place":
            place = cut(said)
            if _HAN.search(place):
                return (place, len(said)) if re.fullmatch(rf"(?:{zh.PLACES.pattern})+", place) else ("", 0)
            return (place, len(said)) if place[:1].isupper() or re.match(r"(?:room|building|hall) |[a-z]+-[a-z]+-\d", place) else ("", 0)
        case "words":
            words = cut(said)
            plain = len(words) > 0 and len(words.split()) <= 6 and (len(words) == 1 or not en.EMPTY.match(words)) and not zh.EMPTY.search(words)
            return (words, len(said)) if plain else ("", 0)
        case "any":
            if re.match(r"(?:nothing|not yet|later|nobody)\b|以后再", said, re.IGNORECASE):
                return "", 0
            whole = " ".join(said.split()).rstrip(" .,，。！!") if rule.key in {"constraint:", "decision:"} or rule.kind == "preference" else cut(said)
            whole = re.sub(r"(?:,? please|吧|哦|啊|谢谢)$", "", whole).strip()
            unsaid = not whole or (
                rule.kind in {"entity", "choice", "preference"}
                and (en.EMPTY.match(whole) or zh.EMPTY.match(whole))
                and rule.key not in {"choice", "answer style"}
            )
            return ("", 0) if unsaid and rule.key != "diet" else (whole[:VALUE_CHARACTERS], len(said))


def cut(said: str) -> str:
    """`said` without the politeness and the reasons behind it."""
    words = " ".join(said.split())
    while (shorter := _TAIL.sub("", words).rstrip(" .,，。！!:：")) != words:
        words = shorter
    return re.sub(r"^(?:the|a|an)\s+(?=\w)", "", words, flags=re.IGNORECASE)[:VALUE_CHARACTERS]


_REACH: Final = 10
"""Characters behind the beginning of a date, time or number within which it shows that it is one."""
_SHORT: Final = 2
"""What begins so near to the front belongs to the first two words."""
_NUMBERED: Final = re.compile(f"[\\d_=:{NUMERAL}]|--")
_DATED: Final = re.compile(f"[\\d周期拜{NUMERAL}]|\\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
"""What every number or id has somewhere, and every day or time: to look for it is cheaper than to read all identifiers."""


def _span(said: str, kinds: set[str], *, relative: bool, gap: int = 16) -> tuple[str, int]:
    """The first identifiers of `kinds` in `said` that stand together, if they stand near its beginning."""
    near = said[: gap + _REACH] if relative or gap > _SHORT else " ".join(said.split(maxsplit=2)[:2])
    if not (_DATED if relative else _NUMBERED).search(near) and not (relative and zh.RELATIVE.search(said)):
        return "", 0
    spans: list[tuple[int, int]] = []
    at = 0
    for each in identifiers(said):
        start = said.find(each.text, at)
        if start >= 0:
            at = start + len(each.text)
            if each.kind in kinds:
                spans.append((start, at))
    if relative:
        spans += [found.span() for found in zh.RELATIVE.finditer(said)]
    spans.sort()
    if not spans or spans[0][0] > gap or re.search(r"\bnot\b|不", said[: spans[0][0]]):
        return "", 0
    first, last = spans[0]
    for start, end in spans[1:]:
        if relative and re.fullmatch(r",? ?(?:at|on|by|in the)?,? ?|的", said[last:start]):
            last = max(last, end)
    return said[first:last], last


# Corrections, withdrawals, answers


class _Correction(NamedTuple):
    value: str
    sort: str
    old: str
    """The value that is said to be wrong, if it is said."""
    strong: bool
    """Whether it is plainly a correction even of plain words."""


_INSTEAD: Final = re.compile(r"[ ,，](?:and )?(?:not|instead of|rather than) |不是|, (?:sorry|my |i mean)| instead$", re.IGNORECASE)
_TURNED: Final = re.compile(r"^([^;,]{1,40}?)(?:, (?:sorry|my mistake|my bad|i mean|i meant)| instead)$", re.IGNORECASE)
_APART: Final = re.compile(r", |\binstead\b|\brather\b", re.IGNORECASE)
_WITH_OLD: Final = (en.NOT_BUT, zh.NOT_BUT, en.INSTEAD, zh.INSTEAD)
"""Corrections that say which value was wrong."""
_CHOOSES: Final = re.compile("use|take|go with|let|(?:it |that |we )?(?:stay|remain)|还是|维持|保持|改$", re.IGNORECASE)
"""What chooses something new as often as it corrects something."""


@lru_cache(maxsize=4096)
def corrections(sentence: str) -> tuple[_Correction, ...]:
    """The ways in which `sentence` may correct something said before: "actually it's Thursday", "不对，是周四", "make it 6,000"."""
    if len(sentence) > 120 or (first_word(sentence) not in _CORRECTS_WORDS and not _INSTEAD.search(sentence)) or _skipped(sentence):
        return ()
    if hearsay(sentence) or zh.SKIP.search(re.sub("^不对|应该是", "", sentence)):
        return ()
    sentence = _TURNED.sub(r"no, \1", sentence)
    found = []
    for pattern in (*_WITH_OLD, en.CORRECTS, zh.CORRECTS):
        match = pattern.match(sentence)
        part = match.groupdict() if match else {}
        cue, strong = part.get("cue"), part.get("strong")
        if not match or not (cue or strong or pattern in _WITH_OLD):
            continue
        value = cut(part["value"])
        sort = sort_of(value)
        if pattern is en.INSTEAD and sort == "words" and not _APART.search(sentence):
            continue
        if sort == "when":
            span = _span(value, {"date", "time"}, relative=True, gap=4)[0]
            # "no, Thursday is the party" says something else of Thursday
            if not re.fullmatch(rf"(?:on|at|by|until|the|到|在)?\s*{re.escape(span)}\s*(?:then|now|again|吧|了)?", value, re.IGNORECASE):
                continue
            value = span
        if sort == "words" and (
            en.EMPTY.match(value) or zh.EMPTY.search(value) or len(value) > (10 if _HAN.search(value) else 40) or len(value.split()) > 3 or read(value)
        ):
            continue
        found.append(
            _Correction(
                value, sort, cut(part.get("old") or "").casefold(), bool((strong and (cue or not _CHOOSES.match(strong))) or (cue and part.get("weak")))
            )
        )
    return tuple(found)


@lru_cache(maxsize=4096)
def sort_of(value: str) -> str:
    """What sort of value it is, so that a correction finds its like."""
    if _span(value, {"date", "time"}, relative=True, gap=4)[0]:
        return "when"
    found = identifiers(value)
    if found and value.startswith(found[0].text) and len(found[0].text) >= len(value) - 4:
        return "number" if found[0].kind in {"amount", "number"} else "id"
    return "words"


def is_stage(value: str) -> bool:
    """Whether a value is a stage of a system: "staging", "生产环境"."""
    return re.fullmatch(rf"(?:the )?(?:{en.STAGE}|{zh.STAGE})(?: env(?:ironment)?)?", value, re.IGNORECASE) is not None


def head_of(value: str) -> str:
    """The noun of "plan B" or "方案B"; "" for a value that has none."""
    head = re.match(rf"[A-Za-z]+(?= [A-Za-z0-9]{{1,3}}$)|[{HAN}]{{2}}(?=[A-Za-z0-9一二三四五六七八九]+$)", value)
    return head[0].casefold() if head else ""


_CORRECTS_WORDS: Final = en.CORRECTS_WORDS | zh.CORRECTS_WORDS
_WITHDRAWS_WORDS: Final = en.WITHDRAWS_WORDS | zh.WITHDRAWS_WORDS


@lru_cache(maxsize=4096)
def withdrawals(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The keys that `sentence` takes back, and whether only weakly: of an order, "cancel" is a request."""
    if _WITHDRAWS_WORDS.isdisjoint(words_of(sentence)) or hearsay(sentence) or _skipped(sentence):
        return ()
    clauses = [clause.strip() for clause in (sentence, *_COMMA.split(sentence)) if clause and len(clause) <= 120]
    matches = [found for clause in clauses for pattern in (en.WITHDRAWS, zh.WITHDRAWS) if (found := pattern.search(clause))]
    return tuple((key_of(said), group in {"b", "d", "e", "g"}) for found in matches for group, said in found.groupdict().items() if said)


@lru_cache(maxsize=4096)
def taken_back(sentence: str) -> tuple[tuple[str, str], ...]:
    """Keys and values that `sentence` says are not so; the key is "" for whatever has the value: "it's not Friday"."""
    denial = denied(sentence)
    if denial is None or _skipped(sentence) or hearsay(sentence):
        return ()
    return (("", denial.old),) if denial.bare else tuple((key, value) for clause in clauses(denial.old, False) for key, value, _ in read(clause))


_ANSWERS: Final[dict[str, tuple[FactKind, Check]]] = {
    "deadline": ("deadline", "when"),
    "budget": ("amount", "number"),
    "order": ("entity", "id"),
    "ticket": ("entity", "id"),
    **dict.fromkeys(("environment", "region", "branch", "database", "plan", "version"), ("choice", "words")),
}
_ANSWER: Final = 40
"""Characters of a short answer at most."""
_QUESTION: Final = re.compile(
    r"\b(?:which|what) (?:is the )?(?P<en>[\w -]{2,24}?)(?: (?:should|shall|do|is|would|are|did|will|number)\b[^?？]*)?[?？]$|(?:哪个|什么|"
    r"哪一个)(?P<zh>[\u4e00-\u9fff]{2,6})[?？]$",
    re.IGNORECASE,
)


def answer_to(question: str, answer: str) -> tuple[str, str, FactKind] | None:
    """Key, value and kind when `answer` is a few words that answer the question another text ends with; None when it is not."""
    if len(answer) > _ANSWER:
        return None
    found = _QUESTION.search(re.split(r"[.!。！\n]", question.strip()[-400:])[-1])
    key = key_of(found["en"] or found["zh"]) if found else ""
    words = cut(answer[:200].rstrip(" .。!！\n"))
    if key not in _ANSWERS or not words or len(words.split()) > 4 or re.search(r"[?？\n，；]", words):
        return None
    if any(pattern.search(words) for pattern in (zh.EMPTY, zh.SKIP, en.SKIP)) or en.EMPTY.match(words):
        return None
    kind, check = _ANSWERS[key]
    value, _ = value_of(Rule(kind, key, check, _QUESTION), words)
    return (key, value, kind) if value else None
