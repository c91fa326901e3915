"""The values of common attributes are the same in whatever language and spelling they are said, and what is not surely the same stays apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.longterm.values_of import currency, day, hours, language, language_name, place, pronouns, team, title, unit, weekdays, zone


@pytest.mark.parametrize(
    ("normal", "said", "value"),
    [
        (day, ("May 2", "2 May", "the 2nd of May", "5月2日", "五月二号", "05-02"), "05-02"),
        (day, ("12 March 1990", "March 12th, 1990", "1990年3月12日", "1990-03-12"), "1990-03-12"),
        (day, ("十二月二十一日", "Dec 21", "21 December"), "12-21"),
        (place, ("Beijing", "北京", "北京市", "beijing"), "beijing"),
        (place, ("Lisbon", "里斯本", "Lisbon, near the river"), "lisbon"),
        (place, ("the UK", "英国", "England"), "england"),
        (zone, ("UTC+8", "GMT+08:00", "东八区", "北京时间"), "utc+8"),
        (zone, ("PST", "the Pacific", "Pacific time"), "utc-8"),
        (zone, ("UTC+5:30", "IST"), "utc+5:30"),
        (hours, ("9 to 5", "9am - 5pm", "from 9:00 to 17:00", "早上九点到下午五点", "朝九晚五"), "09:00-17:00"),
        (weekdays, ("Monday to Thursday", "周一到周四", "monday till thursday"), "monday-thursday"),
        (weekdays, ("Fridays", "周五", "on Friday", "星期五"), "friday"),
        (weekdays, ("weekends", "周末", "at the weekend"), "weekend"),
        (weekdays, ("Sunday", "周日", "星期天"), "sunday"),
        (title, ("designer", "设计师", "a designer"), "designer"),
        (title, ("product manager", "产品经理"), "product manager"),
        (team, ("the sales team", "销售部", "Sales"), "sales"),
        (team, ("the platform team", "平台组", "平台团队"), "platform"),
        (language, ("Chinese", "Mandarin", "中文"), "zh"),
        (currency, ("euros", "€", "欧元"), "eur"),
        (unit, ("kilometres", "km", "公里"), "km"),
        (pronouns, ("she/her", "She / Her", "她"), "she/her"),
    ],
)
def test_one_value_has_one_form(normal: Callable[[str], str], said: tuple[str, ...], value: str) -> None:
    assert {normal(each) for each in said} == {value}


@pytest.mark.parametrize(
    ("normal", "left", "right"),
    [
        (day, "May 2", "May 3"),
        (day, "2 May", "5 February"),
        (place, "Berlin", "Bern"),
        (zone, "UTC+1", "UTC-1"),
        (zone, "东八区", "西八区"),
        (hours, "9 to 5", "9 to 6"),
        (title, "designer", "developer"),
        (team, "sales", "marketing"),
    ],
)
def test_two_values_stay_two(normal: Callable[[str], str], left: str, right: str) -> None:
    assert normal(left) != normal(right)


@pytest.mark.parametrize(
    ("normal", "said"), [(day, "soon"), (day, "31 foo"), (day, "13月45日"), (zone, "Europe/Berlin"), (hours, "flexible"), (weekdays, "now and then")]
)
def test_what_is_not_understood_stays_as_it_was_said(normal: Callable[[str], str], said: str) -> None:
    assert normal(said) == said.casefold()


def test_a_language_is_called_by_its_english_name() -> None:
    assert [language_name(each) for each in ("日语", "Dutch", "Klingon")] == ["japanese", "dutch", "klingon"]
