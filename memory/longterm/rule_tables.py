"""The sentences that rules know, a pattern for each way of saying a thing, in English and in Chinese. `rules.py` says what becomes of a match.

A pattern is tried on one clause. Its group `o` names the object ("peanuts"), `v` the value ("Leo"), `c` the case in which it holds. A rule with
`keyed` has its object in its key: what somebody likes is one matter for each thing, what they are called is one matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory.longterm.memory import Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of saying something."""

    attribute: str
    pattern: re.Pattern[str]
    kind: Kind = Kind.FACT
    keyed: bool = False
    several: bool = False
    """The object may be a list, each of it a statement of its own."""
    single: bool = False
    always: bool = False
    negated: bool = False
    retracts: bool = False
    value: str = ""
    """What it says whatever the words, as "zh" of "answer in Chinese"."""
    importance: float = 0.5
    rooms: bool = False
    """Said in a room, it is the room's and not the person's."""


def _en(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{_LEAD}{pattern}$", re.IGNORECASE)


def _zh(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{_LEAD_ZH}{pattern}$", re.IGNORECASE)


_LEAD: Final = (
    r"(?:(?:and|but|so|also|btw|by the way|fyi|please|pls|just so you know|for the record|note that|remember(?: that)?|hi|hey|well|actually|no|yes|ok|okay|now|today|currently|"
    r"you should know(?: that)?|heads[- ]up(?: for [\w ]{2,40}:)?|as you know|unfortunately|sadly|luckily|i think|in general|generally|以后)[,:]?\s+)*"
)
_LEAD_ZH: Final = "(?:(?:而且|并且|但是?|不过|另外|还有|所以|顺便说一?下?|对了|你好|请|麻烦|记住|记得|其实|目前|现在|今天|不|是的|好的?|嗯|因为|说明一下|一般来说|总的来说)[，,：: ]*)*"
_END: Final = r"(?:[,\s]*(?:now|too|as well|though|actually|by the way|btw|please|thanks|thank you|ok|okay|you know|so (?:please )?(?:be careful|keep (?:that|this) in mind|remember (?:that|this)|don't .{1,40})))*"
_END_ZH: Final = "(?:[，, ]*(?:了|的|哦|啊|呀|吧|呢|哈|谢谢|谢谢你|请注意|注意一下|请记住|你知道的|所以.{1,20}|就行|就好|就可以了?|即可))*"
_LIKES: Final = r"(?:really |absolutely |quite |just |also |do |totally )*"
_FROM_NOW: Final = r"(?:(?:from now on|in (?:the )?future|going forward|always|whenever you (?:answer|reply)(?: me)?|when (?:you )?(?:answer|reply|talk)(?:ing)?(?: to)? me)[,:]?\s+)*(?:please\s+|can you\s+|could you\s+|i(?:'d| would) (?:like|prefer) (?:it if )?you (?:to )?|i want you to\s+|always\s+|just\s+)*"
_FROM_NOW_ZH: Final = "(?:(?:以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)(?:开始|起)?|每次|平时|一直|总是|和我(?:说话|聊天)(?:时|的时候)?|回答我(?:的?问题)?(?:时|的时候)|回复我?(?:时|的时候))[，, ]*(?:都|也|就)?)*(?:请|麻烦|你|都|一律|尽量|我希望你|我想让你|希望|要|就|直接)*"

RULES: Final[tuple[Rule, ...]] = (
    # --- what never to forget ------------------------------------------------------------------------------------------------
    Rule("allergy", _en(rf"i(?:'m| am) (?:not|no longer) allergic to (?P<o>.{{2,60}}?){_END}"), keyed=True, several=True, negated=True, importance=0.7),
    Rule(
        "allergy",
        _en(rf"i(?:'m| am) (?:also |very |really |severely |highly |deathly |a bit |slightly |mildly )*allergic to (?P<o>.{{2,60}}?){_END}"),
        keyed=True,
        several=True,
        always=True,
        importance=0.95,
    ),
    Rule(
        "allergy", _en(rf"i have (?:an?|a (?:severe|bad|mild|serious)) (?P<o>[\w -]{{2,30}}?) allerg(?:y|ies){_END}"), keyed=True, always=True, importance=0.95
    ),
    Rule(
        "allergy",
        _zh(rf"我(?:已经|现在)?(?:对(?P<o>[^，,。]{{1,24}}?)(?:已经)?不(?:再)?(?:会)?过敏|不(?:再)?对(?P<o2>[^，,。]{{1,24}}?)过敏){_END_ZH}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.7,
    ),
    Rule(
        "allergy",
        _zh(rf"我(?:也|还|是)?对(?P<o>[^，,。]{{1,30}}?)(?:有点|有些|都|会|严重|非常|特别|也|很|轻微)*过敏{_END_ZH}"),
        keyed=True,
        several=True,
        always=True,
        importance=0.95,
    ),
    Rule("allergy", _zh(rf"我有(?P<o>[^，,。]{{1,12}}?)过敏(?:症)?{_END_ZH}"), keyed=True, always=True, importance=0.95),
    Rule(
        "diet",
        _en(rf"i(?:'m| am) (?:no longer|not) (?:a )?(?P<v>vegetarian|vegan|pescatarian)(?: any ?more)?{_END}"),
        single=True,
        negated=True,
        importance=0.7,
    ),
    Rule(
        "diet",
        _en(rf"i(?:'m| am) (?:now |a |an |strictly |strict )*(?P<v>vegetarian|vegan|pescatarian|lactose intolerant|gluten[- ]free){_END}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "diet",
        _en(rf"i (?:don't|do not|can't|cannot|never) (?:eat|drink|have) (?P<o>[\w ,-]{{3,40}}?)(?: any ?more)?{_END}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule(
        "diet",
        _en(rf"i (?:no longer|stopped|quit|gave up) (?:eat(?:ing)?|drink(?:ing)?) ?(?P<o>[\w ,-]{{3,40}}?){_END}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule("diet", _zh(rf"我(?:已经|现在)?(?:不再|不)(?:是)?(?P<v>素食|吃素|纯素|素食主义)(?:者)?{_END_ZH}"), single=True, negated=True, importance=0.7),
    Rule(
        "diet", _zh(rf"我(?:现在|一直)?(?:是|只)?(?P<v>吃素|素食主义者|素食者|纯素食者|纯素|乳糖不耐受?){_END_ZH}"), single=True, always=True, importance=0.85
    ),
    Rule(
        "diet",
        _zh(rf"我(?:从来|从|已经|现在|再也|都)?(?:不再?|不能|不太|从不|没法|不会)(?:吃|喝)(?P<o>[^，,。]{{1,16}}?){_END_ZH}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.75,
    ),
    Rule("diet", _zh(rf"我戒(?P<o>酒|烟|糖|咖啡|奶茶){_END_ZH}"), keyed=True, negated=True, importance=0.7),
    # --- who they are ---------------------------------------------------------------------------------------------------------
    Rule(
        "name",
        _en(
            rf"{_FROM_NOW}(?:you can |just )?call me (?P<v>[\w'’“”\" .-]{{1,40}}?)(?:, (?:everybody|everyone|they all|my friends) (?:does|do|calls? me that))?{_END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        _en(rf"my (?:first |last |full |real )?name(?:'s| is)(?: now| actually)? (?P<v>[\w'’ .-]{{1,40}}?){_END}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        _zh(rf"{_FROM_NOW_ZH}(?:可以)?(?:叫我|称呼我(?:为)?|喊我)(?P<v>[^，,。\s]{{1,12}}?){_END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        _zh(rf"我(?:的(?:名字|姓名)(?:是|叫)|叫|名叫|姓名是)(?P<v>[^，,。\s做吃喝去来给在]{{1,12}}?){_END_ZH}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule("birthday", _en(rf"my birthday(?:'s| is)(?: on)? (?P<v>[\w ,./-]{{3,30}}?){_END}"), single=True, importance=0.8),
    Rule("birthday", _en(rf"i was born (?:on|in) (?P<v>[\w ,./-]{{3,30}}?){_END}"), single=True, importance=0.8),
    Rule("birthday", _zh(rf"我(?:的)?生日(?:是|在)?(?P<v>[^，,。]{{2,16}}?){_END_ZH}"), single=True, importance=0.8),
    Rule("birthday", _zh(rf"我(?:是)?(?:出生于|生于)?(?P<v>\d{{1,4}}年?\d{{1,2}}月\d{{1,2}}[日号])(?:出生|生)的?{_END_ZH}"), single=True, importance=0.8),
    Rule(
        "home", _en(rf"i (?:no longer|don't) live in (?P<v>[\w ,.'-]{{2,40}}?)(?: any ?more)?{_END}"), single=True, negated=True, retracts=True, importance=0.6
    ),
    Rule(
        "home",
        _en(
            rf"i(?:'ve| have| just|'m)? (?:now |currently )?(?:live|living|moved?|moved back|relocated|based) (?:in|to|near) (?P<v>[\w ,.'-]{{2,40}}?)(?: (?:since|last|this|a) .{{1,20}})?{_END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("home", _en(rf"i(?:'m| am) (?:now |currently )?(?:based|living|located) in (?P<v>[\w ,.'-]{{2,40}}?){_END}"), single=True, importance=0.7),
    Rule(
        "home",
        _zh(rf"我(?:已经|现在|早就)?不(?:再)?(?:住|在)(?:在)?(?P<v>[^，,。]{{2,12}}?)(?:住)?{_END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "home",
        _zh(rf"我(?:现在|已经|刚|目前|上个?月|去年|今年|最近)*(?:住在|定居在?|搬到|搬去|搬家到|搬来)(?:了)?(?P<v>[^，,。]{{2,16}}?){_END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule(
        "role",
        _en(
            rf"i(?:'m| am) (?:now |currently )?(?:a|an|the) (?P<v>[\w /-]{{3,40}}?(?:engineer|manager|designer|developer|analyst|lead|director|accountant|nurse|teacher|doctor|lawyer|student|intern|buyer|planner|scientist|consultant|assistant|officer|specialist|coordinator|writer|editor))(?: (?:at|in|for|on) .{{2,40}})?{_END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "role",
        _en(rf"i (?:no longer|don't) work (?:in|at|for|on) (?P<v>[\w &'-]{{2,40}}?)(?: any ?more)?{_END}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "role",
        _en(
            rf"i(?:'ve| have)? (?:now |currently )?(?:work|working|joined|moved to|switched to) (?:in|at|for|as|on)? ?(?P<v>(?:the |an? )?[\w &'-]{{2,40}}?){_END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "role",
        _zh(rf"我(?:已经|现在)?不(?:再)?(?:在)(?P<v>[^，,。]{{2,16}}?)(?:工作|上班|任职)?{_END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "role",
        _zh(
            rf"我(?:现在|目前|已经|刚)*(?:在(?P<v>[^，,。]{{2,16}}?)(?:工作|上班|任职|部门)|是(?:一名|一个|做|公司的?)?(?P<o>[^，,。]{{0,10}}?(?:工程师|经理|设计师|程序员|产品|运营|会计|老师|医生|律师|学生|分析师|总监|实习生|采购|销售|客服|编辑|主管))(?:的)?|负责(?P<v2>[^，,。]{{2,16}}?)){_END_ZH}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("timezone", _en(rf"my time ?zone(?:'s| is) (?P<v>[\w/+: -]{{2,30}}?){_END}"), single=True, importance=0.7),
    Rule("timezone", _zh(rf"我(?:的|所在的?)时区(?:是|在)?(?P<v>[^，,。]{{2,16}}?){_END_ZH}"), single=True, importance=0.7),
    # --- how they want answers ------------------------------------------------------------------------------------------------
    Rule(
        "reply_language",
        _en(
            rf"{_FROM_NOW}(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)?(?: only| always)? in (?P<v>chinese|english|mandarin|german|french|spanish|japanese)(?: from now on| always| please| only)*{_END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_language",
        _en(
            rf"i (?:prefer|want|would like|'d like) (?:you to (?:answer|reply) in |answers? in |replies in )(?P<v>chinese|english|mandarin|german|french|spanish|japanese){_END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_language",
        _zh(
            rf"{_FROM_NOW_ZH}(?:用|使用|改用|说|讲)(?P<v>中文|英文|英语|汉语|日语|法语|德语)(?:来|跟我|和我|给我)?(?:回答|回复|答复|交流|说话|沟通|聊天|对话|说|写)?(?:我)?(?:的?问题)?{_END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_length",
        _en(
            rf"{_FROM_NOW}(?:(?:keep|make|give me|i (?:like|prefer|want)|i'd like)\s+)?(?:(?:your|the|my|me)\s+)?(?:it\s+)?(?:answers?|replies|responses?)?\s*(?P<v>short|brief|concise|to the point|detailed|long|longer|shorter|in one sentence)(?:\s+(?:answers?|replies|responses?))?(?: please| from now on| always)*{_END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        _zh(
            rf"{_FROM_NOW_ZH}(?:我喜欢|我想要)?(?:你的)?(?:回答|回复|答案|说话|答复)(?:我)?(?:的时候|时)?(?:要|请|得|都|尽量|可以)*(?P<v>简短|简洁|短|精简|简单|详细|长|具体)(?:一点|一些|点|些)?(?:的)?(?:回答|回复)?{_END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        _zh(rf"{_FROM_NOW_ZH}(?P<v>简短|简洁|详细)(?:一点|一些|点|些|地)*(?:回答|回复)(?:我)?{_END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_format",
        _en(
            rf"{_FROM_NOW}(?:use|answer (?:in|with)|reply (?:in|with)|format (?:it |them |answers )?as|i (?:like|prefer)|don't use|never use|no)\s+(?P<v>bullet points?|bullets|tables?|markdown|plain text|emojis?|code blocks?)(?: in (?:your )?(?:answers|replies))?(?: please| from now on)*{_END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.75,
    ),
    Rule(
        "reply_format",
        _zh(
            rf"{_FROM_NOW_ZH}(?:不要|别)?(?:用|使用|带|发)(?P<v>要点|列表|表格|纯文本|表情(?:符号)?|emoji)(?:的形式|来|形式)?(?:回答|回复|列出)?(?:我)?{_END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.75,
    ),
    # --- what they like ---------------------------------------------------------------------------------------------------------
    Rule(
        "favourite",
        _en(rf"my (?:new |all-time |absolute )?favou?rite (?P<o>[\w -]{{2,24}}?)(?: is| are|'s)(?: now| actually)? (?P<v>[\w '&.-]{{1,40}}?){_END}"),
        keyed=True,
        single=True,
    ),
    Rule(
        "favourite",
        _zh(rf"我(?:现在)?最(?:喜欢|爱)的(?P<o>[^，,。是]{{1,8}}?)(?:现在)?(?:是|改成了?|变成了?|换成了?)(?P<v>[^，,。]{{1,16}}?){_END_ZH}"),
        keyed=True,
        single=True,
    ),
    Rule(
        "like",
        _en(rf"i (?:no longer|don't|do not) (?:hate|dislike|mind) (?P<o>[\w '-]{{2,40}}?)(?: any ?more)?{_END}"),
        Kind.PREFERENCE,
        keyed=True,
        retracts=True,
    ),
    Rule(
        "like",
        _en(rf"i (?:no longer|stopped) (?:like|love|enjoy|liking|loving|enjoying) (?P<o>[\w '-]{{2,40}}?)(?: any ?more)?{_END}"),
        Kind.PREFERENCE,
        keyed=True,
        negated=True,
        retracts=True,
    ),
    Rule(
        "like",
        _en(
            rf"i {_LIKES}(?:hate|dislike|despise|detest|can't stand|cannot stand|can't bear|don't like|do not like|don't enjoy|am not a fan of) (?P<o>[\w '-]{{2,40}}?)(?: any ?more)?{_END}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        negated=True,
        value="dislike",
    ),
    Rule("like", _en(rf"i(?:'m| am) not a (?:big )?fan of (?P<o>[\w '-]{{2,40}}?){_END}"), Kind.PREFERENCE, keyed=True, negated=True, value="dislike"),
    Rule(
        "like",
        _en(
            rf"i {_LIKES}(?:like|love|enjoy|adore|prefer|am a (?:big )?fan of) (?!to\b|it\b|this\b|that\b|you\b|the (?:idea|way|answer|plan)\b)(?P<o>[\w '-]{{2,40}}?){_END}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        value="like",
    ),
    Rule("like", _zh(rf"我(?:现在|已经)?(?:不再|不)(?:讨厌|反感)(?P<o>[^，,。]{{1,16}}?){_END_ZH}"), Kind.PREFERENCE, keyed=True, retracts=True),
    Rule("like", _zh(rf"我(?:现在|已经)?不再(?:喜欢|爱)(?P<o>[^，,。]{{1,16}}?){_END_ZH}"), Kind.PREFERENCE, keyed=True, retracts=True),
    Rule(
        "like",
        _zh(rf"我(?:最|很|特别|非常|真的?|超|比较|有点|一直|现在)*(?:讨厌|不喜欢|反感|受不了|不爱|不太喜欢|烦)(?P<o>[^，,。]{{1,20}}?){_END_ZH}"),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        negated=True,
        value="dislike",
    ),
    Rule(
        "like",
        _zh(
            rf"我(?:最|很|特别|非常|真的?|超|比较|一直|现在|也|还)*(?:喜欢|爱(?:吃|喝|看|听|玩)?|偏爱|热爱)(?!这|那|你|他|她|的)(?P<o>[^，,。]{{1,20}}?){_END_ZH}"
        ),
        Kind.PREFERENCE,
        keyed=True,
        several=True,
        value="like",
    ),
    # --- what they usually do, and what a room agreed on ------------------------------------------------------------------------
    Rule("habit", _en(rf"i (?:usually|normally|always|typically|generally) (?P<o>.{{4,120}}?){_END}"), Kind.PREFERENCE),
    Rule("habit", _zh(rf"我(?:一般|通常|平时|习惯|总是|每天|每周\S?|每次)(?:都)?(?P<o>[^。]{{3,60}}?){_END_ZH}"), Kind.PREFERENCE),
    Rule(
        "agreement",
        _en(
            rf"(?:(?:the team|everyone|we(?:'ve| have)?)(?: all)? (?:have )?(?:agreed|decided)(?: (?:that|to|on))?|our (?:team )?(?:rule|policy|convention|agreement)(?:'s| is)(?: that| to)?|team (?:rule|agreement)[:,]?) (?P<o>.{{4,160}}?){_END}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.7,
    ),
    Rule(
        "agreement",
        _en(
            rf"we (?:always |never |usually |only )?(?P<o>(?:deploy|release|ship|meet|review|merge|rotate|have (?:our )?(?:stand-?up|retro|planning|sync)|do (?:stand-?ups?|retros?|releases|deployments)|use|freeze)\b.{{2,120}}?){_END}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.65,
    ),
    Rule(
        "agreement",
        _zh(
            rf"(?:(?:我们|团队|大家|咱们|本组|组里)(?:已经|都|一致)?(?:约定|决定|商定|同意|规定|说好)(?:了|好)?(?:，|,|：|:)?|团队(?:规定|约定)(?:是)?[：:，,]?)(?P<o>[^。]{{3,80}}?){_END_ZH}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.7,
    ),
    Rule(
        "agreement",
        _zh(
            rf"(?:我们|咱们|团队)(?P<o>(?:(?:每(?:周|天|月|个)|只在|一般在|固定在|都在|统一)[^。]{{2,60}}?|用[^。]{{2,40}}?(?:管理|跟踪|部署|协作)))(?P<v>){_END_ZH}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.65,
    ),
)

CASES: Final[tuple[re.Pattern[str], ...]] = (
    re.compile(
        rf"^{_LEAD}(?P<c>(?:when|whenever|every time|each time|any time|if) (?:i|you|we|somebody|someone|there)\b[^,，]{{3,80}}?)(?:\s*[,，]\s*|\s+(?=(?:please|just|only|always|never|don't|do not|skip|show|tell|give|use|start|begin|answer|leave|lead|put)\b))(?P<o>.{{4,200}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_LEAD}(?:for|in|on) (?P<c>(?:my |all |every )?[\w -]{{3,30}}?)\s*[,，]\s*(?P<o>(?:please |just |always |only )*(?:tell|show|give|use|skip|leave|start|lead|put|answer|write)\b.{{3,160}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_LEAD_ZH}(?P<c>(?:以后|今后|每次|每当|当|凡是|只要|如果)?(?:我|你|帮我|给我|有人)?[^，,。]{{2,24}}?(?:的时候|时|的话|时候))[，, ]*(?P<o>(?:请|就|都|只|直接|先|别|不要|不用|给我|告诉我|用|跳过|务必|一定)[^。]{{2,80}})$"
    ),
    re.compile(
        rf"^{_LEAD_ZH}(?P<c>(?:以后|今后|每次|凡是|只要)(?:我|帮我|给我)?[^，,。]{{2,16}}?)[，, ]+(?P<o>(?:请|就|都|只|直接|先|别|不要|不用|给我|告诉我|用|跳过)[^。]{{2,80}})$"
    ),
)
"""A wish for one sort of case: "when I check orders, just tell me where it is"."""
