"""Secrets that do not say what they are, numbers that only look like one, and how the cost of looking grows with the text."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from memory.longterm import secrets_disguised, secrets_found
from memory.longterm.candidate import Said
from memory.longterm.rules import read
from memory.longterm.secrets_found import MASK, MOST_READ, masked, secret

DISGUISED = [
    "the door opens with 4-7-1-1",
    "door opens 4-7-1-1",
    "我家门锁是 239811",
    "the code to my phone: 884422",
    "手机解锁图案数字 2580",
    "I log in with admin / Winter2026!",
    "log in admin / Winter2026!",
    "支付宝登录用 abc12345",
    "the answer to my security question is Fluffy",
    "密保问题答案是小花",
    "my social is 078 05 1120",
    "my social security number is 078 05 1120",
    "my PESEL 44051401359",
    "DNI 12345678Z",
    "my CPF is 529.982.247-25",
    "my SIN 046 454 286",
    "my NHS number is 943 476 5919",
    "my Steuer-ID 86095742719",
    "my crypto wallet words: abandon ability able about above absent absorb abstract absurd abuse access accident",
    "钱包单词：abandon ability able about above absent absorb abstract absurd abuse access accident",
    "mein Passwort ist Sommer2026",
    "contraseña: perro123",
    "mot de passe: chien123",
    "我的身份证号是 一一零一零五一九四九一二三一零零二X",
    "密碼是 hunter2",
    "my two-factor backup is 8912-3345",
    "my p a s s w o r d is swordfish",
    "my card: four one one one one one one one one one one one one one one one",
]
ORDINARY = [
    "order number 4471-9921",
    "订单号 44719921",
    "extension 4921",
    "分机 4921",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "2026-11-30",
    "the office opens at 9:30",
    "the shop opens at 1030 am",
    "log in to example.com / page2024",
    "登录用手机号",
    "解锁了100个成就",
    "门禁卡在12楼",
    "大门 2024年换的",
    "mein Passwort ist abgelaufen",
    "mi contraseña es incorrecta",
    "the code for the order is 4471",
    "social event on 12-05-2026",
    "the answer to my question is 42",
    "my flat number is 12",
    "安全问题很多",
]


@pytest.mark.parametrize("text", DISGUISED)
def test_a_secret_in_disguise_is_found_masked_and_never_kept(text: str) -> None:
    assert secret(text)
    assert MASK in masked(text)
    for lead in ("Remember that ", "记住，"):
        assert read(Said(text=lead + text, ts="1.1", at=1_764_547_200.0, direct=True)).candidates == ()


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert not secret(text)


LONGEST = 400
"""Characters that a pattern may look at from one place: a constant, so that reading takes as long as the text is."""
HOSTILE = [
    "我的是",
    "a",
    "password ",
    "1 ",
    "是",
    "x is my ",
    "card ",
    "DE12 ",
    "login: a /",
    "密码",
    "零",
    "one ",
    "door 1",
    "wallet abc ",
    "log in a / ",
    "1-",
]
PADDED = ["pin:", "card", "my login", "I changed my pin to", "iban is", "密码是", "bearer", "combination of the safe", "x is my"]


def longest(pattern: re.Pattern[str]) -> int:
    """The most characters that a pattern can take in."""
    parser: Any = importlib.import_module("re._parser")
    return int(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE).getwidth()[1])


@pytest.mark.parametrize(
    "pattern", [*secrets_disguised._TOLD, secrets_disguised._PAPERS, secrets_found._SAID_TO_BE, secrets_found._BEFORE, secrets_found._NUMBERED]
)
def test_from_one_place_a_pattern_looks_no_further_than_a_bound(pattern: re.Pattern[str]) -> None:
    assert longest(pattern) <= LONGEST


def test_the_bound_is_told_from_a_pattern_without_one() -> None:
    assert longest(re.compile(r"a{3,80}b")) == 81
    assert longest(re.compile(r"a\s*b")) > LONGEST


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", [*(unit * (MOST_READ // len(unit)) for unit in HOSTILE), *(lead + " " * MOST_READ for lead in PADDED)])
def test_no_text_holds_the_reader_for_long(text: str) -> None:
    assert masked(text) == masked(masked(text))
