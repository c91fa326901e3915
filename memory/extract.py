"""The summary without a model: sentences picked by code, so that a thread stays true when the model is away, too dear or worse than this.

It invents nothing. What people asked for becomes goals, what tools did becomes actions with their results, sentences with the words of a
decision or a limit are kept as such, questions nobody answered stay open. Every line of a person begins with the day and that person's name. What
came from other bots, from forwarded messages or was not meant for us says so, and is only ever something that was said: nobody's wish or decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.call_line import one_line
from memory.compaction import as_read
from memory.guarding import guarded, required
from memory.session_memory import Fact, Summary
from memory.stale import Changes
from memory.summary import Count, Language, dated, fitted, language_of, line, merged, shortened, undated, unrepeated, without_days
from memory.transcript import US, AssistantMessage, Item, Note, Request, ToolMessage, UserMessage

GOAL: Final = 200
"""Characters of a request that become its goal line; what follows goes to what was said."""
PICKED: Final = 0.12
"""Part of a summary's room that sentences picked by code are worth where search finds the rest: measured on conversations of months, every tenth of
the conversation's tokens that they take costs two questions in a hundred the messages that answer them. Names may take what they need."""
STATES: Final = 6
"""So many of the latest answers say how things stand."""

_MARKS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "aside": " (said to others)",
        "bot": " (bot)",
        "earlier": " (before this thread)",
        "quoted": " (quoted)",
        "file": "file ",
        "not_done": "not done: ",
        "unknown": "outcome not known: ",
        "stale": "(stale: {tool} changed this later) ",
        "was": "{key} is now {value} (was {before})",
        "note": "(note by the program)",
    },
    "zh": {
        "aside": "（对别人说的）",
        "bot": "（机器人）",
        "earlier": "（本线程之前）",
        "quoted": "（引用）",
        "file": "文件 ",
        "not_done": "未完成：",
        "unknown": "结果未知：",
        "stale": "（已过时：之后被 {tool} 更改）",
        "was": "{key} 现为 {value}（原为 {before}）",
        "note": "（程序注）",
    },
}

_DECISION = re.compile(
    r"\b(?:decided|let[’']?s|let us|go(?:ing)? with|agreed|settled on|chose|picked|we[’']ll (?:use|take|go|keep)|we will (?:use|take|go|keep)|instead)\b"
    r"|决定|就用|就按|那就|改用|改成|改为|定了|敲定|说好|选定|选了|就选|采用|一致同意",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:must|mustn[’']?t|never|at most|at least|no (?:more|less|later|earlier) than|not before|under no circumstances|make sure not)\b"
    r"|(?<!\bi )(?<!\bwe )(?<!\bthey )\b(?:do not|don[’']t)\b(?! (?:know|think|understand|see|remember|worry)\b)"
    r"|不要|不许|不得|不准|不可以|不能超|必须|禁止|只能|最多|至少|务必|千万|不超过|(?<![特区级类分识性个告])别(?![的人处墅名针])",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:[?？]|[吗呢么][。.!！]?)\Z")
_SENTENCE = re.compile(r"(?<=[。！？；])|(?<=[.!?;])\s+|\n+")
_FAILED_FOR_GOOD: Final = frozenset({"DENIED_BY_PERSON", "PERMISSION_DENIED", "REFUSED", "EXPIRED", "SUPERSEDED", "OUTCOME_UNKNOWN"})
"""Failures that stay worth knowing even when the same tool worked later."""


def extract(items: Sequence[Item], before: Summary, *, facts: Sequence[Fact], budget: int, count: Count, sentences_in: int | None = None) -> Summary:
    """The summary of `before` and `items` in at most `budget` tokens, naming every identifier there is room for.

    `sentences_in`: tokens its sentences may take of these, those of `before` included; None: as many as fit beside the names.
    Of `facts`, which the thread keeps and shows by themselves, only corrections are told: that something was otherwise before.
    The same values give the same summary. Deleted messages do not enter; edited ones enter as they were left.
    """
    log = as_read(items)
    language = language_of(log, before.language)
    picked = _Picked(_MARKS[language])
    picked.calls = {call.id: call for each in log if isinstance(each, AssistantMessage) for call in each.calls}
    picked.worked = {each.name: at for at, each in enumerate(log) if isinstance(each, ToolMessage) and _outcome(each.content)[0]}
    picked.changed = _changed(log, picked.calls)
    answered = {each.call_id for each in log if isinstance(each, ToolMessage)}
    for at, item in enumerate(log):
        match item:
            case UserMessage():
                picked.said_by(item)
            case AssistantMessage():
                picked.answer(item)
                for call in item.calls:
                    if call.id not in answered:
                        picked.actions.append(line(picked.marks["unknown"] + one_line(call, None)))
            case ToolMessage():
                picked.result(item, at)
            case Note():
                picked.state.append(line(f"{picked.marks['note']} {item.text}"))
            case _:
                pass
    picked.corrections(facts, log, before)
    wanted = required(log, without_days(before))
    new = picked.summary(language)
    # What stood then is what stands now only as far as nothing newer was said; what we asked is open until somebody spoke to us.
    if any(isinstance(each, UserMessage) and each.addressed and not each.own for each in log):
        before = before.model_copy(update={"questions": tuple(each for each in before.questions if not each.startswith(f"{US}:"))})
    whole = merged(before, new)
    whole = whole.model_copy(update={"state": whole.state[-STATES:]})
    if sentences_in is not None:
        lines = fitted(whole.model_copy(update={"identifiers": (), "more": 0}), budget=sentences_in, count=count)
        whole = lines.model_copy(update={"identifiers": whole.identifiers, "more": whole.more})
    return guarded(whole, wanted, budget=budget, count=count)


@dataclass
class _Picked:
    """The lines found so far."""

    marks: dict[str, str]
    goals: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    asked_us: list[str] = field(default_factory=list)
    """Questions that nobody answered yet: of people to us,"""
    asked_them: list[str] = field(default_factory=list)
    """and of ours to them."""
    calls: dict[str, Request] = field(default_factory=dict)
    worked: dict[str, int] = field(default_factory=dict)
    """Where each tool last succeeded."""
    changed: dict[int, str] = field(default_factory=dict)
    """Where a result stands that no longer holds, and the tool that changed what it is about."""

    def said_by(self, item: UserMessage) -> None:
        """Sort one message's sentences, every line beginning with its speaker. What was not said to us is only told, whatever it decides or forbids."""
        who = self.speaker(item)
        if item.quoted.strip():
            self.said.append(dated(line(f"{who}{self.marks['quoted']}: {item.quoted}"), item.ts))
        self.entities += [line(f"{who}: {self.marks['file']}{each}") for each in item.files]
        if not item.text.strip():
            return
        if item.own:
            self.state.append(line(f"{who}: {_first(item.text)}"))
            return
        if item.bot or not item.addressed or item.earlier:
            self.said.append(dated(line(f"{who}: {item.text}"), item.ts))
            return
        rest = self._cued(who, item)
        self.asked_them.clear()
        self.asked_us += [dated(line(f"{who}: {each}"), item.ts) for each in rest if _QUESTION.search(each)]
        wish = " ".join(rest)
        if wish:
            goal = shortened(wish, GOAL)
            self.goals.append(dated(line(f"{who}: {goal}"), item.ts))
            if left := wish[len(goal.removesuffix("…")) :].strip():
                self.said.append(dated(line(f"{who}: …{left}"), item.ts))

    def _cued(self, who: str, item: UserMessage) -> list[str]:
        """Keep the sentences that decide or limit something; what is left over comes back."""
        rest: list[str] = []
        for each in sentences(item.text):
            told = dated(line(f"{who}: {each}"), item.ts)
            if _QUESTION.search(each):
                rest.append(each)
            elif _LIMIT.search(each):
                self.constraints.append(told)
            elif _DECISION.search(each):
                self.decisions.append(told)
            else:
                rest.append(each)
        return rest

    def corrections(self, facts: Sequence[Fact], log: Sequence[Item], before: Summary) -> None:
        """Tell the facts that were otherwise before: as decisions, where they were said to us."""
        aside = {each.ts: each for each in log if isinstance(each, UserMessage) and (each.bot or each.own or each.earlier or not each.addressed)}
        known = set(map(undated, before.said))
        for fact in facts:
            if not fact.before:
                continue
            told = self.marks["was"].format(key=fact.key, value=fact.value, before=fact.before)
            if fact.ts in aside:
                self.said.append(dated(line(f"{self.speaker(aside[fact.ts])}: {told}"), fact.ts))
            elif not any(each.startswith(fact.name) and each.endswith(f": {told}") for each in known):
                self.decisions.append(dated(line(f"{fact.name}: {told}" if fact.name else told), fact.ts))

    def answer(self, item: AssistantMessage) -> None:
        """Our own answer closes what we were asked; a question at its end is open until somebody speaks to us."""
        if item.calls or not item.text.strip():
            return
        self.asked_us.clear()
        text = item.text.replace("**", "")
        self.asked_them += [line(f"{US}: {each}") for each in sentences(text)[-1:] if _QUESTION.search(each)]
        self.state.append(line(f"{US}: {_first(text)}"))

    def result(self, item: ToolMessage, at: int) -> None:
        """What a call did, or that it did not."""
        call = self.calls.get(item.call_id) or Request(id=item.call_id, name=item.name, arguments="{}")
        done, code = _outcome(item.content)
        if not done and code not in _FAILED_FOR_GOOD and self.worked.get(item.name, -1) > at:
            return
        mark = "" if done else self.marks["unknown" if code == "OUTCOME_UNKNOWN" else "not_done"]
        if at in self.changed:
            mark = self.marks["stale"].format(tool=self.changed[at])
        self.actions.append(line(mark + one_line(call, item)))

    def speaker(self, item: UserMessage) -> str:
        """Who speaks, and whether it was meant for us."""
        if item.own:
            return US
        name = item.speaker
        mark = self.marks["bot"] if item.bot else ""
        if item.earlier:
            return name + mark + self.marks["earlier"]
        return name + mark + ("" if item.addressed else self.marks["aside"])

    def summary(self, language: Language) -> Summary:
        """The lines as a summary, repeats left out."""
        lists = {
            "goals": self.goals,
            "constraints": self.constraints,
            "decisions": self.decisions,
            "actions": self.actions,
            "state": self.state[-STATES:],
            "questions": [*self.asked_us, *self.asked_them],
            "entities": self.entities,
            "said": self.said,
        }
        kept: dict[str, Any] = {name: unrepeated(lines) for name, lines in lists.items()}
        return Summary(language=language, **kept)


def _changed(log: Sequence[Item], calls: Mapping[str, Request]) -> dict[int, str]:
    """Which results of a log a later write of it changed, and by which tool."""
    changes, found = Changes(), {}
    for at in range(len(log) - 1, -1, -1):
        item = log[at]
        if (
            not isinstance(item, ToolMessage)
            or item.effect not in {"read", "write"}
            or (call := calls.get(item.call_id)) is None
            or not _outcome(item.content)[0]
        ):
            continue
        if item.effect == "write":
            changes.add(call)
        elif (tool := changes.newest(call, item.content)) is not None:
            found[at] = tool
    return found


def sentences(text: str) -> list[str]:
    """The sentences of a text in either language, without empty ones; a point inside a number or a name ends nothing."""
    return [each.strip() for each in _SENTENCE.split(text) if each.strip()]


def _first(text: str) -> str:
    return next(iter(sentences(text)), "")


def _outcome(content: str) -> tuple[bool, str]:
    """Whether a result is a success, and its error code; what cannot be read is taken for done, as it was recorded."""
    try:
        envelope = json.loads(content)
    except (ValueError, RecursionError):
        return True, ""
    if not isinstance(envelope, dict) or envelope.get("success") is not False:
        return True, ""
    return False, str(envelope.get("error_code") or "")
