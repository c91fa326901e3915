"""The demo model's one decision: from a request to either tool calls or an answer.

It reads the transcript, takes the open requests apart into wishes, pairs each wish with a call that was already made
for it, asks for the calls that are missing, and answers once nothing is missing. It keeps nothing between requests.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.demo_choice import ASK_PERSON, MAX_CHOICES, Chooser, chosen, still_open
from playground.demo_memory import ADVICE, FORGET, RECALL, reply_language, stated_case
from playground.demo_more import READ_MORE, read_on
from playground.demo_offer import Offer
from playground.demo_recall import asked_for_help, everyone, greeted, name_of, recall, short, small_talk, wants_outcome
from playground.demo_remembered import advise, dreads_rain, found_memories, may_matter, tailored
from playground.demo_requests import Reader
from playground.demo_results import headline, report, what
from playground.demo_routing import NO_FITTING_TOOL, OPEN_TOOLS
from playground.demo_sentences import SENTENCES
from playground.demo_transcript import SILENT, Called, Said, Transcript, read
from playground.demo_wish import Wish
from playground.demo_words import EXAMPLES, MEMORY_EXAMPLES, Language, say

MAX_READ: Final = 3_000
"""Characters of one request that are read; the rest of a very long one is ignored."""
_WEATHER: Final = "get_current_weather"
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
    parts += [_told(transcript, call) for calls in made.values() for call in calls if not call.waiting and call.name not in SILENT]
    if not parts:
        parts = _late(transcript)
    if not parts:
        language = reply_language(transcript.said[-1].text, transcript, transcript.said[-1:]) if transcript.said else "en"
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
    return reply_language("\n".join(said.text for said in group), transcript, group)


def _told(transcript: Transcript, call: Called) -> str:
    """What came of a call, in the language and the way of the person it was made for."""
    group = transcript.request_before(call.index)
    return report(tailored(call, _wanted(transcript, group[-1])) if group else call, _language(transcript, call))


def _wanted(transcript: Transcript, now: Said) -> list[str]:
    """How the person wants sorts of cases answered, in their own words: what is remembered, and what they said in this thread."""
    here = [said.text for said in transcript.earlier(now.index + 1, now.speaker) if stated_case(said.text)]
    return [*(memory.text for memory in transcript.note_for(now).memories if memory.said), *here]


def _late(transcript: Transcript) -> list[str]:
    """Outcomes decided after the conversation had gone on, unless an answer has given them already."""
    out = []
    for call in transcript.unreported():
        text = _told(transcript, call)
        if not any(index > call.index and text in answer for index, answer in transcript.answers):
            out.append(text)
    return out


class _Group:
    """One request (the messages of one person in a row) being answered."""

    def __init__(self, group: tuple[Said, ...], transcript: Transcript, offer: Offer, made: dict[str, list[Called]], out: Decision) -> None:
        self._now = group[-1]
        self._text = "\n".join(said.text for said in group)[:MAX_READ]
        self._attachment = any(said.attachment for said in group)
        self._language: Language = reply_language(self._text, transcript, group)
        self._note = transcript.note_for(self._now)
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
        reader = Reader(self._text, self._transcript, self._start, self._now)
        wishes = self._continued(reader)
        before = len(self._out.calls)
        parts = [text for wish in wishes if (text := self._wish(wish))]
        for tool in self._chooser.looked_up:
            self._made[tool].clear()  # it served a question, and its list has been shown as choices
        parts += recall(reader.rest, replace(self._now, index=self._start), self._transcript, self._language, self._note.memories)
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
            comma, name = "，" if self._language == "zh" else ", ", name_of(self._note.memories) or self._now.speaker
            helped = say("hello", self._language, name=f"{comma}{name}" if name else "") + "\n\n" + helped
        elif not self._offer.usable and not asked_for_help(rest):
            return recap(self._transcript, self._language)
        elif not asked_for_help(rest):
            helped = say("did_not_understand", self._language) + " " + helped
            helped = "\n\n".join(part for part in (may_matter(self._note.memories, self._language), helped) if part)
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
        if wish.tool == FORGET and (not wish.ask or self._could(FORGET)):
            return self._forget(wish)
        if wish.tool == ADVICE:
            return self._advise(wish)
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
            return report(tailored(call, _wanted(self._transcript, self._now)), self._language)
        if wish.tool == "read_thread" and not (self._offer.offers(wish.tool) or self._to_open(wish.tool)):
            return everyone(self._transcript, self._start, self._language)
        return self._call(wish.tool, wish.arguments)

    def _forget(self, wish: Wish) -> str:
        """Have memories forgotten that the program did not recognise: look them up, ask which one when it is not clear, and put that to the person."""
        if self._made[FORGET]:
            self._made[RECALL].clear()
            return report(self._made[FORGET].pop(0), self._language)
        if not self._made[RECALL]:
            return self._call(RECALL, {"question": wish.arguments.get("question", "")})
        found = self._made[RECALL].pop(0)
        if not found.success:
            return report(found, self._language)
        rows = [(short(text, 72), ident) for text, ident in found_memories(found)[:MAX_CHOICES]]
        if not rows:
            return say("noted_nothing", self._language)
        if len(rows) == 1:
            return self._call(FORGET, {"ids": [rows[0][1]], "texts": []})
        if not self._made[ASK_PERSON]:
            if not self._offer.offers(ASK_PERSON):
                return say("noted_unclear", self._language)
            return self._call(ASK_PERSON, {"question": say("ask_forget", self._language), "choices": list(dict.fromkeys(text for text, _ in rows))})
        asked = self._made[ASK_PERSON].pop(0)
        answer = asked.data.get("answer") if asked.success and isinstance(asked.data, dict) else ""
        one = chosen(answer, rows, orders=False) if isinstance(answer, str) and answer.strip() else ""
        return self._call(FORGET, {"ids": [one], "texts": []}) if one else say("noted_unclear", self._language)

    def _advise(self, wish: Wish) -> str:
        """Advice by what is remembered; whoever does not like rain gets the weather looked up, if there is a tool for it."""
        place, memories = str(wish.arguments.get("place", "")), [memory for memory in self._note.memories if memory.said]
        weather: str | None = None
        if place and dreads_rain(memories):
            if self._made[_WEATHER]:
                call = self._made[_WEATHER].pop(0)
                weather = report(call, self._language).split("\n", 1)[0] if call.success else ""
            elif self._could(_WEATHER):
                return self._call(_WEATHER, {"place": place})
        trip, food = bool(wish.arguments.get("trip")), bool(wish.arguments.get("food"))
        return advise(memories, weather, self._language, place=place, trip=trip, food=food, missing=self._note.missing)

    def _could(self, tool: str) -> bool:
        """Whether a tool can be called, perhaps after its group was opened."""
        return self._offer.offers(tool) or bool(self._to_open(tool))

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
