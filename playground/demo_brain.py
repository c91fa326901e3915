"""The demo model's one decision: from a request to either tool calls or an answer.

It reads the transcript, takes the open requests apart into wishes, pairs each wish with a call that was already made
for it, asks for the calls that are missing, and answers once nothing is missing. It keeps nothing between requests.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.demo_choice import ASK_PERSON, Chooser, chosen, still_open
from playground.demo_more import READ_MORE, read_on
from playground.demo_offer import Offer
from playground.demo_recall import asked_for_help, everyone, greeted, recall, short, small_talk, wants_outcome
from playground.demo_requests import Reader
from playground.demo_results import headline, report, what
from playground.demo_routing import NO_FITTING_TOOL, OPEN_TOOLS
from playground.demo_sentences import SENTENCES
from playground.demo_transcript import SILENT, Called, Said, Transcript, read
from playground.demo_wish import Wish
from playground.demo_words import EXAMPLES, MEMORY_EXAMPLES, Language, language_of, say

MAX_READ: Final = 3_000
"""Characters of one request that are read; the rest of a very long one is ignored."""
LOOKUPS: Final = frozenset({"list_orders", "list_reminders"})
"""Tools that may be wanted both for themselves and to find out what can be chosen: called once."""
_FREE: Final = {
    "which_address": "address",
    "which_place": "place",
    "which_when": "when",
    "which_what": "text",
    "bad_time": "when",
    "no_repeat_when": "when",
    "no_repeat": "when",
}
"""Questions whose answer is taken as it is, with the argument it is for."""
_REFUSED: Final = {"remind_me": "bad_time"}
"""Sentences that ask again for what a tool did not take."""
_QUESTIONS: Final = ("which_order", "which_of", "which_reminder", *_FREE)
_AGREED: Final = re.compile(
    r"(?:yes|yeah|yep|sure|ok(?:ay)?|please(?: do)?|do it|go ahead|just once|once(?: is (?:fine|enough))?"
    r"|好的?|好啊|好吧|可以|行|行吧|嗯|是的?|要|要的|对|一次(?:就行|也行|吧)?|[\s,，.。!！])+",
    re.IGNORECASE,
)
_DECLINED: Final = re.compile(r"\s*(?:no|nope|not now|don't|don’t|不|不用|不要|不了|不需要|算了)(?:\b|了|[\s,，.。!！]|$).*", re.IGNORECASE | re.DOTALL)
"""Words that only say yes."""


@dataclass(slots=True)
class Decision:
    """Either calls, `(tool, arguments)` each, or a text."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    """Groups of tools to open before anything else is called."""
    cannot: str = ""
    """What no tool can do, to be said with `no_fitting_tool`."""


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
    if out.groups:
        # Alone, and everything else afterwards: calls keep the order in which they were asked for.
        return Decision(calls=[(OPEN_TOOLS, {"groups": list(dict.fromkeys(out.groups))})])
    if out.cannot:
        out.calls.append((NO_FITTING_TOOL, {"reason": out.cannot}))
    if out.calls:
        return out if offer.parallel else replace(out, calls=out.calls[:1])
    parts += [report(call, _language(transcript, call)) for calls in made.values() for call in calls if not call.waiting and call.name not in SILENT]
    if not parts:
        parts = _late(transcript)
    if not parts:
        language = language_of(transcript.said[-1].text) if transcript.said else "en"
        parts = [say("nothing_new", language) if offer.usable else recap(transcript, language)]
    return Decision("\n\n".join(parts))


def recap(transcript: Transcript, language: Language) -> str:
    """Everything that was done in the thread, a line each."""
    done = [f"- {headline(call, language)}" for call in transcript.calls if call.name not in SILENT]
    asked = [f"- {short(said.text)}" for said in transcript.said[-5:] if said.text]
    if done:
        return f"{say('done_so_far', language)}\n\n" + "\n".join(done)
    if asked:
        return f"{say('your_requests', language)}\n\n" + "\n".join(asked) + f"\n\n{say('done_nothing', language)}"
    return say("done_nothing", language)


def help_text(offer: Offer, language: Language) -> str:
    """What can be asked, for the tools on offer."""
    column = language == "zh"
    lines = [f"- {EXAMPLES[tool][column]}" for tool in EXAMPLES if offer.offers(tool) or offer.group_of(tool)]
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
        self._chooser = Chooser(
            transcript, offer, made[ASK_PERSON], self._language, more=any(said.index > group[-1].index and not said.aside for said in transcript.said)
        )

    def answer(self, *, first: bool) -> list[str]:
        """Texts in the order of the request; calls still to make go to the decision."""
        reader = Reader(self._text, self._transcript, self._start)
        wishes = self._continued(reader)
        before = len(self._out.calls)
        parts = [text for wish in wishes if (text := self._wish(wish))]
        for tool in self._chooser.looked_up:
            self._made[tool].clear()  # it served a question, and its list has been shown as choices
        parts += recall(reader.rest, replace(self._now, index=self._start), self._transcript, self._language)
        if not wishes and wants_outcome(reader.rest):
            parts.append(recap(self._transcript, self._language))
        if parts or wishes or len(self._out.calls) > before or self._out.groups or self._out.cannot or not first:
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
        if wish.ask and self._chooser.clears(wish):
            step = self._chooser.next(wish)
            if step.wish is None:
                return self._call(step.tool, step.arguments or {}) if step.tool else step.text
            wish = step.wish
        if wish.ask == "one_order_at_a_time":
            return self._one_order_at_a_time(wish)
        if wish.ask:
            return say(wish.ask, self._language, **wish.ask_values)
        if wish.tool == READ_MORE:
            found = read_on(self._transcript, self._start, self._language)
            if isinstance(found, str):
                for calls in self._made.values():
                    calls.clear()
                return found
            return self._call(*found)
        if self._made[wish.tool]:
            call = self._made[wish.tool].pop(0)
            return report(call, self._language)
        if wish.tool == "read_thread" and not (self._offer.offers(wish.tool) or self._to_open(wish.tool)):
            return everyone(self._transcript, self._start, self._language)
        return self._call(wish.tool, wish.arguments)

    def _one_order_at_a_time(self, wish: Wish) -> str:
        """Several orders are to be cancelled at once: which of them can be, and that it goes one by one."""
        found = next((call for call in reversed(self._transcript.turn_calls) if call.name == wish.tool), None)
        if found is None:
            return self._call(wish.tool, {})
        self._chooser.looked_up.add(wish.tool)
        if not found.success and found.code != "EMPTY":
            return report(found, self._language)
        orders = still_open("cancel_order", found)
        if not orders:
            return say("no_order_to_cancel", self._language)
        return say(wish.ask, self._language, orders=("、" if self._language == "zh" else ", ").join(orders), first=orders[0])

    def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Ask for a call, for the group its tool is in, or say why neither is possible."""
        if not self._offer.usable:
            return say("no_tools", self._language, what=what(tool, arguments, self._language))
        if group := self._to_open(tool):
            self._out.groups.append(group)
            return ""
        if tool not in self._offer.schemas:
            if self._may_give_up():
                self._out.cannot = what(tool, arguments, "en")
            return say("not_offered", self._language, tool=tool)
        fitted, missing = self._offer.fit(tool, arguments)
        if missing:
            return say("missing", self._language, fields=", ".join(missing))
        if tool not in LOOKUPS or (tool, fitted) not in self._out.calls:
            self._out.calls.append((tool, fitted))
        return ""

    def _to_open(self, tool: str) -> str:
        """The group to open for a tool; "" when it is offered, none fits, or it was opened in this turn and the tool was not there."""
        group = self._offer.group_of(tool)
        opened = [name for call in self._transcript.turn_calls if call.name == OPEN_TOOLS for name in call.arguments.get("groups") or ()]
        return "" if group in opened else group

    def _may_give_up(self) -> bool:
        """Whether `no_fitting_tool` can be called: once in a turn."""
        return self._offer.offers(NO_FITTING_TOOL) and not any(call.name == NO_FITTING_TOOL for call in self._transcript.turn_calls)

    def _continued(self, reader: Reader) -> list[Wish]:
        """The wishes of the request, or of the one before it when this one only answers our question back."""
        wishes = reader.read()
        earlier = self._transcript.earlier(self._start, self._now.speaker)
        asked = self._asked_back(earlier)
        if not asked:
            return wishes
        open_wishes = [wish for wish in Reader(earlier[-1].text, self._transcript, earlier[-1].index).read() if (wish.ask or _REFUSED.get(wish.tool)) in asked]
        if _DECLINED.fullmatch(self._text) and any(key.startswith("no_repeat") for key in asked):
            reader.declined = True
            return []
        if "no_repeat" in asked and _AGREED.fullmatch(self._text.strip()):
            return [replace(wish, ask="" if wish.arguments.get("text") else "which_what", ask_values={}) for wish in open_wishes if wish.ask == "no_repeat"]
        bare = len(wishes) == 1 and wishes[0].tool == "get_order_status" and not reader.rest.strip(" .。!！")
        if bare and not wishes[0].ask:
            return [
                replace(wish, ask="", arguments={**wish.arguments, **wishes[0].arguments}) for wish in open_wishes if wish.ask.startswith("which_o")
            ] or wishes
        if not wishes and reader.rest.strip() and not small_talk(reader.rest, self._language):
            return [filled for wish in open_wishes if (filled := self._filled(wish)) is not None]
        return wishes

    def _asked_back(self, earlier: list[Said]) -> list[str]:
        """The keys of the questions that the person may be answering now: in our last answer, or put with choices and not clicked."""
        if not earlier:
            return []
        asked = [key for key in _QUESTIONS if self._transcript.answers and _asks(self._transcript.answers[-1][1], key)]
        put = [call for call in self._transcript.calls if call.name == ASK_PERSON and earlier[-1].index < call.index < self._start]
        unanswered = any(call.success and isinstance(call.data, dict) and not call.data.get("answer") for call in put)
        return [*asked, *(("which_of", "which_order", "which_reminder") if unanswered else ())]

    def _filled(self, wish: Wish) -> Wish | None:
        """An open wish with this request as the answer to its question; None when it answers nothing."""
        if name := _FREE.get(wish.ask or _REFUSED.get(wish.tool, "")):
            left = {key: value for key, value in {**wish.arguments, name: self._text}.items() if value != ""}
            again = "which_what" if wish.tool == "remind_me" and "text" not in left else ""
            return replace(wish, ask=again, arguments=left)
        if wish.ask == "which_reminder":
            shown = self._transcript.last_reminders(self._start)
            value = chosen(self._text, shown, orders=False)
            return replace(wish, ask="", arguments={"reminder_id": value}) if value else None
        if wish.ask in ("which_of", "which_order"):
            shown_orders = [(each, each) for each in wish.choices or self._transcript.last_list(self._start)]
            value = chosen(self._text, shown_orders, orders=True)
            return replace(wish, ask="", arguments={**wish.arguments, "order_id": value}) if value else None
        return None


def _asks(answer: str, key: str) -> bool:
    """Whether an answer of ours contains the question `key`, in either language."""
    return any(template.split("{", 1)[0].strip(" ：:") in answer for template in SENTENCES[key])
