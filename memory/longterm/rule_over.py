"""What people say is over or possible again: a language no longer learned, days no longer worked from home, a journey that is off, food that can be eaten again."""

from __future__ import annotations

from typing import Final

from memory.longterm.memory import Kind
from memory.longterm.rule_form import END, END_ZH, NOW_ZH, Rule, en, zh

_SPOKEN: Final = (
    r"(?:english|chinese|mandarin|cantonese|german|french|spanish|portuguese|italian|dutch|japanese|korean|russian|arabic|hindi|polish|swedish|turkish|"
    r"中文|普通话|粤语|英语|英文|德语|法语|西班牙语|葡萄牙语|意大利语|日语|韩语|俄语|阿拉伯语)"
)
_ENDED: Final = r"(?:no longer|stopped|quit|gave up|have given up|'ve given up|don't|do not|am no longer|'m no longer|am not|'m not)"
_DAYS: Final = r"(?: on (?:mon|tues|wednes|thurs|fri|satur|sun)days?(?:(?:,| and| or) (?:mon|tues|wednes|thurs|fri|satur|sun)days?)*)?"
_DAYS_ZH: Final = "(?:(?:周|星期)[一二三四五六日天末])*"
_JOURNEY: Final = r"(?:trip|flight|journey|visit|holiday|vacation)"
_OFF: Final = r"(?:is|was|has been|got|'s been) (?:now )?(?:cancell?ed|off|called off)"

OVER: Final[tuple[Rule, ...]] = (
    Rule(
        "learning",
        en(rf"i ?{_ENDED} (?:learn(?:ing)?|study(?:ing)?|taking) (?P<o>{_SPOKEN})(?: (?:lessons|classes))?(?: any ?more| any longer)?{END}"),
        keyed=True,
        negated=True,
        retracts=True,
    ),
    Rule("learning", zh(rf"我{NOW_ZH}(?:不再?|没再?|没有再|放弃了?|停止了?)学(?:习)?(?P<o>{_SPOKEN}){END_ZH}"), keyed=True, negated=True, retracts=True),
    Rule(
        "work_mode",
        en(
            rf"i (?:no longer|don't|do not|stopped) work(?:ing)? (?P<v>remotely|from home|part[- ]time|full[- ]time|night shifts?){_DAYS}(?: any ?more| any longer)?{END}"
        ),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "work_mode",
        zh(rf"我{_DAYS_ZH}{NOW_ZH}{_DAYS_ZH}不再?(?P<v>在家办公|居家办公|在家工作|远程办公|远程工作|兼职|上夜班){END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "reply_language",
        en(
            rf"you (?:don't|do not|no longer) (?:have|need) to (?:answer|reply|respond|write|speak|talk)(?: to me| me)?(?: in)? (?P<v>{_SPOKEN})(?: any ?more| any longer)?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.8,
    ),
    Rule(
        "reply_language",
        zh(rf"(?:以后|今后|现在)?你?(?:不用再?|不必再?|不需要再?|无需再?)(?:用|说|讲)(?P<v>{_SPOKEN})(?:来)?(?:回答|回复|跟我说话|说话|聊天)?(?:我)?{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.8,
    ),
    Rule("diet", en(rf"i no longer am (?:a )?(?P<v>vegetarian|vegan|pescatarian){END}"), single=True, negated=True, importance=0.7),
    Rule(
        "diet",
        en(
            rf"i can (?=.*\b(?:now|again|safely|finally)\b)(?:now |finally |safely |also )*(?:eat|drink) (?!it\b|that\b|this\b|lunch|dinner|breakfast|in\b|at\b|with\b|some|any|out\b|again|now|safely)"
            rf"(?P<o>[\w ,-]{{3,40}}?)(?: (?:again|now|safely|any ?time))*{END}"
        ),
        keyed=True,
        several=True,
        importance=0.7,
    ),
    Rule(
        "diet",
        zh(rf"我(?:现在|终于|又|已经|也)+(?:可以|能)(?:再)?(?:吃|喝)(?!饭|了|东西|午|晚|早|药|完|到|过|点)(?P<o>[^，,。]{{1,12}}?){END_ZH}"),
        keyed=True,
        several=True,
        importance=0.7,
    ),
    Rule("diet", zh(rf"我(?:又|现在|重新|开始)+吃(?P<o>荤){END_ZH}"), keyed=True, importance=0.6),
    Rule("travel", en(rf"(?:the|my|our) (?P<o>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?) {_JOURNEY} {_OFF}{END}"), Kind.PLAN, keyed=True, retracts=True),
    Rule("travel", en(rf"(?:the|my|our) {_JOURNEY} to (?P<o>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?) {_OFF}{END}"), Kind.PLAN, keyed=True, retracts=True),
    Rule(
        "travel",
        zh(rf"(?:我的?|我们的?)?(?:去)?(?P<o>[\u4e00-\u9fff]{{2,5}}?)(?:之行|的?(?:行程|出差|旅行|旅程|航班))(?:已经|被)?取消{END_ZH}"),
        Kind.PLAN,
        keyed=True,
        retracts=True,
    ),
)
"""Read before everything else: each names what it ends."""
