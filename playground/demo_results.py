"""From tool results to sentences: what a call did, did not do, or may have done, in the language of the request.

The rule that matters: nothing is called done unless its result says so. A refusal by a person, an expiry, a closed
question and an unknown outcome each have their own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from playground.demo_failures import failure, what
from playground.demo_recall import short
from playground.demo_remembered import gone, kept, known
from playground.demo_reports import REPORTS
from playground.demo_transcript import Called
from playground.demo_words import Language, label, say, state_word

__all__ = ["headline", "report", "what"]

ROWS: Final = 20
"""Orders or messages shown at most."""
_AGE: Final = re.compile(r"read ([\d.]+) (seconds|minutes|hours) ago")
_UNITS_ZH: Final = {"seconds": "秒", "minutes": "分钟", "hours": "小时"}


def report(call: Called, language: Language) -> str:
    """What came of a call, as Markdown."""
    if not call.success:
        return _orders(call, language) if call.name == "list_orders" and call.code == "EMPTY" else failure(call, language)
    text = _SUCCESSES.get(call.name, _other)(call, language)
    before = [_aged(call.stale, language)] if call.stale else []
    cut = say("partly_more", language, pages=str(call.pages)) if call.result_id else say("partly", language)
    notes = [say("edited", language) if call.edited else "", cut if call.truncated else ""]
    return "\n\n".join([*before, text, *(note for note in notes if note)])


def _aged(said: str, language: Language) -> str:
    """The warning before a value that stands in because its source does not answer."""
    found = _AGE.search(said)
    if found is None:
        return say("stale_unknown", language)
    return say("stale", language, ago=f"{found[1]} {found[2]}" if language == "en" else f" {found[1]} {_UNITS_ZH[found[2]]}")


def headline(call: Called, language: Language) -> str:
    """The same in one line."""
    return report(call, language).split("\n", 1)[0].rstrip(":：")


def _pick(data: Any, *names: str) -> Any:
    """The first of the fields that is there; the data itself when it is a plain value."""
    if isinstance(data, dict):
        return next((data[name] for name in names if data.get(name) not in (None, "")), None)
    return data if isinstance(data, str | int | float) else None


def _value(value: Any, language: Language) -> str:
    """A value on one line."""
    match value:
        case bool():
            return {"en": ("no", "yes"), "zh": ("否", "是")}[language][value]
        case {"name": str(name), "quantity": int(quantity), **rest}:
            price = next((f" ({rest[key]})" for key in ("unit_price", "price") if rest.get(key)), "")
            return f"{quantity} × {short(name, 100)}{price}"
        case dict():
            return ", ".join(f"{label(str(key), language)} {_value(inner, language)}" for key, inner in value.items() if inner not in (None, "", []))
        case list():
            return "; ".join(_value(inner, language) for inner in value)
        case _:
            return short(state_word(str(value), language), 400)


def _bullets(data: Any, language: Language, *leave_out: str) -> str:
    if not isinstance(data, dict):
        return "" if data is None else short(str(data), 1500)
    rows = [(label(key, language), _value(value, language)) for key, value in data.items() if key not in leave_out and value not in (None, "", [], {})]
    return "\n".join(f"- {name}: {shown}" if language == "en" else f"- {name}：{shown}" for name, shown in rows)


def _rows(data: Any) -> list[Any]:
    """The list in a result: the data itself, or its first field that is one."""
    if isinstance(data, dict):
        return next((value for value in data.values() if isinstance(value, list)), [])
    return data if isinstance(data, list) else []


def _with(head: str, rest: str) -> str:
    return f"{head}\n\n{rest}" if rest else head


def _calculated(call: Called, language: Language) -> str:
    expression = _pick(call.data, "expression") if isinstance(call.data, dict) else None
    value = _pick(call.data, "result", "value", "answer")
    shown = str(expression or call.arguments.get("expression", "")).replace("*", "×")
    return say("calculated", language, expression=shown, value=str(value))


def _time(call: Called, language: Language) -> str:
    value = _pick(call.data, "spoken", "local_time", "local", "now", "datetime", "iso", "time")
    zone = _pick(call.data, "timezone", "zone") if isinstance(call.data, dict) else None
    shown = str(value)
    if isinstance(call.data, dict) and call.data.get("date") and call.data.get("time"):
        weekday = call.data.get("weekday_zh" if language == "zh" else "weekday") or call.data.get("weekday")
        shown = " ".join(str(part) for part in (weekday, call.data["date"], str(call.data["time"])[:5]) if part)
    return say("time", language, value=shown, zone=str(zone or call.arguments.get("timezone") or "UTC"))


def _order_of(call: Called) -> str:
    found = _pick(call.data, "order_id", "id", "order") if isinstance(call.data, dict) else None
    return str(found or call.arguments.get("order_id", ""))


def _order(call: Called, language: Language) -> str:
    order, state = _order_of(call), _pick(call.data, "status", "state")
    head = say("order_state", language, order=order, state=state_word(str(state), language)) if state else say("order", language, order=order)
    return _with(head, _bullets(call.data, language, "order_id", "id", "order", "status", "state") if isinstance(call.data, dict) else "")


def _orders(call: Called, language: Language) -> str:
    rows = _rows(call.data)
    wanted = call.arguments.get("status")
    filtered = (
        (f" ({state_word(str(wanted), language)})" if language == "en" else f"（{state_word(str(wanted), language)}）") if wanted and wanted != "any" else ""
    )
    if not rows:
        return say("no_orders", language, status=filtered)
    head = say("orders", language, status=filtered)
    if not all(isinstance(row, dict) for row in rows):
        return _with(head, "\n".join(f"- {_value(row, language)}" for row in rows[:ROWS]))
    columns = [key for key in rows[0] if any(row.get(key) not in (None, "", []) for row in rows)]
    lines = ["| " + " | ".join(label(key, language) for key in columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_value(row.get(key, ""), language).replace("|", "\\|") for key in columns) + " |" for row in rows[:ROWS]]
    more = f"\n\n… +{len(rows) - ROWS}" if len(rows) > ROWS else ""
    return _with(head, "\n".join(lines) + more)


def _cancelled(call: Called, language: Language) -> str:
    rest = _bullets(call.data, language, "order_id", "id", "order", "status", "state") if isinstance(call.data, dict) else ""
    return _with(say("cancelled", language, order=_order_of(call)), rest)


def _address(call: Called, language: Language) -> str:
    rest = _bullets(call.data, language, "order_id", "id", "order", "status", "state") if isinstance(call.data, dict) else ""
    return _with(say("address_changed", language, order=_order_of(call)), rest)


def _posted(call: Called, language: Language) -> str:
    data = call.data if isinstance(call.data, dict) else {}
    # The text that was really sent wins over the one asked for: a person may have edited it before approving.
    said = short(str(data.get("text") or call.arguments.get("text", "")), 300)
    link = f"\n\n{data['permalink']}" if data.get("permalink") else ""
    return say("posted", language, channel=str(call.arguments.get("channel") or data.get("channel", "")), text=said) + link


def _thread(call: Called, language: Language) -> str:
    rows = _rows(call.data)
    messages = [row for row in rows if isinstance(row, dict)]
    if not messages:
        return _with(say("thread_empty", language), "")
    lines = [f"- **{row.get('speaker') or row.get('user') or '?'}**: {short(str(row.get('text', '')))}" for row in messages[-ROWS:]]
    return _with(say("thread", language, count=str(len(messages))), "\n".join(lines))


def _other(call: Called, language: Language) -> str:
    return _with(say("succeeded", language, tool=call.name), _bullets(call.data, language))


_SUCCESSES: Final[dict[str, Callable[[Called, Language], str]]] = {
    "calculate": _calculated,
    "current_time": _time,
    "get_order_status": _order,
    "list_orders": _orders,
    "cancel_order": _cancelled,
    "change_shipping_address": _address,
    "post_message": _posted,
    "read_thread": _thread,
    "recall": known,
    "remember": kept,
    "forget": gone,
    **REPORTS,
}
