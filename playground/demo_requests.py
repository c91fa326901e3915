"""From a sentence to tool calls: the demo model's understanding of requests in English and Chinese.

A `Reader` takes one request apart from the most specific wish to the least: what to post, which address, what to
cancel, which orders, the thread, the time, arithmetic. Each part that was understood is blanked out of the text, so
that the words of a message to post are never taken for a second request. What is left over is small talk.
"""

from __future__ import annotations

import re

from playground import demo_memory, demo_remind, demo_web
from playground.demo_arithmetic import find_expressions
from playground.demo_note import ProgramNote
from playground.demo_patterns import (
    ADDRESS,
    ANY_ORDER,
    CANCEL,
    CANCEL_ALL,
    JOINED,
    LIMIT,
    LIST,
    NOT_CANCEL,
    ORDINALS,
    POST,
    POST_NOWHERE,
    QUOTED,
    READ_ON,
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
from playground.demo_transcript import ORDER_ID, Said, Transcript, order_ids
from playground.demo_wish import TAKEN, Sheet, Wish, unquoted
from playground.demo_words import CITIES, STATES

_ORDER_WORD = rx(r"\border|订单|单子")


class Reader(Sheet):
    """Reads the wishes out of one request.

    `position` is where in the transcript it stands, for "that order"; `said` is its message when it is the current one: the program's note tells of it.
    """

    def __init__(self, text: str, transcript: Transcript, position: int, said: Said | None = None) -> None:
        super().__init__(text)
        self._note = ProgramNote() if said is None else transcript.note_for(said)
        self._earlier = transcript.earlier(position, said.speaker) if said is not None else []
        self.declined = False
        """Whether something was explicitly not wanted ("don't cancel …")."""
        self._transcript = transcript
        self._position = position
        self._ids = order_ids(demo_web.URL.sub(" ", text))

    def read(self) -> list[Wish]:
        """The tool wishes, in the order of the text; `rest` is what was not understood."""
        if READ_ON.fullmatch(self.text.strip()):
            self.take(0, len(self.text))
            self.wish(0, "read_more")
        demo_memory.hear_wish(self, self._note)
        self._free_text()
        demo_memory.requests(self, self._earlier)
        demo_memory.statements(self)
        demo_web.pages(self)
        demo_web.searches(self)
        demo_web.channels(self)
        demo_web.weather(self)
        self._addresses()
        self._cancels()
        self._lists()
        self._statuses()
        self._thread()
        self._times()
        for at, end, expression in find_expressions(self.text):
            self.take(at, end)
            self.wishes.append(Wish(at, "calculate", {"expression": expression}))
        demo_memory.advice(self)
        self.wishes.sort(key=lambda wish: wish.at)
        return self.wishes

    def _free_text(self) -> None:
        """What others are to read later or elsewhere: of a message to post and a reminder, the one that comes first may hold the words of the other."""
        remind = demo_remind.first_place(self.text)
        posts = [found.start() for pattern in POST if (found := pattern.search(self.text))]
        if remind >= 0 and all(remind <= start for start in posts):
            demo_remind.reminders(self, self._transcript, self._position)
            self._posts()
        else:
            self._posts()
            demo_remind.reminders(self, self._transcript, self._position)

    def _tail(self, match: re.Match[str], boundary: re.Pattern[str]) -> str:
        """The free text at the end of a match, up to the next request; taken together with the match."""
        raw = match["tail"]
        if raw is None:
            self.take(*match.span())
            return ""
        quoted = re.match(QUOTED, raw)
        stop = boundary.search(raw)
        end = quoted.end() if quoted else stop.start() if stop else len(raw)
        self.take(match.start(), match.start("tail") + end)
        return unquoted(quoted) if quoted else raw[:end].replace(TAKEN, " ").strip().strip("。.;；!！？?" if boundary is SPLIT else "").strip()

    def _posts(self) -> None:
        for pattern in POST:
            while match := pattern.search(self.text):
                groups = match.groupdict()
                if groups.get("tail") is not None:
                    said = self._tail(match, JOINED)
                else:
                    said = unquoted(match) if groups.get("middle") is None else match["middle"].strip()
                    self.take(*match.span())
                channel = re.sub(r"<#([A-Z0-9]+)(?:\|[^>]*)?>", r"\1", match["channel"])
                ask = "" if said else "which_text"
                self.wishes.append(Wish(match.start(), "post_message", {"channel": channel, "text": said}, ask, {"channel": match["channel"]}))
        if match := POST_NOWHERE.search(self.text):
            self.take(*match.span())
            self.wishes.append(Wish(match.start(), "post_message", {"text": unquoted(match)}, "which_channel"))

    def _addresses(self) -> None:
        for pattern in ADDRESS:
            while match := pattern.search(self.text):
                address = self._tail(match, rx(rf"{JOINED.pattern}|[?？!！。；;\n]|[,，]\s*(?={VERB})"))
                for order in self._which(match["which"] or "", match.start(), "change_shipping_address", address=address):
                    ask = "" if address else "which_address"
                    self.wishes.append(Wish(match.start(), "change_shipping_address", {"order_id": order, "address": address}, ask, {"order": order}))

    def _cancels(self) -> None:
        while declined := NOT_CANCEL.search(self.text):
            self.take(*declined.span())
            self.declined = True
        while match := CANCEL_ALL.search(self.text):
            self.take(*match.span())
            self.wish(match.start(), "list_orders", "one_order_at_a_time")
        first = REASON_FIRST.search(self.text)
        reason_before = first["reason"].strip() if first else ""
        if first:
            self.take(*first.span())
        while match := CANCEL.search(self.text):
            stop = JOINED.search(self.text, match.end()) or rx(r"[;!?。；！？\n]").search(self.text, match.end())
            end = stop.start() if stop else len(self.text)
            segment = self.text[match.start() : end]
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
            before = re.search(rf"(?:把|将)\s*(?P<which>(?:{WHICH}|[\s,，、和跟与])+)(?:都|全|给)*$", self.text[:start])
            if before and not order_ids(segment):
                segment, start = before["which"], before.start()
            self.take(start, end)
            named = order_ids(segment) or _ORDER_WORD.search(segment)
            reminder = None if named else demo_remind.meant(segment, match.start(), self._transcript, self._position)
            if reminder is not None:
                self.wishes.append(reminder)
                continue
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
        self.wishes.append(Wish(at, tool, dict(given), ask, {"orders": ", ".join(found)}, tuple(found)))
        return []

    def _lists(self) -> None:
        while match := LIST.search(self.text):
            if ORDER_ID.search(match[0]):
                break
            status = next((state for state, words in STATES.items() if any(_has(word, match[0]) for word in words)), "")
            self.take(*match.span())
            self.wishes.append(Wish(match.start(), "list_orders", {"status": status} if status else {}))

    def _statuses(self) -> None:
        for match in list(ORDER_ID.finditer(self.text)):
            self.take(*match.span())
            self.wishes.append(Wish(match.start(), "get_order_status", {"order_id": match[0].upper()}))
        if self._ids:
            return
        asked = STATUS.search(self.text)
        if asked:
            self.take(*asked.span())
            words = next((group for group in asked.groups() if group), "")
            for order in self._which(words, asked.start(), "get_order_status"):
                self.wishes.append(Wish(asked.start(), "get_order_status", {"order_id": order}))

    def _thread(self) -> None:
        if match := THREAD.search(self.text):
            limit = LIMIT.search(self.text)
            self.take(*match.span())
            self.wishes.append(Wish(match.start(), "read_thread", {"limit": int(limit[1])} if limit else {}))

    def _times(self) -> None:
        match = TIME.search(self.text)
        if not match:
            return
        zones = [(found.start(), found[0]) for found in ZONE.finditer(self.text)]
        if not zones:
            named = [(place, zone) for zone, words in CITIES.items() for word in words if (place := _place(word, self.text)) >= 0]
            zones = [(place, zone) for place, zone in sorted(named) if zone not in {other for at, other in named if at < place}]
        for found in TIME.finditer(self.text):
            self.take(*found.span())
        if not zones:
            self.wishes.append(Wish(match.start(), "current_time", {}))
        self.wishes.extend(Wish(place, "current_time", {"timezone": zone}) for place, zone in zones)


def _place(word: str, text: str) -> int:
    found = re.search(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", text, re.IGNORECASE)
    return found.start() if found else -1


def _has(word: str, text: str) -> bool:
    return _place(word, text) >= 0 and not re.search(rf"\b(?:not|un|un-)\s*{re.escape(word)}", text, re.IGNORECASE)
