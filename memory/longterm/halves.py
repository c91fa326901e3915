"""Clauses that hold two statements, or say one by its opposite: "I drink tea, not coffee", "我以前住在巴黎，现在住罗马", "I love tea but hate coffee".

The patterns of the rules know one statement a clause. Here a clause is put as the plain statements it comes to, each in the person's own words with
the subject it lost: "I drink tea" and "I don't drink coffee". What was so and is so no more gives way to what is: "I used to live in Paris, now
Rome" is "I live in Rome". "Now it is green" is put with the sentence before it, whose value it changes (`changed`). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple


class Half(NamedTuple):
    """One plain statement of a clause."""

    read_as: str
    """For the rules."""
    text: str
    """To be kept."""


_FLAGS: Final = re.IGNORECASE
_TAIL: Final = r"(?:[,\s]+(?:any ?more|any longer|though|actually|please|thanks|these days|nowadays|at all))*"
_PLUS: Final = r"(?:like|love|enjoy|adore|prefer|eat|drink|use|speak)"
_MINUS: Final = r"(?:hate|dislike|despise|detest|loathe|can't stand|cannot stand|can't bear|(?:don't|do not|never|can't|cannot) (?:really )?(?:like|love|enjoy|eat|drink|use|speak))"
_ADVERBS: Final = r"(?:(?:really|absolutely|quite|just|also|do|only|totally|usually|generally|always|kind of|still) )*"
_VERBS: Final = rf"{_ADVERBS}(?:{_MINUS}|{_PLUS})\b"
_LEAD: Final = r"(?:(?:and|but|so|also|well|actually|btw|by the way|fyi|remember(?: that)?|note that|please|no|yes|hi|hey|in general)[,:]?\s+)*"

_TWO: Final = re.compile(rf"^(?P<lead>{_LEAD})i {_VERBS}", _FLAGS)
_NEXT: Final = re.compile(rf"\s*(?:,\s*|\s)(?:but|and|yet|though|while|whereas)?\s*(?:i\s+)?(?=(?<=\s){_VERBS})", _FLAGS)
_NOT: Final = re.compile(
    rf"^(?P<lead>{_LEAD})i (?P<adverbs>{_ADVERBS})(?P<verb>{_PLUS}) (?P<a>.+?)(?:,| and| but|, and|, but) not (?P<b>[^,]+?){_TAIL}$", _FLAGS
)
_NOT_BUT: Final = re.compile(rf"^(?P<lead>{_LEAD})i (?P<verb>{_PLUS}) not (?P<b>[^,]+?),? but (?P<a>[^,]+?){_TAIL}$", _FLAGS)
_DONT_BUT: Final = re.compile(rf"^(?P<lead>{_LEAD})i (?:don't|do not) (?P<verb>{_PLUS}) (?P<b>[^,]+?),? (?:but|only) (?:rather )?(?P<a>[^,]+?){_TAIL}$", _FLAGS)
_RATHER: Final = re.compile(
    r"^(?P<a>.*\b(?:i|my|me|call|answer|reply|use)\b.+?),?\s+(?:rather than|instead of|over|as opposed to|(?:more|better) than) (?P<b>[^,]{2,60})$", _FLAGS
)
_PREFERS: Final = re.compile(r"^(?P<a>.*\bprefer .+?) to (?P<b>[^,]{2,40})$", _FLAGS)
_ALLERGIC_NOT: Final = re.compile(rf"^{_LEAD}i(?:'m| am) allergic to (?P<a>.+?)(?:,| but|, but|,? and) not (?:to )?(?P<b>[^,]+?){_TAIL}$", _FLAGS)
_NEITHER: Final = re.compile(rf"^{_LEAD}i (?P<verb>{_PLUS}) neither (?P<a>.+?) nor (?P<b>[^,]+?){_TAIL}$", _FLAGS)
_NOT_AFTER: Final = re.compile(r"^(?P<a>.*\b(?:i'm|i am|i|my|me|call|answer|reply|use)\b.{2,}?)(?:,| and| but)\s*(?:and |but )?not (?P<b>[^,]{2,60})$", _FLAGS)
_IS_NOT: Final = re.compile(
    r"^(?P<a>.*?\bmy [\w -]{2,30}?)(?: (?P<is>is|are) not|(?: (?P<isnt>isn't|aren't))) (?P<b>[^,]+?)(?:,? but|,? (?:it's|it is|they're|they are)) (?P<v>[^,]+)$",
    _FLAGS,
)
_LIVE_NOT: Final = re.compile(r"^(?P<a>.*?\bi (?:live|work|sit)) not (?P<p>in|at|for|on) [^,]+?,? but (?:in |at |for |on )?(?P<v>[^,]+)$", _FLAGS)
_USED: Final = re.compile(
    rf"^(?P<lead>{_LEAD})i used to (?P<verb>[\w']+)(?P<rest>\b.+?)(?:,|\s+-+)? ?(?:\band |\bbut )?(?:(?P<gone>(?:not|no longer)(?: any ?more| now)?|now i don't(?: any ?more)?|i don't any ?more)|(?:these days|now|nowadays)(?:,)? (?P<now>.+?)|(?P<now2>i(?:'m| am)? (?:now )?.+?) (?:now|these days|nowadays))$",
    _FLAGS,
)
_USED_ALONE: Final = re.compile(rf"^(?P<lead>{_LEAD})i used to (?P<verb>[\w']+)(?P<rest>\b.+)$", _FLAGS)
_WAS: Final = re.compile(
    r"^(?P<a>.*?\bmy [\w -]{2,40}?) (?:used to be|was) (?P<b>[^,]+?)(?:,| -+)? ?(?:and |but )?(?:now|these days|currently)[,]? ?(?:it's|it is|they're|they are|is|i've changed it to)? ?(?P<v>[^,]+)$"
    r"|^(?P<a2>.*?\bmy [\w -]{2,40}?) (?:used to be|was) (?P<b2>[^,]+?)(?:,| -+)? ?(?:and |but )?(?:it's|it is) (?:now )?(?P<v2>[^,]+?)(?: now)?$",
    _FLAGS,
)
_PREPOSITION: Final = re.compile(r"^ (?P<p>in|at|for|on|as an?|as|near) ", _FLAGS)

_ASKED: Final = re.compile(r"^(?P<when>(?:from now on|in (?:the )?future|going forward),? )?(?:can|could|would|will) you (?:please )?(?P<what>.+)$", _FLAGS)
_FOR_GOOD: Final = re.compile(
    r"\b(?:from now on|always|in (?:the )?future|going forward|never|by default)\b|以后|今后|从现在(?:起|开始)|从今以后|每次|一直|都", _FLAGS
)
_ASKED_ZH: Final = re.compile(
    r"^(?P<when>以后|今后|从现在(?:起|开始)|从今以后|每次)[，, ]*(?:你|咱们)?(?:都)?(?:能不能|可不可以|能否|可否|能|可以)(?:都|请)?(?P<what>.+?)(?:吗|么|好吗|好不好|可以吗|行吗)?$"
)

_ADVERBS_ZH: Final = "(?:真的?|很|最|特别|非常|超级?|比较|也|还|都|只|又|就|挺|蛮|更|平时|一般|一直)*"
_MINUS_ZH: Final = "(?:讨厌|受不了|反感|不太?喜欢|不爱(?:吃|喝)?|不吃|不喝|不能吃|不能喝|从不吃|从不喝|不用|不会说)"
_PLUS_ZH: Final = "(?:喜欢|爱(?:吃|喝|看|听|玩)?|偏爱|吃|喝)"
_LEAD_ZH: Final = "(?:(?:而且|并且|但是?|不过(?!敏)|另外|还有|其实|对了|顺便说一下|记住|记得|请)[，,：: ]*)*"
_TWO_ZH: Final = re.compile(rf"^(?P<lead>{_LEAD_ZH})我{_ADVERBS_ZH}(?:{_MINUS_ZH}|{_PLUS_ZH})[^，,。不]")
_NEXT_ZH: Final = re.compile(
    rf"[，, ]*(?:(?:但是?|可是|却|而|不过(?!敏)|然而)[，, ]*我?|(?<=[，, ]))(?={_ADVERBS_ZH}(?:{_MINUS_ZH}|{_PLUS_ZH}))|(?<=[^我，, 的])(?={_MINUS_ZH}|只[吃喝]|改[吃喝])"
)
_IS_NOT_ZH: Final = re.compile(r"^(?P<a>.*?我.*?)(?:并)?不是(?P<b>[^，,]{1,16}?)[，, ]*(?:而是|是)(?P<v>[^，,]+)$")
_AFTER_ZH: Final = re.compile(r"^(?P<a>.*?我.+?)[，, ]*(?:而不是|而非|[，,]\s*(?:并)?(?:不是|不叫|不在|不住|不住在|不用|别用|不要用))(?P<b>[^，,]{1,16})$")
_BEFORE_ZH: Final = re.compile(r"^(?:请)?(?:别|不要)(?P<verb>用|叫我)(?P<b>[^，,]{1,10})[，, ]+(?P<a>(?:用|改用|请用|叫我|改叫)[^，,]+)$")
_THAN_ZH: Final = re.compile(r"^(?P<lead>.*?)(?:比起|相比|相较于)(?P<b>[^，,]{1,12}?)(?:相比)?[，, ]*(?P<a>我(?:还是)?更?(?:喜欢|爱)[^，,]+)$")
_PAST_ZH: Final = "(?:以前|之前|原来|过去|曾经|从前|本来|原先)"
_USED_ZH: Final = re.compile(
    rf"^(?=.*{_PAST_ZH})(?:{_PAST_ZH})?(?P<me>我(?:的)?)(?P<of>[^，,]*?)(?:{_PAST_ZH})?(?P<was>[^，,]+?)[，,；; ]+(?:但是?|不过)?(?:现在|如今|目前|后来|去年|今年|上个?月|最近|已经)(?:已经)?(?P<now>.+)$"
)
_USED_ALONE_ZH: Final = re.compile(rf"^(?:{_PAST_ZH}我|我{_PAST_ZH})(?:是)?(?P<rest>(?:在|住|喜欢|爱|讨厌|吃|喝|对|用)[^，,]+)$")
_VERB_ZH: Final = re.compile(r"^(?P<verb>是|住在|住|在|用的?是?|喜欢|爱|讨厌|叫|吃|喝|负责)(?P<o>.*)$")

_BUT_ZH: Final = re.compile(r"[，, ]+(?:但是?|不过(?!敏)|可是|然而|而)[，, ]*")
_USE_NOT_ZH: Final = re.compile(r"^(?P<a>.*?(?:用|说|讲|写)(?:成)?[^，,]{1,8}?)[，, ]*(?:不要|别|不)(?:再)?(?:用|说|讲|写)(?P<b>[^，,]{1,8})$")

_NOW_IT: Final = re.compile(
    r"^(?:(?:and|but|so|well|ok|actually|oh|hey|correction|update)[,:]?\s+)*(?:(?:now|these days|by now|lately|nowadays|currently)[,]? (?:it's|it is|that's|that is)|(?:it's|it is)(?: now| actually now)|"
    r"(?:i(?:'ve)? )?(?:changed|switched) (?:it|that) to|make (?:it|that)|it(?:'s| has)? changed to) (?P<v>[\w '&/+:.-]{2,40}?)(?: now| instead| these days| please)*$"
    r"|^(?:it's|it is) (?P<v2>[\w '&/+:.-]{2,40}?) (?:now|these days|instead)$",
    _FLAGS,
)
_NOW_IT_ZH: Final = re.compile(
    r"^(?:不过|但是?|对了|更新一下|哦|嗯)*[，, ]*(?:(?:它|那个)?(?:现在|如今|目前|后来|已经)+(?:已经)?(?:是|改成|改为|换成|变成|改|变)了?|(?:已经)?(?:改成|改为|换成|变成)了?)(?P<v>[^，,。]{1,16}?)了?$"
)
_NO_VALUE: Final = re.compile(
    r"^(?:\w+ing\b|late|early|too\b|ok\b|okay|fine|good|better|worse|done|broken|fixed|time\b|not\b|so\b|very\b|clear|ready|empty|full|gone|\d{1,2}(?::\d\d)?(?: ?[ap]m)?$|the (?:time|problem|same)|"
    r"your|my turn|up\b|over\b|possible|safe|quiet|a (?:good|bad|mess|problem)|no\b|yes\b|a question|me\b|you\b|what|why|how|short|long|like|as\b)|时间|几点|\d点|上午|下午|晚上|问题|什么|怎么|不|没|好的?$|可以|坏|这样|那样",
    _FLAGS,
)
_MY_IS_NOT: Final = re.compile(r"^(?P<a>.*?\bmy [\w -]{2,30}?) (?:isn't|is not|ain't) [^,]{2,40}$", _FLAGS)
_DONT_CALL: Final = re.compile(r"^\W*(?:please )?(?:don't|do not|stop) call(?:ing)? me\b", _FLAGS)
_MY_IS: Final = re.compile(
    r"^(?P<head>.*?\b(?:my|i)\b.{2,50}?(?:\b(?:is|are)|'s)(?: now| actually| currently)? )(?P<v>[^,]{1,40}?)(?P<tail>[\s.!]*)$|^(?P<head2>.*?我.{1,20}?(?:是|为|改成了?|换成了?|变成了?))(?P<v2>[^，,]{1,20}?)(?P<tail2>了?)$",
    _FLAGS,
)


def halves(clause: str) -> tuple[Half, ...]:
    """The plain statements a clause comes to; the clause itself where it is one already."""
    said = clause.strip(" ,，.。;；!！")
    found = _english(said) or _chinese(said)
    return found or (Half(clause, clause),)


def is_one(sentence: str) -> bool:
    """Whether a sentence is one statement though it looks like two: "I used to live in Oslo, but I'm in Bergen these days"."""
    return len(re.findall(r",|\bbut\b|\band\b", sentence, _FLAGS)) <= 2 and _USED.match(sentence.strip(" ,.;!")) is not None


def asks_for_good(sentence: str) -> bool:
    """Whether a question is a wish for every time to come: "can you answer in English from now on?"."""
    said = sentence.strip(" ,，.。;；!！?？")
    return _FOR_GOOD.search(said) is not None and (_ASKED.match(said) or _ASKED_ZH.match(said)) is not None


def _english(said: str) -> tuple[Half, ...]:
    if _FOR_GOOD.search(said) and (match := _ASKED.match(said)):
        return (Half(f"{match['when'] or ''}{match['what']}", said),)
    for pattern, put in _PUT:
        if match := pattern.match(said):
            return put(match)
    parts = _parts(said, _TWO, _NEXT)
    return tuple(half for part in parts for half in _whole(f"I {part}")) if len(parts) > 1 else ()


def _both(match: re.Match[str]) -> tuple[Half, ...]:
    """What is so and what is not, of "I drink tea, not coffee"."""
    return (*_whole(f"I {match['verb']} {match['a']}"), *_whole(f"I don't {_plain_verb(match['verb'])} {match['b']}"))


def _only_first(match: re.Match[str]) -> tuple[Half, ...]:
    return (Half(match["a"], match[0]),)


def _whole(text: str) -> tuple[Half, ...]:
    return (Half(text, text),)


def _plain_verb(verb: str) -> str:
    return {"love": "like", "adore": "like", "prefer": "like"}.get(verb.casefold(), verb.casefold())


def _no_longer(verb: str, rest: str) -> str:
    return f"I'm no longer{rest}" if verb.casefold() == "be" else f"I no longer {verb}{rest}"


def _used(match: re.Match[str]) -> tuple[Half, ...]:
    """What holds now of "I used to live in Paris, now Rome", with the verb it lost."""
    verb, rest = match["verb"], match["rest"]
    now = (match["now"] or match["now2"] or "").strip()
    if match["gone"] or re.fullmatch(r"i (?:don't|do not|no longer)(?: any ?more)?", now, _FLAGS):
        return (Half(_no_longer(verb, rest), match[0]),)
    now = re.sub(r"\b(?:it|them)$", rest.strip(), now) if re.search(r"\b(?:hate|love|like|dislike|enjoy|stand)\b", now, _FLAGS) else now
    if re.match(r"i(?:'m|'ve)?\b", now, _FLAGS):
        here = re.match(r"i(?:'m| am) (?:in|at) (?P<v>.+)$", now, _FLAGS)
        return _whole(f"I {verb} {now[here.start('v') - 3 :]}" if here and verb.casefold() in {"live", "work", "sit"} else now)
    if re.match(r"(?:in|at|for|as|on|an?|hate|love|like|enjoy|prefer)\b", now, _FLAGS):
        lead = "I'm" if verb.casefold() == "be" else "I" if re.match(r"(?:hate|love|like|enjoy|prefer)\b", now, _FLAGS) else f"I {verb}"
        return _whole(f"{lead} {now}")
    joined = _PREPOSITION.match(rest)
    return _whole(f"I {verb} {joined['p']} {now}" if joined else f"I'm {now}" if verb.casefold() == "be" else f"I {verb} {now}")


def _parts(said: str, first: re.Pattern[str], following: re.Pattern[str]) -> list[str]:
    """A clause of several verbs with one subject, taken apart, each part without its subject."""
    head = first.match(said)
    if head is None:
        return []
    lead = len(head["lead"])
    start = lead + (2 if said[lead].casefold() == "i" else 1)
    found, at = [], start
    for match in following.finditer(said, head.end()):
        if match.start() > at:
            found.append(said[at : match.start()])
            at = match.end()
    found.append(said[at:])
    return [part.strip(" ,，、") for part in found if part.strip(" ,，、")]


def _chinese(said: str) -> tuple[Half, ...]:
    for pattern, put in _PUT_ZH:
        if match := pattern.match(said):
            return put(match)
    parts = _parts(said, _TWO_ZH, _NEXT_ZH)
    if len(parts) > 1:
        return tuple(half for part in parts for half in _whole(f"我{part}"))
    pieces = [piece.strip("，, ") for piece in _BUT_ZH.split(said)]
    if len(pieces) > 1 and re.match(rf"{_LEAD_ZH}我", pieces[0]) and all(pieces):
        return tuple(half for piece in pieces for half in _whole(piece if "我" in piece else f"我{piece}"))
    return ()


def _not_but(match: re.Match[str]) -> tuple[Half, ...]:
    """What is so of "我喜欢的不是咖啡而是茶" and "我最喜欢的颜色不是蓝色，而是绿色"."""
    liked = re.fullmatch(r"(?P<me>.*?我(?:最|更|很|平时)*)(?P<verb>喜欢|爱)(?:吃|喝)?的", match["a"])
    if liked is not None:
        return (*_whole(f"{liked['me']}{liked['verb']}{match['v']}"), *_whole(f"我不喜欢{match['b']}"))
    lives = re.fullmatch(r"(?P<me>.*?我)(?P<verb>住|喝|吃|用)的?", match["a"])
    return _whole(f"{lives['me']}{lives['verb']}{match['v']}") if lives is not None else _whole(f"{match['a'].rstrip('，, ')}是{match['v']}")


def _used_zh(match: re.Match[str]) -> tuple[Half, ...]:
    """What holds now of "我以前住在巴黎，现在住罗马", with the subject and verb it lost."""
    now = match["now"].strip("了 ，,")
    was = re.sub(_PAST_ZH, "", match["of"] + match["was"])
    held = re.search(r"(?:是|叫)(?P<b>[^，,]+)$", was)
    if held and re.match(r"是|改成|换成|变成|改为", now):
        return _whole(f"{match['me']}{was[: held.start()]}是{re.sub(r'^(?:是|改成了?|换成了?|变成了?|改为)', '', now)}")
    verb = _VERB_ZH.match(was)
    denied = re.match(r"(?:已经|再也)?(?:不再|不|没有?)(?:会|是)?(?P<rest>.{2,})$", now)
    if denied and denied["rest"] in was and (was.startswith("对") or was == denied["rest"] or not verb):
        return (Half(f"我不再{was}", match[0]),)
    if verb and re.fullmatch(r"(?:不|不再|讨厌|不喜欢|不爱|不吃|不喝|不住|没有?)(?:喜欢|爱|吃|喝|这样|那儿|那里)?", now):
        return (Half(f"我讨厌{verb['o']}" if now == "讨厌" else f"我不再{was}", match[0]),)
    if now.startswith("我"):
        return _whole(now)
    if verb and verb["verb"] in {"住在", "住"} and not re.match(r"住|搬|定居|不", now):
        return _whole(f"我住在{now.removeprefix('在')}")
    if verb and not re.match(r"[是住在用喜爱讨叫吃喝负搬换改加入去做不到调转]", now):
        return _whole(f"我{verb['verb']}{now}")
    return _whole(f"我{now}")


_PUT: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[Half, ...]]], ...]] = (
    (_USED, _used),
    (_WAS, lambda match: _whole(f"{match['a'] or match['a2']} is {match['v'] or match['v2']}")),
    (_IS_NOT, lambda match: _whole(f"{match['a']} {match['is'] or 'is'} {match['v']}")),
    (_LIVE_NOT, lambda match: _whole(f"{match['a']} {match['p']} {match['v']}")),
    (_ALLERGIC_NOT, lambda match: (*_whole(f"I'm allergic to {match['a']}"), *_whole(f"I'm not allergic to {match['b']}"))),
    (_NEITHER, lambda match: (Half(f"I don't {_plain_verb(match['verb'])} {match['a']} or {match['b']}", match[0]),)),
    (_NOT, _both),
    (_NOT_BUT, _both),
    (_DONT_BUT, _both),
    (_RATHER, _only_first),
    (_PREFERS, _only_first),
    (_NOT_AFTER, _only_first),
    (_USED_ALONE, lambda match: (Half(_no_longer(match["verb"], match["rest"]), match[0]),)),
)
"""What an English clause of each form comes to; the first that fits."""


_PUT_ZH: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[Half, ...]]], ...]] = (
    (_ASKED_ZH, lambda match: (Half(f"{match['when']}{match['what']}", match[0]),)),
    (_USE_NOT_ZH, _only_first),
    (_BEFORE_ZH, _only_first),
    (_THAN_ZH, _only_first),
    (_IS_NOT_ZH, _not_but),
    (_USED_ZH, _used_zh),
    (_AFTER_ZH, lambda match: (Half(match["a"].rstrip("，, "), match[0]),)),
    (_USED_ALONE_ZH, lambda match: (Half(f"我不再{match['rest']}", match[0]),)),
)
"""The same for Chinese."""


def changed(clause: str, before: str) -> str | None:
    """The sentence `before` with the value that "now it is …" gives it; None when the clause is no such thing or `before` has no value to change."""
    said = clause.strip(" ,，.。;；!！")
    denied, instead = _MY_IS_NOT.match(before.strip(" ,，.。;；!！")), re.match(r"(?:it's|it is) (?P<v>[^,]{2,40})$", said, _FLAGS)
    if denied and instead:
        return f"{denied['a']} is {instead['v']}"
    if instead and _DONT_CALL.match(before):
        return f"call me {instead['v']}"
    match = _NOW_IT.match(said) or _NOW_IT_ZH.match(said)
    if match is None:
        return None
    value = next(each for each in match.groups() if each).strip()
    known = _MY_IS.match(before.strip(" ,，.。;；!！"))
    if known is None or _NO_VALUE.search(value):
        return None
    return f"{known['head'] or known['head2']}{value}"
