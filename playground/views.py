"""Modals and App Home: the views of each person, their stack of at most three, and the rules for changing them."""

from __future__ import annotations

import json
import secrets
from typing import Any

from playground.clock import Clock, Ids
from playground.elements import Problems, no_extras, text_object
from playground.feed import Feed
from playground.people import Install, Json
from playground.validate import check_blocks, with_ids

STACK_LIMIT = 3
VIEW_BYTES = 250_000
_FIELDS = frozenset(
    {
        "type",
        "title",
        "blocks",
        "close",
        "submit",
        "private_metadata",
        "callback_id",
        "clear_on_close",
        "notify_on_close",
        "external_id",
        "submit_disabled",
    }
)


class ViewError(Exception):
    """A refused view call: Slack's error name, and the messages that explain it."""

    def __init__(self, error: str, messages: list[str] | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.messages = messages or []


def check_view(view: Any, kinds: tuple[str, ...]) -> Json:
    """The view, when it obeys the rules for one of `kinds` (modal, home). Raises `ViewError`."""
    if not isinstance(view, dict):
        raise ViewError("invalid_arguments", ["failed to match all allowed schemas [json-pointer:/view]"])
    problems = Problems()
    no_extras(view, _FIELDS, "/view", problems)
    kind = view.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        problems.unsupported(view, "/view")
    if kind == "modal":
        text_object(view.get("title"), "/view/title", problems, limit=24, plain=True)
        for name in ("submit", "close"):
            if view.get(name) is not None:
                text_object(view[name], f"/view/{name}", problems, limit=24, plain=True)
    elif view.get("submit") is not None or view.get("close") is not None:
        problems.add("home views have no submit or close", "/view")
    problems.string(view, "private_metadata", "/view", 3000)
    problems.string(view, "callback_id", "/view", 255)
    problems.string(view, "external_id", "/view", 255)
    blocks = view.get("blocks")
    if not isinstance(blocks, list):
        problems.missing("/view", "blocks")
    else:
        problems.texts += check_blocks(blocks, "/view/blocks", surface="view").texts
        if kind == "modal" and view.get("submit") is None and any(isinstance(b, dict) and b.get("type") == "input" for b in blocks):
            problems.missing("/view", "submit")
    if problems.texts:
        raise ViewError("invalid_arguments", problems.texts)
    if len(json.dumps(view)) > VIEW_BYTES:
        raise ViewError("view_too_large")
    return view


class Views:
    """Every open view, the modal stack of each person, and each person's App Home."""

    def __init__(self, clock: Clock, ids: Ids, feed: Feed) -> None:
        self._clock = clock
        self._ids = ids
        self._feed = feed
        self.open_views: dict[str, Json] = {}
        self.owners: dict[str, str] = {}
        self.stacks: dict[str, list[str]] = {}
        self.homes: dict[str, Json] = {}

    def _shape(self, view: Json, install: Install, view_id: str, root: str, previous: str | None) -> Json:
        return {
            "id": view_id,
            "team_id": install.team_id,
            "type": view["type"],
            "blocks": with_ids(view["blocks"], self._ids.short),
            "private_metadata": view.get("private_metadata", ""),
            "callback_id": view.get("callback_id", ""),
            "state": {"values": {}},
            "hash": self._hash(),
            "title": view.get("title", {"type": "plain_text", "text": "View Title", "emoji": True}),
            "clear_on_close": bool(view.get("clear_on_close", False)),
            "notify_on_close": bool(view.get("notify_on_close", False)),
            "close": view.get("close"),
            "submit": view.get("submit"),
            "previous_view_id": previous,
            "root_view_id": root,
            "app_id": install.app_id,
            "external_id": view.get("external_id", ""),
            "app_installed_team_id": install.team_id,
            "bot_id": install.bot_id,
        }

    def _hash(self) -> str:
        return f"{int(self._clock.now())}.{secrets.token_hex(4)}"

    def _push(self, action: str, user_id: str, view: Json | None, view_id: str) -> None:
        body: Json = {"action": action, "view_id": view_id}
        if view is not None:
            body["view"] = view
        self._feed.push("view", body, [user_id])

    def _refuse_double(self, view: Json, but: str = "") -> None:
        external = view.get("external_id")
        if external and any(v["external_id"] == external and v["id"] != but for v in self.open_views.values()):
            raise ViewError("duplicate_external_id")

    def open(self, view: Json, user_id: str, install: Install) -> Json:
        """Open a modal; whatever modals the person had are gone."""
        self._refuse_double(view)
        self.clear(user_id)
        view_id = self._ids.make("V0")
        shape = self._shape(view, install, view_id, view_id, None)
        self._keep(shape, user_id, [view_id])
        self._push("open", user_id, shape, view_id)
        return shape

    def push(self, view: Json, user_id: str, install: Install) -> Json:
        """Put a modal on top of the person's stack."""
        stack = self.stacks.get(user_id, [])
        if not stack:
            raise ViewError("not_found")
        if len(stack) >= STACK_LIMIT:
            raise ViewError("push_limit_reached")
        self._refuse_double(view)
        view_id = self._ids.make("V0")
        shape = self._shape(view, install, view_id, self.open_views[stack[0]]["root_view_id"], stack[-1])
        self._keep(shape, user_id, [*stack, view_id])
        self._push("push", user_id, shape, view_id)
        return shape

    def update(self, view_id: str, view: Json, install: Install, expected_hash: str | None = None) -> Json:
        """Replace a view's content. Raises `ViewError` not_found or hash_conflict."""
        old = self.open_views.get(view_id)
        if old is None:
            raise ViewError("not_found")
        if expected_hash and expected_hash != old["hash"]:
            raise ViewError("hash_conflict")
        self._refuse_double(view, but=view_id)
        shape = self._shape(view, install, view_id, old["root_view_id"], old["previous_view_id"])
        self.open_views[view_id] = shape
        self._push("update", self.owners[view_id], shape, view_id)
        return shape

    def publish(self, view: Json, user_id: str, install: Install, expected_hash: str | None = None) -> Json:
        """Set a person's App Home."""
        old = self.homes.get(user_id)
        if expected_hash and (old is None or expected_hash != old["hash"]):
            raise ViewError("hash_conflict")
        view_id = old["id"] if old else self._ids.make("V0")
        shape = self._shape(view, install, view_id, view_id, None)
        self.homes[user_id] = shape
        self.open_views[view_id] = shape
        self.owners[view_id] = user_id
        self._feed.push("home", {"view": shape}, [user_id])
        return shape

    def _keep(self, shape: Json, user_id: str, stack: list[str]) -> None:
        self.open_views[shape["id"]] = shape
        self.owners[shape["id"]] = user_id
        self.stacks[user_id] = stack

    def find(self, view_id: str | None, external_id: str | None = None) -> Json | None:
        """A view by id or external_id."""
        if view_id:
            return self.open_views.get(view_id)
        return next((v for v in self.open_views.values() if external_id and v["external_id"] == external_id), None)

    def close(self, user_id: str, view_id: str) -> Json | None:
        """Close one view (and any above it); the one below it, if any."""
        stack = self.stacks.get(user_id, [])
        if view_id not in stack:
            return None
        at = stack.index(view_id)
        for gone in stack[at:]:
            self.open_views.pop(gone, None)
            self.owners.pop(gone, None)
        self.stacks[user_id] = stack[:at]
        self._push("close", user_id, None, view_id)
        return self.open_views[stack[at - 1]] if at else None

    def clear(self, user_id: str) -> None:
        """Close all modals of a person."""
        stack = self.stacks.get(user_id, [])
        if stack:
            self.close(user_id, stack[0])

    def top(self, user_id: str) -> Json | None:
        """The modal a person sees now."""
        stack = self.stacks.get(user_id, [])
        return self.open_views[stack[-1]] if stack else None
