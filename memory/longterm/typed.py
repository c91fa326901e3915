"""What a person typed into a command or a form to be remembered: the rules' reading of it, else the text as a fact of its own. Pure."""

from __future__ import annotations

from memory.longterm.alike import denies
from memory.longterm.candidate import Candidate, Refusal, Said
from memory.longterm.keys_of import content_key
from memory.longterm.memory import LONGEST, Kind, Memory
from memory.longterm.not_meant import refusal
from memory.longterm.rules import read
from memory.longterm.secrets_found import secret

_REREAD = ("kind", "key", "value", "negated", "condition", "single", "always", "sensitive", "valid_from", "valid_until", "expires", "language")
_STATED = frozenset({Kind.PREFERENCE, Kind.FACT, Kind.PLAN})
"""Kinds that are a person's own statement; what code made of deeds keeps its kind and key when its words are mended."""


class NotKept(Exception):  # noqa: N818 - states an outcome
    """What was typed is never kept; `why` is the `Refusal`."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.value)
        self.why = why


def typed(said: Said) -> Candidate | Refusal:
    """One candidate, asked for explicitly; a `Refusal` for what is never kept."""
    text = " ".join(said.text.split())[:LONGEST]
    if not text:
        return Refusal.NOTHING
    if secret(text):
        return Refusal.SECRET
    why = refusal(text, said)
    if why in {Refusal.SECRET, Refusal.AUTHORITY, Refusal.ANOTHERS}:
        return why
    found = _by_rules(said, text)
    return found or Candidate(kind=Kind.FACT, key=content_key(text), text=text, explicit=True, quote=text, language=said.language, importance=0.8)


def _by_rules(said: Said, text: str) -> Candidate | None:
    found = read(said).candidates
    return found[0].model_copy(update={"explicit": True, "text": text}) if len(found) == 1 else None


def retyped(memory: Memory, said: Said) -> Memory | Refusal:
    """The memory with other words in place of its own: read anew where rules know them, else still about the same."""
    taken = typed(said)
    if isinstance(taken, Refusal):
        return taken
    update: dict[str, object] = {"text": taken.text, "value": "", "explicit": True, "updated": said.at}
    found = _by_rules(said, taken.text) if memory.kind in _STATED else None
    if found is not None and found.kind in _STATED and not found.retracts:
        update |= {name: getattr(found, name) for name in _REREAD}
    else:
        update |= {"negated": denies(taken.text), "condition": memory.condition if memory.condition in taken.text else ""}
    return memory.model_copy(update=update)
