"""What people say of what they must not eat or touch, and of what they do not: allergies and diets."""

from __future__ import annotations

from typing import Final

from memory.longterm.rule_form import END, END_ZH, Rule, en, zh

_REAL: Final = r"(?!nothing|anything|everything|work\b|meetings?\b|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|deadlines?|bullshit|people\b|small talk|paperwork|bureaucracy|stupidity|you\b|him\b|her\b|them\b|that\b|this\b|it\b|bad\b|code\b|legacy|jira|powerpoint|your\b|my\b|his\b|waiting|mornings?\b|exercise\b|bugs?\b|buzzwords?)"
_REAL_ZH: Final = "(?!什么|任何|项目|方案|代码|结果|自己|工作|上班|加班|开会|会议|周一|星期一|老板|你|他|她|这|那)"

BODY: Final[tuple[Rule, ...]] = (
    Rule("allergy", en(rf"i(?:'m| am) (?:not|no longer) allergic to {_REAL}(?P<o>.{{2,60}}?){END}"), keyed=True, several=True, negated=True, importance=0.7),
    Rule(
        "allergy",
        en(rf"i(?:'m| am) (?:also |very |really |severely |highly |deathly |a bit |slightly |mildly )*allergic to {_REAL}(?P<o>.{{2,60}}?){END}"),
        keyed=True,
        several=True,
        always=True,
        importance=0.95,
    ),
    Rule("allergy", en(rf"i have (?:an?|a (?:severe|bad|mild|serious)) (?P<o>[\w -]{{2,30}}?) allerg(?:y|ies){END}"), keyed=True, always=True, importance=0.95),
    Rule(
        "allergy",
        zh(rf"我(?:已经|现在)?(?:对(?P<o>[^，,。]{{1,24}}?)(?:已经)?不(?:再)?(?:会)?过敏|不(?:再)?对(?P<o2>[^，,。]{{1,24}}?)过敏){END_ZH}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.7,
    ),
    Rule(
        "allergy",
        zh(rf"我(?:也|还|是)?对{_REAL_ZH}(?P<o>[^，,。]{{1,30}}?)(?:有点|有些|都|会|严重|非常|特别|也|很|轻微)*过敏(?:[，,](?!但|不过|我).{{1,40}})?{END_ZH}"),
        keyed=True,
        several=True,
        always=True,
        importance=0.95,
    ),
    Rule(
        "allergy",
        zh(rf"我(?!对|不|会|有)(?:一?(?:吃|碰|闻)(?:到|了)?)?(?P<o>[^，,。不对有是]{{1,8}}?)(?:就|会|都|严重)*过敏{END_ZH}"),
        keyed=True,
        always=True,
        importance=0.95,
    ),
    Rule("allergy", zh(rf"我有(?P<o>[^，,。]{{1,12}}?)过敏(?:症)?{END_ZH}"), keyed=True, always=True, importance=0.95),
    Rule(
        "diet",
        en(rf"i(?:'m| am) (?:no longer|not) (?:a )?(?P<v>vegetarian|vegan|pescatarian)(?: any ?more)?{END}"),
        single=True,
        negated=True,
        importance=0.7,
    ),
    Rule(
        "diet",
        en(rf"i(?:'m| am) (?:now |a |an |strictly |strict )*(?P<v>vegetarian|vegan|pescatarian|lactose intolerant|gluten[- ]free){END}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "diet",
        en(
            rf"i (?:(?:don't|do not|can't|cannot|never) (?:eat|drink)|(?:can't|cannot|mustn't) have) (?!any\b.*allerg|any ?more|any\b|at\b|in\b|on\b|during|with\b|before|after|when|while|and\b|too\b|so\b|from|here|there|alone|much|well\b|today|tonight|this week|it\b|that\b|this\b|any(?:thing)?\b|time\b|lunch|breakfast|dinner|meetings?\b|to\b|a (?:car|clue|problem|preference))(?P<o>[\w ,-]{{3,40}}?)(?: any ?more)?{END}"
        ),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule(
        "diet",
        en(rf"i (?:no longer|stopped|quit|gave up) (?:eat(?:ing)?|drink(?:ing)?) ?(?P<o>[\w ,-]{{3,40}}?){END}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule("diet", zh(rf"我(?:已经|现在)?(?:不再|不)(?:是)?(?P<v>素食|吃素|纯素|素食主义)(?:者)?{END_ZH}"), single=True, negated=True, importance=0.7),
    Rule("diet", zh(rf"我(?:现在|一直)?(?:是|只)?(?P<v>吃素|素食主义者|素食者|纯素食者|纯素|乳糖不耐受?){END_ZH}"), single=True, always=True, importance=0.85),
    Rule(
        "diet",
        zh(rf"我(?:从来|从|已经|现在|再也|都)?(?:不再?|不能|不太|从不|没法|不会)(?:吃|喝)(?P<o>[^，,。]{{1,16}}?){END_ZH}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule("diet", zh(rf"我戒(?P<o>酒|烟|糖|咖啡|奶茶){END_ZH}"), keyed=True, negated=True, importance=0.7),
    Rule(
        "diet",
        en(
            r"i (?:only |just |now |do |usually )*(?:eat|drink) (?!out\b|in\b|lunch|dinner|breakfast|at\b|with\b|too\b|a lot|everything|anything|whatever|it\b|that\b|this\b|them\b|well\b|healthy|my\b|your\b|to\b|and\b|water\b|here|there)"
            rf"(?!.*\b(?:every|at|in|on|with|before|after|for|when|while|around|from|outside|about|during|as|once|twice|because)\b)(?P<o>[\w -]{{3,24}}?)(?: again)?{END}"
        ),
        keyed=True,
        importance=0.6,
    ),
    Rule(
        "diet",
        zh(
            rf"我(?:又|现在|也|只|开始|都)*(?:喝|吃)(?!口|点|杯|碗|顿|上|下|水|货|醋|土|饭|药|早|午|晚|过|完|多|不|什么|了|亏|惊|到|着|货|苦)(?P<o>[^，,。时的]{{1,8}}?){END_ZH}"
        ),
        keyed=True,
        importance=0.6,
    ),
    Rule("allergy", en(rf"i(?:'m| am) (?:also |severely |very )?intolerant to (?P<o>.{{2,60}}?){END}"), keyed=True, several=True, always=True, importance=0.9),
    Rule(
        "allergy",
        en(rf"i react (?:very |really )?(?:badly|allergically|strongly) to {_REAL}(?P<o>.{{2,60}}?){END}"),
        keyed=True,
        several=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "diet",
        en(rf"i (?:became|went|turned) (?P<v>vegetarian|vegan|pescatarian|gluten[- ]free)(?: (?:last|this|in|since|a) .{{2,20}})?{END}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule("diet", zh(rf"我(?:从来|都|一直)?(?:不碰|忌口?|戒了?)(?P<o>酒|烟|辣|糖|甜食|海鲜|咖啡|奶茶|生冷){END_ZH}"), keyed=True, negated=True, importance=0.7),
    Rule("diet", zh(rf"我(?:不太|不怎么)(?:能)?(?:吃|喝)(?P<o>[^，,。]{{1,10}}?){END_ZH}"), keyed=True, negated=True, importance=0.65),
)
