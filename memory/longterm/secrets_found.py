"""What must never be remembered whatever anybody asks: passwords, tokens, keys, one-time codes, payment cards and identity numbers.

Three ways of finding them: by their own shape (the tokens of known services, keys in their armour, long strings of chance), by their check
digits (cards, resident ids, bank accounts), and by what they are said to be ("my password is …", "验证码 …"). A text with one in it is better
not kept at all; `masked` is for what has to be shown or searched. Full-width and invisible characters do not hide anything. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memory.longterm.secrets_disguised import disguised

MASK: Final = "[secret]"
MOST_READ: Final = 20_000
"""Characters that are looked at; whoever keeps a text keeps far fewer."""

LONGEST_VALUE: Final = 80
"""Characters of a secret that stands before its name."""

_SHAPES: Final = re.compile(
    r"""
      -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----(?:.{0,8000}?-----END\ [A-Z ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----|.*)
    | \bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{6,} | \bxapp-[A-Za-z0-9-]{6,}                    # Slack
    | hooks\.slack\.com/(?:services|workflows|triggers)/\S{6,}
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,} | \b(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{12,}  # models, payments
    | \bgh[opusr]_[A-Za-z0-9]{16,} | \bgithub_pat_\w{16,} | \bglpat-[\w-]{12,}                 # code hosts
    | \b(?:AKIA|ASIA|AGPA|AROA)[0-9A-Z]{12,} | \bLTAI[0-9A-Za-z]{12,} | \bAKID[0-9A-Za-z]{13,}  # clouds
    | \bAIza[\w-]{30,} | \bya29\.[\w-]{16,} | \bGOCSPX-[\w-]{16,}
    | \bSG\.[\w-]{10,}\.[\w-]{10,} | \bnpm_[A-Za-z0-9]{20,} | \bpypi-[\w-]{20,} | \bhf_[A-Za-z0-9]{16,} | \bdop_v1_[0-9a-f]{20,}
    | \bsq0(?:atp|csp|idp)-[\w-]{16,} | \bshp(?:at|ca|pa|ss)_[0-9a-f]{16,} | \b(?:pplx|xai|nvapi)-[\w-]{16,} | \b(?:gsk|r8|ntn|figd|lin_api|lin_oauth|dckr_pat|sntrys|sntryu|glsa|rnd|tfp)_(?=[\w-]*\d)[\w-]{12,} | \b(?:figd|dckr_pat|sntrys|sntryu|lin_api|lin_oauth)_[\w-]{12,}
    | \bsecret_[A-Za-z0-9]{32,} | \btskey-[a-z]+-[\w-]{10,} | \bhv[sb]\.[\w-]{16,} | \bATATT3x[\w=-]{12,} | \bPMAK-[\w-]{16,} | \bdapi[0-9a-f]{32} | \bSK[0-9a-f]{32}\b
    | \bAGE-SECRET-KEY-1[0-9A-Z]{16,} | \b(?-i:[MNO])(?=[\w-]*\d)[\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}        # chat bots elsewhere
    | \b(?:session_?id|(?:php|j)?sessid|jsessionid|csrf_?token|auth_token|connect\.sid)=[^\s;]{8,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                                                    # signed tokens
    | (?<=://)[^\s/:@]{0,80}:[^\s/@]{1,200}(?=@)                                                # name:password in an address
    | \b(?:bearer|basic)\s{1,8}[A-Za-z0-9._~+/-]{12,}=*
    | \botpauth://\S+
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,  # a token that follows a Chinese character is a token too
)

_NAMED_EN: Final = (
    r"pass ?words?|passwd|pwd|pass ?codes?|pass ?phrases?|pin(?: ?(?:code|number))?|(?:api|access|secret|private|encryption|licen[cs]e|signing|ssh|account)[ _-]?keys?|"
    r"client[ _-]?secret|(?:access|auth|api|bearer|refresh|bot|session|personal access)[ _-]?tokens?|token|secret(?: (?:code|word|key|token|answer))?|credentials?|"
    r"seed ?phrase|recovery (?:phrase|code|key)s?|backup codes?|mnemonic(?: phrase)?|(?:one[- ]time|verification|security|auth(?:entication)?|2fa|mfa|otp|login|sms|door|gate|alarm|safe) ?(?:pass ?)?codes?|"
    r"otp|cvv2?|cvc2?|security answer|mother'?s maiden name"
)
_NAMED_ZH: Final = (
    "密码|口令|密钥|秘钥|私钥|令牌|验证码|校验码|动态码|动态口令|PIN码|安全码|助记词|恢复码|备用码|提取码|取件码|门禁码|解锁码|授权码|凭证|凭据|密保答案|CVV码?"
)
_STATES: Final = (
    r"(?:expir\w+|wrong|incorrect|invalid|forgotten|lost|not\b|n't\b|no longer\b|required|missing|too\b|weak|strong|safe|secure|unsafe|compromised|leaked|stolen|changed|reset|"
    r"due\b|in (?:the|my|our|1password|bitwarden|vault)\b|stored\b|kept\b|needed\b|working\b|broken\b|gone\b|ok\b|fine\b|good\b|secret\b(?! \S)|the same\b|hard\b|a pain\b|up to date\b|"
    r"(?:too |very )?(?:long|short)\b|limit|count|window|budget|policy|manager|protected|reset\b|"
    r"过期|错|不对|忘|丢|失效|无效|太|很|不|没|被|在|需要|要改|重置|泄露|什么|多少|啥|哪|管理|策略|强度|长度|安全)"
)
_LABELLED: Final = re.compile(
    rf"(?:(?<![A-Za-z])(?:{_NAMED_EN})\b|{_NAMED_ZH})(?P<of> (?:for|of|to|on) [\w .'-]{{1,40}}?)?"
    rf"(?:\s{{0,8}}(?:[:：=]|\bis\b|\bwas\b|\bare\b|->|→|就?是|为|改成了?|改为|设成了?|设为)\s{{0,8}}(?:still |now |just |currently |还是|现在是)?[:：]?\s{{0,8}}(?!{_STATES})(?P<value>[^\s,，。;；!！?？][^\n,，。;；!！?？]*)"
    rf"|\s{{1,8}}(?P<bare>(?=[^\s]*\d)[^\s,，。;；]{{4,}})|(?<=[码令钥])(?P<digits>\d{{3,10}}|(?=[A-Za-z0-9@!#$%^&*._-]*\d)[A-Za-z0-9][A-Za-z0-9@!#$%^&*._-]{{3,60}}))",
    re.IGNORECASE,
)
_SAID_TO_BE: Final = re.compile(
    rf"[\"”」]?\s{{0,4}}(?:(?<=[\s\"”」])(?:is|as|was)\s{{1,4}}(?:(?:my|our|the|a|your)\s{{1,4}})?(?:[\w-]{{1,24}} ){{0,2}}(?:{_NAMED_EN})\b|(?:就?是|作为|当|做)\w{{0,16}}?(?=[密口秘私令验校动PC安助恢备提取门解授凭])(?:{_NAMED_ZH}))",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"[^\s,，。;；\"“「]{3,80}$")
"""What is said to be a secret stands before that: it is looked for backwards from there, which takes as long as the text is."""
_TOLD: Final = re.compile(
    rf"(?:\b(?:chang|set|reset|updat|switch)\w*\s{{1,8}}(?:\w{{1,24}}\s{{1,8}}){{0,3}}(?:{_NAMED_EN})\s{{1,8}}to\s{{1,8}}(?P<a>[^\s,，。]{{3,}})|(?<![A-Za-z])pass(?:\s{{1,8}}is\s{{1,8}}|\s{{0,8}}[:=]\s{{0,8}})(?P<b>(?=[^\s]*\d)[^\s,，。]{{5,}})|"
    r"\b(?:login|logon|credentials?|username)\s{0,8}(?:[:：]|is|are)\s{0,8}\S{2,40}\s{0,8}/\s{0,8}(?P<c>(?=\S*\d)[^\s,，。]{5,})|\b(?:cvv2?|cvc2?)\b\D{0,6}(?P<d>\d{3,4})(?!\d)|"
    r"\bcombination (?:of|to|for) (?:the|my|our) (?:\w{1,24} )?(?:safe|lock|locker|door|suitcase|cabinet)\b\D{0,12}(?P<e>\d[\d -]{2,12}))",
    re.IGNORECASE,
)
"""What is told to be secret by a whole turn of phrase."""
_DIGEST: Final = re.compile(
    r"(?:\b(?:commits?|sha-?\d*|md5|hash|revision|rev|checksum|digest|HEAD|merge)|提交|哈希|校验和|版本)(?:\s+(?:is|was|to|at|of|id))?\s*[:：=@]?\s*$",
    re.IGNORECASE,
)
"""What stands before a number that names a version of something and opens nothing."""
_NO_VALUE: Final = re.compile(
    r"(?i)(?:this|that|it|what|which|here|there|he|she|who|where|forgetting|changing|这|那|它|什么|哪个|这个|那个|忘记|忘了|修改|重置|不)\S{0,2}"
)
_NUMBERED: Final = re.compile(
    r"(?:\b(?:card|debit card|credit card|passport|driver'?s? licen[cs]e|driving licen[cs]e|social security|ssn|national id|id card|identity card|tax id|national insurance(?: number)?|nino|social insurance|"
    r"aadhaar|iban|bank account|account)(?: (?:number|no\.?|num|id))?|身份证号?码?|证件号码?|护照号?码?|驾驶证号?码?|驾照号?码?|社保卡?号|银行卡号?|信用卡号?|储蓄卡号?|卡号|银行账[号户]|收款账[号户]|回乡证号?|通行证号?)"
    r"\s{0,4}(?:[:：=]|\bis\b|就?是|为)?\s{0,4}(?P<value>(?=[A-Z0-9 -]{0,32}\d)[A-Z]{0,2} ?\d[A-Z0-9 -]{4,30}|[A-Z]{1,2}\d{5,10}(?:\(\w\))?)",
    re.IGNORECASE,
)

_DIGITS: Final = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w]|\.\d)")
_RESIDENT: Final = re.compile(r"(?<!\d)[1-9]\d{5}[ -]?(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ -]?\d{3}[\dXx](?![\dA-Za-z])")
_SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")
_CHANCE: Final = re.compile(r"(?<![\w/.=+-])[A-Za-z0-9+/_=-]{24,200}(?![\w/.])")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LEAST_KINDS: Final = 6
"""Changes between small letter, capital and digit in a string of chance; names that people gave change less."""


def secret(text: str) -> bool:
    """Whether `text` holds something secret, however it is written."""
    return any(True for _ in _spans(text)) or ((plain := _plain(text)) != text and any(True for _ in _spans(plain)))


def masked(text: str) -> str:
    """`text` with every secret in it replaced by `[secret]`; in plain characters if it had to be made plain to see one."""
    out = _cut(text)
    plain = _plain(out)
    return _cut(plain) if plain != out and any(True for _ in _spans(plain)) else out


def secret_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where secrets stand in `text` as written, in order, none overlapping."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted(_spans(text)):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return tuple(spans)


def _cut(text: str) -> str:
    out, at = "", 0
    for start, end in secret_spans(text):
        out += text[at:start] + MASK
        at = end
    return out + text[at:]


def _plain(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKC", text[:MOST_READ]) if unicodedata.category(each) != "Cf")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    text = text[:MOST_READ]
    for match in _SHAPES.finditer(text):
        yield match.span()
    for match in _LABELLED.finditer(text):
        group = next(name for name in ("value", "bare", "digits") if match[name])
        if match[group].strip() and not match[group].startswith(MASK) and not _is_saying(match):
            yield match.span(group)
    for match in _TOLD.finditer(text):
        group = next(name for name in "abcde" if match[name])
        if not match[group].startswith(MASK):
            yield match.span(group)
    yield from _reversed(text)
    yield from ((start, end) for start, end in disguised(text) if not text.startswith(MASK, start))
    for match in _NUMBERED.finditer(text):
        if sum(each.isdigit() for each in match["value"]) >= 6:
            yield match.span("value")
    yield from _numbers(text)
    for match in _CHANCE.finditer(text):
        if _is_chance(match[0]) and not (re.fullmatch(r"[0-9a-fA-F]+", match[0]) and _DIGEST.search(text[max(0, match.start() - 32) : match.start()])):
            yield match.span()


def _reversed(text: str) -> Iterator[tuple[int, int]]:
    """What stands before "… is my password" and "…是我的密码"."""
    for match in _SAID_TO_BE.finditer(text):
        start = max(0, match.start() - LONGEST_VALUE)
        value = _BEFORE.search(text, start, match.start())
        if value and not _NO_VALUE.fullmatch(value[0]) and re.search(r"[\d\W_]|[a-z][A-Z]", value[0]) and not value[0].startswith(MASK):
            yield value.span()


def _is_saying(match: re.Match[str]) -> bool:
    """Whether "the secret is …" goes on with plain words: advice, and nothing that opens a door."""
    return (
        match[0].casefold().startswith("secret")
        and re.match(r"secret\s+is\b", match[0], re.IGNORECASE) is not None
        and re.fullmatch(r"[A-Za-z' -]+", match[0]) is not None
    )


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Numbers whose check digits say what they are."""
    for match in _RESIDENT.finditer(text):
        if _resident(re.sub("[ -]", "", match[0])):
            yield match.span()
    for match in _DIGITS.finditer(text):
        if _card(re.sub("[ -]", "", match[0])):
            yield match.span()
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _IBAN.finditer(text):
        if _iban(match[0].replace(" ", "")):
            yield match.span()


_CARD_LENGTHS: Final = {"2": {16}, "3": {14, 15, 16}, "4": {13, 16, 19}, "5": {16}, "6": {16, 17, 18, 19}}


def _card(digits: str) -> bool:
    """Whether digits are a payment card's: a length its first digit allows, and the check digit of all cards."""
    if len(digits) not in _CARD_LENGTHS.get(digits[0], ()) or len(set(digits)) == 1:
        return False
    doubled = (int(each) * (1 + at % 2) for at, each in enumerate(reversed(digits)))
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def _resident(number: str) -> bool:
    """Whether the last character of a Chinese resident id follows from the others."""
    total = sum(int(each) * (2 ** (17 - at) % 11) for at, each in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17].upper()


def _iban(number: str) -> bool:
    """Whether an international bank account number leaves the remainder it must."""
    if not 15 <= len(number) <= 34:
        return False
    return int("".join(str(int(each, 36)) for each in number[4:] + number[:4])) % 97 == 1


def _is_chance(word: str) -> bool:
    """Whether a long word was made by chance and not by a person: letters and digits change places too often."""
    if _UUID.fullmatch(word) or not re.search(r"\d", word):
        return False
    kinds = ["0" if each.isdigit() else "a" if each.islower() else "A" if each.isupper() else "-" for each in word.strip("=")]
    if {"a", "A", "0"} <= set(kinds):
        return sum(a != b for a, b in pairwise(kinds)) >= max(_LEAST_KINDS, len(kinds) // 4)
    return len(word) >= 32 and re.fullmatch(r"[0-9a-fA-F]{32,}", word) is not None and sum(a != b for a, b in pairwise(kinds)) >= len(kinds) // 4
