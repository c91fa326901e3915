"""What code can verify of a memory that a model claims to have read: that the person said it, in these words and no other sense. Pure.

The message is hostile input and the model can be talked into anything, so nothing is believed: the quote must stand in the person's own words
(not in code, quotations or forwarded text), the memory's words must come from there, and numbers, names, conditions, liking and denying must be
those of the clause the quote was taken from, so that no half sentence says the opposite of the whole.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from memory.longterm.alike import core, is_han, marks, negations, over, plain, stance, subject
from memory.longterm.memory import Memory
from memory.longterm.not_meant import work_tie
from memory.longterm.own_words import own_words
from memory.longterm.secrets_found import secret
from memory.terms import STOP_CHARACTERS, STOP_WORDS, terms, whole_identifiers

LEAST_OWN: Final = 0.6
"""Share of a memory's terms that must stand in the quote itself; the rest may be in what was said before it."""
LEAST_PAIRS: Final = 0.5
"""Share of the pairs of Chinese characters that must stand in the quote in this order: the same characters can be put together to say other things."""

_BREAKS: Final = re.compile(r"[。；;！!？?\n]|\.(?=\s|$)|,\s+(?=but\b)|\s+(?=but\b)|[，,]?(?=但是?我|不过我)", re.IGNORECASE)
_COMMA: Final = re.compile(r"[,，、]\s*")
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|whenever|except|only (?:when|if|on|in|for|at)|as long as|in case|while|during|provided)\b|\bwhen\b|"
    r"如果|要是|除非|除了|只有|只要|每当|每次|的时候|(?<=.{2})时(?=[，,候]|.{0,2}[要请别不用我])|的话|期间",
    re.IGNORECASE,
)
_HEARSAY: Final = re.compile(
    r"\b(?:he|she|they|everyone|people|somebody|someone|you|the (?:bot|assistant|model|system|email|page|article|customer|client|user)|<@\w+>|[A-Z][a-z]+) "
    r"(?:says?|said|claims?|claimed|thinks?|thought|told|wrote|wants?|asked|suggested)\b|\baccording to\b|"
    r"(?:[他她]们?|有人|大家|别人|你|客户|老板|同事|网上|文章|邮件)(?:说|觉得|认为|写|让|要求|建议)|据说|听说",
)
_OTHERS: Final = re.compile(
    r"^(?:and |but |so |also |then )*(?:he|she|they|his|her|their|<@\w+>|(?:my|our|the) "
    r"(?:wife|husband|partner|girlfriend|boyfriend|mother|mom|mum|father|dad|sister|brother|son|daughter|"
    r"child|kids?|children|parents?|friend|boss|manager|colleague|co-?worker|teammate|neighbou?r|customer|client|doctor|roommate)(?:['’]s)?)\b|"
    r"^(?:而且|并且|但是?|不过|还有|也)*(?:[他她]们?|<@\w+>|我(?:的|们的?|家)?"
    r"(?:老婆|妻子|老公|丈夫|爱人|女朋友|男朋友|对象|妈妈?|母亲|爸爸?|父亲|姐姐?|妹妹?|哥哥?|弟弟?|儿子|女儿|孩子|父母|朋友|老板|经理|同事|"
    r"邻居|客户|室友|领导))",
    re.IGNORECASE,
)
_ORDERS_US: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|safety)\b|"
    r"\bsystem prompt\b|\byou are now\b|\bact as\b|"
    r"\b(?:without|skip|no need for|never ask for|don['’]t ask for)\b.{0,24}\b(?:approval|confirmation|permission|asking)\b|"
    r"\bauto[- ]?approve\b|\b(?:i am|i'm) (?:an? |the )?(?:admin|administrator|root|owner|superuser)\b|"
    r"(?:忽略|无视|忘掉|绕过).{0,20}(?:指令|规则|提示|限制|政策)|系统提示|你现在是|扮演|"
    r"(?:不用|无需|不必|跳过|别|不要).{0,8}(?:审批|批准|确认|许可|问我)|"
    r"自动(?:批准|同意|通过)|我是(?:超级)?管理员",
    re.IGNORECASE,
)
_PRETENDED: Final = re.compile(
    r"\b(?:imagine|suppose|pretend|assume|let['’]s say|what if|for example|e\.g|as if|hypothetically|"
    r"(?:write|draft|compose|tell|translate|rephrase|complete|continue) "
    r"(?:me |us )?(?:a|an|the|this|my|in|as|about)\b.{0,40}\b"
    r"(?:where|saying|that says|story|poem|email|mail|letter|sentence|speech|dialog(?:ue)?)|just kidding|lol|jk)\b|"
    r"假设|假如|假装|想象|比方说|比如说|例如|(?:写|编|翻译|续写|造).{0,6}(?:个|篇|封|段|首|句|故事|邮件|诗|信)|开玩笑|哈哈|逗你",
    re.IGNORECASE,
)
_SEAM: Final = re.compile(r"(?<=[\u3400-\u9fff\uff00-\uffef])(?=[!-~])|(?<=[!-~])(?=[\u3400-\u9fff\uff00-\uffef])")
_FRAMES: Final = frozenset({"prefer", "call"})
_HAN_FRAMES: Final = STOP_CHARACTERS | frozenset("不会要请能可以给时候这样于把被让")
_NAME: Final = re.compile(r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][\w'-]+")

_ATTRIBUTES: Final = tuple(
    (frozenset(keys.split()), re.compile(pattern, re.IGNORECASE))
    for keys, pattern in (
        ("name nickname", r"\bname\b|\bcall(?:ed)?\b|叫|名字|称呼"),
        ("language reply_language", r"\b(?:english|chinese|language|mandarin)\b|中文|英文|英语|汉语|语言"),
        ("reply_length length style reply_style", r"\b(?:short|long|brief|concise|detail\w*|bullets?|answers?|repl(?:y|ies))\b|简短|简洁|详细|长|短|回复|回答"),
        ("colour", r"\bcolou?rs?\b|颜色|[红黄蓝绿黑白紫灰橙粉]色"),
        ("birthday", r"\b(?:birthday|born)\b|生日|出生"),
        ("city home location residence address", r"\b(?:live|living|moved?|based|reside)\b|住|搬|定居|在.{1,6}(?:生活|居住)"),
        ("employer company job role team work occupation", r"\b(?:works?|working|job|joined|employ\w+|role|team)\b|工作|上班|公司|职位|入职|团队|部门|岗位"),
        ("diet", r"\b(?:eat|vegan|vegetarian|diet|meat)\b|吃|素|荤"),
        ("allergy", r"\ballerg\w+\b|过敏"),
        ("taste", r"\b(?:like|love|enjoy|hate|dislike|stand|favou?rite)\b|喜欢|爱|讨厌|受不了"),
        ("drink coffee tea", r"\b(?:drink|coffee|tea)\b|喝|咖啡|茶"),
        ("food dish cuisine", r"\b(?:eat|food|dish|cuisine)\b|吃|菜|食物|口味"),
        ("order", r"\border(?:s|ed)?\b|\b(?:shipping|logistics|delivery|payment)\b|订单|物流|快递|付款|支付"),
        ("manager", r"\b(?:manager|boss|supervisor|report to)\b|经理|领导|老板|主管|上级|汇报"),
        ("seat desk", r"\b(?:desk|seat|sit)\b|工位|座位|位子|坐在"),
        ("working_hours working_days working_hour hours schedule", r"\b(?:hours?|work|start|days?)\b|上班|工作|下班|点"),
        ("pronouns pronoun", r"\b(?:pronouns?|she|he|they)\b|代词|称呼"),
        ("editor ide", r"\b(?:editor|ide|vim|emacs|code)\b|编辑器"),
        ("timezone", r"\b(?:time ?zone|utc|gmt)\b|时区"),
        ("pet", r"\b(?:cat|dog|pet)s?\b|猫|狗|宠物"),
        ("hobby sport", r"\b(?:hobb(?:y|ies)|play|run|swim|hik\w+)\b|爱好|运动|跑步|游泳|打球|爬山"),
        ("deploy release meeting standup", r"\b(?:deploy|release|meet|stand-?up)\w*\b|部署|发布|上线|会议|开会|站会"),
    )
)
"""What is said of common attributes, in both languages: a key is believed where the words of its attribute, its object or its memory are there."""
_SINGLE: Final = frozenset(
    """
    name nickname birthday age city home home_city residence location timezone employer company job role occupation title marital_status reply_language
    language reply_length reply_style reply_format favourite preferred manager working_hour seat currency unit phone email team workplace pronoun
    origin native_language date_format time_format editor browser locker parking
    """.split()  # noqa: SIM905 - a list of thirty literals reads worse
)
"""Attributes of which a person has one."""
_CHANGE: Final = re.compile(
    r"\b(?:now|instead|changed|switch(?:ed)?|moved|new|rather than|from now on)\b|改成?|换成?|改为|现在|搬|变成|新的?|以后|而不是", re.IGNORECASE
)
_WORDLESS: Final = frozenset({"like", "dislike", "en", "zh", "short", "long", "brief", "yes", "no"})


class Place(NamedTuple):
    """Where a quote stands."""

    quote: str
    """As it is written in the message."""
    clause: str
    """The sentence around it."""
    asks: bool = False
    """The sentence is a question."""


def placed(quote: str, text: str) -> Place | None:
    """Where `quote` stands in the person's own words of `text`, whatever the spaces; None when it does not stand there whole."""
    pieces = unicodedata.normalize("NFC", quote).split()
    if not pieces or sum(map(len, pieces)) < 2:
        return None
    own = own_words(text)
    found = re.search(r"\s*".join(r"\s+".join(map(re.escape, [piece])) for piece in pieces), own)
    if found is None or (own[found.start() - 1 : found.start()].isalnum() and _joined(own[found.start() - 1], found[0][0])):
        return None
    if _joined(found[0][-1], own[found.end() : found.end() + 1]):
        return None
    start = max((each.end() for each in _BREAKS.finditer(own, 0, found.start() + 1) if each.end() <= found.start()), default=0)
    after = _BREAKS.search(own, found.end())
    end = after.start() if after else len(own)
    return Place(found[0], own[start:end].strip(), own[end : end + 1] in {"?", "？"})


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word of a language with spaces."""
    return bool(left and right) and left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


_DOUBTED: Final = re.compile(
    r"\b(?:doubt\w*|false|untrue|not true|nobody|no one|den(?:y|ies|ied)|pretend\w*|imagin\w*|wish\w*|hop(?:e|es|ing)|suppos\w*|suspect\w*)\b"
    r"|\b(?:unless|if|whether|claim\w*|rumou?r\w*)\b"
    r"|\b(?:was|were|used to be|had been|he|she|they|[a-z]+ (?:says?|said|thinks?|believes?) (?:that )?i(?:'m| am)?)\s*$"
    r"|怀疑|假的|不是真的|没人|没有人|否认|假装|想象|希望|如果|要是|听说|据说|以为|谣言",
    re.IGNORECASE,
)
"""Before what is quoted it takes back that it is so, or that it still is, or says that it is somebody else's word."""
_COMPARED: Final = re.compile(r"\b(?:more|less|better|worse|rather|other) than\b|\b(?:over|before|after)\b|\bfrom\b.+\bto\b|比|胜过|超过|不如", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z0-9']{3,}|[\u4e00-\u9fff]{2}")


def own_sense(text: str, place: Place) -> bool:
    """Whether `text` keeps the sense of what was said: what it affirms and denies, likes and dislikes, and its condition."""
    near = _own_part(place)
    if _DOUBTED.search(near.partition(place.quote)[0]) or not _same_order(text, place.quote):
        return False
    if negations(text) != negations(place.quote) or negations(place.quote) < _denied_before(place):
        return False
    if stance(text) != stance(place.quote) and (stance(place.quote) or stance(text)):
        return False
    return over(text) == over(near) or over(text) == over(place.quote)


def _same_order(text: str, quote: str) -> bool:
    """What is compared is told in the order in which it was said: "tea more than coffee" is not "coffee more than tea"."""
    if _COMPARED.search(quote) is None:
        return True
    plain = quote.casefold()
    places = [plain.find(word) for word in _WORD.findall(text.casefold()) if word in plain]
    return places == sorted(places)


def _own_part(place: Place) -> str:
    """The part of the sentence, between commas, in which the quote begins."""
    at = place.clause.find(place.quote)
    start = max((each.end() for each in _COMMA.finditer(place.clause, 0, max(at, 0))), default=0)
    end = _COMMA.search(place.clause, max(at, 0) + len(place.quote))
    return place.clause[start : end.start() if end else len(place.clause)]


def _denied_before(place: Place) -> int:
    return negations(_own_part(place)) if place.quote in place.clause else negations(place.clause)


def conditional(place: Place) -> bool:
    """Whether what was said holds under a condition only."""
    return _CONDITION.search(place.clause) is not None


def same_words(text: str, place: Place, before: str) -> bool:
    """Whether every word of `text` that carries something was said: most in the quote, the rest at most in what came before it."""
    said, earlier = _words(place.quote), _words(before)
    own = _words(text) - _FRAMES
    if not own or not own <= said | earlier:
        return False
    if len(own & said) < LEAST_OWN * len(own) or not marks(text) <= marks(place.quote):
        return False
    if not {each.casefold() for each in _NAME.findall(text)} - STOP_WORDS <= {each.casefold() for each in re.findall(r"[\w'-]+", place.quote)}:
        return False
    return whole_identifiers(text) <= whole_identifiers(place.quote) and _in_order(text, place.quote) and bool(core(text) or own)


def _words(text: str) -> frozenset[str]:
    """Terms of words, and single Chinese characters without those that only join others."""
    return frozenset(term for term in terms(text) if not (is_han(term) and len(term) > 1)) - _HAN_FRAMES


def _in_order(text: str, quote: str) -> bool:
    pairs = [term for term in terms(text) if is_han(term) and len(term) > 1]
    held = frozenset(terms(quote))
    return not pairs or sum(pair in held for pair in pairs) >= LEAST_PAIRS * len(pairs)


def same_language(text: str, quote: str) -> bool:
    """Whether a text is in the language of the words it was read from: nothing is translated."""
    return is_han(text) == is_han(quote)


def anothers(text: str, place: Place) -> bool:
    """Whether it is about somebody else, or said by somebody else."""
    theirs = _OTHERS.search(text.strip()) or _OTHERS.search(_own_part(place).strip())
    return bool((theirs and not (work_tie(text) and work_tie(_own_part(place)))) or _HEARSAY.search(place.clause))


def pretended(place: Place) -> bool:
    """Whether it was asked, imagined, or part of something to be written or translated, and not stated."""
    return place.asks or _PRETENDED.search(place.clause) is not None


def orders_us(text: str, place: Place) -> bool:
    """Whether it would give itself rights or lift rules: no memory can do either."""
    return bool(_ORDERS_US.search(text) or _ORDERS_US.search(place.clause))


def fits_key(text: str, key: str, known: Memory) -> bool:
    """Whether `text` can be about the subject of a known memory: by the words of the attribute, of its object, or of the memory itself."""
    attribute, _, thing = subject(key)[0].partition(":")
    about = frozenset(terms(text))
    if thing and frozenset(terms(thing.replace("_", " "))) & about:
        return True
    if (core(text) & core(known.text)) - _HAN_FRAMES and is_han(text) == is_han(known.text):
        return True
    named = frozenset({attribute, *attribute.split("_"), *(thing.split("_") if attribute in {"favourite", "preferred"} else ())})
    if frozenset(terms(attribute.replace("_", " "))) & about and not thing:
        return True
    if thing and attribute not in {"favourite", "preferred"} and is_han(text) == is_han(known.text):
        return False  # the object's own word would be there
    return any(named & keys and pattern.search(text) for keys, pattern in _ATTRIBUTES)


def fits_value(text: str, value: str) -> bool:
    """Whether a value is in the words of the text, as far as they are of one language."""
    wanted = frozenset(terms(value))
    if plain(value) in _WORDLESS or is_han(text) != is_han(value):
        return True
    return bool(wanted) and wanted <= frozenset(terms(text))


def has_one_value(key: str, place: Place, *, agreed: bool = False) -> bool:
    """Whether it can be believed that a key has one value: by what it is about, or because the person speaks of a change."""
    attribute = subject(key)[0].partition(":")[0]
    return agreed or attribute in _SINGLE or _CHANGE.search(place.clause) is not None


def holds_secret(text: str) -> bool:
    """Whether a text holds something secret, also where it stands without a space beside Chinese."""
    return secret(text) or secret(_SEAM.sub(" ", text))


def words_key(text: str) -> str:
    """A key of the text's own words, for what belongs under no known one."""
    return "_".join(sorted(term for term in core(text) if not is_han(term) or len(term) > 1)[:4]) or "other"
