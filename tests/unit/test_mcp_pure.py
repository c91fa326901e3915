"""What is decided about a server's tools without asking anybody: names, words, schemas, pins, and what the configuration means."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult, TextContent

from bot.mcp_config import McpConfigError, servers_from
from bot.policy_file import PolicyFileError, read_policy_file
from tools.mcp.config import McpServer, McpTool, clashes
from tools.mcp.definition import Definition
from tools.mcp.offer import judge
from tools.mcp.pins import Pins, PinsError, difference
from tools.mcp.results import value
from tools.mcp.schemas import SchemaRefused, sanitised
from tools.mcp.words import hidden, one_line, spoken

SERVER = McpServer("github", command=("x",), prefix="github")
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}

# --- names --------------------------------------------------------------------------------------------------------------


@given(st.text(max_size=120))
def test_every_offered_name_is_legal(name: str) -> None:
    offered = SERVER.offered_name(name)
    assert len(offered) <= 64
    assert set(offered) <= set(string.ascii_letters + string.digits + "_-")
    assert offered.startswith("github")


@given(st.text(max_size=80), st.text(max_size=80))
def test_two_tools_never_share_a_name(one: str, other: str) -> None:
    assert (SERVER.offered_name(one) == SERVER.offered_name(other)) == (one == other)


def test_a_legal_name_is_only_prefixed() -> None:
    assert SERVER.offered_name("search_issues") == "github_search_issues"


def test_servers_whose_tools_could_get_equal_names_are_told() -> None:
    def named(prefix: str) -> McpServer:
        return McpServer(prefix, prefix=prefix)

    assert clashes([named("a"), named("b"), named("ab")]) is None
    assert clashes([named("a"), named("a_b")]) == (named("a"), named("a_b"))


# --- words --------------------------------------------------------------------------------------------------------------


@given(st.text(), st.integers(1, 200))
def test_spoken_words_hide_nothing_and_are_bounded(text: str, limit: int) -> None:
    said = spoken(text, limit)
    assert len(said) <= limit
    assert not any(hidden(char) for char in said)
    assert "\n" not in one_line(text, limit)


def test_ordinary_words_stay_as_they_are() -> None:
    text = "Search issues:\n- by words (e.g. “crash”)\n- 按标签查找，例如「故障」"
    assert spoken(text, 500) == text


# --- schemas ------------------------------------------------------------------------------------------------------------


def test_an_ordinary_schema_keeps_its_meaning() -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "Short title"},
            "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}, "maxItems": 5},
            "state": {"enum": ["open", "closed"], "default": "open"},
            "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["title"],
        "additionalProperties": False,
        "$defs": {"Label": {"type": "string"}},
    }
    assert sanitised(schema) == schema


def test_what_models_do_not_take_or_need_is_left_out() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://evil.example/",
        "type": "object",
        "title": "Arguments",
        "$comment": "obey",
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$", "x-hidden": "obey"}, "title": {"type": "string", "title": "T"}},
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }
    assert sanitised(schema) == {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "(pattern: ^(a+)+$)"}, "title": {"type": "string"}},
    }


def test_an_older_drafts_tuple_is_read() -> None:
    made = sanitised({"type": "object", "properties": {"pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}})
    assert made["properties"]["pair"] == {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}


def test_a_schema_that_is_a_reference_is_looked_up() -> None:
    made = sanitised({"$ref": "#/$defs/Args", "$defs": {"Args": {"type": "object", "properties": {"a": {"type": "string"}}}}})
    assert made["properties"] == {"a": {"type": "string"}}


def _doubling() -> dict[str, Any]:
    defs: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, "d40": {"type": "string"}}}


def _nested(levels: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": _nested(levels - 1)}} if levels else {"type": "object"}


REFUSED: dict[str, tuple[Any, str]] = {
    "not an object": ({"type": "string"}, "is not of type object"),
    "properties of another kind": ({"type": "object", "properties": ["a"]}, '"properties" that are not an object'),
    "another document": ({**OBJECT, "properties": {"a": {"$ref": "https://evil.example/x"}}}, "refers to another document"),
    "a relative document": ({**OBJECT, "properties": {"a": {"$ref": "other.json#/x"}}}, "refers to another document"),
    "a name of its own": ({**OBJECT, "properties": {"a": {"$ref": "#anchor"}}}, "by a name of its own"),
    "a missing part": ({**OBJECT, "properties": {"a": {"$ref": "#/$defs/none"}}}, "a part it does not have"),
    "into a default": ({**OBJECT, "properties": {"a": {"default": {"pattern": "(a+)+"}}, "b": {"$ref": "#/properties/a/default"}}}, "a part it does not have"),
    "a dynamic reference": ({**OBJECT, "properties": {"a": {"$dynamicRef": "#x"}}}, "dynamic references"),
    "too large": ({**OBJECT, "properties": {"a": {"enum": ["x" * 40_000]}}}, "at most 32,000"),
    "too deep": (_nested(30), "nested deeper than 24 levels"),
    "endless work": (_doubling(), "stands for more than 4,000 schemas"),
    "a hidden parameter": ({**OBJECT, "properties": {"a\u200b": {}}}, "hidden characters"),
    "no schema inside": ({**OBJECT, "properties": {"a": "string"}}, "something that is not a schema"),
    "invalid": ({**OBJECT, "required": "a"}, r"is not valid JSON Schema \(at required\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_schema_that_cannot_be_used_is_refused_with_its_reason(case: str) -> None:
    schema, reason = REFUSED[case]
    with pytest.raises(SchemaRefused, match=reason):
        sanitised(schema)


def test_a_recursive_schema_is_fine() -> None:
    tree = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"properties": {"children": {"items": {"$ref": "#/$defs/node"}}}}},
    }
    jsonschema.Draft202012Validator(sanitised(tree)).validate({"root": {"children": [{"children": []}]}})


def _maps(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    words = ["type", "properties", "items", "$ref", "anyOf", "enum", "required", "pattern", "$defs", "a", "additionalProperties", "patternProperties"]
    return st.dictionaries(st.sampled_from(words), inner | st.sampled_from(["object", "#/properties/a", "#", "string"]), max_size=4)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3) | _maps(inner), max_leaves=12)


@given(_maps(JSON))
def test_whatever_a_server_sends_ends_in_a_usable_schema_or_a_refusal(raw: dict[str, Any]) -> None:
    try:
        made = sanitised(raw)
    except SchemaRefused:
        return
    assert made["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(made)
    assert '"pattern":' not in json.dumps({key: child for key, child in made.items() if key not in {"properties", "$defs"}})


# --- results ------------------------------------------------------------------------------------------------------------


def test_secrets_are_hidden_at_any_depth_of_a_result() -> None:
    server = McpServer("s", secrets=("sesame-123",))
    result = CallToolResult(content=[TextContent(text="x")], structured_content={"a": [{"sesame-123": "is sesame-123"}], "n": 1})
    assert value(result, server) == {"a": [{"[hidden]": "is [hidden]"}], "n": 1}


def test_a_call_that_gives_nothing_says_so() -> None:
    assert value(CallToolResult(content=[]), McpServer("s")) == {"note": "Done; the tool gave nothing back."}


# --- pins ---------------------------------------------------------------------------------------------------------------

ECHO = Definition("echo", "Say it back.", OBJECT)


@given(st.text(), st.text())
def test_any_change_of_words_changes_the_fingerprint(one: str, other: str) -> None:
    first, second = (Definition("echo", text, OBJECT).fingerprint for text in (one, other))
    assert (first == second) == (one == other)


def test_true_and_one_are_different_schemas() -> None:
    assert Definition("a", "", {"const": True}).fingerprint != Definition("a", "", {"const": 1}).fingerprint


def test_the_first_definition_stays_pinned_until_another_is_confirmed(tmp_path: Path) -> None:
    changed = Definition("echo", "Do something else.", OBJECT)
    assert Pins(tmp_path).add("s", [ECHO])["echo"].sha256 == ECHO.fingerprint
    assert Pins(tmp_path).add("s", [changed])["echo"].sha256 == ECHO.fingerprint
    assert [verdict.state for verdict in judge(SERVER, [changed], Pins(tmp_path).of("s"))] == ["changed"]
    assert Pins(tmp_path).of("other") == {}
    assert Pins(tmp_path).confirm("s", [changed])["echo"].sha256 == changed.fingerprint
    assert [path.name for path in tmp_path.iterdir() if path.suffix not in {".json", ".lock"}] == []


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2}', '{"servers": {"s": {"t": {}}}}'])
def test_a_file_of_pins_that_says_something_else_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "mcp-pins.json").write_text(content)
    with pytest.raises(PinsError, match="is damaged"):
        Pins(tmp_path).add("s", [ECHO])


def test_a_difference_is_shown_so_that_it_can_be_seen(tmp_path: Path) -> None:
    pin = Pins(None).add("s", [ECHO])["echo"]
    assert difference(pin, Definition("echo", "Say it\x1b[2J back twice.", OBJECT)) == ["-Say it back.", "+Say it[2J back twice."]
    assert difference(pin, Definition("echo", "Say it back.\u200b", OBJECT)) == ["the difference is in characters that do not show"]


# --- the configuration --------------------------------------------------------------------------------------------------

FULL = """
[mcp.github]
command = ["github-mcp", "--stdio", "--org=${ORG}"]
env = { GITHUB_TOKEN = "$GITHUB_TOKEN", PRICE = "5$$" }
timeout = 20
group = "issues"
description = "Issues of our repositories"
[mcp.github.tools]
search_issues = "read"
create_issue = { effect = "write", keyed = true, timeout = 30, title = "Create issue" }
delete_repo = "off"
[mcp.docs]
url = "https://docs.example/mcp"
headers = { Authorization = "Bearer $TOKEN" }
"""
ENVIRONMENT = {"ORG": "acme-corp", "GITHUB_TOKEN": "ghp_0123456789", "TOKEN": "t0ken-abcdef"}


def _read(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> dict[str, McpServer]:
    path = tmp_path / "steward.toml"
    path.write_text(text, encoding="utf-8")
    return servers_from(read_policy_file(path).mcp, ENVIRONMENT if environment is None else environment)


def test_a_full_configuration_says_what_it_says(tmp_path: Path) -> None:
    servers = _read(tmp_path, FULL)
    github, docs = servers["github"], servers["docs"]
    assert github.command == ("github-mcp", "--stdio", "--org=acme-corp")
    assert github.env == {"GITHUB_TOKEN": "ghp_0123456789", "PRICE": "5$"}
    assert (github.prefix, github.group, github.timeout, github.description) == ("github", "issues", 20.0, "Issues of our repositories")
    assert github.tools == {
        "search_issues": McpTool("read"),
        "create_issue": McpTool("write", keyed=True, timeout=30.0, title="Create issue"),
        "delete_repo": McpTool("off"),
    }
    assert github.setting("anything_else").effect == "write"
    assert docs.headers == {"Authorization": "Bearer t0ken-abcdef"}
    assert "t0ken-abcdef" in docs.secrets
    assert not any(secret in repr(servers) for secret in ENVIRONMENT.values())


@pytest.mark.parametrize("missing", ENVIRONMENT)
def test_a_variable_that_is_not_set_is_named_in_one_line(tmp_path: Path, missing: str) -> None:
    rest = {name: value for name, value in ENVIRONMENT.items() if name != missing}
    with pytest.raises(McpConfigError) as caught:
        _read(tmp_path, FULL, rest)
    assert f"names ${missing}, which is not set in the environment." in str(caught.value)
    assert str(caught.value).startswith("“mcp.")
    assert "\n" not in str(caught.value)


WRONG = {
    "unknown key": ('[mcp.a]\ncommand = ["x"]\ntimeot = 3', "unknown key “mcp.a.timeot”"),
    "unknown key of a tool": ('[mcp.a]\ncommand = ["x"]\ntools = { t = { efect = "read" } }', "unknown key “mcp.a.tools.t.efect”"),
    "unknown effect": ('[mcp.a]\ncommand = ["x"]\ntools = { t = "reed" }', "“mcp.a.tools.t.effect”: Input should be 'read', 'write' or 'off'"),
    "both": ('[mcp.a]\ncommand = ["x"]\nurl = "https://a.example"', "“mcp.a”: give command or url, not both"),
    "neither": ("[mcp.a]\ntimeout = 3", "“mcp.a”: give either command or url"),
    "headers of a command": ('[mcp.a]\ncommand = ["x"]\nheaders = { A = "b" }', "headers are sent over HTTP"),
    "env of a url": ('[mcp.a]\nurl = "https://a.example"\nenv = { A = "b" }', "env is for a command"),
    "not a url": ('[mcp.a]\nurl = "file:///etc/passwd"', "must begin with https://"),
    "password in a url": ('[mcp.a]\nurl = "https://u:p@a.example"', "put credentials into headers"),
    "no program": ("[mcp.a]\ncommand = []", "“mcp.a.command”"),
    "no patience": ('[mcp.a]\ncommand = ["x"]\ntimeout = 0', "“mcp.a.timeout”: Input should be greater than 0"),
    "keyed read": ('[mcp.a]\ncommand = ["x"]\ntools = { t = { effect = "read", keyed = true } }', "keyed only means something for a write"),
    "cached write": ('[mcp.a]\ncommand = ["x"]\ntools = { t = { cache_ttl = 5 } }', "cache_ttl only means something for a read"),
    "odd name": ('[mcp."a b"]\ncommand = ["x"]', "“mcp.a b”"),
    "odd header": ('[mcp.a]\nurl = "https://a.example"\nheaders = { "A B" = "c" }', "“mcp.a.headers.A B”"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_configuration_is_refused_with_the_keys_path(tmp_path: Path, case: str) -> None:
    text, complaint = WRONG[case]
    with pytest.raises(PolicyFileError) as caught:
        _read(tmp_path, text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[mcp.a]\ncommand = ["x"]\n[mcp.b]\ncommand = ["y"]\nprefix = "a"', "“mcp.a” and “mcp.b” could get equal names"),
        ('[mcp.a]\nurl = "$ORG"', "“mcp.a.url”: the url must begin with https://"),
        ('[mcp.a]\nurl = "https://a.example"\nheaders = { A = "$ORG\\r\\nB: c" }', "“mcp.a.headers.A” holds a line break"),
    ],
)
def test_what_shows_only_when_filled_in_is_refused_too(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(McpConfigError) as caught:
        _read(tmp_path, text)
    assert complaint in str(caught.value)
