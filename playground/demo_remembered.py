"""What is remembered of a person, put to use and into words: what is known of them, advice, orders told the way they want them.

Memories are quoted with the day they were said. They decide what is shown first and what is left out, never what is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from playground.demo_note import Memory
from playground.demo_patterns import rx
from playground.demo_recall import short
from playground.demo_reports import plain
from playground.demo_transcript import Called
from playground.demo_words import Language, say

ROWS: Final = 20
"""Memories shown at most."""
_RAIN: Final = rx(r"\brain\w*|drizzl|\bwet\b|\bstorm|雨|潮湿")
_WEATHER: Final = rx(r"\b(?:weather|snow\w*|cold|heat|hot|humid\w*|wind\w*|sun\w*|umbrella)\b|天气|雪|冷|热|晒|风|雾")
_UNWANTED: Final = rx(
    r"\b(?:hate|dislike|detest|can't stand|cannot stand|avoid|annoy\w*|afraid)\b|\b(?:do not|don't|don’t|never) (?:like|enjoy|love|want)\b"
    r"|讨厌|不喜欢|不爱|受不了|怕|烦|厌"
)
_ALLERGY: Final = rx(r"allerg|intoleran|coeliac|celiac|过敏|不耐受")
_OVER: Final = rx(r"\b(?:no longer|not allergic|never was|anymore)\b|不再|不过敏|已经不|没有过敏")
_FOOD: Final = rx(
    r"\b(?:vegetarian|vegan|pescatarian|halal|kosher|gluten|eat\w*|drink\w*|food|dish\w*|cook\w*|spicy|sweets?|coffee|tea|meat|fish|seafood"
    r"|restaurants?|diet)\b"
    r"|吃|喝|素|辣|甜|忌口|菜|饭|咖啡|茶|肉|鱼|海鲜|清真"
)
_JOURNEY: Final = rx(
    r"\b(?:seats?|aisle|window|hotels?|hostels?|trains?|flights?|fly\w*|planes?|travel\w*|trips?|museums?|beach\w*|hik\w*|walk\w*|crowds?|budget"
    r"|wheelchair|luggage|going to|kids?|children)\b"
    r"|座|靠窗|过道|酒店|火车|高铁|飞机|航班|博物馆|爬山|步行|旅|出差|预算|人多|拥挤|轮椅|行李|要去|孩子"
)
_ORDER: Final = rx(r"\b(?:orders?|parcels?|packages?|shipments?|deliver\w*)\b|订单|快递|包裹|查单|单子")
_PARTS: Final = re.compile(r"[,，;；。.!！、\n]|\b(?:and|but)\b|但是?|然后|并且|而且", re.IGNORECASE)
_SKIP: Final = rx(
    r"\b(?:skip|without|omit|leave out|ignore|no|not|don't|don’t|never|spare me|hide|drop)\b"
    r"|跳过|不用|不要|别|不需要|不必|省略|省去|略过|不看|不想|忽略|去掉|不说|不提|无需"
)
_ONLY: Final = rx(r"\b(?:just|only|nothing but)\b|只|就行|就好|就可以|仅")
_CASE_HEAD: Final = rx(r"\bwhen(?:ever)? i\b.{0,40}?\borders?\b|我?(?:查|问|看)[^，,]{0,6}(?:订单|快递|包裹)(?:的时候|时候|时)?")
_TOPICS: Final[dict[str, tuple[re.Pattern[str], frozenset[str]]]] = {
    "where": (
        rx(r"\bwhere\b|logistic|shipping|shipment|deliver|\btrack|carrier|\beta\b|arriv|\bstatus\b|到哪|在哪|物流|配送|运输|进度|状态|位置|什么时候到|快递"),
        frozenset({"status", "state", "carrier", "tracking", "tracking_number", "eta", "expected", "shipped_at", "delivered_at", "location"}),
    ),
    "payment": (
        rx(r"\bpay\w*|\bpric\w+|\bcosts?\b|\btotals?\b|\bamounts?\b|\bmoney\b|\bbill\w*|\binvoice|付款|支付|金额|价格|价钱|多少钱|费用|账单|付了"),
        frozenset({"total", "amount", "currency", "price", "unit_price", "payment", "paid_at", "paid", "refund"}),
    ),
    "items": (rx(r"\bitems?\b|\bproducts?\b|\bcontents?\b|商品|货品|明细|买了什么|内容"), frozenset({"items", "item", "sku", "quantity"})),
    "address": (rx(r"\baddress\w*|地址"), frozenset({"address", "shipping_address", "recipient"})),
}
"""What an order's answer may be about: the words for it, and the fields that tell it."""
_SEEN: Final = re.compile(r" ⇒ |\(\w+_\w+\)$")
"""In what a memory says of things done or looked up, as against what the person said."""
_INSIDE: Final = re.compile(r"(?<=\w)_(?=\w)")
_NAMED: Final = frozenset({"order_id", "id", "order"})
_MONEY: Final = frozenset({"price", "unit_price"})


def said(memory: Memory, language: Language) -> str:
    """A memory in quotation marks, with its day."""
    return say("you_said", language, text=_shown(memory.text), day=memory.day)


def _shown(text: str) -> str:
    """A memory's words on one line, none of which may act in our answer; the name of a tool stays whole."""
    return short(plain(_INSIDE.sub("\x01", text)).replace("\x01", "_"), 200)


def known(call: Called, language: Language) -> str:
    """What `recall` found: what the person said first, then what was done for them."""
    rows = call.data.get("memories") if isinstance(call.data, dict) else None
    found = [Memory(str(row.get("text", "")), str(row.get("said", ""))) for row in rows or () if isinstance(row, dict) and row.get("text")]
    found.sort(key=lambda memory: _SEEN.search(memory.text) is not None)
    asked = bool(call.arguments.get("question"))
    if not found:
        return say("know_nothing_of_it" if asked else "know_nothing", language)
    head = say("what_fits" if asked else "what_i_know", language, count=str(len(found)))
    more = f"\n- … +{len(found) - ROWS}" if len(found) > ROWS else ""
    return f"{head}\n\n" + "\n".join(f"- {said(memory, language)}" for memory in found[:ROWS]) + f"{more}\n\n{say('see_memory', language)}"


def kept(call: Called, language: Language) -> str:
    """What `remember` kept."""
    text = call.data.get("text") if isinstance(call.data, dict) else None
    return say("remembered", language, text=_shown(str(text or call.arguments.get("text", ""))))


def gone(call: Called, language: Language) -> str:
    """What `forget` deleted."""
    count = call.data.get("forgotten") if isinstance(call.data, dict) else None
    return say("forgotten" if isinstance(count, int) and count > 0 else "forgot_none", language)


def found_memories(call: Called) -> list[tuple[str, str]]:
    """`(text, id)` of each memory that `recall` found."""
    rows = call.data.get("memories") if isinstance(call.data, dict) else None
    return [(str(row["text"]), str(row["id"])) for row in rows or () if isinstance(row, dict) and row.get("id") and row.get("text")]


def dreads_rain(memories: Iterable[Memory]) -> bool:
    """Whether one of them says that rain is not liked."""
    return any(_RAIN.search(memory.text) and _UNWANTED.search(memory.text) for memory in memories)


def advise(memories: Sequence[Memory], weather: str | None, language: Language, *, place: str, trip: bool, food: bool, missing: bool) -> str:
    """Advice from what is remembered. `weather`: what was found of it, "" when that failed, None when it was not looked up."""
    what = short(plain(place), 80) or say("this_trip" if trip else "this_meal", language)
    tips = [tip for memory in memories if (tip := _tip(memory, language, trip=trip, food=food))]
    there = [] if weather is None else [say("weather_there", language, weather=weather) if weather else say("weather_unknown", language)]
    lines = [f"- {line}" for line in [*dict.fromkeys(tips), *there]]
    head = say("advice" if lines else "advice_none", language, what=what)
    return "\n\n".join(part for part in (say("advice_missing", language) if missing else "", head, "\n".join(lines)) if part)


def _tip(memory: Memory, language: Language, *, trip: bool, food: bool) -> str:
    """What follows from one memory; "" when it has nothing to do with it."""
    quoted, text = said(memory, language), memory.text
    if _ALLERGY.search(text):
        return "" if _OVER.search(text) else say("tip_allergy", language, said=quoted)
    if _FOOD.search(text):
        return say("tip_food", language, said=quoted)
    if not trip:
        return ""
    if _RAIN.search(text) and _UNWANTED.search(text):
        return say("tip_rain", language, said=quoted)
    if _RAIN.search(text) or _WEATHER.search(text):
        return say("tip_weather", language, said=quoted)
    return say("tip_other", language, said=quoted) if _JOURNEY.search(text) and not food else ""


def may_matter(memories: Sequence[Memory], language: Language) -> str:
    """What was recalled for a request that is not understood; what always applies is left out, it was not looked for."""
    lines = [f"- {said(memory, language)}" for memory in memories if not memory.always]
    return f"{say('may_matter', language)}\n\n" + "\n".join(lines) if lines else ""


def tailored(call: Called, wishes: Iterable[str]) -> Called:
    """An order or a list of orders with what the person wants first, and without what they want left out; `wishes` are their own words."""
    if call.name not in ("get_order_status", "list_orders") or not call.success or not isinstance(call.data, dict):
        return call
    first, out, only = _wanted([wish for wish in wishes if _ORDER.search(wish)])
    if not first and not out:
        return call
    orders = call.data.get("orders")
    if call.name == "list_orders":
        rows = [_arranged(row, first, out, only=False) if isinstance(row, dict) else row for row in orders] if isinstance(orders, list) else orders
        return replace(call, data=call.data | {"orders": rows})
    return replace(call, data=_arranged(call.data, first, out, only=only))


def _wanted(wishes: Sequence[str]) -> tuple[frozenset[str], frozenset[str], bool]:
    """The fields to begin with, those to leave out, and whether the first are all that is wanted."""
    first: set[str] = set()
    out: set[str] = set()
    only = False
    for wish in wishes:
        for part in _PARTS.split(_CASE_HEAD.sub(" ", wish)):
            named = [fields for words, fields in _TOPICS.values() if words.search(part)]
            skipped = _SKIP.search(part) is not None
            for fields in named:
                (out if skipped else first).update(fields)
            only = only or bool(named and not skipped and _ONLY.search(part))
    return frozenset(first - out), frozenset(out), only and bool(first - out)


def _arranged(row: dict[str, Any], first: frozenset[str], out: frozenset[str], *, only: bool) -> dict[str, Any]:
    bare = {key: _priceless(value) if out & _MONEY else value for key, value in row.items() if key not in out}
    lead = {key: value for key, value in bare.items() if key in _NAMED} | {key: value for key, value in bare.items() if key in first}
    return lead if only and len(lead) > 1 else lead | bare


def _priceless(value: Any) -> Any:
    """Items without what they cost."""
    if isinstance(value, list):
        return [_priceless(each) for each in value]
    return {key: inner for key, inner in value.items() if key not in _MONEY} if isinstance(value, dict) else value
