"""The values of common attributes in one form, whatever language and spelling they are said in: "北京" and "Beijing", "May 2" and "5月2日". Pure.

Two sayings are one memory when their values are equal, so only what is surely the same is made equal; anything else stays as it was said, in
lower case. Nothing here is shown to a person: the memory's text keeps their words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from memory.longterm.keys_of import thing

_CITIES: Final = """
beijing=北京; shanghai=上海; guangzhou=广州; shenzhen=深圳; hangzhou=杭州; chengdu=成都; nanjing=南京; suzhou=苏州; wuhan=武汉; xi'an=西安,xian; tianjin=天津; chongqing=重庆;
qingdao=青岛; xiamen=厦门; dalian=大连; changsha=长沙; zhengzhou=郑州; jinan=济南; ningbo=宁波; wuxi=无锡; kunming=昆明; hefei=合肥; fuzhou=福州; shenyang=沈阳; harbin=哈尔滨;
dali=大理; sanya=三亚; zhuhai=珠海; dongguan=东莞; hong kong=香港,hongkong; macau=澳门,macao; taipei=台北; singapore=新加坡; tokyo=东京; osaka=大阪; kyoto=京都; seoul=首尔;
bangkok=曼谷; kuala lumpur=吉隆坡; jakarta=雅加达; hanoi=河内; manila=马尼拉; delhi=德里,new delhi,新德里; mumbai=孟买; dubai=迪拜; sydney=悉尼; melbourne=墨尔本;
london=伦敦; paris=巴黎; berlin=柏林; munich=慕尼黑; hamburg=汉堡; frankfurt=法兰克福; vienna=维也纳; zurich=苏黎世; geneva=日内瓦; amsterdam=阿姆斯特丹; brussels=布鲁塞尔; rome=罗马;
milan=米兰; madrid=马德里; barcelona=巴塞罗那; lisbon=里斯本; porto=波尔图; oslo=奥斯陆; stockholm=斯德哥尔摩; copenhagen=哥本哈根; helsinki=赫尔辛基; dublin=都柏林; warsaw=华沙;
prague=布拉格; budapest=布达佩斯; athens=雅典; istanbul=伊斯坦布尔; moscow=莫斯科; cairo=开罗; lagos=拉各斯; nairobi=内罗毕; toronto=多伦多; vancouver=温哥华; montreal=蒙特利尔;
new york=纽约,new york city,nyc; boston=波士顿; chicago=芝加哥; seattle=西雅图; san francisco=旧金山,sf; los angeles=洛杉矶,la; mexico city=墨西哥城; sao paulo=圣保罗,são paulo;
china=中国; japan=日本; germany=德国; france=法国; italy=意大利; spain=西班牙; portugal=葡萄牙; england=英国,uk,the uk,britain; united states=美国,usa,us,the us,america; canada=加拿大; australia=澳大利亚
"""
_TITLES: Final = """
engineer=工程师; software engineer=软件工程师; backend engineer=后端工程师,后端,后端开发,backend developer; frontend engineer=前端工程师,前端,前端开发,frontend developer;
designer=设计师; ux designer=交互设计师; product manager=产品经理,产品; project manager=项目经理; manager=经理,主管; developer=程序员,开发,programmer,开发者;
data analyst=数据分析师; analyst=分析师; accountant=会计; teacher=老师,教师; doctor=医生; lawyer=律师; student=学生; director=总监; intern=实习生; buyer=采购,采购员;
salesperson=销售,销售员; support agent=客服; editor=编辑; tester=测试,测试工程师,qa engineer; architect=架构师; recruiter=招聘,招聘专员; nurse=护士; translator=翻译; driver=司机
"""
_TEAMS: Final = """
sales=销售; marketing=市场; logistics=物流; procurement=采购; finance=财务; hr=人事,人力资源,human resources,people; engineering=工程,研发,技术; product=产品; design=设计; legal=法务;
operations=运营,ops; support=客服,customer support; data=数据; platform=平台; security=安全; growth=增长; billing=账单; quality=质量,质检,qa; testing=测试; payments=支付; infrastructure=基础架构,基础设施,infra
"""
_DIETS: Final = """
vegetarian=吃素,素食,素食者,素食主义,素食主义者; vegan=纯素,纯素食,纯素食者,全素; pescatarian=鱼素,鱼素者; lactose intolerant=乳糖不耐,乳糖不耐受,lactose-intolerant; gluten-free=无麸质,gluten free
"""
_SPOKEN: Final = """
zh=chinese,mandarin,中文,汉语,普通话,国语; en=english,英文,英语; de=german,德语,德文; fr=french,法语,法文; es=spanish,西班牙语; ja=japanese,日语,日文; ko=korean,韩语; pt=portuguese,葡萄牙语;
it=italian,意大利语; ru=russian,俄语; ar=arabic,阿拉伯语; nl=dutch,荷兰语; hi=hindi,印地语; yue=cantonese,粤语,广东话
"""
_CURRENCIES: Final = """
eur=euro,euros,€,欧元; usd=dollar,dollars,us dollars,$,美元,美金; cny=yuan,rmb,renminbi,¥,人民币; gbp=pound,pounds,pounds sterling,£,英镑; jpy=yen,日元; hkd=hong kong dollars,港币,港元; chf=swiss francs,francs,瑞士法郎
"""
_UNITS: Final = """
celsius=centigrade,摄氏度,摄氏; fahrenheit=华氏度,华氏; metric=metric units,the metric system,公制,公制单位; imperial=imperial units,the imperial system,英制,英制单位;
km=kilometre,kilometres,kilometer,kilometers,公里,千米; mi=mile,miles,英里; kg=kilo,kilos,kilogram,kilograms,公斤,千克; lb=pound,pounds,lbs,磅; 24h=24-hour,24 hour,24小时,24小时制,二十四小时制; 12h=12-hour,12 hour,12小时,12小时制,十二小时制
"""
_ZONES: Final = """
utc-8=pst,pacific,pacific time; utc-7=mst,mountain,mountain time; utc-6=cst,central,central time; utc-5=est,eastern,eastern time; utc+1=cet,central european time; utc+8=北京时间,beijing time,china standard time;
utc+9=jst,日本时间,tokyo time; utc+0=utc,gmt,greenwich mean time; utc+5:30=ist,印度时间
"""


def _table(text: str) -> dict[str, str]:
    return {
        other.strip(): name.strip()
        for entry in text.split(";")
        for name, _, others in [entry.partition("=")]
        for other in (name, *others.split(","))
        if other.strip()
    }


_CITY, _TITLE, _TEAM, _DIET, _LANGUAGE, _CURRENCY, _UNIT, _ZONE = map(_table, (_CITIES, _TITLES, _TEAMS, _DIETS, _SPOKEN, _CURRENCIES, _UNITS, _ZONES))
_MONTHS: Final = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}  # noqa: SIM905 - reads better so
_DAY_EN: Final = re.compile(
    r"(?:(?P<m>[a-z]{3})[a-z]*\.? (?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th)?|(?:the )?(?P<d2>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<m2>[a-z]{3})[a-z]*)(?:,? (?P<y>(?:19|20)\d\d))?"
)
_DAY_ZH: Final = re.compile(r"(?:(?P<y>(?:19|20)\d\d)年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]?")
_DAY_ISO: Final = re.compile(r"(?:(?P<y>(?:19|20)\d\d)-)?(?P<m>\d{1,2})-(?P<d>\d{1,2})")
_HAN_DIGITS: Final = {character: number for number, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_NUMBER: Final = re.compile(r"[零〇一二两三四五六七八九十]+")
_CLOCK: Final = re.compile(
    r"(?P<part>早上|上午|中午|下午|晚上|傍晚|凌晨|夜里)?(?P<h>\d{1,2})(?:[:：点](?P<min>\d{2})分?|点(?P<half>半)|点钟?)?\s*(?P<ap>a\.?m\.?|p\.?m\.?|o'clock)?",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"\s*(?:to|until|till|and|-|–|—|~|～|到|至)\s*", re.IGNORECASE)
_WEEKDAY: Final = re.compile(
    r"\b(?P<en>mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)s?\b|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])", re.IGNORECASE
)
_ORDER: Final = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905 - reads better so


def plain(value: str) -> str:
    """Lower case, one space, no punctuation at its ends."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split()).strip(" .,;:!?，。；：！？'\"“”")


def place(value: str) -> str:
    """A city or country in English where it is a known one."""
    bare = re.sub(r"^(?:the |downtown |central )|(?:市|这边|那边|那里|这里|那儿|这儿)$", "", plain(value))
    city = re.split(r"[,，]", bare)[0].strip()  # "Lisbon, near the river"
    return _CITY.get(bare, _CITY.get(plain(value), _CITY.get(city, bare)))


def known_place(value: str) -> bool:
    """Whether it is a city or country of the table here."""
    return place(value) in set(_CITY.values())


def day(value: str) -> str:
    """A day of the year as `MM-DD`, with its year `YYYY-MM-DD`; anything else as it is."""
    said = plain(value)
    match = _DAY_EN.fullmatch(said) or _DAY_ZH.fullmatch(digits(said)) or _DAY_ISO.fullmatch(said)
    if match is None:
        return said
    found = match.groupdict()
    month, number = found.get("m") or found.get("m2") or "", int(found.get("d") or found.get("d2") or 0)
    of_year = _MONTHS.get(month, 0) if not month.isdigit() else int(month)
    if not (1 <= of_year <= 12 and 1 <= number <= 31):
        return said
    return f"{found['y']}-{of_year:02}-{number:02}" if found["y"] else f"{of_year:02}-{number:02}"


def digits(text: str) -> str:
    """Chinese numerals below a hundred in digits: "五月二号" → "5月2号"."""
    return _HAN_NUMBER.sub(_as_digits, text)


def _as_digits(match: re.Match[str]) -> str:
    tens, ten, ones = match[0].partition("十")
    if not ten:
        return "".join(str(_HAN_DIGITS[each]) for each in match[0])
    if len(tens) > 1 or len(ones) > 1:
        return match[0]
    return str((_HAN_DIGITS[tens] if tens else 1) * 10 + (_HAN_DIGITS[ones] if ones else 0))


def zone(value: str) -> str:
    """A time zone as `utc+8` where it says so, or is one of the common names; otherwise its name in lower case."""
    said = re.sub(r"^the |\s*(?:standard time|daylight time|time ?zone|zone|时区|区)$", "", plain(value)).strip()
    if match := re.fullmatch(r"(?:utc|gmt)\s*(?P<sign>[+-])\s*0?(?P<h>\d{1,2})(?::?(?P<m>[0-5]\d))?", said):
        minutes = f":{match['m']}" if match["m"] and match["m"] != "00" else ""
        return f"utc{match['sign']}{match['h']}{minutes}"
    if match := re.fullmatch(r"(?P<side>[东西])(?P<h>\d{1,2})", digits(said)):
        return f"utc{'+' if match['side'] == '东' else '-'}{match['h']}"
    return _ZONE.get(said, said)


def hours(value: str) -> str:
    """Working hours as `09:00-17:00`; anything else as it is. "9 to 5" ends in the afternoon."""
    said = plain(value)
    if said in {"朝九晚五", "朝九晚六"}:
        return "09:00-17:00" if said.endswith("五") else "09:00-18:00"
    ends = _BETWEEN.split(re.sub(r"^(?:from|between|从)\s*", "", digits(said)))
    times = [time for each in ends if (time := _clock(each)) is not None]
    if len(ends) != 2 or len(times) != 2:
        return said
    start, end = times
    return f"{_told(start)}-{_told(end + 720 if end <= start and end < 720 else end)}"


def _clock(text: str) -> int | None:
    """Minutes since midnight."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None or int(match["h"]) > 24:
        return None
    hour, late = int(match["h"]), (match["ap"] or "").casefold().startswith("p") or match["part"] in {"下午", "晚上", "傍晚"}
    if late and hour < 12:
        hour += 12
    return hour * 60 + (30 if match["half"] else int(match["min"] or 0))


def _told(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def weekdays(value: str) -> str:
    """The first weekday named and, for a range, the last: `monday`, `monday-thursday`, `weekend`; anything else as it is."""
    if re.search(r"weekends?|周末", value, re.IGNORECASE):
        return "weekend"
    named = [_ORDER[min("一二三四五六日天".index(match["zh"]), 6)] if match["zh"] else _of_short(match["en"]) for match in _WEEKDAY.finditer(value)]
    return "-".join(dict.fromkeys((named[0], named[-1]))) if named else plain(value)


def _of_short(name: str) -> str:
    return next(each for each in _ORDER if each.startswith(name.casefold()))


def names_weekday(value: str) -> bool:
    """Whether it names a day of the week or the weekend."""
    return _WEEKDAY.search(value) is not None or re.search(r"weekends?|周末|weekdays?|工作日", value, re.IGNORECASE) is not None


def title(value: str) -> str:
    """What somebody is at work."""
    bare = re.sub(r"^(?:the|an?|一名|一个|一位) ?|的$", "", plain(value))
    return _TITLE.get(bare, bare)


def team(value: str) -> str:
    """The team or department, without the word for it."""
    said = plain(value)
    bare = re.sub(
        r"^(?:the|our|公司的?) ?| (?:team|department|dept\.?|group|squad|division|crew)$|(?:部门|团队|小组|部|组|的)+$", "", re.sub(r"^(?:the|our) ", "", said)
    )
    return _TEAM.get(bare.strip(), bare.strip() or said)


def diet(value: str) -> str:
    """How somebody eats."""
    said = plain(value)
    return _DIET.get(said, thing(value))


def language(value: str) -> str:
    """A language's code, or its name where it is not one of the table."""
    said = plain(value)
    return _LANGUAGE.get(said, said)


def language_name(value: str) -> str:
    """A language's English name."""
    code = language(value)
    return next((name for name, other in _LANGUAGE.items() if other == code and name.isascii() and len(name) > 2), plain(value))


def currency(value: str) -> str:
    """A currency's code."""
    said = plain(value) or value.strip()
    return _CURRENCY.get(said, said)


def unit(value: str) -> str:
    """A unit's short name."""
    said = plain(value)
    return _UNIT.get(said, said)


def pronouns(value: str) -> str:
    """Pronouns with a slash between them."""
    said = plain(value)
    return {
        "she": "she/her",
        "her": "she/her",
        "he": "he/him",
        "him": "he/him",
        "they": "they/them",
        "them": "they/them",
        "她": "she/her",
        "他": "he/him",
        "ta": "they/them",
    }.get(said, re.sub(r"\s*[/、]\s*|\s+and\s+", "/", said))


NORMAL: Final[dict[str, Callable[[str], str]]] = {
    "home": place,
    "origin": place,
    "workplace": place,
    "birthday": day,
    "timezone": zone,
    "working_hours": hours,
    "working_days": weekdays,
    "role": title,
    "team": team,
    "diet": diet,
    "reply_language": language,
    "native_language": language,
    "currency": currency,
    "unit": unit,
    "unit:temperature": unit,
    "unit:distance": unit,
    "unit:weight": unit,
    "time_format": unit,
    "pronouns": pronouns,
}
"""How the value of an attribute is brought into one form."""
