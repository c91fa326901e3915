"""`get_current_weather` against a server that answers in the forecast service's form, and in every form it should not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.net_site import Handler, Site, answer, context, fetcher
from tools.builtin.places import Place, wanted
from tools.builtin.sky import sky, wind
from tools.builtin.weather import get_current_weather
from tools.engine import execute
from tools.result import ErrorCode, Suggestion, ToolResult


def place(name: str, admin1: str, country: str, code: str, **more: Any) -> dict[str, Any]:
    """One result of the place search, in its form."""
    known = {"id": 1, "name": name, "latitude": 39.8, "longitude": -89.64, "elevation": 182.0, "feature_code": "PPLA", "country_code": code, "admin1_id": 2}
    return known | {"timezone": "America/Chicago", "population": 100_000, "country_id": 3, "country": country, "admin1": admin1} | more


SPRINGFIELDS = [
    place("Springfield", "Missouri", "United States", "US"),
    place("Springfield", "Massachusetts", "United States", "US"),
    place("Springfield", "Illinois", "United States", "US", latitude=39.8),
    place("Springfield", "Queensland", "Australia", "AU"),
]
PARIS = [place("Paris", "Île-de-France", "France", "FR"), place("Paris", "Texas", "United States", "US"), place("Paris", "Ontario", "Canada", "CA")]
PARIS_ZH = [place("巴黎", "法兰西岛", "法国", "FR")]
BEIJING = [place("北京", "北京市", "中国", "CN", latitude=39.9075, longitude=116.39723, timezone="Asia/Shanghai")]
HANGZHOU = [place("杭州", "浙江", "中国", "CN")]
PLACES = {"Springfield": SPRINGFIELDS, "Paris": PARIS, "巴黎": PARIS[:1], "北京": BEIJING, "北京市": BEIJING, "杭州": HANGZHOU, "San Jose": [
    place("San José", "San José", "Costa Rica", "CR"), place("San Jose", "California", "United States", "US"),
]}  # fmt: skip
CURRENT = {
    "time": "2026-11-29T20:15", "interval": 900, "temperature_2m": 3.4, "apparent_temperature": -0.6, "relative_humidity_2m": 41, "precipitation": 0.0,
    "weather_code": 71, "wind_speed_10m": 12.3, "wind_direction_10m": 338, "is_day": 0,
}  # fmt: skip
FORECAST = {
    "latitude": 39.9, "longitude": 116.4, "generationtime_ms": 0.05, "utc_offset_seconds": 28800, "timezone": "Asia/Shanghai", "timezone_abbreviation": "GMT+8",
    "elevation": 47.0, "current_units": {"time": "iso8601", "temperature_2m": "°C"}, "current": CURRENT,
}  # fmt: skip


def as_json(data: Any, status: int = 200, **headers: str) -> bytes:
    return answer(json.dumps(data, ensure_ascii=False), status, "application/json; charset=utf-8", **headers)


def query(head: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(head.split(" ", 2)[1]).query).items()}


async def search(head: str, writer: asyncio.StreamWriter) -> None:
    """The place search: known names give places, unknown ones an answer without results."""
    asked = query(head)
    results = PARIS_ZH if asked["name"] == "巴黎" and asked["language"] == "zh" else PLACES.get(asked["name"])
    writer.write(as_json({"generationtime_ms": 0.6} | ({"results": results} if results else {})))


def service(**pages: bytes | Handler) -> Site:
    usual: dict[str, bytes | Handler] = {"/search": search, "/forecast": as_json(FORECAST)}
    return Site(usual | {f"/{name}": page for name, page in pages.items()})


async def ask(site: Site, name: str, **arguments: Any) -> ToolResult:
    resources = {"fetcher": fetcher(site), "weather_urls": {"geocoding": site.url("/search"), "forecast": site.url("/forecast")}}
    return await execute(get_current_weather, {"place": name} | arguments, context(**resources))


async def test_the_weather_of_a_chinese_place_is_told_in_both_languages() -> None:
    async with service() as site:
        result = await ask(site, "北京市")

    assert result.success, result
    told = result.data
    assert (told["place"], told["timezone"], told["observed_at"]) == ("北京, 北京市, 中国", "Asia/Shanghai", "2026-11-29T20:15")
    assert (told["condition"], told["condition_zh"], told["temperature"], told["feels_like"], told["is_day"]) == ("light snow", "小雪", 3.4, -0.6, False)
    assert (told["wind_from"], told["wind_from_zh"], told["units"]["wind_speed"]) == ("N", "北风", "km/h")
    assert told["source"] == "Open-Meteo.com"
    assert query(site.requests[0]) == {"name": "北京市", "count": "10", "language": "zh", "format": "json"}
    asked = query(site.requests[1])
    assert (asked["latitude"], asked["longitude"], asked["timezone"]) == ("39.9075", "116.39723", "auto")
    assert "temperature_unit" not in asked


async def test_units_are_the_services_own() -> None:
    async with service() as site:
        told = (await ask(site, "Paris", units="imperial")).data

    assert told["units"] == {"temperature": "°F", "wind_speed": "mph", "precipitation": "inch"}
    asked = query(site.requests[1])
    assert (asked["temperature_unit"], asked["wind_speed_unit"], asked["precipitation_unit"]) == ("fahrenheit", "mph", "inch")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Springfield", "Springfield, Missouri, United States"),
        ("Springfield, IL", "Springfield, Illinois, United States"),
        ("springfield".title() + ", illinois, USA", "Springfield, Illinois, United States"),
        ("Springfield, Australia", "Springfield, Queensland, Australia"),
        ("Paris", "Paris, Île-de-France, France"),
        ("Paris, TX", "Paris, Texas, United States"),
        ("Paris, CA", "Paris, Ontario, Canada"),
        ("San Jose, CA", "San Jose, California, United States"),
        ("巴黎，法国", "巴黎, 法兰西岛, 法国"),
        ("巴黎，France", "Paris, Île-de-France, France"),
        ("杭州，浙江省", "杭州, 浙江, 中国"),
        ("杭州市", "杭州, 浙江, 中国"),
        ("杭州，中国", "杭州, 浙江, 中国"),
    ],
)
async def test_the_place_is_the_one_the_person_means(name: str, label: str) -> None:
    async with service() as site:
        result = await ask(site, name)

    assert result.data["place"] == label


async def test_other_places_of_the_name_are_told() -> None:
    async with service() as site:
        told = (await ask(site, "Springfield")).data
        narrowed = (await ask(site, "Springfield, US")).data
        only = (await ask(site, "北京")).data

    assert told["other_places"] == [f"Springfield, {region}" for region in ("Massachusetts, United States", "Illinois, United States", "Queensland, Australia")]
    assert "Springfield, Queensland, Australia" not in narrowed["other_places"]
    assert only["other_places"] is None


@pytest.mark.parametrize("name", ["Nowhereville", "不存在的地方市", "Springfield, Atlantis"])
async def test_an_unknown_place_is_asked_about(name: str) -> None:
    async with service() as site:
        result = await ask(site, name)

    assert (result.error_code, result.suggestion) == (ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON)
    assert ("Known are: Springfield, Missouri" in str(result.error_message)) == name.startswith("Springfield")


@pytest.mark.parametrize("name", ["", "  ", "，,"])
async def test_no_place_at_all_is_a_wrong_argument(name: str) -> None:
    async with service() as site:
        assert (await ask(site, name)).error_code is ErrorCode.INVALID_ARGUMENTS
    assert site.requests == []


BAD_SEARCHES: Mapping[str, bytes] = {
    "not JSON": answer("{", content_type="application/json"),
    "HTML": answer("<html>captive portal</html>"),
    "a list": as_json([]),
    "null": as_json(None),
    "empty": answer(b"", content_type="application/json"),
    "an error at 200": as_json({"error": True, "reason": "internal host db-1"}),
    "a place nowhere": as_json({"generationtime_ms": 1.0, "results": [place("X", "", "", "") | {"latitude": 91.0}]}),
    "text for a number": as_json({"generationtime_ms": 1.0, "results": [place("X", "", "", "") | {"latitude": "39"}]}),
    "no name": as_json({"generationtime_ms": 1.0, "results": [{"latitude": 1.0, "longitude": 1.0}]}),
    "results of a wrong kind": as_json({"generationtime_ms": 1.0, "results": {"0": {}}}),
    "too long": as_json({"generationtime_ms": 1.0, "results": [], "pad": "x" * 300_000}),
    "packed strangely": answer(b"\x00", content_type="application/json", Content_Encoding="br"),
    "refused": as_json({"error": True, "reason": "Parameter db-1 count must be between 1 and 100."}, 400),
}


@pytest.mark.parametrize("kind", BAD_SEARCHES)
async def test_an_answer_of_the_search_that_cannot_be_used_is_said_to_be_so(kind: str) -> None:
    async with service(search=BAD_SEARCHES[kind]) as site:
        result = await ask(site, "Paris")

    assert (result.error_code, result.suggestion) == (ErrorCode.UPSTREAM_ERROR, Suggestion.GIVE_UP), result
    assert "The weather service" in str(result.error_message)
    assert "db-1" not in str(result.error_message)
    assert len([head for head in site.requests if "/forecast" in head]) == 0


@pytest.mark.parametrize(
    "change",
    [
        *({"temperature_2m": None}, {"temperature_2m": "3"}, {"temperature_2m": 999}, {"weather_code": 1.5}, {"weather_code": -1}, {"time": "now"}),
        *({"relative_humidity_2m": 140}, {"wind_direction_10m": 400}, {"is_day": 7}, {"wind_speed_10m": -1}, {"weather_code": None}),
    ],
)
async def test_a_forecast_that_makes_no_sense_is_not_told(change: dict[str, Any]) -> None:
    async with service(forecast=as_json(FORECAST | {"current": CURRENT | change})) as site:
        assert (await ask(site, "Paris")).error_code is ErrorCode.UPSTREAM_ERROR


async def test_what_the_service_does_not_measure_is_left_out() -> None:
    little = {"time": "2026-11-29T20:15", "temperature_2m": -3, "weather_code": 42, "wind_direction_10m": None}
    async with service(forecast=as_json(FORECAST | {"current": little})) as site:
        told = (await ask(site, "Paris")).data

    assert (told["temperature"], told["condition"], told["wind_from"], told["humidity"]) == (-3, "unknown (code 42)", None, None)


@pytest.mark.parametrize(
    ("page", "code", "words"),
    [
        (as_json({"error": True, "reason": "Minutely API request limit exceeded."}, 429, Retry_After="30"), ErrorCode.RATE_LIMITED, "wait 30 s"),
        (as_json({}, 500), ErrorCode.UPSTREAM_ERROR, "fault of its own"),
        (answer("busy", 503, Retry_After="5"), ErrorCode.UPSTREAM_ERROR, "wait 5 s"),
        (b"", ErrorCode.UPSTREAM_ERROR, "broke off"),
    ],
)
async def test_the_services_own_troubles_may_pass(page: bytes, code: ErrorCode, words: str) -> None:
    async with service(forecast=page) as site:
        result = await ask(site, "Paris")

    assert (result.error_code, result.suggestion) == (code, Suggestion.RETRY)
    assert words in str(result.error_message)


async def test_a_slow_service_is_left_and_a_closed_network_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("tools.builtin.weather._SECONDS", 0.3)
    async with service(search=never) as site:
        assert (await ask(site, "Paris")).error_code is ErrorCode.TIMEOUT
    closed = fetcher(names={"example.com": [[]]})
    result = await execute(get_current_weather, {"place": "Paris"}, context(fetcher=closed))
    assert result.error_code is ErrorCode.UPSTREAM_ERROR
    assert "cannot reach the internet" in str(result.error_message)


async def test_the_address_of_the_service_is_judged_like_any_other() -> None:
    urls = {"geocoding": "http://127.0.0.1/search"}
    result = await execute(get_current_weather, {"place": "Paris"}, context(fetcher=fetcher(), weather_urls=urls))

    assert result.error_code is ErrorCode.PERMISSION_DENIED


def test_winds_have_the_names_of_where_they_come_from() -> None:
    assert [wind(degrees)[0] for degrees in (0, 22, 23, 90, 180, 270, 337, 338, 360)] == ["N", "N", "NE", "E", "S", "W", "NW", "N", "N"]
    assert sky(0) == ("clear sky", "晴")


@given(st.text(max_size=60))
def test_any_text_is_taken_apart_without_harm(text: str) -> None:
    asked = wanted(text)
    assert asked.names()[0] == asked.name
    assert isinstance(asked.matches(Place.model_validate(place("Paris", "Texas", "United States", "US"))), bool)


def test_its_result_is_shared_in_the_workspace_for_a_while() -> None:
    tool = get_current_weather
    assert (tool.cache_ttl, tool.scope, tool.stale_ttl, tool.effect, tool.group) == (600, "workspace", 6 * 3600, "read", "web")
    assert tool.aliases == ("getCurrentWeather",)
