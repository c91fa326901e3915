"""What in a person's own life a request touches: heights, water, pets, the way to work. Each has words of those who ask and of those who told. Pure.

A fact need not be asked for by name to matter: who plans a boat trip wants it known that they cannot swim, and who asks for an hour to call their boss
where the boss is. Such a fact fits a request that touches its aspect, if the request is about the person or asks for advice. Facts that are about none
of these have to be asked for themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_RELATIVES: Final[dict[str, tuple[str, str]]] = {
    "partner": (r"wife|husband|partner|spouse|fianc[ée]e?|girlfriend|boyfriend", "太太|老婆|妻子|爱人|我的?先生|老公|丈夫|女朋友|男朋友|我的?对象"),
    "mother": ("mother|mum|mom|parents", "妈妈|母亲|我妈|父母|爸妈"),
    "father": ("father|dad|parents", "爸爸|父亲|我爸|父母|爸妈"),
    "sister": ("sister", "姐姐|妹妹|我姐|我妹"),
    "brother": ("brother", "哥哥|弟弟|我哥|我弟"),
    "daughter": ("daughter", "女儿|闺女"),
    "son": ("son", "儿子"),
    "grandparents": (r"grand(?:mother|father|ma|pa|parents)", "奶奶|爷爷|外婆|外公|姥姥|姥爷"),
    "parents-in-law": (r"(?:mother|father|parents)-in-law|in-laws", "岳父|岳母|我的?公公|婆婆"),
}
"""Each with their names in English and in Chinese."""
_KIN: Final = rf"(?:{'|'.join(english for english, _ in _RELATIVES.values())})"
_KIN_ZH: Final = f"(?:孩子|{'|'.join(chinese for _, chinese in _RELATIVES.values())})"
_CHILD: Final = r"\b(?:my|our) (?:[\w-]+ )?(?:daughters?|sons?|kids?|child(?:ren)?|bab(?:y|ies)|toddlers?|twins)\b|女儿|儿子|孩子|小孩|宝宝|双胞胎|娃"
_PET: Final = (
    r"\bpets?\b|\b(?:my|our|an?) (?:[\w-]+ )?(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|parrots?)\b|宠物|[只条养遛的家](?:小)?(?:狗"
    r"|猫|兔子|仓鼠|鹦鹉)"
)
_CHIEF: Final = (
    r"\b(?:my|our) (?:[\w-]+ )?(?:manager|boss|supervisor|team lead|superior|chief)\b|(?:我|我们|咱们)(?:家|组|部门|团队)?的?(?:领导|老板|上司"
    r"|主管|经理|组长|上级)"
)
_HOME_DAYS: Final = (
    r"\b(?:work\w*|am|i'm) (?:\w+ )?(?:from home|remote(?:ly)?|at home)\b|\bhome[- ]office\b|\bwfh\b|在家(?:办公|上班|工作)|远程(?:办公|上班|工作)"
    r"|居家(?:办公|工作)"
)
_AWAY: Final = (
    r"\bwhile (?:i|we)(?:['’]m|['’]re| am| are) (?:away|gone|out|travell?ing)\b|\b(?:arrange|organi[sz]e|prepare|sort out|settle"
    r"|see to)\b[^.?!]{0,80}\bat home\b|\blook(?:ing)? after\b"
    r"|\b(?:house|pet|dog|cat|baby)[- ]?sit\w*|不在家|家里[^，。？]{0,6}(?:安排|准备|怎么办|没人)|看家|照看|照顾|寄养"
)

PLANS: Final = "plans"
"""The aspect every plan is about: who asks whether they have time wants to know of each."""

_ASPECTS: Final[dict[str, tuple[str, str]]] = {
    "heights": (
        (
            r"\bmountains?\b|\bcable ?(?:cars?|ways?)\b|\bgondolas?\b|\b(?:ski|chair) ?lifts?\b|\bferris wheels?\b|\broller ?coasters?\b"
            r"|\bclimb(?:ing)?\b|\bviewing platforms?\b"
            r"|\bobservation decks?\b|\bskyscrapers?\b|\bskywalks?\b|\brope (?:courses?|bridges?)\b|\bsuspension bridges?\b|\bbungee\b"
            r"|\bparaglid\w*|\bparachut\w*|\bballoon (?:ride|trip|flight)s?\b"
            r"|\bzip ?lin\w*|\b(?:top|highest|upper|high|\w+(?:tieth|teenth)|[1-9]\d(?:th|st|nd|rd)) floors?\b|\bheights\b"
            r"|缆车|索道|摩天轮|过山车|跳楼机|爬山|登山|攀岩|攀登|观景台|观光塔|玻璃栈道|玻璃桥|吊桥|蹦极|滑翔伞|跳伞|热气球|高空|高楼层|顶楼|顶层|恐高"
            r"|怕高|[一二三四五六七八九]?十[一二三四五六七八九]?[楼层]"
        ),
        r"\b(?:afraid|scared|fear|terrified|frightened) of heights\b|\bheights (?:scare|frighten|make)\b|\bvertigo\b|恐高|怕高|畏高",
    ),
    "crowds": (
        (
            r"\bcrowd\w*|\b(?:christmas|flea|street|night|sunday) markets?\b|\bfestivals?\b|\bconcerts?\b|\bparades?\b|\btrade fairs?\b"
            r"|\bfun ?fairs?\b|\bstadiums?\b"
            r"|\bshopping (?:mall|centre|center)s?\b|\brush hour\b|集市|市集|夜市|庙会|灯会|音乐节|演唱会|游行|展会|漫展|商场|高峰期|跨年"
        ),
        r"\bcrowd\w*|\btoo many people\b|\bclaustrophob\w*|人多|人挤人|拥挤|热闹|凑热闹",
    ),
    "nature": (
        (
            r"\bpicnics?\b|\bmeadows?\b|\bparks?\b|\bgardens?\b|\blawns?\b|\bgrass\b|\bforests?\b|\bwoods\b|\bfarms?\b|\bfields?\b|\bcamping\b"
            r"|野餐|草地|草坪|草原|公园|花园|森林|树林|农场|农家乐|露营"
        ),
        r"\bgrass\b|\bpollen\b|\bhay\b|\b(?:insects?|mosquito(?:es)?|wasps?|bees?|ticks?)\b|草地|花粉|柳絮|虫子|蚊子|蜜蜂|黄蜂",
    ),
    "stairs": (
        (
            r"\bstair\w*|\bsteps up\b|\blifts?\b|\belevators?\b|\bescalators?\b|\b(?:\w+(?:st|nd|rd|th)|top|upper) floors?\b|\bupstairs\b|楼梯|台阶"
            r"|电梯|爬楼|上楼|[几十二三四五六七八九]楼"
        ),
        r"\bstairs?\b|\bsteps\b|\blifts?\b|\belevators?\b|\bescalators?\b|楼梯|台阶|电梯|爬楼",
    ),
    PLANS: (
        (
            r"\b(?:am|are|will) (?:i|we) (?:be )?(?:free|available|away|around|busy|here|out|in town)\b|\bdo (?:i|we) have (?:time|plans"
            r"|anything|something)\b"
            r"|\bwhat (?:am i|are we) (?:doing|up to)\b|有空|有时间吗|有安排|没安排|在不在|忙不忙|什么(?:安排|计划|打算)"
        ),
        r"(?!)",
    ),
    "water": (
        (
            r"\bswim(?:s|ming|mers?)?\b(?![- ]?lanes?)|\bbeach(?:es)?\b|\bsea ?side\b|\bcoast\b|(?<!data )\blakes?\b|\briver\b|\bboats?\b"
            r"|\bkayak\w*|\bcanoe\w*|\braft(?:ing)?\b|\bsailing\b|\bsurf(?:ing|board)\b|\bsnorkel\w*"
            r"|\b(?:scuba )?diving\b|\bpaddl(?:e ?board\w*|ing)\b|\bcruises?\b|\bferry\b|游泳|泳池|海边|海滩|沙滩|海岛|湖上|湖边|河上|划船|坐船|皮划艇"
            r"|独木舟|漂流|帆船|冲浪|潜水|浮潜|游轮|桨板"
        ),
        r"\bswim(?:s|ming|mers?)?\b|\bseasick\w*|\b(?:afraid|scared|fear) of (?:the |deep )?(?:water|sea)\b|游泳|不会游|会游|怕水|旱鸭子|晕船",
    ),
    "climate": (
        (
            r"\bterraces?\b|\bbalcon(?:y|ies)\b|\bair[- ]?con\w*|\bheating\b|\bbeach(?:es)?\b|\bsea ?side\b|\bski(?:ing)?\b|\boutside\b|\bopen[- ]air\b"
            r"|\bpack\b"
            r"|阳台|露台|天台|室外|露天|空调|暖气|海边|海滩|沙滩|滑雪|(?:带|准备)[^，。？]{0,4}(?:行李|东西|什么)"
        ),
        (
            r"\bcold\b(?! (?:brew|calls?|calling|drinks?|storage|water|starts?|food|emails?))|\bfreez\w*|\bchilly\b|\bsun(?:shine|light"
            r"|burn\w*)?\b|\bsweat\w*|\bhumid\w*|\bburn easily\b"
            r"|\b(?:too|so|always) hot\b|\b(?:the|in) heat\b|怕冷|怕热|怕风|怕晒|手脚(?:冰)?凉|晒(?:伤|黑|太阳)|中暑|出汗"
        ),
    ),
    "travelling": (
        (
            r"\broad trips?\b|\b(?:i|we|me|us) (?:\w+ )?driv(?:e|ing)\b|\bdriv(?:e|ing) (?:to|through|from|over|home|there)\b|开车"
            r"|\bcoach(?:es)? (?:tour|trip|ride)s?\b|\bbus (?:tour|trip|ride)s?\b|\btaxis?\b|自驾|大巴|打车|坐车|包车"
        ),
        (
            r"\b(?:car|motion|air|travel|train)[- ]?sick\w*|\bsick (?:in|on|when)\b[^.]{0,80}\b(?:car|bus|coach|train|plane|backwards?|travel\w*)\b"
            r"|\bfear of flying\b"
            r"|\bafraid of flying\b|晕车|晕机|怕坐飞机|(?:倒着|反方向|背着方向)坐"
        ),
    ),
    "pets": (rf"{_PET}|{_AWAY}", rf"{_PET}|^(?:pet|dog|cat)\b"),
    "children": (rf"{_CHILD}|\b(?:for|with) (?:the )?(?:kids|children)\b|\bfamily[- ](?:friendly|trip|outing|weekend)\b|亲子|{_AWAY}", _CHILD),
    "occasions": (
        (
            rf"\bgifts?\b|\bpresents? for\b|\b(?:give|buy|get|surprise|bring)(?: to)? (?:my|our) {_KIN}\b|\banniversar(?:y|ies)\b|礼物"
            rf"|送(?:给)?(?:我的?)?{_KIN_ZH}|给(?:我的?)?{_KIN_ZH}(?:买|送|准备)|纪念日"
        ),
        rf"\banniversary\b|\b{_KIN}['’]s birthday\b|纪念日|{_KIN_ZH}的?生日",
    ),
    "commute": (
        (
            r"\b(?:get|go|come|travel|drive|cycle|walk|make it) (?:in ?)?to (?:the )?(?:office|work)\b|\bcommut\w*|\bway to (?:the )?(?:office"
            r"|work)\b|怎么(?:去)?上班|上班怎么[去走]|怎么[去来到]公司|去上班|坐几号线|通勤|\b(?:take|ride|use|catch)\b[^.?!]{0,80}\bto (?:the )?(?:work"
            r"|office)\b"
        ),
        (
            r"\b(?:cycle|bike|drive|walk|commute|ride|run)\b[^.]{0,24}\bto (?:the )?(?:work|office)\b|\bto (?:the )?(?:work|office) by\b|\bcommut\w*"
            r"|(?:骑[^，。]{0,4}车|开车|走路|步行|[坐乘][^，。]{1,4})[^，。]{0,2}(?:上班|去公司|到公司)|通勤"
        ),
    ),
    "presence": (
        (
            r"\b(?:meet|come|be|see you|see us|drop by)\b[^.?!]{0,80}\b(?:at|in|to|into) the office\b|\bin person\b|\bface[- ]to[- ]face\b|\bon[- ]site\b"
            rf"|[在来到去](?:公司|办公室)[^，。？]{{0,4}}(?:谈|聊|见|碰|面|开会|吗)|当面|面谈|来公司|{_HOME_DAYS}"
        ),
        rf"{_HOME_DAYS}|\bin the office (?:on|every|only)\b|(?:周|星期)[一二三四五六日天、和到至]+[^，。]{{0,4}}(?:在|来|到|去)(?:公司|办公室)",
    ),
    "chief": (_CHIEF, rf"{_CHIEF}|^(?:manager|boss)\b"),
    "car": (
        (
            r"\b(?:i|we|me|us) (?:are |am |will be )?driv(?:e|ing)\b|\bdriv(?:e|ing) (?:to|through|from|over|home|there)\b"
            r"|\bwhere (?:\w+ ){0,3}(?:charge|refuel)\b|\bcharge (?:the|my|our) car\b"
            r"|\bcharging (?:stations?|points?)\b|\bpetrol\b|\bgas station\b|\bgarage\b|\bmy car\b|开车|自驾|充电|加油|停车|我的车(?!位)|车险"
        ),
        (
            r"\b(?:electric|hybrid|diesel|petrol|company) cars?\b|\bmy car\b|\bi drive (?:an?|my)\b|\bi (?:don['’]t|do not|cannot"
            r"|can['’]t) drive\b|电动车|电车|油车|混动|我的车(?!位)|我开的|不会开车|没有?驾照"
        ),
    ),
    "instruments": (
        (
            r"\binstruments?\b|\b(?:guitar|piano|violin|cello|drums?|flute|saxophone|clarinet|trumpet|ukulele)s?\b|\bsheet music\b|乐器|吉他|钢琴|小提琴"
            r"|大提琴|架子鼓|长笛|萨克斯|古筝|二胡|琴弦|乐谱"
        ),
        r"\b(?:guitar|piano|violin|cello|drums|flute|saxophone|clarinet|trumpet|ukulele)\b|吉他|钢琴|小提琴|大提琴|架子鼓|长笛|萨克斯|古筝|二胡",
    ),
    "hands": (
        r"\b(?:computer )?mouse\b|\bmice\b|\bscissors\b|\bkeyboards?\b|\bpens?\b|\bgolf clubs?\b|\bguitars?\b|\bknife\b|鼠标|剪刀|键盘|钢笔|球拍|吉他|菜刀",
        r"\bleft[- ]handed\b|\blefty\b|左撇子|用左手|惯用左手",
    ),
    "sight": (
        r"\b(?:colou?rs?|colou?r scheme|monitors?|screens?|charts?|slides?|font(?: size)?s?|projector)\b|颜色|配色|显示器|屏幕|图表|幻灯片|字号|字体",
        r"\bcolou?r[- ]?blind\w*|\b(?:short|near|far|long)-?sighted\b|\b(?:wear|my) glasses\b|\bbad eyesight\b|色盲|色弱|近视|远视|老花|戴眼镜",
    ),
    "hours": (
        (
            r"\b(?:calls?|meet\w*|appointments?|workshops?|trainings?|ring|phone|message)\b[^.?!]{0,80}\b(?:in the evening|at night|late|midnight"
            r"|after (?:work|hours|dinner)|before (?:six|seven|eight|work)|at dawn)\b"
            r"|(?:晚上|夜里|深夜|半夜|凌晨|清晨|下班后|一大早)[^，。？]{0,12}(?:会|电话|培训|面谈|聊)"
        ),
        (
            r"\b(?:early bird|night owl|morning person|evening person)\b|\b(?:sleep|bed|get up|wake up|rise) (?:\w+ )?(?:early|late|at|by|before"
            r"|after)\b|\b(?:messages?|calls?|offline|reachable) (?:\w+ )?(?:after|before) (?:\w+)\b"
            r"|早睡|睡得(?:早|晚)|夜猫子|早起|起得(?:早|晚)|点(?:以?后|之后|以?前|之前)不|下班后不"
        ),
    ),
    "quiet": (
        (
            r"\bmeeting rooms?\b|\bwhere (?:could|should|can|do) (?:i|we) (?:work|sit)\b|\bco-?working\b|\bopen[- ]plan\b|\bnew desk\b|在哪(?:里"
            r"|儿)?办公|换(?:个)?(?:座位|工位)|共享办公|会议室"
        ),
        r"\bnois[ey]\w*|\bquiet\b|\bopen[- ]plan\b|\bheadphones\b|安静|太吵|怕吵|噪音|耳机",
    ),
    "sizes": (
        (
            r"\b(?:t-?shirts?|shirts?|hoodies?|shoes?|boots|jackets?|trousers|uniforms?|vests?|jerseys?)\b|\b(?:my|which|what) sizes?\b|T恤|工服|工装|衬衫"
            r"|鞋|外套|尺码|制服"
        ),
        r"\bsize(?: is)? (?:x*[sml]|\d+)\b|\bi wear (?:an? )?(?:size )?(?:x*[sml]|\d+)\b|尺码|鞋码|穿[^，。]{0,6}[码号]",
    ),
    "editor": (
        r"\b(?:code |text )?editors?\b|\bides?\b|编辑器|开发环境",
        (
            r"\b(?:neo)?vim\b|\bemacs\b|\bvs ?code\b|\bvisual studio\b|\bintellij\b|\bpycharm\b|\bwebstorm\b|\bgoland\b|\bsublime\b|\bxcode\b"
            r"|\beclipse\b|\b(?:editor|ide)\b|编辑器"
        ),
    ),
    "browser": (r"\bbrowsers?\b|浏览器", r"\b(?:chrome|chromium|firefox|safari|edge|brave|vivaldi|opera|browser)\b|浏览器"),
    "computer": (
        r"\b(?:laptop|notebook|computer|operating system)\b|笔记本|电脑|操作系统",
        r"\b(?:laptop|notebook|computer|thinkpad|macbook|imac|surface|linux|ubuntu|fedora|debian|windows|macos)\b|笔记本电脑|我的笔记本|电脑|操作系统",
    ),
    "moving": (
        (
            r"\bmov(?:e|ing) (?:house|home|flats?|apartments?)\b|\b(?:am|are|do|did|will) (?:i|we) (?:\w+ ){0,3}mov(?:e|ing)\b|\bi(?:['’]m"
            r"| am) moving\b|\bnew (?:flat|home|apartment|house|address)\b"
            r"|\bchange of address\b|\bremovals?\b|搬家|新家|新房|新地址|搬到|搬去"
        ),
        r"\bmov(?:e|ing) (?:house|home|flats?|apartments?|to|into|out)\b|\bi(?:['’]m| am|['’]ll| will) mov(?:e|ing)\b|\brelocat\w*|搬(?:家|到|去|进)|迁居",
    ),
}
_OF_RELATIVES: Final = {name: rf"\b(?:my|our) (?:[\w-]+ )?(?:{english})s?\b(?!-in-law)|{chinese}" for name, (english, chinese) in _RELATIVES.items()}
_PATTERNS: Final = tuple(
    (name, re.compile(asked, re.IGNORECASE), re.compile(told, re.IGNORECASE))
    for name, (asked, told) in (_ASPECTS | {name: (each, each) for name, each in _OF_RELATIVES.items()}).items()
)
_TASTE: Final = re.compile(
    r"\bi(?: (?:really|also|usually|just|strictly|simply|absolutely))? (?:don['’]t|do not|can['’]t|cannot|could never|never|won['’]t"
    r"|no longer|only|hate|dislike|love|like|prefer|avoid|enjoy|can['’]t stand)\b"
    r"|\bmy favou?rites?\b|\bi(?:['’]m| am) (?:allergic|intolerant|afraid|scared|vegetarian|vegan)\b"
    r"|我(?:们家)?(?:现在|从来|一向|平时|一般|一直|绝对|也|都)?(?:不(?!是|在|知道|清楚|确定)|讨厌|喜欢|偏爱|最爱|爱(?!人)|只(?!是|有)|忌|怕"
    r"|受不了)|我最(?:喜欢|爱|讨厌|怕)|我对[^，。]{1,8}过敏",
    re.IGNORECASE,
)
"""A liking, an aversion or a limit of the person's own."""


@lru_cache(maxsize=2_048)
def touched(request: str) -> frozenset[str]:
    """The aspects of the person's life that a request touches; none is usual."""
    return frozenset(name for name, asked, _ in _PATTERNS if asked.search(request))


@lru_cache(maxsize=2_048)
def aspects_of(told: str) -> frozenset[str]:
    """The aspects that what a person told is about."""
    return frozenset(name for name, _, said in _PATTERNS if said.search(told))


def is_taste(told: str) -> bool:
    """Whether a person tells what they like, do not like or cannot do: kept as a fact or as a wish, it counts like a wish."""
    return _TASTE.search(told) is not None
