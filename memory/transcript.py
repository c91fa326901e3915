"""The transcript: what was said and done in a thread, as an append-only list of small items.

Items are kept as they happened; nothing is rewritten. A corrected message is a later `Correction`, a tool's result
may arrive long after its request because a person had to decide first. `arrange` turns such a log into the order a
model's API accepts: every request is followed at once by its results, and a request still open gets a stand-in
that says so. Budgets and compaction will enter through `arrange`'s caller; nothing else assembles messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memory.keys import Actor


class _Item(BaseModel):
    model_config = ConfigDict(frozen=True)


class UserMessage(_Item):
    """Something a person (or another bot) wrote; `name` is how the model sees the speaker."""

    role: Literal["user"] = "user"
    actor: Actor
    name: str
    ts: str
    text: str
    files: tuple[str, ...] = ()
    """One line per attached file: name, type and size."""
    addressed: bool = True
    """False for what was said in the thread without being meant for us; kept as context."""
    bot: bool = False
    """Written by another bot."""
    own: bool = False
    """Written by ourselves before this transcript began."""


class Request(_Item):
    """One tool call as the model asked for it."""

    id: str
    name: str
    arguments: str
    """Raw JSON text, exactly as received."""


class AssistantMessage(_Item):
    """One answer of the model: text, tool requests, or both."""

    role: Literal["assistant"] = "assistant"
    run_id: str
    text: str = ""
    calls: tuple[Request, ...] = ()


class ToolMessage(_Item):
    """What came of one request, as the model will read it."""

    role: Literal["tool"] = "tool"
    call_id: str
    name: str
    content: str


class Correction(_Item):
    """The author edited the message `ts` to `text`, or deleted it (`text` is None)."""

    role: Literal["correction"] = "correction"
    ts: str
    text: str | None


class Note(_Item):
    """A fact about the thread that the model should know, written by code (for example "history is partial")."""

    role: Literal["note"] = "note"
    text: str


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
                out.append(item.model_copy(update={"text": DELETED if text is None else text, "files": () if text is None else item.files}))
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
