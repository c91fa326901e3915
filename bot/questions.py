"""The model's question to a person, as a message with buttons: pure.

It looks unlike an approval card on purpose: answering it permits nothing. The question and the choices are the model's
words and stand in plain text; a button carries the question's opaque id and the place of its choice, never the words.
"""

from __future__ import annotations

import json
from typing import Any, Final

from bot.messages import say
from bot.render import Rendered, escape, header, plain, shorten
from bot.state import Call, Run
from bot.visible import visible

MAX_CHOICES: Final = 8
_LABEL: Final = 75

Block = dict[str, Any]


def choices_of(call: Call) -> list[str]:
    """The choices a question offers, in order."""
    given = (call.arguments or {}).get("choices") or []
    return [str(choice) for choice in given][:MAX_CHOICES]


def question_card(call: Call, run: Run, state: str) -> Rendered:
    """The message of a question in a state: with buttons while it is open, with what became of it afterwards."""
    if call.approval is None:
        raise ValueError("a question needs an id to be answered under")
    language = run.locale
    question = str((call.arguments or {}).get("question", ""))
    lead = say("ask_head" if state == "open" else f"ask_state_{state}", language)
    person = run.requested_by.user_id
    blocks: list[Block] = [_rich("question", [{"type": "user", "user_id": person}, _text(" "), _text(visible(question))])]
    if state == "open":
        blocks += [_small(say("ask_how", language)), _buttons(call, language)]
    elif state == "done":
        answer = next((vote.reason for vote in reversed(call.approval.votes) if vote.verdict == "answer"), "")
        blocks.append(_rich("answer", [_text(say("ask_answered", language) + " "), _text(visible(shorten(answer, 2_000)), bold=True)]))
    else:
        blocks.append(_small(lead))
    return Rendered(text=escape(shorten(f"{lead}: {visible(question)}", 500)), blocks=blocks)


def answer_view(approval_id: str, session_id: str, language: str, question: str) -> dict[str, Any]:
    """The modal in which a question is answered in words."""
    element = {"type": "plain_text_input", "action_id": "value", "multiline": True, "max_length": 2_000, "min_length": 1, "focus_on_load": True}
    block = {"type": "input", "block_id": "answer", "label": plain(say("form_answer_label", language)), "element": element}
    return {
        "type": "modal",
        "callback_id": "steward:answer",
        "title": plain(say("form_answer_title", language)),
        "submit": plain(say("form_answer_submit", language)),
        "close": plain(say("form_cancel", language)),
        "private_metadata": json.dumps({"a": approval_id, "s": session_id}),
        "blocks": [header(visible(shorten(question, 140))), block],
    }


def _buttons(call: Call, language: str) -> Block:
    ident = call.approval.id if call.approval is not None else ""
    elements: list[Block] = [
        {"type": "button", "action_id": f"steward:choice:{place}", "text": plain(shorten(visible(choice), _LABEL) or "·"), "value": ident}
        for place, choice in enumerate(choices_of(call))
    ]
    elements.append({"type": "button", "action_id": "steward:answer", "text": plain(say("ask_button_words", language)), "value": ident})
    return {"type": "actions", "block_id": "steward:question", "elements": elements}


def _text(text: str, **style: bool) -> Block:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def _rich(block_id: str, elements: list[Block]) -> Block:
    return {"type": "rich_text", "block_id": block_id, "elements": [{"type": "rich_text_section", "elements": elements}]}


def _small(text: str) -> Block:
    return {"type": "context", "elements": [plain(text)]}
