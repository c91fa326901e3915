"""From a sentence to tool calls: the demo model's understanding of requests in English and Chinese.

A `Reader` takes one request apart from the most specific wish to the least: what to post, which address, what to
cancel, which orders, the thread, the time, arithmetic. Each part that was understood is blanked out of the text, so
that the words of a message to post are never taken for a second request. What is left over is small talk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from playground.demo_arithmetic import find_expressions
from playground.demo_patterns import (
    ADDRESS,
    ANY_ORDER,
    CANCEL,
    JOINED,
    LIMIT,
    LIST,
    NOT_CANCEL,
    ORDINALS,
    POST,
    POST_NOWHERE,
    QUOTED,
    REASON,
    REASON_FIRST,
    SPLIT,
    STATUS,
    THREAD,
    TIME,
    VERB,
    WHICH,
    ZONE,
    rx,
)
from playground.demo_transcript import ORDER_ID, Transcript, order_ids
from playground.demo_words import CITIES, STATES


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing asked for: a tool with arguments by their canonical names, or a question back when something is missing."""

    at: int
    """Position in the text, for the order of calls and answers."""
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    ask: str = ""
    """Key of the sentence that asks for what is missing."""
    ask_values: dict[str, str] = field(default_factory=dict)


TAKEN: Final = "\x00"
"""Stands for text that was understood, character by character, so that positions stay."""
_RUNS: Final = (
    (re.compile(r"[^\S\n]+"), " "),
    (re.compile(r"\s*\n\s*"), "\n"),
    (re.compile(r"([^\w\s])\1{3,}"), r"\1\1\1"),
    (re.compile(r"([\s,，;；.。!！?？]{3})[\s,，;；.。!！?？]{3,}"), r"\1"),
)


def normal(text: str) -> str:
    """The text with runs of white space and of punctuation shortened: they mean nothing and make patterns slow."""
    text = text.replace(TAKEN, " ")
    for pattern, becomes in _RUNS:
        text = pattern.sub(becomes, text)
    return text


class Reader:
    """Reads the wishes out of one request. `position` is where in the transcript it stands, for "that order"."""

    def __init__(self, text: str, transcript: Transcript, position: int) -> None:
        self._text = normal(text)
        self.declined = False
        """Whether something was explicitly not wanted ("don't cancel …")."""
        self._transcript = transcript
        self._position = position
        self._ids = order_ids(text)
        self.wishes: list[Wish] = []

    @property
    def rest(self) -> str:
        """What was not understood, on one line."""
        return " ".join(self._text.replace(TAKEN, " ").split())

    def read(self) -> list[Wish]:
        """The tool wishes, in the order of the text; `rest` is what was not understood."""
        self._posts()
        self._addresses()
        self._cancels()
        self._lists()
        self._statuses()
        self._thread()
        self._times()
        for at, end, expression in find_expressions(self._text):
            self._take(at, end)
            self.wishes.append(Wish(at, "calculate", {"expression": expression}))
        self.wishes.sort(key=lambda wish: wish.at)
        return self.wishes

    def _take(self, start: int, end: int) -> None:
        self._text = self._text[:start] + TAKEN * (end - start) + self._text[end:]

    def _tail(self, match: re.Match[str], boundary: re.Pattern[str]) -> str:
        """The free text at the end of a match, up to the next request; taken together with the match."""
        raw = match["tail"]
        if raw is None:
            self._take(*match.span())
            return ""
        quoted = re.match(QUOTED, raw)
        stop = boundary.search(raw)
        end = quoted.end() if quoted else stop.start() if stop else len(raw)
        self._take(match.start(), match.start("tail") + end)
        return _unquoted(quoted) if quoted else raw[:end].replace(TAKEN, " ").strip().strip("。.;；!！？?" if boundary is SPLIT else "").strip()

    def _posts(self) -> None:
        for pattern in POST:
            while match := pattern.search(self._text):
                groups = match.groupdict()
                if groups.get("tail") is not None:
                    said = self._tail(match, JOINED)
                else:
                    said = _unquoted(match) if groups.get("middle") is None else match["middle"].strip()
                    self._take(*match.span())
                channel = re.sub(r"<#([A-Z0-9]+)(?:\|[^>]*)?>", r"\1", match["channel"])
                ask = "" if said else "which_text"
                self.wishes.append(Wish(match.start(), "post_message", {"channel": channel, "text": said}, ask, {"channel": match["channel"]}))
        if match := POST_NOWHERE.search(self._text):
            self._take(*match.span())
            self.wishes.append(Wish(match.start(), "post_message", {"text": _unquoted(match)}, "which_channel"))

    def _addresses(self) -> None:
        for pattern in ADDRESS:
            while match := pattern.search(self._text):
                address = self._tail(match, rx(rf"{JOINED.pattern}|[?？!！。；;\n]|[,，]\s*(?={VERB})"))
                for order in self._which(match["which"] or "", match.start(), "change_shipping_address", address=address):
                    ask = "" if address else "which_address"
                    self.wishes.append(Wish(match.start(), "change_shipping_address", {"order_id": order, "address": address}, ask, {"order": order}))

    def _cancels(self) -> None:
        while declined := NOT_CANCEL.search(self._text):
            self._take(*declined.span())
            self.declined = True
        first = REASON_FIRST.search(self._text)
        reason_before = first["reason"].strip() if first else ""
        if first:
            self._take(*first.span())
        while match := CANCEL.search(self._text):
            stop = JOINED.search(self._text, match.end()) or rx(r"[;!?。；！？\n]").search(self._text, match.end())
            end = stop.start() if stop else len(self._text)
            segment = self._text[match.start() : end]
            given = REASON.search(segment)
            if given:
                cut = SPLIT.search(given["reason"])
                reason = given["reason"][: cut.start() if cut else None].replace(TAKEN, " ").strip(" 。.,，)）")
                reason = rx(r"[\s,，;；]*(?:\b(?:and then|and also|and|then|also)|然后|并且|还有|另外|同时|再)$").sub("", reason)
                end = match.start() + given.start("reason") + (cut.start() if cut else len(given["reason"]))
                segment = segment[: given.start()]
            else:
                cut = rx(rf"[,，]\s*(?={VERB})").search(segment)
                end = match.start() + cut.start() if cut else end
                segment = segment[: cut.start()] if cut else segment
                reason = reason_before
            start = match.start()
            before = re.search(rf"(?:把|将)\s*(?P<which>(?:{WHICH}|[\s,，、和跟与])+)(?:都|全|给)*$", self._text[:start])
            if before and not order_ids(segment):
                segment, start = before["which"], before.start()
            self._take(start, end)
            for order in self._which(segment, match.start(), "cancel_order", reason=reason):
                self.wishes.append(Wish(match.start(), "cancel_order", {"order_id": order, "reason": reason}))

    def _which(self, words: str, at: int, tool: str, **given: str) -> list[str]:
        """The orders that `words` name; when it is not clear, adds a question that keeps what else was `given`, and returns nothing."""
        named = order_ids(words)
        if named:
            return named
        shown = self._transcript.last_list(self._position)
        for word, number in ORDINALS.items():
            if word in words.lower() and shown and -len(shown) <= number < len(shown):
                return [shown[number]]
        recent = [] if ANY_ORDER.search(words) else self._transcript.last_orders(self._position)
        found = self._ids[-1:] or recent
        if len(found) == 1:
            return found
        ask = "which_of" if found else "which_order"
        self.wishes.append(Wish(at, tool, dict(given), ask, {"orders": ", ".join(found)}))
        return []

    def _lists(self) -> None:
        while match := LIST.search(self._text):
            if ORDER_ID.search(match[0]):
                break
            status = next((state for state, words in STATES.items() if any(_has(word, match[0]) for word in words)), "")
            self._take(*match.span())
            self.wishes.append(Wish(match.start(), "list_orders", {"status": status} if status else {}))

    def _statuses(self) -> None:
        for match in list(ORDER_ID.finditer(self._text)):
            self._take(*match.span())
            self.wishes.append(Wish(match.start(), "get_order_status", {"order_id": match[0].upper()}))
        if self._ids:
            return
        asked = STATUS.search(self._text)
        if asked:
            self._take(*asked.span())
            words = next((group for group in asked.groups() if group), "")
            for order in self._which(words, asked.start(), "get_order_status"):
                self.wishes.append(Wish(asked.start(), "get_order_status", {"order_id": order}))

    def _thread(self) -> None:
        if match := THREAD.search(self._text):
            limit = LIMIT.search(self._text)
            self._take(*match.span())
            self.wishes.append(Wish(match.start(), "read_thread", {"limit": int(limit[1])} if limit else {}))

    def _times(self) -> None:
        match = TIME.search(self._text)
        if not match:
            return
        zones = [(found.start(), found[0]) for found in ZONE.finditer(self._text)]
        if not zones:
            named = [(place, zone) for zone, words in CITIES.items() for word in words if (place := _place(word, self._text)) >= 0]
            zones = [(place, zone) for place, zone in sorted(named) if zone not in {other for at, other in named if at < place}]
        for found in TIME.finditer(self._text):
            self._take(*found.span())
        if not zones:
            self.wishes.append(Wish(match.start(), "current_time", {}))
        self.wishes.extend(Wish(place, "current_time", {"timezone": zone}) for place, zone in zones)


def _unquoted(match: re.Match[str]) -> str:
    return next((match[key] for key in ("q1", "q2", "q3", "q4") if match.groupdict().get(key)), "").strip()


def _place(word: str, text: str) -> int:
    found = re.search(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", text, re.IGNORECASE)
    return found.start() if found else -1


def _has(word: str, text: str) -> bool:
    return _place(word, text) >= 0 and not re.search(rf"\b(?:not|un|un-)\s*{re.escape(word)}", text, re.IGNORECASE)
