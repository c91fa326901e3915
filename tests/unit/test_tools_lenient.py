"""The tolerant reader: what it accepts it reads exactly, what it does not know for certain it refuses, naming the place."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.fits import same
from tools.grammar import MAX_DEPTH
from tools.lenient import REPAIRS, NotAnObject, parse
from tools.prepare import MAX_RAW

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["it's", 'say "hi"', "“北京”", "a, b: {c}", "// no", "# no", "x\ny\t", "back\\slash", "1,234", "True", "```", "", " ", "}", "“"]
)
NAMES = st.sampled_from(["a", "b", "order_id", "城市", "x-y", "kind", "true", "a b", "$id"]) | st.text(max_size=4)
NUMBERS = st.integers(-2000, 2000) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


def refusal(raw: str) -> str:
    with pytest.raises(NotAnObject) as caught:
        parse(raw)
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "value", "repair"),
    [
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "missing comma"),
        ('{"a": [{"b": 1}{"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}, "missing comma"),
        ('{"a": [1, 2,],}', {"a": [1, 2]}, "trailing comma"),
        ('{"a": True, "b": FALSE, "c": None}', {"a": True, "b": False, "c": None}, "True, False or None"),
        ('{"a": 1, // one\n # two\n /* three */ "b": 2}', {"a": 1, "b": 2}, "comment"),
        ('~~~json5\n{"a": 1}\n~~~', {"a": 1}, "code fence"),
        ('Sure! {"a": "}"} Anything else?', {"a": "}"}, "text around the object"),
        ("{'a': 'it\\'s'}", {"a": "it's"}, "single quotes"),
        ("{“a”：‘b’, «c»: 「d」}", {"a": "b", "c": "d"}, "typographic quotes"),
        ('｛"a"：［1，2］｝', {"a": [1, 2]}, "full-width punctuation"),
        ("{order_id: 1, $x: 2, 城市: 3, x-y: 4}", {"order_id": 1, "$x": 2, "城市": 3, "x-y": 4}, "unquoted name"),
        ('{"a": "1\n\t2\r\n"}', {"a": "1\n\t2\r\n"}, "line break or tab in a text"),
        ('{"a": "it\\\'s"}', {"a": "it's"}, "escaped apostrophe"),
        ('{"a":\u3000"\u3000"}', {"a": "\u3000"}, "unusual space"),
        (json.dumps(json.dumps({"a": 'x"y\\'})), {"a": 'x"y\\'}, "object written as text"),
        ('{\\"a\\": [\\"b\\"]}', {"a": ["b"]}, "object written as text"),
        ('{"a": {"b": "c"', {"a": {"b": "c"}}, "missing closing brace"),
    ],
)
def test_each_known_deviation_is_read_and_named(raw: str, value: dict[str, Any], repair: str) -> None:
    parsed = parse(raw)

    assert same(parsed.value, value)
    assert repair in parsed.repairs
    assert set(parsed.repairs) <= set(REPAIRS)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"a": 1, "a": 2}', "name 'a' twice"),
        ("{a: 1, a: 2}", "name 'a' twice"),
        ('{"a": NaN}', "hold NaN"),
        ("{a: -Infinity}", "hold -Infinity"),
        ('{"a": 1e400}', "too large"),
        ("{a: 1e400}", "too large"),
        ("{a: " + "9" * 5000 + "}", "too long"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{a:" * 100 + "1" + "}" * 100, "nested too deeply"),
        ('{"a": undefined}', "null or nothing at all at character 6"),
        ('{"a": nope}', "nope is not a value"),
        ('{"a": [1 234]}', "groups of digits"),
        ("{'a': ['b' 'c']}", "two items or one"),
        ('{"a": "b""c": 1}', "expected a comma"),
        ('{"a": "he said " note: "b"}', "expected a comma or }"),
        ("{a: 1 b: 2}", "expected a comma or }"),
        ('{"a": "he said "no" to it"}', "needs a backslash at character 16"),
        ("{'a': 'it's'}", "needs a backslash at character 10"),
        ('{"a": “he said “no””}', "quote mark inside"),
        ('{"a": "x”, "b": “y"}', "expected a comma"),
        ('{"a": "\\d"}', "backslash that means nothing"),
        ('{"a": "\\u12"}', "hexadecimal"),
        ("{'a': '\\/'}", "backslash that means nothing"),
        ('{"a": "\x00"}', "control character"),
        ('{"a": 1} {"b": 2}', "another bracket outside the object"),
        ('[1] {"b": 2}', "another bracket outside the object"),
        ('{"a": 1}, "b": 2', "more of it seems to follow"),
        ('"b": 2 {"a": 1}', "a name outside the object"),
        ('{"a": 1,, "b": 2}', "between two commas"),
        ('{, "a": 1}', "expected a name"),
        ("{1: 2}", "expected a name"),
        ("{null: 2}", "expected a name"),
        ('{"a": +1,}', "expected a value"),
        ('{"a": 1_000}', "not a number"),
        ('{"a": 0x1F}', "not a number"),
        ('{"a": 1 // "b": 2}', "may hide the rest"),
        ('{"a": /* "b": 2}', "comment begins here and is cut off"),
        ('{"a": [//host.example/x\n]}', "a value without quotes"),
        ('{"a": // 1\n 2}', "a value without quotes"),
        ('{"a": 12', "number that may be cut off"),
        ('{"a": "b", ', "ends after a comma"),
        ('{"a": ["b"', "inside a list"),
        ('{"a": [{"b": "c"', "inside a list"),
        ('{"a": {', "a name was to come"),
        ('{"a": "b', "cut off at character 6"),
        ('\'{"a": "x\\\\n"}\'', "decoded once or twice"),
        ('{\\"a\\": \\"x\\\\n\\"}', "expected a name"),
        ("```json\n```", "no object"),
        ('"just a text"', "are a text, not an object"),
        ("[{}]", "are a list, not an object"),
        ('"[1]"', "are a text, not an object"),
    ],
)
def test_what_could_mean_two_things_is_refused_with_the_place(raw: str, reason: str) -> None:
    assert reason in refusal(raw)


def test_a_refusal_shows_the_text_near_the_place_and_no_more() -> None:
    assert refusal('{"a": ' + "x" * 1000 + "}").endswith("at character 6, near '{\"a\": xxxxxxxxxxxxxxxxxxxx')")


@pytest.mark.parametrize("raw", ["", " \n", "{}", " {} "])
def test_nothing_at_all_is_an_empty_object_and_no_repair(raw: str) -> None:
    assert parse(raw).value == {}
    assert parse(raw).repairs == ()


def test_the_deepest_object_that_is_read_is_read_by_both_grammars() -> None:
    inner, outer = '{"a": ' * (MAX_DEPTH - 1) + "{}" + "}" * (MAX_DEPTH - 1), '{"a": ' * MAX_DEPTH + "{}" + "}" * MAX_DEPTH

    assert same(parse(inner).value, parse(inner.replace('"', "'")).value)
    assert "nested too deeply" in refusal(outer)
    assert "nested too deeply" in refusal(outer.replace('"', "'"))


@settings(deadline=None)
@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_itself_without_repairs(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    parsed = parse(json.dumps(value, ensure_ascii=ascii_only, indent=indent))

    assert same(parsed.value, value)
    assert parsed.repairs == ()


class Sloppy:
    """Writes a value as a careless hand would: every choice is one of the known deviations, or plain JSON."""

    def __init__(self, seed: int, much: float) -> None:
        self.chance = random.Random(seed)
        self.much = much

    def slip(self) -> bool:
        return self.chance.random() < self.much

    def pick(self, plain: str, *others: str) -> str:
        return self.chance.choice(others) if self.slip() else plain

    def text(self, text: str) -> str:
        plain = json.dumps(text, ensure_ascii=self.chance.random() < 0.5)
        if not self.slip():
            return plain
        inner = json.dumps(text, ensure_ascii=False)[1:-1]
        match self.chance.randrange(4):
            case 0:
                return "'" + inner.replace('\\"', '"').replace("'", "\\'") + "'"
            case 1:
                opening, closing = self.chance.choice([("“", "”"), ("‘", "’"), ("「", "」"), ("«", "»"), ("＂", "＂")])
                return opening + inner.replace('\\"', '"') + closing
            case 2:
                return '"' + inner.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\\\") + '"'
            case _:
                return '"' + inner.replace("'", "\\'") + '"'

    def name(self, name: str) -> str:
        return name if name.isidentifier() and self.slip() else self.text(name)

    def gap(self) -> str:
        return self.pick(" ", "", "\n", "\u3000", " // a remark\n", "\n# a remark\n", " /* a, remark: } */ ")

    def between(self) -> str:
        return self.pick(",", "，", " ", "\n", " \n", ",\n")

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            entries = self.between().join(
                self.gap() + self.name(name) + self.pick("", " ") + self.pick(":", "：") + self.pick(" ", "", "\n") + self.value(inner)
                for name, inner in value.items()
            )
            return self.pick("{", "｛") + entries + (self.pick("", ",", " ,\n") if value else "") + self.gap() + self.pick("}", "｝")
        if isinstance(value, list):
            items = "".join((self.between() + self.gap() if place else "") + self.value(item) for place, item in enumerate(value))
            return self.pick("[", "［") + items + (self.pick("", ",") if value else "") + self.pick("]", "］")
        if isinstance(value, str):
            return self.text(value)
        plain = json.dumps(value)
        return self.pick(plain, plain.title() if value is not None else "None") if value is None or isinstance(value, bool) else plain

    def whole(self, value: dict[str, Any]) -> str:
        text = self.value(value)
        if self.slip():
            closers = len(text) - len(text.rstrip("}]｝］ \n"))
            text = text[: len(text) - self.chance.randint(0, closers)]
        match self.chance.randrange(12) if self.slip() else 99:
            case 0:
                return f"```json\n{text}\n```"
            case 1:
                return f"Here you are: {text}"
            case 2:
                return f"{text}\nIs that right?"
            case 3:
                return json.dumps(text)
            case 4:
                return "`" + text + "`"
            case 5:
                return text.replace('"', '\\"')
            case _:
                return text


@settings(deadline=None, max_examples=600)
@given(OBJECTS, st.integers(0, 2**32), st.sampled_from([0.05, 0.15, 0.4]))
def test_a_damaged_text_is_read_as_what_was_meant_or_refused(value: dict[str, Any], seed: int, much: float) -> None:
    raw = Sloppy(seed, much).whole(value)
    try:
        parsed = parse(raw)
    except NotAnObject:
        return
    assert same(parsed.value, value), raw


def test_most_of_what_is_a_little_damaged_is_read() -> None:
    value = {"order_id": "ABC-1", "count": 3, "tags": ["a", "北京"], "deep": {"on": True, "none": None}}
    read = 0
    for seed in range(400):
        try:
            read += same(parse(Sloppy(seed, 0.1).whole(value)).value, value)
        except NotAnObject:
            continue
    assert read > 280


def begins(part: Any, whole: Any) -> bool:
    """Whether an object holds the first members of another, the last of them perhaps only begun."""
    if not (isinstance(part, dict) and isinstance(whole, dict)):
        return same(part, whole)
    names = list(part)
    return names == list(whole)[: len(names)] and all(
        (begins if place == len(names) - 1 else same)(part[name], whole[name]) for place, name in enumerate(names)
    )


@settings(deadline=None, max_examples=300)
@given(OBJECTS, st.data())
def test_a_text_cut_anywhere_loses_whole_members_at_most_and_says_so(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    raw = text[: data.draw(st.integers(1, len(text)))]
    try:
        parsed = parse(raw)
    except NotAnObject:
        return
    assert begins(parsed.value, value)
    assert raw == text or parsed.repairs == ("missing closing brace",)


@settings(deadline=None, max_examples=400)
@given(st.text(alphabet="{}[]\"'“”:：,，\\/#*`abtruen1 2.-e\n\t｛｝", max_size=60) | st.text(max_size=40))
def test_no_text_at_all_makes_it_crash(raw: str) -> None:
    try:
        parsed = parse(raw)
    except NotAnObject as refused:
        str(refused).encode()
    else:
        assert isinstance(parsed.value, dict)
        assert set(parsed.repairs) <= set(REPAIRS)


def calls_of(raw: str) -> int:
    """Function calls, C ones too, that reading `raw` takes."""
    count = 0

    def note(_frame: Any, event: str, _value: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        parse(raw)
    except NotAnObject:
        pass
    finally:
        sys.setprofile(None)
    return count


HOSTILE = ["{'a':", "[", '{"', "'", "\\", '{"a":1 ', "/*", "//x\n", "# ", "`", "``` ", "“", " ", "{a:1}", '"x" ', "1 ", "，", "\\u12", "{'a': '\\''} ", '" : ']


@pytest.mark.timeout(30)
@pytest.mark.parametrize("start", ["", "{", "{'a': [", "{a: '", "```json\n{", "x {a:", '{"a": ["x",'])
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(start: str, piece: str) -> None:
    def hostile(size: int) -> str:
        return (start + piece * size)[:size]

    assert calls_of(hostile(MAX_RAW)) <= 4.5 * calls_of(hostile(MAX_RAW // 4)) + 200


def test_a_thousand_names_and_one_twice_are_told_apart() -> None:
    many = ", ".join(f'"n{number}": 1' for number in range(4000))

    assert "name 'n7' twice" in refusal("{" + many + ', "n7": 2}')
