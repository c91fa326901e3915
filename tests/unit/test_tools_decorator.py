"""`@tool`: what a signature becomes, and what is refused at load."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

import tools
import tools.tool
from memory.keys import Actor, Thread
from tools import ModelRetry, Registry, Tool, ToolContext, ToolFailed, ToolResult, tool
from tools.tool import Problem, ToolLoadError

CONTEXT = ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run", "call")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Box(BaseModel):
    title: str
    sides: list[int] = []


@tool(effect="write", group="shop", timeout=7, keyed=True, aliases=("orderThing",), title="Order a thing")
async def order_thing(  # noqa: PLR0917 - more than a real tool would have
    ctx: ToolContext,
    name: Annotated[str, Field(description="What to order", min_length=1, max_length=40)],
    colour: Annotated[Colour, Field(description="The shade it is painted in")],
    box: Annotated[Box, Field(description="What it is packed in")],
    count: Annotated[int, Field(description="How many", ge=1, le=9)] = 1,
    speed: Annotated[Literal["fast", "slow"], Field(description="How soon it comes")] = "slow",
    title: Annotated[str, Field(description="What stands on the label")] = "title",
) -> str:
    """Order one thing from the shop. Use only when the person asks for it."""
    return f"{ctx.actor.user_id} {name} {colour.value} {box.title} {count} {speed} {title}"


def test_the_package_exports_what_an_author_needs_and_nothing_else() -> None:
    assert tools.__all__ == sorted(tools.__all__)
    assert {tools.tool, ToolContext, ModelRetry, ToolFailed, ToolResult, Tool, Registry} == {getattr(tools, name) for name in tools.__all__}


def test_the_decorator_wins_over_the_module_that_shares_its_name() -> None:
    assert callable(tools.tool)
    assert tool is tools.tool


def test_a_signature_becomes_a_schema_without_titles() -> None:
    assert order_thing.schema() == {
        "type": "function",
        "function": {
            "name": "order_thing",
            "description": "Order one thing from the shop. Use only when the person asks for it.",
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "colour", "box"],
                "properties": {
                    "name": {"type": "string", "description": "What to order", "minLength": 1, "maxLength": 40},
                    "colour": {"$ref": "#/$defs/Colour", "description": "The shade it is painted in"},
                    "box": {"$ref": "#/$defs/Box", "description": "What it is packed in"},
                    "count": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 9, "default": 1},
                    "speed": {"type": "string", "enum": ["fast", "slow"], "default": "slow", "description": "How soon it comes"},
                    "title": {"type": "string", "default": "title", "description": "What stands on the label"},
                },
                "$defs": {
                    "Colour": {"type": "string", "enum": ["red", "blue"]},
                    "Box": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["title"],
                        "properties": {"title": {"type": "string"}, "sides": {"type": "array", "items": {"type": "integer"}, "default": []}},
                    },
                },
            },
        },
    }
    jsonschema.Draft202012Validator.check_schema(order_thing.schema()["function"]["parameters"])


def test_changing_a_schema_that_was_handed_out_changes_nothing() -> None:
    order_thing.schema()["function"]["parameters"].clear()

    assert order_thing.schema()["function"]["parameters"]["type"] == "object"


async def test_a_decorated_function_can_still_be_called_directly() -> None:
    assert await order_thing(CONTEXT, "mug", Colour.RED, Box(title="b")) == "U1 mug red b 1 slow title"


def test_the_declaration_is_kept() -> None:
    assert (order_thing.effect, order_thing.group, order_thing.timeout, order_thing.keyed) == ("write", "shop", 7.0, True)
    assert (order_thing.aliases, order_thing.title, order_thing.takes_context) == (("orderThing",), "Order a thing", True)


def test_everything_the_engine_needs_to_know_is_declared_beside_the_function() -> None:
    def rule(_: Any) -> list[Problem]:
        return []

    declared: dict[str, Any] = {
        "version": "2",
        "upstream": "shop-api",
        "concurrency": 3,
        "retries": 0,
        "cache_ttl": 60.0,
        "scope": "channel",
        "stale_ttl": 5.0,
        "negative_ttl": 2.0,
        "tags": ("stock",),
        "rules": (rule,),
        "fields": ("id", "name"),
        "always": True,
        "trusted": True,
    }

    @tool(effect="read", **declared)
    def look_up() -> str:
        """Look something up in the book and return it."""
        return "x"

    assert {name: getattr(look_up, name) for name in declared} == declared
    assert (look_up.time_sensitive, look_up.asks, look_up.invalidates) == (False, False, ())


def test_the_other_declarations_are_kept_too() -> None:
    @tool(effect="write", invalidates=("stock",))
    def put_down() -> str:
        """Write something down in the book for later."""
        return "x"

    @tool(effect="read", time_sensitive=True, asks=True)
    def enquire() -> str:
        """Ask the person which of several books is meant."""
        return "x"

    assert (put_down.invalidates, enquire.time_sensitive, enquire.asks) == (("stock",), True, True)

    plain = {part.name: part.default for part in dataclasses.fields(Tool) if part.default is not dataclasses.MISSING}
    assert {name: getattr(put_down, name) for name in plain} == {**plain, "title": "Put down", "timeout": 30.0, "invalidates": ("stock",)}


def test_a_parameter_with_a_default_is_never_required_wherever_the_default_stands() -> None:
    @tool(effect="read")
    def look_up(
        inside: Annotated[int, Field(description="How many lines", default=2)],
        empty: Annotated[list[int], Field(description="Which chapters", default_factory=list)],
        plain: Annotated[int, Field(description="How many pages")] = 1,
        alone: Annotated[int, Field(description="How many words", default=3)] = Field(default=4),
        nothing: Annotated[str | None, Field(description="Which author")] = None,
    ) -> str:
        """Look something up in the book and return it."""
        return f"{plain}{inside}{alone}{empty}{nothing}"

    assert "required" not in look_up.parameters()
    assert look_up.args_model.model_validate({}).model_dump() == {"plain": 1, "inside": 2, "alone": 4, "empty": [], "nothing": None}


def test_reads_get_15_seconds_writes_30_and_titles_come_from_the_name() -> None:
    @tool(effect="read")
    def look_up() -> str:
        """Look something up in the book and return it."""
        return "x"

    @tool(effect="write")
    def put_down() -> str:
        """Write something down in the book for later."""
        return "x"

    assert (look_up.timeout, put_down.timeout, look_up.title, look_up.takes_context) == (15, 30, "Look up", False)
    assert look_up.schema()["function"]["parameters"] == {"type": "object", "properties": {}, "additionalProperties": False}


def test_parameters_may_have_names_pydantic_keeps_for_itself() -> None:
    @tool(effect="read")
    def export(
        json: Annotated[str, Field(description="The document's text")],
        copy: Annotated[bool, Field(description="Whether to keep the original too")] = False,
        _hidden: Annotated[int, Field(description="Pages to leave out")] = 1,
        model_config: Annotated[str, Field(description="Which settings apply")] = "",
    ) -> str:
        """Export the document in the format that is asked for."""
        return f"{json}{copy}{_hidden}{model_config}"

    assert list(export.schema()["function"]["parameters"]["properties"]) == ["json", "copy", "_hidden", "model_config"]


def without_description() -> None: ...


def vague() -> None:
    """Get data."""


def chinese() -> None:
    """查询指定城市未来三天的天气预报。"""


def unannotated(x) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the point
    """A description that is long enough to be one."""


def unannotated_context(ctx) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the point
    """A description that is long enough to be one."""


def late_context(a: int, ctx: ToolContext) -> None:
    """A description that is long enough to be one."""


def star(*names: str) -> None:
    """A description that is long enough to be one."""


def stars(**names: str) -> None:
    """A description that is long enough to be one."""


def positional(a: int, /) -> None:
    """A description that is long enough to be one."""


def unknown_type(a: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """A description that is long enough to be one."""


def no_json(a: object, b: type[Exception], c: memoryview) -> None:
    """A description that is long enough to be one."""


def aliased(a: Annotated[int, Field(alias="b")]) -> None:
    """A description that is long enough to be one."""


async def generator() -> AsyncIterator[int]:
    """A description that is long enough to be one."""
    yield 1


def _hidden() -> None:
    """A description that is long enough to be one."""


REFUSED: list[tuple[Any, str]] = [
    (without_description, "no real description. Give the function a docstring"),
    (vague, "no real description"),
    (unannotated, r"parameter 'x' has no type annotation. Write, for example, x: Annotated\[str"),
    (unannotated_context, "ctx: ToolContext"),
    (late_context, "must be the first parameter"),
    (star, "name every argument"),
    (stars, "name every argument"),
    (positional, "name every argument"),
    (unknown_type, "cannot be resolved .*Import the type"),
    (no_json, "no JSON schema"),
    (aliased, "has an alias"),
    (generator, "return one value"),
    (_hidden, "put @tool.* on a function named with"),
    (3, "put @tool"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=lambda part: getattr(part, "__name__", None))
def test_a_function_that_cannot_be_a_tool_is_refused_with_what_to_write(function: Any, message: str) -> None:
    with pytest.raises(ToolLoadError, match=message):
        tool(effect="read")(function)


def test_a_short_chinese_description_is_a_real_one() -> None:
    assert tool(effect="read")(chinese).description == "查询指定城市未来三天的天气预报。"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effect": "delete"}, "effect is 'delete'"),
        ({"effect": "read", "keyed": True}, "keyed=True only"),
        ({"effect": "read", "timeout": 0}, "timeout is 0"),
        ({"effect": "read", "concurrency": 0}, "concurrency is 0; write how many"),
        ({"effect": "read", "concurrency": 1.5}, "concurrency is 1.5"),
        ({"effect": "read", "concurrency": True}, "concurrency is True"),
        ({"effect": "read", "retries": -1}, "retries is -1; write a whole number from 0"),
        ({"effect": "read", "retries": 6}, "retries is 6"),
        ({"effect": "read", "cache_ttl": float("inf")}, "cache_ttl is inf; write a finite number of seconds"),
        ({"effect": "read", "cache_ttl": float("nan")}, "cache_ttl is nan"),
        ({"effect": "read", "negative_ttl": -1}, "negative_ttl is -1"),
        ({"effect": "read", "scope": "world"}, "scope is 'world'; write scope=\"person\""),
        ({"effect": "read", "stale_ttl": 60}, "write cache_ttl=60 too"),
        ({"effect": "read", "time_sensitive": True, "cache_ttl": 5}, "nothing may be cached"),
        ({"effect": "read", "time_sensitive": True, "negative_ttl": 5}, "nothing may be cached"),
        ({"effect": "read", "invalidates": ("orders",)}, "invalidates only means something for a write"),
        ({"effect": "write", "cache_ttl": 5}, 'cache_ttl only means something for a read; remove it or write effect="read"'),
        ({"effect": "write", "negative_ttl": 5}, "negative_ttl only means"),
        ({"effect": "write", "stale_ttl": 5}, "stale_ttl only means"),
        ({"effect": "write", "time_sensitive": True}, "time_sensitive only means"),
        ({"effect": "write", "fields": ("id",)}, "fields only means"),
        ({"effect": "write", "asks": True}, "asks=True is a question to a person"),
        ({"effect": "read", "asks": True, "cache_ttl": 5}, "remove cache_ttl and negative_ttl"),
        ({"effect": "read", "asks": True, "negative_ttl": 5}, "remove cache_ttl and negative_ttl"),
        ({"effect": "read", "tags": "orders"}, r"tags is 'orders'; write a tuple of texts, for example tags=\(\"orders\",\)"),
        ({"effect": "write", "invalidates": "orders"}, "invalidates is 'orders'"),
        ({"effect": "read", "fields": ("",)}, "fields is"),
        ({"effect": "read", "aliases": "other"}, "aliases is 'other'"),
        ({"effect": "read", "rules": len}, "rules is .*; write a tuple of checks"),
        ({"effect": "read", "rules": ("before",)}, "rules is .*; write a tuple of checks"),
    ],
)
def test_a_wrong_declaration_is_refused(options: dict[str, Any], message: str) -> None:
    def look_up() -> str:
        """Look something up in the book and return it."""
        return "x"

    with pytest.raises(ToolLoadError, match=message):
        tool(**options)(look_up)
