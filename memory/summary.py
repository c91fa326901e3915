"""The structured summary of a thread's older part as text, and how it is kept small: what is shown, what goes first, what is a repeat.

A summary stands at the front of every request, so it has a budget of its own. When it grows beyond that, whole lines go, never halves of
them: what somebody merely said before what was done, what was done before what was decided. Nothing here calls a model; the same
values always give the same text, down to the byte.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, Literal

from memory.identifiers import Kind, identifiers
from memory.session_memory import SECTIONS, Summary
from memory.transcript import Item, UserMessage

Count = Callable[[str], int]
"""How many tokens a text costs."""
Language = Literal["en", "zh"]

LINE: Final = 300
"""Characters of one line of a summary, at most."""
KEPT_LONGEST: Final = 40
"""So many of the newest identifiers stay until every sentence is gone."""

HEADINGS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "goals": "Goals",
        "constraints": "Constraints",
        "decisions": "Decisions",
        "actions": "Done so far",
        "state": "How things stand",
        "questions": "Open questions",
        "entities": "Who and what",
        "said": "Said",
        "identifiers": "Also named",
    },
    "zh": {
        "goals": "目标",
        "constraints": "限制",
        "decisions": "决定",
        "actions": "已做的事",
        "state": "现状",
        "questions": "未决问题",
        "entities": "相关的人和事物",
        "said": "谁说过什么",
        "identifiers": "还提到过",
    },
}
_MORE: Final[dict[Language, str]] = {
    "en": "({n} older identifiers are not listed; searching the thread finds them.)",
    "zh": "（另有 {n} 个较早的标识未列出，可在本线程中搜索到。）",
}
_BETWEEN: Final = " | "
"""A space on each side, so that no URL or number grows by its neighbour; the kind is in brackets, as "number: 7" would be a name and its value."""
FENCE: Final = "> "
"""Begins every line that is data: what people, tools and models wrote, here repeated by the program."""
_FIRST_TS: Final = 1_000_000_000
"""No message is older; what is smaller is no time."""
_START: Final = 12
_LEAST_FIRST: Final = ("state", "questions", "constraints", "decisions")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\s]+")
_MARKUP = re.compile(r"^(?:(?:[-*•>]|#{1,6})\s+|#{2,}|={3,}|-{3,}|`{3,}|~{3,})+")
_ROLE = re.compile(r"^(system|assistant|developer|tool|user)\s*[:：]\s*", re.IGNORECASE)
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_NOT_WORDS = re.compile(r"```.*?```|`[^`]*`|https?://\S+|(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-_./@][A-Za-z0-9]++)++|<[^<>]{0,200}>", re.DOTALL)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_FILLERS = re.compile(r"\b(?:please|the|an?)\b|[请吧]")
_DAY = re.compile(r"\((\d{4}-\d\d-\d\d)\) ")
_CUT_AT = re.compile(r"[\s\u3000-\u9fff\uff00-\uffef]")


def line(text: str, limit: int = LINE) -> str:
    """`text` as one line that cannot be taken for anything else: no breaks, no control or invisible characters, no heading, no role."""
    flat = _CONTROL.sub(" ", text).strip()
    while (bare := _ROLE.sub(r"(\1) ", _MARKUP.sub("", flat)).strip()) != flat:
        flat = bare
    if flat.startswith("["):
        flat = "(" + flat[1:].replace("]", ")", 1)
    return shortened(flat, limit)


def shortened(text: str, limit: int) -> str:
    """`text` with at most `limit` characters, cut between words: half a number would be another number."""
    if len(text) <= limit:
        return text
    end = limit - 1
    while end > 0 and not _CUT_AT.match(text[end]) and not _CUT_AT.match(text[end - 1]):
        end -= 1
    return text[: end or limit - 1].rstrip() + "…"


def day_of(ts: str) -> str:
    """The day (UTC, as 2026-11-29) of a message by its `ts`; empty where that is no time."""
    try:
        at = float(ts)
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at >= _FIRST_TS else ""
    except (ValueError, OverflowError, OSError):
        return ""


def dated(text: str, ts: str) -> str:
    """A line with the day of the message it comes from in front; without one where `ts` is no time."""
    day = day_of(ts)
    return f"({day}) {text}" if text and day else text


def undated(text: str) -> str:
    """A line without the day that `dated` put in front."""
    return _DAY.sub("", text, count=1) if _DAY.match(text) else text


def without_days(summary: Summary) -> Summary:
    """The summary for looking for names in it: the days its lines are from are not among the things it is about."""
    return summary.model_copy(update={section: tuple(map(undated, getattr(summary, section))) for section in SECTIONS})


@lru_cache(maxsize=256)
def shown(summary: Summary) -> str:
    """The text the model reads; empty for a summary that holds nothing.

    Every line but headings stands behind `FENCE`. A day is written where it differs from that of the line before.
    """
    headings = HEADINGS[summary.language]
    parts: list[str] = []
    for section in SECTIONS:
        lines = getattr(summary, section)
        if lines:
            parts += [f"{headings[section]}:", *(f"{FENCE}{each}" for each in _days_once(lines))]
    if summary.identifiers:
        parts.append(f"{headings['identifiers']}:")
        parts += [f"{FENCE}({kind}) {_BETWEEN.join(texts)}" for kind, texts in _grouped(summary.identifiers)]
    if summary.more > 0:
        parts.append(_MORE[summary.language].format(n=summary.more))
    return "\n".join(parts)


def _days_once(lines: Iterable[str]) -> Iterator[str]:
    day = ""
    for each in lines:
        found = _DAY.match(each)
        yield each[found.end() :] if found and found[1] == day else each
        day = found[1] if found else day


def _grouped(texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(kind_of(text), []).append(text)
    return sorted(groups.items())


@lru_cache(maxsize=8192)
def kind_of(text: str) -> Kind:
    """The kind of an identifier by how it is written; "id" for one that shows its kind only among other words."""
    return next((each.kind for each in identifiers(text)), "id")


def fitted(summary: Summary, *, budget: int, count: Count) -> Summary:
    """The summary in at most `budget` tokens as shown. A larger budget never keeps less; one that fits comes back as it is.

    Goes in this order, the oldest first: what was said, things without an identifier, deeds, things, goals; then identifiers
    but for the newest; then the rest. With no room for a single line an empty summary is left, which still counts in `more`.
    """
    order = _sacrifice(summary)

    if count(shown(summary)) <= budget:
        return summary

    def fits(gone: int) -> bool:
        # Counted with the last line as long as it can get: so every further part that goes makes the text shorter, and halving finds the first that fits.
        left = _without(summary, order[:gone])
        return count(shown(left.model_copy(update={"more": summary.more + len(summary.identifiers)}))) <= budget

    gone = bisect_left(range(len(order)), True, key=fits)
    return _without(summary, order[:gone])


def _sacrifice(summary: Summary) -> list[tuple[str, int]]:
    """Every line and identifier as (part, index), in the order in which they go."""
    named = [i for i, each in enumerate(summary.entities) if identifiers(each)]
    plain = sorted(set(range(len(summary.entities))).difference(named))
    older = max(len(summary.identifiers) - KEPT_LONGEST, 0)
    order = [("said", i) for i in range(len(summary.said))]
    order += [("entities", i) for i in plain]
    order += [("actions", i) for i in range(len(summary.actions))]
    order += [("entities", i) for i in named]
    order += [("goals", i) for i in range(len(summary.goals))]
    order += [("identifiers", i) for i in range(older)]
    order += [(section, i) for section in _LEAST_FIRST for i in range(len(getattr(summary, section)))]
    return order + [("identifiers", i) for i in range(older, len(summary.identifiers))]


def _without(summary: Summary, gone: Sequence[tuple[str, int]]) -> Summary:
    if not gone:
        return summary
    left = set(gone)
    kept: dict[str, Any] = {part: tuple(each for i, each in enumerate(getattr(summary, part)) if (part, i) not in left) for part in (*SECTIONS, "identifiers")}
    lost = len(summary.identifiers) - len(kept["identifiers"])
    return summary.model_copy(update={**kept, "more": summary.more + lost})


def merged(before: Summary, new: Summary) -> Summary:
    """Both as one, the newest last. Of lines that say the same the newest stays; the language is the newer one's."""
    joined: dict[str, Any] = {section: unrepeated([*getattr(before, section), *getattr(new, section)]) for section in SECTIONS}
    names = tuple(reversed(dict.fromkeys(reversed((*before.identifiers, *new.identifiers)))))
    return Summary(language=new.language, **joined, identifiers=names, more=before.more + new.more)


def unrepeated(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without exact and near repeats (day, case, spaces, punctuation, fillers, a cut end); the newest of them stays.

    Lines that differ by a number, a name or a "not" are never repeats of each other.
    """
    kept: list[str] = []
    keys: dict[str, set[str]] = {}  # by their beginning, so that a cut line is compared with few others
    for each in reversed(list(lines)):
        key = _key(each)
        alike = keys.setdefault(key[:_START], set())
        cut = each.endswith("…") and len(key) >= _START
        if not key or key in alike or (cut and any(other.startswith(key) for other in alike)):
            continue
        alike.add(key)
        kept.append(each)
    return tuple(reversed(kept))


def _key(text: str) -> str:
    folded = _FILLERS.sub(" ", unicodedata.normalize("NFKC", undated(text)).casefold())
    # Signs inside numbers and names mean something ("1.5", "-3", "a/b"): only those at the edges of a word go.
    words = (word.strip(".,;:!?\"'()。，；：！？…“”‘’、") for word in folded.split())
    return " ".join(word for word in words if word)


def language_of(items: Iterable[Item], before: Language = "en") -> Language:
    """The language most of what people asked for is written in; where nobody asked for anything, that of what they said; without words, `before`."""
    people = [item for item in items if isinstance(item, UserMessage) and not item.bot and not item.own]
    for some in ([each for each in people if each.addressed], people):
        votes = {"en": 0, "zh": 0}
        for item in some:
            words = _NOT_WORDS.sub(" ", item.text)
            chinese, latin = 3 * len(_CJK.findall(words)), len(_LATIN.findall(words))  # a character says about as much as three letters
            if chinese or latin:
                votes["zh" if chinese > latin else "en"] += 1
        if any(votes.values()):
            return before if votes["zh"] == votes["en"] else "zh" if votes["zh"] > votes["en"] else "en"
    return before
