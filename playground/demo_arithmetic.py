"""Finds arithmetic in a sentence: `15*7`, `15 times 7`, `15% of 200`, `15乘以7`, `2 的 10 次方`.

Dates, times of day and order numbers look like arithmetic too; they are hidden first, and a bare `a-b` or `a/b`
counts only next to a word that asks for a result, or as the whole message.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from playground.demo_transcript import ORDER_ID

_HIDDEN: Final = re.compile(
    rf"{ORDER_ID.pattern}|\b\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}\b|\b\d{{1,2}}:\d{{2}}(?::\d{{2}})?\b|<[^>]*>|https?://\S+|#\w+|(?<![A-Za-z])[A-Za-z]+[-_]\d[\w-]*"
)
_NUMBER: Final = r"(?<!\d)(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_WORDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(rf"({_NUMBER})\s*(?:%|percent|percent of)\s*(?:of)\s*({_NUMBER})", re.IGNORECASE), r"\1/100*\2"),
    (re.compile(rf"({_NUMBER})\s*的\s*({_NUMBER})\s*%"), r"\1*\2/100"),
    (re.compile(rf"({_NUMBER})\s*的\s*({_NUMBER})\s*次方"), r"\1**\2"),
    (re.compile(rf"({_NUMBER})\s*的平方(?!根)"), r"\1**2"),
    (re.compile(r"(?<=[\d)）])\s*(?:to the power of|raised to|\^)\s*(?=[\d(（-])", re.IGNORECASE), "**"),
    (re.compile(r"(?<=[\d)）])\s*(?:times|multiplied by|乘以|乘|×|[xX])\s*(?=[\d(（-])", re.IGNORECASE), "*"),
    (re.compile(r"(?<=[\d)）])\s*(?:divided by|over|除以|÷)\s*(?=[\d(（-])", re.IGNORECASE), "/"),
    (re.compile(r"(?<=[\d)）])\s*(?:plus|加上|加|＋)\s*(?=[\d(（-])", re.IGNORECASE), "+"),
    (re.compile(r"(?<=[\d)）])\s*(?:minus|减去|减|－)\s*(?=[\d(（-])", re.IGNORECASE), "-"),
    (re.compile(r"(?<=[\d)）])\s*(?:mod|modulo|取余)\s*(?=[\d(（-])", re.IGNORECASE), "%"),
)
_UNIT: Final = rf"[-+]?\s*(?:\b(?:sqrt|abs|round|min|max|floor|ceil)\s*)?\(*\s*[-+]?(?:{_NUMBER})\s*\)*"
_EXPRESSION: Final = re.compile(rf"(?<![A-Za-z0-9_.]){_UNIT}(?:\s*(?:\*\*|//|[-+*/%])\s*{_UNIT})+(?![A-Za-z0-9_])|\bsqrt\s*\(\s*(?:{_NUMBER})\s*\)")
_CUE: Final = re.compile(r"what|calculate|compute|how much|evaluate|solve|\bmath|=|等于|计算|算|多少|求", re.IGNORECASE)
_WEAK: Final = re.compile(r"(?<!\d)[-+]?\d+(?:\.\d+)?\s*[-/]\s*\d+(?:\.\d+)?")


def find_expressions(text: str) -> list[tuple[int, int, str]]:
    """The expressions in `text` as `(start, end, expression)`, where start and end mark a stretch of `text` around each."""
    hidden = _HIDDEN.sub(lambda match: "\x00" * len(match[0]), text)
    found: list[tuple[int, int, str]] = []
    for start, end, clause in _clauses(hidden):
        plain = clause.replace("（", "(").replace("）", ")")
        for pattern, becomes in _WORDS:
            plain = pattern.sub(becomes, plain)
        cued = bool(_CUE.search(hidden))
        for match in _EXPRESSION.finditer(plain):
            expression = re.sub(r"\s+", "", _balanced(match[0])).replace(",", "")
            if _WEAK.fullmatch(expression) and not cued and plain.strip(" ?？!！。.=") != match[0].strip():
                continue
            found.append((start, end, expression))
    return found


def _clauses(text: str) -> list[tuple[int, int, str]]:
    """Stretches of text between marks that end a sentence; a point inside a number ends none."""
    edges = [0, *(match.end() for match in re.finditer(r"[;?!。；？！\n]|\.(?!\d)|[，、]|,(?!\d{3})|\band\b|和", text)), len(text)]
    return [(start, end, text[start:end]) for start, end in pairwise(edges) if start < end]


def _balanced(expression: str) -> str:
    """Drop brackets at either end that have no partner."""
    trimmed = expression.strip()
    while trimmed.count("(") > trimmed.count(")") and trimmed.startswith("("):
        trimmed = trimmed[1:].strip()
    while trimmed.count(")") > trimmed.count("(") and trimmed.endswith(")"):
        trimmed = trimmed[:-1].strip()
    return trimmed
