"""`@tool` and the contract between a tool's author and the engine.

A tool is an async or plain function whose docstring is its description and whose signature is its schema. It
receives a `ToolContext` (who asked, where, with which idempotency key) and says how it failed by raising:
`ModelRetry` when the model may correct itself, `ToolFailed` when it should stop trying.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from memory.keys import Actor, Thread
from memory.longterm.entities import Thing
from tools.result import ErrorCode, Suggestion
from tools.schema import parameters

Effect = Literal["read", "write"]
Scope = Literal["person", "channel", "workspace"]

Rule = Callable[[Any], "Sequence[Problem]"]
"""A check over the validated arguments as a whole: gives what is wrong, nothing when all is well."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with arguments that are right each for itself."""

    field: str
    """Dotted path of the argument to change; empty when it concerns them all."""
    message: str
    accepted: str = ""
    """What would be accepted, in words."""


class ModelRetry(Exception):  # noqa: N818 - a signal to the model, named as the field names it
    """The call was wrong in a way the model can mend: it is told `message` and may call again."""


class ToolFailed(Exception):  # noqa: N818 - a signal, see ModelRetry
    """The call cannot succeed: the model is told `message` and should stop trying.

    `code` and `suggestion` refine the envelope; a business refusal ("already shipped") is `REFUSED`.
    """

    def __init__(
        self, message: str, *, code: ErrorCode = ErrorCode.REFUSED, suggestion: Suggestion = Suggestion.GIVE_UP, retry_after: float | None = None
    ) -> None:
        """`retry_after`: seconds the upstream asks to wait before the next try, when it said so."""
        super().__init__(message)
        self.code = code
        self.suggestion = suggestion
        self.retry_after = retry_after


class ToolLoadError(Exception):
    """A tool, or a module of tools, cannot be used. The message is for its author or the operator and names the remedy."""


class SlackAccess(Protocol):
    """The part of Slack a tool may use, always in the name of the person who asked.

    Methods raise `ToolFailed` with a sentence a person can act on when Slack refuses.
    """

    async def read_thread(self, actor: Actor, thread: Thread, *, limit: int) -> list[dict[str, str]]:
        """The latest `limit` messages of `thread`, oldest first, as `{"speaker", "text", "ts"}`."""
        ...

    async def channel(self, actor: Actor, channel: str) -> dict[str, str]:
        """The channel called `channel` (an id, a name with or without `#`, or `<#id|name>`), as `{"id", "name"}`, the name as `#general`.

        Refuses channels that do not exist and those `actor` is not in.
        """
        ...

    async def post_message(self, actor: Actor, channel: str, text: str, *, thread_ts: str = "") -> dict[str, str]:
        """Post `text` for `actor` to `channel` (an id, or a name with or without `#`); returns `{"channel", "ts", "permalink"}`.

        Refuses channels the person is not in.
        """
        ...

    async def list_channels(self, actor: Actor, thread: Thread) -> list[dict[str, Any]]:
        """The channels `actor` may see and that may be named in `thread`.

        Each as `{"id", "name", "topic", "purpose", "private", "members", "you_are_in", "i_am_in"}`; `members` only where Slack says it.
        Public ones and private ones the person is in; in a room that others read, no private one but the room itself.
        """
        ...

    async def search_messages(
        self, actor: Actor, thread: Thread, weigh: Callable[[str], float], *, channel: str = "", oldest: float = 0.0, limit: int = 10
    ) -> dict[str, Any]:
        """Messages for which `weigh(text)` is above 0, best first.

        Looked for in the channels both `actor` and the bot are in and that may be quoted in `thread`. `oldest` in seconds since the epoch.
        Returns `{"matches": [{"channel", "speaker", "text", "ts", "permalink"}], "searched": [names], "not_searched": [sentences], "messages_read": n}`.
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

    version: str = "1"
    """Part of every cache key: raise it when the same arguments come to mean something else."""
    upstream: str = ""
    """The service behind the tool, e.g. `"orders-api"`: tools that share one share its circuit breaker. Empty: the tool has only its own."""
    circuit: Callable[[Mapping[str, Any]], str] | None = None
    """For a tool that speaks to many places: from its arguments to the place's name, so that each has a circuit breaker of its own."""
    concurrency: int = 16
    """Calls of the tool that may run at the same time in one process; more wait for their turn within their time-out."""
    retries: int = 2
    """How often a read or a keyed write is tried again after a fault that may pass. Unkeyed writes never are."""

    cache_ttl: float = 0.0
    """Seconds a successful read may be answered from the cache; 0: never."""
    scope: Scope = "person"
    """Who may share a cached result: the asking person, everybody in the channel, or everybody in the workspace."""
    stale_ttl: float = 0.0
    """Seconds beyond `cache_ttl` for which an old value may stand in while the upstream is down, marked with its age."""
    negative_ttl: float = 0.0
    """Seconds a NOT_FOUND may be remembered; 0: never."""
    time_sensitive: bool = False
    """The answer depends on the moment: never cached, never answered from earlier in the run."""
    tags: tuple[str, ...] = ()
    """What a cached result is about; a write that `invalidates` one of them makes it void. The group counts as one."""
    invalidates: tuple[str, ...] = ()
    """Tags that a successful call of this write makes void."""

    resolve: Callable[[ToolContext, dict[str, Any]], dict[str, Any] | Awaitable[dict[str, Any]]] | None = None
    """Turns validated arguments into the exact ones that are shown, approved and executed ("tomorrow at nine" into a date), once,
    before anybody is asked. Gives arguments that validate again; raises `ModelRetry` or `ToolFailed` like the tool itself."""
    rules: tuple[Rule, ...] = ()
    """Checks over several arguments at once, run on the validated model; see `tools.rules`."""
    fields: tuple[str, ...] = ()
    """Of lists of objects in the result, only these fields are kept; empty: all."""
    thing: Thing | None = None
    """What the structured result is about: the state of each such thing is remembered for the person who asked. None: nothing of it is."""
    always: bool = False
    """Offered in every request, also when others are found through their group first."""
    trusted: bool = False
    """The result is made here from the arguments alone (a sum, the time), so it need not be marked as text from outside."""
    goes_out: str = ""
    """The argument that holds an address which the call opens on the internet. The call runs only when a person wrote that address or another
    tool's result shows it: an address that the model made up could carry away what it has read. Empty: the call goes to no place of its choice."""
    same_as: Mapping[str, str] = field(default_factory=dict)
    """Arguments that say the same in another way, by name: an operator's rule about the first is held against the second too
    (a channel's name and its id)."""
    asks: bool = False
    """The call is a question to a person: the run waits for the answer, nothing is executed."""
    input_schema: Mapping[str, Any] | None = None
    """For tools described by somebody else (MCP): the JSON schema of the arguments, sent to the model and checked as it stands,
    in place of one made from `args_model`, which then takes any object."""
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
        return {"type": "function", "function": {"name": self.name, "description": self.description, "parameters": self.parameters()}}

    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments, an object; a fresh copy."""
        return parameters(self.args_model) if self.input_schema is None else copy.deepcopy(dict(self.input_schema))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The author's function, as if it had never been decorated: no validation, no time-out, no envelope."""
        return self.function(*args, **kwargs)
