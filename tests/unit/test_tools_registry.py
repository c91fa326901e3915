"""The registry: names, aliases, loading of modules."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import Registry, Tool, tool
from tools.tool import ToolLoadError

GOOD = '''
from typing import Annotated

from pydantic import Field

from tools import tool

@tool(effect="read", aliases=("getWeather",))
def get_weather(city: Annotated[str, Field(description="Where, in English or Chinese")]) -> str:
    """Tell the present weather of one city, from the forecast."""
    return city
'''


def made(name: str, *aliases: str, **options: Any) -> Tool:
    def function() -> str:
        return name

    function.__name__, function.__doc__ = name, f"Answer with the word {name.casefold()} and nothing else, whoever asks."
    return tool(**{"effect": "read", "aliases": aliases, **options})(function)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def test_a_tool_is_found_by_its_name_and_its_aliases() -> None:
    weather, news = made("get_weather", "getWeather", "weather"), made("get_news")
    registry = Registry([weather, news])

    assert [registry.get(name) for name in ("get_weather", "getWeather", "weather", "get_news", "Weather")] == [weather, weather, weather, news, None]
    assert (registry.names, len(registry), list(registry), "weather" in registry) == (("get_weather", "get_news"), 2, [weather, news], True)
    assert [schema["function"]["name"] for schema in registry.schemas()] == ["get_weather", "get_news"]


@pytest.mark.parametrize("clash", [made("get_weather"), made("other", "get_weather"), made("getWeather"), made("other", "getWeather")])
def test_two_tools_may_not_answer_to_one_name(clash: Tool) -> None:
    with pytest.raises(ToolLoadError, match=r"Two tools answer to 'get_?[wW]eather': .* Rename one"):
        Registry([made("get_weather", "getWeather"), clash])


def test_the_same_tool_may_be_given_twice() -> None:
    weather = made("get_weather")

    assert len(Registry([weather, weather])) == 1


@pytest.mark.parametrize(("asked", "first"), [("getweather", "get_weather"), ("GET-WEATHER", "get_weather"), ("get_wether", "get_weather"), ("zzz", None)])
def test_close_names_are_found_whatever_the_spelling_style(asked: str, first: str | None) -> None:
    assert next(iter(Registry([made("get_weather", "getWeather"), made("post_message")]).close_to(asked)), None) == first


def test_modules_are_loaded_from_a_comma_separated_setting(folder: Path) -> None:
    (folder / "weather_tools.py").write_text(GOOD, encoding="utf-8")
    (folder / "again_tools.py").write_text("from weather_tools import get_weather\n", encoding="utf-8")

    registry = Registry.load(" tools.builtin, weather_tools,again_tools,")

    assert registry.get("getWeather") is registry.get("get_weather") is not None
    assert {"calculate", "current_time", "read_thread", "post_message", "cancel_order"} < set(registry.names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name", "needs 'nothing_of_that_name', which is not installed"),
        ("raise ValueError('no key set')", "fails when imported: ValueError: no key set. Mend it"),
        ("raise SystemExit(3)", "fails when imported: SystemExit"),
        ("def (", "fails when imported: SyntaxError"),
        ("x = 1", "holds no tools. Decorate a function"),
        ("from tools import tool\n@tool(effect='read')\ndef f() -> None: ...", "In module 'bad_tools': Tool 'f' has no real description"),
    ],
)
def test_a_module_that_cannot_be_used_is_named_with_the_remedy(folder: Path, text: str, message: str) -> None:
    (folder / "bad_tools.py").write_text(text, encoding="utf-8")
    sys.modules.pop("bad_tools", None)
    with pytest.raises(ToolLoadError, match=message):
        Registry.load(["bad_tools"])


def test_a_misspelt_module_is_named_with_the_remedy() -> None:
    with pytest.raises(ToolLoadError, match=r"There is no module 'tools\.bulitin'\. Check the spelling in STEWARD_TOOLS"):
        Registry.load(["tools.bulitin"])


def test_a_source_is_swapped_whole_and_comes_after_the_tools_that_are_always_there() -> None:
    one, two, three = made("one"), made("two", "second"), made("three")
    registry = Registry([one])
    registry.replace("mcp:a", [two])
    registry.replace("mcp:b", [three])
    seen = [registry.names]
    registry.replace("mcp:a", [])
    seen.append(registry.names)
    registry.replace("mcp:a", [two])
    seen.append(registry.names)

    assert seen == [("one", "two", "three"), ("one", "three"), ("one", "two", "three")]
    assert registry.get("second") is two


def test_a_reader_in_the_middle_of_a_swap_sees_the_old_set_to_its_end() -> None:
    registry = Registry([made("one")])
    registry.replace("mcp:a", [made("two"), made("three")])
    reader = iter(registry)
    first = next(reader).name
    registry.replace("mcp:a", [made("four")])

    assert [first, *(tool.name for tool in reader)] == ["one", "two", "three"]
    assert registry.names == ("one", "four")


@pytest.mark.parametrize("clash", [made("one"), made("uno"), made("other", "one"), made("open_tools")])
def test_a_swap_that_clashes_changes_nothing(clash: Tool) -> None:
    registry = Registry([made("one", "uno", group="g")], groups={"g": "The first"})
    registry.replace("mcp:a", [made("two", group="h")], groups={"h": "The second"})
    with pytest.raises(ToolLoadError, match=r"Two tools answer to|is taken by the engine"):
        registry.replace("mcp:a", [made("three", group="h"), clash], groups={"h": "Changed"})

    assert registry.names == ("one", "two")
    assert registry.get("three") is None
    assert registry.groups() == {"g": "The first", "h": "The second"}
    registry.replace("mcp:a", [made("three")])
    assert registry.names == ("one", "three")


def test_tools_may_not_be_alike_across_sources() -> None:
    registry = Registry([made("one")])
    with pytest.raises(ToolLoadError, match="'one' and 'copy' have descriptions that cannot be told apart"):
        registry.replace("more", [dataclasses.replace(made("one"), name="copy")])


def test_groups_are_described_by_what_was_given_or_by_their_titles() -> None:
    tools = [made("look_up", group="orders"), made("cancel", group="orders", title="Cancel order"), made("locate", group="people")]
    registry = Registry(tools, groups={"people": "Find colleagues", "unused": "Nothing"})

    assert registry.groups() == {"orders": "Look up, Cancel order", "people": "Find colleagues"}
    assert registry.tools_of("orders") == tuple(tools[:2])
    assert registry.tools_of("unused") == ()


def test_a_line_made_of_many_titles_stays_short() -> None:
    many = Registry([made(f"tool_{word * 5}", group="g") for word in "abcdefghijklmnopqrst"]).groups()["g"]
    one = Registry([made("long", group="g", title="x" * 500)]).groups()["g"]

    assert many == "Tool aaaaa, Tool bbbbb, Tool ccccc, Tool ddddd, Tool eeeee, Tool fffff, Tool ggggg, Tool hhhhh, Tool iiiii and 11 more"
    assert len(many) <= len(one) == 120


def test_a_module_describes_its_groups(folder: Path) -> None:
    text = GOOD.replace('aliases=("getWeather",)', 'group="sky"')
    (folder / "sky_tools.py").write_text(text + '\nGROUPS = {"sky": "Weather,\\n  sun and moon", "other": "-"}\n', encoding="utf-8")
    (folder / "sky_again.py").write_text("from sky_tools import get_weather\n", encoding="utf-8")

    assert Registry.load("sky_tools").groups() == Registry.load("sky_again").groups() == {"sky": "Weather, sun and moon"}


@pytest.mark.parametrize("lines", ["{'sky': 3}", "['sky']", "{'sky': ' '}"])
def test_a_module_whose_groups_cannot_be_read_is_refused(folder: Path, lines: str) -> None:
    sys.modules.pop("odd_tools", None)
    (folder / "odd_tools.py").write_text(f"{GOOD}\nGROUPS = {lines}\n", encoding="utf-8")
    with pytest.raises(ToolLoadError, match="GROUPS in module 'odd_tools' must say one line for each group"):
        Registry.load("odd_tools")


def test_definitions_are_made_once_and_have_the_same_bytes_each_time() -> None:
    registry = Registry.load("tools.builtin")
    first, second = registry.schemas(), registry.schemas()

    assert json.dumps(first) == json.dumps(second) == json.dumps([tool.schema() for tool in registry])
    assert all(one["function"]["parameters"] is other["function"]["parameters"] for one, other in zip(first, second, strict=True))
    first[0]["function"]["name"] = "changed"
    assert registry.schemas()[0] == second[0]


def test_definitions_can_be_asked_for_by_name() -> None:
    registry = Registry([made("one"), made("two"), made("three")])

    assert [schema["function"]["name"] for schema in registry.schemas(["three", "gone", "one"])] == ["three", "one"]
    assert [schema["function"]["name"] for schema in registry.schemas({"three", "one"})] == ["one", "three"]
    assert registry.schemas([]) == []


def test_a_tool_that_is_swapped_for_another_of_its_name_has_the_new_definition() -> None:
    registry = Registry([])
    registry.replace("mcp:a", [made("one")])
    registry.replace("mcp:a", [dataclasses.replace(made("one"), description="Tell which of the two is the first, and why.")])

    assert registry.schemas()[0]["function"]["description"] == "Tell which of the two is the first, and why."


def test_a_write_that_makes_nothing_void_is_refused_with_what_was_meant() -> None:
    read = made("count", group="tickets", tags=("desks",))
    for right in (("tickets",), ("desks",)):
        assert "change" in Registry([read, made("change", effect="write", group="other", invalidates=right)])
    with pytest.raises(ToolLoadError, match=r"'change' of .* invalidates 'tickts', which is neither the group nor a tag .* Did you mean 'tickets'\?"):
        Registry([read, made("change", effect="write", group="other", invalidates=("desks", "tickts"))])


def test_what_tools_from_elsewhere_are_about_may_come_later() -> None:
    registry = Registry([made("count", group="tickets")])
    registry.replace("mcp:a", [made("change", effect="write", group="far", invalidates=("not here yet",))])

    assert "change" in registry


@pytest.mark.parametrize("strict", [False, True])
def test_the_texts_of_definitions_are_those_of_the_schemas_and_made_once(strict: bool) -> None:
    registry = Registry([made("one"), made("two", title="二")])
    texts = registry.texts(["two", "one"], strict=strict)

    assert [json.loads(text) for text, _ in texts] == registry.schemas(["two", "one"], strict=strict)
    assert [size for _, size in texts] == [len(text.encode()) for text, _ in texts]
    assert all(first[0] is second[0] for first, second in zip(texts, registry.texts(["two", "one"], strict=strict), strict=True))
