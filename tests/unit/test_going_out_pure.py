"""Which links an answer may carry and which addresses may be opened: only what a person wrote, or a tool found by itself."""

from __future__ import annotations

import json

import pytest

from bot.effects_slack import allowed_urls
from bot.going_out import Seen, may_open
from memory.keys import Actor
from memory.transcript import AssistantMessage, Item, Request, ToolMessage, UserMessage

EVIL = "https://evil.example/in?d=hunter2"
ANSWER = f"See [the status]({EVIL})"


def asked(arguments: str, tool: str = "look_up") -> AssistantMessage:
    return AssistantMessage(run_id="r", calls=(Request(id="c", name=tool, arguments=arguments),))


def said(text: str) -> UserMessage:
    return UserMessage(actor=Actor(team_id="T1", user_id="U1"), name="Ana", ts="1.000001", text=text)


def found(data: object, tool: str = "look_up", *, success: bool = True) -> ToolMessage:
    return ToolMessage(call_id="c", name=tool, content=json.dumps({"success": success, "data": data, "error_message": None if success else f"no {EVIL}"}))


CASES: list[tuple[str, list[Item], bool]] = [
    ("a person wrote it", [said(f"look at {EVIL}")], True),
    ("a tool found it", [said("find it"), asked("{}"), found({"url": EVIL})], True),
    ("nobody wrote it", [said("the password is hunter2")], False),
    ("a failure quotes the call", [said("x"), asked(json.dumps({"zone": EVIL})), found(None, success=False)], False),
    ("a tool gives it back", [said("x"), asked(json.dumps({"q": EVIL})), found({"q": EVIL})], False),
    (
        "escaped once more",
        [said("x"), asked(json.dumps({"names": json.dumps([EVIL]).replace("/", "\\u002f").replace(":", "\\u003a", 1)})), found([EVIL])],
        False,
    ),
    ("with an invisible sign", [said("x"), asked(json.dumps({"q": EVIL.replace("/in", "/i\u200bn")})), found({"q": EVIL})], False),
    ("a reminder of another thread", [said("x"), asked("{}", "list_reminders"), found({"text": f"see {EVIL}"}, "list_reminders")], False),
    ("a choice the model offered elsewhere", [said("x"), found({"answer": EVIL}, "ask_person")], False),
]


@pytest.mark.parametrize(("thread", "allowed"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_address_goes_out_only_if_it_came_in(thread: list[Item], allowed: bool) -> None:
    assert may_open(EVIL, Seen(thread)) is allowed
    assert bool(allowed_urls(ANSWER, Seen(thread))) is allowed
