"""What tools about the web, the workspace and reminders found, in sentences.

Whatever a page or a message says is quoted: it is shown as somebody else's words, and nothing in it is followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from playground.demo_reasons import gap, one_weekday
from playground.demo_recall import short
from playground.demo_transcript import Called
from playground.demo_words import Language, say

ROWS: Final = 20
"""Channels, messages or reminders shown at most."""
QUOTED: Final = 700
"""Characters of a page that are quoted, in whole sentences where there are any."""
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_MARKS: Final = (
    (re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)"), ""),
    (re.compile(r"\[([^\]\n]{1,300})\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|\|)", re.MULTILINE), ""),
    (re.compile(r"[*_`~|]{1,3}|<[^>\n]{0,200}>"), ""),
)
_NOTES: Final = re.compile(r"([^\u4e00-\u9fff]*[.!?])\s+([^.!?]*[\u4e00-\u9fff].*)", re.DOTALL)


def _data(call: Called) -> dict[str, Any]:
    return call.data if isinstance(call.data, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _weather(call: Called, language: Language) -> str:
    data, comma = _data(call), "，" if language == "zh" else ", "
    units = data["units"] if isinstance(data.get("units"), dict) else {}

    def measured(name: str, unit: str) -> str:
        value = data.get(name)
        return "" if value is None else f"{value:g} {units.get(unit, '')}".strip() if isinstance(value, int | float) else short(str(value), 40)

    suffix = "_zh" if language == "zh" else ""
    felt = measured("feels_like", "temperature")
    head = say(
        "weather",
        language,
        place=short(str(data.get("place") or call.arguments.get("place", "")), 120),
        condition=short(str(data.get(f"condition{suffix}") or data.get("condition", "")), 60),
        temperature=measured("temperature", "temperature"),
        feels=say("feels", language, value=felt) if felt else "",
    )
    side, blowing = data.get(f"wind_from{suffix}") or data.get("wind_from"), measured("wind_speed", "wind_speed")
    rest = [
        say("humidity", language, value=measured("humidity", "")) if data.get("humidity") is not None else "",
        say("wind_from" if side else "wind", language, value=blowing, side=short(str(side), 20)) if blowing else "",
        say("rain", language, value=measured("precipitation", "precipitation")) if data.get("precipitation") is not None else "",
    ]
    line = comma.join(part for part in rest if part)
    seen = str(data.get("observed_at") or "").replace("T", " ")
    zone, source = short(str(data.get("timezone", "")), 60), short(str(data.get("source", "")), 60)
    observed = say("observed", language, time=seen, zone=zone, source=source) if seen else ""
    others = data.get("other_places") if isinstance(data.get("other_places"), list) else []
    also = say("other_places", language, places="; ".join(short(str(place), 80) for place in others[:5])) if others else ""
    return _joined(" ".join(part for part in (head, line and line[0].upper() + line[1:] + ("。" if language == "zh" else ".")) if part), also, observed)


def _page(call: Called, language: Language) -> str:
    data = _data(call)
    title, url = short(plain(str(data.get("title") or "")), 150), short(str(data.get("url") or call.arguments.get("url", "")), 300)
    head = say("page", language, title=title, url=url) if title else say("page_plain", language, url=url)
    links = [f"- {short(plain(str(link.get('text', ''))), 80)}: {short(str(link.get('url', '')), 200)}" for link in _dicts(data.get("links"))[:ROWS]]
    cut = say("page_incomplete", language) if data.get("complete") is False else ""
    return _joined(head, quote(beginning(plain(str(data.get("text") or "")))), "\n".join(links), cut, say("page_more", language))


def plain(text: str) -> str:
    """A page's text without Markdown's marks: none of it may act in our answer."""
    for pattern, becomes in _MARKS:
        text = pattern.sub(becomes, text)
    return text.strip()


def beginning(text: str, limit: int = QUOTED) -> str:
    """The first sentences of a text, at most `limit` characters."""
    line = " ".join(text.split())[: limit * 3]
    out = ""
    for sentence in _SENTENCE.findall(line):
        if out and len(out) + len(sentence) > limit:
            break
        out += sentence
    return short(out, limit)


def quote(text: str) -> str:
    """A block quotation."""
    return "\n".join(f"> {line}" for line in text.splitlines() if line.strip())


def _channels(call: Called, language: Language) -> str:
    data, query = _data(call), short(str(call.arguments.get("query") or ""), 80)
    rows, about = _dicts(data.get("channels")), say("about", language, query=query) if query else ""
    left_out = say("private_left_out", language) if data.get("note") else ""
    if not rows:
        return _joined(say("no_channels", language, about=about), left_out)
    lines = []
    for row in rows[:ROWS]:
        count = row.get("members")
        facts = [
            say("member" if count == 1 else "members", language, count=str(count)) if isinstance(count, int) else "",
            say("you_are_in", language) if row.get("you_are_in") else "",
        ]
        known = ("、" if language == "zh" else ", ").join(fact for fact in facts if fact)
        topic = short(plain(str(row.get("topic") or row.get("purpose") or "")), 120)
        name = f"**#{short(str(row.get('name') or row.get('id', '')), 80)}**"
        around = f"（{known}）" if language == "zh" else f" ({known})"
        lines.append(f"- {name}{around if known else ''}" + (f" — {topic}" if topic else ""))
    pages = data.get("pages")
    shown = f"… +{len(rows) - ROWS}" if len(rows) > ROWS else ""
    where = say("pages_more", language, page=str(data.get("page", 1)), pages=str(pages)) if isinstance(pages, int) and pages > 1 else ""
    return _joined(say("channels", language, about=about, count=str(data.get("count", len(rows)))), "\n".join(lines), shown, where, left_out)


def _matches(call: Called, language: Language) -> str:
    data, query = _data(call), short(str(call.arguments.get("query") or ""), 80)
    rows = _dicts(data.get("matches"))
    lines = []
    for row in rows[:ROWS]:
        who, when = row.get("speaker") or row.get("user") or "?", str(row.get("time") or "").replace("T", " ")[:16]
        link = f" ([{'查看' if language == 'zh' else 'open'}]({row['permalink']}))" if str(row.get("permalink", "")).startswith("http") else ""
        lines.append(f"- {row.get('channel') or ''} **{short(str(who), 60)}** {when}: {short(plain(str(row.get('text', ''))), 200)}{link}".replace("-  ", "- "))
    covered = data["covered"] if isinstance(data.get("covered"), dict) else {}
    rooms = covered.get("channels")
    names = ", ".join(short(str(room), 60) for room in rooms[:ROWS]) if isinstance(rooms, list) else ""
    scope = say("covered", language, channels=names or "—", since=short(str(covered.get("since", "")), 60)) if covered else ""
    missed = covered.get("not_covered") or []
    gaps = (
        say("not_covered", language, parts=("；" if language == "zh" else "; ").join(gap(short(str(part), 200), language) for part in missed[:5]))
        if isinstance(missed, list) and missed
        else ""
    )
    head = say("matches", language, query=query, count=str(len(rows))) if rows else say("no_matches", language, query=query)
    return _joined(head, "\n".join(lines), " ".join(part for part in (scope, gaps) if part))


def when(text: Any, language: Language) -> str:
    """A reminder's time with the weekday in one language only."""
    return one_weekday(short(str(text or ""), 120), language)


def _note(text: Any, language: Language) -> str:
    """A note that says the same in English and then in Chinese, in one of them."""
    found = _NOTES.fullmatch(str(text or "").strip())
    return str(text or "") if found is None else found[2 if language == "zh" else 1].strip()


def _reminder(call: Called, language: Language) -> str:
    data = _data(call)
    text = short(str(call.arguments.get("text", "")), 300)
    return _joined(
        say("reminder_set", language, text=text, when=when(data.get("when"), language), id=str(data.get("reminder_id", ""))),
        _note(data.get("note"), language),
    )


def _reminders(call: Called, language: Language) -> str:
    data = _data(call)
    rows = _dicts(data.get("reminders"))
    lines = [
        f"{number}. {when(row.get('when'), language)}: {short(str(row.get('text', '')), 200)} (`{row.get('reminder_id', '')}`)"
        for number, row in enumerate(rows[:ROWS], 1)
    ]
    elsewhere = say("reminders_elsewhere", language) if data.get("elsewhere") else ""
    return _joined(say("reminders", language, count=str(len(rows))) if rows else say("no_reminders", language), "\n".join(lines), elsewhere)


def _reminder_cancelled(call: Called, language: Language) -> str:
    data = _data(call)
    if data.get("note"):
        return say("reminder_was_over", language)
    return say("reminder_cancelled", language, text=short(str(data.get("text", "")), 300), when=when(data.get("when"), language))


def _more(call: Called, language: Language) -> str:
    data = _data(call)
    page, of, content = data.get("page"), data.get("of"), data.get("content")
    while isinstance(content, dict) and len(content) == 1:
        content = next(iter(content.values()))
    if isinstance(content, list):
        lines = [f"- {_one(each)}" for each in content]
        body = "\n".join(lines[: ROWS * 2]) + (f"\n\n… +{len(lines) - ROWS * 2}" if len(lines) > ROWS * 2 else "")
    else:
        body = quote(short(plain(str(content if content is not None else "")), QUOTED * 4))
    more = say("read_on", language) if isinstance(page, int) and isinstance(of, int) and page < of else say("last_page", language)
    return _joined(say("page_of", language, page=str(page), pages=str(of)), body, more)


def _one(row: Any) -> str:
    """One row of a page, on one line."""
    if isinstance(row, dict):
        return short(", ".join(plain(str(value)) for value in row.values() if isinstance(value, str | int | float) and value != ""), 300)
    return short(plain(str(row)), 300)


REPORTS: Final[dict[str, Callable[[Called, Language], str]]] = {
    "get_current_weather": _weather,
    "fetch_url": _page,
    "list_channels": _channels,
    "search_messages": _matches,
    "remind_me": _reminder,
    "list_reminders": _reminders,
    "cancel_reminder": _reminder_cancelled,
    "read_more": _more,
}
"""How to tell what each of these tools found or did, when it succeeded."""
