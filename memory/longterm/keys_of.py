"""What a statement is about, as a key that is the same in whatever language it is said. Pure.

`thing` brings the name of a thing into one form ("the peanuts", "花生" → "peanut"), `topic` says what a case or a request is about
("when I check orders", "查订单的时候" → "order"), and `content_key` makes a key of a sentence's content words where no rule knows better.
"""

from __future__ import annotations

import re
from typing import Final

from memory.terms import EVERYDAY, terms

LONGEST: Final = 80

_NAMES: Final = """
peanut=花生; nut=坚果; walnut=核桃; almond=杏仁,扁桃仁; cashew=腰果; shrimp=虾,虾仁,prawn; seafood=海鲜; shellfish=贝类,贝壳类; crab=螃蟹,蟹; fish=鱼;
milk=牛奶,奶; dairy=乳制品,奶制品; lactose=乳糖; egg=鸡蛋,蛋; gluten=麸质; wheat=小麦; soy=大豆,黄豆,soya; sesame=芝麻; mango=芒果; strawberry=草莓;
peach=桃子,桃; pineapple=菠萝; penicillin=青霉素; aspirin=阿司匹林; pollen=花粉; dust=灰尘; dust mite=尘螨; cat=猫; dog=狗; latex=乳胶; bee sting=蜂毒;
alcohol=酒精,酒; beef=牛肉; pork=猪肉; lamb=羊肉; chicken=鸡肉; meat=肉,肉类; coriander=香菜,cilantro; onion=洋葱; garlic=大蒜,蒜;
spicy food=辣,辣的,辣椒,spicy; durian=榴莲; coffee=咖啡; tea=茶; green tea=绿茶; beer=啤酒; wine=葡萄酒; chocolate=巧克力; sushi=寿司; hotpot=火锅,hot pot;
noodle=面条; rice=米饭; rain=雨,下雨,rainy day,rainy weather,下雨天,雨天,阴雨天; snow=雪,下雪; heat=热,炎热,hot weather; cold=冷,寒冷,cold weather; sun=晴天,太阳;
colour=颜色,color; food=食物,吃的,dish,meal,菜; drink=饮料,喝的; fruit=水果; movie=电影,film; book=书; song=歌,歌曲; music=音乐; band=乐队; singer=歌手;
city=城市; sport=运动,体育; game=游戏; team=球队; animal=动物; season=季节; restaurant=餐厅,饭店; number=数字; football=足球; basketball=篮球; tennis=网球;
running=跑步; swimming=游泳; hiking=徒步,爬山; blue=蓝色,蓝; red=红色,红; green=绿色,绿; yellow=黄色,黄; black=黑色,黑; white=白色,白; purple=紫色,紫;
orange=橙色; pink=粉色,粉红; grey=灰色,灰,gray; brown=棕色; meeting=会议,开会; email=邮件; report=报告,报表; table=表格; bullet=要点; emoji=表情,表情符号;
phone call=电话
"""
"""English names of things, each with what else it is called in either language."""
_CANONICAL: Final[dict[str, str]] = {
    other: name.strip() for entry in _NAMES.split(";") for name, _, others in [entry.partition("=")] for other in (name.strip(), *others.strip().split(","))
}

_TOPICS: Final[tuple[tuple[str, str], ...]] = (
    ("order", r"\borders?\b|\bparcels?\b|\bdeliver(?:y|ies)\b|\bshipments?\b|\bpackages?\b|\blogistics\b|订单|快递|物流|包裹|发货"),
    ("travel", r"\btravel\w*|\btrips?\b|\bflights?\b|\bfly(?:ing)?\b|\bhotels?\b|\btrains?\b|出差|旅行|旅游|航班|机票|酒店|高铁|火车|行程"),
    ("weather", r"\bweather\b|\brain\w*|\bforecast\b|\bsnow\w*|\bhot days?\b|天气|下雨|雨天|下雪|气温|预报"),
    ("food", r"\bfood\b|\beat\w*|\bdinner\b|\blunch\b|\bbreakfast\b|\brestaurants?\b|\bcook\w*|\brecipes?\b|\bmeals?\b|吃|餐|菜|饭|食物|外卖|做饭"),
    ("meeting", r"\bmeetings?\b|\bcalendar\b|\bschedul\w*|\bappointments?\b|\binvit\w*|会议|开会|日程|日历|约时间|安排时间"),
    ("report", r"\breports?\b|\bsummar\w*|\bminutes\b|\bstandups?\b|报告|周报|日报|总结|汇报|纪要"),
    ("email", r"\be-?mails?\b|邮件"),
    ("code", r"\bcode\b|\bcoding\b|\bscripts?\b|\breview\w*|\bpull requests?\b|代码|脚本|评审"),
    ("money", r"\bpric\w*|\bcosts?\b|\bpay\w*|\binvoices?\b|\brefunds?\b|\bbudget\w*|价格|付款|发票|退款|预算|费用|报销"),
    ("deploy", r"\bdeploy\w*|\breleas\w*|\brollouts?\b|部署|发布|上线"),
    ("address", r"\baddress\w*|地址"),
)
_TOPIC: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _TOPICS)
_ARTICLE: Final = re.compile(
    r"^(?:the|a|an|any|all|most|really|very|my|our|some|eating|drinking|having|吃|喝|那种|这种|各种|所有的?|任何|一切)\s*", re.IGNORECASE
)
_TAIL: Final = re.compile(
    r"(?:\s+(?:too|now|anymore|any more|at all|so much|a lot|very much|please|的|了|这些|之类的?))+$|(?:了|的|呢|啊|哦|呀|吧|哈|等等?|之类的?|什么的)+$",
    re.IGNORECASE,
)


def thing(name: str) -> str:
    """The name of a thing in one form: lower case, in the singular, without article, in English where both languages have a word for it here."""
    plain = " ".join(name.casefold().split()).strip(" ,.;:!?，。；：！？'\"“”")
    while (bare := _TAIL.sub("", _ARTICLE.sub("", plain))) != plain and bare:
        plain = bare
    if plain in _CANONICAL:
        return _CANONICAL[plain]
    singular = _singular(plain)
    return _CANONICAL.get(singular, singular)[:LONGEST]


def _singular(word: str) -> str:
    if not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ches|shes|sses|xes|oes)$", word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def topic(text: str) -> str:
    """What a case or a request is about, as one English word; empty when none of the topics fits."""
    found = [(match.start(), name) for name, pattern in _TOPIC if (match := pattern.search(text))]
    return min(found)[1] if found else ""


def content_key(text: str) -> str:
    """A key from a text's content words, for what no rule knows: the same words in another order have the same key."""
    words = sorted({term for term in terms(text) if term not in EVERYDAY})
    return ("said:" + "-".join(words))[:LONGEST] if words else "said"
