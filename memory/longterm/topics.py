"""What a text is about, as one of a few topics of everyday life, and what somebody who asks for advice about one would want known. Pure.

Likeness of words and of meaning does not lead from "going to Guangzhou for two days, any advice?" to "I hate rainy days": what connects them is that
a journey has to do with weather. That is what stands here. A wish or a plan whose topic is asked about is told; everything else has to be alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.longterm.memory import Kind

_TOPICS: Final[dict[str, str]] = {
    "order": r"\borders?\b(?! me\b)|\bparcels?\b|\bdeliver(?:y|ies)\b|\bshipments?\b|\bpackages?\b|\blogistics\b|订单|快递|物流|包裹|发货",
    "travel": (
        r"\btravell?\w*|\btrips?\b|\bvacations?\b|(?<!public )(?<!bank )\bholidays?\b|\bgetaway\b|\bitinerary\b"
        r"|\b(?:going|go|fly|flying|heading|off|moving around) to (?:the )?(?-i:[A-Z])|\bvisit(?:ing)? (?-i:[A-Z])"
        r"|\b(?:going|go|flying|off) to \w+ (?:for (?:an?|the|one|two|three|four|five|\d+|some)\b|next\b|this\b|tomorrow\b|on\b|in (?:may|june|july|spring|summer)\b)"
        r"|出差|旅行|旅游|度假|行程|攻略|去[\u4e00-\u9fff]{2,4}(?:玩|旅|出差|[一二两三四五六七八九十几\d]+(?:天|周|晚))"
    ),
    "transport": r"\bflights?\b|\bfly(?:ing)?\b|\bplanes?\b|\bairlines?\b|\btrains?\b(?! for)|\bseats?\b|\bboarding\b|航班|机票|飞机|高铁|火车|车票|座位|靠窗|靠过道",
    "lodging": r"\bhotels?\b|\bhostels?\b|\bairbnb\b|\bwhere (?:should|could|can) (?:i|we) (?:stay|sleep)\b|\broom with\b|酒店|宾馆|民宿|住哪|住宿",
    "weather": (
        r"\bweather\b|\brain\w*|\bforecast\b|\bsnow\w*|\bsunny\b|\bumbrella\b|\bhot (?:days?|weather)\b|\bcold (?:days?|weather)\b|\bheat\b|\bhumid\w*"
        r"|天气|下雨|雨天|阴雨|雨季|淋雨|下雪|雪天|气温|炎热|天热|潮湿|怕冷|怕热|晴天"
    ),
    "outdoors": r"\boutdoors?\b|\bouting\b|\bhik(?:e|ing)\b|\bpicnic\b|\bcamping\b|\bbarbecue\b|\bteam ?building\b|户外|团建|爬山|徒步|野餐|露营|郊游|烧烤|出门",
    "food": (
        r"\bfoods?\b|\beat\w*|\bdinners?\b|\blunch\w*|\bbreakfasts?\b|\brestaurants?\b|\bcook\w*|\brecipes?\b|\bmeals?\b|\bsnacks?\b|\bcuisine\b|\bhungry\b|\bdish(?:es)?\b"
        r"|\b(?:spicy|vegetarian|vegan|halal|kosher|sushi|pizza|noodles?|hot ?pot|rice|bread|beef|pork|chicken|lamb|meat|fish|seafood|shrimps?|prawns?|coriander|cilantro"
        r"|onions?|garlic|cheese|eggs?|nuts?|peanuts?|chocolate|cakes?|desserts?|fruits?|vegetables?|mushrooms?|durian)\b"
        r"|吃|餐|饭|食物|外卖|做菜|点菜|菜谱|素食|清真|火锅|寿司|面条|牛肉|猪肉|鸡肉|羊肉|海鲜|香菜|洋葱|大蒜|花生|坚果|辣|甜品|蛋糕|水果|蔬菜|榴莲|零食"
    ),
    "drink": r"\bdrinks?\b|\bcoffee\b|\bteas?\b|\bbeers?\b|\bwines?\b|\bjuice\b|\bflat white\b|\bespresso\b|\blatte\b|喝|咖啡|茶|啤酒|红酒|果汁|奶茶|饮料",
    "music": r"\bmusic\b|\bsongs?\b|\bplaylists?\b|\bjazz\b|\bconcerts?\b|\bbands?\b|音乐|歌单|听歌|歌曲|爵士|演唱会|乐队",
    "film": r"\bfilms?\b|\bmovies?\b|\bcinema\b|\bseries to watch\b|\bscience fiction\b|\bsci-fi\b|电影|影片|剧集|追剧|科幻",
    "reading": r"\bbooks?\b (?:to|for|about|on)\b|\ba (?:good )?book\b|\bnovels?\b|\bread(?:ing)? (?:a |some |good )?(?:books?|novels?)\b|看书|小说|书单|读书|什么书",
    "sport": r"\bsports?\b|\bgym\b|\brunning\b|\bjog\w*|\bswim\w*|\bmarathon\b|\bwork ?out\b|\bfootball\b|\bbasketball\b|\btennis\b|运动|健身|跑步|游泳|马拉松|足球|篮球|网球|打球",
    "meeting": (
        r"\bmeetings?\b|\bmeet\b|\bappointments?\b|\binvite\b|\bcall with\b|\bschedule (?:a|an|the|some)\b|\b(?:standups?|one-on-ones?)\b"
        r"|会议(?!纪要)|开会|约时间|安排时间|约[\u4e00-\u9fff]{1,6}(?:聊|开会|见面)"
    ),
    "report": r"\bweekly report\b|\breports?\b|\bstatus update\b|报告|周报|日报|月报|汇报",
    "email": r"\be-?mails? (?:to|for)\b|\b(?:write|draft|send|reply to) (?:an? |the |my |this )?e-?mails?\b|\bemails?\b(?! address)|(?:写|回|发)[\u4e00-\u9fff]{0,4}邮件|邮件",
    "code": r"\bscripts?\b|\bcode\b|\bcoding\b|\bprogram(?:ming)?\b|代码|脚本|编程|写个程序",
    "review": r"\bcode reviews?\b|\breview (?:my|this|the) (?:code|pull request|pr)\b|代码评审|评审代码",
    "deploy": r"\bdeploy\w*|\brelease (?:it|the|a|to|train)\b|\brollouts?\b|部署|上线|发版",
    "gift": r"\bgifts?\b|\bpresents? for\b|礼物|送什么",
    "clothes": r"\bclothes\b|\bwear\b|\boutfit\b|\bdress\b|\bjackets?\b|穿什么|衣服|外套|穿搭",
}
_TOPIC: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _TOPICS.items())
_ADVICE: Final = re.compile(
    r"\badvi[cs]e\b|\bsuggest\w*|\brecommend\w*|\btips?\b|\bideas?\b|\bplan(?:ning)?\b|\bshould\b|\bcould (?:i|we)\b|\bcan (?:i|we)\b|\bwhat to\b|\bwhere to\b|\bhow about\b"
    r"|\bany good\b|\bwhich\b|\bbook\b|\bfind\b|\bchoose\b|\bpick\b|\border me\b|\bget me\b|\barrange\b|\bschedule\b|\bwrite\b|\bdraft\b|\bprepare\b|\bhelp\b|\bplease\b|\bneed\b"
    r"|建议|推荐|注意|怎么|安排|攻略|什么好|好吗|合适|适合|哪|吃什么|喝点?什么|穿什么|什么[\u4e00-\u9fff]{1,4}|帮我|给我|来[杯个份]|点[杯个份]|订|约|选|挑|写|行吗|可以吗|想",
    re.IGNORECASE,
)
TOPICAL: Final = frozenset({Kind.PREFERENCE, Kind.PLAN, Kind.HABIT, Kind.AGREEMENT})
_BRINGS: Final[dict[str, frozenset[str]]] = {
    "travel": frozenset({"weather", "lodging", "transport", "food", "outdoors"}),
    "outdoors": frozenset({"weather", "sport"}),
    "lodging": frozenset({"travel"}),
    "transport": frozenset({"travel"}),
    "clothes": frozenset({"weather"}),
    "review": frozenset({"code"}),
}
"""What else somebody has to know who gives advice about a topic."""


@lru_cache(maxsize=2_048)
def topics_of(text: str) -> frozenset[str]:
    """The topics a text speaks of; none is usual."""
    return frozenset(name for name, pattern in _TOPIC if pattern.search(text))


def wanted(text: str) -> frozenset[str]:
    """The topics whose preferences matter to whoever answers this request: those it speaks of, and where it asks for advice or a choice what goes with them."""
    own = topics_of(text)
    if not own or not _ADVICE.search(text):
        return own
    return own.union(*(_BRINGS.get(each, frozenset()) for each in own))


def mark(topic: str) -> str:
    """The term of a topic among the words a wish or a plan is found by; no text holds it."""
    return f"#{topic}"


def topics_about(kind: Kind, key: str, text: str, condition: str = "") -> frozenset[str]:
    """What a wish, a plan, a habit or an agreement is about: its condition where it has one, else its key and words.

    Of what is a fact, nothing: that has to be asked for itself.
    """
    if kind not in TOPICAL:
        return frozenset()
    return topics_of(condition) if condition else topics_of(f"{key.replace(':', ' ')} {text}")
