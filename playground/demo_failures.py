"""What a call did not do, in words: for each way to fail its own sentence, and never a claim of success.

The reasons that tools give are written in English, for a model. They are told where they tell a person something, in the
language of the request (`demo_reasons.py`); where the sentence says it all, they are left out.
"""

from __future__ import annotations

import re
from typing import Any, Final

from playground.demo_reasons import reason, time_reason
from playground.demo_recall import short
from playground.demo_sentences import SENTENCES
from playground.demo_transcript import Called
from playground.demo_words import Language, say

_REASON: Final = re.compile(r'reason: "?(.+?)"?\.? It was not done', re.IGNORECASE | re.DOTALL)
_OFFLINE: Final = "cannot reach the internet"
_TIME_REFUSED: Final = "The time is not accepted: "
_KINDS: Final = {
    "DENIED_BY_PERSON": "denied",
    "EXPIRED": "expired",
    "SUPERSEDED": "superseded",
    "OUTCOME_UNKNOWN": "unknown",
    "WAITING": "waiting",
    "REFUSED": "refused",
    "PERMISSION_DENIED": "not_permitted",
    "NOT_FOUND": "not_found",
    "EMPTY": "not_found",
    "TIMEOUT": "timeout",
    "CIRCUIT_OPEN": "circuit_open",
    "COOLING_DOWN": "cooling_down",
    "RATE_LIMITED": "rate_limited",
}
_FOR_THE_MODEL: Final = frozenset({"unknown", "expired", "superseded", "waiting", "circuit_open", "cooling_down"})
"""Kinds whose reasons are addressed to the model, not to people."""
_CHANGES: Final = frozenset({"post_message", "cancel_order", "change_shipping_address", "remind_me", "cancel_reminder"})
"""Tools that look for nothing: when something was not there, it is what they were to do that could not be done."""


def failure(call: Called, language: Language) -> str:
    """What to say about a call that did not succeed."""
    kind = _KINDS.get(call.code, "failed")
    raw = "" if kind in _FOR_THE_MODEL else short(call.message, 600)
    detail = reason(raw, language)
    meant = what(call.name, call.arguments, language)
    if kind == "denied":
        # The engine's own words to the model are not for people; only the person's reason is.
        given = _said_reason(call)
        around = "（{}）" if language == "zh" else " ({})"
        return say(kind, language, what=meant, reason=around.format(given) if given else "")
    if kind == "failed" and _OFFLINE in call.message:
        return say("offline", language, what=meant)
    if call.name == "remind_me" and (raw.startswith(_TIME_REFUSED) or call.code == "INVALID_ARGUMENTS"):
        return say("bad_time", language, detail=time_reason(raw.removeprefix(_TIME_REFUSED), language))
    if kind == "not_found" and call.name in _CHANGES:
        return say("could_not", language, what=meant, detail=detail or say("not_there", language))
    return say(kind, language, what=meant, detail=detail).strip()


def what(tool: str, arguments: dict[str, Any], language: Language) -> str:
    """What a call was meant to do, as a phrase: "cancel order ABC-…"."""
    key = f"do_{tool}"
    if key not in SENTENCES:
        return f"`{tool}`"
    known = dict.fromkeys(re.findall(r"\{(\w+)\}", SENTENCES[key][0]), "") | {name: short(str(value), 80) for name, value in arguments.items()}
    return say(key, language, **known).strip()


def _said_reason(call: Called) -> str:
    """The reason a person gave for a refusal, when the result carries one."""
    if isinstance(call.data, dict) and isinstance(call.data.get("reason"), str):
        return short(call.data["reason"])
    found = _REASON.search(call.message)
    return short(found[1]) if found else ""
