"""What a person typed into a command or a form to be remembered, as a candidate: the rules' reading of it, else the text as a fact of its own. Pure."""

from __future__ import annotations

from memory.longterm.candidate import Candidate, Refusal, Said
from memory.longterm.keys_of import content_key
from memory.longterm.memory import LONGEST, Kind
from memory.longterm.not_meant import refusal
from memory.longterm.rules import read
from memory.longterm.secrets_found import secret


def typed(said: Said) -> Candidate | Refusal:
    """One candidate, asked for explicitly; a `Refusal` for what is never kept."""
    text = " ".join(said.text.split())[:LONGEST]
    if not text:
        return Refusal.NOTHING
    if secret(text):
        return Refusal.SECRET
    found = read(said)
    if len(found.candidates) == 1:
        return found.candidates[0].model_copy(update={"explicit": True, "text": text})
    why = refusal(text, said)
    if why in {Refusal.SECRET, Refusal.AUTHORITY, Refusal.ANOTHERS}:
        return why
    return Candidate(kind=Kind.FACT, key=content_key(text), text=text, explicit=True, quote=text, language=said.language, importance=0.8)
