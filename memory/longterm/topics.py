"""What a text is about, as one of a few topics of everyday life, and what somebody who asks for advice about one would want known. Pure.

Likeness of words and of meaning does not lead from "going to Guangzhou for two days, any advice?" to "I hate rainy days": what connects them is that
a journey has to do with weather. That is what stands here. A wish or a plan whose topic is asked about is told, and what is usual where the person asks
about themselves or for advice; a fact only by an aspect of the person's life (`aspects`). Everything else has to be alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.longterm.aspects import PLANS, aspects_of, is_taste, touched
from memory.longterm.memory import Kind

_TOPICS: Final[dict[str, str]] = {
    "order": r"\b[a-z]{2,6}-\d{4,8}-\d{2,6}\b|\borders?\b(?! me\b)|\bparcels?\b|\bdeliver(?:y|ies)\b|\bshipments?\b|\bpackages?\b|\blogistics\b|订单|快递|物流|包裹|发货",
    "travel": (
        r"\btravell?\w*|\btrips?\b|\bvacations?\b|(?<!public )(?<!bank )\bholidays?\b|\bgetaway\b|\bitinerary\b"
        r"|\b(?:going|go|fly|flying|heading|off|moving around) to (?:the )?(?-i:[A-Z])|\bvisit(?:ing)? (?-i:[A-Z])|\btrade fair\b"
        r"|\b(?:going|go|flying|off) to \w+ (?:for (?:an?|the|one|two|three|four|five|\d+|some)\b|next\b|this\b|tomorrow\b|on\b|in (?:may"
        r"|june|july|spring|summer)\b)"
        r"|出差|旅行|旅游|度假|行程|攻略|去[\u4e00-\u9fff]{2,4}(?:玩|旅|出差|[一二两三四五六七八九十几\d]+(?:天|周|晚))"
    ),
    "transport": (
        r"\bflights?\b|\bfly(?:ing)?\b|\bplanes?\b|\bairlines?\b|\btrains?\b(?! (?:for|and|an?|the|our|my|new|them|him|her|us|sets?|data"
        r"|splits?|models?|people|staff)\b)"
        r"|\bseats?\b|\bboarding\b|\bcheck me in\b|\bferr(?:y|ies)\b|(?<!event )(?<!message )(?<!service )\bbus(?:es)?\b|\bcoach(?:es)? to\b"
        r"|\btaxis?\b|\btrams?\b|\bsleepers?\b|\bberths?\b|\brental car\b|\b(?:way|get|go|travel|drive"
        r"|journey) from (?:the )?(?-i:[A-Z])[\w-]* to (?:the )?(?-i:[A-Z])"
        r"|\b(?:get|travel|drive) to (?!(?:the )?(?:office|work)\b)(?:the )?(?:[\w-]+ ){0,3}(?-i:[A-Z])"
        r"|航班|机票|飞机|渡轮|轮渡|坐船|大巴|公交|出租车|打车|租车|卧铺|铺位|[上中下]铺|高铁|动车|火车|车票|车次|座位|靠窗|靠过道|从[\u4e00-\u9fff]{2,6}[去到][\u4e00-\u9fff]{2,6}怎么"
        r"|怎么去[\u4e00-\u9fff]{2,4}(?!上班)"
    ),
    "lodging": (
        r"\bhotels?\b|\bhostels?\b|\bairbnb\b|\bwhere (?:should|could|can) (?:i|we) (?:stay|sleep)\b|\broom with\b|\bbed and breakfast\b|酒店"
        r"|宾馆|民宿|住哪|住宿"
    ),
    "weather": (
        r"\bweather\b|\brain\w*|\bforecast\b|\bsnow\w*|\bsunny\b|\bumbrella\b|\bhot (?:days?|weather)\b|\bcold (?:days?|weather)\b|\bheat\b|\bhumid\w*"
        r"|天气|下雨|雨天|阴雨|雨季|淋雨|下雪|雪天|气温|炎热|天热|潮湿|怕冷|怕热|晴天"
    ),
    "outdoors": r"\boutdoors?\b|\bouting\b|\bhik(?:e|ing)\b|\bpicnic\b|\bcamping\b|\bbarbecue\b|\bteam ?building\b|户外|团建|爬山|徒步|野餐|露营|郊游|烧烤|出门",
    "food": (
        r"\bfoods?\b|\beat\w*|\bdinners?\b|\blunch\w*|\bbreakfasts?\b|\brestaurants?\b|\bcook\w*|\brecipes?\b|\bmeals?\b|\bsnacks?\b"
        r"|\bcuisine\b|\bhungry\b|\bdish(?:es)?\b|\bcater(?:ing|er)\b|\bdelicatessen\b|\bbaker(?:y|ies)\b"
        r"|\b(?:spicy|vegetarian|vegan|halal|kosher|sushi|pizza|noodles?|hot ?pot|rice|bread|beef|pork|chicken|lamb|meat|fish|seafood"
        r"|shrimps?|prawns?|coriander|cilantro"
        r"|onions?|garlic|cheese|eggs?|nuts?|peanuts?|chocolate|cakes?|desserts?|fruits?|vegetables?|mushrooms?|durian|salads?|soups?"
        r"|sandwich(?:es)?|burgers?|pasta|curry|tacos?|dumplings?|steaks?|bacon|tofu|potato(?:es)?|tomato(?:es)?|olives?|honey|butter"
        r"|ice cream)\b"
        r"|吃(?!惊|力|亏|紧|透)|餐|饭(?!店)|食物|面馆|外卖|做菜|点菜|菜谱|素食|清真|火锅|寿司|面条|牛肉|猪肉|鸡肉|羊肉|海鲜|香菜|洋葱|大蒜|花生|坚果|辣|甜品|蛋糕|水果|蔬菜|榴莲|零食|披萨|比萨|[做炒烧点哪]\S{0,3}菜|菜谱"
        r"|蘑菇|沙拉|汤|三明治|汉堡|意面|咖喱|饺子|牛排|豆腐|土豆|番茄|西红柿|橄榄|蜂蜜|奶酪|冰淇淋|火腿|鸡蛋|面包|米粉|粥|点心"
    ),
    "drink": (
        r"\bdrinks?\b|\bcoffee\b(?![- ](?:machines?|makers?|rooms?|cups?|tables?|corners?|grinders?))|\bteas?\b|\bbeers?\b|\bwines?\b"
        r"|\bjuice\b|\blemonade\b|\bcola\b|\bsodas?\b|\bsmoothies?\b|\bcocktails?\b|\balcohol\w*|\bmilkshakes?\b|\bcappuccino\b"
        r"|\bmineral water\b|\bflat white\b|\bespresso\b|\blatte\b|喝|咖啡(?!机|杯|桌|厅)|茶(?!水间|几)|啤酒|红酒|白酒|喝酒|热饮|冷饮|饮品|酒精|鸡尾酒|果汁|奶茶|饮料|可乐|汽水|柠檬水|矿泉水|苏打水"
        r"|奶昔|拿铁|美式"
    ),
    "music": (
        r"\bmusic\b|\bsongs?\b|\bplaylists?\b|\bjazz\b|\bconcerts?\b|\bbands?\b|\b(?:rock|pop|classical|folk|metal|techno|blues"
        r"|country) music\b|\bopera\b|音乐|摇滚|古典乐|民谣|歌剧|歌单|听歌|歌曲|爵士|演唱会|乐队"
    ),
    "film": (
        r"\bfilms?\b|\bmovies?\b|\bcinema\b|\bseries to watch\b|\bscience fiction\b|\bsci-fi\b|\b(?:horror|thriller|comed(?:y|ies)"
        r"|documentar(?:y|ies))\b|\b(?:what|something|anything)\b[^.?!]{0,80}\bwatch\b|电影|片子|[看部]\S{0,3}(?:片|剧)|(?:恐怖|动作|喜剧|爱情|动画|纪录|战争)片|什么剧|看[点些]什么|影片"
        r"|剧集|追剧|科幻"
    ),
    "reading": (
        r"\bbooks?\b (?:to|for|about|on)\b|\ba (?:good )?book\b|\bnovels?\b|\bread(?:ing)? (?:a |some |good )?(?:books?|novels?)\b"
        r"|[本看读]\S{0,6}书(?!面|签)|小说|书单|读书|什么书"
    ),
    "sport": (
        r"\bsports?\b|\bgym\b|\brunning\b|\bjog\w*|\bswim(?:s|ming|mers?)?\b(?![- ]?lanes?)|\bmarathon\b|\bwork ?out\b|\bfootball\b"
        r"|\bbasketball\b|\b(?:table )?tennis\b|\bbadminton\b|\bvolleyball\b|\byoga\b|\bgolf\b|\bski(?:ing)?\b|\bclimbing\b|\bcycling\b"
        r"|\bboxing\b|\bsquash\b|\bpilates\b|运动|羽毛球|乒乓球|排球|瑜伽|高尔夫|滑雪|骑行|攀岩|拳击|普拉提|健身|跑步|游泳|马拉松|足球|篮球|网球|打球"
    ),
    "meeting": (
        r"\bmeetings?\b|\bmeet\b|\bappointments?\b|\binvite\b|\bcall with\b|\bschedule (?:an?|the|some|it|this|that|me|us|一)|\b(?:time"
        r"|free) slots?\b|\bfind (?:an?|me an?|us an?) (?:\w+ )?(?:slot|time|hour)\b|\b(?:standups?|one-on-ones?)\b"
        r"|会议(?!纪要)|开会|约时间|安排时间|约[\u4e00-\u9fff]{1,8}(?:聊|开会|见面|面谈|碰头|电话|的会)|约(?:一)?(?:个|次|下|场)?(?:会(?!员)|时间|电话|面谈)"
        r"|[和跟与同][\u4e00-\u9fff]{1,8}(?:约(?:一)?个(?:会|时间)|的会(?![\u4e00-\u9fff]))|约[^，。？?]{1,10}(?:小时|分钟|刻钟)|[找定排](?:个|一个|点)?时间|碰头|碰面|站会|例会|早会|晨会|周会|面谈"
    ),
    "report": r"(?<!please )(?<!to )\breports?\b(?! (?:it|this|that|them|an?|the) )(?! (?:it|this|that|them)\b)|\bstatus update\b|报告|周报|日报|月报|汇报",
    "minutes": (
        r"(?<!\d )\bminutes (?:of|from|for) (?:the|our|my|this|that|today|yesterday|an?)\b|\b(?:take|write|draft|prepare)(?: up)? (?:the "
        r"|our )?minutes\b|\bmeeting (?:notes|minutes)\b|纪要|会议记录"
    ),
    "compare": r"\bcompar(?:e|es|ing|isons?)\b|\bversus\b|\bvs\b|\bpros and cons\b|对比|比较(?:一下|[这那两三四几])|比一比|优缺点|哪个(?:更|比较)好|区别",
    "numbers": r"\bnumbers\b|\bfigures\b|\bstat(?:istic)?s\b|\bcsv\b|\bspreadsheets?\b|\bexcel\b|数字|统计|数据(?!库|中心|结构|包|线|源|湖)",
    "money": (
        r"\bpric(?:e|es|ing)\b|\bcosts?\b|\bbudgets?\b|\bexpens(?:e|es|ive)\b|\bquot(?:e|ation)s?\b|\bfees?\b|\bcurrenc(?:y|ies)\b"
        r"|\bamounts? (?:of money|in|due)\b"
        r"|多少钱|价格|价钱|报价|费用|预算|成本|金额|币种|贵不贵"
    ),
    "email": (
        r"\be-?mails? (?:to|for)\b|\b(?:write|draft|send|reply to|answer) (?:\w+ ){0,2}e-?mails?\b|\b(?:write|reply|answer) to (?:the|this"
        r"|our|my) (?:customer|client|supplier|vendor)s?\b|\bemails?\b(?! address)|(?:写|回|发)[\u4e00-\u9fff]{0,4}邮件|邮件"
    ),
    "code": (
        r"\bscripts?\b"
        r"|(?<!\bhs )(?<!\bzip )(?<!\bqr )(?<!\bbar )(?<!\barea )(?<!\bdress )(?<!\bpost )(?<!\bpostal )(?<!\bpromo )(?<!\baccess )(?<!\bcountry )(?<!\bdiscount )\bcode\b(?! of\b)"
        r"|\bcoding\b|\bprogram(?:ming)?\b|\b(?:an?|the|this) (?:\w+ )?(?:function|class|method|macro|regex"
        r"|unit test)\b(?= (?:that|which|to|for|in|of)\b|[.?!]|$)"
        r"|\b(?:python|typescript|javascript|golang|kotlin|powershell|bash|sql|rust|ruby|php|html|css)\b|代码|脚本|编程|写[一个段]{0,2}程序|(?:写|实现|改"
        r"|加)[一个段下]{0,2}[^，。？]{0,10}(?:函数|方法|正则)"
    ),
    "review": r"\bcode reviews?\b|\breview (?:my|this|the) (?:code|pull request|pr)\b|代码评审|评审代码",
    "deploy": (
        r"\bdeploy\w*|\breleases? (?:it|the|an?|to|train|on|this|today|tomorrow)\b|\brollouts?\b|\broll(?:ing)? out\b|\bgo(?:es|ing)? live\b"
        r"|\bhot ?fix(?:es)?\b|部署|上线|发版|发布(?!会|公告|消息|通知|职位|招聘)"
    ),
    "announcement": r"\bannounc\w*|\bpost (?:it |this )?(?:in|to) (?:the |our )?channel\b|公告|通告|发(?:个|一个|条)通知|写(?:个|一个|条)?通知",
    "research": (
        r"\bresearch\b|\blook (?:up|into)\b|\bfind out (?:what|how|who|why|about)\b|\b(?:list|cite|name|with|add) (?:the |your |its "
        r"|all )?sources\b|资料|调研|文献|研究一下|考证"
    ),
    "interview": r"\binterview\w*|\bcandidates? (?:talk|call)s?\b|面试",
    "invoice": r"\binvoices?\b|\bbills?\b(?! of)|发票|账单",
    "game": r"\bgames?\b|\bchess\b|\bpoker\b|\bpuzzles?\b|\bquiz(?:zes)?\b|游戏|下棋|象棋|围棋|桌游|扑克|麻将|谜题|玩[点些什]",
    "approval": r"\bapprovals?\b|\bpurchas\w*|\bprocure\w*|\bwho (?:has|needs|must) (?:to )?(?:agree|sign|approve)\b|采购|审批|批准|报批|谁批|[位个人管]批",
    "gift": r"\bgifts?\b|\bpresents? for\b|礼物|送什么|送点什么",
    "clothes": r"\bclothes\b|\bwear\b|\boutfit\b|\bdress\b|\bjackets?\b|穿什么|衣服|外套|穿搭",
}
_TOLD: Final[dict[str, re.Pattern[str]]] = {
    "weather": re.compile(r"\b(?:celsius|fahrenheit|centigrade)\b|摄氏|华氏", re.IGNORECASE),
    "money": re.compile(r"\b(?:euros?|dollars?|pounds?|francs?|yuan|yen|rmb|eur|usd|gbp|cny|chf)\b|人民币|美元|欧元|英镑|日元|港币|法郎", re.IGNORECASE),
    "travel": re.compile(r"\b(?:kilomet(?:re|er)s?|miles)\b|公里|英里", re.IGNORECASE),
}
"""Measures by which a wish is about a topic; a request that names one only has something converted."""
_DEEDS: Final[dict[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "summary": r"\bsumm(?:ar\w*|ing up)|\bsum (?:it|this|that|them) up\b|\brecap\w*|\btl;?dr\b|总结|概括|摘要|归纳",
        "translation": r"\btranslat\w*|翻译|[译翻]成|译文",
        "explanation": r"\bexplain\w*|\bexplanations?\b|解释|讲解|说明一下",
        "list": r"\blist(?:s|ing)?\b|\benumerat\w*|列出|列表|列个|清单",
        "sum": r"\bcalculat\w*|\bsums?\b|\bwork out\b|计算|算一下|算出",
        "correction": r"\bproof-?read\w*|\bcorrect(?:ing)?\b|\bspell[- ]?check\w*|\bgrammar\b|\brephras\w*|润色|校对|改写|语法|错别字",
        "search": r"\bsearch\w*|\blook(?:ing)? (?:it |this |things? )?up\b|搜索|检索|搜一下|查资料",
    }.items()
}
"""What somebody may have done with any text, whatever that is about."""
_DO: Final = "do "
_TOPIC: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _TOPICS.items())
_ADVICE: Final = re.compile(
    r"\badvi[cs]e\b|\bsuggest\w*|\brecommend\w*|\btips?\b|\bideas?\b|\bplan(?:ning)?\b|\bshould\b|\bcould (?:i|we)\b|\bcan (?:i|we)\b"
    r"|\bwhat to\b|\bwhere to\b|\bhow about\b"
    r"|\bany good\b|\bwhich\b|\bbook\b|\bfind\b|\bchoose\b|\bpick\b|\border me\b|\bget me\b|\barrange\b|\bschedule\b|\bwrite\b|\bdraft\b"
    r"|\bprepare\b|\bhelp\b|\bplease\b|\bneed\b"
    r"|建议|推荐|注意|怎么|安排|攻略|什么好|好吗|合适|适合|哪|吃什么|喝点?什么|穿什么|什么[\u4e00-\u9fff]{1,4}|帮我|给我|来[杯个份]|点[杯个份]|订(?!单|阅|金|正)|(?<![合大节条契])约(?!束|等)|选|挑|写|行吗|可以吗|想",
    re.IGNORECASE,
)
_SUITS: Final = re.compile(
    r"(?:^|[,.;:!?\n] *|\bplease |\byou )(?:suggest|recommend|plan|arrange|book|advise)\b|\bany (?:good|nice|ideas?|tips?|advice"
    r"|suggestions?|recommendations?)\b"
    r"|\b(?:ideas?|tips?|advice) (?:for|on)\b|\bwhat should\b|\bwhat to\b|\bwhere to\b|\bhow about\b"
    r"|\b(?:suits?|suitable for|right for|good for|for|about|with|order|get|find|bring|book) (?:me|us)\b"
    r"|建议|推荐|注意|安排|攻略|合适|适合|好吗|行吗|怎么(?:样|去|走|办|上班|下班|回家)|去哪|[帮给](?:我|我们|咱们?)(?!们)|[看吃喝穿做玩听买送带点住读用寄](?:点|个|些)?什么|[什么哪][^，。？?]{0,6}好"
    r"|[带穿准备][^，。？?]{0,4}什么|想|订(?!单|阅|金|正)|(?<![合大节条契])约(?!束|等)",
    re.IGNORECASE,
)
"""It asks what would suit."""
_QUOTED: Final = re.compile('"[^"\\n]{0,500}"|“[^”\\n]{0,500}”|「[^」\\n]{0,500}」|『[^』\\n]{0,500}』|《[^》\\n]{0,500}》|`[^`\\n]{0,500}`')
"""Words that are only worked on: what they speak of is not what the request is about."""
_JOINT: Final = re.compile("(?<=[\u3400-\u4dbf\u4e00-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u3400-\u4dbf\u4e00-\u9fff])")
"""Where Chinese and English stand without a space, so that words begin and end there too."""
TOPICAL: Final = frozenset({Kind.PREFERENCE, Kind.PLAN, Kind.HABIT, Kind.AGREEMENT})
_OWN: Final = "own "
"""Before a topic: what is so or usual about it in the person's life, told to who asks about themselves or for advice, not to who asks for one order."""
_BRINGS: Final[dict[str, frozenset[str]]] = {
    "travel": frozenset({"weather", "lodging", "transport", "food", "outdoors"}),
    "outdoors": frozenset({"weather", "sport"}),
    "lodging": frozenset({"travel"}),
    "transport": frozenset({"travel"}),
    "clothes": frozenset({"weather"}),
    "review": frozenset({"code"}),
}
"""What else somebody has to know who gives advice about a topic."""
_ASPECT: Final = {"weather": "climate", "transport": "travelling", "gift": "occasions"}
"""The aspect of a person's life that goes with a topic."""


@lru_cache(maxsize=2_048)
def topics_of(text: str) -> frozenset[str]:
    """The topics a text speaks of; none is usual."""
    apart = _JOINT.sub(" ", text)
    return frozenset(name for name, pattern in _TOPIC if pattern.search(apart))


@lru_cache(maxsize=2_048)
def deeds_of(text: str) -> frozenset[str]:
    """What a text asks to be done with some text, and what a condition is about that names no topic: "when you translate", "总结的时候"."""
    return frozenset(f"{_DO}{name}" for name, pattern in _DEEDS.items() if pattern.search(_QUOTED.sub(" ", text)))


def wanted(text: str, *, personal: bool = False, of_another: bool = False) -> frozenset[str]:
    """The topics and aspects that matter to whoever answers this request: those it speaks of, and where it asks for advice or a choice what goes with them.

    `personal`: it speaks of the person, so that what is so and what is usual in their life matters too. `of_another`: it asks about somebody
    else by name, of whom nothing of the sort is known.
    """
    plain = _JOINT.sub(" ", _QUOTED.sub(" ", text))
    own = topics_of(plain)
    if own and _ADVICE.search(plain):
        own = own.union(*(_BRINGS.get(each, frozenset()) for each in own))
    if not personal and (of_another or not _SUITS.search(plain)):
        return own
    return own.union(touched(plain), (f"{_OWN}{each}" for each in own), (_ASPECT[each] for each in own & _ASPECT.keys()))


def mark(topic: str) -> str:
    """The term of a topic among the words a wish or a plan is found by; no text holds it."""
    return f"#{topic}"


def topics_about(kind: Kind, key: str, text: str, condition: str = "") -> frozenset[str]:
    """What a wish, a plan, a habit or an agreement is about: its condition where it has one, else its key and words.

    A fact that tells a taste or a limit is about as much; any other only about an aspect of the person's life, or nothing: that has to be asked for itself.
    """
    if kind in TOPICAL and condition:
        return topics_of(condition) or deeds_of(condition)
    whole = _JOINT.sub(" ", f"{key.replace(':', ' ')} {text}")
    measured = (name for name, pattern in _TOLD.items() if kind is Kind.PREFERENCE and pattern.search(whole))
    if kind in {Kind.FACT, Kind.HABIT}:
        topics = topics_of(whole) if kind is Kind.HABIT or is_taste(text) else ()
        return aspects_of(whole).union(f"{_OWN}{each}" for each in topics)
    return topics_of(whole) | aspects_of(whole).union(measured, {PLANS} if kind is Kind.PLAN else ()) if kind in TOPICAL else frozenset()
