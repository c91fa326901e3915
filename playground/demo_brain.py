"""The demo model's one decision: from a request to either tool calls or an answer.

It reads the transcript, takes the open requests apart into wishes, pairs each wish with a call that was already made
for it, asks for the calls that are missing, and answers once nothing is missing. It keeps nothing between requests.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.demo_offer import Offer
from playground.demo_recall import asked_for_help, everyone, greeted, recall, short, small_talk, wants_outcome
from playground.demo_requests import Reader, Wish
from playground.demo_results import headline, report, what
from playground.demo_transcript import Called, Said, Transcript, read
from playground.demo_words import EXAMPLES, MEMORY_EXAMPLES, SENTENCES, Language, language_of, say

MAX_READ: Final = 3_000
"""Characters of one request that are read; the rest of a very long one is ignored."""


@dataclass(slots=True)
class Decision:
    """Either calls, `(tool, arguments)` each, or a text."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def decide(request: dict[str, Any]) -> Decision:
    """What the demo model does with a valid request."""
    transcript, offer = read(request["messages"]), Offer(request)
    groups = transcript.requests()
    made: dict[str, list[Called]] = defaultdict(list)
    for call in transcript.turn_calls:
        made[call.name].append(call)
    out = Decision()
    parts: list[str] = []
    for number, group in enumerate(groups):
        parts += _Group(group, transcript, offer, made, out).answer(first=number == 0)
    if out.calls:
        return out if offer.parallel else replace(out, calls=out.calls[:1])
    parts += [report(call, _language(transcript, call)) for calls in made.values() for call in calls if not call.waiting]
    if not parts:
        parts = _late(transcript)
    if not parts:
        language = language_of(transcript.said[-1].text) if transcript.said else "en"
        parts = [say("nothing_new", language) if offer.usable else recap(transcript, language)]
    return Decision("\n\n".join(parts))


def recap(transcript: Transcript, language: Language) -> str:
    """Everything that was done in the thread, a line each."""
    done = [f"- {headline(call, language)}" for call in transcript.calls]
    asked = [f"- {short(said.text)}" for said in transcript.said[-5:] if said.text]
    if done:
        return f"{say('done_so_far', language)}\n\n" + "\n".join(done)
    if asked:
        return f"{say('your_requests', language)}\n\n" + "\n".join(asked) + f"\n\n{say('done_nothing', language)}"
    return say("done_nothing", language)


def help_text(offer: Offer, language: Language) -> str:
    """What can be asked, for the tools on offer."""
    column = language == "zh"
    lines = [f"- {EXAMPLES[tool][column]}" for tool in EXAMPLES if offer.usable and tool in offer.schemas]
    lines += [f"- {pair[column]}" for pair in MEMORY_EXAMPLES]
    return f"{say('intro', language)}\n\n{say('can', language)}\n\n" + "\n".join(lines)


def _language(transcript: Transcript, call: Called) -> Language:
    """The language of the request that a call was made for."""
    group = transcript.request_before(call.index)
    return language_of("\n".join(said.text for said in group))


def _late(transcript: Transcript) -> list[str]:
    """Outcomes decided after the conversation had gone on, unless an answer has given them already."""
    out = []
    for call in transcript.unreported():
        text = report(call, _language(transcript, call))
        if not any(index > call.index and text in answer for index, answer in transcript.answers):
            out.append(text)
    return out


class _Group:
    """One request (the messages of one person in a row) being answered."""

    def __init__(self, group: tuple[Said, ...], transcript: Transcript, offer: Offer, made: dict[str, list[Called]], out: Decision) -> None:
        self._now = group[-1]
        self._text = "\n".join(said.text for said in group)[:MAX_READ]
        self._attachment = any(said.attachment for said in group)
        self._language: Language = language_of(self._text)
        self._transcript = transcript
        self._offer = offer
        self._made = made
        self._out = out
        self._start = group[0].index

    def answer(self, *, first: bool) -> list[str]:
        """Texts in the order of the request; calls still to make go to the decision."""
        reader = Reader(self._text, self._transcript, self._start)
        wishes = self._continued(reader)
        before = len(self._out.calls)
        parts = [text for wish in wishes if (text := self._wish(wish))]
        parts += recall(reader.rest, replace(self._now, index=self._start), self._transcript, self._language)
        if not wishes and wants_outcome(reader.rest):
            parts.append(recap(self._transcript, self._language))
        if parts or len(self._out.calls) > before or not first:
            return parts  # after calls were made, what is not understood is most likely not for us
        if reader.declined:
            return [say("never_mind", self._language)]
        return [self._talk(reader.rest)]

    def _talk(self, rest: str) -> str:
        talk = small_talk(rest, self._language)
        if talk:
            return talk
        helped = help_text(self._offer, self._language)
        if self._attachment and not rest:
            helped = say("image", self._language) + "\n\n" + helped
        elif greeted(rest) or not self._text:
            comma = "，" if self._language == "zh" else ", "
            helped = say("hello", self._language, name=f"{comma}{self._now.speaker}" if self._now.speaker else "") + "\n\n" + helped
        elif not self._offer.usable and not asked_for_help(rest):
            return recap(self._transcript, self._language)
        elif not asked_for_help(rest):
            helped = say("did_not_understand", self._language) + " " + helped
        return helped

    def _wish(self, wish: Wish) -> str:
        """The text for one wish, or "" when its call is still to be made."""
        if wish.ask:
            return say(wish.ask, self._language, **wish.ask_values)
        if self._made[wish.tool]:
            call = self._made[wish.tool].pop(0)
            return report(call, self._language)
        if wish.tool == "read_thread" and not (self._offer.usable and wish.tool in self._offer.schemas):
            return everyone(self._transcript, self._start, self._language)
        if not self._offer.usable:
            return say("no_tools", self._language, what=what(wish.tool, wish.arguments, self._language))
        if wish.tool not in self._offer.schemas:
            return say("not_offered", self._language, tool=wish.tool)
        arguments, missing = self._offer.fit(wish.tool, wish.arguments)
        if missing:
            return say("missing", self._language, fields=", ".join(missing))
        self._out.calls.append((wish.tool, arguments))
        return ""

    def _continued(self, reader: Reader) -> list[Wish]:
        """The wishes of the request, or of the one before it when this one only answers our question back."""
        wishes = reader.read()
        earlier = self._transcript.earlier(self._start, self._now.speaker)
        if not earlier or not self._transcript.answers:
            return wishes
        asked = [key for key in ("which_order", "which_of", "which_address") if _asks(self._transcript.answers[-1][1], key)]
        if not asked:
            return wishes
        open_wishes = [wish for wish in Reader(earlier[-1].text, self._transcript, earlier[-1].index).read() if wish.ask in asked]
        bare = len(wishes) == 1 and wishes[0].tool == "get_order_status" and not reader.rest.strip(" .。!！")
        if bare and not wishes[0].ask:
            return [replace(wish, ask="", arguments={**wish.arguments, **wishes[0].arguments}) for wish in open_wishes if wish.ask != "which_address"] or wishes
        if not wishes and reader.rest.strip() and not small_talk(reader.rest, self._language):
            return [replace(wish, ask="", arguments={**wish.arguments, "address": self._text}) for wish in open_wishes if wish.ask == "which_address"]
        return wishes


def _asks(answer: str, key: str) -> bool:
    """Whether an answer of ours contains the question `key`, in either language."""
    return any(template.split("{", 1)[0].strip(" ：:") in answer for template in SENTENCES[key])
