"""Requests about memory itself, as the demo model understands them, in English and Chinese.

What the person asked to be kept or forgotten was seen to before the model was asked; the program's note says how it went, and the demo model
only confirms that. What the rules there did not take for a wish, it does with the tools `remember`, `recall` and `forget`. It also hears
statements ("我对花生过敏") and requests for advice, to which what is remembered has something to add.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from playground.demo_note import ProgramNote
from playground.demo_patterns import SPLIT, rx
from playground.demo_transcript import Said, Transcript
from playground.demo_wish import TAKEN, Sheet, Wish
from playground.demo_words import Language, language_of

ADVICE: Final = "advice"
"""Not a tool: what is wished for is advice, which needs what is remembered and perhaps the weather."""
RECALL: Final = "recall"
REMEMBER: Final = "remember"
FORGET: Final = "forget"

_KEPT: Final = rx(
    r"\b(?:remember|memori[sz]e|forget|keep (?:\w+ )?in mind|bear in mind|for the record|for future reference)\b|\b(?:make a |take )?note\b"
    r"|\b(?:save|store|keep|add) (?:this|that|it|to)\b|记住|记得|记下|记一下|记着|记好|牢记|存一下|备注|注意一下|记在|别忘|不要忘"
)
_GONE: Final = rx(r"\b(?:forget|unremember|remember|delete|erase|remove|wipe|drop|clear|purge)\b|忘掉|忘了|忘记|删|清空|清除|清掉|抹|去掉|不?要?别?再?记")
"""Where a clause may ask to keep or to forget something; only looked for when the program's note says that one did."""
_TO_FORGET: Final = frozenset({"forgotten", "forgetting", "unclear", "nothing", "everything"})
_KEEP: Final = rx(
    r"(?<!\byou )(?<!\bi )(?<!\bto )(?<!n't )(?<!n’t )\b(?:remember|memori[sz]e|keep in mind|bear in mind|make a (?:mental )?note|take (?:a )?note|note down)\b"
    r"(?!\s+(?:to|when|how|where|what|why|who|if|me|us|him|her|them|the (?:time|day))\b)(?:\s+(?:that|this|it)\b|\s+of (?:that|this|it)\b|\s*[:,，])*"
    r"|\b(?:save|store|keep) (?:this|that|it) (?:in|to|for) (?:your |my )?(?:memory|mind|later)\b|(?<!(?<![帮给替])我)"
    r"(?:记住|记下来?|记一下|牢记|别忘了?|不要忘了?)(?!的|没|了?吗)[，,：:]*"
)
_UNKEEP: Final = rx(
    r"(?<!don't )(?<!don’t )(?<!not )(?<!never )(?<!\bi )\b(?:forget|unremember)\s+(?!it\b|to\b|me\b|where\b|how\b|why\b|when\b)"
    r"(?:about |that |what i (?:said|told you)(?: about)? |the (?:memory|memories|fact|thing|part|note)(?: (?:about|that|of|with))? )*"
    r"|\b(?:delete|erase|remove|drop|clear)\s+(?:(?:the|that|my|your|any|all) )*(?:memor(?:y|ies)|what you (?:know|remember))(?: (?:about|of|on|that|with))?\s*"
    r"|(?<!我)(?:忘掉|忘记|忘了)(?!带|密码)(?:关于|有关|那条|我说的)*|(?:删掉?|删除|清除)(?:关于|有关|那条|我的?|你的?)*(?=[^，。？！]{0,12}记忆)"
    r"|把?(?:那条|这条)?(?:关于|有关)(?=[^，。？！]{1,20}(?:删|忘))|(?:不要再?|别再?|不用再?)记(?:着|得|住)(?:关于)?"
)
_EDGES: Final = " \t,，.。!！:：;；~…\"“”'的"
_TAIL: Final = rx(
    r"(?:[\s,，]*(?:please|pls|thanks|thank you|for me|anymore|any more|thing|memory"
    r"|的?(?:删了|删掉|忘了|忘掉)|的?记忆|的?事情?|这件事|那件事|吧|了|好吗|谢谢))+$"
)
_POLITE: Final = rx(
    r"^(?:[\s,，:：]+|please\b|(?:can|could|would) you\b|hey\b|steward\b|(?:能不能|可以|可不可以)(?=帮|给|请)|请你?|麻烦你?|(?:帮|给|替)我|帮忙)+"
)
_ALL_OF_ME: Final = rx(
    r"\bwhat (?:do|have|did) you (?:(?:still|already|really|actually|all) )*(?:know|remember(?:ed)?|learn(?:ed|t)?|stored?|saved?|kept"
    r"|noted?)(?: so far)? (?:about|of|on|from) me\b"
    r"|\bwhat do you remember(?=\s*(?:[?.!]|$))|\b(?:show|list|tell|give)(?: me)?(?: all)?(?: of)? (?:my|your) memories(?: (?:about|of) me)?\b|\bmy memories\b"
    r"|\bdo you (?:know|remember) (?:anything|something|a thing) (?:about|of) me\b|\bdo you remember me\b"
    r"|(?:关于我[，,]?)?你(?:还|都|到底|现在)*(?:记得|知道|记住了?|记了|记下了?|了解)(?:关于|有关)?我(?:的)?(?:些|哪些|一些)?(?:什么|哪些|多少|啥)(?:事情?|信息|内容)?"
    r"|(?:关于我|对我)[，,]?你?(?:还|都)*(?:知道|记得|了解|记住了?|记了)(?:些|一些)?(?:什么|多少|哪些|啥)|我的(?:所有|全部)?记忆(?:有哪些)?|你(?:还)?(?:了解|记得)我(?:吗|么)"
)
_OF_MINE: Final = rx(
    r"\bdo you (?:still )?(?:remember|know) (?!my name\b|me\b|who i\b|what i (?:just )?(?:asked|said|wrote)\b)(?:what|which|where|that|if|whether|my"
    r"|how|when|about my|anything about my)\b[^.?!\n]{1,120}"
    r"|\bwhat do you (?:know|remember) about (?:my\b|i\b)[^.?!\n]{1,80}|\bwhat did i (?:once )?tell you(?: about| of)?\b[^.?!\n]{0,80}"
    r"|\b(?:what|am|which \w+) (?:am )?i (?:still )?(?:allergic|sensitive) to\b[^.?!\n]{0,60}|\bwhat (?:kind of \w+ )?(?:do|don't|can't) i (?:like"
    r"|love|hate|dislike|prefer|eat|drink)\b[^.?!\n]{0,60}"
    r"|\bwhere do i (?:live|work)\b|\bwhat are my (?:preferences|allergies|plans|habits|likes|dislikes)\b|\bdo i have (?:any )?allergies\b"
    r"|你(?:还)?记得我(?!的?名字|叫|(?:刚才|之前|刚刚)?(?:问|说)|吗|么)[^。？！?，,\n]{1,60}|我(?:都)?(?:对什么|对啥|有什么|有哪些)(?:东西)?过敏|我对[^，。？！\n]{1,12}过敏(?:吗|么)"
    r"|我(?:不)?(?:喜欢|讨厌|爱)(?:吃|喝)?(?:什么|啥|哪些)|我住(?:在)?哪\S?|我(?:跟|和|对|告诉过?)你(?:说过|提过)?(?:些)?(?:什么|哪些)[^。？！\n]{0,20}|我有(?:哪些|什么)(?:偏好|习惯|计划|喜好)"
)
_ASKS: Final = rx(r"[?？]|(?:吗|么|呢)\s*[。.!！]?\s*$|\b(?:can|could|would|will) you\b")
_CASE: Final = rx(
    r"^\W*(?:(?:and|also|please|hey|ok|so)[,\s]+)*(?:from now on|in (?:the )?future|going forward|when(?:ever)? i |every ?time i |each time i "
    r"|if i ask )[^?？\n]{4,}"
    r"|^\W*(?:请|另外|还有|对了)*[，,]?(?:以后|今后|往后|从现在(?:开始|起)|每次我?|(?:当)?我(?:查|问|看|要)[^，,。？！\n]{1,12}(?:的?时候?|时))[，,]?[^?？\n]{2,}"
)
"""A wish for a sort of case: heard now, kept by whoever keeps such things."""
_STATED: Final = rx(
    r"^\W*(?:(?:hi|hello|hey|and|but|also|by the way|btw|fyi|please note(?: that)?|just so you know)[,\s]+)*"
    r"(?:i(?:'m| am) (?:also |very |severely |not |no longer |now )*(?:allergic to|vegetarian|vegan|lactose|a (?:vegetarian|vegan))"
    r"|i have an? [\w -]{2,30} allergy"
    r"|i (?:really |just |absolutely |also |no longer |do not |don't |can't )*(?:like|love|hate|dislike|prefer|enjoy|stand|eat|drink)\b)[^?？\n]{0,200}"
    r"|^\W*(?:你好|另外|还有|对了|顺便说一下)*[，,]?我(?:也|还|其实|真的|现在|一直|最|很|不再|不|只)*(?:对[^，,。？！\n]{1,24}过敏|讨厌|喜欢|爱吃|爱喝|不爱|怕|吃素|是素食者|偏好|习惯)[^?？\n]{0,60}"
)
_SENTENCE: Final = re.compile(r"[^.?!。？！\n]+(?:\.(?=\d)[^.?!。？！\n]+)*[.?!。？！]*")
_TIP: Final = rx(
    r"\b(?:advice|advise|tips?|recommend\w*|suggest\w*|ideas?|anything (?:i should|to)|worth (?:seeing|knowing)|what (?:should|shall|do|can"
    r"|could) (?:i|we)|what to|where (?:should|shall|can|could) (?:i|we)"
    r"|where to|how (?:should|shall|do) (?:i|we) (?:prepare|pack))\b"
    r"|建议|推荐|注意(?:些)?什么|要注意|带(?:些)?什么|准备(?:些)?什么|怎么安排|好玩|攻略|穿什么|吃(?:点|些)?什么|吃啥|做(?:点|些)?什么"
)
_TRIP: Final = rx(
    r"\b(?:going|heading|travell?ing|flying|driving|moving|off|fly|go|travel) (?:over |back |down |up )?to\b|\b(?:trip|journey|travel|weekend"
    r"|vacation|holiday|visit(?:ing)?|pack)\b"
    r"|出差|旅行|旅游|度假|行李|(?:要|想|打算|准备|会|天|周|月)?(?:去|飞|到)(?!哪|了|底|时)[\u4e00-\u9fffA-Za-z]{2,}"
)
_PLACE: Final = re.compile(
    r"\b(?:[Gg]oing|[Hh]eading|[Tt]ravell?ing|[Ff]lying|[Dd]riving|[Mm]oving|off|[Ff]ly|[Gg]o|[Tt]ravel|[Tt]rip|[Jj]ourney|[Vv]acation|[Hh]oliday"
    r"|[Ww]eekend)(?: (?:over|back|down|up))?"
    r" (?:to|in) (?P<en>[A-Za-z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})"
    r"|\b[Vv]isit(?:ing)? (?P<en2>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})"
    r"|(?:去|飞往?|到)(?P<zh>[\u4e00-\u9fff]{2,8}?)(?=出差|旅游|旅行|度假|开会|玩|待|住|看|几天|[一二两三四五六七八九十]+[天日周晚个]|\d|[，,。.？?！!\s]|有|要|$)|(?:去|飞"
    r"|到) ?(?P<mixed>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})"
)
_FOOD: Final = rx(
    r"\b(?:recipes?|restaurants?|dinner|lunch|breakfast|brunch|supper|snacks?|cook(?:ing)?|bake|dish(?:es)?|menus?|desserts?|cakes?|cookies?|food|eat"
    r"|meals?|curry|soup|takeaway|takeout|catering)\b"
    r"|菜谱|食谱|餐厅|餐馆|饭店|饭馆|吃(?:点|些)?什么|吃啥|晚饭|午饭|早饭|晚餐|午餐|早餐|宵夜|夜宵|零食|甜点|外卖|做菜|做饭|点心|蛋糕|美食|好吃|菜单|什么菜|小吃"
)
_WANTED: Final = rx(r"[?？]|\b(?:give|find|show|need|want|would like|looking for|plan|know any)\b|什么|哪|吗|给我|来[个份]|找|想要|帮我|怎么做")
_SPOKEN: Final = rx(
    r"^\W*(?:(?:please|from now on|in future|always|and|also|hi|hey|can you|could you|remember(?: to| that)?|i (?:want|would like|prefer) you to"
    r"|i'd like you to|you should)[,\s]+)*"
    r"(?:answer|reply|respond|speak|talk|write)(?: (?:to )?me| back)?(?: (?:only|always|everything))? in (?P<en>chinese|mandarin|english)\b"
    r"|^\W*(?:请|以后|今后|从现在(?:开始|起)|记住|麻烦|都|一律|一直|总是|你|我希望你|[，,])*(?:用|讲|说|使用)(?P<zh>中文|汉语|普通话|英文|英语)(?:来)?(?:回答|回复|答复|交流|说话|跟我说|和我说|写|吧|$)"
)
_LANGUAGES: Final[dict[str, Language]] = {
    "chinese": "zh",
    "mandarin": "zh",
    "中文": "zh",
    "汉语": "zh",
    "普通话": "zh",
    "english": "en",
    "英文": "en",
    "英语": "en",
}


def hear_wish(sheet: Sheet, note: ProgramNote) -> None:
    """Confirm what the note says was seen to, and take the words that asked for it out of the text."""
    if not note.noted:
        return
    words = _GONE if _TO_FORGET & set(note.noted) else _KEPT
    clauses = [(start, end) for start, end in _clauses(sheet.text) if words.search(sheet.text, start, end)]
    content = " ".join(_content(sheet.text[start:end], _UNKEEP) for start, end in clauses)
    at = clauses[0][0] if clauses else 0
    for start, end in clauses:
        sheet.take(start, end)
    for code in note.noted:
        if code == "unclear":
            sheet.wishes.append(Wish(at, FORGET, {"question": content} if content else {}, "noted_unclear"))
        else:
            sheet.wishes.append(Wish(at, "", ask=f"noted_{code}"))


def requests(sheet: Sheet, earlier: Sequence[Said]) -> None:
    """What is asked of memory beyond that. `earlier`: what the same person said before."""
    for pattern, all_of_it in ((_ALL_OF_ME, True), (_OF_MINE, False)):
        while match := pattern.search(sheet.text):
            sheet.take(*match.span())
            sheet.wish(match.start(), RECALL, question="" if all_of_it else match[0].strip(_EDGES))
    for start, end in list(_clauses(sheet.text)):
        clause = sheet.text[start:end]
        if TAKEN in clause:
            continue
        if _UNKEEP.search(clause) and (content := _content(clause, _UNKEEP)):
            sheet.take(start, end)
            sheet.wish(start, FORGET, question=content)
        elif _KEEP.search(clause) and not _ASKS.search(clause):
            content = _content(clause, _KEEP) or next((one.text for one in reversed(earlier) if one.text), "")
            sheet.take(start, end)
            sheet.wish(start, REMEMBER, "" if content else "which_memory", text=content)


def statements(sheet: Sheet) -> None:
    """What the person tells about themselves for later; acknowledged, unless it was just confirmed that it is kept."""
    confirmed = any(wish.ask.startswith("noted_") for wish in sheet.wishes)
    for match in list(_SENTENCE.finditer(sheet.text)):
        if TAKEN not in match[0] and not _ASKS.search(match[0]) and (_CASE.search(match[0]) or _STATED.search(match[0]) or _SPOKEN.search(match[0])):
            sheet.take(*match.span())
            if not confirmed:
                sheet.wishes.append(Wish(match.start(), "", ask="understood"))


def advice(sheet: Sheet) -> None:
    """Requests for advice on a trip or on food."""
    text = sheet.text.replace(TAKEN, " ")
    trip, food = _TRIP.search(text), _FOOD.search(text)
    wanted = _TIP.search(text)
    if not (wanted and (trip or food)) and not (food and _WANTED.search(text)):
        return
    place = next((found for match in _PLACE.finditer(text) if (found := next((group for group in match.groups() if group), ""))), "") if trip else ""
    marks = [match.start() for pattern in (_TIP, _TRIP, _FOOD) for match in pattern.finditer(sheet.text)]
    for match in list(_SENTENCE.finditer(sheet.text)):
        if any(match.start() <= mark < match.end() for mark in marks):
            sheet.take(*match.span())
    sheet.wish(min(marks), ADVICE, place=place, food="yes" if food else "", trip="yes" if trip else "")


def reply_language(text: str, transcript: Transcript, group: Sequence[Said]) -> Language:
    """In which language a request is answered: the one asked for last, here or in an earlier conversation, else its own."""
    if not group:
        return language_of(text)
    mine = [text, *(said.text for said in reversed(transcript.earlier(group[0].index, group[0].speaker)) if not said.aside)]
    wished = _first(_spoken(one) for one in [*mine, *(memory.text for memory in transcript.note_for(group[-1]).memories if memory.said)])
    return wished or language_of(text)


def stated_case(text: str) -> bool:
    """Whether a message tells how a sort of case is to be answered."""
    return any(_CASE.search(match[0]) for match in _SENTENCE.finditer(text) if not _ASKS.search(match[0]))


def _spoken(text: str) -> Language | None:
    for sentence in re.split(r"[.;!?。；！？\n]|[,，](?=\s*(?:请|以后|please|from now on))", text):
        if match := _SPOKEN.search(sentence):
            return _LANGUAGES[(match["en"] or match["zh"]).lower()]
    return None


def _first(found: Iterable[Language | None]) -> Language | None:
    return next((each for each in found if each), None)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Where each clause stands: up to a mark that ends a sentence, or a word after which a new request begins."""
    start = 0
    for match in SPLIT.finditer(text):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _content(clause: str, words: re.Pattern[str]) -> str:
    """What a clause asks to be kept or forgotten, without the words that ask for it."""
    said = words.sub(" ", clause.replace(TAKEN, " "), count=1)
    return _TAIL.sub("", _POLITE.sub("", " ".join(said.split()).strip(_EDGES))).strip(_EDGES)
