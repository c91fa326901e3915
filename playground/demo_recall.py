"""Small talk and the memory of the thread: names, facts people stated, what was asked and said, and what was done.

Everything is found in the messages of the request. A person's name and facts are looked up only in what that person
said, the newest statement first, and then in what is remembered of them from earlier conversations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from playground.demo_note import Memory
from playground.demo_patterns import rx
from playground.demo_transcript import Said, Transcript
from playground.demo_words import Language, say

SHOWN: Final = 10
"""How many earlier messages are repeated at most."""

_NAME: Final = r"([^\s,.!?;:，。！？；：、][^,.!?;:，。！？；：\n]{0,40}?)"
_END: Final = r"(?=\s*(?:$|[,.!?;:，。！？；：\n—–]|\band\b| - |--))"
_NAME_TOLD: Final = rx(
    rf"\b(?:my name(?:'s|’s| is)|call me)\s+(?!what|who){_NAME}{_END}"
    rf"|(?:我叫|我的名字(?:是|叫)|叫我)\s*(?!什么|啥|谁){_NAME}{_END}"
)
_NAME_ASKED: Final = rx(
    r"\b(?:what(?:'s|’s| is| was)? my name|who am i|(?:do you )?(?:know|remember) my name)\b"
    r"|我叫(?:什么|啥)(?:名字)?|我的名字(?:是|叫)?(?:什么|啥)|我是谁|记得我(?:的名字|叫)"
)
_FACT_TOLD: Final = rx(
    r"\bmy ((?!name\b|order)[a-z][a-z' -]{1,40}?) (?:is|are) (?!what\b|it\b|the order)([^.?!\n,，。？！]{1,120})"
    r"|我的((?!名字|订单)[^是，。？！\s]{1,12})是(?!什么|谁|哪|多少|不是)([^，。？！\n]{1,120})"
)
_FACT_ASKED: Final = rx(
    r"\bwhat(?:'s|’s| is| are| was) my ((?!name\b|order)[a-z][a-z' -]{1,40}?)\s*(?:\?|$|\band\b)"
    r"|我的((?!名字|订单)[^是，。？！\s]{1,12})是(?:什么|谁|哪\S?|多少)"
)
_ASKED: Final = rx(
    r"\bwhat (?:did|have|had) i (?:just )?(?:ask|say|said|want|tell|write)\w*(?: you)?(?: before| earlier| so far)?"
    r"|\bmy (?:previous|last|earlier) (?:question|request|message)s?\b"
    r"|我(?:之前|刚才|刚刚|上次|前面)?(?:都)?(?:问|说)(?:过|了)?(?:些)?(?:什么|啥)"
)
_SAID: Final = rx(
    r"\bwhat (?:did|has|have) (?!i\b|you\b|we\b|they\b)@?([^\s,.?!][^,.?!\n]{0,38}?) (?:say|said|ask|asked|write|written|want|wanted)\b"
    r"|([^\s,，。？！]{1,20}?)\s*(?:刚才|之前|刚刚)?(?:都)?(?:说|问|写)(?:过|了)(?:些)?(?:什么|啥)"
)
_WHO_SAID: Final = rx(r"\bwho (?:said|wrote|asked|told)\b[^.?!\n]*|谁(?:说|问|写)[^。？！\n]*|大家(?:都)?说了(?:些)?什么")
_OUTCOME: Final = rx(
    r"\bwhat (?:did|have) you (?:do|done)\b|\b(?:did|has) (?:it|that|this) work(?:ed)?\b|\b(?:is|was) (?:it|that) done\b|\bare you done\b"
    r"|你(?:刚才|之前)?(?:都)?做了(?:些)?什么|做完了吗|做好了吗|好了吗|成功了(?:吗|没)|完成了(?:吗|没)"
)
_THANKS: Final = rx(r"\b(?:thanks?|thank you|thx|cheers|great|perfect)\b|谢谢|多谢|感谢|辛苦了|太好了")
_NEVER_MIND: Final = rx(r"\bnever ?mind\b|\bforget it\b|算了|不用了|不需要了")
_HELLO: Final = rx(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|howdy|yo)\b|你好|您好|嗨|早上好|下午好|晚上好|大家好")
_HELP: Final = rx(
    r"\bhelp\b|\bwhat can you do\b|\bwho are you\b|\bwhat are you\b|\bhow do (?:you|i)\b|\bcommands\b"
    r"|帮助|你能做什么|你会什么|你会做什么|能干什么|你是谁|怎么用|使用说明"
)


def recall(text: str, now: Said, transcript: Transcript, language: Language, memories: Sequence[Memory] = ()) -> list[str]:
    """Answers to what `text` (the part of a request that is not for a tool) tells or asks about the conversation.

    `memories`: what is remembered of the person who asks.
    """
    out: list[str] = []
    mine = transcript.earlier(now.index, now.speaker)
    known = [*(Said(-1, now.speaker, memory.text) for memory in reversed(memories)), *mine]
    told = _first(_NAME_TOLD.finditer(text))
    if told:
        out.append(say("noted_name", language, name=told))
    if _NAME_ASKED.search(text):
        name = told or _newest(_NAME_TOLD, known)
        shown = re.sub(r"\s*\(bot\)$", "", now.speaker)
        out.append(say("your_name", language, name=name) if name else say("shown_name", language, name=shown) if shown else say("no_name", language))
    out.extend(say("noted", language, what=what, value=value) for what, value in _facts(text))
    out.extend(_fact(_groups(match)[0], [*known, Said(now.index, now.speaker, text)], language) for match in _FACT_ASKED.finditer(text))
    if _ASKED.search(text):
        quoted = _quote(mine)
        out.append(f"{say('asked_before', language)}\n\n{quoted}" if quoted else say("asked_nothing", language))
    elif _WHO_SAID.search(text):
        out.append(everyone(transcript, now.index, language))
    else:
        out.extend(_said_by(_groups(match)[0], now, transcript, language) for match in _SAID.finditer(text))
    return out


def name_of(memories: Iterable[Memory]) -> str:
    """How a person wants to be called, from what is remembered of them; "" when they never said."""
    return next((name for memory in memories if (name := _first(_NAME_TOLD.finditer(memory.text)))), "")


def wants_outcome(text: str) -> bool:
    """Whether the text asks what was done."""
    return bool(_OUTCOME.search(text))


def small_talk(text: str, language: Language) -> str:
    """The sentence for thanks and the like; "" for everything else."""
    for pattern, key in ((_NEVER_MIND, "never_mind"), (_THANKS, "thanks")):
        if pattern.search(text):
            return say(key, language)
    return ""


def greeted(text: str) -> bool:
    """Whether the text begins with a greeting."""
    return bool(_HELLO.search(text))


def asked_for_help(text: str) -> bool:
    """Whether the text asks what can be done here."""
    return bool(_HELP.search(text))


def everyone(transcript: Transcript, before: int, language: Language) -> str:
    """Who said what before position `before`, the latest messages."""
    said = transcript.earlier(before)[-SHOWN * 2 :]
    if not said:
        return say("thread_empty", language)
    lines = [f"- **{one.speaker or '?'}**: {short(one.text)}" for one in said]
    return f"{say('who_said', language)}\n\n" + "\n".join(lines)


def short(text: str, limit: int = 200) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _quote(said: Iterable[Said]) -> str:
    return "\n".join(f"- {short(one.text)}" for one in list(said)[-SHOWN:] if one.text)


def _groups(match: re.Match[str]) -> list[str]:
    return [group.strip(" '’\"") for group in match.groups() if group]


def _first(matches: Iterable[re.Match[str]]) -> str:
    return next((groups[0] for match in matches if (groups := _groups(match))), "")


def _newest(pattern: re.Pattern[str], said: list[Said]) -> str:
    return next((found for one in reversed(said) if (found := _first(pattern.finditer(one.text)))), "")


def _facts(text: str) -> list[tuple[str, str]]:
    return [(groups[0], groups[1]) for match in _FACT_TOLD.finditer(text) if len(groups := _groups(match)) == 2]


def _fact(what: str, said: list[Said], language: Language) -> str:
    for one in reversed(said):
        for name, value in reversed(_facts(one.text)):
            if name.lower() == what.lower():
                return say("your_fact", language, what=what, value=value)
    return say("no_fact", language, what=what)


def _said_by(name: str, now: Said, transcript: Transcript, language: Language) -> str:
    wanted = name.lower().removeprefix("@")
    said = [one for one in transcript.earlier(now.index) if one.speaker and (wanted in one.speaker.lower() or one.speaker.lower() in wanted)]
    if not said:
        return say("said_nothing", language, name=name)
    return f"{say('said', language, name=f'**{said[-1].speaker}**')}\n\n{_quote(said)}"
