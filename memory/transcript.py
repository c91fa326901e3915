"""The transcript: what was said and done in a thread, as an append-only list of small items.

Items are kept as they happened; nothing is rewritten. A corrected message is a later `Correction`, a tool's result
may arrive long after its request because a person had to decide first. `arrange` turns such a log into the order a
model's API accepts: every request is followed at once by its results, and a request still open gets a stand-in
that says so. Budgets, summaries and search enter in `memory.context`, its caller; nothing else assembles messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from memory.keys import Actor
from memory.names import skeleton, visible


def storable(value: Any) -> Any:
    """Text as every store, log and API takes it: no NUL, and no half of a surrogate pair, which UTF-8 cannot carry."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


US: Final = "Steward"
"""What we are called among the speakers."""
OURS: Final = frozenset({"steward", "assistant", "tool", "system", "note by the program"})
"""Names under which only we speak."""
_OURS: Final = frozenset(skeleton(name + mark) for name in OURS for mark in ("", " bot"))
"""Them, and as another bot's name is marked, in the form that all look-alikes of theirs share."""
LONGEST_NAME: Final = 80
"""Characters of a speaker's name, which is the only thing of theirs that stands outside what is marked as data."""
_FRAME: Final = re.compile(r"[\[\]:：]")


def _plain_sign(match: re.Match[str]) -> str:
    return {"[": "(", "]": ")"}.get(match.group(), " ")


Text = Annotated[str, BeforeValidator(storable)]


class _Item(BaseModel):
    model_config = ConfigDict(frozen=True)


class UserMessage(_Item):
    """Something a person (or another bot) wrote; `name` is how the model sees the speaker."""

    role: Literal["user"] = "user"
    actor: Actor
    name: Text
    ts: str
    text: Text
    files: tuple[Text, ...] = ()
    """One line per attached file: name, type and size."""
    quoted: Text = ""
    """What the message carries of other messages (forwarded, shared, an alert's attachments): data, not the speaker's own words."""
    addressed: bool = True
    """False for what was said in the thread without being meant for us; kept as context."""
    bot: bool = False
    """Written by another bot."""
    own: bool = False
    """Written by ourselves before this transcript began."""
    earlier: bool = False
    """Said in the channel before this thread began."""

    @property
    def speaker(self) -> str:
        """The name under which the model sees the author: one line of what can be seen, without what could end it.

        What could be taken for a name under which only we speak, in whatever letters, has the author's id beside it.
        """
        if self.own:
            return US
        name = visible(_FRAME.sub(_plain_sign, self.name))[:LONGEST_NAME].strip()
        return f"{name} ({self.actor.user_id})".strip() if not name or skeleton(name) in _OURS else name


class Request(_Item):
    """One tool call as the model asked for it."""

    id: str
    name: Text
    arguments: Text
    """Raw JSON text, exactly as received."""


class AssistantMessage(_Item):
    """One answer of the model: text, tool requests, or both."""

    role: Literal["assistant"] = "assistant"
    run_id: str
    text: Text = ""
    calls: tuple[Request, ...] = ()
    at: float = 0.0
    """Seconds since the epoch; 0 when it is not known."""


class ToolMessage(_Item):
    """What came of one request, as the model will read it."""

    role: Literal["tool"] = "tool"
    call_id: str
    name: Text
    content: Text
    effect: Literal["", "read", "write", "ask"] = ""
    """What kind of call it was; empty when it is not known."""
    at: float = 0.0
    """When it came, in seconds since the epoch; 0 when it is not known."""


class Correction(_Item):
    """The author edited the message `ts` to `text`, or deleted it (`text` is None)."""

    role: Literal["correction"] = "correction"
    ts: str
    text: Text | None


class Note(_Item):
    """A fact about the thread that the model should know, written by code (for example "history is partial")."""

    role: Literal["note"] = "note"
    text: Text


Item = Annotated[UserMessage | AssistantMessage | ToolMessage | Correction | Note, Field(discriminator="role")]
ITEM: TypeAdapter[Item] = TypeAdapter(Item)

DELETED: Final = "(this message was deleted by its author)"
OPEN: Final = '{"success":false,"error_code":"WAITING","error_message":"Not done: a person has not decided on this yet."}'
LOST: Final = '{"success":false,"error_code":"OUTCOME_UNKNOWN","error_message":"The record of this call\'s result is missing. Do not assume that it was done."}'


def arrange(items: Iterable[Item], open_calls: Sequence[str] = ()) -> list[Item]:
    """Order a log so that any Chat Completions API accepts it; same input, same output.

    Corrections are applied to the messages they name and dropped. Each assistant message is followed by exactly one
    result per request, in the order asked: the recorded one, `OPEN` for ids in `open_calls`, else `LOST`. A result
    without its request (cut off with older items) is left out.
    """
    log = list(items)
    texts = {item.ts: item.text for item in log if isinstance(item, Correction)}
    results = {item.call_id: item for item in log if isinstance(item, ToolMessage)}
    waiting = set(open_calls)
    out: list[Item] = []
    for item in log:
        match item:
            case UserMessage() if item.ts in texts:
                text = texts[item.ts]
                update = {"text": DELETED, "files": (), "quoted": ""} if text is None else {"text": text}
                out.append(item.model_copy(update=update))
            case UserMessage() | Note():
                out.append(item)
            case AssistantMessage():
                out.append(item)
                for call in item.calls:
                    stand_in = OPEN if call.id in waiting else LOST
                    out.append(results.get(call.id) or ToolMessage(call_id=call.id, name=call.name, content=stand_in))
            case ToolMessage() | Correction():
                pass
    return out
