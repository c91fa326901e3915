"""The registry: names, aliases, loading of modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import Registry, Tool, tool
from tools.tool import ToolLoadError

GOOD = '''
from tools import tool

@tool(effect="read", aliases=("getWeather",))
def get_weather(city: str) -> str:
    """Tell the present weather of one city, from the forecast."""
    return city
'''


def made(name: str, *aliases: str) -> Tool:
    def function() -> str:
        """A description that is long enough to be one."""
        return name

    function.__name__ = name
    return tool(effect="read", aliases=aliases)(function)


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
