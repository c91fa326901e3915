"""What an identifier looks like, in English and Chinese: the patterns behind `memory.identifiers`, kind by kind.

Every pattern is read against a text whose full-width letters and digits were made plain, character for character. None may take more than
linear time on any text: each repetition is bounded or possessive, and a pattern that begins with a long run only begins where the run does.
"""

from __future__ import annotations

import re
from typing import Final

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
DIGIT: Final = "〇零一二三四五六七八九两"
NUMERAL: Final = DIGIT + "十百千万亿"

_MONTH = "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
_LONG_MONTH = "(?:January|February|April|June|July|August|September|October|November|December)"
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_DAY = "(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
_MORE = r"\d*+(?:,\d{3}(?!\d))*+(?:\.\d++)?+"
_NUM = r"\d" + _MORE
_FIRST = r"\d(?<!\d\d)"
"""A digit that no digit stands before."""
_FIRST_OF_AMOUNT = _FIRST + r"(?<!\d[.,]\d)" + _MORE
_CN_DAY = f"(?:\\d{{1,2}}|[{DIGIT}十]{{1,3}})"

_CURRENCY = r"(?:USD|CNY|RMB|EUR|GBP|JPY|HKD|HK\$|US\$)"
_SCALE = "(?i:thousand|million|billion|bn|[km])"
_UNITS = (
    "milliseconds?|microseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|quarters?|"
    "ms|µs|us|ns|s|m|h|d|w|y|[kmgt]i?b(?:ps|/s)?|bytes?|bits?|[kmg]hz|hz|kgs?|mg|g|lbs?|oz|tons?|tonnes?|km|cm|mm|nm|miles?|inch(?:es)?|ft|feet|"
    "°c|°f|[kmgt]?w|kwh|mwh|v|mah|l|ml|px|pt|pcs|pieces?|units?|items?|people|persons?|users?|seats?|tickets?|copies|rows?|lines?|pages?|requests?|"
    "times|percent|points?|k|usd|cny|rmb|eur|gbp|jpy|dollars?|euros?|pounds?|yuan|cents?|bps|rpm|qps|rps|x"
)
_EXACT = (
    "天|周|个月|年|小时|个小时|分钟|秒钟?|毫秒|元|块钱?|美元|美金|欧元|日元|英镑|港币|人民币|公斤|千克|斤|克|吨|公里|千米|米|厘米|毫米|升|毫升|平米|平方米|度"
)
_MEASURE = "个|人|名|位|次|件|条|台|份|张|只|本|箱|瓶|袋|套|笔|单|项|页|行|步|轮|倍|家|辆|间|层|节|组|批|根|颗|桌|杯|盒|包|部|门|篇|字|折|期"
_ONE = "个月|天|周|年|小时|个小时|分钟|元|公斤|吨|公里"
"""What is counted when somebody says 一…: with other measure words it is no more than "a"."""

_EXTENSIONS = (
    "pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|rst|log|json5?|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|html?|css|scss|jsx?|tsx?|mjs|py|pyi|ipynb|java|kt|go|rs|rb|php|"
    "cpp|hpp|cc|cs|swift|sh|bash|zsh|ps1|bat|sql|db|sqlite|parquet|avro|proto|tf|lock|zip|tar|gz|tgz|bz2|7z|rar|png|jpe?g|gif|svg|webp|heic|bmp|ico|psd|fig|"
    "mp[34]|mov|avi|mkv|wav|m4a|ogg|eml|ics|msg|key|pem|crt|cer|pfx|exe|dmg|apk|ipa|deb|rpm|jar|war|whl|bak|tmp|vsdx|drawio|pages|numbers|odt|ods"
)
_HOSTS = "com|org|net|edu|gov|io|ai|dev|app|cn|co|uk|de|fr|jp|eu|us|cloud|tech|info|local|internal|xyz|me"
_ZONES = "(?:UTC|GMT)(?: ?[+-]\\d{1,2}(?::?\\d{2})?)?|(?:CST|PST|PDT|EST|EDT|CET|CEST|BST|JST|IST|MST|MDT)\\b"

_LOCAL = "A-Za-z0-9._%+-"
_PATH = "A-Za-z0-9_.~%+@/\\\\-"


def _begins(chars: str) -> str:
    """The first character of a run of `chars`, and no later one: a run is read once, not once from each of its characters."""
    return f"[{chars}](?<![{chars}]{{2}})"


_TABLE: Final[tuple[tuple[str, str, str], ...]] = (
    ("url", "://", f"{_begins('A-Za-z0-9+.-')}[A-Za-z0-9+.-]{{1,20}}://[!#-;=?-_a-z{{}}~]{{1,4096}}+"),
    ("email", "@", f"{_begins(_LOCAL)}[{_LOCAL}]{{0,63}}+@[A-Za-z0-9-]{{1,63}}+(?:\\.[A-Za-z0-9-]{{1,63}}+){{1,6}}+"),
    ("mention", "<", r"<[@#!][A-Za-z0-9][^<>\n]{0,120}>"),
    ("mention", "@#", r"[@#](?<![A-Za-z0-9_/&@#][@#])(?!\d++(?![A-Za-z0-9_-]))[A-Za-z0-9][A-Za-z0-9_-]{1,80}+(?:\.[A-Za-z0-9_-]{1,40}+){0,3}+"),
    ("mention", "@", f"@[{HAN}]{{2,4}}(?![{HAN}])"),
    (
        "url",
        ".",
        (
            f"{_begins('A-Za-z0-9.-')}[A-Za-z0-9-]{{0,62}}+(?:\\.(?!(?:{_HOSTS})(?![A-Za-z0-9.-]))[A-Za-z0-9-]{{1,63}}+){{0,5}}"
            f"\\.(?:{_HOSTS})(?![A-Za-z0-9_-])(?::\\d{{1,5}})?+(?:/[!#-;=?-_a-z~]{{0,2048}}+)?+"
        ),
    ),
    ("path", ":", r"[A-Za-z](?<![A-Za-z0-9][A-Za-z]):\\[A-Za-z0-9_.~%+@\\-]{1,500}+"),
    ("path", "/\\", f"{_begins(_PATH)}[{_PATH}]{{2,500}}+"),
    ("date", "", _FIRST + r"\d{3}(?:-\d{1,2}-|/\d{1,2}/|\.\d{1,2}\.)\d{1,2}(?:T\d{2}:?\d{2}(?::?\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\d)"),
    ("date", "/", _FIRST + r"(?<!/\d)\d?/\d{1,2}(?:/(?:\d{4}|\d{2}))?(?![\d/])"),
    ("date", "-", _FIRST + r"\d{3}-(?:0[1-9]|1[0-2])(?![\d-])"),
    ("date", "", _FIRST + f"\\d? ?(?:st|nd|rd|th)?+ ?(?:of )?(?i:{_MONTH})(?![A-Za-z])(?:,? ?\\d{{4}}(?!\\d))?"),
    ("date", "", f"\\b(?i:{_MONTH})\\b\\.? ?\\d{{1,2}}(?![\\d:])(?:st|nd|rd|th)?(?:,? ?\\d{{4}}(?!\\d))?"),
    ("date", "", f"\\b{_MONTH}\\b,? \\d{{4}}(?!\\d)"),
    ("date", "", f"\\b{_LONG_MONTH}\\b"),
    ("date", "", f"\\b(?:(?i:next|this|last|coming) )?(?:(?i:{_DAY})|{_SHORT_DAY})\\b"),
    ("date", "年", f"(?:\\d{{4}}|\\d{{2}}|[{DIGIT}]{{2,4}})年(?:{_CN_DAY}月(?:{_CN_DAY}[日号]|[底初])?)?"),
    ("date", "月", f"{_CN_DAY}月(?:份|底|初|中旬|上旬|下旬|{_CN_DAY}[日号]?)?"),
    ("date", "日号", f"{_CN_DAY}[日号](?![{HAN}]?[楼线机])"),
    ("date", "周期拜", "(?:下下|上上|[下上本这])?个?(?:周|星期|礼拜)[一二三四五六日天末]"),
    ("date", "", r"(?:\d{4} ?(?:年 ?)?)?(?:\b[QH]|(?<=年)[QH])[1-4](?![A-Za-z0-9_-])(?: ?'?\d{4}(?!\d)| ?'\d{2}(?!\d))?"),
    ("date", "季", r"(?:\d{4} ?年? ?)?第?[一二三四1-4]季度"),
    ("date", "FY", r"\bFY ?'?\d{2,4}\b"),
    (
        "time",
        ":",
        _FIRST + f"(?<!:\\d)\\d?:[0-5]\\d(?!\\d)(?::[0-5]\\d(?!\\d)(?:\\.\\d{{1,6}})?)?(?: ?(?i:am|pm|a\\.m\\.|p\\.m\\.)(?![A-Za-z]))?(?: ?(?:{_ZONES})|Z\\b)?",
    ),
    ("time", "", _FIRST + f"\\d? ?(?i:[ap]m\\b|[ap]\\.m\\.|o'clock\\b)(?: ?(?:{_ZONES}))?"),
    (
        "time",
        "点时:",
        f"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚) ?{_CN_DAY}(?:[点时](?:半|整|[一三]刻|{_CN_DAY}分?)?|:\\d{{2}})",
    ),
    ("time", "点", f"\\d{{1,2}}点(?:半|整|[一三]刻|{_CN_DAY}分?)?"),
    ("time", "点", f"[{DIGIT}十]{{1,3}}点(?:半|整|[一三]刻|[{DIGIT}十]{{1,3}}分)"),
    ("phone", "+", r"\+\d{1,3}(?:[ -]?(?:\(\d{1,5}\)|\d{1,5})){2,5}(?![\dA-Za-z])"),
    ("phone", "-.", r"\(?" + _FIRST + r"\d{2}\)?[ .-]\d{3}[.-]\d{4}(?!\d)"),
    ("phone", "1", r"1(?<!\d1)[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)"),
    ("phone", "0", r"0(?<!\d0)\d{2,3}-\d{7,8}(?!\d)"),
    ("amount", "¥$€£₹₩", f"[¥$€£₹₩] ?{_NUM}(?:[万亿千百]{{1,2}}| ?{_SCALE}(?![A-Za-z0-9_]))?元?"),
    ("amount", "DYBRPK$S", f"{_CURRENCY} ?{_NUM}(?:[万亿千百]{{1,2}}| ?{_SCALE}(?![A-Za-z0-9_]))?"),
    ("amount", "", _FIRST_OF_AMOUNT + f"(?: ?[%‰€£¥]|[ -]?(?i:(?:{_SCALE} ?)?(?:{_UNITS})|{_SCALE})(?![A-Za-z0-9_]))"),
    ("amount", "", _FIRST_OF_AMOUNT + f" ?[十百千万亿]{{0,2}}(?:多|余)? ?(?:{_EXACT}|{_MEASURE})"),
    ("amount", "十百千万亿", _FIRST_OF_AMOUNT + " ?[百千万亿]{1,2}"),
    ("amount", "百", f"百分之[{NUMERAL}点\\d]{{1,8}}"),
    ("amount", "", f"[{NUMERAL}](?<![{NUMERAL}第]{{2}})[{NUMERAL}]{{0,15}}(?<!^[一百千万亿零])(?<![^{NUMERAL}][一百千万亿零])[多半]?(?:{_EXACT}|{_MEASURE})"),
    ("amount", "一", f"一(?<![{NUMERAL}第]{{2}})(?:{_ONE})"),
    ("number", "十百千万亿", f"[{DIGIT}十](?<![{NUMERAL}第]{{2}})(?:(?<=十)[一二三四五六七八九]|[十百千万亿][{NUMERAL}]{{0,12}})"),
    ("version", "", r"\b[vV]\d{1,6}(?:\.\d{1,6}){0,4}+(?:[-+][A-Za-z0-9.]{1,30}+)?(?![A-Za-z0-9_])"),
    ("version", ".", r"\d(?<![\d.]\d)\d{0,5}(?:\.\d{1,6}){2,4}+(?:-(?:rc|alpha|beta|dev|pre|a|b)[A-Za-z0-9.]{0,20}+)?(?![A-Za-z0-9_])"),
    ("id", ".", r"\d(?<![\d.]\d)\d{0,2}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?(?![\d.]\d)"),
    ("parameter", "-", r"--(?<![A-Za-z0-9-]--)[A-Za-z][A-Za-z0-9_-]{0,60}+(?:=[^\s,;，；。]{1,200}+)?"),
    (
        "parameter",
        "=",
        f"{_begins('A-Za-z0-9_.-')}(?<!\\d)[A-Za-z0-9_.-]{{0,80}}+ ?= ?(?:\"[^\"\\n]{{1,200}}+\"|'[^'\\n]{{1,200}}+'|[^\\s,;=<>\"'，；。、()]{{1,200}}+)",
    ),
    ("parameter", "_", f"{_begins('A-Za-z0-9_')}(?<!\\d)[A-Za-z0-9]{{0,60}}+(?:_[A-Za-z0-9]{{1,60}}+){{1,12}}+"),
    ("number", "", _FIRST + r"\d{0,3}(?:st|nd|rd|th)\b"),
    ("id", "#", r"#(?<![A-Za-z0-9_&]#)\d{1,20}+(?![A-Za-z0-9_])"),
    (
        "id",
        "",
        (
            f"{_begins('A-Za-z0-9')}(?=[A-Za-z_-]{{0,60}}+\\d)[A-Za-z0-9]{{0,250}}+(?:[-_][A-Za-z0-9]{{1,250}}+|(?<=\\d)\\.\\d{{1,20}}+|"
            "(?<=[A-Za-z])\\.\\d{1,20}+){0,20}+"
        ),
    ),
    ("number", "", f"[-+−](?<![A-Za-z0-9{HAN}).][-+−]){_NUM}"),
    ("number", "", _NUM),
)

PATTERNS: Final = tuple((kind, needs, re.compile(pattern, re.ASCII)) for kind, needs, pattern in _TABLE)
"""Kind, characters of which one must be in the text ("://": the whole of it; empty: any text), pattern. Of two of a length at one place the first wins."""

BLOB: Final = re.compile(f"{_begins('A-Za-z0-9+/=_-')}[A-Za-z0-9+/=_-]{{200,}}+")
"""Encoded data: what looks like an identifier inside is none."""

FILES: Final = re.compile(f"[A-Za-z0-9_{HAN}.()+-]{{3,}}+")
"""A run in which file names may be."""
EXTENSION: Final = re.compile(f"\\.(?i:{_EXTENSIONS})(?![A-Za-z0-9_])")
LEAD: Final = re.compile(
    "(?:.*(?:打开|看看|查看|请看|看下|看一下|发送|发给|下载|上传|附件|文件|文档|里的|一份|参考|根据|按照|使用|写到|存到|保存到|名为|叫做|改成|改为|以及|还有)"
    f"|.*[的把在见和与及是叫将从读了])(?=[A-Za-z0-9_{HAN}])"
)
"""Chinese words run into the file name they introduce; the name begins after them."""

LOOSE: Final = re.compile(
    f"{_begins('A-Za-z0-9_.-')}(?<!\\d)[A-Za-z0-9_.-]{{1,60}}+: ?"
    r"(?P<value>\d++(?:[.,]\d++)*+[a-z%]{0,5}+|true|false|on|off|null|yes|no)(?![A-Za-z0-9_:/-])",
    re.ASCII,
)
"""`timeout: 30`: a parameter only when nothing better begins at its value."""

DATE_FORMS: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})",
        r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]?",
        r"(?P<y>\d{4})(?:年|-)(?P<m>\d{1,2})月?",
        r"(?P<d>\d{1,2}) ?(?:st|nd|rd|th)? ?(?:of )?(?P<name>[a-z]{3,9})\.?(?:,? ?(?P<y>\d{4}))?",
        r"(?P<name>[a-z]{3,9})\.? ?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,? ?(?P<y>\d{4}))?",
        r"(?P<name>[a-z]{3,9}),? (?P<y>\d{4})",
    )
)
"""The ways of writing one day or month, for comparison."""
CLOCK: Final = re.compile(
    r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚)? ?(?P<h>\d{1,2})(?:(?::|点|时)(?P<min>\d{2}|"
    r"半)?分?整?)? ?(?P<half>[ap]\.?m\.?|o'clock)?(?P<zone> ?(?:utc|gmt).*)?",
    re.ASCII,
)
"""The ways of writing one time of day, for comparison; only with a mark beside the hour."""
