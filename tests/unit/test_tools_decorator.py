"""`@tool`: what a signature becomes, and what is refused at load."""

from __future__ import annotations

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
from tools.tool import ToolLoadError

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
    colour: Colour,
    box: Box,
    count: Annotated[int, Field(description="How many", ge=1, le=9)] = 1,
    speed: Literal["fast", "slow"] = "slow",
    title: str = "title",
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
                    "colour": {"$ref": "#/$defs/Colour"},
                    "box": {"$ref": "#/$defs/Box"},
                    "count": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 9, "default": 1},
                    "speed": {"type": "string", "enum": ["fast", "slow"], "default": "slow"},
                    "title": {"type": "string", "default": "title"},
                },
                "$defs": {
                    "Colour": {"type": "string", "enum": ["red", "blue"]},
                    "Box": {
                        "type": "object",
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
    def export(json: str, copy: bool = False, _hidden: int = 1, model_config: str = "") -> str:
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
    [({"effect": "delete"}, "effect is 'delete'"), ({"effect": "read", "keyed": True}, "keyed=True only"), ({"effect": "read", "timeout": 0}, "timeout is 0")],
)
def test_a_wrong_declaration_is_refused(options: dict[str, Any], message: str) -> None:
    def look_up() -> str:
        """Look something up in the book and return it."""
        return "x"

    with pytest.raises(ToolLoadError, match=message):
        tool(**options)(look_up)
