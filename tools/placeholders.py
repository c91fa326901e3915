"""Arguments that stand for the result of another call: `"<order id from previous call>"`, `"{{order_id}}"`, `"$call_1.id"`.

Calls of one answer run independently, so nothing fills such a marker in: the call is refused with that hint. A value is one only when
all of it is the marker; what a person is going to read (`text`, `reason`, …) may say anything, and HTML tags, Slack's `<@U1>` and
`<https://…>`, tickers like `$ACME` and labels like `[urgent]` are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from tools.scalars import plain

_LONGEST = 200
_PROSE: Final = frozenset(
    {
        *("text", "message", "body", "content", "description", "comment", "note", "notes", "reason", "summary", "title", "subject", "prompt", "snippet"),
        *("html", "markdown", "template", "code", "script", "source", "expression", "format", "pattern", "regex"),
    }
)
"""Words in the name of an argument that people read, or that has a syntax of its own: it may hold anything."""
_SEARCHES: Final = frozenset({"query", "search", "keyword", "keywords", "filter", "term", "q"})
"""Arguments in which a bare name in brackets may be what is looked for."""

_PAIRS = {"<": ">", "[": "]", "{": "}", "【": "】", "「": "」", "《": "》"}
_SLACK = re.compile(r"[@#!]|(?:https?|mailto|tel):", re.IGNORECASE)
_OTHER_CALL = re.compile(
    r"\b(?:previous|prior|preceding|earlier|above|last|first|second)[ _-](?:\w+[ _-])?"
    r"(?:call|step|result|response|output|tool|function|query|search|lookup)s?\b"
    r"|\bfrom[ _-](?:the[ _-])?(?:previous|prior|preceding|earlier|above|last|result|response|output|call|step|tool)\b"
    r"|\b(?:result|output|response|value|id)[ _-](?:of|from|returned)[ _-]"
    r"|\b(?:call|step|tool|function|result|output|response)[ _.-]?#?[0-9]+\b"
    r"|上一?[步个次]|前[一面][步个次]?|之前的|上述|第[一二三四五六0-9]+[步次个]|返回的|的(?:返回|结果|输出)",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{\{[^{}]+\}\}|\$\{[^{}]+\}|\{%[^{}]+%\}")
_REFERENCE = re.compile(
    r"\$(?:call|step|result|results|output|response|prev|previous|tool|function)s?[_-]?[0-9]*(?:[.\[][\w.\[\]]+)?|\$[0-9]+\.[\w.]+", re.IGNORECASE
)
_CAPITALS = re.compile(
    r"[A-Z0-9_]*(?:FROM_(?:PREVIOUS|PRIOR|LAST|STEP|CALL|RESULT)|(?:PREVIOUS|PRIOR|LAST)_(?:CALL|STEP|RESULT|RESPONSE)|PLACEHOLDER)[A-Z0-9_]*"
)
_NAMED = re.compile(r"[^\W\d]\w*(?:[ _][\w#]+)+")
_TAGS: Final = frozenset(
    {"a", "audio", "button", "details", "dialog", "form", "iframe", "img", "input", "link", "ol", "option", "script", "select", "td", "textarea", "video"}
)
"""HTML tags that stand with a bare attribute, like `<input disabled>`."""
_NUMBERED = re.compile(r"\w{1,12}(?:号|编号|號|編號|[Ii][Dd])")


def placeholders(arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Dotted path and text of every value in `arguments` that is visibly a marker for another call's result."""
    # A stack instead of recursion: the nesting is the model's choice.
    stack: list[tuple[str, str, Any]] = [(name, name, value) for name, value in reversed(arguments.items())]
    while stack:
        path, name, value = stack.pop()
        if isinstance(value, str):
            if len(value) <= _LONGEST and is_placeholder(name, value):
                yield path, value
        elif isinstance(value, dict):
            stack += [(f"{path}.{key}", key, inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(f"{path}.{place}", name, inner) for place, inner in reversed(list(enumerate(value)))]


def is_placeholder(name: str, value: str) -> bool:
    """Whether `value`, sent for the argument `name`, stands for something another call was to find out."""
    text = plain(value)
    if len(text) < 3 or not (text[0] in _PAIRS or text[0] == "$" or text.isupper()):
        return False
    words = set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold().split("_"))
    if words & _PROSE:
        return False
    bare = not words & _SEARCHES
    if _TEMPLATE.fullmatch(text) or _REFERENCE.fullmatch(text) or _CAPITALS.fullmatch(text):
        return bare or bool(_OTHER_CALL.search(text))
    if text[0] == "$":
        return bare and _plain(text) == _plain(name)
    closing = _PAIRS.get(text[0])
    inner = text[1:-1].strip()
    if closing is None or text[-1] != closing or _PAIRS.keys() & set(inner) or closing in inner or _SLACK.match(inner):
        return False
    if _OTHER_CALL.search(inner):
        return True
    if not bare or inner.startswith("/") or inner.endswith("/") or "=" in inner:
        return False
    return _plain(inner) == _plain(name) or (
        text[0] == "<" and inner.split()[0].casefold() not in _TAGS and bool(_NAMED.fullmatch(inner) or _NUMBERED.fullmatch(inner))
    )


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
