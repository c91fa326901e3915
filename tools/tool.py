"""`@tool` and the contract between a tool's author and the engine.

A tool is an async or plain function whose docstring is its description and whose signature is its schema. It
receives a `ToolContext` (who asked, where, with which idempotency key) and says how it failed by raising:
`ModelRetry` when the model may correct itself, `ToolFailed` when it should stop trying.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from memory.keys import Actor, Thread
from tools.result import ErrorCode, Suggestion
from tools.schema import parameters

Effect = Literal["read", "write"]


class ModelRetry(Exception):  # noqa: N818 - a signal to the model, named as the field names it
    """The call was wrong in a way the model can mend: it is told `message` and may call again."""


class ToolFailed(Exception):  # noqa: N818 - a signal, see ModelRetry
    """The call cannot succeed: the model is told `message` and should stop trying.

    `code` and `suggestion` refine the envelope; a business refusal ("already shipped") is `REFUSED`.
    """

    def __init__(self, message: str, *, code: ErrorCode = ErrorCode.REFUSED, suggestion: Suggestion = Suggestion.GIVE_UP) -> None:
        super().__init__(message)
        self.code = code
        self.suggestion = suggestion


class ToolLoadError(Exception):
    """A tool, or a module of tools, cannot be used. The message is for its author or the operator and names the remedy."""


class SlackAccess(Protocol):
    """The part of Slack a tool may use, always in the name of the person who asked.

    Methods raise `ToolFailed` with a sentence a person can act on when Slack refuses.
    """

    async def read_thread(self, actor: Actor, thread: Thread, *, limit: int) -> list[dict[str, str]]:
        """The latest `limit` messages of `thread`, oldest first, as `{"speaker", "text", "ts"}`."""
        ...

    async def post_message(self, actor: Actor, channel: str, text: str, *, thread_ts: str = "") -> dict[str, str]:
        """Post `text` for `actor` to `channel` (an id, or a name with or without `#`); returns `{"channel", "ts", "permalink"}`.

        Refuses channels the person is not in.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know about where it runs."""

    actor: Actor
    thread: Thread
    timezone: str
    """IANA name of the person's timezone, e.g. `Asia/Shanghai`; `UTC` when Slack does not say."""
    run_id: str
    call_id: str
    slack: SlackAccess | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    """Shared handles by name, opened by the composition root: `"home"` is the data folder (`Path`), `"now"` a function that
    returns the present as an aware `datetime` (the system's clock when absent)."""

    @property
    def idempotency_key(self) -> str:
        """The same on every attempt of the same approved call, different for every other call."""
        return f"{self.run_id}:{self.call_id}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A callable the model may ask for, with everything the engine needs to know about it."""

    name: str
    description: str
    args_model: type[BaseModel]
    effect: Effect
    function: Callable[..., Any]
    group: str = "general"
    timeout: float = 15.0
    """Seconds one execution may take."""
    keyed: bool = False
    """Whether the upstream honours `ToolContext.idempotency_key`, so that an uncertain write may be repeated."""
    aliases: tuple[str, ...] = ()
    title: str = ""
    """Short human name for cards, e.g. "Cancel order"."""
    render: Callable[[BaseModel], list[tuple[str, Any]]] | None = None
    """Optional: the (label, value) rows of the approval card, from validated arguments; by default every argument by its own name."""

    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By language: the title, labels and hints as people of that language read them; what is not in it stays as it is."""

    takes_context: bool = False
    """Whether `function` wants the `ToolContext` as its first argument; `@tool` finds out by itself."""

    def say(self, text: str, language: str) -> str:
        """`text` (a title, a label, a hint) in `language`, as far as the tool's author translated it."""
        return self.words.get(language, {}).get(text, text)

    def schema(self) -> dict[str, Any]:
        """The function definition sent to the model: `{"type": "function", "function": {...}}`, `additionalProperties: false`.

        Every call returns a fresh copy, which the caller may change.
        """
        function = {"name": self.name, "description": self.description, "parameters": parameters(self.args_model)}
        return {"type": "function", "function": function}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The author's function, as if it had never been decorated: no validation, no time-out, no envelope."""
        return self.function(*args, **kwargs)
