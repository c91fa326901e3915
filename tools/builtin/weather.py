"""`get_current_weather`: how the weather is at a place, from Open-Meteo's public forecast service.

The service needs no key. It is free for non-commercial use; its data is under CC BY 4.0, so the result names its source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tools.builtin.places import CANDIDATES, GEOCODING_URL, Found, Place, Wanted, wanted
from tools.builtin.sky import sky, wind
from tools.decorator import tool
from tools.net import BadStatus, Fetcher, FetchError, NotReadable, TooLarge, default_fetcher
from tools.result import ErrorCode, Suggestion
from tools.tool import ModelRetry, ToolContext, ToolFailed

FORECAST_URL: Final = "https://api.open-meteo.com/v1/forecast"
_CURRENT = "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m,wind_direction_10m,is_day"
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
_UNITS = {
    "metric": {"temperature": "°C", "wind_speed": "km/h", "precipitation": "mm"},
    "imperial": {"temperature": "°F", "wind_speed": "mph", "precipitation": "inch"},
}
_SECONDS = 6.0
"""For each of the two questions."""
_MAX_BYTES = 200_000

_Parsed = TypeVar("_Parsed", bound=BaseModel)


class Weather(BaseModel):
    """The weather at one place."""

    place: str
    latitude: float
    longitude: float
    observed_at: str
    """Local time at the place, ISO format without an offset."""
    timezone: str
    condition: str
    condition_zh: str
    is_day: bool
    temperature: float
    feels_like: float | None
    humidity: float | None
    """Percent."""
    precipitation: float | None
    """In the last hour or quarter of an hour, as the service measures."""
    wind_speed: float | None
    wind_from: str | None
    wind_from_zh: str | None
    units: dict[str, str]
    other_places: list[str] | None = None
    """What the same name could also mean."""
    source: str = "Open-Meteo.com"


class _Now(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    time: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d$")]
    temperature_2m: Annotated[float, Field(ge=-150, le=200)]
    weather_code: Annotated[int, Field(ge=0, le=99)]
    is_day: Annotated[int, Field(ge=0, le=1)] = 1
    apparent_temperature: Annotated[float, Field(ge=-250, le=300)] | None = None
    relative_humidity_2m: Annotated[float, Field(ge=0, le=100)] | None = None
    precipitation: Annotated[float, Field(ge=0, le=2000)] | None = None
    wind_speed_10m: Annotated[float, Field(ge=0, le=1000)] | None = None
    wind_direction_10m: Annotated[float, Field(ge=0, le=360)] | None = None


class _Forecast(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    timezone: Annotated[str, Field(min_length=1, max_length=64)]
    current: _Now


@tool(
    effect="read",
    group="web",
    timeout=15,
    aliases=("getCurrentWeather",),  # the short names are left to tools of the operator's own
    title="Current weather",
    upstream="open-meteo",
    cache_ttl=600,
    scope="workspace",
    stale_ttl=6 * 3600,
    words={"zh": {"Current weather": "当前天气", "Place": "地点", "Units": "单位"}},
)
async def get_current_weather(
    ctx: ToolContext,
    place: Annotated[
        str, Field(description='Town or place, in English or Chinese, with its region or country if known: "Springfield, Illinois", "杭州"', max_length=100)
    ],
    units: Annotated[Literal["metric", "imperial"], Field(description="metric (°C, km/h, mm) or imperial (°F, mph, inches)")] = "metric",
) -> Weather:
    """Tell the weather at a place right now: condition, temperature, how it feels, humidity, rain, wind; times are local to the place.

    Use it when somebody asks how the weather is somewhere. Other places of the same name come along: mention them if the person may mean one. Not for
    forecasts of later days or for the past.
    """
    asked = wanted(place)
    if not asked.name:
        raise ModelRetry('Name a place, for example "Hangzhou" or "Paris, France".')
    fetcher = ctx.resources.get("fetcher") or default_fetcher()
    urls: Mapping[str, str] = ctx.resources.get("weather_urls") or {}
    found = await _find(fetcher, urls.get("geocoding", GEOCODING_URL), asked)
    best = _choose(asked, found)
    now = await _ask(fetcher, urls.get("forecast", FORECAST_URL), _question(best, units), _Forecast)
    others = [each.label for each in found if asked.matches(each) and each.label != best.label]
    return _shown(best, now, units, others)


async def _find(fetcher: Fetcher, url: str, asked: Wanted) -> list[Place]:
    """Places of that name, best first; if one region at all is right, those of a search in which it is."""
    first: list[Place] = []
    for language in asked.languages():
        for name in asked.names():
            answer = await _ask(fetcher, url, {"name": name, "count": CANDIDATES, "language": language, "format": "json"}, Found)
            if any(asked.matches(each) for each in answer.results):
                return answer.results
            first = first or answer.results
    if first:
        return first
    raise ToolFailed(
        f"No place called {asked.name!r} is known. It may be spelled otherwise, or be too small; a larger town nearby may do.",
        code=ErrorCode.NOT_FOUND,
        suggestion=Suggestion.ASK_PERSON,
    )


def _choose(asked: Wanted, found: list[Place]) -> Place:
    """The first that lies where it should; the service puts the largest first."""
    best = next((each for each in found if asked.matches(each)), None)
    if best is not None:
        return best
    known = "; ".join(dict.fromkeys(each.label for each in found[:5]))
    raise ToolFailed(
        f"There is no {asked.name!r} in {', '.join(asked.within)!r}. Known are: {known}.",
        code=ErrorCode.NOT_FOUND,
        suggestion=Suggestion.ASK_PERSON,
    )


def _question(place: Place, units: str) -> dict[str, Any]:
    question = {"latitude": place.latitude, "longitude": place.longitude, "current": _CURRENT, "timezone": "auto"}
    return question | (_IMPERIAL if units == "imperial" else {})


async def _ask(fetcher: Fetcher, url: str, question: Mapping[str, Any], form: type[_Parsed]) -> _Parsed:
    try:
        page = await fetcher.fetch(f"{url}?{urlencode(question)}", accept=("application/json",), max_bytes=_MAX_BYTES, timeout=_SECONDS)
        return form.model_validate_json(page.body)
    except BadStatus as error:
        failure = error.as_tool_failure()
        if failure.code in (ErrorCode.RATE_LIMITED, ErrorCode.TIMEOUT) or error.status >= 500:
            raise failure from error
        raise _unusable(f"The weather service refused the question (status {error.status}).") from error
    except (NotReadable, TooLarge, ValidationError, json.JSONDecodeError) as error:
        raise _unusable("The weather service sent an answer that cannot be used.") from error
    except FetchError as error:
        raise error.as_tool_failure() from error


def _unusable(message: str) -> ToolFailed:
    return ToolFailed(message, code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.GIVE_UP)


def _shown(place: Place, forecast: _Forecast, units: str, others: list[str]) -> Weather:
    now = forecast.current
    condition, condition_zh = sky(now.weather_code)
    wind_from = wind(now.wind_direction_10m) if now.wind_direction_10m is not None else (None, None)
    return Weather(
        place=place.label,
        latitude=place.latitude,
        longitude=place.longitude,
        observed_at=now.time,
        timezone=forecast.timezone,
        condition=condition,
        condition_zh=condition_zh,
        is_day=bool(now.is_day),
        temperature=now.temperature_2m,
        feels_like=now.apparent_temperature,
        humidity=now.relative_humidity_2m,
        precipitation=now.precipitation,
        wind_speed=now.wind_speed_10m,
        wind_from=wind_from[0],
        wind_from_zh=wind_from[1],
        units=_UNITS[units],
        other_places=list(dict.fromkeys(others)) or None,
    )
