"""The WMO's codes for the weather (table 4677, the part forecasts use) in words, English and Chinese; and winds by their names."""

from __future__ import annotations

from typing import Final

_CODES: Final[dict[int, tuple[str, str]]] = {
    0: ("clear sky", "晴"),
    1: ("mainly clear", "大部晴朗"),
    2: ("partly cloudy", "多云"),
    3: ("overcast", "阴"),
    45: ("fog", "雾"),
    48: ("freezing fog", "雾凇"),
    51: ("light drizzle", "小毛毛雨"),
    53: ("drizzle", "毛毛雨"),
    55: ("heavy drizzle", "大毛毛雨"),
    56: ("light freezing drizzle", "轻度冻毛毛雨"),
    57: ("freezing drizzle", "冻毛毛雨"),
    61: ("light rain", "小雨"),
    63: ("rain", "中雨"),
    65: ("heavy rain", "大雨"),
    66: ("light freezing rain", "小冻雨"),
    67: ("freezing rain", "冻雨"),
    71: ("light snow", "小雪"),
    73: ("snow", "中雪"),
    75: ("heavy snow", "大雪"),
    77: ("snow grains", "米雪"),
    80: ("light showers", "小阵雨"),
    81: ("showers", "阵雨"),
    82: ("violent showers", "强阵雨"),
    85: ("light snow showers", "小阵雪"),
    86: ("heavy snow showers", "大阵雪"),
    95: ("thunderstorm", "雷暴"),
    96: ("thunderstorm with light hail", "雷暴伴小冰雹"),
    99: ("thunderstorm with heavy hail", "雷暴伴大冰雹"),
}
_WINDS: Final = (("N", "北风"), ("NE", "东北风"), ("E", "东风"), ("SE", "东南风"), ("S", "南风"), ("SW", "西南风"), ("W", "西风"), ("NW", "西北风"))


def sky(code: int) -> tuple[str, str]:
    """What a WMO weather code means, in English and in Chinese; an unknown one is said to be so."""
    return _CODES.get(code, (f"unknown (code {code})", f"未知（代码 {code}）"))


def wind(degrees: float) -> tuple[str, str]:
    """Where a wind from `degrees` (0 is north, clockwise) comes from, in English and in Chinese."""
    return _WINDS[round(degrees % 360 / 45) % 8]
