"""How two sayings compare: the same words, more words, the same subject, for or against it. Pure functions of texts, English and Chinese.

What is decided with them is whether a memory is replaced, so they are strict: texts are alike only when one says all that the other says and
numbers, days and names agree. Nearness in meaning alone never counts: "short replies" and "long replies" lie as near as two sentences can.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from memory.longterm.values_of import day, place
from memory.terms import terms

_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LEADS: Final = re.compile(
    r"\b(?:please |pls )?(?:remember|note|keep in mind|don'?t forget|make a note|fyi|by the way|btw|just so you know)\b(?: that| this)?[:,]?|"
    r"\bfrom now on\b,?|\b(?:in )?(?:the )?future\b,?|"
    r"请?(?:帮我)?(?:记住|记下来?|记一下|记得|别忘了)[，,：:]?|顺便说一下|(?:从现在起|从今以后|今后|以后)[，,]?",
    re.IGNORECASE,
)
_FILL: Final = re.compile(
    r"\b(?:really|actually|still|now|currently|recently|lately|always|very|quite|also|just|even|today|anymore|any more|these days|a lot|so much|to be honest|"
    r"i (?:think|guess|believe|mean)|as i said|again|kind of|sort of)\b|"
    r"其实|真的|现在|目前|最近|还是|一直|非常|特别|十分|超级?|挺|最|很|太|也|都|又|再说一[次遍]|说过",
    re.IGNORECASE,
)
_NOT_NEGATIVE: Final = re.compile(
    r"\bnot only\b|\bno problem\b|\bno worries\b|\bno\. ?(?=\d)|"
    r"不错|不过|不但|不仅|不管|不论|不如|不久|不同|不锈钢|不得不|要不|差不多|对不起|不好意思|没问题|没关系|"
    r"特别|别人|别的|区别|分别|差别|级别|类别|性别|告别|别名|识别|个别|沉没|出没|戒指",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\bno longer\b|\bnot .{0,60}?\b(?:any ?more|any longer)\b|n['’]t .{0,60}?\b(?:any ?more|any longer)\b|\b(?:stopped|quit|gave up|given up|done with)\b|"
    r"(?<!am )(?<!['’]m )(?<!get )(?<!got )\bused to\b|不再|再也不|已经不|(?:不|没).{1,30}了$|戒(?!指)",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(
    r"\b(?:he|she|they|his|her|their|wife|husband|partner|girlfriend|boyfriend|mother|mom|mum|father|dad|sister|brother|son|daughter|child|children|kids?|parents?|"
    r"friend|boss|manager|colleague|team|company|cat|dog|was|were|had|want|wish|hope|plan|planning|might|may|could|if|when|only|except)\b|"
    r"[他她它]|老婆|妻子|老公|丈夫|女朋友|男朋友|妈|母亲|爸|父亲|姐|妹|哥|弟|儿子|女儿|孩子|朋友|老板|经理|同事|公司|团队|以前|曾经|想|希望|打算|计划|准备|如果|只|除了|时候",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|cannot|neither|nor|none|without|avoid|stopped|quit|gave up|given up)\b|"
    r"(?<!am )(?<!['’]m )(?<!get )(?<!got )\bused to\b|\b\w+n['’]t\b|"
    r"\b(?:dont|doesnt|isnt|cant|wont|arent|didnt)\b|"
    r"不(?:用|必|需要?)|无需|[不没勿莫]|别|戒|从未|并非|无法|避免",
    re.IGNORECASE,
)
_AGAINST: Final = re.compile(
    r"\b(?:hat(?:e|es|ed|ing)|dislik(?:e|es|ed|ing)|detest(?:s|ed)?|loath(?:e|es|ed)|despis(?:e|es|ed)|sick of|"
    r"(?:can['’]?t|cannot|can not) (?:stand|bear|abide))\b|"
    r"讨厌|厌恶|反感|受不了|嫌弃",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    r"\b(?:lov(?:e|es|ed|ing)|ador(?:e|es|ed)|enjoy(?:s|ed|ing)?|fond of|(?:big |huge )?fan of|keen on)\b|"
    r"\b(?:i|we|do|don['’]?t|not|never|no longer|to|stopped)(?: (?!would\b)\w+){0,2}? lik(?:e|es|ed|ing)\b(?! to\b.{0,3}$)|\bliking\b|"
    r"喜欢|喜爱|热爱|偏爱|最爱|爱上|(?<![可亲恋友])爱(?![人心情好国])",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,，。;；!！?？\n]|\.(?=\s|$)|\b(?:but|though|although)\b|但是?|不过", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(?:[.:/-]\d+)*")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,，](?=\d{3}(?!\d))")
_HAN_NUMBER: Final = re.compile(r"[零〇一二两三四五六七八九十百千万]+(?![些下样起直般定向共旦])")
_HAN_DAY: Final = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])")
_NUMBER_WORDS: Final = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905 - reads better so
} | {"twice": "2", "once": "1"}
_DAYS: Final = {
    name: f"day{number}"
    for number, names in enumerate(("mon monday", "tue tues tuesday", "wed wednesday", "thu thur thursday", "fri friday", "sat saturday", "sun sunday"))
    for one in names.split()
    for name in (one, f"{one}s")
}
_HAN_DAYS: Final = dict(zip("一二三四五六日天", ("day0", "day1", "day2", "day3", "day4", "day5", "day6", "day6"), strict=True))
_MONTHS: Final = {
    name: f"month{number}"
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august", "sep sept september", "oct october"),
        start=1,
    )
    for name in names.split()
} | {"nov": "month11", "november": "month11", "dec": "month12", "december": "month12"}
_TWINS: Final = {
    **dict.fromkeys(("like", "likes", "love", "loves", "enjoy", "enjoys", "taste"), ("taste", 1)),
    **dict.fromkeys(("dislike", "dislikes", "hate", "hates", "disliked"), ("taste", -1)),
}
_SIDES: Final = {
    **dict.fromkeys(("like", "likes", "love", "loves", "enjoy", "yes", "positive", "喜欢", "爱"), 1),
    **dict.fromkeys(("dislike", "dislikes", "hate", "hates", "no", "negative", "不喜欢", "讨厌"), -1),
}
_SPELLING: Final = {"favorite": "favourite", "color": "colour", "organization": "organisation", "neighbor": "neighbour"}
_SAME_ATTRIBUTE: Final = {
    other: name
    for name, others in {
        "home": "city home_city residence place_of_residence",
        "role": "job job_title occupation profession",
        "employer": "company organisation firm",
        "team": "department dept",
        "manager": "boss supervisor line_manager",
        "timezone": "time_zone",
        "working_hour": "work_hour office_hour",
        "seat": "desk workstation",
        "editor": "ide code_editor",
        "birthday": "date_of_birth birth_date birthdate",
        "diet": "dietary_preference dietary_restriction",
        "reply_language": "response_language answer_language",
        "reply_length": "response_length answer_length",
        "favourite": "preferred",
    }.items()
    for other in others.split()
}
"""What a model may call the attributes that the rules know: one person has one home, whichever word was chosen for it."""
_WEAK: Final = frozenset(
    {"want", "would", "need", "pleas", "thing", "get", "make", "go", "goe", "use", "对", "想", "要", "会", "能", "可", "以", "给", "用", "请", "让"}
)


PAIRS_APART: Final = 3
"""Pairs of Chinese characters that one small word more or less parts or joins."""
HARDLY_MORE: Final = 0.85
"""Share of terms from which a text that holds all of another says the same."""


def plain(text: str) -> str:
    """`text` for comparing as a whole: compatibility forms, case, spaces and the punctuation at its ends made one."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!?。，；：！？\"'“”")


def is_han(text: str) -> bool:
    """Whether any of it is written in Chinese characters."""
    return _HAN.search(text) is not None


@lru_cache(maxsize=8192)
def content(text: str) -> frozenset[str]:
    """The terms that carry what `text` says: without "remember that…", without words of degree, without function words."""
    found = terms(_FILL.sub(" ", _LEADS.sub(" ", text)))
    return frozenset(found) - _WEAK


@lru_cache(maxsize=8192)
def core(text: str) -> frozenset[str]:
    """`content` without liking, disliking and denying: what a stance is about."""
    bare = _NEGATION.sub(" ", _FOR.sub(" ", _AGAINST.sub(" ", _NOT_NEGATIVE.sub(" ", _OVER_MARKS.sub(" ", text)))))
    return content(bare) - {"stop", "longer"}


_OVER_MARKS: Final = re.compile(r"\b(?:no longer|any ?more|any longer|eat(?:s|ing)?|drink(?:s|ing)?)\b|不再|再也不|已经不|了$|[吃喝]", re.IGNORECASE)
"""What ends something, and what people do with the food and drink they like: "I like tea" is about what "I like drinking tea" is about."""


@lru_cache(maxsize=8192)
def marks(text: str) -> frozenset[str]:
    """What must agree in two texts that say the same: numbers (in words too), days of the week, months."""
    folded = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    found = set(_NUMBER.findall(folded))
    for word in re.findall(r"[a-z]+", folded):
        found |= {table[word] for table in (_NUMBER_WORDS, _DAYS) if word in table}
        if word in _MONTHS and word != "may":
            found.add(_MONTHS[word])
    found |= {_HAN_DAYS[day] for day in _HAN_DAY.findall(folded)}
    found |= {_han_number(each) for each in _HAN_NUMBER.findall(_HAN_DAY.sub(" ", folded)) if each not in {"一", "万一", "千万"}}
    return frozenset(found)


def _han_number(text: str) -> str:
    """A Chinese numeral below a hundred in digits; a longer one as it is."""
    tens, ten, ones = text.partition("十")
    digits = {character: str(number) for number, character in enumerate("零一二三四五六七八九")} | {"两": "2", "〇": "0"}
    if len(text) > 3 or any(each not in digits for each in tens + ones):
        return text
    if ten:
        return str(int(digits.get(tens, "1")) * 10 + int(digits.get(ones, "0")))
    return digits.get(text, text)


def dice(left: frozenset[str], right: frozenset[str]) -> float:
    """0 to 1: how much two sets share; 0 when one is empty."""
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def same_text(left: str, right: str) -> bool:
    """The same words, apart from case, spaces, introductions and words of degree."""
    return plain(left) == plain(right) or (bool(content(left)) and content(left) == content(right) and marks(left) == marks(right))


def says_all_of(longer: str, shorter: str) -> bool:
    """Whether `longer` holds every word that carries something in `shorter`, with its numbers and days."""
    inner = content(shorter)
    return plain(shorter) == plain(longer) or (bool(inner) and inner <= content(longer) and marks(shorter) <= marks(longer))


def alike(left: str, right: str) -> bool:
    """Whether two texts, of whatever key, say the same: one holds all of the other and hardly more; numbers, denying and whose it is agree."""
    if marks(left) != marks(right) or denies(left) != denies(right) or stance(left) != stance(right) or frame(left) != frame(right):
        return False
    if roles_differ(left, right):
        return False
    return same_text(left, right) or ((says_all_of(left, right) or says_all_of(right, left)) and dice(content(left), content(right)) >= HARDLY_MORE)


@lru_cache(maxsize=8192)
def frame(text: str) -> frozenset[str]:
    """Whom it is about besides the speaker, and whether it is past, wished or so: one such word makes another fact of the same words."""
    return frozenset(each.casefold() for each in _FRAME.findall(text))


@lru_cache(maxsize=8192)
def denies(text: str) -> bool:
    """Whether it says that something is not so, or not so any more."""
    bare = _AGAINST.sub(" ", _NOT_NEGATIVE.sub(" ", text))
    return over(bare) or len(_NEGATION.findall(bare)) % 2 == 1


def turned_round(left: str, right: str) -> bool:
    """Whether they differ by a denial alone: "skip payment" and "do not skip payment"."""
    if negations(left) % 2 == negations(right) % 2:
        return False
    bare = [content(_NEGATION.sub("", _NOT_NEGATIVE.sub(" ", text))) for text in (left, right)]
    # A word that is left out parts two characters or joins them: such a pair is no difference.
    apart = [each for each in bare[0] ^ bare[1] if not (is_han(each) and len(each) > 1)]
    return bool(bare[0] & bare[1]) and not apart and len(bare[0] ^ bare[1]) <= PAIRS_APART and not roles_differ(left, right)


_ALL_OF_IT: Final = re.compile(
    r"\b(?:show|tell|give|list|include|report)\b(?: me)? (?:everything|all(?: of it| the details)?\b|the (?:whole|full|complete)\b)|"
    r"(?:全部|所有|完整|一切)(?:内容|信息|细节|情况)?都?(?:告诉|给|显示|列|说)|(?:告诉|给|显示|列出|说)(?:我)?(?:全部|所有|完整)",
    re.IGNORECASE,
)
_PART_OF_IT: Final = re.compile(r"\b(?:just|only|skip|leave out|without|omit)\b|只|不用|跳过|别说|不要说|省略", re.IGNORECASE)


@lru_cache(maxsize=8192)
def breadth(text: str) -> int:
    """How much is to be shown: 1 all of it, -1 only a part, 0 it does not say (or says both)."""
    return (1 if _ALL_OF_IT.search(text) else 0) - (1 if _PART_OF_IT.search(text) else 0)


def days_differ(left: str, right: str) -> bool:
    """Whether each names a day or month that the other does not: of Mondays nothing is said by Fridays."""
    named = [frozenset(each for each in marks(text) if not each[0].isdigit()) for text in (left, right)]
    return bool(named[0] - named[1]) and bool(named[1] - named[0])


def counts_differ(left: str, right: str) -> bool:
    """Whether both tell a number of the same, and not the same number: "two cats" and "three cats"."""
    told = [frozenset(each for each in marks(text) if each[0].isdigit()) for text in (left, right)]
    return all(told) and bool(told[0] - told[1]) and bool(told[1] - told[0])


_ROLE: Final = re.compile(
    r"(?P<role>\b(?:from|to|into|by|with|without|for|before|after|than|over|under|above|below|until|till|of|on|in|at)\b)|(?P<end>\b(?:i|we|you)\b|[,;:])|(?P<word>[^\W_]+(?:['’-][^\W_]+)*)",
    re.IGNORECASE,
)
_ROLE_ZH: Final = re.compile(r"(?P<role>[从到向给比把被飞由替帮跟对发抄]|抄送|发给|交给|汇报给)(?P<word>[\u3400-\u9fff]{2})")
_MANNER: Final = frozenset({"usual", "usuali", "often", "sometim", "normal", "general", "typic", "mostli", "main", "onli", "alway", "never", "regular"})


@lru_cache(maxsize=8192)
def _roles(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The words that stand under a preposition, each with it, and the other words in their order; adverbs, which may stand anywhere, apart."""
    under: list[tuple[str, str]] = []
    bare: list[str] = []
    role = ""
    for match in _ROLE.finditer(_FILL.sub(" ", _LEADS.sub(" ", text))):
        if match["role"]:
            role = match["role"].casefold()
        elif match["end"]:
            role = ""
        else:
            for word in terms(match["word"]):
                if word in _MANNER or word in _WEAK:
                    continue
                if role:
                    under.append((role, word))
                else:
                    bare.append(word)
    return tuple(under), tuple(bare)


def roles_differ(left: str, right: str) -> bool:
    """Whether the words two texts share do other things in them: "from Berlin to Oslo" and "from Oslo to Berlin". A clause that only moved does not."""
    if is_han(left) and is_han(right):
        told = [{match["word"]: match["role"] for match in _ROLE_ZH.finditer(text)} for text in (left, right)]
        return sorted(plain(left)) == sorted(plain(right)) and told[0] != told[1]
    if is_han(left) or is_han(right):
        return False
    shared = frozenset(terms(left)) & frozenset(terms(right))
    first, second = (
        (frozenset(each for each in under if each[1] in shared), [word for word in bare if word in shared]) for under, bare in map(_roles, (left, right))
    )
    return first != second


@lru_cache(maxsize=8192)
def negations(text: str) -> int:
    """How many words of denying and ending it holds, apart from phrases that only look like it ("no problem", "不过")."""
    return len(_NEGATION.findall(_AGAINST.sub(" ", _NOT_NEGATIVE.sub(" ", text))))


@lru_cache(maxsize=8192)
def over(text: str) -> bool:
    """Whether it says that something has ended: "I no longer…", "我不再…"."""
    return _OVER.search(_NOT_NEGATIVE.sub(" ", plain(text))) is not None


@lru_cache(maxsize=8192)
def stance(text: str) -> int:
    """1: it likes what it is about, -1: it does not, 0: it says neither."""
    for clause in _CLAUSE.split(_NOT_NEGATIVE.sub(" ", text)):
        for pattern, side in ((_AGAINST, -1), (_FOR, 1)):
            if found := pattern.search(clause):
                before = clause[: found.end()]
                turned = len(_NEGATION.findall(_AGAINST.sub(" ", before))) + (1 if over(clause) and not _NEGATION.search(before) else 0)
                return -side if turned % 2 else side
    return 0


@lru_cache(maxsize=8192)
def subject(key: str) -> tuple[str, int]:
    """A key in the form in which keys are compared, and the side it takes by itself: `hate:rain` and `like:rain` are one subject, seen from two sides."""
    pieces = []
    for piece in unicodedata.normalize("NFKC", key).casefold().split(":"):
        words = [word for word in re.split(r"[\s_\-/]+", piece.strip()) if word]
        pieces.append("_".join(_SPELLING.get(one, one) for one in map(_singular, words)))
    family, side = _TWINS.get(pieces[0], (_SAME_ATTRIBUTE.get(pieces[0], pieces[0]), 0))
    return ":".join((family, *(each for each in pieces[1:] if each))), side


def has_object(key: str) -> bool:
    """Whether a key names one thing ("allergy:peanut") and not only an attribute ("hobby")."""
    return bool(key.partition(":")[2].strip())


def side_of(value: str) -> int:
    """1 or -1 for a value that is itself a stance ("like", "hate"), else 0."""
    return _SIDES.get(plain(value), 0)


def _singular(word: str) -> str:
    if not word.isascii() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("shes", "ches", "xes", "sses")) else word.removesuffix("s")


@lru_cache(maxsize=8192)
def same_value(left: str, right: str) -> bool:
    """Whether two values are one: "Peanuts" and "peanut", "5,000" and "5000", "Beijing" and "北京"."""
    if plain(left) == plain(right) or place(left) == place(right) or day(left) == day(right):
        return True
    numbers = marks(left), marks(right)
    if any(numbers):
        return numbers[0] == numbers[1] and content(left) == content(right)
    words = [frozenset(terms(each)) for each in (left, right)]
    return bool(words[0]) and words[0] == words[1]


@lru_cache(maxsize=8192)
def finer_value(new: str, old: str) -> bool:
    """Whether a value is the old one with more to it: "dark blue" of "blue"."""
    words = [frozenset(terms(each)) for each in (new, old)]
    return bool(words[1]) and words[1] < words[0] and marks(old) <= marks(new) and plain(new).endswith(plain(old))


_WHEN: Final = re.compile(
    r"^\s*(?:when(?:ever)?|if|every time|each time|as soon as)\b|^(?:如果|要是|每次|每当|当)|(?:的时候|时候|的话|之?时|之?后)\s*[，,]?$", re.IGNORECASE
)


def conditions(left: str, right: str) -> str:
    """`same`, `overlap` (one is a part of the other, or they share a subject) or `apart`."""
    if not left.strip() or not right.strip():
        return "same" if left.strip() == right.strip() else "apart"
    left, right = _WHEN.sub(" ", left), _WHEN.sub(" ", right)
    if same_text(left, right):
        return "same"
    shared = content(left) & content(right)
    if marks(left) == marks(right) and negations(left) == negations(right) and dice(content(left), content(right)) >= 0.8:
        return "same"
    return "overlap" if shared else "apart"
