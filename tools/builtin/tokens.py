"""The words of an arithmetic expression: numbers, operators, names, in the ways people and models write them in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from tools.builtin.numbers import CONSTANTS, FUNCTIONS, Number

MAX_LENGTH: Final = 1000
"""Characters of an expression."""
_MAX_EXPONENT = 900

_ZERO = Number(Fraction(0))
# Only characters whose meaning is certain are translated: normalising everything would turn 5² into 52 and 3½ into 31/2.
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    dict.fromkeys("　\u00a0\u2009\u202f", " ")
    | dict.fromkeys("×∗·⋅", "*")
    | dict.fromkeys("÷∕", "/")
    | dict.fromkeys("−–﹣", "-")
    | {"﹢": "+", "﹪": "%", "²": "**2 ", "³": "**3 ", "π": " pi ", "【": "(", "】": ")", "[": "(", "]": ")"}
)
_WORDS: Final = (
    dict.fromkeys(("of", "x", "times", "乘以", "乘", "的"), "*")
    | {"除以": "/", "mod": "mod"}
    | dict.fromkeys(("plus", "加上", "加"), "+")
    | dict.fromkeys(("minus", "减去", "减"), "-")
)
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_GROUPED = r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<grouped>{_GROUPED})|(?P<number>{_NUMBER})|(?P<name>log10|log2|[A-Za-z_]+)|(?P<word>乘以|除以|加上|减去|[乘加减的])|(?P<operator>\*\*|//|[-+*/^%(),!]))"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word. `kind` is the operator itself, or `number`, `function`, `percent`, `mod`, `end`."""

    kind: str
    text: str
    at: int
    """Place of the word in the expression, counted in characters from 1."""
    number: Number = _ZERO

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"{self.text[:40]!r} at character {self.at}"


def tokens(expression: str) -> list[Token]:
    """The words of `expression`, ended by one of kind `end`. Raises `ValueError` in words for people."""
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"the expression has {len(expression):,} characters; at most {MAX_LENGTH:,} are accepted")
    text = expression.translate(_PLAIN).rstrip().rstrip("=?").rstrip()
    found: list[Token] = []
    brackets: list[bool] = []  # for each open one, whether it holds a function's arguments, where a comma separates
    position = 0
    while position < len(text):
        token, position = _next(text, position, in_call=bool(brackets) and brackets[-1])
        if token.kind == "(":
            brackets.append(bool(found) and found[-1].kind == "function")
        elif token.kind == ")" and brackets:
            brackets.pop()
        found.append(token)
    found.append(Token("end", "", len(text) + 1))
    return found


def _next(text: str, position: int, *, in_call: bool) -> tuple[Token, int]:
    match = _TOKEN.match(text, position)
    if match is None:
        rest = text[position:].lstrip()
        at = len(text) - len(rest) + 1
        raise ValueError(f"{rest[:1]!r} at character {at} is not part of an expression; use numbers, + - * / // % ** ( ) and functions")
    kind, word = str(match.lastgroup), match[match.lastgroup or 0]
    at, end = match.start(match.lastgroup or 0) + 1, match.end()
    if kind == "grouped" and in_call:  # max(1,234) has two arguments
        word = word.split(",", 1)[0]
        return _number(word, at), at - 1 + len(word)
    if kind in ("grouped", "number"):
        return _number(word, at), end
    if kind == "word":
        return Token(_WORDS[word], word, at), end
    if kind == "name":
        return _name(word, at), end
    if word == "%":
        return Token("percent" if _is_percent(text, match.start("operator")) else "mod", word, at), end
    return Token("**" if word == "^" else word, word, at), end


def _number(word: str, at: int) -> Token:
    plain = Decimal(word.replace(",", ""))
    if plain and not -_MAX_EXPONENT < plain.adjusted() < _MAX_EXPONENT:
        raise ValueError(f"the number at character {at} is too large or too small")
    return Token("number", word, at, Number(Fraction(plain)))


def _name(word: str, at: int) -> Token:
    lower = word.lower()
    if lower in CONSTANTS:
        return Token("number", word, at, CONSTANTS[lower])
    if lower in FUNCTIONS:
        return Token("function", lower, at)
    if lower in _WORDS:
        return Token(_WORDS[lower], word, at)
    raise ValueError(f"{word[:40]!r} at character {at} is unknown; the functions are {', '.join(FUNCTIONS)}, the constants {', '.join(CONSTANTS)}")


def _is_percent(text: str, position: int) -> bool:
    """Whether the `%` at `position` ends a percentage; it is the remainder when something to divide by follows."""
    rest = text[position + 1 :].lstrip()
    if re.match(r"[\d.(]", rest):
        return False
    name = re.match(r"log10|log2|[A-Za-z_]+", rest)
    if name is not None and (name[0].lower() in FUNCTIONS or name[0].lower() in CONSTANTS):
        return False
    # "10 % -3" is a remainder, "10% - 3" a percentage: the one attached to its number.
    return not rest.startswith(("-", "+")) or not text[position - 1 : position].isspace()
