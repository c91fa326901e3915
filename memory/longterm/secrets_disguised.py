"""Secrets that are told without their name, or under a name of another country: "the door opens with …", "log in admin / …", "支付宝登录用 …".

`secrets_found` knows secrets by shape, check digits and common names. Here they are known by what they open ("the code to my phone"), by the papers
they stand on (identity and tax numbers), by their names in other languages, and by being spelled out in words or with spaces. Every quantifier is
bounded, so that reading takes as long as the text is. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CODE: Final = r"\d(?:[ -]?\d){2,11}(?!\d|[:.]\d| ?[ap]m\b| ?%)"
_LOCKED: Final = r"(?:door|gate|garage|safe|lock|padlock|locker|alarm|phone|iphone|laptop|tablet|ipad|computer|suitcase|bike|intercom|letter ?box|mailbox|vault|sim|house|flat|building)"
_DIGIT_WORD: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)"
_STATE: Final = r"(?:falsch|abgelaufen|vergessen|weg|neu|geändert|zu|nicht|kein|sicher|schwach|incorrect\w{0,12}|caduc\w{0,12}|olvid\w{0,12}|expir\w{0,12}|oubli\w{0,12}|faux|perdu|trop|muy|no|pas|errad\w{0,12}|esquecid\w{0,12}|wrong|the|a|in|on)\b"

_TOLD: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_LOCKED}\b(?: \w{{1,12}}){{0,2}}? (?:opens?|unlocks?)(?: up)?\b\s{{0,3}}(?:with|by|using|on)?\s{{0,3}}[:：]?\s{{0,3}}(?P<v>{_CODE})",
        rf"\b(?:codes?|combination|combo|digits|pattern) (?:to|for|of|on) (?:the|my|our|his|her) (?:\w{{1,16}} ){{0,2}}?{_LOCKED}\b\s{{0,3}}(?:is|are|[:：=])?\s{{0,3}}(?P<v>{_CODE})",
        rf"\b(?:two[- ]factor|2fa|mfa)\b[^\n\d，。.]{{0,24}}(?P<v>{_CODE})",
        r"(?:门锁|家门|大门|门禁|保险[柜箱]|锁屏|手机锁|密码锁|指纹锁|箱子锁|车库门?|解锁(?=图案|数字|码|手势|[用是为:：]))[^\d\n，,。]{0,8}(?P<v>\d(?:[ -]?\d){2,11})(?![\d:：.]|\s?[年月日号楼层元块点米个台套路分])",
        r"\b(?:log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in)\b(?: (?:to|on|at) \w{1,20}(?![\w.]))?\s{0,3}(?:with|as|using|[:：])?\s{0,3}(?!(?:to|on|at)\b)[\w.@+-]{2,40} {1,2}/ {1,2}(?P<v>(?=\S{0,40}\d)\S{5,60})",
        r"\b(?:log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in)\b(?: (?:to|on|at) \w{1,20})? (?:with|as|using) [\w@+-]{2,40}/(?P<v>(?=[^\s/]{0,40}\d)[^\s/]{5,60})(?!\S)",
        r"(?:登录|登陆|登入)(?:账号|密码|名)?(?:用的?是?|是|为)?\s{0,3}[:：]?\s{0,3}(?P<v>(?=[A-Za-z@!#$%^&*._-]{0,30}\d)(?=[\d@!#$%^&*._-]{0,30}[A-Za-z])[A-Za-z0-9@!#$%^&*._-]{6,60})",
        r"\banswers? (?:to|for|of) (?:my|the|our) (?:security|secret|recovery|challenge) questions?\b[^\n.]{0,40}?(?:\bis\b|[:：=])\s{0,3}(?P<v>\S[^\n.,;]{0,60})",
        r"\b(?:security|secret|recovery) question(?:'s)?(?: answer)?\s{0,3}(?:\bis\b|[:：=])\s{0,3}(?P<v>\S[^\n.,;]{0,60})",
        r"(?:密保|安全|找回密码)(?:的)?问题的?(?:答案)?\s{0,3}(?:是|为|[:：])\s{0,3}(?P<v>(?!什么|多少|哪)[^\s，,。]{1,40})",
        r"\bwi-?fi\b(?: is|[:：])\s{0,3}(?P<v>(?=\S{0,40}\d)(?=\S{0,40}[!@#$%^&*])\S{8,60})",
        (
            r"\b(?:pass(?:wort|ord)|kennwort|contraseña|mot de passe|mdp|senha|palavra-passe|wachtwoord|lösenord|hasło|пароль|パスワード|暗証番号|비밀번호)\s{0,3}"
            rf"(?:\b(?:ist|lautet|es|est|é|is|är|er|to)\b|[:：=]|は)\s{{0,3}}(?!{_STATE})(?P<v>[^\s,，。;；]{{3,80}})"
        ),
        r"(?:密碼|驗證碼|金鑰|口令)\s{0,3}(?:是|為|[:：])\s{0,3}(?!什麼|多少|錯|忘)(?P<v>[^\s,，。;；]{3,80})",
        r"\bp ?[a@4] ?[s$5] ?[s$5] ?w ?[o0] ?r ?d\b\s{0,3}(?:\bis\b|[:：=])\s{0,3}(?!(?:expired|wrong|not|too|required|reset|in|incorrect|invalid|weak|safe|the|a)\b)(?P<v>(?=\S{0,40}[\d!@#$%^&*])\S{4,60})",
        r"\bp a s s w o r d\b\s{0,3}(?:\bis\b|[:：=])\s{0,3}(?P<v>\S{3,60})",
        r"(?<!\S)(?P<v>(?=\S{0,40}\d)\S{5,60}) is what (?:i|we) (?:type|use|enter)(?: in)? to (?:unlock|log ?in|sign ?in|open)\b",
        r"\b(?:wallet|seed|recovery|mnemonic|ledger|metamask)\b[^\n:：]{0,20}?\b(?:words?|phrase|seed|wallet)\b\s{0,3}(?:\bis\b|\bare\b|[:：=])?\s{0,3}(?P<v>[a-z]{3,8}(?: [a-z]{3,8}){7,23})(?![a-z])",
        r"(?:钱包|恢复)的?(?:单词|词组?|短语)\s{0,3}(?:是|为|[:：])?\s{0,3}(?P<v>[a-z]{3,8}(?:[ ，、][a-z]{3,8}){7,23})",
        rf"\b(?:card|account|iban|social)\b[^\n]{{0,12}}?(?P<v>{_DIGIT_WORD}(?:[ -]{_DIGIT_WORD}){{8,24}})\b",
        r"(?<![零〇一二三四五六七八九])(?P<v>[零〇一二三四五六七八九幺]{15,18}[XxＸ]?)(?![零〇一二三四五六七八九])",
    )
)
_PAPERS: Final = re.compile(
    r"(?<![A-Za-z])(?:pesel|dni|nie|cpf|cnpj|sin|nhs|steuer-?(?:id|identifikationsnummer|nummer)(?:-?nr)?|bsn|nif|codice fiscale|personnummer|curp|nino|rut|nir|tin|social(?: security)?|ssn|sozialversicherungsnummer|aadhaar|national id|ahv)"
    r"(?: (?:number|no\.?|nr\.?))?\s{0,3}(?:\b(?:is|ist|es|est)\b|[:：=#])?\s{0,3}(?P<v>(?:[A-Z]{1,4}[ -]?)?\d(?:[ ./-]?[\dA-Z]){6,17})(?![\w-])",
    re.IGNORECASE,
)
_LEAST_DIGITS: Final = 7
"""Of a number on a person's papers."""


def disguised(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets stand in `text` that only the words around them tell of."""
    for pattern in _TOLD:
        for match in pattern.finditer(text):
            yield match.span("v")
    for match in _PAPERS.finditer(text):
        if sum(each.isdigit() for each in match["v"]) >= _LEAST_DIGITS:
            yield match.span("v")
