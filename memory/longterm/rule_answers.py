"""How people want to be answered: language, length, form, units, and when not to be written to."""

from __future__ import annotations

from typing import Final

from memory.longterm.memory import Kind
from memory.longterm.rule_form import END, END_ZH, FROM_NOW, FROM_NOW_ZH, Rule, en, zh

LANGUAGE: Final = "(?:chinese|english|mandarin|cantonese|german|french|spanish|portuguese|italian|dutch|japanese|korean|russian|arabic|hindi)"
_LANGUAGE_ZH: Final = "(?:中文|英文|英语|汉语|普通话|日语|法语|德语|西班牙语|韩语|俄语|葡萄牙语|意大利语)"
_WISH: Final = r"(?:(?:use|show|give|tell|report|write|format|display|put|express|i (?:use|prefer|like|want|think in)|i'd (?:like|prefer))(?: me)?(?: (?:the |all |my )?(?:temperatures|prices|amounts|costs|budgets|distances|weights|dates|times|numbers|everything|them))?(?: (?:in|as|with))?) "
_WISH_ZH: Final = "(?:(?:温度|气温|天气|价格|金额|费用|距离|重量|日期|时间)(?:都|请|一律)*)?(?:用|使用|以|按|写成?|显示(?:为|成)?|请用)"
_AFTER_ZH: Final = "(?:来)?(?:表示|显示|告诉我|计算|写|格式|制|回答|计价|的形式)*"

ANSWERS: Final[tuple[Rule, ...]] = (
    Rule(
        "reply_language",
        en(
            rf"{FROM_NOW}(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)?(?: only| always)? in (?P<v>{LANGUAGE})(?: from now on| always| please| only)*{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_language",
        en(rf"i (?:prefer|want|would like|'d like) (?:you to (?:answer|reply) in |answers? in |replies in )(?P<v>{LANGUAGE}){END}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_language",
        zh(
            rf"{FROM_NOW_ZH}(?:用|使用|改用|改成|说|讲)(?P<v>{_LANGUAGE_ZH})(?:来|跟我|和我|给我)?(?:回答|回复|答复|交流|说话|沟通|聊天|对话|说|写)?(?:我)?(?:的?问题)?{END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_length",
        en(
            rf"{FROM_NOW}(?:(?:keep|make|give me|i (?:like|prefer|want)|i'd like)\s+)?(?:(?:your|the|my|me)\s+)?(?:it\s+)?(?:answers?|replies|responses?)?\s*(?P<v>short|brief|concise|to the point|detailed|long|longer|shorter|in one sentence)(?:\s+(?:answers?|replies|responses?))?(?: please| from now on| always)*{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        zh(
            rf"{FROM_NOW_ZH}(?:我喜欢|我想要)?(?:你的)?(?:回答|回复|答案|说话|答复)(?:我)?(?:的时候|时)?(?:要|请|得|都|尽量|可以)*(?P<v>简短|简洁|短|精简|简单|详细|长|具体)(?:一点|一些|点|些)?(?:的)?(?:回答|回复)?{END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        zh(rf"{FROM_NOW_ZH}(?P<v>简短|简洁|详细)(?:一点|一些|点|些|地)*(?:回答|回复)(?:我)?{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_format",
        en(
            rf"{FROM_NOW}(?:use|answer (?:in|with)|reply (?:in|with)|format (?:it |them |answers )?as|i (?:like|prefer)|don't use|never use|no)\s+(?P<v>bullet points?|bullets|tables?|markdown|plain text|emojis?|code blocks?)(?: in (?:your )?(?:answers|replies))?(?: please| from now on)*{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.75,
    ),
    Rule(
        "reply_format",
        zh(rf"{FROM_NOW_ZH}(?:不要|别)?(?:用|使用|带|发)(?P<v>要点|列表|表格|纯文本|表情(?:符号)?|emoji)(?:的形式|来|形式)?(?:回答|回复|列出)?(?:我)?{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.75,
    ),
    Rule(
        "reply_language",
        en(rf"{FROM_NOW}(?:stick to|speak|use|talk) (?P<v>{LANGUAGE})(?: (?:with|to) me| when (?:you )?.{{3,40}}| from now on| only)*{END}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.9,
    ),
    Rule(
        "reply_language",
        en(
            rf"(?:please )?(?:don't|do not|never|stop) (?:answer|reply|respond|write|speak|talk|use|using|answering|replying|writing)(?: to me| me)?(?: in)? (?P<v>{LANGUAGE})(?: any ?more| to me)?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.8,
    ),
    Rule(
        "reply_language",
        zh(rf"(?:以后|今后)?(?:请)?(?:别再?|不要再?)(?:用|说|讲)(?P<v>{_LANGUAGE_ZH})(?:回答|回复|跟我说话|说话|聊天)?(?:我)?{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        en(
            rf"{FROM_NOW}(?:(?:be|stay) (?P<v>brief|concise|short|more concise|more detailed|to the point)|(?:don't|do not) be (?:so |too )?(?P<o>verbose|wordy|long-winded)|no (?P<o2>long (?:answers|replies|explanations))|(?:don't|do not) (?:write|send)(?: me)? (?:long|walls of) (?:answers|replies|text)){END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        zh(rf"{FROM_NOW_ZH}(?:回答|回复|说话|说|答复)?(?:的时候)?(?:别|不要)(?:太|这么|那么|再)?(?P<o>啰嗦|罗嗦|长篇大论|长|冗长|说太多|写太长){END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_format",
        en(
            rf"{FROM_NOW}(?:no|stop using|without|avoid|leave out|skip)(?: the| any)? (?P<v>emojis?|tables?|bullet points?|markdown)(?: in (?:your )?(?:answers|replies))?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        negated=True,
        importance=0.75,
    ),
    Rule(
        "reply_format",
        zh(rf"{FROM_NOW_ZH}(?:回答|回复)(?:里|中|时)?(?:面)?(?:别|不要)(?:再)?(?:用|带|有|加)(?P<v>表情(?:符号)?|表格|列表|emoji){END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        negated=True,
        importance=0.75,
    ),
    Rule(
        "reply_length",
        zh(rf"我(?:更)?(?:喜欢|想要|偏好|要)(?P<v>简短|简洁|精简|简单|详细|具体|长|短)(?:一点|一些|点)?的?(?:回答|回复|答案){END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule(
        "reply_length",
        en(
            rf"i (?:like|prefer|want|need|'d like) (?:your |my )?(?P<v>short|brief|concise|long|detailed|longer|shorter) (?:answers?|replies|responses?)(?: (?:in|on|from) .{{2,24}}?)?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.8,
    ),
    # --- units, formats, currency -----------------------------------------------------------------------------------------------------
    Rule(
        "unit:temperature",
        en(rf"{FROM_NOW}{_WISH}(?:degrees )?(?P<v>celsius|fahrenheit|centigrade)(?: for (?!this|that|these|the following|it\b|now).{{3,30}})?{END}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "unit",
        en(
            rf"{FROM_NOW}{_WISH}(?:the )?(?P<v>metric|imperial)(?: (?:units|system|measurements))?(?: for (?!this|that|these|the following|it\b|now|me\b).{{2,30}}| for me)?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "unit:distance",
        en(rf"{FROM_NOW}{_WISH}(?P<v>kilomet(?:re|er)s|km|miles)(?: for (?!this|that|these|the following|it\b|now).{{3,30}})?{END}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "unit:weight",
        en(rf"{FROM_NOW}{_WISH}(?P<v>kilos|kilograms|kg|pounds and ounces|lbs)(?: for (?!this|that|these|the following|it\b|now).{{3,30}})?{END}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "currency",
        en(
            rf"{FROM_NOW}{_WISH}(?P<v>euros?|us dollars|dollars|usd|eur|gbp|cny|rmb|yuan|yen|jpy|swiss francs|chf|pounds sterling)(?: for (?!this|that|these|the following|it\b|now).{{3,30}})?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "date_format",
        en(
            rf"{FROM_NOW}{_WISH}(?P<v>(?:yyyy|dd|mm)[-/.](?:mm|dd)[-/.](?:yyyy|dd|yy)|iso(?: 8601)?(?: dates?| format)?|day[- ]first(?: dates?)?|(?:us|european|british)(?:[- ]style)? dates?)(?: for (?!this|that|these|the following|it\b|now).{{3,30}})?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "time_format",
        en(rf"{FROM_NOW}{_WISH}(?:the |a )?(?P<v>24[- ]?h(?:our)?|12[- ]?h(?:our)?)(?:[- ](?:clock|format|time|times))*(?: (?:for|when) .{{3,40}})?{END}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule("unit:temperature", zh(rf"{FROM_NOW_ZH}{_WISH_ZH}(?P<v>摄氏度?|华氏度?){_AFTER_ZH}{END_ZH}"), Kind.PREFERENCE, single=True, importance=0.7),
    Rule("unit", zh(rf"{FROM_NOW_ZH}(?:我(?:习惯|喜欢))?{_WISH_ZH}(?P<v>公制|英制)(?:单位)?{_AFTER_ZH}{END_ZH}"), Kind.PREFERENCE, single=True, importance=0.7),
    Rule("unit:distance", zh(rf"{FROM_NOW_ZH}{_WISH_ZH}(?P<v>公里|千米|英里){_AFTER_ZH}{END_ZH}"), Kind.PREFERENCE, single=True, importance=0.7),
    Rule("unit:weight", zh(rf"{FROM_NOW_ZH}{_WISH_ZH}(?P<v>公斤|千克|磅){_AFTER_ZH}{END_ZH}"), Kind.PREFERENCE, single=True, importance=0.7),
    Rule(
        "currency",
        zh(rf"{FROM_NOW_ZH}{_WISH_ZH}(?P<v>人民币|美元|美金|欧元|英镑|日元|港币|港元){_AFTER_ZH}{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "date_format",
        zh(
            rf"{FROM_NOW_ZH}(?:日期(?:都|请|一律|格式)*)(?:用|使用|写成?|是|按|以)(?P<v>年[-/.]?月[-/.]?日|日[-/.]?月[-/.]?年|YYYY[-/.]MM[-/.]DD|DD[-/.]MM[-/.]YYYY|\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|ISO)(?:这种|的)?(?:格式|形式)?{_AFTER_ZH}{END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    Rule(
        "time_format",
        zh(rf"{FROM_NOW_ZH}(?:时间(?:都|请|一律|格式)*)?(?:用|使用|按|以)(?P<v>24小时制?|12小时制?|二十四小时制?|十二小时制?){_AFTER_ZH}{END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        importance=0.7,
    ),
    # --- when to leave them alone ---------------------------------------------------------------------------------------------------
    Rule(
        "contact_hours",
        en(
            rf"{FROM_NOW}(?:don't|do not|never|stop) (?:ping|pinging|message|messaging|dm|disturb|disturbing|contact|contacting|write|writing|notify|notifying|text|texting|bother|bothering|call|@)(?: to)? ?me (?P<v>(?:before|after|on|at|during|outside|between|in the|over the)\b.{{2,40}}?){END}"
        ),
        Kind.PREFERENCE,
        importance=0.7,
    ),
    Rule(
        "contact_hours",
        zh(
            rf"{FROM_NOW_ZH}(?:在)?(?P<v>(?:早上|上午|中午|午休|下午|晚上|夜里|周末|周[一二三四五六日天]|节假日|下班|休假|\d{{1,2}}点|[一二三四五六七八九十]{{1,3}}点)[^，,。别不]{{0,12}}?)(?:请|都|也)*(?:别|不要|请勿|勿)(?:再)?(?:来)?(?:找我|打扰我|联系我|给我发(?:消息|通知)|发消息给我|提醒我|@我|叫我|通知我){END_ZH}"
        ),
        Kind.PREFERENCE,
        importance=0.7,
    ),
    Rule(
        "contact_hours",
        zh(rf"{FROM_NOW_ZH}(?:别|不要|请勿)(?:再)?在(?P<v>[^，,。]{{2,14}}?)(?:找我|打扰我|联系我|给我发(?:消息|通知)|发消息给我|提醒我|@我|通知我){END_ZH}"),
        Kind.PREFERENCE,
        importance=0.7,
    ),
    Rule("reply_language", en(rf"(?P<v>{LANGUAGE}) only(?: please)?{END}"), Kind.PREFERENCE, single=True, always=True, importance=0.85),
    Rule("reply_length", zh(rf"{FROM_NOW_ZH}(?P<v>长话短说|一句话回答|言简意赅){END_ZH}"), Kind.PREFERENCE, single=True, always=True, importance=0.8),
)
