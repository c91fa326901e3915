"""What a model wrote as arguments, read as one JSON object: strictly, or with the slips of the pen models are known for.

Strict JSON is read by the standard library. Only where that fails does a small grammar take over, which accepts exactly the
deviations named in `REPAIRS` and refuses everything else, naming the place. Its golden rule: nothing is read as something other
than what was written; where two readings are possible, the text is refused and the model is asked to write it again. So a list cut
off before its end is refused (nothing tells how many items are lost), as is a text, a number or a member that stops in the middle;
only closing braces may be missing. It is a grammar of our own because a general repairer guesses: of the 104 damaged
texts in `tests/corpus/calls`, json-repair 0.64 makes 39 (38 %) into an object that was not written or is one of several that may have
been meant, and 34 of these pass validation (`python -m evals.calls` counts). No check afterwards can tell, as a guess is well-formed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from tools.grammar import ALL_QUOTES, BRACKETS, COLONS, COMMAS, OPEN_OBJECT, NotAnObject, Reader, kind, strict

__all__ = ["REPAIRS", "NotAnObject", "Parsed", "parse"]

REPAIRS: Final = (
    "missing comma",
    "trailing comma",
    "True, False or None",
    "comment",
    "code fence",
    "text around the object",
    "single quotes",
    "typographic quotes",
    "full-width punctuation",
    "unquoted name",
    "line break or tab in a text",
    "escaped apostrophe",
    "unusual space",
    "object written as text",
    "missing closing brace",
)
"""Every deviation from JSON that is understood."""

_MEMBER = re.compile(rf"[{ALL_QUOTES}]\s*[:：]")
_OPENING_FENCE = re.compile(r"(?:```|~~~)[\w+-]*\s*\Z|`\s*\Z")
_CLOSING_FENCE = re.compile(r"\s*(?:```|~~~|`)")
_LAST_FENCE = re.compile(r"\s*(?:```|~~~)\s*\Z")


@dataclass(frozen=True, slots=True)
class Parsed:
    """One object, and how its text differed from JSON."""

    value: dict[str, Any]
    repairs: tuple[str, ...] = ()
    """Names out of `REPAIRS`, each once, in the order they were met; empty when the text was JSON."""


def parse(raw: str) -> Parsed:
    """The one object `raw` holds; no text at all counts as `{}`. Takes time in proportion to its length.

    Raises `NotAnObject` when there is none, or when it could be read in two ways.
    """
    if not raw.strip():
        return Parsed({})
    try:
        value = strict(raw)
    except json.JSONDecodeError:
        return _tolerant(raw)
    if isinstance(value, str):
        return _from_text(value)
    if not isinstance(value, dict):
        raise NotAnObject(f"are {kind(value)}, not an object")
    return Parsed(value)


def _tolerant(raw: str) -> Parsed:
    if raw.lstrip().startswith("{") and "\\" in raw and raw.count('"') == raw.count('\\"') == raw.count("\\"):
        # Encoded twice, and the outer quotes lost. With any other backslash it would be unclear how often to decode.
        inner = raw.replace('\\"', '"').strip()
        return Parsed(Reader(inner, len(inner)).alone(), ("object written as text",))
    start = min((at for at in map(raw.find, OPEN_OBJECT) if at >= 0), default=-1)
    if start < 0:
        raise NotAnObject("are not valid JSON (there is no object in them)")
    before = raw[:start]
    fence = _OPENING_FENCE.search(before)
    end = len(raw)
    if fence is not None:
        last = _LAST_FENCE.search(raw, max(start, len(raw) - 64))
        end = last.start() if last else end
    reader = Reader(raw, end, start)
    if fence is not None:
        reader.note("code fence")
        before = before[: fence.start()]
    _prose(reader, before, 0)
    value = reader.object(1)
    after = raw[reader.at : end]
    closing = _CLOSING_FENCE.match(after) if fence is not None else None
    if after.lstrip()[:1] in {*COMMAS, *COLONS} - {""}:
        reader.fail("the object ends here, but more of it seems to follow")
    _prose(reader, after[closing.end() :] if closing else after, reader.at)
    if before.rstrip()[-1:] in set(ALL_QUOTES) and "\\" in raw:
        reader.fail("an object in quotes with backslashes could be decoded once or twice", start)
    return Parsed(value, tuple(reader.found))


def _prose(reader: Reader, text: str, offset: int) -> None:
    """Text outside the object is passed over only when it cannot be a part of it or another one."""
    if not text.strip():
        return
    if bracket := BRACKETS.search(text):
        reader.fail("there is another bracket outside the object", offset + bracket.start())
    if member := _MEMBER.search(text):
        reader.fail("there is a name outside the object", offset + member.start())
    reader.note("text around the object" if text.strip("\ufeff\u200b \t\r\n") else "unusual space")


def _from_text(text: str) -> Parsed:
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise NotAnObject("are a text, not an object")
    reader = Reader(inner, len(inner))
    reader.note("object written as text")
    return Parsed(reader.alone(), tuple(reader.found))
