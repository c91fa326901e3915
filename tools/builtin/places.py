"""Finding the place a person means: Open-Meteo's search by name, narrowed by what stands after the comma.

Names come as people write them: "Springfield, IL", "北京市", "巴黎，法国". Whatever could be meant besides the
best match is named, because a wrong Springfield looks as right as any other.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

GEOCODING_URL: Final = "https://geocoding-api.open-meteo.com/v1/search"
CANDIDATES: Final = 10
"""Places asked for by one name."""

_HAN = re.compile(r"[\u3400-\u9fff]")
_CHINESE_ENDINGS = ("特别行政区", "自治区", "自治州", "自治县", "地区", "省", "市", "县", "区", "州")
_COUNTRIES: Final = {"usa": "us", "u.s.": "us", "u.s.a.": "us", "america": "us", "uk": "gb", "u.k.": "gb", "great britain": "gb", "uae": "ae", "prc": "cn"}
_COUNTRIES_ZH: Final = {"中国": "cn", "美国": "us", "英国": "gb", "韩国": "kr", "南韩": "kr", "朝鲜": "kp"}
_STATES: Final[dict[str, str]] = dict(
    re.findall(
        r"(\w\w):([^|]+)",
        "al:Alabama|ak:Alaska|az:Arizona|ar:Arkansas|ca:California|co:Colorado|ct:Connecticut|de:Delaware|dc:District of Columbia|fl:Florida|ga:Georgia|"
        "hi:Hawaii|id:Idaho|il:Illinois|in:Indiana|ia:Iowa|ks:Kansas|ky:Kentucky|la:Louisiana|me:Maine|md:Maryland|ma:Massachusetts|mi:Michigan|"
        "mn:Minnesota|ms:Mississippi|mo:Missouri|mt:Montana|ne:Nebraska|nv:Nevada|nh:New Hampshire|nj:New Jersey|nm:New Mexico|ny:New York|"
        "nc:North Carolina|nd:North Dakota|oh:Ohio|ok:Oklahoma|or:Oregon|pa:Pennsylvania|ri:Rhode Island|sc:South Carolina|sd:South Dakota|"
        "tn:Tennessee|tx:Texas|ut:Utah|vt:Vermont|va:Virginia|wa:Washington|wv:West Virginia|wi:Wisconsin|wy:Wyoming",
    )
)

_Text = Annotated[str, Field(max_length=200)] | None


class Place(BaseModel):
    """One place as the search gives it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    name: Annotated[str, Field(min_length=1, max_length=200)]
    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]
    country: _Text = None
    country_code: _Text = None
    admin1: _Text = None
    admin2: _Text = None
    admin3: _Text = None
    admin4: _Text = None

    @property
    def label(self) -> str:
        """Name, region and country, as an address is written."""
        parts = [self.name, self.admin1, self.country]
        return ", ".join(dict.fromkeys(part for part in parts if part))


class Found(BaseModel):
    """The search's answer. Without a match it has no `results`."""

    model_config = ConfigDict(strict=True, extra="ignore")

    generationtime_ms: float
    results: list[Place] = Field(default_factory=list, max_length=100)


class Wanted(BaseModel):
    """A place as a person named it."""

    name: str
    within: tuple[str, ...]
    """Regions or countries written after it."""

    def languages(self) -> list[str]:
        """In which to search, best first: a region in the other language ("巴黎, France") is only known to the other search."""
        own, other = ("zh", "en") if _HAN.search(self.name) else ("en", "zh")
        return [own, other] if self.within else [own]

    def names(self) -> list[str]:
        """Ways to ask for it, best first: Chinese names are often recorded without their 市 or 县."""
        ending = next((each for each in _CHINESE_ENDINGS if self.name.endswith(each) and len(self.name) - len(each) >= 2), "")
        return [self.name, self.name.removesuffix(ending)] if ending else [self.name]

    def matches(self, place: Place) -> bool:
        """Whether `place` lies where the person said."""
        return all(_lies_in(place, region) for region in self.within)


def wanted(text: str) -> Wanted:
    """What a person wrote, taken apart at its commas. Its name is empty when nothing was written."""
    name, *within = [part for raw in re.split(r"[,，、;；]", text) if (part := " ".join(raw.split()))] or [""]
    return Wanted(name=name, within=tuple(within))


def _lies_in(place: Place, region: str) -> bool:
    region = region.casefold()
    codes = {region, _COUNTRIES.get(region, ""), _COUNTRIES_ZH.get(region, "")} - {""}
    country = (place.country_code or "").casefold()
    if country in codes:
        return True
    names = {_plain(name) for name in (place.country, place.admin1, place.admin2, place.admin3, place.admin4) if name}
    state = _STATES.get(region, "").casefold() if country == "us" else ""
    return _plain(region) in names or (state != "" and state in names)


def _plain(name: str) -> str:
    name = name.casefold()
    ending = next((each for each in _CHINESE_ENDINGS if name.endswith(each) and len(name) > len(each) + 1), "")
    return name.removesuffix(ending)
