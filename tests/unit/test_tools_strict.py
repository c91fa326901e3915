"""The strict form of a schema: inside the endpoint's subset, no wider than the original and no narrower."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from tools import Registry, tool
from tools.strict import MAX_ENUM_VALUES, UNENFORCED, strict_schema

Json = dict[str, Any]
Strategies = dict[str, st.SearchStrategy[Any]]
SUBSET = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs", "description", "pattern", "format"),
    *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
}
"""The keywords the endpoint takes."""


KEYWORDS = st.sampled_from(sorted(SUBSET | {"allOf", "oneOf", "definitions", "minLength", "uniqueItems", "default", "const", "title"}))


class Stop(BaseModel):
    city: Annotated[str, Field(min_length=1)]
    nights: Annotated[int, Field(ge=1)] = 1
    via: Stop | None = None


@tool(effect="read")
def plan(  # noqa: PLR0917 - one parameter of every kind
    stops: Annotated[list[Stop], Field(description="Where to stay, in order", min_length=1)],
    first: Annotated[Stop, Field(description="Where the journey begins")],
    code: Annotated[str, Field(description="Letter and digits", pattern="^[A-Z][0-9]+$", max_length=9)],
    mode: Annotated[Literal["train", "bus"], Field(description="How to travel")] = "train",
    people: Annotated[int, Field(description="How many come", ge=1, le=9)] = 2,
    note: Annotated[str, Field(description="Anything to remember", max_length=80)] = "",
    budget: Annotated[float | None, Field(description="The most it may cost, in euros")] = None,
) -> str:
    """Plan a journey over several stops and return it as text."""
    return f"{stops}{first}{code}{mode}{people}{note}{budget}"


def test_a_tools_schema_in_strict_form() -> None:
    stop = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Not empty."},
            "nights": {"type": ["integer", "null"], "minimum": 1, "description": "Null for the default, 1."},
            "via": {"anyOf": [{"$ref": "#/$defs/Stop"}, {"type": "null"}]},
        },
        "required": ["city", "nights", "via"],
        "additionalProperties": False,
    }

    assert strict_schema(plan.parameters()) == {
        "type": "object",
        "properties": {
            "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}, "minItems": 1, "description": "Where to stay, in order"},
            "first": {"anyOf": [{"$ref": "#/$defs/Stop"}], "description": "Where the journey begins"},
            "code": {"type": "string", "pattern": "^[A-Z][0-9]+$", "description": "Letter and digits. At most 9 characters."},
            "mode": {
                "anyOf": [{"type": "string", "enum": ["train", "bus"]}, {"type": "null"}],
                "description": 'How to travel. Null for the default, "train".',
            },
            "people": {"type": ["integer", "null"], "minimum": 1, "maximum": 9, "description": "How many come. Null for the default, 2."},
            "note": {"type": ["string", "null"], "description": "Anything to remember. At most 80 characters."},
            "budget": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "The most it may cost, in euros"},
        },
        "required": ["stops", "first", "code", "mode", "people", "note", "budget"],
        "additionalProperties": False,
        "$defs": {"Stop": stop},
    }


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "properties": {}, "patternProperties": {"a": {"type": "string"}}, "additionalProperties": False},
        {"type": "object", "properties": {}, "required": ["gone"], "additionalProperties": False},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}},
        {"type": "string", "not": {"const": "x"}},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"allOf": [{"type": "string"}, {"maxLength": 3}]},
        {"anyOf": [{"type": "string"}, {}]},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"enum": [["a"], "b"]},
        {"enum": []},
        {"type": "anything"},
        True,
    ],
    ids=json.dumps,
)
def test_what_cannot_be_said_strictly_has_no_strict_form(about: Any) -> None:
    assert strict_schema({"type": "object", "properties": {"a": about}, "additionalProperties": False}) is None


@pytest.mark.parametrize("root", [{}, {"anyOf": [{"type": "object", "properties": {}}]}, {"type": "string"}, {"type": "object"}])
def test_the_root_must_be_an_object_with_known_properties(root: Json) -> None:
    assert strict_schema(root) is None


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4)
)


@settings(deadline=None)
@given(st.dictionaries(KEYWORDS, JUNK, max_size=5).map(lambda junk: {"type": "object", "properties": {}, **junk}))
def test_whatever_a_stranger_sends_as_a_schema_there_is_an_answer(junk: Json) -> None:
    strict = strict_schema(junk)

    assert strict is None or strict["additionalProperties"] is False


def test_schemas_beyond_the_endpoints_limits_have_no_strict_form() -> None:
    deep: Json = {"type": "string"}
    for _ in range(11):
        deep = {"type": "object", "properties": {"a": deep}}
    wide = {"type": "object", "properties": {"a": {"type": "integer", "enum": list(range(MAX_ENUM_VALUES + 1))}}}

    assert (strict_schema(deep), strict_schema(wide)) == (None, None)
    assert strict_schema({"type": "object", "properties": {"a": {"type": "integer", "enum": list(range(MAX_ENUM_VALUES))}}}) is not None


def test_older_schemas_with_definitions_and_single_allof_are_understood() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"at": {"allOf": [{"$ref": "#/definitions/Place"}], "description": "Where"}, "me": {"$ref": "#"}},
        "required": ["at"],
        "definitions": {"Place": {"type": "string", "const": "here"}},
    }

    assert strict_schema(old) == {
        "type": "object",
        "properties": {"at": {"anyOf": [{"$ref": "#/$defs/Place"}], "description": "Where"}, "me": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["at", "me"],
        "additionalProperties": False,
        "$defs": {"Place": {"type": "string", "enum": ["here"]}},
    }


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"pattern": "^(?!x)"}, "Must match ^(?!x)."),
        ({"pattern": r"(a)\1"}, r"Must match (a)\1."),
        ({"format": "uri"}, "Format: uri."),
        ({"minLength": 2, "maxLength": 3}, "2 to 3 characters."),
        ({"minLength": 2}, "At least 2 characters."),
    ],
)
def test_a_limit_the_endpoint_cannot_enforce_is_said_in_words(about: Json, said: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", **about}}, "required": ["a"]}

    assert strict_schema(schema) == {**schema, "properties": {"a": {"type": "string", "description": said}}, "additionalProperties": False}


def test_the_registry_offers_the_strict_form_where_there_is_one() -> None:
    @tool(effect="read")
    def free(extras: Annotated[dict[str, Any], Field(description="Whatever else is known")]) -> str:
        """Look at an object with any keys and return it as text."""
        return str(extras)

    registry = Registry([plan, free])
    strict, plain = registry.schemas(strict=True), registry.schemas()

    assert strict[0]["function"] == {**plain[0]["function"], "strict": True, "parameters": strict_schema(plan.parameters())}
    assert strict[1] == plain[1] == free.schema()


DEFS: Json = {
    "Leaf": {"type": "string", "enum": ["a", "b"]},
    "Node": {
        "type": "object",
        "properties": {"word": {"type": "string"}, "next": {"$ref": "#/$defs/Node", "description": "what follows"}, "size": {"type": "integer", "default": 3}},
        "required": ["word"],
        "additionalProperties": False,
    },
}
NAMES = ["a", "title", "default", "type", "名字"]


def objects(children: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    fields = st.dictionaries(st.sampled_from(NAMES), st.tuples(children, st.booleans()), max_size=3)
    return fields.map(
        lambda chosen: {
            "type": "object",
            "properties": {name: child for name, (child, _) in chosen.items()},
            "required": [name for name, (_, required) in chosen.items() if required],
            "additionalProperties": False,
        }
    )


LEAVES: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1, "maxLength": 5, "description": "short"},
        {"type": "string", "pattern": "^[a-c]{1,3}$"},
        {"type": ["string", "null"], "default": None},
        {"enum": ["x", 1, None]},
        {"type": "string", "enum": ["x", "y"], "default": "x"},
        {"const": "only"},
        {"type": "integer", "minimum": -3, "maximum": 9, "default": 2},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "boolean", "default": False},
        {"type": "null"},
        {"$ref": "#/$defs/Leaf"},
        {"$ref": "#/$defs/Node", "description": "a chain", "default": {"word": "w"}},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | st.builds(lambda child: {"type": "array", "items": child, "maxItems": 3}, inner)
        | st.builds(lambda children: {"anyOf": children, "description": "either"}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=5,
)
ROOTS = objects(SCHEMAS).map(lambda root: {**root, "$defs": DEFS})


def values(schema: Json, definitions: Strategies) -> st.SearchStrategy[Any]:
    """Values that fit `schema`, as far as it is made of the words used above."""
    if "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return st.one_of(*(values(choice, definitions) for choice in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of(*(_of_kind(kind, schema, definitions) for kind in kinds))


def values_of(root: Json) -> st.SearchStrategy[Any]:
    """Values that fit a whole schema with its definitions."""
    strategies: Strategies = {}

    def later(child: Json) -> st.SearchStrategy[Any]:
        return st.deferred(lambda: values(child, strategies))

    strategies |= {name: later(child) for name, child in root["$defs"].items()}
    return values(root, strategies)


def _of_kind(kind: str, schema: Json, definitions: Strategies) -> st.SearchStrategy[Any]:
    if kind == "object":
        fields = {name: values(child, definitions) for name, child in schema["properties"].items()}
        needed = {name: field for name, field in fields.items() if name in schema.get("required", [])}
        return st.fixed_dictionaries(needed, optional={name: field for name, field in fields.items() if name not in needed})
    if kind == "array":
        return st.lists(values(schema["items"], definitions), max_size=schema.get("maxItems", 3))
    text = st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else st.text(max_size=schema.get("maxLength", 8))
    return {
        "string": text.filter(lambda found: len(found) >= schema.get("minLength", 0)),
        "integer": st.integers(schema.get("minimum"), schema.get("maximum")),
        "number": st.floats(min_value=schema.get("exclusiveMinimum"), exclude_min="exclusiveMinimum" in schema, allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }[kind]


def relaxed(schema: Any) -> Any:
    """`schema` without the limits strict form does not enforce."""
    if isinstance(schema, list):
        return [relaxed(part) for part in schema]
    return {key: relaxed(part) for key, part in schema.items() if key not in UNENFORCED} if isinstance(schema, dict) else schema


def resolved(schema: Json) -> Json:
    return DEFS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def fits(value: Any, schema: Json) -> bool:
    return bool(Draft202012Validator({"$defs": DEFS, **schema}).is_valid(value))


def dropped(value: Any, schema: Json) -> Any:
    """`value` without the nulls that stand for arguments left out."""
    schema = resolved(schema)
    if "anyOf" in schema:
        tried = [dropped(value, choice) for choice in schema["anyOf"]]
        return next((found for found, choice in zip(tried, schema["anyOf"], strict=True) if fits(found, choice)), value)
    if isinstance(value, list) and "items" in schema:
        return [dropped(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        kept = {name: item for name, item in value.items() if item is not None or name in schema.get("required", [])}
        return {name: dropped(item, schema["properties"].get(name, {})) for name, item in kept.items()}
    return value


def completed(value: Any, schema: Json) -> Any:
    """`value` with null for everything left out, as the model writes it under strict form."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return next((completed(value, choice) for choice in schema["anyOf"] if fits(value, choice)), value)
    if isinstance(value, list) and "items" in schema:
        return [completed(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        return {name: completed(value[name], child) if name in value else None for name, child in schema["properties"].items()}
    return value


def nodes(schema: Any) -> Iterator[Json]:
    """Every schema inside `schema`, itself included."""
    yield schema
    for child in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])):
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


@settings(deadline=None, max_examples=80)
@given(ROOTS)
def test_a_strict_schema_stays_inside_the_subset_and_the_original_is_left_alone(root: Json) -> None:
    before = copy.deepcopy(root)
    strict = strict_schema(root)

    assert root == before
    assert strict is not None
    Draft202012Validator.check_schema(strict)
    for node in nodes(strict):
        assert set(node) <= SUBSET
        assert "$ref" not in node or set(node) == {"$ref"}
        assert node.keys() & {"type", "anyOf", "$ref"}
        if "properties" in node:
            assert (node["required"], node["additionalProperties"]) == (list(node["properties"]), False)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_whatever_fits_the_strict_form_fits_the_original_without_its_nulls(data: st.DataObject) -> None:
    root = data.draw(ROOTS)
    strict = strict_schema(root)
    assert strict is not None
    value = data.draw(values_of(strict))

    assert Draft202012Validator(strict).is_valid(value)
    loose = relaxed(root)
    assert fits(dropped(value, loose), loose)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_whatever_fits_the_original_fits_the_strict_form_with_its_nulls(data: st.DataObject) -> None:
    root = data.draw(ROOTS)
    strict = strict_schema(root)
    assert strict is not None
    value = data.draw(values_of(root))

    assert Draft202012Validator(strict).is_valid(completed(value, root))
