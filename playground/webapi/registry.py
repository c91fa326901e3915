"""The registry of Web API methods, and what each handler is given.

A module of methods declares them with `@method("chat.postMessage", tier=4, scopes=("chat:write",))`. A handler takes a `Call` and returns the
fields of its answer besides `ok`, or raises `ApiError` with Slack's error name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playground.people import Channel, Install, Json, Token, User
from playground.world import World

if TYPE_CHECKING:
    from playground.core import Core

BOT, USER, APP = "bot", "user", "app"


class ApiError(Exception):
    """`ok: false` with an error name; `extra` are further fields, `messages` go to `response_metadata`."""

    def __init__(self, error: str, messages: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.body: Json = {"ok": False, "error": error, **extra}
        if messages:
            self.body["response_metadata"] = {"messages": [m if m.startswith("[") else f"[ERROR] {m}" for m in messages]}


class Call:
    """One call: its arguments, who makes it, and the playground's parts."""

    __slots__ = ("args", "core", "token", "world")

    def __init__(self, core: Core, args: Json, token: Token) -> None:
        self.core = core
        self.world: World = core.world
        self.args = args
        self.token = token

    @property
    def install(self) -> Install:
        """The app's installation in the token's team."""
        install = self.world.installs.get(self.token.team_id)
        if install is None:
            raise ApiError("account_inactive")
        return install

    @property
    def caller(self) -> str:
        """The user id the call acts as."""
        return self.token.user_id

    def text(self, name: str, default: str = "") -> str:
        """An argument as a string."""
        value = self.args.get(name)
        if value is None:
            return default
        return value if isinstance(value, str) else str(value)

    def require(self, names: Sequence[str]) -> None:
        """Raises `invalid_arguments` naming every argument that is missing."""
        missing = [n for n in names if self.args.get(n) is None]
        if missing:
            raise ApiError("invalid_arguments", [f"missing required field: {n}" for n in missing])

    def flag(self, name: str) -> bool:
        """An argument as a truth value: JSON booleans, or the words and digits of a query; false when not given."""
        value = self.args.get(name)
        if value is None:
            return False
        return value if isinstance(value, bool) else str(value).lower() in ("1", "true", "yes")

    def number(self, name: str, default: int, *, least: int = 1, most: int = 1000) -> int:
        """An argument as a whole number within bounds; zero and nonsense count as not given."""
        try:
            value = int(self.args.get(name) or default)
        except (TypeError, ValueError):
            value = default
        return max(least, min(value, most))

    def scope(self, *names: str) -> None:
        """Require one of these scopes."""
        if not any(name in self.token.scopes for name in names):
            raise missing_scope(names, self.token)

    def channel(self, name: str = "channel", *, by_name: bool = False) -> Channel:
        """The channel an argument names, if the caller may know of it. Raises `channel_not_found`."""
        ref = self.text(name)
        channel = self.world.channels.get(ref)
        if channel is None and by_name:
            channel = self.world.find_channel(ref)
        if channel is None or not self.sees(channel):
            raise ApiError("channel_not_found")
        return channel

    def sees(self, channel: Channel) -> bool:
        """Whether the caller may know of a channel: a public one of its team, or one it is in."""
        if self.token.user_id in channel.members:
            return True
        return channel.kind == "channel" and (channel.team_id == self.token.team_id or self.token.team_id in channel.shared_with)

    def user(self, name: str = "user") -> User:
        """The user an argument names. Raises `user_not_found`."""
        user = self.world.users.get(self.text(name))
        if user is None:
            raise ApiError("user_not_found")
        return user

    def message(self, channel: Channel, name: str = "ts") -> Json:
        """The message an argument names. Raises `message_not_found`."""
        message = channel.messages.get(self.text(name))
        if message is None:
            raise ApiError("message_not_found")
        return message


def missing_scope(needed: Sequence[str], token: Token) -> ApiError:
    """Slack's answer to a token without the scope."""
    return ApiError("missing_scope", needed=needed[0], provided=token.scope_header)


Handler = Callable[[Call], Json]


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its handler, rate tier (0 = special), scopes of which one is needed, token kinds, and required arguments."""

    name: str
    handler: Handler
    tier: int
    scopes: tuple[str, ...]
    tokens: frozenset[str]
    required: tuple[str, ...]


METHODS: dict[str, Method] = {}


def method(
    name: str, *, tier: int, scopes: tuple[str, ...] = (), tokens: tuple[str, ...] = (BOT, USER), required: tuple[str, ...] = ()
) -> Callable[[Handler], Handler]:
    """Declare a method."""

    def add(handler: Handler) -> Handler:
        METHODS[name] = Method(name, handler, tier, scopes, frozenset(tokens), required)
        return handler

    return add


def page_of(items: Sequence[Any], call: Call, *, default: int = 100, most: int = 1000) -> tuple[list[Any], str]:
    """One page of `items` by `cursor` and `limit`, and the next cursor ("" at the end). Raises `invalid_cursor`."""
    limit = call.number("limit", default, most=most)
    cursor = call.text("cursor")
    start = 0
    if cursor:
        if not (cursor.startswith("next:") and cursor[5:].isdigit()):
            raise ApiError("invalid_cursor")
        start = int(cursor[5:])
    end = start + limit
    return list(items[start:end]), f"next:{end}" if end < len(items) else ""
