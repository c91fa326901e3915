"""Taking something out of what is kept of a thread: the messages it was said in, and whatever tells the same. Pure.

A person who has a memory forgotten means everything that carries it: the words they said it in, the answers that repeated it, the summary,
the facts. The messages it came from are emptied whole; elsewhere the sentences that tell it go. Rather too much is taken out than too little:
what is lost here still stands in Slack, whose messages are the person's own to delete.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from memory.fact_history import without_message
from memory.identifiers import identifiers
from memory.session_memory import SECTIONS, Change, Fact, SessionMemory
from memory.terms import EVERYDAY, STOP_CHARACTERS, terms
from memory.transcript import AssistantMessage, Correction, Item, Note, ToolMessage, UserMessage

GONE: Final = "(taken out: a person had this forgotten)"
_GONE_RESULT: Final = json.dumps({"success": True, "data": GONE})
ENOUGH: Final = 0.6
"""Part of a phrase's content words that a sentence which tells the same shares with it."""
_LETTER: Final = "[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that puts spaces between its words."""
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*|\n+")


@dataclass(frozen=True)
class Redactor:
    """What is to go: the messages `ts`, and what tells one of `phrases`."""

    ts: Collection[str]
    phrases: Sequence[str] = field(default=())

    @cached_property
    def _wanted(self) -> list[tuple[re.Pattern[str], frozenset[str]]]:
        return [(_whole(phrase), _content(phrase)) for phrase in self.phrases if _plain(phrase)]

    @cached_property
    def _names(self) -> list[re.Pattern[str]]:
        """Identifiers tell it alone: nothing else is called that."""
        return [_whole(found.text) for phrase in self.phrases for found in identifiers(phrase)]

    def tells(self, text: str, *, strictly: bool = False) -> bool:
        """Whether a text tells what is to go. `strictly`: one word in common is enough, for what may tell it in other words."""
        if not text or not self._wanted:
            return False
        plain = _plain(text)
        if any(name.search(plain) for name in self._names):
            return True
        said = _content(text)
        for phrase, content in self._wanted:
            shared = content & said
            if phrase.search(plain) or (content and (len(shared) >= ENOUGH * len(content) or (strictly and any(map(_is_word, shared))))):
                return True
        return False

    def tells_in(self, data: str, *, strictly: bool = False) -> bool:
        """The same of JSON: all of it, or `strictly` one of its values (the names of its fields are nobody's words)."""
        if self.tells(_readable(data)):
            return True
        return strictly and any(self.tells(value, strictly=True) for value in _values(data))

    def without(self, text: str, *, strictly: bool = False) -> str:
        """The text without the sentences that tell it; itself when none does."""
        if not self.tells(text, strictly=strictly):
            return text
        kept: list[tuple[str, str]] = []
        for sentence, gap in _sentences(text):
            part = GONE if sentence.strip() and self.tells(sentence, strictly=strictly) else sentence
            if not (part == GONE and kept and kept[-1][0] == GONE):
                kept.append((part, gap))
        rest = "".join(sentence + gap for sentence, gap in kept if sentence != GONE)
        return GONE if self.tells(rest, strictly=strictly) else "".join(sentence + gap for sentence, gap in kept)  # it was told across sentences


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence with what stands between it and the next."""
    start = 0
    for found in _SENTENCE.finditer(text):
        yield text[start : found.start()], found.group()
        start = found.end()
    yield text[start:], ""


def _whole(phrase: str) -> re.Pattern[str]:
    """Finds a phrase as whole words: "rain" is not told by "training". Scripts without spaces have no such ends."""
    plain = _plain(phrase)
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, plain) else ""
    after = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}$", plain) else ""
    return re.compile(before + re.escape(plain) + after)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _content(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if term not in EVERYDAY)


def _is_word(term: str) -> bool:
    """Whether a term says something alone: of a script without spaces a pair of characters of which none is a mere particle."""
    return term.isascii() or not _UNSPACED.search(term) or (len(term) > 1 and STOP_CHARACTERS.isdisjoint(term))


class Passage:
    """A transcript gone through from its beginning. Which answers may tell it in other words, is known on the way: see `redacted`."""

    def __init__(self, redactor: Redactor, runs: Collection[str] = ()) -> None:
        """`runs` had it at hand for their answers."""
        self._redactor = redactor
        self._runs = set(runs)
        self._calls: set[str] = set()
        self._answer_next = False

    def redacted(self, item: Item) -> Item:
        """The next item as it may stay; the same object when nothing in it has to go.

        An answer to a message it was said in, or of a run that had it at hand, goes where it shares one content word with it, and so does what
        came of a call that did.
        """
        strictly = False
        match item:
            case UserMessage():
                self._answer_next = self._answer_next or item.ts in self._redactor.ts
            case AssistantMessage():
                if self._answer_next:
                    self._runs.add(item.run_id)
                    self._answer_next = False
                if strictly := item.run_id in self._runs:
                    self._calls |= {call.id for call in item.calls if self._redactor.tells_in(call.arguments, strictly=True)}
            case ToolMessage():
                strictly = item.call_id in self._calls
        return redacted(item, self._redactor, strictly=strictly)


def redacted(item: Item, redactor: Redactor, *, strictly: bool = False) -> Item:
    """The item as it may stay; the same object when nothing in it has to go. `strictly`: it may tell it in other words."""
    match item:
        case UserMessage() if item.ts in redactor.ts:
            return item.model_copy(update={"text": GONE, "quoted": "", "files": ()})
        case UserMessage():
            text, quoted = redactor.without(item.text), redactor.without(item.quoted)
            return item if (text, quoted) == (item.text, item.quoted) else item.model_copy(update={"text": text, "quoted": quoted})
        case AssistantMessage():
            text = redactor.without(item.text, strictly=strictly)
            calls = tuple(call.model_copy(update={"arguments": "{}"}) if redactor.tells_in(call.arguments, strictly=strictly) else call for call in item.calls)
            return item if text == item.text and calls == item.calls else item.model_copy(update={"text": text, "calls": calls})
        case ToolMessage():
            return item.model_copy(update={"content": _GONE_RESULT}) if redactor.tells_in(item.content, strictly=strictly) else item
        case Correction():
            gone = item.text is not None and (item.ts in redactor.ts or redactor.tells(item.text))
            return item.model_copy(update={"text": None}) if gone else item
        case Note():
            text = redactor.without(item.text)
            return item if text == item.text else item.model_copy(update={"text": text})


def _readable(data: str) -> str:
    """JSON text with its escapes undone, as far as it is JSON."""
    try:
        return json.dumps(json.loads(data), ensure_ascii=False)
    except ValueError:
        return data


def _values(data: str) -> Iterator[str]:
    """The texts in JSON, without the names of its fields; all of what is no JSON."""
    try:
        found: list[Any] = [json.loads(data)]
    except ValueError:
        found = [data]
    while found:
        each = found.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            found += each.values()
        elif isinstance(each, list):
            found += each


def redacted_memory(memory: SessionMemory, redactor: Redactor) -> SessionMemory:
    """What the thread is remembered by, without it. A summary is in its writer's own words: a line goes that shares one content word with it."""
    lines = {name: tuple(line for line in getattr(memory.summary, name) if not redactor.tells(line, strictly=True)) for name in SECTIONS}
    named = tuple(one for one in memory.summary.identifiers if not redactor.tells(one))
    summary = memory.summary.model_copy(update={**lines, "identifiers": named})
    facts = memory.facts
    for ts in redactor.ts:
        facts = without_message(facts, ts)
    facts = tuple(fact for fact in facts if not _fact_tells(fact, redactor))
    changes = tuple(change for change in memory.changes if not _change_tells(change, redactor))
    links = tuple(link for link in memory.links if not redactor.tells(link))
    own = tuple(link for link in memory.own_links if not redactor.tells(link))
    return memory.model_copy(update={"summary": summary, "facts": facts, "changes": changes, "links": links, "own_links": own})


def _fact_tells(fact: Fact, redactor: Redactor) -> bool:
    return any(redactor.tells(text) for text in (f"{fact.key} {fact.value}", fact.value, fact.before, *(said.value for said in fact.history)))


def _change_tells(change: Change, redactor: Redactor) -> bool:
    return redactor.tells(" ".join((*change.ids, *(value for _, value in change.arguments))))
