"""The two grammars of a model's arguments: JSON as the standard library reads it, and one that tolerates slips of the pen.

`Reader` reads one object from left to right, never going back, and notes each deviation it passes over by the name
`tools.lenient` gives it. What it does not know for certain it refuses, naming the place.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final, NoReturn

from tools.normal import clean
from tools.shrink import clip

MAX_DEPTH: Final = 64
"""Levels of objects and lists inside each other that are read."""

OPEN_OBJECT, _CLOSE_OBJECT = "{｛", "}｝"
_OPEN_LIST, _CLOSE_LIST = "[［", "]］"
BRACKETS = re.compile(r"[{}\[\]｛｝［］]")
COMMAS, COLONS = ",，", ":："
_ASCII_QUOTES = "\"'"
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "＂": "＂"}
ALL_QUOTES = "".join(sorted(set(_QUOTES) | set(_QUOTES.values())))
# Inside typographic quotes any other quote mark may be the real end: such texts are refused, not cut.
_PLAIN = {mark: re.compile(rf"[^\\\x00-\x1f{mark if mark in _ASCII_QUOTES else ALL_QUOTES}]*") for mark in _QUOTES}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'"}
_SPACE = re.compile(r"[\s\ufeff\u200b]*")
_NAME = re.compile(r"[^\W\d][\w$-]*|\$[\w$-]+")
_WORD = re.compile(r"-?[^\W\d]\w*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN_WORDS = {"true": True, "false": False, "null": None, "none": None}
_WORDS = {spelling: value for word, value in _PLAIN_WORDS.items() for spelling in (word, word.title(), word.upper())}
_GROUP = re.compile(r"[0-9]{3}(?![0-9])")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_ADDRESS = re.compile(r"//[\w-]+\.\w")


class NotAnObject(Exception):  # noqa: N818 - an outcome with a message, not a fault
    """The text is not one object; the message completes "The arguments of 'x' …"."""


def strict(raw: str) -> Any:
    """`raw` as JSON, where no name may come twice and numbers must be finite.

    Raises `json.JSONDecodeError` for other text, `NotAnObject` for JSON that is not acceptable.
    """
    try:
        value = _DECODER.decode(raw)
    except RecursionError as error:
        raise NotAnObject("are nested too deeply") from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise NotAnObject("hold a number that is too long") from error
    if raw.count("{") + raw.count("[") > MAX_DEPTH and _too_deep(value):
        raise NotAnObject("are nested too deeply")
    return value


class Reader:
    """The tolerant grammar over `text[at:end]`. Every method reads one thing and moves `at` past it; none goes back.

    `found` holds the names of the deviations met, in order.
    """

    def __init__(self, text: str, end: int, at: int = 0) -> None:
        self.text = text
        self.end = end
        self.at = at
        self.found: dict[str, None] = {}
        self._open_comment = False

    def note(self, repair: str) -> None:
        """Remember that a deviation was met."""
        self.found[repair] = None

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        """Refuse the text because of `what`, at `at` or where reading stands."""
        place = self.at if at is None else at
        near = clip(clean(self.text[max(place - 20, 0) : place + 20]), 40)
        raise NotAnObject(f"are not valid JSON ({what} at character {place}, near {near!r})")

    def peek(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.at] if self.at < self.end else ""

    def alone(self) -> dict[str, Any]:
        """The object that is the whole text."""
        try:
            value = strict(self.text)
        except json.JSONDecodeError:
            value = self.object(1)
            if self.text[self.at : self.end].strip():
                self.fail("there is text after the object")
        if not isinstance(value, dict):
            raise NotAnObject(f"are {kind(value)}, not an object")
        return value

    def object(self, depth: int) -> dict[str, Any]:
        """An object whose opening bracket comes next, at `depth` (1: the outermost)."""
        self._enter(depth, OPEN_OBJECT)
        entries: dict[str, Any] = {}
        self.blank()
        while self.peek() not in set(_CLOSE_OBJECT):
            if not self.peek():
                self.fail("the text ends where a name was to come")
            name = self._name()
            if name in entries:
                raise NotAnObject(f"name {clip(clean(name), 60)!r} twice")
            self.blank()
            self._sign(COLONS, "expected a colon after the name")
            self.blank(after_colon=True)
            begin = self.at
            entries[name] = self.value(depth)
            if not self._separate(begin, _CLOSE_OBJECT):
                return entries
        self._sign(_CLOSE_OBJECT, "expected }")
        return entries

    def list(self, depth: int) -> list[Any]:
        """A list whose opening bracket comes next."""
        self._enter(depth, _OPEN_LIST)
        items: list[Any] = []
        self.blank()
        while self.peek() not in set(_CLOSE_LIST):
            if not self.peek():
                self.fail("the text ends inside a list")
            begin = self.at
            items.append(self.value(depth))
            self._separate(begin, _CLOSE_LIST)
        self._sign(_CLOSE_LIST, "expected ]")
        return items

    def value(self, depth: int) -> Any:
        """Any value."""
        sign = self.peek()
        if sign in _QUOTES:
            return self.string()
        if sign and sign in OPEN_OBJECT:
            return self.object(depth + 1)
        if sign and sign in _OPEN_LIST:
            return self.list(depth + 1)
        if word := _WORD.match(self.text, self.at, self.end):
            return self._word(word[0])
        if number := _NUMBER.match(self.text, self.at, self.end):
            return self._number(number)
        return self.fail("expected a value" if sign else "the text ends where a value was to come")

    def string(self) -> str:
        """A text in quotes of any known kind."""
        start, opening = self.at, self.text[self.at]
        closing = _QUOTES[opening]
        if opening != '"':
            self.note("single quotes" if opening == "'" else "typographic quotes")
        self.at += 1
        chunks: list[str] = []
        while True:
            plain = _PLAIN[opening].match(self.text, self.at, self.end)
            assert plain is not None  # noqa: S101 - the pattern matches nothing, too
            chunks.append(plain[0])
            self.at = plain.end()
            sign = self.peek()
            if sign == closing:
                self.at += 1
                return "".join(chunks)
            if not sign:
                self.fail("a text begins here and is cut off", start)
            if sign == "\\":
                chunks.append(self._escape(opening))
            elif sign in "\n\r\t":
                self.note("line break or tab in a text")
                chunks.append(sign)
                self.at += 1
            else:
                self.fail("a quote mark inside quotes of another kind" if sign >= " " else "a control character in a text")

    def blank(self, *, after_colon: bool = False) -> int:
        """Pass over spaces and comments: 0 when there are none, 2 when a line ends among them, else 1."""
        start, lines = self.at, False
        while True:
            space = _SPACE.match(self.text, self.at, self.end)
            if space is not None and space[0]:
                self.at = space.end()
                lines = lines or "\n" in space[0] or "\r" in space[0]
                if space[0].strip(" \t\r\n"):
                    self.note("unusual space")
            if self.peek() == "#" or self.text.startswith(("//", "/*"), self.at, self.end):
                self._comment(after_colon=after_colon)
            else:
                return 2 if lines else int(self.at > start)

    def _comment(self, *, after_colon: bool) -> None:
        if self.text.startswith("/*", self.at, self.end):
            close = self.text.find("*/", self.at + 2, self.end)
            if close < 0:
                self.fail("a comment begins here and is cut off")
            self.at = close + 2
        else:
            # `#general` and `//host.example/x` may be values somebody forgot to quote.
            bare = self.text[self.at] == "#" and self.text[self.at + 1 : self.at + 2].strip("# \t\r\n!")
            if after_colon or bare or _ADDRESS.match(self.text, self.at):
                self.fail("this may be a comment or a value without quotes")
            line = self.text.find("\n", self.at, self.end)
            self._open_comment = line < 0
            self.at = self.end if line < 0 else line
        self.note("comment")

    def _separate(self, begin: int, closers: str) -> bool:
        """From one entry (it began at `begin`) to the next, or to the closing bracket. False when the text ended and the entry was whole."""
        stop = self.at
        gap = self.blank()
        sign = self.peek()
        if not sign:
            self._ended(stop, gap, closers)
            return False
        if sign in COMMAS:
            self._sign(COMMAS, "expected a comma")
            self.blank()
            if not self.peek():
                self.fail("the text ends after a comma, where more was to come")
            if self.peek() in COMMAS:
                self.fail("nothing stands between two commas")
            if self.peek() in closers:
                self.note("trailing comma")
        elif sign not in closers:
            self._missing_comma(begin, stop, gap, closers)
        return True

    def _missing_comma(self, begin: int, stop: int, gap: int, closers: str) -> None:
        first, last, sign = self.text[begin], self.text[stop - 1], self.peek()
        if not (gap or BRACKETS.match(last) or (BRACKETS.match(sign) and last not in ALL_QUOTES)):
            self.fail("expected a comma or the end" if last not in ALL_QUOTES else "expected a comma or the end; a quote mark inside a text needs a backslash")
        if closers == _CLOSE_OBJECT and sign not in _QUOTES and gap < 2:
            self.fail("expected a comma or }")
        if closers == _CLOSE_LIST and sign in _QUOTES and first in _QUOTES and (sign + first) != '""':
            self.fail("two texts side by side may be two items or one")  # one, to Python
        if gap < 2 and "0" <= last <= "9" and _GROUP.match(self.text, self.at) and stop - begin <= 4:
            self.fail("two numbers side by side may be two items or one with groups of digits")
        self.note("missing comma")

    def _ended(self, stop: int, gap: int, closers: str) -> None:
        """Only closing braces may be missing at the end; whatever else is cut off may have had any meaning."""
        if closers == _CLOSE_LIST:
            self.fail("the text ends inside a list")
        if self._open_comment:
            self.fail("the text ends in a comment that may hide the rest")
        if not gap and "0" <= self.text[stop - 1] <= "9":
            self.fail("the text ends in a number that may be cut off")
        self.note("missing closing brace")

    def _enter(self, depth: int, brackets: str) -> None:
        if depth > MAX_DEPTH:
            raise NotAnObject("are nested too deeply")
        self._sign(brackets, "expected an opening bracket")

    def _sign(self, choices: str, otherwise: str) -> None:
        sign = self.peek()
        if not sign or sign not in choices:
            self.fail(otherwise)
        if sign > "\x7f":
            self.note("full-width punctuation")
        self.at += 1

    def _name(self) -> str:
        if self.peek() in _QUOTES:
            return self.string()
        name = _NAME.match(self.text, self.at, self.end)
        if name is None or name[0] in _WORDS:
            self.fail("expected a name in double quotes")
        self.note("unquoted name")
        self.at = name.end()
        return name[0]

    def _word(self, word: str) -> bool | None:
        if word in _WORDS:
            self.at += len(word)
            if word not in {"true", "false", "null"}:
                self.note("True, False or None")
            return _WORDS[word]
        if word in {"NaN", "Infinity", "-Infinity"}:
            _no_constant(word)
        if word == "undefined":
            self.fail("undefined may mean null or nothing at all")
        return self.fail(f"{clip(word, 20)} is not a value; text needs double quotes")

    def _number(self, number: re.Match[str]) -> int | float:
        if number.end() < self.end and re.match(r"[\w.]", self.text[number.end()]):
            self.fail("this is not a number as JSON writes it")
        self.at = number.end()
        if number[1] or number[2]:
            return _finite(number[0])
        try:
            return int(number[0])
        except ValueError as error:
            raise NotAnObject("hold a number that is too long") from error

    def _escape(self, opening: str) -> str:
        letter = self.text[self.at + 1 : min(self.at + 2, self.end)]
        if letter == "u":
            return self._unicode()
        if letter not in _ESCAPES or not letter or (letter == "/" and opening == "'"):
            self.fail("a backslash that means nothing in JSON; write two for one")
        if letter == "'" and opening != "'":
            self.note("escaped apostrophe")
        self.at += 2
        return _ESCAPES[letter]

    def _unicode(self) -> str:
        units = bytearray()
        while self.text.startswith("\\u", self.at, self.end) and (digits := _HEX4.match(self.text, self.at + 2, self.end)):
            units += int(digits[0], 16).to_bytes(2, "big")
            self.at += 6
        if not units:
            self.fail("expected four hexadecimal digits after \\u")
        return units.decode("utf-16-be", "surrogatepass")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON readers disagree on which of two equal keys counts: one must not be shown on a card while the other is sent.
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise NotAnObject(f"name {clip(clean(twice), 60)!r} twice")
    return entries


def _no_constant(word: str) -> NoReturn:
    raise NotAnObject(f"hold {word}, which is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise NotAnObject("hold a number that is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = [item for each in level for item in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())]
        level = [item for item in inner if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def kind(value: Any) -> str:
    """What a JSON value that is no object is called in a message."""
    return "null" if value is None else {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
