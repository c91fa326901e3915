"""What people say of themselves: how they are called, when they were born, where they live, what they speak."""

from __future__ import annotations

from typing import Final

from memory.longterm.memory import Kind
from memory.longterm.rule_form import END, END_ZH, FROM_NOW, FROM_NOW_ZH, Rule, en, zh

_LANGUAGES: Final = (
    r"(?:english|chinese|mandarin|cantonese|german|french|spanish|portuguese|italian|dutch|japanese|korean|russian|arabic|hindi|polish|swedish|turkish|"
    r"中文|普通话|粤语|英语|英文|德语|法语|西班牙语|葡萄牙语|意大利语|日语|韩语|俄语|阿拉伯语)"
)
_NO_NAME: Final = r"(?!before|after|on\b|at\b|when|if\b|in\b|during|while|late|early|tomorrow|today|tonight|now\b|about|for\b|from|until|between|this|that|names?\b|again|any ?more|back|over|unless|not\b|crazy|old|stupid|paranoid|silly|picky|lazy|weird|naive|cynical|biased|out\b|in\b|up\b|an?\b|the\b|by\b|if\b|whatever|anything|as\b|with\b|through|to\b|some|soon|asap|immediately|once|first|next)"

PERSON: Final[tuple[Rule, ...]] = (
    Rule(
        "name",
        en(rf"(?:(?:don't|do not|never) call|stop calling|quit calling) me {_NO_NAME}(?P<v>[\w'’“”\" .-]{{1,30}}?)(?: any ?more| again| any longer)?{END}"),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.7,
    ),
    Rule(
        "name",
        zh(
            rf"(?:以后|今后)?(?:请)?(?:别再?|不要再?|不用再?)(?:叫我|称呼我(?:为)?|喊我)(?!起床|开会|吃饭|去|来|帮|做|看|加班)(?P<v>[^，,。\s]{{1,12}}?){END_ZH}"
        ),
        Kind.PREFERENCE,
        single=True,
        negated=True,
        retracts=True,
        importance=0.7,
    ),
    Rule(
        "pronouns",
        en(
            rf"(?:my pronouns are|i (?:use|go by)|(?:please )?(?:refer to me (?:as|with)|use)) (?P<v>(?:she|he|they|xe|ze)(?: ?/ ?\w+|\s+and \w+)*)(?: pronouns| for me| when you .{{2,30}})*{END}"
        ),
        single=True,
        always=True,
        importance=0.8,
    ),
    Rule("pronouns", zh(rf"我的?(?:人称)?代词(?:是|用)(?P<v>[^，,。]{{1,10}}?){END_ZH}"), single=True, always=True, importance=0.8),
    Rule("pronouns", zh(rf"(?:请|以后)*(?:用|使用)[“\"]?(?P<v>她|他|TA)[”\"]?(?:来)?(?:称呼|指代)我{END_ZH}"), single=True, always=True, importance=0.8),
    Rule(
        "name",
        en(
            rf"{FROM_NOW}(?:you can |just )?call me {_NO_NAME}(?P<v>[\w'’“”\" .-]{{1,40}}?)(?:, (?:everybody|everyone|they all|my friends) (?:does|do|calls? me that))?{END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        en(
            rf"my (?:first |last |full |real )?name(?:'s| is)(?: now| actually)? (?!not\b|in\b|on\b|spelled|misspelled|wrong|missing|hard|too\b|common|easy|the same)(?P<v>[\w'’ .-]{{1,40}}?){END}"
        ),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        zh(rf"{FROM_NOW_ZH}(?:可以)?(?:叫我|称呼我(?:为)?|喊我)(?![一去来们做帮看起开吃喝到上下回过加等写查发给别的])(?P<v>[^，,。\s]{{1,12}}?){END_ZH}"),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule(
        "name",
        zh(rf"我(?:的(?:名字|姓名)(?:是|叫)|叫|名叫|姓名是)(?P<v>[^，,。\s做吃喝去来给在了他她车不]{{1,12}}?){END_ZH}"),
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule("birthday", en(rf"my birthday(?:'s| is| falls on)(?: on)? (?!not\b)(?=[^,]*\d)(?P<v>[\w ,./-]{{3,30}}?){END}"), single=True, importance=0.8),
    Rule("birthday", en(rf"i was born (?:on|in) (?=.*\d)(?!\d{{4}}\b(?!-))(?P<v>[\w ,./-]{{3,30}}?){END}"), single=True, importance=0.8),
    Rule(
        "birthday",
        zh(rf"我(?:的)?生日(?:是|在)?(?=[^，,。]*[\d一二三四五六七八九十])(?!.{{0,3}}(?:天|周|星期|个月))(?P<v>[^，,。]{{2,16}}?){END_ZH}"),
        single=True,
        importance=0.8,
    ),
    Rule("birthday", zh(rf"我(?:是)?(?:出生于|生于)?(?P<v>\d{{1,4}}年?\d{{1,2}}月\d{{1,2}}[日号])(?:出生|生)的?{END_ZH}"), single=True, importance=0.8),
    Rule("home", en(rf"i (?:no longer|don't) live in (?P<v>[\w ,.'-]{{2,40}}?)(?: any ?more)?{END}"), single=True, negated=True, retracts=True, importance=0.6),
    Rule(
        "home",
        en(
            rf"i(?:'ve| have| just|'m)? (?:now |currently )?(?:live|living|moved?|moved back|relocated|based) (?:in|to|near) (?!fear\b|hope\b|denial|meetings|the (?!netherlands|uk\b|us\b|usa|hague|philippines|countryside|suburbs|city|mountains|south|north|east|west|cent|czech|bay area)|slack\b|excel\b|the (?:office|past|future|moment)|peace\b|my\b|.*\b(?:team|department|dept|group|squad|role|position|project|apartment|flat|house|another|different)\b)(?P<v>[\w ,.'-]{{2,40}}?)(?: (?:since|last|this|a) .{{1,20}})?{END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("home", en(rf"i(?:'m| am) (?:now |currently )?(?:based|living|located) in (?P<v>[\w ,.'-]{{2,40}}?){END}"), single=True, importance=0.7),
    Rule(
        "home",
        zh(rf"我(?:已经|现在|早就)?不(?:再)?住(?:在)?(?!得|院|校|过)(?P<v>[^，,。]{{2,12}}?)(?:住)?{END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "home",
        zh(
            rf"我(?:现在|已经|刚|目前|上个?月|去年|今年|最近)*(?:住(?:在)?|定居在?|搬到|搬去|搬家到|搬来)(?:了)?(?!酒店|宾馆|[一二三四五六七八九十\d]+楼|工位|哪|远|近|在|院|校|宿|得|不|过|新|三|另|公司|办公室|会议室|一起|这|那)(?P<v>[^，,。]{{2,16}}?){END_ZH}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "home",
        zh(rf"我家(?:现在)?(?:就)?(?:住|在)(?:在)?(?!装修|搬|哪|附近|这|那|等|办|开|停|在)(?P<v>[^，,。]{{2,16}}?){END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule("birthday", zh(rf"我(?P<v>[\d一二三四五六七八九十]{{1,3}}月[\d一二三四五六七八九十]{{1,3}}[日号])(?:过)?生日{END_ZH}"), single=True, importance=0.8),
    Rule("origin", en(rf"i(?:'m| am) (?:originally )?from (?P<v>(?-i:[A-Z])[\w .'-]{{1,30}}?)(?: originally)?{END}"), single=True, importance=0.6),
    Rule("origin", en(rf"i (?:come from|grew up in|was born in) (?P<v>(?-i:[A-Z])[\w .'-]{{1,30}}?){END}"), single=True, importance=0.6),
    Rule("origin", zh(rf"我(?:来自|老家(?:在|是))(?P<v>[\u4e00-\u9fff]{{2,6}}?){END_ZH}"), single=True, importance=0.6),
    Rule("native_language", en(rf"my (?:native language|mother tongue|first language) is (?P<v>{_LANGUAGES}){END}"), single=True, importance=0.6),
    Rule("native_language", zh(rf"我的?母语是(?P<v>{_LANGUAGES}){END_ZH}"), single=True, importance=0.6),
    Rule(
        "speaks",
        en(rf"i (?:also |can )*speak (?:fluent |good |some )?(?P<o>{_LANGUAGES}(?:(?:,| and|, and) (?:a (?:bit|little) (?:of )?|some )?{_LANGUAGES})*){END}"),
        keyed=True,
        several=True,
        importance=0.6,
    ),
    Rule("speaks", en(rf"i (?:don't|do not|can't|cannot) speak (?:any )?(?P<o>{_LANGUAGES}){END}"), keyed=True, negated=True, importance=0.6),
    Rule("speaks", zh(rf"我(?:也|还)?(?:会|能|懂)(?:说|讲)?(?P<o>{_LANGUAGES}(?:[和、跟]{_LANGUAGES})*){END_ZH}"), keyed=True, several=True, importance=0.6),
    Rule("speaks", zh(rf"我不(?:会|懂)(?:说|讲)?(?P<o>{_LANGUAGES}){END_ZH}"), keyed=True, negated=True, importance=0.6),
    Rule(
        "pet",
        en(
            rf"i(?:'ve got| have| own) (?:an?|two|three|\d) (?:[\w-]+ )?(?P<o>dogs?|cats?|rabbits?|parrots?|hamsters?|turtles?|horses?|birds?)(?: (?:called|named) .{{2,30}})?{END}"
        ),
        keyed=True,
        importance=0.45,
    ),
    Rule("pet", zh(rf"我(?:家)?(?:养了?|有)(?:[一二两三\d]?(?:只|条|匹|个))?(?P<o>猫|狗|兔子|鹦鹉|仓鼠|乌龟|马){END_ZH}"), keyed=True, importance=0.45),
    Rule("learning", en(rf"i(?:'m| am) (?:learning|studying) (?P<o>{_LANGUAGES}){END}"), keyed=True, importance=0.5),
    Rule("learning", zh(rf"我(?:正?在|最近在|一直在)学(?:习)?(?P<o>{_LANGUAGES}){END_ZH}"), keyed=True, importance=0.5),
    Rule(
        "name",
        en(
            rf"(?:i(?:'d| would)? (?:prefer|like|want) to be called|please address me as|i go by|my nickname is) (?!she\b|he\b|they\b|bus|train|car\b|foot|the\b|a\b){_NO_NAME}(?P<v>[\w'’ .-]{{1,30}}?){END}"
        ),
        Kind.PREFERENCE,
        single=True,
        always=True,
        importance=0.85,
    ),
    Rule("name", zh(rf"我的(?:英文名|花名|昵称|小名)(?:是|叫)(?P<v>[^，,。\s]{{1,16}}?){END_ZH}"), Kind.PREFERENCE, single=True, always=True, importance=0.85),
    Rule("home", zh(rf"我(?:现在|目前|已经|长期)*(?:常驻|base在|定居)(?P<v>[\u4e00-\u9fff]{{2,8}}?){END_ZH}"), single=True, importance=0.65),
)
