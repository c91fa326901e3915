"""Arguments of tools that somebody else described: JSON in, the same JSON out, and nothing their schema can do to us."""

from __future__ import annotations

import dataclasses
import json
import socket
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tools import Registry, ToolResult, tool
from tools.foreign import MAX_PROBLEMS, problems
from tools.prepare import Prepared, prepare
from tools.result import ErrorCode


class AnyObject(BaseModel):
    model_config = ConfigDict(extra="allow")


@tool(effect="write")
def remote(name: Annotated[str, Field(description="Whom to greet, by first name")]) -> str:
    """Greet somebody on a machine far away from here."""
    return name


def call(schema: dict[str, Any], raw: str) -> Prepared | ToolResult:
    return prepare(Registry([dataclasses.replace(remote, args_model=AnyObject, input_schema=schema)]), "remote", raw)


def told(schema: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    return [str(error) for error in problems(schema, arguments)]


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "mails": {"type": "array", "items": {"type": "string", "format": "email"}},
        "when": {"type": "string", "format": "date-time"},
        "size": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False},
        "kind": {"enum": ["a", "b"]},
        "id": {"anyOf": [{"type": "integer"}, {"type": "string", "format": "uuid"}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def test_what_fits_stays_the_json_it_is() -> None:
    done = call(SCHEMA, '{"name": "Ann", "id": 5, "size": {"x": 2.0}, "when": "2024-05-20T09:30:00Z"}')

    assert isinstance(done, Prepared)
    assert str(done.arguments) == "{'name': 'Ann', 'id': 5, 'size': {'x': 2}, 'when': '2024-05-20T09:30:00Z'}"
    assert done.changes == ()


def test_every_mistake_is_told_by_field() -> None:
    assert sorted(told(SCHEMA, {"mails": ["x", 5], "when": "today", "size": {"y": 1}, "kind": "c", "id": [1], "nmae": "Ann"})) == [
        "id: fits none of the forms it may have. Sent: [1]. Accepted: integer or a UUID.",
        'kind: is not one of the accepted values. Sent: "c". Accepted: one of "a", "b".',
        'mails.0: does not have the format email. Sent: "x". Accepted: an e-mail address.',
        "mails.1: has the wrong type. Sent: 5. Accepted: an e-mail address.",
        "name: required, but nothing was sent. Accepted: text of at least 2 characters.",
        'nmae: no such argument; did you mean name? Sent: "Ann". Accepted: only name, mails, when, size, kind, id.',
        "size.x: required, but nothing was sent. Accepted: integer.",
        "size.y: no such argument. Sent: 1. Accepted: only x.",
        'when: does not have the format date-time. Sent: "today". Accepted: a date and time like 2024-05-20T09:30:00+08:00.',
    ]


def test_a_long_value_is_not_repeated_in_the_message() -> None:
    assert len(told({"properties": {"a": {"maxLength": 5}}}, {"a": "x" * 10_000})[0]) < 400


@pytest.mark.parametrize("reference", ["https://schemas.example/x.json", "file:///etc/passwd", "other.json", "#/$defs/missing"])
def test_a_reference_to_elsewhere_is_never_followed(reference: str) -> None:
    result = call({"type": "object", "properties": {"a": {"$ref": reference}}}, '{"a": 1}')

    assert isinstance(result, ToolResult)
    assert result.error_code == ErrorCode.INTERNAL
    assert "passwd" not in (result.error_message or "")


@pytest.mark.timeout(20)
def test_not_even_a_near_server_is_asked_for_a_schema() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        result = call({"type": "object", "properties": {"a": {"$ref": f"http://127.0.0.1:{server.getsockname()[1]}/x.json"}}}, '{"a": 1}')

        assert isinstance(result, ToolResult)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"properties": 5}, {"type": "object", "properties": {"a": {"minimum": "x"}}}])
def test_a_schema_that_is_none_is_a_fault_of_the_tool(schema: dict[str, Any]) -> None:
    result = prepare(_unlinted(schema), "remote", '{"a": 1}')

    assert isinstance(result, ToolResult)
    assert result.error_code == ErrorCode.INTERNAL


def _unlinted(schema: dict[str, Any]) -> Any:
    class One:
        def get(self, _name: str) -> Any:
            return dataclasses.replace(remote, args_model=AnyObject, input_schema=schema)

    return One()


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
        {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "unevaluatedProperties": False},
    ],
)
def test_a_pattern_cannot_hang_us(schema: dict[str, Any]) -> None:
    hostile = "a" * 60 + "!"
    outcome = call({"type": "object", **schema}, json.dumps({"a" if "properties" in schema else hostile: hostile}))

    assert isinstance(outcome, (Prepared, ToolResult))


def test_patterns_are_kept_where_they_can_be_checked() -> None:
    schema = {"type": "object", "patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": {"type": "string", "pattern": "^[a-z]+$"}}

    assert told(schema, {"x_1": 5, "y": "abc"}) == []
    assert [line.partition(":")[0] for line in told(schema, {"x_1": "5", "y": "ABC"})] == ["x_1", "y"]
    assert told({"properties": {"a": {"pattern": "(?<=x)y"}}}, {"a": "z"}) == []  # the server has to check what the engine does not know


def test_what_is_evaluated_elsewhere_is_known() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}

    assert told(schema, {"a": 1}) == []
    assert told(schema, {"b": 1}) != []


def test_a_recursive_schema_is_followed_into_the_depth() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "c": {"$ref": "#"}}, "additionalProperties": False}

    assert [error.field for error in problems(schema, {"c": {"c": {"n": "x"}}})] == ["c.c.n"]


def test_of_thousands_of_mistakes_some_are_enough() -> None:
    schema = {"properties": {"a": {"type": "array", "items": {"type": "string"}}}}

    assert len(problems(schema, {"a": [[]] * 5000})) == MAX_PROBLEMS
