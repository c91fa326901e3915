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
orange=橙色; pink=粉色,粉红; grey=灰色,灰,gray; brown=棕色; meeting=会议,开会; email=邮件; report=报告,报表; table=表格; bullet=要点; emoji=表情,表情符号,emojis; invoice=发票; order=订单; refund=退款; contract=合同; website=网站; payment=付款,支付;
phone call=电话; diabetes=糖尿病; dyslexia=阅读障碍; asthma=哮喘; left-handed=左撇子,lefty,left handed; colour-blind=色盲,color-blind,colour blind,color blind; latte=拿铁; americano=美式,美式咖啡;
milk tea=奶茶; cheese=奶酪,芝士; olive=橄榄; fried chicken=炸鸡; squid=鱿鱼; tofu=豆腐; potato=土豆; tomato=西红柿,番茄; juice=果汁; water=水; soup=汤; bread=面包; cake=蛋糕;
long meeting=长会,冗长的会议,漫长的会议; morning meeting=早会,晨会; overtime=加班; video call=视频会议,视频通话; opera=歌剧; jazz=爵士乐,爵士; reading=看书,读书,阅读; cooking=做饭,烹饪;
travel=旅行,旅游; cycling=骑车,骑行; photography=摄影,拍照; board game=桌游; train=火车; plane=飞机; editor=编辑器,ide; browser=浏览器; terminal=终端; os=操作系统,operating system;
monday=周一,星期一; tuesday=周二,星期二; wednesday=周三,星期三; thursday=周四,星期四; friday=周五,星期五; saturday=周六,星期六; sunday=周日,周天,星期天,星期日
"""
"""English names of things, each with what else it is called in either language."""
_CANONICAL: Final[dict[str, str]] = {
    other: name.strip() for entry in _NAMES.split(";") for name, _, others in [entry.partition("=")] for other in (name.strip(), *others.strip().split(","))
}

_BELONGINGS: Final = """
seat=工位,座位,位子,desk; parking=车位,停车位,parking spot,parking space,parking place,parking bay; locker=储物柜,柜子,更衣柜; office=办公室; floor=楼层; phone=电话,手机,电话号码,手机号,手机号码,phone number,mobile;
extension=分机,分机号,phone extension; email=邮箱,邮箱地址,e-mail,mail address,email address; address=地址,住址,家庭住址; project=项目; computer=电脑,laptop,笔记本; car=车,车牌,licence plate,license plate;
badge=工牌,工号,badge number,employee number; shoe size=鞋码; shirt size=衣服尺码,t-shirt size; blood type=血型; height=身高; anniversary=纪念日; bicycle=自行车,bike; gym=健身房; bank=银行; dentist=牙医;
meeting room=会议室; username=用户名,github username,user name,handle; website=网站,个人网站; hobby=爱好,hobbies; dream=梦想; goal=目标,年度目标,goals; deadline=截止日期,截止时间; budget=预算; keyboard=键盘; monitor=显示器
"""
"""What people have, each with what else it is called: the key of "my locker is number 12"."""
_BELONGING: Final[dict[str, str]] = {
    other.strip(): name.strip() for entry in _BELONGINGS.split(";") for name, _, others in [entry.partition("=")] for other in (name, *others.split(","))
}
_MY: Final = re.compile(
    r"^(?:that )?(?:my|our) (?P<n>[\w -]{2,30}?)(?: number| no\.?)? (?:is|are) (?:now |actually )?(?:number |no\.? |in |on |at |called |the )*(?P<v>\S.{0,79})$"
    r"|^(?:我|我们)的?(?P<n2>[^，,。是在为叫的]{1,8})(?:号码?)?(?:现在)?(?:就)?(?:是|在|为|叫)(?P<v2>[^，,。]{1,40})$",
    re.IGNORECASE,
)
_AM: Final = re.compile(r"^(?:that )?i(?:'m| am) (?:an? )?(?P<n>[\w -]{3,24})$|^我是(?:个|一个)?(?P<n2>[\u4e00-\u9fff]{2,8})$", re.IGNORECASE)
_HAVE: Final = re.compile(r"^(?:that )?i have (?:an? )?(?P<n>[\w -]{3,24})$|^我(?:有|得过)(?P<n2>[\u4e00-\u9fff]{2,8})$", re.IGNORECASE)
_NO: Final = re.compile(r"^(?:not|no longer|never)\b|^不|^没", re.IGNORECASE)

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
"""Names that are part of stored keys, so they stay as they are; what a request is about is read more broadly (`topics`)."""
_TOPIC: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _TOPICS)
_ARTICLE: Final = re.compile(
    r"^(?:(?:the|a|an|any|all|most|really|very|my|our|some|eating|drinking|having)\s+|(?:吃|喝|那种|这种|各种|所有的?|任何|一切)\s*)", re.IGNORECASE
)
_TAIL: Final = re.compile(
    r"(?:\s+(?:too|now|again|anymore|any more|at all|so much|a lot|very much|please|的|了|这些|之类的?))+$|(?:了|的|呢|啊|哦|呀|吧|哈|等等?|之类的?|什么的)+$",
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
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is", "cs", "os", "windows", "jenkins", "aws")) and len(word) > 3 else word


def topic(text: str) -> str:
    """What a case or a request is about, as one English word; empty when none of the topics fits."""
    return next(iter(topics(text)), "")


def topics(text: str) -> tuple[str, ...]:
    """All that a case or a request is about, in the order in which it names them."""
    found = [(match.start(), name) for name, pattern in _TOPIC if (match := pattern.search(text))]
    return tuple(name for _, name in sorted(found))


def own_key(text: str) -> tuple[str, str]:
    """The key and value of what somebody says they have or are: "my locker is number 12" and "我的储物柜是12号" → ("locker", "12"); empty when it is neither.

    A value is given where the key has one at a time.
    """
    if (match := _MY.match(text)) and not _NO.match(match["v"] or match["v2"]):
        name = " ".join((match["n"] or match["n2"]).casefold().split())
        value = " ".join((match["v"] or match["v2"]).casefold().split()).strip(" .。!！")
        return _BELONGING.get(name, _BELONGING.get(thing(name), thing(name))), re.sub(r"^第?(\d+)号$", r"\1", value)
    for pattern, attribute in ((_AM, "trait"), (_HAVE, "has")):
        if (match := pattern.match(text)) and not _NO.match(match["n"] or match["n2"]):
            return f"{attribute}:{thing(match['n'] or match['n2'])}", ""
    return "", ""


def content_key(text: str) -> str:
    """A key from a text's content words, for what no rule knows: the same words in another order have the same key. Of Chinese it takes the pairs of characters."""
    found = {term for term in terms(text) if term not in EVERYDAY}
    words = sorted(pairs if (pairs := {term for term in found if term.isascii() or len(term) > 1}) else found)
    return ("said:" + "-".join(words))[:LONGEST] if words else "said"
